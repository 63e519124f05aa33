/* Random statements. Some do not bind (two events, a period as delimiter): then the session must
 * refuse them as well.
 *
 * Derived relations are ranged over by later statements; those that have grown large, or have
 * tuples at `forever`, are left alone.                                                             */
#include <string.h>

#include "tests/oracle/choice.h"

/* What has no partner: of other statements, and of all in statements of their own. */
#define ABSENCE_PERCENT       16
#define PLAIN_ABSENCE_PERCENT 8

/* --- what there is to range over */

static void add_source(struct choice *choice, const struct source *source, char copy) {
  struct scenario *scenario = choice->scenario;
  struct source *own = &choice->sources[choice->source_count++];
  *own = *source;
  own->name = TEXT("%c%s", copy, source->name);
}

/* Variables with credibility 0 are rare. */
static void add_copies(struct choice *choice, const struct source *source) {
  add_source(choice, source, 'a');
  add_source(choice, source, 'b');
  if (chance(choice->scenario, 10)) add_source(choice, source, 'c');
}

static bool is_summary(const struct statement *statement) {
  return statement->modes && strcmp(statement->modes, "summary ") == 0;
}

static void collect_sources(struct choice *choice, avoid_fn avoid, void *context) {
  struct scenario *scenario = choice->scenario;
  for (size_t i = 0; i < scenario->input_count; i++) {
    const struct input *input = &scenario->inputs[i];
    struct source source = {.name = input->name,
                            .event = is_kind(input, "event"),
                            .endless = is_kind(input, "sampled"),
                            .domain_count = input->domain_count};
    for (size_t j = 0; j < input->domain_count; j++) {
      source.domains[j] = input->domains[j].name;
      source.kinds[j] = input->domains[j].kind;
    }
    add_copies(choice, &source);
  }
  for (size_t i = 0; i < scenario->statement_count; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (statement->kind != RETRIEVE || !statement->name || avoid(context, statement->name))
      continue;
    if (is_summary(statement)) continue; /* nothing is derived from it */
    struct source source = {.name = statement->name,
                            .event = statement->event,
                            .endless = statement->endless,
                            .domain_count = statement->target_count};
    for (size_t j = 0; j < statement->target_count; j++) {
      source.domains[j] =
          TEXT("%.*s", (int)strcspn(statement->targets[j], " "), statement->targets[j]);
      source.kinds[j] = statement->kinds[j];
    }
    add_copies(choice, &source);
  }
}

/* --- targets */

static void add_target(struct statement *statement, const char *text, char kind) {
  if (statement->target_count == PARTS_MAX) return;
  statement->kinds[statement->target_count] = kind;
  statement->targets[statement->target_count++] = text;
}

static const char *plain_aggregate(struct choice *choice, char *ret_kind) {
  struct scenario *scenario = choice->scenario;
  const char *value = aggregate(choice, ret_kind);
  if (!chance(scenario, 20)) return value;
  if (*ret_kind == 't') return TEXT("%s * 100", value);
  if (*ret_kind == 'i') return TEXT("%s + %s", value, integer(choice, 0));
  return value;
}

/* What the calendar says of an instant; the zones have no change of clocks near the scenario's times. */
static const char *from_calendar(struct choice *choice) {
  struct scenario *scenario = choice->scenario;
  const char *zone = PICK(scenario, "UTC", "Asia/Kolkata", "America/New_York", "Asia/Kathmandu");
  const char *time = TEXT("(%s).start", event_expression(choice));
  if (chance(scenario, 50))
    return TEXT("%s(%s, \"%s\")",
                PICK(scenario, "second", "second", "minute", "hour", "day", "weekday", "week",
                     "month", "year"),
                time, zone);
  if (chance(scenario, 50)) return TEXT("(%s - truncate(%s, 3 s, \"%s\"))", time, time, zone);
  return TEXT("i8(truncate(%s, %s, \"%s\"))", time,
              PICK(scenario, "2 s", "1500 ms", "minute", "hour", "day", "week", "month", "year"),
              zone);
}

static const char *from_time(struct choice *choice) {
  struct scenario *scenario = choice->scenario;
  bool event;
  if (chance(scenario, 50))
    return TEXT("%s(%s)", PICK(scenario, "chronon", "chronon_lo", "chronon_hi"),
                event_expression(choice));
  const char *text = time_expression(choice, 1, true, &event);
  return TEXT("%s((%s))", PICK(scenario, "span", "span_lo", "span_hi"), text);
}

