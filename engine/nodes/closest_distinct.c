/* Closest among the times of one tuple: the fourth product of thesis 7.2.3, for `set sequence distinct`.
 *
 * Rows of one side are of one kind when their explicit domains are equal, temporal ones as functions of
 * absolute time; what differs are their instants. Between x and y lies only what is of x's or of y's kind, so each x is paired with the
 * nearest row of each kind after it, and each y with the nearest of each kind before it.
 *
 * Of each kind the last definite row is kept, and what may lie behind it: a row x is done when a
 * definite row of its kind, x', is behind it for sure and before all that is still to be decided. Then
 * x' is between x and any such partner; and where x could lie between, x' does as much. Where a group
 * has no left row yet, right rows that are decided are not kept at all: what comes lies behind them.
 *
 * Lefts stand by the last instant they can have, so that the search for the partners of y ends where a
 * row of y's kind lies between for sure: it goes through little more than the pairs it finds.
 *
 * Where only pairs are asked for that are WITHIN a span, the search ends where lefts are too far, and what is too
 * far from all that is to be decided is forgotten, the last of its kind or not: what lies between two rows is no
 * further from the later one than the earlier one is. It has to be before all lefts that are near enough, for
 * sure, or it could still lie between one of these and what comes.                                    */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/closest.h"

enum { FIRST_LOOK = 16 };

/* --- kinds */

void net_kinds_init(struct net_kinds *kinds, struct base_arena *arena,
                    const struct net_layout *layout, const uint32_t *starts,
                    enum net_timeline timeline) {
  uint32_t *slots = BASE_NEW_ARRAY(arena, layout->slot_count, uint32_t);
  uint32_t *own_starts = BASE_NEW_ARRAY(arena, layout->field_count, uint32_t);
  if (starts != NULL) memcpy(own_starts, starts, layout->field_count * sizeof *starts);
  kinds->layout = layout;
  kinds->slots = slots;
  kinds->starts = own_starts;
  kinds->timeline = timeline;
  for (unsigned i = 0; i < 2; i++)
    kinds->scratch[i] = base_arena_array(arena, layout->slot_count, sizeof **kinds->scratch);
  for (uint32_t f = 0; f < layout->field_count; f++) {
    if (layout->fields[f].type.base == NET_INSTANT || layout->fields[f].number) continue;
    kinds->temporal |= layout->fields[f].type.base == NET_TEMPORAL;
    for (uint32_t i = 0; i < net_type_slots(layout->fields[f].type.base); i++)
      slots[kinds->slot_count++] = layout->fields[f].slot + i;
  }
}

void net_kinds_done(struct net_kinds *kinds) {
  free(kinds->chains);
}

void net_kinds_mark_strings(const struct net_kinds *kinds, const struct net_layout *layout,
                            struct base_strings *strings) {
  for (size_t i = 0; i < kinds->chain_count; i++)
    for (const struct net_entry *entry = kinds->chains[i]; entry != NULL; entry = entry->next)
      net_row_mark_strings(layout, strings, entry->row);
}

static struct net_entry **chain_of(const struct net_kinds *kinds, uint32_t hash) {
  return &kinds->chains[(uint64_t)hash * kinds->chain_count >> 32];
}

static void make_room(struct net_kinds *kinds) {
  if (kinds->count < kinds->chain_count) return;
  struct net_entry **before = kinds->chains;
  size_t count = kinds->chain_count;
  kinds->chain_count = count + count / 4 + 16;
  kinds->chains = base_xcalloc(kinds->chain_count, sizeof(struct net_entry *));
  for (size_t i = 0; i < count; i++)
    for (struct net_entry *entry = before[i], *next; entry != NULL; entry = next) {
      struct net_entry **chain = chain_of(kinds, entry->hash);
      next = entry->next;
      entry->next = *chain;
      *chain = entry;
    }
  free(before);
}

