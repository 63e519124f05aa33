/* All combinations of tuples, and for aggregates of stretches, one by one. */
#include "tests/oracle/oracle.h"

#include <string.h>

#include "tests/oracle/oracle_internal.h"

static bool outside(const struct oracle *oracle, size_t variable) {
  return oracle->query->variables[variable].outside;
}

static bool is_event(const struct oracle *oracle, size_t variable) {
  return oracle->inputs[variable].layout->tuple_class == NET_EVENT;
}

/* --- conditions of a combination */

/* With `at`, or a given `when`, aggregates have the value of the result's instant. */
static bool aggregates_at(const struct ng_query *query) {
  return query->aggregate_count > 0 && query->result_class == NET_EVENT &&
         (query->at || query->when);
}

struct participants {
  struct oracle_alternative *items;
  bool *aggregate;
  size_t count;
};

static struct participants participants_of(const struct oracle *oracle) {
  const struct ng_query *query = oracle->query;
  size_t most = query->variable_count + query->aggregate_count;
  struct participants list = {BASE_NEW_ARRAY(oracle->arena, most, struct oracle_alternative),
                              BASE_NEW_ARRAY(oracle->arena, most, bool), 0};
  for (size_t i = 0; i < query->variable_count; i++) {
    if (!outside(oracle, i)) continue;
    list.items[list.count++] = oracle_of_tuple(oracle, (unsigned)i);
  }
  for (size_t i = 0; i < query->aggregate_count; i++) {
    list.aggregate[list.count] = true;
    list.items[list.count++] = oracle_of_segment(oracle->segments[i]);
  }
  return list;
}

/* The default `when`: all pairs overlap. A given one replaces it between tuples. */
static enum net_truth common_point(const struct oracle *oracle, const struct participants *list) {
  enum net_truth truth = NET_TRUE;
  for (size_t i = 0; i < list->count; i++)
    for (size_t j = 0; j < i; j++) {
      bool aggregate = list->aggregate[i] || list->aggregate[j];
      if (aggregate ? aggregates_at(oracle->query) : oracle->query->when != NULL) continue;
      truth = net_and(truth, oracle_overlap(&list->items[i], &list->items[j]));
    }
  return truth;
}

static enum net_truth all_definite(const struct oracle *oracle) {
  const struct ng_query *query = oracle->query;
  for (size_t i = 0; i < query->variable_count; i++)
    if (outside(oracle, i) && !oracle->tuples[i]->definite) return NET_UNKNOWN;
  for (size_t i = 0; i < query->aggregate_count; i++)
    if (!oracle->segments[i]->definite) return NET_UNKNOWN;
  return NET_TRUE;
}

/* --- the implicit time */

/* What a delimiter gives: its start; `stop` clauses its stop. */
static struct oracle_alternative delimiter(struct oracle *oracle, const struct ng_expr *expr) {
  struct oracle_alternatives list = {0};
  oracle_temporal(oracle, expr, &list);
  return list.items[0];
}

static struct oracle_alternative default_time(const struct oracle *oracle,
                                              const struct participants *list, bool events_only) {
  struct oracle_alternative time = {.own_start = -1, .own_stop = -1};
  bool first = true;
  for (size_t i = 0; i < list->count; i++) {
    const struct oracle_alternative *item = &list->items[i];
    if (events_only && !item->event) continue;
    if (first) {
      time = *item;
    } else if (events_only) {
      time.start.lo = item->start.lo > time.start.lo ? item->start.lo : time.start.lo;
      time.start.hi = item->start.hi < time.start.hi ? item->start.hi : time.start.hi;
    } else {
      time.start = net_later(time.start, item->start);
      time.stop = net_earlier(time.stop, item->stop);
      time.own_start = time.own_stop = -1;
    }
    first = false;
  }
  if (!first) return time;
  net_chronon origin = oracle->query->origin;
  time.start = (struct net_instant){origin, origin};
  time.stop = (struct net_instant){NET_FOREVER, NET_FOREVER};
  return time;
}

