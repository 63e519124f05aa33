/* Aggregates (thesis 3.6, 4.4): one tuple variable, an argument over it, by, where, when, and the
 * later tails `for ever`, `for each instant`, `for each DURATION`.
 *
 * Without a tail, on event relations the plain names are cumulative and avgc is the running mean, a
 * float; on period relations avgc is the average over time, a temporal value. count, any and varts
 * look at tuples, whatever expression is written as the argument (countu: its values); avgc of a
 * variable averages 1. A tail says by itself what counts at an instant, so names that say it too
 * (countc, avgc, extendc) take none.
 *
 * earliest and latest choose a tuple and stand for its time: they are operands of temporal
 * expressions (tql_bind_chosen), all others are values (tql_bind_aggregate). The aggregate's
 * variable is the first one met in its argument; another inside it is an error, and so is another
 * aggregate. */
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

enum form { PLAIN, CUMULATIVE, UNIQUE };

struct aggregate_name {
  const char *name;
  enum net_aggregate_function function;
  enum form form;
};

static const struct aggregate_name names[] = {
    {"any", NET_AGG_ANY, PLAIN},
    {"anyc", NET_AGG_ANY, CUMULATIVE},
    {"avg", NET_AGG_AVG, PLAIN},
    {"avgc", NET_AGG_AVGC, CUMULATIVE},
    {"avgti", NET_AGG_AVGTI, PLAIN},
    {"avgu", NET_AGG_AVG, UNIQUE},
    {"count", NET_AGG_COUNT, PLAIN},
    {"countc", NET_AGG_COUNT, CUMULATIVE},
    {"countu", NET_AGG_COUNT, UNIQUE},
    {"earliest", NET_AGG_EARLIEST, PLAIN},
    {"extendc", NET_AGG_EXTEND, CUMULATIVE},
    {"first", NET_AGG_FIRST, PLAIN},
    {"last", NET_AGG_LAST, PLAIN},
    {"latest", NET_AGG_LATEST, PLAIN},
    {"max", NET_AGG_MAX, PLAIN},
    {"maxc", NET_AGG_MAX, CUMULATIVE},
    {"median", NET_AGG_QUANTILE, PLAIN},
    {"min", NET_AGG_MIN, PLAIN},
    {"minc", NET_AGG_MIN, CUMULATIVE},
    {"quantile", NET_AGG_QUANTILE, PLAIN},
    {"quantile_of", NET_AGG_QUANTILE_OF, PLAIN},
    {"stdev", NET_AGG_STDEV, PLAIN},
    {"sum", NET_AGG_SUM, PLAIN},
    {"sumc", NET_AGG_SUM, CUMULATIVE},
    {"sumu", NET_AGG_SUM, UNIQUE},
    {"varts", NET_AGG_VARTS, PLAIN},
};

#define NAME_COUNT (sizeof names / sizeof *names)

static const struct aggregate_name *find_name(const char *name) {
  for (size_t i = 0; i < NAME_COUNT; i++)
    if (tql_same_name(names[i].name, name)) return &names[i];
  return NULL;
}

bool tql_is_aggregate(const char *name) {
  return find_name(name) != NULL;
}

void tql_each_aggregate(void (*on_name)(void *context, const char *name), void *context) {
  for (size_t i = 0; i < NAME_COUNT; i++) on_name(context, names[i].name);
}

/* ---- what is refused at once ---- */

static bool refuse(const struct tql_binder *binder, enum base_message number,
                   struct base_range range, const char *hint, const char *what) {
  base_report_hint(binder->analysis->diags, number, binder->analysis->source, &range, hint, "%s",
                   what);
  return false;
}

static bool chooses_time(enum net_aggregate_function function) {
  return function == NET_AGG_EARLIEST || function == NET_AGG_LATEST;
}

/* quantile(P, E), quantile_of(P, E); median(E) says its P itself. */
static bool is_of_fraction(const struct tql_expr *call) {
  return tql_same_name(call->name.text, "quantile") ||
         tql_same_name(call->name.text, "quantile_of");
}

static const struct tql_expr *argument_of(const struct tql_expr *call) {
  return call->args.items[call->args.count - 1];
}

