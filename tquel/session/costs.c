/* What records cost the processes that make them: SensorCost (Relation, Process, Cost), which belongs to the
 * system. Collectors report it, the server hands it on, `set compensate on` takes it from here.
 *
 * An event says what a record of the relation cost the process from then on, in ns. What is measured again
 * and again is written when it has changed by more than an eighth, so the relation stays small. Of a
 * relation counts the mean of what its processes said last.                                          */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"
#include "tquel/session/session_impl.h"

enum { RELATION, PROCESS, COST }; /* fields */

/* What a process said last of a relation. */
struct cost {
  base_string_id relation, process;
  int64_t cost;
  size_t samples; /* while a mean is made */
};

struct costs {
  struct cost *items;
  size_t count, capacity;
};

static int by_names(const void *a, const void *b) {
  const struct cost *x = a, *y = b;
  if (x->relation != y->relation) return x->relation < y->relation ? -1 : 1;
  return (x->process > y->process) - (x->process < y->process);
}

static struct cost *add(struct costs *costs, base_string_id relation, base_string_id process,
                        int64_t cost) {
  base_grow(&costs->items, &costs->capacity, costs->count + 1, sizeof *costs->items);
  costs->items[costs->count] = (struct cost){relation, process, cost, 1};
  return &costs->items[costs->count++];
}

/* Rows by their names, and of one name in the order of time; those said at once: the greatest last. */
static int by_time(const void *a, const void *b) {
  const union net_slot *x = *(const union net_slot *const *)a,
                       *y = *(const union net_slot *const *)b;
  for (size_t i = 2; i < 4; i++)
    if (x[i].s != y[i].s) return x[i].s < y[i].s ? -1 : 1;
  if (x[1].i != y[1].i) return x[1].i < y[1].i ? -1 : 1;
  return (x[4].i > y[4].i) - (x[4].i < y[4].i);
}

/* What is stored: of each relation and process the latest, in the order of their names. */
static enum base_status stored_costs(struct tql_session *session, struct costs *ret) {
  struct session_relation *from = session_find(session, "SensorCost");
  struct tql_rows rows;
  if (from == NULL || from->scripted)
    return BASE_OK; /* explained: made by being mentioned, empty */
  BASE_CHECK(from->ng.layout->slot_count == 5, "cost-layout");
  enum base_status status = session_rows_of(session, from, &rows);
  size_t count = rows.rows.count;
  const union net_slot **sorted = base_xcalloc(count + 1, sizeof *sorted);
  for (size_t i = 0; i < count; i++) sorted[i] = net_rows_row(&rows.rows, i);
  qsort(sorted, count, sizeof *sorted, by_time);
  for (size_t i = 0; status == BASE_OK && i < count; i++) {
    const union net_slot *row = sorted[i], *next = sorted[i + 1];
    if (i + 1 == count || row[2].s != next[2].s || row[3].s != next[3].s)
      add(ret, row[2].s, row[3].s, row[4].i);
  }
  free(sorted);
  tql_rows_done(&rows);
  return status;
}

/* --- for set compensate on */

/* The mean of the costs of one relation from FIRST on; *RET_END: behind them. */
static int64_t mean_cost(const struct costs *costs, size_t first, size_t *ret_end) {
  double sum = 0;
  size_t end = first;
  for (; end < costs->count && costs->items[end].relation == costs->items[first].relation; end++)
    sum += (double)costs->items[end].cost;
  double mean = sum / (double)(end - first) + 0.5;
  *ret_end = end;
  if (!(mean >= 0)) return 0;
  return mean < (double)NET_COST_MOST ? (int64_t)mean : NET_COST_MOST;
}

static bool is_among(const struct tql_costs *costs, const char *relation) {
  for (size_t i = 0; i < costs->count; i++)
    if (strcasecmp(costs->items[i].relation, relation) == 0) return true;
  return false;
}

