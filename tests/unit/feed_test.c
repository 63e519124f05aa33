/* Readers of CSV and NDJSON.
 *
 * What a reader says of an input is written down as text, one line an answer, and compared. Every
 * input is read twice more than once: from a file, and through a pipe that is followed, cut into
 * pieces of many sizes; apart from "nothing now" the answers must be the same. */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "sensors/feed/feed.h"
#include "tests/temporary.h"

static struct base_arena *arena;
static struct base_strings *strings;
static struct net_layout *event, *period, *bare;

static void setup(void) {
  arena = base_arena_new();
  strings = base_strings_new();
  struct net_field fields[] = {{.name = "Count", .type = {NET_INTEGER, 4}},
                               {.name = "name", .type = {NET_STRING, 5}},
                               {.name = "load", .type = {NET_FLOAT, 8}},
                               {.name = "up", .type = {NET_BOOL, 0}}};
  struct net_field temporal[] = {{.name = "x", .type = {NET_INTEGER, 8}},
                                 {.name = "d", .type = {NET_TEMPORAL, 0}}};
  event = net_layout_new(arena, NET_EVENT, fields, 4);
  period = net_layout_new(arena, NET_PERIOD, temporal, 2);
  bare = net_layout_new(arena, NET_PERIOD, temporal, 1);
}

static void teardown(void) {
  base_strings_free(strings);
  base_arena_free(arena);
}

/* ---- writing down what a reader says ---- */

static void log_slots(struct base_buffer *log, const struct net_layout *layout,
                      const union net_slot *row) {
  for (uint32_t i = 0; i < layout->first_domain_slot; i++) {
    base_buffer_putc(log, ' ');
    if (i == 2 && row[i].i == NET_OPEN)
      base_buffer_puts(log, "open");
    else
      net_time_print_raw(log, row[i].i);
  }
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const union net_slot *slot = row + layout->fields[i].slot;
    base_buffer_putc(log, ' ');
    switch (layout->fields[i].type.base) {
      case NET_INTEGER:
      case NET_BOOL:
        base_buffer_int(log, slot->i);
        break;
      case NET_FLOAT:
        base_buffer_double(log, slot->f);
        break;
      case NET_STRING:
        base_buffer_printf(log, "<%s>", base_strings_text(strings, slot->s, NULL));
        break;
      default:
        base_buffer_printf(log, "(%g %g %g %g)", slot[0].f, slot[1].f, slot[2].f, slot[3].f);
    }
  }
}

static void log_rows(struct base_buffer *log, struct net_batch_builder *builder) {
  struct net_batch batch = net_batch_builder_batch(builder, NET_BEGINNING);
  for (uint32_t i = 0; i < batch.count; i++) {
    ck_assert_int_eq(net_batch_marks(&batch, i) & ~NET_DEFINITE, 0);
    base_buffer_puts(log, net_batch_marks(&batch, i) ? "row" : "perhaps");
    log_slots(log, batch.layout, net_batch_row(&batch, i));
    base_buffer_putc(log, '\n');
  }
  net_batch_builder_clear(builder);
}

static void log_answer(struct base_buffer *log, const struct net_layout *layout,
                       enum net_read_result result, const struct net_read_event *answer) {
  switch (result) {
    case NET_READ_CHECKPOINT:
      base_buffer_printf(log, "checkpoint %ld\n", (long)answer->time);
      break;
    case NET_READ_ROTATED:
      base_buffer_printf(log, "rotated: %s\n", answer->reason ? answer->reason : "nothing is lost");
      break;
    case NET_READ_ROUND:
      base_buffer_printf(log, "round %ld\n", (long)answer->time);
      break;
    case NET_READ_END_RECORD:
      base_buffer_printf(log, "end %ld", (long)answer->time);
      for (uint32_t i = 0; i < layout->field_count; i++)
        if (answer->named[i]) base_buffer_printf(log, " %s", layout->fields[i].name);
      log_slots(log, layout, answer->row);
      base_buffer_putc(log, '\n');
      break;
    case NET_READ_BAD:
    case NET_READ_FAILED:
      base_buffer_printf(log, "%s %d %ld:%ld %s\n", result == NET_READ_BAD ? "bad" : "failed",
                         (int)answer->number, (long)answer->line, (long)answer->column,
                         answer->reason);
      break;
    case NET_READ_END:
      base_buffer_puts(log, "done\n");
      break;
    case NET_READ_ROWS:
    case NET_READ_AGAIN:
      break;
  }
}

/* Until there is nothing more, or nothing now. */
static enum net_read_result drain(struct net_reader *reader, struct base_buffer *log,
                                  uint32_t capacity) {
  struct net_batch_builder builder;
  struct net_read_event answer;
  enum net_read_result result;
  net_batch_builder_init(&builder, reader->layout, capacity);
  do {
    result = reader->class->read(reader, &builder, &answer);
    ck_assert((result == NET_READ_ROWS) == (builder.count > 0));
    log_rows(log, &builder);
    log_answer(log, reader->layout, result, &answer);
  } while (result != NET_READ_END && result != NET_READ_AGAIN && result != NET_READ_FAILED);
  net_batch_builder_done(&builder);
  return result;
}

static struct net_reader *open_reader(struct sn_reader_options options) {
  struct base_diag_sink diags;
  struct net_reader *reader = NULL;
  base_diag_sink_init(&diags);
  options.strings = strings;
  ck_assert_int_eq(sn_reader_open(&options, &diags, &reader), BASE_OK);
  base_diag_sink_done(&diags);
  return reader;
}

