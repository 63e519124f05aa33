/* The update network as those see it who build and run one (netgen, sessions, tests).
 *
 * A network is built with create functions, net_link, then frozen; later additions
 * (another standing query) are built and frozen in turn. One thread runs it, depth-first by batch:
 * what a node emits goes straight to its readers. Given the same input rows and checkpoints, the
 * output is the same, byte for byte.
 *
 * Thesis chapter 6 (nodes, create, link, unlink) and appendix C (operator nodes).                  */
#ifndef NET_NETWORK_H
#define NET_NETWORK_H

#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "engine/batch.h"
#include "engine/expr.h"
#include "engine/key.h"
#include "engine/losses.h"
#include "engine/store.h"

struct net_network;
struct net_node;

enum net_node_kind {
#define NODE(KIND, NAME, PORTS, ORDER_IN, ORDER_OUT, STATE, CHECKPOINT) NET_NODE_##KIND,
#include "engine/nodes.def"
#undef NODE
  NET_NODE_KINDS
};

/* The temporal orders of thesis 7.2.2, of the plain rows (batch.h) of an arc, from batch to batch. Its second,
 * starts and stops by themselves, is that of all other rows: what is open at a checkpoint, or uncertain, comes when
 * it is known, and no order is promised beyond the checkpoint. Of events BOTH and STARTS are one. */
enum net_order {
  NET_ORDER_ANY, /* nobody says; of what comes in: it is all one */
  NET_ORDER_NONE,
  NET_ORDER_STOPS,  /* the fourth */
  NET_ORDER_STARTS, /* the third */
  NET_ORDER_BOTH,   /* the first: periods that do not overlap, by their starts and stops */
  NET_ORDER_KEPT,   /* of kinds of nodes alone: that of the input */
};

struct net_node_info {
  const char *name; /* as explain and tq_node_stats show it */
  unsigned ports;   /* inputs */
  enum net_order
      order_in; /* that it takes rows in; STARTS: what comes in another is sorted first */
  enum net_order order_out; /* that it gives rows in, whatever comes */
  const char *state;        /* what bounds the state */
  const char *checkpoint;   /* what a saved state holds */
};
const struct net_node_info *net_node_info(enum net_node_kind kind);

/* What happens to a run-time error in an expression. Returns true to leave the row out and go on
 * (standing queries: the row went to Rejected), false to fail the network.                          */
typedef bool (*net_reject_fn)(void *context, const struct net_node *node, enum net_eval_error error,
                              const struct net_layout *layout, const union net_slot *row);

struct net_network *net_network_new(struct base_strings *strings, enum net_timeline timeline,
                                    struct base_diag_sink *diags);
void net_network_free(struct net_network *network);
void net_network_on_reject(struct net_network *network, net_reject_fn reject, void *context);
/* Memory that lives as long as the network. */
struct base_arena *net_network_arena(struct net_network *network);
/* Rows per emitted batch, 1..NET_BATCH_ROWS; before anything is created. */
void net_network_set_batch_rows(struct net_network *network, uint32_t rows);
/* Nodes that are made from now on are some of those whose rows have FIELDS fields together: where these are very many
 * their batches have fewer rows, so that all of them fit into some tens of megabytes. */
void net_network_expect_fields(struct net_network *network, size_t fields);
/* No node takes a short way: no batch is plain (batch.h), and every row is treated as all rows can be. The
 * result is the same, row for row, and comes later; for those who check and time the short ways. Before
 * anything is created.                                                                             */
void net_network_set_general(struct net_network *network);
/* Joins keep no more rows so that they are quick, and where more stay most of them in less room (nodes/product/old.c);
 * NET_YOUNG_ROWS if nothing is said. Before anything is created. */
enum { NET_YOUNG_ROWS = 8192 };
void net_network_set_young(struct net_network *network, size_t rows);
/* All rows are looked at: are those of each arc in the order that was promised (net_node_promise)? For those who
 * test. Before anything is created. */
void net_network_set_checked(struct net_network *network);

/* --- create: one function per kind of node. Names are for people. Programs, layouts and arrays must
 * live as long as the network (its arena, or longer).                                               */

/* Access: rows of SOURCE (taken over; NULL: rows come by net_access_push). DROP_CLOSES: rows with
 * NET_CLOSES are left out (records read without an event-to-period node above).                    */
