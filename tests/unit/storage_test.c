/* The store over SQLite: round trips, sets, open rows, scans, views, the catalogue, transactions.
 * What concerns the file as such is in storage_file_test.c.                                        */
#include <float.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tests/unit/storage_world.h"

/* ---- values ---- */

static const struct st_domain all_types[] = {
    {"i1", {NET_INTEGER, 1}}, {"i8", {NET_INTEGER, 8}}, {"f4", {NET_FLOAT, 4}},
    {"f8", {NET_FLOAT, 8}},   {"c5", {NET_STRING, 5}},  {"t", {NET_STRING, 0}},
    {"b", {NET_BOOL, 0}},     {"n", {NET_NAME, 0}},
};

static void check_round_trip(const char *where) {
  const struct st_relation relation = {
      .name = "All", .kind = ST_PERIOD, .domains = all_types, .domain_count = LENGTH(all_types)};
  struct st_database *database = open_at(where);
  create(database, &relation);
  struct net_layout *layout = layout_of(&relation, false);
  base_string_id hostile = base_strings_intern(strings, "a\0b\xc3\xbf\"'\n", 8);
  const union net_slot rows[][12] = {
      {{.i = NET_BEGINNING},
       {.i = NET_BEGINNING},
       {.i = -5},
       {.i = NET_FOREVER},
       {.i = -128},
       {.i = INT64_MIN},
       {.f = FLT_MAX},
       {.f = -DBL_MAX},
       {.s = 0},
       {.s = hostile},
       {.i = 0},
       {.s = text("process:p1#3")}},
      {{.i = -1},
       {.i = 0},
       {.i = 1},
       {.i = 1},
       {.i = 127},
       {.i = INT64_MAX},
       {.f = FLT_MIN},
       {.f = DBL_TRUE_MIN},
       {.s = text("\xc3\xa4\xc3\xb6")},
       {.s = 0},
       {.i = 1},
       {.s = text("a:b#1")}},
      {{.i = 3},
       {.i = 3},
       {.i = NET_OPEN},
       {.i = NET_FOREVER},
       {.i = 0},
       {.i = 0},
       {.f = 0.1f},
       {.f = 0.1},
       {.s = text("0")},
       {.s = text("12")},
       {.i = 1},
       {.s = text("a:b#1.5")}},
      {{.i = 3},
       {.i = 3},
       {.i = NET_FOREVER},
       {.i = NET_FOREVER},
       {.i = 0},
       {.i = 0},
       {.f = 3},
       {.f = 9007199254740993.0},
       {.s = text("0")},
       {.s = text("12")},
       {.i = 1},
       {.s = text("a:b:c#2")}},
      {{.i = NET_FOREVER - 1},
       {.i = NET_FOREVER},
       {.i = NET_FOREVER},
       {.i = NET_FOREVER},
       {.i = 0},
       {.i = 0},
       {.f = 0},
       {.f = 0},
       {.s = 0},
       {.s = 0},
       {.i = 0},
       {.s = text("a:b#0")}},
  };
  ok(st_begin(database));
  for (size_t i = LENGTH(rows); i-- > 0;)
    put(database, "all", layout, rows[i], i % 2 ? NET_DEFINITE : 0);
  ok(st_commit(database));
  if (where) {
    st_close(database);
    database = open_at(where);
  }
  struct net_rows found;
  scan(database, "ALL", layout, &found);
  ck_assert_uint_eq(found.count, LENGTH(rows));
  for (size_t i = 0; i < LENGTH(rows); i++) {
    ck_assert_mem_eq(net_rows_row(&found, i), rows[i], sizeof rows[i]);
    ck_assert_int_eq(found.marks[i], i % 2 ? NET_DEFINITE : 0);
  }
  net_rows_done(&found);
  st_close(database);
}

START_TEST(values_come_back_from_a_file) {
  check_round_trip(path);
}
END_TEST

START_TEST(values_come_back_from_memory) {
  check_round_trip(NULL);
}
END_TEST

START_TEST(temporal_values_and_field_subsets) {
  const struct st_domain domains[] = {
      {"d", {NET_TEMPORAL, 0}}, {"name", {NET_STRING, 0}}, {"e", {NET_TEMPORAL, 0}}};
  const char *inputs[] = {"E", "P"};
  const struct st_relation relation = {.name = "D",
                                       .kind = ST_DERIVED_PERIOD,
                                       .domains = domains,
                                       .domain_count = 3,
                                       .definition = "retrieve D ()",
                                       .inputs = inputs,
                                       .input_count = 2};
  struct st_database *database = open_at(path);
  create(database, &relation);
  struct net_layout *layout = layout_of(&relation, false);
  union net_slot row[13] = {{.i = 1},   {.i = 2},   {.i = 3}, {.i = 4},         {.f = 10000},
                            {.f = 100}, {.f = 277}, {.f = 1}, {.s = text("x")}, {.f = -1e-300},
                            {.f = 0},   {.f = 1},   {.f = 0}};
  ok(st_begin(database));
  put(database, "D", layout, row, NET_DEFINITE);
  row[5].f = 101; /* another function: another tuple */
  put(database, "D", layout, row, NET_DEFINITE);
  ok(st_commit(database));
  /* In another order than the relation's, and not all of them. */
  struct net_layout *part =
      net_layout_new(arena, NET_PERIOD,
                     (struct net_field[]){{.name = "E", .type = {NET_TEMPORAL, 0}},
                                          {.name = "d", .type = {NET_TEMPORAL, 0}}},
                     2);
  struct net_rows found;
  scan(database, "D", part, &found);
  ck_assert_uint_eq(found.count, 2);
  const union net_slot *second = net_rows_row(&found, 1);
  ck_assert(second[4].f == -1e-300 && second[6].f == 1 && second[8].f == 10000 &&
            second[9].f == 101 && second[10].f == 277 && second[11].f == 1);
  net_rows_done(&found);
  ck_assert_str_eq(outside(path, "SELECT d_n0,d_n1,d_d0,d_d1,name,e_d0 FROM D WHERE d_n1=100"),
                   "10000.0|100.0|277.0|1.0|x|1.0");
  st_close(database);
}
END_TEST

