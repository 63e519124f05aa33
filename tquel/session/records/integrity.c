/* What a row must satisfy to be written: the types of its domains, and the rules of integrity; and the
 * other texts that the catalogue keeps with a relation, its permits.
 *
 * A rule is kept as a little script, like a definition: the range of its variable, then the statement.
 * It is bound when rows are first to be tested, into a program that runs over rows of the relation's
 * write layout. A row for which the condition is not true breaks the rule. All rows that the relation
 * has satisfy its rules, so only new ones are tested.
 *
 * Of a statement's rows one that breaks a rule fails the statement; of a feed's it goes to Rejected.   */
#include <string.h>
#include <strings.h>

#include "engine/base/printable.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

/* --- types */

void session_report_row(struct tql_session *session, enum base_message number, const char *what,
                        const struct net_layout *layout, const union net_slot *row) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  session_print_row(session, &text, layout, row);
  base_report(session->diags, number, session->source,
              session->statement ? &session->statement->range : NULL, "%s: the tuple %s", what,
              base_buffer_text(&text));
  base_buffer_done(&text);
}

enum base_status session_check_values(struct tql_session *session,
                                      struct session_relation *relation,
                                      const struct net_rows *rows) {
  const struct net_layout *layout = rows->layout;
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    for (uint32_t f = 0; f < layout->field_count; f++) {
      const struct net_field *field = &layout->fields[f];
      const char *fault = net_type_slots(field->type.base) == 1
                              ? net_value_check(session->strings, field->type, row[field->slot])
                              : NULL;
      if (fault == NULL) continue;
      session_report_row(session, MSG_STORED_VALUE,
                         base_arena_printf(session->statement_arena, "the value for %s of %s is %s",
                                           field->name, relation->ng.name, fault),
                         layout, row);
      return BASE_USER;
    }
  }
  return BASE_OK;
}

/* --- rules */

/* The line of TEXT that is the rule itself, without the range of its variable. */
static const char *rule_line(struct base_arena *arena, const char *text) {
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n') length--;
  size_t first = length;
  while (first > 0 && text[first - 1] != '\n') first--;
  return base_arena_strndup(arena, text + first, length - first);
}

/* The condition of a rule, for messages. */
static const char *condition_text(struct base_arena *arena, const char *text) {
  const char *line = rule_line(arena, text), *is = strstr(line, " is ");
  return is != NULL ? is + 4 : line;
}

static const struct ng_query *bind_rule(struct tql_session *session, const char *text) {
  bool ok = false;
  return session_bind_script(session, "<rule of integrity>", text, NULL, &ok);
}

/* Binds the rules of RELATION, once. */
static enum base_status load_rules(struct tql_session *session, struct session_relation *relation) {
  if (relation->integrity.rules_loaded) return BASE_OK;
  struct st_rule *all = NULL;
  size_t count = 0;
  enum base_status status = st_rules(session->database, session->arena, &all, &count);
  if (status != BASE_OK) return status;
  struct session_rule *rules = BASE_NEW_ARRAY(session->arena, count + 1, struct session_rule);
  size_t used = 0;
  for (size_t i = 0; i < count; i++) {
    if (all[i].kind != ST_INTEGRITY || strcasecmp(all[i].relation, relation->ng.name) != 0)
      continue;
    const struct ng_query *query = bind_rule(session, all[i].text);
    if (query == NULL || query->variables[0].relation != &relation->ng) {
      base_report(session->diags, MSG_DATABASE_DAMAGED, NULL, NULL,
                  "the database is damaged: rule %lld of %s cannot be read",
                  (long long)all[i].number, relation->ng.name);
      return BASE_SYSTEM;
    }
    rules[used++] =
        (struct session_rule){all[i].number, condition_text(session->arena, all[i].text),
                              ng_condition_program(session->arena, session->strings, query,
                                                   session_write_layout(relation))};
  }
  relation->integrity.rules = rules;
  relation->integrity.rule_count = used;
  relation->integrity.rules_loaded = true;
  return BASE_OK;
}

