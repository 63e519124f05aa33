/* Clauses and statements of the syntax tree. What a clause or option may stand beside is left to
 * analysis; here only a second one of the same sort is refused. */
#include <string.h>
#include <strings.h>

#include "engine/base/status.h"
#include "tquel/lang/ast_build.h"

struct tql_statement *tql_new_statement(struct tql_parser *parser, enum tql_statement_kind kind,
                                        const struct tql_span *span) {
  struct tql_statement *statement = BASE_NEW(parser->arena, struct tql_statement);
  statement->kind = kind;
  statement->credibility = -1;
  return tql_widen(parser, span, statement);
}

struct tql_statement *tql_widen(struct tql_parser *parser, const struct tql_span *span,
                                struct tql_statement *statement) {
  statement->range = span->range;
  statement->text = parser->text + span->first; /* copied when the statement is complete */
  statement->text_length = span->last - span->first;
  return statement;
}

void tql_emit(struct tql_parser *parser, struct tql_statement *statement) {
  tql_check_minimum(parser);
  if (parser->failed) return;
  statement->text = base_arena_strndup(parser->arena, statement->text, statement->text_length);
  if (statement->inner != NULL) {
    struct tql_statement *inner = statement->inner;
    inner->text = base_arena_strndup(parser->arena, inner->text, inner->text_length);
  }
  base_grow(&parser->statements, &parser->capacity, parser->count + 1, sizeof(*parser->statements));
  parser->statements[parser->count++] = statement;
}

static void set_names(struct tql_statement *statement, const struct tql_list *names) {
  if (names == NULL) return;
  statement->names = names->items;
  statement->name_count = names->count;
}

/* --- clauses ---------------------------------------------------------------------------------- */

static void once(struct tql_parser *parser, const struct tql_span *at, bool given,
                 const char *clause) {
  if (!given) return;
  tql_fail(parser, MSG_SYNTAX, &at->range, "each clause stands at most once in a statement",
           "a second \"%s\" where another clause or the end of the statement was expected", clause);
}

struct tql_clauses *tql_clauses_new(struct tql_parser *parser) {
  return BASE_NEW(parser->arena, struct tql_clauses);
}

struct tql_clauses *tql_clause_where(struct tql_parser *parser, struct tql_clauses *clauses,
                                     const struct tql_span *at, struct tql_expr *expr) {
  once(parser, at, clauses->where != NULL, "where");
  clauses->where = expr;
  clauses->where_range = at->range;
  return clauses;
}

struct tql_clauses *tql_clause_when(struct tql_parser *parser, struct tql_clauses *clauses,
                                    const struct tql_span *at, struct tql_expr *expr) {
  once(parser, at, clauses->when != NULL, "when");
  clauses->when = expr;
  clauses->when_range = at->range;
  return clauses;
}

struct tql_clauses *tql_clause_start(struct tql_parser *parser, struct tql_clauses *clauses,
                                     const struct tql_span *at, struct tql_expr *expr) {
  once(parser, at, clauses->start != NULL, "start");
  clauses->start = expr;
  clauses->start_range = at->range;
  return clauses;
}

struct tql_clauses *tql_clause_stop(struct tql_parser *parser, struct tql_clauses *clauses,
                                    const struct tql_span *at, struct tql_expr *expr) {
  once(parser, at, clauses->stop != NULL, "stop");
  clauses->stop = expr;
  clauses->stop_range = at->range;
  return clauses;
}

struct tql_clauses *tql_clause_at(struct tql_parser *parser, struct tql_clauses *clauses,
                                  const struct tql_span *at, struct tql_expr *expr, bool valid) {
  once(parser, at, clauses->at != NULL, "at");
  clauses->at = expr;
  clauses->at_range = at->range;
  clauses->valid = clauses->valid || valid;
  return clauses;
}

struct tql_clauses *tql_clause_valid(struct tql_parser *parser, struct tql_clauses *clauses,
                                     const struct tql_span *at, struct tql_expr *from,
                                     struct tql_expr *to) {
  once(parser, at, clauses->start != NULL, clauses->valid ? "valid" : "start");
  once(parser, at, clauses->stop != NULL, "stop");
  clauses->start = from;
  clauses->stop = to;
  clauses->start_range = at->range;
  clauses->stop_range = at->range;
  clauses->valid = true;
  return clauses;
}

