/* Layouts: building them, and what can be said of a row when its layout is known.
 *
 * Identity leaves out the openable slots, because the row that opens a period and the one that
 * closes it must be found to be the same. Equality of temporal values is that of functions, so that a
 * relation is a set whatever the scale a value was computed in; their hash is one of ratios, which
 * round alike for all scales. Floats are compared as numbers.
 *
 * The order of rows is that of the columns of the outside form, number by number: two temporal values
 * that are equal as functions but written differently are apart in it. Sets are decided by
 * net_row_same_domains and net_row_same_identity, never by the order.                              */
#include "engine/layout.h"

#include <string.h>

#include "engine/base/env.h"
#include "engine/base/status.h"

struct net_layout *net_layout_new(struct base_arena *arena, enum net_tuple_class tuple_class,
                                  const struct net_field *fields, uint32_t field_count) {
  struct net_layout *layout = BASE_NEW(arena, struct net_layout);
  layout->tuple_class = tuple_class;
  layout->first_domain_slot = tuple_class == NET_PERIOD ? 4 : 2;
  layout->may_be_open = tuple_class == NET_PERIOD;
  layout->fields = BASE_NEW_ARRAY(arena, field_count, struct net_field);
  layout->field_count = field_count;
  layout->slot_count = layout->first_domain_slot;
  for (uint32_t i = 0; i < field_count; i++) {
    struct net_field *field = &layout->fields[i];
    BASE_CHECK(!fields[i].openable || fields[i].type.base == NET_INSTANT, "layout-openable");
    *field = fields[i];
    field->name = base_arena_strdup(arena, fields[i].name);
    field->slot = layout->slot_count;
    layout->slot_count += net_type_slots(field->type.base);
    if (field->openable) layout->may_be_open = true;
  }
  return layout;
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_name(const char *a, const char *b) {
  while (*a != '\0' && lower(*a) == lower(*b)) {
    a++;
    b++;
  }
  return lower(*a) == lower(*b);
}

int net_layout_find(const struct net_layout *layout, const char *name) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (same_name(layout->fields[i].name, name)) return (int)i;
  }
  return -1;
}

bool net_row_is_open(const struct net_layout *layout, const union net_slot *row) {
  if (!layout->may_be_open) return false;
  if (layout->tuple_class == NET_PERIOD && row[2].i == NET_OPEN) return true;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (layout->fields[i].openable && row[layout->fields[i].slot].i == NET_OPEN) return true;
  }
  return false;
}

/* --- temporal values of absolute time */

void net_row_make_absolute(const struct net_layout *layout, uint32_t field_count,
                           const uint32_t *starts, enum net_timeline timeline,
                           net_chronon reference, union net_slot *row) {
  bool real = timeline == NET_TIMELINE_REAL;
  for (uint32_t i = 0; i < field_count; i++) {
    if (layout->fields[i].type.base != NET_TEMPORAL) continue;
    union net_slot *slots = row + layout->fields[i].slot;
    net_chronon start = row[starts != NULL ? starts[i] : 0].i;
    double since = (double)((long double)start - (real ? (long double)reference : 0));
    struct net_temporal value = {slots[0].f, slots[1].f, slots[2].f, slots[3].f};
    value = net_temporal_shortest(net_temporal_rebase(value, real ? -since / 1e9 : -since));
    slots[0].f = value.n0;
    slots[1].f = value.n1;
    slots[2].f = value.d0;
    slots[3].f = value.d1;
  }
}

/* --- equality and hash */

static struct net_temporal slot_temporal(const union net_slot *row, uint32_t slot) {
  return (struct net_temporal){row[slot].f, row[slot + 1].f, row[slot + 2].f, row[slot + 3].f};
}

static bool same_field(const struct net_field *field, const union net_slot *a,
                       const union net_slot *b) {
  uint32_t slot = field->slot;
  switch (field->type.base) {
    case NET_FLOAT:
      return a[slot].f == b[slot].f;
    case NET_STRING:
    case NET_BYTES:
    case NET_NAME:
      return a[slot].s == b[slot].s;
    case NET_TEMPORAL:
      return net_temporal_equal(slot_temporal(a, slot), slot_temporal(b, slot));
    case NET_INSTANT:
      return a[slot].i == b[slot].i && a[slot + 1].i == b[slot + 1].i;
    case NET_INTEGER:
    case NET_BOOL:
      break;
  }
  return a[slot].i == b[slot].i;
}

static bool is_instant(const struct net_field *field) {
  return field->type.base == NET_INSTANT;
}

bool net_row_same_domains(const struct net_layout *layout, const union net_slot *a,
                          const union net_slot *b) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (!is_instant(&layout->fields[i]) && !same_field(&layout->fields[i], a, b)) return false;
  }
  return true;
}

