/* What a session has, for who looks: names for completion, \d. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/printable.h"
#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/control/control.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

/* --- looking */

struct base_diag_sink *tql_session_diags(struct tql_session *session) {
  return session->diags;
}
enum net_timeline tql_session_timeline(const struct tql_session *session) {
  return session->timeline;
}
struct base_strings *tql_session_string_table(struct tql_session *session) {
  return session->strings;
}
const struct base_strings *tql_session_strings(const struct tql_session *session) {
  return session->strings;
}

void tql_session_each_relation(struct tql_session *session,
                               void (*on_name)(void *context, const char *name), void *context) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (!session_is_pace(session->relations[i])) on_name(context, session->relations[i]->ng.name);
  for (size_t i = 0; i < session->unusable_count; i++) on_name(context, session->unusable[i].name);
}

void tql_session_each_domain(struct tql_session *session, const char *variable_or_relation,
                             void (*on_name)(void *context, const char *name), void *context) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  const struct tql_variable *variable = tql_scope_variable(&scope.scope, variable_or_relation);
  const struct ng_relation *ng = variable ? variable->relation : NULL;
  if (ng == NULL) {
    struct session_relation *relation = session_find(session, variable_or_relation);
    ng = relation ? &relation->ng : NULL;
  }
  const struct session_relation *of = ng != NULL ? session_of(session, ng) : NULL;
  if (ng == NULL) return;
  struct session_sight *sight = of != NULL ? session_sight_new(session) : NULL;
  for (uint32_t i = 0; i < ng->layout->field_count; i++)
    if (session_sees(sight, of, ng->layout->fields[i].name))
      on_name(context, ng->layout->fields[i].name);
  session_sight_free(sight);
}

/* --- describing */

static const char *kind_word(const struct session_relation *relation) {
  if (session_is_summary(relation)) return "summary";
  switch (relation->kind) {
    case ST_SNAPSHOT:
      return "snapshot";
    case ST_EVENT:
      return "event";
    case ST_PERIOD:
      return "period";
    case ST_TRACED:
      return "traced";
    case ST_SAMPLED:
      return "sampled";
    case ST_DERIVED_EVENT:
      return relation->view ? "event view" : "derived event";
    case ST_DERIVED_PERIOD:
    default:
      return relation->view ? "period view" : "derived period";
  }
}

static void put_name(struct base_buffer *out, const char *name) {
  base_buffer_printable(out, name, strlen(name));
}

/* What SIGHT may see of it. */
static void describe_line(struct session_sight *sight, const struct session_relation *relation,
                          struct base_buffer *out) {
  const struct net_layout *layout = relation->ng.layout;
  bool any = session_sees(sight, relation, NULL);
  base_buffer_printf(out, "%-14s ", any ? kind_word(relation) : "no permit");
  put_name(out, relation->ng.name);
  base_buffer_puts(out, any ? " (" : "\n");
  size_t shown = 0;
  for (uint32_t i = 0; i < layout->field_count && any; i++) {
    if (!session_sees(sight, relation, layout->fields[i].name)) continue;
    base_buffer_puts(out, shown++ > 0 ? ", " : "");
    put_name(out, layout->fields[i].name);
    base_buffer_puts(out, " = ");
    net_type_print(out, layout->fields[i].type);
  }
  if (!any) return;
  base_buffer_puts(out, ")");
  const struct net_key *by = &relation->ng.by;
  for (size_t i = 0; i < by->count; i++)
    any &= session_sees(sight, relation, layout->fields[by->fields[i]].name);
  for (size_t i = 0; any && i < by->count; i++) {
    base_buffer_puts(out, i == 0 ? " by " : ", ");
    put_name(out, layout->fields[by->fields[i]].name);
  }
  base_buffer_putc(out, '\n');
}

/* Of what its tuples are: for who may see all of them. */
static void describe_contents(struct tql_session *session, const struct session_relation *relation,
                              struct base_buffer *out) {
  int64_t count = 0;
  if (relation->view) return;
  if (st_count(session->database, relation->ng.name, &count) == BASE_OK)
    base_buffer_printf(out, "tuples:     %lld\n", (long long)count);
  if (st_logged(session->database, relation->ng.name, &count) == BASE_OK && count > 0)
    base_buffer_printf(out, "not yet in the table: %lld of them\n", (long long)count);
  base_buffer_puts(out, "checkpoint: ");
  net_time_print(out, session->timeline, relation->checkpoint);
  base_buffer_putc(out, '\n');
}

