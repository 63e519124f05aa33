/* Fuzzing the readers of records.
 *
 * The first byte chooses format and layout, the second the sizes of the pieces in which the rest
 * goes through a pipe that is followed. Whatever the bytes are, every one must be consumed (or the
 * header refused), each answer must hold what it promises, and no row may break the rules of times.
 * With -DFEED_FUZZ_MAIN the file is a program that runs the files named on its command line. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "sensors/feed/feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
  struct net_reader *reader;
  struct net_batch_builder builder;
  int64_t position;
  bool over, failed;
};

static void check_row(const struct net_layout *layout, const union net_slot *row) {
  BASE_CHECK(row[0].i <= row[1].i, "fuzz-start-in-order");
  if (layout->tuple_class == NET_EVENT) return;
  struct net_period period = {net_row_start(row), net_slot_stop(row, 2, row[0].i)};
  BASE_CHECK(net_period_valid(period), "fuzz-period-valid");
  BASE_CHECK(net_nonempty(period) != NET_FALSE, "fuzz-period-not-empty");
}

/* Reads until there is nothing now. */
static void drain(struct run *run) {
  struct net_read_event answer;
  enum net_read_result result;
  do {
    result = run->reader->class->read(run->reader, &run->builder, &answer);
    for (uint32_t i = 0; i < run->builder.count; i++)
      check_row(run->reader->layout,
                run->builder.rows + (size_t)i * run->reader->layout->slot_count);
    net_batch_builder_clear(&run->builder);
    int64_t position = run->reader->class->position(run->reader);
    BASE_CHECK(position >= run->position, "fuzz-position-grows");
    run->position = position;
    if (result == NET_READ_BAD || result == NET_READ_FAILED)
      BASE_CHECK(answer.reason && *answer.reason && answer.line > 0, "fuzz-reason");
    if (result == NET_READ_BAD)
      BASE_CHECK(answer.column > 0 && (size_t)answer.column <= answer.record_length + 1,
                 "fuzz-column-in-record");
  } while (result != NET_READ_AGAIN && result != NET_READ_END && result != NET_READ_FAILED);
  run->over = result != NET_READ_AGAIN;
  run->failed = result == NET_READ_FAILED;
}

static void feed_pieces(struct run *run, int writer, const uint8_t *data, size_t size,
                        uint64_t seed) {
  struct base_random random = {seed};
  while (size > 0 && !run->over) {
    size_t piece = 1 + base_random_below(&random, seed % 64 + 1);
    if (piece > size) piece = size;
    if (write(writer, data, piece) != (ssize_t)piece) abort();
    data += piece;
    size -= piece;
    drain(run);
  }
}

static void run_input(const struct sn_reader_options *options, int writer, const uint8_t *data,
                      size_t size, uint64_t seed) {
  struct base_diag_sink diags;
  struct run run = {0};
  base_diag_sink_init(&diags);
  if (sn_reader_open(options, &diags, &run.reader) != BASE_OK) abort();
  net_batch_builder_init(&run.builder, options->layout, 4);
  feed_pieces(&run, writer, data, size, seed);
  close(writer);
  if (!run.over) drain(&run);
  BASE_CHECK(run.over, "fuzz-ends");
  /* What is left over is less than a format can be guessed from. */
  BASE_CHECK(run.failed || options->format == SN_GUESS || run.position == (int64_t)size,
             "fuzz-all-consumed");
  net_batch_builder_done(&run.builder);
  run.reader->class->free(run.reader);
  base_diag_sink_done(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct net_field fields[] = {{.name = "i", .type = {NET_INTEGER, 2}},
                               {.name = "s", .type = {NET_STRING, 4}},
                               {.name = "f", .type = {NET_FLOAT, 4}},
                               {.name = "b", .type = {NET_BOOL, 0}},
                               {.name = "t", .type = {NET_TEMPORAL, 0}}};
  int ends[2];
  if (size < 2 || pipe(ends) != 0) return 0;
  struct base_arena *arena = base_arena_new();
  struct sn_reader_options options = {
      .descriptor = ends[0],
      .format = (const enum sn_format[]){SN_GUESS, SN_CSV, SN_NDJSON}[data[0] % 3],
      .layout =
          net_layout_new(arena, data[0] & 4 ? NET_EVENT : NET_PERIOD, fields, data[0] & 8 ? 5 : 1),
      .time = {.timeline = data[0] & 16 ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT},
      .strings = base_strings_new(),
      .following = true,
      .timeless = (data[0] & 36) == 32,
      .line_limit = data[0] & 64 ? 24 : 0};
  run_input(&options, ends[1], data + 2, size - 2, data[1]);
  close(ends[0]);
  base_strings_free(options.strings);
  base_arena_free(arena);
  return 0;
}

#ifdef FEED_FUZZ_MAIN
static void run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = NULL;
  size_t size = 0, capacity = 0, got;
  if (!file) exit(EXIT_FAILURE);
  do {
    base_grow(&data, &capacity, size + 4096, 1);
    got = fread(data + size, 1, 4096, file);
    size += got;
  } while (got > 0);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  free(data);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) run_file(argv[i]);
  return EXIT_SUCCESS;
}
#endif
