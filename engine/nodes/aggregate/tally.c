/* Aggregate: what a group keeps of the tuples that count for sure.
 *
 *     count any                  the number of tuples, which the group has already
 *     sum avg                    integers in 128 bits, floats exactly (exact_sum.c): tuples may go again, and
 *                                neither their order nor what is gone shows in the result
 *     sum avg, temporal          sums of n0, of the slopes and of slope times start
 *     min max first last         never go: the best; else an ordered set of starts and values
 *     earliest latest            the same, of starts and stops
 *     stdev                      exact sums of arguments and squares
 *     varts avgti                an ordered set, and sums over its neighbours (rates as exact as sums);
 *                                what never goes and can get no new neighbour is given up
 *     quantiles                  an ordered set of the values, and a place in it; of summaries all values
 *     avgc                       the sum of the arguments, and its integral
 *
 * Tuples are in order by start.lo, start.hi, value; spans between them are those of start.lo. What the functions make of
 * all this is in value.c.                                                                  */
#include <math.h>
#include <stdlib.h>

#include "engine/nodes/aggregate/aggregate.h"

/* --- order */

bool net_agg_wants_smallest(enum net_aggregate_function function) {
  return function == NET_AGG_MIN || function == NET_AGG_FIRST || function == NET_AGG_EARLIEST;
}

bool net_aggregate_chooses(enum net_aggregate_function function) {
  return net_agg_wants_smallest(function) || function == NET_AGG_MAX || function == NET_AGG_LAST ||
         function == NET_AGG_LATEST;
}

/* What the function, or the order of tuples, asks of a tuple besides its stop. */
unsigned net_agg_kept(const struct net_aggregate *node) {
  unsigned kept = node->chooses_time ? NET_KEEP_STOP : NET_KEEP_VALUE;
  switch (node->function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
      if (!node->stands) return 0;
      break;
    case NET_AGG_VARTS:
      kept = NET_KEEP_START;
      break;
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
    case NET_AGG_AVGTI:
      kept |= NET_KEEP_START;
      break;
    default:
      break;
  }
  if (node->stands || node->argument == NET_TEMPORAL) kept |= NET_KEEP_START;
  if (node->argument == NET_TEMPORAL) kept |= NET_KEEP_SLOPE;
  return kept;
}

/* The argument of what belongs to OWNER, a member's, as that has it. */
static union net_slot value_of(const void *context, uint32_t owner) {
  const struct net_aggregate *node = context;
  return net_agg_argument(node, net_rowmap_row(&node->members, net_agg_owner_whose(owner)));
}

static void init_apart(struct net_aggregate *node, unsigned kept, net_ordered_compare_fn compare) {
  bool of_member = (kept & NET_KEEP_VALUE) != 0 && net_agg_member_has_value(node);
  net_ordered_init(&node->apart, of_member ? kept & ~(unsigned)NET_KEEP_VALUE : kept, compare,
                   node);
  net_ordered_apart(&node->apart, NET_AGG_APART_WORDS, of_member ? value_of : NULL);
}

void net_agg_tally_init(struct net_aggregate *node) {
  unsigned kept = net_agg_kept(node);
  bool integers = node->argument != NET_FLOAT && !net_type_is_interned(node->argument);
  net_ordered_init(&node->ordered, kept, integers ? NULL : net_agg_compare_values, node);
  if (node->is_apart) init_apart(node, kept, integers ? NULL : net_agg_compare_values);
  bool in_group = node->is_apart && (node->counts_tuples || node->stands_in_group);
  node->ranked = in_group ? &node->apart : &node->ordered;
  unsigned known = kept | NET_KEEP_END; /* their times are determinate */
  if (known & NET_KEEP_START) known ^= NET_KEEP_START | NET_KEEP_AT;
  net_ordered_init(&node->stairs, known, integers ? NULL : net_agg_compare_values, node);
  net_ordered_init(&node->floors, NET_KEEP_START, NULL, NULL);
}

/* --- neighbours in time: varts, avgti */

static uint64_t span_between(const struct net_ordered_key *a, const struct net_ordered_key *b) {
  return (uint64_t)b->start.lo - (uint64_t)a->start.lo;
}

static long double number_of(const struct net_aggregate *node, union net_slot value) {
  return node->argument == NET_FLOAT ? (long double)value.f : (long double)value.i;
}

