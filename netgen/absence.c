/* What `unless` leaves out: rows that have a partner.
 *
 *      anti-join where, when           difference where
 *        |           |                  |            |
 *   combinations   selection       projection     selection
 *   of the others    |                            |
 *               the absent one               the absent one
 *
 * With a `when` of its own, and where the result is an event, a combination stays or goes as it is: the anti-join stands
 * above the selections, where the times of all that take part are columns. Else portions of the result stay: the
 * difference stands above the projection that makes its period, which carries the domains that `where` reads.
 *
 * Conjuncts that read the absent variable alone are selections on its side, equalities of exact domains are keys, the rest
 * is the condition of partners.
 *
 * Until when a row of an anti-join is kept is not derived from the form of `when`: the condition itself is asked about
 * rows all of whose instants lie at a time or later, from when on it is false (reach, and for each row
 * engine/nodes/partners.c). */
#include "netgen/absence.h"

static const struct net_type type_instant = {NET_INSTANT, 0};

/* Are values of TYPE equal when their slots are? */
static bool is_exact(struct net_type type) {
  return net_type_slots(type.base) == 1 && type.base != NET_INSTANT;
}

static bool is_of(const struct ng_node *side, const struct ng_expr *expr) {
  return !ng_expr_can_fail(expr) && !ng_expr_reads_nothing(expr) && ng_expr_fits(expr, side);
}

/* An equality of what is computed of one side with what is computed of the other: columns, below NODE if need be. */
static bool is_key(struct ng_plan *plan, struct ng_node *node, const struct ng_expr *conjunct,
                   struct ng_key *ret) {
  if (conjunct->op != NG_EQ || !is_exact(conjunct->args[0]->type) ||
      conjunct->args[0]->type.base != conjunct->args[1]->type.base)
    return false;
  for (unsigned swap = 0; swap < 2; swap++) {
    const struct ng_expr *left = conjunct->args[swap], *right = conjunct->args[!swap];
    if (!is_of(node->inputs[0], left) || !is_of(node->inputs[1], right)) continue;
    ret->left = ng_node_compute(plan, &node->inputs[0], left, NULL);
    ret->right = ng_node_compute(plan, &node->inputs[1], right, NULL);
    return true;
  }
  return false;
}

/* The conjuncts of WHERE become keys of NODE, selections on its right side, and its condition. */
static void add_where(struct ng_plan *plan, struct ng_node *node, const struct ng_expr *where) {
  struct ng_exprs conjuncts = {0};
  if (where) ng_expr_conjuncts(plan->arena, where, &conjuncts);
  node->keys = BASE_NEW_ARRAY(plan->arena, conjuncts.count, struct ng_key);
  for (size_t i = 0; i < conjuncts.count; i++) {
    const struct ng_expr *conjunct = conjuncts.items[i];
    struct ng_key key;
    if (is_key(plan, node, conjunct, &key))
      node->keys[node->key_count++] = key;
    else if (!ng_expr_can_fail(conjunct) && !ng_expr_reads_nothing(conjunct) &&
             ng_expr_fits(conjunct, node->inputs[1]))
      node->inputs[1] = ng_node_select(plan, node->inputs[1], conjunct);
    else
      node->expr = ng_expr_and(plan->arena, node->expr, conjunct);
  }
}

/* --- how far partners may lie apart */

struct reaching {
  const struct ng_node *node;
  const struct ng_column **columns;
  size_t count;
};

static uint32_t slot_of(void *context, const struct ng_column *column) {
  struct reaching *reaching = context;
  for (size_t i = 0; i < reaching->count; i++)
    if (reaching->columns[i] == column) return (uint32_t)(2 * i);
  reaching->columns[reaching->count++] = column;
  return (uint32_t)(2 * (reaching->count - 1));
}

/* Can rows be partners of which those of PORT have all their instants at TIME or later, and the others at 0? */
static bool may_be(const struct reaching *reaching, const struct net_program *program,
                   union net_slot *row, unsigned port, net_chronon time) {
  struct net_value value;
  for (size_t i = 0; i < reaching->count; i++) {
    bool later = ng_node_has(reaching->node->inputs[port], reaching->columns[i]);
    row[2 * i].i = later ? time : 0;
    row[2 * i + 1].i = later ? NET_FOREVER : 0;
  }
  return net_program_run(program, row, NET_FOREVER, &value) != NET_EVAL_OK ||
         value.truth != NET_FALSE;
}