/* --- range, create ---------------------------------------------------------------------------- */

int tql_credibility(struct tql_parser *parser, const struct tql_span *span,
                    const struct tql_lexeme *value) {
  if (value->integer == 0 || value->integer == 100) return (int)value->integer;
  tql_fail(parser, MSG_SYNTAX, &span->range, NULL, "%llu where 0 or 100 was expected",
           (unsigned long long)value->integer);
  return -1;
}

struct tql_statement *tql_build_range(struct tql_parser *parser, const struct tql_span *span,
                                      const struct tql_name *variable, struct tql_expr *relation,
                                      int credibility) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_RANGE, span);
  statement->variable = *variable;
  statement->credibility = credibility;
  if (relation->kind == TQL_E_CALL)
    statement->expr = relation;
  else
    statement->name = relation->name;
  return statement;
}

struct tql_relation_head tql_relation_head(bool persistent, bool kind_given,
                                           enum tql_relation_kind kind,
                                           const struct tql_name *name) {
  return (struct tql_relation_head){
      .persistent = persistent, .kind = kind, .kind_given = kind_given, .name = *name};
}

struct tql_statement *tql_build_create(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_relation_head *head,
                                       const struct tql_list *domains, const struct tql_list *by) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_CREATE, span);
  statement->persistent = head->persistent;
  statement->relation_kind = head->kind;
  statement->kind_given = head->kind_given;
  statement->name = head->name;
  if (by != NULL) {
    statement->names = by->items;
    statement->name_count = by->count;
  }
  if (domains != NULL) {
    statement->domains = domains->items;
    statement->domain_count = domains->count;
  }
  return statement;
}

/* --- retrieve, updates ------------------------------------------------------------------------ */

static void set_targets(struct tql_statement *statement, const struct tql_list *targets,
                        const struct tql_span *span) {
  if (targets == NULL) return;
  statement->targets.items = targets->items;
  statement->targets.count = targets->count;
  statement->targets.given = true;
  statement->targets.range = span->range;
}

struct tql_statement *tql_build_retrieve(struct tql_parser *parser, const struct tql_span *span,
                                         int modes, const struct tql_name *name,
                                         const struct tql_list *targets,
                                         const struct tql_span *targets_span,
                                         const struct tql_clauses *clauses) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_RETRIEVE, span);
  statement->unique = (modes & TQL_MODE_UNIQUE) != 0;
  statement->coalesced = (modes & TQL_MODE_COALESCED) != 0;
  statement->name = *name;
  set_targets(statement, targets, targets_span);
  statement->clauses = *clauses;
  return statement;
}

struct tql_statement *tql_build_summary(struct tql_parser *parser, const struct tql_span *span,
                                        const struct tql_name *name, const struct tql_list *targets,
                                        const struct tql_span *targets_span,
                                        struct tql_expr *during,
                                        const struct tql_clauses *clauses) {
  struct tql_statement *statement =
      tql_build_retrieve(parser, span, 0, name, targets, targets_span, clauses);
  statement->summary = true;
  statement->during = during;
  return statement;
}

/* --- the order of a result */

static struct tql_order *begun(struct tql_parser *parser, struct tql_order *order,
                               const struct tql_span *at) {
  if (order != NULL) return order;
  order = BASE_NEW(parser->arena, struct tql_order);
  order->limit = order->group_limit = order->offset = -1;
  order->range = at->range;
  return order;
}

static int64_t number_of(struct tql_parser *parser, const struct tql_span *at,
                         const struct tql_lexeme *number) {
  return tql_build_literal(parser, TQL_E_INTEGER, at, number)->integer;
}

struct tql_order *tql_order_sort(struct tql_parser *parser, struct tql_order *order,
                                 const struct tql_span *at, const struct tql_list *keys) {
  order = begun(parser, order, at);
  once(parser, at, order->key_count > 0, "sort");
  order->keys = keys->items;
  order->key_count = keys->count;
  return order;
}

struct tql_order *tql_order_limit(struct tql_parser *parser, struct tql_order *order,
                                  const struct tql_span *at, const struct tql_span *number_at,
                                  const struct tql_lexeme *number, const struct tql_list *groups) {
  order = begun(parser, order, at);
  int64_t *limit = groups != NULL ? &order->group_limit : &order->limit;
  once(parser, at, *limit >= 0, "limit");
  *limit = number_of(parser, number_at, number);
  if (groups == NULL) return order;
  order->groups = groups->items;
  order->group_count = groups->count;
  return order;
}

