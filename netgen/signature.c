/* The signature of a node says all that its rows depend on: its kind, its parameters, the classes of
 * its inputs. Columns are named by where they come from (ng_node_place), as "1 <o3": of the right input, there
 * below a node with columns of its own, field 3 of those that the next one makes. So the names that statements
 * give to variables do not count, nor does the order of fields. Two nodes with one signature have the same
 * rows, but for that order; equal nodes of different plans have it as well, as long as the relations are
 * the same ones.
 *
 * A product is the same whichever of its inputs is the left one. Its signature is the lesser of both texts, and
 * `turned` says that this is the one with the inputs exchanged. What is symmetric in an expression is printed in
 * the order of its texts for the same reason: a.k = b.k and b.k = a.k are one condition.
 *
 * The outline of a node is its signature without the fields that access nodes and products, its own inputs and all
 * below, give out: of two products of one outline the one with more fields gives the rows of the other.
 *
 * What can report an error has no signature, and an access node to constants has none. */
#include "netgen/signature.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter.h"
#include "netgen/expr.h"

static void print_type(struct base_buffer *out, struct net_type type) {
  base_buffer_printf(out, ":%d/%u", (int)type.base, type.width);
}

/* --- places */

static bool print_own(struct base_buffer *out, const struct ng_node *node,
                      const struct ng_column *column) {
  for (size_t i = 0; i < node->own.count; i++) {
    if (node->own.items[i] != column) continue;
    base_buffer_printf(out, "o%zu", i);
    return true;
  }
  return false;
}

/* Of the input of ALIAS, what is COLUMN under the alias's name. */
static const struct ng_column *renamed(const struct ng_node *alias,
                                       const struct ng_column *column) {
  size_t i = 0;
  while (i < alias->fields.count && alias->fields.items[i] != column) i++;
  BASE_CHECK(i < alias->fields.count, "place-in-alias");
  return alias->inputs[0]->fields.items[i];
}

void ng_node_place(struct base_buffer *out, const struct ng_node *node,
                   const struct ng_column *column) {
  if (column == node->start || column == node->stop) {
    base_buffer_putc(out, column == node->start ? 's' : 'e');
  } else if (node->alias) {
    ng_node_place(out, node->inputs[0], renamed(node, column));
  } else if (ng_node_is_product(node)) {
    unsigned port = ng_node_has(node->inputs[0], column) ? 0 : 1;
    base_buffer_putc(out, port == node->turned ? '0' : '1');
    ng_node_place(out, node->inputs[port], column);
  } else if (!print_own(out, node, column)) {
    BASE_CHECK(node->input_count > 0, "place-of-column");
    if (node->own.count) base_buffer_putc(out, '<');
    ng_node_place(out, node->inputs[0], column);
  }
}

static void print_column(struct base_buffer *out, const struct ng_node *node,
                         const struct ng_column *column) {
  if (column == NULL) {
    base_buffer_puts(out, " -");
    return;
  }
  for (unsigned port = 0; port < node->input_count; port++) {
    if (!ng_node_has(node->inputs[port], column)) continue;
    base_buffer_printf(out, " %u ", port ^ node->turned);
    ng_node_place(out, node->inputs[port], column);
    return;
  }
  base_buffer_putc(out, ' ');
  if (column == node->own_start || column == node->own_stop) {
    base_buffer_putc(out, column == node->own_start ? 's' : 'e');
    return;
  }
  bool found = print_own(out, node, column);
  BASE_CHECK(found, "signature-column");
}

static void print_columns(struct base_buffer *out, const struct ng_node *node,
                          const struct ng_columns *columns) {
  base_buffer_puts(out, " (");
  for (size_t i = 0; i < columns->count; i++) print_column(out, node, columns->items[i]);
  base_buffer_puts(out, ")");
}

/* --- what has no order: texts, which are printed in theirs */

struct texts {
  struct base_buffer *items;
  size_t count, capacity;
};

static struct base_buffer *next_text(struct texts *texts) {
  base_grow(&texts->items, &texts->capacity, texts->count + 1, sizeof *texts->items);
  texts->items[texts->count] = (struct base_buffer)BASE_BUFFER_EMPTY;
  return &texts->items[texts->count++];
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(base_buffer_text(a), base_buffer_text(b));
}

static void print_texts(struct base_buffer *out, struct texts *texts) {
  if (texts->count) qsort(texts->items, texts->count, sizeof *texts->items, compare_texts);
  base_buffer_puts(out, " {");
  for (size_t i = 0; i < texts->count; i++) {
    base_buffer_puts(out, base_buffer_text(&texts->items[i]));
    base_buffer_done(&texts->items[i]);
  }
  base_buffer_puts(out, "}");
  free(texts->items);
}

