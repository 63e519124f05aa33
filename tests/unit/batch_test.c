/* Batch builders and sets of rows. */
#include "engine/plain.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>

static struct base_arena *arena;
static const struct net_layout *layout; /* three slots */

static void set_up(void) {
  struct net_field field = {.name = "n", .type = {NET_INTEGER, 8}};
  arena = base_arena_new();
  layout = net_layout_new(arena, NET_EVENT, &field, 1);
}

static void tear_down(void) {
  base_arena_free(arena);
}

static void fill(union net_slot *row, int64_t value) {
  row[0].i = row[1].i = value;
  row[2].i = -value;
}

START_TEST(rows_come_out_as_they_went_in) {
  struct net_batch_builder builder;
  net_batch_builder_init(&builder, layout, NET_BATCH_ROWS);
  for (int round = 0; round < 2; round++) {
    for (uint32_t i = 0; i < NET_BATCH_ROWS; i++) {
      ck_assert(!net_batch_builder_full(&builder));
      if (i % 3 == 0)
        fill(net_batch_builder_add(&builder, i % 4), i + round);
      else
        fill(net_batch_builder_add_id(&builder, i % 4, (i + UINT64_C(1)) << round), i + round);
    }
    ck_assert(net_batch_builder_full(&builder));
    struct net_batch batch = net_batch_builder_batch(&builder, 99);
    ck_assert_uint_eq(batch.count, NET_BATCH_ROWS);
    ck_assert_int_eq(batch.checkpoint, 99);
    ck_assert_int_eq(batch.bound, NET_BEGINNING);
    ck_assert_ptr_null(batch.floor);
    for (uint32_t i = 0; i < NET_BATCH_ROWS; i++) {
      ck_assert_int_eq(net_batch_row(&batch, i)[2].i, -(int64_t)(i + round));
      ck_assert_uint_eq(net_batch_marks(&batch, i), i % 4);
      ck_assert_uint_eq(net_batch_id(&batch, i), i % 3 == 0 ? 0 : (i + UINT64_C(1)) << round);
    }
    net_batch_builder_clear(&builder);
  }
  net_batch_builder_done(&builder);
}
END_TEST

START_TEST(new_rows_are_zero) {
  struct net_batch_builder builder;
  net_batch_builder_init(&builder, layout, 1);
  fill(net_batch_builder_add(&builder, NET_DEFINITE), 5);
  net_batch_builder_clear(&builder);
  const union net_slot *row = net_batch_builder_add(&builder, 0);
  for (int slot = 0; slot < 3; slot++) ck_assert_int_eq(row[slot].i, 0);
  net_batch_builder_done(&builder);
}
END_TEST

START_TEST(a_selection_is_followed) {
  static const uint32_t selection[] = {2, 0};
  struct net_batch_builder builder;
  net_batch_builder_init(&builder, layout, 3);
  for (unsigned i = 0; i < 3; i++) fill(net_batch_builder_add_id(&builder, (uint8_t)i, i + 7), i);
  struct net_batch batch = net_batch_builder_batch(&builder, 0);
  batch.selection = selection;
  batch.count = 2;
  ck_assert_int_eq(net_batch_row(&batch, 0)[0].i, 2);
  ck_assert_int_eq(net_batch_row(&batch, 1)[0].i, 0);
  ck_assert_uint_eq(net_batch_marks(&batch, 0), 2);
  ck_assert_uint_eq(net_batch_id(&batch, 0), 9);
  batch.ids = NULL;
  ck_assert_uint_eq(net_batch_id(&batch, 0), 0);
  net_batch_builder_done(&builder);
}
END_TEST

START_TEST(a_full_builder_takes_no_row) {
  struct net_batch_builder builder;
  net_batch_builder_init(&builder, layout, 1);
  net_batch_builder_add(&builder, 0);
  net_batch_builder_add(&builder, 0);
}
END_TEST

START_TEST(an_empty_batch) {
  struct net_batch_builder builder;
  net_batch_builder_init(&builder, layout, 7);
  ck_assert_uint_eq(net_batch_builder_batch(&builder, 3).count, 0);
  net_batch_builder_done(&builder);
}
END_TEST

