/* Triggers: tuples that have samples taken (thesis 6.3, the trigger arc of access nodes).
 *
 *      rows of trigger nodes ──▶ net_trigger ──▶ [ each once ] ──net_triggers_tell──▶ sensor
 *
 * What is asked for in one turn is asked once of each relation and objects: one sample answers all tuples that came
 * before it was taken. What a network reads of the store when it is built has been there before, and asks for
 * nothing, unless it is later than all of that. Tuples and questions are counted by relation. */
#ifndef NET_TRIGGERS_H
#define NET_TRIGGERS_H

#include "engine/ingest.h"

struct net_triggers;

struct net_triggers *net_triggers_new(struct net_sensor *sensor);
void net_triggers_free(struct net_triggers *triggers);
/* A tuple that happened at AT at the latest asks for a sample of WATCH, which is copied. Its strings need be good until
 * net_triggers_tell. */
void net_trigger(struct net_triggers *triggers, const struct net_watch *watch, net_chronon at);
/* What comes until net_triggers_live is read of the store; tuples from before NEW_FROM have been told. */
void net_triggers_replay(struct net_triggers *triggers, net_chronon new_from);
void net_triggers_live(struct net_triggers *triggers);
/* Tells the sensor what was asked for since the last time. */
void net_triggers_tell(struct net_triggers *triggers);
/* Calls EACH with each relation that was asked for: by how many TUPLES, and how often the sensor was ASKED. */
void net_triggers_each(const struct net_triggers *triggers,
                       void (*each)(void *context, const char *relation, uint64_t tuples,
                                    uint64_t asked),
                       void *context);
void net_triggers_mark_strings(const struct net_triggers *triggers, struct base_strings *strings);

#endif
