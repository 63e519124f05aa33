/* The catalogue in memory is made anew, as the database has it: when a session begins, after a rollback, and when another
 * connection has changed it.
 *
 *      what the database says ──▶ relations ──▶ what sensors announce
 *                                    ▲
 *      feeds, variables, what is asked for: they find their relations again by name */
#include <stdlib.h>

#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/control/control.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/session_impl.h"

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
  if (now != NULL)
    now->sensors.sampled_in_overload =
        old->sensors.sampled_in_overload; /* as collectors were told */
  if (now == NULL || !(now->sensors.announced || now->sensors.persistent)) {
    session_stop_asking(session, old);
  } else {
    now->sensors.asked = old->sensors.asked;
    old->sensors.asked = NULL;
  }
  if (now == NULL || !old->live || session_is_derived(now) || !session_is_brought(session, now))
    return;
  now->live =
      now->checkpoint != NET_FOREVER; /* that it was opened again may have been taken back */
  now->waiting.latest = old->waiting.latest;
  now->waiting.boundary = old->waiting.boundary;
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
    now->waiting.latest = feed->relation->waiting.latest;
    now->waiting.boundary = feed->relation->waiting.boundary;
    feed->relation = now;
  }
  if (status == BASE_OK) status = session_load_announced(session);
  for (size_t i = 0; i < old_count; i++) {
    hand_over(session, old[i]);
    session_relation_done(old[i]);
  }
  free(old);
  return status;
}
