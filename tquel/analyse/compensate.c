/* `set compensate` (thesis 7.1.2): what it takes, and what it makes of a retrieve (netgen/README.md has the
 * definition of compensation).
 *
 *      set compensate on                             by what is measured (tql_scope's costs)
 *      set compensate "Iteration 120, Request 85"    by these: chronons for a record of each
 *
 * A retrieve that ranges over a traced relation among them gets a variable of costs for each of them. Names
 * that are no words stand in backticks in the text. The text is what definitions keep, so that they mean
 * what they meant when they were given.                                                              */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tquel/analyse/analyse_internal.h"

void tql_costs_add(struct base_arena *arena, struct tql_costs *costs, const char *relation,
                   int64_t cost) {
  if (costs->count == costs->capacity) {
    size_t capacity = 2 * costs->capacity + 4;
    struct tql_cost *items = BASE_NEW_ARRAY(arena, capacity, struct tql_cost);
    if (costs->count) memcpy(items, costs->items, costs->count * sizeof *items);
    costs->items = items;
    costs->capacity = capacity;
  }
  costs->items[costs->count++] = (struct tql_cost){base_arena_strdup(arena, relation), cost};
}

static const struct tql_cost *find_cost(const struct tql_costs *costs, const char *relation) {
  for (size_t i = 0; costs && i < costs->count; i++)
    if (tql_same_name(costs->items[i].relation, relation)) return &costs->items[i];
  return NULL;
}

/* --- the setting */

static enum base_status refuse(const struct tql_analysis *analysis,
                               const struct tql_statement *statement, const char *why) {
  base_report_hint(analysis->diags, MSG_SETTING_VALUE, analysis->source,
                   statement->value ? &statement->value->range : &statement->words_range,
                   "write: set compensate on, off, or \"Iteration 120, Request 85\"",
                   "set compensate takes on, off, or what a record of each relation costs: %s",
                   why);
  return BASE_USER;
}

/* "NAME COST" at *AT; *RET_NAME is in ARENA. Returns what is wrong, or NULL. */
static const char *read_cost(struct base_arena *arena, const char **at, const char **ret_name,
                             int64_t *ret_cost) {
  const char *name = *at + strspn(*at, " \t\n"), *end;
  if (*name == '`') {
    end = strchr(++name, '`');
    if (end == NULL) return "a backtick is missing";
    *at = end + 1;
  } else {
    *at = end = name + strcspn(name, " \t\n,");
  }
  if (end == name) return "the name of a relation is missing";
  *ret_name = base_arena_strndup(arena, name, (size_t)(end - name));
  *at += strspn(*at, " \t\n");
  char *rest;
  if (**at < '0' || **at > '9') return "a relation has no cost behind it";
  errno = 0;
  long long cost = strtoll(*at, &rest, 10);
  if (errno != 0 || cost > NET_COST_MOST) return "a cost is too large";
  *ret_cost = cost;
  *at = rest + strspn(rest, " \t\n");
  if (**at != ',' && **at != '\0') return "there is no comma behind a cost";
  return NULL;
}

void tql_print_cost(struct base_buffer *out, const char *relation, int64_t cost) {
  bool plain = strcspn(relation, " \t\n,") == strlen(relation);
  base_buffer_printf(out, plain ? "%s %" PRId64 : "`%s` %" PRId64, relation, cost);
}

/* The relation of that name, which must have records of processes. */
static enum base_status check_relation(const struct tql_analysis *analysis,
                                       const struct tql_statement *statement, const char *name) {
  const struct tql_name named = {.text = name, .range = statement->value->range};
  const struct ng_relation *relation = tql_analyse_relation(analysis, &named);
  if (relation == NULL) return BASE_USER;
  if (ng_process_domain(relation) >= 0) return BASE_OK;
  base_report_hint(analysis->diags, MSG_NO_PROCESS, analysis->source, &statement->value->range,
                   "name event and traced relations with a domain Process, a string or a name",
                   "the tuples of %s are no records of which a domain Process says whose they are",
                   relation->name);
  return BASE_USER;
}

