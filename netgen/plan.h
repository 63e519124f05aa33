/* The plan graph: one plan node for each node of the network to come. netgen's own; others see
 * netgen.h only.
 *
 * A column is a thing, not a number: it is made once, by the node that first has it, and keeps its
 * identity on the way up. What a node's rows consist of (its implicit times and its fields) follows
 * from its inputs and its own parameters; ng_plan_refresh computes it anew for the whole plan, so a
 * rule only moves nodes and changes parameters. Slots exist only while a network is built.
 *
 * Invariants that hold before and after every rule:
 *   - every column that a node reads is a column of its input;
 *   - the result of a query has all domains of the query's layout, in order;
 *   - only nodes with one reader are changed on behalf of that reader. */
#ifndef NG_PLAN_H
#define NG_PLAN_H

#include "netgen/netgen.h"

struct ng_budget;
struct net_filter;

struct ng_column {
  unsigned id;      /* 0.. in the plan */
  const char *name; /* for people: A.IterNum, A.start, Diff */
  struct net_type type;
  bool openable; /* a stop whose end may not have been seen */
  bool computed; /* on the way: no part of the tuple for those who read a message about it */
  bool number;   /* by which an update knows the tuple: no part of it at all */
};

struct ng_columns {
  const struct ng_column **items;
  size_t count, capacity;
};

/* One of the tuples that take part in a row. STOP NULL: an event. */
struct ng_participant {
  const struct ng_column *start, *stop;
};

struct ng_participants {
  struct ng_participant *items;
  size_t count, capacity;
};

/* A row is kept as long as others start that are not later than the latest bound of INSTANT, plus BOUND. Where
 * several say so of the same others, each is bound to the next, and the first of them counts. */
struct ng_expiry {
  const struct ng_column *instant;
  int64_t bound;
  bool or_next;
};

struct ng_key {
  const struct ng_column *left, *right;
};

/* A further function of the tuples of an aggregate; its value is a column of the node's own. */
struct ng_more_aggregate {
  const struct ng_aggregate *aggregate;
  const char *name;
  const struct ng_column *argument; /* NULL: none */
  bool some_only;
};

/* A node of the query that defines RELATION. */
struct ng_twin {
  const char *relation;
  unsigned number;
};

/* Rows of one side of a closest node that may have been lost: of the process that its row has; NULL: of anybody. */
struct ng_node_lost {
  unsigned side;
  const struct ng_column *process;
  const struct net_losses *losses;
};

/* What a node is. Two kinds of the plan have no node of their own in the network: an alias (the rows of
 * its input, the result of an earlier query or a shared node, under other names) and the one row of a query without
 * variables, which is an access node over a source that netgen has itself. */
struct ng_node {
  enum net_node_kind kind;
  bool alias;
  bool single_row;                /* access: the one row of a query without variables */
  unsigned number;                /* 1.. in the order of explain; given by ng_plan_refresh */
  const struct net_node *running; /* as it was built last; NULL: it was not */
  const struct ng_twin *twin;     /* of another query, which does the same (share.c); NULL: none */
  struct ng_node *inputs[2];
  unsigned input_count;

  /* what its rows are, and in which order they come; see ng_plan_refresh */
  enum net_order order;
  const struct ng_column *start, *stop; /* the implicit times; STOP NULL: events */
  struct ng_columns fields;
  uint64_t *has; /* a bit for each column id: those of FIELDS */
  size_t has_count;
  /* among plan->nodes, as of the last ng_plan_refresh, which FOUND it */
  size_t index;
  uint64_t found;