static int memory_file(const char *text, size_t length) {
  int descriptor = memfd_create("feed", MFD_CLOEXEC);
  ck_assert_int_eq(write(descriptor, text, length), (ssize_t)length);
  lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

static void read_file(struct sn_reader_options options, const char *text, size_t length,
                      uint32_t capacity, struct base_buffer *log) {
  options.descriptor = memory_file(text, length);
  struct net_reader *reader = open_reader(options);
  enum net_read_result result = drain(reader, log, capacity);
  ck_assert_int_ne(result, NET_READ_AGAIN);
  if (result == NET_READ_END) ck_assert_int_eq(reader->class->position(reader), (int64_t)length);
  reader->class->free(reader);
  close(options.descriptor);
}

static void read_pipe(struct sn_reader_options options, const char *text, size_t length,
                      size_t piece, struct base_buffer *log) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  options.descriptor = ends[0];
  options.following = true;
  struct net_reader *reader = open_reader(options);
  enum net_read_result result = drain(reader, log, 3);
  ck_assert_int_eq(result, NET_READ_AGAIN);
  for (size_t at = 0; at < length && result == NET_READ_AGAIN; at += piece) {
    size_t size = length - at < piece ? length - at : piece;
    ck_assert_int_eq(write(ends[1], text + at, size), (ssize_t)size);
    result = drain(reader, log, 3);
  }
  close(ends[1]);
  /* That it is closed need not be seen at once. */
  while (result == NET_READ_AGAIN) result = drain(reader, log, 3);
  reader->class->free(reader);
  close(ends[0]);
}

static void check_options(struct sn_reader_options options, const char *text, size_t length,
                          const char *expected) {
  static const size_t pieces[] = {1, 2, 3, 5, 7, 13, 64, 1000};
  for (uint32_t capacity = 1; capacity < 4; capacity++) {
    struct base_buffer log = BASE_BUFFER_EMPTY;
    read_file(options, text, length, capacity, &log);
    ck_assert_str_eq(base_buffer_text(&log), expected);
    base_buffer_done(&log);
  }
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
    struct base_buffer log = BASE_BUFFER_EMPTY;
    read_pipe(options, text, length, pieces[i], &log);
    ck_assert_str_eq(base_buffer_text(&log), expected);
    base_buffer_done(&log);
  }
}

static struct sn_reader_options options_for(const struct net_layout *layout,
                                            enum sn_format format) {
  return (struct sn_reader_options){
      .layout = layout, .format = format, .time = {.timeline = NET_TIMELINE_ABSTRACT}};
}

static void check_csv(const struct net_layout *layout, const char *text, const char *expected) {
  check_options(options_for(layout, SN_CSV), text, strlen(text), expected);
}

static void check_ndjson(const struct net_layout *layout, const char *text, const char *expected) {
  check_options(options_for(layout, SN_NDJSON), text, strlen(text), expected);
}

/* ---- CSV ---- */

START_TEST(csv_rows) {
  check_csv(event, "at,Count,name,load,up\n5,1,ab,2.5,true\n-6,-2,,1e3,0\n",
            "row 5 5 1 <ab> 2.5 1\nrow -6 -6 -2 <> 1000 0\ndone\n");
  check_csv(event, "UP,at_hi,LOAD,\"count\",Name,at_lo,definite\r\n1,9,0.1,7,x,8,false\r\n",
            "perhaps 8 9 7 <x> 0.1 1\ndone\n");
  check_csv(event, "at,count,name,load,up\n\nforever,1,a,0,FALSE\n\r\nbeginning, 2 ,b, -0.0 ,1",
            "row forever forever 1 <a> 0 0\nrow beginning beginning 2 <b> 0 1\ndone\n");
  check_csv(event,
            "\xEF\xBB\xBF"
            "at,count,name,load,up\n1,1,\xC3\xA9,1,1\n",
            "row 1 1 1 <\xC3\xA9> 1 1\ndone\n");
  check_csv(event, "at,count,name,load,up\n", "done\n");
}
END_TEST

START_TEST(csv_quotation) {
  check_csv(event,
            "at,count,name,load,up\n1,\"2\",\"a,b\",1,1\n2,3,\"\"\"\",1,1\n3,4,\"x\n\"\"y\",1,1\n"
            "4,5,\"\",\"1.5\",\"true\"\n",
            "row 1 1 2 <a,b> 1 1\nrow 2 2 3 <\"> 1 1\nrow 3 3 4 <x\n\"y> 1 1\n"
            "row 4 4 5 <> 1.5 1\ndone\n");
  check_csv(event,
            "at,count,name,load,up\n1,2,a\"b,1,1\n2,2,\"a\"b,1,1\n3,2,\"a\n\",1,x\n4,4,ok,1,1\n",
            "bad 504 2:6 a quotation mark inside a field that does not begin with one\n"
            "bad 504 3:8 something follows the closing quotation mark\n"
            "bad 505 5:5 up: \"x\" is neither true nor false\n"
            "row 4 4 4 <ok> 1 1\ndone\n");
  /* An opening mark without its partner costs its own line only. */
  check_csv(event, "at,count,name,load,up\n1,2,\"abc,1,1\n2,3,ok,1,1\n3,4,ok,1,1",
            "bad 504 2:1 a quotation mark is never closed\nrow 2 2 3 <ok> 1 1\n"
            "row 3 3 4 <ok> 1 1\ndone\n");
}
END_TEST

START_TEST(csv_headers) {
  check_csv(event, "at,count,nam,load,up\n1,1,1,1,1\n",
            "failed 501 1:10 the relation has no column \"nam\"; did you mean name?\n");
  check_csv(event, "at,count,load,up\n", "failed 502 1:1 column name is missing\n");
  check_csv(event, "at,count,name,load,up,COUNT\n", "failed 503 1:23 Count is given twice\n");
  check_csv(event, "at,at_lo,at_hi,count,name,load,up\n", "failed 503 1:1 at is given twice\n");
  check_csv(event, "at_lo,count,name,load,up\n", "failed 502 1:1 column at_hi is missing\n");
  check_csv(event, "at,count,name,load,up,\n", "failed 501 1:23 the relation has no column \"\"\n");
  check_csv(event, "at,\"count\n", "failed 504 1:1 a quotation mark is never closed\n");
  check_csv(period, "start,stop,x,d\n", "failed 501 1:14 the relation has no column \"d\"\n");
}
END_TEST

START_TEST(csv_empty_input) {
  struct base_buffer log = BASE_BUFFER_EMPTY;
  read_file(options_for(event, SN_CSV), "", 0, 1, &log);
  ck_assert_str_eq(base_buffer_text(&log), "failed 508 1:1 there is no header line\n");
  base_buffer_clear(&log);
  read_pipe(options_for(event, SN_CSV), "", 0, 1, &log);
  read_pipe(options_for(event, SN_GUESS), "\n", 1, 1, &log);
  read_file(options_for(event, SN_NDJSON), "", 0, 1, &log);
  ck_assert_str_eq(base_buffer_text(&log), "done\ndone\ndone\n");
  base_buffer_done(&log);
}
END_TEST

