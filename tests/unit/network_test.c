/* Row ids, from where they are made to where they end: the map of ids, access nodes, and the relation
 * store over a table in memory, which is a set as those of storage/ are. And what single nodes hold and do. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/due.h"
#include "engine/network.h"
#include "engine/rowmap.h"

static struct base_arena *arena;
static struct base_strings *strings;
static struct base_diag_sink diags;
static const struct net_layout *layout; /* period x */

static void set_up(void) {
  struct net_field field = {.name = "x", .type = {NET_INTEGER, 8}};
  arena = base_arena_new();
  strings = base_strings_new();
  base_diag_sink_init(&diags);
  layout = net_layout_new(arena, NET_PERIOD, &field, 1);
}

static void tear_down(void) {
  base_diag_sink_done(&diags);
  base_strings_free(strings);
  base_arena_free(arena);
}

/* --- the map of ids, beside an array */

START_TEST(ids_in_a_map) {
  enum { IDS = 3000 };
  int64_t model[IDS + 1] = {0};
  size_t live = 0;
  struct base_random random = {3};
  struct net_rowmap map;
  net_rowmap_init(&map, layout, NET_KEY_ID, 0, NULL, 0, sizeof(int64_t));
  for (int64_t step = 1; step < 40000; step++) {
    uint64_t n = 1 + base_random_below(&random, IDS);
    uint64_t id = n % 2 ? n : n << 40; /* also such as differ only in the upper half */
    uint32_t place = net_rowmap_find_id(&map, id);
    ck_assert_int_eq(place != NET_NO_ENTRY, model[n] != 0);
    if (place != NET_NO_ENTRY) {
      ck_assert_uint_eq(net_rowmap_id(&map, place), id);
      ck_assert_int_eq(*(int64_t *)net_rowmap_state(&map, place), model[n]);
      ck_assert_int_eq(net_rowmap_row(&map, place)[4].i, model[n]);
    }
    if (base_random_below(&random, 2)) {
      union net_slot row[5] = {{.i = 0}};
      row[4].i = step;
      place = net_rowmap_put_id(&map, id, row);
      *(int64_t *)net_rowmap_state(&map, place) = step;
      live += model[n] == 0;
      model[n] = step;
    } else if (model[n] != 0) {
      net_rowmap_remove(&map, place);
      live--;
      model[n] = 0;
    }
    ck_assert_uint_eq(map.live, live);
  }
  net_rowmap_done(&map);
}
END_TEST

/* --- what is due, beside an array */

START_TEST(what_is_due_comes_up) {
  enum { THINGS = 2000, STEPS = 20000 };
  net_chronon times[THINGS]; /* when each is due */
  struct base_random random = {4};
  struct net_due due = {.count = 0};
  size_t walks = 0, came = 0;
  net_due_spend(&due);
  for (int i = 0; i < THINGS; i++) times[i] = 1 + (net_chronon)base_random_below(&random, STEPS);
  for (net_chronon now = 0; now < STEPS; now++) {
    bool up[THINGS] = {false}, spent = net_due_is_spent(&due, now);
    uint32_t what;
    while (!spent && net_due_take(&due, now, &what)) up[what] = true;
    for (uint32_t i = 0; i < THINGS; i++) {
      if (times[i] > now) continue;
      ck_assert(spent || up[i]);
      came++;
      times[i] = now + 1 + (net_chronon)base_random_below(&random, STEPS);
      if (!spent) net_due_add(&due, times[i], i);
    }
    if (!spent) continue;
    walks++;
    net_due_begin(&due, THINGS);
    for (uint32_t i = 0; i < THINGS; i++) net_due_say(&due, times[i], i);
    net_due_end(&due);
    ck_assert_uint_le(due.count, THINGS / 8 + 64);
  }
  ck_assert_uint_gt(walks, 2);
  ck_assert_uint_lt(walks * THINGS, 10 * came); /* so many looks for each that came up */
  net_due_done(&due);
}
END_TEST

