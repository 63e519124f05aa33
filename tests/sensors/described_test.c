/* From the description to the program and back: a program is built with the header made from
 * tests/sdf/good/files.sdf (described.c). This reader finds it, finds its description in its ELF file,
 * enables by name what it describes, and reads the records by that description alone.
 *
 *   described_test PROGRAM          prints TAP                                                     */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sensors/sdf/decode.h"
#include "sensors/sdf/remote.h"
#include "tests/sensors/watcher.h"

static struct {
  struct base_arena *arena;
  struct base_diag_sink diags;
  struct sn_format *format;
  struct sn_description *description;
  uint64_t digest;
  struct base_buffer last[16]; /* of each event, the last record as text */
  size_t different[16];
} state;

static int count, failed;

static void ok(bool good, const char *what) {
  count++;
  failed += !good;
  printf("%sok %d - %s\n", good ? "" : "not ", count, what);
}

static bool read_description(const char *path) {
  struct base_buffer bytes = BASE_BUFFER_EMPTY;
  struct sn_note *notes;
  size_t note_count = 0, got;
  char chunk[65536];
  FILE *file = fopen(path, "rb");
  if (file == NULL) return false;
  while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) base_buffer_append(&bytes, chunk, got);
  fclose(file);
  if (!sn_elf_notes(state.arena, bytes.data, bytes.length, &notes, &note_count) || note_count != 1)
    return false;
  struct base_source *source = BASE_NEW(state.arena, struct base_source);
  source->name = path;
  source->text = base_arena_strndup(state.arena, notes[0].text, notes[0].length);
  source->length = notes[0].length;
  state.digest = sn_remote_digest(source->text, source->length);
  state.description = sn_description_read_remote(state.arena, source, state.format, &state.diags);
  base_buffer_done(&bytes);
  return state.description != NULL;
}

static void put_value(struct base_buffer *out, const struct sn_value_view *value) {
  base_buffer_printf(out, " %s=", value->name);
  switch (value->type.base) {
    case NET_INTEGER:
    case NET_BOOL:
      base_buffer_int(out, value->integer);
      break;
    case NET_FLOAT:
      base_buffer_double(out, value->real);
      break;
    case NET_STRING:
      base_buffer_printf(out, "\"%.*s\"", (int)value->length, value->text);
      break;
    default:
      base_buffer_printf(out, "%s:%llu", value->object->name, (unsigned long long)value->minor);
  }
}

static const struct sn_event_description *event_numbered(uint32_t number) {
  for (size_t i = 0; i < state.description->event_count; i++)
    if (state.description->events[i].number == number) return &state.description->events[i];
  return NULL;
}

static void see(struct watcher *watcher, const struct sn_peer *peer,
                const struct sn_record_view *record) {
  const struct sn_event_description *event = event_numbered(record->event);
  struct sn_value_view values[16];
  struct base_buffer text = BASE_BUFFER_EMPTY;
  (void)peer;
  if (record->kind & SN_RECORD_ROUND) return;
  if (event == NULL || sn_payload_values(event) > 16 ||
      !sn_payload_read(event, record->payload, record->payload_bytes, values)) {
    watcher_wrong(watcher, "a record of event %u cannot be read", record->event);
    return;
  }
  base_buffer_puts(&text, event->name);
  if (record->kind & SN_RECORD_NAME)
    base_buffer_printf(&text, " [%s:%llu]", state.description->types[record->type - 1].name,
                       (unsigned long long)record->minor);
  if (((record->kind & SN_RECORD_STAMP) != 0) != event->timestamp)
    watcher_wrong(watcher, "stamp of %s", event->name);
  for (size_t i = 0; i < sn_payload_values(event); i++) put_value(&text, &values[i]);
  struct base_buffer *last = &state.last[record->event];
  state.different[record->event] += strcmp(base_buffer_text(last), text.data) != 0;
  base_buffer_done(last);
  *last = text;
}

