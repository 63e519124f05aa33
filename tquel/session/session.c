/* Opening, closing, and running texts of statements. */
#include "tquel/session/session.h"

#include <stdlib.h>

#include "engine/base/budget.h"
#include "engine/base/env.h"
#include "tquel/session/catalogue/unusable.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/results/results.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

enum base_status tql_session_open(const struct tql_session_options *options,
                                  struct base_diag_sink *diags, struct tql_session **ret) {
  struct tql_session *session = base_xcalloc(1, sizeof *session);
  session->options = *options;
  session->memory_usual = base_memory_of_machine() / 2;
  session->diags = diags;
  session->arena = base_arena_new();
  session->strings = base_strings_new();
  struct st_options storage = {
      .path = options->path,
      .readonly = options->readonly || (options->explain_only && options->path != NULL),
      .timeline = options->timeline,
      .timeline_given = options->timeline_given,
      .log_limit = options->log_limit,
      .bring_in = options->bring_in,
      .is_own = options->is_own,
      .removes_later = options->bring_in != NULL,
      .context = options->context};
  enum base_status status = st_open(&storage, session->strings, diags, &session->database);
  if (status == BASE_OK) {
    session->timeline = st_timeline(session->database);
    bool real = session->timeline == NET_TIMELINE_REAL;
    session->seat = session_seat_new(session);
    session->seat->time.zone = net_zone_local();
    session->seat->owner = session->seat->files = true;
    session->durable_ns = 200 * (int64_t)1000000;
    session->source_grace = 5 * (int64_t)1000000000;
    session->future_limit = real ? 3600 * (int64_t)1000000000 : INT64_MAX;
    if (options->explain_only) {
      session->gathered = ng_plan_new(session->arena, session->strings, session->timeline);
      session->gathered_final = ng_plan_new(session->arena, session->strings, session->timeline);
    }
    status = session_load_catalogue(session);
    if (status == BASE_OK) {
      session_check_definitions(session);
      if (!options->check_only) session_report_unusable(session);
    }
    if (status == BASE_OK && options->explain_only)
      status = session_load_explained_indexes(session);
    if (status == BASE_OK) status = session_expire(session);
    session_fold_init(&session->fold, status == BASE_OK && !options->readonly);
  }
  if (status != BASE_OK) {
    tql_session_close(session);
    return status;
  }
  *ret = session;
  return BASE_OK;
}

void tql_session_close(struct tql_session *session) {
  if (session == NULL) return;
  if (session->database != NULL && session->group_open) {
    enum base_status committed = session_commit_group(session);
    (void)committed; /* reported; what was not committed was not acknowledged */
  }
  session_forget_kept(session);
  session_spares_done(&session->spares);
  session_store_held(session);
  if (session->database != NULL) session_fold_all(session);
  session_age_all(session);
  if (session->database != NULL) session_upkeep_end(session);
  session_remove_feeds(session, NULL);
  tql_session_on_watch(session, NULL);
  while (session->seat_count > 0) tql_seat_free(session->seats[session->seat_count - 1]);
  while (session->relation_count > 0)
    session_remove_relation(session, session->relations[session->relation_count - 1]);
  session_drop_live(session);
  st_close(session->database);
  free(session->relations);
  free(session->unusable);
  session_sources_free(session);
  free(session->seats);
  free(session->displays);
  free(session->feeds);
  session_free_diverted(session);
  base_strings_free(session->strings);
  base_arena_free(session->arena);
  free(session);
}

/* --- seats */

void tql_seat_stop_displays(struct tql_seat *seat) {
  bool views = session_stop_displays(seat);
  if (views || seat->session->live == NULL) session_drop_live(seat->session);
}

void tql_seat_free(struct tql_seat *seat) {
  if (seat == NULL) return;
  BASE_CHECK(seat->session->statement == NULL || seat->session->seat != seat, "seat-at-work");
  tql_seat_stop_displays(seat);
  session_seat_free(seat);
}

/* --- statements */

static const char *const keywords[] = {
    [TQL_S_RANGE] = "range",
    [TQL_S_CREATE] = "create",
    [TQL_S_RETRIEVE] = "retrieve",
    [TQL_S_APPEND] = "append",
    [TQL_S_DELETE] = "delete",
    [TQL_S_REPLACE] = "replace",
    [TQL_S_COPY] = "copy",
    [TQL_S_DISPLAY] = "display",
    [TQL_S_PRINT] = "print",
    [TQL_S_DESTROY] = "destroy",
    [TQL_S_HELP] = "help",
    [TQL_S_EXPLAIN] = "explain",
    [TQL_S_CHECKPOINT] = "checkpoint",
    [TQL_S_SET] = "set",
    [TQL_S_INDEX] = "index",
    [TQL_S_MODIFY] = "modify",
    [TQL_S_SAVE] = "save",
    [TQL_S_VIEW] = "define",
    [TQL_S_PERMIT] = "define",
    [TQL_S_INTEGRITY] = "define",
};

