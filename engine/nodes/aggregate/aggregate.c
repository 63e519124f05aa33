/* Aggregate (AggrOp of appendix C; thesis 4.4, 4.5.3 second strategy).
 *
 *      in ──▶ [ function, where, when, by, argument ] ──▶ out      state: groups, members      order: start
 *
 * Changes of what counts wait until the checkpoint passes them (change.c); at each instant with
 * changes the value (value.c) of each group touched is looked at, and where value or certainty
 * differ from before, a segment ends and another begins: maximal periods of constant value. A segment that
 * begins and ends before one checkpoint goes out whole; the last one is open.
 *
 * What counts at an instant: the tuples valid then, as a set over the explicit domains (and over what the
 * function takes from a tuple besides); cumulative, every tuple whose start has come; with a window of w
 * chronons, every tuple that was valid somewhere in the last w. Distinct values (countu) are a set of
 * arguments.
 *
 * The value is that of the tuples that count for sure; while some tuple counts perhaps the segment is
 * omega. A value that cannot be told (an integer sum out of range) is a run-time error, once for a stretch of
 * such values; there is no segment then. It is named by the last tuple that came, or, if that was of another
 * group, by what the group is called and the instant: rows of groups, which may be many, are not kept.  */
#include "engine/nodes/aggregate/aggregate.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/nodes/aggregate/asked.h"

/* So many rows that close go out together. */
#define CLOSES_ROWS 64

#define FEW_GROUPS 64

#define POLL_GROUPS (1 << 16)

/* With more segments to open than that, a node waits while more comes at once: most of them close then. */
#define FEW_FRESH 2

/* --- segments */

/* Has the group result tuples now, and are they omega? */
static bool is_there(const struct net_aggregate *node, const struct net_agg_group *group,
                     bool *omega) {
  *omega = node->function == NET_AGG_AVGC ? group->tainted : group->perhaps > 0;
  if (node->params.by_count == 0) return true;
  enum net_truth there =
      node->params.groups_of_all ? net_agg_is_present(node, group) : net_agg_is_counted(group);
  if (there == NET_UNKNOWN && !node->params.groups_sure) *omega = true;
  return there != NET_FALSE;
}

/* Where avgc stands for a function that is omega only while something is in doubt, its segments end where that
 * changes, though its own value is in doubt for ever. */
static inline bool in_doubt(const struct net_aggregate *node, const struct net_agg_group *group) {
  return node->params.some_only && node->function == NET_AGG_AVGC && group->perhaps > 0;
}

/* What net_agg_tell says of the functions that cannot fail and depend on numbers alone. */
static inline bool is_number(const struct net_aggregate *node) {
  return (node->function == NET_AGG_COUNT || node->function == NET_AGG_ANY) &&
         node->more_count == 0;
}

/* Has the group a value now? An error is reported when it comes, not again while it lasts. */
static bool value_now(struct net_aggregate *node, uint32_t index, net_chronon now,
                      struct net_agg_value *value, bool *omega, enum base_status *status) {
  struct net_agg_group *group = net_agg_group(node, index);
  if (!is_there(node, group, omega)) {
    net_agg_forget_failures(node, index);
    return false;
  }
  bool has = false, failed = group->failed;
  enum net_eval_error error = net_agg_tell(node, group, now, value, &has);
  group->failed = error != NET_EVAL_OK;
  if (error != NET_EVAL_OK && !failed && *status == BASE_OK)
    *status = net_agg_error(node, error, index, now);
  if (node->more_count > 0 && !net_agg_tell_more(node, index, now, status)) return false;
  return has;
}

static void send_closes(struct net_aggregate *node, enum base_status *status) {
  if (node->closes.count == 0) return;
  struct net_batch batch = net_batch_builder_batch(&node->closes, node->node.checkpoint);
  batch.bound = node->node.checkpoint;
  enum base_status sent = net_emit(&node->node, &batch);
  if (*status == BASE_OK) *status = sent;
  net_batch_builder_clear(&node->closes);
}

static union net_slot *put_close(struct net_aggregate *node, uint8_t marks, uint64_t id,
                                 enum base_status *status) {
  if (net_batch_builder_full(&node->closes)) send_closes(node, status);
  return net_batch_builder_add_id(&node->closes, marks | NET_CLOSES, id);
}

