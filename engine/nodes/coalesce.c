/* Coalesce (retrieve coalesced): result periods that are equal in all domains and overlap or adjoin
 * become one.
 *
 *      in ──▶ [ domains ] ──▶ out      state: periods that may still grow      order: any
 *
 * Two are one when each starts at or before the other's stop for sure: x.start.hi <= y.stop.lo and
 * y.start.hi <= x.stop.lo. The one has the earlier start and the later stop, each bound for itself.
 * What touches one of two periods touches what becomes of them, so the order of joining does not
 * matter. Definite and omega rows are kept apart: two maps of groups.
 *
 * A *run* is what rows of one group have become so far. With every row that starts before checkpoint c
 * seen, a run whose stop.lo is at or after c, or that has an open member, may still grow; one that may
 * not is final and goes out. One that may grow goes out open as soon as its start is final: when c has
 * passed start.hi, and no other run of the group has an earlier bound of its start (it could still be
 * joined by way of what comes). It closes when it is final. So a chain of adjoining periods is one open
 * row, and holds nothing up.
 *
 * The runs of a group, of which no two touch, are a tree in the order of start.hi, and each part of it
 * knows how far its runs reach: the first run that reaches to the start of another touches that one, or none
 * does. So a row finds what it joins in the logarithm of their number, and each joining ends a run. Of two
 * whose members are open, the members of the one that has fewer change over, which is done a logarithm of times
 * for each at most. What starts at or after c waits, and is not looked at before c advances.           */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

#define NONE UINT32_MAX

struct run {
  struct net_instant start, stop; /* stop: of the members whose stop is known */
  uint64_t id;                    /* went out as an open row; 0: it has not */
  net_chronon furthest;           /* stop.lo of those below it in the tree, and its own */
  uint32_t open : 31;             /* members whose stop is not known */
  uint32_t open_below : 1;        /* some run below it has such ones, or it has */
  uint32_t members;               /* the first of them */
  uint32_t left, right;           /* left: also the next free one */
};

struct coalesce {
  struct net_node node;
  struct net_rowmap groups[2]; /* omega, definite: by domains; state: the root of its runs */
  struct net_rowmap members;   /* by id: open rows; state: struct member */
  struct run *runs;
  size_t run_count, run_capacity, live;
  uint32_t run_free;
  uint64_t last_id;
  net_chronon bound;    /* open members last at least to it */
  net_chronon earliest; /* start of a run that has to wait */
  bool news;            /* some run may have been decided by what came before the checkpoint */
};

/* Those of a run are a list. */
struct member {
  uint32_t
      group; /* its place among the definite ones or the omega ones, twice, and which these are */
  uint32_t run, previous, next;
};

/* --- runs */

static struct run *run_at(const struct coalesce *node, uint32_t place) {
  return &node->runs[place];
}

static net_chronon reach(const struct coalesce *node, net_chronon stop, bool open) {
  return open && stop < node->bound ? node->bound : stop;
}

/* To where RUN lasts for sure. */
static net_chronon reach_of(const struct coalesce *node, const struct run *run) {
  return reach(node, run->stop.lo, run->open > 0);
}

static uint32_t new_run(struct coalesce *node) {
  uint32_t place = node->run_free;
  if (place != NONE) {
    node->run_free = node->runs[place].left;
  } else {
    base_grow_little(&node->runs, &node->run_capacity, node->run_count + 1, sizeof *node->runs);
    place = (uint32_t)node->run_count++;
  }
  node->live++;
  return place;
}

static void free_run(struct coalesce *node, uint32_t place) {
  node->runs[place].left = node->run_free;
  node->run_free = place;
  node->live--;
}

/* --- the tree of a group: a treap, whose priorities are scattered from places */