struct net_node *net_create_access(struct net_network *network, const char *name,
                                   const struct net_layout *layout, struct net_source *source,
                                   bool drop_closes);
/* Access: the records come from a sensor behind CONTROL, of which WATCH is asked as long as the node lives
 * (any number of them). */
struct net_control;
struct net_watch;
void net_access_watch(struct net_node *access, struct net_control *control,
                      const struct net_watch *watch);
/* The access node that NODE is, or that is below it, following first inputs; NULL: there is none. */
struct net_node *net_access_below(struct net_node *node);
/* Access: a control arc (port 0, of rows of IN) says which objects: for each row of it WATCH, with the value
 * at SLOT for its last object, while the row's period lasts (an event: from then on). Once.         */
void net_access_watch_objects(struct net_node *access, struct net_control *control,
                              const struct net_watch *watch, const struct net_layout *in,
                              uint32_t slot);
/* Calls EACH with what ACCESS has watched now, as often as somebody wants it. */
void net_access_each_watch(const struct net_node *access,
                           void (*each)(void *context, const struct net_watch *watch),
                           void *context);
/* Access: CHECKPOINT, if it is finite and later than what was so far, was promised to the world: by what
 * was pushed into an earlier network, say. What net_access_push brings counts by itself, but not what comes
 * with MORE behind it.                                                                              */
void net_access_set_passed(struct net_node *access, net_chronon checkpoint);
/* Event-to-period: records (event rows) become periods of OUT (same fields); a record opens a period
 * for its entity, the values of its key BY, and closes the previous one. */
struct net_node *net_create_event_to_period(struct net_network *network, const char *name,
                                            const struct net_layout *in,
                                            const struct net_layout *out, const struct net_key *by);
/* Calls EACH with the latest period, which is open, of every entity of an event-to-period node. */
void net_periods_each_open(const struct net_node *periods,
                           void (*each)(void *context, const struct net_layout *layout,
                                        const union net_slot *row),
                           void *context);
/* Samples-to-period: the records of a sampled relation (event rows; NET_CLOSES: the entity was not
 * there, NET_ROUND: a round ends) become periods of OUT (same fields). BY as above.                 */
struct net_node *net_create_samples_to_period(struct net_network *network, const char *name,
                                              const struct net_layout *in,
                                              const struct net_layout *out,
                                              const struct net_key *by);
/* Of the records LOSSES are known, which must outlive the node; field PROCESS of a record names who made it
 * (negative: none does). Before the network runs. *DIVIDED is set if they divide what would be one period. */
struct net_losses;
void net_samples_set_losses(struct net_node *samples, const struct net_losses *losses, int process,
                            bool *divided);
/* Calls EACH with the period, as far as it is known, of every run that may go on. */
void net_samples_each_run(const struct net_node *samples,
                          void (*each)(void *context, const union net_slot *row), void *context);

/* What records cost: events with the process that made them, and chronons. */
enum { NET_COST_PROCESS, NET_COST_CHRONONS }; /* fields */
#define NET_COST_MOST ((int64_t)UINT32_MAX)   /* of one record */
const struct net_layout *net_cost_layout(struct base_arena *arena, struct net_type process);
/* Costs: each record is COST chronons (0 to NET_COST_MOST) of the process that its field PROCESS_FIELD
 * names. COSTS: the output's layout, of net_cost_layout. MORE: port 1 has costs of other records.    */
struct net_node *net_create_costs(struct net_network *network, const char *name,
                                  const struct net_layout *records, uint32_t process_field,
                                  int64_t cost, const struct net_layout *costs, bool more);
/* Compensate: the stop of each period (port 0) becomes earlier by the costs (port 1) of the process that
 * its field PROCESS_FIELD names, of the same type, within the period.                                */
struct net_node *net_create_compensate(struct net_network *network, const char *name,
                                       const struct net_layout *periods, uint32_t process_field,
                                       const struct net_layout *costs);

/* Clock: ticks at ORIGIN and every EVERY chronons after it, as far as the inputs say; port 1 may be
 * left free. LAYOUT: events without fields. Ticks are sent when net_run pulls them: whoever pushes
 * batches calls net_run behind them. */
