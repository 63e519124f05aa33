/* Clock(n): an event at the origin and every n units after it.
 *
 *      input ──▶ ┌──────────────────┐
 *                │ every n, origin  │ ──▶ out      state: nothing held      order: start
 *      input ──▶ └──────────────────┘              (the second input need not be there)
 *
 * The inputs say how far to tick; of their rows only the times count. Ticks before the smallest of
 * their checkpoints go out, as far as it was promised to the world; when both are at `forever`, ticks up
 * to the latest finite bound that was seen, and those before the latest finite checkpoint that was passed
 * by anything below (net_access_passed). Checkpoints on the way through what is stored promise nothing:
 * where they go further, ticks up to the latest bound go out and the others wait. So it does not matter
 * when the network was built. Several clocks in a row (one above the other, with one more input each)
 * tick as one clock over all the inputs does: ticks are instants, too.
 *
 * Ticks that are due are not sent when the inputs say so, but one batch at a time when net_run pulls
 * the clock: like an access node, it goes on when it is furthest behind. So the nodes above never hold
 * more than a batch of ticks, however many there are, and the user can interrupt.
 *
 * A clock that would tick too often at once is a run-time error (NET_EVAL_TICKS), named by the tick;
 * where that is rejected it stands still from there on. Without an origin it does not tick at all.                                                        */
#include "engine/nodes/clock.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/nodes/access.h"

struct net_clock {
  struct net_node node;
  struct net_clock_params params;
  net_chronon checkpoints[2];
  net_chronon checkpoint; /* the smaller of them */
  net_chronon latest;     /* finite bound of an instant seen, or given; NET_BEGINNING: none */
  net_chronon limit;      /* the last chronon at which a tick is due */
  net_chronon next;       /* tick */
  bool exhausted;         /* there is no tick before the end of time, or it stands still */
  const struct net_node **below; /* this node and all below it, once they were needed */
  size_t below_count, below_capacity;
};

static bool is_finite(net_chronon time) {
  return time != NET_BEGINNING && time != NET_FOREVER;
}

static void note(struct net_clock *clock, net_chronon time) {
  if (is_finite(time) && time > clock->latest) clock->latest = time;
}

static void note_row(struct net_clock *clock, const struct net_layout *layout,
                     const union net_slot *row) {
  note(clock, row[0].i);
  note(clock, row[1].i);
  if (layout->tuple_class == NET_EVENT || row[2].i == NET_OPEN) return;
  note(clock, row[2].i);
  note(clock, row[3].i);
}

/* NODE and all below it, each once. */
static void collect(struct net_clock *clock, const struct net_node *node) {
  for (size_t i = 0; i < clock->below_count; i++)
    if (clock->below[i] == node) return;
  base_grow(&clock->below, &clock->below_capacity, clock->below_count + 1, sizeof *clock->below);
  clock->below[clock->below_count++] = node;
  if (node->kind == NET_NODE_ACCESS) return; /* what controls it is not below it */
  for (unsigned port = 0; port < 2 && node->inputs[port] != NULL; port++)
    collect(clock, node->inputs[port]);
}

/* The latest finite checkpoint that was passed by an access node below. */
static net_chronon passed_below(struct net_clock *clock) {
  net_chronon latest = NET_BEGINNING;
  if (clock->below_count == 0) collect(clock, &clock->node);
  for (size_t i = 0; i < clock->below_count; i++) {
    if (clock->below[i]->kind != NET_NODE_ACCESS) continue;
    net_chronon its = net_access_passed(clock->below[i]);
    if (its > latest) latest = its;
  }
  return latest;
}

/* Looks for the last chronon at which a tick is due. */
static void find_limit(struct net_clock *clock) {
  net_chronon promised = net_chronon_add(passed_below(clock), -1);
  clock->limit = clock->latest > promised ? clock->latest : promised;
  if (clock->checkpoint == NET_FOREVER) return;
  net_chronon before = net_chronon_add(clock->checkpoint, -1);
  if (before < clock->limit) clock->limit = before;
}

