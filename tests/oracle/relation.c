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

/* Are A and B of one entity: do they have the same values wherever ENTITY says? */
static bool same_entity(const struct oracle_relation *records, const struct net_key *entity,
                        const union net_slot *a, const union net_slot *b) {
  for (size_t i = 0; i < entity->count; i++) {
    const struct net_field *field = &records->layout->fields[entity->fields[i]];
    if (!same_value(field->type, a + field->slot, b + field->slot)) return false;
  }
  return true;
}

/* The record that closes record I: the earliest later one of its entity; -1: none. */
static long closing_record(const struct oracle_relation *records, size_t i,
                           const struct net_key *entity) {
  long found = -1;
  for (size_t j = 0; j < records->count; j++) {
    const union net_slot *row = records->tuples[j].row;
    if (!same_entity(records, entity, row, records->tuples[i].row)) continue;
    if (row[0].i <= records->tuples[i].row[0].i) continue;
    if (found < 0 || row[0].i < records->tuples[found].row[0].i) found = (long)j;
  }
  return found;
}

/* Of several records of one entity at one time the last counts. */
static bool replaced_at_once(const struct oracle_relation *records, size_t i,
                             const struct net_key *entity) {
  for (size_t j = i + 1; j < records->count; j++)
    if (same_entity(records, entity, records->tuples[j].row, records->tuples[i].row) &&
        records->tuples[j].row[0].i == records->tuples[i].row[0].i)
      return true;
  return false;
}

void oracle_periods(struct base_arena *arena, const struct oracle_relation *records,
                    const struct net_key *entity, const struct net_layout *layout,
                    struct oracle_relation *ret) {
  *ret = (struct oracle_relation){.layout = layout};
  union net_slot *row = BASE_NEW_ARRAY(arena, layout->slot_count, union net_slot);
  for (size_t i = 0; i < records->count; i++) {
    if (replaced_at_once(records, i, entity)) continue;
    const union net_slot *record = records->tuples[i].row;
    long closing = closing_record(records, i, entity);
    row[0].i = row[1].i = record[0].i;
    row[2].i = row[3].i = closing < 0 ? NET_FOREVER : records->tuples[closing].row[0].i;
    memcpy(row + layout->first_domain_slot, record + records->layout->first_domain_slot,
           (layout->slot_count - layout->first_domain_slot) * sizeof *row);
    oracle_add(arena, ret, row, true);
  }
}

/* --- losses */

/* The first chronon behind AFTER and before BEFORE at which a record of ROW's process may have been lost, or
 * BEFORE. */
static net_chronon lost_at(const struct oracle_losses *losses, const struct net_layout *layout,
                           const union net_slot *row, net_chronon after, net_chronon before) {
  net_chronon first = before;
  for (size_t i = 0; i < losses->count; i++) {
    const struct oracle_loss *loss = &losses->items[i];
    bool apart = !loss->anybody && losses->process >= 0;
    if (apart && row[layout->fields[losses->process].slot].s != loss->process) continue;
    net_chronon at = loss->from > after ? loss->from : after + 1;
    if (at < loss->to && at < first) first = at;
  }
  return first;
}

void oracle_lose(struct base_arena *arena, const struct oracle_relation *periods,
                 const struct oracle_losses *losses, struct oracle_relation *ret) {
  *ret = (struct oracle_relation){.layout = periods->layout};
  for (size_t i = 0; i < periods->count; i++) {
    oracle_add(arena, ret, periods->tuples[i].row, periods->tuples[i].definite);
    union net_slot *row = ret->tuples[i].row;
    net_chronon at = lost_at(losses, ret->layout, row, row[0].i, row[3].i);
    if (at < row[2].i) row[2].i = at;
  }
}

/* --- sampled relations */

static bool same_sample(const struct oracle_relation *records, size_t i, size_t j) {
  const union net_slot *a = records->tuples[i].row, *b = records->tuples[j].row;
  for (uint32_t k = 0; k < records->layout->field_count; k++) {
    uint32_t slot = records->layout->fields[k].slot;
    if (!same_value(records->layout->fields[k].type, a + slot, b + slot)) return false;
  }
  return true;
}

/* The sample of the same entity next to sample I: the latest before or the earliest after; -1: none. */
static long neighbour(const struct oracle_relation *records, size_t i, const struct net_key *entity,
                      bool after) {
  long found = -1;
  const union net_slot *own = records->tuples[i].row;
  for (size_t j = 0; j < records->count; j++) {
    const union net_slot *row = records->tuples[j].row;
    if (!same_entity(records, entity, row, own) || replaced_at_once(records, j, entity)) continue;
    if (after ? row[0].i <= own[0].i : row[0].i >= own[0].i) continue;
    if (found >= 0) {
      net_chronon best = records->tuples[found].row[0].i;
      if (after ? row[0].i >= best : row[0].i <= best) continue;
    }
    found = (long)j;
  }
  return found;
}

