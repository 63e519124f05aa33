/* Any bytes as text. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buffer.h"

/* Are BYTES UTF-8 without the character NUL, and not to be taken for what base_bytes_escape makes of others? */
bool base_bytes_are_plain(const char *bytes, size_t length);
/* Appends BYTES, which are not plain, as UTF-8 that they can be had back from: a byte that belongs to no character, and
 * NUL, as \xHH, a backslash as two. */
void base_bytes_escape(struct base_buffer *out, const char *bytes, size_t length);

/* Appends BYTES as a constant of the language: x'00ff'. */
void base_buffer_bytes_constant(struct base_buffer *out, const char *bytes, size_t length);
/* Appends two digits for each byte, in lower case. */
void base_buffer_hex(struct base_buffer *out, const char *bytes, size_t length);
/* The same with \x before them: how values of the type bytes are written for people and other programs. */
void base_buffer_bytes(struct base_buffer *out, const char *bytes, size_t length);
/* Appends the bytes that TEXT has in digits, of either case. False: it has not, and OUT is as it was. */
bool base_hex_read(struct base_buffer *out, const char *text, size_t length);
/* The same of digits with \x before them or without. */
bool base_bytes_read(struct base_buffer *out, const char *text, size_t length);

#endif
