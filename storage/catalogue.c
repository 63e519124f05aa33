/* The catalogue: which relations there are, of what form, and up to where they are known.
 *
 * tq_relation, tq_domain, tq_query, tq_query_input and tq_checkpoint hold it; st_relations reads it
 * from there each time. Beside it lives a copy in memory, one st_table a relation, that the writing
 * and reading of rows works from. The copy is thrown away after every rollback, and in a reader
 * whenever another process has committed (PRAGMA data_version), and is read again when next needed. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "storage/rows.h"

/* ---- reading ---- */

struct reading {
  struct st_database *database;
  struct base_arena *arena;
  struct st_relation *relations;
  size_t count, capacity;
};

/* Runs SQL (with the one parameter NAME, if not NULL) and calls ON_ROW for each row; that may set
 * aside a failure by returning it.                                                               */
static enum base_status each_row(struct reading *reading, const char *sql, const char *name,
                                 enum base_status (*on_row)(struct reading *reading, void *context,
                                                            sqlite3_stmt *statement),
                                 void *context) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(reading->database, sql, false, &statement);
  if (status != BASE_OK) return status;
  if (name) sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  int code;
  while (status == BASE_OK && (code = sqlite3_step(statement)) != SQLITE_DONE)
    status = code == SQLITE_ROW ? on_row(reading, context, statement)
                                : st_fail(reading->database, "reading the catalogue");
  sqlite3_finalize(statement);
  return status;
}

/* What somebody has put where a name should be: the relation is called by its row. */
static void read_name(struct reading *reading, sqlite3_stmt *statement,
                      struct st_relation *relation) {
  relation->name = st_column_text(reading->arena, statement, 0);
  if (sqlite3_column_type(statement, 0) == SQLITE_TEXT && st_is_relation_name(relation->name) &&
      strlen(relation->name) == (size_t)sqlite3_column_bytes(statement, 0))
    return;
  relation->unusable = base_arena_printf(reading->arena, "%s is no name of a relation",
                                         st_shown_text(reading->arena, relation->name));
  relation->name = base_arena_printf(reading->arena, "tq_relation, row %lld",
                                     (long long)sqlite3_column_int64(statement, 8));
}

/* tq_relation: name, kind, checkpoint, text, origin, is it a view, until, passed, id, and of tq_keep age,
 * gone, removed */
static enum base_status read_relation(struct reading *reading, void *context,
                                      sqlite3_stmt *statement) {
  (void)context;
  base_grow(&reading->relations, &reading->capacity, reading->count + 1,
            sizeof *reading->relations);
  struct st_relation *relation = &reading->relations[reading->count++];
  *relation = (struct st_relation){0};
  read_name(reading, statement, relation);
  const char *kind = st_column_text(reading->arena, statement, 1);
  if (!st_kind_parse(kind, &relation->kind) && !relation->unusable)
    relation->unusable = base_arena_printf(reading->arena, "%s is no kind of relation",
                                           st_shown_text(reading->arena, kind));
  if (sqlite3_column_type(statement, 2) == SQLITE_NULL && !relation->unusable)
    relation->unusable = "tq_checkpoint has no checkpoint of it";
  relation->checkpoint = sqlite3_column_type(statement, 2) == SQLITE_NULL
                             ? NET_BEGINNING
                             : sqlite3_column_int64(statement, 2);
  if (sqlite3_column_type(statement, 3) != SQLITE_NULL)
    relation->definition = st_column_text(reading->arena, statement, 3);
  relation->origin_fixed = sqlite3_column_type(statement, 4) != SQLITE_NULL;
  relation->origin = sqlite3_column_int64(statement, 4);
  relation->view = sqlite3_column_int(statement, 5);
  relation->expires = sqlite3_column_type(statement, 6) != SQLITE_NULL;
  relation->until = sqlite3_column_int64(statement, 6);
  relation->passed = sqlite3_column_type(statement, 7) == SQLITE_NULL
                         ? NET_BEGINNING
                         : sqlite3_column_int64(statement, 7);
  relation->age = sqlite3_column_int64(statement, 9);
  relation->ages = sqlite3_column_type(statement, 9) != SQLITE_NULL && relation->age >= 0;
  relation->incomplete = sqlite3_column_type(statement, 10) != SQLITE_NULL;
  relation->gone = sqlite3_column_int64(statement, 10);
  relation->removed = sqlite3_column_int64(statement, 11);
  return BASE_OK;
}