/* ---- sets and open rows ---- */

START_TEST(a_relation_is_a_set) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ok(st_begin(database));
  put_event(database, 5, 1, 0);
  put_event(database, 5, 1, 0);
  put_event(database, 5, 2, NET_DEFINITE);
  put_event(database, 5, 2, 0);
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, "SELECT * FROM E ORDER BY x"), "5|5|0|1\n5|5|1|2");
  ok(st_begin(database));
  put_event(database, 5, 1, NET_DEFINITE);
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, "SELECT * FROM E ORDER BY x"), "5|5|1|1\n5|5|1|2");
  ok(st_begin(database));
  ok(st_clear(database, "e"));
  ok(st_commit(database));
  ck_assert_int_eq(count(database, "E"), 0);
  st_close(database);
}
END_TEST

static void put_period(struct st_database *database, int64_t start, int64_t stop, int64_t stop_hi,
                       int64_t x, uint8_t marks) {
  const struct net_layout *layout = layout_of(&period_p, false);
  put(database, "P", layout,
      (union net_slot[]){{.i = start}, {.i = start}, {.i = stop}, {.i = stop_hi}, {.i = x}}, marks);
}

static bool close_period(struct st_database *database, int64_t start, int64_t open_hi, int64_t stop,
                         int64_t x, uint8_t marks) {
  const struct net_layout *layout = layout_of(&period_p, false);
  return close_row(
      database, "P", layout, open_hi,
      (union net_slot[]){{.i = start}, {.i = start}, {.i = stop}, {.i = stop}, {.i = x}}, marks);
}

START_TEST(open_rows_are_closed) {
  const char *all =
      "SELECT start_lo,ifnull(stop_lo,'open'),stop_hi,definite,x FROM P ORDER BY 1,5,2";
  struct st_database *database = open_at(path);
  create(database, &period_p);
  ok(st_begin(database));
  put_period(database, 1, NET_OPEN, NET_FOREVER, 7, NET_DEFINITE);
  put_period(database, 1, NET_OPEN, NET_FOREVER, 7, 0);
  put_period(database, 1, NET_OPEN, NET_FOREVER, 8, 0);
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, all),
                   "1|open|9223372036854775807|1|7\n"
                   "1|open|9223372036854775807|0|8");
  ok(st_begin(database));
  ck_assert(close_period(database, 1, NET_FOREVER, 9, 7, NET_DEFINITE | NET_CLOSES));
  ck_assert(close_period(database, 1, NET_FOREVER, 9, 8, NET_CLOSES));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, all), "1|9|9|1|7\n1|9|9|0|8");
  ok(st_begin(database));
  ck_assert(!close_period(database, 1, NET_FOREVER, 9, 7, NET_DEFINITE | NET_CLOSES)); /* again */
  ck_assert(!close_period(database, 2, NET_FOREVER, 9, 7, NET_DEFINITE | NET_CLOSES));
  /* The closed row is there already: the open one goes. */
  put_period(database, 4, 5, 5, 7, 0);
  put_period(database, 4, NET_OPEN, NET_FOREVER, 7, NET_DEFINITE);
  ck_assert(close_period(database, 4, NET_FOREVER, 5, 7, NET_DEFINITE));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, all), "1|9|9|1|7\n1|9|9|0|8\n4|5|5|1|7");
  st_close(database);
}
END_TEST

/* Of several open rows that are alike but for stop_hi the very one is closed. */
START_TEST(the_open_row_that_is_meant) {
  const char *all = "SELECT ifnull(stop_lo,'open'),stop_hi,definite FROM P ORDER BY 1,2";
  const int64_t latest[] = {10, 20, 30, NET_FOREVER};
  struct st_database *database = open_at(path);
  create(database, &period_p);
  ok(st_begin(database));
  for (size_t i = 0; i < LENGTH(latest); i++)
    put_period(database, 1, NET_OPEN, latest[i], 7, i % 2 ? NET_DEFINITE : 0);
  ck_assert(close_period(database, 1, 20, 4, 7, NET_DEFINITE));
  ck_assert(close_period(database, 1, NET_FOREVER, 5, 7, 0));
  ck_assert(!close_period(database, 1, 20, 6, 7, NET_DEFINITE));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, all), "4|4|1\n5|5|0\nopen|10|0\nopen|30|0");
  st_close(database);
}
END_TEST

