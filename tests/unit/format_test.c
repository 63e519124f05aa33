/* Output formats, compared with what they should look like, and CSV and NDJSON with what a reader
 * makes of them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "sensors/feed/feed.h"
#include "tquel/format/format.h"

static struct base_arena *arena;
static struct base_strings *strings;
static struct net_layout *event, *period, *wide;
static struct tql_rows rows;
static struct base_buffer out;
static struct tql_format_context context;

static void setup(void) {
  arena = base_arena_new();
  strings = base_strings_new();
  struct net_field narrow[] = {{.name = "Process", .type = {NET_STRING, 0}},
                               {.name = "Load", .type = {NET_INTEGER, 8}}};
  struct net_field all[] = {
      {.name = "i", .type = {NET_INTEGER, 8}}, {.name = "f", .type = {NET_FLOAT, 8}},
      {.name = "s", .type = {NET_STRING, 0}},  {.name = "b", .type = {NET_BOOL, 0}},
      {.name = "n", .type = {NET_NAME, 0}},    {.name = "t", .type = {NET_TEMPORAL, 0}}};
  event = net_layout_new(arena, NET_EVENT, narrow, 2);
  period = net_layout_new(arena, NET_PERIOD, narrow, 2);
  wide = net_layout_new(arena, NET_PERIOD, all, 6);
  out = (struct base_buffer)BASE_BUFFER_EMPTY;
  context = (struct tql_format_context){.timeline = NET_TIMELINE_ABSTRACT, .strings = strings};
}

static void teardown(void) {
  base_buffer_done(&out);
  base_strings_free(strings);
  base_arena_free(arena);
}

static void begin(const char *name, const struct net_layout *layout, net_chronon checkpoint) {
  tql_rows_init(&rows, name, layout);
  rows.checkpoint = checkpoint;
}

static void add_marked(const int64_t *times, const char *process, int64_t load, uint8_t marks,
                       uint64_t id) {
  const struct net_layout *layout = rows.rows.layout;
  struct net_batch_builder builder;
  net_batch_builder_init(&builder, layout, 1);
  union net_slot *row = net_batch_builder_add_id(&builder, marks, id);
  for (uint32_t i = 0; i < layout->first_domain_slot; i++) row[i].i = times[i];
  row[layout->first_domain_slot].s = base_strings_intern_text(strings, process);
  row[layout->first_domain_slot + 1].i = load;
  struct net_batch batch = net_batch_builder_batch(&builder, 0);
  tql_rows_add_batch(&rows, &batch);
  net_batch_builder_done(&builder);
}

#define ADD(MARKS, PROCESS, LOAD, ...) \
  add_marked((const int64_t[]){__VA_ARGS__}, (PROCESS), (LOAD), (MARKS), 0)
/* A row that opens, or closes the one with the same ID. */
#define ADD_ID(ID, MARKS, PROCESS, LOAD, ...) \
  add_marked((const int64_t[]){__VA_ARGS__}, (PROCESS), (LOAD), (MARKS), (ID))

static void check_format(enum tql_format format, const char *expected) {
  base_buffer_clear(&out);
  context.format = format;
  tql_format_rows(&out, &context, &rows);
  ck_assert_str_eq(base_buffer_text(&out), expected);
}

/* ---- names ---- */

START_TEST(names) {
  for (int i = TQL_FORMAT_TABLE; i <= TQL_FORMAT_COUNT; i++)
    ck_assert_int_eq(tql_format_find(tql_format_name((enum tql_format)i)), i);
  ck_assert_int_eq(tql_format_find("CSV"), TQL_FORMAT_CSV);
  ck_assert_int_eq(tql_format_find("xml"), -1);
  ck_assert_int_eq(tql_format_find(""), -1);
}
END_TEST

/* ---- results ---- */

