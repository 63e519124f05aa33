/* sdf-header FILE: writes the header of a description to standard output. For this tree's own build, where
 * tquel itself is to have sensors and so cannot be the one who makes their header; everybody else uses
 * `tquel sdf`.                                                                                       */
#include <stdio.h>
#include <stdlib.h>

#include "sensors/sdf/output.h"
#include "sensors/sdf/remote.h"

static void print_diag(void *context, const struct base_diag *diag) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  (void)context;
  base_diag_format(&text, diag);
  fputs(base_buffer_text(&text), stderr);
  base_buffer_done(&text);
}

static bool read_all(const char *path, struct base_buffer *text) {
  char bytes[4096];
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;) {
    base_buffer_append(text, bytes, got);
  }
  return fclose(file) == 0;
}

int main(int count, char **arguments) {
  struct base_buffer text = BASE_BUFFER_EMPTY, remote = BASE_BUFFER_EMPTY;
  struct base_buffer header = BASE_BUFFER_EMPTY;
  struct base_arena *arena = base_arena_new();
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  diags.on_report = print_diag;
  if (count != 2 || !read_all(arguments[1], &text)) {
    fputs("sdf-header: which description?\n", stderr);
    return 1;
  }
  struct base_source source = {
      .name = arguments[1], .text = base_buffer_text(&text), .length = text.length};
  struct sn_format *format = sn_format_default(arena);
  struct sn_description *description = sn_description_read(arena, &source, format, &diags);
  bool good = description != NULL && sn_remote_write(&remote, description, format, &diags);
  if (good) {
    sn_write_header(&header, description, &remote);
    good = fwrite(header.data, 1, header.length, stdout) == header.length && fflush(stdout) == 0;
  }
  base_buffer_done(&header);
  base_buffer_done(&remote);
  base_buffer_done(&text);
  base_diag_sink_done(&diags);
  base_arena_free(arena);
  return good ? 0 : 2;
}
