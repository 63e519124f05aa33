/* Analysis: syntax tree -> bound query. Resolves names, checks types, makes constants absolute; fills
 * in nothing that netgen supplies (defaults of when, start, stop, at).                               */
#ifndef TQL_ANALYSE_H
#define TQL_ANALYSE_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "netgen/netgen.h"
#include "tquel/lang/ast.h"

/* What a record of RELATION costs the process that made it, chronons. */
struct tql_cost {
  const char *relation;
  int64_t cost;
};
struct tql_costs {
  struct tql_cost *items;
  size_t count, capacity;
};
enum tql_compensate {
  TQL_COMPENSATE_OFF,
  TQL_COMPENSATE_MEASURED, /* by what tql_scope says */
  TQL_COMPENSATE_GIVEN,    /* by the settings' costs */
};

/* Settings of a session that stay with what is defined under them: those that change meanings, what a
 * standing query may cost, and whether it tells of losses (the others are the session's own business). */
struct tql_settings {
  bool coverage; /* set parallel coverage */
  enum ng_sequence sequence;
  bool origin_given;
  net_chronon origin; /* 0 on the abstract timeline unless set */
  bool averaging_origin_given;
  net_chronon averaging_origin;
  int64_t unit; /* chronons per unit of integer constants: 1 ms real, 1 abstract */
  enum tql_compensate compensate;
  const struct tql_costs *costs; /* set compensate "RELATION COST, ..." */
  bool unbounded_allowed;        /* set unbounded allowed */
  bool losses_ignored;           /* set losses ignored */
};

/* The word of `set sequence` for it; false: there is none of this NAME (in any case). */
const char *tql_sequence_name(enum ng_sequence sequence);
bool tql_sequence_find(const char *name, enum ng_sequence *ret);

struct tql_variable {
  const char *name;
  const struct ng_relation *relation;
  int credibility; /* -1 not given, 0, 100 */
};

/* What names mean at the moment; the session implements it. */
struct tql_scope {
  void *context;
  const struct ng_relation *(*find_relation)(void *context, const char *name);
  /* Why the relation NAME, which find_relation does not find, can only be destroyed; NULL: it is not there.
   * May be NULL. */
  const char *(*why_unusable)(void *context, const char *name);
  /* Calls ON_NAME for every relation name (suggestions, completion). */
  void (*each_relation)(void *context, void (*on_name)(void *, const char *), void *on_context);
  /* Set compensate on: adds the relations that sensors fill, with what their records cost as far as that
   * is known, else 0, to RET, whose memory is from ARENA. May be NULL. */
  void (*costs)(void *context, struct base_arena *arena, struct tql_costs *ret);
  /* The relation that says how far time has come, for clocks alone (ng_variable.paces); NULL after a diagnostic.
   * May itself be NULL: then these are refused. */
  const struct ng_relation *(*time_passed)(void *context);
  const struct tql_variable *variables;
  size_t variable_count;
  const struct tql_settings *settings;
  struct net_time_context time;
  struct base_strings *strings;
};

struct tql_analysis {
  struct base_arena *arena; /* results live here */
  const struct tql_scope *scope;
  const struct base_source *source;
  struct base_diag_sink *diags;
  bool
      kept; /* a text that the catalogue keeps: what there was to be warned of was said when it came */
};

/* The variable of that name (case-insensitive) or NULL. */
const struct tql_variable *tql_scope_variable(const struct tql_scope *scope, const char *name);
/* The relation NAME, or NULL after TQ-0101 with a suggestion, or TQ-0636. */
const struct ng_relation *tql_analyse_relation(const struct tql_analysis *analysis,
                                               const struct tql_name *name);

/* What `set compensate` takes, VALUE: on, off, or "RELATION COST, ...": into SETTINGS, in ARENA. */
enum base_status tql_analyse_compensate(const struct tql_analysis *analysis,
                                        const struct tql_statement *statement,
                                        struct base_arena *arena, struct tql_settings *settings);
void tql_costs_add(struct base_arena *arena, struct tql_costs *costs, const char *relation,
                   int64_t cost);

/* The relation that a call stands for in a range statement: Clock(n), in the analysis' arena. */
const struct ng_relation *tql_analyse_clock(const struct tql_analysis *analysis,
                                            const struct tql_expr *call);

