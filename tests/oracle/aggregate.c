/* Aggregates from scratch: at every instant at which any tuple of the relation comes or goes, perhaps
 * or surely, the set S(t) is formed anew and the function applied to it; between two such instants
 * nothing changes. Equal neighbouring stretches are joined to maximal periods afterwards.
 *
 * A tuple that the inner where cuts is a member during its pieces. The averages over time (avgc) are
 * kept as functions of absolute time, (A + W t) / (t - T0), with exact integers as far as arguments
 * are integers, so that "the same function" is decided exactly.                                     */
#include "tests/oracle/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- members */

bool oracle_same_group(const struct oracle_evaluation *e, const struct oracle_value *a,
                       const struct oracle_value *b) {
  for (size_t i = 0; i < e->aggregate->by_count; i++)
    if (!oracle_equal_values(e->oracle, &a[i], &b[i])) return false;
  return true;
}

static struct net_instant shifted(struct net_instant instant, int64_t by) {
  return (struct net_instant){net_chronon_add(instant.lo, by), net_chronon_add(instant.hi, by)};
}

/* When a tuple of that time counts: while it is valid; from its start on; while it was valid somewhere
 * in the last `window` chronons.                                                                    */
static struct net_period counting_time(const struct oracle_evaluation *e, struct net_period time) {
  const struct ng_aggregate *aggregate = e->aggregate;
  static const struct net_instant never = {NET_FOREVER, NET_FOREVER};
  if (aggregate->summary) { /* whenever it was */
    net_chronon origin = e->oracle->origin;
    return (struct net_period){{origin, origin}, never};
  }
  if (aggregate->window > 0 && e->events)
    time.stop = shifted(time.start, aggregate->window);
  else if (aggregate->window > 0)
    time.stop = shifted(time.stop, aggregate->window - 1);
  else if (aggregate->cumulative)
    time.stop = never;
  else if (e->events)
    time.stop = shifted(time.start, 1);
  return time;
}

static void add_member(struct oracle_evaluation *e, const struct oracle_tuple *tuple,
                       struct oracle_piece piece) {
  struct oracle *oracle = e->oracle;
  const struct ng_aggregate *aggregate = e->aggregate;
  struct oracle_member *member = &e->members[e->member_count++];
  *member = (struct oracle_member){.row = tuple->row,
                                   .time = piece.time,
                                   .counts = counting_time(e, piece.time),
                                   .definite = tuple->definite,
                                   .condition = piece.truth};
  struct oracle_value *by = BASE_NEW_ARRAY(oracle->arena, aggregate->by_count, struct oracle_value);
  oracle->rebase = true;
  oracle->rebase_to = piece.time.start.lo;
  for (size_t j = 0; j < aggregate->by_count; j++) by[j] = oracle_scalar(oracle, aggregate->by[j]);
  member->by = by;
  member->argument = (struct oracle_value){.base = NET_INTEGER, .i = 1};
  if (aggregate->argument && piece.truth != NET_FALSE)
    member->argument = oracle_scalar(oracle, aggregate->argument);
  if (member->argument.base == NET_TEMPORAL && member->argument.function.d1 != 0)
    oracle_fail(oracle, "not linear");
  oracle->rebase = false;
}

/* The stretches in which the inner where and when give one truth. */
static struct oracle_pieces pieces_of(struct oracle_evaluation *e, struct net_period time) {
  struct oracle *oracle = e->oracle;
  const struct ng_expr *where = e->aggregate->where;
  enum net_truth when = oracle_condition(oracle, e->aggregate->when);
  struct oracle_pieces pieces;
  if (oracle_has_cut(where) && !e->events && when != NET_FALSE) {
    oracle_cut(oracle, where, time, &pieces);
  } else {
    enum net_truth truth = NET_FALSE;
    if (when != NET_FALSE)
      truth = oracle_has_cut(where) ? oracle_cut_event(oracle, where, time.start)
                                    : oracle_condition(oracle, where);
    pieces.items = BASE_NEW(oracle->arena, struct oracle_piece);
    pieces.items[0] = (struct oracle_piece){time, truth};
    pieces.count = 1;
  }
  for (size_t i = 0; i < pieces.count; i++)
    pieces.items[i].truth = net_and(pieces.items[i].truth, when);
  return pieces;
}

