/* Comparing syntax trees and making random ones (lang_tree.h). */
#include "tests/unit/lang_tree.h"

#include <string.h>

/* --- comparing -------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_list(const struct tql_expr_list *a, const struct tql_expr_list *b) {
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    if (!lang_same_expr(a->items[i], b->items[i])) return false;
  }
  return true;
}

bool lang_same_expr(const struct tql_expr *a, const struct tql_expr *b) {
  if (a == NULL || b == NULL) return a == b;
  if (a->kind != b->kind || a->integer != b->integer || a->tail != b->tail) return false;
  if (memcmp(&a->real, &b->real, sizeof a->real) != 0) return false;
  if (a->kind == TQL_E_STRING) {
    return a->length == b->length && memcmp(a->name.text, b->name.text, a->length) == 0;
  }
  /* Of a duration the number counts, not how it was written. */
  if (a->kind != TQL_E_DURATION && !same_text(a->name.text, b->name.text)) return false;
  return same_text(a->member.text, b->member.text) && lang_same_expr(a->left, b->left) &&
         lang_same_expr(a->right, b->right) && lang_same_expr(a->within, b->within) &&
         same_list(&a->args, &b->args) && same_list(&a->by, &b->by) &&
         lang_same_expr(a->where, b->where) && lang_same_expr(a->when, b->when);
}

static bool same_targets(const struct tql_target_list *a, const struct tql_target_list *b) {
  if (a->given != b->given || a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++) {
    if (!same_text(a->items[i].name.text, b->items[i].name.text)) return false;
    if (!lang_same_expr(a->items[i].expr, b->items[i].expr)) return false;
  }
  return true;
}

static bool same_clauses(const struct tql_clauses *a, const struct tql_clauses *b) {
  return a->valid == b->valid && lang_same_expr(a->where, b->where) &&
         lang_same_expr(a->when, b->when) && lang_same_expr(a->start, b->start) &&
         lang_same_expr(a->stop, b->stop) && lang_same_expr(a->at, b->at);
}

static bool same_absences(const struct tql_statement *a, const struct tql_statement *b) {
  if (a->absence_count != b->absence_count) return false;
  for (size_t i = 0; i < a->absence_count; i++) {
    if (!same_text(a->absences[i].variable.text, b->absences[i].variable.text)) return false;
    if (!same_clauses(&a->absences[i].clauses, &b->absences[i].clauses)) return false;
  }
  return true;
}

static bool same_names(const struct tql_statement *a, const struct tql_statement *b) {
  if (a->name_count != b->name_count || a->domain_count != b->domain_count) return false;
  for (size_t i = 0; i < a->name_count; i++) {
    if (!same_text(a->names[i].text, b->names[i].text)) return false;
  }
  for (size_t i = 0; i < a->domain_count; i++) {
    if (!same_text(a->domains[i].name.text, b->domains[i].name.text)) return false;
    if (!same_text(a->domains[i].type.text, b->domains[i].type.text)) return false;
  }
  return same_text(a->name.text, b->name.text) && same_text(a->variable.text, b->variable.text) &&
         same_text(a->member.text, b->member.text) && same_text(a->path, b->path) &&
         same_text(a->topic, b->topic) && same_text(a->words, b->words) &&
         same_text(a->terminal.text, b->terminal.text) &&
         same_text(a->day_first.text, b->day_first.text) &&
         same_text(a->day_last.text, b->day_last.text);
}

bool lang_same_statement(const struct tql_statement *a, const struct tql_statement *b) {
  if (a == NULL || b == NULL) return a == b;
  return a->kind == b->kind && same_names(a, b) && lang_same_expr(a->expr, b->expr) &&
         lang_same_expr(a->value, b->value) && a->credibility == b->credibility &&
         a->relation_kind == b->relation_kind && a->persistent == b->persistent &&
         a->unique == b->unique && a->coalesced == b->coalesced &&
         same_targets(&a->targets, &b->targets) && same_clauses(&a->clauses, &b->clauses) &&
         same_absences(a, b) && a->copy_into == b->copy_into && a->following == b->following &&
         a->ordered_by_stop == b->ordered_by_stop && a->skipping_errors == b->skipping_errors &&
         lang_same_expr(a->within, b->within) && a->analyze == b->analyze &&
         lang_same_expr(a->time_first, b->time_first) &&
         lang_same_expr(a->time_last, b->time_last) && lang_same_statement(a->inner, b->inner);
}

