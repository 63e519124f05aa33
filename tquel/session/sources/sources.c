/* Sources: collectors and feeders, whose records are handed over by whoever has a connection to them.
 *
 * A source promises, relation by relation, that nothing before a time will follow. The checkpoint of a
 * relation is the least promise of the sources that are there, or have gone less than `set source grace` ago
 * and may come again; those that an earlier server knew count as just gone. A record is late if it lies
 * before the relation's checkpoint or before what its own source has promised. A collector that has not had a relation
 * may find a program that has: as long as it goes on promising, which it does of whatever it is asked for, it is waited for, too.
 *
 * Records of an announced relation that wait, and that nobody who may come again can put a record before, are
 * final: the program has ended, or whoever brought them. Their relations are live until that is so, in a
 * later process as well.
 *
 * Rows, numbers of messages, positions of pipes and totals of losses are committed together (group.c), so
 * that what was acknowledged is there once. Connections break: what a source had brought by then is
 * committed before it can come again.                                                               */
#include "tquel/session/sources/sources.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/control/control.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"

#define FORGET_NS   (30 * 24 * 3600 * INT64_C(1000000000)) /* who was not heard of for so long */
#define NEWCOMER_NS (2 * INT64_C(1000000000)) /* so long is waited for what may begin to bring */

/* --- incarnations */

/* What an earlier process had not made final. */
static enum base_status wake_pending(struct tql_session *session) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *relation = session->relations[i];
    bool any = false;
    if (!relation->sensors.announced || relation->live) continue;
    status = st_pending_any(session->database, relation->ng.name, &any);
    if (status == BASE_OK && any) status = session_wake(session, relation);
  }
  return status;
}

/* Those that an earlier process knew, once: checkpoints wait for them for a while. */
static enum base_status load_sources(struct tql_session *session) {
  if (session->sources_loaded || session->options.readonly) return BASE_OK;
  struct base_arena *arena = base_arena_new();
  struct st_source *saved = NULL;
  size_t count = 0;
  enum base_status status = session_begin_group(session);
  if (status == BASE_OK) status = st_sources_forget(session->database, base_env_now() - FORGET_NS);
  if (status == BASE_OK) status = st_sources(session->database, arena, &saved, &count);
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    struct session_source *state = session_add_source(session, saved[i].identity, saved[i].host);
    state->number = state->durable = saved[i].number;
    state->gone = saved[i].gone;
    state->holds_all = !saved[i].gone;
  }
  if (status == BASE_OK) status = wake_pending(session);
  session->sources_loaded = status == BASE_OK;
  base_arena_free(arena);
  return status;
}

/* --- what is done for a source: outside statements, in the group */

enum base_status session_enter_source(struct tql_session *session) {
  BASE_CHECK(session->statement_arena == NULL, "source-within-statement");
  session->statement_arena = base_arena_new();
  session->source = NULL;
  if (session->strings_unpinned) base_strings_pin_all(session->strings);
  session->strings_unpinned = false;
  return session_begin_group(session);
}

/* A user's mistake leaves the group as it is; after anything else it is taken back. */
enum base_status session_leave_source(struct tql_session *session, enum base_status status) {
  base_arena_free(session->statement_arena);
  session->statement_arena = NULL;
  if (status != BASE_OK && status != BASE_USER) session_take_back(session);
  return status;
}

bool tql_source_is_over(const struct tql_source *source) {
  return source->state == NULL;
}

/* Those that were at the place of STATE before will not come again. */
static void end_predecessors(struct tql_session *session, const struct session_source *state) {
  const char *end = strrchr(state->identity, '/');
  if (end == NULL) return;
  size_t length = (size_t)(end - state->identity) + 1;
  for (size_t i = 0; i < session->source_count; i++) {
    struct session_source *other = session->sources[i];
    if (other == state || other->gone || strncmp(other->identity, state->identity, length) != 0 ||
        strchr(other->identity + length, '/') != NULL)
      continue;
    if (other->taker != NULL) session_end_taking(other->taker);
    other->gone = other->changed = true;
  }
}

