/* What is asked once: retrieve, print, computing a derived relation from its inputs; and from when the
 * aggregates of a query count.                                                                       */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/session_impl.h"

static enum base_status recompute_relation(struct tql_session *session,
                                           struct session_relation *relation);

/* --- the origin of aggregates on the real timeline */

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
  struct session_first *first = &view->firsts[finite];
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
    net_chronon first = NET_FOREVER, last;
    if (relation->kind == NG_REL_CLOCK || query->variables[i].costs) continue;
    if (query->variables[i].paces) {
      note_first(ret_any, ret, begin_of_pace(session, query));
      continue;
    }
    struct session_relation *input = session_of(session, relation);
    status = input != NULL && session_is_looked_through(input)
                 ? earliest_of_view(session, input, finite, &any, &first)
             : finite ? st_first_finite(session->database, relation->name, &any, &first)
                      : st_extent(session->database, relation->name, &any, &first, &last);
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
    if (input->view && input->query != NULL &&
        may_come_earlier_in(session, input->query, first, walk))
      return true;
    /* One that is derived from what is fed, but has no node yet: its inputs are not live again. */
    bool waits = session_is_derived(input) && input->store_node == NULL;
    const struct ng_query *derived = waits ? session_query(session, input) : NULL;
    if (derived != NULL && may_come_earlier_in(session, derived, first, walk)) return true;
    /* One that is not closed for ever is fed, if not yet in this session; what is derived from those
     * that are has a node. */
    bool fed = !session_is_derived(input) || input->live || input->has_pending ||
               input->checkpoint > NET_BEGINNING || input->store_node != NULL;
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
  bool any = relation->origin_fixed;
  net_chronon origin = relation->origin;
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
  if (!relation->origin_fixed) {
    bool any;
    net_chronon origin;
    enum base_status status = earliest_tuple(session, query, &any, &origin);
    if (status != BASE_OK || !any || may_come_earlier(session, query, origin)) return status;
    relation->origin_fixed = true;
    relation->origin = origin;
    status = st_set_origin(session->database, relation->ng.name, relation->origin);
    if (status != BASE_OK) return status;
    *ret_fixed_now = true;
  }
  relation->query = query_at_origin(session->arena, query, relation->origin);
  return BASE_OK;
}

/* --- retrieve and print */

static enum base_status print_rows(struct tql_session *session, struct tql_rows *rows) {
  int64_t began = base_env_monotonic();
  session->doing = "showing the result";
  session_has_shown(session);
  enum base_status status = tql_rows_finish(rows, session->strings);
  if (status == BASE_OK) status = session_order_rows(session, rows);
  if (status != BASE_OK) return status;
  session->counters.rows_out += rows->rows.count;
  if (session->output->rows != NULL) session->output->rows(session->output->context, rows);
  session->counters.output_ns += base_env_monotonic() - began;
  return BASE_OK;
}

/* Can the view be executed? Its origin is fixed if there is a first tuple. */
static enum base_status check_view(struct tql_session *session, struct session_relation *view) {
  bool fixed_now;
  enum base_status status = session_fix_origin(session, view, &fixed_now);
  if (status != BASE_OK) return status;
  struct ng_plan *plan = ng_plan_new(session->statement_arena, session->strings, session->timeline);
  return ng_plan_add_query(plan, view->query, session->diags);
}

struct st_relation session_derived(struct base_arena *arena, const struct tql_statement *statement,
                                   const struct ng_query *query) {
  const struct net_layout *layout = query->layout;
  struct st_domain *domains = BASE_NEW_ARRAY(arena, layout->field_count + 1, struct st_domain);
  for (uint32_t i = 0; i < layout->field_count; i++)
    domains[i] = (struct st_domain){layout->fields[i].name, layout->fields[i].type};
  const char **inputs = BASE_NEW_ARRAY(arena, query->variable_count + 1, const char *);
  size_t input_count = 0;
  for (size_t i = 0; i < query->variable_count; i++) {
    if (query->variables[i].relation->kind == NG_REL_CLOCK) continue;
    const char *name = query->variables[i].relation->name;
    bool known = false;
    for (size_t j = 0; j < input_count; j++) known |= strcmp(inputs[j], name) == 0;
    if (!known) inputs[input_count++] = name;
  }
  return (struct st_relation){
      .name = query->name,
      .kind = layout->tuple_class == NET_EVENT ? ST_DERIVED_EVENT : ST_DERIVED_PERIOD,
      .domains = domains,
      .domain_count = layout->field_count,
      .checkpoint = NET_BEGINNING,
      .view = statement->kind == TQL_S_VIEW,
      .inputs = inputs,
      .input_count = input_count,
  };
}

