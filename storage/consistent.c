/* Does the catalogue make sense? Asked each time it is read from the file.
 *
 * The tables' own constraints keep most nonsense out; what is left is what somebody's SQL, or a disk,
 * can have done: a derived relation without a definition, a traced one without its entity, two
 * relations or domains of one name, a table that has gone or has other columns, a definition that reads
 * what was defined after it (so that no order of computing would be right, and following it would not end).
 * Everything above counts on what is checked here; data in the tables is checked where it is read.
 *
 * A relation of which something is wrong is *unusable*, and it is said why: it stays in the catalogue, so
 * that it can be looked at and destroyed, but nobody reads or writes it. So is what is computed from it. All
 * others are as good as ever. Only a catalogue whose own tables are not there cannot be read at all.
 *
 * The work is in proportion to the catalogue; no row of a relation is looked at.                      */
#include <stdlib.h>
#include <string.h>

#include "storage/ground.h"

#define TEXT_IN_REASON_MAX 40 /* bytes of somebody's text that are quoted */

char *st_shown_text(struct base_arena *arena, const char *text) {
  return st_shown_part(arena, text, TEXT_IN_REASON_MAX);
}

char *st_shown_part(struct base_arena *arena, const char *text, size_t most) {
  struct base_buffer shown = BASE_BUFFER_EMPTY;
  base_buffer_putc(&shown, '"');
  for (size_t i = 0; text[i] && i < most; i++)
    base_buffer_putc(&shown, text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
  base_buffer_puts(&shown, strlen(text) > most ? "...\"" : "\"");
  char *copy = base_arena_strdup(arena, base_buffer_text(&shown));
  base_buffer_done(&shown);
  return copy;
}

bool st_is_relation_name(const char *text) {
  return *text != '\0' && sqlite3_strnicmp(text, "tq_", 3) != 0 &&
         sqlite3_strnicmp(text, "sqlite_", 7) != 0;
}

/* ---- the catalogue's own tables ---- */

/* What is read of them, by the version that they came with, and the one that they went with; 0: they are there. */
static const struct {
  int version, gone;
  const char *sql;
} needed[] = {
    {1, 0, "SELECT name, value FROM tq_setting"},
    {1, 0, "SELECT id, name, kind FROM tq_relation"},
    {1, 9, "SELECT by_domain FROM tq_relation"},
    {1, 0, "SELECT relation, position, name, type FROM tq_domain"},
    {1, 0, "SELECT name, text, origin FROM tq_query"},
    {1, 0, "SELECT query, position, relation FROM tq_query_input"},
    {1, 0, "SELECT relation, checkpoint FROM tq_checkpoint"},
    {1, 0, "SELECT relation, source, position, sequence FROM tq_feed"},
    {1, 0, "SELECT relation, position, marks, row FROM tq_pending"},
    {2, 0, "SELECT name FROM tq_view"},
    {2, 0, "SELECT name, relation, structure FROM tq_index"},
    {2, 0, "SELECT name, position, domain FROM tq_index_domain"},
    {2, 0, "SELECT relation, structure FROM tq_structure"},
    {2, 0, "SELECT relation, kind, number, text FROM tq_rule"},
    {2, 0, "SELECT relation, until FROM tq_retention"},
    {3, 0, "SELECT passed FROM tq_checkpoint"},
    {4, 0,
     "SELECT relation, node, kind, what, inputs, fires, rows_in, rows_out, time_ns, state_rows,"
     " state_rows_max, state_bytes, state_bytes_max FROM tq_node_stats"},
    {5, 0, "SELECT identity, host, number, gone, seen FROM tq_source"},
    {5, 0, "SELECT pipe, process, position, at, seen FROM tq_pipe"},
    {5, 0, "SELECT source, relation, cause, total, seen FROM tq_loss"},
    {5, 0, "SELECT digest, text FROM tq_description"},
    {5, 0, "SELECT relation, digest, holder, persistent FROM tq_announced"},
    {6, 0, "SELECT number, relation, first, last, rows, whole, data FROM tq_log"},
    {7, 0, "SELECT relation, age, gone, removed FROM tq_keep"},
    {8, 0, "SELECT taskforce, event FROM tq_announced"},
    {9, 0, "SELECT key_place FROM tq_domain"},
    {9, 0, "SELECT relation, position, marks, row FROM tq_alike"},
    {9, 0, "SELECT relation, source, count, since, until FROM tq_filtered"},
};

/* Could SQL be run? *RET_WHY: why not, in ARENA. A status that is not BASE_OK: nobody knows. */
static enum base_status can_run(struct st_database *database, struct base_arena *arena,
                                const char *sql, const char **ret_why) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(database->sqlite, sql, -1, &statement, NULL);
  sqlite3_finalize(statement);
  *ret_why = NULL;
  if (code == SQLITE_OK) return BASE_OK;
  if ((code & 0xff) != SQLITE_ERROR && (code & 0xff) != SQLITE_AUTH)
    return st_fail(database, "reading the catalogue");
  *ret_why = base_arena_strdup(arena, sqlite3_errmsg(database->sqlite));
  return BASE_OK;
}

