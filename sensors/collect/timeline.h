/* From stamps to times for all programs of a machine: one line, continuous and monotone.
 *
 *     time │            ╱ ← slope corrected about once a second, so that the line follows the clock
 *          │       ╱‾‾‾●  knots
 *          │   ●‾‾
 *          └──────────────── stamp
 *
 * What is later by its stamp is never earlier by its time, also where CLOCK_REALTIME is set back: the
 * line then runs slower until the clock has caught up. Where the clock is set forward the line jumps.
 * Stamps older than the oldest knot are on the first piece, prolonged. How far the line may be from the
 * clock meanwhile is kept with each piece: it is part of what a time is uncertain by.               */
#ifndef SN_COLLECT_TIMELINE_H
#define SN_COLLECT_TIMELINE_H

#include "sensors/collect/clock.h"

enum { SN_KNOTS = 64 };

struct sn_knot {
  uint64_t stamp;
  int64_t time;  /* ns since 1970 */
  uint64_t rate; /* from here on: ns a tick, times 2^32 */
  int64_t off;   /* ns from the line to the clock on this piece, at most, as far as it is known */
};

struct sn_timeline {
  struct sn_clock_line line; /* the measurements */
  struct sn_knot knots[SN_KNOTS];
  unsigned count, last; /* last: index of the newest; a ring */
};

/* CLOCK: enum sn_clock. Takes some 20 ms for a clock that counts cycles: its rate is measured. */
void sn_timeline_start(struct sn_timeline *timeline, uint32_t clock);
/* About once a second. OFFSET: what the times are to be ahead of this machine's clock. */
void sn_timeline_step(struct sn_timeline *timeline, int64_t offset_ns);
/* TIMELINE, which has been started, begins where OTHER is now, so that it is not behind what OTHER has said, and then
   follows the clock and OFFSET. */
void sn_timeline_join(struct sn_timeline *timeline, const struct sn_timeline *other,
                      int64_t offset_ns);
int64_t sn_timeline_time(const struct sn_timeline *timeline, uint64_t stamp);
/* How far, in ns, that is from the clock (and the offset) of the measurements around it, at most. */
int64_t sn_timeline_off(const struct sn_timeline *timeline, uint64_t stamp);
/* The stamp of now. */
uint64_t sn_timeline_stamp(const struct sn_timeline *timeline);
/* A new knot at STAMP, where the clock said REALTIME: for tests, else sn_timeline_step does it. */
void sn_timeline_knot(struct sn_timeline *timeline, uint64_t stamp, int64_t realtime_ns,
                      uint64_t rate);

#endif
