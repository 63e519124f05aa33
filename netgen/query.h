/* The bound query: what netgen takes. tquel's analysis fills it; other front doors will fill it as
 * well. Names are resolved, types known, constants absolute; defaults of when, start, stop and at are
 * left out (NULL) and supplied by netgen (thesis 4.5.2).
 *
 * Expressions are trees in an arena and immutable once bound. The operators in the second half of
 * ng_op appear only after netgen's lowering.                                                        */
#ifndef NG_QUERY_H
#define NG_QUERY_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "engine/losses.h"
#include "engine/expr.h"
#include "engine/key.h"
#include "engine/layout.h"
#include "engine/network.h"

enum ng_relation_kind {
  NG_REL_SNAPSHOT,
  NG_REL_EVENT,
  NG_REL_PERIOD,
  NG_REL_TRACED,
  NG_REL_SAMPLED,
  NG_REL_DERIVED,
  NG_REL_CLOCK, /* Clock(n): an event at the origin and every n units after it */
};

/* That a relation's records are made by sensors which access nodes switch on and off (engine/control.h).
 * By the values of which domains (of the relation's layout), from the outer object to the inner one: the
 * process, what it holds. An inner one belongs to one outer one as long as it exists. */
struct ng_sensor {
  const uint32_t *objects;
  size_t object_count;
  bool
      one_record; /* traced: an entity has one record with values, and an end record without (period sensors) */
  bool
      whole; /* somebody looks at records that no query asks for: none is left out where they arise */
};

struct ng_relation {
  const char *name; /* as created */
  enum ng_relation_kind kind;
  const struct net_layout *layout; /* as it shows itself: event or period; of the store's columns */
  const struct net_layout *records; /* traced, sampled: the event layout it is fed with */
  struct net_key by;                /* traced, sampled: of its domains; else none */
  struct net_key entity;            /* what tells its entities apart (ng_set_entity) */
  int64_t every;                    /* clock: chronons between two ticks, > 0 */
  const struct ng_sensor *sensor;   /* NULL: what comes, comes */
  const char *keeps;                /* for people: how long tuples are kept; NULL: for ever */
  bool of_switches; /* its tuples depend on which sensors are on: they tell none what to watch */
  /* traced: records of it were lost, and who gives the tuples for one run knows when: his periods are read, and
   * not made of records. */
  bool in_doubt;
};

/* Are the periods of RELATION made of records by the network that reads them? */
static inline bool ng_made_of_records(const struct ng_relation *relation) {
  return relation->kind == NG_REL_TRACED && !relation->in_doubt;
}

struct ng_variable {
  const char *name;
  const struct ng_relation *relation;
  bool outside;     /* takes part outside aggregates */
  bool credibility; /* with credibility 0: instants collapse to midpoints, omega tuples left out */
  /* What it ranges over outside aggregates, where that is not RELATION: its tuples with more domains
   * behind RELATION's own (an update numbers them). NULL: RELATION. */
  const struct ng_relation *outside_relation;
  /* Of costs: it takes part in nothing, and stands behind those that do. A record of RELATION, which has a
   * domain `Process` (ng_process_domain), costs COST chronons of that process; periods of a traced relation
   * for which there is such a variable are compensated by them (compensate.c).                        */
  bool costs;
  int64_t cost; /* 0 to NET_COST_MOST */
  /* Of clocks alone: it takes part in nothing, and stands behind those that do. RELATION has no tuples; its checkpoint
   * says how far the clocks tick. */
  bool paces;
};

/* The domain of RELATION that names the process whose sensors made its records; -1: there is none, or its
 * tuples are no records. */
static inline int ng_process_domain(const struct ng_relation *relation) {
  if (relation->kind != NG_REL_TRACED && relation->kind != NG_REL_EVENT) return -1;
  int index = net_layout_find(relation->layout, "Process");
  if (index < 0) return -1;
  enum net_base_type base = relation->layout->fields[index].type.base;
  return base == NET_STRING || base == NET_NAME ? index : -1;
}

