/* Explain: the plan as text, as a graph for graphviz (dot), as JSON.
 *
 * Nodes are numbered from the access nodes up, and the numbers are those of the network's node
 * names. The text is for people but stable, so that tests and the manual can show it:
 *
 *   number  kind  inputs  what it does  [what bounds its state]  shared with QUERY.NUMBER
 *
 * The last where a query that stands does the same (share.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/filter.h"
#include "netgen/expr.h"
#include "netgen/order.h"

/* --- what a node does, in words */

static void print_columns(struct base_buffer *out, const struct ng_columns *columns) {
  for (size_t i = 0; i < columns->count; i++) {
    base_buffer_printf(out, "%s%s", i ? ", " : "", columns->items[i]->name);
  }
}

/* What the sensors are told. */
static void print_watched(struct base_buffer *out, const struct ng_plan *plan,
                          const struct ng_node *node) {
  const struct net_wanted *watched = node->watched;
  bool any = false;
  for (size_t i = 0; i < node->relation->sensor->object_count; i++) {
    const char *name = node->relation->layout->fields[node->relation->sensor->objects[i]].name;
    const struct net_wanted_domain *domain = watched ? net_wanted_find(watched, name) : NULL;
    if (!domain || !domain->listed) continue;
    if (node->control &&
        (domain->count != 1 || node->relation->sensor->objects[i] == node->control_domain))
      continue;
    struct net_wanted one = NET_WANTED_ALL;
    one.domains = domain;
    one.domain_count = 1;
    base_buffer_puts(out, any ? " and " : "; watched: ");
    ng_wanted_print(out, plan, &one, !node->stop);
    any = true;
  }
  if (node->control)
    base_buffer_printf(out, "%s%s from %s", any ? " and " : "; watched: ",
                       node->relation->layout->fields[node->control_domain].name,
                       node->control->name);
  if (!any && !node->control) base_buffer_puts(out, "; watched: all");
  for (size_t i = 0; i < node->triggers.count; i++)
    base_buffer_printf(out, "%s%s of %s", i ? " and " : ", sampled at each row: ",
                       node->relation->layout->fields[node->trigger_domains[i]].name,
                       node->triggers.items[i]->name);
  if (node->triggered && !node->triggers.count) base_buffer_puts(out, ", sampled at each row");
  if (node->filter) {
    bool none = net_filter_is_none(*node->filter);
    base_buffer_puts(out, none ? "; counted at the source" : "; filtered at the source: ");
    if (!none) net_filter_print(out, *node->filter);
  }
  if (!node->every) return;
  base_buffer_printf(out, ", sampled every %" PRId64 " from ", node->every);
  net_time_print(out, plan->timeline, node->origin);
}

static void print_access(struct base_buffer *out, const struct ng_plan *plan,
                         const struct ng_node *node) {
  if (node->single_row) {
    base_buffer_puts(out, "one row, from the origin to forever");
    return;
  }
  base_buffer_printf(out, "%s", node->relation->name);
  if (node->form == NET_SCAN_RECORDS) {
    base_buffer_puts(out, node->starts_only ? " records, starts only" : " records");
  } else if (node->relation->kind == NG_REL_TRACED) {
    base_buffer_puts(out, " periods");
  }
  if (node->times_only) base_buffer_puts(out, ", times only");
  if (node->fields.count) base_buffer_puts(out, ": ");
  print_columns(out, &node->fields);
  for (size_t i = 0; i < node->also_count; i++)
    base_buffer_printf(out, "%s%s", i ? ", " : "; also as ", node->also[i]);
  if (node->wanted) {
    base_buffer_puts(out, "; only ");
    ng_wanted_print(out, plan, node->wanted, !node->stop);
  }
  if (node->relation->keeps) base_buffer_printf(out, "; kept: %s", node->relation->keeps);
  if (node->relation->sensor && !node->times_only && !node->unasked) print_watched(out, plan, node);
}

static void print_projection(struct base_buffer *out, const struct ng_node *node) {
  if (node->stop_from) {
    base_buffer_printf(out, "[%s, %s)", node->start_from->name, node->stop_from->name);
  } else {
    base_buffer_printf(out, "at %s", node->start_from->name);
  }
  for (size_t i = 0; i < node->own.count; i++) {
    const char *from = node->sources.items[i]->name, *to = node->own.items[i]->name;
    base_buffer_puts(out, i ? ", " : ": ");
    if (strcmp(from, to) == 0) {
      base_buffer_puts(out, to);
    } else {
      base_buffer_printf(out, "%s = %s", to, from);
    }
  }
}