/* Segments come in the order of their stops. */
static union net_slot *put_plain(struct net_aggregate *node, net_chronon since,
                                 enum base_status *status) {
  union net_slot *row = net_out_plain(&node->node, node->node.checkpoint, status);
  size_t width = node->node.layout->slot_count;
  if (node->node.out.count > 1) node->node.out.unordered |= row[-(ptrdiff_t)width].i > since;
  return row;
}

static inline void fill_segment(const struct net_aggregate *node, union net_slot *row,
                                struct net_agg_group *group, const union net_slot *key,
                                net_chronon stop) {
  const struct net_layout *out = node->node.layout;
  row[0].i = row[1].i = group->since;
  row[2].i = stop;
  row[3].i = stop == NET_OPEN ? NET_FOREVER : stop;
  for (size_t i = 0; i < node->params.by_count; i++)
    row[out->fields[i].slot] = key[node->by_slots[i]];
  row[node->value_slot] = group->value;
  if (node->is_wide)
    net_row_copy(row + node->value_slot + 1, net_agg_value_rest(node, group),
                 node->value_width - 1);
  if (node->more_count > 0) net_agg_put_more(node, group, row);
}

static void put_segment(struct net_aggregate *node, uint32_t index, net_chronon stop,
                        net_chronon bound, enum base_status *status) {
  struct net_agg_group *group = net_agg_group(node, index);
  uint8_t marks = (uint8_t)(group->omega ? 0 : NET_DEFINITE);
  union net_slot *row;
  if (stop == NET_OPEN || (group->id == 0 && (group->omega || node->chooses_time))) {
    row = net_out_row(&node->node, marks, group->id, bound, status);
  } else if (group->id != 0) {
    row = put_close(node, marks, group->id, status);
  } else {
    row = put_plain(node, group->since, status);
  }
  fill_segment(node, row, group, net_rowmap_row(&node->groups, index), stop);
}

void net_agg_note_fresh(struct net_aggregate *node, struct net_agg_group *group, uint32_t index) {
  if (group->fresh) return;
  group->fresh = true;
  base_grow(&node->fresh, &node->fresh_capacity, node->fresh_count + 1, sizeof *node->fresh);
  node->fresh[node->fresh_count++] = index;
}

static void end_segment(struct net_aggregate *node, struct net_agg_group *group, uint32_t index,
                        net_chronon now, enum base_status *status) {
  if (now > group->since) put_segment(node, index, now, node->node.checkpoint, status);
  net_agg_floor_remove(node, group->value.i);
  group->begun = false;
}

static void begin_segment(struct net_aggregate *node, struct net_agg_group *group, uint32_t index,
                          net_chronon now, bool omega) {
  group->begun = true;
  group->id = 0;
  group->omega = omega;
  group->in_doubt = in_doubt(node, group);
  group->since = now;
  net_agg_note_fresh(node, group, index);
}

/* A segment of a number that ends at NOW, whole. */
static inline void put_number(struct net_aggregate *node, const struct net_agg_group *group,
                              const union net_slot *key, net_chronon now,
                              enum base_status *status) {
  union net_slot *row = put_plain(node, group->since, status);
  row[0].i = row[1].i = group->since;
  row[2].i = row[3].i = now;
  union net_slot *to = row + 4; /* the by fields are first, and have one slot each */
  for (size_t i = 0; i < node->params.by_count; i++) to[i] = key[node->by_slots[i]];
  row[node->value_slot] = group->value;
}

/* The same as look, where the value is a number that the group has. */
static inline void look_at_number(struct net_aggregate *node, struct net_agg_group *group,
                                  uint32_t index, net_chronon now, enum base_status *status) {
  bool omega;
  int64_t values = net_agg_values(node, group);
  bool has = is_there(node, group, &omega) && (values > 0 || !node->params.some_only);
  int64_t value = node->function == NET_AGG_ANY ? values > 0 : values;
  if (group->begun && has && omega == group->omega && value == group->value.i) return;
  if (group->begun) {
    if (now > group->since && group->id == 0 && !group->omega) {
      put_number(node, group, net_rowmap_row(&node->groups, index), now, status);
    } else if (now > group->since) {
      put_segment(node, index, now, node->node.checkpoint, status);
    }
    group->begun = false;
  }
  if (has) begin_segment(node, group, index, now, omega);
  group->value.i = value;
}

