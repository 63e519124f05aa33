/* A fuzz target for what the server makes of messages: any messages of shells, a feed and a collector, in any
 * order, to a server in this process, with a database in memory and without readers.
 *
 *   ./dev fuzz server
 *
 * An input is a row of steps: a byte (who: 0 the owner's shell, 1 a feed, 2 a collector, 3 a stranger's shell, as far as
 * there can be one; AGAIN: he comes anew before; MISCOUNT: with a number that is not the next), the message's type, the
 * length of its body in two bytes, the body. Sources have relations, a process, a name and a pipe from the beginning, so
 * that what refers to them gets far. What holds: the server says nothing that is no message, or that it
 * may not say; it acknowledges nothing that did not come; afterwards it answers whoever asks; it gives back what it took.
 * Statements that read or write files are left out. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/wire/records.h"
#include "tquel/serve/output.h"
#include "tquel/serve/turns.h"

#define SIZE_LIMIT 8192
#define WHO        3
#define AGAIN      128
#define MISCOUNT   64
#define NOBODY     65534
#define PEERS      4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct client {
  struct sn_connection *connection; /* this end; NULL: it is gone */
  enum sn_role role;
  uint64_t sent; /* the last number */
};

struct world {
  struct server server;
  struct client clients[PEERS];
  bool answered;           /* a DONE came */
  uint8_t code;            /* that it said */
  struct base_buffer said; /* diagnostics of what was asked */
};

static const char world_text[] =
    "create event E (a = i8, s = text) create traced T (Process = name, v = i4) by Process "
    "create period P (k = i4) create S (n = text) create event Secret (a = i8) "
    "append to P (k = 1) start 2 stop 6 append to P (k = 1) start 4 stop 9 append to S (n = \"a\") "
    "define permit append, retrieve of E to nobody define permit retrieve of T to nobody "
    "range of e is E range of t is T range of p is P "
    "retrieve into D (e.a, n = count(e for each 10)) define view V (t.v) where t.v > 0\n";

static const enum sn_role roles[PEERS] = {SN_ROLE_SHELL, SN_ROLE_FEED, SN_ROLE_COLLECTOR,
                                          SN_ROLE_SHELL};

/* --- clients ------------------------------------------------------------------------------------ */

static void note(struct client *client, struct world *world, const struct sn_message *message) {
  struct sn_message_acknowledge acknowledge;
  struct sn_message_done done;
  struct sn_message_diagnostic diagnostic;
  BASE_CHECK(sn_message_from(message->type) & SN_FROM_SERVER, "fuzz-may-say");
  if (message->type == SN_WIRE_ACKNOWLEDGE) {
    BASE_CHECK(sn_get_acknowledge(message, &acknowledge), "fuzz-acknowledge");
    BASE_CHECK(acknowledge.upto <= client->sent, "fuzz-acknowledges-what-came");
  } else if (message->type == SN_WIRE_DIAGNOSTIC) {
    BASE_CHECK(sn_get_diagnostic(message, &diagnostic), "fuzz-diagnostic");
    base_buffer_append(&world->said, diagnostic.text.bytes, diagnostic.text.length);
  } else if (message->type == SN_WIRE_DONE) {
    BASE_CHECK(sn_get_done(message, &done), "fuzz-done");
    world->answered = true;
    world->code = done.exit_code;
  }
}