static void print_rule(struct base_buffer *out, const struct ng_node *node) {
  bool partial = node->expiry_counts[0] + node->expiry_counts[1] > 0;
  const char *full = partial ? "partial overlap" : "full";
  base_buffer_puts(out, node->rule == NET_PRODUCT_FULL ? full : "overlap");
}

static void print_product(struct base_buffer *out, const struct ng_plan *plan,
                          const struct ng_node *node) {
  print_rule(out, node);
  if (node->as_events.count) {
    base_buffer_puts(out, " at ");
    print_columns(out, &node->as_events);
  }
  if (node->untested.count) {
    base_buffer_puts(out, " without ");
    print_columns(out, &node->untested);
  }
  if (node->expr) base_buffer_puts(out, ", ");
  if (node->expr) ng_expr_print(out, plan, node->expr);
  for (size_t i = 0; i < node->key_count; i++) {
    base_buffer_printf(out, "%s%s = %s", i ? ", " : "; hash ", node->keys[i].left->name,
                       node->keys[i].right->name);
  }
  if (node->once)
    base_buffer_printf(out, "; each %s row once%s", node->once_side ? "right" : "left",
                       node->once == NET_PRODUCT_ONCE_WHOLE ? " where it is whole" : "");
  if (node->self_join) base_buffer_puts(out, "; both sides in one pass");
  if (node->asked) base_buffer_printf(out, "; asks %u at each event", node->asked->number);
}

/* A column that has the expression for its name is a key of a join above, or the time of an event. */
static void print_apply(struct base_buffer *out, const struct ng_plan *plan,
                        const struct ng_node *node) {
  const char *name = node->own.items[0]->name;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  ng_expr_print(&text, plan, node->expr);
  bool key = strcmp(name, base_buffer_text(&text)) == 0;
  const char *made = node->own.items[0]->type.base == NET_INSTANT ? "instant" : "key";
  base_buffer_printf(out, "%s = %s", key ? made : name, base_buffer_text(&text));
  base_buffer_done(&text);
}

static void print_aggregate(struct base_buffer *out, const struct ng_node *node) {
  base_buffer_puts(out, node->name);
  if (node->argument) base_buffer_printf(out, " of %s", node->argument->name);
  for (size_t i = 0; i < node->more_count; i++) {
    base_buffer_printf(out, ", %s", node->more[i].name);
    if (node->more[i].argument) base_buffer_printf(out, " of %s", node->more[i].argument->name);
  }
  if (node->by_columns.count) {
    base_buffer_puts(out, " by ");
    print_columns(out, &node->by_columns);
  }
  if (node->where) base_buffer_printf(out, " where %s", node->where->name);
  if (node->when) base_buffer_printf(out, " when %s", node->when->name);
  if (node->some_only) base_buffer_puts(out, ", of what is there for sure");
}

/* Without what: the partners. */
static void print_absence(struct base_buffer *out, const struct ng_plan *plan,
                          const struct ng_node *node) {
  const char *link = node->kind == NET_NODE_DIFFERENCE ? "portions without: " : "without: ";
  for (size_t i = 0; i < node->key_count; i++) {
    base_buffer_printf(out, "%s%s = %s", link, node->keys[i].left->name, node->keys[i].right->name);
    link = " and ";
  }
  if (node->expr) {
    base_buffer_puts(out, link);
    ng_expr_print(out, plan, node->expr);
  } else if (node->key_count == 0) {
    base_buffer_printf(out, "%sany", link);
  }
}

