/* What keeps a session going between statements: feeds are read, checkpoints of sources passed on, what came
 * is committed in groups, strings that nobody holds are forgotten.
 *
 *      tql_session_follow    a shell with feeds: until they have ended, waiting for them
 *      tql_session_turn      a server: what is to be done now, without waiting
 *
 * What fails takes the whole group back (durable/group.c). What a statement's words are wrong for would fail again, and ends
 * the feeds. */
#include <poll.h>
#include <stdlib.h>

#include "engine/base/budget.h"
#include "engine/base/env.h"
#include "tquel/session/control/control.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/results/results.h"
#include "tquel/session/sources/sources.h"
#include "tquel/session/users/users.h"

#define NS_PER_MS 1000000
#define POLL_MS   20 /* how often silence is looked at */

/* Can it be tried again later? That is said, in the place of what was reported since BEFORE. */
static bool take_back_and_stall(struct tql_session *session, size_t before) {
  bool may_pass = st_failure_may_pass(session->database);
  session_take_back(session);
  return session_stall(session, before, may_pass);
}

static bool group_is_due(const struct tql_session *session) {
  return session->group_open &&
         (base_env_monotonic() - session->group_since >= session->durable_ns ||
          session_feeds_want_commit(session) ||
          session_age_waits(session, base_env_monotonic() - session->group_since));
}

/* --- strings */

static void pin_strings(struct tql_session *session) {
  if (session->strings_unpinned) base_strings_pin_all(session->strings);
  session->strings_unpinned = false;
}

/* --- feeds */

bool tql_session_has_feeds(const struct tql_session *session) {
  for (size_t i = 0; i < session->feed_count; i++)
    if (!session->feeds[i]->ended) return true;
  return false;
}

bool tql_session_goes_on(struct tql_session *session) {
  return tql_session_has_feeds(session) || session_pace_is_displayed(session);
}

/* Each that has not ended reads a portion of what is there. */
static enum base_status read_portions(struct tql_session *session, bool *ret_idle) {
  struct net_batch_builder builder;
  enum base_status status = BASE_OK;
  *ret_idle = true;
  for (size_t i = 0; i < session->feed_count && status == BASE_OK; i++) {
    struct session_feed *feed = session->feeds[i];
    if (feed->ended) continue;
    status = session_begin_group(session);
    if (status != BASE_OK) break;
    bool idle = false;
    net_batch_builder_init(&builder, feed->reader->layout, NET_BATCH_ROWS);
    status = session_read_feed(session, feed, &builder, &idle);
    net_batch_builder_done(&builder);
    *ret_idle &= idle;
  }
  return status;
}

/* A portion is not interrupted in its midst: it would be half in the network, and what was read of a pipe is
 * nowhere else. */
static enum base_status read_feeds(struct tql_session *session, bool *ret_idle) {
  base_env_shield();
  enum base_status status = read_portions(session, ret_idle);
  base_env_unshield();
  return status;
}

size_t tql_session_descriptors(const struct tql_session *session, int *ret, size_t capacity) {
  size_t count = 0;
  if (session_is_resting(session)) return 0;
  for (size_t i = 0; i < session->feed_count; i++) {
    struct session_feed *feed = session->feeds[i];
    int descriptor = feed->ended ? -1 : feed->reader->class->descriptor(feed->reader);
    if (descriptor < 0) continue;
    if (count < capacity) ret[count] = descriptor;
    count++;
  }
  return count;
}

static void wait_for_news(struct tql_session *session, int timeout_ms) {
  int *descriptors = base_xcalloc(session->feed_count + 1, sizeof *descriptors);
  struct pollfd *polled = base_xcalloc(session->feed_count + 1, sizeof *polled);
  size_t count = tql_session_descriptors(session, descriptors, session->feed_count);
  for (size_t i = 0; i < count; i++) polled[i] = (struct pollfd){descriptors[i], POLLIN, 0};
  (void)poll(polled, count, timeout_ms);
  free(polled);
  free(descriptors);
}

/* Relations that feeds bring go live. */
static enum base_status wake_feeds(struct tql_session *session) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; status == BASE_OK && i < session->feed_count; i++)
    if (!session->feeds[i]->ended) {
      session->feeds[i]->relation->feed = session->feeds[i];
      status = session_make_live(session, session->feeds[i]->relation);
    }
  return status;
}

