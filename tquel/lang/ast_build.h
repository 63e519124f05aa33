/* Builds the syntax tree; called by the grammar's actions only. Internal to tquel/lang.
 *
 * A builder that meets a mistake which the grammar cannot see (a second where clause, nesting beyond
 * TQL_DEPTH_MAX, a number out of range) reports it, sets parser->failed and returns something that
 * can be built upon; parse.c then treats the statement like one with a syntax error.
 * Lists are NULL when absent, which is not the same as empty.                                     */
#ifndef TQL_AST_BUILD_H
#define TQL_AST_BUILD_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "tquel/lang/ast.h"
#include "tquel/lang/lexer.h"

#define TQL_TOKENS_MAX 200 /* at least the number of the grammar's tokens; checked there */

struct tql_parser {
  struct base_arena *arena;
  const struct base_source *source;
  struct base_diag_sink *diags; /* NULL: nothing is reported */
  const char *text;
  struct tql_statement **statements; /* on the heap */
  size_t count, capacity;
  bool failed;
  const struct tql_expr *minimum;       /* the literal 2^63, legal only directly after a minus */
  const char *expected[TQL_TOKENS_MAX]; /* names of the tokens that could have come */
  size_t expected_count;
};

/* Elements of one size each; grows in the arena. */
struct tql_list {
  void *items;
  size_t count, capacity;
};

struct tql_span tql_span_join(const struct tql_span *first, const struct tql_span *last);
struct tql_span tql_span_after(const struct tql_span *span); /* the empty place behind it */
const char *tql_token_name(int kind);

struct tql_list *tql_list_empty(struct tql_parser *parser);
/* Adds a copy of *ITEM; LIST NULL begins a list. */
struct tql_list *tql_list_add(struct tql_parser *parser, struct tql_list *list, size_t size,
                              const void *item);

struct tql_name tql_name(struct tql_parser *parser, const struct tql_span *span,
                         const struct tql_lexeme *lexeme);
/* The same of a string, which must not be empty or have a zero byte in it. */
struct tql_name tql_name_of_string(struct tql_parser *parser, const struct tql_span *span,
                                   const struct tql_lexeme *string);
/* Reports a mistake at RANGE, unless the parser is silent, and gives up the statement. */
void tql_fail(struct tql_parser *parser, enum base_message number, const struct base_range *range,
              const char *hint, const char *format, ...) __attribute__((format(printf, 5, 6)));
void tql_check_minimum(struct tql_parser *parser);

/* --- expressions (ast_build.c) --- */
struct tql_expr *tql_build_expr(struct tql_parser *parser, enum tql_expr_kind kind,
                                const struct tql_span *span, struct tql_expr *left,
                                struct tql_expr *right);
/* EXPR = any of ALTERNATIVES. */
struct tql_expr *tql_build_in(struct tql_parser *parser, const struct tql_span *span,
                              struct tql_expr *expr, const struct tql_list *alternatives);
/* EXPR >= FIRST and EXPR <= LAST */
struct tql_expr *tql_build_between(struct tql_parser *parser, const struct tql_span *span,
                                   struct tql_expr *expr, struct tql_expr *first,
                                   struct tql_expr *last);
/* not EXPR, as `x not in (...)` has it. */
struct tql_expr *tql_build_not(struct tql_parser *parser, const struct tql_span *span,
                               struct tql_expr *expr);
/* The call matches(TEXT, EXPRESSION); MATCHES: the word between them. */
struct tql_expr *tql_build_matches(struct tql_parser *parser, const struct tql_span *span,
                                   struct tql_expr *text, struct tql_name matches,
                                   struct tql_expr *expression);
struct tql_expr *tql_build_within(struct tql_parser *parser, const struct tql_span *span,
                                  struct tql_expr *left, struct tql_expr *within,
                                  struct tql_expr *right);
/* LEFT ; [within WITHIN] CHOICE RIGHT; of TQL_LATEST the word stands before LEFT. */
struct tql_expr *tql_build_chosen(struct tql_parser *parser, const struct tql_span *span,
                                  struct tql_expr *left, struct tql_expr *within,
                                  struct tql_expr *right, enum tql_sequence_choice choice);
