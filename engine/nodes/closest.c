/* Closest: the third product of thesis 7.2.3, for the operator `;` under `set sequence closest`.
 *
 *      left  ──▶ ┌──────────────────────────┐
 *                │ keys, s of left, t of    │ ──▶ out      order: any
 *      right ──▶ │ right                    │
 *                └──────────────────────────┘
 *
 * Rows x and y with equal keys make a pair when before(s, t) and nothing lies between: no y' with
 * before(s, t') and before(t', t), no x' with before(s, s') and before(s', t). All is three-valued; a
 * row counts as far as it is definite. Ties are all nearest (netgen/README.md).
 *
 * A pair is decided when the checkpoint has passed t: all that could lie between is known then, for an
 * instant that is still open lies at the checkpoint or after. A pair that is decided goes out when
 * nothing in it is open (at `forever`: as it is); until then it waits and holds the checkpoint back.
 *
 * A tuple may come twice, from two portions of a feed; nothing is dropped below (unused-domains), so
 * equal rows are one tuple.
 *
 * Where rows of one side alone COUNT as lying between, it is the first right row behind each left row (counts: right), or the
 * last left row before each right row (left).
 *
 * DISTINCT, the fourth product of thesis 7.2.3 (`set sequence distinct`): only another time of the same
 * tuple lies between, y' with the explicit domains of y or x' with those of x; see closest_distinct.c.
 *
 * Rows of a group lie in the order of the earliest instant that they can have. So the latest that is before
 * a right row for sure is found by bisection, left rows before it need not be looked at, and what may lie
 * between two rows is a short stretch. Only groups in which something may happen are looked at, and only
 * when the horizon has moved.
 *
 * State, by keys: right rows that are not decided or that lie behind a left row that can still be
 * paired; left rows that can still be paired, and those between them and what may come. A left row that
 * a definite row has been found behind for sure, of either side, is done.                           */
#include "engine/nodes/closest.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"

/* --- entries */

/* The group of a row that has come or closed. */
static struct net_closest_group *group_of(struct net_closest *node, unsigned side,
                                          const union net_slot *row) {
  for (size_t i = 0; i < node->params.key_count; i++) {
    const struct net_join_key *key = &node->params.keys[i];
    node->key[node->key_layout->fields[i].slot] = row[side == 0 ? key->left_slot : key->right_slot];
  }
  uint32_t place = net_rowmap_put(&node->groups, node->key, NULL);
  struct net_closest_group *group = net_rowmap_state(&node->groups, place);
  if (group->changed) return group;
  group->changed = true;
  base_grow(&node->changed, &node->changed_capacity, node->changed_count + 1,
            sizeof *node->changed);
  node->changed[node->changed_count++] = place;
  return group;
}

static void append_entry(struct net_closest *node, struct net_entries *entries,
                         struct net_entry *entry) {
  if (entries->capacity == 0 && node->spare_count > 0) *entries = node->spare[--node->spare_count];
  node->array_entries -= entries->capacity;
  base_grow_little(&entries->items, &entries->capacity, entries->count + 1,
                   sizeof(struct net_entry *));
  node->array_entries += entries->capacity;
  entries->items[entries->count++] = entry;
}

/* ENTRIES are empty, and their array is for others. */
static void spare_entries(struct net_closest *node, struct net_entries *entries) {
  if (entries->capacity == 0) return;
  base_grow(&node->spare, &node->spare_capacity, node->spare_count + 1, sizeof *node->spare);
  node->spare[node->spare_count++] = (struct net_entries){entries->items, 0, entries->capacity};
}

void net_closest_release(struct net_closest *node, struct net_entry *entry) {
  if (!entry->gone || entry->pairs > 0 || entry->open) return;
  net_cells_give(&node->cells[entry->left ? 0 : 1], entry);
  node->rows--;
}

