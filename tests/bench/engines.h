/* The four questions put in SQL to others, in one thread, over the same data.
 *
 * SQLite is always there. DuckDB is looked for when the program runs: the file that TQUEL_BENCH_DUCKDB
 * names, else libduckdb.so where the system keeps its libraries. What is asked for is sums over the rows
 * of the answer, so neither has to hand rows out.                                                   */
#ifndef BENCH_ENGINES_H
#define BENCH_ENGINES_H

#include <stdbool.h>

#include "tests/bench/data.h"

enum bench_question { BENCH_OVERLAP, BENCH_PDE, BENCH_COUNT, BENCH_SEQUENCE, BENCH_QUESTIONS };

struct bench_engine {
  const char *name;
  const char *(*version)(void); /* NULL: it is not installed */
  /* Opens PATH (NULL: in memory). Gives up, with a message, on failure, as all of these do. */
  void *(*open)(const char *path);
  /* Makes and fills the tables of QUESTION, with the indexes that help it. */
  void (*load)(void *handle, enum bench_question question, const struct bench_data *data);
  /* ROWS -1: it has been stopped after BENCH_SECONDS. */
  struct bench_sums (*ask)(void *handle, enum bench_question question);
  /* Prints all rows of the answer as CSV to PATH; NULL: it cannot. */
  void (*print)(void *handle, enum bench_question question, const char *path);
  void (*close)(void *handle);
};

extern const struct bench_engine bench_sqlite, bench_duckdb;

/* So long a question may take elsewhere; it takes a minute or two at ten million tuples. */
enum { BENCH_SECONDS = 1800 };

/* The horizon is in a table of its own, so that a file has all that a question needs. */
#define BENCH_HORIZON "(SELECT instant FROM horizon)"

#endif
