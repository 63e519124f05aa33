/* Samples-to-period: the records of a sampled relation become periods.
 *
 *      in ──▶ [ by ] ──▶ out          state: one run per entity      order: any
 *
 * A *run* is consecutive samples of one entity that are equal in all domains. Its period has
 *
 *      start = [previous sample + 1, first sample]      stop = [last sample + 1, next sample]
 *
 * with `beginning` where the entity has no earlier sample and `forever` where it has no later one.
 * That an entity was not there is a sample, too: an end record (NET_CLOSES) says so of one, the end of a
 * round (NET_ROUND) of each that has had no sample since the round before. Of several records of one
 * entity at one time the last in sequence counts, a sample more than an end; they are gathered until
 * the time has passed. Two samples between which a record of the entity may have been lost (losses.h) are not
 * consecutive: what the entity was in between is not known, as between samples that differ.
 *
 * A run goes out as soon as its first sample is before the checkpoint: open, or whole if its end is,
 * too. The checkpoint passed on is smaller than that of the records: a run that follows starts right
 * behind the last sample of its entity, and an entity never seen has been there since the last round,
 * perhaps; without any round, since the beginning.                                                   */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/inbox.h"
#include "engine/losses.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct samples_to_period {
  struct net_node node;
  struct net_inbox inbox;
  struct net_rowmap runs; /* by entity; rows of the output layout; state: struct run */
  struct net_rowmap
      now; /* by entity: records of the time that is processed; state: struct record */
  net_chronon now_time;
  net_chronon round;                  /* the last; NET_BEGINNING: none */
  uint32_t *run_slots, *record_slots; /* of the entity, in rows of the output and the input */
  uint64_t last_id;
  union net_slot *key;             /* scratch: a row of the output layout */
  const struct net_losses *losses; /* of the records; NULL: none */
  int process;                     /* slot of who made a record; negative: nobody knows */
  bool *divided;                   /* set when they divide a run */
};

struct run {
  net_chronon last; /* sample */
  uint64_t id;      /* went out as an open row; 0: it has not */
  bool gone;        /* the entity was not there at LAST: there is no run */
  bool said;        /* its end has gone out: the checkpoint is at forever */
};

struct record {
  uint8_t marks;
};

static void put(struct samples_to_period *node, uint32_t place, uint8_t marks,
                struct net_instant stop, net_chronon bound, enum base_status *status) {
  const struct run *run = net_rowmap_state(&node->runs, place);
  union net_slot *out = net_out_row(&node->node, marks, run->id, bound, status);
  memcpy(out, net_rowmap_row(&node->runs, place), node->node.layout->slot_count * sizeof *out);
  out[2].i = stop.lo;
  out[3].i = stop.hi;
}

/* The run at PLACE ends; the next sample, with another value, is at NEXT. */
static void finish(struct samples_to_period *node, uint32_t place, net_chronon next,
                   net_chronon bound, enum base_status *status) {
  const struct run *run = net_rowmap_state(&node->runs, place);
  struct net_instant stop = {net_chronon_add(run->last, 1), next};
  put(node, place, run->id != 0 ? NET_DEFINITE | NET_CLOSES : NET_DEFINITE, stop, bound, status);
}

static bool same_values(const struct samples_to_period *node, const union net_slot *period,
                        const union net_slot *record) {
  const struct net_layout *out = node->node.layout, *in = node->inbox.ports[0].layout;
  return memcmp(period + out->first_domain_slot, record + in->first_domain_slot,
                (in->slot_count - in->first_domain_slot) * sizeof *record) == 0;
}

/* Fills in the row of the period that the record begins; BEFORE: the sample before it. */
static void begin(struct samples_to_period *node, uint32_t place, const union net_slot *record,
                  net_chronon before) {
  const struct net_layout *out = node->node.layout, *in = node->inbox.ports[0].layout;
  union net_slot *row = net_rowmap_row(&node->runs, place);
  row[0].i = before == NET_BEGINNING ? NET_BEGINNING : net_chronon_add(before, 1);
  row[1].i = record[0].i;
  row[2].i = NET_OPEN;
  row[3].i = NET_FOREVER;
  memcpy(row + out->first_domain_slot, record + in->first_domain_slot,
         (in->slot_count - in->first_domain_slot) * sizeof *row);
  *(struct run *)net_rowmap_state(&node->runs, place) = (struct run){.last = record[0].i};
}

/* The run of the record's entity, or NET_NO_ENTRY. */
static uint32_t run_of(struct samples_to_period *node, const union net_slot *record, bool make,
                       bool *ret_fresh) {
  union net_slot *key = node->key;
  for (size_t i = 0; i < node->runs.key_count; i++)
    key[node->run_slots[i]] = record[node->record_slots[i]];
  uint32_t place =
      make ? net_rowmap_put(&node->runs, key, ret_fresh) : net_rowmap_find(&node->runs, key);
  return place;
}

