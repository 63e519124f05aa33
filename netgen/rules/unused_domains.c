/* Unused domains (thesis 7.2.1, appendix F: flow analysis of the domains): from the results down,
 * which columns does anybody read?
 *
 *   - access nodes and products have only those that are read above (a product's own overlap test, and
 *     what says how long it keeps rows, reads the times of its inputs, not of its output);
 *   - what a join compares, by its keys and in its predicate, is read below it, and need not be in its
 *     own rows;
 *   - an apply whose column nobody reads is left out, unless it can fail: the error counts;
 *   - a switch-disposition reads no stop, so the projection below it makes the event itself;
 *   - where a selection leaves one entity only, event-to-period need not tell entities apart.
 *
 * Results keep all their domains, and so does everything below an aggregate: its set S(t) is over
 * all explicit domains. Elsewhere a relation with fewer domains may hold rows twice; the result is
 * a set all the same. What closes has the id of what it closes, whatever they look like. But where an
 * expression can fail over rows that may be open, everything stays that tells tuples apart: of a traced
 * relation the entity and the start, of other relations all domains. Messages name the tuple by it. */
#include "netgen/budget.h"

#include <string.h>

#include "netgen/expr.h"
#include "netgen/rules/rules.h"

struct needs {
  bool **of; /* by index into plan->nodes: the columns of its output that are read */
  struct ng_plan *plan;
};

static bool *needs_of(const struct needs *needs, const struct ng_node *node) {
  return needs->of[ng_plan_index(needs->plan, node)];
}

static void need(bool *set, const struct ng_column *column) {
  if (column) set[column->id] = true;
}

static void need_all(bool *set, const struct ng_node *node) {
  need(set, node->start);
  need(set, node->stop);
  for (size_t i = 0; i < node->fields.count; i++) need(set, node->fields.items[i]);
}

/* A product's test reads its participants' times; the full rule only their starts. */
static void need_participants(struct ng_plan *plan, const struct ng_node *product,
                              struct needs *needs) {
  for (unsigned port = 0; port < 2; port++) {
    bool *below = needs_of(needs, product->inputs[port]);
    struct ng_participants participants = {0};
    ng_node_participants(plan, product->inputs[port], &participants);
    for (size_t i = 0; i < product->expiry_counts[port]; i++)
      need(below, product->expiries[port][i].instant);
    for (size_t i = 0; i < participants.count; i++) {
      if (ng_columns_have(&product->untested, participants.items[i].start)) continue;
      need(below, participants.items[i].start);
      if (product->rule == NET_PRODUCT_OVERLAP &&
          !ng_product_takes_event(product, participants.items[i])) {
        need(below, participants.items[i].stop);
      }
    }
  }
}

static void need_columns(bool *set, const struct ng_columns *columns) {
  for (size_t i = 0; i < columns->count; i++) need(set, columns->items[i]);
}

/* What tells the tuples of NODE's rows apart. */
static void need_identity(bool *set, const struct ng_node *node) {
  while (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY ||
         node->kind == NET_NODE_COMPENSATE)
    node = node->inputs[0];
  if (ng_node_is_product(node)) {
    need_identity(set, node->inputs[0]);
    need_identity(set, node->inputs[1]);
    return;
  }
  need(set, node->start);
  if (node->kind == NET_NODE_EVENT_TO_PERIOD) {
    need_columns(set, &node->by_columns);
  } else if (node->kind == NET_NODE_AGGREGATE) {
    for (size_t i = 0; i + 1 < node->own.count; i++) need(set, node->own.items[i]);
  } else {
    need_columns(set, &node->fields);
  }
}

/* Can rows that have the columns of SET be open? */
static bool may_be_open(const struct ng_node *node, const bool *set) {
  if (node->stop) return node->stop->openable;
  for (size_t i = 0; i < node->fields.count; i++) {
    if (node->fields.items[i]->openable && set[node->fields.items[i]->id]) return true;
  }
  return false;
}

