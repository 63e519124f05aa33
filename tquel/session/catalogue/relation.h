/* A relation as the session has it: a row of the catalogue, and parts that it has or has not. Each part is written by one
 * room alone. */
#ifndef TQUEL_SESSION_RELATION_H
#define TQUEL_SESSION_RELATION_H

#include "engine/inbox.h"
#include "netgen/netgen.h"
#include "storage/storage.h"

struct session_feed;
struct session_rule;
struct session_ask;
struct session_index;
struct net_control_entry;
struct tql_statement;

/* Where something begins, as one search for origins has found it (origins.c). */
struct session_first {
  uint64_t search;
  bool any;
  net_chronon time;
};

struct session_relation {
  struct ng_relation ng;
  enum st_kind kind;
  bool view;     /* derived, and not stored */
  bool scripted; /* tquel explain: the script has made it, as it is there or anew */
  bool expires;  /* kept until UNTIL */
  bool expiring; /* it is past that, and its tuples go (retention.c) */
  bool expiry_said;
  net_chronon until;
  bool ages; /* tuples are kept for AGE (history.c) */
  int64_t age;
  char *keeps;     /* that, for people */
  bool incomplete; /* REMOVED tuples that ended before GONE are gone */
  net_chronon gone;
  int64_t removed;
  const struct tql_statement *warned; /* that it is; the last statement */
  bool history_known;                 /* derived: what it needs of its inputs */
  struct ng_history history;
  uint64_t need_round; /* of session_keep: NEED, by NEEDED_BY, is as of it */
  net_chronon need;
  const char *needed_by;
  net_chronon
      horizon; /* what of it was over before that, the live network that is being built does not read */
  const struct session_rule *rules; /* once they were needed */
  size_t rule_count;
  bool rules_loaded;
  net_chronon checkpoint;
  net_chronon
      passed; /* not derived: the latest finite checkpoint that it ever had; NET_BEGINNING: none */
  const char *definition; /* derived: self-contained text */
  const char *const *inputs;
  size_t input_count;
  const struct ng_query *query; /* derived: bound, once needed */
  bool origin_fixed;
  net_chronon origin;
  uint64_t visited;               /* the walk over the catalogue that was here last */
  struct session_first firsts[2]; /* view: of its tuples; of the finite instants in them */
  bool
      looked_through; /* derived and stored: the statement that runs reads its inputs in its place (doubt.c) */
  bool as_stored; /* ... does not, as that would fail */
  bool stale;     /* derived: to be computed anew when the live network is built */
  bool begins;    /* derived: its origin has just been found, so its replay is news */
  bool diverted;  /* Late, Rejected: rows came since the last commit */

  /* live: rows go through the live network */
  bool live;
  struct net_node *store_node; /* in the live network; of a view the result's node */
  struct net_node *periods;    /* traced: what makes them of records there; NULL: not live */
  struct net_node **accesses;  /* nodes that take this relation's rows or records */
  size_t access_count, access_capacity;
  uint64_t repeated;        /* periods that were equal to others, since the last commit */
  uint64_t superseded;      /* records that hold for no time, since the last commit */
  struct net_inbox pending; /* records beyond the checkpoint */
  bool has_pending;
  bool pending_changed; /* since it was saved */
  struct session_feed *feed;
  net_chronon latest; /* latest time seen by a feed */
  /* A feed ended just before the checkpoint: a record at that time is still no broken promise, and is
   * taken as a correction. NET_BEGINNING: none. */
  net_chronon boundary;
  struct net_rows runs; /* sampled: rows of the table that say of a run that it may go on */
  bool runs_changed;    /* since they were written */
  /* made by sensors (announced.c) */
  bool announced;
  bool persistent;          /* all of it is asked for, always */
  uint64_t digest;          /* of the description that announced it */
  struct ng_sensor *sensor; /* that of NG; NULL: it has none */
  const char
      *taskforce; /* it is for that one's event EVENT alone; NULL: for every one's of its name */
  const char *event;
  int holder;              /* the domain whose receptacles switch its sensor; -1: none */
  bool brought, asked_for; /* by sources or sensors; by somebody: as of session_find_asked_for */
  struct net_control_entry *asked; /* all of it */
  bool sampled_in_overload;        /* as collectors were told (overload.c) */
  struct session_ask *asks;        /* live and derived: what its network has watched (askers.c) */
  size_t ask_count, ask_capacity;
  struct net_rows
      open_rows; /* period relations fed live: open tuples that an end record may name */
  struct session_index *explained_indexes; /* tquel explain: those that it would have */
};

#endif