/* Pieces of a tuple that one window reaches are one tuple, from the first's start to the last's stop. */
static void join_pieces(const struct oracle_evaluation *e, struct oracle_pieces *pieces) {
  size_t kept = 0;
  if (e->aggregate->window == 0 || e->events) return;
  for (size_t i = 0; i < pieces->count; i++) {
    struct oracle_piece piece = pieces->items[i];
    struct oracle_piece *last = kept > 0 ? &pieces->items[kept - 1] : NULL;
    bool gap = piece.truth == NET_FALSE && last && i + 1 < pieces->count;
    if (gap && piece.time.stop.lo - piece.time.start.lo < e->aggregate->window)
      piece.truth = last->truth;
    if (last && last->truth == piece.truth)
      last->time.stop = piece.time.stop;
    else
      pieces->items[kept++] = piece;
  }
  pieces->count = kept;
}

static void take_members(struct oracle_evaluation *e) {
  struct oracle *oracle = e->oracle;
  unsigned variable = e->aggregate->variable;
  const struct oracle_relation *input = &oracle->inputs[variable];
  const struct oracle_tuple *kept = oracle->tuples[variable];
  size_t capacity = input->count;
  e->members = BASE_NEW_ARRAY(oracle->arena, capacity, struct oracle_member);
  for (size_t i = 0; i < input->count && !oracle->error; i++) {
    const struct oracle_tuple *tuple = oracle->tuples[variable] = &input->tuples[i];
    struct oracle_tuple perhaps = *tuple;
    enum net_truth during = oracle_condition(oracle, e->aggregate->during);
    if (during == NET_FALSE) continue;
    if (during == NET_UNKNOWN) {
      perhaps.definite = false;
      tuple = &perhaps;
    }
    struct net_period time = {{tuple->row[0].i, tuple->row[1].i}, {0, 0}};
    time.stop = e->events ? time.start : (struct net_instant){tuple->row[2].i, tuple->row[3].i};
    struct oracle_pieces pieces = pieces_of(e, time);
    join_pieces(e, &pieces);
    if (e->member_count + pieces.count + input->count - i > capacity) {
      capacity = 2 * capacity + pieces.count;
      struct oracle_member *members = BASE_NEW_ARRAY(oracle->arena, capacity, struct oracle_member);
      memcpy(members, e->members, e->member_count * sizeof *members);
      e->members = members;
    }
    for (size_t j = 0; j < pieces.count; j++) add_member(e, tuple, pieces.items[j]);
  }
  oracle->tuples[variable] = kept;
}

enum net_truth oracle_there(const struct oracle_member *member, net_chronon t) {
  struct net_period counts = member->counts;
  if (t < counts.start.lo || t >= counts.stop.hi) return NET_FALSE;
  bool sure = member->definite && counts.start.hi <= t && t < counts.stop.lo;
  return sure ? NET_TRUE : NET_UNKNOWN;
}

/* --- one group at one instant */

/* Of a tuple outside the group is known to have one, itself: that it is there perhaps only is the tuple's own doubt,
 * and makes no value one. Not so at an instant that is not the tuple's. */
static bool group_is_there(const struct oracle_evaluation *e, const struct oracle_value *by,
                           net_chronon t, bool *ret_definite) {
  if (e->aggregate->by_count == 0) return true;
  enum net_truth any = NET_FALSE;
  for (size_t i = 0; i < e->member_count; i++) {
    const struct oracle_member *member = &e->members[i];
    if (!oracle_same_group(e, member->by, by)) continue;
    enum net_truth truth = oracle_there(member, t);
    if (!e->groups_of_all) truth = net_and(truth, member->condition);
    any = net_or(any, truth);
  }
  if (any != NET_TRUE && !e->surely_there) *ret_definite = false;
  return any != NET_FALSE;
}

static struct oracle_sample sample_at(struct oracle_evaluation *e, const struct oracle_value *by,
                                      net_chronon t) {
  struct oracle_sample sample = {.present = true, .definite = true};
  if (!group_is_there(e, by, t, &sample.definite)) {
    sample.present = false;
    return sample;
  }
  if (e->function == NET_AGG_AVGC)
    oracle_average_at(e, by, t, &sample);
  else
    oracle_value_at(e, by, t, &sample);
  return sample;
}

static bool same_instant(struct net_instant a, struct net_instant b) {
  return a.lo == b.lo && a.hi == b.hi;
}

