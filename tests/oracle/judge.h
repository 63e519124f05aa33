/* The random judge: a scenario is a small random database and random statements over it. The
 * statements' results from a session are compared with those of the reference evaluator, and results
 * of data that came bit by bit with those of the same data at once.                               */
#ifndef ORACLE_JUDGE_H
#define ORACLE_JUDGE_H

#include "engine/base/env.h"
#include "tests/oracle/oracle.h"
#include "tquel/analyse/analyse.h"
#include "tquel/session/session.h"

#define PARTS_MAX      6
#define ROWS_MAX       40
#define DOMAINS_MAX    6
#define RELATIONS_MAX  9
#define STATEMENTS_MAX 14
#define LOSSES_MAX     4
#define ABSENCES_MAX   2

/* What an expression gives: 'i'nteger, 'f'loat, 's'tring, 'b'ool, 't'emporal, b'y'tes (values: their digits). */
struct input_domain {
  const char *name, *type; /* "x", "i4" */
  char kind;
};

struct input_value {
  int64_t i;
  double f;
  const char *s;
};

struct input_row {
  net_chronon time[4]; /* lo, hi of at or start; lo, hi of stop */
  bool definite;
  struct input_value values[DOMAINS_MAX];
  bool dropped; /* left out while shrinking */
  /* made, and left out where it arose: it counts where nothing is asked but how many there are, and is nowhere else */
  bool left_out;
};

struct input {
  const char *name, *kind; /* "P", "period" */
  struct input_domain domains[DOMAINS_MAX];
  size_t domain_count;
  size_t by[DOMAINS_MAX], by_count; /* traced, sampled: the domains of the key; else none */
  bool
      in_process; /* reported by sensors: the entity is its process's own, which the first domain names */
  struct input_row rows[ROWS_MAX];
  size_t count;
  bool dropped;
};

/* Records of one input, or of all, are not there: in Lost, or one each in Late or Rejected. */
struct loss {
  const char *in;       /* the relation that says so */
  const char *relation; /* "": all */
  const char *source;
  net_chronon from, to;
  bool dropped;
};

enum statement_kind { RETRIEVE, SETTING, APPEND, DELETE, REPLACE };

/* unless VARIABLE where ... when ... */
struct absence {
  const char *variable;
  const char *where[PARTS_MAX], *when[PARTS_MAX];
  size_t where_count, when_count;
};

/* A statement in parts that shrinking can leave out. */
struct statement {
  enum statement_kind kind;
  const char
      *name; /* of a derived relation, or NULL; of the relation or variable that is changed */
  const char *modes; /* "unique " */
  const char *text;  /* a setting */
  const char *targets[PARTS_MAX], *where[PARTS_MAX], *when[PARTS_MAX];
  char kinds[PARTS_MAX]; /* of the targets */
  size_t target_count, where_count, when_count;
  const char *start, *stop, *at;
  struct absence absences[ABSENCES_MAX];
  size_t absence_count;
  const char *during; /* of a summary, or NULL */
  const char *order;  /* sort by ..., or NULL */
  bool event;         /* what the result is */
  bool endless;       /* its starts may be `beginning` */
  bool valid;         /* written as `valid` clauses */
  bool view;
  bool dropped;
};

struct scenario {
  struct base_arena *arena;
  struct base_random random;
  uint64_t seed;
  bool real;              /* the timeline; else abstract */
  net_chronon base, unit; /* of small times: base + t * unit */
  bool determinate;       /* throughout */
  bool extremes;          /* integers near the limits */
  bool odd_strings;       /* pattern characters, blanks, not ASCII */
  bool updates;           /* statements that change relations */
  bool bytes;             /* some relations have a domain of them */
  bool nearest;           /* records are lost, and nearest partners looked for */
  bool compensated;       /* strings are names of processes, and what records cost is set */
  bool coverage;          /* settings at the end of what has been generated */
  const char *sequence;   /* NULL: full */
  struct input inputs[RELATIONS_MAX];
  size_t input_count;
  struct loss losses[LOSSES_MAX];
  size_t loss_count;
  struct statement statements[STATEMENTS_MAX];
  size_t statement_count;
};