/* last D: (now - D) extend now. */
struct tql_expr *tql_build_last(struct tql_parser *parser, const struct tql_span *span,
                                const struct tql_span *duration_span,
                                const struct tql_lexeme *duration);
struct tql_expr *tql_build_literal(struct tql_parser *parser, enum tql_expr_kind kind,
                                   const struct tql_span *span, const struct tql_lexeme *lexeme);
struct tql_expr *tql_build_negative(struct tql_parser *parser, const struct tql_span *span,
                                    enum tql_expr_kind kind, const struct tql_span *number_span,
                                    const struct tql_lexeme *lexeme);
struct tql_expr *tql_build_truth(struct tql_parser *parser, const struct tql_span *span,
                                 bool truth);
struct tql_expr *tql_build_name(struct tql_parser *parser, const struct tql_span *span,
                                const struct tql_name *name);
struct tql_expr *tql_build_domain(struct tql_parser *parser, const struct tql_span *span,
                                  const struct tql_name *name, const struct tql_lexeme *domain,
                                  const struct tql_span *domain_span);
struct tql_expr *tql_build_all(struct tql_parser *parser, const struct tql_span *span,
                               const struct tql_name *name);
struct tql_expr *tql_build_access(struct tql_parser *parser, enum tql_expr_kind kind,
                                  const struct tql_span *span, const struct tql_name *name,
                                  const struct tql_span *name_span);
struct tql_expr *tql_build_parentheses(struct tql_parser *parser, const struct tql_span *span,
                                       struct tql_expr *expr);

struct tql_call_tail {
  struct tql_list *by;
  struct tql_expr *where, *when, *within;
  enum tql_tail tail;
};
struct tql_call_tail *tql_call_tail_new(struct tql_parser *parser);
struct tql_call_tail *tql_call_by(struct tql_parser *parser, struct tql_call_tail *tail,
                                  const struct tql_span *at, struct tql_list *by);
struct tql_call_tail *tql_call_where(struct tql_parser *parser, struct tql_call_tail *tail,
                                     const struct tql_span *at, struct tql_expr *where);
struct tql_call_tail *tql_call_when(struct tql_parser *parser, struct tql_call_tail *tail,
                                    const struct tql_span *at, struct tql_expr *when);
struct tql_call_tail *tql_call_for(struct tql_parser *parser, struct tql_call_tail *tail,
                                   const struct tql_span *at, enum tql_tail kind,
                                   struct tql_expr *within);
struct tql_expr *tql_build_call(struct tql_parser *parser, const struct tql_span *span,
                                const struct tql_name *name, const struct tql_list *arguments,
                                const struct tql_call_tail *tail);

struct tql_target tql_target_domain(struct tql_parser *parser, const struct tql_span *span,
                                    const struct tql_name *name, const struct tql_lexeme *domain,
                                    const struct tql_span *domain_span);
struct tql_target tql_target_all(struct tql_parser *parser, const struct tql_span *span,
                                 const struct tql_name *name);

/* --- clauses and statements (build_statement.c) --- */
struct tql_clauses *tql_clauses_new(struct tql_parser *parser);
struct tql_clauses *tql_clause_where(struct tql_parser *parser, struct tql_clauses *clauses,
                                     const struct tql_span *at, struct tql_expr *expr);
struct tql_clauses *tql_clause_when(struct tql_parser *parser, struct tql_clauses *clauses,
                                    const struct tql_span *at, struct tql_expr *expr);
struct tql_clauses *tql_clause_start(struct tql_parser *parser, struct tql_clauses *clauses,
                                     const struct tql_span *at, struct tql_expr *expr);
struct tql_clauses *tql_clause_stop(struct tql_parser *parser, struct tql_clauses *clauses,
                                    const struct tql_span *at, struct tql_expr *expr);
struct tql_clauses *tql_clause_at(struct tql_parser *parser, struct tql_clauses *clauses,
                                  const struct tql_span *at, struct tql_expr *expr, bool valid);
struct tql_clauses *tql_clause_valid(struct tql_parser *parser, struct tql_clauses *clauses,
                                     const struct tql_span *at, struct tql_expr *from,
                                     struct tql_expr *to);

