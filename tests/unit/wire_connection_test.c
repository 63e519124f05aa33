/* Connections of the protocol (sensors/wire/connection.h): over a socket arrives what was sent in whatever pieces,
 * who breaks the rules is told so and gone, ends are told apart, and the place of a server is its own; tokens.
 * TLS: tests/sensors/wire_tls_test.c. */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "sensors/wire/connection.h"
#include "sensors/wire/token.h"
#include "tests/unit/wire_samples.h"

static struct sn_address address_of(const char *path) {
  return (struct sn_address){.kind = SN_ADDRESS_UNIX, .path = path, .group = -1};
}

struct pair {
  struct sn_acceptor *acceptor;
  struct sn_connection *client, *server;
};

static struct pair pair_open(void) {
  struct pair pair = {0};
  struct sn_address address = address_of(place);
  const char *reason = NULL;
  pair.acceptor = sn_acceptor_open(&address, &reason);
  ck_assert_msg(pair.acceptor != NULL, "%s", reason);
  pair.client = sn_connection_open(&address, &reason);
  ck_assert_msg(pair.client != NULL, "%s", reason);
  pair.server = sn_acceptor_next(pair.acceptor);
  ck_assert_ptr_nonnull(pair.server);
  return pair;
}

static void pair_close(struct pair *pair) {
  sn_connection_free(pair->client);
  sn_connection_free(pair->server);
  sn_acceptor_free(pair->acceptor);
}

/* Until TO has a message, or neither side gets on. */
static bool carry(struct sn_connection *from, struct sn_connection *to, struct sn_message *ret) {
  for (int i = 0; i < 100; i++) {
    if (sn_connection_next(to, ret)) return true;
    sn_connection_pump(from, 0);
    sn_connection_pump(to, 0);
  }
  return sn_connection_next(to, ret);
}

static void greet(struct pair *pair, uint8_t role) {
  struct sn_message message;
  struct sn_message_hello hello = hello_like;
  struct sn_message_welcome welcome = {.version = SN_WIRE_VERSION, .credit = 10};
  hello.role = role;
  sn_put_hello(sn_connection_out(pair->client), 0, &hello);
  ck_assert(carry(pair->client, pair->server, &message));
  ck_assert_uint_eq(message.type, SN_WIRE_HELLO);
  sn_put_welcome(sn_connection_out(pair->server), 0, &welcome);
  ck_assert(carry(pair->server, pair->client, &message));
  ck_assert_uint_eq(message.type, SN_WIRE_WELCOME);
}

START_TEST(greeting) {
  struct pair pair = pair_open();
  ck_assert_int_eq(sn_connection_uid(pair.server), (int64_t)getuid());
  ck_assert_int_eq(sn_connection_pid(pair.server), (int64_t)getpid());
  ck_assert(sn_connection_is_local(pair.server));
  ck_assert(!sn_connection_greeted(pair.server));
  greet(&pair, SN_ROLE_SHELL);
  ck_assert(sn_connection_greeted(pair.server) && sn_connection_greeted(pair.client));
  ck_assert_ptr_null(sn_connection_reason(pair.server));
  pair_close(&pair);
}
END_TEST

/* 100,000 messages of all lengths, both sides pumped as poll says, arrive whole and in order. */
START_TEST(many_messages) {
  enum { COUNT = 100000 };
  struct pair pair = pair_open();
  greet(&pair, SN_ROLE_COLLECTOR);
  struct base_random random = {1}, again = {1};
  static char filler[70000];
  memset(filler, 'x', sizeof filler);
  uint64_t put = 0, got = 0;
  bool drained = true;
  while (got < COUNT) {
    while (put < COUNT && sn_connection_unsent(pair.client) < 500000) {
      uint64_t length = base_random_below(&random, 200);
      if (length == 0) length = base_random_below(&random, sizeof filler);
      struct sn_message_description data = {.digest = put,
                                            .description = {filler, (uint32_t)length}};
      sn_put_description(sn_connection_out(pair.client), ++put, &data);
    }
    struct pollfd polls[2] = {
        {sn_connection_descriptor(pair.client), sn_connection_events(pair.client), 0},
        {sn_connection_descriptor(pair.server), sn_connection_events(pair.server), 0}};
    ck_assert(poll(polls, 2, drained ? 1000 : 0) > 0 || !drained);
    if (polls[0].revents) ck_assert(sn_connection_pump(pair.client, polls[0].revents));
    if (polls[1].revents) ck_assert(sn_connection_pump(pair.server, polls[1].revents));
    struct sn_message message;
    struct sn_message_description data;
    /* Sometimes messages are left for later. */
    drained = false;
    for (uint64_t i = 0, limit = got % 1000 + 1; i < limit; i++) {
      drained = !sn_connection_next(pair.server, &message);
      if (drained) break;
      uint64_t length = base_random_below(&again, 200);
      if (length == 0) length = base_random_below(&again, sizeof filler);
      ck_assert(sn_get_description(&message, &data));
      ck_assert_uint_eq(message.number, ++got);
      ck_assert_uint_eq(data.digest, got - 1);
      ck_assert_uint_eq(data.description.length, length);
    }
  }
  pair_close(&pair);
}
END_TEST

