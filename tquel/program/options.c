/* Reads command lines from one table of options.
 *
 * Long options take their value after `=` or as the next argument; short ones directly or as the next
 * argument; options and other arguments come in any order; `--` ends the options. Abbreviations are
 * not accepted: a script must not change its meaning when an option is added. Every mistake is TQ-0001
 * with a hint.                                                                                      */
#include "tquel/lang/variables.h"
#include "tquel/program/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/batch.h"
#include "tquel/format/format.h"

enum option {
  OPTION_COMMAND,
  OPTION_FILE,
  OPTION_VARIABLE,
  OPTION_FORMAT,
  OPTION_TIMELINE,
  OPTION_READONLY,
  OPTION_SINGLE_TRANSACTION,
  OPTION_QUIET,
  OPTION_TIMING,
  OPTION_CONNECT,
  OPTION_SOCKET,
  OPTION_LISTEN,
  OPTION_CERTIFICATE,
  OPTION_KEY,
  OPTION_TOKEN_FILE,
  OPTION_AUTHORITY,
  OPTION_CLIENT_AUTHORITY,
  OPTION_GROUP,
  OPTION_MEMORY,
  OPTION_STATEMENT_MEMORY,
  OPTION_TIME_LIMIT,
  OPTION_LOG_LIMIT,
  OPTION_CONNECTIONS,
  OPTION_STATEMENTS,
  OPTION_INPUT_FORMAT,
  OPTION_WITHIN,
  OPTION_AS,
  OPTION_RULES_OFF,
  OPTION_BATCH_ROWS,
  OPTION_HELP,
  OPTION_VERSION,
};