/* --- a store in memory: one table of period rows */

struct memory {
  struct net_store store;
  struct net_rows rows;
  size_t scans;
};

struct memory_source {
  struct net_source source;
  const struct memory *memory;
  bool ended;
};

static enum base_status source_next(struct net_source *base, struct net_batch *ret) {
  struct memory_source *source = (struct memory_source *)base;
  if (source->ended) return BASE_END;
  source->ended = true;
  *ret = (struct net_batch){.layout = layout,
                            .rows = source->memory->rows.rows,
                            .marks = source->memory->rows.marks,
                            .count = (uint32_t)source->memory->rows.count};
  return BASE_OK;
}

static void source_free(struct net_source *source) {
  free(source);
}

static enum base_status memory_scan(struct net_store *store, const struct net_scan *scan,
                                    struct net_source **ret) {
  (void)scan;
  struct memory_source *source = base_xcalloc(1, sizeof *source);
  source->source = (struct net_source){.next = source_next, .free = source_free};
  source->memory = (struct memory *)store;
  ((struct memory *)store)->scans++;
  *ret = &source->source;
  return BASE_OK;
}

static size_t memory_find(const struct memory *memory, const union net_slot *row) {
  size_t at = 0;
  while (at < memory->rows.count &&
         memcmp(net_rows_row(&memory->rows, at), row, 5 * sizeof *row) != 0)
    at++;
  return at;
}

static enum base_status memory_put(struct net_store *store, const char *relation,
                                   const struct net_layout *of, const union net_slot *row,
                                   uint8_t marks) {
  (void)relation, (void)of;
  struct memory *memory = (struct memory *)store;
  size_t at = memory_find(memory, row);
  if (at < memory->rows.count)
    memory->rows.marks[at] |= marks;
  else
    net_rows_add_copy(&memory->rows, row, marks);
  return BASE_OK;
}

static enum base_status memory_close(struct net_store *store, const char *relation,
                                     const struct net_layout *of, const union net_slot *open,
                                     const union net_slot *row, uint8_t marks) {
  struct memory *memory = (struct memory *)store;
  size_t at = memory_find(memory, open), last = memory->rows.count - 1;
  ck_assert(open[2].i == NET_OPEN);
  if (at > last || memory->rows.count == 0) return BASE_END;
  memcpy(net_rows_row(&memory->rows, at), net_rows_row(&memory->rows, last), 5 * sizeof *row);
  memory->rows.marks[at] = memory->rows.marks[last];
  memory->rows.count = last;
  return memory_put(store, relation, of, row, marks);
}

static enum base_status memory_checkpoint(struct net_store *store, const char *relation,
                                          net_chronon time) {
  (void)store, (void)relation, (void)time;
  return BASE_OK;
}

static enum base_status memory_put_rows(struct net_store *store, const char *relation,
                                        const struct net_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    ck_assert_int_eq(
        memory_put(store, relation, rows->layout, net_rows_row(rows, i), rows->marks[i]), BASE_OK);
  return BASE_OK;
}

static const struct net_store_class memory_class = {.scan = memory_scan,
                                                    .put = memory_put,
                                                    .put_rows = memory_put_rows,
                                                    .close = memory_close,
                                                    .checkpoint = memory_checkpoint};

/* --- access ─▶ relation store */

struct world {
  struct memory memory;
  struct net_network *network;
  struct net_node *access, *store;
};

static void world_init(struct world *world) {
  world->memory = (struct memory){.store = {&memory_class}};
  net_rows_init(&world->memory.rows, layout);
  world->network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  world->access = net_create_access(world->network, "P", layout, NULL, false);
  world->store = net_create_relation_store(world->network, "P", layout, &world->memory.store);
  ck_assert_int_eq(net_link(world->access, world->store, 0), BASE_OK);
  net_freeze(world->network);
}

