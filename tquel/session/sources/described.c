/* Announced relations: what programs say of their sensors becomes relations of the catalogue.
 *
 *      description ──▶ events ──▶ relation is missing: created, for the events of this task force
 *                                 relation is there, for another task force: another name (taskforces.c)
 *                                 relation is there, and goes with the event: used
 *                                 relation is there, and does not: the description is refused
 *
 * A later description of the same relation goes with it if every domain of the relation is still there, with
 * values that fit: the rules of `tquel sdf --diff`. Its further domains are left out. The relation may be
 * one that a user has created. Which of its domains switch the sensor is taken from the first description.
 *
 * A relation that was announced begins empty and open. Nothing is stored in it as long as nobody asks
 * (control/control.c); `create persistent` asks for everything. */
#include "sensors/sdf/format.h"
#include "sensors/sdf/output.h"
#include "sensors/sdf/remote.h"
#include "tquel/session/control/control.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/sources/sources.h"

/* Where HOLDER, a domain of EVENT, is in RELATION. */
static int holder_in(const struct session_relation *relation, const struct session_event *event) {
  if (event->holder < 0) return -1;
  return net_layout_find(relation->ng.layout, event->domains[event->holder].name);
}

/* It is for that task force alone. */
static enum base_status create(struct tql_session *session, const char *name, const char *taskforce,
                               const struct session_event *event, struct session_relation **ret) {
  struct st_relation made = {.name = name,
                             .kind = event->kind,
                             .domains = event->domains,
                             .domain_count = event->domain_count,
                             .by = event->by,
                             .checkpoint = NET_BEGINNING};
  enum base_status status = st_create(session->database, &made);
  if (status != BASE_OK) return status;
  *ret = session_add_relation(session, &made);
  (*ret)->sensors.taskforce =
      taskforce != NULL ? base_arena_strdup(session->arena, taskforce) : NULL;
  (*ret)->sensors.event = base_arena_strdup(session->arena, event->name);
  session_note_place(session, taskforce, event->name, name);
  return BASE_OK;
}

static enum base_status announce(struct tql_session *session, struct session_source *state,
                                 const struct session_description *description,
                                 const struct session_event *event) {
  uint64_t digest = description->digest;
  const char *name = session_place_of(session, description->taskforce, event);
  struct session_relation *relation = session_find(session, name);
  enum base_status status = BASE_OK;
  if (relation == NULL) status = create(session, name, description->taskforce, event, &relation);
  if (status != BASE_OK) return status;
  const char *misfit = session_event_misfit(session, relation, event);
  if (misfit == NULL && relation->feed != NULL && !relation->feed->ended)
    misfit = base_arena_printf(session->statement_arena, "%s has a feed", relation->ng.name);
  if (misfit != NULL) {
    base_report_hint(
        session->diags, MSG_DESCRIPTION_REFUSED, NULL, NULL,
        "destroy the relation, or build the program with a description that goes with it",
        "the description %016llx does not go with a relation that is there: %s",
        (unsigned long long)digest, misfit);
    return BASE_USER;
  }
  (void)session_promise_of(state, relation->ng.name);
  int holder = holder_in(relation, event);
  if (relation->sensors.announced &&
      (relation->sensors.holder < 0 || relation->sensors.holder == holder))
    return BASE_OK;
  /* What is announced only now had no sensors; and of two descriptions' objects that ask different receptacles nobody
   * says that they are of one process. Both change what tells entities apart. */
  if (relation->live) session_drop_live(session);
  return session_save_announced(
      session, relation, relation->sensors.announced ? relation->sensors.digest : digest,
      relation->sensors.announced ? -1 : holder, relation->sensors.persistent);
}

static enum base_status announce_all(struct tql_session *session, struct session_source *state,
                                     uint64_t digest, const char *text, size_t length) {
  const struct session_description *description = session_description_of(session, digest);
  if (description == NULL) description = session_read_description(session, digest, text, length);
  if (description == NULL) return BASE_USER;
  enum base_status status = st_description_save(session->database, digest, text, length);
  bool refused = false;
  for (size_t i = 0; i < description->event_count && status == BASE_OK; i++) {
    status = announce(session, state, description, &description->events[i]);
    refused |= status == BASE_USER;
    if (status == BASE_USER) status = BASE_OK;
  }
  return status == BASE_OK && refused ? BASE_USER : status;
}

enum base_status tql_source_description(struct tql_source *source, uint64_t digest,
                                        const char *text, size_t length) {
  struct tql_session *session = source->session;
  if (source->state == NULL) return BASE_AGAIN;
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK && (digest == 0 || digest != sn_remote_digest(text, length))) {
    base_report(session->diags, MSG_DESCRIPTION_REFUSED, NULL, NULL,
                "the description %016llx cannot be read: its digest is another one",
                (unsigned long long)digest);
    status = BASE_USER;
  }
  source->state->announces = true;
  if (status == BASE_OK) status = announce_all(session, source->state, digest, text, length);
  session->asks_changed = true;
  return session_leave_source(session, status);
}
