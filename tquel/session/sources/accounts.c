/* How much there was: pipes, which several incarnations of a source read one after the other, and what was
 * lost.
 *
 *      generated = rows taken + Late + Rejected + the sum of Lost.count + what was filtered (tq_filtered)
 *
 * The records of a pipe are numbered, so what came twice is known, and what never came: a reader that was
 * killed had taken it out of the ring and brought it nowhere. That is lost by the cause "collector", after
 * the last time up to which its source had promised to be complete. Other losses are told as totals,
 * which may be told again; the difference to the total before is what was lost since.               */
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/sources/sources.h"

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
  if (status == BASE_OK) session_pass_filtered(session, &filtered);
  return session_leave_source(session, status);
}

/* --- pipes */

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
  if (status == BASE_OK) status = session_find_pipe(session, pipe, &known);
  if (status == BASE_OK) {
    if (known == NULL) known = session_add_pipe(session, pipe, process, 0);
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
  enum base_status status = session_find_pipe(session, pipe, &known);
  if (status != BASE_OK) return status;
  if (known == NULL) known = session_add_pipe(session, pipe, source->state->host, first);
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