static void print_set(struct base_buffer *out, const struct ng_node *node,
                      const struct ng_columns *columns) {
  struct texts texts = {0};
  for (size_t i = 0; i < columns->count; i++)
    print_column(next_text(&texts), node, columns->items[i]);
  print_texts(out, &texts);
}

/* --- expressions */

static void print_expr(struct base_buffer *out, const struct ng_node *node,
                       const struct ng_expr *expr);

/* The operands of all that EXPR, a conjunction or disjunction, and those of its kind right below it have. */
static void add_operands(struct texts *texts, const struct ng_node *node,
                         const struct ng_expr *expr, enum ng_op op) {
  if (expr->op != op) {
    print_expr(next_text(texts), node, expr);
    return;
  }
  for (unsigned i = 0; i < expr->arg_count; i++) add_operands(texts, node, expr->args[i], op);
}

/* An operator whose first WIDTH operands and the next WIDTH may change places. */
static void print_turning(struct base_buffer *out, const struct ng_node *node,
                          const struct ng_expr *expr, unsigned width) {
  struct base_buffer sides[2] = {BASE_BUFFER_EMPTY, BASE_BUFFER_EMPTY};
  for (unsigned i = 0; i < 2 * width; i++) print_expr(&sides[i / width], node, expr->args[i]);
  int first = strcmp(base_buffer_text(&sides[0]), base_buffer_text(&sides[1])) > 0;
  base_buffer_printf(out, " turning %d%s%s", (int)(first ? ng_op_mirrored(expr->op) : expr->op),
                     base_buffer_text(&sides[first]), base_buffer_text(&sides[!first]));
  for (unsigned i = 2 * width; i < expr->arg_count; i++) print_expr(out, node, expr->args[i]);
  base_buffer_done(&sides[0]);
  base_buffer_done(&sides[1]);
}

static unsigned turning_operands(const struct ng_expr *expr) {
  bool chooses = expr->op == NG_LATER || expr->op == NG_EARLIER;
  return chooses && expr->arg_count == 2 ? 1 : ng_expr_turning_operands(expr);
}

static void print_expr(struct base_buffer *out, const struct ng_node *node,
                       const struct ng_expr *expr) {
  unsigned width = turning_operands(expr);
  base_buffer_puts(out, " [");
  if (expr->op == NG_AND || expr->op == NG_OR) {
    struct texts texts = {0};
    add_operands(&texts, node, expr, expr->op);
    base_buffer_printf(out, "%d", (int)expr->op);
    print_texts(out, &texts);
  } else if (width) {
    print_type(out, expr->type);
    print_turning(out, node, expr, width);
  } else {
    base_buffer_printf(out, "%d", (int)expr->op);
    print_type(out, expr->type);
    if (expr->op == NG_COLUMN) print_column(out, node, expr->column);
    base_buffer_printf(out, " %" PRId64 " %a %" PRIu64 " %" PRId64 " %" PRId64, expr->integer,
                       expr->real, (uint64_t)expr->string, expr->instant.lo, expr->instant.hi);
    for (unsigned i = 0; i < expr->arg_count; i++) print_expr(out, node, expr->args[i]);
  }
  base_buffer_puts(out, "]");
}

/* --- nodes */

static void print_origin(struct base_buffer *out, const struct ng_query *query) {
  base_buffer_printf(out, " origin %d %" PRId64 " %d %" PRId64, query->origin_given, query->origin,
                     query->averaging_origin_given, query->averaging_origin);
}

/* What is put beside the objects that a control arc brings (build_control.c). */
static void print_watched(struct base_buffer *out, const struct net_wanted *watched) {
  for (uint32_t i = 0; i < watched->domain_count; i++) {
    const struct net_wanted_domain *domain = &watched->domains[i];
    if (!domain->listed || domain->count != 1) continue;
    bool integer = domain->type.base == NET_INTEGER;
    base_buffer_printf(out, " %s %" PRId64 " %d", domain->name,
                       integer ? domain->values[0].i : (int64_t)domain->values[0].s,
                       domain->patterns && domain->patterns[0]);
  }
}

static void print_access(struct base_buffer *out, const struct ng_node *node) {
  base_buffer_printf(out, " %p %d %d %d %d", (const void *)node->relation, (int)node->form,
                     node->starts_only, node->own_stop != NULL, node->unasked);
  if (node->triggered) {
    base_buffer_puts(out, " triggered");
    for (size_t i = 0; i < node->triggers.count; i++)
      base_buffer_printf(out, " %u", node->trigger_domains[i]);
    print_columns(out, node, &node->triggers);
    if (node->watched) print_watched(out, node->watched);
  }
  if (!node->control && !node->every) return;
  base_buffer_printf(out, " control %u %" PRId64 " %" PRId64, node->control_domain, node->every,
                     node->origin);
  print_column(out, node, node->control);
  if (node->control && node->watched) print_watched(out, node->watched);
  if (!node->control || !node->filter) return;
  base_buffer_puts(out, " filter "); /* whose watches the control arc makes */
  net_filter_print(out, *node->filter);
}

