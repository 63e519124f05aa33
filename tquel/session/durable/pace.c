/* How far time has come, for queries over clocks alone: they have an input that says so,
 *
 *      Clock   an event relation of the system without tuples, which no statement can name
 *
 * On the abstract timeline it is complete. On the real one its checkpoint follows the machine's clock as long as a
 * standing query or a display depends on it: it is live, and goes forward whenever one of the clocks has ticked. A query
 * that runs once has it up to its own now, or to the latest time that it names. Who reads what was derived from it, with
 * nobody at work that would have gone on, goes on first.                                                          */
#include "engine/base/env.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/session_impl.h"

/* Of clocks that tick faster several ticks go out at once ... */
#define PACE_NS 20000000
/* ... but not more than this, so that a clock that nobody can keep up with leaves time for everybody else. */
#define TICKS_AT_ONCE 20000

static struct session_relation *pace_of(struct tql_session *session) {
  return session_find(session, "Clock");
}

/* Does a standing query or a display want that time goes on? *RET_EVERY: the shortest time between two ticks. */
static bool is_wanted(struct tql_session *session, const struct session_relation *pace,
                      int64_t *ret_every) {
  bool wanted = false;
  *ret_every = INT64_MAX;
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (!session_is_derived(relation) || !session_depends(session, relation, pace)) continue;
    const struct ng_query *query = session_query(session, relation);
    for (size_t v = 0; query != NULL && ng_is_paced(query) && v < query->variable_count; v++) {
      const struct ng_relation *clock = query->variables[v].relation;
      if (clock->kind == NG_REL_CLOCK && clock->every < *ret_every) *ret_every = clock->every;
    }
    wanted |= !relation->view || session_is_displayed(session, relation);
  }
  return wanted;
}

static bool pace_is_wanted(struct tql_session *session) {
  int64_t every;
  if (session->timeline != NET_TIMELINE_REAL || session->options.readonly) return false;
  const struct session_relation *pace = pace_of(session);
  return pace != NULL && is_wanted(session, pace, &every);
}

bool session_pace_is_displayed(struct tql_session *session) {
  const struct session_relation *pace = pace_of(session);
  if (session->timeline != NET_TIMELINE_REAL || pace == NULL || session->options.readonly)
    return false;
  for (size_t i = 0; i < session->display_count; i++) {
    const struct session_relation *shown = session_find(session, session->displays[i]->name);
    if (shown != NULL && session_depends(session, shown, pace)) return true;
  }
  return false;
}

/* The first time behind TIME at which a clock of EVERY ticks; clocks tick at multiples of their units. */
static net_chronon next_tick(net_chronon time, int64_t every) {
  int64_t past = time % every < 0 ? time % every + every : time % every;
  return net_chronon_add(time, every - past);
}

/* When the checkpoint is to go forward; NET_FOREVER: not. A tick goes out when it is before the checkpoint. */
static net_chronon goes_at(struct tql_session *session, const struct session_relation *pace) {
  int64_t every;
  if (!is_wanted(session, pace, &every) || every == INT64_MAX) return NET_FOREVER;
  if (pace->checkpoint == NET_BEGINNING || pace->checkpoint == NET_FOREVER) return NET_BEGINNING;
  net_chronon tick = next_tick(pace->checkpoint - 1, every);
  net_chronon slow = net_chronon_add(pace->checkpoint, PACE_NS);
  return tick > slow ? tick : slow;
}

/* How far time goes on by one turn: to now, if that is not too many ticks. */
static net_chronon next_stop(struct tql_session *session, const struct session_relation *pace) {
  int64_t every;
  net_chronon now = base_env_now();
  if (!is_wanted(session, pace, &every) || every > INT64_MAX / TICKS_AT_ONCE) return now;
  if (pace->checkpoint == NET_BEGINNING) return now;
  net_chronon stop = net_chronon_add(pace->checkpoint, every * TICKS_AT_ONCE);
  return stop < now ? stop : now;
}

static enum base_status go_on(struct tql_session *session, struct session_relation *pace) {
  /* The machine's clock may have been put back: then it waits, and what is stored stays. */
  if (pace->checkpoint != NET_FOREVER && pace->checkpoint >= base_env_now()) return BASE_OK;
  enum base_status status = session_make_live(session, pace);
  return status == BASE_OK ? session_advance(session, pace, next_stop(session, pace)) : status;
}

enum base_status session_pace_turn(struct tql_session *session) {
  struct session_relation *pace = pace_of(session);
  if (session->timeline != NET_TIMELINE_REAL || pace == NULL || session->options.readonly)
    return BASE_OK;
  net_chronon at = goes_at(session, pace);
  if (at == NET_FOREVER || base_env_now() <= at) return BASE_OK;
  enum base_status status = session_begin_group(session);
  return status == BASE_OK ? go_on(session, pace) : status;
}

int64_t session_pace_due(struct tql_session *session) {
  const struct session_relation *pace = pace_of(session);
  if (session->timeline != NET_TIMELINE_REAL || pace == NULL || session->options.readonly)
    return INT64_MAX;
  net_chronon at = goes_at(session, pace), now = base_env_now();
  if (at == NET_FOREVER) return INT64_MAX;
  return at < now ? 0 : at - now + 1;
}

static bool reads(struct tql_session *session, const struct ng_query *query,
                  const struct session_relation *relation, const struct session_relation *pace) {
  if (relation != NULL) return session_depends(session, relation, pace);
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct session_relation *input = session_of(session, query->variables[i].relation);
    if (input != NULL && input != pace && session_depends(session, input, pace)) return true;
  }
  return false;
}

enum base_status session_pace_begin(struct tql_session *session, const struct ng_query *query) {
  struct session_relation *pace = pace_of(session);
  if (session->timeline != NET_TIMELINE_REAL || pace == NULL) return BASE_OK;
  bool wanted = ng_is_paced(query) || reads(session, query, NULL, pace);
  return wanted ? go_on(session, pace) : BASE_OK;
}

/* Some clock ticks faster than what it starts can be computed. */
static void report_behind(struct tql_session *session, net_chronon checkpoint, net_chronon now) {
  struct base_buffer asked = BASE_BUFFER_EMPTY, known = BASE_BUFFER_EMPTY;
  net_time_print(&asked, session->timeline, now);
  net_time_print(&known, session->timeline, checkpoint);
  base_report_hint(session->diags, MSG_KNOWN_LESS_FAR, NULL, NULL,
                   "let the clocks of standing queries tick less often",
                   "clocks are known up to %s, for they tick faster than can be computed: what "
                   "depends on more, up to %s, "
                   "is not in the answer",
                   base_buffer_text(&known), base_buffer_text(&asked));
  base_buffer_done(&asked);
  base_buffer_done(&known);
}

enum base_status session_pace_catch_up(struct tql_session *session, const struct ng_query *query,
                                       const struct session_relation *relation) {
  struct session_relation *pace = pace_of(session);
  if (!pace_is_wanted(session) || !reads(session, query, relation, pace)) return BASE_OK;
  net_chronon now = base_env_now();
  /* A server has others to serve: there its turns go on. */
  if (session->patient_until != INT64_MAX && next_stop(session, pace) < now) {
    report_behind(session, pace->checkpoint, now);
    return BASE_OK;
  }
  enum base_status status = session_begin(session);
  if (status == BASE_OK) status = go_on(session, pace);
  while (status == BASE_OK && pace->checkpoint < now) status = go_on(session, pace);
  return session_end(session, status);
}