static bool bind_fraction(const struct tql_binder *binder, const struct tql_expr *call,
                          struct ng_aggregate *aggregate) {
  if (aggregate->function == NET_AGG_QUANTILE) aggregate->fraction = 0.5;
  if (!is_of_fraction(call)) return true;
  const struct tql_expr *fraction = call->args.items[0];
  aggregate->fraction = fraction->kind == TQL_E_INTEGER ? (double)fraction->integer
                        : fraction->kind == TQL_E_FLOAT ? fraction->real
                                                        : -1;
  if (aggregate->fraction >= 0 && aggregate->fraction <= 1) return true;
  return refuse(binder, MSG_ARGUMENTS, fraction->range,
                "write quantile(0.95, V.domain) for what 95 of 100 are not above",
                "the fraction of a quantile is a number from 0 to 1");
}

static bool check_shape(const struct tql_binder *binder, const struct tql_expr *call) {
  if (binder->in_aggregate)
    return refuse(
        binder, MSG_NESTED_AGGREGATE, call->range,
        "name the inner one as a derived relation, retrieve NAME (...), and range over it",
        "an aggregate cannot stand inside another one");
  if (binder->absent >= 0)
    return refuse(binder, MSG_ABSENCE, call->range,
                  "retrieve the value into a relation first, and range over it",
                  "an aggregate cannot stand in an unless clause");
  if (is_of_fraction(call)) {
    if (call->args.count == 2) return true;
    base_report_hint(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &call->range,
                     "write quantile(0.95, V.domain by ... where ...)",
                     "%s takes a fraction and an expression", call->name.text);
    return false;
  }
  if (call->args.count != 1) {
    base_report_hint(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &call->range,
                     "write count(V) or count(expression over V by ... where ...)",
                     "%s takes one argument, not %zu", call->name.text, call->args.count);
    return false;
  }
  return true;
}

/* ---- argument ---- */

static bool fits(enum net_aggregate_function function, struct net_type type) {
  bool text = net_type_is_interned(type.base);
  switch (function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
    case NET_AGG_VARTS:
      return true;
    case NET_AGG_SUM:
    case NET_AGG_AVG:
      return tql_type_is_number(type) || type.base == NET_TEMPORAL;
    case NET_AGG_AVGC:
    case NET_AGG_STDEV:
    case NET_AGG_AVGTI:
    case NET_AGG_QUANTILE:
      return tql_type_is_number(type);
    case NET_AGG_QUANTILE_OF:
    case NET_AGG_MIN:
    case NET_AGG_MAX:
      return tql_type_is_number(type) || text;
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
    case NET_AGG_EXTEND:
      return tql_type_is_number(type) || text || type.base == NET_BOOL;
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
      return false;
  }
  return false;
}

/* Functions of the tuples themselves: an expression written as the argument is left out. */
static bool counts_tuples(enum net_aggregate_function function) {
  return function == NET_AGG_COUNT || function == NET_AGG_ANY || function == NET_AGG_VARTS;
}

static bool takes_tuple(enum net_aggregate_function function) {
  return counts_tuples(function) || function == NET_AGG_AVGC || chooses_time(function);
}

/* The argument V, the tuple itself. */
static bool bind_tuple(struct tql_binder *binder, const struct tql_expr *call,
                       const struct aggregate_name *name) {
  const struct tql_expr *arg = argument_of(call);
  if (tql_bind_variable(binder, &arg->name) < 0) return false;
  if (takes_tuple(name->function) && name->form != UNIQUE) return true;
  base_report_hint(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &arg->range,
                   "name a domain: V.domain", "%s takes an expression over %s, not the tuple",
                   call->name.text, arg->name.text);
  return false;
}