START_TEST(order_and_set) {
  begin(NULL, event, NET_BEGINNING);
  ADD(1, "b", 1, 5, 5);
  ADD(0, "a", 2, 5, 5);
  ADD(1, "a", 2, 5, 5);
  ADD(0, "z", 0, 4, 9);
  ADD(0, "a", 2, 5, 5);
  ADD(1, "a", -3, 5, 5);
  tql_rows_finish(&rows, strings);
  check_format(TQL_FORMAT_CSV,
               "at_lo,at_hi,definite,Process,Load\n4,9,false,z,0\n5,5,true,a,-3\n"
               "5,5,true,a,2\n5,5,true,b,1\n");
  tql_rows_done(&rows);
}
END_TEST

static int compare_slots(const void *a, const void *b) {
  const union net_slot *x = a, *y = b; /* starts, stops and values are never negative here */
  for (int i = 0; i < 6; i++)
    if (x[i].i != y[i].i) return x[i].i < y[i].i ? -1 : 1;
  return 0;
}

/* Rows in no order, nearly in order, and many alike: each tuple once, as definite as its surest row. The
 * expected order is that of the slots; names are not compared, there is only one. */
START_TEST(order_of_many) {
  enum { ROWS = 4000, SLOTS = 6 };
  static const int64_t spreads[] = {0, 3, 40, 100000};
  struct base_random dice = {7 + (uint64_t)_i};
  union net_slot(*expected)[SLOTS] = base_xcalloc(ROWS, sizeof *expected);
  base_string_id name = base_strings_intern_text(strings, "a");
  size_t count = (size_t)(_i == 0 ? 1 : ROWS - 10 * _i), distinct = 0;
  begin(NULL, period, NET_BEGINNING);
  for (size_t i = 0; i < count; i++) {
    int64_t spread = spreads[_i % 4];
    int64_t start = (int64_t)(i / 3) + (int64_t)base_random_below(&dice, (uint64_t)spread + 1);
    int64_t stop = start + 1 + (int64_t)base_random_below(&dice, 2);
    int64_t load = (int64_t)base_random_below(&dice, 2);
    uint8_t marks = (uint8_t)base_random_below(&dice, 2);
    ADD(marks, "a", load, start, start, stop, stop);
    expected[i][0].i = expected[i][1].i = start;
    expected[i][2].i = expected[i][3].i = stop;
    expected[i][4].s = name;
    expected[i][5].i = load;
  }
  struct net_rows before = {.layout = period};
  net_rows_add_all(&before, rows.rows.rows, rows.rows.marks, rows.rows.count);
  tql_rows_finish(&rows, strings);
  qsort(expected, count, sizeof *expected, compare_slots);
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && compare_slots(expected[i - 1], expected[i]) == 0) continue;
    uint8_t marks = 0;
    for (size_t k = 0; k < before.count; k++)
      if (compare_slots(net_rows_row(&before, k), expected[i]) == 0) marks |= before.marks[k];
    ck_assert_uint_lt(distinct, rows.rows.count);
    ck_assert_mem_eq(net_rows_row(&rows.rows, distinct), expected[i], sizeof *expected);
    ck_assert_uint_eq(rows.rows.marks[distinct], marks);
    distinct++;
  }
  ck_assert_uint_eq(rows.rows.count, distinct);
  net_rows_done(&before);
  free(expected);
  tql_rows_done(&rows);
}
END_TEST

/* Plain batches whose rows are in order, but for ties, equal tuples, or single ones behind their place, give what the
 * same rows give one by one, where nobody knows anything of their order. */
