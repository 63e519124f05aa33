/* A growable byte buffer, always NUL-terminated. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct base_buffer {
  char *data; /* never NULL after the first append; data[length] == 0 */
  size_t length;
  size_t capacity;
};

#define BASE_BUFFER_EMPTY \
  { NULL, 0, 0 }

void base_buffer_done(struct base_buffer *buffer);  /* frees; the buffer is empty again */
void base_buffer_clear(struct base_buffer *buffer); /* keeps the memory */
void base_buffer_reserve(struct base_buffer *buffer, size_t extra);
void base_buffer_append(struct base_buffer *buffer, const void *bytes, size_t length);
void base_buffer_puts(struct base_buffer *buffer, const char *text);
void base_buffer_putc(struct base_buffer *buffer, char byte);
void base_buffer_printf(struct base_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Numbers as text, without a NUL, in an array of the caller's; they return its length. */
enum { BASE_NUMBER_TEXT = 32 };
size_t base_int_text(int64_t value, char ret[BASE_NUMBER_TEXT]);
/* The fewest digits that read back equal; integral values get no ".0". Never "-0", "inf", "nan". */
size_t base_double_text(double value, char ret[BASE_NUMBER_TEXT]);
void base_buffer_int(struct base_buffer *buffer, int64_t value);
void base_buffer_double(struct base_buffer *buffer, double value);
/* The contents, or "" if nothing was ever appended. */
const char *base_buffer_text(const struct base_buffer *buffer);

#endif