static void make_targets(struct choice *choice, struct statement *statement, bool aggregates) {
  struct scenario *scenario = choice->scenario;
  if (choice->used_count > 0) {
    if (has_domain(choice, 'i') && chance(scenario, 70))
      add_target(statement, TEXT("x = %s", integer(choice, chance(scenario, 30) ? 1 : 0)), 'i');
    if (has_domain(choice, 's') && chance(scenario, 50))
      add_target(statement, TEXT("s = %s", string(choice, chance(scenario, 15) ? 1 : 0)), 's');
    if (has_domain(choice, 'y') && chance(scenario, 50))
      add_target(statement, TEXT("k = %s", bytes(choice, chance(scenario, 30) ? 1 : 0)), 'y');
    if (has_domain(choice, 'f') && chance(scenario, 35))
      add_target(statement, TEXT("y = %s", number(choice, 1)), 'f');
    if (has_domain(choice, 'b') && chance(scenario, 30))
      add_target(statement, TEXT("b = (%s)", condition(choice, 0)), 'b');
    if (chance(scenario, 10)) {
      const char *value = temporal_value(choice, 2);
      if (value) add_target(statement, TEXT("t = %s", value), 't');
    }
    if (chance(scenario, 5)) add_target(statement, TEXT("c = %s", from_time(choice)), 'i');
    if (scenario->real && chance(scenario, 5))
      add_target(statement, TEXT("d = %s", from_calendar(choice)), 'i');
  }
  if (aggregates && chance(scenario, 25)) {
    const char *texts[3];
    char kinds[3];
    size_t count = several_aggregates(choice, texts, kinds, 3);
    for (size_t i = 0; i < count; i++)
      add_target(statement, TEXT("m%zu = %s", i, texts[i]), kinds[i]);
    return;
  }
  for (int i = 0; aggregates && i < 2; i++) {
    char kind;
    if (i == 1 && chance(scenario, 65)) break;
    const char *value = plain_aggregate(choice, &kind);
    add_target(statement, TEXT("%c = %s", 'm' + i, value), kind);
  }
}

/* --- clauses */

static void make_where(struct choice *choice, struct statement *statement, bool aggregates) {
  struct scenario *scenario = choice->scenario;
  for (int i = 0; choice->used_count > 0 && i < 2; i++)
    if (chance(scenario, i == 0 ? 50 : 20))
      statement->where[statement->where_count++] = condition(choice, 1);
  if (aggregates && chance(scenario, 20)) {
    char kind;
    const char *value = aggregate(choice, &kind);
    if (kind == 'i' || kind == 'f' || kind == 't')
      statement->where[statement->where_count++] =
          TEXT("%s %s %d", value, PICK(scenario, ">", "<", "=", "!="), (int)below(scenario, 3));
  }
  if (choice->used_count > 0 && chance(scenario, 6)) {
    const char *value = temporal_value(choice, 1);
    const char *other = chance(scenario, 15) ? temporal_value(choice, 0) : NULL;
    if (value)
      statement->where[statement->where_count++] =
          TEXT("%s %s %s", value, PICK(scenario, ">", "<", "=", "!=", ">=", "<="),
               other ? other : TEXT("%d", (int)below(scenario, 8)));
  }
}

/* Whose records a partner is of. */
static void tell_process(struct choice *choice, struct statement *statement) {
  struct scenario *scenario = choice->scenario;
  const char *of = NULL;
  for (size_t i = 0; i < choice->used_count; i++) {
    const struct source *source = &choice->used[i];
    bool has = false;
    for (size_t k = 0; k < source->domain_count; k++)
      has = has || strcmp(source->domains[k], "Process") == 0;
    if (!has || chance(scenario, 30)) continue;
    const char *value = of ? TEXT("%s.Process", of) : "\"a#1\"";
    if (of || chance(scenario, 20))
      statement->where[statement->where_count++] = TEXT("%s.Process = %s", source->name, value);
    of = source->name;
  }
}

static void make_when(struct choice *choice, struct statement *statement, bool closest) {
  struct scenario *scenario = choice->scenario;
  if (choice->used_count == 0 || !chance(scenario, closest ? 90 : 45)) return;
  if ((closest || chance(scenario, 15)) && choice->used_count > 1) {
    statement->when[statement->when_count++] = closest_condition(choice);
    if (scenario->nearest && scenario->compensated) tell_process(choice, statement);
    return;
  }
  statement->when[statement->when_count++] = when_condition(choice, 1);
  if (chance(scenario, 20)) statement->when[statement->when_count++] = when_condition(choice, 0);
}