START_TEST(order_of_plain_batches) {
  enum { BATCHES = 9 };
  struct base_random dice = {70 + (uint64_t)_i};
  struct tql_rows apart;
  union net_slot text = {.s = base_strings_intern_text(strings, "a")};
  net_chronon start = 0;
  begin(NULL, period, NET_BEGINNING);
  tql_rows_init(&apart, NULL, period);
  for (size_t round = 0; round < 2; round++) { /* with the memory of the first */
    for (size_t i = 0; i < BATCHES; i++) {
      struct net_batch_builder builder;
      net_batch_builder_init(&builder, period, 300);
      size_t count = base_random_below(&dice, 300);
      for (size_t k = 0; k < count; k++) {
        start += _i % 6 == 0 ? 1 : (int64_t)base_random_below(&dice, (uint64_t)_i);
        union net_slot *row = net_batch_builder_add_plain(&builder);
        row[0].i = row[1].i =
            _i / 4 == 1 && base_random_below(&dice, 100) == 0 ? start - 3 : start; /* unordered */
        row[2].i = row[3].i = start + 1 + (int64_t)base_random_below(&dice, 2);
        row[4] = text;
        row[5].i = (int64_t)base_random_below(&dice, 3);
        net_rows_add_copy(&apart.rows, row, NET_DEFINITE);
      }
      struct net_batch batch = net_batch_builder_batch(&builder, start);
      ck_assert(batch.plain);
      tql_rows_add_batch(&rows, &batch);
      net_batch_builder_clear(&builder);
      if (i >= 6 && _i % 2 == 1) { /* one opens, closes, and opens */
        union net_slot *row =
            net_batch_builder_add_id(&builder, NET_DEFINITE | (i == 7 ? NET_CLOSES : 0), 1 + i / 8);
        row[0].i = row[1].i = 2;
        row[2].i = row[3].i = i == 7 ? 4 : NET_OPEN;
        row[4] = text;
        batch = net_batch_builder_batch(&builder, start);
        tql_rows_add_batch(&rows, &batch);
        tql_rows_add_batch(&apart, &batch);
      }
      net_batch_builder_done(&builder);
    }
    rows.checkpoint = apart.checkpoint = start;
    tql_rows_finish(&rows, strings);
    tql_rows_finish(&apart, strings);
    ck_assert_uint_eq(rows.rows.count, apart.rows.count);
    ck_assert_mem_eq(rows.rows.rows, apart.rows.rows, rows.rows.count * 6 * sizeof text);
    ck_assert_mem_eq(rows.rows.marks, apart.rows.marks, rows.rows.count);
    tql_rows_clear(&rows);
    tql_rows_clear(&apart);
    start = 0;
  }
  tql_rows_done(&apart);
  tql_rows_done(&rows);
}
END_TEST

START_TEST(closing_rows) {
  begin(NULL, period, 20);
  ADD_ID(5, 1, "a", 1, 1, 1, NET_OPEN, NET_FOREVER);
  ADD_ID(6, 1, "b", 1, 1, 1, NET_OPEN, NET_FOREVER);
  ADD_ID(7, 0, "b", 1, 1, 1, NET_OPEN, NET_FOREVER);
  ADD_ID(6, NET_DEFINITE | NET_CLOSES, "b", 1, 1, 1, 7, 7); /* not the one that came last */
  ADD_ID(1, NET_DEFINITE | NET_CLOSES, "c", 1, 2, 2, 8, 8); /* opened elsewhere */
  ADD_ID(8, 1, "d", 1, 30, 31, NET_OPEN, NET_FOREVER);      /* after the checkpoint */
  ADD(1, "e", 1, 1, 1, NET_OPEN, 15);                       /* of a store: without an id */
  ADD(1, "a", 1, 1, 1, 20, NET_FOREVER); /* equal to the open one, once that is filled */
  tql_rows_finish(&rows, strings);
  check_format(TQL_FORMAT_CSV,
               "start_lo,start_hi,stop_lo,stop_hi,definite,Process,Load\n"
               "1,1,7,7,true,b,1\n1,1,15,15,true,e,1\n1,1,20,forever,true,a,1\n"
               "1,1,20,forever,false,b,1\n2,2,8,8,true,c,1\n30,31,30,forever,true,d,1\n");
  check_format(TQL_FORMAT_COUNT, "6\n");
  tql_rows_done(&rows);
}
END_TEST

/* Two derivations of one open tuple, closed at different times, and a close that leaves a row open.
 */
START_TEST(closing_twice) {
  begin(NULL, period, 9);
  for (unsigned i = 1; i <= 2; i++) ADD_ID(i, 1, "a", 1, 1, 1, NET_OPEN, NET_FOREVER);
  ADD_ID(1, NET_DEFINITE | NET_CLOSES, "a", 1, 1, 1, 5, 5);
  ADD_ID(2, NET_DEFINITE | NET_CLOSES, "a", 1, 1, 1, NET_OPEN, 7);
  ADD_ID(2, NET_DEFINITE | NET_CLOSES, "a", 1, 1, 1, 6, 6);
  tql_rows_finish(&rows, strings);
  check_format(TQL_FORMAT_CSV,
               "start_lo,start_hi,stop_lo,stop_hi,definite,Process,Load\n"
               "1,1,5,5,true,a,1\n1,1,6,6,true,a,1\n");
  tql_rows_done(&rows);
}
END_TEST

