/* Watches by what they say; a copy that stays. */
#ifndef NET_WATCH_H
#define NET_WATCH_H

#include "engine/base/arena.h"
#include "engine/ingest.h"

uint64_t net_watch_hash(const struct net_watch *watch);
bool net_watch_same(const struct net_watch *a, const struct net_watch *b);
/* *RET is as WATCH, all that it points to in ARENA. */
void net_watch_copy(struct base_arena *arena, const struct net_watch *watch, struct net_watch *ret);

#endif
