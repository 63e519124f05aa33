/* What the lexer and the grammar of description files share: tree.c alone includes it beside them. */
#ifndef SN_SDF_READER_H
#define SN_SDF_READER_H

#include "sensors/sdf/tree.h"

/* The shapes of lexemes, as lexer.l finds them. */
enum sn_shape {
  SN_LEX_END,
  SN_LEX_BLANK,
  SN_LEX_OPEN,
  SN_LEX_CLOSE,
  SN_LEX_ATOM,
  SN_LEX_INTEGER,
  SN_LEX_STRING,
  SN_LEX_OPEN_STRING,
  SN_LEX_STRAY,
};

/* A list while it grows. */
struct sn_list {
  struct sn_element *first, *last;
};

struct sn_tree_reader {
  struct base_arena *arena;
  const struct base_source *source;
  struct base_diag_sink *diags;
  void *flex;
  const char *text; /* what is left */
  int line, column;
  struct base_range *open; /* the parentheses that are open */
  size_t depth, open_capacity;
  struct base_range
      margin; /* the first "(" at the beginning of a line inside others; line 0: none */
  size_t margin_depth;
  struct sn_list objects;
  bool closes_nothing; /* the last ")" */
  bool failed;
};

void *sn_flex_open(const char *text, size_t length);
void sn_flex_close(void *handle);
enum sn_shape sn_flex_next(void *handle, size_t *ret_length);

/* --- builders: the grammar's actions */
struct sn_list sn_list_empty(void);
struct sn_list sn_list_add(struct sn_list list, struct sn_element *element);
struct sn_element *sn_list_close(struct sn_tree_reader *reader, const struct base_range *range,
                                 struct sn_element *head, struct sn_list rest);
void sn_add_object(struct sn_tree_reader *reader, struct sn_element *object);

/* --- for the automaton */
union SN_YYSTYPE;
int sn_yylex(union SN_YYSTYPE *value, struct base_range *range, struct sn_tree_reader *reader);
void sn_syntax_error(struct sn_tree_reader *reader, const struct base_range *range,
                     const char *found, const char *expected);

#endif
