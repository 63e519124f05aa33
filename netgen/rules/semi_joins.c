/* Semi-joins (thesis 7.2.5: duplicates are eliminated where they matter): where nobody above a product reads one of
 * its sides, all combinations of a row of the other side are one tuple, and the product is told that one of them is
 * enough.
 *
 *      projection at A.start: A.x                projection at A.start: A.x
 *            |                                         |
 *       full product, not A overlaps B    ==>     the same, each left row once
 *         /      \                                 /      \
 *        A        B                               A        B
 *
 * One that is there for sure stands for all: equal tuples are one, the surest of them, and so it is everywhere above.
 * The engine looks for no others then (engine/nodes/product/sweep.c); as long as only perhaps there is one, it goes on.
 * 1,500 periods and 4,000 others have 6,000,000 combinations under `not (A , B)`.
 *
 * The times of a combination are read above as well, if not always. It comes when the later of both rows does, so of
 * equal ones the first is wanted: it meets what the others would meet. Who reads when it came reads of both sides.
 * There are two exceptions, of the overlap rule. With an event the combination is that event, whatever is on the
 * other side. And among the common periods of A and others those are equal that are as long as A: only of these one
 * is enough.
 *
 * A condition above that reads the other side is taken into the product, if then nobody reads that side. The rule joins
 * leaves those above that read a stop; where nothing is to come nobody waits for one, and there they can be.
 *
 * What stands above must make nothing of how many rows there are. Nothing does: sinks and aggregates make sets of
 * what comes. A product above takes rows as they come, so its own times, if these are read, are of both sides, too.
 *
 * It comes behind unused-domains and common-subnetworks: who reads what is known then. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

struct reads {
  struct ng_plan *plan;
  bool *const *of; /* by index into plan->nodes */
};

static bool is_read(const struct reads *reads, const struct ng_node *node,
                    const struct ng_column *column) {
  return column && reads->of[ng_plan_index(reads->plan, node)][column->id];
}

/* Does the implicit time of NODE's rows count, in itself or as that of rows of products that are made of them? */
static bool time_counts(const struct reads *reads, const struct ng_node *product,
                        const struct ng_node *node) {
  if (is_read(reads, product, product->start) || is_read(reads, product, product->stop))
    return true;
  for (size_t i = 0; i < reads->plan->node_count; i++) {
    const struct ng_node *reader = reads->plan->nodes[i];
    for (unsigned port = 0; port < reader->input_count; port++) {
      if (reader->inputs[port] != node) continue;
      bool passes = reader->kind == NET_NODE_SELECTION || reader->kind == NET_NODE_APPLY;
      if (passes && time_counts(reads, product, reader)) return true;
      if (ng_node_is_product(reader) && time_counts(reads, reader, reader)) return true;
    }
  }
  return false;
}

static bool side_is_read(const struct reads *reads, const struct ng_node *product, unsigned side) {
  for (size_t i = 0; i < product->fields.count; i++) {
    const struct ng_column *column = product->fields.items[i];
    if (is_read(reads, product, column) && ng_node_has(product->inputs[side], column)) return true;
  }
  return false;
}

/* Does an event of SIDE take part in the overlap PRODUCT? */
static bool has_event(struct ng_plan *plan, const struct ng_node *product, unsigned side) {
  struct ng_participants those = {0};
  ng_node_participants(plan, product->inputs[side], &those);
  for (size_t i = 0; i < those.count; i++)
    if (!ng_columns_have(&product->untested, those.items[i].start) &&
        ng_product_takes_event(product, those.items[i]))
      return true;
  return false;
}

/* Which combinations of a row of SIDE are enough, when nobody reads the other side? */
static enum net_product_once enough(const struct reads *reads, const struct ng_node *product,
                                    unsigned side) {
  if (!time_counts(reads, product, product)) return NET_PRODUCT_ONCE;
  if (product->rule != NET_PRODUCT_OVERLAP) return NET_PRODUCT_EACH;
  if (has_event(reads->plan, product, side)) return NET_PRODUCT_ONCE;
  return product->stop ? NET_PRODUCT_ONCE_WHOLE : NET_PRODUCT_EACH;
}

static bool reduce(const struct reads *reads, struct ng_node *product) {
  for (unsigned side = 0; side < 2 && product->once == NET_PRODUCT_EACH; side++) {
    if (side_is_read(reads, product, 1 - side)) continue;
    product->once = enough(reads, product, side);
    product->once_side = side;
  }
  return product->once != NET_PRODUCT_EACH;
}

/* The last of the selections on PRODUCT that it could take in; PRODUCT: there is none. */
static struct ng_node *last_taken(const struct ng_plan *plan, struct ng_node *product) {
  struct ng_node *top = product, *reader;
  while (plan->may_speculate && (reader = ng_node_reader(plan, top)) != NULL) {
    if (reader->kind != NET_NODE_SELECTION || reader->alias || reader->speculative ||
        ng_expr_can_fail(reader->expr))
      break;
    top = reader;
  }
  return top;
}

/* What read FROM reads TO, and who reads what is known anew. */
static void reconnect(struct reads *reads, struct ng_node *from, struct ng_node *to) {
  ng_plan_replace(reads->plan, from, to);
  ng_plan_refresh(reads->plan);
  reads->of = ng_plan_needs(reads->plan);
}

/* With the conditions above taken in; false: one of each row is not enough then, and they stay. */
static bool reduce_with_conditions(struct reads *reads, struct ng_node *product) {
  struct ng_node *top = last_taken(reads->plan, product);
  const struct ng_expr *expr = product->expr;
  enum net_node_kind kind = product->kind;
  if (top == product) return false;
  for (const struct ng_node *node = top; node != product; node = node->inputs[0])
    product->expr = ng_expr_and(reads->plan->arena, product->expr, node->expr);
  product->kind = NET_NODE_JOIN;
  reconnect(reads, top, product);
  if (reduce(reads, product) && product->once == NET_PRODUCT_ONCE) return true;
  product->expr = expr;
  product->kind = kind;
  product->once = NET_PRODUCT_EACH;
  reconnect(reads, product, top);
  return false;
}

void ng_rule_semi_joins(struct ng_plan *plan) {
  struct reads reads = {.plan = plan, .of = ng_plan_needs(plan)};
  size_t reduced = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (!node->alias && (node->kind == NET_NODE_PRODUCT || node->kind == NET_NODE_JOIN))
      reduced += reduce_with_conditions(&reads, node) || reduce(&reads, node);
  }
  if (!reduced) return;
  ng_rule_changed(plan, NG_RULE_SEMI_JOINS, reduced, "%zu product%s of which one side is not read",
                  reduced, reduced == 1 ? "" : "s");
}
