/* sort by, limit, offset of a result, by the words of the manual: each pair is compared, each row counted. */
#include <string.h>
#include <strings.h>

#include "tests/oracle/judge.h"

struct rows {
  const struct tql_order *order;
  const struct net_layout *layout;
  const struct base_strings *strings;
};

static int of_bytes(const struct base_strings *strings, base_string_id a, base_string_id b) {
  size_t a_length, b_length;
  const char *x = base_strings_text(strings, a, &a_length);
  const char *y = base_strings_text(strings, b, &b_length);
  int order = memcmp(x, y, a_length < b_length ? a_length : b_length);
  if (order != 0 || a_length == b_length) return order;
  return a_length < b_length ? -1 : 1;
}

static int of_integers(const union net_slot *a, const union net_slot *b, uint32_t slot) {
  return a[slot].i < b[slot].i ? -1 : a[slot].i > b[slot].i;
}

static int of_fields(const struct rows *rows, uint32_t field, const union net_slot *a,
                     const union net_slot *b) {
  const struct net_field *of = &rows->layout->fields[field];
  if (net_type_is_interned(of->type.base))
    return of_bytes(rows->strings, a[of->slot].s, b[of->slot].s);
  return of_integers(a, b, of->slot);
}

static int of_times(const union net_slot *a, const union net_slot *b, uint32_t first,
                    uint32_t count) {
  int order = 0;
  for (uint32_t i = first; i < first + count && order == 0; i++) order = of_integers(a, b, i);
  return order;
}

/* The generator names elements alone. The number of fields: there is none of that name. */
static uint32_t field_of(const struct rows *rows, const struct tql_sort_key *key) {
  uint32_t field = 0;
  while (field < rows->layout->field_count &&
         strcasecmp(rows->layout->fields[field].name, key->name.text) != 0)
    field++;
  return field;
}

static bool are_there(const struct rows *rows, const struct tql_sort_key *keys, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (keys[i].kind == TQL_SORT_ELEMENT && field_of(rows, &keys[i]) == rows->layout->field_count)
      return false;
  return true;
}

static int by_key(const struct rows *rows, const struct tql_sort_key *key, const union net_slot *a,
                  const union net_slot *b) {
  if (key->kind == TQL_SORT_STOP) return of_times(a, b, 2, 2);
  if (key->kind != TQL_SORT_ELEMENT) return of_times(a, b, 0, 2);
  return of_fields(rows, field_of(rows, key), a, b);
}

static int by_all(const struct rows *rows, const union net_slot *a, const union net_slot *b) {
  int order = 0;
  for (size_t i = 0; i < rows->order->key_count && order == 0; i++) {
    const struct tql_sort_key *key = &rows->order->keys[i];
    order = key->descending ? by_key(rows, key, b, a) : by_key(rows, key, a, b);
  }
  if (rows->order->key_count == 0) return of_times(a, b, 0, rows->layout->first_domain_slot);
  for (uint32_t i = 0; i < rows->layout->field_count && order == 0; i++)
    order = of_fields(rows, i, a, b);
  return order != 0 ? order : of_times(a, b, 0, rows->layout->first_domain_slot);
}

/* Without keys: the order in which results are shown. */
static int compare(const struct rows *rows, const union net_slot *a, const union net_slot *b) {
  int order = by_all(rows, a, b);
  for (uint32_t i = 0; i < rows->layout->field_count && order == 0; i++)
    order = of_fields(rows, i, a, b);
  return order;
}

static bool same_group(const struct rows *rows, const union net_slot *a, const union net_slot *b) {
  for (size_t i = 0; i < rows->order->group_count; i++)
    if (by_key(rows, &rows->order->groups[i], a, b) != 0) return false;
  return true;
}

bool oracle_is_ordered(const struct net_layout *layout) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    enum net_base_type base = layout->fields[i].type.base;
    if (base == NET_FLOAT || base == NET_TEMPORAL || base == NET_INSTANT) return false;
  }
  return true;
}

bool oracle_order(struct oracle_relation *relation, const struct base_strings *strings,
                  const struct tql_order *order) {
  struct rows rows = {order, relation->layout, strings};
  if (!are_there(&rows, order->keys, order->key_count)) return false;
  if (!are_there(&rows, order->groups, order->group_count)) return false;
  struct oracle_tuple *tuples = relation->tuples;
  for (size_t i = 0; i < relation->count; i++)
    for (size_t j = i + 1; j < relation->count; j++) {
      if (compare(&rows, tuples[i].row, tuples[j].row) <= 0) continue;
      struct oracle_tuple tuple = tuples[i];
      tuples[i] = tuples[j];
      tuples[j] = tuple;
    }
  size_t kept = 0;
  for (size_t i = 0; i < relation->count; i++) {
    int64_t before = 0;
    for (size_t j = 0; j < kept; j++) before += same_group(&rows, tuples[j].row, tuples[i].row);
    if (order->group_limit < 0 || before < order->group_limit) tuples[kept++] = tuples[i];
  }
  size_t first = order->offset > 0 ? (size_t)order->offset : 0, shown = 0;
  for (size_t i = first; i < kept; i++)
    if (order->limit < 0 || (int64_t)shown < order->limit) tuples[shown++] = tuples[i];
  relation->count = shown;
  return true;
}
