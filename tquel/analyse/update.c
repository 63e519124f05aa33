/* delete and replace: which portion of which tuple is meant.
 *
 * The statement becomes a query over the variable's relation, whose tuples come numbered, and over the
 * other variables. Its result says of each tuple that satisfies where and when which portion of its
 * time is meant; the caller cuts that portion out and, for replace, puts the changed tuple there.
 *
 *      period     start A, stop B or valid from A to B; default: the tuple's own start and stop,
 *                 cut where a comparison of temporal values or an aggregate holds for a part only
 *      event      the tuple; replace ... at T moves it
 *      traced     the record that opened the tuple; replace ... at T moves it
 *      snapshot   the tuple
 *
 * The other variables are conditions: unlike in retrieve they do not cut the time of the tuple. The
 * default `when` is that of retrieve. */
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

static void refuse(struct tql_binder *binder, const struct base_range *range, const char *hint,
                   const char *message) {
  base_report_hint(binder->analysis->diags, MSG_CLAUSES, binder->analysis->source, range, hint,
                   "%s", message);
  binder->failed = true;
}

/* RELATION's tuples with their number behind their domains, read as tuples. */
static const struct ng_relation *numbered(struct base_arena *arena,
                                          const struct ng_relation *relation) {
  const struct net_layout *layout = relation->layout;
  uint32_t count = layout->field_count;
  struct net_field *fields = BASE_NEW_ARRAY(arena, count + 1, struct net_field);
  if (count) memcpy(fields, layout->fields, count * sizeof *fields);
  fields[count] = (struct net_field){.name = TQL_NUMBER_DOMAIN, .type = {NET_INTEGER, 8}};
  bool event = layout->tuple_class == NET_EVENT;
  struct ng_relation *copy = BASE_NEW(arena, struct ng_relation);
  copy->name = relation->name;
  copy->kind = event ? NG_REL_EVENT : NG_REL_PERIOD;
  copy->layout = net_layout_new(arena, layout->tuple_class, fields, count + 1);
  return copy;
}

/* ---- clauses ---- */

static const char *what_it_holds(enum ng_relation_kind kind) {
  switch (kind) {
    case NG_REL_SNAPSHOT:
      return "tuples of a snapshot relation hold always: no portion of them can be meant";
    case NG_REL_TRACED:
    case NG_REL_SAMPLED:
      return "the periods of the relation come from its records: no portion of them can be meant";
    default:
      return "an event has no portion that could be meant";
  }
}

/* As in append, the times that are written must be unmistakable; those of a condition need not be. */
static void bind_clauses(struct tql_binder *binder, const struct tql_clauses *clauses) {
  struct tql_clauses conditions = {.where = clauses->where, .when = clauses->when};
  struct tql_clauses times = *clauses;
  times.where = times.when = NULL;
  tql_bind_clauses(binder, &conditions);
  binder->append_times = true;
  tql_bind_clauses(binder, &times);
}

static void check_clauses(struct tql_binder *binder, const struct ng_relation *relation,
                          const struct tql_statement *statement) {
  const struct tql_clauses *clauses = &statement->clauses;
  bool replaces = statement->kind == TQL_S_REPLACE;
  bool portions = relation->kind == NG_REL_PERIOD;
  bool moves = replaces && (relation->kind == NG_REL_EVENT || relation->kind == NG_REL_TRACED);
  const struct base_range *period = clauses->start  ? &clauses->start_range
                                    : clauses->stop ? &clauses->stop_range
                                                    : NULL;
  if (period && !portions)
    refuse(binder, period, "say which tuples are meant with where and when",
           what_it_holds(relation->kind));
  if (clauses->at && portions)
    refuse(binder, &clauses->at_range, "a portion of a period has a start and a stop",
           "the relation holds periods, not events");
  else if (clauses->at && !moves)
    refuse(binder, &clauses->at_range, "say which tuples are meant with where and when",
           replaces ? what_it_holds(relation->kind) : "delete takes no time: at would be one");
  if (replaces && binder->target_count == 0 && !clauses->at && !binder->failed)
    refuse(binder, &statement->range, "write: replace V (domain = expression)",
           "the statement replaces nothing");
}

/* ---- targets ---- */

static const struct ng_expr *bound_of(const struct tql_binder *binder, const struct ng_expr *at,
                                      int64_t which) {
  struct ng_expr *expr =
      tql_new_unary(binder, NG_CHRONON, (struct net_type){NET_INTEGER, 8}, at->range, at);
  expr->integer = which;
  return expr;
}

