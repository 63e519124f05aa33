/* `tquel collect`: the resident monitor of a machine (sensors/collect/monitor.h), in the foreground, until
 * SIGTERM or SIGINT.
 *
 * It waits for a server that is not there yet, and for one that goes away. On standard error it says only
 * what somebody must see to: that it cannot collect at all, or that a server will not have it.       */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sensors/collect/directory.h"
#include "sensors/collect/monitor.h"
#include "tquel/program/help.h"
#include "tquel/program/option_rows.h"
#include "tquel/program/say.h"
#include "tquel/shell/shell.h"

#ifndef TQUEL_VERSION
#define TQUEL_VERSION "unknown"
#endif

enum collect_option {
  COLLECT_CONNECT,
  COLLECT_DIRECTORY,
  COLLECT_ALL_USERS,
  COLLECT_CHECKPOINT,
  COLLECT_SAMPLE,
  COLLECT_BUFFER,
  COLLECT_RING,
  COLLECT_PATIENCE,
  COLLECT_AUTHORITY,
  COLLECT_TOKEN,
  COLLECT_CERTIFICATE,
  COLLECT_KEY,
  COLLECT_HELP,
  COLLECT_OPTIONS
};

static const struct program_option_row rows[COLLECT_OPTIONS] = {
    [COLLECT_CONNECT] = {"--connect", "ADDRESS",
                         "the server: a socket, or tls:HOST:PORT (DIRECTORY/server)"},
    [COLLECT_DIRECTORY] =
        {"--directory", "DIRECTORY",
         "where programs announce themselves ($XDG_RUNTIME_DIR/tquel or /run/tquel)"},
    [COLLECT_ALL_USERS] = {"--all-users", NULL,
                           "also of other users' programs: the socket for rings is everybody's"},
    [COLLECT_CHECKPOINT] =
        {"--checkpoint", "DURATION",
         "how often to say what is past, where the server does not say it (5 ms)"},
    [COLLECT_SAMPLE] = {"--sample", "DURATION",
                        "how often to ask for samples where no clock says it (1 s)"},
    [COLLECT_BUFFER] = {"--buffer", "MIB", "kept for a server that is away, at most (64)"},
    [COLLECT_RING] = {"--ring", "KIB", "size of each thread's ring, a power of two (256)"},
    [COLLECT_PATIENCE] = {"--patience", "DURATION",
                          "how long a ring that stands still holds checkpoints back (1 s)"},
    [COLLECT_AUTHORITY] = {"--ca", "FILE", "tls: what the server's certificate is signed by"},
    [COLLECT_TOKEN] = {"--token-file", "FILE", "tls: the token that the server asks for"},
    [COLLECT_CERTIFICATE] = {"--certificate", "FILE", "tls: one's own certificate"},
    [COLLECT_KEY] = {"--key", "FILE", "tls: its key"},
    [COLLECT_HELP] = {"--help", NULL, "this text"},
};
static const struct program_option_rows options_known = {"collect", rows, COLLECT_OPTIONS, 22};

struct collect {
  struct base_diag_sink diags;
  const char *values[COLLECT_OPTIONS]; /* "" of an option without a value */
  struct sn_monitor_options options;
  char *directory, *address, *storage, *token;
};

void shell_collect_describe(struct base_buffer *out) {
  program_option_rows_describe(&options_known, out);
}

/* --- the command line */

static bool wrong(struct collect *collect, const char *hint, const char *text, const char *value) {
  return program_option_wrong(&options_known, &collect->diags, hint, text, value);
}

static bool read_option(struct collect *collect, int count, char *const *arguments, int *index) {
  const char *value = NULL;
  size_t row = program_option_find(&options_known, &collect->diags, arguments[*index], &value);
  if (row == COLLECT_OPTIONS) return false;
  if (collect->values[row]) return wrong(collect, NULL, "%s is given twice", rows[row].name);
  if (!rows[row].value)
    value = "";
  else if (!value)
    value = ++*index < count ? arguments[*index] : NULL;
  if (rows[row].value && (!value || !*value))
    return wrong(collect, NULL, "%s needs a value", rows[row].name);
  collect->values[row] = value;
  return true;
}

