/* The server's commands, and what it means that the connection is another one, or none.
 *
 * Watches are the connection's: those of the one before hold until the new one has said what it wants, and then are gone. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

/* How long after a welcome the watches of the connection before hold, if no END comes. */
static const int64_t STALE_NS = INT64_C(3000000000);
/* How long what was switched on by hand stays on for a server that is away. */
static const int64_t GONE_NS = INT64_C(60000000000);
/* Checkpoints more often than that are made of nothing. */
static const int64_t LEAST_NS = INT64_C(100000);
/* Who is let in and sent away again and again says why no more often. */
static const int64_t TOLD_NS = INT64_C(60000000000);

/* --- one command */

void sn_commands_drop_stale(struct sn_monitor *monitor) {
  sn_watches_drop_stale(monitor);
  sn_counts_drop_stale(monitor);
  sn_switching_want(monitor);
}

static bool adjust(struct sn_monitor *monitor, const struct sn_message_adjust_object *command) {
  if (!sn_watch_adjust(monitor, command)) return false;
  sn_switching_want(monitor);
  return true;
}

static void add_end(struct sn_monitor *monitor, uint32_t packet) {
  sn_commands_drop_stale(monitor); /* the server has said all that it wants */
  base_grow(&monitor->ends, &monitor->end_room, monitor->end_count + 1, sizeof *monitor->ends);
  monitor->ends[monitor->end_count].packet = packet;
  monitor->ends[monitor->end_count++].commands = monitor->commands;
}

static void set_checkpoint(struct sn_monitor *monitor, int64_t interval) {
  if (interval > 0) monitor->checkpoint_ns = interval < LEAST_NS ? LEAST_NS : interval;
  monitor->check_at = 0;
}

/* false: it makes no sense. What is not for us (an error that the server found) is passed over. */
static bool take(struct sn_monitor *monitor, const struct sn_message *message) {
  union {
    struct sn_message_adjust_object adjust;
    struct sn_message_checkpoint checkpoint;
    struct sn_message_read_entry read;
    struct sn_message_write_entry write;
    struct sn_message_end end;
  } as;
  switch (message->type) {
    case SN_WIRE_ADJUST_OBJECT:
      sn_self_command("adjust object");
      return sn_get_adjust_object(message, &as.adjust) && adjust(monitor, &as.adjust);
    case SN_WIRE_CHECKPOINT:
      sn_self_command("checkpoint");
      if (!sn_get_checkpoint(message, &as.checkpoint)) return false;
      set_checkpoint(monitor, as.checkpoint.interval);
      return true;
    case SN_WIRE_READ_ENTRY:
      sn_self_command("read entry");
      if (!sn_get_read_entry(message, &as.read)) return false;
      if (sn_string_is(as.read.what, "sensors")) sn_report_all(monitor, as.read.request);
      (void)sn_receptacles_report(monitor, &as.read);
      return true;
    case SN_WIRE_WRITE_ENTRY:
      sn_self_command("write entry");
      return sn_get_write_entry(message, &as.write) && sn_entry_write(monitor, &as.write);
    case SN_WIRE_END:
      if (!sn_get_end(message, &as.end)) return false;
      add_end(monitor, as.end.packet);
      return true;
    default:
      return true;
  }
}

/* Packets of commands that have been executed everywhere. */
static void answer_ends(struct sn_monitor *monitor) {
  struct base_buffer *out = sn_uplink_answer(monitor);
  uint64_t done = monitor->commands;
  if (out == NULL || monitor->end_count == 0) return;
  if (monitor->page.commands < done) done = monitor->page.commands;
  for (const struct sn_program *program = monitor->programs; program != NULL;
       program = program->next) {
    bool counts = program->state == SN_RUNNING && sn_program_ready(program);
    if (counts && program->scanned < done) done = program->scanned;
  }
  size_t kept = 0;
  for (size_t i = 0; i < monitor->end_count; i++) {
    if (monitor->ends[i].commands > done) {
      monitor->ends[kept++] = monitor->ends[i];
    } else {
      sn_put_acknowledge(out, 0, &(struct sn_message_acknowledge){.upto = monitor->ends[i].packet});
    }
  }
  monitor->end_count = kept;
}

/* --- the connection */

/* Who is told why he may not come in, says so; that nobody is there is no news. */
static void tell(struct sn_monitor *monitor) {
  struct sn_uplink *uplink = &monitor->uplink;
  const char *reason = sn_link_reason(uplink->link);
  if (reason == NULL || sn_link_diagnostic(uplink->link) == 0) return;
  int64_t now = base_env_monotonic();
  bool same = uplink->told != NULL && strcmp(uplink->told, reason) == 0;
  if (same && (!uplink->let_in || now < uplink->told_at + TOLD_NS)) return;
  uplink->told_at = now;
  uplink->let_in = false;
  free(uplink->told);
  uplink->told = base_xstrdup(reason);
  if (monitor->options.tell != NULL) {
    monitor->options.tell(monitor->options.context, MSG_COLLECTOR_REFUSED, reason);
  }
}

static void look_at_clock(struct sn_uplink *uplink) {
  const struct sn_connection *connection = sn_link_connection(uplink->link);
  if (connection == NULL) return;
  int64_t offset = 0, error = 0;
  bool known =
      sn_connection_is_local(connection) || sn_connection_clock(connection, &offset, &error);
  if (!known) return;
  uplink->clock_known = true;
  uplink->offset = offset;
  uplink->error = error;
}

/* The connection is another one, or none. */
static void look_at_link(struct sn_monitor *monitor) {
  struct sn_uplink *uplink = &monitor->uplink;
  bool up = sn_link_is_up(uplink->link);
  uint64_t welcomes = sn_link_welcomes(uplink->link);
  if (uplink->up && (!up || welcomes != uplink->welcomes)) {
    sn_watches_stale(monitor);
    monitor->end_count = 0;
    uplink->down_at = base_env_monotonic();
  }
  if (up && welcomes != uplink->welcomes) {
    uplink->welcomes = welcomes;
    uplink->down_at = 0;
    uplink->let_in = true;
    monitor->stale_until = base_env_monotonic() + STALE_NS;
    monitor->checkpoint_ns = monitor->options.checkpoint_ns; /* until this server says */
    monitor->unpromised = true;
    sn_report_all(monitor, 0);
  }
  uint64_t durable = sn_uplink_durable(monitor);
  if (uplink->durable != durable || durable == sn_uplink_last(monitor) || !up) {
    uplink->durable = durable;
    uplink->moved_at = base_env_monotonic();
  }
  uplink->up = up;
  if (!up && uplink->down_at != 0 && base_env_monotonic() - uplink->down_at > GONE_NS) {
    sn_counts_drop_stale(monitor); /* what one server's users have said is no other's */
    uplink->down_at = 0;
  }
  if (!up) tell(monitor);
}

void sn_commands_turn(struct sn_monitor *monitor, short events) {
  struct sn_uplink *uplink = &monitor->uplink;
  struct sn_message message;
  sn_link_turn(uplink->link, events);
  while (sn_link_next(uplink->link, &message)) {
    look_at_link(monitor); /* the commands are those of this connection */
    if (take(monitor, &message)) continue;
    struct sn_connection *connection = sn_link_connection(uplink->link);
    if (connection != NULL) sn_connection_goodbye(connection, 0, "a message that makes no sense");
  }
  look_at_link(monitor);
  look_at_clock(uplink);
  answer_ends(monitor);
  sn_uplink_say_endings(monitor);
}
