/* Selection: passes the tuples for which the predicate is not false.
 *
 *      in ──▶ [ predicate ] ──▶ out          state: undecided rows      order: kept
 *
 * A tuple for which it is unknown passes as not definite (thesis 4.5.1). Where the predicate reads a
 * stop that is still open, unknown may mean "not yet decided": such a row waits here until the
 * checkpoint or its close decides (Kleene's logic never takes a T or F back). Predicates that read no
 * stop keep no state.                                                                               */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"
#include "engine/nodes/product/behind.h"
#include "engine/rowmap.h"

struct selection {
  struct net_node node;
  const struct net_program *predicate;
  bool may_wait;
  struct net_rowmap held; /* by id: open rows that wait, or have passed */
  size_t waiting;         /* how many wait */
  uint32_t *selected;
  uint8_t *marks;
  size_t selected_capacity, marks_capacity;
  union net_slot *floor, *scratch; /* rows */
};

struct held_state {
  uint8_t marks; /* of one that passed: as it went out */
  bool waiting;
};

enum verdict { DROP, PASS, PASS_OMEGA, WAIT, FAILED };

static enum verdict judge(struct selection *selection, const union net_slot *row, uint8_t marks,
                          net_chronon bound, enum base_status *status) {
  const struct net_layout *layout = selection->node.layout;
  struct net_value value;
  if (layout->may_be_open) bound = net_row_bound(layout, row, marks, bound);
  enum net_eval_error error = net_program_run(selection->predicate, row, bound, &value);
  if (error != NET_EVAL_OK) {
    *status = net_node_error(&selection->node, error, layout, row);
    return *status == BASE_OK ? DROP : FAILED;
  }
  if (value.truth == NET_TRUE) return PASS;
  if (value.truth == NET_FALSE) return DROP;
  if (selection->may_wait && bound != NET_FOREVER && net_row_is_open(layout, row)) return WAIT;
  return PASS_OMEGA;
}

static void put(struct selection *selection, const union net_slot *row, uint8_t marks, uint64_t id,
                net_chronon bound, enum base_status *status) {
  bool closes = (marks & NET_CLOSES) != 0;
  if (!closes && !net_row_is_open(selection->node.layout, row)) id = 0;
  memcpy(net_out_row(&selection->node, marks, id, bound, status), row,
         selection->node.layout->slot_count * sizeof *row);
}

static void hold(struct selection *selection, const union net_slot *row, uint8_t marks, uint64_t id,
                 bool waiting) {
  uint32_t place = net_rowmap_put_id(&selection->held, id, row);
  struct held_state *state = net_rowmap_state(&selection->held, place);
  selection->waiting += waiting;
  selection->waiting -= state->waiting;
  *state = (struct held_state){.marks = marks & NET_DEFINITE, .waiting = waiting};
}

static void release(struct selection *selection, uint32_t place) {
  const struct held_state *state = net_rowmap_state(&selection->held, place);
  selection->waiting -= state->waiting;
  net_rowmap_remove(&selection->held, place);
}

/* A row that is new, or waited until now: marks without NET_CLOSES. */
static void decide(struct selection *selection, const union net_slot *row, uint8_t marks,
                   uint8_t judged_marks, uint64_t id, net_chronon bound, enum base_status *status) {
  enum verdict verdict = judge(selection, row, judged_marks, bound, status);
  bool open = net_row_is_open(selection->node.layout, row);
  if (verdict == PASS_OMEGA) marks &= (uint8_t)~NET_DEFINITE;
  if (verdict == PASS || verdict == PASS_OMEGA) put(selection, row, marks, id, bound, status);
  if (open && (verdict == WAIT || verdict == PASS || verdict == PASS_OMEGA)) {
    hold(selection, row, marks, id, verdict == WAIT);
  } else if (id != 0) {
    uint32_t place = net_rowmap_find_id(&selection->held, id);
    if (place != NET_NO_ENTRY) release(selection, place);
  }
}

/* Rows that can wait go out one by one, since what passes is not a part of the input batch. The
 * closes of rows that were dropped are dropped. */
static void settle(struct selection *selection, const union net_slot *row, uint8_t marks,
                   uint64_t id, net_chronon bound, enum base_status *status) {
  uint8_t definite = marks & NET_DEFINITE;
  if (!(marks & NET_CLOSES)) {
    decide(selection, row, definite, marks, id, bound, status);
    return;
  }
  uint32_t place = net_rowmap_find_id(&selection->held, id);
  if (place == NET_NO_ENTRY) return;
  const struct held_state *state = net_rowmap_state(&selection->held, place);
  if (state->waiting) {
    decide(selection, row, definite, marks, id, bound, status);
    return;
  }
  put(selection, row, state->marks | NET_CLOSES, id, bound, status);
  if (!net_row_is_open(selection->node.layout, row)) release(selection, place);
}

/* What waits may be decided by the new CHECKPOINT. Returns the earliest start that still waits. */
static net_chronon settle_waiting(struct selection *selection, net_chronon checkpoint,
                                  enum base_status *status) {
  const struct net_layout *layout = selection->node.layout;
  net_chronon earliest = NET_FOREVER;
  union net_slot *row = selection->scratch;
  for (uint32_t i = 0; i < selection->held.used && *status == BASE_OK; i++) {
    if (!net_rowmap_live(&selection->held, i)) continue;
    const struct held_state *state = net_rowmap_state(&selection->held, i);
    if (!state->waiting) continue;
    memcpy(row, net_rowmap_row(&selection->held, i), layout->slot_count * sizeof *row);
    decide(selection, row, state->marks, state->marks, net_rowmap_id(&selection->held, i),
           checkpoint, status);
    if (net_rowmap_live(&selection->held, i) && state->waiting && row[0].i < earliest)
      earliest = row[0].i;
  }
  return earliest;
}