static void check_said(const struct sn_message *message) {
#define MESSAGE(NUMBER, NAME, LOWER, FROM) \
  if (message->type == NUMBER) {           \
    struct sn_message_##LOWER one;         \
    BASE_CHECK(sn_get_##LOWER(message, &one), "fuzz-says-messages");
#define FIELD(KIND, LOWER)
#define AT_MOST(LOWER, LARGEST)
#define COUNTED(REST, COUNT, LEAST)
#define END(LOWER) }
#include "sensors/wire/messages.def"
}

static void leave(struct client *client) {
  sn_connection_free(client->connection);
  client->connection = NULL;
}

/* Turns, until neither side has more to say: what is said in one is heard in the next. */
static void settle(struct world *world) {
  struct sn_message message;
  bool news = true, before = true;
  for (int i = 0; (news || before) && i < 64; i++) {
    before = news;
    news = false;
    server_turn(&world->server, false);
    for (int one = 0; one < PEERS; one++) {
      struct client *client = &world->clients[one];
      if (!client->connection) continue;
      bool there = sn_connection_pump(client->connection, 0);
      while (sn_connection_next(client->connection, &message)) {
        news = true;
        check_said(&message);
        note(client, world, &message);
        there = sn_connection_pump(client->connection, 0);
      }
      if (!there) leave(client);
    }
    for (size_t peer = 0; peer < world->server.peer_count; peer++)
      news |= server_peer_waits(world->server.peers[peer]);
  }
}

static void send_message(struct client *client, unsigned type, uint64_t number, const void *body,
                         size_t length) {
  struct base_buffer *out = sn_connection_out(client->connection);
  sn_put_u32(out, (uint32_t)length);
  sn_put_u8(out, (uint8_t)type);
  sn_put_u8(out, (uint8_t)(type >> 8));
  sn_put_u8(out, 0);
  sn_put_u8(out, 0);
  sn_put_u64(out, number);
  base_buffer_append(out, body, length);
}

static void introduce(struct client *client) {
  struct base_buffer *out = sn_connection_out(client->connection);
  const struct sn_message_relation e = {.relation = 1, .name = sn_string_of("E")};
  const struct sn_message_relation t = {.relation = 2, .name = sn_string_of("T")};
  const struct sn_message_process process = {
      .process = 1, .name = sn_string_of("P:1#1"), .pid = 1, .there = true};
  const struct sn_message_name name = {.id = 1, .name = sn_string_of("P:1#1")};
  const struct sn_message_pipe pipe = {.pipe = 9, .process = 1};
  (void)sn_put_relation(out, 0, &e);
  (void)sn_put_relation(out, 0, &t);
  (void)sn_put_process(out, 0, &process);
  (void)sn_put_name(out, 0, &name);
  if (client->role == SN_ROLE_COLLECTOR) (void)sn_put_pipe(out, 0, &pipe);
}

/* A connection between two users' processes: the kernel says who the other one is. */
static void come(struct world *world, int one) {
  struct client *client = &world->clients[one];
  int ends[2];
  bool stranger = one == WHO && geteuid() == 0;
  if (stranger) BASE_CHECK(seteuid(NOBODY) == 0, "fuzz-becomes-nobody");
  int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
  if (stranger) BASE_CHECK(seteuid(0) == 0, "fuzz-becomes-root");
  BASE_CHECK(made == 0, "fuzz-socketpair");
  client->role = roles[one];
  client->sent = 0;
  client->connection = sn_connection_adopt(ends[1], false);
  server_peer_add(&world->server, sn_connection_adopt(ends[0], true));
  const struct sn_message_hello hello = {.version = SN_WIRE_VERSION,
                                         .role = (uint8_t)client->role,
                                         .program = sn_string_of("fuzz"),
                                         .identity = sn_string_of(client->role ? "me" : ""),
                                         .host = sn_string_of("here"),
                                         .directory = sn_string_of("/nowhere")};
  (void)sn_put_hello(sn_connection_out(client->connection), 0, &hello);
  settle(world);
  if (client->role != SN_ROLE_SHELL && client->connection) introduce(client);
}

static void ask(struct world *world, int one, const char *text, size_t length) {
  const struct sn_message_statements statements = {
      .name = sn_string_of("fuzz"), .first_line = 1, .text = sn_string_from(text, length)};
  world->answered = false;
  base_buffer_clear(&world->said);
  (void)sn_put_statements(sn_connection_out(world->clients[one].connection), 0, &statements);
  settle(world);
  if (!world->answered || world->code != 0)
    fprintf(stderr, "%.*s: %s, code %d: %s\n", (int)length, text,
            world->answered ? "answered" : "not answered", world->code,
            base_buffer_text(&world->said));
  BASE_CHECK(world->answered && world->code == 0, "fuzz-is-answered");
}

/* --- steps -------------------------------------------------------------------------------------- */

static bool has_word(const uint8_t *text, size_t length, const char *word) {
  size_t size = strlen(word);
  for (size_t i = 0; i + size <= length; i++)
    if (strncasecmp((const char *)text + i, word, size) == 0) return true;
  return false;
}

/* Files are the owner's to name. Not in pieces either. */
static bool is_left_out(const struct client *client, unsigned type, const uint8_t *body,
                        size_t length) {
  struct sn_message_statements statements;
  const struct sn_message message = {
      .type = (uint16_t)type, .body = body, .length = (uint32_t)length};
  if (client->role != SN_ROLE_SHELL || type != SN_WIRE_STATEMENTS) return false;
  return has_word(body, length, "copy") ||
         (sn_get_statements(&message, &statements) && statements.more);
}

/* As many bytes as the step took. */
static size_t step(struct world *world, const uint8_t *data, size_t size) {
  int one = data[0] & WHO;
  struct client *client = &world->clients[one];
  unsigned type = data[1];
  size_t length = data[2] | (size_t)data[3] << 8;
  if (length > size - 4) length = size - 4;
  if (data[0] & AGAIN && client->connection) {
    leave(client);
    settle(world);
  }
  if (!client->connection) come(world, one);
  if (client->connection && !is_left_out(client, type, data + 4, length)) {
    bool numbered = sn_message_from(type) & SN_NUMBERED;
    uint64_t number = 0;
    if (data[0] & MISCOUNT)
      number = client->sent + length % 3 * 2;
    else if (numbered)
      number = client->sent + 1;
    if (numbered && number > client->sent) client->sent = number;
    send_message(client, type, number, data + 4, length);
    settle(world);
  }
  return 4 + length;
}

/* Whose statement runs is told; what the server says of others is not printed. */
static void on_report(void *context, const struct base_diag *diag) {
  struct server *server = context;
  if (server->running) server_output_report(server->running, diag);
}

static void open_world(struct world *world, const struct server_options *options) {
  *world = (struct world){0};
  world->server.options = options;
  world->server.keeper.socket = -1;
  world->server.peers_max = 64;
  server_init(&world->server);
  world->server.diags.on_report = on_report;
  BASE_CHECK(server_open(&world->server) == BASE_OK, "fuzz-server-opens");
  come(world, 0);
  ask(world, 0, world_text, sizeof world_text - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const struct server_options options = {
      .timeline_given = true,
      .timeline = NET_TIMELINE_ABSTRACT,
      .quiet = true,
      .memory = (size_t)8 << 30, /* sanitizers have much of it */
      .statement_memory = (size_t)256 << 20,
      .time_limit = INT64_C(2000000000), /* the world is made in it, on a busy machine */
      .connections = 8,
      .statements = 2};
  struct world world;
  if (size > SIZE_LIMIT) return 0;
  base_env_set_clock(INT64_C(1763600000) * 1000000000);
  open_world(&world, &options);
  for (size_t at = 0; size - at > 4;) at += step(&world, data + at, size - at);
  for (int one = 0; one < PEERS; one++)
    if (world.clients[one].connection) leave(&world.clients[one]);
  settle(&world);
  come(&world, 0);
  ask(&world, 0, "retrieve (a = 1)", 16);
  leave(&world.clients[0]);
  settle(&world);
  (void)server_close(&world.server, BASE_OK);
  server_done(&world.server);
  base_buffer_done(&world.said);
  return 0;
}
