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
 * What comes together decides, too, what is known of a combination, and so whether the next product knows when
 * it can forget: a combination of b and c, where b is before c, comes when c does, and says nothing to one who
 * asks it for b. Where the order that is written leaves something that nothing bounds, other orders in which
 * each input is connected by time with one before it are tried, each by all rules, and the first that leaves
 * least is taken: so a standing query is not refused for the order in which it names its variables. That is
 * left out for what runs once over what is stored, where nothing is kept for long.
 *
 * Where the session says how many tuples the relations have (ng_plan_set_statistics), the order with the
 * fewest estimated rows on the way is taken (estimate.c), of those that are as well connected. It says so
 * only of queries that run once over what is closed: what bounds the state of one that stands, and how far
 * its checkpoint comes, must not depend on what is stored.
 *
 * The rule comes before predicates-down, while all conditions stand above all products. A tree has
 * products of one rule only. */
#include "netgen/budget.h"

#include <string.h>

#include "netgen/estimate.h"
#include "netgen/expr.h"
#include "netgen/rules/rules.h"

enum {
  INPUTS_MAX = 32,  /* of more the order stays */
  PERMUTED_MAX = 7, /* of more not all orders are looked at */
  BY_OVERLAP = 4,   /* how two inputs are connected */
  BY_TIME = 2,
  BY_KEY = 1,
  TRIALS_MAX = 120, /* of other orders of one tree */
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

static struct ng_node *top_of(const struct tree *tree) {
  return tree->products[tree->product_count - 1];
}

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
  const struct ng_node *node = top_of(tree);
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

/* --- orders that bound what is kept */

/* The orders of a plan's trees, in the order in which the rule meets them; without a count: as written. */
struct ng_orders {
  size_t (*at)[INPUTS_MAX];
  size_t *counts;
};

struct bounding {
  const struct ng_plan *plan;
  const bool *queries; /* those that the tree's rows go into, and what these read */
  struct tree *const *trees;
  size_t tree_count, number; /* of the tree */
  struct ng_orders *orders;
  struct order now, best;
  bool taken[INPUTS_MAX];
  size_t least;    /* that nothing bounds */
  unsigned trials; /* left */
};

static void reach(const struct ng_node *node, bool *reached) {
  if (reached[node->number]) return;
  reached[node->number] = true;
  for (unsigned port = 0; port < node->input_count; port++) reach(node->inputs[port], reached);
}

/* Marks the queries that NODE's rows go into, and those that these read. */
static void find_queries(const struct ng_plan *plan, const struct ng_node *node, bool *ret) {
  for (size_t i = 0; i < plan->query_count; i++) {
    bool *reached = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, bool);
    reach(plan->queries[i].result, reached);
    for (size_t j = 0; j <= i && reached[node->number]; j++)
      ret[j] = ret[j] || reached[plan->queries[j].result->number];
  }
}

/* The orders of those trees that are in BOUNDING's queries. */
static const struct ng_orders *orders_of(struct base_arena *arena,
                                         const struct bounding *bounding) {
  struct ng_orders *orders = BASE_NEW(arena, struct ng_orders);
  const struct ng_plan *plan = bounding->plan;
  bool *reached = BASE_NEW_ARRAY(arena, plan->node_count + 1, bool);
  size_t count = 0;
  orders->at = base_arena_array(arena, bounding->tree_count, sizeof *orders->at);
  orders->counts = BASE_NEW_ARRAY(arena, bounding->tree_count, size_t);
  for (size_t i = 0; i < plan->query_count; i++)
    if (bounding->queries[i]) reach(plan->queries[i].result, reached);
  for (size_t i = 0; i < bounding->tree_count; i++) {
    if (!reached[top_of(bounding->trees[i])->number]) continue;
    memcpy(orders->at[count], bounding->orders->at[i], sizeof orders->at[count]);
    orders->counts[count++] = bounding->orders->counts[i];
  }
  return orders;
}