/* Decides what tells RELATION's entities apart, in ARENA: nothing, its `by`, and behind that, where sensors make the
 * records, the process, which nobody else's values speak of. It is not one of them where the process is of `by`, or
 * an object is: what that is called is of one process anyway. To be called when layout, by and sensor are there, and
 * again when they change. */
void ng_set_entity(struct base_arena *arena, struct ng_relation *relation);
/* Do all records of one entity have the same value in DOMAIN of RELATION, whose records are made? Of what tells
 * entities apart, and of what an object of the key belongs to (struct ng_sensor). */
bool ng_entity_has_one(const struct ng_relation *relation, uint32_t domain);

enum ng_limit {
#define LIMIT(NAME, VALUE, WHAT) NG_LIMIT_##NAME = (VALUE),
#include "netgen/limits.def"
#undef LIMIT
};

enum ng_op {
  /* constants and leaves */
  NG_INTEGER,
  NG_FLOAT,
  NG_STRING, /* .string; bytes, too */
  NG_TRUTH,
  NG_DOMAIN,    /* .variable . .index (field of its relation's layout) */
  NG_AGGREGATE, /* .index into the query's aggregates */
  NG_GROUP,     /* place .index in the by lists of a summary's aggregates, which are equal */
  NG_DURATION,  /* duration(.variable): temporal (0 1 1 0) */
  /* scalar operators; operands have the operator's type, conversions are explicit */
  NG_NEG,
  NG_ADD,
  NG_SUB,
  NG_MUL,
  NG_DIV,
  NG_MOD,
  NG_POWER, /* integer, float or temporal: .type */
  NG_ABS,
  NG_SQRT,
  NG_LOG,
  NG_EXP,
  NG_SIN,
  NG_COS,
  NG_ATAN,
  NG_CONVERT,  /* args[0] to .type */
  NG_CALENDAR, /* of an instant args[0]: part .integer (engine/calendar.h), of .instant.lo chronons, in the zone .string */
  NG_HEX,      /* bytes: their digits, a string */
  NG_UNHEX,    /* a string of such digits: the bytes */
  NG_ASCII,    /* a string of any scalar, as CSV writes it */
  NG_CONCAT, /* two strings, or two of bytes; the same of the next three, of substring and position */
  NG_LEFT,   /* string, integer: so many code points */
  NG_RIGHT,
  NG_LENGTH, /* of a string, in code points; of bytes, in bytes */
  NG_LOWER,
  NG_UPPER,
  NG_TRIM,
  NG_SUBSTRING,  /* string, first character, how many */
  NG_POSITION,   /* string, string: an integer */
  NG_SUBSTITUTE, /* three strings */
  NG_SPLIT,      /* string, string, which part */
  NG_CAPTURE, /* string, integer: what the group stands for in the first place of .string, a regular expression */
  NG_MATCHES, /* args[0] against the pattern .string (`*`, `?`, `[..]`) */
  NG_FINDS,   /* the regular expression .string (engine/regex.h), anywhere in args[0] */
  NG_EQ,
  NG_NE,
  NG_LT,
  NG_LE,
  NG_GT,
  NG_GE, /* -> truth; operands of one base type */
  NG_AND,
  NG_OR,
  NG_NOT,
  NG_SPAN,
  NG_CHRONON, /* of temporal expression args[0]; .integer 0 midpoint, 1 lo, 2 hi */
  /* temporal expressions (.event says which kind each is) */
  NG_T_VARIABLE,  /* .variable */
  NG_T_AGGREGATE, /* .index: the tuple that earliest or latest chose */
  NG_T_CONSTANT,  /* .instant */
  NG_T_START,
  NG_T_STOP,
  NG_T_SHIFT,    /* the event args[0] moved by .integer chronons */
  NG_T_SEQUENCE, /* .integer: within, chronons, or -1; .index: which pairs, enum ng_sequence */
  NG_T_OVERLAP,
  NG_T_COVERAGE, /* `,` in its two readings */
  NG_T_CHOICE,
  NG_T_EXTEND,
  NG_T_PRECEDE,
  NG_T_EQUAL,
  NG_T_CONTAIN, /* conditions only: stand directly below NG_HOLDS */
  NG_HOLDS,     /* the condition of temporal expression args[0], a truth */
  /* after lowering */
  NG_COLUMN,  /* .column, netgen's own */
  NG_IF,      /* truth, value: nothing of the value counts, no error of it, where the truth is F */
  NG_INSTANT, /* .instant */
  NG_LATER,
  NG_EARLIER,
  NG_INTERSECT,
  NG_SHIFT, /* .integer */
  NG_BEFORE,
  NG_NOT_AFTER,
  NG_EQUAL_INSTANTS,
  NG_WITHIN /* .integer */,
  NG_OVERLAP_PERIODS /* 4 args */,
  NG_OVERLAP_EVENT /* 3 */,
  NG_EQUAL_PERIODS,
  NG_CONTAIN /* 4 */,
  NG_REBASE, /* temporal, from, to */
  NG_SPAN_OF,
  NG_CHRONON_OF, /* of instants */
};