START_TEST(rows_grow) {
  struct net_rows rows;
  net_rows_init(&rows, layout);
  for (int i = 0; i < 10000; i++) fill(net_rows_add(&rows, (uint8_t)(i % 4)), i);
  ck_assert_uint_eq(rows.count, 10000);
  for (int i = 0; i < 10000; i++) {
    ck_assert_int_eq(net_rows_row(&rows, (size_t)i)[2].i, -i);
    ck_assert_uint_eq(rows.marks[i], i % 4);
  }
  net_rows_done(&rows);
  ck_assert_uint_eq(rows.count, 0);
  fill(net_rows_add(&rows, 1), 1); /* usable again */
  net_rows_done(&rows);
}
END_TEST

START_TEST(rows_copy_their_own) {
  struct net_rows rows;
  net_rows_init(&rows, layout);
  fill(net_rows_add(&rows, 0), 42);
  for (int i = 0; i < 1000; i++) {
    net_rows_add_copy(&rows, net_rows_row(&rows, rows.count - 1), 3); /* moved when it grows */
  }
  for (size_t i = 0; i < rows.count; i++) ck_assert_int_eq(net_rows_row(&rows, i)[2].i, -42);
  union net_slot other[3] = {{.i = 1}, {.i = 2}, {.i = 3}};
  net_rows_add_copy(&rows, other, 1);
  ck_assert_int_eq(net_rows_row(&rows, 1001)[2].i, 3);
  net_rows_done(&rows);
}
END_TEST

/* What is noted of rows is what looking at them says, whatever came in between and was asked before. */
START_TEST(notes_say_what_is_plain) {
  struct net_rows rows;
  struct net_plain_notes notes = {NULL, 0};
  net_rows_init(&rows, layout);
  for (int64_t i = 0; i < 3000; i++) {
    union net_slot *row = net_rows_add(&rows, i == 1100 ? 0 : NET_DEFINITE);
    fill(row, i);
    if (i == 300) row[1].i = 301;              /* indeterminate */
    if (i == 2560) row[0].i = row[1].i = 2000; /* before the last one, of another block */
    if (i % 700 == 699) ck_assert(!net_plain_notes_say(&notes, &rows, 256, 512));
    ck_assert(net_plain_notes_say(&notes, &rows, 0, i < 200 ? rows.count : 200));
  }
  for (size_t from = 0; from < rows.count; from += 100)
    for (size_t end = from; end <= rows.count; end += 450) {
      bool plain =
          net_rows_are_plain(layout, net_rows_row(&rows, from), rows.marks + from, end - from);
      if (net_plain_notes_say(&notes, &rows, from, end)) ck_assert(plain);
    }
  ck_assert(net_plain_notes_say(&notes, &rows, 512, 1024));
  ck_assert(net_plain_notes_say(&notes, &rows, 1280, 2560));
  ck_assert(!net_plain_notes_say(&notes, &rows, 1000, 1101));
  ck_assert(!net_plain_notes_say(&notes, &rows, 1280, 2561));
  ck_assert(net_plain_notes_say(&notes, &rows, 2900, 3000));
  net_rows_row(&rows, 2999)[1].i = 9999; /* in the last block, which is looked at each time */
  ck_assert(!net_plain_notes_say(&notes, &rows, 2900, 3000));
  net_plain_notes_done(&notes);
  struct net_plain_notes begun = {NULL, 0}; /* what is noted is not looked at */
  net_plain_notes_begin(&begun, 1100);
  ck_assert(net_plain_notes_say(&begun, &rows, 300, 1024));
  ck_assert(!net_plain_notes_say(&begun, &rows, 1001, 1101));
  net_plain_notes_done(&begun);
  net_rows_done(&rows);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("batch");
  TCase *cases = tcase_create("batch");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, rows_come_out_as_they_went_in);
  tcase_add_test(cases, new_rows_are_zero);
  tcase_add_test(cases, a_selection_is_followed);
  tcase_add_test_raise_signal(cases, a_full_builder_takes_no_row, SIGABRT);
  tcase_add_test(cases, an_empty_batch);
  tcase_add_test(cases, rows_grow);
  tcase_add_test(cases, rows_copy_their_own);
  tcase_add_test(cases, notes_say_what_is_plain);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
