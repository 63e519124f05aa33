/* The protocol's messages (sensors/wire/message.h, records.h): what was put is what is got, the bytes are those
 * of the document, and whatever is cut off, added or changed is no message or stays within its bounds. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "sensors/wire/records.h"
#include "tests/unit/wire_samples.h"

/* The first message in BUFFER, in a copy of its own, so that a look behind its end is seen. */
static struct sn_message message_in(const struct base_buffer *buffer, unsigned char **ret_copy) {
  struct sn_message head = {.body = (const unsigned char *)buffer->data, .length = SN_FRAME_HEAD};
  struct sn_reading reading = sn_reading_of(&head);
  uint32_t length = sn_get_u32(&reading), type = sn_get_u32(&reading);
  ck_assert_uint_eq(buffer->length, SN_FRAME_HEAD + (size_t)length);
  *ret_copy = base_xmalloc((size_t)length + 1);
  memcpy(*ret_copy, buffer->data + SN_FRAME_HEAD, length);
  return (struct sn_message){
      .type = (uint16_t)type, .number = sn_get_u64(&reading), .body = *ret_copy, .length = length};
}

START_TEST(a_message_comes_back) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  unsigned char *copy;
  ck_assert(sn_put_hello(&out, 7, &hello_like));
  struct sn_message message = message_in(&out, &copy);
  struct sn_message_hello hello;
  ck_assert(sn_get_hello(&message, &hello));
  ck_assert_uint_eq(message.number, 7);
  ck_assert_uint_eq(hello.version, SN_WIRE_VERSION);
  ck_assert_uint_eq(hello.role, SN_ROLE_COLLECTOR);
  ck_assert(sn_string_is(hello.user, "ren\xc3\xa9"));
  ck_assert(sn_string_is(hello.token, ""));
  ck_assert(sn_string_is(hello.directory, "/tmp"));
  ck_assert_uint_eq(hello.flags, SN_HELLO_READONLY);
  struct sn_message_welcome welcome;
  ck_assert(!sn_get_welcome(&message, &welcome));
  free(copy);
  base_buffer_done(&out);
}
END_TEST

/* The bytes are the protocol: they may not change with the program. */
START_TEST(bytes_are_as_documented) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  struct sn_message_loss loss = {.process = 0x01020304,
                                 .relation = sn_string_of("Iteration"),
                                 .cause = sn_string_of("full"),
                                 .total = 5,
                                 .from = -2,
                                 .to = INT64_MAX};
  ck_assert(sn_put_loss(&out, 258, &loss));
  static const char expected[] =
      "\x31\0\0\0\x29\0\0\0\x02\x01\0\0\0\0\0\0"
      "\x04\x03\x02\x01"
      "\x09\0\0\0Iteration"
      "\x04\0\0\0full"
      "\x05\0\0\0\0\0\0\0"
      "\xfe\xff\xff\xff\xff\xff\xff\xff"
      "\xff\xff\xff\xff\xff\xff\xff\x7f";
  ck_assert_uint_eq(out.length, sizeof expected - 1);
  ck_assert_mem_eq(out.data, expected, out.length);
  base_buffer_done(&out);
}
END_TEST

/* Each length that is not the right one, of a message with all kinds of fields. */
START_TEST(cut_or_longer_is_no_message) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  unsigned char *copy;
  sn_put_hello(&out, 0, &hello_like);
  struct sn_message message = message_in(&out, &copy);
  struct sn_message_hello hello;
  uint32_t whole = message.length;
  for (uint32_t length = 0; length < whole; length++) {
    unsigned char *shorter = base_xmalloc(length + 1u);
    memcpy(shorter, copy, length);
    struct sn_message cut = {message.type, 0, shorter, length};
    ck_assert(!sn_get_hello(&cut, &hello));
    free(shorter);
  }
  copy[whole] = 0;
  message.length = whole + 1;
  ck_assert(!sn_get_hello(&message, &hello));
  free(copy);
  base_buffer_done(&out);
}
END_TEST

