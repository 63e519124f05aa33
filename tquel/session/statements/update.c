/* delete and replace: portions of tuples are cut out, changed tuples put in their place.
 *
 *      tuples, numbered ──▶ query of the statement ──▶ cuts: (tuple, portion, T or unknown)
 *                                                        │
 *      row        [-------------------)                  │
 *      portion          [------)             cut for certain: the pieces to the left and right stay
 *                 [----)        [-----)      cut perhaps: the middle stays too, not definite
 *
 * Bounds that are not known are treated as by retrieve: the left piece is `start V.start stop A`, the
 * right one `start B stop V.stop`, and a piece that is perhaps empty is not definite. A portion that
 * begins with the tuple itself leaves nothing to the left, whatever the bounds are. Where only the
 * bounds of the portion are in doubt, nothing of it stays: it is cut, or it is empty.
 *
 * All cuts are found before anything is written, so a statement never sees its own changes. Of events,
 * records of traced relations and snapshot tuples there are no portions: they go or stay as a whole. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/tables/tables.h"

struct cut {
  struct net_period portion;
  bool own_start, own_stop; /* those of the tuple itself */
  bool definite;
  bool certain; /* what it means goes for sure: only whether the portion is empty may be in doubt */
  const union net_slot *result; /* the query's row */
};

struct piece {
  struct net_period period; /* of an open one the stop is filled with the checkpoint */
  bool open, definite;
};

struct pieces {
  struct piece *items;
  size_t count, capacity;
};

struct update {
  struct tql_session *session;
  const struct tql_statement *statement;
  struct session_relation *relation;
  struct tql_update bound;
  struct net_rows tuples;  /* of the relation, as the query saw them */
  struct tql_rows results; /* of the query */
  /* what is to be done: rows of the relation's layout taken out; rows of its write layout put in */
  struct net_rows removed, added;
  size_t *origins; /* of ADDED: index in REMOVED */
  size_t origin_capacity;
};

/* --- finding the cuts */

static bool is_whole(const struct session_relation *relation) {
  return relation->kind != ST_PERIOD;
}

/* Can nothing but the bounds of the portion be in doubt? The tuples of the query are all definite, and a
 * condition on the values of one is T or F. */
static bool is_plain(const struct update *update) {
  const struct ng_query *query = update->bound.query;
  return query->variable_count == 1 && query->aggregate_count == 0 && query->when == NULL;
}

/* With credibility 0 an instant is the middle of its bounds (the query has it so). */
static struct net_instant seen(const struct update *update, struct net_instant instant) {
  if (!update->bound.credibility) return instant;
  int64_t middle = instant.lo + (int64_t)(((uint64_t)instant.hi - (uint64_t)instant.lo) / 2);
  return (struct net_instant){middle, middle};
}

static bool same_instant(struct net_instant a, struct net_instant b) {
  return a.lo == b.lo && a.hi == b.hi;
}

static struct cut make_cut(const struct update *update, const union net_slot *tuple, size_t index) {
  const struct net_rows *rows = &update->results.rows;
  const union net_slot *result = net_rows_row(rows, index);
  struct cut cut = {.definite = rows->marks[index] & NET_DEFINITE, .result = result};
  cut.certain = cut.definite || is_plain(update);
  if (rows->layout->tuple_class == NET_EVENT) return cut;
  bool open = result[2].i == NET_OPEN;
  cut.portion.start = net_row_start(result);
  cut.portion.stop = net_slot_stop(result, 2, update->results.checkpoint);
  /* An uncertain bound of the tuple's own may come clipped by the other end of the portion. */
  struct net_period whole = {seen(update, net_row_start(tuple)), cut.portion.stop};
  cut.own_start =
      update->bound.own_start && same_instant(cut.portion.start, net_period_clip(whole).start);
  bool same_stop = open && result[3].i == tuple[3].i;
  if (tuple[2].i != NET_OPEN) {
    whole = (struct net_period){cut.portion.start, seen(update, net_slot_instant(tuple, 2))};
    same_stop = !open && same_instant(cut.portion.stop, net_period_clip(whole).stop);
  }
  cut.own_stop = update->bound.own_stop && same_stop;
  return cut;
}

