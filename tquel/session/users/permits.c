/* Permits: what users may do who do not own the database.
 *
 *      statement ──▶ what it reads and changes ──▶ permits in force ──▶ refused, or with a qualification
 *
 * The owner may do everything. Others need, for each domain of a relation that a statement names, a permit
 * to retrieve, and for what it changes one to append, delete or replace; nothing else is theirs. A permit
 * names all domains or some, may hold at certain hours and days (of the server's local time), and may have a
 * condition: then it concerns the tuples for which that is true, and the condition is added to the
 * statement's `where`; several permits, each for some tuples, are put together by `or`. This cannot be done
 * for print, display, copy and append, nor where the variable stands within a call (an aggregate counts
 * tuples before the statement's condition does): there such a permit gives nothing. Nor does a permit `at` a
 * terminal, since nobody can prove where he sits, and one whose condition calls functions or names other
 * variables; define permit says so.
 *
 * Of a relation that he has no permit for, a user sees the name; of others the domains that some permit names, and how
 * many tuples there are if he may retrieve all of them.
 *
 * Names are looked at in the tree of the statement, so that what is not understood is not permitted
 * either. Reading a view or a derived relation is reading that relation alone.                      */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "engine/base/env.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/users/users.h"

/* One permit, as its text says. */
struct permit {
  const struct tql_statement *statement;
  const struct tql_expr *condition; /* NULL: none */
};

/* What was looked up of one relation and operation. */
struct looked_up {
  const struct session_relation *relation;
  const char *operation; /* NULL: any */
  struct permit *permits;
  size_t count;
  struct looked_up *next;
};

/* A condition that the statement has got: of these permits about this variable. */
struct qualified {
  const char *variable;
  const struct looked_up *permits;
  const bool *used;
  struct qualified *next;
};

struct asking {
  struct tql_session *session;
  const struct tql_statement *statement; /* that is to be permitted; positions of messages */
  struct base_arena *arena;
  struct tql_statement *rewritten; /* a copy whose `where` may grow */
  bool refused;
  struct st_rule *rules; /* all there are, once they are needed */
  size_t rule_count;
  bool has_rules;
  struct looked_up *looked_up;
  struct qualified *qualified;
};

/* --- conditions */

/* Is EXPR made of constants, operators and domains of one variable alone? */
static bool is_plain(const struct tql_expr *expr, const char **name) {
  if (expr == NULL) return true;
  switch (expr->kind) {
    case TQL_E_INTEGER:
    case TQL_E_FLOAT:
    case TQL_E_STRING:
    case TQL_E_BYTES:
    case TQL_E_BOOL:
    case TQL_E_NAME: /* a string, too */
      return true;
    case TQL_E_DOMAIN:
      if (*name != NULL && strcasecmp(*name, expr->name.text) != 0) return false;
      *name = expr->name.text;
      return true;
    case TQL_E_NEGATE:
    case TQL_E_ADD:
    case TQL_E_SUB:
    case TQL_E_MUL:
    case TQL_E_DIV:
    case TQL_E_POWER:
    case TQL_E_EQ:
    case TQL_E_NE:
    case TQL_E_LT:
    case TQL_E_LE:
    case TQL_E_GT:
    case TQL_E_GE:
    case TQL_E_NOT:
    case TQL_E_AND:
    case TQL_E_OR:
      return is_plain(expr->left, name) && is_plain(expr->right, name);
    default:
      return false;
  }
}

const char *session_permit_fault(const struct tql_statement *permit) {
  const char *name = NULL;
  if (permit->terminal.text != NULL) return "nobody can prove at which terminal he is";
  if (!is_plain(permit->expr, &name))
    return "its condition has more than constants and domains of the relation";
  return NULL;
}

