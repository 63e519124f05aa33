/* Access: where rows enter the network (thesis 6.3).
 *
 *      [ source or push ] ──▶ out          state: ids of open rows      order: that of the source
 *              ▲                                  and of what is watched
 *           control                               (watching.c)
 *
 * A source is pulled by net_run; without one, or when it has ended, the owner pushes batches. The
 * checkpoints of batches that are pushed have been promised to the world; those of a source are its own,
 * except for the last. The latest finite one that was promised is *passed* (clocks ask for it). With DROP_CLOSES, end records
 * are left out: the reader wants starts only.
 *
 * Rows of period relations come without ids. An open one gets a new id here; one that closes gets that
 * of an open one with its start and domains: as definite as itself, if there is one, and of those the one
 * whose stop can be latest at the soonest after it. All that are alike are closed by the same end record,
 * so it does not matter which. A close of nothing (the open row was equal to another, and the store kept
 * one of them) is left out.                                                                         */
#include "engine/nodes/access.h"
#include "engine/nodes/watching.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/plain.h"
#include "engine/rowmap.h"

#define NONE UINT32_MAX

/* An open row; in the list of those of its identity, if it is not the first of them. Unused entries of
 * the array make a list, too. */
struct opened {
  uint64_t id;
  net_chronon stop_hi;
  uint32_t next;
  bool definite;
};

struct access {
  struct net_node node;
  struct net_source *source;
  bool drop_closes;
  net_chronon passed;
  uint32_t *selection;
  size_t selection_capacity;
  bool gives_ids;
  uint64_t last_id;
  uint64_t *ids; /* of the batch that is sent */
  size_t id_capacity;
  struct net_rowmap open;   /* the first of each identity; state: see make_state */
  struct net_rowmap others; /* by place in OPEN, and 1; state: list of the others */
  struct opened *opened;
  size_t opened_count, opened_capacity;
  uint32_t opened_free;
  struct net_watching *watching; /* NULL: no sensor */
};

/* --- ids */

static uint64_t make_state(uint64_t id, bool definite, bool more) {
  return id << 2 | (uint64_t)definite << 1 | (uint64_t)more;
}

static struct opened first_of(const struct access *access, uint32_t place) {
  uint64_t state = *(uint64_t *)net_rowmap_state(&access->open, place);
  return (struct opened){.id = state >> 2,
                         .stop_hi = net_rowmap_row(&access->open, place)[3].i,
                         .next = NONE,
                         .definite = (state & 2) != 0};
}

/* Are there others with the identity of the one at PLACE? */
static bool has_more(const struct access *access, uint32_t place) {
  return (*(uint64_t *)net_rowmap_state(&access->open, place) & 1) != 0;
}

static void set_first(struct access *access, uint32_t place, const struct opened *opened,
                      bool more) {
  uint64_t *state = net_rowmap_state(&access->open, place);
  net_rowmap_row(&access->open, place)[3].i = opened->stop_hi;
  *state = make_state(opened->id, opened->definite, more);
}

/* The list of the others of PLACE; NONE while it is empty. */
static uint32_t *others_of(struct access *access, uint32_t place) {
  uint32_t index = net_rowmap_put_id(&access->others, (uint64_t)place + 1, NULL);
  return net_rowmap_state(&access->others, index);
}

static void add_other(struct access *access, uint32_t place, struct opened opened) {
  uint32_t new = access->opened_free, *list = others_of(access, place);
  if (new != NONE) {
    access->opened_free = access->opened[new].next;
  } else {
    base_grow(&access->opened, &access->opened_capacity, access->opened_count + 1,
              sizeof *access->opened);
    new = (uint32_t)access->opened_count++;
  }
  opened.next = has_more(access, place) ? *list : NONE;
  access->opened[new] = opened;
  *list = new;
  struct opened first = first_of(access, place);
  set_first(access, place, &first, true);
}

static void note_open(struct access *access, const union net_slot *row, uint8_t marks,
                      uint64_t id) {
  bool fresh;
  uint32_t place = net_rowmap_put(&access->open, row, &fresh);
  struct opened opened = {id, row[3].i, NONE, (marks & NET_DEFINITE) != 0};
  if (fresh)
    set_first(access, place, &opened, false);
  else
    add_other(access, place, opened);
}

/* Does A go better than B with a row that is DEFINITE and stops at STOP_HI at the latest? */
static bool fits_better(const struct opened *a, const struct opened *b, bool definite,
                        net_chronon stop_hi) {
  if (a->definite != b->definite) return a->definite == definite;
  if ((a->stop_hi >= stop_hi) != (b->stop_hi >= stop_hi)) return a->stop_hi >= stop_hi;
  return a->stop_hi >= stop_hi ? a->stop_hi < b->stop_hi : a->stop_hi > b->stop_hi;
}