static void arrive(struct net_closest *node, unsigned side, const union net_slot *row,
                   uint8_t marks, uint64_t id) {
  const struct net_layout *layout = node->layouts[side];
  struct net_entry *entry = net_cells_take(&node->cells[side]);
  entry->left = side == 0;
  memcpy(entry->row, row, layout->slot_count * sizeof *row);
  entry->definite = (marks & NET_DEFINITE) != 0;
  entry->open = layout->may_be_open && net_row_is_open(layout, row);
  node->rows++;
  struct net_closest_group *group = group_of(node, side, row);
  if (side == 1 && row[0].i < node->undecided) node->undecided = row[0].i;
  append_entry(node, &group->sides[side], entry);
  if (node->params.distinct) net_kinds_add(&node->kinds[side], entry);
  if (!entry->open) return;
  uint32_t place = net_rowmap_put_id(&node->open[side], id, NULL);
  *(struct net_entry **)net_rowmap_state(&node->open[side], place) = entry;
}

static void close_row(struct net_closest *node, unsigned side, const union net_slot *row,
                      uint64_t id) {
  const struct net_layout *layout = node->layouts[side];
  uint32_t place = net_rowmap_find_id(&node->open[side], id);
  BASE_CHECK(place != NET_NO_ENTRY, "closest-close-unknown");
  struct net_entry *entry = *(struct net_entry **)net_rowmap_state(&node->open[side], place);
  memcpy(entry->row, row, layout->slot_count * sizeof *row);
  if (node->params.distinct) group_of(node, side, row); /* there was something open: it is listed */
  if (net_row_is_open(layout, row)) return;
  entry->open = false;
  net_rowmap_remove(&node->open[side], place);
  net_closest_release(node, entry);
}

/* --- pairs */

/* Of what is open nobody knows yet. */
bool net_closest_same(const struct net_closest *node, unsigned side, const struct net_entry *a,
                      const struct net_entry *b) {
  return a == b || (!a->open && !b->open &&
                    memcmp(a->row, b->row, node->layouts[side]->slot_count * sizeof *a->row) == 0);
}

