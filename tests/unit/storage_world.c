/* See storage_world.h. */
#include "tests/temporary.h"
#include "tests/unit/storage_world.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

char *directory;
char *path;
struct base_strings *strings;
struct base_diag_sink diags;
struct base_arena *arena;

static void print_diag(void *context, const struct base_diag *diag) {
  (void)context;
  if (getenv("STORAGE_TEST_VERBOSE"))
    fprintf(stderr, "# TQ-%04d: %s (%s)\n", (int)diag->number, diag->message,
            diag->hint ? diag->hint : "");
}

void set_up(void) {
  arena = base_arena_new();
  char *template = temporary_path("storage_test.XXXXXX");
  directory = base_arena_strdup(arena, template);
  free(template);
  ck_assert_ptr_nonnull(mkdtemp(directory));
  path = base_arena_printf(arena, "%s/test.db", directory);
  strings = base_strings_new();
  base_diag_sink_init(&diags);
  diags.on_report = print_diag;
}

void tear_down(void) {
  char *command = base_arena_printf(arena, "rm -rf '%s'", directory);
  ck_assert_int_eq(system(command), 0);
  base_diag_sink_done(&diags);
  base_strings_free(strings);
  base_arena_free(arena);
}

void ok(enum base_status status) {
  if (status != BASE_OK && diags.count)
    ck_abort_msg("TQ-%04d %s", (int)diags.items[diags.count - 1].number,
                 diags.items[diags.count - 1].message);
  ck_assert_int_eq(status, BASE_OK);
}

struct st_database *open_at(const char *where) {
  struct st_database *database = NULL;
  struct st_options options = {.path = where, .timeline = NET_TIMELINE_REAL};
  ok(st_open(&options, strings, &diags, &database));
  return database;
}

struct st_database *open_reader(const char *where) {
  struct st_database *database = NULL;
  struct st_options options = {.path = where, .readonly = true};
  ok(st_open(&options, strings, &diags, &database));
  return database;
}

/* Opening must be refused with NUMBER, exit code 3, and one diagnostic. */
void refused(struct st_options options, int number) {
  struct st_database *database = NULL;
  base_diag_sink_clear(&diags);
  ck_assert_int_eq(st_open(&options, strings, &diags, &database), BASE_SYSTEM);
  ck_assert_ptr_null(database);
  ck_assert_uint_eq(diags.count, 1);
  ck_assert_int_eq((int)diags.items[0].number, number);
  ck_assert_int_eq(diags.items[0].exit_code, 3);
  base_diag_sink_clear(&diags);
}

struct net_layout *layout_of(const struct st_relation *relation, bool as_event) {
  struct net_field *fields = calloc(relation->domain_count + 1, sizeof *fields);
  for (size_t i = 0; i < relation->domain_count; i++)
    fields[i] =
        (struct net_field){.name = relation->domains[i].name, .type = relation->domains[i].type};
  bool event = as_event || relation->kind == ST_EVENT || relation->kind == ST_DERIVED_EVENT;
  struct net_layout *layout = net_layout_new(arena, event ? NET_EVENT : NET_PERIOD, fields,
                                             (uint32_t)relation->domain_count);
  free(fields);
  return layout;
}

base_string_id text(const char *bytes) {
  return base_strings_intern_text(strings, bytes);
}

void put(struct st_database *database, const char *name, const struct net_layout *layout,
         const union net_slot *row, uint8_t marks) {
  ok(st_net(database)->class->put(st_net(database), name, layout, row, marks));
}

bool close_row(struct st_database *database, const char *name, const struct net_layout *layout,
               net_chronon open_hi, const union net_slot *row, uint8_t marks) {
  union net_slot *open = base_arena_array(arena, layout->slot_count, sizeof *open);
  memcpy(open, row, layout->slot_count * sizeof *open);
  open[2].i = NET_OPEN;
  open[3].i = open_hi;
  enum base_status status =
      st_net(database)->class->close(st_net(database), name, layout, open, row, marks);
  ck_assert(status == BASE_OK || status == BASE_END);
  return status == BASE_OK;
}

/* All rows by a scan with batches of BATCH_ROWS; checks the promises of the checkpoints. */
void scan_form(struct st_database *database, const char *name, const struct net_layout *layout,
               enum net_scan_form form, net_chronon checkpoint, uint32_t batch_rows,
               struct net_rows *ret) {
  scan_wanted(database, name, layout, form, checkpoint, batch_rows, NULL, ret);
}

