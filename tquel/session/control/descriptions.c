/* What descriptions of sensors say: their events as relations would be, and whether one goes with a relation that is there.
 *
 * A description goes with a relation if every domain of the relation is still in it, with values that fit: the rules of
 * `tquel sdf --diff`. Those that are known are kept as long as the session is there; others are read from the database
 * when somebody asks for them by their digest. */
#include <string.h>
#include <strings.h>

#include "sensors/sdf/format.h"
#include "sensors/sdf/output.h"
#include "sensors/sdf/remote.h"
#include "tquel/session/control/control.h"

/* --- descriptions that are known */

const struct session_description *session_description_of(const struct tql_session *session,
                                                         uint64_t digest) {
  const struct session_description *one = session->descriptions;
  while (one != NULL && one->digest != digest) one = one->next;
  return one;
}

const struct session_event *session_event_of(const struct session_description *description,
                                             const char *name) {
  for (size_t i = 0; i < description->event_count; i++)
    if (strcasecmp(description->events[i].name, name) == 0) return &description->events[i];
  return NULL;
}

void session_descriptions_free(struct tql_session *session) {
  while (session->descriptions != NULL) {
    struct session_description *next = session->descriptions->next;
    base_arena_free(session->descriptions->arena);
    session->descriptions = next;
  }
}

/* --- from events to relations */

static enum st_kind kind_of(enum sn_relation_type relation) {
  switch (relation) {
    case SN_KIND_TRACED:
      return ST_TRACED;
    case SN_KIND_SAMPLED:
      return ST_SAMPLED;
    case SN_KIND_EVENT:
    default:
      return ST_EVENT;
  }
}

static int find_domain(const struct st_domain *domains, size_t count, const char *name) {
  for (size_t i = 0; name != NULL && i < count; i++)
    if (strcasecmp(domains[i].name, name) == 0) return (int)i;
  return -1;
}

static struct session_event event_of(struct base_arena *arena,
                                     const struct sn_event_description *from) {
  const char *implicit[3];
  size_t own = sn_event_implicit(from, implicit), count = own + from->domain_count;
  struct st_domain *domains = BASE_NEW_ARRAY(arena, count + 1, struct st_domain);
  struct net_field *fields = BASE_NEW_ARRAY(arena, count + 1, struct net_field);
  for (size_t i = 0; i < own; i++) domains[i] = (struct st_domain){implicit[i], {NET_NAME, 0}};
  for (size_t i = own; i < count; i++)
    domains[i] = (struct st_domain){from->domains[i - own].name, from->domains[i - own].type};
  for (size_t i = 0; i < count; i++)
    fields[i] = (struct net_field){.name = domains[i].name, .type = domains[i].type};
  const char *holder = from->holder == SN_HOLDER_OBJECT && from->object ? from->object->name
                       : from->holder == SN_HOLDER_INITIATOR            ? "Initiator"
                                                                        : NULL;
  const struct net_layout *layout = net_layout_new(arena, NET_EVENT, fields, (uint32_t)count);
  return (struct session_event){
      .name = from->name,
      .kind = kind_of(from->relation),
      .domains = domains,
      .domain_count = count,
      .by = net_key_named(arena, layout, from->keys, from->key_count),
      .holder = find_domain(domains, count, holder),
      .layout = layout,
  };
}