/* So many of ENTRIES, which are sorted, have their instant before LIMIT, perhaps. */
static size_t count_before(const struct net_closest *node, unsigned side,
                           const struct net_entries *entries, net_chronon limit) {
  size_t low = 0, high = entries->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (net_closest_order(node, side, entries->items[middle]) < limit)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Of a side that does not count nobody lies between. */
static size_t count_counting(const struct net_closest *node, unsigned side,
                             const struct net_entries *entries, net_chronon limit) {
  return node->params.counts[side] ? count_before(node, side, entries, limit) : 0;
}

/* Does anything else lie between LEFT and RIGHT? (An uncertain instant may be before itself.) */
static enum net_truth between(const struct net_closest *node, const struct net_closest_group *group,
                              const struct net_entry *left, const struct net_entry *right) {
  struct net_instant a = net_closest_instant(node, 0, left),
                     b = net_closest_instant(node, 1, right);
  enum net_truth found = NET_FALSE;
  for (unsigned side = 0; side < 2; side++)
    for (size_t i = count_counting(node, side, &group->sides[side], b.hi);
         i-- > 0 && found != NET_TRUE;) {
      const struct net_entry *entry = group->sides[side].items[i];
      if (entry->reach <= a.lo) break;
      if (!net_closest_known(node, side, entry)) continue;
      struct net_instant at = net_closest_instant(node, side, entry);
      enum net_truth here = net_and(net_before(a, at), net_before(at, b));
      if (here == NET_FALSE || net_closest_same(node, side, entry, side == 0 ? left : right))
        continue;
      found = net_or(found, net_and(here, net_entry_definite(entry)));
    }
  return found;
}

enum net_truth net_closest_lost_between(const struct net_closest *node,
                                        const struct net_entry *left, const struct net_entry *right,
                                        struct net_instant s, struct net_instant t) {
  net_chronon at;
  for (size_t i = 0; i < node->params.lost_count; i++) {
    const struct net_closest_lost *lost = &node->params.lost[i];
    const struct net_entry *entry = lost->side == 0 ? left : right;
    base_string_id process = lost->slot < 0 ? 0 : entry->row[lost->slot].s;
    if (net_losses_between(lost->losses, process, s.lo, t.hi, &at)) return NET_UNKNOWN;
  }
  return NET_FALSE;
}

static struct net_instant time_of(const struct net_closest_pair *pair) {
  return net_later(net_row_start(pair->entry[0]->row), net_row_start(pair->entry[1]->row));
}

static void put(struct net_closest *node, const struct net_closest_pair *pair, bool open) {
  const struct net_layout *out = node->node.layout;
  uint64_t id = open ? ++node->last_id : 0;
  union net_slot *row = net_out_row(&node->node, pair->marks, id, node->checkpoint, &node->status);
  struct net_instant time = time_of(pair);
  row[0].i = time.lo;
  row[1].i = time.hi;
  for (uint32_t i = 0; i < out->field_count; i++) {
    const struct net_product_field *field = &node->params.fields[i];
    memcpy(row + out->fields[i].slot, pair->entry[field->side]->row + field->slot,
           net_type_slots(out->fields[i].type.base) * sizeof *row);
  }
}

void net_closest_pair(struct net_closest *node, struct net_entry *left, struct net_entry *right,
                      enum net_truth truth) {
  struct net_closest_pair pair = {{left, right}, truth == NET_TRUE ? NET_DEFINITE : 0};
  if (!left->open && !right->open) {
    put(node, &pair, false);
    return;
  }
  BASE_CHECK(left->pairs < NET_ENTRY_PAIRS && right->pairs < NET_ENTRY_PAIRS, "closest-pairs");
  base_grow_little(&node->pairs, &node->pair_capacity, node->pair_count + 1, sizeof *node->pairs);
  node->pairs[node->pair_count++] = pair;
  left->pairs++;
  right->pairs++;
}

/* The latest instant at which a definite row of GROUP is for sure, before T for sure. */
static net_chronon latest_before(const struct net_closest *node,
                                 const struct net_closest_group *group, net_chronon t) {
  net_chronon latest = NET_BEGINNING;
  for (unsigned side = 0; side < 2; side++)
    for (size_t i = count_counting(node, side, &group->sides[side], t); i-- > 0;) {
      const struct net_entry *entry = group->sides[side].items[i];
      struct net_instant at = net_closest_instant(node, side, entry);
      if (at.lo <= latest) break;
      if (!net_closest_known(node, side, entry) || net_entry_definite(entry) != NET_TRUE) continue;
      if (at.hi < t) latest = at.lo;
    }
  return latest;
}

/* A left row before the latest that is before RIGHT has that one between. */
static void decide(struct net_closest *node, const struct net_closest_group *group,
                   struct net_entry *right) {
  struct net_instant t = net_closest_instant(node, 1, right);
  net_chronon latest = latest_before(node, group, t.lo);
  right->decided = true;
  for (size_t i = count_before(node, 0, &group->sides[0], t.hi); i-- > 0;) {
    struct net_entry *left = group->sides[0].items[i];
    if (left->reach < latest) break;
    if (!net_closest_known(node, 0, left)) continue;
    struct net_instant s = net_closest_instant(node, 0, left);
    enum net_truth truth = s.hi < latest ? NET_FALSE : net_before(s, t);
    if (truth == NET_FALSE) continue;
    truth = net_and(truth, net_and(net_entry_definite(left), net_entry_definite(right)));
    truth = net_and(truth, net_not(between(node, group, left, right)));
    truth = net_and(truth, net_not(net_closest_lost_between(node, left, right, s, t)));
    if (truth == NET_FALSE) continue;
    net_closest_pair(node, left, right, truth);
  }
}

/* Sends the pairs that are ready; returns the earliest time of those that wait. */
static net_chronon send_pairs(struct net_closest *node) {
  net_chronon earliest = NET_FOREVER;
  size_t kept = 0;
  for (size_t i = 0; i < node->pair_count; i++) {
    struct net_closest_pair pair = node->pairs[i];
    bool open = pair.entry[0]->open || pair.entry[1]->open;
    if (open && node->checkpoint != NET_FOREVER) {
      net_chronon time = time_of(&pair).lo;
      if (time < earliest) earliest = time;
      node->pairs[kept++] = pair;
      continue;
    }
    put(node, &pair, open);
    for (unsigned side = 0; side < 2; side++) {
      pair.entry[side]->pairs--;
      net_closest_release(node, pair.entry[side]);
    }
  }
  node->pair_count = kept;
  return earliest;
}

/* --- what is done */

/* Nothing that is not decided yet has its t before this. */
static net_chronon undecided_from(const struct net_closest *node,
                                  const struct net_closest_group *group) {
  for (size_t i = 0; i < group->sides[1].count; i++) {
    const struct net_entry *right = group->sides[1].items[i];
    net_chronon order = net_closest_order(node, 1, right);
    if (order >= node->horizon) break;
    if (!right->decided) return order;
  }
  return node->horizon;
}

/* May there be more to decide or to forget of ENTRY when the horizon has moved? */
static bool is_settled(const struct net_closest *node, unsigned side,
                       const struct net_entry *entry) {
  return net_closest_known(node, side, entry) && (side == 0 || entry->decided) &&
         net_closest_instant(node, side, entry).hi < node->horizon;
}

/* A left row is done when a definite row lies behind it for sure, before all that is not decided; what
 * may lie between a left row that is not done and what comes is kept. Returns whether there may be more
 * to forget later, without another row. */
static bool forget(struct net_closest *node, struct net_closest_group *group) {
  net_chronon done = latest_before(node, group, undecided_from(node, group));
  net_chronon live = NET_FOREVER; /* no left row that is not done lies before this */
  bool more = false;
  for (size_t i = 0; i < group->sides[0].count && live == NET_FOREVER; i++) {
    const struct net_entry *left = group->sides[0].items[i];
    if (!net_closest_known(node, 0, left) || net_closest_instant(node, 0, left).hi >= done)
      live = net_closest_order(node, 0, left);
  }
  for (unsigned side = 0; side < 2; side++) {
    struct net_entries *entries = &group->sides[side];
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++) {
      struct net_entry *entry = entries->items[i];
      net_chronon last = net_closest_instant(node, side, entry).hi;
      bool stays = !net_closest_known(node, side, entry) || last > live ||
                   (side == 0 ? last >= done : !entry->decided);
      if (stays) {
        entries->items[kept++] = entry;
        more = more || !is_settled(node, side, entry);
      } else {
        entry->gone = true;
        net_closest_release(node, entry);
      }
    }
    entries->count = kept;
  }
  return more;
}

