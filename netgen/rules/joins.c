/* Joins (thesis 7.2.1, appendix C): a product and the selections right above it become one join, so
 * that rows that the predicate rejects are never made.
 *
 *      selection P                join P and Q, hash keys from equalities
 *          |                      /                  \
 *      selection Q     ==>       A                    B
 *          |
 *       product
 *
 * An equality of what is computed of one side with what is computed of the other is a hash key, as far as
 * both are of one type of one slot: a domain as it is, or the column of an apply below the join, so that
 * A.process / 2 = B.process / 2 is computed once for each row and not for each pair. An integer and a float
 * are equal in other ways than their bits say. The predicate keeps the equality all the same. A name that is
 * compared with a string is a key as it is: both are the same words of the same table, and a domain that is no
 * apply's column is one that a control arc can be made of (control_arcs.c).
 *
 * A predicate that can fail stays in its selection: inside the join an error would count even where
 * another conjunct, or the overlap of tuples whose end is not known yet, turns out false; an equality that is
 * speculated on (speculation.c) becomes one of columns, which cannot. So does
 * one that reads a stop: in a conjunction its waiting would hide that another part is unknown for
 * good. Selections that stay let the others pass: conjuncts may be taken in any order. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

static bool in_side(const struct ng_node *side, const struct ng_expr *expr) {
  return net_type_slots(expr->type.base) == 1 && !ng_expr_reads_nothing(expr) &&
         ng_expr_fits(expr, side);
}

/* Is CONJUNCT a key? RET_SIDES: what of the left input is equal to what of the right one. */
static bool is_key(const struct ng_node *join, const struct ng_expr *conjunct,
                   const struct ng_expr *ret_sides[2]) {
  if (conjunct->op != NG_EQ || conjunct->args[0]->type.base != conjunct->args[1]->type.base)
    return false;
  for (int swap = 0; swap < 2; swap++) {
    ret_sides[0] = ng_expr_words(conjunct->args[swap]);
    ret_sides[1] = ng_expr_words(conjunct->args[!swap]);
    if (in_side(join->inputs[0], ret_sides[0]) && in_side(join->inputs[1], ret_sides[1]))
      return true;
  }
  return false;
}

/* COLUMN as an operand beside OTHER: of a name and a string the name becomes a string. */
static const struct ng_expr *compared(struct base_arena *arena, const struct ng_column *column,
                                      const struct ng_column *other) {
  const struct ng_expr *expr = ng_expr_column(arena, column);
  if (column->type.base == other->type.base || column->type.base == NET_STRING) return expr;
  struct ng_expr *string = ng_expr_new(arena, NG_CONVERT, other->type);
  string->arg_count = 1;
  string->args[0] = expr;
  return string;
}

/* *CONJUNCT, if it is a key, becomes an equality of columns. */
static bool key_of(struct ng_plan *plan, struct ng_node *join, const struct ng_expr **conjunct,
                   struct ng_key *ret) {
  const struct ng_expr *sides[2];
  if (!is_key(join, *conjunct, sides)) return false;
  *ret = (struct ng_key){ng_node_compute(plan, &join->inputs[0], sides[0], NULL),
                         ng_node_compute(plan, &join->inputs[1], sides[1], NULL)};
  const struct ng_expr *both[2] = {compared(plan->arena, ret->left, ret->right),
                                   compared(plan->arena, ret->right, ret->left)};
  if (sides[0]->op != NG_COLUMN || sides[1]->op != NG_COLUMN)
    *conjunct = ng_expr_make(plan->arena, NG_EQ, 2, both);
  return true;
}

static void add_key(struct ng_plan *plan, struct ng_node *join, struct ng_key key) {
  struct ng_key *keys = BASE_NEW_ARRAY(plan->arena, join->key_count + 1, struct ng_key);
  for (size_t i = 0; i < join->key_count; i++) keys[i] = join->keys[i];
  keys[join->key_count++] = key;
  join->keys = keys;
}

/* The lowest selection above PRODUCT, with nothing but selections between, that can be taken in. */
static struct ng_node *next_selection(const struct ng_plan *plan, const struct ng_node *product) {
  struct ng_node *node = ng_node_reader(plan, product);
  while (node && node->kind == NET_NODE_SELECTION) {
    const struct ng_expr *sides[2];
    if (node->speculative ? is_key(product, node->expr, sides)
                          : !ng_expr_can_fail(node->expr) && !ng_expr_reads_open(node->expr))
      return node;
    node = ng_node_reader(plan, node);
  }
  return NULL;
}

static size_t join(struct ng_plan *plan, struct ng_node *product) {
  size_t taken = 0;
  struct ng_node *selection;
  while ((selection = next_selection(plan, product)) != NULL) {
    struct ng_key key;
    const struct ng_expr *predicate = selection->expr;
    if (key_of(plan, product, &predicate, &key)) add_key(plan, product, key);
    product->expr = ng_expr_and(plan->arena, product->expr, predicate);
    product->kind = NET_NODE_JOIN;
    ng_plan_replace(plan, selection, selection->inputs[0]);
    ng_plan_refresh(plan);
    taken++;
  }
  return taken;
}

void ng_rule_joins(struct ng_plan *plan) {
  size_t joins = 0, selections = 0, keys = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->kind != NET_NODE_PRODUCT) continue;
    size_t taken = join(plan, node);
    if (!taken) continue;
    joins++;
    selections += taken;
    keys += node->key_count;
  }
  if (!joins) return;
  ng_rule_changed(plan, NG_RULE_JOINS, joins, "%zu join%s from %zu selection%s, %zu hash key%s",
                  joins, joins == 1 ? "" : "s", selections, selections == 1 ? "" : "s", keys,
                  keys == 1 ? "" : "s");
}
