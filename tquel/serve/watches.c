/* What is watched: the session says it of all sensors together, every collector is told.
 *
 * Commands go out in packets that END closes: the watches of one turn belong together, and a collector says
 * when it has done them. A collector that comes later is told of all that are on. */
#include <stdlib.h>

#include "engine/base/arena.h"
#include "tquel/serve/collectors.h"
#include "tquel/serve/source.h"

static void put_object(struct base_buffer *out, const struct base_strings *strings,
                       const struct net_watch_object *object) {
  struct sn_watched_object watched = {.domain = sn_string_of(object->domain),
                                      .pattern = object->pattern,
                                      .type = server_domain_type(object->type),
                                      .value = {.given = true}};
  if (object->type.base == NET_FLOAT) {
    watched.value.real = object->value.f;
  } else if (object->type.base == NET_INTEGER || object->type.base == NET_BOOL) {
    watched.value.integer = object->value.i;
  } else {
    size_t length;
    const char *text = base_strings_text(strings, object->value.s, &length);
    watched.value.text = sn_string_from(text, length);
  }
  sn_put_object(out, &watched);
}

static void tell(struct server_peer *peer, const struct server_watch *watch, bool on) {
  const struct base_strings *strings = tql_session_strings(peer->server->session);
  struct base_buffer *out = sn_connection_out(peer->connection), name = BASE_BUFFER_EMPTY;
  tql_session_put_sensor_name(peer->server->session, watch->watch->relation, &name);
  const struct sn_message_adjust_object message = {
      .watch = watch->number,
      .on = on,
      .relation = sn_string_from(name.data, name.length),
      .starts_only = watch->watch->starts_only,
      .every = watch->watch->every,
      .origin = watch->watch->origin,
      .filter = sn_string_from(watch->watch->filter, on ? watch->watch->filter_length : 0),
      .count = on ? watch->watch->object_count : 0,
  };
  size_t at = sn_begin_adjust_object(out, 0, &message);
  for (uint32_t i = 0; i < message.count; i++) put_object(out, strings, &watch->watch->objects[i]);
  (void)sn_message_end(out, at);
  base_buffer_done(&name);
}

static void tell_all(struct server *server, const struct server_watch *watch, bool on) {
  for (size_t i = 0; i < server->peer_count; i++)
    if (server_source_is_collector(server->peers[i])) tell(server->peers[i], watch, on);
  server->watching.pending = true;
}

static struct server *server_of(struct net_sensor *sensor) {
  return (struct server *)((char *)sensor - offsetof(struct server, watching.sensor));
}

static void enable(struct net_sensor *sensor, const struct net_watch *watch) {
  struct server *server = server_of(sensor);
  base_grow(&server->watching.watches, &server->watching.capacity, server->watching.count + 1,
            sizeof *server->watching.watches);
  struct server_watch *added = &server->watching.watches[server->watching.count++];
  *added = (struct server_watch){++server->watching.last_watch, watch};
  tell_all(server, added, true);
}

static void disable(struct net_sensor *sensor, const struct net_watch *watch) {
  struct server *server = server_of(sensor);
  for (size_t i = 0; i < server->watching.count; i++) {
    if (server->watching.watches[i].watch != watch) continue;
    tell_all(server, &server->watching.watches[i], false);
    server->watching.watches[i] = server->watching.watches[--server->watching.count];
    return;
  }
}

/* Written as an entry: who does not know it passes it over. A collector that comes later has not been there. */
static void sample(struct net_sensor *sensor, const struct net_watch *watch) {
  struct server *server = server_of(sensor);
  const struct base_strings *strings = tql_session_strings(server->session);
  struct base_buffer name = BASE_BUFFER_EMPTY, objects = BASE_BUFFER_EMPTY;
  base_buffer_puts(&name, "sample ");
  tql_session_put_sensor_name(server->session, watch->relation, &name);
  sn_put_u32(&objects, watch->object_count);
  for (uint32_t i = 0; i < watch->object_count; i++)
    put_object(&objects, strings, &watch->objects[i]);
  const struct sn_message_write_entry write = {
      .name = sn_string_from(name.data, name.length),
      .value = sn_string_from(objects.data, objects.length)};
  for (size_t i = 0; i < server->peer_count; i++)
    if (server_source_is_collector(server->peers[i]))
      (void)sn_put_write_entry(sn_connection_out(server->peers[i]->connection), 0, &write);
  base_buffer_done(&name);
  base_buffer_done(&objects);
}

