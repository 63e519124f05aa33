/* Statements' own writes: append, copy, checkpoint.
 *
 * A statement's rows are never late. In the ordinary mode they go straight into the table (a traced
 * relation: the periods of the entities concerned are computed anew), the relation counts as closed
 * at forever until the next write, and its dependants are recomputed. Where the relation is live (a feed, or `set
 * checkpoint manual`), rows wait among its pending ones for the checkpoint, like a feed's. A tuple appended
 * after a feed has ended leaves the feed's checkpoint where it is; a file that is copied closes the
 * relation.                                                                                          */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "engine/base/hash_table.h"
#include "engine/rowmap.h"
#include "sensors/feed/feed.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/live/live.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

static enum base_status set_checkpoint(struct tql_session *session,
                                       struct session_relation *relation, net_chronon time) {
  relation->checkpoint = time;
  struct net_store *store = st_net(session->database);
  enum base_status status = session_note_passed(session, relation, time);
  if (status != BASE_OK) return status;
  return store->class->checkpoint(store, relation->ng.name, time);
}

/* The relation is live: what lies at or past the checkpoint waits for it. Before it, under `set
 * checkpoint manual` a row is late; beside a feed it is a correction. */
static enum base_status write_live(struct tql_session *session, struct session_relation *relation,
                                   const struct net_rows *rows) {
  struct net_rows corrections;
  net_rows_init(&corrections, rows->layout);
  enum base_status status = session_make_live(session, relation);
  for (size_t i = 0; status == BASE_OK && i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    if (!session->seat->manual &&
        session_record_time(relation, row, rows->marks[i]) < relation->checkpoint) {
      net_rows_add_copy(&corrections, row, rows->marks[i]);
    } else {
      status = session_take_record(session, relation, row, rows->marks[i], relation->checkpoint);
    }
  }
  if (status == BASE_OK && corrections.count > 0)
    status = session_correct(session, relation, &corrections);
  net_rows_done(&corrections);
  return status;
}

/* Do records come without statements? */
static bool is_fed(const struct tql_session *session, const struct session_relation *relation) {
  return (relation->feed != NULL && !relation->feed->ended) ||
         session_is_brought(session, relation);
}

bool session_writes_live(const struct tql_session *session,
                         const struct session_relation *relation) {
  return session->seat->manual || is_fed(session, relation);
}

/* Has RELATION had a feed, here or in an earlier session, and is its checkpoint still that of the feed? */
static enum base_status keeps_checkpoint(struct tql_session *session,
                                         const struct session_relation *relation, bool *ret) {
  *ret = relation->checkpoint != NET_FOREVER &&
         (relation->feed != NULL || relation->sensors.announced);
  if (*ret || relation->checkpoint == NET_FOREVER) return BASE_OK;
  return st_feed_known(session->database, relation->ng.name, ret);
}

enum base_status session_settle(struct tql_session *session, struct session_relation *relation,
                                bool *ret_changed) {
  struct net_rows pending;
  net_rows_init(&pending, session_write_layout(relation));
  enum base_status status =
      st_pending_load(session->database, relation->ng.name, pending.layout, &pending);
  *ret_changed = pending.count > 0 || relation->checkpoint != NET_FOREVER;
  if (relation->live) session_drop_live(session);
  relation->live = false;
  if (status == BASE_OK && pending.count > 0) {
    status = st_pending_save(session->database, relation->ng.name, pending.layout, NULL, NULL, 0);
    if (status == BASE_OK) status = session_put(session, relation, &pending, NULL);
  }
  net_rows_done(&pending);
  return status == BASE_OK && *ret_changed ? set_checkpoint(session, relation, NET_FOREVER)
                                           : status;
}

/* Adds rows (of the write layout) by a statement: never late; the relation counts as closed at forever
 * until the next write, and dependants follow. Under `set checkpoint manual` or with a feed, rows wait for
 * the checkpoint instead; likewise where they are OPEN: they do not say that the relation is complete.
 */
