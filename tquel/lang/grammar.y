/* The grammar of TQuel: thesis appendix A, Quel's other statements, and the later spellings.
 *
 * LALR(1) without a conflict. A pure push parser: parse.c feeds it the lexer's tokens. Every action
 * is a call of one builder (ast_build.h); nothing is decided here. Errors are not formatted here
 * either: yyreport_syntax_error collects what LAC says could have come, expected.c words it.
 *
 * Temporal conditions, event expressions and scalar expressions are one nonterminal, because their
 * parentheses cannot be told apart; analysis sorts them by position. It comes twice: `full`, in
 * when, start, stop, at, valid, checkpoint and in parentheses, has the operator `,`; `expr`, where
 * commas separate (targets, arguments, by lists) and in where, has not. What binds tighter than `,`
 * is `tight`, and common to both.
 *
 * Contextual words are tokens of their own and may be names (`word`): the automaton shows that this
 * is unambiguous.                                                                                 */
%require "3.8"
%define api.pure full
%define api.push-pull push
%define api.prefix {tql_yy}
%define api.token.prefix {TQL_T_}
%define api.value.type union
%define api.location.type {struct tql_span}
%define parse.lac full
%define parse.error custom
%locations
%expect 0
%parse-param {struct tql_parser *parser}

%code requires {
#include "tquel/lang/ast_build.h"
}

%code {
#include <stdlib.h>

#include "engine/base/heap.h"
#define YYMALLOC base_xmalloc
#define YYFREE   free
#define YYMAXDEPTH 30000 /* nesting is bounded long before; see TQL_DEPTH_MAX */
#define YYLLOC_DEFAULT(CURRENT, RHS, N) \
  ((CURRENT) = (N) > 0 ? tql_span_join(&YYRHSLOC(RHS, 1), &YYRHSLOC(RHS, N)) \
                       : tql_span_after(&YYRHSLOC(RHS, 0)))

static void tql_yyerror(const struct tql_span *span, struct tql_parser *parser, const char *text);
}

%token END_OF_TEXT 0 "the end of the text"
%token <struct tql_lexeme> NAME "name" STRING "string" INTEGER "integer" FLOAT "float"
%token <struct tql_lexeme> DURATION "duration" CLOCK "clock time" BYTES_CONSTANT "bytes constant"
%token TERMINATOR "; at the end" GO "\\g" FOREIGN "foreign" PROBE "probe"
%token POWER "**" UNEQUAL "!=" AT_MOST "<=" AT_LEAST ">="
%token DOT_START ".start" DOT_STOP ".stop" DOT_TIME ".time" DOT_ALL ".all"

%token <struct tql_lexeme>
  AND "and" APPEND "append" AT "at" BY "by" CHECKPOINT "checkpoint" COALESCED "coalesced"
  COPY "copy" CREATE "create" DEFINE "define" DELETE "delete" DESTROY "destroy" DISPLAY "display"
  EXPLAIN "explain" FALSE_WORD "false" FOR "for" FROM "from" HELP "help" INDEX "index" INTO "into"
  IS "is" MODIFY "modify" NOT "not" OF "of" ON "on" OR "or" PRINT "print" RANGE "range"
  REPLACE "replace" RETRIEVE "retrieve" SAVE "save" SET "set" START "start" STOP "stop" TO "to"
  TRUE_WORD "true" UNIQUE "unique" VALID "valid" WHEN "when" WHERE "where"

%token <struct tql_lexeme>
  ANALYZE "analyze" AS "as" ASCENDING "ascending" BEGIN_WORD "begin" BETWEEN "between" CLOSEST "closest" CONTAIN "contain" CONTINUED "continued" CREDIBILITY "credibility" DESCENDING "descending" DURING "during" EACH "each"
  ELSE "else" EMPTY "empty" FILE_WORD "file" FIRST "first" LIKE "like" RAGGED "ragged" WITHOUT "without"
  END_WORD "end" EQUAL "equal" ERRORS "errors" EVENT "event" EVER "ever" EXTEND "extend"
  FOLLOWING "following" IN "in" INSTANT "instant" INTEGRITY "integrity" LAST "last" LIMIT "limit" MATCHES "matches" OFFSET "offset" ORDERED "ordered"
  OVERLAP "overlap" PERIOD "period" PERMIT "permit" PERSISTENT "persistent" PLAIN "plain"
  PRECEDE "precede" SAMPLED "sampled" SKIPPING "skipping" SORT "sort" SUMMARY "summary" TRACED "traced" UNLESS "unless" UNTIL "until"
  VIEW "view" WITH "with" WITHIN "within"

/* After `set` only; everywhere else the word is a plain name. */
%token <struct tql_lexeme> RULE "rule"

/* Behind `retrieve` these are names, as contextual words are: a result has to be said before it is sorted. */
%precedence NO_NAME
%precedence SORT LIMIT OFFSET UNLESS

/* Loosest first. The thesis states no precedences; its formulas fix these. */
%left OR
%left AND
%precedence NOT
%nonassoc PRECEDE EQUAL CONTAIN IN BETWEEN MATCHES '=' UNEQUAL '<' '>' AT_MOST AT_LEAST
%left '|'
%left ';'
%left ','
%left OVERLAP EXTEND
%left '+' '-'
%left '*' '/'
%left POWER
%precedence SIGN /* unary, begin of, end of */