/* Until each event but Open has come; then a round is asked for. */
static void watch(struct watcher *watcher) {
  bool asked = false;
  for (int pass = 0; pass < 1000000 && !asked; pass++) {
    bool all = true;
    watcher_pass(watcher);
    for (uint32_t number = 1; number <= state.description->number_max; number++)
      all = all && (number == sn_description_event(state.description, "Open")->number ||
                    state.last[number].length > 0);
    asked = all && sn_peer_ask(watcher->peers[0], 0,
                               sn_description_event(state.description, "Open")->number);
  }
  ok(asked, "every event has come, and a round can be asked for");
}

static void check(const char *event, const char *wanted, size_t different) {
  uint32_t number = sn_description_event(state.description, event)->number;
  const char *found = base_buffer_text(&state.last[number]);
  bool good = strcmp(found, wanted) == 0 && state.different[number] == different;
  ok(good, wanted);
  if (!good) printf("# found %s, %zu times another\n", found, state.different[number]);
}

static void check_records(void) {
  check("FileRead", "FileRead [File:77] Block=-3 Bytes=4096 Caller=User:12", 1);
  check("FileReadByUser", "FileReadByUser [User:5] File=File:78 Block=9", 1);
  check("Startup",
        "Startup int=-128 object=32767 Speed=1.5 Load=-0.25 Ready=1 Path=\"/a path\" "
        "Host=\"host\" append=7",
        1);
  check("Free", "Free Blocks=1234567890123", 1);
  check("Queue", "Queue Disk=\"sda\" Length=3", 1);
  check("Idle", "Idle", 1);
  check("Open", "Open File=File:78 Readers=0 Note=\"\"", 2);
}

static void check_damaged(void) {
  const struct sn_event_description *event = sn_description_event(state.description, "Startup");
  unsigned char bytes[64] = {0};
  struct sn_value_view values[16];
  ok(sn_payload_read(event, bytes, 28, values) && sn_payload_read(event, bytes, 35, values),
     "a payload may be filled up");
  ok(!sn_payload_read(event, bytes, 27, values) && !sn_payload_read(event, bytes, 36, values) &&
         !sn_payload_read(event, bytes, 0, values),
     "a payload of another length is refused");
  memset(bytes + 16, 0xff, 4);
  ok(!sn_payload_read(event, bytes, sizeof bytes, values),
     "a text longer than its record is refused");
}

/* From its start to its end, if it is found. */
static void follow(struct watcher *watcher, const char *binary) {
  watcher_run(watcher, binary, "described", 0);
  watcher_need(watcher, 1);
  struct sn_module_view module = {0};
  /* What the program adds while we look is seen after the next look. */
  bool found = false;
  for (int pass = 0; pass < 1000000 && !found; pass++) {
    watcher_pass(watcher);
    found = sn_peer_module(watcher->peers[0], 0, &module);
  }
  ok(found && module.digest == state.digest && module.events == state.description->number_max + 1 &&
         module.name_length == 10 && memcmp(module.name, "FileSystem", 10) == 0,
     "it announces the description that its file holds");
  watch(watcher);
  ok(watcher_finish(watcher) == 0, "the program ends");
  ok(watcher->rounds == 1, "one round came");
  check_records();
}

int main(int argument_count, char **arguments) {
  static struct watcher watcher;
  jmp_buf end;
  if (argument_count != 2) return 1;
  state.arena = base_arena_new();
  base_diag_sink_init(&state.diags);
  state.format = sn_format_default(state.arena);
  ok(read_description(arguments[1]), "the program carries one description");
  if (state.description == NULL) return 1;
  watcher_init(&watcher);
  watcher.see = see;
  for (size_t i = 0; i < state.description->event_count; i++)
    if (!state.description->events[i].assume_enabled)
      watcher.modes[state.description->events[i].number] = SN_TRACE;
  watcher_listen(&watcher);
  watcher.give_up = &end;
  bool there = setjmp(end) == 0;
  if (there) follow(&watcher, arguments[1]);
  ok(there, "the program is found");
  check_damaged();
  watcher_done(&watcher);
  ok(watcher.wrong == 0, watcher.wrong == 0 ? "nothing else was wrong" : watcher.first_wrong);
  for (size_t i = 0; i < 16; i++) base_buffer_done(&state.last[i]);
  base_diag_sink_done(&state.diags);
  base_arena_free(state.arena);
  printf("1..%d\n", count);
  return failed != 0;
}
