/* A filter: a condition on the values of one record, that whoever makes or carries records can ask before anybody
 * else sees them (thesis 7.2.5). It says of domains by their names how they compare with constants,
 *
 *      (x > 5 or y = "a") and z != 0            clauses, all of which hold; in each, one of its atoms
 *
 * and travels as bytes: equal bytes, equal filters. Like what is wanted (wanted.h) it is a permission, never a duty:
 * a record that breaks it may be left out, as selections above are false for it for sure; one that comes
 * nevertheless does no harm.
 *
 * `and` and `or` of filters are exact, as long as they stay small; else they say less. Nothing here owns memory: what
 * is made lives in the arena that the caller gives. */
#ifndef NET_FILTER_H
#define NET_FILTER_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/value.h"

enum net_filter_test {
  NET_FILTER_EQ,
  NET_FILTER_NE,
  NET_FILTER_LT,
  NET_FILTER_LE,
  NET_FILTER_GT,
  NET_FILTER_GE,
  NET_FILTER_MATCHES, /* the pattern TEXT (pattern.h) */
  NET_FILTER_MATCHES_NOT,
  NET_FILTER_TESTS
};

/* A value of a record or of a constant. */
struct net_filter_value {
  enum net_base_type base; /* NET_INTEGER, NET_FLOAT or NET_STRING */
  int64_t integer;
  double real;
  const char *text;
  uint32_t length;
};

struct net_filter_atom {
  const char *domain;
  enum net_filter_test test;
  struct net_filter_value value;
};

struct net_filter_clause {
  const struct net_filter_atom *atoms;
  uint32_t count; /* 0: it never holds */
};

struct net_filter {
  const struct net_filter_clause *clauses;
  uint32_t count;
};

/* What every record passes. */
#define NET_FILTER_ALL ((struct net_filter){NULL, 0})

/* What no record passes. */
struct net_filter net_filter_none(struct base_arena *arena);
bool net_filter_is_none(struct net_filter filter);
struct net_filter net_filter_one(struct base_arena *arena, struct net_filter_atom atom);
struct net_filter net_filter_both(struct base_arena *arena, struct net_filter a,
                                  struct net_filter b);
struct net_filter net_filter_either(struct base_arena *arena, struct net_filter a,
                                    struct net_filter b);
/* The test that holds of what TEST does not hold of. */
enum net_filter_test net_filter_not(enum net_filter_test test);

/* Does ATOM hold of VALUE? Of another type than the constant's, it does: nothing is known. So of a float that is
 * no number. */
bool net_filter_holds(const struct net_filter_atom *atom, const struct net_filter_value *value);

/* As bytes, appended to OUT. Nothing for NET_FILTER_ALL. */
void net_filter_put(struct base_buffer *out, struct net_filter filter);
/* Of bytes, which anybody may have sent; false: they are none. Texts are copied. */
bool net_filter_get(struct base_arena *arena, const char *bytes, size_t length,
                    struct net_filter *ret);
/* For people: Bytes > 1000 and (Kind = "a" or Kind = "b"). */
void net_filter_print(struct base_buffer *out, struct net_filter filter);

#endif
