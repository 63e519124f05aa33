/* What an access node that is built tells its sensors; see build_control.c. */
#ifndef NG_BUILD_CONTROL_H
#define NG_BUILD_CONTROL_H

#include "engine/control.h"
#include "netgen/plan.h"

/* ACCESS, built for NODE or shared with it, has CONTROL's sensor watch what NODE asks for. Of a control arc
 * it takes rows of IN, with the object at SLOT; IN is NULL where NODE has none, or ACCESS has it already. */
void ng_watch(const struct ng_inputs *inputs, struct base_arena *arena, const struct ng_node *node,
              struct net_node *access, struct net_control *control, const struct net_layout *in,
              uint32_t slot);

/* A node in NETWORK, of a trigger arc of rows of IN, that has samples taken for NODE; SLOTS: where the values of
 * node->triggers are. */
struct net_node *ng_watch_trigger(struct net_network *network, struct base_arena *arena,
                                  const struct ng_node *node, const char *name,
                                  struct net_control *control, const struct net_layout *in,
                                  const uint32_t *slots);

#endif
