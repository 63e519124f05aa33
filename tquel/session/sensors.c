/* Sensors: who makes the records of announced relations, and what \ds shows of it. What they are told is in control/. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/bytes.h"
#include "engine/base/env.h"
#include "engine/base/printable.h"
#include "engine/control.h"
#include "engine/filter.h"
#include "engine/pattern.h"
#include "engine/triggers.h"
#include "tquel/session/control/control.h"
#include "tquel/session/live/live.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/users/users.h"

/* Has a time come until which a relation was to be kept? */
static bool time_has_come(const struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    if (relation->sensors.asked != NULL && relation->keep.expires &&
        !session_wants_all(session, relation))
      return true;
  }
  return false;
}

void session_find_asked_for(struct tql_session *session) {
  if (!session->asks_changed && !time_has_come(session)) return;
  session->asks_changed = true;
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (session_is_derived(relation)) continue;
    relation->sensors.brought = session_is_brought(session, relation);
    bool asked_for = session_is_asked_for(session, relation);
    if (asked_for && !relation->sensors.asked_for)
      relation->sensors.asked_since = base_env_monotonic();
    relation->sensors.asked_for = asked_for;
  }
}

void tql_session_on_watch(struct tql_session *session, struct net_sensor *sensor) {
  session_drop_live(session);
  if (session->control != NULL) {
    session_hold_control(session);
    for (size_t i = 0; i < session->relation_count; i++)
      session_stop_asking(session, session->relations[i]);
    session->control_held = false;
    net_control_release(session->control);
    net_control_free(session->control);
  }
  session->control = sensor != NULL ? net_control_new(sensor) : NULL;
  session->asks_changed = true;
}

const char *tql_session_sensors_of(struct tql_session *session, const char *name,
                                   bool *ret_announced) {
  const struct session_relation *relation = session_find(session, name);
  *ret_announced = relation != NULL && relation->sensors.announced;
  return relation != NULL ? relation->ng.name : NULL;
}

int64_t tql_session_checkpoint_every(const struct tql_session *session) {
  return session->checkpoint_ns;
}

/* --- \ds */

enum { FILTERED = TQL_SENSOR_CELLS, ASKED_BY, COLUMNS };

struct sensor_table {
  struct base_arena *arena;
  const char *(*rows)[COLUMNS];
  size_t count, capacity;
};

static const char **add_row(struct sensor_table *table) {
  base_grow(&table->rows, &table->capacity, table->count + 1, sizeof *table->rows);
  const char **row = table->rows[table->count++];
  for (size_t i = 0; i < COLUMNS; i++) row[i] = "";
  return row;
}

static bool is_number(size_t column) {
  return column >= TQL_SENSOR_GENERATED && column <= FILTERED;
}

static void put_cell(struct base_buffer *out, const char *text, int width, size_t column) {
  bool last = column == COLUMNS - 1;
  if (last)
    base_buffer_printf(out, "%s\n", text);
  else
    base_buffer_printf(out, is_number(column) ? "%*s  " : "%-*s  ", width, text);
}

/* Texts come from programs. */
static const char *shown(struct base_arena *arena, const char *text) {
  struct base_buffer cell = BASE_BUFFER_EMPTY;
  size_t length = strlen(text);
  if (base_is_printable(text, length)) return text;
  base_buffer_printable(&cell, text, length);
  text = base_arena_strdup(arena, base_buffer_text(&cell));
  base_buffer_done(&cell);
  return text;
}

int tql_cell_width(int width, const char *cell) {
  enum { WIDEST = 100 };
  size_t length = strlen(cell);
  return length <= (size_t)width ? width : length < WIDEST ? (int)length : WIDEST;
}

static void put_table(const struct sensor_table *table, struct base_buffer *out) {
  int width[COLUMNS] = {0};
  for (size_t r = 0; r < table->count; r++)
    for (size_t i = 0; i < COLUMNS; i++) width[i] = tql_cell_width(width[i], table->rows[r][i]);
  for (size_t r = 0; r < table->count; r++)
    for (size_t i = 0; i < COLUMNS; i++)
      if (width[i] > 0) put_cell(out, table->rows[r][i], width[i], i);
}

#define COMPARISONS 5000000 /* of watches and reports: more are not worth the time */

struct watch_text {
  struct tql_session *session;
  size_t comparisons; /* left */
  const struct tql_sensor_report *reports;
  size_t report_count;
  struct base_buffer *out;
};

