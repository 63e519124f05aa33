/* Merged aggregates: several functions of the same tuples in the same groups are one node.
 *
 *      join overlap, n.k = s.k                           join overlap, p.k = n.k
 *        /        \                                        /          \
 *      join        sum(p.x by p.k)                    access p     count(p), sum(p.x) by p.k
 *      p.k = n.k          |                  ==>          \            |
 *      /     \            |                                 \----- access p
 *  access p  count(p by p.k)
 *      \______|___________|
 *
 * Aggregates of one query that read the same rows, group by the same columns, and ask the same of a tuple
 * (where, when) look up, group, and take away the same tuples; the products above then find again which
 * segments belong together. One node does all of that once: its periods end where a value of any of its
 * functions changes, which are those that the overlap product of their segments makes, and it says of a
 * group what a row of each of them would. Omega is what all of them are at the same time.
 *
 * The first aggregate stands for the second, B, if B comes in by an overlap product with nothing else to
 * say than that the groups are the same: then the product goes. Between the two there may be other
 * products, which combine with the finer segments what they combined with the longer ones. The times of
 * either aggregate alone may not be read, nor may others read its rows. Only what the engine takes is
 * merged (engine/network.h): count, any, sum, avg, min and max of sets of tuples or in a summary, and of their domains.
 *
 * It comes behind common-subnetworks, which finds out what reads the same. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

/* --- what may be merged */

static bool has_function(const struct ng_aggregate *aggregate) {
  switch (aggregate->function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
    case NET_AGG_SUM:
    case NET_AGG_AVG:
    case NET_AGG_MIN:
    case NET_AGG_MAX:
      return true;
    default:
      return false;
  }
}

/* The place of COLUMN among the fields of what NODE reads; -1: it is NULL, or none of them. */
static int place_of(const struct ng_node *node, const struct ng_column *column) {
  const struct ng_columns *fields = &node->inputs[0]->fields;
  for (size_t i = 0; i < fields->count; i++)
    if (fields->items[i] == column) return (int)i;
  return -1;
}

static bool is_mergeable(const struct ng_plan *plan, const struct ng_node *node) {
  if (node->kind != NET_NODE_AGGREGATE || node->alias || node->apart) return false;
  const struct ng_aggregate *aggregate = node->aggregate;
  bool counts_now = !aggregate->cumulative && !aggregate->window;
  if (!has_function(aggregate) || aggregate->unique || (!counts_now && !aggregate->summary))
    return false;
  if (aggregate->passes) return false; /* it is told of what is not here */
  if (ng_node_readers(plan, node) != 1) return false;
  if (!node->argument) return true;
  int place = place_of(node, node->argument);
  enum net_base_type type = node->argument->type.base;
  return place >= 0 && place < (int)node->domain_fields &&
         (type == NET_INTEGER || type == NET_FLOAT);
}

static const struct ng_node *source_of(const struct ng_node *node) {
  const struct ng_node *input = node->inputs[0];
  while (input->alias) input = input->inputs[0];
  return input;
}

static bool is_same_place(const struct ng_node *a, const struct ng_column *of_a,
                          const struct ng_node *b, const struct ng_column *of_b) {
  return (of_a == NULL) == (of_b == NULL) && place_of(a, of_a) == place_of(b, of_b);
}

static bool are_alike(const struct ng_node *a, const struct ng_node *b) {
  if (a->query != b->query || source_of(a) != source_of(b)) return false;
  if (a->domain_fields != b->domain_fields || a->groups_of_all != b->groups_of_all ||
      a->groups_sure != b->groups_sure)
    return false;
  if (!is_same_place(a, a->where, b, b->where) || !is_same_place(a, a->when, b, b->when) ||
      !is_same_place(a, a->unless, b, b->unless))
    return false;
  if (a->by_columns.count != b->by_columns.count) return false;
  for (size_t i = 0; i < a->by_columns.count; i++)
    if (!is_same_place(a, a->by_columns.items[i], b, b->by_columns.items[i])) return false;
  return true;
}

/* --- who reads the times of an aggregate */

static bool is_read(const struct ng_plan *plan, const struct ng_column *column) {
  for (size_t i = 0; i < plan->node_count; i++)
    if (ng_node_refers(plan->nodes[i], column)) return true;
  return false;
}

static bool times_are_read(const struct ng_plan *plan, const struct ng_node *aggregate) {
  return is_read(plan, aggregate->own_start) || is_read(plan, aggregate->own_stop);
}

/* --- the product that goes */

/* One that says nothing but which groups go together. Cuts go by the number of fields. */
static bool may_go(struct ng_plan *plan, const struct ng_node *product) {
  if (product->kind != NET_NODE_PRODUCT && product->kind != NET_NODE_JOIN) return false;
  if (product->alias || product->rule != NET_PRODUCT_OVERLAP || !product->stop) return false;
  if (product->as_events.count || product->untested.count) return false;
  if (ng_join_rest(plan->arena, product) || ng_node_readers(plan, product) != 1) return false;
  for (const struct ng_node *node = product; node; node = ng_node_reader(plan, node)) {
    if (node->kind == NET_NODE_CUT) return false;
    if (node->kind == NET_NODE_PROJECTION) return true;
  }
  return false;
}

/* What may be between: what rows of the product go through on their way up, and nobody else's. */
static bool is_between(const struct ng_plan *plan, const struct ng_node *node) {
  if (node->alias || ng_node_readers(plan, node) != 1) return false;
  if (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY) return true;
  return (node->kind == NET_NODE_PRODUCT || node->kind == NET_NODE_JOIN) &&
         node->rule == NET_PRODUCT_OVERLAP;
}

