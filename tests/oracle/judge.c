/* judge --random N --seed S [--incremental N] [--sensors N] [--jobs J] [--most D] [--verbose] [--selftest]
 *
 * Draws scenarios until N statements have been judged under four configurations, then N scenarios
 * whose data come bit by bit, then N whose data sensors report as they are told. The seed is that of the first scenario; scenario i has seed S + i, so
 * that `--random 1 --seed X` repeats one. On a difference: the seed, the smallest script found that
 * still differs (a .tqt case), and the rows (- expected and missing, + there and not expected). Exit
 * code 1 if anything differed.
 *
 * The work is done by J processes, each with its own stretch of seeds; what they say is printed in the
 * order of the seeds, so that the output does not depend on J. A process that dies names the seed
 * it died of, its scenario is shrunk like any other, and another one takes over behind it.
 *
 * --selftest: the reference's answer is falsified, or a sensor keeps a record to itself; the judge must notice.
 * Sensors that are never told what to do are a failure, too.                                         */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/oracle/sensed.h"
#include "tests/temporary.h"

enum {
  JOBS_MAX = 64,
  SLICE = 200,    /* scenarios of one process */
  TOLD_FROM = 50, /* in so many scenarios with sensors each rule that tells them something acts */
};

/* How the scenarios of a stretch of seeds are judged. */
enum manner { ALL_AT_ONCE, BIT_BY_BIT, BY_SENSORS };

struct judge {
  uint64_t random, incremental, sensors, seed, most;
  unsigned jobs;
  bool verbose, selftest;
  char *directory;
};

/* What a process leaves: in shared memory. */
struct slice {
  uint64_t at; /* the seed that is judged */
  bool done;
  struct tally tally;
};

/* A stretch of seeds and the process that works on it. */
struct worker {
  uint64_t first, count; /* scenarios */
  enum manner manner;
  pid_t process;
  FILE *output;
  struct slice *slice;
};

static void add_tally(struct tally *to, const struct tally *from) {
  to->judged += from->judged;
  to->refused += from->refused;
  to->skipped += from->skipped;
  to->errors += from->errors;
  to->differences += from->differences;
  to->rows += from->rows;
  to->omega += from->omega;
  to->doubted += from->doubted;
  to->sensed += from->sensed;
  to->arcs += from->arcs;
  to->clocks += from->clocks;
  to->triggers += from->triggers;
  to->withheld += from->withheld;
  to->filtered += from->filtered;
  to->counted += from->counted;
}

/* --- the work of a process */

static void work(const struct judge *judge, const struct worker *worker) {
  struct slice *slice = worker->slice;
  for (uint64_t i = 0; i < worker->count && slice->tally.differences < judge->most; i++) {
    slice->at = worker->first + i;
    if (worker->manner == BIT_BY_BIT)
      judge_bit_by_bit(slice->at, judge->directory, &slice->tally);
    else if (worker->manner == BY_SENSORS)
      judge_sensed(slice->at, judge->verbose, judge->selftest, &slice->tally);
    else
      judge_scenario(slice->at, judge->verbose, judge->selftest, &slice->tally);
  }
  slice->done = true;
}

static bool start(const struct judge *judge, struct worker *worker) {
  *worker->slice = (struct slice){0};
  worker->output = tmpfile();
  fflush(NULL);
  worker->process = fork();
  if (worker->process != 0) return worker->process > 0 && worker->output;
  if (dup2(fileno(worker->output), STDOUT_FILENO) < 0) _exit(3);
  work(judge, worker);
  fflush(NULL);
  _exit(0);
}

/* --- a process that died */

/* Draws the scenario again, in this process, and shrinks it by processes that may die. */
static bool report_crash(uint64_t seed, struct engine_options options) {
  struct base_arena *arena = base_arena_new();
  struct scenario *scenario = BASE_NEW(arena, struct scenario);
  draw_statements(scenario, arena, seed);
  size_t last = 0;
  for (size_t i = 1; i <= scenario->statement_count && last == 0; i++)
    if (still_differs(scenario, i, options, false, true)) last = i;
  if (last > 0) {
    shrink(scenario, last, options, false, true);
    struct base_buffer script = BASE_BUFFER_EMPTY;
    scenario_print(&script, scenario, last);
    printf("%s", base_buffer_text(&script));
    base_buffer_done(&script);
  }
  base_arena_free(arena);
  return last > 0;
}

static void after_death(const struct worker *worker, struct tally *tally) {
  static const struct engine_options options[] = {{false, 0, 0}, {true, 0, 0}, {false, 1, 0}};
  uint64_t seed = worker->slice->at;
  tally->differences++;
  printf("# a process died at seed %llu%s\n", (unsigned long long)seed,
         worker->manner == BIT_BY_BIT   ? " (bit by bit)"
         : worker->manner == BY_SENSORS ? " (sensors)"
                                        : "");
  for (size_t i = 0; i < sizeof options / sizeof *options && worker->manner == ALL_AT_ONCE; i++)
    if (report_crash(seed, options[i])) break;
  fflush(stdout);
}

/* Waits for the process and prints what it said; what it left undone is WORKER's next stretch. */
static bool finish(struct worker *worker, struct tally *tally) {
  int status = 0;
  char text[4096];
  waitpid(worker->process, &status, 0);
  rewind(worker->output);
  for (size_t length; (length = fread(text, 1, sizeof text, worker->output)) > 0;)
    fwrite(text, 1, length, stdout);
  fclose(worker->output);
  worker->output = NULL;
  add_tally(tally, &worker->slice->tally);
  if (worker->slice->done) return false;
  after_death(worker, tally);
  uint64_t next = worker->slice->at + 1;
  worker->count -= next - worker->first;
  worker->first = next;
  return worker->count > 0;
}

