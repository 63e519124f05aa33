/* The slow reference evaluator: a bound query over literal relations, by nested loops.
 *
 * Written from the calculus (tquel(7)): every combination of tuples is tried,
 * conditions are three-valued, aggregates are computed from scratch at every instant at which
 * anything changes. It shares no code with netgen, the nodes or the expression programs of the
 * engine; of the engine it uses instants, the interval predicates, layouts and strings.
 *
 * Relations are closed at `forever`: an open period lasts for ever. Everything lives in the arena
 * that is passed in.                                                                              */
#ifndef ORACLE_H
#define ORACLE_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "netgen/query.h"

/* A row as in layout.h, and whether it is in the relation for sure. */
struct oracle_tuple {
  union net_slot *row;
  bool definite;
};

struct oracle_relation {
  const struct net_layout *layout;
  struct oracle_tuple *tuples;
  size_t count, capacity;
};

/* Adds a copy of ROW. */
void oracle_add(struct base_arena *arena, struct oracle_relation *relation,
                const union net_slot *row, bool definite);
/* A relation is a set; of equal tuples one stays, definite if any is. */
void oracle_make_set(struct oracle_relation *relation);
/* Records (determinate event rows, in the order of their sequence) as periods of LAYOUT, which has
 * the same fields: each record opens a period for its entity and closes the last one. An entity is told by
 * the values of the fields ENTITY. */
void oracle_periods(struct base_arena *arena, const struct oracle_relation *records,
                    const struct net_key *entity, const struct net_layout *layout,
                    struct oracle_relation *ret);

/* Records that may have happened in [from, to) and are not there: those with PROCESS in the field `process`
 * of their relation, or (ANYBODY, or no such field) any. */
struct oracle_loss {
  bool anybody;
  base_string_id process;
  net_chronon from, to;
};
struct oracle_losses {
  const struct oracle_loss *items;
  size_t count;
  int process; /* field; negative: none */
};

/* The same of a sampled relation: a period joins consecutive samples of one entity with equal values; samples
 * are not consecutive if one may have been lost between them. */
void oracle_samples(struct base_arena *arena, const struct oracle_relation *records,
                    const struct net_key *entity, const struct oracle_losses *losses,
                    const struct net_layout *layout, struct oracle_relation *ret);
/* The periods of a traced relation, as far as they are certain: one that a lost record may have ended stops
 * there at the earliest. */
void oracle_lose(struct base_arena *arena, const struct oracle_relation *periods,
                 const struct oracle_losses *losses, struct oracle_relation *ret);

/* Chronons from FROM to before TO. */
struct oracle_stretch {
  net_chronon from, to;
};
struct oracle_stretches {
  struct oracle_stretch *items;
  size_t count, capacity;
};
void oracle_add_stretch(struct base_arena *arena, struct oracle_stretches *list, net_chronon from,
                        net_chronon to);

/* What may be missing of a relation that aggregates count. */
struct oracle_missing {
  enum ng_relation_kind kind;
  const struct oracle_losses *losses; /* NULL: the stretches say all */
  const struct oracle_relation *records;
  struct net_key entity;
  struct oracle_stretches stretches; /* of a view: where one of its tuples may be missing */
};
/* Adds where a tuple may be missing, whatever it is. */
void oracle_missing_anywhere(struct base_arena *arena, const struct oracle_missing *missing,
                             struct oracle_stretches *ret);
/* STRETCHES of what AGGREGATE counts become those in which it counts that. */
void oracle_outlast(const struct ng_aggregate *aggregate, struct oracle_stretches *stretches);

struct oracle_world {
  void *context;
  /* The tuples of a relation (traced ones: as periods). Never NULL for a relation of the query. */
  const struct oracle_relation *(*find)(void *context, const char *name);
  struct base_strings *strings;
  struct oracle_origin *origin; /* where the origin found is noted, or NULL */
  /* The latest finite checkpoint that was promised of the relation, or of any that it is derived from;
   * NET_BEGINNING: none. NULL: never any. */
  net_chronon (*passed)(void *context, const char *name);
  /* What may be missing of a relation; NULL: nothing is taken to be. */
  struct oracle_missing (*missing)(void *context, const char *name);
  uint64_t *doubted; /* counts the tuples that are uncertain for that alone; or NULL */
  bool *unsaid; /* set when the evaluator's answer is one of several that are as good; or NULL */
};

/* Of the aggregates, where it comes from the inputs (real timeline). */
struct oracle_origin {
  bool found;
  net_chronon time;
};

/* Evaluates QUERY. NULL, or why it cannot be done: an error at run time ("integer overflow") or a
 * part of the language that this evaluator does not know. *RET_MAY_FAIL: an error in a combination that
 * gives no tuple because its period is empty may count or not.                                      */
const char *oracle_evaluate(struct base_arena *arena, const struct oracle_world *world,
                            const struct ng_query *query, struct oracle_relation *ret,
                            bool *ret_may_fail);

/* A combination that qualifies, for updates: the tuples by variable of the query (NULL: takes no part),
 * and the time of the result. */
struct oracle_match {
  const struct oracle_tuple **tuples;
  struct net_period time;
  bool definite;
};
struct oracle_matches {
  struct oracle_match *items;
  size_t count, capacity;
};
/* The same, with all combinations, in one order: RET's rows are no set then. */
const char *oracle_evaluate_matches(struct base_arena *arena, const struct oracle_world *world,
                                    const struct ng_query *query, struct oracle_relation *ret,
                                    struct oracle_matches *ret_matches, bool *ret_may_fail);

/* delete and replace of tuples of RELATION, which VARIABLE of the query ranges over; the query's first
 * target is the tuple's number. */
struct oracle_update {
  const struct ng_query *query;
  unsigned variable;
  bool replaces, moves; /* moves: behind the assigned values the bounds of the new instant */
  bool own_start, own_stop;
  const uint32_t *fields; /* assigned: of the relation's layout */
  size_t field_count;
};
/* *RET: the relation afterwards. oracle_unsaid: several portions of one tuple are meant that are not
 * certain; what is left then depends on their order, of which nothing is said.                      */
extern const char oracle_unsaid[];
const char *oracle_apply_update(struct base_arena *arena, const struct oracle_world *world,
                                const struct oracle_update *update,
                                const struct oracle_relation *relation, struct oracle_relation *ret,
                                bool *ret_may_fail);

/* Appends the row in the CSV form of results, without a line end. */
void oracle_print_row(struct base_buffer *out, const struct net_layout *layout,
                      const struct base_strings *strings, const union net_slot *row, bool definite);
/* Are the rows equal? Numbers that are not integers with a tolerance, temporal values as functions. */
bool oracle_same_row(const struct net_layout *layout, const struct base_strings *strings_a,
                     const union net_slot *a, const struct base_strings *strings_b,
                     const union net_slot *b);

/* The explicit domains alone, temporal values as functions of absolute time. */
bool oracle_same_values(const struct net_layout *layout, const struct base_strings *strings,
                        const union net_slot *a, const union net_slot *b,
                        enum net_timeline timeline);
/* ... and is there no rounding error to it: their numbers are the very same, as far as a change of start leaves
 * them so, or such as doubles have exactly? */
bool oracle_same_bits(const struct net_layout *layout, const union net_slot *a,
                      const union net_slot *b, enum net_timeline timeline);

#endif
