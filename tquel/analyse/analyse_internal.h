/* Inside of the analysis: the binder, which carries one statement from tree to bound query.
 *
 * Every bind function returns NULL after it has reported a diagnostic; callers go on with the other
 * parts of the statement, so that one run finds several mistakes, and give up at the end. Results
 * live in the analysis's arena; the binder's own growing arrays are on the heap and go with
 * tql_binder_done. */
#ifndef TQL_ANALYSE_INTERNAL_H
#define TQL_ANALYSE_INTERNAL_H

#include "tquel/analyse/analyse.h"

/* One element of the target list after V.all was expanded. */
struct tql_bound_target {
  const char *name;
  const struct ng_expr *expr;
  struct base_range range; /* of the name, or of the element that gave it */
};

struct tql_binder {
  const struct tql_analysis *analysis;
  const struct tql_scope *scope;
  struct base_arena *arena;
  struct ng_query *query;
  struct ng_variable *variables;
  size_t variable_count, variable_capacity;
  struct ng_aggregate *aggregates;
  const char **aggregate_texts; /* canonical: an aggregate written twice is bound once */
  size_t aggregate_count, aggregate_capacity, text_capacity;
  struct ng_absence *absences;
  size_t absence_count, absence_capacity;
  struct tql_bound_target *targets;
  size_t target_count, target_capacity;
  struct ng_time *times; /* strings that were taken as instants */
  size_t time_count, time_capacity;
  const struct tql_expr **bare_names; /* taken as string constants (TQ-0110) */
  size_t bare_name_count, bare_name_capacity;
  bool in_aggregate;
  int absent;             /* the variable of the unless clause being bound; -1: none is */
  int aggregate_variable; /* of the aggregate being bound; -1: none met so far */
  bool append_times;      /* times of an append: no bare integers on the real timeline (LIVE 12) */
  unsigned depth;
  /* Of a summary (summary.c), also before its targets are bound. DURING: what counts has a part in it; NULL: any time. */
  bool summary;
  const struct tql_expr *during;
  bool failed;
  bool too_many; /* targets: has been said */
};

/* Where a temporal expression stands: `|` and `,` of two events are for conditions only. In when, below
 * .start and .stop, which drop the condition, `,` of two events is refused as well. */
enum tql_place { TQL_IN_WHEN, TQL_BELOW_END, TQL_IN_CLAUSE };

void tql_binder_init(struct tql_binder *binder, const struct tql_analysis *analysis,
                     const struct tql_statement *statement);
void tql_binder_done(struct tql_binder *binder);
/* Guards against expressions so deep that recursion would exhaust the stack: false after TQ-0204.
 * Every true is matched by one leave. */
bool tql_binder_enter(struct tql_binder *binder, const struct tql_expr *expr);
void tql_binder_leave(struct tql_binder *binder);

/* --- names.c */
bool tql_same_name(const char *a, const char *b); /* ASCII, upper and lower case alike */
/* Index of NAME in the query's variables, added when new; -1 after a diagnostic. Marks it as used
 * outside unless an aggregate is being bound. */
int tql_bind_variable(struct tql_binder *binder, const struct tql_name *name);
/* Index of MEMBER in the layout of RELATION, -1 after TQ-0103 with a suggestion. */
int tql_find_domain(const struct tql_analysis *analysis, const struct ng_relation *relation,
                    const struct net_layout *layout, const struct tql_name *member);
bool tql_check_domain_name(const struct tql_analysis *analysis, const char *name,
                           struct base_range range);
