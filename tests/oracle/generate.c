/* Random scenarios. Times lie in 0..12, values in small ranges, so that ties, touching, nested and
 * equal periods come up all the time; unknown bounds and omega tuples are frequent except in
 * databases that are determinate throughout.
 *
 * Statements are drawn from what is executed: retrieve with where, when, delimiters, aggregates and
 * derived relations over derived relations. Some do not bind (two events, a period as delimiter):
 * then the session must refuse them as well.                                                       */
#include <string.h>

#include "tests/oracle/judge.h"

static uint64_t below(struct scenario *scenario, uint64_t bound) {
  return base_random_below(&scenario->random, bound);
}

static bool chance(struct scenario *scenario, unsigned percent) {
  return below(scenario, 100) < percent;
}

#define PICK(SCENARIO, ...)                    \
  (((const char *const[]){__VA_ARGS__})[below( \
      (SCENARIO), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))])

#define TEXT(...) base_arena_printf(scenario->arena, __VA_ARGS__)

/* --- data */

static net_chronon some_time(struct scenario *scenario) {
  return (net_chronon)below(scenario, 13);
}

static void sort_times(net_chronon *times, int count) {
  for (int i = 1; i < count; i++)
    for (int j = i; j > 0 && times[j] < times[j - 1]; j--) {
      net_chronon kept = times[j];
      times[j] = times[j - 1];
      times[j - 1] = kept;
    }
}

static void make_event_time(struct scenario *scenario, net_chronon *time, bool determinate) {
  time[0] = some_time(scenario);
  time[1] = determinate ? time[0] : time[0] + (net_chronon)below(scenario, 4);
}

static void make_period_time(struct scenario *scenario, net_chronon *time, bool determinate) {
  net_chronon t[4];
  for (int i = 0; i < 4; i++) t[i] = some_time(scenario);
  sort_times(t, 4);
  if (determinate || t[0] == t[3]) {
    time[0] = time[1] = t[0];
    time[2] = time[3] = t[3] == t[0] ? t[0] + 1 : t[3];
  } else if (chance(scenario, 30)) { /* the bounds of start and stop overlap */
    time[0] = t[0];
    time[1] = t[2];
    time[2] = t[1];
    time[3] = t[3];
  } else {
    time[0] = t[0];
    time[1] = chance(scenario, 60) ? t[0] : t[1];
    time[2] = t[2];
    time[3] = chance(scenario, 60) ? t[2] : t[3];
    if (time[0] == time[1] && time[2] == time[3] && time[0] >= time[2]) time[3]++;
    if (time[0] == time[1] && time[2] == time[3] && time[0] >= time[2]) time[2] = time[3];
  }
  if (chance(scenario, 8)) time[3] = NET_FOREVER;
  if (time[3] == NET_FOREVER && chance(scenario, 70)) time[2] = NET_FOREVER;
}

static bool is_kind(const struct input *input, const char *kind) {
  return strcmp(input->kind, kind) == 0;
}

static void make_rows(struct scenario *scenario, struct input *input) {
  input->count = below(scenario, chance(scenario, 60) ? 5 : ROWS_MAX - 1);
  for (size_t i = 0; i < input->count; i++) {
    struct input_row *row = &input->rows[i];
    *row = (struct input_row){.definite = true};
    bool determinate = scenario->determinate || chance(scenario, 55);
    if (is_kind(input, "period")) {
      make_period_time(scenario, row->time, determinate);
    } else {
      make_event_time(scenario, row->time, determinate || is_kind(input, "traced"));
    }
    if (!scenario->determinate && !is_kind(input, "traced")) row->definite = !chance(scenario, 15);
    row->x = (int64_t)below(scenario, 4);
    row->y = (double)below(scenario, 5) / 2;
    row->s = PICK(scenario, "a", "b", "c");
    if (i > 0 && chance(scenario, 20)) { /* much the same as the one before */
      row->x = input->rows[i - 1].x;
      row->y = input->rows[i - 1].y;
      row->s = input->rows[i - 1].s;
      if (chance(scenario, 30)) memcpy(row->time, input->rows[i - 1].time, sizeof row->time);
    }
  }
}

