/* By how much the other side's clock is ahead, by exchange of times as in NTP (RFC 5905, 8).
 *
 *     sent ──────▶ received         offset = ((received - sent) + (answered - back)) / 2
 *     back ◀────── answered         error  = ((back - sent) - (answered - received)) / 2
 *
 * The true offset is within the error, whatever the way took in either direction. Of the last exchanges the
 * one with the smallest error counts; an old one's grows, since clocks drift. When exchanges contradict each
 * other one of the clocks was set: then only the newest counts.                                      */
#ifndef SN_WIRE_CLOCK_OFFSET_H
#define SN_WIRE_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

enum { SN_OFFSET_SAMPLES = 8 };

struct sn_clock_offset {
  struct sn_offset_sample {
    int64_t offset, error; /* ns */
    int64_t at;            /* monotonic, ns */
  } samples[SN_OFFSET_SAMPLES];
  unsigned count, next;
};

/* Times in ns: SENT and BACK by this side's clock, the others by the other's. NOW: monotonic. False: they
 * make no sense, and are not counted. */
bool sn_clock_offset_add(struct sn_clock_offset *offset, int64_t sent, int64_t received,
                         int64_t answered, int64_t back, int64_t now);
/* False: there was no exchange. Add *ret_offset to this side's time to get the other's. */
bool sn_clock_offset_best(const struct sn_clock_offset *offset, int64_t now, int64_t *ret_offset,
                          int64_t *ret_error);

#endif