static bool ticks(const struct net_clock *clock) {
  return clock->params.origin_given && !clock->exhausted;
}

static bool is_due(const struct net_clock *clock) {
  return ticks(clock) && clock->checkpoint != NET_BEGINNING && clock->next <= clock->limit;
}

/* No tick comes before it any more. */
static net_chronon own_checkpoint(const struct net_clock *clock) {
  bool waits = ticks(clock) && clock->next < clock->checkpoint;
  return waits && (clock->checkpoint != NET_FOREVER || is_due(clock)) ? clock->next
                                                                      : clock->checkpoint;
}

bool net_clock_pulling(const struct net_node *node) {
  return is_due((const struct net_clock *)node);
}

/* Nobody would wait for so many ticks. Where errors are rejected, what is fed goes on without this clock. */
static enum base_status stop(struct net_clock *clock) {
  union net_slot tick[2] = {{.i = clock->next}, {.i = clock->next}};
  enum base_status status = net_node_error(&clock->node, NET_EVAL_TICKS, clock->node.layout, tick);
  if (status != BASE_OK) return status;
  clock->exhausted = true;
  return net_out_flush(&clock->node, clock->checkpoint, clock->checkpoint, NULL);
}

enum base_status net_clock_pull(struct net_node *node) {
  struct net_clock *clock = (struct net_clock *)node;
  enum base_status status = BASE_OK;
  node->fires++;
  uint64_t ticks = ((uint64_t)clock->limit - (uint64_t)clock->next) / (uint64_t)clock->params.every;
  if (ticks >= NET_CLOCK_TICKS_MAX) return stop(clock);
  for (uint32_t i = 0; i < NET_BATCH_ROWS && is_due(clock) && status == BASE_OK; i++) {
    union net_slot *row = net_out_row(node, NET_DEFINITE, 0, clock->next, &status);
    row[0].i = row[1].i = clock->next;
    clock->exhausted = __builtin_add_overflow(clock->next, clock->params.every, &clock->next) ||
                       clock->next == NET_FOREVER;
  }
  if (status != BASE_OK) return status;
  net_chronon checkpoint = own_checkpoint(clock);
  return net_out_flush(node, checkpoint, checkpoint, NULL);
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  struct net_clock *clock = (struct net_clock *)node;
  for (uint32_t i = 0; i < batch->count; i++)
    note_row(clock, batch->layout, net_batch_row(batch, i));
  if (batch->checkpoint > clock->checkpoints[port]) clock->checkpoints[port] = batch->checkpoint;
  net_chronon checkpoint = clock->checkpoints[0];
  if (node->inputs[1] != NULL && clock->checkpoints[1] < checkpoint)
    checkpoint = clock->checkpoints[1];
  clock->checkpoint = checkpoint;
  find_limit(clock);
  if (is_due(clock)) return BASE_OK;
  checkpoint = own_checkpoint(clock);
  return net_out_flush(node, checkpoint, checkpoint, NULL);
}

static void done(struct net_node *node) {
  free(((struct net_clock *)node)->below);
}

static const struct net_node_class class = {
    .kind = NET_NODE_CLOCK, .consume = consume, .done = done};

struct net_node *net_create_clock(struct net_network *network, const char *name,
                                  const struct net_layout *layout,
                                  const struct net_clock_params *params) {
  BASE_CHECK(layout->tuple_class == NET_EVENT && layout->field_count == 0, "clock-layout");
  BASE_CHECK(params->every > 0, "clock-every");
  struct net_clock *clock = net_node_new(network, sizeof *clock, &class, name, layout);
  clock->node.input_layouts[0] = params->left;
  clock->node.input_layouts[1] = params->right;
  clock->params = *params;
  if (!is_finite(params->origin)) clock->params.origin_given = false;
  clock->checkpoints[0] = clock->checkpoints[1] = clock->checkpoint = NET_BEGINNING;
  clock->latest = clock->limit = NET_BEGINNING;
  note(clock, params->latest);
  clock->next = params->origin;
  return &clock->node;
}