/* The name that the timing line carries. */
static const char *subject(const struct tql_statement *statement) {
  if (statement->name.text != NULL) return statement->name.text;
  if (statement->name_count > 0) return statement->names[0].text;
  return statement->variable.text != NULL ? statement->variable.text : "-";
}

static void report_timing(struct tql_session *session, const struct tql_statement *statement,
                          int64_t total_ns) {
  if (session->output == NULL || session->output->timing == NULL) return;
  const struct session_counters *counters = &session->counters;
  char *line = base_arena_printf(
      session->statement_arena,
      "timing: %s %s total_us=%lld load_us=%lld network_us=%lld output_us=%lld rows_in=%llu "
      "rows_out=%llu",
      keywords[statement->kind], subject(statement), (long long)(total_ns / 1000),
      (long long)(counters->load_ns / 1000), (long long)(counters->network_ns / 1000),
      (long long)(counters->output_ns / 1000), (unsigned long long)counters->rows_in,
      (unsigned long long)counters->rows_out);
  session->output->timing(session->output->context, line);
}

/* Does it only look, and show what it has found at its end? */
static bool only_looks(const struct tql_statement *statement) {
  switch (statement->kind) {
    case TQL_S_RETRIEVE:
      return statement->name.text == NULL;
    case TQL_S_PRINT:
      return true;
    case TQL_S_EXPLAIN:
      return statement->analyze;
    default:
      return false;
  }
}

/* Whatever has no place of its own (the database, a disk, a clock) happened at this statement. */
static void say_where(struct tql_session *session, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) {
    struct base_diag *diag = &session->diags->items[i];
    if (diag->source != NULL || diag->range.first_line > 0) continue;
    diag->source = session->source;
    diag->range = session->statement->range;
  }
}

/* What it said, as far as it came, is not said, but for what a reader that runs it does not know: how late clocks are. */
static enum base_status give_back(struct tql_session *session, size_t diags) {
  struct base_diag_sink *sink = session->diags;
  size_t kept = diags;
  for (size_t i = diags; i < sink->count && !session->awaits; i++) {
    if (sink->items[i].number != MSG_KNOWN_LESS_FAR) continue;
    struct base_diag late = sink->items[i];
    sink->items[i] = sink->items[kept];
    sink->items[kept++] = late;
  }
  say_where(session, diags, kept);
  base_diag_drop(session->diags, kept);
  base_diag_release(session->diags);
  session_budget_end(session);
  session->statement = NULL;
  return BASE_AGAIN;
}

/* The tables say all that is known of sampled relations' runs: they are read as they lie. */
static enum base_status bring_up_tables(struct tql_session *session) {
  base_env_shield();
  enum base_status status = session_save_runs(session);
  base_env_unshield();
  if (status != BASE_OK && session->group_open) session_take_back(session);
  return status;
}

/* Why a statement has failed that said nothing: it was interrupted, perhaps when it was DONE; or TQ-0863. */
static void account(struct tql_session *session, const struct tql_statement *statement,
                    enum base_status status, bool done) {
  if (status == BASE_USER || status == BASE_SYSTEM) {
    base_report(session->diags, MSG_UNEXPLAINED, session->source, &statement->range,
                "the statement failed, and nothing says why");
  } else if (status == BASE_CANCEL) {
    base_report(session->diags, MSG_CANCELLED, session->source, &statement->range,
                done && !only_looks(statement) ? "interrupted behind this statement, which was done"
                                               : "the statement was interrupted");
  }
}

static int64_t now_of(const struct tql_seat *seat, int64_t given) {
  if (given != 0) return given;
  return seat->now ? seat->now : base_env_now();
}

/* NOW: what `now` is; 0: as of the seat. */
static enum base_status run_one(struct tql_session *session, const struct tql_statement *statement,
                                int64_t patience, int64_t now) {
  size_t errors = session->diags->errors;
  session->statement = statement;
  session->seat->time.now = now_of(session->seat, now);
  session->counters = (struct session_counters){0};
  session_forget_kept_before(session, statement->kind);
  int64_t began = base_env_monotonic();
  base_diag_hold(session->diags);
  size_t before = session->diags->count;
  session->impatient = session->awaits = false;
  session->patient_until = INT64_MAX;
  if (patience > 0 && only_looks(statement)) session->patient_until = began + patience;
  session_budget_begin(session);
  enum base_status status = session_check_seat(session, statement);
  if (status == BASE_OK) status = bring_up_tables(session);
  const struct tql_statement *permitted =
      status == BASE_OK ? session_permitted(session, statement) : NULL;
  if (status == BASE_OK) status = permitted ? session_execute(session, permitted) : BASE_USER;
  bool silent = session->diags->errors == errors;
  /* Whoever lost on the way that he was interrupted. */
  if ((status == BASE_USER || status == BASE_SYSTEM) && silent && base_env_interrupted())
    status = BASE_CANCEL;
  /* Another process has memory of its own. */
  if (status == BASE_CANCEL && session->patient_until != INT64_MAX &&
      base_budget_excess() != BASE_EXCESS_NONE)
    session->impatient = true;
  session_has_shown(session);
  /* What was to be committed with the group is as if it had not been. */
  if (session->group_open && st_has_failed(session->database)) session_take_back(session);
  if (status == BASE_CANCEL && (session->impatient || session->awaits))
    return give_back(session, before);
  say_where(session, before, session->diags->count);
  base_diag_release(session->diags);
  if (status == BASE_CANCEL && session_report_excess(session, &statement->range))
    status = BASE_SYSTEM;
  session_budget_end(session); /* what is done is done, whatever it took */
  bool done = status == BASE_OK;
  if (done && base_env_interrupted()) status = BASE_CANCEL;
  if (session->diags->errors == errors) account(session, statement, status, done);
  if (status == BASE_OK) report_timing(session, statement, base_env_monotonic() - began);
  session->statement = NULL;
  return status;
}