START_TEST(texts_are_utf8) {
  static const struct {
    const char *text;
    bool good;
  } cases[] = {{"", true},
               {"plain", true},
               {"\xc3\xa9", true},
               {"\xe2\x82\xac", true},
               {"\xf0\x9f\x98\x80", true},
               {"\xf4\x8f\xbf\xbf", true},
               {"\xc0\x80", false},
               {"\xc1\xbf", false},
               {"\xe0\x9f\xbf", false},
               {"\xed\xa0\x80", false},
               {"\xf0\x8f\xbf\xbf", false},
               {"\xf4\x90\x80\x80", false},
               {"\xf5\x80\x80\x80", false},
               {"\x80", false},
               {"a\xc3", false},
               {"\xe2\x82", false},
               {"\xe2\x82z", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct base_buffer out = BASE_BUFFER_EMPTY;
    unsigned char *copy;
    struct sn_message_goodbye goodbye = {.reason = sn_string_of(cases[i].text)}, back;
    sn_put_goodbye(&out, 0, &goodbye);
    struct sn_message message = message_in(&out, &copy);
    ck_assert_msg(sn_get_goodbye(&message, &back) == cases[i].good, "case %zu", i);
    free(copy);
    base_buffer_done(&out);
  }
  struct base_buffer out = BASE_BUFFER_EMPTY;
  unsigned char *copy;
  struct sn_message_goodbye goodbye = {.reason = sn_string_from("a\0b", 3)};
  sn_put_goodbye(&out, 0, &goodbye);
  struct sn_message message = message_in(&out, &copy);
  ck_assert(!sn_get_goodbye(&message, &goodbye));
  free(copy);
  base_buffer_done(&out);
}
END_TEST

START_TEST(flags_and_ranges) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  unsigned char *copy;
  struct sn_message_process process = {.process = 1, .there = true};
  sn_put_process(&out, 0, &process);
  struct sn_message message = message_in(&out, &copy);
  ck_assert(sn_get_process(&message, &process) && process.there);
  copy[message.length - 1] = 2;
  ck_assert(!sn_get_process(&message, &process));
  free(copy);
  base_buffer_clear(&out);
  struct sn_message_hello hello = hello_like;
  hello.role = SN_ROLE_FEED + 1;
  sn_put_hello(&out, 0, &hello);
  message = message_in(&out, &copy);
  ck_assert(!sn_get_hello(&message, &hello));
  free(copy);
  base_buffer_done(&out);
}
END_TEST

