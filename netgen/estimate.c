/* Estimates of rows: see estimate.h. */
#include "netgen/estimate.h"

#include <math.h>

#include "netgen/expr.h"

void ng_plan_set_statistics(struct ng_plan *plan, const struct ng_statistics *statistics) {
  plan->statistics = statistics;
}

static double guessed_share(const struct ng_expr *condition) {
  switch (condition->op) {
    case NG_EQ:
    case NG_EQUAL_INSTANTS:
    case NG_EQUAL_PERIODS:
      return 0.1;
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
    case NG_BEFORE:
    case NG_NOT_AFTER:
      return 1.0 / 3;
    case NG_AND:
      return guessed_share(condition->args[0]) * guessed_share(condition->args[1]);
    case NG_OR: {
      double a = guessed_share(condition->args[0]), b = guessed_share(condition->args[1]);
      return a + b - a * b;
    }
    default:
      return 0.5;
  }
}

/* The share of rows that the selection NODE lets pass. */
static double share_of(const struct ng_plan *plan, const struct ng_node *node) {
  const struct ng_statistics *statistics = plan->statistics;
  double share = guessed_share(node->expr), seen;
  if (!statistics->share) return share;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  ng_expr_print(&text, plan, node->expr);
  if (statistics->share(statistics->context, base_buffer_text(&text), &seen)) share = seen;
  base_buffer_done(&text);
  return share;
}

static double pair_share(double a, double b) {
  double most = sqrt(a > b ? a : b);
  return 1 / (most > 10 ? most : 10);
}

/* Negative: nothing is known. */
static double rows_of(const struct ng_plan *plan, const struct ng_node *node) {
  const struct ng_statistics *statistics = plan->statistics;
  if (node->kind == NET_NODE_ACCESS && !node->alias)
    return node->single_row ? 1 : statistics->tuples(statistics->context, node->relation);
  if (node->input_count == 0) return -1;
  double left = rows_of(plan, node->inputs[0]);
  if (ng_node_is_product(node)) {
    double right = rows_of(plan, node->inputs[1]);
    if (left < 0 || right < 0) return -1;
    return left * right * pair_share(left, right);
  }
  if (left < 0 || node->kind != NET_NODE_SELECTION) return left;
  return left * share_of(plan, node);
}

bool ng_estimate_inputs(struct ng_plan *plan, struct ng_node *const *inputs, size_t count,
                        const struct ng_node *top, struct ng_estimate *ret) {
  if (!plan->statistics) return false;
  ret->rows = BASE_NEW_ARRAY(plan->arena, count, double);
  ret->tuples = BASE_NEW_ARRAY(plan->arena, count, double);
  for (size_t i = 0; i < count; i++) {
    ret->rows[i] = ret->tuples[i] = rows_of(plan, inputs[i]);
    if (ret->rows[i] <= 0) return false; /* what is empty now says nothing of later */
  }
  for (const struct ng_node *node = top; (node = ng_node_reader(plan, node)) != NULL;) {
    if (node->kind != NET_NODE_SELECTION && node->kind != NET_NODE_APPLY) break;
    if (node->kind != NET_NODE_SELECTION || ng_expr_reads_nothing(node->expr)) continue;
    for (size_t i = 0; i < count; i++) {
      if (ng_expr_fits(node->expr, inputs[i])) ret->rows[i] *= share_of(plan, node);
    }
  }
  return true;
}

double ng_estimate_share(const struct ng_estimate *estimate, size_t i, size_t j) {
  return pair_share(estimate->tuples[i], estimate->tuples[j]);
}
