/* Text that comes from others, for people: on its line, and with nothing that a terminal obeys.
 *
 * Control characters, also those of the C1 set, and the signs that turn the direction of writing could move the
 * cursor, forge lines or hide text; so they are shown as escapes (\n, \x1b, \u202e), as are bytes that
 * are no UTF-8. What is for programs (CSV, JSON) stays exact, by the rules of its format.            */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buffer.h"

/* Length of the UTF-8 sequence at TEXT (LENGTH > 0 bytes) and its code point; 0: there is none. */
size_t base_utf8(const char *text, size_t length, uint32_t *ret_point);
/* The greatest length up to MOST bytes at which TEXT may be cut without cutting a character. */
size_t base_utf8_cut(const char *text, size_t length, size_t most);

/* Appends TEXT as one line. */
void base_buffer_printable(struct base_buffer *out, const char *text, size_t length);
/* Appends TEXT, which may have several lines; line feeds and tabs stay. */
void base_buffer_printable_lines(struct base_buffer *out, const char *text, size_t length);
/* Would base_buffer_printable append anything else than TEXT? */
bool base_is_printable(const char *text, size_t length);

#endif
