/* A strict reader of one flat JSON object per line. For sensors/feed and tquel/infer. */
#ifndef SN_JSON_H
#define SN_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buffer.h"

enum sn_json_kind {
  SN_JSON_STRING,
  SN_JSON_NUMBER,
  SN_JSON_TRUE,
  SN_JSON_FALSE,
  SN_JSON_NULL,
  SN_JSON_TREE, /* nested: an array, or an object that is empty or too deep, as it stands there */
};

struct sn_member {
  const char *key;
  size_t key_length, key_offset;
  enum sn_json_kind kind;
  const char *text; /* of a string its characters, of anything else the token */
  size_t length, offset;
  size_t path; /* while the object is read: where the key is in the paths, and one; 0: it is not */
};

struct sn_json {
  /* Members of members have names of their path, "request.url"; arrays are texts. The object may be one of an array: brackets
   * and commas in front of it are passed over. */
  bool nested;
  struct sn_member *members; /* in the order of the line */
  size_t count, capacity;
  struct base_buffer unescaped; /* what members with escapes point to */
  struct base_buffer paths;     /* nested: the keys of members */
  const char *problem;          /* static, after a failure */
  size_t problem_offset;
};

/* False: the line is no flat object. The members point into LINE, and hold until the next call.
 * Keys may occur twice here. */
bool sn_json_read(struct sn_json *json, const char *line, size_t length);
void sn_json_done(struct sn_json *json);

#endif