/* --- random expressions ----------------------------------------------------------------------- */

struct maker {
  struct base_arena *arena;
  struct base_random *random;
};

static int below(const struct maker *maker, int bound) {
  return (int)base_random_below(maker->random, (uint64_t)bound);
}

static const char *random_text(const struct maker *maker) {
  static const char *const texts[] = {
      "A",        "B",          "E",           "x1",      "s",    "min",  "d",      "h",
      "count",    "start",      "stop",        "time",    "all",  "of",   "within", "begin",
      "end",      "overlap",    "equal",       "where",   "not",  "true", "is",     "event",
      "retrieve", "print",      "with space",  "ti`ck",   "é",    "5 s",  "rule",   "at",
      "for",      "each",       "ever",        "instant", "a-b",  "_",    "Extend", "UNTIL",
      "period",   "persistent", "on",          "\"",      "help", "by",   "e5",     "am",
      "permit",   "view",       "credibility", "to",      "--",   "/*",   "unless",
  };
  return texts[below(maker, (int)(sizeof texts / sizeof texts[0]))];
}

static struct tql_name random_name(const struct maker *maker) {
  return (struct tql_name){.text = random_text(maker)};
}

static struct tql_expr *new_expr(const struct maker *maker, enum tql_expr_kind kind) {
  struct tql_expr *expr = BASE_NEW(maker->arena, struct tql_expr);
  expr->kind = kind;
  return expr;
}

static int64_t random_integer(const struct maker *maker) {
  static const int64_t some[] = {0, 1, -1, 5, 100, INT64_MAX, INT64_MIN, -7, 1000000, 60};
  return some[below(maker, (int)(sizeof some / sizeof some[0]))];
}

static struct tql_expr *random_duration(const struct maker *maker, bool negative) {
  static const int64_t some[] = {0, 1, 1000, 200000000, 90000000000, 3600000000000, INT64_MAX};
  struct tql_expr *expr = new_expr(maker, TQL_E_DURATION);
  expr->integer = some[below(maker, (int)(sizeof some / sizeof some[0]))];
  if (negative && below(maker, 3) == 0) expr->integer = -expr->integer;
  return expr;
}

static struct tql_expr *random_string(const struct maker *maker) {
  static const struct {
    const char *text;
    size_t length;
  } some[] = {{"", 0}, {"Toy", 3}, {"a\"b\\c\n\t", 7}, {"\0x", 2}, {"é", 2}, {"3:00pm", 6}};
  struct tql_expr *expr = new_expr(maker, TQL_E_STRING);
  int which = below(maker, (int)(sizeof some / sizeof some[0]));
  expr->name.text = some[which].text;
  expr->length = some[which].length;
  return expr;
}

static struct tql_expr *random_leaf(const struct maker *maker) {
  static const double reals[] = {0, 0.5, -2.25, 5, 1e300, 5e-324, -1e15, 0.1, 1e21};
  struct tql_expr *expr;
  switch (below(maker, 8)) {
    case 0:
      expr = new_expr(maker, TQL_E_INTEGER);
      expr->integer = random_integer(maker);
      return expr;
    case 1:
      expr = new_expr(maker, TQL_E_FLOAT);
      expr->real = reals[below(maker, (int)(sizeof reals / sizeof reals[0]))];
      return expr;
    case 2:
      return random_string(maker);
    case 3:
      return random_duration(maker, true);
    case 4:
      expr = new_expr(maker, TQL_E_BOOL);
      expr->integer = below(maker, 2);
      return expr;
    case 5:
      expr = new_expr(maker, TQL_E_DOMAIN);
      expr->name = random_name(maker);
      expr->member = random_name(maker);
      return expr;
    default:
      expr = new_expr(maker, TQL_E_NAME);
      expr->name = random_name(maker);
      return expr;
  }
}

static struct tql_expr *random_within(const struct maker *maker) {
  if (below(maker, 2) == 0) return random_duration(maker, false);
  struct tql_expr *expr = new_expr(maker, TQL_E_INTEGER);
  expr->integer = below(maker, 100);
  return expr;
}

static struct tql_expr *make_expr(const struct maker *maker, int depth);

