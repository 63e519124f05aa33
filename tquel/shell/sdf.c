/* `tquel sdf`: the preprocessor of sensor descriptions (thesis 8.2.2).
 *
 *   tquel sdf FILE                          checks it, and says what is in it
 *   tquel sdf FILE --header OUT ...         checks it, and writes what is asked for
 *   tquel sdf --diff OLD NEW                compares two
 *
 * FILE may also be a program: what it says of itself is read. Nothing is written unless all is right,
 * and a file that is written is complete or not there: it is moved into its place.                */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sensors/sdf/output.h"
#include "sensors/sdf/remote.h"
#include "tquel/lang/parse.h"
#include "tquel/program/help.h"
#include "tquel/program/option_rows.h"
#include "tquel/shell/shell.h"

enum sdf_option {
  SDF_HEADER,
  SDF_TQUEL,
  SDF_DOC,
  SDF_REMOTE,
  SDF_DIFF,
  SDF_DFF,
  SDF_TASKFORCE,
  SDF_QUIET,
  SDF_HELP,
  SDF_OPTIONS
};

static const struct program_option_row rows[SDF_OPTIONS] = {
    [SDF_HEADER] = {"--header", "OUT", "write the C header of the sensors"},
    [SDF_TQUEL] = {"--tquel", "OUT", "write create statements for the relations"},
    [SDF_DOC] = {"--doc", "OUT", "write documentation in Markdown"},
    [SDF_REMOTE] = {"--remote", "OUT", "write the remote description that programs carry"},
    [SDF_DIFF] = {"--diff", "OLD NEW", "say what differs, and whether NEW is compatible with OLD"},
    [SDF_DFF] = {"--dff", "FILE", "the format of descriptions, in place of the program's own"},
    [SDF_TASKFORCE] = {"--taskforce", "NAME", "of several descriptions in a program, that of NAME"},
    [SDF_QUIET] = {"--quiet", NULL, "do not say what is in the description (also -q)"},
    [SDF_HELP] = {"--help", NULL, "this text"},
};
static const struct program_option_rows options_known = {"sdf", rows, SDF_OPTIONS, 19};

struct sdf {
  struct base_arena *arena;
  struct base_diag_sink diags;
  const char *file, *dff, *taskforce, *older, *newer;
  const char *outputs[SDF_REMOTE + 1]; /* SDF_HEADER to SDF_REMOTE */
  bool quiet, help;
  struct sn_format *own, *format; /* the program's, and that of descriptions */
};

void shell_sdf_describe(struct base_buffer *out) {
  program_option_rows_describe(&options_known, out);
}

/* --- the command line ------------------------------------------------------------------------- */

static bool wrong(struct sdf *sdf, const char *hint, const char *text, const char *value) {
  return program_option_wrong(&options_known, &sdf->diags, hint, text, value);
}

static bool take_option(struct sdf *sdf, enum sdf_option option, const char *value,
                        const char *second) {
  switch (option) {
    case SDF_HEADER:
    case SDF_TQUEL:
    case SDF_DOC:
    case SDF_REMOTE:
      if (sdf->outputs[option]) return wrong(sdf, NULL, "%s is given twice", rows[option].name);
      sdf->outputs[option] = value;
      break;
    case SDF_DFF:
      sdf->dff = value;
      break;
    case SDF_TASKFORCE:
      sdf->taskforce = value;
      break;
    case SDF_DIFF:
      if (sdf->older) return wrong(sdf, NULL, "%s is given twice", rows[option].name);
      sdf->older = value;
      sdf->newer = second;
      break;
    case SDF_QUIET:
      sdf->quiet = true;
      break;
    case SDF_HELP:
      sdf->help = true;
      break;
    case SDF_OPTIONS:
      break;
  }
  return true;
}