/* A socket that is not the library's: bytes go in as the test likes. */
static int raw_client(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", place);
  int at = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ck_assert_int_eq(connect(at, (struct sockaddr *)&address, sizeof address), 0);
  return at;
}

START_TEST(byte_by_byte) {
  struct sn_address address = address_of(place);
  const char *reason;
  struct sn_acceptor *acceptor = sn_acceptor_open(&address, &reason);
  int raw = raw_client();
  struct sn_connection *server = sn_acceptor_next(acceptor);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  struct sn_message message;
  struct sn_message_check check = {.time = 1};
  sn_put_hello(&out, 0, &hello_like);
  sn_put_check(&out, 1, &check);
  unsigned seen = 0;
  for (size_t i = 0; i < out.length; i++) {
    ck_assert_int_eq(write(raw, out.data + i, 1), 1);
    ck_assert(sn_connection_pump(server, POLLIN));
    if (sn_connection_next(server, &message)) seen++;
  }
  ck_assert_uint_eq(seen, 2);
  base_buffer_done(&out);
  close(raw);
  ck_assert(!sn_connection_pump(server, POLLIN));
  ck_assert_str_eq(sn_connection_reason(server), "the other side has closed the connection");
  sn_connection_free(server);
  sn_acceptor_free(acceptor);
}
END_TEST

/* What breaks the rules, after GREETED or as the first; the other side is told why. */
static void expect_refusal(const struct base_buffer *first, const char *bytes, size_t length,
                           const char *expected) {
  struct sn_address address = address_of(place);
  const char *reason;
  struct sn_acceptor *acceptor = sn_acceptor_open(&address, &reason);
  int raw = raw_client();
  struct sn_connection *server = sn_acceptor_next(acceptor);
  struct sn_message message;
  if (first != NULL) {
    ck_assert_int_eq(write(raw, first->data, first->length), (ssize_t)first->length);
    ck_assert(sn_connection_pump(server, POLLIN));
    ck_assert(sn_connection_next(server, &message));
  }
  ck_assert_int_eq(write(raw, bytes, length), (ssize_t)length);
  ck_assert(sn_connection_pump(server, POLLIN));
  ck_assert(!sn_connection_next(server, &message));
  ck_assert_ptr_nonnull(sn_connection_reason(server));
  ck_assert_str_eq(sn_connection_reason(server), expected);
  ck_assert(sn_connection_pump(server, 0));
  char answer[200];
  ssize_t got = read(raw, answer, sizeof answer);
  ck_assert_int_gt(got, SN_FRAME_HEAD + 8);
  ck_assert_int_eq(answer[4], SN_WIRE_GOODBYE);
  ck_assert_mem_eq(answer + SN_FRAME_HEAD + 8, expected, strlen(expected));
  close(raw);
  ck_assert(!sn_connection_pump(server, POLLIN));
  sn_connection_free(server);
  sn_acceptor_free(acceptor);
}