/* ENTRY's row with its domains as what they are compared; at SCRATCH, if it is not as it is. */
static const union net_slot *absolute(const struct net_kinds *kinds, const struct net_entry *entry,
                                      unsigned scratch) {
  const struct net_layout *layout = kinds->layout;
  union net_slot *row = kinds->scratch[scratch];
  if (!kinds->temporal) return entry->row;
  memcpy(row, entry->row, layout->slot_count * sizeof *row);
  net_row_make_absolute(layout, layout->field_count, kinds->starts, kinds->timeline,
                        kinds->reference, row);
  return row;
}

void net_kinds_add(struct net_kinds *kinds, struct net_entry *entry) {
  make_room(kinds);
  if (!kinds->reference_known && entry->row[0].i != NET_BEGINNING) {
    kinds->reference_known = true;
    kinds->reference = entry->row[0].i;
  }
  const union net_slot *row = absolute(kinds, entry, 0);
  uint64_t hash = 0;
  for (size_t i = 0; i < kinds->slot_count; i++)
    hash = base_hash_u64((uint64_t)row[kinds->slots[i]].i, hash);
  entry->hash = (uint32_t)hash;
  struct net_entry **chain = chain_of(kinds, entry->hash);
  entry->next = *chain;
  *chain = entry;
  kinds->count++;
}

static bool is_of_kind(const struct net_kinds *kinds, const struct net_entry *entry,
                       const struct net_entry *other) {
  if (entry->hash != other->hash) return false;
  const union net_slot *a = absolute(kinds, entry, 0), *b = absolute(kinds, other, 1);
  for (size_t i = 0; i < kinds->slot_count; i++)
    if (a[kinds->slots[i]].i != b[kinds->slots[i]].i) return false;
  return true;
}

/* The first of ENTRY, and of what follows it in its chain, that is of the kind of OTHER. */
static struct net_entry *kin(const struct net_kinds *kinds, struct net_entry *entry,
                             const struct net_entry *other) {
  while (entry != NULL && !is_of_kind(kinds, entry, other)) entry = entry->next;
  return entry;
}

static struct net_entry *first_kin(const struct net_kinds *kinds, const struct net_entry *of) {
  return kin(kinds, *chain_of(kinds, of->hash), of);
}

/* --- pairs */

/* Does another row of the kind of OF, which is of SIDE, lie between A and B? */
static enum net_truth kin_between(const struct net_closest *node, unsigned side,
                                  const struct net_entry *of, struct net_instant a,
                                  struct net_instant b) {
  const struct net_kinds *kinds = &node->kinds[side];
  enum net_truth found = NET_FALSE;
  for (const struct net_entry *entry = first_kin(kinds, of); entry != NULL && found != NET_TRUE;
       entry = kin(kinds, entry->next, of)) {
    if (!net_closest_known(node, side, entry)) continue;
    struct net_instant at = net_closest_instant(node, side, entry);
    enum net_truth here = net_and(net_before(a, at), net_before(at, b));
    if (here == NET_FALSE || net_closest_same(node, side, entry, of)) continue;
    found = net_or(found, net_and(here, net_entry_definite(entry)));
  }
  return found;
}

/* A left row whose instant is before this for sure has a row of the kind of RIGHT behind it. */
static net_chronon blocked_before(const struct net_closest *node, const struct net_entry *right,
                                  struct net_instant t) {
  const struct net_kinds *kinds = &node->kinds[1];
  net_chronon latest = NET_BEGINNING;
  for (const struct net_entry *entry = first_kin(kinds, right); entry != NULL;
       entry = kin(kinds, entry->next, right)) {
    if (entry == right || !net_closest_known(node, 1, entry)) continue;
    if (net_entry_definite(entry) != NET_TRUE) continue;
    struct net_instant at = net_closest_instant(node, 1, entry);
    if (net_before(at, t) == NET_TRUE && at.lo > latest) latest = at.lo;
  }
  return latest;
}

/* Is T, and all that is later, too far behind S? Then it is behind all that is earlier, too. */
static bool is_far(const struct net_closest *node, struct net_instant s, struct net_instant t) {
  return node->params.within >= 0 && net_within(s, t, node->params.within) == NET_FALSE;
}