struct net_clock_params {
  const struct net_layout *left, *right; /* RIGHT NULL: one input */
  int64_t every;
  bool origin_given; /* false: it does not tick */
  net_chronon origin;
  net_chronon latest; /* as if a finite instant of an input; NET_BEGINNING: none */
};
struct net_node *net_create_clock(struct net_network *network, const char *name,
                                  const struct net_layout *layout,
                                  const struct net_clock_params *params);
/* Credibility 0: all bounds collapse to their middle, omega rows are left out. */
struct net_node *net_create_credibility(struct net_network *network, const char *name,
                                        const struct net_layout *layout);
/* Distinct: omega rows that a definite one is equal to are left out. */
struct net_node *net_create_distinct(struct net_network *network, const char *name,
                                     const struct net_layout *layout);
/* Set: equal tuples are one. */
struct net_node *net_create_set(struct net_network *network, const char *name,
                                const struct net_layout *layout);
/* Coalesce: periods equal in all fields that overlap or adjoin become one. */
struct net_node *net_create_coalesce(struct net_network *network, const char *name,
                                     const struct net_layout *layout);
struct net_node *net_create_selection(struct net_network *network, const char *name,
                                      const struct net_layout *layout,
                                      const struct net_program *predicate);
/* Copies what is at slot SOURCES[i] of the input, a field or one of its times, into field i of OUT; the
 * implicit times of OUT are taken from the instants at START_SLOT and (periods) STOP_SLOT of the input: slot 0
 * and 2 are the input's own.
 * A period that comes out empty gives no row, one that is perhaps empty an omega row, except where
 * OWN_PERIOD says that both instants are those of one and the same tuple (then kept as they are).
 * OUT may be an event layout: then only START_SLOT is read. NOT_EARLIER: the instant at START_SLOT is
 * never before the row's own start, so what the input promises of starts holds for the result. KEEPS_START: of plain
 * rows it is their own start, whatever slot it is in, so they stay in order.                       */
struct net_node *net_create_projection(struct net_network *network, const char *name,
                                       const struct net_layout *in, const struct net_layout *out,
                                       const uint32_t *sources, uint32_t start_slot,
                                       uint32_t stop_slot, bool own_period, bool not_earlier,
                                       bool keeps_start);
/* Appends one field, the last of OUT, with the value of PROGRAM. */
struct net_node *net_create_apply(struct net_network *network, const char *name,
                                  const struct net_layout *in, const struct net_layout *out,
                                  const struct net_program *program);

/* Cut: each period becomes the sub-periods in which CONDITION, a program that compares temporal values,
 * is not false; an event passes if it is not false at its instant. Field i of OUT is field SOURCES[i] of
 * IN; temporal values are counted from the sub-period's start. MARKS: sub-periods in which it is false
 * come, too, and OUT has a last field, a bool, that says which do; FIRST_ONLY: nothing after the first
 * in which it holds.                                                                               */
struct net_cut_params {
  const struct net_layout *in, *out;
  const struct net_program *condition;
  const uint32_t *sources;
  uint32_t source_count;
  bool marks, first_only;
  int64_t bridge; /* pieces that are no further apart are one */
};
struct net_node *net_create_cut(struct net_network *network, const char *name,
                                const struct net_cut_params *params);

enum net_product_rule {
  NET_PRODUCT_OVERLAP, /* combinations that have a point in common, three-valued */
  NET_PRODUCT_FULL,    /* all combinations */
};

/* One of the tuples that take part in a row: the row itself, or an earlier combination's member. */
struct net_participant {
  bool event;
  uint32_t start_slot; /* of the instant (at, or start) in that side's rows */
  uint32_t stop_slot;  /* periods */
};

/* Equality of one-slot fields: a hash key of a join. */
struct net_join_key {
  uint32_t left_slot, right_slot;
};

/* Product and join. OUT: the implicit time of the combination (overlap rule: the common period, or
 * the event if one takes part; full rule: an event at the later of the starts), then the fields that
 * the parameters name. FIELDS[i] says where field i of OUT comes from: SIDE 0 left, 1 right, and the
 * slot there (2 slots of an instant, 4 of a temporal value are copied as the field's type says).
 * KEYS or PREDICATE make it a join: rows that agree in all KEYS and for which PREDICATE, which need not
 * repeat them, holds (NULL: all). It is over rows of TEST: OUT, and behind it further fields, none of them
 * openable, which FIELDS names, too.                                                                 */