static bool bind_argument(struct tql_binder *binder, const struct tql_expr *call,
                          const struct aggregate_name *name, struct ng_aggregate *aggregate) {
  const struct tql_expr *arg = argument_of(call);
  if (arg->kind == TQL_E_NAME) return bind_tuple(binder, call, name);
  if (chooses_time(name->function))
    return refuse(binder, MSG_ARGUMENTS, arg->range, "write earliest(V) or latest(V by V.domain)",
                  "earliest and latest choose a tuple: their argument is a tuple variable");
  const struct ng_expr *bound = tql_bind_scalar(binder, arg);
  if (!bound || !tql_check_constant_truth(binder, bound)) return false;
  if (binder->aggregate_variable < 0)
    return refuse(binder, MSG_ARGUMENTS, arg->range, "write count(V) or sum(V.domain)",
                  "the argument of an aggregate needs a tuple variable");
  if (!fits(name->function, bound->type)) {
    base_report(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source, &arg->range,
                "%s does not take %s", call->name.text, tql_type_words(bound->type));
    return false;
  }
  bool ignored = counts_tuples(name->function) && name->form != UNIQUE;
  aggregate->argument = ignored ? NULL : bound;
  return true;
}

/* ---- by, where, when ---- */

static const struct ng_expr *bind_by_item(struct tql_binder *binder, const struct tql_expr *item) {
  if (item->kind == TQL_E_NAME) {
    struct base_diag *diag =
        base_report(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source, &item->range,
                    "%s is no domain: by takes domains of a tuple variable", item->name.text);
    tql_set_hint(diag, "write %s.%s", binder->variables[binder->aggregate_variable].name,
                 item->name.text);
    return NULL;
  }
  const struct ng_expr *bound = tql_bind_scalar(binder, item);
  if (!bound || !tql_check_constant_truth(binder, bound)) return NULL;
  if (bound->type.base != NET_TEMPORAL) return bound;
  base_report(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source, &item->range,
              "a temporal value changes with time and cannot make groups");
  return NULL;
}

static bool bind_by(struct tql_binder *binder, const struct tql_expr *call,
                    struct ng_aggregate *aggregate) {
  bool all = true;
  aggregate->by_count = call->by.count;
  aggregate->by = BASE_NEW_ARRAY(binder->arena, call->by.count, const struct ng_expr *);
  for (size_t i = 0; i < call->by.count; i++) {
    aggregate->by[i] = bind_by_item(binder, call->by.items[i]);
    all = all && aggregate->by[i];
  }
  return all;
}

static bool bind_where(struct tql_binder *binder, const struct tql_expr *call,
                       struct ng_aggregate *aggregate) {
  if (!call->where) return true;
  aggregate->where = tql_bind_condition(binder, call->where);
  return aggregate->where != NULL;
}

static bool bind_inner_when(struct tql_binder *binder, const struct tql_expr *call,
                            struct ng_aggregate *aggregate) {
  if (!call->when) return true;
  aggregate->when = tql_bind_when(binder, call->when);
  return aggregate->when != NULL;
}

/* ---- what counts at an instant ---- */

static bool is_over_events(const struct tql_binder *binder, const struct ng_aggregate *aggregate) {
  return binder->variables[aggregate->variable].relation->layout->tuple_class == NET_EVENT;
}

/* V overlap ALPHA, of the aggregate's own variable; `A , B` is what lies between the two, as they stand for a time here and
 * for no condition. */
static const struct ng_expr *summary_during(struct tql_binder *binder) {
  const struct ng_variable *variable = &binder->variables[binder->aggregate_variable];
  struct tql_expr alpha = *binder->during;
  if (alpha.kind == TQL_E_PARALLEL) alpha.kind = TQL_E_EXTEND;
  struct tql_expr own = {.kind = TQL_E_NAME, .range = alpha.range, .depth = 1};
  own.name = (struct tql_name){.text = variable->name, .range = own.range};
  struct tql_expr overlap = {.kind = TQL_E_OVERLAP,
                             .range = alpha.range,
                             .left = &own,
                             .right = &alpha,
                             .depth = alpha.depth + 1};
  return tql_bind_when(binder, &overlap);
}

/* In a summary all tuples count, whenever they are. */
static bool bind_summed(struct tql_binder *binder, const struct tql_expr *call,
                        struct ng_aggregate *aggregate) {
  aggregate->cumulative = aggregate->summary = true;
  if (binder->during && !(aggregate->during = summary_during(binder))) return false;
  if (call->tail != TQL_TAIL_NONE)
    return refuse(binder, MSG_SUMMARY, call->range,
                  "leave out what stands behind for; during, behind the targets, chooses a time",
                  "a summary is of all tuples, whenever they are");
  if (aggregate->function == NET_AGG_EXTEND)
    return refuse(binder, MSG_SUMMARY, call->range, "last(V.domain) is the value that came last",
                  "extendc makes periods, and a summary has no time");
  if (aggregate->function == NET_AGG_AVGC && !is_over_events(binder, aggregate))
    return refuse(binder, MSG_SUMMARY, call->range, "write avg(V.domain)",
                  "the mean over time is a function of time, and a summary has none");
  return true;
}

