/* Networks that run without a session: statements over relations whose rows are made here, pushed in
 * batches, without end. For tests of what running costs in memory, and for benchmarks.                                 */
#ifndef TESTS_MEMORY_WORLD_H
#define TESTS_MEMORY_WORLD_H

#include "netgen/netgen.h"

/* How the rows of a period relation come. */
enum how {
  WHOLE,  /* with their stops */
  OPEN,   /* open, and a close LENGTH chronons later */
  UNSURE, /* with their stops, and all instants within three chronons */
  UNLIKE, /* with their stops, and no two are alike in x */
  BOTH,   /* the last two together */
};

struct shape {
  const char *name;
  /* Statements over e, f (events E, F), p, q (periods P, Q) and t, u (traced T by k), all with the domains
   * k, x (i8) and y (f8). A retrieve with a name is there for those after it; all others are run.    */
  const char *text;
  enum how how;
  bool rules_off; /* all of them */
};

struct machine;

/* LIVE: tuples of a period relation that are valid at the same time. */
struct machine *machine_new(const struct shape *shape, uint64_t live, uint32_t batch_rows);
/* So many from now on: whole periods that come from now on stop so much earlier or later, open ones are closed until
 * so many are left. */
void machine_set_live(struct machine *machine, uint64_t live);
void machine_free(struct machine *machine);
/* Pushes COUNT more tuples into each relation, and checkpoints behind them. */
void machine_run(struct machine *machine, uint64_t count);
/* Tuples that have come out. */
uint64_t machine_results(const struct machine *machine);
/* Its nodes, for those who count fires. */
const struct net_network *machine_network(const struct machine *machine);
/* Rows that all nodes keep, and the memory that they say they hold for them. */
struct machine_state {
  uint64_t rows, bytes;
  uint64_t string_bytes; /* of the table of strings, which is the session's */
  uint64_t sweeps;       /* so often strings that nobody has any more were forgotten */
};
struct machine_state machine_state(const struct machine *machine);

#endif
