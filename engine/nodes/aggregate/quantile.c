/* Aggregate: quantiles, exactly.
 *
 *     values in order      3   5   5   7   9  12
 *                                      ^
 *                                 at, below = 3
 *
 * The values that count are an ordered set (ordered.h), and one of them is known with its place: how many are less. A
 * value that comes or goes moves the place by one at most, and so much moves what is asked for; so the value that is asked
 * for is a few neighbours away, whatever has changed, and each change takes the logarithm of the number of values.
 *
 * A summary is asked once, when all are there: it keeps the values as they come, and puts no more of them in order than it
 * must. */
#include <math.h>
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/nodes/aggregate/aggregate.h"

static int compare(const struct net_aggregate *node, union net_slot a, union net_slot b) {
  return net_agg_compare(node, &(struct net_ordered_key){.value = a},
                         &(struct net_ordered_key){.value = b});
}

/* --- what comes and goes */

/* KEY is not there any more: where it was, a neighbour is. */
static void leave(struct net_aggregate *node, struct net_tally *tally,
                  const struct net_ordered_key *key) {
  struct net_ordered *sets = &node->ordered;
  tally->at = net_ordered_after(sets, tally->ordered, key);
  if (tally->at != 0 || tally->ordered == 0) return;
  tally->at = net_ordered_before(sets, tally->ordered, key);
  tally->below -= net_ordered_count(sets, tally->at);
}

static void keep_for_later(struct net_tally *tally, union net_slot value) {
  base_grow_large(&tally->values, &tally->value_capacity, tally->value_count + 1,
                  sizeof *tally->values);
  tally->values[tally->value_count++] = value;
}

void net_agg_quantile_change(struct net_aggregate *node, struct net_agg_group *group,
                             const struct net_ordered_key *key, bool comes) {
  struct net_tally *tally = &group->tally;
  struct net_ordered *sets = &node->ordered;
  if (node->params.summary) {
    keep_for_later(tally, key->value);
    return;
  }
  if (tally->ordered == 0) {
    (void)net_ordered_insert(sets, &tally->ordered, key);
    tally->at = tally->ordered;
    tally->below = 0;
    return;
  }
  struct net_ordered_key at;
  net_ordered_get(sets, tally->at, &at);
  int order = compare(node, key->value, at.value);
  bool alone = comes ? net_ordered_insert(sets, &tally->ordered, key)
                     : net_ordered_remove(sets, &tally->ordered, key);
  if (order < 0) tally->below += comes ? 1 : -1;
  if (order == 0 && !comes && alone) leave(node, tally, key);
}

/* --- places */

/* The values at place INDEX, from 0 on, and at the next one, or the same if there is none or it is not WANTED. */
struct around {
  union net_slot value, next;
};

static struct around around_in_order(struct net_aggregate *node, struct net_tally *tally,
                                     int64_t index, bool wanted) {
  struct net_ordered *sets = &node->ordered;
  struct net_ordered_key key;
  net_ordered_get(sets, tally->at, &key);
  while (index < tally->below) {
    tally->at = net_ordered_before(sets, tally->ordered, &key);
    net_ordered_get(sets, tally->at, &key);
    tally->below -= net_ordered_count(sets, tally->at);
  }
  while (index >= tally->below + net_ordered_count(sets, tally->at)) {
    tally->below += net_ordered_count(sets, tally->at);
    tally->at = net_ordered_after(sets, tally->ordered, &key);
    net_ordered_get(sets, tally->at, &key);
  }
  struct around around = {key.value, key.value};
  if (!wanted || index + 1 < tally->below + net_ordered_count(sets, tally->at)) return around;
  uint32_t after = net_ordered_after(sets, tally->ordered, &key);
  if (after == 0) return around;
  net_ordered_get(sets, after, &key);
  around.next = key.value;
  return around;
}

/* --- the same of values in no order */

struct selecting {
  const struct net_aggregate *node;
  union net_slot *values;
};

