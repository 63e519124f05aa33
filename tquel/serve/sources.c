/* Sources: collectors and feeds, which bring records, each into a source of the session.
 *
 * Definitions (DESCRIPTION, PROCESS, RELATION, NAME, PIPE) have no number and hold for the connection; a
 * source says them again when it comes again. Data messages are numbered; what comes a second time is
 * dropped, what is missing breaks the rules. A number is acknowledged when what it brought, and all that
 * followed from it, is on the disk. */
#include "tquel/serve/collectors.h"
#include "tquel/serve/kinds.h"
#include "tquel/serve/source.h"

#include <ctype.h>
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"

/* So many names, and so many relations or processes, a source may have in use. */
#define IN_USE_MAX   ((size_t)1 << 22)
#define NUMBERED_MAX ((size_t)1 << 16)

static struct base_buffer *out_of(const struct server_source *source) {
  return sn_connection_out(source->peer->connection);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static char *text_of(struct sn_string string) {
  char *text = base_xmalloc((size_t)string.length + 1);
  if (string.length) memcpy(text, string.bytes, string.length);
  text[string.length] = '\0';
  return text;
}

/* What is no letter or digit of USER as its number: his name ends where it ends. */
static void put_user(struct base_buffer *out, const char *user) {
  for (; *user; user++) {
    if (isalnum((unsigned char)*user))
      base_buffer_putc(out, *user);
    else
      base_buffer_printf(out, "%%%02x", (unsigned char)*user);
  }
}

/* Of a directory of announcements there is one collector at a time; so who comes after another one comes in his
 * place (tql_source_open). A user who is not the owner comes in nobody's place but his own. */
static char *identity_of(const struct server_peer *peer, const struct sn_message_hello *hello) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (!peer->owner) {
    base_buffer_putc(&text, '~');
    put_user(&text, peer->user);
    base_buffer_putc(&text, '~');
  }
  if (hello->role == SN_ROLE_COLLECTOR && hello->directory.length > 0) {
    base_buffer_append(&text, hello->directory.bytes, hello->directory.length);
    base_buffer_putc(&text, '/');
  }
  base_buffer_append(&text, hello->identity.bytes, hello->identity.length);
  return text.data;
}

/* NULL: it may come in. *RET: the number of the message. */
static const char *fault_of(const struct server_peer *peer, const struct sn_message_hello *hello,
                            enum base_message *ret) {
  *ret = MSG_OWNER_ONLY;
  if (hello->role == SN_ROLE_COLLECTOR && !peer->owner)
    return "only the owner of the database may collect";
  *ret = MSG_PEER_REFUSED;
  if (hello->identity.length == 0) return "a source needs an identity";
  for (uint32_t i = 0; i < hello->identity.length; i++)
    if (!isalnum((unsigned char)hello->identity.bytes[i]))
      return "the identity of a source is made of letters and digits";
  return NULL;
}

void server_source_open(struct server_peer *peer, const struct sn_message_hello *hello) {
  struct server *server = peer->server;
  enum base_message number;
  const char *fault = fault_of(peer, hello, &number);
  if (fault) {
    server_peer_dismiss(peer, (uint32_t)number, fault);
    return;
  }
  char *identity = identity_of(peer, hello), *host = text_of(hello->host);
  struct tql_source *opened = NULL;
  /* What this source brought over its last connection counts as taken only when it is durable. */
  enum base_status status = tql_session_commit(server->session);
  if (status == BASE_OK) status = tql_source_open(server->session, identity, host, &opened);
  free(identity);
  free(host);
  if (status != BASE_OK) {
    server_peer_dismiss(peer, MSG_SOURCE_NOT_TAKEN, "the server cannot take records now");
    return;
  }
  if (!peer->owner) tql_source_of_other(opened);
  struct server_source *source = base_xcalloc(1, sizeof *source);
  *source = (struct server_source){
      .peer = peer, .source = opened, .collector = hello->role == SN_ROLE_COLLECTOR};
  source->taken = source->acknowledged = tql_source_durable(opened);
  peer->source = source;
  const struct sn_message_welcome welcome = {
      .version = SN_WIRE_VERSION,
      .program = sn_string_of(server->options->database),
      .durable = source->taken,
      .credit = SERVER_CREDIT,
      .now = base_env_now(),
      .timeline = (uint8_t)tql_session_timeline(server->session)};
  (void)sn_put_welcome(out_of(source), 0, &welcome);
  if (!source->collector) return;
  server_watches_tell(peer);
  const struct sn_message_read_entry sensors = {.what = sn_string_of("sensors")};
  (void)sn_put_read_entry(out_of(source), 0, &sensors);
}