/* Takes the option at ARGUMENTS[*INDEX] with its values. */
static bool read_option(struct sdf *sdf, int count, char *const *arguments, int *index) {
  const char *argument = arguments[*index], *value = NULL, *second = NULL;
  if (strcmp(argument, "-q") == 0) argument = "--quiet";
  size_t option = program_option_find(&options_known, &sdf->diags, argument, &value);
  if (option == SDF_OPTIONS) return false;
  const struct program_option_row *row = &rows[option];
  if (row->value && !value) value = *index + 1 < count ? arguments[++*index] : NULL;
  if (option == SDF_DIFF && value) second = *index + 1 < count ? arguments[++*index] : NULL;
  bool complete = !row->value || (value && *value && (option != SDF_DIFF || second));
  if (!complete) {
    const char *hint = base_arena_printf(sdf->arena, "%s %s", row->name, row->value);
    return wrong(sdf, hint, "%s needs a value", row->name);
  }
  return take_option(sdf, (enum sdf_option)option, value, second);
}

static bool read_arguments(struct sdf *sdf, int count, char *const *arguments) {
  bool options = true;
  for (int i = 0; i < count; i++) {
    const char *argument = arguments[i];
    if (options && strcmp(argument, "--") == 0) {
      options = false;
    } else if (options && argument[0] == '-' && argument[1] != '\0') {
      if (!read_option(sdf, count, arguments, &i)) return false;
    } else if (sdf->file || *argument == '\0') {
      return wrong(sdf, "one description at a time", "%s is one file too many", argument);
    } else {
      sdf->file = argument;
    }
  }
  if (sdf->help) return true;
  bool any = false;
  for (size_t i = 0; i <= SDF_REMOTE; i++) any = any || sdf->outputs[i];
  if (sdf->older && (sdf->file || any))
    return wrong(sdf, "for instance: tquel sdf --diff OLD NEW", "%s stands alone", "--diff");
  if (!sdf->older && !sdf->file)
    return wrong(sdf, "for instance: tquel sdf pde.sdf --header pde.h", "%s", "which description?");
  return true;
}

/* --- reading ---------------------------------------------------------------------------------- */

static struct base_source *read_source(struct sdf *sdf, const char *path) {
  struct base_buffer bytes = BASE_BUFFER_EMPTY;
  struct base_source *source = BASE_NEW(sdf->arena, struct base_source);
  bool ok = shell_read_file(path, &sdf->diags, &bytes);
  source->name = strcmp(path, "-") == 0 ? "<stdin>" : path;
  source->text = base_arena_strndup(sdf->arena, base_buffer_text(&bytes), 0);
  if (ok && bytes.length > 0) {
    char *copy = base_arena_alloc(sdf->arena, bytes.length + 1);
    memcpy(copy, bytes.data, bytes.length);
    source->text = copy;
    source->length = bytes.length;
  }
  base_buffer_done(&bytes);
  return ok ? source : NULL;
}

static bool read_format(struct sdf *sdf) {
  sdf->format = sdf->own = sn_format_default(sdf->arena);
  if (!sdf->dff) return true;
  struct base_source *source = read_source(sdf, sdf->dff);
  sdf->format = source ? sn_format_read(sdf->arena, source, &sdf->diags) : NULL;
  return sdf->format != NULL;
}

/* `tquel sdf pde` means pde.sdf where there is no pde. */
static const char *with_ending(struct sdf *sdf, const char *path) {
  const char *slash = strrchr(path, '/');
  if (strcmp(path, "-") == 0 || strchr(slash ? slash : path, '.') || access(path, F_OK) == 0)
    return path;
  const char *longer = base_arena_printf(sdf->arena, "%s%s", path, sdf->format->file_default);
  return access(longer, F_OK) == 0 ? longer : path;
}