/* EXPR about VARIABLE, at the place of the statement that it is added to. */
static struct tql_expr *about(struct asking *asking, const struct tql_expr *expr,
                              const char *variable) {
  if (expr == NULL) return NULL;
  struct tql_expr *copy = BASE_NEW(asking->arena, struct tql_expr);
  *copy = *expr;
  copy->range = asking->statement->range;
  if (expr->kind == TQL_E_DOMAIN) copy->name.text = base_arena_strdup(asking->arena, variable);
  if (expr->name.text != NULL) copy->name.range = copy->member.range = copy->range;
  copy->left = about(asking, expr->left, variable);
  copy->right = about(asking, expr->right, variable);
  return copy;
}

static struct tql_expr *joined(struct asking *asking, enum tql_expr_kind kind,
                               struct tql_expr *left, struct tql_expr *right) {
  if (left == NULL || right == NULL) return left != NULL ? left : right;
  struct tql_expr *both = BASE_NEW(asking->arena, struct tql_expr);
  *both = (struct tql_expr){.kind = kind, .left = left, .right = right, .parenthesised = true};
  both->range = asking->statement->range;
  both->depth = 1 + (left->depth > right->depth ? left->depth : right->depth);
  return both;
}

/* --- permits in force */

/* Minutes of the day; -1: it is none. */
static int minute_of(const struct tql_expr *time) {
  if (time->kind == TQL_E_INTEGER) return (int)time->integer * 60;
  int hour = 0, minute = 0;
  const char *at = time->name.text;
  for (; *at >= '0' && *at <= '9' && hour < 100; at++) hour = 10 * hour + (*at - '0');
  if (*at != ':') return -1;
  for (at++; *at >= '0' && *at <= '9' && minute < 100; at++) minute = 10 * minute + (*at - '0');
  return hour * 60 + minute;
}

static int day_of(const char *name) {
  static const char days[] = "sunmontuewedthufrisat";
  for (int day = 0; day < 7; day++)
    if (strncasecmp(days + 3 * day, name, 3) == 0) return day;
  return -1;
}

/* From FIRST to LAST, perhaps over midnight or the end of the week. */
static bool between(int first, int last, int at) {
  return first <= last ? at >= first && at <= last : at >= first || at <= last;
}

static bool holds_now(const struct tql_statement *permit) {
  time_t now = (time_t)(base_env_now() / 1000000000);
  struct tm local;
  if (localtime_r(&now, &local) == NULL) return false;
  if (permit->time_first != NULL) {
    int first = minute_of(permit->time_first), last = minute_of(permit->time_last);
    if (first < 0 || last < 0 || !between(first, last, local.tm_hour * 60 + local.tm_min))
      return false;
  }
  if (permit->day_first.text == NULL) return true;
  int first = day_of(permit->day_first.text);
  int last = permit->day_last.text != NULL ? day_of(permit->day_last.text) : first;
  return first >= 0 && last >= 0 && between(first, last, local.tm_wday);
}

static bool names_operation(const struct tql_statement *permit, const char *operation) {
  const char *at = permit->words;
  size_t length = strlen(operation);
  for (; at != NULL && *at != '\0'; at += strcspn(at, ", "), at += strspn(at, ", ")) {
    size_t word = strcspn(at, ", ");
    if ((word == length && strncasecmp(at, operation, length) == 0) ||
        (word == 3 && strncasecmp(at, "all", 3) == 0))
      return true;
  }
  return false;
}

static bool names_user(const struct tql_statement *permit, const char *user) {
  return strcmp(permit->member.text, user) == 0 || strcasecmp(permit->member.text, "all") == 0;
}

/* DOMAIN NULL: none in particular. */
static bool names_domain(const struct tql_statement *permit, const char *domain) {
  for (size_t i = 0; i < permit->name_count && domain != NULL; i++)
    if (strcasecmp(permit->names[i].text, domain) == 0) return true;
  return permit->name_count == 0 || domain == NULL;
}

static void load_rules(struct asking *asking) {
  if (asking->has_rules) return;
  asking->has_rules = true;
  if (st_rules(asking->session->database, asking->arena, &asking->rules, &asking->rule_count) !=
      BASE_OK)
    asking->rule_count = 0;
}