START_TEST(csv_bad_values) {
  check_csv(event,
            "at,count,name,load,up\n1,x,a,1,1\n1,2147483648,a,1,1\n1,1,abcdef,1,1\n1,1,a,nan,1\n"
            "1,1,a,1e999,1\n1,,a,1,1\n1,1,\xFF,1,1\n1,1.5,a,1,1\n1,1e1,a,1,1\nnow,1,a,1,1\n"
            "2020-01-01,1,a,1,1\n99999999999999999999,1,a,1,1\n1,1,a,1\n1,1,a,1,1,1\n",
            "bad 505 2:3 Count: \"x\" is no integer\n"
            "bad 505 3:3 Count: \"2147483648\" is out of the range of i4\n"
            "bad 505 4:5 name: \"abcdef\" is longer than its type allows\n"
            "bad 505 5:7 load: \"nan\" is no number\n"
            "bad 505 6:7 load: \"1e999\" is out of the range of f8\n"
            "bad 505 7:3 Count: the value is missing\n"
            "bad 505 8:5 name: \"\\xff\" is not valid UTF-8\n"
            "bad 505 9:3 Count: \"1.5\" is no whole number\n"
            "row 1 1 10 <a> 1 1\n"
            "bad 505 11:1 at: \"now\" is no time\n"
            "bad 505 12:1 at: \"2020-01-01\" is a date, and times on the abstract timeline are "
            "integers\n"
            "bad 505 13:1 at: \"99999999999999999999\" is out of the range of times\n"
            "bad 504 14:8 fewer fields than the 5 fields of the header\n"
            "bad 504 15:11 more fields than the 5 fields of the header\n"
            "done\n");
}
END_TEST

/* SQL would end the text there. */
START_TEST(nul_in_a_text) {
  static const char csv[] = "at,count,name,load,up\n1,1,a\0b,1,1\n2,1,ab,1,1\n";
  check_options(
      options_for(event, SN_CSV), csv, sizeof csv - 1,
      "bad 505 2:5 name: \"a\\x00b\" is no text to be stored, as it has the character NUL\n"
      "row 2 2 1 <ab> 1 1\ndone\n");
  check_ndjson(
      event, "{\"at\":1,\"count\":1,\"name\":\"a\\u0000\",\"load\":1,\"up\":true}\n",
      "bad 505 1:26 name: \"a\\x00\" is no text to be stored, as it has the character NUL\n"
      "done\n");
}
END_TEST

START_TEST(csv_periods) {
  check_csv(bare, "start,stop,x\n1,5,1\n2,,2\n5,5,3\n6,5,4\n1,beginning,5\nbeginning,forever,6\n",
            "row 1 1 5 5 1\nrow 2 2 open forever 2\n"
            "bad 506 4:3 the period is empty: it stops when it starts\n"
            "bad 506 5:3 the period stops before it starts\n"
            "bad 505 6:3 stop: \"beginning\" is no time to stop at\n"
            "row beginning beginning forever forever 6\ndone\n");
  check_csv(bare,
            "start_lo,start_hi,stop_lo,stop_hi,x\n1,2,5,6,1\n2,1,5,6,2\n1,2,6,5,3\n3,4,2,6,4\n"
            "1,5,2,4,5\n1,1,,,6\n1,1,,9,7\n1,1,9,,8\n1,4,2,5,9\n1,1,,0,10\n5,5,,5,11\n",
            "row 1 2 5 6 1\n"
            "bad 506 3:3 start_lo is after start_hi\n"
            "bad 506 4:7 stop_lo is after stop_hi\n"
            "bad 506 5:7 a bound of stop is before the same bound of start\n"
            "bad 506 6:7 a bound of stop is before the same bound of start\n"
            "row 1 1 open forever 6\nrow 1 1 open 9 7\n"
            "bad 506 9:7 stop_hi is empty and stop_lo is not\n"
            "row 1 4 2 5 9\n"
            "bad 506 11:6 a bound of stop is before the same bound of start\n"
            "bad 506 12:6 the period is empty\n"
            "done\n");
}
END_TEST

START_TEST(csv_temporal) {
  check_csv(period,
            "start,stop,x,d_n0,d_n1,d_d0,d_d1\n0,9,1,0,1,1,0\n0,9,2,4,0,2,0\n0,9,3,1,1,0,0\n"
            "0,9,4,inf,1,1,0\n",
            "row 0 0 9 9 1 (0 1 1 0)\nrow 0 0 9 9 2 (2 0 1 0)\n"
            "bad 505 4:1 d: the denominator is zero\n"
            "bad 505 5:7 d_n0: \"inf\" is no number\ndone\n");
}
END_TEST

START_TEST(csv_timeless) {
  struct sn_reader_options options = options_for(bare, SN_CSV);
  const char *text = "x\n1\n2\n", *mixed = "x,start\n1,2\n";
  options.timeless = true;
  check_options(options, text, strlen(text),
                "row beginning beginning forever forever 1\n"
                "row beginning beginning forever forever 2\ndone\n");
  check_options(options, mixed, strlen(mixed), "failed 502 1:1 column stop is missing\n");
}
END_TEST

START_TEST(real_times) {
  struct sn_reader_options options = options_for(bare, SN_CSV);
  const char *text =
      "start,stop,x\n1970-01-01T00:00:01Z,\"1970-01-01 00:00:02.5Z\",1\n"
      "1970-13-01,5,1\n3:00pm,5,1\n";
  options.time.timeline = NET_TIMELINE_REAL;
  check_options(options, text, strlen(text),
                "row 1000000000 1000000000 2500000000 2500000000 1\n"
                "bad 505 3:1 start: \"1970-13-01\" is no date or time of day that there is\n"
                "bad 505 4:1 start: \"3:00pm\" is no time\ndone\n");
}
END_TEST

/* ---- limits ---- */