static void make_inputs(struct scenario *scenario) {
  static const struct input kinds[] = {
      {.name = "P", .kind = "period", .domains = "(x = i4, y = f8, s = c4)"},
      {.name = "Q", .kind = "period", .domains = "(x = i4, s = c4)"},
      {.name = "E", .kind = "event", .domains = "(x = i4, s = c4)"},
      {.name = "F", .kind = "event", .domains = "(x = i4, y = f8, s = c4)"},
      {.name = "R", .kind = "traced", .domains = "(x = i4, s = c4) by s"},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (scenario->input_count > 0 && !chance(scenario, 55)) continue;
    struct input *input = &scenario->inputs[scenario->input_count++];
    *input = kinds[i];
    make_rows(scenario, input);
  }
}

void scenario_init(struct scenario *scenario, struct base_arena *arena, uint64_t seed) {
  *scenario = (struct scenario){.arena = arena, .random = {seed * 7919 + 13}, .seed = seed};
  scenario->determinate = chance(scenario, 35);
  make_inputs(scenario);
  if (chance(scenario, 15))
    scenario->settings[scenario->setting_count++] =
        TEXT("set origin %d", (int)below(scenario, 8) - 2);
  if (chance(scenario, 10))
    scenario->settings[scenario->setting_count++] =
        TEXT("set averaging origin %d", (int)below(scenario, 8));
  if (chance(scenario, 15)) scenario->settings[scenario->setting_count++] = "set parallel coverage";
}

/* --- statements */

struct source {
  const char *name; /* of the variable */
  bool event, derived;
  bool has_x, has_y, has_s;
};

struct choice {
  struct scenario *scenario;
  struct source sources[2 * (RELATIONS_MAX + STATEMENTS_MAX)];
  size_t source_count;
  struct source used[3];
  size_t used_count;
};

static bool has_target(const struct statement *statement, const char *name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < statement->target_count; i++)
    if (strncmp(statement->targets[i], name, length) == 0 &&
        strncmp(statement->targets[i] + length, " = ", 3) == 0)
      return true;
  return false;
}

static void collect_sources(struct choice *choice, bool (*avoid)(void *, const char *),
                            void *context) {
  struct scenario *scenario = choice->scenario;
  for (size_t i = 0; i < scenario->input_count; i++) {
    const struct input *input = &scenario->inputs[i];
    for (int copy = 0; copy < 2; copy++)
      choice->sources[choice->source_count++] =
          (struct source){TEXT("%c%s", 'a' + copy, input->name),
                          is_kind(input, "event"),
                          false,
                          true,
                          strstr(input->domains, "y =") != NULL,
                          true};
  }
  for (size_t i = 0; i < scenario->statement_count; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (!statement->name || avoid(context, statement->name)) continue;
    for (int copy = 0; copy < 2; copy++)
      choice->sources[choice->source_count++] =
          (struct source){TEXT("%c%s", 'a' + copy, statement->name),
                          false,
                          true,
                          has_target(statement, "x"),
                          has_target(statement, "y"),
                          has_target(statement, "s")};
  }
}

static const struct source *some_used(struct choice *choice) {
  return &choice->used[below(choice->scenario, choice->used_count)];
}

/* An integer over the variables used. */
static const char *integer(struct choice *choice) {
  struct scenario *scenario = choice->scenario;
  const struct source *v = choice->used_count > 0 ? some_used(choice) : NULL;
  if (!v || !v->has_x || chance(scenario, 15)) return TEXT("%d", (int)below(scenario, 4));
  if (chance(scenario, 60)) return TEXT("%s.x", v->name);
  const struct source *w = some_used(choice);
  const char *sign = PICK(scenario, "+", "-", "*");
  if (w->has_x && chance(scenario, 40)) return TEXT("(%s.x %s %s.x)", v->name, sign, w->name);
  if (chance(scenario, 10)) return TEXT("(%s.x / 2)", v->name);
  return TEXT("(%s.x %s %d)", v->name, sign, (int)below(scenario, 3));
}

static const char *condition(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  if (depth > 0 && chance(scenario, 25)) {
    const char *left = condition(choice, depth - 1), *right = condition(choice, depth - 1);
    if (chance(scenario, 20)) return TEXT("not (%s)", left);
    return TEXT("(%s %s %s)", left, PICK(scenario, "and", "or"), right);
  }
  const struct source *v = some_used(choice), *w = some_used(choice);
  if (v->has_s && chance(scenario, 30)) {
    if (w->has_s && w != v && chance(scenario, 60)) return TEXT("%s.s = %s.s", v->name, w->name);
    return TEXT("%s.s %s \"%s\"", v->name, PICK(scenario, "=", "!=", "<", ">="),
                PICK(scenario, "a", "b", "c"));
  }
  if (v->has_y && chance(scenario, 20))
    return TEXT("%s.y %s %s", v->name, PICK(scenario, "<", ">", "="),
                PICK(scenario, "0.5", "1", "1.5"));
  const char *left = integer(choice);
  return TEXT("%s %s %s", left, PICK(scenario, "=", "<", ">", "<=", ">=", "!=", "="),
              integer(choice));
}

