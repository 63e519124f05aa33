/* netgen: bound query -> initial network -> transformed network -> running network.
 *
 * A plan is a graph of plan nodes, one per node of the network to come. It is made as in thesis 7.1
 * (steps 1 to 6), then transformed by named passes (rules.def), each with a switch, then built with
 * the engine's create and link. Columns are referred to by identity, not by index, so that passes
 * move nodes without renumbering; slots are assigned when the network is built.                     */
#ifndef NG_NETGEN_H
#define NG_NETGEN_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/network.h"
#include "netgen/query.h"

struct ng_plan;

enum ng_rule {
#define RULE(RULE, FUNCTION, NAME, WHAT) NG_RULE_##RULE,
#include "netgen/rules.def"
#undef RULE
  NG_RULES
};
struct ng_rule_info {
  const char *name; /* predicates-down, ... as in `set rule NAME on|off` */
  const char *what; /* one line for help rules */
};
const struct ng_rule_info *ng_rule_info(enum ng_rule rule);
/* The rule called NAME (case-insensitive) or -1. */
int ng_rule_find(const char *name);

struct ng_switches {
  bool off[NG_RULES];
};

/* An empty plan. Plans of several statements can be gathered in one (explain of a script); a variable
 * over a derived relation that an earlier query of the same plan defines is linked to that query.   */
struct ng_plan *ng_plan_new(struct base_arena *arena, struct base_strings *strings,
                            enum net_timeline timeline);
/* Adds the initial network of QUERY. BASE_USER with a diagnostic when it is more than limits.def allows; BASE_CANCEL:
 * base_env_interrupted(). Then the plan is good for nothing any more. DIAGS NULL: everything is allowed. */
enum base_status ng_plan_add_query(struct ng_plan *plan, const struct ng_query *query,
                                   struct base_diag_sink *diags) BASE_MUST_USE;
/* The last query is there for those that are added later and read it, and has no result of its own (the
 * query of a view). */
void ng_plan_make_inner(struct ng_plan *plan);
/* Can a query of PLAN report an error of a row while it runs? */
bool ng_plan_can_fail(const struct ng_plan *plan);
/* Adds a display node on the derived relation NAME (of this plan) or, NULL, on the last query. */
void ng_plan_add_display(struct ng_plan *plan, const char *name);
/* Every how many chronons all the clocks of QUERY tick together; 0: it has none, or they do not. Where the origin is not
 * given it is a multiple of that, so clocks of one unit tick together in all queries.                  */
int64_t ng_clocks_period(const struct ng_query *query);
/* Says, before the plan is transformed, that it will run once over what is stored, and that the traced
 * relations are closed at `forever`: all their periods are stored. */
void ng_plan_over_store(struct ng_plan *plan);
/* Says, before the plan is transformed, that it will run once, and that of all it reads everything before TIME is known:
 * NET_FOREVER, that nothing is to come. */
void ng_plan_known_until(struct ng_plan *plan, net_chronon time);
/* Says, before the plan is transformed, that it will run once, and, if anything in it fails, once more without
 * this: conditions that can fail may be asked of tuples of which other conditions leave nothing. */
void ng_plan_may_speculate(struct ng_plan *plan);
/* Are there such conditions in the transformed plan? */
bool ng_plan_speculates(const struct ng_plan *plan);
/* What is known of the relations' contents: rules choose by it among equivalent plans. */
struct ng_statistics {
  void *context;
  /* How many tuples RELATION has; negative: nobody knows. */
  double (*tuples)(void *context, const struct ng_relation *relation);
  /* The share of its rows that the selection by CONDITION (as explain shows it) let pass when one ran;
   * false: none did. May be NULL.                                                                    */
  bool (*share)(void *context, const char *condition, double *ret);
};
/* Before the plan is transformed; STATISTICS is the caller's and stays. */
void ng_plan_set_statistics(struct ng_plan *plan, const struct ng_statistics *statistics);
/* Is the derived RELATION made of tuples of ON, by its definition or those of what it is made of? */
typedef bool ng_depends(void *context, const struct ng_relation *relation,
                        const struct ng_relation *on);
