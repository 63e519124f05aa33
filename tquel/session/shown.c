/* Displays of what records were lost of: they show what is certain (tquel(7), "loss").
 *
 *      live network ──▶ rows as they come ──────────────┐ nothing was lost
 *           └──▶ there is news ──▶ looked at anew ──▶ what has not been shown so ──▶ who displays it
 *
 * The network takes what is there for all there was, and takes nothing back. So as soon as something was lost of what a
 * displayed relation is made of, its display does not show the network's rows any more: where they say that there is news,
 * the relation is looked at as print looks at it, and of its rows those are shown that have not been, or not so. A row
 * that was shown, of which less is known by now, is shown again, and a note says how many there are. Losses are looked
 * for before checkpoints go on, as collectors say LOSS before the CHECK that covers it: what is lost in time is never shown
 * as if it were not.
 *
 * To look anew takes as long as print does. So that other things go on it is done a tenth of the time, and where it takes
 * longer than a second, or fails, or has more rows than 10,000, the display says so and goes on with what is there.
 *
 * What has been shown is kept as a hash of each row, in the order of these.                               */
#include <stdlib.h>
#include <string.h>

#include "engine/base/budget.h"
#include "engine/base/env.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/users/users.h"

#define LOOK_NS INT64_C(1000000000) /* that looking anew may take */
#define ROWS_MAX \
  10000        /* of what is looked at: what follows endless records stays in bounded memory */
#define REST 9 /* times as long as it took nothing is looked at */

static void forget(struct session_display *display) {
  free(display->certain->rows);
  free(display->certain);
  display->certain = NULL;
}

/* --- rows */

static int compare(const void *a, const void *b) {
  const struct shown_row *x = a, *y = b;
  if (x->identity != y->identity) return x->identity < y->identity ? -1 : 1;
  return (x->whole > y->whole) - (x->whole < y->whole);
}

static uint64_t hash_values(const struct tql_session *session, const struct net_layout *layout,
                            const union net_slot *row) {
  uint64_t hash = base_hash_u64((uint64_t)row[0].i, base_hash_u64((uint64_t)row[1].i, 0));
  for (uint32_t f = 0; f < layout->field_count; f++) {
    const struct net_field *field = &layout->fields[f];
    if (net_type_is_interned(field->type.base)) {
      size_t length;
      const char *text = base_strings_text(session->strings, row[field->slot].s, &length);
      hash = base_hash(text, length, hash);
      continue;
    }
    for (uint32_t i = 0; i < net_type_slots(field->type.base); i++)
      hash = base_hash_u64((uint64_t)row[field->slot + i].i, hash);
  }
  return hash;
}

static struct shown_row shown_row_of(const struct tql_session *session,
                                     const struct net_layout *layout, const union net_slot *row,
                                     uint8_t marks) {
  struct shown_row shown = {.identity = hash_values(session, layout, row),
                            .definite = (marks & NET_DEFINITE) != 0};
  shown.whole = base_hash_u64(shown.definite, shown.identity);
  shown.stop_lo = row[0].i;
  shown.stop_hi = row[1].i;
  if (layout->tuple_class == NET_PERIOD) {
    shown.whole = base_hash_u64((uint64_t)row[2].i, base_hash_u64((uint64_t)row[3].i, shown.whole));
    shown.stop_lo = row[2].i == NET_OPEN ? row[0].i : row[2].i;
    shown.stop_hi = row[3].i;
  }
  return shown;
}

/* The rows of RESULT, in their order. */
static struct shown_row *shown_rows_of(const struct tql_session *session,
                                       const struct tql_rows *result) {
  const struct net_rows *rows = &result->rows;
  struct shown_row *shown = base_xcalloc(rows->count + 1, sizeof *shown);
  for (size_t i = 0; i < rows->count; i++)
    shown[i] = shown_row_of(session, rows->layout, net_rows_row(rows, i), rows->marks[i]);
  return shown;
}

