/* Peers: from the connection to the shell or source that it turns out to be, and to its end.
 *
 * Who connects has PATIENCE to say HELLO; where many do who do not, those go first of whom there are most, so that all
 * others find a place. Sources are pinged when they are silent and are given up when they
 * do not answer: a collector that hangs would hold checkpoints up. Shells are not: one that was stopped
 * may go on tomorrow, and what it costs is bounded. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/wire/token.h"
#include "tquel/serve/collectors.h"
#include "tquel/serve/kinds.h"
#include "tquel/serve/readers.h"
#include "tquel/serve/turns.h"

#ifndef TQUEL_VERSION
#define TQUEL_VERSION "unknown"
#endif
#define NS_PER_S ((int64_t)1000000000)
/* To say HELLO; between a source's last sign of life and the ping; to answer it. */
#define PATIENCE_NS (10 * NS_PER_S)
#define SILENCE_NS  (10 * NS_PER_S)
#define ANSWER_NS   (20 * NS_PER_S)
/* Between two reports of connections that were ended for others. */
#define UNHEARD_NS (60 * NS_PER_S)

/* --- those who wait --------------------------------------------------------------------------- */

static char *origin_of(const struct sn_connection *connection) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  char host[NI_MAXHOST] = "an address that is not known";
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (sn_connection_is_local(connection)) {
    base_buffer_printf(&text, "user %lld", (long long)sn_connection_uid(connection));
  } else {
    if (getpeername(sn_connection_descriptor(connection), (struct sockaddr *)&address, &length) ==
        0)
      (void)getnameinfo((struct sockaddr *)&address, length, host, sizeof host, NULL, 0,
                        NI_NUMERICHOST);
    base_buffer_puts(&text, host);
  }
  return text.data;
}

static bool is_waiting(const struct server_peer *peer) {
  return !peer->over && (!peer->greeted || peer->leaving);
}

static size_t waiting_of(const struct server *server, const char *origin /* NULL: of all */) {
  size_t count = 0;
  for (size_t i = 0; i < server->peer_count; i++)
    count += is_waiting(server->peers[i]) &&
             (origin == NULL || strcmp(server->peers[i]->origin, origin) == 0);
  return count;
}

/* The one that has waited longest, of those who have most that wait; NULL: none has had its turn yet. */
static struct server_peer *most_tiresome(const struct server *server) {
  struct server_peer *found = NULL;
  size_t most = 0;
  for (size_t i = 0; i < server->peer_count; i++) {
    struct server_peer *peer = server->peers[i];
    if (!is_waiting(peer) || !peer->heard) continue;
    size_t count = waiting_of(server, peer->origin);
    if (count < most || (count == most && found->since <= peer->since)) continue;
    found = peer;
    most = count;
  }
  return found;
}

bool server_peer_make_room(struct server *server) {
  size_t most =
      server->peers_max / 4 < SERVER_WAITING_MOST ? server->peers_max / 4 + 1 : SERVER_WAITING_MOST;
  if (waiting_of(server, NULL) <= most) return true;
  struct server_peer *peer = most_tiresome(server);
  if (peer == NULL) return false;
  if (!peer->leaving) {
    server->unheard.count++;
    sn_connection_goodbye(peer->connection, MSG_NOT_GREETED,
                          "it has not said who it is, and others wait");
    (void)sn_connection_pump(peer->connection, 0);
  }
  peer->over = true;
  return true;
}

int64_t server_unheard_due(const struct server *server, int64_t now) {
  if (server->unheard.count == 0) return INT64_MAX;
  return server->unheard.said == 0 ? 0 : server->unheard.said + UNHEARD_NS - now;
}

void server_say_unheard(struct server *server, int64_t now) {
  if (server_unheard_due(server, now) > 0) return;
  base_report_hint(&server->diags, MSG_NOT_GREETED, NULL, NULL,
                   "whoever opens connections and says nothing is to be stopped",
                   "%zu connection%s that had not said who they are were ended, as others waited",
                   server->unheard.count, server->unheard.count == 1 ? "" : "s");
  server->unheard.count = 0;
  server->unheard.said = now;
}

void server_peer_add(struct server *server, struct sn_connection *connection) {
  struct server_peer *peer = base_xcalloc(1, sizeof *peer);
  *peer = (struct server_peer){
      .server = server, .connection = connection, .since = base_env_monotonic()};
  peer->origin = origin_of(connection);
  base_grow(&server->peers, &server->peer_capacity, server->peer_count + 1, sizeof *server->peers);
  server->peers[server->peer_count++] = peer;
}

/* The shell or source that it is ends. FOR_GOOD: a source will not come again. */
static void close_peer(struct server_peer *peer, bool for_good) {
  if (peer->shell) server_shell_close(peer);
  if (peer->source) server_source_close(peer, for_good);
}

void server_peer_free(struct server_peer *peer) {
  close_peer(peer, sn_connection_said_goodbye(peer->connection));
  sn_connection_free(peer->connection);
  free(peer->user);
  free(peer->origin);
  free(peer);
}

void server_peer_end(struct server_peer *peer, uint32_t diagnostic, const char *reason) {
  server_peer_dismiss(peer, diagnostic, reason);
  close_peer(peer, false);
}

/* --- who it is ---------------------------------------------------------------------------------- */

static bool is_owner_id(int64_t uid) {
  return uid == 0 || uid == (int64_t)geteuid();
}

/* The name of an account of this machine, owned by the caller; NULL where none can be read. The file first: getpwuid of
 * glibc 2.36 ends the process if memory is short when it is used first (nss_database.c takes what it has allocated for
 * there), and a server has to live through that. It is asked for accounts that are elsewhere (LDAP, systemd). */
