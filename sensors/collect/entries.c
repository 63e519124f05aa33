/* Entries that the server writes and reads (thesis 8.4, "write entry" and "read entry"): what is to be counted, sampled, and how
 * it is when records are too many; what receptacles hold.
 *
 * That is a row for each event of a process, with what its objects that are gone have left to it, and one for each of its objects,
 * up to a bound; the others are added up in one row.                                                  */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

/* process, relation, object, records, counting, missed, count, sum, squares, histogram, open, unit */
enum { COLUMNS = 12, FLUSH_BYTES = 256 << 10, OBJECTS_SHOWN = 1000 };

/* --- writing */

/* What follows WORD and a blank in TEXT; NULL: it begins otherwise. A word alone is followed by "". */
static const char *after(const char *text, const char *word) {
  size_t length = strlen(word);
  if (strncmp(text, word, length) != 0) return NULL;
  if (text[length] == '\0') return text + length;
  return text[length] == ' ' ? text + length + 1 : NULL;
}

static char *copy_of(struct sn_string string) {
  char *copy = base_xmalloc(string.length + 1u);
  memcpy(copy, string.bytes, string.length);
  copy[string.length] = '\0';
  return copy;
}

static void count(struct sn_monitor *monitor, const char *relation, bool on) {
  (void)sn_interest_of(monitor, relation); /* so that it is there for descriptions to come */
  for (struct sn_interest *each = monitor->interests; each != NULL; each = each->next) {
    if (!sn_relation_means(relation, each->relation)) continue;
    each->counted = on;
    each->counted_before = false;
  }
  monitor->commands++;
  sn_switching_want(monitor);
}

/* A tuple asks for samples. false: it makes no sense. */
static bool trigger(struct sn_monitor *monitor, const char *relation, struct sn_string value) {
  struct sn_watch *watch = sn_watch_read(value);
  if (watch == NULL) return false;
  sn_sampling_trigger(monitor, relation, watch);
  sn_watch_list_free(watch);
  return true;
}

/* What is to become of the records of RELATION when they are more than can be taken. false: it makes no sense. */
static bool permit(struct sn_monitor *monitor, const char *relation, struct sn_string value) {
  bool sampled = sn_string_is(value, "sampled");
  if (*relation == '\0' || (!sampled && !sn_string_is(value, "lose"))) return false;
  (void)sn_interest_of(monitor, relation);
  for (struct sn_interest *each = monitor->interests; each != NULL; each = each->next) {
    if (!sn_relation_means(relation, each->relation)) continue;
    each->sampled_in_overload = sampled;
    each->sampled_before = false;
  }
  return true;
}

bool sn_entry_write(struct sn_monitor *monitor, const struct sn_message_write_entry *command) {
  bool on = sn_string_is(command->value, "on");
  char *name = copy_of(command->name);
  const char *relation = after(name, "count"), *sampled = after(name, "sample");
  const char *overload = after(name, "overload");
  bool good =
      relation == NULL || (*relation != '\0' && (on || sn_string_is(command->value, "off")));
  if (good && relation != NULL) count(monitor, relation, on);
  if (sampled != NULL) good = *sampled != '\0' && trigger(monitor, sampled, command->value);
  if (overload != NULL) good = permit(monitor, overload, command->value);
  free(name);
  return good;
}

void sn_counts_drop_stale(struct sn_monitor *monitor) {
  bool any = false;
  for (struct sn_interest *interest = monitor->interests; interest != NULL;
       interest = interest->next) {
    if (interest->sampled_before) interest->sampled_in_overload = interest->sampled_before = false;
    if (!interest->counted_before) continue;
    interest->counted = interest->counted_before = false;
    any = true;
  }
  if (any) sn_switching_want(monitor);
}

/* --- reading */

struct report {
  struct sn_monitor *monitor;
  const char *relation; /* "": all */
  struct sn_string what;
  uint32_t request, rows;
  struct base_buffer cells;
};

static void cell(struct report *report, const char *text) {
  sn_put_string(&report->cells, sn_string_of(text));
}

static void cell_integer(struct report *report, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  cell(report, text);
}

static void cell_real(struct report *report, double number) {
  char text[40];
  snprintf(text, sizeof text, "%.17g", number);
  cell(report, text);
}

/* "BUCKET:COUNT ...": those that are not empty, numbered as in struct sn_histogram. */
static void cell_histogram(struct report *report, const struct sn_entry_view *entry) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (unsigned i = 0; entry->has_histogram && i < SN_BUCKETS; i++) {
    if (entry->buckets[i] == 0) continue;
    base_buffer_printf(&text, "%s%u:%" PRIu64, text.length > 0 ? " " : "", i, entry->buckets[i]);
  }
  sn_put_string(&report->cells, sn_string_from(base_buffer_text(&text), text.length));
  base_buffer_done(&text);
}

static void flush(struct report *report, bool more) {
  struct base_buffer *out = sn_uplink_answer(report->monitor);
  struct sn_message_report message = {
      .request = report->request,
      .what = report->what,
      .more = more,
      .columns = COLUMNS,
      .rows = report->rows,
      .cells = sn_string_from(base_buffer_text(&report->cells), report->cells.length)};
  if (out != NULL) sn_put_report(out, 0, &message);
  base_buffer_clear(&report->cells);
  report->rows = 0;
}

