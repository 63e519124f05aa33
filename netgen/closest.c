/* `set sequence closest` and `distinct`: the networks of the sequences that pair tuples with their
 * nearest partners, or with the nearest of each distinct one.
 *
 *      when (a ; b) ; c  where a.k = b.k and b.kind = "reply"
 *
 *                      closest  s = b.stop, t = c.start
 *                     /       \
 *           selection          access c
 *      a.stop before b.start
 *                |
 *             closest           s = a.stop, t = b.start, keys a.k = b.k
 *            /       \
 *      access a    selection b.kind = "reply"
 *                     |
 *                  access b
 *
 * README.md defines what is meant; analysis refuses what has no meaning. The conditions of `when` and `where` are all
 * applied above once more, as in any network: here they only choose who can be a partner. So is `within`, which tells
 * the node of distinct tuples how long one is of interest; what lies between two that are so near is as near. */
#include "netgen/closest.h"

#include "netgen/expr.h"

static struct ng_node *closest_node(const struct ng_closest *closest,
                                    const struct ng_expr *sequence);

static const struct net_type type_instant = {NET_INSTANT, 0};

/* --- which variables an expression speaks of */

static void mark_variables(const struct ng_expr *expr, bool *used) {
  if (!expr) return;
  if (expr->op == NG_DOMAIN || expr->op == NG_T_VARIABLE || expr->op == NG_DURATION) {
    used[expr->variable] = true;
  }
  for (unsigned i = 0; i < expr->arg_count; i++) mark_variables(expr->args[i], used);
}

static bool *variables_of(struct base_arena *arena, const struct ng_query *query,
                          const struct ng_expr *expr) {
  bool *used = BASE_NEW_ARRAY(arena, query->variable_count + 1, bool);
  mark_variables(expr, used);
  return used;
}

static bool is_any(const struct ng_query *query, const bool *set) {
  for (size_t i = 0; i < query->variable_count; i++) {
    if (set[i]) return true;
  }
  return false;
}

static bool is_within(const struct ng_query *query, const bool *set, const bool *of) {
  for (size_t i = 0; i < query->variable_count; i++) {
    if (set[i] && !of[i]) return false;
  }
  return true;
}

static bool speaks_of_aggregate(const struct ng_expr *expr) {
  if (expr->op == NG_AGGREGATE || expr->op == NG_T_AGGREGATE) return true;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (speaks_of_aggregate(expr->args[i])) return true;
  }
  return false;
}

static bool speaks_of_functions(const struct ng_expr *expr) {
  bool any = expr->type.base == NET_TEMPORAL;
  for (unsigned i = 0; i < expr->arg_count && !any; i++) any = speaks_of_functions(expr->args[i]);
  return any;
}

/* Is EXPR a sequence whose both operands speak of variables? */
static bool is_closest(struct base_arena *arena, const struct ng_query *query,
                       const struct ng_expr *expr) {
  return expr->op == NG_T_SEQUENCE && expr->index != NG_SEQUENCE_FULL &&
         is_any(query, variables_of(arena, query, expr->args[0])) &&
         is_any(query, variables_of(arena, query, expr->args[1]));
}

/* --- the network */

static struct ng_node *full_product(const struct ng_closest *closest, enum net_node_kind kind,
                                    struct ng_node *left, struct ng_node *right) {
  struct ng_plan *plan = closest->plan;
  struct ng_node *node = ng_node_new(plan, kind, left, right);
  node->rule = NET_PRODUCT_FULL;
  node->own_start = ng_column_new(plan, "start", type_instant, false);
  node->own_stop = ng_column_new(plan, "stop", type_instant, true);
  ng_node_refresh(plan, node);
  return node;
}

static struct ng_alternative lowered(const struct ng_closest *closest, const struct ng_expr *expr) {
  struct ng_alternatives alternatives = {0};
  ng_lower_temporal(closest->lowering, expr, &alternatives);
  BASE_CHECK(alternatives.count == 1, "closest-one-alternative");
  return alternatives.items[0];
}

