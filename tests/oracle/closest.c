/* `set sequence closest`: `x ; y` holds for a pair only if nothing lies between, neither another y that
 * goes with this x nor another x that goes with this y. What goes together: the conditions of both
 * sides and those equalities of `where` that speak of their variables alone. Everything is tried, and
 * three-valued: what lies perhaps between makes the pair unknown. Under `set sequence distinct` only a y
 * with the explicit domains of the pair's own, or such an x, is looked for.                         */
#include <string.h>

#include "tests/oracle/oracle_internal.h"

static void mark_variables(const struct ng_expr *expr, bool *used, bool *others) {
  if (expr->op == NG_T_VARIABLE || expr->op == NG_DOMAIN || expr->op == NG_DURATION)
    used[expr->variable] = true;
  if (expr->op == NG_AGGREGATE || expr->op == NG_T_AGGREGATE) *others = true;
  for (unsigned i = 0; i < expr->arg_count; i++) mark_variables(expr->args[i], used, others);
}

struct extent {
  int64_t lo, hi;
};

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t greatest(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Of + - * / in all corners; a divisor is never 0 here. False: it can overflow. */
static bool combine(enum ng_op op, struct extent a, struct extent b, struct extent *ret) {
  int64_t left[] = {a.lo, a.hi}, right[] = {b.lo, b.hi}, value = 0;
  *ret = (struct extent){INT64_MAX, INT64_MIN};
  for (int i = 0; i < 4; i++) {
    int64_t x = left[i / 2], y = right[i % 2];
    bool overflow = op == NG_ADD   ? __builtin_add_overflow(x, y, &value)
                    : op == NG_SUB ? __builtin_sub_overflow(x, y, &value)
                    : op == NG_MUL ? __builtin_mul_overflow(x, y, &value)
                                   : x == INT64_MIN && y == -1;
    if (overflow) return false;
    if (op == NG_DIV) value = x / y;
    *ret = (struct extent){least(ret->lo, value), greatest(ret->hi, value)};
  }
  return true;
}

/* A remainder has the dividend's sign, is no further from 0, and nearer to it than the divisor. */
static struct extent remainder_extent(struct extent a, struct extent b) {
  int64_t low = b.lo == INT64_MIN ? INT64_MAX : b.lo < 0 ? -b.lo - 1 : b.lo - 1;
  int64_t high = b.hi < 0 ? -(b.hi + 1) : b.hi - 1, most = greatest(low, high);
  return (struct extent){a.lo < 0 ? greatest(a.lo, -most) : 0, a.hi > 0 ? least(a.hi, most) : 0};
}

/* An integer operation whose operands are A and B. */
static bool is_safe_integer(const struct ng_expr *expr, struct extent a, struct extent b,
                            struct extent *ret) {
  switch (expr->op) {
    case NG_INTEGER:
      *ret = (struct extent){expr->integer, expr->integer};
      return true;
    case NG_DOMAIN:
      return true;
    case NG_ADD:
    case NG_SUB:
    case NG_MUL:
      return combine(expr->op, a, b, ret);
    case NG_DIV:
      return (b.lo > 0 || b.hi < 0) && combine(expr->op, a, b, ret);
    case NG_MOD:
      if (b.lo <= 0 && b.hi >= 0) return false;
      *ret = remainder_extent(a, b);
      return true;
    case NG_NEG:
    case NG_ABS:
      if (a.lo == INT64_MIN) return false;
      *ret = expr->op == NG_NEG ? (struct extent){-a.hi, -a.lo}
                                : (struct extent){0, greatest(a.hi, -a.lo)};
      return true;
    case NG_LENGTH:
    case NG_POSITION:
      *ret = (struct extent){0, INT64_MAX};
      return true;
    case NG_CONVERT:
      if (expr->args[0]->type.base == NET_BOOL) a = (struct extent){0, 1};
      if (expr->args[0]->type.base != NET_INTEGER && expr->args[0]->type.base != NET_BOOL)
        return false;
      if (a.lo < ret->lo || a.hi > ret->hi) return false;
      *ret = a;
      return true;
    default:
      return false;
  }
}

static bool is_safe_float(const struct ng_expr *expr) {
  enum net_base_type from = expr->arg_count > 0 ? expr->args[0]->type.base : NET_FLOAT;
  switch (expr->op) {
    case NG_FLOAT:
    case NG_DOMAIN:
    case NG_NEG:
    case NG_ABS:
    case NG_SIN:
    case NG_COS:
    case NG_ATAN:
      return true;
    case NG_CONVERT:
      if (from == NET_FLOAT) return expr->type.width >= expr->args[0]->type.width;
      return from == NET_INTEGER || from == NET_BOOL;
    default:
      return false;
  }
}

/* Can EXPR not fail, whatever the tuples say? Of integers *RET is what it can be. */
static bool is_safe(const struct ng_expr *expr, struct extent *ret) {
  struct extent a = {0, 0}, b = {0, 0};
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (!is_safe(expr->args[i], i == 0 ? &a : &b)) return false;
  bool integer = expr->type.base == NET_INTEGER;
  int64_t limit = integer && expr->type.width < 8 ? INT64_C(1) << (8 * expr->type.width - 1) : 0;
  *ret = limit ? (struct extent){-limit, limit - 1} : (struct extent){INT64_MIN, INT64_MAX};
  if (integer) return is_safe_integer(expr, a, b, ret);
  if (expr->type.base == NET_FLOAT) return is_safe_float(expr);
  switch (expr->op) {
    case NG_STRING:
    case NG_DOMAIN:
    case NG_TRUTH:
    case NG_EQ:
    case NG_NE:
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
    case NG_AND:
    case NG_OR:
    case NG_NOT:
    case NG_MATCHES:
    case NG_CONCAT:
    case NG_HEX:
    case NG_LOWER:
    case NG_UPPER:
    case NG_TRIM:
    case NG_SUBSTITUTE:
      return true;
    case NG_CONVERT: /* between texts and bytes */
      return expr->args[0]->type.base == NET_BYTES || expr->type.base == NET_BYTES;
    case NG_ASCII:
      return expr->args[0]->type.base == NET_BYTES;
    case NG_SUBSTRING:
      return b.lo >= 0;
    case NG_SPLIT:
      return b.lo >= 1;
    case NG_LEFT:
    case NG_RIGHT:
      return b.lo >= 0;
    default:
      return false;
  }
}

struct search {
  struct oracle *oracle;
  const struct ng_expr *sequence;
  const bool *left, *right; /* the variables of either side */
  bool other_is_left;       /* what is looked for between */
  bool by_word;
  struct net_instant from, to;
  const struct oracle_tuple **own;
  enum net_truth between; /* so far */
};

/* Does EXPR speak of the variables of one side alone, or of none? */
static bool is_one_sided(const struct search *search, const struct ng_expr *expr) {
  size_t count = search->oracle->query->variable_count;
  bool *used = BASE_NEW_ARRAY(search->oracle->arena, count, bool), others = false;
  bool left = false, right = false;
  mark_variables(expr, used, &others);
  for (size_t i = 0; i < count; i++) {
    left = left || (used[i] && search->left[i]);
    right = right || (used[i] && search->right[i]);
    others = others || (used[i] && !search->left[i] && !search->right[i]);
  }
  return !others && !(left && right);
}

static bool has_function(const struct ng_expr *expr) {
  bool any = expr->type.base == NET_TEMPORAL;
  for (unsigned i = 0; i < expr->arg_count; i++) any = any || has_function(expr->args[i]);
  return any;
}

/* Is CONDITION about the tuple of one variable and nothing else? */
static bool is_alone(const struct oracle *oracle, const struct ng_expr *condition) {
  size_t count = oracle->query->variable_count, spoken = 0;
  bool *used = BASE_NEW_ARRAY(oracle->arena, count, bool), others = false;
  mark_variables(condition, used, &others);
  for (size_t i = 0; i < count; i++) spoken += used[i];
  return !others && spoken == 1 && !has_function(condition);
}

static enum net_truth own_condition(struct oracle *oracle, const struct ng_expr *condition) {
  const char *before = oracle->error;
  enum net_truth truth = oracle_condition(oracle, condition);
  if (oracle->error) oracle->may_fail = true;
  oracle->error = before;
  return truth;
}

/* Of the conjuncts of WHERE those that are about one tuple alone, which is there. */
static void ask_own(struct oracle *oracle, const struct ng_expr *where, size_t variable) {
  bool *used = BASE_NEW_ARRAY(oracle->arena, oracle->query->variable_count, bool), others = false;
  if (where->op == NG_AND) {
    ask_own(oracle, where->args[0], variable);
    ask_own(oracle, where->args[1], variable);
    return;
  }
  mark_variables(where, used, &others);
  if (used[variable] && is_alone(oracle, where)) (void)own_condition(oracle, where);
}

/* The conjuncts of WHERE of the form e = f about variables of both sides only, and where a word chooses those that
 * are about one tuple alone: an error in one counts only if none of the others is F. */
static enum net_truth equalities(const struct search *search, const struct ng_expr *where) {
  struct oracle *oracle = search->oracle;
  if (!where) return NET_TRUE;
  if (where->op == NG_AND)
    return net_and(equalities(search, where->args[0]), equalities(search, where->args[1]));
  if (search->by_word && is_alone(oracle, where)) return own_condition(oracle, where);
  struct extent extent;
  if (where->op != NG_EQ || oracle_has_cut(where) || !is_safe(where, &extent)) return NET_TRUE;
  bool both = is_one_sided(search, where->args[0]) && is_one_sided(search, where->args[1]);
  return both ? oracle_condition(oracle, where) : NET_TRUE;
}

/* Is the tuple of VARIABLE one with OWN but for the times? */
static bool has_domains_of(const struct oracle *oracle, size_t variable,
                           const struct oracle_tuple *own) {
  const struct net_layout *layout = oracle->inputs[variable].layout;
  const union net_slot *row = oracle->tuples[variable]->row;
  enum net_timeline timeline = oracle->query->timeline;
  if (!oracle_same_domains(layout, row, row[0].i, own->row, own->row[0].i, timeline)) return false;
  /* Functions whose coefficients have been rounded may be the same or not. */
  bool *unsaid = oracle->world->unsaid;
  if (unsaid && !oracle_same_bits(layout, row, own->row, timeline)) *unsaid = true;
  return true;
}

static void look_at(struct search *search) {
  struct oracle *oracle = search->oracle;
  const bool *mine = search->other_is_left ? search->left : search->right;
  bool same = true, agree = true;
  enum net_truth truth = NET_TRUE;
  for (size_t i = 0; i < oracle->query->variable_count; i++) {
    if (!mine[i]) continue;
    same = same && oracle->tuples[i] == search->own[i];
    agree = agree && has_domains_of(oracle, i, search->own[i]);
    if (!oracle->tuples[i]->definite) truth = NET_UNKNOWN;
  }
  if (same || (search->sequence->index == NG_SEQUENCE_DISTINCT && !agree)) return;
  struct oracle_alternatives list = {0};
  oracle_temporal(oracle, search->sequence->args[search->other_is_left ? 0 : 1], &list);
  const struct oracle_alternative *other = &list.items[0];
  struct net_instant instant = search->other_is_left ? other->stop : other->start;
  truth = net_and(truth, other->condition);
  truth = net_and(truth, net_before(search->from, instant));
  truth = net_and(truth, net_before(instant, search->to));
  if (truth != NET_FALSE) truth = net_and(truth, equalities(search, oracle->query->where));
  search->between = net_or(search->between, truth);
}

static void try_all(struct search *search, size_t variable) {
  struct oracle *oracle = search->oracle;
  const bool *mine = search->other_is_left ? search->left : search->right;
  while (variable < oracle->query->variable_count && !mine[variable]) variable++;
  if (variable == oracle->query->variable_count) {
    look_at(search);
    return;
  }
  for (size_t i = 0; i < oracle->inputs[variable].count; i++) {
    oracle->tuples[variable] = &oracle->inputs[variable].tuples[i];
    try_all(search, variable + 1);
  }
  oracle->tuples[variable] = search->own[variable];
}

/* --- what was lost may lie between */

/* Is EXPR one that cannot fail, and that speaks of variables of OF, if of any? */
static bool speaks_of(const struct search *search, const struct ng_expr *expr, const bool *of) {
  size_t count = search->oracle->query->variable_count;
  bool *used = BASE_NEW_ARRAY(search->oracle->arena, count, bool), others = false;
  struct extent extent;
  mark_variables(expr, used, &others);
  for (size_t i = 0; i < count; i++) others = others || (used[i] && !of[i]);
  return !others && is_safe(expr, &extent);
}

/* Could a tuple in the place of VARIABLE's, of PROCESS in field FIELD, be a partner? Conditions DOMAIN = VALUE, with what is
 * said of the other side or of nothing, can rule it out. */
static bool may_be_of(const struct search *search, const struct ng_expr *where, unsigned variable,
                      int field, base_string_id process) {
  struct oracle *oracle = search->oracle;
  const bool *other = search->other_is_left ? search->right : search->left;
  if (!where) return true;
  if (where->op == NG_AND)
    return may_be_of(search, where->args[0], variable, field, process) &&
           may_be_of(search, where->args[1], variable, field, process);
  if (where->op != NG_EQ) return true;
  for (int i = 0; i < 2; i++) {
    const struct ng_expr *domain = where->args[i];
    if (domain->op != NG_DOMAIN || domain->variable != variable || (int)domain->index != field)
      continue;
    if (!speaks_of(search, where->args[1 - i], other)) continue;
    const struct oracle_tuple *own = oracle->tuples[variable];
    const struct net_layout *layout = oracle->inputs[variable].layout;
    struct oracle_tuple lost = *own;
    lost.row = BASE_NEW_ARRAY(oracle->arena, layout->slot_count, union net_slot);
    memcpy(lost.row, own->row, layout->slot_count * sizeof *lost.row);
    lost.row[layout->fields[field].slot].s = process;
    oracle->tuples[variable] = &lost;
    enum net_truth truth = oracle_condition(oracle, where);
    oracle->tuples[variable] = own;
    if (truth == NET_FALSE) return false;
  }
  return true;
}

/* The tuple of a variable that was lost: its instants lie in these bounds. */
struct lost {
  unsigned variable;
  struct net_instant start, stop;
};

static bool speaks(const struct search *search, const struct ng_expr *expr, unsigned variable) {
  bool *used = BASE_NEW_ARRAY(search->oracle->arena, search->oracle->query->variable_count, bool);
  bool others = false;
  mark_variables(expr, used, &others);
  return used[variable];
}

static bool is_plain(const struct ng_expr *expr) {
  if (expr->op == NG_T_SEQUENCE) return is_plain(expr->args[0]) && is_plain(expr->args[1]);
  if (expr->op == NG_T_START || expr->op == NG_T_STOP) return expr->args[0]->op == NG_T_VARIABLE;
  return expr->op == NG_T_VARIABLE;
}

/* Where the start or the stop of EXPR may be, with a tuple that was lost in it. */
static struct net_instant lost_instant(const struct search *search, const struct ng_expr *expr,
                                       const struct lost *lost, bool stop) {
  const struct net_instant ever = {NET_BEGINNING, NET_FOREVER};
  switch (expr->op) {
    case NG_T_VARIABLE:
      return stop ? lost->stop : lost->start;
    case NG_T_START:
    case NG_T_STOP:
      if (expr->args[0]->op != NG_T_VARIABLE) return ever;
      return expr->op == NG_T_STOP ? lost->stop : lost->start;
    case NG_T_SEQUENCE:
      if (stop && speaks(search, expr->args[1], lost->variable))
        return lost_instant(search, expr->args[1], lost, true);
      if (!stop && speaks(search, expr->args[0], lost->variable))
        return lost_instant(search, expr->args[0], lost, false);
      if (stop && is_plain(expr)) return (struct net_instant){lost->start.lo, NET_FOREVER};
      return ever;
    default:
      return ever;
  }
}

/* [FROM, TO]: when a lost tuple of VARIABLE begins. */
static bool lies_between(const struct search *search, unsigned variable,
                         const struct oracle_missing *missing, net_chronon from, net_chronon to) {
  const struct ng_expr *mine = search->sequence->args[search->other_is_left ? 0 : 1];
  struct lost lost = {variable, {from, to}, {net_chronon_add(from, 1), NET_FOREVER}};
  if (missing->kind == NG_REL_EVENT) lost.stop = lost.start;
  if (missing->kind == NG_REL_SAMPLED) lost.start.lo = NET_BEGINNING;
  struct net_instant at = lost_instant(search, mine, &lost, search->other_is_left);
  net_chronon first = at.lo, last = at.hi;
  if (first <= search->from.lo) first = net_chronon_add(search->from.lo, 1);
  if (last >= search->to.hi) last = net_chronon_add(search->to.hi, -1);
  return first <= last;
}

static bool is_lost_between(const struct search *search) {
  const struct oracle *oracle = search->oracle;
  const bool *mine = search->other_is_left ? search->left : search->right;
  for (unsigned v = 0; v < oracle->query->variable_count; v++) {
    const struct ng_variable *variable = &oracle->query->variables[v];
    if (!mine[v] || variable->credibility || variable->relation->kind == NG_REL_CLOCK) continue;
    const struct oracle_missing missing =
        oracle->world->missing(oracle->world->context, variable->relation->name);
    for (size_t i = 0; i < missing.stretches.count; i++) {
      const struct oracle_stretch *stretch = &missing.stretches.items[i];
      if (lies_between(search, v, &missing, stretch->from, net_chronon_add(stretch->to, -1)))
        return true;
    }
    for (size_t i = 0; missing.losses && i < missing.losses->count; i++) {
      const struct oracle_loss *loss = &missing.losses->items[i];
      int field = loss->anybody ? -1 : missing.losses->process;
      const struct net_layout *layout = oracle->inputs[v].layout;
      if (field >= 0 && search->sequence->index == NG_SEQUENCE_DISTINCT &&
          search->own[v]->row[layout->fields[field].slot].s != loss->process)
        continue;
      if (field >= 0 && !may_be_of(search, oracle->query->where, v, field, loss->process)) continue;
      if (lies_between(search, v, &missing, loss->from, net_chronon_add(loss->to, -1))) return true;
    }
  }
  return false;
}

enum net_truth oracle_closest(struct oracle *oracle, const struct ng_expr *sequence,
                              struct net_instant from, struct net_instant to) {
  size_t count = oracle->query->variable_count;
  bool *left = BASE_NEW_ARRAY(oracle->arena, count, bool), others = false;
  bool *right = BASE_NEW_ARRAY(oracle->arena, count, bool);
  bool any_left = false, any_right = false;
  mark_variables(sequence->args[0], left, &others);
  mark_variables(sequence->args[1], right, &others);
  for (size_t i = 0; i < count; i++) {
    any_left = any_left || left[i];
    any_right = any_right || right[i];
  }
  /* Of a constant, or of one tuple alone, there is nothing to choose. */
  for (size_t i = 0; i < count; i++)
    if (left[i] && right[i]) return NET_TRUE;
  if (!any_left || !any_right) return NET_TRUE;
  const struct oracle_tuple **own =
      BASE_NEW_ARRAY(oracle->arena, count, const struct oracle_tuple *);
  memcpy(own, oracle->tuples, count * sizeof *own);
  enum net_truth between = NET_FALSE;
  for (int side = 0; side < 2; side++) {
    /* For each before it the first one, or the last one before each: the others do not count. */
    if (sequence->index == (side == 0 ? NG_SEQUENCE_FIRST : NG_SEQUENCE_LAST)) continue;
    bool by_word = ng_sequence_by_word((enum ng_sequence)sequence->index);
    struct search search = {oracle,  sequence, left, right, side == 0,
                            by_word, from,     to,   own,   NET_FALSE};
    try_all(&search, 0);
    between = net_or(between, search.between);
    if (oracle->world->missing && between != NET_TRUE && is_lost_between(&search))
      between = NET_UNKNOWN;
  }
  return net_not(between);
}

static bool chooses_by_word(const struct ng_expr *expr) {
  bool found = expr->op == NG_T_SEQUENCE && ng_sequence_by_word((enum ng_sequence)expr->index);
  for (unsigned i = 0; i < expr->arg_count; i++) found = found || chooses_by_word(expr->args[i]);
  return found;
}

/* Where a word chooses, each tuple is asked what concerns it alone, whether it has a partner or not. */
void oracle_ask_alone(struct oracle *oracle) {
  const struct ng_query *query = oracle->query;
  if (!query->when || !query->where || !chooses_by_word(query->when)) return;
  for (size_t i = 0; i < query->variable_count; i++) {
    for (size_t j = 0; j < oracle->inputs[i].count; j++) {
      oracle->tuples[i] = &oracle->inputs[i].tuples[j];
      ask_own(oracle, query->where, i);
    }
    oracle->tuples[i] = NULL;
  }
}
