/* Relations that nobody can use, because something other than tquel has changed the database.
 *
 *      storage says so ──────────────┐
 *      an input is unusable ─────────┼──▶ unusable: named, described, destroyed, and that is all
 *      the definition does not bind ─┘
 *
 * They are no relations of the session: nothing that goes through those meets them, so all others work. Whoever
 * names one is told why (TQ-0636). What is wrong with definitions is found out when the database is opened, by
 * binding them all; a session remembers it by the text, so that a reload of the catalogue need not do it again.
 * What is changed while the session is there is found when it is used. */
#include <string.h>
#include <strings.h>

#include "engine/base/printable.h"
#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/session_impl.h"

static struct session_unusable *add(struct tql_session *session, const char *name,
                                    const char *definition, const char *const *inputs,
                                    size_t input_count, const char *why) {
  struct base_arena *arena = session->arena;
  base_grow(&session->unusable, &session->unusable_capacity, session->unusable_count + 1,
            sizeof *session->unusable);
  const char **copies = BASE_NEW_ARRAY(arena, input_count + 1, const char *);
  for (size_t i = 0; i < input_count; i++) copies[i] = base_arena_strdup(arena, inputs[i]);
  struct session_unusable *added = &session->unusable[session->unusable_count++];
  *added = (struct session_unusable){
      .name = base_arena_strdup(arena, name),
      .why = base_arena_strdup(arena, why),
      .definition = definition ? base_arena_strdup(arena, definition) : NULL,
      .inputs = copies,
      .input_count = input_count,
  };
  return added;
}

static const char *unusable_input(struct tql_session *session, const char *const *inputs,
                                  size_t count) {
  for (size_t i = 0; i < count; i++) {
    const struct session_unusable *input = session_find_unusable(session, inputs[i]);
    if (input != NULL)
      return base_arena_printf(session->arena, "it is computed from %s, which is unusable",
                               input->name);
  }
  return NULL;
}

bool session_add_unusable(struct tql_session *session, const struct st_relation *relation,
                          const struct session_unusable *known, size_t known_count) {
  const char *why = relation->unusable;
  bool by_definition = false;
  for (size_t i = 0; why == NULL && i < relation->domain_count; i++)
    if (relation->domains[i].type.base == NET_TEMPORAL && relation->definition == NULL)
      why = base_arena_printf(session->arena, "its domain %s is temporal, and it is not derived",
                              relation->domains[i].name);
  if (why == NULL && !session_is_as_made(relation)) why = "it is not as tquel makes it";
  if (why == NULL) why = unusable_input(session, relation->inputs, relation->input_count);
  for (size_t i = 0; i < known_count && why == NULL && relation->definition != NULL; i++) {
    by_definition = known[i].by_definition && strcasecmp(known[i].name, relation->name) == 0 &&
                    strcmp(known[i].definition, relation->definition) == 0;
    if (by_definition) why = known[i].why;
  }
  if (why == NULL) return false;
  add(session, relation->name, relation->definition, relation->inputs, relation->input_count, why)
      ->by_definition = by_definition;
  return true;
}

void session_remove_unusable(struct tql_session *session, const char *name) {
  for (size_t i = 0; i < session->unusable_count; i++) {
    if (strcasecmp(session->unusable[i].name, name) != 0) continue;
    memmove(session->unusable + i, session->unusable + i + 1,
            (session->unusable_count - i - 1) * sizeof *session->unusable);
    session->unusable_count--;
    return;
  }
}

/* --- definitions */

/* Why the definition of RELATION does not bind; NULL: it does. */
static const char *definition_fault(struct tql_session *session,
                                    struct session_relation *relation) {
  struct base_diag_sink diags, *own = session->diags;
  const char *why = NULL;
  base_diag_sink_init(&diags);
  session->diags = &diags;
  bool bound = session_query(session, relation) != NULL;
  session->diags = own;
  for (size_t i = 0; i < diags.count && !bound && why == NULL; i++)
    if (diags.items[i].severity == BASE_ERROR)
      why = diags.items[i].number == MSG_DATABASE_DAMAGED
                ? "its definition does not give its tuples"
                : base_arena_printf(session->arena, "its definition is refused: %s",
                                    diags.items[i].message);
  if (!bound && why == NULL) why = "its definition is refused";
  base_diag_sink_done(&diags);
  return why;
}

void session_check_definitions(struct tql_session *session) {
  session->binds_only = true;
  for (size_t i = 0; i < session->relation_count;) {
    struct session_relation *relation = session->relations[i];
    const char *why = NULL, *input = NULL;
    if (session_is_derived(relation)) {
      input = unusable_input(session, relation->derived.inputs, relation->derived.input_count);
      why = input != NULL ? input : definition_fault(session, relation);
    }
    if (why == NULL) {
      i++;
      continue;
    }
    add(session, relation->ng.name, relation->derived.definition, relation->derived.inputs,
        relation->derived.input_count, why)
        ->by_definition = input == NULL;
    session_remove_relation(session, relation);
  }
  session->binds_only = false;
}

void session_report_unusable(struct tql_session *session) {
  for (size_t i = 0; i < session->unusable_count; i++)
    base_report_hint(session->diags, MSG_FOUND_UNUSABLE, NULL, NULL,
                     "tquel check-database says what else is wrong; destroy it, or mend it",
                     "%s is unusable: %s", session->unusable[i].name, session->unusable[i].why);
}

/* --- for who asks */

void session_describe_unusable(const struct session_unusable *unusable, bool why,
                               struct base_buffer *out) {
  base_buffer_puts(out, "unusable       ");
  base_buffer_printable(out, unusable->name, strlen(unusable->name));
  if (why) base_buffer_puts(out, ": ");
  if (why) base_buffer_printable(out, unusable->why, strlen(unusable->why));
  base_buffer_putc(out, '\n');
}

/* TEXT (NULL: nothing), a list of names, and those of them that are computed from RELATION. */
static const char *unusable_users(const struct tql_session *session, struct base_arena *arena,
                                  const struct session_relation *relation, const char *text) {
  for (size_t i = 0; i < session->unusable_count; i++) {
    const struct session_unusable *user = &session->unusable[i];
    bool uses = false;
    for (size_t k = 0; k < user->input_count; k++)
      uses |= strcasecmp(user->inputs[k], relation->ng.name) == 0;
    if (uses) text = text ? base_arena_printf(arena, "%s, %s", text, user->name) : user->name;
  }
  return text;
}

const char *session_dependants(struct tql_session *session, struct base_arena *arena,
                               const struct session_relation *relation) {
  const char *text = NULL;
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *other = session->relations[i];
    if (relation->scripted && !other->scripted) continue; /* it may come later in the script */
    if (!session_depends(session, other, relation)) continue;
    text = text ? base_arena_printf(arena, "%s, %s", text, other->ng.name) : other->ng.name;
  }
  return unusable_users(session, arena, relation, text);
}
