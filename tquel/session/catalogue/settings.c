/* set NAME VALUE. Names that are not known get a suggestion. `set rule` changes what stands, and is in rules.c. */
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"
#include "tquel/session/session_impl.h"

static const char *const names[] = {
    "checkpoint", "parallel",      "sequence",     "origin",   "averaging origin",
    "unit",       "durable every", "durable",      "rule",     "unbounded",
    "compensate", "future limit",  "source grace", "cache",    "checkpoint every",
    "memory",     "time limit",    "losses",       "overload",
};

static const char *word(const struct tql_statement *statement) {
  return statement->value != NULL && statement->value->kind == TQL_E_NAME
             ? statement->value->name.text
             : "";
}

/* What STATEMENT sets: the setting, and of rules which. */
static const char *setting_of(struct tql_session *session, const struct tql_statement *statement) {
  if (!statement->name.text) return statement->words;
  return base_arena_printf(session->arena, "%s %s", statement->words, statement->name.text);
}

/* EXPECTED says what the setting takes, EXAMPLE is one such value. */
static enum base_status bad_value(struct tql_session *session,
                                  const struct tql_statement *statement, const char *expected,
                                  const char *example) {
  const char *setting = setting_of(session, statement);
  base_report_hint(
      session->diags, MSG_SETTING_VALUE, session->source,
      statement->value ? &statement->value->range : &statement->words_range,
      base_arena_printf(session->statement_arena ? session->statement_arena : session->arena,
                        "write: set %s %s", setting, example),
      "set %s takes %s", setting, expected);
  return BASE_USER;
}

enum base_status session_choose(struct tql_session *session, const struct tql_statement *statement,
                                const char *no, const char *yes, bool *ret) {
  if (strcasecmp(word(statement), no) == 0) {
    *ret = false;
  } else if (strcasecmp(word(statement), yes) == 0) {
    *ret = true;
  } else {
    return bad_value(session, statement, base_arena_printf(session->arena, "%s or %s", no, yes),
                     base_arena_printf(session->arena, "%s or set %s %s", no,
                                       setting_of(session, statement), yes));
  }
  return BASE_OK;
}

static enum base_status set_time(struct tql_session *session, const struct tql_statement *statement,
                                 bool *given, net_chronon *time) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  if (statement->value == NULL) return bad_value(session, statement, "a time", "beginning");
  enum base_status status = tql_analyse_time(&analysis, statement->value, false, time);
  if (status == BASE_OK) *given = true;
  return status;
}

static enum base_status set_duration(struct tql_session *session,
                                     const struct tql_statement *statement, int64_t *ret) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  if (statement->value == NULL) return bad_value(session, statement, "a duration", "200 ms");
  return tql_analyse_duration(&analysis, statement->value, ret);
}

/* Durations of the machine's own clock, also on the abstract timeline: nanoseconds. */
static enum base_status set_nanoseconds(struct tql_session *session,
                                        const struct tql_statement *statement, int64_t *ret) {
  if (statement->value == NULL || statement->value->kind != TQL_E_DURATION)
    return bad_value(session, statement, "a duration", "200 ms");
  *ret = statement->value->integer;
  return BASE_OK;
}

/* Of collectors: how often they are to say what is past. */
static enum base_status set_checkpoint_every(struct tql_session *session,
                                             const struct tql_statement *statement) {
  int64_t every = 0;
  enum base_status status = set_nanoseconds(session, statement, &every);
  if (status == BASE_OK && every <= 0)
    status = bad_value(session, statement, "a duration greater than 0", "1 ms");
  if (status == BASE_OK) session->checkpoint_ns = every;
  return status;
}

/* Of sensors that make more records than can be taken. */
static enum base_status set_overload(struct tql_session *session,
                                     const struct tql_statement *statement) {
  static const char *const words[] = {[TQL_OVERLOAD_SAMPLED] = "sampled",
                                      [TQL_OVERLOAD_LOSE] = "lose",
                                      [TQL_OVERLOAD_ALWAYS] = "always"};
  for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcasecmp(word(statement), words[i]) != 0) continue;
    session->overload = i;
    session->asks_changed = true;
    return BASE_OK;
  }
  return bad_value(session, statement, "sampled, lose or always", "sampled");
}

