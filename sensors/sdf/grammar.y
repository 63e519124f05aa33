/* The grammar of description files: figure 8-4 of the thesis.
 *
 * LALR(1) without a conflict. Objects and attributes have the same form; only the format file tells
 * them apart, so the grammar knows lists. At the top, and wherever an object or attribute may stand, a
 * list begins with an atom; a list that is a value may be anything, also empty.
 *
 * Every action is a call of a builder in tree.c.                                                  */
%require "3.8"
%define api.pure full
%define api.prefix {sn_yy}
%define api.token.prefix {SN_T_}
%define api.value.type union
%define api.location.type {struct base_range}
%define parse.lac full
%define parse.error custom
%locations
%expect 0
%parse-param {struct sn_tree_reader *reader}
%lex-param {struct sn_tree_reader *reader}

%code requires {
#include "sensors/sdf/reader.h"
}

%code {
#define YYMAXDEPTH 10000 /* nesting is bounded long before: SN_DEPTH_MAX */
#define YYLLOC_DEFAULT(CURRENT, RHS, N)                          \
  do {                                                           \
    (CURRENT) = YYRHSLOC(RHS, (N) > 0 ? 1 : 0);                  \
    if ((N) > 0) {                                               \
      (CURRENT).last_line = YYRHSLOC(RHS, N).last_line;          \
      (CURRENT).last_column = YYRHSLOC(RHS, N).last_column;      \
    }                                                            \
  } while (0)

static void sn_yyerror(const struct base_range *range, struct sn_tree_reader *reader,
                       const char *text);
}

%token END_OF_TEXT 0 "the end of the text"
%token OPEN "(" CLOSE ")"
%token <struct sn_element *> ATOM "a name" INTEGER "an integer" STRING "a string"
%token BAD "something else"
%nterm <struct sn_element *> object list element
%nterm <struct sn_list> elements

%%

file:
    %empty
  | file object                      { sn_add_object(reader, $2); }
  ;

object:
    "(" ATOM elements ")"            { $$ = sn_list_close(reader, &@$, $2, $3); }
  ;

elements:
    %empty                           { $$ = sn_list_empty(); }
  | elements element                 { $$ = sn_list_add($1, $2); }
  ;

element:
    ATOM
  | INTEGER
  | STRING
  | list
  ;

list:
    "(" elements ")"                 { $$ = sn_list_close(reader, &@$, NULL, $2); }
  ;

%%

static void sn_yyerror(const struct base_range *range, struct sn_tree_reader *reader,
                       const char *text) {
  sn_syntax_error(reader, range, NULL, text); /* memory or depth of the automaton */
}

static int yyreport_syntax_error(const yypcontext_t *context, struct sn_tree_reader *reader) {
  yysymbol_kind_t expected[8];
  int count = yypcontext_expected_tokens(context, expected, 8);
  /* Where several kinds of values fit, any does. */
  const char *text = count == 1 ? yysymbol_name(expected[0]) : "a value or \")\"";
  for (int i = 0; i < count; i++)
    if (expected[i] == YYSYMBOL_YYEOF) text = "an object, which begins with \"(\",";
  if (count == 1 && expected[0] == YYSYMBOL_ATOM) text = "the name of a class";
  sn_syntax_error(reader, yypcontext_location(context),
                  yysymbol_name(yypcontext_token(context)), text);
  return 0;
}
