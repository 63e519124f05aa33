/* What `tquel help`, `tquel help TQ-nnnn` and --help say.
 *
 * Everything is made from tables: the subcommands of main.c, the options of options.c, the registry of
 * messages. Help on the language and on relations is the session's (`help` as a statement). */
#include "tquel/program/help.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/diag.h"
#include "tquel/program/options.h"
#include "tquel/program/output.h"

#ifndef TQUEL_VERSION
#define TQUEL_VERSION "unknown"
#endif
#define WIDTH 78

/* --- words into lines ------------------------------------------------------------------------ */

static void wrap(struct base_buffer *out, const char *label, const char *text) {
  size_t indent = 11, column = indent;
  base_buffer_printf(out, "  %-9s", label);
  bool first = true;
  while (*text) {
    size_t length = strcspn(text, " ");
    if (!first && column + 1 + length > WIDTH) {
      base_buffer_printf(out, "\n%*s", (int)indent, "");
      column = indent;
      first = true;
    }
    if (!first) base_buffer_putc(out, ' ');
    base_buffer_append(out, text, length);
    column += length + !first;
    first = false;
    text += length;
    while (*text == ' ') text++;
  }
  base_buffer_putc(out, '\n');
}

/* A printf template as people read it. */
static void append_template(struct base_buffer *out, const char *template) {
  for (; *template; template ++) {
    if (*template != '%') {
      base_buffer_putc(out, *template);
      continue;
    }
    template ++;
    if (*template == '%') {
      base_buffer_putc(out, '%');
      continue;
    }
    template += strspn(template, "-+ #0123456789.*hljzt");
    base_buffer_puts(out, "...");
    if (!*template) return;
  }
}

/* --- messages --------------------------------------------------------------------------------- */

static int message_number(const char *topic) {
  if (strncasecmp(topic, "TQ-", 3) == 0)
    topic += 3;
  else if (strncasecmp(topic, "TQ", 2) == 0)
    topic += 2;
  char *end;
  errno = 0;
  long number = strtol(topic, &end, 10);
  if (errno || end == topic || *end || !isdigit((unsigned char)*topic) || number > 9999) return -1;
  return (int)number;
}

bool program_help_message(const char *topic, struct base_buffer *out) {
  static const char *const severities[] = {"note", "warning", "error"};
  const struct base_message_info *info = base_message_find(message_number(topic));
  if (!info) return false;
  base_buffer_printf(out, "TQ-%04d %s (%s", info->number, info->name, severities[info->severity]);
  if (info->severity == BASE_ERROR) base_buffer_printf(out, ", exit code %d", info->exit_code);
  base_buffer_puts(out, ")\n\n");
  if (strcmp(info->template, "%s") != 0) {
    struct base_buffer message = BASE_BUFFER_EMPTY;
    append_template(&message, info->template);
    wrap(out, "message", message.data);
    base_buffer_done(&message);
  }
  wrap(out, "meaning", info->explanation);
  wrap(out, "example", info->example);
  wrap(out, "what now", info->fix);
  return true;
}

static void append_messages(struct base_buffer *out) {
  const struct base_message_info *info;
  for (size_t i = 0; (info = base_message_at(i)); i++)
    base_buffer_printf(out, "TQ-%04d %s\n", info->number, info->name);
}

/* --- commands --------------------------------------------------------------------------------- */

static const struct program_subcommand *subcommands;

void program_help_know(const struct program_subcommand *known) {
  subcommands = known;
}

const struct program_subcommand *program_find_subcommand(const char *name) {
  for (const struct program_subcommand *row = subcommands; row->name; row++)
    if (strcmp(row->name, name) == 0) return row;
  return NULL;
}

const char *program_nearest_command(const char *name) {
  struct base_near near = base_near_to(name);
  for (const struct program_subcommand *row = subcommands; row->name; row++)
    base_near_offer(&near, row->name);
  return near.nearest;
}