/* It holds checkpoints back again; it says anew which processes are there. */
static void take_back_in(struct session_source *state) {
  for (size_t i = 0; i < state->promise_count; i++) state->promises[i].given_up = false;
  session_forget_processes(state);
}

enum base_status tql_source_open(struct tql_session *session, const char *identity,
                                 const char *host, struct tql_source **ret) {
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK) status = load_sources(session);
  struct session_source *state = status == BASE_OK ? session_find_source(session, identity) : NULL;
  if (state != NULL && state->taker != NULL) session_end_taking(state->taker);
  status = session_leave_source(session, status);
  /* What an earlier connection brought is not brought again: that is to be certain. */
  if (status == BASE_OK) status = session_commit_group(session);
  if (status != BASE_OK) return status;
  state = session_find_source(session,
                              identity); /* committed: one that had gone for good is forgotten */
  if (state == NULL) state = session_add_source(session, identity, host);
  state->gone = state->holds_all = false;
  state->heard = base_env_monotonic();
  take_back_in(state);
  state->changed = true;
  end_predecessors(session, state);
  struct tql_source *source = base_xcalloc(1, sizeof *source);
  source->session = session;
  source->state = state;
  state->taker = source;
  *ret = source;
  return BASE_OK;
}

void tql_source_of_other(struct tql_source *source) {
  if (source->state != NULL) source->state->others = true;
}

void tql_source_process(struct tql_source *source, const char *process, bool there) {
  struct session_source *state = source->state;
  if (state == NULL) return;
  size_t i = 0;
  while (i < state->process_count && strcmp(state->processes[i], process) != 0) i++;
  if (there && i == state->process_count) {
    base_grow(&state->processes, &state->process_capacity, i + 1, sizeof *state->processes);
    state->processes[state->process_count++] = base_xstrdup(process);
  } else if (!there && i < state->process_count) {
    free(state->processes[i]);
    state->processes[i] = state->processes[--state->process_count];
  }
}

/* The end of a feed's input makes what it brought final, if nobody else brings records of it. */
static enum base_status finish_relation(struct tql_session *session,
                                        const struct session_source *state, const char *name) {
  struct session_relation *relation = session_find(session, name);
  if (relation == NULL || relation->sensors.announced ||
      session_others_bring(session, state, name) || relation->waiting.latest == NET_BEGINNING)
    return BASE_OK;
  enum base_status status = session_make_live(session, relation);
  if (status != BASE_OK) return status;
  relation->waiting.boundary = relation->waiting.latest;
  return session_advance(session, relation, net_chronon_add(relation->waiting.latest, 1));
}

static void free_streams(struct tql_source *source) {
  for (size_t i = 0; i < source->stream_count; i++) {
    struct tql_stream *stream = source->streams[i];
    free(stream->relation_name);
    free(stream->from);
    free(stream);
  }
  free(source->streams);
}

enum base_status tql_source_close(struct tql_source *source, bool for_good) {
  struct tql_session *session = source->session;
  struct session_source *state = source->state;
  enum base_status status = BASE_OK;
  session_end_taking(source);
  if (state != NULL) {
    status = session_enter_source(session);
    state->gone = for_good;
    state->changed = true;
    for (size_t i = 0; i < state->promise_count && for_good && status == BASE_OK; i++)
      status = finish_relation(session, state, state->promises[i].relation);
    status = session_leave_source(session, status);
    if (status == BASE_OK) status = session_commit_group(session);
  }
  free_streams(source);
  free(source);
  return status;
}

/* --- streams */