/* Domains called like SQLite's number of a row: close has another way then. */
START_TEST(domains_called_rowid) {
  const struct st_domain domains[] = {
      {"RowId", {NET_INTEGER, 8}}, {"oid", {NET_INTEGER, 8}}, {"_rowid_", {NET_INTEGER, 8}}};
  struct st_relation relation = {.name = "P", .kind = ST_PERIOD, .domains = domains};
  struct st_database *database = open_at(path);
  for (relation.domain_count = 0; relation.domain_count <= 3; relation.domain_count++) {
    const struct net_layout *layout = layout_of(&relation, false);
    union net_slot row[7] = {{.i = 1}, {.i = 1}, {.i = NET_OPEN}, {.i = NET_FOREVER}};
    create(database, &relation);
    ok(st_begin(database));
    for (int x = 1; x <= 3; x++) {
      row[4].i = row[5].i = row[6].i = x;
      put(database, "P", layout, row, NET_DEFINITE);
    }
    row[2].i = row[3].i = row[4].i = row[5].i = row[6].i = 2;
    ck_assert(close_row(database, "P", layout, NET_FOREVER, row, NET_DEFINITE));
    ok(st_commit(database));
    ck_assert_str_eq(outside(path, "SELECT count(*), count(stop_lo), sum(stop_lo) FROM P"),
                     relation.domain_count ? "3|1|2" : "1|1|2");
    ok(st_begin(database));
    ok(st_destroy(database, "P"));
    ok(st_commit(database));
  }
  st_close(database);
}
END_TEST

START_TEST(first_finite_time) {
  struct st_database *database = open_at(NULL);
  bool any = true;
  net_chronon first;
  create(database, &period_p);
  create(database, &event_e);
  ok(st_begin(database));
  ok(st_first_finite(database, "P", &any, &first));
  ck_assert(!any);
  put_period(database, NET_BEGINNING, NET_FOREVER, NET_FOREVER, 1, 0);
  ok(st_first_finite(database, "P", &any, &first));
  ck_assert(!any);
  put_period(database, NET_BEGINNING, 8, NET_FOREVER, 1, 0);
  ok(st_first_finite(database, "P", &any, &first));
  ck_assert(any && first == 8);
  put_period(database, 5, NET_OPEN, NET_FOREVER, 1, 0);
  ok(st_first_finite(database, "P", &any, &first));
  ck_assert(any && first == 5);
  put_event(database, NET_BEGINNING, 1, 0);
  put_event(database, NET_FOREVER, 1, 0);
  ok(st_first_finite(database, "E", &any, &first));
  ck_assert(!any);
  put_event(database, 7, 1, 0);
  ok(st_first_finite(database, "E", &any, &first));
  ck_assert(any && first == 7);
  st_close(database);
}
END_TEST

START_TEST(first_and_last_times) {
  struct st_database *database = open_at(NULL);
  bool any = true;
  net_chronon first, last;
  create(database, &period_p);
  create(database, &event_e);
  ok(st_extent(database, "P", &any, &first, &last));
  ck_assert(!any);
  ok(st_begin(database));
  put_period(database, 10, NET_OPEN, NET_FOREVER, 1, 0);
  ok(st_extent(database, "P", &any, &first, &last));
  ck_assert(any && first == 10 && last == 10);
  put_period(database, -10, 30, NET_FOREVER, 1, 0);
  put_period(database, 25, NET_FOREVER, NET_FOREVER, 1, 0);
  ok(st_extent(database, "p", &any, &first, &last));
  ck_assert(any && first == -10 && last == 30);
  put_event(database, 7, 7, 0);
  ok(st_extent(database, "E", &any, &first, &last));
  ck_assert(any && first == 7 && last == 7);
  put_event(database, NET_FOREVER, NET_FOREVER, 0);
  ok(st_extent(database, "E", &any, &first, &last));
  ck_assert(any && first == 7 && last == 7);
  st_close(database);
}
END_TEST

/* ---- scans ---- */

START_TEST(scans_in_order_at_every_batch_size) {
  struct st_database *database = open_at(path);
  const struct net_layout *layout = layout_of(&period_p, false);
  struct base_random random = {7};
  create(database, &period_p);
  ok(st_begin(database));
  for (int i = 0; i < 3000; i++) {
    int64_t start = (int64_t)base_random_below(&random, 40) - 20;
    bool open = base_random_below(&random, 4) == 0;
    int64_t stop = start + 1 + (int64_t)base_random_below(&random, 5);
    put_period(database, start, open ? NET_OPEN : stop, open ? NET_FOREVER : stop,
               (int64_t)base_random_below(&random, 10) - 5, 0);
  }
  ok(st_commit(database));
  const uint32_t sizes[] = {1, 2, 3, 16, 100, 1024};
  for (size_t s = 0; s < LENGTH(sizes); s++) {
    struct net_rows found;
    scan_form(database, "P", layout, NET_SCAN_TUPLES, NET_FOREVER, sizes[s], &found);
    ck_assert_int_eq((int64_t)found.count, count(database, "P"));
    for (size_t i = 1; i < found.count; i++)
      ck_assert_int_lt(net_row_compare(layout, strings, NET_BEGINNING, net_rows_row(&found, i - 1),
                                       net_rows_row(&found, i)),
                       0);
    net_rows_done(&found);
    scan_form(database, "P", layout, NET_SCAN_TUPLES, 0, sizes[s], &found);
    ck_assert_uint_gt(found.count, 0);
    ck_assert(net_rows_row(&found, found.count - 1)[0].i < 0);
    net_rows_done(&found);
    scan_form(database, "P", layout, NET_SCAN_TUPLES, -20, sizes[s], &found);
    ck_assert_uint_eq(found.count, 0);
    net_rows_done(&found);
    scan_form(database, "P", layout, NET_SCAN_TUPLES, NET_BEGINNING, sizes[s], &found);
    ck_assert_uint_eq(found.count, 0);
    net_rows_done(&found);
  }
  st_close(database);
}
END_TEST

