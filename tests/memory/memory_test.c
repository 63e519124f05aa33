/* What running costs in memory. Prints TAP.
 *
 *     memory_test steady [TUPLES [BY-ONE]]
 *                                    nothing is allocated per tuple: as many tuples again as before, over
 *                                    the same number of live ones, and hardly an allocation more; BY-ONE in
 *                                    batches of one row
 *     memory_test held [LIVE]        bytes that a network holds for each row that it keeps are at most so
 *                                    many times those of the row, and nodes say of themselves what is true
 *     memory_test burst [COUNT]      what many rows that were there together have needed is given back when
 *                                    they have gone and others have come, few at a time
 *     memory_test constant FEW MANY  the queries of thesis 3.7: FEW and MANY records through them, each in
 *                                    a process of its own, have the same peak of the heap (not of what is resident:
 *                                    that has pages of the program, too, as the machine happens to hold them)
 *
 * malloc and its like are wrapped by the linker (--wrap), so that what this program and the libraries that
 * it is made of allocate is counted, and nothing else has to know.                                  */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/amount.h"
#include "tests/memory/world.h"

static uint64_t allocations;
static int64_t held, most_held; /* bytes */

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
  if (held > most_held) most_held = held;
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
    {"distinct within",
     "set sequence distinct retrieve (e.x, y = f.x) start e stop f when e ; within 50 f", WHOLE,
     false},
    {"overlap within",
     "retrieve (p.x, y = q.x) when p , q and p.start ; within 5 q.start at q.start", WHOLE, false},
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
    {"uncertain distinct within",
     "set sequence distinct retrieve (e.x, y = f.x) start e stop f when e ; within 50 f", UNSURE,
     false},
    {"uncertain count", "retrieve (n = count(p))", UNSURE, false},
    {"uncertain maximum", "retrieve (p.k, n = max(p.x by p.k))", UNSURE, false},
    {"uncertain window", "retrieve (n = count(e.x for each 50))", UNSURE, false},
    {"uncertain average", "retrieve (n = avgc(p.x))", UNSURE, false},
    {"uncertain coalesced", "retrieve coalesced (p.k)", UNSURE, false},
    {"uncertain events, credibility 0", "range of c is E with credibility 0 retrieve (c.x)", UNSURE,
     false},
    {"count, no two alike", "retrieve (n = count(p))", UNLIKE, false},
    {"minimum, no two alike", "retrieve (n = min(p.x))", UNLIKE, false},
    {"as many groups as tuples", "retrieve (p.x, n = count(p.y by p.x))", UNLIKE, false},
    {"as many keys as tuples", "retrieve (e.x, y = p.x) where e.x = p.x", UNLIKE, false},
    {"as many keys, periods", "retrieve (p.x, y = q.x) where p.x = q.x", UNLIKE, false},
    {"first, no two alike", "retrieve (n = first(p.x))", UNLIKE, false},
    {"last by group, no two alike", "retrieve (p.k, n = last(p.x by p.k))", UNLIKE, false},
    {"uncertain first", "retrieve (n = first(p.x))", UNSURE, false},
    {"uncertain last by group", "retrieve (p.k, n = last(p.x by p.k))", UNSURE, false},
    {"uncertain first, no two alike", "retrieve (n = first(p.x))", BOTH, false},
    {"uncertain last by group, no two alike", "retrieve (p.k, n = last(p.x by p.k))", BOTH, false},
    {"varts of periods", "retrieve (n = varts(p))", UNLIKE, false},
    {"avgti of periods", "retrieve (n = avgti(p.x))", UNLIKE, false},
    {"uncertain varts of periods", "retrieve (n = varts(p))", BOTH, false},
    {"last of open periods", "retrieve (n = last(p.x))", OPEN, false},
    {"maximum of open periods", "retrieve (n = max(p.x))", OPEN, false},
    {"sum of open periods by group", "retrieve (p.k, n = sum(p.x by p.k))", OPEN, false},
    {"sum of what is computed", "retrieve (n = sum(p.x * 2))", UNLIKE, false},
    {"maximum of what is computed", "retrieve (n = max(p.x * 2))", UNLIKE, false},
    {"sum of durations", "retrieve (n = sum(duration(p)))", UNLIKE, false},
    {"strings, smallest", "retrieve (n = min(ascii(p.x)))", UNLIKE, false},
    {"strings, counted by", "retrieve (s = ascii(p.x), n = count(p.y by ascii(p.x)))", UNLIKE,
     false},
    {"unique by two keys", "retrieve (p.k, p.y, n = countu(p.x by p.k, p.y))", UNLIKE, false},
    {"unique, no two alike", "retrieve (n = countu(p.x))", UNLIKE, false},
    {"uncertain, unique", "retrieve (n = sumu(p.x))", UNSURE, false},
    {"sum for as many groups", "retrieve (p.x, n = sum(p.k by p.x))", UNLIKE, false},
    {"maximum for as many groups", "retrieve (p.x, n = max(p.y by p.x))", UNLIKE, false},
    {"last for as many groups", "retrieve (p.x, n = last(p.y by p.x))", UNLIKE, false},
    {"several for as many groups",
     "retrieve (p.x, n = count(p by p.x), m = max(p.y by p.x), s = sum(p.k by p.x))", UNLIKE,
     false},
    {"several, no two alike", "retrieve (n = min(p.x), m = max(p.x), s = sum(p.k))", UNLIKE, false},
    {"sum in a long window", "retrieve (n = sum(e.x for each 2000))", WHOLE, false},
    {"minimum in a long window", "retrieve (n = min(e.x for each 2000))", UNLIKE, false},
    {"first in a long window", "retrieve (n = first(e.x for each 2000))", WHOLE, false},
    {"unique in a long window", "retrieve (n = countu(e.x for each 2000))", UNLIKE, false},
    {"varts in a long window", "retrieve (n = varts(e for each 2000))", WHOLE, false},
    {"avgti in a long window", "retrieve (n = avgti(e.x for each 2000))", WHOLE, false},
    {"stdev of periods in a long window", "retrieve (n = stdev(p.y for each 500))", WHOLE, false},
    {"uncertain long window", "retrieve (n = max(e.x for each 2000))", UNSURE, false},
    {"uncertain varts in a long window", "retrieve (n = varts(e for each 2000))", UNSURE, false},
    {"uncertain stdev", "retrieve (n = stdev(p.y))", UNSURE, false},
    {"uncertain sum of durations", "retrieve (n = sum(duration(p)))", UNSURE, false},
    {"cut of open periods without their length", "retrieve (p.k) where duration(p) >= 20", OPEN,
     false},
    {"cut of open periods, length alone", "retrieve (d = duration(p)) where duration(p) >= 20",
     OPEN, false},
    {"count of open periods that are cut", "retrieve (n = count(p where duration(p) > 20))", OPEN,
     false},
    {"strings, no two alike", "retrieve (s = ascii(p.x), y = q.x) where ascii(p.x) = ascii(q.x)",
     UNLIKE, false},
    {"traced by as many entities", "retrieve (t.k, t.x)", UNLIKE, false},
    {"without rules: join", "retrieve (p.x, y = q.x) where p.k = q.k and p.x < q.x", WHOLE, true},
    {"without rules: PDE",
     "retrieve AOverB (d = u.x - t.x) where t.k = 1 and u.k = 2 and t.x > u.x + 1 "
     "retrieve (Percent = avgc(d) * 100)",
     WHOLE, true},
    {"clock", "range of c is Clock(10) retrieve (p.x) when p , c at c", WHOLE, false},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