struct tql_order *tql_order_offset(struct tql_parser *parser, struct tql_order *order,
                                   const struct tql_span *at, const struct tql_span *number_at,
                                   const struct tql_lexeme *number) {
  order = begun(parser, order, at);
  once(parser, at, order->offset >= 0, "offset");
  order->offset = number_of(parser, number_at, number);
  return order;
}

struct tql_sort_key tql_sort_of_domain(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_name *of, const struct tql_lexeme *domain,
                                       const struct tql_span *domain_span) {
  return (struct tql_sort_key){.kind = TQL_SORT_ELEMENT,
                               .of = *of,
                               .name = tql_name(parser, domain_span, domain),
                               .range = span->range};
}

struct tql_absence tql_build_absence(struct tql_parser *parser, const struct tql_span *span,
                                     const struct tql_name *variable,
                                     const struct tql_clauses *clauses) {
  const struct base_range *other = clauses->start  ? &clauses->start_range
                                   : clauses->stop ? &clauses->stop_range
                                   : clauses->at   ? &clauses->at_range
                                                   : NULL;
  if (other != NULL)
    tql_fail(parser, MSG_SYNTAX, other, "write at, start and stop before unless",
             "an unless clause has a where and a when of its own, and no time of a result");
  return (struct tql_absence){.variable = *variable, .clauses = *clauses, .range = span->range};
}

struct tql_statement *tql_set_absences(struct tql_statement *statement,
                                       const struct tql_list *absences) {
  if (absences == NULL) return statement;
  statement->absences = absences->items;
  statement->absence_count = absences->count;
  return statement;
}

struct tql_statement *tql_set_order(struct tql_statement *statement, struct tql_order *order) {
  statement->order = order;
  return statement;
}

struct tql_statement *tql_build_update(struct tql_parser *parser, enum tql_statement_kind kind,
                                       const struct tql_span *span, const struct tql_name *name,
                                       const struct tql_list *targets,
                                       const struct tql_span *targets_span,
                                       const struct tql_clauses *clauses) {
  struct tql_statement *statement = tql_new_statement(parser, kind, span);
  if (kind == TQL_S_DELETE || kind == TQL_S_REPLACE)
    statement->variable = *name;
  else
    statement->name = *name;
  set_targets(statement, targets, targets_span);
  statement->clauses = *clauses;
  return statement;
}

/* --- the short statements --------------------------------------------------------------------- */

struct tql_statement *tql_build_names(struct tql_parser *parser, enum tql_statement_kind kind,
                                      const struct tql_span *span, const struct tql_list *names) {
  struct tql_statement *statement = tql_new_statement(parser, kind, span);
  set_names(statement, names);
  return statement;
}

struct tql_list *tql_rules_all(struct tql_parser *parser, const struct tql_span *span,
                               const struct tql_name *word) {
  if (strcasecmp(word->text, "all") != 0)
    tql_fail(parser, MSG_SYNTAX, &span->range, NULL,
             "\"%s\" where the number of a rule or \"all\" was expected", word->text);
  return tql_list_empty(parser);
}

struct tql_statement *tql_build_destroy_rules(struct tql_parser *parser,
                                              const struct tql_span *span, const char *kind,
                                              const struct tql_name *relation,
                                              const struct tql_list *numbers) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_DESTROY, span);
  statement->words = kind;
  statement->name = *relation;
  statement->numbers = numbers->items;
  statement->number_count = numbers->count;
  return statement;
}

struct tql_statement *tql_build_help(struct tql_parser *parser, const struct tql_span *span,
                                     const struct tql_name *name, const struct tql_lexeme *topic) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_HELP, span);
  if (name != NULL) statement->name = *name;
  if (topic != NULL) {
    statement->topic = base_arena_strndup(parser->arena, topic->text, topic->length);
    if (memchr(topic->text, '\0', topic->length) != NULL) {
      tql_fail(parser, MSG_BAD_TOKEN, &span->range, NULL, "a topic with a zero byte in it");
    }
  }
  return statement;
}

