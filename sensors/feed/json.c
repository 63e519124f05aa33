/* RFC 8259, restricted to an object whose values are strings, numbers, true, false and null.
 *
 * Nothing is tolerated that the RFC does not allow: no comments, no trailing commas, no leading
 * zeros, no control characters in strings, no lone surrogates, no bytes that are not UTF-8
 * (overlong forms and code points above U+10FFFF included). Numbers are only recognised here;
 * whoever knows the type converts the token, so that 64-bit integers stay exact. Values are plain,
 * so there is no nesting and no limit to its depth; unless nested ones are asked for: then objects are gone down
 * into, up to a depth, and what is deeper, and arrays, are texts in which only strings and brackets are looked at.
 *
 * Strings without escapes are left where they are. Those with escapes go to one buffer, which is
 * given room for the whole line first: unescaping never lengthens, so its text does not move. */
#include "sensors/feed/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"

#define DEPTH_MAX      64   /* of objects in objects */
#define PATH_MAX_BYTES 4096 /* of the path of an object that is gone down into */

struct scanner {
  struct sn_json *json;
  const char *line, *next, *end;
  int depth;
  size_t path,
      path_length; /* of the object that is read, with its point: where it is in the paths */
};

static bool fail(struct scanner *scanner, const char *at, const char *problem) {
  scanner->json->problem = problem;
  scanner->json->problem_offset = (size_t)(at - scanner->line);
  return false;
}

static void skip_space(struct scanner *scanner) {
  while (scanner->next < scanner->end && (*scanner->next == ' ' || *scanner->next == '\t' ||
                                          *scanner->next == '\r' || *scanner->next == '\n'))
    scanner->next++;
}

static bool at(const struct scanner *scanner, char byte) {
  return scanner->next < scanner->end && *scanner->next == byte;
}

static bool accept(struct scanner *scanner, char byte) {
  if (!at(scanner, byte)) return false;
  scanner->next++;
  return true;
}

/* ---- strings ---- */

/* Length of the UTF-8 sequence at TEXT, whose first byte is not ASCII, or 0. */
static size_t utf8_length(const char *text, const char *end) {
  const unsigned char *bytes = (const unsigned char *)text;
  unsigned char low = 0x80, high = 0xBF;
  size_t length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
  if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || (size_t)(end - text) < length) return 0;
  if (bytes[0] == 0xE0) low = 0xA0;
  if (bytes[0] == 0xED) high = 0x9F;
  if (bytes[0] == 0xF0) low = 0x90;
  if (bytes[0] == 0xF4) high = 0x8F;
  if (bytes[1] < low || bytes[1] > high) return 0;
  for (size_t i = 2; i < length; i++)
    if ((bytes[i] & 0xC0) != 0x80) return 0;
  return length;
}

static bool read_hex(struct scanner *scanner, uint32_t *ret) {
  uint32_t value = 0;
  for (int i = 0; i < 4; i++, scanner->next++) {
    if (scanner->next == scanner->end) return false;
    char byte = *scanner->next;
    uint32_t digit;
    if (byte >= '0' && byte <= '9')
      digit = (uint32_t)(byte - '0');
    else if ((byte | 32) >= 'a' && (byte | 32) <= 'f')
      digit = (uint32_t)((byte | 32) - 'a' + 10);
    else
      return false;
    value = value * 16 + digit;
  }
  *ret = value;
  return true;
}

static void append_code_point(struct base_buffer *out, uint32_t point) {
  char bytes[4];
  size_t length = 0;
  if (point < 0x80) {
    bytes[length++] = (char)point;
  } else {
    if (point >= 0x10000) {
      bytes[length++] = (char)(0xF0 | point >> 18);
      bytes[length++] = (char)(0x80 | (point >> 12 & 0x3F));
    } else if (point >= 0x800) {
      bytes[length++] = (char)(0xE0 | point >> 12);
    }
    if (point >= 0x800)
      bytes[length++] = (char)(0x80 | (point >> 6 & 0x3F));
    else
      bytes[length++] = (char)(0xC0 | point >> 6);
    bytes[length++] = (char)(0x80 | (point & 0x3F));
  }
  base_buffer_append(out, bytes, length);
}

/* Behind "\u". */
static bool read_unicode_escape(struct scanner *scanner, const char *start) {
  uint32_t point, low;
  if (!read_hex(scanner, &point)) return fail(scanner, start, "\\u needs four hexadecimal digits");
  if (point >= 0xDC00 && point <= 0xDFFF) return fail(scanner, start, "a lone low surrogate");
  if (point >= 0xD800 && point <= 0xDBFF) {
    if (!accept(scanner, '\\') || !accept(scanner, 'u') || !read_hex(scanner, &low) ||
        low < 0xDC00 || low > 0xDFFF)
      return fail(scanner, start, "a lone high surrogate");
    point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
  }
  append_code_point(&scanner->json->unescaped, point);
  return true;
}