/* The first of SHOWN that is not before WHAT. */
static size_t place_of(const struct session_shown *shown, const struct shown_row *what) {
  size_t low = 0, high = shown->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare(&shown->rows[middle], what) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* One of SHOWN with the start and domains of WHAT; NULL: none. */
static const struct shown_row *like(const struct session_shown *shown,
                                    const struct shown_row *what) {
  const struct shown_row first = {.identity = what->identity};
  size_t place = place_of(shown, &first);
  bool found = place < shown->count && shown->rows[place].identity == what->identity;
  return found ? &shown->rows[place] : NULL;
}

static bool is_less_known(const struct shown_row *now, const struct shown_row *before) {
  bool wider = now->stop_lo <= before->stop_lo && now->stop_hi >= before->stop_hi;
  bool same = now->stop_lo == before->stop_lo && now->stop_hi == before->stop_hi;
  return now->definite < before->definite || (wider && !same);
}

static bool has(const struct session_shown *shown, const struct shown_row *what) {
  size_t place = place_of(shown, what);
  return place < shown->count && compare(&shown->rows[place], what) == 0;
}

/* --- looking */

struct looking {
  struct tql_session *session;
  struct session_relation *relation;
  struct tql_rows rows;
  bool made;
};

static enum base_status look(void *context) {
  struct looking *looking = context;
  struct tql_session *session = looking->session;
  if (looking->made) tql_rows_done(&looking->rows);
  looking->made = true;
  enum base_status status = session_rows_of(session, looking->relation, &looking->rows);
  if (status == BASE_OK) status = session_doubt_rows(session, looking->relation, &looking->rows);
  if (status == BASE_OK)
    session_note_doubted(session, NULL, looking->relation, &looking->rows.rows);
  if (status == BASE_OK) session_report_not_final(session, NULL, looking->relation, &looking->rows);
  return status == BASE_OK ? tql_rows_finish(&looking->rows, session->strings) : status;
}

/* The relation of DISPLAY as its seat sees it; IGNORED: as if nothing were lost. What is said of it goes to DIAGS. The caller
 * frees the rows, if they were made. *RET_EXCESS: it would have taken too long. */
static enum base_status look_at(struct tql_session *session, const struct session_display *display,
                                bool ignored, struct base_diag_sink *diags, struct looking *ret,
                                bool *ret_excess) {
  struct tql_seat *seat = session->seat;
  struct base_diag_sink *before = session->diags;
  const struct base_budget budget = {SIZE_MAX, SIZE_MAX, LOOK_NS};
  bool losses_ignored = display->seat->settings.losses_ignored;
  *ret = (struct looking){session, session_find(session, display->name), {.name = NULL}, false};
  session->seat = display->seat;
  session->diags = diags;
  session->seat->settings.losses_ignored |= ignored;
  base_budget_begin(&budget);
  enum base_status status = session_look(session, NULL, ret->relation, look, ret);
  *ret_excess = base_budget_excess() != BASE_EXCESS_NONE;
  base_budget_wind_up();
  base_budget_end();
  base_budget_begin(&BASE_BUDGET_NONE); /* the turn goes on */
  session->seat->settings.losses_ignored = losses_ignored;
  session->diags = before;
  session->seat = seat;
  return status;
}

/* --- what is said beside the rows */

static const struct tql_output *output_of(const struct tql_session *session,
                                          const struct session_display *display) {
  return display->seat == session->seats[0] ? session->output : &display->seat->output;
}

/* To who displays it; who follows his own feeds has it with what else is said. */
static void tell(struct tql_session *session, const struct session_display *display,
                 enum base_message number, const char *hint, const char *text) {
  const struct tql_output *output = output_of(session, display);
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  if (output != NULL && output->live_lacks != NULL)
    output->live_lacks(output->context,
                       base_report_hint(&diags, number, NULL, NULL, hint, "%s", text));
  else if (display->seat == session->seats[0])
    base_report_hint(session->diags, number, NULL, NULL, hint, "%s", text);
  base_diag_sink_done(&diags);
}

/* When it changes, but a display without end does not say it without end. What is withheld changes with each row. */
static bool is_to_say(struct session_shown *certain, const struct base_diag_sink *diags) {
  uint64_t hash = 1;
  for (size_t i = 0; i < diags->count; i++) {
    const char *text = diags->items[i].number == MSG_WITHHELD ? "" : diags->items[i].message;
    hash = base_hash(text, strlen(text), hash);
  }
  if (hash == certain->said) return false;
  certain->said = hash;
  if (++certain->changes < certain->say_at) return false;
  certain->say_at = certain->changes * 2;
  return true;
}

static void tell_losses(struct tql_session *session, struct session_display *display,
                        const struct base_diag_sink *diags) {
  if (!is_to_say(display->certain, diags)) return;
  for (size_t i = 0; i < diags->count; i++) {
    const struct base_diag *diag = &diags->items[i];
    size_t length = strlen(display->name);
    bool names = strncmp(diag->message, display->name, length) == 0 && diag->message[length] == ':';
    const char *text =
        base_arena_printf(session->statement_arena, "%s%s%s", names ? "" : display->name,
                          names ? "" : ": ", diag->message);
    tell(session, display, diag->number, diag->hint, text);
  }
}

/* --- showing */

/* Shows of RESULT, whose rows are NOW, what has not been shown so; returns of how many that were less is known. */
static size_t show_news(struct tql_session *session, const struct session_display *display,
                        const struct tql_rows *result, const struct shown_row *now) {
  const struct tql_output *output = output_of(session, display);
  const struct net_rows *rows = &result->rows;
  size_t less = 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (has(display->certain, &now[i])) continue;
    const struct shown_row *before = like(display->certain, &now[i]);
    less += before != NULL && is_less_known(&now[i], before);
    uint8_t marks = (uint8_t)((rows->marks[i] & NET_DEFINITE) | (before != NULL ? NET_CLOSES : 0));
    if (output != NULL && output->live != NULL)
      output->live(output->context, display->name, rows->layout, net_rows_row(rows, i), marks,
                   result->checkpoint);
  }
  return less;
}

