/* Reading .tqt files. Nothing is run here.
 *
 * A case begins with `=== name`, a command with `--- kind arguments`; the lines up to the next of
 * either are its body. Lines that begin with # are comments. Invariant: the lines of the file are
 * kept as they are, so that --update can write it back with other bodies.                          */
#include "tests/tqt/tqt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_lines(struct tqt_file *file) {
  FILE *in = fopen(file->path, "r");
  if (!in) return false;
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  while ((length = getline(&line, &size, in)) >= 0) {
    while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = 0;
    base_grow(&file->lines, &file->line_capacity, file->line_count + 1, sizeof *file->lines);
    file->lines[file->line_count++] = base_arena_strndup(file->arena, line, (size_t)length);
  }
  free(line);
  fclose(in);
  return true;
}

static bool opens(const char *line, const char *mark) {
  return strncmp(line, mark, 4) == 0;
}

static const char *trimmed(struct base_arena *arena, const char *text) {
  while (*text == ' ' || *text == '\t') text++;
  size_t length = strlen(text);
  while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
  return base_arena_strndup(arena, text, length);
}

const char *tqt_word(struct base_arena *arena, const char **args) {
  const char *at = *args + strspn(*args, " \t");
  size_t length = strcspn(at, " \t");
  if (length == 0) return NULL;
  *args = at + length + strspn(at + length, " \t");
  return base_arena_strndup(arena, at, length);
}

static void take_body(struct tqt_file *file, struct tqt_command *command) {
  struct base_buffer body = BASE_BUFFER_EMPTY, data = BASE_BUFFER_EMPTY;
  for (size_t i = command->first; i < command->last; i++) {
    bool comment = file->lines[i][0] == '#';
    if (!comment) {
      base_buffer_puts(&body, file->lines[i]);
      base_buffer_puts(&data, file->lines[i]);
      base_buffer_putc(&data, '\n');
    }
    base_buffer_putc(&body, '\n');
  }
  size_t length = data.length;
  while (length > 1 && data.data[length - 1] == '\n' && data.data[length - 2] == '\n') length--;
  if (length == 1 && data.data[0] == '\n') length = 0;
  command->body = base_arena_strdup(file->arena, base_buffer_text(&body));
  command->data = base_arena_strndup(file->arena, base_buffer_text(&data), length);
  base_buffer_done(&body);
  base_buffer_done(&data);
}

static void take_command(struct tqt_file *file, struct tqt_case *test, size_t *at) {
  base_grow(&test->commands, &test->capacity, test->count + 1, sizeof *test->commands);
  struct tqt_command *command = &test->commands[test->count++];
  *command = (struct tqt_command){.line = (int)*at + 1};
  const char *rest = file->lines[*at] + 4;
  command->kind = tqt_word(file->arena, &rest);
  command->args = trimmed(file->arena, rest);
  if (!command->kind) {
    file->error =
        base_arena_printf(file->arena, "%s:%zu: a command without a kind", file->path, *at + 1);
    command->kind = "";
  }
  command->first = ++*at;
  while (*at < file->line_count && !opens(file->lines[*at], "--- ") &&
         !opens(file->lines[*at], "=== "))
    ++*at;
  command->last = *at;
  take_body(file, command);
}

void tqt_read(struct tqt_file *file, const char *path) {
  *file = (struct tqt_file){.arena = base_arena_new()};
  file->path = base_arena_strdup(file->arena, path);
  if (!read_lines(file)) {
    file->error = base_arena_printf(file->arena, "cannot read %s", path);
    return;
  }
  for (size_t at = 0; at < file->line_count;) {
    const char *line = file->lines[at];
    if (opens(line, "=== ")) {
      base_grow(&file->cases, &file->capacity, file->count + 1, sizeof *file->cases);
      file->cases[file->count++] =
          (struct tqt_case){.name = trimmed(file->arena, line + 4), .line = (int)at + 1};
      at++;
    } else if (opens(line, "--- ") && file->count > 0) {
      take_command(file, &file->cases[file->count - 1], &at);
    } else if (*line == 0 || *line == '#') {
      at++;
    } else {
      file->error =
          base_arena_printf(file->arena, "%s:%zu: neither case, command nor comment", path, at + 1);
      return;
    }
  }
}

void tqt_done(struct tqt_file *file) {
  for (size_t i = 0; i < file->count; i++) free(file->cases[i].commands);
  free(file->cases);
  free(file->lines);
  base_arena_free(file->arena);
}

/* --- comparing */

static int compare_lines(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void tqt_normalise(struct base_buffer *out, const char *text, bool ordered) {
  char *copy = base_xstrdup(text);
  char **lines = NULL;
  size_t count = 0, capacity = 0;
  for (char *at = copy; *at;) {
    size_t length = strcspn(at, "\n");
    bool end = at[length] == 0;
    at[length] = 0;
    base_grow(&lines, &capacity, count + 1, sizeof *lines);
    lines[count++] = at;
    at += length + !end;
  }
  while (count > 0 && !*lines[count - 1]) count--;
  for (size_t block = 0; block < count;) {
    size_t end = block;
    while (end < count && *lines[end]) end++;
    if (!ordered && end > block + 1)
      qsort(lines + block + 1, end - block - 1, sizeof *lines, compare_lines);
    block = end + 1;
  }
  for (size_t i = 0; i < count; i++) {
    base_buffer_puts(out, lines[i]);
    base_buffer_putc(out, '\n');
  }
  free(lines);
  free(copy);
}
