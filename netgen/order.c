/* Temporal order: what each node promises of the order of its rows, given those of its inputs.
 *
 *   starts and stops   periods that do not overlap: of one entity, an aggregate without groups
 *   starts             access nodes, event-to-period, what a sweep over time gives (products)
 *   stops              an aggregate's segments, each of which is known when it ends
 *   none               a projection to other instants, and nodes that say things when they are decided
 *   any                derived relations that run already: nobody says
 *
 * The thesis numbers them (1), (3), (4); (2), starts and stops by themselves, is how an open period comes on every
 * arc (enum net_order). Selections and applies keep what they get. The engine finds order out for itself, batch
 * by batch; what is promised here is what can be said before, for `explain` and for rules, and
 * a network that is checked (net_network_set_checked) holds the nodes to it. */
#include "netgen/order.h"

#include "netgen/expr.h"

/* --- projections */

static const struct ng_node *product_below(const struct ng_node *node) {
  while (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY) node = node->inputs[0];
  bool product = !node->alias && (node->kind == NET_NODE_PRODUCT || node->kind == NET_NODE_JOIN);
  return product && node->rule == NET_PRODUCT_OVERLAP ? node : NULL;
}

/* Does PROJECTION start at the one event that takes part in an overlap product, when its rows are? */
static bool is_its_event(struct ng_plan *plan, const struct ng_node *projection) {
  const struct ng_node *node = product_below(projection->inputs[0]);
  const struct ng_column *event = NULL;
  size_t events = 0;
  for (unsigned port = 0; node && port < 2; port++) {
    struct ng_participants found = {0};
    ng_node_participants(plan, node->inputs[port], &found);
    for (size_t i = 0; i < found.count; i++) {
      if (ng_columns_have(&node->untested, found.items[i].start)) continue;
      if (!ng_product_takes_event(node, found.items[i])) continue;
      event = found.items[i].start;
      events++;
    }
  }
  return events == 1 && event == projection->start_from;
}

/* Is COLUMN an operand of the `later` at the top of EXPR? */
static bool is_later_than(const struct ng_expr *expr, const struct ng_column *column) {
  if (expr->op == NG_COLUMN) return expr->column == column;
  return expr->op == NG_LATER &&
         (is_later_than(expr->args[0], column) || is_later_than(expr->args[1], column));
}

/* Are the operands of the `later` at the top of EXPR starts of PARTICIPANTS, all of them? */
static bool is_of_starts(const struct ng_expr *expr, const struct ng_participants *participants) {
  if (expr->op == NG_LATER)
    return is_of_starts(expr->args[0], participants) && is_of_starts(expr->args[1], participants);
  for (size_t i = 0; expr->op == NG_COLUMN && i < participants->count; i++)
    if (expr->column == participants->items[i].start) return true;
  return false;
}

/* Is what PROJECTION starts at computed as the latest of the starts of all who take part below, and, with
 * NOTHING_ELSE, of nothing else? */
static bool is_latest_start(struct ng_plan *plan, const struct ng_node *projection,
                            bool nothing_else) {
  const struct ng_node *maker = ng_node_maker(projection, projection->start_from);
  struct ng_participants found = {0};
  if (!maker) return false;
  ng_node_participants(plan, maker, &found);
  for (size_t i = 0; i < found.count; i++)
    if (!is_later_than(maker->expr, found.items[i].start)) return false;
  return !nothing_else || is_of_starts(maker->expr, &found);
}

/* A combination's own start is the latest of its participants' starts (or an instant within its
 * bounds): a projection to later(all starts, ...) never starts before it. */
bool ng_projection_is_not_earlier(struct ng_plan *plan, const struct ng_node *projection) {
  return is_its_event(plan, projection) || is_latest_start(plan, projection, false);
}

bool ng_projection_keeps_start(struct ng_plan *plan, const struct ng_node *projection) {
  const struct ng_node *product = product_below(projection->inputs[0]);
  if (projection->start_from == projection->inputs[0]->start || is_its_event(plan, projection))
    return true;
  return product && !product->untested.count && is_latest_start(plan, projection, true);
}

/* --- what nodes promise */

static enum net_order of_access(const struct ng_plan *plan, const struct ng_node *node) {
  if (node->single_row) return NET_ORDER_BOTH;
  /* The rows of what runs already may come in any order. */
  bool runs = node->relation->kind == NG_REL_DERIVED || node->relation->kind == NG_REL_SAMPLED;
  return runs && !plan->over_store ? NET_ORDER_ANY : NET_ORDER_STARTS;
}

static enum net_order of_projection(struct ng_plan *plan, const struct ng_node *node) {
  enum net_order below = node->inputs[0]->order;
  bool own_stop = !node->stop_from || node->stop_from == node->inputs[0]->stop;
  if (!ng_projection_keeps_start(plan, node)) return NET_ORDER_NONE;
  if (below == NET_ORDER_STOPS) return own_stop && node->stop_from ? below : NET_ORDER_NONE;
  return below == NET_ORDER_BOTH && !own_stop ? NET_ORDER_STARTS : below;
}

enum net_order ng_order_of(struct ng_plan *plan, const struct ng_node *node) {
  enum net_order order = net_node_info(node->kind)->order_out;
  if (node->alias) return node->inputs[0]->order;
  switch (node->kind) {
    case NET_NODE_ACCESS:
      return of_access(plan, node);
    case NET_NODE_EVENT_TO_PERIOD:
      return node->by_columns.count ? order : NET_ORDER_BOTH;
    case NET_NODE_AGGREGATE:
      if (node->aggregate->function == NET_AGG_EXTEND) return NET_ORDER_NONE;
      return node->by_columns.count ? order : NET_ORDER_BOTH;
    case NET_NODE_PROJECTION:
      return of_projection(plan, node);
    case NET_NODE_COSTS:
      return node->input_count > 1 ? order : node->inputs[0]->order;
    case NET_NODE_SWITCH_DISPOSITION:
      return node->inputs[0]->order == NET_ORDER_STOPS ? NET_ORDER_NONE : node->inputs[0]->order;
    default:
      return order == NET_ORDER_KEPT ? node->inputs[0]->order : order;
  }
}

bool ng_node_sorts(const struct ng_node *node, unsigned port) {
  enum net_order comes = node->inputs[port]->order;
  if (node->alias || net_node_info(node->kind)->order_in != NET_ORDER_STARTS) return false;
  return comes == NET_ORDER_NONE || comes == NET_ORDER_STOPS;
}

const char *ng_order_name(enum net_order order) {
  static const char *const names[] = {[NET_ORDER_ANY] = "any",
                                      [NET_ORDER_NONE] = "none",
                                      [NET_ORDER_STOPS] = "stops",
                                      [NET_ORDER_STARTS] = "starts",
                                      [NET_ORDER_BOTH] = "starts and stops",
                                      [NET_ORDER_KEPT] = "kept"};
  return names[order];
}