struct ng_column;

struct ng_expr {
  enum ng_op op;
  struct net_type type; /* scalars; NET_BOOL for truths; NET_INSTANT for lowered instants */
  bool event;           /* temporal expressions: an event (else a period) */
  struct base_range range;
  const struct ng_expr *args[4];
  unsigned arg_count;
  unsigned variable; /* index into the query's variables */
  unsigned index;
  int64_t integer;
  double real;
  base_string_id string;
  struct net_instant instant;
  const struct ng_column *column;
};

/* What counts at chronon t: instantaneous, the tuples valid at t, as a set over the explicit domains;
 * cumulative, every tuple whose start is at or before t; with a window of w chronons, every tuple that is
 * valid somewhere in (t - w, t].                                                                      */
struct ng_aggregate {
  enum net_aggregate_function function;
  bool cumulative, unique;
  double fraction; /* of quantiles */
  int64_t window;  /* 0: none */
  unsigned variable;
  const struct ng_expr *argument; /* NULL: the tuple */
  const struct ng_expr **by;
  size_t by_count;
  const struct ng_expr *where; /* NULL: all */
  const struct ng_expr *when;  /* truth over NG_HOLDS of the aggregate's own variable; NULL: all */
  bool summary;                /* cumulative; of all tuples at once, one value for all time */
  const struct ng_expr
      *during; /* of a summary: as WHEN; what it leaves out makes no group either; NULL: all */
  /* of a summary: how many records sensors made, of each process or in all, also those that were left out where they
   * arose (ng_inputs.counts) */
  bool passes;
  struct net_type type; /* unused for earliest, latest */
  struct base_range range;
};

/* unless VARIABLE where WHERE when WHEN. VARIABLE takes part in nothing else. Without WHEN, of a result that is a period the
 * portions stay at which no tuple of VARIABLE is valid that satisfies WHERE, and an event if none is at its instant; with
 * WHEN a result stays, as it is, if no tuple satisfies both. */
struct ng_absence {
  unsigned variable;
  const struct ng_expr
      *where; /* truth, of domains alone, that does not change with time; NULL: true */
  const struct ng_expr *when; /* truth over NG_HOLDS; NULL: see above */
};

/* What may be missing of what aggregate number AGGREGATE counts: VARIABLE, which nothing else names, ranges over
 * periods that divide the time line, and the results with it; those that are not definite make them so. Where the
 * relation has domains, it does so for each group: domain F is the one that stands at place BY[F] of the by list. */
struct ng_doubt {
  unsigned aggregate;
  struct ng_variable variable;
  const unsigned *by;
};

/* What may have been lost of a variable's relation, so that under `set sequence closest` or `distinct` it may be a nearer
 * partner: when a time of its tuples may be. */
