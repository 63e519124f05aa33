/* What does not go into its relation and is not dropped either: late records into Late, bad records and
 * the combinations that a standing query fails on into Rejected.
 *
 * Both are relations like others, so they are sets: of identical records each is told apart by a number
 * in its reason. What is derived from them is computed anew with the statement or the group of
 * records that brought the rows. Who decides what is late or bad is elsewhere (waiting.c, integrity.c, and
 * the rooms of feeds and sources). */
#include <stdlib.h>
#include <string.h>

#include "engine/base/printable.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/users/users.h"

/* How many records of a relation have come into Late or Rejected. */
struct session_diverted {
  const char *where;         /* "Late", "Rejected"; "equal": to others */
  char *name;                /* the relation they were for */
  uint64_t count, committed; /* in this session: now, and as of the last commit */
  uint64_t say_at;           /* the count at which it is said again */
};

/* Is ROW there, with its reason as the NUMBERth of them? */
static enum base_status has_numbered(struct tql_session *session, const struct session_relation *to,
                                     union net_slot *row, const char *reason, uint64_t number,
                                     bool *ret) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_puts(&text, reason);
  if (number > 1) base_buffer_printf(&text, " (%llu)", (unsigned long long)number);
  row[3].s = base_strings_intern(session->strings, base_buffer_text(&text), text.length);
  base_buffer_done(&text);
  return st_has(session->database, to->ng.name, to->ng.layout, row, ret);
}

/* Where the same record has been diverted before for the same reason, ROW gets that reason with a number:
 * "before the checkpoint (2)". A relation is a set, and would count them once. A source that has gone
 * mad may bring a great many of them, so the first number that is free is not looked for one by one. */
static enum base_status number_reason(struct tql_session *session,
                                      const struct session_relation *to, union net_slot *row,
                                      const char *reason) {
  uint64_t taken = 0, free = 1;
  bool there = false;
  enum base_status status = has_numbered(session, to, row, reason, free, &there);
  while (status == BASE_OK && there) {
    taken = free;
    free *= 2;
    status = has_numbered(session, to, row, reason, free, &there);
  }
  while (status == BASE_OK && free - taken > 1) {
    uint64_t middle = taken + (free - taken) / 2;
    status = has_numbered(session, to, row, reason, middle, &there);
    if (there)
      taken = middle;
    else
      free = middle;
  }
  return status == BASE_OK ? has_numbered(session, to, row, reason, free, &there) : status;
}

/* --- what is said of it */

/* The first at once, then the tenth, the hundredth and so on: who feeds nonsense learns it before the end, and a feed
 * without end does not say it without end. */
static bool is_to_say(struct session_diverted *counts, uint64_t more) {
  if (__builtin_add_overflow(counts->count, more, &counts->count)) counts->count = UINT64_MAX;
  if (counts->count < counts->say_at) return false;
  while (counts->say_at <= counts->count)
    if (__builtin_mul_overflow(counts->say_at, 10, &counts->say_at)) {
      counts->say_at = UINT64_MAX; /* and never again */
      break;
    }
  return true;
}

static struct session_diverted *counts_of(struct tql_session *session, const char *where,
                                          const char *name) {
  for (size_t i = 0; i < session->diverted_count; i++) {
    struct session_diverted *known = &session->diverted[i];
    if (strcmp(known->where, where) == 0 && strcmp(known->name, name) == 0) return known;
  }
  base_grow(&session->diverted, &session->diverted_capacity, session->diverted_count + 1,
            sizeof *session->diverted);
  struct session_diverted *counts = &session->diverted[session->diverted_count++];
  *counts = (struct session_diverted){.where = where, .name = base_xstrdup(name), .say_at = 1};
  return counts;
}

static void note_diverted(struct tql_session *session, const char *where, const char *name,
                          const char *reason) {
  struct session_diverted *counts = counts_of(session, where, name);
  bool first = counts->count == 0;
  session_doubt_displays_of(session, name);
  if (!is_to_say(counts, 1)) return;
  session_tell_displays(session, name, where, counts->count);
  if (!first)
    base_report(session->diags, MSG_DIVERTED, NULL, NULL,
                "%s: %llu records are in %s by now, the last one: %s", name,
                (unsigned long long)counts->count, where, reason);
  else
    base_report(session->diags, MSG_DIVERTED, NULL, NULL, "%s: a record is in %s: %s", name, where,
                reason);
}

void session_note_lost(struct tql_session *session, const char *relation, uint64_t count) {
  struct session_diverted *counts = counts_of(session, "Lost", relation);
  session_doubt_displays_of(session, relation);
  if (is_to_say(counts, count > 0 ? count : 1))
    session_tell_displays(session, relation, "Lost", counts->count);
}

/* What sensors bring has times so exact that it is not worth a word. */
static void note_superseded(struct tql_session *session, const struct session_relation *relation) {
  if (relation->waiting.superseded == 0 || relation->sensors.announced) return;
  struct session_diverted *counts = counts_of(session, "superseded", relation->ng.name);
  if (!is_to_say(counts, relation->waiting.superseded)) return;
  base_report_hint(session->diags, MSG_SUPERSEDED, NULL, NULL,
                   "give times with fractions; or, where each is to be a tuple, feed them into an "
                   "event relation",
                   "%s: %llu of the records that were fed hold for no time, as others of the same "
                   "entity follow at the same time",
                   relation->ng.name, (unsigned long long)counts->count);
}

