/* The canonical text of statements: keywords in lower case, clauses and options in a fixed order.
 */
#include <string.h>
#include <strings.h>

#include "engine/base/status.h"
#include "tquel/lang/lexer.h"
#include "tquel/lang/parse.h"
#include "tquel/lang/print.h"

static void print_word(struct base_buffer *out, const char *word, const struct tql_name *name) {
  base_buffer_puts(out, word);
  tql_print_name(out, name->text);
}

static void print_clause(struct base_buffer *out, const char *word, const struct tql_expr *expr,
                         bool comma) {
  if (expr == NULL) return;
  base_buffer_puts(out, word);
  tql_print_operand(out, expr, comma);
}

static void print_clauses(struct base_buffer *out, const struct tql_clauses *clauses) {
  print_clause(out, " where ", clauses->where, false);
  print_clause(out, " when ", clauses->when, true);
  if (clauses->valid && clauses->start != NULL && clauses->stop != NULL) {
    print_clause(out, " valid from ", clauses->start, true);
    print_clause(out, " to ", clauses->stop, true);
    print_clause(out, " at ", clauses->at, true);
    return;
  }
  print_clause(out, " start ", clauses->start, true);
  print_clause(out, " stop ", clauses->stop, true);
  print_clause(out, clauses->valid ? " valid at " : " at ", clauses->at, true);
}

static void print_targets(struct base_buffer *out, const struct tql_target_list *targets) {
  if (!targets->given) return;
  base_buffer_puts(out, " (");
  for (size_t i = 0; i < targets->count; i++) {
    const struct tql_target *target = &targets->items[i];
    if (i > 0) base_buffer_puts(out, ", ");
    if (target->name.text != NULL) {
      tql_print_name(out, target->name.text);
      base_buffer_puts(out, " = ");
    }
    tql_print_operand(out, target->expr, false);
  }
  base_buffer_putc(out, ')');
}

static void print_keys(struct base_buffer *out, const struct tql_sort_key *keys, size_t count) {
  static const char *const times[] = {
      [TQL_SORT_START] = "start", [TQL_SORT_STOP] = "stop", [TQL_SORT_AT] = "at"};
  for (size_t i = 0; i < count; i++) {
    const struct tql_sort_key *key = &keys[i];
    base_buffer_puts(out, i > 0 ? ", " : " by ");
    if (key->of.text != NULL) {
      tql_print_name(out, key->of.text);
      base_buffer_putc(out, '.');
    }
    if (key->kind == TQL_SORT_ELEMENT)
      tql_print_name(out, key->name.text);
    else
      base_buffer_puts(out, times[key->kind]);
    if (key->descending) base_buffer_puts(out, " descending");
  }
}

static void print_number(struct base_buffer *out, const char *word, int64_t number) {
  if (number < 0) return;
  base_buffer_puts(out, word);
  base_buffer_int(out, number);
}

static void print_order(struct base_buffer *out, const struct tql_order *order) {
  if (order == NULL) return;
  if (order->key_count > 0) base_buffer_puts(out, " sort");
  print_keys(out, order->keys, order->key_count);
  print_number(out, " limit ", order->group_limit);
  print_keys(out, order->groups, order->group_count);
  print_number(out, " limit ", order->limit);
  print_number(out, " offset ", order->offset);
}

static void print_names(struct base_buffer *out, const char *before,
                        const struct tql_statement *statement, const char *after) {
  if (statement->name_count == 0) return;
  base_buffer_puts(out, before);
  for (size_t i = 0; i < statement->name_count; i++) {
    if (i > 0) base_buffer_puts(out, ", ");
    tql_print_name(out, statement->names[i].text);
  }
  base_buffer_puts(out, after);
}

static void print_string(struct base_buffer *out, const char *word, const char *text) {
  if (text == NULL) return;
  base_buffer_puts(out, word);
  tql_print_string(out, text, strlen(text));
}