/* Do samples I and J, the one next to the other, say of the time between them that nothing changed? */
static bool joined(const struct oracle_relation *records, const struct oracle_losses *losses,
                   size_t i, size_t j) {
  const union net_slot *a = records->tuples[i].row, *b = records->tuples[j].row;
  return same_sample(records, i, j) &&
         lost_at(losses, records->layout, a, a[0].i, b[0].i) == b[0].i;
}

void oracle_samples(struct base_arena *arena, const struct oracle_relation *records,
                    const struct net_key *entity, const struct oracle_losses *losses,
                    const struct net_layout *layout, struct oracle_relation *ret) {
  *ret = (struct oracle_relation){.layout = layout};
  union net_slot *row = BASE_NEW_ARRAY(arena, layout->slot_count, union net_slot);
  for (size_t i = 0; i < records->count; i++) {
    if (replaced_at_once(records, i, entity)) continue;
    long before = neighbour(records, i, entity, false), after, last = (long)i;
    if (before >= 0 && joined(records, losses, (size_t)before, i)) continue; /* not the first */
    while ((after = neighbour(records, (size_t)last, entity, true)) >= 0 &&
           joined(records, losses, (size_t)last, (size_t)after))
      last = after;
    const union net_slot *record = records->tuples[i].row;
    row[0].i = before < 0 ? NET_BEGINNING : records->tuples[before].row[0].i + 1;
    row[1].i = record[0].i;
    row[2].i = records->tuples[last].row[0].i + 1;
    row[3].i = after < 0 ? NET_FOREVER : records->tuples[after].row[0].i;
    memcpy(row + layout->first_domain_slot, record + records->layout->first_domain_slot,
           (layout->slot_count - layout->first_domain_slot) * sizeof *row);
    oracle_add(arena, ret, row, true);
  }
}

/* --- credibility 0: instants collapse to their middles, omega tuples are left out */

static net_chronon middle(net_chronon lo, net_chronon hi) {
  if (hi == NET_FOREVER) return hi;
  if (lo == NET_BEGINNING) return lo;
  return (net_chronon)(lo + (net_chronon)(((uint64_t)hi - (uint64_t)lo) / 2));
}

struct oracle_relation oracle_collapsed(struct oracle *oracle,
                                        const struct oracle_relation *input) {
  const struct net_layout *layout = input->layout;
  struct oracle_relation result = {.layout = layout};
  for (size_t i = 0; i < input->count; i++) {
    if (!input->tuples[i].definite) continue;
    oracle_add(oracle->arena, &result, input->tuples[i].row, true);
    union net_slot *row = result.tuples[result.count - 1].row;
    net_chronon start = row[0].i;
    for (uint32_t j = 0; j < layout->first_domain_slot; j += 2) {
      if (row[j].i == NET_BEGINNING && row[j + 1].i == NET_FOREVER) continue;
      row[j].i = row[j + 1].i = middle(row[j].i, row[j + 1].i);
    }
    oracle_rebase_row(oracle, layout, row, start, row[0].i);
    if (layout->tuple_class == NET_PERIOD && row[0].i >= row[2].i) result.count--;
  }
  oracle_make_set(&result);
  return result;
}

/* --- temporal domains */

void oracle_rebase_row(const struct oracle *oracle, const struct net_layout *layout,
                       union net_slot *row, net_chronon from, net_chronon to) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (layout->fields[i].type.base != NET_TEMPORAL) continue;
    union net_slot *slot = row + layout->fields[i].slot;
    struct oracle_function f = oracle_moved(stored_function(slot), oracle_units(oracle, from, to));
    slot[0].f = (double)f.n0;
    slot[1].f = (double)f.n1;
    slot[2].f = (double)f.d0;
    slot[3].f = (double)f.d1;
  }
}

/* Equal in the explicit domains; temporal values as functions of time, whose tau count from A_FROM and
 * B_FROM.                                                                                          */
bool oracle_same_domains(const struct net_layout *layout, const union net_slot *a,
                         net_chronon a_from, const union net_slot *b, net_chronon b_from,
                         enum net_timeline timeline) {
  long double second = timeline == NET_TIMELINE_REAL ? 1e9L : 1;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    struct net_type type = layout->fields[i].type;
    const union net_slot *x = a + layout->fields[i].slot, *y = b + layout->fields[i].slot;
    if (type.base != NET_TEMPORAL) {
      if (!same_value(type, x, y)) return false;
      continue;
    }
    long double by = ((long double)b_from - (long double)a_from) / second;
    if (!oracle_same_function(oracle_moved(stored_function(x), by), stored_function(y)))
      return false;
  }
  return true;
}

