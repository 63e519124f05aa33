/* Pipes: sequences of records that several incarnations of a source read one after the other. How far each has come is
 * saved with the group that has the records. */
#include <stdlib.h>

#include "engine/base/env.h"
#include "engine/rowmap.h"
#include "tquel/session/records/bringers.h"

static void make_map(struct tql_session *session) {
  if (session->has_pipes) return;
  net_rowmap_init(&session->pipes, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(struct session_pipe));
  session->has_pipes = true;
}

static struct session_pipe *pipe_at(const struct tql_session *session, uint32_t index) {
  return net_rowmap_state(&session->pipes, index);
}

/* *RET is NULL if nobody knows of PIPE. Good until the next call. */
enum base_status session_find_pipe(struct tql_session *session, uint64_t pipe,
                                   struct session_pipe **ret) {
  make_map(session);
  uint32_t index = net_rowmap_find_id(&session->pipes, pipe);
  *ret = index == NET_NO_ENTRY ? NULL : pipe_at(session, index);
  if (*ret != NULL) return BASE_OK;
  struct base_arena *arena = base_arena_new();
  struct st_pipe saved = {0};
  bool found = false;
  enum base_status status = st_pipe_load(session->database, arena, pipe, &found, &saved);
  if (status == BASE_OK && found) {
    *ret = pipe_at(session, net_rowmap_put_id(&session->pipes, pipe, NULL));
    **ret = (struct session_pipe){
        base_xstrdup(saved.process), saved.position, saved.at, saved.at, 0, false};
  }
  base_arena_free(arena);
  return status;
}

struct session_pipe *session_add_pipe(struct tql_session *session, uint64_t pipe,
                                      const char *process, uint64_t position) {
  struct session_pipe *made = pipe_at(session, net_rowmap_put_id(&session->pipes, pipe, NULL));
  *made =
      (struct session_pipe){base_xstrdup(process), position, NET_BEGINNING, NET_BEGINNING, 0, true};
  return made;
}

enum base_status session_pipes_save(struct tql_session *session) {
  if (!session->has_pipes) return BASE_OK;
  struct base_arena *arena = base_arena_new();
  struct st_pipe *changed = BASE_NEW_ARRAY(arena, session->pipes.used + 1, struct st_pipe);
  size_t count = 0;
  int64_t now = base_env_now();
  for (uint32_t i = 0; i < session->pipes.used; i++) {
    if (!net_rowmap_live(&session->pipes, i)) continue;
    struct session_pipe *pipe = pipe_at(session, i);
    if (!pipe->changed) continue;
    pipe->changed = false;
    changed[count++] = (struct st_pipe){net_rowmap_id(&session->pipes, i), pipe->process,
                                        pipe->position, pipe->at, now};
  }
  enum base_status status = st_pipes_save(session->database, changed, count);
  base_arena_free(arena);
  return status;
}

/* What is in memory may be ahead of what is durable. */
void session_pipes_clear(struct tql_session *session) {
  if (!session->has_pipes) return;
  for (uint32_t i = 0; i < session->pipes.used; i++)
    if (net_rowmap_live(&session->pipes, i)) free(pipe_at(session, i)->process);
  net_rowmap_done(&session->pipes);
  session->has_pipes = false;
}
