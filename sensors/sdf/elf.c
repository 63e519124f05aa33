/* Finds remote descriptions in ELF files: notes called "tquel", in the segments that say where notes
 * are (they survive strip) and, in object files, which have no segments, in the sections.
 *
 * The bytes are a stranger's: every offset and length is checked before it is used. Nothing is copied.
 */
#include <stdlib.h>
#include <string.h>

#include "sensors/sdf/remote.h"

#define SEGMENT_NOTE 4
#define SECTION_NOTE 7

struct elf {
  struct base_arena *arena;
  const unsigned char *bytes;
  uint64_t length;
  bool wide, big;
  struct sn_note *notes; /* heap while it grows */
  size_t count, capacity;
};

bool sn_elf_is(const void *bytes, size_t length) {
  return length >= 4 && memcmp(bytes,
                               "\x7f"
                               "ELF",
                               4) == 0;
}

/* SIZE bytes at OFFSET as a number. False: they are not there. */
static bool number_at(const struct elf *elf, uint64_t offset, unsigned size, uint64_t *ret) {
  uint64_t value = 0;
  if (offset > elf->length || elf->length - offset < size) return false;
  for (unsigned i = 0; i < size; i++)
    value = value << 8 | elf->bytes[offset + (elf->big ? i : size - 1 - i)];
  *ret = value;
  return true;
}

static bool is_known(const struct elf *elf, const char *text, size_t length) {
  for (size_t i = 0; i < elf->count; i++)
    if (elf->notes[i].length == length && memcmp(elf->notes[i].text, text, length) == 0)
      return true;
  return false;
}

static void add(struct elf *elf, const char *text, size_t length) {
  if (is_known(elf, text, length)) return;
  base_grow(&elf->notes, &elf->capacity, elf->count + 1, sizeof *elf->notes);
  elf->notes[elf->count++] = (struct sn_note){text, length};
}

/* One note after the other. Other people's notes may be laid out as they like: where one does not fit,
 * the rest is passed over, unless it is ours.                                                     */
static bool read_notes(struct elf *elf, uint64_t offset, uint64_t length) {
  if (offset > elf->length || elf->length - offset < length) return false;
  uint64_t end = offset + length, name_length, text_length, type;
  while (end - offset >= 12) {
    if (!number_at(elf, offset, 4, &name_length) || !number_at(elf, offset + 4, 4, &text_length) ||
        !number_at(elf, offset + 8, 4, &type))
      return false;
    uint64_t name = offset + 12, text = name + ((name_length + 3) & ~UINT64_C(3));
    if (name_length > end - name || text > end) return true;
    bool ours = name_length == sizeof SN_NOTE_NAME && type == SN_NOTE_TYPE &&
                memcmp(elf->bytes + name, SN_NOTE_NAME, sizeof SN_NOTE_NAME) == 0;
    if (text_length > end - text) return !ours;
    if (ours) add(elf, (const char *)elf->bytes + text, (size_t)text_length);
    uint64_t next = (text_length + 3) & ~UINT64_C(3);
    if (next > end - text) return true;
    offset = text + next;
  }
  return true;
}

/* The table at OFFSET: of each entry the type (4 bytes, at TYPE_AT), offset and size of its bytes. */
static bool read_table(struct elf *elf, uint64_t offset, uint64_t count, uint64_t entry_size,
                       unsigned type_at, unsigned offset_at, unsigned size_at, uint64_t wanted) {
  unsigned width = elf->wide ? 8 : 4;
  for (uint64_t i = 0; i < count; i++, offset += entry_size) {
    uint64_t type, first, length;
    if (!number_at(elf, offset + type_at, 4, &type) ||
        !number_at(elf, offset + offset_at, width, &first) ||
        !number_at(elf, offset + size_at, width, &length))
      return false;
    if (type == wanted && !read_notes(elf, first, length)) return false;
  }
  return true;
}

static bool read_tables(struct elf *elf) {
  bool wide = elf->wide;
  uint64_t segments, sections, segment_size, segment_count, section_size, section_count;
  unsigned width = wide ? 8 : 4, sizes = wide ? 54 : 42;
  if (!number_at(elf, wide ? 32 : 28, width, &segments) ||
      !number_at(elf, wide ? 40 : 32, width, &sections) ||
      !number_at(elf, sizes, 2, &segment_size) || !number_at(elf, sizes + 2, 2, &segment_count) ||
      !number_at(elf, sizes + 4, 2, &section_size) || !number_at(elf, sizes + 6, 2, &section_count))
    return false;
  if (segments > elf->length || sections > elf->length) return false;
  if (segment_count > 0)
    return read_table(elf, segments, segment_count, segment_size, 0, wide ? 8 : 4, wide ? 32 : 16,
                      SEGMENT_NOTE);
  /* So many sections that their number stands in the first of them. */
  if (section_count == 0 && sections != 0 &&
      !number_at(elf, sections + (wide ? 32 : 20), width, &section_count))
    return false;
  if (section_count > elf->length) return false;
  return read_table(elf, sections, section_count, section_size, 4, wide ? 24 : 16, wide ? 32 : 20,
                    SECTION_NOTE);
}

bool sn_elf_notes(struct base_arena *arena, const void *bytes, size_t length,
                  struct sn_note **ret_notes, size_t *ret_count) {
  struct elf elf = {.arena = arena, .bytes = bytes, .length = length};
  *ret_notes = NULL;
  *ret_count = 0;
  if (!sn_elf_is(bytes, length) || length < 52) return false;
  elf.wide = elf.bytes[4] == 2;
  elf.big = elf.bytes[5] == 2;
  bool ok = (elf.wide || elf.bytes[4] == 1) && (elf.big || elf.bytes[5] == 1) && read_tables(&elf);
  if (ok && elf.count > 0) {
    *ret_notes = BASE_NEW_ARRAY(arena, elf.count, struct sn_note);
    memcpy(*ret_notes, elf.notes, elf.count * sizeof *elf.notes);
    *ret_count = elf.count;
  }
  free(elf.notes);
  return ok;
}
