/* Lines by a pattern: PCRE2 with its limits set, compiled once, by its own compiler to machine code where that can be had. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "sensors/feed/lines.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/heap.h"
#include "engine/base/status.h"

/* As of expressions in queries (engine/regex.c). */
enum { STEPS_MAX = 1000000, KIB_MAX = 32 << 10 };

struct sn_lines {
  pcre2_code *code;
  pcre2_match_data *data;
  pcre2_match_context *limits;
  const char **names; /* of each named group, and its number; in the order of numbers */
  uint32_t *numbers;
  size_t count;
  struct sn_member *members;
  struct base_buffer joined; /* lines of one record, without \r at their ends */
};

static pcre2_code *compile(const char *pattern, int *ret_number, size_t *ret_at) {
  const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C |
                           PCRE2_DOLLAR_ENDONLY | PCRE2_ANCHORED | PCRE2_ENDANCHORED;
  return pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, ret_number, ret_at,
                       NULL);
}

const char *sn_lines_fault(struct base_arena *arena, const char *pattern) {
  char words[256];
  int number = 0;
  size_t at = 0;
  uint32_t names = 0;
  pcre2_code *code = compile(pattern, &number, &at);
  if (code == NULL) {
    pcre2_get_error_message(number, (PCRE2_UCHAR *)words, sizeof words);
    return base_arena_printf(arena, "the pattern: behind %zu bytes: %s", at, words);
  }
  pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &names);
  pcre2_code_free(code);
  return names > 0 ? NULL : "the pattern names no parts: (?<NAME>...)";
}

static void learn_names(struct sn_lines *lines) {
  uint32_t count = 0, size = 0;
  const unsigned char *table = NULL;
  pcre2_pattern_info(lines->code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(lines->code, PCRE2_INFO_NAMEENTRYSIZE, &size);
  pcre2_pattern_info(lines->code, PCRE2_INFO_NAMETABLE, &table);
  lines->count = count;
  lines->names = base_xcalloc(count + 1, sizeof *lines->names);
  lines->numbers = base_xcalloc(count + 1, sizeof *lines->numbers);
  lines->members = base_xcalloc(count + 1, sizeof *lines->members);
  for (uint32_t i = 0; i < count; i++, table += size) {
    uint32_t number = (uint32_t)table[0] << 8 | table[1];
    uint32_t at = i;
    for (; at > 0 && lines->numbers[at - 1] > number; at--) {
      lines->numbers[at] = lines->numbers[at - 1];
      lines->names[at] = lines->names[at - 1];
    }
    lines->numbers[at] = number;
    lines->names[at] = (const char *)table + 2;
  }
}

struct sn_lines *sn_lines_new(const char *pattern) {
  struct sn_lines *lines = base_xcalloc(1, sizeof *lines);
  int number;
  size_t at;
  lines->code = compile(pattern, &number, &at);
  BASE_CHECK(lines->code != NULL, "feed-pattern-right");
  (void)pcre2_jit_compile(lines->code, PCRE2_JIT_COMPLETE); /* if it cannot, it is interpreted */
  lines->data = pcre2_match_data_create_from_pattern(lines->code, NULL);
  lines->limits = pcre2_match_context_create(NULL);
  if (lines->data == NULL || lines->limits == NULL) base_heap_exhausted(1);
  pcre2_set_match_limit(lines->limits, STEPS_MAX);
  pcre2_set_heap_limit(lines->limits, KIB_MAX);
  learn_names(lines);
  return lines;
}

void sn_lines_free(struct sn_lines *lines) {
  if (lines == NULL) return;
  pcre2_match_data_free(lines->data);
  pcre2_match_context_free(lines->limits);
  pcre2_code_free(lines->code);
  free(lines->names);
  free(lines->numbers);
  free(lines->members);
  base_buffer_done(&lines->joined);
  free(lines);
}

size_t sn_lines_names(const struct sn_lines *lines, const char *const **ret) {
  *ret = lines->names;
  return lines->count;
}

bool sn_lines_read(struct sn_lines *lines, const char *line, size_t length,
                   const struct sn_member **ret, size_t *ret_count, const char **ret_problem) {
  int groups = pcre2_match(lines->code, (PCRE2_SPTR)line, length, 0, 0, lines->data, lines->limits);
  if (groups < 0) {
    *ret_problem = groups == PCRE2_ERROR_NOMATCH
                       ? "the line does not match the pattern"
                       : "to match the line with the pattern takes too long";
    return false;
  }
  const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(lines->data);
  *ret_count = 0;
  for (size_t i = 0; i < lines->count; i++) {
    uint32_t number = lines->numbers[i];
    if (number >= (uint32_t)groups || ends[2 * number] == PCRE2_UNSET ||
        ends[2 * number] > ends[2 * number + 1])
      continue;
    lines->members[(*ret_count)++] =
        (struct sn_member){.key = lines->names[i],
                           .key_length = strlen(lines->names[i]),
                           .kind = SN_JSON_STRING,
                           .text = line + ends[2 * number],
                           .length = ends[2 * number + 1] - ends[2 * number],
                           .offset = ends[2 * number]};
  }
  *ret = lines->members;
  return true;
}

/* Lines that end with \r\n end with \n within a value. */
static void join(struct sn_lines *lines, struct sn_member *member) {
  const char *at = member->text, *end = at + member->length, *found;
  base_buffer_clear(&lines->joined);
  for (; (found = memchr(at, '\r', (size_t)(end - at))) != NULL; at = found + 1) {
    bool is_end = found + 1 < end && found[1] == '\n';
    base_buffer_append(&lines->joined, at, (size_t)(found - at) + (is_end ? 0 : 1));
  }
  base_buffer_append(&lines->joined, at, (size_t)(end - at));
  member->text = base_buffer_text(&lines->joined);
  member->length = lines->joined.length;
}

bool sn_lines_read_all(struct sn_lines *lines, const char *text, size_t length,
                       const struct sn_member **ret, size_t *ret_count, const char **ret_problem) {
  const char *newline = memchr(text, '\n', length);
  size_t first = newline != NULL ? (size_t)(newline - text) : length;
  if (newline != NULL && first > 0 && text[first - 1] == '\r') first--;
  if (!sn_lines_read(lines, text, first, ret, ret_count, ret_problem)) return false;
  if (newline == NULL) return true;
  struct sn_member *last = NULL;
  for (size_t i = 0; i < *ret_count; i++) {
    struct sn_member *member = &lines->members[i];
    if (member->text + member->length == text + first &&
        (last == NULL || member->text >= last->text))
      last = member;
  }
  *ret_problem = "the line goes on, and no part of the pattern is at its end";
  if (last == NULL) return false;
  last->length = (size_t)(text + length - last->text);
  if (memchr(last->text, '\r', last->length) != NULL) join(lines, last);
  return true;
}