  /* access */
  const struct ng_variable *variable;
  const struct ng_relation *relation;
  enum net_scan_form form;
  bool times_only;                 /* no domains: for a clock */
  bool unasked;                    /* for costs: no sensor is switched on for it */
  bool starts_only;                /* records: end records are left out (rule traced-start-only) */
  const struct net_wanted *wanted; /* NULL: all (rule access-control) */
  /* access, of a relation with a sensor */
  const struct net_wanted *watched; /* as WANTED, but what clocks read needs no records */
  const struct ng_column
      *control;            /* of the input, its control arc: the objects (rule control-arcs) */
  uint32_t control_domain; /* of the relation: what they are values of */
  const struct net_filter *filter; /* of its records; NULL: none (rule selections-at-source) */
  int64_t every; /* sampled at ORIGIN + k EVERY (rule clock-samples); 0: no matter when */
  net_chronon origin;
  bool triggered;             /* sampled at each row of its input (rule triggered-samples), */
  struct ng_columns triggers; /* ... of what has these values, columns of the input, */
  uint32_t *trigger_domains;  /* ... in these domains of the relation */
  const char **also;          /* names of other variables that read it (rule common-subnetworks) */
  size_t also_count, also_capacity;
  /* access, event-to-period, product, aggregate, alias, projection: the columns it makes */
  const struct ng_column *own_start, *own_stop;
  struct ng_columns own;
  /* access, product: the columns it is to have; NULL: all. Indexed by column id */
  bool *keep;
  size_t keep_count;
  const struct ng_column *whose; /* costs, compensate: the process */
  int64_t cost;                  /* costs: of one record */
  /* selection, join (NULL: a product), apply */
  const struct ng_expr *expr;
  bool taken_in;    /* selection, apply: the join above does it (rule self-joins) */
  bool speculative; /* selection: moved although it can fail (rule speculation) */
  /* cut, difference: how many of the input's fields stay, the first; the condition is EXPR */
  size_t kept_fields;
  bool first_only;
  int64_t bridge; /* pieces so close are one */
  /* projection: where the columns of OWN and the implicit times come from */
  struct ng_columns sources;
  const struct ng_column *start_from, *stop_from;
  bool carries; /* its columns are those of its input (rule combined-events) */
  const struct net_layout *layout;
  /* product */
  enum net_product_rule rule;
  struct ng_columns as_events; /* starts of periods that take part as the event of their start */
  struct ng_columns untested;  /* starts of those that the overlap test leaves out */
  struct ng_key *keys;
  size_t key_count;
  bool turned;                /* its signature has its inputs exchanged (signature.c) */
  enum net_product_once once; /* of the rows of side ONCE_SIDE (rule semi-joins) */
  unsigned once_side;
  bool self_join; /* both sides are chosen of the same rows, by what the join has taken in */
  struct ng_node
      *asked; /* the aggregate that answers for side ASKED_SIDE (rule aggregates-at-events) */
  unsigned asked_side;
  /* until the last of these a row of that side is kept; by the overlap rule no longer than until it ends. None: a
   * full product keeps it without end, an overlap product until it ends */
  struct ng_expiry *expiries[2];
  size_t expiry_counts[2];
  /* closest: s of the left, t of the right side */
  const struct ng_column *before, *after;
  enum ng_sequence sequence; /* which pairs */
  struct ng_node_lost *lost; /* rows of its sides that may have been lost */
  size_t lost_count;
  /* anti-join, difference: what was lost ended before the loss did; it has ended when the next of its keys begins */
  bool lost_within, lost_until_next;
  base_string_id
      lost_process; /* ... and was of this process, if LOST names none and tells them apart */
  int64_t within;   /* distinct: no further apart than so many chronons; -1: however far */
  /* anti-join, difference; the condition that two rows with equal keys are partners is EXPR. Of an anti-join TIMES is what
   * of it speaks of times alone, and so long, in chronons, rows of each side may be behind a partner of the other one;
   * -1: however long */
  const struct ng_absence *absence;
  const struct ng_expr *times;
  int64_t reach[2];
  /* aggregate */
  const struct ng_aggregate *aggregate;
  const struct ng_query *query;
  const struct ng_column *argument, *where;
  struct ng_more_aggregate *more; /* further functions (rule merged-aggregates) */
  size_t more_count;
  const struct ng_column *when, *unless; /* the inner when is T, and it is F */
  struct ng_columns by_columns;          /* of the input */
  bool apart;                            /* equal rows are tuples of their own */
  bool groups_of_all; /* of tuples outside, that where and when leave out as well */
  bool groups_sure; /* ... and such a tuple is there wherever the value of its group is asked for */
  bool some_only;   /* no segment while nothing counts for sure (rule group-keys) */
  bool counted;     /* it needs no record that is counted where it arises (rule counts-at-source) */
  uint32_t domain_fields;
  /* display */
  const char *name;
};

