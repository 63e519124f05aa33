/* The plan graph: nodes, columns, and what a node's rows are.
 *
 * Everything lives in the plan's arena; nothing is freed alone. Nodes that no result and no display
 * needs any more simply drop out of plan->nodes at the next refresh. */
#include "netgen/plan.h"

#include "netgen/budget.h"
#include "netgen/expr.h"
#include "netgen/order.h"
#include "netgen/signature.h"

#include <string.h>
#include <strings.h>

struct ng_plan *ng_plan_new(struct base_arena *arena, struct base_strings *strings,
                            enum net_timeline timeline) {
  struct ng_plan *plan = BASE_NEW(arena, struct ng_plan);
  plan->arena = arena;
  plan->strings = strings;
  plan->timeline = timeline;
  plan->known_until = NET_BEGINNING;
  plan->budget = ng_budget_new(arena);
  return plan;
}

/* The array doubles; the old one stays behind in the arena. */
void *ng_grown(struct base_arena *arena, void *items, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity) return items;
  size_t wanted = *capacity ? *capacity * 2 : 8;
  void *new_items = base_arena_array(arena, wanted, size);
  if (count) memcpy(new_items, items, count * size);
  *capacity = wanted;
  return new_items;
}

static struct ng_column *new_column(struct ng_plan *plan, const char *name, struct net_type type,
                                    bool openable) {
  struct ng_column *column = BASE_NEW(plan->arena, struct ng_column);
  column->id = plan->column_count++;
  column->name = name;
  column->type = type;
  column->openable = openable;
  return column;
}

const struct ng_column *ng_column_new(struct ng_plan *plan, const char *name, struct net_type type,
                                      bool openable) {
  return new_column(plan, name, type, openable);
}

const struct ng_column *ng_column_computed(struct ng_plan *plan, const char *name,
                                           struct net_type type, bool openable) {
  struct ng_column *column = new_column(plan, name, type, openable);
  column->computed = true;
  return column;
}

const struct ng_column *ng_column_number(struct ng_plan *plan, const char *name,
                                         struct net_type type) {
  struct ng_column *column = new_column(plan, name, type, false);
  column->computed = column->number = true;
  return column;
}

const struct ng_column *ng_column_copy(struct ng_plan *plan, const char *name, struct net_type type,
                                       const struct ng_column *source) {
  return source->computed ? ng_column_computed(plan, name, type, false)
                          : ng_column_new(plan, name, type, false);
}

void ng_columns_add(struct base_arena *arena, struct ng_columns *columns,
                    const struct ng_column *column) {
  columns->items =
      ng_grown(arena, columns->items, columns->count, &columns->capacity, sizeof *columns->items);
  columns->items[columns->count++] = column;
}

bool ng_columns_have(const struct ng_columns *columns, const struct ng_column *column) {
  for (size_t i = 0; i < columns->count; i++) {
    if (columns->items[i] == column) return true;
  }
  return false;
}

struct ng_node *ng_plan_result(const struct ng_plan *plan, const struct ng_relation *relation) {
  if (relation->kind != NG_REL_DERIVED) return NULL;
  for (size_t i = plan->query_count; i-- > 0;) {
    const char *name = plan->queries[i].query->name;
    if (name && strcasecmp(name, relation->name) == 0) return plan->queries[i].result;
  }
  return NULL;
}

struct ng_node *ng_node_new(struct ng_plan *plan, enum net_node_kind kind, struct ng_node *left,
                            struct ng_node *right) {
  struct ng_node *node = BASE_NEW(plan->arena, struct ng_node);
  node->kind = kind;
  node->inputs[0] = left;
  node->inputs[1] = right;
  node->input_count = right ? 2 : left ? 1 : 0;
  return node;
}

struct ng_node *ng_node_select(struct ng_plan *plan, struct ng_node *input,
                               const struct ng_expr *predicate) {
  struct ng_node *node = ng_node_new(plan, NET_NODE_SELECTION, input, NULL);
  node->expr = predicate;
  ng_node_refresh(plan, node);
  return node;
}

static const char *printed(struct ng_plan *plan, const struct ng_expr *expr) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  ng_expr_print(&text, plan, expr);
  const char *name = base_arena_strdup(plan->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return name;
}

