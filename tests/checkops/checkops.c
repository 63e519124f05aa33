/* Every node variant against the general node, on random input; and both against the clock.
 *
 *     checkops [--random N] [--seed S] [--only PART]     N streams for each variant (200); TAP
 *     checkops --selftest                            something is put wrong each time: all must fail
 *     checkops --time [ROWS] [--only PART]               nanoseconds an input row (1,000,000 rows)
 *
 * A stream is pushed into two networks, as it came, in batches of any size with checkpoints between, and
 * what is there at `forever` must be the same, row for row and mark for mark. What comes out has to keep to
 * what holds on every arc (engine/README.md): no row starts before a checkpoint that has gone out,
 * nothing closes that is not open. A difference is printed with the seed that shows it again.
 *
 * With --time the variants run over plain rows, in full batches; medians of 5. Variants that a general
 * node cannot follow (it keeps everything, or tries all with all) run over less.                    */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tests/checkops/checkops.h"

enum { RUNS = 5, STREAM_ROWS = 180 };

static bool selftest; /* the mark of one row is turned round */

/* --- what comes out */

struct outcome {
  struct net_rows rows;
  uint64_t *ids; /* of those that are open; else 0 */
  size_t id_capacity, open;
  net_chronon checkpoint;
  bool keeps; /* the rows; else they are counted */
  size_t count;
  const char *broken; /* what does not hold on the arc; NULL: all does */
};

static void close_row(struct outcome *outcome, const union net_slot *row, uint8_t marks,
                      uint64_t id) {
  const struct net_layout *layout = outcome->rows.layout;
  size_t at = outcome->rows.count;
  while (at > 0 && outcome->ids[at - 1] != id) at--;
  if (at-- == 0) {
    outcome->broken = "a row closes what is not open";
    return;
  }
  union net_slot *open = net_rows_row(&outcome->rows, at);
  if (!net_row_same_identity(layout, open, row) ||
      ((outcome->rows.marks[at] ^ marks) & NET_DEFINITE))
    outcome->broken = "a close differs from what it closes";
  memcpy(open, row, layout->slot_count * sizeof *row);
  if (!net_row_is_open(layout, row)) outcome->ids[at] = 0;
}

static enum base_status on_batch(void *context, const struct net_batch *batch) {
  struct outcome *outcome = context;
  outcome->count += batch->count;
  for (uint32_t i = 0; i < batch->count && !batch->plain; i++)
    outcome->count -= (net_batch_marks(batch, i) & NET_CLOSES) != 0;
  for (uint32_t i = 0; i < batch->count && outcome->keeps; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    uint64_t id = net_batch_id(batch, i);
    if (marks & NET_CLOSES) {
      close_row(outcome, row, marks, id);
      continue;
    }
    if (row[0].i < outcome->checkpoint) outcome->broken = "a row starts before the checkpoint";
    if (net_row_is_open(batch->layout, row) != (id != 0) && batch->layout->may_be_open)
      outcome->broken = "an open row has no id, or a whole one has";
    base_grow(&outcome->ids, &outcome->id_capacity, outcome->rows.count + 1, sizeof *outcome->ids);
    outcome->ids[outcome->rows.count] = id;
    net_rows_add_copy(&outcome->rows, row, marks & NET_DEFINITE);
  }
  if (batch->checkpoint > outcome->checkpoint) outcome->checkpoint = batch->checkpoint;
  return BASE_OK;
}

/* --- a network */

struct machine {
  struct base_arena *arena;
  struct base_strings *strings;
  struct base_diag_sink diags;
  struct build build;
  struct outcome outcome;
};

static bool on_reject(void *context, const struct net_node *node, enum net_eval_error error,
                      const struct net_layout *layout, const union net_slot *row) {
  (void)context, (void)node, (void)error, (void)layout, (void)row;
  return true;
}

static const struct net_layout *input_layout(struct base_arena *arena, enum net_tuple_class class) {
  static const struct net_field fields[DOMAINS] = {{.name = "k", .type = {NET_INTEGER, 8}},
                                                   {.name = "x", .type = {NET_INTEGER, 8}},
                                                   {.name = "y", .type = {NET_FLOAT, 8}}};
  return net_layout_new(arena, class, fields, DOMAINS);
}

