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

static void check_aggregate(struct check *check, const struct ng_aggregate *aggregate) {
  if (!is_executed(aggregate->function)) {
    report(check, MSG_AGGREGATE_NOT_EXECUTED, &aggregate->range,
           "the aggregate is not executed yet");
  }
}

bool ng_query_is_supported(const struct ng_query *query, struct base_diag_sink *diags) {
  struct check check = {query, diags, true};
  for (size_t i = 0; i < query->aggregate_count; i++) {
    check_aggregate(&check, &query->aggregates[i]);
  }
  return check.supported;
}
