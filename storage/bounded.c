/* Reading part of a relation: the rows that are wanted (engine/wanted.h), through the index that has the
 * fewest to offer, in the order of time.
 *
 *   "tq_R_set"    the order of time. Rows that start at or before a time T are its first ones. Those that
 *                 last, or are perhaps, until a time T or after start at T - LONG or after (alive.c: how long after),
 *   "tq_R_long"   or are the long ones, that last longer than LONG: they have an index of their own, on
 *                 the time until which they last. So rows of the last minute are found at the end of the
 *                 one and at the end of the other, and short rows are in one index only.
 *   index on R    of which the first domain must have certain values (`index on R is X (d)`).
 *
 * The rows of the latter two are sorted. What the indexes leave is asked of each row (st_sql_wanted),
 * while it is only in the index as far as possible. None of that pays if most rows are wanted: then the
 * relation is read in one of the usual ways (scan.c). To know, rows are counted in the indexes, up to one
 * in WORTH of the relation. Bounds of time always pay where nothing is kept in memory.
 *
 * An index that is not there (files that older programs made; somebody dropped it) is done without. */
#include <stdlib.h>

#include "storage/relations.h"

enum { WORTH = 8 };

/* --- conditions */

static const char *start_hi(enum st_kind kind) {
  return st_kind_is_event(kind) ? "at_hi" : "start_hi";
}

static void sql_time(struct base_buffer *sql, const char *column, const char *operator,
                     net_chronon time) {
  base_buffer_printf(sql, " AND %s%s%lld", column, operator,(long long) time);
}

/* Strings and bytes are parameters from 1 on, in order. */
static void sql_domain(struct base_buffer *sql, const struct net_wanted_domain *domain,
                       int *parameters) {
  bool strings = net_type_is_interned(domain->type.base);
  base_buffer_puts(sql, " AND ");
  st_sql_name(sql, domain->name);
  if (!domain->listed) {
    base_buffer_puts(sql, " BETWEEN ");
    base_buffer_printf(sql, "%lld AND %lld", (long long)domain->min, (long long)domain->max);
    return;
  }
  base_buffer_puts(sql, " IN (");
  for (uint32_t i = 0; i < domain->count; i++) {
    if (i > 0) base_buffer_putc(sql, ',');
    if (strings)
      base_buffer_printf(sql, "?%d", ++*parameters);
    else
      base_buffer_printf(sql, "%lld", (long long)domain->values[i].i);
  }
  base_buffer_puts(sql, ")");
}

void st_sql_wanted(struct base_buffer *sql, const struct st_table *table,
                   const struct net_wanted *wanted, net_chronon checkpoint) {
  enum st_kind kind = table->kind;
  int parameters = 0;
  base_buffer_puts(sql, " WHERE 1");
  if (checkpoint != NET_FOREVER) sql_time(sql, st_sql_start(kind), "<", checkpoint);
  if (wanted->start_lo_max != NET_FOREVER)
    sql_time(sql, st_sql_start(kind), "<=", wanted->start_lo_max);
  if (wanted->start_hi_min != NET_BEGINNING)
    sql_time(sql, start_hi(kind), ">=", wanted->start_hi_min);
  if (wanted->stop_hi_min != NET_BEGINNING) sql_time(sql, "stop_hi", ">=", wanted->stop_hi_min);
  if (wanted->stop_lo_max != NET_FOREVER)
    base_buffer_printf(sql, " AND (stop_lo IS NULL OR stop_lo<=%lld)",
                       (long long)wanted->stop_lo_max);
  for (uint32_t i = 0; i < wanted->domain_count; i++)
    sql_domain(sql, &wanted->domains[i], &parameters);
}

bool st_bind_wanted(struct st_database *database, sqlite3_stmt *statement,
                    const struct net_wanted *wanted) {
  int parameter = 0, code = SQLITE_OK;
  for (uint32_t i = 0; i < wanted->domain_count; i++) {
    const struct net_wanted_domain *domain = &wanted->domains[i];
    if (!net_type_is_interned(domain->type.base)) continue;
    for (uint32_t k = 0; k < domain->count; k++) {
      size_t length;
      const char *text = base_strings_text(database->strings, domain->values[k].s, &length);
      code |= domain->type.base == NET_BYTES
                  ? sqlite3_bind_blob64(statement, ++parameter, text, length, SQLITE_TRANSIENT)
                  : sqlite3_bind_text64(statement, ++parameter, text, length, SQLITE_TRANSIENT,
                                        SQLITE_UTF8);
    }
  }
  return code == SQLITE_OK;
}