/* Joins keep so many rows YOUNG (net_network_set_young). */
static void machine_init(struct machine *machine, const struct variant *variant, bool general,
                         size_t young) {
  static const char *const names[2] = {"a", "b"};
  *machine = (struct machine){.arena = base_arena_new(), .strings = base_strings_new()};
  base_diag_sink_init(&machine->diags);
  struct build *build = &machine->build;
  build->network = net_network_new(machine->strings, NET_TIMELINE_ABSTRACT, &machine->diags);
  net_network_on_reject(build->network, on_reject, NULL);
  if (general) net_network_set_general(build->network);
  net_network_set_young(build->network, young);
  build->arena = machine->arena;
  build->strings = machine->strings;
  build->general = general;
  for (unsigned i = 0; i < variant->inputs; i++) {
    build->layouts[i] = input_layout(machine->arena, variant->classes[i]);
    build->inputs[i] = net_create_access(build->network, names[i], build->layouts[i], NULL, false);
  }
  struct net_node *result = variant->build(build, variant);
  net_rows_init(&machine->outcome.rows, net_node_layout(result));
  machine->outcome.checkpoint = NET_BEGINNING;
  struct net_node *display = net_create_display(build->network, "result", net_node_layout(result),
                                                on_batch, &machine->outcome);
  BASE_CHECK(net_link(result, display, 0) == BASE_OK, "checkops-display");
  net_freeze(build->network);
}

static void machine_done(struct machine *machine) {
  net_network_free(machine->build.network);
  net_rows_done(&machine->outcome.rows);
  free(machine->outcome.ids);
  base_diag_sink_done(&machine->diags);
  base_strings_free(machine->strings);
  base_arena_free(machine->arena);
}

static void machine_run(struct machine *machine, const struct stream *stream) {
  for (size_t i = 0; i < stream->portion_count; i++) {
    const struct portion *portion = &stream->portions[i];
    const struct net_layout *layout = machine->build.layouts[portion->input];
    struct net_batch batch = {
        .layout = layout,
        .rows = stream->rows[portion->input] + portion->first * layout->slot_count,
        .marks = stream->marks[portion->input] + portion->first,
        .count = (uint32_t)portion->count,
        .checkpoint = portion->checkpoint,
        .more = portion->more,
        .bound = NET_BEGINNING};
    BASE_CHECK(net_access_push(machine->build.inputs[portion->input], &batch) == BASE_OK,
               "checkops-push");
  }
}

static void stream_layouts(struct stream *stream, const struct variant *variant,
                           struct base_arena *arena) {
  *stream = (struct stream){.records = variant->records};
  for (unsigned i = 0; i < variant->inputs; i++)
    stream->layouts[i] = input_layout(arena, variant->classes[i]);
}

/* --- comparing */

static const struct net_rows *sorted;

static int by_content(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  int order = memcmp(net_rows_row(sorted, x), net_rows_row(sorted, y),
                     sorted->layout->slot_count * sizeof(union net_slot));
  return order != 0 ? order : sorted->marks[x] - sorted->marks[y];
}

static size_t *order_of(const struct net_rows *rows) {
  size_t *order = base_xcalloc(rows->count + 1, sizeof *order);
  for (size_t i = 0; i < rows->count; i++) order[i] = i;
  sorted = rows;
  qsort(order, rows->count, sizeof *order, by_content);
  return order;
}

static void print_row(const char *whose, const struct net_rows *rows, size_t index) {
  const union net_slot *row = net_rows_row(rows, index);
  printf("#   %s", whose);
  for (uint32_t i = 0; i < rows->layout->slot_count; i++) {
    if (row[i].i == NET_OPEN) {
      printf(" open");
    } else if (row[i].i == NET_FOREVER) {
      printf(" forever");
    } else if (row[i].i > 1 << 30 || row[i].i < -(1 << 30)) {
      printf(" %.17g", row[i].f);
    } else {
      printf(" %" PRId64, row[i].i);
    }
  }
  printf("%s\n", rows->marks[index] & NET_DEFINITE ? "" : " omega");
}

/* Are A and B the same set of rows? If not, says in what they differ first. */
static bool same(const struct net_rows *a, const struct net_rows *b) {
  size_t *first = order_of(a), *second = order_of(b);
  size_t count = a->count < b->count ? a->count : b->count, i = 0;
  while (i < count &&
         memcmp(net_rows_row(a, first[i]), net_rows_row(b, second[i]),
                a->layout->slot_count * sizeof(union net_slot)) == 0 &&
         a->marks[first[i]] == b->marks[second[i]])
    i++;
  bool equal = a->count == b->count && i == count;
  if (!equal) {
    printf("#   %zu rows, in the general way %zu; the first of either that differs:\n", a->count,
           b->count);
    if (i < a->count) print_row("variant", a, first[i]);
    if (i < b->count) print_row("general", b, second[i]);
  }
  free(first);
  free(second);
  return equal;
}