static enum net_truth event_time(struct oracle *oracle, const struct participants *list,
                                 struct net_instant *ret) {
  const struct ng_query *query = oracle->query;
  bool events = false;
  for (size_t i = 0; i < query->variable_count; i++)
    events = events || (outside(oracle, i) && is_event(oracle, i));
  struct oracle_alternative at =
      query->at ? delimiter(oracle, query->at) : default_time(oracle, list, events);
  at.event = true;
  at.stop = at.start;
  *ret = at.start;
  enum net_truth truth = NET_TRUE;
  if (!aggregates_at(query)) return truth;
  for (size_t i = 0; i < list->count; i++)
    if (list->aggregate[i]) truth = net_and(truth, oracle_overlap(&at, &list->items[i]));
  return truth;
}

static enum net_truth period_time(struct oracle *oracle, const struct participants *list,
                                  struct net_period *ret) {
  const struct ng_query *query = oracle->query;
  struct oracle_alternative time = default_time(oracle, list, false);
  if (query->start) {
    struct oracle_alternative start = delimiter(oracle, query->start);
    time.start = start.start;
    time.own_start = start.own_start;
  }
  if (query->stop) {
    struct oracle_alternative stop = delimiter(oracle, query->stop);
    time.stop = stop.stop;
    time.own_stop = stop.own_stop;
  }
  *ret = (struct net_period){time.start, time.stop};
  bool own = time.own_start >= 0 && time.own_start % 2 == 0 && time.own_stop == time.own_start + 1;
  if (own) return NET_TRUE;
  enum net_truth truth = net_nonempty(*ret);
  if (ret->start.hi > ret->stop.hi) ret->start.hi = ret->stop.hi;
  if (ret->stop.lo < ret->start.lo) ret->stop.lo = ret->start.lo;
  return truth;
}

/* --- result rows */

static void store(union net_slot *slot, const struct oracle_value *value) {
  switch (value->base) {
    case NET_FLOAT:
      slot->f = value->f;
      break;
    case NET_BOOL:
      slot->i = value->truth == NET_TRUE;
      break;
    case NET_STRING:
    case NET_NAME:
      slot->s = value->s;
      break;
    case NET_TEMPORAL: {
      struct oracle_function f = oracle_normal(value->function);
      slot[0].f = (double)f.n0;
      slot[1].f = (double)f.n1;
      slot[2].f = (double)f.d0;
      slot[3].f = (double)f.d1;
      break;
    }
    default:
      slot->i = value->i;
  }
}

static void check_width(struct oracle *oracle, struct net_type type, int64_t value) {
  if (type.base != NET_INTEGER || type.width >= 8) return;
  int64_t limit = (int64_t)1 << (8 * type.width - 1);
  if (value < -limit || value >= limit) oracle_fail(oracle, "integer overflow");
}

static void add_result(struct oracle *oracle, struct net_period time, bool definite,
                       struct oracle_relation *ret) {
  const struct ng_query *query = oracle->query;
  const struct net_layout *layout = query->layout;
  union net_slot *row = BASE_NEW_ARRAY(oracle->arena, layout->slot_count, union net_slot);
  row[0].i = time.start.lo;
  row[1].i = time.start.hi;
  if (layout->tuple_class == NET_PERIOD) {
    row[2].i = time.stop.lo;
    row[3].i = time.stop.hi;
  }
  oracle->rebase = true;
  oracle->rebase_to = time.start.lo;
  for (size_t i = 0; i < query->target_count; i++) {
    struct oracle_value value = oracle_scalar(oracle, query->targets[i].expr);
    check_width(oracle, layout->fields[i].type, value.i);
    if (!oracle->error) store(row + layout->fields[i].slot, &value);
  }
  oracle->rebase = false;
  if (!oracle->error) oracle_add(oracle->arena, ret, row, definite);
}

