/* Results of views that are kept: who has looked at all tuples of a view reads them from memory from then on.
 *
 *      retrieve of a whole view ──▶ shown ──▶ kept ──▶ later one-offs that read the view
 *
 * A retrieve that gives a view's tuples as they are has computed what every later retrieve over the view
 * would compute again; its rows are in memory, in order, each once. They stand for the view in retrieves, in
 * the place of its query, as those of a stored derived relation would. Kept are only results to which nothing
 * can come (checkpoint at forever): there an open stop is one at forever, as it is shown.
 *
 * They are forgotten with the first statement that is not a range, retrieve, print, help or explain, with any
 * write to the database, by this connection (also none of a statement's) or another, when one is taken back,
 * and when the oldest
 * have to make room: together they take no more than a quarter of what `set cache` allows. Where another
 * connection writes while a retrieve reads them, it is run again without (retrieve.c).
 *
 * Explain shows plans without them.                                                                  */
#include <stdlib.h>
#include <string.h>

#include "engine/plain.h"
#include "tquel/session/results/results.h"
#include "tquel/session/session_impl.h"

struct session_kept {
  char *view; /* its name */
  struct base_arena *arena;
  struct net_rows rows; /* of a layout in ARENA */
  struct net_plain_notes plain;
};

/* --- forgetting */

static void forget_first(struct tql_session *session, size_t count) {
  struct session_kept_views *views = &session->kept;
  if (count == 0) return; /* there may be no items at all */
  for (size_t i = 0; i < count; i++) {
    session_spare_rows(session, &views->items[i].rows);
    net_plain_notes_done(&views->items[i].plain);
    base_arena_free(views->items[i].arena);
    free(views->items[i].view);
  }
  views->count -= count;
  memmove(views->items, views->items + count, views->count * sizeof *views->items);
}

void session_forget_kept(struct tql_session *session) {
  forget_first(session, session->kept.count);
  free(session->kept.items);
  session->kept = (struct session_kept_views){.items = NULL};
}

void session_forget_kept_before(struct tql_session *session, enum tql_statement_kind kind) {
  switch (kind) {
    case TQL_S_RANGE:
    case TQL_S_RETRIEVE:
    case TQL_S_PRINT:
    case TQL_S_HELP:
    case TQL_S_EXPLAIN:
      return;
    default:
      session_forget_kept(session);
  }
}

/* Are they still what the views give? If not, they are forgotten. */
static bool are_valid(struct tql_session *session) {
  struct st_version now;
  if (session->kept.count == 0) return false;
  if (session->live == NULL && session->feed_count == 0 &&
      st_version(session->database, &now) == BASE_OK &&
      memcmp(&now, &session->kept.version, sizeof now) == 0)
    return true;
  session_forget_kept(session);
  return false;
}

/* --- using */

bool session_use_kept(struct tql_session *session, bool use) {
  bool valid = are_valid(session);
  session->kept.in_use = use && valid;
  return valid;
}

static struct session_kept *find(const struct tql_session *session, const char *view) {
  for (size_t i = 0; i < session->kept.count; i++)
    if (strcmp(session->kept.items[i].view, view) == 0) return &session->kept.items[i];
  return NULL;
}

bool session_is_kept(const struct tql_session *session, const struct session_relation *view) {
  return session->kept.in_use && view->view && find(session, view->ng.name) != NULL;
}

struct kept_source {
  struct net_source source;
  const struct net_rows *rows;
  struct net_plain_notes *plain; /* of ROWS */
  const struct net_layout *layout;
  uint32_t *sources; /* of each slot of LAYOUT behind the times, in ROWS */
  bool as_they_are;  /* ROWS have LAYOUT */
  struct net_batch_builder builder;
  uint32_t batch_rows;
  size_t at;
  bool ended;
};

static void fill_batch(struct kept_source *source, uint32_t count) {
  const struct net_layout *layout = source->layout;
  uint32_t times = layout->first_domain_slot;
  net_batch_builder_clear(&source->builder);
  for (uint32_t i = 0; i < count; i++) {
    const union net_slot *row = net_rows_row(source->rows, source->at + i);
    union net_slot *to =
        net_batch_builder_add(&source->builder, source->rows->marks[source->at + i]);
    net_row_copy(to, row, times);
    for (uint32_t k = times; k < layout->slot_count; k++) to[k] = row[source->sources[k - times]];
  }
}

static enum base_status kept_next(struct net_source *base, struct net_batch *ret) {
  struct kept_source *source = (struct kept_source *)base;
  const struct net_rows *rows = source->rows;
  if (source->ended) return BASE_END;
  size_t left = rows->count - source->at;
  uint32_t count = left < source->batch_rows ? (uint32_t)left : source->batch_rows;
  net_chronon last = count > 0 ? net_rows_row(rows, source->at + count - 1)[0].i : NET_BEGINNING;
  source->ended = count == left;
  if (source->as_they_are) {
    *ret = (struct net_batch){.layout = source->layout,
                              .rows = count > 0 ? net_rows_row(rows, source->at) : NULL,
                              .marks = rows->marks + source->at,
                              .count = count,
                              .bound = NET_BEGINNING};
  } else {
    fill_batch(source, count);
    *ret = net_batch_builder_batch(&source->builder, last);
  }
  ret->checkpoint = source->ended ? NET_FOREVER : net_batch_followed(last);
  ret->plain = net_plain_notes_say(source->plain, rows, source->at, source->at + count);
  source->at += count;
  return BASE_OK;
}

