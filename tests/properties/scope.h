/* Small scope: all relations of a few tuples over a few instants, and the statements that judge pairs of
 * them.                                                                                             */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/env.h"
#include "engine/time.h"

#define SCOPE_TUPLES 2

struct scope_tuple {
  net_chronon time[4];
  bool definite;
  int x;
};

struct scope_relation {
  unsigned count;
  struct scope_tuple tuples[SCOPE_TUPLES];
};

/* All relations of a kind, in one order. */
struct scope_list {
  bool event;
  struct scope_relation *items;
  size_t count, capacity;
};

/* Which tuples: over the instants 0 to INSTANTS - 1. */
struct scope_range {
  int instants;
  bool sure;    /* determinate and definite ones only */
  bool forever; /* the last instant is `forever`: of stops only */
};

/* All tuples of the range. */
void scope_tuples(struct scope_list *ret, bool event, struct scope_range range);
/* All relations of at most MOST tuples of those: a pair with different x, and, where DISTINCT is false, also
 * with equal x if the times differ.                                                                  */
void scope_relations(struct scope_list *ret, bool event, struct scope_range range, unsigned most,
                     bool distinct);
/* A random one of those, with two tuples. */
struct scope_relation scope_random(struct base_random *random, const struct scope_list *tuples);
void scope_list_done(struct scope_list *list);

/* A statement over a and b, or over a alone; NULL at the end. TAIL follows it. */
struct scope_statement {
  const char *targets, *clauses;
};
extern const struct scope_statement scope_pairs[]; /* with `where a.c = b.c` */
extern const struct scope_statement scope_alone[]; /* over one relation */

#endif