static struct tql_expr_list random_list(const struct maker *maker, int least, int depth, bool all) {
  struct tql_expr_list list = {.count = (size_t)(least + below(maker, 3))};
  list.items = BASE_NEW_ARRAY(maker->arena, list.count, struct tql_expr *);
  for (size_t i = 0; i < list.count; i++) {
    list.items[i] = make_expr(maker, depth - 1);
    if (all && below(maker, 6) == 0) {
      list.items[i] = new_expr(maker, TQL_E_ALL);
      list.items[i]->name = random_name(maker);
    }
  }
  return list;
}

static struct tql_expr *random_call(const struct maker *maker, int depth) {
  struct tql_expr *expr = new_expr(maker, TQL_E_CALL);
  expr->name = random_name(maker);
  if (below(maker, 10) == 0) return expr;
  expr->args = random_list(maker, 1, depth, true);
  if (below(maker, 2) == 0) expr->by = random_list(maker, 1, depth, false);
  if (below(maker, 3) == 0) expr->where = make_expr(maker, depth - 1);
  if (below(maker, 3) == 0) expr->when = make_expr(maker, depth - 1);
  expr->tail = (enum tql_tail)below(maker, 4);
  if (expr->tail == TQL_TAIL_DURATION) expr->within = random_within(maker);
  return expr;
}

static struct tql_expr *make_expr(const struct maker *maker, int depth) {
  static const enum tql_expr_kind operators[] = {
      TQL_E_NEGATE, TQL_E_NOT,     TQL_E_START,   TQL_E_STOP,     TQL_E_TIME,     TQL_E_ADD,
      TQL_E_SUB,    TQL_E_MUL,     TQL_E_DIV,     TQL_E_POWER,    TQL_E_EQ,       TQL_E_NE,
      TQL_E_LT,     TQL_E_LE,      TQL_E_GT,      TQL_E_GE,       TQL_E_AND,      TQL_E_OR,
      TQL_E_CALL,   TQL_E_CALL,    TQL_E_OVERLAP, TQL_E_SEQUENCE, TQL_E_PARALLEL, TQL_E_CHOICE,
      TQL_E_EXTEND, TQL_E_PRECEDE, TQL_E_EQUAL,   TQL_E_CONTAIN,  TQL_E_SEQUENCE, TQL_E_PARALLEL,
  };
  if (depth <= 0 || below(maker, 6) == 0) return random_leaf(maker);
  enum tql_expr_kind kind = operators[below(maker, (int)(sizeof operators / sizeof operators[0]))];
  if (kind == TQL_E_CALL) return random_call(maker, depth);
  struct tql_expr *expr = new_expr(maker, kind);
  expr->left = make_expr(maker, depth - 1);
  if (kind == TQL_E_NEGATE || kind == TQL_E_NOT || kind == TQL_E_START || kind == TQL_E_STOP ||
      kind == TQL_E_TIME) {
    return expr;
  }
  expr->right = make_expr(maker, depth - 1);
  if (kind == TQL_E_SEQUENCE && below(maker, 3) == 0) expr->within = random_within(maker);
  return expr;
}

struct tql_expr *lang_random_expr(struct base_arena *arena, struct base_random *random, int depth) {
  struct maker maker = {.arena = arena, .random = random};
  return make_expr(&maker, depth);
}

/* --- random statements ------------------------------------------------------------------------ */

static void random_names(const struct maker *maker, struct tql_statement *statement, int least) {
  statement->name_count = (size_t)(least + below(maker, 3));
  if (statement->name_count == 0) return;
  statement->names = BASE_NEW_ARRAY(maker->arena, statement->name_count, struct tql_name);
  for (size_t i = 0; i < statement->name_count; i++) statement->names[i] = random_name(maker);
}

static void random_targets(const struct maker *maker, struct tql_target_list *targets) {
  targets->given = below(maker, 4) != 0;
  if (!targets->given) return;
  targets->count = (size_t)below(maker, 4);
  targets->items = BASE_NEW_ARRAY(maker->arena, targets->count, struct tql_target);
  for (size_t i = 0; i < targets->count; i++) {
    struct tql_target *target = &targets->items[i];
    switch (below(maker, 4)) {
      case 0:
        target->expr = new_expr(maker, TQL_E_ALL);
        target->expr->name = random_name(maker);
        break;
      case 1:
        target->expr = new_expr(maker, TQL_E_DOMAIN);
        target->expr->name = random_name(maker);
        target->expr->member = random_name(maker);
        break;
      case 2:
        target->expr = random_call(maker, 2);
        break;
      default:
        target->name = random_name(maker);
        target->expr = make_expr(maker, 3);
    }
  }
}