static const struct st_domain traced_domains[] = {{"who", {NET_STRING, 0}},
                                                  {"v", {NET_INTEGER, 4}}};
static const struct st_relation traced_t = {.name = "T",
                                            .kind = ST_TRACED,
                                            .domains = traced_domains,
                                            .domain_count = 2,
                                            .by = {(const uint32_t[]){0}, 1},
                                            .checkpoint = NET_BEGINNING};

START_TEST(records_of_a_traced_relation) {
  struct st_database *database = open_at(path);
  const struct net_layout *period = layout_of(&traced_t, false);
  const struct net_layout *event = layout_of(&traced_t, true);
  create(database, &traced_t);
  const struct {
    int64_t start, stop;
    const char *who;
    int64_t v;
  } rows[] = {{1, 5, "a", 1},
              {5, 7, "a", 2},
              {7, NET_OPEN, "a", 3},
              {2, 5, "b", 4},
              {5, NET_FOREVER, "c", 5}};
  ok(st_begin(database));
  for (size_t i = 0; i < LENGTH(rows); i++)
    put(database, "T", period,
        (union net_slot[]){{.i = rows[i].start},
                           {.i = rows[i].start},
                           {.i = rows[i].stop},
                           {.i = rows[i].stop == NET_OPEN ? NET_FOREVER : rows[i].stop},
                           {.s = text(rows[i].who)},
                           {.i = rows[i].v}},
        i == 1 ? 0 : NET_DEFINITE);
  ok(st_commit(database));
  const struct {
    int64_t at;
    int64_t v;
    int marks;
  } want[] = {{1, 1, 1}, {2, 4, 1}, {5, 1, 3}, {5, 4, 3},          {5, 2, 0},
              {5, 5, 1}, {7, 2, 2}, {7, 3, 1}, {NET_FOREVER, 5, 3}};
  for (uint32_t size = 1; size < 12; size++) {
    struct net_rows found;
    scan_form(database, "T", event, NET_SCAN_RECORDS, NET_FOREVER, size, &found);
    ck_assert_uint_eq(found.count, LENGTH(want));
    for (size_t i = 0; i < LENGTH(want); i++) {
      const union net_slot *row = net_rows_row(&found, i);
      ck_assert(row[0].i == want[i].at && row[1].i == want[i].at && row[3].i == want[i].v);
      ck_assert_int_eq(found.marks[i], want[i].marks);
    }
    ck_assert(net_rows_row(&found, 2)[2].s == text("a"));
    net_rows_done(&found);
    scan_form(database, "T", event, NET_SCAN_RECORDS, 7, size, &found);
    ck_assert_uint_eq(found.count, 6);
    net_rows_done(&found);
    scan_form(database, "T", event, NET_SCAN_RECORDS, 8, size, &found);
    ck_assert_uint_eq(found.count, 8);
    net_rows_done(&found);
  }
  st_close(database);
}
END_TEST

START_TEST(entities_are_taken_out) {
  struct st_database *database = open_at(path);
  const struct net_layout *period = layout_of(&traced_t, false);
  create(database, &traced_t);
  ok(st_begin(database));
  for (int64_t i = 100; i-- > 0;) {
    char who[] = {(char)('a' + i % 5), 0};
    put(database, "T", period,
        (union net_slot[]){{.i = i},
                           {.i = i},
                           {.i = i < 95 ? i + 5 : NET_OPEN},
                           {.i = i < 95 ? i + 5 : NET_FOREVER},
                           {.s = text(who)},
                           {.i = i}},
        NET_DEFINITE);
  }
  struct net_rows found;
  const union net_slot values[] = {{.s = text("b")}, {.s = text("nobody")}, {.s = text("e")}};
  for (int again = 0; again < 2; again++) {
    net_rows_init(&found, period);
    ok(st_take_entities(database, "t", period, &traced_t.by, values, LENGTH(values), NET_BEGINNING,
                        &found));
    ck_assert_uint_eq(found.count, again ? 0 : 40);
    for (size_t i = 0; i < found.count; i++) {
      const union net_slot *row = net_rows_row(&found, i);
      ck_assert_int_eq(row[0].i, (int64_t)(i / 2 * 5 + (i % 2 ? 4 : 1)));
      ck_assert(row[4].s == (i % 2 ? text("e") : text("b")));
      ck_assert_int_eq(found.marks[i], NET_DEFINITE);
    }
    ck_assert_int_eq(count(database, "T"), 60);
    net_rows_done(&found);
  }
  ok(st_commit(database));
  st_close(database);
}
END_TEST