void scan_wanted(struct st_database *database, const char *name, const struct net_layout *layout,
                 enum net_scan_form form, net_chronon checkpoint, uint32_t batch_rows,
                 const struct net_wanted *wanted, struct net_rows *ret) {
  struct net_source *source;
  struct net_store *store = st_net(database);
  net_rows_init(ret, layout);
  ok(store->class->scan(
      store, &(struct net_scan){name, layout, form, checkpoint, batch_rows, wanted}, &source));
  struct net_batch batch;
  enum base_status status;
  net_chronon promised = NET_BEGINNING;
  size_t batches = 0;
  while ((status = source->next(source, &batch)) == BASE_OK) {
    batches++;
    ck_assert_uint_le(batch.count, batch_rows);
    for (uint32_t i = 0; i < batch.count; i++) {
      const union net_slot *row = net_batch_row(&batch, i);
      ck_assert(row[0].i >= promised);
      net_rows_add_copy(ret, row, net_batch_marks(&batch, i));
    }
    ck_assert(batch.checkpoint >= promised && batch.checkpoint <= checkpoint);
    promised = batch.checkpoint;
  }
  ck_assert_int_eq(status, BASE_END);
  ck_assert(promised == checkpoint);
  /* Batches are full, except where they leave rows out; only the last may be empty. */
  size_t full = ret->count ? (ret->count + batch_rows - 1) / batch_rows : 1;
  if (wanted == NULL)
    ck_assert_uint_eq(batches, full);
  else
    ck_assert(batches >= full && batches <= ret->count + 1);
  ck_assert_int_eq(source->next(source, &batch), BASE_END);
  source->free(source);
}

void scan(struct st_database *database, const char *name, const struct net_layout *layout,
          struct net_rows *ret) {
  scan_form(database, name, layout, NET_SCAN_TUPLES, NET_FOREVER, 7, ret);
}

const struct st_domain x_domain[1] = {{"x", {NET_INTEGER, 8}}};
const struct st_relation event_e = {.name = "E",
                                    .kind = ST_EVENT,
                                    .domains = x_domain,
                                    .domain_count = 1,
                                    .checkpoint = NET_BEGINNING};
const struct st_relation period_p = {.name = "P",
                                     .kind = ST_PERIOD,
                                     .domains = x_domain,
                                     .domain_count = 1,
                                     .checkpoint = NET_BEGINNING};

void create(struct st_database *database, const struct st_relation *relation) {
  ok(st_begin(database));
  ok(st_create(database, relation));
  ok(st_commit(database));
}

void put_event(struct st_database *database, int64_t at, int64_t x, uint8_t marks) {
  const struct net_layout *layout = layout_of(&event_e, false);
  put(database, "E", layout, (union net_slot[]){{.i = at}, {.i = at}, {.i = x}}, marks);
}

int64_t count(struct st_database *database, const char *name) {
  int64_t rows = -1;
  ok(st_count(database, name, &rows));
  return rows;
}

/* What the stock command prints for SQL, lines joined by "\n", without the last newline. */
char *outside(const char *where, const char *sql) {
  char *command = base_arena_printf(arena, "sqlite3 -batch '%s' \"%s\" 2>&1", where, sql);
  FILE *pipe = popen(command, "r");
  struct base_buffer out = BASE_BUFFER_EMPTY;
  char bytes[4096];
  size_t length;
  while ((length = fread(bytes, 1, sizeof bytes, pipe)) > 0)
    base_buffer_append(&out, bytes, length);
  ck_assert_int_eq(pclose(pipe), 0);
  while (out.length && out.data[out.length - 1] == '\n') out.data[--out.length] = 0;
  char *result = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return result;
}

char *slurp(const char *where, size_t *ret_length) {
  FILE *file = fopen(where, "rb");
  ck_assert_ptr_nonnull(file);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  char bytes[4096];
  size_t length;
  while ((length = fread(bytes, 1, sizeof bytes, file)) > 0)
    base_buffer_append(&out, bytes, length);
  fclose(file);
  char *result = base_arena_alloc(arena, out.length + 1);
  if (out.length) memcpy(result, out.data, out.length);
  *ret_length = out.length;
  base_buffer_done(&out);
  return result;
}

void write_file(const char *where, const void *bytes, size_t length) {
  FILE *file = fopen(where, "wb");
  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
  ck_assert_int_eq(fclose(file), 0);
}

size_t files_in(const char *where) {
  DIR *open_directory = opendir(where);
  size_t files = 0;
  for (struct dirent *entry; (entry = readdir(open_directory));) files += entry->d_name[0] != '.';
  closedir(open_directory);
  return files;
}

/* Runs BODY in a child that ends with _exit(0) when all is well. */
int in_child(void (*body)(void)) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int state;
  ck_assert_int_eq(waitpid(child, &state, 0), child);
  return state;
}
