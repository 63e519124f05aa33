/* Random expressions by type: integers, numbers, strings, temporal values, conditions. */
#include <string.h>

#include "tests/oracle/choice.h"

bool has_domain(const struct choice *choice, char kind) {
  for (size_t i = 0; i < choice->used_count; i++)
    for (size_t j = 0; j < choice->used[i].domain_count; j++)
      if (choice->used[i].kinds[j] == kind) return true;
  return false;
}

const struct source *some_used(const struct choice *choice) {
  return &choice->used[below(choice->scenario, choice->used_count)];
}

/* V.domain of that kind, which there must be. */
static const char *domain(struct choice *choice, char kind) {
  struct scenario *scenario = choice->scenario;
  for (;;) {
    const struct source *v = some_used(choice);
    if (v->domain_count == 0) continue;
    size_t i = below(scenario, v->domain_count);
    if (v->kinds[i] == kind) return TEXT("%s.%s", v->name, v->domains[i]);
  }
}

const char *bytes(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  bool any = has_domain(choice, 'y');
  if (!any || chance(scenario, 10)) return TEXT("x'%s'", some_bytes(scenario));
  if (depth == 0 || chance(scenario, 50)) return domain(choice, 'y');
  const char *inner = bytes(choice, depth - 1);
  switch (below(scenario, 7)) {
    case 0:
      return TEXT("concat(%s, %s)", inner, bytes(choice, depth - 1));
    case 1:
      return TEXT("%s(%s, %d)", PICK(scenario, "left", "right"), inner, (int)below(scenario, 3));
    case 2:
      return TEXT("substring(%s, %d, %d)", inner, (int)below(scenario, 4) - 1,
                  (int)below(scenario, 4));
    case 3:
      return TEXT("unhex(%s(%s))", PICK(scenario, "hex", "ascii"), inner);
    case 4:
      return chance(scenario, 20) ? TEXT("unhex(%s)", string(choice, depth - 1)) : inner;
    default:
      return TEXT("bytes(%s)", string(choice, depth - 1));
  }
}

const char *integer(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  if (depth > 0 && has_domain(choice, 'y') && chance(scenario, 15))
    return chance(scenario, 60)
               ? TEXT("length(%s)", bytes(choice, depth - 1))
               : TEXT("position(%s, %s)", bytes(choice, depth - 1), bytes(choice, 0));
  bool any = has_domain(choice, 'i');
  if (!any && depth > 0 && has_domain(choice, 's') && chance(scenario, 30))
    return TEXT("length(%s)", string(choice, depth - 1));
  if (!any || chance(scenario, 15)) return TEXT("%d", (int)below(scenario, 4));
  if (depth == 0 || chance(scenario, 60)) return domain(choice, 'i');
  const char *left = integer(choice, depth - 1), *right = integer(choice, depth - 1);
  switch (below(scenario, 14)) {
    case 0:
      return TEXT("(%s / %d)", left, (int)below(scenario, 3) + 1);
    case 1:
      return TEXT("mod(%s, %d)", left, (int)below(scenario, 3) + 2);
    case 2:
      return TEXT("abs(%s)", left);
    case 3:
      return TEXT("-%s", left);
    case 4:
      return has_domain(choice, 's') ? TEXT("length(%s)", string(choice, depth - 1)) : left;
    case 5:
      return has_domain(choice, 'f') ? TEXT("int4(%s)", number(choice, depth - 1)) : left;
    case 6:
      return chance(scenario, 40) ? TEXT("(%s ** %d)", left, (int)below(scenario, 4))
                                  : TEXT("int%d(%s)", 1 << below(scenario, 4), left);
    case 7:
      return chance(scenario, 10) ? TEXT("(%s / %s)", left, right) : left;
    default:
      return TEXT("(%s %s %s)", left, PICK(scenario, "+", "-", "*"), right);
  }
}

