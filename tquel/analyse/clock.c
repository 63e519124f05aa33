/* Clock(n): the relation that a range statement makes by a call, and what a statement with one needs.
 *
 * A clock is no relation of the database: it has no name to be destroyed by, no tuples that are kept,
 * and its checkpoint is that of the other inputs. Its name in messages and in explain is the call.
 *
 * Clocks alone get an input that no statement names: it has no tuples, and its checkpoint is how far time has come, on
 * the abstract timeline `forever`. There the times that the statement names say how far to tick.     */
#include "tquel/analyse/analyse_internal.h"

static const struct ng_relation *refuse(const struct tql_analysis *analysis,
                                        const struct base_range *range, const char *message) {
  base_report_hint(analysis->diags, MSG_CLOCK_UNIT, analysis->source, range,
                   "write Clock(n), n being the time between two ticks", "%s", message);
  return NULL;
}

const struct ng_relation *tql_analyse_clock(const struct tql_analysis *analysis,
                                            const struct tql_expr *call) {
  BASE_CHECK(call->kind == TQL_E_CALL, "analyse-clock-kind");
  if (!tql_same_name(call->name.text, "Clock"))
    return refuse(analysis, &call->range, "Clock is the only relation that is made by a call");
  if (call->args.count != 1)
    return refuse(analysis, &call->range, "Clock takes the time between two ticks");
  int64_t every;
  if (tql_analyse_duration(analysis, call->args.items[0], &every) != BASE_OK) return NULL;
  if (every <= 0)
    return refuse(analysis, &call->args.items[0]->range, "a clock needs time between two ticks");
  struct ng_relation *relation = BASE_NEW(analysis->arena, struct ng_relation);
  const char *unit = analysis->scope->time.timeline == NET_TIMELINE_REAL ? " ns" : "";
  relation->name = base_arena_printf(analysis->arena, "Clock(%lld%s)", (long long)every, unit);
  relation->kind = NG_REL_CLOCK;
  relation->layout = net_layout_new(analysis->arena, NET_EVENT, NULL, 0);
  relation->every = every;
  return relation;
}

/* The finite times that EXPR names. */
static void note_times(const struct ng_expr *expr, struct ng_query *query) {
  if (expr == NULL) return;
  if (expr->op == NG_T_CONSTANT) {
    net_chronon bounds[] = {expr->instant.lo, expr->instant.hi};
    for (size_t i = 0; i < 2; i++) {
      if (bounds[i] == NET_BEGINNING || bounds[i] == NET_FOREVER) continue;
      if (bounds[i] < query->named_first) query->named_first = bounds[i];
      if (bounds[i] > query->named_last) query->named_last = bounds[i];
    }
  }
  for (unsigned i = 0; i < expr->arg_count; i++) note_times(expr->args[i], query);
}

static void note_all_times(const struct tql_binder *binder) {
  struct ng_query *query = binder->query;
  query->named_first = NET_FOREVER;
  query->named_last = NET_BEGINNING;
  const struct ng_expr *clauses[] = {query->where, query->when, query->start, query->stop,
                                     query->at};
  for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++) note_times(clauses[i], query);
  for (size_t i = 0; i < binder->target_count; i++) note_times(binder->targets[i].expr, query);
  for (size_t i = 0; i < binder->absence_count; i++) note_times(binder->absences[i].when, query);
  for (size_t i = 0; i < binder->aggregate_count; i++) {
    note_times(binder->aggregates[i].where, query);
    note_times(binder->aggregates[i].when, query);
    note_times(binder->aggregates[i].during, query);
  }
}

bool tql_check_clocks(struct tql_binder *binder, const struct base_range *range) {
  const struct tql_scope *scope = binder->scope;
  size_t clocks = 0;
  for (size_t i = 0; i < binder->variable_count; i++)
    clocks += binder->variables[i].relation->kind == NG_REL_CLOCK;
  if (clocks == 0 || clocks < binder->variable_count) return true;
  note_all_times(binder);
  bool abstract = scope->time.timeline == NET_TIMELINE_ABSTRACT;
  if ((abstract && binder->query->named_last == NET_BEGINNING) || scope->time_passed == NULL) {
    base_report_hint(binder->analysis->diags, MSG_CLOCK_ALONE, binder->analysis->source, range,
                     "say until when: when c precede 100, at 100 (c being the clock); or let a "
                     "variable over a relation take part",
                     "nothing says how far the clock ticks");
    return false;
  }
  const struct ng_relation *relation = scope->time_passed(scope->context);
  if (relation == NULL) return false;
  base_grow(&binder->variables, &binder->variable_capacity, binder->variable_count + 1,
            sizeof *binder->variables);
  binder->variables[binder->variable_count++] =
      (struct ng_variable){.name = relation->name, .relation = relation, .paces = true};
  return true;
}