static uint32_t priority(uint32_t place) {
  uint32_t x = (place + 1) * 0x9e3779b1u;
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

static bool is_less(const struct coalesce *node, uint32_t x, uint32_t y) {
  net_chronon a = node->runs[x].start.hi, b = node->runs[y].start.hi;
  return a < b || (a == b && x < y);
}

/* What RUN knows of those below it, after these have changed. */
static void note_below(struct coalesce *node, struct run *run) {
  run->furthest = run->stop.lo;
  run->open_below = run->open > 0;
  const uint32_t below[2] = {run->left, run->right};
  for (unsigned i = 0; i < 2; i++) {
    if (below[i] == NONE) continue;
    const struct run *other = run_at(node, below[i]);
    if (other->furthest > run->furthest) run->furthest = other->furthest;
    run->open_below |= other->open_below;
  }
}

/* The runs of ROOT before PLACE, which is none of them, and behind it. */
static void split(struct coalesce *node, uint32_t root, uint32_t place, uint32_t *ret_before,
                  uint32_t *ret_after) {
  if (root == NONE) {
    *ret_before = *ret_after = NONE;
    return;
  }
  struct run *run = run_at(node, root);
  if (is_less(node, place, root)) {
    split(node, run->left, place, ret_before, &run->left);
    *ret_after = root;
  } else {
    split(node, run->right, place, &run->right, ret_after);
    *ret_before = root;
  }
  note_below(node, run);
}

static uint32_t merge(struct coalesce *node, uint32_t before, uint32_t after) {
  if (before == NONE) return after;
  if (after == NONE) return before;
  uint32_t top = priority(before) > priority(after) ? before : after;
  struct run *run = run_at(node, top);
  if (top == before)
    run->right = merge(node, run->right, after);
  else
    run->left = merge(node, before, run->left);
  note_below(node, run);
  return top;
}

/* Returns the new root. */
static uint32_t insert(struct coalesce *node, uint32_t root, uint32_t place) {
  struct run *run = run_at(node, place);
  if (root == NONE || priority(place) > priority(root)) {
    split(node, root, place, &run->left, &run->right);
    note_below(node, run);
    return place;
  }
  struct run *top = run_at(node, root);
  uint32_t *side = is_less(node, place, root) ? &top->left : &top->right;
  *side = insert(node, *side, place);
  note_below(node, top);
  return root;
}

/* The same without PLACE, which is there. */
static uint32_t take_out(struct coalesce *node, uint32_t root, uint32_t place) {
  struct run *top = run_at(node, root);
  if (root == place) return merge(node, top->left, top->right);
  uint32_t *side = is_less(node, place, root) ? &top->left : &top->right;
  *side = take_out(node, *side, place);
  note_below(node, top);
  return root;
}

/* The first of ROOT that lasts to TIME for sure, or NONE. */
static uint32_t first_to(const struct coalesce *node, uint32_t root, net_chronon time) {
  while (root != NONE) {
    const struct run *run = run_at(node, root);
    const struct run *left = run->left == NONE ? NULL : run_at(node, run->left);
    if (left != NULL && reach(node, left->furthest, left->open_below) >= time) {
      root = run->left;
      continue;
    }
    if (reach_of(node, run) >= time) break;
    root = run->right;
  }
  return root;
}

/* --- joining */

static struct member *member_at(const struct coalesce *node, uint32_t place) {
  return net_rowmap_state(&node->members, place);
}

/* The open members of GONE, which are fewer, become such of INTO. */
static void hand_over(struct coalesce *node, uint32_t into, uint32_t gone) {
  struct run *a = run_at(node, into);
  const struct run *b = run_at(node, gone);
  uint32_t last = NONE;
  for (uint32_t i = b->members; i != NONE; i = member_at(node, i)->next) {
    member_at(node, i)->run = into;
    last = i;
  }
  if (last == NONE) return;
  member_at(node, last)->next = a->members;
  if (a->members != NONE) member_at(node, a->members)->previous = last;
  a->members = b->members;
  a->open += b->open;
}

static void drop_member(struct coalesce *node, uint32_t place) {
  const struct member member = *member_at(node, place);
  struct run *run = run_at(node, member.run);
  if (member.previous == NONE)
    run->members = member.next;
  else
    member_at(node, member.previous)->next = member.next;
  if (member.next != NONE) member_at(node, member.next)->previous = member.previous;
  run->open--;
  net_rowmap_remove(&node->members, place);
}

/* X and Y, which are in no tree, become one; returns which. Only one of them can have gone out: two open rows
 * of a group that have would have touched. */
static uint32_t absorb(struct coalesce *node, uint32_t x, uint32_t y) {
  uint32_t into = run_at(node, x)->open >= run_at(node, y)->open ? x : y;
  uint32_t gone = into == x ? y : x;
  struct run *a = run_at(node, into);
  const struct run *b = run_at(node, gone);
  BASE_CHECK(a->id == 0 || b->id == 0, "coalesce-two-open");
  if (b->start.lo < a->start.lo) a->start.lo = b->start.lo;
  if (b->start.hi < a->start.hi) a->start.hi = b->start.hi;
  if (b->stop.lo > a->stop.lo) a->stop.lo = b->stop.lo;
  if (b->stop.hi > a->stop.hi) a->stop.hi = b->stop.hi;
  if (b->id != 0) a->id = b->id;
  hand_over(node, into, gone);
  free_run(node, gone);
  return into;
}

/* Puts PLACE, which has changed or is new, among the runs at *ROOT, joined with those that it touches, as long as
 * there is one: each starts at or before the reach of the other. Returns what it has become. */
static uint32_t join(struct coalesce *node, uint32_t *root, uint32_t place) {
  for (;;) {
    const struct run *run = run_at(node, place);
    uint32_t other = first_to(node, *root, run->start.hi);
    if (other == NONE || run_at(node, other)->start.hi > reach_of(node, run)) break;
    *root = take_out(node, *root, other);
    place = absorb(node, place, other);
  }
  *root = insert(node, *root, place);
  return place;
}

/* The checkpoint has advanced, and what is open lasts to it: if more touches now, then what reaches to it and has
 * begun does. */
static void join_at_bound(struct coalesce *node, uint32_t *root) {
  uint32_t place = first_to(node, *root, node->bound);
  if (place == NONE || run_at(node, place)->start.hi > node->bound) return;
  *root = take_out(node, *root, place);
  join(node, root, place);
}

/* --- rows in */

static bool may_grow(const struct coalesce *node, const struct run *run) {
  return node->bound != NET_FOREVER && reach_of(node, run) >= node->bound;
}

/* RUN has changed: may it, or another of its group, go out or wait no longer, though the checkpoint is where it
 * was? If it grows and has not begun, then nothing waited for it, or what did still does. */
static void note_change(struct coalesce *node, const struct run *run) {
  if (!may_grow(node, run) || run->start.hi <= node->bound)
    node->news = true;
  else if (run->start.lo < node->earliest)
    node->earliest = run->start.lo;
}

static void take_close(struct coalesce *node, const union net_slot *row, uint64_t id) {
  if (row[2].i == NET_OPEN) return; /* one of several stops, or a bound on one, is known */
  uint32_t place = net_rowmap_find_id(&node->members, id);
  BASE_CHECK(place != NET_NO_ENTRY, "coalesce-close-unknown");
  const struct member member = *member_at(node, place);
  uint32_t *root = net_rowmap_state(&node->groups[member.group % 2], member.group / 2);
  *root = take_out(node, *root, member.run);
  drop_member(node, place);
  struct run *run = run_at(node, member.run);
  if (row[2].i > run->stop.lo) run->stop.lo = row[2].i;
  if (row[3].i > run->stop.hi) run->stop.hi = row[3].i;
  note_change(node, run_at(node, join(node, root, member.run)));
}

static void take(struct coalesce *node, const union net_slot *row, uint8_t marks, uint64_t id) {
  if (marks & NET_CLOSES) {
    take_close(node, row, id);
    return;
  }
  uint8_t definite = marks & NET_DEFINITE;
  struct net_rowmap *groups = &node->groups[definite];
  bool fresh, open = row[2].i == NET_OPEN;
  uint32_t group = net_rowmap_put(groups, row, &fresh);
  uint32_t *root = net_rowmap_state(groups, group);
  if (fresh) *root = NONE;
  uint32_t place = new_run(node);
  node->runs[place] = (struct run){
      .start = net_row_start(row),
      .stop = open ? (struct net_instant){NET_BEGINNING, NET_BEGINNING} : net_slot_instant(row, 2),
      .open = open,
      .members = NONE};
  if (open) {
    uint32_t member = net_rowmap_put_id(&node->members, id, NULL);
    *member_at(node, member) = (struct member){
        .group = group * 2 + definite, .run = place, .previous = NONE, .next = NONE};
    node->runs[place].members = member;
  }
  note_change(node, run_at(node, join(node, root, place)));
}

/* --- rows out */

/* What is told of the runs of a group when the checkpoint is looked at. */
struct telling {
  const union net_slot *group;
  uint8_t definite;
  uint32_t open;       /* the first run that may grow, or is open for ever; NONE: there is none */
  net_chronon grower;  /* its start.hi, if it may grow; else NET_FOREVER */
  net_chronon start;   /* the earliest start.lo of those that stay */
  net_chronon waiting; /* of those of them but OPEN that have not gone out */
};

/* A run with no definite part can also be joined by another that grows. */
static bool is_final(const struct coalesce *node, const struct telling *telling,
                     const struct run *run) {
  if (run->open > 0 || may_grow(node, run)) return false;
  return run->start.hi <= run->stop.lo || telling->grower > run->stop.lo;
}

static void put(struct coalesce *node, const struct telling *telling, const struct run *run,
                uint8_t marks, struct net_instant stop, enum base_status *status) {
  union net_slot *out = net_out_row(&node->node, marks, run->id, node->bound, status);
  memcpy(out, telling->group, node->node.layout->slot_count * sizeof *out);
  out[0].i = run->start.lo;
  out[1].i = run->start.hi;
  out[2].i = stop.lo;
  out[3].i = stop.hi;
}

/* What is final of ROOT goes out and is forgotten. Returns the root of what stays. */
static uint32_t say_final(struct coalesce *node, uint32_t root, struct telling *telling,
                          enum base_status *status) {
  if (root == NONE) return NONE;
  struct run *run = run_at(node, root);
  uint32_t left = say_final(node, run->left, telling, status);
  bool final = is_final(node, telling, run);
  if (final) {
    uint8_t closes = run->id != 0 ? NET_CLOSES : 0;
    put(node, telling, run, telling->definite | closes, run->stop, status);
  } else {
    if (run->start.lo < telling->start) telling->start = run->start.lo;
    if (run->id == 0 && root != telling->open && run->start.lo < telling->waiting)
      telling->waiting = run->start.lo;
  }
  uint32_t right = say_final(node, run->right, telling, status);
  if (final) {
    free_run(node, root);
    return merge(node, left, right);
  }
  run->left = left;
  run->right = right;
  note_below(node, run);
  return root;
}

static uint32_t first_of(const struct coalesce *node, uint32_t root) {
  while (run_at(node, root)->left != NONE) root = run_at(node, root)->left;
  return root;
}

static bool start_is_final(const struct coalesce *node, uint32_t root,
                           const struct telling *telling, const struct run *run) {
  return run->start.hi <= node->bound && run->start.lo == telling->start &&
         run->start.hi == run_at(node, first_of(node, root))->start.hi;
}

/* Of the runs that may grow one has begun, or none: two would touch. So no other than the first can go out. */
static void say_open(struct coalesce *node, uint32_t root, struct telling *telling,
                     enum base_status *status) {
  static const struct net_instant open = {NET_OPEN, NET_FOREVER};
  if (telling->open == NONE) return;
  struct run *run = run_at(node, telling->open);
  if (run->id != 0) return;
  if (node->bound == NET_FOREVER || start_is_final(node, root, telling, run)) {
    run->id = ++node->last_id;
    put(node, telling, run, telling->definite, open, status);
  } else if (run->start.lo < telling->waiting) {
    telling->waiting = run->start.lo;
  }
}

static void say_group(struct coalesce *node, struct telling *telling, uint32_t *root,
                      enum base_status *status) {
  join_at_bound(node, root);
  telling->start = telling->waiting = telling->grower = NET_FOREVER;
  telling->open = first_to(node, *root, node->bound);
  if (telling->open != NONE) {
    const struct run *run = run_at(node, telling->open);
    if (may_grow(node, run))
      telling->grower = run->start.hi;
    else if (run->open == 0)
      telling->open = NONE;
  }
  *root = say_final(node, *root, telling, status);
  say_open(node, *root, telling, status);
  if (telling->waiting < node->earliest) node->earliest = telling->waiting;
}

static void say_all(struct coalesce *node, uint8_t definite, enum base_status *status) {
  struct net_rowmap *groups = &node->groups[definite];
  for (uint32_t i = 0; (i = net_rowmap_next(groups, i)) < groups->used; i++) {
    uint32_t *root = net_rowmap_state(groups, i);
    struct telling telling = {.group = net_rowmap_row(groups, i), .definite = definite};
    say_group(node, &telling, root, status);
    if (*root == NONE) net_rowmap_remove(groups, i);
  }
}

/* --- giving back */

/* The runs of the tree that was at OLD among those BEFORE come to ROOT, in their order, and say so to their members.
 * Returns the new root. */
static uint32_t move_runs(struct coalesce *node, const struct run *before, uint32_t old,
                          uint32_t root) {
  if (old == NONE) return root;
  root = move_runs(node, before, before[old].left, root);
  uint32_t place = (uint32_t)node->run_count++;
  node->runs[place] = before[old];
  for (uint32_t i = before[old].members; i != NONE; i = member_at(node, i)->next)
    member_at(node, i)->run = place;
  root = insert(node, root, place);
  return move_runs(node, before, before[old].right, root);
}

/* Where most runs have gone those that are left stand together, with room for as many again. All are in trees. */
static void give_back(struct coalesce *node) {
  struct run *before = node->runs;
  if (!base_is_roomy(node->run_capacity, node->live, sizeof *before)) return;
  node->run_capacity = 2 * node->live + 1;
  node->runs = base_xmalloc(node->run_capacity * sizeof *before);
  node->run_count = 0;
  node->run_free = NONE;
  for (unsigned definite = 0; definite <= NET_DEFINITE; definite++) {
    struct net_rowmap *groups = &node->groups[definite];
    for (uint32_t i = 0; (i = net_rowmap_next(groups, i)) < groups->used; i++) {
      uint32_t *root = net_rowmap_state(groups, i);
      *root = move_runs(node, before, *root, NONE);
    }
  }
  free(before);
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct coalesce *node = (struct coalesce *)base;
  /* What is open may be closed by this very batch, before its bound: until all its rows are taken, what was
   * known behind the last one counts. */
  for (uint32_t i = 0; i < batch->count; i++)
    take(node, net_batch_row(batch, i), net_batch_marks(batch, i), net_batch_id(batch, i));
  if (batch->count == 0 && batch->checkpoint <= base->checkpoint &&
      batch->checkpoint != NET_FOREVER)
    return BASE_OK;
  enum base_status status = BASE_OK;
  if (node->news || batch->checkpoint > node->bound) {
    node->bound = batch->checkpoint;
    node->earliest = NET_FOREVER;
    node->news = false;
    say_all(node, 0, &status);
    say_all(node, NET_DEFINITE, &status);
    give_back(node);
  }
  if (status != BASE_OK) return status;
  net_chronon checkpoint = node->earliest < batch->checkpoint ? node->earliest : batch->checkpoint;
  return net_out_flush(base, checkpoint, batch->checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct coalesce *node = (const struct coalesce *)base;
  net_rowmap_mark_strings(&node->groups[0], strings);
  net_rowmap_mark_strings(&node->groups[NET_DEFINITE], strings);
}

static size_t state_rows(const struct net_node *base) {
  const struct coalesce *node = (const struct coalesce *)base;
  return node->live + node->members.live;
}

static size_t state_bytes(const struct net_node *base) {
  const struct coalesce *node = (const struct coalesce *)base;
  return net_rowmap_bytes(&node->groups[0]) + net_rowmap_bytes(&node->groups[NET_DEFINITE]) +
         net_rowmap_bytes(&node->members) + node->run_capacity * sizeof *node->runs;
}

static void done(struct net_node *base) {
  struct coalesce *node = (struct coalesce *)base;
  net_rowmap_done(&node->groups[0]);
  net_rowmap_done(&node->groups[NET_DEFINITE]);
  net_rowmap_done(&node->members);
  free(node->runs);
}

static const struct net_node_class class = {.kind = NET_NODE_COALESCE,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_coalesce(struct net_network *network, const char *name,
                                     const struct net_layout *layout) {
  BASE_CHECK(layout->tuple_class == NET_PERIOD, "coalesce-periods");
  struct coalesce *node = net_node_new(network, sizeof *node, &class, name, layout);
  node->node.input_layouts[0] = layout;
  for (unsigned definite = 0; definite <= NET_DEFINITE; definite++)
    net_rowmap_init(&node->groups[definite], layout, NET_KEY_DOMAINS, layout->field_count, NULL, 0,
                    sizeof(uint32_t));
  net_rowmap_init(&node->members, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(struct member));
  node->run_free = NONE;
  node->bound = NET_BEGINNING;
  node->earliest = NET_FOREVER;
  return &node->node;
}