/* Calls EACH for the equalities among the conjuncts of CONDITION. */
static void each_equality(const struct ng_closest *closest, const struct ng_expr *condition,
                          void (*each)(void *context, const struct ng_expr *equality),
                          void *context) {
  if (!condition) return;
  if (condition->op == NG_AND) {
    each_equality(closest, condition->args[0], each, context);
    each_equality(closest, condition->args[1], each, context);
  } else if (condition->op == NG_EQ && condition->args[0]->type.base != NET_TEMPORAL &&
             !speaks_of_aggregate(condition)) {
    each(context, condition);
  }
}

/* Is CONJUNCT, which is no equality that chooses anyhow, of VARIABLE alone? */
static bool is_alone(const struct ng_closest *closest, const struct ng_expr *conjunct,
                     unsigned variable) {
  const struct ng_query *query = closest->lowering->query;
  if (speaks_of_aggregate(conjunct) || speaks_of_functions(conjunct)) return false;
  bool *used = variables_of(closest->plan->arena, query, conjunct);
  for (size_t i = 0; i < query->variable_count; i++)
    if (used[i] != (i == variable)) return false;
  return true;
}

/* The conjuncts of CONDITION that concern VARIABLE alone; NULL: none does. */
static const struct ng_expr *alone(const struct ng_closest *closest,
                                   const struct ng_expr *condition, unsigned variable) {
  if (!condition) return NULL;
  if (condition->op != NG_AND)
    return is_alone(closest, condition, variable) ? ng_lower(closest->lowering, condition) : NULL;
  const struct ng_expr *left = alone(closest, condition->args[0], variable);
  const struct ng_expr *right = alone(closest, condition->args[1], variable);
  return left && right ? ng_expr_and(closest->plan->arena, left, right) : left ? left : right;
}

struct operand {
  const struct ng_closest *closest;
  struct ng_node *node;
  const bool *variables;
};

static void add_equality(void *context, const struct ng_expr *equality) {
  struct operand *operand = context;
  const struct ng_query *query = operand->closest->lowering->query;
  bool *used = variables_of(operand->closest->plan->arena, query, equality);
  if (!is_any(query, used) || !is_within(query, used, operand->variables)) return;
  const struct ng_expr *predicate = ng_lower(operand->closest->lowering, equality);
  if (ng_expr_can_fail(predicate)) return;
  operand->node = ng_node_select(operand->closest->plan, operand->node, predicate);
}

/* The combinations of EXPR's variables that are partners by EXPR's own condition, the equalities, and where a word
 * chooses by what concerns one variable alone. */
static struct operand build_operand(const struct ng_closest *closest, const struct ng_expr *expr,
                                    bool by_word) {
  const struct ng_query *query = closest->lowering->query;
  struct base_arena *arena = closest->plan->arena;
  struct operand operand = {closest, NULL, variables_of(arena, query, expr)};
  bool sequence = is_closest(arena, query, expr);
  if (sequence) operand.node = closest_node(closest, expr);
  for (unsigned i = 0; i < query->variable_count; i++) {
    if (!operand.variables[i]) continue;
    struct ng_node *part = sequence ? operand.node : closest->leaf(closest->context, i);
    const struct ng_expr *own = by_word ? alone(closest, query->where, i) : NULL;
    if (own) part = ng_node_select(closest->plan, part, own);
    operand.node = sequence || !operand.node
                       ? part
                       : full_product(closest, NET_NODE_PRODUCT, operand.node, part);
  }
  const struct ng_expr *condition = lowered(closest, expr).condition;
  if (condition) operand.node = ng_node_select(closest->plan, operand.node, condition);
  each_equality(closest, query->where, add_equality, &operand);
  return operand;
}

/* EXPR, a float, as the integer that it equals, to be a key beside one. A row where it equals none has no
 * partner and is left out before. */
static const struct ng_expr *whole_key(struct operand *operand, const struct ng_expr *expr) {
  struct base_arena *arena = operand->closest->plan->arena;
  struct ng_expr *least = ng_expr_new(arena, NG_FLOAT, expr->type);
  struct ng_expr *beyond = ng_expr_new(arena, NG_FLOAT, expr->type);
  struct ng_expr *whole = ng_expr_new(arena, NG_CONVERT, (struct net_type){NET_INTEGER, 8});
  least->real = -0x1p63;
  beyond->real = 0x1p63;
  whole->arg_count = 1;
  whole->args[0] = expr;
  const struct ng_expr *tests[3] = {
      ng_expr_make(arena, NG_GE, 2, (const struct ng_expr *[]){expr, least}),
      ng_expr_make(arena, NG_LT, 2, (const struct ng_expr *[]){expr, beyond}),
      ng_expr_make(arena, NG_EQ, 2, (const struct ng_expr *[]){whole, expr})};
  const struct ng_expr *in_range = ng_expr_and(arena, tests[0], tests[1]);
  operand->node =
      ng_node_select(operand->closest->plan, operand->node, ng_expr_and(arena, in_range, tests[2]));
  return whole;
}