%type <struct tql_statement *> statement range create retrieve append delete replace copy
%type <struct tql_statement *> destroy help explain checkpoint set index modify save define permit
%type <struct tql_expr *> during_option full expr tight access closed call distance literal setting_value relation
%type <struct tql_expr *> clock_time integer age
%type <struct tql_expr *> argument chosen
%type <enum tql_sequence_choice> choice
%type <struct tql_list *> arguments by_list by_option targets target_list domain_list names attributes
%type <struct tql_list *> operations setting_words modify_on rule_numbers integers
%type <struct tql_target> target
%type <struct tql_domain_def> domain_def
%type <struct tql_name> chosen_name name word relation_name_option into_option plain_word operation day terminal
%type <struct tql_lexeme> setting_word
%type <struct tql_clauses *> clauses
%type <struct tql_call_tail *> call_tail
%type <struct tql_copy_options *> copy_options
%type <struct tql_list *> mappings
%type <struct tql_mapping> mapping origin column
%type <struct tql_permit_options *> permit_options
%type <int> credibility_option retrieve_modes
%type <enum tql_relation_kind> relation_kind
%type <struct tql_relation_head> create_head
%type <bool> analyze_option
%type <struct tql_order *> order
%type <struct tql_list *> sort_keys absences
%type <struct tql_absence> absence
%type <struct tql_sort_key> sort_key sort_of

%%

input:
  %empty
| input statement   { tql_emit(parser, $statement); }
| input TERMINATOR
| input GO
;

statement:
  range | create | retrieve | append | delete | replace | copy
| DISPLAY names     { $$ = tql_build_names(parser, TQL_S_DISPLAY, &@$, $names); }
| PRINT names order
    { $$ = tql_set_order(tql_build_names(parser, TQL_S_PRINT, &@$, $names), $order); }
| destroy
| help | explain | checkpoint | set | index | modify | save | define
;

/* --- range, create ------------------------------------------------------------------------- */

range:
  RANGE OF name IS relation credibility_option
    { $$ = tql_build_range(parser, &@$, &$name, $relation, $credibility_option); }
| RANGE OF name IS FILE_WORD STRING[path] copy_options
    { $$ = tql_build_range_file(parser, &@$, &$name, &$path, &@path, $copy_options); }
;

relation:
  name  { $$ = tql_build_name(parser, &@$, &$name); }
| call
;

credibility_option:
  %empty                            { $$ = -1; }
| WITH CREDIBILITY INTEGER[value]   { $$ = tql_credibility(parser, &@value, &$value); }
;

create:
  CREATE create_head '(' domain_list ')' by_option
    { $$ = tql_build_create(parser, &@$, &$create_head, $domain_list, $by_option); }
| CREATE create_head FROM STRING[path] copy_options
    { $$ = tql_build_create_from(parser, &@$, &$create_head, &$path, &@path, $copy_options); }
;

create_head:
  name                           { $$ = tql_relation_head(false, false, TQL_SNAPSHOT, &$name); }
| relation_kind name             { $$ = tql_relation_head(false, true, $relation_kind, &$name); }
| PERSISTENT name                { $$ = tql_relation_head(true, false, TQL_SNAPSHOT, &$name); }
| PERSISTENT relation_kind name  { $$ = tql_relation_head(true, true, $relation_kind, &$name); }
;

relation_kind:
  EVENT    { $$ = TQL_EVENT; }
| PERIOD   { $$ = TQL_PERIOD; }
| TRACED   { $$ = TQL_TRACED; }
| SAMPLED  { $$ = TQL_SAMPLED; }
| PLAIN    { $$ = TQL_SNAPSHOT; }
;

domain_list:
  %empty                      { $$ = NULL; }
