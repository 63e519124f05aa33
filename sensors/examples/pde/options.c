/* The command line of pde-solver: see options.h.
 *
 * Numbers are read strictly: no leading blanks or signs where none make sense, nothing behind the
 * number, and a range for each. A wrong option is named together with what would have been right.
 */
#include "sensors/examples/pde/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRID_EDGE_MIN 3
#define GRID_EDGE_MAX 10000

static const struct pde_options defaults = {
    .workers = 4,
    .rows = 501,
    .cols = 501,
    .seed = 1,
    .tolerance = 1e-5,
    .iterations_max = 100000,
    .omega = 0.0,
    .time_limit_s = 60.0,
    .pace_us = 4500,
    .records = PDE_RECORDS_NONE,
    .quiet = false,
};

static const char help_text[] =
    "Usage: pde-solver [OPTION]...\n"
    "Solves Laplace's equation on a grid with several processes that do not wait for each other,\n"
    "and has a sensor where every process begins an iteration (tquel collect switches it).\n"
    "\n"
    "  --workers N          number of processes, 2 to 8 (default 4)\n"
    "  --grid N             square grid of N by N points, edges included (default 501)\n"
    "  --grid ROWSxCOLS     rectangular grid, 3 to 10000 points each way\n"
    "  --seed S             chooses the boundary values and the sizes of the strips (default 1):\n"
    "                       S mod 3 = 1: x^2-y^2, 2: x^3-3xy^2, 0: e^x sin y\n"
    "  --tolerance E        how exactly to solve the difference equations (default 1e-5)\n"
    "  --max-iterations N   a process gives up after so many iterations (default 100000)\n"
    "  --omega W            relaxation factor between 0 and 2; 1 is the plain average of the\n"
    "                       neighbours (default: the best one for the grid)\n"
    "  --time-limit SECONDS all processes give up after this time (default 60)\n"
    "  --pace-us N          an iteration takes N microseconds on the average, with variation that\n"
    "                       depends on the seed; 0: as fast as it goes (default 4500)\n"
    "  --ndjson             also print a record of every iteration's start on standard output\n"
    "  --csv                likewise, as CSV (without the end records)\n"
    "  --quiet              only errors on standard error\n"
    "  --help               this text\n"
    "\n"
    "Exit status: 0 if the answer agrees with the analytic solution, 1 for a bad option, 2 if the\n"
    "system refused something, 4 if the processes did not converge or the answer does not agree.\n";

static bool bad(const char *option, const char *value, const char *wanted) {
  fprintf(stderr, "pde-solver: --%s %s: must be %s\n", option, value, wanted);
  return false;
}

/* Reads a natural number at *text and moves *text behind it. */
static bool take_natural(const char **text, uint64_t *ret_number) {
  if (!isdigit((unsigned char)**text)) {
    return false;
  }
  char *rest = NULL;
  errno = 0;
  unsigned long long number = strtoull(*text, &rest, 10);
  if (errno != 0) {
    return false;
  }
  *text = rest;
  *ret_number = number;
  return true;
}

static bool natural(const char *text, uint64_t least, uint64_t most, uint64_t *ret_number) {
  uint64_t number = 0;
  if (!take_natural(&text, &number) || *text != '\0' || number < least || number > most) {
    return false;
  }
  *ret_number = number;
  return true;
}

/* A positive, finite number. Hexadecimal, "inf" and "nan" are no numbers here. */
static bool positive(const char *text, double *ret_number) {
  if (text[strspn(text, "0123456789.eE+-")] != '\0' ||
      !(isdigit((unsigned char)*text) || *text == '.')) {
    return false;
  }
  char *rest = NULL;
  double number = strtod(text, &rest);
  if (rest == text || *rest != '\0' || !isfinite(number) || !(number > 0.0)) {
    return false;
  }
  *ret_number = number;
  return true;
}

static bool grid(const char *text, struct pde_options *options) {
  uint64_t rows = 0;
  uint64_t cols = 0;
  if (!take_natural(&text, &rows)) {
    return false;
  }
  cols = rows;
  if (*text == 'x') {
    text++;
    if (!take_natural(&text, &cols)) {
      return false;
    }
  }
  if (*text != '\0' || rows < GRID_EDGE_MIN || rows > GRID_EDGE_MAX || cols < GRID_EDGE_MIN ||
      cols > GRID_EDGE_MAX) {
    return false;
  }
  options->rows = (size_t)rows;
  options->cols = (size_t)cols;
  return true;
}