bool net_row_same_identity(const struct net_layout *layout, const union net_slot *a,
                           const union net_slot *b) {
  if (a[0].i != b[0].i || a[1].i != b[1].i) return false;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (!layout->fields[i].openable && !same_field(&layout->fields[i], a, b)) return false;
  }
  return true;
}

static uint64_t hash_integer(int64_t value, uint64_t hash) {
  return base_hash_u64((uint64_t)value, hash);
}

static uint64_t hash_double(double value, uint64_t hash) {
  union net_slot slot = {.f = value + 0.0}; /* -0 equals 0 */
  return hash_integer(slot.i, hash);
}

/* Proportional quadruples have the same ratios, and equal ratios round to equal doubles. */
static uint64_t hash_temporal(struct net_temporal value, uint64_t hash) {
  double scale = value.d0 != 0 ? value.d0 : value.d1;
  hash = hash_double(value.n0 / scale, hash);
  hash = hash_double(value.n1 / scale, hash);
  return hash_double(value.d1 / scale, hash);
}

static uint64_t hash_field(const struct net_field *field, const union net_slot *row,
                           uint64_t hash) {
  uint32_t slot = field->slot;
  switch (field->type.base) {
    case NET_FLOAT:
      return hash_double(row[slot].f, hash);
    case NET_STRING:
    case NET_BYTES:
    case NET_NAME:
      return base_hash_u64(row[slot].s, hash);
    case NET_TEMPORAL:
      return hash_temporal(slot_temporal(row, slot), hash);
    case NET_INSTANT:
      return hash_integer(row[slot + 1].i, hash_integer(row[slot].i, hash));
    case NET_INTEGER:
    case NET_BOOL:
      break;
  }
  return hash_integer(row[slot].i, hash);
}

uint64_t net_row_domains_hash(const struct net_layout *layout, const union net_slot *row) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (!is_instant(&layout->fields[i])) hash = hash_field(&layout->fields[i], row, hash);
  }
  return hash;
}

uint64_t net_row_identity_hash(const struct net_layout *layout, const union net_slot *row) {
  uint64_t hash = hash_integer(row[1].i, hash_integer(row[0].i, 0));
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (!layout->fields[i].openable) hash = hash_field(&layout->fields[i], row, hash);
  }
  return hash;
}

/* --- order */

static int order_integers(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

static int order_doubles(double a, double b) {
  return (a > b) - (a < b);
}

static int order_instants(struct net_instant a, struct net_instant b) {
  int order = order_integers(a.lo, b.lo);
  return order != 0 ? order : order_integers(a.hi, b.hi);
}

int net_field_compare(const struct net_field *field, const struct base_strings *strings,
                      net_chronon bound, const union net_slot *a, const union net_slot *b) {
  uint32_t slot = field->slot;
  int order = 0;
  switch (field->type.base) {
    case NET_FLOAT:
      return order_doubles(a[slot].f, b[slot].f);
    case NET_STRING:
    case NET_BYTES:
    case NET_NAME:
      return a[slot].s == b[slot].s ? 0 : base_strings_compare(strings, a[slot].s, b[slot].s);
    case NET_TEMPORAL:
      for (uint32_t i = 0; i < 4 && order == 0; i++) {
        order = order_doubles(a[slot + i].f, b[slot + i].f);
      }
      return order;
    case NET_INSTANT:
      if (field->openable) {
        return order_instants(net_slot_stop(a, slot, bound), net_slot_stop(b, slot, bound));
      }
      return order_instants(net_slot_instant(a, slot), net_slot_instant(b, slot));
    case NET_INTEGER:
    case NET_BOOL:
      break;
  }
  return order_integers(a[slot].i, b[slot].i);
}

int net_row_compare(const struct net_layout *layout, const struct base_strings *strings,
                    net_chronon bound, const union net_slot *a, const union net_slot *b) {
  int order = order_instants(net_row_start(a), net_row_start(b));
  if (order == 0 && layout->tuple_class == NET_PERIOD) {
    order = order_instants(net_slot_stop(a, 2, bound), net_slot_stop(b, 2, bound));
  }
  for (uint32_t i = 0; i < layout->field_count && order == 0; i++) {
    order = net_field_compare(&layout->fields[i], strings, bound, a, b);
  }
  return order;
}

void net_row_mark_strings(const struct net_layout *layout, struct base_strings *strings,
                          const union net_slot *row) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    enum net_base_type base = layout->fields[i].type.base;
    if (net_type_is_interned(base)) {
      base_strings_mark(strings, row[layout->fields[i].slot].s);
    }
  }
}