/* A of an instant BY units before that of B. */
static bool same_sample(const struct oracle_evaluation *e, const struct oracle_sample *a,
                        const struct oracle_sample *b, long double by) {
  if (a->present != b->present || a->definite != b->definite) return false;
  if (!a->present) return true;
  if (e->function == NET_AGG_EARLIEST || e->function == NET_AGG_LATEST)
    return same_instant(a->chosen.start, b->chosen.start) &&
           same_instant(a->chosen.stop, b->chosen.stop);
  if (a->average) {
    if (a->constant || b->constant)
      return a->constant && b->constant && a->value.function.n0 == b->value.function.n0;
    long double size = fabsl(a->a) + fabsl(b->a); /* integrals can be longer than a long double */
    return a->w == b->w && a->whole_w == b->whole_w && fabsl(a->a - b->a) <= 1e-17L * size;
  }
  if (a->value.base == NET_TEMPORAL)
    return oracle_same_function(oracle_moved(a->value.function, by), b->value.function);
  return oracle_equal_values(e->oracle, &a->value, &b->value);
}

/* --- stretches */

static void add_segment(struct oracle *oracle, struct oracle_segments *list,
                        struct oracle_segment segment) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 8;
    struct oracle_segment *items = BASE_NEW_ARRAY(oracle->arena, capacity, struct oracle_segment);
    if (list->count) memcpy(items, list->items, list->count * sizeof *items);
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = segment;
}

static int by_time(const void *a, const void *b) {
  net_chronon x = *(const net_chronon *)a, y = *(const net_chronon *)b;
  return (x > y) - (x < y);
}

/* The origin and every instant after it at which something can change. */
static size_t change_points(const struct oracle_evaluation *e, net_chronon **ret) {
  struct oracle *oracle = e->oracle;
  if (e->aggregate->summary) {
    *ret = &oracle->origin;
    return 1;
  }
  net_chronon *points = BASE_NEW_ARRAY(oracle->arena, e->member_count * 8 + 2, net_chronon);
  size_t count = 0;
  points[count++] = oracle->origin;
  if (e->averaging_known) points[count++] = e->averaging_origin;
  for (size_t i = 0; i < e->member_count; i++) {
    const struct net_period *times[2] = {&e->members[i].time, &e->members[i].counts};
    for (int j = 0; j < 2; j++) {
      points[count++] = times[j]->start.lo;
      points[count++] = times[j]->start.hi;
      points[count++] = times[j]->stop.lo;
      points[count++] = times[j]->stop.hi;
    }
  }
  qsort(points, count, sizeof *points, by_time);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (points[i] < oracle->origin || points[i] == NET_FOREVER) continue;
    if (kept == 0 || points[kept - 1] != points[i]) points[kept++] = points[i];
  }
  *ret = points;
  return kept;
}

static void add_group(struct oracle_evaluation *e, const struct oracle_value *by,
                      struct oracle_segments *ret) {
  net_chronon *points;
  size_t count = change_points(e, &points);
  /* Without any tuple the real time line has no origin, and nothing begins. */
  if (count == 0 || e->oracle->no_origin) return;
  struct oracle_sample sample = sample_at(e, by, points[0]);
  for (size_t i = 0; i < count;) {
    struct oracle_sample later = {0};
    size_t next = i + 1;
    for (; next < count; next++) {
      later = sample_at(e, by, points[next]);
      if (!same_sample(e, &sample, &later, oracle_units(e->oracle, points[i], points[next]))) break;
    }
    net_chronon stop = next < count ? points[next] : NET_FOREVER;
    struct oracle_segment segment = {.by = by,
                                     .time = {{points[i], points[i]}, {stop, stop}},
                                     .definite = sample.definite,
                                     .value = sample.value,
                                     .chosen = sample.chosen,
                                     .chosen_event = e->events};
    if (sample.present) add_segment(e->oracle, ret, segment);
    sample = later;
    i = next;
  }
}

/* --- extendc: each event lasts until the next later one of its group */

static void extend_events(struct oracle_evaluation *e, struct oracle_segments *ret) {
  net_chronon origin = e->oracle->origin;
  for (size_t i = 0; i < e->member_count; i++) {
    const struct oracle_member *event = &e->members[i];
    if (event->condition == NET_FALSE) continue;
    struct net_instant at = event->time.start;
    struct net_period time = {at, {net_chronon_add(at.lo, 1), NET_FOREVER}};
    for (size_t j = 0; j < e->member_count; j++) {
      const struct oracle_member *other = &e->members[j];
      bool there = other->definite && other->condition == NET_TRUE;
      if (!there || !oracle_same_group(e, event->by, other->by)) continue;
      if (other->time.start.lo > at.hi && other->time.start.hi < time.stop.hi)
        time.stop.hi = other->time.start.hi;
    }
    if (time.stop.hi <= origin || time.start.lo >= time.stop.hi) continue;
    struct net_instant clip = {origin, origin};
    bool definite = event->definite && event->condition == NET_TRUE;
    /* What lies before the origin may have been all. */
    if (time.start.lo < origin && net_before(clip, time.stop) != NET_TRUE) definite = false;
    if (time.start.lo < origin) time.start.lo = origin;
    if (time.start.hi < origin) time.start.hi = origin;
    if (time.stop.lo < origin) time.stop.lo = origin;
    add_segment(e->oracle, ret,
                (struct oracle_segment){
                    .by = event->by, .time = time, .definite = definite, .value = event->argument});
  }
}

