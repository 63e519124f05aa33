/* What is asked once, and what is defined: retrieve and print. */
#include <inttypes.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/results/results.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/tables/tables.h"

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
  return ng_plan_add_query(plan, view->derived.query, session->diags);
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
    status = derived->view ? check_view(session, derived) : session_recompute(session, derived);
  }
  return session_end(session, status);
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

enum base_status session_print(struct tql_session *session, struct session_relation *relation) {
  session_warn_incomplete(session, relation);
  enum base_status status = session_pace_catch_up(session, NULL, relation);
  return status == BASE_OK ? show(session, NULL, relation) : status;
}
