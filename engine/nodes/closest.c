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
 * State, by keys: right rows that are not decided or that lie behind a left row that can still be
 * paired; left rows that can still be paired, and those between them and what may come. A left row that
 * a definite row has been found behind for sure, of either side, is done.                           */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/cells.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct entry {
  uint32_t pairs; /* that wait */
  uint8_t marks;
  bool left;
  bool open;    /* has an open instant */
  bool decided; /* right: its pairs are known */
  bool gone;    /* out of its group; it lives as long as pairs wait for it */
  union net_slot row[];
};

struct entries {
  struct entry **items;
  size_t count, capacity;
};

struct group {
  struct entries sides[2];
};

struct pair {
  struct entry *entry[2];
  uint8_t marks;
};

struct closest {
  struct net_node node;
  struct net_closest_params params;
  const struct net_layout *layouts[2];
  const struct net_layout *key_layout;
  union net_slot *key; /* scratch row of it */
  struct net_rowmap groups;
  struct net_rowmap open[2]; /* rows with an open instant, by id; state: struct entry * */
  struct pair *pairs;
  size_t pair_count, pair_capacity, rows;
  struct net_cells cells[2]; /* entries of each side */
  struct entries *spare;     /* of groups that are gone: their arrays */
  size_t spare_count, spare_capacity;
  size_t array_entries; /* room in all arrays of groups, spare ones too */
  struct entries live;  /* scratch */
  net_chronon checkpoints[2], checkpoint;
  net_chronon horizon;             /* s and t of rows that have not come lie there or after */
  union net_slot *input_floors[2]; /* NULL: none yet */
  union net_slot *floor;
  uint64_t last_id;
};

/* --- entries */

/* s of a left, t of a right row. An open one lies at the checkpoint or after it. */
static struct net_instant instant_of(const struct closest *node, unsigned side,
                                     const struct entry *entry) {
  uint32_t slot = side == 0 ? node->params.before_slot : node->params.after_slot;
  return net_slot_stop(entry->row, slot, node->checkpoint);
}

static bool is_known(const struct closest *node, unsigned side, const struct entry *entry) {
  uint32_t slot = side == 0 ? node->params.before_slot : node->params.after_slot;
  return entry->row[slot].i != NET_OPEN || node->checkpoint == NET_FOREVER;
}

static enum net_truth definite(const struct entry *entry) {
  return entry->marks & NET_DEFINITE ? NET_TRUE : NET_UNKNOWN;
}

static struct group *group_of(struct closest *node, unsigned side, const union net_slot *row) {
  for (size_t i = 0; i < node->params.key_count; i++) {
    const struct net_join_key *key = &node->params.keys[i];
    node->key[node->key_layout->fields[i].slot] = row[side == 0 ? key->left_slot : key->right_slot];
  }
  uint32_t place = net_rowmap_put(&node->groups, node->key, NULL);
  return net_rowmap_state(&node->groups, place);
}

static void append(struct closest *node, struct entries *entries, struct entry *entry) {
  if (entries->capacity == 0 && node->spare_count > 0) *entries = node->spare[--node->spare_count];
  node->array_entries -= entries->capacity;
  base_grow(&entries->items, &entries->capacity, entries->count + 1, sizeof(struct entry *));
  node->array_entries += entries->capacity;
  entries->items[entries->count++] = entry;
}

/* ENTRIES are empty, and their array is for others. */
static void spare(struct closest *node, struct entries *entries) {
  if (entries->capacity == 0) return;
  base_grow(&node->spare, &node->spare_capacity, node->spare_count + 1, sizeof *node->spare);
  node->spare[node->spare_count++] = (struct entries){entries->items, 0, entries->capacity};
}

static void release(struct closest *node, struct entry *entry) {
  if (!entry->gone || entry->pairs > 0 || entry->open) return;
  net_cells_give(&node->cells[entry->left ? 0 : 1], entry);
  node->rows--;
}

static void arrive(struct closest *node, unsigned side, const union net_slot *row, uint8_t marks,
                   uint64_t id) {
  const struct net_layout *layout = node->layouts[side];
  struct entry *entry = net_cells_take(&node->cells[side]);
  entry->left = side == 0;
  memcpy(entry->row, row, layout->slot_count * sizeof *row);
  entry->marks = marks & NET_DEFINITE;
  entry->open = layout->may_be_open && net_row_is_open(layout, row);
  node->rows++;
  append(node, &group_of(node, side, row)->sides[side], entry);
  if (!entry->open) return;
  uint32_t place = net_rowmap_put_id(&node->open[side], id, NULL);
  *(struct entry **)net_rowmap_state(&node->open[side], place) = entry;
}