/* Takes the one at LINK out of the others of PLACE. */
static struct opened take_other(struct access *access, uint32_t place, uint32_t *link) {
  uint32_t taken = *link, *list = others_of(access, place);
  struct opened opened = access->opened[taken];
  *link = opened.next;
  access->opened[taken].next = access->opened_free;
  access->opened_free = taken;
  if (*list == NONE) {
    struct opened first = first_of(access, place);
    set_first(access, place, &first, false);
    net_rowmap_remove(&access->others, net_rowmap_find_id(&access->others, (uint64_t)place + 1));
  }
  return opened;
}

/* The id of the open row that ROW closes, which is forgotten; 0: there is none. */
static uint64_t take_open(struct access *access, const union net_slot *row, uint8_t marks) {
  uint32_t place = net_rowmap_find(&access->open, row);
  if (place == NET_NO_ENTRY) return 0;
  struct opened first = first_of(access, place);
  if (!has_more(access, place)) {
    net_rowmap_remove(&access->open, place);
    return first.id;
  }
  bool definite = (marks & NET_DEFINITE) != 0;
  uint32_t *list = others_of(access, place), *best = list;
  for (uint32_t *at = list; *at != NONE; at = &access->opened[*at].next)
    if (fits_better(&access->opened[*at], &access->opened[*best], definite, row[3].i)) best = at;
  bool is_first = !fits_better(&access->opened[*best], &first, definite, row[3].i);
  struct opened taken = take_other(access, place, is_first ? list : best);
  if (!is_first) return taken.id;
  set_first(access, place, &taken, has_more(access, place));
  return first.id;
}

static void give_ids(struct access *access, const struct net_batch *batch) {
  const struct net_layout *layout = access->node.layout;
  for (uint32_t i = 0; i < batch->count; i++) {
    uint32_t index = net_batch_index(batch, i);
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = batch->marks[index];
    bool open = net_row_is_open(layout, row);
    uint64_t id = 0;
    if (marks & NET_CLOSES) {
      id = take_open(access, row, marks);
    } else if (open) {
      id = ++access->last_id;
    }
    if (open && id != 0) note_open(access, row, marks, id);
    base_grow(&access->ids, &access->id_capacity, (size_t)index + 1, sizeof *access->ids);
    access->ids[index] = id;
  }
}

/* --- sending */

/* Is row INDEX left out: an end record nobody wants, or the close of nothing? */
static bool is_left_out(const struct access *access, const struct net_batch *batch,
                        uint32_t index) {
  if (!(batch->marks[index] & NET_CLOSES)) return false;
  return access->drop_closes || (access->gives_ids && access->ids[index] == 0);
}

/* Where nobody says that rows are plain (batch.h), they are looked at. */
static bool is_plain(const struct net_layout *layout, const struct net_batch *batch) {
  bool period = layout->tuple_class == NET_PERIOD;
  net_chronon last = NET_BEGINNING;
  if (batch->selection == NULL)
    return net_rows_are_plain(layout, batch->rows, batch->marks, batch->count);
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    bool plain =
        net_batch_marks(batch, i) == NET_DEFINITE && row[0].i == row[1].i && row[0].i >= last;
    if (period) plain = plain && row[2].i == row[3].i && row[0].i < row[2].i;
    if (!plain) return false;
    last = row[0].i;
  }
  return true;
}

/* SAID: who gives the batch knows what it says of itself. */
static enum base_status send(struct net_node *node, const struct net_batch *batch, bool said) {
  struct access *access = (struct access *)node;
  struct net_batch out = *batch;
  out.plain = (said && batch->plain) || is_plain(node->layout, batch);
  if (out.checkpoint < node->checkpoint) out.checkpoint = node->checkpoint;
  if (out.bound < node->checkpoint) out.bound = node->checkpoint;
  out.ids = NULL;
  if (out.plain) return net_emit(node, &out);
  if (access->gives_ids && batch->count > 0) {
    give_ids(access, batch);
    out.ids = access->ids;
  }
  uint32_t left_out = 0;
  for (uint32_t i = 0; i < batch->count; i++)
    left_out += is_left_out(access, batch, net_batch_index(batch, i));
  if (left_out > 0) {
    base_grow(&access->selection, &access->selection_capacity, batch->count,
              sizeof *access->selection);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < batch->count; i++)
      if (!is_left_out(access, batch, net_batch_index(batch, i)))
        access->selection[kept++] = net_batch_index(batch, i);
    out.selection = access->selection;
    out.count = kept;
  }
  return net_emit(node, &out);
}

