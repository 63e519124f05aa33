/* Aggregates over what may be missing, and nearer partners (tquel(7), "loss").
 *
 *      losses of a relation, its records ──▶ stretches of each group ──▶ periods that divide the time line (ng_doubt)
 *
 * What was lost may have been a tuple of any value, so where it may have counted an aggregate is not definite, and its value is
 * that of what is there. Where that is: of an event, when it happened; of a period, from its start on for ever, as nobody
 * knows how long it lasted; of a record of a traced relation until the next one of its entity; of a sample from the one before
 * of its entity to the next. An entity is told by the by list or by an equality in the inner where; where it is not, what
 * was lost may be of one of which nothing is known, for ever. Cumulative functions stay uncertain, windows as long as they
 * reach back. Losses of one process concern the groups that may be its own.
 *
 * Where a tuple of a view may be missing follows from its inputs, if its times are the default ones; else it is anywhere. Of a
 * derived relation none is: it was made of what is there. extendc does without: all that it says is certain at the event
 * alone. Nor is there doubt for who asks `with credibility 0`.                                              */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/pattern.h"
#include "tquel/session/losses/doubt.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/tables/tables.h"

/* --- stretches */

struct stretch {
  net_chronon from, to;
};
struct stretches {
  struct stretch *items;
  size_t count, capacity;
};

static void add_stretch(struct stretches *list, net_chronon from, net_chronon to) {
  if (from >= to) return;
  base_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items);
  list->items[list->count++] = (struct stretch){from, to};
}

static int by_from(const void *a, const void *b) {
  const struct stretch *x = a, *y = b;
  return (x->from > y->from) - (x->from < y->from);
}

/* In the order of time and apart from each other. */
static void settle(struct stretches *list) {
  size_t kept = 0;
  if (list->count == 0) return;
  qsort(list->items, list->count, sizeof *list->items, by_from);
  for (size_t i = 1; i < list->count; i++) {
    struct stretch *last = &list->items[kept], next = list->items[i];
    if (next.from > last->to)
      list->items[++kept] = next;
    else if (next.to > last->to)
      last->to = next.to;
  }
  list->count = kept + 1;
}

/* Until when AGGREGATE counts what it counted before TO. */
static net_chronon outlasted(const struct ng_aggregate *aggregate, net_chronon to) {
  if (aggregate->cumulative || aggregate->function == NET_AGG_AVGC ||
      aggregate->function == NET_AGG_EXTEND)
    return NET_FOREVER;
  return aggregate->window > 0 ? net_chronon_add(to, aggregate->window - 1) : to;
}

static void outlast(const struct ng_aggregate *aggregate, struct stretches *list) {
  for (size_t i = 0; i < list->count; i++) {
    struct stretch *stretch = &list->items[i];
    if (aggregate->summary) stretch->from = NET_BEGINNING;
    stretch->to = outlasted(aggregate, stretch->to);
  }
  settle(list);
}

/* --- what this file keeps for a statement */

/* Where tuples of VIEW may be missing, or the tuples of a doubt's relation, or what may be a nearer partner. */
struct session_missing {
  struct ng_lost lost;
  const struct session_relation *view;
  struct stretches stretches;
  struct ng_relation relation;
  struct net_rows rows;
  struct session_given given;
};

const struct session_given *session_missing_of(const struct tql_session *session,
                                               const struct ng_relation *relation) {
  for (size_t i = 0; i < session->missing_count; i++)
    if (&session->missing[i]->relation == relation) return &session->missing[i]->given;
  return NULL;
}

void session_end_missing(struct tql_session *session) {
  for (size_t i = 0; i < session->missing_count; i++) {
    struct session_missing *missing = session->missing[i];
    free(missing->stretches.items);
    if (missing->rows.layout != NULL) net_rows_done(&missing->rows);
    for (size_t time = NG_LOST_START; time <= NG_LOST_ANY; time++)
      for (size_t told = 0; told < 2; told++) net_losses_done(&missing->lost.times[time][told]);
    free(missing);
  }
  free(session->missing);
  session->missing = NULL;
  session->missing_count = session->missing_capacity = 0;
}

