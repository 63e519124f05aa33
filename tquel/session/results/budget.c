/* What statements may take: memory and time (set memory, set time limit, tquel serve --memory ...).
 *
 * A budget holds from the beginning of a statement to its end; engine/base/budget.h counts. What exceeds it unwinds
 * as what a user interrupts, is rolled back, and is an error with a number of its own here, that names who kept most of
 * the memory. Before it begins, what is only kept so as to be quick (results of views, memory of results that are gone,
 * rows of tables) makes room.                                                                      */
#include "engine/base/budget.h"
#include "engine/base/env.h"
#include "engine/base/spill.h"
#include "tquel/session/results/results.h"
#include "tquel/session/session_impl.h"

#include <string.h>

#define MIB     ((size_t)1 << 20)
#define LOOK_NS INT64_C(1000000000) /* so often what is followed is looked at */

/* --- how much */

size_t tql_seat_memory(const struct tql_seat *seat) {
  const struct tql_session *session = seat->session;
  size_t given = session->options.memory;
  if (!seat->memory_set) return given > 0 ? given : session->memory_usual;
  if (seat->memory == 0) return SIZE_MAX;
  return seat->memory;
}

void tql_session_lend_memory(struct tql_session *session, size_t bytes) {
  session->memory_lent = bytes;
}

size_t tql_session_memory_left(const struct tql_session *session) {
  size_t total = session->options.memory_total;
  if (total == 0) return SIZE_MAX;
  size_t used = base_memory_in_use();
  if (session->memory_lent > SIZE_MAX - used || used + session->memory_lent >= total) return 0;
  return total - used - session->memory_lent;
}

static void drop_caches(struct tql_session *session) {
  size_t limit = st_cache_limit(session->database);
  session_forget_kept(session);
  session_spares_done(&session->spares);
  if (st_set_cache(session->database, 0) == BASE_OK)
    (void)!st_set_cache(session->database, limit); /* reported */
}

void session_budget_begin(struct tql_session *session) {
  struct tql_seat *seat = session->seat;
  struct base_budget budget = BASE_BUDGET_NONE;
  int64_t limit = seat->time_limit_set ? seat->time_limit : session->options.time_limit;
  if (limit > 0) budget.time = limit;
  budget.memory = tql_seat_memory(seat);
  session->doing = NULL;
  session->memory_holder = NULL;
  if (session->options.memory_total > 0) {
    size_t lent = session->memory_lent, total = session->options.memory_total;
    budget.total = lent < total ? total - lent : 0;
    if (base_memory_seen() > budget.total / 2 && tql_session_memory_left(session) < budget.memory)
      drop_caches(session);
  }
  base_budget_begin(&budget);
}

/* --- who has it */

static struct net_node_stats largest_node(const struct net_network *network) {
  struct net_node_stats most = {.name = NULL};
  for (const struct net_node *node = net_network_first(network); node != NULL;
       node = net_node_next(node)) {
    struct net_node_stats stats = net_node_stats(node);
    if (stats.state_bytes > most.state_bytes) most = stats;
  }
  return most;
}

static const char *say_node(const struct tql_session *session, const struct net_node_stats *node) {
  return base_arena_printf(
      session->statement_arena, "%s %u%s%s keeps %llu MiB for %llu rows",
      net_node_info(node->kind)->name, node->number, node->owner && *node->owner ? " of " : "",
      node->owner ? node->owner : "", (unsigned long long)(node->state_bytes / MIB),
      (unsigned long long)node->state_rows);
}

void session_note_holder(struct tql_session *session, const struct net_network *network,
                         const struct tql_rows *rows) {
  if (!base_budget_excess_is_of_memory()) return;
  struct net_node_stats most = largest_node(network);
  size_t result = rows == NULL ? 0
                               : rows->rows.count *
                                     (rows->rows.layout->slot_count * sizeof(union net_slot) + 1);
  if (result >= most.state_bytes && result >= MIB)
    session->memory_holder =
        base_arena_printf(session->statement_arena, "the result has %zu rows", rows->rows.count);
  else if (most.state_bytes >= MIB)
    session->memory_holder = say_node(session, &most);
}