/* The permit that RULE is, if it can be one; NULL otherwise. */
static const struct tql_statement *parse_permit(struct asking *asking, const struct st_rule *rule) {
  struct base_source source = {
      .name = "<permit>", .text = rule->text, .length = strlen(rule->text)};
  struct base_diag_sink diags;
  bool parsed = false;
  size_t statements = 0;
  base_diag_sink_init(&diags);
  struct tql_statement **script =
      tql_parse(asking->arena, &source, 1, &diags, &statements, &parsed);
  base_diag_sink_done(&diags);
  const struct tql_statement *permit = parsed && statements > 0 ? script[statements - 1] : NULL;
  if (permit == NULL || permit->kind != TQL_S_PERMIT || session_permit_fault(permit) != NULL)
    return NULL;
  return permit;
}

static bool same(const char *operation, const char *other) {
  return operation == NULL || other == NULL ? operation == other : strcmp(operation, other) == 0;
}

/* The permits on RELATION that say OPERATION (NULL: any), are the user's, and hold now; looked up once. */
static const struct looked_up *permits_in_force(struct asking *asking,
                                                const struct session_relation *relation,
                                                const char *operation) {
  struct looked_up *found = asking->looked_up;
  while (found != NULL && (found->relation != relation || !same(found->operation, operation)))
    found = found->next;
  if (found != NULL) return found;
  load_rules(asking);
  found = BASE_NEW(asking->arena, struct looked_up);
  *found =
      (struct looked_up){.relation = relation, .operation = operation, .next = asking->looked_up};
  asking->looked_up = found;
  found->permits = BASE_NEW_ARRAY(asking->arena, asking->rule_count + 1, struct permit);
  for (size_t i = 0; i < asking->rule_count; i++) {
    const struct st_rule *rule = &asking->rules[i];
    if (rule->kind != ST_PERMIT || strcasecmp(rule->relation, relation->ng.name) != 0) continue;
    const struct tql_statement *permit = parse_permit(asking, rule);
    if (permit == NULL || (operation != NULL && !names_operation(permit, operation)) ||
        !names_user(permit, asking->session->seat->user) || !holds_now(permit))
      continue;
    found->permits[found->count++] = (struct permit){permit, permit->expr};
  }
  return found;
}

/* --- refusing */

static void refuse(struct asking *asking, const struct base_range *range, const char *what,
                   const char *relation, const char *domain) {
  struct tql_session *session = asking->session;
  asking->refused = true;
  base_report_hint(session->diags, MSG_NOT_PERMITTED, session->source, range,
                   "ask the owner of the database for a permit", "%s may not %s %s%s%s",
                   session->seat->user, what, relation, domain != NULL ? "." : "",
                   domain != NULL ? domain : "");
}

static void refuse_owners(struct asking *asking, const char *what) {
  struct tql_session *session = asking->session;
  asking->refused = true;
  base_report_hint(session->diags, MSG_OWNER_ONLY, session->source, &asking->statement->range,
                   "ask the owner of the database", "only the owner of the database may %s", what);
}

/* --- what a statement asks of one relation */

/* May OPERATION be done on DOMAIN of RELATION? *RET_USED: for the tuples that one of these permits' conditions is
 * true for; NULL: for all. RET_USED NULL: only for all will do.                                      */
static bool is_permitted(struct asking *asking, const struct session_relation *relation,
                         const char *operation, const char *domain, const bool **ret_used) {
  const struct looked_up *permits = permits_in_force(asking, relation, operation);
  bool *used = ret_used == NULL ? NULL : BASE_NEW_ARRAY(asking->arena, permits->count + 1, bool);
  bool any = false;
  if (ret_used != NULL) *ret_used = NULL;
  for (size_t i = 0; i < permits->count; i++) {
    if (!names_domain(permits->permits[i].statement, domain)) continue;
    if (permits->permits[i].condition == NULL) return true;
    if (used == NULL) continue;
    any = used[i] = true;
  }
  if (any) *ret_used = used;
  return any;
}

/* The clauses that choose among the tuples of VARIABLE: those of the unless clause that it is bound in, or the
 * statement's own. */
