/* What is counted by hand (\count): the owner's wish, told to every collector, also to those that come later. It is not
 * in the database, and ends with this server. */
#include <stdlib.h>
#include <strings.h>

#include "engine/base/arena.h"
#include "tquel/serve/collectors.h"

void server_count_tell(struct server_peer *source, const char *relation, bool on) {
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_puts(&name, "count ");
  tql_session_put_sensor_name(source->server->session, relation, &name);
  const struct sn_message_write_entry write = {.name = sn_string_from(name.data, name.length),
                                               .value = sn_string_of(on ? "on" : "off")};
  (void)sn_put_write_entry(sn_connection_out(source->connection), 0, &write);
  base_buffer_done(&name);
}

void server_counts_tell(struct server_peer *peer) {
  for (size_t i = 0; i < peer->server->counts.count; i++)
    server_count_tell(peer, peer->server->counts.relations[i], true);
}

void server_counts_free(struct server *server) {
  for (size_t i = 0; i < server->counts.count; i++) free(server->counts.relations[i]);
  free(server->counts.relations);
  server->counts.relations = NULL;
  server->counts.count = server->counts.capacity = 0;
}

void server_count_remember(struct server *server, const char *relation, bool on) {
  size_t i = 0;
  while (i < server->counts.count && strcasecmp(server->counts.relations[i], relation) != 0) i++;
  if (i < server->counts.count && !on) {
    free(server->counts.relations[i]);
    server->counts.relations[i] = server->counts.relations[--server->counts.count];
  } else if (i == server->counts.count && on) {
    base_grow(&server->counts.relations, &server->counts.capacity, i + 1,
              sizeof *server->counts.relations);
    server->counts.relations[server->counts.count++] = base_xstrdup(relation);
  }
}