| domain_def                  { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| domain_list ',' domain_def  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

domain_def: name is word  { $$ = (struct tql_domain_def){.name = $name, .type = $word}; } ;

is: '=' | IS ;

by_option:
  %empty    { $$ = NULL; }
| BY names  { $$ = $names; }
;

/* --- retrieve and the updates -------------------------------------------------------------- */

retrieve:
  RETRIEVE retrieve_modes relation_name_option targets clauses absences order
    { $$ = tql_build_retrieve(parser, &@$, $retrieve_modes, &$relation_name_option, $targets, &@targets,
                              $clauses);
      $$ = tql_set_order(tql_set_absences($$, $absences), $order); }
| RETRIEVE SUMMARY into_option targets during_option clauses order
    { $$ = tql_set_order(tql_build_summary(parser, &@$, &$into_option, $targets, &@targets,
                                           $during_option, $clauses), $order); }
;

into_option:
  %empty     { $$ = (struct tql_name){0}; }
| INTO name  { $$ = $name; }
;

during_option:
  %empty       { $$ = NULL; }
| DURING full  { $$ = $full; }
;

retrieve_modes:
  %empty            { $$ = 0; }
| UNIQUE            { $$ = TQL_MODE_UNIQUE; }
| COALESCED         { $$ = TQL_MODE_COALESCED; }
| UNIQUE COALESCED  { $$ = TQL_MODE_UNIQUE | TQL_MODE_COALESCED; }
| COALESCED UNIQUE  { $$ = TQL_MODE_UNIQUE | TQL_MODE_COALESCED; }
;

relation_name_option:
  %empty     %prec NO_NAME { $$ = (struct tql_name){0}; }
| plain_word
| INTO name  { $$ = $name; }
;

append:
  APPEND to_option name targets clauses
    { $$ = tql_build_update(parser, TQL_S_APPEND, &@$, &$name, $targets, &@targets, $clauses); }
;

to_option: %empty | TO ;

delete:
  DELETE name clauses
    { $$ = tql_build_update(parser, TQL_S_DELETE, &@$, &$name, NULL, NULL, $clauses); }
;

replace:
  REPLACE name targets clauses
    { $$ = tql_build_update(parser, TQL_S_REPLACE, &@$, &$name, $targets, &@targets, $clauses); }
;

targets:
  %empty               { $$ = NULL; }
| '(' ')'              { $$ = tql_list_empty(parser); }
| '(' target_list ')'  { $$ = $target_list; }
;

target_list:
  target                  { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| target_list ',' target  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

target:
  name is expr                { $$ = (struct tql_target){.name = $name, .expr = $expr}; }
| name[of] '.' NAME[domain]   { $$ = tql_target_domain(parser, &@$, &$of, &$domain, &@domain); }
| name '.' DOT_ALL            { $$ = tql_target_all(parser, &@$, &$name); }
| call                        { $$ = (struct tql_target){.expr = $call}; }
;

clauses:
  %empty                               { $$ = tql_clauses_new(parser); }
| clauses WHERE expr                   { $$ = tql_clause_where(parser, $1, &@WHERE, $expr); }
| clauses WHEN full                    { $$ = tql_clause_when(parser, $1, &@WHEN, $full); }
| clauses START full                   { $$ = tql_clause_start(parser, $1, &@START, $full); }
| clauses STOP full                    { $$ = tql_clause_stop(parser, $1, &@STOP, $full); }
| clauses AT full                      { $$ = tql_clause_at(parser, $1, &@AT, $full, false); }
| clauses VALID AT full                { $$ = tql_clause_at(parser, $1, &@VALID, $full, true); }
| clauses VALID FROM full[a] TO full[b]
    { $$ = tql_clause_valid(parser, $1, &@VALID, $a, $b); }
;

/* What has no partner stays. */
absences:
  %empty            { $$ = NULL; }
| absences absence  { $$ = tql_list_add(parser, $1, sizeof $2, &$2); }
;

absence:
  UNLESS name clauses  { $$ = tql_build_absence(parser, &@$, &$name, $clauses); }
;

/* --- the order of a result ----------------------------------------------------------------- */

order:
  %empty                           { $$ = NULL; }
| order SORT BY sort_keys          { $$ = tql_order_sort(parser, $1, &@SORT, $sort_keys); }
| order LIMIT INTEGER              { $$ = tql_order_limit(parser, $1, &@LIMIT, &@3, &$3, NULL); }
| order LIMIT INTEGER BY sort_keys { $$ = tql_order_limit(parser, $1, &@LIMIT, &@3, &$3, $5); }
| order OFFSET INTEGER             { $$ = tql_order_offset(parser, $1, &@OFFSET, &@3, &$3); }
;

sort_keys:
  sort_key                { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| sort_keys ',' sort_key  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

sort_key:
  sort_of
| sort_of ASCENDING   { $$ = $1; }
| sort_of DESCENDING  { $$ = $1; $$.descending = true; }
;

sort_of:
  name                       { $$ = (struct tql_sort_key){.kind = TQL_SORT_ELEMENT, .name = $name, .range = @$.range}; }
| name[of] '.' NAME[domain]  { $$ = tql_sort_of_domain(parser, &@$, &$of, &$domain, &@domain); }
| START                      { $$ = (struct tql_sort_key){.kind = TQL_SORT_START, .range = @$.range}; }
| STOP                       { $$ = (struct tql_sort_key){.kind = TQL_SORT_STOP, .range = @$.range}; }
| AT                         { $$ = (struct tql_sort_key){.kind = TQL_SORT_AT, .range = @$.range}; }
;

/* --- copy ---------------------------------------------------------------------------------- */

copy:
  COPY name FROM STRING[path] copy_options
    { $$ = tql_build_copy(parser, &@$, &$name, &$path, &@path, $copy_options); }
| COPY name INTO STRING[path]
    { $$ = tql_build_copy(parser, &@$, &$name, &$path, &@path, NULL); }
;

copy_options:
  %empty                             { $$ = tql_copy_options_new(parser); }
| copy_options FOLLOWING             { $$ = tql_copy_following(parser, $1, &@2); }
| copy_options WITHIN distance       { $$ = tql_copy_within(parser, $1, &@2, $distance); }
| copy_options ORDERED BY STOP       { $$ = tql_copy_ordered(parser, $1, &@2); }
| copy_options SKIPPING ERRORS       { $$ = tql_copy_skipping(parser, $1, &@2); }
| copy_options SKIPPING INTEGER[number] word[lines]
    { $$ = tql_copy_skipping_lines(parser, $1, &@2, &@number, &$number, &$lines); }
| copy_options AS word               { $$ = tql_copy_as(parser, $1, &@2, &$word, NULL); }
| copy_options AS word STRING[how]   { $$ = tql_copy_as(parser, $1, &@2, &$word, &$how); }
| copy_options RAGGED                { $$ = tql_copy_ragged(parser, $1, &@2); }
| copy_options CONTINUED             { $$ = tql_copy_continued(parser, $1, &@2); }
| copy_options WITHOUT word          { $$ = tql_copy_without(parser, $1, &@2, &$word); }
| copy_options EMPTY word[periods] word[how]
    { $$ = tql_copy_empty(parser, $1, &@2, &$periods, &$how); }
| copy_options '(' mappings ')'      { $$ = tql_copy_mappings(parser, $1, &@2, $mappings); }
;

mappings:
  mapping               { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| mappings ',' mapping  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

mapping:
  name            { $$ = tql_mapping_of(parser, &@$, &$name); }
| AT              { $$ = tql_mapping_of_word(parser, &@$, &$1); }
| START           { $$ = tql_mapping_of_word(parser, &@$, &$1); }
| STOP            { $$ = tql_mapping_of_word(parser, &@$, &$1); }
| name is origin  { $$ = tql_mapping_from(&@$, &$name, &$origin); }
;

origin:
  column
| START '+' column           { $$ = tql_mapping_relative($3, TQL_FROM_START); }
| STOP '-' column            { $$ = tql_mapping_relative($3, TQL_FROM_STOP); }
| origin IN word             { $$ = tql_mapping_in(parser, $1, &@$, &$word); }
| origin LIKE STRING         { $$ = tql_mapping_like(parser, $1, &@$, &@3, &$3); }
| origin ELSE STRING         { $$ = tql_mapping_else(parser, $1, &@$, &@3, "", &$3); }
| origin ELSE INTEGER        { $$ = tql_mapping_else(parser, $1, &@$, &@3, "", &$3); }
| origin ELSE FLOAT          { $$ = tql_mapping_else(parser, $1, &@$, &@3, "", &$3); }
| origin ELSE '-' INTEGER    { $$ = tql_mapping_else(parser, $1, &@$, &@4, "-", &$4); }
| origin ELSE '-' FLOAT      { $$ = tql_mapping_else(parser, $1, &@$, &@4, "-", &$4); }
;

column:
  STRING   { $$ = tql_mapping_column(parser, &@$, &$1); }
| INTEGER  { $$ = tql_mapping_number(parser, &@$, &$1); }
;

distance:
  DURATION  { $$ = tql_build_literal(parser, TQL_E_DURATION, &@$, &$1); }
| INTEGER   { $$ = tql_build_literal(parser, TQL_E_INTEGER, &@$, &$1); }
;

/* --- the short statements ------------------------------------------------------------------ */

names:
  name            { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| names ',' name  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

/* Rules have numbers: destroy integrity R 1, 2 or all. */
destroy:
  DESTROY names  { $$ = tql_build_names(parser, TQL_S_DESTROY, &@$, $names); }
| DESTROY INTEGRITY name rule_numbers
    { $$ = tql_build_destroy_rules(parser, &@$, "integrity", &$name, $rule_numbers); }
| DESTROY PERMIT name rule_numbers
    { $$ = tql_build_destroy_rules(parser, &@$, "permit", &$name, $rule_numbers); }
;

rule_numbers:
  name[all]  { $$ = tql_rules_all(parser, &@$, &$all); }
| integers
;

integers:
  integer               { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| integers ',' integer  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

integer: INTEGER  { $$ = tql_build_literal(parser, TQL_E_INTEGER, &@$, &$1); } ;

help:
  HELP         { $$ = tql_build_help(parser, &@$, NULL, NULL); }
| HELP name    { $$ = tql_build_help(parser, &@$, &$name, NULL); }
| HELP STRING  { $$ = tql_build_help(parser, &@$, NULL, &$STRING); }
;

explain:
  EXPLAIN analyze_option retrieve
    { $$ = tql_build_explain(parser, &@$, $analyze_option, $retrieve); }
;

analyze_option:
  %empty   { $$ = false; }
| ANALYZE  { $$ = true; }
;

checkpoint:
  CHECKPOINT full           { $$ = tql_build_checkpoint(parser, &@$, $full, NULL); }
| CHECKPOINT full FOR name  { $$ = tql_build_checkpoint(parser, &@$, $full, &$name); }
;

/* Any words are accepted, so that analysis can say which setting was meant. */
set:
  SET setting_words                   { $$ = tql_build_set(parser, &@$, $2, NULL, NULL); }
| SET setting_words setting_value     { $$ = tql_build_set(parser, &@$, $2, NULL, $3); }
| SET setting_words INTEGER NAME[unit]
    { $$ = tql_build_set_size(parser, &@$, $2, &@3, &$3, &@unit, &$unit); }
| SET RULE                            { $$ = tql_build_set(parser, &@$, NULL, NULL, NULL); }
| SET RULE NAME                       { $$ = tql_build_set_rule(parser, &@$, &$3, &@3, NULL, NULL); }
| SET RULE NAME setting_word[value]
    { $$ = tql_build_set_rule(parser, &@$, &$3, &@3, &$value, &@value); }
;

setting_words:
  NAME                        { $$ = tql_setting_word(parser, NULL, &@1, &$1); }
| setting_words setting_word  { $$ = tql_setting_word(parser, $1, &@2, &$2); }
;

/* Every word but those that open a statement. */
setting_word:
  NAME | ANALYZE | ASCENDING | BEGIN_WORD | BETWEEN | CLOSEST | CONTAIN | CREDIBILITY | DESCENDING | DURING | EACH | END_WORD
| EQUAL | ERRORS | EVENT
| EVER | EXTEND | FIRST | FOLLOWING | IN | INSTANT | INTEGRITY | LAST | LIMIT | MATCHES | OFFSET | ORDERED | OVERLAP | PERIOD | PERMIT | PERSISTENT
| PLAIN | PRECEDE | SAMPLED | SKIPPING | SORT | SUMMARY | TRACED | UNLESS | UNTIL | VIEW | WITH | WITHIN
| AT | BY | COALESCED | FOR | FROM | INTO | IS | OF | ON | START | STOP | TO | UNIQUE | VALID | WHEN
| WHERE
;

setting_value:
  literal
| TRUE_WORD    { $$ = tql_build_truth(parser, &@$, true); }
| FALSE_WORD   { $$ = tql_build_truth(parser, &@$, false); }
| '-' INTEGER  { $$ = tql_build_negative(parser, &@$, TQL_E_INTEGER, &@2, &$2); }
| '-' FLOAT    { $$ = tql_build_negative(parser, &@$, TQL_E_FLOAT, &@2, &$2); }
| '-' DURATION { $$ = tql_build_negative(parser, &@$, TQL_E_DURATION, &@2, &$2); }
;

index:
  INDEX ON name[variable] IS name[of] '(' names ')'
    { $$ = tql_build_index(parser, &@$, &$variable, &$of, $names); }
;

modify:
  MODIFY name[relation] TO name[structure] modify_on
    { $$ = tql_build_modify(parser, &@$, &$relation, &$structure, $modify_on); }
| MODIFY name[relation] TO name[structure] age
    { $$ = tql_build_modify_age(parser, &@$, &$relation, &$structure, $age); }
;

/* modify R to keep 1 hour, to keep nothing, to keep forever. */
age:
  distance
| name  { $$ = tql_build_name(parser, &@$, &$name); }
;

modify_on:
  %empty    { $$ = NULL; }
| ON names  { $$ = $names; }
;

save: SAVE name UNTIL full  { $$ = tql_build_save(parser, &@$, &$name, $full); } ;

/* --- define -------------------------------------------------------------------------------- */

define:
  DEFINE VIEW name targets clauses absences
    { $$ = tql_build_update(parser, TQL_S_VIEW, &@$, &$name, $targets, &@targets, $clauses);
      $$ = tql_set_absences($$, $absences); }
| DEFINE INTEGRITY ON name IS expr
    { $$ = tql_build_integrity(parser, &@$, &$name, $expr); }
| DEFINE permit  { $$ = tql_widen(parser, &@$, $permit); }
;

permit:
  PERMIT operations permit_on name[relation] attributes TO name[user] permit_options
    { $$ = tql_build_permit(parser, &@$, $operations, &$relation, $attributes, &$user,
                            $permit_options); }
;

permit_on: ON | OF | TO ;

operations:
  operation                 { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| operations ',' operation  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

operation:
  name
| RETRIEVE  { $$ = tql_name(parser, &@1, &$1); }
| REPLACE   { $$ = tql_name(parser, &@1, &$1); }
| DELETE    { $$ = tql_name(parser, &@1, &$1); }
| APPEND    { $$ = tql_name(parser, &@1, &$1); }
;

attributes:
  %empty         { $$ = NULL; }
| '(' names ')'  { $$ = $names; }
;

permit_options:
  %empty                         { $$ = tql_permit_options_new(parser); }
| permit_options AT terminal     { $$ = tql_permit_at(parser, $1, &@2, &$3); }
| permit_options FROM clock_time[a] TO clock_time[b]
    { $$ = tql_permit_from(parser, $1, &@2, $a, $b); }
| permit_options ON day[a] TO day[b]  { $$ = tql_permit_on(parser, $1, &@2, &$a, &$b); }
| permit_options WHERE expr      { $$ = tql_permit_where(parser, $1, &@2, $expr); }
;

terminal:
  name
| STRING  { $$ = tql_name_of_string(parser, &@1, &$1); }
;

clock_time:
  CLOCK    { $$ = tql_build_literal(parser, TQL_E_STRING, &@$, &$1); }
| STRING   { $$ = tql_build_literal(parser, TQL_E_STRING, &@$, &$1); }
| INTEGER  { $$ = tql_build_literal(parser, TQL_E_INTEGER, &@$, &$1); }
;

day: name ;

/* --- expressions --------------------------------------------------------------------------- */

full:
  tight
| NOT full               { $$ = tql_build_expr(parser, TQL_E_NOT, &@$, $2, NULL); }
| full OR full           { $$ = tql_build_expr(parser, TQL_E_OR, &@$, $1, $3); }
| full AND full          { $$ = tql_build_expr(parser, TQL_E_AND, &@$, $1, $3); }
| full PRECEDE full      { $$ = tql_build_expr(parser, TQL_E_PRECEDE, &@$, $1, $3); }
| full EQUAL full        { $$ = tql_build_expr(parser, TQL_E_EQUAL, &@$, $1, $3); }
| full CONTAIN full      { $$ = tql_build_expr(parser, TQL_E_CONTAIN, &@$, $1, $3); }
| full '=' full          { $$ = tql_build_expr(parser, TQL_E_EQ, &@$, $1, $3); }
| full UNEQUAL full      { $$ = tql_build_expr(parser, TQL_E_NE, &@$, $1, $3); }
| full '<' full          { $$ = tql_build_expr(parser, TQL_E_LT, &@$, $1, $3); }
| full '>' full          { $$ = tql_build_expr(parser, TQL_E_GT, &@$, $1, $3); }
| full AT_MOST full      { $$ = tql_build_expr(parser, TQL_E_LE, &@$, $1, $3); }
| full AT_LEAST full     { $$ = tql_build_expr(parser, TQL_E_GE, &@$, $1, $3); }
| tight IN '(' by_list ')'               { $$ = tql_build_in(parser, &@$, $1, $by_list); }
| tight BETWEEN tight AND tight  %prec BETWEEN
    { $$ = tql_build_between(parser, &@$, $1, $3, $5); }
| tight MATCHES tight
    { $$ = tql_build_matches(parser, &@$, $1, tql_name(parser, &@MATCHES, &$MATCHES), $3); }
| tight NOT IN '(' by_list ')'  %prec IN
    { $$ = tql_build_not(parser, &@$, tql_build_in(parser, &@$, $1, $by_list)); }
| tight NOT BETWEEN tight AND tight  %prec BETWEEN
    { $$ = tql_build_not(parser, &@$, tql_build_between(parser, &@$, $1, $4, $6)); }
| tight NOT MATCHES tight  %prec MATCHES
    { struct tql_name matches = tql_name(parser, &@MATCHES, &$MATCHES);
      $$ = tql_build_not(parser, &@$, tql_build_matches(parser, &@$, $1, matches, $4)); }
| full '|' full          { $$ = tql_build_expr(parser, TQL_E_CHOICE, &@$, $1, $3); }
| full ';' full          { $$ = tql_build_expr(parser, TQL_E_SEQUENCE, &@$, $1, $3); }
| full ';' WITHIN distance full  %prec ';'
    { $$ = tql_build_within(parser, &@$, $1, $distance, $5); }
| full ';' choice chosen  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $1, NULL, $chosen, $choice); }
| full ';' WITHIN distance choice chosen  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $1, $distance, $chosen, $choice); }
| LAST chosen ';' full  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $chosen, NULL, $4, TQL_LATEST); }
| LAST chosen ';' WITHIN distance full  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $chosen, $distance, $6, TQL_LATEST); }
| LAST chosen[last] ';' FIRST chosen[next]  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $last, NULL, $next, TQL_NEAREST); }
| LAST chosen[last] ';' WITHIN distance FIRST chosen[next]  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $last, $distance, $next, TQL_NEAREST); }
| full ',' full          { $$ = tql_build_expr(parser, TQL_E_PARALLEL, &@$, $1, $3); }
;