static void look(struct net_aggregate *node, struct net_agg_group *group, uint32_t index,
                 net_chronon now, enum base_status *status) {
  struct net_agg_value value;
  bool omega = false;
  bool has = value_now(node, index, now, &value, &omega, status);
  if (group->begun && has && omega == group->omega && in_doubt(node, group) == group->in_doubt &&
      net_agg_same(node, group, &value) &&
      (node->more_count == 0 || net_agg_same_more(node, group)))
    return;
  if (group->begun) end_segment(node, group, index, now, status);
  if (!has) return;
  begin_segment(node, group, index, now, omega);
  net_agg_keep(node, group, &value);
  if (node->more_count > 0) net_agg_keep_more(node, group);
}

/* The same as look for avgc: mostly one period takes another's place. */
static void look_at_average(struct net_aggregate *node, struct net_agg_group *group, uint32_t index,
                            net_chronon now, enum base_status *status) {
  bool omega;
  if (group->begun && is_there(node, group, &omega) && omega == group->omega &&
      in_doubt(node, group) == group->in_doubt && net_agg_average_lasts(node, group, now))
    return;
  look(node, group, index, now, status);
}

/* The same where a group has a tally, which is to be brought to NOW. */
static void look_at_tally(struct net_aggregate *node, struct net_agg_group *group, uint32_t index,
                          net_chronon now, bool begun, enum base_status *status) {
  bool average = node->function == NET_AGG_AVGC;
  if (average) net_agg_integrate(node, group, now);
  if (node->settles) net_agg_settle(node, group);
  if (begun && average) {
    look_at_average(node, group, index, now, status);
  } else if (begun) {
    look(node, group, index, now, status);
  }
}

/* A group that has ended, and of which nothing counts any more, is forgotten, unless they are few: they
 * come again. */
static inline void forget_group(struct net_aggregate *node, struct net_agg_group *group,
                                uint32_t index) {
  if (group->begun || group->references > 0 || node->groups.live <= FEW_GROUPS) return;
  if (net_agg_is_present(node, group) != NET_FALSE) return;
  net_agg_forget_failures(node, index);
  net_agg_group_done(node, group);
  net_agg_group_done_more(node, group);
  net_rowmap_remove(&node->groups, index);
}

/* When something changes next, as far as is known; forever: never. */
static net_chronon next_change(const struct net_aggregate *node) {
  net_chronon next = net_agg_next(node);
  net_chronon stop = net_agg_next_stop(node);
  if (stop < next) next = stop;
  if (node->touched_count > 0 && node->touched_at < next && !node->params.summary)
    next = node->touched_at;
  return next;
}

static void look_at_touched(struct net_aggregate *node, net_chronon now, enum base_status *status) {
  bool begun = node->origin_known && now >= node->origin, number = is_number(node);
  for (size_t i = 0; i < node->touched_count; i++) {
    uint32_t index = node->touched[i];
    struct net_agg_group *group = net_agg_group(node, index);
    group->touched = false;
    if (number) {
      if (begun) look_at_number(node, group, index, now, status);
    } else {
      look_at_tally(node, group, index, now, begun, status);
    }
    if (node->forgets) forget_group(node, group, index);
  }
  node->touched_count = 0;
}

/* All changes before LIMIT, instant by instant. Nothing begins or ends at forever. */
static void advance(struct net_aggregate *node, net_chronon limit, enum base_status *status) {
  if (!node->origin_known && node->latest_origin < limit) net_agg_begin(node, node->latest_origin);
  while (*status == BASE_OK) {
    net_chronon now = next_change(node);
    if (now >= limit) return;
    while (node->heap_count > 0 && net_agg_next(node) == now) {
      struct net_agg_change change;
      net_agg_pop(node, &change);
      net_agg_apply(node, &change);
      net_agg_pass(node, &change);
    }
    while (node->stop_count > 0 && net_agg_next_stop(node) == now) net_agg_stop(node);
    if (!node->params.summary) look_at_touched(node, now, status);
  }
}

