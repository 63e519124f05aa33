/* Partial overlap (thesis 7.2.3, second implementation): a product keeps a row only as long as a partner can
 * still come, where the conditions above it say so.
 *
 *      selection A.stop before B.start, and             selection: the same
 *                B.start within 5 of A.stop                   |
 *            |                                   ==>    full product: A until A.stop + 5,
 *       full product                                         /    \    B until B.start
 *         /      \                                          A      B
 *        A        B
 *
 * Every condition above that compares instants is a difference constraint x <= y + d on their bounds: of
 * a combination that is not false, `a before b` says a.lo <= b.hi - 1. With start <= stop, and lo <= hi,
 * the shortest paths between all instants that take part are the tightest constraints that follow. Rows
 * come in order of the earliest start of what takes part in them: when for every participant of the other
 * side start.lo <= x.hi + d for an instant x of this row, rows that start later than that do not meet it.
 *
 *   condition                 constraint                         keeps
 *   A.stop before B.start     A.stop.lo  <= B.start.hi - 1       B until B.start: A starts before it stops
 *   ... within D              B.start.lo <= A.stop.hi + D        A until A.stop + D
 *   B.start before A.stop     B.start.lo <= A.stop.hi - 1        A until A.stop
 *
 * `not a before b` says b.lo <= a.hi. Of alternatives (`or`) one holds, so whatever follows from each of
 * them does, with the greater d.
 *
 * Bounds of different ends do not chain (a.lo <= b.hi and b.lo <= c.hi say nothing of a and c), so with
 * three participants less is known than of instants without doubt. The conditions stay: this says only
 * how long rows are kept.
 *
 * Of one participant's partner several instants may say something, of which none is always the first:
 * `A contains B and B.start within 40 of A.start` keeps A until A.stop, and not beyond A.start + 40. So it is of
 * an overlap product: its rows go when they end, and before that when an instant says so that is no stop. What is
 * after the row's end for sure says nothing there, and a side of which an event takes part says nothing at all: it
 * is over at once. */
#include <stdlib.h>
#include <string.h>

#include "netgen/budget.h"

#include "engine/base/env.h"
#include "netgen/expr.h"
#include "netgen/rules/rules.h"

enum { INSTANTS_MAX = 64 }; /* with more, nothing is tried */
#define NO_BOUND INT64_MAX

struct constraints {
  const struct ng_column *instants[INSTANTS_MAX];
  size_t count;
  /* of [u][v]: u <= v + it; the bounds lo and hi of instant i are 2 i and 2 i + 1 */
  int64_t *least;
  size_t *steps; /* that have been made */
};

static size_t size_of(const struct constraints *constraints) {
  return 2 * constraints->count;
}

static int64_t *least(const struct constraints *constraints, size_t u, size_t v) {
  return &constraints->least[u * size_of(constraints) + v];
}

static int find(const struct constraints *constraints, const struct ng_column *column) {
  for (size_t i = 0; i < constraints->count; i++) {
    if (constraints->instants[i] == column) return (int)i;
  }
  return -1;
}

static void constrain(struct constraints *constraints, size_t u, size_t v, int64_t d) {
  int64_t *known = least(constraints, u, v);
  if (d < *known) *known = d;
}

/* LOW.lo <= HIGH.hi + D, of instants or of what is made of them. */
static void add(struct constraints *constraints, const struct ng_expr *low,
                const struct ng_expr *high, int64_t d) {
  if (low->op == NG_LATER || low->op == NG_INTERSECT) {
    add(constraints, low->args[0], high, d);
    add(constraints, low->args[1], high, d);
  } else if (high->op == NG_EARLIER || high->op == NG_INTERSECT) {
    add(constraints, low, high->args[0], d);
    add(constraints, low, high->args[1], d);
  } else if (low->op == NG_COLUMN && high->op == NG_COLUMN) {
    int u = find(constraints, low->column), v = find(constraints, high->column);
    if (u >= 0 && v >= 0) constrain(constraints, 2 * (size_t)u, 2 * (size_t)v + 1, d);
  }
}

static void add_either(struct constraints *constraints, const struct ng_expr *fact);

/* `not` FACT. */
static void add_denied(struct constraints *constraints, const struct ng_expr *fact) {
  if (fact->op == NG_BEFORE) add(constraints, fact->args[1], fact->args[0], 0);
  if (fact->op == NG_NOT_AFTER) add(constraints, fact->args[1], fact->args[0], -1);
}

