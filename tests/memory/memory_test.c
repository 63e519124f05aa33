/* What running costs in memory. Prints TAP.
 *
 *     memory_test steady [TUPLES]    nothing is allocated per tuple: as many tuples again as before, over
 *                                    the same number of live ones, and hardly an allocation more
 *     memory_test held [LIVE]        bytes that a network holds for each row that it keeps are at most so
 *                                    many times those of the row, and nodes say of themselves what is true
 *     memory_test constant FEW MANY  the queries of thesis 3.7: FEW and MANY records through them, each in
 *                                    a process of its own, have the same peak of resident memory
 *
 * malloc and its like are wrapped by the linker (--wrap), so that what this program and the libraries that
 * it is made of allocate is counted, and nothing else has to know.                                  */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/memory/world.h"

static uint64_t allocations;
static int64_t held; /* bytes */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *memory);

static void *note(void *memory) {
  allocations++;
  held += (int64_t)malloc_usable_size(memory);
  return memory;
}

void *__wrap_malloc(size_t size) {
  return note(__real_malloc(size));
}
void *__wrap_calloc(size_t count, size_t size) {
  return note(__real_calloc(count, size));
}
void *__wrap_realloc(void *old, size_t size) {
  held -= old != NULL ? (int64_t)malloc_usable_size(old) : 0;
  return note(__real_realloc(old, size));
}
void __wrap_free(void *memory) {
  held -= memory != NULL ? (int64_t)malloc_usable_size(memory) : 0;
  __real_free(memory);
}

/* --- the networks */