void net_closest_group_done(struct net_closest *node, struct net_closest_group *group) {
  for (unsigned side = 0; side < 2; side++) {
    for (size_t i = 0; i < group->sides[side].count; i++) {
      struct net_entry *entry = group->sides[side].items[i];
      entry->gone = true;
      entry->open = false;
      net_closest_release(node, entry);
    }
    spare_entries(node, &group->sides[side]);
  }
}

/* --- the checkpoint advances */

struct ordering {
  const struct net_closest *node;
  unsigned side;
};

static int compare_orders(const void *a, const void *b, void *context) {
  const struct ordering *by = context;
  net_chronon x = net_closest_order(by->node, by->side, *(struct net_entry *const *)a);
  net_chronon y = net_closest_order(by->node, by->side, *(struct net_entry *const *)b);
  return x < y ? -1 : x > y;
}

void net_closest_sort(const struct net_closest *node, unsigned side, struct net_entries *entries) {
  struct ordering by = {node, side};
  net_chronon before = NET_BEGINNING;
  bool sorted = true;
  for (size_t i = 0; i < entries->count; i++) {
    net_chronon order = net_closest_order(node, side, entries->items[i]);
    sorted &= order >= before;
    before = order;
  }
  if (sorted) return;
  qsort_r(entries->items, entries->count, sizeof(struct net_entry *), compare_orders, &by);
}

