/* retrieve summary: what all tuples make, whenever they were, a row for each group.
 *
 *     retrieve summary (r.host, n = count(r by r.host)) during ALPHA where n > 10
 *                       |                                   |              |
 *                       place in the by lists               tuples         element of the target list
 *
 * The by lists of all aggregates are equal; what stands outside of aggregates is made of their places, so no variable takes
 * part there. The result is valid always, and has no time to be shown. */
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

static void refuse(struct tql_binder *binder, const struct base_range *range, const char *hint,
                   const char *what) {
  base_report_hint(binder->analysis->diags, MSG_SUMMARY, binder->analysis->source, range, hint,
                   "%s", what);
  binder->failed = true;
}

/* ---- groups ---- */

static bool same(const struct ng_expr *a, const struct ng_expr *b) {
  if (a->op != b->op || a->arg_count != b->arg_count || a->variable != b->variable ||
      a->index != b->index || a->integer != b->integer || a->string != b->string ||
      memcmp(&a->real, &b->real, sizeof a->real) != 0 || a->type.base != b->type.base ||
      a->type.width != b->type.width)
    return false;
  for (unsigned i = 0; i < a->arg_count; i++)
    if (!same(a->args[i], b->args[i])) return false;
  return true;
}

static bool same_by(const struct ng_aggregate *a, const struct ng_aggregate *b) {
  if (a->by_count != b->by_count) return false;
  for (size_t i = 0; i < a->by_count; i++)
    if (!same(a->by[i], b->by[i])) return false;
  return true;
}

static void check_by(struct tql_binder *binder) {
  const struct ng_aggregate *first = &binder->aggregates[0];
  for (size_t i = 1; i < binder->aggregate_count; i++)
    if (!same_by(first, &binder->aggregates[i]))
      refuse(
          binder, &binder->aggregates[i].range,
          "write the same by list in each; summaries of several relations go into two statements",
          "the aggregates of a summary have equal by lists");
}

static bool speaks_of_tuple(const struct ng_expr *expr) {
  if (expr->op == NG_DOMAIN || expr->op == NG_DURATION || expr->op == NG_T_VARIABLE) return true;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (speaks_of_tuple(expr->args[i])) return true;
  return false;
}

static void refuse_tuple(struct tql_binder *binder, const struct ng_expr *expr, bool condition) {
  refuse(binder, &expr->range,
         condition ? "conditions on tuples go into the aggregates: count(V where V.domain = ...)"
                   : "put it into the by list of each aggregate: count(V by V.domain)",
         condition ? "where chooses among the rows of a summary, and this differs within groups"
                   : "a summary has one row for each group, and this differs within groups");
}

/* EXPR, which was bound outside of aggregates, made of places in the by lists; NULL after a diagnostic. */
static const struct ng_expr *of_groups(struct tql_binder *binder, const struct ng_expr *expr,
                                       bool condition) {
  const struct ng_aggregate *first = &binder->aggregates[0];
  for (size_t i = 0; i < first->by_count; i++) {
    if (!same(first->by[i], expr)) continue;
    struct ng_expr *group = tql_new_expr(binder, NG_GROUP, expr->type, expr->range);
    group->index = (unsigned)i;
    return group;
  }
  bool of_time = expr->op == NG_SPAN || expr->op == NG_CHRONON;
  if (expr->op == NG_DOMAIN || expr->op == NG_DURATION || (of_time && speaks_of_tuple(expr))) {
    refuse_tuple(binder, expr, condition);
    return NULL;
  }
  if (expr->arg_count == 0 || of_time) return expr;
  struct ng_expr *copy = BASE_NEW(binder->arena, struct ng_expr);
  *copy = *expr;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    copy->args[i] = of_groups(binder, expr->args[i], condition);
    if (!copy->args[i]) return NULL;
  }
  return copy;
}

/* ---- the statement ---- */

static const struct ng_expr *always(struct tql_binder *binder, net_chronon time,
                                    struct base_range range) {
  struct ng_expr *constant =
      tql_new_expr(binder, NG_T_CONSTANT, (struct net_type){NET_INSTANT, 0}, range);
  constant->instant = (struct net_instant){time, time};
  constant->event = true;
  return constant;
}

static void refuse_times(struct tql_binder *binder, const struct tql_clauses *clauses) {
  static const char what[] = "a summary has no time";
  static const char hint[] = "count(V when ...) chooses tuples for one aggregate, during for all";
  if (clauses->when) refuse(binder, &clauses->when_range, hint, what);
  if (clauses->start) refuse(binder, &clauses->start_range, hint, what);
  if (clauses->stop) refuse(binder, &clauses->stop_range, hint, what);
  if (clauses->at) refuse(binder, &clauses->at_range, hint, what);
}

/* Is AGGREGATE no more than the number of records of a sensor, of each process or in all? */
static bool counts_passes(const struct tql_binder *binder, const struct ng_aggregate *aggregate) {
  const struct ng_variable *variable = &binder->variables[aggregate->variable];
  const struct ng_relation *relation = variable->relation;
  if (relation->kind != NG_REL_EVENT || relation->sensor == NULL || variable->credibility)
    return false;
  if (aggregate->function != NET_AGG_COUNT || aggregate->unique || aggregate->where ||
      aggregate->when || aggregate->during)
    return false;
  if (aggregate->argument && aggregate->argument->op != NG_DOMAIN) return false;
  if (aggregate->by_count == 0) return true;
  const struct ng_expr *by = aggregate->by[0];
  return aggregate->by_count == 1 && by->op == NG_DOMAIN &&
         (int)by->index == ng_process_domain(relation);
}

/* What was left out where it arose counts where nothing else is asked of it: else one row would have the number of
 * others than those that it tells of. */
static void mark_passes(struct tql_binder *binder) {
  bool all = true;
  for (size_t i = 0; i < binder->aggregate_count; i++)
    all = all && counts_passes(binder, &binder->aggregates[i]);
  for (size_t i = 0; i < binder->aggregate_count; i++) binder->aggregates[i].passes = all;
}

void tql_bind_summary(struct tql_binder *binder, const struct tql_statement *statement) {
  const struct tql_clauses *clauses = &statement->clauses;
  struct ng_query *query = binder->query;
  refuse_times(binder, clauses);
  const struct ng_expr *where = clauses->where ? tql_bind_condition(binder, clauses->where) : NULL;
  if (clauses->where && !where) binder->failed = true;
  if (binder->aggregate_count == 0) {
    if (!binder->failed)
      refuse(binder, &statement->targets.range,
             "write: retrieve summary (V.domain, n = count(V by V.domain))",
             "a summary needs an aggregate");
    return;
  }
  check_by(binder);
  if (where) query->where = of_groups(binder, where, true);
  for (size_t i = 0; i < binder->target_count && !binder->failed; i++)
    binder->targets[i].expr = of_groups(binder, binder->targets[i].expr, false);
  for (size_t i = 0; i < binder->variable_count; i++) binder->variables[i].outside = false;
  mark_passes(binder);
  query->summary = query->origin_given = true;
  query->origin = 0;
  query->start = always(binder, NET_BEGINNING, statement->range);
  query->stop = always(binder, NET_FOREVER, statement->range);
}