expr:
  tight
| NOT expr               { $$ = tql_build_expr(parser, TQL_E_NOT, &@$, $2, NULL); }
| expr OR expr           { $$ = tql_build_expr(parser, TQL_E_OR, &@$, $1, $3); }
| expr AND expr          { $$ = tql_build_expr(parser, TQL_E_AND, &@$, $1, $3); }
| expr PRECEDE expr      { $$ = tql_build_expr(parser, TQL_E_PRECEDE, &@$, $1, $3); }
| expr EQUAL expr        { $$ = tql_build_expr(parser, TQL_E_EQUAL, &@$, $1, $3); }
| expr CONTAIN expr      { $$ = tql_build_expr(parser, TQL_E_CONTAIN, &@$, $1, $3); }
| expr '=' expr          { $$ = tql_build_expr(parser, TQL_E_EQ, &@$, $1, $3); }
| expr UNEQUAL expr      { $$ = tql_build_expr(parser, TQL_E_NE, &@$, $1, $3); }
| expr '<' expr          { $$ = tql_build_expr(parser, TQL_E_LT, &@$, $1, $3); }
| expr '>' expr          { $$ = tql_build_expr(parser, TQL_E_GT, &@$, $1, $3); }
| expr AT_MOST expr      { $$ = tql_build_expr(parser, TQL_E_LE, &@$, $1, $3); }
| expr AT_LEAST expr     { $$ = tql_build_expr(parser, TQL_E_GE, &@$, $1, $3); }
| tight IN '(' by_list ')'               { $$ = tql_build_in(parser, &@$, $1, $by_list); }
| tight BETWEEN tight AND tight  %prec BETWEEN
    { $$ = tql_build_between(parser, &@$, $1, $3, $5); }
