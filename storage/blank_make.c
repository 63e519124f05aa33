/* Run while the product is built: writes C source with a database without relations, of each timeline, as bytes
 * (blank.h). They are what SQLite makes of schema_tables.c. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "storage/schema_tables.h"

static const char *const names[] = {
    [NET_TIMELINE_REAL] = "real", [NET_TIMELINE_ABSTRACT] = "abstract"};

static void fail(sqlite3 *sqlite) {
  fprintf(stderr, "blank_make: %s\n", sqlite ? sqlite3_errmsg(sqlite) : "no memory");
  exit(1);
}

/* Zeros, the most of them, go without saying. */
static void print_file(const unsigned char *file, size_t size, const char *name) {
  printf("static const unsigned char %s_file[%zu] = {", name, size);
  for (size_t i = 0; i < size; i++) {
    if (file[i] == 0) continue;
    if (i == 0 || file[i - 1] == 0) printf("\n[%zu] = ", i);
    printf("%d,", file[i]);
  }
  printf("};\n");
}

static void make(enum net_timeline timeline) {
  sqlite3 *sqlite = NULL;
  sqlite3_int64 size = 0;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  st_sql_blank(&sql, timeline);
  if (sqlite3_open(":memory:", &sqlite) != SQLITE_OK) fail(sqlite);
  if (sqlite3_exec(sqlite, sql.data, NULL, NULL, NULL) != SQLITE_OK) fail(sqlite);
  unsigned char *file = sqlite3_serialize(sqlite, "main", &size, 0);
  if (!file) fail(sqlite);
  print_file(file, (size_t)size, names[timeline]);
  sqlite3_free(file);
  sqlite3_close(sqlite);
  base_buffer_done(&sql);
}

int main(void) {
  const size_t count = sizeof names / sizeof *names;
  printf("/* Made by blank_make.c. */\n#include \"storage/blank.h\"\n\n");
  for (size_t i = 0; i < count; i++) make((enum net_timeline)i);
  printf("const struct st_blank st_blanks[] = {\n");
  for (size_t i = 0; i < count; i++)
    printf("  [%zu] = {%s_file, sizeof %s_file},\n", i, names[i], names[i]);
  printf("};\n");
  return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
