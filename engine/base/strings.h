/* Interned strings: every distinct byte string has one id for the life of the table, so that rows
 * hold 8-byte slots, compare with == and need no freeing. Id 0 is the empty string.
 *
 * The table is swept (base_strings_sweep) only after it has doubled since the last sweep; the owner
 * marks every id that a state, an unwritten batch or a decoder still holds, all others are
 * forgotten and their ids reused.                                                                 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct base_strings;
typedef uint64_t base_string_id; /* a slot's worth; ids are small integers */

struct base_strings *base_strings_new(void);
void base_strings_free(struct base_strings *strings);

/* The id of the string of LENGTH bytes at TEXT (any bytes, no NUL needed). */
base_string_id base_strings_intern(struct base_strings *strings, const char *text, size_t length);
base_string_id base_strings_intern_text(struct base_strings *strings, const char *text);
/* The bytes of ID, NUL-terminated, *RET_LENGTH (may be NULL) without the NUL. The pointer holds
 * until the next sweep.                                                                            */
const char *base_strings_text(const struct base_strings *strings, base_string_id id,
                              size_t *ret_length);
/* memcmp order of the bytes, shorter first when one is a prefix: <0, 0, >0. */
int base_strings_compare(const struct base_strings *strings, base_string_id a, base_string_id b);
/* Number of strings now in the table, and bytes held. */
size_t base_strings_count(const struct base_strings *strings);
size_t base_strings_bytes(const struct base_strings *strings);
/* Memory that the table takes, texts included. */
size_t base_strings_memory(const struct base_strings *strings);

/* Every string now in the table stays for the life of the table: constants of statements, which no
 * state lists.                                                                                     */
void base_strings_pin_all(struct base_strings *strings);
/* True when the table has at least doubled since the last sweep (and is worth sweeping). */
bool base_strings_want_sweep(const struct base_strings *strings);
void base_strings_sweep_begin(struct base_strings *strings);
void base_strings_mark(struct base_strings *strings, base_string_id id);
/* Forgets every unmarked string; returns how many. */
size_t base_strings_sweep_end(struct base_strings *strings);

#endif