static void describe_rejected(struct tql_session *session, const struct session_relation *relation,
                              struct base_buffer *out) {
  uint64_t *counts = session_count_rejected(session), count = 0;
  for (size_t i = 0; i < session->relation_count; i++)
    if (session->relations[i] == relation) count = counts[i];
  if (count > 0)
    base_buffer_printf(out, "rejected:   %llu, which are in Rejected\n", (unsigned long long)count);
  free(counts);
}

static void describe_all(struct tql_session *session, struct base_buffer *out) {
  struct session_sight *sight = session_sight_new(session);
  for (size_t i = 0; i < session->relation_count; i++)
    if (!session_is_pace(session->relations[i])) describe_line(sight, session->relations[i], out);
  for (size_t i = 0; i < session->unusable_count; i++)
    session_describe_unusable(&session->unusable[i], sight == NULL, out);
  size_t hidden = session_find(session, "Clock") != NULL;
  if (session->relation_count - hidden + session->unusable_count == 0)
    base_buffer_puts(out, "no relations\n");
  session_sight_free(sight);
}

static void put_definition(struct base_buffer *out, const char *definition) {
  base_buffer_puts(out, "definition:\n");
  base_buffer_printable_lines(out, definition, strlen(definition));
  base_buffer_putc(out, '\n');
}

/* What others are told of is in permits.c; what it is made of, and who asks for it, is the owner's. */
static void describe_one(struct tql_session *session, struct session_relation *relation,
                         struct base_buffer *out) {
  struct session_sight *sight = session_sight_new(session);
  bool owner = sight == NULL, all = session_sees_all(sight, relation);
  describe_line(sight, relation, out);
  if (all) describe_contents(session, relation, out);
  if (all) describe_rejected(session, relation, out);
  if (owner && !session_is_system_name(relation->ng.name))
    session_describe_losses(session, relation, out);
  if (all) session_describe_filtered(session, relation, out);
  if (all) session_describe_until(session, relation, out);
  if (all) session_describe_age(session, relation, out);
  if (owner) session_describe_announced(session, relation, out);
  if (owner) session_describe_indexes(session, relation, out);
  session_describe_rules(session, relation, sight, out);
  session_sight_free(sight);
  if (owner && relation->derived.definition != NULL)
    put_definition(out, relation->derived.definition);
}

bool tql_session_describe(struct tql_session *session, const char *name, struct base_buffer *out) {
  if (name == NULL) {
    describe_all(session, out);
    return true;
  }
  const struct session_unusable *unusable = session_find_unusable(session, name);
  if (unusable != NULL) {
    bool owner = session->seat->owner;
    session_describe_unusable(unusable, owner, out);
    if (owner && unusable->definition != NULL) put_definition(out, unusable->definition);
    return true;
  }
  struct session_relation *relation = session_find(session, name);
  if (relation == NULL) relation = session_make_mentioned(session, name);
  if (relation != NULL) describe_one(session, relation, out);
  return relation != NULL;
}

/* --- looking: names mean what they mean on the seat */

void tql_seat_each_relation(struct tql_seat *seat, void (*on_name)(void *context, const char *name),
                            void *context) {
  tql_session_each_relation(seat->session, on_name, context);
}

void tql_seat_each_variable(struct tql_seat *seat, void (*on_name)(void *context, const char *name),
                            void *context) {
  for (size_t i = 0; i < seat->variable_count; i++) on_name(context, seat->variables[i].name);
}

void tql_seat_each_domain(struct tql_seat *seat, const char *variable_or_relation,
                          void (*on_name)(void *context, const char *name), void *context) {
  struct tql_session *session = seat->session;
  session->seat = seat;
  tql_session_each_domain(session, variable_or_relation, on_name, context);
  session->seat = session->seats[0];
}

bool tql_seat_describe(struct tql_seat *seat, const char *name, struct base_buffer *out) {
  struct tql_session *session = seat->session;
  session->seat = seat;
  bool found = tql_session_describe(session, name, out);
  session->seat = session->seats[0];
  return found;
}

bool tql_seat_describe_nodes(struct tql_seat *seat, const char *name, struct base_buffer *out) {
  struct tql_session *session = seat->session;
  session->seat = seat;
  bool found = tql_session_describe_nodes(session, name, out);
  session->seat = session->seats[0];
  return found;
}

void tql_seat_describe_sensors(struct tql_seat *seat, const struct tql_sensor_report *reports,
                               size_t report_count, struct base_buffer *out) {
  struct tql_session *session = seat->session;
  session->seat = seat;
  tql_session_describe_sensors(session, reports, report_count, out);
  session->seat = session->seats[0];
}

void tql_session_each_variable(struct tql_session *session,
                               void (*on_name)(void *context, const char *name), void *context) {
  tql_seat_each_variable(session->seats[0], on_name, context);
}
