/* Combined events: what a tuple, or a combination of several, has in common with another input is asked of one
 * of its instants.
 *
 *      selection A.at before B.at, ...                   selection B.at before C.at, ...
 *            |                                                 |
 *       full product                                      full product, bounded
 *         /      \                                         /        \
 *   selection B.at before C.at, ...      ==>     projection at B.at    C
 *        |        C                                  |
 *   full product                               selection A.at before B.at, ...
 *      /    \                                        |
 *     A      B                                  full product
 *                                                  /    \
 *                                                 A      B
 *
 * A combination comes when the last of its participants does, and where their instants are uncertain nothing
 * follows from `a before b` and `b before c` for a and c (partial_overlap.c): so nothing says when C has met all
 * combinations, which may hold an a of much later. Nor is it an event to an aggregate that is asked for its value
 * at B.start, if A and B take part as periods below. But if all that the conditions ask C for is asked of one
 * instant, the combination may as well come as an event at that instant. It may come later than others that are
 * at a later one; the projection knows how late (its floors), and holds its checkpoint back for what
 * still waits. All other instants are domains of the combination.
 *
 * The instant is the start or the stop of a participant, or what the conditions make of several, as in
 * `(A , B) ; C`, earlier(A.stop, B.stop), which an apply below the projection computes. A stop is known for good
 * when the event goes out, so it is another column then, which is not open. No other stop that may be
 * open can be a domain of an event: nothing above may read one. Conditions on the combination alone that read
 * stops, which predicates-down leaves above the products, are therefore asked below the projection; what they
 * make wait there would wait above as well.
 *
 * A period by itself comes as the event of its stop, where the product then overlaps: `count(B) at A.stop` needs
 * the one segment of the count in which A stops, and a full product would meet A with all that begin before
 * that. Or where it was kept until some time after its stop, and is kept as long now, but from its stop on only:
 * `A ; within D B` does not go through all A that last when a B comes. Of starts the overlap product knows
 * already (product_rule.c).
 *
 * What runs once may compute instants that can fail, `A.start + 5`, of more rows than are asked for them
 * (speculation.c): the event of it tells when it is met, which an instant that nothing is known of does not.
 *
 * Combinations do only where the product then overlaps, or it is said until when both sides of it are kept, what
 * did not hold before. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"
#include "netgen/rules/combined.h"

enum { TRIALS_MAX = 400 }; /* in one plan; with ten variables there are fewer */

/* --- the instants that may be the event's */

/* May what can fail be computed of more rows than is asked for (speculation.c)? */
static bool may_fail(const struct ng_plan *plan) {
  return plan->may_speculate && !(plan->switches && plan->switches->off[NG_RULE_SPECULATION]);
}

static void add_instant(struct ng_plan *plan, struct ng_exprs *instants,
                        const struct ng_expr *instant) {
  for (size_t i = 0; i < instants->count; i++)
    if (ng_expr_equal(instants->items[i], instant)) return;
  ng_exprs_add(plan->arena, instants, instant);
}

/* What EXPR computes of several of SIDE's instants. */
static void add_computed(struct ng_plan *plan, struct ng_exprs *instants,
                         const struct ng_expr *expr, const struct ng_node *side) {
  if (expr->op != NG_COLUMN && ng_combined_is_instant(expr, side) &&
      (!ng_expr_can_fail(expr) || may_fail(plan))) {
    add_instant(plan, instants, expr);
    return;
  }
  for (unsigned i = 0; i < expr->arg_count; i++) add_computed(plan, instants, expr->args[i], side);
}

/* Starts first, for which nothing has to wait, then stops and what is computed. */
static void find_instants(struct ng_plan *plan, const struct ng_above *above,
                          const struct ng_node *side, struct ng_exprs *ret) {
  struct ng_participants participants = {0};
  ng_node_participants(plan, side, &participants);
  for (size_t i = 0; i < participants.count && participants.count > 1; i++)
    add_instant(plan, ret, ng_expr_column(plan->arena, participants.items[i].start));
  for (size_t i = 0; i < participants.count; i++)
    if (participants.items[i].stop)
      add_instant(plan, ret, ng_expr_column(plan->arena, participants.items[i].stop));
  for (size_t i = 0; i < above->count; i++)
    if (above->nodes[i]->expr) add_computed(plan, ret, above->nodes[i]->expr, side);
}

/* --- how soon it comes */

static bool takes_part(struct ng_plan *plan, const struct ng_node *side,
                       struct ng_participant participant) {
  struct ng_participants all = {0};
  ng_node_participants(plan, side, &all);
  for (size_t i = 0; i < all.count; i++)
    if (all.items[i].start == participant.start) return true;
  return false;
}