static enum base_status set_unit(struct tql_session *session,
                                 const struct tql_statement *statement) {
  int64_t unit;
  enum base_status status;
  if (session->timeline == NET_TIMELINE_REAL) {
    status = set_nanoseconds(session, statement, &unit);
  } else {
    int64_t before = session->seat->settings.unit;
    session->seat->settings.unit = 1; /* the new unit is said in chronons */
    status = set_duration(session, statement, &unit);
    session->seat->settings.unit = before;
  }
  if (status == BASE_OK && unit <= 0)
    status = bad_value(session, statement, "a duration greater than 0", "1");
  if (status == BASE_OK) session->seat->settings.unit = unit;
  return status;
}

static enum base_status set_sequence(struct tql_session *session,
                                     const struct tql_statement *statement) {
  if (tql_sequence_find(word(statement), &session->seat->settings.sequence)) return BASE_OK;
  return bad_value(session, statement, "full, closest or distinct", "closest");
}

/* Bytes of VALUE: MiB, or what its unit says. False: it is no size, or none that an address space has. */
static bool size_of(const struct tql_expr *value, size_t *ret) {
  static const struct {
    const char *unit;
    uint64_t bytes;
  } units[] = {{"B", 1},
               {"kB", 1000},
               {"MB", 1000 * 1000},
               {"GB", 1000 * 1000 * 1000},
               {"TB", UINT64_C(1000) * 1000 * 1000 * 1000},
               {"KiB", UINT64_C(1) << 10},
               {"MiB", UINT64_C(1) << 20},
               {"GiB", UINT64_C(1) << 30},
               {"TiB", UINT64_C(1) << 40}};
  if (value == NULL || value->kind != TQL_E_INTEGER || value->integer < 0) return false;
  uint64_t each = value->name.text == NULL ? UINT64_C(1) << 20 : 0;
  for (size_t i = 0; each == 0 && i < sizeof units / sizeof *units; i++)
    if (strcasecmp(units[i].unit, value->name.text) == 0) each = units[i].bytes;
  if (each == 0 || (uint64_t)value->integer > (uint64_t)(SIZE_MAX >> 1) / each) return false;
  *ret = (size_t)((uint64_t)value->integer * each);
  return true;
}

static enum base_status set_cache(struct tql_session *session,
                                  const struct tql_statement *statement) {
  size_t bytes;
  if (!size_of(statement->value, &bytes))
    return bad_value(session, statement, "a size, a number of MiB if it has no unit, or 0 for none",
                     "256 MiB");
  return st_set_cache(session->database, bytes);
}

/* Who is not the owner has no more than a server gives him. */
static enum base_status set_memory(struct tql_session *session,
                                   const struct tql_statement *statement) {
  struct tql_seat *seat = session->seat;
  const size_t given = session->options.memory;
  bool limited = !seat->owner && given > 0;
  size_t bytes;
  const char *expected = "a size, a number of MiB if it has no unit, or 0 for no limit";
  if (limited)
    expected = base_arena_printf(session->statement_arena, "a size, %zu MiB at most", given >> 20);
  bool good = size_of(statement->value, &bytes) && (!limited || (bytes > 0 && bytes <= given));
  if (!good) return bad_value(session, statement, expected, limited ? "16 MiB" : "1 GiB");
  seat->memory = bytes;
  seat->memory_set = true;
  return BASE_OK;
}