/* What waits may still come: its instants bound the floor, too. */
static const union net_slot *lower_floor(struct selection *selection, const union net_slot *floor) {
  const struct net_layout *layout = selection->node.layout;
  if (floor == NULL || selection->waiting == 0) return floor;
  memcpy(selection->floor, floor, layout->slot_count * sizeof *floor);
  for (uint32_t i = 0; (i = net_rowmap_next(&selection->held, i)) < selection->held.used; i++) {
    if (!((struct held_state *)net_rowmap_state(&selection->held, i))->waiting) continue;
    const union net_slot *waiting = net_rowmap_row(&selection->held, i);
    for (uint32_t f = 0; f < layout->field_count; f++) {
      uint32_t slot = layout->fields[f].slot;
      if (layout->fields[f].type.base != NET_INSTANT || layout->fields[f].openable) continue;
      if (waiting[slot].i < selection->floor[slot].i) selection->floor[slot] = waiting[slot];
    }
  }
  return selection->floor;
}

static enum base_status consume_waiting(struct selection *selection,
                                        const struct net_batch *batch) {
  struct net_node *node = &selection->node;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++)
    settle(selection, net_batch_row(batch, i), net_batch_marks(batch, i), net_batch_id(batch, i),
           batch->bound, &status);
  if (status != BASE_OK) return status;
  /* The rows settled above were at batch->bound; what waits is now at the checkpoint. */
  status = net_out_flush(node, node->checkpoint, batch->bound, NULL);
  net_chronon checkpoint = batch->checkpoint, lasting = net_batch_lasting(batch);
  if (status == BASE_OK && selection->waiting > 0) {
    net_chronon earliest = settle_waiting(selection, lasting, &status);
    if (earliest < checkpoint) checkpoint = earliest;
  }
  if (status != BASE_OK) return status;
  return net_out_settle(node, checkpoint, lasting, lower_floor(selection, batch->floor));
}

/* Rows that cannot wait: those that pass are a part of the input batch. */
static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct selection *selection = (struct selection *)node;
  /* Plain rows wait for nothing; what is held is looked at again with each batch. */
  if (selection->may_wait && !(batch->plain && selection->held.live == 0))
    return consume_waiting(selection, batch);
  base_grow(&selection->selected, &selection->selected_capacity, batch->count,
            sizeof *selection->selected);
  bool omegas = false;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count; i++) selection->selected[i] = net_batch_index(batch, i);
  uint32_t kept = batch->count, count = batch->count;
  if (!node->general && net_program_select(selection->predicate, batch->plain, batch->rows,
                                           batch->layout->slot_count, selection->selected, &kept)) {
    count = 0;
  } else {
    kept = 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = net_batch_index(batch, i);
    enum verdict verdict =
        judge(selection, net_batch_row(batch, i), batch->marks[index], batch->bound, &status);
    if (verdict == FAILED) return status;
    if (verdict == DROP) continue;
    if (verdict == PASS_OMEGA && (batch->marks[index] & NET_DEFINITE)) {
      if (!omegas) {
        /* Marks are indexed like the rows: copy all that a selection may name. */
        for (uint32_t j = 0; j < batch->count; j++) {
          uint32_t other = net_batch_index(batch, j);
          base_grow(&selection->marks, &selection->marks_capacity, (size_t)other + 1,
                    sizeof *selection->marks);
          selection->marks[other] = batch->marks[other];
        }
        omegas = true;
      }
      selection->marks[index] &= (uint8_t)~NET_DEFINITE;
    }
    selection->selected[kept++] = index;
  }
  struct net_batch out = *batch;
  out.layout = node->layout;
  out.selection = selection->selected;
  out.count = kept;
  if (omegas) out.marks = selection->marks;
  out.plain = batch->plain && !omegas;
  bool news = out.checkpoint > node->checkpoint || out.floor != NULL || (node->more && !out.more);
  if (kept == 0 && !news) return BASE_OK;
  return net_emit(node, &out);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct selection *)node)->held, strings);
}

static size_t state_rows(const struct net_node *node) {
  return ((const struct selection *)node)->held.live;
}

static size_t state_bytes(const struct net_node *node) {
  return net_rowmap_bytes(&((const struct selection *)node)->held);
}

static void done(struct net_node *node) {
  struct selection *selection = (struct selection *)node;
  net_rowmap_done(&selection->held);
  free(selection->selected);
  free(selection->marks);
}

static const struct net_node_class class = {.kind = NET_NODE_SELECTION,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

const struct net_program *net_selection_predicate(const struct net_node *node) {
  BASE_CHECK(node->kind == NET_NODE_SELECTION, "selection-kind");
  return ((const struct selection *)node)->predicate;
}

struct net_node *net_create_selection(struct net_network *network, const char *name,
                                      const struct net_layout *layout,
                                      const struct net_program *predicate) {
  struct selection *selection = net_node_new(network, sizeof *selection, &class, name, layout);
  selection->node.input_layouts[0] = layout;
  selection->predicate = predicate;
  selection->may_wait = predicate->reads_open && layout->may_be_open;
  net_rowmap_init(&selection->held, layout, NET_KEY_ID, 0, NULL, 0, sizeof(struct held_state));
  struct base_arena *arena = net_network_arena(network);
  selection->floor = base_arena_array(arena, layout->slot_count, sizeof *selection->floor);
  selection->scratch = base_arena_array(arena, layout->slot_count, sizeof *selection->scratch);
  return &selection->node;
}
