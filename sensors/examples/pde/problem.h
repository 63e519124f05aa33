/* The problem that pde-solver solves, and what may be claimed about its answer.
 *
 * A grid of rows x cols points with the same distance h both ways, scaled so that the longer edge
 * has length 1. The values on the outer edges are those of a function u that is harmonic, so the
 * solution inside is u itself and the answer can be checked at every point.
 *
 * Two statements are proved rather than hoped for (README.md has the derivation):
 *   - if at no inner point the average of the neighbours differs from the value by more than r,
 *     the values are within r k^2 / 2 of the solution of the difference equations, where k is the
 *     number of intervals of the shorter edge;
 *   - that solution is within h^2 M4 a^2 / 48 of u, where a is the length of the shorter edge and
 *     M4 bounds the fourth derivatives of u (both zero for polynomials of degree three).         */
#ifndef PDE_PROBLEM_H
#define PDE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sensors/examples/pde/options.h"

struct pde_strip {
  size_t first; /* row, counted from 0 for the upper edge of the grid */
  size_t last;  /* row, itself part of the strip */
};

struct pde_problem {
  const char *name; /* of u, for people */
  double (*solution)(double x, double y);
  double h;
  double omega;
  double residual_max;         /* at the end, at every inner point, for the tolerance wanted */
  double bound_discretisation; /* the parts of the bound on the error besides the tolerance */
  double bound_rounding;
  struct pde_strip strips[PDE_WORKERS_MAX];
};

/* The points of the grid. Those on the border of a strip are read by a process while another one
 * writes them, so all are atomic. They are accessed in relaxed order: whatever value a neighbour
 * happens to have is good enough, and the counters that decide about the end are ordered.        */
typedef _Atomic double pde_point;

/* Pseudo-random number from 0 up to 1: the index-th of the sequence that the seed selects. */
double pde_random(uint64_t seed, uint64_t index);

/* Derives the problem from the options. False, with a message on standard error, if the tolerance
 * is finer than rounding allows on this grid.                                                   */
bool pde_problem_init(struct pde_problem *problem, const struct pde_options *options);

/* Sets the edges to the values of u and all inner points to the mean of the edges. */
void pde_problem_fill(const struct pde_problem *problem, const struct pde_options *options,
                      pde_point *points);

/* Largest difference between a value and the average of its neighbours, and largest difference
 * between a value and u, over all inner points.                                                 */
void pde_problem_check(const struct pde_problem *problem, const struct pde_options *options,
                       const pde_point *points, double *ret_residual, double *ret_error);

#endif