START_TEST(broken_rules) {
  struct base_buffer hello = BASE_BUFFER_EMPTY, other = BASE_BUFFER_EMPTY;
  struct sn_message_ping ping = {.sent = 1};
  struct sn_message_cancel cancel = {0};
  struct sn_message_hello newer = hello_like;
  sn_put_hello(&hello, 0, &hello_like);
  expect_refusal(NULL, "\xff\xff\xff\xff\1\0\0\0\0\0\0\0\0\0\0\0", 16, "a message is too long");
  expect_refusal(NULL, "\1\0\1\0\1\0\0\0\0\0\0\0\0\0\0\0", 16, "a message is too long");
  expect_refusal(&hello, "\1\0\x10\0\4\0\0\0\0\0\0\0\0\0\0\0", 16, "a message is too long");
  expect_refusal(&hello, "\0\0\0\0\4\0\1\0\0\0\0\0\0\0\0\0", 16,
                 "a message has flags that are not known");
  expect_refusal(&hello, "\0\0\0\0\xff\0\0\0\0\0\0\0\0\0\0\0", 16,
                 "a message of a type that is not for this side");
  expect_refusal(NULL, "GET / HTTP/1.1\r\n", 16, "a message is too long");
  expect_refusal(NULL, "\5\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\1", 21, "a HELLO that is none");
  sn_put_ping(&other, 0, &ping);
  expect_refusal(NULL, other.data, other.length,
                 "the first message is not the one that comes first");
  expect_refusal(&hello, hello.data, hello.length, "a second greeting");
  base_buffer_clear(&other);
  sn_put_cancel(&other, 0, &cancel); /* a collector has nothing to cancel */
  expect_refusal(&hello, other.data, other.length, "a message of a type that is not for this side");
  base_buffer_clear(&other);
  newer.version = SN_WIRE_VERSION + 1;
  sn_put_hello(&other, 0, &newer);
  sn_put_u32(&other, 12345); /* whatever else it has */
  other.data[0] = (char)(other.data[0] + 4);
  expect_refusal(NULL, other.data, other.length,
                 "the other side speaks another version of the protocol");
  base_buffer_done(&hello);
  base_buffer_done(&other);
}
END_TEST

START_TEST(goodbye_arrives) {
  struct pair pair = pair_open();
  struct sn_message message;
  greet(&pair, SN_ROLE_FEED);
  /* What it has not read must not take the goodbye back. */
  struct sn_message_check check = {.time = 1};
  for (int i = 0; i < 1000; i++) sn_put_check(sn_connection_out(pair.client), 1, &check);
  sn_connection_pump(pair.client, 0);
  sn_connection_goodbye(pair.server, 42, "enough");
  while (sn_connection_pump(pair.server, 0) && sn_connection_unsent(pair.server) > 0) {
  }
  while (sn_connection_pump(pair.client, 0)) {
    if (sn_connection_next(pair.client, &message)) ck_abort_msg("a message");
    if (sn_connection_reason(pair.client) != NULL) break;
  }
  ck_assert_str_eq(sn_connection_reason(pair.client), "enough");
  ck_assert_uint_eq(sn_connection_diagnostic(pair.client), 42);
  sn_connection_free(pair.client);
  pair.client = NULL;
  int pumps = 0;
  while (sn_connection_pump(pair.server, POLLIN)) ck_assert_int_lt(pumps++, 20);
  pair_close(&pair);
}
END_TEST

/* Messages that came before the end are not lost with it, nor are the last words. */
START_TEST(the_end_comes_after_the_messages) {
  struct pair pair = pair_open();
  struct sn_message message;
  greet(&pair, SN_ROLE_FEED);
  struct sn_message_check check = {.time = 1};
  for (int i = 0; i < 10; i++) sn_put_check(sn_connection_out(pair.client), 1, &check);
  sn_connection_goodbye(pair.client, 0, "bye");
  sn_connection_pump(pair.client, 0);
  sn_connection_free(pair.client);
  pair.client = NULL;
  unsigned seen = 0;
  for (bool there = true; there || seen < 10;) {
    if (there) there = sn_connection_pump(pair.server, POLLIN);
    if (sn_connection_next(pair.server, &message)) seen++;
  }
  ck_assert_uint_eq(seen, 10);
  ck_assert(!sn_connection_next(pair.server, &message));
  ck_assert_str_eq(sn_connection_reason(pair.server), "bye");
  pair_close(&pair);
}
END_TEST

/* One who is told goodbye and stays is left after a second. */
START_TEST(one_who_does_not_go) {
  struct pair pair = pair_open();
  greet(&pair, SN_ROLE_SHELL);
  sn_connection_goodbye(pair.server, 0, "go");
  int64_t start = base_env_monotonic();
  while (sn_connection_pump(pair.server, 0)) {
    ck_assert_int_lt(base_env_monotonic() - start, 60000000000);
    usleep(10000);
  }
  ck_assert_int_ge(base_env_monotonic() - start, 900000000);
  ck_assert_str_eq(sn_connection_reason(pair.server), "closed by this side");
  pair_close(&pair);
}
END_TEST

