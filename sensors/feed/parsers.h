/* The two forms of records, as functions from a record's text to a row. Internal to sensors/feed.
 */
#ifndef SN_PARSERS_H
#define SN_PARSERS_H

#include "sensors/feed/decoder.h"
#include "sensors/feed/json.h"
#include "sensors/feed/split.h"

enum sn_parsed {
  SN_PARSED_ROW, /* in the decoder */
  SN_PARSED_LEFT_OUT,
  SN_PARSED_CHECKPOINT,
  SN_PARSED_END,
  SN_PARSED_ROUND,
  SN_PARSED_BAD, /* the decoder has number and reason, OFFSET the place */
};

struct sn_field {
  const char *text;
  size_t length;
};

struct sn_csv {
  char separator;
  bool headless;                   /* the header is the first record */
  bool ragged;                     /* fields that lack at the end of a record are empty */
  const struct sn_column **fields; /* of the header, in its order */
  size_t count, capacity;
  bool has_times;
  struct base_buffer unquoted;
};

/* The field at *NEXT, which comes to stand at the separator behind it, or END. */
bool sn_csv_field(struct sn_csv *csv, struct sn_decoder *decoder, const char **next,
                  const char *end, bool may_have_quotes, struct sn_field *ret);
/* False: the header is wrong; the decoder says why, *RET_OFFSET where. */
bool sn_csv_header(struct sn_csv *csv, struct sn_decoder *decoder, const struct sn_record *record,
                   size_t *ret_offset);
enum sn_parsed sn_csv_parse(struct sn_csv *csv, struct sn_decoder *decoder,
                            const struct sn_record *record, size_t *ret_offset);
void sn_csv_done(struct sn_csv *csv);

/* Records whose values have names, by mappings. */
struct sn_named {
  int *columns; /* of the members of the record in hand and of the one before */
  size_t capacity;
  uint64_t *seen; /* by column: stamp of the last record that had it */
  uint64_t stamp;
  bool has_times;
  struct base_buffer number; /* a text that ends where it ends */
};

void sn_named_init(struct sn_named *named, const struct sn_decoder *decoder);
void sn_named_done(struct sn_named *named);
enum sn_parsed sn_named_parse(struct sn_named *named, struct sn_decoder *decoder,
                              const struct sn_member *members, size_t count, size_t *ret_offset);

struct sn_ndjson {
  struct sn_json json;
  int *columns; /* of the members of the record in hand and of the one before */
  size_t capacity;
  uint64_t *seen; /* by column: stamp of the last record that had it */
  uint64_t stamp;
  bool *named;      /* of an end record: which fields */
  net_chronon time; /* of a control record */
};

void sn_ndjson_init(struct sn_ndjson *ndjson, const struct sn_decoder *decoder);
void sn_ndjson_done(struct sn_ndjson *ndjson);
enum sn_parsed sn_ndjson_parse(struct sn_ndjson *ndjson, struct sn_decoder *decoder,
                               const struct sn_record *record, size_t *ret_offset);

/* The values of a record are in the decoder, with times or without: what is it? */
static inline enum sn_parsed sn_parsed_row(struct sn_decoder *decoder, bool times,
                                           size_t *ret_offset) {
  if (!sn_decoder_finish(decoder, times, ret_offset)) return SN_PARSED_BAD;
  return decoder->dropped ? SN_PARSED_LEFT_OUT : SN_PARSED_ROW;
}

#endif
