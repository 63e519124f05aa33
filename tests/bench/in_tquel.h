/* The four questions in TQuel: one session a question, in memory or over a file. */
#ifndef BENCH_IN_TQUEL_H
#define BENCH_IN_TQUEL_H

#include "tests/bench/engines.h"

struct bench_tquel;
/* PATH NULL: in memory. Gives up, with a message, on failure, as all of these do. */
struct bench_tquel *bench_tquel_open(const char *path);
/* Creates the relations of QUESTION and copies the data into them. */
void bench_tquel_load(struct bench_tquel *bench, enum bench_question question,
                      const struct bench_data *data);
/* What the question consists of: the text that goes before it, and up to three statements, each of which
 * gives rows. */
struct bench_statements {
  const char *before, *retrieves[3], *after;
};
extern const struct bench_statements bench_statements[BENCH_QUESTIONS];
/* Times as --timing has them, of all the statements. */
struct bench_times {
  int64_t total_us, load_us, network_us;
};
struct bench_sums bench_tquel_ask(struct bench_tquel *bench, enum bench_question question,
                                  struct bench_times *ret);
void bench_tquel_close(struct bench_tquel *bench);

#endif