static const struct row {
  enum option option;
  unsigned commands;      /* enum program_command, or-ed */
  const char *short_name; /* NULL: none */
  const char *long_name;
  const char *value; /* NULL: takes none */
  const char *what;
} rows[] = {
    {OPTION_COMMAND, PROGRAM_RUN, "-c", NULL, "STATEMENTS",
     "run the statements and exit; -c and -f may be repeated"},
    {OPTION_FILE, PROGRAM_RUN, "-f", NULL, "FILE",
     "run the statements in FILE and exit; - is standard input"},
    {OPTION_VARIABLE, PROGRAM_RUN | PROGRAM_EXPLAIN, "-v", NULL, "NAME=VALUE",
     "$NAME in statements stands for this constant (\\set)"},
    {OPTION_FORMAT, PROGRAM_RUN, NULL, "--format", "NAME",
     "table, csv, json, ndjson, line, markdown, timeline or count\n"
     "(table on a terminal, else csv)"},
    {OPTION_TIMELINE, PROGRAM_RUN | PROGRAM_EXPLAIN | PROGRAM_SERVE, NULL, "--timeline", "NAME",
     "real or abstract: the timeline of a new database (real)"},
    {OPTION_READONLY, PROGRAM_RUN, NULL, "--readonly", NULL, "change nothing in the database"},
    {OPTION_SINGLE_TRANSACTION, PROGRAM_RUN, NULL, "--single-transaction", NULL,
     "each -c, -f or script on standard input as a whole or not at all"},
    {OPTION_INPUT_FORMAT, PROGRAM_FEED, NULL, "--format", "NAME",
     "csv or ndjson (what the first byte looks like)"},
    {OPTION_WITHIN, PROGRAM_FEED, NULL, "--within", "DURATION",
     "records may come so late, as in \"5 ms\" (0)"},
    {OPTION_QUIET, PROGRAM_RUN | PROGRAM_SERVE | PROGRAM_FEED, "-q", "--quiet", NULL,
     "no greeting, no notes and warnings"},
    {OPTION_TIMING, PROGRAM_RUN, NULL, "--timing", NULL,
     "after each statement a line on standard error that says how\n"
     "long it took"},
    {OPTION_CONNECT, PROGRAM_RUN | PROGRAM_FEED, NULL, "--connect", "ADDRESS",
     "talk to the server at this socket or tls:HOST:PORT; . is\n"
     "where servers are by default"},
    {OPTION_SOCKET, PROGRAM_SERVE, NULL, "--socket", "PATH",
     "the socket ($XDG_RUNTIME_DIR/tquel/server, or\n"
     "/run/tquel/server)"},
    {OPTION_GROUP, PROGRAM_SERVE, NULL, "--group", "NAME",
     "let the members of this group connect, too"},
    {OPTION_MEMORY, PROGRAM_SERVE, NULL, "--memory", "MIB",
     "memory of all statements together, with what standing\n"
     "queries keep (half of the machine's)"},
    {OPTION_STATEMENT_MEMORY, PROGRAM_SERVE, NULL, "--statement-memory", "MIB",
     "memory of a statement that does not set its own\n"
     "(a quarter of --memory)"},
    {OPTION_TIME_LIMIT, PROGRAM_SERVE, NULL, "--time-limit", "DURATION",
     "time of a statement that does not set its own, as in \"30 s\"\n"
     "(none)"},
    {OPTION_LOG_LIMIT, PROGRAM_RUN | PROGRAM_SERVE, NULL, "--log-limit", "MIB",
     "how long the write-ahead log beside the database may\n"
     "become, if others read one state for long (256)"},
    {OPTION_CONNECTIONS, PROGRAM_SERVE, NULL, "--connections", "N",
     "of a user who does not own the database (100)"},
    {OPTION_STATEMENTS, PROGRAM_SERVE, NULL, "--statements", "N",
     "that take long, of such a user at once (8)"},
    {OPTION_LISTEN, PROGRAM_SERVE, NULL, "--listen", "tls:HOST:PORT",
     "serve over the network, too; needs --certificate and\n"
     "--key, and --token-file or --client-ca"},
    {OPTION_AUTHORITY, PROGRAM_RUN | PROGRAM_FEED, NULL, "--ca", "FILE",
     "tls: who signs the server's certificate"},
    {OPTION_CERTIFICATE, PROGRAM_RUN | PROGRAM_SERVE | PROGRAM_FEED, NULL, "--certificate", "FILE",
     "tls: the own certificate (PEM)"},
    {OPTION_KEY, PROGRAM_RUN | PROGRAM_SERVE | PROGRAM_FEED, NULL, "--key", "FILE",
     "tls: the key of it"},
    {OPTION_TOKEN_FILE, PROGRAM_RUN | PROGRAM_SERVE | PROGRAM_FEED, NULL, "--token-file", "FILE",
     "tls: the secret that clients must know"},
    {OPTION_CLIENT_AUTHORITY, PROGRAM_SERVE, NULL, "--client-ca", "FILE",
     "tls: who signs the certificates that clients must have"},
    {OPTION_AS, PROGRAM_EXPLAIN, NULL, "--as", "FORM", "text, dot or json (text)"},
    {OPTION_RULES_OFF, PROGRAM_RUN | PROGRAM_EXPLAIN | PROGRAM_SERVE, NULL, "--rules-off", NULL,
     "for testing: start with all optimiser rules off"},
    {OPTION_BATCH_ROWS, PROGRAM_RUN, NULL, "--batch-rows", "N",
     "for testing: at most N rows in a batch (1024)"},
    {OPTION_HELP, PROGRAM_RUN | PROGRAM_EXPLAIN | PROGRAM_SERVE | PROGRAM_FEED, NULL, "--help",
     NULL, "this text"},
    {OPTION_VERSION, PROGRAM_RUN, NULL, "--version", NULL, "the version"},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

/* What is being read. */
struct command_line {
  struct program_options *options;
  enum program_command command;
  int count;
  char *const *arguments;
  int next;
  struct base_diag_sink *diags;
};

static bool wrong(struct command_line *line, const char *hint, const char *text,
                  const char *value) {
  static const struct base_source tquel = {.name = "tquel"};
  if (!hint)
    hint = line->command == PROGRAM_RUN       ? "see tquel --help"
           : line->command == PROGRAM_EXPLAIN ? "see tquel explain --help"
           : line->command == PROGRAM_SERVE   ? "see tquel serve --help"
                                              : "see tquel feed --help";
  base_report_hint(line->diags, MSG_USAGE, &tquel, NULL, hint, text, value);
  return false;
}

static bool unknown_option(struct command_line *line, const char *argument) {
  struct base_arena *arena = base_arena_new();
  char *name = base_arena_strndup(arena, argument, strcspn(argument, "="));
  struct base_near near = base_near_to(name);
  for (size_t i = 0; i < ROW_COUNT; i++)
    if ((rows[i].commands & line->command) && rows[i].long_name)
      base_near_offer(&near, rows[i].long_name);
  const char *hint =
      near.nearest ? base_arena_printf(arena, "did you mean %s?", near.nearest) : NULL;
  bool result = wrong(line, hint, "there is no option %s", name);
  base_arena_free(arena);
  return result;
}

_Static_assert(NET_BATCH_ROWS == 1024, "the text says how many there can be");

static bool take_batch_rows(struct command_line *line, const char *value) {
  char *end;
  errno = 0;
  unsigned long number = strtoul(value, &end, 10);
  if (errno || *end || *value < '0' || *value > '9' || number < 1 || number > NET_BATCH_ROWS)
    return wrong(line, NULL, "--batch-rows must be a number from 1 to 1024, not %s", value);
  line->options->batch_rows = (uint32_t)number;
  return true;
}

/* A positive number that an option takes. */
static bool take_count(struct command_line *line, const char *name, const char *value,
                       size_t *ret) {
  char *end;
  errno = 0;
  unsigned long long number = strtoull(value, &end, 10);
  if (errno == 0 && *end == '\0' && *value >= '0' && *value <= '9' && number > 0 &&
      number <= SIZE_MAX >> 21) {
    *ret = (size_t)number;
    return true;
  }
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s takes a number from 1 on, not %%s", name);
  bool result = wrong(line, NULL, base_buffer_text(&text), value);
  base_buffer_done(&text);
  return result;
}

static bool take_time_limit(struct command_line *line, const char *value) {
  if (net_duration_parse(value, strlen(value), &line->options->time_limit_ns) &&
      line->options->time_limit_ns > 0)
    return true;
  return wrong(line, "write a number and a unit, as in \"30 s\" or 10s", "%s is no time limit",
               value);
}

static bool take_timeline(struct command_line *line, const char *value) {
  bool real = strcmp(value, "real") == 0;
  if (!real && strcmp(value, "abstract") != 0)
    return wrong(line, "the timelines are real and abstract", "there is no timeline %s", value);
  line->options->timeline_given = true;
  line->options->timeline = real ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT;
  return true;
}

static bool take_format(struct command_line *line, const char *value) {
  line->options->format = tql_format_find(value);
  if (line->options->format >= 0) return true;
  return wrong(line, "the formats are table csv json ndjson line markdown timeline count",
               "there is no format %s", value);
}

static bool take_input_format(struct command_line *line, const char *value) {
  if (strcmp(value, "csv") != 0 && strcmp(value, "ndjson") != 0)
    return wrong(line, "the formats of records are csv and ndjson", "there is no format %s", value);
  line->options->input_format = value;
  return true;
}

static bool take_within(struct command_line *line, const char *value) {
  if (net_duration_parse(value, strlen(value), &line->options->within_ns) &&
      line->options->within_ns >= 0)
    return true;
  return wrong(line, "write a number and a unit, as in \"5 ms\" or 10s", "%s is no duration",
               value);
}

static bool take_form(struct command_line *line, const char *value) {
  if (strcmp(value, "text") != 0 && strcmp(value, "dot") != 0 && strcmp(value, "json") != 0)
    return wrong(line, "the forms are text, dot and json", "there is no form %s", value);
  line->options->explain_as = value;
  return true;
}

static void take_item(struct program_options *options, bool is_file, const char *text) {
  base_grow(&options->items, &options->item_capacity, options->item_count + 1,
            sizeof *options->items);
  options->items[options->item_count++] = (struct program_item){is_file, text};
}

static bool take_variable(struct command_line *line, const char *value) {
  struct program_options *options = line->options;
  size_t length = strcspn(value, "=");
  if (value[length] != '=' || !tql_is_variable_name(value, length))
    return wrong(line, "write -v NAME=VALUE; in statements: $NAME", "%s gives no variable a value",
                 value);
  base_grow(&options->variables, &options->variable_capacity, options->variable_count + 1,
            sizeof *options->variables);
  options->variables[options->variable_count++] = value;
  return true;
}

static bool take_option(struct command_line *line, enum option option, const char *value) {
  struct program_options *options = line->options;
  switch (option) {
    case OPTION_COMMAND:
      take_item(options, false, value);
      return true;
    case OPTION_FILE:
      take_item(options, true, value);
      return true;
    case OPTION_VARIABLE:
      return take_variable(line, value);
    case OPTION_FORMAT:
      return take_format(line, value);
    case OPTION_TIMELINE:
      return take_timeline(line, value);
    case OPTION_READONLY:
      options->readonly = true;
      return true;
    case OPTION_SINGLE_TRANSACTION:
      options->single_transaction = true;
      return true;
    case OPTION_QUIET:
      options->quiet = true;
      return true;
    case OPTION_TIMING:
      options->timing = true;
      return true;
    case OPTION_CONNECT:
      options->connect = value;
      return true;
    case OPTION_SOCKET:
      options->socket = value;
      return true;
    case OPTION_LISTEN:
      options->listen = value;
      return true;
    case OPTION_CERTIFICATE:
      options->certificate = value;
      return true;
    case OPTION_KEY:
      options->key = value;
      return true;
    case OPTION_TOKEN_FILE:
      options->token_file = value;
      return true;
    case OPTION_AUTHORITY:
      options->authority = value;
      return true;
    case OPTION_CLIENT_AUTHORITY:
      options->client_authority = value;
      return true;
    case OPTION_GROUP:
      options->group = value;
      return true;
    case OPTION_MEMORY:
      return take_count(line, "--memory", value, &options->memory);
    case OPTION_STATEMENT_MEMORY:
      return take_count(line, "--statement-memory", value, &options->statement_memory);
    case OPTION_TIME_LIMIT:
      return take_time_limit(line, value);
    case OPTION_LOG_LIMIT:
      return take_count(line, "--log-limit", value, &options->log_limit);
    case OPTION_CONNECTIONS:
      return take_count(line, "--connections", value, &options->connections);
    case OPTION_STATEMENTS:
      return take_count(line, "--statements", value, &options->statements);
    case OPTION_INPUT_FORMAT:
      return take_input_format(line, value);
    case OPTION_WITHIN:
      return take_within(line, value);
    case OPTION_AS:
      return take_form(line, value);
    case OPTION_RULES_OFF:
      options->rules_off = true;
      return true;
    case OPTION_BATCH_ROWS:
      return take_batch_rows(line, value);
    case OPTION_HELP:
      options->help = true;
      return true;
    case OPTION_VERSION:
      options->version = true;
      return true;
  }
  return true;
}

/* Does ARGUMENT name the option of ROW? *RET_VALUE: what follows directly, or NULL. */
static bool matches(const struct row *row, const char *argument, const char **ret_value) {
  *ret_value = NULL;
  if (row->long_name && strncmp(argument, "--", 2) == 0) {
    size_t length = strlen(row->long_name);
    if (strncmp(argument, row->long_name, length) != 0) return false;
    if (argument[length] == '=') *ret_value = argument + length + 1;
    return argument[length] == '=' || argument[length] == '\0';
  }
  if (!row->short_name || argument[1] == '-' || argument[1] != row->short_name[1]) return false;
  if (argument[2]) *ret_value = argument + 2;
  return true;
}

static bool read_option(struct command_line *line, const char *argument) {
  for (size_t i = 0; i < ROW_COUNT; i++) {
    const char *value;
    if (!(rows[i].commands & line->command) || !matches(&rows[i], argument, &value)) continue;
    if (!rows[i].value) {
      if (value && argument[1] != '-') return unknown_option(line, argument);
      if (value) return wrong(line, NULL, "%s takes no value", rows[i].long_name);
    } else if (!value) {
      if (line->next == line->count) return wrong(line, NULL, "%s needs a value", argument);
      value = line->arguments[line->next++];
    }
    return take_option(line, rows[i].option, value);
  }
  return unknown_option(line, argument);
}

static bool read_operand(struct command_line *line, const char *argument) {
  struct program_options *options = line->options;
  if (line->command == PROGRAM_EXPLAIN && !options->explain_file) {
    options->explain_file = argument;
    return true;
  }
  if (line->command == PROGRAM_FEED) {
    if (options->relation)
      return wrong(line, "one relation; the records come on standard input", "%s is too much",
                   argument);
    options->relation = argument;
    return true;
  }
  if (options->database)
    return wrong(line,
                 line->command == PROGRAM_SERVE ? "one server serves one database"
                 : line->command == PROGRAM_RUN
                     ? "one database at most; -f FILE runs a file, -c STATEMENTS statements"
                     : "the arguments are: [DB] FILE",
                 "%s is too much", argument);
  /* Of two arguments of explain the database comes first. */
  options->database = argument;
  if (line->command == PROGRAM_EXPLAIN) {
    options->database = options->explain_file;
    options->explain_file = argument;
  }
  return true;
}

static bool check(struct command_line *line) {
  struct program_options *options = line->options;
  if (options->help || options->version) return true;
  if (line->command == PROGRAM_EXPLAIN && !options->explain_file)
    return wrong(line, "write: tquel explain [DB] FILE", "%s is missing", "FILE");
  if (line->command == PROGRAM_SERVE && !options->database)
    return wrong(line, "write: tquel serve DB", "%s is missing", "DB");
  if (line->command == PROGRAM_FEED && !options->relation)
    return wrong(line, "write: tquel feed RELATION", "%s is missing", "RELATION");
  if (line->command == PROGRAM_RUN && options->connect && options->database)
    return wrong(line, "the server has its database", "%s is too much", options->database);
  if (options->database && !*options->database)
    return wrong(line, "leave it out for a database in memory", "the name of the database is %s",
                 "empty");
  if (options->database && strcmp(options->database, "-") == 0)
    return wrong(line, "a script on standard input needs no argument", "%s is no database", "-");
  if (options->readonly && !options->database && !options->connect)
    return wrong(line, "name the database that is to be read", "%s needs a database", "--readonly");
  size_t from_stdin = 0;
  for (size_t i = 0; i < options->item_count; i++)
    from_stdin += options->items[i].is_file && strcmp(options->items[i].text, "-") == 0;
  if (from_stdin > 1) return wrong(line, NULL, "%s can be read only once", "standard input (-f -)");
  return true;
}

bool program_options_read(struct program_options *options, enum program_command command, int count,
                          char *const *arguments, struct base_diag_sink *diags) {
  struct command_line line = {.options = options,
                              .command = command,
                              .count = count,
                              .arguments = arguments,
                              .diags = diags};
  bool only_operands = false;
  *options = (struct program_options){.format = -1, .explain_as = "text"};
  while (line.next < count) {
    const char *argument = arguments[line.next++];
    bool ok = true;
    if (only_operands || argument[0] != '-' || argument[1] == '\0')
      ok = read_operand(&line, argument);
    else if (strcmp(argument, "--") == 0)
      only_operands = true;
    else
      ok = read_option(&line, argument);
    if (!ok) return false;
  }
  return check(&line);
}

void program_options_done(struct program_options *options) {
  free(options->items);
  free(options->variables);
  *options = (struct program_options){0};
}

void program_options_describe(enum program_command command, struct base_buffer *out) {
  for (size_t i = 0; i < ROW_COUNT; i++) {
    if (!(rows[i].commands & command)) continue;
    struct base_buffer left = BASE_BUFFER_EMPTY;
    if (rows[i].short_name) base_buffer_puts(&left, rows[i].short_name);
    if (rows[i].short_name && rows[i].long_name) base_buffer_puts(&left, ", ");
    if (rows[i].long_name) base_buffer_puts(&left, rows[i].long_name);
    if (rows[i].value) base_buffer_printf(&left, " %s", rows[i].value);
    base_buffer_printf(out, "  %-21s ", left.data);
    for (const char *what = rows[i].what; *what; what++) {
      base_buffer_putc(out, *what);
      if (*what == '\n') base_buffer_printf(out, "  %-21s ", "");
    }
    base_buffer_putc(out, '\n');
    base_buffer_done(&left);
  }
}