static enum base_status write_rows(struct tql_session *session, struct session_relation *relation,
                                   struct net_rows *rows, bool open, struct session_written *ret) {
  bool changed;
  *ret = (struct session_written){0};
  session->counters.rows_in += rows->count;
  enum base_status status = session_check_samples(session, relation, rows);
  if (status == BASE_OK) status = session_check_integrity(session, relation, rows);
  session->refused = status != BASE_OK;
  if (status != BASE_OK) return status;
  if (open || session_writes_live(session, relation)) return write_live(session, relation, rows);
  status = session_settle(session, relation, &changed);
  if (status == BASE_OK) status = session_put(session, relation, rows, ret);
  if (status == BASE_OK) status = session_recompute_dependants(session, relation);
  return status;
}

/* --- what is said of rows that are not what one would think */

/* On which lines of the file the rows begin: those of each run on consecutive ones. */
struct line_run {
  size_t row;
  int64_t line;
};
struct lines {
  struct line_run *runs;
  size_t count, capacity;
  bool several; /* files: it is counted which record it is */
};

static void note_lines(struct lines *lines, size_t first_row, const int64_t *of_rows,
                       size_t count) {
  for (size_t i = 0; i < count && !lines->several; i++) {
    const struct line_run *last = lines->count > 0 ? &lines->runs[lines->count - 1] : NULL;
    if (last != NULL && of_rows[i] - last->line == (int64_t)(first_row + i - last->row)) continue;
    base_grow(&lines->runs, &lines->capacity, lines->count + 1, sizeof *lines->runs);
    lines->runs[lines->count++] = (struct line_run){first_row + i, of_rows[i]};
  }
}

static int64_t line_of(const struct lines *lines, size_t row) {
  size_t i = lines->count;
  if (lines->several) return (int64_t)row + 1;
  while (i > 0 && lines->runs[i - 1].row > row) i--;
  return i > 0 ? lines->runs[i - 1].line + (int64_t)(row - lines->runs[i - 1].row) : 0;
}

static const char *place_word(const struct lines *lines) {
  return lines->several ? "record" : "line";
}

/* "pkg, host": the domains of RELATION's key. */
static const char *key_text(struct tql_session *session, const struct session_relation *relation) {
  const char *text = "";
  for (size_t i = 0; i < relation->ng.by.count; i++)
    text = base_arena_printf(session->statement_arena, "%s%s%s", text, i > 0 ? ", " : "",
                             relation->ng.layout->fields[relation->ng.by.fields[i]].name);
  return text;
}

static const char superseded_hint[] =
    "give times with fractions; or, where each is to be a tuple, write them into an event relation";

/* LINES are those of the file that the COUNT rows come from; NULL: a statement has made them. */
static void report_superseded(struct tql_session *session, const struct session_relation *relation,
                              size_t count, const struct session_written *written,
                              const struct lines *lines) {
  const char *where = "", *key = key_text(session, relation);
  if (lines != NULL)
    where = base_arena_printf(session->statement_arena, ": %s %lld is followed by %s %lld",
                              place_word(lines), (long long)line_of(lines, written->first),
                              place_word(lines), (long long)line_of(lines, written->next));
  if (written->superseded > 0)
    base_report_hint(session->diags, MSG_SUPERSEDED, session->source, &session->statement->range,
                     superseded_hint,
                     "%zu of %zu records hold for no time, as others of the same %s follow at the "
                     "same time%s",
                     written->superseded, count, key, where);
  if (written->replaced > 0)
    base_report_hint(session->diags, MSG_SUPERSEDED, session->source, &session->statement->range,
                     superseded_hint,
                     "tuples of %s that were there hold for no time any more, as records of the "
                     "same %s follow at the same time: %zu",
                     relation->ng.name, key, written->replaced);
}

/* --- append */