/* Finds the relation and how its fields come from the stream's, as the catalogue is now. */
void session_stream_resolve(struct tql_stream *stream) {
  struct tql_session *session = stream->source->session;
  if (stream->catalogue == session->catalogue_changes) return;
  stream->catalogue = session->catalogue_changes;
  stream->relation = session_find(session, stream->relation_name);
  free(stream->from);
  stream->from = NULL;
  stream->fault = "there is no such relation any more";
  if (stream->relation == NULL) return;
  stream->fault =
      session_misfit(session, stream->relation, stream->layout, stream->kind, &stream->by);
  if (stream->fault != NULL) {
    stream->fault = base_arena_strdup(session->arena, stream->fault);
    return;
  }
  const struct net_layout *to = session_write_layout(stream->relation);
  int *from = base_xcalloc(to->field_count + 1, sizeof *from);
  bool same = to->field_count == stream->layout->field_count;
  for (uint32_t f = 0; f < to->field_count; f++) {
    from[f] = net_layout_find(stream->layout, to->fields[f].name);
    same =
        same && from[f] == (int)f && to->fields[f].type.base == stream->layout->fields[f].type.base;
  }
  if (same)
    free(from);
  else
    stream->from = from;
}

static enum base_status refuse_relation(struct tql_session *session, const char *name,
                                        const struct session_relation *relation) {
  if (relation == NULL)
    base_report(session->diags, MSG_UNKNOWN_RELATION, NULL, NULL, "there is no relation %s", name);
  else if (session_is_derived(relation))
    base_report(session->diags, MSG_DERIVED_WRITE, NULL, NULL, "%s is a %s", relation->ng.name,
                relation->view ? "view" : "derived relation");
  else
    base_report(session->diags, MSG_FEED_TWICE, NULL, NULL, "%s has a feed already",
                relation->ng.name);
  return BASE_USER;
}

/* Of a feed, the relation is live from now on, as with one that is read from a file. */
static enum base_status begin_feed(struct tql_session *session, struct session_relation *relation) {
  struct st_feed feed = {.relation = relation->ng.name, .source = "tquel feed"};
  enum base_status status = session_check_bounds_of_dependants(session, relation);
  if (status == BASE_OK) status = st_feed_save(session->database, &feed);
  return status == BASE_OK ? session_wake(session, relation) : status;
}

enum base_status tql_source_relation(struct tql_source *source, const char *name, uint64_t digest,
                                     struct tql_stream **ret) {
  struct tql_session *session = source->session;
  if (source->state == NULL) return BASE_AGAIN;
  enum base_status status = session_enter_source(session);
  struct session_relation *relation = session_find(session, name);
  const struct session_description *description = session_description_of(session, digest);
  const struct session_event *event =
      description != NULL ? session_event_of(description, name) : NULL;
  if (status == BASE_OK && digest != 0 && event == NULL) {
    base_report(session->diags, MSG_NOT_DESCRIBED, NULL, NULL,
                "no description %016llx of %s has been announced", (unsigned long long)digest,
                name);
    status = BASE_USER;
  }
  if (status == BASE_OK && digest == 0 &&
      (relation == NULL || session_is_derived(relation) ||
       (relation->feed != NULL && !relation->feed->ended)))
    status = refuse_relation(session, name, relation);
  if (status == BASE_OK && digest == 0 && !relation->sensors.announced)
    status = begin_feed(session, relation);
  char *place = NULL;
  if (status == BASE_OK)
    place = base_xstrdup(digest == 0 ? relation->ng.name
                                     : session_place_of(session, description->taskforce, event));
  status = session_leave_source(session, status);
  if (status != BASE_OK) {
    free(place);
    return status;
  }
  struct tql_stream *stream = base_xcalloc(1, sizeof *stream);
  stream->source = source;
  stream->relation_name = place;
  stream->digest = digest;
  stream->layout = digest == 0 ? session_write_layout(relation) : event->layout;
  stream->kind = digest == 0 ? relation->ng.kind : session_kind_of(event->kind);
  stream->by = digest == 0 ? relation->ng.by : event->by;
  (void)session_promise_of(source->state, stream->relation_name);
  base_grow(&source->streams, &source->stream_capacity, source->stream_count + 1,
            sizeof *source->streams);
  source->streams[source->stream_count++] = stream;
  session->asks_changed = true;
  *ret = stream;
  return BASE_OK;
}

