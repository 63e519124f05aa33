/* Connections over TCP (sensors/wire/tls.c): certificates made by the openssl program, right ones and all kinds
 * of wrong ones; what arrives; who is let in and who is not. Passes over everything where TLS was left out
 * or there is no openssl.                                                                            */
#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "sensors/wire/link.h"

static char directory[] = "/tmp/wire-tls-XXXXXX";

static const char make_certificates[] =
    "cd '%s' && exec >log 2>&1 && umask 077\n"
    "authority() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3 "
    "\\\n"
    "  -keyout $1.key -out $1.pem -subj \"/CN=$1\"; }\n"
    "signed() { # NAME CN SAN AUTHORITY DAYS\n"
    "  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.csr "
    "\\\n"
    "    -subj \"$(case $2 in /*) echo $2 ;; *) echo /CN=$2 ;; esac)\" && printf "
    "'subjectAltName=%%s\\n' \"$3\" >$1.ext &&\n"
    "  openssl x509 -req -in $1.csr -CA $4.pem -CAkey $4.key -CAcreateserial -days $5 \\\n"
    "    -extfile $1.ext -out $1.pem; }\n"
    "authority ours && authority theirs &&\n"
    "signed server server 'DNS:localhost,IP:127.0.0.1' ours 3 &&\n"
    "signed elsewhere elsewhere 'DNS:elsewhere.example' ours 3 &&\n"
    "signed expired server 'DNS:localhost,IP:127.0.0.1' ours -1 &&\n"
    "signed nobody '/O=none' 'DNS:nobody' ours 3 &&\n"
    "signed alice alice 'DNS:alice' ours 3 && signed mallory alice 'DNS:alice' theirs 3 &&\n"
    "cp server.key open.key && chmod 644 open.key\n";

static bool prepare(void) {
  struct base_buffer command = BASE_BUFFER_EMPTY;
  if (mkdtemp(directory) == NULL) return false;
  base_buffer_printf(&command, make_certificates, directory);
  bool made = system("openssl version >/dev/null 2>&1") == 0 && system(command.data) == 0;
  base_buffer_done(&command);
  return made;
}

static void clean(void) {
  struct base_buffer command = BASE_BUFFER_EMPTY;
  base_buffer_printf(&command, "rm -rf '%s'", directory);
  if (system(command.data) != 0) fprintf(stderr, "# %s stays\n", directory);
  base_buffer_done(&command);
}

/* A file of the directory; a handful of them at a time. */
static const char *file(const char *name) {
  static char paths[8][128];
  static unsigned next;
  if (name == NULL) return NULL;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", directory, name);
  return path;
}

static struct sn_address address_of(const char *host, const char *port, const char *certificate,
                                    const char *key, const char *authority) {
  return (struct sn_address){.kind = SN_ADDRESS_TLS,
                             .host = host,
                             .port = port,
                             .certificate = file(certificate),
                             .key = file(key),
                             .authority = file(authority),
                             .group = -1};
}

struct pair {
  struct sn_acceptor *acceptor;
  struct sn_connection *client, *server;
  char port[8];
};

static struct pair pair_open(const char *server, const char *server_key, const char *host,
                             const char *client, const char *client_key, const char *client_trusts,
                             bool ask, bool optional) {
  struct pair pair = {0};
  const char *reason = NULL;
  struct sn_address at = address_of("127.0.0.1", "0", server, server_key, ask ? "ours.pem" : NULL);
  at.certificate_optional = optional;
  pair.acceptor = sn_acceptor_open(&at, &reason);
  ck_assert_msg(pair.acceptor != NULL, "%s", reason);
  snprintf(pair.port, sizeof pair.port, "%d", sn_acceptor_port(pair.acceptor));
  at = address_of(host, pair.port, client, client_key, client_trusts);
  pair.client = sn_connection_open(&at, &reason);
  ck_assert_msg(pair.client != NULL, "%s", reason);
  struct sn_message_hello hello = {.version = SN_WIRE_VERSION, .role = SN_ROLE_COLLECTOR};
  sn_put_hello(sn_connection_out(pair.client), 0, &hello);
  return pair;
}

static void pair_close(struct pair *pair) {
  sn_connection_free(pair->client);
  sn_connection_free(pair->server);
  sn_acceptor_free(pair->acceptor);
}

enum { PATIENCE_MS = 60000 };