static void print_aggregate(struct base_buffer *out, const struct ng_node *node) {
  const struct ng_aggregate *aggregate = node->aggregate;
  base_buffer_printf(out, " %d %d %d %" PRId64 " %d %d %d %d %u", (int)aggregate->function,
                     aggregate->cumulative, aggregate->unique, aggregate->window, node->apart,
                     node->groups_of_all, node->groups_sure, node->some_only, node->domain_fields);
  if (aggregate->summary) base_buffer_puts(out, " summary");
  if (aggregate->passes) base_buffer_puts(out, " passes");
  if (aggregate->fraction > 0) base_buffer_printf(out, " %a", aggregate->fraction);
  print_column(out, node, node->argument);
  print_column(out, node, node->where);
  print_column(out, node, node->when);
  print_column(out, node, node->unless);
  print_columns(out, node, &node->by_columns);
  for (size_t i = 0; i < node->more_count; i++) {
    base_buffer_printf(out, " more %d %d", (int)node->more[i].aggregate->function,
                       node->more[i].some_only);
    print_column(out, node, node->more[i].argument);
  }
  for (size_t i = 0; i < node->own.count; i++) print_type(out, node->own.items[i]->type);
  print_origin(out, node->query);
}

static void print_projection(struct base_buffer *out, const struct ng_node *node) {
  print_columns(out, node, &node->sources);
  print_column(out, node, node->start_from);
  print_column(out, node, node->stop_from);
  for (size_t i = 0; i < node->own.count; i++) {
    const struct ng_column *column = node->own.items[i];
    base_buffer_printf(out, " %s", column->name);
    print_type(out, column->type);
  }
}

static void print_keys(struct base_buffer *out, const struct ng_node *node) {
  struct texts texts = {0};
  for (size_t i = 0; i < node->key_count; i++) {
    struct base_buffer *text = next_text(&texts);
    print_column(text, node, node->turned ? node->keys[i].right : node->keys[i].left);
    print_column(text, node, node->turned ? node->keys[i].left : node->keys[i].right);
  }
  print_texts(out, &texts);
}

static void print_expiries(struct base_buffer *out, const struct ng_node *node, unsigned port) {
  base_buffer_printf(out, " %zu", node->expiry_counts[port]);
  for (size_t i = 0; i < node->expiry_counts[port]; i++) {
    print_column(out, node, node->expiries[port][i].instant);
    base_buffer_printf(out, " %" PRId64, node->expiries[port][i].bound);
    if (node->expiries[port][i].or_next) base_buffer_puts(out, " or");
  }
}

/* But for the fields. */
static void print_product(struct base_buffer *out, const struct ng_node *node) {
  struct texts untested = {0};
  base_buffer_printf(out, " %d", (int)node->rule);
  if (node->once)
    base_buffer_printf(out, " once %d %u", (int)node->once, node->once_side ^ node->turned);
  print_set(out, node, &node->as_events);
  for (size_t i = 0; i < node->untested.count; i++) {
    const struct ng_column *column = node->untested.items[i];
    if (ng_node_has(node->inputs[0], column) || ng_node_has(node->inputs[1], column))
      print_column(next_text(&untested), node, column);
  } /* what the inputs have not is not tested anyhow */
  print_texts(out, &untested);
  print_keys(out, node);
  for (unsigned port = 0; port < 2; port++) print_expiries(out, node, port ^ node->turned);
  if (node->kind != NET_NODE_CLOSEST) return;
  if (node->sequence == NG_SEQUENCE_DISTINCT)
    base_buffer_printf(out, " distinct %" PRId64, node->within);
  base_buffer_printf(out, " %d", (int)node->sequence);
  print_column(out, node, node->before);
  print_column(out, node, node->after);
}

static bool function_can_fail(enum net_aggregate_function function,
                              const struct ng_column *argument) {
  switch (function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
    case NET_AGG_MIN:
    case NET_AGG_MAX:
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
    case NET_AGG_EXTEND:
      return false;
    case NET_AGG_AVG: /* of integers: sums without end, and a mean is no larger than what it is of */
    case NET_AGG_AVGC:
      return argument && argument->type.base != NET_INTEGER;
    default:
      return true;
  }
}

