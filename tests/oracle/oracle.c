/* All combinations of tuples, and for aggregates of stretches, one by one. */
#include "tests/oracle/oracle.h"

#include <math.h>
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
  bool *condition; /* has no part in the result's time (updates) */
  size_t count;
};

static struct participants participants_of(const struct oracle *oracle) {
  const struct ng_query *query = oracle->query;
  size_t most = query->variable_count + 2 * query->aggregate_count;
  struct participants list = {BASE_NEW_ARRAY(oracle->arena, most, struct oracle_alternative),
                              BASE_NEW_ARRAY(oracle->arena, most, bool),
                              BASE_NEW_ARRAY(oracle->arena, most, bool), 0};
  for (size_t i = 0; i < query->variable_count; i++) {
    if (!outside(oracle, i)) continue;
    list.condition[list.count] = query->one_delimits && i != query->delimiter;
    list.items[list.count++] = oracle_of_tuple(oracle, (unsigned)i);
  }
  for (size_t i = 0; i < query->aggregate_count; i++) {
    list.aggregate[list.count] = true;
    list.items[list.count++] = oracle_of_segment(oracle, i);
  }
  for (size_t i = 0; i < query->aggregate_count; i++) {
    if (!oracle->doubts[i]) continue;
    list.aggregate[list.count] = true;
    list.items[list.count++] = (struct oracle_alternative){.condition = NET_TRUE,
                                                           .start = oracle->doubts[i]->time.start,
                                                           .stop = oracle->doubts[i]->time.stop,
                                                           .own_start = -1,
                                                           .own_stop = -1};
  }
  return list;
}

/* The default `when`: all pairs overlap. A given one replaces it between tuples, an instant of the result that
 * between a tuple and an aggregate. Aggregates always speak of one chronon: of an instant that is not known they
 * would have values, each by itself, that they never have at the same time. */
static enum net_truth common_point(const struct oracle *oracle, const struct participants *list) {
  enum net_truth truth = NET_TRUE;
  for (size_t i = 0; i < list->count; i++)
    for (size_t j = 0; j < i; j++) {
      unsigned aggregates = list->aggregate[i] + list->aggregate[j];
      if (aggregates == 0 && oracle->query->when) continue;
      if (aggregates == 1 && aggregates_at(oracle->query)) continue;
      truth = net_and(truth, oracle_overlap(&list->items[i], &list->items[j]));
    }
  return truth;
}

static enum net_truth all_definite(const struct oracle *oracle) {
  const struct ng_query *query = oracle->query;
  for (size_t i = 0; i < query->variable_count; i++)
    if (outside(oracle, i) && !oracle->tuples[i]->definite &&
        !(query->one_delimits && i == query->delimiter))
      return NET_UNKNOWN;
  for (size_t i = 0; i < query->aggregate_count; i++)
    if (!oracle->segments[i]->definite || (oracle->doubts[i] && !oracle->doubts[i]->definite))
      return NET_UNKNOWN;
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
    if ((events_only && !item->event) || list->condition[i]) continue;
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
  /* What is absent has no part in it. */
  net_chronon origin = oracle->query->origin_given ? oracle->query->origin : NET_BEGINNING;
  time.start = (struct net_instant){origin, origin};
  time.stop = (struct net_instant){NET_FOREVER, NET_FOREVER};
  return time;
}