START_TEST(long_lines) {
  struct sn_reader_options options = options_for(event, SN_CSV);
  const char *text =
      "at,count,name,load,up\n1,1,abcdefghijklmnopqrstuvwxyz,1,1\n2,2,b,2,1\n"
      "3,3,\"c\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n4,4,d,4,1\n";
  options.line_limit = 22;
  check_options(options, text, strlen(text),
                "bad 507 2:1 the line is longer than 22 bytes\nrow 2 2 2 <b> 2 1\n"
                "bad 504 4:1 a quotation mark is never closed\nrow 4 4 4 <d> 4 1\ndone\n");
  options.line_limit = 21;
  check_options(options, text, 22 + 35 + 10,
                "bad 507 2:1 the line is longer than 21 bytes\nrow 2 2 2 <b> 2 1\ndone\n");
  options.line_limit = 20;
  check_options(options, text, 22, "failed 507 1:1 the line is longer than 20 bytes\n");
}
END_TEST

/* The longest line that is allowed comes through whole, and a longer one does not fill the memory.
 */
START_TEST(lines_at_the_limit) {
  struct net_field field = {.name = "s", .type = {NET_STRING, 0}};
  struct net_layout *layout = net_layout_new(arena, NET_EVENT, &field, 1);
  struct sn_reader_options options = options_for(layout, SN_CSV);
  struct net_batch_builder builder;
  struct net_read_event answer;
  const size_t limit = 1000000;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_puts(&text, "at,s\n1,");
  for (size_t i = 0; i < limit - 2; i++) base_buffer_putc(&text, 'x');
  base_buffer_puts(&text, "\n2,");
  for (size_t i = 0; i < 10 * limit; i++) base_buffer_putc(&text, 'y');
  base_buffer_puts(&text, "\n3,z\n");
  options.line_limit = limit;
  options.descriptor = memory_file(text.data, text.length);
  struct net_reader *reader = open_reader(options);
  net_batch_builder_init(&builder, layout, 10);
  ck_assert_int_eq(reader->class->read(reader, &builder, &answer), NET_READ_ROWS);
  size_t length;
  base_strings_text(strings, builder.rows[2].s, &length);
  ck_assert_uint_eq(length, limit - 2);
  net_batch_builder_clear(&builder);
  ck_assert_int_eq(reader->class->position(reader), (int64_t)limit + 6);
  ck_assert_int_eq(reader->class->read(reader, &builder, &answer), NET_READ_BAD);
  ck_assert_uint_eq(answer.record_length, limit);
  ck_assert_int_eq(answer.line, 3);
  ck_assert_int_eq(reader->class->position(reader), (int64_t)(limit + 6 + 10 * limit + 3));
  ck_assert_int_eq(reader->class->read(reader, &builder, &answer), NET_READ_ROWS);
  ck_assert_int_eq(builder.rows[0].i, 3);
  net_batch_builder_done(&builder);
  reader->class->free(reader);
  close(options.descriptor);
  base_buffer_done(&text);
}
END_TEST

/* ---- NDJSON ---- */

START_TEST(ndjson_rows) {
  check_ndjson(
      event,
      "{\"at\": 5, \"count\": 1, \"name\": \"ab\", \"load\": 2.5, \"up\": true}\n\n"
      " { \"UP\":0,\"load\":-1e-2 , \"name\":\"\",\"Count\":3e2,\"at_lo\":1,\"at_hi\":"
      "\"forever\",\"definite\":false } \r\n"
      "{\"at\":9223372036854775806,\"count\":-2147483648,\"name\":\"a\",\"load\":1,\"up\":1}",
      "row 5 5 1 <ab> 2.5 1\nperhaps 1 forever 300 <> -0.01 0\n"
      "row 9223372036854775806 9223372036854775806 -2147483648 <a> 1 1\ndone\n");
  check_ndjson(
      bare,
      "{\"start\":1,\"x\":9007199254740993}\n{\"start\":2,\"stop\":null,\"x\":-9223372036854775808}"
      "\n"
      "{\"start\":3,\"stop\":\"\",\"x\":1}\n{\"start\":4,\"stop_lo\":null,\"stop_hi\":7,\"x\":1}\n",
      "row 1 1 open forever 9007199254740993\nrow 2 2 open forever -9223372036854775808\n"
      "row 3 3 open forever 1\nrow 4 4 open 7 1\ndone\n");
}
END_TEST

START_TEST(ndjson_strings) {
  check_ndjson(
      event,
      "{\"at\":1,\"count\":1,\"name\":\"\\u00e9\\n\\\"\\\\\\/\",\"load\":0,\"up\":1}\n"
      "{\"at\":1,\"count\":1,\"n\\u0061me\":\"\\uD83D\\uDE00\xF0\x9F\x98\x80\",\"load\":0,\"up\":1}"
      "\n",
      "row 1 1 1 <\xC3\xA9\n\"\\/> 0 1\nrow 1 1 1 <\xF0\x9F\x98\x80\xF0\x9F\x98\x80> 0 1\ndone\n");
}
END_TEST

static void check_bad_json(const char *line, const char *expected) {
  struct base_buffer text = BASE_BUFFER_EMPTY, log = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s\n{\"checkpoint\": 1}\n", line);
  base_buffer_printf(&log, "%s\ncheckpoint 1\ndone\n", expected);
  check_ndjson(bare, base_buffer_text(&text), base_buffer_text(&log));
  base_buffer_done(&text);
  base_buffer_done(&log);
}