static void make_delimiters(struct choice *choice, struct statement *statement) {
  struct scenario *scenario = choice->scenario;
  bool events = false;
  size_t used = choice->used_count;
  for (size_t i = 0; i < used; i++) events = events || choice->used[i].event;
  uint64_t kind = below(scenario, 100);
  if (kind < 25 || (events && used > 1 && statement->when_count > 0 && kind < 75)) {
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
  statement->valid = chance(scenario, 25) && !statement->start == !statement->stop;
  statement->event = statement->at || (events && !statement->start && !statement->stop);
}

/* --- variables */

static bool is_used(const struct choice *choice, const char *name) {
  for (size_t i = 0; i < choice->used_count; i++)
    if (strcmp(choice->used[i].name, name) == 0) return true;
  return false;
}

static void choose_variables(struct choice *choice, size_t wanted) {
  struct scenario *scenario = choice->scenario;
  size_t most = choice->source_count < wanted ? choice->source_count : wanted;
  while (choice->used_count < most) {
    const struct source *source = &choice->sources[below(scenario, choice->source_count)];
    if (!is_used(choice, source->name)) choice->used[choice->used_count++] = *source;
  }
  /* A clock goes with another relation. */
  if (choice->used_count > 0 && choice->used_count < 3 && chance(scenario, 4)) {
    struct source clock = {
        .name = clock_variables[below(scenario, 2)], .event = true, .clock = true};
    choice->used[choice->used_count++] = clock;
  }
}

static bool is_endless(const struct choice *choice, const struct statement *statement) {
  (void)statement;
  for (size_t i = 0; i < choice->used_count; i++)
    if (choice->used[i].endless) return true;
  return false;
}

/* --- statements */

/* What records of some relations cost. */
static const char *costs_text(struct scenario *scenario) {
  const char *text = NULL;
  for (size_t i = 0; i < scenario->input_count; i++) {
    const struct input *input = &scenario->inputs[i];
    if (!is_kind(input, "event") && !is_kind(input, "traced")) continue;
    if (!chance(scenario, is_kind(input, "traced") ? 90 : 75)) continue;
    text = TEXT("%s%s%s %lld", text ? text : "", text ? ", " : "", input->name,
                (long long)(scenario->unit * (net_chronon)below(scenario, 5) / 2));
  }
  return text ? TEXT("set compensate \"%s\"", text) : "set compensate off";
}

static void add_setting(struct scenario *scenario) {
  struct statement *statement = &scenario->statements[scenario->statement_count++];
  *statement = (struct statement){.kind = SETTING};
  bool first = scenario->statement_count == 1;
  if (scenario->nearest && (first || chance(scenario, 40))) {
    scenario->sequence = PICK(scenario, "closest", "closest", "distinct", (const char *)NULL);
    statement->text = TEXT("set sequence %s", scenario->sequence ? scenario->sequence : "full");
    return;
  }
  if (scenario->compensated && (first || chance(scenario, 60))) {
    statement->text = costs_text(scenario);
    return;
  }
  if (scenario->loss_count > 0 && chance(scenario, 50)) {
    statement->text = PICK(scenario, "set losses ignored", "set losses uncertain");
    return;
  }
  switch (below(scenario, 6)) {
    case 0:
      statement->text = TEXT("set origin %s", time_text(scenario, some_time(scenario)));
      break;
    case 1:
      statement->text = TEXT("set averaging origin %s", time_text(scenario, some_time(scenario)));
      break;
    case 2:
    case 3:
      scenario->sequence = scenario->sequence ? NULL : PICK(scenario, "closest", "distinct");
      statement->text = TEXT("set sequence %s", scenario->sequence ? scenario->sequence : "full");
      break;
    default:
      scenario->coverage = !scenario->coverage;
      statement->text = scenario->coverage ? "set parallel coverage" : "set parallel overlap";
  }
}

/* A result that is shown comes in an order sometimes. Drawn apart, so that what else the seed gives stays. */
static const char *draw_order(struct scenario *scenario, const struct statement *statement) {
  struct base_random random = {scenario->seed * 1000003 + scenario->statement_count};
  struct base_buffer out = BASE_BUFFER_EMPTY;
  if (base_random_below(&random, 100) >= 40) return NULL;
  size_t keys = base_random_below(&random, 3);
  for (size_t i = 0; i < keys; i++) {
    size_t target = base_random_below(&random, statement->target_count + 1);
    const char *text = target < statement->target_count ? statement->targets[target] : "start";
    base_buffer_printf(&out, "%s%.*s%s", i > 0 ? ", " : " sort by ", (int)strcspn(text, " "), text,
                       base_random_below(&random, 2) ? " descending" : "");
  }
  if (statement->target_count > 0 && base_random_below(&random, 3) == 0) {
    const char *text = statement->targets[base_random_below(&random, statement->target_count)];
    base_buffer_printf(&out, " limit %d by %.*s", (int)base_random_below(&random, 3),
                       (int)strcspn(text, " "), text);
  }
  if (base_random_below(&random, 2))
    base_buffer_printf(&out, " limit %d", (int)base_random_below(&random, 5));
  if (base_random_below(&random, 3) == 0)
    base_buffer_printf(&out, " offset %d", (int)base_random_below(&random, 3));
  const char *text = out.length > 0 ? TEXT("%s", base_buffer_text(&out)) : NULL;
  base_buffer_done(&out);
  return text;
}

/* Temporal values have no order, and computed doubles none that is known to the last bit. */
static bool has_plain_targets(const struct statement *statement) {
  for (size_t i = 0; i < statement->target_count; i++)
    if (strchr("isby", statement->kinds[i]) == NULL) return false;
  return true;
}

static void add_retrieve(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  collect_sources(&choice, avoid, context);
  struct statement statement = {.kind = RETRIEVE};
  bool aggregates = chance(scenario, 40);
  uint64_t count = below(scenario, 100);
  size_t wanted = count < 45 ? 1 : count < 88 ? 2 : 3;
  if (aggregates && chance(scenario, 50)) wanted = below(scenario, 2);
  choose_variables(&choice, wanted);
  if (choice.used_count == 0) aggregates = true;
  make_targets(&choice, &statement, aggregates);
  make_where(&choice, &statement, aggregates);
  make_when(&choice, &statement, scenario->sequence != NULL);
  make_delimiters(&choice, &statement);
  if (choice.used_count == 0) {
    statement.start = statement.stop = NULL;
    if (statement.at && !chance(scenario, 50)) statement.at = NULL;
    statement.event = statement.at != NULL;
  }
  statement.endless = is_endless(&choice, &statement);
  if (chance(scenario, 8))
    statement.modes = PICK(scenario, "unique ", "coalesced ", "coalesced ", "unique coalesced ");
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  if (named && !statement.modes && chance(scenario, 10)) statement.view = true;
  if (!named && has_plain_targets(&statement)) statement.order = draw_order(scenario, &statement);
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
}

/* --- aggregates at events (rule aggregates-at-events) */

/* A source of which EVENT and KIND, of a domain, at *RET_KEY, are as wanted; NULL: not found. KIND 0: any. */
static const struct source *find_source(struct choice *choice, bool event, char kind,
                                        size_t *ret_key) {
  struct scenario *scenario = choice->scenario;
  for (int i = 0; i < 12; i++) {
    const struct source *source = &choice->sources[below(scenario, choice->source_count)];
    if (source->clock || source->domain_count == 0 || (event && !source->event)) continue;
    *ret_key = below(scenario, source->domain_count);
    char found = source->kinds[*ret_key];
    if (kind ? found == kind : found == 'i' || found == 's' || found == 'y') return source;
  }
  return NULL;
}

/* A view of a running aggregate and its groups. */
static bool add_running(struct scenario *scenario, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE, .view = true};
  size_t key;
  char kind;
  collect_sources(&choice, avoid, context);
  const struct source *rows = find_source(&choice, false, 0, &key);
  const char *value = rows ? running_aggregate(&choice, rows, key, &kind) : NULL;
  if (!value) return false;
  const char *name = rows->name, *domain = rows->domains[key];
  add_target(&statement, TEXT("k = minc(%s.%s by %s.%s)", name, domain, name, domain),
             rows->kinds[key]);
  add_target(&statement, TEXT("m = %s", value), kind);
  statement.endless = rows->endless;
  statement.name = TEXT("D%zu", scenario->statement_count);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* Events with the value that such a view, or an aggregate by what they have, has then. */
static bool add_at_events(struct scenario *scenario, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE, .event = true};
  const struct source *view = NULL, *rows;
  size_t key = 0, other = 0;
  char kind;
  collect_sources(&choice, avoid, context);
  for (size_t i = 0; i < choice.source_count; i++) {
    const struct source *source = &choice.sources[i];
    if (source->domain_count == 2 && !strcmp(source->domains[0], "k") &&
        !strcmp(source->domains[1], "m"))
      view = source;
  }
  const struct source *events = find_source(&choice, true, view ? view->kinds[0] : 0, &key);
  if (!events) return false;
  const char *name = events->name, *domain = events->domains[key];
  add_target(&statement, TEXT("x = %s.%s", name, domain), events->kinds[key]);
  if (view) {
    add_target(&statement, TEXT("m = %s.m", view->name), view->kinds[1]);
    statement.where[statement.where_count++] = TEXT("%s.%s = %s.k", name, domain, view->name);
  } else {
    rows = chance(scenario, 60) ? events : find_source(&choice, false, events->kinds[key], &other);
    if (!rows || (rows != events && rows->event)) return false;
    if (rows == events) other = key;
    const char *value = running_aggregate(&choice, rows, other, &kind);
    if (!value) return false;
    add_target(&statement, TEXT("m = %s", value), kind);
    if (rows != events)
      statement.where[statement.where_count++] =
          TEXT("%s.%s = %s.%s", name, domain, rows->name, rows->domains[other]);
  }
  if (chance(scenario, 15) && !scenario->sequence) {
    choice.used[choice.used_count++] = *events;
    statement.where[statement.where_count++] = condition(&choice, 1);
  }
  statement.endless = events->endless;
  if (choice.used_count == 0) choice.used[choice.used_count++] = *events;
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* --- values of groups in which nothing counts, and of instants that are not known */

/* Tuples beside aggregates of their own groups. */
static bool add_own_groups(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE};
  size_t key;
  char kind;
  collect_sources(&choice, avoid, context);
  const struct source *own = find_source(&choice, false, 0, &key);
  if (!own) return false;
  add_target(&statement, TEXT("x = %s.%s", own->name, own->domains[key]), own->kinds[key]);
  for (int i = 0; i < 2 && (i == 0 || chance(scenario, 30)); i++) {
    const char *value = own_group(&choice, own, key, &kind);
    if (value) add_target(&statement, TEXT("%c = %s", 'm' + i, value), kind);
  }
  if (statement.target_count < 2) return false;
  statement.event = own->event;
  statement.endless = own->endless;
  if (!own->event && chance(scenario, 20)) {
    statement.at = TEXT("%s.%s", own->name, PICK(scenario, "start", "start", "stop"));
    statement.event = true;
  }
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  choice.used[choice.used_count++] = *own;
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* Several aggregates at an instant, as targets and in conditions. */
static bool add_at_instant(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE, .event = true};
  char kind;
  collect_sources(&choice, avoid, context);
  choose_variables(&choice, chance(scenario, 75) ? 1 : 2);
  if (choice.used_count == 0) return false;
  const struct source *v = &choice.used[0];
  statement.at = v->event ? v->name : TEXT("%s.%s", v->name, PICK(scenario, "start", "stop"));
  if (chance(scenario, 20)) statement.at = event_expression(&choice);
  for (int i = 0; i < 3; i++) {
    const char *value = aggregate(&choice, &kind);
    if (i == 0 || chance(scenario, 65))
      add_target(&statement, TEXT("%c = %s", 'm' + i, value), kind);
    else if (kind == 'i' || kind == 'f' || kind == 't')
      statement.where[statement.where_count++] =
          TEXT("%s %s %d", value, PICK(scenario, ">", "<", "=", "!="), (int)below(scenario, 3));
  }
  if (chance(scenario, 20)) statement.when[statement.when_count++] = when_condition(&choice, 0);
  statement.endless = is_endless(&choice, &statement);
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* --- functions of time as domains */

/* The same function in several tuples, and the same coefficients of other functions. */
static bool add_functions(struct scenario *scenario, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE};
  collect_sources(&choice, avoid, context);
  choose_variables(&choice, chance(scenario, 40) ? 1 : 2);
  if (choice.used_count == 0) return false;
  const struct source *v = &choice.used[0];
  for (size_t i = 0; i < choice.used_count; i++)
    if (choice.used[i].event || choice.used[i].endless) return false;
  const char *factor = "1";
  for (size_t i = 0; i < v->domain_count; i++)
    if (v->kinds[i] == 'i') factor = TEXT("%s.%s", v->name, v->domains[i]);
  const char *function =
      chance(scenario, 60)
          ? TEXT("duration(%s)", v->name)
          : TEXT("((%s * %s + %s) * duration(%s)) / ((%s * %s + %s) * (duration(%s) + %d))", factor,
                 factor, "1", v->name, factor, factor, "1", v->name, 1 + (int)below(scenario, 2));
  add_target(&statement, TEXT("t = %s", function), 't');
  if (chance(scenario, 40) && has_domain(&choice, 's'))
    add_target(&statement, TEXT("s = %s", string(&choice, 0)), 's');
  statement.name = TEXT("D%zu", scenario->statement_count);
  statement.view = chance(scenario, 20);
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* `;` between such a relation and others. */
static bool add_sequence(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE};
  collect_sources(&choice, avoid, context);
  for (int i = 0; i < 12 && choice.used_count == 0; i++) {
    const struct source *source = &choice.sources[below(scenario, choice.source_count)];
    for (size_t j = 0; j < source->domain_count && choice.used_count == 0; j++)
      if (source->kinds[j] == 't') choice.used[choice.used_count++] = *source;
  }
  if (choice.used_count == 0) return false;
  choose_variables(&choice, chance(scenario, 80) ? 2 : 3);
  if (choice.used_count < 2) return false;
  make_targets(&choice, &statement, false);
  statement.when[statement.when_count++] = closest_condition(&choice);
  statement.start = TEXT("%s.start", choice.used[0].name);
  statement.stop = TEXT("%s.stop", choice.used[0].name);
  if (chance(scenario, 30)) statement.stop = event_expression(&choice);
  statement.endless = is_endless(&choice, &statement);
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* `;` between any, of which something may have been lost: the nearest, by the setting or by a word. */
static bool add_nearest(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE};
  collect_sources(&choice, avoid, context);
  choose_variables(&choice, chance(scenario, 75) ? 2 : 3);
  if (choice.used_count < 2) return false;
  make_targets(&choice, &statement, false);
  statement.when[statement.when_count++] = closest_condition(&choice);
  if (scenario->compensated) tell_process(&choice, &statement);
  if (chance(scenario, 30)) make_where(&choice, &statement, false);
  const struct source *source = &choice.used[below(scenario, choice.used_count)];
  statement.at = TEXT("%s%s", source->name, source->event ? "" : ".start");
  statement.event = true;
  statement.endless = is_endless(&choice, &statement);
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* Relations of functions, `set sequence distinct` behind them, and sequences of them then. */
static bool add_about_functions(struct scenario *scenario, bool named, avoid_fn avoid,
                                void *context) {
  bool distinct = scenario->sequence && strcmp(scenario->sequence, "distinct") == 0;
  size_t count = scenario->statement_count;
  const struct statement *last = count > 0 ? &scenario->statements[count - 1] : NULL;
  bool behind = last && last->kind == RETRIEVE && last->name && last->target_count > 0 &&
                last->kinds[0] == 't';
  if (behind && !distinct && chance(scenario, 60)) {
    scenario->sequence = "distinct";
    scenario->statements[scenario->statement_count++] =
        (struct statement){.kind = SETTING, .text = "set sequence distinct"};
    return true;
  }
  if (distinct && chance(scenario, 50) && add_sequence(scenario, named, avoid, context))
    return true;
  return chance(scenario, distinct ? 25 : 6) && add_functions(scenario, avoid, context);
}

/* --- combinations of which one side is not read (rule semi-joins) */

/* The times of V, alone or with others of which some are EVENTS; or the default ones. */
static void delimit_by(struct scenario *scenario, struct statement *statement,
                       const struct source *v, bool events) {
  uint64_t kind = below(scenario, 100);
  if (v->event) {
    statement->at = v->name;
  } else if (events || kind < 40) {
    statement->at = TEXT("%s.%s", v->name, chance(scenario, 70) ? "start" : "stop");
  } else if (kind < 70) {
    statement->start = TEXT("%s.start", v->name);
    statement->stop = TEXT("%s.stop", v->name);
  }
  statement->event = statement->at != NULL;
}

/* One or two clocks, and nothing else but a time: how far they tick. */
static void add_clock_alone(struct scenario *scenario, bool named) {
  struct statement statement = {.kind = RETRIEVE, .event = true};
  const char *one = clock_variables[below(scenario, 2)],
             *other = clock_variables[below(scenario, 2)];
  const char *time = time_text(scenario, some_time(scenario));
  add_target(&statement, TEXT("n = count(%s)", one), 'i');
  statement.at = chance(scenario, 50) ? time : one;
  if (statement.at == one)
    statement.when[statement.when_count++] =
        TEXT("%s %s %s", one, PICK(scenario, "precede", ";"), time);
  if (statement.at == one && strcmp(one, other) != 0)
    statement.when[statement.when_count++] =
        TEXT("%s %s %s", one, PICK(scenario, "equal", ";"), other);
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  scenario->statements[scenario->statement_count++] = statement;
}

/* Targets and times are of one variable, the conditions of others, too. */
static bool add_one_sided(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE};
  collect_sources(&choice, avoid, context);
  choose_variables(&choice, chance(scenario, 80) ? 2 : 3);
  if (choice.used_count < 2) return false;
  struct choice one = choice;
  size_t shown = below(scenario, choice.used_count);
  bool events = false;
  for (size_t i = 0; i < choice.used_count; i++) events = events || choice.used[i].event;
  one.used[0] = choice.used[shown];
  one.used_count = 1;
  if (one.used[0].clock) return false;
  make_targets(&one, &statement, false);
  make_where(&choice, &statement, false);
  make_when(&choice, &statement, scenario->sequence != NULL);
  delimit_by(scenario, &statement, &one.used[0], events);
  statement.endless = is_endless(&choice, &statement);
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  if (named && chance(scenario, 20)) statement.view = true;
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* --- what has no partner */

/* Of tuples that nothing else rules out, as they are; two of them have something in common. */
static bool make_plain(struct choice *choice, struct statement *statement) {
  struct scenario *scenario = choice->scenario;
  size_t wanted = chance(scenario, 70) ? 1 : 2;
  while (choice->used_count < wanted && choice->source_count > 1) {
    const struct source *source = &choice->sources[below(scenario, choice->source_count)];
    if (!is_used(choice, source->name)) choice->used[choice->used_count++] = *source;
  }
  if (choice->used_count < wanted) return false;
  const struct source *a = &choice->used[0], *b = &choice->used[1];
  make_targets(choice, statement, chance(scenario, 15));
  bool events = a->event || (wanted == 2 && b->event);
  if (wanted == 2 && a->event && b->event)
    statement->when[statement->when_count++] = TEXT("%s precede %s", a->name, b->name);
  delimit_by(scenario, statement, wanted == 2 && a->event ? a : &choice->used[wanted - 1], events);
  statement->event = statement->event || events;
  if (has_plain_targets(statement) && chance(scenario, 20)) statement->modes = "coalesced ";
  statement->endless = is_endless(choice, statement);
  return true;
}

/* Drawn apart, as orders are. */
static bool add_absent(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE};
  struct base_random kept = scenario->random;
  scenario->random = (struct base_random){scenario->seed * 999959 + scenario->statement_count};
  bool made = chance(scenario, PLAIN_ABSENCE_PERCENT);
  if (made) collect_sources(&choice, avoid, context);
  made = made && make_plain(&choice, &statement);
  if (made && named) statement.name = TEXT("D%zu", scenario->statement_count);
  if (made) make_absences(&choice, &statement, 100);
  scenario->random = kept;
  if (made) scenario->statements[scenario->statement_count++] = statement;
  return made;
}