/* ORDER NULL begins one. */
struct tql_order *tql_order_sort(struct tql_parser *parser, struct tql_order *order,
                                 const struct tql_span *at, const struct tql_list *keys);
/* GROUPS NULL: of all rows. */
struct tql_order *tql_order_limit(struct tql_parser *parser, struct tql_order *order,
                                  const struct tql_span *at, const struct tql_span *number_at,
                                  const struct tql_lexeme *number, const struct tql_list *groups);
struct tql_order *tql_order_offset(struct tql_parser *parser, struct tql_order *order,
                                   const struct tql_span *at, const struct tql_span *number_at,
                                   const struct tql_lexeme *number);
struct tql_sort_key tql_sort_of_domain(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_name *of, const struct tql_lexeme *domain,
                                       const struct tql_span *domain_span);
/* unless VARIABLE CLAUSES; fails on clauses that it does not take. */
struct tql_absence tql_build_absence(struct tql_parser *parser, const struct tql_span *span,
                                     const struct tql_name *variable,
                                     const struct tql_clauses *clauses);
/* STATEMENT has these unless clauses (NULL: none). Returns it. */
struct tql_statement *tql_set_absences(struct tql_statement *statement,
                                       const struct tql_list *absences);
/* Returns STATEMENT. */
struct tql_statement *tql_set_order(struct tql_statement *statement, struct tql_order *order);

enum { TQL_MODE_UNIQUE = 1, TQL_MODE_COALESCED = 2 };

struct tql_relation_head {
  bool persistent, kind_given;
  enum tql_relation_kind kind;
  struct tql_name name;
};
struct tql_relation_head tql_relation_head(bool persistent, bool kind_given,
                                           enum tql_relation_kind kind,
                                           const struct tql_name *name);

struct tql_copy_options {
  bool following, ordered, skipping;
  struct tql_expr *within;
  struct tql_file_form form;
};
struct tql_copy_options *tql_copy_options_new(struct tql_parser *parser);
struct tql_copy_options *tql_copy_following(struct tql_parser *parser,
                                            struct tql_copy_options *options,
                                            const struct tql_span *at);
struct tql_copy_options *tql_copy_within(struct tql_parser *parser,
                                         struct tql_copy_options *options,
                                         const struct tql_span *at, struct tql_expr *within);
struct tql_copy_options *tql_copy_ordered(struct tql_parser *parser,
                                          struct tql_copy_options *options,
                                          const struct tql_span *at);
struct tql_copy_options *tql_copy_skipping(struct tql_parser *parser,
                                           struct tql_copy_options *options,
                                           const struct tql_span *at);
struct tql_copy_options *tql_copy_skipping_lines(struct tql_parser *parser,
                                                 struct tql_copy_options *options,
                                                 const struct tql_span *at,
                                                 const struct tql_span *number_at,
                                                 const struct tql_lexeme *number,
                                                 const struct tql_name *lines);

/* HOW: the string behind the format, or NULL. */
struct tql_copy_options *tql_copy_as(struct tql_parser *parser, struct tql_copy_options *options,
                                     const struct tql_span *at, const struct tql_name *format,
                                     const struct tql_lexeme *how);
struct tql_copy_options *tql_copy_continued(struct tql_parser *parser,
                                            struct tql_copy_options *options,
                                            const struct tql_span *at);
struct tql_copy_options *tql_copy_ragged(struct tql_parser *parser,
                                         struct tql_copy_options *options,
                                         const struct tql_span *at);
struct tql_copy_options *tql_copy_without(struct tql_parser *parser,
                                          struct tql_copy_options *options,
                                          const struct tql_span *at, const struct tql_name *word);
struct tql_copy_options *tql_copy_empty(struct tql_parser *parser, struct tql_copy_options *options,
                                        const struct tql_span *at, const struct tql_name *periods,
                                        const struct tql_name *how);
struct tql_copy_options *tql_copy_mappings(struct tql_parser *parser,
                                           struct tql_copy_options *options,
                                           const struct tql_span *at,
                                           const struct tql_list *mappings);

