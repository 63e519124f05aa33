/* A fuzz target for the protocol: any bytes as messages, as what comes over a connection to the server or to
 * a client, and as a history of an outbox.
 *
 *   ./dev fuzz wire
 *
 * The first byte says which. What holds: whatever is read as a message gives the same bytes when it is
 * written; records stay within their message; a connection gives messages or ends with a reason, in
 * whatever pieces the bytes come; an outbox keeps its bounds, and gives every number in order.
 *
 * Connections are of pipes in memory: this file has the functions for sockets that they call, of descriptors
 * that the system does not have. So a run asks the system for nothing, and there can be many. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "sensors/wire/outbox.h"
#include "sensors/wire/records.h"
#include "sensors/wire/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- sockets: two ends, each with the bytes that wait to be received there */

enum { NEAR = 1 << 20, FAR, HOLDS = 200000 };

static struct {
  unsigned char bytes[HOLDS];
  size_t from, to;
  bool closed;
} ends[2];

static void connect_ends(void) {
  for (int i = 0; i < 2; i++) {
    ends[i].from = ends[i].to = 0;
    ends[i].closed = false;
  }
}

ssize_t send(int descriptor, const void *bytes, size_t length, int flags) {
  (void)flags;
  int other = descriptor == NEAR ? 1 : 0;
  BASE_CHECK(descriptor == NEAR || descriptor == FAR, "fuzz-send");
  if (ends[other].closed) return errno = EPIPE, -1;
  size_t room = HOLDS - ends[other].to;
  if (length > room) length = room;
  if (length == 0) return errno = EAGAIN, -1;
  memcpy(ends[other].bytes + ends[other].to, bytes, length);
  ends[other].to += length;
  return (ssize_t)length;
}

ssize_t recv(int descriptor, void *bytes, size_t room, int flags) {
  (void)flags;
  int own = descriptor == NEAR ? 0 : 1;
  BASE_CHECK(descriptor == NEAR || descriptor == FAR, "fuzz-receive");
  size_t length = ends[own].to - ends[own].from;
  if (length == 0 && ends[!own].closed) return 0;
  if (length == 0) return errno = EAGAIN, -1;
  if (length > room) length = room;
  memcpy(bytes, ends[own].bytes + ends[own].from, length);
  ends[own].from += length;
  if (ends[own].from == ends[own].to) ends[own].from = ends[own].to = 0;
  return (ssize_t)length;
}

int shutdown(int descriptor, int how) {
  (void)how;
  ends[descriptor == NEAR ? 0 : 1].closed = true;
  return 0;
}

int getsockopt(int descriptor, int level, int name, void *value, socklen_t *length) {
  (void)descriptor, (void)level, (void)name, (void)value, (void)length;
  return errno = EBADF, -1;
}

/* --- messages */

static void check_same(const struct base_buffer *out, const struct sn_message *message) {
  BASE_CHECK(out->length == SN_FRAME_HEAD + (size_t)message->length, "fuzz-same-length");
  BASE_CHECK(memcmp(out->data + SN_FRAME_HEAD, message->body, message->length) == 0, "fuzz-same");
}

static void check_string(const struct sn_message *message, struct sn_string string) {
  const unsigned char *at = (const unsigned char *)string.bytes;
  if (string.length == 0) return;
  BASE_CHECK(at >= message->body && at + string.length <= message->body + message->length,
             "fuzz-string-within");
}

