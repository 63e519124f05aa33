/* A fuzz target for files that were not made for a relation.
 *
 *   ./dev fuzz intake
 *
 * The first byte chooses a form; the rest is the file. It is read by mappings, to its end or to a failure, and it is inferred
 * what it holds. What holds of every file: reading ends; each answer has a number and a reason; what is inferred can be read as statements,
 * with as many columns as there are names; inferring a second time says the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/status.h"
#include "sensors/feed/feed.h"
#include "tquel/infer/infer.h"
#include "tquel/lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sn_mapping by_name[] = {
    {.target = "start", .column = "t", .form = SN_TIME_S, .otherwise = "1769853600"},
    {.target = "stop", .column = "d", .relative = SN_AFTER, .form = SN_TIME_MS},
    {.target = "i", .column = "n", .otherwise = "0"},
    {.target = "s", .column = "a.b"},
    {.target = "f", .column = "n"}};
static const struct sn_mapping by_number[] = {
    {.target = "start", .number = 1, .form = SN_TIME_LIKE, .like = "%b %d %H:%M:%S"},
    {.target = "stop", .number = 2, .form = SN_TIME_NS},
    {.target = "i", .number = 3},
    {.target = "s", .number = 1},
    {.target = "f", .number = 4, .otherwise = "1.5"}};

static void read_all(const struct sn_reader_options *options) {
  struct base_diag_sink diags;
  struct net_reader *reader;
  struct net_batch_builder builder;
  struct net_read_event event;
  base_diag_sink_init(&diags);
  if (sn_reader_open(options, &diags, &reader) != BASE_OK) abort();
  net_batch_builder_init(&builder, options->layout, 4);
  for (bool over = false; !over;) {
    enum net_read_result result = reader->class->read(reader, &builder, &event);
    bool bad = result == NET_READ_BAD || result == NET_READ_FAILED;
    BASE_CHECK(!bad || (event.number != 0 && event.reason != NULL && event.line >= 0),
               "fuzz-reason");
    BASE_CHECK(result != NET_READ_AGAIN, "fuzz-no-waiting");
    over = result == NET_READ_END || result == NET_READ_FAILED;
    net_batch_builder_clear(&builder);
  }
  net_batch_builder_done(&builder);
  reader->class->free(reader);
  base_diag_sink_done(&diags);
}

static const char *infer(struct base_arena *arena, int file) {
  static const char *const input[] = {"-"};
  struct tql_infer_options options = {
      .paths = input, .path_count = 1, .descriptor = file, .shown = "-", .sample = 100};
  struct base_diag_sink diags;
  struct tql_inferred inferred;
  base_diag_sink_init(&diags);
  enum base_status status = tql_infer(arena, &options, &diags, &inferred);
  BASE_CHECK((status == BASE_OK) == (diags.errors == 0), "fuzz-errors-are-reported");
  if (status == BASE_OK) {
    size_t count;
    bool parsed;
    struct base_source source = {
        .name = "inferred", .text = inferred.text, .length = strlen(inferred.text)};
    tql_parse(arena, &source, 1, &diags, &count, &parsed);
    BASE_CHECK(parsed && count == 2, "fuzz-statements");
  }
  base_diag_sink_done(&diags);
  return status == BASE_OK ? inferred.text : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const enum sn_format formats[] = {SN_CSV,    SN_TSV,   SN_NDJSON,  SN_JSON,
                                           SN_LOGFMT, SN_LINES, SN_STANZAS, SN_GUESS};
  struct net_field fields[] = {{.name = "i", .type = {NET_INTEGER, 2}},
                               {.name = "s", .type = {NET_STRING, 0}},
                               {.name = "f", .type = {NET_FLOAT, 8}}};
  if (size < 1) return 0;
  int file = memfd_create("fuzz", 0);
  if (file < 0 || write(file, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
  struct base_arena *arena = base_arena_new();
  enum sn_format format = formats[data[0] % 8];
  bool numbered = (data[0] & 8) && (format == SN_CSV || format == SN_TSV);
  struct sn_form form = {
      .format = format,
      .separator = format == SN_CSV && (data[0] & 16) ? ';' : 0,
      .headless = numbered,
      .continued = format == SN_LINES && (data[0] & 8),
      .skipped = data[0] & 128 ? 2 : 0,
      .pattern = format == SN_LINES ? "(?<t>\\d+) (?<n>\\w*)(?: (?<d>\\d+))? ?(?<s>.*)" : NULL,
      .empty = (enum sn_empty)(data[0] >> 5 & 1),
      .mappings = numbered ? by_number : by_name,
      .mapping_count = 5};
  struct sn_reader_options options = {
      .descriptor = file,
      .form = &form,
      .layout = net_layout_new(arena, NET_PERIOD, fields, 3),
      .time = {.timeline = NET_TIMELINE_REAL, .now = INT64_C(1790000000000000000)},
      .strings = base_strings_new(),
      .line_limit = data[0] & 64 ? 64 : 0};
  lseek(file, 0, SEEK_SET);
  read_all(&options);
  const char *first = infer(arena, file), *second = infer(arena, file);
  BASE_CHECK((first == NULL) == (second == NULL) && (first == NULL || strcmp(first, second) == 0),
             "fuzz-same");
  base_strings_free(options.strings);
  base_arena_free(arena);
  close(file);
  return 0;
}
