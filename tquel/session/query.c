/* One-off networks: retrieve, print, and computing a derived relation from its inputs.
 *
 * Access nodes read the store, each relation up to its checkpoint; the result is collected (retrieve)
 * or goes into the store (derived relations).                                                       */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/session_impl.h"

/* --- sources that measure the time spent in the store */

struct timed_source {
  struct net_source source;
  struct net_source *inner;
  struct session_counters *counters;
};

static enum base_status timed_next(struct net_source *source, struct net_batch *ret) {
  struct timed_source *timed = (struct timed_source *)source;
  bool at_hand = timed->inner->at_hand; /* looking at the clock would take longer */
  int64_t before = at_hand ? 0 : base_env_monotonic();
  enum base_status status = timed->inner->next(timed->inner, ret);
  if (!at_hand) timed->counters->load_ns += base_env_monotonic() - before;
  if (status == BASE_OK) timed->counters->rows_in += ret->count;
  return status;
}

static void timed_free(struct net_source *source) {
  struct timed_source *timed = (struct timed_source *)source;
  timed->inner->free(timed->inner);
  free(timed);
}

/* --- tuples that are given */

struct given_source {
  struct net_source source;
  const struct session_given *given;
  struct net_batch_builder builder;
  size_t at;
  bool ended;
};

static bool is_before(const struct session_given *given, const union net_slot *row) {
  return given->checkpoint == NET_FOREVER || row[0].i < given->checkpoint;
}

static void copy_fields(const struct net_layout *to, union net_slot *out,
                        const struct net_layout *from, const union net_slot *row) {
  memcpy(out, row, to->first_domain_slot * sizeof *out);
  for (uint32_t f = 0; f < to->field_count; f++) {
    int field = net_layout_find(from, to->fields[f].name);
    BASE_CHECK(field >= 0, "given-field");
    memcpy(out + to->fields[f].slot, row + from->fields[field].slot,
           net_type_slots(to->fields[f].type.base) * sizeof *out);
  }
}

static enum base_status given_next(struct net_source *base, struct net_batch *ret) {
  struct given_source *source = (struct given_source *)base;
  const struct net_rows *rows = source->given->rows;
  if (source->ended) return BASE_END;
  net_batch_builder_clear(&source->builder);
  net_chronon last = NET_BEGINNING;
  while (source->at < rows->count && !net_batch_builder_full(&source->builder)) {
    const union net_slot *row = net_rows_row(rows, source->at++);
    if (!is_before(source->given, row)) continue;
    last = row[0].i;
    copy_fields(source->builder.layout,
                net_batch_builder_add(&source->builder, rows->marks[source->at - 1]), rows->layout,
                row);
  }
  source->ended = source->at == rows->count;
  *ret =
      net_batch_builder_batch(&source->builder, source->ended ? source->given->checkpoint : last);
  return BASE_OK;
}

static void given_free(struct net_source *base) {
  struct given_source *source = (struct given_source *)base;
  net_batch_builder_done(&source->builder);
  free(source);
}

static struct net_source *open_given(const struct session_given *given,
                                     const struct net_layout *layout, uint32_t batch_rows) {
  struct given_source *source = base_xcalloc(1, sizeof *source);
  source->source = (struct net_source){.next = given_next, .free = given_free};
  source->given = given;
  net_batch_builder_init(&source->builder, layout, batch_rows);
  return &source->source;
}

static enum base_status open_source(void *context, const struct ng_relation *ng,
                                    const struct net_layout *layout, enum net_scan_form form,
                                    const struct net_wanted *wanted, struct net_source **ret) {
  struct tql_session *session = context;
  uint32_t rows = session->options.batch_rows ? session->options.batch_rows : NET_BATCH_ROWS;
  if (ng == session->given.relation) {
    *ret = open_given(&session->given, layout, rows);
    return BASE_OK;
  }
  struct session_relation *relation = session_of(session, ng);
  BASE_CHECK(relation != NULL, "query-relation");
  struct net_store *store = st_net(session->database);
  struct net_source *inner = NULL;
  struct net_scan scan = {ng->name, layout, form, relation->checkpoint, rows, wanted};
  enum base_status status = BASE_OK;
  if (session_is_kept(session, relation)) {
    inner = session_open_kept(session, relation, layout, rows);
  } else {
    status = store->class->scan(store, &scan, &inner);
  }
  if (status != BASE_OK) return status;
  struct timed_source *timed = base_xcalloc(1, sizeof *timed);
  timed->source = (struct net_source){.next = timed_next, .free = timed_free};
  timed->inner = inner;
  timed->counters = &session->counters;
  *ret = &timed->source;
  return BASE_OK;
}

