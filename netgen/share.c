/* The table behind sharing across plans (share.h): signatures are interned, and the id is the class. A
 * class of its own has a number that no id has. The table lives as long as the network.
 *
 * For explain there is a table without a network: plans of queries that stand are entered as they would be built,
 * and say of which of them a new query would take nodes. */
#include "netgen/share.h"

#include <stdlib.h>

struct ng_shared {
  struct base_strings *signatures;
  void **places; /* by class */
  size_t place_count, place_capacity;
  uint64_t own; /* how many classes of their own there are */
};

struct ng_shared *ng_shared_new(void) {
  struct ng_shared *shared = base_xcalloc(1, sizeof *shared);
  shared->signatures = base_strings_new();
  return shared;
}

void ng_shared_free(struct ng_shared *shared) {
  if (shared == NULL) return;
  base_strings_free(shared->signatures);
  free(shared->places);
  free(shared);
}

uint64_t ng_shared_class(struct ng_shared *shared, const struct base_buffer *text) {
  return base_strings_intern(shared->signatures, base_buffer_text(text), text->length);
}

uint64_t ng_shared_own_class(struct ng_shared *shared) {
  return UINT64_MAX - shared->own++;
}

void **ng_shared_place(struct ng_shared *shared, uint64_t class) {
  base_grow(&shared->places, &shared->place_capacity, (size_t) class + 1, sizeof *shared->places);
  while (shared->place_count <= class) shared->places[shared->place_count++] = NULL;
  return &shared->places[class];
}

/* --- without a network */

/* The classes of PLAN's nodes, by index, in the plan's arena. */
static uint64_t *classes_of(struct ng_plan *plan, struct ng_shared *shared, bool *ret_common) {
  uint64_t *classes = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, uint64_t);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < plan->node_count; i++) { /* inputs come before readers */
    struct ng_node *node = plan->nodes[i];
    uint64_t inputs[2] = {0, 0};
    for (unsigned port = 0; port < node->input_count; port++)
      inputs[port] = classes[ng_plan_index(plan, node->inputs[port])];
    base_buffer_clear(&text);
    ret_common[i] = ng_node_signature(&text, node, inputs);
    classes[i] = ret_common[i] ? ng_shared_class(shared, &text)
                 : node->alias ? inputs[0]
                               : ng_shared_own_class(shared);
  }
  base_buffer_done(&text);
  return classes;
}

void ng_plan_enter(struct ng_plan *plan, struct ng_shared *shared, const char *relation) {
  bool *common = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, bool);
  const uint64_t *classes = classes_of(plan, shared, common);
  for (size_t i = 0; i < plan->node_count; i++) {
    void **place = common[i] ? ng_shared_place(shared, classes[i]) : NULL;
    if (!place || *place) continue;
    struct ng_twin *twin = BASE_NEW(plan->arena, struct ng_twin);
    *twin = (struct ng_twin){relation, plan->nodes[i]->number};
    *place = twin;
  }
}

/* Marks what queries that are to be defined need, by index. */
static void mark_kept(const struct ng_plan *plan, bool *kept) {
  for (size_t i = 0; i < plan->query_count; i++) {
    if (plan->queries[i].query->name && !plan->queries[i].inner)
      kept[ng_plan_index(plan, plan->queries[i].result)] = true;
  }
  for (size_t i = plan->node_count; i-- > 0;) {
    for (unsigned port = 0; port < plan->nodes[i]->input_count && kept[i]; port++)
      kept[ng_plan_index(plan, plan->nodes[i]->inputs[port])] = true;
  }
}

/* A derived or sampled relation is read from the node that makes it, which is no twin. */
static bool has_node(const struct ng_node *node) {
  return node->kind != NET_NODE_ACCESS ||
         (node->relation->kind != NG_REL_DERIVED && node->relation->kind != NG_REL_SAMPLED);
}

void ng_plan_find_twins(struct ng_plan *plan, struct ng_shared *shared) {
  bool *common = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, bool);
  bool *kept = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, bool);
  const uint64_t *classes = classes_of(plan, shared, common);
  mark_kept(plan, kept);
  for (size_t i = 0; i < plan->node_count; i++) {
    if (common[i] && kept[i] && has_node(plan->nodes[i]))
      plan->nodes[i]->twin = *ng_shared_place(shared, classes[i]);
  }
}
