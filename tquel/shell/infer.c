/* tquel infer FILE...: the statements that take each file, with what was guessed as comments. Nothing is stored. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "engine/base/printable.h"
#include "tquel/infer/infer.h"
#include "tquel/infer/spool.h"
#include "tquel/program/help.h"
#include "tquel/program/option_rows.h"
#include "tquel/program/signals.h"
#include "tquel/shell/shell.h"

enum infer_option {
  INFER_ALL,
  INFER_SAMPLE,
  INFER_RELATION,
  INFER_ABSTRACT,
  INFER_HELP,
  INFER_OPTIONS
};

static const struct program_option_row rows[INFER_OPTIONS] = {
    [INFER_ALL] = {"--all", NULL, "look at all records, and not at the first 10000"},
    [INFER_SAMPLE] = {"--sample", "N", "look at the first N records"},
    [INFER_RELATION] = {"--relation", "NAME", "call the relation NAME, not like the file"},
    [INFER_ABSTRACT] = {"--abstract", NULL,
                        "for a database with the abstract timeline: times are integers"},
    [INFER_HELP] = {"--help", NULL, "print this and exit"},
};
static const struct program_option_rows options_known = {"infer", rows, INFER_OPTIONS, 17};

enum { INPUT_LOOKED_AT = 64 << 20 };

void shell_infer_describe(struct base_buffer *out) {
  program_option_rows_describe(&options_known, out);
}

struct inferring {
  struct base_arena *arena;
  struct base_diag_sink diags;
  size_t sample;
  const char *relation;
  bool abstract, help;
  const char **files;
  size_t count, capacity;
  struct base_buffer names; /* of relations so far, each behind a newline */
};

static bool wrong(struct inferring *inferring, const char *hint, const char *text,
                  const char *value) {
  return program_option_wrong(&options_known, &inferring->diags, hint, text, value);
}

static bool take_sample(struct inferring *inferring, const char *value) {
  char *end;
  errno = 0;
  long long sample = strtoll(value, &end, 10);
  if (errno != 0 || *end != '\0' || sample < 1)
    return wrong(inferring, "--sample 100000", "%s is no number of records", value);
  inferring->sample = (size_t)sample;
  return true;
}

static bool read_option(struct inferring *inferring, int count, char *const *arguments,
                        int *index) {
  const char *value = NULL;
  size_t option = program_option_find(&options_known, &inferring->diags, arguments[*index], &value);
  if (option == INFER_OPTIONS) return false;
  if (rows[option].value != NULL && value == NULL)
    value = *index + 1 < count ? arguments[++*index] : NULL;
  if (rows[option].value != NULL && (value == NULL || *value == '\0'))
    return wrong(inferring, NULL, "%s needs a value", rows[option].name);
  if (option == INFER_ALL) inferring->sample = 0;
  if (option == INFER_RELATION) inferring->relation = value;
  inferring->abstract |= option == INFER_ABSTRACT;
  inferring->help |= option == INFER_HELP;
  return option != INFER_SAMPLE || take_sample(inferring, value);
}

static bool read_arguments(struct inferring *inferring, int count, char *const *arguments) {
  bool options = true;
  for (int i = 0; i < count; i++) {
    const char *argument = arguments[i];
    if (options && strcmp(argument, "--") == 0) {
      options = false;
    } else if (options && argument[0] == '-' && argument[1] != '\0') {
      if (!read_option(inferring, count, arguments, &i)) return false;
    } else {
      base_grow(&inferring->files, &inferring->capacity, inferring->count + 1,
                sizeof *inferring->files);
      inferring->files[inferring->count++] = argument;
    }
  }
  if (inferring->help) return true;
  if (inferring->count == 0)
    return wrong(inferring, "for instance: tquel infer requests.csv", "%s", "which file?");
  if (inferring->count > 1 && inferring->relation != NULL)
    return wrong(inferring, "several files as one relation: tquel infer 'logs/*.csv'",
                 "%s is for one file", "--relation");
  return true;
}

