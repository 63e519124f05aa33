/* tquel check-database: is all that is stored as it should be?
 *
 *      storage's check ─────────── the file, the schema, rows (storage/check.c)
 *      what is unusable ────────── and why
 *      definitions ─────────────── do they give the domains and the inputs that are stored?
 *      rules and permits ───────── can they be read?
 *      derived relations ───────── computed again from what is stored, into memory, and compared; not where
 *                                  samples go on that they are computed from, or periods of which a summary reads
 *                                  the stops, nor where old tuples are gone
 *
 * Everything is read in one transaction, so that it is one state, also beside a server that writes. A relation
 * that is computed from one with a finding is compared all the same. */
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"
#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

struct checking {
  struct tql_session *session;
  struct base_arena *arena;
  void (*found)(void *context, const char *subject, const char *text);
  void *context;
};

static void found(const struct checking *checking, const char *subject, const char *text) {
  checking->found(checking->context, subject, text);
}

/* What was reported since BEFORE is a finding about SUBJECT. */
static void turn_into_findings(const struct checking *checking, const char *subject,
                               size_t before) {
  struct base_diag_sink *diags = checking->session->diags;
  for (size_t i = before; i < diags->count; i++)
    if (diags->items[i].severity == BASE_ERROR) found(checking, subject, diags->items[i].message);
  base_diag_drop(diags, before);
}

/* --- definitions and rules */

static void print_field(struct base_buffer *out, const struct net_field *field) {
  base_buffer_printf(out, "%s = ", field->name);
  net_type_print(out, field->type);
}

static void check_domains(const struct checking *checking,
                          const struct session_relation *relation) {
  const struct net_layout *is = relation->ng.layout, *gives = relation->derived.query->layout;
  for (uint32_t i = 0; i < is->field_count; i++) {
    struct base_buffer text = BASE_BUFFER_EMPTY;
    if (is->fields[i].type.width == gives->fields[i].type.width) continue;
    base_buffer_puts(&text, "its definition gives the domain ");
    print_field(&text, &gives->fields[i]);
    base_buffer_puts(&text, ", and the catalogue says ");
    print_field(&text, &is->fields[i]);
    found(checking, relation->ng.name, base_buffer_text(&text));
    base_buffer_done(&text);
  }
}

static bool reads(const struct ng_query *query, const char *name) {
  for (size_t i = 0; i < query->variable_count; i++)
    if (strcasecmp(query->variables[i].relation->name, name) == 0) return true;
  return false;
}

static void check_definition(const struct checking *checking, struct session_relation *relation) {
  size_t before = checking->session->diags->count;
  const struct ng_query *query = session_query(checking->session, relation);
  turn_into_findings(checking, relation->ng.name, before);
  if (query == NULL) return;
  check_domains(checking, relation);
  for (size_t i = 0; i < relation->derived.input_count; i++)
    if (!reads(query, relation->derived.inputs[i]))
      found(checking, relation->ng.name,
            base_arena_printf(checking->arena,
                              "its definition does not read %s, which is said to"
                              " be its input",
                              relation->derived.inputs[i]));
}

/* Permits are read when somebody asks; one that cannot be read permits nothing. */
static void check_permit(const struct checking *checking, const struct st_rule *rule) {
  struct base_source source = {
      .name = "<permit>", .text = rule->text, .length = strlen(rule->text)};
  struct base_diag_sink diags;
  size_t count = 0;
  bool parsed = false;
  base_diag_sink_init(&diags);
  struct tql_statement **script = tql_parse(checking->arena, &source, 1, &diags, &count, &parsed);
  base_diag_sink_done(&diags);
  const struct tql_statement *permit = parsed && count > 0 ? script[count - 1] : NULL;
  if (permit == NULL || permit->kind != TQL_S_PERMIT || session_permit_fault(permit) != NULL)
    found(
        checking, rule->relation,
        base_arena_printf(checking->arena, "permit %lld cannot be read", (long long)rule->number));
}