/* --- coalesced: definite tuples among themselves, omega ones among themselves */

/* The start of each is at or before the stop of the other for sure. */
static bool touch(const union net_slot *a, const union net_slot *b) {
  return a[1].i <= b[2].i && b[1].i <= a[2].i;
}

static void join(union net_slot *into, const union net_slot *row) {
  for (int i = 0; i < 2; i++)
    if (row[i].i < into[i].i) into[i].i = row[i].i;
  for (int i = 2; i < 4; i++)
    if (row[i].i > into[i].i) into[i].i = row[i].i;
}

void oracle_coalesce(struct oracle *oracle, struct oracle_relation *relation) {
  enum net_timeline timeline = oracle->query->timeline;
  if (relation->layout->tuple_class == NET_EVENT) return;
  bool any = true;
  while (any) {
    any = false;
    for (size_t i = 0; i < relation->count; i++)
      for (size_t j = i + 1; j < relation->count; j++) {
        struct oracle_tuple *a = &relation->tuples[i], *b = &relation->tuples[j];
        if (a->definite != b->definite || !touch(a->row, b->row)) continue;
        net_chronon start = a->row[0].i;
        if (!oracle_same_domains(relation->layout, a->row, start, b->row, b->row[0].i, timeline))
          continue;
        join(a->row, b->row);
        oracle_rebase_row(oracle, relation->layout, a->row, start, a->row[0].i);
        relation->tuples[j--] = relation->tuples[--relation->count];
        any = true;
      }
  }
}

/* --- printing and comparing */

static void print_value(struct base_buffer *out, const struct base_strings *strings,
                        struct net_type type, const union net_slot *slot) {
  const char *bytes;
  size_t length;
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
    case NET_BYTES:
      bytes = base_strings_text(strings, slot->s, &length);
      base_buffer_puts(out, "x'");
      for (size_t i = 0; i < length; i++) base_buffer_printf(out, "%02x", (unsigned char)bytes[i]);
      base_buffer_putc(out, '\'');
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

static struct oracle_function moved_function(const union net_slot *slots, const union net_slot *row,
                                             const union net_slot *to, enum net_timeline timeline) {
  long double second = timeline == NET_TIMELINE_REAL ? 1e9L : 1;
  long double by = ((long double)to[0].i - (long double)row[0].i) / second;
  return by == 0 ? stored_function(slots) : oracle_moved(stored_function(slots), by);
}

bool oracle_same_values(const struct net_layout *layout, const struct base_strings *strings,
                        const union net_slot *a, const union net_slot *b,
                        enum net_timeline timeline) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const union net_slot *x = a + layout->fields[i].slot, *y = b + layout->fields[i].slot;
    enum net_base_type base = layout->fields[i].type.base;
    bool same = base == NET_FLOAT ? close_numbers(x->f, y->f)
                : base == NET_STRING || base == NET_BYTES
                    ? same_string(strings, x->s, strings, y->s)
                : base == NET_TEMPORAL
                    ? oracle_same_function(moved_function(x, a, b, timeline), stored_function(y))
                    : x->i == y->i;
    if (!same) return false;
  }
  return true;
}

bool oracle_same_bits(const struct net_layout *layout, const union net_slot *a,
                      const union net_slot *b, enum net_timeline timeline) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const union net_slot *x = a + layout->fields[i].slot, *y = b + layout->fields[i].slot;
    if (layout->fields[i].type.base != NET_TEMPORAL) {
      if (x->i != y->i) return false; /* doubles as well: the same bits */
      continue;
    }
    struct oracle_function f = moved_function(x, a, b, timeline), g = stored_function(y);
    if ((double)f.n0 == y[0].f && (double)f.n1 == y[1].f && (double)f.d0 == y[2].f &&
        (double)f.d1 == y[3].f)
      continue;
    /* The same in another scale. */
    if (oracle_is_rounded(f) || oracle_is_rounded(g) || !oracle_same_function(f, g)) return false;
  }
  return true;
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
      case NET_BYTES:
        if (!same_string(strings_a, x->s, strings_b, y->s)) return false;
        break;
      case NET_TEMPORAL: /* at `forever` nothing is left of them, of quotients at `beginning` neither */
        if (a[0].i == NET_BEGINNING && (x[3].f != 0 || y[3].f != 0)) break;
        if (a[0].i != NET_FOREVER && !oracle_same_function(stored_function(x), stored_function(y)))
          return false;
        break;
      default:
        if (x->i != y->i) return false;
    }
  }
  return true;
}
