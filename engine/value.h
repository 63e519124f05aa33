/* Types, slots and values.
 *
 * A row is an array of 8-byte slots. Integers, floats, booleans, interned strings, bytes and names take one
 * slot, an instant two (lo, hi), a temporal value four (n0, n1, d0, d1).                            */
#ifndef NET_VALUE_H
#define NET_VALUE_H

#include <stdint.h>

#include "engine/base/strings.h"
#include "engine/interval.h"
#include "engine/time.h"

enum net_base_type {
  NET_INTEGER,  /* 64 bits; WIDTH 1, 2, 4, 8: what may be stored */
  NET_FLOAT,    /* IEEE double; WIDTH 4 or 8 */
  NET_STRING,   /* interned; WIDTH: maximum in code points, 0 for text */
  NET_BOOL,     /* 0 or 1 */
  NET_NAME,     /* an entity, interned as type:minor#epoch@host */
  NET_TEMPORAL, /* a ratio of two linear functions of time: four slots, doubles */
  NET_INSTANT,  /* the times of a participant inside a combination: two slots */
  NET_BYTES, /* any bytes, interned as strings are; behind the others, whose numbers stand in files */
};

/* What an integer, or a float, stands for: how it is read, shown and may be calculated with. */
enum net_quantity {
  NET_NUMBER,
  NET_POINT,  /* integer: an instant, in chronons as those of tuples */
  NET_LENGTH, /* a length of time, in chronons */
};

struct net_type {
  enum net_base_type base;
  uint32_t width;
  enum net_quantity quantity;
};

union net_slot {
  int64_t i;
  double f;
  base_string_id s;
};

/* (n0 + n1 tau) / (d0 + d1 tau), tau = t - start.lo of its own tuple, in seconds on the real timeline
 * and chronons on the abstract one. Never with d0 = d1 = 0; d's sign is normalised; proportional
 * forms are reduced to (c 0 1 0).                                                                  */
struct net_temporal {
  double n0, n1, d0, d1;
};

/* Slots that a value of BASE takes. */
static inline uint32_t net_type_slots(enum net_base_type base) {
  return base == NET_TEMPORAL ? 4 : base == NET_INSTANT ? 2 : 1;
}

/* Is what a slot of BASE holds the id of an interned string? */
static inline bool net_type_is_interned(enum net_base_type base) {
  return base == NET_STRING || base == NET_NAME || base == NET_BYTES;
}

/* "i4", "c20", "text", "temporal": static or in a small ring? No: appended to OUT. */
void net_type_print(struct base_buffer *out, struct net_type type);
/* Reads i1 i2 i4 i8 f4 f8 cN text bytes bool name temporal instant duration, and fduration, a mean of those
 * (case-insensitive). False: no such type. */
bool net_type_parse(const char *text, struct net_type *ret);

/* What is wrong with a value of TYPE that is to be stored, or NULL: integer out of the width's range,
 * float not finite or out of f4's range, string of more than WIDTH code points or not UTF-8, name not
 * of the form type:minor#epoch or type:minor#epoch@host.
 * The text is static, e.g. "out of the range of i2".                                              */
const char *net_value_check(const struct base_strings *strings, struct net_type type,
                            union net_slot slot);
/* ... of one that comes from outside: nor is a text with the character NUL taken, at which whoever reads the table with SQL
 * would see it end. Files that older programs wrote may have some. */
const char *net_value_check_entry(const struct base_strings *strings, struct net_type type,
                                  union net_slot slot);

/* As the canonical form, but a linear function keeps its denominator: nothing of it is rounded. */
struct net_temporal net_temporal_settled(struct net_temporal value);
/* The canonical form: sign of the denominator, (c 0 1 0) for constants, no negative zero. */
struct net_temporal net_temporal_normal(struct net_temporal value);
void net_temporal_normalise(struct net_temporal *value); /* the same, where it lies */
/* A quotient in the scale that stands for all of its proportional forms, exactly: its coefficients have no common odd
 * factor, and its slopes, which stay as they are when the origin moves, are integers that are not both even. Other
 * functions have one normal form, and are as they are. What an expression gives a tuple is in this form; averages over
 * time have D1 = 1. */
struct net_temporal net_temporal_shortest(struct net_temporal value);
/* The same function of absolute time with its origin moved by DELTA (seconds or chronons). */
struct net_temporal net_temporal_rebase(struct net_temporal value, double delta);
bool net_temporal_equal(struct net_temporal a,
                        struct net_temporal b); /* same origin, normal forms */

/* The time from FROM to TO in the unit of temporal values; never overflows. */
double net_units_between(enum net_timeline timeline, net_chronon from, net_chronon to);
#endif
