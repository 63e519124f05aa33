/* Offset of two clocks. Times come from a stranger: what does not fit into 64 bits is nonsense. */
#include "sensors/wire/clock_offset.h"

/* What two clocks drift apart at most, in parts per million: the kernel slews by up to 500 each. */
enum { DRIFT_PPM = 1000 };

static int64_t error_at(const struct sn_offset_sample *sample, int64_t now) {
  int64_t age = now > sample->at ? now - sample->at : 0;
  return sample->error + age / (1000000 / DRIFT_PPM) + 1;
}

bool sn_clock_offset_add(struct sn_clock_offset *offset, int64_t sent, int64_t received,
                         int64_t answered, int64_t back, int64_t now) {
  int64_t there, and_back, twice, whole, work, delay;
  if (__builtin_sub_overflow(received, sent, &there) ||
      __builtin_sub_overflow(answered, back, &and_back) ||
      __builtin_add_overflow(there, and_back, &twice) ||
      __builtin_sub_overflow(back, sent, &whole) ||
      __builtin_sub_overflow(answered, received, &work) ||
      __builtin_sub_overflow(whole, work, &delay)) {
    return false;
  }
  /* The quarter leaves room for sums of two. */
  if (whole < 0 || work < 0 || delay < 0 || delay > INT64_MAX / 4) return false;
  if (twice > INT64_MAX / 4 || twice < -(INT64_MAX / 4)) return false;
  struct sn_offset_sample sample = {twice / 2, delay / 2 + 1, now};
  for (unsigned i = 0; i < offset->count; i++) {
    const struct sn_offset_sample *other = &offset->samples[i];
    int64_t apart = sample.offset > other->offset ? sample.offset - other->offset
                                                  : other->offset - sample.offset;
    if (apart > error_at(&sample, now) + error_at(other, now)) {
      *offset = (struct sn_clock_offset){.count = 0};
      break;
    }
  }
  offset->samples[offset->next] = sample;
  offset->next = (offset->next + 1) % SN_OFFSET_SAMPLES;
  if (offset->count < SN_OFFSET_SAMPLES) offset->count++;
  return true;
}

bool sn_clock_offset_best(const struct sn_clock_offset *offset, int64_t now, int64_t *ret_offset,
                          int64_t *ret_error) {
  for (unsigned i = 0; i < offset->count; i++) {
    int64_t error = error_at(&offset->samples[i], now);
    if (i > 0 && error >= *ret_error) continue;
    *ret_offset = offset->samples[i].offset;
    *ret_error = error;
  }
  return offset->count > 0;
}