/* Reads the text of a description; NULL after a diagnostic. */
struct session_description *session_read_description(struct tql_session *session, uint64_t digest,
                                                     const char *text, size_t length) {
  struct base_arena *arena = base_arena_new();
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  struct base_source *source = BASE_NEW(arena, struct base_source);
  *source = (struct base_source){
      .name = "<description>", .text = base_arena_strndup(arena, text, length), .length = length};
  struct sn_description *read =
      sn_description_read_remote(arena, source, sn_format_default(arena), &diags);
  if (read == NULL) {
    base_report(session->diags, MSG_DESCRIPTION_REFUSED, NULL, NULL,
                "the description %016llx cannot be read: %s", (unsigned long long)digest,
                diags.count > 0 ? diags.items[0].message : "it is empty");
    base_diag_sink_done(&diags);
    base_arena_free(arena);
    return NULL;
  }
  base_diag_sink_done(&diags);
  struct session_event *events = BASE_NEW_ARRAY(arena, read->event_count + 1, struct session_event);
  for (size_t i = 0; i < read->event_count; i++) events[i] = event_of(arena, &read->events[i]);
  struct session_description *made = BASE_NEW(arena, struct session_description);
  *made = (struct session_description){.digest = digest,
                                       .taskforce = base_arena_strdup(arena, read->name),
                                       .arena = arena,
                                       .events = events,
                                       .event_count = read->event_count,
                                       .next = session->descriptions};
  session->descriptions = made;
  return made;
}

/* --- do they go together? */

static const char *kind_text(enum ng_relation_kind kind) {
  switch (kind) {
    case NG_REL_SNAPSHOT:
      return "a snapshot";
    case NG_REL_EVENT:
      return "an event relation";
    case NG_REL_PERIOD:
      return "a period relation";
    case NG_REL_TRACED:
      return "a traced relation";
    case NG_REL_SAMPLED:
      return "a sampled relation";
    case NG_REL_DERIVED:
    case NG_REL_CLOCK:
    default:
      return "a derived relation";
  }
}

static const char *type_text(struct base_arena *arena, struct net_type type) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  net_type_print(&text, type);
  const char *copy = base_arena_strdup(arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return copy;
}

static const char *key_text(struct base_arena *arena, const struct net_layout *layout,
                            const struct net_key *key) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  net_key_print(&text, layout, key);
  const char *copy = base_arena_strdup(arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return copy;
}

const char *session_misfit(struct tql_session *session, const struct session_relation *relation,
                           const struct net_layout *layout, enum ng_relation_kind kind,
                           const struct net_key *by) {
  struct base_arena *arena = session->statement_arena;
  const struct ng_relation *there = &relation->ng;
  if (there->kind != kind)
    return base_arena_printf(arena, "%s is %s here, and %s there", there->name,
                             kind_text(there->kind), kind_text(kind));
  const struct net_layout *to = session_write_layout(relation);
  for (uint32_t f = 0; f < to->field_count; f++) {
    const struct net_field *field = &to->fields[f];
    int from = net_layout_find(layout, field->name);
    if (from < 0)
      return base_arena_printf(arena, "%s has the domain %s here, and not there", there->name,
                               field->name);
    struct net_type type = layout->fields[from].type;
    if (!sn_type_fits(type, field->type))
      return base_arena_printf(arena, "the domain %s of %s is of type %s here, and %s there",
                               field->name, there->name, type_text(arena, field->type),
                               type_text(arena, type));
  }
  if (net_key_same(to, &there->by, layout, by)) return NULL;
  return base_arena_printf(arena, "%s is by %s here, and by %s there", there->name,
                           key_text(arena, to, &there->by), key_text(arena, layout, by));
}

const char *session_event_misfit(struct tql_session *session,
                                 const struct session_relation *relation,
                                 const struct session_event *event) {
  if (session_is_derived(relation))
    return base_arena_printf(session->statement_arena, "%s is a %s here", relation->ng.name,
                             relation->view ? "view" : "derived relation");
  return session_misfit(session, relation, event->layout, session_kind_of(event->kind), &event->by);
}

const struct session_description *session_known_description(struct tql_session *session,
                                                            uint64_t digest) {
  const struct session_description *known = session_description_of(session, digest);
  const char *text = NULL;
  if (known != NULL || digest == 0) return known;
  enum base_status status =
      st_description(session->database, session->statement_arena, digest, &text);
  return status == BASE_OK && text != NULL
             ? session_read_description(session, digest, text, strlen(text))
             : NULL;
}
