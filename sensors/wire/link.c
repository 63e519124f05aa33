/* A connection that is made again. The identity is 128 random bits, and belongs to the numbers of the outbox: a
 * server that does not know what it acknowledged (its database is another one) gets another identity, and
 * what is still kept under new numbers.                                                              */
#include "sensors/wire/link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "engine/base/env.h"
#include "engine/base/status.h"

static const int64_t second = 1000000000, first_pause = 100000000, longest_pause = 10000000000;
enum { QUICK_PINGS = 8 };

struct sn_link {
  struct sn_link_options options;
  struct sn_outbox *outbox;
  struct sn_connection *connection;
  bool up, finishing;
  uint64_t welcomes;
  uint8_t timeline;
  char identity[33];
  struct base_buffer reason; /* empty: none */
  uint32_t diagnostic;
  int64_t pause, next_attempt; /* monotonic */
  int64_t welcomed_at;         /* of this connection; 0: not yet */
  int64_t next_ping;
  unsigned pings;
  struct base_random random;
};

/* A new incarnation. */
static void name(struct sn_link *link) {
  uint64_t bits[2];
  static const char digits[] = "0123456789abcdef";
  /* Up to 256 bytes come at once or, without the system call (ENOSYS), not at all. */
  BASE_CHECK(getrandom(bits, sizeof bits, 0) == (ssize_t)sizeof bits, "link-random");
  for (unsigned i = 0; i < 32; i++) link->identity[i] = digits[bits[i / 16] >> (4 * (i % 16)) & 15];
  link->identity[32] = 0;
  link->random.state = bits[0] ^ bits[1];
}

struct sn_link *sn_link_new(const struct sn_link_options *options) {
  struct sn_link *link = base_xcalloc(1, sizeof *link);
  link->options = *options;
  link->outbox = sn_outbox_new(options->outbox_bytes);
  link->next_attempt = INT64_MIN;
  name(link);
  return link;
}

void sn_link_free(struct sn_link *link) {
  if (link == NULL) return;
  sn_connection_free(link->connection);
  sn_outbox_free(link->outbox);
  base_buffer_done(&link->reason);
  free(link);
}

static void fail(struct sn_link *link, const char *reason, uint32_t diagnostic) {
  base_buffer_clear(&link->reason);
  base_buffer_puts(&link->reason, reason);
  link->diagnostic = diagnostic;
  sn_connection_free(link->connection);
  link->connection = NULL;
  link->up = false;
  /* Who is let in and sent away at once, again and again, pauses as well, if not for long. */
  bool let_in = link->welcomed_at != 0;
  bool lasted = let_in && base_env_monotonic() - link->welcomed_at > second;
  int64_t pause = lasted                                    ? 0
                  : let_in && link->pause > 2 * first_pause ? 2 * first_pause
                                                            : link->pause;
  link->welcomed_at = 0;
  link->pause = pause == 0 ? first_pause : pause > longest_pause / 2 ? longest_pause : 2 * pause;
  /* Those whom one server has lost do not all come back at the same time. */
  pause += (int64_t)base_random_below(&link->random, (uint64_t)pause / 2 + 1) - pause / 4;
  link->next_attempt = base_env_monotonic() + pause;
}

static void attempt(struct sn_link *link) {
  const char *reason = NULL;
  if (base_env_monotonic() < link->next_attempt || link->finishing) return;
  link->connection = sn_connection_open(&link->options.address, &reason);
  if (link->connection == NULL) {
    fail(link, reason, 0);
    return;
  }
  const struct sn_link_options *options = &link->options;
  struct sn_message_hello hello = {.version = SN_WIRE_VERSION,
                                   .role = (uint8_t)options->role,
                                   .program = sn_string_of(options->program),
                                   .user = sn_string_of(options->user),
                                   .token = sn_string_of(options->token),
                                   .identity = sn_string_of(link->identity),
                                   .host = sn_string_of(options->host),
                                   .directory = sn_string_of(options->directory)};
  sn_put_hello(sn_connection_out(link->connection), 0, &hello);
}

static void welcomed(struct sn_link *link, const struct sn_message *message) {
  struct sn_message_welcome welcome;
  if (!sn_get_welcome(message, &welcome)) return; /* the connection has seen to it */
  if (!sn_outbox_welcome(link->outbox, welcome.durable, welcome.credit)) {
    sn_outbox_restart(link->outbox);
    name(link);
    fail(link, "the server does not know what it has acknowledged", 0);
    return;
  }
  link->up = true;
  link->welcomes++;
  link->timeline = welcome.timeline;
  link->welcomed_at = base_env_monotonic();
  link->pings = 0;
  link->next_ping = INT64_MIN;
}