struct net_product_field {
  unsigned side;
  uint32_t slot;
};
/* A row meets nothing that starts at the latest bound of its instant at SLOT, plus AFTER, or later. Of those
 * that are bound to the NEXT the first counts, of such groups the last. */
struct net_expiry {
  uint32_t slot;
  int64_t after;
  bool or_next;
};
/* What one side of a join has of rows that both sides share: those for which all CONDITIONS hold, and behind
 * their fields VALUES, integers. The programs are over the shared rows, read nothing but domains, and cannot
 * fail. */
struct net_product_choice {
  const struct net_program *const *conditions;
  size_t condition_count;
  const struct net_program *const *values;
  size_t value_count;
};
/* Which combinations of a row of side ONCE_SIDE are wanted: those that are equal, for all who read them, need not
 * all come. */
enum net_product_once {
  NET_PRODUCT_EACH,       /* every one */
  NET_PRODUCT_ONCE,       /* one, if one is there for sure: all are equal */
  NET_PRODUCT_ONCE_WHOLE, /* overlap rule: those as long as the row are equal */
};
struct net_product_params {
  enum net_product_rule rule;
  enum net_product_once once;
  unsigned once_side;
  /* both sides are rows of port 0, of layout ROWS, chosen by CHOICES; NULL: each side has a port */
  const struct net_layout *rows;
  struct net_product_choice choices[2];
  const struct net_layout *left, *right, *out;
  const struct net_layout *test; /* NULL: OUT */
  const struct net_participant *left_participants, *right_participants;
  size_t left_count, right_count;
  const struct net_product_field *fields;
  const struct net_join_key *keys;
  size_t key_count;
  const struct net_program *predicate;
  /* by side; none: by the full rule its rows are kept for ever, by the overlap rule until they end, which they
   * are no longer than that */
  const struct net_expiry *expiries[2];
  size_t expiry_counts[2];
};
struct net_node *net_create_product(struct net_network *network, const char *name,
                                    const struct net_product_params *params);

/* Closest: pairs of LEFT and RIGHT with equal keys (one-slot fields) whose instants at BEFORE_SLOT of the
 * left and AFTER_SLOT of the right row follow each other with nothing between; DISTINCT: with no other row
 * between that has the domains of one of them, and the second no more than WITHIN chronons behind the first,
 * perhaps (-1: however far). OUT as of a full product. */
/* Rows of SIDE that may have been lost, at these times: of the process that stands at SLOT of the row of that side; -1: of
 * anybody. Such a one that lies between two rows makes their pair uncertain. */
struct net_closest_lost {
  unsigned side;
  int slot;
  const struct net_losses *losses;
};
struct net_closest_params {
  const struct net_layout *left, *right, *out;
  uint32_t before_slot, after_slot;
  const struct net_product_field *fields;
  const struct net_join_key *keys;
  size_t key_count;
  bool counts[2]; /* is a pair none if a row of that side lies between? */
  bool distinct;
  int64_t within; /* distinct */
  /* distinct: by field of LEFT and of RIGHT, the slot of the instant from which its temporal value counts */
  const uint32_t *starts[2];
  const struct net_closest_lost *lost;
  size_t lost_count;
};
struct net_node *net_create_closest(struct net_network *network, const char *name,
                                    const struct net_closest_params *params);

/* Which rows of the right are partners of one of the left: they agree in all KEYS (one-slot fields), and CONDITION holds
 * (NULL: always), over rows of TESTED (events, whose own time says nothing), of which FIELDS[i] says where field i comes
 * from. TIMES: what of CONDITION speaks of the instants of both alone (NULL: nothing). LOST: when rows of the right that
 * may be partners have begun that were lost (NULL: none was), of the process that stands at LOST_SLOT of the row of the
 * left, -1: of LOST_PROCESS, if LOST tells processes apart; LOST_WITHIN: they ended before the loss did; LOST_UNTIL_NEXT: at the latest when the next one with
 * equal keys begins. Copied, what is pointed to by the last four excepted. */