/* --- ways */

/* What a bounded scan is made of: what an index offers, and of that what is wanted. */
struct way {
  struct base_buffer index;  /* quoted */
  struct net_wanted offered; /* as far as the index knows */
  struct base_buffer range;  /* of the index: " AND ..." */
  struct base_buffer rest;   /* to be asked of each row besides */
};

static void way_done(struct way *way) {
  base_buffer_done(&way->index);
  base_buffer_done(&way->range);
  base_buffer_done(&way->rest);
}

/* The statement, or NULL: the index is not there, or cannot be used. */
static sqlite3_stmt *prepare(struct st_database *database, const struct base_buffer *sql,
                             const struct net_wanted *wanted) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(database->sqlite, base_buffer_text(sql), -1, &statement, NULL) !=
      SQLITE_OK)
    return NULL;
  if (st_bind_wanted(database, statement, wanted)) return statement;
  sqlite3_finalize(statement);
  return NULL;
}

/* How many rows WAY's index offers before CHECKPOINT, up to LIMIT + 1; false: it is not there. */
static bool count_offered(struct st_database *database, const struct way *way,
                          const struct st_table *table, net_chronon checkpoint, int64_t limit,
                          int64_t *ret) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "SELECT count(*) FROM (SELECT 1 FROM ");
  st_sql_name(&sql, table->name);
  base_buffer_printf(&sql, " INDEXED BY %s", base_buffer_text(&way->index));
  st_sql_wanted(&sql, table, &way->offered, checkpoint);
  base_buffer_printf(&sql, "%s LIMIT %lld)", base_buffer_text(&way->range), (long long)limit + 1);
  sqlite3_stmt *statement = prepare(database, &sql, &way->offered);
  bool counted = statement && sqlite3_step(statement) == SQLITE_ROW;
  *ret = counted ? sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  base_buffer_done(&sql);
  return counted;
}

static sqlite3_stmt *open_way(struct st_database *database, const struct way *way,
                              const struct st_table *table, const struct net_layout *layout,
                              const struct net_wanted *wanted, net_chronon checkpoint) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  st_sql_select(&sql, table, layout);
  base_buffer_printf(&sql, " INDEXED BY %s", base_buffer_text(&way->index));
  st_sql_wanted(&sql, table, wanted, checkpoint);
  base_buffer_printf(&sql, "%s%s ORDER BY ", base_buffer_text(&way->range),
                     base_buffer_text(&way->rest));
  st_sql_key(&sql, table);
  sqlite3_stmt *statement = prepare(database, &sql, wanted);
  base_buffer_done(&sql);
  return statement;
}

/* --- by time */

/* Until then or later the rows last that are wanted. */
static net_chronon lasting_until(const struct net_wanted *wanted) {
  return wanted->start_hi_min > wanted->stop_hi_min ? wanted->start_hi_min : wanted->stop_hi_min;
}

/* The time before which no short row is wanted; NET_BEGINNING: there is none. */
static net_chronon first_short(struct st_database *database, struct st_table *table,
                               const struct net_wanted *wanted) {
  net_chronon until = lasting_until(wanted), first = NET_BEGINNING;
  if (until == NET_BEGINNING || st_first_short(database, table, until, &first) != BASE_OK)
    return NET_BEGINNING;
  return first;
}

/* The long rows that start before FIRST. */
static struct way long_way(const struct st_database *database, const struct st_table *table,
                           const struct net_wanted *wanted, net_chronon first) {
  struct way way = {.offered = NET_WANTED_ALL};
  st_sql_long_index(&way.index, table->name);
  base_buffer_puts(&way.range, " AND ");
  st_sql_is_long(&way.range, table->kind, database->timeline);
  sql_time(&way.range, st_sql_last(table->kind), ">=", lasting_until(wanted));
  sql_time(&way.rest, st_sql_start(table->kind), "<", first);
  return way;
}

/* Those that start at FIRST or after. */
static struct way short_way(const struct st_table *table, const struct net_wanted *wanted,
                            net_chronon first) {
  struct way way = {.offered = NET_WANTED_ALL};
  way.offered.start_lo_max = wanted->start_lo_max;
  st_sql_index(&way.index, table->name);
  if (first != NET_BEGINNING) sql_time(&way.range, st_sql_start(table->kind), ">=", first);
  return way;
}