bool session_refuse_derived(struct tql_session *session, const struct session_relation *relation,
                            const struct tql_name *name) {
  if (relation != NULL && !session_is_derived(relation)) return false;
  if (relation == NULL)
    base_report(session->diags, MSG_DERIVED_WRITE, session->source, &name->range,
                "a clock ticks by itself and cannot be written");
  else
    base_report_hint(session->diags, MSG_DERIVED_WRITE, session->source, &name->range,
                     "change the relations that it is derived from", "%s is a %s",
                     relation->ng.name, relation->view ? "view" : "derived relation");
  return true;
}

/* No feed runs that would advance the checkpoint: what waits for it waits for the user. */
static void note_waiting(struct tql_session *session, const struct session_relation *relation,
                         const struct net_rows *rows) {
  size_t waiting = 0;
  for (size_t i = 0; i < rows->count; i++)
    waiting += session_record_time(relation, net_rows_row(rows, i), rows->marks[i]) >=
               relation->checkpoint;
  if (waiting == 0 || session->seat->manual || is_fed(session, relation)) return;
  struct base_buffer time = BASE_BUFFER_EMPTY;
  net_time_print(&time, session->timeline, relation->checkpoint);
  base_report_hint(session->diags, MSG_WAITS, session->source, &session->statement->range,
                   "say checkpoint T for it, or go on with a feed",
                   "%zu tuple%s of %s wait%s for the checkpoint, which is at %s", waiting,
                   waiting == 1 ? "" : "s", relation->ng.name, waiting == 1 ? "s" : "",
                   base_buffer_text(&time));
  base_buffer_done(&time);
}

enum base_status session_append(struct tql_session *session,
                                const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->name);
  if (ng == NULL) return BASE_USER;
  struct session_relation *relation = session_of(session, ng);
  const struct ng_query *query = NULL;
  enum base_status status = tql_analyse_append(&analysis, statement, &query);
  if (status != BASE_OK || session->options.explain_only) return status;
  struct tql_rows rows;
  tql_rows_init(&rows, NULL, query->layout);
  status = session_begin(session);
  if (status == BASE_OK) {
    status = session_run_once(session, query, &rows);
    for (size_t i = 0; i < rows.rows.count; i++) rows.rows.marks[i] &= NET_DEFINITE;
    if (status == BASE_OK) status = session_check_values(session, relation, &rows.rows);
    session->refused = status != BASE_OK;
    /* A tuple beside those that a feed has brought does not say that no more will come. */
    bool open = false;
    struct session_written written = {0};
    if (status == BASE_OK) status = keeps_checkpoint(session, relation, &open);
    if (status == BASE_OK) status = write_rows(session, relation, &rows.rows, open, &written);
    if (status == BASE_OK && written.equal > 0)
      base_report(session->diags, MSG_EQUAL_RECORDS, session->source, &statement->range,
                  written.equal == 1 && rows.rows.count == 1
                      ? "the tuple is in %s already: nothing was added"
                      : "some tuples are in %s already, and were not added again",
                  relation->ng.name);
    if (status == BASE_OK) report_superseded(session, relation, rows.rows.count, &written, NULL);
    if (status == BASE_OK && open) note_waiting(session, relation, &rows.rows);
    status = session_end(session, status);
  }
  tql_rows_done(&rows);
  return status;
}

/* --- copy from a file */

#define BAD_RECORDS_SHOWN 10
#define RECORD_SHOWN_MAX  1000 /* bytes of a record that is shown below a message */

static void report_record(struct tql_session *session, const char *path,
                          const struct net_read_event *event, bool as_note, bool skippable) {
  /* Reports outlive the statement. */
  struct base_source *source = BASE_NEW(session->arena, struct base_source);
  source->name = base_arena_strdup(session->arena, path);
  /* A record of one line can be shown; of several, the place would have to be found again. */
  if (event->record != NULL && event->record_length <= RECORD_SHOWN_MAX &&
      memchr(event->record, '\n', event->record_length) == NULL) {
    source->text = base_arena_strndup(session->arena, event->record, event->record_length);
    source->length = event->record_length;
    source->first_line = (int)event->line;
  }
  struct base_range range = {(int)event->line, (int)event->column, (int)event->line,
                             (int)event->column};
  if (as_note) {
    session_say(session, "%s:%lld:%lld: %s\n", path, (long long)event->line,
                (long long)event->column, event->reason);
  } else {
    base_report_hint(session->diags, event->number, source, &range,
                     skippable
                         ? "nothing of the file was kept; copy ... skipping errors loads the rest, "
                           "and shows what it leaves out"
                         : NULL,
                     "%s", event->reason);
  }
}