/* One stream through VARIANT in both ways. */
static bool check(const struct variant *variant, uint64_t seed, size_t *rows) {
  static const char *const manners[MANNERS] = {"plain", "mixed", "unsure"};
  struct machine fast, general;
  struct stream stream;
  enum manner manner = (enum manner)(seed % MANNERS);
  static const size_t young[] = {NET_YOUNG_ROWS, 0, 5, 40};
  machine_init(&fast, variant, false, young[base_hash_u64(seed, 0) % 4]);
  machine_init(&general, variant, true, young[base_hash_u64(seed, 1) % 4]);
  fast.outcome.keeps = general.outcome.keeps = true;
  stream_layouts(&stream, variant, fast.arena);
  stream_random(&stream, seed, manner, STREAM_ROWS);
  machine_run(&fast, &stream);
  if (variant->define != NULL)
    variant->define(&stream, variant, &general.outcome.rows);
  else
    machine_run(&general, &stream);
  const char *broken = fast.outcome.broken ? fast.outcome.broken : general.outcome.broken;
  *rows += fast.outcome.rows.count;
  if (selftest && fast.outcome.rows.count > 0)
    fast.outcome.rows.marks[seed % fast.outcome.rows.count] ^= NET_DEFINITE;
  bool good = broken == NULL && same(&fast.outcome.rows, &general.outcome.rows);
  if (broken != NULL)
    printf("#   %s%s\n", broken, fast.outcome.broken ? "" : ", in the general way");
  if (!good)
    printf("#   %s input; again by: --random 1 --seed %" PRIu64 " --only '%s'\n", manners[manner],
           seed, variant->name);
  stream_done(&stream);
  machine_done(&fast);
  machine_done(&general);
  return good;
}

static bool check_all(const struct variant *variant, size_t number, uint64_t count, uint64_t seed) {
  uint64_t bad = 0;
  size_t rows = 0;
  for (uint64_t i = 0; i < count && bad < 3; i++) bad += !check(variant, seed + i, &rows);
  if (rows == 0 && count >= 10) bad++; /* nothing came out, nothing was checked */
  if (selftest) bad = bad == 0;
  printf("%s %zu - %s, %zu rows\n", bad == 0 ? "ok" : "not ok", number, variant->name, rows);
  fflush(stdout);
  return bad == 0;
}

/* --- the clock */

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t run_once(const struct variant *variant, const struct stream *stream, bool general,
                        size_t *ret_count) {
  struct machine machine;
  machine_init(&machine, variant, general, NET_YOUNG_ROWS);
  int64_t began = base_env_monotonic();
  machine_run(&machine, stream);
  int64_t took = base_env_monotonic() - began;
  *ret_count = machine.outcome.count;
  machine_done(&machine);
  return took;
}

static bool time_variant(const struct variant *variant, size_t rows) {
  int64_t fast[RUNS], general[RUNS];
  size_t fast_count = 0, general_count = 0;
  struct stream stream;
  struct base_arena *arena = base_arena_new();
  if (variant->share > 0) rows /= variant->share;
  if (rows < 1000) rows = 1000;
  stream_layouts(&stream, variant, arena);
  stream_regular(&stream, rows, variant->live > 0 ? variant->live : 1);
  for (size_t i = 0; i < RUNS; i++) {
    fast[i] = run_once(variant, &stream, false, &fast_count);
    general[i] = variant->define == NULL ? run_once(variant, &stream, true, &general_count) : 0;
  }
  qsort(fast, RUNS, sizeof *fast, compare);
  qsort(general, RUNS, sizeof *general, compare);
  double inputs = (double)rows * variant->inputs;
  double each = (double)fast[RUNS / 2] / inputs, other = (double)general[RUNS / 2] / inputs;
  printf("%-36s %9zu %9zu %10.1f", variant->name, rows * variant->inputs, fast_count, each);
  if (variant->define == NULL) {
    printf(" %12.1f %8.1f%s\n", other, other / each,
           fast_count == general_count ? "" : "  DIFFERS");
  } else {
    printf(" %12s %8s\n", "-", "-");
  }
  fflush(stdout);
  stream_done(&stream);
  base_arena_free(arena);
  return variant->define != NULL || fast_count == general_count;
}

int main(int argc, char **argv) {
  uint64_t random = 200, seed = 1, rows = 1000000;
  const char *only = NULL;
  bool timing = false, good = true;
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--random")) {
      random = strtoull(value, NULL, 10);
      i++;
    } else if (!strcmp(argv[i], "--seed")) {
      seed = strtoull(value, NULL, 10);
      i++;
    } else if (!strcmp(argv[i], "--only")) {
      only = value;
      i++;
    } else if (!strcmp(argv[i], "--selftest")) {
      selftest = true;
    } else if (!strcmp(argv[i], "--time")) {
      timing = true;
      if (value[0] >= '0' && value[0] <= '9') rows = strtoull(argv[++i], NULL, 10);
    } else {
      fprintf(stderr, "checkops: there is no option %s\n", argv[i]);
      return 2;
    }
  }
  size_t number = 0;
  base_env_use_processor_clock();
  if (timing)
    printf("%-36s %9s %9s %10s %12s %8s\n", "variant", "rows in", "rows out", "ns a row",
           "general, ns", "ratio");
  for (size_t i = 0; i < variant_count; i++) {
    if (only != NULL && strstr(variants[i].name, only) == NULL) continue;
    bool ok =
        timing ? time_variant(&variants[i], rows) : check_all(&variants[i], ++number, random, seed);
    good = good && ok;
  }
  if (!timing) printf("1..%zu\n", number);
  return good ? 0 : 1;
}
