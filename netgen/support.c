/* Parts of a query that are bound but cannot be executed. One message number for each feature;
 * every such part of the query is reported, so that one run shows them all. */
#include "netgen/support.h"

struct check {
  const struct ng_query *query;
  struct base_diag_sink *diags;
  bool supported;
};

static void report(struct check *check, enum base_message number, const struct base_range *range,
                   const char *text) {
  base_report(check->diags, number, check->query->source, range, "%s", text);
  check->supported = false;
}

static bool is_executed(enum net_aggregate_function function) {
  return function != NET_AGG_EARLIEST && function != NET_AGG_LATEST;
}

/* Comparisons of temporal values can be true for a part of the period only. */
static void check_expr(struct check *check, const struct ng_expr *expr) {
  if (!expr) return;
  if (expr->op >= NG_EQ && expr->op <= NG_GE && expr->args[0]->type.base == NET_TEMPORAL) {
    report(check, MSG_TEMPORAL_COMPARISON_NOT_EXECUTED, &expr->range,
           "a comparison of temporal values is not executed yet");
  }
  for (unsigned i = 0; i < expr->arg_count; i++) check_expr(check, expr->args[i]);
}

static void check_aggregate(struct check *check, const struct ng_aggregate *aggregate) {
  if (!is_executed(aggregate->function)) {
    report(check, MSG_AGGREGATE_NOT_EXECUTED, &aggregate->range,
           "the aggregate is not executed yet");
  }
  for (size_t i = 0; i < aggregate->by_count; i++) {
    if (aggregate->by[i]->type.base == NET_TEMPORAL) {
      report(check, MSG_TEMPORAL_COMPARISON_NOT_EXECUTED, &aggregate->by[i]->range,
             "groups by temporal values are not executed yet");
    }
    check_expr(check, aggregate->by[i]);
  }
  check_expr(check, aggregate->argument);
  check_expr(check, aggregate->where);
}

bool ng_query_is_supported(const struct ng_query *query, struct base_diag_sink *diags) {
  struct check check = {query, diags, true};
  for (size_t i = 0; i < query->aggregate_count; i++) {
    check_aggregate(&check, &query->aggregates[i]);
  }
  return check.supported;
}