/* How much nothing bounds in a plan of the same queries with these orders. */
static size_t count_unbounded(const struct bounding *bounding) {
  const struct ng_plan *plan = bounding->plan;
  struct base_arena *arena = base_arena_new();
  struct ng_plan *trial = ng_plan_new(arena, plan->strings, plan->timeline);
  trial->budget = plan->budget;
  plan->budget->trial = arena;
  size_t unbounded = 0;
  trial->may_speculate = plan->may_speculate;
  trial->known_until = plan->known_until;
  trial->orders = orders_of(arena, bounding);
  for (size_t i = 0; i < plan->query_count; i++) {
    if (!bounding->queries[i]) continue;
    enum base_status status = ng_plan_add_query(trial, plan->queries[i].query, NULL);
    BASE_CHECK(status == BASE_OK, "added-before");
    if (plan->queries[i].inner) ng_plan_make_inner(trial);
  }
  enum base_status transformed = ng_plan_transform(trial, plan->switches, NULL);
  BASE_CHECK(transformed == BASE_OK, "planned-before");
  for (size_t i = 0; i < trial->node_count; i++) unbounded += ng_node_is_unbounded(trial->nodes[i]);
  plan->budget->trial = NULL;
  base_arena_free(arena);
  return unbounded;
}

/* Orders are tried for a part of what planning may cost, so that no statement is refused for what is tried. */
static bool may_try(const struct bounding *bounding) {
  return bounding->trials > 0 && bounding->least > 0 &&
         ng_plan_steps(bounding->plan) < NG_LIMIT_STEPS / 4;
}

static void try_bounding(struct bounding *bounding) {
  if (!may_try(bounding)) return;
  bounding->trials--;
  memcpy(bounding->orders->at[bounding->number], bounding->now.at, sizeof bounding->now.at);
  bounding->orders->counts[bounding->number] = bounding->trees[bounding->number]->count;
  size_t unbounded = count_unbounded(bounding);
  if (unbounded >= bounding->least) return;
  bounding->least = unbounded;
  bounding->best = bounding->now;
}

/* All orders that begin as the first COUNT of the one that is NOW, the best connected before others. Which of the
 * first two is left and which is right is no matter. */
static void try_all_bounding(struct bounding *bounding, size_t count) {
  const struct tree *tree = bounding->trees[bounding->number];
  unsigned best = BY_OVERLAP | BY_TIME | BY_KEY, least = count > 0 ? BY_TIME : best;
  if (count == tree->count) try_bounding(bounding);
  for (unsigned wanted = best; wanted >= least && count < tree->count; wanted--) {
    for (size_t i = 0; i < tree->count && may_try(bounding); i++) {
      if (bounding->taken[i] || (count == 1 && i < bounding->now.at[0])) continue;
      if (count > 0 && connection_with(tree, &bounding->now, count, i) != wanted) continue;
      bounding->taken[i] = true;
      bounding->now.at[count] = i;
      try_all_bounding(bounding, count + 1);
      bounding->taken[i] = false;
    }
  }
}

/* Can one come by conditions on times from each input to each other one? */
static bool is_connected_by_time(const struct tree *tree) {
  struct order found = {.at = {0}};
  bool taken[INPUTS_MAX] = {true};
  size_t count = 1;
  for (size_t i = 1; i < tree->count; i++) {
    if (taken[i] || connection_with(tree, &found, count, i) < BY_TIME) continue;
    taken[i] = true;
    found.at[count++] = i;
    i = 0; /* from the first one again: the one before is taken */
  }
  return count == tree->count;
}

static void bound(struct bounding *bounding) {
  const struct tree *tree = bounding->trees[bounding->number];
  if (top_of(tree)->rule != NET_PRODUCT_FULL || !is_connected_by_time(tree)) return;
  size_t written = bounding->least = count_unbounded(bounding);
  try_all_bounding(bounding, 0);
  bool better = bounding->least < written;
  struct ng_orders *orders = bounding->orders;
  orders->counts[bounding->number] = better ? tree->count : 0;
  memcpy(orders->at[bounding->number], bounding->best.at, sizeof bounding->best.at);
}