/* A temporal expression; *RET_EVENT what it is. CLAUSE: no `|`. */
static const char *temporal(struct choice *choice, int depth, bool clause, bool *ret_event) {
  struct scenario *scenario = choice->scenario;
  bool left_event, right_event;
  *ret_event = true;
  if (choice->used_count == 0 || chance(scenario, 8)) return TEXT("%d", (int)below(scenario, 13));
  if (depth == 0 || chance(scenario, 45)) {
    const struct source *v = some_used(choice);
    if (chance(scenario, 35)) return TEXT("%s.%s", v->name, PICK(scenario, "start", "stop"));
    *ret_event = v->event;
    return v->name;
  }
  const char *left = temporal(choice, depth - 1, clause, &left_event);
  const char *right = temporal(choice, depth - 1, clause, &right_event);
  if (chance(scenario, 30))
    return TEXT("(%s, %s).%s", left, right, PICK(scenario, "start", "stop"));
  if (chance(scenario, 15))
    return TEXT("(%s ; %s).%s", left, right, PICK(scenario, "start", "stop"));
  switch (below(scenario, clause ? 4 : 6)) {
    case 0:
      *ret_event = false;
      return TEXT("(%s ; %s)", left, right);
    case 1:
      *ret_event = left_event || right_event;
      return TEXT("(%s, %s)", left, right);
    case 2:
      *ret_event = false;
      return TEXT("((%s) extend (%s))", left, right);
    case 3:
      *ret_event = left_event || right_event;
      return TEXT("((%s) overlap (%s))", left, right);
    case 4:
      *ret_event = false;
      return TEXT("(%s ; within %d %s)", left, (int)below(scenario, 6), right);
    default:
      *ret_event = left_event && right_event;
      return TEXT("(%s | %s)", left, right);
  }
}

static const char *event_expression(struct choice *choice) {
  bool event;
  const char *text = temporal(choice, 2, true, &event);
  struct scenario *scenario = choice->scenario;
  return event ? text : TEXT("(%s).%s", text, PICK(scenario, "start", "stop"));
}

static const char *when_condition(struct choice *choice, int depth) {
  struct scenario *scenario = choice->scenario;
  bool event;
  if (depth > 0 && chance(scenario, 20)) {
    const char *left = when_condition(choice, depth - 1);
    if (chance(scenario, 30)) return TEXT("not (%s)", left);
    return TEXT("(%s %s %s)", left, PICK(scenario, "and", "or"), when_condition(choice, depth - 1));
  }
  const char *left = temporal(choice, 2, false, &event);
  const char *right = temporal(choice, 1, false, &event);
  switch (below(scenario, 6)) {
    case 0:
      return TEXT("(%s) precede (%s)", left, right);
    case 1:
      return TEXT("(%s) equal (%s)", left, right);
    case 2:
      return TEXT("(%s) contain (%s)", left, right);
    case 3:
      return TEXT("%s ; %s", left, right);
    case 4:
      return TEXT("%s, %s", left, right);
    default:
      return left;
  }
}

/* An aggregate over one of all variables, or over one that is used outside. */
static const char *aggregate(struct choice *choice, bool *ret_temporal) {
  struct scenario *scenario = choice->scenario;
  const struct source *v = choice->used_count > 0 && chance(scenario, 40)
                               ? some_used(choice)
                               : &choice->sources[below(scenario, choice->source_count)];
  const char *function = PICK(scenario, "count", "count", "countc", "any", "anyc", "avgc", "avgc");
  if (chance(scenario, 4)) function = PICK(scenario, "sum", "avg", "min", "max", "sumc", "maxc");
  *ret_temporal = strcmp(function, "avgc") == 0;
  bool tuple = strncmp(function, "count", 5) == 0 || strncmp(function, "any", 3) == 0 ||
               (*ret_temporal && chance(scenario, 50));
  const char *argument = tuple || !v->has_x ? v->name : TEXT("%s.x", v->name);
  const char *by = "", *where = "";
  if (chance(scenario, 35) && (v->has_s || v->has_x))
    by = TEXT(" by %s.%s", v->name, v->has_s && (!v->has_x || chance(scenario, 70)) ? "s" : "x");
  if (chance(scenario, 30) && v->has_x)
    where =
        TEXT(" where %s.x %s %d", v->name, PICK(scenario, ">", "<", "="), (int)below(scenario, 3));
  return TEXT("%s(%s%s%s)", function, argument, by, where);
}

