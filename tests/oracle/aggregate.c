/* Aggregates from scratch: at every instant at which any tuple of the relation comes or goes, perhaps
 * or surely, the set S(t) is formed anew and the function applied to it; between two such instants
 * nothing changes. Equal neighbouring stretches are joined to maximal periods afterwards.
 *
 * The averages (avgc) are kept as functions of absolute time, (A + W t) / (t - T0), with exact
 * integers as far as arguments are integers, so that "the same function" is decided exactly.       */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle_internal.h"

struct member {
  const struct oracle_tuple *tuple;
  const struct oracle_value *by;
  bool counts;
  struct oracle_value argument;
};

struct evaluation {
  struct oracle *oracle;
  const struct ng_aggregate *aggregate;
  const struct net_layout *layout;
  enum net_aggregate_function function; /* on events avgc is the running mean */
  bool events, cumulative;
  bool groups_of_all;
  struct member *members;
  size_t member_count;
  net_chronon origin;
  bool averaging_known;
  net_chronon averaging_origin;
};

/* The value at one instant; avgc: (a + w t) / (t - T0) with CONSTANT false. */
struct sample {
  bool present, definite;
  struct oracle_value value;
  bool average, constant;
  long double a, w;
};

/* --- members */

static bool same_group(const struct evaluation *e, const struct oracle_value *a,
                       const struct oracle_value *b) {
  for (size_t i = 0; i < e->aggregate->by_count; i++)
    if (!oracle_equal_values(e->oracle, &a[i], &b[i])) return false;
  return true;
}

static void take_members(struct evaluation *e) {
  struct oracle *oracle = e->oracle;
  const struct ng_aggregate *aggregate = e->aggregate;
  const struct oracle_relation *input = &oracle->inputs[aggregate->variable];
  const struct oracle_tuple *kept = oracle->tuples[aggregate->variable];
  e->members = BASE_NEW_ARRAY(oracle->arena, input->count, struct member);
  for (size_t i = 0; i < input->count; i++) {
    struct member *member = &e->members[e->member_count++];
    oracle->tuples[aggregate->variable] = &input->tuples[i];
    member->tuple = &input->tuples[i];
    struct oracle_value *by =
        BASE_NEW_ARRAY(oracle->arena, aggregate->by_count, struct oracle_value);
    for (size_t j = 0; j < aggregate->by_count; j++)
      by[j] = oracle_scalar(oracle, aggregate->by[j]);
    member->by = by;
    member->counts = oracle_condition(oracle, aggregate->where) == NET_TRUE;
    if (aggregate->argument)
      member->argument = oracle_scalar(oracle, aggregate->argument);
    else
      member->argument = (struct oracle_value){.base = NET_INTEGER, .i = 1};
  }
  oracle->tuples[aggregate->variable] = kept;
}

/* Is the tuple there at T? Cumulative: has it started? */
static enum net_truth there(const struct evaluation *e, const struct oracle_tuple *tuple,
                            net_chronon t) {
  const union net_slot *row = tuple->row;
  bool goes = !e->events && !e->cumulative;
  if (t < row[0].i || (goes && t >= row[3].i)) return NET_FALSE;
  bool sure = tuple->definite && row[1].i <= t && (!goes || t < row[2].i);
  return sure ? NET_TRUE : NET_UNKNOWN;
}

/* As a period relation's tuple, whatever the aggregate. */
static enum net_truth valid(const struct oracle_tuple *tuple, net_chronon t) {
  const union net_slot *row = tuple->row;
  if (t < row[0].i || t >= row[3].i) return NET_FALSE;
  return tuple->definite && row[1].i <= t && t < row[2].i ? NET_TRUE : NET_UNKNOWN;
}

static bool same_domains(const struct evaluation *e, const struct member *a,
                         const struct member *b) {
  for (uint32_t i = 0; i < e->layout->field_count; i++) {
    const struct net_field *field = &e->layout->fields[i];
    const union net_slot *x = a->tuple->row + field->slot, *y = b->tuple->row + field->slot;
    for (uint32_t j = 0; j < net_type_slots(field->type.base); j++)
      if (x[j].i != y[j].i) return false;
  }
  return true;
}

/* Does member I stand for itself at T: no equal one is there more surely, none before it as surely?
 * Cumulative functions count each tuple.                                                           */
static bool speaks(const struct evaluation *e, size_t i, net_chronon t) {
  if (e->events || e->cumulative) return true;
  enum net_truth own = there(e, e->members[i].tuple, t);
  for (size_t j = 0; j < e->member_count; j++) {
    if (j == i || !same_domains(e, &e->members[i], &e->members[j])) continue;
    enum net_truth other = there(e, e->members[j].tuple, t);
    if (other > own || (other == own && j < i)) return false;
  }
  return true;
}

