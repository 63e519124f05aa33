/* Expressions are compiled into their arena, so nothing is to be freed. What looking for one takes is there once in
 * the process, for one call after the other. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/regex.h"

#include <pcre2.h>
#include <stdlib.h>

#include "engine/base/status.h"

/* Of backtracking, and KiB of memory for it: a text of a kilobyte takes an expression that is not made to be hard
 * some thousand steps; a million are some ten milliseconds. */
enum { STEPS_MAX = 1000000, KIB_MAX = 32 << 10 };

struct net_regex {
  base_string_id text;
  pcre2_code *code;
};

static void *arena_alloc(size_t size, void *arena) {
  return base_arena_alloc(arena, size);
}

static void *heap_alloc(size_t size, void *context) {
  (void)context;
  return base_try_malloc(size); /* none: it takes too much */
}

static void heap_free(void *memory, void *context) {
  (void)context;
  free(memory);
}

static void arena_keep(void *memory, void *arena) {
  (void)memory;
  (void)arena;
}

static pcre2_code *compile(struct base_arena *arena, const char *text, size_t length,
                           int *ret_number, size_t *ret_at) {
  pcre2_general_context *general = pcre2_general_context_create(arena_alloc, arena_keep, arena);
  pcre2_compile_context *context = pcre2_compile_context_create(general);
  const uint32_t options =
      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY;
  return pcre2_compile((PCRE2_SPTR)text, length, options, ret_number, ret_at, context);
}

const char *net_regex_fault(struct base_arena *arena, const char *text, size_t length,
                            size_t *ret_at, uint32_t *ret_groups) {
  char words[256];
  int number = 0;
  const pcre2_code *code = compile(arena, text, length, &number, ret_at);
  if (code != NULL) {
    pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, ret_groups);
    return NULL;
  }
  if (*ret_at > length) *ret_at = length;
  pcre2_get_error_message(number, (PCRE2_UCHAR *)words, sizeof words);
  return base_arena_strdup(arena, words);
}

const struct net_regex *net_regex_new(struct base_arena *arena, const struct base_strings *strings,
                                      base_string_id text) {
  struct net_regex *regex = BASE_NEW(arena, struct net_regex);
  size_t length, at;
  int number;
  const char *bytes = base_strings_text(strings, text, &length);
  regex->text = text;
  regex->code = compile(arena, bytes, length, &number, &at);
  BASE_CHECK(regex->code != NULL, "regex-right");
  return regex;
}

base_string_id net_regex_text(const struct net_regex *regex) {
  return regex->text;
}

enum net_regex_found net_regex_find(const struct net_regex *regex, const char *text, size_t length,
                                    uint32_t group, size_t *ret_first, size_t *ret_end) {
  static pcre2_match_data *data;
  static pcre2_match_context *limits;
  *ret_first = *ret_end = 0;
  if (data == NULL) {
    pcre2_general_context *general = pcre2_general_context_create(heap_alloc, heap_free, NULL);
    limits = general != NULL ? pcre2_match_context_create(general) : NULL;
    data = general != NULL ? pcre2_match_data_create(NET_REGEX_GROUPS + 1, general) : NULL;
    pcre2_general_context_free(general);
    if (data == NULL || limits == NULL) base_heap_exhausted(1);
    pcre2_set_match_limit(limits, STEPS_MAX);
    pcre2_set_heap_limit(limits, KIB_MAX);
  }
  int groups = pcre2_match(regex->code, (PCRE2_SPTR)text, length, 0, 0, data, limits);
  if (groups == PCRE2_ERROR_NOMATCH) return NET_REGEX_NOWHERE;
  if (groups < 0) return NET_REGEX_TOO_LONG;
  const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
  bool took_part = (groups == 0 || group < (uint32_t)groups) && ends[2 * group] != PCRE2_UNSET &&
                   ends[2 * group] <= ends[2 * group + 1];
  if (took_part) {
    *ret_first = ends[2 * group];
    *ret_end = ends[2 * group + 1];
  }
  return NET_REGEX_FOUND;
}