enum base_status session_wake_feeds(struct tql_session *session) {
  if (!tql_session_has_feeds(session)) return BASE_OK;
  enum base_status status = session_begin(session);
  return session_end(session, status == BASE_OK ? wake_feeds(session) : status);
}

/* --- a shell follows its feeds */

static enum base_status pump_once(struct tql_session *session, bool *ret_idle) {
  enum base_status status = session_begin_group(session);
  if (status == BASE_OK) status = wake_feeds(session);
  if (status == BASE_CANCEL) session_take_back(session); /* a network that is half built */
  if (status == BASE_OK) session_check_shown(session);
  if (status == BASE_OK) status = read_feeds(session, ret_idle);
  if (status == BASE_OK) status = session_pace_turn(session);
  if (!tql_session_goes_on(session)) session->shown_due = 0; /* all that there is */
  if (status == BASE_OK) session_show_certain(session);
  if (status == BASE_OK && (group_is_due(session) || !tql_session_goes_on(session)))
    status = session_commit_group(session);
  if (status == BASE_OK) status = session_fold_some(session);
  if (status == BASE_OK) session_note_steady(session);
  if (status == BASE_OK) session_upkeep(session);
  if (status == BASE_OK) session_age_some(session);
  if (status == BASE_OK) session_sweep_strings(session);
  return status;
}

static enum base_status pump(struct tql_session *session, int timeout_ms) {
  int64_t began = base_env_monotonic();
  while (tql_session_goes_on(session)) {
    bool idle = true;
    if (!session_is_resting(session)) {
      base_diag_hold(session->diags);
      size_t before = session->diags->count;
      enum base_status status = pump_once(session, &idle);
      bool goes_on =
          status == BASE_OK || (status == BASE_SYSTEM && take_back_and_stall(session, before));
      base_diag_release(session->diags);
      if (!goes_on) return status;
    }
    if (base_env_interrupted()) return BASE_CANCEL;
    int64_t elapsed_ms = (base_env_monotonic() - began) / NS_PER_MS;
    if (timeout_ms >= 0 && elapsed_ms >= timeout_ms) return BASE_AGAIN;
    if (idle) wait_for_news(session, POLL_MS);
  }
  session_note_stored(session, true);
  return BASE_OK;
}

/* What is done between statements: records may be rejected, and need a place for their words. */
static void enter(struct tql_session *session, const struct tql_output *output) {
  session->output = output;
  session->statement_arena = base_arena_new();
  session->source = NULL;
  pin_strings(session);
}

static void leave(struct tql_session *session) {
  base_arena_free(session->statement_arena);
  session->statement_arena = NULL;
  session->output = NULL;
}

static void end_feeds(struct tql_session *session) {
  for (size_t i = 0; i < session->feed_count; i++) session->feeds[i]->ended = true;
}

/* The user has interrupted: what was read is to be kept. What cannot be is held, and tried again. */
static enum base_status commit_interrupted(struct tql_session *session) {
  base_diag_hold(session->diags);
  size_t before = session->diags->count;
  enum base_status status = session_commit_group(session);
  if (status == BASE_SYSTEM && take_back_and_stall(session, before)) status = BASE_OK;
  base_diag_release(session->diags);
  return status;
}

enum base_status tql_session_follow(struct tql_session *session, const struct tql_output *output,
                                    int timeout_ms) {
  enter(session, output);
  base_budget_begin(&BASE_BUDGET_NONE);
  enum base_status status = session_end_unlimited(session, pump(session, timeout_ms));
  if (status == BASE_CANCEL) {
    enum base_status stored = commit_interrupted(session);
    if (stored != BASE_OK) status = stored;
  }
  if (status != BASE_OK && status != BASE_CANCEL && status != BASE_AGAIN) {
    /* What the group held is taken back; the feeds' inputs are not acknowledged. */
    session_take_back(session);
    end_feeds(session);
  }
  leave(session);
  return status;
}

