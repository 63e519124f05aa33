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
 * row, and holds nothing up.                                                                        */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

#define NONE UINT32_MAX

struct run {
  struct net_instant start, stop; /* stop: of the members whose stop is known */
  uint32_t open;                  /* members whose stop is not */
  uint32_t next;                  /* of the group, or of the free list */
  uint64_t id;                    /* went out as an open row; 0: it has not */
};

struct coalesce {
  struct net_node node;
  struct net_rowmap groups[2]; /* omega, definite: by domains; state: first run */
  struct net_rowmap members;   /* by id: open rows; state: struct member */
  struct run *runs;
  size_t run_count, run_capacity, live;
  uint32_t run_free;
  uint64_t last_id;
  net_chronon bound;    /* open members last at least to it */
  net_chronon earliest; /* start of a run that has to wait */
};

struct member {
  uint32_t group, run;
  uint8_t definite;
};

/* --- runs */

static struct net_instant stop_of(const struct coalesce *node, const struct run *run) {
  struct net_instant stop = run->stop;
  if (run->open == 0) return stop;
  if (stop.lo < node->bound) stop.lo = node->bound;
  stop.hi = NET_FOREVER;
  return stop;
}

static bool touch(const struct coalesce *node, const struct run *x, const struct run *y) {
  return x->start.hi <= stop_of(node, y).lo && y->start.hi <= stop_of(node, x).lo;
}

static uint32_t new_run(struct coalesce *node) {
  uint32_t place = node->run_free;
  if (place != NONE) {
    node->run_free = node->runs[place].next;
  } else {
    base_grow(&node->runs, &node->run_capacity, node->run_count + 1, sizeof *node->runs);
    place = (uint32_t)node->run_count++;
  }
  node->live++;
  return place;
}

static void free_run(struct coalesce *node, uint32_t place) {
  node->runs[place].next = node->run_free;
  node->run_free = place;
  node->live--;
}

/* GONE becomes part of INTO. Only one of them can have gone out: two open rows of a group that have
 * would have touched. */
static void absorb(struct coalesce *node, uint32_t into, uint32_t gone) {
  struct run *a = &node->runs[into];
  const struct run *b = &node->runs[gone];
  BASE_CHECK(a->id == 0 || b->id == 0, "coalesce-two-open");
  if (b->start.lo < a->start.lo) a->start.lo = b->start.lo;
  if (b->start.hi < a->start.hi) a->start.hi = b->start.hi;
  if (b->stop.lo > a->stop.lo) a->stop.lo = b->stop.lo;
  if (b->stop.hi > a->stop.hi) a->stop.hi = b->stop.hi;
  if (b->id != 0) a->id = b->id;
  a->open += b->open;
  for (uint32_t i = 0; b->open > 0 && i < node->members.used; i++) {
    if (!net_rowmap_live(&node->members, i)) continue;
    struct member *member = net_rowmap_state(&node->members, i);
    if (member->run == gone) member->run = into;
  }
  free_run(node, gone);
}

/* Joins what touches in the list at HEAD until nothing does. */
static void join_all(struct coalesce *node, uint32_t *head) {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t x = *head; x != NONE; x = node->runs[x].next)
      for (uint32_t *place = head; *place != NONE;) {
        uint32_t y = *place;
        if (y == x || !touch(node, &node->runs[x], &node->runs[y])) {
          place = &node->runs[y].next;
          continue;
        }
        *place = node->runs[y].next;
        absorb(node, x, y);
        changed = true;
      }
  }
}

/* --- rows in */

static void take(struct coalesce *node, const union net_slot *row, uint8_t marks, uint64_t id) {
  uint8_t definite = marks & NET_DEFINITE;
  struct net_rowmap *groups = &node->groups[definite];
  if ((marks & NET_CLOSES) && row[2].i == NET_OPEN)
    return; /* one of several stops, or a bound on one, is known */
  if (marks & NET_CLOSES) {
    uint32_t place = net_rowmap_find_id(&node->members, id);
    BASE_CHECK(place != NET_NO_ENTRY, "coalesce-close-unknown");
    struct member member = *(struct member *)net_rowmap_state(&node->members, place);
    net_rowmap_remove(&node->members, place);
    struct run *run = &node->runs[member.run];
    run->open--;
    if (row[2].i > run->stop.lo) run->stop.lo = row[2].i;
    if (row[3].i > run->stop.hi) run->stop.hi = row[3].i;
    join_all(node, net_rowmap_state(&node->groups[member.definite], member.group));
    return;
  }
  bool fresh, open = row[2].i == NET_OPEN;
  uint32_t group = net_rowmap_put(groups, row, &fresh);
  uint32_t *head = net_rowmap_state(groups, group);
  if (fresh) *head = NONE;
  uint32_t place = new_run(node);
  node->runs[place] = (struct run){.start = net_row_start(row), .next = *head, .open = open};
  node->runs[place].stop =
      open ? (struct net_instant){NET_BEGINNING, NET_BEGINNING} : net_slot_instant(row, 2);
  *head = place;
  if (open) {
    struct member *member =
        net_rowmap_state(&node->members, net_rowmap_put_id(&node->members, id, NULL));
    *member = (struct member){.group = group, .run = place, .definite = definite};
  }
  join_all(node, head);
}

