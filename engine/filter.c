/* Filters: conjunctions of disjunctions. Bytes, little-endian:
 *
 *      filter   u16 clauses, each: u16 atoms, each:
 *               u8 test, u8 type (1 integer, 2 float, 4 text), u16 length and the domain's name,
 *               i64, f64, or u32 length and the text
 */
#include "engine/filter.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "engine/base/printable.h"
#include "engine/base/status.h"
#include "engine/pattern.h"

/* Nobody gains from asking each record for more. */
enum { ATOMS_MAX = 256, NAME_MAX_BYTES = 1 << 12, TEXT_MAX_BYTES = 1 << 16 };

/* --- and, or */

static size_t atoms_of(struct net_filter filter) {
  size_t count = 0;
  for (uint32_t i = 0; i < filter.count; i++) count += filter.clauses[i].count + 1u;
  return count;
}

struct net_filter net_filter_none(struct base_arena *arena) {
  struct net_filter_clause *clause = BASE_NEW(arena, struct net_filter_clause);
  *clause = (struct net_filter_clause){NULL, 0};
  return (struct net_filter){clause, 1};
}

bool net_filter_is_none(struct net_filter filter) {
  for (uint32_t i = 0; i < filter.count; i++)
    if (filter.clauses[i].count == 0) return true;
  return false;
}

struct net_filter net_filter_one(struct base_arena *arena, struct net_filter_atom atom) {
  struct net_filter_atom *copy = BASE_NEW(arena, struct net_filter_atom);
  struct net_filter_clause *clause = BASE_NEW(arena, struct net_filter_clause);
  if (strlen(atom.domain) > NAME_MAX_BYTES || atom.value.length > TEXT_MAX_BYTES)
    return NET_FILTER_ALL;
  *copy = atom;
  *clause = (struct net_filter_clause){copy, 1};
  return (struct net_filter){clause, 1};
}

static bool is_same_atom(const struct net_filter_atom *a, const struct net_filter_atom *b) {
  if (a->test != b->test || a->value.base != b->value.base || strcmp(a->domain, b->domain) != 0)
    return false;
  if (a->value.base == NET_INTEGER) return a->value.integer == b->value.integer;
  if (a->value.base == NET_FLOAT)
    return memcmp(&a->value.real, &b->value.real, sizeof(double)) == 0;
  return a->value.length == b->value.length &&
         memcmp(a->value.text, b->value.text, a->value.length) == 0;
}

static bool has_atom(const struct net_filter_clause *clause, const struct net_filter_atom *atom) {
  for (uint32_t i = 0; i < clause->count; i++)
    if (is_same_atom(&clause->atoms[i], atom)) return true;
  return false;
}

/* Every atom of A is in B: where A holds, B does. */
static bool implies(const struct net_filter_clause *a, const struct net_filter_clause *b) {
  for (uint32_t i = 0; i < a->count; i++)
    if (!has_atom(b, &a->atoms[i])) return false;
  return true;
}

static void add_clause(struct net_filter_clause *clauses, uint32_t *count,
                       const struct net_filter_clause *clause) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *count; i++)
    if (implies(&clauses[i], clause)) return;
  for (uint32_t i = 0; i < *count; i++)
    if (!implies(clause, &clauses[i])) clauses[kept++] = clauses[i];
  clauses[kept] = *clause;
  *count = kept + 1;
}

struct net_filter net_filter_both(struct base_arena *arena, struct net_filter a,
                                  struct net_filter b) {
  if (a.count == 0) return b;
  if (b.count == 0 || atoms_of(a) + atoms_of(b) > ATOMS_MAX) return a;
  struct net_filter_clause *clauses =
      BASE_NEW_ARRAY(arena, a.count + b.count, struct net_filter_clause);
  uint32_t count = 0;
  for (uint32_t i = 0; i < a.count; i++) add_clause(clauses, &count, &a.clauses[i]);
  for (uint32_t i = 0; i < b.count; i++) add_clause(clauses, &count, &b.clauses[i]);
  return (struct net_filter){clauses, count};
}

static struct net_filter_clause joined(struct base_arena *arena, const struct net_filter_clause *a,
                                       const struct net_filter_clause *b) {
  struct net_filter_atom *atoms =
      BASE_NEW_ARRAY(arena, a->count + b->count + 1, struct net_filter_atom);
  struct net_filter_clause clause = {atoms, a->count};
  if (a->count > 0) memcpy(atoms, a->atoms, a->count * sizeof *atoms);
  for (uint32_t i = 0; i < b->count; i++)
    if (!has_atom(&clause, &b->atoms[i])) atoms[clause.count++] = b->atoms[i];
  return clause;
}