static bool read_escape(struct scanner *scanner) {
  static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
  const char *start = scanner->next++;
  if (accept(scanner, 'u')) return read_unicode_escape(scanner, start);
  const char *name =
      scanner->next < scanner->end && *scanner->next ? strchr(names, *scanner->next) : NULL;
  if (!name) return fail(scanner, start, "an unknown escape");
  base_buffer_putc(&scanner->json->unescaped, bytes[name - names]);
  scanner->next++;
  return true;
}

/* Up to the next quotation mark, backslash or mistake. */
static bool skip_characters(struct scanner *scanner) {
  while (scanner->next < scanner->end) {
    unsigned char byte = (unsigned char)*scanner->next;
    size_t length = 1;
    if (byte == '"' || byte == '\\') return true;
    if (byte < ' ') return fail(scanner, scanner->next, "a control character in a string");
    if (byte >= 0x80) length = utf8_length(scanner->next, scanner->end);
    if (length == 0) return fail(scanner, scanner->next, "not valid UTF-8");
    scanner->next += length;
  }
  return fail(scanner, scanner->next, "a string without its closing quotation mark");
}

static bool read_escaped_string(struct scanner *scanner, const char *start, const char **ret_text,
                                size_t *ret_length) {
  struct base_buffer *out = &scanner->json->unescaped;
  if (out->length == 0) base_buffer_reserve(out, (size_t)(scanner->end - scanner->line));
  size_t first = out->length;
  base_buffer_append(out, start, (size_t)(scanner->next - start));
  while (at(scanner, '\\')) {
    if (!read_escape(scanner)) return false;
    const char *plain = scanner->next;
    if (!skip_characters(scanner)) return false;
    base_buffer_append(out, plain, (size_t)(scanner->next - plain));
  }
  scanner->next++;
  *ret_text = out->data + first;
  *ret_length = out->length - first;
  base_buffer_putc(out, '\0'); /* there is room: an escape is longer than what it says */
  return true;
}

/* At the opening quotation mark. */
static bool read_string(struct scanner *scanner, const char **ret_text, size_t *ret_length) {
  const char *start = ++scanner->next;
  if (!skip_characters(scanner)) return false;
  if (at(scanner, '\\')) return read_escaped_string(scanner, start, ret_text, ret_length);
  *ret_text = start;
  *ret_length = (size_t)(scanner->next++ - start);
  return true;
}

/* ---- other values ---- */

static bool skip_digits(struct scanner *scanner) {
  const char *start = scanner->next;
  while (scanner->next < scanner->end && *scanner->next >= '0' && *scanner->next <= '9')
    scanner->next++;
  return scanner->next > start;
}

static bool read_number(struct scanner *scanner) {
  const char *start = scanner->next;
  accept(scanner, '-');
  const char *whole = scanner->next;
  if (!skip_digits(scanner)) return fail(scanner, start, "a value is expected");
  if (*whole == '0' && scanner->next > whole + 1)
    return fail(scanner, start, "a number with leading zeros");
  if (accept(scanner, '.') && !skip_digits(scanner))
    return fail(scanner, start, "a number without digits behind its point");
  if (accept(scanner, 'e') || accept(scanner, 'E')) {
    if (!accept(scanner, '+')) accept(scanner, '-');
    if (!skip_digits(scanner)) return fail(scanner, start, "a number without its exponent");
  }
  return true;
}

static bool accept_word(struct scanner *scanner, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(scanner->end - scanner->next) < length || memcmp(scanner->next, word, length) != 0)
    return false;
  scanner->next += length;
  return true;
}

/* In a string that is not looked into, behind its opening mark. */
static bool skip_string(struct scanner *scanner) {
  for (;;) {
    if (!skip_characters(scanner)) return false;
    if (*scanner->next++ == '"') return true;
    if (scanner->next < scanner->end) scanner->next++;
  }
}

/* An array, or an object, as a text. */
static bool read_tree(struct scanner *scanner, struct sn_member *member) {
  int64_t depth = 0;
  member->kind = SN_JSON_TREE;
  do {
    if (scanner->next == scanner->end)
      return fail(scanner, scanner->next, "an array or object that does not end");
    char byte = *scanner->next++;
    depth += (byte == '[' || byte == '{') - (byte == ']' || byte == '}');
    if (byte == '"' && !skip_string(scanner)) return false;
  } while (depth > 0);
  member->length = (size_t)(scanner->next - member->text);
  return true;
}