static void free_stream(struct server_stream *stream) {
  if (!stream) return;
  if (stream->stream) net_rows_done(&stream->rows);
  free(stream->types);
  free(stream->values);
  free(stream);
}

void server_source_close(struct server_peer *peer, bool for_good) {
  struct server_source *source = peer->source;
  server_receptacles_lost(peer);
  peer->source = NULL;
  for (size_t i = 0; i < source->streams.entries.capacity; i++)
    if (source->streams.entries.items[i].key)
      free_stream(source->streams.entries.items[i].value.pointer);
  for (size_t i = 0; i < source->processes.entries.capacity; i++)
    if (source->processes.entries.items[i].key)
      free(source->processes.entries.items[i].value.pointer);
  server_table_done(&source->streams);
  server_table_done(&source->processes);
  server_table_done(&source->names);
  enum base_status status = tql_source_close(source->source, for_good);
  (void)status; /* reported; it comes again and repeats what was not made durable */
  server_reports_free(source->reports);
  free(source->filtered);
  free(source);
}

/* --- acknowledgements ------------------------------------------------------------------------- */

void server_source_tick(struct server_peer *peer) {
  struct server_source *source = peer->source;
  if (tql_source_is_over(source->source)) {
    server_peer_dismiss(peer, MSG_SOURCE_NOT_TAKEN,
                        "what was not acknowledged is to be sent again");
    return;
  }
  if (source->taken - tql_source_durable(source->source) > SERVER_CREDIT / 2) {
    enum base_status status = tql_session_commit(peer->server->session);
    (void)status; /* then there is nothing to acknowledge */
  }
  uint64_t durable = tql_source_durable(source->source);
  if (durable == source->acknowledged) return;
  source->acknowledged = durable;
  const struct sn_message_acknowledge acknowledge = {.upto = durable, .credit = SERVER_CREDIT};
  (void)sn_put_acknowledge(out_of(source), 0, &acknowledge);
}

/* --- definitions ------------------------------------------------------------------------------ */

static enum server_taken taken(enum base_status status) {
  return status == BASE_OK || status == BASE_USER ? SERVER_TAKEN : SERVER_OVER;
}

static enum server_taken take_description(struct server_source *source,
                                          const struct sn_message *message) {
  struct sn_message_description description;
  if (!sn_get_description(message, &description)) return SERVER_WRONG;
  size_t before = source->peer->server->diags.count;
  enum base_status status =
      tql_source_description(source->source, description.digest, description.description.bytes,
                             description.description.length);
  server_source_errors(source, before);
  return taken(status);
}

/* The name of a process, and behind its end that of its task force. */
static char *name_of(const struct sn_message_process *process) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_append(&text, process->name.bytes, process->name.length);
  base_buffer_putc(&text, '\0');
  base_buffer_append(&text, process->taskforce.bytes, process->taskforce.length);
  base_buffer_putc(&text, '\0');
  return text.data;
}

static enum server_taken take_process(struct server_source *source,
                                      const struct sn_message *message) {
  struct sn_message_process process;
  if (!sn_get_process(message, &process) || process.process == 0) return SERVER_WRONG;
  struct server_entry *entry = server_table_find(&source->processes, process.process);
  if (!process.there && entry) {
    server_reports_forget(source->reports, entry->value.pointer);
    tql_source_process(source->source, entry->value.pointer, false);
  }
  if (entry) free(entry->value.pointer);
  if (!process.there) {
    server_table_remove(&source->processes, process.process);
    return SERVER_TAKEN;
  }
  if (source->processes.entries.count >= NUMBERED_MAX) return SERVER_WRONG;
  char *name = name_of(&process);
  server_table_add(&source->processes, process.process)->value.pointer = name;
  tql_source_process(source->source, name, true);
  return SERVER_TAKEN;
}