| tight MATCHES tight
    { $$ = tql_build_matches(parser, &@$, $1, tql_name(parser, &@MATCHES, &$MATCHES), $3); }
| tight NOT IN '(' by_list ')'  %prec IN
    { $$ = tql_build_not(parser, &@$, tql_build_in(parser, &@$, $1, $by_list)); }
| tight NOT BETWEEN tight AND tight  %prec BETWEEN
    { $$ = tql_build_not(parser, &@$, tql_build_between(parser, &@$, $1, $4, $6)); }
| tight NOT MATCHES tight  %prec MATCHES
    { struct tql_name matches = tql_name(parser, &@MATCHES, &$MATCHES);
      $$ = tql_build_not(parser, &@$, tql_build_matches(parser, &@$, $1, matches, $4)); }
| expr '|' expr          { $$ = tql_build_expr(parser, TQL_E_CHOICE, &@$, $1, $3); }
| expr ';' expr          { $$ = tql_build_expr(parser, TQL_E_SEQUENCE, &@$, $1, $3); }
| expr ';' WITHIN distance expr  %prec ';'
    { $$ = tql_build_within(parser, &@$, $1, $distance, $5); }
| expr ';' choice chosen  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $1, NULL, $chosen, $choice); }
| expr ';' WITHIN distance choice chosen  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $1, $distance, $chosen, $choice); }
| LAST chosen ';' expr  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $chosen, NULL, $4, TQL_LATEST); }
| LAST chosen ';' WITHIN distance expr  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $chosen, $distance, $6, TQL_LATEST); }
| LAST chosen[last] ';' FIRST chosen[next]  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $last, NULL, $next, TQL_NEAREST); }
| LAST chosen[last] ';' WITHIN distance FIRST chosen[next]  %prec ';'
    { $$ = tql_build_chosen(parser, &@$, $last, $distance, $next, TQL_NEAREST); }