static void add_row(struct report *report, const struct sn_part *part, uint32_t e,
                    const char *object, const struct sn_holding *holding) {
  const struct sn_event_description *event = part->known->events[e].event;
  bool always = event->assume_enabled, numbers = event->histogram != -1 && !always;
  bool durations = numbers && event->histogram == SN_DURATIONS;
  cell(report, part->name->text);
  cell(report, event->name);
  cell(report, object);
  if (always) {
    cell(report, part->listening ? "always" : "off");
  } else {
    cell(report, holding->modes & (SN_TRACE | SN_THINNED) ? "on" : "off");
  }
  cell(report, always ? "" : holding->counted != 0 ? "on" : "off");
  cell_integer(report, holding->entry.missed);
  if (always) {
    cell(report, "");
  } else {
    cell_integer(report, holding->entry.count);
  }
  if (numbers) {
    cell_real(report, holding->entry.sum);
    cell_real(report, holding->entry.squares);
  } else {
    cell(report, "");
    cell(report, "");
  }
  cell_histogram(report, &holding->entry);
  if (durations) {
    uint64_t started = holding->entry.count, stopped = holding->entry.rounds;
    cell_integer(report, started > stopped ? started - stopped : 0);
  } else {
    cell(report, "");
  }
  cell(report, durations ? "ns" : "");
  report->rows++;
  if (report->cells.length > FLUSH_BYTES) flush(report, true);
}

static void add_process(struct report *report, struct sn_program *program,
                        const struct sn_part *part, uint32_t e) {
  struct sn_holding holding;
  if (sn_holding_of(program, part, e, &holding)) add_row(report, part, e, "", &holding);
}

/* One event of one program; the objects that ask it. */
struct objects {
  struct report *report;
  struct sn_program *program;
  const struct sn_part *part;
  uint32_t event;
  uint32_t shown, others;
  struct sn_holding rest;
};

static void add_to_rest(struct sn_holding *rest, const struct sn_holding *holding) {
  struct sn_entry_view *sum = &rest->entry;
  const struct sn_entry_view *entry = &holding->entry;
  rest->modes |= holding->modes;
  rest->counted |= holding->counted;
  sum->missed += entry->missed;
  sum->count += entry->count;
  sum->rounds += entry->rounds;
  sum->sum += entry->sum;
  sum->squares += entry->squares;
  for (unsigned i = 0; entry->has_histogram && i < SN_BUCKETS; i++) {
    sum->buckets[i] += entry->buckets[i];
  }
  sum->has_histogram |= entry->has_histogram;
}

static void add_object(void *context, const struct sn_object_view *object) {
  struct objects *of = context;
  const struct sn_part *part = of->part;
  struct sn_holding holding;
  if (!sn_holding_of_object(of->program, part, of->event, object, &holding)) return;
  if (of->shown++ >= OBJECTS_SHOWN) {
    add_to_rest(&of->rest, &holding);
    of->others++;
    return;
  }
  struct base_buffer name = BASE_BUFFER_EMPTY;
  sn_entity_print(&name, of->program, part, object->type, object->minor, object->epoch);
  add_row(of->report, part, of->event, name.data, &holding);
  base_buffer_done(&name);
}

static void add_objects(struct report *report, struct sn_program *program,
                        const struct sn_part *part, uint32_t e) {
  const struct sn_event_description *event = part->known->events[e].event;
  struct objects objects = {.report = report, .program = program, .part = part, .event = e};
  if (sn_asked_type(event) == NULL || event->assume_enabled) return;
  sn_peer_objects(program->peer, add_object, &objects);
  if (objects.others == 0) return;
  char text[40];
  snprintf(text, sizeof text, "%" PRIu32 " others", objects.others);
  add_row(report, part, e, text, &objects.rest);
}

static void add_program(struct report *report, struct sn_program *program) {
  for (size_t i = 0; i < program->part_count; i++) {
    const struct sn_part *part = &program->parts[i];
    if (part->name == NULL) continue;
    for (uint32_t e = 1; e < part->event_count && e < part->known->event_count; e++) {
      const struct sn_event_description *event = part->known->events[e].event;
      if (event == NULL) continue;
      const char *relation = part->known->events[e].interest->relation;
      if (*report->relation != '\0' && !sn_relation_means(report->relation, relation)) continue;
      add_process(report, program, part, e);
      add_objects(report, program, part, e);
    }
  }
}

bool sn_receptacles_report(struct sn_monitor *monitor,
                           const struct sn_message_read_entry *command) {
  char *what = copy_of(command->what);
  struct report report = {.monitor = monitor,
                          .relation = after(what, "receptacles"),
                          .what = command->what,
                          .request = command->request,
                          .cells = BASE_BUFFER_EMPTY};
  bool meant = report.relation != NULL;
  if (meant) sn_programs_follow(monitor); /* histograms are made when the first value comes */
  for (struct sn_program *program = monitor->programs; meant && program != NULL;
       program = program->next) {
    if (program->state == SN_RUNNING && sn_program_ready(program)) add_program(&report, program);
  }
  if (meant) flush(&report, false);
  base_buffer_done(&report.cells);
  free(what);
  return meant;
}