static void add_fact(struct constraints *constraints, const struct ng_expr *fact) {
  const struct ng_expr *const *args = fact->args;
  switch (fact->op) {
    case NG_OR:
      add_either(constraints, fact);
      break;
    case NG_NOT:
      add_denied(constraints, args[0]);
      break;
    case NG_AND:
      add_fact(constraints, args[0]);
      add_fact(constraints, args[1]);
      break;
    case NG_BEFORE:
      add(constraints, args[0], args[1], -1);
      break;
    case NG_NOT_AFTER:
      add(constraints, args[0], args[1], 0);
      break;
    case NG_WITHIN:
      add(constraints, args[1], args[0], fact->integer);
      break;
    case NG_EQUAL_INSTANTS:
      add(constraints, args[0], args[1], 0);
      add(constraints, args[1], args[0], 0);
      break;
    case NG_OVERLAP_PERIODS:
      add(constraints, args[0], args[3], -1);
      add(constraints, args[2], args[1], -1);
      break;
    case NG_OVERLAP_EVENT:
      add(constraints, args[1], args[0], 0);
      add(constraints, args[0], args[2], -1);
      break;
    case NG_EQUAL_PERIODS:
      add(constraints, args[0], args[2], 0);
      add(constraints, args[2], args[0], 0);
      add(constraints, args[1], args[3], 0);
      add(constraints, args[3], args[1], 0);
      break;
    case NG_CONTAIN:
      add(constraints, args[0], args[2], 0);
      add(constraints, args[3], args[1], 0);
      break;
    default:
      break;
  }
}

static int64_t sum(int64_t a, int64_t b) {
  int64_t result;
  if (a == NO_BOUND || b == NO_BOUND || __builtin_add_overflow(a, b, &result)) return NO_BOUND;
  return result;
}

static void close_paths(struct constraints *constraints) {
  size_t count = size_of(constraints);
  for (size_t k = 0; k < count; k++) {
    for (size_t u = 0; u < count; u++) {
      if (*least(constraints, u, k) == NO_BOUND) continue;
      *constraints->steps += count;
      for (size_t v = 0; v < count; v++)
        constrain(constraints, u, v, sum(*least(constraints, u, k), *least(constraints, k, v)));
    }
  }
}

/* All that is known when one of FACT's alternatives holds beside CONSTRAINTS, as far as it was less sure before:
 * EITHER. ONE is room. */
static void add_alternatives(const struct constraints *constraints, const struct ng_expr *fact,
                             struct constraints *one, struct constraints *either) {
  size_t places = size_of(constraints) * size_of(constraints);
  if (fact->op == NG_OR) { /* a chain of them is one */
    add_alternatives(constraints, fact->args[0], one, either);
    add_alternatives(constraints, fact->args[1], one, either);
    return;
  }
  memcpy(one->least, constraints->least, places * sizeof *one->least);
  add_fact(one, fact);
  close_paths(one);
  *constraints->steps += places;
  for (size_t i = 0; i < places; i++)
    if (one->least[i] > either->least[i]) either->least[i] = one->least[i];
}

static void add_either(struct constraints *constraints, const struct ng_expr *fact) {
  size_t places = size_of(constraints) * size_of(constraints);
  struct constraints one = *constraints, either = *constraints;
  one.least = base_xcalloc(2 * places + 1, sizeof *one.least);
  either.least = one.least + places;
  for (size_t i = 0; i < places; i++) either.least[i] = INT64_MIN;
  add_alternatives(constraints, fact, &one, &either);
  for (size_t i = 0; i < places; i++)
    if (either.least[i] < constraints->least[i]) constraints->least[i] = either.least[i];
  free(one.least);
}

/* What all rows of PRODUCT meet that go anywhere; EITHER: alternatives, which know more when all else is
 * known. */
static void add_facts(const struct ng_plan *plan, struct constraints *constraints,
                      const struct ng_node *product, bool either) {
  const struct ng_node *node = product;
  while (node && (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY ||
                  node->carries || ng_node_is_product(node))) {
    bool is_fact = node->expr && node->kind != NET_NODE_APPLY;
    if (is_fact && (node->expr->op == NG_OR) == either) add_fact(constraints, node->expr);
    node = ng_node_reader(plan, node);
  }
}

