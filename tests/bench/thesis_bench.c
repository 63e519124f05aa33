/* Benchmark: table 8-2 of the thesis on this engine. The queries of thesis 3.7 as a standing network, fed record
 * by record: the initial network, as it comes from the statements, and the transformed one; then the
 * transformed one in batches, whose nodes take short ways that were chosen when it was built, which is what has
 * become of the thesis's third version, the network compiled by hand.
 *
 *     thesis_bench [RECORDS]          200,000
 *
 * Fires are invocations of access and operator nodes. The records come from two processes that take turns in
 * being ahead (tests/memory/world.c), so they give many results, as the thesis's 50 test tuples do. The initial
 * network keeps all it has seen, for its products know no time; so it is fed 50 records, as there, and others
 * for comparison, each time anew; building it is not counted. Medians of 5; all versions must give the same
 * tuples, in number.                                                                                   */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/network.h"
#include "tests/bench/data.h"
#include "tests/memory/world.h"

enum { RUNS = 5, BRIEF = 50 };

#define QUERIES                                                                  \
  "retrieve AOverB (d = u.x - t.x) where t.k = 1 and u.k = 2 and t.x > u.x + 1 " \
  "retrieve (Percent = avgc(d) * 100) "                                          \
  "retrieve where t.k = 1 and u.k = 2 and t.x = u.x when t , u.start at u.start"

static const struct version {
  const char *name;
  struct shape shape;
  uint32_t batch_rows;
  bool briefly;       /* 50 records, in as many networks as it takes */
  const char *thesis; /* fires per input tuple, ms per fire, input tuples per second */
} versions[] = {
    {"initial", {"initial", QUERIES, WHOLE, true}, 1, true, "19.9 | 7.6 | 6.6"},
    {"transformed", {"transformed", QUERIES, WHOLE, false}, 1, true, "9.2 | 4.7 | 15"},
    {"transformed, long", {"long", QUERIES, WHOLE, false}, 1, false, " | | "},
    {"in batches of 1,024", {"batches", QUERIES, WHOLE, false}, 1024, false, "1.0 | 1.5 | 660"},
};

struct figures {
  size_t access, operators;
  uint64_t fires, results;
};

static void look(const struct machine *machine, struct figures *ret) {
  const struct net_node *node = net_network_first(machine_network(machine));
  ret->access = ret->operators = 0;
  ret->results += machine_results(machine);
  for (; node != NULL; node = net_node_next(node)) {
    ret->fires += net_node_fires(node);
    if (net_node_stats(node).kind == NET_NODE_ACCESS)
      ret->access++;
    else
      ret->operators++;
  }
}

/* RECORDS in networks of EACH. */
static int64_t run(const struct version *version, uint64_t records, uint64_t each,
                   struct figures *ret) {
  int64_t took = 0;
  *ret = (struct figures){0};
  for (uint64_t done = 0; done < records; done += each) {
    struct machine *machine = machine_new(&version->shape, 1, version->batch_rows);
    int64_t began = base_env_monotonic();
    machine_run(machine, each);
    took += base_env_monotonic() - began;
    look(machine, ret);
    machine_free(machine);
  }
  return took;
}

static void print(const struct version *version, const struct figures *figures, uint64_t records,
                  int64_t took) {
  double fires = (double)figures->fires, ns = (double)took;
  printf("| %s | %zu + %zu | %.1f | %.2f | %.0f | %.0f | %s |\n", version->name, figures->access,
         figures->operators, (double)figures->results * BRIEF / (double)records,
         fires / (double)records, ns / fires, (double)records * 1e9 / ns, version->thesis);
  fflush(stdout);
}

int main(int argc, char **argv) {
  base_env_use_processor_clock();
  uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) / BRIEF * BRIEF : 200000;
  uint64_t results[2] = {0, 0}; /* of long streams, of brief ones */
  bool agree = records > 0;
  printf(
      "| version | access + operator nodes | tuples per 50 | fires per input tuple | ns per fire | "
      "input tuples/s | thesis: fires | ms per fire | tuples/s |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < sizeof versions / sizeof versions[0] && records > 0; i++) {
    const struct version *version = &versions[i];
    uint64_t some = version->briefly ? (records + 9) / 10 / BRIEF * BRIEF : records;
    struct figures figures;
    int64_t times[RUNS];
    if (some == 0) some = BRIEF;
    for (size_t k = 0; k < RUNS; k++)
      times[k] = run(version, some, version->briefly ? BRIEF : some, &figures);
    print(version, &figures, some, bench_median(times, RUNS));
    if (results[version->briefly] != 0 && results[version->briefly] != figures.results)
      agree = false;
    results[version->briefly] = figures.results;
  }
  printf(
      "\nThe thesis's figures: 32 tuples generated from 50, 4 + 24 nodes initially, 2 + 18 "
      "transformed; a "
      "dedicated Vax 11/780, without garbage collection; its third version was compiled by "
      "hand.\n");
  if (!agree) printf("the versions DIFFER\n");
  return agree ? 0 : 1;
}