static enum base_status set_time_limit(struct tql_session *session,
                                       const struct tql_statement *statement) {
  struct tql_seat *seat = session->seat;
  const int64_t given = session->options.time_limit;
  int64_t limit = 0;
  enum base_status status = set_nanoseconds(session, statement, &limit);
  if (status != BASE_OK) return status;
  bool limited = !seat->owner && given > 0;
  if (limited && (limit <= 0 || limit > given))
    return bad_value(session, statement,
                     base_arena_printf(session->statement_arena, "a duration, %.10g s at most",
                                       (double)given / 1e9),
                     "1 s");
  if (limit < 0) return bad_value(session, statement, "a duration, or 0 s for no limit", "30 s");
  seat->time_limit = limit;
  seat->time_limit_set = true;
  return BASE_OK;
}

static enum base_status set_compensate(struct tql_session *session,
                                       const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  return tql_analyse_compensate(&analysis, statement, session->arena, &session->seat->settings);
}

net_chronon session_future_limit(const struct tql_session *session) {
  return session->timeline == NET_TIMELINE_REAL
             ? net_chronon_add(base_env_now(), session->future_limit)
             : NET_FOREVER;
}

static bool is_known(const char *name) {
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

static bool has_unit(const struct tql_expr *value) {
  return value != NULL && value->kind == TQL_E_INTEGER && value->name.text != NULL;
}

static enum base_status refuse_unit(struct tql_session *session,
                                    const struct tql_statement *statement) {
  base_report_hint(session->diags, MSG_SETTING_VALUE, session->source, &statement->value->range,
                   "help \"set\" says what it takes", "set %s takes no size", statement->words);
  return BASE_USER;
}

enum base_status session_set(struct tql_session *session, const struct tql_statement *statement) {
  const char *name = statement->words;
  bool sized = strcmp(name, "memory") == 0 || strcmp(name, "cache") == 0;
  if (has_unit(statement->value) && !sized && is_known(name))
    return refuse_unit(session, statement);
  if (strcmp(name, "checkpoint") == 0)
    return session_choose(session, statement, "auto", "manual", &session->seat->manual);
  if (strcmp(name, "checkpoint every") == 0) return set_checkpoint_every(session, statement);
  if (strcmp(name, "overload") == 0) return set_overload(session, statement);
  if (strcmp(name, "losses") == 0)
    return session_choose(session, statement, "uncertain", "ignored",
                          &session->seat->settings.losses_ignored);
  if (strcmp(name, "parallel") == 0)
    return session_choose(session, statement, "overlap", "coverage",
                          &session->seat->settings.coverage);
  if (strcmp(name, "sequence") == 0) return set_sequence(session, statement);
  if (strcmp(name, "origin") == 0)
    return set_time(session, statement, &session->seat->settings.origin_given,
                    &session->seat->settings.origin);
  if (strcmp(name, "averaging origin") == 0)
    return set_time(session, statement, &session->seat->settings.averaging_origin_given,
                    &session->seat->settings.averaging_origin);
  if (strcmp(name, "unit") == 0) return set_unit(session, statement);
  if (strcmp(name, "durable every") == 0 || strcmp(name, "durable") == 0)
    return set_nanoseconds(session, statement, &session->durable_ns);
  if (strcmp(name, "source grace") == 0)
    return set_nanoseconds(session, statement, &session->source_grace);
  if (strcmp(name, "unbounded") == 0)
    return session_choose(session, statement, "refused", "allowed",
                          &session->seat->settings.unbounded_allowed);
  if (strcmp(name, "memory") == 0) return set_memory(session, statement);
  if (strcmp(name, "time limit") == 0) return set_time_limit(session, statement);
  if (strcmp(name, "cache") == 0) return set_cache(session, statement);
  if (strcmp(name, "future limit") == 0)
    return set_duration(session, statement, &session->future_limit);
  if (strcmp(name, "compensate") == 0) return set_compensate(session, statement);
  const char *near = base_nearest(name, names, sizeof names / sizeof *names);
  base_report_hint(session->diags, MSG_UNKNOWN_SETTING, session->source, &statement->words_range,
                   near ? base_arena_printf(session->arena, "did you mean %s?", near)
                        : "help \"set\" lists them",
                   "there is no setting %s", name);
  return BASE_USER;
}
