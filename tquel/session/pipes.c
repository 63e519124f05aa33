/* How much there was: pipes, which several incarnations of a source read one after the other, and what was
 * lost.
 *
 *      generated = rows taken + Late + Rejected + the sum of Lost.count + what was filtered (tq_filtered)
 *
 * The records of a pipe are numbered, so what came twice is known, and what never came: a reader that was
 * killed had taken it out of the ring and brought it nowhere. That is lost by the cause "collector", after
 * the last time up to which its source had promised to be complete. Other losses are told as totals,
 * which may be told again; the difference to the total before is what was lost since.               */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/sources.h"

/* --- Lost */

/* Is ROW there with its stop LATER chronons later? */
static enum base_status is_there(struct tql_session *session, const struct session_relation *to,
                                 union net_slot *row, net_chronon stop, int64_t later, bool *ret) {
  row[2].i = row[3].i = net_chronon_add(stop, later);
  return st_has(session->database, to->ng.name, to->ng.layout, row, ret);
}

/* A stop at which ROW is not there yet, not long behind its own: those before it are looked at in steps that double, and
 * then halve, so that ever so many equal rows are no work. */
static enum base_status find_stop(struct tql_session *session, const struct session_relation *to,
                                  union net_slot *row) {
  net_chronon stop = row[3].i;
  int64_t taken = 0, free_at = 1;
  bool there = true;
  enum base_status status = BASE_OK;
  while (status == BASE_OK && there && free_at < INT64_C(1) << 40) {
    status = is_there(session, to, row, stop, free_at, &there);
    if (there) {
      taken = free_at;
      free_at *= 2;
    }
  }
  while (status == BASE_OK && free_at - taken > 1) {
    int64_t middle = taken + (free_at - taken) / 2;
    status = is_there(session, to, row, stop, middle, &there);
    if (there)
      taken = middle;
    else
      free_at = middle;
  }
  row[2].i = row[3].i = net_chronon_add(stop, free_at);
  return status;
}

/* A relation is a set: of equal rows that COUNT the later ones last longer. */
static enum base_status put_row(struct tql_session *session, struct session_relation *to,
                                union net_slot *row, bool counts) {
  struct net_store *store = st_net(session->database);
  bool there = false;
  enum base_status status = st_has(session->database, to->ng.name, to->ng.layout, row, &there);
  if (status == BASE_OK && there && counts) {
    status = find_stop(session, to, row);
    there = false;
  }
  to->diverted = true; /* what is derived from it follows with the group */
  return status == BASE_OK && !there
             ? store->class->put(store, to->ng.name, to->ng.layout, row, NET_DEFINITE)
             : status;
}

enum base_status session_put_lost(struct tql_session *session, const char *relation,
                                  const char *source, const char *cause, uint64_t count,
                                  struct net_instant from, struct net_instant to) {
  struct session_relation *lost = session_system_relation(session, "Lost");
  if (lost == NULL) return BASE_SYSTEM;
  const struct net_layout *layout = lost->ng.layout;
  union net_slot *row = base_xcalloc(layout->slot_count, sizeof *row);
  row[0].i = from.lo;
  row[1].i = from.hi;
  row[2].i = to.lo;
  row[3].i = to.hi;
  const char *const texts[] = {relation, source, cause};
  for (unsigned i = 0; i < 3; i++)
    row[layout->fields[i].slot].s = base_strings_intern_text(session->strings, texts[i]);
  row[layout->fields[3].slot].i = count > INT64_MAX ? INT64_MAX : (int64_t)count;
  enum base_status status = put_row(session, lost, row, count > 0);
  free(row);
  if (status == BASE_OK) session_note_lost(session, relation, count);
  return status;
}

/* When the process began, as its name says: type:minor#epoch, in ms since 1970. */
static net_chronon process_start(const struct tql_session *session, const char *process) {
  const char *epoch = strrchr(process, '#');
  if (session->timeline != NET_TIMELINE_REAL || epoch == NULL) return 0;
  int64_t ms = 0;
  for (epoch++; *epoch >= '0' && *epoch <= '9' && ms < INT64_MAX / 10000000; epoch++)
    ms = 10 * ms + (*epoch - '0');
  return ms < INT64_MAX / 10000000 ? ms * 1000000 : 0;
}

static enum base_status put_between(struct tql_session *session, const char *relation,
                                    const char *source, const char *cause, uint64_t count,
                                    net_chronon from, net_chronon to) {
  if (from == NET_BEGINNING || from == NET_FOREVER || from == NET_OPEN)
    from = process_start(session, source);
  if (to == NET_FOREVER || to <= from) to = net_chronon_add(from, 1);
  return session_put_lost(session, relation, source, cause, count, (struct net_instant){from, from},
                          (struct net_instant){to, to});
}

/* Up to when what came from PROCESS had been promised to be complete when who reads it now came; NET_BEGINNING: nobody
 * knows. */
static net_chronon promised_of(const struct tql_session *session, const char *process) {
  net_chronon promised = NET_BEGINNING;
  if (!session->has_pipes) return promised;
  for (uint32_t i = 0; i < session->pipes.used; i++) {
    if (!net_rowmap_live(&session->pipes, i)) continue;
    const struct session_pipe *pipe = net_rowmap_state(&session->pipes, i);
    if (pipe->handed_at > promised && strcmp(pipe->process, process) == 0)
      promised = pipe->handed_at;
  }
  return promised;
}