static int compare_indices(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void open_segments(struct net_aggregate *node, net_chronon checkpoint,
                          enum base_status *status) {
  if (node->fresh_count > 0)
    qsort(node->fresh, node->fresh_count, sizeof *node->fresh, compare_indices);
  for (size_t i = 0; i < node->fresh_count; i++) {
    uint32_t index = node->fresh[i];
    if (!net_rowmap_live(&node->groups, index)) continue;
    struct net_agg_group *group = net_agg_group(node, index);
    group->fresh = false;
    if (!group->begun || group->id != 0) continue;
    BASE_CHECK(group->since < checkpoint, "aggregate-segment-began");
    group->id = ++node->last_id;
    put_segment(node, index, NET_OPEN, checkpoint, status);
  }
  node->fresh_count = 0;
}

/* --- rows in */

/* To the summary, which takes it as it is, or to the changes that it makes at instants. */
static enum base_status arrive(struct net_aggregate *node, const union net_slot *row,
                               uint8_t marks) {
  bool closes = marks & NET_CLOSES;
  if (!net_agg_has_argument(node, row))
    return closes ? BASE_OK : net_node_error(&node->node, NET_EVAL_FORM, node->params.in, row);
  if (closes || !node->params.summary) return net_agg_arrive(node, row, marks);
  net_agg_sum_in(node, row, marks);
  return BASE_OK;
}

/* The rows of one start, as a set: a row that is there both for sure and perhaps is there for sure. */
static void arrive_together(struct net_aggregate *node, enum base_status *status) {
  for (uint32_t i = 0; i < node->same_start.used && *status == BASE_OK; i++)
    *status = arrive(node, net_rowmap_row(&node->same_start, i),
                     *(uint8_t *)net_rowmap_state(&node->same_start, i));
  net_rowmap_clear(&node->same_start);
}

static void collect_row(struct net_aggregate *node, const union net_slot *row, uint8_t marks,
                        enum base_status *status) {
  bool open = node->params.in->tuple_class == NET_PERIOD && row[2].i == NET_OPEN;
  if (node->set || node->params.apart || open || (marks & NET_CLOSES)) {
    if (*status == BASE_OK) *status = arrive(node, row, marks);
    return;
  }
  uint32_t place = net_rowmap_put(&node->same_start, row, NULL);
  *(uint8_t *)net_rowmap_state(&node->same_start, place) |= marks;
}

void net_agg_come_to(struct net_aggregate *node, net_chronon now, enum base_status *status) {
  if (node->same_start.live > 0 && net_rowmap_row(&node->same_start, 0)[0].i != now)
    arrive_together(node, status);
  advance(node, now, status);
}

/* Closes may name stops beyond what is processed; starts come in order. */
void net_agg_take(struct net_aggregate *node, const union net_slot *row, uint8_t marks,
                  enum base_status *status) {
  if (!(marks & NET_CLOSES)) net_agg_come_to(node, row[0].i, status);
  collect_row(node, row, marks, status);
}

/* What is chosen may have begun long ago. */
static const union net_slot *floors(struct net_aggregate *node, net_chronon checkpoint) {
  if (!node->chooses_time || !node->node.wants_floor || checkpoint == NET_FOREVER) return NULL;
  const struct net_layout *out = node->node.layout;
  union net_slot *floor = node->floor;
  memset(floor, 0, out->slot_count * sizeof *floor);
  floor[0].i = floor[2].i = checkpoint;
  floor[1].i = floor[3].i = NET_FOREVER;
  for (uint32_t slot = node->value_slot; slot < out->slot_count; slot += 2) {
    floor[slot].i = net_agg_floor(node, checkpoint);
    floor[slot + 1].i = NET_FOREVER;
  }
  return floor;
}

static void take_waiting(struct net_aggregate *node, enum base_status *status) {
  struct net_inbox_item item;
  const union net_slot *row;
  while (*status == BASE_OK && (row = net_inbox_next(&node->inbox, &item, NULL)) != NULL)
    net_agg_take(node, row, item.marks, status);
}

/* Are the rows of BATCH plain, and behind all that wait? */
static bool may_go_short(const struct net_aggregate *node, const struct net_batch *batch) {
  const struct net_inbox_port *port = &node->inbox.ports[0];
  const struct net_inbox_queue *starts = &port->starts;
  if (node->way == NET_AGG_LONG || !batch->plain || batch->unordered || batch->count == 0)
    return false;
  if (port->others.head < port->others.count || starts->unsorted) return false;
  return starts->head == starts->count ||
         net_inbox_row(port, starts, starts->count - 1)[0].i <= net_batch_row(batch, 0)[0].i;
}

/* Rows that may be processed at once need not wait in the inbox; the rest does. */
static void take_in(struct net_aggregate *node, unsigned port, const struct net_batch *batch,
                    net_chronon last, enum base_status *status) {
  net_chronon checkpoint = batch->checkpoint > last ? batch->checkpoint : last;
  bool passes = checkpoint > last || checkpoint == NET_FOREVER;
  struct net_batch rest = *batch;
  uint32_t taken = 0;
  if (passes && may_go_short(node, batch)) {
    rest.count = 0;
    net_inbox_add(&node->inbox, port, &rest);
    take_waiting(node, status);
    rest.count = batch->count;
    taken = net_agg_take_plain(node, batch, checkpoint, status);
  }
  rest.count -= taken;
  if (rest.selection != NULL) {
    rest.selection += taken;
  } else {
    rest.rows += (size_t)taken * rest.layout->slot_count;
    rest.marks += taken;
    if (rest.ids != NULL) rest.ids += taken;
  }
  net_inbox_add(&node->inbox, port, &rest);
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct net_aggregate *node = (struct net_aggregate *)base;
  enum base_status status = BASE_OK;
  if (node->asked != NULL && net_asked_take(node->asked, NET_ASKED_ROWS, batch, &status))
    return status;
  if (status != BASE_OK) return status;
  net_chronon last = net_inbox_checkpoint(&node->inbox);
  if (node->counts_open && !net_alike_pass(&node->alike, batch)) {
    net_alike_add(&node->alike, batch, &node->inbox);
  } else {
    take_in(node, port, batch, last, &status);
  }
  net_chronon checkpoint = net_inbox_checkpoint(&node->inbox);
  if (checkpoint == last && checkpoint != NET_FOREVER && !node->waits) return status;
  take_waiting(node, &status);
  arrive_together(node, &status);
  net_inbox_tidy(&node->inbox);
  if (status == BASE_OK) advance(node, checkpoint, &status);
  if (node->params.summary) return status; /* see finish */
  send_closes(node, &status);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, base->checkpoint, NULL);
  node->waits = batch->more && node->fresh_count > FEW_FRESH;
  if (node->waits) return status;
  open_segments(node, checkpoint, &status);
  if (status != BASE_OK) return status;
  return net_out_flush(base, checkpoint, checkpoint, floors(node, checkpoint));
}

