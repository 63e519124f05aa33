/* Running a query once: its network over what is stored, with the errors that its tuples make.
 *
 * Access nodes read the store, each relation up to its checkpoint; the result is collected (retrieve) or goes
 * into the store (derived relations).                                                                     */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/losses/doubt.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/records.h"
#include "tquel/session/results/results.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

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

static enum base_status open_source(void *context, const struct ng_relation *ng,
                                    const struct net_layout *layout, enum net_scan_form form,
                                    const struct net_wanted *wanted, struct net_source **ret) {
  struct tql_session *session = context;
  uint32_t rows = session->options.batch_rows ? session->options.batch_rows : NET_BATCH_ROWS;
  if (ng == session->given.relation) {
    *ret = session_open_given(&session->given, layout, rows);
    return BASE_OK;
  }
  const struct session_given *missing = session_missing_of(session, ng);
  if (missing != NULL) {
    *ret = session_open_given(missing, layout, rows);
    return BASE_OK;
  }
  struct session_relation *relation = session_of(session, ng);
  BASE_CHECK(relation != NULL, "query-relation");
  if (session_is_pace(relation)) {
    *ret = session_open_given(&session->given_pace, layout, rows);
    return BASE_OK;
  }
  struct net_store *store = st_net(session->database);
  struct net_source *inner = NULL;
  struct net_scan scan = {ng->name, layout, form, relation->checkpoint, rows, wanted};
  enum base_status status = BASE_OK;
  struct session_doubt *doubt = session_doubt_of(session, relation);
  if (doubt != NULL && session_has_records(relation) && form == NET_SCAN_TUPLES) {
    status = session_open_doubtful(session, doubt, &scan, &inner);
  } else if (session_is_kept(session, relation)) {
    inner = session_open_kept(session, relation, layout, rows);
  } else {
    status = store->class->scan(store, &scan, &inner);
    if (status == BASE_OK) status = session_join_alike(session, relation, layout, rows, &inner);
  }
  if (status != BASE_OK) {
    if (inner != NULL) inner->free(inner);
    return status;
  }
  struct timed_source *timed = base_xcalloc(1, sizeof *timed);
  timed->source = (struct net_source){.next = timed_next, .free = timed_free};
  timed->inner = inner;
  timed->counters = &session->counters;
  *ret = &timed->source;
  return BASE_OK;
}

/* --- run-time errors */

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
    case NET_EVAL_HEX:
      return MSG_STRING_NO_BYTES;
    case NET_EVAL_COUNT:
      return MSG_NEGATIVE_COUNT;
    case NET_EVAL_REGEX:
      return MSG_REGEX_TOO_LONG;
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

/* A run-time error as a diagnostic with the tuple. */
static bool report_eval_error(struct tql_session *session, const struct ng_query *query,
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
  bool speculates;                   /* errors say that it did so in vain, and nothing more */
  bool failed;                       /* it did */
  bool only_looks;                   /* what a standing query has rejected is in Rejected already */
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
  if (reject->speculates) {
    reject->failed = true;
    return false;
  }
  if (reject->tolerant != NULL && reject->only_looks) return true;
  if (reject->tolerant != NULL) return divert(reject, error, layout, row);
  return report_eval_error(reject->session, reject->query, error, layout, row);
}

/* --- running */

/* What a one-off network is run for. */
struct one_off {
  const struct ng_query *query;
  struct tql_rows *rows;       /* the result; NULL: it goes to the store */
  const char *store_name;      /* NULL: ROWS has the result */
  struct net_store *store;     /* where STORE_NAME is; NULL: the database */
  net_chronon *ret_checkpoint; /* in the store; may be NULL */
  struct base_buffer *figures; /* NULL: not wanted; else the plan with them is appended */
  struct ng_plan *plan;        /* QUERY is its last, and it is transformed */
};

static enum base_status collect(void *context, const struct net_batch *batch) {
  struct tql_rows *rows = context;
  tql_rows_add_batch(rows, batch);
  if (batch->checkpoint > rows->checkpoint) rows->checkpoint = batch->checkpoint;
  return BASE_OK;
}

/* What the rules did, which is more than for a query that stands, and then what the nodes did. */
static void explain_run(const struct one_off *one_off) {
  size_t before = one_off->figures->length;
  ng_plan_explain_rules(one_off->plan, one_off->figures);
  if (one_off->figures->length > before) base_buffer_putc(one_off->figures, '\n');
  ng_plan_explain_run(one_off->plan, "executed network", one_off->figures);
}