static enum net_truth event_time(struct oracle *oracle, const struct participants *list,
                                 struct net_instant *ret) {
  const struct ng_query *query = oracle->query;
  bool events = false;
  for (size_t i = 0; i < query->variable_count; i++)
    events = events || (outside(oracle, i) && is_event(oracle, i) &&
                        !(query->one_delimits && i != query->delimiter));
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
    case NET_BYTES:
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

static int64_t points_of_text(const char *text) {
  int64_t count = 0;
  for (; *text; text++) count += ((unsigned char)*text & 0xC0) != 0x80;
  return count;
}

static void check_type(struct oracle *oracle, struct net_type type,
                       const struct oracle_value *value) {
  if (type.base == NET_INTEGER && type.width < 8) {
    int64_t limit = (int64_t)1 << (8 * type.width - 1);
    if (value->i < -limit || value->i >= limit) oracle_fail(oracle, "integer overflow");
  } else if (type.base == NET_STRING && type.width > 0) {
    const char *text = base_strings_text(oracle->world->strings, value->s, NULL);
    if (points_of_text(text) > type.width) oracle_fail(oracle, "string too long");
  } else if (type.base == NET_FLOAT && type.width == 4 && isinf((float)value->f)) {
    oracle_fail(oracle, "out of range");
  }
}

static void add_match(struct oracle *oracle, struct net_period time, bool definite) {
  struct oracle_matches *list = oracle->matches;
  size_t count = oracle->query->variable_count;
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 8;
    struct oracle_match *items = BASE_NEW_ARRAY(oracle->arena, capacity, struct oracle_match);
    if (list->count) memcpy(items, list->items, list->count * sizeof *items);
    list->items = items;
    list->capacity = capacity;
  }
  struct oracle_match match = {.time = time, .definite = definite};
  match.tuples = BASE_NEW_ARRAY(oracle->arena, count, const struct oracle_tuple *);
  memcpy(match.tuples, oracle->tuples, count * sizeof *match.tuples);
  list->items[list->count++] = match;
}

/* Are the combination's tuples and values certain, and something is missing of an aggregate? */
static bool is_doubted_alone(const struct oracle *oracle) {
  bool doubted = false, definite = true;
  const struct ng_query *query = oracle->query;
  for (size_t i = 0; i < query->variable_count; i++)
    definite = definite && (!oracle->tuples[i] || oracle->tuples[i]->definite);
  for (size_t i = 0; i < query->aggregate_count; i++) {
    definite = definite && oracle->segments[i]->definite;
    doubted = doubted || (oracle->doubts[i] && !oracle->doubts[i]->definite);
  }
  return oracle->world->doubted && doubted && definite;
}

/* The combination's row at TIME; NULL: a target fails, and what happens at `forever` may fail or not. */
static union net_slot *make_row(struct oracle *oracle, struct net_period time) {
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
    if (!oracle->error) check_type(oracle, layout->fields[i].type, &value);
    if (!oracle->error) store(row + layout->fields[i].slot, &value);
  }
  oracle->rebase = false;
  if (!oracle->error) return row;
  if (time.start.lo == NET_FOREVER) {
    oracle->may_fail = true;
    oracle->error = NULL;
  }
  return NULL;
}

static void add_row(struct oracle *oracle, const union net_slot *row, struct net_period time,
                    bool definite, struct oracle_relation *ret) {
  if (!definite && is_doubted_alone(oracle)) ++*oracle->world->doubted;
  oracle_add(oracle->arena, ret, row, definite);
  if (oracle->matches) add_match(oracle, time, definite);
}

/* Is all of the result left or nothing, so that its targets may not be computed? */
static bool stays_whole(const struct ng_query *query) {
  for (size_t i = 0; i < query->absence_count; i++)
    if (query->absences[i].when || query->result_class == NET_EVENT) return true;
  return false;
}

/* What unless leaves of it; where portions are left, its targets fail even if that is nothing. */
static void add_result(struct oracle *oracle, struct net_period time, enum net_truth truth,
                       struct oracle_relation *ret) {
  const union net_slot *row = make_row(oracle, time);
  if (!row && stays_whole(oracle->query)) {
    oracle->may_fail = true;
    if (oracle->world->unsaid) *oracle->world->unsaid = true;
  }
  if (!row) return;
  if (oracle->query->absence_count == 0) {
    add_row(oracle, row, time, truth == NET_TRUE, ret);
    return;
  }
  struct oracle_pieces pieces;
  oracle_left(oracle, time, truth, &pieces);
  for (size_t i = 0; i < pieces.count; i++) {
    const struct oracle_piece *piece = &pieces.items[i];
    if (piece->truth == NET_FALSE) continue;
    row = make_row(oracle, piece->time);
    if (row) add_row(oracle, row, piece->time, piece->truth == NET_TRUE, ret);
  }
}

