/* Random unless clauses for statements that are made already. Drawn apart, so that what else the seed gives stays.
 *
 * The absent variable is named nowhere else; the conditions speak of it and of variables that the statement names.
 * They cannot fail. */
#include <string.h>

#include "tests/oracle/choice.h"

#define SECOND_PERCENT 18 /* of those that have one have two */

/* --- variables */

/* The variables of CHOICE that the statement names, at most two of them, perhaps in aggregates alone. */
static struct choice named_ones(const struct choice *choice, const char *text) {
  struct choice named = {.scenario = choice->scenario};
  for (size_t i = 0; i < choice->used_count && named.used_count < 2; i++)
    if (has_word(text, choice->used[i].name)) named.used[named.used_count++] = choice->used[i];
  return named;
}

/* Do both range over one relation? */
static bool is_over_same(const struct source *a, const struct source *b) {
  return strcmp(a->name + 1, b->name + 1) == 0;
}

/* One that TEXT does not name, often over the relation of another; NULL: not found. */
static const struct source *some_absent(const struct choice *choice, const struct choice *named,
                                        const char *text) {
  struct scenario *scenario = choice->scenario;
  const struct source *found = NULL;
  bool same = named->used_count > 0 && chance(scenario, 30);
  for (int i = 0; i < 20 && choice->source_count > 0; i++) {
    const struct source *source = &choice->sources[below(scenario, choice->source_count)];
    if (has_word(text, source->name)) continue;
    found = source;
    if (!same || is_over_same(source, &named->used[0])) return found;
  }
  return found;
}

/* Where a statement names no variable, the real time line has no origin but what is absent. */
static bool has_time(const struct choice *choice, const char *text) {
  for (size_t i = 0; i < choice->source_count; i++)
    if (has_word(text, choice->sources[i].name)) return true;
  return !choice->scenario->real;
}

/* --- where */

/* A domain of V of that kind (0: any that compares for sure), as V.domain; NULL: there is none. Computed numbers have
 * rounding errors. */
static const char *domain_of(struct scenario *scenario, const struct source *v, char kind,
                             char *ret_kind) {
  size_t first = v->domain_count > 0 ? below(scenario, v->domain_count) : 0;
  for (size_t i = 0; i < v->domain_count; i++) {
    size_t at = (first + i) % v->domain_count;
    *ret_kind = v->kinds[at];
    bool exact = strchr("isby", *ret_kind) || (*ret_kind == 'f' && v->name[1] != 'D');
    if (exact && (kind == 0 || *ret_kind == kind)) return TEXT("%s.%s", v->name, v->domains[at]);
  }
  return NULL;
}

static const char *constant_of(struct scenario *scenario, char kind) {
  switch (kind) {
    case 'i':
      return TEXT("%d", (int)below(scenario, 4));
    case 'f':
      return PICK(scenario, "0.5", "1.0", "1.5");
    case 'b':
      return PICK(scenario, "true", "false");
    case 'y':
      return TEXT("x'%s'", some_bytes(scenario));
    default:
      return string_text(scenario->arena, some_string(scenario));
  }
}

/* V's domain beside one of the others, or beside a constant. NULL: V has none. */
static const char *comparison(struct choice *named, const struct source *v, bool equal) {
  struct scenario *scenario = named->scenario;
  char kind, other_kind;
  const char *domain = domain_of(scenario, v, 0, &kind), *other = NULL;
  if (!domain) return NULL;
  if (named->used_count > 0 && chance(scenario, equal ? 92 : 65))
    other = domain_of(scenario, some_used(named), kind, &other_kind);
  if (other && kind == 'i' && !scenario->extremes && chance(scenario, 8))
    other = TEXT("%s + 1", other);
  if (!other) other = constant_of(scenario, kind);
  const char *operator= equal ? "="
  : kind == 'b'               ? "!="
                              : PICK(scenario, "!=", "<", ">", "<=", ">=");
  return chance(scenario, 50) ? TEXT("%s %s %s", domain, operator, other)
                              : TEXT("%s %s %s", other, operator, domain);
}

