/* Who brings records: their state, for bringers.c, pipes.c and the rooms of feeds and sources above.
 *
 *      tql_source ──▶ session_source ──▶ promises, one a relation
 *      connection     incarnation
 *
 * A session_source is there from the first connection of an incarnation until it is gone for good and that is
 * durable; a tql_source as long as its connection. Relations are found again by name whenever the
 * catalogue has changed.                                                                            */
#ifndef TQUEL_SESSION_BRINGERS_H
#define TQUEL_SESSION_BRINGERS_H

#include "tquel/session/session_impl.h"

/* --- bringers.c */
struct session_feed {
  struct session_relation *relation;
  struct net_reader *reader;
  const char *path;
  struct net_time_context time; /* of who began it */
  int64_t within;               /* chronons */
  int64_t position_saved;
  bool ended;
  bool unit_said; /* that its times look like seconds, and so on */
  bool
      ends_now; /* with the next commit: what is taken back is read again, and the end comes again */
  bool
      ordered_by_stop; /* stops are times seen, too; WITHIN is the longest period and the disorder */
  bool keeps_up;       /* stamps follow the clock: silence then means that nothing happened */
  struct session_feed_counts {
    uint64_t rejected, late, records;
    uint64_t read; /* rows, ends, rounds, bad records: all that it brought */
    int64_t sequence;
  } counts, committed; /* now, and as of the last commit */
  uint64_t reached;    /* the most that .read was: what is taken back is still held */
};
struct session_source {
  char *identity, *host;
  uint64_t number, durable; /* of messages: taken; committed */
  bool changed;             /* since it was saved */
  bool gone;                /* for good */
  bool holds_all;           /* of an earlier process of ours: nobody knows yet what he will bring */
  bool announces;           /* a collector: what it will bring is known only in part */
  bool doubted;             /* it has promised what nobody can know, and that was said */
  bool others;              /* not the owner's: it cannot announce anything */
  int64_t since;            /* monotonic: when he was last there, if TAKER is NULL */
  net_chronon checked;      /* the promise for all relations; NET_BEGINNING: none */
  int64_t heard;            /* monotonic: when that was said last, or it came */
  struct tql_source *taker;
  struct session_promise *promises;
  size_t promise_count, promise_capacity;
  char **processes; /* that are there, as far as it has said */
  size_t process_count, process_capacity;
};
struct tql_source {
  struct tql_session *session;
  struct session_source *state; /* NULL: over */
  struct tql_stream **streams;
  size_t stream_count, stream_capacity;
};
/* NULL: none is known. */
struct session_source *session_find_source(const struct tql_session *session, const char *identity);
struct session_source *session_add_source(struct tql_session *session, const char *identity,
                                          const char *host);
/* It says anew which processes are there. */
void session_forget_processes(struct session_source *state);
/* SOURCE is over, if it was not. */
void session_end_taking(struct tql_source *source);
/* Does another one than BUT bring RELATION? */
bool session_others_bring(const struct tql_session *session, const struct session_source *but,
                          const char *relation);
/* Does it hold checkpoints back? NOW: monotonic. */
bool session_source_counts(const struct tql_session *session, const struct session_source *state,
                           int64_t now);
struct session_promise *session_promise_of(struct session_source *source, const char *relation);
/* Do sources bring RELATION, or would they if somebody asked? */
bool session_is_brought(const struct tql_session *session, const struct session_relation *relation);
/* Does a source that is there bring RELATION? */
bool session_is_taken(const struct tql_session *session, const struct session_relation *relation);
/* Before and after a commit; after a rollback: they are over. */
enum base_status session_sources_save(struct tql_session *session) BASE_MUST_USE;
void session_sources_committed(struct tql_session *session);
void session_sources_take_back(struct tql_session *session);
void session_sources_free(struct tql_session *session);
/* Is RELATION, or what it is derived from, brought by a feed or source? */
bool session_is_fed(struct tql_session *session, const struct session_relation *relation);
/* Nothing of RELATION before TIME will follow from this source. */
struct session_promise {
  char *relation;
  net_chronon time;
  bool given_up; /* it was gone for longer than the grace, and the relation went on without it */
  const struct session_relation *found; /* as of CATALOGUE; NULL: it is not there */
  uint64_t catalogue;
};

/* --- pipes.c */
/* A sequence of records that several incarnations may read. */
struct session_pipe {
  char *process;
  uint64_t position;
  net_chronon at;        /* promised by who brought its last records */
  net_chronon handed_at; /* AT, when who reads it now came */
  uint64_t
      reader; /* who that is: the hash of his identity; 0: as yet nobody, as far as is known here */
  bool changed;
};
/* *RET is NULL if nobody knows of PIPE. Good until the next call. */
enum base_status session_find_pipe(struct tql_session *session, uint64_t pipe,
                                   struct session_pipe **ret) BASE_MUST_USE;
struct session_pipe *session_add_pipe(struct tql_session *session, uint64_t pipe,
                                      const char *process, uint64_t position);
enum base_status session_pipes_save(struct tql_session *session) BASE_MUST_USE;
void session_pipes_clear(struct tql_session *session);

#endif