const struct net_layout *tql_stream_layout(const struct tql_stream *stream) {
  return stream->layout;
}
const char *tql_stream_relation(const struct tql_stream *stream) {
  return stream->relation_name;
}
enum ng_relation_kind tql_stream_kind(const struct tql_stream *stream) {
  return stream->kind;
}
const struct net_key *tql_stream_by(const struct tql_stream *stream) {
  return &stream->by;
}

/* --- checkpoints */

static void raise_promise(net_chronon *promise, net_chronon time) {
  if (time > *promise) *promise = time;
}

/* A collector tells times as our clock does, so it is wrong about this one. As much of it as could be believed would
 * make late what it brings next. */
static void doubt_promise(struct tql_session *session, struct session_source *state,
                          net_chronon time) {
  if (state->doubted) return;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  state->doubted = true;
  net_time_print(&text, session->timeline, time);
  base_report(session->diags, MSG_PROMISE_DOUBTED, NULL, NULL,
              "%s promises that nothing before %s will follow, which nobody can know", state->host,
              base_buffer_text(&text));
  base_buffer_done(&text);
}

enum base_status tql_source_check(struct tql_source *source, struct tql_stream *stream,
                                  net_chronon time) {
  struct session_source *state = source->state;
  if (state == NULL) return BASE_AGAIN;
  net_chronon future = session_future_limit(source->session);
  if (time > future && time != NET_FOREVER) {
    if (state->announces) doubt_promise(source->session, state, time);
    if (state->announces) return BASE_OK;
    time = future;
  }
  if (stream != NULL) {
    raise_promise(&session_promise_of(state, stream->relation_name)->time, time);
    return BASE_OK;
  }
  raise_promise(&state->checked, time);
  state->heard = base_env_monotonic();
  for (size_t i = 0; i < state->promise_count; i++) raise_promise(&state->promises[i].time, time);
  return BASE_OK;
}

/* Behind all that waits. */
static net_chronon behind_pending(const struct session_relation *relation) {
  const struct net_inbox_port *port = &relation->waiting.pending.ports[0];
  net_chronon last = NET_BEGINNING;
  const union net_slot *row;
  uint8_t marks;
  for (size_t i = 0; (row = net_inbox_waiting(port, i, &marks)); i++)
    if (row[1].i > last) last = row[1].i;
  return last == NET_BEGINNING ? last : net_chronon_add(last, 1);
}

/* STATE may bring RELATION at any time, which it has not done. Who is asked promises all the time, also of what it does not
 * have, so that the first record of a program that it finds is not late; one that is silent is not waited for. */
static bool may_begin(const struct session_source *state, const struct session_relation *relation,
                      int64_t now) {
  int64_t since = state->heard;
  if (relation->sensors.asked_since > since) since = relation->sensors.asked_since;
  return relation->sensors.announced && now - since < NEWCOMER_NS;
}

/* The least of what those promise who bring RELATION, or may begin to. If it is announced and nobody brings it: how far what
 * waits is final, as far as the others cannot bring it. A source of which nothing is known yet may.  */