/* A message that would be too long is not begun. */
/* One of the lists of the protocol that says to be COUNT long, and is 8 zero bytes. */
#define CHECK_COUNT(NAME, LIST)                                     \
  do {                                                              \
    struct sn_message_##NAME one = {.count = count, .LIST = zeros}; \
    unsigned char *copy;                                            \
    base_buffer_clear(&out);                                        \
    ck_assert(sn_put_##NAME(&out, 0, &one));                        \
    struct sn_message message = message_in(&out, &copy);            \
    ck_assert_int_eq(sn_get_##NAME(&message, &one), count == 0);    \
    free(copy);                                                     \
  } while (0)

static const struct sn_string zeros = {"\0\0\0\0\0\0\0", 8};

START_TEST(counts_are_within_their_message) {
  static const uint32_t counts[] = {0, 2, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
  struct base_buffer out = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    uint32_t count = counts[i];
    CHECK_COUNT(event_record, records);
    CHECK_COUNT(adjust_object, objects);
    CHECK_COUNT(relation_info, domains);
  }
  base_buffer_done(&out);
}
END_TEST

/* Two cells: whatever else rows times columns may be is no report. */
START_TEST(reports_have_the_cells_that_they_say) {
  static const uint32_t numbers[] = {0, 1, 2, 3, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
  enum { NUMBERS = sizeof numbers / sizeof numbers[0] };
  struct base_buffer out = BASE_BUFFER_EMPTY;
  for (int i = 0; i < NUMBERS * NUMBERS; i++) {
    uint32_t rows = numbers[i / NUMBERS], columns = numbers[i % NUMBERS];
    struct sn_message_report report = {.rows = rows, .columns = columns, .cells = zeros};
    unsigned char *copy;
    base_buffer_clear(&out);
    ck_assert(sn_put_report(&out, 0, &report));
    struct sn_message message = message_in(&out, &copy);
    bool may_be = rows == 0 || (columns > 0 && (uint64_t)rows * columns <= 2);
    ck_assert_msg(sn_get_report(&message, &report) == may_be, "%u of %u", rows, columns);
    free(copy);
  }
  base_buffer_done(&out);
}
END_TEST

START_TEST(too_long_is_not_written) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  char *long_text = base_xcalloc(1, SN_BODY_MAX + 1);
  struct sn_message_output output = {.bytes = sn_string_from(long_text, SN_BODY_MAX)};
  ck_assert(sn_put_output(&out, 0, &output));
  size_t before = out.length;
  output.bytes.length++;
  ck_assert(!sn_put_output(&out, 0, &output));
  ck_assert_uint_eq(out.length, before);
  free(long_text);
  base_buffer_done(&out);
}
END_TEST

/* --- records */

static const uint8_t types[] = {SN_DOMAIN_INTEGER, SN_DOMAIN_FLOAT, SN_DOMAIN_BOOL,
                                SN_DOMAIN_STRING, SN_DOMAIN_NAME};

static void put_records(struct base_buffer *out) {
  struct sn_message_event_record head = {.relation = 3, .pipe = 9, .sequence = 100};
  size_t at = sn_begin_event_record(out, 5, &head);
  struct sn_record_head one = {.marks = SN_MARK_DEFINITE, .start_lo = 10, .start_hi = 10};
  sn_put_record_head(out, &one);
  sn_put_i64(out, -1);
  sn_put_f64(out, 0.5);
  sn_put_u8(out, 1);
  sn_put_string(out, sn_string_of("text"));
  sn_put_name_id(out, 77);
  struct sn_record_head skip = {.marks = SN_MARK_SKIPPED, .skipped = 40};
  sn_put_record_head(out, &skip);
  struct sn_record_head ends = {.marks = SN_MARK_DEFINITE | SN_MARK_CLOSES | SN_MARK_RELATION,
                                .relation = 4,
                                .start_lo = 11,
                                .start_hi = 12};
  sn_put_record_head(out, &ends);
  bool named[] = {false, false, false, false, true};
  sn_put_named(out, named, 5);
  sn_put_string(out, sn_string_of("T:m#1"));
  struct sn_record_head period = {.marks = SN_MARK_DEFINITE | SN_MARK_PERIOD,
                                  .start_lo = 1,
                                  .start_hi = 1,
                                  .stop_lo = INT64_MIN + 1,
                                  .stop_hi = INT64_MAX};
  sn_put_record_head(out, &period);
  sn_put_i64(out, 1);
  sn_put_f64(out, 2);
  sn_put_u8(out, 0);
  sn_put_string(out, sn_string_of(""));
  sn_put_string(out, sn_string_of(""));
  ck_assert(sn_event_record_end(out, at, 4));
}

/* Records that were left out: how many, whose, and when. */
START_TEST(left_out_ones_come_back) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  const struct sn_message_event_record message = {.relation = 9, .pipe = 1, .sequence = 100};
  size_t at = sn_begin_event_record(&out, 0, &message);
  struct sn_record_head filtered = {.marks = SN_MARK_SKIPPED | SN_MARK_DEFINITE | SN_MARK_RELATION,
                                    .relation = 4,
                                    .skipped = 7,
                                    .process = 3,
                                    .start_lo = 5,
                                    .start_hi = 9};
  struct sn_records records;
  struct sn_record_head head;
  struct sn_message read;
  struct sn_message_event_record event;
  sn_put_record_head(&out, &filtered);
  ck_assert(sn_event_record_end(&out, at, 1));
  read = (struct sn_message){.type = SN_WIRE_EVENT_RECORD,
                             .body = (const unsigned char *)out.data + SN_FRAME_HEAD,
                             .length = (uint32_t)out.length - SN_FRAME_HEAD};
  ck_assert(sn_get_event_record(&read, &event));
  sn_records_start(&records, &event);
  ck_assert(sn_records_next(&records, &head));
  ck_assert(head.relation == 4 && head.skipped == 7 && head.process == 3);
  ck_assert(head.start_lo == 5 && head.start_hi == 9 && records.sequence == 107);
  ck_assert(!sn_records_next(&records, &head) && sn_records_good(&records));
  base_buffer_done(&out);
}
END_TEST

START_TEST(records_come_back) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  unsigned char *copy;
  put_records(&out);
  struct sn_message message = message_in(&out, &copy);
  struct sn_message_event_record event;
  ck_assert(sn_get_event_record(&message, &event));
  ck_assert_uint_eq(event.count, 4);
  struct sn_records records;
  struct sn_record_head head;
  struct sn_datum values[5];
  sn_records_start(&records, &event);
  ck_assert(sn_records_next(&records, &head));
  ck_assert_uint_eq(head.relation, 3);
  ck_assert_uint_eq(records.sequence, 101);
  ck_assert_int_eq(head.start_hi, 10);
  ck_assert(sn_records_values(&records, &head, types, 5, values));
  ck_assert(values[0].integer == -1 && values[1].real == 0.5 && values[2].integer == 1);
  ck_assert(sn_string_is(values[3].text, "text") && values[4].is_name_id && values[4].id == 77);
  ck_assert(sn_records_next(&records, &head));
  ck_assert_uint_eq(records.sequence, 141);
  ck_assert(sn_records_next(&records, &head));
  ck_assert(head.relation == 4 && head.start_lo == 11 && head.start_hi == 12);
  ck_assert(sn_records_values(&records, &head, types, 5, values));
  ck_assert(!values[0].given && !values[3].given && values[4].given);
  ck_assert(sn_string_is(values[4].text, "T:m#1"));
  ck_assert(sn_records_next(&records, &head));
  ck_assert(head.stop_lo == INT64_MIN + 1 && head.stop_hi == INT64_MAX && head.relation == 4);
  ck_assert(!sn_records_good(&records));
  ck_assert(sn_records_values(&records, &head, types, 5, values));
  ck_assert(!sn_records_next(&records, &head));
  ck_assert(sn_records_good(&records));
  free(copy);
  base_buffer_done(&out);
}
END_TEST

