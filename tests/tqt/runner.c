/* tqt-runner FILE|DIRECTORY...: runs .tqt test files through a session, prints TAP, one point for each
 * case and configuration.
 *
 * Configurations run the same cases: default; rules-off (no optimiser rule); batch-1 (one row per
 * batch); reopen (the database is closed and opened again after every statement, its `range of` and
 * `set` statements run anew, as they belong to sessions). The clock stands still, so that results
 * do not depend on the day. Each case has a directory of its own as working directory.
 *
 * --update writes what the default configuration gives into the files; --expect-failure is for the
 * runner's own test: points must fail, and are reported the other way round.                       */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "tests/temporary.h"
#include "tests/tqt/tqt.h"
#include "tquel/lang/parse.h"
#include "tquel/session/session.h"

#define CLOCK    (INT64_C(1795172523) * 1000000000) /* 2026-11-20T11:02:03Z */
#define DATABASE "test.db"

enum configuration { DEFAULT, RULES_OFF, BATCH_1, REOPEN, CONFIGURATIONS };
static const char *const configuration_names[] = {"default", "rules-off", "batch-1", "reopen"};

struct options {
  bool update, expect_failure;
  const char *only_configuration, *only_case;
};

struct replacement {
  size_t first, last;
  char *text;
};

struct run {
  const struct options *options;
  struct tqt_file *file;
  const struct tqt_case *test;
  enum configuration configuration;
  enum net_timeline timeline;
  bool on_disk;
  struct tql_session *session;
  struct base_diag_sink diags;
  struct tql_output output;
  struct base_buffer rows; /* results as CSV */
  struct base_buffer text; /* help, explain, ... */
  size_t results;
  char **repeated; /* range and set statements, for sessions to come */
  size_t repeated_count, repeated_capacity;
  struct base_buffer why; /* the case failed; TAP diagnostics */
  struct replacement *replacements;
  size_t replacement_count, replacement_capacity;
};

/* --- the outcome */

static void fail(struct run *run, const struct tqt_command *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fail(struct run *run, const struct tqt_command *command, const char *format, ...) {
  char *message = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&message, format, args) < 0) message = NULL;
  va_end(args);
  base_buffer_printf(&run->why, "%s:%d: %s\n", run->file->path, command->line,
                     message ? message : "failed");
  free(message);
}

static bool failed(const struct run *run) {
  return run->why.length > 0;
}

static void print_comment(const char *text) {
  for (const char *at = text; *at;) {
    size_t length = strcspn(at, "\n");
    printf("# %.*s\n", (int)length, at);
    at += length + (at[length] == '\n');
  }
}

/* Sources may have gone with a session that was closed: nothing but the diagnostic's own parts. */
static void list_diags(struct run *run) {
  for (size_t i = 0; i < run->diags.count; i++) {
    const struct base_diag *diag = &run->diags.items[i];
    base_buffer_printf(&run->why, "  %d:%d %s TQ-%04d: %s\n", diag->range.first_line,
                       diag->range.first_column,
                       diag->severity == BASE_ERROR ? "error" : "warning or note",
                       (int)diag->number, diag->message);
    if (diag->hint) base_buffer_printf(&run->why, "  hint: %s\n", diag->hint);
  }
}

static void fail_with_diags(struct run *run, const struct tqt_command *command) {
  fail(run, command, "the statements failed");
  list_diags(run);
}

/* --- the session */

static void on_rows(void *context, const struct tql_rows *rows) {
  struct run *run = context;
  struct tql_format_context format = {.format = TQL_FORMAT_CSV,
                                      .timeline = run->timeline,
                                      .strings = tql_session_strings(run->session),
                                      .results_before = run->results++};
  tql_format_rows(&run->rows, &format, rows);
}

static void on_text(void *context, const char *text) {
  base_buffer_puts(&((struct run *)context)->text, text);
}