static void add_instants(struct constraints *constraints,
                         const struct ng_participants *participants) {
  for (size_t i = 0; i < participants->count; i++) {
    constraints->instants[constraints->count++] = participants->items[i].start;
    if (participants->items[i].stop)
      constraints->instants[constraints->count++] = participants->items[i].stop;
  }
}

static void add_order(struct constraints *constraints, const struct ng_participants *participants) {
  for (size_t i = 0; i < constraints->count; i++) constrain(constraints, 2 * i, 2 * i + 1, 0);
  for (size_t i = 0; i < participants->count; i++) {
    struct ng_participant participant = participants->items[i];
    if (!participant.stop) continue;
    size_t start = 2 * (size_t)find(constraints, participant.start);
    size_t stop = 2 * (size_t)find(constraints, participant.stop);
    constrain(constraints, start, stop, 0);
    constrain(constraints, start + 1, stop + 1, 0);
  }
}

/* Is the bound D after the latest of U never before that of E after the latest of V? */
static bool is_not_before(const struct constraints *constraints, size_t u, int64_t d, size_t v,
                          int64_t e) {
  return sum(e, *least(constraints, 2 * v + 1, 2 * u + 1)) <= d;
}

/* Does another instant of SIDE than U, which bounds what ROW is of by D, say as much? Of two that say the same
 * the first does. */
static bool says_nothing(const struct constraints *constraints, const int64_t *row,
                         const struct ng_participants *side, size_t u, int64_t d) {
  for (size_t i = 0; i < side->count; i++) {
    const struct ng_column *instants[] = {side->items[i].start, side->items[i].stop};
    for (size_t k = 0; k < 2 && instants[k]; k++) {
      size_t v = (size_t)find(constraints, instants[k]);
      int64_t e = row[2 * v + 1];
      if (v == u || e == NO_BOUND || !is_not_before(constraints, u, d, v, e)) continue;
      if (v < u || !is_not_before(constraints, v, e, u, d)) return true;
    }
  }
  return false;
}

/* The bounds on LATER's start by instants of SIDE; STARTS: by none that is a stop. Returns how many there are. */
static size_t bound_start(const struct constraints *constraints, struct ng_participant later,
                          const struct ng_participants *side, bool starts, struct ng_expiry *ret) {
  const int64_t *row = least(constraints, 2 * (size_t)find(constraints, later.start), 0);
  size_t count = 0;
  for (size_t i = 0; i < side->count; i++) {
    const struct ng_column *instants[] = {side->items[i].start, side->items[i].stop};
    for (size_t k = 0; k < (starts ? 1 : 2) && instants[k]; k++) {
      size_t u = (size_t)find(constraints, instants[k]);
      int64_t d = row[2 * u + 1];
      if (sum(d, 1) == NO_BOUND || says_nothing(constraints, row, side, u, d)) continue;
      if (count > 0) ret[count - 1].or_next = true;
      ret[count++] = (struct ng_expiry){.instant = instants[k], .bound = d};
    }
  }
  return count;
}

/* Are the ADDED expiries behind the first COUNT, which are one group, a group among these already? */
static bool is_known(const struct ng_expiry *expiries, size_t count, size_t added) {
  for (size_t from = 0; from + added <= count; from++) {
    size_t same = 0;
    if (from > 0 && expiries[from - 1].or_next) continue;
    while (same < added && expiries[from + same].instant == expiries[count + same].instant &&
           expiries[from + same].bound == expiries[count + same].bound &&
           expiries[from + same].or_next == expiries[count + same].or_next)
      same++;
    if (same == added) return true;
  }
  return false;
}

/* Says until when the rows at PORT are kept; false: without end, or as long as the overlap rule says. */
static bool bound_side(struct ng_plan *plan, const struct constraints *constraints,
                       const struct ng_participants *sides, unsigned port, bool starts,
                       struct ng_expiry **ret, size_t *ret_count) {
  const struct ng_participants *side = &sides[port], *other = &sides[1 - port];
  struct ng_expiry *expiries =
      BASE_NEW_ARRAY(plan->arena, 2 * side->count * other->count, struct ng_expiry);
  size_t count = 0;
  for (size_t i = 0; i < other->count; i++) {
    size_t added = bound_start(constraints, other->items[i], side, starts, &expiries[count]);
    if (added == 0) return false;
    if (!is_known(expiries, count, added)) count += added;
  }
  *ret = expiries;
  *ret_count = count;
  return true;
}

static bool any_event(const struct ng_node *product, const struct ng_participants *side) {
  for (size_t i = 0; i < side->count; i++) {
    if (ng_product_takes_event(product, side->items[i])) return true;
  }
  return false;
}