static void close_row(struct closest *node, unsigned side, const union net_slot *row, uint64_t id) {
  const struct net_layout *layout = node->layouts[side];
  uint32_t place = net_rowmap_find_id(&node->open[side], id);
  BASE_CHECK(place != NET_NO_ENTRY, "closest-close-unknown");
  struct entry *entry = *(struct entry **)net_rowmap_state(&node->open[side], place);
  memcpy(entry->row, row, layout->slot_count * sizeof *row);
  if (net_row_is_open(layout, row)) return;
  entry->open = false;
  net_rowmap_remove(&node->open[side], place);
  release(node, entry);
}

/* --- pairs */

/* Are A and B, of one side, one tuple that has come twice? Of what is open nobody knows yet. */
static bool is_same(const struct closest *node, unsigned side, const struct entry *a,
                    const struct entry *b) {
  return a == b || (!a->open && !b->open &&
                    memcmp(a->row, b->row, node->layouts[side]->slot_count * sizeof *a->row) == 0);
}

/* Does anything else lie between LEFT and RIGHT? (An uncertain instant may be before itself.) */
static enum net_truth between(const struct closest *node, const struct group *group,
                              const struct entry *left, const struct entry *right) {
  struct net_instant a = instant_of(node, 0, left), b = instant_of(node, 1, right);
  enum net_truth found = NET_FALSE;
  for (unsigned side = 0; side < 2; side++)
    for (size_t i = 0; i < group->sides[side].count && found != NET_TRUE; i++) {
      const struct entry *entry = group->sides[side].items[i];
      if (!is_known(node, side, entry)) continue;
      struct net_instant at = instant_of(node, side, entry);
      enum net_truth here = net_and(net_before(a, at), net_before(at, b));
      if (here == NET_FALSE || is_same(node, side, entry, side == 0 ? left : right)) continue;
      found = net_or(found, net_and(here, definite(entry)));
    }
  return found;
}

static void decide(struct closest *node, const struct group *group, struct entry *right) {
  struct net_instant t = instant_of(node, 1, right);
  right->decided = true;
  for (size_t i = 0; i < group->sides[0].count; i++) {
    struct entry *left = group->sides[0].items[i];
    if (!is_known(node, 0, left)) continue;
    struct net_instant s = instant_of(node, 0, left);
    enum net_truth truth = net_before(s, t);
    if (truth == NET_FALSE) continue;
    truth = net_and(truth, net_and(definite(left), definite(right)));
    truth = net_and(truth, net_not(between(node, group, left, right)));
    if (truth == NET_FALSE) continue;
    base_grow(&node->pairs, &node->pair_capacity, node->pair_count + 1, sizeof *node->pairs);
    node->pairs[node->pair_count++] =
        (struct pair){{left, right}, truth == NET_TRUE ? NET_DEFINITE : 0};
    left->pairs++;
    right->pairs++;
  }
}

static struct net_instant time_of(const struct pair *pair) {
  return net_later(net_row_start(pair->entry[0]->row), net_row_start(pair->entry[1]->row));
}

static void put(struct closest *node, const struct pair *pair, bool open,
                enum base_status *status) {
  const struct net_layout *out = node->node.layout;
  uint64_t id = open ? ++node->last_id : 0;
  union net_slot *row = net_out_row(&node->node, pair->marks, id, node->checkpoint, status);
  struct net_instant time = time_of(pair);
  row[0].i = time.lo;
  row[1].i = time.hi;
  for (uint32_t i = 0; i < out->field_count; i++) {
    const struct net_product_field *field = &node->params.fields[i];
    memcpy(row + out->fields[i].slot, pair->entry[field->side]->row + field->slot,
           net_type_slots(out->fields[i].type.base) * sizeof *row);
  }
}

/* Sends the pairs that are ready; returns the earliest time of those that wait. */
static net_chronon send_pairs(struct closest *node, enum base_status *status) {
  net_chronon earliest = NET_FOREVER;
  size_t kept = 0;
  for (size_t i = 0; i < node->pair_count; i++) {
    struct pair pair = node->pairs[i];
    bool open = pair.entry[0]->open || pair.entry[1]->open;
    if (open && node->checkpoint != NET_FOREVER) {
      net_chronon time = time_of(&pair).lo;
      if (time < earliest) earliest = time;
      node->pairs[kept++] = pair;
      continue;
    }
    put(node, &pair, open, status);
    for (unsigned side = 0; side < 2; side++) {
      pair.entry[side]->pairs--;
      release(node, pair.entry[side]);
    }
  }
  node->pair_count = kept;
  return earliest;
}

/* --- what is done */

/* Nothing that is not decided yet has its t before this. */
static net_chronon undecided_from(const struct closest *node, const struct group *group) {
  net_chronon from = node->horizon;
  for (size_t i = 0; i < group->sides[1].count; i++) {
    const struct entry *right = group->sides[1].items[i];
    struct net_instant t = instant_of(node, 1, right);
    if (!right->decided && t.lo < from) from = t.lo;
  }
  return from;
}