/* Each closing row finds its own open row among many; the others stay open. */
START_TEST(closing_many) {
  struct base_random random = {7};
  begin(NULL, period, 1000);
  for (unsigned i = 0; i < 5000; i++)
    ADD_ID(i + 1, 1, "p", i, i % 50, i % 50, NET_OPEN, NET_FOREVER);
  for (unsigned i = 0; i < 5000; i++)
    if (base_random_below(&random, 2))
      ADD_ID(i + 1, NET_DEFINITE | NET_CLOSES, "p", i, i % 50, i % 50, 500 + i, 500 + i);
  tql_rows_finish(&rows, strings);
  ck_assert_uint_eq(rows.rows.count, 5000);
  for (size_t i = 0; i < rows.rows.count; i++) {
    const union net_slot *row = net_rows_row(&rows.rows, i);
    ck_assert(row[3].i == NET_FOREVER ? row[2].i == 1000 : row[2].i == 500 + row[5].i);
  }
  for (size_t i = 1; i < rows.rows.count; i++)
    ck_assert_int_lt(net_row_compare(period, strings, 1000, net_rows_row(&rows.rows, i - 1),
                                     net_rows_row(&rows.rows, i)),
                     0);
  tql_rows_done(&rows);
}
END_TEST

/* ---- forms ---- */

static void three_periods(const char *name) {
  begin(name, period, 285);
  ADD(1, "Solver", 7, 10, 10, 50, 50);
  ADD(1, "Ärger", -12, 20, 20, 120, 120);
  ADD(1, "x", 3, 200, 200, 250, 250);
  tql_rows_finish(&rows, strings);
}

START_TEST(table) {
  const char *expected =
      "start | stop | Process | Load\n"
      "------+------+---------+-----\n"
      "   10 |   50 | Solver  |    7\n"
      "   20 |  120 | Ärger   |  -12\n"
      "  200 |  250 | x       |    3\n"
      "(3 rows)\n";
  three_periods(NULL);
  check_format(TQL_FORMAT_TABLE, expected);
  context.width = 29; /* exactly */
  check_format(TQL_FORMAT_TABLE, expected);
  tql_rows_done(&rows);
}
END_TEST

START_TEST(table_too_wide) {
  begin("R", period, 0);
  ADD(1, "Solver", 7, 10, 10, 50, 50);
  ADD(1, "b", 8, 20, 20, 50, 50);
  context.width = 28;
  check_format(TQL_FORMAT_TABLE,
               "R\n  start = 10\n   stop = 50\nProcess = Solver\n   Load = 7\n\n"
               "  start = 20\n   stop = 50\nProcess = b\n   Load = 8\n(2 rows)\n");
  tql_rows_done(&rows);
}
END_TEST

START_TEST(table_indeterminate) {
  begin("R", period, 285);
  ADD(1, "a", 7, 10, 12, 50, 50);
  ADD(0, "b", 1, 20, 20, NET_OPEN, NET_FOREVER);
  tql_rows_finish(&rows, strings);
  check_format(TQL_FORMAT_TABLE,
               "R\n"
               "start  | stop         | definite | Process | Load\n"
               "-------+--------------+----------+---------+-----\n"
               "10..12 | 50           | true     | a       |    7\n"
               "20     | 285..forever | Ω        | b       |    1\n"
               "(2 rows)\n");
  tql_rows_done(&rows);
}
END_TEST