/* --- generate.c */
void scenario_init(struct scenario *scenario, struct base_arena *arena, uint64_t seed);
/* Records of some of the inputs are lost. */
void scenario_lose(struct scenario *scenario);
bool is_kind(const struct input *input, const char *kind);
uint64_t below(struct scenario *scenario, uint64_t bound);
bool chance(struct scenario *scenario, unsigned percent);
const char *some_string(struct scenario *scenario);
const char *some_bytes(struct scenario *scenario); /* their digits */
net_chronon some_time(struct scenario *scenario);  /* on the scenario's time line */
struct input_row some_row(struct scenario *scenario, const struct input *input);
#define PICK(SCENARIO, ...)                    \
  (((const char *const[]){__VA_ARGS__})[below( \
      (SCENARIO), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))])
#define TEXT(...) base_arena_printf(scenario->arena, __VA_ARGS__)

/* --- statements.c */
/* Is there more than one can look at in derived relation NAME? */
typedef bool (*avoid_fn)(void *context, const char *name);
/* Adds a random statement; NAMED: a derived relation. */
void scenario_add_statement(struct scenario *scenario, bool named, avoid_fn avoid, void *context);

/* --- overlapping.c */
/* Several entities of a traced relation do the same at the same time. */
void scenario_make_overlapping(struct scenario *scenario);
/* Adds a derived relation that has equal tuples of them, and statements over it. */
void scenario_add_overlapping(struct scenario *scenario);

/* --- script.c: texts */
const char *time_text(struct scenario *scenario, net_chronon time); /* as a constant */
const char *duration_text(struct scenario *scenario, int64_t units);
const char *string_text(struct base_arena *arena, const char *value); /* in quotes */
const char *statement_text(struct base_arena *arena, const struct statement *statement);
/* The tuple variables of relation NAME: aNAME, bNAME, and cNAME with credibility 0. */
const char *ranges_text(struct base_arena *arena, const char *name);
extern const char *const clock_variables[2];
extern const int clock_units[2];
const char *clock_range_text(struct base_arena *arena, const struct scenario *scenario, int which);
const char *create_text(struct base_arena *arena, const struct input *input);
/* Have rows A and B of INPUT the same values in its key? */
bool input_same_key(const struct input *input, const struct input_row *a,
                    const struct input_row *b);
const char *header_text(struct base_arena *arena, const struct input *input);
const char *row_text(struct base_arena *arena, const struct input *input,
                     const struct input_row *row);
/* The statement that says so. */
const char *loss_text(const struct scenario *scenario, const struct loss *loss);
/* Does TEXT have WORD in it, and no longer one? */
bool has_word(const char *text, const char *word);
/* The whole as a script for people. */
/* Does one of the first STATEMENTS statements name WORD? */
bool scenario_mentions(const struct scenario *scenario, size_t statements, const char *word);
void scenario_print(struct base_buffer *out, const struct scenario *scenario, size_t statements);

/* --- world.c: the reference's side */
struct world;
struct world *world_new(struct base_arena *arena, const struct scenario *scenario);
void world_free(struct world *world);
/* All inputs had the finite CHECKPOINT before they were closed. */
void world_pass(struct world *world, net_chronon checkpoint);

/* What the reference says of a statement. BASE_OK: rows, and after updates the contents of relations.
 * BASE_USER: it does not bind. BASE_END: an error at run time (WHY). BASE_AGAIN: analysis does not know
 * the part of the language yet.                                                                     */
struct contents {
  const char *name;
  struct oracle_relation rows;
  bool may_fail, unsaid; /* as below */
};
struct outcome {
  enum base_status status;
  const char *why;
  bool may_fail; /* an error at run time is as good */
  bool unsaid;   /* so is anything */
  bool has_rows;
  bool ordered;      /* the rows come in their order */
  bool clocks_alone; /* nothing else is read */
  uint64_t doubted;  /* rows that are uncertain by what is missing of an aggregate alone */
  struct oracle_relation rows;
  struct contents *contents;
  size_t content_count;
};
struct outcome world_run(struct world *world, const struct statement *statement);
/* The same for a retrieve, as BASE_OK and so on. */
enum base_status world_retrieve(struct world *world, const struct statement *statement,
                                struct oracle_relation *ret, const char **ret_why);
