/* What monitoring takes: of each program the part of its processor time that its sensors take, of collectors and the
 * server what they take themselves (thesis 4.5 and 8.3.2).
 *
 * A sensor takes as often as it makes a record what one costs, which programs measure of some. A program's own processor
 * time is what the collector sees of it. Sensors that are off are in no account: they cost less than can be measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/printable.h"
#include "tquel/session/control/control.h"
#include "tquel/session/session_impl.h"

/* Of a process, ns of processor time a second. */
struct share {
  const char *process, *what;
  double sensors, all;
};

struct shares {
  struct share *items;
  size_t count, capacity;
};

static bool is_of_process(const struct tql_sensor_report *report) {
  return report->cells[TQL_SENSOR_RELATION][0] == '\0';
}

static double number(const struct tql_sensor_report *report, int cell) {
  return strtod(report->cells[cell], NULL);
}

static int by_process(const void *a, const void *b) {
  const struct share *x = a, *y = b;
  return strcmp(x->process, y->process);
}

/* One of each row of REPORTS. */
static void take(struct shares *shares, const struct tql_sensor_report *reports, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct tql_sensor_report *report = &reports[i];
    if (report->cells[TQL_SENSOR_OBJECT][0] != '\0') continue; /* those of its process are all */
    struct share share = {.process = report->cells[TQL_SENSOR_PROCESS]};
    if (is_of_process(report)) {
      share.what = report->cells[TQL_SENSOR_STATE];
      share.all = number(report, TQL_SENSOR_COST);
    } else {
      share.sensors = number(report, TQL_SENSOR_RATE) * number(report, TQL_SENSOR_COST);
    }
    base_grow(&shares->items, &shares->capacity, shares->count + 1, sizeof *shares->items);
    shares->items[shares->count++] = share;
  }
}

/* One of each process, in the order of their names. */
static void sum(struct shares *shares) {
  size_t kept = 0;
  if (shares->count > 0) qsort(shares->items, shares->count, sizeof *shares->items, by_process);
  for (size_t i = 0; i < shares->count; i++) {
    struct share *from = &shares->items[i], *to = kept > 0 ? &shares->items[kept - 1] : NULL;
    if (to == NULL || strcmp(to->process, from->process) != 0) {
      shares->items[kept++] = *from;
      continue;
    }
    to->sensors += from->sensors;
    to->all += from->all;
    if (from->what != NULL) to->what = from->what;
  }
  shares->count = kept;
}

static bool is_program(const struct share *share) {
  return share->what != NULL && strcmp(share->what, "program") == 0;
}

/* To what it would take without them. INFINITY: by what was measured of some records they take all of it, which is more
 * than there is where it was measured of few, or at another time than what the program takes. */
static double overhead(const struct share *share) {
  double rest = share->all - share->sensors;
  if (!is_program(share)) return 0;
  return rest > 0 ? share->sensors / rest : (double)INFINITY;
}

/* Programs by their overhead, then collectors and the server. */
static int by_overhead(const void *a, const void *b) {
  double x = overhead(a), y = overhead(b);
  if (is_program(a) != is_program(b)) return is_program(a) ? -1 : 1;
  if (x != y) return x > y ? -1 : 1;
  return by_process(a, b);
}

static void put_share(struct base_buffer *out, const struct share *share) {
  base_buffer_puts(out, "overhead: ");
  base_buffer_printable(out, share->process, strlen(share->process));
  double percent = 100 * overhead(share);
  if (isinf(percent)) {
    base_buffer_puts(out, " most of");
  } else if (is_program(share)) {
    base_buffer_printf(out, percent < 10 ? " %.2g%%" : " %.0f%%", percent);
    base_buffer_printf(out, ", %.3g of", share->sensors / 1e6);
  }
  base_buffer_printf(out, " %.3g ms of processor time a second\n", share->all / 1e6);
}

void session_put_overhead(const struct tql_sensor_report *reports, size_t count,
                          struct base_buffer *out) {
  struct shares shares = {0};
  bool any = false;
  take(&shares, reports, count);
  sum(&shares);
  for (size_t i = 0; i < shares.count; i++) any |= shares.items[i].sensors > 0;
  if (any) qsort(shares.items, shares.count, sizeof *shares.items, by_overhead);
  for (size_t i = 0; any && i < shares.count; i++) {
    const struct share *share = &shares.items[i];
    if (share->what == NULL || share->all <= 0) continue;
    if (!is_program(share) || share->sensors > 0) put_share(out, share);
  }
  free(shares.items);
}