static uint8_t wire_kind(enum ng_relation_kind kind) {
  switch (kind) {
    case NG_REL_TRACED:
      return SN_RELATION_TRACED;
    case NG_REL_SAMPLED:
      return SN_RELATION_SAMPLED;
    case NG_REL_PERIOD:
      return SN_RELATION_PERIOD;
    case NG_REL_SNAPSHOT:
      return SN_RELATION_SNAPSHOT;
    case NG_REL_EVENT:
    case NG_REL_DERIVED:
    default:
      return SN_RELATION_EVENT;
  }
}

/* Tells a feed what its rows are to be. */
static void send_info(struct server_source *source, uint32_t relation,
                      const struct server_stream *stream) {
  const struct net_layout *layout = stream->layout;
  const struct sn_message_relation_info info = {
      .relation = relation,
      .name = sn_string_of(tql_stream_relation(stream->stream)),
      .kind = wire_kind(tql_stream_kind(stream->stream)),
      .count = layout->field_count};
  struct base_buffer *out = out_of(source);
  size_t at = sn_begin_relation_info(out, 0, &info);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct sn_domain domain = {.name = sn_string_of(layout->fields[i].name),
                                     .type = stream->types[i],
                                     .size = layout->fields[i].type.width,
                                     .by = net_key_has(tql_stream_by(stream->stream), i)};
    sn_put_domain(out, &domain);
  }
  (void)sn_message_end(out, at);
}

static struct server_stream *new_stream(struct tql_stream *opened) {
  struct server_stream *stream = base_xcalloc(1, sizeof *stream);
  if (!opened) return stream;
  const struct net_layout *layout = tql_stream_layout(opened);
  stream->stream = opened;
  stream->layout = layout;
  stream->judged = base_env_monotonic();
  stream->types = base_xcalloc(layout->field_count + 1, sizeof *stream->types);
  stream->values = base_xcalloc(layout->field_count + 1, sizeof *stream->values);
  for (uint32_t i = 0; i < layout->field_count; i++)
    stream->types[i] = server_domain_type(layout->fields[i].type);
  stream->simple_bytes = server_records_simple(stream);
  net_rows_init(&stream->rows, layout);
  return stream;
}

/* Only derived relations have such domains, and those are refused before. */
static bool has_unsendable(const struct server_stream *stream) {
  for (uint32_t i = 0; stream->stream && i < stream->layout->field_count; i++)
    if (!stream->types[i]) return true;
  return false;
}

static enum server_taken take_relation(struct server_source *source,
                                       const struct sn_message *message) {
  struct sn_message_relation relation;
  if (!sn_get_relation(message, &relation)) return SERVER_WRONG;
  if (source->streams.entries.count >= NUMBERED_MAX || relation.relation == 0) return SERVER_WRONG;
  /* What a number means never changes. */
  if (server_table_find(&source->streams, relation.relation)) return SERVER_TAKEN;
  struct base_diag_sink *diags = &source->peer->server->diags;
  size_t before = diags->count;
  char *name = text_of(relation.name);
  struct tql_stream *opened = NULL;
  enum base_status status = BASE_USER;
  bool may = server_source_may_append(source, name);
  if (may)
    status = tql_source_relation(source->source, name, relation.digest, &opened);
  else
    server_source_refuse_append(source, name);
  struct server_stream *stream = new_stream(status == BASE_OK ? opened : NULL);
  if (has_unsendable(stream)) {
    free_stream(stream);
    stream = new_stream(NULL);
  }
  server_table_add(&source->streams, relation.relation)->value.pointer = stream;
  free(name);
  if (may) server_source_errors(source, before);
  if (!stream->stream && diags->count == before) {
    const struct sn_message_error error = {
        .diagnostic = MSG_PEER_REFUSED, .message = sn_string_of("it does not take this relation")};
    (void)sn_put_error(out_of(source), 0, &error);
  }
  if (stream->stream && !source->collector) send_info(source, relation.relation, stream);
  return taken(status);
}