/* A float. */
const char *number(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  if (!has_domain(choice, 'f')) {
    if (has_domain(choice, 'i') && chance(scenario, 60))
      return TEXT("float8(%s)", integer(choice, depth > 0 ? depth - 1 : 0));
    return PICK(scenario, "0.5", "1.0", "1.5");
  }
  if (depth == 0 || chance(scenario, 50)) return domain(choice, 'f');
  const char *inner = number(choice, depth - 1);
  switch (below(scenario, 10)) {
    case 0:
      return TEXT("sqrt(abs(%s))", inner);
    case 1:
      return TEXT("%s(%s)", PICK(scenario, "sin", "cos", "atan", "exp", "float4", "abs"), inner);
    case 2:
      return TEXT("log(%s + 1)", inner);
    case 3:
      return TEXT("(%s / 2)", inner);
    case 4:
      return TEXT("-%s", inner);
    case 5:
      return TEXT("(%s + %s)", inner, integer(choice, depth - 1));
    default:
      return TEXT("(%s %s %s)", inner, PICK(scenario, "+", "-", "*"), number(choice, depth - 1));
  }
}

/* All have a group; POSIX takes the longest of several ways, so there is one, and its characters here are bytes. */
#define REGULAR                                                                      \
  "\"(a)\"", "\"^(b)\"", "\"([ab])$\"", "\"([abx])x\"", "\"^(a|b)*$\"", "\"(x?)a\"", \
      "\"([ab])([ab])\"", "\"(^$)\"", "\"(a)|b\""

static const char *changed_string(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  const char *inner = string(choice, depth - 1), *other = string(choice, 0);
  switch (below(scenario, 6)) {
    case 5:
      return TEXT("capture(%s, %s, %s)", inner, PICK(scenario, REGULAR),
                  PICK(scenario, "0", "0", "0", "1", "(0 + 1)"));
    case 0:
      return TEXT("%s(%s)", PICK(scenario, "lower", "upper", "trim"), inner);
    case 1:
      return TEXT("substring(%s, %d, %d)", inner, (int)below(scenario, 4) - 1,
                  (int)below(scenario, 4));
    case 2:
      return TEXT("substitute(%s, %s, %s)", inner, other, string(choice, 0));
    case 3:
      return TEXT("ascii(position(%s, %s))", inner, other);
    default:
      return TEXT("split(%s, %s, %s)", inner, other,
                  chance(scenario, 80) ? PICK(scenario, "1", "2") : integer(choice, 0));
  }
}

const char *string(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  if (depth > 0 && has_domain(choice, 'y') && chance(scenario, 25))
    return TEXT("%s(%s)", PICK(scenario, "text", "text", "hex", "ascii"), bytes(choice, depth - 1));
  bool any = has_domain(choice, 's');
  if (!any || chance(scenario, 10))
    return string_text(scenario->arena, PICK(scenario, "a", "b", "x"));
  if (depth == 0 || chance(scenario, 55)) return domain(choice, 's');
  if (chance(scenario, 30)) return changed_string(choice, depth);
  switch (below(scenario, 4)) {
    case 0:
      return TEXT("concat(%s, %s)", string(choice, depth - 1), string(choice, depth - 1));
    case 1:
      return TEXT("left(%s, %d)", string(choice, depth - 1), (int)below(scenario, 3));
    case 2:
      return TEXT("right(%s, %d)", string(choice, depth - 1), (int)below(scenario, 3));
    default:
      return TEXT("ascii(%s)", has_domain(choice, 'i') && chance(scenario, 60)
                                   ? integer(choice, depth - 1)
                                   : string(choice, depth - 1));
  }
}

/* --- temporal values */

static const char *duration(struct choice *choice) {
  struct scenario *scenario = choice->scenario;
  for (int i = 0; i < 5; i++) {
    const struct source *v = some_used(choice);
    if (!v->event && !v->endless) return TEXT("duration(%s)", v->name);
  }
  return NULL;
}

