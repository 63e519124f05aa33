/* What each kind of statement does; the longer ones have files of their own. */
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/control/control.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

static enum base_status execute(struct tql_session *session, const struct tql_statement *statement);

/* A variable over a file: over the relation that is made of it. */
static enum base_status execute_range_file(struct tql_session *session,
                                           const struct tql_statement *statement) {
  const char *name;
  if (session->options.path != NULL) {
    base_report_hint(session->diags, MSG_FILE_IN_DATABASE, session->source, &statement->path_range,
                     "create R from \"FILE\", then range of r is R",
                     "a file stands for a relation only in a session without a database");
    return BASE_USER;
  }
  enum base_status status = session_make_of_file(session, statement, execute, &name);
  if (status == BASE_OK)
    session_set_variable(session, statement->variable.text, &session_find(session, name)->ng, -1);
  return status;
}

static enum base_status execute_range(struct tql_session *session,
                                      const struct tql_statement *statement) {
  if (statement->path != NULL) return execute_range_file(session, statement);
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *relation = session_range_over(session, &analysis, statement);
  if (relation == NULL) return BASE_USER;
  session_set_variable(session, statement->variable.text, relation, statement->credibility);
  return BASE_OK;
}

static enum st_kind storage_kind(enum ng_relation_kind kind) {
  switch (kind) {
    case NG_REL_EVENT:
      return ST_EVENT;
    case NG_REL_PERIOD:
      return ST_PERIOD;
    case NG_REL_TRACED:
      return ST_TRACED;
    case NG_REL_SAMPLED:
      return ST_SAMPLED;
    case NG_REL_SNAPSHOT:
    case NG_REL_DERIVED:
    default:
      return ST_SNAPSHOT;
  }
}

static bool same_domains(const struct net_layout *a, const struct net_layout *b) {
  if (a->tuple_class != b->tuple_class || a->field_count != b->field_count) return false;
  for (uint32_t f = 0; f < a->field_count; f++)
    if (strcasecmp(a->fields[f].name, b->fields[f].name) != 0 ||
        a->fields[f].type.base != b->fields[f].type.base ||
        a->fields[f].type.width != b->fields[f].type.width)
      return false;
  return true;
}

/* create of a relation that is there, as it is: announced, all its records are asked for from now on (create
 * persistent); explained, it is what the script that made the database says. *RET_DONE false: it is not there. */
static enum base_status keep_as_it_is(struct tql_session *session,
                                      const struct tql_statement *statement,
                                      const struct ng_relation *made, bool *ret_done) {
  struct session_relation *there = session_find(session, made->name);
  if (there == NULL) return BASE_OK;
  *ret_done = true;
  if (there->ng.kind != made->kind || !same_domains(there->ng.layout, made->layout) ||
      !net_key_same(there->ng.layout, &there->ng.by, made->layout, &made->by)) {
    base_report_hint(session->diags, MSG_NAME_EXISTS, session->source, &statement->name.range,
                     "help and its name shows its domains",
                     there->sensors.announced ? "%s is announced by sensors, with other domains"
                                              : "%s exists already, with other domains",
                     there->ng.name);
    return BASE_USER;
  }
  there->scripted = session->options.explain_only;
  if (there->scripted) return BASE_OK;
  enum base_status status = session_begin(session);
  if (status != BASE_OK) return status;
  return session_end(session, session_save_announced(session, there, there->sensors.digest,
                                                     there->sensors.holder, true));
}

/* May the statement name a relation that is there: one that sensors have announced, or, explained, any? */
static bool may_be_there(struct tql_session *session, const struct tql_statement *statement) {
  const struct session_relation *there = session_find(session, statement->name.text);
  if (session->options.explain_only) return there != NULL && !there->scripted;
  return statement->persistent && there != NULL && there->sensors.announced;
}

