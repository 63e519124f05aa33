/* Remote descriptions: what a program says of its own sensors (thesis 8.2.2).
 *
 * A remote description is a text in the syntax of all description files. The generated header puts it
 * into the program itself, as an ELF note, so that description and program cannot drift; whoever meets
 * the program (the resident monitor, `tquel sdf PROGRAM`) reads it there.                         */
#ifndef SN_SDF_REMOTE_H
#define SN_SDF_REMOTE_H

#include "sensors/sdf/description.h"

/* The note's name and type. The section is .note.tquel. */
#define SN_NOTE_NAME "tquel"
#define SN_NOTE_TYPE 1

/* Appends the remote description of DESCRIPTION: for each class what `output` asks for in OWN, the
 * program's own format, and in the description's. False: that asks for something that is not known;
 * reported.                                                                                       */
bool sn_remote_write(struct base_buffer *out, const struct sn_description *description,
                     const struct sn_format *own, struct base_diag_sink *diags);
/* The 64 bits that tell texts of descriptions apart: FNV-1a. */
uint64_t sn_remote_digest(const char *text, size_t length);

/* A text found in a program. */
struct sn_note {
  const char *text; /* points into the bytes */
  size_t length;
};

/* Whether BYTES begin like a program or library. */
bool sn_elf_is(const void *bytes, size_t length);
/* Finds the remote descriptions in the ELF file BYTES (32 or 64 bits, either byte order), each text
 * once. Returns false when the file is damaged. The array is in the arena.                        */
bool sn_elf_notes(struct base_arena *arena, const void *bytes, size_t length,
                  struct sn_note **ret_notes, size_t *ret_count);

#endif