/* --- three in a row */

/* What two tuples have to do with each other, so that each is kept for a while only. */
static const char *link_text(struct scenario *scenario, const struct source *a,
                             const struct source *b) {
  const char *x = a->event ? a->name : TEXT("%s.%s", a->name, PICK(scenario, "start", "stop"));
  const char *y = b->event ? b->name : TEXT("%s.%s", b->name, PICK(scenario, "start", "stop"));
  const char *distance = duration_text(scenario, 1 + (int64_t)below(scenario, 5));
  switch (below(scenario, a->event && b->event ? 2 : 5)) {
    case 0:
      return TEXT("%s ; within %s %s", x, distance, y);
    case 1:
      return TEXT("%s ; within %s %s", y, distance, x);
    case 2:
      return TEXT("%s , %s", b->event ? a->name : TEXT("%s.start", a->name), b->name);
    case 3:
      if (!a->event && !b->event) return TEXT("%s contain %s", a->name, b->name);
      /* fall through */
    default:
      return TEXT("%s , %s", a->name, b->name);
  }
}

/* Each variable has to do with one before it, and stands anywhere in the targets: the order in which products are
 * made may decide what is kept without end (netgen/rules/product_order.c). */
static bool add_row(struct scenario *scenario, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE, .event = true};
  const struct source *sources[3];
  collect_sources(&choice, avoid, context);
  while (choice.used_count < 3 && choice.source_count > 2) {
    const struct source *source = &choice.sources[below(scenario, choice.source_count)];
    if (!is_used(&choice, source->name)) choice.used[choice.used_count++] = *source;
  }
  if (choice.used_count < 3 || scenario->sequence) return false;
  size_t first = below(scenario, 3), step = 1 + below(scenario, 2);
  for (size_t i = 0; i < 3; i++) sources[i] = &choice.used[(first + i * step) % 3];
  make_targets(&choice, &statement, false);
  if (chance(scenario, 30)) statement.where[statement.where_count++] = condition(&choice, 0);
  statement.when[statement.when_count++] = link_text(scenario, sources[0], sources[1]);
  statement.when[statement.when_count++] =
      link_text(scenario, sources[below(scenario, 2)], sources[2]);
  const struct source *at = sources[below(scenario, 3)];
  statement.at = at->event ? at->name : TEXT("%s.%s", at->name, PICK(scenario, "start", "stop"));
  statement.endless = is_endless(&choice, &statement);
  statement.name = TEXT("D%zu", scenario->statement_count);
  make_absences(&choice, &statement, ABSENCE_PERCENT);
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* --- summaries */