static struct tql_clauses *clauses_about(const struct asking *asking, const char *variable) {
  struct tql_statement *statement = asking->rewritten;
  for (size_t i = 0; i < statement->absence_count; i++)
    if (strcasecmp(statement->absences[i].variable.text, variable) == 0)
      return &statement->absences[i].clauses;
  return &statement->clauses;
}

/* The conditions of the permits USED are added to the statement, about VARIABLE; once, however often it is named. They
 * come before what the user has said, so that nothing is computed of tuples that he may not see. */
static void qualify(struct asking *asking, const struct looked_up *permits, const bool *used,
                    const char *variable) {
  for (const struct qualified *one = asking->qualified; one != NULL; one = one->next)
    if (one->permits == permits && strcasecmp(one->variable, variable) == 0 &&
        memcmp(one->used, used, permits->count * sizeof *used) == 0)
      return;
  struct qualified *added = BASE_NEW(asking->arena, struct qualified);
  *added = (struct qualified){variable, permits, used, asking->qualified};
  asking->qualified = added;
  struct tql_expr *condition = NULL;
  for (size_t i = 0; i < permits->count; i++)
    if (used[i])
      condition = joined(asking, TQL_E_OR, condition,
                         about(asking, permits->permits[i].condition, variable));
  struct tql_clauses *clauses = clauses_about(asking, variable);
  clauses->where = joined(asking, TQL_E_AND, condition, clauses->where);
}

/* All domains of RELATION, as a whole. */
static void ask_whole(struct asking *asking, const struct session_relation *relation,
                      const char *operation, const struct base_range *range) {
  const struct net_layout *layout = relation->ng.layout;
  if (layout->field_count == 0 && !is_permitted(asking, relation, operation, NULL, NULL))
    refuse(asking, range, operation, relation->ng.name, NULL);
  for (uint32_t f = 0; f < layout->field_count && !asking->refused; f++)
    if (!is_permitted(asking, relation, operation, layout->fields[f].name, NULL))
      refuse(asking, range, operation, relation->ng.name, layout->fields[f].name);
}

static const struct tql_variable *variable_of(const struct asking *asking, const char *name) {
  const struct tql_seat *seat = asking->session->seat;
  for (size_t i = 0; i < seat->variable_count; i++)
    if (strcasecmp(seat->variables[i].name, name) == 0) return &seat->variables[i];
  return NULL;
}

/* A variable (DOMAIN NULL: its times) is asked for; WITHIN: within a call. */
static void ask_domain(struct asking *asking, const char *operation, const struct tql_name *name,
                       const char *domain, bool within) {
  const struct tql_variable *variable = variable_of(asking, name->text);
  const struct session_relation *relation =
      variable != NULL ? session_of(asking->session, variable->relation) : NULL;
  const bool *used = NULL;
  if (relation == NULL || asking->refused) return; /* a clock, or nothing that analysis will take */
  if (!is_permitted(asking, relation, operation, domain, within ? NULL : &used))
    refuse(asking, &name->range, operation, relation->ng.name, domain);
  if (used != NULL)
    qualify(asking, permits_in_force(asking, relation, operation), used, name->text);
}

static void ask_variable(struct asking *asking, const struct tql_name *name, bool within) {
  const struct tql_variable *variable = variable_of(asking, name->text);
  if (variable == NULL) return;
  const struct net_layout *layout = variable->relation->layout;
  for (uint32_t f = 0; f < layout->field_count; f++)
    ask_domain(asking, "retrieve", name, layout->fields[f].name, within);
}

static void ask_expr(struct asking *asking, const struct tql_expr *expr, bool within);

static void ask_list(struct asking *asking, const struct tql_expr_list *list, bool within) {
  for (size_t i = 0; i < list->count; i++) ask_expr(asking, list->items[i], within);
}

