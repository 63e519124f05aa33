/* The command line of pde-solver.
 *
 * Turns the arguments into one structure that everything else only reads. Every number is checked
 * against the range in which the solver is known to make sense; what depends on the problem (for
 * instance whether a tolerance can be reached at all with doubles) is checked in problem.c.      */
#ifndef PDE_OPTIONS_H
#define PDE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDE_WORKERS_MIN 2
#define PDE_WORKERS_MAX 8

/* What is printed of the iterations, besides what the sensors report. */
enum pde_records { PDE_RECORDS_NONE, PDE_RECORDS_NDJSON, PDE_RECORDS_CSV };

struct pde_options {
  unsigned workers;
  size_t rows; /* of the grid, its outer edges included */
  size_t cols;
  uint64_t seed;
  double tolerance; /* how far the answer may be from that of the difference equations */
  uint64_t iterations_max;
  double omega; /* relaxation factor; 0: the best one for the grid */
  double time_limit_s;
  uint64_t pace_us; /* 0: every process runs as fast as it can */
  enum pde_records records;
  bool quiet;
};

enum pde_options_result { PDE_OPTIONS_RUN, PDE_OPTIONS_HELP, PDE_OPTIONS_BAD };

/* Parses the command line. For HELP the help has been printed on standard output, for BAD a
 * message on standard error; ret_options is written only for RUN.                               */
enum pde_options_result pde_options_parse(int argc, char **argv, struct pde_options *ret_options);

#endif