static void world_done(struct world *world) {
  net_network_free(world->network);
  net_rows_done(&world->memory.rows);
}

/* A row with start 1 and x 7. */
static void push(struct world *world, int64_t stop_lo, int64_t stop_hi, uint8_t marks) {
  union net_slot row[5] = {{.i = 1}, {.i = 1}, {.i = stop_lo}, {.i = stop_hi}, {.i = 7}};
  struct net_batch batch = {.layout = layout, .rows = row, .marks = &marks, .count = 1};
  ck_assert_int_eq(net_access_push(world->access, &batch), BASE_OK);
}

static bool has(const struct world *world, int64_t stop_lo, int64_t stop_hi, uint8_t marks) {
  union net_slot row[5] = {{.i = 1}, {.i = 1}, {.i = stop_lo}, {.i = stop_hi}, {.i = 7}};
  size_t at = memory_find(&world->memory, row);
  return at < world->memory.rows.count && world->memory.rows.marks[at] == marks;
}

START_TEST(alike_rows_close_one_by_one) {
  struct world world;
  world_init(&world);
  push(&world, NET_OPEN, NET_FOREVER, 0);
  push(&world, NET_OPEN, NET_FOREVER, NET_DEFINITE);
  push(&world, NET_OPEN, NET_FOREVER, 0);
  push(&world, NET_OPEN, 20, 0);
  ck_assert_uint_eq(world.memory.rows.count, 2);
  ck_assert(has(&world, NET_OPEN, NET_FOREVER, NET_DEFINITE) && has(&world, NET_OPEN, 20, 0));
  push(&world, 5, 5, NET_DEFINITE | NET_CLOSES); /* the definite one: the others are not */
  ck_assert_uint_eq(world.memory.rows.count, 3);
  ck_assert(has(&world, 5, 5, NET_DEFINITE) && has(&world, NET_OPEN, NET_FOREVER, 0));
  push(&world, 30, 30, NET_CLOSES);
  ck_assert_uint_eq(world.memory.rows.count, 4);
  ck_assert(has(&world, 30, 30, 0) && has(&world, NET_OPEN, NET_FOREVER, 0));
  push(&world, 6, 6, NET_CLOSES); /* the one that fits most tightly */
  ck_assert(has(&world, 6, 6, 0) && !has(&world, NET_OPEN, 20, 0));
  push(&world, 7, 7, NET_CLOSES);
  push(&world, 8, 8, NET_CLOSES); /* of nothing */
  ck_assert_uint_eq(world.memory.rows.count, 4);
  ck_assert(has(&world, 7, 7, 0));
  ck_assert_uint_eq(world.memory.scans, 0);
  world_done(&world);
}
END_TEST

/* A store that collects makes the same table in the end as one that writes row by row, also when it has
 * written what is whole in between. */
START_TEST(collecting_comes_to_the_same) {
  struct base_random random = {5};
  for (int round = 0; round < 60; round++) {
    struct world worlds[2];
    for (int i = 0; i < 2; i++) world_init(&worlds[i]);
    net_store_node_collect(worlds[1].store);
    /* The first round is longer than what is collected at once. */
    int steps = round == 0 ? 300000 : 40;
    size_t open[2] = {0, 0}; /* by definiteness, which never changes */
    for (int step = 0; step < steps; step++) {
      uint64_t kind = base_random_below(&random, round == 0 ? 1000 : 4);
      int64_t stop = 2 + (int64_t)base_random_below(&random, 4);
      uint8_t marks = base_random_below(&random, 2) ? NET_DEFINITE : 0;
      if ((kind == 1 || kind == 2) && open[marks] == 0) continue;
      open[marks] += kind == 0;
      open[marks] -= kind == 1;
      for (int i = 0; i < 2; i++) {
        if (kind == 0)
          push(&worlds[i], NET_OPEN, stop % 2 ? 20 : NET_FOREVER, marks);
        else if (kind == 1)
          push(&worlds[i], stop, stop, marks | NET_CLOSES);
        else if (kind == 2)
          push(&worlds[i], NET_OPEN, stop, marks | NET_CLOSES);
        else
          push(&worlds[i], stop, stop, marks);
      }
    }
    ck_assert_int_eq(net_store_node_finish(worlds[1].store), BASE_OK);
    const struct net_rows *rows = &worlds[0].memory.rows;
    ck_assert_uint_eq(rows->count, worlds[1].memory.rows.count);
    for (size_t i = 0; i < rows->count; i++) {
      const union net_slot *row = net_rows_row(rows, i);
      ck_assert(has(&worlds[1], row[2].i, row[3].i, rows->marks[i]));
    }
    for (int i = 0; i < 2; i++) world_done(&worlds[i]);
  }
}
END_TEST