const struct ng_column *ng_node_compute(struct ng_plan *plan, struct ng_node **top,
                                        const struct ng_expr *expr, const char *name) {
  if (expr->op == NG_COLUMN) return expr->column;
  struct ng_node *node = ng_node_new(plan, NET_NODE_APPLY, *top, NULL);
  bool openable = expr->type.base == NET_INSTANT && ng_expr_reads_open(expr);
  node->expr = expr;
  ng_columns_add(plan->arena, &node->own,
                 ng_column_computed(plan, name ? name : printed(plan, expr), expr->type, openable));
  ng_node_refresh(plan, node);
  *top = node;
  return node->own.items[0];
}

bool ng_node_is_product(const struct ng_node *node) {
  return node->kind == NET_NODE_PRODUCT || node->kind == NET_NODE_JOIN ||
         node->kind == NET_NODE_CLOSEST;
}

/* Quantiles of what never goes. A summary that is asked for once has an end. */
static bool keeps_all_values(const struct ng_query *query, const struct ng_aggregate *aggregate) {
  bool quantile =
      aggregate->function == NET_AGG_QUANTILE || aggregate->function == NET_AGG_QUANTILE_OF;
  return quantile && aggregate->cumulative && (!aggregate->summary || query->name);
}

bool ng_node_passes_rows(const struct ng_node *node) {
  return node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY ||
         node->kind == NET_NODE_ANTI_JOIN;
}

bool ng_node_is_unbounded(const struct ng_node *node) {
  if (node->kind == NET_NODE_ANTI_JOIN) return node->reach[0] < 0 || node->reach[1] < 0;
  if (node->kind == NET_NODE_AGGREGATE && !node->alias)
    return keeps_all_values(node->query, node->aggregate);
  if (node->kind != NET_NODE_PRODUCT && node->kind != NET_NODE_JOIN) return false;
  return node->rule == NET_PRODUCT_FULL && (!node->expiry_counts[0] || !node->expiry_counts[1]);
}

bool ng_node_is_counted(const struct ng_node *node) {
  return !node->alias;
}

bool ng_node_is_combination(const struct ng_node *node) {
  while (ng_node_passes_rows(node)) node = node->inputs[0];
  return ng_node_is_product(node);
}

void ng_node_participants(struct ng_plan *plan, const struct ng_node *node,
                          struct ng_participants *ret) {
  while (ng_node_passes_rows(node)) node = node->inputs[0];
  if (ng_node_is_product(node)) {
    ng_node_participants(plan, node->inputs[0], ret);
    ng_node_participants(plan, node->inputs[1], ret);
    return;
  }
  ret->items = ng_grown(plan->arena, ret->items, ret->count, &ret->capacity, sizeof *ret->items);
  ret->items[ret->count++] = (struct ng_participant){node->start, node->stop};
}

bool ng_product_takes_event(const struct ng_node *node, struct ng_participant participant) {
  return !participant.stop || ng_columns_have(&node->as_events, participant.start);
}

bool ng_node_has(const struct ng_node *node, const struct ng_column *column) {
  if (node->start == column || node->stop == column) return true;
  return column && column->id < node->has_count &&
         (node->has[column->id / 64] >> column->id % 64 & 1) != 0;
}

/* What COLUMN of PROJECTION's events is below it. */
static const struct ng_column *below_events(const struct ng_node *projection,
                                            const struct ng_column *column) {
  if (column == projection->own_start) return projection->start_from;
  for (size_t i = 0; i < projection->own.count; i++)
    if (projection->own.items[i] == column) return projection->sources.items[i];
  return NULL;
}

bool ng_node_is_own_period(const struct ng_node *node, const struct ng_column *start,
                           const struct ng_column *stop) {
  while (ng_node_passes_rows(node)) node = node->inputs[0];
  if (stop && node->start == start && node->stop == stop) return true;
  if (node->kind == NET_NODE_PROJECTION && !node->alias && !node->stop_from && stop) {
    start = below_events(node, start);
    stop = below_events(node, stop);
    return start && stop && ng_node_is_own_period(node->inputs[0], start, stop);
  }
  if (!ng_node_is_product(node)) return false;
  return ng_node_is_own_period(node->inputs[0], start, stop) ||
         ng_node_is_own_period(node->inputs[1], start, stop);
}

/* --- what a node's rows are */

/* The room of the last time is used again: plans are refreshed many times, and no rule keeps a node's fields. */
static void forget_fields(struct ng_node *node) {
  for (size_t i = 0; i < node->fields.count; i++)
    node->has[node->fields.items[i]->id / 64] = 0; /* the others of the word have gone, too */
  node->fields.count = 0;
}

