/* unless: what has no partner stays. Every tuple of the absent variable is looked at for every result.
 *
 * With a when of the clause, and where the result is an event, all of the result stays or nothing; of a period
 * else the chronons do that no partner covers. A partner that is there perhaps, or that covers a chronon
 * perhaps, makes what is left uncertain, in a piece of its own.
 *
 * Of an error in the conditions of the clause nothing is said: which pairs are looked at is nobody's promise. */
#include "tests/oracle/oracle_internal.h"

/* --- partners */

/* Between a partner and the result at AT, where the clause has no when. */
static enum net_truth is_there(const struct oracle *oracle, unsigned variable,
                               struct net_instant at) {
  struct oracle_alternative partner = oracle_of_tuple(oracle, variable);
  struct oracle_alternative result = {.start = at, .stop = at, .event = true};
  return oracle_overlap(&result, &partner);
}

/* Is TUPLE a partner of the combination? AT: the instant at which it has to be there, or NULL. */
static enum net_truth is_partner(struct oracle *oracle, const struct ng_absence *absence,
                                 const struct oracle_tuple *tuple, const struct net_instant *at) {
  oracle->tuples[absence->variable] = tuple;
  oracle->absent = true;
  enum net_truth truth = tuple->definite ? NET_TRUE : NET_UNKNOWN;
  truth = net_and(truth, oracle_condition(oracle, absence->where));
  truth = net_and(truth, oracle_condition(oracle, absence->when));
  if (at) truth = net_and(truth, is_there(oracle, absence->variable, *at));
  oracle->absent = false;
  oracle->tuples[absence->variable] = NULL;
  if (!oracle->error) return truth;
  oracle->error = NULL;
  oracle->may_fail = true;
  if (oracle->world->unsaid) *oracle->world->unsaid = true;
  return truth;
}

static enum net_truth misses_partner(struct oracle *oracle, const struct ng_absence *absence,
                                     const struct net_instant *at);

static enum net_truth has_partner(struct oracle *oracle, const struct ng_absence *absence,
                                  const struct net_instant *at) {
  const struct oracle_relation *input = &oracle->inputs[absence->variable];
  enum net_truth any = NET_FALSE;
  for (size_t i = 0; i < input->count; i++)
    any = net_or(any, is_partner(oracle, absence, &input->tuples[i], at));
  return net_or(any, misses_partner(oracle, absence, at));
}

/* --- partners that may be missing */

/* What the clause says of FIELD of its partners: it is the same as a domain of the combination, or a constant. */
static bool find_known(struct oracle *oracle, const struct ng_absence *absence,
                       const struct ng_expr *where, int field, union net_slot *ret) {
  if (!where || field < 0) return false;
  if (where->op == NG_AND)
    return find_known(oracle, absence, where->args[0], field, ret) ||
           find_known(oracle, absence, where->args[1], field, ret);
  if (where->op != NG_EQ) return false;
  for (int side = 0; side < 2; side++) {
    const struct ng_expr *own = where->args[side], *other = where->args[!side];
    enum net_base_type base = own->type.base;
    bool is_own = own->op == NG_DOMAIN && own->variable == absence->variable &&
                  (int)own->index == field && base == other->type.base && base != NET_FLOAT;
    bool domain = other->op == NG_DOMAIN && other->variable != absence->variable;
    if (!is_own || !(domain || other->op == NG_STRING || other->op == NG_INTEGER)) continue;
    struct oracle_value value = oracle_scalar(oracle, other);
    if (net_type_is_interned(base))
      ret->s = value.s;
    else
      ret->i = value.i;
    return true;
  }
  return false;
}

/* Where records may have been lost that were partners, each process for itself if it is known whose. */
struct absent {
  struct oracle_missing missing;
  struct oracle_stretches losses;
  bool told; /* they are of one entity: */
  union net_slot *entity;
};

static struct absent absent_of(struct oracle *oracle, const struct ng_absence *absence) {
  const struct ng_variable *variable = &oracle->query->variables[absence->variable];
  struct absent absent = {.losses = {0}};
  if (!oracle->world->missing || variable->credibility || variable->relation->kind == NG_REL_CLOCK)
    return absent;
  absent.missing = oracle->world->missing(oracle->world->context, variable->relation->name);
  const struct oracle_losses *losses = absent.missing.losses;
  if (!losses) return absent;
  union net_slot process = {.i = 0};
  bool known = find_known(oracle, absence, absence->where, losses->process, &process);
  for (size_t i = 0; i < losses->count; i++)
    if (!known || losses->items[i].anybody || losses->items[i].process == process.s)
      oracle_add_stretch(oracle->arena, &absent.losses, losses->items[i].from, losses->items[i].to);
  const struct net_key *key = &absent.missing.entity;
  absent.entity = BASE_NEW_ARRAY(oracle->arena, key->count + 1, union net_slot);
  absent.told = key->count > 0;
  for (size_t i = 0; i < key->count; i++)
    absent.told = absent.told && find_known(oracle, absence, absence->where, (int)key->fields[i],
                                            &absent.entity[i]);
  return absent;
}