static void print_mapping(struct base_buffer *out, const struct tql_mapping *mapping) {
  static const char *const from[] = {
      [TQL_FROM_COLUMN] = "", [TQL_FROM_START] = "start + ", [TQL_FROM_STOP] = "stop - "};
  tql_print_name(out, mapping->target.text);
  base_buffer_printf(out, " = %s", from[mapping->from]);
  if (mapping->column != NULL)
    print_string(out, "", mapping->column);
  else
    base_buffer_int(out, mapping->number);
  if (mapping->unit.text != NULL) print_word(out, " in ", &mapping->unit);
  print_string(out, " like ", mapping->like);
  print_string(out, " else ", mapping->otherwise);
}

/* What is said of the form of a file. */
static void print_form(struct base_buffer *out, const struct tql_file_form *form) {
  if (form == NULL) return;
  if (form->format.text != NULL) print_word(out, " as ", &form->format);
  print_string(out, " ", form->how);
  if (form->skipped > 0) base_buffer_printf(out, " skipping %lld lines", (long long)form->skipped);
  if (form->headless) base_buffer_puts(out, " without header");
  if (form->ragged) base_buffer_puts(out, " ragged");
  if (form->continued) base_buffer_puts(out, " continued");
  for (size_t i = 0; i < form->mapping_count; i++) {
    base_buffer_puts(out, i > 0 ? ", " : " (");
    print_mapping(out, &form->mappings[i]);
  }
  if (form->mapping_count > 0) base_buffer_putc(out, ')');
  if (form->empty.text != NULL) print_word(out, " empty periods ", &form->empty);
}

/* A file that a relation is made of. */
static void print_file(struct base_buffer *out, const char *word,
                       const struct tql_statement *statement) {
  print_string(out, word, statement->path);
  print_form(out, statement->form);
  if (statement->skipping_errors) base_buffer_puts(out, " skipping errors");
}

static void print_range(struct base_buffer *out, const struct tql_statement *statement) {
  print_word(out, "range of ", &statement->variable);
  if (statement->expr != NULL)
    print_clause(out, " is ", statement->expr, false);
  else if (statement->path == NULL)
    print_word(out, " is ", &statement->name);
  else
    print_file(out, " is file ", statement);
  if (statement->credibility >= 0) {
    base_buffer_puts(out, " with credibility ");
    base_buffer_int(out, statement->credibility);
  }
}

static void print_create(struct base_buffer *out, const struct tql_statement *statement) {
  static const char *const kinds[] = {
      [TQL_SNAPSHOT] = "",      [TQL_EVENT] = "event ",     [TQL_PERIOD] = "period ",
      [TQL_TRACED] = "traced ", [TQL_SAMPLED] = "sampled ",
  };
  base_buffer_puts(out, statement->persistent ? "create persistent " : "create ");
  base_buffer_puts(out, kinds[statement->relation_kind]);
  if (statement->path != NULL) {
    if (statement->kind_given && statement->relation_kind == TQL_SNAPSHOT)
      base_buffer_puts(out, "plain ");
    tql_print_name(out, statement->name.text);
    print_file(out, " from ", statement);
    return;
  }
  tql_print_name(out, statement->name.text);
  base_buffer_puts(out, " (");
  for (size_t i = 0; i < statement->domain_count; i++) {
    if (i > 0) base_buffer_puts(out, ", ");
    tql_print_name(out, statement->domains[i].name.text);
    print_word(out, " = ", &statement->domains[i].type);
  }
  base_buffer_putc(out, ')');
  print_names(out, " by ", statement, "");
}

static void print_absences(struct base_buffer *out, const struct tql_statement *statement) {
  for (size_t i = 0; i < statement->absence_count; i++) {
    print_word(out, " unless ", &statement->absences[i].variable);
    print_clauses(out, &statement->absences[i].clauses);
  }
}

