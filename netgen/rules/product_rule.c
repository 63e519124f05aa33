/* Product rule (thesis 7.2.3): a full product keeps all tuples for ever; where the conditions above
 * it make its participants overlap, the overlap product gives the same and lets tuples go.
 *
 * The test that the overlap product makes for a pair of participants must not be stricter than a
 * condition above it, in three-valued logic. A participant can take part as a period, or as the
 * event of its start. For each pair, one from each side:
 *
 *   condition above                          the pair's test                     then
 *   [A) overlaps [B)                         period with period                  the same: dropped
 *   B.start in [A)                           event B.start in period A           the same: dropped
 *   A.start at or before B.start, and        event B.start in period A           the same: dropped
 *     B.start before A.stop
 *   A.start coincides with B.start           event with event                    the same: dropped
 *   [A) equals [B)                           event with event, the starts        implied: kept
 *   A.start before B.stop, and               period with period                  the same: dropped
 *     B.start before A.stop
 *
 * Of conditions that stand for a test together, each is dropped by itself, too, where it is but a part of it.
 * The last two conditions are said, of many pairs at once, by [later(A.start, B.start), earlier(A.stop,
 * B.stop)) overlaps [C), and by the projection: what has an empty period is no tuple, so under the default
 * start and stop all that takes part has an instant in common, whatever the when clause says. `A , B and
 * B , C` is a product of three that overlap. A condition that says nothing but what the products test goes.
 *
 * A period beside an event on the same side need not be tested: the event alone is then the time of what
 * that side has, and says how long it is kept. So with `when p , e and q , e` at e.at the periods are each tested
 * with e, not with each other. Aggregates that are asked for their values at e.at are tested with each other as well: where
 * e.at has bounds they speak of one chronon.
 *
 * All pairs of a product must agree on how each participant takes part, and a product below it must
 * have the overlap rule with the same view. Conditions with `.stop` alone imply nothing: a period
 * does not contain its stop. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

enum { PARTICIPANTS_MAX = 12 }; /* 2 ^ that many views are tried at most */

struct facts {
  struct ng_node **items; /* the selections above the product */
  size_t count, capacity;
  const struct ng_expr *start, *stop; /* of the periods that the projection makes; NULL: none */
};

static bool is_column(const struct ng_expr *expr, const struct ng_column *column) {
  return column && expr->op == NG_COLUMN && expr->column == column;
}

static bool is_period(const struct ng_expr *start, const struct ng_expr *stop,
                      struct ng_participant p) {
  return is_column(start, p.start) && is_column(stop, p.stop);
}

static bool are_periods(const struct ng_expr *expr, struct ng_participant a,
                        struct ng_participant b) {
  const struct ng_expr *const *args = expr->args;
  return (is_period(args[0], args[1], a) && is_period(args[2], args[3], b)) ||
         (is_period(args[0], args[1], b) && is_period(args[2], args[3], a));
}

static bool are_instants(const struct ng_expr *expr, const struct ng_column *a,
                         const struct ng_column *b) {
  return is_column(expr->args[0], a) && is_column(expr->args[1], b);
}

/* The selection whose condition is the very test of A with B, or NULL. */
static struct ng_node *same_test(const struct facts *facts, struct ng_participant a, bool a_event,
                                 struct ng_participant b, bool b_event) {
  for (size_t i = 0; i < facts->count; i++) {
    const struct ng_expr *expr = facts->items[i]->expr;
    bool same = false;
    if (!a_event && !b_event) {
      same = expr->op == NG_OVERLAP_PERIODS && are_periods(expr, a, b);
    } else if (a_event && b_event) {
      same = expr->op == NG_EQUAL_INSTANTS &&
             (are_instants(expr, a.start, b.start) || are_instants(expr, b.start, a.start));
    } else {
      struct ng_participant event = a_event ? a : b, period = a_event ? b : a;
      same = expr->op == NG_OVERLAP_EVENT && is_column(expr->args[0], event.start) &&
             is_period(expr->args[1], expr->args[2], period);
    }
    if (same) return facts->items[i];
  }
  return NULL;
}

/* Is COLUMN what EXPR is, or an operand of the OP that EXPR is? */
static bool is_operand(const struct ng_expr *expr, enum ng_op op, const struct ng_column *column) {
  if (expr->op != op) return is_column(expr, column);
  return is_operand(expr->args[0], op, column) || is_operand(expr->args[1], op, column);
}