static void add_target(struct statement *statement, const char *text) {
  if (statement->target_count < PARTS_MAX) statement->targets[statement->target_count++] = text;
}

static void make_targets(struct choice *choice, struct statement *statement, bool aggregates) {
  struct scenario *scenario = choice->scenario;
  const struct source *v = choice->used_count > 0 ? some_used(choice) : NULL;
  if (v && v->has_x && chance(scenario, 70)) add_target(statement, TEXT("x = %s.x", v->name));
  if (choice->used_count > 0) v = some_used(choice);
  if (v && v->has_s && chance(scenario, 50)) add_target(statement, TEXT("s = %s.s", v->name));
  if (v && v->has_y && chance(scenario, 40)) add_target(statement, TEXT("y = %s.y * 2", v->name));
  if (v && chance(scenario, 15)) add_target(statement, TEXT("z = %s", integer(choice)));
  if (v && chance(scenario, 5)) add_target(statement, TEXT("c = chronon(%s.start)", v->name));
  for (int i = 0; aggregates && i < 2; i++) {
    bool temporal_value;
    if (i == 1 && chance(scenario, 65)) break;
    const char *value = aggregate(choice, &temporal_value);
    bool scaled = temporal_value && chance(scenario, 40);
    add_target(statement, TEXT("%c = %s%s", 'm' + i, value, scaled ? " * 100" : ""));
  }
}

static void make_clauses(struct choice *choice, struct statement *statement, bool aggregates) {
  struct scenario *scenario = choice->scenario;
  size_t used = choice->used_count;
  for (int i = 0; used > 0 && i < 2; i++)
    if (chance(scenario, i == 0 ? 50 : 20))
      statement->where[statement->where_count++] = condition(choice, 1);
  if (aggregates && chance(scenario, 15)) {
    bool temporal_value;
    const char *value = aggregate(choice, &temporal_value);
    if (!temporal_value)
      statement->where[statement->where_count++] = TEXT("%s > %d", value, (int)below(scenario, 2));
  }
  bool events = false;
  for (size_t i = 0; i < used; i++) events = events || choice->used[i].event;
  if (used > 0 && chance(scenario, 45)) {
    statement->when[statement->when_count++] = when_condition(choice, 1);
    if (chance(scenario, 20)) statement->when[statement->when_count++] = when_condition(choice, 0);
  }
  uint64_t kind = below(scenario, 100);
  if (kind < 25 || (events && used > 1 && statement->when_count > 0 && kind < 60)) {
    statement->at = event_expression(choice);
  } else if (kind < 45) {
    if (events || chance(scenario, 70)) {
      statement->start = event_expression(choice);
      statement->stop = event_expression(choice);
    } else if (chance(scenario, 50)) {
      statement->start = event_expression(choice);
    } else {
      statement->stop = event_expression(choice);
    }
    if (used > 0 && !events && chance(scenario, 25)) { /* one tuple's own period */
      const struct source *v = some_used(choice);
      statement->start = TEXT("%s.start", v->name);
      statement->stop = TEXT("%s.stop", v->name);
    }
  }
}

void scenario_add_statement(struct scenario *scenario, bool named,
                            bool (*avoid)(void *, const char *), void *context) {
  struct choice choice = {.scenario = scenario};
  collect_sources(&choice, avoid, context);
  struct statement statement = {0};
  bool aggregates = chance(scenario, 35);
  uint64_t count = below(scenario, 100);
  size_t wanted = count < 45 ? 1 : count < 88 ? 2 : 3;
  if (aggregates && chance(scenario, 50)) wanted = below(scenario, 2);
  if (wanted > choice.source_count) wanted = choice.source_count;
  while (choice.used_count < wanted) {
    const struct source *source = &choice.sources[below(scenario, choice.source_count)];
    bool taken = false;
    for (size_t i = 0; i < choice.used_count; i++)
      taken = taken || strcmp(choice.used[i].name, source->name) == 0;
    if (!taken) choice.used[choice.used_count++] = *source;
  }
  if (choice.used_count == 0) aggregates = true;
  make_targets(&choice, &statement, aggregates);
  make_clauses(&choice, &statement, aggregates);
  if (choice.used_count == 0) {
    statement.start = statement.stop = NULL;
    if (statement.at && !chance(scenario, 50)) statement.at = NULL;
  }
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  scenario->statements[scenario->statement_count++] = statement;
}

