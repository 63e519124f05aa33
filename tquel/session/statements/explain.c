/* Explain: the networks of a query, what the rules did, and, with `analyze`, what the nodes did when it
 * ran; `tquel explain` for whole scripts.
 *
 * Of a query with a name it is shown which nodes it would share with the queries that stand, while what they read
 * is fed. For that their plans are made once more, in the order in which the live network builds them.
 *
 * Explain runs nothing. Explain analyze runs the query as a retrieve without a name would run, shows
 * nothing of the result but how many tuples it has, and keeps nothing.
 *
 * `tquel explain` (explain_only) runs no statement of its script. Each is looked at as ever, so that what must fail
 * is refused, and ends where it would read or write tuples; what it makes and destroys comes and goes in the
 * catalogue in memory alone. All queries go into one plan.                                          */
#include <string.h>

#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"

struct figures {
  struct tql_session *session;
  const struct ng_query *query;
  struct tql_rows *rows;
  struct base_buffer *text;
};

static enum base_status find_figures(void *context) {
  const struct figures *figures = context;
  tql_rows_clear(figures->rows);
  base_buffer_clear(figures->text);
  return session_run_figures(figures->session, figures->query, figures->rows, figures->text);
}

static enum base_status analyze(struct tql_session *session, const struct ng_query *query) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  struct tql_rows rows;
  tql_rows_init(&rows, NULL, query->layout);
  struct figures figures = {session, query, &rows, &text};
  /* What is stored is computed from what there is, as it would be if nothing were lost. */
  bool looks = query->name == NULL;
  enum base_status status =
      looks ? session_look(session, query, NULL, find_figures, &figures) : find_figures(&figures);
  if (status == BASE_OK) {
    status = tql_rows_finish(&rows, session->strings);
  }
  if (status == BASE_OK) {
    size_t tuples = rows.rows.count;
    base_buffer_printf(&text, "%zu tuple%s in the result\n", tuples, tuples == 1 ? "" : "s");
    if (query->name != NULL)
      base_buffer_printf(&text, "%s is not defined: explain analyze keeps nothing\n", query->name);
    session_say(session, "%s", base_buffer_text(&text));
  }
  tql_rows_done(&rows);
  base_buffer_done(&text);
  return status;
}

/* --- what stands */

/* Is RELATION fed, or anything that it depends on open: not closed for ever? */
static bool is_open(struct tql_session *session, const struct session_relation *relation) {
  if (session_is_fed(session, relation)) return true;
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *base = session->relations[i];
    if (!session_is_derived(base) && (base->live || base->checkpoint != NET_FOREVER) &&
        (base == relation || session_depends(session, relation, base)))
      return true;
  }
  return false;
}

/* Does a query read VIEW? A view by itself does not stand. */
static bool is_read(struct tql_session *session, const struct session_relation *view) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (!session->relations[i]->view && session_depends(session, session->relations[i], view))
      return true;
  return false;
}

/* Does it have nodes in the live network when all that is open is fed? Not what the script explained makes. */
static bool stands(struct tql_session *session, struct session_relation *relation) {
  if (!session_is_derived(relation) || relation->scripted || !is_open(session, relation))
    return false;
  return !relation->view ||
         (is_read(session, relation) && !session_view_is_inlined(session, relation));
}

static enum base_status enter(struct tql_session *session, struct session_relation *relation,
                              struct ng_shared *shared) {
  struct ng_plan *plan;
  const struct ng_query *query = session_query(session, relation);
  if (query == NULL) return BASE_USER;
  enum base_status status = session_at_origin(session, relation, &query);
  if (status == BASE_OK)
    status = session_live_plan(session, relation, query, session->statement_arena, &plan);
  if (status == BASE_OK) ng_plan_enter(plan, shared, relation->ng.name);
  return status;
}

/* Finds out which nodes PLAN, which has been transformed, has in common with what stands. */
static enum base_status find_twins(struct tql_session *session, struct ng_plan *plan) {
  if (session->seats[0]->switches.off[NG_RULE_COMMON_SUBNETWORKS]) return BASE_OK;
  struct ng_shared *shared = ng_shared_new();
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++)
    if (stands(session, session->relations[i]))
      status = enter(session, session->relations[i], shared);
  if (status == BASE_OK) ng_plan_find_twins(plan, shared);
  ng_shared_free(shared);
  return status;
}

/* --- explain retrieve */

static enum base_status explain(struct tql_session *session, struct ng_plan *plan, bool kept) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  ng_plan_explain(plan, NG_EXPLAIN_TEXT, "initial network", &text);
  enum base_status status = session_transform(session, plan, kept);
  if (status == BASE_OK && kept) status = find_twins(session, plan);
  base_buffer_putc(&text, '\n');
  ng_plan_explain_rules(plan, &text);
  base_buffer_putc(&text, '\n');
  ng_plan_explain(plan, NG_EXPLAIN_TEXT, "final network", &text);
  if (status == BASE_OK) session_say(session, "%s", base_buffer_text(&text));
  base_buffer_done(&text);
  return status;
}

