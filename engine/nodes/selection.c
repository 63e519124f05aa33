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
#include "engine/rowmap.h"

struct selection {
  struct net_node node;
  const struct net_program *predicate;
  bool may_wait;
  struct net_rowmap waiting; /* versions of rows; state: marks */
  uint32_t *selected;
  uint8_t *marks;
  size_t selected_capacity, marks_capacity;
  union net_slot *floor;
};

/* How many open rows of this version wait, have passed, were dropped. Those that are decided are kept
 * so that a close is never taken for that of another row, alike in all but what is known of its stops. */
struct waiting_state {
  uint8_t marks;
  uint32_t waiting, passed, dropped;
};

enum verdict { DROP, PASS, PASS_OMEGA, WAIT, FAILED };

static enum verdict judge(struct selection *selection, const union net_slot *row, uint8_t marks,
                          net_chronon bound, enum base_status *status) {
  const struct net_layout *layout = selection->node.layout;
  bound = net_row_bound(layout, row, marks, bound);
  struct net_value value;
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

static struct waiting_state *note(struct selection *selection, const union net_slot *row,
                                  uint8_t marks) {
  uint32_t place = net_rowmap_put_version(&selection->waiting, row, marks, NULL);
  struct waiting_state *state = net_rowmap_state(&selection->waiting, place);
  state->marks = marks & NET_DEFINITE;
  return state;
}

/* What has become so far of the row that ROW closes: WAIT, PASS or DROP; it is no longer noted. */
static enum verdict release(struct selection *selection, const union net_slot *row, uint8_t marks) {
  uint32_t place = net_rowmap_find_version(&selection->waiting, row, marks);
  if (place == NET_NO_ENTRY) return PASS;
  struct waiting_state *state = net_rowmap_state(&selection->waiting, place);
  enum verdict fate = state->waiting > 0 ? WAIT : state->passed > 0 ? PASS : DROP;
  if (fate == WAIT) state->waiting--;
  if (fate == PASS) state->passed--;
  if (fate == DROP) state->dropped--;
  if (state->waiting == 0 && state->passed == 0 && state->dropped == 0)
    net_rowmap_remove(&selection->waiting, place);
  return fate;
}

/* Rows that can wait go out one by one, since what passes is not a part of the input batch. */
static enum base_status settle(struct selection *selection, const union net_slot *row,
                               uint8_t marks, net_chronon bound) {
  enum base_status status = BASE_OK;
  bool open = net_row_is_open(selection->node.layout, row);
  enum verdict fate = marks & NET_CLOSES ? release(selection, row, marks) : WAIT;
  uint8_t own = marks;
  if (fate == WAIT) marks &= (uint8_t)~NET_CLOSES; /* it never went out */
  enum verdict verdict = fate == DROP ? DROP : judge(selection, row, marks, bound, &status);
  if (verdict == WAIT) {
    note(selection, row, own)->waiting++;
    return status;
  }
  if (open) {
    struct waiting_state *state = note(selection, row, own);
    if (verdict == PASS || verdict == PASS_OMEGA) state->passed++;
    else state->dropped++;
  }
  if (verdict == PASS || verdict == PASS_OMEGA) {
    if (verdict == PASS_OMEGA) marks &= (uint8_t)~NET_DEFINITE;
    memcpy(net_out_row(&selection->node, marks, bound, &status), row,
           selection->node.layout->slot_count * sizeof *row);
  }
  return status;
}

static enum base_status consume_waiting(struct selection *selection,
                                        const struct net_batch *batch) {
  struct net_node *node = &selection->node;
  const struct net_layout *layout = node->layout;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++)
    status = settle(selection, net_batch_row(batch, i), net_batch_marks(batch, i), batch->bound);
  if (status != BASE_OK) return status;
  /* The rows settled above were at batch->bound; what waits is now at the checkpoint. */
  status = net_out_flush(node, node->checkpoint, batch->bound, NULL);
  if (status != BASE_OK) return status;
  net_chronon checkpoint = batch->checkpoint;
  bool any = false;
  union net_slot *row = base_xcalloc(layout->slot_count, sizeof *row);
  for (uint32_t i = 0; i < selection->waiting.used && status == BASE_OK; i++) {
    if (!net_rowmap_live(&selection->waiting, i)) continue;
    struct waiting_state *state = net_rowmap_state(&selection->waiting, i);
    if (state->waiting == 0) continue;
    memcpy(row, net_rowmap_row(&selection->waiting, i), layout->slot_count * sizeof *row);
    uint8_t marks = state->marks;
    enum verdict verdict = judge(selection, row, marks, batch->checkpoint, &status);
    if (verdict == WAIT) {
      any = true;
      if (row[0].i < checkpoint) checkpoint = row[0].i;
      continue;
    }
    if (verdict == PASS || verdict == PASS_OMEGA) {
      if (verdict == PASS_OMEGA) marks &= (uint8_t)~NET_DEFINITE;
      for (uint32_t n = 0; n < state->waiting; n++)
        memcpy(net_out_row(node, marks, batch->checkpoint, &status), row,
               layout->slot_count * sizeof *row);
      state->passed += state->waiting;
    } else {
      state->dropped += state->waiting;
    }
    state->waiting = 0;
  }
  const union net_slot *floor = batch->floor;
  if (floor != NULL && any) {
    /* What waits may still come: its instants bound the floor, too. */
    memcpy(selection->floor, floor, layout->slot_count * sizeof *floor);
    for (uint32_t i = 0; i < selection->waiting.used; i++) {
      if (!net_rowmap_live(&selection->waiting, i)) continue;
      const struct waiting_state *state = net_rowmap_state(&selection->waiting, i);
      if (state->waiting == 0) continue;
      const union net_slot *waiting = net_rowmap_row(&selection->waiting, i);
      for (uint32_t f = 0; f < layout->field_count; f++) {
        uint32_t slot = layout->fields[f].slot;
        if (layout->fields[f].type.base != NET_INSTANT || layout->fields[f].openable) continue;
        if (waiting[slot].i < selection->floor[slot].i) selection->floor[slot] = waiting[slot];
      }
    }
    floor = selection->floor;
  }
  free(row);
  if (status != BASE_OK) return status;
  return net_out_flush(node, checkpoint, batch->checkpoint, floor);
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct selection *selection = (struct selection *)node;
  if (selection->may_wait) return consume_waiting(selection, batch);
  base_grow(&selection->selected, &selection->selected_capacity, batch->count,
            sizeof *selection->selected);
  uint32_t kept = 0;
  bool omegas = false;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count; i++) {
    uint32_t index = net_batch_index(batch, i);
    enum verdict verdict =
        judge(selection, net_batch_row(batch, i), batch->marks[index], batch->bound, &status);
    if (verdict == FAILED) return status;
    if (verdict == DROP) continue;
    if (verdict == PASS_OMEGA && (batch->marks[index] & NET_DEFINITE)) {
      if (!omegas) {
        base_grow(&selection->marks, &selection->marks_capacity, NET_BATCH_ROWS,
                  sizeof *selection->marks);
        /* Marks are indexed like the rows: copy all that a selection may name. */
        for (uint32_t j = 0; j < batch->count; j++) {
          uint32_t other = net_batch_index(batch, j);
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
  if (kept == 0 && out.checkpoint <= node->checkpoint && out.floor == NULL) return BASE_OK;
  return net_emit(node, &out);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct selection *)node)->waiting, strings);
}

static size_t state_rows(const struct net_node *node) {
  return ((const struct selection *)node)->waiting.live;
}

static void done(struct net_node *node) {
  struct selection *selection = (struct selection *)node;
  net_rowmap_done(&selection->waiting);
  free(selection->selected);
  free(selection->marks);
}

static const struct net_node_class class = {.kind = NET_NODE_SELECTION,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .done = done};

struct net_node *net_create_selection(struct net_network *network, const char *name,
                                      const struct net_layout *layout,
                                      const struct net_program *predicate) {
  struct selection *selection = net_node_new(network, sizeof *selection, &class, name, layout);
  selection->node.input_layouts[0] = layout;
  selection->predicate = predicate;
  selection->may_wait = predicate->reads_open && layout->may_be_open;
  net_rowmap_init(&selection->waiting, layout, NET_KEY_VERSION, 0, NULL, 0,
                  sizeof(struct waiting_state));
  selection->floor =
      base_arena_array(net_network_arena(network), layout->slot_count, sizeof *selection->floor);
  return &selection->node;
}
