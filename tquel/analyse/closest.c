/* `set sequence closest` or `distinct`, and the words first, last, closest at a `;`: where that has a meaning then (netgen/README.md has the definition).
 *
 * A `;` between variables must be a condition that always holds, with different variables on its sides,
 * and a variable may stand in one such sequence only: its partners are chosen before all else. Below
 * `.start` and `.stop`, where the condition is dropped, and with a constant, `;` is as ever. */
#include <strings.h>

#include "tquel/analyse/analyse_internal.h"

static const char *const sequences[] = {
    [NG_SEQUENCE_FULL] = "full",         [NG_SEQUENCE_CLOSEST] = "closest",
    [NG_SEQUENCE_DISTINCT] = "distinct", [NG_SEQUENCE_FIRST] = "first",
    [NG_SEQUENCE_LAST] = "last",         [NG_SEQUENCE_NEAREST] = "closest",
};

const char *tql_sequence_name(enum ng_sequence sequence) {
  return sequences[sequence];
}

bool tql_sequence_find(const char *name, enum ng_sequence *ret) {
  for (int i = 0; i <= NG_SEQUENCE_DISTINCT; i++) /* the others are words of a statement */ {
    if (strcasecmp(sequences[i], name) != 0) continue;
    *ret = (enum ng_sequence)i;
    return true;
  }
  return false;
}

struct check {
  struct tql_binder *binder;
  bool *taken; /* variables of sequences met so far */
  bool fits;
};

static void mark_variables(const struct ng_expr *expr, bool *used) {
  if (expr->op == NG_DOMAIN || expr->op == NG_T_VARIABLE || expr->op == NG_DURATION)
    used[expr->variable] = true;
  for (unsigned i = 0; i < expr->arg_count; i++) mark_variables(expr->args[i], used);
}

static bool *variables_of(const struct check *check, const struct ng_expr *expr, bool *ret_any) {
  size_t count = check->binder->variable_count;
  bool *used = BASE_NEW_ARRAY(check->binder->arena, count + 1, bool);
  mark_variables(expr, used);
  for (size_t i = 0; i < count; i++) *ret_any = *ret_any || used[i];
  return used;
}

static bool by_word(const struct ng_expr *expr) {
  return expr->op == NG_T_SEQUENCE && ng_sequence_by_word((enum ng_sequence)expr->index);
}

/* Is EXPR a sequence whose both operands speak of variables? */
static bool is_closest(const struct check *check, const struct ng_expr *expr) {
  bool left = false, right = false;
  if (expr->op != NG_T_SEQUENCE || expr->index == NG_SEQUENCE_FULL) return false;
  variables_of(check, expr->args[0], &left);
  variables_of(check, expr->args[1], &right);
  return left && right;
}

static void refuse(struct check *check, const struct ng_expr *expr, const char *what) {
  enum ng_sequence sequence =
      expr->op == NG_T_SEQUENCE ? (enum ng_sequence)expr->index : check->binder->query->sequence;
  bool word = ng_sequence_by_word(sequence);
  base_report_hint(
      check->binder->analysis->diags, MSG_CLOSEST_PLACE, check->binder->analysis->source,
      &expr->range,
      word ? "name the pairs as a derived relation first, or write each: all that follow"
           : "set sequence full, or name the pairs as a derived relation first",
      word ? "where a sequence says %s, %s" : "under set sequence %s, %s",
      tql_sequence_name(sequence), what);
  check->fits = false;
}

/* What operands of a `;` between variables must not speak of, also where the condition is dropped: a partner is
 * nearest by one time, and chosen before there are aggregates. NULL: nothing of the kind. */
static const char *misfit_in(const struct ng_expr *expr) {
  if (expr->op == NG_T_CHOICE) return "no | may stand beside ;";
  if (expr->op == NG_T_AGGREGATE) return "no earliest or latest may stand beside a variable and ;";
  const char *misfit = NULL;
  for (unsigned i = 0; i < expr->arg_count && !misfit; i++) misfit = misfit_in(expr->args[i]);
  return misfit;
}

static void check_temporal(struct check *check, const struct ng_expr *expr, bool conjunct) {
  if (expr->op == NG_T_START || expr->op == NG_T_STOP) return; /* these drop the condition */
  bool closest = is_closest(check, expr);
  if (!closest && by_word(expr)) {
    refuse(check, expr, "; needs a tuple variable on each of its sides");
    return;
  }
  if (closest && !conjunct) {
    refuse(check, expr, "; may only stand in a condition of its own");
    return;
  }
  if (closest) {
    const char *misfit = misfit_in(expr);
    if (misfit) {
      refuse(check, expr, misfit);
      return;
    }
    bool any = false;
    bool *left = variables_of(check, expr->args[0], &any);
    bool *right = variables_of(check, expr->args[1], &any);
    for (size_t i = 0; i < check->binder->variable_count; i++) {
      if (!left[i] || !right[i]) continue;
      refuse(check, expr, "; needs different variables on its sides");
      return;
    }
  }
  for (unsigned i = 0; i < expr->arg_count; i++) check_temporal(check, expr->args[i], closest);
}

static void check_condition(struct check *check, const struct ng_expr *expr, bool conjunct) {
  if (expr->op != NG_HOLDS) {
    for (unsigned i = 0; i < expr->arg_count; i++) {
      check_condition(check, expr->args[i], conjunct && expr->op == NG_AND);
    }
    return;
  }
  const struct ng_expr *held = expr->args[0];
  check_temporal(check, held, conjunct);
  if (!check->fits || !is_closest(check, held)) return;
  bool any = false;
  bool *used = variables_of(check, held, &any);
  for (size_t i = 0; i < check->binder->variable_count; i++) {
    if (used[i] && check->taken[i]) {
      refuse(check, held, "a variable may stand in one sequence only");
      return;
    }
    check->taken[i] = check->taken[i] || used[i];
  }
}

/* The first way of choosing that EXPR has in it. */
static enum ng_sequence chosen_in(const struct ng_expr *expr) {
  enum ng_sequence found =
      expr->op == NG_T_SEQUENCE ? (enum ng_sequence)expr->index : NG_SEQUENCE_FULL;
  for (unsigned i = 0; i < expr->arg_count && found == NG_SEQUENCE_FULL; i++)
    found = chosen_in(expr->args[i]);
  return found;
}

bool tql_check_closest(struct tql_binder *binder) {
  enum ng_sequence chosen = binder->query->when ? chosen_in(binder->query->when) : NG_SEQUENCE_FULL;
  if (chosen == NG_SEQUENCE_FULL) return true;
  binder->query->sequence = chosen;
  struct check check = {binder, NULL, true};
  check.taken = BASE_NEW_ARRAY(binder->arena, binder->variable_count + 1, bool);
  check_condition(&check, binder->query->when, true);
  return check.fits;
}
