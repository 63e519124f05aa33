/* From when the aggregates of a query count, on the real timeline: from the earliest tuple of its inputs on. What is defined
 * has that found once and keeps it, what runs once has it as the tuples stand. */
#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/session_impl.h"

static void note_first(bool *any, net_chronon *first, net_chronon time) {
  if (!*any || time < *first) *first = time;
  *any = true;
}

void session_begin_origins(struct tql_session *session) {
  if (session->origin_depth++ == 0) session->origin_searches++;
}

void session_end_origins(struct tql_session *session) {
  BASE_CHECK(session->origin_depth > 0, "origins-nested");
  session->origin_depth--;
}

/* As if the view were stored: the first of its own tuples; FINITE: the first finite instant in them. */
static enum base_status find_earliest_of_view(struct tql_session *session,
                                              struct session_relation *view, bool finite,
                                              bool *ret_any, net_chronon *ret) {
  struct tql_rows rows;
  enum base_status status = session_rows_of(session, view, &rows);
  for (size_t i = 0; i < rows.rows.count; i++) {
    const union net_slot *row = net_rows_row(&rows.rows, i);
    struct net_instant start = net_row_start(row);
    if (!finite) note_first(ret_any, ret, start.lo == NET_BEGINNING ? start.hi : start.lo);
    for (uint32_t k = 0; finite && k < rows.rows.layout->first_domain_slot; k++)
      if (row[k].i != NET_OPEN && row[k].i != NET_BEGINNING && row[k].i != NET_FOREVER)
        note_first(ret_any, ret, row[k].i);
  }
  tql_rows_done(&rows);
  return status;
}

/* Each view is computed once in a search, however many read it: it may read others, whose origins are searched for
 * then. */
static enum base_status earliest_of_view(struct tql_session *session, struct session_relation *view,
                                         bool finite, bool *ret_any, net_chronon *ret) {
  struct session_first *first = &view->derived.firsts[finite];
  session_begin_origins(session);
  uint64_t search = session->origin_searches;
  enum base_status status = BASE_OK;
  if (first->search != search) {
    *first = (struct session_first){.time = NET_FOREVER};
    status = find_earliest_of_view(session, view, finite, &first->any, &first->time);
    if (status == BASE_OK) first->search = search;
  }
  session_end_origins(session);
  if (status == BASE_OK && first->any) note_first(ret_any, ret, first->time);
  return status;
}

/* The last time not after FIRST at which all clocks of QUERY tick, as they do in all queries: at multiples of their
 * units. */
static net_chronon begin_of_clocks(const struct ng_query *query, net_chronon first) {
  int64_t period = ng_clocks_period(query);
  if (period == 0) return first;
  int64_t past = first % period < 0 ? first % period + period : first % period;
  return first > NET_BEGINNING + past ? first - past : first;
}

static bool has_clock(const struct ng_query *query) {
  for (size_t i = 0; i < query->variable_count; i++)
    if (query->variables[i].relation->kind == NG_REL_CLOCK) return true;
  return false;
}

/* Clocks alone tick from the earliest time on that the statement names, or from the start of the session. */
static net_chronon begin_of_pace(const struct tql_session *session, const struct ng_query *query) {
  net_chronon start = session->seat->time.start;
  return query->named_first < start ? query->named_first : start;
}

/* The earliest tuple among the query's own inputs; false while they are all empty. A clock cannot tick
 * at `beginning`: where the query has one, the first finite instant in its inputs, or when its clocks tick before that. */
static enum base_status earliest_tuple(struct tql_session *session, const struct ng_query *query,
                                       bool *ret_any, net_chronon *ret) {
  bool finite = has_clock(query);
  enum base_status status = BASE_OK;
  *ret_any = false;
  session_begin_origins(session);
  for (size_t i = 0; i < query->variable_count && status == BASE_OK; i++) {
    const struct ng_relation *relation = query->variables[i].relation;
    bool any = false;
    net_chronon first = NET_FOREVER;
    if (relation->kind == NG_REL_CLOCK || query->variables[i].costs) continue;
    if (query->variables[i].paces) {
      note_first(ret_any, ret, begin_of_pace(session, query));
      continue;
    }
    struct session_relation *input = session_of(session, relation);
    status = input != NULL && session_is_looked_through(input)
                 ? earliest_of_view(session, input, finite, &any, &first)
             : finite ? st_first_finite(session->database, relation->name, &any, &first)
                      : st_first(session->database, relation->name, &any, &first);
    if (status == BASE_OK && any) note_first(ret_any, ret, first);
  }
  if (*ret_any) *ret = begin_of_clocks(query, *ret);
  session_end_origins(session);
  return status;
}

