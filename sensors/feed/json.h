/* A strict reader of one flat JSON object per line. Internal to sensors/feed. */
#ifndef SN_JSON_H
#define SN_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buffer.h"

enum sn_json_kind { SN_JSON_STRING, SN_JSON_NUMBER, SN_JSON_TRUE, SN_JSON_FALSE, SN_JSON_NULL };

struct sn_member {
  const char *key;
  size_t key_length, key_offset;
  enum sn_json_kind kind;
  const char *text; /* of a string its characters, of anything else the token */
  size_t length, offset;
};

struct sn_json {
  struct sn_member *members; /* in the order of the line */
  size_t count, capacity;
  struct base_buffer unescaped; /* what members with escapes point to */
  const char *problem;          /* static, after a failure */
  size_t problem_offset;
};

/* False: the line is no flat object. The members point into LINE, and hold until the next call.
 * Keys may occur twice here. */
bool sn_json_read(struct sn_json *json, const char *line, size_t length);
void sn_json_done(struct sn_json *json);

#endif