struct net_filter net_filter_either(struct base_arena *arena, struct net_filter a,
                                    struct net_filter b) {
  size_t most = atoms_of(a) * b.count + atoms_of(b) * a.count;
  if (a.count == 0 || b.count == 0 || most > ATOMS_MAX) return NET_FILTER_ALL;
  struct net_filter_clause *clauses =
      BASE_NEW_ARRAY(arena, (size_t)a.count * b.count, struct net_filter_clause);
  uint32_t count = 0;
  for (uint32_t i = 0; i < a.count; i++)
    for (uint32_t k = 0; k < b.count; k++) {
      struct net_filter_clause clause = joined(arena, &a.clauses[i], &b.clauses[k]);
      add_clause(clauses, &count, &clause);
    }
  return (struct net_filter){clauses, count};
}

enum net_filter_test net_filter_not(enum net_filter_test test) {
  static const enum net_filter_test others[NET_FILTER_TESTS] = {
      [NET_FILTER_EQ] = NET_FILTER_NE,
      [NET_FILTER_NE] = NET_FILTER_EQ,
      [NET_FILTER_LT] = NET_FILTER_GE,
      [NET_FILTER_GE] = NET_FILTER_LT,
      [NET_FILTER_GT] = NET_FILTER_LE,
      [NET_FILTER_LE] = NET_FILTER_GT,
      [NET_FILTER_MATCHES] = NET_FILTER_MATCHES_NOT,
      [NET_FILTER_MATCHES_NOT] = NET_FILTER_MATCHES,
  };
  return others[test];
}

/* --- asking */

static int compare_texts(const struct net_filter_value *a, const struct net_filter_value *b) {
  size_t shorter = a->length < b->length ? a->length : b->length;
  int sign = shorter > 0 ? memcmp(a->text, b->text, shorter) : 0;
  return sign != 0 ? sign : (a->length > b->length) - (a->length < b->length);
}

static int compare(const struct net_filter_value *a, const struct net_filter_value *b) {
  if (a->base == NET_INTEGER) return (a->integer > b->integer) - (a->integer < b->integer);
  if (a->base == NET_FLOAT) return (a->real > b->real) - (a->real < b->real);
  return compare_texts(a, b);
}

bool net_filter_holds(const struct net_filter_atom *atom, const struct net_filter_value *value) {
  const struct net_filter_value *constant = &atom->value;
  if (value->base != constant->base) return true;
  if (value->base == NET_FLOAT && isnan(value->real)) return true;
  switch (atom->test) {
    case NET_FILTER_EQ:
      return compare(value, constant) == 0;
    case NET_FILTER_NE:
      return compare(value, constant) != 0;
    case NET_FILTER_LT:
      return compare(value, constant) < 0;
    case NET_FILTER_LE:
      return compare(value, constant) <= 0;
    case NET_FILTER_GT:
      return compare(value, constant) > 0;
    case NET_FILTER_GE:
      return compare(value, constant) >= 0;
    case NET_FILTER_MATCHES:
    case NET_FILTER_MATCHES_NOT:
      return net_pattern_match(constant->text, constant->length, value->text, value->length) ==
             (atom->test == NET_FILTER_MATCHES);
    case NET_FILTER_TESTS:
    default:
      return true;
  }
}

/* --- bytes */

static const unsigned type_numbers[][2] = {{NET_INTEGER, 1}, {NET_FLOAT, 2}, {NET_STRING, 4}};

static void put_number(struct base_buffer *out, uint64_t number, unsigned bytes) {
  uint64_t little = htole64(number);
  base_buffer_append(out, (const char *)&little, bytes);
}

