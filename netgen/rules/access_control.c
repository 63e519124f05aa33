/* Access control (thesis 7.2.1, figure 7-2 a, for constants): selections that stand on an access node tell
 * it what is wanted, so that its source need not bring the rest: a store leaves it unread, a sensor is not
 * enabled for it.
 *
 *      selection E.k = 3                         selection E.k = 3
 *            |                        ==>              |
 *         access                             access, only k = 3
 *
 * What is wanted are bounds of the times and values of the domains (engine/wanted.h): those for which all
 * selections and joins above, up to the first other node, may be something else than false; also those that
 * read a stop, which stay above products because they may have to wait. Several readers of one node want
 * what any of them wants. The selections stay: a source may bring more, and which combinations
 * are uncertain is theirs to say.
 *
 * Records that event-to-period reads must come with all those of their entity, since one ends the period
 * of the one before: there only the domain that tells entities apart counts. A sensor is told besides what
 * selections above event-to-period say of the objects that the entity belongs to: all of its records have
 * the same ones, so it is watched as a whole or not at all (ng_entity_has_one).
 *
 * It comes behind common-subnetworks, so that it does not keep nodes from being shared. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

/* What is wanted, and of which access node. */
struct asking {
  struct ng_plan *plan;
  const struct ng_node *access;
  bool records; /* not what is read for the times alone, by clocks */
};

/* What the access node's columns are called on one way up from it. */
struct names {
  const struct ng_column *start, *stop;
  const struct ng_columns *fields;
};

static bool wanted_by(const struct asking *asking, const struct ng_node *node,
                      const struct names *names, struct net_wanted *ret);

/* --- times: an instant is [lo, hi] of an unknown chronon */

static net_chronon before(net_chronon time) {
  return time == NET_BEGINNING || time == NET_FOREVER ? time : time - 1;
}

static net_chronon behind(net_chronon time) {
  return time == NET_BEGINNING || time == NET_FOREVER ? time : time + 1;
}

static bool is_time(const struct names *names, const struct ng_expr *expr, bool *ret_stop) {
  if (expr->op != NG_COLUMN || (expr->column != names->start && expr->column != names->stop))
    return false;
  *ret_stop = expr->column == names->stop;
  return true;
}

/* Rows whose INSTANT is perhaps at or before LATEST. */
static struct net_wanted until(const struct names *names, const struct ng_expr *instant,
                               net_chronon latest) {
  struct net_wanted wanted = NET_WANTED_ALL;
  bool stop;
  if (!is_time(names, instant, &stop)) return wanted;
  if (stop)
    wanted.stop_lo_max = latest;
  else
    wanted.start_lo_max = latest;
  return wanted;
}

/* Rows whose INSTANT is perhaps at or after EARLIEST. */
static struct net_wanted from(const struct names *names, const struct ng_expr *instant,
                              net_chronon earliest) {
  struct net_wanted wanted = NET_WANTED_ALL;
  bool stop;
  if (!is_time(names, instant, &stop)) return wanted;
  if (stop)
    wanted.stop_hi_min = earliest;
  else
    wanted.start_hi_min = earliest;
  return wanted;
}

/* A is perhaps before B, or (NOT_AFTER) at it. */
static struct net_wanted in_order(const struct names *names, const struct ng_expr *a,
                                  const struct ng_expr *b, bool not_after) {
  if (b->op == NG_INSTANT)
    return until(names, a, not_after ? b->instant.hi : before(b->instant.hi));
  if (a->op == NG_INSTANT) return from(names, b, not_after ? a->instant.lo : behind(a->instant.lo));
  return NET_WANTED_ALL;
}

static struct net_wanted both(const struct asking *asking, struct net_wanted a,
                              struct net_wanted b) {
  return net_wanted_both(asking->plan->arena, &a, &b);
}

static struct net_wanted coincide(const struct asking *asking, const struct names *names,
                                  const struct ng_expr *a, const struct ng_expr *b) {
  return both(asking, in_order(names, a, b, true), in_order(names, b, a, true));
}

/* B - A is perhaps SPAN at most: B at or before A + SPAN. */
static struct net_wanted within(const struct names *names, const struct ng_expr *expr) {
  const struct ng_expr *a = expr->args[0], *b = expr->args[1];
  net_chronon time;
  if (a->op == NG_INSTANT && a->instant.hi != NET_BEGINNING && a->instant.hi != NET_FOREVER &&
      !__builtin_add_overflow(a->instant.hi, expr->integer, &time))
    return until(names, b, time);
  if (b->op == NG_INSTANT && b->instant.lo != NET_BEGINNING && b->instant.lo != NET_FOREVER &&
      !__builtin_sub_overflow(b->instant.lo, expr->integer, &time))
    return from(names, a, time);
  return NET_WANTED_ALL;
}