START_TEST(table_real_and_empty) {
  begin(NULL, event, 0);
  context.timeline = NET_TIMELINE_REAL;
  check_format(TQL_FORMAT_TABLE, "at | Process | Load\n---+---------+-----\n(0 rows)\n");
  ADD(1, "a\tb\x1b[2J", 7, 1500000000, 1500000000);
  check_format(TQL_FORMAT_TABLE,
               "at                       | Process     | Load\n"
               "-------------------------+-------------+-----\n"
               "1970-01-01T00:00:01.500Z | a\\tb\\x1b[2J |    7\n(1 row)\n");
  tql_rows_done(&rows);
}
END_TEST

START_TEST(line_and_markdown) {
  three_periods("R|1");
  rows.rows.count = 2;
  check_format(TQL_FORMAT_LINE,
               "  start = 10\n   stop = 50\nProcess = Solver\n   Load = 7\n\n"
               "  start = 20\n   stop = 120\nProcess = Ärger\n   Load = -12\n");
  check_format(TQL_FORMAT_MARKDOWN,
               "**R\\|1**\n\n| start | stop | Process | Load |\n| ---: | ---: | --- | ---: |\n"
               "| 10 | 50 | Solver | 7 |\n| 20 | 120 | Ärger | -12 |\n");
  tql_rows_done(&rows);
}
END_TEST

START_TEST(timeline) {
  begin(NULL, period, 100);
  ADD(1, "Solver", 7, 0, 0, 50, 50);
  ADD(1, "b", -12, 20, 40, 60, 80);
  ADD(0, "c", 3, 10, 10, 20, 20);
  ADD(1, "d", 3, 99, 99, 100, 100); /* less than a cell */
  ADD(1, "e", 4, NET_BEGINNING, NET_BEGINNING, 100, 100);
  context.width = 36;
  check_format(TQL_FORMAT_TIMELINE,
               "Process  Load\n"
               "Solver      7  ██████████\n"
               "b         -12      ░░░░████░░░░\n"
               "c           3    ░░\n"
               "d           3                      █\n"
               "e           4  ◀████████████████████\n"
               "               ┬─────────┬──────────\n"
               "               0         50\n"
               "(5 rows; ░ is possible, █ certain)\n");
  tql_rows_done(&rows);
}
END_TEST

START_TEST(timeline_events) {
  begin("E", event, NET_BEGINNING);
  context.width = 10; /* the fewest cells are 20 */
  check_format(TQL_FORMAT_TIMELINE, "E\nProcess  Load\n(0 rows)\n");
  ADD(1, "a", 1, 0, 0);
  ADD(0, "b", 2, 10, 10);
  ADD(1, "c", 3, 5, 14);
  ADD(1, "d", 4, 20, 20);
  ADD(1, "e", 5, 10, NET_FOREVER);
  check_format(TQL_FORMAT_TIMELINE,
               "E\nProcess  Load\n"
               "a           1  ●\n"
               "b           2           ○\n"
               "c           3      ░░░░░░░░░\n"
               "d           4                    ●\n"
               "e           5           ░░░░░░░░░░▶\n"
               "               ┬───┬────┬───┬────┬─\n"
               "               0   5    10  15   20\n"
               "(5 rows; ░ is possible, █ certain)\n");
  tql_rows_done(&rows);
}
END_TEST

/* Extreme times do not overflow anything (run under the sanitizers). */
START_TEST(timeline_extremes) {
  for (int i = 0; i < 2; i++) {
    begin(NULL, event, NET_BEGINNING);
    context.timeline = i ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT;
    ADD(1, "a", 1, NET_BEGINNING + 1, NET_BEGINNING + 1);
    ADD(1, "b", 1, NET_FOREVER - 1, NET_FOREVER - 1);
    ADD(1, "c", 1, NET_BEGINNING, NET_FOREVER);
    base_buffer_clear(&out);
    context.format = TQL_FORMAT_TIMELINE;
    tql_format_rows(&out, &context, &rows);
    ck_assert_ptr_nonnull(strstr(base_buffer_text(&out), "(3 rows"));
    tql_rows_done(&rows);
    begin(NULL, event, NET_BEGINNING);
    ADD(1, "b", 1, NET_FOREVER, NET_FOREVER);
    ADD(1, "b", 1, NET_FOREVER - 1, NET_FOREVER - 1);
    tql_format_rows(&out, &context, &rows);
    tql_rows_done(&rows);
  }
}
END_TEST

