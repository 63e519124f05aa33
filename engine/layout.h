/* Layouts: which slot of a row is what.
 *
 * The implicit times come first: slots 0-1 (at.lo, at.hi) of an event row, slots 0-3 (start.lo,
 * start.hi, stop.lo, stop.hi) of a period row. Then the fields in order. Layouts are immutable.
 *
 * A stop whose end has not been seen is OPEN: its lo slot holds NET_OPEN and its hi slot an upper
 * bound (usually forever). An open stop means "at or after the stream's checkpoint". Only the
 * implicit stop and instant fields with OPENABLE may hold it. NET_OPEN is no time of a relation: it
 * stands next to `beginning`, which may be the lower bound of a stop like any other.               */
#ifndef NET_LAYOUT_H
#define NET_LAYOUT_H

#include <string.h>

#include "engine/base/arena.h"
#include "engine/value.h"

#define NET_OPEN (NET_EARLIEST - 1)

enum net_tuple_class { NET_EVENT, NET_PERIOD };

struct net_field {
  const char *name;
  struct net_type type;
  bool openable; /* instants only */
  uint32_t slot; /* set by net_layout_new */
  bool computed; /* on the way to a result: messages about the tuple leave it out */
  bool number;   /* by which an update knows the tuple: no part of it */
};

struct net_layout {
  enum net_tuple_class tuple_class;
  struct net_field *fields;
  uint32_t field_count;
  uint32_t slot_count;
  uint32_t first_domain_slot; /* 2 or 4 */
  bool timeless;              /* what it has holds always, and its times are not shown */
  bool may_be_open;           /* the implicit stop or an instant field may be open */
};

/* A layout in ARENA with copies of FIELDS (names too). */
struct net_layout *net_layout_new(struct base_arena *arena, enum net_tuple_class tuple_class,
                                  const struct net_field *fields, uint32_t field_count);
/* Index of the field called NAME (case-insensitive) or -1. */
int net_layout_find(const struct net_layout *layout, const char *name);

static inline struct net_instant net_row_start(const union net_slot *row) {
  return (struct net_instant){row[0].i, row[1].i};
}
static inline struct net_instant net_slot_instant(const union net_slot *row, uint32_t slot) {
  return (struct net_instant){row[slot].i, row[slot + 1].i};
}
/* An openable instant as a value: an open one is [bound, hi]. */
static inline struct net_instant net_slot_stop(const union net_slot *row, uint32_t slot,
                                               net_chronon bound) {
  if (row[slot].i != NET_OPEN) return (struct net_instant){row[slot].i, row[slot + 1].i};
  return (struct net_instant){bound < row[slot + 1].i ? bound : row[slot + 1].i, row[slot + 1].i};
}
/* Copies SLOTS slots: rows are short, and memcpy of a length that is not known is a call. */
static inline void net_row_copy(union net_slot *to, const union net_slot *from, uint32_t slots) {
  for (uint32_t i = 0; i < slots; i++) to[i] = from[i];
}
/* The same COUNT times, for rows that lie side by side or, with a SELECTION, do not. TO_WIDTH slots a row;
 * the first SLOTS of them are copied. */
static inline void net_rows_copy(union net_slot *to, uint32_t to_width, const union net_slot *from,
                                 uint32_t slots, const uint32_t *selection, uint32_t count) {
#define CASE(SLOTS)                                                                              \
  case SLOTS:                                                                                    \
    for (uint32_t i = 0; i < count; i++)                                                         \
      memcpy(to + (size_t)i * to_width, from + (size_t)(selection ? selection[i] : i) * (SLOTS), \
             (SLOTS) * sizeof *to);                                                              \
    break
  switch (slots) { /* a length that is known is a few moves */
    CASE(3);
    CASE(4);
    CASE(5);
    CASE(6);
    CASE(7);
    CASE(8);
    CASE(9);
    CASE(10);
    CASE(12);
    default:
      for (uint32_t i = 0; i < count; i++)
        net_row_copy(to + (size_t)i * to_width,
                     from + (size_t)(selection ? selection[i] : i) * slots, slots);
  }
#undef CASE
}
/* Has the row an open instant anywhere? */
bool net_row_is_open(const struct net_layout *layout, const union net_slot *row);
/* Equality and hash of all slots except openable ones: what an open and its close have in common. */
bool net_row_same_identity(const struct net_layout *layout, const union net_slot *a,
                           const union net_slot *b);
uint64_t net_row_identity_hash(const struct net_layout *layout, const union net_slot *row);
/* Of the explicit domains only. */
bool net_row_same_domains(const struct net_layout *layout, const union net_slot *a,
                          const union net_slot *b);
uint64_t net_row_domains_hash(const struct net_layout *layout, const union net_slot *row);
/* Makes the temporal values among ROW's first FIELD_COUNT fields functions of absolute time (on the real timeline of the
 * time since REFERENCE: a double has no room for more), in one form for equal ones. Those of field i count from the
 * instant at slot STARTS[i]; NULL: from the row's start. */
void net_row_make_absolute(const struct net_layout *layout, uint32_t field_count,
                           const uint32_t *starts, enum net_timeline timeline,
                           net_chronon reference, union net_slot *row);
/* One domain of two rows: <0, 0, >0. Strings by bytes; open instants as [bound, hi]; temporal values by their
 * coefficients, which is no order of theirs but always the same. */
int net_field_compare(const struct net_field *field, const struct base_strings *strings,
                      net_chronon bound, const union net_slot *a, const union net_slot *b);
/* Output order (implicit times in the order of the columns, then the domains): <0, 0, >0. Strings by
 * bytes. Open stops are compared as [bound, hi].                                                   */
int net_row_compare(const struct net_layout *layout, const struct base_strings *strings,
                    net_chronon bound, const union net_slot *a, const union net_slot *b);
/* Marks the row's strings as used (base_strings_mark). */
void net_row_mark_strings(const struct net_layout *layout, struct base_strings *strings,
                          const union net_slot *row);

#endif