/* The values that replace gives: everything in the result behind its times and the number. */
static bool same_values(const struct update *update, const struct cut *a, const struct cut *b) {
  const struct net_layout *layout = update->bound.query->layout;
  size_t first = layout->first_domain_slot + 1;
  return memcmp(a->result + first, b->result + first,
                (layout->slot_count - first) * sizeof *a->result) == 0;
}

static bool same_portion(const struct cut *a, const struct cut *b) {
  return same_instant(a->portion.start, b->portion.start) &&
         same_instant(a->portion.stop, b->portion.stop) && a->own_start == b->own_start &&
         a->own_stop == b->own_stop;
}

/* Of a portion that goes for sure nothing else can go perhaps. CUT becomes the surer of the two. */
static bool is_said(const struct update *update, struct cut *cut, const struct cut *again) {
  if (!same_portion(cut, again)) return false;
  if (update->statement->kind == TQL_S_REPLACE)
    return cut->definite == again->definite && same_values(update, cut, again);
  if (again->definite && !cut->definite) *cut = *again;
  return true;
}

/* One tuple cannot become two different ones at one time. */
static bool contradict(const struct update *update, const struct cut *a, const struct cut *b) {
  if (update->statement->kind != TQL_S_REPLACE || same_values(update, a, b)) return false;
  return is_whole(update->relation) || net_overlap_periods(a->portion, b->portion) != NET_FALSE;
}

static enum base_status report_tuple(const struct update *update, enum base_message number,
                                     const union net_slot *tuple, const char *hint,
                                     const char *what) {
  struct tql_session *session = update->session;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  session_print_row(session, &text, update->tuples.layout, tuple);
  base_report_hint(session->diags, number, session->source, &update->statement->range, hint,
                   "%s: the tuple %s", what, base_buffer_text(&text));
  base_buffer_done(&text);
  return BASE_USER;
}

/* --- cutting */

static void add_piece(struct pieces *pieces, struct net_period period, bool open,
                      enum net_truth exists, bool definite) {
  if (exists == NET_FALSE) return;
  base_grow(&pieces->items, &pieces->capacity, pieces->count + 1, sizeof *pieces->items);
  pieces->items[pieces->count++] =
      (struct piece){net_period_clip(period), open, definite && exists == NET_TRUE};
}

/* A piece up to LIMIT: it stays open if the limit lies ahead of what is known. */
static struct net_instant end_at(const struct piece *piece, struct net_instant limit,
                                 bool *ret_open) {
  *ret_open = piece->open && limit.lo >= piece->period.stop.lo;
  return net_earlier(piece->period.stop, limit);
}

static void add_left(struct pieces *out, const struct piece *piece, const struct cut *cut) {
  if (cut->own_start) return;
  bool open;
  struct net_instant stop = end_at(piece, cut->portion.start, &open);
  add_piece(out, (struct net_period){piece->period.start, stop}, open,
            net_before(piece->period.start, cut->portion.start), piece->definite);
}

static void add_right(struct pieces *out, const struct piece *piece, const struct cut *cut) {
  if (cut->own_stop) return;
  struct net_period period = {net_later(piece->period.start, cut->portion.stop),
                              piece->period.stop};
  add_piece(out, period, piece->open, net_before(cut->portion.stop, piece->period.stop),
            piece->definite);
}

/* What PIECE and the portion have in common. */
static void add_middle(struct pieces *out, const struct piece *piece, const struct cut *cut,
                       bool definite) {
  bool open = piece->open;
  struct net_period period = piece->period;
  if (!cut->own_start) period.start = net_later(period.start, cut->portion.start);
  if (!cut->own_stop) period.stop = end_at(piece, cut->portion.stop, &open);
  bool own = cut->own_start && cut->own_stop;
  add_piece(out, period, open, own ? NET_TRUE : net_nonempty(period), definite);
}

static bool misses(const struct piece *piece, const struct cut *cut) {
  return net_not_after(cut->portion.stop, piece->period.start) == NET_TRUE ||
         net_not_after(piece->period.stop, cut->portion.start) == NET_TRUE;
}

