/* What may be missing of what an aggregate counts: at which chronons a lost record would change it, said of each
 * record that may have been lost, one after the other. Of an event, when it happened; of a period that nobody knows,
 * from its start on for ever; of a record of a traced relation until the next one of its entity; of a sample from the
 * one before of its entity to the next. Where the entity is not told, it may be one of which nothing is known. */
#include <string.h>

#include "tests/oracle/oracle_internal.h"

void oracle_add_stretch(struct base_arena *arena, struct oracle_stretches *list, net_chronon from,
                        net_chronon to) {
  if (from >= to) return;
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 8;
    struct oracle_stretch *items = BASE_NEW_ARRAY(arena, capacity, struct oracle_stretch);
    if (list->count) memcpy(items, list->items, list->count * sizeof *items);
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = (struct oracle_stretch){from, to};
}

/* --- what an aggregate says of whose records it counts */

/* Of the process and the domains that tell entities apart. */
struct known {
  int field;
  bool is_known;
  union net_slot value;
};

static bool is_domain(const struct ng_expr *expr, unsigned variable, int field) {
  return expr->op == NG_DOMAIN && expr->variable == variable && (int)expr->index == field;
}

static bool is_constant(const struct ng_expr *expr) {
  return expr->op == NG_STRING || expr->op == NG_INTEGER;
}

static void set_known(struct known *known, const struct ng_expr *constant) {
  known->is_known = true;
  if (constant->op == NG_STRING)
    known->value.s = constant->string;
  else
    known->value.i = constant->integer;
}

/* Conjuncts DOMAIN = CONSTANT of the inner where. */
static void learn(const struct ng_aggregate *aggregate, const struct ng_expr *where,
                  struct known *known) {
  if (!where) return;
  if (where->op == NG_AND) {
    learn(aggregate, where->args[0], known);
    learn(aggregate, where->args[1], known);
  } else if (where->op == NG_EQ) {
    for (int i = 0; i < 2; i++)
      if (is_domain(where->args[i], aggregate->variable, known->field) &&
          is_constant(where->args[1 - i]))
        set_known(known, where->args[1 - i]);
  }
}

/* FIELD of the members of the group with the values BY. */
static struct known known_of(const struct ng_aggregate *aggregate, const struct oracle_value *by,
                             int field) {
  struct known known = {.field = field};
  if (field < 0) return known;
  learn(aggregate, aggregate->where, &known);
  for (size_t i = 0; i < aggregate->by_count; i++) {
    if (!is_domain(aggregate->by[i], aggregate->variable, field)) continue;
    known.is_known = true;
    if (net_type_is_interned(by[i].base))
      known.value.s = by[i].s;
    else if (by[i].base == NET_FLOAT)
      known.value.f = by[i].f;
    else
      known.value.i = by[i].i;
  }
  return known;
}

static bool may_match(const struct oracle *oracle, const struct ng_aggregate *aggregate,
                      const struct ng_expr *where, int process, base_string_id name) {
  if (!where) return true;
  if (where->op == NG_AND)
    return may_match(oracle, aggregate, where->args[0], process, name) &&
           may_match(oracle, aggregate, where->args[1], process, name);
  if (where->op != NG_MATCHES || !is_domain(where->args[0], aggregate->variable, process))
    return true;
  return oracle_matches(oracle, name, where->string);
}

/* --- stretches */

/* ENTITY: for each domain that tells entities apart, in that order. */
static bool of_entity(const struct oracle_missing *missing, const struct known *entity,
                      const union net_slot *row) {
  const struct net_field *fields = missing->records->layout->fields;
  for (size_t i = 0; i < missing->entity.count; i++)
    if (row[fields[entity[i].field].slot].i != entity[i].value.i) return false;
  return true;
}

/* NULL: nothing is known of whose records are missing. */
static bool is_told(const struct oracle_missing *missing, const struct known *entity) {
  if (!entity || missing->entity.count == 0) return false;
  for (size_t i = 0; i < missing->entity.count; i++)
    if (!entity[i].is_known) return false;
  return true;
}

/* The record of the entity at TIME was lost. */
static void lose_record(struct base_arena *arena, const struct oracle_missing *missing,
                        const struct known *entity, net_chronon time,
                        struct oracle_stretches *ret) {
  net_chronon before = NET_BEGINNING, after = NET_FOREVER;
  for (size_t i = 0; i < missing->records->count; i++) {
    const union net_slot *row = missing->records->tuples[i].row;
    if (!of_entity(missing, entity, row)) continue;
    if (row[0].i == time) return; /* it is there, so none was lost */
    if (row[0].i > time && row[0].i < after) after = row[0].i;
    if (row[0].i < time && row[0].i + 1 > before) before = row[0].i + 1;
  }
  bool sampled = missing->kind == NG_REL_SAMPLED;
  oracle_add_stretch(arena, ret, sampled ? before : time, after);
}

