/* What an access node has its sensors watch (thesis 6.3).
 *
 *      constants ───────────────────────▶ ┌─────────────────┐
 *                                         │ held until the  │──▶ net_control ──▶ sensor
 *      control arc ──▶ objects ─────────▶ │ end, or a stop  │
 *                                         └─────────────────┘
 *
 * Of the control arc each row stands for an object. It is watched from the row's coming until the arc's
 * checkpoint has passed the latest bound of the row's stop: so one that perhaps still counts is watched. A
 * row that is over when it comes is not: what happened then is not to be had any more. An event has no
 * stop, so its object is watched from then on. Uncertain (omega) rows count like others.
 *
 * A batch is taken as a whole: what stops and starts again in it goes on being watched. */
#include "engine/nodes/watching.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/binary_heap.h"
#include "engine/rowmap.h"

/* A watch of a row whose stop is known. */
struct stopping {
  net_chronon until;
  struct net_control_entry *entry;
};

/* One that lasts, and of whom. */
struct lasting {
  struct net_control *control;
  struct net_control_entry *entry;
};

struct net_watching {
  struct lasting *lasting;
  size_t lasting_count, lasting_capacity;
  /* the control arc */
  struct net_control *control; /* NULL: there is none */
  struct base_arena *arena;
  struct net_watch watch;
  struct net_watch_object *object; /* its last */
  bool events;
  uint32_t slot;
  struct net_rowmap open;    /* by the row's id; of events by the object; state: its entry */
  struct stopping *stopping; /* a heap, the soonest first */
  size_t stopping_count, stopping_capacity;
};

struct net_watching *net_watching_new(void) {
  return base_xcalloc(1, sizeof(struct net_watching));
}

static struct net_control_entry *open_entry(const struct net_watching *watching, uint32_t index) {
  return *(struct net_control_entry **)net_rowmap_state(&watching->open, index);
}

void net_watching_free(struct net_watching *watching) {
  if (watching == NULL) return;
  for (size_t i = 0; i < watching->lasting_count; i++)
    net_control_disable(watching->lasting[i].control, watching->lasting[i].entry);
  for (size_t i = 0; i < watching->stopping_count; i++)
    net_control_disable(watching->control, watching->stopping[i].entry);
  if (watching->control != NULL) {
    for (uint32_t i = 0; i < watching->open.used; i++)
      if (net_rowmap_live(&watching->open, i))
        net_control_disable(watching->control, open_entry(watching, i));
    net_rowmap_done(&watching->open);
    base_arena_free(watching->arena);
  }
  free(watching->lasting);
  free(watching->stopping);
  free(watching);
}

static void keep(struct net_watching *watching, struct net_control *control,
                 struct net_control_entry *entry) {
  base_grow(&watching->lasting, &watching->lasting_capacity, watching->lasting_count + 1,
            sizeof *watching->lasting);
  watching->lasting[watching->lasting_count++] = (struct lasting){control, entry};
}

void net_watching_add(struct net_watching *watching, struct net_control *control,
                      const struct net_watch *watch) {
  keep(watching, control, net_control_enable(control, watch));
}

void net_watching_objects(struct net_watching *watching, struct net_control *control,
                          const struct net_watch *watch, const struct net_layout *in,
                          uint32_t slot) {
  BASE_CHECK(watching->control == NULL && watch->object_count > 0, "watch-objects");
  watching->control = control;
  watching->arena = base_arena_new();
  watching->watch = *watch;
  watching->watch.relation = base_arena_strdup(watching->arena, watch->relation);
  struct net_watch_object *objects =
      BASE_NEW_ARRAY(watching->arena, watch->object_count, struct net_watch_object);
  for (uint32_t i = 0; i < watch->object_count; i++) {
    objects[i] = watch->objects[i];
    objects[i].domain = base_arena_strdup(watching->arena, watch->objects[i].domain);
  }
  watching->watch.objects = objects;
  if (watch->filter_length > 0)
    watching->watch.filter =
        base_arena_strndup(watching->arena, watch->filter, watch->filter_length);
  watching->object = &objects[watch->object_count - 1];
  watching->events = in->tuple_class == NET_EVENT;
  watching->slot = slot;
  if (watching->events)
    net_rowmap_init(&watching->open, in, NET_KEY_SLOTS, 0, &watching->slot, 1,
                    sizeof(struct net_control_entry *));
  else
    net_rowmap_init(&watching->open, NULL, NET_KEY_ID, 0, NULL, 0,
                    sizeof(struct net_control_entry *));
}

/* --- the control arc */

static bool is_sooner(const struct stopping *a, const struct stopping *b, const void *context) {
  (void)context;
  return a->until < b->until;
}
BASE_BINARY_HEAP(stoppings, struct stopping, is_sooner);