/* Bytes are any, and no id of a name, however long they say they are. */
START_TEST(bytes_come_back) {
  static const uint8_t one_of_bytes[] = {SN_DOMAIN_BYTES};
  static const char some[] = {'\0', '\x80', '\xff', '\0'};
  struct base_buffer out = BASE_BUFFER_EMPTY;
  unsigned char *copy;
  struct sn_message_event_record head = {.relation = 3};
  size_t at = sn_begin_event_record(&out, 5, &head);
  struct sn_record_head one = {.marks = SN_MARK_DEFINITE, .start_lo = 10, .start_hi = 10};
  sn_put_record_head(&out, &one);
  sn_put_string(&out, sn_string_from(some, sizeof some));
  sn_put_record_head(&out, &one);
  sn_put_name_id(&out, 4);
  sn_put_i64(&out, 0);
  ck_assert(sn_event_record_end(&out, at, 2));
  struct sn_message message = message_in(&out, &copy);
  struct sn_message_event_record event;
  struct sn_records records;
  struct sn_record_head found;
  struct sn_datum value;
  ck_assert(sn_get_event_record(&message, &event));
  sn_records_start(&records, &event);
  ck_assert(sn_records_next(&records, &found));
  ck_assert(sn_records_values(&records, &found, one_of_bytes, 1, &value));
  ck_assert(!value.is_name_id && value.text.length == sizeof some);
  ck_assert_mem_eq(value.text.bytes, some, sizeof some);
  ck_assert(sn_records_next(&records, &found));
  ck_assert(!sn_records_values(&records, &found, one_of_bytes, 1, &value));
  free(copy);
  base_buffer_done(&out);
}
END_TEST