/* By the first instant that each can have. */
static void sort(const struct net_closest *node, unsigned side, struct net_entries *entries) {
  net_closest_sort(node, side, entries);
  net_chronon reach = NET_BEGINNING;
  for (size_t i = 0; i < entries->count; i++) {
    struct net_entry *entry = entries->items[i];
    net_chronon last = net_closest_instant(node, side, entry).hi;
    if (last > reach && net_closest_known(node, side, entry)) reach = last;
    entry->reach = reach;
  }
}

/* Decides what can be decided in GROUP; returns the earliest start of what cannot. */
static net_chronon advance_group(struct net_closest *node, struct net_closest_group *group) {
  net_chronon earliest = NET_FOREVER;
  for (unsigned side = 0; side < 2; side++) sort(node, side, &group->sides[side]);
  for (size_t i = 0; i < group->sides[1].count; i++) {
    struct net_entry *right = group->sides[1].items[i];
    if (right->decided) continue;
    bool passed =
        net_closest_known(node, 1, right) &&
        (net_closest_instant(node, 1, right).hi < node->horizon || node->horizon == NET_FOREVER);
    if (passed)
      decide(node, group, right);
    else if (right->row[0].i < earliest)
      earliest = right->row[0].i;
  }
  group->changed = forget(node, group);
  return earliest;
}

/* A combination may come with an instant that is older than its time: then its arc's floor tells. */
static net_chronon horizon_of(const struct net_closest *node, unsigned side, uint32_t slot) {
  if (node->checkpoints[side] == NET_FOREVER || slot < node->layouts[side]->first_domain_slot)
    return node->checkpoints[side];
  return node->input_floors[side] == NULL ? NET_BEGINNING : node->input_floors[side][slot].i;
}

/* What has come since the horizon moved last lies behind it. Where it has not moved there is nothing to
 * decide, and of groups where nothing is open, undecided or behind it nothing is to be forgotten. */
static net_chronon advance(struct net_closest *node) {
  net_chronon left = horizon_of(node, 0, node->params.before_slot);
  net_chronon right = horizon_of(node, 1, node->params.after_slot);
  net_chronon nearer = left < right ? left : right, before = node->horizon;
  node->horizon = nearer < node->checkpoint ? nearer : node->checkpoint;
  if (node->horizon == before && before != NET_FOREVER && !node->params.distinct)
    return node->undecided;
  node->undecided = NET_FOREVER;
  size_t kept = 0;
  for (size_t i = 0; i < node->changed_count; i++) {
    uint32_t place = node->changed[i];
    struct net_closest_group *group = net_rowmap_state(&node->groups, place);
    net_chronon its =
        node->params.distinct ? net_closest_advance_kinds(node, group) : advance_group(node, group);
    if (its < node->undecided) node->undecided = its;
    if (group->sides[0].count + group->sides[1].count == 0) {
      net_closest_group_done(node, group);
      net_rowmap_remove(&node->groups, place);
    } else if (group->changed) {
      node->changed[kept++] = place;
    }
  }
  node->changed_count = kept;
  return node->undecided;
}

static net_chronon lower(const struct net_field *field, const union net_slot *row, uint32_t slot,
                         net_chronon smallest) {
  if (field->openable && row[slot].i == NET_OPEN) return smallest;
  return row[slot].i < smallest ? row[slot].i : smallest;
}

static net_chronon lower_of_side(const struct net_closest *node, unsigned side,
                                 const struct net_field *field, uint32_t slot,
                                 net_chronon smallest) {
  if (slot >= node->layouts[side]->first_domain_slot && node->checkpoints[side] != NET_FOREVER) {
    if (node->input_floors[side] == NULL) return NET_BEGINNING;
    smallest = lower(field, node->input_floors[side], slot, smallest);
  }
  for (uint32_t i = 0; (i = net_rowmap_next(&node->groups, i)) < node->groups.used; i++) {
    const struct net_closest_group *group = net_rowmap_state(&node->groups, i);
    for (size_t k = 0; k < group->sides[side].count; k++) {
      const struct net_entry *entry = group->sides[side].items[k];
      if (!entry->decided) smallest = lower(field, entry->row, slot, smallest);
    }
  }
  for (size_t i = 0; i < node->pair_count; i++)
    smallest = lower(field, node->pairs[i].entry[side]->row, slot, smallest);
  return smallest;
}

