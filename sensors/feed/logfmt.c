/* logfmt: key=value, with blanks between. A value in quotation marks may have blanks, and escapes. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "sensors/feed/lines.h"

static bool fail(struct sn_logfmt *logfmt, size_t at, const char *problem) {
  logfmt->problem = problem;
  logfmt->problem_offset = at;
  return false;
}

/* Behind the opening mark, at *NEXT; comes to stand behind the closing one. */
/* Four digits, as Go and JSON escape what is no ASCII; not the halves of pairs, nor zero. false: they are none. */
static bool put_unicode(struct base_buffer *out, const char *digits, size_t left) {
  static const char all[] = "0123456789abcdef";
  unsigned code = 0;
  if (left < 4) return false;
  for (size_t i = 0; i < 4; i++) {
    const char *found = digits[i] != '\0' ? strchr(all, tolower((unsigned char)digits[i])) : NULL;
    if (found == NULL) return false;
    code = code * 16 + (unsigned)(found - all);
  }
  if (code == 0 || (code >= 0xD800 && code < 0xE000)) return false;
  if (code >= 0x800) base_buffer_putc(out, (char)(0xE0 | code >> 12));
  if (code >= 0x800) base_buffer_putc(out, (char)(0x80 | (code >> 6 & 0x3F)));
  if (code >= 0x80 && code < 0x800) base_buffer_putc(out, (char)(0xC0 | code >> 6));
  base_buffer_putc(out, (char)(code < 0x80 ? code : 0x80 | (code & 0x3F)));
  return true;
}

static bool read_quoted(struct sn_logfmt *logfmt, const char *line, size_t length, size_t *next,
                        struct sn_member *member) {
  size_t start = *next, at = start;
  while (at < length && line[at] != '"' && line[at] != '\\') at++;
  member->text = line + start;
  member->length = at - start;
  if (at < length && line[at] == '\\') {
    struct base_buffer *out = &logfmt->unescaped;
    size_t first = out->length;
    base_buffer_append(out, line + start, at - start);
    for (; at < length && line[at] != '"'; at++) {
      bool escape = line[at] == '\\' && at + 1 < length;
      if (escape) at++;
      if (escape && line[at] == 'u' && put_unicode(out, line + at + 1, length - at - 1)) {
        at += 4;
        continue;
      }
      base_buffer_putc(out, escape && line[at] == 'n'   ? '\n'
                            : escape && line[at] == 't' ? '\t'
                            : escape && line[at] == 'r' ? '\r'
                                                        : line[at]);
    }
    member->text = out->data + first;
    member->length = out->length - first;
    base_buffer_putc(out, '\0');
  }
  if (at == length) return fail(logfmt, start - 1, "a quotation mark is never closed");
  *next = at + 1;
  if (*next < length && line[*next] != ' ' && line[*next] != '\t')
    return fail(logfmt, *next, "something follows the closing quotation mark");
  return true;
}

static bool read_member(struct sn_logfmt *logfmt, const char *line, size_t length, size_t *next) {
  struct sn_member member = {.key = line + *next, .key_offset = *next, .kind = SN_JSON_STRING};
  size_t at = *next;
  while (at < length && line[at] != '=' && line[at] != ' ' && line[at] != '\t' && line[at] != '"')
    at++;
  member.key_length = at - *next;
  if (member.key_length == 0 || (at < length && line[at] == '"'))
    return fail(logfmt, at, "a key is expected: KEY=VALUE");
  if (at == length || line[at] != '=') {
    member.text = "true";
    member.length = 4;
    member.offset = *next;
    *next = at;
  } else if (++at < length && line[at] == '"') {
    member.offset = at;
    *next = at + 1;
    if (!read_quoted(logfmt, line, length, next, &member)) return false;
  } else {
    member.offset = *next = at;
    while (*next < length && line[*next] != ' ' && line[*next] != '\t') ++*next;
    member.text = line + at;
    member.length = *next - at;
  }
  base_grow(&logfmt->members, &logfmt->capacity, logfmt->count + 1, sizeof *logfmt->members);
  logfmt->members[logfmt->count++] = member;
  return true;
}

bool sn_logfmt_read(struct sn_logfmt *logfmt, const char *line, size_t length) {
  size_t next = 0;
  logfmt->count = 0;
  base_buffer_clear(&logfmt->unescaped);
  base_buffer_reserve(
      &logfmt->unescaped,
      length + 1); /* so that it does not move: an escape is longer than what it says */
  for (;;) {
    while (next < length && (line[next] == ' ' || line[next] == '\t')) next++;
    if (next == length) return logfmt->count > 0 || fail(logfmt, 0, "a key is expected: KEY=VALUE");
    if (!read_member(logfmt, line, length, &next)) return false;
  }
}

void sn_logfmt_done(struct sn_logfmt *logfmt) {
  free(logfmt->members);
  base_buffer_done(&logfmt->unescaped);
}