static uint64_t bits_of(double real) {
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

static void put_atom(struct base_buffer *out, const struct net_filter_atom *atom) {
  const struct net_filter_value *value = &atom->value;
  size_t length = strlen(atom->domain);
  put_number(out, atom->test, 1);
  for (size_t i = 0; i < sizeof type_numbers / sizeof *type_numbers; i++)
    if (type_numbers[i][0] == value->base) put_number(out, type_numbers[i][1], 1);
  put_number(out, length, 2);
  base_buffer_append(out, atom->domain, length);
  if (value->base == NET_STRING) {
    put_number(out, value->length, 4);
    base_buffer_append(out, value->text, value->length);
  } else {
    put_number(out, value->base == NET_FLOAT ? bits_of(value->real) : (uint64_t)value->integer, 8);
  }
}

void net_filter_put(struct base_buffer *out, struct net_filter filter) {
  if (filter.count == 0) return;
  put_number(out, filter.count, 2);
  for (uint32_t i = 0; i < filter.count; i++) {
    put_number(out, filter.clauses[i].count, 2);
    for (uint32_t k = 0; k < filter.clauses[i].count; k++)
      put_atom(out, &filter.clauses[i].atoms[k]);
  }
}

struct reading {
  struct base_arena *arena;
  const char *at, *end;
  uint32_t atoms;
  bool bad;
};

static uint64_t get_number(struct reading *reading, unsigned bytes) {
  uint64_t little = 0;
  if (reading->bad || (size_t)(reading->end - reading->at) < bytes) {
    reading->bad = true;
    return 0;
  }
  memcpy(&little, reading->at, bytes);
  reading->at += bytes;
  return le64toh(little);
}

static const char *get_text(struct reading *reading, uint64_t length, uint64_t most) {
  if (reading->bad || length > most || length > (uint64_t)(reading->end - reading->at)) {
    reading->bad = true;
    return "";
  }
  char *text = BASE_NEW_ARRAY(reading->arena, length + 1, char);
  memcpy(text, reading->at, length);
  text[length] = '\0';
  reading->at += length;
  return text;
}

static bool makes_sense(const struct net_filter_atom *atom) {
  bool pattern = atom->test == NET_FILTER_MATCHES || atom->test == NET_FILTER_MATCHES_NOT;
  if (pattern)
    return atom->value.base == NET_STRING &&
           net_pattern_fault(atom->value.text, atom->value.length) == NULL;
  return atom->value.base != NET_FLOAT || !isnan(atom->value.real);
}

static struct net_filter_atom get_atom(struct reading *reading) {
  struct net_filter_atom atom = {.test = NET_FILTER_EQ};
  uint64_t test = get_number(reading, 1), type = get_number(reading, 1), bits;
  if (test >= NET_FILTER_TESTS || (type != 1 && type != 2 && type != 4)) reading->bad = true;
  if (!reading->bad) atom.test = (enum net_filter_test)test;
  atom.value.base = type == 1 ? NET_INTEGER : type == 2 ? NET_FLOAT : NET_STRING;
  atom.domain = get_text(reading, get_number(reading, 2), NAME_MAX_BYTES);
  if (atom.value.base == NET_STRING) {
    atom.value.length = (uint32_t)get_number(reading, 4);
    atom.value.text = get_text(reading, atom.value.length, TEXT_MAX_BYTES);
  } else {
    bits = get_number(reading, 8);
    if (atom.value.base == NET_FLOAT)
      memcpy(&atom.value.real, &bits, sizeof bits);
    else
      atom.value.integer = (int64_t)bits;
  }
  if (!reading->bad && !makes_sense(&atom)) reading->bad = true;
  return atom;
}

static struct net_filter_clause get_clause(struct reading *reading) {
  uint32_t count = (uint32_t)get_number(reading, 2);
  if (count > ATOMS_MAX - reading->atoms) reading->bad = true;
  if (reading->bad) return (struct net_filter_clause){0};
  reading->atoms += count;
  struct net_filter_atom *atoms = BASE_NEW_ARRAY(reading->arena, count + 1, struct net_filter_atom);
  for (uint32_t i = 0; i < count; i++) atoms[i] = get_atom(reading);
  return (struct net_filter_clause){atoms, count};
}

bool net_filter_get(struct base_arena *arena, const char *bytes, size_t length,
                    struct net_filter *ret) {
  struct reading reading = {.arena = arena, .at = bytes, .end = bytes + length};
  *ret = NET_FILTER_ALL;
  if (length == 0) return true;
  uint32_t count = (uint32_t)get_number(&reading, 2);
  if (count == 0 || count > ATOMS_MAX) reading.bad = true;
  if (reading.bad) return false;
  struct net_filter_clause *clauses = BASE_NEW_ARRAY(arena, count, struct net_filter_clause);
  for (uint32_t i = 0; i < count; i++) clauses[i] = get_clause(&reading);
  if (reading.bad || reading.at != reading.end) return false;
  *ret = (struct net_filter){clauses, count};
  return true;
}

/* --- printing */

static void print_value(struct base_buffer *out, const struct net_filter_value *value) {
  if (value->base == NET_INTEGER) {
    base_buffer_printf(out, "%lld", (long long)value->integer);
  } else if (value->base == NET_FLOAT) {
    base_buffer_double(out, value->real);
  } else {
    base_buffer_putc(out, '"');
    base_buffer_printable(out, value->text, value->length);
    base_buffer_putc(out, '"');
  }
}

static void print_clause(struct base_buffer *out, const struct net_filter_clause *clause,
                         bool within) {
  static const char *const words[NET_FILTER_TESTS] = {
      "=", "!=", "<", "<=", ">", ">=", "matches", "not matches"};
  bool many = clause->count > 1;
  if (many && within) base_buffer_putc(out, '(');
  for (uint32_t i = 0; i < clause->count; i++) {
    const struct net_filter_atom *atom = &clause->atoms[i];
    if (i > 0) base_buffer_puts(out, " or ");
    base_buffer_printable(out, atom->domain, strlen(atom->domain));
    base_buffer_printf(out, " %s ", words[atom->test]);
    print_value(out, &atom->value);
  }
  if (clause->count == 0) base_buffer_puts(out, "nothing");
  if (many && within) base_buffer_putc(out, ')');
}

void net_filter_print(struct base_buffer *out, struct net_filter filter) {
  for (uint32_t i = 0; i < filter.count; i++) {
    if (i > 0) base_buffer_puts(out, " and ");
    print_clause(out, &filter.clauses[i], filter.count > 1);
  }
  if (filter.count == 0) base_buffer_puts(out, "all");
}
