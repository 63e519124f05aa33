/* What a source keeps and sends again (sensors/wire/outbox.h, link.h), and the offset of clocks: over
 * connections that break anywhere, and servers that are killed, every numbered message arrives once.  */
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "sensors/wire/clock_offset.h"
#include "sensors/wire/link.h"
#include "tests/unit/wire_samples.h"

static struct sn_link *link_open(size_t bytes) {
  struct sn_link_options options = {
      .address = {.kind = SN_ADDRESS_UNIX, .path = place, .group = -1},
      .role = SN_ROLE_COLLECTOR,
      .program = "test",
      .outbox_bytes = bytes};
  return sn_link_new(&options);
}

/* A server that keeps what a database would keep, and forgets the rest when it is killed. */
struct server {
  struct sn_acceptor *acceptor;
  struct sn_connection *source;
  uint64_t taken, durable; /* taken: not yet durable */
  uint64_t values, sum;    /* durable */
  uint64_t pending_values, pending_sum;
  bool known[100]; /* relations defined in this life of the server */
  uint32_t credit;
  bool stale; /* knows nothing of the source */
  uint64_t repeated;
};

static void server_start(struct server *server) {
  struct sn_address address = {.kind = SN_ADDRESS_UNIX, .path = place, .group = -1};
  const char *reason = NULL;
  server->acceptor = sn_acceptor_open(&address, &reason);
  ck_assert_msg(server->acceptor != NULL, "%s", reason);
  memset(server->known, 0, sizeof server->known);
  server->taken = server->durable;
  server->pending_sum = server->pending_values = 0;
}

static void server_drop(struct server *server) {
  sn_connection_free(server->source);
  server->source = NULL;
}

static void server_kill(struct server *server) {
  server_drop(server);
  sn_acceptor_free(server->acceptor);
  server->acceptor = NULL;
}

static void server_commit(struct server *server) {
  server->durable = server->taken;
  server->values += server->pending_values;
  server->sum += server->pending_sum;
  server->pending_values = server->pending_sum = 0;
  if (server->source == NULL || !sn_connection_greeted(server->source)) return;
  struct sn_message_acknowledge acknowledge = {.upto = server->durable, .credit = server->credit};
  sn_put_acknowledge(sn_connection_out(server->source), 0, &acknowledge);
}

static void server_take(struct server *server, const struct sn_message *message) {
  struct sn_message_hello hello;
  struct sn_message_relation relation;
  struct sn_message_check check;
  if (sn_get_hello(message, &hello)) {
    ck_assert_uint_eq(hello.identity.length, 32);
    struct sn_message_welcome welcome = {
        .version = SN_WIRE_VERSION, .durable = server->durable, .credit = server->credit};
    sn_put_welcome(sn_connection_out(server->source), 0, &welcome);
  } else if (sn_get_relation(message, &relation)) {
    ck_assert_uint_eq(message->number, 0);
    server->known[relation.relation] = true;
  } else {
    ck_assert(sn_get_check(message, &check));
    enum sn_sequel intake = sn_sequel(server->taken, message->number);
    ck_assert_int_ne(intake, SN_SEQUEL_GAP);
    if (intake == SN_SEQUEL_REPEATED) {
      server->repeated++;
      return;
    }
    ck_assert(server->known[check.relation]);
    server->taken = message->number;
    server->pending_values++;
    server->pending_sum += (uint64_t)check.time;
  }
}

static void server_turn(struct server *server) {
  struct sn_message message;
  if (server->acceptor == NULL) return;
  struct sn_connection *come = sn_acceptor_next(server->acceptor);
  if (come != NULL) {
    server_drop(server);
    server->source = come;
  }
  if (server->source == NULL) return;
  bool there = sn_connection_pump(server->source, POLLIN);
  while (sn_connection_next(server->source, &message)) server_take(server, &message);
  if (!there) server_drop(server);
}

static void turn(struct sn_link *link) {
  struct sn_message message;
  struct pollfd ready;
  int64_t wait;
  sn_link_poll(link, &ready, &wait);
  /* It tries again some time after a break; nobody else is to have the processor's time until then. */
  if (!sn_link_is_up(link)) (void)poll(&ready, ready.fd >= 0, 1);
  sn_link_turn(link, 0);
  while (sn_link_next(link, &message)) ck_abort_msg("no commands are sent");
}

static bool put_check(struct sn_link *link, uint32_t relation, int64_t value) {
  struct sn_message_check check = {.relation = relation, .time = value};
  sn_put_check(sn_outbox_frame(sn_link_outbox(link)), 0, &check);
  return sn_outbox_data(sn_link_outbox(link));
}

static void define(struct sn_link *link, uint32_t number) {
  struct sn_message_relation relation = {.relation = number, .name = sn_string_of("R")};
  sn_put_relation(sn_outbox_frame(sn_link_outbox(link)), 0, &relation);
  sn_outbox_define(sn_link_outbox(link), number);
}