;

/* Which of those that come behind. */
choice:
  EACH     { $$ = TQL_EACH; }
| FIRST    { $$ = TQL_FIRST; }
| CLOSEST  { $$ = TQL_NEAREST; }
;

/* The one that is chosen: a variable, or its start or stop. */
chosen:
  chosen_name                 { $$ = tql_build_name(parser, &@$, &$1); }
| chosen_name '.' DOT_START   { $$ = tql_build_access(parser, TQL_E_START, &@$, &$1, &@1); }
| chosen_name '.' DOT_STOP    { $$ = tql_build_access(parser, TQL_E_STOP, &@$, &$1, &@1); }
;

/* No contextual word: behind `last` and `first` such a one goes on with these as names. */
chosen_name: NAME  { $$ = tql_name(parser, &@1, &$1); } ;

tight:
  name  { $$ = tql_build_name(parser, &@$, &$name); }
| access
| closed
| tight OVERLAP tight    { $$ = tql_build_expr(parser, TQL_E_OVERLAP, &@$, $1, $3); }
| tight EXTEND tight     { $$ = tql_build_expr(parser, TQL_E_EXTEND, &@$, $1, $3); }
| tight '+' tight        { $$ = tql_build_expr(parser, TQL_E_ADD, &@$, $1, $3); }
| tight '-' tight        { $$ = tql_build_expr(parser, TQL_E_SUB, &@$, $1, $3); }
| tight '*' tight        { $$ = tql_build_expr(parser, TQL_E_MUL, &@$, $1, $3); }
| tight '/' tight        { $$ = tql_build_expr(parser, TQL_E_DIV, &@$, $1, $3); }
| tight POWER tight      { $$ = tql_build_expr(parser, TQL_E_POWER, &@$, $1, $3); }
| '+' tight          %prec SIGN  { $$ = $2; }
| '-' tight          %prec SIGN  { $$ = tql_build_expr(parser, TQL_E_NEGATE, &@$, $2, NULL); }
| BEGIN_WORD OF tight %prec SIGN { $$ = tql_build_expr(parser, TQL_E_START, &@$, $3, NULL); }
| START OF tight     %prec SIGN  { $$ = tql_build_expr(parser, TQL_E_START, &@$, $3, NULL); }
| END_WORD OF tight  %prec SIGN  { $$ = tql_build_expr(parser, TQL_E_STOP, &@$, $3, NULL); }
| STOP OF tight      %prec SIGN  { $$ = tql_build_expr(parser, TQL_E_STOP, &@$, $3, NULL); }
;