struct ng_plan_query {
  const struct ng_query *query;
  struct ng_node *result;
  bool inner; /* only what reads it needs it */
};

struct ng_plan {
  struct base_arena *arena;
  struct base_strings *strings;
  struct ng_budget *budget; /* NULL: this is no plan, but room for one (build.c) */
  enum net_timeline timeline;
  bool over_store;                        /* see ng_plan_over_store */
  bool may_speculate;                     /* see ng_plan_may_speculate */
  net_chronon known_until;                /* see ng_plan_known_until; NET_BEGINNING: nobody knows */
  const struct ng_statistics *statistics; /* NULL: nothing is known */
  ng_depends *depends;                    /* see ng_plan_set_depends; NULL: nothing does */
  void *depends_context;
  const struct ng_orders *orders;     /* of a trial; NULL: it is none (rules/product_order.c) */
  const struct ng_switches *switches; /* while rules run; NULL: all are on */
  struct ng_plan_query *queries;
  size_t query_count, query_capacity;
  struct ng_node **displays;
  size_t display_count, display_capacity;
  unsigned column_count;
  /* all nodes that a result or a display needs, inputs before readers; by ng_plan_refresh */
  struct ng_node **nodes;
  size_t node_count, node_capacity;
  uint64_t round; /* how often */
  /* room of rules/partial_overlap.c */
  int64_t *bound_room;
  size_t bound_places;
  /* what the rules did */
  const char *changes[NG_RULES]; /* NULL: nothing */
  size_t change_count[NG_RULES];
};

/* Room for one more element in an array of COUNT elements that lives in ARENA; *CAPACITY grows. */
void *ng_grown(struct base_arena *arena, void *items, size_t count, size_t *capacity, size_t size);
/* A column that is computed on the way. */
const struct ng_column *ng_column_computed(struct ng_plan *plan, const char *name,
                                           struct net_type type, bool openable);
/* The number by which an update knows a tuple. */
const struct ng_column *ng_column_number(struct ng_plan *plan, const char *name,
                                         struct net_type type);
/* A projection's column, NAME, for SOURCE below it. */
const struct ng_column *ng_column_copy(struct ng_plan *plan, const char *name, struct net_type type,
                                       const struct ng_column *source);
const struct ng_column *ng_column_new(struct ng_plan *plan, const char *name, struct net_type type,
                                      bool openable);
void ng_columns_add(struct base_arena *arena, struct ng_columns *columns,
                    const struct ng_column *column);
bool ng_columns_have(const struct ng_columns *columns, const struct ng_column *column);

/* The result of the earlier query of PLAN that defines the derived RELATION, or NULL. */
struct ng_node *ng_plan_result(const struct ng_plan *plan, const struct ng_relation *relation);
/* The ticks of VARIABLE over a clock (clock.c). */
struct ng_node *ng_clock_leaf(struct ng_plan *plan, const struct ng_query *query,
                              const struct ng_variable *variable);
struct ng_node *ng_node_new(struct ng_plan *plan, enum net_node_kind kind, struct ng_node *left,
                            struct ng_node *right);
/* A selection of INPUT's rows by PREDICATE. */
struct ng_node *ng_node_select(struct ng_plan *plan, struct ng_node *input,
                               const struct ng_expr *predicate);
