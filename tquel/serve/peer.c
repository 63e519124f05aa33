/* A peer as a connection: what is said to whoever it is. What it says is others' business, and so is its end: who has
 * given a peer its turn looks whether it was dismissed in it (peers.c). */
#include "tquel/serve/peer.h"

#include "engine/base/env.h"

#define PIECE ((size_t)256 << 10)

void server_peer_dismiss(struct server_peer *peer, uint32_t diagnostic, const char *reason) {
  sn_connection_goodbye(peer->connection, diagnostic, reason);
  peer->leaving = true;
  peer->since = base_env_monotonic();
}

void server_peer_answer(struct server_peer *peer, const struct base_buffer *text) {
  size_t sent = 0;
  do {
    size_t piece = text->length - sent < PIECE ? text->length - sent : PIECE;
    const struct sn_message_answer message = {
        .more = sent + piece < text->length,
        .bytes = sn_string_from(base_buffer_text(text) + sent, piece)};
    (void)sn_put_answer(sn_connection_out(peer->connection), 0, &message);
    sent += piece;
  } while (sent < text->length);
}

void server_peer_refuse(struct server_peer *peer, uint32_t diagnostic, const char *message) {
  const struct sn_message_error error = {.diagnostic = diagnostic,
                                         .message = sn_string_of(message)};
  (void)sn_put_error(sn_connection_out(peer->connection), 0, &error);
}
