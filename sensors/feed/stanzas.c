/* Stanzas: lines KEY: VALUE; a line that begins with a blank goes on with the value before. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "sensors/feed/lines.h"

static size_t without_blanks(const char *text, size_t length) {
  while (length > 0 && memchr(" \t\r\n", text[length - 1], 4) != NULL) length--;
  return length;
}

bool sn_stanza_read(struct sn_logfmt *stanza, const char *text, size_t length) {
  stanza->count = 0;
  for (size_t at = 0, next; at < length; at = next) {
    const char *newline = memchr(text + at, '\n', length - at), *line = text + at;
    next = newline != NULL ? (size_t)(newline - text) + 1 : length;
    size_t line_length = without_blanks(line, next - at);
    if (line_length == 0) continue;
    if ((*line == ' ' || *line == '\t') && stanza->count > 0) {
      struct sn_member *last = &stanza->members[stanza->count - 1];
      last->length = (size_t)(line + line_length - last->text);
      continue;
    }
    const char *colon = memchr(line, ':', line_length);
    if (colon == NULL || colon == line) {
      stanza->problem = "a line KEY: VALUE is expected";
      stanza->problem_offset = at;
      return false;
    }
    const char *value = colon + 1, *end = line + line_length;
    while (value < end && (*value == ' ' || *value == '\t')) value++;
    base_grow(&stanza->members, &stanza->capacity, stanza->count + 1, sizeof *stanza->members);
    stanza->members[stanza->count++] = (struct sn_member){.key = line,
                                                          .key_length = (size_t)(colon - line),
                                                          .key_offset = at,
                                                          .kind = SN_JSON_STRING,
                                                          .text = value,
                                                          .length = (size_t)(end - value),
                                                          .offset = (size_t)(value - text)};
  }
  return true;
}