static void on_live(void *context, const char *name, const struct net_layout *layout,
                    const union net_slot *row, uint8_t marks, net_chronon checkpoint) {
  (void)context, (void)name, (void)layout, (void)row, (void)marks, (void)checkpoint;
}

static bool open_session(struct run *run, const struct tqt_command *command) {
  struct tql_session_options options = {
      .path = run->on_disk ? DATABASE : NULL,
      .timeline = run->timeline,
      .timeline_given = true,
      .rules_off = run->configuration == RULES_OFF,
      .batch_rows = run->configuration == BATCH_1 ? 1 : 0,
      .checked = true,
  };
  if (run->session) return true;
  if (tql_session_open(&options, &run->diags, &run->session) == BASE_OK) return true;
  run->session = NULL;
  fail_with_diags(run, command);
  return false;
}

static void close_session(struct run *run) {
  tql_session_close(run->session);
  run->session = NULL;
}

static enum base_status run_text(struct run *run, int line, const char *text) {
  return tql_session_run(run->session, "test", line, text, strlen(text), &run->output, false);
}

/* Closes, opens and says again what a session forgets. */
static bool reopen(struct run *run, const struct tqt_command *command) {
  close_session(run);
  if (!open_session(run, command)) return false;
  struct base_diag_sink kept = run->diags;
  base_diag_sink_init(&run->diags);
  for (size_t i = 0; i < run->repeated_count; i++)
    if (run_text(run, 1, run->repeated[i]) != BASE_OK) base_diag_sink_clear(&run->diags);
  base_diag_sink_done(&run->diags);
  run->diags = kept;
  return true;
}

static void remember(struct run *run, const struct tql_statement *statement) {
  if (statement->kind != TQL_S_RANGE && statement->kind != TQL_S_SET) return;
  base_grow(&run->repeated, &run->repeated_capacity, run->repeated_count + 1,
            sizeof *run->repeated);
  run->repeated[run->repeated_count++] = strndup(statement->text, statement->text_length);
}

/* Statement by statement, each at its place in TEXT, with the database reopened in between. */
static enum base_status run_apart(struct run *run, const struct tqt_command *command,
                                  struct tql_statement **list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct base_buffer text = BASE_BUFFER_EMPTY;
    for (int column = 1; column < list[i]->range.first_column; column++)
      base_buffer_putc(&text, ' ');
    base_buffer_append(&text, list[i]->text, list[i]->text_length);
    enum base_status status = run_text(run, list[i]->range.first_line, base_buffer_text(&text));
    base_buffer_done(&text);
    if (status != BASE_OK) return status;
    remember(run, list[i]);
    if (!tql_session_has_feeds(run->session) && !reopen(run, command)) return BASE_SYSTEM;
  }
  return BASE_OK;
}

static enum base_status run_statements(struct run *run, const struct tqt_command *command,
                                       const char *text) {
  struct base_arena *arena = base_arena_new();
  struct base_source source = {.name = "test", .text = text, .length = strlen(text)};
  struct base_diag_sink ignored;
  base_diag_sink_init(&ignored);
  size_t count;
  bool ok;
  struct tql_statement **list = tql_parse(arena, &source, 1, &ignored, &count, &ok);
  enum base_status status;
  if (run->configuration == REOPEN && ok) {
    status = run_apart(run, command, list, count);
  } else {
    status = run_text(run, 1, text);
    for (size_t i = 0; i < count && status == BASE_OK; i++) remember(run, list[i]);
  }
  base_diag_sink_done(&ignored);
  base_arena_free(arena);
  return status;
}

/* --- expectations */

static const struct tqt_command *next_command(const struct run *run,
                                              const struct tqt_command *command) {
  const struct tqt_command *next = command + 1;
  return next < run->test->commands + run->test->count ? next : NULL;
}

static void replace(struct run *run, const struct tqt_command *command, const char *text) {
  base_grow(&run->replacements, &run->replacement_capacity, run->replacement_count + 1,
            sizeof *run->replacements);
  run->replacements[run->replacement_count++] =
      (struct replacement){command->first, command->last, base_xstrdup(text)};
}