static struct tql_expr *perhaps(const struct maker *maker) {
  return below(maker, 2) == 0 ? make_expr(maker, 3) : NULL;
}

static void random_clauses(const struct maker *maker, struct tql_clauses *clauses) {
  clauses->where = perhaps(maker);
  clauses->when = perhaps(maker);
  clauses->start = perhaps(maker);
  clauses->stop = perhaps(maker);
  clauses->at = perhaps(maker);
  bool period = clauses->start != NULL && clauses->stop != NULL;
  clauses->valid = (period || clauses->at != NULL) && below(maker, 2) == 0;
}

static void random_absences(const struct maker *maker, struct tql_statement *statement) {
  statement->absence_count = (size_t)below(maker, 3);
  if (statement->absence_count == 0) return;
  statement->absences = BASE_NEW_ARRAY(maker->arena, statement->absence_count, struct tql_absence);
  for (size_t i = 0; i < statement->absence_count; i++) {
    statement->absences[i].variable = random_name(maker);
    statement->absences[i].clauses.where = perhaps(maker);
    statement->absences[i].clauses.when = perhaps(maker);
  }
}

static void random_create(const struct maker *maker, struct tql_statement *statement) {
  statement->name = random_name(maker);
  statement->persistent = below(maker, 2) == 0;
  statement->relation_kind = (enum tql_relation_kind)below(maker, 5);
  statement->domain_count = (size_t)below(maker, 4);
  if (statement->domain_count > 0) {
    statement->domains =
        BASE_NEW_ARRAY(maker->arena, statement->domain_count, struct tql_domain_def);
  }
  for (size_t i = 0; i < statement->domain_count; i++) {
    statement->domains[i].name = random_name(maker);
    statement->domains[i].type = random_name(maker);
  }
  random_names(maker, statement, 0);
}

static void random_copy(const struct maker *maker, struct tql_statement *statement) {
  statement->name = random_name(maker);
  statement->path = random_text(maker);
  statement->copy_into = below(maker, 3) == 0;
  if (statement->copy_into) return;
  statement->following = below(maker, 2) == 0;
  statement->ordered_by_stop = below(maker, 2) == 0;
  statement->skipping_errors = below(maker, 2) == 0;
  if (below(maker, 2) == 0) statement->within = random_within(maker);
}

static void random_set(const struct maker *maker, struct tql_statement *statement) {
  static const char *const words[] = {
      "parallel", "averaging origin", "durable every", "retrieve", "x at", "set", "future limit"};
  struct tql_expr *name = new_expr(maker, TQL_E_NAME);
  name->name = random_name(maker);
  statement->words = words[below(maker, (int)(sizeof words / sizeof words[0]))];
  switch (below(maker, 4)) {
    case 0: /* the rule's value must be a word */
      statement->words = "rule";
      statement->name = random_name(maker);
      if (below(maker, 2) == 0) {
        name->name.text = "off";
        statement->value = name;
      }
      break;
    case 1:
      statement->value = random_within(maker);
      break;
    case 2:
      statement->value = random_string(maker);
      break;
    default:
      statement->value = name;
  }
}

static void random_permit(const struct maker *maker, struct tql_statement *statement) {
  static const char *const words[] = {"all", "retrieve", "retrieve, append", "delete, replace"};
  statement->words = words[below(maker, 4)];
  statement->name = random_name(maker);
  statement->member = random_name(maker);
  random_names(maker, statement, 0);
  if (below(maker, 2) == 0) statement->terminal = random_name(maker);
  if (below(maker, 2) == 0) {
    statement->time_first = random_string(maker);
    statement->time_last = random_string(maker);
  }
  if (below(maker, 2) == 0) {
    statement->day_first = random_name(maker);
    statement->day_last = random_name(maker);
  }
  statement->expr = perhaps(maker);
}

static void fill_statement(const struct maker *maker, struct tql_statement *statement);

