/* Bytes in expression programs: left, right, length, substring, position, which count bytes from 1, and what makes texts
 * of bytes and bytes of texts. concat and comparisons are those of strings, which look at bytes, too; a text is, as bytes,
 * the same string of the table.
 *
 * What is asked of parts is what is asked of texts (expr_text.c), so the same counts are refused.          */
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/expr_ops.h"
#include "engine/expr_span.h"

static void give(const struct net_program *program, struct span span, struct net_value *ret) {
  ret->s = base_strings_intern(program->strings, span.text, span.length);
}

static void give_buffer(const struct net_program *program, struct base_buffer *buffer,
                        struct net_value *ret) {
  give(program, (struct span){base_buffer_text(buffer), buffer->length}, ret);
  base_buffer_done(buffer);
}

/* --- parts */

/* COUNT bytes of SPAN behind the first SKIPPED, as far as there are any. */
static struct span piece(struct span span, uint64_t skipped, uint64_t count) {
  if (skipped > span.length) skipped = span.length;
  if (count > span.length - skipped) count = span.length - skipped;
  return (struct span){span.text + skipped, (size_t)count};
}

static enum net_eval_error side(const struct net_program *program, enum net_op op,
                                struct net_value *args) {
  struct span span = span_of(program, args[0].s);
  int64_t wanted = args[1].i;
  if (wanted < 0) return NET_EVAL_COUNT;
  if ((uint64_t)wanted >= span.length) return NET_EVAL_OK;
  uint64_t skipped = op == NET_OP_BYTES_LEFT ? 0 : span.length - (uint64_t)wanted;
  give(program, piece(span, skipped, (uint64_t)wanted), args);
  return NET_EVAL_OK;
}

/* Bytes that would be before the first one count, too. */
static enum net_eval_error substring(const struct net_program *program, struct net_value *args) {
  int64_t first = args[1].i, count = args[2].i, before;
  if (count < 0) return NET_EVAL_COUNT;
  if (first < 1) {
    if (__builtin_sub_overflow(INT64_C(1), first, &before)) before = INT64_MAX;
    count = before < count ? count - before : 0;
    first = 1;
  }
  give(program, piece(span_of(program, args[0].s), (uint64_t)first - 1, (uint64_t)count), args);
  return NET_EVAL_OK;
}

static int64_t position(struct span span, struct span part) {
  if (part.length == 0) return 1;
  const char *found = memmem(span.text, span.length, part.text, part.length);
  return found != NULL ? found - span.text + 1 : 0;
}

/* --- from and to texts */

static void as_text(const struct net_program *program, struct net_value *args) {
  struct span span = span_of(program, args[0].s);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  if (base_bytes_are_plain(span.text, span.length)) return; /* it is one */
  base_bytes_escape(&out, span.text, span.length);
  give_buffer(program, &out, args);
}

static void as_digits(const struct net_program *program, bool marked, struct net_value *args) {
  struct span span = span_of(program, args[0].s);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  (marked ? base_buffer_bytes : base_buffer_hex)(&out, span.text, span.length);
  give_buffer(program, &out, args);
}

static enum net_eval_error of_digits(const struct net_program *program, struct net_value *args) {
  struct span span = span_of(program, args[0].s);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  bool good = base_bytes_read(&out, span.text, span.length);
  if (good)
    give_buffer(program, &out, args);
  else
    base_buffer_done(&out);
  return good ? NET_EVAL_OK : NET_EVAL_HEX;
}

enum net_eval_error net_bytes_operation(const struct net_program *program,
                                        const struct net_step *step, struct net_value *args) {
  switch (step->op) {
    case NET_OP_BYTES_LEFT:
    case NET_OP_BYTES_RIGHT:
      return side(program, step->op, args);
    case NET_OP_BYTES_LENGTH:
      args[0].i = (int64_t)span_of(program, args[0].s).length;
      return NET_EVAL_OK;
    case NET_OP_BYTES_SUBSTRING:
      return substring(program, args);
    case NET_OP_BYTES_POSITION:
      args[0].i = position(span_of(program, args[0].s), span_of(program, args[1].s));
      return NET_EVAL_OK;
    case NET_OP_BYTES_TO_S:
      as_text(program, args);
      return NET_EVAL_OK;
    case NET_OP_HEX:
      as_digits(program, step->i == 1, args);
      return NET_EVAL_OK;
    default: /* NET_OP_UNHEX */
      return of_digits(program, args);
  }
}
