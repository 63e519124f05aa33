/* The loop of the monitor: who is served when.
 *
 * Each turn: the server's commands; new programs, rings and descriptions; rings drained, some ms at most; a
 * slice of switching, shorter still; samples that are due; a checkpoint; then everything that has come
 * of it is sent. With something enabled there is a turn every millisecond, since programs wake nobody when
 * they write, and sooner where rings fill in that time; with nothing enabled four a second, for the beats that
 * say that we are there.                                                                             */
#include "sensors/collect/monitor.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"
#include "sensors/collect/system.h"
#include "sensors/collect/whereabouts.h"

#define MS INT64_C(1000000)
static const int64_t DRAIN_NS = 3 * MS, SWITCH_NS = MS / 4, NAP_NS = MS, IDLE_NS = 250 * MS;
static const int64_t SHORT_NAP_NS = MS / 16;
static const int64_t BEAT_NS = 200 * MS, LOSS_NS = 250 * MS, KNOT_NS = 1000 * MS;
static const int64_t LOOK_NS = 2000 * MS, FLUSH_NS = 2000 * MS;

/* Written to by sn_monitor_stop. */
static int stop_notice = -1;

void sn_monitor_stop(void) {
  uint64_t one = 1;
  int error = errno;
  if (write(stop_notice, &one, sizeof one) != (ssize_t)sizeof one) {
    /* It has been said already. */
  }
  errno = error;
}

/* --- beginning */

static bool poll_for(struct sn_monitor *monitor, int file, void *of) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = of};
  return file >= 0 && epoll_ctl(monitor->poll, EPOLL_CTL_ADD, file, &event) == 0;
}

static const char *open_all(struct sn_monitor *monitor) {
  const char *reason = NULL;
  if (!sn_proc_is_ours()) {
    return "/proc is not that of the collector's pid namespace, so no program can be followed";
  }
  monitor->listener = sn_listener_open(monitor->directory, monitor->options.mode, &reason);
  if (monitor->listener == NULL) return reason;
  if (stop_notice < 0) stop_notice = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  monitor->reader = sn_reader_new();
  monitor->poll = epoll_create1(EPOLL_CLOEXEC);
  monitor->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (monitor->reader == NULL || monitor->poll < 0 || monitor->notify < 0 ||
      inotify_add_watch(monitor->notify, monitor->directory, IN_CREATE | IN_MOVED_TO) < 0 ||
      !poll_for(monitor, sn_listener_descriptor(monitor->listener), NULL) ||
      !poll_for(monitor, monitor->notify, NULL) || !poll_for(monitor, stop_notice, monitor) ||
      !poll_for(monitor, sn_reader_descriptor(monitor->reader), NULL) ||
      !sn_uplink_start(monitor)) {
    return "the system gives no descriptors or threads";
  }
  sn_wanted_start(monitor);
  return NULL;
}

struct sn_monitor *sn_monitor_new(const struct sn_monitor_options *options,
                                  const char **ret_reason) {
  struct sn_monitor *monitor = base_xcalloc(1, sizeof *monitor);
  monitor->options = *options;
  monitor->directory = base_xstrdup(options->directory);
  monitor->checkpoint_ns = options->checkpoint_ns;
  monitor->checked = monitor->checked_all = INT64_MIN;
  monitor->said_at = INT64_MIN;
  monitor->nap_ns = NAP_NS;
  monitor->poll = monitor->notify = -1;
  sn_peer_guard(sn_self_holds);
  sn_timeline_start(&monitor->lines[SN_CLOCK_MONOTONIC - 1], SN_CLOCK_MONOTONIC);
  const char *reason = open_all(monitor);
  if (reason == NULL) return monitor;
  sn_monitor_free(monitor);
  *ret_reason = reason;
  return NULL;
}

void sn_monitor_free(struct sn_monitor *monitor) {
  if (monitor == NULL) return;
  sn_wanted_free(monitor);
  sn_programs_free(monitor);
  sn_refusals_looked(monitor, true);
  sn_uplink_free(monitor);
  sn_watches_free(monitor);
  sn_reader_free(monitor->reader);
  sn_known_free(monitor);
  sn_listener_free(monitor->listener);
  if (monitor->poll >= 0) close(monitor->poll);
  if (monitor->notify >= 0) close(monitor->notify);
  base_buffer_done(&monitor->scratch);
  base_buffer_done(&monitor->message);
  free(monitor->values);
  free(monitor->directory);
  free(monitor);
}

/* --- what has happened */

static void read_events(struct sn_monitor *monitor) {
  struct epoll_event events[64];
  int count = epoll_wait(monitor->poll, events, 64, 0);
  for (int i = 0; i < count; i++) {
    if (events[i].data.ptr == monitor) {
      monitor->stopping = true;
    } else if (events[i].data.ptr != NULL) {
      ((struct sn_program *)events[i].data.ptr)->gone = true;
    }
  }
  if (count > 0) sn_programs_notice(monitor);
}

/* --- turns */

static bool is_due(int64_t *at, int64_t now, int64_t every) {
  if (now < *at) return false;
  *at = now + every;
  return true;
}

static void step_lines(struct sn_monitor *monitor) {
  /* As long as nothing has been promised, a clock that is far off is put right at once. */
  bool free = monitor->checked == INT64_MIN;
  for (unsigned i = 0; i < 2; i++) {
    struct sn_timeline *line = &monitor->lines[i];
    if (line->count == 0) continue;
    if (free) line->count = line->last = 0;
    sn_timeline_step(line, monitor->uplink.offset);
  }
  monitor->uplink.stepped = monitor->uplink.offset;
}