/* --- all groups */

/* Is the result's instant, if it has one, that of VARIABLE's tuple: of an event, or the start of a period? */
static bool is_own_instant(const struct ng_query *query, unsigned variable, bool event) {
  if (query->result_class != NET_EVENT || (!query->at && !query->when)) return true;
  if (!query->at) return event;
  const struct ng_expr *at = query->at;
  if (at->op == NG_T_START || (at->op == NG_T_STOP && event))
    at = at->args[0];
  else if (!event)
    return false;
  return at->op == NG_T_VARIABLE && at->variable == variable;
}

static void find_averaging_origin(struct oracle_evaluation *e) {
  const struct ng_query *query = e->oracle->query;
  e->averaging_known = query->averaging_origin_given;
  e->averaging_origin = query->averaging_origin;
  if (e->averaging_known) return;
  for (size_t i = 0; i < e->member_count; i++) {
    net_chronon start = e->members[i].time.start.lo;
    if (e->members[i].condition == NET_FALSE) continue;
    if (!e->averaging_known || start < e->averaging_origin) e->averaging_origin = start;
    e->averaging_known = true;
  }
}

void oracle_aggregate(struct oracle *oracle, size_t index, struct oracle_segments *ret) {
  const struct ng_aggregate *aggregate = &oracle->query->aggregates[index];
  struct oracle_evaluation e = {.oracle = oracle, .aggregate = aggregate};
  e.layout = oracle->inputs[aggregate->variable].layout;
  e.events = e.layout->tuple_class == NET_EVENT;
  e.function = aggregate->function;
  e.as_set = !aggregate->cumulative && aggregate->window == 0;
  if (e.events && e.function == NET_AGG_AVGC) e.function = NET_AGG_AVG;
  e.groups_of_all = aggregate->summary || oracle->query->variables[aggregate->variable].outside;
  e.surely_there = e.groups_of_all && !aggregate->summary &&
                   is_own_instant(oracle->query, aggregate->variable, e.events);
  take_members(&e);
  find_averaging_origin(&e);
  if (e.function == NET_AGG_EXTEND) {
    extend_events(&e, ret);
    return;
  }
  if (aggregate->by_count == 0) {
    add_group(&e, NULL, ret);
    return;
  }
  for (size_t i = 0; i < e.member_count; i++) {
    bool known = false;
    for (size_t j = 0; j < i && !known; j++)
      known = oracle_same_group(&e, e.members[i].by, e.members[j].by);
    if (!known) add_group(&e, e.members[i].by, ret);
  }
}

/* --- groups of a combination */

static bool same_expr(const struct ng_expr *a, const struct ng_expr *b) {
  if (a->op != b->op || a->arg_count != b->arg_count || a->variable != b->variable ||
      a->index != b->index || a->integer != b->integer || a->real != b->real ||
      a->string != b->string || a->type.base != b->type.base)
    return false;
  for (unsigned i = 0; i < a->arg_count; i++)
    if (!same_expr(a->args[i], b->args[i])) return false;
  return true;
}

static bool same_by(const struct ng_aggregate *a, const struct ng_aggregate *b) {
  if (a->variable != b->variable || a->by_count != b->by_count) return false;
  for (size_t i = 0; i < a->by_count; i++)
    if (!same_expr(a->by[i], b->by[i])) return false;
  return true;
}

bool oracle_right_group(struct oracle *oracle, size_t index) {
  const struct ng_query *query = oracle->query;
  const struct ng_aggregate *aggregate = &query->aggregates[index];
  const struct oracle_segment *segment = oracle->segments[index];
  if (query->variables[aggregate->variable].outside) {
    for (size_t i = 0; i < aggregate->by_count; i++) {
      struct oracle_value own = oracle_scalar(oracle, aggregate->by[i]);
      if (!oracle_equal_values(oracle, &own, &segment->by[i])) return false;
    }
    return true;
  }
  for (size_t k = 0; k < index; k++) {
    if (!same_by(&query->aggregates[k], aggregate)) continue;
    for (size_t i = 0; i < aggregate->by_count; i++)
      if (!oracle_equal_values(oracle, &oracle->segments[k]->by[i], &segment->by[i])) return false;
  }
  return true;
}