/* Connections and servers end at random; what could not be kept is known to the caller. */
static void run(unsigned seed, uint64_t count, uint32_t credit, size_t bytes) {
  struct server server = {.credit = credit};
  struct sn_link *link = link_open(bytes);
  struct base_random random = {seed};
  uint64_t put = 0, sum = 0, lost = 0, breaks = 0;
  uint32_t relations = 0;
  server_start(&server);
  while (put < count || server.values < put) {
    uint64_t what = base_random_below(&random, 1000);
    if (what < 5) {
      server_drop(&server);
      breaks++;
    } else if (what < 8 && server.acceptor != NULL) {
      server_kill(&server);
      breaks++;
    } else if (what < 15) {
      server_commit(&server);
    } else if (what < 30 && relations < 99 && put < count) {
      define(link, relations++);
    } else if (what < 600 && put < count && relations > 0) {
      uint32_t relation = (uint32_t)base_random_below(&random, relations);
      if (put_check(link, relation, (int64_t)what)) {
        put++;
        sum += what;
      } else {
        lost++;
      }
    } else if (what < 800) {
      turn(link);
    } else {
      server_turn(&server);
    }
    if (server.acceptor == NULL && base_random_below(&random, 20) == 0) server_start(&server);
  }
  ck_assert_uint_eq(server.values, put);
  ck_assert_uint_eq(server.sum, sum);
  ck_assert_uint_eq(sn_outbox_last(sn_link_outbox(link)), put);
  ck_assert_uint_gt(breaks, 0);
  if (bytes < 10000) ck_assert_uint_gt(lost, 0);
  sn_link_free(link);
  server_kill(&server);
}

START_TEST(everything_arrives_once) {
  run((unsigned)_i, 500, 1000, 1 << 20);
}
END_TEST

START_TEST(little_credit_little_room) {
  run(100 + (unsigned)_i, 60, 3, 400);
}
END_TEST

/* What was sent, taken and not made durable comes again, and is known. */
START_TEST(repeated_after_a_break) {
  struct server server = {.credit = 100};
  struct sn_link *link = link_open(10000);
  server_start(&server);
  define(link, 1);
  for (int i = 0; i < 10; i++) put_check(link, 1, 1);
  while (server.taken < 10) {
    turn(link);
    server_turn(&server);
  }
  uint64_t welcomes = sn_link_welcomes(link);
  server_drop(&server);
  while (server.repeated < 10) {
    turn(link);
    server_turn(&server);
  }
  ck_assert_uint_eq(sn_link_welcomes(link), welcomes + 1);
  server_commit(&server);
  ck_assert_uint_eq(server.values, 10);
  sn_link_free(link);
  server_kill(&server);
}
END_TEST

START_TEST(bound_in_bytes) {
  struct sn_outbox *outbox = sn_outbox_new(100);
  struct sn_message_check check = {.time = 1};
  for (int i = 0; i < 4; i++) {
    sn_put_check(sn_outbox_frame(outbox), 0, &check); /* 16 + 12 bytes */
    ck_assert(sn_outbox_data(outbox) == (i < 3));
  }
  ck_assert_uint_eq(sn_outbox_last(outbox), 3);
  ck_assert_uint_eq(sn_outbox_room(outbox), 100 - 3 * 28);
  /* What was never sent cannot be acknowledged. */
  ck_assert(!sn_outbox_acknowledged(outbox, 1, 10));
  ck_assert(!sn_outbox_welcome(outbox, 1, 10));
  sn_outbox_free(outbox);
}
END_TEST

/* What holds no more is not sent again once everything before it is there. */
START_TEST(definitions_end) {
  struct server server = {.credit = 10};
  struct sn_link *link = link_open(10000);
  server_start(&server);
  for (uint32_t i = 0; i < 90; i++) define(link, i);
  for (uint32_t i = 0; i < 80; i++) {
    put_check(link, i, 1);
    sn_outbox_forget(sn_link_outbox(link), SN_WIRE_RELATION, i);
  }
  while (server.values < 80) {
    turn(link);
    server_turn(&server);
    server_commit(&server);
  }
  for (int i = 0; i < 10; i++) turn(link);
  server_kill(&server);
  server_start(&server);
  put_check(link, 85, 1);
  while (server.values < 81) {
    turn(link);
    server_turn(&server);
    server_commit(&server);
  }
  for (uint32_t i = 0; i < 90; i++) ck_assert_int_eq(server.known[i], i >= 80);
  sn_link_free(link);
  server_kill(&server);
}
END_TEST