struct net_partner_params {
  const struct net_layout *left, *right, *tested;
  const struct net_product_field *fields;
  const struct net_join_key *keys;
  size_t key_count;
  const struct net_program *condition, *times;
  const struct net_losses *lost;
  int lost_slot;
  base_string_id lost_process;
  bool lost_within, lost_until_next;
};
/* Anti-join: rows of the left that have no partner, as they are, when it is certain that none comes. One that has one
 * perhaps is there perhaps. */
struct net_node *net_create_anti_join(struct net_network *network, const char *name,
                                      const struct net_partner_params *params);
/* Difference: of periods of the left the portions at which no partner is valid, of OUT, which has the first of their fields;
 * temporal values count from the portion's start. TIMES says nothing. */
struct net_node *net_create_difference(struct net_network *network, const char *name,
                                       const struct net_layout *out,
                                       const struct net_partner_params *params);

enum net_aggregate_function {
  NET_AGG_COUNT,
  NET_AGG_ANY,
  NET_AGG_SUM,
  NET_AGG_AVG,
  NET_AGG_MIN,
  NET_AGG_MAX,
  NET_AGG_AVGC,
  NET_AGG_EXTEND,   /* extendc: the latest event's value, until the next one */
  NET_AGG_FIRST,    /* the argument of the tuple that starts first; ties: the smallest value */
  NET_AGG_LAST,     /* ... that starts last; ties: the largest value */
  NET_AGG_STDEV,    /* of the population */
  NET_AGG_VARTS,    /* standard deviation of the times between successive starts, over their mean */
  NET_AGG_AVGTI,    /* mean of the argument's increase per unit of time between successive starts */
  NET_AGG_EARLIEST, /* the implicit times of the tuple that starts first */
  NET_AGG_LATEST,
  NET_AGG_QUANTILE,    /* between the values around that place, percentile_cont of SQL */
  NET_AGG_QUANTILE_OF, /* the first value that so large a part is not above, percentile_disc */
};
/* Is its value that of one of the tuples, for which it takes the best? */
bool net_aggregate_chooses(enum net_aggregate_function function);
struct net_aggregate_more {
  enum net_aggregate_function function;
  int argument_field;
  bool some_only;
};
struct net_aggregate_params {
  enum net_aggregate_function function;
  bool cumulative;                   /* counts every tuple whose start has come */
  bool unique;                       /* counts each value of the argument once */
  double fraction;                   /* of quantiles: 0 to 1 */
  int64_t window;                    /* > 0: counts what was valid in the last so many chronons */
  const struct net_layout *in, *out; /* OUT: period; the BY fields, then the value
                                        (earliest, latest: one or two instants) */
  int where_field;                   /* a bool field of IN, -1: all tuples count */
  /* bool fields of IN: the inner when is T, and it is F; -1: there is none */
  int when_field, unless_field;
  int argument_field; /* -1: the tuple itself (1 for avgc) */
  bool
      argument_of_domains; /* it is computed of domains alone: tuples with equal ones have equal ones of it */
  /* cumulative: what all tuples make, whenever they were. Nothing is told before all rows are there (net_run), then of each
   * group one period from ORIGIN, which is given, to forever. SO_FAR: at the end of
   * each net_run what it has changed, by a time line of their own: at the n-th run from n on, checkpoint n + 1. */
  bool summary, so_far;
  const uint32_t *by_fields; /* fields of IN, one slot each */
  size_t by_count;
  bool apart;         /* equal rows are tuples of their own: pieces of different ones */
  bool groups_of_all; /* with WHERE: tuples that do not satisfy it still make a group */
  bool
      groups_sure; /* ... and are asked only where one is: it makes nothing omega that they are there perhaps */
  /* no segment while nothing counts for sure; those of avgc end where something is in doubt no more */
  bool some_only;
  bool origin_given;           /* false: the start of the first tuple that comes */
  net_chronon origin;          /* everything is clipped there */
  bool averaging_origin_given; /* else: the start of the first tuple that counts */
  net_chronon averaging_origin;
  /* Domains over which tuples are one (S(t) is a set over the explicit domains): all fields of IN
   * except those that apply nodes appended.                                                         */
  uint32_t domain_fields;
  /* Further functions of the same tuples in the same groups; their values follow. All of them, FUNCTION too,
   * are of a set of tuples valid now (not cumulative, no window, not unique), or of a summary, and one of count, any, sum,
   * avg, min, max of nothing or of a domain that is a number. */
  const struct net_aggregate_more *more;
  size_t more_count;
  /* Conditions on rows of IN, all of which hold of the groups that are asked for (net_aggregate_pass). */
  const struct net_program *const *asked_for;
  size_t asked_for_count;
};
struct net_node *net_create_aggregate(struct net_network *network, const char *name,
                                      const struct net_aggregate_params *params);