/* The relation was committed at 6; its inputs have come further. What began and ended before 6 is there
 * already and is not written again; the rest is. */
START_TEST(a_replay_that_knows_more) {
  struct world world;
  world_init(&world);
  ck_assert_int_eq(net_store_node_set_stored(world.store, 6), BASE_OK);
  push(&world, 5, 5, NET_DEFINITE);
  ck_assert_uint_eq(world.memory.rows.count, 0);
  push(&world, 6, 6, NET_DEFINITE); /* it may have been open at 6 */
  push(&world, NET_OPEN, NET_FOREVER,
       NET_DEFINITE); /* as long as it is open it may have been over at 6 */
  ck_assert_uint_eq(world.memory.rows.count, 1);
  push(&world, 9, 9, NET_DEFINITE | NET_CLOSES);
  ck_assert_uint_eq(world.memory.rows.count, 2);
  ck_assert(has(&world, 6, 6, NET_DEFINITE) && has(&world, 9, 9, NET_DEFINITE));
  push(&world, NET_OPEN, NET_FOREVER, NET_DEFINITE); /* and this one was */
  push(&world, 5, 5, NET_DEFINITE | NET_CLOSES);
  push(&world, NET_OPEN, NET_FOREVER, NET_DEFINITE);
  ck_assert_uint_eq(world.memory.rows.count, 2);
  ck_assert_int_eq(net_store_node_set_stored(world.store, NET_BEGINNING), BASE_OK);
  ck_assert(has(&world, NET_OPEN, NET_FOREVER, NET_DEFINITE));
  push(&world, 10, 10, NET_DEFINITE | NET_CLOSES); /* as ever */
  ck_assert_uint_eq(world.memory.rows.count, 3);
  ck_assert(has(&world, 10, 10, NET_DEFINITE));
  push(&world, 4, 4, NET_DEFINITE);
  ck_assert(has(&world, 4, 4, NET_DEFINITE));
  /* While it only follows, nothing is written; what was open then closes as ever. */
  net_store_node_set_replaying(world.store, true);
  push(&world, NET_OPEN, 20, NET_DEFINITE);
  ck_assert_uint_eq(world.memory.rows.count, 4);
  world_done(&world);
}
END_TEST

/* --- order, file store */

static enum base_status remember(void *context, const struct net_batch *batch) {
  struct net_rows *rows = context;
  for (uint32_t i = 0; i < batch->count; i++)
    net_rows_add_copy(rows, net_batch_row(batch, i), net_batch_marks(batch, i));
  return BASE_OK;
}

static void push_rows(struct net_node *access, const union net_slot *rows, const uint8_t *marks,
                      size_t count, net_chronon checkpoint) {
  struct net_batch batch = {.layout = layout,
                            .rows = rows,
                            .marks = marks,
                            .count = (uint32_t)count,
                            .checkpoint = checkpoint,
                            .bound = NET_BEGINNING};
  ck_assert_int_eq(net_access_push(access, &batch), BASE_OK);
}

