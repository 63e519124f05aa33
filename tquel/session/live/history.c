/* modify R to keep AGE: tuples go when they are old, and what that means for those who read them.
 *
 *      limit of R  =  the least of    what R has passed, less the age
 *                                     what each standing query over R needs to be built anew
 *
 * A standing query is built anew by a replay of what is stored, when a database is opened and whenever the live network
 * changes, and has to go on as if all were there. What it needs is not over at a time that is before its checkpoint:
 *
 *      begins      the start of its earliest open tuple: that is to be found again
 *      instant     within, less: so far back goes what it counts
 *      else        as often as tuples take part: the earliest start of what is not over then, within less (netgen/history.c)
 *
 * and if others are computed from it, first of all the start of what they need of its tuples. So all are exact from there
 * on; what a replay makes of the time before is wrong and is stored already. One that needs everything cannot be had over
 * a relation that is kept for an age, nor can one that is computed anew as a matter of course (over samples, Late and
 * Rejected). What is incomplete is not computed anew either: what was derived would be lost. */
#include <strings.h>

#include "tquel/session/live/live.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/session_impl.h"

/* --- who reads what */

/* Does READER read RELATION, itself or through views? */
static bool reads_in(struct tql_session *session, const struct session_relation *reader,
                     const struct session_relation *relation, uint64_t walk) {
  for (size_t i = 0; i < reader->derived.input_count; i++) {
    struct session_relation *input = session_find(session, reader->derived.inputs[i]);
    if (input == relation) return true;
    if (input != NULL && input->view && session_visit(input, walk) &&
        reads_in(session, input, relation, walk))
      return true;
  }
  return false;
}

static bool reads(struct tql_session *session, const struct session_relation *reader,
                  const struct session_relation *relation) {
  return reads_in(session, reader, relation, ++session->walks);
}

/* --- what a query needs */

/* Why QUERY, or the standing query RELATION (may be NULL), is computed anew as a matter of course; NULL: it is not. */
static const char *computed_anew(struct tql_session *session, const struct ng_query *query) {
  for (size_t i = 0; i < query->variable_count; i++) {
    struct session_relation *input = session_of(session, query->variables[i].relation);
    if (input == NULL) continue;
    if (session_is_sampled(input)) return "is computed anew from samples";
    if (!strcasecmp(input->ng.name, "Late") || !strcasecmp(input->ng.name, "Rejected"))
      return "is computed anew whenever records are diverted";
    const struct ng_query *inner = session_is_derived(input) ? session_query(session, input) : NULL;
    const char *why = inner != NULL ? computed_anew(session, inner) : NULL;
    if (why != NULL) return why;
  }
  return NULL;
}

static enum base_status find_history(struct tql_session *session, const struct ng_query *query,
                                     struct ng_history *ret) {
  struct base_arena *arena = base_arena_new();
  struct ng_plan *plan = ng_plan_new(arena, session->strings, session->timeline);
  enum base_status status = session_add_views(session, query, plan, false);
  if (status == BASE_OK) status = ng_plan_add_query(plan, query, session->diags);
  if (status == BASE_OK) status = ng_plan_transform(plan, NULL, session->diags);
  if (status == BASE_OK) ng_plan_history(plan, ret);
  base_arena_free(arena);
  const char *why = status == BASE_OK ? computed_anew(session, query) : NULL;
  if (why == NULL) return status;
  ret->query = query;
  ret->clause = query->range;
  ret->why = why;
  return BASE_OK;
}

static enum base_status history_of(struct tql_session *session, struct session_relation *relation) {
  if (relation->keep.history_known) return BASE_OK;
  const struct ng_query *query = session_query(session, relation);
  if (query == NULL) return BASE_USER;
  enum base_status status = find_history(session, query, &relation->keep.history);
  relation->keep.history_known = status == BASE_OK;
  return status;
}

static net_chronon less(net_chronon time, int64_t span) {
  net_chronon result;
  if (time == NET_FOREVER) return time;
  return __builtin_sub_overflow(time, span, &result) ? NET_BEGINNING : result;
}

static enum base_status note_alive(struct tql_session *session,
                                   const struct session_relation *relation, net_chronon time,
                                   net_chronon *least) {
  net_chronon first = NET_FOREVER;
  if (relation->view || time == NET_FOREVER) return BASE_OK;
  enum base_status status =
      session->keep.exact ? st_first_alive(session->database, relation->ng.name, time, &first)
                          : st_earliest_alive(session->database, relation->ng.name, time, &first);
  if (first < *least) *least = first;
  return status;
}