/* Without descriptors who waits is sent away, and poll does not report him for ever. */
START_TEST(no_descriptors_left) {
  struct pair pair = pair_open();
  struct rlimit limit;
  int taken[64], count = 0, waiting[3];
  for (int i = 0; i < 3; i++) waiting[i] = raw_client();
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = (rlim_t)waiting[2] + 10;
  ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
  while (count < 64 && (taken[count] = dup(0)) >= 0) count++;
  struct pollfd one = {.fd = sn_acceptor_descriptor(pair.acceptor), .events = POLLIN};
  for (int i = 0; i < 10 && poll(&one, 1, 0) > 0; i++)
    ck_assert_ptr_null(sn_acceptor_next(pair.acceptor));
  ck_assert_int_eq(poll(&one, 1, 0), 0);
  while (count > 0) close(taken[--count]);
  for (int i = 0; i < 3; i++) close(waiting[i]);
  struct sn_address address = address_of(place);
  const char *reason;
  struct sn_connection *client = sn_connection_open(&address, &reason);
  struct sn_connection *server = sn_acceptor_next(pair.acceptor);
  ck_assert(client != NULL && server != NULL);
  sn_connection_free(client);
  sn_connection_free(server);
  pair_close(&pair);
}
END_TEST

/* Another user: what the file's mode keeps out, and what the server keeps out if it does not. */
static void connect_as_nobody(const char *expected) {
  pid_t child = fork();
  if (child == 0) {
    struct sn_address address = address_of(place);
    struct sn_message message;
    const char *reason = NULL;
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    struct sn_connection *client = sn_connection_open(&address, &reason);
    for (int i = 0; client != NULL && i < 60000 && sn_connection_pump(client, 0); i++) {
      sn_connection_next(client, &message);
      if (sn_connection_reason(client) != NULL) break;
      usleep(1000);
    }
    if (client != NULL) reason = sn_connection_reason(client);
    _exit(reason == NULL || strcmp(reason, expected) != 0);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}

START_TEST(other_users) {
  struct sn_address address = address_of(place);
  const char *reason;
  struct stat status;
  address.group = getgid();
  struct sn_acceptor *acceptor = sn_acceptor_open(&address, &reason);
  ck_assert_ptr_nonnull(acceptor);
  ck_assert_int_eq(stat(place, &status), 0);
  ck_assert_uint_eq(status.st_mode & 0777, 0660);
  ck_assert_uint_eq(status.st_gid, getgid());
  sn_acceptor_free(acceptor);
  if (geteuid() != 0) return; /* nobody else can be tried */
  address.group = -1;
  acceptor = sn_acceptor_open(&address, &reason);
  ck_assert_int_eq(chmod(directory, 0711), 0);
  connect_as_nobody("Permission denied");
  ck_assert_int_eq(chmod(place, 0666), 0);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 12000; i++) { /* it is killed */
      if (sn_acceptor_next(acceptor) != NULL) _exit(1);
      usleep(10000);
    }
    _exit(0);
  }
  connect_as_nobody("this server is for its own user");
  kill(child, SIGKILL);
  ck_assert_int_eq(waitpid(child, NULL, 0), child);
  sn_acceptor_free(acceptor);
}
END_TEST

static void leave_dead_socket(const char *path) {
  int dead = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un there = {.sun_family = AF_UNIX};
  snprintf(there.sun_path, sizeof there.sun_path, "%s", path);
  ck_assert_int_eq(bind(dead, (struct sockaddr *)&there, sizeof there), 0);
  close(dead);
}

START_TEST(one_server_at_a_place) {
  struct sn_address address = address_of(place);
  const char *reason = NULL;
  ck_assert_ptr_null(sn_connection_open(&address, &reason));
  ck_assert_str_eq(reason, "no server is there");
  struct sn_acceptor *first = sn_acceptor_open(&address, &reason);
  ck_assert_ptr_nonnull(first);
  struct stat status;
  ck_assert_int_eq(stat(place, &status), 0);
  ck_assert_uint_eq(status.st_mode & 0777, 0600);
  ck_assert_ptr_null(sn_acceptor_open(&address, &reason));
  ck_assert_str_eq(reason, "another server is there");
  struct sn_connection *client = sn_connection_open(&address, &reason);
  ck_assert_ptr_nonnull(client);
  sn_connection_free(client);
  sn_acceptor_free(first);
  ck_assert_int_ne(stat(place, &status), 0);
  /* What a killed server left is replaced; what is no socket, is not. */
  leave_dead_socket(place);
  ck_assert_ptr_null(sn_connection_open(&address, &reason));
  ck_assert_str_eq(reason, "no server is there any more");
  first = sn_acceptor_open(&address, &reason);
  ck_assert_ptr_nonnull(first);
  sn_acceptor_free(first);
  int file = open(place, O_CREAT | O_WRONLY, 0600);
  close(file);
  ck_assert_ptr_null(sn_acceptor_open(&address, &reason));
  ck_assert_int_eq(stat(place, &status), 0);
}
END_TEST