START_TEST(a_scan_outlives_the_database) {
  struct st_database *database = open_at(path);
  struct net_store *store = st_net(database);
  struct net_source *source;
  struct net_batch batch;
  create(database, &event_e);
  struct net_scan scan = {"E", layout_of(&event_e, false), NET_SCAN_TUPLES, 5, 1, NULL};
  ok(store->class->scan(store, &scan, &source));
  st_close(database);
  ck_assert_int_eq(source->next(source, &batch), BASE_END);
  source->free(source);
}
END_TEST

/* ---- the catalogue ---- */

START_TEST(the_catalogue_comes_back) {
  const char *inputs[] = {"zz", "a \"b\" 'c'\xc3\xa4"};
  const struct st_relation relations[] = {
      {.name = "zz",
       .kind = ST_EVENT,
       .domains = all_types,
       .domain_count = LENGTH(all_types),
       .checkpoint = NET_BEGINNING},
      {.name = "a \"b\" 'c'\xc3\xa4",
       .kind = ST_TRACED,
       .domains = all_types,
       .domain_count = 3,
       .by = {(const uint32_t[]){2, 0}, 2},
       .checkpoint = 12},
      {.name = "select",
       .kind = ST_SNAPSHOT,
       .domains = NULL,
       .domain_count = 0,
       .checkpoint = NET_FOREVER},
      {.name = "Der",
       .kind = ST_DERIVED_EVENT,
       .domains = x_domain,
       .domain_count = 1,
       .definition = "retrieve Der (x = \"it's\")\nat 3",
       .inputs = inputs,
       .input_count = 2},
  };
  struct st_database *database = open_at(path);
  ok(st_begin(database));
  for (size_t i = 0; i < LENGTH(relations); i++) ok(st_create(database, &relations[i]));
  ok(st_set_origin(database, "DER", -77));
  ok(st_net(database)->class->checkpoint(st_net(database), "ZZ", 99));
  ck_assert_int_eq(st_create(database, &(struct st_relation){.name = "SELECT"}), BASE_USER);
  ck_assert_int_eq((int)diags.items[0].number, MSG_NAME_EXISTS);
  base_diag_sink_clear(&diags);
  ok(st_commit(database));
  st_close(database);

  database = open_at(path);
  struct st_relation *found;
  size_t found_count;
  ok(st_relations(database, arena, &found, &found_count));
  ck_assert_uint_eq(found_count, LENGTH(relations));
  for (size_t i = 0; i < found_count; i++) {
    ck_assert_str_eq(found[i].name, relations[i].name);
    ck_assert_int_eq(found[i].kind, relations[i].kind);
    ck_assert_uint_eq(found[i].by.count, relations[i].by.count);
    for (size_t k = 0; k < found[i].by.count; k++)
      ck_assert_uint_eq(found[i].by.fields[k], relations[i].by.fields[k]);
    ck_assert(found[i].checkpoint == (i == 0 ? 99 : relations[i].checkpoint));
    ck_assert_uint_eq(found[i].domain_count, relations[i].domain_count);
    for (size_t d = 0; d < found[i].domain_count; d++) {
      ck_assert_str_eq(found[i].domains[d].name, relations[i].domains[d].name);
      ck_assert_int_eq(found[i].domains[d].type.base, relations[i].domains[d].type.base);
    }
    ck_assert_uint_eq(found[i].input_count, relations[i].input_count);
  }
  ck_assert_str_eq(found[3].definition, relations[3].definition);
  ck_assert_str_eq(found[3].inputs[1], inputs[1]);
  ck_assert(found[3].origin_fixed && found[3].origin == -77);
  ck_assert(!found[0].origin_fixed && !found[0].definition);

  /* The odd names work throughout. */
  const struct net_layout *layout = layout_of(&relations[1], false);
  ok(st_begin(database));
  put(database, inputs[1], layout,
      (union net_slot[]){
          {.i = 1}, {.i = 1}, {.i = NET_OPEN}, {.i = NET_FOREVER}, {.i = 1}, {.i = 2}, {.f = 0.5}},
      NET_DEFINITE);
  close_row(
      database, inputs[1], layout, NET_FOREVER,
      (union net_slot[]){{.i = 1}, {.i = 1}, {.i = 2}, {.i = 2}, {.i = 1}, {.i = 2}, {.f = 0.5}},
      NET_DEFINITE);
  put(database, "Select", layout_of(&relations[2], false),
      (union net_slot[]){
          {.i = NET_BEGINNING}, {.i = NET_BEGINNING}, {.i = NET_FOREVER}, {.i = NET_FOREVER}},
      NET_DEFINITE);
  ok(st_commit(database));
  ck_assert_int_eq(count(database, inputs[1]), 1);
  ck_assert_str_eq(outside(path, "SELECT * FROM select_readable"),
                   "beginning|beginning|forever|forever|1");
  ok(st_begin(database));
  for (size_t i = LENGTH(relations); i-- > 0;) ok(st_destroy(database, relations[i].name));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path,
                           "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'tq%' AND "
                           "name NOT LIKE 'sqlite%' UNION ALL SELECT count(*) FROM tq_domain"),
                   "0\n0");
  create(database, &relations[1]);
  st_close(database);
}
END_TEST