/* ... or again and again, what has changed: a time is the number of the run. */
static enum base_status tell_so_far(struct net_aggregate *node) {
  struct net_node *base = &node->node;
  net_chronon now = net_network_runs(base->network);
  enum base_status status = BASE_OK;
  look_at_touched(node, now, &status);
  send_closes(node, &status);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, base->checkpoint, NULL);
  if (status == BASE_OK) open_segments(node, now + 1, &status);
  return status == BASE_OK ? net_out_flush(base, now + 1, now + 1, NULL) : status;
}

/* A summary is told when all rows are there: of each group one segment, whole. */
static enum base_status finish(struct net_node *base) {
  struct net_aggregate *node = (struct net_aggregate *)base;
  enum base_status status = BASE_OK;
  if (!node->params.summary) return status;
  if (node->params.so_far) return tell_so_far(node);
  for (uint32_t i = 0; i < node->groups.used; i++)
    if (net_rowmap_live(&node->groups, i)) net_agg_touch(node, i);
  look_at_touched(node, node->origin, &status);
  for (uint32_t i = 0; i < node->groups.used && status == BASE_OK; i++) {
    if (i % POLL_GROUPS == 0 && base_env_interrupted()) return BASE_CANCEL;
    if (!net_rowmap_live(&node->groups, i) || !net_agg_group(node, i)->begun) continue;
    end_segment(node, net_agg_group(node, i), i, NET_FOREVER, &status);
  }
  node->fresh_count = 0;
  return status == BASE_OK ? net_out_flush(base, NET_FOREVER, NET_FOREVER, NULL) : status;
}

/* --- the node */

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct net_aggregate *node = (const struct net_aggregate *)base;
  net_inbox_mark_strings(&node->inbox, strings);
  net_alike_mark_strings(&node->alike, strings);
  net_rowmap_mark_strings(&node->groups, strings);
  net_rowmap_mark_strings(&node->members, strings);
  net_rowmap_mark_strings(&node->distinct, strings);
  if (net_agg_mark_strings(node, strings)) net_agg_wait_mark_strings(node, strings);
  if (node->last_group != NET_NO_ENTRY)
    net_row_mark_strings(node->params.in, strings, node->last_row);
  if (node->asked != NULL) net_asked_mark_strings(node->asked, strings);
}

/* Groups, and tuples: each once, whatever there is of it. */
static size_t state_rows(const struct net_node *base) {
  const struct net_aggregate *node = (const struct net_aggregate *)base;
  size_t tuples = node->members.live - node->idle_members;
  size_t waiting = node->heap_count + node->stop_count;
  if (tuples < waiting) tuples = waiting;
  /* open ones wait for nothing, but each has a place in the order */
  if (tuples < node->apart.live) tuples = node->apart.live;
  return node->groups.live + tuples + net_inbox_rows(&node->inbox) + node->alike.held.live +
         (node->asked != NULL ? net_asked_rows(node->asked) : 0);
}