static int64_t reach(struct ng_plan *plan, const struct ng_node *node, unsigned port) {
  struct reaching reaching = {.node = node};
  reaching.columns = BASE_NEW_ARRAY(plan->arena, plan->column_count + 1, const struct ng_column *);
  const struct net_program *program =
      ng_expr_compile(plan->arena, node->times, plan->timeline, plan->strings, slot_of, &reaching);
  union net_slot *row = BASE_NEW_ARRAY(plan->arena, 2 * reaching.count + 2, union net_slot);
  net_chronon before = -1, over = NET_FOREVER - 1;
  if (may_be(&reaching, program, row, port, over)) return -1;
  while (over - before > 1) {
    net_chronon middle = before + (over - before) / 2;
    if (may_be(&reaching, program, row, port, middle))
      before = middle;
    else
      over = middle;
  }
  return over;
}

/* --- what was lost */

/* The constant that a selection between NODE's right input and LEAF says COLUMN is equal to, or NULL. */
static const struct ng_expr *constant_of(const struct ng_node *node, const struct ng_node *leaf,
                                         const struct ng_column *column) {
  for (const struct ng_node *below = node->inputs[1]; below != leaf; below = below->inputs[0]) {
    const struct ng_expr *expr = below->expr;
    bool selects = below->kind == NET_NODE_SELECTION && expr->op == NG_EQ;
    for (unsigned side = 0; selects && side < 2; side++) {
      const struct ng_expr *other = expr->args[!side];
      bool constant = other->op == NG_STRING || other->op == NG_INTEGER;
      if (constant && expr->args[side]->op == NG_COLUMN && expr->args[side]->column == column)
        return other;
    }
  }
  return NULL;
}

static const struct ng_column *key_of(const struct ng_node *node, const struct ng_column *column) {
  for (size_t k = 0; k < node->key_count; k++)
    if (node->keys[k].right == column) return node->keys[k].left;
  return NULL;
}

/* Do all partners of a row come from one entity of RELATION, whose tuples LEAF has? */
static bool names_entity(const struct ng_node *node, const struct ng_relation *relation,
                         const struct ng_node *leaf) {
  for (size_t i = 0; i < relation->entity.count; i++) {
    const struct ng_column *column = leaf->fields.items[relation->entity.fields[i]];
    if (!key_of(node, column) && !constant_of(node, leaf, column)) return false;
  }
  return relation->entity.count > 0 &&
         (relation->kind == NG_REL_TRACED || relation->kind == NG_REL_SAMPLED);
}

/* The tuples of the absent variable, which LEAF has, that may be missing. */
static void add_lost(struct ng_plan *plan, const struct ng_query *query, struct ng_node *node,
                     const struct ng_node *leaf) {
  const struct ng_lost *lost = query->lost ? query->lost[node->absence->variable] : NULL;
  if (!lost) return;
  const struct ng_column *process = NULL;
  const struct ng_expr *constant = NULL;
  if (lost->process >= 0) {
    process = key_of(node, leaf->fields.items[lost->process]);
    constant = constant_of(node, leaf, leaf->fields.items[lost->process]);
  }
  node->lost = BASE_NEW(plan->arena, struct ng_node_lost);
  *node->lost = (struct ng_node_lost){1, process, &lost->times[NG_LOST_START][process || constant]};
  node->lost_count = 1;
  node->lost_process = constant && constant->op == NG_STRING ? constant->string : 0;
  node->lost_within = lost->within;
  node->lost_until_next =
      names_entity(node, query->variables[node->absence->variable].relation, leaf);
}

/* --- the nodes */

struct ng_node *ng_anti_join(struct ng_plan *plan, const struct ng_query *query,
                             const struct ng_absence *absence, struct ng_node *top,
                             struct ng_node *right, const struct ng_expr *where,
                             const struct ng_expr *when) {
  struct ng_node *node = ng_node_new(plan, NET_NODE_ANTI_JOIN, top, right);
  node->absence = absence;
  add_where(plan, node, where);
  add_lost(plan, query, node, right);
  node->expr = ng_expr_and(plan->arena, node->expr, when);
  node->times = when;
  for (unsigned port = 0; port < 2; port++) node->reach[port] = reach(plan, node, port);
  ng_node_refresh(plan, node);
  return node;
}

struct ng_node *ng_difference(struct ng_plan *plan, const struct ng_query *query,
                              const struct ng_absence *absence, struct ng_node *top,
                              struct ng_node *right, const struct ng_expr *where,
                              size_t kept_fields) {
  struct ng_node *node = ng_node_new(plan, NET_NODE_DIFFERENCE, top, right);
  node->absence = absence;
  add_where(plan, node, where);
  add_lost(plan, query, node, right);
  node->kept_fields = kept_fields;
  node->own_start = ng_column_new(plan, top->start->name, type_instant, false);
  node->own_stop = ng_column_new(plan, top->stop->name, type_instant, true);
  ng_node_refresh(plan, node);
  return node;
}