/* COUNT tuples, none of which comes, are there for sure, in the group of which the value is GROUP: as if they had come now.
 * NODE counts the tuples of a summary, all of them, by one field or none, and has no further functions. */
void net_aggregate_pass(struct net_node *node, union net_slot group, int64_t count);
/* JOIN, by the overlap rule, whose result is of events and which has neither a predicate nor other keys than all
 * groups of AGGREGATE, asks that for its value instead of taking the rows that come at its port SIDE, and
 * which are AGGREGATE's, on the way through projections that only choose fields. Both are linked as they
 * would be without. The aggregate is cumulative, not of temporal values, and cannot fail: avgc of periods is of
 * nothing or integers, and without where and when; other functions have no when, are none of earliest and
 * latest, and the join shows nothing of their rows' times. FIELDS as of the join, but the asked side's slots are those of
 * AGGREGATE's rows, none that of a stop; KEYS[i] is the slot, in rows of the other side, of what is equal to group field i. */
struct net_ask_params {
  struct net_node *join, *aggregate;
  unsigned side;
  const struct net_product_field *fields;
  const uint32_t *keys;
};
void net_ask_aggregate(const struct net_ask_params *params);
/* Order: rows out in temporal order, up to the checkpoint. */
struct net_node *net_create_order(struct net_network *network, const char *name,
                                  const struct net_layout *layout);
/* Switch-disposition: period rows become event rows at their start, dropping the stop (event rows
 * pass as they are). */
struct net_node *net_create_switch_disposition(struct net_network *network, const char *name,
                                               const struct net_layout *in,
                                               const struct net_layout *out);
/* Trigger, a sink: each row of IN has the sensor behind CONTROL take a sample of WATCH's relation and objects, of
 * which the last SLOT_COUNT get their values from the row's SLOTS. WATCH and SLOTS are copied. */
struct net_node *net_create_trigger(struct net_network *network, const char *name,
                                    const struct net_layout *in, struct net_control *control,
                                    const struct net_watch *watch, const uint32_t *slots,
                                    size_t slot_count);
/* Sinks. CALLBACK sees every batch (display, collecting, subscription). */
struct net_node *net_create_display(struct net_network *network, const char *name,
                                    const struct net_layout *layout, net_batch_fn callback,
                                    void *context);
/* Writes to relation NAME of STORE; passes batches on to its readers. While replaying (see
 * net_store_node_set_replaying) it follows the rows without writing: they are stored already.       */
struct net_node *net_create_relation_store(struct net_network *network, const char *name,
                                           const struct net_layout *layout,
                                           struct net_store *store);
void net_store_node_set_replaying(struct net_node *node, bool replaying);
/* A replay that may say more than was stored (its inputs have come further than the relation): rows that
 * began and ended before STORED, the relation's checkpoint in the store, are there and are not written
 * again, not even for as long as they are open; all others are. The caller has taken the open rows out of the table.
 * NET_BEGINNING ends it, and writes what is open then.                                                 */
enum base_status net_store_node_set_stored(struct net_node *node, net_chronon stored) BASE_MUST_USE;
/* For a network that is run once: rows are collected, a close takes the place of what it closes, and they
 * are written many at a time, the last by the second call; checkpoints are not written.             */
void net_store_node_collect(struct net_node *node);
enum base_status net_store_node_finish(struct net_node *node) BASE_MUST_USE;
/* Of open rows that are alike the table has one: how surely, and how often, it is more than one tuple perhaps, whoever
 * reads the table has to know. Adds to RET, for each such row of the table, what it stands for beside itself: one or two
 * rows that are there for sure, and as many perhaps. Behind net_store_node_finish, too.                */
