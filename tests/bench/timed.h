/* A session in memory, on the abstract timeline, of which the time of the network counts: what aggregates_bench and
 * order_bench share. Whatever fails ends the program. */
#ifndef BENCH_TIMED_H
#define BENCH_TIMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_timed;
struct bench_timed *bench_timed_open(void);
void bench_timed_close(struct bench_timed *timed);
/* Runs the statements of TEXT; returns network_us of --timing, of all of them. *RET_ROWS, if it is not NULL: how many
 * rows they gave. */
int64_t bench_timed_run(struct bench_timed *timed, const char *text, size_t *ret_rows);
/* [--runs N] [ROWS]; false: not these, or fewer than a thousand rows. */
bool bench_timed_options(int argc, char **argv, size_t *runs, size_t *rows);
/* Sorts VALUES. */
double bench_median(double *values, size_t count);

#endif
