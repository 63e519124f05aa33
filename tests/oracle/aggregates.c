/* Random aggregates: all functions, by, where, when, tails. */
#include <string.h>

#include "tests/oracle/choice.h"

enum argument { TUPLE, ANY_VALUE, NUMBER, ORDERED, SUMMABLE };

static const struct function {
  const char *name;
  enum argument argument;
  bool tail; /* may have one */
  unsigned weight;
} functions[] = {
    {"count", TUPLE, true, 10},     {"countc", TUPLE, false, 5},
    {"any", TUPLE, true, 4},        {"anyc", TUPLE, false, 2},
    {"avgc", NUMBER, false, 8},     {"sum", SUMMABLE, true, 9},
    {"avg", SUMMABLE, true, 7},     {"min", ORDERED, true, 7},
    {"max", ORDERED, true, 7},      {"sumc", NUMBER, false, 4},
    {"minc", ORDERED, false, 3},    {"maxc", ORDERED, false, 3},
    {"countu", ANY_VALUE, true, 4}, {"sumu", NUMBER, true, 3},
    {"avgu", NUMBER, true, 3},      {"extendc", ANY_VALUE, false, 5},
    {"first", ORDERED, true, 4},    {"last", ORDERED, true, 4},
    {"stdev", NUMBER, true, 3},     {"varts", TUPLE, true, 3},
    {"avgti", NUMBER, true, 3},     {"median", NUMBER, true, 3},
    {"quantile", NUMBER, true, 3},  {"quantile_of", ORDERED, true, 4},
};

static const struct function *some_function(struct scenario *scenario) {
  unsigned total = 0;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) total += functions[i].weight;
  unsigned at = (unsigned)below(scenario, total);
  for (size_t i = 0;; i++) {
    if (at < functions[i].weight) return &functions[i];
    at -= functions[i].weight;
  }
}

/* The variable alone, as if no other were there. */
static struct choice alone(const struct choice *choice, const struct source *source) {
  struct choice inner = {.scenario = choice->scenario};
  inner.used[0] = *source;
  inner.used_count = 1;
  return inner;
}

static const struct source *some_variable(struct choice *choice) {
  struct scenario *scenario = choice->scenario;
  for (;;) {
    const struct source *v = choice->used_count > 0 && chance(scenario, 40)
                                 ? some_used(choice)
                                 : &choice->sources[below(scenario, choice->source_count)];
    if (!v->clock || chance(scenario, 10)) return v;
  }
}

static const char *argument(struct choice *choice, struct choice *inner,
                            const struct function *function, char *ret_kind) {
  struct scenario *scenario = choice->scenario;
  const struct source *v = &inner->used[0];
  bool integers = has_domain(inner, 'i'), floats = has_domain(inner, 'f');
  *ret_kind = 'i';
  if (function->argument == TUPLE) return v->name;
  if (function->argument == SUMMABLE && !v->event && chance(scenario, 20)) {
    const char *value = temporal_value(inner, 2);
    *ret_kind = 't';
    if (value) return value;
  }
  if ((function->argument == ORDERED || function->argument == ANY_VALUE) &&
      has_domain(inner, 's') && (!integers || chance(scenario, 30))) {
    *ret_kind = 's';
    return string(inner, chance(scenario, 20) ? 1 : 0);
  }
  if ((function->argument == ORDERED || function->argument == ANY_VALUE) &&
      has_domain(inner, 'y') && chance(scenario, 40)) {
    *ret_kind = 'y';
    return bytes(inner, chance(scenario, 20) ? 1 : 0);
  }
  if (floats && (!integers || chance(scenario, 35))) {
    *ret_kind = 'f';
    return number(inner, chance(scenario, 30) ? 1 : 0);
  }
  *ret_kind = 'i';
  return integers ? integer(inner, chance(scenario, 25) ? 1 : 0) : NULL;
}

/* What stands before the argument. */
static const char *fraction(struct scenario *scenario, const struct function *function) {
  if (strncmp(function->name, "quantile", 8) != 0) return "";
  return PICK(scenario, "0, ", "1, ", "0.5, ", "0.9, ", "0.25, ", "0.3, ");
}

static bool is_mean(const struct function *function) {
  const char *name = function->name;
  return strncmp(name, "avg", 3) == 0 || strcmp(name, "stdev") == 0 ||
         strcmp(name, "median") == 0 || strcmp(name, "quantile") == 0;
}