/* What holds more than twice a row (engine/nodes/README.md) gives it back all the same. */
static const struct shape holds_more = {"coalesced, no two alike", "retrieve coalesced (p.x)",
                                        UNLIKE, false};

/* Where all meet all of their key, what it takes grows with the square of what is live or its cube: outside the long
 * suite there are less of them. */
static bool is_dear(const struct shape *shape) {
  static const char *const names[] = {"join of open periods", "product of three",
                                      "uncertain join of three", "last by group, no two alike",
                                      "uncertain last by group, no two alike"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(shape->name, names[i]) == 0) return amount(1, 0) != 0;
  return false;
}

static int points, failures;

static void point(bool good, const char *text) {
  printf("%sok %d - %s\n", good ? "" : "not ", ++points, text);
  failures += !good;
}

/* --- nothing is allocated per tuple */

/* Live tuples come and go: a table may still find that it is as full as never before. */
enum { LIVE = 100, ONCE_MORE = 40, SWEEP = 8 /* of new strings */ };

static void steady(const struct shape *shape, uint64_t tuples, uint32_t batch_rows) {
  struct machine *machine = machine_new(shape, LIVE, batch_rows);
  machine_run(machine, tuples);
  uint64_t before = allocations, sweeps = machine_state(machine).sweeps;
  int64_t bytes = held;
  machine_run(machine, tuples);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s, in batches of %u: %llu allocations and %+lld bytes in %llu tuples",
                     shape->name, batch_rows, (unsigned long long)(allocations - before),
                     (long long)(held - bytes), (unsigned long long)tuples);
  bool works = machine_results(machine) > 0;
  uint64_t swept = machine_state(machine).sweeps - sweeps, most = ONCE_MORE + SWEEP * swept;
  point(works && allocations - before <= most, base_buffer_text(&text));
  if (!works) printf("# there are no results\n");
  base_buffer_done(&text);
  machine_free(machine);
}