/* A tuple that begins in START and, if it is a period, ends in STOP; of its domains nothing is known. */
static const struct oracle_tuple *unknown_tuple(const struct oracle *oracle, unsigned variable,
                                                struct net_instant start, struct net_instant stop) {
  const struct net_layout *layout = oracle->inputs[variable].layout;
  struct oracle_tuple *tuple = BASE_NEW(oracle->arena, struct oracle_tuple);
  union net_slot *row = BASE_NEW_ARRAY(oracle->arena, layout->slot_count, union net_slot);
  row[0].i = start.lo;
  row[1].i = start.hi;
  if (layout->tuple_class == NET_PERIOD) {
    row[2].i = stop.lo;
    row[3].i = stop.hi;
  }
  tuple->row = row;
  return tuple;
}

/* May one have been lost between FROM and TO? */
static bool may_be_lost(struct oracle *oracle, const struct ng_absence *absence, net_chronon from,
                        net_chronon to, net_chronon last, const struct net_instant *at) {
  struct net_instant start = {from, to - 1}, stop = {from, last};
  oracle->tuples[absence->variable] = unknown_tuple(oracle, absence->variable, start, stop);
  oracle->absent = true;
  enum net_truth truth = oracle_condition(oracle, absence->when);
  if (at) truth = net_and(truth, is_there(oracle, absence->variable, *at));
  oracle->absent = false;
  oracle->tuples[absence->variable] = NULL;
  return truth != NET_FALSE;
}

static enum net_truth misses_partner(struct oracle *oracle, const struct ng_absence *absence,
                                     const struct net_instant *at) {
  struct absent absent = absent_of(oracle, absence);
  bool sampled = absent.missing.kind == NG_REL_SAMPLED, found = false;
  for (size_t i = 0; i < absent.losses.count && !found; i++) {
    struct oracle_stretch loss = absent.losses.items[i];
    found =
        may_be_lost(oracle, absence, sampled ? NET_BEGINNING : loss.from, loss.to, NET_FOREVER, at);
  }
  const struct oracle_stretches *stretches = &absent.missing.stretches;
  for (size_t i = 0; i < stretches->count && !found && !absent.missing.losses; i++)
    found = may_be_lost(oracle, absence, stretches->items[i].from, stretches->items[i].to,
                        stretches->items[i].to, at);
  return found ? NET_UNKNOWN : NET_FALSE;
}

static bool is_of_entity(const struct absent *absent, const union net_slot *row) {
  const struct net_field *fields = absent->missing.records->layout->fields;
  for (size_t i = 0; i < absent->missing.entity.count; i++)
    if (row[fields[absent->missing.entity.fields[i]].slot].i != absent->entity[i].i) return false;
  return true;
}

/* What was lost in LOSS covers perhaps: of an entity until there is a record of it again. */
static void add_missing_cover(struct oracle *oracle, const struct absent *absent,
                              struct oracle_stretch loss, struct oracle_stretches *ret) {
  if (absent->missing.kind != NG_REL_EVENT) {
    net_chronon last = loss.to;
    loss.to = NET_FOREVER;
    for (size_t i = 0; absent->told && i < absent->missing.records->count; i++) {
      const union net_slot *row = absent->missing.records->tuples[i].row;
      if (is_of_entity(absent, row) && row[0].i >= last - 1 && row[0].i < loss.to)
        loss.to = row[0].i;
    }
    if (absent->missing.kind == NG_REL_SAMPLED) loss.from = NET_BEGINNING;
  }
  oracle_add_stretch(oracle->arena, ret, loss.from, loss.to);
}

static void add_missing_covers(struct oracle *oracle, const struct ng_absence *absence,
                               struct oracle_stretches *ret) {
  struct absent absent = absent_of(oracle, absence);
  for (size_t i = 0; i < absent.losses.count; i++)
    add_missing_cover(oracle, &absent, absent.losses.items[i], ret);
  const struct oracle_stretches *stretches = &absent.missing.stretches;
  for (size_t i = 0; i < stretches->count && !absent.missing.losses; i++)
    oracle_add_stretch(oracle->arena, ret, stretches->items[i].from, stretches->items[i].to);
}

/* --- the chronons that they cover */

struct covers {
  struct oracle_stretches surely, perhaps;
};

static void add_cover(struct oracle *oracle, unsigned variable, const struct oracle_tuple *tuple,
                      enum net_truth truth, struct covers *ret) {
  oracle->tuples[variable] = tuple;
  struct oracle_alternative partner = oracle_of_tuple(oracle, variable);
  oracle->tuples[variable] = NULL;
  struct net_instant start = partner.start, stop = partner.stop;
  if (partner.event) { /* the chronon at which it is, if that is known */
    if (stop.hi < NET_FOREVER) stop.hi++;
    if (start.lo == start.hi) stop.lo = stop.hi;
  }
  if (truth == NET_TRUE) oracle_add_stretch(oracle->arena, &ret->surely, start.hi, stop.lo);
  oracle_add_stretch(oracle->arena, &ret->perhaps, start.lo, stop.hi);
}

