/* Inside of the generator: the tuple variables there are, those a statement uses, and expressions over
 * them by type.                                                                                     */
#ifndef ORACLE_CHOICE_H
#define ORACLE_CHOICE_H

#include "tests/oracle/judge.h"

#define SOURCE_DOMAINS_MAX (PARTS_MAX > DOMAINS_MAX ? PARTS_MAX : DOMAINS_MAX)

struct source {
  const char *name; /* of the variable */
  bool event, clock;
  bool endless; /* starts may be `beginning`: nothing is computed from them */
  const char *domains[SOURCE_DOMAINS_MAX];
  char kinds[SOURCE_DOMAINS_MAX];
  size_t domain_count;
};

struct choice {
  struct scenario *scenario;
  struct source sources[3 * (RELATIONS_MAX + STATEMENTS_MAX) + 2];
  size_t source_count;
  struct source used[3];
  size_t used_count;
};

/* Does any used variable have a domain of that kind? */
bool has_domain(const struct choice *choice, char kind);
const struct source *some_used(const struct choice *choice);

/* expressions.c: each of the kind it says, over the variables used. DEPTH bounds nesting. */
const char *integer(struct choice *choice, int depth);
const char *number(struct choice *choice, int depth);
const char *string(struct choice *choice, int depth);
const char *bytes(struct choice *choice, int depth);
/* NULL: there is no temporal value. */
const char *temporal_value(struct choice *choice, int depth);
const char *condition(struct choice *choice, int depth);

/* times.c */
/* A temporal expression; *RET_EVENT what it is. VALUE: its time is wanted, its condition dropped: no
 * `|` and no two events at once.                                                                    */
const char *time_expression(struct choice *choice, int depth, bool value, bool *ret_event);
const char *event_expression(struct choice *choice);
const char *when_condition(struct choice *choice, int depth);
/* An operand for `set sequence closest`, and its conjunct. */
const char *closest_condition(struct choice *choice);

/* absences.c: unless clauses, in so many of a hundred cases, for STATEMENT, whose variables outside of aggregates are
 * those used. */
void make_absences(const struct choice *choice, struct statement *statement, unsigned percent);

/* aggregates.c: over one of all variables, or over one that is used; *RET_KIND of its value. */
const char *aggregate(struct choice *choice, char *ret_kind);
/* 2 to MOST of one variable, with the same by, where and when. */
size_t several_aggregates(struct choice *choice, const char **texts, char *kinds, size_t most);
/* One of SOURCE that never forgets, by its domain at KEY. NULL: none. */
const char *running_aggregate(struct choice *choice, const struct source *source, size_t key,
                              char *ret_kind);
/* One of SOURCE by its domain at KEY, of which an inner where leaves out some, or all. NULL: none. */
const char *own_group(struct choice *choice, const struct source *source, size_t key,
                      char *ret_kind);
/* One of SOURCE for a summary, with the by list BY. NULL: none. */
const char *summed(struct choice *choice, const struct source *source, const char *by,
                   char *ret_kind);
/* earliest or latest: a time. */
const char *chosen_time(struct choice *choice, bool *ret_event);

#endif
