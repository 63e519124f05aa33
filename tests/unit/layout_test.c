/* Layouts: slots, open rows, identity, hashes, and the order of rows by brute force. */
#include "engine/layout.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "engine/base/env.h"

static struct base_arena *arena;
static struct base_strings *strings;

static void set_up(void) {
  arena = base_arena_new();
  strings = base_strings_new();
}

static void tear_down(void) {
  base_arena_free(arena);
  base_strings_free(strings);
}

/* Slots: start 0, stop 2, Count 4, Ratio 5, Title 6, Flag 7, Mean 8, E_stop 12, E_start 14. */
static struct net_layout *everything(void) {
  struct net_field fields[] = {
      {.name = "Count", .type = {NET_INTEGER, 8}},
      {.name = "Ratio", .type = {NET_FLOAT, 8}},
      {.name = "Title", .type = {NET_STRING, 0}},
      {.name = "Flag", .type = {NET_BOOL, 0}},
      {.name = "Mean", .type = {NET_TEMPORAL, 0}},
      {.name = "E_stop", .type = {NET_INSTANT, 0}, .openable = true},
      {.name = "E_start", .type = {NET_INSTANT, 0}},
  };
  return net_layout_new(arena, NET_PERIOD, fields, 7);
}

START_TEST(slots) {
  static const uint32_t expected[] = {4, 5, 6, 7, 8, 12, 14};
  const struct net_layout *layout = everything();
  for (uint32_t i = 0; i < 7; i++) ck_assert_uint_eq(layout->fields[i].slot, expected[i]);
  ck_assert_uint_eq(layout->slot_count, 16);
  ck_assert_uint_eq(layout->first_domain_slot, 4);
  ck_assert(layout->may_be_open);
  layout = net_layout_new(arena, NET_EVENT, NULL, 0);
  ck_assert_uint_eq(layout->slot_count, 2);
  ck_assert(!layout->may_be_open);
}
END_TEST

START_TEST(names_are_copied_and_found) {
  char name[] = "Worker";
  struct net_field field = {.name = name, .type = {NET_INTEGER, 4}};
  const struct net_layout *layout = net_layout_new(arena, NET_EVENT, &field, 1);
  name[0] = 'x';
  ck_assert_int_eq(net_layout_find(layout, "WORKER"), 0);
  ck_assert_int_eq(net_layout_find(layout, "worker"), 0);
  ck_assert_int_eq(net_layout_find(layout, "worke"), -1);
  ck_assert_int_eq(net_layout_find(layout, "workers"), -1);
  ck_assert_int_eq(net_layout_find(layout, ""), -1);
}
END_TEST

START_TEST(only_instants_are_openable) {
  struct net_field field = {.name = "n", .type = {NET_INTEGER, 4}, .openable = true};
  net_layout_new(arena, NET_EVENT, &field, 1);
}
END_TEST

START_TEST(open_rows) {
  const struct net_layout *layout = everything();
  union net_slot row[16] = {0};
  ck_assert(!net_row_is_open(layout, row));
  row[14].i = INT64_MIN; /* E_start: beginning, not open */
  row[0].i = INT64_MIN;
  ck_assert(!net_row_is_open(layout, row));
  row[12].i = NET_OPEN;
  ck_assert(net_row_is_open(layout, row));
  row[12].i = 0;
  row[2].i = NET_OPEN;
  ck_assert(net_row_is_open(layout, row));
}
END_TEST

START_TEST(identity_leaves_out_what_may_be_open) {
  const struct net_layout *layout = everything();
  union net_slot a[16] = {0}, b[16] = {0};
  for (uint32_t slot = 0; slot < 16; slot++) {
    bool counts = slot != 2 && slot != 3 && slot != 12 && slot != 13;
    bool domain = slot >= 4 && slot < 12;
    a[10].f = b[10].f = 1; /* d0 */
    b[slot].i = 3;
    if (slot == 5 || slot >= 8) b[slot].f = 3;
    if (slot == 10) b[8].f = 3, b[slot].f = 1; /* a d0 alone would leave 0 as it is */
    ck_assert_msg(net_row_same_identity(layout, a, b) == !counts, "slot %u", slot);
    ck_assert(net_row_same_domains(layout, a, b) == !domain);
    if (!counts) {
      ck_assert(net_row_identity_hash(layout, a) == net_row_identity_hash(layout, b));
    } else {
      ck_assert(net_row_identity_hash(layout, a) != net_row_identity_hash(layout, b));
    }
    ck_assert((net_row_domains_hash(layout, a) == net_row_domains_hash(layout, b)) == !domain);
    b[slot] = a[slot];
    b[8] = a[8];
  }
}
END_TEST

START_TEST(equal_functions_are_equal_domains) {
  const struct net_layout *layout = everything();
  static const double factors[] = {2, 3, 0.5, 1e100, 7};
  union net_slot a[16] = {0}, b[16] = {0};
  a[8].f = 10000, a[9].f = 100, a[10].f = 277, a[11].f = 1;
  for (size_t i = 0; i < 5; i++) {
    for (uint32_t slot = 8; slot < 12; slot++) b[slot].f = a[slot].f * factors[i];
    if (i == 3) continue; /* rounded: no longer the same function, perhaps */
    ck_assert(net_row_same_domains(layout, a, b));
    ck_assert(net_row_domains_hash(layout, a) == net_row_domains_hash(layout, b));
    ck_assert(net_row_identity_hash(layout, a) == net_row_identity_hash(layout, b));
  }
  b[8].f = nextafter(b[8].f, 0);
  ck_assert(!net_row_same_domains(layout, a, b));
}
END_TEST

