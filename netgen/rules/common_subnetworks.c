/* Common subnetworks (thesis 7.2.1: common subexpression elimination): nodes of one kind with the same
 * parameters and the same inputs are one node with several readers, within a statement and across the
 * statements of a plan.
 *
 *      product                          product
 *      /     \                          /     \
 *  selection  selection            selection  selection
 *    A.k = 1    B.k = 2      ==>     A.k = 1    B.k = 2
 *      |          |                     \      /
 *  access A    access B                  access
 *
 * Access nodes to one relation are the same if they read it in the same form; the one that stays has the
 * domains that any of them had, and products have what they had. So a relation is read once. Other nodes
 * are equal by their signatures (signature.c), products also with their inputs exchanged. The rows are the very
 * same, and a relation is a set in any case; the ids of open rows are those of one arc, which several readers may have.
 *
 * Where a reader is not shared itself, an alias gives it the columns that it knows, under its own names.
 * A combination of several tuples that only part of its readers share stays twice: what lies above reads
 * the times of all that takes part in it. What can report an error is not shared: the error names the
 * statement.
 *
 * This is the last rule: those before it change nodes with one reader only. */
#include "netgen/budget.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "netgen/signature.h"
#include "netgen/rules/rules.h"

/* --- access nodes */

static bool is_reading(const struct ng_node *node) {
  return node->kind == NET_NODE_ACCESS && !node->alias && !node->single_row;
}

static bool reads_the_same(const struct ng_node *a, const struct ng_node *b) {
  return is_reading(b) && a->relation == b->relation && a->form == b->form &&
         a->starts_only == b->starts_only && a->unasked == b->unasked;
}

/* Products keep the fields that they have, whatever comes to be below. */
static void fix_products(struct ng_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (!ng_node_is_product(node) || node->keep) continue;
    node->keep_count = plan->column_count;
    node->keep = BASE_NEW_ARRAY(plan->arena, node->keep_count, bool);
    for (size_t k = 0; k < node->fields.count; k++) node->keep[node->fields.items[k]->id] = true;
  }
}

static bool keeps(const struct ng_node *access, const struct ng_column *column) {
  return !access->keep || (column->id < access->keep_count && access->keep[column->id]);
}

/* Gives ACCESS the domains that OTHER has of the same relation. An access node for times only has no
 * columns for domains, and is given them. */
static void widen(struct ng_plan *plan, struct ng_node *access, const struct ng_node *other) {
  if (access->own.count < other->own.count) {
    for (size_t i = access->own.count; i < other->own.count; i++) {
      const struct ng_column *column = other->own.items[i];
      ng_columns_add(plan->arena, &access->own,
                     ng_column_new(plan, column->name, column->type, column->openable));
    }
    access->keep = BASE_NEW_ARRAY(plan->arena, 1, bool);
    access->keep_count = 0;
    access->times_only = false;
  }
  bool *keep = BASE_NEW_ARRAY(plan->arena, plan->column_count, bool);
  for (size_t i = 0; i < access->own.count; i++) {
    const struct ng_column *column = access->own.items[i];
    keep[column->id] =
        keeps(access, column) || (i < other->own.count && keeps(other, other->own.items[i]));
  }
  access->keep = keep;
  access->keep_count = plan->column_count;
}

static void widen_all(struct ng_plan *plan) {
  bool fixed = false;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *first = plan->nodes[i];
    if (!is_reading(first)) continue;
    for (size_t j = i + 1; j < plan->node_count; j++) {
      struct ng_node *other = plan->nodes[j];
      if (!reads_the_same(first, other)) continue;
      if (!fixed) fix_products(plan);
      fixed = true;
      widen(plan, first, other);
      widen(plan, other, first);
    }
  }
  if (fixed) ng_plan_refresh(plan);
}

/* --- classes */

struct sharing {
  struct ng_plan *plan;
  size_t *first; /* by index into plan->nodes: the node that stands for it */
  bool *never;   /* stays as it is */
};

static size_t index_of(const struct sharing *sharing, const struct ng_node *node) {
  return ng_plan_index(sharing->plan, node);
}

static size_t first_of(const struct sharing *sharing, const struct ng_node *node) {
  return sharing->first[index_of(sharing, node)];
}

struct class {
  base_string_id signature;
  size_t node;
};

enum {
  SIGNED_BETWEEN = 1 << 16
}; /* bytes, times four, before it is asked whether planning is to go on */

static size_t find_class(struct class *classes, size_t *count, base_string_id signature,
                         size_t node) {
  for (size_t i = 0; i < *count; i++) {
    if (classes[i].signature == signature) return classes[i].node;
  }
  classes[(*count)++] = (struct class){signature, node};
  return node;
}

static void find_equal(struct sharing *sharing) {
  const struct ng_plan *plan = sharing->plan;
  struct base_strings *signatures = base_strings_new();
  struct class *classes = base_xcalloc(plan->node_count + 1, sizeof *classes);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  size_t count = 0, steps = 0;
  bool spent = false;
  for (size_t i = 0; i < plan->node_count && !spent; i++) { /* inputs come before readers */
    struct ng_node *node = plan->nodes[i];
    uint64_t inputs[2] = {0, 0};
    for (unsigned port = 0; port < node->input_count; port++)
      inputs[port] = first_of(sharing, node->inputs[port]);
    sharing->first[i] = node->alias ? (size_t)inputs[0] : i;
    if (node->alias || sharing->never[i]) continue;
    base_buffer_clear(&text);
    if (!ng_node_outline(&text, node, inputs)) continue;
    base_buffer_clear(&text);
    ng_node_signature(&text, node, inputs);
    base_string_id signature =
        base_strings_intern(signatures, base_buffer_text(&text), text.length);
    sharing->first[i] = find_class(classes, &count, signature, i);
    steps += 4 * text.length + count;
    if (steps < SIGNED_BETWEEN) continue;
    plan->budget->steps += steps;
    steps = 0;
    spent = ng_plan_is_spent(plan);
  }
  base_buffer_done(&text);
  free(classes);
  base_strings_free(signatures);
  ng_plan_work(plan, steps);
  if (spent) ng_plan_look(plan);
  BASE_CHECK(!spent, "left-when-spent");
}