static void count_span(struct net_tally *tally, uint64_t span, bool take_away) {
  net_wide_unsigned square = (net_wide_unsigned)span * span;
  if (take_away) {
    tally->spans -= span;
    tally->span_squares -= square;
  } else {
    tally->spans += span;
    tally->span_squares += square;
  }
}

/* The rate as a quotient of exact numbers, so that neither order nor what is gone shows in the sum. */
static void add_rate(struct net_aggregate *node, struct net_tally *tally,
                     const struct net_ordered_key *a, const struct net_ordered_key *b,
                     bool take_away) {
  uint64_t span = span_between(a, b);
  int64_t unit = net_agg_unit(node);
  if (node->argument == NET_FLOAT) {
    net_sum_add_quotient(&tally->rates, b->value.f, unit, span, take_away);
    net_sum_add_quotient(&tally->rates, a->value.f, unit, span, !take_away);
  } else {
    net_wide rise = (net_wide)b->value.i - a->value.i;
    net_sum_add_integer_quotient(&tally->rates, rise * unit, span, take_away);
  }
}

static void count_rate(struct net_aggregate *node, struct net_tally *tally,
                       const struct net_ordered_key *a, const struct net_ordered_key *b,
                       bool take_away) {
  int64_t sign = take_away ? -1 : 1;
  uint64_t span = span_between(a, b);
  if (span == 0) return;
  long double rise = number_of(node, b->value) - number_of(node, a->value);
  tally->pairs += sign;
  long double units = (long double)span / (long double)net_agg_unit(node);
  if (isfinite((double)(rise / units))) {
    add_rate(node, tally, a, b, take_away);
  } else {
    tally->infinite += sign;
  }
}

static bool has_neighbours(const struct net_aggregate *node) {
  return node->function == NET_AGG_VARTS || node->function == NET_AGG_AVGTI;
}

/* A and B are neighbours, or are so no longer. */
static void count_neighbours(struct net_aggregate *node, struct net_tally *tally,
                             const struct net_ordered_key *a, const struct net_ordered_key *b,
                             bool take_away) {
  if (node->function == NET_AGG_VARTS) {
    count_span(tally, span_between(a, b), take_away);
  } else {
    count_rate(node, tally, a, b, take_away);
  }
}

/* KEY, which stands for itself alone in the set, is there now (or, TAKE_AWAY, no longer). */
static void count_between(struct net_aggregate *node, struct net_tally *tally,
                          const struct net_ordered_key *key, bool take_away) {
  uint32_t before = net_ordered_before(node->ranked, tally->ordered, key);
  uint32_t after = net_ordered_after(node->ranked, tally->ordered, key);
  struct net_ordered_key a, b;
  if (before != 0) net_ordered_get(node->ranked, before, &a);
  if (after != 0) net_ordered_get(node->ranked, after, &b);
  if (before != 0 && after != 0) count_neighbours(node, tally, &a, &b, !take_away);
  if (before != 0) count_neighbours(node, tally, &a, key, take_away);
  if (after != 0) count_neighbours(node, tally, key, &b, take_away);
}

void net_agg_settle(struct net_aggregate *node, struct net_agg_group *group) {
  if (group->references > 0) return;
  uint32_t *root = &group->tally.ordered;
  uint32_t last = net_ordered_last(&node->ordered, *root);
  if (last == 0) return;
  struct net_ordered_key kept;
  net_ordered_get(&node->ordered, last, &kept);
  net_ordered_clear(&node->ordered, root);
  (void)net_ordered_insert(&node->ordered, root, &kept);
}

/* --- tuples that count, and those that do no longer */

static void sum(struct net_aggregate *node, struct net_tally *tally,
                const struct net_ordered_key *key, int64_t sign) {
  union net_slot value = key->value;
  if (node->argument == NET_INTEGER) {
    tally->sum += sign * (net_wide)value.i;
    return;
  }
  net_sum_add(&tally->exact, value.f, sign);
  if (node->argument != NET_TEMPORAL) return;
  net_sum_add(&tally->slopes, key->slope, sign);
  net_wide moment = sign * (net_wide)key->start.lo;
  if (moment > INT64_MAX) { /* the beginning, taken away */
    net_sum_add(&tally->moments, key->slope, INT64_MAX);
    moment = 1;
  }
  net_sum_add(&tally->moments, key->slope, (int64_t)moment);
}