static void check_records(const struct sn_message *message) {
  struct sn_message_event_record event;
  struct sn_records records;
  struct sn_record_head head;
  struct sn_datum values[13];
  static const uint8_t types[13] = {1, 4, 5, 2, 3, 6, 1, 4, 4, 4, 1, 6, 3};
  if (!sn_get_event_record(message, &event)) return;
  sn_records_start(&records, &event);
  uint64_t before = event.sequence;
  for (uint32_t count = 0; sn_records_next(&records, &head); count++) {
    BASE_CHECK(count < event.count, "fuzz-record-count");
    BASE_CHECK(records.sequence >= before, "fuzz-sequence");
    BASE_CHECK(head.start_lo <= head.start_hi && head.stop_lo <= head.stop_hi, "fuzz-bounds");
    before = records.sequence;
    uint32_t domains = head.relation % 14;
    if (!sn_records_values(&records, &head, types, domains, values)) break;
    if ((head.marks & (SN_MARK_SKIPPED | SN_MARK_ROUND)) != 0) continue;
    for (uint32_t i = 0; i < domains; i++)
      if (types[i] >= SN_DOMAIN_STRING && values[i].given) check_string(message, values[i].text);
  }
  (void)sn_records_good(&records);
}

static void check_lists(const struct sn_message *message) {
  struct sn_message_adjust_object adjust;
  struct sn_message_relation_info info;
  struct sn_watched_object object;
  struct sn_domain domain;
  struct sn_reading reading;
  if (sn_get_adjust_object(message, &adjust)) {
    reading = sn_reading_from(adjust.objects);
    for (uint32_t i = 0; i < adjust.count && sn_get_object(&reading, &object); i++)
      check_string(message, object.domain);
  }
  if (sn_get_relation_info(message, &info)) {
    reading = sn_reading_from(info.domains);
    for (uint32_t i = 0; i < info.count && sn_get_domain(&reading, &domain); i++)
      check_string(message, domain.name);
  }
}