/* Is the condition true for ROW? An error in it is not. */
bool session_rule_holds(const struct net_program *program, const union net_slot *row) {
  struct net_value value;
  return net_program_run(program, row, NET_FOREVER, &value) == NET_EVAL_OK &&
         value.truth == NET_TRUE;
}

enum base_status session_broken_rule(struct tql_session *session, struct session_relation *relation,
                                     const union net_slot *row, const struct session_rule **ret) {
  *ret = NULL;
  enum base_status status = load_rules(session, relation);
  for (size_t i = 0; status == BASE_OK && i < relation->integrity.rule_count && *ret == NULL; i++)
    if (!session_rule_holds(relation->integrity.rules[i].program, row))
      *ret = &relation->integrity.rules[i];
  return status;
}

enum base_status session_has_rules(struct tql_session *session, struct session_relation *relation,
                                   bool *ret) {
  enum base_status status = load_rules(session, relation);
  *ret = relation->integrity.rule_count > 0;
  return status;
}

const char *session_rule_reason(struct base_arena *arena, const struct session_relation *relation,
                                const struct session_rule *rule) {
  return base_arena_printf(arena, "breaks integrity rule %lld of %s (%s)", (long long)rule->number,
                           relation->ng.name, rule->condition);
}

enum base_status session_check_integrity(struct tql_session *session,
                                         struct session_relation *relation,
                                         const struct net_rows *rows) {
  const struct session_rule *broken = NULL;
  for (size_t i = 0; i < rows->count; i++) {
    if (rows->marks[i] & (NET_CLOSES | NET_ROUND)) continue;
    enum base_status status =
        session_broken_rule(session, relation, net_rows_row(rows, i), &broken);
    if (status != BASE_OK) return status;
    if (broken == NULL) continue;
    session_report_row(session, MSG_INTEGRITY_BROKEN,
                       session_rule_reason(session->statement_arena, relation, broken),
                       rows->layout, net_rows_row(rows, i));
    return BASE_USER;
  }
  return BASE_OK;
}

/* --- define integrity */

/* --- define permit */

/* --- destroy integrity, destroy permit */

/* --- of whose records none is left out where it arises, as netgen is told (ng_sensor.whole): rules of integrity send
 * records into Rejected, and a permit lets others read them. */

enum base_status session_find_whole(struct tql_session *session) {
  struct base_arena *arena = base_arena_new();
  struct st_rule *rules = NULL;
  size_t count = 0;
  enum base_status status = BASE_OK;
  bool any = false;
  for (size_t i = 0; i < session->relation_count; i++)
    any |= session->relations[i]->sensors.sensor != NULL;
  if (any) status = st_rules(session->database, arena, &rules, &count);
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *relation = session->relations[i];
    if (relation->sensors.sensor == NULL) continue;
    relation->sensors.sensor->whole = false;
    for (size_t k = 0; k < count; k++)
      relation->sensors.sensor->whole |= strcasecmp(rules[k].relation, relation->ng.name) == 0;
  }
  base_arena_free(arena);
  return status;
}

/* --- help */

void session_describe_rules(struct tql_session *session, const struct session_relation *relation,
                            struct session_sight *sight, struct base_buffer *out) {
  struct base_arena *arena = base_arena_new();
  struct st_rule *all = NULL;
  size_t count = 0;
  if (st_rules(session->database, arena, &all, &count) != BASE_OK) count = 0;
  for (size_t i = 0; i < count; i++) {
    if (strcasecmp(all[i].relation, relation->ng.name) != 0) continue;
    if (!session_sees_rule(sight, &all[i])) continue;
    bool permit = all[i].kind == ST_PERMIT;
    const char *line = rule_line(arena, all[i].text);
    if (!permit) line = condition_text(arena, all[i].text);
    if (permit && strncmp(line, "define permit ", 14) == 0) line += 14;
    base_buffer_printf(out, "%s %lld: ", permit ? "permit" : "integrity", (long long)all[i].number);
    base_buffer_printable(out, line, strlen(line));
    base_buffer_putc(out, '\n');
  }
  base_arena_free(arena);
}