static struct covers covers_of(struct oracle *oracle, const struct ng_absence *absence) {
  const struct oracle_relation *input = &oracle->inputs[absence->variable];
  struct covers covers = {0};
  for (size_t i = 0; i < input->count; i++) {
    const struct oracle_tuple *tuple = &input->tuples[i];
    enum net_truth truth = is_partner(oracle, absence, tuple, NULL);
    if (truth != NET_FALSE) add_cover(oracle, absence->variable, tuple, truth, &covers);
  }
  add_missing_covers(oracle, absence, &covers.perhaps);
  return covers;
}

static bool is_in(const struct oracle_stretches *list, net_chronon time) {
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i].from <= time && time < list->items[i].to) return true;
  return false;
}

/* Is nothing there at TIME? */
static enum net_truth is_free(const struct covers *covers, net_chronon time) {
  if (is_in(&covers->surely, time)) return NET_FALSE;
  return is_in(&covers->perhaps, time) ? NET_UNKNOWN : NET_TRUE;
}

static net_chronon next_bound(const struct oracle_stretches *list, net_chronon time,
                              net_chronon next) {
  for (size_t i = 0; i < list->count; i++) {
    const struct oracle_stretch *stretch = &list->items[i];
    if (stretch->from > time && stretch->from < next) next = stretch->from;
    if (stretch->to > time && stretch->to < next) next = stretch->to;
  }
  return next;
}

/* Up to where it is as it is at FROM. */
static net_chronon end_of(const struct covers *covers, net_chronon from) {
  enum net_truth truth = is_free(covers, from);
  net_chronon to = from;
  do to = next_bound(&covers->surely, to, next_bound(&covers->perhaps, to, NET_FOREVER));
  while (to < NET_FOREVER && is_free(covers, to) == truth);
  return to;
}

/* --- what is left */

static bool has_temporal_target(const struct ng_query *query) {
  for (size_t i = 0; i < query->target_count; i++)
    if (query->targets[i].expr->type.base == NET_TEMPORAL) return true;
  return false;
}

static bool same_instant(struct net_instant a, struct net_instant b) {
  return a.lo == b.lo && a.hi == b.hi;
}

/* What WHOLE has of the chronons from FROM to before TO; what stays as it is is not empty. */
static void add_piece(const struct oracle *oracle, const struct oracle_piece *whole,
                      net_chronon from, net_chronon to, enum net_truth truth,
                      struct oracle_pieces *ret) {
  struct net_period time = {net_later(whole->time.start, (struct net_instant){from, from}),
                            net_earlier(whole->time.stop, (struct net_instant){to, to})};
  truth = net_and(truth, whole->truth);
  if (!same_instant(time.start, whole->time.start) || !same_instant(time.stop, whole->time.stop))
    truth = net_and(truth, net_nonempty(time));
  if (truth == NET_FALSE) return;
  /* So far from there the doubles of a value have no chronons any more. */
  if (whole->time.start.lo == NET_BEGINNING && time.start.lo != NET_BEGINNING &&
      has_temporal_target(oracle->query) && oracle->world->unsaid)
    *oracle->world->unsaid = true;
  if (time.start.hi > time.stop.hi) time.start.hi = time.stop.hi;
  if (time.stop.lo < time.start.lo) time.stop.lo = time.start.lo;
  ret->items[ret->count++] = (struct oracle_piece){time, truth};
}

/* PIECES without the chronons at which a partner is there. */
static struct oracle_pieces uncovered(struct oracle *oracle, const struct covers *covers,
                                      const struct oracle_pieces *pieces) {
  size_t most = 2 * (covers->surely.count + covers->perhaps.count) + 1;
  struct oracle_pieces left = {
      BASE_NEW_ARRAY(oracle->arena, pieces->count * most, struct oracle_piece), 0};
  for (size_t i = 0; i < pieces->count; i++)
    for (net_chronon from = NET_BEGINNING, to; from < NET_FOREVER; from = to) {
      to = end_of(covers, from);
      add_piece(oracle, &pieces->items[i], from, to, is_free(covers, from), &left);
    }
  return left;
}

void oracle_left(struct oracle *oracle, struct net_period time, enum net_truth truth,
                 struct oracle_pieces *ret) {
  const struct ng_query *query = oracle->query;
  bool event = query->result_class == NET_EVENT;
  *ret = (struct oracle_pieces){BASE_NEW(oracle->arena, struct oracle_piece), 1};
  ret->items[0] = (struct oracle_piece){time, truth};
  for (size_t i = 0; i < query->absence_count; i++) {
    const struct ng_absence *absence = &query->absences[i];
    if (!event && !absence->when) {
      struct covers covers = covers_of(oracle, absence);
      *ret = uncovered(oracle, &covers, ret);
      continue;
    }
    truth = net_not(has_partner(oracle, absence, absence->when ? NULL : &time.start));
    for (size_t j = 0; j < ret->count; j++)
      ret->items[j].truth = net_and(ret->items[j].truth, truth);
  }
}
