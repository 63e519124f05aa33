/* Patterns of Quel in string constants: `*` any text, `?` any one character, `[abc]` or `[a-z]` one
 * character of a set, `\` takes the meaning from the character after it. Characters are code points.
 * A constant is a pattern if it holds one of * ? [ at all, be it behind a `\`.                       */
#ifndef NET_PATTERN_H
#define NET_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buffer.h"

/* Has TEXT any pattern character, so that `\` in it is an escape? */
bool net_pattern_is_one(const char *text, size_t length);
/* What is wrong with the pattern, or NULL. The text is static: "has a [ without its ]". */
const char *net_pattern_fault(const char *pattern, size_t length);
/* A pattern all of whose characters stand for themselves: appends to OUT the one text that it
 * matches. False: there are several (OUT holds nothing of use). The pattern has no fault.           */
bool net_pattern_plain(const char *pattern, size_t length, struct base_buffer *out);
/* Does the whole of TEXT match the pattern, which has no fault? */
bool net_pattern_match(const char *pattern, size_t pattern_length, const char *text, size_t length);

#endif
