/* Benchmark: records by the protocol (sensors/wire) from one process to another over a unix socket, against
 * the same bytes written and read without any of it, in the same run.
 *
 *     wire_bench [RUNS]
 *
 * The sender writes heads and values of records into messages of some 32 KiB and keeps them in an outbox, as a
 * collector does; the receiver acknowledges, reads all values and adds them up. Three payloads: an integer;
 * two integers and a text of 15 characters; the same with the text sent once. Encoding and decoding are also
 * timed alone, as processor time. Figures are medians over the runs. Fails if the sums differ.       */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "sensors/wire/outbox.h"
#include "sensors/wire/records.h"
#include "sensors/wire/transport.h"

enum { RECORDS = 5000000, MESSAGE_BYTES = 32000, SHAPES = 3, RUNS_MAX = 99, CREDIT = 64 };
enum { CHUNK = 256 * 1024 };

static const struct shape {
  const char *name;
  uint32_t domains;
  uint8_t types[3];
  bool by_id;
} shapes[SHAPES] = {{"an integer", 1, {SN_DOMAIN_INTEGER}, false},
                    {"two integers, 15 characters",
                     3,
                     {SN_DOMAIN_INTEGER, SN_DOMAIN_INTEGER, SN_DOMAIN_STRING},
                     false},
                    {"two integers, a text by its id",
                     3,
                     {SN_DOMAIN_INTEGER, SN_DOMAIN_INTEGER, SN_DOMAIN_STRING},
                     true}};

static double clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "wire_bench: %s\n", what);
  exit(1);
}

/* --- encoding and decoding */

static void put_record(struct base_buffer *out, const struct shape *shape, uint64_t i) {
  struct sn_record_head head = {
      .marks = SN_MARK_DEFINITE, .start_lo = (int64_t)i * 100, .start_hi = (int64_t)i * 100};
  sn_put_record_head(out, &head);
  sn_put_i64(out, (int64_t)i);
  if (shape->domains == 1) return;
  sn_put_i64(out, (int64_t)i * 2);
  if (shape->by_id) {
    sn_put_name_id(out, (uint32_t)(i % 100));
  } else {
    sn_put_string(out, (struct sn_string){"fifteen letters", 15});
  }
}

/* One message with records from NEXT on; how many. */
static uint32_t put_message(struct base_buffer *out, const struct shape *shape, uint64_t next) {
  struct sn_message_event_record event = {.relation = 1, .pipe = 1, .sequence = next};
  size_t at = sn_begin_event_record(out, 0, &event);
  uint32_t count = 0;
  while (next + count < RECORDS && out->length - at < MESSAGE_BYTES)
    put_record(out, shape, next + count++);
  if (!sn_event_record_end(out, at, count)) fail("a message is too long");
  return count;
}

/* Adds up what is in MESSAGE; returns the number of its records. */
static uint64_t take_message(const struct sn_message *message, const struct shape *shape,
                             uint64_t *sum) {
  struct sn_message_event_record event;
  struct sn_records records;
  struct sn_record_head head;
  struct sn_datum values[3];
  uint64_t count = 0;
  if (!sn_get_event_record(message, &event)) fail("a message is none");
  sn_records_start(&records, &event);
  for (; sn_records_next(&records, &head); count++) {
    if (!sn_records_values(&records, &head, shape->types, shape->domains, values)) break;
    *sum += (uint64_t)values[0].integer + (uint64_t)head.start_lo;
    if (shape->domains == 3) *sum += (uint64_t)values[1].integer + values[2].id;
  }
  if (!sn_records_good(&records)) fail("records are none");
  return count;
}

static uint64_t expected_sum(const struct shape *shape) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < RECORDS; i++)
    sum += 101 * i + (shape->domains == 3 ? 2 * i + (shape->by_id ? i % 100 : 0) : 0);
  return sum;
}

/* Nanoseconds of processor time a record. */
static void time_alone(const struct shape *shape, double *ret_encode, double *ret_decode) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  uint64_t next = 0, sum = 0;
  double start = clock_ns(CLOCK_PROCESS_CPUTIME_ID), spent = 0;
  while (next < RECORDS) {
    base_buffer_clear(&out);
    next += put_message(&out, shape, next);
    double before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    struct sn_message message = {.type = SN_WIRE_EVENT_RECORD,
                                 .body = (unsigned char *)out.data + SN_FRAME_HEAD,
                                 .length = (uint32_t)(out.length - SN_FRAME_HEAD)};
    take_message(&message, shape, &sum);
    spent += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before;
  }
  if (sum != expected_sum(shape)) fail("the sums differ");
  *ret_encode = (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start - spent) / RECORDS;
  *ret_decode = spent / RECORDS;
  base_buffer_done(&out);
}

/* --- from process to process */

static void wait_for(struct sn_connection *connection) {
  struct pollfd one = {.fd = sn_connection_descriptor(connection),
                       .events = sn_connection_events(connection)};
  if (poll(&one, 1, 10000) <= 0) fail("nothing happens");
}