static void sum_squares(struct net_aggregate *node, struct net_tally *tally,
                        const struct net_ordered_key *key, bool take_away) {
  union net_slot value = key->value;
  if (node->argument == NET_FLOAT) {
    net_sum_add(&tally->exact, value.f, take_away ? -1 : 1);
    net_sum_add_square(&tally->squares, value.f, take_away);
  } else {
    net_sum_add_integer(&tally->exact, value.i, take_away ? -1 : 1);
    net_sum_add_integer_square(&tally->squares, value.i, take_away);
  }
}

struct net_ordered_key net_agg_rank(const struct net_aggregate *node,
                                    const struct net_ordered_key *key) {
  struct net_ordered_key plain = *key;
  if (node->function == NET_AGG_MIN || node->function == NET_AGG_MAX || net_agg_is_quantile(node))
    plain.start = (struct net_instant){0, 0};
  return plain;
}

/* Functions whose tuples never go keep the best alone. */
static void choose(struct net_aggregate *node, struct net_agg_group *group,
                   const struct net_ordered_key *key) {
  struct net_ordered_key *best = &group->tally.best;
  int order = net_agg_compare(node, key, best);
  bool better = node->wants_smallest ? order < 0 : order > 0;
  if (net_agg_values(node, group) > 1 && !better) return;
  if (net_agg_values(node, group) > 1) net_agg_floor_remove(node, best->start.lo);
  net_agg_floor_add(node, key->start.lo);
  *best = *key;
}

/* Of functions whose value is one of the tuples. */
static void choose_among(struct net_aggregate *node, struct net_agg_group *group,
                         const struct net_ordered_key *key, bool comes) {
  uint32_t *ordered = &group->tally.ordered;
  if (comes && !node->goes) {
    choose(node, group, key);
  } else if (comes) {
    (void)net_ordered_insert(&node->ordered, ordered, key);
    net_agg_floor_add(node, key->start.lo);
  } else {
    (void)net_ordered_remove(&node->ordered, ordered, key);
    net_agg_floor_remove(node, key->start.lo);
  }
}

static inline void change(struct net_aggregate *node, struct net_agg_group *group,
                          const struct net_ordered_key *key, bool comes) {
  struct net_tally *tally = &group->tally;
  struct net_ordered_key rank = net_agg_rank(node, key);
  switch (node->function) {
    case NET_AGG_SUM:
    case NET_AGG_AVG:
      sum(node, tally, &rank, comes ? 1 : -1);
      break;
    case NET_AGG_STDEV:
      sum_squares(node, tally, &rank, !comes);
      break;
    case NET_AGG_QUANTILE:
    case NET_AGG_QUANTILE_OF:
      net_agg_quantile_change(node, group, &rank, comes);
      break;
    case NET_AGG_VARTS:
    case NET_AGG_AVGTI:
      if (comes ? net_ordered_insert(&node->ordered, &tally->ordered, &rank)
                : net_ordered_remove(&node->ordered, &tally->ordered, &rank))
        count_between(node, tally, &rank, !comes);
      break;
    default: /* of others the group has the number of tuples */
      if (net_aggregate_chooses(node->function)) choose_among(node, group, &rank, comes);
      break;
  }
}

void net_agg_add(struct net_aggregate *node, struct net_agg_group *group,
                 const struct net_ordered_key *key) {
  change(node, group, key, true);
}

void net_agg_remove(struct net_aggregate *node, struct net_agg_group *group,
                    const struct net_ordered_key *key) {
  change(node, group, key, false);
}

void net_agg_link(struct net_aggregate *node, struct net_agg_group *group, uint32_t place) {
  struct net_tally *tally = &group->tally;
  bool first = net_ordered_link(node->ranked, &tally->ordered, place);
  struct net_ordered_key key;
  net_ordered_get(node->ranked, place, &key);
  net_agg_floor_add(node, key.start.lo);
  if (first && has_neighbours(node)) count_between(node, tally, &key, false);
}

