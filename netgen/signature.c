/* The signature of a node says all that its rows depend on: its kind, its parameters, the classes of
 * its inputs. Columns are named by their place, as "1.3", field 3 of the right input, so that the names
 * that statements give to variables do not count. Two nodes with one signature have the same rows, their
 * fields in the same order; equal nodes of different plans have it as well, as long as the relations are
 * the same ones.
 *
 * What can report an error has no signature, and an access node to constants has none. */
#include "netgen/signature.h"

#include <inttypes.h>

#include "netgen/expr.h"

static void print_type(struct base_buffer *out, struct net_type type) {
  base_buffer_printf(out, ":%d/%u", (int)type.base, type.width);
}

static bool print_field(struct base_buffer *out, const struct ng_columns *columns,
                        const struct ng_column *column, const char *place) {
  for (size_t i = 0; i < columns->count; i++) {
    if (columns->items[i] != column) continue;
    base_buffer_printf(out, " %s%zu", place, i);
    return true;
  }
  return false;
}

static void print_column(struct base_buffer *out, const struct ng_node *node,
                         const struct ng_column *column) {
  static const char *const places[] = {"0.", "1."};
  if (column == NULL) {
    base_buffer_puts(out, " -");
    return;
  }
  for (unsigned port = 0; port < node->input_count; port++) {
    const struct ng_node *input = node->inputs[port];
    if (column == input->start || column == input->stop) {
      base_buffer_printf(out, " %u.%c", port, column == input->start ? 's' : 'e');
      return;
    }
    if (print_field(out, &input->fields, column, places[port])) return;
  }
  if (column == node->own_start || column == node->own_stop) {
    base_buffer_printf(out, " o.%c", column == node->own_start ? 's' : 'e');
    return;
  }
  bool found = print_field(out, &node->own, column, "o.");
  BASE_CHECK(found, "signature-column");
}

static void print_columns(struct base_buffer *out, const struct ng_node *node,
                          const struct ng_columns *columns) {
  base_buffer_puts(out, " (");
  for (size_t i = 0; i < columns->count; i++) print_column(out, node, columns->items[i]);
  base_buffer_puts(out, ")");
}

static void print_expr(struct base_buffer *out, const struct ng_node *node,
                       const struct ng_expr *expr) {
  base_buffer_printf(out, " [%d", (int)expr->op);
  print_type(out, expr->type);
  if (expr->op == NG_COLUMN) print_column(out, node, expr->column);
  base_buffer_printf(out, " %" PRId64 " %a %" PRIu64 " %" PRId64 " %" PRId64, expr->integer,
                     expr->real, (uint64_t)expr->string, expr->instant.lo, expr->instant.hi);
  for (unsigned i = 0; i < expr->arg_count; i++) print_expr(out, node, expr->args[i]);
  base_buffer_puts(out, "]");
}

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
  for (size_t i = 0; i < node->fields.count; i++) print_column(out, node, node->fields.items[i]);
  if (!node->control && !node->every) return;
  base_buffer_printf(out, " control %u %" PRId64 " %" PRId64, node->control_domain, node->every,
                     node->origin);
  print_column(out, node, node->control);
  if (node->control && node->watched) print_watched(out, node->watched);
}

static void print_aggregate(struct base_buffer *out, const struct ng_node *node) {
  const struct ng_aggregate *aggregate = node->aggregate;
  base_buffer_printf(out, " %d %d %d %" PRId64 " %d %d %d %u", (int)aggregate->function,
                     aggregate->cumulative, aggregate->unique, aggregate->window, node->apart,
                     node->groups_of_all, node->some_only, node->domain_fields);
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

static void print_product(struct base_buffer *out, const struct ng_node *node) {
  base_buffer_printf(out, " %d", (int)node->rule);
  print_columns(out, node, &node->as_events);
  for (size_t i = 0; i < node->untested.count;
       i++) { /* what the inputs have not is not tested anyhow */
    const struct ng_column *column = node->untested.items[i];
    if (ng_node_has(node->inputs[0], column) || ng_node_has(node->inputs[1], column))
      print_column(out, node, column);
  }
  for (size_t i = 0; i < node->key_count; i++) {
    print_column(out, node, node->keys[i].left);
    print_column(out, node, node->keys[i].right);
  }
  print_columns(out, node, &node->fields);
  for (unsigned port = 0; port < 2; port++) {
    base_buffer_printf(out, " %zu", node->expiry_counts[port]);
    for (size_t i = 0; i < node->expiry_counts[port]; i++) {
      print_column(out, node, node->expiries[port][i].instant);
      base_buffer_printf(out, " %" PRId64, node->expiries[port][i].bound);
      if (node->expiries[port][i].or_next) base_buffer_puts(out, " or");
    }
  }
  if (node->kind != NET_NODE_CLOSEST) return;
  if (node->distinct) base_buffer_printf(out, " distinct %" PRId64, node->within);
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
      print_column(out, node, node->by);
      return true;
    case NET_NODE_COSTS:
      print_column(out, node, node->by);
      base_buffer_printf(out, " %" PRId64, node->cost);
      print_type(out, node->own.items[NET_COST_PROCESS]->type);
      return true;
    case NET_NODE_COMPENSATE:
      print_column(out, node, node->by);
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

bool ng_node_signature(struct base_buffer *out, const struct ng_node *node,
                       const uint64_t *classes) {
  if (node->alias || ng_node_can_fail(node)) return false;
  base_buffer_printf(out, "%d", (int)node->kind);
  for (unsigned port = 0; port < node->input_count; port++)
    base_buffer_printf(out, " %" PRIu64, classes[port]);
  if (!print_what(out, node)) return false;
  if (node->expr) print_expr(out, node, node->expr);
  return true;
}