/* --- rows out */

static bool may_grow(const struct coalesce *node, const struct run *run) {
  if (node->bound == NET_FOREVER) return false;
  return run->open > 0 || run->stop.lo >= node->bound;
}

/* A run with no definite part can also be joined by another that grows. */
static bool is_final(const struct coalesce *node, uint32_t head, const struct run *run) {
  if (may_grow(node, run)) return false;
  if (run->start.hi <= run->stop.lo) return true;
  for (uint32_t i = head; i != NONE; i = node->runs[i].next) {
    const struct run *other = &node->runs[i];
    if (other != run && may_grow(node, other) && other->start.hi <= run->stop.lo) return false;
  }
  return true;
}

static bool start_is_final(const struct coalesce *node, uint32_t head, const struct run *run) {
  if (run->start.hi > node->bound) return false;
  for (uint32_t i = head; i != NONE; i = node->runs[i].next) {
    const struct run *other = &node->runs[i];
    if (other->start.lo < run->start.lo || other->start.hi < run->start.hi) return false;
  }
  return true;
}

static void put(struct coalesce *node, const union net_slot *group, const struct run *run,
                uint8_t marks, struct net_instant stop, enum base_status *status) {
  union net_slot *out = net_out_row(&node->node, marks, run->id, node->bound, status);
  memcpy(out, group, node->node.layout->slot_count * sizeof *out);
  out[0].i = run->start.lo;
  out[1].i = run->start.hi;
  out[2].i = stop.lo;
  out[3].i = stop.hi;
}

/* What is final goes out and is forgotten. */
static void say_final(struct coalesce *node, const union net_slot *group, uint32_t *head,
                      uint8_t definite, enum base_status *status) {
  for (uint32_t *place = head; *place != NONE;) {
    uint32_t index = *place;
    struct run *run = &node->runs[index];
    if (run->open > 0 || !is_final(node, *head, run)) {
      place = &run->next;
      continue;
    }
    uint8_t marks = run->id != 0 ? (uint8_t)(definite | NET_CLOSES) : definite;
    put(node, group, run, marks, run->stop, status);
    *place = run->next;
    free_run(node, index);
  }
}

static void say_open(struct coalesce *node, const union net_slot *group, uint32_t head,
                     uint8_t definite, enum base_status *status) {
  static const struct net_instant open = {NET_OPEN, NET_FOREVER};
  for (uint32_t i = head; i != NONE; i = node->runs[i].next) {
    struct run *run = &node->runs[i];
    if (run->id != 0) continue;
    bool grows = may_grow(node, run) || node->bound == NET_FOREVER;
    if (grows && (node->bound == NET_FOREVER || start_is_final(node, head, run))) {
      run->id = ++node->last_id;
      put(node, group, run, definite, open, status);
    } else if (run->start.lo < node->earliest) {
      node->earliest = run->start.lo;
    }
  }
}

static void say_all(struct coalesce *node, uint8_t definite, enum base_status *status) {
  struct net_rowmap *groups = &node->groups[definite];
  for (uint32_t i = 0; i < groups->used; i++) {
    if (!net_rowmap_live(groups, i)) continue;
    uint32_t *head = net_rowmap_state(groups, i);
    join_all(node, head);
    say_final(node, net_rowmap_row(groups, i), head, definite, status);
    say_open(node, net_rowmap_row(groups, i), *head, definite, status);
    if (*head == NONE) net_rowmap_remove(groups, i);
  }
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct coalesce *node = (struct coalesce *)base;
  /* What is open may be closed by this very batch, before its bound: until all its rows are taken, what was
   * known behind the last one counts. */
  for (uint32_t i = 0; i < batch->count; i++)
    take(node, net_batch_row(batch, i), net_batch_marks(batch, i), net_batch_id(batch, i));
  bool news = batch->count > 0 || batch->checkpoint > base->checkpoint;
  if (!news && batch->checkpoint != NET_FOREVER) return BASE_OK;
  node->bound = batch->checkpoint;
  node->earliest = NET_FOREVER;
  enum base_status status = BASE_OK;
  say_all(node, 0, &status);
  say_all(node, NET_DEFINITE, &status);
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
  return &node->node;
}