static void push_starts(struct net_node *access, const int64_t *starts, size_t count,
                        net_chronon checkpoint) {
  union net_slot rows[8][5];
  uint8_t marks[8];
  for (size_t i = 0; i < count; i++) {
    rows[i][0].i = rows[i][1].i = starts[i];
    rows[i][2].i = rows[i][3].i = 100;
    rows[i][4].i = (int64_t)i;
    marks[i] = NET_DEFINITE;
  }
  push_rows(access, rows[0], marks, count, checkpoint);
}

START_TEST(order_gives_rows_out_in_time_up_to_the_checkpoint) {
  struct net_rows seen;
  net_rows_init(&seen, layout);
  struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  struct net_node *access = net_create_access(network, "P", layout, NULL, false);
  struct net_node *order = net_create_order(network, "order", layout);
  struct net_node *file = net_create_file_store(network, "file", layout, remember, &seen);
  ck_assert_int_eq(net_link(access, order, 0), BASE_OK);
  ck_assert_int_eq(net_link(order, file, 0), BASE_OK);
  net_freeze(network);
  push_starts(access, (const int64_t[]){7, 3, 9}, 3, 2);
  ck_assert_uint_eq(seen.count, 0);
  push_starts(access, (const int64_t[]){8, 3, 12}, 3, 8);
  ck_assert_uint_eq(seen.count, 3); /* 3, 3, 7: 8 is not before the checkpoint */
  push_starts(access, NULL, 0, NET_FOREVER);
  ck_assert_uint_eq(seen.count, 6);
  for (size_t i = 1; i < seen.count; i++)
    ck_assert(net_rows_row(&seen, i - 1)[0].i <= net_rows_row(&seen, i)[0].i);
  ck_assert_int_eq(net_rows_row(&seen, 0)[4].i, 1); /* equal times: as they came */
  ck_assert_int_eq(net_node_checkpoint(order), NET_FOREVER);
  ck_assert_uint_eq(net_node_count(network), 3);
  net_remove(file); /* and what only it needed */
  ck_assert_uint_eq(net_node_count(network), 0);
  net_network_free(network);
  net_rows_done(&seen);
}
END_TEST

static enum base_status see_plain(void *context, const struct net_batch *batch) {
  size_t *plain = context;
  if (batch->plain && !batch->unordered) *plain += batch->count;
  return BASE_OK;
}

/* What an aggregate, say, gives: plain rows, not by their starts. */
static void push_plain(struct net_node *node, const int64_t *starts, size_t count,
                       net_chronon checkpoint) {
  union net_slot rows[8][5] = {{{0}}};
  uint8_t marks[8];
  for (size_t i = 0; i < count; i++) {
    rows[i][0].i = rows[i][1].i = starts[i];
    rows[i][2].i = rows[i][3].i = starts[i] + 10;
    marks[i] = NET_DEFINITE;
  }
  struct net_batch batch = {.layout = layout,
                            .rows = rows[0],
                            .marks = marks,
                            .count = (uint32_t)count,
                            .checkpoint = checkpoint,
                            .bound = NET_BEGINNING,
                            .plain = true,
                            .unordered = true};
  ck_assert_int_eq(net_inject(node, 0, &batch), BASE_OK);
}

START_TEST(plain_rows_stay_plain_when_put_in_order) {
  size_t plain = 0;
  struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  net_network_set_checked(network);
  struct net_node *access = net_create_access(network, "P", layout, NULL, false);
  struct net_node *order = net_create_order(network, "order", layout);
  struct net_node *file = net_create_file_store(network, "file", layout, see_plain, &plain);
  ck_assert_int_eq(net_link(access, order, 0), BASE_OK);
  ck_assert_int_eq(net_link(order, file, 0), BASE_OK);
  net_freeze(network);
  net_node_promise(order, NET_ORDER_STARTS);
  push_plain(order, (const int64_t[]){7, 3, 9}, 3, 8);
  ck_assert_uint_eq(plain, 2);
  push_plain(order, (const int64_t[]){30, 8}, 2, NET_FOREVER);
  ck_assert_uint_eq(plain, 5);
  ck_assert_uint_eq(net_node_stats(order).state_rows, 0);
  net_network_free(network);
}
END_TEST