/* A table of numbers of rows, and 1. */
static bool is_no_row(const uint32_t *number) {
  return *number == 0;
}

static uint64_t hash_of_slots(const union net_slot *row, uint32_t slots) {
  uint64_t hash = 0;
  for (uint32_t slot = 0; slot < slots; slot++) hash = base_hash_u64((uint64_t)row[slot].i, hash);
  return hash;
}

static uint64_t hash_of_row(const uint32_t *number, const void *rows) {
  return hash_of_slots(net_rows_row(rows, *number - 1),
                       ((const struct net_rows *)rows)->layout->slot_count);
}

static bool is_equal_row(const uint32_t *number, const void *row, const void *rows) {
  size_t slots = ((const struct net_rows *)rows)->layout->slot_count;
  return memcmp(net_rows_row(rows, *number - 1), row, slots * sizeof(union net_slot)) == 0;
}
BASE_HASH_TABLE(row_numbers, uint32_t, is_no_row, hash_of_row, is_equal_row);

/* How many of ROWS are equal to earlier ones, and the first of these pairs. Ends and rounds do not count. */
static size_t count_equal(const struct net_rows *rows, size_t *ret_first, size_t *ret_again) {
  struct row_numbers numbers = {0};
  size_t equal = 0;
  for (size_t i = 0; i < rows->count && i < UINT32_MAX; i++) {
    if (rows->marks[i] & (NET_CLOSES | NET_ROUND)) continue;
    const union net_slot *row = net_rows_row(rows, i);
    uint64_t hash = hash_of_slots(row, rows->layout->slot_count);
    uint32_t *number = row_numbers_place(&numbers, hash, row, rows);
    if (*number == 0)
      *number = (uint32_t)(i + 1);
    else if (equal++ == 0)
      *ret_first = *number - 1, *ret_again = i;
  }
  row_numbers_done(&numbers);
  return equal;
}

/* A relation is a set: of records that are equal one counts. EQUAL is how many storage has found; it does not see the
 * records that traced and sampled relations are made from. */
static void note_equal(struct tql_session *session, const struct session_relation *relation,
                       const struct net_rows *rows, const struct lines *lines, size_t equal) {
  size_t first = 0, again = 0;
  bool seen = relation->ng.records == NULL;
  if (rows->count == 0 || (seen && equal == 0)) return;
  size_t among = count_equal(rows, &first, &again);
  size_t there = seen && equal > among ? equal - among : 0;
  if (among > 0)
    base_report_hint(session->diags, MSG_EQUAL_RECORDS, session->source, &session->statement->range,
                     "a relation is a set; where each counts, add a domain that tells them apart, "
                     "such as a number",
                     "%zu of %zu records are equal to others, in their times and all domains, and "
                     "count once: %s %lld is equal to %s %lld",
                     among, rows->count, place_word(lines), (long long)line_of(lines, again),
                     place_word(lines), (long long)line_of(lines, first));
  if (there > 0)
    base_report_hint(session->diags, MSG_EQUAL_RECORDS, session->source, &session->statement->range,
                     "a relation is a set: what is there already is not added again",
                     "%zu of %zu records are equal to tuples that were there before", there,
                     rows->count);
}

