/* What a row has to be to be a tuple. */
#include "storage/ground.h"

/* What no tuple can have as its times (SEMANTICS, "Time"): an instant's bounds are in order, and so are the
 * bounds of a period's start and stop; if all is known, it is not empty. */
const char *st_times_fault(const union net_slot *row, int times) {
  if (row[0].i > row[1].i)
    return times == 2 ? "at_hi is before at_lo" : "start_hi is before start_lo";
  if (times == 2) return NULL;
  if (row[3].i < row[1].i) return "stop_hi is before start_hi";
  if (row[2].i == NET_OPEN) return NULL;
  if (row[3].i < row[2].i) return "stop_hi is before stop_lo";
  if (row[2].i < row[0].i) return "stop_lo is before start_lo";
  return row[0].i == row[3].i ? "it stops when it starts" : NULL;
}

bool st_are_times(const union net_slot *row, uint32_t times) {
  return st_times_fault(row, (int)times) == NULL;
}
