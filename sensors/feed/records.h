/* Records whose values have names, whatever their form. Internal to sensors/feed. */
#ifndef SN_RECORDS_H
#define SN_RECORDS_H

#include "sensors/feed/form.h"
#include "sensors/feed/json.h"
#include "sensors/feed/lines.h"
#include "sensors/feed/split.h"

struct sn_records {
  enum sn_format format;
  struct sn_json json;
  struct sn_logfmt logfmt;
  struct sn_lines *lines;
  bool continued; /* a record may be of several lines */
  /* After a failure. */
  const char *problem;
  size_t problem_offset;
};

/* FORMAT is no CSV; FORM may be NULL, but for SN_LINES. */
void sn_records_init(struct sn_records *records, enum sn_format format, const struct sn_form *form);
void sn_records_done(struct sn_records *records);
/* The members of a record; they hold until the next call. */
bool sn_records_read(struct sn_records *records, const char *text, size_t length,
                     const struct sn_member **ret, size_t *ret_count);

/* Makes SPLITTER cut what FORM (may be NULL: nothing more is said) and FORMAT call a record. RECORDS, which is of SN_LINES where
 * FORM says that lines go on, is to live as long as the splitter. */
void sn_records_cut(struct sn_records *records, const struct sn_form *form, enum sn_format format,
                    struct sn_splitter *splitter, struct sn_source *source);
static inline bool sn_is_separated(enum sn_format format) {
  return format == SN_CSV || format == SN_TSV;
}
/* Does TEXT say nothing: an empty line, or what stands between objects? */
bool sn_is_blank_record(enum sn_format format, const char *text, size_t length);

/* By the suffix of PATH (may be NULL), without that of its packing; SN_GUESS: it says nothing. */
enum sn_format sn_format_by_suffix(const char *path);

#endif