static void append_program(struct base_buffer *out) {
  base_buffer_puts(
      out,
      "Usage: tquel [OPTION]... [DB]\n"
      "       tquel COMMAND [ARGUMENT]...\n"
      "\n"
      "A temporal relational query engine for watching running systems. Without a command:\n"
      "the shell on the database file DB, which is created if it does not exist; without\n"
      "DB on a fresh database in memory. Statements come from -c and -f, from standard\n"
      "input if that is not a terminal, or are typed.\n"
      "\n"
      "Options:\n");
  program_options_describe(PROGRAM_RUN, out);
  base_buffer_puts(out,
                   "\nCommands (tquel COMMAND --help says more; a database of such a name is "
                   "written ./NAME):\n");
  for (const struct program_subcommand *row = subcommands; row->name; row++)
    base_buffer_printf(out, "  %-14s %s%s\n", row->name, row->what,
                       row->not_executed ? " (not executed yet)" : "");
  base_buffer_puts(
      out,
      "\nExit status: 0 success; 1 wrong usage; 2 an error in a statement or description;\n"
      "3 a database, file or network error; 4 an assertion failed. tquel help TQ-nnnn\n"
      "explains an error.\n");
}

static void append_subcommand(const struct program_subcommand *row, struct base_buffer *out) {
  base_buffer_printf(out, "Usage: tquel %s %s\n\n", row->name, row->usage);
  base_buffer_printf(out, "%c%s.\n", toupper((unsigned char)row->what[0]), row->what + 1);
  if (row->not_executed) {
    const struct base_message_info *info = base_message_find(row->not_executed);
    base_buffer_printf(out, "\nNot executed yet (TQ-%04d). %s\n", info->number, info->fix);
  }
  if (!row->about) return;
  base_buffer_printf(out, "%s\n\nOptions:\n", row->about);
  row->describe_options(out);
}

static void print_diag(void *context, const struct base_diag *diag) {
  (void)context;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_diag_format(&text, diag);
  fputs(base_buffer_text(&text), stderr);
  base_buffer_done(&text);
}

static int print(struct base_buffer *text) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  diags.on_report = print_diag;
  (void)program_output_once(base_buffer_text(text), text->length, &diags);
  int code = diags.exit_code;
  base_diag_sink_done(&diags);
  base_buffer_done(text);
  return code;
}

int program_help_command(const char *name) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (name)
    append_subcommand(program_find_subcommand(name), &text);
  else
    append_program(&text);
  return print(&text);
}

int program_help_version(void) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_puts(&text, "tquel " TQUEL_VERSION "\n");
  return print(&text);
}

/* Looks like TQ-nnnn or nnnn. */
static bool is_message_number(const char *topic) {
  const char *digits = strncasecmp(topic, "TQ-", 3) == 0 ? topic + 3 : topic;
  return *digits != '\0' && digits[strspn(digits, "0123456789")] == '\0';
}

static int unknown_topic(const char *topic) {
  struct base_diag_sink diags;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  const char *nearest = program_nearest_command(topic);
  base_diag_sink_init(&diags);
  diags.on_report = print_diag;
  if (nearest) base_buffer_printf(&text, "did you mean %s?", nearest);
  bool number = is_message_number(topic);
  (void)base_report_hint(
      &diags, MSG_USAGE, NULL, NULL,
      number    ? "tquel help messages lists all numbers"
      : nearest ? text.data
                : "the topics are the commands, TQ-nnnn and messages; for help on statements run "
                  "tquel and type help",
      number ? "there is no message %s" : "there is no help on %s", topic);
  base_buffer_done(&text);
  base_diag_sink_done(&diags);
  return 1;
}

int program_help_main(int count, char *const *arguments) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (count == 0) return program_help_command(NULL);
  const char *topic = arguments[0];
  if (strcmp(topic, "--help") == 0) return program_help_command("help");
  if (program_find_subcommand(topic)) return program_help_command(topic);
  if (strcmp(topic, "messages") == 0)
    append_messages(&text);
  else if (!program_help_message(topic, &text))
    return unknown_topic(topic);
  return print(&text);
}
