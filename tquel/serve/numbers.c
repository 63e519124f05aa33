/* What a source's numbers stand for: its relations, names and processes, and whether it may still bring records of the
 * first. Whoever deals with what sources say asks here; it is sources.c that takes the definitions. */
#include "tquel/serve/source.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"

/* So long a permit is believed. */
#define JUDGED_NS INT64_C(1000000000)

bool server_source_is_collector(const struct server_peer *peer) {
  return peer->source && peer->source->collector;
}

uint8_t server_domain_type(struct net_type type) {
  switch (type.base) {
    case NET_INTEGER:
      return SN_DOMAIN_INTEGER;
    case NET_FLOAT:
      return SN_DOMAIN_FLOAT;
    case NET_BOOL:
      return SN_DOMAIN_BOOL;
    case NET_STRING:
      return SN_DOMAIN_STRING;
    case NET_NAME:
      return SN_DOMAIN_NAME;
    case NET_BYTES:
      return SN_DOMAIN_BYTES;
    case NET_TEMPORAL:
    case NET_INSTANT:
    default:
      return 0;
  }
}

/* --- what it may ----------------------------------------------------------------------------------- */

/* With the hint, if there is one, as a second line of the message. */
static void send_error(struct server_source *source, const struct base_diag *diag) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_puts(&text, diag->message);
  if (diag->hint) base_buffer_printf(&text, "\n%s", diag->hint);
  const struct sn_message_error error = {
      .diagnostic = (uint32_t)diag->number,
      .message = sn_string_from(base_buffer_text(&text), text.length)};
  (void)sn_put_error(sn_connection_out(source->peer->connection), 0, &error);
  base_buffer_done(&text);
}

void server_source_errors(struct server_source *source, size_t before) {
  const struct base_diag_sink *diags = &source->peer->server->diags;
  for (size_t i = before; i < diags->count; i++)
    if (diags->items[i].severity == BASE_ERROR) send_error(source, &diags->items[i]);
}

bool server_source_may_append(const struct server_source *source, const char *relation) {
  const struct server_peer *peer = source->peer;
  return peer->owner || tql_session_may(peer->server->session, peer->user, "append", relation);
}

void server_source_refuse_append(struct server_source *source, const char *relation) {
  struct base_diag_sink *diags = &source->peer->server->diags;
  size_t before = diags->count;
  base_report(diags, MSG_NOT_PERMITTED, NULL, NULL, "%s may not append to %s", source->peer->user,
              *relation ? relation : "any relation");
  server_source_errors(source, before);
}

/* --- what its numbers stand for ------------------------------------------------------------------------ */

static struct server_stream *find_stream(const struct server_source *source, uint32_t relation) {
  const struct server_entry *entry = server_table_find(&source->streams, relation);
  return entry ? entry->value.pointer : NULL;
}

/* Permits come and go, also with the hours: whose records are taken is asked again now and then. */
static void judge(struct server_source *source, struct server_stream *stream) {
  int64_t now = base_env_monotonic();
  if (source->peer->owner || !stream->stream || now - stream->judged < JUDGED_NS) return;
  stream->judged = now;
  const char *relation = tql_stream_relation(stream->stream);
  if (server_source_may_append(source, relation)) return;
  server_source_refuse_append(source, relation);
  net_rows_done(&stream->rows);
  stream->stream = NULL; /* the session's, which goes with the source */
  stream->simple_bytes = 0;
}

struct server_stream *server_source_stream(struct server_source *source, uint32_t relation) {
  struct server_stream *stream = find_stream(source, relation);
  if (stream) judge(source, stream);
  return stream;
}

const char *server_source_process(const struct server_source *source, uint32_t process) {
  if (process == 0) return "";
  const struct server_entry *entry = server_table_find(&source->processes, process);
  return entry ? entry->value.pointer : NULL;
}

const char *server_task_force_of(const char *process) {
  return *process ? process + strlen(process) + 1 : "";
}

static char *text_of(struct sn_string string) {
  char *text = base_xmalloc((size_t)string.length + 1);
  if (string.length) memcpy(text, string.bytes, string.length);
  text[string.length] = '\0';
  return text;
}

/* Looked for only where a name means several relations: that takes as long as there are processes. */
struct sn_string server_source_relation(const struct server_source *source,
                                        struct sn_string process, struct sn_string event) {
  const struct tql_session *session = source->peer->server->session;
  char *name = text_of(event);
  const char *found = name;
  bool ambiguous = tql_session_is_ambiguous(session, name);
  for (size_t i = 0; ambiguous && i < source->processes.entries.capacity; i++) {
    const struct server_entry *entry = &source->processes.entries.items[i];
    if (!entry->key || !sn_string_is(process, entry->value.pointer)) continue;
    found = tql_session_relation_of(session, server_task_force_of(entry->value.pointer), name);
    if (found != name) break;
  }
  if (found != name) event = sn_string_of(found);
  free(name);
  return event;
}

void server_source_mark(struct server_source *source, struct base_strings *strings) {
  for (size_t i = 0; i < source->names.entries.capacity; i++)
    if (source->names.entries.items[i].key)
      base_strings_mark(strings, source->names.entries.items[i].value.word);
}
