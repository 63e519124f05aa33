/* Live feeds: readers that go on as their input grows, read in turns (pump.c).
 *
 * A feed's checkpoint is the latest time seen minus its `within`; while it has nothing to say it
 * advances by the clock (real timeline), as long as the feed keeps up with the clock: the stamps of a
 * log that is replayed late say nothing about now. The end of the input ends the feed: everything it
 * brought is final then, open periods stay open. Bad records go to Rejected, late ones to Late; the
 * feed goes on.                                                                                      */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/env.h"
#include "sensors/feed/feed.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/tables/tables.h"

#define BATCHES_PER_TURN 16 /* of one feed, before the others have theirs */
#define KEEPS_UP_NS      (2 * (int64_t)1000000000)

static void feed_free(struct session_feed *feed) {
  net_zone_release(feed->time.zone);
  if (feed->reader != NULL) feed->reader->class->free(feed->reader);
  free(feed);
}

void session_remove_feeds(struct tql_session *session, const struct session_relation *relation) {
  size_t kept = 0;
  for (size_t i = 0; i < session->feed_count; i++) {
    if (relation == NULL || session->feeds[i]->relation == relation) {
      feed_free(session->feeds[i]);
    } else {
      session->feeds[kept++] = session->feeds[i];
    }
  }
  session->feed_count = kept;
}

/* In order of stop a period may begin long before what came last; only `within` tells how long. */
static bool may_be_ordered_by_stop(struct tql_session *session,
                                   const struct tql_statement *statement,
                                   const struct session_relation *relation) {
  if (relation->kind != ST_PERIOD) {
    base_report_hint(session->diags, MSG_ORDERED_BY_STOP, session->source, &statement->name.range,
                     "leave ordered by stop out", "the records of %s have no stop",
                     relation->ng.name);
  } else if (statement->within == NULL) {
    base_report_hint(session->diags, MSG_ORDERED_BY_STOP, session->source, &statement->range,
                     "add within D, D being the longest period and the disorder together",
                     "ordered by stop needs within: how long before the latest stop may a period "
                     "that is still to come have begun?");
  } else {
    return true;
  }
  return false;
}

static struct sn_reader_options reader_options(struct tql_session *session,
                                               const struct session_relation *relation,
                                               const struct net_time_context *time,
                                               const char *path, int64_t position) {
  return (struct sn_reader_options){.path = path,
                                    .layout = session_write_layout(relation),
                                    .time = *time,
                                    .strings = session->strings,
                                    .following = true,
                                    .holding = true,
                                    .timeless = relation->kind == ST_SNAPSHOT,
                                    .position = position};
}

enum base_status session_add_feed(struct tql_session *session,
                                  const struct tql_statement *statement,
                                  struct session_relation *relation) {
  bool from_stdin = strcmp(statement->path, "-") == 0;
  if (from_stdin && session->options.stdin_is_script) {
    base_report_hint(session->diags, MSG_STDIN_TAKEN, session->source, &statement->path_range,
                     "give the script with -f FILE",
                     "the statements come from standard input, which cannot be a feed as well");
    return BASE_USER;
  }
  if (statement->ordered_by_stop && !may_be_ordered_by_stop(session, statement, relation))
    return BASE_USER;
  if (relation->feed != NULL && !relation->feed->ended) {
    base_report_hint(session->diags, MSG_FEED_TWICE, session->source, &statement->name.range,
                     "merge the inputs before they come here", "%s has a feed already",
                     relation->ng.name);
    return BASE_USER;
  }
  enum base_status bounded = session_check_bounds_of_dependants(session, relation);
  if (bounded != BASE_OK) return bounded;
  int64_t within = 0;
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  if (statement->within != NULL) {
    enum base_status status = tql_analyse_duration(&analysis, statement->within, &within);
    if (status != BASE_OK) return status;
  }
  bool found = false;
  struct st_feed saved = {0};
  enum base_status status = st_feed_load(session->database, session->statement_arena,
                                         relation->ng.name, statement->path, &found, &saved);
  if (status != BASE_OK) return status;
  const struct sn_form *form;
  status = session_file_form(session, statement, relation, &form);
  if (status != BASE_OK) return status;
  struct session_feed *feed = base_xcalloc(1, sizeof *feed);
  feed->time = session->seat->time;
  net_zone_hold(feed->time.zone);
  struct sn_reader_options options = reader_options(session, relation, &feed->time, statement->path,
                                                    found && !from_stdin ? saved.position : 0);
  options.form = form;
  status = session_open_reader(session, statement, &options, &feed->reader);
  if (status != BASE_OK) {
    feed_free(feed);
    return status;
  }
  feed->relation = relation;
  feed->path = base_arena_strdup(session->arena, statement->path);
  feed->within = within;
  feed->ordered_by_stop = statement->ordered_by_stop;
  feed->counts.sequence = feed->committed.sequence = found ? saved.sequence : 0;
  relation->feed = feed;
  base_grow(&session->feeds, &session->feed_capacity, session->feed_count + 1,
            sizeof *session->feeds);
  session->feeds[session->feed_count++] = feed;
  return BASE_OK;
}

