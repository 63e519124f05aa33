/* The catalogue in memory: which relations there are, what they are derived from, how far they have come.
 *
 * It mirrors the database (reload.c). Everything else of the session stands on it, and it knows of nothing else. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/control.h"
#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/session_impl.h"

static const enum ng_relation_kind kinds[] = {
    [ST_SNAPSHOT] = NG_REL_SNAPSHOT,      [ST_EVENT] = NG_REL_EVENT,
    [ST_PERIOD] = NG_REL_PERIOD,          [ST_TRACED] = NG_REL_TRACED,
    [ST_SAMPLED] = NG_REL_SAMPLED,        [ST_DERIVED_EVENT] = NG_REL_DERIVED,
    [ST_DERIVED_PERIOD] = NG_REL_DERIVED,
};

enum ng_relation_kind session_kind_of(enum st_kind kind) {
  return kinds[kind];
}

bool session_is_derived(const struct session_relation *relation) {
  return relation->ng.kind == NG_REL_DERIVED;
}

bool session_is_sampled(const struct session_relation *relation) {
  return relation->kind == ST_SAMPLED;
}

const struct net_layout *session_write_layout(const struct session_relation *relation) {
  return relation->ng.records ? relation->ng.records : relation->ng.layout;
}

uint32_t *session_key_slots(const struct net_layout *layout, const struct net_key *key) {
  uint32_t *slots = base_xcalloc(key->count + 1, sizeof *slots);
  for (size_t i = 0; i < key->count; i++) slots[i] = layout->fields[key->fields[i]].slot;
  return slots;
}

static struct net_layout *layout_of(struct base_arena *arena, const struct st_relation *relation,
                                    enum net_tuple_class tuple_class) {
  struct net_field *fields = BASE_NEW_ARRAY(arena, relation->domain_count + 1, struct net_field);
  for (size_t i = 0; i < relation->domain_count; i++)
    fields[i] =
        (struct net_field){.name = relation->domains[i].name, .type = relation->domains[i].type};
  return net_layout_new(arena, tuple_class, fields, (uint32_t)relation->domain_count);
}

/* "1 hour", "nothing", on the abstract timeline chronons. */
void session_print_age(const struct tql_session *session, struct base_buffer *out, int64_t age) {
  struct tql_expr expr = {
      .kind = session->timeline == NET_TIMELINE_REAL ? TQL_E_DURATION : TQL_E_INTEGER,
      .integer = age};
  if (age == 0)
    base_buffer_puts(out, "nothing");
  else
    tql_print_expr(out, &expr);
}

void session_set_age(struct tql_session *session, struct session_relation *relation, bool ages,
                     int64_t age) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  relation->keep.ages = ages;
  relation->keep.age = ages ? age : 0;
  if (ages) session_print_age(session, &text, age);
  free(relation->keep.keeps);
  relation->ng.keeps = relation->keep.keeps = text.data;
}

/* A definition is a line for each of its statements, of which the last is the retrieve. */
static bool defines_summary(const char *definition) {
  static const char begin[] = "retrieve summary into ";
  for (const char *line = definition; line != NULL; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, begin, sizeof begin - 1) == 0) return true;
  }
  return false;
}