static enum base_status run_network(struct tql_session *session, struct net_network *network,
                                    const struct one_off *one_off, struct reject_context *reject) {
  struct net_node *result = NULL, *sink = NULL;
  if (session->options.batch_rows) net_network_set_batch_rows(network, session->options.batch_rows);
  if (session->options.checked) net_network_set_checked(network);
  net_network_on_reject(network, on_reject, reject);
  struct ng_inputs inputs = {.context = session,
                             .owner = one_off->store_name,
                             .source = open_source,
                             .passed = session_passed,
                             .counts = session_count_once};
  enum base_status status = ng_plan_build(one_off->plan, network, &inputs, session->diags, &result);
  if (status != BASE_OK) return status;
  const struct net_layout *layout = one_off->query->layout;
  if (one_off->store_name != NULL) {
    struct net_store *store = one_off->store ? one_off->store : st_net(session->database);
    sink = net_create_relation_store(network, one_off->store_name, layout, store);
    net_store_node_collect(sink);
  } else {
    sink = net_create_display(network, "result", layout, collect, one_off->rows);
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
  if (one_off->store_name != NULL && one_off->store == NULL && status == BASE_OK)
    status = session_keep_alike(session, one_off->store_name, sink, layout);
  if (one_off->store_name != NULL && one_off->store == NULL && status == BASE_OK)
    status = session_keep_node_stats(session, network);
  if (one_off->figures != NULL) explain_run(one_off);
  return status;
}

static enum base_status run_plan(struct tql_session *session, const struct one_off *one_off,
                                 struct reject_context *reject) {
  int64_t load_before = session->counters.load_ns, began = base_env_monotonic();
  struct net_network *network =
      net_network_new(session->strings, session->timeline, session->diags);
  session->doing = NULL;
  enum base_status status = run_network(session, network, one_off, reject);
  if (status != BASE_OK) session_note_holder(session, network, one_off->rows);
  session->counters.network_ns +=
      base_env_monotonic() - began - (session->counters.load_ns - load_before);
  net_network_free(network);
  return status;
}

/* It runs over what is stored (ng_plan_over_store), if all traced relations are closed. */
static bool is_over_store(const struct tql_session *session) {
  if (session->given.relation != NULL) return false;
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    bool closed = relation->checkpoint == NET_FOREVER && !relation->waiting.has_pending;
    if (relation->kind == ST_TRACED && !closed) return false;
  }
  return true;
}

/* One that the WALK has come by already is, or the walk were over. */
static bool is_closed(struct tql_session *session, struct session_relation *relation,
                      uint64_t walk) {
  if (!session_visit(relation, walk)) return true;
  if (session_is_pace(relation)) return session->given_pace.checkpoint == NET_FOREVER;
  if (!session_is_looked_through(relation))
    return relation->checkpoint == NET_FOREVER && !relation->waiting.has_pending;
  for (size_t i = 0; i < relation->derived.input_count; i++) {
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input != NULL && !is_closed(session, input, walk)) return false;
  }
  return true;
}

/* How far the checkpoint of a result comes depends on where conditions stand: it must not depend on whether
 * one of them has failed, unless nothing is to come of what QUERY reads. */
static bool reads_closed(struct tql_session *session, const struct ng_query *query) {
  uint64_t walk = ++session->walks;
  if (session->given.relation != NULL && session->given.checkpoint != NET_FOREVER) return false;
  for (size_t i = 0; i < query->variable_count; i++) {
    struct session_relation *input = session_of(session, query->variables[i].relation);
    if (input != NULL && !is_closed(session, input, walk)) return false;
  }
  return true;
}

/* Up to when all is known of RELATION, or of what it is a view of. */
static net_chronon known_until(struct tql_session *session, struct session_relation *relation,
                               uint64_t walk) {
  net_chronon known = NET_FOREVER;
  if (!session_visit(relation, walk)) return known;
  if (session_is_pace(relation)) return session->given_pace.checkpoint;
  if (!session_is_looked_through(relation))
    return relation->waiting.has_pending && relation->checkpoint == NET_FOREVER
               ? NET_BEGINNING
               : relation->checkpoint;
  for (size_t i = 0; i < relation->derived.input_count; i++) {
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    net_chronon of_it = input != NULL ? known_until(session, input, walk) : NET_BEGINNING;
    if (of_it < known) known = of_it;
  }
  return known;
}

net_chronon session_reads_until(struct tql_session *session, const struct ng_query *query) {
  net_chronon known = session->given.relation != NULL ? session->given.checkpoint : NET_FOREVER;
  uint64_t walk = ++session->walks;
  for (size_t i = 0; i < query->variable_count; i++) {
    struct session_relation *input = session_of(session, query->variables[i].relation);
    net_chronon of_it = input != NULL ? known_until(session, input, walk) : NET_FOREVER;
    if (of_it < known) known = of_it;
  }
  return known;
}