START_TEST(ndjson_syntax) {
  check_bad_json("[1]", "bad 504 1:1 a JSON object is expected");
  check_bad_json("{", "bad 504 1:2 a key in quotation marks is expected");
  check_bad_json("{}", "bad 502 1:1 column start is missing");
  check_bad_json("{\"x\":1,}", "bad 504 1:8 a key in quotation marks is expected");
  check_bad_json("{\"x\" 1}", "bad 504 1:6 a colon is expected");
  check_bad_json("{\"x\":}", "bad 504 1:6 a value is expected");
  check_bad_json("{\"x\":1 2}", "bad 504 1:8 a comma or a closing brace is expected");
  check_bad_json("{\"x\":1} {", "bad 504 1:9 something follows the object");
  check_bad_json("{\"x\":01}", "bad 504 1:6 a number with leading zeros");
  check_bad_json("{\"x\":1.}", "bad 504 1:6 a number without digits behind its point");
  check_bad_json("{\"x\":1e}", "bad 504 1:6 a number without its exponent");
  check_bad_json("{\"x\":+1}", "bad 504 1:6 a value is expected");
  check_bad_json("{\"x\":NaN}", "bad 504 1:6 a value is expected");
  check_bad_json("{\"x\":[1]}", "bad 504 1:6 an object or array where a plain value is expected");
  check_bad_json("{\"x\":{\"y\":1}}",
                 "bad 504 1:6 an object or array where a plain value is expected");
  check_bad_json("{\"x\":\"\\x\"}", "bad 504 1:7 an unknown escape");
  check_bad_json("{\"x\":\"\\u12g4\"}", "bad 504 1:7 \\u needs four hexadecimal digits");
  check_bad_json("{\"x\":\"\\ud800\"}", "bad 504 1:7 a lone high surrogate");
  check_bad_json("{\"x\":\"\\ud800\\u0041\"}", "bad 504 1:7 a lone high surrogate");
  check_bad_json("{\"x\":\"\\udc00\"}", "bad 504 1:7 a lone low surrogate");
  check_bad_json("{\"x\":\"a\tb\"}", "bad 504 1:8 a control character in a string");
  check_bad_json("{\"x\":\"\xC0\x80\"}", "bad 504 1:7 not valid UTF-8");
  check_bad_json("{\"x\":\"\xED\xA0\x80\"}", "bad 504 1:7 not valid UTF-8");
  check_bad_json("{\"x\":\"\xF4\x90\x80\x80\"}", "bad 504 1:7 not valid UTF-8");
  check_bad_json("{\"x\":\"ab", "bad 504 1:9 a string without its closing quotation mark");
  check_bad_json("{\"x\":truer}", "bad 504 1:10 a comma or a closing brace is expected");
}
END_TEST

START_TEST(ndjson_values) {
  check_bad_json("{\"start\":1,\"x\":1,\"X\":2}", "bad 503 1:18 x is given twice");
  check_bad_json("{\"start\":1,\"start_lo\":1,\"start_hi\":2,\"x\":2}",
                 "bad 503 1:1 start is given twice");
  check_bad_json("{\"start\":1,\"y\":1}", "bad 501 1:12 the relation has no column \"y\"");
  check_bad_json("{\"start\":1,\"x\":\"1\"}",
                 "bad 505 1:16 x: a string where a value of type i8 is expected");
  check_bad_json("{\"start\":1,\"x\":null}",
                 "bad 505 1:16 x: null where a value of type i8 is expected");
  check_bad_json("{\"start\":null,\"x\":1}",
                 "bad 505 1:10 start: null where a value of type time is expected");
  check_bad_json("{\"start\":1,\"x\":1.5}", "bad 505 1:16 x: \"1.5\" is no whole number");
  check_bad_json("{\"start\":1,\"x\":9223372036854775808}",
                 "bad 505 1:16 x: \"9223372036854775808\" is out of the range of i8");
  check_bad_json("{\"start\":1,\"stop\":1,\"x\":1}",
                 "bad 506 1:19 the period is empty: it stops when it starts");
  check_bad_json("{\"start\":1.5,\"x\":1}",
                 "bad 505 1:10 start: \"1.5\" is no whole number of chronons");
  check_bad_json("{\"start\":1,\"stop_lo\":1,\"x\":1}", "bad 502 1:1 column stop_hi is missing");
}
END_TEST

START_TEST(ndjson_control) {
  check_ndjson(
      event,
      "{\"checkpoint\": 7}\n{\"ROUND\": \"8\"}\n{\"end\": 9, \"name\": \"p\"}\n{\"end\":1}\n",
      "checkpoint 7\nround 8\nend 9 name 0 0 0 <p> 0 0\nend 1 0 0 0 <> 0 0\ndone\n");
  check_ndjson(event,
               "{\"checkpoint\": 7, \"name\": \"p\"}\n{\"end\": 7, \"definite\": true}\n"
               "{\"end\": 1, \"at\": 2}\n{\"end\": true}\n{\"checkpoint\":1,\"round\":2}\n",
               "bad 504 1:19 name cannot stand beside checkpoint\n"
               "bad 504 2:12 definite cannot stand beside end\n"
               "bad 501 3:2 the relation has no column \"end\"\n"
               "bad 505 4:9 the time: true where a value of type time is expected\n"
               "bad 501 5:17 the relation has no column \"round\"\ndone\n");
  check_ndjson(
      period,
      "{\"end\": 1, \"d_n0\": 1, \"d_n1\": 1, \"d_d0\":2, \"d_d1\":0}\n{\"end\":2,\"d_n0\":1}\n",
      "end 1 d 0 0 0 0 0 (0.5 0.5 1 0)\nbad 502 2:1 column d_n1 is missing\ndone\n");
}
END_TEST

/* A domain may have the name of a control record. */
START_TEST(ndjson_domain_called_end) {
  struct net_field field = {.name = "end", .type = {NET_INTEGER, 8}};
  struct net_layout *layout = net_layout_new(arena, NET_EVENT, &field, 1);
  check_ndjson(layout, "{\"at\":1,\"end\":2}\n{\"end\":3}\n{\"end\":3,\"End\":4}\n",
               "row 1 1 2\nend 3 0 0 0\nend 3 end 0 0 4\ndone\n");
}
END_TEST

/* ---- formats, files, following ---- */

START_TEST(guessed_formats) {
  struct base_buffer log = BASE_BUFFER_EMPTY;
  const char *json = "\xEF\xBB\xBF \n {\"start\":1,\"x\":2}", *csv = "\n x,start,stop\n1,2,3";
  check_options(options_for(bare, SN_GUESS), json, strlen(json), "row 1 1 open forever 2\ndone\n");
  check_options(options_for(bare, SN_GUESS), csv, strlen(csv), "row 2 2 3 3 1\ndone\n");
  base_buffer_done(&log);
}
END_TEST

static char *make_file(const char *suffix, const char *text) {
  static int count;
  char *directory = temporary_path("feed_test");
  char *path = base_arena_printf(arena, "%s_%ld_%d%s", directory, (long)getpid(), count++, suffix);
  free(directory);
  int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
  close(descriptor);
  return path;
}

