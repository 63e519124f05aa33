/* The session's side of a scenario: text statements, results caught as they are given out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/oracle/judge.h"
#include "tests/temporary.h"

static void on_rows(void *context, const struct tql_rows *rows) {
  struct engine *engine = context;
  const struct net_layout *layout = rows->rows.layout;
  const struct base_strings *strings = tql_session_strings(engine->session);
  /* The layout goes with the statement. */
  const struct net_layout *kept =
      net_layout_new(engine->arena, layout->tuple_class, layout->fields, layout->field_count);
  engine->result = (struct oracle_relation){.layout = kept};
  engine->has_result = true;
  for (size_t i = 0; i < rows->rows.count; i++) {
    oracle_add(engine->arena, &engine->result, net_rows_row(&rows->rows, i),
               (rows->rows.marks[i] & NET_DEFINITE) != 0);
    union net_slot *row = engine->result.tuples[i].row;
    for (uint32_t j = 0; j < kept->field_count; j++) {
      if (!net_type_is_interned(kept->fields[j].type.base)) continue;
      union net_slot *slot = &row[kept->fields[j].slot];
      size_t length;
      const char *text = base_strings_text(strings, slot->s, &length);
      slot->s = base_strings_intern(engine->strings, text, length);
    }
  }
}

static void on_text(void *context, const char *text) {
  (void)context, (void)text;
}

bool engine_open(struct engine *engine, struct base_arena *arena, struct base_strings *strings,
                 const char *path, const struct scenario *scenario, struct engine_options options) {
  *engine = (struct engine){.arena = arena, .strings = strings};
  engine->timeline = scenario->real ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT;
  engine->output = (struct tql_output){.context = engine, .rows = on_rows, .text = on_text};
  base_diag_sink_init(&engine->diags);
  struct tql_session_options session = {.path = path,
                                        .timeline = engine->timeline,
                                        .timeline_given = true,
                                        .rules_off = options.rules_off,
                                        .batch_rows = options.batch_rows,
                                        .checked = true};
  if (tql_session_open(&session, &engine->diags, &engine->session) != BASE_OK) {
    engine->session = NULL;
    return false;
  }
  /* Then nothing is kept in memory: what is wanted is found by the store's indexes. */
  if (options.batch_rows == 1 && engine_run(engine, "set cache 0") != ANSWER_ROWS) return false;
  if (options.rule_off == 0) return true;
  const char *rule = ng_rule_info((enum ng_rule)(options.rule_off - 1))->name;
  return engine_run(engine, base_arena_printf(arena, "set rule %s off", rule)) == ANSWER_ROWS;
}

void engine_close(struct engine *engine) {
  tql_session_close(engine->session);
  engine->session = NULL;
  base_diag_sink_done(&engine->diags);
}

const char *engine_message(const struct engine *engine) {
  for (size_t i = 0; i < engine->diags.count; i++)
    if (engine->diags.items[i].severity == BASE_ERROR) return engine->diags.items[i].message;
  return "no message";
}

enum answer engine_run(struct engine *engine, const char *text) {
  base_diag_sink_clear(&engine->diags);
  engine->has_result = false;
  enum base_status status =
      tql_session_run(engine->session, "judge", 1, text, strlen(text), &engine->output, false);
  if (status == BASE_OK) return ANSWER_ROWS;
  for (size_t i = 0; i < engine->diags.count; i++) {
    const struct base_diag *diag = &engine->diags.items[i];
    if (diag->severity != BASE_ERROR || (int)diag->number < 900) continue;
    engine->lacking = true;
    return ANSWER_NOT_EXECUTED;
  }
  if (status != BASE_USER) return ANSWER_BROKEN;
  /* A relation that was not made is unknown later. */
  int number = engine_number(engine);
  bool unknown = number == MSG_UNKNOWN_RELATION || number == MSG_UNKNOWN_VARIABLE;
  return engine->lacking && unknown ? ANSWER_NOT_EXECUTED : ANSWER_REFUSED;
}

int engine_number(const struct engine *engine) {
  for (size_t i = 0; i < engine->diags.count; i++)
    if (engine->diags.items[i].severity == BASE_ERROR) return (int)engine->diags.items[i].number;
  return 0;
}

bool is_run_time_error(const struct engine *engine, enum answer answer) {
  return answer == ANSWER_REFUSED && engine_number(engine) / 100 == 4;
}