static void add_result(struct tql_binder *binder, struct net_field *fields, const char *name,
                       const struct ng_expr *expr) {
  struct ng_query *query = binder->query;
  if (!expr) return;
  fields[query->target_count] = (struct net_field){.name = name, .type = expr->type};
  query->targets[query->target_count++] = (struct ng_target){name, expr};
}

static void make_result(struct tql_binder *binder, struct tql_update *update, unsigned variable) {
  size_t most = binder->target_count + 3;
  const struct net_layout *layout = update->relation->layout;
  struct net_field *fields = BASE_NEW_ARRAY(binder->arena, most, struct net_field);
  uint32_t *assigned = BASE_NEW_ARRAY(binder->arena, most, uint32_t);
  binder->query->targets = BASE_NEW_ARRAY(binder->arena, most, struct ng_target);
  struct ng_expr *number =
      tql_new_expr(binder, NG_DOMAIN, (struct net_type){NET_INTEGER, 8}, binder->query->range);
  number->variable = variable;
  number->index = layout->field_count;
  add_result(binder, fields, TQL_NUMBER_DOMAIN, number);
  for (size_t i = 0; i < binder->target_count; i++) {
    const struct tql_bound_target *target = &binder->targets[i];
    struct tql_name name = {target->name, target->range};
    int field = tql_find_domain(binder->analysis, update->relation, layout, &name);
    if (field < 0) {
      binder->failed = true;
      continue;
    }
    assigned[update->field_count++] = (uint32_t)field;
    add_result(binder, fields, layout->fields[field].name,
               tql_assigned(binder, target, &layout->fields[field]));
  }
  if (update->moves && binder->query->at) {
    add_result(binder, fields, "at_lo", bound_of(binder, binder->query->at, 1));
    add_result(binder, fields, "at_hi", bound_of(binder, binder->query->at, 2));
  }
  binder->query->at = NULL; /* the condition is about the tuple as it stands */
  update->fields = assigned;
  if (!binder->failed)
    binder->query->layout = net_layout_new(binder->arena, layout->tuple_class, fields,
                                           (uint32_t)binder->query->target_count);
}

/* Is the delimiter that of the tuple itself, by default or as V.start, V.stop? */
static bool is_own(const struct ng_expr *delimiter, enum ng_op op, unsigned variable) {
  if (delimiter == NULL) return true;
  return delimiter->op == op && delimiter->args[0]->op == NG_T_VARIABLE &&
         delimiter->args[0]->variable == variable;
}

/* ---- the statement ---- */

static enum base_status update_held(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement, struct tql_update *ret) {
  BASE_CHECK(statement->kind == TQL_S_DELETE || statement->kind == TQL_S_REPLACE,
             "analyse-update-kind");
  struct tql_binder binder;
  struct tql_update update = {0};
  tql_binder_init(&binder, analysis, statement);
  int variable = tql_bind_variable(&binder, &statement->variable);
  if (variable < 0) {
    tql_binder_done(&binder);
    return BASE_USER;
  }
  update.relation = binder.variables[variable].relation;
  update.numbered = numbered(analysis->arena, update.relation);
  update.credibility = binder.variables[variable].credibility;
  binder.variables[variable].outside_relation = update.numbered;
  const struct tql_clauses *clauses = &statement->clauses;
  update.moves = clauses->at != NULL;
  tql_bind_targets(&binder, &statement->targets);
  bind_clauses(&binder, clauses);
  check_clauses(&binder, update.relation, statement);
  tql_check_order(&binder, statement);
  update.own_start = is_own(binder.query->start, NG_T_START, (unsigned)variable);
  update.own_stop = is_own(binder.query->stop, NG_T_STOP, (unsigned)variable);
  make_result(&binder, &update, (unsigned)variable);
  binder.query->one_delimits = true;
  binder.query->delimiter = (unsigned)variable;
  binder.query->result_class = update.relation->layout->tuple_class;
  update.query = tql_binder_finish(&binder, statement);
  tql_binder_done(&binder);
  if (!update.query) return BASE_USER;
  *ret = update;
  return BASE_OK;
}

enum base_status tql_analyse_update(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement, struct tql_update *ret) {
  base_diag_hold(analysis->diags);
  enum base_status status = update_held(analysis, statement, ret);
  base_diag_release(analysis->diags);
  return status;
}
