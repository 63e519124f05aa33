/* A fuzz target for the front end: parse, print, parse again, compare.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... tests/fuzz/parse_fuzz.c tests/unit/lang_tree.c
 *   ./parse_fuzz -dict=tests/fuzz/parse.dict CORPUS
 *
 * With -DPARSE_FUZZ_MAIN it is a program that reads one input from stdin, for AFL and for repeating
 * a finding without a fuzzer. */
#include <stdint.h>
#include <stdlib.h>

#include "engine/base/status.h"
#include "tests/unit/lang_tree.h"
#include "tquel/lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_word(void *context, const char *word) {
  (void)context;
  BASE_CHECK(word[0] != '\0', "fuzz-empty-word");
}

static struct tql_statement **parse(struct base_arena *arena, const char *text, size_t length,
                                    struct base_diag_sink *diags, size_t *ret_count, bool *ret_ok) {
  struct base_source *source = BASE_NEW(arena, struct base_source);
  *source = (struct base_source){.name = "fuzz", .text = text, .length = length};
  return tql_parse(arena, source, 1, diags, ret_count, ret_ok);
}

static void print(struct base_buffer *out, struct tql_statement **statements, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tql_print_statement(out, statements[i]);
    base_buffer_putc(out, '\n');
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct base_arena *arena = base_arena_new();
  struct base_diag_sink diags;
  struct base_buffer once = BASE_BUFFER_EMPTY, twice = BASE_BUFFER_EMPTY, shown = BASE_BUFFER_EMPTY;
  size_t count, again;
  bool ok;
  base_diag_sink_init(&diags);
  const char *text = base_arena_strndup(arena, (const char *)data, size);
  struct tql_statement **first = parse(arena, text, size, &diags, &count, &ok);
  BASE_CHECK(ok == (diags.errors == 0), "fuzz-errors-are-reported");
  for (size_t i = 0; i < diags.count; i++) base_diag_format(&shown, &diags.items[i]);
  enum tql_completeness complete = tql_completeness(text, size);
  BASE_CHECK(ok == (complete == TQL_COMPLETE || complete == TQL_EMPTY), "fuzz-completeness");
  if (size < 500) tql_expected(text, size, ignore_word, NULL);
  print(&once, first, count);
  struct tql_statement **second =
      parse(arena, base_buffer_text(&once), once.length, &diags, &again, &ok);
  BASE_CHECK(ok && again == count, "fuzz-printed-text-parses");
  for (size_t i = 0; i < count; i++) {
    BASE_CHECK(lang_same_statement(first[i], second[i]), "fuzz-same-tree");
  }
  print(&twice, second, again);
  BASE_CHECK(once.length == twice.length, "fuzz-fixed-point");
  base_buffer_done(&once);
  base_buffer_done(&twice);
  base_buffer_done(&shown);
  base_diag_sink_done(&diags);
  base_arena_free(arena);
  return 0;
}

#ifdef PARSE_FUZZ_MAIN
#include <stdio.h>

int main(void) {
  struct base_buffer input = BASE_BUFFER_EMPTY;
  char chunk[4096];
  size_t got;
  while ((got = fread(chunk, 1, sizeof chunk, stdin)) > 0) base_buffer_append(&input, chunk, got);
  LLVMFuzzerTestOneInput((const uint8_t *)base_buffer_text(&input), input.length);
  base_buffer_done(&input);
  return 0;
}
#endif