struct keys {
  struct operand *left, *right;
  struct ng_key *items;
  size_t count, capacity;
};

static void add_key(void *context, const struct ng_expr *equality) {
  struct keys *keys = context;
  const struct ng_closest *closest = keys->left->closest;
  const struct ng_query *query = closest->lowering->query;
  struct base_arena *arena = closest->plan->arena;
  for (unsigned order = 0; order < 2; order++) {
    const struct ng_expr *e = equality->args[order], *f = equality->args[1 - order];
    bool *of_e = variables_of(arena, query, e), *of_f = variables_of(arena, query, f);
    if (!is_any(query, of_e) || !is_within(query, of_e, keys->left->variables)) continue;
    if (!is_any(query, of_f) || !is_within(query, of_f, keys->right->variables)) continue;
    const struct ng_expr *left = ng_lower(closest->lowering, e);
    const struct ng_expr *right = ng_lower(closest->lowering, f);
    if (ng_expr_can_fail(left) || ng_expr_can_fail(right)) return;
    if (left->type.base != right->type.base) {
      if (left->type.base == NET_FLOAT) left = whole_key(keys->left, left);
      if (right->type.base == NET_FLOAT) right = whole_key(keys->right, right);
    }
    keys->items = ng_grown(arena, keys->items, keys->count, &keys->capacity, sizeof *keys->items);
    struct ng_key *key = &keys->items[keys->count++];
    key->left = ng_node_compute(closest->plan, &keys->left->node, left, "key");
    key->right = ng_node_compute(closest->plan, &keys->right->node, right, "key");
    return;
  }
}

/* --- what was lost */

static bool is_domain(const struct ng_expr *expr, unsigned variable, int field) {
  return expr->op == NG_DOMAIN && expr->variable == variable && (int)expr->index == field;
}

struct telling {
  const struct operand *operand, *other;
  unsigned variable;
  int process;
  const struct ng_expr *told; /* NULL: nothing tells the process */
};

/* Has each partner of one tuple of the other side the same process? */
static void tell(void *context, const struct ng_expr *equality) {
  struct telling *telling = context;
  const struct ng_closest *closest = telling->operand->closest;
  for (unsigned order = 0; order < 2; order++) {
    const struct ng_expr *domain = equality->args[order], *value = equality->args[1 - order];
    bool *used = variables_of(closest->plan->arena, closest->lowering->query, value);
    if (!is_domain(domain, telling->variable, telling->process)) continue;
    if (!is_within(closest->lowering->query, used, telling->other->variables)) continue;
    if (!ng_expr_can_fail(ng_lower(closest->lowering, value))) telling->told = domain;
  }
}

/* The column that says of what process partners of VARIABLE are, wherever they are looked for; NULL: they are of any. */
static const struct ng_column *process_of(struct operand *operand, const struct operand *other,
                                          unsigned variable, int process, bool distinct) {
  const struct ng_closest *closest = operand->closest;
  const struct ng_query *query = closest->lowering->query;
  struct telling telling = {operand, other, variable, process, NULL};
  struct ng_expr *domain = ng_expr_new(closest->plan->arena, NG_DOMAIN, type_instant);
  if (process < 0) return NULL;
  if (distinct) {
    domain->variable = variable;
    domain->index = (unsigned)process;
    domain->type = query->variables[variable].relation->layout->fields[process].type;
    telling.told = domain;
  } else {
    each_equality(closest, query->where, tell, &telling);
  }
  if (telling.told == NULL) return NULL;
  return ng_node_compute(closest->plan, &operand->node, ng_lower(closest->lowering, telling.told),
                         "process");
}