struct session_relation *session_add_relation(struct tql_session *session,
                                              const struct st_relation *from) {
  struct base_arena *arena = session->arena;
  struct session_relation *relation = BASE_NEW(arena, struct session_relation);
  bool event = from->kind == ST_EVENT || from->kind == ST_DERIVED_EVENT;
  relation->ng.name = base_arena_strdup(arena, from->name);
  relation->ng.kind = kinds[from->kind];
  relation->ng.layout = layout_of(arena, from, event ? NET_EVENT : NET_PERIOD);
  ((struct net_layout *)relation->ng.layout)->timeless = defines_summary(from->definition);
  relation->ng.by = net_key_copy(arena, &from->by);
  ng_set_entity(arena, &relation->ng);
  relation->sensors.holder = -1;
  session->catalogue_changes++;
  if (from->kind == ST_TRACED || from->kind == ST_SAMPLED)
    relation->ng.records = layout_of(arena, from, NET_EVENT);
  relation->kind = from->kind;
  relation->view = from->view;
  relation->keep.expires = from->expires;
  relation->keep.until = from->until;
  session_set_age(session, relation, from->ages, from->age);
  relation->keep.incomplete = from->incomplete;
  relation->keep.gone = from->gone;
  relation->keep.removed = from->removed;
  relation->checkpoint = from->checkpoint;
  relation->passed = NET_BEGINNING; /* as far as the catalogue does not say otherwise */
  relation->waiting.latest = relation->waiting.boundary = NET_BEGINNING;
  relation->derived.definition =
      from->definition ? base_arena_strdup(arena, from->definition) : NULL;
  relation->derived.origin_fixed = from->origin_fixed;
  relation->derived.origin = from->origin;
  const char **inputs = BASE_NEW_ARRAY(arena, from->input_count + 1, const char *);
  for (size_t i = 0; i < from->input_count; i++)
    inputs[i] = base_arena_strdup(arena, from->inputs[i]);
  relation->derived.inputs = inputs;
  relation->derived.input_count = from->input_count;
  base_grow(&session->relations, &session->relation_capacity, session->relation_count + 1,
            sizeof *session->relations);
  session->relations[session->relation_count++] = relation;
  return relation;
}

void session_relation_done(struct session_relation *relation) {
  free(relation->keep.keeps);
  relation->ng.keeps = relation->keep.keeps = NULL;
  free(relation->network.accesses);
  free(relation->network.counts);
  free(relation->network.asks);
  relation->network.accesses = NULL;
  relation->network.counts = NULL;
  relation->network.asks = NULL;
  if (relation->waiting.has_pending) net_inbox_done(&relation->waiting.pending);
  relation->waiting.has_pending = false;
  if (relation->network.runs.layout != NULL) net_rows_done(&relation->network.runs);
  if (relation->waiting.open_rows.layout != NULL) net_rows_done(&relation->waiting.open_rows);
}

void session_stop_asking(struct tql_session *session, struct session_relation *relation) {
  if (relation->sensors.asked != NULL)
    net_control_disable(session->control, relation->sensors.asked);
  relation->sensors.asked = NULL;
}

static void forget_variables(struct tql_seat *seat, const struct session_relation *relation) {
  for (size_t i = 0; i < seat->variable_count;) {
    if (seat->variables[i].relation == &relation->ng) {
      seat->variables[i] = seat->variables[--seat->variable_count];
    } else {
      i++;
    }
  }
}

void session_remove_relation(struct tql_session *session, struct session_relation *relation) {
  session->catalogue_changes++;
  session_stop_asking(session, relation);
  for (size_t i = 0; i < session->seat_count; i++) forget_variables(session->seats[i], relation);
  for (size_t i = 0; i < session->relation_count; i++)
    if (session->relations[i] == relation) {
      memmove(session->relations + i, session->relations + i + 1,
              (session->relation_count - i - 1) * sizeof *session->relations);
      session->relation_count--;
      break;
    }
  session_relation_done(relation);
}

struct session_relation *session_find(struct tql_session *session, const char *name) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (strcasecmp(session->relations[i]->ng.name, name) == 0) return session->relations[i];
  return NULL;
}

struct session_relation *session_of(struct tql_session *session, const struct ng_relation *ng) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (&session->relations[i]->ng == ng) return session->relations[i];
  return NULL;
}

static bool depends(struct tql_session *session, const struct session_relation *relation,
                    const struct session_relation *other, uint64_t walk) {
  for (size_t i = 0; i < relation->derived.input_count; i++) {
    if (strcasecmp(relation->derived.inputs[i], other->ng.name) == 0) return true;
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input != NULL && session_visit(input, walk) && depends(session, input, other, walk))
      return true;
  }
  return false;
}