static struct net_wanted of_times(const struct asking *asking, const struct names *names,
                                  const struct ng_expr *expr) {
  const struct ng_expr *const *args = expr->args;
  switch (expr->op) {
    case NG_BEFORE:
      return in_order(names, args[0], args[1], false);
    case NG_NOT_AFTER:
      return in_order(names, args[0], args[1], true);
    case NG_EQUAL_INSTANTS:
      return coincide(asking, names, args[0], args[1]);
    case NG_WITHIN:
      return within(names, expr);
    case NG_OVERLAP_PERIODS: /* each starts before the other stops */
      return both(asking, in_order(names, args[0], args[3], false),
                  in_order(names, args[2], args[1], false));
    case NG_OVERLAP_EVENT:
      return both(asking, in_order(names, args[1], args[0], true),
                  in_order(names, args[0], args[2], false));
    case NG_EQUAL_PERIODS:
      return both(asking, coincide(asking, names, args[0], args[2]),
                  coincide(asking, names, args[1], args[3]));
    case NG_CONTAIN:
      return both(asking, in_order(names, args[0], args[2], true),
                  in_order(names, args[3], args[1], true));
    default:
      return NET_WANTED_ALL;
  }
}

/* --- values */

/* The domain of the relation that COLUMN is, or NULL. */
static const struct net_field *domain_of(const struct asking *asking, const struct names *names,
                                         const struct ng_column *column) {
  const struct ng_columns *own = &asking->access->own, *fields = &asking->access->fields;
  for (size_t i = 0; i < names->fields->count; i++) {
    if (names->fields->items[i] != column) continue;
    for (size_t k = 0; k < own->count; k++)
      if (own->items[k] == fields->items[i]) return &asking->access->relation->layout->fields[k];
  }
  return NULL;
}

static struct net_wanted compared(const struct asking *asking, const struct net_field *domain,
                                  enum ng_op op, const struct ng_expr *constant) {
  struct base_arena *arena = asking->plan->arena;
  int64_t value = constant->integer;
  enum net_base_type base = domain->type.base;
  bool string = constant->op == NG_STRING && net_type_is_interned(base);
  if (string && op == NG_EQ)
    return net_wanted_value(arena, domain->name, domain->type,
                            (union net_slot){.s = constant->string});
  if (constant->op != NG_INTEGER || base != NET_INTEGER) return NET_WANTED_ALL;
  switch (op) {
    case NG_EQ:
      return net_wanted_value(arena, domain->name, domain->type, (union net_slot){.i = value});
    case NG_LT:
      if (value == INT64_MIN) return NET_WANTED_ALL;
      return net_wanted_between(arena, domain->name, domain->type, INT64_MIN, value - 1);
    case NG_LE:
      return net_wanted_between(arena, domain->name, domain->type, INT64_MIN, value);
    case NG_GT:
      if (value == INT64_MAX) return NET_WANTED_ALL;
      return net_wanted_between(arena, domain->name, domain->type, value + 1, INT64_MAX);
    case NG_GE:
      return net_wanted_between(arena, domain->name, domain->type, value, INT64_MAX);
    default:
      return NET_WANTED_ALL;
  }
}

static struct net_wanted of_values(const struct asking *asking, const struct names *names,
                                   const struct ng_expr *expr) {
  const struct ng_expr *a = expr->args[0], *b = expr->args[1];
  enum ng_op op = expr->op;
  if (a->op != NG_COLUMN) {
    const struct ng_expr *left = a;
    a = b;
    b = left;
    op = ng_op_mirrored(op);
  }
  const struct net_field *domain = a->op == NG_COLUMN ? domain_of(asking, names, a->column) : NULL;
  return domain ? compared(asking, domain, op, b) : NET_WANTED_ALL;
}

/* A pattern says of names which sensors are to be switched; stores are not asked by it. */
static struct net_wanted matching(const struct asking *asking, const struct names *names,
                                  const struct ng_expr *expr) {
  const struct ng_expr *column = expr->args[0];
  const struct net_field *domain =
      asking->records && asking->access->relation->sensor && column->op == NG_COLUMN
          ? domain_of(asking, names, column->column)
          : NULL;
  if (!domain || (domain->type.base != NET_STRING && domain->type.base != NET_NAME))
    return NET_WANTED_ALL;
  return net_wanted_pattern(asking->plan->arena, domain->name, domain->type, expr->string);
}

/* --- conditions, readers */