/* All descriptions in a program, that of --taskforce only if it was given. */
static struct sn_description **read_program(struct sdf *sdf, const struct base_source *program,
                                            size_t *ret_count) {
  struct sn_note *notes;
  size_t count;
  if (!sn_elf_notes(sdf->arena, program->text, program->length, &notes, &count)) {
    base_report(&sdf->diags, MSG_NO_DESCRIPTION, NULL, NULL, "%s is damaged", program->name);
    return NULL;
  }
  struct sn_description **all = BASE_NEW_ARRAY(sdf->arena, count + 1, struct sn_description *);
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    struct base_source *source = BASE_NEW(sdf->arena, struct base_source);
    source->name = program->name;
    source->text = notes[i].text;
    source->length = notes[i].length;
    all[found] = sn_description_read_remote(sdf->arena, source, sdf->own, &sdf->diags);
    if (!all[found]) return NULL;
    if (!sdf->taskforce || strcasecmp(all[found]->name, sdf->taskforce) == 0) found++;
  }
  *ret_count = found;
  if (found > 0) return all;
  base_report_hint(&sdf->diags, MSG_NO_DESCRIPTION, NULL, NULL,
                   "a program holds one when it includes the header made from a description",
                   sdf->taskforce ? "%s holds no description of the task force %s"
                                  : "%s holds no sensor description",
                   program->name, sdf->taskforce);
  return NULL;
}

static struct sn_description **read_descriptions(struct sdf *sdf, const char *path,
                                                 size_t *ret_count) {
  struct base_source *source = read_source(sdf, with_ending(sdf, path));
  if (!source) return NULL;
  if (sn_elf_is(source->text, source->length)) return read_program(sdf, source, ret_count);
  struct sn_description **one = BASE_NEW_ARRAY(sdf->arena, 1, struct sn_description *);
  *one = sn_description_read(sdf->arena, source, sdf->format, &sdf->diags);
  *ret_count = 1;
  return *one ? one : NULL;
}

static struct sn_description *read_one(struct sdf *sdf, const char *path) {
  size_t count = 0;
  struct sn_description **all = read_descriptions(sdf, path, &count);
  if (!all || count == 1) return all ? all[0] : NULL;
  struct base_buffer names = BASE_BUFFER_EMPTY;
  base_buffer_puts(&names, "choose one with --taskforce:");
  for (size_t i = 0; i < count; i++) base_buffer_printf(&names, " %s", all[i]->name);
  base_report_hint(&sdf->diags, MSG_SEVERAL_DESCRIPTIONS, NULL, NULL, names.data,
                   "%s holds %zu sensor descriptions", path, count);
  base_buffer_done(&names);
  return NULL;
}

/* --- writing ---------------------------------------------------------------------------------- */

static bool write_all(int descriptor, const struct base_buffer *text) {
  for (size_t done = 0; done < text->length;) {
    ssize_t written = write(descriptor, text->data + done, text->length - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    done += (size_t)written;
  }
  return true;
}

/* Into a new file beside PATH, which then takes its place. */
static bool replace_file(const char *path, const struct base_buffer *text) {
  struct base_buffer beside = BASE_BUFFER_EMPTY;
  mode_t mask = umask(0);
  umask(mask);
  base_buffer_printf(&beside, "%s.XXXXXX", path);
  int descriptor = mkstemp(beside.data);
  bool ok = descriptor >= 0 && write_all(descriptor, text) && fchmod(descriptor, 0666 & ~mask) == 0;
  if (descriptor >= 0 && close(descriptor) != 0) ok = false;
  ok = ok && rename(beside.data, path) == 0;
  int error = errno;
  if (!ok && descriptor >= 0) unlink(beside.data);
  base_buffer_done(&beside);
  errno = error;
  return ok;
}

static bool write_file(const char *path, const struct base_buffer *text) {
  struct stat status;
  if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) return replace_file(path, text);
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  bool ok = descriptor >= 0 && write_all(descriptor, text);
  if (descriptor >= 0 && close(descriptor) != 0) ok = false;
  return ok;
}