/* The stretches of TIME in which `where` holds. */
static void add_pieces(struct oracle *oracle, struct net_period time, enum net_truth truth,
                       struct oracle_relation *ret) {
  struct oracle_pieces pieces;
  oracle_cut(oracle, oracle->query->where, time, &pieces);
  for (size_t i = 0; i < pieces.count && !oracle->error; i++) {
    enum net_truth whole = net_and(truth, pieces.items[i].truth);
    if (whole != NET_FALSE) add_result(oracle, pieces.items[i].time, whole, ret);
  }
}

/* A combination whose period is empty gives no tuple; of its conditions an error may count or not, its
 * targets are not computed. */
static void try_conditions(struct oracle *oracle) {
  const struct ng_query *query = oracle->query;
  const char *before = oracle->error;
  if (before || oracle_condition(oracle, query->when) == NET_FALSE) return;
  if (!oracle_has_cut(query->where)) (void)oracle_condition(oracle, query->where);
  if (oracle->error) oracle->may_fail = true;
  oracle->error = before;
}

static void evaluate_combination(struct oracle *oracle, struct oracle_relation *ret) {
  const struct ng_query *query = oracle->query;
  for (size_t i = 0; i < query->aggregate_count; i++)
    if (!oracle_right_group(oracle, i)) return;
  struct participants list = participants_of(oracle);
  struct net_period time = {{0, 0}, {0, 0}};
  enum net_truth truth = all_definite(oracle);
  truth = net_and(truth, common_point(oracle, &list));
  enum net_truth exists = truth;
  truth = net_and(truth, query->result_class == NET_EVENT ? event_time(oracle, &list, &time.start)
                                                          : period_time(oracle, &list, &time));
  if (truth == NET_FALSE) {
    if (exists != NET_FALSE) try_conditions(oracle);
    return;
  }
  truth = net_and(truth, oracle_condition(oracle, query->when));
  if (truth == NET_FALSE) return;
  if (oracle_has_cut(query->where) && query->result_class == NET_PERIOD) {
    add_pieces(oracle, time, truth, ret);
    return;
  }
  truth = net_and(truth, oracle_has_cut(query->where)
                             ? oracle_cut_event(oracle, query->where, time.start)
                             : oracle_condition(oracle, query->where));
  if (truth == NET_FALSE || oracle->error) return;
  add_result(oracle, time, truth, ret);
}

static void combine_from(struct oracle *oracle, size_t depth, struct oracle_relation *ret);

/* Chooses among the pieces of the time line in which something of aggregate INDEX is missing, or nothing. */
static void doubt_from(struct oracle *oracle, size_t depth, size_t index,
                       struct oracle_relation *ret) {
  struct oracle_segments pieces;
  oracle_doubts(oracle, index, &pieces);
  oracle->doubts[index] = NULL;
  if (pieces.count == 0) combine_from(oracle, depth + 1, ret);
  for (size_t i = 0; i < pieces.count; i++) {
    oracle->doubts[index] = &pieces.items[i];
    combine_from(oracle, depth + 1, ret);
  }
}

