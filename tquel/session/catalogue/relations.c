/* The catalogue in memory: relations, tuple variables, and the scope that analysis sees.
 *
 * It mirrors the database; session_load_catalogue makes it anew after a rollback.                    */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static struct net_layout *layout_of(struct base_arena *arena, const struct st_relation *relation,
                                    enum net_tuple_class tuple_class) {
  struct net_field *fields = BASE_NEW_ARRAY(arena, relation->domain_count + 1, struct net_field);
  for (size_t i = 0; i < relation->domain_count; i++)
    fields[i] =
        (struct net_field){.name = relation->domains[i].name, .type = relation->domains[i].type};
  return net_layout_new(arena, tuple_class, fields, (uint32_t)relation->domain_count);
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
  relation->holder = -1;
  session->catalogue_changes++;
  if (from->kind == ST_TRACED || from->kind == ST_SAMPLED)
    relation->ng.records = layout_of(arena, from, NET_EVENT);
  relation->kind = from->kind;
  relation->view = from->view;
  relation->expires = from->expires;
  relation->until = from->until;
  session_set_age(session, relation, from->ages, from->age);
  relation->incomplete = from->incomplete;
  relation->gone = from->gone;
  relation->removed = from->removed;
  relation->checkpoint = from->checkpoint;
  relation->passed = NET_BEGINNING; /* as far as the catalogue does not say otherwise */
  relation->latest = relation->boundary = NET_BEGINNING;
  relation->definition = from->definition ? base_arena_strdup(arena, from->definition) : NULL;
  relation->origin_fixed = from->origin_fixed;
  relation->origin = from->origin;
  const char **inputs = BASE_NEW_ARRAY(arena, from->input_count + 1, const char *);
  for (size_t i = 0; i < from->input_count; i++)
    inputs[i] = base_arena_strdup(arena, from->inputs[i]);
  relation->inputs = inputs;
  relation->input_count = from->input_count;
  base_grow(&session->relations, &session->relation_capacity, session->relation_count + 1,
            sizeof *session->relations);
  session->relations[session->relation_count++] = relation;
  return relation;
}

static void relation_done(struct session_relation *relation) {
  free(relation->keeps);
  relation->ng.keeps = relation->keeps = NULL;
  free(relation->accesses);
  free(relation->asks);
  relation->accesses = NULL;
  relation->asks = NULL;
  if (relation->has_pending) net_inbox_done(&relation->pending);
  relation->has_pending = false;
  if (relation->runs.layout != NULL) net_rows_done(&relation->runs);
  if (relation->open_rows.layout != NULL) net_rows_done(&relation->open_rows);
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
  relation_done(relation);
}

/* The variables of SEAT find their relations again by name. */
static void find_variables(struct tql_session *session, struct tql_seat *seat) {
  size_t kept = 0;
  for (size_t i = 0; i < seat->variable_count; i++) {
    const struct tql_variable *variable = &seat->variables[i];
    bool clock = variable->relation->kind == NG_REL_CLOCK;
    struct session_relation *now = clock ? NULL : session_find(session, variable->relation->name);
    if (now == NULL && !clock) continue;
    seat->variables[kept] = *variable;
    if (!clock) seat->variables[kept].relation = &now->ng;
    kept++;
  }
  seat->variable_count = kept;
}

/* What a reload does not change: that sources bring the relation, and that it is asked for. */
static void hand_over(struct tql_session *session, struct session_relation *old) {
  struct session_relation *now = session_find(session, old->ng.name);
  if (now != NULL) now->sampled_in_overload = old->sampled_in_overload; /* as collectors were told */
  if (now == NULL || !(now->announced || now->persistent)) {
    session_stop_asking(session, old);
  } else {
    now->asked = old->asked;
    old->asked = NULL;
  }
  if (now == NULL || !old->live || session_is_derived(now) || !session_is_brought(session, now))
    return;
  now->live =
      now->checkpoint != NET_FOREVER; /* that it was opened again may have been taken back */
  now->latest = old->latest;
  now->boundary = old->boundary;
}