static void note_field(struct ng_plan *plan, struct ng_node *node, unsigned id) {
  if (id >= node->has_count) {
    size_t words = 2 * (size_t)id / 64 + 1;
    uint64_t *has = BASE_NEW_ARRAY(plan->arena, words, uint64_t);
    if (node->has_count) memcpy(has, node->has, node->has_count / 64 * sizeof *has);
    node->has = has;
    node->has_count = words * 64;
  }
  node->has[id / 64] |= UINT64_C(1) << id % 64;
}

static void add_kept(struct ng_plan *plan, struct ng_node *node, const struct ng_column *column) {
  if (node->keep && (column->id >= node->keep_count || !node->keep[column->id])) return;
  ng_columns_add(plan->arena, &node->fields, column);
  note_field(plan, node, column->id);
}

static void add_all_kept(struct ng_plan *plan, struct ng_node *node,
                         const struct ng_columns *columns) {
  for (size_t i = 0; i < columns->count; i++) add_kept(plan, node, columns->items[i]);
}

/* The side's participants' times, which a plain input has as its implicit ones, then its fields. */
static void add_side(struct ng_plan *plan, struct ng_node *node, const struct ng_node *side) {
  if (!ng_node_is_combination(side)) {
    add_kept(plan, node, side->start);
    if (side->stop) add_kept(plan, node, side->stop);
  }
  add_all_kept(plan, node, &side->fields);
}

/* Does one of the tuples in the rows of SIDE take part in PRODUCT as an event? Asked at each refresh, so without the
 * list that ng_node_participants would make. */
static bool some_take_part_as_events(const struct ng_node *product, const struct ng_node *side) {
  while (ng_node_passes_rows(side)) side = side->inputs[0];
  if (ng_node_is_product(side))
    return some_take_part_as_events(product, side->inputs[0]) ||
           some_take_part_as_events(product, side->inputs[1]);
  return ng_product_takes_event(product, (struct ng_participant){side->start, side->stop});
}

static void refresh_product(struct ng_plan *plan, struct ng_node *node) {
  bool event = node->rule == NET_PRODUCT_FULL || some_take_part_as_events(node, node->inputs[0]) ||
               some_take_part_as_events(node, node->inputs[1]);
  node->start = node->own_start;
  node->stop = event ? NULL : node->own_stop;
  add_side(plan, node, node->inputs[0]);
  add_side(plan, node, node->inputs[1]);
}

void ng_node_refresh(struct ng_plan *plan, struct ng_node *node) {
  const struct ng_node *input = node->input_count ? node->inputs[0] : NULL;
  forget_fields(node);
  node->start = input ? input->start : node->own_start;
  node->stop = input ? input->stop : node->own_stop;
  if (ng_node_is_product(node)) {
    refresh_product(plan, node);
  } else if (node->kind == NET_NODE_CUT || node->kind == NET_NODE_DIFFERENCE) {
    node->start = node->own_start;
    node->stop = node->own_stop;
    for (size_t i = 0; i < node->kept_fields; i++) add_kept(plan, node, input->fields.items[i]);
    add_all_kept(plan, node, &node->own);
  } else if (node->kind == NET_NODE_ACCESS || node->kind == NET_NODE_PROJECTION ||
             node->kind == NET_NODE_AGGREGATE || node->kind == NET_NODE_CLOCK ||
             node->kind == NET_NODE_COSTS || node->alias) {
    node->start = node->own_start;
    node->stop = node->own_stop;
    add_all_kept(plan, node, &node->own);
  } else {
    if (node->kind == NET_NODE_EVENT_TO_PERIOD || node->kind == NET_NODE_COMPENSATE)
      node->stop = node->own_stop;
    if (node->kind == NET_NODE_SWITCH_DISPOSITION) node->stop = NULL;
    add_all_kept(plan, node, &input->fields);
    if (node->kind == NET_NODE_APPLY) add_all_kept(plan, node, &node->own);
  }
  ng_plan_work(plan, node->fields.count + 1);
  node->order = ng_order_of(plan, node);
}

/* --- order, readers */

static void add_node(struct ng_plan *plan, struct ng_node *node) {
  if (node->found == plan->round) return;
  node->found = plan->round;
  for (unsigned i = 0; i < node->input_count; i++) add_node(plan, node->inputs[i]);
  plan->nodes = ng_grown(plan->arena, plan->nodes, plan->node_count, &plan->node_capacity,
                         sizeof *plan->nodes);
  node->index = plan->node_count;
  plan->nodes[plan->node_count++] = node;
}