/* 10ms, "1 s", 0.5s */
static bool read_duration(struct collect *collect, enum collect_option option, int64_t *ret_ns) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}};
  const char *text = collect->values[option];
  char *end;
  if (!text) return true;
  errno = 0;
  double number = strtod(text, &end);
  while (*end == ' ') end++;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strcmp(end, units[i].name) != 0 || end == text || errno != 0) continue;
    number *= units[i].ns;
    if (!(number >= 1e5 && number <= 3.6e15)) break;
    *ret_ns = (int64_t)number;
    return true;
  }
  return wrong(collect, "a number and ns, us, ms, s, min or h; at least 100 us",
               "%s takes a duration", rows[option].name);
}

static bool read_number(struct collect *collect, enum collect_option option, uint64_t least,
                        uint64_t most, uint64_t *ret) {
  const char *text = collect->values[option];
  char *end;
  if (!text) return true;
  errno = 0;
  unsigned long long number = strtoull(text, &end, 10);
  if (*end == '\0' && errno == 0 && *text >= '0' && *text <= '9' && number >= least &&
      number <= most) {
    *ret = number;
    return true;
  }
  struct base_buffer hint = BASE_BUFFER_EMPTY;
  base_buffer_printf(&hint, "from %llu to %llu", (unsigned long long)least,
                     (unsigned long long)most);
  wrong(collect, hint.data, "%s takes a number", rows[option].name);
  base_buffer_done(&hint);
  return false;
}

static bool read_numbers(struct collect *collect) {
  struct sn_monitor_options *options = &collect->options;
  uint64_t buffer = 64, ring = 0;
  options->checkpoint_ns = 5000000;
  options->sample_ns = options->patience_ns = 1000000000;
  bool good = read_duration(collect, COLLECT_CHECKPOINT, &options->checkpoint_ns) &&
              read_duration(collect, COLLECT_SAMPLE, &options->sample_ns) &&
              read_duration(collect, COLLECT_PATIENCE, &options->patience_ns) &&
              read_number(collect, COLLECT_BUFFER, 1, 1 << 20, &buffer) &&
              read_number(collect, COLLECT_RING, 4, 65536, &ring);
  if (good && (ring & (ring - 1)) != 0) {
    return wrong(collect, NULL, "%s takes a power of two", rows[COLLECT_RING].name);
  }
  options->buffer_bytes = buffer << 20;
  options->ring_bytes = (uint32_t)(ring << 10);
  return good;
}

/* --- what the options name */

static bool fail(struct collect *collect, const char *reason) {
  base_report(&collect->diags, MSG_CANNOT_COLLECT, NULL, NULL, "cannot collect in %s: %s",
              collect->directory, reason);
  return false;
}

/* Programs announce themselves where the default is, and nowhere else. */
static bool fail_directory(struct collect *collect, const char *reason) {
  if (collect->values[COLLECT_DIRECTORY]) return fail(collect, reason);
  base_report_hint(&collect->diags, MSG_CANNOT_COLLECT, NULL, NULL,
                   "set XDG_RUNTIME_DIR to a directory of yours, for programs and server, too; or, "
                   "as root: mkdir -m 1777 /run/tquel",
                   "cannot collect in %s: %s", collect->directory, reason);
  return false;
}

/* One line, in a file that others cannot read. */
static bool read_token(struct collect *collect) {
  const char *path = collect->values[COLLECT_TOKEN];
  struct stat status;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (!path) return true;
  if (stat(path, &status) == 0 && (status.st_mode & 077) != 0) {
    return wrong(collect, "chmod 600 makes it yours alone", "others can read the token in %s",
                 path);
  }
  if (!shell_read_file(path, &collect->diags, &text)) return false;
  collect->token = text.data;
  if (collect->token) collect->token[strcspn(collect->token, "\r\n")] = '\0';
  return true;
}

/* Once, at the start: later a collector goes on without its server, and says nothing. */
static bool check_files(struct collect *collect) {
  static const enum collect_option files[] = {COLLECT_AUTHORITY, COLLECT_CERTIFICATE, COLLECT_KEY};
  struct base_buffer text = BASE_BUFFER_EMPTY;
  const char *reason = NULL;
  bool good = true;
  for (size_t i = 0; good && i < sizeof files / sizeof files[0]; i++) {
    const char *path = collect->values[files[i]];
    if (path) good = shell_read_file(path, &collect->diags, &text);
  }
  base_buffer_done(&text);
  if (good && !sn_address_check(&collect->options.server, &reason)) {
    base_report(&collect->diags, MSG_CANNOT_COLLECT, NULL, NULL,
                "cannot collect in %s: --ca, --certificate or --key: %s", collect->directory,
                reason);
    good = false;
  }
  return good;
}