void ng_explain_what(struct base_buffer *out, const struct ng_plan *plan,
                     const struct ng_node *node) {
  switch (node->kind) {
    case NET_NODE_ACCESS:
      print_access(out, plan, node);
      break;
    case NET_NODE_EVENT_TO_PERIOD:
      base_buffer_puts(out, node->by_columns.count ? "by " : "single entity");
      print_columns(out, &node->by_columns);
      break;
    case NET_NODE_COSTS:
      base_buffer_printf(out, "%" PRId64 " each, by %s", node->cost, node->whose->name);
      break;
    case NET_NODE_COMPENSATE:
      base_buffer_printf(out, "%s without the costs, by %s", node->own_stop->name,
                         node->whose->name);
      break;
    case NET_NODE_CLOCK:
      base_buffer_printf(out, "%s: %s", node->relation->name, node->own_start->name);
      break;
    case NET_NODE_CLOSEST:
      base_buffer_printf(out, "%s%s ; %s%s",
                         node->sequence == NG_SEQUENCE_DISTINCT ? "distinct "
                         : node->sequence == NG_SEQUENCE_LAST   ? "last "
                                                                : "",
                         node->before->name, node->sequence == NG_SEQUENCE_FIRST ? "first " : "",
                         node->after->name);
      for (size_t i = 0; i < node->key_count; i++) {
        base_buffer_printf(out, ", %s = %s", node->keys[i].left->name, node->keys[i].right->name);
      }
      break;
    case NET_NODE_CREDIBILITY:
      base_buffer_puts(out, "the middle of all bounds, no omega");
      break;
    case NET_NODE_DISTINCT:
      base_buffer_puts(out, "of a definite tuple and an equal omega one the former");
      break;
    case NET_NODE_SET:
      base_buffer_puts(out, "equal tuples are one");
      break;
    case NET_NODE_ORDER:
      base_buffer_puts(out, "by start");
      break;
    case NET_NODE_ANTI_JOIN:
    case NET_NODE_DIFFERENCE:
      print_absence(out, plan, node);
      break;
    case NET_NODE_COALESCE:
      base_buffer_puts(out, "periods of equal domains that overlap or adjoin");
      break;
    case NET_NODE_CUT:
      base_buffer_puts(out, "while ");
      ng_expr_print(out, plan, node->expr);
      break;
    case NET_NODE_SELECTION:
      ng_expr_print(out, plan, node->expr);
      break;
    case NET_NODE_APPLY:
      print_apply(out, plan, node);
      break;
    case NET_NODE_PROJECTION:
      print_projection(out, node);
      break;
    case NET_NODE_PRODUCT:
    case NET_NODE_JOIN:
      print_product(out, plan, node);
      break;
    case NET_NODE_AGGREGATE:
      print_aggregate(out, node);
      break;
    case NET_NODE_SWITCH_DISPOSITION:
      base_buffer_puts(out, "periods to events");
      break;
    case NET_NODE_DISPLAY:
      base_buffer_puts(out, node->name ? node->name : "result");
      break;
    default:
      break;
  }
}

/* --- what bounds the state: overlap, within D, closest, keys, nothing */

static const char *keys_of_cumulative(const struct ng_aggregate *aggregate) {
  if (aggregate->function == NET_AGG_AVGC) return "groups and sums";
  if (aggregate->function == NET_AGG_EXTEND) return "the last events of each group";
  if (aggregate->unique) return "groups, and each distinct value";
  if (net_aggregate_chooses(aggregate->function)) return "groups, and one value of each";
  if (aggregate->function == NET_AGG_QUANTILE || aggregate->function == NET_AGG_QUANTILE_OF)
    return "groups, and all values";
  bool successive = aggregate->function == NET_AGG_VARTS || aggregate->function == NET_AGG_AVGTI;
  return successive ? "groups, sums, and the last tuple of each" : "groups and sums";
}

static void state_of_aggregate(struct base_buffer *out, const struct ng_aggregate *aggregate) {
  bool own = aggregate->function == NET_AGG_AVGC || aggregate->function == NET_AGG_EXTEND;
  if (aggregate->window && !own) {
    base_buffer_printf(out, "within %" PRId64 ", keys: tuples of the window, and groups",
                       aggregate->window);
  } else if (!aggregate->cumulative && !own) {
    base_buffer_puts(out, "overlap, keys: tuples valid now, and groups");
  } else {
    base_buffer_printf(out, "keys: %s", keys_of_cumulative(aggregate));
  }
}

/* Until when a side's rows are kept. */
static void print_expiries(struct base_buffer *out, const struct ng_node *node, unsigned port) {
  bool overlap = node->rule == NET_PRODUCT_OVERLAP;
  if (!node->expiry_counts[port]) base_buffer_puts(out, overlap ? "until they end" : "for ever");
  for (size_t i = 0; i < node->expiry_counts[port]; i++) {
    const struct ng_expiry *expiry = &node->expiries[port][i];
    const char *link = i == 0 ? "until " : expiry[-1].or_next ? " or " : " and ";
    base_buffer_printf(out, "%s%s", link, expiry->instant->name);
    if (expiry->bound > 0) base_buffer_printf(out, " + %" PRId64, expiry->bound);
    if (expiry->bound < -1) base_buffer_printf(out, " - %" PRId64, -(expiry->bound + 1));
  }
}

