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
#define ROWS_MAX       8
#define RELATIONS_MAX  6
#define STATEMENTS_MAX 10

struct input_row {
  net_chronon time[4]; /* lo, hi of at or start; lo, hi of stop */
  bool definite;
  int64_t x;
  double y;
  const char *s;
  bool dropped; /* left out while shrinking */
};

struct input {
  const char *name, *kind, *domains, *header; /* "period", "(x = i4, ...)", "x,y,s" */
  struct input_row rows[ROWS_MAX];
  size_t count;
};

/* A retrieve in parts that shrinking can leave out. */
struct statement {
  const char *name; /* of a derived relation, or NULL */
  const char *targets[PARTS_MAX], *where[PARTS_MAX], *when[PARTS_MAX];
  size_t target_count, where_count, when_count;
  const char *start, *stop, *at;
  bool dropped;
};

struct scenario {
  struct base_arena *arena;
  struct base_random random;
  uint64_t seed;
  bool determinate;
  struct input inputs[RELATIONS_MAX];
  size_t input_count;
  const char *settings[4];
  size_t setting_count;
  struct statement statements[STATEMENTS_MAX];
  size_t statement_count;
};

/* generate.c */
void scenario_init(struct scenario *scenario, struct base_arena *arena, uint64_t seed);
/* Adds a random statement; AVOID names derived relations that have grown too large. */
void scenario_add_statement(struct scenario *scenario, bool named,
                            bool (*avoid)(void *, const char *), void *context);
const char *statement_text(struct base_arena *arena, const struct statement *statement);
/* The tuple variables of relation NAME (a_NAME, b_NAME): their range statements. */
const char *ranges_text(struct base_arena *arena, const char *name);
const char *create_text(struct base_arena *arena, const struct input *input);
const char *header_text(struct base_arena *arena, const struct input *input);
const char *row_text(struct base_arena *arena, const struct input *input,
                     const struct input_row *row);
/* The whole as a script for people. */
void scenario_print(struct base_buffer *out, const struct scenario *scenario, size_t statements);

/* world.c: the reference's side */
struct world;
struct world *world_new(struct base_arena *arena, const struct scenario *scenario);
void world_free(struct world *world);
/* What the reference says of a retrieve: *RET on BASE_OK. BASE_USER: it does not bind. BASE_END: the
 * reference has no answer (*RET_WHY): an error at run time.                                         */
enum base_status world_retrieve(struct world *world, const struct statement *statement,
                                struct oracle_relation *ret, const char **ret_why);
struct base_strings *world_strings(struct world *world);

/* engine.c: the session's side */
struct engine_options {
  bool rules_off;
  uint32_t batch_rows;
};
enum answer { ANSWER_ROWS, ANSWER_REFUSED, ANSWER_NOT_EXECUTED, ANSWER_BROKEN };
struct engine {
  struct base_arena *arena;
  struct base_strings *strings; /* those of the world: rows are translated */
  struct tql_session *session;
  struct base_diag_sink diags;
  struct tql_output output;
  struct oracle_relation result;
  bool has_result;
};
bool engine_open(struct engine *engine, struct base_arena *arena, struct base_strings *strings,
                 const char *path, struct engine_options options);
void engine_close(struct engine *engine);
/* Runs TEXT; the last result is in engine->result. */
enum answer engine_run(struct engine *engine, const char *text);
const char *engine_message(const struct engine *engine); /* the first error */
bool engine_copy(struct engine *engine, const struct input *input, const char *rows);
bool engine_load(struct engine *engine, const struct scenario *scenario);
/* Runs the statement and, if it defines a relation, prints that. */
enum answer engine_retrieve(struct engine *engine, const struct statement *statement);

/* compare: appends what differs; true: nothing. */
bool same_relation(struct base_buffer *out, const struct base_strings *strings,
                   const struct oracle_relation *expected, const struct oracle_relation *got);

/* incremental.c: the scenario's data bit by bit against all at once; true: the same. */
bool judge_incremental(struct base_buffer *out, const struct scenario *scenario,
                       const char *directory);

#endif
