/* Self-joins: where both inputs of a join are chosen of the same rows, the join takes these itself.
 *
 *           join                           join
 *         /      \                     . . /  \ . .
 *     apply      apply                 apply  apply      done by the join, both
 *       |          |         ==>       |         |       sides in one pass
 *   selection  selection           selection selection
 *         \      /                     . . \  / . .
 *          access                         access
 *
 * The nodes stay in the plan, which says what is done; in the network they are parts of the join, whose rows
 * come once, in their order, instead of once for each side (engine/nodes/product/self.c). That is so only
 * where they speak of domains alone and cannot fail: what they say of a row holds for its close as well,
 * and a value is a number.
 *
 * Only in what runs once, over the store: nodes of standing queries are shared among them.          */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

/* Does EXPR, over the rows of INPUT, read domains and nothing else, and never fail? */
static bool reads_domains(struct ng_plan *plan, const struct ng_expr *expr,
                          const struct ng_node *input) {
  bool *read = BASE_NEW_ARRAY(plan->arena, plan->column_count + 1, bool);
  if (ng_expr_can_fail(expr)) return false;
  ng_expr_mark(expr, read);
  for (const struct ng_node *below = input; below; below = below->inputs[0])
    if (below->kind == NET_NODE_APPLY && read[below->own.items[0]->id]) return false;
  if (read[input->start->id] || (input->stop && read[input->stop->id])) return false;
  for (size_t i = 0; i < input->fields.count; i++) {
    const struct ng_column *column = input->fields.items[i];
    enum net_base_type type = column->type.base;
    if (read[column->id] &&
        (column->openable || column->computed || type == NET_INSTANT || type == NET_TEMPORAL))
      return false;
  }
  return true;
}

/* Can the join do what NODE does, over the rows below it? */
static bool is_taken_in(struct ng_plan *plan, const struct ng_node *node) {
  if (node->alias || ng_node_readers(plan, node) != 1) return false;
  if (node->kind == NET_NODE_SELECTION) return reads_domains(plan, node->expr, node->inputs[0]);
  return node->kind == NET_NODE_APPLY && node->own.items[0]->type.base == NET_INTEGER &&
         reads_domains(plan, node->expr, node->inputs[0]);
}

/* Whose rows those of NODE, an input of a join, are chosen of. TAKE: what is between belongs to the join. */
static struct ng_node *chosen_of(struct ng_plan *plan, struct ng_node *node, bool take) {
  for (;; node = node->inputs[0]) {
    if (node->alias && ng_node_readers(plan, node) == 1) continue;
    if (!is_taken_in(plan, node)) return node;
    node->taken_in = take;
  }
}

static bool is_self_join(struct ng_plan *plan, const struct ng_node *node) {
  if (node->kind != NET_NODE_JOIN || node->rule != NET_PRODUCT_OVERLAP) return false;
  const struct ng_node *left = chosen_of(plan, node->inputs[0], false);
  return left == chosen_of(plan, node->inputs[1], false) && left->kind == NET_NODE_ACCESS &&
         !left->alias && !left->single_row;
}

void ng_rule_self_joins(struct ng_plan *plan) {
  size_t joins = 0;
  if (!plan->over_store) return;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (!is_self_join(plan, node)) continue;
    for (unsigned port = 0; port < 2; port++) (void)chosen_of(plan, node->inputs[port], true);
    node->self_join = true;
    joins++;
  }
  if (!joins) return;
  ng_rule_changed(plan, NG_RULE_SELF_JOINS, joins, "%zu join%s both sides in one pass", joins,
                  joins == 1 ? " takes" : "s take");
}