static void do_timed(struct sn_monitor *monitor, int64_t now) {
  if (is_due(&monitor->knot_at, now, KNOT_NS)) step_lines(monitor);
  if (is_due(&monitor->look_at, now, LOOK_NS)) sn_programs_look(monitor);
  if (is_due(&monitor->beat_at, now, BEAT_NS)) sn_programs_beat(monitor);
  if (monitor->stale_until != 0 && now > monitor->stale_until) sn_commands_drop_stale(monitor);
  if (is_due(&monitor->loss_at, now, LOSS_NS)) {
    monitor->enabled = false;
    for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
      if (program->state == SN_RUNNING && !sn_uplink_full(monitor)) sn_losses_poll(program);
      if (program->state == SN_RUNNING) monitor->enabled |= program->enabled;
    }
  }
  sn_report_turn(monitor);
}

/* Of rings that fill while nobody looks, who waits for room has to wait, and who does not loses records. */
static void pace(struct sn_monitor *monitor) {
  if (monitor->fullest >= 12) {
    monitor->nap_ns /= 4;
  } else if (monitor->fullest >= 8) {
    monitor->nap_ns /= 2;
  } else if (monitor->fullest < 4) {
    monitor->nap_ns *= 2;
  }
  if (monitor->nap_ns < SHORT_NAP_NS) monitor->nap_ns = SHORT_NAP_NS;
  if (monitor->nap_ns > NAP_NS) monitor->nap_ns = NAP_NS;
  monitor->fullest = 0;
}

/* How long there is nothing to do, in ns. */
static int64_t nap(const struct sn_monitor *monitor, bool more, int64_t sample_at) {
  if (more) return 0;
  int64_t now = base_env_monotonic(), until = now + IDLE_NS;
  bool ending = false, wanted = false;
  for (const struct sn_program *program = monitor->programs; program != NULL;
       program = program->next) {
    ending |= program->state == SN_ENDING && sn_program_ready(program);
    wanted |= program->state == SN_RUNNING && monitor->clocked &&
              (program->scan_wanted || program->ends_wanted);
  }
  if (monitor->enabled || ending || wanted || monitor->end_count > 0) until = now + monitor->nap_ns;
  if (sn_check_is_wanted(monitor) && sn_uplink_is_up(monitor) && monitor->check_at < until) {
    until = monitor->check_at;
  }
  if (sample_at < until) until = sample_at;
  if (monitor->report_soon && sn_uplink_is_up(monitor) && monitor->report_at < until) {
    until = monitor->report_at;
  }
  return until > now ? until - now : 0;
}

static short wait_for(struct sn_monitor *monitor, int64_t ns) {
  struct pollfd files[2] = {{.fd = monitor->poll, .events = POLLIN}};
  int64_t link_ns;
  sn_uplink_poll(monitor, &files[1], &link_ns);
  if (link_ns < ns) ns = link_ns;
  struct timespec time = {ns / 1000000000, ns % 1000000000};
  if (ppoll(files, 2, &time, NULL) <= 0) return 0;
  if (files[0].revents != 0) read_events(monitor);
  return files[1].revents;
}

/* Returns how long to wait until the next one. */
static int64_t turn(struct sn_monitor *monitor, short events) {
  bool more = false;
  monitor->turn++;
  sn_commands_turn(monitor, events);
  sn_known_take(monitor);
  do_timed(monitor, base_env_monotonic());
  sn_programs_adopt(monitor);
  sn_programs_follow(monitor);
  sn_accountant_turn(monitor, DRAIN_NS, &more);
  pace(monitor);
  if (!monitor->stopping) sn_overload_turn(monitor);
  sn_programs_end(monitor);
  if (!monitor->stopping) sn_programs_tell(monitor);
  if (!monitor->stopping) sn_system_turn(monitor);
  bool known = monitor->uplink.clock_known;
  if (known && !monitor->clocked) step_lines(monitor);
  monitor->clocked = known;
  sn_wanted_turn(monitor);
  if (known && !monitor->stopping) more |= sn_switching_slice(monitor, SWITCH_NS);
  int64_t sample_at = monitor->stopping ? INT64_MAX : sn_sampling_turn(monitor);
  if (!monitor->stopping) sn_system_sample(monitor);
  sn_check_turn(monitor);
  sn_commands_turn(monitor, 0);
  return nap(monitor, more, sample_at);
}

/* Everything off; what has been recorded is sent, and waited for a little while. */
static void end(struct sn_monitor *monitor) {
  int64_t until = base_env_monotonic() + FLUSH_NS;
  monitor->stopping = true;
  sn_wanted_turn(monitor); /* nobody puts anything on by himself any more */
  sn_periods_stop(monitor);
  sn_switching_off(monitor);
  for (unsigned i = 0; i < 5; i++) {
    turn(monitor, 0);
    wait_for(monitor, MS);
  }
  sn_periods_stopped(monitor);
  monitor->check_at = 0;
  sn_check_turn(monitor);
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    sn_losses_poll(program);
  }
  sn_put_last_record(sn_uplink_frame(monitor), 0, &(struct sn_message_last_record){0});
  sn_uplink_data(monitor);
  while (!sn_uplink_finish(monitor) && base_env_monotonic() < until) {
    sn_commands_turn(monitor, wait_for(monitor, 10 * MS));
  }
  sn_programs_end(monitor); /* announcements whose account has been acknowledged */
}

void sn_monitor_run(struct sn_monitor *monitor) {
  int64_t wait = 0;
  if (monitor->options.own_sensors) sn_self_start();
  while (!monitor->stopping) wait = turn(monitor, wait_for(monitor, wait));
  end(monitor);
  if (monitor->options.own_sensors) sn_self_stop();
}