struct domains {
  const char *fault; /* the first */
  struct st_domain *items;
  int64_t *key_places; /* of each domain in the key; -1: it is not of it */
  size_t count, capacity, place_capacity;
};

static enum base_status read_domain(struct reading *reading, void *context,
                                    sqlite3_stmt *statement) {
  struct domains *domains = context;
  base_grow(&domains->items, &domains->capacity, domains->count + 1, sizeof *domains->items);
  base_grow(&domains->key_places, &domains->place_capacity, domains->count + 1,
            sizeof *domains->key_places);
  bool of_key = sqlite3_column_type(statement, 3) != SQLITE_NULL;
  domains->key_places[domains->count] = of_key ? sqlite3_column_int64(statement, 3) : -1;
  struct st_domain *domain = &domains->items[domains->count++];
  domain->name = st_column_text(reading->arena, statement, 0);
  const char *type = st_column_text(reading->arena, statement, 1);
  if (!net_type_parse(type, &domain->type) && !domains->fault)
    domains->fault = base_arena_printf(reading->arena, "domain %zu has the type %s, which is none",
                                       domains->count - 1, st_shown_text(reading->arena, type));
  if (sqlite3_column_int64(statement, 2) != (int64_t)domains->count - 1 && !domains->fault)
    domains->fault =
        base_arena_printf(reading->arena, "tq_domain has no domain %zu of it", domains->count - 1);
  return BASE_OK;
}

/* The key has each place from 0 on once, or is none. */
static struct net_key key_of(struct reading *reading, struct domains *domains) {
  size_t named = 0, whole = 0;
  for (size_t i = 0; i < domains->count; i++) named += domains->key_places[i] != -1;
  uint32_t *fields = BASE_NEW_ARRAY(reading->arena, named, uint32_t);
  for (size_t i = 0; i < named; i++) fields[i] = UINT32_MAX;
  for (size_t i = 0; i < domains->count; i++) {
    int64_t place = domains->key_places[i];
    if (place >= 0 && (size_t)place < named) fields[place] = (uint32_t)i;
  }
  while (whole < named && fields[whole] != UINT32_MAX) whole++;
  if (whole < named && !domains->fault)
    domains->fault =
        base_arena_printf(reading->arena, "tq_domain has no domain %zu of its key", whole);
  return (struct net_key){fields, whole};
}

static enum base_status read_domains(struct reading *reading, struct st_relation *relation) {
  struct domains domains = {0};
  enum base_status status = each_row(
      reading,
      reading->database->version < 9
          ? "SELECT name, type, position, (SELECT 0 FROM tq_relation AS r WHERE r.name = ?1"
            " AND r.by_domain = position) FROM tq_domain WHERE relation = ?1 ORDER BY position"
          : "SELECT name, type, position, key_place FROM tq_domain WHERE relation = ?1"
            " ORDER BY position",
      relation->name, read_domain, &domains);
  relation->by = key_of(reading, &domains);
  if (!relation->unusable) relation->unusable = domains.fault;
  struct st_domain *copy = BASE_NEW_ARRAY(reading->arena, domains.count, struct st_domain);
  if (domains.count) memcpy(copy, domains.items, domains.count * sizeof *copy);
  relation->domains = copy;
  relation->domain_count = domains.count;
  free(domains.items);
  free(domains.key_places);
  return status;
}

struct names {
  const char **items;
  size_t count, capacity;
};

static enum base_status read_input(struct reading *reading, void *context,
                                   sqlite3_stmt *statement) {
  struct names *names = context;
  base_grow(&names->items, &names->capacity, names->count + 1, sizeof *names->items);
  names->items[names->count++] = st_column_text(reading->arena, statement, 0);
  return BASE_OK;
}

static enum base_status read_inputs(struct reading *reading, struct st_relation *relation) {
  struct names names = {0};
  enum base_status status =
      each_row(reading, "SELECT relation FROM tq_query_input WHERE query = ?1 ORDER BY position",
               relation->name, read_input, &names);
  const char **copy = BASE_NEW_ARRAY(reading->arena, names.count, const char *);
  if (names.count) memcpy(copy, names.items, names.count * sizeof *copy);
  relation->inputs = copy;
  relation->input_count = names.count;
  free(names.items);
  return status;
}

