/* Plain rows: see plain.h. A block is looked at when it is asked for first. The last block of all, to which
 * rows may still come, is looked at each time; it is short.                                          */
#include "engine/plain.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"

enum { BLOCK_ROWS = 256 };
enum { UNKNOWN, PLAIN, NOT_PLAIN };

/* Without a branch for each row: mostly all are. */
static inline bool are_plain(const union net_slot *row, const uint8_t *marks, size_t count,
                             size_t width, bool period) {
  net_chronon last = NET_BEGINNING;
  int64_t bounds = 0;
  bool wrong = false;
  for (size_t i = 0; i < count; i++, row += width) {
    bounds |= row[0].i ^ row[1].i;
    wrong |= (marks[i] != NET_DEFINITE) | (row[0].i < last);
    last = row[0].i;
    if (!period) continue;
    bounds |= row[2].i ^ row[3].i;
    wrong |= row[2].i <= row[0].i;
  }
  return bounds == 0 && !wrong;
}

bool net_rows_are_plain(const struct net_layout *layout, const union net_slot *rows,
                        const uint8_t *marks, size_t count) {
  return layout->tuple_class == NET_PERIOD
             ? are_plain(rows, marks, count, layout->slot_count, true)
             : are_plain(rows, marks, count, layout->slot_count, false);
}

void net_plain_notes_done(struct net_plain_notes *notes) {
  free(notes->blocks);
  *notes = (struct net_plain_notes){NULL, 0};
}

/* The block at INDEX, and that it does not begin before the last one ends. */
static bool look(const struct net_rows *rows, size_t index, size_t count) {
  size_t first = index * BLOCK_ROWS;
  const union net_slot *row = net_rows_row(rows, first);
  if (first > 0 && row[-(ptrdiff_t)rows->layout->slot_count].i > row->i) return false;
  return net_rows_are_plain(rows->layout, row, rows->marks + first, count);
}

static bool note(struct net_plain_notes *notes, const struct net_rows *rows, size_t index) {
  size_t count = rows->count - index * BLOCK_ROWS;
  if (count < BLOCK_ROWS) return look(rows, index, count);
  while (notes->capacity <= index) {
    size_t had = notes->capacity;
    base_grow(&notes->blocks, &notes->capacity, index + 1, 1);
    memset(notes->blocks + had, UNKNOWN, notes->capacity - had);
  }
  if (notes->blocks[index] == UNKNOWN)
    notes->blocks[index] = look(rows, index, BLOCK_ROWS) ? PLAIN : NOT_PLAIN;
  return notes->blocks[index] == PLAIN;
}

void net_plain_notes_begin(struct net_plain_notes *notes, size_t count) {
  size_t blocks = count / BLOCK_ROWS;
  if (blocks == 0) return;
  base_grow(&notes->blocks, &notes->capacity, blocks, 1);
  memset(notes->blocks, UNKNOWN, notes->capacity);
  memset(notes->blocks, PLAIN, blocks);
}

bool net_plain_notes_say(struct net_plain_notes *notes, const struct net_rows *rows, size_t from,
                         size_t end) {
  for (size_t index = from / BLOCK_ROWS; index * BLOCK_ROWS < end; index++)
    if (!note(notes, rows, index)) return false;
  return true;
}
