/* define integrity and permit, and their end. */
#include <string.h>
#include <strings.h>

#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/users/users.h"

/* The tuples that are there must satisfy the new rule, those that wait for the checkpoint too. */
static enum base_status check_existing(struct tql_session *session,
                                       struct session_relation *relation,
                                       const struct ng_query *query) {
  struct tql_rows rows;
  struct net_rows pending;
  net_rows_init(&pending, session_write_layout(relation));
  enum base_status status = session_rows_of(session, relation, &rows);
  if (status == BASE_OK)
    status = st_pending_load(session->database, relation->ng.name, pending.layout, &pending);
  const struct net_rows *const both[] = {&rows.rows, &pending};
  for (size_t k = 0; k < 2 && status == BASE_OK; k++) {
    const struct net_program *program =
        ng_condition_program(session->statement_arena, session->strings, query, both[k]->layout);
    for (size_t i = 0; i < both[k]->count && status == BASE_OK; i++) {
      if ((both[k]->marks[i] & (NET_CLOSES | NET_ROUND)) ||
          session_rule_holds(program, net_rows_row(both[k], i)))
        continue;
      session_report_row(session, MSG_INTEGRITY_BROKEN, "the rule is broken already",
                         both[k]->layout, net_rows_row(both[k], i));
      status = BASE_USER;
    }
  }
  net_rows_done(&pending);
  tql_rows_done(&rows);
  return status;
}

/* The rules or permits of RELATION have changed: so may what is left out of its records. */
static enum base_status rules_changed(struct tql_session *session,
                                      struct session_relation *relation) {
  if (relation->sensors.sensor == NULL || session->live == NULL) return BASE_OK;
  session_drop_live(session);
  return session_ensure_live(session);
}

enum base_status session_define_integrity(struct tql_session *session,
                                          const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_query *query = NULL;
  enum base_status status = tql_analyse_integrity(&analysis, statement, &query);
  if (status != BASE_OK) return status;
  struct session_relation *relation = session_of(session, query->variables[0].relation);
  if (session_refuse_derived(session, relation, &statement->variable)) return BASE_USER;
  if (session->options.explain_only) return BASE_OK;
  status = session_begin(session);
  if (status != BASE_OK) return status;
  status = check_existing(session, relation, query);
  int64_t number;
  if (status == BASE_OK)
    status = st_rule_add(
        session->database, ST_INTEGRITY, relation->ng.name,
        tql_definition_text(session->statement_arena, &scope.scope, statement, query), &number);
  relation->integrity.rules_loaded = false;
  if (status == BASE_OK) status = rules_changed(session, relation);
  return session_end(session, status);
}

enum base_status session_define_permit(struct tql_session *session,
                                       const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = NULL;
  const struct ng_query *variables = NULL;
  enum base_status status = tql_analyse_permit(&analysis, statement, &ng, &variables);
  if (status != BASE_OK) return status;
  struct session_relation *relation = session_of(session, ng);
  if (relation == NULL) {
    (void)session_refuse_derived(session, NULL, &statement->name);
    return BASE_USER;
  }
  if (!st_is_owner(session->database)) {
    base_report_hint(session->diags, MSG_NOT_OWNER, session->source, &statement->range,
                     "ask the owner of the database file", "only the owner of %s gives permits",
                     relation->ng.name);
    return BASE_USER;
  }
  if (session->options.explain_only) return BASE_OK;
  struct tql_statement named = *statement;
  named.name.text = relation->ng.name;
  int64_t number;
  status = session_begin(session);
  if (status != BASE_OK) return status;
  status = st_rule_add(
      session->database, ST_PERMIT, relation->ng.name,
      tql_definition_text(session->statement_arena, &scope.scope, &named, variables), &number);
  if (status == BASE_OK) status = rules_changed(session, relation);
  status = session_end(session, status);
  const char *fault = session_permit_fault(statement);
  if (status == BASE_OK && fault != NULL)
    base_report(session->diags, MSG_PERMIT_WITHOUT_EFFECT, session->source, &statement->range,
                "the permit is recorded, but gives nobody anything: %s", fault);
  else if (status == BASE_OK && session->control == NULL)
    base_report(session->diags, MSG_PERMIT_RECORDED, session->source, &statement->range,
                "the permit is recorded; nobody is kept out until a server asks for permits");
  return status;
}

/* The numbers that the statement names; `all`: all that there are. */
static enum base_status remove_rules(struct tql_session *session,
                                     const struct tql_statement *statement, enum st_rule_kind kind,
                                     const struct session_relation *relation) {
  struct st_rule *all = NULL;
  size_t count = 0;
  enum base_status status = st_rules(session->database, session->statement_arena, &all, &count);
  bool found;
  for (size_t i = 0; i < count && status == BASE_OK && statement->number_count == 0; i++)
    if (all[i].kind == kind && strcasecmp(all[i].relation, relation->ng.name) == 0)
      status = st_rule_remove(session->database, kind, relation->ng.name, all[i].number, &found);
  for (size_t i = 0; i < statement->number_count && status == BASE_OK; i++) {
    const struct tql_expr *number = statement->numbers[i];
    status = st_rule_remove(session->database, kind, relation->ng.name, number->integer, &found);
    if (status != BASE_OK || found) continue;
    base_report_hint(session->diags, MSG_UNKNOWN_RULE_NUMBER, session->source, &number->range,
                     "help and the name of the relation shows them", "%s has no %s %lld",
                     relation->ng.name, kind == ST_PERMIT ? "permit" : "integrity rule",
                     (long long)number->integer);
    status = BASE_USER;
  }
  return status;
}

enum base_status session_destroy_rules(struct tql_session *session,
                                       const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->name);
  if (ng == NULL) return BASE_USER;
  if (session->options.explain_only) return BASE_OK;
  struct session_relation *relation = session_of(session, ng);
  enum st_rule_kind kind = strcmp(statement->words, "permit") == 0 ? ST_PERMIT : ST_INTEGRITY;
  enum base_status status = session_begin(session);
  if (status != BASE_OK) return status;
  status = remove_rules(session, statement, kind, relation);
  relation->integrity.rules_loaded = false;
  if (status == BASE_OK) status = rules_changed(session, relation);
  return session_end(session, status);
}