/* ROWS with the header into the relation. */
bool engine_copy(struct engine *engine, const struct input *input, const char *rows) {
  char *path = temporary_path("judge-XXXXXX.csv");
  int file = mkstemps(path, 4);
  if (file < 0) {
    free(path);
    return false;
  }
  FILE *out = fdopen(file, "w");
  fputs(header_text(engine->arena, input), out);
  fputs(rows, out);
  fclose(out);
  enum answer answer = engine_run(
      engine, base_arena_printf(engine->arena, "copy %s from \"%s\"", input->name, path));
  unlink(path);
  free(path);
  return answer == ANSWER_ROWS;
}

static const char *all_rows(struct base_arena *arena, const struct input *input) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < input->count; i++)
    if (!input->rows[i].dropped) base_buffer_puts(&out, row_text(arena, input, &input->rows[i]));
  const char *text = base_arena_strdup(arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return text;
}

bool engine_load(struct engine *engine, const struct scenario *scenario) {
  for (size_t i = 0; i < scenario->input_count; i++) {
    const struct input *input = &scenario->inputs[i];
    if (input->dropped) continue;
    enum answer answer = engine_run(engine, create_text(engine->arena, input));
    if (answer == ANSWER_NOT_EXECUTED) continue;
    if (answer != ANSWER_ROWS || !engine_copy(engine, input, all_rows(engine->arena, input)))
      return false;
    if (engine_run(engine, ranges_text(engine->arena, input->name)) != ANSWER_ROWS) return false;
  }
  for (size_t i = 0; i < scenario->loss_count; i++) {
    const struct loss *loss = &scenario->losses[i];
    if (!loss->dropped && engine_run(engine, loss_text(scenario, loss)) != ANSWER_ROWS)
      return false;
  }
  for (int i = 0; i < 2; i++)
    if (engine_run(engine, clock_range_text(engine->arena, scenario, i)) >= ANSWER_BROKEN)
      return false;
  return true;
}

enum answer engine_print(struct engine *engine, const char *name) {
  enum answer answer = engine_run(engine, base_arena_printf(engine->arena, "print %s", name));
  return answer == ANSWER_ROWS && !engine->has_result ? ANSWER_BROKEN : answer;
}

enum answer engine_define(struct engine *engine, const struct statement *statement) {
  const char *text = statement_text(engine->arena, statement);
  bool explained = statement->kind == RETRIEVE && !statement->view && strlen(text) % 4 == 0;
  const char *how = strlen(text) % 8 == 0 ? "explain analyze" : "explain";
  const char *question = base_arena_printf(engine->arena, "%s %s", how, text);
  enum answer explanation = explained ? engine_run(engine, question) : ANSWER_ROWS;
  if (explanation == ANSWER_BROKEN) return ANSWER_BROKEN;
  enum answer answer = engine_run(engine, text);
  return answer == ANSWER_ROWS && explanation != ANSWER_ROWS ? ANSWER_BROKEN : answer;
}

enum answer engine_statement(struct engine *engine, const struct statement *statement) {
  enum answer answer = engine_define(engine, statement);
  if (answer != ANSWER_ROWS || statement->kind != RETRIEVE || !statement->name) return answer;
  if (engine_run(engine, ranges_text(engine->arena, statement->name)) != ANSWER_ROWS)
    return ANSWER_BROKEN;
  return engine_print(engine, statement->name);
}

/* --- comparing */

static void list(struct base_buffer *out, const char *mark, const struct base_strings *strings,
                 const struct oracle_relation *relation, const struct oracle_tuple *tuple) {
  base_buffer_printf(out, "  %s ", mark);
  oracle_print_row(out, relation->layout, strings, tuple->row, tuple->definite);
  base_buffer_putc(out, '\n');
}

static bool same_layout(const struct net_layout *a, const struct net_layout *b) {
  if (a->tuple_class != b->tuple_class || a->field_count != b->field_count) return false;
  for (uint32_t i = 0; i < a->field_count; i++)
    if (a->fields[i].type.base != b->fields[i].type.base) return false;
  return true;
}

/* Of temporal values at `forever` nothing is said. */
static bool is_unsaid(const struct oracle_relation *relation, size_t i) {
  if (relation->tuples[i].row[0].i != NET_FOREVER) return false;
  for (uint32_t j = 0; j < relation->layout->field_count; j++)
    if (relation->layout->fields[j].type.base == NET_TEMPORAL) return true;
  return false;
}

