/* Shrinking: whatever can be left out of a scenario, with the difference in its last statement still
 * there, is: statements, relations, tuples, clauses, targets, and parts of expressions (an operator is
 * replaced by one of its operands in parentheses, a call by its argument). What crashes is tried in a
 * process of its own.                                                                              */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/oracle/judge.h"

struct shrinking {
  struct scenario *scenario;
  size_t last;
  struct engine_options options;
  bool selftest, crashes;
  unsigned budget; /* attempts */
};

static bool differs_here(const struct scenario *scenario, size_t last,
                         struct engine_options options, bool selftest) {
  struct verdict verdict = {.why = BASE_BUFFER_EMPTY};
  struct tally ignored = {0};
  judge_configuration(scenario, last, options, selftest, &verdict, &ignored);
  bool result = verdict.differs && verdict.statement + 1 == last;
  base_buffer_done(&verdict.why);
  return result;
}

bool still_differs(const struct scenario *scenario, size_t last, struct engine_options options,
                   bool selftest, bool crashes) {
  if (!crashes) return differs_here(scenario, last, options, selftest);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(0);
    alarm(20);
    differs_here(scenario, last, options, selftest);
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

static bool still(struct shrinking *shrinking) {
  if (shrinking->budget == 0) return false;
  shrinking->budget--;
  return still_differs(shrinking->scenario, shrinking->last, shrinking->options,
                       shrinking->selftest, shrinking->crashes);
}

static bool try_flag(struct shrinking *shrinking, bool *flag) {
  if (*flag) return false;
  *flag = true;
  if (still(shrinking)) return true;
  *flag = false;
  return false;
}

static bool try_clear(struct shrinking *shrinking, bool *flag) {
  if (!*flag) return false;
  *flag = false;
  if (still(shrinking)) return true;
  *flag = true;
  return false;
}

static bool try_parts(struct shrinking *shrinking, const char **parts, char *kinds, size_t *count) {
  bool any = false;
  for (size_t i = *count; i-- > 0;) {
    const char *kept = parts[i];
    char kind = kinds ? kinds[i] : 0;
    size_t behind = *count - i - 1;
    memmove(parts + i, parts + i + 1, behind * sizeof *parts);
    if (kinds) memmove(kinds + i, kinds + i + 1, behind);
    --*count;
    if (still(shrinking)) {
      any = true;
      continue;
    }
    memmove(parts + i + 1, parts + i, behind * sizeof *parts);
    if (kinds) memmove(kinds + i + 1, kinds + i, behind);
    parts[i] = kept;
    if (kinds) kinds[i] = kind;
    ++*count;
  }
  return any;
}

static bool try_clause(struct shrinking *shrinking, const char **clause) {
  const char *kept = *clause;
  if (!kept) return false;
  *clause = NULL;
  if (still(shrinking)) return true;
  *clause = kept;
  return false;
}

/* --- parts of an expression */

static bool try_text(struct shrinking *shrinking, const char **text, const char *replacement) {
  const char *kept = *text;
  if (strcmp(kept, replacement) == 0) return false;
  *text = replacement;
  if (still(shrinking)) return true;
  *text = kept;
  return false;
}

/* The end of the group that opens at FROM, or NULL. */
static const char *closing(const char *from) {
  int depth = 0;
  bool quoted = false;
  for (; *from; from++) {
    if (*from == '\\' && quoted && from[1]) {
      from++;
      continue;
    }
    if (*from == '"') quoted = !quoted;
    if (quoted) continue;
    if (*from == '(') depth++;
    if (*from == ')' && --depth == 0) return from;
  }
  return NULL;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Every group in parentheses is tried in place of the whole expression behind PREFIX characters (the
 * name of a target), of the call in front of it, and without what stands in it to the left or the
 * right of a blank.                                                                                */
static bool try_groups(struct shrinking *shrinking, const char **text, size_t prefix) {
  struct scenario *scenario = shrinking->scenario;
  const char *whole = *text;
  for (const char *open = whole + prefix; (open = strchr(open, '(')); open++) {
    const char *close = closing(open);
    if (!close) continue;
    int inner = (int)(close - open) + 1;
    if (open > whole + prefix || close[1])
      if (try_text(shrinking, text, TEXT("%.*s%.*s", (int)prefix, whole, inner, open))) return true;
    const char *word = open;
    while (word > whole + prefix && is_word(word[-1])) word--;
    if (word < open || inner > 2)
      if (try_text(shrinking, text,
                   TEXT("%.*s%.*s%s", (int)(word - whole), whole, inner - 2, open + 1, close + 1)))
        return true;
  }
  /* A cut at each blank on the outermost level of any group. */
  for (const char *blank = whole + prefix; (blank = strchr(blank, ' ')); blank++) {
    const char *from = blank, *to = blank;
    int depth = 0;
    while (from > whole + prefix && (depth > 0 || from[-1] != '(')) {
      depth += (from[-1] == ')') - (from[-1] == '(');
      from--;
    }
    depth = 0;
    while (*to && (depth > 0 || *to != ')')) {
      depth += (*to == '(') - (*to == ')');
      to++;
    }
    if (try_text(shrinking, text, TEXT("%.*s%s", (int)(blank - whole), whole, to))) return true;
    if (try_text(shrinking, text, TEXT("%.*s%s", (int)(from - whole), whole, blank + 1)))
      return true;
  }
  return false;
}

static bool try_expression(struct shrinking *shrinking, const char **text, size_t prefix) {
  bool any = false;
  while (shrinking->budget > 0 && try_groups(shrinking, text, prefix)) any = true;
  return any;
}

static bool try_absence_expressions(struct shrinking *shrinking, struct absence *absence) {
  bool any = false;
  for (size_t i = 0; i < absence->where_count; i++)
    any = try_expression(shrinking, &absence->where[i], 0) || any;
  for (size_t i = 0; i < absence->when_count; i++)
    any = try_expression(shrinking, &absence->when[i], 0) || any;
  return any;
}

static bool try_expressions(struct shrinking *shrinking, struct statement *s) {
  bool any = false;
  for (size_t i = 0; i < s->target_count; i++)
    any = try_expression(shrinking, &s->targets[i], strcspn(s->targets[i], "=") + 2) || any;
  for (size_t i = 0; i < s->where_count; i++)
    any = try_expression(shrinking, &s->where[i], 0) || any;
  for (size_t i = 0; i < s->when_count; i++) any = try_expression(shrinking, &s->when[i], 0) || any;
  if (s->start) any = try_expression(shrinking, &s->start, 0) || any;
  if (s->stop) any = try_expression(shrinking, &s->stop, 0) || any;
  if (s->at) any = try_expression(shrinking, &s->at, 0) || any;
  for (size_t i = 0; i < s->absence_count; i++)
    any = try_absence_expressions(shrinking, &s->absences[i]) || any;
  return any;
}

/* --- rows: determinate, definite, plain */

/* Can the row be loaded? */
static bool is_sound(const struct input *input, const struct input_row *row) {
  if (!is_kind(input, "period")) return true;
  bool determinate = row->time[0] == row->time[1] && row->time[2] == row->time[3];
  return row->time[0] <= row->time[2] && row->time[1] <= row->time[3] &&
         (!determinate || row->time[0] < row->time[2]);
}

static bool try_row(struct shrinking *shrinking, const struct input *input, struct input_row *row) {
  bool any = false;
  if (!row->definite) {
    row->definite = true;
    if (still(shrinking))
      any = true;
    else
      row->definite = false;
  }
  for (int i = 0; i < 4; i += 2) {
    if (row->time[i] == row->time[i + 1]) continue;
    net_chronon lo = row->time[i], hi = row->time[i + 1];
    row->time[i + 1] = lo;
    if (is_sound(input, row) && still(shrinking)) {
      any = true;
      continue;
    }
    row->time[i] = row->time[i + 1] = hi;
    if (is_sound(input, row) && still(shrinking)) {
      any = true;
      continue;
    }
    row->time[i] = lo;
    row->time[i + 1] = hi;
  }
  return any;
}

static bool try_data(struct shrinking *shrinking) {
  struct scenario *scenario = shrinking->scenario;
  bool any = false;
  for (size_t i = 0; i < scenario->loss_count; i++)
    any = try_flag(shrinking, &scenario->losses[i].dropped) || any;
  for (size_t i = 0; i < scenario->input_count; i++) {
    struct input *input = &scenario->inputs[i];
    if (input->dropped || try_flag(shrinking, &input->dropped)) continue;
    for (size_t j = 0; j < input->count; j++) {
      any = try_flag(shrinking, &input->rows[j].dropped) || any;
      if (!input->rows[j].dropped && input->by_count == 0)
        any = try_row(shrinking, input, &input->rows[j]) || any;
    }
  }
  return any;
}

static bool try_absences(struct shrinking *shrinking, struct statement *s) {
  bool any = false;
  for (size_t i = s->absence_count; i-- > 0;) {
    struct absence kept[ABSENCES_MAX];
    memcpy(kept, s->absences, sizeof kept);
    memmove(s->absences + i, s->absences + i + 1, (--s->absence_count - i) * sizeof *kept);
    if (still(shrinking)) {
      any = true;
      continue;
    }
    memcpy(s->absences, kept, sizeof kept);
    s->absence_count++;
    struct absence *absence = &s->absences[i];
    any = try_parts(shrinking, absence->where, NULL, &absence->where_count) || any;
    any = try_parts(shrinking, absence->when, NULL, &absence->when_count) || any;
  }
  return any;
}

static bool try_statement(struct shrinking *shrinking, struct statement *s) {
  bool any = try_parts(shrinking, s->where, NULL, &s->where_count);
  any = try_parts(shrinking, s->when, NULL, &s->when_count) || any;
  any = try_parts(shrinking, s->targets, s->kinds, &s->target_count) || any;
  any = try_absences(shrinking, s) || any;
  any = try_clause(shrinking, &s->modes) || any;
  any = try_clause(shrinking, &s->during) || any;
  any = try_clause(shrinking, &s->order) || any;
  any = try_clause(shrinking, &s->start) || any;
  any = try_clause(shrinking, &s->stop) || any;
  any = try_clause(shrinking, &s->at) || any;
  any = try_clear(shrinking, &s->valid) || any;
  any = try_clear(shrinking, &s->view) || any;
  return try_expressions(shrinking, s) || any;
}

void shrink(struct scenario *scenario, size_t last, struct engine_options options, bool selftest,
            bool crashes) {
  struct shrinking shrinking = {scenario, last, options, selftest, crashes, 4000};
  bool any = true;
  for (int round = 0; any && round < 5; round++) {
    any = false;
    for (size_t i = last - 1; i-- > 0;)
      any = try_flag(&shrinking, &scenario->statements[i].dropped) || any;
    any = try_data(&shrinking) || any;
    for (size_t i = last; i-- > 0;)
      if (!scenario->statements[i].dropped)
        any = try_statement(&shrinking, &scenario->statements[i]) || any;
  }
}