/* Up to LIMIT rows; false: there are more, or no bounds. */
static bool open_by_time(struct st_database *database, struct st_table *table,
                         const struct net_layout *layout, const struct net_wanted *wanted,
                         net_chronon checkpoint, int64_t limit, sqlite3_stmt *statements[2]) {
  net_chronon first = first_short(database, table, wanted);
  if (first == NET_BEGINNING && wanted->start_lo_max == NET_FOREVER) return false;
  struct way ways[2] = {long_way(database, table, wanted, first), short_way(table, wanted, first)};
  int64_t counts[2] = {0, 0};
  bool opened =
      count_offered(database, &ways[1], table, checkpoint, limit, &counts[1]) && counts[1] <= limit;
  if (opened && first != NET_BEGINNING)
    opened = count_offered(database, &ways[0], table, NET_FOREVER, limit, &counts[0]) &&
             counts[0] + counts[1] <= limit;
  for (unsigned i = 0; i < 2 && opened; i++) {
    if (i == 0 && counts[0] == 0) continue;
    statements[i] = open_way(database, &ways[i], table, layout, wanted, checkpoint);
    opened = statements[i] != NULL;
  }
  for (unsigned i = 0; i < 2; i++) way_done(&ways[i]);
  return opened;
}

/* --- by value */

/* Through the index of a user called NAME, whose first domain has the values LISTED. */
static bool open_by_index(struct st_database *database, const struct st_table *table,
                          const struct net_layout *layout, const struct net_wanted *wanted,
                          const char *name, const struct net_wanted_domain *listed,
                          net_chronon checkpoint, int64_t limit, sqlite3_stmt **ret) {
  struct way way = {.offered = NET_WANTED_ALL};
  int64_t count;
  way.offered.domains = listed;
  way.offered.domain_count = 1;
  st_sql_name(&way.index, name);
  if (count_offered(database, &way, table, NET_FOREVER, limit, &count) && count <= limit)
    *ret = open_way(database, &way, table, layout, wanted, checkpoint);
  way_done(&way);
  return *ret != NULL;
}

/* The first index that offers no more than LIMIT. */
static bool open_by_value(struct st_database *database, const struct st_table *table,
                          const struct net_layout *layout, const struct net_wanted *wanted,
                          net_chronon checkpoint, int64_t limit, sqlite3_stmt **ret) {
  static const char query[] =
      "SELECT name, domain FROM tq_index JOIN tq_index_domain USING (name)"
      " WHERE relation = ?1 COLLATE NOCASE AND position = 0 ORDER BY name";
  sqlite3_stmt *indexes = NULL;
  bool opened = false;
  if (wanted->domain_count == 0 || database->version < 2 ||
      sqlite3_prepare_v2(database->sqlite, query, -1, &indexes, NULL) != SQLITE_OK)
    return false;
  sqlite3_bind_text(indexes, 1, table->name, -1, SQLITE_TRANSIENT);
  while (!opened && sqlite3_step(indexes) == SQLITE_ROW) {
    const char *name = (const char *)sqlite3_column_text(indexes, 0);
    const char *domain = (const char *)sqlite3_column_text(indexes, 1);
    const struct net_wanted_domain *said = domain ? net_wanted_find(wanted, domain) : NULL;
    if (name && said)
      opened = open_by_index(database, table, layout, wanted, name, said, checkpoint, limit, ret);
  }
  sqlite3_finalize(indexes);
  return opened;
}

/* --- all */

enum base_status st_open_bounded(struct st_database *database, struct st_table *table,
                                 const struct net_layout *layout, const struct net_wanted *wanted,
                                 net_chronon checkpoint, sqlite3_stmt *statements[2]) {
  const char *rowid = st_rowid_name(table);
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  int64_t rows = 0;
  statements[0] = statements[1] = NULL;
  if (!rowid || net_wanted_is_all(wanted)) return BASE_OK;
  base_buffer_printf(&sql, "SELECT max(%s) FROM ", rowid);
  st_sql_name(&sql, table->name);
  enum base_status status = st_query_integer(database, base_buffer_text(&sql), 0, &rows);
  base_buffer_done(&sql);
  if (status != BASE_OK || rows <= 0) return status;
  int64_t most = database->cache_limit == 0 ? rows : rows / WORTH;
  if (open_by_time(database, table, layout, wanted, checkpoint, most, statements)) return BASE_OK;
  for (unsigned i = 0; i < 2; i++) {
    sqlite3_finalize(statements[i]);
    statements[i] = NULL;
  }
  (void)open_by_value(database, table, layout, wanted, checkpoint, rows / WORTH, &statements[1]);
  return BASE_OK;
}
