/* The syntax tree of TQuel, as the parser leaves it: names unresolved, types unknown.
 *
 * All nodes live in one arena (tql_parse's). Every node knows its range in the source. Keyword-like
 * names (aggregates, functions, types, settings) arrive here as plain names; analysis decides.     */
#ifndef TQL_AST_H
#define TQL_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/diag.h"

struct tql_name {
  const char *text; /* as written, without backticks; NULL: absent */
  struct base_range range;
};

enum tql_expr_kind {
  /* constants */
  TQL_E_INTEGER,  /* .integer; as what is set, perhaps with a unit of bytes in .name */
  TQL_E_FLOAT,    /* .real */
  TQL_E_STRING,   /* .name.text is the value, escapes resolved; .length */
  TQL_E_BYTES,    /* x'00ff': .name.text is the value, .length */
  TQL_E_BOOL,     /* true, false: .integer */
  TQL_E_DURATION, /* .integer in nanoseconds; the text as written in .name */
  /* names */
  TQL_E_NAME,   /* .name: a bare identifier: tuple variable, or a string constant */
  TQL_E_DOMAIN, /* .name . .member: V.domain */
  TQL_E_ALL,    /* .name . all */
  /* scalar operators; .left, .right */
  TQL_E_NEGATE, /* .left */
  TQL_E_ADD,
  TQL_E_SUB,
  TQL_E_MUL,
  TQL_E_DIV,
  TQL_E_POWER,
  TQL_E_EQ,
  TQL_E_NE,
  TQL_E_LT,
  TQL_E_LE,
  TQL_E_GT,
  TQL_E_GE,
  TQL_E_NOT, /* .left; of scalars and of temporal conditions */
  TQL_E_AND,
  TQL_E_OR,
  TQL_E_CALL, /* function or aggregate: .name, .args, and .by, .where, .when, .tail */
  /* temporal operators; .left, .right */
  TQL_E_START,    /* .left.start, begin of .left, start of .left */
  TQL_E_STOP,     /* .left.stop, end of .left, stop of .left */
  TQL_E_TIME,     /* .left.time */
  TQL_E_SEQUENCE, /* left ; right, with .within (TQL_E_DURATION or TQL_E_INTEGER) or NULL */
  TQL_E_PARALLEL, /* left , right */
  TQL_E_CHOICE,   /* left | right */
  TQL_E_OVERLAP,  /* the word: always the overlap reading */
  TQL_E_EXTEND,
  TQL_E_PRECEDE,
  TQL_E_EQUAL,
  TQL_E_CONTAIN,
};

enum tql_tail { /* of an aggregate, 1993 style */
                TQL_TAIL_NONE,
                TQL_TAIL_EVER,     /* for ever */
                TQL_TAIL_INSTANT,  /* for each instant */
                TQL_TAIL_DURATION, /* for each DURATION: .within */
};

struct tql_expr_list {
  struct tql_expr **items;
  size_t count;
};

/* Which pairs a sequence is of; where nothing is said the setting says it. */
enum tql_sequence_choice {
  TQL_BY_SETTING,
  TQL_EACH,    /* a ; each b */
  TQL_FIRST,   /* a ; first b */
  TQL_LATEST,  /* last a ; b */
  TQL_NEAREST, /* a ; closest b */
};

struct tql_expr {
  enum tql_expr_kind kind;
  struct base_range range;
  int64_t integer;
  double real;
  struct tql_name name, member;
  size_t length; /* of a string constant, which may hold NULs */
  struct tql_expr *left, *right;
  struct tql_expr *within;
  enum tql_sequence_choice choice;
  struct tql_expr_list args, by;
  struct tql_expr *where, *when;
  enum tql_tail tail;
  bool parenthesised; /* written in ( ): for the typing pass */
  int depth; /* of the tree from here down, 1 for a leaf; at most TQL_DEPTH_MAX, so that a recursive
              * walk over any tree the parser gives needs a bounded stack */
};

#define TQL_DEPTH_MAX 2000

/* name = expr, name is expr, V.domain, V.all, call: NAME absent in the last three. */
struct tql_target {
  struct tql_name name;
  struct tql_expr *expr;
};

struct tql_target_list {
  struct tql_target *items;
  size_t count;
  bool given; /* false: no parentheses were written */
  struct base_range range;
};

/* The tail shared by retrieve, append, delete, replace. NULL where the clause is absent.
 * valid from A to B / valid at A are kept apart from start/stop/at so that analysis can refuse
 * mixtures by position.                                                                           */
struct tql_clauses {
  struct tql_expr *where, *when;
  struct tql_expr *start, *stop, *at;
  bool valid; /* start/stop or at came from a valid clause */
  struct base_range where_range, when_range, start_range, stop_range, at_range; /* of the keyword */
};

/* unless VARIABLE where WHERE when WHEN: what has no such partner stays. Of the clauses those two alone. */
struct tql_absence {
  struct tql_name variable;
  struct tql_clauses clauses;
  struct base_range range; /* of the whole */
};

/* What a result is sorted by: an element of the target list, by its name or as V.DOMAIN, or a time. */
enum tql_sort_kind { TQL_SORT_ELEMENT, TQL_SORT_START, TQL_SORT_STOP, TQL_SORT_AT };
struct tql_sort_key {
  enum tql_sort_kind kind;
  struct tql_name of, name; /* of an element; OF is absent where the name stands alone */
  bool descending;
  struct base_range range;
};

/* sort by KEYS limit LIMIT by GROUPS limit OF_ALL offset OFFSET; what is not given is 0 keys, or negative. */
struct tql_order {
  struct tql_sort_key *keys, *groups;
  size_t key_count, group_count;
  int64_t limit, group_limit, offset;
  struct base_range range; /* of its first word */
};