void session_store_held(struct tql_session *session) {
  bool idle = true;
  if (!session_feeds_hold(session)) return;
  enter(session, NULL);
  base_env_clear_interrupt();
  enum base_status status = BASE_OK;
  do {
    status = pump_once(session, &idle);
    if (status == BASE_OK) status = session_commit_group(session);
  } while (status == BASE_OK && !idle && session_feeds_hold(session));
  if (status != BASE_OK) session_take_back(session);
  session_report_held(session);
  leave(session);
}

/* --- a server's turn */

/* Does the live network lack somebody who is to be in it? */
static bool network_is_due(const struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *relation = session->relations[i];
    bool live = relation->live && relation->waiting.has_pending;
    if (relation->sensors.brought && relation->sensors.asked_for && !live) return true;
    if (relation->live && session->live == NULL) return true;
  }
  for (size_t i = 0; i < session->feed_count; i++) {
    const struct session_feed *feed = session->feeds[i];
    if (!feed->ended && !(feed->relation->live && feed->relation->waiting.has_pending)) return true;
  }
  return false;
}

static enum base_status make_network(struct tql_session *session) {
  enum base_status status = session_begin_group(session);
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *relation = session->relations[i];
    if ((relation->sensors.brought && relation->sensors.asked_for) || relation->live)
      status = session_wake(session, relation);
  }
  if (status == BASE_OK) status = wake_feeds(session);
  return status == BASE_OK ? session_ensure_live(session) : status;
}

static enum base_status take_turn(struct tql_session *session) {
  bool idle;
  enum base_status status = BASE_OK;
  session_find_asked_for(session);
  if (network_is_due(session)) status = make_network(session);
  if (status == BASE_OK) session_check_shown(session); /* before feeds go on, and sources */
  if (status == BASE_OK && !session_is_resting(session)) status = read_feeds(session, &idle);
  if (status == BASE_OK) session_check_shown(session);
  if (status == BASE_OK) status = session_sources_advance(session);
  if (status == BASE_OK) status = session_pace_turn(session);
  if (status == BASE_OK) session_show_certain(session);
  if (status == BASE_OK) session_tell_sensors(session);
  if (status == BASE_OK) session_tell_triggers(session);
  if (status == BASE_OK && group_is_due(session)) status = session_commit_group(session);
  if (status == BASE_OK) status = session_fold_some(session);
  if (status == BASE_OK) session_note_steady(session);
  if (status == BASE_OK) session_upkeep(session);
  if (status == BASE_OK) session_age_some(session);
  if (status == BASE_OK) session_sweep_strings(session);
  return status;
}

enum base_status tql_session_turn(struct tql_session *session) {
  enter(session, NULL);
  base_budget_begin(
      &BASE_BUDGET_NONE); /* records go on: only the system says that there is no more */
  base_diag_hold(session->diags);
  size_t before = session->diags->count;
  enum base_status status = take_turn(session);
  if (status != BASE_OK) (void)take_back_and_stall(session, before);
  if (status == BASE_USER) end_feeds(session); /* what they bring would be refused again */
  session_warn_of_memory(session);
  status = session_end_unlimited(session, status);
  base_diag_release(session->diags);
  leave(session);
  return status;
}

int64_t tql_session_due(struct tql_session *session) {
  int64_t now = base_env_monotonic(), due = session_sources_due(session, now);
  if (session->group_open && session->group_since + session->durable_ns - now < due)
    due = session->group_since + session->durable_ns - now;
  if (tql_session_has_feeds(session) && due > POLL_MS * NS_PER_MS) due = POLL_MS * NS_PER_MS;
  int64_t pace = session_pace_due(session);
  if (pace < due) due = pace;
  if (session_fold_due(session, now) < due) due = session_fold_due(session, now);
  if (session_steady_due(session, now) < due) due = session_steady_due(session, now);
  if (session_upkeep_due(session, now) < due) due = session_upkeep_due(session, now);
  if (session_age_due(session, now) < due) due = session_age_due(session, now);
  if (session_shown_due(session) < INT64_MAX && session_shown_due(session) - now < due)
    due = session_shown_due(session) - now;
  if (session->asks_changed || session->control_held) due = 0;
  if (due < session->retry_at - now)
    due = session->retry_at - now; /* a full disk is not asked at once */
  return due < 0 ? 0 : due;
}
