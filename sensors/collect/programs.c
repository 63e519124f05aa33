/* Programs: found by their announcements, named, followed as they grow, and accounted for when they end.
 *
 *     running ──dead, or another program by exec──▶ ending: what it left in its rings is read
 *             ──▶ ended: accounted for; the announcement goes when the server has it all
 *
 * A process has a name for each module (naming.c). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"
#include "sensors/collect/self.h"

enum { PASSES_AT_END = 3 };
static const int64_t LOOK_AT_MAP_NS = INT64_C(2000000000);

/* --- found */

static void watch_process(struct sn_program *program) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = program};
  program->process = (int)syscall(SYS_pidfd_open, sn_peer_identity(program->peer)->pid, 0);
  if (program->process >= 0) {
    epoll_ctl(program->monitor->poll, EPOLL_CTL_ADD, program->process, &event);
  }
}

static bool is_known(const struct sn_monitor *monitor, const char *name) {
  for (const struct sn_program *program = monitor->programs; program != NULL;
       program = program->next) {
    if (strcmp(sn_peer_name(program->peer), name) == 0) return true;
  }
  return false;
}

/* Machines whose cycle counter is of no use have no programs that use it. What was promised by the other line, which
 * may be ahead of a clock that was set back, goes for this one as well. */
static void start_line(struct sn_monitor *monitor, uint32_t clock) {
  struct sn_timeline *line = &monitor->lines[clock - 1], *other = &monitor->lines[2 - clock];
  if (line->count > 0) return;
  sn_timeline_start(line, clock);
  if (monitor->checked != INT64_MIN && other->count > 0) {
    sn_timeline_join(line, other, monitor->uplink.stepped);
    return;
  }
  line->count = line->last = 0; /* it begins where the server's clock is */
  sn_timeline_step(line, monitor->uplink.stepped);
}

/* One that has read our page has been on from its beginning, and has nothing open of a time before us. When we are
 * about to leave, nobody would switch it off again. */
static void attach(struct sn_program *program) {
  struct sn_monitor *monitor = program->monitor;
  struct sn_peer *peer = program->peer;
  const struct sn_identity *identity = sn_peer_identity(peer);
  uint64_t page = monitor->stopping ? 0 : monitor->page.number;
  enum sn_attached how = SN_TAKEN_OVER;
  if (!program->gone) {
    sn_peer_keep_quiet(peer);
    how = sn_peer_attach_page(peer, monitor->options.ring_bytes, page);
  } else if (sn_peer_is_of_page(peer, page)) {
    how = SN_OF_PAGE;
  }
  program->begun = how != SN_TAKEN_OVER;
  program->overload.any = how == SN_TAKEN_OVER; /* by who was there before us */
  program->since_promise = how == SN_TAKEN_OVER;
  if (how != SN_OF_PAGE) return;
  const struct sn_timeline *line = &monitor->lines[identity->clock - 1];
  int64_t announced = sn_timeline_time(line, identity->pair_stamp);
  if (announced < program->losses_at) program->losses_at = announced;
  if (program->gone) return;
  program->enabled = true; /* until a scan knows it better */
  program->enabled_at = base_env_monotonic();
  if (!monitor->enabled) monitor->check_at = 0; /* it was at rest */
  monitor->enabled = true;
}

/* Its user wants rings of a size that there is not. */
static void tell_ring(const struct sn_program *program) {
  const struct sn_monitor_options *options = &program->monitor->options;
  if (!program->gone && sn_peer_ring_refused(program->peer) && options->tell != NULL)
    options->tell(options->context, MSG_RING_SIZE, sn_peer_name(program->peer));
}

static void add(struct sn_monitor *monitor, const char *name) {
  const char *reason;
  if (is_known(monitor, name) || sn_refused(monitor, name)) return;
  struct sn_peer *peer = sn_peer_open(monitor->directory, name, &reason);
  if (peer == NULL) {
    if (reason != NULL) sn_refuse(monitor, name, reason);
    return;
  }
  start_line(monitor, sn_peer_identity(peer)->clock);
  struct sn_program *program = base_xcalloc(1, sizeof *program);
  program->monitor = monitor;
  program->peer = peer;
  program->process = -1;
  program->own = sn_peer_identity(peer)->pid == (uint32_t)getpid();
  sn_naming_begin(program);
  program->seen_alive = program->losses_at = sn_monitor_time(monitor);
  program->looked_at = base_env_monotonic();
  program->scan_wanted = true;
  program->off_last = INT64_MIN;
  program->changes = sn_peer_changes(peer) - 1;
  watch_process(program);
  program->gone = !sn_peer_alive(peer) || !sn_peer_mapped(peer);
  attach(program);
  tell_ring(program);
  program->attached = sn_timeline_stamp(&monitor->lines[SN_CLOCK_MONOTONIC - 1]);
  struct sn_program **link = &monitor->programs;
  while (*link != NULL) link = &(*link)->next;
  *link = program;
}

