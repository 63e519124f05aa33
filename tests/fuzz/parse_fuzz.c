/* A fuzz target for the front end: parse, print, parse again, print again, compare.
 *
 *   ./dev fuzz parse                   with AddressSanitizer and UndefinedBehaviorSanitizer
 *   ./dev fuzz --fast --runs N parse   without, for many runs; the checks below abort all the same
 *
 * What holds of every text: it parses or errors are reported; each message can be shown; the
 * statements that come out, printed, parse to equal trees and print the same again; completeness
 * and the errors agree. What may come next is asked of a share of the texts only, since it costs
 * more than all the rest: which, the bytes themselves decide, so that a finding repeats.
 *
 * One arena and one set of buffers serve all runs: what is fuzzed is the front end, not malloc.
 * With -DPARSE_FUZZ_MAIN it is a program that reads one input from stdin, for AFL and for repeating
 * a finding without a fuzzer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/base/status.h"
#include "tests/unit/lang_tree.h"
#include "tquel/lang/parse.h"

#define EXPECTED_SHARE 16 /* one text in so many is asked what may come next */
#define EXPECTED_MAX   500

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
  struct base_arena *arena;
  struct base_diag_sink diags;
  struct base_buffer once, twice, shown;
} state;

static void ignore_word(void *context, const char *word) {
  (void)context;
  BASE_CHECK(word[0] != '\0', "fuzz-empty-word");
}

static void begin(void) {
  if (state.arena == NULL) {
    state.arena = base_arena_new();
    base_diag_sink_init(&state.diags);
  }
  base_arena_reset(state.arena);
  base_diag_sink_clear(&state.diags);
  base_buffer_clear(&state.once);
  base_buffer_clear(&state.twice);
  base_buffer_clear(&state.shown);
}

static struct tql_statement **parse(const char *text, size_t length, size_t *ret_count,
                                    bool *ret_ok) {
  struct base_source *source = BASE_NEW(state.arena, struct base_source);
  *source = (struct base_source){.name = "fuzz", .text = text, .length = length};
  return tql_parse(state.arena, source, 1, &state.diags, ret_count, ret_ok);
}

static void print(struct base_buffer *out, struct tql_statement **statements, size_t count) {
  for (size_t i = 0; i < count; i++) {
    tql_print_statement(out, statements[i]);
    base_buffer_putc(out, '\n');
  }
}

static void check_messages(size_t size) {
  for (size_t i = 0; i < state.diags.count; i++) {
    const struct base_diag *diag = &state.diags.items[i];
    const struct base_range *range = &diag->range;
    BASE_CHECK(range->first_line > 0 && range->first_column > 0, "fuzz-message-has-place");
    BASE_CHECK(range->last_line > range->first_line || (range->last_line == range->first_line &&
                                                        range->last_column >= range->first_column),
               "fuzz-message-range");
    BASE_CHECK((size_t)range->first_line <= size + 1, "fuzz-message-line");
    base_diag_format(&state.shown, diag);
  }
}

static void check_round_trip(struct tql_statement **first, size_t count) {
  size_t again;
  bool ok;
  print(&state.once, first, count);
  struct tql_statement **second =
      parse(base_buffer_text(&state.once), state.once.length, &again, &ok);
  BASE_CHECK(ok && again == count, "fuzz-printed-text-parses");
  for (size_t i = 0; i < count; i++)
    BASE_CHECK(lang_same_statement(first[i], second[i]), "fuzz-same-tree");
  print(&state.twice, second, again);
  BASE_CHECK(state.once.length == state.twice.length &&
                 memcmp(base_buffer_text(&state.once), base_buffer_text(&state.twice),
                        state.once.length) == 0,
             "fuzz-fixed-point");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t count;
  bool ok;
  begin();
  const char *text = base_arena_strndup(state.arena, (const char *)data, size);
  struct tql_statement **first = parse(text, size, &count, &ok);
  BASE_CHECK(ok == (state.diags.errors == 0), "fuzz-errors-are-reported");
  check_messages(size);
  enum tql_completeness complete = tql_completeness(text, size);
  BASE_CHECK(ok == (complete == TQL_COMPLETE || complete == TQL_EMPTY), "fuzz-completeness");
  if (count > 0) check_round_trip(first, count);
  if (size < EXPECTED_MAX && base_hash(data, size, 0) % EXPECTED_SHARE == 0)
    tql_expected(text, size, ignore_word, NULL);
  return 0;
}

/* Mutations: mostly libFuzzer's own; one in MADE_SHARE puts a random statement, such as the printer
 * writes it, behind the text or over its end, so that whole trees of every shape come in. */
#define MADE_SHARE 32

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t size_max) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t size_max, unsigned seed) {
  struct base_random random = {seed};
  if (base_random_below(&random, MADE_SHARE) != 0 || size_max < 8)
    return LLVMFuzzerMutate(data, size, size_max);
  begin();
  base_buffer_append(&state.once, data, base_random_below(&random, size + 1));
  base_buffer_putc(&state.once, '\n');
  tql_print_statement(&state.once, lang_random_statement(state.arena, &random));
  size = state.once.length < size_max ? state.once.length : size_max;
  memcpy(data, state.once.data, size);
  return size;
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