static enum base_status execute_create(struct tql_session *session,
                                       const struct tql_statement *statement) {
  const char *name;
  if (statement->path != NULL) return session_make_of_file(session, statement, execute, &name);
  struct session_scope scope;
  session_scope_init(&scope, session,
                     may_be_there(session, statement) ? statement->name.text : NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *made = NULL;
  enum base_status status = tql_analyse_create(&analysis, statement, &made);
  if (status != BASE_OK) return status;
  bool done = false;
  status = keep_as_it_is(session, statement, made, &done);
  if (done || status != BASE_OK) return status;
  const struct net_layout *layout = made->layout;
  struct st_domain *domains =
      BASE_NEW_ARRAY(session->statement_arena, layout->field_count + 1, struct st_domain);
  for (uint32_t i = 0; i < layout->field_count; i++)
    domains[i] = (struct st_domain){layout->fields[i].name, layout->fields[i].type};
  struct st_relation relation = {.name = made->name,
                                 .kind = storage_kind(made->kind),
                                 .domains = domains,
                                 .domain_count = layout->field_count,
                                 .by = made->by,
                                 .checkpoint = session->seat->manual ? NET_BEGINNING : NET_FOREVER};
  if (session->options.explain_only) {
    session_add_relation(session, &relation)->scripted = true; /* the database is only read */
    return BASE_OK;
  }
  status = session_begin(session);
  if (status != BASE_OK) return status;
  status = st_create(session->database, &relation);
  struct session_relation *created =
      status == BASE_OK ? session_add_relation(session, &relation) : NULL;
  if (created != NULL && statement->persistent)
    status = session_save_announced(session, created, 0, -1, true);
  return session_end(session, status);
}

static enum base_status destroy_unusable(struct tql_session *session,
                                         const struct session_unusable *unusable) {
  if (session->options.explain_only) return BASE_OK;
  const char *name = base_arena_strdup(session->statement_arena, unusable->name);
  session_drop_live(session);
  enum base_status status = st_destroy(session->database, name);
  if (status == BASE_OK) session_remove_unusable(session, name);
  return status;
}

/* RELATION, which nothing is derived from, goes from the catalogue in memory. What the script explained has made
 * may have been there, with relations derived from it that the script has yet to make: they go as well. */
static void forget_explained(struct tql_session *session, struct session_relation *relation) {
  for (size_t i = session->relation_count; i-- > 0;)
    if (session_depends(session, session->relations[i], relation))
      session_remove_relation(session, session->relations[i]);
  session_remove_relation(session, relation);
}

/* May the live network know of it? Building that anew reads all that is stored. */
static bool is_in_live(struct tql_session *session, const struct session_relation *relation) {
  return relation->live || relation->sensors.announced || relation->network.store_node != NULL ||
         session_is_displayed(session, relation) ||
         (session_is_derived(relation) && !relation->view && session_may_be_fed(session, relation));
}

/* *RET_RELATION is NULL for an index. Others may have to go first: then *RET_USERS names them. */
static enum base_status destroy_one(struct tql_session *session, const struct tql_name *name,
                                    struct session_relation **ret_relation,
                                    const char **ret_users) {
  bool is_index = false;
  enum base_status status = BASE_OK;
  *ret_relation = NULL;
  *ret_users = NULL;
  const struct session_unusable *unusable = session_find_unusable(session, name->text);
  if (unusable != NULL) return destroy_unusable(session, unusable);
  if (session_find(session, name->text) == NULL)
    status = session_destroy_index(session, name->text, &is_index);
  if (is_index || status != BASE_OK) return status;
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = tql_analyse_relation(&analysis, name);
  if (ng == NULL) return BASE_USER;
  *ret_relation = session_of(session, ng);
  if ((*ret_relation)->sensors.announced && session_is_taken(session, *ret_relation)) {
    base_report_hint(session->diags, MSG_STILL_ANNOUNCED, session->source, &name->range,
                     "delete its tuples, or end the programs or their collectors first",
                     "%s is announced by programs that are there", ng->name);
    return BASE_USER;
  }
  *ret_users = session_dependants(session, session->statement_arena, *ret_relation);
  if (*ret_users != NULL) return BASE_OK;
  if (session->options.explain_only) {
    forget_explained(session, *ret_relation);
    return BASE_OK;
  }
  if (is_in_live(session, *ret_relation)) session_drop_live(session);
  status = st_destroy(session->database, ng->name);
  if (status == BASE_OK) session_remove_relation(session, *ret_relation);
  return status;
}

/* In any order: what others of the statement are derived from goes after them. */
static enum base_status destroy_all(struct tql_session *session,
                                    const struct tql_statement *statement,
                                    struct session_relation **gone, size_t *gone_count) {
  size_t count = statement->name_count, left = count, left_before = count + 1;
  bool *done = BASE_NEW_ARRAY(session->statement_arena, count, bool);
  while (left > 0) {
    bool stuck = left == left_before;
    left_before = left;
    for (size_t i = 0; i < count; i++) {
      if (done[i]) continue;
      const struct tql_name *name = &statement->names[i];
      struct session_relation *relation;
      const char *users;
      enum base_status status = destroy_one(session, name, &relation, &users);
      if (status != BASE_OK) return status;
      if (users != NULL && stuck) {
        base_report_hint(session->diags, MSG_HAS_DEPENDANTS, session->source, &name->range,
                         "destroy them first", "%s is used by %s", relation->ng.name, users);
        return BASE_USER;
      }
      if (users != NULL) continue;
      if (relation != NULL) gone[(*gone_count)++] = relation;
      done[i] = true;
      left--;
    }
  }
  return BASE_OK;
}

static enum base_status execute_destroy(struct tql_session *session,
                                        const struct tql_statement *statement) {
  if (statement->words != NULL) return session_destroy_rules(session, statement);
  struct session_relation **gone =
      BASE_NEW_ARRAY(session->statement_arena, statement->name_count, struct session_relation *);
  size_t gone_count = 0;
  if (session->options.explain_only) return destroy_all(session, statement, gone, &gone_count);
  enum base_status status = session_begin(session);
  if (status != BASE_OK) return status;
  status = session_end(session, destroy_all(session, statement, gone, &gone_count));
  /* Only now it is certain: had it failed, the relations and their feeds would be as before. */
  for (size_t i = 0; status == BASE_OK && i < gone_count; i++)
    session_remove_feeds(session, gone[i]);
  for (size_t i = 0; status == BASE_OK && i < gone_count; i++)
    session_end_displays(session, gone[i]->ng.name);
  return status;
}

static enum base_status execute_display(struct tql_session *session,
                                        const struct tql_statement *statement) {
  for (size_t i = 0; i < statement->name_count; i++) {
    struct session_scope scope;
    session_scope_init(&scope, session, NULL);
    struct tql_analysis analysis = session_analysis(session, &scope);
    const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->names[i]);
    if (ng == NULL) return BASE_USER;
    struct session_relation *relation = session_of(session, ng);
    if (session->options.explain_only) {
      if (statement->kind == TQL_S_DISPLAY) session_gather_display(session, relation);
      continue;
    }
    /* Before the first feed as well: a server's sources may come at any time, and copy ... following later in the
     * script. */
    bool display = statement->kind == TQL_S_DISPLAY;
    bool live = display && session_is_fed(session, relation);
    int64_t count = 0;
    enum base_status status = BASE_OK;
    /* What is fed is open from now on, also where nothing has come yet. */
    if (live) status = session_wake_feeds(session);
    if (live && status == BASE_OK && !relation->view)
      status = st_count(session->database, ng->name, &count);
    /* A live display starts with what is there, if anything is. */
    if (status == BASE_OK && (!live || relation->view || count > 0))
      status = session_print(session, relation);
    if (status == BASE_OK && display && session_add_display(session, relation) &&
        !session_has_displays_sink(session, relation))
      session_drop_live(session);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}

static enum base_status execute_print(struct tql_session *session,
                                      const struct tql_statement *statement) {
  if (statement->name_count > 0) return execute_display(session, statement);
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->name);
  if (ng == NULL) return BASE_USER;
  if (session->options.explain_only) return BASE_OK;
  return session_print(session, session_of(session, ng));
}