static const struct shape shapes[] = {
    {"selection", "retrieve (e.x) where e.x > 10 and e.k != 3", WHOLE, false},
    {"projection and apply", "retrieve (z = e.x * 2 + 1, w = e.y / 4)", WHOLE, false},
    {"projection of open periods", "retrieve (p.x)", OPEN, false},
    {"apply and selection by a stop", "retrieve (p.x) where span(p) > 50", OPEN, false},
    {"join of events and periods", "retrieve (e.x, y = p.x) where e.k = p.k", WHOLE, false},
    {"join of periods", "retrieve (p.x, y = q.x) where p.k = q.k and p.x < q.x", WHOLE, false},
    {"join of open periods", "retrieve (p.x, y = q.x) where p.k = q.k and p.x < q.x", OPEN, false},
    {"product of periods", "retrieve (p.k, l = q.k)", WHOLE, false},
    {"closest",
     "set sequence closest retrieve (e.k, e.x, y = f.x) where e.k = f.k start e stop f when e ; f",
     WHOLE, false},
    {"distinct",
     "set sequence distinct retrieve (e.k, y = f.x) where e.k = f.k start e stop f when e ; f",
     WHOLE, false},
    {"PDE",
     "retrieve AOverB (d = u.x - t.x) where t.k = 1 and u.k = 2 and t.x > u.x + 1 "
     "retrieve (Percent = avgc(d) * 100) "
     "retrieve where t.k = 1 and u.k = 2 and t.x = u.x when t , u.start at u.start",
     WHOLE, false},
    {"traced by entity", "retrieve (t.k, t.x)", WHOLE, false},
    {"count", "retrieve (p.k, n = count(p.x by p.k))", WHOLE, false},
    {"count of open periods", "retrieve (n = count(p))", OPEN, false},
    {"sum", "retrieve (n = sum(p.x))", WHOLE, false},
    {"avg", "retrieve (n = avg(p.y))", WHOLE, false},
    {"min", "retrieve (n = min(p.x))", WHOLE, false},
    {"several functions", "retrieve (n = count(p), s = sum(p.x), m = max(p.x))", WHOLE, false},
    {"max by group", "retrieve (p.k, n = max(p.x by p.k))", WHOLE, false},
    {"countu", "retrieve (n = countu(p.x))", WHOLE, false},
    {"stdev", "retrieve (n = stdev(p.y))", WHOLE, false},
    {"first", "retrieve (n = first(p.x))", WHOLE, false},
    {"cumulative count", "retrieve (n = countc(e.x))", WHOLE, false},
    {"cumulative sum", "retrieve (n = sumc(e.y))", WHOLE, false},
    {"count in a window", "retrieve (n = count(e.x for each 50))", WHOLE, false},
    {"coalesced", "retrieve coalesced (p.k)", WHOLE, false},
    {"credibility 0", "range of c is P with credibility 0 retrieve (c.x)", OPEN, false},
    {"product of three", "retrieve (e.x, y = p.x, z = q.x) where e.k = p.k and p.k = q.k", WHOLE,
     false},
    {"full product, within", "retrieve (e.x, y = f.x) where e.k = f.k when e ; within 50 f at f",
     WHOLE, false},
    {"full product, partial overlap",
     "retrieve (p.x, y = e.x) where e.k = p.k when p , e or e ; within 9 p at e", WHOLE, false},
    {"events of periods", "retrieve (p.x) at p.start", WHOLE, false},
    {"stops of open periods", "retrieve (p.x) at p.stop", OPEN, false},
    {"temporal value, cut", "retrieve (p.k, d = duration(p)) where duration(p) >= 20", WHOLE,
     false},
    {"cut of open periods", "retrieve (p.k, d = duration(p)) where duration(p) >= 20", OPEN, false},
    {"count of what is cut", "retrieve (n = count(p where duration(p) > 20))", WHOLE, false},
    {"strings", "retrieve (s = concat(ascii(e.k), ascii(e.x)))", WHOLE, false},
    {"join by strings", "retrieve (e.x, y = p.x) where ascii(e.k) = ascii(p.k)", WHOLE, false},
    {"any", "retrieve (n = any(p where p.x > 990))", WHOLE, false},
    {"last by group", "retrieve (p.k, n = last(p.x by p.k))", WHOLE, false},
    {"sumu", "retrieve (n = sumu(p.x))", WHOLE, false},
    {"avgc by group", "retrieve (p.k, n = avgc(p.x by p.k))", WHOLE, false},
    {"cumulative maximum", "retrieve (n = maxc(e.x))", WHOLE, false},
    {"cumulative, unique", "retrieve (n = countu(e.x for ever))", WHOLE, false},
    {"maximum in a window", "retrieve (n = max(e.x for each 50))", WHOLE, false},
    {"minimum in a window by group", "retrieve (e.k, n = min(e.x by e.k for each 50))", WHOLE,
     false},
    {"sum of periods in a window", "retrieve (n = sum(p.y for each 50))", WHOLE, false},
    {"unique in a window", "retrieve (n = countu(e.x for each 50))", WHOLE, false},
    {"varts in a window", "retrieve (n = varts(e for each 50))", WHOLE, false},
    {"extendc", "retrieve (e.k, n = extendc(e.x by e.k))", WHOLE, false},
    {"aggregate at an event", "retrieve (e.x, n = count(p)) at e", WHOLE, false},
    {"greatest of all", "retrieve (p.k) where p.x = max(p.x)", WHOLE, false},
    {"coalesced open periods", "retrieve coalesced (p.k)", OPEN, false},
    {"uncertain selection", "retrieve (e.x) where e.x > 10 when e , 1 extend 1000000", UNSURE,
     false},
    {"uncertain join", "retrieve (e.x, y = p.x) where e.k = p.k", UNSURE, false},
    {"uncertain join of periods", "retrieve (p.x, y = q.x) where p.k = q.k", UNSURE, false},
    {"uncertain join of three", "retrieve (e.x, y = p.x) where e.k = p.k and p.k = q.k", UNSURE,
     false},
    {"uncertain within", "retrieve (e.x, y = f.x) where e.k = f.k when e ; within 50 f at f",
     UNSURE, false},
    {"uncertain closest",
     "set sequence closest retrieve (e.k, e.x, y = f.x) where e.k = f.k start e stop f when e ; f",
     UNSURE, false},
    {"uncertain distinct",
     "set sequence distinct retrieve (e.k, y = f.x) where e.k = f.k start e stop f when e ; f",
     UNSURE, false},
    {"uncertain count", "retrieve (n = count(p))", UNSURE, false},
    {"uncertain maximum", "retrieve (p.k, n = max(p.x by p.k))", UNSURE, false},
    {"uncertain window", "retrieve (n = count(e.x for each 50))", UNSURE, false},
    {"uncertain average", "retrieve (n = avgc(p.x))", UNSURE, false},
    {"uncertain coalesced", "retrieve coalesced (p.k)", UNSURE, false},
    {"uncertain events, credibility 0", "range of c is E with credibility 0 retrieve (c.x)", UNSURE,
     false},
    {"without rules: join", "retrieve (p.x, y = q.x) where p.k = q.k and p.x < q.x", WHOLE, true},
    {"without rules: PDE",
     "retrieve AOverB (d = u.x - t.x) where t.k = 1 and u.k = 2 and t.x > u.x + 1 "
     "retrieve (Percent = avgc(d) * 100)",
     WHOLE, true},
    {"clock", "range of c is Clock(10) retrieve (p.x) when p , c at c", WHOLE, false},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static int points, failures;

static void point(bool good, const char *text) {
  printf("%sok %d - %s\n", good ? "" : "not ", ++points, text);
  failures += !good;
}

/* --- nothing is allocated per tuple */

/* Live tuples come and go: a table may still find that it is as full as never before. */
enum { LIVE = 100, ONCE_MORE = 40 };

static void steady(const struct shape *shape, uint64_t tuples, uint32_t batch_rows) {
  struct machine *machine = machine_new(shape, LIVE, batch_rows);
  machine_run(machine, tuples);
  uint64_t before = allocations;
  int64_t bytes = held;
  machine_run(machine, tuples);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s, in batches of %u: %llu allocations and %+lld bytes in %llu tuples",
                     shape->name, batch_rows, (unsigned long long)(allocations - before),
                     (long long)(held - bytes), (unsigned long long)tuples);
  bool works = machine_results(machine) > 0;
  point(works && allocations - before <= ONCE_MORE, base_buffer_text(&text));
  if (!works) printf("# there are no results\n");
  base_buffer_done(&text);
  machine_free(machine);
}

