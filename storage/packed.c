/* Rows as bytes, many at a time: what the log keeps of them (log.c).
 *
 *      checksum (8 bytes, little-endian, of all that follows)
 *      rows, times, fields, the base type of each field
 *      the times, each a column, but the first as what they differ by from the one before them
 *      definite: 1 if all rows are, else 0 and a byte for each row
 *      the fields, each a column or several
 *
 * A column of integers is its first value and the differences from row to row: 0 and the one that all
 * have, or 1 and all of them. Numbers take as many bytes as they need, seven bits in each, small
 * negative ones as few as small positive ones. Floats take eight bytes. Strings are listed once, by
 * their text, and counted from 0; where there is one only, no more is said.
 *
 * What is read is not trusted: a wrong checksum, a length that does not fit, another layout are
 * noticed, and nothing is read beyond the end.                                                      */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/base/hash_table.h"
#include "storage/ground.h"

#define CHECKSUM_BYTES 8
#define CHECKSUM_SEED  0x7471756c

/* --- numbers */

static uint64_t folded(uint64_t difference) {
  return (difference << 1) ^ (0 - (difference >> 63));
}

static uint64_t unfolded(uint64_t number) {
  return (number >> 1) ^ (0 - (number & 1));
}

static size_t write_number(uint8_t *to, uint64_t number) {
  size_t length = 0;
  for (; number >= 0x80; number >>= 7) to[length++] = (uint8_t)(number | 0x80);
  to[length++] = (uint8_t)number;
  return length;
}

enum { NUMBER_BYTES = 10 }; /* at most */

static void put_number(struct base_buffer *out, uint64_t number) {
  base_buffer_reserve(out, NUMBER_BYTES);
  out->length += write_number((uint8_t *)out->data + out->length, number);
}

static void put_word(struct base_buffer *out, uint64_t word) {
  word = htole64(word);
  base_buffer_append(out, &word, sizeof word);
}

struct reader {
  const uint8_t *at, *end;
  bool good;
};

static uint64_t get_number(struct reader *reader) {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
    uint8_t byte = *reader->at++;
    number |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  reader->good = false;
  return 0;
}

static uint64_t get_word(struct reader *reader) {
  uint64_t word = 0;
  if ((size_t)(reader->end - reader->at) < sizeof word) {
    reader->good = false;
    return 0;
  }
  memcpy(&word, reader->at, sizeof word);
  reader->at += sizeof word;
  return le64toh(word);
}

/* --- columns of integers */

/* VALUES are overwritten. */
static void put_column(struct base_buffer *out, uint64_t *values, size_t count) {
  bool same = true;
  put_number(out, folded(values[0]));
  for (size_t i = count - 1; i > 0; i--) {
    values[i] = folded(values[i] - values[i - 1]);
    same &= i + 1 == count || values[i] == values[i + 1];
  }
  base_buffer_putc(out, !same);
  if (same) {
    put_number(out, count > 1 ? values[1] : 0);
    return;
  }
  base_buffer_reserve(out, count * NUMBER_BYTES);
  uint8_t *to = (uint8_t *)out->data + out->length;
  for (size_t i = 1; i < count; i++) to += write_number(to, values[i]);
  out->length = (size_t)(to - (uint8_t *)out->data);
}

static void get_column(struct reader *reader, uint64_t *values, size_t count) {
  uint64_t value = values[0] = unfolded(get_number(reader));
  if (reader->at == reader->end || *reader->at > 1) {
    reader->good = false;
    return;
  }
  if (*reader->at++ == 0) {
    uint64_t difference = unfolded(get_number(reader));
    for (size_t i = 1; i < count; i++) values[i] = value += difference;
    return;
  }
  for (size_t i = 1; i < count && reader->good; i++)
    values[i] = value += unfolded(get_number(reader));
}

/* --- strings */

/* Which string of the list has which id: a table of numbers in the list + 1. */
struct listing;
static bool is_no_number(const uint32_t *number);
static uint64_t hash_of_listed(const uint32_t *number, const void *listing);
static bool is_listed_as(const uint32_t *number, const void *id, const void *listing);
BASE_HASH_TABLE(numbers, uint32_t, is_no_number, hash_of_listed, is_listed_as);

struct listing {
  base_string_id *ids;
  size_t count, capacity;
  struct numbers numbers;
};

static bool is_no_number(const uint32_t *number) {
  return *number == 0;
}