START_TEST(separated_results) {
  begin(NULL, event, 0);
  context.results_before = 1;
  check_format(TQL_FORMAT_CSV, "\nat_lo,at_hi,definite,Process,Load\n");
  check_format(TQL_FORMAT_JSON, "[]\n");
  check_format(TQL_FORMAT_NDJSON, "");
  check_format(TQL_FORMAT_COUNT, "0\n");
  tql_rows_done(&rows);
}
END_TEST

START_TEST(json) {
  begin("R", period, 0);
  ADD(1, "a\"b\\\n\x01\xC3\xA9\xFF", INT64_MIN, 1, 1, 2, NET_FOREVER);
  ADD(0, "", 5, NET_BEGINNING, 1, 2, 2);
  check_format(TQL_FORMAT_NDJSON,
               "{\"start_lo\": 1, \"start_hi\": 1, \"stop_lo\": 2, \"stop_hi\": \"forever\", "
               "\"definite\": true, \"Process\": \"a\\\"b\\\\\\n\\u0001\xC3\xA9\xEF\xBF\xBD\", "
               "\"Load\": -9223372036854775808}\n"
               "{\"start_lo\": \"beginning\", \"start_hi\": 1, \"stop_lo\": 2, \"stop_hi\": 2, "
               "\"definite\": false, \"Process\": \"\", \"Load\": 5}\n");
  rows.rows.count = 1;
  net_rows_row(&rows.rows, 0)[4].s = 0;
  check_format(TQL_FORMAT_JSON,
               "[{\"start_lo\": 1, \"start_hi\": 1, \"stop_lo\": 2, \"stop_hi\": \"forever\", "
               "\"definite\": true, \"Process\": \"\", \"Load\": -9223372036854775808}]\n");
  tql_rows_done(&rows);
}
END_TEST

START_TEST(csv_quotes) {
  begin(NULL, event, 0);
  ADD(1, "a,b", 1, 1, 1);
  ADD(1, "\"\"", 1, NET_BEGINNING, NET_FOREVER);
  ADD(1, "x\r\ny", 1, 1, 1);
  ADD(1, " plain ", 1, 1, 1);
  check_format(TQL_FORMAT_CSV,
               "at_lo,at_hi,definite,Process,Load\n1,1,true,\"a,b\",1\n"
               "beginning,forever,true,\"\"\"\"\"\",1\n1,1,true,\"x\r\ny\",1\n"
               "1,1,true, plain ,1\n");
  tql_rows_done(&rows);
}
END_TEST

/* ---- there and back ---- */

static double random_double(struct base_random *random) {
  uint64_t bits = base_random_next(random);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value - value == 0 && value != 0 ? value : 0.25;
}

static void random_row(struct base_random *random, union net_slot *row) {
  static const char *const texts[] = {"",    "a,b",  "\"",     "x\ny", "\xC3\xA9\xF0\x9F\x98\x80",
                                      " a ", "true", "\\\"\t", "\r\n"};
  row[0].i = (int64_t)base_random_below(random, 1000);
  row[1].i = row[0].i + (int64_t)base_random_below(random, 3);
  row[2].i = row[1].i + 1 + (int64_t)base_random_below(random, 3);
  row[3].i = base_random_below(random, 4) ? row[2].i : NET_FOREVER;
  row[4].i = (int64_t)base_random_next(random);
  row[5].f = random_double(random);
  row[6].s = base_strings_intern_text(strings, texts[base_random_below(random, 9)]);
  row[7].i = (int64_t)base_random_below(random, 2);
  char name[32];
  snprintf(name, sizeof name, "t:%s.#%u", texts[base_random_below(random, 9)],
           (unsigned)base_random_below(random, 3));
  row[8].s = base_strings_intern_text(strings, name);
  struct net_temporal value = net_temporal_normal((struct net_temporal){
      (double)base_random_below(random, 100) / 10, 1, 1, (double)base_random_below(random, 3)});
  row[9].f = value.n0;
  row[10].f = value.n1;
  row[11].f = value.d0;
  row[12].f = value.d1;
}

