/* What sensors are told: which records somebody asks for, and when to take samples.
 *
 *      standing queries ──▶ access nodes ──┐
 *      displays, save, create persistent ──┴──▶ net_control ──▶ the server's net_sensor
 *
 * Records are asked for by the live network, as its selections leave it (engine/control.h); the display of an
 * announced relation itself, `save R until T` and `create persistent` ask for all of it. One-off questions
 * read what is stored. While the live network is built anew the control is held: a sensor hears of what has
 * changed in the end, at the end of a turn. So nothing is switched that a statement which failed wanted. */
#include "engine/base/env.h"
#include "engine/control.h"
#include "engine/triggers.h"
#include "tquel/session/control/control.h"
#include "tquel/session/session_impl.h"

bool session_wants_all(const struct tql_session *session, const struct session_relation *relation) {
  return relation->sensors.persistent || session_is_displayed(session, relation) ||
         (relation->keep.expires && relation->keep.until > base_env_now());
}

bool session_is_asked_for(struct tql_session *session, const struct session_relation *relation) {
  if (session_wants_all(session, relation)) return true;
  for (size_t i = 0; i < session->relation_count; i++)
    if (session_stands(session, session->relations[i]) &&
        session_depends(session, session->relations[i], relation))
      return true;
  return false;
}

void session_hold_control(struct tql_session *session) {
  session->asks_changed = true;
  if (session->control == NULL || session->control_held) return;
  net_control_hold(session->control);
  session->control_held = true;
}

static void ask_for_all(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    /* What is to be kept is said before a program has announced it, so that the first one begins with it. */
    bool wanted = (relation->sensors.announced || relation->sensors.persistent) &&
                  session_wants_all(session, relation);
    if (wanted && relation->sensors.asked == NULL) {
      struct net_watch watch = {.relation = relation->ng.name};
      relation->sensors.asked = net_control_enable(session->control, &watch);
    } else if (!wanted) {
      session_stop_asking(session, relation);
    }
  }
}

void session_tell_sensors(struct tql_session *session) {
  if (!session->asks_changed && !session->control_held) return;
  session->asks_changed = false;
  session->asks++;
  if (session->control == NULL) return;
  session_hold_control(session);
  ask_for_all(session);
  session->asks_changed = session->control_held = false;
  net_control_release(session->control);
}

void session_tell_triggers(struct tql_session *session) {
  if (session->control == NULL) return;
  net_triggers_tell(net_control_triggers(session->control));
  session->turned_at = base_env_now();
}

/* On the abstract time line nobody knows what is new. */
void session_replay_triggers(struct tql_session *session) {
  if (session->control == NULL) return;
  bool real = session->timeline == NET_TIMELINE_REAL && session->turned_at != 0;
  net_triggers_replay(net_control_triggers(session->control),
                      real ? session->turned_at : NET_FOREVER);
}

void session_triggers_live(struct tql_session *session) {
  if (session->control != NULL) net_triggers_live(net_control_triggers(session->control));
}

struct net_control *session_control_of(void *context, const struct ng_relation *relation) {
  const struct tql_session *session = context;
  (void)relation;
  return session->control;
}

static void mark_watch(void *context, const struct net_watch *watch, size_t holders) {
  (void)holders;
  for (uint32_t i = 0; i < watch->object_count; i++) {
    const struct net_watch_object *object = &watch->objects[i];
    if (net_type_is_interned(object->type.base)) base_strings_mark(context, object->value.s);
  }
}

void session_mark_watches(struct tql_session *session) {
  if (session->control == NULL) return;
  net_control_each(session->control, mark_watch, session->strings);
  net_triggers_mark_strings(net_control_triggers(session->control), session->strings);
}