void session_costs(void *context, struct base_arena *arena, struct tql_costs *ret) {
  struct tql_session *session = ((struct session_scope *)context)->session;
  struct costs stored = {0};
  /* What cannot be read is not known. */
  if (stored_costs(session, &stored) != BASE_OK) stored.count = 0;
  for (size_t i = 0, end; i < stored.count; i = end) {
    size_t length;
    const char *name = base_strings_text(session->strings, stored.items[i].relation, &length);
    int64_t cost = mean_cost(&stored, i, &end);
    const struct session_relation *relation = session_find(session, name);
    if (relation != NULL && !is_among(ret, relation->ng.name))
      tql_costs_add(arena, ret, relation->ng.name, cost);
  }
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct ng_relation *relation = &session->relations[i]->ng;
    if (relation->sensor && ng_process_domain(relation) >= 0 && !is_among(ret, relation->name))
      tql_costs_add(arena, ret, relation->name, 0);
  }
  free(stored.items);
}

/* --- what is reported */

static bool read_cost(const char *text, int64_t *ret) {
  char *end;
  double cost = strtod(text, &end);
  if (end == text || *end != '\0' || !(cost >= 0 && cost <= (double)NET_COST_MOST)) return false;
  *ret = (int64_t)(cost + 0.5);
  return true;
}

/* The reports' costs, of each relation and process the mean over its objects, in the order of names. */
static void reported_costs(struct tql_session *session, const struct tql_sensor_report *reports,
                           size_t count, struct costs *ret) {
  for (size_t i = 0; i < count; i++) {
    const char *const *cells = reports[i].cells;
    int64_t cost;
    if (*cells[TQL_SENSOR_RELATION] == '\0' || !read_cost(cells[TQL_SENSOR_COST], &cost)) continue;
    add(ret, base_strings_intern_text(session->strings, cells[TQL_SENSOR_RELATION]),
        base_strings_intern_text(session->strings, cells[TQL_SENSOR_PROCESS]), cost);
  }
  if (ret->count > 0) qsort(ret->items, ret->count, sizeof *ret->items, by_names);
  size_t kept = 0;
  for (size_t i = 0; i < ret->count; i++) {
    if (kept > 0 && by_names(&ret->items[kept - 1], &ret->items[i]) == 0) {
      ret->items[kept - 1].cost += ret->items[i].cost;
      ret->items[kept - 1].samples++;
    } else {
      ret->items[kept++] = ret->items[i];
    }
  }
  ret->count = kept;
  for (size_t i = 0; i < kept; i++) ret->items[i].cost /= (int64_t)ret->items[i].samples;
}

/* Is COST news, other than what STORED says by more than an eighth? */
static bool is_news(const struct costs *stored, const struct cost *cost) {
  const struct cost *known = stored->count == 0 ? NULL
                                                : bsearch(cost, stored->items, stored->count,
                                                          sizeof *stored->items, by_names);
  if (known == NULL) return true;
  int64_t difference =
      cost->cost > known->cost ? cost->cost - known->cost : known->cost - cost->cost;
  return difference > known->cost / 8;
}

static enum base_status put_cost(struct tql_session *session, struct session_relation *to,
                                 const struct cost *cost, net_chronon at) {
  union net_slot row[5];
  const struct net_layout *layout = to->ng.layout;
  struct net_store *store = st_net(session->database);
  row[0].i = row[1].i = at;
  row[layout->fields[RELATION].slot].s = cost->relation;
  row[layout->fields[PROCESS].slot].s = cost->process;
  row[layout->fields[COST].slot].i = cost->cost;
  to->diverted = true; /* what is derived from it follows with the group */
  return store->class->put(store, to->ng.name, layout, row, NET_DEFINITE);
}

enum base_status tql_session_sensor_costs(struct tql_session *session,
                                          const struct tql_sensor_report *reports,
                                          size_t report_count) {
  struct costs stored = {0}, reported = {0};
  if (session->timeline != NET_TIMELINE_REAL) return BASE_OK;
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK) reported_costs(session, reports, report_count, &reported);
  if (reported.count > 0) status = stored_costs(session, &stored);
  struct session_relation *to = NULL;
  net_chronon now = base_env_now();
  for (size_t i = 0; status == BASE_OK && i < reported.count; i++) {
    if (!is_news(&stored, &reported.items[i])) continue;
    if (to == NULL) to = session_system_relation(session, "SensorCost");
    status = to != NULL ? put_cost(session, to, &reported.items[i], now) : BASE_SYSTEM;
  }
  status = session_leave_source(session, status);
  free(stored.items);
  free(reported.items);
  return status;
}
