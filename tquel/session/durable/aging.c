/* What is old goes, beside what comes: tuples that are kept for an age (live/history.c), and relations that were to be kept until
 * a time (retention.c).
 *
 *      a turn ──▶ slices: some rows of one relation each, in a transaction of its own, SLICE_NS long
 *                 for one in SHARE of the time that has passed since, ROUND_NS at most; then REST_NS for others
 *      all has been looked at ──▶ WALK_NS until it is asked again what is old; longer, up to QUIET_NS, where nothing was
 *      more comes than goes, so that that takes BEHIND_NS ──▶ for as long as has passed since, and groups are committed
 *                 sooner: whoever brings it is slowed
 *
 * How long a row takes is measured with each slice. Rows that come live and are old when they are committed are not
 * written at all. What fails, as on a full disk, is tried again after FAILED_NS; nothing is lost by waiting. Nor does what
 * is old take the write-ahead log's room from those who cannot wait: at half of its limit it stays, and that is said once. */
#include "engine/base/env.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/session_impl.h"

#define SLICE_NS  (INT64_C(5) * 1000000)
#define WALK_NS   (INT64_C(250) * 1000000)
#define QUIET_NS  (INT64_C(4000) * 1000000)
#define FAILED_NS (INT64_C(2000) * 1000000)
#define BEHIND_NS (INT64_C(250) * 1000000)
#define REST_NS   (INT64_C(4) * 1000000)
#define ROUND_NS  (INT64_C(20) * 1000000)
#define SHARE     4
#define ROW_NS    4000.0 /* as long as nothing was measured */
#define ROW_BYTES 4096.0 /* of the write-ahead log, in the same way */
enum { ROWS_LEAST = 512, ROWS_MOST = 16384, ROWS_AT_END = 65536 };

static const char OLD[] = "what is old";

static bool may_remove(const struct tql_session *session) {
  return session->database != NULL && !session->options.readonly &&
         !session->options.explain_only && !session->group_open &&
         !st_in_transaction(session->database);
}

/* REMOVED tuples of RELATION that were over before LIMIT have gone. */
static void note_gone(struct session_relation *relation, net_chronon limit, size_t removed) {
  if (removed == 0) return;
  if (!relation->keep.incomplete || limit > relation->keep.gone) relation->keep.gone = limit;
  relation->keep.incomplete = true;
  relation->keep.removed += (int64_t)removed;
}

/* How many rows of what is old there is room for. */
static size_t rows_of_room(const struct tql_session *session, size_t rows) {
  uint64_t most = st_ahead_limit(session->database) / 4 * 3;
  uint64_t bytes = st_ahead_bytes(session->database);
  if (most == 0) return rows; /* in memory */
  double row = session->keep.row_bytes > 0 ? session->keep.row_bytes : ROW_BYTES;
  double room = bytes < most ? (double)(most - bytes) / row : 0;
  return room >= (double)rows ? rows : room < 1 ? 1 : (size_t)room;
}

/* REMOVED rows went, and the log was BEFORE long. */
static void note_bytes(struct tql_session *session, uint64_t before, size_t removed) {
  uint64_t bytes = st_ahead_bytes(session->database);
  if (removed > 0 && bytes > before) /* else it has begun anew */
    session->keep.row_bytes = (double)(bytes - before) / (double)removed;
}

/* Is anything old? */
static bool any_waits(struct tql_session *session) {
  if (session_next_expired(session) != NULL) return true;
  for (size_t i = 0; i < session->relation_count; i++)
    if (session_count_old(session, session->relations[i], 1) > 0) return true;
  return false;
}

static enum base_status remove_some(struct tql_session *session, struct session_relation *relation,
                                    size_t rows, bool *ret_done) {
  net_chronon limit = NET_BEGINNING;
  size_t removed = 0;
  uint64_t bytes = st_ahead_bytes(session->database);
  *ret_done = true;
  (void)st_goes_on_measuring(session->database);
  enum base_status status = session_keep_limit(session, relation, &limit);
  bool measuring = st_goes_on_measuring(session->database);
  *ret_done = !measuring;
  if (status != BASE_OK || limit == NET_BEGINNING) return status;
  status = st_begin(session->database);
  int64_t began = base_env_monotonic();
  if (status == BASE_OK)
    status = st_remove_old(session->database, relation->ng.name, limit, rows_of_room(session, rows),
                           &removed, ret_done);
  if (status == BASE_OK && removed >= ROWS_LEAST)
    session->keep.row_ns = (double)(base_env_monotonic() - began) / (double)removed;
  if (status == BASE_OK) status = st_commit(session->database);
  if (status == BASE_OK) {
    note_bytes(session, bytes, removed);
    note_gone(relation, limit, removed);
  } else {
    st_rollback(session->database);
  }
  *ret_done &= !measuring;
  session->keep.removed |= removed > 0;
  return status;
}

/* The next relation of which something may be old, in turn; NULL: all have been looked at. */
static struct session_relation *next_relation(struct tql_session *session) {
  struct session_keep *keep = &session->keep;
  for (; keep->place < session->relation_count; keep->place++)
    if (session->relations[keep->place]->keep.ages) return session->relations[keep->place];
  return NULL;
}

