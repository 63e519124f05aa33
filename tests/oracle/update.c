/* delete and replace in the reference: of every tuple that a combination qualifies, the portion that is
 * meant goes, and for replace a changed tuple comes for it.
 *
 * What is left of a period is what `retrieve` gives with the same bounds: to the left `start V.start stop
 * A`, to the right `start B stop V.stop`; a piece that is perhaps empty is not definite. A portion that
 * has the tuple's own end leaves nothing on that side. What is meant only perhaps stays as a tuple that
 * is there perhaps. Events and records go or stay as a whole.                                       */
#include <string.h>

#include "tests/oracle/oracle_internal.h"

const char oracle_unsaid[] = "several uncertain portions of one tuple";

struct piece {
  struct net_period time;
  bool definite;
};

struct piece_list {
  struct piece *items;
  size_t count;
};

struct updating {
  struct base_arena *arena;
  const struct oracle_update *update;
  const struct oracle_relation *relation; /* as it was */
  const struct oracle_matches *matches;
  const struct oracle_relation *results; /* a row for each match */
  bool
      plain; /* one variable, no when, no aggregate: only the bounds of a portion can be in doubt */
  struct oracle_relation *ret;
  const struct base_strings *strings;
};

static struct net_period time_of(const union net_slot *row) {
  return (struct net_period){{row[0].i, row[1].i}, {row[2].i, row[3].i}};
}

static bool same_instant(struct net_instant a, struct net_instant b) {
  return a.lo == b.lo && a.hi == b.hi;
}

/* --- pieces of a period */

/* TRUTH: is it not empty? The tuple itself and the portion are not. */
static void add_piece(struct piece_list *list, struct net_period time, enum net_truth truth,
                      bool definite) {
  if (truth == NET_FALSE) return;
  if (time.start.hi > time.stop.hi) time.start.hi = time.stop.hi;
  if (time.stop.lo < time.start.lo) time.stop.lo = time.start.lo;
  list->items[list->count++] = (struct piece){time, definite && truth == NET_TRUE};
}

/* What TIME and PORTION have in common, as retrieve has it of bounds that are not known. */
static void add_common(struct piece_list *list, struct net_period time, struct net_period portion,
                       bool at_start, bool at_stop, bool definite) {
  struct net_period common = time;
  if (!at_start) common.start = net_later(time.start, portion.start);
  if (!at_stop) common.stop = net_earlier(time.stop, portion.stop);
  add_piece(list, common, at_start && at_stop ? NET_TRUE : net_nonempty(common), definite);
}

static bool own_start(const struct updating *u, const union net_slot *row,
                      struct net_period portion) {
  /* The portion's other end may have clipped it. */
  struct net_period whole = {time_of(row).start, portion.stop};
  return u->update->own_start && same_instant(portion.start, net_period_clip(whole).start);
}

static bool own_stop(const struct updating *u, const union net_slot *row,
                     struct net_period portion) {
  struct net_period whole = {portion.start, time_of(row).stop};
  return u->update->own_stop && same_instant(portion.stop, net_period_clip(whole).stop);
}

/* What is left of LIST after one cut. */
static struct piece_list cut(const struct updating *u, const union net_slot *row,
                             const struct piece_list *list, const struct oracle_match *match) {
  struct piece_list left = {BASE_NEW_ARRAY(u->arena, list->count * 3 + 1, struct piece), 0};
  struct net_period portion = match->time;
  for (size_t i = 0; i < list->count; i++) {
    struct net_period time = list->items[i].time;
    bool definite = list->items[i].definite;
    bool at_start = own_start(u, row, portion), at_stop = own_stop(u, row, portion);
    if (!at_start && !at_stop && net_overlap_periods(time, portion) == NET_FALSE) {
      left.items[left.count++] = list->items[i]; /* untouched */
      continue;
    }
    if (!at_start)
      add_piece(&left, (struct net_period){time.start, net_earlier(time.stop, portion.start)},
                net_before(time.start, portion.start), definite);
    if (!match->definite && !u->plain) add_common(&left, time, portion, at_start, at_stop, false);
    if (!at_stop)
      add_piece(&left, (struct net_period){net_later(time.start, portion.stop), time.stop},
                net_before(portion.stop, time.stop), definite);
  }
  return left;
}

static void add_period(const struct updating *u, const union net_slot *row, struct net_period time,
                       bool definite) {
  union net_slot *copy = BASE_NEW_ARRAY(u->arena, u->relation->layout->slot_count, union net_slot);
  memcpy(copy, row, u->relation->layout->slot_count * sizeof *copy);
  copy[0].i = time.start.lo;
  copy[1].i = time.start.hi;
  copy[2].i = time.stop.lo;
  copy[3].i = time.stop.hi;
  oracle_add(u->arena, u->ret, copy, definite);
}

/* --- changed tuples */

/* Match I's assignments on a copy of ROW. */
static union net_slot *changed(const struct updating *u, const union net_slot *row, size_t i) {
  const struct net_layout *layout = u->relation->layout, *from = u->results->layout;
  union net_slot *copy = BASE_NEW_ARRAY(u->arena, layout->slot_count, union net_slot);
  memcpy(copy, row, layout->slot_count * sizeof *copy);
  const union net_slot *result = u->results->tuples[i].row;
  for (size_t j = 0; j < u->update->field_count; j++)
    copy[layout->fields[u->update->fields[j]].slot] = result[from->fields[j + 1].slot];
  if (u->update->moves) {
    size_t behind = u->update->field_count + 1;
    copy[0] = result[from->fields[behind].slot];
    copy[1] = result[from->fields[behind + 1].slot];
  }
  return copy;
}

