/* What one access node has its sensors watch; see watching.c. */
#ifndef NET_NODES_WATCHING_H
#define NET_NODES_WATCHING_H

#include "engine/control.h"

struct net_watching;

struct net_watching *net_watching_new(void);
void net_watching_free(struct net_watching *watching); /* gives all of it back */
void net_watching_add(struct net_watching *watching, struct net_control *control,
                      const struct net_watch *watch);
void net_watching_objects(struct net_watching *watching, struct net_control *control,
                          const struct net_watch *watch, const struct net_layout *in,
                          uint32_t slot);
/* Rows of the control arc. */
void net_watching_take(struct net_watching *watching, const struct net_batch *batch);
/* NULL: an access node without sensors. */
void net_watching_each(const struct net_watching *watching,
                       void (*each)(void *context, const struct net_watch *watch), void *context);
void net_watching_mark_strings(const struct net_watching *watching, struct base_strings *strings);
size_t net_watching_rows(const struct net_watching *watching);
size_t net_watching_bytes(const struct net_watching *watching);

#endif
