/* index and modify: how the table of a relation is kept. Results never depend on it: scans walk the
 * index that makes the relation a set. What is made here is for those who come with sqlite3.
 *
 *      heap           no index but the set's own
 *      time           the same: the set's index is in the order of time; what a relation has at first
 *      hash on d, ..  an index on these domains (SQLite has trees only)                            */
#include <strings.h>

#include "tquel/session/durable/durable.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"

static bool refuse_view(struct tql_session *session, const struct session_relation *relation,
                        const struct tql_name *name) {
  if (!relation->view) return false;
  base_report_hint(session->diags, MSG_VIEW_TABLE, session->source, &name->range,
                   "an index on a relation that it reads may serve",
                   "%s is a view and has no table", relation->ng.name);
  return true;
}

/* --- tquel explain */

static void add_explained(struct tql_session *session, struct session_relation *relation,
                          const char *name) {
  struct session_index *index = BASE_NEW(session->arena, struct session_index);
  *index =
      (struct session_index){base_arena_strdup(session->arena, name), relation->explained_indexes};
  relation->explained_indexes = index;
}

/* false: there is no such index. */
static bool remove_explained(struct tql_session *session, const char *name) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_index **at = &session->relations[i]->explained_indexes;
    while (*at != NULL && strcasecmp((*at)->name, name) != 0) at = &(*at)->next;
    if (*at == NULL) continue;
    *at = (*at)->next;
    return true;
  }
  return false;
}

enum base_status session_load_explained_indexes(struct tql_session *session) {
  struct st_index *indexes = NULL;
  size_t count = 0;
  enum base_status status = st_indexes(session->database, session->arena, &indexes, &count);
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    struct session_relation *relation = session_find(session, indexes[i].relation);
    if (relation != NULL && !indexes[i].structure)
      add_explained(session, relation, indexes[i].name);
  }
  return status;
}

/* --- index, modify */

enum base_status session_index(struct tql_session *session, const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->variable);
  if (ng == NULL || !tql_analyse_new_name(&analysis, &statement->name)) return BASE_USER;
  struct session_relation *relation = session_of(session, ng);
  if (refuse_view(session, relation, &statement->variable)) return BASE_USER;
  const char **domains =
      tql_analyse_domains(&analysis, ng, statement->names, statement->name_count);
  if (domains == NULL) return BASE_USER;
  if (session->options.explain_only) {
    (void)remove_explained(session, statement->name.text); /* the script made the database, too */
    add_explained(session, relation, statement->name.text);
    return BASE_OK;
  }
  struct st_index index = {.name = statement->name.text,
                           .relation = ng->name,
                           .domains = domains,
                           .domain_count = statement->name_count};
  enum base_status status = session_begin(session);
  if (status != BASE_OK) return status;
  return session_end(session, st_index_create(session->database, &index));
}

/* destroy X, X an index; *RET_FOUND false: it is none. */
enum base_status session_destroy_index(struct tql_session *session, const char *name,
                                       bool *ret_found) {
  if (session->options.explain_only) {
    *ret_found = remove_explained(session, name);
    return BASE_OK;
  }
  struct st_index *indexes = NULL;
  size_t count = 0;
  enum base_status status =
      st_indexes(session->database, session->statement_arena, &indexes, &count);
  *ret_found = false;
  for (size_t i = 0; i < count && status == BASE_OK && !*ret_found; i++) {
    if (indexes[i].structure || strcasecmp(indexes[i].name, name) != 0) continue;
    *ret_found = true;
    status = st_index_destroy(session->database, indexes[i].name);
  }
  return status;
}

static enum base_status bad_structure(struct tql_session *session,
                                      const struct tql_statement *statement, const char *what) {
  base_report_hint(session->diags, MSG_STRUCTURE, session->source, &statement->words_range,
                   "modify R to heap, to time, or to hash on DOMAIN, ...", "%s", what);
  return BASE_USER;
}

enum base_status session_modify(struct tql_session *session,
                                const struct tql_statement *statement) {
  static const char *const names[] = {[ST_HEAP] = "heap", [ST_TIME] = "time", [ST_HASH] = "hash"};
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->name);
  if (ng == NULL || refuse_view(session, session_of(session, ng), &statement->name))
    return BASE_USER;
  if (strcasecmp(statement->words, "keep") == 0)
    return session_modify_age(session, &analysis, session_of(session, ng), statement);
  int structure = -1;
  for (int i = 0; i < 3; i++)
    if (strcasecmp(statement->words, names[i]) == 0) structure = i;
  if (structure < 0)
    return bad_structure(
        session, statement,
        base_arena_printf(session->statement_arena,
                          "there is no structure %s: there are heap, time and hash; or keep",
                          statement->words));
  if (structure == ST_HASH && statement->name_count == 0)
    return bad_structure(session, statement, "hash on which domains?");
  if (structure != ST_HASH && statement->name_count > 0)
    return bad_structure(
        session, statement,
        base_arena_printf(session->statement_arena, "%s is not on domains", names[structure]));
  const char **domains =
      tql_analyse_domains(&analysis, ng, statement->names, statement->name_count);
  if (domains == NULL) return BASE_USER;
  if (session->options.explain_only) return BASE_OK;
  enum base_status status = session_begin(session);
  if (status != BASE_OK) return status;
  return session_end(session, st_modify(session->database, ng->name, (enum st_structure)structure,
                                        domains, statement->name_count));
}

static void print_domains(struct base_buffer *out, const struct st_index *index) {
  for (size_t i = 0; i < index->domain_count; i++)
    base_buffer_printf(out, "%s%s", i > 0 ? ", " : "", index->domains[i]);
}

void session_describe_indexes(struct tql_session *session, const struct session_relation *relation,
                              struct base_buffer *out) {
  struct base_arena *arena = base_arena_new();
  struct st_index *indexes = NULL;
  size_t count = 0;
  enum st_structure structure = ST_TIME;
  if (st_structure(session->database, relation->ng.name, &structure) == BASE_OK &&
      structure == ST_HEAP)
    base_buffer_puts(out, "structure:  heap\n");
  if (st_indexes(session->database, arena, &indexes, &count) != BASE_OK) count = 0;
  for (size_t i = 0; i < count; i++) {
    if (strcasecmp(indexes[i].relation, relation->ng.name) != 0) continue;
    if (indexes[i].structure)
      base_buffer_puts(out, "structure:  hash on ");
    else
      base_buffer_printf(out, "index:      %s on ", indexes[i].name);
    print_domains(out, &indexes[i]);
    base_buffer_putc(out, '\n');
  }
  base_arena_free(arena);
}