enum base_status session_save_positions(struct tql_session *session) {
  for (size_t i = 0; i < session->feed_count; i++) {
    struct session_feed *feed = session->feeds[i];
    int64_t position = feed->reader->class->position(feed->reader);
    if (position == feed->position_saved) continue;
    struct st_feed saved = {feed->relation->ng.name, feed->path, position, feed->counts.sequence};
    enum base_status status = st_feed_save(session->database, &saved);
    if (status != BASE_OK) return status;
    feed->position_saved = position;
  }
  return BASE_OK;
}

static void report_total(struct tql_session *session, const struct session_feed *feed) {
  const struct session_feed_counts *counts = &feed->counts;
  if (counts->late + counts->rejected > 0)
    base_report(session->diags, MSG_FEED_LOSS, NULL, NULL, "%s: %llu records late, %llu rejected",
                feed->relation->ng.name, (unsigned long long)counts->late,
                (unsigned long long)counts->rejected);
}

void session_feeds_committed(struct tql_session *session) {
  for (size_t i = 0; i < session->feed_count; i++) {
    struct session_feed *feed = session->feeds[i];
    feed->reader->class->settle(feed->reader);
    feed->committed = feed->counts;
    if (feed->ends_now) report_total(session, feed);
    feed->ends_now = false;
  }
}

void session_rewind_feeds(struct tql_session *session) {
  for (size_t i = 0; i < session->feed_count; i++) {
    struct session_feed *feed = session->feeds[i];
    if (feed->ended && !feed->ends_now) continue;
    if (feed->counts.read > feed->reached) feed->reached = feed->counts.read;
    feed->counts = feed->committed;
    feed->reader->class->rewind(feed->reader);
    feed->position_saved = feed->reader->class->position(feed->reader);
    feed->ended = feed->ends_now = false;
    feed->relation->live = false; /* that it was may have been taken back, too */
    feed->relation->waiting.latest = feed->relation->waiting.boundary = NET_BEGINNING;
  }
}

bool session_feeds_want_commit(const struct tql_session *session) {
  for (size_t i = 0; i < session->feed_count; i++) {
    const struct session_feed *feed = session->feeds[i];
    if (!feed->ended && feed->reader->class->wants_settling(feed->reader)) return true;
  }
  return false;
}

/* How much of what it has read was taken back and is not stored. */
static uint64_t held(const struct session_feed *feed) {
  uint64_t stored = feed->committed.read;
  return feed->reached > stored ? feed->reached - stored : 0;
}

bool session_feeds_hold(const struct tql_session *session) {
  for (size_t i = 0; i < session->feed_count; i++)
    if (!session->feeds[i]->ended && held(session->feeds[i]) > 0) return true;
  return false;
}

static bool can_be_read_again(const struct session_feed *feed) {
  struct stat known;
  return strcmp(feed->path, "-") != 0 && stat(feed->path, &known) == 0 && S_ISREG(known.st_mode);
}

void session_report_held(struct tql_session *session) {
  for (size_t i = 0; i < session->feed_count; i++) {
    const struct session_feed *feed = session->feeds[i];
    uint64_t count = held(feed);
    if (count > 0 && !can_be_read_again(feed))
      base_report(session->diags, MSG_FEED_UNSTORED, NULL, NULL,
                  "%s: the last %llu record%s read from %s could not be stored",
                  feed->relation->ng.name, (unsigned long long)count, count == 1 ? "" : "s",
                  strcmp(feed->path, "-") == 0 ? "standard input" : feed->path);
  }
}

/* --- reading */

static net_chronon rejected_at(const struct session_feed *feed) {
  return feed->relation->waiting.latest == NET_BEGINNING ? 0 : feed->relation->waiting.latest;
}

static enum base_status reject_record(struct tql_session *session, struct session_feed *feed,
                                      const struct net_read_event *event, const char *reason) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "line %lld, column %lld: %s", (long long)event->line,
                     (long long)event->column, reason);
  net_chronon at = session->timeline == NET_TIMELINE_REAL ? base_env_now() : rejected_at(feed);
  feed->counts.rejected++;
  enum base_status status =
      session_divert(session, "Rejected", feed->relation, at, base_buffer_text(&text),
                     event->record ? event->record : "", event->record_length);
  base_buffer_done(&text);
  return status;
}

