/* The shell's backend that is a session in the same process, on a database file or in memory.
 *
 * Feeds run only while the shell lets them (`follow`): the session has no thread of its own. */
#include <stdlib.h>

#include "engine/base/arena.h"
#include "tquel/session/source.h"
#include "tquel/shell/shell.h"

struct own {
  struct shell_backend backend; /* first */
  struct shell *shell;
  struct tql_session *session;
};

static struct tql_session *session_of(struct shell_backend *backend) {
  return ((struct own *)backend)->session;
}

static enum base_status own_run(struct shell_backend *backend, const char *name, const char *text,
                                size_t length, bool single_transaction) {
  struct own *own = (struct own *)backend;
  return tql_session_run(own->session, name, 1, text, length, &own->shell->output.output,
                         single_transaction);
}

static bool own_goes_on(struct shell_backend *backend) {
  return tql_session_goes_on(session_of(backend));
}

static void own_tell_idle(struct shell_backend *backend) {
  struct own *own = (struct own *)backend;
  const char *name = tql_session_display(own->session);
  if (name == NULL) return;
  base_report_hint(
      &own->shell->diags, MSG_NOTHING_FED, NULL, NULL,
      "copy ... following feeds it; a display through a server (tquel --connect) waits for records",
      "nothing feeds %s: its display has ended", name);
}

static enum base_status own_follow(struct shell_backend *backend, int timeout_ms) {
  struct own *own = (struct own *)backend;
  enum base_status status =
      tql_session_follow(own->session, &own->shell->output.output, timeout_ms);
  return status == BASE_OK ? BASE_END : status;
}

static int own_descriptor(struct shell_backend *backend) {
  (void)backend; /* feeds are files that grow */
  return -1;
}

static enum base_status own_commit(struct shell_backend *backend) {
  return tql_session_commit(session_of(backend));
}

static void own_each_name(struct shell_backend *backend, enum shell_names kind, const char *owner,
                          void (*on_name)(void *context, const char *name), void *context) {
  struct tql_session *session = session_of(backend);
  switch (kind) {
    case SHELL_RELATIONS:
      tql_session_each_relation(session, on_name, context);
      break;
    case SHELL_VARIABLES:
      tql_session_each_variable(session, on_name, context);
      break;
    case SHELL_DOMAINS:
      tql_session_each_domain(session, owner, on_name, context);
  }
}

static enum base_status own_describe(struct shell_backend *backend, enum shell_view view,
                                     const char *name, struct base_buffer *out) {
  struct tql_session *session = session_of(backend);
  if (view == SHELL_SENSORS) {
    tql_session_describe_sensors(session, NULL, 0, out);
    return BASE_OK;
  }
  if (view == SHELL_RECEPTACLES || view == SHELL_COUNT) {
    base_report_hint(&((struct own *)backend)->shell->diags, MSG_NO_SENSORS, NULL, NULL,
                     "tquel serve DB, tquel collect, and here tquel --connect .",
                     "nothing here has sensors: they are switched and read by a server");
    return BASE_USER;
  }
  bool found = view == SHELL_NODES ? tql_session_describe_nodes(session, name, out)
                                   : tql_session_describe(session, name, out);
  return found ? BASE_OK : BASE_END;
}

static void own_title(struct shell_backend *backend, struct base_buffer *out) {
  const char *database = ((struct own *)backend)->shell->options->database;
  bool real = tql_session_timeline(session_of(backend)) == NET_TIMELINE_REAL;
  base_buffer_printf(out, "%s, %s timeline", database ? database : "database in memory",
                     real ? "real" : "abstract");
}

static enum base_status own_close(struct shell_backend *backend, enum base_status status) {
  struct own *own = (struct own *)backend;
  size_t errors = own->shell->diags.errors;
  if (tql_session_goes_on(own->session) && tql_session_commit(own->session) != BASE_OK)
    status = BASE_SYSTEM;
  tql_session_close(own->session);
  if (own->shell->diags.errors > errors)
    status = BASE_SYSTEM; /* what was read could not be stored */
  free(own);
  return status;
}

static const struct shell_backend_class own_class = {
    .run = own_run,
    .goes_on = own_goes_on,
    .tell_idle = own_tell_idle,
    .follow = own_follow,
    .descriptor = own_descriptor,
    .commit = own_commit,
    .each_name = own_each_name,
    .describe = own_describe,
    .title = own_title,
    .close = own_close,
};

struct tql_session *shell_own_session(struct shell_backend *backend) {
  BASE_CHECK(backend->class == &own_class, "shell-own-session");
  return session_of(backend);
}

enum base_status shell_own_open(struct shell *shell, bool stdin_is_script, bool explain_only,
                                struct shell_backend **ret) {
  const struct program_options *options = shell->options;
  struct tql_session_options session_options = {
      .path = options->database,
      .timeline = options->timeline,
      .timeline_given = options->timeline_given,
      .readonly = options->readonly,
      .rules_off = options->rules_off,
      .batch_rows = options->batch_rows,
      .stdin_is_script = stdin_is_script,
      .explain_only = explain_only,
      .log_limit = (uint64_t)options->log_limit << 20,
  };
  struct tql_session *session = NULL;
  enum base_status status = tql_session_open(&session_options, &shell->diags, &session);
  if (status != BASE_OK) return status;
  struct own *own = base_xcalloc(1, sizeof *own);
  *own = (struct own){{&own_class}, shell, session};
  shell->output.session = session;
  *ret = &own->backend;
  return BASE_OK;
}
