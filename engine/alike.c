/* See alike.h. A group with one open row left, the others of which have closed before the checkpoint, is
 * settled: its last row stops elsewhere. At forever all rows that are still open stop together. No row of
 * a group comes when the checkpoint has passed its start.                                           */
#include "engine/alike.h"

#include <string.h>

/* What is there perhaps, and what is there for sure. */
struct group {
  uint32_t open[2];
  net_chronon closed_until[2]; /* the latest stop of those that closed while others were held */
};

static bool is_sure(uint8_t marks) {
  return (marks & NET_DEFINITE) != 0;
}

void net_alike_init(struct net_alike *alike, const struct net_layout *layout) {
  *alike = (struct net_alike){.layout = layout, .checkpoint = NET_BEGINNING};
  net_rowmap_init(&alike->held, layout, NET_KEY_ID, 0, NULL, 0, sizeof(uint8_t));
  net_rowmap_init(&alike->groups, layout, NET_KEY_IDENTITY, 0, NULL, 0, sizeof(struct group));
}

void net_alike_done(struct net_alike *alike) {
  net_rowmap_done(&alike->held);
  net_rowmap_done(&alike->groups);
}

static void send(const struct net_alike *alike, struct net_inbox *inbox, const union net_slot *row,
                 uint8_t marks, uint64_t id) {
  struct net_batch batch = {.layout = alike->layout,
                            .rows = row,
                            .marks = &marks,
                            .ids = &id,
                            .count = 1,
                            .checkpoint = NET_BEGINNING,
                            .bound = NET_BEGINNING};
  net_inbox_add(inbox, 0, &batch);
}

static struct group *group_of(struct net_alike *alike, const union net_slot *row) {
  bool fresh;
  struct group *group =
      net_rowmap_state(&alike->groups, net_rowmap_put(&alike->groups, row, &fresh));
  if (fresh) group->closed_until[0] = group->closed_until[1] = NET_BEGINNING;
  return group;
}

/* A row that is whole, but stops where an open one that is alike may stop yet. */
static void remember(struct net_alike *alike, const union net_slot *row, uint8_t marks) {
  net_chronon *until = &group_of(alike, row)->closed_until[is_sure(marks)];
  if (row[3].i > *until) *until = row[3].i;
}

static void hold(struct net_alike *alike, const union net_slot *row, uint8_t marks, uint64_t id) {
  *(uint8_t *)net_rowmap_state(&alike->held, net_rowmap_put_id(&alike->held, id, row)) = marks;
  group_of(alike, row)->open[is_sure(marks)]++;
}

/* One held row less; CLOSED: the stop it turned out to have, or NET_BEGINNING. */
static void leave_group(struct net_alike *alike, const union net_slot *row, uint8_t marks,
                        net_chronon closed) {
  uint32_t place = net_rowmap_find(&alike->groups, row);
  struct group *group = net_rowmap_state(&alike->groups, place);
  bool sure = is_sure(marks);
  if (closed > group->closed_until[sure]) group->closed_until[sure] = closed;
  group->open[sure]--;
}

/* Did rows of the group, that are there as surely as SURE says, stop where an open one may stop yet? */
static bool may_stop_with(const struct net_alike *alike, const struct group *group, bool sure) {
  return group->closed_until[sure] >= alike->checkpoint;
}

/* Must the open rows of the group be held? */
static bool is_unsettled(const struct net_alike *alike, const struct group *group) {
  uint32_t open = group->open[false] + group->open[true];
  if (open == 0) return false;
  if (alike->all) return true;
  if (!alike->mixed)
    return open > 1 || may_stop_with(alike, group, false) || may_stop_with(alike, group, true);
  if (group->open[false] > 0 && group->open[true] > 0) return true;
  return may_stop_with(alike, group, group->open[true] == 0);
}

/* Groups of which nothing is open, and nothing will be that could stop where some of them stop. */
static void forget_groups(struct net_alike *alike) {
  for (uint32_t i = 0; (i = net_rowmap_next(&alike->groups, i)) < alike->groups.used; i++) {
    const struct group *group = net_rowmap_state(&alike->groups, i);
    if (group->open[false] > 0 || group->open[true] > 0) continue;
    bool more = net_rowmap_row(&alike->groups, i)[0].i >= alike->checkpoint;
    if (!more || (!may_stop_with(alike, group, false) && !may_stop_with(alike, group, true)))
      net_rowmap_remove(&alike->groups, i);
  }
}