static void append_file(const char *path, const char *text) {
  int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
  ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
  close(descriptor);
}

static void check_drain(struct net_reader *reader, enum net_read_result result,
                        const char *expected) {
  struct base_buffer log = BASE_BUFFER_EMPTY;
  ck_assert_int_eq(drain(reader, &log, 2), result);
  ck_assert_str_eq(base_buffer_text(&log), expected);
  base_buffer_done(&log);
}

START_TEST(growing_file) {
  struct sn_reader_options options = options_for(bare, SN_GUESS);
  options.path = make_file(".CSV", "x,start");
  options.following = true;
  struct net_reader *reader = open_reader(options);
  struct pollfd poll_for = {.fd = reader->class->descriptor(reader), .events = POLLIN};
  check_drain(reader, NET_READ_AGAIN, "");
  append_file(options.path, ",stop\n1,2,");
  if (poll_for.fd >= 0) ck_assert_int_eq(poll(&poll_for, 1, 1000), 1);
  check_drain(reader, NET_READ_AGAIN, "");
  if (poll_for.fd >= 0) ck_assert_int_eq(poll(&poll_for, 1, 0), 0);
  append_file(options.path, "3");
  check_drain(reader, NET_READ_AGAIN, "");
  append_file(options.path, "\n2,3,4\n3,4");
  check_drain(reader, NET_READ_AGAIN, "row 2 2 3 3 1\nrow 3 3 4 4 2\n");
  int64_t position = reader->class->position(reader);
  ck_assert_int_eq(position, 13 + 6 + 6);
  reader->class->free(reader);
  append_file(options.path, ",5\nx\n");
  options.position = position;
  reader = open_reader(options);
  check_drain(reader, NET_READ_AGAIN, "row 4 4 5 5 3\nbad 505 5:1 x: \"x\" is no integer\n");
  reader->class->free(reader);
  unlink(options.path);
}
END_TEST

/* Copied and truncated: the writer goes on behind the old header, or writes one again. */
START_TEST(truncated_file) {
  struct sn_reader_options options = options_for(bare, SN_CSV);
  options.path = make_file(".csv", "x,start,stop\n1,2,3\n2,3,4\n3,");
  options.following = true;
  struct net_reader *reader = open_reader(options);
  check_drain(reader, NET_READ_AGAIN, "row 2 2 3 3 1\nrow 3 3 4 4 2\n");
  ck_assert_int_eq(truncate(options.path, 0), 0);
  check_drain(reader, NET_READ_AGAIN, "rotated: the file was truncated\n");
  ck_assert_int_eq(reader->class->position(reader), 0);
  append_file(options.path, "4,5,6\n");
  check_drain(reader, NET_READ_AGAIN, "row 5 5 6 6 4\n");
  ck_assert_int_eq(reader->class->position(reader), 6);
  append_file(options.path, "5,6,7\n");
  check_drain(reader, NET_READ_AGAIN, "row 6 6 7 7 5\n");
  ck_assert_int_eq(truncate(options.path, 0), 0);
  check_drain(reader, NET_READ_AGAIN, "rotated: the file was truncated\n");
  append_file(options.path, "start,stop,x\n");
  check_drain(reader, NET_READ_AGAIN, "");
  append_file(options.path, "8,9,6\n");
  check_drain(reader, NET_READ_AGAIN, "row 8 8 9 9 6\n");
  int64_t position = reader->class->position(reader);
  reader->class->free(reader);
  /* Between two readers. */
  ck_assert_int_eq(truncate(options.path, 13), 0);
  options.position = position;
  reader = open_reader(options);
  check_drain(reader, NET_READ_AGAIN, "rotated: the file was truncated\n");
  append_file(options.path, "9,10,7\n");
  check_drain(reader, NET_READ_AGAIN, "row 9 9 10 10 7\n");
  reader->class->free(reader);
  unlink(options.path);
}
END_TEST

static void put(int descriptor, const char *text) {
  ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
}

/* What came by a pipe is reported again until it is settled, from the header on, with its lines and positions; also of a
 * line that is too long to be kept whole. */
START_TEST(held_pipe) {
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  struct sn_reader_options options = options_for(bare, SN_CSV);
  options.descriptor = ends[0];
  options.following = options.holding = true;
  options.line_limit = 20;
  struct net_reader *reader = open_reader(options);
  const struct net_reader_class *class = reader->class;
  put(ends[1], "x,start,stop\n1,2,3\n2,3,");
  for (int i = 0; i < 3; i++) {
    check_drain(reader, NET_READ_AGAIN, "row 2 2 3 3 1\n");
    ck_assert_int_eq(class->position(reader), 19);
    class->rewind(reader);
    ck_assert_int_eq(class->position(reader), 0);
  }
  check_drain(reader, NET_READ_AGAIN, "row 2 2 3 3 1\n");
  class->settle(reader);
  put(ends[1], "4\nx\n");
  for (int i = 0; i < 3; i++) {
    check_drain(reader, NET_READ_AGAIN, "row 3 3 4 4 2\nbad 505 4:1 x: \"x\" is no integer\n");
    ck_assert_int_eq(class->position(reader), 27);
    class->rewind(reader);
    ck_assert_int_eq(class->position(reader), 19);
  }
  put(ends[1], "3,4,5                          ");
  check_drain(reader, NET_READ_AGAIN, "row 3 3 4 4 2\nbad 505 4:1 x: \"x\" is no integer\n");
  class->rewind(reader);
  put(ends[1], "      6\n4,5,6\n");
  for (int i = 0; i < 3; i++) {
    check_drain(reader, NET_READ_AGAIN,
                "row 3 3 4 4 2\nbad 505 4:1 x: \"x\" is no integer\n"
                "bad 507 5:1 the line is longer than 20 bytes\n");
    ck_assert(class->wants_settling(reader));
    ck_assert_int_eq(class->position(reader), 27 + 39);
    class->rewind(reader);
  }
  check_drain(reader, NET_READ_AGAIN,
              "row 3 3 4 4 2\nbad 505 4:1 x: \"x\" is no integer\n"
              "bad 507 5:1 the line is longer than 20 bytes\n");
  class->settle(reader);
  close(ends[1]);
  for (int i = 0; i < 2; i++) {
    check_drain(reader, NET_READ_END, "row 5 5 6 6 4\ndone\n");
    class->rewind(reader);
  }
  class->free(reader);
  close(ends[0]);
}
END_TEST

