/* What records cost, as SensorCost has it: for `set compensate on`. */
#include <stdlib.h>
#include <strings.h>

#include "tquel/session/catalogue/known_costs.h"
#include "tquel/session/session_impl.h"

struct session_cost *session_add_cost(struct session_costs *costs, base_string_id relation,
                                      base_string_id process, int64_t cost) {
  base_grow(&costs->items, &costs->capacity, costs->count + 1, sizeof *costs->items);
  costs->items[costs->count] = (struct session_cost){relation, process, cost, 1};
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

static enum base_status note_batch(void *context, const struct net_batch *batch) {
  net_rows_add_batch(context, batch);
  return BASE_OK;
}

static void note_latest(const struct net_rows *rows, struct session_costs *ret) {
  const union net_slot **sorted = base_xcalloc(rows->count + 1, sizeof *sorted);
  for (size_t i = 0; i < rows->count; i++) sorted[i] = net_rows_row(rows, i);
  qsort(sorted, rows->count, sizeof *sorted, by_time);
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = sorted[i], *next = sorted[i + 1];
    if (i + 1 == rows->count || row[2].s != next[2].s || row[3].s != next[3].s)
      session_add_cost(ret, row[2].s, row[3].s, row[4].i);
  }
  free(sorted);
}

enum base_status session_stored_costs(struct tql_session *session, struct session_costs *ret) {
  const struct session_relation *from = session_find(session, "SensorCost");
  if (from == NULL || from->scripted)
    return BASE_OK; /* explained: made by being mentioned, empty */
  BASE_CHECK(from->ng.layout->slot_count == 5, "cost-layout");
  struct net_rows rows;
  net_rows_init(&rows, from->ng.layout);
  const struct net_scan scan = {.relation = from->ng.name,
                                .layout = from->ng.layout,
                                .form = NET_SCAN_TUPLES,
                                .checkpoint = NET_FOREVER};
  enum base_status status =
      net_store_each_batch(st_net(session->database), &scan, note_batch, &rows);
  if (status == BASE_OK) note_latest(&rows, ret);
  net_rows_done(&rows);
  return status;
}

/* --- for set compensate on */

/* The mean of the costs of one relation from FIRST on; *RET_END: behind them. */
static int64_t mean_cost(const struct session_costs *costs, size_t first, size_t *ret_end) {
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
  struct session_costs stored = {0};
  /* What cannot be read is not known. */
  if (session_stored_costs(session, &stored) != BASE_OK) stored.count = 0;
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