/* Chooses for variable or aggregate number DEPTH, then for the next. */
static void combine_from(struct oracle *oracle, size_t depth, struct oracle_relation *ret) {
  const struct ng_query *query = oracle->query;
  if (oracle->error) return;
  size_t choices = query->variable_count + query->aggregate_count;
  if (depth == choices + query->aggregate_count) {
    evaluate_combination(oracle, ret);
    return;
  }
  if (depth >= choices) {
    doubt_from(oracle, depth, depth - choices, ret);
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

/* Ticks at the origin and every so many chronons after it, up to the last finite instant in the other
 * inputs, and before the last finite checkpoint that they passed.                                  */
static struct oracle_relation ticks(struct oracle *oracle, const struct ng_relation *clock) {
  struct oracle_relation result = {.layout = clock->layout};
  bool paced = ng_is_paced(oracle->query);
  net_chronon last = paced ? oracle->query->named_last : NET_BEGINNING;
  /* Up to the time of day, if nothing says when. */
  if (paced && oracle->query->timeline == NET_TIMELINE_REAL && last == NET_BEGINNING &&
      oracle->world->unsaid)
    *oracle->world->unsaid = true;
  if (oracle->no_origin) return result;
  for (size_t i = 0; i < oracle->query->variable_count; i++) {
    const struct oracle_relation *input;
    const struct ng_variable *variable = &oracle->query->variables[i];
    if (variable->relation->kind == NG_REL_CLOCK) continue;
    if (oracle->world->passed) {
      net_chronon passed = oracle->world->passed(oracle->world->context, variable->relation->name);
      if (passed != NET_BEGINNING && passed - 1 > last) last = passed - 1;
    }
    /* whatever is made of them */
    input = oracle->world->find(oracle->world->context, variable->relation->name);
    for (size_t j = 0; j < input->count; j++)
      for (uint32_t k = 0; k < input->layout->first_domain_slot; k++) {
        net_chronon time = input->tuples[j].row[k].i;
        if (time != NET_FOREVER && time > last) last = time;
      }
  }
  for (net_chronon t = oracle->origin; t <= last && result.count < 10000; t += clock->every) {
    union net_slot row[2] = {{.i = t}, {.i = t}};
    oracle_add(oracle->arena, &result, row, true);
  }
  return result;
}

static void note_origin(struct oracle *oracle, net_chronon time) {
  if (oracle->no_origin || time < oracle->origin) oracle->origin = time;
  oracle->no_origin = false;
}

static bool all_clocks_tick(const struct ng_query *query, net_chronon time) {
  for (size_t i = 0; i < query->variable_count; i++)
    if (query->variables[i].relation->kind == NG_REL_CLOCK &&
        time % query->variables[i].relation->every != 0)
      return false;
  return true;
}

/* The last time not after FIRST at which all clocks of QUERY tick. */
static net_chronon when_clocks_tick(const struct ng_query *query, net_chronon first) {
  int64_t every = 1;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *relation = query->variables[i].relation;
    if (relation->kind == NG_REL_CLOCK && relation->every > every) every = relation->every;
  }
  net_chronon time = first / every * every;
  if (time > first) time -= every;
  while (!all_clocks_tick(query, time)) time -= every;
  return time;
}

/* On the real timeline, unless it is given: the start of the earliest tuple of the inputs. Nothing has
 * happened before where there is no tuple at all. A clock cannot tick at `beginning`: where the query
 * has one, the first finite instant in the other inputs; and it ticks at the multiples of its unit, so the origin is the
 * last time before at which all clocks of the query do.                                              */
static void find_origin(struct oracle *oracle) {
  const struct ng_query *query = oracle->query;
  oracle->origin = query->origin_given ? query->origin : NET_BEGINNING;
  oracle->no_origin = !query->origin_given;
  if (query->origin_given) return;
  bool clock = false;
  for (size_t i = 0; i < query->variable_count; i++)
    clock = clock || query->variables[i].relation->kind == NG_REL_CLOCK;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *relation = query->variables[i].relation;
    if (relation->kind == NG_REL_CLOCK) continue;
    const struct oracle_relation *input =
        oracle->world->find(oracle->world->context, relation->name); /* whatever its credibility */
    for (size_t j = 0; j < input->count; j++) {
      const union net_slot *row = input->tuples[j].row;
      if (!clock) note_origin(oracle, row[0].i == NET_BEGINNING ? row[1].i : row[0].i);
      for (uint32_t k = 0; clock && k < input->layout->first_domain_slot; k++)
        if (row[k].i != NET_BEGINNING && row[k].i != NET_FOREVER) note_origin(oracle, row[k].i);
    }
  }
  if (clock && !oracle->no_origin) oracle->origin = when_clocks_tick(query, oracle->origin);
}