static bool find_server(struct collect *collect) {
  struct sn_address *server = &collect->options.server;
  const char *reason = NULL, *address = collect->values[COLLECT_CONNECT];
  if (!address) {
    struct base_buffer path = BASE_BUFFER_EMPTY;
    base_buffer_printf(&path, "%s/server", collect->directory);
    address = collect->address = path.data;
  }
  if (!sn_address_parse(address, server, &collect->storage, &reason)) {
    return wrong(collect, reason, "%s is no address of a server", address);
  }
  server->found = !collect->values[COLLECT_CONNECT];
  server->authority = collect->values[COLLECT_AUTHORITY];
  server->certificate = collect->values[COLLECT_CERTIFICATE];
  server->key = collect->values[COLLECT_KEY];
  return read_token(collect) && check_files(collect);
}

static bool find_directory(struct collect *collect) {
  const char *reason;
  collect->directory = collect->values[COLLECT_DIRECTORY]
                           ? base_xstrdup(collect->values[COLLECT_DIRECTORY])
                           : sn_directory_default();
  return sn_directory_prepare(collect->directory, &reason) || fail_directory(collect, reason);
}

/* --- running */

static void print_diag(void *context, const struct base_diag *diag) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  (void)context;
  base_diag_format(&text, diag);
  program_say(text.data, text.length);
  base_buffer_done(&text);
}

static void tell(void *context, enum base_message message, const char *text) {
  struct collect *collect = context;
  static const char larger[] =
      "larger rings: TQUEL_RING=KIB for the program, or tquel collect --ring KIB for all; or the "
      "sensor waits, with a waittime in its description";
  const char *format = "the server refuses: %s";
  if (message == MSG_ANNOUNCEMENT_CUT)
    format = "the announcement %s was cut short; it is given up";
  else if (message == MSG_NOT_WATCHED)
    format = "a program is not watched, %s";
  else if (message == MSG_RING_FULL || message == MSG_RECORDS_LOST)
    format = "%s";
  else if (message == MSG_SENSOR_SAMPLED)
    format = "%s is sampled: it makes more records than can be taken";
  else if (message == MSG_SENSOR_TRACED)
    format = "%s has every record taken again";
  else if (message == MSG_RING_SIZE)
    format = "%s: TQUEL_RING is no size of rings, and is passed over";
  if (message == MSG_RING_SIZE)
    base_report_hint(&collect->diags, message, NULL, NULL, "a power of two from 4 to 65536, in KiB",
                     format, text);
  else if (message == MSG_RING_FULL)
    base_report_hint(&collect->diags, message, NULL, NULL, larger, format, text);
  else
    base_report(&collect->diags, message, NULL, NULL, format, text);
}

static void on_signal(int signal) {
  (void)signal;
  sn_monitor_stop();
}

static bool run(struct collect *collect) {
  struct sn_monitor_options *options = &collect->options;
  const char *reason = NULL;
  char *own = sn_directory_default();
  options->directory = collect->directory;
  options->mode = collect->values[COLLECT_ALL_USERS] ? 0666 : 0600;
  options->token = collect->token;
  options->program = "tquel " TQUEL_VERSION;
  options->own_sensors = strcmp(own, collect->directory) == 0;
  options->tell = tell;
  options->context = collect;
  free(own);
  struct sn_monitor *monitor = sn_monitor_new(options, &reason);
  if (!monitor) return fail(collect, reason);
  struct sigaction action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a file too large is an error like a full disk */
  sn_monitor_run(monitor);
  sn_monitor_free(monitor);
  return true;
}

int shell_collect_main(int count, char *const *arguments) {
  struct collect collect = {.directory = NULL};
  bool good = true;
  base_diag_sink_init(&collect.diags);
  collect.diags.on_report = print_diag;
  for (int i = 0; good && i < count; i++) {
    good = arguments[i][0] == '-' ? read_option(&collect, count, arguments, &i)
                                  : wrong(&collect, NULL, "%s is no option", arguments[i]);
  }
  if (good && collect.values[COLLECT_HELP]) {
    base_diag_sink_done(&collect.diags);
    return program_help_command("collect");
  }
  good = good && read_numbers(&collect) && find_directory(&collect) && find_server(&collect) &&
         run(&collect);
  int code = good ? 0 : collect.diags.exit_code;
  base_diag_sink_done(&collect.diags);
  free(collect.directory);
  free(collect.address);
  free(collect.storage);
  free(collect.token);
  return code;
}