/* A record is judged by what was promised when it came: the latest time seen before it minus `within`,
 * however the bytes were cut into batches. */
static net_chronon late_limit(const struct session_feed *feed) {
  const struct session_relation *relation = feed->relation;
  net_chronon promised = relation->waiting.latest == NET_BEGINNING
                             ? NET_BEGINNING
                             : net_chronon_add(relation->waiting.latest, -feed->within);
  return promised > relation->checkpoint ? promised : relation->checkpoint;
}

/* Of a feed in order of stop, the stop of a record as far as it counts as a time seen. */
static net_chronon known_stop(const struct session_feed *feed, const union net_slot *row) {
  if (!feed->ordered_by_stop || row[2].i == NET_OPEN || row[2].i == NET_FOREVER)
    return NET_BEGINNING;
  return row[2].i;
}

enum base_status session_row_fault(struct tql_session *session, struct session_relation *relation,
                                   const union net_slot *row, uint8_t marks, bool ahead,
                                   const char **ret) {
  const struct session_rule *broken = NULL;
  *ret = NULL;
  if (ahead) *ret = "further ahead of the clock than set future limit";
  if (session_is_sampled(relation) && *ret == NULL) *ret = session_sample_fault(row, marks);
  if (row[0].i == NET_FOREVER) *ret = "forever is no time of a record";
  if (relation->kind == ST_SNAPSHOT) *ret = NULL;
  if (marks & (NET_CLOSES | NET_ROUND)) return BASE_OK;
  enum base_status status = session_broken_rule(session, relation, row, &broken);
  if (status == BASE_OK && *ret == NULL && broken != NULL)
    *ret = session_rule_reason(session->statement_arena, relation, broken);
  return status;
}

static enum base_status take_rows(struct tql_session *session, struct session_feed *feed,
                                  const struct net_batch_builder *builder) {
  struct session_relation *relation = feed->relation;
  bool real = session->timeline == NET_TIMELINE_REAL;
  net_chronon now = real ? base_env_now() : 0;
  net_chronon limit = real ? net_chronon_add(now, session->future_limit) : NET_FOREVER;
  struct net_rows corrections;
  net_rows_init(&corrections, builder->layout);
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < builder->count && status == BASE_OK; i++) {
    const union net_slot *row = builder->rows + (size_t)i * builder->layout->slot_count;
    feed->counts.records++;
    feed->counts.sequence++;
    session->counters.rows_in++;
    const char *wrong = NULL;
    status = session_row_fault(session, relation, row, builder->marks[i],
                               row[0].i > limit || known_stop(feed, row) > limit, &wrong);
    if (status != BASE_OK) break;
    if (wrong != NULL) {
      struct base_buffer record = BASE_BUFFER_EMPTY;
      session_print_row(session, &record, builder->layout, row);
      feed->counts.rejected++;
      status = session_divert(session, "Rejected", relation, real ? now : rejected_at(feed), wrong,
                              base_buffer_text(&record), record.length);
      base_buffer_done(&record);
    } else if (row[0].i == relation->waiting.boundary &&
               relation->checkpoint == net_chronon_add(relation->waiting.boundary, 1)) {
      net_rows_add_copy(&corrections, row, builder->marks[i]);
    } else {
      net_chronon stop = known_stop(feed, row), seen = stop > row[0].i ? stop : row[0].i;
      feed->keeps_up = real && seen > now - feed->within - KEEPS_UP_NS;
      status = session_take_record(session, relation, row, builder->marks[i], late_limit(feed));
      if (stop > relation->waiting.latest) relation->waiting.latest = stop;
    }
  }
  if (status == BASE_OK && corrections.count > 0)
    status = session_correct(session, relation, &corrections);
  net_rows_done(&corrections);
  return status;
}

static enum base_status advance_to_latest(struct tql_session *session, struct session_feed *feed) {
  net_chronon latest = feed->relation->waiting.latest;
  if (latest == NET_BEGINNING || latest == NET_FOREVER) return BASE_OK;
  return session_advance(session, feed->relation, net_chronon_add(latest, -feed->within));
}

/* Nothing came: while the feed keeps up, that means that nothing happened. */
static enum base_status advance_by_clock(struct tql_session *session, struct session_feed *feed) {
  if (!feed->keeps_up) return BASE_OK;
  return session_advance(session, feed->relation, base_env_now() - feed->within);
}

