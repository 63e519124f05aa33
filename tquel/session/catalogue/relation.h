/* A relation as the session has it: a row of the catalogue, and parts that it has or has not. Each part is the matter of one
 * room, as said beside it; other rooms ask it, and some of them still read and write fields of it. */
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

/* How long its tuples are kept, what is gone of them, and who needs how much of the past (statements that say so,
 * live/history.c, durable/retention.c, durable/aging.c). */
struct session_keeping {
  bool expires;  /* kept until UNTIL */
  bool expiring; /* it is past that, and its tuples go */
  bool expiry_said;
  net_chronon until;
  bool ages; /* tuples are kept for AGE */
  int64_t age;
  char *keeps;     /* that, for people */
  bool incomplete; /* REMOVED tuples that ended before GONE are gone */
  net_chronon gone;
  int64_t removed;
  const struct tql_statement *warned; /* that it is; the last statement */
  bool history_known;                 /* derived: what it needs of its inputs */
  struct ng_history history;
  uint64_t need_round; /* of session->keep: NEED, by NEEDED_BY, is as of it */
  net_chronon need;
  const char *needed_by;
  net_chronon
      horizon; /* what was over before that, the live network that is being built does not read */
};

/* What is or was fed: records that wait for the checkpoint (records/). */
struct session_waiting {
  struct net_inbox pending; /* records beyond the checkpoint */
  bool has_pending;
  bool pending_changed;      /* since it was saved */
  struct net_rows open_rows; /* of a period relation: open tuples that an end record may name */
  net_chronon latest;        /* latest time seen by a feed */
  /* A feed ended just before the checkpoint: a record at that time is still no broken promise, and is
   * taken as a correction. NET_BEGINNING: none. */
  net_chronon boundary;
  uint64_t repeated;   /* periods that were equal to others, since the last commit */
  uint64_t superseded; /* records that hold for no time, since the last commit */
  bool diverted;       /* Late, Rejected: rows came since the last commit */
};

/* What it is derived from, and how that is read. */
struct session_derivation {
  const char *definition; /* self-contained text */
  const char *const *inputs;
  size_t input_count;
  const struct ng_query *query; /* bound, once needed */
  bool origin_fixed;
  net_chronon origin;
  struct session_first firsts[2]; /* view: of its tuples; of the finite instants in them */
  bool
      looked_through; /* stored: the statement that runs reads its inputs in its place (losses/doubt.c) */
  bool as_stored; /* ... does not, as that would fail */
  bool stale;     /* to be computed anew when the live network is built */
  bool begins;    /* its origin has just been found, so its replay is news */
};

/* Its place in the live network (live/, and the parts that are made in tables/). */
struct session_place {
  struct net_node *store_node; /* of a view the result's node */
  struct net_node *periods;    /* traced: what makes them of records there; NULL: not live */
  struct net_node **accesses;  /* nodes that take this relation's rows or records */
  size_t access_count, access_capacity;
  struct net_node **counts; /* they count what was left out of it, too (losses/filtered.c) */
  size_t count_count, count_capacity;
  struct session_ask *asks; /* live and derived: what its network has watched (control/askers.c) */
  size_t ask_count, ask_capacity;
  struct net_rows runs; /* sampled: rows of the table that say of a run that it may go on */
  bool runs_changed;    /* since they were written */
};

/* It is made by sensors (control/). */
struct session_sensed {
  bool announced;
  bool persistent;          /* all of it is asked for, always */
  uint64_t digest;          /* of the description that announced it */
  struct ng_sensor *sensor; /* that of the relation's NG; NULL: it has none */
  const char
      *taskforce; /* it is for that one's event EVENT alone; NULL: for every one's of its name */
  const char *event;
  int holder;              /* the domain whose receptacles switch its sensor; -1: none */
  bool brought, asked_for; /* by sources or sensors; by somebody: as of session_find_asked_for */
  int64_t asked_since;     /* monotonic */
  struct net_control_entry *asked; /* all of it */
  bool sampled_in_overload;        /* as collectors were told (overload.c) */
};

/* What its rows must satisfy (records/integrity.c). */
struct session_conditions {
  const struct session_rule *rules; /* once they were needed */
  size_t rule_count;
  bool rules_loaded;
};

struct session_relation {
  struct ng_relation ng;
  enum st_kind kind;
  bool view;     /* derived, and not stored */
  bool scripted; /* tquel explain: the script has made it, as it is there or anew */
  bool live;     /* rows go through the live network */
  net_chronon checkpoint;
  net_chronon
      passed; /* not derived: the latest finite checkpoint that it ever had; NET_BEGINNING: none */
  uint64_t visited; /* the walk over the catalogue that was here last */
  struct session_feed *feed;
  struct session_index *explained_indexes; /* tquel explain: those that it would have */
  struct session_keeping keep;
  struct session_waiting waiting;
  struct session_derivation derived;
  struct session_place network;
  struct session_sensed sensors;
  struct session_conditions integrity;
};

#endif