static void decide(struct net_closest *node, const struct net_closest_group *group,
                   struct net_entry *right) {
  struct net_instant t = net_closest_instant(node, 1, right);
  net_chronon blocked = blocked_before(node, right, t);
  right->decided = true;
  for (size_t i = group->sides[0].count; i-- > 0;) {
    struct net_entry *left = group->sides[0].items[i];
    if (net_closest_order(node, 0, left) < blocked) break;
    if (!net_closest_known(node, 0, left)) continue;
    struct net_instant s = net_closest_instant(node, 0, left);
    if (is_far(node, s, t)) break;
    enum net_truth truth = net_before(s, t);
    if (truth == NET_FALSE) continue;
    truth = net_and(truth, net_and(net_entry_definite(left), net_entry_definite(right)));
    truth = net_and(truth, net_not(kin_between(node, 0, left, s, t)));
    truth = net_and(truth, net_not(kin_between(node, 1, right, s, t)));
    truth = net_and(truth, net_not(net_closest_lost_between(node, left, right, s, t)));
    if (truth != NET_FALSE) net_closest_pair(node, left, right, truth);
  }
}

/* --- what is done */

/* Rows of the kind of OF that lie before this for sure are done: nothing that is to be decided lies
 * before FROM. */
static net_chronon done_before(const struct net_closest *node, unsigned side,
                               const struct net_entry *of, net_chronon from) {
  const struct net_kinds *kinds = &node->kinds[side];
  net_chronon latest = NET_BEGINNING;
  for (const struct net_entry *entry = first_kin(kinds, of); entry != NULL;
       entry = kin(kinds, entry->next, of)) {
    if (!net_closest_known(node, side, entry) || net_entry_definite(entry) != NET_TRUE) continue;
    struct net_instant at = net_closest_instant(node, side, entry);
    if (at.hi < from && at.lo > latest) latest = at.lo;
  }
  return latest;
}

/* Takes what is done out of the kind of OF; ALL: whatever is decided. Returns how many stay. What is
 * gone of the left side is still in its group. */
static size_t forget(struct net_closest *node, unsigned side, struct net_entry *of,
                     net_chronon from, bool all) {
  struct net_kinds *kinds = &node->kinds[side];
  net_chronon done = done_before(node, side, of, from);
  struct net_entry **link = chain_of(kinds, of->hash), *first_gone = NULL;
  size_t stay = 0;
  while (*link != NULL) {
    struct net_entry *entry = *link;
    bool mine = is_of_kind(kinds, entry, of);
    bool goes =
        mine && ((all && entry->decided) || (net_closest_known(node, side, entry) &&
                                             net_closest_instant(node, side, entry).hi < done));
    if (!goes) {
      entry->looked |= mine;
      stay += mine;
      link = &entry->next;
      continue;
    }
    *link = entry->next;
    entry->next = first_gone;
    first_gone = entry;
  }
  for (struct net_entry *entry = first_gone, *next; entry != NULL; entry = next) {
    next = entry->next;
    entry->gone = true;
    kinds->count--;
    if (side == 1) net_closest_release(node, entry);
  }
  return stay;
}

/* Takes left rows out of their group that are gone. */
static void drop_gone(struct net_closest *node, struct net_entries *lefts) {
  size_t kept = 0;
  for (size_t i = 0; i < lefts->count; i++) {
    struct net_entry *left = lefts->items[i];
    if (left->gone)
      net_closest_release(node, left);
    else
      lefts->items[kept++] = left;
  }
  lefts->count = kept;
}

/* Forgets left rows of GROUP; returns whether there will be more to forget. */
static bool forget_lefts(struct net_closest *node, struct net_closest_group *group,
                         net_chronon from) {
  struct net_entries *lefts = &group->sides[0];
  bool more = false;
  for (size_t i = 0; i < lefts->count; i++) {
    struct net_entry *left = lefts->items[i];
    if (!left->gone && !left->looked && forget(node, 0, left, from, false) > 1) more = true;
  }
  drop_gone(node, lefts);
  for (size_t i = 0; i < lefts->count; i++) lefts->items[i]->looked = false;
  return more;
}

/* --- what is too far */