/* Sensors tell names apart, no numbers. */
static bool agrees(const struct tql_session *session, const struct net_watch_object *object,
                   const char *name) {
  if (object->type.base != NET_STRING && object->type.base != NET_NAME) return true;
  size_t length;
  const char *text = base_strings_text(session->strings, object->value.s, &length);
  if (object->pattern) return net_pattern_match(text, length, name, strlen(name));
  return strcmp(text, name) == 0;
}

/* Objects are reported one by one where not all of a process are on. HOLDER: the domain whose receptacles are
 * asked, NULL: it is not looked at. */
static bool agrees_with(const struct tql_session *session, const struct net_watch *watch,
                        const struct tql_sensor_report *report, const char *holder) {
  const char *state = report->cells[TQL_SENSOR_STATE], *object = report->cells[TQL_SENSOR_OBJECT];
  if (strcasecmp(report->cells[TQL_SENSOR_RELATION], watch->relation) != 0) return false;
  bool all = strcmp(state, "on") == 0 || strcmp(state, "always") == 0 ||
             strncmp(state, "sampled", sizeof "sampled" - 1) == 0;
  for (uint32_t i = 0; i < watch->object_count; i++) {
    const struct net_watch_object *each = &watch->objects[i];
    bool process = strcasecmp(each->domain, "Process") == 0;
    if (process && !agrees(session, each, report->cells[TQL_SENSOR_PROCESS])) return false;
    bool asked = holder != NULL && strcasecmp(each->domain, holder) == 0;
    if (asked && !(object[0] == '\0' && all) && !agrees(session, each, object)) return false;
  }
  return true;
}

/* Why nothing comes of WATCH; "": something may. */
static const char *missing(struct watch_text *text, const struct net_watch *watch) {
  enum { OBJECTS_SHOWN = 1000 }; /* of more not all are reported */
  const struct session_relation *relation = session_find(text->session, watch->relation);
  size_t objects = 0;
  bool process = false;
  if (relation == NULL || text->comparisons < text->report_count) return "";
  text->comparisons -= text->report_count;
  const struct net_layout *layout = relation->ng.layout;
  const char *holder =
      relation->sensors.holder >= 0 ? layout->fields[relation->sensors.holder].name : NULL;
  for (size_t i = 0; i < text->report_count; i++) {
    const struct tql_sensor_report *report = &text->reports[i];
    objects += report->cells[TQL_SENSOR_OBJECT][0] != '\0';
    if (agrees_with(text->session, watch, report, holder)) return "";
    process |= agrees_with(text->session, watch, report, NULL);
  }
  if (!process) return ": no such process is there";
  return objects < OBJECTS_SHOWN ? ": no such object is there" : "";
}

static void put_quoted(struct watch_text *text, enum net_base_type base, base_string_id id) {
  size_t length;
  const char *words = base_strings_text(text->session->strings, id, &length);
  if (base == NET_BYTES) {
    base_buffer_bytes_constant(text->out, words, length);
    return;
  }
  base_buffer_putc(text->out, '"');
  base_buffer_printable(text->out, words, length);
  base_buffer_putc(text->out, '"');
}

/* Which of them are sent. */
static void put_filter(struct base_buffer *out, const struct net_watch *watch) {
  struct base_arena *arena = base_arena_new();
  struct net_filter filter;
  if (watch->filter_length > 0 &&
      net_filter_get(arena, watch->filter, watch->filter_length, &filter)) {
    bool none = net_filter_is_none(filter);
    base_buffer_puts(out, none ? ", counted" : ", filtered: ");
    if (!none) net_filter_print(out, filter);
  }
  base_arena_free(arena);
}

static void put_watch(void *context, const struct net_watch *watch, size_t holders) {
  struct watch_text *text = context;
  if (holders == 0) return;
  base_buffer_puts(text->out, "watched: ");
  base_buffer_printable(text->out, watch->relation, strlen(watch->relation));
  for (uint32_t i = 0; i < watch->object_count; i++) {
    const struct net_watch_object *object = &watch->objects[i];
    base_buffer_printf(text->out, " %s %s = ", i == 0 ? "where" : "and", object->domain);
    if (net_type_is_interned(object->type.base))
      put_quoted(text, object->type.base, object->value.s);
    else
      base_buffer_printf(text->out, "%lld", (long long)object->value.i);
  }
  if (watch->every > 0) {
    struct base_buffer *out = text->out;
    base_buffer_printf(out, ", every %lld from ", (long long)watch->every);
    net_time_print(out, text->session->timeline, watch->origin);
  }
  if (watch->starts_only) base_buffer_puts(text->out, ", starts only");
  put_filter(text->out, watch);
  base_buffer_printf(text->out, " (%zu)%s\n", holders, missing(text, watch));
}