static void state_of_product(struct base_buffer *out, const struct ng_node *node) {
  bool overlap = node->rule == NET_PRODUCT_OVERLAP;
  if (node->expiry_counts[0] + node->expiry_counts[1] == 0) {
    base_buffer_puts(
        out, overlap ? "overlap: tuples valid at the checkpoint or after" : "nothing: all tuples");
    return;
  }
  int64_t within = 0;
  for (unsigned port = 0; port < 2; port++) {
    for (size_t i = 0; i < node->expiry_counts[port]; i++) {
      if (node->expiries[port][i].bound > within) within = node->expiries[port][i].bound;
    }
  }
  if (overlap)
    base_buffer_puts(out, "overlap: valid tuples ");
  else if (ng_node_is_unbounded(node))
    base_buffer_puts(out, "nothing: tuples ");
  else if (within > 0)
    base_buffer_printf(out, "within %" PRId64 ": tuples ", within);
  else
    base_buffer_puts(out, "partial overlap: tuples ");
  print_expiries(out, node, 0);
  base_buffer_puts(out, ", ");
  print_expiries(out, node, 1);
}

/* Which rows it keeps until they are in order. */
static void print_sorted(struct base_buffer *out, const struct ng_node *node) {
  bool any = false;
  for (unsigned port = 0; port < node->input_count; port++) {
    const struct ng_node *input = node->inputs[port];
    if (!ng_node_sorts(node, port) || (any && input->number == node->inputs[0]->number)) continue;
    base_buffer_printf(out, "%s%u%s", any ? " and " : "; sorts ", input->number,
                       input->order == NET_ORDER_STOPS ? " (by stops)" : "");
    any = true;
  }
}

static void state_of_anti_join(struct base_buffer *out, const struct ng_node *node) {
  int64_t within = node->reach[0] > node->reach[1] ? node->reach[0] : node->reach[1];
  if (ng_node_is_unbounded(node))
    base_buffer_puts(out, "nothing: all tuples");
  else
    base_buffer_printf(out, "within %" PRId64 ": tuples that may still be partners", within);
}

/* Prints nothing for nodes without state. */
void ng_explain_state(struct base_buffer *out, const struct ng_node *node) {
  const char *text = NULL;
  switch (node->kind) {
    case NET_NODE_EVENT_TO_PERIOD:
      text = node->by_columns.count ? "keys: one open period per entity" : "keys: one open period";
      break;
    case NET_NODE_SELECTION:
      if (ng_expr_reads_open(node->expr)) text = "overlap: open rows not yet decided";
      break;
    case NET_NODE_CUT:
      if (node->stop) text = "overlap: open rows not yet decided";
      break;
    case NET_NODE_CREDIBILITY:
      if (node->stop) text = "overlap: open rows that are perhaps empty";
      break;
    case NET_NODE_COMPENSATE:
      text = "overlap: periods whose costs are not all known";
      break;
    case NET_NODE_CLOSEST:
      if (node->sequence == NG_SEQUENCE_DISTINCT && node->within >= 0)
        base_buffer_printf(out, "within %" PRId64 ", ", node->within);
      text = node->sequence == NG_SEQUENCE_DISTINCT ? "keys: the last of each distinct tuple"
             : node->sequence == NG_SEQUENCE_FIRST
                 ? "closest: tuples that have no first one behind them yet"
             : node->sequence == NG_SEQUENCE_LAST
                 ? "closest: the last tuples, and those that have not found theirs"
                 : "closest: tuples that may still find a nearest partner";
      break;
    case NET_NODE_DISTINCT:
      text = "overlap: omega rows that a definite one may be equal to";
      break;
    case NET_NODE_SET:
      text = "overlap: open rows that may yet be one";
      break;
    case NET_NODE_ORDER:
      text = "overlap: rows that start at the checkpoint or after";
      break;
    case NET_NODE_COALESCE:
      text = "overlap: periods valid at the checkpoint or after";
      break;
    case NET_NODE_PROJECTION:
      if (node->stop_from) text = "overlap: open rows";
      break;
    case NET_NODE_ANTI_JOIN:
      state_of_anti_join(out, node);
      break;
    case NET_NODE_DIFFERENCE:
      text = "overlap: periods valid at the checkpoint or after";
      break;
    case NET_NODE_PRODUCT:
    case NET_NODE_JOIN:
      state_of_product(out, node);
      break;
    case NET_NODE_AGGREGATE:
      state_of_aggregate(out, node->aggregate);
      break;
    default:
      break;
  }
  if (text) base_buffer_puts(out, text);
  print_sorted(out, node);
}