static void apply_cut(struct pieces *pieces, const struct cut *cut) {
  struct pieces result = {0};
  for (size_t i = 0; i < pieces->count; i++) {
    const struct piece *piece = &pieces->items[i];
    if (misses(piece, cut)) {
      add_piece(&result, piece->period, piece->open, NET_TRUE, piece->definite);
      continue;
    }
    add_left(&result, piece, cut);
    if (!cut->certain) add_middle(&result, piece, cut, false);
    add_right(&result, piece, cut);
  }
  free(pieces->items);
  *pieces = result;
}

static struct piece piece_of(const struct update *update, size_t index) {
  const union net_slot *tuple = net_rows_row(&update->tuples, index);
  struct piece piece = {.open = tuple[2].i == NET_OPEN,
                        .definite = update->tuples.marks[index] & NET_DEFINITE};
  piece.period.start = net_row_start(tuple);
  piece.period.stop = net_slot_stop(tuple, 2, update->relation->checkpoint);
  return piece;
}

/* --- what is to be done */

/* A row to put in, with the domains of TUPLE. */
static union net_slot *add_row(struct update *update, const union net_slot *tuple, bool definite) {
  const struct net_layout *from = update->tuples.layout, *to = update->added.layout;
  base_grow(&update->origins, &update->origin_capacity, update->added.count + 1,
            sizeof *update->origins);
  update->origins[update->added.count] = update->removed.count - 1;
  union net_slot *row = net_rows_add(&update->added, definite ? NET_DEFINITE : 0);
  row[0] = tuple[0];
  row[1] = tuple[1];
  memcpy(row + to->first_domain_slot, tuple + from->first_domain_slot,
         (to->slot_count - to->first_domain_slot) * sizeof *row);
  return row;
}

static void set_period(union net_slot *row, const struct piece *piece) {
  row[0].i = piece->period.start.lo;
  row[1].i = piece->period.start.hi;
  row[2].i = piece->open ? NET_OPEN : piece->period.stop.lo;
  row[3].i = piece->period.stop.hi;
}

static void set_values(const struct update *update, union net_slot *row, const struct cut *cut) {
  const struct net_layout *from = update->bound.query->layout, *to = update->added.layout;
  for (size_t i = 0; i < update->bound.field_count; i++)
    row[to->fields[update->bound.fields[i]].slot] = cut->result[from->fields[i + 1].slot];
  if (!update->bound.moves) return;
  const struct net_field *bounds = from->fields + 1 + update->bound.field_count;
  row[0] = cut->result[bounds[0].slot];
  row[1] = cut->result[bounds[1].slot];
}

/* The changed tuples that CUT makes of tuple INDEX. */
static void add_changed(struct update *update, size_t index, const struct cut *cut) {
  const union net_slot *tuple = net_rows_row(&update->tuples, index);
  bool definite = (update->tuples.marks[index] & NET_DEFINITE) && cut->definite;
  if (is_whole(update->relation)) {
    union net_slot *row = add_row(update, tuple, definite);
    if (update->added.layout->tuple_class == NET_PERIOD)
      memcpy(row, tuple, update->added.layout->first_domain_slot * sizeof *row);
    set_values(update, row, cut);
    return;
  }
  struct pieces middle = {0};
  struct piece whole = piece_of(update, index);
  if (!misses(&whole, cut)) add_middle(&middle, &whole, cut, definite);
  for (size_t i = 0; i < middle.count; i++) {
    union net_slot *row = add_row(update, tuple, middle.items[i].definite);
    set_period(row, &middle.items[i]);
    set_values(update, row, cut);
  }
  free(middle.items);
}

/* Events, records, snapshot tuples. */
static enum base_status cut_whole(struct update *update, size_t index, const struct cut *cuts,
                                  size_t count) {
  const union net_slot *tuple = net_rows_row(&update->tuples, index);
  bool definite = false;
  for (size_t i = 0; i < count; i++) definite |= cuts[i].definite;
  bool replaces = update->statement->kind == TQL_S_REPLACE;
  if (!definite && replaces && update->relation->ng.records != NULL)
    return report_tuple(update, MSG_PERHAPS_REPLACED, tuple,
                        "narrow the condition, or use with credibility 0",
                        "a record cannot be replaced perhaps");
  if (!definite && !replaces && !(update->tuples.marks[index] & NET_DEFINITE)) return BASE_OK;
  net_rows_add_copy(&update->removed, tuple, update->tuples.marks[index]);
  if (!definite) {
    union net_slot *row = add_row(update, tuple, false);
    if (update->added.layout->tuple_class == NET_PERIOD)
      memcpy(row, tuple, update->added.layout->first_domain_slot * sizeof *row);
  }
  for (size_t i = 0; i < count && replaces; i++) add_changed(update, index, &cuts[i]);
  return BASE_OK;
}