/* retrieve. *RET on BASE_OK only; on BASE_USER at least one diagnostic with a position was reported. */
enum base_status tql_analyse_retrieve(const struct tql_analysis *analysis,
                                      const struct tql_statement *statement,
                                      const struct ng_query **ret) BASE_MUST_USE;

/* append: a query whose result rows are to be added to the relation; its layout is that of the
 * relation's records (traced, sampled) or tuples, domains that are not named get 0, "" or false.
 * No variable: exactly one row. On the real timeline a bare integer time is an error with a hint.    */
enum base_status tql_analyse_append(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement,
                                    const struct ng_query **ret) BASE_MUST_USE;

/* delete and replace: a query that gives, for each tuple of the variable's relation that satisfies the
 * clauses, the portion of its time that is meant. The tuples come with their number as a domain behind
 * their own (NUMBERED), and the query's first target is that number.                                 */
#define TQL_NUMBER_DOMAIN "all" /* no relation can have a domain of that name */
struct tql_update {
  const struct ng_relation *relation; /* of the variable */
  const struct ng_relation *numbered; /* a source for it is the caller's affair */
  bool credibility;
  const struct ng_query *query;
  /* replace: targets 1.. are values of these fields of the relation's layout; behind them, if MOVES
   * (replace ... at T), the bounds of the new instant as two integers.                               */
  const uint32_t *fields;
  size_t field_count;
  bool moves;
  /* The portion begins (ends) with the tuple unless a comparison or an aggregate cuts it. */
  bool own_start, own_stop;
};
enum base_status tql_analyse_update(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement,
                                    struct tql_update *ret) BASE_MUST_USE;

/* define integrity: a query over the one variable that has the condition as its `where`. */
enum base_status tql_analyse_integrity(const struct tql_analysis *analysis,
                                       const struct tql_statement *statement,
                                       const struct ng_query **ret) BASE_MUST_USE;
/* define permit: names, times and days are checked; *RET is the relation, *RET_VARIABLES those that the
 * text needs (a query without targets).                                                             */
enum base_status tql_analyse_permit(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement,
                                    const struct ng_relation **ret,
                                    const struct ng_query **ret_variables) BASE_MUST_USE;
/* index, modify: the names of domains of RELATION as they were created; NULL after a diagnostic. */
const char **tql_analyse_domains(const struct tql_analysis *analysis,
                                 const struct ng_relation *relation, const struct tql_name *names,
                                 size_t count);
/* TQ-0105 or TQ-0104 if NAME cannot be given to a new relation or index. */
bool tql_analyse_new_name(const struct tql_analysis *analysis, const struct tql_name *name);

/* create: the new relation (name and domain checks, types, `by`). */
enum base_status tql_analyse_create(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement,
                                    const struct ng_relation **ret) BASE_MUST_USE;

/* A constant time (checkpoint T, set origin T, at T of append): integer, ISO text, "now", forever,
 * beginning (as bare names), a duration (on the real timeline: after 1970? no: an error). INTEGERS_OK:
 * else a bare integer is an error on the real timeline (LIVE 12).                                   */
enum base_status tql_analyse_time(const struct tql_analysis *analysis, const struct tql_expr *expr,
                                  bool integers_ok, net_chronon *ret) BASE_MUST_USE;
/* A duration in chronons: a duration, or an integer counted in units of the setting `unit`. */
enum base_status tql_analyse_duration(const struct tql_analysis *analysis,
                                      const struct tql_expr *expr, int64_t *ret) BASE_MUST_USE;

/* Appends statements that make the variables and settings of SCOPE in a fresh session; ARENA: for the while. */
void tql_scope_text(struct base_arena *arena, const struct tql_scope *scope,
                    struct base_buffer *out);

/* Self-contained text of a derived relation for tq_query: canonical, with its range statements,
 * constants as absolute instants, the settings that change results, and of a standing query whether it may
 * need memory without bound; parsing and analysing it in a fresh session gives the same query.      */
char *tql_definition_text(struct base_arena *arena, const struct tql_scope *scope,
                          const struct tql_statement *statement, const struct ng_query *query);

#endif