START_TEST(wide_relations) {
  enum { DOMAINS = 1995 };
  struct st_domain *domains = base_arena_array(arena, DOMAINS + 1, sizeof *domains);
  for (int i = 0; i <= DOMAINS; i++)
    domains[i] = (struct st_domain){base_arena_printf(arena, "d%d", i), {NET_INTEGER, 8}};
  struct st_relation wide = {
      .name = "Wide", .kind = ST_PERIOD, .domains = domains, .domain_count = DOMAINS + 1};
  struct st_database *database = open_at(path);
  ok(st_begin(database));
  ck_assert_int_eq(st_create(database, &wide), BASE_SYSTEM);
  ck_assert_int_eq((int)diags.items[0].number, MSG_TOO_MANY_COLUMNS);
  base_diag_sink_clear(&diags);
  ck_assert(st_in_transaction(database));
  wide.domain_count = DOMAINS;
  ok(st_create(database, &wide));
  const struct net_layout *layout = layout_of(&wide, false);
  union net_slot *row = base_arena_array(arena, layout->slot_count, sizeof *row);
  for (uint32_t i = 4; i < layout->slot_count; i++) row[i].i = i;
  row[2].i = NET_OPEN;
  row[3].i = NET_FOREVER;
  put(database, "Wide", layout, row, 0);
  row[2].i = row[3].i = 5;
  close_row(database, "Wide", layout, NET_FOREVER, row, NET_DEFINITE);
  ok(st_commit(database));
  struct net_rows found;
  scan(database, "Wide", layout, &found);
  ck_assert_uint_eq(found.count, 1);
  ck_assert_mem_eq(found.rows, row, layout->slot_count * sizeof *row);
  net_rows_done(&found);
  ck_assert_str_eq(outside(path, "SELECT count(*), max(stop_lo) FROM Wide_readable"),
                   "1|1970-01-01T00:00:00.000000005Z");
  st_close(database);
}
END_TEST

/* ---- readable views ---- */

START_TEST(readable_times_are_those_of_the_program) {
  const int64_t fixed[] = {NET_BEGINNING,
                           NET_BEGINNING + 1,
                           -1,
                           0,
                           1,
                           1000,
                           1000000,
                           1000000000,
                           -1000000000,
                           -999999999,
                           -1000000001,
                           -1000,
                           -1000000,
                           1893456000123000000,
                           -2208988800000000001,
                           NET_FOREVER - 1,
                           NET_FOREVER};
  struct base_random random = {99};
  for (int pass = 0; pass < 2; pass++) {
    char *where = base_arena_printf(arena, "%s/%d.db", directory, pass);
    enum net_timeline timeline = pass ? NET_TIMELINE_ABSTRACT : NET_TIMELINE_REAL;
    struct st_options options = {.path = where, .timeline = timeline, .timeline_given = true};
    struct st_database *database;
    ok(st_open(&options, strings, &diags, &database));
    create(database, &event_e);
    ok(st_begin(database));
    for (size_t i = 0; i < LENGTH(fixed); i++)
      put_event(database, fixed[i], -1 - (int64_t)i, NET_DEFINITE);
    for (int i = 0; i < 1000; i++) {
      int64_t at = (int64_t)base_random_next(&random);
      if (i % 3 == 1) at = at / 1000000 * 1000000;
      if (i % 3 == 2) at = at / 1000 * 1000;
      put_event(database, at, i, NET_DEFINITE);
    }
    ok(st_commit(database));
    sqlite3 *raw;
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_open(where, &raw), SQLITE_OK);
    sqlite3_stmt *view;
    ck_assert_int_eq(
        sqlite3_prepare_v2(raw, "SELECT at_lo FROM E ORDER BY x", -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(raw, "SELECT at_lo, at_hi FROM E_readable ORDER BY x", -1, &view, NULL),
        SQLITE_OK);
    struct base_buffer want = BASE_BUFFER_EMPTY;
    size_t rows = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
      ck_assert_int_eq(sqlite3_step(view), SQLITE_ROW);
      base_buffer_clear(&want);
      net_time_print(&want, timeline, sqlite3_column_int64(statement, 0));
      ck_assert_str_eq((const char *)sqlite3_column_text(view, 0), want.data);
      ck_assert_str_eq((const char *)sqlite3_column_text(view, 1), want.data);
      rows++;
    }
    ck_assert_uint_ge(rows, 1000);
    base_buffer_done(&want);
    sqlite3_finalize(statement);
    sqlite3_finalize(view);
    sqlite3_close(raw);
    st_close(database);
  }
}
END_TEST

START_TEST(open_rows_end_at_the_checkpoint) {
  const char *stops = "SELECT x, stop_lo, stop_hi, definite FROM P_readable ORDER BY x";
  struct st_database *database = open_at(path);
  create(database, &period_p);
  ok(st_begin(database));
  put_period(database, 1, NET_OPEN, NET_FOREVER, 1, NET_DEFINITE);
  put_period(database, 3000000000, NET_OPEN, NET_FOREVER, 2, 0);
  put_period(database, 1, 2, 2, 3, NET_DEFINITE);
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, stops),
                   "1|1970-01-01T00:00:00.000000001Z|forever|1\n"
                   "2|1970-01-01T00:00:03Z|forever|0\n"
                   "3|1970-01-01T00:00:00.000000002Z|1970-01-01T00:00:00.000000002Z|1");
  ok(st_begin(database));
  ok(st_net(database)->class->checkpoint(st_net(database), "p", 5000000000));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, "SELECT x, stop_lo FROM P_readable WHERE x < 3 ORDER BY x"),
                   "1|1970-01-01T00:00:05Z\n2|1970-01-01T00:00:05Z");
  ok(st_begin(database));
  ok(st_net(database)->class->checkpoint(st_net(database), "p", NET_FOREVER));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, "SELECT stop_lo FROM P_readable WHERE x = 1"), "forever");
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM P WHERE stop_lo IS NULL"), "2");
  st_close(database);
}
END_TEST

