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
/* What is kept of CLASS, by the builder or by ng_plan_enter; NULL at first. Of classes made by ng_shared_class
 * only. */
void **ng_shared_place(struct ng_shared *shared, uint64_t class);

#endif