net_chronon session_known_until(struct tql_session *session, struct session_relation *relation) {
  return known_until(session, relation, ++session->walks);
}

bool session_is_beyond(struct tql_session *session, const struct ng_query *query) {
  const struct ng_expr *at = query->at;
  session->given_pace.checkpoint = session_paced_until(session, query);
  return at != NULL && at->op == NG_T_CONSTANT && at->instant.lo != NET_FOREVER &&
         at->instant.lo >= session_reads_until(session, query);
}

static enum base_status make_plan(struct tql_session *session, const struct one_off *one_off,
                                  bool speculate) {
  struct ng_plan *plan = one_off->plan;
  int64_t began = base_env_monotonic();
  session->doing = "planning it";
  enum base_status status = session_add_views(session, one_off->query, plan, true);
  const struct ng_query *query = one_off->query;
  if (status == BASE_OK) status = session_doubt_query(session, &query);
  if (status == BASE_OK) status = ng_plan_add_query(plan, query, session->diags);
  if (status != BASE_OK) return status;
  if (is_over_store(session)) ng_plan_over_store(plan);
  if (speculate) ng_plan_may_speculate(plan);
  ng_plan_known_until(plan, session_reads_until(session, one_off->query));
  bool kept = one_off->figures != NULL ? one_off->query->name != NULL : one_off->store_name != NULL;
  status = session_transform(session, plan, kept);
  session->counters.network_ns += base_env_monotonic() - began;
  return status;
}

/* Clocks alone tick up to now for who asks once, else as far as their relation has come. */
static void begin_pace(struct tql_session *session, const struct one_off *one_off,
                       const struct net_rows *nothing) {
  const struct session_relation *pace = session_find(session, "Clock");
  bool once = one_off->store_name == NULL;
  session->paced_until = once ? session_paced_until(session, one_off->query) : NET_BEGINNING;
  session->given_pace = (struct session_given){
      .rows = nothing,
      .checkpoint = once || pace == NULL ? session->paced_until : pace->checkpoint};
}

/* With conditions that can fail where they are best asked; and if one does fail, without. */
static enum base_status run_one_off(struct tql_session *session, struct one_off *one_off) {
  struct reject_context reject = {
      .session = session, .query = one_off->query, .only_looks = one_off->store != NULL};
  /* A standing query that rejected combinations while it was live goes on doing so. */
  if (one_off->store_name != NULL) {
    struct session_relation *derived = session_find(session, one_off->store_name);
    if (derived != NULL && has_rejections(session, derived)) reject.tolerant = derived;
  }
  struct net_rows nothing = {0};
  begin_pace(session, one_off, &nothing);
  struct session_counters before = session->counters;
  bool speculate = reject.tolerant == NULL && reads_closed(session, one_off->query);
  for (;;) {
    struct base_arena *arena = base_arena_new();
    one_off->plan = ng_plan_new(arena, session->strings, session->timeline);
    enum base_status status = make_plan(session, one_off, speculate);
    if (status == BASE_OK && one_off->store == NULL) session_warn_plan(session, one_off->plan);
    reject.speculates = speculate && ng_plan_speculates(one_off->plan);
    if (status == BASE_OK) status = run_plan(session, one_off, &reject);
    base_arena_free(arena);
    if (!reject.speculates || !reject.failed) {
      session->paced_until = NET_BEGINNING;
      return status;
    }
    speculate = false;
    session->counters.rows_in = before.rows_in;
    if (one_off->rows != NULL) tql_rows_clear(one_off->rows);
  }
}

enum base_status session_run_query(struct tql_session *session, const struct ng_query *query,
                                   struct tql_rows *ret, const char *store_name,
                                   net_chronon *ret_checkpoint) {
  return run_one_off(
      session,
      &(struct one_off){
          .query = query, .rows = ret, .store_name = store_name, .ret_checkpoint = ret_checkpoint});
}

enum base_status session_run_into(struct tql_session *session, const struct ng_query *query,
                                  const char *name, struct net_store *store) {
  return run_one_off(session,
                     &(struct one_off){.query = query, .store_name = name, .store = store});
}

enum base_status session_run_figures(struct tql_session *session, const struct ng_query *query,
                                     struct tql_rows *ret, struct base_buffer *ret_figures) {
  return run_one_off(session,
                     &(struct one_off){.query = query, .rows = ret, .figures = ret_figures});
}

enum base_status session_run_once(struct tql_session *session, const struct ng_query *query,
                                  struct tql_rows *ret) {
  enum base_status status = session_query_once(session, &query);
  return status == BASE_OK ? session_run_query(session, query, ret, NULL, NULL) : status;
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