/* Reads all of READER into ROWS; checkpoints are ignored: a file is closed when it is read. */
static enum base_status read_all(struct tql_session *session, struct session_relation *relation,
                                 struct net_reader *reader, const char *path, bool skipping,
                                 struct net_rows *rows, struct lines *lines, uint64_t *ret_bad,
                                 struct net_read_event *ret_last) {
  struct net_batch_builder builder;
  struct net_read_event event = {0};
  net_batch_builder_init(&builder, reader->layout, NET_BATCH_ROWS);
  session->doing = "reading the file";
  enum base_status status = BASE_OK;
  bool more = true;
  while (more && status == BASE_OK) {
    if (base_env_interrupted()) {
      status = BASE_CANCEL;
      break;
    }
    switch (reader->class->read(reader, &builder, &event)) {
      case NET_READ_ROWS:
        note_lines(lines, rows->count, event.lines, builder.count);
        net_rows_add_all(rows, builder.rows, builder.marks, builder.count);
        net_batch_builder_clear(&builder);
        break;
      case NET_READ_END_RECORD:
        event.reason = relation->ng.records != NULL
                           ? session_unnamed(relation, &event)
                           : "an end record in a file that is copied as a whole";
        if (event.reason == NULL) {
          union net_slot *row = net_rows_add(rows, NET_DEFINITE | NET_CLOSES);
          memcpy(row, event.row, reader->layout->slot_count * sizeof *row);
          row[0].i = row[1].i = event.time;
        } else {
          event.number = relation->ng.records ? MSG_END_OF_NOBODY : MSG_END_RECORD;
          report_record(session, path, &event, false, false);
          status = BASE_USER;
        }
        break;
      case NET_READ_ROUND:
        if (session_is_sampled(relation)) {
          union net_slot *row = net_rows_add(rows, NET_DEFINITE | NET_ROUND);
          row[0].i = row[1].i = event.time;
        }
        break;
      case NET_READ_CHECKPOINT:
        break;
      case NET_READ_BAD:
        if (skipping) {
          if ((*ret_bad)++ < BAD_RECORDS_SHOWN) report_record(session, path, &event, true, true);
        } else {
          report_record(session, path, &event, false, true);
          status = BASE_USER;
        }
        break;
      case NET_READ_AGAIN:
        break;
      case NET_READ_FAILED:
        report_record(session, path, &event, false, false);
        status = BASE_SYSTEM;
        break;
      case NET_READ_END:
      default:
        session_note_unit(session, relation, event.unit);
        ret_last->empty_periods += event.empty_periods;
        if (ret_last->year_assumed == 0) ret_last->year_assumed = event.year_assumed;
        more = false;
    }
  }
  net_batch_builder_done(&builder);
  return status;
}

/* Of a file that is read `skipping errors`: rows that break a rule are errors, too. */
static enum base_status skip_broken(struct tql_session *session, struct session_relation *relation,
                                    const char *path, struct net_rows *rows, uint64_t *bad) {
  size_t kept = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    const struct session_rule *broken = NULL;
    enum base_status status = rows->marks[i] & (NET_CLOSES | NET_ROUND)
                                  ? BASE_OK
                                  : session_broken_rule(session, relation, row, &broken);
    if (status != BASE_OK) return status;
    if (broken == NULL) {
      memmove(net_rows_row(rows, kept), row, rows->layout->slot_count * sizeof *row);
      rows->marks[kept++] = rows->marks[i];
    } else if ((*bad)++ < BAD_RECORDS_SHOWN) {
      struct base_buffer text = BASE_BUFFER_EMPTY;
      session_print_row(session, &text, rows->layout, row);
      session_say(session, "%s: %s: %s\n", path, base_buffer_text(&text),
                  session_rule_reason(session->statement_arena, relation, broken));
      base_buffer_done(&text);
    }
  }
  rows->count = kept;
  return BASE_OK;
}