static bool is_unchanged(const struct pieces *pieces, const struct piece *whole) {
  if (pieces->count != 1) return false;
  const struct piece *piece = &pieces->items[0];
  return same_instant(piece->period.start, whole->period.start) &&
         same_instant(piece->period.stop, whole->period.stop) && piece->open == whole->open &&
         piece->definite == whole->definite;
}

static void cut_period(struct update *update, size_t index, const struct cut *cuts, size_t count) {
  const union net_slot *tuple = net_rows_row(&update->tuples, index);
  struct piece whole = piece_of(update, index);
  struct pieces pieces = {0};
  add_piece(&pieces, whole.period, whole.open, NET_TRUE, whole.definite);
  /* What is gone for certain first: only of the rest something can go perhaps. */
  for (int certain = 1; certain >= 0; certain--)
    for (size_t i = 0; i < count; i++)
      if (cuts[i].certain == (certain == 1)) apply_cut(&pieces, &cuts[i]);
  bool replaces = update->statement->kind == TQL_S_REPLACE;
  if (replaces || !is_unchanged(&pieces, &whole)) {
    net_rows_add_copy(&update->removed, tuple, update->tuples.marks[index]);
    for (size_t i = 0; i < pieces.count; i++)
      set_period(add_row(update, tuple, pieces.items[i].definite), &pieces.items[i]);
    for (size_t i = 0; i < count && replaces; i++) add_changed(update, index, &cuts[i]);
  }
  free(pieces.items);
}

/* All cuts of tuple INDEX: results ORDER[0 .. COUNT). */
static enum base_status cut_tuple(struct update *update, size_t index, const size_t *order,
                                  size_t count) {
  const union net_slot *tuple = net_rows_row(&update->tuples, index);
  struct cut *cuts = base_xcalloc(count, sizeof *cuts);
  size_t used = 0;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    struct cut cut = make_cut(update, tuple, order[i]);
    bool known = false;
    for (size_t k = 0; k < used && !known; k++) {
      known = is_said(update, &cuts[k], &cut);
      if (!contradict(update, &cuts[k], &cut)) continue;
      status =
          report_tuple(update, MSG_REPLACE_AMBIGUOUS, tuple, "make the condition choose one tuple",
                       "replaced by two different tuples at one time");
    }
    if (!known) cuts[used++] = cut;
  }
  if (status == BASE_OK && is_whole(update->relation))
    status = cut_whole(update, index, cuts, used);
  else if (status == BASE_OK)
    cut_period(update, index, cuts, used);
  free(cuts);
  return status;
}

/* The number that the query's row has. */
static size_t number_of(const struct update *update, size_t result) {
  const struct net_layout *layout = update->bound.query->layout;
  return (size_t)net_rows_row(&update->results.rows, result)[layout->fields[0].slot].i;
}

static int compare_numbers(const void *a, const void *b, void *context) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  size_t m = number_of(context, x), n = number_of(context, y);
  if (m != n) return m < n ? -1 : 1;
  return x < y ? -1 : x > y;
}

static enum base_status cut_all(struct update *update) {
  size_t count = update->results.rows.count;
  size_t *order = base_xcalloc(count + 1, sizeof *order);
  for (size_t i = 0; i < count; i++) order[i] = i;
  qsort_r(order, count, sizeof *order, compare_numbers, update);
  enum base_status status = BASE_OK;
  for (size_t first = 0, end; first < count && status == BASE_OK; first = end) {
    size_t number = number_of(update, order[first]);
    for (end = first; end < count && number_of(update, order[end]) == number;) end++;
    status = cut_tuple(update, number, order + first, end - first);
    if (base_env_interrupted()) status = BASE_CANCEL;
  }
  free(order);
  return status;
}

/* --- the query */

struct numbering {
  struct update *update;
  struct net_rows *numbered;
};