static void ping(struct sn_link *link) {
  int64_t now = base_env_monotonic();
  if (!link->up || now < link->next_ping || sn_connection_is_local(link->connection)) return;
  sn_connection_ping(link->connection);
  link->next_ping = now + (link->pings++ < QUICK_PINGS ? second / 4 : 10 * second);
}

void sn_link_turn(struct sn_link *link, short revents) {
  if (link->connection == NULL) attempt(link);
  if (link->connection == NULL) return;
  ping(link);
  if (link->up) sn_outbox_send(link->outbox, link->connection);
  /* That it is over is found out by sn_link_next, after what had come before. */
  sn_connection_pump(link->connection, revents);
}

/* Acknowledgements and greetings. True: the message was one. */
static bool own_message(struct sn_link *link, const struct sn_message *message) {
  struct sn_message_acknowledge acknowledge;
  if (message->type == SN_WIRE_WELCOME) {
    welcomed(link, message);
    return true;
  }
  if (message->type != SN_WIRE_ACKNOWLEDGE) return false;
  if (!sn_get_acknowledge(message, &acknowledge) ||
      !sn_outbox_acknowledged(link->outbox, acknowledge.upto, acknowledge.credit)) {
    sn_connection_goodbye(link->connection, 0, "an ACKNOWLEDGE of what was not sent");
    link->up = false;
  } else {
    link->pause = 0; /* it gets on */
  }
  return true;
}

bool sn_link_next(struct sn_link *link, struct sn_message *ret_message) {
  while (link->connection != NULL && sn_connection_next(link->connection, ret_message))
    if (!own_message(link, ret_message)) return true;
  if (link->connection == NULL) return false;
  const char *reason = sn_connection_reason(link->connection);
  if (reason != NULL && sn_connection_is_over(link->connection)) {
    uint32_t diagnostic = sn_connection_diagnostic(link->connection);
    /* Who has been let in before comes in again, when whoever changes certificates is through with it. */
    if (link->welcomes == 0 && sn_connection_refused(link->connection))
      diagnostic = MSG_PEER_REFUSED;
    fail(link, reason, diagnostic);
  }
  return false;
}

void sn_link_poll(const struct sn_link *link, struct pollfd *ret_poll, int64_t *ret_wait) {
  int64_t now = base_env_monotonic();
  *ret_poll = (struct pollfd){.fd = -1};
  if (link->connection == NULL) {
    int64_t at = link->next_attempt;
    *ret_wait = link->finishing ? longest_pause : at > now ? at - now : 0;
    return;
  }
  ret_poll->fd = sn_connection_descriptor(link->connection);
  ret_poll->events = sn_connection_events(link->connection);
  *ret_wait = second;
  if (link->up && !sn_connection_is_local(link->connection) && link->next_ping < now + second)
    *ret_wait = link->next_ping > now ? link->next_ping - now : 0;
  if (sn_connection_pending(link->connection)) *ret_wait = 0;
  if (link->up && sn_outbox_waits(link->outbox)) ret_poll->events |= POLLOUT;
}

bool sn_link_finish(struct sn_link *link, const char *reason) {
  if (link->connection == NULL) return true;
  if (link->finishing) return false;
  if (!link->up) return true;
  if (sn_outbox_durable(link->outbox) != sn_outbox_last(link->outbox)) return false;
  sn_connection_goodbye(link->connection, 0, reason);
  link->finishing = true;
  link->up = false;
  return false;
}

struct sn_outbox *sn_link_outbox(struct sn_link *link) {
  return link->outbox;
}

bool sn_link_is_up(const struct sn_link *link) {
  return link->up;
}

uint64_t sn_link_welcomes(const struct sn_link *link) {
  return link->welcomes;
}

struct sn_connection *sn_link_connection(struct sn_link *link) {
  return link->up ? link->connection : NULL;
}

const char *sn_link_reason(const struct sn_link *link) {
  return link->reason.length > 0 ? link->reason.data : NULL;
}

uint32_t sn_link_diagnostic(const struct sn_link *link) {
  return link->diagnostic;
}

const char *sn_link_identity(const struct sn_link *link) {
  return link->identity;
}

uint8_t sn_link_timeline(const struct sn_link *link) {
  return link->timeline;
}