enum base_status st_relations(struct st_database *database, struct base_arena *arena,
                              struct st_relation **ret, size_t *ret_count) {
  struct reading reading = {.database = database, .arena = arena};
  static const char *const by_version[] = {
      "SELECT r.name, r.kind, c.checkpoint, q.text, q.origin, 0, NULL, NULL, r.id,"
      " NULL, NULL, NULL"
      " FROM tq_relation AS r LEFT JOIN tq_checkpoint AS c ON c.relation = r.name"
      " LEFT JOIN tq_query AS q ON q.name = r.name ORDER BY r.id",
      "SELECT r.name, r.kind, c.checkpoint, q.text, q.origin,"
      " v.name IS NOT NULL, t.until, NULL, r.id, NULL, NULL, NULL"
      " FROM tq_relation AS r LEFT JOIN tq_checkpoint AS c ON c.relation = r.name"
      " LEFT JOIN tq_query AS q ON q.name = r.name LEFT JOIN tq_view AS v ON v.name = r.name"
      " LEFT JOIN tq_retention AS t ON t.relation = r.name ORDER BY r.id",
      "SELECT r.name, r.kind, c.checkpoint, q.text, q.origin,"
      " v.name IS NOT NULL, t.until, c.passed, r.id, NULL, NULL, NULL"
      " FROM tq_relation AS r LEFT JOIN tq_checkpoint AS c ON c.relation = r.name"
      " LEFT JOIN tq_query AS q ON q.name = r.name LEFT JOIN tq_view AS v ON v.name = r.name"
      " LEFT JOIN tq_retention AS t ON t.relation = r.name ORDER BY r.id",
      "SELECT r.name, r.kind, c.checkpoint, q.text, q.origin,"
      " v.name IS NOT NULL, t.until, c.passed, r.id, k.age, k.gone, k.removed"
      " FROM tq_relation AS r LEFT JOIN tq_checkpoint AS c ON c.relation = r.name"
      " LEFT JOIN tq_query AS q ON q.name = r.name LEFT JOIN tq_view AS v ON v.name = r.name"
      " LEFT JOIN tq_retention AS t ON t.relation = r.name"
      " LEFT JOIN tq_keep AS k ON k.relation = r.name ORDER BY r.id",
  };
  const char *sql = by_version[database->version < 2   ? 0
                               : database->version < 3 ? 1
                               : database->version < 7 ? 2
                                                       : 3];
  enum base_status status = BASE_OK;
  if (database->in_transaction && !database->readonly) status = st_checkpoints_flush(database);
  if (status == BASE_OK) status = each_row(&reading, sql, NULL, read_relation, NULL);
  for (size_t i = 0; status == BASE_OK && i < reading.count; i++) {
    status = read_domains(&reading, &reading.relations[i]);
    if (status == BASE_OK) status = read_inputs(&reading, &reading.relations[i]);
  }
  if (status == BASE_OK)
    status = st_catalogue_judge(database, arena, reading.relations, reading.count);
  if (status == BASE_OK) {
    *ret = BASE_NEW_ARRAY(arena, reading.count, struct st_relation);
    if (reading.count) memcpy(*ret, reading.relations, reading.count * sizeof **ret);
    *ret_count = reading.count;
  }
  free(reading.relations);
  return status;
}

/* ---- the copy in memory ---- */