static enum base_status number_batch(void *context, const struct net_batch *batch) {
  const struct numbering *numbering = context;
  struct update *update = numbering->update;
  const struct net_layout *from = update->tuples.layout, *to = numbering->numbered->layout;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    net_rows_add_copy(&update->tuples, row, net_batch_marks(batch, i));
    if (update->bound.credibility && !(net_batch_marks(batch, i) & NET_DEFINITE)) continue;
    union net_slot *copy = net_rows_add(numbering->numbered, NET_DEFINITE);
    memcpy(copy, row, from->slot_count * sizeof *copy);
    copy[to->fields[to->field_count - 1].slot].i = (int64_t)update->tuples.count - 1;
  }
  return base_env_interrupted() ? BASE_CANCEL : BASE_OK;
}

/* The relation's tuples, and the same numbered, all of them definite: the query is to say how the
 * condition stands, and not whether the tuple is there.                                             */
static enum base_status number_tuples(struct update *update, struct net_rows *numbered) {
  struct numbering numbering = {update, numbered};
  const struct net_scan scan = {.relation = update->relation->ng.name,
                                .layout = update->tuples.layout,
                                .form = NET_SCAN_TUPLES,
                                .checkpoint = update->relation->checkpoint};
  return net_store_each_batch(st_net(update->session->database), &scan, number_batch, &numbering);
}

static enum base_status find_cuts(struct update *update) {
  struct tql_session *session = update->session;
  struct net_rows numbered;
  net_rows_init(&numbered, update->bound.numbered->layout);
  enum base_status status = number_tuples(update, &numbered);
  session->given =
      (struct session_given){update->bound.numbered, &numbered, update->relation->checkpoint};
  if (status == BASE_OK) status = session_run_once(session, update->bound.query, &update->results);
  session->given = (struct session_given){0};
  net_rows_done(&numbered);
  return status == BASE_OK ? cut_all(update) : status;
}

/* --- writing */

/* Ends that wait for the checkpoint and name an open tuple that was cut: they end what is left of it. */
static enum base_status follow_ends(struct update *update) {
  struct session_relation *relation = update->relation;
  if (is_whole(relation) || !relation->waiting.has_pending) return BASE_OK;
  const struct net_inbox_port *port = &relation->waiting.pending.ports[0];
  const struct net_layout *layout = port->layout;
  struct net_rows pending;
  net_rows_init(&pending, layout);
  const union net_slot *row;
  uint8_t marks;
  for (size_t i = 0; (row = net_inbox_waiting(port, i, &marks)); i++) {
    size_t origin = 0;
    while (origin < update->removed.count &&
           (!(marks & NET_CLOSES) || net_rows_row(&update->removed, origin)[2].i != NET_OPEN ||
            !net_row_same_identity(layout, net_rows_row(&update->removed, origin), row)))
      origin++;
    if (origin == update->removed.count) net_rows_add_copy(&pending, row, marks);
    for (size_t k = 0; k < update->added.count && origin < update->removed.count; k++) {
      const union net_slot *left = net_rows_row(&update->added, k);
      if (update->origins[k] != origin || left[2].i != NET_OPEN || left[1].i >= row[2].i) continue;
      net_rows_add_copy(&pending, left, (uint8_t)(update->added.marks[k] | NET_CLOSES));
      union net_slot *end = net_rows_row(&pending, pending.count - 1);
      end[2] = row[2];
      end[3] = row[3];
    }
  }
  enum base_status status = session_set_pending(update->session, relation, &pending);
  net_rows_done(&pending);
  return status;
}

/* Beside a feed or under `set checkpoint manual`: what begins at the checkpoint or later waits for it;
 * all else is a correction.                                                                          */
static enum base_status write_live(struct update *update) {
  struct session_relation *relation = update->relation;
  struct net_rows now, none;
  net_rows_init(&now, update->added.layout);
  net_rows_init(&none, update->added.layout);
  enum base_status status = follow_ends(update);
  for (size_t i = 0; i < update->added.count && status == BASE_OK; i++) {
    const union net_slot *row = net_rows_row(&update->added, i);
    if (row[0].i < relation->checkpoint)
      net_rows_add_copy(&now, row, update->added.marks[i]);
    else
      status = session_take_record(update->session, relation, row, update->added.marks[i],
                                   relation->checkpoint);
  }
  if (status == BASE_OK) status = session_revise(update->session, relation, &update->removed, &now);
  if (status == BASE_OK) status = session_correct(update->session, relation, &none);
  net_rows_done(&now);
  net_rows_done(&none);
  return status;
}

