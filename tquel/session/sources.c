/* Sources: whoever brings records over a connection. See session.h. */
#include <stdlib.h>

#include "tquel/session/session_impl.h"

struct tql_source {
  struct tql_session *session;
  uint64_t number;
};

enum base_status tql_session_turn(struct tql_session *session) {
  (void)session;
  return BASE_OK;
}

int64_t tql_session_due(const struct tql_session *session) {
  (void)session;
  return INT64_MAX;
}

size_t tql_session_descriptors(const struct tql_session *session, int *ret, size_t capacity) {
  (void)session, (void)ret, (void)capacity;
  return 0;
}

struct base_strings *tql_session_string_table(struct tql_session *session) {
  return session->strings;
}

void tql_session_on_sweep(struct tql_session *session,
                          void (*mark)(void *context, struct base_strings *strings),
                          void *context) {
  (void)session, (void)mark, (void)context;
}

enum base_status tql_source_open(struct tql_session *session, const char *identity,
                                 const char *host, struct tql_source **ret) {
  (void)identity, (void)host;
  *ret = base_xcalloc(1, sizeof **ret);
  (*ret)->session = session;
  return BASE_OK;
}

enum base_status tql_source_close(struct tql_source *source, bool for_good) {
  (void)for_good;
  free(source);
  return BASE_OK;
}

bool tql_source_is_over(const struct tql_source *source) {
  (void)source;
  return false;
}

enum base_status tql_source_description(struct tql_source *source, uint64_t digest,
                                        const char *text, size_t length) {
  (void)source, (void)digest, (void)text, (void)length;
  return BASE_OK;
}

enum base_status tql_source_relation(struct tql_source *source, const char *relation,
                                     uint64_t digest, struct tql_stream **ret) {
  (void)source, (void)relation, (void)digest, (void)ret;
  return BASE_USER;
}

const struct net_layout *tql_stream_layout(const struct tql_stream *stream) {
  (void)stream;
  return NULL;
}

const char *tql_stream_relation(const struct tql_stream *stream) {
  (void)stream;
  return NULL;
}

enum ng_relation_kind tql_stream_kind(const struct tql_stream *stream) {
  (void)stream;
  return NG_REL_EVENT;
}

int tql_stream_by(const struct tql_stream *stream) {
  (void)stream;
  return -1;
}

enum base_status tql_source_rows(struct tql_stream *stream, const union net_slot *rows,
                                 const uint8_t *marks, size_t count) {
  (void)stream, (void)rows, (void)marks, (void)count;
  return BASE_OK;
}

enum base_status tql_source_end(struct tql_stream *stream, const struct net_read_event *event) {
  (void)stream, (void)event;
  return BASE_OK;
}

enum base_status tql_source_check(struct tql_source *source, struct tql_stream *stream,
                                  net_chronon time) {
  (void)source, (void)stream, (void)time;
  return BASE_OK;
}

enum base_status tql_source_reject(struct tql_source *source, struct tql_stream *stream,
                                   net_chronon at, const char *reason, const char *record,
                                   size_t record_length) {
  (void)source, (void)stream, (void)at, (void)reason, (void)record, (void)record_length;
  return BASE_OK;
}

enum base_status tql_source_loss(struct tql_source *source, const char *process,
                                 const char *relation, const char *cause, uint64_t total,
                                 net_chronon from, net_chronon to) {
  (void)source, (void)process, (void)relation, (void)cause, (void)total, (void)from, (void)to;
  return BASE_OK;
}

enum base_status tql_source_pipe(struct tql_source *source, uint64_t pipe, const char *process,
                                 uint64_t position) {
  (void)source, (void)pipe, (void)process, (void)position;
  return BASE_OK;
}

enum base_status tql_source_sequence(struct tql_source *source, uint64_t pipe, uint64_t first,
                                     uint64_t count, uint64_t *ret_known) {
  (void)source, (void)pipe, (void)first, (void)count;
  *ret_known = 0;
  return BASE_OK;
}

void tql_source_number(struct tql_source *source, uint64_t number) {
  source->number = number;
}

uint64_t tql_source_durable(const struct tql_source *source) {
  return source->number;
}