static void take_inputs(struct oracle *oracle) {
  const struct ng_query *query = oracle->query;
  const struct oracle_world *world = oracle->world;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_variable *variable = &query->variables[i];
    if (variable->relation->kind == NG_REL_CLOCK) {
      oracle->inputs[i].layout = variable->relation->layout;
      continue;
    }
    oracle->inputs[i] = *world->find(world->context, variable->relation->name);
    oracle->inputs[i] = oracle_compensated(oracle, variable, &oracle->inputs[i]);
    if (variable->credibility) oracle->inputs[i] = oracle_collapsed(oracle, &oracle->inputs[i]);
  }
  find_origin(oracle);
  if (world->origin && !query->origin_given)
    *world->origin = (struct oracle_origin){!oracle->no_origin, oracle->origin};
  for (size_t i = 0; i < query->variable_count; i++)
    if (query->variables[i].relation->kind == NG_REL_CLOCK)
      oracle->inputs[i] = ticks(oracle, query->variables[i].relation);
}

static void evaluate(struct oracle *oracle, struct oracle_relation *ret) {
  const struct ng_query *query = oracle->query;
  struct base_arena *arena = oracle->arena;
  *ret = (struct oracle_relation){.layout = query->layout};
  oracle->inputs = BASE_NEW_ARRAY(arena, query->variable_count, struct oracle_relation);
  oracle->tuples = BASE_NEW_ARRAY(arena, query->variable_count, const struct oracle_tuple *);
  oracle->aggregates = BASE_NEW_ARRAY(arena, query->aggregate_count, struct oracle_segments);
  oracle->segments = BASE_NEW_ARRAY(arena, query->aggregate_count, const struct oracle_segment *);
  oracle->doubts = BASE_NEW_ARRAY(arena, query->aggregate_count, const struct oracle_segment *);
  take_inputs(oracle);
  oracle_ask_alone(oracle);
  for (size_t i = 0; i < query->aggregate_count; i++)
    oracle_aggregate(oracle, i, &oracle->aggregates[i]);
  combine_from(oracle, 0, ret);
}

const char *oracle_evaluate(struct base_arena *arena, const struct oracle_world *world,
                            const struct ng_query *query, struct oracle_relation *ret,
                            bool *ret_may_fail) {
  struct ng_query own = *query;
  while (own.variable_count > 0 && own.variables[own.variable_count - 1].costs)
    own.variable_count--;
  struct oracle oracle = {.arena = arena, .world = world, .query = &own};
  oracle.costs = query->variables + own.variable_count;
  oracle.cost_count = query->variable_count - own.variable_count;
  evaluate(&oracle, ret);
  oracle_make_set(ret);
  if (query->coalesced && !oracle.error) oracle_coalesce(&oracle, ret);
  oracle_make_set(ret); /* what has been joined may be an equal definite tuple and an omega one */
  *ret_may_fail = oracle.may_fail;
  return oracle.error;
}

const char *oracle_evaluate_matches(struct base_arena *arena, const struct oracle_world *world,
                                    const struct ng_query *query, struct oracle_relation *ret,
                                    struct oracle_matches *ret_matches, bool *ret_may_fail) {
  *ret_matches = (struct oracle_matches){0};
  struct oracle oracle = {.arena = arena, .world = world, .query = query, .matches = ret_matches};
  evaluate(&oracle, ret);
  *ret_may_fail = oracle.may_fail;
  return oracle.error;
}
