/* What of a relation an access node wants: bounds of its times and values of its domains, as far as
 * constants say them. It is a permission, never a duty: rows that break it may be left out, because a
 * selection above is certainly false for them; rows that come nevertheless do no harm.
 *
 * The bounds are those of instants that may be uncertain, so a row that perhaps counts is always wanted:
 * an instant [lo, hi] can lie at or after T if hi >= T, and at or before T if lo <= T. An open stop is as
 * late as its upper bound says and as early as need be.
 *
 * Stores leave such rows unread (store.h), sensors leave such records unmade (control.h). Nothing here
 * owns memory: values and names live in the arena that the caller gives. */
#ifndef NET_WANTED_H
#define NET_WANTED_H

#include "engine/layout.h"

/* One domain's values: one of VALUES, or, if they are not LISTED, an integer from MIN to MAX. */
struct net_wanted_domain {
  const char *name; /* in the relation */
  struct net_type type;
  bool listed;
  const union net_slot *values; /* each once */
  const bool
      *patterns;  /* of each value, whether it is a pattern (pattern.h); NULL: none is. Only sensors
                         * are told of patterns: net_wanted_row knows nothing of them */
  uint32_t count; /* listed and 0: no row is wanted */
  int64_t min, max;
};

struct net_wanted {
  net_chronon start_hi_min, start_lo_max; /* of an event: its instant */
  net_chronon stop_hi_min, stop_lo_max;
  const struct net_wanted_domain *domains;
  uint32_t domain_count;
};

/* Everything. */
#define NET_WANTED_ALL                                \
  ((struct net_wanted){.start_hi_min = NET_BEGINNING, \
                       .start_lo_max = NET_FOREVER,   \
                       .stop_hi_min = NET_BEGINNING,  \
                       .stop_lo_max = NET_FOREVER})
bool net_wanted_is_all(const struct net_wanted *wanted);

/* Only rows that domain NAME has VALUE in; that it has a value from MIN to MAX in. */
struct net_wanted net_wanted_value(struct base_arena *arena, const char *name, struct net_type type,
                                   union net_slot value);
struct net_wanted net_wanted_between(struct base_arena *arena, const char *name,
                                     struct net_type type, int64_t min, int64_t max);
/* ... that matches PATTERN in, a string or a name. */
struct net_wanted net_wanted_pattern(struct base_arena *arena, const char *name,
                                     struct net_type type, base_string_id pattern);
/* What both want; what either wants, and perhaps more. */
struct net_wanted net_wanted_both(struct base_arena *arena, const struct net_wanted *a,
                                  const struct net_wanted *b);
struct net_wanted net_wanted_either(struct base_arena *arena, const struct net_wanted *a,
                                    const struct net_wanted *b);
struct net_wanted net_wanted_copy(struct base_arena *arena, const struct net_wanted *wanted);
void net_wanted_mark_strings(const struct net_wanted *wanted, struct base_strings *strings);
/* What is said of domain NAME (case-insensitive); NULL: nothing. */
const struct net_wanted_domain *net_wanted_find(const struct net_wanted *wanted, const char *name);

/* WANTED, asked of rows of one layout. */
struct net_wanted_test {
  const struct net_wanted *wanted;
  bool period;
  bool times;      /* something is said of them */
  uint32_t *slots; /* of each domain */
};
/* LAYOUT has all the domains. */
void net_wanted_test_init(struct net_wanted_test *test, struct base_arena *arena,
                          const struct net_wanted *wanted, const struct net_layout *layout);
bool net_wanted_row(const struct net_wanted_test *test, const union net_slot *row);
/* Of COUNT rows of SLOTS slots each, those that are wanted, into SELECTION; how many there are. */
uint32_t net_wanted_select(const struct net_wanted_test *test, const union net_slot *rows,
                           uint32_t slots, uint32_t count, uint32_t *selection);

#endif