/* Is A before B where LOW is before HIGH? */
static bool says_before(const struct ng_expr *low, const struct ng_expr *high,
                        const struct ng_column *a, const struct ng_column *b) {
  return is_operand(low, NG_LATER, a) && is_operand(high, NG_EARLIER, b);
}

static bool is_before(const struct facts *facts, const struct ng_column *a,
                      const struct ng_column *b) {
  if (facts->start && says_before(facts->start, facts->stop, a, b)) return true;
  for (size_t i = 0; i < facts->count; i++) {
    const struct ng_expr *expr = facts->items[i]->expr;
    const struct ng_expr *const *args = expr->args;
    if (expr->op == NG_BEFORE && says_before(args[0], args[1], a, b)) return true;
    if (expr->op == NG_OVERLAP_PERIODS &&
        (says_before(args[0], args[3], a, b) || says_before(args[2], args[1], a, b)))
      return true;
  }
  return false;
}

static bool implied_test(const struct facts *facts, struct ng_participant a, bool a_event,
                         struct ng_participant b, bool b_event) {
  bool after_start = false, before_stop = false;
  if (!a_event && !b_event)
    return is_before(facts, a.start, b.stop) && is_before(facts, b.start, a.stop);
  struct ng_participant event = a_event ? a : b, period = a_event ? b : a;
  for (size_t i = 0; i < facts->count; i++) {
    const struct ng_expr *expr = facts->items[i]->expr;
    if (a_event && b_event) {
      if (expr->op == NG_EQUAL_PERIODS && a.stop && b.stop && are_periods(expr, a, b)) return true;
    } else if (a_event != b_event) {
      if (expr->op == NG_BEFORE || expr->op == NG_NOT_AFTER) {
        after_start = after_start || are_instants(expr, period.start, event.start);
      }
      if (expr->op == NG_BEFORE) {
        before_stop = before_stop || are_instants(expr, event.start, period.stop);
      }
    }
  }
  return after_start && before_stop;
}

/* The expression whose value PROJECTION's COLUMN is. */
static const struct ng_expr *made_of(struct ng_plan *plan, const struct ng_node *projection,
                                     const struct ng_column *column) {
  const struct ng_node *maker = ng_node_maker(projection, column);
  return maker ? maker->expr : ng_expr_column(plan->arena, column);
}

/* The selections that all rows of PRODUCT still meet, and the periods that are made of them. */
static void find_facts(struct ng_plan *plan, const struct ng_node *product, struct facts *ret) {
  struct ng_node *node = ng_node_reader(plan, product);
  while (node && (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY ||
                  ng_node_is_product(node))) {
    if (node->kind == NET_NODE_SELECTION) {
      ret->items =
          ng_grown(plan->arena, ret->items, ret->count, &ret->capacity, sizeof *ret->items);
      ret->items[ret->count++] = node;
    }
    node = ng_node_reader(plan, node);
  }
  if (!node || node->kind != NET_NODE_PROJECTION || !node->stop_from) return;
  ret->start = made_of(plan, node, node->start_from);
  ret->stop = made_of(plan, node, node->stop_from);
}

struct view {
  struct ng_participants left, right;
  bool event[2 * PARTICIPANTS_MAX];
  bool left_out[2 * PARTICIPANTS_MAX]; /* takes no part in the tests */
};

static bool has_test(const struct facts *facts, const struct view *view, size_t i, size_t j) {
  struct ng_participant a = view->left.items[i], b = view->right.items[j];
  bool a_event = view->event[i], b_event = view->event[view->left.count + j];
  return same_test(facts, a, a_event, b, b_event) || implied_test(facts, a, a_event, b, b_event);
}

static bool any_event(const bool *event, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (event[i]) return true;
  }
  return false;
}

/* Leaves out the periods beside an event that lack a test with an event of the other side, or with all that
 * is there if it has none. */
static void leave_out(const struct facts *facts, struct view *view) {
  size_t left = view->left.count, right = view->right.count;
  bool left_events = any_event(view->event, left);
  bool right_events = any_event(view->event + left, right);
  for (size_t i = 0; i < left + right; i++) view->left_out[i] = false;
  for (size_t i = 0; i < left; i++) {
    for (size_t j = 0; j < right; j++) {
      if (has_test(facts, view, i, j)) continue;
      bool *of_left = &view->left_out[i], *of_right = &view->left_out[left + j];
      if (left_events && !view->event[i] && !*of_right) *of_left = true;
      if (!*of_left && right_events && !view->event[left + j]) *of_right = true;
    }
  }
}