static int compare_slots(const void *a, const void *b, void *node) {
  return compare(node, *(const union net_slot *)a, *(const union net_slot *)b);
}

static void swap(union net_slot *a, union net_slot *b) {
  union net_slot kept = *a;
  *a = *b;
  *b = kept;
}

/* The middle one of three. */
static union net_slot pivot(const struct selecting *selecting, size_t from, size_t to) {
  union net_slot a = selecting->values[from], b = selecting->values[from + (to - from) / 2],
                 c = selecting->values[to - 1];
  if (compare(selecting->node, a, b) > 0) swap(&a, &b);
  if (compare(selecting->node, b, c) > 0) b = c;
  return compare(selecting->node, a, b) > 0 ? a : b;
}

/* Brings the values in FROM .. TO into three parts, less than VALUE, equal, and greater: *RET_LESS and *RET_GREATER are where
 * the second and the third begin. */
static void divide(const struct selecting *selecting, size_t from, size_t to, union net_slot value,
                   size_t *ret_less, size_t *ret_greater) {
  union net_slot *values = selecting->values;
  size_t less = from, greater = to;
  for (size_t i = from; i < greater;) {
    int order = compare(selecting->node, values[i], value);
    if (order < 0)
      swap(&values[less++], &values[i++]);
    else if (order > 0)
      swap(&values[i], &values[--greater]);
    else
      i++;
  }
  *ret_less = less;
  *ret_greater = greater;
}

/* The value at INDEX in order; what is before it there is not greater, and what is behind it not less. After more steps than
 * are likely all that is left is put in order. */
static void select_place(const struct selecting *selecting, size_t count, size_t index) {
  size_t from = 0, to = count;
  unsigned steps = 4;
  for (size_t left = count; left > 0; left /= 2) steps += 2;
  while (to - from > 1) {
    if (steps-- == 0) {
      qsort_r(selecting->values + from, to - from, sizeof *selecting->values, compare_slots,
              (void *)selecting->node);
      return;
    }
    size_t less, greater;
    divide(selecting, from, to, pivot(selecting, from, to), &less, &greater);
    if (index >= less && index < greater) return;
    if (index < less)
      to = less;
    else
      from = greater;
  }
}

static struct around around_of_all(struct net_aggregate *node, struct net_tally *tally,
                                   int64_t index, bool wanted) {
  struct selecting selecting = {node, tally->values};
  size_t place = (size_t)index;
  select_place(&selecting, tally->value_count, place);
  struct around around = {tally->values[place], tally->values[place]};
  for (size_t i = place + 1; i < tally->value_count && wanted; i++)
    if (i == place + 1 || compare(node, tally->values[i], around.next) < 0)
      around.next = tally->values[i];
  return around;
}

static struct around around_at(struct net_aggregate *node, struct net_agg_group *group,
                               int64_t index, bool wanted) {
  return node->params.summary ? around_of_all(node, &group->tally, index, wanted)
                              : around_in_order(node, &group->tally, index, wanted);
}

/* --- the value */

static long double number(const struct net_aggregate *node, union net_slot value) {
  return node->argument == NET_FLOAT ? (long double)value.f : (long double)value.i;
}

union net_slot net_agg_quantile(struct net_aggregate *node, struct net_agg_group *group) {
  double fraction = node->params.fraction;
  int64_t count = net_agg_values(node, group);
  if (node->function == NET_AGG_QUANTILE_OF) {
    int64_t index = (int64_t)ceil(fraction * (double)count) - 1;
    if (index >= count) index = count - 1;
    return around_at(node, group, index > 0 ? index : 0, false).value;
  }
  double place = fraction * (double)(count - 1);
  int64_t index = (int64_t)place;
  if (index >= count) index = count - 1;
  struct around around = around_at(node, group, index, place > (double)index);
  long double low = number(node, around.value), high = number(node, around.next);
  long double share = (long double)(place - (double)index);
  return (union net_slot){.f = (double)(low + share * (high - low)) + 0.0};
}
