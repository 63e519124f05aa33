/* Aggregate (AggrOp of appendix C; thesis 4.4, 4.5.3 second strategy).
 *
 *      in ──▶ [ function, where, by, argument ] ──▶ out      state: groups, members      order: start
 *
 * Every tuple makes changes at instants: it comes perhaps (start.lo), surely (start.hi), goes perhaps
 * (stop.lo), surely (stop.hi). Changes wait in a heap until the checkpoint passes them; at each instant
 * with changes the value of each group touched is looked at, and where value or certainty differ from
 * before, a segment ends and another begins: maximal periods of constant value. A segment that begins
 * and ends before one checkpoint goes out whole; the last one is open.
 *
 * The value is that of the tuples that are there for sure; while some tuple is there perhaps (and no
 * equal one for sure) the segment is omega. Cumulative functions never let a tuple go.
 *
 * avgc: (1/T) integral of the sum of the arguments, as (I + W tau) / (T + tau): I the integral so far, W
 * the sum of the arguments now, T the time since the averaging origin. Integer arguments are summed in
 * 128 bits, others compensated.                                                                     */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/alike.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

/* 128 bits: no sum of 64-bit integers overflows. */
__extension__ typedef __int128 wide;

/* A sum of doubles whose order does not show (Neumaier). */
struct compensated {
  double sum, error;
};

static void compensated_add(struct compensated *sum, double value) {
  double total = sum->sum + value;
  double big = sum->sum, small = value;
  if ((big < 0 ? -big : big) < (small < 0 ? -small : small)) {
    big = value;
    small = sum->sum;
  }
  sum->error += (big - total) + small;
  sum->sum = total;
}

static double compensated_value(const struct compensated *sum) {
  return sum->sum + sum->error;
}

struct group {
  int64_t sure;    /* distinct tuples (cumulative: tuples) that count and are there for sure */
  int64_t perhaps; /* ... that count, are there perhaps, and no equal one for sure */
  int64_t present_sure, present_perhaps; /* tuples of the group, counting or not (groups of all) */
  bool tainted;                          /* cumulative: something uncertain came and never goes */
  bool begun;                            /* a segment runs */
  bool omega;                            /* of the segment */
  bool touched;
  uint64_t id;                  /* of the segment; 0: it has not gone out open */
  net_chronon since;            /* start of the segment */
  int64_t value;                /* count, any */
  int64_t references;           /* changes to come */
  struct net_temporal function; /* avgc: of the segment, tau from SINCE */
  wide segment_weight;          /* the sum of the arguments of the segment */
  double segment_weight_f;
  /* avgc */
  wide weight, integral; /* integer arguments: integral in argument chronons */
  struct compensated weight_f, integral_f;
  net_chronon integrated_to;
};

/* A tuple (instantaneous: all tuples equal in the domains) of a group. */
struct member {
  int64_t sure, perhaps;
  int64_t references; /* changes to come */
};

/* NOTHING: an origin; every group is looked at. */
enum change_kind { COMES_PERHAPS, COMES_SURELY, GOES_PERHAPS, GOES_SURELY, NOTHING };

struct change {
  net_chronon time;
  uint64_t sequence;
  uint32_t member; /* instantaneous functions; else NONE */
  uint32_t group;
  enum change_kind kind;
  bool from_perhaps, to_perhaps; /* the tuple was / will then be there perhaps */
  bool counts;
  bool never_sure; /* avgc: with COMES_SURELY: begun for sure, but there for sure at no time */
  bool integer;
  int64_t weight;
  double weight_f;
};

struct aggregate {
  struct net_node node;
  struct net_aggregate_params params;
  struct net_inbox inbox;
  struct net_rowmap groups;     /* by the by fields */
  struct net_rowmap members;    /* by the domains and where */
  struct net_alike alike;       /* where tuples are counted: open rows that may yet be one */
  bool counts_open;             /* ... is used */
  struct net_rowmap same_start; /* cumulative: rows of one start, to make a set of them */
  uint32_t *row_slots;
  struct change *heap;
  size_t heap_count, heap_capacity;
  uint64_t sequence, last_id;
  uint32_t *by_slots;
  bool origin_known, averaging_known;
  net_chronon origin, averaging_origin;
  uint32_t *touched;
  size_t touched_count, touched_capacity;
  uint32_t value_slot, argument_slot;
  bool argument_integer;
  union net_slot *nothing; /* a zeroed row: the key of the only group */
};

/* --- changes */