/* --- the average over time */

static bool uncertain_until(const struct evaluation *e, const struct oracle_tuple *tuple,
                            net_chronon t) {
  (void)e;
  const union net_slot *row = tuple->row;
  net_chronon first = NET_FOREVER;
  if (!tuple->definite || row[0].i < row[1].i || row[1].i > row[2].i)
    first = row[0].i;
  else if (row[2].i < row[3].i)
    first = row[2].i;
  return first <= t && first < row[3].i;
}

static long double number(const struct oracle_value *value) {
  return value->base == NET_FLOAT ? (long double)value->f : (long double)value->i;
}

/* W: the sum of the arguments at T. Integral up to T: then A = integral - W (T - 0), since
 * integral + W (t - T) = A + W t; on the real timeline everything in seconds.                      */
static void average_at(const struct evaluation *e, const struct oracle_value *by, net_chronon t,
                       struct sample *ret) {
  ret->average = ret->constant = true;
  ret->value = (struct oracle_value){.base = NET_TEMPORAL, .function = {0, 0, 1, 0}};
  long double w = 0, integral = 0;
  for (size_t i = 0; i < e->member_count; i++) {
    const struct member *member = &e->members[i];
    if (!member->counts || !same_group(e, member->by, by)) continue;
    if (uncertain_until(e, member->tuple, t)) ret->definite = false;
    const union net_slot *row = member->tuple->row;
    if (!member->tuple->definite) continue;
    if (valid(member->tuple, t) == NET_TRUE) w += number(&member->argument);
    net_chronon from = row[1].i, to = row[2].i < t ? row[2].i : t;
    if (e->averaging_known && from < e->averaging_origin) from = e->averaging_origin;
    if (from < to) integral += number(&member->argument) * ((long double)to - (long double)from);
  }
  if (!e->averaging_known || t < e->averaging_origin) return;
  long double second = e->oracle->query->timeline == NET_TIMELINE_REAL ? 1e9L : 1;
  long double since = (long double)t - (long double)e->averaging_origin;
  /* As a function of u = t - T0: integral + w (u - since), over u. */
  ret->a = integral - w * since;
  ret->w = w;
  ret->constant = ret->a == 0;
  ret->value.function =
      oracle_normal((struct oracle_function){integral / second, w, since / second, 1});
}

/* --- the other functions */

static bool better(struct evaluation *e, const struct oracle_value *a,
                   const struct oracle_value *b) {
  bool less;
  if (a->base == NET_FLOAT) {
    less = a->f < b->f;
  } else if (a->base == NET_INTEGER) {
    less = a->i < b->i;
  } else {
    less = strcmp(base_strings_text(e->oracle->world->strings, a->s, NULL),
                  base_strings_text(e->oracle->world->strings, b->s, NULL)) < 0;
  }
  return less == (e->function == NET_AGG_MIN);
}

static void value_at(struct evaluation *e, const struct oracle_value *by, net_chronon t,
                     struct sample *ret) {
  __extension__ __int128 sum = 0;
  long double sum_f = 0;
  int64_t sure = 0;
  struct oracle_value best = {0};
  for (size_t i = 0; i < e->member_count; i++) {
    const struct member *member = &e->members[i];
    if (!member->counts || !same_group(e, member->by, by) || !speaks(e, i, t)) continue;
    enum net_truth truth = there(e, member->tuple, t);
    if (truth == NET_UNKNOWN) ret->definite = false;
    if (truth != NET_TRUE) continue;
    if (sure++ == 0 || better(e, &member->argument, &best)) best = member->argument;
    if (member->argument.base == NET_INTEGER)
      sum += member->argument.i;
    else
      sum_f += number(&member->argument);
  }
  struct oracle_value *value = &ret->value;
  value->base = e->aggregate->type.base;
  long double total = (long double)sum + sum_f;
  switch (e->function) {
    case NET_AGG_COUNT:
      value->i = sure;
      break;
    case NET_AGG_ANY:
      value->i = sure > 0;
      break;
    case NET_AGG_SUM:
      value->i = (int64_t)sum;
      value->f = (double)total;
      if (value->base == NET_INTEGER && (sum > INT64_MAX || sum < INT64_MIN))
        oracle_fail(e->oracle, "integer overflow");
      break;
    case NET_AGG_AVG:
      if (sure == 0)
        ret->present = false;
      else
        value->f = (double)(total / (long double)sure);
      break;
    default:
      if (sure == 0) ret->present = false;
      *value = best;
  }
}

