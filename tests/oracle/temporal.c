/* Temporal and event expressions on one combination: every expression denotes a condition, a start
 * and a stop; `|` keeps alternatives apart until the condition is asked for.
 *
 * An alternative also remembers whether its start and stop are a tuple's own, untouched: a result
 * that has both ends of one tuple keeps that tuple's period as it is.                              */
#include <string.h>

#include "tests/oracle/oracle_internal.h"

static void add(struct oracle *oracle, struct oracle_alternatives *list,
                struct oracle_alternative alternative) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 4;
    struct oracle_alternative *items =
        BASE_NEW_ARRAY(oracle->arena, capacity, struct oracle_alternative);
    if (list->count) memcpy(items, list->items, list->count * sizeof *items);
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = alternative;
}

struct oracle_alternative oracle_of_tuple(const struct oracle *oracle, unsigned variable) {
  bool event = oracle->inputs[variable].layout->tuple_class == NET_EVENT;
  const union net_slot *row = oracle->tuples[variable]->row;
  struct net_instant start = {row[0].i, row[1].i};
  struct net_instant stop = event ? start : (struct net_instant){row[2].i, row[3].i};
  int own = event ? -1 : 2 * (int)variable;
  return (struct oracle_alternative){NET_TRUE, start, stop, event, own, event ? -1 : own + 1};
}

/* The period that aggregate INDEX is at the moment, a tuple like others. */
struct oracle_alternative oracle_of_segment(const struct oracle *oracle, size_t index) {
  const struct oracle_segment *segment = oracle->segments[index];
  int own = 2 * (int)(oracle->query->variable_count + oracle->query->aggregate_count + index);
  return (struct oracle_alternative){NET_TRUE, segment->time.start, segment->time.stop, false, own,
                                     own + 1};
}

/* The tuple that earliest or latest chose. */
static struct oracle_alternative of_choice(const struct oracle *oracle, unsigned index) {
  const struct oracle_segment *segment = oracle->segments[index];
  bool event = segment->chosen_event;
  int own = event ? -1 : 2 * (int)(oracle->query->variable_count + index);
  return (struct oracle_alternative){NET_TRUE, segment->chosen.start, segment->chosen.stop, event,
                                     own,      event ? -1 : own + 1};
}

static struct net_period period_of(const struct oracle_alternative *a) {
  return (struct net_period){a->start, a->stop};
}

enum net_truth oracle_overlap(const struct oracle_alternative *a,
                              const struct oracle_alternative *b) {
  if (a->event && b->event) return net_equal_instants(a->start, b->start);
  if (a->event) return net_overlap_event(a->start, period_of(b));
  if (b->event) return net_overlap_event(b->start, period_of(a));
  return net_overlap_periods(period_of(a), period_of(b));
}

