/* Regular expressions (PCRE2), for expression programs. An expression is compiled once and lives in an arena. It is
 * looked for anywhere in a text; . and classes mean characters, texts being UTF-8; $ is the end of the text.     */
#ifndef NET_REGEX_H
#define NET_REGEX_H

#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/strings.h"

enum { NET_REGEX_GROUPS = 63 }; /* that can be asked for */

struct net_regex;

/* What is wrong with the expression TEXT of LENGTH bytes, in words that the arena keeps, and behind how many bytes.
 * NULL: nothing is, and it has *RET_GROUPS groups. */
const char *net_regex_fault(struct base_arena *arena, const char *text, size_t length,
                            size_t *ret_at, uint32_t *ret_groups);

/* The expression that is string TEXT of STRINGS, which has no fault (BASE_CHECK). */
const struct net_regex *net_regex_new(struct base_arena *arena, const struct base_strings *strings,
                                      base_string_id text);
base_string_id net_regex_text(const struct net_regex *regex);

enum net_regex_found {
  NET_REGEX_NOWHERE,
  NET_REGEX_FOUND,
  NET_REGEX_TOO_LONG /* it would take longer, or more memory, than anything sensible does */
};

/* Looks for REGEX in TEXT: the first place, where *RET_FIRST to *RET_END is what GROUP stands for (0: all of it),
 * nothing where the group took no part. Not for several threads at once. */
enum net_regex_found net_regex_find(const struct net_regex *regex, const char *text, size_t length,
                                    uint32_t group, size_t *ret_first, size_t *ret_end);

#endif