struct tql_statement *tql_build_explain(struct tql_parser *parser, const struct tql_span *span,
                                        bool analyze, struct tql_statement *inner) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_EXPLAIN, span);
  statement->analyze = analyze;
  statement->inner = inner;
  return statement;
}

struct tql_statement *tql_build_checkpoint(struct tql_parser *parser, const struct tql_span *span,
                                           struct tql_expr *time, const struct tql_name *name) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_CHECKPOINT, span);
  statement->expr = time;
  if (name != NULL) statement->name = *name;
  return statement;
}

struct tql_statement *tql_build_index(struct tql_parser *parser, const struct tql_span *span,
                                      const struct tql_name *variable, const struct tql_name *index,
                                      const struct tql_list *names) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_INDEX, span);
  statement->variable = *variable;
  statement->name = *index;
  set_names(statement, names);
  return statement;
}

struct tql_statement *tql_build_modify(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_name *relation,
                                       const struct tql_name *structure,
                                       const struct tql_list *names) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_MODIFY, span);
  statement->name = *relation;
  statement->words = structure->text;
  statement->words_range = structure->range;
  set_names(statement, names);
  return statement;
}

struct tql_statement *tql_build_modify_age(struct tql_parser *parser, const struct tql_span *span,
                                           const struct tql_name *relation,
                                           const struct tql_name *structure, struct tql_expr *age) {
  struct tql_statement *statement = tql_build_modify(parser, span, relation, structure, NULL);
  statement->expr = age;
  return statement;
}

struct tql_statement *tql_build_save(struct tql_parser *parser, const struct tql_span *span,
                                     const struct tql_name *name, struct tql_expr *until) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_SAVE, span);
  statement->name = *name;
  statement->expr = until;
  return statement;
}

/* --- set -------------------------------------------------------------------------------------- */

struct setting_word {
  struct tql_lexeme lexeme;
  struct tql_span span;
};

struct tql_list *tql_setting_word(struct tql_parser *parser, struct tql_list *words,
                                  const struct tql_span *span, const struct tql_lexeme *word) {
  struct setting_word item = {.lexeme = *word, .span = *span};
  return tql_list_add(parser, words, sizeof item, &item);
}

/* The words lower-cased and joined by one space. */
static const char *join_words(struct tql_parser *parser, const struct setting_word *words,
                              size_t count) {
  size_t length = 0, at = 0;
  for (size_t i = 0; i < count; i++) {
    length += words[i].lexeme.length + 1;
    if (words[i].lexeme.quoted) {
      tql_fail(parser, MSG_SYNTAX, &words[i].span.range, "a setting's name is written without them",
               "a name in backticks where the name of a setting was expected");
    }
  }
  char *joined = base_arena_alloc(parser->arena, length + 1);
  for (size_t i = 0; i < count; i++) {
    if (i > 0) joined[at++] = ' ';
    for (size_t k = 0; k < words[i].lexeme.length; k++) {
      char c = words[i].lexeme.text[k];
      joined[at++] = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
    }
  }
  return joined;
}

static struct tql_expr *word_value(struct tql_parser *parser, const struct tql_span *span,
                                   const struct tql_lexeme *lexeme) {
  struct tql_name name = tql_name(parser, span, lexeme);
  return tql_build_name(parser, span, &name);
}

struct tql_statement *tql_build_set(struct tql_parser *parser, const struct tql_span *span,
                                    const struct tql_list *words, const struct tql_name *rule,
                                    struct tql_expr *value) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_SET, span);
  statement->value = value;
  if (rule != NULL) statement->name = *rule;
  if (words == NULL) {
    statement->words = "rule";
    statement->words_range = span->range;
    return statement;
  }
  const struct setting_word *items = words->items;
  size_t count = words->count;
  if (value == NULL && count > 1) {
    count--;
    statement->value = word_value(parser, &items[count].span, &items[count].lexeme);
  }
  statement->words = join_words(parser, items, count);
  statement->words_range = items[0].span.range;
  statement->words_range.last_line = items[count - 1].span.range.last_line;
  statement->words_range.last_column = items[count - 1].span.range.last_column;
  return statement;
}

