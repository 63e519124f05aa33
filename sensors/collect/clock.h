/* From stamps to times, with a bound of the error.
 *
 * Two measurements of (stamp, CLOCK_MONOTONIC), some time apart, give the rate of the cycle counter; the
 * last one and CLOCK_REALTIME the offset. The bound of a time is half of what a measurement takes, and
 * what the rate is uncertain by over the distance from the measurement. Steps of CLOCK_REALTIME show at
 * the next measurement.                                                                              */
#ifndef SN_COLLECT_CLOCK_H
#define SN_COLLECT_CLOCK_H

#include <stdint.h>

struct sn_clock_reading {
  uint64_t stamp, monotonic_ns, realtime_ns;
  uint64_t width_ns; /* of the interval in which all three were read */
};

struct sn_clock_line {
  uint32_t clock; /* enum sn_clock */
  struct sn_clock_reading first, last;
};

void sn_clock_read(uint32_t clock, struct sn_clock_reading *ret_reading);
/* FIRST: when the program was announced (sn_identity), or any earlier reading. */
void sn_clock_start(struct sn_clock_line *line, uint32_t clock,
                    const struct sn_clock_reading *first);
/* A new reading: about once a second, and at least once before times are asked for. */
void sn_clock_step(struct sn_clock_line *line);
/* The realtime in nanoseconds since 1970 of STAMP; the true one differs by *ret_error_ns at most. */
int64_t sn_clock_time(const struct sn_clock_line *line, uint64_t stamp, uint64_t *ret_error_ns);

#endif