static struct session_missing *keep(struct tql_session *session) {
  struct session_missing *missing = base_xcalloc(1, sizeof *missing);
  base_grow(&session->missing, &session->missing_capacity, session->missing_count + 1,
            sizeof *session->missing);
  session->missing[session->missing_count++] = missing;
  return missing;
}

/* --- what may be missing of a relation, wherever it is */

static bool is_sampled(const struct session_doubt *doubt) {
  return doubt->relation->kind == ST_SAMPLED;
}

/* What LOSS may hide of DOUBT's relation, if nothing is known of the entity. */
static void add_anywhere(const struct session_doubt *doubt, const struct net_loss *loss,
                         struct stretches *ret) {
  bool event = doubt->relation->kind == ST_EVENT;
  add_stretch(ret, is_sampled(doubt) ? NET_BEGINNING : loss->from, event ? loss->to : NET_FOREVER);
}

static enum base_status missing_in(struct tql_session *session, struct session_relation *relation,
                                   struct stretches *ret);

static enum base_status add_missing_of(struct tql_session *session, const struct ng_query *query,
                                       size_t variable, struct stretches *ret) {
  struct session_relation *input = session_of(session, query->variables[variable].relation);
  struct stretches found = {NULL, 0, 0};
  if (input == NULL || query->variables[variable].costs || query->variables[variable].credibility)
    return BASE_OK;
  enum base_status status = missing_in(session, input, &found);
  for (size_t i = 0; i < found.count; i++) {
    struct stretch stretch = found.items[i];
    if (query->variables[variable].outside) add_stretch(ret, stretch.from, stretch.to);
    for (size_t j = 0; j < query->aggregate_count; j++)
      if (query->aggregates[j].variable == variable)
        add_stretch(ret, stretch.from, outlasted(&query->aggregates[j], stretch.to));
  }
  free(found.items);
  return status;
}

static enum base_status look_through(struct tql_session *session, struct session_relation *view,
                                     struct session_missing *ret) {
  struct stretches found = {NULL, 0, 0};
  const struct ng_query *query = session_query(session, view);
  if (query == NULL) return BASE_USER;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < query->variable_count && status == BASE_OK; i++)
    status = add_missing_of(session, query, i, &found);
  bool moves = query->start || query->stop || query->at || query->coalesced;
  if (moves && found.count > 0) add_stretch(&found, NET_BEGINNING, NET_FOREVER);
  settle(&found);
  ret->stretches = found;
  return status;
}

/* Each view is looked through once. */
static enum base_status missing_in_view(struct tql_session *session, struct session_relation *view,
                                        struct stretches *ret) {
  struct session_missing *known = NULL;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->missing_count; i++)
    if (session->missing[i]->view == view) known = session->missing[i];
  if (known == NULL) {
    known = keep(session);
    status = look_through(session, view, known);
    known->view = view;
  }
  for (size_t i = 0; i < known->stretches.count; i++)
    add_stretch(ret, known->stretches.items[i].from, known->stretches.items[i].to);
  return status;
}

static enum base_status missing_in(struct tql_session *session, struct session_relation *relation,
                                   struct stretches *ret) {
  if (session_is_looked_through(relation)) return missing_in_view(session, relation, ret);
  struct session_doubt *doubt = session_doubt_of(session, relation);
  for (size_t i = 0; doubt != NULL && i < doubt->losses.count; i++)
    add_anywhere(doubt, &doubt->losses.items[i], ret);
  if (doubt != NULL) doubt->counted = true;
  return BASE_OK;
}

/* --- what an aggregate says of whose records it counts */