static enum base_status read_costs(const struct tql_analysis *analysis,
                                   const struct tql_statement *statement, struct base_arena *arena,
                                   struct tql_costs *costs) {
  const char *at = statement->value->name.text, *end = at + statement->value->length, *name;
  int64_t cost;
  for (;; at++) {
    const char *why = read_cost(arena, &at, &name, &cost);
    if (why != NULL) return refuse(analysis, statement, why);
    if (check_relation(analysis, statement, name) != BASE_OK) return BASE_USER;
    if (find_cost(costs, name)) return refuse(analysis, statement, "a relation is named twice");
    tql_costs_add(arena, costs, name, cost);
    if (*at == '\0') break;
  }
  return at == end ? BASE_OK : refuse(analysis, statement, "there is something behind its end");
}

enum base_status tql_analyse_compensate(const struct tql_analysis *analysis,
                                        const struct tql_statement *statement,
                                        struct base_arena *arena, struct tql_settings *settings) {
  const struct tql_expr *value = statement->value;
  if (value == NULL) return refuse(analysis, statement, "there is nothing");
  if (value->kind == TQL_E_STRING) {
    struct tql_costs *costs = BASE_NEW(arena, struct tql_costs);
    enum base_status status = read_costs(analysis, statement, arena, costs);
    if (status != BASE_OK) return status;
    settings->costs = costs;
    settings->compensate = TQL_COMPENSATE_GIVEN;
    return BASE_OK;
  }
  const char *word = value->kind == TQL_E_NAME ? value->name.text : "";
  bool on = strcasecmp(word, "on") == 0;
  if (!on && strcasecmp(word, "off") != 0) return refuse(analysis, statement, "this is neither");
  settings->compensate = on ? TQL_COMPENSATE_MEASURED : TQL_COMPENSATE_OFF;
  settings->costs = NULL;
  return BASE_OK;
}

/* --- retrieves */

/* What is not known is not compensated: better to say so. */
static void note_unknown(struct tql_binder *binder, const struct ng_query *query,
                         const struct tql_costs *costs) {
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *relation = query->variables[i].relation;
    const struct tql_cost *cost = find_cost(costs, relation->name);
    bool said = false;
    for (size_t j = 0; j < i; j++) said |= query->variables[j].relation == relation;
    if (said || relation->kind != NG_REL_TRACED || ng_process_domain(relation) < 0) continue;
    if (cost && cost->cost > 0) continue;
    base_report(binder->analysis->diags, MSG_COST_UNKNOWN, binder->analysis->source, &query->range,
                "what a record of %s costs is not known: its own are taken to cost nothing",
                relation->name);
  }
}

static bool is_variable(const struct ng_query *query, const struct ng_relation *relation) {
  for (size_t i = 0; i < query->variable_count; i++)
    if (query->variables[i].relation == relation) return true;
  return false;
}

static bool is_compensated(const struct ng_query *query, const struct tql_costs *costs) {
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *relation = query->variables[i].relation;
    if (relation->kind == NG_REL_TRACED && ng_process_domain(relation) >= 0 &&
        find_cost(costs, relation->name))
      return true;
  }
  return false;
}

void tql_add_costs(struct tql_binder *binder, struct ng_query *query) {
  const struct tql_scope *scope = binder->scope;
  const struct tql_settings *settings = scope->settings;
  if (settings->compensate == TQL_COMPENSATE_OFF) return;
  struct tql_costs measured = {0};
  const struct tql_costs *costs = settings->costs;
  if (settings->compensate == TQL_COMPENSATE_MEASURED) {
    if (scope->costs) scope->costs(scope->context, binder->arena, &measured);
    costs = &measured;
    note_unknown(binder, query, costs);
  }
  if (!is_compensated(query, costs)) return;
  size_t own = query->variable_count, count = own;
  struct ng_variable *variables =
      BASE_NEW_ARRAY(binder->arena, own + costs->count, struct ng_variable);
  memcpy(variables, query->variables, own * sizeof *variables);
  for (size_t i = 0; i < costs->count; i++) {
    const struct tql_cost *cost = &costs->items[i];
    const struct ng_relation *relation = scope->find_relation(scope->context, cost->relation);
    if (!relation || ng_process_domain(relation) < 0) continue;
    if (cost->cost == 0 && !is_variable(query, relation)) continue;
    variables[count++] = (struct ng_variable){
        .name = relation->name, .relation = relation, .costs = true, .cost = cost->cost};
  }
  query->variables = variables;
  query->variable_count = count;
}