static void put_trigger(void *context, const char *relation, uint64_t tuples, uint64_t asked) {
  struct base_buffer *out = context;
  base_buffer_puts(out, "triggered: ");
  base_buffer_printable(out, relation, strlen(relation));
  base_buffer_printf(out, " by %llu tuple%s, asked for %llu time%s\n", (unsigned long long)tuples,
                     tuples == 1 ? "" : "s", (unsigned long long)asked, asked == 1 ? "" : "s");
}

/* --- who is waited for */

#define LAG_NS (2 * INT64_C(1000000000)) /* what is worth to be said */

/* The source whose promise RELATION's checkpoint waits for; NULL: none. */
static const struct session_source *slowest(const struct tql_session *session,
                                            const struct session_relation *relation,
                                            net_chronon *ret_promise) {
  const struct session_source *slowest = NULL;
  int64_t now = base_env_monotonic();
  for (size_t i = 0; i < session->source_count; i++) {
    const struct session_source *state = session->sources[i];
    if (!session_source_counts(session, state, now)) continue;
    for (size_t k = 0; k < state->promise_count; k++) {
      if (strcasecmp(state->promises[k].relation, relation->ng.name) != 0) continue;
      if (slowest != NULL && state->promises[k].time >= *ret_promise) continue;
      slowest = state;
      *ret_promise = state->promises[k].time;
    }
  }
  return slowest;
}

static void put_waiting(const struct tql_session *session, const struct session_relation *relation,
                        struct base_buffer *out) {
  net_chronon promise = relation->checkpoint, now = base_env_now();
  const struct session_source *source = slowest(session, relation, &promise);
  if (source != NULL && promise != NET_BEGINNING && promise > now - LAG_NS) return;
  base_buffer_printf(out, "waiting: %s ", relation->ng.name);
  if (source == NULL) {
    base_buffer_puts(out, "is brought by nobody who is there\n");
  } else if (promise == NET_BEGINNING) {
    base_buffer_printf(out, "for %s, which has not promised anything yet\n", source->host);
  } else {
    base_buffer_printf(out, "for %s, which has promised to be complete up to ", source->host);
    net_time_print(out, session->timeline, promise);
    base_buffer_printf(out, ", %.1f s ago%s\n", (double)(now - promise) / 1e9,
                       source->taker == NULL ? ", and is not connected" : "");
  }
}

/* Who asks for what, found out once of each relation. */
struct asked {
  struct tql_session *session;
  struct base_arena *arena;
  struct session_askers **of; /* by number of the relation */
};

static const char *askers_of(const struct asked *asked, const char *name, const char *process,
                             const char *object) {
  for (size_t k = 0; k < asked->session->relation_count; k++) {
    const struct session_relation *relation = asked->session->relations[k];
    if (strcasecmp(relation->ng.name, name) != 0) continue;
    if (asked->of[k] == NULL)
      asked->of[k] = session_askers_new(asked->session, asked->arena, relation);
    return session_askers_of(asked->of[k], process, object);
  }
  return "";
}

/* Records that came and are none: whose relation they are of, the process they do not say. */
static void put_rejected(struct tql_session *session, struct session_sight *sight,
                         struct base_buffer *out) {
  uint64_t *counts = session_count_rejected(session);
  for (size_t k = 0; k < session->relation_count; k++) {
    const struct session_relation *relation = session->relations[k];
    if (counts[k] == 0 || !relation->sensors.announced || !session_sees_all(sight, relation))
      continue;
    base_buffer_printf(out, "%s: %llu rejected, which are in Rejected\n", relation->ng.name,
                       (unsigned long long)counts[k]);
  }
  free(counts);
}

/* What is rare, texts that were no UTF-8, triggers and filters: its column is there where there is any. */
static void drop_if_none(struct sensor_table *table, size_t column) {
  bool any = false;
  for (size_t r = 1; r < table->count; r++) {
    const char **cell = &table->rows[r][column];
    if (strcmp(*cell, "0") == 0) *cell = "";
    any |= **cell != '\0';
  }
  if (!any) table->rows[0][column] = "";
}

