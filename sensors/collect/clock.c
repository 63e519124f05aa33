/* From stamps to times: a line through two readings of both clocks. */
#include "sensors/collect/clock.h"

#include <stdbool.h>

#include "engine/base/env.h"
#include "tquel/sensor.h"

enum { TRIES = 8 };

/* The narrowest of a few: an interrupt makes one wide. */
void sn_clock_read(uint32_t clock, struct sn_clock_reading *ret_reading) {
  ret_reading->width_ns = UINT64_MAX;
  for (int i = 0; i < TRIES; i++) {
    uint64_t before = (uint64_t)base_env_monotonic();
    uint64_t stamp = clock == SN_CLOCK_CYCLES ? sn_cycles() : before;
    uint64_t realtime = (uint64_t)base_env_now();
    uint64_t after = (uint64_t)base_env_monotonic();
    if (after - before < ret_reading->width_ns) {
      uint64_t middle = clock == SN_CLOCK_CYCLES ? before + (after - before) / 2 : before;
      *ret_reading = (struct sn_clock_reading){stamp, middle, realtime, after - before};
    }
  }
}

void sn_clock_start(struct sn_clock_line *line, uint32_t clock,
                    const struct sn_clock_reading *first) {
  line->clock = clock;
  line->first = line->last = *first;
}

void sn_clock_step(struct sn_clock_line *line) {
  sn_clock_read(line->clock, &line->last);
}

/* A * B / C, rounded down, without overflow on the way; C > 0. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c) {
  __extension__ unsigned __int128 product = (unsigned __int128)a * b;
  product /= c;
  return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

int64_t sn_clock_time(const struct sn_clock_line *line, uint64_t stamp, uint64_t *ret_error_ns) {
  const struct sn_clock_reading *first = &line->first, *last = &line->last;
  uint64_t width = last->width_ns / 2 + 1;
  bool later = stamp > last->stamp;
  uint64_t distance = later ? stamp - last->stamp : last->stamp - stamp;
  uint64_t ns = distance, error = width;
  if (line->clock == SN_CLOCK_CYCLES) {
    uint64_t ticks = last->stamp - first->stamp;
    uint64_t elapsed = last->monotonic_ns - first->monotonic_ns;
    if (ticks == 0 || last->stamp < first->stamp) ticks = elapsed = 1; /* never stepped */
    ns = scale(distance, elapsed, ticks);
    error += scale(distance, first->width_ns / 2 + width + 1, ticks) + 1;
  }
  *ret_error_ns = error;
  return (int64_t)(later ? last->realtime_ns + ns : last->realtime_ns - ns);
}