/* Of variables and sequences of them alone, no instant of which is before the first variable's. */
static bool is_chain(const struct ng_expr *expr) {
  if (expr->op == NG_T_SEQUENCE) return is_chain(expr->args[0]) && is_chain(expr->args[1]);
  if (expr->op == NG_T_START || expr->op == NG_T_STOP) expr = expr->args[0];
  return expr->op == NG_T_VARIABLE;
}

/* Where the stop (STOP) or start of a combination for EXPR lies that has a tuple of VARIABLE, of which another one's time is
 * known. */
static enum ng_lost_time time_of(const struct ng_closest *closest, const struct ng_expr *expr,
                                 unsigned variable, bool stop) {
  if (expr->op == NG_T_SEQUENCE) {
    bool second =
        variables_of(closest->plan->arena, closest->lowering->query, expr->args[1])[variable];
    if (second == stop) return time_of(closest, expr->args[stop], variable, stop);
    return stop && is_chain(expr) ? NG_LOST_AFTER : NG_LOST_ANY;
  }
  if (expr->op == NG_T_START || expr->op == NG_T_STOP) {
    stop = expr->op == NG_T_STOP;
    expr = expr->args[0];
  }
  if (expr->op != NG_T_VARIABLE) return NG_LOST_ANY;
  return stop ? NG_LOST_STOP : NG_LOST_START;
}

static void add_lost(struct operand *operand, const struct operand *other,
                     const struct ng_expr *sequence, unsigned side, struct ng_node_lost *items,
                     size_t *count) {
  const struct ng_query *query = operand->closest->lowering->query;
  const struct ng_expr *expr = sequence->args[side];
  bool distinct = sequence->index == NG_SEQUENCE_DISTINCT;
  if (!ng_sequence_counts((enum ng_sequence)sequence->index, side)) return;
  for (unsigned i = 0; query->lost != NULL && i < query->variable_count; i++) {
    const struct ng_lost *lost = query->lost[i];
    if (!operand->variables[i] || lost == NULL) continue;
    const struct ng_column *process = process_of(operand, other, i, lost->process, distinct);
    items[(*count)++] = (struct ng_node_lost){
        side, process,
        &lost->times[time_of(operand->closest, expr, i, side == 0)][process != NULL]};
  }
}

static struct ng_node *closest_node(const struct ng_closest *closest,
                                    const struct ng_expr *sequence) {
  bool by_word = ng_sequence_by_word((enum ng_sequence)sequence->index);
  struct operand left = build_operand(closest, sequence->args[0], by_word);
  struct operand right = build_operand(closest, sequence->args[1], by_word);
  struct keys keys = {.left = &left, .right = &right};
  each_equality(closest, closest->lowering->query->where, add_key, &keys);
  size_t lost_count = 0;
  struct ng_node_lost *lost = BASE_NEW_ARRAY(
      closest->plan->arena, closest->lowering->query->variable_count, struct ng_node_lost);
  add_lost(&left, &right, sequence, 0, lost, &lost_count);
  add_lost(&right, &left, sequence, 1, lost, &lost_count);
  const struct ng_column *before = ng_node_compute(
      closest->plan, &left.node, lowered(closest, sequence->args[0]).stop, "before");
  const struct ng_column *after = ng_node_compute(
      closest->plan, &right.node, lowered(closest, sequence->args[1]).start, "after");
  struct ng_node *node = full_product(closest, NET_NODE_CLOSEST, left.node, right.node);
  node->sequence = (enum ng_sequence)sequence->index;
  node->within = sequence->integer;
  node->before = before;
  node->after = after;
  node->keys = keys.items;
  node->key_count = keys.count;
  node->lost = lost;
  node->lost_count = lost_count;
  return node;
}

void ng_closest_each(const struct ng_closest *closest, const struct ng_expr *condition,
                     void (*each)(void *context, struct ng_node *node), void *context) {
  if (condition->op == NG_AND) {
    ng_closest_each(closest, condition->args[0], each, context);
    ng_closest_each(closest, condition->args[1], each, context);
  } else if (condition->op == NG_HOLDS &&
             is_closest(closest->plan->arena, closest->lowering->query, condition->args[0])) {
    each(context, closest_node(closest, condition->args[0]));
  }
}