/* Fills *RET of each side that is bounded; returns how many are. */
static size_t bound(struct ng_plan *plan, const struct ng_node *product, struct ng_expiry *ret[2],
                    size_t ret_counts[2]) {
  bool overlap = product->rule == NET_PRODUCT_OVERLAP;
  struct ng_participants sides[2] = {{0}, {0}};
  size_t steps = 0;
  struct constraints known = {.steps = &steps}, *constraints = &known;
  for (unsigned port = 0; port < 2; port++)
    ng_node_participants(plan, product->inputs[port], &sides[port]);
  if (2 * (sides[0].count + sides[1].count) > INSTANTS_MAX) return 0;
  for (unsigned port = 0; port < 2; port++) add_instants(constraints, &sides[port]);
  size_t places = size_of(constraints) * size_of(constraints);
  if (places > plan->bound_places) { /* the room is used again: products are asked many times */
    plan->bound_room = BASE_NEW_ARRAY(plan->arena, places, int64_t);
    plan->bound_places = places;
  }
  constraints->least = plan->bound_room;
  for (size_t i = 0; i < places; i++) constraints->least[i] = NO_BOUND;
  for (unsigned port = 0; port < 2; port++) add_order(constraints, &sides[port]);
  add_facts(plan, constraints, product, false);
  add_facts(plan, constraints, product, true);
  close_paths(constraints);
  ng_plan_work(plan, steps + places);
  size_t bounded = 0;
  for (unsigned port = 0; port < 2; port++) {
    if (overlap && any_event(product, &sides[port])) continue;
    bounded += bound_side(plan, constraints, sides, port, overlap, &ret[port], &ret_counts[port]);
  }
  return bounded;
}

bool ng_product_bounds(struct ng_plan *plan, const struct ng_node *product,
                       struct ng_expiry *ret[2], size_t ret_counts[2]) {
  return bound(plan, product, ret, ret_counts) == 2;
}

bool ng_product_keeps_until(struct ng_plan *plan, const struct ng_node *product, unsigned port,
                            struct ng_participant participant, const struct ng_column *instant) {
  struct ng_expiry *expiries[2];
  size_t counts[2] = {0, 0};
  bound(plan, product, expiries, counts);
  bool any = false;
  for (size_t i = 0; i < counts[port]; i++) {
    const struct ng_expiry *expiry = &expiries[port][i];
    bool is_its = expiry->instant == instant || expiry->instant == participant.start;
    any = any || (is_its && expiry->bound <= 0);
    if (expiry->or_next) continue;
    if (!any) return false;
    any = false;
  }
  return counts[port] > 0;
}

/* Do the conditions above PRODUCT, of the overlap rule, say anything of starts of its participants? */
static bool speaks_of_starts(struct ng_plan *plan, const struct ng_node *product) {
  struct ng_participants all = {0};
  ng_node_participants(plan, product, &all);
  for (const struct ng_node *node = ng_node_reader(plan, product);
       node && (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY || node->carries ||
                ng_node_is_product(node));
       node = ng_node_reader(plan, node)) {
    if (!node->expr || node->kind == NET_NODE_APPLY) continue;
    for (size_t i = 0; i < all.count; i++) {
      if (ng_expr_reads(node->expr, all.items[i].start)) return true;
    }
  }
  return false;
}

/* Bounds the products of RULE, and says of how many KIND they are. */
static void bound_products(struct ng_plan *plan, enum net_product_rule rule, const char *kind) {
  size_t products = 0, sides = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->kind != NET_NODE_PRODUCT || node->rule != rule) continue;
    if (rule == NET_PRODUCT_OVERLAP && !speaks_of_starts(plan, node)) continue;
    size_t bounded = bound(plan, node, node->expiries, node->expiry_counts);
    products += bounded > 0;
    sides += bounded;
  }
  if (!sides) return;
  ng_rule_changed(plan, NG_RULE_PARTIAL_OVERLAP, products,
                  "%zu side%s of %zu %s product%s kept only while a partner can come", sides,
                  sides == 1 ? "" : "s", products, kind, products == 1 ? "" : "s");
}

void ng_rule_partial_overlap(struct ng_plan *plan) {
  bound_products(plan, NET_PRODUCT_FULL, "full");
  bound_products(plan, NET_PRODUCT_OVERLAP, "overlap");
}