/* By lists of one or two domains, or none, and the targets that they may be. */
static const char *make_groups(struct scenario *scenario, const struct source *source,
                               struct statement *statement) {
  const char *by = "";
  for (size_t i = 0; i < 2 && chance(scenario, 70); i++) {
    if (i >= source->domain_count) break;
    size_t domain = (below(scenario, source->domain_count) + i) % source->domain_count;
    if (source->kinds[domain] == 't') continue;
    const char *value = TEXT("%s.%s", source->name, source->domains[domain]);
    if (strstr(by, value)) continue;
    by = TEXT("%s%s%s", by, *by ? ", " : " by ", value);
    add_target(statement, TEXT("g%zu = %s", i, value), source->kinds[domain]);
  }
  return by;
}

/* Of what is there a row for each group. Drawn apart, as orders are. */
static bool make_summary(struct scenario *scenario, struct choice *choice,
                         struct statement *statement) {
  bool orders = statement->name == NULL;
  const struct source *source = &choice->sources[below(scenario, choice->source_count)];
  if (source->clock) return false;
  const char *by = make_groups(scenario, source, statement);
  size_t count = 1 + below(scenario, 3);
  for (size_t i = 0; i < count; i++) {
    char kind;
    const char *value = summed(choice, source, by, &kind);
    if (value) add_target(statement, TEXT("%c = %s", 'm' + (int)i, value), kind);
    if (value && kind == 'i' && statement->where_count == 0 && chance(scenario, 25))
      statement->where[statement->where_count++] =
          TEXT("%c %s %d", 'm' + (int)i, PICK(scenario, ">", "!="), (int)below(scenario, 3));
    if (!value && i == 0) return false;
  }
  if (chance(scenario, 25))
    statement->during = chance(scenario, 50)
                            ? time_text(scenario, some_time(scenario))
                            : TEXT("%s , %s", time_text(scenario, some_time(scenario)),
                                   time_text(scenario, some_time(scenario)));
  if (orders && has_plain_targets(statement) && chance(scenario, 40))
    statement->order =
        TEXT(" sort by m%s limit %d", PICK(scenario, "", " descending"), (int)below(scenario, 4));
  return true;
}

