/* For tests of the language: comparing syntax trees and making random ones. Shared by lang_test and
 * the fuzz target; the random trees use every statement, operator and awkward name.               */
#ifndef TESTS_LANG_TREE_H
#define TESTS_LANG_TREE_H

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/lang/ast.h"

/* Equal up to ranges, texts and superfluous parentheses. */
bool lang_same_expr(const struct tql_expr *a, const struct tql_expr *b);
bool lang_same_statement(const struct tql_statement *a, const struct tql_statement *b);

/* Random trees such as the parser could give; expressions at most DEPTH deep (and a little). */
struct tql_expr *lang_random_expr(struct base_arena *arena, struct base_random *random, int depth);
struct tql_statement *lang_random_statement(struct base_arena *arena, struct base_random *random);

#endif