bool tql_seat_is_impatient(struct tql_seat *seat) {
  struct tql_session *session = seat->session;
  if (session->patient_until == INT64_MAX) return false;
  session->impatient |= base_env_monotonic() >= session->patient_until;
  return session->impatient;
}

/* The statements of session->source. BASE_OK; or, when it took too much or was interrupted, an error: reported. */
static enum base_status parse(struct tql_session *session, int first_line,
                              struct tql_statement ***ret, size_t *ret_count, bool *ret_parsed) {
  enum base_status status = BASE_OK;
  size_t before = session->diags->count;
  base_diag_hold(session->diags);
  session_has_shown(session); /* nobody else would be quicker */
  session_budget_begin(session);
  session->doing = "reading the statements";
  *ret = tql_parse(session->statement_arena, session->source, first_line, session->diags, ret_count,
                   ret_parsed);
  if (!*ret_parsed && base_env_interrupted()) {
    base_diag_drop(session->diags, before);
    *ret_count = 0;
    status = session_report_excess(session, NULL) ? BASE_SYSTEM : BASE_CANCEL;
    if (status == BASE_CANCEL)
      base_report(session->diags, MSG_CANCELLED, session->source, NULL, "the text was not read");
  }
  session_budget_end(session);
  base_diag_release(session->diags);
  return status;
}

enum base_status tql_seat_run_part(struct tql_seat *seat, const struct tql_part *part,
                                   const struct tql_output *output, struct tql_rest *ret) {
  struct tql_session *session = seat->session;
  /* Diagnostics show it: on seat 0 as long as the session lives, else until the seat's next statements. */
  struct base_arena *texts = session->arena;
  if (seat != session->seats[0]) {
    base_arena_free(seat->texts);
    texts = seat->texts = base_arena_new();
  }
  struct base_source *source = BASE_NEW(texts, struct base_source);
  *source = (struct base_source){.name = base_arena_strdup(texts, part->name),
                                 .text = base_arena_strndup(texts, part->text, part->length),
                                 .length = part->length,
                                 .first_line = part->first_line};
  struct base_arena *arena = base_arena_new();
  size_t count = 0;
  bool parsed = true;
  session->seat = seat;
  session->output = output;
  session->source = source;
  session->statement_arena = arena;
  session->single_transaction = part->single_transaction;
  struct tql_statement **statements = NULL;
  enum base_status status = parse(session, part->first_line, &statements, &count, &parsed);
  if (part->single_transaction && !parsed) count = 0;
  size_t next = part->first, end = count;
  if (next < count && count - next > part->count) end = next + part->count;
  /* What was said of a text that does not parse is said once. */
  int64_t patience = parsed && !part->single_transaction ? seat->patience : 0;
  session->may_wait = part->may_wait;
  while (next < end && status == BASE_OK) {
    status = run_one(session, statements[next], patience, next == part->first ? part->now : 0);
    if (status == BASE_OK) next++;
    session->may_wait = part->may_wait || next > part->first;
  }
  *ret = (struct tql_rest){.next = next,
                           .shows_rows = next < end && statements[next]->kind != TQL_S_EXPLAIN,
                           .awaits = status == BASE_AGAIN && session->awaits,
                           .now = seat->time.now};
  if (status == BASE_OK && !parsed) status = BASE_USER;
  session->single_transaction = false;
  if (session->in_script_transaction) {
    session->in_script_transaction = false;
    status = session_end(session, status);
  }
  session->statement_arena = NULL;
  session->source = NULL;
  session->output = NULL;
  session->seat = session->seats[0];
  base_arena_free(arena);
  return status;
}

enum base_status tql_seat_run(struct tql_seat *seat, const char *name, int first_line,
                              const char *text, size_t length, const struct tql_output *output,
                              bool single_transaction) {
  const struct tql_part all = {.name = name,
                               .first_line = first_line,
                               .text = text,
                               .length = length,
                               .single_transaction = single_transaction,
                               .count = SIZE_MAX};
  struct tql_rest rest;
  return tql_seat_run_part(seat, &all, output, &rest);
}

enum base_status tql_session_run(struct tql_session *session, const char *name, int first_line,
                                 const char *text, size_t length, const struct tql_output *output,
                                 bool single_transaction) {
  return tql_seat_run(session->seats[0], name, first_line, text, length, output,
                      single_transaction);
}