static void check_rules(const struct checking *checking) {
  struct tql_session *session = checking->session;
  struct st_rule *rules = NULL;
  size_t count = 0, before = session->diags->count;
  if (st_rules(session->database, checking->arena, &rules, &count) != BASE_OK) count = 0;
  turn_into_findings(checking, "tq_rule", before);
  for (size_t i = 0; i < count; i++) {
    struct session_relation *relation = session_find(session, rules[i].relation);
    if (rules[i].kind == ST_PERMIT) check_permit(checking, &rules[i]);
    bool any, first = i == 0 || strcasecmp(rules[i - 1].relation, rules[i].relation) != 0;
    if (relation == NULL || !first) continue;
    if (session_has_rules(session, relation, &any) != BASE_OK)
      turn_into_findings(checking, relation->ng.name, before);
  }
}

/* --- derived relations, computed again */

/* Takes what a store node has collected. */
struct memory_store {
  struct net_store store; /* first */
  struct tql_rows rows;
};

static enum base_status memory_put_rows(struct net_store *store, const char *relation,
                                        const struct net_rows *rows) {
  struct memory_store *memory = (struct memory_store *)store;
  (void)relation;
  net_rows_add_all(&memory->rows.rows, rows->rows, rows->marks, rows->count);
  return BASE_OK;
}

static enum base_status memory_put(struct net_store *store, const char *relation,
                                   const struct net_layout *layout, const union net_slot *row,
                                   uint8_t marks) {
  struct memory_store *memory = (struct memory_store *)store;
  (void)relation, (void)layout;
  net_rows_add_copy(&memory->rows.rows, row, marks);
  return BASE_OK;
}

/* The node that collects closes what it has collected itself. */
static enum base_status memory_close(struct net_store *store, const char *relation,
                                     const struct net_layout *layout, const union net_slot *open,
                                     const union net_slot *row, uint8_t marks) {
  (void)open;
  return memory_put(store, relation, layout, row, marks);
}

static enum base_status memory_checkpoint(struct net_store *store, const char *relation,
                                          net_chronon time) {
  struct memory_store *memory = (struct memory_store *)store;
  (void)relation;
  memory->rows.checkpoint = time;
  return BASE_OK;
}

static const struct net_store_class memory_class = {
    .put = memory_put,
    .put_rows = memory_put_rows,
    .close = memory_close,
    .checkpoint = memory_checkpoint,
};

/* One of two relations has COUNT rows that the other has not, of which ROW is the first. */
static void say_difference(const struct checking *checking, const struct session_relation *relation,
                           size_t count, const union net_slot *row, const char *what) {
  struct base_buffer text = BASE_BUFFER_EMPTY, tuple = BASE_BUFFER_EMPTY;
  if (count == 0) return;
  session_print_tuple(checking->session, &tuple, relation->ng.layout, row);
  base_buffer_printf(&text, "%zu tuple%s %s; the first: %s", count, count == 1 ? " is" : "s are",
                     what, base_buffer_text(&tuple));
  found(checking, relation->ng.name, base_buffer_text(&text));
  base_buffer_done(&text);
  base_buffer_done(&tuple);
}

/* Both in order, each row once. */
static void compare(const struct checking *checking, const struct session_relation *relation,
                    const struct net_rows *stored, const struct net_rows *computed) {
  const struct base_strings *strings = checking->session->strings;
  const union net_slot *missing = NULL, *extra = NULL, *other = NULL;
  size_t missing_count = 0, extra_count = 0, other_count = 0;
  for (size_t i = 0, k = 0; i < stored->count || k < computed->count;) {
    int order = i == stored->count ? 1
                : k == computed->count
                    ? -1
                    : net_row_compare(stored->layout, strings, NET_FOREVER, net_rows_row(stored, i),
                                      net_rows_row(computed, k));
    if (order < 0 && extra_count++ == 0) extra = net_rows_row(stored, i);
    if (order > 0 && missing_count++ == 0) missing = net_rows_row(computed, k);
    if (order == 0 && stored->marks[i] != computed->marks[k] && other_count++ == 0)
      other = net_rows_row(stored, i);
    i += order <= 0;
    k += order >= 0;
  }
  say_difference(checking, relation, missing_count, missing,
                 "missing that its definition computes from what is stored");
  say_difference(checking, relation, extra_count, extra,
                 "stored that its definition does not compute from what is stored");
  say_difference(checking, relation, other_count, other,
                 "definite where its definition says perhaps, or the other way round");
}

