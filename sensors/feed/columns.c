/* Names of columns and what they mean.
 *
 * The table is made once per reader; a CSV header maps its fields to it, an NDJSON record its keys.
 * Records carry their columns in one order, as a rule, so a look-up is one comparison with the
 * column that stood there in the record before. */
#include "sensors/feed/columns.h"

#include "engine/base/status.h"
#include "sensors/feed/numbers.h"

static void add(struct sn_columns *columns, const char *name, enum sn_role role, uint32_t slot,
                const struct net_field *field) {
  columns->names[columns->count] = name;
  columns->items[columns->count++] = (struct sn_column){name, role, slot, field};
}

static void add_domain(struct sn_columns *columns, const struct net_field *field) {
  static const char *const parts[] = {"n0", "n1", "d0", "d1"};
  BASE_CHECK(field->type.base != NET_INSTANT, "feed-layout-has-no-instants");
  if (field->type.base != NET_TEMPORAL) {
    add(columns, field->name, SN_DOMAIN, field->slot, field);
    return;
  }
  for (uint32_t i = 0; i < 4; i++)
    add(columns, base_arena_printf(columns->arena, "%s_%s", field->name, parts[i]), SN_PART,
        field->slot + i, field);
}

void sn_columns_init(struct sn_columns *columns, const struct net_layout *layout) {
  size_t most = 7 + (size_t)layout->field_count * 4;
  *columns = (struct sn_columns){.arena = base_arena_new()};
  columns->items = BASE_NEW_ARRAY(columns->arena, most, struct sn_column);
  columns->names = BASE_NEW_ARRAY(columns->arena, most, const char *);
  columns->instants = layout->tuple_class == NET_EVENT ? 1 : 2;
  if (layout->tuple_class == NET_EVENT) {
    add(columns, "at", SN_WHOLE, 0, NULL);
    add(columns, "at_lo", SN_LO, 0, NULL);
    add(columns, "at_hi", SN_HI, 1, NULL);
  } else {
    add(columns, "start", SN_WHOLE, 0, NULL);
    add(columns, "start_lo", SN_LO, 0, NULL);
    add(columns, "start_hi", SN_HI, 1, NULL);
    add(columns, "stop", SN_STOP, 2, NULL);
    add(columns, "stop_lo", SN_STOP_LO, 2, NULL);
    add(columns, "stop_hi", SN_STOP_HI, 3, NULL);
  }
  add(columns, "definite", SN_DEFINITE, 0, NULL);
  for (uint32_t i = 0; i < layout->field_count; i++) add_domain(columns, &layout->fields[i]);
}

void sn_columns_done(struct sn_columns *columns) {
  base_arena_free(columns->arena);
}

int sn_columns_find(const struct sn_columns *columns, const char *name, size_t length,
                    size_t likely) {
  if (likely < columns->count && sn_equal_ignoring_case(name, length, columns->names[likely]))
    return (int)likely;
  for (size_t i = 0; i < columns->count; i++)
    if (sn_equal_ignoring_case(name, length, columns->names[i])) return (int)i;
  return -1;
}

bool sn_columns_any_time(const struct sn_columns *columns, const uint64_t *seen, uint64_t stamp) {
  for (size_t i = 0; i < columns->instants * 3; i++)
    if (seen[i] == stamp) return true;
  return false;
}

static enum sn_lack check_instant(const struct sn_columns *columns, size_t first,
                                  const uint64_t *seen, uint64_t stamp, bool optional,
                                  const char **ret) {
  bool whole = seen[first] == stamp, lo = seen[first + 1] == stamp, hi = seen[first + 2] == stamp;
  *ret = columns->names[first];
  if (whole) return lo || hi ? SN_TWICE : SN_COMPLETE;
  if (lo && hi) return SN_COMPLETE;
  if (lo || hi) {
    *ret = columns->names[first + (lo ? 2 : 1)];
    return SN_MISSING;
  }
  return optional ? SN_COMPLETE : SN_MISSING;
}

enum sn_lack sn_columns_check(const struct sn_columns *columns, const uint64_t *seen,
                              uint64_t stamp, bool timeless, bool stop_optional, const char **ret) {
  if (!timeless || sn_columns_any_time(columns, seen, stamp))
    for (size_t i = 0; i < columns->instants; i++) {
      enum sn_lack lack = check_instant(columns, i * 3, seen, stamp, i == 1 && stop_optional, ret);
      if (lack != SN_COMPLETE) return lack;
    }
  for (size_t i = columns->instants * 3 + 1; i < columns->count; i++)
    if (seen[i] != stamp) {
      *ret = columns->names[i];
      return SN_MISSING;
    }
  return SN_COMPLETE;
}