/* Has a record of the entity perhaps been lost between the last sample of RUN and RECORD? */
static bool may_lack(const struct samples_to_period *node, const struct run *run,
                     const union net_slot *record) {
  net_chronon at;
  if (node->losses == NULL) return false;
  base_string_id process = node->process < 0 ? 0 : record[node->process].s;
  return net_losses_between(node->losses, process, run->last, record[0].i, &at);
}

static void sample(struct samples_to_period *node, const union net_slot *record, net_chronon bound,
                   enum base_status *status) {
  bool fresh;
  uint32_t place = run_of(node, record, true, &fresh);
  struct run *run = net_rowmap_state(&node->runs, place);
  net_chronon before = fresh ? node->round : run->last;
  if (!fresh && run->gone && node->round > before) before = node->round;
  if (!fresh && !run->gone) {
    bool same = same_values(node, net_rowmap_row(&node->runs, place), record);
    if (same && !may_lack(node, run, record)) {
      run->last = record[0].i;
      return;
    }
    if (same) *node->divided = true;
    finish(node, place, record[0].i, bound, status);
  }
  begin(node, place, record, before);
}

static void end(struct samples_to_period *node, const union net_slot *record, net_chronon bound,
                enum base_status *status) {
  uint32_t place = run_of(node, record, false, NULL);
  if (place == NET_NO_ENTRY) return;
  struct run *run = net_rowmap_state(&node->runs, place);
  if (run->gone) return;
  finish(node, place, record[0].i, bound, status);
  *run = (struct run){.last = record[0].i, .gone = true};
}

/* Who has had no sample since the round before was not there at TIME. Several machines sample at the same ticks, and each
 * says that its round is complete: these are one round, and the samples of all of them stand before it. */
static void end_round(struct samples_to_period *node, net_chronon time, net_chronon bound,
                      enum base_status *status) {
  if (node->round == time) return;
  for (uint32_t i = 0; (i = net_rowmap_next(&node->runs, i)) < node->runs.used; i++) {
    const struct run *run = net_rowmap_state(&node->runs, i);
    if (run->gone) {
      net_rowmap_remove(&node->runs, i); /* the round says as much, and of a later time */
    } else if (node->round != NET_BEGINNING && run->last <= node->round) {
      finish(node, i, time, bound, status);
      net_rowmap_remove(&node->runs, i);
    }
  }
  node->round = time;
}

/* The records of one time are complete. */
static void settle(struct samples_to_period *node, net_chronon bound, enum base_status *status) {
  for (uint32_t i = 0; (i = net_rowmap_next(&node->now, i)) < node->now.used; i++) {
    const union net_slot *row = net_rowmap_row(&node->now, i);
    const struct record *record = net_rowmap_state(&node->now, i);
    if (record->marks & NET_CLOSES)
      end(node, row, bound, status);
    else
      sample(node, row, bound, status);
    net_rowmap_remove(&node->now, i);
  }
}

static void gather(struct samples_to_period *node, const union net_slot *row, uint8_t marks) {
  uint32_t place = net_rowmap_put(&node->now, row, NULL);
  memcpy(net_rowmap_row(&node->now, place), row,
         node->inbox.ports[0].layout->slot_count * sizeof *row);
  ((struct record *)net_rowmap_state(&node->now, place))->marks = marks;
}

/* At bound BOUND all runs that have not gone out go out. Returns the earliest start of a run to come. */
static net_chronon open_runs(struct samples_to_period *node, net_chronon checkpoint,
                             enum base_status *status) {
  static const struct net_instant open = {NET_OPEN, NET_FOREVER};
  net_chronon earliest =
      node->round == NET_BEGINNING ? NET_BEGINNING : net_chronon_add(node->round, 1);
  for (uint32_t i = 0; (i = net_rowmap_next(&node->runs, i)) < node->runs.used; i++) {
    const struct run *run = net_rowmap_state(&node->runs, i);
    net_chronon next = net_chronon_add(run->last, 1);
    if (!run->gone && next < earliest) earliest = next;
  }
  if (checkpoint < earliest) earliest = checkpoint;
  for (uint32_t i = 0; (i = net_rowmap_next(&node->runs, i)) < node->runs.used; i++) {
    struct run *run = net_rowmap_state(&node->runs, i);
    if (run->gone || run->id != 0) continue;
    run->id = ++node->last_id;
    put(node, i, NET_DEFINITE, open, earliest, status);
  }
  return earliest;
}

