/* What is built already in one network, by signature: plans that are built one after the other into the
 * network share equal subnetworks.
 *
 * A class is a number for rows: nodes of one class have the same rows. */
#ifndef NG_SHARE_H
#define NG_SHARE_H

#include "netgen/signature.h"

/* The class of nodes with signature TEXT in the network that SHARED belongs to. */
uint64_t ng_shared_class(struct ng_shared *shared, const struct base_buffer *text);
/* A class of its own. */
uint64_t ng_shared_own_class(struct ng_shared *shared);
/* A node that other plans may take. */
struct ng_offer {
  void *what; /* the builder's, or that of ng_plan_enter */
  uint64_t class;
  const char **places; /* of its fields */
  size_t field_count;
  struct ng_offer *next; /* of the same outline */
};

/* The offer of NODE, of CLASS, which is WHAT; in ARENA. */
struct ng_offer *ng_offer_new(struct base_arena *arena, const struct ng_node *node, uint64_t class,
                              void *what);
/* Which field of OFFER is field FIELD of NODE, of the same class or outline; its count of fields: none. */
size_t ng_offer_field(const struct ng_offer *offer, const struct ng_node *node, size_t field);

/* The classes of PLAN's nodes by their outlines, by index; in ARENA. Nodes know then whether they are turned. */
uint64_t *ng_shared_outlines(struct ng_shared *shared, const struct ng_plan *plan,
                             struct base_arena *arena);
/* The first offer for product NODE, of the outline OUTLINE, that has all its fields, or NULL. Where something in PLAN
 * can fail there is none: messages show rows as they are. */
const struct ng_offer *ng_shared_wider(struct ng_shared *shared, const struct ng_plan *plan,
                                       const struct ng_node *node, uint64_t outline);
/* Enters OFFER for product NODE of the outline OUTLINE. */
void ng_shared_offer(struct ng_shared *shared, const struct ng_node *node, uint64_t outline,
                     struct ng_offer *offer);

/* What is kept of CLASS, by the builder or by ng_plan_enter; NULL at first. Of classes made by ng_shared_class
 * only. */
void **ng_shared_place(struct ng_shared *shared, uint64_t class);

#endif
