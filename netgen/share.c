/* The table behind sharing across plans (share.h): signatures are interned, and the id is the class. A
 * class of its own has a number that no id has. The table lives as long as the network.
 *
 * Products that carry different domains of equal inputs are not one, as what is read of them differs; but one that
 * has more fields than another wants has that one's rows. So products are offered by their outlines, too, and who finds
 * such an offer needs nothing of what is below. Which of two queries was defined first decides: what runs
 * gets no further domains.
 *
 * For explain there is a table without a network: plans of queries that stand are entered as they would be built,
 * and say of which of them a new query would take nodes. */
#include "netgen/share.h"

#include <stdlib.h>
#include <string.h>

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

/* --- offers */

struct ng_offer *ng_offer_new(struct base_arena *arena, const struct ng_node *node, uint64_t class,
                              void *what) {
  struct ng_offer *offer = BASE_NEW(arena, struct ng_offer);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  *offer = (struct ng_offer){.what = what, .class = class, .field_count = node->fields.count};
  offer->places = BASE_NEW_ARRAY(arena, offer->field_count, const char *);
  for (size_t i = 0; i < offer->field_count; i++) {
    base_buffer_clear(&text);
    ng_node_place(&text, node, node->fields.items[i]);
    offer->places[i] = base_arena_strdup(arena, base_buffer_text(&text));
  }
  base_buffer_done(&text);
  return offer;
}

size_t ng_offer_field(const struct ng_offer *offer, const struct ng_node *node, size_t field) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  size_t i = 0;
  ng_node_place(&text, node, node->fields.items[field]);
  while (i < offer->field_count && strcmp(offer->places[i], base_buffer_text(&text)) != 0) i++;
  base_buffer_done(&text);
  return i;
}

static bool has_all(const struct ng_offer *offer, const struct ng_node *node) {
  for (size_t i = 0; i < node->fields.count; i++)
    if (ng_offer_field(offer, node, i) == offer->field_count) return false;
  return true;
}

uint64_t *ng_shared_outlines(struct ng_shared *shared, const struct ng_plan *plan,
                             struct base_arena *arena) {
  uint64_t *outlines = BASE_NEW_ARRAY(arena, plan->node_count + 1, uint64_t);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < plan->node_count; i++) { /* inputs come before readers */
    struct ng_node *node = plan->nodes[i];
    uint64_t inputs[2] = {0, 0};
    for (unsigned port = 0; port < node->input_count; port++)
      inputs[port] = outlines[ng_plan_index(plan, node->inputs[port])];
    base_buffer_clear(&text);
    base_buffer_puts(&text, "outline ");
    outlines[i] = ng_node_outline(&text, node, inputs) ? ng_shared_class(shared, &text)
                  : node->alias                        ? inputs[0]
                                                       : ng_shared_own_class(shared);
  }
  base_buffer_done(&text);
  return outlines;
}

static bool is_common(const struct ng_shared *shared, const struct ng_node *node,
                      uint64_t outline) {
  bool product = node->kind == NET_NODE_PRODUCT || node->kind == NET_NODE_JOIN;
  return product && !node->alias && outline <= UINT64_MAX - shared->own;
}

const struct ng_offer *ng_shared_wider(struct ng_shared *shared, const struct ng_plan *plan,
                                       const struct ng_node *node, uint64_t outline) {
  if (!is_common(shared, node, outline) || ng_plan_can_fail(plan)) return NULL;
  const struct ng_offer *offer = *ng_shared_place(shared, outline);
  while (offer && !has_all(offer, node)) offer = offer->next;
  return offer;
}

void ng_shared_offer(struct ng_shared *shared, const struct ng_node *node, uint64_t outline,
                     struct ng_offer *offer) {
  if (!is_common(shared, node, outline)) return;
  void **last = ng_shared_place(shared, outline);
  while (*last) last = (void **)&((struct ng_offer *)*last)->next;
  *last = offer;
}

/* --- without a network */

/* Finds for each of PLAN's nodes who does the same, by index, in the plan's arena; enters those that nobody does as
 * RELATION's, unless that is NULL. */
static const struct ng_twin **twins_of(struct ng_plan *plan, struct ng_shared *shared,
                                       const char *relation) {
  const struct ng_twin **twins =
      BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, const struct ng_twin *);
  const uint64_t *outlines = ng_shared_outlines(shared, plan, plan->arena);
  uint64_t *classes = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, uint64_t);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < plan->node_count; i++) { /* inputs come before readers */
    struct ng_node *node = plan->nodes[i];
    uint64_t inputs[2] = {0, 0};
    for (unsigned port = 0; port < node->input_count; port++)
      inputs[port] = classes[ng_plan_index(plan, node->inputs[port])];
    const struct ng_offer *wider = ng_shared_wider(shared, plan, node, outlines[i]);
    base_buffer_clear(&text);
    bool common = ng_node_signature(&text, node, inputs);
    classes[i] = wider         ? wider->class
                 : common      ? ng_shared_class(shared, &text)
                 : node->alias ? inputs[0]
                               : ng_shared_own_class(shared);
    if (!common) continue;
    struct ng_offer *made = *ng_shared_place(shared, classes[i]);
    if (!made && relation) {
      struct ng_twin *twin = BASE_NEW(plan->arena, struct ng_twin);
      *twin = (struct ng_twin){relation, node->number};
      made = ng_offer_new(plan->arena, node, classes[i], twin);
      ng_shared_offer(shared, node, outlines[i], made);
      *ng_shared_place(shared, classes[i]) = made;
    }
    if (made) twins[i] = made->what;
  }
  base_buffer_done(&text);
  return twins;
}

void ng_plan_enter(struct ng_plan *plan, struct ng_shared *shared, const char *relation) {
  twins_of(plan, shared, relation);
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

/* A derived or sampled relation is read from the node that makes it, which is no twin; an alias is none by itself, and
 * the one row of a query without variables is its own. */
static bool has_node(const struct ng_node *node) {
  if (node->alias || node->single_row) return false;
  return node->kind != NET_NODE_ACCESS ||
         (node->relation->kind != NG_REL_DERIVED && node->relation->kind != NG_REL_SAMPLED);
}

void ng_plan_find_twins(struct ng_plan *plan, struct ng_shared *shared) {
  bool *kept = BASE_NEW_ARRAY(plan->arena, plan->node_count + 1, bool);
  const struct ng_twin **twins = twins_of(plan, shared, NULL);
  mark_kept(plan, kept);
  for (size_t i = 0; i < plan->node_count; i++)
    if (kept[i] && has_node(plan->nodes[i])) plan->nodes[i]->twin = twins[i];
}