/* What an accessor may follow; a name is kept apart, since after it a domain may come as well. */
access:
  name '.' DOT_START    { $$ = tql_build_access(parser, TQL_E_START, &@$, &$name, &@name); }
| name '.' DOT_STOP     { $$ = tql_build_access(parser, TQL_E_STOP, &@$, &$name, &@name); }
| name '.' DOT_TIME     { $$ = tql_build_access(parser, TQL_E_TIME, &@$, &$name, &@name); }
| access '.' DOT_START  { $$ = tql_build_expr(parser, TQL_E_START, &@$, $1, NULL); }
| access '.' DOT_STOP   { $$ = tql_build_expr(parser, TQL_E_STOP, &@$, $1, NULL); }
| access '.' DOT_TIME   { $$ = tql_build_expr(parser, TQL_E_TIME, &@$, $1, NULL); }
| closed '.' DOT_START  { $$ = tql_build_expr(parser, TQL_E_START, &@$, $1, NULL); }
| closed '.' DOT_STOP   { $$ = tql_build_expr(parser, TQL_E_STOP, &@$, $1, NULL); }
| closed '.' DOT_TIME   { $$ = tql_build_expr(parser, TQL_E_TIME, &@$, $1, NULL); }
;

closed:
  name[of] '.' NAME[domain]  { $$ = tql_build_domain(parser, &@$, &$of, &$domain, &@domain); }
| literal
| TRUE_WORD     { $$ = tql_build_truth(parser, &@$, true); }
| FALSE_WORD    { $$ = tql_build_truth(parser, &@$, false); }
| call
| LAST DURATION  { $$ = tql_build_last(parser, &@$, &@2, &$2); }
| '(' full ')'  { $$ = tql_build_parentheses(parser, &@$, $full); }
;

literal:
  INTEGER   { $$ = tql_build_literal(parser, TQL_E_INTEGER, &@$, &$1); }
| FLOAT     { $$ = tql_build_literal(parser, TQL_E_FLOAT, &@$, &$1); }
| DURATION  { $$ = tql_build_literal(parser, TQL_E_DURATION, &@$, &$1); }
| STRING    { $$ = tql_build_literal(parser, TQL_E_STRING, &@$, &$1); }
| BYTES_CONSTANT  { $$ = tql_build_literal(parser, TQL_E_BYTES, &@$, &$1); }
;

call:
  name '(' ')'                      { $$ = tql_build_call(parser, &@$, &$name, NULL, NULL); }
| name '(' arguments call_tail ')'
    { $$ = tql_build_call(parser, &@$, &$name, $arguments, $call_tail); }
;