static const struct ng_orders *bounding_orders(struct ng_plan *plan, struct tree *const *trees,
                                               size_t count) {
  struct ng_orders *orders = BASE_NEW(plan->arena, struct ng_orders);
  orders->at = base_arena_array(plan->arena, count, sizeof *orders->at);
  orders->counts = BASE_NEW_ARRAY(plan->arena, count, size_t);
  for (size_t i = 0; i < count; i++) {
    bool *queries = BASE_NEW_ARRAY(plan->arena, plan->query_count, bool);
    find_queries(plan, top_of(trees[i]), queries);
    struct bounding bounding = {.plan = plan,
                                .queries = queries,
                                .trees = trees,
                                .tree_count = count,
                                .orders = orders,
                                .number = i,
                                .trials = TRIALS_MAX};
    bound(&bounding);
  }
  return orders;
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

/* Puts TREE's inputs in order, ORDERS' if that has one for it, the tree with that NUMBER; *RET_LESS: what the
 * estimate gains, or the other order, as a text. */
static bool reorder(struct tree *tree, const struct ng_orders *orders, size_t number,
                    const char **ret_less) {
  struct ng_plan *plan = tree->plan;
  struct order order = {.connection = 0};
  struct ng_estimate estimate;
  order_as_written(tree, &order);
  if (orders && orders->counts[number] > 0) {
    memcpy(order.at, orders->at[number], sizeof order.at);
    *ret_less = "less is kept without end";
  } else if (tree->count <= PERMUTED_MAX &&
             ng_estimate_inputs(plan, tree->inputs, tree->count, top_of(tree), &estimate)) {
    struct search search = {
        .tree = tree, .estimate = &estimate, .least_connection = order.connection};
    order.rows = rows_of(tree, &estimate, &order);
    try_orders(&search, 0, 0);
    if (search.found && search.best.rows < order.rows) {
      *ret_less = base_arena_printf(plan->arena, "about %.3g rows on the way instead of %.3g",
                                    search.best.rows, order.rows);
      order = search.best;
    }
  }
  if (!is_changed(tree, &order)) return false;
  put_in_order(tree, &order);
  return true;
}

static bool is_top(const struct ng_plan *plan, const struct ng_node *node) {
  const struct ng_node *reader = ng_node_reader(plan, node);
  return node->kind == NET_NODE_PRODUCT && is_plain(node, node->rule) &&
         !(reader && is_plain(reader, node->rule));
}

/* The tree below TOP; NULL: there is no choice. */
static struct tree *tree_below(struct ng_plan *plan, struct ng_node *top) {
  struct tree *tree = BASE_NEW(plan->arena, struct tree);
  size_t count = 0;
  tree->plan = plan;
  if (!collect(tree, top, top->rule) || tree->count < 3) return NULL;
  add_products(tree, top, top->rule, &count);
  find_connections(tree);
  return tree;
}

void ng_rule_product_order(struct ng_plan *plan) {
  size_t count = 0, changed = 0;
  const char *less = NULL;
  struct tree **trees = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, struct tree *);
  for (size_t i = 0; i < plan->node_count; i++) {
    if (is_top(plan, plan->nodes[i])) trees[count] = tree_below(plan, plan->nodes[i]);
    count += trees[count] != NULL;
  }
  if (count == 0) return;
  const struct ng_orders *orders = plan->orders;
  if (!orders && !plan->over_store && !plan->statistics)
    orders = bounding_orders(plan, trees, count);
  for (size_t i = 0; i < count; i++) {
    if (!reorder(trees[i], orders, i, &less)) continue;
    changed++;
    ng_plan_refresh(plan);
  }
  if (!changed) return;
  ng_rule_changed(plan, NG_RULE_PRODUCT_ORDER, changed,
                  "inputs of %zu tree%s of products reordered", changed, changed == 1 ? "" : "s");
  if (less) ng_rule_changed(plan, NG_RULE_PRODUCT_ORDER, 0, "%s", less);
}