/* How many of those that were shown are nowhere now. What was over before HORIZON may have gone by its age. */
static size_t count_gone(const struct session_shown *before, const struct session_shown *now,
                         net_chronon horizon) {
  size_t gone = 0;
  for (size_t i = 0; i < before->count; i++)
    gone += before->rows[i].stop_hi >= horizon && like(now, &before->rows[i]) == NULL;
  return gone;
}

static void tell_before(struct tql_session *session, const struct session_display *display,
                        size_t less, size_t gone) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (less + gone == 0) return;
  base_buffer_printf(&text, "%s: of what was shown before, ", display->name);
  if (less > 0)
    base_buffer_printf(&text, "%zu row%s known less of, and shown again", less,
                       less == 1 ? " is" : "s are");
  if (gone > 0)
    base_buffer_printf(&text, "%s%zu row%s not there any more", less > 0 ? "; " : "", gone,
                       gone == 1 ? " is" : "s are");
  tell(session, display, MSG_SHOWN_BEFORE, "print shows all that is known now",
       base_buffer_text(&text));
  base_buffer_done(&text);
}

static void take_over(struct session_display *display, struct shown_row *rows, size_t count) {
  qsort(rows, count, sizeof *rows, compare);
  free(display->certain->rows);
  display->certain->rows = rows;
  display->certain->count = count;
}

static void show_looked(struct tql_session *session, struct session_display *display,
                        const struct tql_rows *result, const struct base_diag_sink *diags) {
  struct shown_row *rows = shown_rows_of(session, result);
  size_t less = show_news(session, display, result, rows);
  net_chronon horizon = session_find(session, display->name)->keep.horizon;
  struct session_shown before = *display->certain;
  display->certain->rows = NULL;
  take_over(display, rows, result->rows.count);
  tell_losses(session, display, diags);
  tell_before(session, display, less, count_gone(&before, display->certain, horizon));
  free(before.rows);
}

/* DISPLAY shows the network's rows again: those first that have come meanwhile, unless SHOWN, all have been. */
static void end(struct tql_session *session, struct session_display *display, bool shown) {
  struct base_diag_sink diags;
  struct looking looking;
  bool excess;
  base_diag_sink_init(&diags);
  looking.made = false;
  if (!shown && look_at(session, display, true, &diags, &looking, &excess) == BASE_OK) {
    struct shown_row *rows = shown_rows_of(session, &looking.rows);
    show_news(session, display, &looking.rows, rows);
    free(rows);
  }
  if (looking.made) tql_rows_done(&looking.rows);
  base_diag_sink_done(&diags);
  forget(display);
}