/* By, tail, where and when. */
static const char *rest(struct choice *inner, bool tail) {
  struct scenario *scenario = inner->scenario;
  const struct source *v = &inner->used[0];
  const char *by = "", *ever = "", *where = "", *when = "";
  if (v->domain_count > 0 && chance(scenario, 40)) {
    size_t first = below(scenario, v->domain_count), second = below(scenario, v->domain_count);
    bool one = v->kinds[first] != 't', two = v->kinds[second] != 't' && second != first;
    if (one && two && chance(scenario, 15))
      by = TEXT(" by %s.%s, %s.%s", v->name, v->domains[first], v->name, v->domains[second]);
    else if (one)
      by = TEXT(" by %s.%s", v->name, v->domains[first]);
  }
  if (tail && chance(scenario, 30)) {
    uint64_t which = below(scenario, 4);
    ever = which == 0 ? " for ever"
           : which == 1
               ? " for each instant"
               : TEXT(" for each %s", duration_text(scenario, (int64_t)below(scenario, 5) + 1));
  }
  if (chance(scenario, 30)) {
    const char *value = chance(scenario, 25) ? temporal_value(inner, 2) : NULL;
    where = value ? TEXT(" where %s %s %d", value, PICK(scenario, "<", ">", ">=", "!="),
                         (int)below(scenario, 6) - 2)
                  : TEXT(" where %s", condition(inner, 1));
  }
  if (chance(scenario, 12)) when = TEXT(" when %s", when_condition(inner, 0));
  return TEXT("%s%s%s%s", by, ever, where, when);
}

const char *aggregate(struct choice *choice, char *ret_kind) {
  struct scenario *scenario = choice->scenario;
  for (;;) {
    const struct function *function = some_function(scenario);
    struct choice inner = alone(choice, some_variable(choice));
    const struct source *v = &inner.used[0];
    bool average = strcmp(function->name, "avgc") == 0;
    if (strcmp(function->name, "extendc") == 0 && !v->event) continue;
    if (average && v->endless) continue;
    char kind = 'i';
    const char *of =
        average && chance(scenario, 40) ? v->name : argument(choice, &inner, function, &kind);
    if (!of || !strstr(of, v->name)) continue; /* a constant says nothing of the variable */
    const char *name = function->name;
    if (function->argument == TUPLE || strcmp(name, "countu") == 0)
      *ret_kind = 'i';
    else if (average)
      *ret_kind = v->event ? 'f' : 't';
    else if (kind != 't' && is_mean(function))
      *ret_kind = 'f';
    else
      *ret_kind = kind;
    if (strcmp(name, "varts") == 0) *ret_kind = 'f';
    return TEXT("%s(%s%s%s)", name, fraction(scenario, function), of,
                rest(&inner, function->tail && kind != 't'));
  }
}

size_t several_aggregates(struct choice *choice, const char **texts, char *kinds, size_t most) {
  static const char *const together = " count any sum avg min max stdev ";
  struct scenario *scenario = choice->scenario;
  struct choice inner = alone(choice, some_variable(choice));
  const char *variable = inner.used[0].name, *tail = rest(&inner, chance(scenario, 10));
  size_t count = 2 + below(scenario, most - 1);
  for (size_t i = 0; i < count;) {
    const struct function *function = some_function(scenario);
    char kind = 'i';
    if (!strstr(together, TEXT(" %s ", function->name))) continue;
    const char *of = argument(choice, &inner, function, &kind);
    if (!of || !strstr(of, variable) || kind == 't') continue;
    bool mean = strcmp(function->name, "avg") == 0 || strcmp(function->name, "stdev") == 0;
    kinds[i] = function->argument == TUPLE ? 'i' : mean ? 'f' : kind;
    texts[i++] = TEXT("%s(%s%s)", function->name, of, tail);
  }
  return count;
}