/* A promise that is not kept ends a checked network. */
START_TEST(an_order_that_was_promised) {
  size_t plain = 0;
  struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  net_network_set_checked(network);
  struct net_node *access = net_create_access(network, "P", layout, NULL, false);
  struct net_node *file = net_create_file_store(network, "file", layout, see_plain, &plain);
  ck_assert_int_eq(net_link(access, file, 0), BASE_OK);
  net_freeze(network);
  net_node_promise(access, NET_ORDER_STARTS);
  push_starts(access, (const int64_t[]){7, 9}, 2, 2);
  push_starts(access, (const int64_t[]){8}, 1, 2);
}
END_TEST

START_TEST(an_inbox_gives_back_what_it_does_not_need) {
  const int64_t starts[8] = {1, 2, 3, 4, 5, 6, 7, 0};
  struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  struct net_node *access = net_create_access(network, "P", layout, NULL, false);
  struct net_node *order = net_create_order(network, "order", layout);
  struct net_rows seen;
  net_rows_init(&seen, layout);
  struct net_node *file = net_create_file_store(network, "file", layout, remember, &seen);
  ck_assert_int_eq(net_link(access, order, 0), BASE_OK);
  ck_assert_int_eq(net_link(order, file, 0), BASE_OK);
  net_freeze(network);
  for (int i = 0; i < 2000; i++) push_starts(access, starts, 8, 0);
  push_starts(access, NULL, 0, 10);
  ck_assert_uint_eq(seen.count, 16000);
  size_t bytes = net_node_stats(order).state_bytes;
  for (int64_t now = 10; now < 1000; now++) push_starts(access, &now, 1, now + 1);
  ck_assert_uint_eq(seen.count, 16990);
  ck_assert_uint_gt(bytes, 16000 * 40);
  ck_assert_uint_lt(net_node_stats(order).state_bytes, bytes / 20);
  push_starts(access, NULL, 0, NET_FOREVER);
  net_network_free(network);
  net_rows_done(&seen);
}
END_TEST

START_TEST(an_input_that_two_read) {
  struct net_rows seen, other;
  net_rows_init(&seen, layout);
  net_rows_init(&other, layout);
  struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  struct net_node *access = net_create_access(network, "P", layout, NULL, false);
  struct net_node *first = net_create_order(network, "first", layout);
  struct net_node *second = net_create_order(network, "second", layout);
  struct net_node *files[] = {net_create_file_store(network, "a", layout, remember, &seen),
                              net_create_file_store(network, "b", layout, remember, &other)};
  ck_assert_int_eq(net_link(access, first, 0), BASE_OK);
  ck_assert_int_eq(net_link(access, second, 0), BASE_OK);
  ck_assert_int_eq(net_link(first, files[0], 0), BASE_OK);
  ck_assert_int_eq(net_link(second, files[1], 0), BASE_OK);
  net_freeze(network);
  net_freeze(network); /* what is frozen stays so */
  ck_assert_str_eq(net_node_name(second), "second");
  ck_assert_ptr_null(net_node_result_name(access)); /* its rows end in files */
  push_starts(access, (const int64_t[]){7, 3, 9}, 3, 5);
  struct net_node_stats stats = net_node_stats_at(network, 1);
  ck_assert_str_eq(stats.name, "first");
  ck_assert_uint_eq(stats.rows_in, 3);
  ck_assert_uint_eq(stats.rows_out, 1);
  ck_assert_uint_eq(stats.state_rows, 2);
  ck_assert_uint_eq(stats.state_rows_max, 2);
  ck_assert_uint_eq(net_node_stats_at(network, 0).state_rows, 0);
  net_remove(files[1]); /* the first goes on */
  ck_assert_uint_eq(net_node_count(network), 3);
  push_starts(access, NULL, 0, NET_FOREVER);
  ck_assert_uint_eq(seen.count, 3);
  ck_assert_uint_eq(other.count, 1);
  net_remove(files[0]);
  ck_assert_uint_eq(net_node_count(network), 0);
  net_network_free(network);
  net_rows_done(&seen);
  net_rows_done(&other);
}
END_TEST

