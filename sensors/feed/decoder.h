/* Puts rows together from the values of records, and says what is wrong with them. Internal to
 * sensors/feed. */
#ifndef SN_DECODER_H
#define SN_DECODER_H

#include "engine/base/diag.h"
#include "sensors/feed/columns.h"
#include "sensors/feed/feed.h"
#include "sensors/feed/stamp.h"

struct sn_decoder {
  /* The times of the real timeline that were bare numbers: the least, the greatest, and whether all were multiples of
   * 1,000,000; none: least > most. */
  net_chronon least_number, most_number;
  bool round_numbers;
  const struct net_layout *layout;
  struct net_time_context time;
  struct base_strings *strings;
  bool timeless;
  bool has_temporal;
  struct sn_columns columns;
  enum sn_empty empty;
  uint64_t empty_count; /* periods that were, and not refused */
  struct sn_stamps stamps;
  /* The record in hand. */
  union net_slot *row;
  bool definite;
  bool stop_lo_empty, stop_hi_empty;
  bool dropped; /* its period is empty: it is to be left out */
  bool has_length, before;
  int64_t length;                   /* of the period, if the record says that */
  size_t start_offset, stop_offset; /* of the times in the record, for messages */
  /* What is wrong, after a function returned false. */
  enum base_message number;
  struct base_buffer reason;
  struct base_buffer bytes; /* of a value in digits */
};

void sn_decoder_init(struct sn_decoder *decoder, const struct sn_reader_options *options);
void sn_decoder_done(struct sn_decoder *decoder);

void sn_decoder_begin(struct sn_decoder *decoder);
/* The value of COLUMN from TEXT (CSV; JSON strings for times and string domains). OFFSET: where it
 * stands in the record. */
bool sn_decoder_set(struct sn_decoder *decoder, const struct sn_column *column, const char *text,
                    size_t length, size_t offset);
/* After the last value of a row (not of an end record): checks times, finishes temporal values.
 * With TIMES false there were none. *RET_OFFSET: where the mistake is. */
bool sn_decoder_finish(struct sn_decoder *decoder, bool times, size_t *ret_offset);
/* Brings the temporal values into their canonical form; NAMED (may be NULL): only of these fields.
 */
bool sn_decoder_finish_temporals(struct sn_decoder *decoder, const bool *named);
bool sn_decoder_read_time(struct sn_decoder *decoder, const char *name, const char *text,
                          size_t length, net_chronon *ret);
static inline uint8_t sn_decoder_marks(const struct sn_decoder *decoder) {
  return decoder->definite ? NET_DEFINITE : 0;
}

/* Sets number and reason; returns false. */
bool sn_decoder_refuse(struct sn_decoder *decoder, enum base_message number, const char *format,
                       ...) __attribute__((format(printf, 3, 4)));
bool sn_decoder_unknown(struct sn_decoder *decoder, const char *name, size_t length);
bool sn_decoder_lacks(struct sn_decoder *decoder, enum sn_lack lack, const char *name);

/* What the bare numbers among the times would be since 1970, if all of them lay between 2000 and 2100 then: "seconds",
 * "milliseconds", "microseconds". As nanoseconds, which they count as, they lie within the first weeks of 1970. NULL:
 * they are none of these, or so round that somebody has made them up. */
const char *sn_decoder_unit(const struct sn_decoder *decoder);

#endif