/* Records have no budget, as nobody could be told that his are not taken. */
void session_warn_of_memory(struct tql_session *session) {
  size_t total = session->options.memory_total;
  int64_t now = base_env_monotonic();
  if (total == 0 || now - session->memory_looked_at < LOOK_NS) return;
  session->memory_looked_at = now;
  size_t used = base_memory_in_use();
  if (used <= total || used < 2 * session->memory_said) return;
  drop_caches(session);
  used = base_memory_in_use();
  if (used <= total || used < 2 * session->memory_said) return;
  session->memory_said = used;
  const char *holder = "";
  if (session->live != NULL) {
    struct net_node_stats most = largest_node(session->live);
    if (most.state_bytes >= MIB)
      holder = base_arena_printf(session->statement_arena, ": %s", say_node(session, &most));
  }
  base_report_hint(
      session->diags, MSG_LIVE_MEMORY, NULL, NULL,
      "see \\dn for what each query keeps; destroy what nobody needs, or give the server more: "
      "--memory",
      "what is followed takes %zu MiB, and statements may take %zu MiB with it: they are refused%s",
      used / MIB, total / MIB, holder);
}

/* --- what is said */

/* Beginning with a separator; "": nobody knows. */
static const char *place(const struct tql_session *session) {
  if (session->memory_holder != NULL)
    return base_arena_printf(session->statement_arena, ": %s", session->memory_holder);
  if (session->doing == NULL) return "";
  return base_arena_printf(session->statement_arena, " (%s)", session->doing);
}

static void report_memory(struct tql_session *session, const struct base_range *range, bool total) {
  size_t most = tql_seat_memory(session->seat) / MIB;
  if (total)
    base_report_hint(session->diags, MSG_SERVER_MEMORY, session->source, range,
                     "ask again when other statements are done, or for less; tquel serve --memory "
                     "says how much there is",
                     "the server has no more memory%s", place(session));
  else
    base_report_hint(session->diags, MSG_MEMORY_BUDGET, session->source, range,
                     base_arena_printf(session->statement_arena,
                                       "ask for less at once, or write: set memory %zu", 2 * most),
                     "the statement needs more than %zu MiB of memory%s", most, place(session));
}

static void report_time(struct tql_session *session, const struct base_range *range) {
  const struct tql_seat *seat = session->seat;
  int64_t limit = seat->time_limit_set ? seat->time_limit : session->options.time_limit;
  base_report_hint(session->diags, MSG_TIME_LIMIT, session->source, range,
                   "ask for less at once, or for more time: set time limit DURATION",
                   "the statement took more than %.10g s", (double)limit / 1e9);
}

bool session_report_excess(struct tql_session *session, const struct base_range *range) {
  switch (base_budget_excess()) {
    case BASE_EXCESS_MEMORY:
    case BASE_EXCESS_TOTAL:
      report_memory(session, range, base_budget_excess() == BASE_EXCESS_TOTAL);
      return true;
    case BASE_EXCESS_TIME:
      report_time(session, range);
      return true;
    case BASE_EXCESS_EXHAUSTED:
      base_report_hint(session->diags, MSG_OUT_OF_MEMORY, session->source, range,
                       "ask for less at once, or give the process more (ulimit -v, cgroups)",
                       "the system has no more memory%s",
                       session->statement_arena != NULL ? place(session) : "");
      return true;
    case BASE_EXCESS_LOG:
      base_report_hint(session->diags, MSG_LOG_OUTGROWN, session->source, range,
                       "ask for less at once, or have the server allow a longer log: tquel serve "
                       "--log-limit MIB",
                       "the statement has read one state of the database for too long: the "
                       "write-ahead log beside it has come near its limit of %llu MiB",
                       (unsigned long long)(st_ahead_limit(session->database) >> 20));
      return true;
    case BASE_EXCESS_SPILLED:
      base_report_hint(session->diags, MSG_SPILL_FAILED, session->source, range,
                       "free space, set TMPDIR to a directory that has some, or allow more memory: "
                       "set memory MIB",
                       "no room in %s for a result that is larger than its memory: %s",
                       base_spill_directory(), strerror(base_budget_spill_reason()));
      return true;
    case BASE_EXCESS_NONE:
    default:
      return false;
  }
}

void session_budget_end(struct tql_session *session) {
  base_budget_wind_up();
  if (base_budget_excess_is_of_memory()) drop_caches(session);
  base_budget_end();
}

enum base_status session_end_unlimited(struct tql_session *session, enum base_status status) {
  if (status == BASE_CANCEL && session_report_excess(session, NULL)) status = BASE_SYSTEM;
  session_budget_end(session);
  return status;
}