static bool same_change(const struct updating *u, const union net_slot *a,
                        const union net_slot *b) {
  const struct net_layout *layout = u->relation->layout;
  uint32_t from = layout->tuple_class == NET_EVENT ? 0 : layout->first_domain_slot;
  return memcmp(a + from, b + from, (layout->slot_count - from) * sizeof *a) == 0;
}

static void add_changed(const struct updating *u, const struct oracle_tuple *tuple, size_t i) {
  const struct oracle_match *match = &u->matches->items[i];
  union net_slot *row = changed(u, tuple->row, i);
  bool definite = tuple->definite && match->definite;
  if (u->relation->layout->tuple_class == NET_EVENT) {
    oracle_add(u->arena, u->ret, row, definite);
    return;
  }
  struct net_period own = time_of(tuple->row), portion = match->time;
  bool at_start = own_start(u, tuple->row, portion), at_stop = own_stop(u, tuple->row, portion);
  struct piece piece;
  struct piece_list list = {&piece, 0};
  add_common(&list, own, portion, at_start, at_stop, definite);
  if (list.count > 0) add_period(u, row, piece.time, piece.definite);
}

static bool fits(const struct updating *u, const union net_slot *row) {
  const struct net_layout *layout = u->relation->layout;
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (net_value_check(u->strings, layout->fields[i].type, row[layout->fields[i].slot]))
      return false;
  return true;
}

/* Two different changes of one tuple at one time. */
static bool contradicts(const struct updating *u, size_t i, size_t j) {
  const union net_slot *row = u->matches->items[i].tuples[u->update->variable]->row;
  if (same_change(u, changed(u, row, i), changed(u, row, j))) return false;
  if (u->relation->layout->tuple_class == NET_EVENT) return true;
  return net_overlap_periods(u->matches->items[i].time, u->matches->items[j].time) != NET_FALSE;
}

/* --- a tuple */

static bool is_certain(const struct net_period *time) {
  return time->start.lo == time->start.hi && time->stop.lo == time->stop.hi;
}

static bool same_portion(const struct net_period *a, const struct net_period *b) {
  return same_instant(a->start, b->start) && same_instant(a->stop, b->stop);
}

/* The same portion twice is one; that of the match which holds for sure, or the first. */
static bool said_before(const struct updating *u, size_t i) {
  const struct oracle_match *match = &u->matches->items[i];
  if (u->update->replaces || u->relation->layout->tuple_class == NET_EVENT) return false;
  for (size_t j = 0; j < u->matches->count; j++) {
    const struct oracle_match *other = &u->matches->items[j];
    if (j == i || other->tuples[u->update->variable] != match->tuples[u->update->variable])
      continue;
    if (!same_portion(&match->time, &other->time)) continue;
    if (other->definite > match->definite || (other->definite == match->definite && j < i))
      return true;
  }
  return false;
}

static const char *update_tuple(const struct updating *u, const struct oracle_tuple *tuple) {
  bool event = u->relation->layout->tuple_class == NET_EVENT;
  struct piece whole = {.definite = tuple->definite};
  if (!event) whole.time = time_of(tuple->row);
  struct piece_list left = {&whole, 1};
  bool goes = false, perhaps = false, certain = event || is_certain(&whole.time);
  size_t cuts = 0;
  for (size_t i = 0; i < u->matches->count; i++) {
    const struct oracle_match *match = &u->matches->items[i];
    if (match->tuples[u->update->variable] != tuple || said_before(u, i)) continue;
    for (size_t j = 0; j < i && u->update->replaces; j++)
      if (u->matches->items[j].tuples[u->update->variable] == tuple && contradicts(u, i, j))
        return "two values at one time";
    cuts++;
    certain = certain && (event || (match->definite && is_certain(&match->time)));
    if (event) {
      goes = goes || match->definite;
      perhaps = perhaps || !match->definite;
    } else {
      left = cut(u, tuple->row, &left, match);
    }
    if (!u->update->replaces) continue;
    add_changed(u, tuple, i);
    if (!fits(u, changed(u, tuple->row, i))) return "out of the range of its type";
  }
  if (cuts > 1 && !certain && !event) return oracle_unsaid;
  if (event && !goes) oracle_add(u->arena, u->ret, tuple->row, tuple->definite && !perhaps);
  for (size_t i = 0; !event && i < left.count; i++)
    add_period(u, tuple->row, left.items[i].time, left.items[i].definite);
  return NULL;
}

const char *oracle_apply_update(struct base_arena *arena, const struct oracle_world *world,
                                const struct oracle_update *update,
                                const struct oracle_relation *relation, struct oracle_relation *ret,
                                bool *ret_may_fail) {
  struct oracle_matches matches;
  struct oracle_relation results;
  const char *why =
      oracle_evaluate_matches(arena, world, update->query, &results, &matches, ret_may_fail);
  *ret = (struct oracle_relation){.layout = relation->layout};
  for (size_t i = 0; i < relation->count && !why && update->query->sequence != NG_SEQUENCE_FULL;
       i++)
    if (!relation->tuples[i].definite) return oracle_unsaid; /* is it there for its neighbours? */
  const struct ng_query *query = update->query;
  bool plain = query->variable_count == 1 && query->aggregate_count == 0 && !query->when;
  struct updating u = {arena, update, relation, &matches, &results, plain, ret, world->strings};
  for (size_t i = 0; i < relation->count && !why; i++) why = update_tuple(&u, &relation->tuples[i]);
  oracle_make_set(ret);
  return why;
}
