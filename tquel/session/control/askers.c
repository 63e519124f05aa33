/* Who asks for the records of an announced relation: whose sensors, and for which objects.
 *
 *      standing query ──plan──▶ watches, kept as long as the live network ──┐
 *      display, save, create persistent ──▶ all of it ──────────────────────┴──▶ \ds, \d
 *
 * A query asks for what its own network has watched, or that of another one which it reads. Where another
 * relation says what is watched, the access node is asked. As long as there is no live network (a statement has
 * just taken it down), whoever reads the relation is taken for one who asks for all of it. */
#include <string.h>
#include <strings.h>

#include "engine/control.h"
#include "engine/pattern.h"
#include "tquel/session/control/control.h"

/* --- what networks have watched */

void session_note_watch(void *context, const char *owner, const struct ng_relation *relation,
                        const struct net_watch *watch, const struct net_node *access) {
  struct tql_session *session = context;
  struct session_relation *reader = owner != NULL ? session_find(session, owner) : NULL;
  if (reader == NULL) return;
  struct base_arena *arena = net_network_arena(session->live);
  struct session_ask ask = {.relation = base_arena_strdup(arena, relation->name)};
  if (watch != NULL) {
    struct net_watch_object *objects =
        BASE_NEW_ARRAY(arena, watch->object_count + 1, struct net_watch_object);
    for (uint32_t i = 0; i < watch->object_count; i++) {
      objects[i] = watch->objects[i];
      objects[i].domain = base_arena_strdup(arena, watch->objects[i].domain);
    }
    ask.objects = objects;
    ask.object_count = watch->object_count;
  } else {
    ask.access = access;
  }
  base_grow(&reader->network.asks, &reader->network.ask_capacity, reader->network.ask_count + 1,
            sizeof *reader->network.asks);
  reader->network.asks[reader->network.ask_count++] = ask;
}

/* --- of one process, one object */

struct place {
  const struct tql_session *session;
  const char *process, *object;
  bool found;
};

/* What is neither name nor text no receptacle is called by. */
static bool is_of(const struct place *place, const struct net_watch_object *wanted) {
  bool words = wanted->type.base == NET_STRING || wanted->type.base == NET_NAME;
  bool process = strcasecmp(wanted->domain, "Process") == 0;
  const char *text = process ? place->process : place->object;
  size_t length;
  if (!words || *text == '\0') return true;
  const char *value = base_strings_text(place->session->strings, wanted->value.s, &length);
  if (wanted->pattern) return net_pattern_match(value, length, text, strlen(text));
  return length == strlen(text) && memcmp(value, text, length) == 0;
}

static bool all_are_of(const struct place *place, const struct net_watch_object *objects,
                       uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!is_of(place, &objects[i])) return false;
  return true;
}

static void see_watch(void *context, const struct net_watch *watch) {
  struct place *place = context;
  place->found = place->found || all_are_of(place, watch->objects, watch->object_count);
}

static bool is_asked_by(struct place *place, const struct session_ask *ask) {
  if (ask->access == NULL) return all_are_of(place, ask->objects, ask->object_count);
  place->found = false;
  net_access_each_watch(ask->access, see_watch, place);
  return place->found;
}

/* --- who */

/* WORD asks for what ASK says; NULL: for all of it. */
struct asker {
  const char *word;
  const struct session_ask *ask;
};

struct session_askers {
  const struct tql_session *session;
  struct base_arena *arena;
  struct asker *items;
  size_t count, capacity;
};

static void add(struct session_askers *askers, const char *word, const struct session_ask *ask) {
  if (askers->count == askers->capacity) {
    size_t capacity = 2 * askers->capacity + 8;
    struct asker *items = BASE_NEW_ARRAY(askers->arena, capacity, struct asker);
    if (askers->count > 0) memcpy(items, askers->items, askers->count * sizeof *items);
    askers->items = items;
    askers->capacity = capacity;
  }
  askers->items[askers->count++] = (struct asker){word, ask};
}

/* READER, by what its own network has watched, or that of SEEN. */
static void add_asks(struct session_askers *askers, const struct session_relation *reader,
                     const struct session_relation *seen, const char *relation) {
  for (size_t i = 0; i < seen->network.ask_count; i++)
    if (strcasecmp(seen->network.asks[i].relation, relation) == 0)
      add(askers, reader->ng.name, &seen->network.asks[i]);
}

static void add_reader(struct session_askers *askers, struct tql_session *session,
                       const struct session_relation *reader, const char *relation) {
  add_asks(askers, reader, reader, relation);
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *seen = session->relations[i];
    if (seen != reader && seen->network.ask_count > 0 && session_depends(session, reader, seen))
      add_asks(askers, reader, seen, relation);
  }
}

struct session_askers *session_askers_new(struct tql_session *session, struct base_arena *arena,
                                          const struct session_relation *relation) {
  struct session_askers *askers = BASE_NEW(arena, struct session_askers);
  *askers = (struct session_askers){.session = session, .arena = arena};
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *reader = session->relations[i];
    if (!session_stands(session, reader) || !session_depends(session, reader, relation)) continue;
    if (session->live != NULL)
      add_reader(askers, session, reader, relation->ng.name);
    else
      add(askers, reader->ng.name, NULL);
  }
  for (size_t i = 0; i < session->display_count; i++) {
    const struct session_display *display = session->displays[i];
    if (display->seat == NULL || strcasecmp(display->name, relation->ng.name) != 0) continue;
    const char *user = display->seat->user;
    bool named = user != NULL && user[0] != '\0';
    add(askers, named ? base_arena_printf(arena, "display of %s", user) : "display", NULL);
  }
  if (relation->sensors.persistent || relation->keep.expires) add(askers, "kept", NULL);
  return askers;
}

const char *session_askers_of(const struct session_askers *askers, const char *process,
                              const char *object) {
  struct place place = {askers->session, process, object, false};
  const char *last = NULL;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < askers->count; i++) {
    const struct asker *asker = &askers->items[i];
    if (last == asker->word) continue; /* those of one reader stand together */
    if (process != NULL && asker->ask != NULL && !is_asked_by(&place, asker->ask)) continue;
    base_buffer_printf(&text, "%s%s", text.length > 0 ? ", " : "", asker->word);
    last = asker->word;
  }
  const char *copy = base_arena_strdup(askers->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return copy;
}

void session_describe_announced(struct tql_session *session,
                                const struct session_relation *relation, struct base_buffer *out) {
  if (!relation->sensors.announced) return;
  if (relation->sensors.taskforce != NULL &&
      tql_session_is_ambiguous(session, relation->sensors.event))
    base_buffer_printf(out, "task force: %s, its event %s\n", relation->sensors.taskforce,
                       relation->sensors.event);
  struct base_arena *arena = base_arena_new();
  const char *text = session_askers_of(session_askers_new(session, arena, relation), NULL, NULL);
  base_buffer_printf(out, "sensors:    asked for by %s\n", *text != '\0' ? text : "-");
  base_arena_free(arena);
}