static bool put(struct sdf *sdf, const char *path, const struct base_buffer *text) {
  bool to_stdout = strcmp(path, "-") == 0;
  if (to_stdout ? write_all(STDOUT_FILENO, text) : write_file(path, text)) return true;
  if (to_stdout && errno == EPIPE) return true;
  base_report(&sdf->diags, MSG_OUTPUT_FAILED, NULL, NULL, "cannot write %s: %s",
              to_stdout ? "standard output" : path, strerror(errno));
  return false;
}

static bool make_output(struct sdf *sdf, enum sdf_option option,
                        const struct sn_description *description,
                        const struct base_buffer *remote) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (option == SDF_HEADER) sn_write_header(&text, description, remote);
  if (option == SDF_TQUEL) sn_write_tquel(&text, description, tql_keywords());
  if (option == SDF_DOC) sn_write_document(&text, description, tql_keywords());
  if (option == SDF_REMOTE) base_buffer_append(&text, remote->data, remote->length);
  bool ok = put(sdf, sdf->outputs[option], &text);
  base_buffer_done(&text);
  return ok;
}

static bool make_outputs(struct sdf *sdf) {
  struct sn_description *description = read_one(sdf, sdf->file);
  struct base_buffer remote = BASE_BUFFER_EMPTY;
  bool ok = description && sn_remote_write(&remote, description, sdf->own, &sdf->diags);
  for (enum sdf_option i = SDF_HEADER; ok && i <= SDF_REMOTE; i++)
    if (sdf->outputs[i]) ok = make_output(sdf, i, description, &remote);
  base_buffer_done(&remote);
  return ok;
}

static bool check(struct sdf *sdf) {
  size_t count = 0;
  struct sn_description **all = read_descriptions(sdf, sdf->file, &count);
  struct base_buffer text = BASE_BUFFER_EMPTY, remote = BASE_BUFFER_EMPTY;
  bool ok = all != NULL;
  for (size_t i = 0; ok && i < count; i++) {
    ok = sn_remote_write(&remote, all[i], sdf->own, &sdf->diags);
    if (!sdf->quiet) sn_write_summary(&text, all[i]);
  }
  ok = ok && put(sdf, "-", &text);
  base_buffer_done(&text);
  base_buffer_done(&remote);
  return ok;
}

static bool differ(struct sdf *sdf) {
  struct sn_description *older = read_one(sdf, sdf->older);
  struct sn_description *newer = older ? read_one(sdf, sdf->newer) : NULL;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (!newer) return false;
  bool compatible = sn_write_differences(&text, older, newer);
  bool ok = sdf->quiet || put(sdf, "-", &text);
  base_buffer_done(&text);
  if (!compatible)
    base_report(&sdf->diags, MSG_NOT_COMPATIBLE, NULL, NULL, "%s is not compatible with %s",
                sdf->newer, sdf->older);
  return ok && compatible;
}

static void print_diag(void *context, const struct base_diag *diag) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  (void)context;
  base_diag_format(&text, diag);
  fputs(base_buffer_text(&text), stderr);
  base_buffer_done(&text);
}

int shell_sdf_main(int count, char *const *arguments) {
  struct sdf sdf = {.arena = base_arena_new()};
  base_diag_sink_init(&sdf.diags);
  sdf.diags.on_report = print_diag;
  int code;
  if (!read_arguments(&sdf, count, arguments)) {
    code = sdf.diags.exit_code;
  } else if (sdf.help) {
    code = program_help_command("sdf");
  } else {
    bool any = false, ok = read_format(&sdf);
    for (size_t i = 0; i <= SDF_REMOTE; i++) any = any || sdf.outputs[i];
    ok = ok && (sdf.older ? differ(&sdf) : any ? make_outputs(&sdf) : check(&sdf));
    code = ok ? 0 : sdf.diags.exit_code;
  }
  base_diag_sink_done(&sdf.diags);
  base_arena_free(sdf.arena);
  return code;
}
