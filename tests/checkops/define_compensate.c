/* Compensate by its definition (netgen/README.md): the stop of a period goes back by what the events of
 * its k within it cost, by OPTION each; over all rows, as they are at `forever`.                    */
#include <string.h>

#include "tests/checkops/checkops.h"

static net_chronon least(net_chronon a, net_chronon b) {
  return a < b ? a : b;
}

/* BOUND without COST, but after START. */
static net_chronon without(net_chronon bound, net_chronon start, int64_t cost) {
  if (bound == NET_FOREVER) return bound;
  net_chronon floor = least(bound, start + 1);
  return bound - cost > floor ? bound - cost : floor;
}

static void correct(const struct stream *stream, union net_slot *row, int64_t cost) {
  const struct net_layout *periods = stream->layouts[0], *events = stream->layouts[1];
  uint32_t key = periods->fields[DOMAIN_K].slot, other = events->fields[DOMAIN_K].slot;
  int64_t may = 0, sure = 0;
  for (size_t i = 0; i < stream->counts[1]; i++) {
    const union net_slot *event = stream->rows[1] + i * events->slot_count;
    if (event[other].i != row[key].i) continue;
    bool perhaps = event[1].i >= row[0].i && event[0].i < row[3].i;
    bool surely =
        (stream->marks[1][i] & NET_DEFINITE) && event[0].i >= row[1].i && event[1].i < row[2].i;
    if (perhaps) may += cost;
    if (surely) sure += cost;
  }
  row[2].i = without(row[2].i, row[0].i, may);
  row[3].i = without(row[3].i, row[1].i, sure);
}

void define_compensate(const struct stream *stream, const struct variant *variant,
                       struct net_rows *ret) {
  const struct net_layout *layout = stream->layouts[0];
  for (size_t i = 0; i < stream->counts[0]; i++) {
    const union net_slot *row = stream->rows[0] + i * layout->slot_count;
    size_t at = ret->count;
    if (stream->marks[0][i] & NET_CLOSES)
      for (at = 0; !net_row_same_identity(layout, net_rows_row(ret, at), row); at++)
        ;
    union net_slot *to = at < ret->count ? net_rows_row(ret, at)
                                         : net_rows_add(ret, stream->marks[0][i] & NET_DEFINITE);
    memcpy(to, row, layout->slot_count * sizeof *row);
  }
  for (size_t i = 0; i < ret->count; i++)
    if (net_rows_row(ret, i)[2].i != NET_OPEN)
      correct(stream, net_rows_row(ret, i), variant->option);
}