bool net_access_pulling(const struct net_node *node) {
  return ((const struct access *)node)->source != NULL;
}

enum base_status net_access_pull(struct net_node *node) {
  struct access *access = (struct access *)node;
  struct net_batch batch;
  node->fires++;
  enum base_status status = access->source->next(access->source, &batch);
  if (status == BASE_END) {
    access->source->free(access->source);
    access->source = NULL;
    if (!node->more) return BASE_OK;
    struct net_batch end = {.layout = node->layout,
                            .checkpoint = node->checkpoint,
                            .bound = node->checkpoint,
                            .plain = true};
    return net_emit(node, &end);
  }
  if (status != BASE_OK) return status;
  batch.more = node->wants_more;
  return send(node, &batch, true);
}

enum base_status net_access_push(struct net_node *node, const struct net_batch *batch) {
  BASE_CHECK(node->kind == NET_NODE_ACCESS, "push-access");
  struct net_node *outer = net_node_enter(node);
  node->fires++;
  node->rows_in += batch->count;
  if (!batch->more) net_access_set_passed(node, batch->checkpoint); /* others are on the way */
  enum base_status status = send(node, batch, false);
  net_node_leave(node, outer);
  return status;
}

void net_access_set_passed(struct net_node *node, net_chronon checkpoint) {
  struct access *access = (struct access *)node;
  BASE_CHECK(node->kind == NET_NODE_ACCESS, "passed-access");
  if (checkpoint > access->passed && checkpoint != NET_FOREVER) access->passed = checkpoint;
}

net_chronon net_access_passed(const struct net_node *node) {
  return ((const struct access *)node)->passed;
}

static void done(struct net_node *node) {
  struct access *access = (struct access *)node;
  if (access->source != NULL) access->source->free(access->source);
  free(access->selection);
  free(access->ids);
  free(access->opened);
  net_rowmap_done(&access->open);
  net_rowmap_done(&access->others);
  net_watching_free(access->watching);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  const struct access *access = (const struct access *)node;
  net_rowmap_mark_strings(&access->open, strings);
  net_watching_mark_strings(access->watching, strings);
}

static size_t state_rows(const struct net_node *node) {
  const struct access *access = (const struct access *)node;
  return access->open.live + net_watching_rows(access->watching);
}

static size_t state_bytes(const struct net_node *node) {
  const struct access *access = (const struct access *)node;
  return net_rowmap_bytes(&access->open) + net_rowmap_bytes(&access->others) +
         access->opened_capacity * sizeof *access->opened + net_watching_bytes(access->watching);
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  net_watching_take(((struct access *)node)->watching, batch);
  return BASE_OK;
}

static struct net_watching *watching_of(struct net_node *node) {
  struct access *access = (struct access *)node;
  BASE_CHECK(node->kind == NET_NODE_ACCESS, "watch-access");
  if (access->watching == NULL) access->watching = net_watching_new();
  return access->watching;
}

void net_access_watch(struct net_node *node, struct net_control *control,
                      const struct net_watch *watch) {
  net_watching_add(watching_of(node), control, watch);
}

void net_access_watch_objects(struct net_node *node, struct net_control *control,
                              const struct net_watch *watch, const struct net_layout *in,
                              uint32_t slot) {
  node->input_layouts[0] = in;
  net_watching_objects(watching_of(node), control, watch, in, slot);
}

void net_access_each_watch(const struct net_node *node,
                           void (*each)(void *context, const struct net_watch *watch),
                           void *context) {
  BASE_CHECK(node->kind == NET_NODE_ACCESS, "watch-access");
  net_watching_each(((const struct access *)node)->watching, each, context);
}

static const struct net_node_class class = {.kind = NET_NODE_ACCESS,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_access(struct net_network *network, const char *name,
                                   const struct net_layout *layout, struct net_source *source,
                                   bool drop_closes) {
  struct access *access = net_node_new(network, sizeof *access, &class, name, layout);
  access->source = source;
  access->drop_closes = drop_closes;
  access->passed = NET_BEGINNING;
  access->gives_ids = layout->tuple_class == NET_PERIOD && layout->may_be_open;
  access->opened_free = NONE;
  net_rowmap_init(&access->open, layout, NET_KEY_IDENTITY, 0, NULL, 0, sizeof(uint64_t));
  net_rowmap_init(&access->others, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(uint32_t));
  return &access->node;
}
