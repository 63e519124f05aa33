/* Literal relations: sets of rows, traced records as periods, comparing and printing rows. */
#include <math.h>
#include <string.h>

#include "tests/oracle/oracle_internal.h"

void oracle_add(struct base_arena *arena, struct oracle_relation *relation,
                const union net_slot *row, bool definite) {
  if (relation->count == relation->capacity) {
    size_t capacity = relation->capacity ? relation->capacity * 2 : 8;
    struct oracle_tuple *tuples = BASE_NEW_ARRAY(arena, capacity, struct oracle_tuple);
    if (relation->count) memcpy(tuples, relation->tuples, relation->count * sizeof *tuples);
    relation->tuples = tuples;
    relation->capacity = capacity;
  }
  struct oracle_tuple *tuple = &relation->tuples[relation->count++];
  tuple->row = BASE_NEW_ARRAY(arena, relation->layout->slot_count, union net_slot);
  memcpy(tuple->row, row, relation->layout->slot_count * sizeof *row);
  tuple->definite = definite;
}

static struct oracle_function stored_function(const union net_slot *slots) {
  return (struct oracle_function){slots[0].f, slots[1].f, slots[2].f, slots[3].f};
}

static bool same_value(struct net_type type, const union net_slot *a, const union net_slot *b) {
  if (type.base == NET_TEMPORAL)
    return oracle_same_function(stored_function(a), stored_function(b));
  if (type.base == NET_FLOAT) return a->f == b->f;
  return a->i == b->i;
}

static bool equal_rows(const struct net_layout *layout, const union net_slot *a,
                       const union net_slot *b) {
  for (uint32_t i = 0; i < layout->first_domain_slot; i++)
    if (a[i].i != b[i].i) return false;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    uint32_t slot = layout->fields[i].slot;
    if (!same_value(layout->fields[i].type, a + slot, b + slot)) return false;
  }
  return true;
}

void oracle_make_set(struct oracle_relation *relation) {
  size_t kept = 0;
  for (size_t i = 0; i < relation->count; i++) {
    struct oracle_tuple tuple = relation->tuples[i];
    size_t j = 0;
    while (j < kept && !equal_rows(relation->layout, relation->tuples[j].row, tuple.row)) j++;
    if (j == kept)
      relation->tuples[kept++] = tuple;
    else
      relation->tuples[j].definite = relation->tuples[j].definite || tuple.definite;
  }
  relation->count = kept;
}

/* The record that closes record I: the earliest later one of its entity; -1: none. */
static long closing_record(const struct oracle_relation *records, size_t i, uint32_t by_slot) {
  long found = -1;
  for (size_t j = 0; j < records->count; j++) {
    const union net_slot *row = records->tuples[j].row;
    if (row[by_slot].i != records->tuples[i].row[by_slot].i) continue;
    if (row[0].i <= records->tuples[i].row[0].i) continue;
    if (found < 0 || row[0].i < records->tuples[found].row[0].i) found = (long)j;
  }
  return found;
}

/* Of several records of one entity at one time the last counts. */
static bool replaced_at_once(const struct oracle_relation *records, size_t i, uint32_t by_slot) {
  for (size_t j = i + 1; j < records->count; j++)
    if (records->tuples[j].row[by_slot].i == records->tuples[i].row[by_slot].i &&
        records->tuples[j].row[0].i == records->tuples[i].row[0].i)
      return true;
  return false;
}

void oracle_periods(struct base_arena *arena, const struct oracle_relation *records, int by,
                    const struct net_layout *layout, struct oracle_relation *ret) {
  *ret = (struct oracle_relation){.layout = layout};
  uint32_t by_slot = records->layout->fields[by].slot;
  union net_slot *row = BASE_NEW_ARRAY(arena, layout->slot_count, union net_slot);
  for (size_t i = 0; i < records->count; i++) {
    if (replaced_at_once(records, i, by_slot)) continue;
    const union net_slot *record = records->tuples[i].row;
    long closing = closing_record(records, i, by_slot);
    row[0].i = row[1].i = record[0].i;
    row[2].i = row[3].i = closing < 0 ? NET_FOREVER : records->tuples[closing].row[0].i;
    memcpy(row + layout->first_domain_slot, record + records->layout->first_domain_slot,
           (layout->slot_count - layout->first_domain_slot) * sizeof *row);
    oracle_add(arena, ret, row, true);
  }
}

static void print_value(struct base_buffer *out, const struct base_strings *strings,
                        struct net_type type, const union net_slot *slot) {
  switch (type.base) {
    case NET_FLOAT:
      base_buffer_double(out, slot->f);
      return;
    case NET_BOOL:
      base_buffer_puts(out, slot->i ? "true" : "false");
      return;
    case NET_STRING:
    case NET_NAME:
      base_buffer_puts(out, base_strings_text(strings, slot->s, NULL));
      return;
    case NET_TEMPORAL:
      for (int i = 0; i < 4; i++) {
        if (i) base_buffer_putc(out, ',');
        base_buffer_double(out, slot[i].f);
      }
      return;
    case NET_INTEGER:
    case NET_INSTANT:
      base_buffer_int(out, slot->i);
      return;
  }
}

void oracle_print_row(struct base_buffer *out, const struct net_layout *layout,
                      const struct base_strings *strings, const union net_slot *row,
                      bool definite) {
  for (uint32_t i = 0; i < layout->first_domain_slot; i++) {
    net_time_print_raw(out, row[i].i);
    base_buffer_putc(out, ',');
  }
  base_buffer_puts(out, definite ? "true" : "false");
  for (uint32_t i = 0; i < layout->field_count; i++) {
    base_buffer_putc(out, ',');
    print_value(out, strings, layout->fields[i].type, row + layout->fields[i].slot);
  }
}

static bool close_numbers(double a, double b) {
  double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
  return fabs(a - b) <= 1e-12 * (size > 1 ? size : 1);
}

static bool same_string(const struct base_strings *strings_a, base_string_id a,
                        const struct base_strings *strings_b, base_string_id b) {
  size_t length_a, length_b;
  const char *text_a = base_strings_text(strings_a, a, &length_a);
  const char *text_b = base_strings_text(strings_b, b, &length_b);
  return length_a == length_b && memcmp(text_a, text_b, length_a) == 0;
}

bool oracle_same_row(const struct net_layout *layout, const struct base_strings *strings_a,
                     const union net_slot *a, const struct base_strings *strings_b,
                     const union net_slot *b) {
  for (uint32_t i = 0; i < layout->first_domain_slot; i++)
    if (a[i].i != b[i].i) return false;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const union net_slot *x = a + layout->fields[i].slot, *y = b + layout->fields[i].slot;
    switch (layout->fields[i].type.base) {
      case NET_FLOAT:
        if (!close_numbers(x->f, y->f)) return false;
        break;
      case NET_STRING:
      case NET_NAME:
        if (!same_string(strings_a, x->s, strings_b, y->s)) return false;
        break;
      case NET_TEMPORAL:
        if (!oracle_same_function(stored_function(x), stored_function(y))) return false;
        break;
      default:
        if (x->i != y->i) return false;
    }
  }
  return true;
}