/* Is RELATION computed from samples that go on? Live, their periods are final as far as rounds go, which the tables
 * do not say, so what it is to be cannot be told from them (README.md, "Sampled relations"). */
static bool has_running_samples(struct tql_session *session,
                                const struct session_relation *relation) {
  if (relation->kind == ST_SAMPLED) return relation->checkpoint != NET_FOREVER;
  for (size_t i = 0; i < relation->derived.input_count; i++) {
    const struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input != NULL && has_running_samples(session, input)) return true;
  }
  return false;
}

/* Is RELATION a summary over periods that may go on? What it reads of their stops counts when these are known, which asked
 * once would be taken for what it may be. */
static bool may_wait_for_stops(struct tql_session *session,
                               const struct session_relation *relation) {
  for (size_t i = 0; session_is_summary(relation) && i < relation->derived.input_count; i++) {
    const struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input != NULL && input->ng.layout->tuple_class == NET_PERIOD &&
        input->checkpoint != NET_FOREVER)
      return true;
  }
  return false;
}

static void check_result(const struct checking *checking, struct session_relation *relation) {
  struct tql_session *session = checking->session;
  size_t before = session->diags->count;
  struct tql_rows stored;
  struct memory_store memory = {.store = {&memory_class}};
  const struct ng_query *query = session_query(session, relation);
  if (query == NULL) return;
  if (relation->derived.origin_fixed && session_at_origin(session, relation, &query) != BASE_OK) {
    turn_into_findings(checking, relation->ng.name, before);
    base_diag_drop(session->diags, before);
    return;
  }
  tql_rows_init(&memory.rows, relation->ng.name, relation->ng.layout);
  enum base_status status = session_rows_of(session, relation, &stored);
  if (status == BASE_OK)
    status = session_run_into(session, query, relation->ng.name, &memory.store);
  memory.rows.checkpoint = stored.checkpoint; /* open tuples are shown up to there */
  if (status == BASE_OK) {
    tql_rows_finish(&stored, session->strings);
    tql_rows_finish(&memory.rows, session->strings);
    compare(checking, relation, &stored.rows, &memory.rows.rows);
  } else {
    turn_into_findings(checking, relation->ng.name, before);
  }
  base_diag_drop(session->diags, before);
  tql_rows_done(&stored);
  tql_rows_done(&memory.rows);
}

/* --- all */

enum base_status tql_session_check(struct tql_session *session,
                                   void (*found_one)(void *context, const char *subject,
                                                     const char *text),
                                   void *context) {
  struct checking checking = {session, base_arena_new(), found_one, context};
  session->statement_arena = checking.arena;
  base_diag_hold(session->diags); /* what is reported becomes findings */
  enum base_status status = st_begin(session->database);
  /* The checkpoints of the state that is looked at: a server may have gone on since the session was opened. */
  if (status == BASE_OK) status = session_load_catalogue(session);
  for (size_t i = 0; i < session->unusable_count && status == BASE_OK; i++)
    found(&checking, session->unusable[i].name,
          base_arena_printf(checking.arena, "unusable: %s", session->unusable[i].why));
  const struct st_check_sink sink = {found_one, context};
  if (status == BASE_OK) status = st_check(session->database, &sink);
  if (status == BASE_OK) check_rules(&checking);
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *relation = session->relations[i];
    if (!session_is_derived(relation)) continue;
    check_definition(&checking, relation);
    if (!relation->view && relation->derived.query != NULL &&
        !has_running_samples(session, relation) && !may_wait_for_stops(session, relation) &&
        !session_lacks_tuples(session, relation))
      check_result(&checking, relation);
    if (base_env_interrupted()) status = BASE_CANCEL;
  }
  st_rollback(session->database);
  base_diag_release(session->diags);
  session->statement_arena = NULL;
  base_arena_free(checking.arena);
  return status;
}