/* Where NAME is, or would be, among the tables. */
static size_t position_of(const struct st_database *database, const char *name, bool *ret_found) {
  size_t low = 0, high = database->table_count;
  *ret_found = false;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = sqlite3_stricmp(database->tables[middle]->name, name);
    if (order == 0) {
      *ret_found = true;
      return middle;
    }
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool st_catalogue_has(const struct st_database *database, const char *name) {
  bool found;
  position_of(database, name, &found);
  return found;
}

struct st_table *st_catalogue_add(struct st_database *database,
                                  const struct st_relation *relation) {
  struct base_arena *arena = base_arena_new();
  struct st_table *table = BASE_NEW(arena, struct st_table);
  /* Of what is unusable only the name is known, for who destroys it. */
  size_t domain_count = relation->unusable ? 0 : relation->domain_count;
  struct st_domain *domains = BASE_NEW_ARRAY(arena, domain_count, struct st_domain);
  for (size_t i = 0; i < domain_count; i++)
    domains[i] = (struct st_domain){base_arena_strdup(arena, relation->domains[i].name),
                                    relation->domains[i].type};
  *table = (struct st_table){
      .arena = arena,
      .name = base_arena_strdup(arena, relation->name),
      .kind = relation->kind,
      .view = relation->view,
      .unusable = relation->unusable ? base_arena_strdup(arena, relation->unusable) : NULL,
      .by = net_key_copy(arena, &relation->by),
      .domains = domains,
      .domain_count = domain_count,
      .field_of = BASE_NEW_ARRAY(arena, domain_count, uint32_t)};
  struct net_field *fields = BASE_NEW_ARRAY(arena, domain_count, struct net_field);
  for (size_t i = 0; i < domain_count; i++)
    fields[i] = (struct net_field){.name = domains[i].name, .type = domains[i].type};
  table->layout = net_layout_new(arena, st_kind_is_event(relation->kind) ? NET_EVENT : NET_PERIOD,
                                 fields, (uint32_t)domain_count);
  table->row = BASE_NEW_ARRAY(arena, table->layout->slot_count, union net_slot);
  bool found;
  size_t at = position_of(database, relation->name, &found);
  BASE_CHECK(!found, "storage-relation-new");
  base_grow(&database->tables, &database->table_capacity, database->table_count + 1,
            sizeof(struct st_table *));
  memmove(database->tables + at + 1, database->tables + at,
          (database->table_count - at) * sizeof(struct st_table *));
  database->tables[at] = table;
  database->table_count++;
  return table;
}

static void finalize_statements(struct st_table *table) {
  sqlite3_finalize(table->put);
  sqlite3_finalize(table->put_all);
  sqlite3_finalize(table->find_open);
  sqlite3_finalize(table->close_open);
  sqlite3_finalize(table->take_open);
  sqlite3_finalize(table->remove);
  table->put = table->put_all = table->remove = NULL;
  table->find_open = table->close_open = table->take_open = NULL;
}

static void table_free(struct st_database *database, struct st_table *table) {
  database->catalogue_changes++;
  st_cache_forget(table);
  st_log_forget(table);
  finalize_statements(table);
  base_arena_free(table->arena);
}

struct st_table *st_catalogue_unusable(const struct st_database *database, const char *name) {
  bool found;
  size_t at = position_of(database, name, &found);
  return found && database->tables[at]->unusable ? database->tables[at] : NULL;
}

void st_catalogue_remove(struct st_database *database, struct st_table *table) {
  bool found;
  size_t at = position_of(database, table->name, &found);
  database->table_count--;
  memmove(database->tables + at, database->tables + at + 1,
          (database->table_count - at) * sizeof(struct st_table *));
  table_free(database, table);
}

void st_catalogue_forget(struct st_database *database) {
  for (size_t i = 0; i < database->table_count; i++) table_free(database, database->tables[i]);
  database->table_count = 0;
}

enum base_status st_catalogue_load(struct st_database *database) {
  struct base_arena *arena = base_arena_new();
  struct st_relation *relations = NULL;
  size_t count = 0;
  enum base_status status = BASE_OK;
  if (database->readonly) {
    int64_t version = database->version; /* a writer may have brought the file up */
    status = st_query_integer(database, "PRAGMA data_version", 0, &database->data_version);
    if (status == BASE_OK) status = st_query_integer(database, "PRAGMA user_version", 0, &version);
    database->version = (int)version;
  }
  if (status == BASE_OK) status = st_catalogue_is_whole(database);
  if (status == BASE_OK) status = st_relations(database, arena, &relations, &count);
  if (status == BASE_OK) {
    st_catalogue_forget(database);
    for (size_t i = 0; i < count; i++)
      if (st_is_relation_name(relations[i].name) && !st_catalogue_has(database, relations[i].name))
        st_catalogue_add(database, &relations[i]);
    database->catalogue_stale = false;
  }
  base_arena_free(arena);
  return status;
}

enum base_status st_catalogue_refresh(struct st_database *database) {
  if (database->readonly && !database->catalogue_stale) {
    int64_t version;
    enum base_status status = st_query_integer(database, "PRAGMA data_version", 0, &version);
    if (status != BASE_OK) return status;
    database->catalogue_stale = version != database->data_version;
  }
  return database->catalogue_stale ? st_catalogue_load(database) : BASE_OK;
}

enum base_status st_catalogue_look(struct st_database *database, const char *name,
                                   struct st_table **ret) {
  bool found;
  if (database->readonly || database->catalogue_stale) {
    enum base_status status = st_catalogue_refresh(database);
    if (status != BASE_OK) return status;
  }
  size_t at = position_of(database, name, &found);
  if (found && !database->tables[at]->unusable) {
    *ret = database->tables[at];
    return BASE_OK;
  }
  if (found)
    base_report(database->diags, MSG_RELATION_UNUSABLE, NULL, NULL, "%s is unusable: %s", name,
                database->tables[at]->unusable);
  else
    base_report(database->diags, MSG_UNKNOWN_RELATION, NULL, NULL, "there is no relation %s", name);
  return BASE_USER;
}