/* NAMED: one that stands. */
static bool add_summary(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  struct choice choice = {.scenario = scenario};
  struct statement statement = {.kind = RETRIEVE, .modes = "summary "};
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  struct base_random kept = scenario->random;
  scenario->random = (struct base_random){scenario->seed * 999983 + scenario->statement_count};
  bool made = chance(scenario, 15);
  if (made) collect_sources(&choice, avoid, context);
  made = made && choice.source_count > 0 && make_summary(scenario, &choice, &statement);
  scenario->random = kept;
  if (made) scenario->statements[scenario->statement_count++] = statement;
  return made;
}

/* --- updates */

static const char *constant(struct scenario *scenario, const struct input_domain *domain) {
  switch (domain->kind) {
    case 'i':
      return TEXT("%d", (int)below(scenario, 4));
    case 'f':
      return PICK(scenario, "0.5", "1.5", "1");
    case 'b':
      return PICK(scenario, "true", "false");
    case 'y':
      return TEXT("x'%s'", some_bytes(scenario));
    default:
      return string_text(scenario->arena, some_string(scenario));
  }
}

static const char *assigned(struct choice *choice, const struct input_domain *domain) {
  struct scenario *scenario = choice->scenario;
  if (choice->used_count == 0 || chance(scenario, 40)) return constant(scenario, domain);
  switch (domain->kind) {
    case 'i':
      return integer(choice, 1);
    case 'f':
      return chance(scenario, 70) ? number(choice, 1) : integer(choice, 0);
    case 'b':
      return TEXT("(%s)", condition(choice, 0));
    case 'y':
      return bytes(choice, 1);
    default:
      return string(choice, chance(scenario, 80) ? 0 : 1);
  }
}