static void found(void *context, const char *name) {
  add(context, name);
}

void sn_programs_look(struct sn_monitor *monitor) {
  sn_refusals_look(monitor);
  sn_directory_each(monitor->directory, found, monitor);
  sn_refusals_looked(monitor, false);
}

void sn_programs_notice(struct sn_monitor *monitor) {
  union {
    struct inotify_event event;
    char bytes[8192];
  } buffer;
  for (ssize_t got; (got = read(monitor->notify, &buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < got;) {
      const struct inotify_event *event =
          (const struct inotify_event *)(const void *)(buffer.bytes + at);
      if (event->mask & IN_Q_OVERFLOW) monitor->look_at = 0;
      if (event->len > 0 && sn_directory_is_name(event->name)) {
        add(monitor, event->name);
      }
      at += (ssize_t)(sizeof *event + event->len);
    }
  }
}

/* --- named */

static const char *type_name(const struct sn_part *part) {
  const struct sn_type_description *type = sn_known_type(part->known, part->type);
  const struct sn_description *description = part->known->description;
  if (type != NULL && type->is_process) return type->name;
  for (size_t i = 0; i < description->type_count; i++) {
    if (description->types[i].is_process) return description->types[i].name;
  }
  return description->name;
}

static char *text_of(struct sn_program *program, const struct sn_part *part, const char *type) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  sn_naming_give(program);
  base_buffer_printf(&text, "%s:", type);
  if (part->minor != NULL) {
    base_buffer_puts(&text, part->minor);
  } else {
    base_buffer_printf(&text, "%" PRIu32, sn_peer_identity(program->peer)->announced_pid);
  }
  sn_naming_put(&text, program, 0);
  return text.data;
}

static void put_process(struct sn_program *program, const struct sn_part *part,
                        const char *taskforce) {
  struct sn_message_process message = {.process = part->process,
                                       .name = sn_string_from(part->name->text, part->name->length),
                                       .pid = sn_peer_identity(program->peer)->pid,
                                       .taskforce = sn_string_of(taskforce),
                                       .there = true};
  sn_put_process(sn_uplink_frame(program->monitor), 0, &message);
}

static void process_ends(struct sn_program *program, struct sn_part *part) {
  struct sn_monitor *monitor = program->monitor;
  if (part->name == NULL) return;
  sn_tell_part_ends(program, part);
  sn_self_process_ended(part->self);
  part->self = NULL;
  part->told = false;
  sn_uplink_process_ends(monitor, part->process, part->name->text);
  sn_name_end(monitor, part->name);
  part->name = NULL;
}

static void name_part(struct sn_program *program, struct sn_part *part, const char *type,
                      const char *taskforce) {
  struct sn_monitor *monitor = program->monitor;
  char *text = text_of(program, part, type);
  part->name = sn_name_new(monitor, text);
  free(text);
  part->process = ++monitor->next_process;
  put_process(program, part, taskforce);
  sn_uplink_define(monitor, part->process);
  program->scan_wanted = true;
  program->scan_after = 0;
}

/* A name that is one: what would not be is replaced. */
static char *printable(const char *text, uint32_t length) {
  if (length > 200) length = 200;
  char *name = base_xmalloc(length + 1u);
  for (uint32_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)text[i];
    name[i] = byte > 32 && byte < 127 ? (char)byte : '_';
  }
  name[length] = '\0';
  return name;
}

static char *minor_of(const struct sn_module_view *module) {
  if (module->process == NULL || module->process_length == 0) return NULL;
  return printable(module->process, module->process_length);
}

/* One whose description nobody could read before it ended (it came and went while there was no collector, or
 * outlived the last one) has an account all the same: it is called by its task force.             */