/* --- text */

struct line {
  struct base_buffer inputs, what, state;
};

static void print_inputs(struct base_buffer *out, const struct ng_node *node, const char *between) {
  for (unsigned port = 0; port < node->input_count; port++) {
    base_buffer_printf(out, "%s%u", port ? between : "", node->inputs[port]->number);
  }
}

enum { WHAT_WIDTH_MAX = 56 }; /* longer ones push their state to the right */

static void explain_text(const struct ng_plan *plan, const char *title, struct base_buffer *out) {
  size_t kind_width = 0, inputs_width = 0, what_width = 0;
  struct line *lines = base_xcalloc(plan->node_count + 1, sizeof *lines);
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *node = plan->nodes[i];
    if (!ng_node_is_counted(node)) continue;
    print_inputs(&lines[i].inputs, node, " ");
    ng_explain_what(&lines[i].what, plan, node);
    ng_explain_state(&lines[i].state, node);
    size_t length = strlen(net_node_info(node->kind)->name);
    if (length > kind_width) kind_width = length;
    if (lines[i].inputs.length > inputs_width) inputs_width = lines[i].inputs.length;
    length = lines[i].what.length;
    if (length > what_width && length <= WHAT_WIDTH_MAX && lines[i].state.length)
      what_width = length;
  }
  base_buffer_printf(out, "%s\n", title);
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *node = plan->nodes[i];
    if (!ng_node_is_counted(node)) continue;
    base_buffer_printf(out, "%4u  %-*s  %-*s  ", node->number, (int)kind_width,
                       net_node_info(node->kind)->name, (int)inputs_width,
                       base_buffer_text(&lines[i].inputs));
    const char *what = base_buffer_text(&lines[i].what);
    if (lines[i].state.length)
      base_buffer_printf(out, "%-*s  [%s]", (int)what_width, what,
                         base_buffer_text(&lines[i].state));
    else
      base_buffer_puts(out, what);
    if (node->twin)
      base_buffer_printf(out, "  shared with %s.%u", node->twin->relation, node->twin->number);
    base_buffer_putc(out, '\n');
    base_buffer_done(&lines[i].inputs);
    base_buffer_done(&lines[i].what);
    base_buffer_done(&lines[i].state);
  }
  free(lines);
  size_t access = ng_plan_access_count(plan), operators = ng_plan_operator_count(plan);
  base_buffer_printf(out, "%zu access node%s, %zu operator node%s\n", access,
                     access == 1 ? "" : "s", operators, operators == 1 ? "" : "s");
}

/* --- dot, JSON */

/* TEXT inside double quotes: both formats escape the same characters (dot needs no more). */
static void print_quoted(struct base_buffer *out, const char *text, bool json) {
  base_buffer_putc(out, '"');
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if (byte == '"' || byte == '\\') {
      base_buffer_putc(out, '\\');
      base_buffer_putc(out, (char)byte);
    } else if (byte < ' ' || byte == 0x7f) {
      if (json)
        base_buffer_printf(out, "\\u%04x", byte);
      else
        base_buffer_putc(out, ' ');
    } else {
      base_buffer_putc(out, (char)byte);
    }
  }
  base_buffer_putc(out, '"');
}

/* A label over two lines: the kind, and what it does; a third one for what else does it. */
static void print_label(struct base_buffer *out, const struct ng_plan *plan,
                        const struct ng_node *node) {
  struct base_buffer what = BASE_BUFFER_EMPTY, escaped = BASE_BUFFER_EMPTY;
  ng_explain_what(&what, plan, node);
  print_quoted(&escaped, base_buffer_text(&what), false);
  base_buffer_printf(out, "\"%u %s\\n%.*s", node->number, net_node_info(node->kind)->name,
                     (int)(escaped.length - 2), base_buffer_text(&escaped) + 1);
  if (node->twin) {
    base_buffer_clear(&escaped);
    print_quoted(&escaped, node->twin->relation, false);
    base_buffer_printf(out, "\\nshared with %.*s.%u", (int)(escaped.length - 2),
                       base_buffer_text(&escaped) + 1, node->twin->number);
  }
  base_buffer_putc(out, '"');
  base_buffer_done(&what);
  base_buffer_done(&escaped);
}

