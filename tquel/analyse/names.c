/* Names: relations, tuple variables and domains, found without regard to case, and what to say
 * about those that do not exist: the nearest name, or the range statement that is missing.
 *
 * Also the names that nobody may give (LIVE 25): those that would clash with the columns of the
 * table form or with the system's own relations. Case is that of ASCII alone, whatever the locale;
 * other bytes must agree exactly. */
#include <stdlib.h>
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

#define TEXT_IN_MESSAGE_MAX 48 /* longer expressions are not quoted in messages */

static unsigned char fold(char byte) {
  unsigned char code = (unsigned char)byte;
  return code >= 'A' && code <= 'Z' ? (unsigned char)(code - 'A' + 'a') : code;
}

bool tql_same_name(const char *a, const char *b) {
  while (*a && fold(*a) == fold(*b)) a++, b++;
  return !*a && !*b;
}

static bool has_prefix(const char *name, const char *prefix) {
  while (*prefix && fold(*name) == fold(*prefix)) name++, prefix++;
  return !*prefix;
}

static bool has_suffix(const char *name, const char *suffix) {
  size_t length = strlen(name), tail = strlen(suffix);
  return length >= tail && tql_same_name(name + length - tail, suffix);
}

const struct tql_variable *tql_scope_variable(const struct tql_scope *scope, const char *name) {
  for (size_t i = 0; i < scope->variable_count; i++)
    if (tql_same_name(scope->variables[i].name, name)) return &scope->variables[i];
  return NULL;
}

/* ---- messages ---- */

void tql_set_hint(struct base_diag *diag, const char *format, ...) {
  struct base_arena *arena = base_arena_new();
  va_list args;
  va_start(args, format);
  const char *hint = base_arena_vprintf(arena, format, args);
  va_end(args);
  free(diag->hint);
  diag->hint = base_xstrdup(hint);
  base_arena_free(arena);
}

void tql_suggest(struct base_diag *diag, const struct base_near *near) {
  if (near->nearest) tql_set_hint(diag, "did you mean %s?", near->nearest);
}

const char *tql_expr_text(const struct tql_analysis *analysis, const struct tql_expr *expr) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  tql_print_expr(&text, expr);
  const char *result = text.length <= TEXT_IN_MESSAGE_MAX
                           ? base_arena_strdup(analysis->arena, base_buffer_text(&text))
                           : "this expression";
  base_buffer_done(&text);
  return result;
}

/* ---- relations ---- */

const struct ng_relation *tql_analyse_relation(const struct tql_analysis *analysis,
                                               const struct tql_name *name) {
  const struct tql_scope *scope = analysis->scope;
  const struct ng_relation *relation = scope->find_relation(scope->context, name->text);
  if (relation) return relation;
  const char *why = scope->why_unusable ? scope->why_unusable(scope->context, name->text) : NULL;
  if (why) {
    base_report_hint(analysis->diags, MSG_RELATION_UNUSABLE, analysis->source, &name->range,
                     "destroy it, or mend the database: tquel check-database says what is wrong",
                     "%s is unusable: %s", name->text, why);
    return NULL;
  }
  base_diag_hold(analysis->diags);
  struct base_diag *diag = base_report(analysis->diags, MSG_UNKNOWN_RELATION, analysis->source,
                                       &name->range, "there is no relation %s", name->text);
  struct base_near near = base_near_to(name->text);
  if (scope->each_relation) scope->each_relation(scope->context, base_near_offer, &near);
  tql_suggest(diag, &near);
  base_diag_release(analysis->diags);
  return NULL;
}

/* ---- tuple variables ---- */

static void report_unknown_variable(const struct tql_binder *binder, const struct tql_name *name) {
  const struct tql_scope *scope = binder->scope;
  struct base_diag *diag =
      base_report(binder->analysis->diags, MSG_UNKNOWN_VARIABLE, binder->analysis->source,
                  &name->range, "there is no tuple variable %s", name->text);
  const struct ng_relation *relation = scope->find_relation(scope->context, name->text);
  if (relation) {
    tql_set_hint(diag, "%s is a relation; first write: range of %c is %s", relation->name,
                 relation->name[0], relation->name);
    return;
  }
  if (tql_same_name(name->text, "within")) {
    tql_set_hint(diag,
                 "after within stands a duration or an integer, with no sign: a ; within 5 ms b");
    return;
  }
  struct base_near near = base_near_to(name->text);
  for (size_t i = 0; i < scope->variable_count; i++)
    base_near_offer(&near, scope->variables[i].name);
  tql_suggest(diag, &near);
  if (!diag->hint) tql_set_hint(diag, "first write: range of %s is RELATION", name->text);
}

static int add_variable(struct tql_binder *binder, const struct tql_variable *variable) {
  for (size_t i = 0; i < binder->variable_count; i++)
    if (binder->variables[i].name == variable->name) return (int)i;
  base_grow(&binder->variables, &binder->variable_capacity, binder->variable_count + 1,
            sizeof *binder->variables);
  binder->variables[binder->variable_count] =
      (struct ng_variable){.name = variable->name,
                           .relation = variable->relation,
                           .credibility = variable->credibility == 0};
  return (int)binder->variable_count++;
}