/* Mappings (build_copy.c). A column of the same name; one with the name or number that ORIGIN has. */
struct tql_mapping tql_mapping_of(struct tql_parser *parser, const struct tql_span *span,
                                  const struct tql_name *name);
struct tql_mapping tql_mapping_of_word(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_lexeme *word);
struct tql_mapping tql_mapping_from(const struct tql_span *span, const struct tql_name *target,
                                    const struct tql_mapping *origin);
struct tql_mapping tql_mapping_column(struct tql_parser *parser, const struct tql_span *span,
                                      const struct tql_lexeme *name);
struct tql_mapping tql_mapping_number(struct tql_parser *parser, const struct tql_span *span,
                                      const struct tql_lexeme *number);
struct tql_mapping tql_mapping_relative(struct tql_mapping mapping, enum tql_mapping_from from);
/* SPAN is the mapping so far, AT the string. */
struct tql_mapping tql_mapping_in(struct tql_parser *parser, struct tql_mapping mapping,
                                  const struct tql_span *span, const struct tql_name *unit);
struct tql_mapping tql_mapping_like(struct tql_parser *parser, struct tql_mapping mapping,
                                    const struct tql_span *span, const struct tql_span *at,
                                    const struct tql_lexeme *format);
struct tql_mapping tql_mapping_else(struct tql_parser *parser, struct tql_mapping mapping,
                                    const struct tql_span *span, const struct tql_span *at,
                                    const char *sign, const struct tql_lexeme *text);

struct tql_permit_options {
  struct tql_name terminal, day_first, day_last;
  struct tql_expr *time_first, *time_last, *where;
};
struct tql_permit_options *tql_permit_options_new(struct tql_parser *parser);
struct tql_permit_options *tql_permit_at(struct tql_parser *parser,
                                         struct tql_permit_options *options,
                                         const struct tql_span *at,
                                         const struct tql_name *terminal);
struct tql_permit_options *tql_permit_from(struct tql_parser *parser,
                                           struct tql_permit_options *options,
                                           const struct tql_span *at, struct tql_expr *first,
                                           struct tql_expr *last);
struct tql_permit_options *tql_permit_on(struct tql_parser *parser,
                                         struct tql_permit_options *options,
                                         const struct tql_span *at, const struct tql_name *first,
                                         const struct tql_name *last);
struct tql_permit_options *tql_permit_where(struct tql_parser *parser,
                                            struct tql_permit_options *options,
                                            const struct tql_span *at, struct tql_expr *where);

int tql_credibility(struct tql_parser *parser, const struct tql_span *span,
                    const struct tql_lexeme *value);
struct tql_list *tql_setting_word(struct tql_parser *parser, struct tql_list *words,
                                  const struct tql_span *span, const struct tql_lexeme *word);

/* Reports an OPTION that stands at AT and was GIVEN before. */
void tql_option_once(struct tql_parser *parser, const struct tql_span *at, bool given,
                     const char *option);
struct tql_statement *tql_new_statement(struct tql_parser *parser, enum tql_statement_kind kind,
                                        const struct tql_span *span);

/* Ends a statement: its text and its place in the list. */
void tql_emit(struct tql_parser *parser, struct tql_statement *statement);
struct tql_statement *tql_widen(struct tql_parser *parser, const struct tql_span *span,
                                struct tql_statement *statement);
struct tql_statement *tql_build_range(struct tql_parser *parser, const struct tql_span *span,
                                      const struct tql_name *variable, struct tql_expr *relation,
                                      int credibility);
struct tql_statement *tql_build_create(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_relation_head *head,
                                       const struct tql_list *domains, const struct tql_list *by);
struct tql_statement *tql_build_retrieve(struct tql_parser *parser, const struct tql_span *span,
                                         int modes, const struct tql_name *name,
                                         const struct tql_list *targets,
                                         const struct tql_span *targets_span,
                                         const struct tql_clauses *clauses);
/* DURING may be NULL. */
struct tql_statement *tql_build_summary(struct tql_parser *parser, const struct tql_span *span,
                                        const struct tql_name *name, const struct tql_list *targets,
                                        const struct tql_span *targets_span,
                                        struct tql_expr *during, const struct tql_clauses *clauses);
