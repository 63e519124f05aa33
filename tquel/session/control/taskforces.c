/* Task forces are name spaces: of two whose programs have an event of one name, each has a relation of its own.
 *
 *      EVENT                 the first one's; its short name
 *      TASKFORCE_EVENT       everybody else's, _2 and so on behind it where that is something else
 *
 * Which event of which task force a relation is for is in the catalogue (tq_announced), so a relation keeps its name
 * whoever comes first the next time. A relation that a user has created before any program announced it is for
 * every task force whose events go with it; so are those of databases that knew nothing of task forces.
 *
 * Collectors and programs know nothing of these names: a collector is told TASKFORCE.EVENT of what belongs to one
 * task force, else EVENT, and what it says of a process is of that process's task force. */
#include <strings.h>

#include "tquel/session/control/control.h"

static bool is_of(const struct session_relation *relation, const char *taskforce,
                  const char *event) {
  return relation->sensors.announced && relation->sensors.taskforce != NULL &&
         strcasecmp(relation->sensors.taskforce, taskforce) == 0 &&
         strcasecmp(relation->sensors.event, event) == 0;
}

static struct session_relation *own_relation(const struct tql_session *session,
                                             const char *taskforce, const char *event) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (is_of(session->relations[i], taskforce, event)) return session->relations[i];
  return NULL;
}

/* Was RELATION, which any task force may use, announced by another one than TASKFORCE? */
static bool is_of_others(struct tql_session *session, const struct session_relation *relation,
                         const char *taskforce) {
  const struct session_description *by =
      session_known_description(session, relation->sensors.digest);
  return by != NULL && strcasecmp(by->taskforce, taskforce) != 0;
}

/* May TASKFORCE have RELATION for EVENT? What does not go with it is another matter, but where others have it. */
static bool is_for(struct tql_session *session, const struct session_relation *relation,
                   const char *taskforce, const struct session_event *event) {
  if (!relation->sensors.announced) return true;
  if (relation->sensors.taskforce != NULL) return is_of(relation, taskforce, event->name);
  return session_event_misfit(session, relation, event) == NULL ||
         !is_of_others(session, relation, taskforce);
}

/* The NUMBERth name to try. What the system keeps for itself (tq_, sqlite_, _readable) is none. */
static const char *long_name(struct tql_session *session, const char *taskforce, const char *event,
                             unsigned number) {
  static const char readable[] = "_readable";
  bool taken = strncasecmp(taskforce, "tq", 3) == 0 || strncasecmp(taskforce, "tq_", 3) == 0 ||
               strncasecmp(taskforce, "sqlite", 7) == 0 ||
               strncasecmp(taskforce, "sqlite_", 7) == 0;
  bool behind = number == 1 && strcasecmp(event, readable + 1) == 0;
  const char *before = taken ? "of_" : "";
  if (number == 1 && !behind)
    return base_arena_printf(session->statement_arena, "%s%s_%s", before, taskforce, event);
  return base_arena_printf(session->statement_arena, "%s%s_%s_%u", before, taskforce, event,
                           number);
}

const char *session_place_of(struct tql_session *session, const char *taskforce,
                             const struct session_event *event) {
  const struct session_relation *there = own_relation(session, taskforce, event->name);
  if (there != NULL) return there->ng.name;
  there = session_find(session, event->name);
  if (there == NULL || is_for(session, there, taskforce, event)) return event->name;
  const char *name;
  unsigned number = 1;
  do {
    name = long_name(session, taskforce, event->name, number++);
    there = session_find(session, name);
  } while (there != NULL && !is_for(session, there, taskforce, event));
  return name;
}

void session_note_place(struct tql_session *session, const char *taskforce, const char *event,
                        const char *name) {
  if (strcasecmp(event, name) == 0) return;
  const struct session_relation *other = session_find(session, event);
  const char *whose =
      other != NULL && other->sensors.taskforce != NULL ? other->sensors.taskforce : NULL;
  base_report(session->diags, MSG_NAME_OF_TASK_FORCE, NULL, NULL,
              "%s is %s%s here; what the task force %s calls so is the relation %s", event,
              whose != NULL ? "of the task force " : "of another task force",
              whose != NULL ? whose : "", taskforce, name);
}

/* --- for servers */

const char *tql_session_relation_of(const struct tql_session *session, const char *taskforce,
                                    const char *event) {
  const struct session_relation *own = own_relation(session, taskforce, event);
  return own != NULL ? own->ng.name : event;
}

bool tql_session_is_ambiguous(const struct tql_session *session, const char *event) {
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    if (relation->sensors.taskforce != NULL && strcasecmp(relation->sensors.event, event) == 0 &&
        strcasecmp(relation->ng.name, event) != 0)
      return true;
  }
  return false;
}

void tql_session_put_sensor_name(struct tql_session *session, const char *name,
                                 struct base_buffer *out) {
  const struct session_relation *relation = session_find(session, name);
  if (relation != NULL && relation->sensors.announced && relation->sensors.taskforce != NULL)
    base_buffer_printf(out, "%s.%s", relation->sensors.taskforce, relation->sensors.event);
  else
    base_buffer_puts(out, name);
}