/* Polls both as they want to be polled, and pumps whom poll names. False: both wait, in vain. */
static bool step(struct pair *pair, int timeout_ms) {
  struct pollfd polls[3] = {
      {.fd = sn_acceptor_descriptor(pair->acceptor), .events = POLLIN}, {.fd = -1}, {.fd = -1}};
  struct sn_connection *both[2] = {pair->client, pair->server};
  for (int i = 0; i < 2; i++) {
    if (both[i] == NULL || sn_connection_is_over(both[i])) continue;
    polls[i + 1].fd = sn_connection_descriptor(both[i]);
    polls[i + 1].events = sn_connection_events(both[i]);
    if (sn_connection_pending(both[i])) timeout_ms = 0;
  }
  int found = poll(polls, 3, timeout_ms);
  if (polls[0].revents != 0) pair->server = sn_acceptor_next(pair->acceptor);
  for (int i = 0; i < 2; i++)
    if (polls[i + 1].revents != 0 || (both[i] != NULL && sn_connection_pending(both[i])))
      sn_connection_pump(both[i], polls[i + 1].revents);
  return found > 0 || timeout_ms == 0;
}

/* The server takes the HELLO and answers; the client takes the WELCOME. */
static void greet(struct pair *pair) {
  struct sn_message message;
  struct sn_message_welcome welcome = {.version = SN_WIRE_VERSION, .credit = 1};
  bool there = false, back = false;
  for (int i = 0; i < 1000 && !back; i++) {
    ck_assert_msg(step(pair, PATIENCE_MS), "nothing happens");
    if (pair->server != NULL && !there && sn_connection_next(pair->server, &message)) {
      there = true;
      sn_put_welcome(sn_connection_out(pair->server), 0, &welcome);
    }
    back = sn_connection_next(pair->client, &message);
    const char *reason = sn_connection_reason(pair->client);
    ck_assert_msg(reason == NULL, "%s", reason);
  }
  ck_assert(there && back);
}

/* No message gets through, and the client says EXPECTED (NULL: the server says something). */
static void expect_refusal(struct pair *pair, const char *expected) {
  struct sn_message message;
  for (int i = 0; i < 1000; i++) {
    if (sn_connection_is_over(pair->client)) break;
    ck_assert_msg(step(pair, PATIENCE_MS), "nothing happens");
    /* What the server says to one whose certificate is wrong, it says after the handshake. */
    ck_assert(pair->server == NULL || !sn_connection_next(pair->server, &message));
  }
  for (int i = 0; i < PATIENCE_MS / 20; i++) {
    if (pair->server != NULL && sn_connection_is_over(pair->server)) break;
    step(pair, 20);
  }
  ck_assert_ptr_nonnull(sn_connection_reason(pair->client));
  if (expected != NULL) {
    ck_assert_str_eq(sn_connection_reason(pair->client), expected);
    ck_assert(sn_connection_refused(pair->client)); /* a server is there */
  }
  ck_assert(pair->server != NULL && sn_connection_is_over(pair->server));
  pair_close(pair);
}

START_TEST(greeting) {
  struct pair pair =
      pair_open("server.pem", "server.key", "127.0.0.1", NULL, NULL, "ours.pem", false, false);
  greet(&pair);
  ck_assert(!sn_connection_is_local(pair.server));
  ck_assert_int_eq(sn_connection_uid(pair.server), -1);
  ck_assert_ptr_null(sn_connection_certificate(pair.server));
  ck_assert_str_eq(sn_connection_certificate(pair.client), "server");
  /* Orderly ends are told from others. */
  sn_connection_goodbye(pair.client, 0, "enough");
  while (!sn_connection_is_over(pair.server)) {
    struct sn_message message;
    ck_assert(step(&pair, PATIENCE_MS));
    sn_connection_next(pair.server, &message);
  }
  ck_assert_str_eq(sn_connection_reason(pair.server), "enough");
  pair_close(&pair);
}
END_TEST

/* Much in both directions at the same time, more than sockets hold. */
START_TEST(both_directions) {
  enum { COUNT = 3000 };
  static char filler[30000];
  struct pair pair =
      pair_open("server.pem", "server.key", "localhost", NULL, NULL, "ours.pem", false, false);
  struct base_random random = {3};
  uint64_t put[2] = {0}, got[2] = {0}, said = 0, heard = 0;
  memset(filler, 'x', sizeof filler);
  greet(&pair);
  struct sn_connection *both[2] = {pair.client, pair.server};
  while (got[0] < COUNT || got[1] < COUNT) {
    for (int i = 0; i < 2; i++) {
      while (put[i] < COUNT && sn_connection_unsent(both[i]) < 200000) {
        struct sn_message_error error = {
            .message = {filler, (uint32_t)base_random_below(&random, sizeof filler)}};
        sn_put_error(sn_connection_out(both[i]), ++put[i], &error);
        said += error.message.length;
      }
    }
    ck_assert_msg(step(&pair, PATIENCE_MS), "nothing happens");
    for (int i = 0; i < 2; i++) {
      struct sn_message message;
      struct sn_message_error error;
      while (sn_connection_next(both[1 - i], &message)) {
        ck_assert(sn_get_error(&message, &error));
        ck_assert_uint_eq(message.number, ++got[i]);
        heard += error.message.length;
      }
    }
  }
  ck_assert_uint_eq(said, heard);
  pair_close(&pair);
}
END_TEST