static enum server_taken take_name(struct server_source *source, const struct sn_message *message) {
  struct sn_message_name name;
  if (!sn_get_name(message, &name) || source->names.entries.count >= IN_USE_MAX)
    return SERVER_WRONG;
  struct base_strings *strings = tql_session_string_table(source->peer->server->session);
  base_string_id id = base_strings_intern(strings, name.name.bytes, name.name.length);
  server_table_add(&source->names, name.id)->value.word = id;
  return SERVER_TAKEN;
}

static enum server_taken take_new_name(struct server_source *source,
                                       const struct sn_message *message) {
  struct sn_message_new_name name;
  if (!sn_get_new_name(message, &name)) return SERVER_WRONG;
  server_table_remove(&source->names, name.id);
  return SERVER_TAKEN;
}

static enum server_taken take_pipe(struct server_source *source, const struct sn_message *message) {
  struct sn_message_pipe pipe;
  if (!sn_get_pipe(message, &pipe)) return SERVER_WRONG;
  const char *process = server_source_process(source, pipe.process);
  if (!process || pipe.pipe == 0) return SERVER_WRONG;
  return taken(tql_source_pipe(source->source, pipe.pipe, process, pipe.position));
}

/* --- data ------------------------------------------------------------------------------------- */

static enum server_taken take_records(struct server_source *source,
                                      const struct sn_message *message) {
  struct sn_message_event_record records;
  if (!sn_get_event_record(message, &records)) return SERVER_WRONG;
  return server_records_take(source, &records);
}

static enum server_taken take_check(struct server_source *source,
                                    const struct sn_message *message) {
  struct sn_message_check check;
  if (!sn_get_check(message, &check) || check.time == NET_OPEN) return SERVER_WRONG;
  struct tql_stream *stream = NULL;
  if (check.relation) {
    const struct server_stream *found = server_source_stream(source, check.relation);
    if (!found) return SERVER_WRONG;
    if (!found->stream) return SERVER_TAKEN;
    stream = found->stream;
  }
  return taken(tql_source_check(source->source, stream, check.time));
}

static enum server_taken take_reject(struct server_source *source,
                                     const struct sn_message *message) {
  struct sn_message_reject reject;
  if (!sn_get_reject(message, &reject) || reject.at == NET_OPEN) return SERVER_WRONG;
  const struct server_stream *found = server_source_stream(source, reject.relation);
  if (!found && reject.relation) return SERVER_WRONG;
  /* Of no relation, or of one that was refused: his who may write anywhere. */
  if (!source->peer->owner && (!found || !found->stream)) return SERVER_TAKEN;
  char *reason = text_of(reject.reason);
  enum base_status status =
      tql_source_reject(source->source, found ? found->stream : NULL, reject.at, reason,
                        reject.record.bytes, reject.record.length);
  free(reason);
  return taken(status);
}

static enum server_taken take_loss(struct server_source *source, const struct sn_message *message) {
  struct sn_message_loss loss;
  if (!sn_get_loss(message, &loss)) return SERVER_WRONG;
  const char *process = server_source_process(source, loss.process);
  if (!process || loss.from > loss.to) return SERVER_WRONG;
  char *event = text_of(loss.relation), *cause = text_of(loss.cause);
  const char *relation =
      tql_session_relation_of(source->peer->server->session, server_task_force_of(process), event);
  enum base_status status = BASE_OK;
  if (server_source_may_append(source, relation))
    status =
        tql_source_loss(source->source, process, relation, cause, loss.total, loss.from, loss.to);
  else
    server_source_refuse_append(source, relation);
  free(event);
  free(cause);
  return taken(status);
}

static enum server_taken take_last(struct server_source *source, const struct sn_message *message) {
  struct sn_message_last_record last;
  (void)source;
  return sn_get_last_record(message, &last) ? SERVER_TAKEN : SERVER_WRONG;
}

static enum server_taken take_report(struct server_source *source,
                                     const struct sn_message *message) {
  struct sn_message_report report;
  enum base_status status;
  if (!sn_get_report(message, &report)) return SERVER_WRONG;
  if (!sn_string_is(report.what, "sensors"))
    return server_receptacles_take(source->peer, &report) ? SERVER_TAKEN : SERVER_WRONG;
  if (!server_reports_take(source, &report, &status)) return SERVER_WRONG;
  return taken(status);
}

