/* What time it is on the lines that stamps are told by, and how far that may be from the server's clock. */
#include <stdlib.h>

#include "sensors/collect/monitor_impl.h"

int64_t sn_monitor_time(const struct sn_monitor *monitor) {
  const struct sn_timeline *line = &monitor->lines[SN_CLOCK_CYCLES - 1];
  if (line->count == 0) line = &monitor->lines[SN_CLOCK_MONOTONIC - 1];
  return sn_timeline_time(line, sn_timeline_stamp(line));
}

/* Beside what the exchange of clocks leaves uncertain: lines follow an offset as of their last step, and slowly. */
int64_t sn_monitor_error(const struct sn_monitor *monitor, const struct sn_timeline *line,
                         uint64_t stamp) {
  const struct sn_uplink *uplink = &monitor->uplink;
  if (uplink->error == 0) return 0;
  return uplink->error + llabs(uplink->offset - uplink->stepped) + sn_timeline_off(line, stamp);
}