void ng_plan_refresh(struct ng_plan *plan) {
  plan->node_count = 0;
  plan->round++;
  for (size_t i = 0; i < plan->query_count; i++) {
    if (!plan->queries[i].inner) add_node(plan, plan->queries[i].result);
  }
  for (size_t i = 0; i < plan->display_count; i++) add_node(plan, plan->displays[i]);
  unsigned number = 0;
  size_t fields = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    ng_node_refresh(plan, node);
    fields += node->fields.count;
    /* an alias is no node: it goes by the number of the result that it stands for */
    node->number = node->alias ? node->inputs[0]->number : ++number;
  }
  ng_plan_check_size(plan, plan->node_count, fields);
}

/* The field of ALIAS's input that is COLUMN under ALIAS's name, or NULL. */
static const struct ng_column *below_alias(const struct ng_node *alias,
                                           const struct ng_column *column) {
  for (size_t i = 0; i < alias->fields.count; i++) {
    if (alias->fields.items[i] == column) return alias->inputs[0]->fields.items[i];
  }
  return NULL;
}

struct ng_node *ng_node_maker(const struct ng_node *projection, const struct ng_column *column) {
  struct ng_node *node = projection->inputs[0];
  while (column && (node->alias || ng_node_passes_rows(node))) {
    if (node->kind == NET_NODE_APPLY && node->own.items[0] == column) return node;
    if (node->alias) column = below_alias(node, column);
    node = node->inputs[0];
  }
  return NULL;
}

size_t ng_plan_index(const struct ng_plan *plan, const struct ng_node *node) {
  size_t i = node->index;
  BASE_CHECK(i < plan->node_count && plan->nodes[i] == node, "node-in-plan");
  return i;
}

/* *RET: the last of the nodes that read NODE. */
static size_t find_readers(const struct ng_plan *plan, const struct ng_node *node,
                           struct ng_node **ret) {
  size_t count = 0;
  ng_plan_work(plan, plan->node_count);
  for (size_t i = 0; i < plan->node_count; i++) {
    for (unsigned port = 0; port < plan->nodes[i]->input_count; port++) {
      if (plan->nodes[i]->inputs[port] != node) continue;
      *ret = plan->nodes[i];
      count++;
    }
  }
  for (size_t i = 0; i < plan->query_count; i++) {
    count += plan->queries[i].result == node && !plan->queries[i].inner;
  }
  return count;
}

size_t ng_node_readers(const struct ng_plan *plan, const struct ng_node *node) {
  struct ng_node *last = NULL;
  return find_readers(plan, node, &last);
}

struct ng_node *ng_node_reader(const struct ng_plan *plan, const struct ng_node *node) {
  struct ng_node *last = NULL;
  return find_readers(plan, node, &last) == 1 ? last : NULL;
}

void ng_plan_replace(struct ng_plan *plan, struct ng_node *node, struct ng_node *replacement) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *reader = plan->nodes[i];
    if (reader == replacement) continue;
    for (unsigned port = 0; port < reader->input_count; port++) {
      if (reader->inputs[port] == node) reader->inputs[port] = replacement;
    }
  }
  for (size_t i = 0; i < plan->query_count; i++) {
    if (plan->queries[i].result == node) plan->queries[i].result = replacement;
  }
}

/* --- what a node refers to */

struct visit {
  void (*each)(void *context, const struct ng_column **reference);
  void *context;
};

static void refer(const struct visit *visit, const struct ng_column **reference) {
  if (*reference) visit->each(visit->context, reference);
}

static void refer_all(const struct visit *visit, struct ng_columns *references) {
  for (size_t i = 0; i < references->count; i++) refer(visit, &references->items[i]);
}

/* Calls EACH for all columns that NODE refers to, those in its expression excepted: what it reads below. What it
 * makes itself (own, own_start, own_stop) is no reference, nor is what follows from its inputs (ng_plan_refresh).
 * EACH may put another one in the place. */