/* No sample will follow: the runs end at an unknown time after their last. */
static void end_all(struct samples_to_period *node, net_chronon bound, enum base_status *status) {
  for (uint32_t i = 0; (i = net_rowmap_next(&node->runs, i)) < node->runs.used; i++) {
    struct run *run = net_rowmap_state(&node->runs, i);
    if (run->gone || run->said) continue;
    finish(node, i, NET_FOREVER, bound, status);
    run->said = true;
  }
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct samples_to_period *node = (struct samples_to_period *)base;
  net_inbox_add(&node->inbox, port, batch);
  net_chronon checkpoint = net_inbox_checkpoint(&node->inbox);
  enum base_status status = BASE_OK;
  struct net_inbox_item item;
  const union net_slot *row;
  while (status == BASE_OK && (row = net_inbox_next(&node->inbox, &item, NULL)) != NULL) {
    if (item.time != node->now_time || (item.marks & NET_ROUND))
      settle(node, base->checkpoint, &status);
    node->now_time = item.time;
    if (item.marks & NET_ROUND)
      end_round(node, item.time, base->checkpoint, &status);
    else
      gather(node, row, item.marks);
  }
  settle(node, base->checkpoint, &status);
  net_inbox_tidy(&node->inbox);
  if (checkpoint == NET_FOREVER) end_all(node, base->checkpoint, &status);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, base->checkpoint, NULL);
  if (status != BASE_OK || checkpoint == NET_FOREVER)
    return status != BASE_OK ? status : net_out_flush(base, NET_FOREVER, NET_FOREVER, NULL);
  net_chronon earliest = open_runs(node, checkpoint, &status);
  return status == BASE_OK ? net_out_flush(base, earliest, earliest, NULL) : status;
}

void net_samples_set_losses(struct net_node *base, const struct net_losses *losses, int process,
                            bool *divided) {
  struct samples_to_period *node = (struct samples_to_period *)base;
  BASE_CHECK(base->kind == NET_NODE_SAMPLES_TO_PERIOD, "samples-losses-kind");
  const struct net_layout *in = node->inbox.ports[0].layout;
  node->losses = losses;
  node->divided = divided;
  node->process = process < 0 ? -1 : (int)in->fields[process].slot;
}

void net_samples_each_run(const struct net_node *base,
                          void (*each)(void *context, const union net_slot *row), void *context) {
  BASE_CHECK(base->kind == NET_NODE_SAMPLES_TO_PERIOD, "each-run-kind");
  const struct samples_to_period *node = (const struct samples_to_period *)base;
  size_t slots = base->layout->slot_count;
  union net_slot *row = base_xcalloc(slots, sizeof *row);
  for (uint32_t i = 0; (i = net_rowmap_next(&node->runs, i)) < node->runs.used; i++) {
    const struct run *run = net_rowmap_state(&node->runs, i);
    if (run->gone) continue;
    memcpy(row, net_rowmap_row(&node->runs, i), slots * sizeof *row);
    row[2].i = net_chronon_add(run->last, 1);
    row[3].i = NET_FOREVER;
    each(context, row);
  }
  free(row);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct samples_to_period *node = (const struct samples_to_period *)base;
  net_inbox_mark_strings(&node->inbox, strings);
  net_rowmap_mark_strings(&node->runs, strings);
}

static size_t state_rows(const struct net_node *base) {
  const struct samples_to_period *node = (const struct samples_to_period *)base;
  return node->runs.live + net_inbox_rows(&node->inbox);
}

static size_t state_bytes(const struct net_node *base) {
  const struct samples_to_period *node = (const struct samples_to_period *)base;
  return net_rowmap_bytes(&node->runs) + net_rowmap_bytes(&node->now) +
         net_inbox_bytes(&node->inbox);
}

static void done(struct net_node *base) {
  struct samples_to_period *node = (struct samples_to_period *)base;
  net_inbox_done(&node->inbox);
  net_rowmap_done(&node->runs);
  net_rowmap_done(&node->now);
}

static const struct net_node_class class = {.kind = NET_NODE_SAMPLES_TO_PERIOD,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_samples_to_period(struct net_network *network, const char *name,
                                              const struct net_layout *in,
                                              const struct net_layout *out,
                                              const struct net_key *by) {
  BASE_CHECK(in->tuple_class == NET_EVENT && out->tuple_class == NET_PERIOD, "stop-classes");
  struct samples_to_period *node = net_node_new(network, sizeof *node, &class, name, out);
  node->node.input_layouts[0] = in;
  net_inbox_init(&node->inbox, in, NULL, NET_CLOSES_BEFORE_RECORDS);
  struct base_arena *arena = net_network_arena(network);
  node->run_slots = base_arena_array(arena, by->count + 1, sizeof(uint32_t));
  node->record_slots = base_arena_array(arena, by->count + 1, sizeof(uint32_t));
  for (size_t i = 0; i < by->count; i++) {
    node->run_slots[i] = out->fields[by->fields[i]].slot;
    node->record_slots[i] = in->fields[by->fields[i]].slot;
  }
  net_rowmap_init(&node->runs, out, NET_KEY_SLOTS, 0, node->run_slots, by->count,
                  sizeof(struct run));
  net_rowmap_init(&node->now, in, NET_KEY_SLOTS, 0, node->record_slots, by->count,
                  sizeof(struct record));
  node->key = base_arena_array(arena, out->slot_count, sizeof *node->key);
  node->now_time = NET_BEGINNING;
  node->round = NET_BEGINNING;
  return &node->node;
}