/* Everything that EXPR names. */
static void ask_expr(struct asking *asking, const struct tql_expr *expr, bool within) {
  if (expr == NULL || asking->refused) return;
  within |= expr->kind == TQL_E_CALL;
  if (expr->kind == TQL_E_DOMAIN)
    ask_domain(asking, "retrieve", &expr->name, expr->member.text, within);
  else if (expr->kind == TQL_E_ALL)
    ask_variable(asking, &expr->name, within);
  else if (expr->kind == TQL_E_NAME)
    ask_domain(asking, "retrieve", &expr->name, NULL, within);
  ask_expr(asking, expr->left, within);
  ask_expr(asking, expr->right, within);
  ask_expr(asking, expr->within, within);
  ask_list(asking, &expr->args, within);
  ask_list(asking, &expr->by, within);
  ask_expr(asking, expr->where, within);
  ask_expr(asking, expr->when, within);
}

static void ask_clauses(struct asking *asking) {
  const struct tql_clauses clauses = asking->statement->clauses;
  const struct tql_target_list *targets = &asking->statement->targets;
  for (size_t i = 0; i < targets->count; i++) ask_expr(asking, targets->items[i].expr, false);
  ask_expr(asking, clauses.where, false);
  ask_expr(asking, clauses.when, false);
  ask_expr(asking, clauses.start, false);
  ask_expr(asking, clauses.stop, false);
  ask_expr(asking, clauses.at, false);
  for (size_t i = 0; i < asking->statement->absence_count; i++) {
    const struct tql_absence *absence = &asking->statement->absences[i];
    ask_domain(asking, "retrieve", &absence->variable, NULL, false);
    ask_expr(asking, absence->clauses.where, false);
    ask_expr(asking, absence->clauses.when, false);
  }
}

/* --- statements */

static void ask_relation(struct asking *asking, const char *operation,
                         const struct tql_name *name) {
  const struct session_relation *relation = session_find(asking->session, name->text);
  if (relation != NULL) ask_whole(asking, relation, operation, &name->range);
}

/* Only domains that are permitted may be given a value; of a relation without any: the relation. */
static void ask_append(struct asking *asking) {
  const struct tql_statement *statement = asking->statement;
  const struct session_relation *relation = session_find(asking->session, statement->name.text);
  if (relation == NULL) return;
  if (!is_permitted(asking, relation, "append", NULL, NULL))
    refuse(asking, &statement->name.range, "append", relation->ng.name, NULL);
  for (size_t i = 0; i < statement->targets.count && !asking->refused; i++) {
    const struct tql_target *target = &statement->targets.items[i];
    const char *domain = target->name.text != NULL ? target->name.text : target->expr->member.text;
    if (domain == NULL)
      ask_whole(asking, relation, "append", &target->expr->range);
    else if (!is_permitted(asking, relation, "append", domain, NULL))
      refuse(asking, &target->expr->range, "append", relation->ng.name, domain);
  }
  ask_clauses(asking);
}

static void ask_update(struct asking *asking) {
  const struct tql_statement *statement = asking->statement;
  bool replace = statement->kind == TQL_S_REPLACE;
  ask_domain(asking, replace ? "replace" : "delete", &statement->variable, NULL, false);
  for (size_t i = 0; i < statement->targets.count && replace; i++) {
    const struct tql_target *target = &statement->targets.items[i];
    const char *domain = target->name.text != NULL ? target->name.text : target->expr->member.text;
    if (domain != NULL) ask_domain(asking, "replace", &statement->variable, domain, false);
  }
  ask_clauses(asking);
}

static void ask_set(struct asking *asking) {
  static const char *const everybodys[] = {"durable",      "durable every", "future limit",
                                           "source grace", "cache",         "checkpoint every",
                                           "overload"};
  for (size_t i = 0; i < sizeof everybodys / sizeof *everybodys; i++)
    if (strcmp(asking->statement->words, everybodys[i]) == 0)
      refuse_owners(asking, "set what concerns everybody");
}

