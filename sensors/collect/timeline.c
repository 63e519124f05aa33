/* The line from stamps to times: pieces between knots. A new knot is on the line as it was; only the slope
 * behind it is another one, so that the difference to the clock is gone a second later. Slopes are
 * between half and one and a half of the true one.                                                  */
#include "sensors/collect/timeline.h"

#include <time.h>

#include "engine/base/env.h"
#include "tquel/sensor.h"

enum { BASELINE_NS = 20 * 1000 * 1000, SECOND = 1000 * 1000 * 1000, JUMP_NS = 200 * 1000 * 1000 };

static int64_t along(const struct sn_knot *knot, uint64_t stamp) {
  bool before = stamp < knot->stamp;
  uint64_t distance = before ? knot->stamp - stamp : stamp - knot->stamp;
  __extension__ unsigned __int128 product = (unsigned __int128)distance * knot->rate;
  int64_t ns = (int64_t)(uint64_t)(product >> 32);
  return before ? knot->time - ns : knot->time + ns;
}

/* The knot where the piece of STAMP begins. */
static const struct sn_knot *knot_of(const struct sn_timeline *timeline, uint64_t stamp) {
  unsigned at = timeline->last;
  for (unsigned i = 1; i < timeline->count && timeline->knots[at].stamp > stamp; i++) {
    at = (at + SN_KNOTS - 1) % SN_KNOTS;
  }
  return &timeline->knots[at];
}

int64_t sn_timeline_time(const struct sn_timeline *timeline, uint64_t stamp) {
  return along(knot_of(timeline, stamp), stamp);
}

int64_t sn_timeline_off(const struct sn_timeline *timeline, uint64_t stamp) {
  return knot_of(timeline, stamp)->off;
}

uint64_t sn_timeline_stamp(const struct sn_timeline *timeline) {
  return timeline->line.clock == SN_CLOCK_CYCLES ? sn_cycles() : (uint64_t)base_env_monotonic();
}

/* RATE, and what is needed to make up for ERROR within a second. */
static uint64_t corrected(uint64_t rate, int64_t error) {
  if (error > SECOND / 2) error = SECOND / 2;
  if (error < -SECOND / 2) error = -SECOND / 2;
  __extension__ __int128 wanted = (__int128)rate * (SECOND + error) / SECOND;
  return (uint64_t)wanted;
}

void sn_timeline_knot(struct sn_timeline *timeline, uint64_t stamp, int64_t realtime_ns,
                      uint64_t rate) {
  struct sn_knot knot = {stamp, realtime_ns, rate, 0};
  if (timeline->count > 0) {
    struct sn_knot *newest = &timeline->knots[timeline->last];
    if (stamp <= newest->stamp) return;
    int64_t here = along(newest, stamp), ahead = realtime_ns - here;
    int64_t off = ahead < 0 ? -ahead : ahead;
    if (off > newest->off) newest->off = off;
    if (ahead < JUMP_NS) {
      knot.time = here;
      knot.rate = corrected(rate, ahead);
      knot.off = off;
    }
    timeline->last = (timeline->last + 1) % SN_KNOTS;
  }
  timeline->knots[timeline->last] = knot;
  if (timeline->count < SN_KNOTS) timeline->count++;
}

/* Of the clock since the first measurement. */
static uint64_t measured_rate(const struct sn_clock_line *line) {
  uint64_t ticks = line->last.stamp - line->first.stamp;
  uint64_t ns = line->last.monotonic_ns - line->first.monotonic_ns;
  if (line->clock != SN_CLOCK_CYCLES || ticks == 0) return UINT64_C(1) << 32;
  __extension__ unsigned __int128 rate = ((unsigned __int128)ns << 32) / ticks;
  return (uint64_t)rate;
}

void sn_timeline_start(struct sn_timeline *timeline, uint32_t clock) {
  struct sn_clock_reading first;
  *timeline = (struct sn_timeline){.count = 0};
  sn_clock_read(clock, &first);
  sn_clock_start(&timeline->line, clock, &first);
  if (clock == SN_CLOCK_CYCLES) nanosleep(&(struct timespec){0, BASELINE_NS}, NULL);
  sn_timeline_step(timeline, 0);
}

void sn_timeline_step(struct sn_timeline *timeline, int64_t offset_ns) {
  sn_clock_step(&timeline->line);
  const struct sn_clock_reading *now = &timeline->line.last;
  sn_timeline_knot(timeline, now->stamp, (int64_t)now->realtime_ns + offset_ns,
                   measured_rate(&timeline->line));
}

void sn_timeline_join(struct sn_timeline *timeline, const struct sn_timeline *other,
                      int64_t offset_ns) {
  uint64_t stamp =
      sn_timeline_stamp(timeline); /* before the other one's: rather ahead of it than behind */
  int64_t time = sn_timeline_time(other, sn_timeline_stamp(other));
  timeline->count = timeline->last = 0;
  sn_timeline_knot(timeline, stamp, time, measured_rate(&timeline->line));
  sn_timeline_step(timeline, offset_ns);
}