static bool may_come_earlier_in(struct tql_session *session, const struct ng_query *query,
                                net_chronon first, uint64_t walk) {
  for (size_t i = 0; i < query->variable_count; i++) {
    if (query->variables[i].relation->kind == NG_REL_CLOCK || query->variables[i].costs) continue;
    if (query->variables[i].paces) continue;
    struct session_relation *input = session_of(session, query->variables[i].relation);
    if (input == NULL || !session_visit(input, walk)) continue;
    if (input->view && input->derived.query != NULL &&
        may_come_earlier_in(session, input->derived.query, first, walk))
      return true;
    /* One that is derived from what is fed, but has no node yet: its inputs are not live again. */
    bool waits = session_is_derived(input) && input->network.store_node == NULL;
    const struct ng_query *derived = waits ? session_query(session, input) : NULL;
    if (derived != NULL && may_come_earlier_in(session, derived, first, walk)) return true;
    /* One that is not closed for ever is fed, if not yet in this session; what is derived from those
     * that are has a node. */
    bool fed = !session_is_derived(input) || input->live || input->waiting.has_pending ||
               input->checkpoint > NET_BEGINNING || input->network.store_node != NULL;
    if (!input->view && fed && input->checkpoint <= first) return true;
  }
  return false;
}

/* May an input that is fed still bring a tuple at or before FIRST? */
static bool may_come_earlier(struct tql_session *session, const struct ng_query *query,
                             net_chronon first) {
  return may_come_earlier_in(session, query, first, ++session->walks);
}

bool session_wants_origin(const struct ng_query *query) {
  return (query->aggregate_count > 0 || has_clock(query)) && !query->origin_given;
}

static const struct ng_query *query_at_origin(struct base_arena *arena,
                                              const struct ng_query *query, net_chronon origin) {
  struct ng_query *copy = BASE_NEW(arena, struct ng_query);
  *copy = *query;
  copy->origin_given = true;
  copy->origin = origin;
  return copy;
}

enum base_status session_at_origin(struct tql_session *session,
                                   const struct session_relation *relation,
                                   const struct ng_query **query) {
  if (!session_wants_origin(*query)) return BASE_OK;
  bool any = relation->derived.origin_fixed;
  net_chronon origin = relation->derived.origin;
  enum base_status status = any ? BASE_OK : earliest_tuple(session, *query, &any, &origin);
  if (status == BASE_OK && any) *query = query_at_origin(session->arena, *query, origin);
  return status;
}

enum base_status session_query_defined_now(struct tql_session *session,
                                           const struct ng_query **query) {
  bool any = false;
  net_chronon origin;
  if (!session_wants_origin(*query)) return BASE_OK;
  enum base_status status = earliest_tuple(session, *query, &any, &origin);
  if (status == BASE_OK && any && !may_come_earlier(session, *query, origin))
    *query = query_at_origin(session->statement_arena, *query, origin);
  return status;
}

enum base_status session_fix_origin(struct tql_session *session, struct session_relation *relation,
                                    bool *ret_fixed_now) {
  const struct ng_query *query = session_query(session, relation);
  *ret_fixed_now = false;
  if (query == NULL) return BASE_USER;
  if (!session_wants_origin(query)) return BASE_OK;
  if (!relation->derived.origin_fixed) {
    bool any;
    net_chronon origin;
    enum base_status status = earliest_tuple(session, query, &any, &origin);
    if (status != BASE_OK || !any || may_come_earlier(session, query, origin)) return status;
    relation->derived.origin_fixed = true;
    relation->derived.origin = origin;
    status = st_set_origin(session->database, relation->ng.name, relation->derived.origin);
    if (status != BASE_OK) return status;
    *ret_fixed_now = true;
  }
  relation->derived.query = query_at_origin(session->arena, query, relation->derived.origin);
  return BASE_OK;
}

enum base_status session_query_once(struct tql_session *session, const struct ng_query **query) {
  bool any = false;
  net_chronon origin;
  if (!session_wants_origin(*query)) return BASE_OK;
  enum base_status status = earliest_tuple(session, *query, &any, &origin);
  if (status == BASE_OK && any) *query = query_at_origin(session->statement_arena, *query, origin);
  return status;
}
