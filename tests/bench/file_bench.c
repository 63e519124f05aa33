/* Benchmark: from a database file to the answer, each time in a process of its own.
 *
 *     file_bench [--tquel PROGRAM] [--runs N] [--only NAME] [--format F] [SIZE]       1,000,000
 *
 * For each question the data are put into a file of ours, of DuckDB's, and of SQLite's (with the index that
 * helps). Then a new process answers from its file, N times (5); counted is the processor time of the process,
 * user and system, from its start to its end, so starting, linking, opening are in it, and neighbours are not;
 * the file is in the system's cache. `tquel FILE -c` prints all rows of the answer as CSV; DuckDB once does
 * the same (COPY TO), and once gives sums over them alone, as SQLite does. All go to /dev/null.
 *
 * Then where our time goes: what --timing says, as its part of the whole, and the rest (starting, the
 * catalogue, analysing, leaving).                                                                   */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/env.h"
#include "tests/bench/in_tquel.h"

enum { ARGUMENTS = 7, TIMING_BYTES = 1 << 14 };

static const char *const names[BENCH_QUESTIONS] = {"overlap", "pde", "count", "sequence"};

struct options {
  const char *tquel, *only, *format;
  size_t runs, size;
};

/* --- processes */

/* Microseconds of processor time; what it writes to standard error is in TIMING (of TIMING_BYTES, or NULL). */
static int64_t run_process(char *const *arguments, char *timing) {
  int pipes[2] = {-1, -1}, status = 0;
  struct rusage usage;
  if (timing != NULL && pipe(pipes) != 0) exit(1);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    int nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDOUT_FILENO);
    if (timing != NULL) dup2(pipes[1], STDERR_FILENO);
    execv(arguments[0], arguments);
    _exit(127);
  }
  if (timing != NULL) {
    size_t length = 0;
    ssize_t count;
    close(pipes[1]);
    while ((count = read(pipes[0], timing + length, TIMING_BYTES - 1 - length)) > 0)
      length += (size_t)count;
    timing[length] = '\0';
    close(pipes[0]);
  }
  if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0) {
    fprintf(stderr, "file_bench: %s failed\n", arguments[0]);
    exit(1);
  }
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
         usage.ru_stime.tv_usec;
}

static int64_t median_of(char *const *arguments, size_t runs) {
  int64_t *times = base_xcalloc(runs, sizeof *times);
  for (size_t i = 0; i < runs; i++) times[i] = run_process(arguments, NULL);
  int64_t median = bench_median(times, runs);
  free(times);
  return median;
}

/* --- ours */

struct profile {
  int64_t all, load, network, output;
};

static int64_t sum_of(const char *timing, const char *name) {
  int64_t sum = 0;
  for (const char *at = timing; (at = strstr(at, name)) != NULL; at += strlen(name))
    sum += strtoll(at + strlen(name), NULL, 10);
  return sum;
}

static char *join_statements(enum bench_question question) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  const struct bench_statements *statements = &bench_statements[question];
  base_buffer_puts(&text, statements->before);
  for (size_t i = 0; i < 3 && statements->retrieves[i] != NULL; i++) {
    base_buffer_puts(&text, " ");
    base_buffer_puts(&text, statements->retrieves[i]);
  }
  base_buffer_puts(&text, " ");
  base_buffer_puts(&text, statements->after);
  return text.data;
}

static struct profile profile_of_ours(const struct options *options, enum bench_question question,
                                      const char *path) {
  char *text = join_statements(question), timing[TIMING_BYTES];
  const char *arguments[ARGUMENTS] = {options->tquel, "--timing", "--format", options->format,
                                      path,           "-c",       text};
  char *argv[ARGUMENTS + 1] = {NULL};
  int64_t *times[4];
  for (size_t k = 0; k < 4; k++) times[k] = base_xcalloc(options->runs, sizeof **times);
  for (size_t k = 0; k < ARGUMENTS; k++) argv[k] = (char *)arguments[k];
  for (size_t i = 0; i < options->runs; i++) {
    int64_t began = base_env_monotonic();
    times[0][i] = run_process(argv, timing);
    int64_t lasted = (base_env_monotonic() - began) / 1000;
    times[1][i] = sum_of(timing, "load_us=") * times[0][i] / lasted;
    times[2][i] = sum_of(timing, "network_us=") * times[0][i] / lasted;
    times[3][i] = sum_of(timing, "output_us=") * times[0][i] / lasted;
  }
  int64_t medians[4];
  for (size_t k = 0; k < 4; k++) {
    medians[k] = bench_median(times[k], options->runs);
    free(times[k]);
  }
  free(text);
  return (struct profile){medians[0], medians[1], medians[2], medians[3]};
}

/* --- the others: this program again, with --ask */

