/* Control: what access nodes tell the sensors that bring their records (thesis 6.3, 7.1.1). Tuples flow up
 * the network, control flows down:
 *
 *      query 1 ──▶ access ──┐  watches   ┌─────────────┐  each once   ┌────────┐
 *                           ├───────────▶│ net_control │─────────────▶│ sensor │──▶ records
 *      query 2 ──▶ access ──┘            └─────────────┘              └────────┘
 *
 * A *watch* says of one relation which objects are to be watched, and how. The control counts who holds
 * it: a sensor hears of it when the first comes and when the last has gone. A record is wanted if any watch
 * that the sensor has heard of asks for it; what it brings besides does no harm, the network's selections
 * stay. A sensor implements struct net_sensor (ingest.h).
 *
 * While a control is *held* nothing is said to the sensor; when it is let go, what has changed in the end.
 * So a network that is built anew, and asks for the same, disturbs nothing. What is new is said before what
 * is over. */
#ifndef NET_CONTROL_H
#define NET_CONTROL_H

#include "engine/ingest.h"

struct net_control;
struct net_control_entry;
struct net_triggers;

struct net_control *net_control_new(struct net_sensor *sensor);
/* Nobody holds a watch any more. */
void net_control_free(struct net_control *control);
/* WATCH is copied; whoever enables it gives the entry back once. */
struct net_control_entry *net_control_enable(struct net_control *control,
                                             const struct net_watch *watch);
void net_control_disable(struct net_control *control, struct net_control_entry *entry);
/* Pairs, which may be nested. */
void net_control_hold(struct net_control *control);
void net_control_release(struct net_control *control);
const struct net_watch *net_control_watch(const struct net_control_entry *entry);
/* What has samples taken; it goes with CONTROL. */
struct net_triggers *net_control_triggers(struct net_control *control);
/* How many watches there are; calls EACH with each of them and how many hold it. */
size_t net_control_count(const struct net_control *control);
void net_control_each(const struct net_control *control,
                      void (*each)(void *context, const struct net_watch *watch, size_t holders),
                      void *context);

#endif