static void give_up(struct tql_session *session, struct session_display *display,
                    const char *reason) {
  display->as_is = true;
  tell(session, display, MSG_DISPLAY_LACKS, "a retrieve says what is uncertain for it",
       base_arena_printf(session->statement_arena,
                         "%s: what is shown from here on is made of what is there: %s",
                         display->name, reason));
}

/* Has DISPLAY's table more rows than are looked at? Of what is no table it turns out. */
static bool is_large(struct tql_session *session, const struct session_display *display) {
  const struct session_relation *relation = session_find(session, display->name);
  int64_t count = 0;
  return relation != NULL && !relation->view &&
         st_count(session->database, relation->ng.name, &count) == BASE_OK && count > ROWS_MAX;
}

static const char *const TOO_LARGE = "it has more than 10000 tuples";
static const char *const TOO_LONG = "to find what is certain takes too long";

static void look_anew(struct tql_session *session, struct session_display *display) {
  struct base_diag_sink diags;
  struct looking looking;
  bool excess;
  base_diag_sink_init(&diags);
  int64_t began = base_env_monotonic();
  bool large = is_large(session, display);
  enum base_status status = look_at(session, display, false, &diags, &looking, &excess);
  large |= status == BASE_OK && looking.rows.rows.count > ROWS_MAX;
  if (status == BASE_OK)
    show_looked(session, display, &looking.rows, &diags);
  else if (status != BASE_CANCEL || excess)
    give_up(session, display, excess ? TOO_LONG : "what is certain cannot be found");
  if (large && !display->as_is) give_up(session, display, TOO_LARGE); /* all is shown, so far */
  if (display->as_is) end(session, display, large && status == BASE_OK);
  display->news = status == BASE_CANCEL && !excess; /* somebody has interrupted */
  if (looking.made) tql_rows_done(&looking.rows);
  base_diag_sink_done(&diags);
  int64_t now = base_env_monotonic();
  session->shown_due = now + REST * (now - began);
}

/* --- when */

/* From now on DISPLAY shows what is certain. What it has shown is what is there; of one that has just begun, what is
 * certain. */
static void begin(struct tql_session *session, struct session_display *display) {
  struct base_diag_sink diags;
  struct looking looking;
  bool excess;
  if (is_large(session, display)) {
    give_up(session, display, TOO_LARGE);
    return;
  }
  base_diag_sink_init(&diags);
  display->certain = base_xcalloc(1, sizeof *display->certain);
  display->news = true;
  enum base_status status = look_at(session, display, !display->fresh, &diags, &looking, &excess);
  if (status == BASE_OK)
    take_over(display, shown_rows_of(session, &looking.rows), looking.rows.rows.count);
  else
    give_up(session, display, TOO_LONG); /* it has shown all, so far */
  if (display->as_is) forget(display);
  if (looking.made) tql_rows_done(&looking.rows);
  base_diag_sink_done(&diags);
}

/* Is something uncertain of what DISPLAY shows, for its seat? */
static bool is_in_doubt(struct tql_session *session, struct session_display *display) {
  struct session_relation *relation = session_find(session, display->name);
  struct tql_seat *seat = session->seat;
  if (session_is_system_name(display->name) ||
      !session_may_matter(session, relation, ++session->walks))
    return false;
  session->seat = display->seat;
  bool in_doubt = session_begin_doubts(session, NULL, relation) == BASE_OK;
  in_doubt = in_doubt && session_is_in_doubt(session);
  session_end_doubts(session, false);
  session->seat = seat;
  return in_doubt;
}

void session_check_shown(struct tql_session *session) {
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    if (display->seat == NULL || !display->unchecked) continue;
    bool in_doubt = is_in_doubt(session, display);
    display->unchecked = false;
    if (in_doubt && display->certain == NULL && !display->as_is) begin(session, display);
    if (!in_doubt && display->certain != NULL) end(session, display, false);
    display->fresh = false;
  }
}

void session_show_certain(struct tql_session *session) {
  session_check_shown(session);
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    if (display->seat == NULL || display->certain == NULL || !display->news) continue;
    if (session_find(session, display->name) == NULL) continue; /* it was destroyed */
    if (base_env_monotonic() >= session->shown_due || is_large(session, display))
      look_anew(session, display);
  }
}