/* Where the last bits of doubles decide whether two values are one, so do they whether two tuples that
 * are equal otherwise are one, and two stretches of a result that adjoin. Values whose bits are the same
 * are no excuse. */
static bool are_one(const struct base_strings *strings, const struct net_layout *layout,
                    enum net_timeline timeline, const struct oracle_tuple *a,
                    const struct oracle_tuple *b) {
  if (oracle_same_bits(layout, a->row, b->row, timeline)) return false;
  if (oracle_same_row(layout, strings, a->row, strings, b->row)) return true;
  return layout->tuple_class == NET_PERIOD && a->definite == b->definite &&
         a->row[2].i == a->row[3].i && b->row[0].i == b->row[1].i && a->row[2].i == b->row[0].i &&
         oracle_same_values(layout, strings, a->row, b->row, timeline);
}

static struct oracle_relation united(struct base_arena *arena, const struct base_strings *strings,
                                     const struct oracle_relation *relation,
                                     enum net_timeline timeline) {
  struct oracle_relation result = {.layout = relation->layout};
  for (size_t i = 0; i < relation->count; i++)
    oracle_add(arena, &result, relation->tuples[i].row, relation->tuples[i].definite);
  for (size_t i = 0; i < result.count; i++) {
    struct oracle_tuple *tuple = &result.tuples[i];
    for (size_t j = 0; j < result.count; j++) {
      const struct oracle_tuple *other = &result.tuples[j];
      if (i == j || !are_one(strings, result.layout, timeline, tuple, other)) continue;
      if (result.layout->tuple_class == NET_PERIOD && tuple->row[0].i != other->row[0].i)
        memcpy(tuple->row + 2, other->row + 2, 2 * sizeof *tuple->row);
      tuple->definite = tuple->definite || other->definite;
      result.tuples[j] = result.tuples[--result.count];
      i = (size_t)-1; /* from the first one again */
      break;
    }
  }
  return result;
}

static bool compare(struct base_buffer *out, const struct base_strings *strings,
                    const struct oracle_relation *expected, const struct oracle_relation *got) {
  bool same = true;
  bool *found = base_xcalloc(got->count + 1, sizeof *found);
  for (size_t i = 0; i < expected->count; i++) {
    const struct oracle_tuple *tuple = &expected->tuples[i];
    if (is_unsaid(expected, i)) continue;
    size_t j = 0;
    while (j < got->count &&
           (found[j] || got->tuples[j].definite != tuple->definite ||
            !oracle_same_row(expected->layout, strings, tuple->row, strings, got->tuples[j].row)))
      j++;
    if (j < got->count) {
      found[j] = true;
      list(out, " ", strings, expected, tuple);
    } else {
      same = false;
      list(out, "-", strings, expected, tuple);
    }
  }
  for (size_t j = 0; j < got->count; j++) {
    if (found[j] || is_unsaid(got, j)) continue;
    same = false;
    list(out, "+", strings, got, &got->tuples[j]);
  }
  free(found);
  return same;
}

bool same_sequence(struct base_buffer *out, const struct base_strings *strings,
                   const struct oracle_relation *expected, const struct oracle_relation *got) {
  bool same = same_layout(expected->layout, got->layout) && expected->count == got->count;
  for (size_t i = 0; i < expected->count && same; i++)
    same = expected->tuples[i].definite == got->tuples[i].definite &&
           oracle_same_row(expected->layout, strings, expected->tuples[i].row, strings,
                           got->tuples[i].row);
  for (size_t i = 0; i < expected->count && !same; i++)
    list(out, "-", strings, expected, &expected->tuples[i]);
  for (size_t i = 0; i < got->count && !same; i++) list(out, "+", strings, got, &got->tuples[i]);
  return same;
}

bool same_relation(struct base_buffer *out, const struct base_strings *strings,
                   enum net_timeline timeline, const struct oracle_relation *expected,
                   const struct oracle_relation *got) {
  if (!same_layout(expected->layout, got->layout)) {
    base_buffer_puts(out, "  another layout\n");
    return false;
  }
  if (compare(out, strings, expected, got)) return true;
  struct base_arena *arena = base_arena_new();
  struct base_buffer ignored = BASE_BUFFER_EMPTY;
  struct oracle_relation a = united(arena, strings, expected, timeline);
  struct oracle_relation b = united(arena, strings, got, timeline);
  bool same = compare(&ignored, strings, &a, &b);
  base_buffer_done(&ignored);
  base_arena_free(arena);
  return same;
}