/* Any single byte changed, and any number of bytes cut off: read or refused, never beyond. */
START_TEST(damaged_records) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  unsigned char *copy;
  put_records(&out);
  struct sn_message message = message_in(&out, &copy);
  uint32_t whole = message.length, refused = 0;
  for (uint32_t at = 0; at < whole; at++) {
    for (unsigned way = 0; way < 9; way++) {
      unsigned char was = copy[at];
      message.length = way == 8 ? at : whole;
      if (way < 8) copy[at] = (unsigned char)(was ^ (1u << way));
      struct sn_message_event_record event;
      struct sn_records records = {.left = 1};
      struct sn_record_head head;
      struct sn_datum values[5];
      if (sn_get_event_record(&message, &event)) {
        sn_records_start(&records, &event);
        while (sn_records_next(&records, &head)) {
          if (!sn_records_values(&records, &head, types, 5, values)) break;
        }
      }
      if (!sn_records_good(&records)) refused++;
      if (way == 8) ck_assert(!sn_records_good(&records));
      copy[at] = was;
    }
  }
  ck_assert_uint_gt(refused, whole);
  free(copy);
  base_buffer_done(&out);
}
END_TEST

START_TEST(objects_and_domains) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  struct sn_watched_object object = {.domain = sn_string_of("Process"),
                                     .pattern = true,
                                     .type = SN_DOMAIN_NAME,
                                     .value = {.text = sn_string_of("PDESolver:P1#*")}},
                           back;
  sn_put_object(&out, &object);
  struct sn_reading reading = sn_reading_from(sn_string_from(out.data, out.length));
  ck_assert(sn_get_object(&reading, &back) && sn_reading_end(&reading));
  ck_assert(back.pattern && sn_string_is(back.value.text, "PDESolver:P1#*"));
  base_buffer_clear(&out);
  struct sn_domain domain = {sn_string_of("n"), SN_DOMAIN_INTEGER, 4, true}, domain_back;
  sn_put_domain(&out, &domain);
  reading = sn_reading_from(sn_string_from(out.data, out.length));
  ck_assert(sn_get_domain(&reading, &domain_back) && sn_reading_end(&reading));
  ck_assert(domain_back.by && domain_back.size == 4 && domain_back.type == SN_DOMAIN_INTEGER);
  out.data[5] = 9; /* the type */
  reading = sn_reading_from(sn_string_from(out.data, out.length));
  ck_assert(!sn_get_domain(&reading, &domain_back));
  base_buffer_done(&out);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("wire");
  TCase *tests = tcase_create("messages");
  tcase_add_test(tests, a_message_comes_back);
  tcase_add_test(tests, bytes_are_as_documented);
  tcase_add_test(tests, cut_or_longer_is_no_message);
  tcase_add_test(tests, texts_are_utf8);
  tcase_add_test(tests, flags_and_ranges);
  tcase_add_test(tests, counts_are_within_their_message);
  tcase_add_test(tests, reports_have_the_cells_that_they_say);
  tcase_add_test(tests, too_long_is_not_written);
  tcase_add_test(tests, records_come_back);
  tcase_add_test(tests, bytes_come_back);
  tcase_add_test(tests, left_out_ones_come_back);
  tcase_add_test(tests, damaged_records);
  tcase_add_test(tests, objects_and_domains);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