static struct group *group_at(const struct aggregate *node, uint32_t index) {
  return net_rowmap_state(&node->groups, index);
}

static bool before(const struct change *a, const struct change *b) {
  return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

static void heap_push(struct aggregate *node, struct change change) {
  base_grow(&node->heap, &node->heap_capacity, node->heap_count + 1, sizeof *node->heap);
  size_t i = node->heap_count++;
  change.sequence = node->sequence++;
  while (i > 0 && before(&change, &node->heap[(i - 1) / 2])) {
    node->heap[i] = node->heap[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  node->heap[i] = change;
  if (change.kind == NOTHING) return;
  group_at(node, change.group)->references++;
  if (change.member != NET_NO_ENTRY)
    ((struct member *)net_rowmap_state(&node->members, change.member))->references++;
}

static struct change heap_pop(struct aggregate *node) {
  struct change top = node->heap[0], last = node->heap[--node->heap_count];
  size_t i = 0;
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= node->heap_count) break;
    if (child + 1 < node->heap_count && before(&node->heap[child + 1], &node->heap[child])) child++;
    if (!before(&node->heap[child], &last)) break;
    node->heap[i] = node->heap[child];
    i = child;
  }
  if (node->heap_count > 0) node->heap[i] = last;
  return top;
}

/* --- tuples coming in */

static bool counts(const struct aggregate *node, const union net_slot *row) {
  if (node->params.where_field < 0) return true;
  return row[node->params.in->fields[node->params.where_field].slot].i != 0;
}

/* Functions for which each tuple counts, not each value of the domains. */
static bool counts_each(const struct aggregate *node) {
  return node->params.cumulative || node->params.function == NET_AGG_AVGC;
}

static struct change change_for(struct aggregate *node, const union net_slot *row) {
  struct change change = {.member = NET_NO_ENTRY, .counts = counts(node, row), .integer = true};
  bool fresh;
  change.group = net_rowmap_put(&node->groups, row, &fresh);
  if (fresh) group_at(node, change.group)->integrated_to = NET_BEGINNING;
  change.weight = 1;
  if (node->params.argument_field >= 0) {
    change.integer = node->argument_integer;
    if (change.integer) {
      change.weight = row[node->argument_slot].i;
    } else {
      change.weight_f = row[node->argument_slot].f;
    }
  }
  if (!counts_each(node)) change.member = net_rowmap_put(&node->members, row, NULL);
  return change;
}

/* The start of a tuple: present perhaps from start.lo, surely from start.hi. */
static void push_start(struct aggregate *node, const union net_slot *row, uint8_t marks,
                       net_chronon sure_until) {
  struct change change = change_for(node, row);
  bool ever_sure = (marks & NET_DEFINITE) && row[1].i < sure_until;
  change.time = row[0].i;
  change.kind = COMES_PERHAPS;
  if (ever_sure && row[0].i == row[1].i) {
    change.kind = COMES_SURELY;
    heap_push(node, change);
    return;
  }
  heap_push(node, change);
  if (!ever_sure && (!(marks & NET_DEFINITE) || !counts_each(node))) return;
  change.time = row[1].i;
  change.kind = COMES_SURELY;
  change.from_perhaps = true;
  change.never_sure = !ever_sure;
  heap_push(node, change);
}

/* Its stop: perhaps gone from stop.lo, surely from stop.hi. OPENED: the start was seen without the stop;
 * that it comes for sure is then taken back where it may be gone before. */
static void push_stop(struct aggregate *node, const union net_slot *row, uint8_t marks,
                      struct net_instant stop, bool opened) {
  struct change change = change_for(node, row);
  bool was_sure = (marks & NET_DEFINITE) && row[1].i < stop.lo;
  if (opened && !was_sure && (marks & NET_DEFINITE)) {
    change.time = row[1].i;
    change.kind = GOES_PERHAPS;
    change.to_perhaps = true;
    heap_push(node, change);
  }
  if (was_sure && stop.lo == stop.hi) {
    change.time = stop.lo;
    change.kind = GOES_SURELY;
    heap_push(node, change);
    return;
  }
  if (was_sure) {
    change.time = stop.lo;
    change.kind = GOES_PERHAPS;
    change.to_perhaps = true;
    heap_push(node, change);
  }
  change.time = stop.hi;
  change.kind = GOES_SURELY;
  change.from_perhaps = true;
  change.to_perhaps = false;
  heap_push(node, change);
}

static void know_origin(struct aggregate *node, const union net_slot *row) {
  if (!node->origin_known) {
    node->origin_known = true;
    node->origin = row[0].i;
    heap_push(node, (struct change){.time = node->origin, .kind = NOTHING});
  }
  if (!node->averaging_known && counts(node, row)) {
    node->averaging_known = true;
    node->averaging_origin = row[0].i;
  }
}

static void arrive(struct aggregate *node, const union net_slot *row, uint8_t marks) {
  const struct net_layout *in = node->params.in;
  /* Event relations and cumulative functions: a tuple never goes. avgc lets its weight go. */
  bool goes = in->tuple_class == NET_PERIOD &&
              (!node->params.cumulative || node->params.function == NET_AGG_AVGC);
  if (marks & NET_CLOSES) {
    if (goes && row[2].i != NET_OPEN) push_stop(node, row, marks, net_slot_instant(row, 2), true);
    return;
  }
  know_origin(node, row);
  bool open = in->tuple_class == NET_PERIOD && row[2].i == NET_OPEN;
  push_start(node, row, marks, goes && !open ? row[2].i : NET_FOREVER);
  if (goes && !open && (row[3].i != NET_FOREVER || row[2].i != NET_FOREVER))
    push_stop(node, row, marks, net_slot_instant(row, 2), false);
}

/* --- values */

static double chronons_to_units(const struct aggregate *node, double chronons) {
  return net_network_timeline(node->node.network) == NET_TIMELINE_REAL ? chronons / 1e9 : chronons;
}

static void integrate(struct aggregate *node, struct group *group, net_chronon to) {
  net_chronon from = group->integrated_to;
  group->integrated_to = to;
  if (!node->averaging_known || from == NET_BEGINNING) return;
  if (from < node->averaging_origin) from = node->averaging_origin;
  if (to <= from) return;
  wide span = (wide)to - from;
  group->integral += group->weight * span;
  compensated_add(&group->integral_f, compensated_value(&group->weight_f) * (double)span);
}

static struct net_temporal average_at(const struct aggregate *node, const struct group *group,
                                      net_chronon now) {
  struct net_temporal value = {0, 0, 1, 0};
  if (!node->averaging_known || now < node->averaging_origin) return value;
  double weight = (double)group->weight + compensated_value(&group->weight_f);
  double integral =
      chronons_to_units(node, (double)group->integral + compensated_value(&group->integral_f));
  value = (struct net_temporal){
      integral, weight, chronons_to_units(node, (double)((wide)now - node->averaging_origin)), 1};
  return net_temporal_normal(value);
}

/* Has the group a value now, and which? */
static bool value_now(const struct aggregate *node, const struct group *group, net_chronon now,
                      int64_t *value, struct net_temporal *function, bool *omega) {
  bool cumulative = node->params.cumulative || node->params.function == NET_AGG_AVGC;
  *omega = cumulative ? group->tainted : group->perhaps > 0;
  *value = node->params.function == NET_AGG_ANY ? group->sure > 0 : group->sure;
  if (node->params.function == NET_AGG_AVGC) *function = average_at(node, group, now);
  if (node->params.by_count == 0) return true;
  int64_t sure = node->params.groups_of_all ? group->present_sure : group->sure;
  int64_t perhaps = node->params.groups_of_all ? group->present_perhaps : group->perhaps;
  if (sure == 0 && perhaps == 0) return false;
  if (sure == 0) *omega = true;
  return true;
}

static bool same_value(const struct aggregate *node, const struct group *group, int64_t value,
                       struct net_temporal function, bool omega) {
  if (omega != group->omega) return false;
  if (node->params.function != NET_AGG_AVGC) return value == group->value;
  if (function.n1 == 0 && function.d1 == 0 && group->function.n1 == 0 && group->function.d1 == 0)
    return function.n0 == group->function.n0;
  /* The average is continuous: while the sum of the arguments is the same, so is the function. */
  return node->averaging_known && group->since >= node->averaging_origin &&
         group->segment_weight == group->weight &&
         group->segment_weight_f == compensated_value(&group->weight_f);
}

static void put_segment(struct aggregate *node, uint32_t index, uint8_t closes, net_chronon stop,
                        net_chronon bound, enum base_status *status) {
  const struct net_layout *out = node->node.layout;
  const struct group *group = group_at(node, index);
  const union net_slot *key = net_rowmap_row(&node->groups, index);
  uint8_t marks = (uint8_t)((group->omega ? 0 : NET_DEFINITE) | closes);
  union net_slot *row = net_out_row(&node->node, marks, group->id, bound, status);
  row[0].i = row[1].i = group->since;
  row[2].i = stop;
  row[3].i = stop == NET_OPEN ? NET_FOREVER : stop;
  for (size_t i = 0; i < node->params.by_count; i++)
    row[out->fields[i].slot] = key[node->by_slots[i]];
  if (node->params.function == NET_AGG_AVGC) {
    row[node->value_slot].f = group->function.n0;
    row[node->value_slot + 1].f = group->function.n1;
    row[node->value_slot + 2].f = group->function.d0;
    row[node->value_slot + 3].f = group->function.d1;
  } else {
    row[node->value_slot].i = group->value;
  }
}

static void look(struct aggregate *node, uint32_t index, net_chronon now,
                 enum base_status *status) {
  struct group *group = group_at(node, index);
  group->touched = false;
  if (now < node->origin) return;
  int64_t value = 0;
  struct net_temporal function = {0, 0, 1, 0};
  bool omega = false;
  bool has = value_now(node, group, now, &value, &function, &omega);
  if (group->begun && has && same_value(node, group, value, function, omega)) return;
  if (group->begun) {
    if (now > group->since)
      put_segment(node, index, group->id ? NET_CLOSES : 0, now, node->node.checkpoint, status);
    group->begun = false;
  }
  if (!has) return;
  group->begun = true;
  group->id = 0;
  group->omega = omega;
  group->since = now;
  group->value = value;
  group->function = function;
  group->segment_weight = group->weight;
  group->segment_weight_f = compensated_value(&group->weight_f);
}

static void touch(struct aggregate *node, uint32_t index) {
  struct group *group = group_at(node, index);
  if (group->touched) return;
  group->touched = true;
  base_grow(&node->touched, &node->touched_capacity, node->touched_count + 1,
            sizeof *node->touched);
  node->touched[node->touched_count++] = index;
}

/* --- applying changes */

/* One of a set of equal tuples: the set is there for sure if any is, perhaps if none is for sure. */
static void apply_member(struct aggregate *node, const struct change *change) {
  struct member *member = net_rowmap_state(&node->members, change->member);
  struct group *group = group_at(node, change->group);
  bool sure = member->sure > 0, perhaps = !sure && member->perhaps > 0;
  bool comes = change->kind == COMES_PERHAPS || change->kind == COMES_SURELY;
  if (change->kind == COMES_PERHAPS) member->perhaps++;
  if (change->kind == COMES_SURELY) member->sure++;
  if (comes && change->from_perhaps) member->perhaps--;
  if (change->kind == GOES_PERHAPS) {
    member->sure--;
    member->perhaps++;
  }
  if (change->kind == GOES_SURELY) {
    if (change->from_perhaps) {
      member->perhaps--;
    } else {
      member->sure--;
    }
  }
  int sure_delta = (member->sure > 0) - sure;
  int perhaps_delta = (member->sure == 0 && member->perhaps > 0) - perhaps;
  group->present_sure += sure_delta;
  group->present_perhaps += perhaps_delta;
  if (change->counts) {
    group->sure += sure_delta;
    group->perhaps += perhaps_delta;
  }
  if (--member->references == 0 && member->sure == 0 && member->perhaps == 0)
    net_rowmap_remove(&node->members, change->member);
}

static void apply_cumulative(struct aggregate *node, const struct change *change) {
  struct group *group = group_at(node, change->group);
  bool comes = change->kind == COMES_PERHAPS || change->kind == COMES_SURELY;
  if (node->params.function == NET_AGG_AVGC) {
    integrate(node, group, change->time);
    int sign =
        change->never_sure             ? 0
        : change->kind == COMES_SURELY ? 1
        : change->kind == GOES_PERHAPS || (change->kind == GOES_SURELY && !change->from_perhaps)
            ? -1
            : 0;
    if (change->counts && sign != 0) {
      if (change->integer) {
        group->weight += sign * (wide)change->weight;
      } else {
        compensated_add(&group->weight_f, sign * change->weight_f);
      }
    }
  }
  if (change->kind == COMES_PERHAPS) {
    group->present_perhaps++;
    if (change->counts) group->perhaps++;
  } else if (change->kind == COMES_SURELY) {
    group->present_sure++;
    if (change->from_perhaps) group->present_perhaps--;
    if (change->counts) {
      group->sure++;
      if (change->from_perhaps) group->perhaps--;
    }
  }
  if (!change->counts) return;
  if (node->params.function == NET_AGG_AVGC) {
    /* From the first uncertain stretch on the average is uncertain. */
    if (change->kind == COMES_PERHAPS || change->kind == GOES_PERHAPS) group->tainted = true;
  } else if (comes) {
    group->tainted = group->perhaps > 0;
  }
}

static void apply_change(struct aggregate *node, const struct change *change) {
  if (change->kind == NOTHING) {
    for (uint32_t i = 0; i < node->groups.used; i++)
      if (net_rowmap_live(&node->groups, i)) touch(node, i);
    return;
  }
  if (change->member != NET_NO_ENTRY) {
    apply_member(node, change);
  } else {
    apply_cumulative(node, change);
  }
  group_at(node, change->group)->references--;
  touch(node, change->group);
}

/* An instantaneous group that has ended is forgotten. */
static void forget_group(struct aggregate *node, uint32_t index) {
  const struct group *group = group_at(node, index);
  if (node->params.by_count == 0 || counts_each(node)) return;
  if (!group->begun && group->references == 0 && group->present_sure == 0 &&
      group->present_perhaps == 0)
    net_rowmap_remove(&node->groups, index);
}

/* All changes before LIMIT, instant by instant. Nothing begins or ends at forever. */
static void advance(struct aggregate *node, net_chronon limit, enum base_status *status) {
  while (node->heap_count > 0 && *status == BASE_OK && node->heap[0].time < limit) {
    net_chronon now = node->heap[0].time;
    while (node->heap_count > 0 && node->heap[0].time == now) {
      struct change change = heap_pop(node);
      apply_change(node, &change);
    }
    for (size_t i = 0; i < node->touched_count; i++) {
      if (node->params.function == NET_AGG_AVGC)
        integrate(node, group_at(node, node->touched[i]), now);
      look(node, node->touched[i], now, status);
      forget_group(node, node->touched[i]);
    }
    node->touched_count = 0;
  }
}

static void open_segments(struct aggregate *node, net_chronon checkpoint,
                          enum base_status *status) {
  for (uint32_t i = 0; i < node->groups.used; i++) {
    if (!net_rowmap_live(&node->groups, i)) continue;
    struct group *group = group_at(node, i);
    if (!group->begun || group->id != 0 || group->since >= checkpoint) continue;
    group->id = ++node->last_id;
    put_segment(node, i, 0, NET_OPEN, checkpoint, status);
  }
}

/* The rows of one start, as a set: a row that is there both for sure and perhaps is there for sure. */
static void arrive_together(struct aggregate *node) {
  for (uint32_t i = 0; i < node->same_start.used; i++)
    arrive(node, net_rowmap_row(&node->same_start, i),
           *(uint8_t *)net_rowmap_state(&node->same_start, i));
  net_rowmap_done(&node->same_start);
}

static void collect_row(struct aggregate *node, const union net_slot *row, uint8_t marks) {
  bool open = node->params.in->tuple_class == NET_PERIOD && row[2].i == NET_OPEN;
  if (!counts_each(node) || open || (marks & NET_CLOSES)) {
    arrive(node, row, marks);
    return;
  }
  uint32_t place = net_rowmap_put(&node->same_start, row, NULL);
  *(uint8_t *)net_rowmap_state(&node->same_start, place) |= marks;
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct aggregate *node = (struct aggregate *)base;
  net_chronon last = net_inbox_checkpoint(&node->inbox);
  if (node->counts_open) {
    net_alike_add(&node->alike, batch, &node->inbox);
  } else {
    net_inbox_add(&node->inbox, port, batch);
  }
  net_chronon checkpoint = net_inbox_checkpoint(&node->inbox);
  if (checkpoint == last && checkpoint != NET_FOREVER) return BASE_OK;
  struct net_inbox_item item;
  const union net_slot *row;
  enum base_status status = BASE_OK;
  while (status == BASE_OK && (row = net_inbox_next(&node->inbox, &item, NULL)) != NULL) {
    /* Closes may name stops beyond what is processed; starts come in order. */
    if (!(item.marks & NET_CLOSES)) {
      if (node->same_start.live > 0 && net_rowmap_row(&node->same_start, 0)[0].i != item.time)
        arrive_together(node);
      advance(node, item.time, &status);
    }
    collect_row(node, row, item.marks);
  }
  arrive_together(node);
  net_inbox_tidy(&node->inbox);
  if (status == BASE_OK) advance(node, checkpoint, &status);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, base->checkpoint, NULL);
  open_segments(node, checkpoint, &status);
  if (status != BASE_OK) return status;
  return net_out_flush(base, checkpoint, checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct aggregate *node = (const struct aggregate *)base;
  net_inbox_mark_strings(&node->inbox, strings);
  net_alike_mark_strings(&node->alike, strings);
  net_rowmap_mark_strings(&node->groups, strings);
  net_rowmap_mark_strings(&node->members, strings);
}

static size_t state_rows(const struct net_node *base) {
  const struct aggregate *node = (const struct aggregate *)base;
  return node->groups.live + node->members.live + node->heap_count + net_inbox_rows(&node->inbox) +
         node->alike.held.live;
}

static void done(struct net_node *base) {
  struct aggregate *node = (struct aggregate *)base;
  net_inbox_done(&node->inbox);
  net_alike_done(&node->alike);
  net_rowmap_done(&node->groups);
  net_rowmap_done(&node->members);
  net_rowmap_done(&node->same_start);
  free(node->heap);
  free(node->touched);
}

static const struct net_node_class class = {.kind = NET_NODE_AGGREGATE,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .done = done};

/* Members are told apart by the relation's own domains and by whether they count. */
static uint32_t *member_slots(struct aggregate *node, struct base_arena *arena, size_t *ret_count) {
  const struct net_layout *in = node->params.in;
  uint32_t *slots = BASE_NEW_ARRAY(arena, in->slot_count + 1, uint32_t);
  size_t count = 0;
  for (uint32_t i = 0; i < node->params.domain_fields; i++)
    for (uint32_t j = 0; j < net_type_slots(in->fields[i].type.base); j++)
      slots[count++] = in->fields[i].slot + j;
  if (node->params.where_field >= (int)node->params.domain_fields)
    slots[count++] = in->fields[node->params.where_field].slot;
  *ret_count = count;
  return slots;
}

struct net_node *net_create_aggregate(struct net_network *network, const char *name,
                                      const struct net_aggregate_params *params) {
  struct base_arena *arena = net_network_arena(network);
  struct aggregate *node = net_node_new(network, sizeof *node, &class, name, params->out);
  node->node.input_layouts[0] = params->in;
  node->params = *params;
  node->by_slots = BASE_NEW_ARRAY(arena, params->by_count + 1, uint32_t);
  for (size_t i = 0; i < params->by_count; i++)
    node->by_slots[i] = params->in->fields[params->by_fields[i]].slot;
  size_t member_count;
  uint32_t *slots = member_slots(node, arena, &member_count);
  net_inbox_init(&node->inbox, params->in, NULL, NET_CLOSES_AFTER_STARTS);
  net_alike_init(&node->alike, params->in);
  node->counts_open = counts_each(node) && params->in->tuple_class == NET_PERIOD;
  net_rowmap_init(&node->groups, params->in, NET_KEY_SLOTS, 0, node->by_slots, params->by_count,
                  sizeof(struct group));
  net_rowmap_init(&node->members, params->in, NET_KEY_SLOTS, 0, slots, member_count,
                  sizeof(struct member));
  node->row_slots = BASE_NEW_ARRAY(arena, params->in->slot_count, uint32_t);
  for (uint32_t i = 0; i < params->in->slot_count; i++) node->row_slots[i] = i;
  net_rowmap_init(&node->same_start, params->in, NET_KEY_SLOTS, 0, node->row_slots,
                  params->in->slot_count, sizeof(uint8_t));
  node->origin_known = params->origin_given;
  node->origin = params->origin;
  node->averaging_known = params->averaging_origin_given;
  node->averaging_origin = params->averaging_origin;
  node->value_slot = params->out->fields[params->out->field_count - 1].slot;
  if (params->argument_field >= 0) {
    node->argument_slot = params->in->fields[params->argument_field].slot;
    node->argument_integer = params->in->fields[params->argument_field].type.base != NET_FLOAT;
  }
  node->nothing = base_arena_array(arena, params->in->slot_count, sizeof *node->nothing);
  if (params->by_count == 0) {
    uint32_t only = net_rowmap_put(&node->groups, node->nothing, NULL);
    BASE_CHECK(only == 0, "aggregate-only-group");
    group_at(node, only)->integrated_to = NET_BEGINNING;
  }
  if (params->origin_given)
    heap_push(node, (struct change){.time = params->origin, .kind = NOTHING});
  if (params->averaging_origin_given)
    heap_push(node, (struct change){.time = params->averaging_origin, .kind = NOTHING});
  return &node->node;
}