static bool is_own(const struct sharing *sharing, const struct ng_node *node) {
  return node->alias || first_of(sharing, node) == index_of(sharing, node);
}

/* A combination is shared with all that reads it, or not at all; *RET_CHANGED: one is not. */
static bool leave_combinations(struct sharing *sharing) {
  bool changed = false;
  for (size_t i = 0; i < sharing->plan->node_count; i++) {
    const struct ng_node *reader = sharing->plan->nodes[i];
    if (!is_own(sharing, reader)) continue;
    for (unsigned port = 0; port < reader->input_count; port++) {
      const struct ng_node *input = reader->inputs[port];
      size_t index = index_of(sharing, input);
      if (!ng_node_is_combination(input) || is_own(sharing, input)) continue;
      sharing->never[index] = changed = true;
    }
  }
  return changed;
}

/* --- the change */

/* The field of NODE that has the place of FIRST's field INDEX. */
static const struct ng_column *counterpart(const struct ng_node *node, const struct ng_node *first,
                                           size_t index) {
  struct base_buffer wanted = BASE_BUFFER_EMPTY, place = BASE_BUFFER_EMPTY;
  const struct ng_column *found = NULL;
  ng_node_place(&wanted, first, first->fields.items[index]);
  for (size_t i = 0; i < node->fields.count && !found; i++) {
    base_buffer_clear(&place);
    ng_node_place(&place, node, node->fields.items[i]);
    if (strcmp(base_buffer_text(&place), base_buffer_text(&wanted)) == 0)
      found = node->fields.items[i];
  }
  base_buffer_done(&wanted);
  base_buffer_done(&place);
  BASE_CHECK(found, "shared-field");
  return found;
}

/* NODE's columns for the rows of FIRST, whose fields may come in another order. */
static struct ng_node *alias_of(struct ng_plan *plan, const struct ng_node *node,
                                struct ng_node *first) {
  struct ng_node *alias = ng_node_new(plan, NET_NODE_ACCESS, first, NULL);
  alias->alias = true;
  alias->variable = node->variable;
  alias->relation = node->relation;
  alias->own_start = node->start;
  alias->own_stop = node->stop;
  for (size_t i = 0; i < first->fields.count; i++)
    ng_columns_add(plan->arena, &alias->own, counterpart(node, first, i));
  ng_node_refresh(plan, alias);
  return alias;
}

/* The variable under whose name FIRST is read as well. */
static void note_name(struct ng_plan *plan, struct ng_node *first, const struct ng_node *node) {
  if (first->kind != NET_NODE_ACCESS ||
      strcasecmp(first->variable->name, node->variable->name) == 0)
    return;
  for (size_t i = 0; i < first->also_count; i++) {
    if (strcasecmp(first->also[i], node->variable->name) == 0) return;
  }
  first->also = ng_grown(plan->arena, first->also, first->also_count, &first->also_capacity,
                         sizeof *first->also);
  first->also[first->also_count++] = node->variable->name;
}

static void share(struct sharing *sharing) {
  struct ng_plan *plan = sharing->plan;
  struct ng_node **alias = BASE_NEW_ARRAY(plan->arena, plan->node_count, struct ng_node *);
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *reader = plan->nodes[i];
    if (!is_own(sharing, reader)) continue;
    for (unsigned port = 0; port < reader->input_count; port++) {
      size_t input = index_of(sharing, reader->inputs[port]), first = sharing->first[input];
      if (first == input) continue;
      if (reader->alias || plan->nodes[input]->alias) {
        struct ng_node *renaming = reader->alias ? reader : plan->nodes[input];
        renaming->inputs[0] = plan->nodes[first];
        continue;
      }
      if (!alias[input]) alias[input] = alias_of(plan, plan->nodes[input], plan->nodes[first]);
      reader->inputs[port] = alias[input];
    }
  }
  for (size_t q = 0; q < plan->query_count; q++) {
    if (plan->queries[q].inner) continue;
    size_t result = index_of(sharing, plan->queries[q].result);
    if (sharing->first[result] == result || plan->nodes[result]->alias) continue;
    if (!alias[result])
      alias[result] = alias_of(plan, plan->nodes[result], plan->nodes[sharing->first[result]]);
    plan->queries[q].result = alias[result];
  }
}

void ng_rule_common_subnetworks(struct ng_plan *plan) {
  widen_all(plan);
  struct sharing sharing = {.plan = plan};
  sharing.first = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, size_t);
  sharing.never = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, bool);
  do {
    find_equal(&sharing);
  } while (leave_combinations(&sharing));
  size_t access = 0, operators = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *node = plan->nodes[i];
    if (node->alias || sharing.first[i] == i) continue;
    note_name(plan, plan->nodes[sharing.first[i]], node);
    access += node->kind == NET_NODE_ACCESS;
    operators += node->kind != NET_NODE_ACCESS;
  }
  if (access + operators == 0) return;
  share(&sharing);
  ng_plan_refresh(plan);
  if (access)
    ng_rule_changed(plan, NG_RULE_COMMON_SUBNETWORKS, access, "%zu access node%s shared", access,
                    access == 1 ? "" : "s");
  if (operators)
    ng_rule_changed(plan, NG_RULE_COMMON_SUBNETWORKS, operators, "%zu operator node%s shared",
                    operators, operators == 1 ? "" : "s");
}