static uint64_t hash_of_listed(const uint32_t *number, const void *listing) {
  return base_hash_u64(((const struct listing *)listing)->ids[*number - 1], 0);
}

static bool is_listed_as(const uint32_t *number, const void *id, const void *listing) {
  return ((const struct listing *)listing)->ids[*number - 1] == *(const base_string_id *)id;
}

static uint32_t number_in(struct listing *listing, base_string_id id) {
  uint32_t *number = numbers_place(&listing->numbers, base_hash_u64(id, 0), &id, listing);
  if (*number == 0) {
    base_grow(&listing->ids, &listing->capacity, listing->count + 1, sizeof *listing->ids);
    listing->ids[listing->count] = id;
    *number = (uint32_t)++listing->count;
  }
  return *number - 1;
}

static void put_strings(struct base_buffer *out, const struct base_strings *strings,
                        uint64_t *values, size_t count) {
  struct listing listing = {0};
  base_string_id last = values[0];
  uint32_t number = number_in(&listing, last);
  for (size_t i = 0; i < count; i++) {
    if (values[i] != last) number = number_in(&listing, last = values[i]);
    values[i] = number;
  }
  put_number(out, listing.count);
  for (size_t i = 0; i < listing.count; i++) {
    size_t length;
    const char *text = base_strings_text(strings, listing.ids[i], &length);
    put_number(out, length);
    base_buffer_append(out, text, length);
  }
  if (listing.count > 1) put_column(out, values, count);
  free(listing.ids);
  numbers_done(&listing.numbers);
}

static void get_strings(struct reader *reader, struct base_strings *strings, uint64_t *values,
                        size_t count) {
  uint64_t listed = get_number(reader);
  if (listed == 0 || listed > count) {
    reader->good = false;
    return;
  }
  base_string_id *ids = base_xcalloc(listed, sizeof *ids);
  for (uint64_t i = 0; i < listed && reader->good; i++) {
    uint64_t length = get_number(reader);
    reader->good = reader->good && length <= (uint64_t)(reader->end - reader->at);
    if (!reader->good) break;
    ids[i] = base_strings_intern(strings, (const char *)reader->at, length);
    reader->at += length;
  }
  if (listed > 1)
    get_column(reader, values, count);
  else
    memset(values, 0, count * sizeof *values);
  for (size_t i = 0; i < count && reader->good; i++) {
    if (values[i] < listed)
      values[i] = ids[values[i]];
    else
      reader->good = false;
  }
  free(ids);
}

/* --- rows */

static void take_column(const union net_slot *rows, uint32_t slots, uint32_t slot, size_t count,
                        uint64_t *values) {
  for (size_t i = 0; i < count; i++) values[i] = (uint64_t)rows[i * slots + slot].i;
}

static void put_times(struct base_buffer *out, const struct net_layout *layout,
                      const union net_slot *rows, size_t count, uint64_t *values) {
  for (uint32_t slot = 0; slot < layout->first_domain_slot; slot++) {
    take_column(rows, layout->slot_count, slot, count, values);
    for (size_t i = 0; slot > 0 && i < count; i++)
      values[i] -= (uint64_t)rows[i * layout->slot_count + slot - 1].i;
    put_column(out, values, count);
  }
}

static void put_marks(struct base_buffer *out, const uint8_t *marks, size_t count) {
  bool all = true;
  for (size_t i = 0; i < count; i++) all &= (marks[i] & NET_DEFINITE) != 0;
  base_buffer_putc(out, all);
  for (size_t i = 0; !all && i < count; i++) base_buffer_putc(out, marks[i] & NET_DEFINITE);
}

static bool is_real(enum net_base_type base) {
  return base == NET_FLOAT || base == NET_TEMPORAL;
}

static bool is_string(enum net_base_type base) {
  return net_type_is_interned(base);
}