static void print_retrieve(struct base_buffer *out, const struct tql_statement *statement) {
  base_buffer_puts(out, "retrieve");
  if (statement->unique) base_buffer_puts(out, " unique");
  if (statement->coalesced) base_buffer_puts(out, " coalesced");
  if (statement->summary) base_buffer_puts(out, " summary");
  if (statement->name.text != NULL) {
    bool into = statement->summary || strcasecmp(statement->name.text, "summary") == 0;
    print_word(out, into ? " into " : " ", &statement->name);
  }
  print_targets(out, &statement->targets);
  print_clause(out, " during ", statement->during, false);
  print_clauses(out, &statement->clauses);
  print_absences(out, statement);
  print_order(out, statement->order);
}

static void print_update(struct base_buffer *out, const char *words, const struct tql_name *name,
                         const struct tql_statement *statement) {
  print_word(out, words, name);
  print_targets(out, &statement->targets);
  print_clauses(out, &statement->clauses);
  print_absences(out, statement);
}

static void print_copy(struct base_buffer *out, const struct tql_statement *statement) {
  print_word(out, "copy ", &statement->name);
  base_buffer_puts(out, statement->copy_into ? " into " : " from ");
  tql_print_string(out, statement->path, strlen(statement->path));
  print_form(out, statement->form);
  if (statement->following) base_buffer_puts(out, " following");
  if (statement->ordered_by_stop) base_buffer_puts(out, " ordered by stop");
  print_clause(out, " within ", statement->within, false);
  if (statement->skipping_errors) base_buffer_puts(out, " skipping errors");
}

static void print_destroy(struct base_buffer *out, const struct tql_statement *statement) {
  if (statement->words == NULL) {
    print_names(out, "destroy ", statement, "");
    return;
  }
  base_buffer_printf(out, "destroy %s ", statement->words);
  tql_print_name(out, statement->name.text);
  if (statement->number_count == 0) base_buffer_puts(out, " all");
  for (size_t i = 0; i < statement->number_count; i++)
    print_clause(out, i > 0 ? ", " : " ", statement->numbers[i], false);
}

static void print_help(struct base_buffer *out, const struct tql_statement *statement) {
  base_buffer_puts(out, "help");
  if (statement->name.text != NULL) print_word(out, " ", &statement->name);
  if (statement->topic == NULL) return;
  base_buffer_putc(out, ' ');
  tql_print_string(out, statement->topic, strlen(statement->topic));
}

/* A word as `set` reads it: only those that open a statement or a condition need backticks. */
static void print_setting_word(struct base_buffer *out, const char *text, bool dashes) {
  const struct tql_word *word = tql_word_find(text, strlen(text));
  bool plain = tql_is_plain_word(text, dashes);
  if (plain && (dashes || word == NULL || word->word_class == TQL_WORD_CLAUSE))
    base_buffer_puts(out, text);
  else
    tql_print_name(out, text);
}

static void print_set(struct base_buffer *out, const struct tql_statement *statement) {
  base_buffer_puts(out, "set ");
  base_buffer_puts(out, statement->words);
  if (statement->name.text != NULL) {
    base_buffer_putc(out, ' ');
    print_setting_word(out, statement->name.text, true);
  }
  if (statement->value == NULL) return;
  base_buffer_putc(out, ' ');
  if (statement->value->kind == TQL_E_NAME)
    print_setting_word(out, statement->value->name.text, false);
  else
    tql_print_operand(out, statement->value, false);
  if (statement->value->kind == TQL_E_INTEGER && statement->value->name.text != NULL) {
    base_buffer_putc(out, ' ');
    tql_print_name(out, statement->value->name.text);
  }
}

/* A name or a string: what is not a word is printed as a string, which holds any text. */
static void print_terminal(struct base_buffer *out, const char *text) {
  base_buffer_puts(out, " at ");
  if (tql_is_plain_word(text, false) && !tql_is_keyword(text))
    base_buffer_puts(out, text);
  else
    tql_print_string(out, text, strlen(text));
}