static void evaluate_combination(struct oracle *oracle, struct oracle_relation *ret) {
  const struct ng_query *query = oracle->query;
  for (size_t i = 0; i < query->aggregate_count; i++)
    if (!oracle_right_group(oracle, i)) return;
  struct participants list = participants_of(oracle);
  struct net_period time = {{0, 0}, {0, 0}};
  enum net_truth truth = all_definite(oracle);
  truth = net_and(truth, common_point(oracle, &list));
  truth = net_and(truth, query->result_class == NET_EVENT ? event_time(oracle, &list, &time.start)
                                                          : period_time(oracle, &list, &time));
  if (truth == NET_FALSE) return;
  truth = net_and(truth, oracle_condition(oracle, query->when));
  if (truth == NET_FALSE) return;
  truth = net_and(truth, oracle_condition(oracle, query->where));
  if (truth == NET_FALSE || oracle->error) return;
  add_result(oracle, time, truth == NET_TRUE, ret);
}

/* Chooses for variable or aggregate number DEPTH, then for the next. */
static void combine_from(struct oracle *oracle, size_t depth, struct oracle_relation *ret) {
  const struct ng_query *query = oracle->query;
  if (oracle->error) return;
  if (depth == query->variable_count + query->aggregate_count) {
    evaluate_combination(oracle, ret);
    return;
  }
  if (depth >= query->variable_count) {
    size_t index = depth - query->variable_count;
    for (size_t i = 0; i < oracle->aggregates[index].count; i++) {
      oracle->segments[index] = &oracle->aggregates[index].items[i];
      combine_from(oracle, depth + 1, ret);
    }
    return;
  }
  if (!outside(oracle, depth)) {
    combine_from(oracle, depth + 1, ret);
    return;
  }
  for (size_t i = 0; i < oracle->inputs[depth].count; i++) {
    oracle->tuples[depth] = &oracle->inputs[depth].tuples[i];
    combine_from(oracle, depth + 1, ret);
  }
}

/* --- inputs */

static net_chronon middle(net_chronon lo, net_chronon hi) {
  return (net_chronon)(lo + (net_chronon)(((uint64_t)hi - (uint64_t)lo) / 2));
}

/* `with credibility 0`: instants collapse to their middles, omega tuples are left out. */
static struct oracle_relation collapsed(struct oracle *oracle,
                                        const struct oracle_relation *input) {
  struct oracle_relation result = {.layout = input->layout};
  for (size_t i = 0; i < input->count; i++) {
    if (!input->tuples[i].definite) continue;
    oracle_add(oracle->arena, &result, input->tuples[i].row, true);
    union net_slot *row = result.tuples[result.count - 1].row;
    for (uint32_t j = 0; j < input->layout->first_domain_slot; j += 2)
      row[j].i = row[j + 1].i = middle(row[j].i, row[j + 1].i);
    if (input->layout->tuple_class == NET_PERIOD && row[0].i >= row[2].i) result.count--;
  }
  oracle_make_set(&result);
  return result;
}

const char *oracle_evaluate(struct base_arena *arena, const struct oracle_world *world,
                            const struct ng_query *query, struct oracle_relation *ret) {
  struct oracle oracle = {.arena = arena, .world = world, .query = query};
  *ret = (struct oracle_relation){.layout = query->layout};
  if (query->coalesced) return "coalesced";
  oracle.inputs = BASE_NEW_ARRAY(arena, query->variable_count, struct oracle_relation);
  oracle.tuples = BASE_NEW_ARRAY(arena, query->variable_count, const struct oracle_tuple *);
  oracle.aggregates = BASE_NEW_ARRAY(arena, query->aggregate_count, struct oracle_segments);
  oracle.segments = BASE_NEW_ARRAY(arena, query->aggregate_count, const struct oracle_segment *);
  for (size_t i = 0; i < query->variable_count; i++) {
    oracle.inputs[i] = *world->find(world->context, query->variables[i].relation->name);
    if (query->variables[i].credibility) oracle.inputs[i] = collapsed(&oracle, &oracle.inputs[i]);
  }
  for (size_t i = 0; i < query->aggregate_count; i++)
    oracle_aggregate(&oracle, i, &oracle.aggregates[i]);
  combine_from(&oracle, 0, ret);
  oracle_make_set(ret);
  return oracle.error;
}