static bool group_is_there(const struct evaluation *e, const struct oracle_value *by, net_chronon t,
                           bool *ret_definite) {
  if (e->aggregate->by_count == 0) return true;
  bool any = false, sure = false;
  for (size_t i = 0; i < e->member_count; i++) {
    const struct member *member = &e->members[i];
    if (!same_group(e, member->by, by) || (!member->counts && !e->groups_of_all)) continue;
    enum net_truth truth = there(e, member->tuple, t);
    any = any || truth != NET_FALSE;
    sure = sure || truth == NET_TRUE;
  }
  if (!sure) *ret_definite = false;
  return any;
}

static struct sample sample_at(struct evaluation *e, const struct oracle_value *by, net_chronon t) {
  struct sample sample = {.present = true, .definite = true};
  if (!group_is_there(e, by, t, &sample.definite)) {
    sample.present = false;
    return sample;
  }
  if (e->function == NET_AGG_AVGC)
    average_at(e, by, t, &sample);
  else
    value_at(e, by, t, &sample);
  return sample;
}

static bool same_sample(const struct evaluation *e, const struct sample *a,
                        const struct sample *b) {
  if (a->present != b->present || a->definite != b->definite) return false;
  if (!a->present) return true;
  if (!a->average) return oracle_equal_values(e->oracle, &a->value, &b->value);
  if (a->constant || b->constant)
    return a->constant && b->constant && a->value.function.n0 == b->value.function.n0;
  return a->a == b->a && a->w == b->w;
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
static size_t change_points(const struct evaluation *e, net_chronon **ret) {
  net_chronon *points = BASE_NEW_ARRAY(e->oracle->arena, e->member_count * 4 + 2, net_chronon);
  size_t count = 0;
  points[count++] = e->origin;
  if (e->averaging_known) points[count++] = e->averaging_origin;
  for (size_t i = 0; i < e->member_count; i++)
    for (unsigned j = 0; j < e->layout->first_domain_slot; j++)
      points[count++] = e->members[i].tuple->row[j].i;
  qsort(points, count, sizeof *points, by_time);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (points[i] < e->origin || points[i] == NET_FOREVER) continue;
    if (kept == 0 || points[kept - 1] != points[i]) points[kept++] = points[i];
  }
  *ret = points;
  return kept;
}

static void add_group(struct evaluation *e, const struct oracle_value *by,
                      struct oracle_segments *ret) {
  net_chronon *points;
  size_t count = change_points(e, &points);
  for (size_t i = 0; i < count; i++) {
    struct sample sample = sample_at(e, by, points[i]);
    size_t next = i + 1;
    while (next < count) {
      struct sample later = sample_at(e, by, points[next]);
      if (!same_sample(e, &sample, &later)) break;
      next++;
    }
    struct oracle_segment segment = {by, points[i], next < count ? points[next] : NET_FOREVER,
                                     sample.definite, sample.value};
    if (sample.present) add_segment(e->oracle, ret, segment);
    i = next - 1;
  }
}

static void find_origins(struct evaluation *e) {
  const struct ng_query *query = e->oracle->query;
  bool any = false;
  e->origin = query->origin;
  e->averaging_known = query->averaging_origin_given;
  e->averaging_origin = query->averaging_origin;
  for (size_t i = 0; i < e->member_count; i++) {
    net_chronon start = e->members[i].tuple->row[0].i;
    if (!query->origin_given && (!any || start < e->origin)) e->origin = start;
    any = true;
    if (query->averaging_origin_given || !e->members[i].counts) continue;
    if (!e->averaging_known || start < e->averaging_origin) e->averaging_origin = start;
    e->averaging_known = true;
  }
}

void oracle_aggregate(struct oracle *oracle, size_t index, struct oracle_segments *ret) {
  const struct ng_aggregate *aggregate = &oracle->query->aggregates[index];
  struct evaluation e = {.oracle = oracle, .aggregate = aggregate};
  e.layout = oracle->inputs[aggregate->variable].layout;
  e.events = e.layout->tuple_class == NET_EVENT;
  e.function = aggregate->function;
  e.cumulative = aggregate->cumulative || e.events;
  if (e.events && e.function == NET_AGG_AVGC) e.function = NET_AGG_AVG;
  e.groups_of_all = oracle->query->variables[aggregate->variable].outside;
  if (aggregate->unique) oracle_fail(oracle, "unique aggregate");
  take_members(&e);
  find_origins(&e);
  if (aggregate->by_count == 0) {
    add_group(&e, NULL, ret);
    return;
  }
  for (size_t i = 0; i < e.member_count; i++) {
    bool known = false;
    for (size_t j = 0; j < i && !known; j++)
      known = same_group(&e, e.members[i].by, e.members[j].by);
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