static enum base_status take_round(struct tql_session *session, struct session_feed *feed,
                                   const struct net_read_event *event) {
  if (!session_is_sampled(feed->relation))
    return reject_record(session, feed, event, "rounds are for sampled relations");
  if (event->time == NET_FOREVER || event->time == NET_BEGINNING)
    return reject_record(session, feed, event, "forever is no time of a record");
  feed->counts.records++;
  enum base_status status = session_take_round(session, feed->relation, event, late_limit(feed));
  return status == BASE_OK ? advance_to_latest(session, feed) : status;
}

static enum base_status end_feed(struct tql_session *session, struct session_feed *feed) {
  feed->ended = feed->ends_now = true;
  struct session_relation *relation = feed->relation;
  if (relation->waiting.latest == NET_BEGINNING) return BASE_OK;
  return session_advance(session, relation, net_chronon_add(relation->waiting.latest, 1));
}

/* What a source still had is lost, from the latest time seen on until now at the latest; how much it was
 * is not known. */
static enum base_status note_loss(struct tql_session *session, const struct session_feed *feed,
                                  const char *cause) {
  net_chronon from = rejected_at(feed), behind = net_chronon_add(from, 1);
  net_chronon now = session->timeline == NET_TIMELINE_REAL ? base_env_now() : NET_FOREVER;
  return session_put_lost(session, feed->relation->ng.name, feed->path, cause, 0,
                          (struct net_instant){from, from},
                          (struct net_instant){behind, now < behind ? behind : now});
}

/* The file was truncated or replaced, as logs are: the feed goes on with what is there now. */
static enum base_status take_rotation(struct tql_session *session, struct session_feed *feed,
                                      const struct net_read_event *event) {
  if (event->reason == NULL) return BASE_OK;
  base_report(session->diags, MSG_FILE_TRUNCATED, NULL, NULL,
              "%s: %s; reading goes on at its beginning", feed->path, event->reason);
  return note_loss(session, feed, event->reason);
}

static enum base_status report_failure(struct tql_session *session, struct session_feed *feed,
                                       const struct net_read_event *event) {
  /* The report outlives this turn. */
  struct base_source *source = BASE_NEW(session->arena, struct base_source);
  source->name = feed->path;
  struct base_range range = {(int)event->line, (int)event->column, (int)event->line,
                             (int)event->column};
  base_report(session->diags, event->number, source, &range, "%s", event->reason);
  feed->ended = true;
  return BASE_SYSTEM;
}

enum base_status session_read_feed(struct tql_session *session, struct session_feed *feed,
                                   struct net_batch_builder *builder, bool *ret_idle) {
  struct net_read_event event = {0};
  enum base_status status = BASE_OK;
  bool more = true;
  *ret_idle = false;
  for (unsigned i = 0; i < BATCHES_PER_TURN && more && status == BASE_OK; i++) {
    net_batch_builder_clear(builder);
    enum net_read_result result = feed->reader->class->read(feed->reader, builder, &event);
    switch (result) {
      case NET_READ_ROWS:
        feed->counts.read += builder->count;
        if (event.unit != NULL && !feed->unit_said)
          session_note_unit(session, feed->relation, event.unit);
        feed->unit_said |= event.unit != NULL;
        status = take_rows(session, feed, builder);
        if (status == BASE_OK) status = advance_to_latest(session, feed);
        break;
      case NET_READ_CHECKPOINT:
        status = session_advance(session, feed->relation, event.time);
        break;
      case NET_READ_END_RECORD:
        feed->counts.read++;
        feed->counts.records++;
        status = session_take_end(session, feed->relation, &event, late_limit(feed));
        if (event.time > feed->relation->waiting.latest && event.time != NET_FOREVER)
          feed->relation->waiting.latest = event.time;
        if (status == BASE_OK) status = advance_to_latest(session, feed);
        break;
      case NET_READ_ROUND:
        feed->counts.read++;
        status = take_round(session, feed, &event);
        break;
      case NET_READ_ROTATED:
        status = take_rotation(session, feed, &event);
        break;
      case NET_READ_BAD:
        feed->counts.read++;
        status = reject_record(session, feed, &event, event.reason);
        break;
      case NET_READ_AGAIN:
        *ret_idle = i == 0;
        more = false;
        /* Not where there is more behind what is to be settled. */
        if (i == 0 && !feed->reader->class->wants_settling(feed->reader))
          status = advance_by_clock(session, feed);
        break;
      case NET_READ_FAILED:
        status = report_failure(session, feed, &event);
        break;
      case NET_READ_END:
      default:
        more = false;
        status = end_feed(session, feed);
    }
  }
  return status;
}