/* Inside an aggregate the first variable met is the aggregate's own. */
static bool aggregate_admits(struct tql_binder *binder, int index, const struct tql_name *name) {
  if (binder->aggregate_variable < 0) binder->aggregate_variable = index;
  if (binder->aggregate_variable == index) return true;
  const char *own = binder->variables[binder->aggregate_variable].name;
  struct base_diag *diag = base_report(
      binder->analysis->diags, MSG_AGGREGATE_VARIABLE, binder->analysis->source, &name->range,
      "the aggregate is over %s; %s cannot take part in it", own, name->text);
  tql_set_hint(diag,
               "conditions between tuples of two relations go into a derived relation first; "
               "for what has no %s, write: unless %s where ...",
               own, own);
  return false;
}

/* An unless clause is of its own variable and of those that take part outside. */
static bool absence_admits(struct tql_binder *binder, int index, const struct tql_name *name) {
  if (index == binder->absent || binder->variables[index].outside) return true;
  base_report_hint(binder->analysis->diags, MSG_ABSENCE, binder->analysis->source, &name->range,
                   "one variable is absent in each unless clause: retrieve what both have in "
                   "common into a relation "
                   "first, and range over that",
                   "%s takes no part in the statement outside of unless", name->text);
  return false;
}

int tql_bind_variable(struct tql_binder *binder, const struct tql_name *name) {
  const struct tql_variable *variable = tql_scope_variable(binder->scope, name->text);
  if (!variable) {
    report_unknown_variable(binder, name);
    return -1;
  }
  int index = add_variable(binder, variable);
  if (binder->absent >= 0) return absence_admits(binder, index, name) ? index : -1;
  if (!binder->in_aggregate)
    binder->variables[index].outside = true;
  else if (!aggregate_admits(binder, index, name))
    return -1;
  return index;
}

/* ---- domains ---- */

int tql_find_domain(const struct tql_analysis *analysis, const struct ng_relation *relation,
                    const struct net_layout *layout, const struct tql_name *member) {
  struct base_near near = base_near_to(member->text);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (tql_same_name(layout->fields[i].name, member->text)) return (int)i;
    base_near_offer(&near, layout->fields[i].name);
  }
  struct base_diag *diag =
      base_report(analysis->diags, MSG_UNKNOWN_DOMAIN, analysis->source, &member->range,
                  "relation %s has no domain %s", relation->name, member->text);
  tql_suggest(diag, &near);
  return -1;
}

/* ---- names that may be given ---- */

/* Reports TQ-0105 (and answers false) for names that the table form or the system takes. */
static bool check_relation_name(const struct tql_analysis *analysis, const struct tql_name *name) {
  static const char *const system[] = {"Late", "Lost", "Rejected", "Clock", "SensorCost"};
  bool taken = has_prefix(name->text, "tq_") || has_prefix(name->text, "sqlite_") ||
               has_suffix(name->text, "_readable");
  for (size_t i = 0; i < sizeof system / sizeof *system; i++)
    taken = taken || tql_same_name(name->text, system[i]);
  if (!taken) return true;
  base_report_hint(analysis->diags, MSG_BAD_NAME, analysis->source, &name->range,
                   "names that begin with tq_ or sqlite_ or end in _readable, and Late, Lost, "
                   "Rejected, SensorCost and Clock belong to the system",
                   "%s cannot be used as the name of a relation", name->text);
  return false;
}

bool tql_check_domain_name(const struct tql_analysis *analysis, const char *name,
                           struct base_range range) {
  static const char *const words[] = {"at", "start", "stop", "time", "all", "definite"};
  static const char *const suffixes[] = {"_lo", "_hi", "_n0", "_n1", "_d0", "_d1"};
  bool taken = *name == '\0';
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    taken = taken || tql_same_name(name, words[i]);
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    taken = taken || has_suffix(name, suffixes[i]);
  if (!taken) return true;
  base_report_hint(analysis->diags, MSG_BAD_NAME, analysis->source, &range,
                   "at, start, stop, time, all, definite and names in _lo _hi _n0 _n1 _d0 _d1 are "
                   "columns of the table form or words of the language",
                   "%s cannot be used as the name of a domain", name);
  return false;
}

bool tql_check_new_relation(const struct tql_analysis *analysis, const struct tql_name *name) {
  if (!check_relation_name(analysis, name)) return false;
  const struct tql_scope *scope = analysis->scope;
  const struct ng_relation *relation = scope->find_relation(scope->context, name->text);
  if (!relation) return true;
  struct base_diag *diag = base_report(analysis->diags, MSG_NAME_EXISTS, analysis->source,
                                       &name->range, "%s exists already", relation->name);
  tql_set_hint(diag, "choose another name, or destroy %s first", relation->name);
  return false;
}