void st_rows_pack(struct base_buffer *out, const struct base_strings *strings,
                  const struct net_rows *rows, size_t first, size_t count) {
  const struct net_layout *layout = rows->layout;
  const union net_slot *from = net_rows_row(rows, first);
  uint64_t *values = base_xcalloc(count, sizeof *values);
  size_t start = out->length;
  put_word(out, 0);
  put_number(out, count);
  put_number(out, layout->first_domain_slot);
  put_number(out, layout->field_count);
  for (uint32_t f = 0; f < layout->field_count; f++) put_number(out, layout->fields[f].type.base);
  put_times(out, layout, from, count, values);
  put_marks(out, rows->marks + first, count);
  for (uint32_t f = 0; f < layout->field_count; f++) {
    enum net_base_type base = layout->fields[f].type.base;
    for (uint32_t part = 0; part < net_type_slots(base); part++) {
      take_column(from, layout->slot_count, layout->fields[f].slot + part, count, values);
      if (is_string(base))
        put_strings(out, strings, values, count);
      else if (!is_real(base))
        put_column(out, values, count);
      for (size_t i = 0; is_real(base) && i < count; i++) put_word(out, values[i]);
    }
  }
  free(values);
  uint64_t checksum = htole64(base_hash(out->data + start + CHECKSUM_BYTES,
                                        out->length - start - CHECKSUM_BYTES, CHECKSUM_SEED));
  memcpy(out->data + start, &checksum, sizeof checksum);
}

static bool is_layout(struct reader *reader, const struct net_layout *layout) {
  bool same = get_number(reader) == layout->first_domain_slot;
  same = get_number(reader) == layout->field_count && same;
  for (uint32_t f = 0; same && f < layout->field_count; f++)
    same = get_number(reader) == (uint64_t)layout->fields[f].type.base;
  return same && reader->good;
}

static void give_column(union net_slot *rows, uint32_t slots, uint32_t slot, size_t count,
                        const uint64_t *values) {
  for (size_t i = 0; i < count; i++) rows[i * slots + slot].i = (int64_t)values[i];
}

static void get_times(struct reader *reader, const struct net_layout *layout, union net_slot *rows,
                      size_t count, uint64_t *values) {
  for (uint32_t slot = 0; slot < layout->first_domain_slot && reader->good; slot++) {
    get_column(reader, values, count);
    for (size_t i = 0; slot > 0 && i < count; i++)
      values[i] += (uint64_t)rows[i * layout->slot_count + slot - 1].i;
    give_column(rows, layout->slot_count, slot, count, values);
  }
}

static void get_marks(struct reader *reader, uint8_t *marks, size_t count) {
  bool all = reader->at < reader->end && *reader->at == 1;
  reader->good = reader->good && reader->at < reader->end && *reader->at <= 1;
  if (!reader->good) return;
  reader->at++;
  if (all) {
    memset(marks, NET_DEFINITE, count);
  } else if ((size_t)(reader->end - reader->at) < count) {
    reader->good = false;
  } else {
    for (size_t i = 0; i < count; i++) marks[i] = *reader->at++ & NET_DEFINITE;
  }
}

static void get_fields(struct reader *reader, struct base_strings *strings,
                       const struct net_layout *layout, union net_slot *rows, size_t count,
                       uint64_t *values) {
  for (uint32_t f = 0; f < layout->field_count && reader->good; f++) {
    enum net_base_type base = layout->fields[f].type.base;
    for (uint32_t part = 0; part < net_type_slots(base) && reader->good; part++) {
      if (is_string(base))
        get_strings(reader, strings, values, count);
      else if (!is_real(base))
        get_column(reader, values, count);
      for (size_t i = 0; is_real(base) && i < count && reader->good; i++)
        values[i] = get_word(reader);
      if (reader->good)
        give_column(rows, layout->slot_count, layout->fields[f].slot + part, count, values);
    }
  }
}

bool st_rows_unpack(const void *bytes, size_t length, struct base_strings *strings,
                    struct net_rows *ret) {
  struct reader reader = {bytes, (const uint8_t *)bytes + length, true};
  const struct net_layout *layout = ret->layout;
  uint64_t checksum = get_word(&reader);
  if (!reader.good || checksum != base_hash(reader.at, length - CHECKSUM_BYTES, CHECKSUM_SEED))
    return false;
  uint64_t count = get_number(&reader);
  if (!reader.good || count == 0 || count > ST_PIECE_ROWS || !is_layout(&reader, layout))
    return false;
  base_grow_large(&ret->rows, &ret->capacity, ret->count + count,
                  layout->slot_count * sizeof *ret->rows);
  ret->marks = base_xrealloc(ret->marks, ret->capacity, sizeof *ret->marks);
  union net_slot *rows = net_rows_row(ret, ret->count);
  uint64_t *values = base_xcalloc(count, sizeof *values);
  get_times(&reader, layout, rows, count, values);
  if (reader.good) get_marks(&reader, ret->marks + ret->count, count);
  if (reader.good) get_fields(&reader, strings, layout, rows, count, values);
  free(values);
  if (!reader.good || reader.at != reader.end) return false;
  ret->count += count;
  return true;
}