enum base_status session_explain(struct tql_session *session,
                                 const struct tql_statement *statement) {
  if (session->options.explain_only)
    return session_gather_retrieve(session, statement->inner, false);
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_query *query = NULL;
  enum base_status status = tql_analyse_retrieve(&analysis, statement->inner, &query);
  if (status != BASE_OK) return status;
  if (statement->analyze) {
    status = session_query_once(session, &query);
    return status == BASE_OK ? analyze(session, query) : status;
  }
  if (query->name != NULL) status = session_query_defined_now(session, &query);
  if (status == BASE_OK) status = session_find_whole(session);
  if (status != BASE_OK) return status;
  struct ng_plan *plan = ng_plan_new(session->statement_arena, session->strings, session->timeline);
  bool once = query->name == NULL;
  if (once) status = session_begin_doubts(session, query, NULL);
  if (status == BASE_OK) status = session_add_views(session, query, plan, false);
  if (status == BASE_OK) status = ng_plan_add_query(plan, query, session->diags);
  if (status == BASE_OK) status = explain(session, plan, !once);
  if (once) session_end_doubts(session, false);
  return status;
}

/* --- tquel explain */

/* The derived relation of the database that STATEMENT may define once more, or NULL. */
static struct session_relation *made_before(struct tql_session *session,
                                            const struct tql_statement *statement) {
  if (statement->name.text == NULL) return NULL;
  struct session_relation *there = session_find(session, statement->name.text);
  return there != NULL && there->derived.definition != NULL && !there->scripted ? there : NULL;
}

/* Analyses STATEMENT. The script may be the one that the database was made with: so it may define what is there
 * (*RET_THERE, else NULL) as it is there. */
static enum base_status analyse_gathered(struct tql_session *session,
                                         const struct tql_statement *statement,
                                         const struct ng_query **ret,
                                         struct session_relation **ret_there) {
  struct session_relation *there = made_before(session, statement);
  struct session_scope scope;
  session_scope_init(&scope, session, there != NULL ? there->ng.name : NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  analysis.arena = session->arena; /* the plans keep it */
  enum base_status status = tql_analyse_retrieve(&analysis, statement, ret);
  *ret_there = there;
  if (status != BASE_OK || there == NULL) return status;
  const struct ng_query *now = session_query(session, there);
  if (now == NULL) return BASE_USER;
  struct tql_settings settings = *scope.scope.settings;
  settings.unbounded_allowed = now->unbounded_allowed; /* explain shows nothing of these */
  settings.losses_ignored = now->losses_ignored;
  scope.scope.settings = &settings;
  const char *text = tql_definition_text(session->statement_arena, &scope.scope, statement, *ret);
  if (strcmp(text, there->derived.definition) == 0) return BASE_OK;
  base_report_hint(session->diags, MSG_NAME_EXISTS, session->source, &statement->name.range,
                   "explain takes a definition of what the database has if nothing of it differs",
                   "%s exists already, defined otherwise", there->ng.name);
  return BASE_USER;
}

enum base_status session_gather_retrieve(struct tql_session *session,
                                         const struct tql_statement *statement, bool defines) {
  const struct ng_query *query = NULL;
  struct session_relation *there = NULL;
  enum base_status status = analyse_gathered(session, statement, &query, &there);
  if (status == BASE_OK) status = ng_plan_add_query(session->gathered, query, session->diags);
  if (status == BASE_OK) status = ng_plan_add_query(session->gathered_final, query, session->diags);
  if (status != BASE_OK || query->name == NULL || !defines) return status;
  if (there == NULL) {
    struct st_relation relation = session_derived(session->statement_arena, statement, query);
    there = session_add_relation(session, &relation);
  }
  there->scripted = true;
  return BASE_OK;
}

void session_gather_display(struct tql_session *session, const struct session_relation *relation) {
  /* What the script does not define is shown by none of its queries. */
  if (!session_is_derived(relation) || !relation->scripted) return;
  ng_plan_add_display(session->gathered, relation->ng.name);
  ng_plan_add_display(session->gathered_final, relation->ng.name);
}

enum base_status tql_session_explained(struct tql_session *session, enum ng_explain_format format,
                                       struct base_buffer *out) {
  session_set_depends(session, session->gathered_final);
  enum base_status status =
      ng_plan_transform(session->gathered_final, &session->seat->switches, session->diags);
  if (status != BASE_OK) return status;
  session->statement_arena = base_arena_new();
  status = find_twins(session, session->gathered_final);
  if (format == NG_EXPLAIN_TEXT) {
    ng_plan_explain(session->gathered, format, "initial network", out);
    base_buffer_putc(out, '\n');
    ng_plan_explain_rules(session->gathered_final, out);
    base_buffer_putc(out, '\n');
  }
  ng_plan_explain(session->gathered_final, format, "final network", out);
  base_arena_free(session->statement_arena);
  session->statement_arena = NULL;
  return status;
}
