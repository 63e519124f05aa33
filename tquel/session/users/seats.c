/* Seats: users who work on one session, each with his own variables, settings, rules that are switched off,
 * and standing displays. The session's own user has seat 0.
 *
 *      seat 0 ─┐ statements      ┌──────────┐
 *      seat 1 ─┼────────────────▶│ session  │──▶ relations, standing queries, live network: everybody's
 *      seat 2 ─┘ one at a time   └──────────┘
 *         ▲ displays                  │
 *         └───────────────────────────┘
 *
 * session->seat is the seat whose statement runs, else seat 0. The live network goes by the rules that
 * seat 0 has switched off. What a user may do beside his files is in permits.c.                     */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/users/users.h"

struct tql_seat *session_seat_new(struct tql_session *session) {
  struct tql_seat *seat = base_xcalloc(1, sizeof *seat);
  bool real = session->timeline == NET_TIMELINE_REAL;
  seat->session = session;
  seat->time.timeline = session->timeline;
  seat->time.start = seat->time.now = base_env_now();
  seat->settings = (struct tql_settings){.origin_given = !real, .unit = real ? 1000000 : 1};
  for (int rule = 0; rule < NG_RULES; rule++) seat->switches.off[rule] = session->options.rules_off;
  base_grow(&session->seats, &session->seat_capacity, session->seat_count + 1,
            sizeof *session->seats);
  session->seats[session->seat_count++] = seat;
  return seat;
}

struct tql_seat *tql_seat_new(struct tql_session *session, const struct tql_seat_options *options) {
  struct tql_seat *seat = session_seat_new(session);
  seat->user = base_xstrdup(options->user ? options->user : "");
  seat->owner = options->owner;
  seat->readonly = options->readonly;
  seat->files = options->files;
  seat->directory = options->directory ? base_xstrdup(options->directory) : NULL;
  if (options->displays != NULL) seat->output = *options->displays;
  seat->time.zone = net_zone_hold(session->seats[0]->time.zone);
  if (options->start != 0) seat->time.start = options->start;
  seat->now = options->now;
  return seat;
}

bool tql_seat_set_zone(struct tql_seat *seat, const void *bytes, size_t length) {
  struct net_zone *zone = length > 0 ? net_zone_read(bytes, length) : NULL;
  if (zone == NULL && length > 0) return false;
  net_zone_release(seat->time.zone);
  seat->time.zone = zone;
  return true;
}

const struct net_time_context *tql_seat_time(const struct tql_seat *seat) {
  return &seat->time;
}

void session_seat_free(struct tql_seat *seat) {
  struct tql_session *session = seat->session;
  size_t at = 0;
  while (session->seats[at] != seat) at++;
  memmove(session->seats + at, session->seats + at + 1,
          (session->seat_count - at - 1) * sizeof *session->seats);
  session->seat_count--;
  base_arena_free(seat->texts);
  net_zone_release(seat->time.zone);
  free(seat->variables);
  free((char *)seat->user);
  free((char *)seat->directory);
  free(seat);
}

void tql_seat_patience(struct tql_seat *seat, int64_t ns) {
  seat->patience = ns;
}

void tql_seat_text(struct tql_seat *seat, struct base_buffer *out) {
  struct tql_session *session = seat->session;
  struct session_scope scope;
  struct base_arena *arena = base_arena_new();
  session->seat = seat;
  session_scope_init(&scope, session, NULL);
  tql_scope_text(arena, &scope.scope, out);
  session->seat = session->seats[0];
  for (int rule = 0; rule < NG_RULES; rule++)
    base_buffer_printf(out, "set rule %s %s\n", ng_rule_info((enum ng_rule)rule)->name,
                       seat->switches.off[rule] ? "off" : "on");
  if (seat->manual) base_buffer_puts(out, "set checkpoint manual\n");
  base_arena_free(arena);
  if (seat->memory_set) base_buffer_printf(out, "set memory %zu B\n", seat->memory);
  if (seat->time_limit_set)
    base_buffer_printf(out, "set time limit %lld ns\n", (long long)seat->time_limit);
}

/* --- what a seat may do */

/* Does it change what others see? */
static bool changes(const struct tql_statement *statement) {
  switch (statement->kind) {
    case TQL_S_CREATE:
    case TQL_S_APPEND:
    case TQL_S_DELETE:
    case TQL_S_REPLACE:
    case TQL_S_DESTROY:
    case TQL_S_CHECKPOINT:
    case TQL_S_INDEX:
    case TQL_S_MODIFY:
    case TQL_S_SAVE:
    case TQL_S_VIEW:
    case TQL_S_PERMIT:
    case TQL_S_INTEGRITY:
      return true;
    case TQL_S_RETRIEVE:
      return statement->name.text != NULL;
    case TQL_S_COPY:
      return !statement->copy_into;
    default:
      return false;
  }
}

enum base_status session_check_seat(struct tql_session *session,
                                    const struct tql_statement *statement) {
  if (!session->seat->readonly || !changes(statement)) return BASE_OK;
  base_report_hint(session->diags, MSG_DATABASE_READONLY, session->source, &statement->range,
                   "leave out --readonly", "the session was opened for reading only");
  return BASE_USER;
}

const char *session_path(struct tql_session *session, const struct tql_statement *statement) {
  const struct tql_seat *seat = session->seat;
  const char *path = statement->path;
  if (seat == session->seats[0]) return path;
  bool stream = strcmp(path, "-") == 0;
  if (!seat->files || stream) {
    base_report_hint(session->diags, MSG_SERVER_FILE, session->source, &statement->path_range,
                     "send records with tquel feed; print what you want to have in a file",
                     stream ? "the server cannot read your standard input"
                            : "the server opens no files for you");
    return NULL;
  }
  if (seat->directory == NULL || path[0] == '/') return path;
  return base_arena_printf(session->statement_arena, "%s/%s", seat->directory, path);
}