START_TEST(zeros_are_equal) {
  const struct net_layout *layout = everything();
  union net_slot a[16] = {0}, b[16] = {0};
  a[10].f = b[10].f = 1;
  b[5].f = -0.0;
  ck_assert(net_row_same_domains(layout, a, b));
  ck_assert(net_row_domains_hash(layout, a) == net_row_domains_hash(layout, b));
  ck_assert_int_eq(net_row_compare(layout, strings, 0, a, b), 0);
}
END_TEST

static void random_row(struct base_random *random, union net_slot *row) {
  static const char *const words[] = {"", "a", "ab", "b", "\xFF"};
  for (uint32_t slot = 0; slot < 16; slot++) row[slot].i = (int64_t)base_random_below(random, 3);
  if (base_random_below(random, 3) == 0) row[2].i = NET_OPEN;
  if (base_random_below(random, 3) == 0) row[12].i = NET_OPEN;
  row[5].f = (double)base_random_below(random, 3) - 1;
  row[6].s = base_strings_intern_text(strings, words[base_random_below(random, 5)]);
  row[7].i = (int64_t)base_random_below(random, 2);
  for (uint32_t slot = 8; slot < 12; slot++) row[slot].f = (double)base_random_below(random, 3);
}

START_TEST(the_order_is_an_order) {
  enum { ROWS = 120 };
  const struct net_layout *layout = everything();
  struct base_random random = {11};
  union net_slot rows[ROWS][16];
  for (int i = 0; i < ROWS; i++) {
    random_row(&random, rows[i]);
    if (i % 2) { /* neighbours that agree far to the right */
      uint32_t from = (uint32_t)base_random_below(&random, 16);
      for (uint32_t slot = 0; slot < from; slot++) rows[i][slot] = rows[i - 1][slot];
    }
  }
#define ORDER(I, J) net_row_compare(layout, strings, 1, rows[I], rows[J])
  for (int i = 0; i < ROWS; i++) {
    ck_assert_int_eq(ORDER(i, i), 0);
    for (int j = 0; j < ROWS; j++) {
      ck_assert_int_eq(ORDER(i, j) < 0, ORDER(j, i) > 0);
      for (int k = 0; k < ROWS; k++) {
        if (ORDER(i, j) <= 0 && ORDER(j, k) <= 0) ck_assert_int_le(ORDER(i, k), 0);
      }
    }
  }
#undef ORDER
}
END_TEST

START_TEST(the_order_of_the_columns) {
  const struct net_layout *layout = everything();
  /* Each slot in its turn decides against all after it. Strings: "b" before "ca". */
  for (uint32_t slot = 0; slot < 16; slot++) {
    union net_slot a[16] = {0}, b[16] = {0};
    a[6].s = b[6].s = base_strings_intern_text(strings, "b");
    for (uint32_t later = slot; later < 16; later++) {
      bool is_float = later == 5 || (later >= 8 && later < 12);
      union net_slot *larger = later == slot ? b : a;
      if (later == 6) {
        larger[later].s = base_strings_intern_text(strings, "ca");
      } else if (is_float) {
        larger[later].f = 0.5;
      } else {
        larger[later].i = 1;
      }
    }
    ck_assert_msg(net_row_compare(layout, strings, 0, a, b) < 0, "slot %u", slot);
    ck_assert_msg(net_row_compare(layout, strings, 0, b, a) > 0, "slot %u", slot);
  }
}
END_TEST

START_TEST(open_stops_in_the_order) {
  const struct net_layout *layout = net_layout_new(arena, NET_PERIOD, NULL, 0);
  union net_slot open[4] = {{.i = 1}, {.i = 1}, {.i = NET_OPEN}, {.i = NET_FOREVER}};
  union net_slot closed[4] = {{.i = 1}, {.i = 1}, {.i = 7}, {.i = 7}};
  ck_assert_int_lt(net_row_compare(layout, strings, 6, open, closed), 0);
  ck_assert_int_gt(net_row_compare(layout, strings, 7, open, closed), 0);
  open[3].i = 7;
  ck_assert_int_eq(net_row_compare(layout, strings, 9, open, closed), 0);
}
END_TEST

START_TEST(strings_are_marked) {
  const struct net_layout *layout = everything();
  union net_slot row[16] = {0};
  row[6].s = base_strings_intern_text(strings, "kept");
  base_strings_intern_text(strings, "forgotten");
  row[4].i = (int64_t)base_strings_intern_text(strings, "a number of that value");
  base_strings_sweep_begin(strings);
  net_row_mark_strings(layout, strings, row);
  ck_assert_uint_eq(base_strings_sweep_end(strings), 2);
  ck_assert_str_eq(base_strings_text(strings, row[6].s, NULL), "kept");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("layout");
  TCase *cases = tcase_create("layout");
  tcase_set_timeout(cases, 60);
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, slots);
  tcase_add_test(cases, names_are_copied_and_found);
  tcase_add_test_raise_signal(cases, only_instants_are_openable, SIGABRT);
  tcase_add_test(cases, open_rows);
  tcase_add_test(cases, identity_leaves_out_what_may_be_open);
  tcase_add_test(cases, equal_functions_are_equal_domains);
  tcase_add_test(cases, zeros_are_equal);
  tcase_add_test(cases, the_order_is_an_order);
  tcase_add_test(cases, the_order_of_the_columns);
  tcase_add_test(cases, open_stops_in_the_order);
  tcase_add_test(cases, strings_are_marked);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
