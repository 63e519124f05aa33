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
#include <strings.h>

#include "engine/base/env.h"
#include "tquel/session/session_impl.h"

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

void tql_seat_free(struct tql_seat *seat) {
  if (seat == NULL) return;
  struct tql_session *session = seat->session;
  BASE_CHECK(session->statement == NULL || session->seat != seat, "seat-at-work");
  tql_seat_stop_displays(seat);
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

/* --- displays */

void session_add_display(struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->display_count; i++)
    if (session->displays[i]->seat == session->seat &&
        strcasecmp(session->displays[i]->name, relation->ng.name) == 0)
      return;
  session_sweep_displays(session);
  struct session_display *display = base_xcalloc(1, sizeof *display);
  display->seat = session->seat;
  display->name = base_xstrdup(relation->ng.name);
  display->fresh = display->unchecked = true;
  base_grow(&session->displays, &session->display_capacity, session->display_count + 1,
            sizeof *session->displays);
  session->displays[session->display_count++] = display;
  session->asks_changed = true;
  if (!session_has_displays_sink(session, relation)) session_drop_live(session);
}

static void shown_free(struct session_shown *shown) {
  if (shown == NULL) return;
  free(shown->rows);
  free(shown);
}

void session_sweep_displays(struct tql_session *session) {
  size_t kept = 0;
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    if (display->seat != NULL) {
      session->displays[kept++] = display;
      continue;
    }
    shown_free(display->certain);
    free((char *)display->name);
    free(display);
  }
  session->display_count = kept;
}

bool tql_seat_has_displays(const struct tql_seat *seat) {
  for (size_t i = 0; i < seat->session->display_count; i++)
    if (seat->session->displays[i]->seat == seat) return true;
  return false;
}

const char *tql_session_display(const struct tql_session *session) {
  for (size_t i = 0; i < session->display_count; i++)
    if (session->displays[i]->seat == session->seats[0]) return session->displays[i]->name;
  return NULL;
}

/* It stays in the list until the next one begins: somebody may be walking along it. The row of its node goes. */
static void end_display(struct tql_session *session, struct session_display *display) {
  display->seat = NULL;
  session->asks_changed = true;
  session_forget_node_stats(session);
}

/* A view may be in the live network for its display alone, and ask sensors for records. */
static bool shows_view(struct tql_session *session, const struct session_display *display) {
  const struct session_relation *relation = session_find(session, display->name);
  return relation != NULL && relation->view;
}

void tql_seat_stop_displays(struct tql_seat *seat) {
  struct tql_session *session = seat->session;
  bool rebuild = session->live == NULL;
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    if (display->seat != seat) continue;
    end_display(session, display);
    rebuild |= shows_view(session, display);
  }
  if (rebuild) session_drop_live(session);
}

void session_end_displays(struct tql_session *session, const char *relation) {
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    struct tql_seat *seat = display->seat;
    if (seat == NULL || strcasecmp(display->name, relation) != 0) continue;
    end_display(session, display);
    if (seat != session->seat && seat->output.live_over != NULL)
      seat->output.live_over(seat->output.context, relation);
  }
}

static bool display_lacks(struct tql_session *session, const struct session_display *display,
                          const char *relation) {
  const struct session_relation *shown = session_find(session, display->name);
  const struct session_relation *input = session_find(session, relation);
  if (shown == NULL || session_is_system_name(display->name)) return false;
  if (relation[0] == '\0') return true;
  return input != NULL && (input == shown || session_depends(session, shown, input));
}

bool session_may_matter(struct tql_session *session, struct session_relation *relation,
                        uint64_t walk) {
  if (relation == NULL || !session_visit(relation, walk)) return false;
  if (!session_is_derived(relation))
    return relation->kind == ST_TRACED || relation->kind == ST_SAMPLED;
  const struct ng_query *query = session_query(session, relation);
  if (query == NULL || query->losses_ignored) return false;
  if (query->summary) return false; /* its rows come and go anyhow */
  bool may = query->aggregate_count > 0 || query->sequence != NG_SEQUENCE_FULL;
  for (size_t i = 0; i < relation->input_count && !may; i++)
    may = session_may_matter(session, session_find(session, relation->inputs[i]), walk);
  return may;
}

/* Does DISPLAY show what is certain, or will it when something is lost? */
static bool shows_certain(struct tql_session *session, const struct session_display *display) {
  if (display->certain != NULL) return true;
  return !display->as_is && !display->seat->settings.losses_ignored &&
         session_may_matter(session, session_find(session, display->name), ++session->walks);
}

int64_t session_shown_due(const struct tql_session *session) {
  for (size_t i = 0; i < session->display_count; i++) {
    const struct session_display *display = session->displays[i];
    if (display->seat == NULL) continue;
    if (display->unchecked) return 0;
    if (display->certain != NULL && display->news) return session->shown_due;
  }
  return INT64_MAX;
}

void session_doubt_displays_of(struct tql_session *session, const char *relation) {
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    if (display->seat == NULL || display->as_is || display->unchecked) continue;
    if (display->certain != NULL)
      display->news = true;
    else
      display->unchecked = display_lacks(session, display, relation);
  }
}

void session_doubt_displays(struct tql_session *session, bool losses) {
  for (size_t i = 0; i < session->display_count; i++) {
    session->displays[i]->news = true;
    session->displays[i]->unchecked |= losses;
  }
}

void session_tell_displays(struct tql_session *session, const char *relation, const char *where,
                           uint64_t count) {
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    struct tql_seat *seat = display->seat;
    if (seat == NULL || seat == session->seat || seat->output.live_lacks == NULL) continue;
    if (shows_certain(session, display) || !display_lacks(session, display, relation)) continue;
    struct base_diag_sink diags;
    base_diag_sink_init(&diags);
    struct base_diag *diag = base_report_hint(
        &diags, MSG_DISPLAY_LACKS, NULL, NULL, "a retrieve says what is uncertain for it",
        "%s: what is shown is made of what is there; %llu record%s%s%s in %s by now", display->name,
        (unsigned long long)count, count == 1 ? "" : "s", relation[0] ? " of " : "", relation,
        where);
    seat->output.live_lacks(seat->output.context, diag);
    base_diag_sink_done(&diags);
  }
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
