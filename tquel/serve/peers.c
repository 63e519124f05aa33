/* Peers: from the connection to the shell or source that it turns out to be, and to its end.
 *
 * Who connects has PATIENCE to say HELLO. Sources are pinged when they are silent and are given up when they
 * do not answer: a collector that hangs would hold checkpoints up. Shells are not: one that was stopped
 * may go on tomorrow, and what it costs is bounded. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/serve/server.h"

#ifndef TQUEL_VERSION
#define TQUEL_VERSION "unknown"
#endif
#define NS_PER_S ((int64_t)1000000000)
/* To say HELLO; between a source's last sign of life and the ping; to answer it. */
#define PATIENCE_NS (10 * NS_PER_S)
#define SILENCE_NS  (10 * NS_PER_S)
#define ANSWER_NS   (20 * NS_PER_S)

void server_peer_add(struct server *server, struct sn_connection *connection) {
  struct server_peer *peer = base_xcalloc(1, sizeof *peer);
  *peer = (struct server_peer){
      .server = server, .connection = connection, .since = base_env_monotonic()};
  base_grow(&server->peers, &server->peer_capacity, server->peer_count + 1, sizeof *server->peers);
  server->peers[server->peer_count++] = peer;
}

void server_peer_free(struct server_peer *peer) {
  if (peer->shell) server_shell_close(peer);
  if (peer->source) server_source_close(peer, sn_connection_said_goodbye(peer->connection));
  sn_connection_free(peer->connection);
  free(peer);
}

void server_peer_end(struct server_peer *peer, uint32_t diagnostic, const char *reason) {
  sn_connection_goodbye(peer->connection, diagnostic, reason);
  peer->leaving = true;
  peer->since = base_env_monotonic();
  if (peer->shell) server_shell_close(peer);
  if (peer->source) server_source_close(peer, false);
}

/* --- greeting --------------------------------------------------------------------------------- */

/* In constant time: how long it takes says nothing of how much was right. */
static bool is_token(struct sn_string given, const char *token) {
  size_t length = strlen(token);
  unsigned char difference = given.length != length;
  for (size_t i = 0; i < given.length; i++)
    difference |= (unsigned char)(given.bytes[i] ^ token[length ? i % length : 0]);
  return difference == 0;
}

static void take_hello(struct server_peer *peer, const struct sn_message *message) {
  struct sn_message_hello hello;
  const struct server_options *options = peer->server->options;
  if (!sn_get_hello(message, &hello)) {
    server_peer_end(peer, MSG_PEER_REFUSED, "this is no HELLO");
    return;
  }
  if (hello.version != SN_WIRE_VERSION) {
    server_peer_end(peer, MSG_PEER_REFUSED,
                    "the server speaks another version of the protocol (tquel " TQUEL_VERSION ")");
    return;
  }
  if (options->token && !sn_connection_is_local(peer->connection) &&
      !is_token(hello.token, options->token)) {
    server_peer_end(peer, MSG_PEER_REFUSED, "the token is not the server's");
    return;
  }
  peer->greeted = true;
  if (hello.role == SN_ROLE_SHELL)
    server_shell_open(peer, &hello);
  else
    server_source_open(peer, &hello);
}

static void answer_ping(struct server_peer *peer, const struct sn_message *message) {
  struct sn_message_ping ping;
  int64_t received = base_env_now();
  if (!sn_get_ping(message, &ping)) {
    server_peer_end(peer, MSG_PEER_REFUSED, "a PING is wrong");
    return;
  }
  const struct sn_message_pong pong = {
      .sent = ping.sent, .received = received, .answered = base_env_now()};
  (void)sn_put_pong(sn_connection_out(peer->connection), 0, &pong);
}

/* --- a turn ----------------------------------------------------------------------------------- */

static void take_message(struct server_peer *peer, const struct sn_message *message) {
  if (peer->leaving) return;
  if (!peer->greeted) {
    take_hello(peer, message);
    return;
  }
  switch (message->type) {
    case SN_WIRE_PING:
      answer_ping(peer, message);
      break;
    case SN_WIRE_PONG:
      break;
    default:
      if (peer->shell) server_shell_message(peer, message);
      if (peer->source) server_source_message(peer, message);
  }
}

void server_peer_turn(struct server_peer *peer, short revents) {
  bool alive = sn_connection_pump(peer->connection, revents);
  struct sn_message message;
  peer->waits = false;
  for (int i = 0; server_shell_is_ready(peer) && sn_connection_next(peer->connection, &message);
       i++) {
    take_message(peer, &message);
    peer->waits = i + 1 == SERVER_MESSAGES;
    if (peer->waits) break;
  }
  /* What came before the end is looked at first; but who is gone takes no answers. */
  if (sn_connection_said_goodbye(peer->connection)) alive = false;
  if (!alive && (!peer->waits || peer->shell)) peer->over = true;
  if (!peer->over && sn_connection_unsent(peer->connection) > 0 &&
      !sn_connection_pump(peer->connection, 0))
    peer->over = !peer->waits;
}

bool server_peer_waits(const struct server_peer *peer) {
  if (!server_shell_is_ready(peer)) return false;
  if (peer->waits || sn_connection_pending(peer->connection)) return true;
  /* A connection that does not want to read has a message that nobody asked for yet: sending receives, too. */
  return !peer->leaving && !(sn_connection_events(peer->connection) & POLLIN);
}

void server_peer_tick(struct server_peer *peer, int64_t now) {
  int64_t silence = sn_connection_silence(peer->connection);
  if ((!peer->greeted || peer->leaving) && now - peer->since > PATIENCE_NS) {
    peer->over = true;
    return;
  }
  if (peer->shell) server_shell_tick(peer);
  if (peer->source) {
    server_source_tick(peer);
    if (silence < SILENCE_NS) {
      peer->pinged = 0;
    } else if (!peer->pinged) {
      const struct sn_message_ping ping = {.sent = base_env_now()};
      (void)sn_put_ping(sn_connection_out(peer->connection), 0, &ping);
      peer->pinged = now;
    } else if (now - peer->pinged > ANSWER_NS) {
      peer->over = true;
      return;
    }
  }
  if (sn_connection_unsent(peer->connection) > 0 && !sn_connection_pump(peer->connection, 0) &&
      !peer->waits)
    peer->over = true;
}

int64_t server_peer_due(const struct server_peer *peer, int64_t now) {
  if (!peer->greeted || peer->leaving) return peer->since + PATIENCE_NS - now + 1;
  if (!peer->source) return INT64_MAX;
  if (peer->pinged) return peer->pinged + ANSWER_NS - now + 1;
  return SILENCE_NS - sn_connection_silence(peer->connection) + 1;
}