static bool view_holds(const struct facts *facts, const struct view *view) {
  for (size_t i = 0; i < view->left.count; i++) {
    for (size_t j = 0; j < view->right.count; j++) {
      if (view->left_out[i] || view->left_out[view->left.count + j]) continue;
      if (!has_test(facts, view, i, j)) return false;
    }
  }
  return true;
}

/* How a product below sees its participants binds the one above. */
static const struct ng_node *product_below(const struct ng_node *node) {
  while (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY) node = node->inputs[0];
  return ng_node_is_product(node) ? node : NULL;
}

static bool fixed_view(const struct ng_node *product, size_t left_count, size_t index,
                       struct ng_participant participant, bool *ret) {
  if (!participant.stop) {
    *ret = true;
    return true;
  }
  const struct ng_node *below = product_below(product->inputs[index < left_count ? 0 : 1]);
  if (!below) return false;
  *ret = ng_product_takes_event(below, participant);
  return true;
}

static size_t same_tests(const struct facts *facts, const struct view *view) {
  size_t count = 0;
  for (size_t i = 0; i < view->left.count; i++) {
    for (size_t j = 0; j < view->right.count; j++) {
      if (view->left_out[i] || view->left_out[view->left.count + j]) continue;
      count += same_test(facts, view->left.items[i], view->event[i], view->right.items[j],
                         view->event[view->left.count + j]) != NULL;
    }
  }
  return count;
}

/* Finds a view under which every pair's test follows from the facts: of several the one whose tests take
 * the place of most conditions, periods before events. */
static bool find_view(const struct ng_node *product, const struct facts *facts, struct view *view) {
  size_t count = view->left.count + view->right.count, free_count = 0;
  size_t free_index[PARTICIPANTS_MAX];
  if (count > PARTICIPANTS_MAX) return false;
  for (size_t i = 0; i < count; i++) {
    struct ng_participant participant =
        i < view->left.count ? view->left.items[i] : view->right.items[i - view->left.count];
    if (!fixed_view(product, view->left.count, i, participant, &view->event[i])) {
      free_index[free_count++] = i;
    }
  }
  struct view best = {.left = {0}};
  size_t most = 0;
  bool found = false;
  for (unsigned choice = 0; choice < 1u << free_count; choice++) {
    for (size_t i = 0; i < free_count; i++) view->event[free_index[i]] = (choice >> i & 1) != 0;
    leave_out(facts, view);
    if (!view_holds(facts, view)) continue;
    size_t same = same_tests(facts, view);
    if (found && same <= most) continue;
    best = *view;
    most = same;
    found = true;
  }
  *view = best;
  return found;
}

static size_t drop_tests(struct ng_plan *plan, const struct facts *facts, const struct view *view) {
  size_t dropped = 0;
  for (size_t i = 0; i < view->left.count; i++) {
    for (size_t j = 0; j < view->right.count; j++) {
      if (view->left_out[i] || view->left_out[view->left.count + j]) continue;
      struct ng_node *selection =
          same_test(facts, view->left.items[i], view->event[i], view->right.items[j],
                    view->event[view->left.count + j]);
      if (!selection) continue;
      ng_plan_replace(plan, selection, selection->inputs[0]);
      dropped++;
    }
  }
  return dropped;
}

/* Do the products from NODE down test every period with every other one? */
static bool tests_all(const struct ng_node *node) {
  while (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY) node = node->inputs[0];
  if (!ng_node_is_product(node)) return node->stop != NULL;
  return node->rule == NET_PRODUCT_OVERLAP && !node->as_events.count && !node->untested.count &&
         tests_all(node->inputs[0]) && tests_all(node->inputs[1]);
}

/* Is [START, STOP) what some of PARTICIPANTS have in common? */
static bool is_common(const struct ng_participants *participants, const struct ng_expr *start,
                      const struct ng_expr *stop) {
  if (start->op == NG_LATER && stop->op == NG_EARLIER)
    return is_common(participants, start->args[0], stop->args[0]) &&
           is_common(participants, start->args[1], stop->args[1]);
  for (size_t i = 0; i < participants->count; i++) {
    if (is_period(start, stop, participants->items[i])) return true;
  }
  return false;
}