const char *temporal_value(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  if (choice->used_count == 0) return NULL;
  const char *inner = NULL;
  if (has_domain(choice, 't') && chance(scenario, 50)) inner = domain(choice, 't');
  if (!inner) inner = duration(choice);
  if (!inner || depth == 0 || chance(scenario, 45)) return inner;
  switch (below(scenario, 8)) {
    case 0:
      return TEXT("-%s", inner);
    case 1:
      return TEXT("(%s / %d)", inner, (int)below(scenario, 2) * 2 + 2);
    case 2:
      return TEXT("(%d - %s)", (int)below(scenario, 8), inner);
    case 3: {
      const char *other = temporal_value(choice, 0);
      return TEXT("(%s / (%s + %d))", inner, other ? other : "1", (int)below(scenario, 3) + 1);
    }
    case 4: {
      const char *other = temporal_value(choice, depth - 1);
      return TEXT("(%s %s %s)", inner, PICK(scenario, "+", "-"), other ? other : "1");
    }
    case 5:
      return TEXT("(%s + %s)", inner, integer(choice, 0));
    default:
      return TEXT("(%s * %d)", inner, (int)below(scenario, 3));
  }
}

/* --- conditions */

static const char *comparison(struct scenario *scenario) {
  return PICK(scenario, "=", "<", ">", "<=", ">=", "!=", "=");
}

static const char *pattern(struct scenario *scenario) {
  if (!scenario->odd_strings || chance(scenario, 40))
    return PICK(scenario, "\"a\"", "\"b\"", "\"c\"", "\"a*\"", "\"?\"", "\"[a-b]\"");
  return PICK(scenario, "\"*\"", "\"?*\"", "\"*b\"", "\"[b-c]*\"", "\"[aé]*\"", "\"a\\\\*\"",
              "\"??\"", "\"*a*\"", "\"[!-~]\"", "\"\\\\?\"", "\"\"", "\"[[]*\"", "\"a\\\\]\"");
}

const char *condition(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  if (depth > 0 && chance(scenario, 25)) {
    const char *left = condition(choice, depth - 1), *right = condition(choice, depth - 1);
    if (chance(scenario, 20)) return TEXT("not (%s)", left);
    return TEXT("(%s %s %s)", left, PICK(scenario, "and", "or"), right);
  }
  if (has_domain(choice, 'b') && chance(scenario, 25)) {
    const char *value = domain(choice, 'b');
    return chance(scenario, 50) ? value
                                : TEXT("%s %s %s", value, PICK(scenario, "=", "!="),
                                       chance(scenario, 50) ? "true" : domain(choice, 'b'));
  }
  if (has_domain(choice, 'y') && chance(scenario, 25))
    return chance(scenario, 10)
               ? TEXT("%s in (%s, %s)", bytes(choice, 0), bytes(choice, 0), bytes(choice, 1))
               : TEXT("%s %s %s", bytes(choice, chance(scenario, 80) ? 0 : 1), comparison(scenario),
                      bytes(choice, 1));
  if (has_domain(choice, 's') && chance(scenario, 5))
    return TEXT("%s matches %s", string(choice, 1), PICK(scenario, REGULAR));
  if (has_domain(choice, 's') && chance(scenario, 35)) {
    if (chance(scenario, 35))
      return TEXT("%s %s %s", string(choice, 0), comparison(scenario), string(choice, 1));
    if (chance(scenario, 10))
      return TEXT("%s %s %s", pattern(scenario), PICK(scenario, "=", "!="), string(choice, 0));
    return TEXT("%s %s %s", string(choice, chance(scenario, 80) ? 0 : 1), comparison(scenario),
                pattern(scenario));
  }
  if (has_domain(choice, 'f') && chance(scenario, 20)) {
    const char *left = number(choice, 1), *operator= comparison(scenario);
    if (chance(scenario, 50)) return TEXT("%s %s %s", left, operator, number(choice, 1));
    const char *whole = integer(choice, 1);
    return chance(scenario, 50) ? TEXT("%s %s %s", left, operator, whole)
                                : TEXT("%s %s %s", whole, operator, left);
  }
  const char *left = integer(choice, 1);
  if (chance(scenario, 6))
    return TEXT("%s in (%s, %s, 3)", left, integer(choice, 0), integer(choice, 1));
  if (chance(scenario, 6))
    return TEXT("(%s between %s and %s)", left, integer(choice, 0), integer(choice, 1));
  return TEXT("%s %s %s", left, comparison(scenario), integer(choice, 1));
}
