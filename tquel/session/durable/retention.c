/* save R until T: the relation is kept until then.
 *
 *      T has passed ──▶ its feeds and displays end ──▶ its tuples go, in slices (aging.c) ──▶ the relation itself
 *
 * while the session goes on; when a database is opened for writing, and at a session's end, all at once. A warning says
 * which relation went, and how many tuples. One that others are computed from stays, and a warning names them; it goes
 * when they have gone. So does one that sensors announce, as long as a source that announces it is there. Nothing goes
 * in a session that only reads, or on the abstract timeline, which has no clock. */
#include "engine/base/env.h"
#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/users/users.h"

static void print_until(struct tql_session *session, struct base_buffer *out,
                        const struct session_relation *relation) {
  net_time_print(out, session->timeline, relation->keep.until);
}

/* What has gone of RELATION before, by age or in slices, counts: that is in the file, so it is exact after a restart, too. */
static enum base_status destroy(struct tql_session *session, struct session_relation *relation,
                                int64_t *ret_count) {
  int64_t count = 0;
  enum base_status status = BASE_OK;
  if (!relation->view) status = st_count(session->database, relation->ng.name, &count);
  if (status == BASE_OK) status = st_destroy(session->database, relation->ng.name);
  *ret_count = count + relation->keep.removed;
  return status;
}

/* Once it is committed. */
static void forget(struct tql_session *session, struct session_relation *relation, int64_t count) {
  struct base_buffer until = BASE_BUFFER_EMPTY;
  print_until(session, &until, relation);
  base_report(session->diags, MSG_EXPIRED, NULL, NULL,
              "%s was kept until %s and is gone now, with %lld tuple%s", relation->ng.name,
              base_buffer_text(&until), (long long)count, count == 1 ? "" : "s");
  base_buffer_done(&until);
  session_remove_relation(session, relation);
}

static void report_kept(struct tql_session *session, struct session_relation *relation,
                        const char *until, const char *users) {
  if (!relation->keep.expiry_said)
    base_report_hint(session->diags, MSG_EXPIRED_KEPT, NULL, NULL,
                     "destroy what is computed from it, or save it until a later time",
                     "%s was to be kept until %s; it stays, because %s is computed from it",
                     relation->ng.name, until, users);
  relation->keep.expiry_said = true;
}

/* Destroys RELATION unless others are computed from it. */
static enum base_status drop_expired(struct tql_session *session,
                                     struct session_relation *relation) {
  struct base_buffer until = BASE_BUFFER_EMPTY;
  print_until(session, &until, relation);
  const char *users = session_dependants(session, session->arena, relation);
  if (users != NULL) report_kept(session, relation, base_buffer_text(&until), users);
  base_buffer_done(&until);
  if (users != NULL) return BASE_OK;
  int64_t count = 0;
  enum base_status status = st_begin(session->database);
  if (status == BASE_OK) status = destroy(session, relation, &count);
  if (status == BASE_OK) status = st_commit(session->database);
  if (status == BASE_OK)
    forget(session, relation, count);
  else
    st_rollback(session->database);
  return status;
}

enum base_status session_expire(struct tql_session *session) {
  if (session->timeline != NET_TIMELINE_REAL || session->options.readonly ||
      session->options.explain_only)
    return BASE_OK;
  net_chronon now = base_env_now();
  enum base_status status = BASE_OK;
  /* From the youngest on: what is computed from a relation goes before it. */
  for (size_t i = session->relation_count; status == BASE_OK && i-- > 0;) {
    struct session_relation *relation = session->relations[i];
    if (relation->keep.expires && relation->keep.until <= now)
      status = drop_expired(session, relation);
  }
  return status;
}

/* --- while the session goes on */

struct session_relation *session_next_expired(struct tql_session *session) {
  bool waits = session->timeline != NET_TIMELINE_REAL || session->options.readonly ||
               session->options.explain_only;
  net_chronon now = waits ? 0 : base_env_now();
  for (size_t i = session->relation_count; !waits && i-- > 0;) {
    struct session_relation *relation = session->relations[i];
    if (!relation->keep.expires || relation->keep.until > now) continue;
    if (relation->sensors.announced && session_is_taken(session, relation)) continue;
    struct base_arena *arena = base_arena_new();
    const char *users = session_dependants(session, arena, relation);
    struct base_buffer until = BASE_BUFFER_EMPTY;
    print_until(session, &until, relation);
    if (users != NULL) report_kept(session, relation, base_buffer_text(&until), users);
    base_buffer_done(&until);
    base_arena_free(arena);
    if (users == NULL) return relation;
  }
  return NULL;
}

/* Nobody brings it anything any more, and nobody looks on. */
static void end_readers(struct tql_session *session, struct session_relation *relation) {
  struct base_buffer until = BASE_BUFFER_EMPTY;
  print_until(session, &until, relation);
  for (size_t i = 0; i < session->feed_count; i++)
    if (session->feeds[i]->relation == relation)
      base_report(session->diags, MSG_FEED_EXPIRED, NULL, NULL,
                  "%s: nothing more is read for %s, which was to be kept until %s",
                  session->feeds[i]->path, relation->ng.name, base_buffer_text(&until));
  base_buffer_done(&until);
  session_remove_feeds(session, relation);
  relation->feed = NULL;
  session_end_displays(session, relation->ng.name);
  session_drop_live(session);
  relation->live = false;
  relation->keep.expiring = true;
}

enum base_status session_expire_some(struct tql_session *session, size_t rows, bool *ret_any) {
  struct session_relation *relation = session_next_expired(session);
  size_t removed = 0;
  int64_t count = 0;
  bool done = true;
  *ret_any = relation != NULL;
  if (relation == NULL) return BASE_OK;
  if (!relation->keep.expiring) end_readers(session, relation);
  enum base_status status = st_begin(session->database);
  if (status == BASE_OK && !relation->view)
    status = st_remove_any(session->database, relation->ng.name, rows, &removed, &done);
  if (status == BASE_OK && done) status = destroy(session, relation, &count);
  if (status == BASE_OK) status = st_commit(session->database);
  if (status != BASE_OK) {
    st_rollback(session->database); /* what is known in memory has not changed */
  } else if (done) {
    forget(session, relation, count + (int64_t)removed);
  } else if (removed > 0) {
    relation->keep.removed += (int64_t)removed;
    relation->keep.incomplete = true;
    relation->keep.gone = NET_FOREVER;
  }
  return status;
}

void session_describe_until(struct tql_session *session, const struct session_relation *relation,
                            struct base_buffer *out) {
  if (!relation->keep.expires) return;
  base_buffer_puts(out, "kept until: ");
  print_until(session, out, relation);
  base_buffer_putc(out, '\n');
}