/* --- run-time errors */

void session_print_row(struct tql_session *session, struct base_buffer *out,
                       const struct net_layout *layout, const union net_slot *row) {
  struct tql_rows rows;
  tql_rows_init(&rows, NULL, layout);
  net_rows_add_copy(&rows.rows, row, NET_DEFINITE);
  rows.checkpoint = NET_FOREVER;
  struct tql_format_context context = {
      .format = TQL_FORMAT_NDJSON, .timeline = session->timeline, .strings = session->strings};
  tql_format_rows(out, &context, &rows);
  while (out->length > 0 && out->data[out->length - 1] == '\n') out->data[--out->length] = 0;
  tql_rows_done(&rows);
}

static enum base_message eval_message(enum net_eval_error error) {
  switch (error) {
    case NET_EVAL_DIVISION:
      return MSG_DIVISION_BY_ZERO;
    case NET_EVAL_NUMBER:
      return MSG_NOT_A_NUMBER;
    case NET_EVAL_FORM:
      return MSG_TEMPORAL_RESULT;
    case NET_EVAL_RANGE:
      return MSG_CONVERSION_RANGE;
    case NET_EVAL_TEXT:
      return MSG_STRING_NO_NUMBER;
    case NET_EVAL_COUNT:
      return MSG_NEGATIVE_COUNT;
    case NET_EVAL_CUT:
      return MSG_CUT_UNCERTAIN;
    case NET_EVAL_POLE:
      return MSG_POLE;
    case NET_EVAL_QUADRATIC:
      return MSG_COMPARISON_NOT_LINEAR;
    case NET_EVAL_OVERFLOW:
    case NET_EVAL_OK:
    default:
      return MSG_INTEGER_OVERFLOW;
  }
}

/* Is field INDEX part of the tuple? Not what was computed on the way, nor the number that an update
 * gave it; of targets and domains of one name, the domains, which stand behind. */
static bool is_shown(const struct tql_session *session, const struct net_layout *layout,
                     uint32_t index) {
  const struct net_field *field = &layout->fields[index];
  const char *dot = strrchr(field->name, '.');
  if (field->computed) return false;
  for (uint32_t i = index + 1; i < layout->field_count; i++)
    if (!layout->fields[i].computed && strcmp(layout->fields[i].name, field->name) == 0)
      return false;
  return session->given.relation == NULL ||
         strcmp(dot ? dot + 1 : field->name, TQL_NUMBER_DOMAIN) != 0;
}

void session_print_tuple(struct tql_session *session, struct base_buffer *out,
                         const struct net_layout *layout, const union net_slot *row) {
  uint32_t kept = 0;
  struct base_arena *arena = base_arena_new();
  struct net_field *fields = BASE_NEW_ARRAY(arena, layout->field_count + 1, struct net_field);
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (is_shown(session, layout, i)) fields[kept++] = layout->fields[i];
  struct net_layout *shown = net_layout_new(arena, layout->tuple_class, fields, kept);
  union net_slot *copy = BASE_NEW_ARRAY(arena, layout->slot_count + 1, union net_slot);
  memcpy(copy, row, layout->first_domain_slot * sizeof *copy);
  for (uint32_t i = 0; i < kept; i++)
    memcpy(copy + shown->fields[i].slot, row + fields[i].slot,
           net_type_slots(fields[i].type.base) * sizeof *copy);
  session_print_row(session, out, shown, copy);
  base_arena_free(arena);
}

/* The tuple is the first tick that was not made. */
static void report_ticks(struct tql_session *session, const struct ng_query *query,
                         const char *tick) {
  base_report_hint(session->diags, MSG_CLOCK_TICKS, query->source, &query->range,
                   "take a larger unit, or set origin to a time closer to the data",
                   "a clock%s%s would tick more than a thousand million times at once: from %s on",
                   query->name ? " in " : "", query->name ? query->name : "", tick);
}

bool session_report_eval_error(struct tql_session *session, const struct ng_query *query,
                               enum net_eval_error error, const struct net_layout *layout,
                               const union net_slot *row) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  session_print_tuple(session, &text, layout, row);
  if (error == NET_EVAL_TICKS)
    report_ticks(session, query, base_buffer_text(&text));
  else
    base_report(session->diags, eval_message(error), query->source, &query->range,
                "%s%s%s for the tuple %s", net_eval_error_text(error), query->name ? " in " : "",
                query->name ? query->name : "", base_buffer_text(&text));
  base_buffer_done(&text);
  return false;
}