static void name_unread(struct sn_program *program) {
  struct sn_module_view module;
  if (program->part_count == 0 || program->parts[0].name != NULL ||
      !sn_peer_module(program->peer, 0, &module)) {
    return;
  }
  struct sn_part *part = &program->parts[0];
  char *taskforce = printable(module.name, module.name_length);
  free(part->minor);
  part->minor = minor_of(&module);
  name_part(program, part, taskforce, taskforce);
  free(taskforce);
}

static bool same_text(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* What it declares itself to be may come after its first records. */
static void follow_name(struct sn_program *program, struct sn_part *part,
                        const struct sn_module_view *module) {
  if (part->known->state != SN_KNOWN_GOOD) return;
  char *minor = minor_of(module);
  bool same = part->type == module->process_type && same_text(part->minor, minor);
  if (same && part->name != NULL) {
    free(minor);
    return;
  }
  free(part->minor);
  part->minor = minor;
  part->type = module->process_type;
  if (part->name != NULL) {
    sn_losses_poll(program);
    for (uint32_t e = 0; e < part->event_count; e++) {
      struct sn_part_event *event = &part->events[e];
      int64_t now = sn_monitor_time(program->monitor);
      sn_periods_process_ended(program, part, e, now, now);
      for (unsigned cause = 0; cause < SN_CAUSES; cause++) {
        event->base[cause] += event->said[cause];
        event->said[cause] = 0;
      }
    }
    process_ends(program, part);
  }
  name_part(program, part, type_name(part), part->known->description->name);
  for (size_t i = 0; i < program->intake_count && part == program->parts; i++) {
    if (program->intakes[i].begun) sn_accountant_define_pipe(program, i);
  }
}

/* --- followed */

static void add_part(struct sn_program *program, const struct sn_module_view *module) {
  program->parts = base_xrealloc(program->parts, program->part_count + 1, sizeof *program->parts);
  struct sn_part *part = &program->parts[program->part_count++];
  *part = (struct sn_part){.index = module->index,
                           .event_count = module->events,
                           .known = sn_known_of(program->monitor, program->peer, module)};
  part->events = base_xcalloc(module->events, sizeof *part->events);
  for (uint32_t e = 0; e < module->events; e++) {
    part->events[e].last_at = part->events[e].off_at = INT64_MIN;
  }
  part->sought = part->known->asked == sn_peer_identity(program->peer)->pid;
  program->scan_wanted = true;
}

/* Of one that lives: that it is no more what announced itself is no news, and who may not be looked at is not seen
 * to be that. */
static void refuse_part(struct sn_program *program, struct sn_part *part) {
  if (part->refused || program->state != SN_RUNNING) return;
  part->refused = true;
  const char *name = sn_peer_name(program->peer);
  if (!sn_peer_alive(program->peer) || !sn_peer_mapped(program->peer)) return;
  if (sn_refused(program->monitor, name)) return;
  sn_refuse(program->monitor, name,
            "the system does not let the collector read the description in it");
}

/* What could not be had from another program, which may have been dead, may be had from this one. */
static void seek_descriptions(struct sn_program *program) {
  struct sn_module_view module;
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    if (part->known->state != SN_KNOWN_BAD) continue;
    if (part->sought) {
      refuse_part(program, part);
      continue;
    }
    if (!sn_peer_module(program->peer, i, &module)) continue;
    part->known = sn_known_of(program->monitor, program->peer, &module);
    part->sought = true;
  }
}

static void follow_parts(struct sn_program *program) {
  struct sn_module_view module;
  while (program->part_count < sn_peer_modules(program->peer)) {
    if (!sn_peer_module(program->peer, program->part_count, &module)) return;
    add_part(program, &module);
  }
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    if (!sn_peer_module(program->peer, i, &module)) continue;
    part->closed = module.closed;
    follow_name(program, part, &module);
  }
}

static void follow_pipes(struct sn_program *program) {
  size_t count = sn_peer_pipes(program->peer);
  if (count == program->intake_count) return;
  const char *name = sn_peer_name(program->peer);
  program->intakes = base_xrealloc(program->intakes, count, sizeof *program->intakes);
  for (size_t i = program->intake_count; i < count; i++) {
    struct sn_pipe_view view;
    sn_pipe_view(program->peer, i, &view);
    uint64_t id = base_hash(name, strlen(name), view.slot ^ program->seal);
    program->intakes[i] = (struct sn_intake){.id = id != 0 ? id : 1, .complete_at = INT64_MIN};
  }
  program->intake_count = count;
}

