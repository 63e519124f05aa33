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

static enum net_truth has_partner(struct oracle *oracle, const struct ng_absence *absence,
                                  const struct net_instant *at) {
  const struct oracle_relation *input = &oracle->inputs[absence->variable];
  enum net_truth any = NET_FALSE;
  for (size_t i = 0; i < input->count; i++)
    any = net_or(any, is_partner(oracle, absence, &input->tuples[i], at));
  return any;
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