enum base_status st_catalogue_is_whole(struct st_database *database) {
  struct base_arena *arena = base_arena_new();
  enum base_status status = BASE_OK;
  bool whole = true;
  for (size_t i = 0; status == BASE_OK && i < sizeof needed / sizeof *needed; i++) {
    const char *why = NULL;
    if (needed[i].version > database->version) continue;
    if (needed[i].gone && needed[i].gone <= database->version) continue;
    status = can_run(database, arena, needed[i].sql, &why);
    if (why == NULL) continue;
    whole = false;
    base_report_hint(database->diags, MSG_DATABASE_DAMAGED, NULL, NULL,
                     "restore a copy, or mend it with sqlite3 and ask tquel check-database",
                     "%s is damaged: its catalogue is not as tquel makes it: %s", database->label,
                     why);
  }
  base_arena_free(arena);
  return status == BASE_OK && !whole ? BASE_SYSTEM : status;
}

/* ---- relations ---- */

struct judging {
  struct st_database *database;
  struct base_arena *arena;
  struct st_relation *relations; /* in the order in which they were made */
  size_t *by_name, count;
};

static bool is_derived(const struct st_relation *relation) {
  return relation->kind == ST_DERIVED_EVENT || relation->kind == ST_DERIVED_PERIOD;
}

static int compare_names(const void *a, const void *b, void *context) {
  const struct st_relation *relations = context;
  size_t left = *(const size_t *)a, right = *(const size_t *)b;
  int order = sqlite3_stricmp(relations[left].name, relations[right].name);
  return order ? order : (left > right) - (left < right);
}