enum base_status tql_source_loss(struct tql_source *source, const char *process,
                                 const char *relation, const char *cause, uint64_t total,
                                 net_chronon from, net_chronon to) {
  struct tql_session *session = source->session;
  const struct session_source *state = source->state;
  if (state == NULL) return BASE_AGAIN;
  enum base_status status = session_enter_source(session);
  bool own = process[0] == '\0';
  /* Totals are by process, whoever read it; of one who may not speak for others they are his own. */
  const char *teller = own              ? state->identity
                       : !state->others ? process
                                        : base_arena_printf(session->statement_arena, "%s/%s",
                                                            state->identity, process);
  struct st_loss loss = {
      .source = teller, .relation = relation, .cause = cause, .seen = base_env_now()};
  uint64_t before = 0;
  if (from == NET_BEGINNING) from = promised_of(session, process);
  if (status == BASE_OK) status = st_loss_total(session->database, &loss, &before);
  /* Nobody knows how many: that it was so is said once. */
  if (status == BASE_OK && total == 0)
    status = put_between(session, relation, own ? state->host : process, cause, 0, from, to);
  if (status == BASE_OK && total > before) {
    loss.total = total;
    status = st_loss_save(session->database, &loss);
    if (status == BASE_OK)
      status = put_between(session, relation, own ? state->host : process, cause, total - before,
                           from, to);
  }
  return session_leave_source(session, status);
}

enum base_status tql_source_filtered(struct tql_source *source, struct tql_stream *stream,
                                     const char *process, uint64_t count, net_chronon since,
                                     net_chronon until) {
  struct tql_session *session = source->session;
  if (source->state == NULL) return BASE_AGAIN;
  const struct st_filtered filtered = {.relation = tql_stream_relation(stream),
                                       .source = process,
                                       .count = count,
                                       .since = since,
                                       .until = until};
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK) status = st_filtered_add(session->database, &filtered);
  return session_leave_source(session, status);
}

/* --- pipes */

static void make_map(struct tql_session *session) {
  if (session->has_pipes) return;
  net_rowmap_init(&session->pipes, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(struct session_pipe));
  session->has_pipes = true;
}

static struct session_pipe *pipe_at(const struct tql_session *session, uint32_t index) {
  return net_rowmap_state(&session->pipes, index);
}

/* *RET is NULL if nobody knows of PIPE. Good until the next call. */
static enum base_status find_pipe(struct tql_session *session, uint64_t pipe,
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

static struct session_pipe *add_pipe(struct tql_session *session, uint64_t pipe,
                                     const char *process, uint64_t position) {
  struct session_pipe *made = pipe_at(session, net_rowmap_put_id(&session->pipes, pipe, NULL));
  *made =
      (struct session_pipe){base_xstrdup(process), position, NET_BEGINNING, NET_BEGINNING, 0, true};
  return made;
}

/* What comes next of PIPE is POSITION: what is missing before it is lost. */
static enum base_status skip_to(struct tql_session *session, struct session_pipe *pipe,
                                uint64_t position) {
  if (position <= pipe->position) return BASE_OK;
  uint64_t count = position - pipe->position;
  pipe->position = position;
  pipe->changed = true;
  net_chronon now = session->timeline == NET_TIMELINE_REAL ? base_env_now() : pipe->at;
  return put_between(session, "", pipe->process, "collector", count, pipe->at, now);
}

enum base_status tql_source_pipe(struct tql_source *source, uint64_t pipe, const char *process,
                                 uint64_t position) {
  struct tql_session *session = source->session;
  struct session_pipe *known = NULL;
  if (source->state == NULL) return BASE_AGAIN;
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK) status = find_pipe(session, pipe, &known);
  if (status == BASE_OK) {
    if (known == NULL) known = add_pipe(session, pipe, process, 0);
    known->changed = true; /* it was heard of */
    uint64_t reader = base_hash(source->state->identity, strlen(source->state->identity), 0);
    if (known->reader != reader) known->handed_at = known->at;
    known->reader = reader;
    status = skip_to(session, known, position);
  }
  return session_leave_source(session, status);
}

static enum base_status take_sequence(struct tql_source *source, uint64_t pipe, uint64_t first,
                                      uint64_t count, uint64_t *ret_known) {
  struct tql_session *session = source->session;
  struct session_pipe *known = NULL;
  enum base_status status = find_pipe(session, pipe, &known);
  if (status != BASE_OK) return status;
  if (known == NULL) known = add_pipe(session, pipe, source->state->host, first);
  status = skip_to(session, known, first);
  uint64_t before = known->position - first;
  *ret_known = before < count ? before : count;
  if (before < count) known->position = first + count;
  known->at = source->state->checked;
  known->changed = true;
  return status;
}

enum base_status tql_source_sequence(struct tql_source *source, uint64_t pipe, uint64_t first,
                                     uint64_t count, uint64_t *ret_known) {
  struct tql_session *session = source->session;
  *ret_known = 0;
  if (source->state == NULL) return BASE_AGAIN;
  if (pipe == 0 || count == 0) return BASE_OK;
  if (first > UINT64_MAX - count) return BASE_USER;
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK) status = take_sequence(source, pipe, first, count, ret_known);
  return session_leave_source(session, status);
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