static void make_where(struct choice *named, const struct source *v, struct absence *absence) {
  struct scenario *scenario = named->scenario;
  uint64_t which = below(scenario, 100);
  if (which < 20) return;
  for (int i = 0; i < 2 && (i == 0 || chance(scenario, 25)); i++) {
    const char *text = comparison(named, v, i == 0 ? which < 72 : chance(scenario, 40));
    if (!text) return;
    if (i == 0 && which >= 90)
      text = chance(scenario, 60) ? TEXT("(%s or %s)", text, comparison(named, v, true))
                                  : TEXT("not (%s)", text);
    absence->where[absence->where_count++] = text;
  }
}

/* --- when */

static const char *side(struct scenario *scenario, const struct source *v) {
  if (v->event || chance(scenario, 50)) return v->name;
  return TEXT("%s.%s", v->name, PICK(scenario, "start", "stop"));
}

/* What V's tuple and another, or a time, have to do with each other. */
static const char *relation_of(struct choice *named, const struct source *v) {
  struct scenario *scenario = named->scenario;
  const char *x = side(scenario, v);
  const char *y = named->used_count > 0 && chance(scenario, 88)
                      ? side(scenario, some_used(named))
                      : time_text(scenario, some_time(scenario));
  if (chance(scenario, 50)) {
    const char *kept = x;
    x = y;
    y = kept;
  }
  switch (below(scenario, 9)) {
    case 0:
    case 1:
      return TEXT("%s , %s", x, y);
    case 2:
    case 3:
      return TEXT("%s ; %s", x, y);
    case 4:
    case 5:
      return TEXT("%s ; within %s %s", x, duration_text(scenario, (int64_t)below(scenario, 6)), y);
    case 6:
      return TEXT("(%s) overlap (%s)", x, y);
    case 7:
      return TEXT("(%s) precede (%s)", x, y);
    default:
      return TEXT("(%s) %s (%s)", x, PICK(scenario, "contain", "equal"), y);
  }
}

/* Anything at all that speaks of V. */
static const char *any_condition(const struct choice *named, const struct source *v) {
  struct choice all = *named;
  all.used[all.used_count++] = *v;
  for (int i = 0; i < 4; i++) {
    const char *text = when_condition(&all, 1);
    if (has_word(text, v->name)) return text;
  }
  return v->name;
}

static void make_when(struct choice *named, const struct source *v, struct absence *absence) {
  struct scenario *scenario = named->scenario;
  uint64_t which = below(scenario, 100);
  const char *text = which < 20 ? any_condition(named, v) : relation_of(named, v);
  if (which >= 88)
    text = TEXT("(%s) or (%s)", text, relation_of(named, v));
  else if (which >= 76)
    text = TEXT("not (%s)", text);
  absence->when[absence->when_count++] = text;
  if (chance(scenario, 12)) absence->when[absence->when_count++] = relation_of(named, v);
}

/* --- the clauses */

static void add_absence(const struct choice *choice, struct statement *statement) {
  struct scenario *scenario = choice->scenario;
  const char *text = statement_text(scenario->arena, statement);
  if (!has_time(choice, text)) return;
  struct choice named = named_ones(choice, text);
  const struct source *v = some_absent(choice, &named, text);
  if (!v) return;
  struct absence *absence = &statement->absences[statement->absence_count++];
  *absence = (struct absence){.variable = v->name};
  make_where(&named, v, absence);
  if (chance(scenario, 45)) make_when(&named, v, absence);
}

void make_absences(const struct choice *choice, struct statement *statement, unsigned percent) {
  struct scenario *scenario = choice->scenario;
  struct base_random kept = scenario->random;
  scenario->random = (struct base_random){scenario->seed * 999961 + scenario->statement_count};
  if (chance(scenario, percent)) add_absence(choice, statement);
  if (statement->absence_count > 0 && chance(scenario, SECOND_PERCENT))
    add_absence(choice, statement);
  scenario->random = kept;
}
