/* What is remembered of a relation's rows without looking at them again: it is said here of each that comes.
 *
 *      equal                      how many were equal to others (st_fed_equal)
 *      came_old, widest           the least last time; how long those last that are not long (keep.c)
 *      alive_first                where those begin that are not over (alive.c) */
#include "storage/rows.h"

static void alive_added(struct st_table *table, net_chronon start, net_chronon last) {
  if (table->alive_known && last >= table->alive_at && start < table->alive_first)
    table->alive_first = start;
}

void st_row_came(const struct st_database *database, struct st_table *table,
                 const union net_slot *row) {
  net_chronon last = st_kind_is_event(table->kind) ? row[1].i : row[3].i;
  int64_t lasts;
  alive_added(table, row[0].i, last);
  if (last < table->came_old) table->came_old = last;
  if (!__builtin_sub_overflow(last, row[0].i, &lasts) && lasts > table->widest &&
      lasts <= st_long_span(database->timeline))
    table->widest = lasts;
}

void st_none_came(struct st_database *database, struct st_table *table) {
  table->widest_to = INT64_MAX;
  if (st_query_integer(database, "PRAGMA data_version", 0, &table->widest_version) != BASE_OK)
    table->widest_to = 0;
}

void st_note_equal(const struct st_database *database, struct st_table *table, size_t count) {
  if (table->equal_in != database->begun) table->equal = 0;
  table->equal_in = database->begun;
  table->equal += count;
}