START_TEST(the_form_of_the_file) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ck_assert_str_eq(outside(path,
                           "PRAGMA application_id; PRAGMA user_version; PRAGMA journal_mode;"
                           "PRAGMA integrity_check"),
                   "1414612300\n9\nwal\nok");
  ck_assert_str_eq(outside(path,
                           "SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict "
                           "AND name NOT LIKE 'sqlite%'"),
                   "");
  ck_assert_str_eq(outside(path, "SELECT name, type, \\\"notnull\\\" FROM pragma_table_info('E')"),
                   "at_lo|INTEGER|1\nat_hi|INTEGER|1\ndefinite|INTEGER|1\nx|INTEGER|1");
  ck_assert_str_eq(
      outside(path, "SELECT group_concat(name) FROM pragma_table_info('tq_node_stats')"),
      "relation,node,kind,what,inputs,fires,rows_in,rows_out,time_ns,state_rows,state_rows_max,"
      "state_bytes,state_bytes_max");
  st_close(database);
  ck_assert_uint_eq(files_in(directory), 1); /* no log, no lock */
}
END_TEST

/* ---- transactions ---- */

START_TEST(savepoints_nest) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ok(st_begin(database));
  put_event(database, 1, 1, 0);
  ok(st_savepoint(database));
  put_event(database, 2, 1, 0);
  ok(st_savepoint(database));
  put_event(database, 3, 1, 0);
  ok(st_create(database, &period_p));
  st_rollback_to(database);
  ck_assert_int_eq(count(database, "E"), 2);
  int64_t rows;
  ck_assert_int_eq(st_count(database, "P", &rows), BASE_USER);
  ok(st_create(database, &period_p));
  ok(st_release(database));
  ok(st_savepoint(database));
  ok(st_destroy(database, "E"));
  st_rollback_to(database);
  put_event(database, 4, 1, 0);
  ok(st_commit(database));
  ck_assert_int_eq(count(database, "E"), 3);
  ck_assert_int_eq(count(database, "P"), 0);
  ok(st_begin(database));
  put_event(database, 5, 1, 0);
  ok(st_destroy(database, "P"));
  st_rollback(database);
  ck_assert(!st_in_transaction(database));
  st_rollback(database);
  ck_assert_int_eq(count(database, "E"), 3);
  ck_assert_int_eq(count(database, "P"), 0);
  ok(st_begin(database));
  put_event(database, 6, 1, 0);
  st_close(database); /* rolls back */
  database = open_at(path);
  ck_assert_int_eq(count(database, "E"), 3);
  st_close(database);
}
END_TEST

/* Puts and closes at random beside a model: an array of rows that is searched from end to end. */
struct model_row {
  int64_t start, stop, x;
  bool definite;
};

START_TEST(any_sequence_of_writes) {
  struct model_row model[400];
  size_t rows = 0;
  struct base_random random = {2026};
  struct st_database *database = open_at(path);
  create(database, &period_p);
  ok(st_begin(database));
  for (int step = 0; step < 4000 && rows < LENGTH(model) - 1; step++) {
    int64_t start = (int64_t)base_random_below(&random, 6),
            x = (int64_t)base_random_below(&random, 6);
    int64_t stop = start + 1 + (int64_t)base_random_below(&random, 3);
    bool definite = base_random_below(&random, 2), closes = base_random_below(&random, 2);
    bool open = !closes && base_random_below(&random, 2);
    if (open) stop = NET_OPEN;
    if (closes) {
      closes = false;
      for (size_t i = rows; i-- > 0;)
        if (model[i].start == start && model[i].x == x && model[i].stop == NET_OPEN) {
          model[i] = model[--rows];
          closes = true;
        }
      if (!closes) {
        ck_assert(!close_period(database, start, NET_FOREVER, stop, x, 0));
        continue;
      }
    }
    size_t at = 0;
    while (at < rows && !(model[at].start == start && model[at].x == x && model[at].stop == stop))
      at++;
    if (at == rows) model[rows++] = (struct model_row){start, stop, x, false};
    uint8_t marks = definite ? NET_DEFINITE : 0;
    model[at].definite = model[at].definite || definite;
    if (closes)
      ck_assert(close_period(database, start, NET_FOREVER, stop, x, marks));
    else
      put_period(database, start, stop, open ? NET_FOREVER : stop, x, marks);
    ck_assert_int_eq(count(database, "P"), (int64_t)rows);
  }
  struct net_rows found;
  scan(database, "P", layout_of(&period_p, false), &found);
  ck_assert_uint_eq(found.count, rows);
  for (size_t i = 0; i < found.count; i++) {
    const union net_slot *row = net_rows_row(&found, i);
    size_t at = 0;
    while (at < rows &&
           !(model[at].start == row[0].i && model[at].stop == row[2].i && model[at].x == row[4].i))
      at++;
    ck_assert_uint_lt(at, rows);
    ck_assert_int_eq(found.marks[i], model[at].definite ? NET_DEFINITE : 0);
  }
  net_rows_done(&found);
  st_close(database);
}
END_TEST