/* A socket that is seen is listened at: it comes by rename. FIRST gets the name that it had before, in the directory. */
static void open_seen(int watch, struct base_buffer *first) {
  _Alignas(struct inotify_event) char events[8192];
  struct sn_address address = address_of(place);
  const char *reason = NULL, *name = strrchr(place, '/') + 1;
  struct sn_acceptor *acceptor = sn_acceptor_open(&address, &reason);
  ck_assert_msg(acceptor != NULL, "%s", reason);
  ssize_t length = read(watch, events, sizeof events);
  uint32_t how = 0;
  for (char *at = events; length > 0 && at < events + length;) {
    const struct inotify_event *event = (const struct inotify_event *)(void *)at;
    if (strcmp(event->name, name) == 0)
      how |= event->mask;
    else if (event->mask & IN_MOVED_FROM)
      base_buffer_printf(first, "%s/%s", directory, event->name);
    at += sizeof *event + event->len;
  }
  ck_assert_uint_eq(how, IN_MOVED_TO);
  sn_acceptor_free(acceptor);
  while (read(watch, events, sizeof events) > 0) continue;
}

START_TEST(seen_when_ready) {
  struct base_buffer first = BASE_BUFFER_EMPTY, again = BASE_BUFFER_EMPTY;
  struct sn_address address = address_of(place);
  const char *reason = NULL;
  int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ck_assert_int_ge(inotify_add_watch(watch, directory, IN_CREATE | IN_MOVE), 0);
  open_seen(watch, &first);
  ck_assert_uint_gt(first.length, 0);
  leave_dead_socket(first.data); /* of a server that was killed too early */
  open_seen(watch, &again);
  ck_assert_str_eq(first.data, again.data);
  ck_assert_int_eq(mkdir(place, 0700), 0); /* nothing is replaced, and nothing left */
  ck_assert_ptr_null(sn_acceptor_open(&address, &reason));
  ck_assert_int_ne(access(first.data, F_OK), 0);
  ck_assert_int_eq(rmdir(place), 0);
  close(watch);
  base_buffer_done(&first);
  base_buffer_done(&again);
}
END_TEST

START_TEST(long_paths) {
  struct base_buffer path = BASE_BUFFER_EMPTY;
  base_buffer_printf(&path, "%s/", directory);
  for (int i = 0; i < 150; i++) base_buffer_putc(&path, 'd');
  ck_assert_int_eq(mkdir(path.data, 0700), 0);
  base_buffer_puts(&path, "/server");
  struct sn_address address = address_of(path.data);
  const char *reason = NULL;
  struct sn_acceptor *acceptor = sn_acceptor_open(&address, &reason);
  ck_assert_msg(acceptor != NULL, "%s", reason);
  struct sn_connection *client = sn_connection_open(&address, &reason);
  ck_assert_msg(client != NULL, "%s", reason);
  struct sn_connection *server = sn_acceptor_next(acceptor);
  ck_assert_ptr_nonnull(server);
  sn_connection_free(client);
  sn_connection_free(server);
  sn_acceptor_free(acceptor);
  base_buffer_puts(&path, ".lock");
  unlink(path.data);
  path.data[path.length - strlen("/server.lock")] = 0;
  ck_assert_int_eq(rmdir(path.data), 0);
  base_buffer_done(&path);
}
END_TEST