/* A domain of the relation that says whose a record is. */
struct known {
  uint32_t field;
  bool of_entity, process;
  int by;              /* its place in the by list; negative: it is not there */
  bool is_pinned;      /* an equality of the inner where tells it */
  union net_slot slot; /* pinned */
};

struct counted {
  struct tql_session *session;
  struct session_doubt *doubt;
  const struct ng_aggregate *aggregate;
  struct known *known; /* of what tells entities apart, and of the process */
  size_t known_count;
  bool told; /* the entity is known in each group */
};

static bool is_domain(const struct ng_expr *expr, const struct counted *counted, uint32_t field) {
  return expr->op == NG_DOMAIN && expr->variable == counted->aggregate->variable &&
         expr->index == field;
}

static void pin(const struct counted *counted, const struct ng_expr *where, struct known *known) {
  if (where == NULL) return;
  if (where->op == NG_AND) {
    pin(counted, where->args[0], known);
    pin(counted, where->args[1], known);
  }
  for (int i = 0; i < 2 && where->op == NG_EQ; i++) {
    const struct ng_expr *value = where->args[1 - i];
    if (!is_domain(where->args[i], counted, known->field)) continue;
    if (value->op != NG_STRING && value->op != NG_INTEGER) continue;
    known->is_pinned = true;
    if (value->op == NG_STRING)
      known->slot.s = value->string;
    else
      known->slot.i = value->integer;
  }
}

static void add_known(struct counted *counted, uint32_t field, bool of_entity, bool process) {
  for (size_t i = 0; i < counted->known_count; i++) {
    struct known *known = &counted->known[i];
    if (known->field != field) continue;
    known->of_entity |= of_entity;
    known->process |= process;
    return;
  }
  struct known *known = &counted->known[counted->known_count++];
  *known = (struct known){.field = field, .of_entity = of_entity, .process = process, .by = -1};
  for (size_t i = 0; i < counted->aggregate->by_count; i++)
    if (is_domain(counted->aggregate->by[i], counted, field)) known->by = (int)i;
  pin(counted, counted->aggregate->where, known);
}

static void find_known(struct counted *counted) {
  const struct session_relation *relation = counted->doubt->relation;
  const struct net_key *entity = &relation->ng.entity;
  counted->known =
      BASE_NEW_ARRAY(counted->session->statement_arena, entity->count + 1, struct known);
  for (size_t i = 0; i < entity->count; i++) add_known(counted, entity->fields[i], true, false);
  if (counted->doubt->process >= 0)
    add_known(counted, (uint32_t)counted->doubt->process, false, true);
  counted->told = entity->count > 0;
  for (size_t i = 0; i < counted->known_count; i++) {
    const struct known *known = &counted->known[i];
    if (known->of_entity && known->by < 0 && !known->is_pinned) counted->told = false;
  }
}

/* --- records */

/* What is known of whose it is, and when it happened. */
struct record {
  union net_slot *values; /* as many as domains are known of; NULL: of none */
  struct net_instant at;
};
struct records {
  struct record *items;
  size_t count, capacity;
  struct base_arena *values;
};