static size_t state_bytes(const struct net_node *base) {
  const struct net_aggregate *node = (const struct net_aggregate *)base;
  return net_rowmap_bytes(&node->groups) + net_rowmap_bytes(&node->members) +
         net_rowmap_bytes(&node->distinct) + net_rowmap_bytes(&node->same_start) +
         net_agg_wait_bytes(node) + node->place_capacity * sizeof *node->places +
         node->tuple_capacity * node->tuple_stride * sizeof *node->tuples +
         node->stop_capacity * sizeof *node->stops + node->weight_capacity * sizeof *node->weights +
         node->idle_capacity * sizeof *node->idle + node->fresh_capacity * sizeof *node->fresh +
         net_ordered_bytes(&node->ordered) + net_ordered_bytes(&node->stairs) +
         net_ordered_bytes(&node->apart) + net_ordered_bytes(&node->floors) +
         net_agg_more_bytes(node) + net_inbox_bytes(&node->inbox) + net_alike_bytes(&node->alike) +
         (node->asked != NULL ? net_asked_bytes(node->asked) : 0);
}

static void done(struct net_node *base) {
  struct net_aggregate *node = (struct net_aggregate *)base;
  for (uint32_t i = 0; i < node->groups.used; i++)
    if (net_rowmap_live(&node->groups, i)) {
      net_agg_group_done(node, net_agg_group(node, i));
      net_agg_group_done_more(node, net_agg_group(node, i));
    }
  net_agg_more_done(node);
  if (node->asked != NULL) net_asked_free(node->asked);
  net_inbox_done(&node->inbox);
  net_alike_done(&node->alike);
  net_rowmap_done(&node->groups);
  net_rowmap_done(&node->members);
  net_rowmap_done(&node->distinct);
  net_rowmap_done(&node->same_start);
  net_ordered_done(&node->ordered);
  net_ordered_done(&node->stairs);
  net_ordered_done(&node->apart);
  net_ordered_done(&node->floors);
  net_sum_done(&node->scratch);
  net_batch_builder_done(&node->closes);
  net_agg_wait_done(node);
  free(node->places);
  free(node->stops);
  free(node->idle);
  free(node->weights);
  free(node->tuples);
  free(node->touched);
  free(node->fresh);
}