/* Feeds and variables outlive a reload; they find their relations again by name. */
enum base_status session_load_catalogue(struct tql_session *session) {
  session_drop_live(session);
  struct session_relation **old = session->relations;
  size_t old_count = session->relation_count;
  session->relations = NULL;
  session->relation_count = session->relation_capacity = 0;
  struct session_unusable *known = session->unusable;
  size_t known_count = session->unusable_count;
  session->unusable = NULL;
  session->unusable_count = session->unusable_capacity = 0;
  session->catalogue_changes++;
  struct st_relation *relations = NULL;
  size_t count = 0;
  enum base_status status = st_relations(session->database, session->arena, &relations, &count);
  for (size_t i = 0; status == BASE_OK && i < count; i++)
    if (!session_add_unusable(session, &relations[i], known, known_count)) {
      struct session_relation *relation = session_add_relation(session, &relations[i]);
      if (!session_is_derived(relation)) relation->passed = relations[i].passed;
    }
  free(known);
  for (size_t i = 0; i < session->seat_count; i++) find_variables(session, session->seats[i]);
  for (size_t i = 0; i < session->feed_count; i++) {
    struct session_feed *feed = session->feeds[i];
    struct session_relation *now = session_find(session, feed->relation->ng.name);
    if (now == NULL) {
      feed->ended = true;
      continue;
    }
    now->feed = feed;
    now->live = feed->relation->live;
    now->latest = feed->relation->latest;
    now->boundary = feed->relation->boundary;
    feed->relation = now;
  }
  if (status == BASE_OK) status = session_load_announced(session);
  for (size_t i = 0; i < old_count; i++) {
    hand_over(session, old[i]);
    relation_done(old[i]);
  }
  free(old);
  return status;
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
  for (size_t i = 0; i < relation->input_count; i++) {
    if (strcasecmp(relation->inputs[i], other->ng.name) == 0) return true;
    struct session_relation *input = session_find(session, relation->inputs[i]);
    if (input != NULL && session_visit(input, walk) && depends(session, input, other, walk))
      return true;
  }
  return false;
}

