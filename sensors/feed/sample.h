/* Records of a file before anybody knows what they mean: for who infers that.
 *
 * What is read is what a reader would read (feed.h): packing, byte order mark, ends of records, quotation, escapes. */
#ifndef SN_SAMPLE_H
#define SN_SAMPLE_H

#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "sensors/feed/form.h"
#include "sensors/feed/json.h"

struct sn_sample;

enum sn_sampled {
  SN_SAMPLED,     /* a record */
  SN_SAMPLED_BAD, /* something that is none: its problem */
  SN_SAMPLED_END,
  SN_SAMPLED_FAILED, /* reading failed: its problem */
};

struct sn_sample_record {
  const struct sn_member *members; /* of CSV all fields in their order, without keys */
  size_t count;
  const char *text; /* as it stands in the file */
  size_t length;
  int64_t line;
  const char *problem;
};

/* Opens PATH ("-": standard input), or DESCRIPTOR if PATH is NULL. What is wrong is reported to DIAGS. */
enum base_status sn_sample_open(const char *path, int descriptor, struct base_diag_sink *diags,
                                struct sn_sample **ret) BASE_MUST_USE;
void sn_sample_close(struct sn_sample *sample);
/* What the file begins with, WANTED bytes or all there are, unpacked and without a byte order mark; they hold until records are
 * asked for. False: reading failed, for *RET_PROBLEM. */
bool sn_sample_head(struct sn_sample *sample, size_t wanted, const char **ret, size_t *ret_length,
                    const char **ret_problem);
/* Of which form the records are (the mappings do not matter). FORM outlives the sample. */
void sn_sample_begin(struct sn_sample *sample, const struct sn_form *form);
/* The next record; it holds until the next call. */
enum sn_sampled sn_sample_next(struct sn_sample *sample, struct sn_sample_record *ret);
/* The names of the parts of a pattern, in its order. */
size_t sn_pattern_names(struct base_arena *arena, const char *pattern, const char ***ret);
/* By the suffix of a path, without that of its packing. */
enum sn_format sn_format_by_suffix(const char *path);

#endif