/* A file that was rotated is left when what was read of it is settled; that it was rotated is said again. */
START_TEST(held_rotation) {
  struct sn_reader_options options = options_for(bare, SN_CSV);
  options.path = make_file(".csv", "x,start,stop\n1,2,3\n2,3,");
  options.following = options.holding = true;
  struct net_reader *reader = open_reader(options);
  check_drain(reader, NET_READ_AGAIN, "row 2 2 3 3 1\n");
  ck_assert_int_eq(truncate(options.path, 0), 0);
  check_drain(reader, NET_READ_AGAIN, "");
  ck_assert(reader->class->wants_settling(reader));
  reader->class->rewind(reader);
  check_drain(reader, NET_READ_AGAIN, "row 2 2 3 3 1\n");
  reader->class->settle(reader);
  for (int i = 0; i < 2; i++) {
    check_drain(reader, NET_READ_AGAIN, "rotated: the file was truncated\n");
    reader->class->rewind(reader);
  }
  append_file(options.path, "4,5,6\n");
  for (int i = 0; i < 2; i++) {
    check_drain(reader, NET_READ_AGAIN, "rotated: the file was truncated\nrow 5 5 6 6 4\n");
    ck_assert_int_eq(reader->class->position(reader), 6);
    reader->class->rewind(reader);
  }
  reader->class->free(reader);
  unlink(options.path);
}
END_TEST

/* Renamed, and a new file in its place: the writer may go on with the old one for a while. */
START_TEST(replaced_file) {
  struct sn_reader_options options = options_for(bare, SN_GUESS);
  options.path = make_file(".ndjson", "{\"start\":1,\"x\":1}\n");
  options.following = true;
  char *old = base_arena_printf(arena, "%s.1", options.path);
  struct net_reader *reader = open_reader(options);
  check_drain(reader, NET_READ_AGAIN, "row 1 1 open forever 1\n");
  for (int round = 0; round < 2; round++) {
    ck_assert_int_eq(rename(options.path, old), 0);
    append_file(old, "{\"start\":2,\"x\":2}\n");
    check_drain(reader, NET_READ_AGAIN, "row 2 2 open forever 2\n");
    append_file(options.path, "");
    check_drain(reader, NET_READ_AGAIN, "");
    append_file(old, round ? "{\"start\":3," : "{\"start\":3,\"x\":3}\n");
    append_file(options.path, "{\"start\":4,\"x\":4}\n");
    check_drain(reader, NET_READ_AGAIN,
                round ? "rotated: the file was replaced before the end of its last line\n"
                        "row 4 4 open forever 4\n"
                      : "row 3 3 open forever 3\nrotated: nothing is lost\n"
                        "row 4 4 open forever 4\n");
    ck_assert_int_eq(reader->class->position(reader), 18);
  }
  append_file(options.path, "{\"start\":5,\"x\":5}\n");
  check_drain(reader, NET_READ_AGAIN, "row 5 5 open forever 5\n");
  unlink(options.path); /* and nothing in its place */
  check_drain(reader, NET_READ_AGAIN, "");
  reader->class->free(reader);
  unlink(old);
}
END_TEST

START_TEST(resuming_ndjson) {
  struct sn_reader_options options = options_for(bare, SN_GUESS);
  options.path = make_file(".jsonl", "{\"start\":1,\"x\":1}\n{\"start\":2,\"x\":2}\n{");
  options.position = 18;
  struct net_reader *reader = open_reader(options);
  check_drain(reader, NET_READ_END,
              "row 2 2 open forever 2\n"
              "bad 504 3:2 a key in quotation marks is expected\ndone\n");
  reader->class->free(reader);
  options.position = 1000;
  reader = open_reader(options);
  check_drain(
      reader, NET_READ_FAILED,
      base_arena_printf(arena, "failed 703 3:0 %s has become shorter than what was read of it\n",
                        options.path));
  reader->class->free(reader);
  unlink(options.path);
}
END_TEST

/* A FIFO ends when its last writer has gone, not before the first has come. */
START_TEST(followed_fifo) {
  struct sn_reader_options options = options_for(bare, SN_NDJSON);
  char *path = make_file("", "");
  unlink(path);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  options.path = path;
  options.following = true;
  struct net_reader *reader = open_reader(options);
  check_drain(reader, NET_READ_AGAIN, "");
  int writer = open(path, O_WRONLY);
  check_drain(reader, NET_READ_AGAIN, "");
  ck_assert_int_eq(write(writer, "{\"start\":1,\"x\":1}\n{\"round\":5}", 29), 29);
  ck_assert_int_eq(reader->class->descriptor(reader) >= 0, 1);
  check_drain(reader, NET_READ_AGAIN, "row 1 1 open forever 1\n");
  close(writer);
  check_drain(reader, NET_READ_END, "round 5\ndone\n");
  check_drain(reader, NET_READ_END, "done\n");
  reader->class->free(reader);
  unlink(path);
}
END_TEST

/* Standard input ends when it ends, also when it is a file and followed. */
START_TEST(standard_input) {
  struct sn_reader_options options = options_for(bare, SN_GUESS);
  int file = memory_file("x,start,stop\n1,2,3", 18);
  ck_assert_int_eq(dup2(file, STDIN_FILENO), STDIN_FILENO);
  close(file);
  options.path = "-";
  options.following = true;
  struct net_reader *reader = open_reader(options);
  check_drain(reader, NET_READ_END, "row 2 2 3 3 1\ndone\n");
  reader->class->free(reader);
  ck_assert_int_ge(fcntl(STDIN_FILENO, F_GETFD), 0);
}
END_TEST