void net_agg_unlink(struct net_aggregate *node, struct net_agg_group *group, uint32_t place) {
  struct net_tally *tally = &group->tally;
  bool last = net_ordered_unlink(node->ranked, &tally->ordered, place);
  struct net_ordered_key key;
  net_ordered_get(node->ranked, place, &key);
  net_agg_floor_remove(node, key.start.lo);
  if (last && has_neighbours(node)) count_between(node, tally, &key, true);
}

/* --- avgc */

static void go_beyond(struct net_agg_group *group) {
  struct net_tally *tally = &group->tally;
  tally->beyond = true;
  net_sum_add_wide(&tally->weight, tally->whole_weight);
  net_sum_add_wide(&tally->integral, tally->whole_integral);
  net_sum_add_wide(&group->function.weight, group->function.whole_weight);
}

static inline bool integrate_whole(struct net_tally *tally, net_wide span) {
  net_wide area, integral;
  if (net_agg_is_word(tally->whole_weight) && net_agg_is_word(span)) {
    area = tally->whole_weight * span; /* of two words: it has room */
  } else if (__builtin_mul_overflow(tally->whole_weight, span, &area)) {
    return false;
  }
  if (__builtin_add_overflow(tally->whole_integral, area, &integral)) return false;
  tally->whole_integral = integral;
  return true;
}

void net_agg_weigh(struct net_aggregate *node, struct net_agg_group *group, union net_slot value,
                   int64_t sign) {
  if (net_agg_is_whole(node, &group->tally)) {
    group->tally.whole_weight += sign * (net_wide)value.i;
    return;
  }
  if (node->argument == NET_FLOAT) {
    net_sum_add(&group->tally.weight, value.f, sign);
  } else {
    net_sum_add_integer(&group->tally.weight, value.i, sign);
  }
}

void net_agg_integrate_weight(struct net_aggregate *node, struct net_agg_group *group,
                              net_chronon to) {
  struct net_tally *tally = &group->tally;
  net_chronon from = tally->integrated_to;
  tally->integrated_to = to;
  if (!node->averaging_known) return; /* what is not integrated so far has no weight */
  if (from < node->averaging_origin) from = node->averaging_origin;
  if (to <= from) return;
  net_wide span = (net_wide)to - from;
  if (net_agg_is_whole(node, tally)) {
    if (integrate_whole(tally, span)) return;
    go_beyond(group);
  }
  int64_t half = (int64_t)(span / 2); /* the whole may not fit */
  net_sum_add_multiple(&tally->integral, &tally->weight, half);
  net_sum_add_multiple(&tally->integral, &tally->weight, (int64_t)(span - half));
}

/* --- times that earliest and latest may choose */

/* Of the times that earliest and latest may yet choose: nothing comes back that has gone. They are those of
 * changes to come, of what is in an ordered set or the best of a group, and of the values of segments. */
net_chronon net_agg_floor(const struct net_aggregate *node, net_chronon checkpoint) {
  uint32_t first = net_ordered_first(&node->floors, node->floor_root);
  if (first == 0) return checkpoint;
  struct net_ordered_key key;
  net_ordered_get(&node->floors, first, &key);
  return key.start.lo < checkpoint ? key.start.lo : checkpoint;
}

void net_agg_floor_count(struct net_aggregate *node, net_chronon start, bool comes) {
  struct net_ordered_key key = {.start = {start, start}};
  if (comes) {
    (void)net_ordered_insert(&node->floors, &node->floor_root, &key);
  } else {
    (void)net_ordered_remove(&node->floors, &node->floor_root, &key);
  }
}

/* --- the end, and strings */

/* What is in the tally. */
enum tally_kind {
  NOTHING,
  BEST,
  SETS,
  INTEGERS,
  SPANS,
  EXACT,
  SQUARES,
  RATES,
  FUNCTIONS,
  AVERAGE,
  PLACES,
  VALUES
};

static enum tally_kind tally_kind(const struct net_aggregate *node) {
  switch (node->function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
      return NOTHING;
    case NET_AGG_SUM:
    case NET_AGG_AVG:
      if (node->argument == NET_TEMPORAL) return FUNCTIONS;
      return node->argument == NET_INTEGER ? INTEGERS : EXACT;
    case NET_AGG_STDEV:
      return SQUARES;
    case NET_AGG_VARTS:
      return SPANS;
    case NET_AGG_AVGTI:
      return RATES;
    case NET_AGG_AVGC:
      return AVERAGE;
    case NET_AGG_QUANTILE:
    case NET_AGG_QUANTILE_OF:
      return node->params.summary ? VALUES : PLACES;
    default:
      return node->goes && !node->chooses_time ? SETS : BEST;
  }
}