/* A server with another database: under another identity, what is kept goes there. */
START_TEST(a_server_that_forgot) {
  struct server server = {.credit = 100};
  struct sn_link *link = link_open(10000);
  char identity[33];
  server_start(&server);
  define(link, 1);
  for (int i = 0; i < 10; i++) put_check(link, 1, 1);
  while (sn_outbox_durable(sn_link_outbox(link)) < 10) {
    turn(link);
    server_turn(&server);
    server_commit(&server);
  }
  snprintf(identity, sizeof identity, "%s", sn_link_identity(link));
  server_kill(&server);
  for (int i = 0; i < 5; i++) put_check(link, 1, 2);
  server = (struct server){.credit = 100};
  server_start(&server);
  while (server.values < 5) {
    turn(link);
    server_turn(&server);
    server_commit(&server);
  }
  ck_assert_uint_eq(server.sum, 10);
  ck_assert_str_ne(identity, sn_link_identity(link));
  ck_assert(!sn_link_finish(link, "enough"));
  for (int i = 0; i < 1000 && !sn_link_finish(link, "enough"); i++) {
    turn(link);
    server_turn(&server);
    server_commit(&server);
  }
  ck_assert(sn_link_finish(link, "enough"));
  sn_link_free(link);
  server_kill(&server);
}
END_TEST

START_TEST(nobody_is_there) {
  struct sn_link *link = link_open(1000);
  struct pollfd poll;
  int64_t wait, most = 125000000;
  sn_link_poll(link, &poll, &wait);
  ck_assert(poll.fd == -1 && wait == 0);
  turn(link); /* at once */
  ck_assert_str_eq(sn_link_reason(link), "no server is there");
  ck_assert(!sn_link_is_up(link));
  sn_link_poll(link, &poll, &wait);
  turn(link); /* perhaps at once again */
  sn_link_poll(link, &poll, &wait);
  for (; wait == 0 && most < INT64_C(10000000000); most *= 2) { /* we were not let run meanwhile */
    turn(link);
    sn_link_poll(link, &poll, &wait);
  }
  ck_assert_int_gt(wait, 0);
  ck_assert_int_le(wait, most);
  ck_assert(sn_link_finish(link, ""));
  sn_link_free(link);
}
END_TEST

/* --- clocks */

START_TEST(offset_is_within_its_error) {
  struct base_random random = {7};
  struct sn_clock_offset clock = {.count = 0};
  int64_t truth = -3600000000000, now = 0, best, error, least = INT64_MAX;
  ck_assert(!sn_clock_offset_best(&clock, 0, &best, &error));
  for (int i = 0; i < 1000; i++) {
    int64_t there = (int64_t)base_random_below(&random, 5000000);
    int64_t work = (int64_t)base_random_below(&random, 1000000);
    int64_t back = (int64_t)base_random_below(&random, i % 10 == 0 ? 1000 : 50000000);
    int64_t sent = 1000000000000 + now;
    int64_t received = sent + there + truth, answered = received + work;
    int64_t came = answered - truth + back;
    now += there + work + back;
    ck_assert(sn_clock_offset_add(&clock, sent, received, answered, came, now));
    ck_assert(sn_clock_offset_best(&clock, now, &best, &error));
    ck_assert_msg(llabs(best - truth) <= error, "%lld, %lld", (long long)best, (long long)error);
    if (error < least) least = error;
  }
  ck_assert_int_lt(least, 3000000);
}
END_TEST

START_TEST(clocks_that_were_set) {
  struct sn_clock_offset clock = {.count = 0};
  int64_t best, error;
  ck_assert(sn_clock_offset_add(&clock, 0, 500, 500, 1000, 0));
  ck_assert(sn_clock_offset_add(&clock, 2000, 1002500, 1002500, 3000, 3000));
  ck_assert(sn_clock_offset_best(&clock, 3000, &best, &error));
  ck_assert_int_eq(best, 1000000);
  /* Nonsense is left out. */
  ck_assert(!sn_clock_offset_add(&clock, 1000, 0, 5000, 2000, 0));
  ck_assert(!sn_clock_offset_add(&clock, INT64_MIN, INT64_MAX, INT64_MAX, INT64_MAX, 0));
  ck_assert(!sn_clock_offset_add(&clock, 0, INT64_MIN, INT64_MAX, 1, 0));
  ck_assert(sn_clock_offset_best(&clock, 3000, &best, &error));
  ck_assert_int_eq(best, 1000000);
}
END_TEST

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  Suite *suite = suite_create("wire-link");
  TCase *links = tcase_create("links"), *clocks = tcase_create("clocks");
  tcase_add_checked_fixture(links, set_up, tear_down);
  tcase_add_loop_test(links, everything_arrives_once, 0, 4);
  tcase_add_loop_test(links, little_credit_little_room, 0, 4);
  tcase_add_test(links, repeated_after_a_break);
  tcase_add_test(links, bound_in_bytes);
  tcase_add_test(links, definitions_end);
  tcase_add_test(links, a_server_that_forgot);
  tcase_add_test(links, nobody_is_there);
  suite_add_tcase(suite, links);
  tcase_add_test(clocks, offset_is_within_its_error);
  tcase_add_test(clocks, clocks_that_were_set);
  suite_add_tcase(suite, clocks);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