static net_chronon earliest_unsettled(const struct net_alike *alike, net_chronon limit) {
  for (uint32_t i = 0; (i = net_rowmap_next(&alike->groups, i)) < alike->groups.used; i++) {
    const struct group *group = net_rowmap_state(&alike->groups, i);
    net_chronon start = net_rowmap_row(&alike->groups, i)[0].i;
    if (start < limit && is_unsettled(alike, group)) limit = start;
  }
  return limit;
}

static void release(struct net_alike *alike, struct net_inbox *inbox, net_chronon limit) {
  for (uint32_t i = 0; (i = net_rowmap_next(&alike->held, i)) < alike->held.used; i++) {
    union net_slot *row = net_rowmap_row(&alike->held, i);
    if (row[0].i >= limit && limit != NET_FOREVER) continue;
    uint8_t marks = *(uint8_t *)net_rowmap_state(&alike->held, i);
    uint64_t id = net_rowmap_id(&alike->held, i);
    leave_group(alike, row, marks, NET_BEGINNING);
    if (limit == NET_FOREVER) {
      row[2] = row[3]; /* whole: those that are alike are one tuple */
      id = 0;
    }
    send(alike, inbox, row, marks, id);
    net_rowmap_remove(&alike->held, i);
  }
}

/* Whole rows that an open one may yet stop with: one that is held, in BATCH or to come. */
static void remember_whole(struct net_alike *alike, const struct net_batch *batch) {
  bool ever_open = alike->layout->may_be_open && batch->checkpoint != NET_FOREVER;
  bool any_open = !batch->plain || alike->held.live > 0;
  for (uint32_t i = 0; i < batch->count && ever_open; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    if ((marks & NET_CLOSES) || row[2].i == NET_OPEN || row[3].i < batch->checkpoint) continue;
    if (any_open || row[0].i >= batch->checkpoint) remember(alike, row, marks);
  }
}

bool net_alike_pass(struct net_alike *alike, const struct net_batch *batch) {
  if (!batch->plain || alike->held.live > 0) return false;
  remember_whole(alike, batch);
  if (batch->checkpoint > alike->checkpoint) alike->checkpoint = batch->checkpoint;
  forget_groups(alike);
  return true;
}

void net_alike_add(struct net_alike *alike, const struct net_batch *batch,
                   struct net_inbox *inbox) {
  struct net_batch rows = *batch;
  remember_whole(alike, batch);
  if (batch->ids == NULL) { /* nothing opens or closes */
    rows.checkpoint = NET_BEGINNING;
    net_inbox_add(inbox, 0, &rows);
    rows.count = 0;
  }
  for (uint32_t i = 0; i < rows.count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    uint64_t id = net_batch_id(batch, i);
    if (marks & NET_CLOSES) {
      uint32_t place = net_rowmap_find_id(&alike->held, id);
      if (row[2].i == NET_OPEN) { /* an upper bound on the stop: no news for who counts */
        if (place != NET_NO_ENTRY) net_rowmap_row(&alike->held, place)[3] = row[3];
        continue;
      }
      if (place != NET_NO_ENTRY) {
        leave_group(alike, row, marks, row[3].i);
        net_rowmap_remove(&alike->held, place);
        marks &= (uint8_t)~NET_CLOSES;
        id = 0;
      }
      send(alike, inbox, row, marks, id);
    } else if (row[2].i == NET_OPEN) {
      hold(alike, row, marks, id);
    } else {
      send(alike, inbox, row, marks, id);
    }
  }
  if (batch->checkpoint > alike->checkpoint) alike->checkpoint = batch->checkpoint;
  net_chronon limit = alike->checkpoint;
  if (limit != NET_FOREVER) limit = earliest_unsettled(alike, limit);
  release(alike, inbox, limit);
  forget_groups(alike);
  struct net_batch promise = {.layout = alike->layout, .checkpoint = limit};
  net_inbox_add(inbox, 0, &promise);
}

size_t net_alike_bytes(const struct net_alike *alike) {
  return net_rowmap_bytes(&alike->held) + net_rowmap_bytes(&alike->groups);
}

void net_alike_mark_strings(const struct net_alike *alike, struct base_strings *strings) {
  net_rowmap_mark_strings(&alike->held, strings);
  net_rowmap_mark_strings(&alike->groups, strings);
}