/* --- all scenarios, slice by slice */

struct queue {
  uint64_t next, left;
  enum manner manner;
};

static bool take(struct queue *queue, struct worker *worker) {
  if (queue->left == 0) return false;
  worker->first = queue->next;
  worker->count = queue->left < SLICE ? queue->left : SLICE;
  worker->manner = queue->manner;
  queue->next += worker->count;
  queue->left -= worker->count;
  return true;
}

static bool run(const struct judge *judge, struct queue queue, struct slice *slices,
                struct tally *tally) {
  struct worker workers[JOBS_MAX] = {{0}};
  unsigned running = 0, first = 0;
  for (unsigned i = 0; i < judge->jobs; i++) workers[i].slice = &slices[i];
  for (;;) {
    while (running < judge->jobs && tally->differences < judge->most) {
      struct worker *worker = &workers[(first + running) % judge->jobs];
      if (!take(&queue, worker)) break;
      if (!start(judge, worker)) return false;
      running++;
    }
    if (running == 0) return true;
    struct worker *worker = &workers[first];
    while (finish(worker, tally) && tally->differences < judge->most)
      if (!start(judge, worker)) return false;
    first = (first + 1) % judge->jobs;
    running--;
  }
}

/* --- the program */

static int usage(void) {
  fputs(
      "usage: judge [--random N] [--incremental N] [--sensors N] [--seed S] [--jobs J] "
      "[--most DIFFERENCES] [--verbose] [--selftest]\n",
      stderr);
  return 1;
}

static void empty(const char *path) {
  DIR *directory = opendir(path);
  for (const struct dirent *entry; directory && (entry = readdir(directory));) {
    char *name;
    if (asprintf(&name, "%s/%s", path, entry->d_name) < 0) continue;
    unlink(name);
    free(name);
  }
  if (directory) closedir(directory);
  rmdir(path);
}

static bool read_options(int argc, char **argv, struct judge *judge) {
  for (int i = 1; i < argc; i++) {
    uint64_t *number = NULL, jobs;
    if (strcmp(argv[i], "--random") == 0)
      number = &judge->random;
    else if (strcmp(argv[i], "--incremental") == 0)
      number = &judge->incremental;
    else if (strcmp(argv[i], "--sensors") == 0)
      number = &judge->sensors;
    else if (strcmp(argv[i], "--seed") == 0)
      number = &judge->seed;
    else if (strcmp(argv[i], "--most") == 0)
      number = &judge->most;
    else if (strcmp(argv[i], "--jobs") == 0)
      number = &jobs;
    else if (strcmp(argv[i], "--verbose") == 0)
      judge->verbose = true;
    else if (strcmp(argv[i], "--selftest") == 0)
      judge->selftest = true;
    else
      return false;
    if (!number) continue;
    if (++i == argc) return false;
    *number = strtoull(argv[i], NULL, 10);
    if (number == &jobs) judge->jobs = jobs < 1 ? 1 : jobs > JOBS_MAX ? JOBS_MAX : (unsigned)jobs;
  }
  return true;
}

int main(int argc, char **argv) {
  struct judge judge = {
      .seed = 1, .most = 10, .jobs = 1, .directory = temporary_path("judge-XXXXXX")};
  if (!read_options(argc, argv, &judge)) return usage();
  if (!mkdtemp(judge.directory)) return 3;
  struct slice *slices = mmap(NULL, JOBS_MAX * sizeof *slices, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (slices == MAP_FAILED) return 3;
  struct tally tally = {0};
  uint64_t scenarios = (judge.random + STATEMENTS_MAX - 1) / STATEMENTS_MAX;
  bool ran =
      run(&judge, (struct queue){judge.seed, scenarios, ALL_AT_ONCE}, slices, &tally) &&
      run(&judge, (struct queue){judge.seed, judge.incremental, BIT_BY_BIT}, slices, &tally) &&
      run(&judge, (struct queue){judge.seed, judge.sensors, BY_SENSORS}, slices, &tally);
  empty(judge.directory);
  free(judge.directory);
  if (!ran) return 3;
  printf(
      "# %llu statements (%llu do not bind, %llu fail when run, %llu skipped), %llu rows (%llu "
      "omega, %llu of them of aggregates over what was lost), %llu scenarios bit by bit: %llu "
      "differences\n",
      (unsigned long long)tally.judged, (unsigned long long)tally.refused,
      (unsigned long long)tally.errors, (unsigned long long)tally.skipped,
      (unsigned long long)tally.rows, (unsigned long long)tally.omega,
      (unsigned long long)tally.doubted, (unsigned long long)judge.incremental,
      (unsigned long long)tally.differences);
  bool told = true;
  if (judge.sensors > 0) {
    printf(
        "# %llu statements about sensors: %llu objects switched on by other relations, %llu clocks "
        "told, %llu samples triggered, %llu records not made, %llu asked about their values and "
        "left out, %llu events of them counted\n",
        (unsigned long long)tally.sensed, (unsigned long long)tally.arcs,
        (unsigned long long)tally.clocks, (unsigned long long)tally.triggers,
        (unsigned long long)tally.withheld, (unsigned long long)tally.filtered,
        (unsigned long long)tally.counted);
    told = judge.sensors < TOLD_FROM ||
           (tally.arcs > 0 && tally.clocks > 0 && tally.triggers > 0 && tally.withheld > 0 &&
            tally.filtered > 0 && tally.counted > 0);
  }
  if (judge.selftest) return tally.differences > 0 ? 0 : 1;
  return tally.differences > 0 || !told;
}