/* A relation is a set. What sensors bring of a traced relation may say again what is known; that is not said. */
void session_note_equal(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    uint64_t equal = relation->waiting.repeated;
    note_superseded(session, relation);
    relation->waiting.repeated = relation->waiting.superseded = 0;
    if (!relation->live || session_is_derived(relation) || relation->ng.records != NULL ||
        session_is_system_name(relation->ng.name))
      continue;
    equal += st_fed_equal(session->database, relation->ng.name);
    if (equal == 0) continue;
    struct session_diverted *counts = counts_of(session, "equal", relation->ng.name);
    if (!is_to_say(counts, equal)) continue;
    base_report_hint(
        session->diags, MSG_EQUAL_RECORDS, NULL, NULL,
        "a relation is a set; where each counts, add a domain that tells them apart, "
        "such as a number",
        "%s: %llu of the records that were fed are equal to others, in their times and "
        "all domains, and count once",
        relation->ng.name, (unsigned long long)counts->count);
  }
}

void session_settle_diverted(struct tql_session *session, bool kept) {
  for (size_t i = 0; i < session->relation_count && !kept; i++)
    session->relations[i]->waiting.repeated = session->relations[i]->waiting.superseded = 0;
  for (size_t i = 0; i < session->diverted_count; i++) {
    struct session_diverted *counts = &session->diverted[i];
    if (kept)
      counts->committed = counts->count;
    else
      counts->count = counts->committed;
  }
}

void session_free_diverted(struct tql_session *session) {
  for (size_t i = 0; i < session->diverted_count; i++) free(session->diverted[i].name);
  free(session->diverted);
}

/* --- putting it there */

/* The record as it came, but for what no text of a relation may have: bytes that are no UTF-8, and the character NUL, at
 * which SQL would end it. They are written out. */
static base_string_id intern_record(struct tql_session *session, const char *record,
                                    size_t length) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  uint32_t point;
  for (size_t i = 0, size; i < length; i += size) {
    size = base_utf8(record + i, length - i, &point);
    if (size > 0 && record[i] != 0) {
      base_buffer_append(&text, record + i, size);
      continue;
    }
    base_buffer_printf(&text, "\\x%02x", (unsigned char)record[i]);
    size = 1;
  }
  base_string_id id = base_strings_intern(session->strings, base_buffer_text(&text), text.length);
  base_buffer_done(&text);
  return id;
}

static enum base_status put_diverted(struct tql_session *session, const char *system_relation,
                                     const char *name, net_chronon at, const char *reason,
                                     const char *record, size_t record_length, bool numbered) {
  struct session_relation *to = session_system_relation(session, system_relation);
  if (to == NULL) return BASE_SYSTEM;
  union net_slot row[5];
  BASE_CHECK(to->ng.layout->slot_count == 5, "divert-layout");
  row[0].i = row[1].i = at;
  row[2].s = base_strings_intern_text(session->strings, name);
  row[3].s = base_strings_intern_text(session->strings, reason);
  row[4].s = intern_record(session, record, record_length);
  struct net_store *store = st_net(session->database);
  to->waiting.diverted = true;
  enum base_status status = numbered ? number_reason(session, to, row, reason) : BASE_OK;
  return status != BASE_OK
             ? status
             : store->class->put(store, to->ng.name, to->ng.layout, row, NET_DEFINITE);
}

enum base_status session_divert(struct tql_session *session, const char *system_relation,
                                struct session_relation *relation, net_chronon at,
                                const char *reason, const char *record, size_t record_length) {
  return session_divert_named(session, system_relation, relation ? relation->ng.name : "", at,
                              reason, record, record_length);
}

enum base_status session_divert_named(struct tql_session *session, const char *system_relation,
                                      const char *name, net_chronon at, const char *reason,
                                      const char *record, size_t record_length) {
  note_diverted(session, system_relation, name, reason);
  return put_diverted(session, system_relation, name, at, reason, record, record_length, true);
}

enum base_status session_divert_combination(struct tql_session *session,
                                            struct session_relation *relation, net_chronon at,
                                            const char *reason, const char *record,
                                            size_t record_length) {
  return put_diverted(session, "Rejected", relation ? relation->ng.name : "", at, reason, record,
                      record_length, false);
}

/* --- how much there is of it */

struct counting {
  const struct tql_session *session;
  uint64_t *counts; /* by the session's relations */
};

static enum base_status count_batch(void *context, const struct net_batch *batch) {
  const struct counting *counting = context;
  const struct tql_session *session = counting->session;
  for (uint32_t i = 0; i < batch->count; i++) {
    size_t length, number = 0;
    const char *name = base_strings_text(session->strings, net_batch_row(batch, i)[2].s, &length);
    while (number < session->relation_count &&
           strcmp(session->relations[number]->ng.name, name) != 0)
      number++;
    if (number < session->relation_count) counting->counts[number]++;
  }
  return BASE_OK;
}

uint64_t *session_count_rejected(struct tql_session *session) {
  uint64_t *counts = base_xcalloc(session->relation_count + 1, sizeof *counts);
  const struct session_relation *rejected = session_find(session, "Rejected");
  if (rejected == NULL) return counts;
  struct counting counting = {session, counts};
  const struct net_scan scan = {.relation = rejected->ng.name,
                                .layout = rejected->ng.layout,
                                .form = NET_SCAN_TUPLES,
                                .checkpoint = NET_FOREVER};
  /* What cannot be read is not counted. */
  (void)net_store_each_batch(st_net(session->database), &scan, count_batch, &counting);
  return counts;
}