/* --- what is held for a row */

/* What a node holds for each tuple that it keeps, as a multiple of the bytes of a row: at most twice it. With LIVE
 * as many as fill an array that has just grown. README.md says what it is made of. */
static const double most = 2.0;

/* Bytes of the widest rows that come to NODE, or leave it if none do. */
static uint32_t row_bytes(const struct net_node *node, const struct net_node_stats *stats) {
  uint32_t slots = stats->inputs[0] == NULL ? net_node_layout(node)->slot_count : 0;
  for (unsigned port = 0; port < 2; port++)
    if (stats->inputs[port] != NULL && net_node_layout(stats->inputs[port])->slot_count > slots)
      slots = net_node_layout(stats->inputs[port])->slot_count;
  return slots * (uint32_t)sizeof(union net_slot);
}

/* The node that holds most for its rows, of those that keep at least FEW. */
static double worst_node(const struct net_network *network, uint64_t few) {
  double worst = 0;
  for (const struct net_node *node = net_network_first(network); node != NULL;
       node = net_node_next(node)) {
    struct net_node_stats stats = net_node_stats(node);
    if (stats.state_bytes == 0) continue;
    uint32_t row = row_bytes(node, &stats);
    double each = (double)stats.state_bytes / ((double)stats.state_rows + 0.001);
    if (stats.state_rows >= few && each / row > worst) worst = each / row;
    printf("#   %s: %llu bytes, %.0f for each of %llu rows of %u: %.2f\n",
           net_node_info(stats.kind)->name, (unsigned long long)stats.state_bytes, each,
           (unsigned long long)stats.state_rows, row, each / row);
  }
  return worst;
}

static void held_for_rows(const struct shape *shape, uint64_t live) {
  struct machine *machine = machine_new(shape, live, 64);
  machine_run(machine, 1);
  struct machine_state first = machine_state(machine);
  int64_t before = held - (int64_t)first.string_bytes;
  machine_run(machine, live * 3);
  struct machine_state state = machine_state(machine);
  double bytes = (double)(held - (int64_t)state.string_bytes - before),
         said = (double)(state.bytes - first.bytes) / bytes;
  if (state.string_bytes > 100000)
    printf("#   strings: %llu bytes\n", (unsigned long long)state.string_bytes);
  double worst = worst_node(machine_network(machine), live / 4);
  machine_free(machine);
  if (worst == 0) return; /* they keep a few rows, however many are live */
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: a row %.2f times at most, %.0f bytes in all; %.2f is said",
                     shape->name, worst, bytes, said);
  point(worst <= most && said > 0.9 && said < 1.1, base_buffer_text(&text));
  base_buffer_done(&text);
}

/* Half of LIVE, and so many more than arrays have just grown for, too. */
static uint64_t held_live(const struct shape *shape, uint64_t live) {
  return is_dear(shape) && shape->how < UNLIKE ? live / 2 + 10 : live;
}