struct reject_context {
  struct tql_session *session;
  const struct ng_query *query;
  struct session_relation *tolerant; /* errors of this relation go to Rejected, with a warning */
};

/* Has RELATION combinations in Rejected? */
static bool has_rejections(struct tql_session *session, const struct session_relation *relation) {
  struct session_relation *rejected = session_find(session, "Rejected");
  struct tql_rows rows;
  if (rejected == NULL || session_rows_of(session, rejected, &rows) != BASE_OK) return false;
  base_string_id name = base_strings_intern_text(session->strings, relation->ng.name);
  bool found = false;
  for (size_t i = 0; i < rows.rows.count && !found; i++)
    found = net_rows_row(&rows.rows, i)[2].s == name;
  tql_rows_done(&rows);
  return found;
}

static bool divert(struct reject_context *reject, enum net_eval_error error,
                   const struct net_layout *layout, const union net_slot *row) {
  struct tql_session *session = reject->session;
  struct base_buffer record = BASE_BUFFER_EMPTY;
  session_print_tuple(session, &record, layout, row);
  base_report(session->diags, MSG_COMBINATION_REJECTED, NULL, NULL,
              "%s: %s for the tuple %s, which is in Rejected", reject->tolerant->ng.name,
              net_eval_error_text(error), base_buffer_text(&record));
  enum base_status status =
      session_divert_combination(session, reject->tolerant, row[0].i, net_eval_error_text(error),
                                 base_buffer_text(&record), record.length);
  base_buffer_done(&record);
  return status == BASE_OK;
}

static bool on_reject(void *context, const struct net_node *node, enum net_eval_error error,
                      const struct net_layout *layout, const union net_slot *row) {
  (void)node;
  struct reject_context *reject = context;
  if (reject->tolerant != NULL) return divert(reject, error, layout, row);
  return session_report_eval_error(reject->session, reject->query, error, layout, row);
}

/* --- the origin of aggregates on the real timeline */

static void note_first(bool *any, net_chronon *first, net_chronon time) {
  if (!*any || time < *first) *first = time;
  *any = true;
}

/* As if the view were stored: the first of its own tuples; FINITE: the first finite instant in them. */
static enum base_status earliest_of_view(struct tql_session *session, struct session_relation *view,
                                         bool finite, bool *ret_any, net_chronon *ret) {
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

static bool has_clock(const struct ng_query *query) {
  for (size_t i = 0; i < query->variable_count; i++)
    if (query->variables[i].relation->kind == NG_REL_CLOCK) return true;
  return false;
}

/* The earliest tuple among the query's own inputs; false while they are all empty. A clock cannot tick
 * at `beginning`: where the query has one, the first finite instant in its inputs. */
static enum base_status earliest_tuple(struct tql_session *session, const struct ng_query *query,
                                       bool *ret_any, net_chronon *ret) {
  bool finite = has_clock(query);
  *ret_any = false;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *relation = query->variables[i].relation;
    bool any = false;
    net_chronon first = NET_FOREVER, last;
    if (relation->kind == NG_REL_CLOCK || query->variables[i].costs) continue;
    struct session_relation *input = session_of(session, relation);
    enum base_status status =
        input != NULL && input->view ? earliest_of_view(session, input, finite, &any, &first)
        : finite ? st_first_finite(session->database, relation->name, &any, &first)
                 : st_extent(session->database, relation->name, &any, &first, &last);
    if (status != BASE_OK) return status;
    if (any) note_first(ret_any, ret, first);
  }
  return BASE_OK;
}