/* Lies a definite row behind S for sure, before all that is not decided? */
static bool is_covered(const struct closest *node, const struct group *group, struct net_instant s,
                       net_chronon from) {
  for (unsigned side = 0; side < 2; side++)
    for (size_t i = 0; i < group->sides[side].count; i++) {
      const struct entry *entry = group->sides[side].items[i];
      if (!is_known(node, side, entry) || definite(entry) != NET_TRUE) continue;
      struct net_instant at = instant_of(node, side, entry);
      if (net_before(s, at) == NET_TRUE && at.hi < from) return true;
    }
  return false;
}

/* May ENTRY lie between a left row of LIVE and what comes? */
static bool is_wanted(const struct closest *node, unsigned side, const struct entry *entry,
                      const struct entries *live) {
  struct net_instant at = instant_of(node, side, entry);
  for (size_t i = 0; i < live->count; i++) {
    if (live->items[i] == entry) return true;
    if (net_before(instant_of(node, 0, live->items[i]), at) != NET_FALSE) return true;
  }
  return false;
}

static void forget(struct closest *node, struct group *group) {
  net_chronon from = undecided_from(node, group);
  struct entries *live = &node->live;
  live->count = 0;
  for (size_t i = 0; i < group->sides[0].count; i++) {
    struct entry *left = group->sides[0].items[i];
    if (is_known(node, 0, left) && is_covered(node, group, instant_of(node, 0, left), from))
      continue;
    base_grow(&live->items, &live->capacity, live->count + 1, sizeof(struct entry *));
    live->items[live->count++] = left;
  }
  for (unsigned side = 0; side < 2; side++) {
    struct entries *entries = &group->sides[side];
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++) {
      struct entry *entry = entries->items[i];
      if ((side == 1 && !entry->decided) || is_wanted(node, side, entry, live)) {
        entries->items[kept++] = entry;
      } else {
        entry->gone = true;
        release(node, entry);
      }
    }
    entries->count = kept;
  }
}

static void group_done(struct closest *node, struct group *group) {
  for (unsigned side = 0; side < 2; side++) {
    for (size_t i = 0; i < group->sides[side].count; i++) {
      struct entry *entry = group->sides[side].items[i];
      entry->gone = true;
      entry->open = false;
      release(node, entry);
    }
    spare(node, &group->sides[side]);
  }
}

/* --- the checkpoint advances */

static int compare_entries(const void *a, const void *b) {
  const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
  return x->row[0].i < y->row[0].i ? -1 : x->row[0].i > y->row[0].i;
}

/* Decides what can be decided in GROUP; returns the earliest start of what cannot. */
static net_chronon advance_group(struct closest *node, struct group *group) {
  net_chronon earliest = NET_FOREVER;
  if (group->sides[1].count > 1)
    qsort(group->sides[1].items, group->sides[1].count, sizeof(struct entry *), compare_entries);
  for (size_t i = 0; i < group->sides[1].count; i++) {
    struct entry *right = group->sides[1].items[i];
    if (right->decided) continue;
    bool passed = is_known(node, 1, right) &&
                  (instant_of(node, 1, right).hi < node->horizon || node->horizon == NET_FOREVER);
    if (passed)
      decide(node, group, right);
    else if (right->row[0].i < earliest)
      earliest = right->row[0].i;
  }
  return earliest;
}

/* A combination may come with an instant that is older than its time: then its arc's floor tells. */
static net_chronon horizon_of(const struct closest *node, unsigned side, uint32_t slot) {
  if (node->checkpoints[side] == NET_FOREVER || slot < node->layouts[side]->first_domain_slot)
    return node->checkpoints[side];
  return node->input_floors[side] == NULL ? NET_BEGINNING : node->input_floors[side][slot].i;
}

static net_chronon advance(struct closest *node) {
  net_chronon left = horizon_of(node, 0, node->params.before_slot);
  net_chronon right = horizon_of(node, 1, node->params.after_slot);
  net_chronon nearer = left < right ? left : right;
  node->horizon = nearer < node->checkpoint ? nearer : node->checkpoint;
  net_chronon earliest = NET_FOREVER;
  for (uint32_t i = 0; i < node->groups.used; i++) {
    if (!net_rowmap_live(&node->groups, i)) continue;
    struct group *group = net_rowmap_state(&node->groups, i);
    net_chronon its = advance_group(node, group);
    if (its < earliest) earliest = its;
    forget(node, group);
    if (group->sides[0].count + group->sides[1].count > 0) continue;
    group_done(node, group);
    net_rowmap_remove(&node->groups, i);
  }
  return earliest;
}

