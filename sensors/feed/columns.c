/* Names of columns and what they mean.
 *
 * The table is made once per reader; a CSV header maps its fields to it, an NDJSON record its keys.
 * Records carry their columns in one order, as a rule, so a look-up is one comparison with the
 * column that stood there in the record before. */
#include "sensors/feed/columns.h"

#include <string.h>

#include "engine/base/status.h"
#include "sensors/feed/numbers.h"

static void add(struct sn_columns *columns, const char *name, enum sn_role role, uint32_t slot,
                const struct net_field *field) {
  columns->names[columns->count] = name;
  columns->items[columns->count++] =
      (struct sn_column){.name = name, .role = role, .slot = slot, .field = field};
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

/* Both have their values from one column of the file. */
static bool same_origin(const struct sn_column *a, const struct sn_column *b) {
  return a->number == b->number && strcmp(a->name, b->name) == 0;
}

/* Those with one origin, one behind the other. */
static void chain(struct sn_columns *columns) {
  for (size_t i = 0; i < columns->count; i++)
    for (size_t k = i + 1; k < columns->count; k++)
      if (same_origin(&columns->items[i], &columns->items[k])) {
        columns->items[i].next = &columns->items[k];
        columns->items[k].follows = true;
        break;
      }
}

void sn_columns_map(struct sn_columns *columns, const struct net_layout *layout,
                    const struct sn_form *form) {
  struct sn_columns own;
  sn_columns_init(&own, layout);
  *columns = (struct sn_columns){.arena = base_arena_new(), .mapped = true};
  columns->items = BASE_NEW_ARRAY(columns->arena, form->mapping_count, struct sn_column);
  columns->names = BASE_NEW_ARRAY(columns->arena, form->mapping_count, const char *);
  columns->count = form->mapping_count;
  for (size_t i = 0; i < columns->count; i++) {
    const struct sn_mapping *mapping = &form->mappings[i];
    struct sn_column *column = &columns->items[i];
    int target = sn_columns_find(&own, mapping->target, strlen(mapping->target), i);
    BASE_CHECK(target >= 0, "feed-mapping-has-target");
    *column = own.items[target];
    if (mapping->relative != SN_ITSELF) column->role = SN_LENGTH;
    column->before = mapping->relative == SN_BEFORE;
    column->form = mapping->form;
    column->like = mapping->like;
    column->otherwise = mapping->otherwise;
    column->number = mapping->column != NULL ? 0 : mapping->number;
    column->name = mapping->column != NULL
                       ? mapping->column
                       : base_arena_printf(columns->arena, "column %u", mapping->number);
    columns->names[i] = column->name;
  }
  chain(columns);
  sn_columns_done(&own);
}

void sn_columns_done(struct sn_columns *columns) {
  base_arena_free(columns->arena);
}

static int find_mapped(const struct sn_columns *columns, const char *name, size_t length,
                       size_t likely) {
  int loosely = -1;
  for (size_t step = 0; step <= columns->count; step++) {
    size_t i = step == 0 ? likely : step - 1;
    if (i >= columns->count) continue;
    const struct sn_column *column = &columns->items[i];
    if (column->follows || column->number != 0) continue;
    if (sn_equal(name, length, column->name)) return (int)i;
    if (loosely < 0 && sn_equal_ignoring_case(name, length, column->name)) loosely = (int)i;
  }
  return loosely;
}

int sn_columns_find(const struct sn_columns *columns, const char *name, size_t length,
                    size_t likely) {
  if (columns->mapped) return find_mapped(columns, name, length, likely);
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

bool sn_columns_any_mapped_time(const struct sn_columns *columns) {
  for (size_t i = 0; i < columns->count; i++)
    if (columns->items[i].role < SN_DEFINITE || columns->items[i].role == SN_LENGTH) return true;
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