static void kept_free(struct net_source *base) {
  struct kept_source *source = (struct kept_source *)base;
  net_batch_builder_done(&source->builder);
  free(source->sources);
  free(source);
}

struct net_source *session_open_kept(struct tql_session *session,
                                     const struct session_relation *view,
                                     const struct net_layout *layout, uint32_t batch_rows) {
  struct session_kept *kept = find(session, view->ng.name);
  BASE_CHECK(kept != NULL, "kept-view");
  const struct net_layout *from = kept->rows.layout;
  struct kept_source *source = base_xcalloc(1, sizeof *source);
  source->source = (struct net_source){.next = kept_next, .free = kept_free};
  source->rows = &kept->rows;
  source->plain = &kept->plain;
  source->layout = layout;
  source->batch_rows = batch_rows;
  source->sources = base_xcalloc(layout->slot_count, sizeof *source->sources);
  source->as_they_are = layout->slot_count == from->slot_count;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    int field = net_layout_find(from, layout->fields[i].name);
    BASE_CHECK(field >= 0, "kept-field");
    for (uint32_t part = 0; part < net_type_slots(layout->fields[i].type.base); part++) {
      uint32_t slot = layout->fields[i].slot + part;
      source->sources[slot - layout->first_domain_slot] = from->fields[field].slot + part;
      source->as_they_are &= slot == from->fields[field].slot + part;
    }
  }
  source->source.at_hand = source->as_they_are;
  net_batch_builder_init(&source->builder, layout, batch_rows);
  return &source->source;
}

/* --- keeping */

/* The view whose tuples QUERY gives as they are, NULL: none. */
const struct session_relation *session_whole_view(struct tql_session *session,
                                                  const struct ng_query *query) {
  if (query->variable_count != 1 || query->aggregate_count > 0) return NULL;
  const struct ng_variable *variable = &query->variables[0];
  if (variable->credibility || variable->outside_relation != NULL || query->coalesced) return NULL;
  if (query->where || query->when || query->start || query->stop || query->at) return NULL;
  const struct session_relation *view = session_of(session, variable->relation);
  if (view == NULL || !view->view || view->ng.layout->field_count != query->target_count ||
      view->ng.layout->tuple_class != query->result_class)
    return NULL;
  for (size_t i = 0; i < query->target_count; i++) {
    const struct ng_expr *expr = query->targets[i].expr;
    if (expr->op != NG_DOMAIN || expr->variable != 0 || expr->index != i) return NULL;
  }
  return view;
}

static size_t bytes_of(const struct net_rows *rows) {
  return rows->capacity * (rows->layout->slot_count * sizeof *rows->rows + 1);
}

/* May as many more be kept, when the oldest have gone as far as they must? */
static bool make_room(struct tql_session *session, size_t more) {
  struct session_kept_views *views = &session->kept;
  size_t most = st_cache_limit(session->database) / 4, bytes = more, gone = views->count;
  if (more > most) return false;
  while (gone > 0 && bytes + bytes_of(&views->items[gone - 1].rows) <= most)
    bytes += bytes_of(&views->items[--gone].rows);
  forget_first(session, gone);
  return true;
}

/* How many rows at the beginning of RESULT, which is in order, came plain. */
static size_t count_plain(const struct tql_rows *result) {
  size_t from = 0, end = result->rows.count;
  while (from < end) {
    size_t middle = from + (end - from) / 2;
    if (net_rows_row(&result->rows, middle)[0].i < result->odd_from)
      from = middle + 1;
    else
      end = middle;
  }
  return from;
}

/* Few rows do not keep the memory of many. */
static void fit(struct tql_session *session, struct net_rows *rows) {
  if (rows->count >= rows->capacity / 4) return;
  struct net_rows own;
  net_rows_init(&own, rows->layout);
  net_rows_add_all(&own, rows->rows, rows->marks, rows->count);
  session_spare_rows(session, rows);
  *rows = own;
}

void session_keep_result(struct tql_session *session, const struct session_relation *view,
                         const struct st_version *version, struct tql_rows *result) {
  struct session_kept_views *views = &session->kept;
  if (result->rows.spill || result->checkpoint != NET_FOREVER || session->feed_count > 0 ||
      session->live != NULL || find(session, view->ng.name) != NULL)
    return;
  if (views->count > 0 && memcmp(&views->version, version, sizeof *version) != 0)
    session_forget_kept(session);
  fit(session, &result->rows);
  if (!make_room(session, bytes_of(&result->rows))) return;
  views->version = *version;
  base_grow(&views->items, &views->capacity, views->count + 1, sizeof *views->items);
  struct session_kept *kept = &views->items[views->count++];
  const struct net_layout *layout = view->ng.layout;
  *kept = (struct session_kept){
      .view = base_xstrdup(view->ng.name), .arena = base_arena_new(), .rows = result->rows};
  kept->rows.layout =
      net_layout_new(kept->arena, layout->tuple_class, layout->fields, layout->field_count);
  net_plain_notes_begin(&kept->plain, count_plain(result));
  net_rows_init(&result->rows, result->rows.layout);
}