static enum server_taken take_error(struct server_source *source,
                                    const struct sn_message *message) {
  struct sn_message_error error;
  if (!sn_get_error(message, &error)) return SERVER_WRONG;
  base_report(&source->peer->server->diags, MSG_SOURCE_SAYS, NULL, NULL, "a source says: %.*s",
              (int)(error.message.length < 4096 ? error.message.length : 4096),
              error.message.bytes);
  return SERVER_TAKEN;
}

static enum server_taken take_acknowledge(struct server_source *source,
                                          const struct sn_message *message) {
  struct sn_message_acknowledge acknowledge;
  if (!sn_get_acknowledge(message, &acknowledge)) return SERVER_WRONG;
  server_receptacles_done(source->peer, acknowledge.upto);
  return SERVER_TAKEN;
}

/* --- one message ------------------------------------------------------------------------------ */

static const struct {
  uint16_t type;
  bool numbered;
  bool owners; /* of the owner's sources alone: it is about what belongs to no relation */
  enum server_taken (*take)(struct server_source *source, const struct sn_message *message);
} messages[] = {
    {SN_WIRE_DESCRIPTION, false, true, take_description},
    {SN_WIRE_PROCESS, false, false, take_process},
    {SN_WIRE_RELATION, false, false, take_relation},
    {SN_WIRE_NAME, false, false, take_name},
    {SN_WIRE_NEW_NAME, false, false, take_new_name},
    {SN_WIRE_PIPE, false, true, take_pipe},
    {SN_WIRE_EVENT_RECORD, true, false, take_records},
    {SN_WIRE_CHECK, true, false, take_check},
    {SN_WIRE_REJECT, true, false, take_reject},
    {SN_WIRE_LOSS, true, false, take_loss},
    {SN_WIRE_LAST_RECORD, true, false, take_last},
    {SN_WIRE_REPORT, false, true, take_report},
    {SN_WIRE_ERROR, false, false, take_error},
    {SN_WIRE_ACKNOWLEDGE, false, true, take_acknowledge},
};

/* Definitions and reports that only the owner's sources may send are passed over. */
static enum server_taken refuse_owners(struct server_source *source, unsigned type) {
  struct base_diag_sink *diags = &source->peer->server->diags;
  size_t before = diags->count;
  base_report(diags, MSG_OWNER_ONLY, NULL, NULL, "only the owner of the database may send %s",
              sn_message_name(type));
  server_source_errors(source, before);
  return SERVER_TAKEN;
}

static enum server_taken take(struct server_source *source, const struct sn_message *message) {
  size_t i = 0, count = sizeof messages / sizeof messages[0];
  while (i < count && messages[i].type != message->type) i++;
  if (i == count || (messages[i].numbered && message->number == 0)) return SERVER_WRONG;
  if (messages[i].owners && !source->peer->owner) return refuse_owners(source, message->type);
  if (!messages[i].numbered) return messages[i].take(source, message);
  if (message->number <= source->taken) return SERVER_TAKEN; /* it comes again */
  if (message->number != source->taken + 1) return SERVER_WRONG;
  enum server_taken result = messages[i].take(source, message);
  if (result != SERVER_TAKEN) return result;
  source->taken = message->number;
  tql_source_number(source->source, message->number);
  return SERVER_TAKEN;
}

void server_source_message(struct server_peer *peer, const struct sn_message *message) {
  struct server_source *source = peer->source;
  enum server_taken result =
      tql_source_is_over(source->source) ? SERVER_OVER : take(source, message);
  if (result == SERVER_TAKEN) return;
  if (result == SERVER_OVER) {
    server_peer_dismiss(peer, MSG_SOURCE_NOT_TAKEN,
                        "what was not acknowledged is to be sent again");
    return;
  }
  struct base_buffer reason = BASE_BUFFER_EMPTY;
  const char *name = sn_message_name(message->type);
  base_buffer_printf(&reason, "%s number %llu is wrong", name ? name : "a message",
                     (unsigned long long)message->number);
  base_report(&peer->server->diags, MSG_PEER_DROPPED, NULL, NULL,
              "a source was dropped, as what it sent is wrong: %s", reason.data);
  server_peer_dismiss(peer, MSG_PEER_REFUSED, reason.data);
  base_buffer_done(&reason);
}