static void print_permit(struct base_buffer *out, const struct tql_statement *statement) {
  base_buffer_puts(out, "define permit ");
  base_buffer_puts(out, statement->words);
  print_word(out, " on ", &statement->name);
  print_names(out, " (", statement, ")");
  print_word(out, " to ", &statement->member);
  if (statement->terminal.text != NULL) print_terminal(out, statement->terminal.text);
  print_clause(out, " from ", statement->time_first, false);
  print_clause(out, " to ", statement->time_last, false);
  if (statement->day_first.text != NULL) {
    print_word(out, " on ", &statement->day_first);
    print_word(out, " to ", &statement->day_last);
  }
  print_clause(out, " where ", statement->expr, false);
}

static void print_explain(struct base_buffer *out, const struct tql_statement *statement) {
  base_buffer_puts(out, statement->analyze ? "explain analyze " : "explain ");
  print_retrieve(out, statement->inner);
}

static void print_checkpoint(struct base_buffer *out, const struct tql_statement *statement) {
  print_clause(out, "checkpoint ", statement->expr, true);
  if (statement->name.text != NULL) print_word(out, " for ", &statement->name);
}

static void print_index(struct base_buffer *out, const struct tql_statement *statement) {
  print_word(out, "index on ", &statement->variable);
  print_word(out, " is ", &statement->name);
  print_names(out, " (", statement, ")");
}

static void print_modify(struct base_buffer *out, const struct tql_statement *statement) {
  print_word(out, "modify ", &statement->name);
  base_buffer_puts(out, " to ");
  tql_print_name(out, statement->words);
  print_names(out, " on ", statement, "");
  if (statement->expr == NULL) return;
  base_buffer_putc(out, ' ');
  tql_print_expr(out, statement->expr);
}

void tql_print_statement(struct base_buffer *out, const struct tql_statement *statement) {
  switch (statement->kind) {
    case TQL_S_RANGE:
      print_range(out, statement);
      break;
    case TQL_S_CREATE:
      print_create(out, statement);
      break;
    case TQL_S_RETRIEVE:
      print_retrieve(out, statement);
      break;
    case TQL_S_APPEND:
      print_update(out, "append to ", &statement->name, statement);
      break;
    case TQL_S_DELETE:
      print_update(out, "delete ", &statement->variable, statement);
      break;
    case TQL_S_REPLACE:
      print_update(out, "replace ", &statement->variable, statement);
      break;
    case TQL_S_VIEW:
      print_update(out, "define view ", &statement->name, statement);
      break;
    case TQL_S_COPY:
      print_copy(out, statement);
      break;
    case TQL_S_DISPLAY:
      print_names(out, "display ", statement, "");
      break;
    case TQL_S_PRINT:
      print_names(out, "print ", statement, "");
      print_order(out, statement->order);
      break;
    case TQL_S_DESTROY:
      print_destroy(out, statement);
      break;
    case TQL_S_HELP:
      print_help(out, statement);
      break;
    case TQL_S_EXPLAIN:
      print_explain(out, statement);
      break;
    case TQL_S_CHECKPOINT:
      print_checkpoint(out, statement);
      break;
    case TQL_S_SET:
      print_set(out, statement);
      break;
    case TQL_S_INDEX:
      print_index(out, statement);
      break;
    case TQL_S_MODIFY:
      print_modify(out, statement);
      break;
    case TQL_S_SAVE:
      print_word(out, "save ", &statement->name);
      print_clause(out, " until ", statement->expr, true);
      break;
    case TQL_S_PERMIT:
      print_permit(out, statement);
      break;
    case TQL_S_INTEGRITY:
      print_word(out, "define integrity on ", &statement->variable);
      print_clause(out, " is ", statement->expr, false);
      break;
  }
}