/* All of the files into ROWS. */
static enum base_status read_files(struct tql_session *session,
                                   const struct tql_statement *statement,
                                   struct session_relation *relation,
                                   struct sn_reader_options *options, struct net_rows *rows,
                                   struct lines *lines, uint64_t *bad) {
  const char *const *paths;
  size_t count;
  struct net_read_event last = {0};
  enum base_status status = session_files_of(session, statement, &paths, &count);
  lines->several = status == BASE_OK && count > 1;
  for (size_t i = 0; status == BASE_OK && i < count; i++) {
    struct net_reader *reader = NULL;
    options->path = paths[i];
    if (session->input_kept > 0 && lseek(session->input_kept, 0, SEEK_SET) == 0) {
      options->path = NULL;
      options->descriptor = session->input_kept;
    }
    status = session_open_reader(session, statement, options, &reader);
    if (status != BASE_OK) break;
    status = read_all(session, relation, reader, paths[i], statement->skipping_errors, rows, lines,
                      bad, &last);
    reader->class->free(reader);
  }
  if (status == BASE_OK) session_note_read(session, relation, options->form, &last);
  return status;
}

static enum base_status copy_from(struct tql_session *session,
                                  const struct tql_statement *statement,
                                  struct session_relation *relation) {
  struct sn_reader_options options = {.layout = session_write_layout(relation),
                                      .time = session->seat->time,
                                      .strings = session->strings,
                                      .timeless = relation->kind == ST_SNAPSHOT};
  int64_t began = base_env_monotonic();
  enum base_status status = session_file_form(session, statement, relation, &options.form);
  if (status != BASE_OK) return status;
  struct net_rows rows;
  struct lines lines = {0};
  uint64_t bad = 0;
  struct session_written written = {0};
  net_rows_init(&rows, options.layout);
  status = read_files(session, statement, relation, &options, &rows, &lines, &bad);
  session->counters.load_ns += base_env_monotonic() - began;
  if (status == BASE_OK && statement->skipping_errors)
    status = skip_broken(session, relation, statement->path, &rows, &bad);
  if (status == BASE_OK) {
    status = session_begin(session);
    if (status == BASE_OK)
      status = session_end(session, write_rows(session, relation, &rows, false, &written));
  }
  if (status == BASE_OK) note_equal(session, relation, &rows, &lines, written.equal);
  if (status == BASE_OK) report_superseded(session, relation, rows.count, &written, &lines);
  if (status == BASE_OK && statement->skipping_errors)
    session_say(session, "%llu record%s skipped\n", (unsigned long long)bad, bad == 1 ? "" : "s");
  net_rows_done(&rows);
  free(lines.runs);
  return status;
}

/* --- copy into a file */

/* A regular file is replaced as a whole or not at all; a pipe or device is written to. What has been formatted is
 * written as it comes, so that no more of it is in memory than that. */
struct copy_target {
  const char *path, *written; /* where it goes, and meanwhile */
  FILE *file;
  int error; /* errno of the first failure; 0: there was none */
};

enum { COPY_POUR_AT = 1 << 16 };

static void open_target(struct tql_session *session, const char *path, struct copy_target *ret) {
  struct stat known;
  bool special = stat(path, &known) == 0 && !S_ISREG(known.st_mode);
  *ret = (struct copy_target){.path = path, .written = path};
  if (!special)
    ret->written = base_arena_printf(session->statement_arena, "%s.%ld.part", path, (long)getpid());
  ret->file = fopen(ret->written, "wb");
  if (ret->file == NULL) ret->error = errno;
}

static void pour_into(void *context, struct base_buffer *out) {
  struct copy_target *target = context;
  if (target->error == 0 &&
      fwrite(base_buffer_text(out), 1, out->length, target->file) != out->length)
    target->error = errno;
  base_buffer_clear(out);
}

/* False: nothing has changed at its path, and errno says why. */
static bool close_target(struct copy_target *target) {
  bool own = target->written != target->path;
  if (target->file == NULL) {
    errno = target->error;
    return false;
  }
  if (fflush(target->file) != 0 && target->error == 0) target->error = errno;
  if (fclose(target->file) != 0 && target->error == 0) target->error = errno;
  if (target->error == 0 && own && rename(target->written, target->path) != 0)
    target->error = errno;
  if (target->error == 0) return true;
  if (own) unlink(target->written);
  errno = target->error;
  return false;
}