/* The tail, or what the name and the kind of the relation say without one (thesis 4.4). */
static bool bind_tail(struct tql_binder *binder, const struct tql_expr *call,
                      const struct aggregate_name *name, struct ng_aggregate *aggregate) {
  aggregate->cumulative = name->form == CUMULATIVE || is_over_events(binder, aggregate);
  if (binder->summary) return bind_summed(binder, call, aggregate);
  if (call->tail == TQL_TAIL_NONE) return true;
  if (name->form == CUMULATIVE) {
    base_report_hint(binder->analysis->diags, MSG_AGGREGATE_TAIL, binder->analysis->source,
                     &call->range, "count(V for ever) is what countc(V) counts",
                     "%s says by its name what counts, and takes no `for`", call->name.text);
    return false;
  }
  aggregate->cumulative = call->tail == TQL_TAIL_EVER;
  if (call->tail != TQL_TAIL_DURATION) return true;
  if (tql_analyse_duration(binder->analysis, call->within, &aggregate->window) != BASE_OK)
    return false;
  if (aggregate->window > 0) return true;
  return refuse(binder, MSG_AGGREGATE_TAIL, call->within->range,
                "for each instant looks at one point of time",
                "the window of an aggregate is longer than nothing");
}

/* A temporal value lives as long as its tuple: what counts longer has no value of it. */
static bool check_temporal(const struct tql_binder *binder, const struct tql_expr *call,
                           const struct ng_aggregate *aggregate) {
  bool temporal = aggregate->argument && aggregate->argument->type.base == NET_TEMPORAL;
  if (!temporal || (!aggregate->cumulative && !aggregate->unique && !aggregate->window))
    return true;
  return refuse(binder, MSG_AGGREGATE_TEMPORAL, argument_of(call)->range,
                "sum and avg of the tuples valid at an instant take one: sum(duration(P)), or with "
                "for each instant",
                "a temporal value is no more when its tuple has ended, and cannot be counted then");
}

static bool check_relation(const struct tql_binder *binder, const struct tql_expr *call,
                           const struct ng_aggregate *aggregate) {
  if (aggregate->function != NET_AGG_EXTEND || is_over_events(binder, aggregate)) return true;
  return refuse(binder, MSG_EXTEND_PERIOD, argument_of(call)->range,
                "a period relation needs no extending: use V.domain",
                "extendc makes periods of events, and this is a period already");
}

/* ---- the whole ---- */

/* Of sums and means: temporal if the argument is, a length of time likewise. */
static struct net_type number_type(const struct ng_aggregate *aggregate, enum net_base_type base) {
  struct net_type type = aggregate->argument->type;
  if (type.base == NET_TEMPORAL) return (struct net_type){NET_TEMPORAL, 0};
  return (struct net_type){base, 8, type.quantity == NET_LENGTH ? NET_LENGTH : NET_NUMBER};
}

static struct net_type result_type(const struct tql_binder *binder,
                                   const struct ng_aggregate *aggregate) {
  switch (aggregate->function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
      return (struct net_type){NET_INTEGER, 8};
    case NET_AGG_AVGC:
      return is_over_events(binder, aggregate) ? (struct net_type){NET_FLOAT, 8}
                                               : (struct net_type){NET_TEMPORAL, 0};
    case NET_AGG_AVG:
      return number_type(aggregate, NET_FLOAT);
    case NET_AGG_SUM:
      return number_type(aggregate, aggregate->argument->type.base);
    case NET_AGG_STDEV:
    case NET_AGG_QUANTILE:
      return number_type(aggregate, NET_FLOAT);
    case NET_AGG_VARTS:
    case NET_AGG_AVGTI:
      return (struct net_type){NET_FLOAT, 8};
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
      return (struct net_type){NET_INSTANT, 0};
    case NET_AGG_MIN:
    case NET_AGG_MAX:
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
    case NET_AGG_EXTEND:
    case NET_AGG_QUANTILE_OF:
      return aggregate->argument->type;
  }
  return aggregate->argument->type;
}