/* A sensor that nobody asks for, and that was on when it was last heard of, has been told. */
static void put_state(const char **row, const struct asked *asked) {
  const char **state = &row[TQL_SENSOR_STATE];
  const char *askers = "";
  bool off = strcmp(*state, "off") == 0, on = strncmp(*state, "o", 1) == 0 && !off;
  if (!off)
    askers =
        askers_of(asked, row[TQL_SENSOR_RELATION], row[TQL_SENSOR_PROCESS], row[TQL_SENSOR_OBJECT]);
  if (on && *askers == '\0') *state = "going off"; /* on, or objects are */
  row[COLUMNS - 1] = *askers != '\0' ? askers : "-";
}

static bool is_reported(const struct session_relation *relation,
                        const struct tql_sensor_report *reports, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcasecmp(reports[i].cells[TQL_SENSOR_RELATION], relation->ng.name) == 0) return true;
  return false;
}

static bool sees_report(struct session_sight *sight, struct tql_session *session,
                        const struct tql_sensor_report *report) {
  if (sight == NULL) return true;
  const struct session_relation *of = session_find(session, report->cells[TQL_SENSOR_RELATION]);
  return of != NULL && session_sees_all(sight, of);
}

void tql_session_describe_sensors(struct tql_session *session,
                                  const struct tql_sensor_report *reports, size_t report_count,
                                  struct base_buffer *out) {
  struct sensor_table table = {.arena = base_arena_new()};
  static const char *const heading[COLUMNS] = {
      "process", "relation", "object",   "state",    "records",  "lost",        "per s",
      "ns each", "escaped",  "triggers", "together", "filtered", "asked for by"};
  struct asked asked = {
      session, table.arena,
      BASE_NEW_ARRAY(table.arena, session->relation_count + 1, struct session_askers *)};
  struct session_sight *sight = session_sight_new(session);
  bool owner = sight == NULL; /* others are told nothing of who asks */
  memcpy(add_row(&table), heading, sizeof heading);
  if (!owner) table.rows[0][COLUMNS - 1] = "";
  uint64_t *filtered = session_count_filtered(session, reports, report_count);
  for (size_t i = 0; i < report_count; i++) {
    bool of_process = reports[i].cells[TQL_SENSOR_RELATION][0] == '\0';
    if (of_process || !sees_report(sight, session, &reports[i])) continue;
    const char **row = add_row(&table);
    for (size_t c = 0; c < TQL_SENSOR_CELLS; c++)
      row[c] = reports[i].cells[c] != NULL ? shown(table.arena, reports[i].cells[c]) : "";
    row[FILTERED] = base_arena_printf(table.arena, "%llu", (unsigned long long)filtered[i]);
    if (owner) put_state(row, &asked);
  }
  for (size_t k = 0; k < session->relation_count; k++) {
    const struct session_relation *relation = session->relations[k];
    if (!relation->sensors.announced || is_reported(relation, reports, report_count)) continue;
    if (!session_sees_all(sight, relation)) continue;
    const char **row = add_row(&table),
               *askers = owner ? askers_of(&asked, relation->ng.name, NULL, NULL) : "";
    row[TQL_SENSOR_PROCESS] = "-";
    row[TQL_SENSOR_RELATION] = relation->ng.name;
    if (session_is_asked_for(session, relation)) row[TQL_SENSOR_STATE] = "no process";
    if (owner) row[COLUMNS - 1] = *askers != '\0' ? askers : "-";
  }
  for (size_t c = TQL_SENSOR_ESCAPED; c <= FILTERED; c++) drop_if_none(&table, c);
  free(filtered);
  if (table.count == 1)
    base_buffer_puts(out, "no sensors\n");
  else
    put_table(&table, out);
  put_rejected(session, sight, out);
  if (owner) session_put_overhead(reports, report_count, out);
  struct watch_text text = {session, COMPARISONS, reports, report_count, out};
  if (owner && session->control != NULL) {
    net_control_each(session->control, put_watch, &text);
    net_triggers_each(net_control_triggers(session->control), put_trigger, out);
  }
  for (size_t k = 0; k < session->relation_count; k++) {
    const struct session_relation *relation = session->relations[k];
    bool real = session->timeline == NET_TIMELINE_REAL;
    if (real && owner && relation->sensors.announced && session_is_asked_for(session, relation))
      put_waiting(session, relation, out);
  }
  session_sight_free(sight);
  free(table.rows);
  base_arena_free(table.arena);
}