/* With more live, where all meet all takes too long, only shapes in which no two are alike. */
enum { MANY = 10000 };

/* --- what is held after a burst */

/* COUNT are live at once, then one is: while as many come as there were the last of the others stop, and then as many
 * come as the nodes have had rows, groups and pairs, QUIET times. */
enum { QUIET = 2, BURST_ROWS = 64 /* of a batch */, NODE_CONSTANT = 400000 /* bytes */ };

static void held_after_burst(const struct shape *shape, uint64_t count) {
  if (is_dear(shape)) count = count * 2 / 5;
  struct machine *machine = machine_new(shape, count, BURST_ROWS);
  machine_run(machine, count);
  struct machine_state before = machine_state(machine);
  machine_set_live(machine, 1);
  machine_run(machine, count + QUIET * before.rows);
  bool good = true;
  for (const struct net_node *node = net_network_first(machine_network(machine)); node != NULL;
       node = net_node_next(node)) {
    struct net_node_stats stats = net_node_stats(node);
    uint64_t bytes = 2 * stats.state_rows * row_bytes(node, &stats);
    if (stats.state_bytes <= bytes + NODE_CONSTANT) continue;
    good = false;
    printf("#   %s: %llu bytes, %llu rows\n", net_node_info(stats.kind)->name,
           (unsigned long long)stats.state_bytes, (unsigned long long)stats.state_rows);
  }
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: %llu bytes in a burst, %llu after it", shape->name,
                     (unsigned long long)before.bytes,
                     (unsigned long long)machine_state(machine).bytes);
  point(good, base_buffer_text(&text));
  base_buffer_done(&text);
  machine_free(machine);
}

/* --- the peak */

/* In KiB; -1 if it failed. Nothing is given back (M_TRIM_THRESHOLD) or mapped for itself, so the heap's size at the end is
 * what it was at most. The allocator of a sanitizer does not say it: then it is what was held. */
static long peak_of(const struct shape *shape, uint64_t tuples) {
  fflush(stdout);
  int channel[2];
  if (pipe(channel) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_MAX, 0);
    struct machine *machine = machine_new(shape, LIVE, 1024);
    machine_run(machine, tuples);
    long heap = (long)(mallinfo2().arena / 1024), peak = heap > 0 ? heap : (long)(most_held / 1024);
    _exit(machine_results(machine) > 0 && write(channel[1], &peak, sizeof peak) == sizeof peak ? 0
                                                                                               : 1);
  }
  close(channel[1]);
  int status;
  long peak;
  bool good = child > 0 && waitpid(child, &status, 0) == child && status == 0 &&
              read(channel[0], &peak, sizeof peak) == sizeof peak;
  close(channel[0]);
  return good ? peak : -1;
}

static void constant(const struct shape *shape, uint64_t few, uint64_t many) {
  long before = peak_of(shape, few), after = peak_of(shape, many);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: %ld KiB at most for %llu tuples, %ld for %llu", shape->name,
                     before, (unsigned long long)few, after, (unsigned long long)many);
  point(before > 0 && after > 0 && after <= before + 64, base_buffer_text(&text));
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
      steady(&shapes[i], second ? second : 10000, 1);
    } else if (strcmp(what, "held") == 0) {
      if (first <= MANY || shapes[i].how >= UNLIKE)
        held_for_rows(&shapes[i], held_live(&shapes[i], first ? first : 2100));
    } else if (strcmp(what, "burst") == 0) {
      uint64_t count = first ? first : 20000;
      if (shapes[i].how >= UNLIKE) held_after_burst(&shapes[i], count);
      if (shapes[i].how == OPEN) held_after_burst(&shapes[i], count / 4);
    } else if (strcmp(shapes[i].name, "PDE") == 0) {
      constant(&shapes[i], first, second);
    }
  }
  if (strcmp(what, "burst") == 0 && !(only && strcmp(only, holds_more.name)))
    held_after_burst(&holds_more, first ? first : 20000);
  printf("1..%d\n", points);
  return failures > 0;
}