/* *TIME goes back by one link of a chain of tuples. */
static enum base_status follow_chain(struct tql_session *session,
                                     const struct session_relation *relation, net_chronon *time) {
  net_chronon far = less(*time, relation->keep.history.within), least = far;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++)
    if (reads(session, relation, session->relations[i]))
      status = note_alive(session, session->relations[i], far, &least);
  *time = least;
  return status;
}

static enum base_status needed_of(struct tql_session *session, struct session_relation *relation,
                                  net_chronon *ret);

/* From when on RELATION, which stands, needs what it reads: all that is not over then. */
static enum base_status needed_by(struct tql_session *session, struct session_relation *relation,
                                  net_chronon *ret) {
  net_chronon asked = NET_FOREVER;
  enum base_status status = history_of(session, relation);
  if (status == BASE_OK) status = needed_of(session, relation, &asked);
  if (status != BASE_OK) return status;
  const struct ng_history *history = &relation->keep.history;
  net_chronon time = relation->checkpoint < asked ? relation->checkpoint : asked;
  /* Nobody has written down where the open tuples of a view begin. */
  bool at_end = session->keep.exact && relation->checkpoint == NET_FOREVER; /* all is open there */
  if (history->query != NULL || relation->derived.stale || at_end ||
      (relation->view && (history->begins || !history->instant)))
    time = NET_BEGINNING;
  else if (relation->view)
    time = relation->network.store_node ? net_node_checkpoint(relation->network.store_node)
                                        : NET_BEGINNING;
  if (time != NET_BEGINNING && (history->begins || !history->instant || asked != NET_FOREVER))
    status = note_alive(session, relation, time, &time);
  if (history->instant) time = less(time, history->within);
  for (unsigned i = 0; !history->instant && i < history->participants && status == BASE_OK &&
                       time != NET_BEGINNING && time != NET_FOREVER;
       i++)
    status = follow_chain(session, relation, &time);
  *ret = time;
  return status;
}

/* From when on somebody needs RELATION's own tuples; NET_FOREVER: nobody does. */
static enum base_status needed_of(struct tql_session *session, struct session_relation *relation,
                                  net_chronon *ret) {
  enum base_status status = BASE_OK;
  if (relation->keep.need_round == session->keep.rounds) {
    *ret = relation->keep.need;
    return BASE_OK;
  }
  net_chronon least = NET_FOREVER;
  relation->keep.needed_by = NULL;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *reader = session->relations[i];
    net_chronon time;
    if (session->keep.exact && !session_depends_on_live(session, reader)) continue;
    if (!session_stands(session, reader) || !reads(session, reader, relation)) continue;
    status = needed_by(session, reader, &time);
    if (status != BASE_OK || time >= least) continue;
    least = time;
    relation->keep.needed_by = reader->ng.name;
  }
  relation->keep.need = least;
  relation->keep.need_round = session->keep.rounds;
  *ret = least;
  return status;
}

/* How far RELATION has come. Relations of the system have no checkpoints of their own. */
static net_chronon reached(struct tql_session *session, const struct session_relation *relation) {
  if (session_is_system_name(relation->ng.name)) {
    net_chronon latest = NET_BEGINNING;
    for (size_t i = 0; i < session->relation_count; i++)
      if (session->relations[i]->passed > latest) latest = session->relations[i]->passed;
    return latest;
  }
  if (!session_is_derived(relation)) return relation->passed;
  return relation->checkpoint != NET_FOREVER ? relation->checkpoint
                                             : session_passed(session, &relation->ng);
}

net_chronon session_old_before(struct tql_session *session,
                               const struct session_relation *relation) {
  net_chronon time = reached(session, relation);
  return time == NET_FOREVER ? NET_BEGINNING : less(time, relation->keep.age);
}

enum base_status session_keep_limit(struct tql_session *session, struct session_relation *relation,
                                    net_chronon *ret) {
  net_chronon need = NET_FOREVER, old = session_old_before(session, relation);
  session->keep.rounds++;
  enum base_status status = BASE_OK;
  if (old != NET_BEGINNING) status = needed_of(session, relation, &need);
  *ret = need < old ? need : old;
  return status;
}