const char *running_aggregate(struct choice *choice, const struct source *source, size_t key,
                              char *ret_kind) {
  static const struct function running[] = {
      {"countc", TUPLE, false, 1}, {"avgc", NUMBER, false, 1},  {"avgc", TUPLE, false, 1},
      {"minc", ORDERED, false, 1}, {"maxc", ORDERED, false, 1}, {"countu", ANY_VALUE, true, 1},
      {"last", ORDERED, true, 1},  {"sumc", NUMBER, false, 1}};
  struct scenario *scenario = choice->scenario;
  struct choice inner = alone(choice, source);
  const struct function *function = &running[below(scenario, sizeof running / sizeof *running)];
  bool average = strcmp(function->name, "avgc") == 0;
  char kind = 'i';
  if (average && source->endless) return NULL;
  const char *of = argument(choice, &inner, function, &kind);
  if (!of || !strstr(of, source->name)) return NULL;
  *ret_kind = average ? (source->event ? 'f' : 't') : function->argument == ANY_VALUE ? 'i' : kind;
  const char *where = chance(scenario, 15) ? TEXT(" where %s", condition(&inner, 1)) : "";
  return TEXT("%s(%s by %s.%s%s%s)", function->name, of, source->name, source->domains[key],
              function->tail ? " for ever" : "", where);
}

const char *own_group(struct choice *choice, const struct source *source, size_t key,
                      char *ret_kind) {
  static const struct function those[] = {
      {"count", TUPLE, true, 1},      {"count", TUPLE, true, 1},  {"countc", TUPLE, false, 1},
      {"any", TUPLE, true, 1},        {"anyc", TUPLE, false, 1},  {"sum", NUMBER, true, 1},
      {"sumc", NUMBER, false, 1},     {"avgc", NUMBER, false, 1}, {"max", ORDERED, true, 1},
      {"countu", ANY_VALUE, true, 1}, {"sumu", NUMBER, true, 1}};
  struct scenario *scenario = choice->scenario;
  struct choice inner = alone(choice, source);
  const struct function *function = &those[below(scenario, sizeof those / sizeof *those)];
  bool average = strcmp(function->name, "avgc") == 0;
  char kind = 'i';
  if (average && source->endless) return NULL;
  const char *of = average ? source->name : argument(choice, &inner, function, &kind);
  if (!of || !strstr(of, source->name)) return NULL;
  *ret_kind = average ? (source->event ? 'f' : 't') : function->argument == ANY_VALUE ? 'i' : kind;
  const char *tail = "";
  if (function->tail && chance(scenario, 25))
    tail = chance(scenario, 40)
               ? " for ever"
               : TEXT(" for each %s", duration_text(scenario, (int64_t)below(scenario, 5) + 1));
  const char *out = has_domain(&inner, 'i') && chance(scenario, 60)
                        ? TEXT(" where %s > %d", integer(&inner, 0), (int)below(scenario, 6))
                        : TEXT(" where %s", condition(&inner, 1));
  const char *when = chance(scenario, 10) ? TEXT(" when %s", when_condition(&inner, 0)) : "";
  return TEXT("%s(%s by %s.%s%s%s%s)", function->name, of, source->name, source->domains[key], tail,
              chance(scenario, 85) ? out : "", when);
}

const char *summed(struct choice *choice, const struct source *source, const char *by,
                   char *ret_kind) {
  struct scenario *scenario = choice->scenario;
  struct choice inner = alone(choice, source);
  const struct function *function = some_function(scenario);
  char kind = 'i';
  if (strcmp(function->name, "extendc") == 0) return NULL;
  if (strcmp(function->name, "avgc") == 0 && !source->event) return NULL;
  const char *of = argument(choice, &inner, function, &kind), *where = "", *when = "";
  if (!of || kind == 't' || !strstr(of, source->name)) return NULL;
  bool mean = is_mean(function) || strcmp(function->name, "varts") == 0;
  bool number = function->argument == TUPLE || strcmp(function->name, "countu") == 0;
  *ret_kind = mean ? 'f' : number ? 'i' : kind;
  if (chance(scenario, 40)) where = TEXT(" where %s", condition(&inner, 1));
  if (chance(scenario, 12)) when = TEXT(" when %s", when_condition(&inner, 0));
  return TEXT("%s(%s%s%s%s%s)", function->name, fraction(scenario, function), of, by, where, when);
}

const char *chosen_time(struct choice *choice, bool *ret_event) {
  struct scenario *scenario = choice->scenario;
  if (choice->source_count == 0) return NULL; /* inside an aggregate */
  struct choice inner = alone(choice, some_variable(choice));
  *ret_event = inner.used[0].event;
  return TEXT("%s(%s%s)", PICK(scenario, "earliest", "latest"), inner.used[0].name,
              rest(&inner, true));
}