/* append, delete, replace and define view */
struct tql_statement *tql_build_update(struct tql_parser *parser, enum tql_statement_kind kind,
                                       const struct tql_span *span, const struct tql_name *name,
                                       const struct tql_list *targets,
                                       const struct tql_span *targets_span,
                                       const struct tql_clauses *clauses);
struct tql_statement *tql_build_copy(struct tql_parser *parser, const struct tql_span *span,
                                     const struct tql_name *name, const struct tql_lexeme *path,
                                     const struct tql_span *path_span,
                                     const struct tql_copy_options *options); /* NULL: into */
/* A variable over a file, a relation from one. */
struct tql_statement *tql_build_range_file(struct tql_parser *parser, const struct tql_span *span,
                                           const struct tql_name *variable,
                                           const struct tql_lexeme *path,
                                           const struct tql_span *path_span,
                                           const struct tql_copy_options *options);
struct tql_statement *tql_build_create_from(struct tql_parser *parser, const struct tql_span *span,
                                            const struct tql_relation_head *head,
                                            const struct tql_lexeme *path,
                                            const struct tql_span *path_span,
                                            const struct tql_copy_options *options);
struct tql_statement *tql_build_names(struct tql_parser *parser, enum tql_statement_kind kind,
                                      const struct tql_span *span, const struct tql_list *names);
/* The word must be `all`: an empty list. */
struct tql_list *tql_rules_all(struct tql_parser *parser, const struct tql_span *span,
                               const struct tql_name *word);
struct tql_statement *tql_build_destroy_rules(struct tql_parser *parser,
                                              const struct tql_span *span, const char *kind,
                                              const struct tql_name *relation,
                                              const struct tql_list *numbers);
struct tql_statement *tql_build_help(struct tql_parser *parser, const struct tql_span *span,
                                     const struct tql_name *name, const struct tql_lexeme *topic);
struct tql_statement *tql_build_explain(struct tql_parser *parser, const struct tql_span *span,
                                        bool analyze, struct tql_statement *inner);
struct tql_statement *tql_build_checkpoint(struct tql_parser *parser, const struct tql_span *span,
                                           struct tql_expr *time, const struct tql_name *name);
/* WORDS NULL: set rule, and nothing else. Without VALUE the last of several words is the value. */
/* set WORDS NUMBER UNIT: a size in bytes, such as 2 GB. */
struct tql_statement *tql_build_set_size(struct tql_parser *parser, const struct tql_span *span,
                                         const struct tql_list *words,
                                         const struct tql_span *number_at,
                                         const struct tql_lexeme *number,
                                         const struct tql_span *unit_at,
                                         const struct tql_lexeme *unit);
struct tql_statement *tql_build_set(struct tql_parser *parser, const struct tql_span *span,
                                    const struct tql_list *words, const struct tql_name *rule,
                                    struct tql_expr *value);
struct tql_statement *tql_build_set_rule(struct tql_parser *parser, const struct tql_span *span,
                                         const struct tql_lexeme *rule,
                                         const struct tql_span *rule_span,
                                         const struct tql_lexeme *value,
                                         const struct tql_span *value_span);
struct tql_statement *tql_build_index(struct tql_parser *parser, const struct tql_span *span,
                                      const struct tql_name *variable, const struct tql_name *index,
                                      const struct tql_list *names);
struct tql_statement *tql_build_modify(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_name *relation,
                                       const struct tql_name *structure,
                                       const struct tql_list *names);
struct tql_statement *tql_build_modify_age(struct tql_parser *parser, const struct tql_span *span,
                                           const struct tql_name *relation,
                                           const struct tql_name *structure, struct tql_expr *age);
struct tql_statement *tql_build_save(struct tql_parser *parser, const struct tql_span *span,
                                     const struct tql_name *name, struct tql_expr *until);
struct tql_statement *tql_build_integrity(struct tql_parser *parser, const struct tql_span *span,
                                          const struct tql_name *variable, struct tql_expr *expr);
struct tql_statement *tql_build_permit(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_list *operations,
                                       const struct tql_name *relation,
                                       const struct tql_list *attributes,
                                       const struct tql_name *user,
                                       const struct tql_permit_options *options);

#endif