struct tql_domain_def {
  struct tql_name name;
  struct tql_name type; /* i4, c20, text, ... */
};

enum tql_relation_kind {
  TQL_SNAPSHOT,
  TQL_EVENT,
  TQL_PERIOD,
  TQL_TRACED,
  TQL_SAMPLED,
};

enum tql_statement_kind {
  TQL_S_RANGE,
  TQL_S_CREATE,
  TQL_S_RETRIEVE,
  TQL_S_APPEND,
  TQL_S_DELETE,
  TQL_S_REPLACE,
  TQL_S_COPY,
  TQL_S_DISPLAY,
  TQL_S_PRINT,
  TQL_S_DESTROY,
  TQL_S_HELP,
  TQL_S_EXPLAIN,
  TQL_S_CHECKPOINT,
  TQL_S_SET,
  TQL_S_INDEX,
  TQL_S_MODIFY,
  TQL_S_SAVE,
  TQL_S_VIEW,
  TQL_S_PERMIT,
  TQL_S_INTEGRITY,
};

/* Where the values of a column come from in a file. */
enum tql_mapping_from {
  TQL_FROM_COLUMN,
  TQL_FROM_START /* start + a length */,
  TQL_FROM_STOP /* stop - a length */
};
struct tql_mapping {
  struct base_range range;
  struct tql_name target;
  const char *column; /* its name; NULL: NUMBER */
  int64_t number;
  enum tql_mapping_from from;
  struct tql_name unit;         /* absent: none */
  const char *like, *otherwise; /* or NULL */
};

/* What a statement says of the form of a file; what is absent was not said. */
struct tql_file_form {
  struct tql_name format, empty;
  const char *how; /* behind the format: a separator, a pattern; or NULL */
  bool headless, ragged, continued;
  int64_t skipped; /* lines that stand before the header; 0: none */
  struct tql_mapping *mappings;
  size_t mapping_count;
  struct base_range range;
};

struct tql_statement {
  enum tql_statement_kind kind;
  struct base_range range;
  const char *text; /* the statement's own text in the source, trimmed; in the arena */
  size_t text_length;

  /* RANGE: variable .variable over relation .name, or a call Clock(n): .expr is the TQL_E_CALL;
   *        .credibility -1, 0 or 100
   * CREATE: .relation_kind, .persistent, .name, .domains, .names of the key (traced/sampled: by)
   * RETRIEVE: .unique, .coalesced or .summary (.during), .name (absent: print the result), .targets, .clauses,
   *        .absences, .order (or NULL)
   * APPEND: .name, .targets, .clauses     DELETE: .variable, .clauses
   * REPLACE: .variable, .targets, .clauses
   *        or variable .variable over a file: .path, .form, .skipping_errors
   * CREATE from a file: .path, .form, .skipping_errors, no domains
   * COPY: .name, .path, .form, .copy_into, .following, .within (NULL or duration/integer),
   *       .ordered_by_stop, .skipping_errors
   * DISPLAY, PRINT (with .order), DESTROY: .names; destroy integrity, destroy permit: .words which of the two,
   *      .name the relation, .numbers integers, none of them for all
   * HELP: .name, or .topic (a string), or neither
   * EXPLAIN: .inner (the retrieve), .analyze
   * CHECKPOINT: .expr the time, .name the relation or absent
   * SET: .words: the setting's words lower-cased and joined by one space ("averaging origin",
   *      "durable every", "rule", "parallel"), .name the rule for "rule"; .value: name, string,
   *      number or duration, NULL if none
   * INDEX: index on .variable(relation) is .name (.names)
   * MODIFY: .name to .words, .names the domains, or .expr the age: a duration, an integer or a name
   * SAVE: .name until .expr
   * VIEW: .name, .targets, .clauses, .absences      INTEGRITY: on .variable is .expr
   * PERMIT: .words the operations, on/of/to .name, to user .member..., .targets, .expr           */
  struct tql_name name, variable, member;
  struct tql_name *names;
  size_t name_count;
  struct tql_expr *expr, *value;
  int credibility;
  enum tql_relation_kind relation_kind;
  bool persistent, unique, coalesced, summary;
  struct tql_expr *during; /* of a summary; NULL: any time */
  struct tql_domain_def *domains;
  size_t domain_count;
  struct tql_target_list targets;
  struct tql_clauses clauses;
  struct tql_absence *absences;
  size_t absence_count;
  struct tql_order *order;
  const char *path;
  struct base_range path_range;
  bool copy_into, following, ordered_by_stop, skipping_errors;
  const struct tql_file_form *form; /* of a file that is read; NULL: nothing is said of it */
  bool kind_given;                  /* CREATE: .relation_kind was said */
  struct tql_expr *within;
  const char *topic;
  struct tql_statement *inner;
  bool analyze;
  const char *words;
  struct tql_expr *const *numbers;
  size_t number_count;
  struct base_range words_range; /* of SET's and MODIFY's words */
  /* PERMIT, where given: at .terminal, from .time_first to .time_last (constants), on .day_first to
   * .day_last; the attributes are .names.                                                         */
  struct tql_name terminal, day_first, day_last;
  struct tql_expr *time_first, *time_last;
};

/* Appends the canonical text of an expression or statement: keywords in lower case, one blank where
 * blanks go, minimal parentheses; parsing it gives the same tree. Used for tq_query, explain and
 * tests.                                                                                          */
void tql_print_expr(struct base_buffer *out, const struct tql_expr *expr);
void tql_print_statement(struct base_buffer *out, const struct tql_statement *statement);

#endif