static void sums_done(enum tally_kind kind, struct net_tally *tally,
                      struct net_agg_function *function) {
  switch (kind) {
    case SQUARES:
      net_sum_done(&tally->squares);
      break;
    case FUNCTIONS:
      net_sum_done(&tally->slopes);
      net_sum_done(&tally->moments);
      net_sum_done(&function->exact);
      net_sum_done(&function->slopes);
      net_sum_done(&function->moments);
      break;
    default:
      break;
  }
  net_sum_done(&tally->exact);
}

void net_agg_group_done(struct net_aggregate *node, struct net_agg_group *group) {
  struct net_tally *tally = &group->tally;
  if (node->has_stairs) net_ordered_clear(&node->stairs, &group->tally.stairs);
  switch (tally_kind(node)) {
    case NOTHING:
    case INTEGERS:
      break;
    case BEST:
    case SETS:
    case SPANS:
    case PLACES:
      net_ordered_clear(node->ranked, &tally->ordered);
      break;
    case VALUES:
      free(tally->values);
      break;
    case RATES:
      net_ordered_clear(node->ranked, &tally->ordered);
      net_sum_done(&tally->rates);
      break;
    case EXACT:
    case SQUARES:
    case FUNCTIONS:
      sums_done(tally_kind(node), tally, &group->function);
      break;
    case AVERAGE:
      net_sum_done(&tally->weight);
      net_sum_done(&tally->integral);
      net_sum_done(&group->function.weight);
      break;
  }
}

#define UP_TO(LAST) \
  offsetof(struct net_agg_group, LAST) + sizeof(((struct net_agg_group *)NULL)->LAST)

size_t net_agg_group_size(const struct net_aggregate *node) {
  switch (tally_kind(node)) {
    case NOTHING:
      return UP_TO(value);
    case SETS:
      return UP_TO(tally.stairs);
    case BEST:
      return node->chooses_time ? UP_TO(tally.chosen) : UP_TO(tally.best);
    case INTEGERS:
      return UP_TO(tally.sum);
    case SPANS:
      return UP_TO(tally.span_squares);
    case EXACT:
      return UP_TO(tally.exact);
    case SQUARES:
      return UP_TO(tally.squares);
    case RATES:
      return UP_TO(tally.infinite);
    case PLACES:
      return UP_TO(tally.below);
    case VALUES:
      return UP_TO(tally.value_capacity);
    case FUNCTIONS:
      return UP_TO(function.count);
    case AVERAGE:
      break;
  }
  return UP_TO(function.whole_weight);
}

static void mark_keys(const struct net_ordered *sets, struct base_strings *strings) {
  struct net_ordered_key key;
  if (sets->value != NULL) return; /* members have them */
  for (uint32_t i = 1; i < sets->used; i++) {
    if (!net_ordered_has_key(sets, i)) continue;
    net_ordered_get(sets, i, &key);
    base_strings_mark(strings, key.value.s);
  }
}

/* What groups have of strings outside of ordered sets. */
static void mark_groups(const struct net_aggregate *node, struct base_strings *strings) {
  for (uint32_t i = 0; (i = net_rowmap_next(&node->groups, i)) < node->groups.used; i++) {
    const struct net_agg_group *group = net_agg_group(node, i);
    if (group->begun) base_strings_mark(strings, group->value.s);
    if (net_agg_is_quantile(node)) {
      for (size_t k = 0; node->params.summary && k < group->tally.value_count; k++)
        base_strings_mark(strings, group->tally.values[k].s);
    } else if (!node->goes) {
      base_strings_mark(strings, group->tally.best.value.s);
    }
  }
}

bool net_agg_mark_strings(const struct net_aggregate *node, struct base_strings *strings) {
  bool keeps = net_aggregate_chooses(node->function) || node->function == NET_AGG_QUANTILE_OF;
  if (!keeps || (!net_type_is_interned(node->argument))) return false;
  mark_keys(&node->ordered, strings);
  mark_keys(&node->apart, strings);
  mark_keys(&node->stairs, strings);
  mark_groups(node, strings);
  return true;
}