arguments:
  argument                { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| arguments ',' argument  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

argument:
  expr
| name '.' DOT_ALL  { $$ = tql_build_all(parser, &@$, &$name); }
;

call_tail:
  %empty                           { $$ = tql_call_tail_new(parser); }
| call_tail BY by_list             { $$ = tql_call_by(parser, $1, &@BY, $by_list); }
| call_tail WHERE expr             { $$ = tql_call_where(parser, $1, &@WHERE, $expr); }
| call_tail WHEN full              { $$ = tql_call_when(parser, $1, &@WHEN, $full); }
| call_tail FOR EVER               { $$ = tql_call_for(parser, $1, &@FOR, TQL_TAIL_EVER, NULL); }
| call_tail FOR EACH INSTANT       { $$ = tql_call_for(parser, $1, &@FOR, TQL_TAIL_INSTANT, NULL); }
| call_tail FOR EACH distance
    { $$ = tql_call_for(parser, $1, &@FOR, TQL_TAIL_DURATION, $distance); }
;

by_list:
  expr              { $$ = tql_list_add(parser, NULL, sizeof $1, &$1); }
| by_list ',' expr  { $$ = tql_list_add(parser, $1, sizeof $3, &$3); }
;

/* --- names --------------------------------------------------------------------------------- */

name: word ;

word:
  plain_word
| SUMMARY      { $$ = tql_name(parser, &@1, &$1); }
;

/* Behind `retrieve` summary is no name. */
plain_word:
  NAME         { $$ = tql_name(parser, &@1, &$1); }
| ANALYZE      { $$ = tql_name(parser, &@1, &$1); }
| AS           { $$ = tql_name(parser, &@1, &$1); }
| ASCENDING    { $$ = tql_name(parser, &@1, &$1); }
| BEGIN_WORD   { $$ = tql_name(parser, &@1, &$1); }
| BETWEEN      { $$ = tql_name(parser, &@1, &$1); }
| CLOSEST      { $$ = tql_name(parser, &@1, &$1); }
| CONTAIN      { $$ = tql_name(parser, &@1, &$1); }
| CREDIBILITY  { $$ = tql_name(parser, &@1, &$1); }
| DESCENDING   { $$ = tql_name(parser, &@1, &$1); }
| DURING       { $$ = tql_name(parser, &@1, &$1); }
| EACH         { $$ = tql_name(parser, &@1, &$1); }
| ELSE         { $$ = tql_name(parser, &@1, &$1); }
| EMPTY        { $$ = tql_name(parser, &@1, &$1); }
| END_WORD     { $$ = tql_name(parser, &@1, &$1); }
| EQUAL        { $$ = tql_name(parser, &@1, &$1); }
| ERRORS       { $$ = tql_name(parser, &@1, &$1); }
| EVENT        { $$ = tql_name(parser, &@1, &$1); }
| EVER         { $$ = tql_name(parser, &@1, &$1); }
| EXTEND       { $$ = tql_name(parser, &@1, &$1); }
| FILE_WORD    { $$ = tql_name(parser, &@1, &$1); }
| FIRST        { $$ = tql_name(parser, &@1, &$1); }
| FOLLOWING    { $$ = tql_name(parser, &@1, &$1); }
| IN           { $$ = tql_name(parser, &@1, &$1); }
| INSTANT      { $$ = tql_name(parser, &@1, &$1); }
| INTEGRITY    { $$ = tql_name(parser, &@1, &$1); }
| LAST         { $$ = tql_name(parser, &@1, &$1); }
| LIKE         { $$ = tql_name(parser, &@1, &$1); }
| LIMIT        { $$ = tql_name(parser, &@1, &$1); }
| MATCHES      { $$ = tql_name(parser, &@1, &$1); }
| OFFSET       { $$ = tql_name(parser, &@1, &$1); }
| ORDERED      { $$ = tql_name(parser, &@1, &$1); }
| OVERLAP      { $$ = tql_name(parser, &@1, &$1); }
| PERIOD       { $$ = tql_name(parser, &@1, &$1); }
| PERMIT       { $$ = tql_name(parser, &@1, &$1); }
| PERSISTENT   { $$ = tql_name(parser, &@1, &$1); }
| PLAIN        { $$ = tql_name(parser, &@1, &$1); }
| PRECEDE      { $$ = tql_name(parser, &@1, &$1); }
| CONTINUED    { $$ = tql_name(parser, &@1, &$1); }
| RAGGED       { $$ = tql_name(parser, &@1, &$1); }
| SAMPLED      { $$ = tql_name(parser, &@1, &$1); }
| SKIPPING     { $$ = tql_name(parser, &@1, &$1); }
| SORT         { $$ = tql_name(parser, &@1, &$1); }
| TRACED       { $$ = tql_name(parser, &@1, &$1); }
| UNLESS       { $$ = tql_name(parser, &@1, &$1); }
| UNTIL        { $$ = tql_name(parser, &@1, &$1); }
| VIEW         { $$ = tql_name(parser, &@1, &$1); }
| WITH         { $$ = tql_name(parser, &@1, &$1); }
| WITHIN       { $$ = tql_name(parser, &@1, &$1); }
| WITHOUT      { $$ = tql_name(parser, &@1, &$1); }
;

%%

static void tql_yyerror(const struct tql_span *span, struct tql_parser *parser, const char *text) {
  (void)span;
  (void)parser;
  (void)text; /* the only caller is "memory exhausted", which the status says as well */
}

static int yyreport_syntax_error(const yypcontext_t *context, struct tql_parser *parser) {
  yysymbol_kind_t kinds[YYNTOKENS];
  int count = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
  _Static_assert(YYNTOKENS <= TQL_TOKENS_MAX, "TQL_TOKENS_MAX");
  parser->expected_count = 0;
  for (int i = 0; i < count; i++) {
    parser->expected[parser->expected_count++] = yysymbol_name(kinds[i]);
  }
  return 0;
}

/* Tests compare the keyword list with the tokens' spellings. */
const char *tql_token_name(int kind) { return yysymbol_name(YYTRANSLATE(kind)); }
