/* The texts of a scenario: statements, records, and the whole as a .tqt case for people. */
#include <string.h>

#include "tests/oracle/judge.h"

const char *time_text(struct scenario *scenario, net_chronon time) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  bool quoted = scenario->real && time != NET_FOREVER && time != NET_BEGINNING;
  if (quoted) base_buffer_putc(&out, '"');
  net_time_print(&out, scenario->real ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT, time);
  if (quoted) base_buffer_putc(&out, '"');
  const char *text = base_arena_strdup(scenario->arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

const char *duration_text(struct scenario *scenario, int64_t units) {
  if (!scenario->real) return TEXT("%lld", (long long)units);
  if (scenario->unit == 1000000000) return TEXT("%lld s", (long long)units);
  return TEXT("%lld ms", (long long)(units * (scenario->unit / 1000000)));
}

const char *string_text(struct base_arena *arena, const char *value) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  base_buffer_putc(&out, '"');
  for (; *value; value++) {
    if (*value == '"' || *value == '\\') base_buffer_putc(&out, '\\');
    base_buffer_putc(&out, *value);
  }
  base_buffer_putc(&out, '"');
  const char *text = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

/* --- statements */

static void join(struct base_buffer *out, const char *before, const char *between,
                 const char *const *parts, size_t count, bool parentheses) {
  for (size_t i = 0; i < count; i++) {
    base_buffer_puts(out, i == 0 ? before : between);
    base_buffer_printf(out, parentheses && count > 1 ? "(%s)" : "%s", parts[i]);
  }
}

static void put_clauses(struct base_buffer *out, const struct statement *statement) {
  join(out, " where ", " and ", statement->where, statement->where_count, true);
  join(out, " when ", " and ", statement->when, statement->when_count, true);
  if (statement->valid && statement->start && statement->stop) {
    base_buffer_printf(out, " valid from %s to %s", statement->start, statement->stop);
  } else {
    if (statement->start) base_buffer_printf(out, " start %s", statement->start);
    if (statement->stop) base_buffer_printf(out, " stop %s", statement->stop);
  }
  if (statement->at)
    base_buffer_printf(out, statement->valid ? " valid at %s" : " at %s", statement->at);
}

static void put_absence(struct base_buffer *out, const struct absence *absence) {
  base_buffer_printf(out, " unless %s", absence->variable);
  join(out, " where ", " and ", absence->where, absence->where_count, true);
  join(out, " when ", " and ", absence->when, absence->when_count, true);
}

const char *statement_text(struct base_arena *arena, const struct statement *statement) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  const char *modes = statement->modes ? statement->modes : "";
  const char *name = statement->name ? statement->name : "";
  switch (statement->kind) {
    case SETTING:
      return statement->text;
    case RETRIEVE:
      if (statement->view)
        base_buffer_printf(&out, "define view %s (", name);
      else
        base_buffer_printf(&out, "retrieve %s%s%s (", modes, *modes == 's' && *name ? "into " : "",
                           name);
      break;
    case APPEND:
      base_buffer_printf(&out, "append to %s (", name);
      break;
    case DELETE:
      base_buffer_printf(&out, "delete %s", name);
      break;
    case REPLACE:
      base_buffer_printf(&out, "replace %s (", name);
      break;
  }
  if (statement->kind != DELETE) {
    join(&out, "", ", ", statement->targets, statement->target_count, false);
    base_buffer_putc(&out, ')');
  }
  if (statement->during) base_buffer_printf(&out, " during %s", statement->during);
  put_clauses(&out, statement);
  for (size_t i = 0; i < statement->absence_count; i++) put_absence(&out, &statement->absences[i]);
  if (statement->order) base_buffer_puts(&out, statement->order);
  const char *text = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

const char *ranges_text(struct base_arena *arena, const char *name) {
  return base_arena_printf(arena,
                           "range of a%s is %s range of b%s is %s range of c%s is %s with "
                           "credibility 0",
                           name, name, name, name, name, name);
}

const char *const clock_variables[2] = {"aClock", "bClock"};
const int clock_units[2] = {2, 3};

const char *clock_range_text(struct base_arena *arena, const struct scenario *scenario, int which) {
  struct scenario copy = *scenario;
  copy.arena = arena;
  return base_arena_printf(arena, "range of %s is Clock(%s)", clock_variables[which],
                           duration_text(&copy, clock_units[which]));
}

/* --- data */

bool input_same_key(const struct input *input, const struct input_row *a,
                    const struct input_row *b) {
  for (size_t i = 0; i < input->by_count; i++) {
    const struct input_value *x = &a->values[input->by[i]], *y = &b->values[input->by[i]];
    char kind = input->domains[input->by[i]].kind;
    bool text = kind == 's' || kind == 'y';
    if (text ? strcmp(x->s, y->s) != 0 : kind == 'f' ? x->f != y->f : x->i != y->i) return false;
  }
  return true;
}

const char *create_text(struct base_arena *arena, const struct input *input) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  base_buffer_printf(&out, "create %s %s (", input->kind, input->name);
  for (size_t i = 0; i < input->domain_count; i++)
    base_buffer_printf(&out, "%s%s = %s", i ? ", " : "", input->domains[i].name,
                       input->domains[i].type);
  base_buffer_putc(&out, ')');
  for (size_t i = 0; i < input->by_count; i++)
    base_buffer_printf(&out, "%s%s", i == 0 ? " by " : ", ", input->domains[input->by[i]].name);
  const char *text = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

const char *header_text(struct base_arena *arena, const struct input *input) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  base_buffer_puts(&out, is_kind(input, "period")  ? "start_lo,start_hi,stop_lo,stop_hi,definite"
                         : is_kind(input, "event") ? "at_lo,at_hi,definite"
                                                   : "at");
  for (size_t i = 0; i < input->domain_count; i++)
    base_buffer_printf(&out, ",%s", input->domains[i].name);
  base_buffer_putc(&out, '\n');
  const char *text = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

static void put_value(struct base_buffer *out, const struct input_domain *domain,
                      const struct input_value *value) {
  switch (domain->kind) {
    case 'i':
      base_buffer_int(out, value->i);
      break;
    case 'f':
      base_buffer_double(out, value->f);
      break;
    case 'b':
      base_buffer_puts(out, value->i ? "true" : "false");
      break;
    case 'y': /* either way, and of either case */
      base_buffer_printf(out, strlen(value->s) == 4 ? "\\x%s" : "%s",
                         strcmp(value->s, "c3a9") == 0 ? "C3a9" : value->s);
      break;
    default:
      base_buffer_printf(out, strchr(value->s, ',') || !*value->s ? "\"%s\"" : "%s", value->s);
  }
}

const char *row_text(struct base_arena *arena, const struct input *input,
                     const struct input_row *row) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  int times = is_kind(input, "period") ? 4 : is_kind(input, "event") ? 2 : 1;
  for (int i = 0; i < times; i++) {
    if (i) base_buffer_putc(&out, ',');
    net_time_print_raw(&out, row->time[i]);
  }
  if (times > 1) base_buffer_puts(&out, row->definite ? ",true" : ",false");
  for (size_t i = 0; i < input->domain_count; i++) {
    base_buffer_putc(&out, ',');
    put_value(&out, &input->domains[i], &row->values[i]);
  }
  base_buffer_putc(&out, '\n');
  const char *text = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

const char *loss_text(const struct scenario *scenario, const struct loss *loss) {
  struct scenario times = *scenario;
  const char *from = time_text(&times, loss->from);
  if (strcmp(loss->in, "Lost") != 0)
    return base_arena_printf(scenario->arena,
                             "append to %s (relation = \"%s\", record = \"%lld\") at %s", loss->in,
                             loss->relation, (long long)loss->to, from);
  return base_arena_printf(scenario->arena,
                           "append to Lost (relation = \"%s\", source = \"%s\", cause = \"full\", "
                           "count = 1) start %s stop %s",
                           loss->relation, loss->source, from, time_text(&times, loss->to));
}

/* --- the whole */

bool has_word(const char *text, const char *word) {
  const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  size_t length = strlen(word);
  for (const char *at = text; (at = strstr(at, word)); at += length)
    if ((at == text || !strchr(letters, at[-1])) && (!at[length] || !strchr(letters, at[length])))
      return true;
  return false;
}

bool scenario_mentions(const struct scenario *scenario, size_t statements, const char *word) {
  for (size_t i = 0; i < statements; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (!statement->dropped && has_word(statement_text(scenario->arena, statement), word))
      return true;
  }
  return false;
}

static void print_ranges(struct base_buffer *out, const struct scenario *scenario,
                         size_t statements, const char *name) {
  for (char copy = 'a'; copy <= 'c'; copy++) {
    const char *variable = base_arena_printf(scenario->arena, "%c%s", copy, name);
    if (scenario_mentions(scenario, statements, variable))
      base_buffer_printf(out, "range of %s is %s%s\n", variable, name,
                         copy == 'c' ? " with credibility 0" : "");
  }
}

/* In the form of a .tqt case; what no statement mentions is left out. */
void scenario_print(struct base_buffer *out, const struct scenario *scenario, size_t statements) {
  struct base_arena *arena = scenario->arena;
  base_buffer_printf(out, "=== seed %llu\n", (unsigned long long)scenario->seed);
  if (scenario->real) base_buffer_puts(out, "--- timeline real\n");
  for (size_t i = 0; i < scenario->input_count; i++) {
    const struct input *input = &scenario->inputs[i];
    if (input->dropped) continue;
    base_buffer_printf(out, "--- relation %s\n%s", create_text(arena, input) + strlen("create "),
                       header_text(arena, input));
    for (size_t j = 0; j < input->count; j++)
      if (!input->rows[j].dropped) base_buffer_puts(out, row_text(arena, input, &input->rows[j]));
  }
  base_buffer_puts(out, "--- query\n");
  for (size_t i = 0; i < scenario->loss_count; i++)
    if (!scenario->losses[i].dropped)
      base_buffer_printf(out, "%s\n", loss_text(scenario, &scenario->losses[i]));
  for (size_t i = 0; i < scenario->input_count; i++)
    if (!scenario->inputs[i].dropped)
      print_ranges(out, scenario, statements, scenario->inputs[i].name);
  for (int i = 0; i < 2; i++)
    if (scenario_mentions(scenario, statements, clock_variables[i]))
      base_buffer_printf(out, "%s\n", clock_range_text(arena, scenario, i));
  for (size_t i = 0; i < statements; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (statement->dropped) continue;
    base_buffer_printf(out, "%s\n", statement_text(arena, statement));
    if (statement->kind >= APPEND && i + 1 == statements)
      base_buffer_printf(out, "print %s\n", statement->name + (statement->kind == APPEND ? 0 : 1));
    if (statement->kind != RETRIEVE || !statement->name) continue;
    if (i + 1 < statements)
      print_ranges(out, scenario, statements, statement->name);
    else
      base_buffer_printf(out, "print %s\n", statement->name);
  }
}