/* Lower bounds of the instants of all later rows. */
static const union net_slot *floors(struct net_closest *node, net_chronon checkpoint) {
  const struct net_layout *out = node->node.layout;
  if (!node->node.wants_floor || checkpoint == NET_FOREVER) return NULL;
  memset(node->floor, 0, out->slot_count * sizeof *node->floor);
  node->floor[0].i = checkpoint;
  node->floor[1].i = NET_FOREVER;
  for (uint32_t f = 0; f < out->field_count; f++) {
    const struct net_field *field = &out->fields[f];
    if (field->type.base != NET_INSTANT) continue;
    const struct net_product_field *from = &node->params.fields[f];
    node->floor[field->slot].i = lower_of_side(node, from->side, field, from->slot, checkpoint);
    node->floor[field->slot + 1].i = NET_FOREVER;
  }
  return node->floor;
}

static void keep_floor(struct net_closest *node, unsigned port, const union net_slot *floor) {
  size_t size = node->layouts[port]->slot_count * sizeof *floor;
  if (node->input_floors[port] == NULL) node->input_floors[port] = base_xmalloc(size);
  memcpy(node->input_floors[port], floor, size);
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct net_closest *node = (struct net_closest *)base;
  for (uint32_t i = 0; i < batch->count; i++) {
    uint8_t marks = net_batch_marks(batch, i);
    if (marks & NET_CLOSES)
      close_row(node, port, net_batch_row(batch, i), net_batch_id(batch, i));
    else
      arrive(node, port, net_batch_row(batch, i), marks, net_batch_id(batch, i));
  }
  if (batch->floor != NULL) keep_floor(node, port, batch->floor);
  if (batch->checkpoint > node->checkpoints[port]) node->checkpoints[port] = batch->checkpoint;
  net_chronon checkpoint = node->checkpoints[0];
  if (node->checkpoints[1] < checkpoint) checkpoint = node->checkpoints[1];
  node->checkpoint = checkpoint;
  node->status = BASE_OK;
  net_chronon undecided = advance(node);
  net_chronon promised = send_pairs(node);
  if (node->params.distinct) net_closest_forget_far(node);
  if (node->status != BASE_OK) return node->status;
  if (undecided < promised) promised = undecided;
  if (checkpoint < promised) promised = checkpoint;
  return net_out_flush(base, promised, checkpoint, floors(node, promised));
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct net_closest *node = (const struct net_closest *)base;
  net_rowmap_mark_strings(&node->groups, strings);
  for (unsigned side = 0; side < 2; side++)
    net_kinds_mark_strings(&node->kinds[side], node->layouts[side], strings);
  for (uint32_t i = 0; (i = net_rowmap_next(&node->groups, i)) < node->groups.used; i++) {
    const struct net_closest_group *group = net_rowmap_state(&node->groups, i);
    for (unsigned side = 0; side < 2; side++)
      for (size_t k = 0; k < group->sides[side].count; k++)
        net_row_mark_strings(node->layouts[side], strings, group->sides[side].items[k]->row);
  }
  for (size_t i = 0; i < node->pair_count; i++)
    for (unsigned side = 0; side < 2; side++)
      net_row_mark_strings(node->layouts[side], strings, node->pairs[i].entry[side]->row);
}

static size_t state_rows(const struct net_node *base) {
  return ((const struct net_closest *)base)->rows;
}

static size_t state_bytes(const struct net_node *base) {
  const struct net_closest *node = (const struct net_closest *)base;
  return net_rowmap_bytes(&node->groups) + net_rowmap_bytes(&node->open[0]) +
         net_rowmap_bytes(&node->open[1]) + node->pair_capacity * sizeof *node->pairs +
         net_cells_bytes(&node->cells[0]) + net_cells_bytes(&node->cells[1]) +
         (node->kinds[0].chain_count + node->kinds[1].chain_count) * sizeof(struct net_entry *) +
         node->array_entries * sizeof(struct net_entry *) +
         node->changed_capacity * sizeof *node->changed +
         node->spare_capacity * sizeof *node->spare;
}