/* Drops conditions that common periods overlap, where PRODUCT sees to it that all do. */
static size_t drop_common(struct ng_plan *plan, const struct facts *facts,
                          const struct ng_node *product) {
  struct ng_participants all = {0};
  size_t dropped = 0;
  if (!tests_all(product)) return 0;
  ng_node_participants(plan, product, &all);
  for (size_t i = 0; i < facts->count; i++) {
    struct ng_node *selection = facts->items[i];
    const struct ng_expr *const *args = selection->expr->args;
    if (selection->expr->op != NG_OVERLAP_PERIODS || !is_common(&all, args[0], args[1]) ||
        !is_common(&all, args[2], args[3]) || ng_node_readers(plan, selection) == 0)
      continue;
    ng_plan_replace(plan, selection, selection->inputs[0]);
    dropped++;
  }
  return dropped;
}

/* Is EXPR, of two instants, part of the test of A with B? */
static bool is_part(const struct ng_expr *expr, struct ng_participant a, bool a_event,
                    struct ng_participant b, bool b_event) {
  if (a_event && b_event) return false;
  if (!a_event && !b_event)
    return expr->op == NG_BEFORE &&
           (are_instants(expr, a.start, b.stop) || are_instants(expr, b.start, a.stop));
  struct ng_participant event = a_event ? a : b, period = a_event ? b : a;
  return (expr->op == NG_BEFORE && are_instants(expr, event.start, period.stop)) ||
         (expr->op == NG_NOT_AFTER && are_instants(expr, period.start, event.start));
}

static bool is_part_of_any(const struct ng_expr *expr, const struct view *view) {
  for (size_t i = 0; i < view->left.count; i++) {
    for (size_t j = 0; j < view->right.count; j++) {
      if (view->left_out[i] || view->left_out[view->left.count + j]) continue;
      if (is_part(expr, view->left.items[i], view->event[i], view->right.items[j],
                  view->event[view->left.count + j]))
        return true;
    }
  }
  return false;
}

/* Drops conditions on two instants that are part of a test that is made. */
static size_t drop_parts(struct ng_plan *plan, const struct facts *facts, const struct view *view) {
  size_t dropped = 0;
  for (size_t i = 0; i < facts->count; i++) {
    struct ng_node *selection = facts->items[i];
    if (!is_part_of_any(selection->expr, view) || ng_node_readers(plan, selection) == 0) continue;
    ng_plan_replace(plan, selection, selection->inputs[0]);
    dropped++;
  }
  return dropped;
}

static bool change(struct ng_plan *plan, struct ng_node *product, size_t *dropped) {
  for (unsigned port = 0; port < 2; port++) {
    const struct ng_node *below = product_below(product->inputs[port]);
    if (below && below->rule != NET_PRODUCT_OVERLAP) return false;
  }
  struct facts facts = {.count = 0};
  struct view view = {.left = {0}};
  find_facts(plan, product, &facts);
  ng_node_participants(plan, product->inputs[0], &view.left);
  ng_node_participants(plan, product->inputs[1], &view.right);
  if (!find_view(product, &facts, &view)) return false;
  product->rule = NET_PRODUCT_OVERLAP;
  for (size_t i = 0; i < view.left.count + view.right.count; i++) {
    struct ng_participant participant =
        i < view.left.count ? view.left.items[i] : view.right.items[i - view.left.count];
    if (view.event[i] && participant.stop) {
      ng_columns_add(plan->arena, &product->as_events, participant.start);
    }
    if (view.left_out[i]) ng_columns_add(plan->arena, &product->untested, participant.start);
  }
  *dropped += drop_tests(plan, &facts, &view);
  *dropped += drop_parts(plan, &facts, &view);
  *dropped += drop_common(plan, &facts, product);
  return true;
}

bool ng_product_overlaps(struct ng_plan *plan, struct ng_node *product) {
  size_t dropped = 0;
  if (!change(plan, product, &dropped)) return false;
  ng_plan_refresh(plan);
  return true;
}

void ng_rule_product_rule(struct ng_plan *plan) {
  size_t count = plan->node_count, changed = 0, dropped = 0;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) { /* inputs come before readers: from below upwards */
    struct ng_node *node = nodes[i];
    if (node->kind != NET_NODE_PRODUCT || node->rule != NET_PRODUCT_FULL) continue;
    if (!change(plan, node, &dropped)) continue;
    changed++;
    ng_plan_refresh(plan);
  }
  if (!changed) return;
  ng_rule_changed(plan, NG_RULE_PRODUCT_RULE, changed, "%zu full product%s now overlap", changed,
                  changed == 1 ? "" : "s");
  if (dropped) {
    ng_rule_changed(plan, NG_RULE_PRODUCT_RULE, 0, "%zu selection%s with the same test dropped",
                    dropped, dropped == 1 ? "" : "s");
  }
}
