/* The harmonic functions, the division of the grid into strips, and the check of the answer: see
 * problem.h. Everything here depends on the options only, so the same options give the same
 * problem; only the run itself differs from one time to the next.                               */
#include "sensors/examples/pde/problem.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

static double saddle(double x, double y) {
  return x * x - y * y;
}

static double monkey_saddle(double x, double y) {
  return x * x * x - 3.0 * x * y * y;
}

static double exponential(double x, double y) {
  return exp(x) * sin(y);
}

struct harmonic {
  const char *name;
  double (*solution)(double x, double y);
  double value_max;      /* of |u| for x and y from 0 to 1 */
  double derivative_max; /* of the fourth derivatives by x and by y */
};

static const struct harmonic harmonics[] = {
    {"e^x sin y", exponential, 2.29, 2.29}, /* e sin 1 = 2.2874 */
    {"x^2-y^2", saddle, 1.0, 0.0},
    {"x^3-3xy^2", monkey_saddle, 2.0, 0.0},
};

double pde_random(uint64_t seed, uint64_t index) {
  /* splitmix64: good enough to make strips uneven, and the same on every machine. */
  uint64_t z = seed * UINT64_C(0xD1342543DE82EF95) + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  z ^= z >> 31;
  return (double)(z >> 11) * 0x1p-53;
}

/* Cuts the inner rows into strips whose sizes differ by up to a quarter from the mean, each with
 * at least one row.                                                                              */
static void cut_strips(struct pde_problem *problem, const struct pde_options *options) {
  double weights[PDE_WORKERS_MAX];
  double total = 0.0;
  for (unsigned w = 0; w < options->workers; w++) {
    weights[w] = 0.75 + 0.5 * pde_random(options->seed, w);
    total += weights[w];
  }
  size_t inner = options->rows - 2;
  size_t first = 1;
  double sum = 0.0;
  for (unsigned w = 0; w < options->workers; w++) {
    sum += weights[w];
    size_t still_needed = options->workers - 1 - w;
    size_t last = (size_t)lround((double)inner * sum / total);
    if (last < first) {
      last = first;
    }
    if (last > inner - still_needed || still_needed == 0) {
      last = inner - still_needed;
    }
    problem->strips[w] = (struct pde_strip){first, last};
    first = last + 1;
  }
}

/* The best factor for successive over-relaxation on a rectangle (Young 1954). */
static double best_omega(const struct pde_options *options) {
  const double pi = 3.14159265358979323846;
  double rho =
      0.5 * (cos(pi / (double)(options->rows - 1)) + cos(pi / (double)(options->cols - 1)));
  return 2.0 / (1.0 + sqrt(1.0 - rho * rho));
}

bool pde_problem_init(struct pde_problem *problem, const struct pde_options *options) {
  const struct harmonic *harmonic = &harmonics[options->seed % 3];
  size_t longer = (options->rows > options->cols ? options->rows : options->cols) - 1;
  size_t shorter = (options->rows < options->cols ? options->rows : options->cols) - 1;
  double k = (double)shorter;
  double h = 1.0 / (double)longer;
  double a = k * h;

  problem->name = harmonic->name;
  problem->solution = harmonic->solution;
  problem->h = h;
  problem->omega = options->omega > 0.0 ? options->omega : best_omega(options);
  problem->residual_max = 2.0 * options->tolerance / (k * k);
  problem->bound_discretisation = h * h * harmonic->derivative_max * a * a / 48.0;
  /* Three additions make an average, wrong by less than 4 units in the last place of the largest
   * value; through the first statement of problem.h this becomes an error of the answer. The
   * values of u themselves are wrong by a few units, too.                                        */
  double rounding = 4.0 * DBL_EPSILON * harmonic->value_max;
  problem->bound_rounding = rounding * (k * k / 2.0 + 4.0);
  cut_strips(problem, options);

  /* Each step of the over-relaxation leaves a rounding error that dies down the more slowly the
   * closer the factor is to 2; the corrections never become smaller than this noise. The 24 is
   * measured: with it, square grids of 51 to 801 points reach the finest tolerance allowed.      */
  double noise = 24.0 * DBL_EPSILON * harmonic->value_max / sqrt(2.0 - problem->omega);
  double finest = 2.0 * noise * k * k;
  if (options->tolerance < finest) {
    fprintf(stderr,
            "pde-solver: --tolerance %g: on a grid of %zux%zu rounding allows no less than %.2g\n",
            options->tolerance, options->rows, options->cols, finest);
    return false;
  }
  return true;
}

static double solution_at(const struct pde_problem *problem, size_t row, size_t col) {
  return problem->solution((double)col * problem->h, (double)row * problem->h);
}

void pde_problem_fill(const struct pde_problem *problem, const struct pde_options *options,
                      pde_point *points) {
  size_t rows = options->rows;
  size_t cols = options->cols;
  double sum = 0.0;
  for (size_t row = 0; row < rows; row++) {
    bool outer_row = row == 0 || row == rows - 1;
    for (size_t col = 0; col < cols; col += outer_row ? 1 : cols - 1) {
      double value = solution_at(problem, row, col);
      sum += value;
      atomic_init(&points[row * cols + col], value);
    }
  }
  double mean = sum / (double)(2 * (rows + cols) - 4);
  for (size_t row = 1; row < rows - 1; row++) {
    for (size_t col = 1; col < cols - 1; col++) {
      atomic_init(&points[row * cols + col], mean);
    }
  }
}

static double value_at(const pde_point *point) {
  return atomic_load_explicit(point, memory_order_relaxed);
}

void pde_problem_check(const struct pde_problem *problem, const struct pde_options *options,
                       const pde_point *points, double *ret_residual, double *ret_error) {
  size_t cols = options->cols;
  double residual = 0.0;
  double error = 0.0;
  for (size_t row = 1; row < options->rows - 1; row++) {
    for (size_t col = 1; col < cols - 1; col++) {
      const pde_point *here = points + row * cols + col;
      double average = 0.25 * ((value_at(here - 1) + value_at(here + 1)) +
                               (value_at(here - cols) + value_at(here + cols)));
      residual = fmax(residual, fabs(average - value_at(here)));
      error = fmax(error, fabs(solution_at(problem, row, col) - value_at(here)));
    }
  }
  *ret_residual = residual;
  *ret_error = error;
}