/* Before the plan is transformed; CONTEXT is the caller's and stays. */
void ng_plan_set_depends(struct ng_plan *plan, ng_depends *depends, void *context);
/* Runs the passes that are not switched off (SWITCHES NULL: none is), in the order of rules.def. What planning costs is
 * counted from ng_plan_new on; the statuses, and DIAGS, are as with ng_plan_add_query. */
enum base_status ng_plan_transform(struct ng_plan *plan, const struct ng_switches *switches,
                                   struct base_diag_sink *diags) BASE_MUST_USE;
/* How much work planning has been so far, for tests: limits.def says what a step is. */
uint64_t ng_plan_steps(const struct ng_plan *plan);

/* A part of a plan whose state nothing bounds. */
struct ng_unbounded {
  const struct ng_query *query;
  struct base_range clause; /* that causes it, in the query's source */
  bool behind;              /* it says that one comes behind another, but not within which time */
  const char *together; /* several variables, "A and B", that meet the others as one; NULL: none */
  const char *kept;     /* the variables whose tuples are kept for ever: "A, B" */
  bool quantile;        /* it is an aggregate that keeps their values */
};
/* The first such part of PLAN, which has been transformed; false: there is none. */
bool ng_plan_find_unbounded(struct ng_plan *plan, struct ng_unbounded *ret);

/* What of its inputs a standing query needs to be built anew by a replay, and then to go on as if it had always been
 * there (history.c). */
struct ng_history {
  const struct ng_query *query; /* the one that needs all: QUERY or a view; NULL: none does */
  struct base_range clause;     /* that causes it, in the query's source */
  const char *why;              /* in words */
  int64_t
      within; /* so far apart, in chronons, are two tuples at most that have to do with each other,
                                 * and do not overlap */
  unsigned participants; /* how many tuples have to do with a result */
  bool instant; /* what holds at an instant depends on what is over less than WITHIN before it */
  bool begins;  /* results begin before all that they depend on now */
};
/* ... of PLAN, which has been transformed. */
void ng_plan_history(struct ng_plan *plan, struct ng_history *ret);
/* Calls NOTE for each relation that PLAN reads, with a time so that of the tuples that ended before it none is
 * wanted; NET_BEGINNING: there is none. Perhaps several times for one relation. */
void ng_plan_each_read(const struct ng_plan *plan,
                       void (*note)(void *context, const struct ng_relation *relation,
                                    net_chronon from),
                       void *context);

enum ng_explain_format { NG_EXPLAIN_TEXT, NG_EXPLAIN_DOT, NG_EXPLAIN_JSON };
/* The plan as it is now. TITLE e.g. "initial network", "final network". Text: one node a line with its
 * inputs, parameters in readable infix form and, for stateful nodes, what bounds the state, then the node of
 * another query that does the same ("shared with D.3", ng_plan_find_twins); at the end a line counting access and
 * operator nodes. */
void ng_plan_explain(const struct ng_plan *plan, enum ng_explain_format format, const char *title,
                     struct base_buffer *out);
/* Figures of one node, as net_node_stats has them, for people. */
struct ng_figures {
  const char *relation; /* whose node it is; NULL in all rows: there is but one network */
  unsigned number;
  const char *kind, *inputs, *what;
  bool ran; /* there are figures: */
  uint64_t fires, rows_in, rows_out, time_ns;
  uint64_t state_rows, state_rows_max, state_bytes, state_bytes_max;
};
/* A line of titles and one for each row. */
void ng_figures_print(const struct ng_figures *rows, size_t count, struct base_buffer *out);
/* The plan as it was built last, with the figures of its nodes (net_node_stats): one node a line, the
 * figures in columns, then what it does as above. Measured figures, and only they, have a point.     */
void ng_plan_explain_run(const struct ng_plan *plan, const char *title, struct base_buffer *out);
/* Which passes changed the plan, in order: "predicates-down: 4 selections moved", one a line. */
void ng_plan_explain_rules(const struct ng_plan *plan, struct base_buffer *out);
size_t ng_plan_access_count(const struct ng_plan *plan);
size_t ng_plan_operator_count(const struct ng_plan *plan);