/* Has NODE, whose rows are combinations with PARTICIPANT, given all that have an INSTANT of it before the
 * checkpoint, as soon as the checkpoint is there? INSTANT is its start or its stop. */
static bool is_prompt(struct ng_plan *plan, const struct ng_node *node,
                      struct ng_participant participant, const struct ng_column *instant) {
  while (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY) node = node->inputs[0];
  if (!ng_node_is_product(node)) return true;
  if (node->kind == NET_NODE_CLOSEST) return false;
  unsigned port = takes_part(plan, node->inputs[0], participant) ? 0 : 1;
  if (node->rule == NET_PRODUCT_FULL) {
    bool kept = plan->switches && plan->switches->off[NG_RULE_PARTIAL_OVERLAP];
    if (kept || !ng_product_keeps_until(plan, node, port, participant, instant)) return false;
  } else if (ng_columns_have(&node->untested, participant.start) ||
             (instant == participant.start && !ng_product_takes_event(node, participant))) {
    return false;
  }
  return is_prompt(plan, node->inputs[port], participant, instant);
}

/* A stop that is open is at or after the checkpoint, and all starts in a row are before it. Is it known at
 * once then, but for uncertain instants, what EXPR says? */
static bool is_known_at_once(const struct ng_expr *expr) {
  const struct ng_expr *const *args = expr->args;
  switch (expr->op) {
    case NG_BEFORE:
    case NG_NOT_AFTER:
    case NG_EQUAL_INSTANTS:
      return args[0]->op == NG_COLUMN && args[1]->op == NG_COLUMN &&
             !(args[0]->column->openable && args[1]->column->openable);
    case NG_WITHIN:
      return args[0]->op == NG_COLUMN && args[1]->op == NG_COLUMN && !args[1]->column->openable;
    case NG_OVERLAP_EVENT:
      return args[0]->op == NG_COLUMN && !args[0]->column->openable && args[1]->op == NG_COLUMN &&
             args[2]->op == NG_COLUMN;
    default:
      return false;
  }
}

static bool is_all_events(const struct ng_participants *participants) {
  for (size_t i = 0; i < participants->count; i++)
    if (participants->items[i].stop || participants->items[i].start->openable) return false;
  return true;
}

/* May SIDE, the rows below the projection, wait for FROM where more is to come? What goes on above must
 * not wait for long: a period that stays open would keep all events that come later. */
static bool may_wait(struct ng_plan *plan, const struct ng_node *side, const struct ng_above *above,
                     const struct ng_column *from) {
  struct ng_participants all = {0};
  if (plan->may_speculate) return true; /* nothing is to come */
  ng_node_participants(plan, side, &all);
  if (is_all_events(&all)) return true;
  const struct ng_node *node = side;
  for (; node->kind == NET_NODE_SELECTION; node = node->inputs[0])
    if (ng_expr_reads_open(node->expr) && !is_known_at_once(node->expr)) return false;
  /* An event at a stop says nothing of the floors of other instants. */
  const struct ng_node *result = above->nodes[above->count - 1];
  if (from->openable && ng_node_has(side, result->start_from)) return false;
  for (size_t i = 0; i < all.count; i++)
    if (all.items[i].start == from || all.items[i].stop == from)
      return is_prompt(plan, side, all.items[i], from);
  return false;
}

/* --- what it is good for */

/* Until when a product keeps the rows of its sides. */
struct bounds {
  struct ng_expiry *of[2];
  size_t counts[2];
  bool both;
};

static struct bounds bounds_of(struct ng_plan *plan, const struct ng_node *product) {
  struct bounds bounds = {.counts = {0, 0}};
  bounds.both = ng_product_bounds(plan, product, bounds.of, bounds.counts);
  return bounds;
}

/* Does BEFORE keep the rows at PORT as long as EXPIRY says, of INSTANT in the place of its own, or longer? */
static bool keeps_as_long(const struct bounds *before, unsigned port, struct ng_expiry expiry,
                          const struct ng_column *instant) {
  for (size_t i = 0; i < before->counts[port]; i++)
    if (before->of[port][i].instant == instant && before->of[port][i].bound >= expiry.bound)
      return true;
  return false;
}

/* Both sides were bounded BEFORE, that at PORT, the rows of one relation, by their STOP, and are bounded by the
 * same now: rows that come when they stop, AT it, are kept from then on only. */
static bool is_shorter(const struct bounds *before, const struct bounds *after, unsigned port,
                       const struct ng_column *stop, const struct ng_column *at) {
  for (unsigned side = 0; side < 2; side++) {
    for (size_t i = 0; i < after->counts[side]; i++) {
      struct ng_expiry expiry = after->of[side][i];
      if (side == port && expiry.instant != at) return false;
      if (!keeps_as_long(before, side, expiry, side == port ? stop : expiry.instant)) return false;
    }
  }
  return true;
}