struct base_strings *world_strings(struct world *world);

/* --- order.c */

/* Whether rows of LAYOUT have an order that the last bits of doubles have no part in. */
bool oracle_is_ordered(const struct net_layout *layout);
/* False: it names what the rows do not have. */
bool oracle_order(struct oracle_relation *relation, const struct base_strings *strings,
                  const struct tql_order *order);

/* --- engine.c: the session's side */
/* Row by row. */
bool same_sequence(struct base_buffer *out, const struct base_strings *strings,
                   const struct oracle_relation *expected, const struct oracle_relation *got);
struct engine_options {
  bool rules_off;
  uint32_t batch_rows;
  int rule_off; /* number of one rule plus 1; 0: none */
};
enum answer { ANSWER_ROWS, ANSWER_REFUSED, ANSWER_NOT_EXECUTED, ANSWER_BROKEN };
struct engine {
  struct base_arena *arena;
  struct base_strings *strings; /* those of the world: rows are translated */
  struct tql_session *session;
  enum net_timeline timeline;
  struct base_diag_sink diags;
  struct tql_output output;
  struct oracle_relation result;
  bool has_result;
  bool lacking; /* something was not executed: later statements may miss it */
};
bool engine_open(struct engine *engine, struct base_arena *arena, struct base_strings *strings,
                 const char *path, const struct scenario *scenario, struct engine_options options);
void engine_close(struct engine *engine);
/* Runs TEXT; the last result is in engine->result. */
enum answer engine_run(struct engine *engine, const char *text);
/* STATEMENT alone. One query of four is explained before: that must be refused or not as the statement is, and
 * change nothing. */
enum answer engine_define(struct engine *engine, const struct statement *statement);
const char *engine_message(const struct engine *engine); /* the first error */
int engine_number(const struct engine *engine);          /* its number; 0: none */
bool is_run_time_error(const struct engine *engine, enum answer answer);
bool engine_copy(struct engine *engine, const struct input *input, const char *rows);
bool engine_load(struct engine *engine, const struct scenario *scenario);
/* Runs the statement and, if it defines a relation, prints that. */
enum answer engine_statement(struct engine *engine, const struct statement *statement);

/* The relation's contents as a result. */
enum answer engine_print(struct engine *engine, const char *name);

/* compare: appends what differs; true: nothing. */
bool same_relation(struct base_buffer *out, const struct base_strings *strings,
                   enum net_timeline timeline, const struct oracle_relation *expected,
                   const struct oracle_relation *got);

/* --- verdict.c: one scenario under the configurations */
struct verdict {
  bool differs, crashed;
  size_t statement;
  struct engine_options options;
  struct base_buffer why;
};
struct tally {
  uint64_t judged, refused, skipped, errors, differences, rows, omega, doubted;
  uint64_t sensed, arcs, clocks, triggers, withheld, filtered,
      counted; /* statements about sensors; see sensed.h */
};
/* SELFTEST falsifies the reference. */
void judge_configuration(const struct scenario *scenario, size_t last,
                         struct engine_options options, bool selftest, struct verdict *verdict,
                         struct tally *tally);
/* The scenario of that seed with all its statements. */
void draw_statements(struct scenario *scenario, struct base_arena *arena, uint64_t seed);
/* Draws a scenario and judges it under all configurations. */
void judge_scenario(uint64_t seed, bool verbose, bool selftest, struct tally *tally);

/* --- shrink.c: whatever can be left out with the difference still there, is */
void shrink(struct scenario *scenario, size_t last, struct engine_options options, bool selftest,
            bool crashes);
bool still_differs(const struct scenario *scenario, size_t last, struct engine_options options,
                   bool selftest, bool crashes);

/* --- incremental.c: the scenario's data bit by bit against all at once; true: the same. */
bool judge_incremental(struct base_buffer *out, const struct scenario *scenario,
                       const char *directory);
void judge_bit_by_bit(uint64_t seed, const char *directory, struct tally *tally);

#endif