static void done(struct net_node *base) {
  struct net_closest *node = (struct net_closest *)base;
  for (uint32_t i = 0; (i = net_rowmap_next(&node->groups, i)) < node->groups.used; i++) {
    struct net_closest_group *group = net_rowmap_state(&node->groups, i);
    for (unsigned side = 0; side < 2; side++) free(group->sides[side].items);
  }
  for (size_t i = 0; i < node->spare_count; i++) free(node->spare[i].items);
  free(node->spare);
  free(node->changed);
  for (unsigned side = 0; side < 2; side++) {
    net_rowmap_done(&node->open[side]);
    net_cells_done(&node->cells[side]);
    net_kinds_done(&node->kinds[side]);
    free(node->input_floors[side]);
  }
  net_rowmap_done(&node->groups);
  free(node->pairs);
}

static const struct net_node_class class = {.kind = NET_NODE_CLOSEST,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

static void *copy(struct base_arena *arena, const void *items, size_t count, size_t size) {
  void *to = base_arena_array(arena, count, size);
  if (count > 0) memcpy(to, items, count * size);
  return to;
}

/* Events at no time whose fields are the keys; all of them are compared by their slot. */
static const struct net_layout *make_key_layout(struct base_arena *arena,
                                                const struct net_closest_params *params) {
  struct net_field *fields = BASE_NEW_ARRAY(arena, params->key_count, struct net_field);
  for (size_t i = 0; i < params->key_count; i++) {
    fields[i] = (struct net_field){.name = "key", .type = {NET_INTEGER, 8}};
    for (uint32_t f = 0; f < params->left->field_count; f++)
      if (params->left->fields[f].slot == params->keys[i].left_slot)
        fields[i].type = params->left->fields[f].type;
  }
  return net_layout_new(arena, NET_EVENT, fields, (uint32_t)params->key_count);
}

struct net_node *net_create_closest(struct net_network *network, const char *name,
                                    const struct net_closest_params *params) {
  BASE_CHECK(params->out->tuple_class == NET_EVENT, "closest-out-class");
  struct base_arena *arena = net_network_arena(network);
  struct net_closest *node = net_node_new(network, sizeof *node, &class, name, params->out);
  node->layouts[0] = node->node.input_layouts[0] = params->left;
  node->layouts[1] = node->node.input_layouts[1] = params->right;
  node->params = *params;
  node->params.fields =
      copy(arena, params->fields, params->out->field_count, sizeof *params->fields);
  node->params.keys = copy(arena, params->keys, params->key_count, sizeof *params->keys);
  node->key_layout = make_key_layout(arena, params);
  node->key = base_arena_array(arena, node->key_layout->slot_count, sizeof *node->key);
  node->floor = base_arena_array(arena, params->out->slot_count, sizeof *node->floor);
  net_rowmap_init(&node->groups, node->key_layout, NET_KEY_DOMAINS, node->key_layout->field_count,
                  NULL, 0, sizeof(struct net_closest_group));
  for (unsigned side = 0; side < 2; side++) {
    if (params->distinct)
      net_kinds_init(&node->kinds[side], arena, node->layouts[side], params->starts[side],
                     net_network_timeline(network));
    net_rowmap_init(&node->open[side], NULL, NET_KEY_ID, 0, NULL, 0, sizeof(struct net_entry *));
    net_cells_init(&node->cells[side], sizeof(struct net_entry) + node->layouts[side]->slot_count *
                                                                      sizeof(union net_slot));
  }
  node->checkpoints[0] = node->checkpoints[1] = node->checkpoint = NET_BEGINNING;
  node->horizon = NET_BEGINNING;
  node->undecided = NET_FOREVER;
  node->node.wants_floor = params->before_slot >= params->left->first_domain_slot ||
                           params->after_slot >= params->right->first_domain_slot;
  return &node->node;
}