/* TQ-0104 if the relation exists. */
bool tql_check_new_relation(const struct tql_analysis *analysis, const struct tql_name *name);
/* "did you mean X?": sets the hint of DIAG when one of the candidates offered to NEAR is near. */
void tql_suggest(struct base_diag *diag, const struct base_near *near);
/* Replaces the hint of DIAG. */
void tql_set_hint(struct base_diag *diag, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The expression's own text for a message, or "this expression" when it is long. */
const char *tql_expr_text(const struct tql_analysis *analysis, const struct tql_expr *expr);

/* --- absence.c */
/* The unless clauses of STATEMENT, behind all its others: into binder->absences. */
void tql_bind_absences(struct tql_binder *binder, const struct tql_statement *statement);
/* What an unless clause cannot ask where portions of the result stay; its class is known. */
void tql_check_absences(struct tql_binder *binder);
/* Warns of conditions that never or nearly always hold, where absence was perhaps meant. */
void tql_warn_of_absence(const struct tql_binder *binder);

/* --- scalar.c */
const struct ng_expr *tql_bind_scalar(struct tql_binder *binder, const struct tql_expr *expr);
/* A scalar of type bool. */
const struct ng_expr *tql_bind_condition(struct tql_binder *binder, const struct tql_expr *expr);
struct ng_expr *tql_new_expr(const struct tql_binder *binder, enum ng_op op, struct net_type type,
                             struct base_range range);
struct ng_expr *tql_new_unary(const struct tql_binder *binder, enum ng_op op, struct net_type type,
                              struct base_range range, const struct ng_expr *operand);
struct ng_expr *tql_new_binary(const struct tql_binder *binder, enum ng_op op, struct net_type type,
                               struct base_range range, const struct ng_expr *left,
                               const struct ng_expr *right);
/* EXPR as a value of BASE, at its full width; constants are converted here. */
const struct ng_expr *tql_convert(const struct tql_binder *binder, const struct ng_expr *expr,
                                  enum net_base_type base);
const struct ng_expr *tql_new_domain(const struct tql_binder *binder, unsigned variable,
                                     unsigned field, struct base_range range);
bool tql_type_is_number(struct net_type type);
const char *tql_type_words(struct net_type type); /* "an integer", "a string", ... */
/* TQ-0312 for an expression that has one where a value is needed. */
bool tql_check_constant_truth(const struct tql_binder *binder, const struct ng_expr *bound);

/* The string constant BOUND as an instant, noted for who keeps the statement (query->times); NULL after a diagnostic. */
const struct ng_expr *tql_as_point(struct tql_binder *binder, const struct ng_expr *bound);

/* --- form.c: does the temporal operation EXPR leave the form of a ratio of linear functions for
 * sure? (false: it keeps it, or only the run can tell) */
bool tql_form_is_lost(const struct ng_expr *expr);

/* --- function.c, aggregate.c */
const struct ng_expr *tql_bind_call(struct tql_binder *binder, const struct tql_expr *call);
bool tql_is_aggregate(const char *name);
const struct ng_expr *tql_bind_aggregate(struct tql_binder *binder, const struct tql_expr *call);
/* Is EXPR an aggregate that stands for the time of a tuple (earliest, latest)? Such a one bound as an
 * operand of a temporal expression. */
bool tql_is_chosen(const struct tql_expr *expr);
const struct ng_expr *tql_bind_chosen(struct tql_binder *binder, const struct tql_expr *call);
/* Calls ON_NAME for the names of all aggregates (suggestions). */
void tql_each_aggregate(void (*on_name)(void *context, const char *name), void *context);
/* Is argument INDEX of the function NAME a temporal expression (span, chronon)? */
bool tql_function_takes_time(const char *name);
/* Which argument of the function NAME is the time zone, if it has one; -1: it has none. */
int tql_function_zone(const char *name);

/* --- temporal.c */
const struct ng_expr *tql_bind_temporal(struct tql_binder *binder, const struct tql_expr *expr,
                                        enum tql_place place);
/* A temporal expression that must be an event, for the clause or function WHAT. */
const struct ng_expr *tql_bind_event(struct tql_binder *binder, const struct tql_expr *expr,
                                     const char *what);
/* The when clause: a truth over NG_HOLDS. */
const struct ng_expr *tql_bind_when(struct tql_binder *binder, const struct tql_expr *expr);

/* --- constants.c */
enum tql_constant {
  TQL_CONSTANT_OK,
  TQL_CONSTANT_NONE,         /* no constant time at all */
  TQL_CONSTANT_SYNTAX,       /* a string that is no time */
  TQL_CONSTANT_NUMBER,       /* a number in quotes */
  TQL_CONSTANT_RANGE,        /* out of range */
  TQL_CONSTANT_FIELD,        /* a date or time of day that does not exist */
  TQL_CONSTANT_ABSTRACT,     /* ISO text on the abstract timeline */
  TQL_CONSTANT_TWICE,        /* the clock was put back, and showed it twice */
  TQL_CONSTANT_SKIPPED,      /* the clock was put forward over it */
  TQL_CONSTANT_DURATION,     /* a duration where none may stand */
  TQL_CONSTANT_BARE_INTEGER, /* LIVE 12 */
};
struct tql_time_forms {
  bool integers, durations; /* allowed on the real timeline */
};
/* Is EXPR written like a constant time: string, integer, duration, beginning, forever, now, today,
 * or one of these moved by a duration? */
bool tql_looks_constant(const struct tql_expr *expr);
/* A time moved by a duration, A + D, D + A, A - D: its parts. The duration of a sum is the right
 * operand unless only the left one is written like one. */
void tql_shift_parts(const struct tql_expr *expr, const struct tql_expr **ret_time,
                     const struct tql_expr **ret_duration);
enum tql_constant tql_constant_time(const struct tql_scope *scope, const struct tql_expr *expr,
                                    struct tql_time_forms forms, net_chronon *ret);
void tql_report_constant(const struct tql_analysis *analysis, const struct tql_expr *expr,
                         enum tql_constant why);
/* A duration or an integer in units, in chronons. */
enum tql_constant tql_constant_duration(const struct tql_scope *scope, const struct tql_expr *expr,
                                        int64_t *ret);

/* --- append.c: what update shares with append */
/* The value of TARGET as one of FIELD: converted, constants checked; NULL after a diagnostic. */
const struct ng_expr *tql_assigned(struct tql_binder *binder, const struct tql_bound_target *target,
                                   const struct net_field *field);
/* Reports constant start and stop in the wrong order. */
void tql_check_order(struct tql_binder *binder, const struct tql_statement *statement);

/* --- retrieve.c: what append shares with retrieve */
void tql_bind_targets(struct tql_binder *binder, const struct tql_target_list *list);
void tql_bind_clauses(struct tql_binder *binder, const struct tql_clauses *clauses);
/* The class that the clauses and variables give; reports contradictory clauses. */
enum net_tuple_class tql_result_class(struct tql_binder *binder,
                                      const struct tql_statement *statement);
/* The clauses of a summary whose targets are bound, and what it means: into the query. */
void tql_bind_summary(struct tql_binder *binder, const struct tql_statement *statement);
/* Warnings, arrays and settings into the query; the query, or NULL if anything failed. */
/* Stands every `;` between variables where `set sequence closest` has a meaning? */
bool tql_check_closest(struct tql_binder *binder);
/* A part of what `set compensate` takes: NAME COST. */
void tql_print_cost(struct base_buffer *out, const char *relation, int64_t cost);
/* The variables of costs, where `set compensate` asks for them, behind the others. */
void tql_add_costs(struct tql_binder *binder, struct ng_query *query);
/* A statement over clocks alone would tick for ever. */
bool tql_check_clocks(struct tql_binder *binder, const struct base_range *range);
const struct ng_query *tql_binder_finish(struct tql_binder *binder,
                                         const struct tql_statement *statement);

#endif