bool session_depends(struct tql_session *session, const struct session_relation *relation,
                     const struct session_relation *other) {
  return depends(session, relation, other, ++session->walks);
}

bool session_is_displayed(const struct tql_session *session,
                          const struct session_relation *relation) {
  for (size_t i = 0; i < session->display_count; i++)
    if (session->displays[i]->seat != NULL &&
        strcasecmp(session->displays[i]->name, relation->ng.name) == 0)
      return true;
  return false;
}

bool session_stands(const struct tql_session *session, const struct session_relation *reader) {
  return session_is_derived(reader) && (!reader->view || session_is_displayed(session, reader));
}

/* Is it the one in which collectors say which sensors are on (sensors/collect/collector.sdf)? */
static bool is_of_switches(const struct session_relation *relation) {
  return relation->sensors.announced && relation->sensors.taskforce != NULL &&
         strcasecmp(relation->sensors.taskforce, "Collector") == 0 &&
         strcasecmp(relation->sensors.event, "SensorOn") == 0;
}

bool session_says_switches(struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *each = session->relations[i];
    if (!is_of_switches(each)) continue;
    if (each == relation || session_depends(session, relation, each)) return true;
  }
  return false;
}

/* --- checkpoints that have been passed */

enum base_status session_note_passed(struct tql_session *session, struct session_relation *relation,
                                     net_chronon checkpoint) {
  if (checkpoint == NET_FOREVER || checkpoint <= relation->passed) return BASE_OK;
  relation->passed = checkpoint;
  return st_set_passed(session->database, relation->ng.name, checkpoint);
}

static net_chronon latest_passed(struct tql_session *session,
                                 const struct session_relation *relation, uint64_t walk) {
  net_chronon latest = relation->passed;
  for (size_t i = 0; i < relation->derived.input_count; i++) {
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input == NULL || !session_visit(input, walk)) continue;
    net_chronon its = latest_passed(session, input, walk);
    if (its > latest) latest = its;
  }
  return latest;
}

net_chronon session_passed(void *context, const struct ng_relation *ng) {
  const struct session_relation *relation =
      session_find(context, ng->name); /* updates have a copy */
  struct tql_session *session = context;
  if (relation != NULL && session_is_pace(relation) && session->paced_until != NET_BEGINNING)
    return session->paced_until != NET_FOREVER ? session->paced_until : NET_BEGINNING;
  return relation != NULL ? latest_passed(session, relation, ++session->walks) : NET_BEGINNING;
}

/* --- what nobody can use */

const struct session_unusable *session_find_unusable(const struct tql_session *session,
                                                     const char *name) {
  for (size_t i = 0; i < session->unusable_count; i++)
    if (strcasecmp(session->unusable[i].name, name) == 0) return &session->unusable[i];
  return NULL;
}

bool session_has_records(const struct session_relation *relation) {
  return relation->kind == ST_TRACED || relation->kind == ST_SAMPLED;
}

struct net_wanted session_not_over_before(const struct session_relation *relation,
                                          net_chronon time) {
  struct net_wanted wanted = NET_WANTED_ALL;
  if (relation->ng.layout->tuple_class == NET_EVENT)
    wanted.start_hi_min = time;
  else
    wanted.stop_hi_min = time;
  return wanted;
}

void session_mark_stale(struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (session_is_derived(session->relations[i]) &&
        session_depends(session, session->relations[i], relation))
      session->relations[i]->derived.stale = true;
}

bool session_depends_on_live(struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (session->relations[i]->live && !session_is_derived(session->relations[i]) &&
        session_depends(session, relation, session->relations[i]))
      return true;
  return false;
}

bool session_may_be_fed(struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (session->relations[i]->sensors.announced &&
        session_depends(session, relation, session->relations[i]))
      return true;
  return session_depends_on_live(session, relation);
}
