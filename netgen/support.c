/* Parts of a query that are bound but cannot be executed. One message number for each feature;
 * every such part of the query is reported, so that one run shows them all. */
#include "netgen/support.h"

#include <strings.h>

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

/* The first place where EXPR speaks of variable VARIABLE, or NULL. */
static const struct base_range *mention(const struct ng_expr *expr, unsigned variable) {
  if (!expr) return NULL;
  if ((expr->op == NG_DOMAIN || expr->op == NG_T_VARIABLE || expr->op == NG_DURATION) &&
      expr->variable == variable) {
    return &expr->range;
  }
  for (unsigned i = 0; i < expr->arg_count; i++) {
    const struct base_range *range = mention(expr->args[i], variable);
    if (range) return range;
  }
  return NULL;
}

static const struct base_range *first_mention(const struct ng_query *query, unsigned variable) {
  const struct base_range *range = NULL;
  for (size_t i = 0; i < query->target_count && !range; i++) {
    range = mention(query->targets[i].expr, variable);
  }
  const struct ng_expr *const clauses[] = {query->where, query->when, query->start, query->stop,
                                           query->at};
  for (size_t i = 0; i < sizeof clauses / sizeof *clauses && !range; i++) {
    range = mention(clauses[i], variable);
  }
  for (size_t i = 0; i < query->aggregate_count && !range; i++) {
    if (query->aggregates[i].variable == variable) range = &query->aggregates[i].range;
  }
  return range ? range : &query->range;
}

static void check_variable(struct check *check, unsigned index) {
  const struct ng_variable *variable = &check->query->variables[index];
  const struct base_range *range = first_mention(check->query, index);
  if (variable->relation->kind == NG_REL_SAMPLED) {
    report(check, MSG_SAMPLED_NOT_EXECUTED, range, "a sampled relation is not executed yet");
  }
  if (strcasecmp(variable->relation->name, "Clock") == 0) {
    report(check, MSG_CLOCK_NOT_EXECUTED, range, "Clock is not executed yet");
  }
  if (variable->credibility) {
    report(check, MSG_CREDIBILITY_NOT_EXECUTED, range, "credibility 0 is not executed yet");
  }
}

static bool is_executed(const struct ng_aggregate *aggregate, bool events) {
  bool plain = !aggregate->when && !aggregate->window && (!events || aggregate->cumulative);
  switch (aggregate->function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
      return plain;
    case NET_AGG_AVGC:
      return plain && !events;
    default:
      return false;
  }
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
  const struct ng_relation *relation = check->query->variables[aggregate->variable].relation;
  bool events = relation->layout->tuple_class == NET_EVENT;
  if (!is_executed(aggregate, events)) {
    report(check, MSG_AGGREGATE_NOT_EXECUTED, &aggregate->range,
           "the aggregate is not executed yet");
  }
  if (aggregate->unique) {
    report(check, MSG_UNIQUE_NOT_EXECUTED, &aggregate->range,
           "an aggregate over distinct values is not executed yet");
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
  for (size_t i = 0; i < query->variable_count; i++) check_variable(&check, (unsigned)i);
  for (size_t i = 0; i < query->aggregate_count; i++) {
    check_aggregate(&check, &query->aggregates[i]);
  }
  for (size_t i = 0; i < query->target_count; i++) check_expr(&check, query->targets[i].expr);
  check_expr(&check, query->where);
  check_expr(&check, query->when);
  check_expr(&check, query->start);
  check_expr(&check, query->stop);
  check_expr(&check, query->at);
  if (query->coalesced) {
    report(&check, MSG_COALESCED_NOT_EXECUTED, &query->range,
           "retrieve coalesced is not executed yet");
  }
  return check.supported;
}