static void need_keys(const struct ng_node *node, bool *left, bool *right) {
  for (size_t i = 0; i < node->key_count; i++) {
    need(left, node->keys[i].left);
    need(right, node->keys[i].right);
  }
}

/* Carries NODE's needs down to its inputs. */
static void pass_on(struct ng_plan *plan, const struct ng_node *node, struct needs *needs) {
  bool *own = needs_of(needs, node);
  const struct ng_expr *read = node->expr;
  if (node->kind == NET_NODE_JOIN) read = NULL;
  if (read) ng_expr_mark(read, own);
  if (node->times) ng_expr_mark(node->times, own);
  if (read && ng_expr_can_fail(read) && may_be_open(node, own)) need_identity(own, node);
  if (node->input_count == 0) return;
  if (node->alias || node->kind == NET_NODE_AGGREGATE || node->kind == NET_NODE_DISPLAY) {
    need_all(needs_of(needs, node->inputs[0]), node->inputs[0]);
    return;
  }
  for (unsigned port = 0; port < node->input_count; port++) {
    bool *below = needs_of(needs, node->inputs[port]);
    for (unsigned id = 0; id < plan->column_count; id++) below[id] = below[id] || own[id];
  }
  bool *below = needs_of(needs, node->inputs[0]);
  /* What tells tuples apart. */
  if (node->kind == NET_NODE_CUT || node->kind == NET_NODE_SET || node->kind == NET_NODE_DIFFERENCE)
    need_all(below, node->inputs[0]);
  need(below, node->whose);
  need_columns(below, &node->by_columns);
  need(below, node->start_from);
  need(below, node->stop_from);
  if (!node->carries) need_columns(below, &node->sources);
  bool *right = node->input_count > 1 ? needs_of(needs, node->inputs[1]) : NULL;
  if (node->absence) need_keys(node, below, right);
  if (node->kind == NET_NODE_DIFFERENCE) need(right, node->inputs[1]->stop);
  if (!ng_node_is_product(node)) return;
  need_participants(plan, node, needs);
  const struct ng_expr *predicate = ng_join_rest(plan->arena, node);
  if (predicate) {
    ng_expr_mark(predicate, below);
    ng_expr_mark(predicate, right);
  }
  need_keys(node, below, right);
  if (node->kind != NET_NODE_CLOSEST) return;
  /* Which of its rows are one tuple it tells by all they have. */
  need_all(below, node->inputs[0]);
  need_all(right, node->inputs[1]);
}

static void find_needs(struct ng_plan *plan, struct needs *needs) {
  needs->plan = plan;
  ng_plan_work(plan, plan->node_count * plan->column_count / 4);
  needs->of = BASE_NEW_ARRAY(plan->arena, plan->node_count, bool *);
  for (size_t i = 0; i < plan->node_count; i++) {
    needs->of[i] = BASE_NEW_ARRAY(plan->arena, plan->column_count + 1, bool);
  }
  for (size_t i = 0; i < plan->query_count; i++) {
    if (plan->queries[i].inner) continue;
    need_all(needs_of(needs, plan->queries[i].result), plan->queries[i].result);
  }
  for (size_t i = plan->node_count; i-- > 0;) pass_on(plan, plan->nodes[i], needs);
}

bool *const *ng_plan_needs(struct ng_plan *plan) {
  struct needs needs;
  find_needs(plan, &needs);
  return needs.of;
}

/* --- the changes */

static size_t drop_fields(struct ng_plan *plan, struct ng_node *node, const bool *read) {
  size_t dropped = 0;
  for (size_t i = 0; i < node->fields.count; i++) dropped += !read[node->fields.items[i]->id];
  if (!dropped) return 0;
  node->keep_count = plan->column_count;
  node->keep = BASE_NEW_ARRAY(plan->arena, node->keep_count, bool);
  memcpy(node->keep, read, node->keep_count * sizeof *read);
  return dropped;
}

