/* The scope that analysis sees: the relations that there are, the variables and settings of who asks. */
#include <strings.h>

#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/session_impl.h"

static const struct ng_relation *find_relation(void *context, const char *name) {
  struct session_scope *scope = context;
  if (scope->hidden != NULL && strcasecmp(scope->hidden, name) == 0) return NULL;
  if (strcasecmp(name, "Clock") == 0) return NULL;
  struct session_relation *relation = session_find(scope->session, name);
  if (relation == NULL && !scope->session->binds_only)
    relation = session_make_mentioned(scope->session, name);
  if (relation == NULL) return NULL;
  relation->ng.of_switches = session_says_switches(scope->session, relation);
  return &relation->ng;
}

static struct session_relation *make_pace(struct tql_session *session) {
  struct session_relation *pace = session_find(session, "Clock");
  if (pace != NULL) return pace;
  bool writes = !session->options.readonly && !session->binds_only;
  if (writes || session_find_unusable(session, "Clock") != NULL) {
    pace = session_make_mentioned(session, "Clock");
    return pace != NULL ? pace : session_system_relation(session, "Clock");
  }
  struct st_relation only_here = {.name = "Clock", .kind = ST_EVENT, .checkpoint = NET_FOREVER};
  return session_add_relation(session, &only_here);
}

static const struct ng_relation *time_passed(void *context) {
  struct session_scope *scope = context;
  struct session_relation *pace = make_pace(scope->session);
  return pace ? &pace->ng : NULL;
}

static const char *why_unusable(void *context, const char *name) {
  const struct session_scope *scope = context;
  const struct session_unusable *unusable = session_find_unusable(scope->session, name);
  return unusable ? unusable->why : NULL;
}

static void each_relation(void *context, void (*on_name)(void *, const char *), void *on_context) {
  struct session_scope *scope = context;
  for (size_t i = 0; i < scope->session->relation_count; i++)
    if (!session_is_pace(scope->session->relations[i]))
      on_name(on_context, scope->session->relations[i]->ng.name);
}

void session_scope_init(struct session_scope *scope, struct tql_session *session,
                        const char *hidden) {
  *scope = (struct session_scope){.session = session, .hidden = hidden};
  scope->scope = (struct tql_scope){
      .context = scope,
      .find_relation = find_relation,
      .why_unusable = why_unusable,
      .each_relation = each_relation,
      .costs = session_costs,
      .time_passed = time_passed,
      .variables = session->seat->variables,
      .variable_count = session->seat->variable_count,
      .settings = &session->seat->settings,
      .time = session->seat->time,
      .strings = session->strings,
  };
}

const struct ng_relation *session_range_over(struct tql_session *session,
                                             const struct tql_analysis *analysis,
                                             const struct tql_statement *statement) {
  if (statement->expr == NULL) return tql_analyse_relation(analysis, &statement->name);
  struct tql_analysis lasting = *analysis;
  lasting.arena = session->arena; /* a clock lives as long as its variable */
  return tql_analyse_clock(&lasting, statement->expr);
}

void session_set_variable(struct tql_session *session, const char *name,
                          const struct ng_relation *relation, int credibility) {
  struct tql_variable *variable = NULL;
  struct tql_seat *seat = session->seat;
  for (size_t i = 0; i < seat->variable_count; i++)
    if (strcasecmp(seat->variables[i].name, name) == 0) variable = &seat->variables[i];
  if (variable == NULL) {
    base_grow(&seat->variables, &seat->variable_capacity, seat->variable_count + 1,
              sizeof *seat->variables);
    variable = &seat->variables[seat->variable_count++];
  }
  *variable = (struct tql_variable){base_arena_strdup(session->arena, name), relation, credibility};
}

struct tql_analysis session_analysis(struct tql_session *session,
                                     const struct session_scope *scope) {
  return (struct tql_analysis){
      .arena = session->statement_arena ? session->statement_arena : session->arena,
      .scope = &scope->scope,
      .source = session->source,
      .diags = session->diags};
}
