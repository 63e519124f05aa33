/* Product order: in which order several inputs are multiplied is free, because relations are sets.
 *
 *      product                        product
 *      /     \                        /     \
 *   product   G                    product   F        when E , G.start and F , G.start
 *   /    \              ==>        /    \
 *  E      F                       E      G
 *
 * Two inputs that no condition connects make all their combinations. So each input comes after one that
 * it is connected with, best by a test of overlap (then product-rule has its pair), next by a condition
 * that bounds their times, last by an equality, which becomes a hash key; one of three inputs is no key of
 * any two of them, and connects none. Among equals the statement's order stays, and so it does where nothing
 * is better.
 *
 * Where the session says how many tuples the relations have (ng_plan_set_statistics), the order with the
 * fewest estimated rows on the way is taken (estimate.c), of those that are as well connected. It says so
 * only of queries that run once over what is closed: what bounds the state of one that stands, and how far
 * its checkpoint comes, must not depend on what is stored.
 *
 * The rule comes before predicates-down, while all conditions stand above all products. A tree has
 * products of one rule only. */
#include "netgen/plan.h"

#include "netgen/estimate.h"
#include "netgen/expr.h"

enum {
  INPUTS_MAX = 32,  /* of more the order stays */
  PERMUTED_MAX = 7, /* of more not all orders are looked at */
  BY_OVERLAP = 4,   /* how two inputs are connected */
  BY_TIME = 2,
  BY_KEY = 1,
};

struct tree {
  struct ng_plan *plan;
  struct ng_node *inputs[INPUTS_MAX];
  struct ng_node *products[INPUTS_MAX]; /* from below upwards, the last is the top */
  size_t count, product_count;
  unsigned connected[INPUTS_MAX][INPUTS_MAX];
};

struct order {
  size_t at[INPUTS_MAX];
  unsigned connection; /* how well connected, summed up */
  double rows;         /* estimated, of all products but the last */
};

static bool is_plain(const struct ng_node *node, enum net_product_rule rule) {
  return node->kind == NET_NODE_PRODUCT && node->rule == rule && !node->expr &&
         !node->as_events.count;
}

static bool collect(struct tree *tree, struct ng_node *node, enum net_product_rule rule) {
  if (!is_plain(node, rule)) {
    if (tree->count == INPUTS_MAX) return false;
    tree->inputs[tree->count++] = node;
    return true;
  }
  if (tree->product_count > 0 && ng_node_readers(tree->plan, node) != 1) return false;
  tree->product_count++;
  if (!collect(tree, node->inputs[0], rule) || !collect(tree, node->inputs[1], rule)) return false;
  if (tree->count > INPUTS_MAX) return false;
  return true;
}

/* The products of the tree, inputs before readers. */
static void add_products(struct tree *tree, struct ng_node *node, enum net_product_rule rule,
                         size_t *count) {
  if (!is_plain(node, rule)) return;
  add_products(tree, node->inputs[0], rule, count);
  add_products(tree, node->inputs[1], rule, count);
  tree->products[(*count)++] = node;
}

/* --- what connects */

static uint32_t inputs_of(const struct tree *tree, const struct ng_expr *expr) {
  uint32_t found = 0;
  if (expr->op == NG_COLUMN) {
    for (size_t i = 0; i < tree->count; i++) {
      if (ng_node_has(tree->inputs[i], expr->column)) found |= UINT32_C(1) << i;
    }
  }
  for (unsigned i = 0; i < expr->arg_count; i++) found |= inputs_of(tree, expr->args[i]);
  return found;
}

static bool is_one(uint32_t inputs) {
  return inputs != 0 && (inputs & (inputs - 1)) == 0;
}

static unsigned connection_by(const struct tree *tree, const struct ng_node *selection) {
  const struct ng_expr *expr = selection->expr;
  switch (expr->op) {
    case NG_OVERLAP_PERIODS:
    case NG_OVERLAP_EVENT:
    case NG_EQUAL_INSTANTS:
    case NG_EQUAL_PERIODS:
      return BY_OVERLAP;
    case NG_BEFORE:
    case NG_NOT_AFTER:
    case NG_WITHIN:
    case NG_CONTAIN:
      return BY_TIME;
    case NG_EQ: {
      uint32_t left = inputs_of(tree, expr->args[0]), right = inputs_of(tree, expr->args[1]);
      bool pair = is_one(left) && is_one(right) && left != right;
      return pair && ng_selection_moves(selection) ? BY_KEY : 0;
    }
    default:
      return 0;
  }
}

static void connect(struct tree *tree, const struct ng_expr *expr, unsigned connection) {
  uint32_t inputs = inputs_of(tree, expr);
  for (size_t i = 0; i < tree->count; i++) {
    for (size_t j = 0; j < tree->count; j++) {
      if (i != j && inputs >> i & 1 && inputs >> j & 1) tree->connected[i][j] |= connection;
    }
  }
}

static void find_connections(struct tree *tree) {
  const struct ng_node *node = tree->products[tree->product_count - 1];
  while ((node = ng_node_reader(tree->plan, node)) != NULL) {
    if (node->kind == NET_NODE_SELECTION) {
      unsigned connection = connection_by(tree, node);
      if (connection) connect(tree, node->expr, connection);
    } else if (node->kind == NET_NODE_PROJECTION && node->stop_from) {
      /* what has nothing in common is no tuple */
      const struct ng_node *maker = ng_node_maker(node, node->start_from);
      if (maker && maker->expr->op == NG_LATER) connect(tree, maker->expr, BY_OVERLAP);
    }
    if (node->kind != NET_NODE_SELECTION && node->kind != NET_NODE_APPLY &&
        !ng_node_is_product(node))
      break;
  }
}