static bool bind_parts(struct tql_binder *binder, const struct tql_expr *call,
                       const struct aggregate_name *name, struct ng_aggregate *aggregate) {
  binder->in_aggregate = true;
  binder->aggregate_variable = -1;
  bool bound = bind_argument(binder, call, name, aggregate);
  if (binder->aggregate_variable >= 0) {
    bound = bind_by(binder, call, aggregate) && bound;
    bound = bind_where(binder, call, aggregate) && bound;
    bound = bind_inner_when(binder, call, aggregate) && bound;
    aggregate->variable = (unsigned)binder->aggregate_variable;
    bound = bound && check_relation(binder, call, aggregate) &&
            bind_tail(binder, call, name, aggregate) && check_temporal(binder, call, aggregate);
  }
  binder->in_aggregate = false;
  return bound;
}

static const char *call_text(const struct tql_binder *binder, const struct tql_expr *call) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  tql_print_expr(&text, call);
  const char *result = base_arena_strdup(binder->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return result;
}

/* Index of the aggregate, which an equal earlier one may have already. */
static unsigned add_aggregate(struct tql_binder *binder, const struct ng_aggregate *aggregate,
                              const char *text) {
  for (size_t i = 0; i < binder->aggregate_count; i++)
    if (!strcmp(binder->aggregate_texts[i], text)) return (unsigned)i;
  base_grow(&binder->aggregates, &binder->aggregate_capacity, binder->aggregate_count + 1,
            sizeof *binder->aggregates);
  base_grow(&binder->aggregate_texts, &binder->text_capacity, binder->aggregate_count + 1,
            sizeof *binder->aggregate_texts);
  binder->aggregates[binder->aggregate_count] = *aggregate;
  binder->aggregate_texts[binder->aggregate_count] = text;
  return (unsigned)binder->aggregate_count++;
}

static bool bind_whole(struct tql_binder *binder, const struct tql_expr *call,
                       const struct aggregate_name *name, unsigned *ret_index) {
  if (!check_shape(binder, call)) return false;
  struct ng_aggregate aggregate = {
      .function = name->function, .unique = name->form == UNIQUE, .range = call->range};
  if (!bind_fraction(binder, call, &aggregate)) return false;
  if (!bind_parts(binder, call, name, &aggregate)) return false;
  aggregate.type = result_type(binder, &aggregate);
  *ret_index = add_aggregate(binder, &aggregate, call_text(binder, call));
  return true;
}

const struct ng_expr *tql_bind_aggregate(struct tql_binder *binder, const struct tql_expr *call) {
  const struct aggregate_name *name = find_name(call->name.text);
  if (chooses_time(name->function)) {
    base_report_hint(
        binder->analysis->diags, MSG_AGGREGATE_IS_TIME, binder->analysis->source, &call->range,
        "chronon(...) and span(...) make values of times; first and last choose values",
        "%s stands for the time of a tuple, not for a value", call->name.text);
    return NULL;
  }
  unsigned index;
  if (!bind_whole(binder, call, name, &index)) return NULL;
  struct ng_expr *bound =
      tql_new_expr(binder, NG_AGGREGATE, binder->aggregates[index].type, call->range);
  bound->index = index;
  return bound;
}

bool tql_is_chosen(const struct tql_expr *expr) {
  const struct aggregate_name *name = expr->kind == TQL_E_CALL ? find_name(expr->name.text) : NULL;
  return name && chooses_time(name->function);
}

const struct ng_expr *tql_bind_chosen(struct tql_binder *binder, const struct tql_expr *call) {
  unsigned index;
  if (!bind_whole(binder, call, find_name(call->name.text), &index)) return NULL;
  struct ng_expr *bound =
      tql_new_expr(binder, NG_T_AGGREGATE, binder->aggregates[index].type, call->range);
  bound->index = index;
  bound->event = is_over_events(binder, &binder->aggregates[index]);
  return bound;
}