static void assign(struct choice *choice, struct statement *statement, const struct input *input,
                   unsigned percent) {
  struct scenario *scenario = choice->scenario;
  for (size_t i = 0; i < input->domain_count; i++)
    if (chance(scenario, percent))
      add_target(statement,
                 TEXT("%s = %s", input->domains[i].name, assigned(choice, &input->domains[i])),
                 input->domains[i].kind);
}

static void make_append(struct choice *choice, struct statement *statement,
                        const struct input *input) {
  struct scenario *scenario = choice->scenario;
  statement->kind = APPEND;
  statement->name = input->name;
  choose_variables(choice, chance(scenario, 50) ? 0 : 1 + below(scenario, 2));
  assign(choice, statement, input, 85);
  if (choice->used_count > 0) make_where(choice, statement, false);
  if (is_kind(input, "period")) {
    if (choice->used_count > 0 && chance(scenario, 60)) return;
    net_chronon from = some_time(scenario);
    statement->start = time_text(scenario, from);
    statement->stop =
        time_text(scenario, from + scenario->unit * (1 + (net_chronon)below(scenario, 6)));
  } else {
    statement->at = choice->used_count > 0 && chance(scenario, 70)
                        ? event_expression(choice)
                        : time_text(scenario, some_time(scenario));
  }
}

