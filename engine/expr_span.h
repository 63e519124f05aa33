/* A text of the table of strings, or a part of one, in expression programs: for expr_string.c and expr_text.c. */
#ifndef NET_EXPR_SPAN_H
#define NET_EXPR_SPAN_H

#include <stdbool.h>

#include "engine/expr.h"

struct span {
  const char *text;
  size_t length;
};

static inline struct span span_of(const struct net_program *program, base_string_id id) {
  struct span span;
  span.text = base_strings_text(program->strings, id, &span.length);
  return span;
}

/* A byte of a character that is not its first. */
static inline bool span_continues(char byte) {
  return ((unsigned char)byte & 0xC0) == 0x80;
}

/* Bytes of the character at AT. */
static inline size_t span_step(struct span span, size_t at) {
  size_t length = 1;
  while (at + length < span.length && span_continues(span.text[at + length])) length++;
  return length;
}

/* Bytes of the first COUNT characters from AT on, of all there are if they are fewer. */
static inline size_t span_bytes(struct span span, size_t at, int64_t count) {
  size_t first = at;
  for (; at < span.length && count > 0; count--) at += span_step(span, at);
  return at - first;
}

#endif