static void check_reads_back(enum tql_format format, enum sn_format read_format) {
  struct net_batch_builder builder;
  struct net_read_event answer;
  struct base_diag_sink diags;
  struct net_reader *reader;
  base_buffer_clear(&out);
  context.format = format;
  tql_format_rows(&out, &context, &rows);
  int descriptor = memfd_create("format", MFD_CLOEXEC);
  ck_assert_int_eq(write(descriptor, out.data, out.length), (ssize_t)out.length);
  lseek(descriptor, 0, SEEK_SET);
  struct sn_reader_options options = {.descriptor = descriptor,
                                      .format = read_format,
                                      .layout = wide,
                                      .strings = strings,
                                      .time = {.timeline = NET_TIMELINE_ABSTRACT}};
  base_diag_sink_init(&diags);
  ck_assert_int_eq(sn_reader_open(&options, &diags, &reader), BASE_OK);
  net_batch_builder_init(&builder, wide, (uint32_t)rows.rows.count + 1);
  enum net_read_result result = reader->class->read(reader, &builder, &answer);
  ck_assert_msg(result == NET_READ_ROWS, "%s", answer.reason);
  ck_assert_uint_eq(builder.count, rows.rows.count);
  ck_assert_mem_eq(builder.marks, rows.rows.marks, rows.rows.count);
  ck_assert_mem_eq(builder.rows, rows.rows.rows,
                   rows.rows.count * wide->slot_count * sizeof *builder.rows);
  net_batch_builder_done(&builder);
  reader->class->free(reader);
  base_diag_sink_done(&diags);
  close(descriptor);
}

START_TEST(reads_back) {
  struct base_random random = {_i + 11};
  begin(NULL, wide, 0);
  for (int i = 0; i < 500; i++)
    random_row(&random, net_rows_add(&rows.rows, (uint8_t)base_random_below(&random, 2)));
  check_reads_back(TQL_FORMAT_CSV, SN_CSV);
  check_reads_back(TQL_FORMAT_NDJSON, SN_NDJSON);
  tql_rows_finish(&rows, strings);
  check_reads_back(TQL_FORMAT_CSV, SN_CSV);
  tql_rows_done(&rows);
}
END_TEST

START_TEST(temporal_for_people) {
  begin(NULL, wide, 0);
  union net_slot *row = net_rows_add(&rows.rows, NET_DEFINITE);
  row[2].i = row[3].i = 5;
  row[9].f = 10000;
  row[10].f = 100;
  row[11].f = 277;
  row[12].f = 1;
  check_format(TQL_FORMAT_TABLE,
               "start | stop | i | f | s | b     | n | t\n"
               "------+------+---+---+---+-------+---+------------------\n"
               "    0 |    5 | 0 | 0 |   | false |   | (10000 100 277 1)\n(1 row)\n");
  tql_rows_done(&rows);
}
END_TEST

/* ---- live ---- */

static void live(enum tql_format format, const struct net_layout *layout, uint8_t marks,
                 const int64_t *times) {
  union net_slot row[6] = {0};
  for (uint32_t i = 0; i < layout->first_domain_slot; i++) row[i].i = times[i];
  row[layout->first_domain_slot].s = base_strings_intern_text(strings, "A");
  row[layout->first_domain_slot + 1].i = 7;
  context.format = format;
  tql_format_live_row(&out, &context, "Over", layout, row, marks, 20);
}

static void check_live(enum tql_format format, const char *expected) {
  base_buffer_clear(&out);
  context.format = format;
  tql_format_live_heading(&out, &context, "Over", period);
  live(format, period, NET_DEFINITE, (const int64_t[]){5, 5, NET_OPEN, NET_FOREVER});
  live(format, period, NET_DEFINITE | NET_CLOSES, (const int64_t[]){5, 5, 9, 9});
  live(format, period, 0, (const int64_t[]){5, 6, 9, 9});
  ck_assert_str_eq(base_buffer_text(&out), expected);
}