static size_t rows_of_slice(const struct session_keep *keep) {
  double rows = (double)SLICE_NS / (keep->row_ns > 0 ? keep->row_ns : ROW_NS);
  if (rows > ROWS_MOST) return ROWS_MOST;
  return rows < ROWS_LEAST ? ROWS_LEAST : (size_t)rows;
}

/* All relations have been looked at. */
static void end_round(struct session_keep *keep, int64_t now) {
  bool quiet = !keep->removed && keep->walk_ns >= WALK_NS;
  keep->walk_ns = !quiet ? WALK_NS : keep->walk_ns < QUIET_NS ? 2 * keep->walk_ns : QUIET_NS;
  keep->place = 0;
  keep->removed = false;
  keep->round_at = keep->next_at = now + keep->walk_ns;
}

/* One slice, which begins NOW. */
static void age_slice(struct tql_session *session, int64_t now) {
  struct session_keep *keep = &session->keep;
  bool expires = false, done = true;
  size_t rows = rows_of_slice(keep), before = session->diags->count;
  base_diag_hold(session->diags);
  enum base_status status = session_expire_some(session, rows_of_room(session, rows), &expires);
  struct session_relation *relation = expires ? NULL : next_relation(session);
  if (status == BASE_OK && relation != NULL) {
    status = remove_some(session, relation, rows, &done);
    if (done || status != BASE_OK) keep->place++;
  }
  if (status != BASE_OK) {
    keep->next_at = now + FAILED_NS;
    session_say_removal_waits(session, OLD, before, &keep->waits);
  } else if (relation == NULL && !expires) {
    end_round(keep, now);
    session_say_removed(session, OLD, &keep->waits);
  }
  base_diag_release(session->diags);
}

/* There is no room in the log: who looks again later says so, if anything is old. */
static void wait_for_room(struct tql_session *session, int64_t now) {
  struct session_keep *keep = &session->keep;
  int64_t due = session_room_due(session, now);
  keep->next_at = now + (due > REST_NS ? due : REST_NS);
  keep->round_at = now; /* it is not behind for that */
  if (!keep->waits && any_waits(session))
    session_say_removal_waits(session, OLD, session->diags->count, &keep->waits);
}

/* Does a round go on for so long that more comes than goes? */
static bool is_behind(const struct session_keep *keep, int64_t now) {
  return keep->removed && now - keep->round_at > BEHIND_NS;
}

bool session_age_waits(const struct tql_session *session, int64_t open_ns) {
  return open_ns >= ROUND_NS && is_behind(&session->keep, base_env_monotonic());
}

void session_age_some(struct tql_session *session) {
  struct session_keep *keep = &session->keep;
  int64_t now = base_env_monotonic();
  if (now < keep->next_at || !may_remove(session)) return;
  if (keep->round_at == 0) keep->round_at = now;
  int64_t since = now - keep->ended, time = is_behind(keep, now) ? since : since / SHARE;
  int64_t until = now + (time < ROUND_NS ? time : ROUND_NS);
  do {
    if (!session_has_room(session))
      wait_for_room(session, now);
    else
      age_slice(session, now);
    now = base_env_monotonic();
  } while (now < until && now >= keep->next_at);
  keep->ended = now;
  if (keep->next_at < now + REST_NS) keep->next_at = now + REST_NS;
}

int64_t session_age_due(const struct tql_session *session, int64_t now) {
  int64_t due = INT64_MAX, clock = base_env_now();
  if (session->group_open || session->options.readonly) return due;
  if (session->keep.waits) due = session->keep.next_at - now;
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    if (relation->keep.ages && session->keep.next_at - now < due) due = session->keep.next_at - now;
    /* What others are computed from waits for them, and whoever destroys those looks again. */
    bool waits = !relation->keep.expires || relation->keep.expiry_said ||
                 relation->keep.until == NET_FOREVER;
    if (!waits && relation->keep.until > clock && relation->keep.until - clock < due)
      due = relation->keep.until - clock;
    if (!waits && relation->keep.until <= clock && session->keep.next_at - now < due)
      due = session->keep.next_at - now;
  }
  return due;
}

void session_age_all(struct tql_session *session) {
  if (!may_remove(session) || session_expire(session) != BASE_OK) return;
  for (size_t i = 0; i < session->relation_count; i++) {
    /* The walk that goes on may have begun with an earlier limit. */
    for (int walks = session->relations[i]->keep.ages ? 0 : 2; walks < 2;) {
      bool done = true;
      if (!session_has_room(session)) {
        if (!session->keep.waits && any_waits(session))
          session_say_removal_waits(session, OLD, session->diags->count, &session->keep.waits);
        return;
      }
      if (base_env_interrupted() ||
          remove_some(session, session->relations[i], ROWS_AT_END, &done) != BASE_OK)
        return;
      walks += done;
    }
  }
}

/* Within the group, before it is committed. */
enum base_status session_age_waiting(struct tql_session *session) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *relation = session->relations[i];
    net_chronon limit = NET_BEGINNING;
    size_t removed = 0;
    if (!relation->keep.ages || !st_waits(session->database, relation->ng.name)) continue;
    status = session_keep_limit(session, relation, &limit);
    if (status == BASE_OK && limit != NET_BEGINNING)
      status = st_drop_waiting(session->database, relation->ng.name, limit, &removed);
    if (status == BASE_OK) note_gone(relation, limit, removed);
  }
  return status;
}