enum base_status session_find_horizons(struct tql_session *session) {
  enum base_status status = BASE_OK;
  session->keep.rounds++;
  session->keep.exact = true;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *relation = session->relations[i];
    net_chronon need = NET_FOREVER;
    status = needed_of(session, relation, &need);
    relation->keep.horizon = need < relation->checkpoint ? need : relation->checkpoint;
  }
  session->keep.exact = false;
  return status;
}

/* --- who may not be there */

static bool refuse(struct tql_session *session, const struct session_relation *relation,
                   const char *name, const struct ng_history *history) {
  if (history->query == NULL) return false;
  struct base_buffer age = BASE_BUFFER_EMPTY;
  session_print_age(session, &age, relation->keep.age);
  const char *kept = relation->keep.ages ? base_buffer_text(&age) : "an age";
  base_report_hint(session->diags, MSG_NEEDS_ALL, history->query->source, &history->clause,
                   base_arena_printf(session->statement_arena,
                                     "write a window (for each DURATION) or within DURATION, or "
                                     "say modify %s to keep forever",
                                     relation->ng.name),
                   "%s needs all tuples of %s, which is to be kept for %s: it %s", name,
                   relation->ng.name, kept, history->why);
  base_buffer_done(&age);
  return true;
}

enum base_status session_check_history(struct tql_session *session, const struct ng_query *query,
                                       const char *name) {
  struct ng_history history;
  bool known = false;
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    bool read = false;
    if (!relation->keep.ages) continue;
    for (size_t k = 0; k < query->variable_count && !read; k++) {
      struct session_relation *input = session_of(session, query->variables[k].relation);
      read = input != NULL && (input == relation || session_depends(session, input, relation));
    }
    if (!read) continue;
    enum base_status status = known ? BASE_OK : find_history(session, query, &history);
    if (status != BASE_OK) return status;
    known = true;
    if (refuse(session, relation, name, &history)) return BASE_USER;
  }
  return BASE_OK;
}

enum base_status session_check_age(struct tql_session *session,
                                   const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *reader = session->relations[i];
    if (!session_stands(session, reader) || !session_depends(session, reader, relation)) continue;
    /* The script that is explained has made it: its words are not kept. */
    if (reader->scripted && reader->derived.definition == NULL) continue;
    enum base_status status = history_of(session, reader);
    if (status != BASE_OK) return status;
    if (refuse(session, relation, reader->ng.name, &reader->keep.history)) return BASE_USER;
  }
  return BASE_OK;
}

/* --- what is said */

/* Removal is held up. */
static void describe_waiting(struct tql_session *session, struct session_relation *relation,
                             struct base_buffer *out) {
  int64_t count = session_count_old(session, relation, INT64_MAX);
  if (relation->keep.expiring && !relation->view &&
      st_count(session->database, relation->ng.name, &count) != BASE_OK)
    return;
  if (count > 0)
    base_buffer_printf(out, "behind:     %lld tuple%s that should be gone (TQ-0518)\n",
                       (long long)count, count == 1 ? "" : "s");
}

void session_describe_age(struct tql_session *session, struct session_relation *relation,
                          struct base_buffer *out) {
  net_chronon limit = NET_BEGINNING;
  if (relation->keep.ages) {
    base_buffer_puts(out, "keeps:      ");
    session_print_age(session, out, relation->keep.age);
    if (session_keep_limit(session, relation, &limit) == BASE_OK &&
        relation->keep.needed_by != NULL && limit < session_old_before(session, relation)) {
      base_buffer_printf(out, ", and for %s what had not ended at ", relation->keep.needed_by);
      net_time_print(out, session->timeline, limit);
    }
    base_buffer_putc(out, '\n');
  }
  if (session->keep.waits) describe_waiting(session, relation, out);
  if (!relation->keep.incomplete) return;
  base_buffer_printf(out, "gone:       %lld tuple%s that ended before ",
                     (long long)relation->keep.removed, relation->keep.removed == 1 ? "" : "s");
  net_time_print(out, session->timeline, relation->keep.gone);
  base_buffer_putc(out, '\n');
}

int64_t session_count_old(struct tql_session *session, struct session_relation *relation,
                          int64_t most) {
  net_chronon limit = NET_BEGINNING;
  int64_t count = 0;
  enum base_status status = BASE_OK;
  if (relation->keep.ages) status = session_keep_limit(session, relation, &limit);
  if (status == BASE_OK && limit != NET_BEGINNING)
    status = st_count_old(session->database, relation->ng.name, limit, most, &count);
  return status == BASE_OK ? count : 0;
}