static void ask_statement(struct asking *asking) {
  const struct tql_statement *statement = asking->statement;
  switch (statement->kind) {
    case TQL_S_RANGE:
    case TQL_S_HELP:
      return;
    case TQL_S_SET:
      ask_set(asking);
      return;
    case TQL_S_RETRIEVE:
      if (statement->name.text != NULL)
        refuse_owners(asking, "make relations");
      else
        ask_clauses(asking);
      return;
    case TQL_S_DISPLAY:
    case TQL_S_PRINT:
      for (size_t i = 0; i < statement->name_count; i++)
        ask_relation(asking, "retrieve", &statement->names[i]);
      if (statement->name.text != NULL) ask_relation(asking, "retrieve", &statement->name);
      return;
    case TQL_S_COPY:
      ask_relation(asking, statement->copy_into ? "retrieve" : "append", &statement->name);
      return;
    case TQL_S_APPEND:
      ask_append(asking);
      return;
    case TQL_S_DELETE:
    case TQL_S_REPLACE:
      ask_update(asking);
      return;
    case TQL_S_CREATE:
      refuse_owners(asking, "make relations");
      return;
    default:
      refuse_owners(asking, "do this");
  }
}

const struct tql_statement *session_permitted(struct tql_session *session,
                                              const struct tql_statement *statement) {
  if (session->seat->owner) return statement;
  struct base_arena *arena = session->statement_arena;
  struct tql_statement *copy = BASE_NEW(arena, struct tql_statement);
  *copy = *statement;
  copy->absences = BASE_NEW_ARRAY(arena, statement->absence_count, struct tql_absence);
  for (size_t i = 0; i < statement->absence_count; i++)
    copy->absences[i] = statement->absences[i]; /* conditions are added to their clauses */
  if (statement->kind == TQL_S_EXPLAIN) {
    const struct tql_statement *inner = session_permitted(session, statement->inner);
    copy->inner = (struct tql_statement *)inner;
    return inner != NULL ? copy : NULL;
  }
  struct asking asking = {
      .session = session, .statement = statement, .arena = arena, .rewritten = copy};
  ask_statement(&asking);
  return asking.refused ? NULL : copy;
}

bool tql_session_may(struct tql_session *session, const char *user, const char *operation,
                     const char *name) {
  const struct session_relation *relation = session_find(session, name);
  if (relation == NULL) return false;
  struct tql_seat *seat = session->seat, other = {.session = session, .user = user};
  struct asking asking = {.session = session, .arena = base_arena_new()};
  const struct net_layout *layout = relation->ng.layout;
  session->seat = &other;
  bool may = is_permitted(&asking, relation, operation, NULL, NULL);
  for (uint32_t f = 0; f < layout->field_count && may; f++)
    may = is_permitted(&asking, relation, operation, layout->fields[f].name, NULL);
  session->seat = seat;
  base_arena_free(asking.arena);
  return may;
}

/* --- what is seen of relations */

struct session_sight {
  struct asking asking;
};

struct session_sight *session_sight_new(struct tql_session *session) {
  if (session->seat->owner) return NULL;
  struct session_sight *sight = base_xcalloc(1, sizeof *sight);
  sight->asking = (struct asking){.session = session, .arena = base_arena_new()};
  return sight;
}

void session_sight_free(struct session_sight *sight) {
  if (sight == NULL) return;
  base_arena_free(sight->asking.arena);
  free(sight);
}

bool session_sees(struct session_sight *sight, const struct session_relation *relation,
                  const char *domain) {
  const bool *used;
  return sight == NULL || is_permitted(&sight->asking, relation, NULL, domain, &used);
}

bool session_sees_all(struct session_sight *sight, const struct session_relation *relation) {
  if (sight == NULL) return true;
  const struct net_layout *layout = relation->ng.layout;
  bool all = is_permitted(&sight->asking, relation, "retrieve", NULL, NULL);
  for (uint32_t f = 0; f < layout->field_count && all; f++)
    all = is_permitted(&sight->asking, relation, "retrieve", layout->fields[f].name, NULL);
  return all;
}

bool session_sees_rule(struct session_sight *sight, const struct st_rule *rule) {
  if (sight == NULL) return true;
  const struct tql_statement *permit =
      rule->kind == ST_PERMIT ? parse_permit(&sight->asking, rule) : NULL;
  return permit != NULL && names_user(permit, sight->asking.session->seat->user);
}
