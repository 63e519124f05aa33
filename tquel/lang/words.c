/* The reserved words, for whoever highlights, completes, quotes or documents. */
#include <string.h>
#include <strings.h>

#include "tquel/lang/lexer.h"
#include "tquel/lang/parse.h"

static const char *const reserved_words[] = {
#define RESERVED(WORD, TOKEN, CLASS) WORD,
#define CONTEXTUAL(WORD, TOKEN)
#include "tquel/lang/keywords.def"
#undef RESERVED
#undef CONTEXTUAL
    NULL,
};

const char *const *tql_keywords(void) {
  return reserved_words;
}

bool tql_is_keyword(const char *word) {
  const struct tql_word *row = tql_word_find(word, strlen(word));
  return row != NULL && row->word_class != TQL_WORD_CONTEXTUAL;
}

bool tql_is_accessor(const char *text) {
  return strcasecmp(text, "start") == 0 || strcasecmp(text, "stop") == 0 ||
         strcasecmp(text, "time") == 0 || strcasecmp(text, "all") == 0;
}