/* Periods of one x, so many that looking at all pairs of them would not end: COUNT, STEP chronons from start to
 * start, each 5 long; if OPEN, the stops come behind them all. */
static void push_many(struct net_node *access, int64_t count, int64_t step, bool open) {
  union net_slot row[5];
  for (int64_t i = 0; i < count * (open ? 2 : 1); i++) {
    bool closes = i >= count;
    int64_t at = i % count * step;
    row[0].i = row[1].i = at;
    row[2].i = open && !closes ? NET_OPEN : at + 5;
    row[3].i = open && !closes ? NET_FOREVER : at + 5;
    row[4].i = 1;
    uint8_t marks = closes ? NET_DEFINITE | NET_CLOSES : NET_DEFINITE;
    push_rows(access, row, &marks, 1, NET_BEGINNING);
  }
  push_starts(access, NULL, 0, NET_FOREVER);
}

START_TEST(many_periods_become_one_or_none_does) {
  enum { PERIODS = 50000 };
  static const int64_t steps[] = {10, 5};
  for (int choice = 0; choice < 4; choice++) {
    struct net_rows seen;
    net_rows_init(&seen, layout);
    struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
    struct net_node *access = net_create_access(network, "P", layout, NULL, false);
    struct net_node *coalesce = net_create_coalesce(network, "coalesce", layout);
    struct net_node *file = net_create_file_store(network, "a", layout, remember, &seen);
    ck_assert_int_eq(net_link(access, coalesce, 0), BASE_OK);
    ck_assert_int_eq(net_link(coalesce, file, 0), BASE_OK);
    net_freeze(network);
    push_many(access, PERIODS, steps[choice % 2], choice / 2);
    ck_assert_uint_eq(seen.count, choice % 2 ? 1 : PERIODS);
    ck_assert_int_eq(net_rows_row(&seen, seen.count - 1)[3].i,
                     steps[choice % 2] * (PERIODS - 1) + 5);
    ck_assert_uint_eq(net_node_stats(coalesce).state_rows, 0);
    net_network_free(network);
    net_rows_done(&seen);
  }
}
END_TEST

/* Works until the clock has moved, and adds up by how much it did. */
static enum base_status work(void *context, const struct net_batch *batch) {
  (void)batch;
  int64_t began = base_env_monotonic(), now = began;
  while (now - began < 1000) now = base_env_monotonic();
  *(uint64_t *)context += (uint64_t)(now - began);
  return BASE_OK;
}