bool ng_node_can_fail(const struct ng_node *node) {
  if (node->expr && ng_expr_can_fail(node->expr)) return true;
  if (node->kind != NET_NODE_AGGREGATE) return false;
  bool any = function_can_fail(node->aggregate->function, node->argument);
  for (size_t i = 0; i < node->more_count; i++)
    any = any || function_can_fail(node->more[i].aggregate->function, node->more[i].argument);
  return any;
}

static bool print_what(struct base_buffer *out, const struct ng_node *node) {
  switch (node->kind) {
    case NET_NODE_ACCESS:
      if (node->single_row) return false;
      print_access(out, node);
      return true;
    case NET_NODE_EVENT_TO_PERIOD:
      for (size_t i = 0; i < node->by_columns.count; i++)
        print_column(out, node, node->by_columns.items[i]);
      return true;
    case NET_NODE_COSTS:
      print_column(out, node, node->whose);
      base_buffer_printf(out, " %" PRId64, node->cost);
      print_type(out, node->own.items[NET_COST_PROCESS]->type);
      return true;
    case NET_NODE_COMPENSATE:
      print_column(out, node, node->whose);
      return true;
    case NET_NODE_CLOCK:
      base_buffer_printf(out, " %" PRId64, node->relation->every);
      print_origin(out, node->query);
      return true;
    case NET_NODE_APPLY:
      print_type(out, node->own.items[0]->type);
      base_buffer_printf(out, " %d", node->own.items[0]->openable);
      return true;
    case NET_NODE_PROJECTION:
      print_projection(out, node);
      return true;
    case NET_NODE_PRODUCT:
    case NET_NODE_JOIN:
    case NET_NODE_CLOSEST:
      print_product(out, node);
      return true;
    case NET_NODE_AGGREGATE:
      print_aggregate(out, node);
      return true;
    case NET_NODE_SELECTION:
    case NET_NODE_SWITCH_DISPOSITION:
    case NET_NODE_CREDIBILITY:
    case NET_NODE_DISTINCT:
    case NET_NODE_SET:
    case NET_NODE_COALESCE:
    case NET_NODE_ORDER:
      return true;
    default:
      return false;
  }
}

/* But for the fields that an access node or a product gives out. False: the node has no signature. */
static bool print_node(struct base_buffer *out, const struct ng_node *node,
                       const uint64_t *classes) {
  base_buffer_printf(out, "%d", (int)node->kind);
  for (unsigned port = 0; port < node->input_count; port++)
    base_buffer_printf(out, " %" PRIu64, classes[port ^ node->turned]);
  if (!print_what(out, node)) return false;
  if (node->expr) print_expr(out, node, node->expr);
  return true;
}

static void print_fields(struct base_buffer *out, const struct ng_node *node) {
  if (node->kind == NET_NODE_ACCESS || ng_node_is_product(node))
    print_set(out, node, &node->fields);
}

/* What is chosen of the rows of one port, and what asks an aggregate, knows its sides. */
static bool is_symmetric(const struct ng_node *node) {
  bool product = node->kind == NET_NODE_PRODUCT || node->kind == NET_NODE_JOIN;
  return product && !node->self_join && !node->asked;
}

static bool has_signature(const struct ng_node *node) {
  return !node->alias && !ng_node_can_fail(node);
}

bool ng_node_outline(struct base_buffer *out, struct ng_node *node, const uint64_t *classes) {
  node->turned = false;
  if (!has_signature(node)) return false;
  struct base_buffer straight = BASE_BUFFER_EMPTY, turned = BASE_BUFFER_EMPTY;
  bool has = print_node(&straight, node, classes);
  if (has && is_symmetric(node)) {
    struct base_buffer fields[2] = {BASE_BUFFER_EMPTY, BASE_BUFFER_EMPTY};
    print_fields(&fields[0], node);
    node->turned = true;
    print_node(&turned, node, classes);
    print_fields(&fields[1], node);
    int order = strcmp(base_buffer_text(&turned), base_buffer_text(&straight));
    if (order == 0) order = strcmp(base_buffer_text(&fields[1]), base_buffer_text(&fields[0]));
    node->turned = order < 0;
    base_buffer_done(&fields[0]);
    base_buffer_done(&fields[1]);
  }
  base_buffer_puts(out, base_buffer_text(node->turned ? &turned : &straight));
  base_buffer_done(&straight);
  base_buffer_done(&turned);
  return has;
}

bool ng_node_signature(struct base_buffer *out, const struct ng_node *node,
                       const uint64_t *classes) {
  if (!has_signature(node) || !print_node(out, node, classes)) return false;
  print_fields(out, node);
  return true;
}