/* Of a projection that has its input's columns. */
static void carry_less(struct ng_plan *plan, struct ng_node *node, const bool *read) {
  struct ng_columns carried = {0};
  for (size_t i = 0; i < node->own.count; i++)
    if (read[node->own.items[i]->id]) ng_columns_add(plan->arena, &carried, node->own.items[i]);
  node->own = node->sources = carried;
}

static size_t drop_applies(struct ng_plan *plan, const struct needs *needs) {
  size_t dropped = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->kind != NET_NODE_APPLY || needs->of[i][node->own.items[0]->id]) continue;
    if (ng_expr_can_fail(node->expr)) continue;
    ng_plan_replace(plan, node, node->inputs[0]);
    dropped++;
  }
  return dropped;
}

bool ng_switch_merge(struct ng_plan *plan, struct ng_node *node) {
  struct ng_node *projection = node->inputs[0];
  if (node->kind != NET_NODE_SWITCH_DISPOSITION || projection->kind != NET_NODE_PROJECTION ||
      ng_node_readers(plan, projection) != 1 ||
      !ng_node_is_own_period(projection->inputs[0], projection->start_from, projection->stop_from))
    return false;
  projection->own_stop = NULL;
  projection->stop_from = NULL;
  ng_plan_replace(plan, node, projection);
  return true;
}

static size_t merge_switches(struct ng_plan *plan) {
  size_t merged = 0;
  for (size_t i = 0; i < plan->node_count; i++) merged += ng_switch_merge(plan, plan->nodes[i]);
  return merged;
}

static bool fixes(const struct ng_expr *expr, const struct ng_column *column) {
  if (expr->op != NG_EQ) return false;
  const struct ng_expr *a = expr->args[0], *b = expr->args[1];
  return (a->op == NG_COLUMN && a->column == column && ng_expr_reads_nothing(b)) ||
         (b->op == NG_COLUMN && b->column == column && ng_expr_reads_nothing(a));
}

/* Do selections below NODE, an event-to-period, leave records of one value of COLUMN only? */
static bool is_fixed(const struct ng_node *node, const struct ng_column *column) {
  if (!column) return false;
  for (const struct ng_node *below = node->inputs[0]; below->kind == NET_NODE_SELECTION;
       below = below->inputs[0])
    if (fixes(below->expr, column)) return true;
  return false;
}

/* What is the same in all records tells none of them apart. */
static size_t single_entities(struct ng_plan *plan) {
  size_t found = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    struct ng_columns *entity = &node->by_columns;
    if (node->kind != NET_NODE_EVENT_TO_PERIOD || !entity->count) continue;
    size_t kept = 0;
    for (size_t k = 0; k < entity->count; k++)
      if (!is_fixed(node, entity->items[k])) entity->items[kept++] = entity->items[k];
    entity->count = kept;
    found += !kept;
  }
  return found;
}

static void say(struct ng_plan *plan, size_t count, const char *one, const char *many) {
  if (!count) return;
  ng_rule_changed(plan, NG_RULE_UNUSED_DOMAINS, count, "%zu %s", count, count == 1 ? one : many);
}

void ng_rule_unused_domains(struct ng_plan *plan) {
  struct needs needs;
  size_t switches = merge_switches(plan), entities = single_entities(plan), applies = 0, dropped;
  do { /* an apply may have been the only reader of another */
    ng_plan_refresh(plan);
    find_needs(plan, &needs);
    dropped = drop_applies(plan, &needs);
    applies += dropped;
  } while (dropped);
  size_t fields = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->carries) {
      carry_less(plan, node, needs.of[i]);
      ng_node_refresh(plan, node);
    }
    if (node->alias || (node->kind != NET_NODE_ACCESS && !ng_node_is_product(node))) continue;
    fields += drop_fields(plan, node, needs.of[i]);
    ng_node_refresh(plan, node);
  }
  say(plan, fields, "domain dropped", "domains dropped");
  say(plan, applies, "apply dropped", "applies dropped");
  say(plan, switches, "switch-disposition merged into its projection",
      "switch-dispositions merged into their projections");
  say(plan, entities, "event-to-period of a single entity", "event-to-periods of a single entity");
}