/* A row of which T is too far from all that is to be decided, and no left row that is not. */
struct far {
  struct net_instant t;
  net_chronon lefts; /* of which none is before this */
};

static struct far find_far(const struct net_closest *node) {
  struct far far = {{node->horizon, node->horizon}, NET_FOREVER};
  for (uint32_t i = 0; (i = net_rowmap_next(&node->groups, i)) < node->groups.used; i++) {
    const struct net_closest_group *group = net_rowmap_state(&node->groups, i);
    for (size_t k = 0; k < group->sides[1].count; k++) {
      net_chronon at = net_closest_instant(node, 1, group->sides[1].items[k]).lo;
      if (at < far.t.lo) far.t.lo = far.t.hi = at;
    }
  }
  for (uint32_t i = 0; (i = net_rowmap_next(&node->groups, i)) < node->groups.used; i++) {
    const struct net_closest_group *group = net_rowmap_state(&node->groups, i);
    for (size_t k = 0; k < group->sides[0].count; k++) {
      struct net_instant at = net_closest_instant(node, 0, group->sides[0].items[k]);
      if (at.lo < far.lefts && !is_far(node, at, far.t)) far.lefts = at.lo;
    }
  }
  return far;
}

/* Takes what is too far out of its kinds, of one side. */
static void forget_far_kinds(struct net_closest *node, unsigned side, const struct far *far) {
  struct net_kinds *kinds = &node->kinds[side];
  for (size_t i = 0; i < kinds->chain_count; i++) {
    for (struct net_entry **link = &kinds->chains[i]; *link != NULL;) {
      struct net_entry *entry = *link;
      struct net_instant at = net_closest_instant(node, side, entry);
      if (!net_closest_known(node, side, entry) || (side == 1 && !entry->decided) ||
          at.hi > far->lefts || !is_far(node, at, far->t)) {
        link = &entry->next;
        continue;
      }
      *link = entry->next;
      entry->gone = true;
      kinds->count--;
      if (side == 1) net_closest_release(node, entry);
    }
  }
}

void net_closest_forget_far(struct net_closest *node) {
  if (node->params.within < 0 || node->rows < node->look_at) return;
  struct far far = find_far(node);
  for (unsigned side = 0; side < 2; side++) forget_far_kinds(node, side, &far);
  for (uint32_t i = 0; (i = net_rowmap_next(&node->groups, i)) < node->groups.used; i++) {
    struct net_closest_group *group = net_rowmap_state(&node->groups, i);
    drop_gone(node, &group->sides[0]);
    /* One that is listed as changed is looked at again, and goes then. */
    if (group->changed || group->sides[0].count + group->sides[1].count > 0) continue;
    net_closest_group_done(node, group);
    net_rowmap_remove(&node->groups, i);
  }
  node->look_at = node->rows + node->rows / 8 + FIRST_LOOK;
}

/* --- the checkpoint advances */

net_chronon net_closest_advance_kinds(struct net_closest *node, struct net_closest_group *group) {
  struct net_entries *rights = &group->sides[1];
  net_chronon earliest = NET_FOREVER, from = node->horizon;
  if (!group->changed) return earliest;
  /* Lefts by the last, rights by the first instant they can have. */
  net_closest_sort(node, 0, &group->sides[0]);
  net_closest_sort(node, 1, rights);
  size_t kept = 0;
  for (size_t i = 0; i < rights->count; i++) {
    struct net_entry *right = rights->items[i];
    struct net_instant t = net_closest_instant(node, 1, right);
    if (!net_closest_known(node, 1, right) ||
        (t.hi >= node->horizon && node->horizon != NET_FOREVER)) {
      if (right->row[0].i < earliest) earliest = right->row[0].i;
      if (t.lo < from) from = t.lo;
      rights->items[kept++] = right;
      continue;
    }
    decide(node, group, right);
    net_chronon next =
        i + 1 == rights->count ? from : net_closest_order(node, 1, rights->items[i + 1]);
    forget(node, 1, right, next < from ? next : from, group->sides[0].count == 0);
  }
  rights->count = kept;
  group->changed = forget_lefts(node, group, from) || kept > 0;
  return earliest;
}