/* Rows for which EXPR is not false for sure, whatever they are combined with. */
static struct net_wanted of_condition(const struct asking *asking, const struct names *names,
                                      const struct ng_expr *expr) {
  switch (expr->op) {
    case NG_AND:
      return both(asking, of_condition(asking, names, expr->args[0]),
                  of_condition(asking, names, expr->args[1]));
    case NG_OR: {
      struct net_wanted a = of_condition(asking, names, expr->args[0]);
      struct net_wanted b = of_condition(asking, names, expr->args[1]);
      return net_wanted_either(asking->plan->arena, &a, &b);
    }
    case NG_EQ:
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
      return of_values(asking, names, expr);
    case NG_MATCHES:
      return matching(asking, names, expr);
    default:
      return of_times(asking, names, expr);
  }
}

/* What READER wants of an input; false: it is nobody who counts. */
static bool wanted_of(const struct asking *asking, const struct ng_node *reader,
                      const struct names *names, struct net_wanted *ret) {
  *ret = NET_WANTED_ALL;
  if (reader->kind == NET_NODE_CLOCK) return !asking->records;
  if (reader->alias) {
    struct names others = {reader->start, reader->stop, &reader->fields};
    return others.fields->count != names->fields->count || wanted_by(asking, reader, &others, ret);
  }
  if (reader->kind == NET_NODE_EVENT_TO_PERIOD && asking->records)
    return wanted_by(asking, reader, names, ret); /* of_entity leaves what may pass */
  bool passes = reader->kind == NET_NODE_SELECTION || reader->kind == NET_NODE_PRODUCT ||
                reader->kind == NET_NODE_JOIN;
  if (!passes || (reader->expr && ng_expr_can_fail(reader->expr))) return true;
  if (!wanted_by(asking, reader, names, ret)) return false;
  if (reader->expr) *ret = both(asking, of_condition(asking, names, reader->expr), *ret);
  return true;
}

/* What the readers of NODE want; false: there are none who count. */
static bool wanted_by(const struct asking *asking, const struct ng_node *node,
                      const struct names *names, struct net_wanted *ret) {
  const struct ng_plan *plan = asking->plan;
  bool any = false;
  *ret = NET_WANTED_ALL;
  for (size_t i = 0; i < plan->query_count; i++)
    if (plan->queries[i].result == node && !plan->queries[i].inner) return true;
  for (size_t i = 0; i < plan->node_count; i++) {
    for (unsigned port = 0; port < plan->nodes[i]->input_count; port++) {
      struct net_wanted more;
      if (plan->nodes[i]->inputs[port] != node) continue;
      if (!wanted_of(asking, plan->nodes[i], names, &more)) continue;
      *ret = any ? net_wanted_either(plan->arena, ret, &more) : more;
      any = true;
    }
  }
  return any;
}

/* Of records that event-to-period reads. MADE: those that are not there as yet. */
static struct net_wanted of_entity(const struct ng_plan *plan, const struct ng_relation *relation,
                                   const struct net_wanted *wanted, bool made) {
  const struct net_layout *layout = relation->layout;
  struct net_wanted result = NET_WANTED_ALL;
  struct net_wanted_domain *domains =
      BASE_NEW_ARRAY(plan->arena, layout->field_count, struct net_wanted_domain);
  for (uint32_t d = 0; d < layout->field_count; d++) {
    bool passes = net_key_has(&relation->entity, d) || (made && ng_entity_has_one(relation, d));
    const struct net_wanted_domain *domain =
        passes ? net_wanted_find(wanted, layout->fields[d].name) : NULL;
    if (domain) domains[result.domain_count++] = *domain;
  }
  result.domains = domains;
  return result;
}

/* What is wanted of ACCESS, NULL: all. RECORDS: as far as records must be made for it. */
static const struct net_wanted *asked_of(struct ng_plan *plan, const struct ng_node *access,
                                         bool records) {
  struct asking asking = {plan, access, records};
  struct names names = {access->start, access->stop, &access->fields};
  struct net_wanted wanted;
  (void)wanted_by(&asking, access, &names, &wanted);
  if (access->form == NET_SCAN_RECORDS && !access->starts_only)
    wanted = of_entity(plan, access->relation, &wanted, records);
  if (net_wanted_is_all(&wanted)) return NULL;
  struct net_wanted *copy = BASE_NEW(plan->arena, struct net_wanted);
  *copy = wanted;
  return copy;
}

void ng_rule_access_control(struct ng_plan *plan) {
  size_t asked = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *access = plan->nodes[i];
    if (access->kind != NET_NODE_ACCESS || access->alias || access->single_row) continue;
    access->wanted = asked_of(plan, access, false);
    if (access->relation->sensor && !access->unasked)
      access->watched = asked_of(plan, access, true);
    asked += access->wanted || access->watched;
  }
  if (!asked) return;
  ng_rule_changed(plan, NG_RULE_ACCESS_CONTROL, asked,
                  asked == 1 ? "%zu access node asks only for what may count"
                             : "%zu access nodes ask only for what may count",
                  asked);
}