static void compare(struct run *run, const struct tqt_command *command, const char *got,
                    bool ordered) {
  struct base_buffer expected = BASE_BUFFER_EMPTY, actual = BASE_BUFFER_EMPTY;
  tqt_normalise(&expected, command->data, ordered);
  tqt_normalise(&actual, got, ordered);
  if (strcmp(base_buffer_text(&expected), base_buffer_text(&actual)) != 0) {
    if (run->options->update) {
      replace(run, command, got);
    } else {
      fail(run, command, "another result\nexpected:\n%sgot:\n%s", base_buffer_text(&expected),
           base_buffer_text(&actual));
    }
  }
  base_buffer_done(&expected);
  base_buffer_done(&actual);
}

static bool looks_like_position(const char *word) {
  size_t digits = strspn(word, "0123456789");
  return digits > 0 && word[digits] == ':' &&
         strspn(word + digits + 1, "0123456789") == strlen(word + digits + 1);
}

/* Is DIAG what ARGS ("TQ-0101 2:7 text fragment") asks for? */
static bool matches(struct run *run, const struct base_diag *diag, const char *args) {
  struct base_arena *arena = run->file->arena;
  const char *number = tqt_word(arena, &args);
  if (number &&
      strncmp(number, base_arena_printf(arena, "TQ-%04d", (int)diag->number), strlen(number)) != 0)
    return false;
  const char *rest = args, *position = tqt_word(arena, &rest);
  if (position && looks_like_position(position)) {
    const char *own =
        base_arena_printf(arena, "%d:%d", diag->range.first_line, diag->range.first_column);
    if (strcmp(position, own) != 0) return false;
    args = rest;
  }
  return !*args || strstr(diag->message, args);
}

static void expect_diag(struct run *run, const struct tqt_command *command,
                        enum base_severity severity) {
  for (size_t i = 0; i < run->diags.count; i++)
    if ((run->diags.items[i].severity == BASE_ERROR) == (severity == BASE_ERROR) &&
        matches(run, &run->diags.items[i], command->args))
      return;
  fail(run, command, "no such diagnostic: %s", command->args);
  list_diags(run);
}

/* Did the statements before end as the commands after them say? */
static void check_status(struct run *run, const struct tqt_command *command,
                         enum base_status status) {
  const struct tqt_command *next = next_command(run, command);
  while (next && strcmp(next->kind, "warning") == 0) next = next_command(run, next);
  bool error = next && strcmp(next->kind, "error") == 0;
  if (status != BASE_OK && !error) fail_with_diags(run, command);
  if (status == BASE_OK && error) fail(run, next, "the statements succeeded");
}

static void begin_step(struct run *run) {
  base_diag_sink_clear(&run->diags);
  base_buffer_clear(&run->rows);
  base_buffer_clear(&run->text);
  run->results = 0;
}

static void do_statements(struct run *run, const struct tqt_command *command, const char *text) {
  begin_step(run);
  check_status(run, command, run_statements(run, command, text));
}

/* --- files and feeds */

static bool write_file(struct run *run, const struct tqt_command *command, const char *name,
                       const char *text, const char *mode) {
  FILE *out = fopen(name, mode);
  if (out && fputs(text, out) >= 0 && fclose(out) == 0) return true;
  fail(run, command, "cannot write %s: %s", name, strerror(errno));
  return false;
}

static bool is_kind(const char *word) {
  static const char *const kinds[] = {"event", "period", "traced", "sampled", "snapshot"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(word, kinds[i]) == 0) return true;
  return false;
}