static void look_whether_alive(struct sn_program *program, int64_t now) {
  if (sn_peer_broken(program->peer)) program->gone = true;
  if (program->gone || now < program->looked_at + LOOK_AT_MAP_NS) return;
  program->looked_at = now;
  if (program->process < 0 && !sn_peer_alive(program->peer)) program->gone = true;
  if (!program->gone && !sn_peer_mapped(program->peer)) program->gone = true;
}

/* Most of the time nothing has changed; others may have updated the peer meanwhile. */
static void follow(struct sn_program *program) {
  uint32_t changes = sn_peer_changes(program->peer);
  bool changed = changes != program->changes;
  program->changes = changes;
  sn_peer_update(program->peer);
  if (changed) {
    program->scan_wanted = true;
    program->enabled_at = base_env_monotonic(); /* a module that it has loaded may have begun */
  }
  seek_descriptions(program);
  if (changed || program->part_count < sn_peer_modules(program->peer) ||
      !sn_program_ready(program)) {
    follow_parts(program);
  }
  follow_pipes(program);
}

void sn_programs_follow(struct sn_monitor *monitor) {
  int64_t now = base_env_monotonic();
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (program->state == SN_ENDED) continue;
    follow(program);
    if (program->state != SN_RUNNING) continue;
    look_whether_alive(program, now);
    if (program->gone) {
      program->state = SN_ENDING;
      if (program->process >= 0) close(program->process); /* and so it is polled no more */
      program->process = -1;
    }
  }
}

void sn_programs_beat(struct sn_monitor *monitor) {
  uint64_t now = (uint64_t)base_env_monotonic();
  int64_t time = sn_monitor_time(monitor);
  sn_wanted_beat(monitor, now);
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (program->state != SN_RUNNING || program->gone) continue;
    sn_peer_beat(program->peer, now);
    program->seen_alive = time;
  }
}

/* --- SensorProcess */

/* Who is there is told when somebody begins to ask, and of those that come later at once. */
static void tell_part(const struct sn_program *program, struct sn_part *part) {
  bool there = part->name != NULL && part->known->state == SN_KNOWN_GOOD;
  if (!there || program->state != SN_RUNNING) return;
  if (part->self == NULL) part->self = sn_self_process(part->process);
  bool tells = sn_self_tells(part->self);
  if (tells && !part->told) {
    sn_self_tell(part->self, part->name->text, part->known->description->name,
                 sn_peer_identity(program->peer)->pid);
  }
  part->told = tells;
}

void sn_programs_tell(struct sn_monitor *monitor) {
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (!sn_program_ready(program)) continue;
    for (size_t i = 0; i < program->part_count; i++) tell_part(program, &program->parts[i]);
  }
}

/* Rings come from programs that may not have been found yet. */
void sn_programs_adopt(struct sn_monitor *monitor) {
  struct sn_handover handover;
  uint32_t uid;
  const char *reason;
  for (int file; (file = sn_listener_next(monitor->listener, &handover, &uid)) >= 0;) {
    add(monitor, handover.announcement);
    struct sn_program *program = monitor->programs;
    while (program != NULL && strcmp(sn_peer_name(program->peer), handover.announcement) != 0) {
      program = program->next;
    }
    bool good = program != NULL && program->state != SN_ENDED &&
                (uid == sn_peer_identity(program->peer)->uid || uid == 0);
    if (!good) {
      close(file);
      continue;
    }
    sn_peer_adopt(program->peer, &handover, file, &reason);
  }
}

/* --- ended */

static void end_periods(struct sn_program *program) {
  const struct sn_monitor *monitor = program->monitor;
  int64_t now = sn_monitor_time(monitor), lo = program->seen_alive;
  const struct sn_timeline *line = &monitor->lines[sn_peer_identity(program->peer)->clock - 1];
  if (!program->begun) sn_periods_begin(program);
  if (monitor->checked > lo) lo = monitor->checked;
  for (size_t i = 0; i < program->intake_count; i++) {
    uint64_t stamp = program->intakes[i].last_stamp;
    int64_t last = stamp != 0 ? sn_timeline_time(line, stamp) + 1 : INT64_MIN;
    if (last > lo) lo = last;
  }
  if (now < lo) now = lo;
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 0; part->name != NULL && e < part->event_count; e++) {
      sn_periods_process_ended(program, part, e, lo, now);
    }
  }
}