static enum base_status define(struct tql_session *session, const struct tql_statement *statement,
                               const struct ng_query *query) {
  struct base_arena *arena = session->statement_arena;
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct st_relation relation = session_derived(arena, statement, query);
  relation.definition = tql_definition_text(arena, &scope.scope, statement, query);
  enum base_status status = session_begin(session);
  if (status == BASE_OK && !relation.view) status = session_pace_begin(session, query);
  if (status == BASE_OK) status = st_create(session->database, &relation);
  if (status == BASE_OK) {
    struct session_relation *derived = session_add_relation(session, &relation);
    /* A view is in the network for those who look at it, and nobody does yet; what is computed from nothing that is or may
     * be fed is not in it at all. */
    if (!derived->view && session_may_be_fed(session, derived)) session_drop_live(session);
    status = derived->view ? check_view(session, derived) : recompute_relation(session, derived);
  }
  return session_end(session, status);
}

enum base_status session_query_once(struct tql_session *session, const struct ng_query **query) {
  bool any = false;
  net_chronon origin;
  if (!session_wants_origin(*query)) return BASE_OK;
  enum base_status status = earliest_tuple(session, *query, &any, &origin);
  if (status == BASE_OK && any) *query = query_at_origin(session->statement_arena, *query, origin);
  return status;
}

enum base_status session_run_once(struct tql_session *session, const struct ng_query *query,
                                  struct tql_rows *ret) {
  enum base_status status = session_query_once(session, &query);
  return status == BASE_OK ? session_run_query(session, query, ret, NULL, NULL) : status;
}

void session_report_not_final(struct tql_session *session, const struct ng_query *query,
                              struct session_relation *relation, const struct tql_rows *rows) {
  if (!session_is_in_doubt(session)) return;
  if (query == NULL && !session_is_looked_through(relation)) return;
  if (rows->checkpoint >= (query != NULL ? session_reads_until(session, query)
                                         : session_known_until(session, relation)))
    return;
  struct base_buffer time = BASE_BUFFER_EMPTY;
  net_time_print(&time, session->timeline, rows->checkpoint);
  base_report_hint(session->diags, MSG_WITHHELD, session->source,
                   session->statement != NULL ? &session->statement->range : NULL,
                   "set losses ignored shows what follows from what is there",
                   "what begins at or after %s is not all there: what is uncertain of it is final "
                   "only when more is known",
                   base_buffer_text(&time));
  base_buffer_done(&time);
}

/* Computes and shows the result of QUERY, or (NULL) RELATION. Results that are kept stand for views, and what
 * has been shown of a view is kept. *RET_AGAIN: another connection has written meanwhile, and nothing was
 * shown. */
static enum base_status show_once(struct tql_session *session, const struct ng_query *query,
                                  struct session_relation *relation, bool use_kept,
                                  struct tql_rows *rows, bool *ret_again) {
  struct st_version before, after;
  size_t diags = session->diags->count;
  enum base_status status = st_version(session->database, &before);
  if (status != BASE_OK) return status;
  bool used = use_kept && session_use_kept(session, true);
  if (query == NULL) {
    status = session_rows_of(session, relation, rows);
    if (status == BASE_OK) status = session_doubt_rows(session, relation, rows);
  } else if (!session_is_beyond(session, query)) {
    status = session_run_once(session, query, rows);
  }
  if (status == BASE_OK) session_report_not_final(session, query, relation, rows);
  session_use_kept(session, false);
  if (status == BASE_OK) session_note_doubted(session, query, relation, &rows->rows);
  if (status == BASE_OK) status = st_version(session->database, &after);
  if (status != BASE_OK) return status;
  bool same = before.others == after.others && before.own == after.own;
  *ret_again = used && !same;
  if (*ret_again) return BASE_OK;
  status = print_rows(session, rows);
  if (status != BASE_OK) return status;
  const struct session_relation *view = query ? session_whole_view(session, query) : relation;
  bool whole = !session_is_in_doubt(session) && !session->seat->settings.losses_ignored;
  if (session->statement != NULL && session->statement->order != NULL) whole = false;
  if (view != NULL && view->view && same && whole && session->diags->count == diags)
    session_keep_result(session, view, &before, rows);
  return BASE_OK;
}

struct showing {
  struct tql_session *session;
  const struct ng_query *query;
  struct session_relation *relation;
};