static struct net_instant common(struct net_instant a, struct net_instant b) {
  return (struct net_instant){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static struct oracle_alternative combine(struct oracle *oracle, const struct ng_expr *expr,
                                         const struct oracle_alternative *a,
                                         const struct oracle_alternative *b) {
  struct oracle_alternative r = {.own_start = -1, .own_stop = -1};
  enum net_truth condition = NET_TRUE;
  switch (expr->op) {
    case NG_T_SEQUENCE:
      condition = net_before(a->stop, b->start);
      if (expr->index != NG_SEQUENCE_FULL && !oracle->absent && condition != NET_FALSE)
        condition = net_and(condition, oracle_closest(oracle, expr, a->stop, b->start));
      if (expr->integer >= 0)
        condition = net_and(condition, net_within(a->stop, b->start, expr->integer));
      r.start = a->start;
      r.stop = b->stop;
      r.own_start = a->own_start;
      r.own_stop = b->own_stop;
      break;
    case NG_T_OVERLAP:
      condition = oracle_overlap(a, b);
      r.event = a->event || b->event;
      if (a->event && b->event) {
        r.start = r.stop = common(a->start, b->start);
      } else if (r.event) {
        r.start = r.stop = a->event ? a->start : b->start;
        r.own_start = r.own_stop = a->event ? a->own_start : b->own_start;
      } else {
        r.start = net_later(a->start, b->start);
        r.stop = net_earlier(a->stop, b->stop);
      }
      break;
    case NG_T_PRECEDE:
      condition = net_not_after(a->stop, b->start);
      break;
    case NG_T_EQUAL:
      condition = a->event && b->event ? net_equal_instants(a->start, b->start)
                                       : net_equal_periods(period_of(a), period_of(b));
      break;
    case NG_T_CONTAIN:
      condition = net_contain(period_of(a), period_of(b));
      break;
    default: /* coverage, extend */
      r.start = net_earlier(a->start, b->start);
      r.stop = net_later(a->stop, b->stop);
  }
  r.condition = net_and(condition, net_and(a->condition, b->condition));
  return r;
}

/* The reserved values stay where they are. */
static net_chronon moved(struct oracle *oracle, net_chronon time, int64_t by) {
  net_chronon result;
  if (time == NET_FOREVER || time == NET_BEGINNING) return time;
  if (__builtin_add_overflow(time, by, &result) || result == NET_FOREVER ||
      result == NET_BEGINNING) {
    oracle_fail(oracle, "outside the time line");
    return time;
  }
  return result;
}

void oracle_temporal(struct oracle *oracle, const struct ng_expr *expr,
                     struct oracle_alternatives *ret) {
  struct oracle_alternatives left = {0}, right = {0};
  switch (expr->op) {
    case NG_T_VARIABLE:
      add(oracle, ret, oracle_of_tuple(oracle, expr->variable));
      return;
    case NG_T_AGGREGATE:
      add(oracle, ret, of_choice(oracle, expr->index));
      return;
    case NG_T_CONSTANT:
      add(oracle, ret,
          (struct oracle_alternative){NET_TRUE, expr->instant, expr->instant, true, -1, -1});
      return;
    case NG_T_START:
    case NG_T_STOP:
      oracle_temporal(oracle, expr->args[0], &left);
      for (size_t i = 0; i < left.count; i++) {
        const struct oracle_alternative *of = &left.items[i];
        struct oracle_alternative r = {.condition = NET_TRUE, .event = true};
        bool start = expr->op == NG_T_START;
        r.start = r.stop = start ? of->start : of->stop;
        r.own_start = r.own_stop = start ? of->own_start : of->own_stop;
        add(oracle, ret, r);
      }
      return;
    case NG_T_SHIFT:
      oracle_temporal(oracle, expr->args[0], &left);
      for (size_t i = 0; i < left.count; i++) {
        struct oracle_alternative r = left.items[i];
        r.start.lo = moved(oracle, r.start.lo, expr->integer);
        r.start.hi = moved(oracle, r.start.hi, expr->integer);
        r.stop = r.start;
        r.own_start = r.own_stop = -1;
        add(oracle, ret, r);
      }
      return;
    case NG_T_CHOICE:
      oracle_temporal(oracle, expr->args[0], ret);
      oracle_temporal(oracle, expr->args[1], ret);
      return;
    case NG_T_SEQUENCE:
    case NG_T_OVERLAP:
    case NG_T_COVERAGE:
    case NG_T_EXTEND:
    case NG_T_PRECEDE:
    case NG_T_EQUAL:
    case NG_T_CONTAIN:
      oracle_temporal(oracle, expr->args[0], &left);
      oracle_temporal(oracle, expr->args[1], &right);
      for (size_t i = 0; i < left.count; i++)
        for (size_t j = 0; j < right.count; j++)
          add(oracle, ret, combine(oracle, expr, &left.items[i], &right.items[j]));
      return;
    default:
      oracle_fail(oracle, "temporal expression");
  }
}

enum net_truth oracle_holds(struct oracle *oracle, const struct ng_expr *expr) {
  struct oracle_alternatives alternatives = {0};
  oracle_temporal(oracle, expr, &alternatives);
  enum net_truth truth = NET_FALSE;
  for (size_t i = 0; i < alternatives.count; i++)
    truth = net_or(truth, alternatives.items[i].condition);
  return truth;
}