struct tql_statement *tql_build_set_rule(struct tql_parser *parser, const struct tql_span *span,
                                         const struct tql_lexeme *rule,
                                         const struct tql_span *rule_span,
                                         const struct tql_lexeme *value,
                                         const struct tql_span *value_span) {
  struct tql_name name = tql_name(parser, rule_span, rule);
  struct tql_expr *given = value == NULL ? NULL : word_value(parser, value_span, value);
  return tql_build_set(parser, span, NULL, &name, given);
}

struct tql_statement *tql_build_set_size(struct tql_parser *parser, const struct tql_span *span,
                                         const struct tql_list *words,
                                         const struct tql_span *number_at,
                                         const struct tql_lexeme *number,
                                         const struct tql_span *unit_at,
                                         const struct tql_lexeme *unit) {
  struct tql_expr *size = tql_build_literal(parser, TQL_E_INTEGER, number_at, number);
  size->name = tql_name(parser, unit_at, unit);
  size->range.last_line = unit_at->range.last_line;
  size->range.last_column = unit_at->range.last_column;
  return tql_build_set(parser, span, words, NULL, size);
}

/* --- define ----------------------------------------------------------------------------------- */

struct tql_statement *tql_build_integrity(struct tql_parser *parser, const struct tql_span *span,
                                          const struct tql_name *variable, struct tql_expr *expr) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_INTEGRITY, span);
  statement->variable = *variable;
  statement->expr = expr;
  return statement;
}

struct tql_permit_options *tql_permit_options_new(struct tql_parser *parser) {
  return BASE_NEW(parser->arena, struct tql_permit_options);
}

struct tql_permit_options *tql_permit_at(struct tql_parser *parser,
                                         struct tql_permit_options *options,
                                         const struct tql_span *at,
                                         const struct tql_name *terminal) {
  tql_option_once(parser, at, options->terminal.text != NULL, "at");
  options->terminal = *terminal;
  return options;
}

struct tql_permit_options *tql_permit_from(struct tql_parser *parser,
                                           struct tql_permit_options *options,
                                           const struct tql_span *at, struct tql_expr *first,
                                           struct tql_expr *last) {
  tql_option_once(parser, at, options->time_first != NULL, "from");
  options->time_first = first;
  options->time_last = last;
  return options;
}

struct tql_permit_options *tql_permit_on(struct tql_parser *parser,
                                         struct tql_permit_options *options,
                                         const struct tql_span *at, const struct tql_name *first,
                                         const struct tql_name *last) {
  tql_option_once(parser, at, options->day_first.text != NULL, "on");
  options->day_first = *first;
  options->day_last = *last;
  return options;
}

struct tql_permit_options *tql_permit_where(struct tql_parser *parser,
                                            struct tql_permit_options *options,
                                            const struct tql_span *at, struct tql_expr *where) {
  tql_option_once(parser, at, options->where != NULL, "where");
  options->where = where;
  return options;
}

/* "retrieve, append" */
static const char *join_operations(struct tql_parser *parser, const struct tql_list *operations) {
  static const char *const known[] = {"all", "append", "delete", "replace", "retrieve"};
  const struct tql_name *items = operations->items;
  const char *joined = "";
  for (size_t i = 0; i < operations->count; i++) {
    const char *word = NULL;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
      if (strcasecmp(known[k], items[i].text) == 0) word = known[k];
    }
    if (word == NULL || i >= sizeof known / sizeof known[0]) {
      tql_fail(parser, MSG_SYNTAX, &items[i].range, NULL,
               "%s where one of \"retrieve\", \"append\", \"delete\", \"replace\" and \"all\" "
               "was expected",
               word == NULL ? "another word" : "a sixth operation");
      break;
    }
    joined = i == 0 ? word : base_arena_printf(parser->arena, "%s, %s", joined, word);
  }
  return joined;
}

struct tql_statement *tql_build_permit(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_list *operations,
                                       const struct tql_name *relation,
                                       const struct tql_list *attributes,
                                       const struct tql_name *user,
                                       const struct tql_permit_options *options) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_PERMIT, span);
  statement->words = join_operations(parser, operations);
  statement->name = *relation;
  statement->member = *user;
  set_names(statement, attributes);
  statement->terminal = options->terminal;
  statement->time_first = options->time_first;
  statement->time_last = options->time_last;
  statement->day_first = options->day_first;
  statement->day_last = options->day_last;
  statement->expr = options->where;
  return statement;
}