/* The variable that is changed is aNAME; perhaps another one takes part. */
static void make_update(struct choice *choice, struct statement *statement,
                        const struct input *input) {
  struct scenario *scenario = choice->scenario;
  const char *name = TEXT("a%s", input->name);
  for (size_t i = 0; i < choice->source_count; i++)
    if (strcmp(choice->sources[i].name, name) == 0)
      choice->used[choice->used_count++] = choice->sources[i];
  if (chance(scenario, 35)) choose_variables(choice, 2);
  statement->kind = chance(scenario, 50) ? DELETE : REPLACE;
  statement->name = name;
  if (statement->kind == REPLACE) assign(choice, statement, input, 50);
  if (statement->kind == REPLACE && statement->target_count == 0)
    add_target(statement, TEXT("x = %s", integer(choice, 1)), 'i');
  make_where(choice, statement, chance(scenario, 15));
  make_when(choice, statement, scenario->sequence != NULL);
  if (is_kind(input, "period") && chance(scenario, 50)) {
    if (chance(scenario, 80)) statement->start = event_expression(choice);
    if (chance(scenario, 80)) statement->stop = event_expression(choice);
  } else if (is_kind(input, "event") && statement->kind == REPLACE && chance(scenario, 30)) {
    statement->at = event_expression(choice);
  }
  statement->valid = chance(scenario, 40) && !statement->start == !statement->stop;
}

static bool add_update(struct scenario *scenario, avoid_fn avoid, void *context) {
  const struct input *input = &scenario->inputs[below(scenario, scenario->input_count)];
  struct choice choice = {.scenario = scenario};
  struct statement statement = {0};
  collect_sources(&choice, avoid, context);
  bool records = input->by_count > 0;
  if (records || chance(scenario, 35)) {
    if (records) return false;
    make_append(&choice, &statement, input);
  } else {
    make_update(&choice, &statement, input);
  }
  scenario->statements[scenario->statement_count++] = statement;
  return true;
}

/* The compensated periods themselves; R is there. */
static void add_periods(struct scenario *scenario, bool named) {
  struct statement statement = {.kind = RETRIEVE};
  const char *variable = PICK(scenario, "aR", "bR", "cR");
  add_target(&statement, TEXT("x = %s.x", variable), 'i');
  add_target(&statement, TEXT("s = %s.Process", variable), 's');
  if (chance(scenario, 30))
    statement.where[statement.where_count++] =
        TEXT("%s.Process = %s", variable, string_text(scenario->arena, some_string(scenario)));
  if (chance(scenario, 30))
    statement.when[statement.when_count++] =
        TEXT("%s %s %s.stop", time_text(scenario, some_time(scenario)),
             PICK(scenario, "precede", ";"), variable);
  if (named) statement.name = TEXT("D%zu", scenario->statement_count);
  scenario->statements[scenario->statement_count++] = statement;
}

void scenario_add_statement(struct scenario *scenario, bool named, avoid_fn avoid, void *context) {
  if (!named && scenario->updates && chance(scenario, 30) && add_update(scenario, avoid, context))
    return;
  if (add_summary(scenario, named, avoid, context)) return;
  if (add_absent(scenario, named, avoid, context)) return;
  if (chance(scenario, 8) && named && add_running(scenario, avoid, context)) return;
  if (chance(scenario, 8) && !named && add_at_events(scenario, avoid, context)) return;
  if (!scenario->real && chance(scenario, 2)) {
    add_clock_alone(scenario, named);
    return;
  }
  if (chance(scenario, 8) && add_one_sided(scenario, named, avoid, context)) return;
  bool nearest = scenario->nearest && scenario->sequence && scenario->statement_count > 0;
  if (chance(scenario, nearest ? 50 : 10) && add_nearest(scenario, named, avoid, context)) return;
  if (chance(scenario, 8) && named && add_row(scenario, avoid, context)) return;
  if (chance(scenario, 6) && add_own_groups(scenario, named, avoid, context)) return;
  if (chance(scenario, 6) && add_at_instant(scenario, named, avoid, context)) return;
  if (add_about_functions(scenario, named, avoid, context)) return;
  bool first = (scenario->compensated || scenario->nearest) && scenario->statement_count == 0;
  if (first ? chance(scenario, 90) : !named && chance(scenario, 9))
    add_setting(scenario);
  else if (scenario->compensated && chance(scenario, 30))
    add_periods(scenario, named);
  else
    add_retrieve(scenario, named, avoid, context);
}