/* The child: all records, as fast as they are acknowledged. */
static void send_all(int socket, const struct shape *shape) {
  struct sn_connection *connection = sn_connection_adopt(socket, false);
  struct sn_outbox *outbox = sn_outbox_new(4 * 1024 * 1024);
  struct sn_message_hello hello = {.version = SN_WIRE_VERSION, .role = SN_ROLE_COLLECTOR};
  struct sn_message message;
  struct sn_message_welcome welcome;
  struct sn_message_acknowledge acknowledge;
  uint64_t next = 0;
  sn_put_hello(sn_connection_out(connection), 0, &hello);
  while (next < RECORDS || sn_outbox_durable(outbox) < sn_outbox_last(outbox)) {
    while (next < RECORDS && sn_outbox_room(outbox) > 2 * MESSAGE_BYTES) {
      next += put_message(sn_outbox_frame(outbox), shape, next);
      if (!sn_outbox_data(outbox)) fail("the outbox has no room");
    }
    if (sn_connection_greeted(connection)) sn_outbox_send(outbox, connection);
    if (!sn_connection_pump(connection, 0)) fail(sn_connection_reason(connection));
    bool news = false;
    while (sn_connection_next(connection, &message)) {
      news = true;
      if (sn_get_welcome(&message, &welcome)) {
        sn_outbox_welcome(outbox, welcome.durable, welcome.credit);
      } else if (sn_get_acknowledge(&message, &acknowledge)) {
        sn_outbox_acknowledged(outbox, acknowledge.upto, acknowledge.credit);
      }
    }
    if (!news && (sn_connection_unsent(connection) > 0 || !sn_outbox_waits(outbox)))
      wait_for(connection);
  }
  sn_outbox_free(outbox);
  sn_connection_free(connection);
}

static void receive_all(int socket, const struct shape *shape) {
  struct sn_connection *connection = sn_connection_adopt(socket, true);
  struct sn_message message;
  uint64_t count = 0, sum = 0;
  while (count < RECORDS) {
    if (!sn_connection_pump(connection, 0)) fail(sn_connection_reason(connection));
    bool news = false;
    while (sn_connection_next(connection, &message)) {
      news = true;
      if (message.type == SN_WIRE_HELLO) {
        struct sn_message_welcome welcome = {.version = SN_WIRE_VERSION, .credit = CREDIT};
        sn_put_welcome(sn_connection_out(connection), 0, &welcome);
        continue;
      }
      count += take_message(&message, shape, &sum);
      struct sn_message_acknowledge answer = {.upto = message.number, .credit = CREDIT};
      if (message.number % (CREDIT / 4) == 0 || count == RECORDS)
        sn_put_acknowledge(sn_connection_out(connection), 0, &answer);
    }
    if (!news) wait_for(connection);
  }
  if (sum != expected_sum(shape)) fail("the sums differ");
  while (sn_connection_pump(connection, 0)) { /* until the sender has gone */
  }
  sn_connection_free(connection);
}

/* The same number of bytes, in pieces as large as the connection's. */
static uint64_t bytes_of(const struct shape *shape) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  uint64_t bytes = 0;
  for (uint64_t next = 0; next < RECORDS; bytes += out.length) {
    base_buffer_clear(&out);
    next += put_message(&out, shape, next);
  }
  base_buffer_done(&out);
  return bytes;
}

static void send_bare(int socket, uint64_t bytes) {
  char *chunk = base_xcalloc(1, CHUNK);
  while (bytes > 0) {
    ssize_t sent = write(socket, chunk, bytes < CHUNK ? bytes : CHUNK);
    if (sent <= 0) fail("bytes cannot be written");
    bytes -= (uint64_t)sent;
  }
  free(chunk);
}

static void receive_bare(int socket, uint64_t bytes) {
  char *chunk = base_xcalloc(1, CHUNK);
  while (bytes > 0) {
    ssize_t got = read(socket, chunk, CHUNK);
    if (got <= 0) fail("bytes cannot be read");
    bytes -= (uint64_t)got;
  }
  free(chunk);
}

/* Records a second from a child to this process. BYTES: 0, or bare. */
static double transfer(const struct shape *shape, uint64_t bytes) {
  int ends[2], status;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("no socket");
  fflush(stdout);
  double start = clock_ns(CLOCK_MONOTONIC);
  pid_t child = fork();
  if (child < 0) fail("no process");
  if (child == 0) {
    close(ends[0]);
    if (bytes > 0) {
      send_bare(ends[1], bytes);
    } else {
      send_all(ends[1], shape);
    }
    _exit(0);
  }
  close(ends[1]);
  if (bytes > 0) {
    receive_bare(ends[0], bytes);
    close(ends[0]);
  } else {
    receive_all(ends[0], shape);
  }
  double spent = clock_ns(CLOCK_MONOTONIC) - start;
  if (waitpid(child, &status, 0) != child || status != 0) fail("the sender failed");
  return RECORDS / spent * 1e9;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char **argv) {
  int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 5;
  if (runs < 1 || runs > RUNS_MAX) fail("RUNS is 1 to 99");
  printf("%-32s %7s %9s %9s %8s %8s %6s\n", "", "bytes", "encode ns", "decode ns", "M/s",
         "bare M/s", "ratio");
  for (int s = 0; s < SHAPES; s++) {
    static double encode[RUNS_MAX], decode[RUNS_MAX], wire[RUNS_MAX], bare[RUNS_MAX],
        ratio[RUNS_MAX];
    uint64_t bytes = bytes_of(&shapes[s]);
    for (int i = 0; i < runs; i++) {
      time_alone(&shapes[s], &encode[i], &decode[i]);
      wire[i] = transfer(&shapes[s], 0);
      bare[i] = transfer(&shapes[s], bytes);
      ratio[i] = wire[i] / bare[i];
    }
    printf("%-32s %7.1f %9.1f %9.1f %8.2f %8.2f %6.2f\n", shapes[s].name, (double)bytes / RECORDS,
           median(encode, runs), median(decode, runs), median(wire, runs) / 1e6,
           median(bare, runs) / 1e6, median(ratio, runs));
  }
  return 0;
}