static bool write_file(struct tql_session *session, const char *path, enum tql_format format,
                       const struct tql_rows *rows) {
  struct copy_target target;
  struct base_buffer out = BASE_BUFFER_EMPTY;
  open_target(session, path, &target);
  if (target.file != NULL) {
    const struct tql_format_context context = {.format = format,
                                               .timeline = session->timeline,
                                               .strings = session->strings,
                                               .pour = pour_into,
                                               .pour_context = &target,
                                               .pour_at = COPY_POUR_AT};
    tql_format_rows(&out, &context, rows);
    pour_into(&target, &out);
  }
  base_buffer_done(&out);
  return close_target(&target);
}

static enum base_status copy_into(struct tql_session *session,
                                  const struct tql_statement *statement,
                                  struct session_relation *relation) {
  const char *dot = strrchr(statement->path, '.');
  bool ndjson = dot != NULL && (strcasecmp(dot, ".ndjson") == 0 || strcasecmp(dot, ".jsonl") == 0);
  if (!ndjson && (dot == NULL || strcasecmp(dot, ".csv") != 0)) {
    base_report_hint(session->diags, MSG_COPY_SUFFIX, session->source, &statement->path_range,
                     "call it NAME.csv or NAME.ndjson",
                     "the name of the file does not say its format");
    return BASE_USER;
  }
  if (session->options.explain_only) return BASE_OK;
  session_warn_incomplete(session, relation);
  struct tql_rows rows;
  enum base_status status = session_rows_of(session, relation, &rows);
  if (status == BASE_OK) {
    status = tql_rows_finish(&rows, session->strings);
  }
  if (status == BASE_OK) {
    session->counters.rows_out += rows.rows.count;
    int64_t began = base_env_monotonic();
    if (!write_file(session, statement->path, ndjson ? TQL_FORMAT_NDJSON : TQL_FORMAT_CSV, &rows)) {
      base_report(session->diags, MSG_CANNOT_WRITE, session->source, &statement->path_range,
                  "cannot write %s: %s", statement->path, strerror(errno));
      status = BASE_SYSTEM;
    }
    session->counters.output_ns += base_env_monotonic() - began;
  }
  tql_rows_done(&rows);
  return status;
}

enum base_status session_copy(struct tql_session *session, const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->name);
  if (ng == NULL) return BASE_USER;
  struct session_relation *relation = session_of(session, ng);
  struct tql_statement here = *statement;
  here.path = session_path(session, statement);
  if (here.path == NULL) return BASE_USER;
  if (here.copy_into) return copy_into(session, &here, relation);
  if (session_refuse_derived(session, relation, &here.name)) return BASE_USER;
  if (session->options.explain_only) return BASE_OK;
  if (here.following) return session_add_feed(session, &here, relation);
  return copy_from(session, &here, relation);
}

/* --- checkpoint */

enum base_status session_checkpoint(struct tql_session *session,
                                    const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  struct session_relation *only = NULL;
  if (statement->name.text != NULL) {
    const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->name);
    if (ng == NULL) return BASE_USER;
    only = session_of(session, ng);
    if (session_refuse_derived(session, only, &statement->name)) return BASE_USER;
  }
  net_chronon time;
  enum base_status status = tql_analyse_time(&analysis, statement->expr, false, &time);
  if (status != BASE_OK || session->options.explain_only) return status;
  status = session_begin(session);
  if (status != BASE_OK) return status;
  for (size_t i = 0; status == BASE_OK && i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if ((only != NULL && relation != only) || session_is_derived(relation)) continue;
    if (session_is_system_name(relation->ng.name)) continue;
    bool fed = false;
    status = keeps_checkpoint(session, relation, &fed);
    if (status != BASE_OK) break;
    if (session->seat->manual || relation->live || fed) {
      status = session_make_live(session, relation);
      if (status == BASE_OK) status = session_advance(session, relation, time);
    } else {
      /* A word about a closed relation: it is open again from TIME on. */
      status = set_checkpoint(session, relation, time);
      if (status == BASE_OK) status = session_recompute_dependants(session, relation);
    }
  }
  return session_end(session, status);
}
