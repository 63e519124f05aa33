/* tquel check-database DB: what is wrong with a database, a line for each finding, and how many there are.
 *
 *      SUBJECT: what is wrong
 *
 * SUBJECT is a relation, a table, an index, "file" or "schema". The last line is "consistent" or "N findings".
 * The database is opened for reading only, so it may be one that a server has. With --compact its file is written anew
 * instead, without the pages that hold nothing.                                                        */
#include <stdio.h>
#include <string.h>

#include "tquel/session/session.h"
#include "tquel/program/help.h"
#include "tquel/program/option_rows.h"
#include "tquel/shell/shell.h"
#include "tquel/program/signals.h"

static const struct program_option_row rows[] = {
    {"--quiet", NULL, "print nothing: the exit status alone says it"},
    {"--compact", NULL, "check nothing; give back what the file has and does not need"},
    {"--help", NULL, "print this and exit"},
};
static const struct program_option_rows options = {"check-database", rows,
                                                   sizeof rows / sizeof *rows, 10};

void shell_check_database_describe(struct base_buffer *out) {
  program_option_rows_describe(&options, out);
}

struct findings {
  bool quiet;
  size_t count;
};

/* Somebody's names and texts may have any bytes; a finding is one line. */
static void print_part(const char *text) {
  for (; *text; text++) putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

static void on_finding(void *context, const char *subject, const char *text) {
  struct findings *findings = context;
  findings->count++;
  if (findings->quiet) return;
  print_part(subject);
  fputs(": ", stdout);
  print_part(text);
  putchar('\n');
}

static void print_diags(const struct base_diag_sink *diags) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < diags->count; i++) base_diag_format(&text, &diags->items[i]);
  fputs(base_buffer_text(&text), stderr);
  base_buffer_done(&text);
}

/* Much of the file may hold nothing. */
static enum base_status note_unused(struct tql_session *session, const char *path,
                                    struct base_diag_sink *diags) {
  uint64_t bytes, unused;
  bool much;
  enum base_status status = tql_session_space(session, &bytes, &unused, &much);
  if (status == BASE_OK && much)
    base_report_hint(diags, MSG_MUCH_UNUSED, NULL, NULL,
                     "tquel check-database --compact DB gives them back",
                     "%llu of the %llu MiB of %s hold nothing", (unsigned long long)(unused >> 20),
                     (unsigned long long)(bytes >> 20), path);
  return status;
}

/* The exit code; what is wrong besides findings is in DIAGS. */
static int check(const char *path, bool quiet, struct base_diag_sink *diags) {
  struct tql_session_options session_options = {.path = path, .readonly = true, .check_only = true};
  struct tql_session *session = NULL;
  struct findings findings = {.quiet = quiet};
  enum base_status status = tql_session_open(&session_options, diags, &session);
  if (status == BASE_OK) {
    status = tql_session_check(session, on_finding, &findings);
    if (status == BASE_OK && !quiet) status = note_unused(session, path, diags);
    tql_session_close(session);
  }
  if (status != BASE_OK) return 3;
  if (!quiet && findings.count == 0) puts("consistent");
  if (!quiet && findings.count > 0)
    printf("%zu finding%s\n", findings.count, findings.count == 1 ? "" : "s");
  return findings.count > 0 ? 3 : 0;
}

/* A database that is not there is not to be made: so it is opened for reading first. */
static enum base_status open_to_compact(const char *path, struct base_diag_sink *diags,
                                        struct tql_session **ret) {
  struct tql_session_options session_options = {.path = path, .readonly = true, .check_only = true};
  struct tql_session *session = NULL;
  enum base_status status = tql_session_open(&session_options, diags, &session);
  if (status != BASE_OK) return status;
  tql_session_close(session);
  session_options.readonly = false;
  return tql_session_open(&session_options, diags, ret);
}

static int compact(const char *path, bool quiet, struct base_diag_sink *diags) {
  struct tql_session *session = NULL;
  uint64_t before, after, unused;
  bool much;
  enum base_status status = open_to_compact(path, diags, &session);
  if (status != BASE_OK) return 3;
  status = tql_session_space(session, &before, &unused, &much);
  if (status == BASE_OK) status = tql_session_compact(session);
  if (status == BASE_OK) status = tql_session_space(session, &after, &unused, &much);
  tql_session_close(session);
  if (status != BASE_OK) return 3;
  if (!quiet)
    printf("%llu KiB of %llu KiB given back\n",
           before > after ? (unsigned long long)(before - after) >> 10 : 0,
           (unsigned long long)before >> 10);
  return 0;
}

int shell_check_database_main(int count, char *const *arguments) {
  struct base_diag_sink diags;
  const char *path = NULL;
  bool quiet = false, compacts = false, wrong = false, ends = false;
  int code = 1;
  base_diag_sink_init(&diags);
  for (int i = 0; i < count && !wrong; i++) {
    const char *argument = arguments[i], *value;
    if (!ends && strcmp(argument, "--") == 0) {
      ends = true;
    } else if (!ends && strcmp(argument, "-q") == 0) {
      quiet = true;
    } else if (!ends && argument[0] == '-' && argument[1] != '\0') {
      size_t row = program_option_find(&options, &diags, argument, &value);
      wrong = row == options.count;
      compacts |= row == 1;
      if (row == 2) {
        base_diag_sink_done(&diags);
        return program_help_command(options.command);
      }
      quiet |= row == 0;
    } else if (path) {
      wrong = !program_option_wrong(&options, &diags, NULL,
                                    "one database at a time, and %s is another", argument);
    } else {
      path = argument;
    }
  }
  if (!wrong && !path)
    wrong = !program_option_wrong(&options, &diags, NULL, "which database? %s wants its file",
                                  "tquel check-database");
  if (!wrong) {
    program_signals_install(false);
    code = compacts ? compact(path, quiet, &diags) : check(path, quiet, &diags);
  }
  if (fflush(stdout) != 0 && code == 0) code = 3;
  print_diags(&diags);
  base_diag_sink_done(&diags);
  return code;
}