static void push_stopping(struct net_watching *watching, struct stopping stopping) {
  base_grow(&watching->stopping, &watching->stopping_capacity, watching->stopping_count + 1,
            sizeof *watching->stopping);
  stoppings_up(watching->stopping, watching->stopping_count++, stopping, NULL);
}

static void pop_stopping(struct net_watching *watching) {
  size_t count = --watching->stopping_count;
  stoppings_down(watching->stopping, count, 0, watching->stopping[count], NULL);
}

/* Has what lasts until UNTIL at the latest come to its end at CHECKPOINT? */
static bool is_over(net_chronon until, net_chronon checkpoint) {
  return until <= checkpoint && until != NET_FOREVER;
}

/* ENTRY, of a row whose stop is known. */
static void stop_at(struct net_watching *watching, struct net_control_entry *entry,
                    net_chronon until) {
  if (until == NET_FOREVER)
    keep(watching, watching->control, entry);
  else
    push_stopping(watching, (struct stopping){until, entry});
}

static void take_close(struct net_watching *watching, const union net_slot *row, uint64_t id) {
  uint32_t place = net_rowmap_find_id(&watching->open, id);
  if (place == NET_NO_ENTRY || row[2].i == NET_OPEN) return;
  stop_at(watching, open_entry(watching, place), row[3].i);
  net_rowmap_remove(&watching->open, place);
}

static struct net_control_entry *enabled(struct net_watching *watching, const union net_slot *row) {
  watching->object->value = row[watching->slot];
  return net_control_enable(watching->control, &watching->watch);
}

static void set_open_entry(struct net_watching *watching, uint32_t place,
                           struct net_control_entry *entry) {
  *(struct net_control_entry **)net_rowmap_state(&watching->open, place) = entry;
}

/* Its object is watched once, however often it comes. */
static void take_event(struct net_watching *watching, const union net_slot *row) {
  bool fresh;
  uint32_t place = net_rowmap_put(&watching->open, row, &fresh);
  if (fresh) set_open_entry(watching, place, enabled(watching, row));
}

static void take_period(struct net_watching *watching, const union net_slot *row, uint64_t id,
                        net_chronon checkpoint) {
  if (row[2].i == NET_OPEN)
    set_open_entry(watching, net_rowmap_put_id(&watching->open, id, NULL), enabled(watching, row));
  else if (!is_over(row[3].i, checkpoint))
    stop_at(watching, enabled(watching, row), row[3].i);
}

void net_watching_take(struct net_watching *watching, const struct net_batch *batch) {
  if (watching == NULL || watching->control == NULL) return; /* nobody controls the sensor */
  net_control_hold(watching->control);
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint64_t id = net_batch_id(batch, i);
    if (watching->events)
      take_event(watching, row);
    else if (net_batch_marks(batch, i) & NET_CLOSES)
      take_close(watching, row, id);
    else
      take_period(watching, row, id, batch->checkpoint);
  }
  while (watching->stopping_count > 0 && is_over(watching->stopping[0].until, batch->checkpoint)) {
    net_control_disable(watching->control, watching->stopping[0].entry);
    pop_stopping(watching);
  }
  net_control_release(watching->control);
}

/* --- looking */

void net_watching_each(const struct net_watching *watching,
                       void (*each)(void *context, const struct net_watch *watch), void *context) {
  if (watching == NULL) return;
  for (size_t i = 0; i < watching->lasting_count; i++)
    each(context, net_control_watch(watching->lasting[i].entry));
  for (size_t i = 0; i < watching->stopping_count; i++)
    each(context, net_control_watch(watching->stopping[i].entry));
  for (uint32_t i = 0; watching->control != NULL && i < watching->open.used; i++)
    if (net_rowmap_live(&watching->open, i))
      each(context, net_control_watch(open_entry(watching, i)));
}

static void mark_watch(void *context, const struct net_watch *watch) {
  for (uint32_t i = 0; i < watch->object_count; i++) {
    enum net_base_type base = watch->objects[i].type.base;
    if (net_type_is_interned(base)) base_strings_mark(context, watch->objects[i].value.s);
  }
}

void net_watching_mark_strings(const struct net_watching *watching, struct base_strings *strings) {
  net_watching_each(watching, mark_watch, strings);
}

size_t net_watching_rows(const struct net_watching *watching) {
  if (watching == NULL) return 0;
  return watching->lasting_count + watching->stopping_count + watching->open.live;
}

size_t net_watching_bytes(const struct net_watching *watching) {
  if (watching == NULL) return 0;
  return watching->lasting_capacity * sizeof *watching->lasting +
         watching->stopping_capacity * sizeof *watching->stopping +
         (watching->control ? net_rowmap_bytes(&watching->open) : 0);
}
