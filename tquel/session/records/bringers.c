/* Who brings records: feeds, and sources as far as they are known here, which is from the first connection of one until it is
 * gone for good and that is durable. What they promise, and which of it is saved with a group. */
#include "tquel/session/records/bringers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"
#include "tquel/session/control/control.h"
#include "tquel/session/session_impl.h"

struct session_source *session_find_source(const struct tql_session *session,
                                           const char *identity) {
  for (size_t i = 0; i < session->source_count; i++)
    if (strcmp(session->sources[i]->identity, identity) == 0) return session->sources[i];
  return NULL;
}

struct session_source *session_add_source(struct tql_session *session, const char *identity,
                                          const char *host) {
  struct session_source *state = base_xcalloc(1, sizeof *state);
  state->identity = base_xstrdup(identity);
  state->host = base_xstrdup(host);
  state->checked = NET_BEGINNING;
  state->since = base_env_monotonic();
  base_grow(&session->sources, &session->source_capacity, session->source_count + 1,
            sizeof *session->sources);
  session->sources[session->source_count++] = state;
  return state;
}

void session_forget_processes(struct session_source *state) {
  for (size_t i = 0; i < state->process_count; i++) free(state->processes[i]);
  free(state->processes);
  state->processes = NULL;
  state->process_count = state->process_capacity = 0;
}

static void free_source(struct session_source *state) {
  for (size_t i = 0; i < state->promise_count; i++) free(state->promises[i].relation);
  free(state->promises);
  session_forget_processes(state);
  free(state->identity);
  free(state->host);
  free(state);
}

struct session_promise *session_promise_of(struct session_source *source, const char *relation) {
  for (size_t i = 0; i < source->promise_count; i++)
    if (strcasecmp(source->promises[i].relation, relation) == 0) return &source->promises[i];
  base_grow(&source->promises, &source->promise_capacity, source->promise_count + 1,
            sizeof *source->promises);
  struct session_promise *promise = &source->promises[source->promise_count++];
  *promise = (struct session_promise){.relation = base_xstrdup(relation), .time = NET_BEGINNING};
  return promise;
}

void session_end_taking(struct tql_source *source) {
  if (source->state == NULL) return;
  source->state->taker = NULL;
  source->state->since = base_env_monotonic();
  source->state = NULL;
  source->session->asks_changed = true;
}

static bool promises(const struct session_source *state, const char *relation) {
  for (size_t i = 0; i < state->promise_count; i++)
    if (strcasecmp(state->promises[i].relation, relation) == 0) return true;
  return false;
}

bool session_others_bring(const struct tql_session *session, const struct session_source *but,
                          const char *relation) {
  for (size_t i = 0; i < session->source_count; i++)
    if (session->sources[i] != but && !session->sources[i]->gone &&
        promises(session->sources[i], relation))
      return true;
  return false;
}

bool session_is_taken(const struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->source_count; i++)
    if (session->sources[i]->taker != NULL && promises(session->sources[i], relation->ng.name))
      return true;
  return false;
}

bool session_is_brought(const struct tql_session *session,
                        const struct session_relation *relation) {
  if (relation->sensors.announced && session->control != NULL) return true;
  for (size_t i = 0; i < session->source_count; i++)
    if (!session->sources[i]->gone && promises(session->sources[i], relation->ng.name)) return true;
  return false;
}

bool session_source_counts(const struct tql_session *session, const struct session_source *state,
                           int64_t now) {
  return !state->gone && (state->taker != NULL || now - state->since < session->source_grace);
}

enum base_status session_sources_save(struct tql_session *session) {
  enum base_status status = session_pipes_save(session);
  for (size_t i = 0; i < session->source_count && status == BASE_OK; i++) {
    const struct session_source *state = session->sources[i];
    if (!state->changed) continue;
    struct st_source saved = {.identity = state->identity,
                              .host = state->host,
                              .number = state->number,
                              .gone = state->gone,
                              .seen = base_env_now()};
    status = st_source_save(session->database, &saved);
  }
  return status;
}

/* Who has gone for good is needed no more. */
void session_sources_committed(struct tql_session *session) {
  for (size_t i = 0; i < session->source_count; i++) {
    struct session_source *state = session->sources[i];
    state->durable = state->number;
    state->changed = false;
    if (!state->gone) continue;
    for (size_t k = 0; k < state->promise_count; k++) free(state->promises[k].relation);
    state->promise_count = 0;
    session_forget_processes(state);
  }
}

void session_sources_take_back(struct tql_session *session) {
  for (size_t i = 0; i < session->source_count; i++) {
    struct session_source *state = session->sources[i];
    if (state->taker != NULL) session_end_taking(state->taker);
    state->number = state->durable;
    state->checked = NET_BEGINNING;
    for (size_t k = 0; k < state->promise_count; k++) {
      state->promises[k].time = NET_BEGINNING;
      state->promises[k].given_up = false;
    }
  }
  session_pipes_clear(session);
}

void session_sources_free(struct tql_session *session) {
  for (size_t i = 0; i < session->source_count; i++) {
    struct session_source *state = session->sources[i];
    if (state->taker != NULL) state->taker->state = NULL;
    free_source(state);
  }
  free(session->sources);
  session_pipes_clear(session);
  session_descriptions_free(session);
}

bool session_is_fed(struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->feed_count; i++) {
    const struct session_feed *feed = session->feeds[i];
    if (feed->ended) continue;
    if (feed->relation == relation || session_depends(session, relation, feed->relation))
      return true;
  }
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *base = session->relations[i];
    if ((base == relation || session_depends(session, relation, base)) &&
        !session_is_derived(base) &&
        (session_is_brought(session, base) ||
         (session_is_pace(base) && session->timeline == NET_TIMELINE_REAL)))
      return true;
  }
  return false;
}