/* Relations of one run have names of their own. */
static bool is_taken(void *context, const char *name) {
  const struct inferring *inferring = context;
  size_t length = strlen(name);
  for (const char *at = base_buffer_text(&inferring->names); *at != '\0';) {
    const char *end = strchr(at, '\n');
    if ((size_t)(end - at) == length && strncasecmp(at, name, length) == 0) return true;
    at = end + 1;
  }
  return false;
}

static enum base_status infer_paths(struct inferring *inferring, const char *shown,
                                    const char *const *paths, size_t count) {
  struct tql_infer_options options = {.paths = paths,
                                      .path_count = count,
                                      .shown = shown,
                                      .relation = inferring->relation,
                                      .sample = inferring->sample,
                                      .taken = is_taken,
                                      .context = inferring};
  static const char *const input[] = {"-"};
  struct tql_inferred inferred;
  int kept = -1;
  enum base_status status = BASE_OK;
  options.time.timeline = inferring->abstract ? NET_TIMELINE_ABSTRACT : NET_TIMELINE_REAL;
  options.time.now = options.time.start = base_env_now();
  options.time.zone = net_zone_local();
  if (count == 1 && tql_is_stream(paths[0])) {
    status =
        tql_spool(paths[0], inferring->sample == 0 ? 0 : INPUT_LOOKED_AT, &inferring->diags, &kept);
    options.paths = input;
    options.descriptor = kept;
  }
  if (status == BASE_OK)
    status = tql_infer(inferring->arena, &options, &inferring->diags, &inferred);
  if (kept >= 0) close(kept);
  net_zone_release(options.time.zone);
  if (status != BASE_OK) return status;
  base_buffer_printf(&inferring->names, "%s\n", inferred.relation);
  struct base_buffer text = BASE_BUFFER_EMPTY, shown_text = BASE_BUFFER_EMPTY;
  tql_inferred_print(&text, &inferred);
  base_buffer_printable_lines(&shown_text, base_buffer_text(&text), text.length);
  fwrite(base_buffer_text(&shown_text), 1, shown_text.length, stdout);
  base_buffer_done(&shown_text);
  base_buffer_done(&text);
  return BASE_OK;
}

/* FILE, or the files whose names it matches. */
static enum base_status infer_file(struct inferring *inferring, const char *file) {
  glob_t found;
  if (strpbrk(file, "*?[") == NULL || access(file, F_OK) == 0 || glob(file, 0, NULL, &found) != 0)
    return infer_paths(inferring, file, &file, 1);
  enum base_status status =
      infer_paths(inferring, file, (const char *const *)found.gl_pathv, found.gl_pathc);
  globfree(&found);
  return status;
}

static void print_diags(const struct base_diag_sink *diags) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < diags->count; i++) base_diag_format(&text, &diags->items[i]);
  fputs(base_buffer_text(&text), stderr);
  base_buffer_done(&text);
}

static int infer_all(struct inferring *inferring) {
  enum base_status status = BASE_OK;
  program_signals_install(false);
  for (size_t i = 0; i < inferring->count && status == BASE_OK; i++) {
    if (i > 0) putchar('\n');
    status = infer_file(inferring, inferring->files[i]);
  }
  if (status == BASE_CANCEL)
    base_report(&inferring->diags, MSG_CANCELLED, NULL, NULL, "interrupted");
  return fflush(stdout) != 0 || status != BASE_OK ? 3 : 0;
}

int shell_infer_main(int count, char *const *arguments) {
  struct inferring inferring = {.arena = base_arena_new(), .sample = TQL_INFER_SAMPLE};
  base_diag_sink_init(&inferring.diags);
  int code = 1;
  if (read_arguments(&inferring, count, arguments))
    code = inferring.help ? program_help_command(options_known.command) : infer_all(&inferring);
  print_diags(&inferring.diags);
  base_diag_sink_done(&inferring.diags);
  base_buffer_done(&inferring.names);
  free(inferring.files);
  base_arena_free(inferring.arena);
  return code;
}