void net_store_node_alike(const struct net_node *node, struct net_rows *ret);
/* Would it give others than when this was asked last? The first time: yes. */
bool net_store_node_alike_changed(struct net_node *node);
/* A table of what holds at the checkpoint, without times: rows that are open, or last for ever (snapshot.c). Rows go on, each
 * whole, when they have come into the table. */
struct net_node *net_create_snapshot_store(struct net_network *network, const char *name,
                                           const struct net_layout *layout,
                                           struct net_store *store);
/* The table is made what holds now; nothing else writes it. */
enum base_status net_snapshot_write(struct net_node *node) BASE_MUST_USE;
/* Before the first row comes: what the table has. */
void net_snapshot_set_stored(struct net_node *node, const struct net_batch *batch);
/* Quiet: what comes into the table does not go on. */
void net_snapshot_set_quiet(struct net_node *node, bool quiet);
/* File store: every row goes to WRITER (formats live outside). */
struct net_node *net_create_file_store(struct net_network *network, const char *name,
                                       const struct net_layout *layout, net_batch_fn writer,
                                       void *context);

/* --- build */

/* Makes FROM's output input PORT (0 left, 1 right; of an access node 0 control) of TO. BASE_USER (nothing changed) when it would
 * make a cycle; a port takes one arc.                                                               */
enum base_status net_link(struct net_node *from, struct net_node *to, unsigned port) BASE_MUST_USE;
/* Removes a sink and what only it needed. */
void net_remove(struct net_node *sink);
/* Configuration is final: checks that every port is linked and that layouts agree. */
void net_freeze(struct net_network *network);

/* --- run */

/* Pulls from all access nodes that have a source and all clocks that have ticks to send, the one that
 * is furthest behind first, until there is none. BASE_OK, BASE_CANCEL (interrupted), or the failure.                                    */
enum base_status net_run(struct net_network *network) BASE_MUST_USE;
/* Pushes a batch into one access node. */
enum base_status net_access_push(struct net_node *access,
                                 const struct net_batch *batch) BASE_MUST_USE;
/* Gives BATCH to input PORT of NODE alone, as if it came from its arc (replaying for a new reader). */
enum base_status net_inject(struct net_node *node, unsigned port,
                            const struct net_batch *batch) BASE_MUST_USE;
/* Marks every string the network's state holds. */
void net_mark_strings(struct net_network *network, struct base_strings *strings);

/* --- look */

/* Figures of a node since it was created. TIME_NS: of its own work, not of its readers', and only while
 * the network is measured; an access node's includes that of its source. STATE_ROWS: rows that it keeps;
 * STATE_BYTES: memory that it holds for them. The maxima are those seen after each fire; of the bytes
 * only while the network is measured.                                                               */
struct net_node_stats {
  const char *name;
  const char *owner, *what; /* see net_node_place */
  unsigned number;
  enum net_node_kind kind;
  const struct net_node *inputs[2]; /* NULL: none */
  uint64_t fires, rows_in, rows_out, time_ns;
  uint64_t state_rows, state_rows_max, state_bytes, state_bytes_max;
};
/* The clock is looked at twice a fire from now on. */
void net_network_measure(struct net_network *network);
/* Which node of which relation (or query) NODE is and what it does, in words, for those who read its
 * figures; the texts are copied. Nodes of which nobody says are, when they are frozen, of what they are
 * called, and get the next number there.                                                           */
void net_node_place(struct net_node *node, const char *owner, unsigned number, const char *what);
/* Promises that NODE's rows come in ORDER. */
void net_node_promise(struct net_node *node, enum net_order order);
/* All nodes, in order of creation: the first, and the next; NULL at the end. */
const struct net_node *net_network_first(const struct net_network *network);
const struct net_node *net_node_next(const struct net_node *node);
struct net_node_stats net_node_stats(const struct net_node *node);
uint64_t net_node_fires(const struct net_node *node);
size_t net_node_count(const struct net_network *network);
struct net_node_stats net_node_stats_at(const struct net_network *network, size_t index);
const struct net_layout *net_node_layout(const struct net_node *node);
const char *net_node_name(const struct net_node *node);
/* The relation that NODE's rows end in: of the nearest relation-store above it; NULL if there is none. */
const char *net_node_result_name(const struct net_node *node);
/* The checkpoint that NODE last passed on; NET_BEGINNING before the first. */
net_chronon net_node_checkpoint(const struct net_node *node);

#endif