static enum base_status show_doubted(void *context) {
  const struct showing *showing = context;
  struct tql_session *session = showing->session;
  const struct ng_query *query = showing->query;
  struct session_relation *relation = showing->relation;
  enum base_status status = BASE_OK;
  bool again = true;
  for (int i = 0; i < 2 && again && status == BASE_OK; i++) {
    struct tql_rows rows;
    again = false;
    tql_rows_init(&rows, relation ? relation->ng.name : NULL,
                  query ? query->layout : relation->ng.layout);
    if (query != NULL) session_lend_rows(session, &rows.rows); /* session_rows_of makes its own */
    rows.rows.may_spill = true;
    status = show_once(session, query, relation, i == 0, &rows, &again);
    session_spare_rows(session, &rows.rows);
    tql_rows_done(&rows);
  }
  return status;
}

static enum base_status show(struct tql_session *session, const struct ng_query *query,
                             struct session_relation *relation) {
  struct showing showing = {session, query, relation};
  enum base_status status = session_look(session, query, relation, show_doubted, &showing);
  return status == BASE_OK ? session_say_filtered(session, query, relation) : status;
}

/* More rows than that are not counted. */
enum { WITHHELD_MOST = 100000 };

/* Rows of a derived relation stand in its table as soon as they are known, and are shown when none can come any more
 * that begins before them: how many are not. `print` shows them. */
static enum base_status report_withheld(struct tql_session *session,
                                        const struct session_relation *relation,
                                        const struct base_range *range) {
  int64_t count = 0;
  if (!session_is_derived(relation) || relation->view || relation->checkpoint == NET_FOREVER)
    return BASE_OK;
  enum base_status status = st_count_from(session->database, relation->ng.name,
                                          relation->checkpoint, WITHHELD_MOST, &count);
  if (status != BASE_OK || count == 0) return status;
  struct base_buffer time = BASE_BUFFER_EMPTY, rows = BASE_BUFFER_EMPTY;
  net_time_print(&time, session->timeline, relation->checkpoint);
  base_buffer_printf(&rows, "%" PRId64 "%s", count, count == WITHHELD_MOST ? " or more" : "");
  base_report_hint(
      session->diags, MSG_WITHHELD, session->source, range, "print shows all that is known of it",
      "%s tuple%s of %s %s not looked at: it is final only before %s", base_buffer_text(&rows),
      count == 1 ? "" : "s", relation->ng.name, count == 1 ? "is" : "are", base_buffer_text(&time));
  base_buffer_done(&time);
  base_buffer_done(&rows);
  return BASE_OK;
}

static enum base_status report_all_withheld(struct tql_session *session,
                                            const struct ng_query *query) {
  uint64_t walk = ++session->walks;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < query->variable_count && status == BASE_OK; i++) {
    if (query->variables[i].relation->kind == NG_REL_CLOCK || query->variables[i].costs) continue;
    struct session_relation *input = session_of(session, query->variables[i].relation);
    if (input != NULL && session_visit(input, walk))
      status = report_withheld(session, input, &session->statement->range);
  }
  return status;
}

enum base_status session_retrieve(struct tql_session *session,
                                  const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_query *query = NULL;
  enum base_status status = tql_analyse_retrieve(&analysis, statement, &query);
  if (status != BASE_OK) return status;
  if (query->name != NULL && (session_refuse_order(session, statement, query->name) ||
                              session_refuse_summary(session, query)))
    return BASE_USER;
  if (query->name != NULL && statement->kind != TQL_S_VIEW)
    status = session_check_bounds(session, query);
  if (status == BASE_OK && query->name != NULL && statement->kind != TQL_S_VIEW)
    status = session_check_history(session, query, query->name);
  if (status != BASE_OK) return status;
  if (query->name != NULL) {
    status = define(session, statement, query);
    bool stands = status == BASE_OK && statement->kind != TQL_S_VIEW;
    return stands ? session_say_filtered(session, query, NULL) : status;
  }
  struct tql_sort sort; /* what is wrong with it is said before anything is computed */
  if (statement->order != NULL) {
    status = session_analyse_order(session, statement, query->layout, &sort);
    if (status != BASE_OK) return status;
  }
  status = session_pace_catch_up(session, query, NULL);
  if (status != BASE_OK) return status;
  if (session_awaits(session, query)) return BASE_CANCEL;
  status = show(session, query, NULL);
  return status == BASE_OK ? report_all_withheld(session, query) : status;
}

struct adding {
  struct tql_session *session;
  struct tql_rows *rows;
};

static enum base_status add_batch(void *context, const struct net_batch *batch) {
  const struct adding *adding = context;
  adding->session->counters.rows_in += batch->count;
  tql_rows_add_batch(adding->rows, batch);
  return base_env_interrupted() ? BASE_CANCEL : BASE_OK;
}