/* Leaves the plan half changed if it is false. BEFORE: until when the product keeps rows as it stands. */
static bool combine_at(struct ng_plan *plan, const struct ng_above *above, struct ng_node *product,
                       unsigned port, const struct ng_expr *instant, const struct bounds *before) {
  struct ng_above left;
  bool single = !ng_node_is_combination(product->inputs[port]);
  struct ng_columns columns = ng_combined_columns(plan, product->inputs[port]);
  struct ng_node *side = ng_combined_select(plan, above, product->inputs[port]);
  const struct ng_column *from, *at;
  struct ng_node *reader = ng_node_reader(plan, above->nodes[above->count - 1]);
  if (reader) ng_switch_merge(plan, reader);
  side = ng_combined_instant(plan, side, instant, &from);
  at = from->openable ? ng_column_computed(plan, from->name, from->type, false) : from;
  product->inputs[port] = ng_combined_project(plan, side, &columns, from, at);
  ng_plan_refresh(plan);
  if (!ng_combined_above(plan, product, &left)) return false;
  ng_combined_read(plan, &left, instant, at);
  if (ng_combined_lacks(&left, &columns, NULL)) return false;
  ng_plan_refresh(plan);
  if (!may_wait(plan, side, &left, from)) return false;
  if (ng_product_overlaps(plan, product)) return true;
  struct bounds after = bounds_of(plan, product);
  if (!after.both) return false;
  return !before->both || (single && is_shorter(before, &after, port, from, at));
}

/* BEFORE: room. */
static bool combine(struct ng_plan *plan, struct ng_node *product, unsigned port,
                    struct ng_before *before) {
  struct ng_above above;
  struct ng_exprs instants = {0};
  if (ng_node_readers(plan, product->inputs[port]) != 1 ||
      !ng_combined_above(plan, product, &above))
    return false;
  find_instants(plan, &above, product->inputs[port], &instants);
  if (instants.count) ng_combined_remember(plan, before);
  struct bounds bounds = bounds_of(plan, product);
  for (size_t i = 0; i < instants.count && before->trials < TRIALS_MAX; i++) {
    before->trials++;
    if (combine_at(plan, &above, product, port, instants.items[i], &bounds)) {
      if (ng_expr_can_fail(instants.items[i]))
        ng_rule_changed(plan, NG_RULE_SPECULATION, 1, "1 instant computed before it is asked for");
      return true;
    }
    ng_combined_restore(plan, before);
  }
  return false;
}

/* What PRODUCT's rows are asked further up, and can be asked here now that a stop among them is an event's: of
 * stops that may be open predicates-down leaves it where it stands. */
static void select_at_once(struct ng_plan *plan, struct ng_node *product) {
  struct ng_above above;
  size_t higher = 0; /* where the next product is */
  if (plan->switches && plan->switches->off[NG_RULE_PREDICATES_DOWN]) return;
  ng_plan_refresh(plan);
  if (!ng_combined_above(plan, product, &above)) return;
  while (higher < above.count && !ng_node_is_product(above.nodes[higher])) higher++;
  for (size_t i = above.count; i-- > higher;) { /* those further down last: they stay in order */
    struct ng_node *node = above.nodes[i];
    if (node->kind != NET_NODE_SELECTION || ng_expr_reads_open(node->expr) ||
        !ng_selection_moves(node) || !ng_expr_fits(node->expr, product))
      continue;
    ng_plan_replace(plan, node, node->inputs[0]);
    ng_plan_replace(plan, product, node);
    node->inputs[0] = product;
  }
  ng_plan_refresh(plan);
}

void ng_rule_combined_events(struct ng_plan *plan) {
  size_t count = plan->node_count, combined = 0;
  struct ng_before room = {0};
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) { /* inputs come before readers: from below upwards */
    struct ng_node *node = nodes[i];
    if (node->kind != NET_NODE_PRODUCT || node->rule != NET_PRODUCT_FULL ||
        (combined && ng_product_overlaps(plan, node)))
      continue;
    size_t before = combined;
    for (unsigned port = 0; port < 2 && node->rule == NET_PRODUCT_FULL; port++)
      combined += combine(plan, node, port, &room);
    if (combined > before) select_at_once(plan, node);
  }
  if (!combined) return;
  ng_rule_changed(plan, NG_RULE_COMBINED_EVENTS, combined, "%zu side%s of %sproduct%s now events",
                  combined, combined == 1 ? "" : "s", combined == 1 ? "a " : "",
                  combined == 1 ? "" : "s");
}