static bool read_value(struct scanner *scanner, struct sn_member *member) {
  member->text = scanner->next;
  member->offset = (size_t)(scanner->next - scanner->line);
  if (at(scanner, '"')) {
    member->kind = SN_JSON_STRING;
    return read_string(scanner, &member->text, &member->length);
  }
  if (scanner->json->nested && (at(scanner, '{') || at(scanner, '[')))
    return read_tree(scanner, member);
  if (at(scanner, '{') || at(scanner, '['))
    return fail(scanner, scanner->next, "an object or array where a plain value is expected");
  if (accept_word(scanner, "true")) {
    member->kind = SN_JSON_TRUE;
  } else if (accept_word(scanner, "false")) {
    member->kind = SN_JSON_FALSE;
  } else if (accept_word(scanner, "null")) {
    member->kind = SN_JSON_NULL;
  } else {
    member->kind = SN_JSON_NUMBER;
    if (!read_number(scanner)) return false;
  }
  member->length = (size_t)(scanner->next - member->text);
  return true;
}

/* ---- the object ---- */

static bool read_members(struct scanner *scanner);

/* An object whose members are to be members under its path; not one that is empty, which would be lost. */
static bool is_for_descent(const struct scanner *scanner, const struct sn_member *member) {
  if (!scanner->json->nested || !at(scanner, '{') || scanner->depth == DEPTH_MAX ||
      scanner->path_length + member->key_length > PATH_MAX_BYTES)
    return false;
  struct scanner ahead = *scanner;
  ahead.next++;
  skip_space(&ahead);
  return !at(&ahead, '}');
}

/* The path of the object and the key of MEMBER, behind the other paths. */
static size_t add_path(struct scanner *scanner, const struct sn_member *member) {
  struct base_buffer *paths = &scanner->json->paths;
  size_t at = paths->length;
  base_buffer_reserve(paths, scanner->path_length + member->key_length + 1);
  if (scanner->path_length > 0)
    base_buffer_append(paths, paths->data + scanner->path, scanner->path_length);
  base_buffer_append(paths, member->key, member->key_length);
  return at;
}

static bool descend(struct scanner *scanner, const struct sn_member *member) {
  struct base_buffer *paths = &scanner->json->paths;
  struct scanner outer = *scanner;
  scanner->path = add_path(scanner, member);
  base_buffer_putc(paths, '.');
  scanner->path_length = paths->length - scanner->path;
  scanner->depth++;
  bool good = read_members(scanner);
  scanner->depth--;
  scanner->path = outer.path;
  scanner->path_length = outer.path_length;
  return good;
}

static bool read_member(struct scanner *scanner) {
  struct sn_json *json = scanner->json;
  struct sn_member member = {.key_offset = (size_t)(scanner->next - scanner->line)};
  if (!at(scanner, '"'))
    return fail(scanner, scanner->next, "a key in quotation marks is expected");
  if (!read_string(scanner, &member.key, &member.key_length)) return false;
  skip_space(scanner);
  if (!accept(scanner, ':')) return fail(scanner, scanner->next, "a colon is expected");
  skip_space(scanner);
  if (is_for_descent(scanner, &member)) {
    if (!descend(scanner, &member)) return false;
    skip_space(scanner);
    return true;
  }
  if (!read_value(scanner, &member)) return false;
  skip_space(scanner);
  if (scanner->path_length > 0) {
    member.path = add_path(scanner, &member) + 1;
    member.key_length += scanner->path_length;
  }
  base_grow(&json->members, &json->capacity, json->count + 1, sizeof *json->members);
  json->members[json->count++] = member;
  return true;
}

/* At the opening brace. */
static bool read_members(struct scanner *scanner) {
  if (!accept(scanner, '{')) return fail(scanner, scanner->next, "a JSON object is expected");
  skip_space(scanner);
  if (accept(scanner, '}')) return true;
  do {
    skip_space(scanner);
    if (!read_member(scanner)) return false;
  } while (accept(scanner, ','));
  return accept(scanner, '}') ||
         fail(scanner, scanner->next, "a comma or a closing brace is expected");
}

/* The paths do not move any more. */
static void set_keys(struct sn_json *json) {
  for (size_t i = 0; i < json->count; i++)
    if (json->members[i].path > 0)
      json->members[i].key = json->paths.data + json->members[i].path - 1;
}

static void skip_between(struct scanner *scanner) {
  while (scanner->next < scanner->end && *scanner->next != 0 &&
         strchr(" \t\r\n,[]", *scanner->next) != NULL)
    scanner->next++;
}

bool sn_json_read(struct sn_json *json, const char *line, size_t length) {
  struct scanner scanner = {.json = json, .line = line, .next = line, .end = line + length};
  json->count = 0;
  base_buffer_clear(&json->unescaped);
  base_buffer_clear(&json->paths);
  skip_space(&scanner);
  if (json->nested) skip_between(&scanner);
  if (!read_members(&scanner)) return false;
  skip_space(&scanner);
  if (json->nested) skip_between(&scanner);
  if (scanner.next < scanner.end)
    return fail(&scanner, scanner.next, "something follows the object");
  if (json->paths.length > 0) set_keys(json);
  return true;
}

void sn_json_done(struct sn_json *json) {
  free(json->members);
  base_buffer_done(&json->unescaped);
  base_buffer_done(&json->paths);
}