static net_chronon lower(const struct net_field *field, const union net_slot *row, uint32_t slot,
                         net_chronon smallest) {
  if (field->openable && row[slot].i == NET_OPEN) return smallest;
  return row[slot].i < smallest ? row[slot].i : smallest;
}

static net_chronon lower_of_side(const struct closest *node, unsigned side,
                                 const struct net_field *field, uint32_t slot,
                                 net_chronon smallest) {
  if (slot >= node->layouts[side]->first_domain_slot && node->checkpoints[side] != NET_FOREVER) {
    if (node->input_floors[side] == NULL) return NET_BEGINNING;
    smallest = lower(field, node->input_floors[side], slot, smallest);
  }
  for (uint32_t i = 0; i < node->groups.used; i++) {
    if (!net_rowmap_live(&node->groups, i)) continue;
    const struct group *group = net_rowmap_state(&node->groups, i);
    for (size_t k = 0; k < group->sides[side].count; k++) {
      const struct entry *entry = group->sides[side].items[k];
      if (!entry->decided) smallest = lower(field, entry->row, slot, smallest);
    }
  }
  for (size_t i = 0; i < node->pair_count; i++)
    smallest = lower(field, node->pairs[i].entry[side]->row, slot, smallest);
  return smallest;
}

/* Lower bounds of the instants of all later rows. */
static const union net_slot *floors(struct closest *node, net_chronon checkpoint) {
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

static void keep_floor(struct closest *node, unsigned port, const union net_slot *floor) {
  size_t size = node->layouts[port]->slot_count * sizeof *floor;
  if (node->input_floors[port] == NULL) node->input_floors[port] = base_xmalloc(size);
  memcpy(node->input_floors[port], floor, size);
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct closest *node = (struct closest *)base;
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
  net_chronon undecided = advance(node);
  enum base_status status = BASE_OK;
  net_chronon promised = send_pairs(node, &status);
  if (status != BASE_OK) return status;
  if (undecided < promised) promised = undecided;
  if (checkpoint < promised) promised = checkpoint;
  return net_out_flush(base, promised, checkpoint, floors(node, promised));
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct closest *node = (const struct closest *)base;
  net_rowmap_mark_strings(&node->groups, strings);
  for (uint32_t i = 0; i < node->groups.used; i++) {
    if (!net_rowmap_live(&node->groups, i)) continue;
    const struct group *group = net_rowmap_state(&node->groups, i);
    for (unsigned side = 0; side < 2; side++)
      for (size_t k = 0; k < group->sides[side].count; k++)
        net_row_mark_strings(node->layouts[side], strings, group->sides[side].items[k]->row);
  }
  for (size_t i = 0; i < node->pair_count; i++)
    for (unsigned side = 0; side < 2; side++)
      net_row_mark_strings(node->layouts[side], strings, node->pairs[i].entry[side]->row);
}

static size_t state_rows(const struct net_node *base) {
  return ((const struct closest *)base)->rows;
}

static size_t state_bytes(const struct net_node *base) {
  const struct closest *node = (const struct closest *)base;
  return net_rowmap_bytes(&node->groups) + net_rowmap_bytes(&node->open[0]) +
         net_rowmap_bytes(&node->open[1]) + node->pair_capacity * sizeof *node->pairs +
         net_cells_bytes(&node->cells[0]) + net_cells_bytes(&node->cells[1]) +
         node->array_entries * sizeof(struct entry *) + node->spare_capacity * sizeof *node->spare;
}

static void done(struct net_node *base) {
  struct closest *node = (struct closest *)base;
  for (uint32_t i = 0; i < node->groups.used; i++) {
    if (!net_rowmap_live(&node->groups, i)) continue;
    struct group *group = net_rowmap_state(&node->groups, i);
    for (unsigned side = 0; side < 2; side++) free(group->sides[side].items);
  }
  for (size_t i = 0; i < node->spare_count; i++) free(node->spare[i].items);
  free(node->spare);
  free(node->live.items);
  for (unsigned side = 0; side < 2; side++) {
    net_rowmap_done(&node->open[side]);
    net_cells_done(&node->cells[side]);
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
  struct closest *node = net_node_new(network, sizeof *node, &class, name, params->out);
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
                  NULL, 0, sizeof(struct group));
  for (unsigned side = 0; side < 2; side++) {
    net_rowmap_init(&node->open[side], NULL, NET_KEY_ID, 0, NULL, 0, sizeof(struct entry *));
    net_cells_init(&node->cells[side],
                   sizeof(struct entry) + node->layouts[side]->slot_count * sizeof(union net_slot));
  }
  node->checkpoints[0] = node->checkpoints[1] = node->checkpoint = NET_BEGINNING;
  node->horizon = NET_BEGINNING;
  node->node.wants_floor = params->before_slot >= params->left->first_domain_slot ||
                           params->after_slot >= params->right->first_domain_slot;
  return &node->node;
}