static void check_message(const struct sn_message *message) {
  static struct base_buffer out;
#define MESSAGE(NUMBER, NAME, LOWER, FROM)                   \
  {                                                          \
    struct sn_message_##LOWER one;                           \
    base_buffer_clear(&out);                                 \
    if (sn_get_##LOWER(message, &one)) {                     \
      BASE_CHECK(sn_put_##LOWER(&out, 0, &one), "fuzz-put"); \
      check_same(&out, message);                             \
    }
#define FIELD(KIND, LOWER)
#define AT_MOST(LOWER, LARGEST)
#define COUNTED(REST, COUNT, LEAST)
#define END(LOWER) }
#include "sensors/wire/messages.def"
  check_records(message);
  check_lists(message);
}

static void as_message(const uint8_t *data, size_t size) {
  if (size < 1) return;
  /* A copy of its own, so that a look behind its end is seen. */
  unsigned char *body = base_xmalloc(size);
  memcpy(body, data + 1, size - 1);
  struct sn_message message = {.type = data[0], .body = body, .length = (uint32_t)size - 1};
  check_message(&message);
  free(body);
}

/* --- connections: pieces of a length that the first byte says */

static void as_connection(const uint8_t *data, size_t size, bool server) {
  if (size < 1 || size > 60000) return; /* what the ends hold for sure */
  connect_ends();
  struct sn_connection *connection = sn_connection_adopt(NEAR, server);
  size_t piece = data[0] == 0 ? size : data[0];
  struct sn_message message;
  bool there = true;
  for (size_t at = 1; at < size && there; at += piece) {
    size_t length = size - at < piece ? size - at : piece;
    if (send(FAR, data + at, length, 0) != (ssize_t)length) break;
    there = sn_connection_pump(connection, 0);
    while (sn_connection_next(connection, &message)) {
      BASE_CHECK(sn_connection_greeted(connection), "fuzz-greeted-first");
      check_message(&message);
    }
    (void)sn_connection_events(connection);
  }
  ends[1].closed = true;
  for (int i = 0; there; i++) {
    BASE_CHECK(i < 100, "fuzz-ends");
    while (sn_connection_next(connection, &message)) check_message(&message);
    there = sn_connection_pump(connection, 0);
  }
  while (sn_connection_next(connection, &message)) check_message(&message);
  BASE_CHECK(sn_connection_reason(connection) != NULL, "fuzz-reason");
  sn_connection_free(connection);
}

/* --- outboxes: a byte is what is done, the next one with what */

struct history {
  struct sn_outbox *outbox;
  struct sn_connection *connection;
  uint64_t number; /* the last one that came out */
};

static void receive_all(struct history *history) {
  unsigned char bytes[4096];
  static struct base_buffer came;
  sn_connection_pump(history->connection, 0);
  ssize_t got;
  while ((got = recv(FAR, bytes, sizeof bytes, 0)) > 0)
    base_buffer_append(&came, bytes, (size_t)got);
  size_t at = 0;
  while (came.length - at >= SN_FRAME_HEAD) {
    struct sn_message head = {.body = (unsigned char *)came.data + at, .length = SN_FRAME_HEAD};
    struct sn_reading reading = sn_reading_of(&head);
    uint32_t length = sn_get_u32(&reading);
    sn_get_u32(&reading);
    uint64_t number = sn_get_u64(&reading);
    if (came.length - at - SN_FRAME_HEAD < length) break;
    at += SN_FRAME_HEAD + length;
    if (number == 0) continue;
    BASE_CHECK(number == history->number + 1, "fuzz-number-order");
    history->number = number;
  }
  BASE_CHECK(at == came.length, "fuzz-whole-frames");
  base_buffer_clear(&came);
}

static void act(struct history *history, uint8_t what, uint8_t with) {
  struct sn_outbox *outbox = history->outbox;
  struct sn_message_check check = {.relation = with};
  struct sn_message_name name = {.id = with, .name = {"name", with % 5u}};
  uint64_t upto = sn_outbox_durable(outbox) + with % 8u - 1;
  switch (what % 7) {
    case 0:
    case 1:
      sn_put_check(sn_outbox_frame(outbox), 0, &check);
      sn_outbox_data(outbox);
      break;
    case 2:
      sn_put_name(sn_outbox_frame(outbox), 0, &name);
      sn_outbox_define(outbox, with);
      break;
    case 3:
      sn_outbox_forget(outbox, SN_WIRE_NAME, with);
      break;
    case 4:
      sn_outbox_send(outbox, history->connection);
      receive_all(history);
      break;
    case 5:
      receive_all(history);
      /* What an earlier connection has brought there need not be sent again. */
      if (sn_outbox_acknowledged(outbox, upto, with) && upto > history->number)
        history->number = upto;
      break;
    default:
      receive_all(history);
      if (sn_outbox_welcome(outbox, upto, with)) {
        history->number = upto;
      } else if (with % 2) {
        sn_outbox_restart(outbox);
        history->number = 0;
      }
  }
  BASE_CHECK(sn_outbox_durable(outbox) <= sn_outbox_last(outbox), "fuzz-outbox-durable");
  BASE_CHECK(sn_outbox_room(outbox) <= 1000, "fuzz-outbox-room");
}

static void as_history(const uint8_t *data, size_t size) {
  connect_ends();
  struct history history = {.outbox = sn_outbox_new(1000),
                            .connection = sn_connection_adopt(NEAR, false)};
  for (size_t i = 0; i + 1 < size && i < 2000; i += 2) act(&history, data[i], data[i + 1]);
  /* With credit enough everything comes out. */
  if (sn_outbox_welcome(history.outbox, sn_outbox_durable(history.outbox), UINT32_MAX)) {
    receive_all(&history);
    history.number = sn_outbox_durable(history.outbox);
    sn_outbox_send(history.outbox, history.connection);
    receive_all(&history);
    BASE_CHECK(history.number == sn_outbox_last(history.outbox), "fuzz-outbox-all");
  }
  sn_connection_free(history.connection);
  sn_outbox_free(history.outbox);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  switch (data[0] % 4) {
    case 0:
      as_message(data + 1, size - 1);
      break;
    case 1:
      as_connection(data + 1, size - 1, true);
      break;
    case 2:
      as_connection(data + 1, size - 1, false);
      break;
    default:
      as_history(data + 1, size - 1);
  }
  return 0;
}