static void lose(struct base_arena *arena, const struct oracle_missing *missing,
                 const struct known *entity, const struct oracle_loss *loss,
                 struct oracle_stretches *ret) {
  if (missing->kind == NG_REL_EVENT) {
    oracle_add_stretch(arena, ret, loss->from, loss->to);
  } else if (!is_told(missing, entity)) {
    bool sampled = missing->kind == NG_REL_SAMPLED;
    oracle_add_stretch(arena, ret, sampled ? NET_BEGINNING : loss->from, NET_FOREVER);
  } else {
    lose_record(arena, missing, entity, loss->from, ret);
    for (size_t i = 0; i < missing->records->count; i++) {
      const union net_slot *row = missing->records->tuples[i].row;
      if (of_entity(missing, entity, row) && row[0].i >= loss->from && row[0].i + 1 < loss->to)
        lose_record(arena, missing, entity, row[0].i + 1, ret);
    }
  }
}

void oracle_missing_anywhere(struct base_arena *arena, const struct oracle_missing *missing,
                             struct oracle_stretches *ret) {
  for (size_t i = 0; i < missing->stretches.count; i++)
    oracle_add_stretch(arena, ret, missing->stretches.items[i].from,
                       missing->stretches.items[i].to);
  for (size_t i = 0; missing->losses && i < missing->losses->count; i++)
    lose(arena, missing, NULL, &missing->losses->items[i], ret);
}

static void missing_of(struct oracle *oracle, const struct ng_aggregate *aggregate,
                       const struct oracle_missing *missing, const struct oracle_value *by,
                       struct oracle_stretches *ret) {
  if (!missing->losses) {
    oracle_missing_anywhere(oracle->arena, missing, ret);
    return;
  }
  int process = missing->losses->process;
  struct known whose = known_of(aggregate, by, process);
  struct known *entity = BASE_NEW_ARRAY(oracle->arena, missing->entity.count, struct known);
  for (size_t i = 0; i < missing->entity.count; i++)
    entity[i] = known_of(aggregate, by, (int)missing->entity.fields[i]);
  for (size_t i = 0; i < missing->losses->count; i++) {
    const struct oracle_loss *loss = &missing->losses->items[i];
    if (!loss->anybody && process >= 0) {
      if (whose.is_known && whose.value.s != loss->process) continue;
      if (!may_match(oracle, aggregate, aggregate->where, process, loss->process)) continue;
    }
    lose(oracle->arena, missing, entity, loss, ret);
  }
}

void oracle_outlast(const struct ng_aggregate *aggregate, struct oracle_stretches *stretches) {
  for (size_t i = 0; i < stretches->count; i++) {
    struct oracle_stretch *stretch = &stretches->items[i];
    if (aggregate->summary) stretch->from = NET_BEGINNING;
    if (aggregate->cumulative || aggregate->function == NET_AGG_AVGC)
      stretch->to = NET_FOREVER;
    else if (aggregate->window > 0)
      stretch->to = net_chronon_add(stretch->to, aggregate->window - 1);
  }
}

/* --- pieces of the time line */

static void add_piece(struct oracle *oracle, struct oracle_segments *ret, net_chronon from,
                      net_chronon to, bool definite) {
  if (from >= to) return;
  if (ret->count == ret->capacity) {
    size_t capacity = ret->capacity ? ret->capacity * 2 : 8;
    struct oracle_segment *items = BASE_NEW_ARRAY(oracle->arena, capacity, struct oracle_segment);
    if (ret->count) memcpy(items, ret->items, ret->count * sizeof *items);
    ret->items = items;
    ret->capacity = capacity;
  }
  ret->items[ret->count++] =
      (struct oracle_segment){.time = {{from, from}, {to, to}}, .definite = definite};
}

/* The earliest stretch that is not over at TIME; NULL: all are. */
static const struct oracle_stretch *next_of(const struct oracle_stretches *stretches,
                                            net_chronon time) {
  const struct oracle_stretch *found = NULL;
  for (size_t i = 0; i < stretches->count; i++) {
    const struct oracle_stretch *stretch = &stretches->items[i];
    if (stretch->to > time && (!found || stretch->from < found->from)) found = stretch;
  }
  return found;
}

void oracle_doubts(struct oracle *oracle, size_t index, struct oracle_segments *ret) {
  const struct ng_aggregate *aggregate = &oracle->query->aggregates[index];
  const struct ng_variable *variable = &oracle->query->variables[aggregate->variable];
  struct oracle_stretches stretches = {0};
  struct oracle_missing missing;
  *ret = (struct oracle_segments){0};
  if (!oracle->world->missing || variable->credibility || variable->relation->kind == NG_REL_CLOCK)
    return;
  if (aggregate->function == NET_AGG_EXTEND) return;
  missing = oracle->world->missing(oracle->world->context, variable->relation->name);
  missing_of(oracle, aggregate, &missing, oracle->segments[index]->by, &stretches);
  oracle_outlast(aggregate, &stretches);
  if (stretches.count == 0) return;
  net_chronon at = NET_BEGINNING;
  for (const struct oracle_stretch *next; (next = next_of(&stretches, at)) != NULL;) {
    net_chronon from = next->from > at ? next->from : at, to = next->to;
    add_piece(oracle, ret, at, from, true);
    for (size_t i = 0; i < stretches.count; i++) { /* as far as others go on from there */
      if (stretches.items[i].from > to || stretches.items[i].to <= to) continue;
      to = stretches.items[i].to;
      i = (size_t)-1;
    }
    add_piece(oracle, ret, from, to, false);
    at = to;
  }
  add_piece(oracle, ret, at, NET_FOREVER, true);
}
