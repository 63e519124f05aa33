/* A session: a database (file or memory), tuple variables, settings, standing queries, live feeds.
 * The shell, scripts, tests and the server run statements through it.                               */
#ifndef TQL_SESSION_H
#define TQL_SESSION_H

#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "netgen/netgen.h"
#include "tquel/format/format.h"

struct tql_session;

/* Where results go. All calls come from the session's thread. */
struct tql_output {
  void *context;
  /* A finished result (retrieve, print, display of a stored relation). */
  void (*rows)(void *context, const struct tql_rows *rows);
  /* Text of help, explain, counts of copy. Ends with a newline. */
  void (*text)(void *context, const char *text);
  /* A standing display: rows as they come. */
  void (*live)(void *context, const char *name, const struct net_layout *layout,
               const union net_slot *row, uint8_t marks, net_chronon checkpoint);
  /* --timing: one line a statement, without newline. NULL: not wanted. */
  void (*timing)(void *context, const char *line);
};

struct tql_session_options {
  const char *path;           /* NULL: in memory */
  enum net_timeline timeline; /* of a new database */
  bool timeline_given;        /* then an existing database must agree */
  bool readonly;
  bool rules_off;       /* all optimiser rules (tests) */
  uint32_t batch_rows;  /* 0: the default */
  bool stdin_is_script; /* `following` "-" is then an error */
  bool explain_only;    /* bind and explain, run nothing */
};

/* Opens or creates the database. BASE_OK, or BASE_USER/BASE_SYSTEM after a diagnostic. */
enum base_status tql_session_open(const struct tql_session_options *options,
                                  struct base_diag_sink *diags,
                                  struct tql_session **ret) BASE_MUST_USE;
/* Commits what is durable, closes. NULL is accepted. */
void tql_session_close(struct tql_session *session);

/* Runs the statements of TEXT in order; each is atomic with all that follows from it. The first error
 * stops (earlier statements stay). NAME and FIRST_LINE are for positions. SINGLE_TRANSACTION: all or
 * nothing. BASE_OK, BASE_USER, BASE_SYSTEM, BASE_CANCEL.                                            */
enum base_status tql_session_run(struct tql_session *session, const char *name, int first_line,
                                 const char *text, size_t length, const struct tql_output *output,
                                 bool single_transaction) BASE_MUST_USE;

/* Has the session live feeds? Runs them until all have ended or the user interrupts (BASE_CANCEL);
 * standing displays print meanwhile. TIMEOUT_MS >= 0: returns BASE_AGAIN after that time.            */
bool tql_session_has_feeds(const struct tql_session *session);
enum base_status tql_session_follow(struct tql_session *session, const struct tql_output *output,
                                    int timeout_ms) BASE_MUST_USE;

/* After running scripts with options.explain_only: all queries seen, as one network. Text: initial
 * network, what the rules did, final network; dot and json: the final network.                      */
void tql_session_explained(struct tql_session *session, enum ng_explain_format format,
                           struct base_buffer *out);

/* Forces a durable commit of what the feeds brought. */
enum base_status tql_session_commit(struct tql_session *session) BASE_MUST_USE;

struct base_diag_sink *tql_session_diags(struct tql_session *session);
enum net_timeline tql_session_timeline(const struct tql_session *session);
const struct base_strings *tql_session_strings(const struct tql_session *session);

/* For completion and \d. */
void tql_session_each_relation(struct tql_session *session,
                               void (*on_name)(void *context, const char *name), void *context);
void tql_session_each_variable(struct tql_session *session,
                               void (*on_name)(void *context, const char *name), void *context);
void tql_session_each_domain(struct tql_session *session, const char *variable_or_relation,
                             void (*on_name)(void *context, const char *name), void *context);
/* Appends what \d shows: one line a relation, or NAME in detail; false: no such relation. */
bool tql_session_describe(struct tql_session *session, const char *name, struct base_buffer *out);
/* Appends what \dn shows: the nodes of NAME, NULL: of all relations, with their figures, as they are in
 * the live network or as they were written last; nothing where there are none. False: no such relation. */
bool tql_session_describe_nodes(struct tql_session *session, const char *name,
                                struct base_buffer *out);

#endif