START_TEST(addresses) {
  static const struct {
    const char *text, *path, *host, *port;
  } cases[] = {{"/run/x", "/run/x", NULL, NULL},
               {"unix:x", "x", NULL, NULL},
               {"tls:host:7000", NULL, "host", "7000"},
               {"tls:[::1]:7000", NULL, "::1", "7000"},
               {"", NULL, NULL, NULL},
               {"unix:", NULL, NULL, NULL},
               {"tls:host", NULL, NULL, NULL},
               {"tls::7000", NULL, NULL, NULL},
               {"tls:host:", NULL, NULL, NULL},
               {"tls:host:http", NULL, NULL, NULL},
               {"tls:host:70000", NULL, NULL, NULL},
               {"tls:::1:7000", NULL, NULL, NULL},
               {"tls:[]:7000", NULL, NULL, NULL},
               {"tcp:host:7000", NULL, NULL, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct sn_address address;
    char *storage;
    const char *reason = NULL;
    bool good = cases[i].path != NULL || cases[i].host != NULL;
    ck_assert_msg(sn_address_parse(cases[i].text, &address, &storage, &reason) == good, "%s",
                  cases[i].text);
    if (good && cases[i].path != NULL) ck_assert_str_eq(address.path, cases[i].path);
    if (good && cases[i].host != NULL) {
      ck_assert_str_eq(address.host, cases[i].host);
      ck_assert_str_eq(address.port, cases[i].port);
    }
    if (!good) ck_assert_ptr_nonnull(reason);
    free(storage);
  }
}
END_TEST

START_TEST(tokens) {
  static const struct {
    const char *content;
    mode_t mode;
    const char *token, *reason;
  } cases[] = {{"0123456789abcdef\n", 0600, "0123456789abcdef", NULL},
               {"0123456789abcdef and more", 0400, "0123456789abcdef and more", NULL},
               {"0123456789abcdef\r\nanother line\n", 0600, "0123456789abcdef", NULL},
               {"0123456789abcdef\n", 0640, NULL, "the file may be read by others (chmod 600)"},
               {"0123456789abcdef\n", 0604, NULL, "the file may be read by others (chmod 600)"},
               {"0123456789abcde\n", 0600, NULL, "a token has at least 16 characters"},
               {"\n0123456789abcdef\n", 0600, NULL, "a token has at least 16 characters"},
               {"", 0600, NULL, "a token has at least 16 characters"}};
  const char *reason = NULL;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FILE *file = fopen(place, "w");
    fputs(cases[i].content, file);
    fclose(file);
    ck_assert_int_eq(chmod(place, cases[i].mode), 0);
    reason = NULL;
    char *token = sn_token_read(place, &reason);
    if (cases[i].token != NULL) {
      ck_assert_ptr_nonnull(token);
      ck_assert_str_eq(token, cases[i].token);
    } else {
      ck_assert_ptr_null(token);
      ck_assert_str_eq(reason, cases[i].reason);
    }
    free(token);
    unlink(place);
  }
  ck_assert_ptr_null(sn_token_read(place, &reason));
  ck_assert_str_eq(reason, "No such file or directory");
  ck_assert_ptr_null(sn_token_read(directory, &reason));
  ck_assert_str_eq(reason, "that is no file");
  ck_assert_int_eq(mkfifo(place, 0600), 0); /* must not wait */
  ck_assert_ptr_null(sn_token_read(place, &reason));
  unlink(place);
  ck_assert(sn_token_is(sn_string_of("0123456789abcdef"), "0123456789abcdef"));
  ck_assert(!sn_token_is(sn_string_of("0123456789abcdeg"), "0123456789abcdef"));
  ck_assert(!sn_token_is(sn_string_of("0123456789abcdef0"), "0123456789abcdef"));
  ck_assert(!sn_token_is(sn_string_of("0123456789abcdef0123456789abcdef"), "0123456789abcdef"));
  ck_assert(!sn_token_is(sn_string_of("0123456789abcde"), "0123456789abcdef"));
  ck_assert(!sn_token_is(sn_string_of(""), "0123456789abcdef"));
  ck_assert(!sn_token_is(sn_string_of(""), ""));
}
END_TEST

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  Suite *suite = suite_create("wire-connection");
  TCase *tests = tcase_create("connections");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, greeting);
  tcase_add_test(tests, many_messages);
  tcase_add_test(tests, byte_by_byte);
  tcase_add_test(tests, broken_rules);
  tcase_add_test(tests, goodbye_arrives);
  tcase_add_test(tests, the_end_comes_after_the_messages);
  tcase_add_test(tests, one_who_does_not_go);
  tcase_add_test(tests, no_descriptors_left);
  tcase_add_test(tests, other_users);
  tcase_add_test(tests, one_server_at_a_place);
  tcase_add_test(tests, seen_when_ready);
  tcase_add_test(tests, long_paths);
  tcase_add_test(tests, addresses);
  tcase_add_test(tests, tokens);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
