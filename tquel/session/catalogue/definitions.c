/* What relations are derived from, bound: the text of a definition makes a query, when that is asked for first.
 *
 * What the catalogue keeps, definitions and rules of integrity, are little scripts: range and set statements, then the one
 * that matters. They are run in a scope of their own, so that the session's variables and settings do not show in them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tquel/session/session_impl.h"

static void refuse_definition(struct tql_session *session,
                              const struct session_relation *relation) {
  base_report_hint(session->diags, MSG_DATABASE_DAMAGED, NULL, NULL,
                   "something other than tquel has changed the catalogue",
                   "the database is damaged: the definition of %s does not give its tuples",
                   relation->ng.name);
}

/* Is QUERY what RELATION was made from? Somebody may have changed the stored text. */
static bool gives(const struct session_relation *relation, const struct ng_query *query) {
  const struct net_layout *a = relation->ng.layout, *b = query->layout;
  if (a->tuple_class != b->tuple_class || a->field_count != b->field_count) return false;
  for (uint32_t i = 0; i < a->field_count; i++)
    if (a->fields[i].type.base != b->fields[i].type.base ||
        strcasecmp(a->fields[i].name, b->fields[i].name) != 0)
      return false;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *input = query->variables[i].relation;
    bool named = input->kind == NG_REL_CLOCK;
    for (size_t j = 0; j < relation->derived.input_count; j++)
      named |= strcasecmp(relation->derived.inputs[j], input->name) == 0;
    if (!named) return false;
  }
  return true;
}

/* The variables and settings of a script that the catalogue keeps, in the place of the session's. */
struct own {
  struct tql_variable *variables;
  size_t variable_count, variable_capacity;
  struct tql_settings settings;
};

static void enter_own(struct tql_session *session, struct own *ret) {
  struct tql_seat *seat = session->seat;
  *ret =
      (struct own){seat->variables, seat->variable_count, seat->variable_capacity, seat->settings};
  seat->variables = NULL;
  seat->variable_count = seat->variable_capacity = 0;
  seat->settings = (struct tql_settings){
      .origin_given = session->timeline == NET_TIMELINE_ABSTRACT,
      .unit = session->timeline == NET_TIMELINE_REAL ? 1000000 : 1,
  };
}

static void leave_own(struct tql_session *session, struct own *own) {
  struct tql_seat *seat = session->seat;
  free(seat->variables);
  seat->variables = own->variables;
  seat->variable_count = own->variable_count;
  seat->variable_capacity = own->variable_capacity;
  seat->settings = own->settings;
}

/* The last statement makes a query, those before it the scope in which it does. */
static const struct ng_query *bind_statement(struct tql_session *session,
                                             const struct tql_analysis *analysis,
                                             const struct tql_statement *statement, bool is_rule,
                                             bool *ok) {
  const struct ng_relation *over;
  const struct ng_query *query = NULL;
  switch (statement->kind) {
    case TQL_S_RANGE:
      over = session_range_over(session, analysis, statement);
      *ok = over != NULL;
      if (*ok)
        session_set_variable(session, statement->variable.text, over, statement->credibility);
      break;
    case TQL_S_SET:
      *ok = session_set(session, statement) == BASE_OK;
      break;
    case TQL_S_RETRIEVE:
    case TQL_S_VIEW:
      *ok = !is_rule && tql_analyse_retrieve(analysis, statement, &query) == BASE_OK;
      break;
    case TQL_S_INTEGRITY:
      *ok = is_rule && tql_analyse_integrity(analysis, statement, &query) == BASE_OK;
      break;
    default:
      *ok = false;
  }
  return query;
}

const struct ng_query *session_bind_script(struct tql_session *session, const char *name,
                                           const char *text, const char *derived, bool *ret_ok) {
  struct base_arena *arena = session->arena;
  struct base_source *source = BASE_NEW(arena, struct base_source);
  *source = (struct base_source){.name = name, .text = text, .length = strlen(text)};
  struct own own;
  enter_own(session, &own);
  size_t count = 0;
  const struct ng_query *query = NULL;
  struct tql_statement **statements = tql_parse(arena, source, 1, session->diags, &count, ret_ok);
  for (size_t i = 0; *ret_ok && i < count; i++) {
    struct session_scope scope;
    session_scope_init(&scope, session, derived);
    struct tql_analysis analysis = session_analysis(session, &scope);
    analysis.arena = arena;
    analysis.source = source;
    analysis.kept = true;
    query = bind_statement(session, &analysis, statements[i], derived == NULL, ret_ok);
  }
  session->strings_unpinned = true; /* its constants */
  leave_own(session, &own);
  return *ret_ok ? query : NULL;
}

const struct ng_query *session_query(struct tql_session *session,
                                     struct session_relation *relation) {
  if (relation->derived.query != NULL) return relation->derived.query;
  bool ok = false;
  const char *name = base_arena_printf(session->arena, "<definition of %s>", relation->ng.name);
  const struct ng_query *query =
      session_bind_script(session, name, relation->derived.definition, relation->ng.name, &ok);
  if (query != NULL && gives(relation, query))
    relation->derived.query = query;
  else if (ok)
    refuse_definition(session, relation);
  return relation->derived.query;
}