/* --- texts */

static void join(struct base_buffer *out, const char *before, const char *between,
                 const char *const *parts, size_t count, bool parentheses) {
  for (size_t i = 0; i < count; i++) {
    base_buffer_puts(out, i == 0 ? before : between);
    base_buffer_printf(out, parentheses && count > 1 ? "(%s)" : "%s", parts[i]);
  }
}

const char *statement_text(struct base_arena *arena, const struct statement *statement) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  base_buffer_printf(&out, "retrieve %s (", statement->name ? statement->name : "");
  join(&out, "", ", ", statement->targets, statement->target_count, false);
  base_buffer_putc(&out, ')');
  join(&out, " where ", " and ", statement->where, statement->where_count, true);
  join(&out, " when ", " and ", statement->when, statement->when_count, true);
  if (statement->start) base_buffer_printf(&out, " start %s", statement->start);
  if (statement->stop) base_buffer_printf(&out, " stop %s", statement->stop);
  if (statement->at) base_buffer_printf(&out, " at %s", statement->at);
  const char *text = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

const char *ranges_text(struct base_arena *arena, const char *name) {
  return base_arena_printf(arena, "range of a%s is %s range of b%s is %s", name, name, name, name);
}

const char *create_text(struct base_arena *arena, const struct input *input) {
  return base_arena_printf(arena, "create %s %s %s", input->kind, input->name, input->domains);
}

static bool has_y(const struct input *input) {
  return strstr(input->domains, "y =") != NULL;
}

const char *header_text(struct base_arena *arena, const struct input *input) {
  const char *times = is_kind(input, "period")  ? "start_lo,start_hi,stop_lo,stop_hi,definite"
                      : is_kind(input, "event") ? "at_lo,at_hi,definite"
                                                : "at";
  return base_arena_printf(arena, "%s,x,%ss\n", times, has_y(input) ? "y," : "");
}

const char *row_text(struct base_arena *arena, const struct input *input,
                     const struct input_row *row) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  int times = is_kind(input, "period") ? 4 : is_kind(input, "event") ? 2 : 1;
  for (int i = 0; i < times; i++) {
    net_time_print_raw(&out, row->time[i]);
    base_buffer_putc(&out, ',');
  }
  if (times > 1) base_buffer_puts(&out, row->definite ? "true," : "false,");
  base_buffer_printf(&out, "%d,", (int)row->x);
  if (has_y(input)) {
    base_buffer_double(&out, row->y);
    base_buffer_putc(&out, ',');
  }
  base_buffer_printf(&out, "%s\n", row->s);
  const char *text = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

/* In the form of a .tqt case. */
void scenario_print(struct base_buffer *out, const struct scenario *scenario, size_t statements) {
  struct base_arena *arena = scenario->arena;
  base_buffer_printf(out, "=== seed %llu\n", (unsigned long long)scenario->seed);
  for (size_t i = 0; i < scenario->input_count; i++) {
    const struct input *input = &scenario->inputs[i];
    base_buffer_printf(out, "--- relation %s %s %s\n%s", input->kind, input->name, input->domains,
                       header_text(arena, input));
    for (size_t j = 0; j < input->count; j++)
      if (!input->rows[j].dropped) base_buffer_puts(out, row_text(arena, input, &input->rows[j]));
  }
  base_buffer_puts(out, "--- query\n");
  for (size_t i = 0; i < scenario->input_count; i++)
    base_buffer_printf(out, "%s\n", ranges_text(arena, scenario->inputs[i].name));
  for (size_t i = 0; i < scenario->setting_count; i++)
    base_buffer_printf(out, "%s\n", scenario->settings[i]);
  for (size_t i = 0; i < statements; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (statement->dropped) continue;
    base_buffer_printf(out, "%s\n", statement_text(arena, statement));
    if (!statement->name) continue;
    if (i + 1 < statements)
      base_buffer_printf(out, "%s\n", ranges_text(arena, statement->name));
    else
      base_buffer_printf(out, "print %s\n", statement->name);
  }
}
