/* What relations are derived from, bound: the text of a definition makes a query, when that is asked for first. */
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

/* A definition is a little script: range and set statements, then the retrieve. It is run in a scope
 * of its own, so that the session's variables and settings do not show in it.                       */
static const struct ng_query *bind_definition(struct tql_session *session,
                                              struct session_relation *relation,
                                              const struct base_source *source) {
  size_t count = 0;
  bool ok = false;
  const struct ng_query *query = NULL;
  struct tql_statement **statements =
      tql_parse(session->arena, source, 1, session->diags, &count, &ok);
  for (size_t i = 0; ok && i < count; i++) {
    const struct tql_statement *statement = statements[i];
    struct session_scope scope;
    session_scope_init(&scope, session, relation->ng.name);
    struct tql_analysis analysis = session_analysis(session, &scope);
    analysis.arena = session->arena;
    analysis.source = source;
    if (statement->kind == TQL_S_RANGE) {
      const struct ng_relation *over = session_range_over(session, &analysis, statement);
      if (over == NULL) return NULL;
      session_set_variable(session, statement->variable.text, over, statement->credibility);
    } else if (statement->kind == TQL_S_SET) {
      if (session_set(session, statement) != BASE_OK) return NULL;
    } else if ((statement->kind != TQL_S_RETRIEVE && statement->kind != TQL_S_VIEW) ||
               tql_analyse_retrieve(&analysis, statement, &query) != BASE_OK) {
      return NULL;
    }
  }
  if (ok && query == NULL) refuse_definition(session, relation);
  return query;
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
    for (size_t j = 0; j < relation->input_count; j++)
      named |= strcasecmp(relation->inputs[j], input->name) == 0;
    if (!named) return false;
  }
  return true;
}

void session_enter_own(struct tql_session *session, struct session_own *ret) {
  struct tql_seat *seat = session->seat;
  *ret = (struct session_own){seat->variables, seat->variable_count, seat->variable_capacity,
                              seat->settings};
  seat->variables = NULL;
  seat->variable_count = seat->variable_capacity = 0;
  seat->settings = (struct tql_settings){
      .origin_given = session->timeline == NET_TIMELINE_ABSTRACT,
      .unit = session->timeline == NET_TIMELINE_REAL ? 1000000 : 1,
  };
}

void session_leave_own(struct tql_session *session, struct session_own *own) {
  struct tql_seat *seat = session->seat;
  free(seat->variables);
  seat->variables = own->variables;
  seat->variable_count = own->variable_count;
  seat->variable_capacity = own->variable_capacity;
  seat->settings = own->settings;
}

const struct ng_query *session_query(struct tql_session *session,
                                     struct session_relation *relation) {
  if (relation->query != NULL) return relation->query;
  struct session_own own;
  session_enter_own(session, &own);
  struct base_source *source = BASE_NEW(session->arena, struct base_source);
  *source = (struct base_source){
      .name = base_arena_printf(session->arena, "<definition of %s>", relation->ng.name),
      .text = relation->definition,
      .length = strlen(relation->definition)};
  relation->query = bind_definition(session, relation, source);
  session->strings_unpinned = true; /* its constants */
  session_leave_own(session, &own);
  if (relation->query != NULL && !gives(relation, relation->query)) {
    relation->query = NULL;
    refuse_definition(session, relation);
  }
  return relation->query;
}