START_TEST(not_to_be_opened) {
  struct base_diag_sink diags;
  struct net_reader *reader = NULL;
  struct sn_reader_options options = options_for(bare, SN_GUESS);
  options.strings = strings;
  base_diag_sink_init(&diags);
  options.path = "/no/such/file.csv";
  ck_assert_int_eq(sn_reader_open(&options, &diags, &reader), BASE_SYSTEM);
  options.path = "/tmp";
  ck_assert_int_eq(sn_reader_open(&options, &diags, &reader), BASE_SYSTEM);
  options.path = NULL;
  options.descriptor = -1;
  ck_assert_int_eq(sn_reader_open(&options, &diags, &reader), BASE_SYSTEM);
  ck_assert_ptr_null(reader);
  ck_assert_uint_eq(diags.errors, 3);
  ck_assert_int_eq(diags.exit_code, 3);
  ck_assert_int_eq(diags.items[0].number, MSG_CANNOT_OPEN);
  base_diag_sink_done(&diags);
}
END_TEST

/* ---- numbers ---- */

/* Random doubles and integers, printed in several ways, come back bit for bit. */
START_TEST(numbers_read_back) {
  struct net_field fields[] = {{.name = "i", .type = {NET_INTEGER, 8}},
                               {.name = "f", .type = {NET_FLOAT, 8}}};
  struct net_layout *layout = net_layout_new(arena, NET_EVENT, fields, 2);
  struct sn_reader_options options = options_for(layout, SN_CSV);
  struct base_random random = {42};
  struct base_buffer text = BASE_BUFFER_EMPTY;
  enum { COUNT = 3000 };
  int64_t *integers = base_xcalloc(COUNT, sizeof *integers);
  double *doubles = base_xcalloc(COUNT, sizeof *doubles);
  base_buffer_puts(&text, "at,i,f\n");
  for (int i = 0; i < COUNT; i++) {
    uint64_t bits = base_random_next(&random);
    integers[i] = (int64_t)(base_random_next(&random) >> base_random_below(&random, 64));
    if (bits & 1) integers[i] = -integers[i];
    if (i % 3 == 0)
      doubles[i] = (double)(bits >> 40) / 1000;
    else
      memcpy(&doubles[i], &bits, sizeof bits);
    if (doubles[i] != doubles[i] || doubles[i] - doubles[i] != 0) doubles[i] = 0.5;
    base_buffer_printf(&text, i % 2 ? "%d,%ld,%.17g\n" : "%d,%+ld.000,%.20e\n", i,
                       (long)integers[i], doubles[i]);
  }
  options.descriptor = memory_file(text.data, text.length);
  struct net_reader *reader = open_reader(options);
  struct net_batch_builder builder;
  struct net_read_event answer;
  net_batch_builder_init(&builder, layout, COUNT);
  ck_assert_int_eq(reader->class->read(reader, &builder, &answer), NET_READ_ROWS);
  ck_assert_uint_eq(builder.count, COUNT);
  for (int i = 0; i < COUNT; i++) {
    ck_assert_int_eq(builder.rows[i * 4 + 2].i, integers[i]);
    ck_assert(memcmp(&builder.rows[i * 4 + 3].f, &doubles[i], sizeof(double)) == 0 ||
              doubles[i] == 0);
  }
  net_batch_builder_done(&builder);
  reader->class->free(reader);
  close(options.descriptor);
  base_buffer_done(&text);
  free(integers);
  free(doubles);
}
END_TEST

/* ---- hostile bytes ---- */

/* Whatever the bytes, all are consumed, and cutting them into pieces changes nothing. */
START_TEST(random_bytes) {
  static const char alphabet[] = "\"\"\"\n\n,,,{}:[]\\u0d8e+-.1 atxsp\r\xC3\xA9\xFF";
  static const char *const headers[] = {"", "start,stop,x\n", "{\"start\":1,\"x\":2}\n"};
  struct base_random random = {_i + 1};
  char text[400];
  for (int round = 0; round < 60; round++) {
    struct sn_reader_options options = options_for(bare, SN_GUESS);
    const char *header = headers[round % 3];
    size_t length = strlen(header), end = length + base_random_below(&random, 200);
    memcpy(text, header, length);
    while (length < end) text[length++] = alphabet[base_random_below(&random, sizeof alphabet)];
    if (round % 2) options.line_limit = 30;
    struct base_buffer whole = BASE_BUFFER_EMPTY, cut = BASE_BUFFER_EMPTY;
    read_file(options, text, length, 2, &whole);
    read_pipe(options, text, length, 1 + base_random_below(&random, 9), &cut);
    if (!strstr(base_buffer_text(&whole), "508"))
      ck_assert_str_eq(base_buffer_text(&whole), base_buffer_text(&cut));
    base_buffer_done(&whole);
    base_buffer_done(&cut);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("feed");
  TCase *cases = tcase_create("feed");
  tcase_add_checked_fixture(cases, setup, teardown);
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, csv_rows);
  tcase_add_test(cases, csv_quotation);
  tcase_add_test(cases, csv_headers);
  tcase_add_test(cases, csv_empty_input);
  tcase_add_test(cases, csv_bad_values);
  tcase_add_test(cases, nul_in_a_text);
  tcase_add_test(cases, csv_periods);
  tcase_add_test(cases, csv_temporal);
  tcase_add_test(cases, csv_timeless);
  tcase_add_test(cases, real_times);
  tcase_add_test(cases, long_lines);
  tcase_add_test(cases, lines_at_the_limit);
  tcase_add_test(cases, ndjson_rows);
  tcase_add_test(cases, ndjson_strings);
  tcase_add_test(cases, ndjson_syntax);
  tcase_add_test(cases, ndjson_values);
  tcase_add_test(cases, ndjson_control);
  tcase_add_test(cases, ndjson_domain_called_end);
  tcase_add_test(cases, guessed_formats);
  tcase_add_test(cases, growing_file);
  tcase_add_test(cases, truncated_file);
  tcase_add_test(cases, replaced_file);
  tcase_add_test(cases, resuming_ndjson);
  tcase_add_test(cases, followed_fifo);
  tcase_add_test(cases, held_pipe);
  tcase_add_test(cases, held_rotation);
  tcase_add_test(cases, standard_input);
  tcase_add_test(cases, not_to_be_opened);
  tcase_add_test(cases, numbers_read_back);
  tcase_add_loop_test(cases, random_bytes, 0, 20);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