START_TEST(wrong_servers) {
  static const struct {
    const char *certificate, *key, *host, *trusts, *expected;
  } cases[] = {
      {"server.pem", "server.key", "127.0.0.1", "theirs.pem",
       "unable to get local issuer certificate"},
      {"server.pem", "server.key", "127.0.0.1", NULL, "unable to get local issuer certificate"},
      {"elsewhere.pem", "elsewhere.key", "127.0.0.1", "ours.pem", "IP address mismatch"},
      {"elsewhere.pem", "elsewhere.key", "localhost", "ours.pem", "hostname mismatch"},
      {"expired.pem", "expired.key", "127.0.0.1", "ours.pem", "certificate has expired"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct pair pair = pair_open(cases[i].certificate, cases[i].key, cases[i].host, NULL, NULL,
                                 cases[i].trusts, false, false);
    expect_refusal(&pair, cases[i].expected);
  }
}
END_TEST

START_TEST(client_certificates) {
  struct pair pair = pair_open("server.pem", "server.key", "127.0.0.1", "alice.pem", "alice.key",
                               "ours.pem", true, false);
  greet(&pair);
  ck_assert_str_eq(sn_connection_certificate(pair.server), "alice");
  pair_close(&pair);
  /* Where a token would do as well, none need be shown; a wrong one must not be. */
  pair = pair_open("server.pem", "server.key", "127.0.0.1", NULL, NULL, "ours.pem", true, true);
  greet(&pair);
  ck_assert_ptr_null(sn_connection_certificate(pair.server));
  pair_close(&pair);
  pair = pair_open("server.pem", "server.key", "127.0.0.1", "mallory.pem", "mallory.key",
                   "ours.pem", true, true);
  expect_refusal(&pair, "the server does not accept the certificate");
  pair = pair_open("server.pem", "server.key", "127.0.0.1", NULL, NULL, "ours.pem", true, false);
  expect_refusal(&pair, "the server wants a certificate");
  pair = pair_open("server.pem", "server.key", "127.0.0.1", "nobody.pem", "nobody.key", "ours.pem",
                   true, true);
  expect_refusal(&pair, NULL);
}
END_TEST

START_TEST(bad_files) {
  static const struct {
    const char *certificate, *key, *authority, *expected; /* NULL: whatever OpenSSL says */
  } cases[] = {{NULL, NULL, NULL, "a server needs a certificate and its key"},
               {"none.pem", "server.key", NULL, NULL},
               {"server.pem", "none.key", NULL, NULL},
               {"server.pem", "alice.key", NULL, NULL},
               {"server.pem", "open.key", NULL, "the file of the key may be read by anybody"},
               {"server.pem", "server.key", "server.key", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *reason = NULL;
    struct sn_address at =
        address_of("127.0.0.1", "0", cases[i].certificate, cases[i].key, cases[i].authority);
    ck_assert_ptr_null(sn_acceptor_open(&at, &reason));
    ck_assert_ptr_nonnull(reason);
    if (cases[i].expected != NULL) ck_assert_str_eq(reason, cases[i].expected);
  }
}
END_TEST

/* One who speaks no TLS, one who says nothing, and one who goes: others come in meanwhile. */
START_TEST(strangers) {
  struct pair pair =
      pair_open("server.pem", "server.key", "127.0.0.1", NULL, NULL, "ours.pem", false, false);
  struct sockaddr_in at = {.sin_family = AF_INET,
                           .sin_port = htons((uint16_t)strtoul(pair.port, NULL, 10)),
                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int raw[3];
  struct sn_connection *others[3];
  greet(&pair);
  for (int i = 0; i < 3; i++) {
    raw[i] = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(raw[i], (struct sockaddr *)&at, sizeof at), 0);
    struct pollfd come = {.fd = sn_acceptor_descriptor(pair.acceptor), .events = POLLIN};
    ck_assert_int_eq(poll(&come, 1, PATIENCE_MS), 1);
    others[i] = sn_acceptor_next(pair.acceptor);
    ck_assert_ptr_nonnull(others[i]);
  }
  ck_assert_int_eq(write(raw[0], "GET / HTTP/1.1\r\n\r\n", 18), 18);
  close(raw[1]);
  bool there[3] = {true, true, true};
  for (int i = 0; i < PATIENCE_MS && (there[0] || there[1]); i++) {
    for (int j = 0; j < 3; j++) there[j] = there[j] && sn_connection_pump(others[j], POLLIN);
    usleep(1000);
  }
  ck_assert(!there[0] && !there[1] && there[2]);
  ck_assert_str_eq(sn_connection_reason(others[0]), "http request");
  for (int i = 0; i < 3; i++) sn_connection_free(others[i]);
  close(raw[0]);
  close(raw[2]);
  pair_close(&pair);
}
END_TEST

/* A host with several addresses (::1 and 127.0.0.1), of which one answers; and its clock. */
START_TEST(link_and_clock) {
  const char *reason = NULL;
  struct sn_address at = address_of("127.0.0.1", "0", "server.pem", "server.key", NULL);
  struct sn_acceptor *acceptor = sn_acceptor_open(&at, &reason);
  char port[8];
  ck_assert_msg(acceptor != NULL, "%s", reason);
  snprintf(port, sizeof port, "%d", sn_acceptor_port(acceptor));
  struct sn_link_options options = {
      .address = address_of("localhost", port, NULL, NULL, "ours.pem"),
      .role = SN_ROLE_FEED,
      .token = "secret",
      .outbox_bytes = 1000};
  struct sn_link *link = sn_link_new(&options);
  struct sn_connection *server = NULL;
  struct sn_message message;
  struct sn_message_hello hello;
  int64_t offset = 0, error = 0;
  bool known = false;
  for (int i = 0; i < 2 * PATIENCE_MS && !known; i++) {
    sn_link_turn(link, 0);
    ck_assert(!sn_link_next(link, &message));
    if (server == NULL) server = sn_acceptor_next(acceptor);
    if (server != NULL) {
      sn_connection_pump(server, 0);
      if (sn_connection_next(server, &message) && sn_get_hello(&message, &hello)) {
        ck_assert(sn_string_is(hello.token, "secret"));
        struct sn_message_welcome welcome = {.version = SN_WIRE_VERSION, .credit = 1};
        sn_put_welcome(sn_connection_out(server), 0, &welcome);
      }
    }
    if (sn_link_connection(link) != NULL)
      known = sn_connection_clock(sn_link_connection(link), &offset, &error);
    usleep(500);
  }
  ck_assert_msg(known, "%s", sn_link_reason(link));
  ck_assert_int_le(llabs(offset), error);
  ck_assert_int_lt(error, INT64_C(60000000000));
  sn_link_free(link);
  sn_connection_free(server);
  sn_acceptor_free(acceptor);
}
END_TEST

START_TEST(hosts_that_are_none) {
  const char *reason = NULL;
  struct sn_address at = address_of("no-such-host.invalid", "7000", NULL, NULL, "ours.pem");
  struct sn_connection *client = sn_connection_open(&at, &reason);
  ck_assert_ptr_nonnull(client);
  struct pollfd one = {.fd = sn_connection_descriptor(client),
                       .events = sn_connection_events(client)};
  ck_assert_int_eq(poll(&one, 1, 2 * PATIENCE_MS), 1);
  ck_assert(!sn_connection_pump(client, one.revents));
  ck_assert_ptr_nonnull(sn_connection_reason(client));
  sn_connection_free(client);
  /* Nobody listens: at once, or when it is pumped. And one that is forgotten while it is looked up. */
  at = address_of("127.0.0.1", "1", NULL, NULL, "ours.pem");
  client = sn_connection_open(&at, &reason);
  for (int i = 0; client != NULL && i < PATIENCE_MS && sn_connection_pump(client, 0); i++)
    usleep(1000);
  ck_assert_str_eq(client != NULL ? sn_connection_reason(client) : reason, "Connection refused");
  sn_connection_free(client);
  at.host = "localhost";
  client = sn_connection_open(&at, &reason);
  sn_connection_free(client);
}
END_TEST

int main(void) {
#ifndef HAVE_TLS
  puts("1..0 # SKIP built without TLS");
  return 0;
#endif
  if (!prepare()) {
    puts("1..0 # SKIP there is no openssl to make certificates");
    clean();
    return 0;
  }
  Suite *suite = suite_create("wire-tls");
  TCase *tests = tcase_create("tls");
  tcase_add_test(tests, greeting);
  tcase_add_test(tests, both_directions);
  tcase_add_test(tests, wrong_servers);
  tcase_add_test(tests, client_certificates);
  tcase_add_test(tests, bad_files);
  tcase_add_test(tests, strangers);
  tcase_add_test(tests, link_and_clock);
  tcase_add_test(tests, hosts_that_are_none);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  clean();
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