static void explain_dot(const struct ng_plan *plan, const char *title, struct base_buffer *out) {
  base_buffer_puts(out, "digraph network {\n  rankdir=BT;\n  label=");
  print_quoted(out, title, false);
  base_buffer_puts(out, ";\n  node [shape=ellipse, fontname=\"sans-serif\", fontsize=11];\n");
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *node = plan->nodes[i];
    if (!ng_node_is_counted(node)) continue;
    base_buffer_printf(out, "  n%u [label=", node->number);
    print_label(out, plan, node);
    if (node->kind == NET_NODE_ACCESS) {
      base_buffer_puts(out, ", shape=box, style=filled, fillcolor=gray85");
    } else if (node->kind == NET_NODE_DISPLAY) {
      base_buffer_puts(out, ", shape=box");
    }
    if (node->twin) base_buffer_puts(out, ", color=gray60, fontcolor=gray40");
    base_buffer_puts(out, "];\n");
    for (unsigned port = 0; port < node->input_count; port++) {
      base_buffer_printf(out, "  n%u -> n%u", node->inputs[port]->number, node->number);
      if (node->input_count == 2) base_buffer_printf(out, " [label=%s]", port ? "right" : "left");
      if (node->kind == NET_NODE_ACCESS) base_buffer_puts(out, " [label=control, style=dashed]");
      base_buffer_puts(out, ";\n");
    }
  }
  base_buffer_puts(out, "}\n");
}

static void print_json_columns(struct base_buffer *out, const struct ng_node *node) {
  base_buffer_puts(out, "[");
  for (size_t i = 0; i < node->fields.count; i++) {
    const struct ng_column *column = node->fields.items[i];
    base_buffer_puts(out, i ? ", {\"name\": " : "{\"name\": ");
    print_quoted(out, column->name, true);
    base_buffer_puts(out, ", \"type\": \"");
    if (column->type.base == NET_INSTANT)
      base_buffer_puts(out, "instant");
    else
      net_type_print(out, column->type);
    base_buffer_puts(out, "\"}");
  }
  base_buffer_puts(out, "]");
}

static void print_json_node(struct base_buffer *out, const struct ng_plan *plan,
                            const struct ng_node *node) {
  struct base_buffer what = BASE_BUFFER_EMPTY;
  ng_explain_what(&what, plan, node);
  base_buffer_printf(out, "    {\"number\": %u, \"kind\": \"%s\", \"inputs\": [", node->number,
                     net_node_info(node->kind)->name);
  print_inputs(out, node, ", ");
  base_buffer_puts(out, "], \"what\": ");
  print_quoted(out, base_buffer_text(&what), true);
  base_buffer_clear(&what);
  base_buffer_printf(out, ", \"tuples\": \"%s\", \"order\": \"%s\", \"domains\": ",
                     node->stop ? "period" : "event", ng_order_name(node->order));
  print_json_columns(out, node);
  base_buffer_puts(out, ", \"state\": ");
  ng_explain_state(&what, node);
  if (what.length)
    print_quoted(out, base_buffer_text(&what), true);
  else
    base_buffer_puts(out, "null");
  base_buffer_done(&what);
  base_buffer_puts(out, ", \"shared\": ");
  if (node->twin) {
    base_buffer_puts(out, "{\"relation\": ");
    print_quoted(out, node->twin->relation, true);
    base_buffer_printf(out, ", \"number\": %u}", node->twin->number);
  } else {
    base_buffer_puts(out, "null");
  }
  base_buffer_puts(out, "}");
}

static void explain_json(const struct ng_plan *plan, const char *title, struct base_buffer *out) {
  base_buffer_puts(out, "{\n  \"title\": ");
  print_quoted(out, title, true);
  base_buffer_puts(out, ",\n  \"nodes\": [\n");
  bool first = true;
  for (size_t i = 0; i < plan->node_count; i++) {
    if (!ng_node_is_counted(plan->nodes[i])) continue;
    if (!first) base_buffer_puts(out, ",\n");
    first = false;
    print_json_node(out, plan, plan->nodes[i]);
  }
  base_buffer_printf(out, "\n  ],\n  \"access_nodes\": %zu,\n  \"operator_nodes\": %zu\n}\n",
                     ng_plan_access_count(plan), ng_plan_operator_count(plan));
}

void ng_plan_explain(const struct ng_plan *plan, enum ng_explain_format format, const char *title,
                     struct base_buffer *out) {
  switch (format) {
    case NG_EXPLAIN_TEXT:
      explain_text(plan, title, out);
      break;
    case NG_EXPLAIN_DOT:
      explain_dot(plan, title, out);
      break;
    case NG_EXPLAIN_JSON:
      explain_json(plan, title, out);
      break;
  }
}