static const struct net_node_class class = {.kind = NET_NODE_AGGREGATE,
                                            .consume = consume,
                                            .finish = finish,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

/* Functions for which a group has an ordered set of the keys of its tuples, with their starts. */
static bool keeps_tuples(const struct net_aggregate *node) {
  switch (node->function) {
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
    case NET_AGG_VARTS:
    case NET_AGG_AVGTI:
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
      return true;
    default:
      return false;
  }
}

/* May equal tuples differ in what the function takes from them: their starts, or an argument that is
 * computed, of their times perhaps? */
static bool differs_among_equals(const struct net_aggregate *node) {
  return keeps_tuples(node) || node->argument == NET_TEMPORAL || !node->shares_argument;
}

static size_t add_field(const struct net_layout *in, int field, uint32_t *slots, size_t count) {
  if (field < 0) return count;
  for (uint32_t j = 0; j < net_type_slots(in->fields[field].type.base); j++)
    slots[count++] = in->fields[field].slot + j;
  return count;
}

/* What tells members apart: the relation's own domains, and the group; DISTINCT: group and argument. */
static uint32_t *key_slots(struct net_aggregate *node, struct base_arena *arena, bool distinct,
                           size_t *ret_count) {
  const struct net_aggregate_params *params = &node->params;
  const struct net_layout *in = params->in;
  size_t count = 0;
  uint32_t *slots = BASE_NEW_ARRAY(arena, (params->by_count + 2) * in->slot_count + 4, uint32_t);
  for (uint32_t i = 0; i < params->domain_fields && !distinct; i++)
    count = add_field(in, (int)i, slots, count);
  for (size_t i = 0; i < params->by_count; i++)
    if (distinct || params->by_fields[i] >= params->domain_fields)
      count = add_field(in, (int)params->by_fields[i], slots, count);
  if (params->unique) count = add_field(in, params->argument_field, slots, count);
  *ret_count = count;
  return slots;
}

/* Functions to which equal tuples are as good as one. */
static bool ignores_copies(enum net_aggregate_function function) {
  switch (function) {
    case NET_AGG_ANY:
    case NET_AGG_MIN:
    case NET_AGG_MAX:
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
      return true;
    default:
      return false;
  }
}

static void configure(struct net_aggregate *node) {
  const struct net_aggregate_params *params = &node->params;
  bool events = params->in->tuple_class == NET_EVENT;
  bool average = params->function == NET_AGG_AVGC && !events;
  node->function = params->function == NET_AGG_AVGC && events ? NET_AGG_AVG : params->function;
  node->chooses_time = params->function == NET_AGG_EARLIEST || params->function == NET_AGG_LATEST;
  node->set = !params->cumulative && params->window == 0 && !average;
  node->goes = !params->cumulative || average;
  node->longer =
      events ? (params->window ? params->window : 1) : (params->window ? params->window - 1 : 0);
  node->counts_open = !events && (node->chooses_time || (!node->set && !params->apart));
  node->argument = NET_INTEGER;
  if (params->argument_field >= 0) {
    node->argument_slot = params->in->fields[params->argument_field].slot;
    node->argument = params->in->fields[params->argument_field].type.base;
  }
  node->shares_argument =
      node->argument != NET_TEMPORAL &&
      (params->argument_field < (int)params->domain_fields || params->argument_of_domains);
  node->counts_tuples = node->set && !params->unique && node->function == NET_AGG_FIRST;
  node->stands = node->set && !params->unique && !node->counts_tuples && differs_among_equals(node);
  node->stands_in_group = node->stands && node->goes && keeps_tuples(node);
  node->is_apart = node->counts_tuples || node->stands;
  node->timeless = node->set && !differs_among_equals(node);
  for (uint32_t i = 0; i < params->domain_fields; i++)
    node->temporal = node->temporal || params->in->fields[i].type.base == NET_TEMPORAL;
  node->way = net_agg_way(node);
  node->stands_plain = node->stands && node->way == NET_AGG_MEMBER && params->where_field < 0 &&
                       params->when_field < 0;
  node->wants_smallest = net_agg_wants_smallest(node->function);
  node->has_stairs = (node->way == NET_AGG_MEMBER || node->way == NET_AGG_TUPLE) &&
                     (node->function == NET_AGG_MIN || node->function == NET_AGG_MAX ||
                      node->function == NET_AGG_FIRST || node->function == NET_AGG_LAST);
  node->is_wide = average || node->argument == NET_TEMPORAL || node->chooses_time;
  node->names_rows = net_agg_can_fail(node);
  node->adds_integers = (node->function == NET_AGG_SUM || node->function == NET_AGG_AVG) &&
                        node->argument == NET_INTEGER && params->argument_field >= 0;
  node->settles =
      !node->goes && (node->function == NET_AGG_VARTS || node->function == NET_AGG_AVGTI);
  node->remembers = params->by_count == 0 || (params->by_count == 1 && node->way == NET_AGG_WEIGH);
  for (size_t i = 0; i < NET_AGG_RECENT; i++) node->recent[i].place = NET_NO_ENTRY;
  node->forgets = node->goes && params->by_count > 0 && node->function != NET_AGG_AVGC;
}

/* Rows of MAP are asked for nothing but what its key consists of, and SLOT; 0: that is all. */
static void keep_key(struct net_rowmap *map, uint32_t slot) {
  uint32_t first = slot > 0 ? slot : map->layout->slot_count, end = slot > 0 ? slot + 1 : 0;
  for (size_t i = 0; i < map->key_count; i++) {
    if (map->key_slots[i] < first) first = map->key_slots[i];
    if (map->key_slots[i] >= end) end = map->key_slots[i] + 1;
  }
  if (end == 0) first = 0;
  net_rowmap_keep(map, first, end);
}

/* Members have what their function asks for. */
static size_t member_size(const struct net_aggregate *node) {
  return node->stands ? sizeof(struct net_agg_member) : offsetof(struct net_agg_member, standing);
}

static void init_maps(struct net_aggregate *node, struct base_arena *arena) {
  const struct net_aggregate_params *params = &node->params;
  const struct net_layout *in = params->in;
  node->by_slots = BASE_NEW_ARRAY(arena, params->by_count + 1, uint32_t);
  for (size_t i = 0; i < params->by_count; i++)
    node->by_slots[i] = in->fields[params->by_fields[i]].slot;
  size_t member_count, distinct_count;
  uint32_t *members = key_slots(node, arena, false, &member_count);
  uint32_t *distinct = key_slots(node, arena, true, &distinct_count);
  node->floor = base_arena_array(arena, params->out->slot_count, sizeof *node->floor);
  node->scratch_row = base_arena_array(arena, in->slot_count, sizeof *node->scratch_row);
  node->row_slots = BASE_NEW_ARRAY(arena, in->slot_count, uint32_t);
  for (uint32_t i = 0; i < in->slot_count; i++) node->row_slots[i] = i;
  net_inbox_init(&node->inbox, in, NULL, NET_CLOSES_AFTER_STARTS);
  net_alike_init(&node->alike, in);
  node->alike.all = node->chooses_time;
  node->alike.mixed = params->unique || ignores_copies(node->function);
  net_rowmap_init(&node->groups, in, NET_KEY_SLOTS, 0, node->by_slots, params->by_count,
                  net_agg_place_rest(node));
  keep_key(&node->groups, 0);
  net_rowmap_init(&node->members, in, NET_KEY_SLOTS, 0, members, member_count, member_size(node));
  keep_key(&node->members,
           node->shares_argument && params->argument_field >= 0 ? node->argument_slot : 0);
  net_rowmap_init(&node->distinct, in, NET_KEY_SLOTS, 0, distinct, distinct_count,
                  sizeof(struct net_agg_distinct));
  keep_key(&node->distinct, 0);
  net_rowmap_init(&node->same_start, in, NET_KEY_SLOTS, 0, node->row_slots, in->slot_count,
                  sizeof(uint8_t));
}

/* What errors name. */
static void init_names(struct net_aggregate *node, struct base_arena *arena) {
  const struct net_aggregate_params *params = &node->params;
  struct net_field *fields = BASE_NEW_ARRAY(arena, params->by_count + 1, struct net_field);
  for (size_t i = 0; i < params->by_count; i++) {
    fields[i] = params->in->fields[params->by_fields[i]];
    fields[i].computed = false;
  }
  node->group_layout = net_layout_new(arena, NET_EVENT, fields, (uint32_t)params->by_count);
  node->group_row = base_arena_array(arena, node->group_layout->slot_count, sizeof(union net_slot));
  node->last_row = base_arena_array(arena, params->in->slot_count, sizeof(union net_slot));
  node->last_group = NET_NO_ENTRY;
  node->passed_row = base_arena_array(arena, params->in->slot_count, sizeof(union net_slot));
}

struct net_node *net_create_aggregate(struct net_network *network, const char *name,
                                      const struct net_aggregate_params *params) {
  if (params->function == NET_AGG_EXTEND) return net_create_extend(network, name, params);
  struct base_arena *arena = net_network_arena(network);
  struct net_aggregate *node = net_node_new(network, sizeof *node, &class, name, params->out);
  node->node.input_layouts[0] = params->in;
  node->params = *params;
  configure(node);
  net_agg_more_init(node, arena, configure);
  init_maps(node, arena);
  init_names(node, arena);
  net_agg_tally_init(node);
  net_agg_wait_init(node);
  net_agg_plain_init(node);
  net_batch_builder_init(&node->closes, params->out, CLOSES_ROWS);
  node->origin_known = params->origin_given;
  node->origin = params->origin;
  node->latest_origin = NET_FOREVER;
  node->averaging_known = params->averaging_origin_given;
  node->averaging_origin = params->averaging_origin;
  node->value_slot = params->out->fields[params->by_count].slot;
  node->value_width = params->more_count > 0 ? 1 : params->out->slot_count - node->value_slot;
  if (params->by_count == 0) {
    union net_slot *nothing = base_arena_array(arena, params->in->slot_count, sizeof *nothing);
    uint32_t only = net_rowmap_put(&node->groups, nothing, NULL);
    BASE_CHECK(only == 0, "aggregate-only-group");
    if (node->function == NET_AGG_AVGC)
      net_agg_group(node, only)->tally.integrated_to = NET_BEGINNING;
  }
  struct net_agg_change origin = {.group = NET_NO_ENTRY, .member = NET_NO_ENTRY};
  origin.time = params->origin;
  if (params->origin_given) net_agg_push(node, &origin);
  origin.time = params->averaging_origin;
  if (params->averaging_origin_given) net_agg_push(node, &origin);
  return &node->node;
}