enum ng_lost_time {
  NG_LOST_START, /* an event's time */
  NG_LOST_STOP,
  NG_LOST_AFTER, /* anything behind a start */
  NG_LOST_ANY,
};
struct ng_lost {
  bool within;                   /* what is missing begins and ends within a loss */
  struct net_losses times[4][2]; /* by enum ng_lost_time; of anybody, told apart by process */
  int process;                   /* the domain that says whose they are; -1: none */
};

/* A string of the statement that says a time, and which one it was when that was bound. */
struct ng_time {
  struct base_range range;
  net_chronon time;
};

struct ng_target {
  const char *name;
  const struct ng_expr *expr;
};

/* `set sequence`: which pairs `;` admits (closest.c). */
enum ng_sequence {
  NG_SEQUENCE_FULL,     /* all that follow each other */
  NG_SEQUENCE_CLOSEST,  /* a tuple with its nearest partners */
  NG_SEQUENCE_DISTINCT, /* a tuple with the nearest of each distinct one */
  /* By a word at the sequence; conditions on one variable alone choose as well. */
  NG_SEQUENCE_FIRST,   /* a tuple with the first behind it */
  NG_SEQUENCE_LAST,    /* a tuple with the last before it */
  NG_SEQUENCE_NEAREST, /* both */
};

static inline bool ng_sequence_by_word(enum ng_sequence sequence) {
  return sequence >= NG_SEQUENCE_FIRST;
}

/* Is a pair none if a row of SIDE, 0 the one before, lies between? */
static inline bool ng_sequence_counts(enum ng_sequence sequence, unsigned side) {
  return sequence != (side == 0 ? NG_SEQUENCE_FIRST : NG_SEQUENCE_LAST);
}

struct ng_query {
  const char *name;                 /* the derived relation, or NULL: a one-off */
  const char *text;                 /* canonical text of the statement */
  const struct base_source *source; /* what the ranges refer to, for diagnostics at run time */
  struct base_range range;
  enum net_timeline timeline;
  struct ng_variable *
      variables; /* used ones only, outside and inside aggregates and absences; then those of costs, or that paces */
  size_t variable_count;
  struct ng_aggregate *aggregates;
  size_t aggregate_count;
  const struct ng_time *times; /* values among the constants, for who keeps the statement's text */
  size_t time_count;
  struct ng_absence *absences;
  size_t absence_count;
  struct ng_doubt *doubts; /* of some aggregates */
  size_t doubt_count;
  const struct ng_lost *const *lost; /* by variable, NULL: nothing is of that; NULL: of any */
  struct ng_target *targets;
  size_t target_count;
  const struct ng_expr *where;             /* truth; NULL: true */
  const struct ng_expr *when;              /* truth over NG_HOLDS; NULL: the default */
  const struct ng_expr *start, *stop, *at; /* temporal expressions; NULL: the default */
  enum net_tuple_class result_class;
  const struct net_layout *layout; /* of the result */
  /* The default delimiter is that of variable DELIMITER and the aggregates; the other variables are
   * conditions on it alone (updates). */
  bool one_delimits;
  unsigned delimiter;
  bool coalesced;
  bool summary; /* of aggregates alone, each a summary, over variables that take no part outside */
  bool
      so_far; /* a summary in the live network: it tells at the end of each run what has changed (network.h) */
  enum ng_sequence
      sequence; /* that of its sequences which choose (not FULL), if there are any; else as it was set */
  /* Of clocks alone: the finite times that the statement names, as if they were those of another input;
   * NET_FOREVER and NET_BEGINNING: none. */
  net_chronon named_first, named_last;
  bool origin_given; /* false (real timeline): the start of the first tuple of the input */
  net_chronon origin;
  bool averaging_origin_given;
  net_chronon averaging_origin;
  bool unbounded_allowed; /* standing over a live feed it may need memory without bound */
  bool losses_ignored; /* stored, what is there is taken for all there was, whoever looks at it */
};

/* Has it clocks alone? */
static inline bool ng_is_paced(const struct ng_query *query) {
  return query->variable_count > 0 && query->variables[query->variable_count - 1].paces;
}

#endif