static char *account_name(uid_t uid) {
  FILE *file = fopen("/etc/passwd", "re");
  char *name = NULL;
  errno = file ? 0 : errno;
  for (const struct passwd *entry; file && !name && (entry = fgetpwent(file)) != NULL;)
    if (entry->pw_uid == uid) name = base_xstrdup(entry->pw_name);
  bool is_short = errno == ENOMEM;
  if (file) fclose(file);
  const struct passwd *entry = name || is_short ? NULL : getpwuid(uid);
  return entry ? base_xstrdup(entry->pw_name) : name;
}

/* Who it is: of a unix socket as the kernel says, else as the certificate says. */
static char *user_name(const struct server_peer *peer, const struct sn_message_hello *hello) {
  const char *certificate = sn_connection_certificate(peer->connection);
  if (sn_connection_is_local(peer->connection)) {
    uid_t uid = (uid_t)sn_connection_uid(peer->connection);
    char *account = account_name(uid);
    struct base_buffer number = BASE_BUFFER_EMPTY;
    if (account) return account;
    base_buffer_printf(&number, "%u", (unsigned)uid);
    return number.data;
  }
  if (certificate) return base_xstrdup(certificate);
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_append(&name, hello->user.bytes, hello->user.length);
  return name.data ? name.data : base_xstrdup("");
}

/* May it do everything? The server's own user may; whoever came by the token alone and does not say that he
 * is somebody else, too: the token is the owner's secret. */
static bool is_owner(const struct server_peer *peer, const char *user) {
  if (sn_connection_is_local(peer->connection))
    return is_owner_id(sn_connection_uid(peer->connection));
  if (!*user && !sn_connection_certificate(peer->connection)) return true;
  char *own = account_name(geteuid());
  bool is_own = own && strcmp(own, user) == 0;
  free(own);
  return is_own;
}

/* Has his user as many connections as he may, beside this one? */
static bool has_too_many(const struct server_peer *peer) {
  const struct server *server = peer->server;
  size_t count = 0;
  for (size_t i = 0; i < server->peer_count; i++) {
    const struct server_peer *other = server->peers[i];
    count += other != peer && other->greeted && !other->leaving && !other->over &&
             strcmp(other->user, peer->user) == 0;
  }
  return count >= server->options->connections;
}

static void take_hello(struct server_peer *peer, const struct sn_message *message) {
  struct sn_message_hello hello;
  const struct server_options *options = peer->server->options;
  if (!sn_get_hello(message, &hello)) {
    server_peer_dismiss(peer, MSG_PEER_REFUSED, "this is no HELLO");
    return;
  }
  if (hello.version != SN_WIRE_VERSION) {
    server_peer_dismiss(peer, MSG_PEER_REFUSED,
                        "the server speaks another version of the protocol (tquel " TQUEL_VERSION
                        ")");
    return;
  }
  /* With both on offer, either does. */
  if (options->token && !sn_connection_is_local(peer->connection) &&
      !sn_connection_certificate(peer->connection) && !sn_token_is(hello.token, options->token)) {
    server_peer_dismiss(peer, MSG_PEER_REFUSED, "the token is not the server's");
    return;
  }
  peer->greeted = true;
  const struct server_reader *reader = peer->server->reader;
  peer->user = reader ? base_xstrdup(reader->user) : user_name(peer, &hello);
  peer->owner = reader ? reader->owner : is_owner(peer, peer->user);
  if (!reader && !peer->owner && has_too_many(peer)) {
    server_peer_dismiss(peer, MSG_TOO_MANY_CONNECTIONS, "you have too many connections already");
    return;
  }
  if (hello.role == SN_ROLE_SHELL)
    server_shell_open(peer, &hello);
  else
    server_source_open(peer, &hello);
}

/* --- a turn ----------------------------------------------------------------------------------- */

static void take_message(struct server_peer *peer, const struct sn_message *message) {
  if (peer->leaving) return;
  if (!peer->greeted)
    take_hello(peer, message);
  else if (peer->shell)
    server_shell_message(peer, message);
  else if (peer->source)
    server_source_message(peer, message);
  if (peer->leaving) close_peer(peer, false);
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
  while (server_shell_is_busy(peer) && sn_connection_next(peer->connection, &message))
    server_shell_cancel(peer); /* who waits for an answer has nothing else to say */
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
    if (peer->leaving) close_peer(peer, false);
    if (silence < SILENCE_NS) {
      peer->pinged = 0;
    } else if (!peer->pinged) {
      sn_connection_ping(peer->connection);
      peer->pinged = now;
    } else if (now - peer->pinged > ANSWER_NS) {
      peer->over = true;
      return;
    }
  }
  bool pumps = sn_connection_unsent(peer->connection) > 0 || !peer->greeted || peer->leaving;
  if (pumps && !sn_connection_pump(peer->connection, 0) && !peer->waits) peer->over = true;
}

int64_t server_peer_due(const struct server_peer *peer, int64_t now) {
  /* Handshakes and last words go on by themselves, as long as somebody looks. */
  if (!peer->greeted || peer->leaving) return NS_PER_S / 2;
  if (!peer->source) {
    int64_t inquiry = server_inquiry_due(peer, now), shell = server_shell_due(peer, now);
    return inquiry < shell ? inquiry : shell;
  }
  if (peer->pinged) return peer->pinged + ANSWER_NS - now + 1;
  return SILENCE_NS - sn_connection_silence(peer->connection) + 1;
}