/* The connections of INPUT with the first COUNT of ORDER. */
static unsigned connection_with(const struct tree *tree, const struct order *order, size_t count,
                                size_t input) {
  unsigned connection = 0;
  for (size_t i = 0; i < count; i++) connection |= tree->connected[order->at[i]][input];
  return connection;
}

/* --- orders */

/* The statement's order, as far as each input is connected with one before it. */
static void order_as_written(const struct tree *tree, struct order *ret) {
  bool taken[INPUTS_MAX] = {false};
  for (size_t place = 0; place < tree->count; place++) {
    size_t best = tree->count;
    unsigned most = 0;
    for (size_t i = 0; i < tree->count; i++) {
      if (taken[i]) continue;
      unsigned connection = connection_with(tree, ret, place, i);
      if (best < tree->count && connection <= most) continue;
      best = i;
      most = connection;
    }
    taken[best] = true;
    ret->at[place] = best;
    ret->connection += most;
  }
}

/* Rows of all products on the way. */
static double rows_of(const struct tree *tree, const struct ng_estimate *estimate,
                      const struct order *order) {
  bool overlap = tree->products[0]->rule == NET_PRODUCT_OVERLAP;
  double rows = estimate->rows[order->at[0]], sum = 0;
  for (size_t place = 1; place + 1 < tree->count; place++) {
    size_t input = order->at[place];
    double in_time = 1;
    rows *= estimate->rows[input];
    for (size_t i = 0; i < place; i++) {
      unsigned connection = tree->connected[order->at[i]][input];
      double share = ng_estimate_share(estimate, order->at[i], input);
      if (connection & BY_KEY) rows *= share;
      if ((overlap || connection & (BY_OVERLAP | BY_TIME)) && share < in_time) in_time = share;
    }
    rows *= in_time;
    if (rows < 1) rows = 1;
    sum += rows;
  }
  return sum;
}

struct search {
  const struct tree *tree;
  const struct ng_estimate *estimate;
  unsigned least_connection;
  bool taken[INPUTS_MAX];
  struct order now, best;
  bool found;
};

static void try_orders(struct search *search, size_t place, unsigned connection) {
  const struct tree *tree = search->tree;
  if (place == tree->count) {
    double rows = rows_of(tree, search->estimate, &search->now);
    if (connection < search->least_connection || (search->found && rows >= search->best.rows))
      return;
    search->best = search->now;
    search->best.rows = rows;
    search->found = true;
    return;
  }
  for (size_t i = 0; i < tree->count; i++) {
    if (search->taken[i]) continue;
    search->taken[i] = true;
    search->now.at[place] = i;
    try_orders(search, place + 1, connection + connection_with(tree, &search->now, place, i));
    search->taken[i] = false;
  }
}

static bool is_changed(const struct tree *tree, const struct order *order) {
  for (size_t i = 0; i < tree->count; i++) {
    if (order->at[i] != i) return true;
  }
  return false;
}

/* The top stays the top, because what is above refers to its own times. */
static void put_in_order(struct tree *tree, const struct order *order) {
  struct ng_node *below = tree->inputs[order->at[0]];
  for (size_t i = 0; i < tree->product_count; i++) {
    struct ng_node *product = tree->products[i];
    product->inputs[0] = below;
    product->inputs[1] = tree->inputs[order->at[i + 1]];
    below = product;
  }
}

/* Puts the inputs of the tree below TOP in order; *RET_LESS: what the estimate gains, as a text. */
static bool reorder(struct ng_plan *plan, struct ng_node *top, const char **ret_less) {
  struct tree tree = {.plan = plan};
  struct order order = {.connection = 0};
  size_t count = 0;
  if (!collect(&tree, top, top->rule) || tree.count < 3) return false;
  add_products(&tree, top, top->rule, &count);
  find_connections(&tree);
  order_as_written(&tree, &order);
  struct ng_estimate estimate;
  if (tree.count <= PERMUTED_MAX &&
      ng_estimate_inputs(plan, tree.inputs, tree.count, top, &estimate)) {
    struct search search = {
        .tree = &tree, .estimate = &estimate, .least_connection = order.connection};
    order.rows = rows_of(&tree, &estimate, &order);
    try_orders(&search, 0, 0);
    if (search.found && search.best.rows < order.rows) {
      *ret_less = base_arena_printf(plan->arena, "about %.3g rows on the way instead of %.3g",
                                    search.best.rows, order.rows);
      order = search.best;
    }
  }
  if (!is_changed(&tree, &order)) return false;
  put_in_order(&tree, &order);
  return true;
}

static bool is_top(const struct ng_plan *plan, const struct ng_node *node) {
  const struct ng_node *reader = ng_node_reader(plan, node);
  return node->kind == NET_NODE_PRODUCT && is_plain(node, node->rule) &&
         !(reader && is_plain(reader, node->rule));
}

void ng_rule_product_order(struct ng_plan *plan) {
  size_t count = plan->node_count, changed = 0;
  const char *less = NULL;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) {
    if (!is_top(plan, nodes[i]) || !reorder(plan, nodes[i], &less)) continue;
    changed++;
    ng_plan_refresh(plan);
  }
  if (!changed) return;
  ng_rule_changed(plan, NG_RULE_PRODUCT_ORDER, changed,
                  "inputs of %zu tree%s of products reordered", changed, changed == 1 ? "" : "s");
  if (less) ng_rule_changed(plan, NG_RULE_PRODUCT_ORDER, 0, "%s", less);
}
