/* Records that are lines of text: taken apart by a pattern, or by keys (logfmt). For sensors/feed and tquel/infer.
 * What they have is members, as an object of JSON has. */
#ifndef SN_LINES_H
#define SN_LINES_H

#include "engine/base/arena.h"
#include "sensors/feed/json.h"

struct sn_lines;

/* What is wrong with PATTERN, in words that ARENA keeps; NULL: nothing is. Its parts are its named groups. */
const char *sn_lines_fault(struct base_arena *arena, const char *pattern);
struct sn_lines *sn_lines_new(const char *pattern);
void sn_lines_free(struct sn_lines *lines);

/* The parts of the line, which PATTERN has to match as a whole; a part that takes no part in it is no member. False: it
 * does not, and *RET_PROBLEM says why. Members hold as long as the line. */
bool sn_lines_read(struct sn_lines *lines, const char *line, size_t length,
                   const struct sn_member **ret, size_t *ret_count, const char **ret_problem);
/* As sn_lines_read of the first line of TEXT; what stands behind it belongs to the part that the line ends with, of several the
 * one that begins last. False also if there is none. */
bool sn_lines_read_all(struct sn_lines *lines, const char *text, size_t length,
                       const struct sn_member **ret, size_t *ret_count, const char **ret_problem);
/* The names of the parts, in the order of the pattern. */
size_t sn_lines_names(const struct sn_lines *lines, const char *const **ret);

struct sn_logfmt {
  struct sn_member *members;
  size_t count, capacity;
  struct base_buffer unescaped;
  const char *problem; /* static, after a failure */
  size_t problem_offset;
};

/* key=value key="va\"lue" key, of which the last is true. Keys may occur twice. */
bool sn_logfmt_read(struct sn_logfmt *logfmt, const char *line, size_t length);
/* KEY: VALUE, a line each; into the same members. */
bool sn_stanza_read(struct sn_logfmt *stanza, const char *text, size_t length);
void sn_logfmt_done(struct sn_logfmt *logfmt);

#endif