static net_chronon promised(const struct tql_session *session,
                            const struct session_relation *relation, int64_t now) {
  net_chronon least = NET_FOREVER, others = NET_FOREVER, beginning = NET_FOREVER;
  bool any = false;
  for (size_t i = 0; i < session->source_count; i++) {
    const struct session_source *state = session->sources[i];
    if (!session_source_counts(session, state, now)) continue;
    if (state->holds_all && relation->sensors.announced) return NET_BEGINNING;
    bool may_announce = state->announces || (state->promise_count == 0 && !state->others);
    if (may_announce && state->checked < others) others = state->checked;
    bool brings = false;
    for (size_t k = 0; k < state->promise_count; k++) {
      const struct session_promise *promise = &state->promises[k];
      if (promise->found != relation) continue;
      any = brings = true;
      if (promise->time < least) least = promise->time;
    }
    bool begins = may_announce && !brings && may_begin(state, relation, now);
    if (begins && state->checked < beginning) beginning = state->checked;
  }
  if (any) return least < beginning ? least : beginning;
  if (!relation->sensors.announced || others <= relation->checkpoint) return NET_BEGINNING;
  net_chronon behind = behind_pending(relation);
  return others < behind ? others : behind;
}

/* RELATION goes on without those that have been away for longer than the grace: how their processes stand from
 * here on nobody knows. As long as nobody else brings records, it stands still, and waits for them. */
static enum base_status give_up(struct tql_session *session, struct session_relation *relation,
                                int64_t now) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->source_count; i++) {
    const struct session_source *state = session->sources[i];
    if (state->gone || session_source_counts(session, state, now)) continue;
    for (size_t k = 0; k < state->promise_count; k++) {
      struct session_promise *promise = &state->promises[k];
      if (promise->found != relation || promise->given_up) continue;
      promise->given_up = true;
      for (size_t p = 0; p < state->process_count && status == BASE_OK; p++)
        status = session_lose_process(session, relation, state->processes[p]);
    }
  }
  return status;
}

static bool is_to_advance(const struct session_relation *relation) {
  return relation->live && relation->waiting.has_pending &&
         (!relation->sensors.announced || relation->sensors.asked_for ||
          net_inbox_rows(&relation->waiting.pending) > 0);
}

static void find_relations(struct tql_session *session) {
  for (size_t i = 0; i < session->source_count; i++) {
    struct session_source *state = session->sources[i];
    for (size_t k = 0; k < state->promise_count; k++) {
      struct session_promise *promise = &state->promises[k];
      if (promise->catalogue == session->catalogue_changes) continue;
      promise->catalogue = session->catalogue_changes;
      promise->found = session_find(session, promise->relation);
    }
  }
}

enum base_status session_sources_advance(struct tql_session *session) {
  int64_t now = base_env_monotonic();
  enum base_status status = load_sources(session);
  find_relations(session);
  for (size_t i = 0; i < session->source_count && !session->group_open; i++)
    if (session->sources[i]->changed || session->sources[i]->number != session->sources[i]->durable)
      status = session_begin_group(session);
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *relation = session->relations[i];
    if (session_is_derived(relation) || !is_to_advance(relation)) continue;
    net_chronon time = promised(session, relation, now);
    if (time <= relation->checkpoint) continue;
    status = session_begin_group(session);
    if (status == BASE_OK) status = session_ensure_live(session);
    if (status == BASE_OK) status = give_up(session, relation, now);
    if (status == BASE_OK) status = session_advance(session, relation, time);
  }
  return status;
}

int64_t session_sources_due(const struct tql_session *session, int64_t now) {
  int64_t due = INT64_MAX;
  if (!session->sources_loaded && !session->options.readonly) return 0;
  for (size_t i = 0; i < session->source_count; i++) {
    const struct session_source *state = session->sources[i];
    if (state->changed && !session->group_open) return 0;
    if (state->taker == NULL && session_source_counts(session, state, now) &&
        state->since + session->source_grace - now < due)
      due = state->since + session->source_grace - now;
  }
  return due;
}

/* --- what is durable */

void tql_source_number(struct tql_source *source, uint64_t number) {
  if (source->state == NULL || number <= source->state->number) return;
  source->state->number = number;
  source->state->changed = true;
}

uint64_t tql_source_durable(const struct tql_source *source) {
  return source->state == NULL ? 0 : source->state->durable;
}
