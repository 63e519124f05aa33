/* The memory of results that are gone, for those to come.
 *
 * Memory that a process has not had yet is given by the system page by page, zeroed, and what grows is moved:
 * of a result of many rows that is a third of what it costs to collect them. So the largest few arrays wait
 * here for the next result, in all no more than an eighth of what `set cache` allows.               */
#include <stdlib.h>

#include "engine/base/arena.h"
#include "tquel/session/results/results.h"
#include "tquel/session/session_impl.h"

static size_t total(const struct session_spares *spares) {
  size_t bytes = 0;
  for (size_t i = 0; i < SESSION_SPARES; i++)
    bytes += spares->items[i].slots * sizeof(union net_slot) + spares->items[i].marks_capacity;
  return bytes;
}

/* The place of the largest, or of the smallest; an empty one is the smallest. */
static size_t find(const struct session_spares *spares, bool largest) {
  size_t found = 0;
  for (size_t i = 1; i < SESSION_SPARES; i++)
    if (spares->items[i].slots != spares->items[found].slots &&
        largest == (spares->items[i].slots > spares->items[found].slots))
      found = i;
  return found;
}

static void drop(struct session_spare *spare) {
  free(spare->rows);
  free(spare->marks);
  *spare = (struct session_spare){.rows = NULL};
}

void session_lend_rows(struct tql_session *session, struct net_rows *rows) {
  struct session_spare *spare = &session->spares.items[find(&session->spares, true)];
  size_t slots = rows->layout->slot_count;
  BASE_CHECK(rows->capacity == 0, "lend-rows-empty");
  if (spare->rows == NULL || slots == 0) return;
  size_t capacity = spare->slots / slots;
  if (capacity > spare->marks_capacity)
    spare->marks = base_xrealloc(spare->marks, spare->marks_capacity = capacity, 1);
  rows->rows = spare->rows;
  rows->marks = spare->marks;
  rows->capacity = capacity;
  *spare = (struct session_spare){.rows = NULL};
}

void session_spare_rows(struct tql_session *session, struct net_rows *rows) {
  struct session_spares *spares = &session->spares;
  size_t slots = rows->capacity * rows->layout->slot_count, place = find(spares, false);
  if (rows->spill || slots <= spares->items[place].slots) {
    net_rows_done(rows);
    return;
  }
  drop(&spares->items[place]);
  spares->items[place] = (struct session_spare){rows->rows, rows->marks, slots, rows->capacity};
  net_rows_init(rows, rows->layout);
  while (total(spares) > st_cache_limit(session->database) / 8)
    drop(&spares->items[find(spares, true)]);
}

void session_spares_done(struct session_spares *spares) {
  for (size_t i = 0; i < SESSION_SPARES; i++) drop(&spares->items[i]);
}
