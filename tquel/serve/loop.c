/* The poll loop.
 *
 * A turn: wait until something can be read or written or is due; take new connections; let each peer with
 * news send, receive and have a bounded number of its messages looked at; one turn of the session, which
 * writes to displays and tells sensors; then acknowledgements, pings and the dead. Signals are blocked but
 * during the wait, so that none is missed between looking and sleeping. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/serve/collectors.h"
#include "tquel/serve/kinds.h"
#include "tquel/serve/readers.h"
#include "tquel/serve/turns.h"
#include "tquel/program/signals.h"

#define NS_PER_S ((int64_t)1000000000)
/* Longer than that nobody needs to sleep. */
#define SLEEP_NS (3600 * NS_PER_S)
/* After a turn that took so long, silence of the peers says nothing: they could not be heard. */
#define DEAF_NS (NS_PER_S / 2)

static void add(struct server_loop *loop, int descriptor, short events) {
  base_grow(&loop->polled, &loop->capacity, loop->count + 1, sizeof *loop->polled);
  loop->polled[loop->count++] = (struct pollfd){.fd = descriptor, .events = events};
}

static void add_session(struct server_loop *loop, const struct tql_session *session) {
  size_t count = tql_session_descriptors(session, NULL, 0);
  if (count == 0) return;
  int *descriptors = base_xcalloc(count, sizeof *descriptors);
  count = tql_session_descriptors(session, descriptors, count);
  for (size_t i = 0; i < count; i++) add(loop, descriptors[i], POLLIN);
  free(descriptors);
}

static void gather(struct server *server, struct server_loop *loop) {
  loop->count = 0;
  /* With all places taken nobody is let in: the others wait in the queue of the socket. */
  bool room = server->peer_count < server->peers_max;
  for (size_t i = 0; i < server->acceptor_count; i++)
    add(loop, room ? sn_acceptor_descriptor(server->acceptors[i]) : -1, POLLIN);
  loop->first_peer = loop->count;
  for (size_t i = 0; i < server->peer_count; i++) {
    const struct server_peer *peer = server->peers[i];
    short events = sn_connection_events(peer->connection);
    if (!server_shell_is_ready(peer) && !server_shell_is_busy(peer)) events &= (short)~POLLIN;
    add(loop, sn_connection_descriptor(peer->connection), events);
  }
  for (size_t i = 0; i < server->reading_count; i++) {
    /* Of a reader whose shell is slow not even the end is news. */
    short events = server_reading_events(server->readings[i]);
    add(loop, events ? server_reading_descriptor(server->readings[i]) : -1, events);
  }
  add_session(loop, server->session);
}

static int64_t next_due(const struct server *server) {
  int64_t now = base_env_monotonic(), due = tql_session_due(server->session);
  for (size_t i = 0; i < server->peer_count && due > 0; i++) {
    const struct server_peer *peer = server->peers[i];
    if (server_peer_waits(peer)) return 0;
    int64_t peers = server_peer_due(peer, now);
    if (peers < due) due = peers;
  }
  for (size_t i = 0; i < server->reading_count; i++)
    if (server_reading_waits(server->readings[i])) return 0;
  int64_t unheard = server_unheard_due(server, now);
  if (unheard < due) due = unheard;
  return due < 0 ? 0 : due > SLEEP_NS ? SLEEP_NS : due;
}

static int64_t next_wake(const struct server *server) {
  return base_env_is_stopped() ? 0 : next_due(server);
}

static void wait_for_news(struct server_loop *loop, int64_t due, const sigset_t *unblocked) {
  struct timespec timeout = {.tv_sec = (time_t)(due / NS_PER_S), .tv_nsec = (long)(due % NS_PER_S)};
  if (ppoll(loop->polled, loop->count, &timeout, unblocked) <= 0)
    for (size_t i = 0; i < loop->count; i++) loop->polled[i].revents = 0;
}

static void accept_all(struct server *server, const struct server_loop *loop) {
  for (size_t i = 0; i < server->acceptor_count; i++) {
    if (!loop->polled[i].revents) continue;
    struct sn_connection *connection;
    while (server->peer_count < server->peers_max &&
           (connection = sn_acceptor_next(server->acceptors[i])) != NULL) {
      server_peer_add(server, connection);
      if (!server_peer_make_room(server)) return; /* nobody is sent away unheard */
    }
  }
}

static void serve_peers(struct server *server, const struct server_loop *loop, size_t count) {
  for (size_t i = 0; i < count; i++) {
    struct server_peer *peer = server->peers[i];
    short revents = loop->polled[loop->first_peer + i].revents;
    if (peer->over) continue;
    peer->heard = true;
    if (revents || server_peer_waits(peer) || sn_connection_unsent(peer->connection) > 0)
      server_peer_turn(peer, revents);
  }
}

static void run_session(struct server *server) {
  enum base_status status = tql_session_turn(server->session);
  /* What failed was reported and taken back. A source repeats it. */
  (void)status;
  server_watches_flush(server);
  base_diag_sink_clear(&server->diags);
}

/* Whoever is over goes; the others get what is due. */
static void tick_peers(struct server *server, int64_t began) {
  int64_t now = base_env_monotonic();
  bool deaf = now - began > DEAF_NS;
  server_say_unheard(server, now);
  (void)base_usage_look(&server->usage, 0);
  for (size_t i = 0; i < server->peer_count; i++) {
    struct server_peer *peer = server->peers[i];
    if (deaf && peer->pinged) peer->pinged = now;
    if (!peer->over) server_peer_tick(peer, now);
  }
  /* Whoever goes may concern others: the table has none but those that are there. */
  for (size_t i = 0; i < server->peer_count;) {
    struct server_peer *peer = server->peers[i];
    if (peer->over) {
      server->peers[i] = server->peers[--server->peer_count];
      server_peer_free(peer);
    } else {
      i++;
    }
  }
}

static void block_signals(sigset_t *ret_before) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGHUP);
  sigprocmask(SIG_BLOCK, &blocked, ret_before);
}

void server_turn(struct server *server, bool wait) {
  struct server_loop *loop = &server->loop;
  sigset_t before;
  gather(server, loop);
  size_t count = server->peer_count;
  block_signals(&before);
  wait_for_news(loop, wait ? next_wake(server) : 0, &before);
  sigprocmask(SIG_SETMASK, &before, NULL);
  int64_t began = base_env_monotonic();
  serve_peers(server, loop, count);
  server_shells_turn(server);
  accept_all(server, loop);
  if (!base_env_is_stopped()) run_session(server);
  tick_peers(server, began);
}

void server_run(struct server *server) {
  while (!base_env_is_stopped()) server_turn(server, true);
}