static int compare_values(const struct counted *counted, const struct record *a,
                          const struct record *b, bool groups) {
  for (size_t i = 0; i < counted->known_count; i++) {
    const struct known *known = &counted->known[i];
    int64_t x = a->values[i].i, y = b->values[i].i;
    if (groups ? known->by < 0 : !known->of_entity) continue;
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

/* For qsort, which has no argument for it; set while it runs. */
static _Thread_local const struct counted *sorted_for;

static int by_group(const void *a, const void *b) {
  return compare_values(sorted_for, a, b, true);
}

static int by_entity(const void *a, const void *b) {
  int order = compare_values(sorted_for, a, b, false);
  const struct record *x = a, *y = b;
  return order != 0 ? order : (x->at.lo > y->at.lo) - (x->at.lo < y->at.lo);
}

static void sort_records(const struct counted *counted, struct records *records,
                         int (*compare)(const void *, const void *)) {
  sorted_for = counted;
  if (records->count > 1) qsort(records->items, records->count, sizeof *records->items, compare);
  sorted_for = NULL;
}

static enum base_status open_records(const struct counted *counted, struct net_source **ret) {
  struct tql_session *session = counted->session;
  const struct session_relation *relation = counted->doubt->relation;
  if (relation->kind == ST_SAMPLED)
    return session_open_samples(session, relation, relation->checkpoint, ret);
  bool traced = relation->kind == ST_TRACED;
  struct net_store *store = st_net(session->database);
  struct net_scan scan = {.relation = relation->ng.name,
                          .layout = traced ? relation->ng.records : relation->ng.layout,
                          .form = traced ? NET_SCAN_RECORDS : NET_SCAN_TUPLES,
                          .checkpoint = relation->checkpoint};
  return store->class->scan(store, &scan, ret);
}

static enum base_status read_records(const struct counted *counted, struct records *ret) {
  struct net_source *source = NULL;
  struct net_batch batch;
  enum base_status status = open_records(counted, &source);
  while (status == BASE_OK && (status = source->next(source, &batch)) == BASE_OK) {
    for (uint32_t i = 0; i < batch.count; i++) {
      const union net_slot *row = net_batch_row(&batch, i);
      if (net_batch_marks(&batch, i) & NET_ROUND) continue;
      base_grow(&ret->items, &ret->capacity, ret->count + 1, sizeof *ret->items);
      struct record *record = &ret->items[ret->count++];
      record->at = (struct net_instant){row[0].i, row[1].i};
      record->values = BASE_NEW_ARRAY(ret->values, counted->known_count, union net_slot);
      for (size_t k = 0; k < counted->known_count; k++)
        record->values[k] = row[batch.layout->fields[counted->known[k].field].slot];
    }
    if (base_env_interrupted()) status = BASE_CANCEL;
  }
  if (source != NULL) source->free(source);
  return status == BASE_END ? BASE_OK : status;
}

/* --- where something may be missing of one group */

/* The first record of KEY's entity that happens behind TIME at the earliest, or at it (AT); RECORDS->count: none. */
static size_t first_behind(const struct counted *counted, const struct records *records,
                           const struct record *key, net_chronon time, bool at) {
  size_t low = 0, high = records->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct record *record = &records->items[middle];
    int order = compare_values(counted, record, key, false);
    bool early = at ? record->at.lo < time : record->at.lo <= time;
    if (order < 0 || (order == 0 && early))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_of(const struct counted *counted, const struct records *records, size_t index,
                  const struct record *key) {
  return index < records->count && compare_values(counted, &records->items[index], key, false) == 0;
}

/* The lost record may have happened between any two of KEY's entity that are there. */
static void add_gaps(const struct counted *counted, const struct records *records,
                     const struct record *key, const struct net_loss *loss, struct stretches *ret) {
  for (net_chronon time = loss->from; time < loss->to;) {
    size_t at = first_behind(counted, records, key, time, true);
    size_t next = first_behind(counted, records, key, time, false);
    if (at < next && records->items[at].at.hi == time) { /* it is there, so none was lost */
      time = net_chronon_add(time, 1);
      continue;
    }
    net_chronon from = time;
    if (is_sampled(counted->doubt)) {
      from = NET_BEGINNING;
      if (at > 0 && is_of(counted, records, at - 1, key))
        from = net_chronon_add(records->items[at - 1].at.lo, 1);
    }
    bool known = is_of(counted, records, next, key);
    add_stretch(ret, from, known ? records->items[next].at.hi : NET_FOREVER);
    if (!known) return;
    time = records->items[next].at.lo;
  }
}

static bool may_match(const struct counted *counted, const struct ng_expr *where,
                      const struct net_loss *loss) {
  if (where == NULL) return true;
  if (where->op == NG_AND)
    return may_match(counted, where->args[0], loss) && may_match(counted, where->args[1], loss);
  if (where->op != NG_MATCHES ||
      !is_domain(where->args[0], counted, (uint32_t)counted->doubt->process))
    return true;
  size_t length, pattern_length;
  const char *text = base_strings_text(counted->session->strings, loss->process, &length);
  const char *pattern =
      base_strings_text(counted->session->strings, where->string, &pattern_length);
  return net_pattern_match(pattern, pattern_length, text, length);
}

/* May LOSS have hidden a member of KEY's group? */
static bool concerns(const struct counted *counted, const struct record *key,
                     const struct net_loss *loss) {
  if (loss->anybody) return true;
  for (size_t i = 0; i < counted->known_count; i++) {
    const struct known *known = &counted->known[i];
    if (!known->process) continue;
    bool is_known = known->by >= 0 || known->is_pinned;
    if (is_known && key->values[i].s != loss->process) return false;
  }
  return may_match(counted, counted->aggregate->where, loss);
}

static void missing_in_group(const struct counted *counted, const struct records *records,
                             const struct record *group, struct stretches *ret) {
  const struct net_losses *losses = &counted->doubt->losses;
  struct record key = {.values = base_xcalloc(counted->known_count + 1, sizeof *key.values),
                       .at = group->at};
  for (size_t i = 0; i < counted->known_count; i++)
    key.values[i] = counted->known[i].by < 0 ? counted->known[i].slot : group->values[i];
  for (size_t i = 0; i < losses->count; i++) {
    if (!concerns(counted, &key, &losses->items[i])) continue;
    if (counted->told)
      add_gaps(counted, records, &key, &losses->items[i], ret);
    else
      add_anywhere(counted->doubt, &losses->items[i], ret);
  }
  free(key.values);
  outlast(counted->aggregate, ret);
}

/* --- the relation of a doubt */

static void add_piece(struct net_rows *rows, const struct counted *counted,
                      const struct record *key, struct net_period time, bool definite) {
  uint32_t slot = rows->layout->first_domain_slot;
  if (time.start.lo >= time.stop.lo) return;
  union net_slot *row = net_rows_add(rows, definite ? NET_DEFINITE : 0);
  row[0].i = row[1].i = time.start.lo;
  row[2].i = row[3].i = time.stop.lo;
  for (size_t i = 0; key != NULL && i < counted->known_count; i++)
    if (counted->known[i].by >= 0) row[slot++] = key->values[i];
}

static void add_pieces(struct net_rows *rows, const struct counted *counted,
                       const struct record *key, const struct stretches *stretches) {
  net_chronon at = NET_BEGINNING, to = NET_FOREVER;
  for (size_t i = 0; i < stretches->count; i++) {
    struct stretch stretch = stretches->items[i];
    add_piece(rows, counted, key, (struct net_period){{at, at}, {stretch.from, stretch.from}},
              true);
    add_piece(rows, counted, key,
              (struct net_period){{stretch.from, stretch.from}, {stretch.to, stretch.to}}, false);
    at = stretch.to;
  }
  add_piece(rows, counted, key, (struct net_period){{at, at}, {to, to}}, true);
}

/* Fills in the domains of the doubt's relation, and where they stand in the by list. */
static const struct net_layout *groups_layout(const struct counted *counted,
                                              const unsigned **ret_by) {
  struct base_arena *arena = counted->session->statement_arena;
  struct net_field *fields = BASE_NEW_ARRAY(arena, counted->known_count, struct net_field);
  unsigned *by = BASE_NEW_ARRAY(arena, counted->known_count, unsigned);
  uint32_t count = 0;
  for (size_t i = 0; i < counted->known_count; i++) {
    if (counted->known[i].by < 0) continue;
    fields[count] = counted->doubt->relation->ng.layout->fields[counted->known[i].field];
    by[count++] = (unsigned)counted->known[i].by;
  }
  *ret_by = by;
  return net_layout_new(arena, NET_PERIOD, fields, count);
}

/* The pieces of each group. False: nothing is missing of any. */
static bool add_groups(struct counted *counted, const struct records *records,
                       struct net_rows *rows) {
  bool any = false, grouped = rows->layout->field_count > 0;
  struct records groups = {NULL, 0, 0, records->values};
  base_grow(&groups.items, &groups.capacity, records->count + 1, sizeof *groups.items);
  groups.items[0] = (struct record){.at = {0, 0}};
  groups.count = grouped ? records->count : 1;
  if (grouped && records->count > 0)
    memcpy(groups.items, records->items, records->count * sizeof *groups.items);
  sort_records(counted, &groups, by_group);
  for (size_t i = 0; i < groups.count; i++) {
    struct stretches stretches = {NULL, 0, 0};
    if (i > 0 && compare_values(counted, &groups.items[i - 1], &groups.items[i], true) == 0)
      continue;
    missing_in_group(counted, records, &groups.items[i], &stretches);
    any |= stretches.count > 0;
    add_pieces(rows, counted, &groups.items[i], &stretches);
    free(stretches.items);
  }
  free(groups.items);
  return any;
}

/* Of a group there may be nothing but what was left out where it arose. */
struct left_out {
  const struct counted *counted;
  struct records *records;
};

static void add_left_out(void *context, const struct st_filtered *filtered) {
  const struct left_out *left_out = context;
  const struct counted *counted = left_out->counted;
  struct records *records = left_out->records;
  base_grow(&records->items, &records->capacity, records->count + 1, sizeof *records->items);
  struct record *record = &records->items[records->count++];
  record->at = (struct net_instant){filtered->since, filtered->until};
  record->values = BASE_NEW_ARRAY(records->values, counted->known_count, union net_slot);
  for (size_t i = 0; i < counted->known_count; i++)
    if (counted->known[i].process)
      record->values[i].s = base_strings_intern_text(counted->session->strings, filtered->source);
}

static enum base_status missing_of_records(struct counted *counted, struct net_rows *rows,
                                           bool *ret_any) {
  struct records records = {NULL, 0, 0, base_arena_new()};
  enum base_status status = BASE_OK;
  if (counted->told || rows->layout->field_count > 0) status = read_records(counted, &records);
  struct left_out left_out = {counted, &records};
  if (status == BASE_OK && counted->aggregate->passes && rows->layout->field_count > 0)
    status =
        session_each_filtered(counted->session, counted->doubt->relation, &left_out, add_left_out);
  sort_records(counted, &records, by_entity);
  *ret_any = status == BASE_OK && add_groups(counted, &records, rows);
  if (*ret_any) counted->doubt->counted = true;
  free(records.items);
  base_arena_free(records.values);
  return status;
}

struct place {
  const union net_slot *row;
  uint8_t marks;
};

static int by_start(const void *a, const void *b) {
  const struct place *x = a, *y = b;
  return (x->row[0].i > y->row[0].i) - (x->row[0].i < y->row[0].i);
}

static void sort_rows(struct net_rows *rows) {
  struct net_rows sorted;
  struct place *places = base_xcalloc(rows->count + 1, sizeof *places);
  for (size_t i = 0; i < rows->count; i++)
    places[i] = (struct place){net_rows_row(rows, i), rows->marks[i]};
  qsort(places, rows->count, sizeof *places, by_start);
  net_rows_init(&sorted, rows->layout);
  for (size_t i = 0; i < rows->count; i++)
    net_rows_add_copy(&sorted, places[i].row, places[i].marks);
  free(places);
  net_rows_done(rows);
  *rows = sorted;
}

/* The pieces into which what may be missing of VIEW divides the time line. */
static enum base_status missing_of_view(struct counted *counted, struct session_relation *view,
                                        struct net_rows *rows, bool *ret_any) {
  struct stretches stretches = {NULL, 0, 0};
  enum base_status status = missing_in_view(counted->session, view, &stretches);
  outlast(counted->aggregate, &stretches);
  *ret_any = stretches.count > 0;
  add_pieces(rows, counted, NULL, &stretches);
  free(stretches.items);
  return status;
}

/* ROWS, which go over to the session, are what DOUBT's variable ranges over. */
static void give_rows(struct tql_session *session, const struct session_relation *relation,
                      struct net_rows *rows, struct ng_doubt *doubt) {
  struct session_missing *missing = keep(session);
  sort_rows(rows);
  missing->rows = *rows;
  const char *name = base_arena_printf(session->statement_arena, "losses of %s", relation->ng.name);
  missing->relation =
      (struct ng_relation){.name = name, .kind = NG_REL_PERIOD, .layout = rows->layout};
  missing->given = (struct session_given){&missing->relation, &missing->rows, NET_FOREVER};
  doubt->variable = (struct ng_variable){.name = name, .relation = &missing->relation};
}

/* What may be missing of what aggregate number INDEX of QUERY counts: *RET, whose variable has no relation if nothing
 * is. */
static enum base_status doubt_of(struct tql_session *session, const struct ng_query *query,
                                 unsigned index, struct ng_doubt *ret) {
  const struct ng_aggregate *aggregate = &query->aggregates[index];
  const struct ng_variable *variable = &query->variables[aggregate->variable];
  struct session_relation *relation = session_of(session, variable->relation);
  struct counted counted = {.session = session, .aggregate = aggregate};
  struct net_rows rows;
  bool any = false;
  enum base_status status;
  *ret = (struct ng_doubt){.aggregate = index};
  if (relation == NULL || variable->credibility || aggregate->function == NET_AGG_EXTEND)
    return BASE_OK;
  counted.doubt = session_doubt_of(session, relation);
  if (counted.doubt != NULL) {
    find_known(&counted);
    net_rows_init(&rows, groups_layout(&counted, &ret->by));
    status = missing_of_records(&counted, &rows, &any);
  } else if (session_is_looked_through(relation)) {
    net_rows_init(&rows, net_layout_new(session->statement_arena, NET_PERIOD, NULL, 0));
    status = missing_of_view(&counted, relation, &rows, &any);
  } else {
    return BASE_OK;
  }
  if (status == BASE_OK && any)
    give_rows(session, relation, &rows, ret);
  else
    net_rows_done(&rows);
  return status;
}

/* --- partners that may be missing: nearer ones (set sequence closest, distinct), and any (unless) */

static void add_times(struct ng_lost *lost, enum ng_lost_time time, struct net_loss loss,
                      net_chronon from, net_chronon to) {
  loss.from = from;
  loss.to = to;
  net_losses_add(&lost->times[time][1], loss);
  loss.anybody = true;
  net_losses_add(&lost->times[time][0], loss);
}

/* Tuples of KIND that LOSS has hidden: a sample says of what was before it, too. */
static void add_partners(struct ng_lost *lost, enum ng_relation_kind kind, struct net_loss loss) {
  net_chronon from = kind == NG_REL_SAMPLED ? NET_BEGINNING : loss.from;
  net_chronon behind = net_chronon_add(loss.from, 1);
  bool event = kind == NG_REL_EVENT;
  add_times(lost, NG_LOST_START, loss, from, loss.to);
  add_times(lost, NG_LOST_STOP, loss, event ? from : behind, event ? loss.to : NET_FOREVER);
  add_times(lost, NG_LOST_AFTER, loss, from, NET_FOREVER);
  add_times(lost, NG_LOST_ANY, loss, NET_BEGINNING, NET_FOREVER);
}

/* What may be a nearer partner among the tuples of RELATION, or one of what has none (ABSENT), and is missing. *RET: NULL
 * if nothing is. */
static enum base_status lost_of(struct tql_session *session, struct session_relation *relation,
                                bool absent, const struct ng_lost **ret) {
  struct session_doubt *doubt = session_doubt_of(session, relation);
  struct stretches stretches = {NULL, 0, 0};
  enum base_status status = BASE_OK;
  *ret = NULL;
  if (doubt == NULL && !session_is_looked_through(relation)) return BASE_OK;
  if (doubt == NULL) status = missing_in_view(session, relation, &stretches);
  struct ng_lost *lost = &keep(session)->lost;
  lost->process = doubt == NULL ? -1 : doubt->process;
  lost->within = doubt == NULL;
  for (size_t i = 0; doubt != NULL && i < doubt->losses.count; i++)
    add_partners(lost, relation->ng.kind, doubt->losses.items[i]);
  for (size_t i = 0; i < stretches.count; i++)
    add_partners(lost, relation->ng.kind,
                 (struct net_loss){true, 0, stretches.items[i].from, stretches.items[i].to});
  free(stretches.items);
  for (size_t time = NG_LOST_START; time <= NG_LOST_ANY; time++)
    for (size_t told = 0; told < 2; told++) net_losses_settle(&lost->times[time][told]);
  if (lost->times[NG_LOST_ANY][0].count > 0) *ret = lost;
  if (doubt != NULL && absent) doubt->absent = true;
  if (doubt != NULL && !absent) doubt->nearer = true;
  return status;
}

static bool has_sequence(const struct ng_expr *expr) {
  bool found = expr->op == NG_T_SEQUENCE;
  for (unsigned i = 0; i < expr->arg_count && !found; i++) found = has_sequence(expr->args[i]);
  return found;
}

static bool is_absent(const struct ng_query *query, size_t variable) {
  for (size_t i = 0; i < query->absence_count; i++)
    if (query->absences[i].variable == variable) return true;
  return false;
}

static enum base_status doubt_partners(struct tql_session *session, const struct ng_query **query) {
  const struct ng_query *from = *query;
  enum base_status status = BASE_OK;
  bool nearest = from->sequence != NG_SEQUENCE_FULL && from->when && has_sequence(from->when);
  if (!nearest && from->absence_count == 0) return BASE_OK;
  const struct ng_lost **lost =
      BASE_NEW_ARRAY(session->statement_arena, from->variable_count, const struct ng_lost *);
  for (size_t i = 0; i < from->variable_count && status == BASE_OK; i++) {
    const struct ng_variable *variable = &from->variables[i];
    struct session_relation *relation = session_of(session, variable->relation);
    bool absent = is_absent(from, i), near = nearest && variable->outside;
    if (relation == NULL || !(near || absent) || variable->costs || variable->credibility) continue;
    status = lost_of(session, relation, absent, &lost[i]);
  }
  struct ng_query *copy = BASE_NEW(session->statement_arena, struct ng_query);
  *copy = *from;
  copy->lost = lost;
  *query = copy;
  return status;
}

enum base_status session_doubt_query(struct tql_session *session, const struct ng_query **query) {
  enum base_status status = BASE_OK;
  if (!session_is_in_doubt(session)) return BASE_OK;
  status = doubt_partners(session, query);
  if ((*query)->aggregate_count == 0) return status;
  struct ng_query *copy = BASE_NEW(session->statement_arena, struct ng_query);
  *copy = **query;
  copy->doubts = BASE_NEW_ARRAY(session->statement_arena, copy->aggregate_count, struct ng_doubt);
  for (unsigned i = 0; i < copy->aggregate_count && status == BASE_OK; i++) {
    struct ng_doubt *doubt = &copy->doubts[copy->doubt_count];
    status = doubt_of(session, *query, i, doubt);
    if (doubt->variable.relation != NULL) copy->doubt_count++;
  }
  if (copy->doubt_count > 0) *query = copy;
  return status;
}
