/* Merged projections: a projection that takes over the period of the one below it is one with it.
 *
 *      projection [V.start, V.stop): y = V.x
 *            |
 *      projection [A.start, A.stop): x = A.n, z      ==>     projection [A.start, A.stop): y = A.n
 *            |                                                         |
 *            A                                                         A
 *
 * So it is with what a statement asks of a view, or of an earlier query of the plan: the lower projection
 * makes the period, and leaves out what is none; the upper one would copy. Applies and selections may stand
 * between, as long as they read no times of the lower one, and cannot fail for what it would leave out.
 * Nobody else may read the lower one. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

/* What stands between two projections. */
struct between {
  struct ng_node *input; /* the lower projection's rows, under the names that are read */
  struct ng_node *lower;
};

/* Applies and selections that cannot fail may also see what the lower projection leaves out. */
static bool passes(const struct ng_plan *plan, const struct ng_node *node) {
  return (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY) && !node->alias &&
         !ng_expr_can_fail(node->expr) && ng_node_readers(plan, node) == 1;
}

static bool find_lower(const struct ng_plan *plan, const struct ng_node *upper,
                       struct between *ret) {
  struct ng_node *node = upper->inputs[0];
  while (passes(plan, node)) node = node->inputs[0];
  ret->input = node;
  ret->lower = node->alias ? node->inputs[0] : node;
  return ng_node_readers(plan, node) == 1 && !ret->lower->alias &&
         ret->lower->kind == NET_NODE_PROJECTION && ng_node_readers(plan, ret->lower) == 1;
}

static bool reads_times(const struct ng_node *upper, const struct ng_node *input) {
  for (const struct ng_node *node = upper->inputs[0]; node != input; node = node->inputs[0]) {
    if (ng_expr_reads(node->expr, input->start)) return true;
    if (input->stop && ng_expr_reads(node->expr, input->stop)) return true;
  }
  return false;
}

/* What LOWER makes its field FIELD of; NULL: nothing (it has been dropped). */
static const struct ng_column *source_of(const struct ng_node *lower, size_t field) {
  for (size_t k = 0; k < lower->own.count; k++) {
    if (lower->own.items[k] == lower->fields.items[field]) return lower->sources.items[k];
  }
  return NULL;
}

/* UPPER, and what is between, reads the field FIELD of the input from the lower projection's source. */
static void exchange(struct ng_plan *plan, struct ng_node *upper, const struct between *between,
                     size_t field) {
  const struct ng_column *from = between->input->fields.items[field];
  const struct ng_column *to = source_of(between->lower, field);
  for (struct ng_node *node = upper->inputs[0]; node != between->input; node = node->inputs[0])
    node->expr = ng_expr_substitute(plan->arena, node->expr, from, to);
  for (size_t i = 0; i < upper->sources.count; i++) {
    if (upper->sources.items[i] == from) upper->sources.items[i] = to;
  }
}

static bool merge(struct ng_plan *plan, struct ng_node *upper) {
  struct between between;
  if (!find_lower(plan, upper, &between)) return false;
  struct ng_node *input = between.input, *lower = between.lower;
  if (upper->start_from != input->start || upper->stop_from != input->stop ||
      reads_times(upper, input))
    return false;
  for (size_t i = 0; i < input->fields.count; i++) {
    if (!source_of(lower, i)) return false;
  }
  for (size_t i = 0; i < input->fields.count; i++) exchange(plan, upper, &between, i);
  upper->start_from = lower->start_from;
  upper->stop_from = lower->stop_from;
  struct ng_node *last = upper;
  while (last->inputs[0] != input) last = last->inputs[0];
  last->inputs[0] = lower->inputs[0];
  return true;
}

void ng_rule_merged_projections(struct ng_plan *plan) {
  size_t merged = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->alias || node->kind != NET_NODE_PROJECTION) continue;
    while (merge(plan, node)) {
      merged++;
      ng_plan_refresh(plan);
      i = 0;
    }
  }
  if (!merged) return;
  ng_rule_changed(plan, NG_RULE_MERGED_PROJECTIONS, merged, "%zu projection%s of a projection",
                  merged, merged == 1 ? "" : "s");
}