START_TEST(what_a_node_costs) {
  uint64_t worked = 0;
  struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  struct net_node *access = net_create_access(network, "R", layout, NULL, false);
  struct net_node *order = net_create_order(network, "r", layout);
  struct net_node *file = net_create_file_store(network, "file", layout, work, &worked);
  net_node_place(file, "Q", 7, "out");
  ck_assert_int_eq(net_link(access, order, 0), BASE_OK);
  ck_assert_int_eq(net_link(order, file, 0), BASE_OK);
  net_freeze(network);
  push_starts(access, (const int64_t[]){7, 3, 9}, 3, 5);
  ck_assert_uint_eq(net_node_stats(file).time_ns, 0); /* nobody has asked */
  ck_assert_uint_eq(net_node_stats(order).state_bytes_max, 0);
  ck_assert_uint_ge(net_node_stats(order).state_bytes, 2 * layout->slot_count * 8);
  worked = 0;
  net_network_measure(network);
  push_starts(access, (const int64_t[]){8}, 1, 8);
  push_starts(access, NULL, 0, NET_FOREVER);
  struct net_node_stats stats = net_node_stats(file);
  ck_assert_uint_gt(worked, 0);
  ck_assert_uint_ge(stats.time_ns, worked);
  ck_assert_uint_eq(stats.fires, 3);
  ck_assert_uint_eq(stats.rows_in, 4);
  ck_assert_uint_ge(net_node_stats(order).state_bytes_max, 2 * layout->slot_count * 8);
  ck_assert_uint_gt(net_node_stats(access).time_ns, 0);
  /* places: as it was said, or by name in the order of creation */
  ck_assert_str_eq(stats.owner, "Q");
  ck_assert_str_eq(stats.what, "out");
  ck_assert_uint_eq(stats.number, 7);
  ck_assert_ptr_eq(stats.inputs[0], order);
  ck_assert_uint_eq(net_node_stats(access).number, 1);
  ck_assert_uint_eq(net_node_stats(order).number, 2);
  ck_assert_ptr_eq(net_network_first(network), access);
  ck_assert_ptr_eq(net_node_next(access), order);
  ck_assert_ptr_null(net_node_next(file));
  net_network_free(network);
}
END_TEST

START_TEST(an_interrupt_stops_a_batch) {
  struct net_rows seen;
  net_rows_init(&seen, layout);
  struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  struct net_node *access = net_create_access(network, "P", layout, NULL, false);
  struct net_node *file = net_create_file_store(network, "a", layout, remember, &seen);
  ck_assert_int_eq(net_link(access, file, 0), BASE_OK);
  net_freeze(network);
  struct net_batch batch = {.layout = layout, .checkpoint = NET_FOREVER, .bound = NET_BEGINNING};
  base_env_interrupt();
  ck_assert_int_eq(net_access_push(access, &batch), BASE_CANCEL);
  ck_assert_int_eq(net_run(network), BASE_CANCEL);
  base_env_clear_interrupt();
  ck_assert_int_eq(net_run(network), BASE_OK); /* nothing to pull from */
  net_network_free(network);
  net_rows_done(&seen);
}
END_TEST

START_TEST(cycles_are_refused) {
  struct net_network *network = net_network_new(strings, NET_TIMELINE_ABSTRACT, &diags);
  struct net_node *a = net_create_order(network, "a", layout);
  struct net_node *b = net_create_order(network, "b", layout);
  ck_assert_int_eq(net_link(a, a, 0), BASE_USER);
  ck_assert_int_eq(net_link(a, b, 0), BASE_OK);
  ck_assert_int_eq(net_link(b, a, 0), BASE_USER);
  net_network_free(network);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("network");
  TCase *tests = tcase_create("ids");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, ids_in_a_map);
  tcase_add_test(tests, alike_rows_close_one_by_one);
  tcase_add_test(tests, collecting_comes_to_the_same);
  tcase_add_test(tests, a_replay_that_knows_more);
  tcase_add_test(tests, cycles_are_refused);
  tcase_add_test(tests, what_is_due_comes_up);
  tcase_add_test(tests, many_periods_become_one_or_none_does);
  tcase_add_test(tests, an_input_that_two_read);
  tcase_add_test(tests, an_interrupt_stops_a_batch);
  tcase_add_test(tests, what_a_node_costs);
  tcase_add_test(tests, an_inbox_gives_back_what_it_does_not_need);
  tcase_add_test(tests, plain_rows_stay_plain_when_put_in_order);
  tcase_add_test_raise_signal(tests, an_order_that_was_promised, SIGABRT);
  tcase_add_test(tests, order_gives_rows_out_in_time_up_to_the_checkpoint);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