static enum base_status execute(struct tql_session *session,
                                const struct tql_statement *statement) {
  enum base_status status = session_show_summaries(session);
  if (status != BASE_OK) return status;
  switch (statement->kind) {
    case TQL_S_RANGE:
      return execute_range(session, statement);
    case TQL_S_CREATE:
      return execute_create(session, statement);
    case TQL_S_RETRIEVE:
    case TQL_S_VIEW:
      return session->options.explain_only ? session_gather_retrieve(session, statement, true)
                                           : session_retrieve(session, statement);
    case TQL_S_APPEND:
      return session_append(session, statement);
    case TQL_S_COPY:
      return session_copy(session, statement);
    case TQL_S_DISPLAY:
      return execute_display(session, statement);
    case TQL_S_PRINT:
      return execute_print(session, statement);
    case TQL_S_DESTROY:
      return execute_destroy(session, statement);
    case TQL_S_HELP:
      return session_help(session, statement);
    case TQL_S_EXPLAIN:
      return session_explain(session, statement);
    case TQL_S_CHECKPOINT:
      return session_checkpoint(session, statement);
    case TQL_S_SET:
      return strcmp(statement->words, "rule") == 0 ? session_set_rule(session, statement)
                                                   : session_set(session, statement);
    case TQL_S_DELETE:
    case TQL_S_REPLACE:
      return session_update(session, statement);
    case TQL_S_INDEX:
      return session_index(session, statement);
    case TQL_S_MODIFY:
      return session_modify(session, statement);
    case TQL_S_SAVE:
      return session_save(session, statement);
    case TQL_S_PERMIT:
      return session_define_permit(session, statement);
    case TQL_S_INTEGRITY:
    default:
      return session_define_integrity(session, statement);
  }
}

/* May it change tuples? *RET_LOSSES: or say that something was lost, or what to make of it. */
static bool may_change(const struct tql_statement *statement, bool *ret_losses) {
  *ret_losses = statement->kind != TQL_S_APPEND || session_is_system_name(statement->name.text);
  switch (statement->kind) {
    case TQL_S_APPEND:
    case TQL_S_COPY:
    case TQL_S_DELETE:
    case TQL_S_REPLACE:
    case TQL_S_MODIFY:
    case TQL_S_SET:
      return true;
    default:
      return false;
  }
}

enum base_status session_execute(struct tql_session *session,
                                 const struct tql_statement *statement) {
  bool losses;
  enum base_status status = execute(session, statement);
  if (may_change(statement, &losses)) session_doubt_displays(session, losses);
  return status;
}