/* relation [KIND] NAME [(DOMAINS) [by D]]: created if a kind is given; the body is copied into it. */
static void do_relation(struct run *run, const struct tqt_command *command) {
  struct base_arena *arena = run->file->arena;
  const char *args = command->args, *rest = args;
  const char *name = tqt_word(arena, &args);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (!name) {
    fail(run, command, "relation without a name");
    return;
  }
  if (is_kind(name)) {
    const char *kind = name;
    rest = args;
    name = tqt_word(arena, &args);
    base_buffer_printf(&text, "create %s %s\n", strcmp(kind, "snapshot") == 0 ? "" : kind, rest);
  }
  if (*command->data) {
    const char *file = base_arena_printf(arena, "%s-%d.csv", name, command->line);
    if (!write_file(run, command, file, command->data, "w")) return;
    base_buffer_printf(&text, "copy %s from \"%s\"\n", name, file);
  }
  do_statements(run, command, base_buffer_text(&text));
  base_buffer_done(&text);
}

/* What the feeds' files hold is there: it is read in a turn or two, and nothing is waited for. */
static enum base_status follow(struct run *run) {
  enum { TURNS = 4 };
  enum base_status status = BASE_AGAIN;
  for (int turn = 0; turn < TURNS && status == BASE_AGAIN; turn++)
    status = tql_session_follow(run->session, &run->output, 0);
  return status == BASE_AGAIN ? BASE_OK : status;
}

/* feed REL [csv|ndjson] [following [within D]]: the lines go to the end of the feed's file. */
static void do_feed(struct run *run, const struct tqt_command *command) {
  struct base_arena *arena = run->file->arena;
  const char *args = command->args;
  const char *name = tqt_word(arena, &args);
  const char *rest = args, *form = tqt_word(arena, &rest);
  if (form && (strcmp(form, "csv") == 0 || strcmp(form, "ndjson") == 0))
    args = rest;
  else
    form = "csv";
  bool following = strncmp(args, "following", 9) == 0;
  const char *file = following || !*args
                         ? base_arena_printf(arena, "%s-feed.%s", name, form)
                         : base_arena_printf(arena, "%s-%d.%s", name, command->line, form);
  bool again = access(file, F_OK) == 0;
  if (!following && !again) file = base_arena_printf(arena, "%s-%d.%s", name, command->line, form);
  if (!write_file(run, command, file, command->data, again ? "a" : "w")) return;
  begin_step(run);
  enum base_status status = BASE_OK;
  if (!again || following)
    status = run_statements(run, command,
                            base_arena_printf(arena, "copy %s from \"%s\" %s", name, file, args));
  if (status == BASE_OK && tql_session_has_feeds(run->session)) {
    status = follow(run);
    if (status == BASE_OK) status = tql_session_commit(run->session);
  }
  check_status(run, command, status);
}

static void do_script(struct run *run, const struct tqt_command *command) {
  struct base_arena *arena = run->file->arena;
  const char *slash = strrchr(run->file->path, '/');
  int length = slash ? (int)(slash - run->file->path) + 1 : 0;
  const char *path = base_arena_printf(arena, "%.*s%s", length, run->file->path, command->args);
  FILE *in = fopen(path, "r");
  if (!in) {
    fail(run, command, "cannot read %s", path);
    return;
  }
  struct base_buffer text = BASE_BUFFER_EMPTY;
  char block[4096];
  for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;)
    base_buffer_append(&text, block, got);
  fclose(in);
  do_statements(run, command, base_buffer_text(&text));
  base_buffer_done(&text);
}

static void do_expect_file(struct run *run, const struct tqt_command *command) {
  FILE *in = fopen(command->args, "r");
  if (!in) {
    fail(run, command, "there is no file %s", command->args);
    return;
  }
  struct base_buffer text = BASE_BUFFER_EMPTY;
  char block[4096];
  for (size_t got; (got = fread(block, 1, sizeof block, in)) > 0;)
    base_buffer_append(&text, block, got);
  fclose(in);
  compare(run, command, base_buffer_text(&text), true);
  base_buffer_done(&text);
}

