/* What a shell works with: a session of its own (own.c), or one that a server keeps for it (remote.c).
 * The rest of the shell knows neither sessions nor connections: it hands over texts of statements, lets
 * feeds and displays go on, and asks for names. Results go to the shell's output, diagnostics to
 * standard error, both in the order in which they come about.                                        */
#ifndef TQL_SHELL_BACKEND_H
#define TQL_SHELL_BACKEND_H

#include "engine/base/buffer.h"
#include "engine/base/status.h"

struct shell;
struct tql_session;

/* Kinds of names, for completion. */
enum shell_names { SHELL_RELATIONS, SHELL_VARIABLES, SHELL_DOMAINS };
/* What can be looked at: \d, \dn, \ds, \dr; and \count, which is answered alike. */
enum shell_view { SHELL_DESCRIPTION, SHELL_NODES, SHELL_SENSORS, SHELL_RECEPTACLES, SHELL_COUNT };

struct shell_backend {
  const struct shell_backend_class *class;
};

struct shell_backend_class {
  /* Runs the statements of TEXT, called NAME in messages; the first error stops. BASE_OK, BASE_USER,
   * BASE_SYSTEM, BASE_CANCEL; reported. */
  enum base_status (*run)(struct shell_backend *backend, const char *name, const char *text,
                          size_t length, bool single_transaction);
  /* Is there something that goes on by itself: feeds, displays? */
  bool (*goes_on)(struct shell_backend *backend);
  /* Nothing goes on: says so of displays that will show nothing more. NULL: there are none. */
  void (*tell_idle)(struct shell_backend *backend);
  /* Lets it go on for TIMEOUT_MS at most: BASE_AGAIN there is more to come, BASE_END it is over,
   * BASE_CANCEL interrupted, others failed and reported. */
  enum base_status (*follow)(struct shell_backend *backend, int timeout_ms);
  /* Ends the displays that go on; true: there were any. NULL: they end with the feeds. */
  bool (*stop)(struct shell_backend *backend);
  /* What to poll for reading so as to know that follow has something to do; -1: only by asking it. */
  int (*descriptor)(struct shell_backend *backend);
  /* What was read so far is to be kept for good. */
  enum base_status (*commit)(struct shell_backend *backend);
  /* The names of a kind; OWNER: of domains, the relation or variable. */
  void (*each_name)(struct shell_backend *backend, enum shell_names kind, const char *owner,
                    void (*on_name)(void *context, const char *name), void *context);
  /* Appends what there is to see of NAME, NULL: of all. BASE_END: there is no such relation; BASE_OK,
   * or BASE_USER or BASE_SYSTEM after a report. */
  enum base_status (*describe)(struct shell_backend *backend, enum shell_view view,
                               const char *name, struct base_buffer *out);
  /* Appends what the greeting says it is. */
  void (*title)(struct shell_backend *backend, struct base_buffer *out);
  /* Ends it; STATUS is how the shell fared so far, and what comes of it is returned. */
  enum base_status (*close)(struct shell_backend *backend, enum base_status status);
};

/* --- own.c */

/* A session on the database that the shell's options name, or in memory. */
enum base_status shell_own_open(struct shell *shell, bool stdin_is_script, bool explain_only,
                                struct shell_backend **ret) BASE_MUST_USE;
struct tql_session *shell_own_session(struct shell_backend *backend);

/* --- remote.c */

/* A connection to the server that the shell's options name. */
enum base_status shell_remote_open(struct shell *shell, struct shell_backend **ret) BASE_MUST_USE;

#endif