/* What has been built in a network; lives as long as the network. */
struct ng_shared;
struct ng_shared *ng_shared_new(void);
void ng_shared_free(struct ng_shared *shared);

/* Without a network: enters the nodes of PLAN, which has been transformed and stays, as those of RELATION, which
 * its last query defines. What an earlier plan has entered stays that one's. Nothing is built with this SHARED. */
void ng_plan_enter(struct ng_plan *plan, struct ng_shared *shared, const char *relation);
/* Notes, for explain, which nodes of PLAN are in SHARED by ng_plan_enter. Only what queries with a name need is:
 * what has none runs in a network of its own. */
void ng_plan_find_twins(struct ng_plan *plan, struct ng_shared *shared);

/* Where the inputs come from while a plan is built. */
struct ng_inputs {
  void *context;
  const char *owner; /* whose nodes they are (net_node_place); NULL: of nobody known by name */
  /* The source for an access node of RELATION (traced: FORM is NET_SCAN_RECORDS, LAYOUT an event
   * layout; sampled: its periods), with the fields of LAYOUT by name. WANTED: what of it is (never NULL);
   * where nodes are SHARED, all. *RET NULL: rows will be pushed. */
  enum base_status (*source)(void *context, const struct ng_relation *relation,
                             const struct net_layout *layout, enum net_scan_form form,
                             const struct net_wanted *wanted, struct net_source **ret);
  /* Every access node made: the session remembers it to push rows (NULL allowed). */
  void (*made)(void *context, const struct ng_relation *relation, enum net_scan_form form,
               struct net_node *access);
  /* The running node whose output is the derived or sampled RELATION, all its domains in order, or NULL: then an
   * access node over the stored tuples is made (source() with NET_SCAN_TUPLES). May be NULL.        */
  struct net_node *(*derived)(void *context, const struct ng_relation *relation);
  /* The latest finite checkpoint that RELATION ever had, or any that it is derived from (clocks ask for
   * it); NET_BEGINNING: none. May be NULL: none of them has.                                          */
  net_chronon (*passed)(void *context, const struct ng_relation *relation);
  /* Every arc made from a node that derived() gave: NODE's port PORT (NULL allowed). */
  void (*joined)(void *context, const struct ng_relation *relation, struct net_node *node,
                 unsigned port);
  /* Who controls the sensor of RELATION, which has one; he lives longer than the network. May be NULL, or
   * give NULL: nobody does. */
  struct net_control *(*control)(void *context, const struct ng_relation *relation);
  /* What OWNER has the sensor of RELATION watch: WATCH, which is good for this call only; NULL: as another
   * relation says, what ACCESS watches (net_access_each_watch). May be NULL. */
  void (*watches)(void *context, const char *owner, const struct ng_relation *relation,
                  const struct net_watch *watch, const struct net_node *access);
  /* NODE, which has just been made, counts records of RELATION, also those that were left out where they arose: it is to be
   * told now how many these are, of which process, and of each that comes (net_aggregate_pass). May be NULL. */
  enum base_status (*counts)(void *context, const struct ng_relation *relation,
                             struct net_node *node);
  /* Nodes that plans built with the same SHARED into the same network have in common are built once;
   * NULL: each plan has its own. */
  struct ng_shared *shared;
};

/* Builds the last query of PLAN into NETWORK: *RET is the node whose output is the result, in the
 * query's layout. BASE_USER: it is more than limits.def allows; BASE_CANCEL: base_env_interrupted(). The caller links sinks to it and freezes. On failure the caller frees or unlinks;
 * the diagnostics say why. ALL memory comes from the network's arena.                               */
enum base_status ng_plan_build(const struct ng_plan *plan, struct net_network *network,
                               const struct ng_inputs *inputs, struct base_diag_sink *diags,
                               struct net_node **ret) BASE_MUST_USE;

/* The `where` of QUERY, which has one variable and no aggregates, as a program over rows of LAYOUT: it
 * has the domains of the variable's relation, by name, and its times may be others.                 */
const struct net_program *ng_condition_program(struct base_arena *arena,
                                               struct base_strings *strings,
                                               const struct ng_query *query,
                                               const struct net_layout *layout);

#endif