START_TEST(live_rows) {
  const char *table_form =
      "-- period Over (Process, Load)\n"
      "Over  opens   [5, ...)  Process = A, Load = 7\n"
      "Over  closes  [5, 9)  Process = A, Load = 7\n"
      "Over  holds   [5..6, 9)  Process = A, Load = 7  (Ω)\n";
  const char *ndjson_form =
      "{\"relation\": \"Over\", \"change\": \"open\", \"start_lo\": 5, \"start_hi\": 5, "
      "\"stop_lo\": 20, \"stop_hi\": \"forever\", \"definite\": true, \"Process\": \"A\", "
      "\"Load\": 7}\n"
      "{\"relation\": \"Over\", \"change\": \"close\", \"start_lo\": 5, \"start_hi\": 5, "
      "\"stop_lo\": 9, \"stop_hi\": 9, \"definite\": true, \"Process\": \"A\", \"Load\": 7}\n"
      "{\"relation\": \"Over\", \"change\": \"whole\", \"start_lo\": 5, \"start_hi\": 6, "
      "\"stop_lo\": 9, \"stop_hi\": 9, \"definite\": false, \"Process\": \"A\", \"Load\": 7}\n";
  check_live(TQL_FORMAT_TABLE, table_form);
  check_live(TQL_FORMAT_TIMELINE, table_form);
  check_live(TQL_FORMAT_NDJSON, ndjson_form);
  check_live(TQL_FORMAT_JSON, ndjson_form);
  check_live(TQL_FORMAT_CSV,
             "relation,change,start_lo,start_hi,stop_lo,stop_hi,definite,Process,Load\n"
             "Over,open,5,5,20,forever,true,A,7\nOver,close,5,5,9,9,true,A,7\n"
             "Over,whole,5,6,9,9,false,A,7\n");
  check_live(TQL_FORMAT_MARKDOWN,
             "| relation | change | start | stop | definite | Process | Load |\n"
             "| --- | --- | ---: | ---: | --- | --- | ---: |\n"
             "| Over | open | 5 | 20..forever | true | A | 7 |\n"
             "| Over | close | 5 | 9 | true | A | 7 |\n| Over | whole | 5..6 | 9 | Ω | A | 7 |\n");
  check_live(TQL_FORMAT_LINE,
             "relation = Over\nchange = open\n  start = 5\n   stop = 20..forever\nProcess = A\n"
             "   Load = 7\n\nrelation = Over\nchange = close\n  start = 5\n   stop = 9\n"
             "Process = A\n   Load = 7\n\nrelation = Over\nchange = whole\ndefinite = Ω\n"
             "  start = 5..6\n   stop = 9\nProcess = A\n   Load = 7\n\n");
  check_live(TQL_FORMAT_COUNT, "");
  base_buffer_clear(&out);
  live(TQL_FORMAT_TABLE, event, NET_DEFINITE, (const int64_t[]){5, 5});
  ck_assert_str_eq(base_buffer_text(&out), "Over  [5]  Process = A, Load = 7\n");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("format");
  TCase *cases = tcase_create("format");
  tcase_add_checked_fixture(cases, setup, teardown);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, names);
  tcase_add_test(cases, order_and_set);
  tcase_add_loop_test(cases, order_of_many, 0, 8);
  tcase_add_loop_test(cases, order_of_plain_batches, 0, 8);
  tcase_add_test(cases, closing_rows);
  tcase_add_test(cases, closing_twice);
  tcase_add_test(cases, closing_many);
  tcase_add_test(cases, table);
  tcase_add_test(cases, table_too_wide);
  tcase_add_test(cases, table_indeterminate);
  tcase_add_test(cases, table_real_and_empty);
  tcase_add_test(cases, line_and_markdown);
  tcase_add_test(cases, timeline);
  tcase_add_test(cases, timeline_events);
  tcase_add_test(cases, timeline_extremes);
  tcase_add_test(cases, separated_results);
  tcase_add_test(cases, json);
  tcase_add_test(cases, csv_quotes);
  tcase_add_loop_test(cases, reads_back, 0, 5);
  tcase_add_test(cases, temporal_for_people);
  tcase_add_test(cases, live_rows);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