/* May an input that is fed still bring a tuple at or before FIRST? */
static bool may_come_earlier(struct tql_session *session, const struct ng_query *query,
                             net_chronon first) {
  for (size_t i = 0; i < query->variable_count; i++) {
    if (query->variables[i].relation->kind == NG_REL_CLOCK || query->variables[i].costs) continue;
    struct session_relation *input = session_of(session, query->variables[i].relation);
    if (input == NULL) continue;
    if (input->view && input->query != NULL && may_come_earlier(session, input->query, first))
      return true;
    /* One that is derived from what is fed, but has no node yet: its inputs are not live again. */
    bool waits = session_is_derived(input) && input->store_node == NULL;
    const struct ng_query *derived = waits ? session_query(session, input) : NULL;
    if (derived != NULL && may_come_earlier(session, derived, first)) return true;
    /* One that is not closed for ever is fed, if not yet in this session; what is derived from those
     * that are has a node. */
    bool fed = !session_is_derived(input) || input->live || input->has_pending ||
               input->checkpoint > NET_BEGINNING || input->store_node != NULL;
    if (!input->view && fed && input->checkpoint <= first) return true;
  }
  return false;
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

const struct ng_query *session_at_origin(struct tql_session *session, const struct ng_query *query,
                                         const struct session_relation *relation) {
  if (!session_wants_origin(query)) return query;
  bool any = relation->origin_fixed;
  net_chronon origin = relation->origin;
  if (!any && earliest_tuple(session, query, &any, &origin) != BASE_OK) return NULL;
  return any ? query_at_origin(session->arena, query, origin) : query;
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

/* --- running */

/* What a one-off network is run for. */
struct one_off {
  const struct ng_query *query;
  struct ng_plan *plan; /* QUERY is its last, and it is transformed */
  net_batch_fn callback;
  void *context;
  const char *store_name;      /* NULL: CALLBACK has the result */
  net_chronon *ret_checkpoint; /* may be NULL */
  struct base_buffer *figures; /* NULL: not wanted; else the plan with them is appended */
};

static enum base_status run_network(struct tql_session *session, struct net_network *network,
                                    const struct one_off *one_off, struct reject_context *reject) {
  struct net_node *result = NULL, *sink = NULL;
  if (session->options.batch_rows) net_network_set_batch_rows(network, session->options.batch_rows);
  net_network_on_reject(network, on_reject, reject);
  struct ng_inputs inputs = {.context = session,
                             .owner = one_off->store_name,
                             .source = open_source,
                             .passed = session_passed};
  enum base_status status = ng_plan_build(one_off->plan, network, &inputs, session->diags, &result);
  if (status != BASE_OK) return status;
  const struct net_layout *layout = one_off->query->layout;
  if (one_off->store_name != NULL) {
    sink =
        net_create_relation_store(network, one_off->store_name, layout, st_net(session->database));
    net_store_node_collect(sink);
  } else {
    sink = net_create_display(network, "result", layout, one_off->callback, one_off->context);
  }
  status = net_link(result, sink, 0);
  BASE_CHECK(status == BASE_OK, "query-link-sink");
  net_freeze(network);
  /* Of what is not kept nobody asks what its nodes cost, unless it is explained. */
  if (one_off->figures != NULL || one_off->store_name != NULL) net_network_measure(network);
  status = net_run(network);
  if (status != BASE_OK) return status;
  if (one_off->ret_checkpoint != NULL) *one_off->ret_checkpoint = net_node_checkpoint(sink);
  if (one_off->store_name != NULL) status = net_store_node_finish(sink);
  if (one_off->store_name != NULL && status == BASE_OK)
    status = session_keep_node_stats(session, network);
  if (one_off->figures != NULL)
    ng_plan_explain_run(one_off->plan, "executed network", one_off->figures);
  return status;
}

static enum base_status run_one_off(struct tql_session *session, const struct one_off *one_off) {
  struct reject_context reject = {session, one_off->query, NULL};
  /* A standing query that rejected combinations while it was live goes on doing so. */
  if (one_off->store_name != NULL) {
    struct session_relation *derived = session_find(session, one_off->store_name);
    if (derived != NULL && has_rejections(session, derived)) reject.tolerant = derived;
  }
  int64_t load_before = session->counters.load_ns, began = base_env_monotonic();
  struct net_network *network =
      net_network_new(session->strings, session->timeline, session->diags);
  enum base_status status = run_network(session, network, one_off, &reject);
  session->counters.network_ns +=
      base_env_monotonic() - began - (session->counters.load_ns - load_before);
  net_network_free(network);
  return status;
}

void session_over_store(struct tql_session *session, struct ng_plan *plan) {
  if (session->given.relation != NULL) return;
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    bool closed = relation->checkpoint == NET_FOREVER && !relation->has_pending;
    if (relation->kind == ST_TRACED && !closed) return;
  }
  ng_plan_over_store(plan);
}

enum base_status session_run_query(struct tql_session *session, const struct ng_query *query,
                                   net_batch_fn callback, void *context, const char *store_name,
                                   net_chronon *ret_checkpoint) {
  struct base_arena *arena = base_arena_new();
  struct one_off one_off = {.query = query,
                            .plan = ng_plan_new(arena, session->strings, session->timeline),
                            .callback = callback,
                            .context = context,
                            .store_name = store_name,
                            .ret_checkpoint = ret_checkpoint};
  int64_t began = base_env_monotonic();
  enum base_status status = session_add_views(session, query, one_off.plan, true);
  if (status == BASE_OK) status = ng_plan_add_query(one_off.plan, query, session->diags);
  if (status == BASE_OK) {
    session_over_store(session, one_off.plan);
    session_transform(session, one_off.plan, store_name != NULL);
    session->counters.network_ns += base_env_monotonic() - began;
    status = run_one_off(session, &one_off);
  }
  base_arena_free(arena);
  return status;
}

enum base_status session_run_figures(struct tql_session *session, const struct ng_query *query,
                                     struct ng_plan *plan, net_batch_fn callback, void *context,
                                     struct base_buffer *ret_figures) {
  struct one_off one_off = {.query = query,
                            .plan = plan,
                            .callback = callback,
                            .context = context,
                            .figures = ret_figures};
  return run_one_off(session, &one_off);
}

struct collect {
  struct tql_rows *rows;
  net_chronon checkpoint;
};

static enum base_status collect(void *context, const struct net_batch *batch) {
  struct collect *collecting = context;
  tql_rows_add_batch(collecting->rows, batch);
  if (batch->checkpoint > collecting->checkpoint) collecting->checkpoint = batch->checkpoint;
  return BASE_OK;
}

static void print_rows(struct tql_session *session, struct tql_rows *rows) {
  int64_t began = base_env_monotonic();
  session_has_shown(session);
  tql_rows_finish(rows, session->strings);
  session->counters.rows_out += rows->rows.count;
  if (session->output->rows != NULL) session->output->rows(session->output->context, rows);
  session->counters.output_ns += base_env_monotonic() - began;
}

/* Can the view be executed? Its origin is fixed if there is a first tuple. */
static enum base_status check_view(struct tql_session *session, struct session_relation *view) {
  bool fixed_now;
  enum base_status status = session_fix_origin(session, view, &fixed_now);
  if (status != BASE_OK) return status;
  struct ng_plan *plan = ng_plan_new(session->statement_arena, session->strings, session->timeline);
  return ng_plan_add_query(plan, view->query, session->diags);
}

static enum base_status define(struct tql_session *session, const struct tql_statement *statement,
                               const struct ng_query *query) {
  struct base_arena *arena = session->statement_arena;
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
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
  struct st_relation relation = {
      .name = query->name,
      .kind = layout->tuple_class == NET_EVENT ? ST_DERIVED_EVENT : ST_DERIVED_PERIOD,
      .domains = domains,
      .domain_count = layout->field_count,
      .by = -1,
      .checkpoint = NET_BEGINNING,
      .view = statement->kind == TQL_S_VIEW,
      .definition = tql_definition_text(arena, &scope.scope, statement, query),
      .inputs = inputs,
      .input_count = input_count,
  };
  enum base_status status = session_begin(session);
  if (status != BASE_OK) return status;
  status = st_create(session->database, &relation);
  if (status == BASE_OK) {
    struct session_relation *derived = session_add_relation(session, &relation);
    session_drop_live(session);
    status = derived->view ? check_view(session, derived) : session_recompute(session, derived);
  }
  return session_end(session, status);
}

const struct ng_query *session_query_once(struct tql_session *session,
                                          const struct ng_query *query) {
  bool any = false;
  net_chronon origin;
  if (!session_wants_origin(query)) return query;
  if (earliest_tuple(session, query, &any, &origin) != BASE_OK) return NULL;
  return any ? query_at_origin(session->statement_arena, query, origin) : query;
}

enum base_status session_run_once(struct tql_session *session, const struct ng_query *query,
                                  net_batch_fn callback, void *context) {
  query = session_query_once(session, query);
  if (query == NULL) return BASE_SYSTEM;
  return session_run_query(session, query, callback, context, NULL, NULL);
}

/* Computes and shows the result of QUERY, or (NULL) RELATION. Results that are kept stand for views, and what
 * has been shown of a view is kept. *RET_AGAIN: another connection has written meanwhile, and nothing was
 * shown. */
static enum base_status show_once(struct tql_session *session, const struct ng_query *query,
                                  struct session_relation *relation, bool use_kept,
                                  struct tql_rows *rows, bool *ret_again) {
  struct collect collecting = {rows, NET_BEGINNING};
  struct st_version before, after;
  size_t diags = session->diags->count;
  enum base_status status = st_version(session->database, &before);
  if (status != BASE_OK) return status;
  bool used = use_kept && session_use_kept(session, true);
  if (query == NULL) {
    status = session_rows_of(session, relation, rows);
  } else {
    status = session_run_once(session, query, collect, &collecting);
    rows->checkpoint = collecting.checkpoint;
  }
  session_use_kept(session, false);
  if (status == BASE_OK) status = st_version(session->database, &after);
  if (status != BASE_OK) return status;
  bool same = before.others == after.others && before.own == after.own;
  *ret_again = used && !same;
  if (*ret_again) return BASE_OK;
  print_rows(session, rows);
  const struct session_relation *view = query ? session_whole_view(session, query) : relation;
  if (view != NULL && view->view && same && session->diags->count == diags)
    session_keep_result(session, view, &before, rows);
  return BASE_OK;
}

static enum base_status show(struct tql_session *session, const struct ng_query *query,
                             struct session_relation *relation) {
  enum base_status status = BASE_OK;
  bool again = true;
  for (int i = 0; i < 2 && again && status == BASE_OK; i++) {
    struct tql_rows rows;
    again = false;
    tql_rows_init(&rows, relation ? relation->ng.name : NULL,
                  query ? query->layout : relation->ng.layout);
    if (query != NULL) session_lend_rows(session, &rows.rows); /* session_rows_of makes its own */
    status = show_once(session, query, relation, i == 0, &rows, &again);
    session_spare_rows(session, &rows.rows);
    tql_rows_done(&rows);
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
  if (query->name != NULL && statement->kind != TQL_S_VIEW)
    status = session_check_bounds(session, query);
  if (status != BASE_OK) return status;
  if (query->name != NULL) return define(session, statement, query);
  return show(session, query, NULL);
}

enum base_status session_rows_of(struct tql_session *session, struct session_relation *relation,
                                 struct tql_rows *ret) {
  struct net_store *store = st_net(session->database);
  struct net_source *source = NULL;
  tql_rows_init(ret, relation->ng.name, relation->ng.layout);
  if (relation->view) return session_view_rows(session, relation, ret);
  ret->checkpoint = relation->checkpoint;
  /* All rows that are stored, also those at or beyond a checkpoint. */
  int64_t began = base_env_monotonic();
  struct net_scan scan = {.relation = relation->ng.name,
                          .layout = relation->ng.layout,
                          .form = NET_SCAN_TUPLES,
                          .checkpoint = NET_FOREVER};
  enum base_status status = store->class->scan(store, &scan, &source);
  struct net_batch batch;
  while (status == BASE_OK) {
    if (base_env_interrupted()) {
      status = BASE_CANCEL;
    } else if ((status = source->next(source, &batch)) == BASE_OK) {
      session->counters.rows_in += batch.count;
      tql_rows_add_batch(ret, &batch);
    }
  }
  if (source != NULL) source->free(source);
  session->counters.load_ns += base_env_monotonic() - began;
  return status == BASE_END ? BASE_OK : status;
}

enum base_status session_print(struct tql_session *session, struct session_relation *relation) {
  return show(session, NULL, relation);
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
  enum base_status status = session_fix_origin(session, relation, &fixed_now);
  if (status != BASE_OK) return status;
  const struct ng_query *query = session_query(session, relation);
  status = st_clear(session->database, relation->ng.name);
  if (status != BASE_OK) return status;
  net_chronon checkpoint = NET_BEGINNING;
  status = session_run_query(session, query, NULL, NULL, relation->ng.name, &checkpoint);
  if (status != BASE_OK) return status;
  relation->checkpoint = checkpoint;
  return st_net(session->database)
      ->class->checkpoint(st_net(session->database), relation->ng.name, checkpoint);
}

enum base_status session_recompute(struct tql_session *session, struct session_relation *relation) {
  size_t first = session->diags->count;
  base_diag_hold(session->diags);
  enum base_status status = recompute(session, relation);
  name_place(session, first);
  base_diag_release(session->diags);
  return status;
}

enum base_status session_recompute_dependants(struct tql_session *session,
                                              const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *derived = session->relations[i];
    if (!session_is_derived(derived) || derived->view ||
        !session_depends(session, derived, relation))
      continue;
    enum base_status status = session_recompute(session, derived);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}