/* The place among BY_NAME of the first relation called NAME; COUNT: there is none. */
static size_t place_of(const struct judging *judging, const char *name) {
  size_t low = 0, high = judging->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sqlite3_stricmp(judging->relations[judging->by_name[middle]].name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < judging->count &&
               sqlite3_stricmp(judging->relations[judging->by_name[low]].name, name) == 0;
  return found ? low : judging->count;
}

static bool is_twice(const struct judging *judging, const struct st_relation *relation) {
  size_t place = place_of(judging, relation->name);
  return place + 1 < judging->count &&
         sqlite3_stricmp(judging->relations[judging->by_name[place + 1]].name, relation->name) == 0;
}

static const char *key_fault(const struct st_relation *relation) {
  bool by_entity = relation->kind == ST_TRACED || relation->kind == ST_SAMPLED;
  if (!by_entity && relation->by.count > 0)
    return "it is by a domain, and neither traced nor sampled";
  if (by_entity && relation->by.count == 0) return "it does not say by which of its domains it is";
  return NULL;
}

static const char *domains_fault(const struct judging *judging,
                                 const struct st_relation *relation) {
  for (size_t i = 0; i < relation->domain_count; i++) {
    const struct st_domain *domain = &relation->domains[i];
    if (*domain->name == '\0')
      return base_arena_printf(judging->arena, "domain %zu has no name", i);
    for (size_t j = 0; j < i; j++)
      if (sqlite3_stricmp(relation->domains[j].name, domain->name) == 0)
        return base_arena_printf(judging->arena, "two of its domains are called %s", domain->name);
  }
  return key_fault(relation);
}

static const char *inputs_fault(const struct judging *judging, size_t which) {
  const struct st_relation *relation = &judging->relations[which];
  for (size_t i = 0; i < relation->input_count; i++) {
    const char *name = relation->inputs[i];
    size_t place = place_of(judging, name);
    if (place == judging->count)
      return base_arena_printf(judging->arena, "it is computed from %s, which is not there",
                               st_shown_text(judging->arena, name));
    size_t input = judging->by_name[place];
    if (input >= which)
      return base_arena_printf(judging->arena, "it is computed from %s, which was made after it",
                               judging->relations[input].name);
    if (judging->relations[input].unusable)
      return base_arena_printf(judging->arena, "it is computed from %s, which is unusable",
                               judging->relations[input].name);
  }
  return NULL;
}

static const char *definition_fault(const struct judging *judging, size_t which) {
  const struct st_relation *relation = &judging->relations[which];
  if (is_derived(relation))
    return relation->definition ? inputs_fault(judging, which) : "it is derived, by no definition";
  if (relation->view) return "tq_view has it, and it is not derived";
  if (relation->definition) return "tq_query defines it, and it is not derived";
  return relation->input_count ? "tq_query_input has inputs of it, and it is not derived" : NULL;
}

/* Has RELATION its table, with its columns and the index that makes it a set? */
static enum base_status table_fault(const struct judging *judging,
                                    const struct st_relation *relation, const char **ret) {
  const char *why = NULL;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "SELECT ");
  st_sql_times(&sql, relation->kind);
  base_buffer_puts(&sql, ",definite");
  st_sql_domains(&sql, relation->domains, relation->domain_count);
  base_buffer_puts(&sql, " FROM ");
  st_sql_name(&sql, relation->name);
  base_buffer_puts(&sql, " INDEXED BY ");
  st_sql_index(&sql, relation->name);
  enum base_status status =
      can_run(judging->database, judging->arena, base_buffer_text(&sql), &why);
  if (why) *ret = base_arena_printf(judging->arena, "its table is not as tquel makes it: %s", why);
  base_buffer_done(&sql);
  if (relation->kind != ST_SAMPLED || *ret || status != BASE_OK) return status;
  status = can_run(judging->database, judging->arena,
                   "SELECT position, relation, at, marks, row FROM tq_sample", &why);
  if (why)
    *ret = base_arena_printf(judging->arena,
                             "tq_sample, where its records are, is not as tquel"
                             " makes it: %s",
                             why);
  return status;
}

static enum base_status judge(struct judging *judging, size_t which) {
  struct st_relation *relation = &judging->relations[which];
  enum base_status status = BASE_OK;
  if (!relation->unusable && is_twice(judging, relation))
    relation->unusable = "tq_relation, or a table that goes with it, has it twice";
  if (!relation->unusable) relation->unusable = domains_fault(judging, relation);
  if (!relation->unusable) relation->unusable = definition_fault(judging, which);
  if (!relation->unusable && !relation->view)
    status = table_fault(judging, relation, &relation->unusable);
  return status;
}

enum base_status st_catalogue_judge(struct st_database *database, struct base_arena *arena,
                                    struct st_relation *relations, size_t count) {
  struct judging judging = {database, arena, relations, NULL, count};
  enum base_status status = BASE_OK;
  judging.by_name = base_xcalloc(count + 1, sizeof *judging.by_name);
  for (size_t i = 0; i < count; i++) judging.by_name[i] = i;
  qsort_r(judging.by_name, count, sizeof *judging.by_name, compare_names, relations);
  for (size_t i = 0; status == BASE_OK && i < count; i++) status = judge(&judging, i);
  free(judging.by_name);
  return status;
}
