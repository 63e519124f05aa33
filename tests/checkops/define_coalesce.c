/* Coalesce by its definition (netgen/README.md): of the tuples of equal domains, definite ones and omega ones apart, any two
 * of which each starts at or before the other's stop for sure become one, until there are no such two; over
 * all rows, as they are at `forever`.                                                                 */
#include <string.h>

#include "tests/checkops/checkops.h"

enum { FIRST = 4 }; /* slot of the result's domains, which are the stream's first */

/* Each tuple alone, with the stop of the row that closed it. */
static void put_tuples(const struct stream *stream, struct net_rows *ret) {
  const struct net_layout *in = stream->layouts[0];
  struct net_rows whole;
  net_rows_init(&whole, in);
  for (size_t i = 0; i < stream->counts[0]; i++) {
    const union net_slot *row = stream->rows[0] + i * in->slot_count;
    size_t at = whole.count;
    if (stream->marks[0][i] & NET_CLOSES)
      for (at = 0; !net_row_same_identity(in, net_rows_row(&whole, at), row); at++)
        ;
    union net_slot *to = at < whole.count
                             ? net_rows_row(&whole, at)
                             : net_rows_add(&whole, stream->marks[0][i] & NET_DEFINITE);
    memcpy(to, row, in->slot_count * sizeof *row);
  }
  for (size_t i = 0; i < whole.count; i++) {
    const union net_slot *row = net_rows_row(&whole, i);
    union net_slot *to = net_rows_add(ret, whole.marks[i]);
    memcpy(to, row, ret->layout->slot_count * sizeof *row);
  }
  net_rows_done(&whole);
}

static bool same_domains(const union net_slot *x, const union net_slot *y, size_t count) {
  return memcmp(x + FIRST, y + FIRST, count * sizeof *x) == 0;
}

static bool touch(const union net_slot *x, const union net_slot *y) {
  return x[1].i <= net_slot_stop(y, 2, NET_FOREVER).lo &&
         y[1].i <= net_slot_stop(x, 2, NET_FOREVER).lo;
}

static void join(union net_slot *into, const union net_slot *row) {
  for (unsigned i = 0; i < 2; i++)
    if (row[i].i < into[i].i) into[i] = row[i];
  bool open = into[2].i == NET_OPEN || row[2].i == NET_OPEN;
  for (unsigned i = 2; i < 4; i++)
    if (row[i].i > into[i].i) into[i] = row[i];
  if (open) into[2].i = NET_OPEN;
}

/* Joins the row at AT with another, if it touches one, which is taken away. */
static bool join_one(struct net_rows *rows, size_t at) {
  union net_slot *row = net_rows_row(rows, at);
  for (size_t i = 0; i < rows->count; i++) {
    union net_slot *other = net_rows_row(rows, i);
    if (i == at || rows->marks[i] != rows->marks[at] ||
        !same_domains(row, other, rows->layout->field_count) || !touch(row, other))
      continue;
    join(row, other);
    memmove(other, other + rows->layout->slot_count,
            (--rows->count - i) * rows->layout->slot_count * sizeof *row);
    memmove(rows->marks + i, rows->marks + i + 1, rows->count - i);
    return true;
  }
  return false;
}

void define_coalesce(const struct stream *stream, const struct variant *variant,
                     struct net_rows *ret) {
  (void)variant;
  put_tuples(stream, ret);
  for (bool joined = true; joined;) {
    joined = false;
    for (size_t i = 0; i < ret->count && !joined; i++) joined = join_one(ret, i);
  }
}