enum {
  OPT_HELP = 256,
  OPT_WORKERS,
  OPT_GRID,
  OPT_SEED,
  OPT_TOLERANCE,
  OPT_ITERATIONS,
  OPT_OMEGA,
  OPT_TIME,
  OPT_PACE,
  OPT_NDJSON,
  OPT_CSV,
  OPT_QUIET
};

static const struct option long_options[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"workers", required_argument, NULL, OPT_WORKERS},
    {"grid", required_argument, NULL, OPT_GRID},
    {"seed", required_argument, NULL, OPT_SEED},
    {"tolerance", required_argument, NULL, OPT_TOLERANCE},
    {"max-iterations", required_argument, NULL, OPT_ITERATIONS},
    {"omega", required_argument, NULL, OPT_OMEGA},
    {"time-limit", required_argument, NULL, OPT_TIME},
    {"pace-us", required_argument, NULL, OPT_PACE},
    {"ndjson", no_argument, NULL, OPT_NDJSON},
    {"csv", no_argument, NULL, OPT_CSV},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {NULL, 0, NULL, 0},
};

/* One option with its value; false after a message. */
static bool take_option(int option, const char *value, struct pde_options *options) {
  uint64_t number = 0;
  switch (option) {
    case OPT_WORKERS:
      if (!natural(value, PDE_WORKERS_MIN, PDE_WORKERS_MAX, &number)) {
        return bad("workers", value, "a whole number from 2 to 8");
      }
      options->workers = (unsigned)number;
      return true;
    case OPT_GRID:
      return grid(value, options) ||
             bad("grid", value,
                 "N or ROWSxCOLS with 3 to 10000 points each way, as in 501 or 301x401");
    case OPT_SEED:
      return natural(value, 0, UINT64_MAX, &options->seed) ||
             bad("seed", value, "a whole number of at most 64 bits");
    case OPT_TOLERANCE:
      return (positive(value, &options->tolerance) && options->tolerance <= 1.0) ||
             bad("tolerance", value, "a number above 0 and at most 1, as in 1e-6");
    case OPT_ITERATIONS:
      return natural(value, 1, UINT32_MAX, &options->iterations_max) ||
             bad("max-iterations", value, "a whole number from 1 to 4294967295");
    case OPT_OMEGA:
      return (positive(value, &options->omega) && options->omega < 2.0) ||
             bad("omega", value, "a number above 0 and below 2 (otherwise nothing converges)");
    case OPT_TIME:
      return (positive(value, &options->time_limit_s) && options->time_limit_s <= 86400.0) ||
             bad("time-limit", value, "a number of seconds above 0 and at most 86400");
    case OPT_PACE:
      return natural(value, 0, 10000000, &options->pace_us) ||
             bad("pace-us", value, "a whole number of microseconds from 0 to 10000000");
    case OPT_NDJSON:
      options->records = PDE_RECORDS_NDJSON;
      return true;
    case OPT_CSV:
      options->records = PDE_RECORDS_CSV;
      return true;
    case OPT_QUIET:
      options->quiet = true;
      return true;
    default: /* getopt_long has printed its own message */
      return false;
  }
}

enum pde_options_result pde_options_parse(int argc, char **argv, struct pde_options *ret_options) {
  struct pde_options options = defaults;
  static char program[] = "pde-solver"; /* getopt_long prints argv[0] in its messages */
  if (argc > 0) {
    argv[0] = program;
  }
  int option;
  while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
    if (option == OPT_HELP) {
      return fputs(help_text, stdout) < 0 || fflush(stdout) != 0 ? PDE_OPTIONS_BAD
                                                                 : PDE_OPTIONS_HELP;
    }
    if (!take_option(option, optarg, &options)) {
      fprintf(stderr, "pde-solver: --help lists the options\n");
      return PDE_OPTIONS_BAD;
    }
  }
  if (optind < argc) {
    fprintf(stderr, "pde-solver: %s: there is nothing to name but options; see --help\n",
            argv[optind]);
    return PDE_OPTIONS_BAD;
  }
  if (options.rows - 2 < options.workers) {
    fprintf(stderr,
            "pde-solver: a grid of %zu rows has %zu between its edges, too few for %u processes\n",
            options.rows, options.rows - 2, options.workers);
    return PDE_OPTIONS_BAD;
  }
  *ret_options = options;
  return PDE_OPTIONS_RUN;
}