enum base_status session_rows_of(struct tql_session *session, struct session_relation *relation,
                                 struct tql_rows *ret) {
  tql_rows_init(ret, relation->ng.name, relation->ng.layout);
  ret->rows.may_spill = true;
  if (session_is_looked_through(relation)) return session_view_rows(session, relation, ret);
  ret->checkpoint = relation->checkpoint;
  struct adding adding = {session, ret};
  /* All rows that are stored, also those at or beyond a checkpoint. */
  int64_t began = base_env_monotonic();
  struct net_scan scan = {.relation = relation->ng.name,
                          .layout = relation->ng.layout,
                          .form = NET_SCAN_TUPLES,
                          .checkpoint = NET_FOREVER};
  enum base_status status =
      net_store_each_batch(st_net(session->database), &scan, add_batch, &adding);
  session->counters.load_ns += base_env_monotonic() - began;
  return status;
}

enum base_status session_print(struct tql_session *session, struct session_relation *relation) {
  session_warn_incomplete(session, relation);
  enum base_status status = session_pace_catch_up(session, NULL, relation);
  return status == BASE_OK ? show(session, NULL, relation) : status;
}

/* --- derived relations */

/* What is wrong in a definition is shown there; which statement has set it off, in a hint. */
static void name_place(struct tql_session *session, size_t first) {
  if (session->source == NULL || session->statement == NULL) return;
  const struct base_range *range = &session->statement->range;
  for (size_t i = first; i < session->diags->count; i++) {
    struct base_diag *diag = &session->diags->items[i];
    if (diag->source == NULL || diag->source == session->source || diag->hint != NULL) continue;
    struct base_buffer hint = BASE_BUFFER_EMPTY;
    base_buffer_printf(&hint, "computed by the statement at %s:%d:%d", session->source->name,
                       range->first_line, range->first_column);
    diag->hint = base_xstrdup(base_buffer_text(&hint));
    base_buffer_done(&hint);
  }
}

static enum base_status recompute(struct tql_session *session, struct session_relation *relation) {
  bool fixed_now;
  enum base_status status = session_refuse_anew(session, relation);
  if (status == BASE_OK) status = session_complete(session, relation);
  if (status == BASE_OK) status = session_fix_origin(session, relation, &fixed_now);
  if (status != BASE_OK) return status;
  const struct ng_query *query = session_query(session, relation);
  status = st_clear(session->database, relation->ng.name);
  if (status != BASE_OK) return status;
  net_chronon checkpoint = NET_BEGINNING;
  status = session_run_query(session, query, NULL, relation->ng.name, &checkpoint);
  if (status != BASE_OK) return status;
  relation->checkpoint = checkpoint;
  return st_net(session->database)
      ->class->checkpoint(st_net(session->database), relation->ng.name, checkpoint);
}

/* Computes a derived relation anew from its inputs. */
static enum base_status recompute_relation(struct tql_session *session,
                                           struct session_relation *relation) {
  size_t first = session->diags->count;
  base_diag_hold(session->diags);
  enum base_status status = recompute(session, relation);
  name_place(session, first);
  base_diag_release(session->diags);
  return status;
}

/* A view whose inputs were empty so far counts from the first tuples that a statement has written, whether or not
 * anybody has asked for it by the next. That its inputs cannot be computed is told to who asks. */
static enum base_status begin_view(struct tql_session *session, struct session_relation *view) {
  size_t first = session->diags->count;
  bool fixed_now;
  if (view->origin_fixed) return BASE_OK;
  base_diag_hold(session->diags);
  enum base_status status = session_fix_origin(session, view, &fixed_now);
  if (status == BASE_USER) {
    base_diag_drop(session->diags, first);
    status = BASE_OK;
  }
  base_diag_release(session->diags);
  return status;
}

/* Those of the live network have read what was stored when it was built, and so have the sensors that it asks: it is
 * built anew, and they with it. */
enum base_status session_recompute_dependants(struct tql_session *session,
                                              const struct session_relation *relation) {
  bool in_live = false;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *derived = session->relations[i];
    if (!session_is_derived(derived) || !session_depends(session, derived, relation)) continue;
    /* Of views those that somebody looks at. */
    bool live =
        derived->view ? derived->store_node != NULL : session_depends_on_live(session, derived);
    in_live |= live;
    if (derived->view)
      status = begin_view(session, derived);
    else if (live)
      derived->stale = true;
    else
      status = recompute_relation(session, derived);
  }
  if (status != BASE_OK || !in_live) return status;
  session_drop_live(session);
  return session_ensure_live(session);
}

enum base_status session_recompute_diverted(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (!relation->diverted) continue;
    relation->diverted = false;
    enum base_status status = session_recompute_dependants(session, relation);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}