/* Is column A equal to column B in the rows of TOP, by the keys of the joins down to A's? */
static bool are_equal(const struct ng_plan *plan, const struct ng_node *top,
                      const struct ng_column *a, const struct ng_column *b) {
  if (a == b) return true;
  for (const struct ng_node *node = top; is_between(plan, node); node = node->inputs[0])
    for (size_t i = 0; i < node->key_count; i++)
      if ((node->keys[i].left == a && node->keys[i].right == b) ||
          (node->keys[i].left == b && node->keys[i].right == a))
        return true;
  return false;
}

/* The column of the left side by which PRODUCT finds the group of RIGHT's column AT; NULL: none. */
static const struct ng_column *key_for(const struct ng_node *product, const struct ng_node *right,
                                       size_t at) {
  for (size_t i = 0; i < product->key_count; i++)
    if (product->keys[i].right == right->own.items[at]) return product->keys[i].left;
  return NULL;
}

/* Do the rows of PRODUCT have A and B, which comes in there, of the same group? */
static bool are_together(const struct ng_plan *plan, const struct ng_node *product,
                         const struct ng_node *a, const struct ng_node *b) {
  size_t groups = b->by_columns.count;
  if (product->key_count != groups) return false;
  for (size_t i = 0; i < groups; i++) {
    const struct ng_column *key = key_for(product, b, i);
    if (!key || !are_equal(plan, product->inputs[0], key, a->own.items[i])) return false;
  }
  return true;
}

/* An aggregate below PRODUCT that may stand for B. */
static struct ng_node *find_below(const struct ng_plan *plan, const struct ng_node *product,
                                  const struct ng_node *b) {
  struct ng_node *node = product->inputs[0];
  for (;; node = node->inputs[0]) {
    struct ng_node *a = node;
    if (is_between(plan, node) && node->input_count == 2) a = node->inputs[1];
    if (is_mergeable(plan, a) && are_alike(a, b) && !times_are_read(plan, a) &&
        are_together(plan, product, a, b))
      return a;
    if (!is_between(plan, node)) return NULL;
  }
}

/* --- the change */

static void keep(struct ng_plan *plan, struct ng_node *node, const struct ng_column *column) {
  if (!node->keep) return;
  bool *kept = BASE_NEW_ARRAY(plan->arena, plan->column_count, bool);
  for (size_t i = 0; i < node->keep_count && i < plan->column_count; i++) kept[i] = node->keep[i];
  kept[column->id] = true;
  node->keep = kept;
  node->keep_count = plan->column_count;
}

/* What is above PRODUCT and keeps COLUMN keeps OTHER, which stands for it from now on. */
static void keep_above(struct ng_plan *plan, const struct ng_node *product,
                       const struct ng_column *column, const struct ng_column *other) {
  for (struct ng_node *node = ng_node_reader(plan, product); node != NULL;
       node = ng_node_reader(plan, node))
    if (node->keep && column->id < node->keep_count && node->keep[column->id])
      keep(plan, node, other);
}

static void add_function(struct ng_plan *plan, struct ng_node *a, const struct ng_node *b) {
  struct ng_more_aggregate *more =
      BASE_NEW_ARRAY(plan->arena, a->more_count + 1 + b->more_count, struct ng_more_aggregate);
  for (size_t i = 0; i < a->more_count; i++) more[i] = a->more[i];
  int place = place_of(b, b->argument);
  more[a->more_count++] =
      (struct ng_more_aggregate){.aggregate = b->aggregate,
                                 .name = b->name,
                                 .argument = place < 0 ? NULL : a->inputs[0]->fields.items[place],
                                 .some_only = b->some_only};
  a->more = more;
}

static void merge(struct ng_plan *plan, struct ng_node *product, struct ng_node *a) {
  struct ng_node *b = product->inputs[1], *top = product->inputs[0];
  const struct ng_column *value = b->own.items[b->own.count - 1];
  for (size_t i = 0; i < b->by_columns.count; i++) {
    const struct ng_column *key = key_for(product, b, i);
    keep_above(plan, product, b->own.items[i], key);
    ng_plan_exchange(plan, b->own.items[i], key);
  }
  add_function(plan, a, b);
  ng_columns_add(plan->arena, &a->own, value);
  for (struct ng_node *node = top; node != a && is_between(plan, node); node = node->inputs[0]) {
    keep(plan, node, value);
    if (node->input_count == 2 && node->inputs[1] == a) break;
  }
  ng_plan_exchange(plan, product->own_start, top->start);
  ng_plan_exchange(plan, product->own_stop, top->stop);
  ng_plan_replace(plan, product, top);
  ng_plan_refresh(plan);
}

/* One product that goes; false: there is none. */
static bool merge_one(struct ng_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *product = plan->nodes[i];
    if (product->input_count != 2 || !is_mergeable(plan, product->inputs[1])) continue;
    struct ng_node *b = product->inputs[1];
    if (b->more_count || !may_go(plan, product) || !product->inputs[0]->stop) continue;
    if (times_are_read(plan, b)) continue;
    struct ng_node *a = find_below(plan, product, b);
    if (!a) continue;
    merge(plan, product, a);
    return true;
  }
  return false;
}

void ng_rule_merged_aggregates(struct ng_plan *plan) {
  size_t merged = 0;
  while (merge_one(plan)) merged++;
  if (merged)
    ng_rule_changed(plan, NG_RULE_MERGED_AGGREGATES, merged,
                    "%zu function%s computed beside others", merged, merged == 1 ? "" : "s");
}