static int on_sql_row(void *context, int count, char **values, char **names) {
  struct run *run = context;
  (void)names;
  for (int i = 0; i < count; i++)
    base_buffer_printf(&run->rows, "%s%s", i ? "," : "", values[i] ? values[i] : "NULL");
  base_buffer_putc(&run->rows, '\n');
  return 0;
}

/* sql QUERY: stock sqlite3 reads the file while the session has it open. */
static void do_sql(struct run *run, const struct tqt_command *command) {
  sqlite3 *database = NULL;
  char *message = NULL;
  const char *query = *command->args ? command->args : command->data;
  begin_step(run);
  base_buffer_puts(&run->rows, "sql\n");
  if (sqlite3_open_v2(DATABASE, &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
      sqlite3_exec(database, query, on_sql_row, run, &message) != SQLITE_OK)
    fail(run, command, "sqlite: %s", message ? message : sqlite3_errmsg(database));
  sqlite3_free(message);
  sqlite3_close(database);
}

/* --- commands */

static void do_timeline(struct run *run, const struct tqt_command *command) {
  bool real = strcmp(command->args, "real") == 0;
  if (run->session) fail(run, command, "timeline must come first");
  if (!real && strcmp(command->args, "abstract") != 0) fail(run, command, "no such timeline");
  run->timeline = real ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT;
}

static void do_expect(struct run *run, const struct tqt_command *command) {
  compare(run, command, base_buffer_text(&run->rows), strcmp(command->args, "ordered") == 0);
}

static void do_checkpoint(struct run *run, const struct tqt_command *command) {
  struct base_arena *arena = run->file->arena;
  const char *args = command->args, *time = tqt_word(arena, &args);
  const char *relation = tqt_word(arena, &args);
  do_statements(run, command,
                base_arena_printf(arena, "checkpoint %s%s%s\n", time ? time : "",
                                  relation ? " for " : "", relation ? relation : ""));
}

/* `masked`: of what was measured, numbers with a point and the blanks before them, a # is left. */
static void do_output(struct run *run, const struct tqt_command *command) {
  const char *text = base_buffer_text(&run->text);
  if (strcmp(command->args, "masked") != 0) {
    compare(run, command, text, true);
    return;
  }
  struct base_buffer masked = BASE_BUFFER_EMPTY;
  while (*text) {
    size_t blanks = strspn(text, " "), whole = strspn(text + blanks, "0123456789");
    size_t length = blanks + whole;
    if (blanks > 0 && whole > 0 && text[length] == '.') {
      base_buffer_puts(&masked, " #");
      text += length + 1 + strspn(text + length + 1, "0123456789");
    } else {
      if (length == 0) length = 1;
      base_buffer_append(&masked, text, length);
      text += length;
    }
  }
  compare(run, command, base_buffer_text(&masked), true);
  base_buffer_done(&masked);
}

static void do_command(struct run *run, const struct tqt_command *command) {
  const char *kind = command->kind;
  if (strcmp(kind, "only") == 0 || strcmp(kind, "skip") == 0) return;
  if (strcmp(kind, "timeline") == 0) {
    do_timeline(run, command);
    return;
  }
  if (!open_session(run, command)) return;
  if (strcmp(kind, "run") == 0 || strcmp(kind, "query") == 0) {
    do_statements(run, command, command->body);
  } else if (strcmp(kind, "relation") == 0) {
    do_relation(run, command);
  } else if (strcmp(kind, "expect") == 0) {
    do_expect(run, command);
  } else if (strcmp(kind, "output") == 0) {
    do_output(run, command);
  } else if (strcmp(kind, "error") == 0) {
    expect_diag(run, command, BASE_ERROR);
  } else if (strcmp(kind, "warning") == 0) {
    expect_diag(run, command, BASE_WARNING);
  } else if (strcmp(kind, "checkpoint") == 0) {
    do_checkpoint(run, command);
  } else if (strcmp(kind, "feed") == 0) {
    do_feed(run, command);
  } else if (strcmp(kind, "file") == 0) {
    write_file(run, command, command->args, command->data, "w");
  } else if (strcmp(kind, "expect-file") == 0) {
    do_expect_file(run, command);
  } else if (strcmp(kind, "script") == 0) {
    do_script(run, command);
  } else if (strcmp(kind, "restart") == 0) {
    reopen(run, command);
  } else if (strcmp(kind, "sql") == 0) {
    do_sql(run, command);
  } else {
    fail(run, command, "there is no command %s", kind);
  }
}

/* --- cases */

static bool names_configuration(const struct tqt_command *command, const char *name) {
  for (const char *at = command->args; (at = strstr(at, name)); at++)
    if ((at == command->args || at[-1] == ' ') && strchr(" ", at[strlen(name)])) return true;
  return false;
}

static bool is_wanted(const struct tqt_case *test, const struct options *options,
                      enum configuration configuration) {
  const char *name = configuration_names[configuration];
  if (options->only_configuration && strcmp(options->only_configuration, name) != 0) return false;
  if (options->only_case && !strstr(test->name, options->only_case)) return false;
  for (size_t i = 0; i < test->count; i++) {
    const struct tqt_command *command = &test->commands[i];
    if (strcmp(command->kind, "only") == 0 && !names_configuration(command, name)) return false;
    if (strcmp(command->kind, "skip") == 0 && names_configuration(command, name)) return false;
  }
  return true;
}

static bool needs_file(const struct tqt_case *test, enum configuration configuration) {
  if (configuration == REOPEN) return true;
  for (size_t i = 0; i < test->count; i++)
    if (strcmp(test->commands[i].kind, "restart") == 0 ||
        strcmp(test->commands[i].kind, "sql") == 0)
      return true;
  return false;
}

static void empty_directory(void) {
  DIR *directory = opendir(".");
  for (const struct dirent *entry; directory && (entry = readdir(directory));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) unlink(entry->d_name);
  if (directory) closedir(directory);
}

static void run_case(struct run *run) {
  run->output =
      (struct tql_output){.context = run, .rows = on_rows, .text = on_text, .live = on_live};
  run->timeline = NET_TIMELINE_ABSTRACT;
  run->on_disk = needs_file(run->test, run->configuration);
  base_diag_sink_init(&run->diags);
  for (size_t i = 0; i < run->test->count && !failed(run); i++)
    do_command(run, &run->test->commands[i]);
  close_session(run);
  base_diag_sink_done(&run->diags);
  base_buffer_done(&run->rows);
  base_buffer_done(&run->text);
  for (size_t i = 0; i < run->repeated_count; i++) free(run->repeated[i]);
  free(run->repeated);
  empty_directory();
}

/* --- files */

struct totals {
  int points, bad;
};

static void report(struct totals *totals, const struct run *run) {
  bool good = failed(run) == run->options->expect_failure;
  totals->points++;
  if (!good) totals->bad++;
  const char *base = strrchr(run->file->path, '/');
  printf("%sok %d - %s: %s [%s]\n", good ? "" : "not ", totals->points,
         base ? base + 1 : run->file->path, run->test->name,
         configuration_names[run->configuration]);
  if (!good) print_comment(failed(run) ? base_buffer_text(&run->why) : "it should have failed");
  fflush(stdout);
}

static void write_back(const struct tqt_file *file, const struct replacement *list, size_t count) {
  FILE *out = count > 0 ? fopen(file->path, "w") : NULL;
  size_t next = 0;
  for (size_t i = 0; out && i < file->line_count; i++) {
    if (next < count && list[next].first == i) {
      fputs(list[next].text, out);
      bool blank = list[next].last > list[next].first && !*file->lines[list[next].last - 1];
      if (blank) fputc('\n', out);
      if (list[next].last > i) {
        i = list[next++].last - 1;
        continue;
      }
      next++;
    }
    fprintf(out, "%s\n", file->lines[i]);
  }
  if (out) fclose(out);
}

static void run_file(const struct options *options, const char *path, struct totals *totals) {
  struct tqt_file file;
  struct replacement *replacements = NULL;
  size_t count = 0, capacity = 0;
  tqt_read(&file, path);
  if (file.error) {
    totals->points++;
    totals->bad++;
    printf("not ok %d - %s\n", totals->points, file.error);
  }
  for (size_t i = 0; i < file.count && !file.error; i++) {
    for (int c = 0; c < CONFIGURATIONS; c++) {
      struct run run = {.options = options, .file = &file, .test = &file.cases[i]};
      run.configuration = (enum configuration)c;
      if (!is_wanted(run.test, options, run.configuration)) continue;
      if (options->update && c != DEFAULT) continue;
      run_case(&run);
      report(totals, &run);
      for (size_t r = 0; r < run.replacement_count; r++) {
        base_grow(&replacements, &capacity, count + 1, sizeof *replacements);
        replacements[count++] = run.replacements[r];
      }
      free(run.replacements);
      base_buffer_done(&run.why);
    }
  }
  write_back(&file, replacements, count);
  for (size_t i = 0; i < count; i++) free(replacements[i].text);
  free(replacements);
  tqt_done(&file);
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* All .tqt files below, those in `selftest` excepted unless that is the directory asked for. */
static void run_directory(const struct options *options, const char *path, struct totals *totals) {
  DIR *directory = opendir(path);
  char **names = NULL;
  size_t count = 0, capacity = 0;
  for (const struct dirent *entry; directory && (entry = readdir(directory));) {
    if (entry->d_name[0] == '.' || strcmp(entry->d_name, "selftest") == 0) continue;
    base_grow(&names, &capacity, count + 1, sizeof *names);
    if (asprintf(&names[count], "%s/%s", path, entry->d_name) >= 0) count++;
  }
  if (directory) closedir(directory);
  qsort(names, count, sizeof *names, by_name);
  for (size_t i = 0; i < count; i++) {
    struct stat about;
    if (stat(names[i], &about) == 0 && S_ISDIR(about.st_mode))
      run_directory(options, names[i], totals);
    else if (ends_with(names[i], ".tqt"))
      run_file(options, names[i], totals);
    free(names[i]);
  }
  free(names);
}

static int usage(void) {
  fputs(
      "usage: tqt-runner [--update] [--expect-failure] [--config NAME] [--case TEXT] "
      "FILE|DIRECTORY...\n",
      stderr);
  return 1;
}

int main(int argc, char **argv) {
  struct options options = {0};
  struct totals totals = {0};
  char *directory = temporary_path("tqt-XXXXXX");
  int first = 1;
  for (; first < argc && argv[first][0] == '-'; first++) {
    if (strcmp(argv[first], "--update") == 0)
      options.update = true;
    else if (strcmp(argv[first], "--expect-failure") == 0)
      options.expect_failure = true;
    else if (strcmp(argv[first], "--config") == 0 && first + 1 < argc)
      options.only_configuration = argv[++first];
    else if (strcmp(argv[first], "--case") == 0 && first + 1 < argc)
      options.only_case = argv[++first];
    else
      return usage();
  }
  if (first == argc || !mkdtemp(directory)) return usage();
  char *home = realpath(".", NULL);
  base_env_set_clock(CLOCK);
  for (int i = first; i < argc; i++) {
    struct stat about;
    char *path = realpath(argv[i], NULL);
    if (!path || stat(path, &about) != 0) {
      printf("not ok %d - there is no %s\n", ++totals.points, argv[i]);
      totals.bad++;
    } else if (chdir(directory) == 0) {
      if (S_ISDIR(about.st_mode))
        run_directory(&options, path, &totals);
      else
        run_file(&options, path, &totals);
    }
    free(path);
    if (chdir(home) != 0) return 3;
  }
  printf("1..%d\n", totals.points);
  free(home);
  rmdir(directory);
  free(directory);
  return totals.bad > 0;
}