/* The column of *TOP that holds EXPR: its own if it is one, else that of an apply, which becomes *TOP. NAME, for people;
 * NULL: the expression. */
const struct ng_column *ng_node_compute(struct ng_plan *plan, struct ng_node **top,
                                        const struct ng_expr *expr, const char *name);
/* Orders, numbers and recomputes all nodes. */
void ng_plan_refresh(struct ng_plan *plan);
/* Recomputes what NODE's rows are from its inputs. */
void ng_node_refresh(struct ng_plan *plan, struct ng_node *node);
/* Is COLUMN one of NODE's, implicit times included? */
bool ng_node_has(const struct ng_node *node, const struct ng_column *column);
bool ng_node_is_product(const struct ng_node *node);
/* Are NODE's rows those of its first input, perhaps fewer, perhaps with a column more? */
bool ng_node_passes_rows(const struct ng_node *node);
/* Does NODE keep rows that nothing bounds? */
bool ng_node_is_unbounded(const struct ng_node *node);
bool ng_node_is_counted(const struct ng_node *node); /* it becomes a node of the network */
/* The tuples that take part in NODE's rows. */
void ng_node_participants(struct ng_plan *plan, const struct ng_node *node,
                          struct ng_participants *ret);
/* Does the participant take part in product NODE as an event? */
bool ng_product_takes_event(const struct ng_node *node, struct ng_participant participant);
/* Do NODE's rows carry their participants' times as fields? (What passes rows does not change that.) */
bool ng_node_is_combination(const struct ng_node *node);
/* Are START and STOP, in NODE's rows, the delimiters of one and the same tuple, or the common period of an
 * overlap product, whose test has found already whether it is empty? Also those of a tuple that takes part as an event
 * (rules/combined_events.c). */
bool ng_node_is_own_period(const struct ng_node *node, const struct ng_column *start,
                           const struct ng_column *stop);
/* The apply below PROJECTION that makes COLUMN, with only selections and applies on the way, or NULL. */
struct ng_node *ng_node_maker(const struct ng_node *projection, const struct ng_column *column);
/* Where NODE is among the nodes of PLAN, which it is one of. */
size_t ng_plan_index(const struct ng_plan *plan, const struct ng_node *node);
/* Readers of NODE: inputs of other nodes, results and displays. */
size_t ng_node_readers(const struct ng_plan *plan, const struct ng_node *node);
/* The one node that reads NODE, or NULL if there are several or it is a result. */
struct ng_node *ng_node_reader(const struct ng_plan *plan, const struct ng_node *node);
/* Everything that read NODE reads REPLACEMENT. */
void ng_plan_replace(struct ng_plan *plan, struct ng_node *node, struct ng_node *replacement);
/* Does NODE refer to COLUMN, also in its expression? */
bool ng_node_refers(const struct ng_node *node, const struct ng_column *column);
/* Everything that refers to FROM refers to TO, which is there wherever FROM is. */
void ng_plan_exchange(struct ng_plan *plan, const struct ng_column *from,
                      const struct ng_column *to);

/* Says that the network of QUERY has more nodes or fields than networks may have: SAID, with the limit. */
void ng_report_too_large(struct base_diag_sink *diags, const struct ng_query *query,
                         const char *said);

/* --- explain */

/* What NODE does, in words; what bounds its state, nothing for nodes without any. */
void ng_explain_what(struct base_buffer *out, const struct ng_plan *plan,
                     const struct ng_node *node);
void ng_explain_state(struct base_buffer *out, const struct ng_node *node);

/* Of a join that asks an aggregate: what COLUMN of that side is among the aggregate's own columns, and the
 * column of the other side that is equal to the GROUP-th of its groups. */
const struct ng_column *ng_asked_column(const struct ng_node *join, const struct ng_column *column);
const struct ng_column *ng_asked_key(const struct ng_node *join, size_t group);

#endif
