/* Packed bytes: gzip and zstd, by what stands at their beginning. Internal to sensors/feed.
 *
 * The libraries are loaded when a packed file is met (engine/base/library.h). */
#ifndef SN_UNPACK_H
#define SN_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

struct sn_unpacker;

enum sn_packing {
  SN_NOT_PACKED,
  SN_GZIP,
  SN_ZSTD,
  SN_PACKING_OTHER /* xz, bzip2: *RET_NAME */,
  SN_PACKING_UNKNOWN /* more bytes are needed */
};
enum sn_packing sn_packing_of(const char *bytes, size_t length, const char **ret_name);

/* NULL: the library is not there. */
struct sn_unpacker *sn_unpacker_new(enum sn_packing packing);
void sn_unpacker_free(struct sn_unpacker *unpacker);

enum sn_unpacked {
  SN_UNPACKED_SOME,    /* *RET_GOT bytes, one at least */
  SN_UNPACKED_NEEDS,   /* more input */
  SN_UNPACKED_DAMAGED, /* what came is not packed so */
};
/* Unpacks *IN, which it advances, to OUT. Several packed streams one behind the other are one. */
enum sn_unpacked sn_unpack(struct sn_unpacker *unpacker, const char **in, size_t *in_length,
                           char *out, size_t room, size_t *ret_got);
/* Is the input, of which there is no more, at the end of a stream? */
bool sn_unpacker_is_whole(const struct sn_unpacker *unpacker);

#endif