/* Of an open tuple nothing is known beyond the checkpoint, so a portion that begins there is none yet. */
static void note_beyond(const struct update *update) {
  struct tql_session *session = update->session;
  bool open = false;
  for (size_t i = 0; i < update->tuples.count && !open; i++)
    open = !is_whole(update->relation) && net_rows_row(&update->tuples, i)[2].i == NET_OPEN;
  if (!open || update->bound.own_start) return;
  struct base_buffer time = BASE_BUFFER_EMPTY;
  net_time_print(&time, session->timeline, update->relation->checkpoint);
  base_report_hint(
      session->diags, MSG_NOTHING_BEYOND, session->source, &update->statement->range,
      "say checkpoint T first, if it is known that they last so long",
      "nothing was found: tuples of %s are open, and beyond the checkpoint, which is at "
      "%s, nothing is known of them",
      update->relation->ng.name, base_buffer_text(&time));
  base_buffer_done(&time);
}

static enum base_status run(struct update *update) {
  struct tql_session *session = update->session;
  struct session_relation *relation = update->relation;
  /* To change what a feed has brought does not say that no more will come: the checkpoint stays. */
  bool live = session_writes_live(session, relation) || relation->checkpoint != NET_FOREVER;
  bool reopened = false, as_before = live && relation->live;
  enum base_status status =
      live ? session_make_live(session, relation) : session_settle(session, relation, &reopened);
  if (status == BASE_OK) status = find_cuts(update);
  if (status == BASE_OK) status = session_check_values(session, relation, &update->added);
  if (status == BASE_OK) status = session_check_integrity(session, relation, &update->added);
  session->refused = status != BASE_OK && as_before;
  if (status != BASE_OK) return status;
  session->counters.rows_in += update->removed.count;
  bool changes = update->removed.count > 0;
  if (live && !changes) note_beyond(update);
  if (live) return changes ? write_live(update) : BASE_OK;
  if (changes) status = session_revise(session, relation, &update->removed, &update->added);
  if (status == BASE_OK && (changes || reopened))
    status = session_recompute_dependants(session, relation);
  return status;
}

enum base_status session_update(struct tql_session *session,
                                const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  struct update update = {.session = session, .statement = statement};
  const struct tql_variable *variable = tql_scope_variable(&scope.scope, statement->variable.text);
  if (variable != NULL && variable->relation->kind == NG_REL_CLOCK) {
    base_report(session->diags, MSG_CLOCK_WRITE, session->source, &statement->variable.range,
                "%s is a clock: its ticks cannot be changed", statement->variable.text);
    return BASE_USER;
  }
  if (variable != NULL && variable->relation->kind == NG_REL_SAMPLED &&
      statement->kind == TQL_S_REPLACE) {
    base_report_hint(session->diags, MSG_SAMPLED_REPLACE, session->source,
                     &statement->variable.range, "delete the tuple and append samples",
                     "%s is sampled: what was seen cannot be replaced", variable->relation->name);
    return BASE_USER;
  }
  if (variable != NULL && session_refuse_derived(session, session_of(session, variable->relation),
                                                 &statement->variable))
    return BASE_USER;
  enum base_status status = tql_analyse_update(&analysis, statement, &update.bound);
  if (status != BASE_OK || session->options.explain_only) return status;
  update.relation = session_of(session, update.bound.relation);
  const struct net_layout *layout = update.relation->ng.layout;
  net_rows_init(&update.tuples, layout);
  net_rows_init(&update.removed, layout);
  net_rows_init(&update.added, session_write_layout(update.relation));
  tql_rows_init(&update.results, NULL, update.bound.query->layout);
  status = session_begin(session);
  if (status == BASE_OK) status = session_end(session, run(&update));
  tql_rows_done(&update.results);
  net_rows_done(&update.added);
  net_rows_done(&update.removed);
  net_rows_done(&update.tuples);
  free(update.origins);
  return status;
}