/* --- what is held for a row */

/* Bytes for each row that is kept, as a multiple of the bytes of such a row, with LIVE as many as fill an
 * array that has just been doubled. README.md says what they are made of.                          */
static const struct {
  const char *shape;
  double most;
} limits[] = {
    {"projection of open periods", 2.0},
    {"apply and selection by a stop", 1.8},
    {"join of events and periods", 1.8},
    {"join of periods", 1.8},
    {"count", 2.0},
    {"count of open periods", 2.0},
    {"sum", 1.6},
    {"avg", 1.6},
    {"min", 1.6},
    {"several functions", 2.0},
    {"stdev", 1.6},
    {"first", 2.0},
    {"credibility 0", 2.0},
    {"product of periods", 1.8},
    {"full product, partial overlap", 1.9},
    {"stops of open periods", 2.0},
    {"cut of open periods", 1.5},
    {"join by strings", 1.7},
    {"max by group", 2.0},
    {"countu", 1.6},
    {"avgc by group", 1.2},
    {"greatest of all", 2.0},
    {"uncertain join", 1.8},
    {"uncertain join of periods", 1.8},
    {"uncertain count", 2.1},
    {"uncertain average", 1.8},
    /* more than twice: README.md */
    {"last by group", 2.2},
    {"uncertain maximum", 2.4},
    {"count of what is cut", 2.5},
    {"coalesced open periods", 2.7},
    {"sum of periods in a window", 2.8},
    {"join of open periods", 4.0},
    {"distinct", 5.2},
};

static void print_nodes(const struct net_network *network) {
  for (const struct net_node *node = net_network_first(network); node != NULL;
       node = net_node_next(node)) {
    struct net_node_stats stats = net_node_stats(node);
    if (stats.state_bytes == 0) continue;
    printf("#   %s: %llu rows, %llu bytes\n", net_node_info(stats.kind)->name,
           (unsigned long long)stats.state_rows, (unsigned long long)stats.state_bytes);
  }
}

static void held_for_rows(const struct shape *shape, uint64_t live) {
  size_t limit = 0, count = sizeof limits / sizeof limits[0];
  while (limit < count && strcmp(limits[limit].shape, shape->name) != 0) limit++;
  if (limit == count) return; /* it keeps a few rows, however many are live */
  struct machine *machine = machine_new(shape, live, 64);
  machine_run(machine, 1);
  int64_t before = held;
  machine_run(machine, live * 3);
  struct machine_state state = machine_state(machine);
  double bytes = (double)(held - before), each = bytes / (double)state.rows;
  double said = (double)state.bytes / bytes;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: %.0f bytes for each of %llu rows of %u, %.1f times; %.2f is said",
                     shape->name, each, (unsigned long long)state.rows, state.row_bytes,
                     each / state.row_bytes, said);
  point(each <= limits[limit].most * state.row_bytes && said > 0.9 && said < 1.1,
        base_buffer_text(&text));
  base_buffer_done(&text);
  print_nodes(machine_network(machine));
  machine_free(machine);
}

/* --- the peak */

static long peak_of(const struct shape *shape, uint64_t tuples) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    struct machine *machine = machine_new(shape, LIVE, 1024);
    machine_run(machine, tuples);
    _exit(machine_results(machine) > 0 ? 0 : 1);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) return -1;
  return usage.ru_maxrss;
}

static void constant(const struct shape *shape, uint64_t few, uint64_t many) {
  long before = peak_of(shape, few), after = peak_of(shape, many);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: %ld KiB at most for %llu tuples, %ld for %llu", shape->name,
                     before, (unsigned long long)few, after, (unsigned long long)many);
  point(before > 0 && after > 0 && after <= before + 256, base_buffer_text(&text));
  base_buffer_done(&text);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  uint64_t second = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
  const char *only = getenv("SHAPE");
  for (size_t i = 0; i < SHAPES; i++) {
    if (only && strcmp(only, shapes[i].name)) continue;
    if (strcmp(what, "steady") == 0) {
      steady(&shapes[i], first ? first : 100000, 1024);
      steady(&shapes[i], first ? first / 10 : 10000, 1);
    } else if (strcmp(what, "held") == 0) {
      held_for_rows(&shapes[i], first ? first : 2100);
    } else if (strcmp(shapes[i].name, "PDE") == 0) {
      constant(&shapes[i], first, second);
    }
  }
  printf("1..%d\n", points);
  return failures > 0;
}
