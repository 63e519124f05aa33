/* A source as the server knows it: what its numbers stand for, its records, what collectors report of their sensors. */
#ifndef TQL_SERVE_SOURCE_H
#define TQL_SERVE_SOURCE_H

#include "tquel/serve/peer.h"
#include "tquel/serve/table.h"

/* The records of one relation of this connection. */
struct server_stream {
  struct tql_stream *stream; /* NULL: the relation was refused, what comes is not taken */
  const struct net_layout *layout;
  uint8_t *types; /* enum sn_domain_type of its fields */
  struct sn_datum *values;
  size_t simple_bytes;  /* of a record that is simple (records.c); 0: none is */
  struct net_rows rows; /* of the message that is being read */
  int64_t judged;       /* monotonic: when its user might last append to it */
};

/* Records that a filter has left out. */
struct server_filtered {
  struct tql_stream *stream;
  uint32_t process;
  uint64_t count;
  int64_t since, until;
};

struct server_source {
  struct server_peer *peer;
  struct tql_source *source;
  bool collector;
  uint64_t taken, acknowledged;     /* numbers of data messages */
  struct server_table streams;      /* struct server_stream, by relation number */
  struct server_table names;        /* string ids, by name id */
  struct server_table processes;    /* names, by process number */
  struct server_filtered *filtered; /* of the message that is being read */
  size_t filtered_count, filtered_capacity;
  struct server_reports *reports;
};

enum server_taken {
  SERVER_TAKEN,
  SERVER_WRONG, /* it is no such message: the peer breaks the rules */
  SERVER_OVER,  /* nothing is taken any more: the source is to come again */
};

/* --- numbers.c */

/* The type of a domain in messages (enum sn_domain_type); 0: it cannot be sent. */
uint8_t server_domain_type(struct net_type type);
/* Is it a collector, which is told what to watch? */
bool server_source_is_collector(const struct server_peer *peer);
/* The strings that its names stand for. */
void server_source_mark(struct server_source *source, struct base_strings *strings);
/* Says to the source what was reported since there were BEFORE diagnostics. */
void server_source_errors(struct server_source *source, size_t before);
/* May its user append to RELATION? */
bool server_source_may_append(const struct server_source *source, const char *relation);
/* Says to it that he may not. */
void server_source_refuse_append(struct server_source *source, const char *relation);
/* NULL: there is no such number. What its user may not append to any more is refused from now on. */
struct server_stream *server_source_stream(struct server_source *source, uint32_t relation);
/* The name of a process; NULL: there is none of that number. 0 is the source itself. */
const char *server_source_process(const struct server_source *source, uint32_t process);
/* The task force of a process of that name, which stands behind the name's end. */
const char *server_task_force_of(const char *process);
/* Which relation EVENT of PROCESS is of, as the source reports it; good until the catalogue changes. */
struct sn_string server_source_relation(const struct server_source *source,
                                        struct sn_string process, struct sn_string event);

/* --- records.c */

/* How long the simple records of a stream are that has its layout and types. */
size_t server_records_simple(const struct server_stream *stream);
enum server_taken server_records_take(struct server_source *source,
                                      const struct sn_message_event_record *message);

/* --- reports.c */

/* What collectors said of sensors, of one source. */
struct server_reports;
/* Takes MESSAGE, a report of SOURCE about sensors; what they cost is kept by the session, when the report is complete
 * (*RET_STATUS). False: it makes no sense, and nothing was taken. */
bool server_reports_take(struct server_source *source, const struct sn_message_report *message,
                         enum base_status *ret_status);
/* PROCESS has ended. REPORTS may be NULL. */
void server_reports_forget(struct server_reports *reports, const char *process);
void server_reports_free(struct server_reports *reports);
/* Appends what \ds shows on SEAT. */
void server_reports_describe(struct server *server, struct tql_seat *seat, struct base_buffer *out);

#endif
