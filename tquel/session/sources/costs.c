/* What records cost the processes that make them: SensorCost (Relation, Process, Cost), which belongs to the
 * system. Collectors report it, the server hands it on, `set compensate on` takes it (catalogue/known_costs.c).
 *
 * An event says what a record of the relation cost the process from then on, in ns. What is measured again
 * and again is written when it has changed by more than an eighth, so the relation stays small. Of a
 * relation counts the mean of what its processes said last.                                          */
#include <stdlib.h>

#include "engine/base/env.h"
#include "tquel/session/catalogue/known_costs.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/sources/sources.h"

enum { RELATION, PROCESS, COST }; /* fields */

static int by_names(const void *a, const void *b) {
  const struct session_cost *x = a, *y = b;
  if (x->relation != y->relation) return x->relation < y->relation ? -1 : 1;
  return (x->process > y->process) - (x->process < y->process);
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
                           size_t count, struct session_costs *ret) {
  for (size_t i = 0; i < count; i++) {
    const char *const *cells = reports[i].cells;
    int64_t cost;
    if (*cells[TQL_SENSOR_RELATION] == '\0' || !read_cost(cells[TQL_SENSOR_COST], &cost)) continue;
    session_add_cost(ret, base_strings_intern_text(session->strings, cells[TQL_SENSOR_RELATION]),
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
static bool is_news(const struct session_costs *stored, const struct session_cost *cost) {
  const struct session_cost *known =
      stored->count == 0
          ? NULL
          : bsearch(cost, stored->items, stored->count, sizeof *stored->items, by_names);
  if (known == NULL) return true;
  int64_t difference =
      cost->cost > known->cost ? cost->cost - known->cost : known->cost - cost->cost;
  return difference > known->cost / 8;
}

static enum base_status put_cost(struct tql_session *session, struct session_relation *to,
                                 const struct session_cost *cost, net_chronon at) {
  union net_slot row[5];
  const struct net_layout *layout = to->ng.layout;
  struct net_store *store = st_net(session->database);
  row[0].i = row[1].i = at;
  row[layout->fields[RELATION].slot].s = cost->relation;
  row[layout->fields[PROCESS].slot].s = cost->process;
  row[layout->fields[COST].slot].i = cost->cost;
  to->waiting.diverted = true; /* what is derived from it follows with the group */
  return store->class->put(store, to->ng.name, layout, row, NET_DEFINITE);
}

enum base_status tql_session_sensor_costs(struct tql_session *session,
                                          const struct tql_sensor_report *reports,
                                          size_t report_count) {
  struct session_costs stored = {0}, reported = {0};
  if (session->timeline != NET_TIMELINE_REAL) return BASE_OK;
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK) reported_costs(session, reports, report_count, &reported);
  if (reported.count > 0) status = session_stored_costs(session, &stored);
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
