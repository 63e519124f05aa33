/* Clock(n): the relation that a range statement makes by a call, and what a statement with one needs.
 *
 * A clock is no relation of the database: it has no name to be destroyed by, no tuples that are kept,
 * and its checkpoint is that of the other inputs. Its name in messages and in explain is the call.   */
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

bool tql_check_clocks(struct tql_binder *binder, const struct base_range *range) {
  size_t clocks = 0;
  for (size_t i = 0; i < binder->variable_count; i++)
    clocks += binder->variables[i].relation->kind == NG_REL_CLOCK;
  if (clocks == 0 || clocks < binder->variable_count) return true;
  base_report_hint(binder->analysis->diags, MSG_CLOCK_ALONE, binder->analysis->source, range,
                   "let a variable over a relation take part",
                   "a clock ticks as far as the other inputs go, and there is none");
  return false;
}
