/* What the server is told.
 *
 * The link (sensors/wire/link.h) keeps what is not yet acknowledged and says again after a broken connection
 * what still holds: descriptions, relations, processes, names, rings.                               */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

/* Room for what is not a record: losses, ends, checkpoints. Larger than any message. */
enum { RESERVE = 2 << 20 };
/* A server that takes nothing for so long is as good as away. */
static const int64_t STUCK_NS = INT64_C(5000000000);
/* Records stay in the rings from so much room on, if the buffer is not smaller. */
enum { HOLD = 512 << 10 };

/* --- saying */

static struct sn_outbox *outbox_of(const struct sn_monitor *monitor) {
  return sn_link_outbox(monitor->uplink.link);
}

struct base_buffer *sn_uplink_frame(struct sn_monitor *monitor) {
  return sn_outbox_frame(outbox_of(monitor));
}

bool sn_uplink_data(struct sn_monitor *monitor) {
  return sn_outbox_data(outbox_of(monitor));
}

void sn_uplink_define(struct sn_monitor *monitor, uint64_t id) {
  sn_outbox_define(outbox_of(monitor), id);
}

void sn_uplink_forget(struct sn_monitor *monitor, enum sn_message_type type, uint64_t id) {
  sn_outbox_forget(outbox_of(monitor), type, id);
}

bool sn_uplink_full(const struct sn_monitor *monitor) {
  return sn_outbox_room(outbox_of(monitor)) < RESERVE;
}

bool sn_uplink_holds(const struct sn_monitor *monitor) {
  uint64_t room = sn_outbox_room(outbox_of(monitor)), least = monitor->options.buffer_bytes / 2;
  if (least > HOLD) least = HOLD;
  return room < RESERVE + least && monitor->uplink.up && !monitor->stopping &&
         base_env_monotonic() - monitor->uplink.moved_at < STUCK_NS;
}

bool sn_uplink_tight(const struct sn_monitor *monitor) {
  return sn_outbox_room(outbox_of(monitor)) < RESERVE / 2;
}

uint64_t sn_uplink_last(const struct sn_monitor *monitor) {
  return sn_outbox_last(outbox_of(monitor));
}

uint64_t sn_uplink_durable(const struct sn_monitor *monitor) {
  return sn_outbox_durable(outbox_of(monitor));
}

uint64_t sn_uplink_waiting(const struct sn_monitor *monitor) {
  return monitor->options.buffer_bytes + RESERVE - sn_outbox_room(outbox_of(monitor));
}

bool sn_uplink_is_up(const struct sn_monitor *monitor) {
  return sn_link_is_up(monitor->uplink.link);
}

struct base_buffer *sn_uplink_answer(struct sn_monitor *monitor) {
  struct sn_connection *connection = sn_link_connection(monitor->uplink.link);
  return connection != NULL ? sn_connection_out(connection) : NULL;
}

/* --- names and processes. They end, for the server, when it has all that mentions them. */

static void add_ending(struct sn_monitor *monitor, struct sn_ending ending) {
  ending.number = sn_uplink_last(monitor);
  base_grow(&monitor->endings, &monitor->ending_room, monitor->ending_count + 1,
            sizeof *monitor->endings);
  monitor->endings[monitor->ending_count++] = ending;
}

struct sn_name *sn_name_new(struct sn_monitor *monitor, const char *text) {
  size_t length = strlen(text);
  struct sn_name *name = base_xmalloc(sizeof *name + length + 1);
  *name = (struct sn_name){.id = ++monitor->next_name, .length = (uint32_t)length};
  memcpy(name->text, text, length + 1);
  struct sn_message_name message = {.id = name->id, .name = sn_string_from(text, length)};
  sn_put_name(sn_uplink_frame(monitor), 0, &message);
  sn_uplink_define(monitor, name->id);
  return name;
}

void sn_name_end(struct sn_monitor *monitor, struct sn_name *name) {
  if (name == NULL) return;
  sn_uplink_forget(monitor, SN_WIRE_NAME, name->id);
  add_ending(monitor, (struct sn_ending){.id = name->id});
  free(name);
}

void sn_uplink_process_ends(struct sn_monitor *monitor, uint32_t process, const char *name) {
  sn_uplink_forget(monitor, SN_WIRE_PROCESS, process);
  add_ending(monitor, (struct sn_ending){.id = process, .process = base_xstrdup(name)});
}

static void put_ending(struct base_buffer *out, const struct sn_ending *ending) {
  if (ending->process != NULL) {
    struct sn_message_process message = {.process = ending->id,
                                         .name = sn_string_of(ending->process)};
    sn_put_process(out, 0, &message);
  } else {
    sn_put_new_name(out, 0, &(struct sn_message_new_name){.id = ending->id});
  }
}

/* To the connection that is: a later one is not told of what has ended. */
void sn_uplink_say_endings(struct sn_monitor *monitor) {
  struct base_buffer *out = sn_uplink_answer(monitor);
  uint64_t durable = sn_uplink_durable(monitor), last = sn_uplink_last(monitor);
  size_t kept = 0;
  for (size_t i = 0; i < monitor->ending_count; i++) {
    struct sn_ending *ending = &monitor->endings[i];
    /* Numbers begin anew with another server. */
    if (ending->number > last) ending->number = last;
    if (ending->number > durable) {
      monitor->endings[kept++] = *ending;
      continue;
    }
    if (out != NULL) put_ending(out, ending);
    free(ending->process);
  }
  monitor->ending_count = kept;
}

/* --- the link */

/* Of a directory of announcements there is one collector at a time: this boot of this machine (containers have a
 * kernel in common, copies of machines their names), and the file that the directory is. "" if that cannot
 * be said: then nobody takes our place before we have been away for long. */
static void find_place(struct sn_uplink *uplink, const char *directory) {
  static const char path[] = "/proc/sys/kernel/random/boot_id";
  char boot[64] = "";
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file >= 0 ? read(file, boot, sizeof boot - 1) : -1;
  if (file >= 0) close(file);
  uplink->place[0] = '\0';
  if (length < 36 || stat(directory, &status) != 0) return;
  snprintf(uplink->place, sizeof uplink->place, "%.36s:%llx:%llx", boot,
           (unsigned long long)status.st_dev, (unsigned long long)status.st_ino);
}

bool sn_uplink_start(struct sn_monitor *monitor) {
  const struct sn_monitor_options *options = &monitor->options;
  struct sn_uplink *uplink = &monitor->uplink;
  gethostname(uplink->host, sizeof uplink->host - 1);
  find_place(uplink, options->directory);
  struct sn_link_options link = {.address = options->server,
                                 .role = SN_ROLE_COLLECTOR,
                                 .program = options->program,
                                 .user = options->user,
                                 .token = options->token,
                                 .host = uplink->host,
                                 .directory = uplink->place,
                                 .outbox_bytes = options->buffer_bytes + RESERVE};
  uplink->link = sn_link_new(&link);
  return true;
}

void sn_uplink_poll(const struct sn_monitor *monitor, struct pollfd *ret_poll, int64_t *ret_wait) {
  sn_link_poll(monitor->uplink.link, ret_poll, ret_wait);
}

bool sn_uplink_finish(struct sn_monitor *monitor) {
  return sn_link_finish(monitor->uplink.link, "the collector ends");
}

void sn_uplink_free(struct sn_monitor *monitor) {
  sn_link_free(monitor->uplink.link);
  free(monitor->uplink.told);
  free(monitor->ends);
  for (size_t i = 0; i < monitor->ending_count; i++) free(monitor->endings[i].process);
  free(monitor->endings);
}