/* ---- interrupts ---- */

START_TEST(an_interrupt_of_reading_takes_nothing_back) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ok(st_begin(database));
  for (int i = 0; i < 60000; i++) put_event(database, i, i, 0);
  ok(st_commit(database));
  ok(st_begin(database));
  put_event(database, -1, 0, 0);
  base_env_interrupt();
  bool any;
  net_chronon first, last;
  ck_assert_int_eq(st_extent(database, "E", &any, &first, &last), BASE_CANCEL);
  base_env_clear_interrupt();
  ck_assert_uint_eq(diags.count, 0);
  ck_assert(!st_has_failed(database) && st_in_transaction(database));
  ok(st_commit(database));
  ck_assert_int_eq(count(database, "E"), 60001);
  ok(st_begin(database));
  put_event(database, -2, 0, 0);
  st_rollback(database);
  ck_assert_int_eq(count(database, "E"), 60001);
  st_close(database);
}
END_TEST

/* ---- feeds ---- */

START_TEST(feeds_and_pending_records) {
  struct st_database *database = open_at(path);
  const struct st_relation relation = {
      .name = "All", .kind = ST_EVENT, .domains = all_types, .domain_count = LENGTH(all_types)};
  struct net_layout *layout = layout_of(&relation, false);
  create(database, &relation);
  bool found = true;
  struct st_feed feed;
  ok(st_feed_load(database, arena, "All", "-", &found, &feed));
  ck_assert(!found);
  const union net_slot rows[2][10] = {{{.i = INT64_MIN},
                                       {.i = INT64_MAX},
                                       {.i = -1},
                                       {.i = INT64_MIN},
                                       {.f = 0.5},
                                       {.f = -DBL_MAX},
                                       {.s = 0},
                                       {.s = base_strings_intern(strings, "\0\xff", 2)},
                                       {.i = 1},
                                       {.s = text("t:m#1")}},
                                      {{.i = 1},
                                       {.i = 2},
                                       {.i = 3},
                                       {.i = 4},
                                       {.f = 5},
                                       {.f = 6},
                                       {.s = text("7")},
                                       {.s = text("8")},
                                       {.i = 0},
                                       {.s = text("10")}}};
  const uint8_t marks[] = {NET_DEFINITE | NET_CLOSES, 0};
  ok(st_begin(database));
  ok(st_feed_save(database, &(struct st_feed){"All", "-", 17, 3}));
  ok(st_feed_save(database, &(struct st_feed){"All", "-", INT64_MAX, 4}));
  ok(st_feed_save(database, &(struct st_feed){"All", "/x", 1, 1}));
  ok(st_pending_save(database, "All", layout, rows[0], marks, 2));
  ok(st_pending_save(database, "All", layout, rows[0], marks, 2));
  ok(st_commit(database));
  st_close(database);
  database = open_at(path);
  ok(st_feed_load(database, arena, "all", "-", &found, &feed));
  ck_assert(found && feed.position == INT64_MAX && feed.sequence == 4);
  struct net_rows pending;
  net_rows_init(&pending, layout);
  ok(st_pending_load(database, "all", layout, &pending));
  ck_assert_uint_eq(pending.count, 2);
  ck_assert_mem_eq(pending.rows, rows, sizeof rows);
  ck_assert_mem_eq(pending.marks, marks, 2);
  net_rows_done(&pending);
  /* Of another form: refused, not misread. */
  struct net_layout *other = layout_of(&event_e, false);
  net_rows_init(&pending, other);
  ck_assert_int_eq(st_pending_load(database, "All", other, &pending), BASE_SYSTEM);
  ck_assert_int_eq((int)diags.items[0].number, MSG_DATABASE_DAMAGED);
  net_rows_done(&pending);
  base_diag_sink_clear(&diags);
  ok(st_begin(database));
  ok(st_pending_save(database, "All", layout, NULL, NULL, 0));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM tq_pending"), "0");
  st_close(database);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("storage");
  TCase *tests = tcase_create("storage");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, values_come_back_from_a_file);
  tcase_add_test(tests, values_come_back_from_memory);
  tcase_add_test(tests, temporal_values_and_field_subsets);
  tcase_add_test(tests, a_relation_is_a_set);
  tcase_add_test(tests, open_rows_are_closed);
  tcase_add_test(tests, the_open_row_that_is_meant);
  tcase_add_test(tests, domains_called_rowid);
  tcase_add_test(tests, first_and_last_times);
  tcase_add_test(tests, first_finite_time);
  tcase_add_test(tests, scans_in_order_at_every_batch_size);
  tcase_add_test(tests, records_of_a_traced_relation);
  tcase_add_test(tests, entities_are_taken_out);
  tcase_add_test(tests, a_scan_outlives_the_database);
  tcase_add_test(tests, the_catalogue_comes_back);
  tcase_add_test(tests, wide_relations);
  tcase_add_test(tests, readable_times_are_those_of_the_program);
  tcase_add_test(tests, open_rows_end_at_the_checkpoint);
  tcase_add_test(tests, the_form_of_the_file);
  tcase_add_test(tests, savepoints_nest);
  tcase_add_test(tests, any_sequence_of_writes);
  tcase_add_test(tests, an_interrupt_of_reading_takes_nothing_back);
  tcase_add_test(tests, feeds_and_pending_records);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