static int answer(char **argv) {
  const struct bench_engine *engine = !strcmp(argv[0], "DuckDB") ? &bench_duckdb : &bench_sqlite;
  enum bench_question question = (enum bench_question)strtoul(argv[3], NULL, 10);
  if (engine->version() == NULL) return 1;
  void *handle = engine->open(argv[2]);
  if (!strcmp(argv[1], "rows"))
    engine->print(handle, question, "/dev/null");
  else
    engine->ask(handle, question);
  engine->close(handle);
  return 0;
}

static int64_t median_of_other(const struct bench_engine *engine, const char *what,
                               const struct options *options, enum bench_question question,
                               const char *path) {
  char number[16];
  snprintf(number, sizeof number, "%d", (int)question);
  char *arguments[] = {"/proc/self/exe", "--ask", (char *)engine->name, (char *)what, (char *)path,
                       number,           NULL};
  return median_of(arguments, options->runs);
}

/* --- the table */

static void print_ms(int64_t us) {
  if (us > 0)
    printf(" %.0f |", (double)us / 1e3);
  else
    printf(" - |");
}

static int64_t size_of_file(const char *path) {
  FILE *file = fopen(path, "rb");
  int64_t size = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
  if (file != NULL) fclose(file);
  return size;
}

static void measure(const struct options *options, enum bench_question question,
                    const struct bench_data *data, const char *directory) {
  const struct bench_engine *engines[2] = {&bench_duckdb, &bench_sqlite};
  char ours[256], theirs[2][256];
  int64_t sums[2] = {0}, rows = 0;
  snprintf(ours, sizeof ours, "%s/%s.tquel", directory, names[question]);
  struct bench_tquel *bench = bench_tquel_open(ours);
  bench_tquel_load(bench, question, data);
  bench_tquel_close(bench);
  struct profile profile = profile_of_ours(options, question, ours);
  for (size_t i = 0; i < 2; i++) {
    if (engines[i]->version() == NULL) continue;
    snprintf(theirs[i], sizeof theirs[i], "%s/%s.%s", directory, names[question], engines[i]->name);
    void *handle = engines[i]->open(theirs[i]);
    engines[i]->load(handle, question, data);
    engines[i]->close(handle);
    sums[i] = median_of_other(engines[i], "sums", options, question, theirs[i]);
    if (engines[i]->print != NULL)
      rows = median_of_other(engines[i], "rows", options, question, theirs[i]);
  }
  int64_t rest = profile.all - profile.load - profile.network - profile.output;
  printf("| %s | **%.0f** |", names[question], (double)profile.all / 1e3);
  print_ms(rows);
  print_ms(sums[0]);
  print_ms(sums[1]);
  print_ms(profile.load);
  print_ms(profile.network);
  print_ms(profile.output);
  print_ms(rest);
  printf(" %" PRId64 " |", size_of_file(ours) >> 20);
  printf(sums[0] > 0 ? " %" PRId64 " |\n" : " - |\n",
         sums[0] > 0 ? size_of_file(theirs[0]) >> 20 : 0);
  fflush(stdout);
}

static void remove_all(const char *directory) {
  char *arguments[] = {"/bin/rm", "-rf", (char *)directory, NULL};
  run_process(arguments, NULL);
}

int main(int argc, char **argv) {
  struct options options = {"build-release/tquel", NULL, "csv", 5, 1000000};
  char directory[] = "/tmp/file_bench_XXXXXX";
  if (argc == 6 && !strcmp(argv[1], "--ask")) return answer(argv + 2);
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--tquel")) {
      options.tquel = value;
      i++;
    } else if (!strcmp(argv[i], "--only")) {
      options.only = value;
      i++;
    } else if (!strcmp(argv[i], "--format")) {
      options.format = value;
      i++;
    } else if (!strcmp(argv[i], "--runs")) {
      options.runs = strtoull(value, NULL, 10);
      i++;
    } else {
      options.size = strtoull(argv[i], NULL, 10);
    }
  }
  if (options.runs == 0 || options.size == 0 || mkdtemp(directory) == NULL) return 2;
  struct bench_data data;
  bench_data_make(&data, options.size);
  printf(
      "From a file of %zu tuples a relation to the answer, milliseconds of processor time, medians "
      "of %zu; "
      "load to rest: parts of ours.\n\n",
      options.size, options.runs);
  printf(
      "| question | tquel, all rows as %s | DuckDB, all rows as csv | DuckDB, sums | SQLite, sums "
      "| load | "
      "network | output | rest | our file, MiB | DuckDB's "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|\n",
      options.format);
  for (enum bench_question question = 0; question < BENCH_QUESTIONS; question++)
    if (options.only == NULL || !strcmp(options.only, names[question]))
      measure(&options, question, &data, directory);
  if (bench_duckdb.version() == NULL) printf("\nDuckDB is not installed.\n");
  bench_data_done(&data);
  remove_all(directory);
  return 0;
}