static const struct net_sensor_class sensor_class = {
    .enable = enable, .disable = disable, .sample = sample};

void server_watches_open(struct server *server) {
  server->watching.sensor.class = &sensor_class;
  tql_session_on_watch(server->session, &server->watching.sensor);
}

void server_watches_close(struct server *server) {
  tql_session_on_watch(server->session, NULL);
  server_counts_free(server);
  free(server->watching.watches);
  server->watching.watches = NULL;
  server->watching.count = server->watching.capacity = 0;
}

struct telling {
  struct server *server;
  struct server_peer *peer; /* NULL: all */
};

/* Who does not know that entry passes it over. */
static void tell_overload(void *context, const char *relation, bool sampled) {
  const struct telling *telling = context;
  struct server *server = telling->server;
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_puts(&name, "overload ");
  tql_session_put_sensor_name(server->session, relation, &name);
  const struct sn_message_write_entry write = {.name = sn_string_from(name.data, name.length),
                                               .value = sn_string_of(sampled ? "sampled" : "lose")};
  for (size_t i = 0; i < server->peer_count; i++) {
    struct server_peer *peer = server->peers[i];
    bool meant = telling->peer == NULL ? server_source_is_collector(peer) : peer == telling->peer;
    if (meant) (void)sn_put_write_entry(sn_connection_out(peer->connection), 0, &write);
  }
  base_buffer_done(&name);
}

/* Who asks for what has changed, or somebody has said `set overload`. */
static void look_at_overload(struct server *server) {
  struct telling telling = {server, NULL};
  uint64_t asks = tql_session_asks(server->session);
  if (asks == server->watching.asks) return;
  server->watching.asks = asks;
  tql_session_each_overload(server->session, false, tell_overload, &telling);
}

static void end_packet(struct server_peer *peer) {
  const struct sn_message_end end = {.packet = peer->server->watching.last_packet};
  (void)sn_put_end(sn_connection_out(peer->connection), 0, &end);
}

static void tell_checkpoint(struct server_peer *peer) {
  const struct sn_message_checkpoint message = {.interval = peer->server->watching.checkpoint_ns};
  (void)sn_put_checkpoint(sn_connection_out(peer->connection), 0, &message);
}

/* Somebody may have said `set checkpoint every`. */
static void look_at_checkpoint(struct server *server) {
  int64_t wanted = tql_session_checkpoint_every(server->session);
  if (wanted == server->watching.checkpoint_ns) return;
  server->watching.checkpoint_ns = wanted;
  for (size_t i = 0; i < server->peer_count; i++)
    if (server_source_is_collector(server->peers[i])) tell_checkpoint(server->peers[i]);
  server->watching.pending = true;
}

void server_watches_tell(struct server_peer *peer) {
  struct server *server = peer->server;
  if (server->watching.checkpoint_ns > 0) tell_checkpoint(peer);
  for (size_t i = 0; i < server->watching.count; i++)
    tell(peer, &server->watching.watches[i], true);
  server_counts_tell(peer);
  tql_session_each_overload(server->session, true, tell_overload, &(struct telling){server, peer});
  server->watching.last_packet++;
  end_packet(peer);
}

void server_watches_flush(struct server *server) {
  look_at_checkpoint(server);
  look_at_overload(server);
  if (!server->watching.pending) return;
  server->watching.pending = false;
  server->watching.last_packet++;
  for (size_t i = 0; i < server->peer_count; i++)
    if (server_source_is_collector(server->peers[i])) end_packet(server->peers[i]);
}
