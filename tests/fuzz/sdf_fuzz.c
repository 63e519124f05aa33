/* A fuzz target for sensor descriptions: every input is taken as a description, as a remote description,
 * as a format, and as a program.
 *
 *   ./dev fuzz sdf
 *
 * What holds of every text: something comes out or errors are reported, with places inside the text;
 * each can be shown. What holds of every description that is right: all outputs can be made; its remote
 * description can be read, is its own remote description, makes the same documentation and declarations,
 * and does not differ from it.                                                                    */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/status.h"
#include "sensors/sdf/decode.h"
#include "sensors/sdf/output.h"
#include "sensors/sdf/remote.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
  struct base_arena *arena;
  struct base_arena *lasting; /* what all runs share: the program's own format */
  struct sn_format *own;
  struct base_diag_sink diags;
  struct base_buffer shown;
} state;

static const char *const reserved[] = {"append", "by", NULL};

/* Descriptions for the formats that come out of the fuzzer. */
static const char sample[] =
    "(taskforce (name T) (version 2)) (objecttype (name File)) (sensorprocess (name S))"
    "(event (name E) (object File) (location S) (timestamp t) (waittime 3) (minortype objecttraced)"
    " (domains (domain (name n) (type integer)) (domain (name s) (type c8))))";

static struct base_source *source_of(const char *text, size_t length) {
  struct base_source *source = BASE_NEW(state.arena, struct base_source);
  *source = (struct base_source){.name = "fuzz.sdf", .text = text, .length = length};
  return source;
}

static void check_messages(bool ok, size_t size) {
  BASE_CHECK(ok == (state.diags.errors == 0), "fuzz-errors-are-reported");
  for (size_t i = 0; i < state.diags.count; i++) {
    const struct base_diag *diag = &state.diags.items[i];
    BASE_CHECK((size_t)diag->range.first_line <= size + 1, "fuzz-message-line");
    base_diag_format(&state.shown, diag);
  }
  base_diag_sink_clear(&state.diags);
  base_buffer_clear(&state.shown);
}

static void check_same(const struct base_buffer *a, const struct base_buffer *b, const char *what) {
  BASE_CHECK(
      a->length == b->length && memcmp(base_buffer_text(a), base_buffer_text(b), a->length) == 0,
      what);
}

/* Any bytes as the payload of each event. */
static void check_payloads(const struct sn_description *description) {
  for (size_t i = 0; i < description->event_count; i++) {
    const struct sn_event_description *event = &description->events[i];
    size_t count = sn_payload_values(event), length = 7 * i % 128;
    struct sn_value_view *values = BASE_NEW_ARRAY(state.arena, count, struct sn_value_view);
    /* A copy of its own, so that a look behind its end is seen. */
    unsigned char *payload = base_xmalloc(length + 1);
    for (size_t j = 0; j < length; j++) payload[j] = (unsigned char)(event->name[0] * (j % 5 == 0));
    bool good = sn_payload_read(event, payload, length, values);
    for (size_t j = 0; good && j < count; j++)
      BASE_CHECK(values[j].length <= length, "fuzz-payload-text");
    free(payload);
  }
}

static void check_outputs(const struct sn_description *description) {
  struct base_buffer remote = BASE_BUFFER_EMPTY, again = BASE_BUFFER_EMPTY,
                     first = BASE_BUFFER_EMPTY, second = BASE_BUFFER_EMPTY;
  bool written = sn_remote_write(&remote, description, state.own, &state.diags);
  check_messages(written, SIZE_MAX - 1);
  check_payloads(description);
  if (written) {
    sn_write_header(&first, description, &remote);
    base_buffer_clear(&first);
    struct sn_description *back = sn_description_read_remote(
        state.arena, source_of(remote.data, remote.length), state.own, &state.diags);
    BASE_CHECK(back != NULL, "fuzz-remote-reads");
    BASE_CHECK(sn_remote_write(&again, back, state.own, &state.diags), "fuzz-remote-writes");
    sn_write_tquel(&first, description, reserved);
    sn_write_document(&first, description, reserved);
    sn_write_summary(&first, description);
    sn_write_tquel(&second, back, reserved);
    sn_write_document(&second, back, reserved);
    sn_write_summary(&second, back);
    check_same(&first, &second, "fuzz-same-outputs");
    base_buffer_clear(&first);
    BASE_CHECK(sn_write_differences(&first, description, back) && first.length == 0,
               "fuzz-no-differences");
    base_buffer_clear(&second);
    back = sn_description_read_remote(state.arena, source_of(again.data, again.length), state.own,
                                      &state.diags);
    BASE_CHECK(back != NULL && sn_remote_write(&second, back, state.own, &state.diags),
               "fuzz-remote-again");
    check_same(&again, &second, "fuzz-fixed-point");
  }
  base_buffer_done(&remote);
  base_buffer_done(&again);
  base_buffer_done(&first);
  base_buffer_done(&second);
}

static void as_description(const char *text, size_t size, bool remote) {
  struct base_source *source = source_of(text, size);
  struct sn_description *description =
      remote ? sn_description_read_remote(state.arena, source, state.own, &state.diags)
             : sn_description_read(state.arena, source, state.own, &state.diags);
  check_messages(description != NULL, size);
  if (description != NULL) check_outputs(description);
}

static void as_format(const char *text, size_t size) {
  struct sn_format *format = sn_format_read(state.arena, source_of(text, size), &state.diags);
  check_messages(format != NULL, size);
  if (format == NULL) return;
  struct sn_description *description =
      sn_description_read(state.arena, source_of(sample, sizeof sample - 1), format, &state.diags);
  check_messages(description != NULL, sizeof sample);
  if (description != NULL) check_outputs(description);
}

static void as_program(const uint8_t *data, size_t size) {
  struct sn_note *notes;
  size_t count;
  if (!sn_elf_notes(state.arena, data, size, &notes, &count)) return;
  for (size_t i = 0; i < count; i++) as_description(notes[i].text, notes[i].length, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (state.arena == NULL) {
    state.arena = base_arena_new();
    state.lasting = base_arena_new();
    state.own = sn_format_default(state.lasting);
    base_diag_sink_init(&state.diags);
  }
  base_arena_reset(state.arena);
  const char *text = base_arena_strndup(state.arena, (const char *)data, size);
  if (sn_elf_is(data, size)) {
    as_program(data, size);
    return 0;
  }
  as_description(text, size, false);
  as_description(text, size, true);
  as_format(text, size);
  return 0;
}