static void each_reference(struct ng_node *node,
                           void (*each)(void *context, const struct ng_column **reference),
                           void *context) {
  const struct visit visit = {each, context};
  const struct ng_column **const single[] = {
      &node->start_from, &node->stop_from, &node->whose, &node->before, &node->after,
      &node->argument,   &node->where,     &node->when,  &node->unless, &node->control};
  struct ng_columns *const several[] = {&node->sources, &node->by_columns, &node->as_events,
                                        &node->untested, &node->triggers};
  for (size_t i = 0; i < sizeof single / sizeof *single; i++) refer(&visit, single[i]);
  for (size_t i = 0; i < sizeof several / sizeof *several; i++) refer_all(&visit, several[i]);
  for (size_t i = 0; i < node->more_count; i++) refer(&visit, &node->more[i].argument);
  for (size_t i = 0; i < node->key_count; i++) {
    refer(&visit, &node->keys[i].left);
    refer(&visit, &node->keys[i].right);
  }
  for (unsigned port = 0; port < 2; port++)
    for (size_t i = 0; i < node->expiry_counts[port]; i++)
      refer(&visit, &node->expiries[port][i].instant);
}

struct sought {
  const struct ng_column *column;
  bool found;
};

static void compare(void *context, const struct ng_column **reference) {
  struct sought *sought = context;
  sought->found |= *reference == sought->column;
}

bool ng_node_refers(const struct ng_node *node, const struct ng_column *column) {
  struct sought sought = {.column = column};
  if (node->expr && ng_expr_reads(node->expr, column)) return true;
  if (node->times && ng_expr_reads(node->times, column)) return true;
  if (node->alias && ng_columns_have(&node->own, column)) return true;
  each_reference((struct ng_node *)node, compare, &sought);
  return sought.found;
}

struct exchange {
  const struct ng_column *from, *to;
};

static void exchange(void *context, const struct ng_column **reference) {
  const struct exchange *columns = context;
  if (*reference == columns->from) *reference = columns->to;
}

void ng_plan_exchange(struct ng_plan *plan, const struct ng_column *from,
                      const struct ng_column *to) {
  struct exchange columns = {from, to};
  ng_plan_work(plan, 8 * plan->node_count);
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->expr) node->expr = ng_expr_substitute(plan->arena, node->expr, from, to);
    if (node->times) node->times = ng_expr_substitute(plan->arena, node->times, from, to);
    each_reference(node, exchange, &columns);
  }
}

void ng_plan_make_inner(struct ng_plan *plan) {
  BASE_CHECK(plan->query_count > 0, "inner-without-query");
  plan->queries[plan->query_count - 1].inner = true;
  ng_plan_refresh(plan);
}

bool ng_plan_can_fail(const struct ng_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *node = plan->nodes[i];
    if (!node->alias && (node->kind == NET_NODE_CLOCK || ng_node_can_fail(node))) return true;
  }
  return false;
}

size_t ng_plan_access_count(const struct ng_plan *plan) {
  size_t count = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    count += plan->nodes[i]->kind == NET_NODE_ACCESS && !plan->nodes[i]->alias;
  }
  return count;
}

size_t ng_plan_operator_count(const struct ng_plan *plan) {
  size_t count = 0;
  for (size_t i = 0; i < plan->node_count; i++) count += ng_node_is_counted(plan->nodes[i]);
  return count - ng_plan_access_count(plan);
}

void ng_plan_add_display(struct ng_plan *plan, const char *name) {
  BASE_CHECK(plan->query_count > 0, "display-without-query");
  struct ng_plan_query *shown = &plan->queries[plan->query_count - 1];
  if (name) {
    shown = NULL;
    for (size_t i = plan->query_count; i-- > 0 && !shown;) {
      const char *candidate = plan->queries[i].query->name;
      if (candidate && strcasecmp(candidate, name) == 0) shown = &plan->queries[i];
    }
    BASE_CHECK(shown, "display-of-unknown-relation");
  }
  struct ng_node *display = ng_node_new(plan, NET_NODE_DISPLAY, shown->result, NULL);
  display->name = shown->query->name;
  plan->displays = ng_grown(plan->arena, plan->displays, plan->display_count,
                            &plan->display_capacity, sizeof *plan->displays);
  plan->displays[plan->display_count++] = display;
  ng_plan_refresh(plan);
}

/* --- what a session says of it */

void ng_plan_over_store(struct ng_plan *plan) {
  plan->over_store = true;
}

void ng_plan_known_until(struct ng_plan *plan, net_chronon time) {
  plan->known_until = time;
}

void ng_plan_may_speculate(struct ng_plan *plan) {
  plan->may_speculate = true;
}

bool ng_plan_speculates(const struct ng_plan *plan) {
  return plan->change_count[NG_RULE_SPECULATION] > 0;
}
