/* Time zones: what a clock on the wall shows, and when it shows what.
 *
 * A zone is its rules, not an offset: those of a TZif file (RFC 8536: /etc/localtime, /usr/share/zoneinfo), and
 * behind its last change the rule at its end; or a rule alone, as TZ may hold it ("CET-1CEST,M3.5.0,M10.5.0/3").
 * Seconds count from 1970 in UTC; local seconds are what the clock shows, counted alike. NULL is UTC.        */
#ifndef NET_ZONE_H
#define NET_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net_zone;

/* One thread at a time asks a zone, since it remembers. The rules in BYTES, which are copied. NULL: they are none (also files that count leap seconds). The caller
 * holds it. */
struct net_zone *net_zone_read(const void *bytes, size_t length);
/* That of the process: TZ, else /etc/localtime. NULL: UTC. The caller holds it. */
struct net_zone *net_zone_local(void);
/* What it is called, as net_zone_named takes it: "Europe/Berlin", or its rule; NULL is called UTC. NULL: nobody knows. */
const char *net_zone_name(const struct net_zone *zone);
/* The zone NAME, of the zone database or a rule, for as long as the process lasts; *RET NULL: UTC. False: there is none. */
bool net_zone_named(const char *name, struct net_zone **ret);
/* A name under which net_zone_named has a zone with the rules of ZONE, from now on. */
const char *net_zone_enter(struct net_zone *zone);
/* What it was read from: as long as ZONE is held. NULL is accepted: "". */
const void *net_zone_bytes(const struct net_zone *zone, size_t *ret_length);
/* One more who holds it; one less. NULL is accepted. */
struct net_zone *net_zone_hold(struct net_zone *zone);
void net_zone_release(struct net_zone *zone);

/* How far the clock is ahead of UTC. */
int64_t net_zone_offset(const struct net_zone *zone, int64_t utc);

/* When does the clock show LOCAL? Never (0: it was put forward over it), once (1), or more than once (2: it was put
 * back): the first and the last time in RET. Of one that is never shown both are when the clock was put forward. */
int net_zone_when(struct net_zone *zone, int64_t local, int64_t ret[2]);

#endif
