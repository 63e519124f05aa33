/* Who displays what, standing: begun by a statement, ended by the seat or with the relation. The live network passes its
 * rows on to those that are listed here; what records were lost of is looked at anew for them (shown.c).
 *
 * A display that has ended stays in the list, without a seat, until the list is swept: somebody may be walking along it. */
#include <stdlib.h>
#include <strings.h>

#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

bool session_add_display(struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->display_count; i++)
    if (session->displays[i]->seat == session->seat &&
        strcasecmp(session->displays[i]->name, relation->ng.name) == 0)
      return false;
  session_sweep_displays(session);
  struct session_display *display = base_xcalloc(1, sizeof *display);
  display->seat = session->seat;
  display->name = base_xstrdup(relation->ng.name);
  display->fresh = display->unchecked = true;
  base_grow(&session->displays, &session->display_capacity, session->display_count + 1,
            sizeof *session->displays);
  session->displays[session->display_count++] = display;
  session->asks_changed = true;
  return true;
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

/* The row of its node goes. */
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

bool session_stop_displays(struct tql_seat *seat) {
  struct tql_session *session = seat->session;
  bool views = false;
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    if (display->seat != seat) continue;
    end_display(session, display);
    views |= shows_view(session, display);
  }
  return views;
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
  bool may =
      query->aggregate_count > 0 || query->absence_count > 0 || query->sequence != NG_SEQUENCE_FULL;
  for (size_t i = 0; i < relation->derived.input_count && !may; i++)
    may = session_may_matter(session, session_find(session, relation->derived.inputs[i]), walk);
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