/* Rings that nobody took still say how far they were read. */
static void say_pipes(struct sn_program *program) {
  for (size_t i = 0; i < program->intake_count; i++) {
    struct sn_pipe_view view;
    sn_pipe_view(program->peer, i, &view);
    if (view.released > 0) sn_accountant_pipe(program, i);
  }
}

/* Somebody has cut its announcement. */
static void give_up(struct sn_program *program) {
  const struct sn_monitor_options *options = &program->monitor->options;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  sn_losses_cut(program);
  base_buffer_printf(&text, "%s%s", sn_peer_name(program->peer),
                     program->own ? ", which is the collector's own," : "");
  if (options->tell != NULL) options->tell(options->context, MSG_ANNOUNCEMENT_CUT, text.data);
  base_buffer_done(&text);
}

static void account(struct sn_program *program) {
  struct sn_monitor *monitor = program->monitor;
  bool broken = sn_peer_broken(program->peer);
  bool named = program->part_count > 0 && program->parts[0].name != NULL;
  if (named && !broken) sn_losses_final(program);
  if (broken) give_up(program);
  end_periods(program);
  sn_entities_sweep(program, true);
  if (!named && !broken && !program->blank) {
    name_unread(program);
    sn_losses_final(program);
  }
  if (program->part_count > 0 && program->parts[0].name != NULL && !broken) say_pipes(program);
  program->state = SN_ENDED;
  /* Pipes name their process: on each connection they are to be forgotten no later than that. */
  for (size_t i = 0; i < program->intake_count; i++) {
    if (program->intakes[i].begun) sn_uplink_forget(monitor, SN_WIRE_PIPE, program->intakes[i].id);
  }
  sn_put_last_record(sn_uplink_frame(monitor), 0, &(struct sn_message_last_record){0});
  sn_uplink_data(monitor);
  program->ended_number = sn_uplink_last(monitor);
  for (size_t i = 0; i < program->part_count; i++) process_ends(program, &program->parts[i]);
}

static void program_free(struct sn_program *program) {
  for (size_t i = 0; i < program->part_count; i++) {
    for (uint32_t e = 0; e < program->parts[i].event_count; e++) {
      sn_watch_list_free(program->parts[i].events[e].once_for);
      sn_watch_list_free(program->parts[i].events[e].once_for_now);
    }
    free(program->parts[i].events);
    free(program->parts[i].minor);
    free(program->parts[i].name);
  }
  if (program->process >= 0) close(program->process);
  sn_entities_free(program);
  sn_peer_free(program->peer);
  free(program->parts);
  free(program->intakes);
  free(program);
}

/* Whether nothing of it concerns anybody: no record of it was ever made. */
static bool is_blank(const struct sn_program *program) {
  struct sn_account sum;
  if (sn_peer_broken(program->peer)) return true;
  sn_peer_account(program->peer, true, &sum);
  return sum.generated == 0;
}

/* The server has all that there was to say of it; numbers begin anew with another server. */
static bool is_settled(struct sn_program *program) {
  const struct sn_monitor *monitor = program->monitor;
  uint64_t last = sn_uplink_last(monitor);
  if (program->ended_number > last) program->ended_number = last;
  return program->blank || program->ended_number <= sn_uplink_durable(monitor);
}

void sn_programs_end(struct sn_monitor *monitor) {
  for (struct sn_program **link = &monitor->programs; *link != NULL;) {
    struct sn_program *program = *link;
    if (program->state == SN_ENDING && sn_program_ready(program) && !sn_uplink_tight(monitor) &&
        !sn_uplink_holds(monitor)) {
      uint64_t drained = sn_accountant_drain(program, UINT32_MAX);
      program->quiet_turns = drained > 0 ? 0 : program->quiet_turns + 1;
      if (program->quiet_turns >= PASSES_AT_END) {
        program->blank = is_blank(program);
        account(program);
      }
    }
    if (program->state == SN_ENDED && is_settled(program)) {
      *link = program->next;
      sn_peer_remove(program->peer);
      program_free(program);
    } else {
      link = &program->next;
    }
  }
}

void sn_programs_free(struct sn_monitor *monitor) {
  for (struct sn_program *program = monitor->programs, *next; program != NULL; program = next) {
    next = program->next;
    program_free(program);
  }
}