bool session_depends(struct tql_session *session, const struct session_relation *relation,
                     const struct session_relation *other) {
  return depends(session, relation, other, ++session->walks);
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
  for (size_t i = 0; i < relation->input_count; i++) {
    struct session_relation *input = session_find(session, relation->inputs[i]);
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

/* --- scope */

struct session_relation *session_make_mentioned(struct tql_session *session, const char *name) {
  const struct tql_session_options *options = &session->options;
  if (!session_is_system_name(name) || options->readonly || session_find_unusable(session, name))
    return NULL;
  if (options->explain_only) return session_system_relation(session, name);
  bool own = !st_in_transaction(session->database);
  if (own && st_begin(session->database) != BASE_OK) return NULL;
  struct session_relation *made = session_system_relation(session, name);
  if (own && made != NULL && st_commit(session->database) != BASE_OK) made = NULL;
  if (own && made == NULL) st_rollback(session->database);
  return made;
}

static const struct ng_relation *find_relation(void *context, const char *name) {
  struct session_scope *scope = context;
  if (scope->hidden != NULL && strcasecmp(scope->hidden, name) == 0) return NULL;
  if (strcasecmp(name, "Clock") == 0) return NULL;
  struct session_relation *relation = session_find(scope->session, name);
  if (relation == NULL && !scope->session->binds_only)
    relation = session_make_mentioned(scope->session, name);
  if (relation == NULL) return NULL;
  relation->ng.of_switches = session_says_switches(scope->session, relation);
  return &relation->ng;
}

static struct session_relation *make_pace(struct tql_session *session) {
  struct session_relation *pace = session_find(session, "Clock");
  if (pace != NULL) return pace;
  bool writes = !session->options.readonly && !session->binds_only;
  if (writes || session_find_unusable(session, "Clock") != NULL) {
    pace = session_make_mentioned(session, "Clock");
    return pace != NULL ? pace : session_system_relation(session, "Clock");
  }
  struct st_relation only_here = {
      .name = "Clock", .kind = ST_EVENT, .checkpoint = NET_FOREVER};
  return session_add_relation(session, &only_here);
}

static const struct ng_relation *time_passed(void *context) {
  struct session_scope *scope = context;
  struct session_relation *pace = make_pace(scope->session);
  return pace ? &pace->ng : NULL;
}

static const char *why_unusable(void *context, const char *name) {
  const struct session_scope *scope = context;
  const struct session_unusable *unusable = session_find_unusable(scope->session, name);
  return unusable ? unusable->why : NULL;
}

static void each_relation(void *context, void (*on_name)(void *, const char *), void *on_context) {
  struct session_scope *scope = context;
  for (size_t i = 0; i < scope->session->relation_count; i++)
    if (!session_is_pace(scope->session->relations[i]))
      on_name(on_context, scope->session->relations[i]->ng.name);
}

void session_scope_init(struct session_scope *scope, struct tql_session *session,
                        const char *hidden) {
  *scope = (struct session_scope){.session = session, .hidden = hidden};
  scope->scope = (struct tql_scope){
      .context = scope,
      .find_relation = find_relation,
      .why_unusable = why_unusable,
      .each_relation = each_relation,
      .costs = session_costs,
      .time_passed = time_passed,
      .variables = session->seat->variables,
      .variable_count = session->seat->variable_count,
      .settings = &session->seat->settings,
      .time = session->seat->time,
      .strings = session->strings,
  };
}

const struct ng_relation *session_range_over(struct tql_session *session,
                                             const struct tql_analysis *analysis,
                                             const struct tql_statement *statement) {
  if (statement->expr == NULL) return tql_analyse_relation(analysis, &statement->name);
  struct tql_analysis lasting = *analysis;
  lasting.arena = session->arena; /* a clock lives as long as its variable */
  return tql_analyse_clock(&lasting, statement->expr);
}

void session_set_variable(struct tql_session *session, const char *name,
                          const struct ng_relation *relation, int credibility) {
  struct tql_variable *variable = NULL;
  struct tql_seat *seat = session->seat;
  for (size_t i = 0; i < seat->variable_count; i++)
    if (strcasecmp(seat->variables[i].name, name) == 0) variable = &seat->variables[i];
  if (variable == NULL) {
    base_grow(&seat->variables, &seat->variable_capacity, seat->variable_count + 1,
              sizeof *seat->variables);
    variable = &seat->variables[seat->variable_count++];
  }
  *variable = (struct tql_variable){base_arena_strdup(session->arena, name), relation, credibility};
}

/* --- definitions */

static void refuse_definition(struct tql_session *session,
                              const struct session_relation *relation) {
  base_report_hint(session->diags, MSG_DATABASE_DAMAGED, NULL, NULL,
                   "something other than tquel has changed the catalogue",
                   "the database is damaged: the definition of %s does not give its tuples",
                   relation->ng.name);
}

/* A definition is a little script: range and set statements, then the retrieve. It is run in a scope
 * of its own, so that the session's variables and settings do not show in it.                       */
static const struct ng_query *bind_definition(struct tql_session *session,
                                              struct session_relation *relation,
                                              const struct base_source *source) {
  size_t count = 0;
  bool ok = false;
  const struct ng_query *query = NULL;
  struct tql_statement **statements =
      tql_parse(session->arena, source, 1, session->diags, &count, &ok);
  for (size_t i = 0; ok && i < count; i++) {
    const struct tql_statement *statement = statements[i];
    struct session_scope scope;
    session_scope_init(&scope, session, relation->ng.name);
    struct tql_analysis analysis = session_analysis(session, &scope);
    analysis.arena = session->arena;
    analysis.source = source;
    if (statement->kind == TQL_S_RANGE) {
      const struct ng_relation *over = session_range_over(session, &analysis, statement);
      if (over == NULL) return NULL;
      session_set_variable(session, statement->variable.text, over, statement->credibility);
    } else if (statement->kind == TQL_S_SET) {
      if (session_set(session, statement) != BASE_OK) return NULL;
    } else if ((statement->kind != TQL_S_RETRIEVE && statement->kind != TQL_S_VIEW) ||
               tql_analyse_retrieve(&analysis, statement, &query) != BASE_OK) {
      return NULL;
    }
  }
  if (ok && query == NULL) refuse_definition(session, relation);
  return query;
}

/* Is QUERY what RELATION was made from? Somebody may have changed the stored text. */
static bool gives(const struct session_relation *relation, const struct ng_query *query) {
  const struct net_layout *a = relation->ng.layout, *b = query->layout;
  if (a->tuple_class != b->tuple_class || a->field_count != b->field_count) return false;
  for (uint32_t i = 0; i < a->field_count; i++)
    if (a->fields[i].type.base != b->fields[i].type.base ||
        strcasecmp(a->fields[i].name, b->fields[i].name) != 0)
      return false;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *input = query->variables[i].relation;
    bool named = input->kind == NG_REL_CLOCK;
    for (size_t j = 0; j < relation->input_count; j++)
      named |= strcasecmp(relation->inputs[j], input->name) == 0;
    if (!named) return false;
  }
  return true;
}

void session_enter_own(struct tql_session *session, struct session_own *ret) {
  struct tql_seat *seat = session->seat;
  *ret = (struct session_own){seat->variables, seat->variable_count, seat->variable_capacity,
                              seat->settings};
  seat->variables = NULL;
  seat->variable_count = seat->variable_capacity = 0;
  seat->settings = (struct tql_settings){
      .origin_given = session->timeline == NET_TIMELINE_ABSTRACT,
      .unit = session->timeline == NET_TIMELINE_REAL ? 1000000 : 1,
  };
}

void session_leave_own(struct tql_session *session, struct session_own *own) {
  struct tql_seat *seat = session->seat;
  free(seat->variables);
  seat->variables = own->variables;
  seat->variable_count = own->variable_count;
  seat->variable_capacity = own->variable_capacity;
  seat->settings = own->settings;
}

const struct ng_query *session_query(struct tql_session *session,
                                     struct session_relation *relation) {
  if (relation->query != NULL) return relation->query;
  struct session_own own;
  session_enter_own(session, &own);
  struct base_source *source = BASE_NEW(session->arena, struct base_source);
  *source = (struct base_source){
      .name = base_arena_printf(session->arena, "<definition of %s>", relation->ng.name),
      .text = relation->definition,
      .length = strlen(relation->definition)};
  relation->query = bind_definition(session, relation, source);
  session->strings_unpinned = true; /* its constants */
  session_leave_own(session, &own);
  if (relation->query != NULL && !gives(relation, relation->query)) {
    relation->query = NULL;
    refuse_definition(session, relation);
  }
  return relation->query;
}

static const struct st_domain diverted_domains[] = {
    {"relation", {NET_STRING, 0}}, {"reason", {NET_STRING, 0}}, {"record", {NET_STRING, 0}}};
static const struct st_domain lost_domains[] = {{"relation", {NET_STRING, 0}},
                                                {"source", {NET_STRING, 0}},
                                                {"cause", {NET_STRING, 0}},
                                                {"count", {NET_INTEGER, 8}}};
static const struct st_domain cost_domains[] = {
    {"Relation", {NET_STRING, 0}}, {"Process", {NET_STRING, 0}}, {"Cost", {NET_INTEGER, 8}}};

/* The system's relations, as they are made. */
static const struct st_relation system_relations[] = {
    {.name = "Late", .kind = ST_EVENT, .domains = diverted_domains, .domain_count = 3},
    {.name = "Rejected", .kind = ST_EVENT, .domains = diverted_domains, .domain_count = 3},
    {.name = "Lost", .kind = ST_PERIOD, .domains = lost_domains, .domain_count = 4},
    {.name = "SensorCost", .kind = ST_EVENT, .domains = cost_domains, .domain_count = 3},
    {.name = "Clock", .kind = ST_EVENT}, /* await.c */
};

static const struct st_relation *system_relation(const char *name) {
  for (size_t i = 0; i < sizeof system_relations / sizeof *system_relations; i++)
    if (strcasecmp(system_relations[i].name, name) == 0) return &system_relations[i];
  return NULL;
}

bool session_is_system_name(const char *name) {
  return system_relation(name) != NULL;
}

bool session_is_as_made(const struct st_relation *relation) {
  const struct st_relation *made = system_relation(relation->name);
  if (made == NULL) return true;
  if (relation->kind != made->kind || relation->domain_count != made->domain_count) return false;
  for (size_t i = 0; i < made->domain_count; i++)
    if (strcasecmp(relation->domains[i].name, made->domains[i].name) != 0 ||
        relation->domains[i].type.base != made->domains[i].type.base)
      return false;
  return true;
}

struct session_relation *session_system_relation(struct tql_session *session, const char *name) {
  struct session_relation *found = session_find(session, name);
  if (found != NULL) return found;
  const struct session_unusable *unusable = session_find_unusable(session, name);
  if (unusable != NULL) {
    base_report(session->diags, MSG_RELATION_UNUSABLE, NULL, NULL, "%s is unusable: %s",
                unusable->name, unusable->why);
    return NULL;
  }
  struct st_relation relation = *system_relation(name);
  relation.checkpoint = NET_FOREVER;
  if (!session->options.explain_only && st_create(session->database, &relation) != BASE_OK)
    return NULL;
  found = session_add_relation(session, &relation);
  found->scripted = session->options.explain_only;
  return found;
}