static void fill_update(const struct maker *maker, struct tql_statement *statement) {
  bool variable = statement->kind == TQL_S_DELETE || statement->kind == TQL_S_REPLACE;
  if (variable)
    statement->variable = random_name(maker);
  else
    statement->name = random_name(maker);
  if (statement->kind != TQL_S_DELETE) random_targets(maker, &statement->targets);
  random_clauses(maker, &statement->clauses);
  if (statement->kind == TQL_S_VIEW) random_absences(maker, statement);
}

static void fill_retrieve(const struct maker *maker, struct tql_statement *statement) {
  statement->unique = below(maker, 2) == 0;
  statement->coalesced = below(maker, 2) == 0;
  if (below(maker, 2) == 0) statement->name = random_name(maker);
  random_targets(maker, &statement->targets);
  random_clauses(maker, &statement->clauses);
  /* Directly behind retrieve it would be a name. */
  const struct tql_clauses *clauses = &statement->clauses;
  bool names_more = statement->name.text || statement->targets.given || clauses->where ||
                    clauses->when || clauses->start || clauses->stop || clauses->at;
  if (names_more) random_absences(maker, statement);
}

static void fill_range(const struct maker *maker, struct tql_statement *statement) {
  statement->variable = random_name(maker);
  if (below(maker, 2) == 0)
    statement->name = random_name(maker);
  else
    statement->expr = random_call(maker, 2);
  statement->credibility = below(maker, 3) * 100 - 100;
  if (statement->credibility < 0) statement->credibility = -1;
}

static void fill_explain(const struct maker *maker, struct tql_statement *statement) {
  statement->analyze = below(maker, 2) == 0;
  statement->inner = BASE_NEW(maker->arena, struct tql_statement);
  statement->inner->kind = TQL_S_RETRIEVE;
  statement->inner->credibility = -1;
  fill_statement(maker, statement->inner);
}

static void fill_statement(const struct maker *maker, struct tql_statement *statement) {
  switch (statement->kind) {
    case TQL_S_RANGE:
      fill_range(maker, statement);
      break;
    case TQL_S_CREATE:
      random_create(maker, statement);
      break;
    case TQL_S_RETRIEVE:
      fill_retrieve(maker, statement);
      break;
    case TQL_S_APPEND:
    case TQL_S_DELETE:
    case TQL_S_REPLACE:
    case TQL_S_VIEW:
      fill_update(maker, statement);
      break;
    case TQL_S_COPY:
      random_copy(maker, statement);
      break;
    case TQL_S_DISPLAY:
    case TQL_S_PRINT:
    case TQL_S_DESTROY:
      random_names(maker, statement, 1);
      break;
    case TQL_S_HELP:
      if (below(maker, 2) == 0)
        statement->name = random_name(maker);
      else if (below(maker, 2) == 0)
        statement->topic = random_text(maker);
      break;
    case TQL_S_EXPLAIN:
      fill_explain(maker, statement);
      break;
    case TQL_S_CHECKPOINT:
      statement->expr = make_expr(maker, 3);
      if (below(maker, 2) == 0) statement->name = random_name(maker);
      break;
    case TQL_S_SET:
      random_set(maker, statement);
      break;
    case TQL_S_INDEX:
      statement->variable = random_name(maker);
      statement->name = random_name(maker);
      random_names(maker, statement, 1);
      break;
    case TQL_S_MODIFY:
      statement->name = random_name(maker);
      statement->words = random_text(maker);
      random_names(maker, statement, 0);
      if (statement->name_count == 0 && below(maker, 2)) {
        statement->expr = BASE_NEW(maker->arena, struct tql_expr);
        *statement->expr = (struct tql_expr){.kind = TQL_E_INTEGER, .integer = below(maker, 99)};
      }
      break;
    case TQL_S_SAVE:
      statement->name = random_name(maker);
      statement->expr = make_expr(maker, 3);
      break;
    case TQL_S_PERMIT:
      random_permit(maker, statement);
      break;
    case TQL_S_INTEGRITY:
      statement->variable = random_name(maker);
      statement->expr = make_expr(maker, 3);
      break;
  }
}

struct tql_statement *lang_random_statement(struct base_arena *arena, struct base_random *random) {
  struct maker maker = {.arena = arena, .random = random};
  struct tql_statement *statement = BASE_NEW(arena, struct tql_statement);
  statement->kind = (enum tql_statement_kind)below(&maker, TQL_S_INTEGRITY + 1);
  statement->credibility = -1;
  fill_statement(&maker, statement);
  return statement;
}
