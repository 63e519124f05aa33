/* Signatures: what a node does, as text without names, so that equal nodes have equal texts. */
#ifndef NG_SIGNATURE_H
#define NG_SIGNATURE_H

#include "netgen/plan.h"

/* Prints the outline of NODE, its signature but for the fields of access nodes and products, and notes in it
 * whether its inputs are exchanged in both. The outlines of its inputs are those of the classes CLASSES[port].
 * False: the node is not to be one with any other (what it did to OUT does not count). */
bool ng_node_outline(struct base_buffer *out, struct ng_node *node, const uint64_t *classes);
/* Prints the signature of NODE, which has been asked for its outline, as have those below; its inputs' rows are
 * those of the classes CLASSES[port]. False: as above. */
bool ng_node_signature(struct base_buffer *out, const struct ng_node *node,
                       const uint64_t *classes);
/* Prints where COLUMN of NODE's rows comes from, without names: in nodes of one signature what has one place has
 * the same values. NODE has been asked for its outline. */
void ng_node_place(struct base_buffer *out, const struct ng_node *node,
                   const struct ng_column *column);
/* Can NODE report an error of a row? Such a node stays that of its own query: errors name it. */
bool ng_node_can_fail(const struct ng_node *node);

#endif
