/* Judging what sensors are told: a program that makes the records it is asked for and no others, a session that
 * asks it, and the reference evaluator.                                                              */
#ifndef ORACLE_SENSED_H
#define ORACLE_SENSED_H

#include "engine/ingest.h"
#include "tests/oracle/judge.h"

#define SENSED_LAST 16 /* the last instant at which anything happens */

/* What the program was told, and what it made of it. */
struct sensed_counts {
  uint64_t arcs;   /* objects that were switched on while it ran: by what another relation names */
  uint64_t clocks; /* watches of samples at ticks */
  uint64_t triggers; /* samples that tuples of another relation had taken */
  uint64_t withheld; /* records that nobody asked for */
  uint64_t filters;  /* watches that ask for some values alone */
  uint64_t filtered; /* records that were withheld for that alone */
  uint64_t counted;  /* ... of events, whose number was told */
};

/* --- generate.c, statements.c of these scenarios (sensed.c) */
/* The relations of the program, and those of its user; *RET_WHOLE[i]: statement i is to be answered as if all
 * records had been made. */
void sensed_draw(struct scenario *scenario, struct base_arena *arena, uint64_t seed,
                 bool *ret_whole);
/* Is INPUT one of the program's? */
bool sensed_is_announced(const struct input *input);
/* The remote description of the program's sensors. */
void sensed_description(struct base_buffer *out);

/* --- program.c */
/* Opens a session in ENGINE with RULE_OFF, defines what the statements define, and has the program run to its end.
 * MADE: a scenario with the same relations, gets what was reported of them, periods of traced relations as they
 * were reported. LIAR: the program keeps a record to itself. False: something failed, OUT says what. */
bool sensed_run(struct engine *engine, struct base_strings *strings,
                const struct scenario *scenario, struct engine_options options, bool liar,
                struct scenario *made, struct sensed_counts *counts, struct base_buffer *out);

/* --- sensed.c: one scenario under the configurations */
void judge_sensed(uint64_t seed, bool verbose, bool selftest, struct tally *tally);

#endif
