/* Unpacking as a stream.
 *
 * Of the two libraries only what is used is declared, as it is in their stable interfaces: neither has to be there when
 * the program is built, and Debian has both wherever there is dpkg. */
#include "sensors/feed/unpack.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/heap.h"
#include "engine/base/library.h"

/* --- zlib (zlib.h, 1.2) */

struct zlib_stream {
  const unsigned char *next_in;
  unsigned int avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned int avail_out;
  unsigned long total_out;
  const char *message;
  void *state;
  void *(*allocate)(void *, unsigned int, unsigned int);
  void (*release)(void *, void *);
  void *opaque;
  int data_type;
  unsigned long adler, reserved;
};
enum { ZLIB_OK = 0, ZLIB_STREAM_END = 1, ZLIB_BUFFER_ERROR = -5, ZLIB_GZIP_WINDOW = 15 + 16 };

static struct {
  int (*inflateInit2_)(struct zlib_stream *, int, const char *, int);
  int (*inflate)(struct zlib_stream *, int);
  int (*inflateReset)(struct zlib_stream *);
  int (*inflateEnd)(struct zlib_stream *);
} zlib;

/* --- zstd (zstd.h, 1.0) */

struct zstd_in {
  const void *bytes;
  size_t size, at;
};
struct zstd_out {
  void *bytes;
  size_t size, at;
};

static struct {
  void *(*ZSTD_createDStream)(void);
  size_t (*ZSTD_freeDStream)(void *);
  size_t (*ZSTD_decompressStream)(void *, struct zstd_out *, struct zstd_in *);
  unsigned (*ZSTD_isError)(size_t);
} zstd;

static bool load(enum sn_packing packing) {
  static const char *const zlib_names[] = {"libz.so.1", NULL}, *const zstd_names[] = {
                                                                   "libzstd.so.1", NULL};
  static const struct base_library_function zlib_functions[] = {
      BASE_LIBRARY_FUNCTION(zlib, inflateInit2_) BASE_LIBRARY_FUNCTION(zlib, inflate)
          BASE_LIBRARY_FUNCTION(zlib, inflateReset) BASE_LIBRARY_FUNCTION(zlib, inflateEnd)};
  static const struct base_library_function zstd_functions[] = {
      BASE_LIBRARY_FUNCTION(zstd, ZSTD_createDStream) BASE_LIBRARY_FUNCTION(zstd, ZSTD_freeDStream)
          BASE_LIBRARY_FUNCTION(zstd, ZSTD_decompressStream)
              BASE_LIBRARY_FUNCTION(zstd, ZSTD_isError)};
  return packing == SN_GZIP ? base_library_load(zlib_names, zlib_functions,
                                                sizeof zlib_functions / sizeof zlib_functions[0])
                            : base_library_load(zstd_names, zstd_functions,
                                                sizeof zstd_functions / sizeof zstd_functions[0]);
}

/* --- both */

struct sn_unpacker {
  enum sn_packing packing;
  bool whole; /* at the end of a stream */
  struct zlib_stream gzip;
  void *zstd;
};

enum sn_packing sn_packing_of(const char *bytes, size_t length, const char **ret_name) {
  static const struct {
    const char *magic;
    size_t length;
    enum sn_packing packing;
    const char *name;
  } known[] = {{"\x1F\x8B\x08", 3, SN_GZIP, "gzip"},
               {"\x28\xB5\x2F\xFD", 4, SN_ZSTD, "zstd"},
               {"\xFD"
                "7zXZ",
                5, SN_PACKING_OTHER, "xz"},
               {"BZh", 3, SN_PACKING_OTHER, "bzip2"}};
  enum sn_packing found = SN_NOT_PACKED;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    size_t common = length < known[i].length ? length : known[i].length;
    if (memcmp(bytes, known[i].magic, common) != 0) continue;
    if (common == known[i].length &&
        (known[i].magic[0] != 'B' || (length > 9 && memcmp(bytes + 4, "1AY&SY", 6) == 0))) {
      *ret_name = known[i].name;
      return known[i].packing;
    }
    if (common < known[i].length && known[i].magic[0] != 'B') found = SN_PACKING_UNKNOWN;
  }
  return found;
}

struct sn_unpacker *sn_unpacker_new(enum sn_packing packing) {
  if (!load(packing)) return NULL;
  struct sn_unpacker *unpacker = base_xcalloc(1, sizeof *unpacker);
  unpacker->packing = packing;
  unpacker->whole = true;
  bool good;
  if (packing == SN_GZIP) {
    good = zlib.inflateInit2_(&unpacker->gzip, ZLIB_GZIP_WINDOW, "1.2",
                              (int)sizeof unpacker->gzip) == ZLIB_OK;
  } else {
    unpacker->zstd = zstd.ZSTD_createDStream();
    good = unpacker->zstd != NULL;
  }
  if (!good) base_heap_exhausted(1);
  return unpacker;
}

void sn_unpacker_free(struct sn_unpacker *unpacker) {
  if (unpacker == NULL) return;
  if (unpacker->packing == SN_GZIP)
    zlib.inflateEnd(&unpacker->gzip);
  else
    zstd.ZSTD_freeDStream(unpacker->zstd);
  free(unpacker);
}

/* Behind a stream of gzip: another one, or, as gzip has it, zeros that are nothing. */
static bool begin_another(struct sn_unpacker *unpacker, const char *in, size_t length) {
  if (unpacker->packing != SN_GZIP || !unpacker->whole || unpacker->gzip.total_in == 0) return true;
  for (size_t i = 0; i < length; i++)
    if (in[i] != 0) {
      zlib.inflateReset(&unpacker->gzip);
      return true;
    }
  return false;
}

static enum sn_unpacked gunzip(struct sn_unpacker *unpacker, const char **in, size_t *in_length,
                               char *out, size_t room, size_t *ret_got) {
  struct zlib_stream *stream = &unpacker->gzip;
  const unsigned int most = 1U << 30;
  unsigned int give = *in_length < most ? (unsigned int)*in_length : most,
               take = room < most ? (unsigned int)room : most;
  stream->next_in = (const unsigned char *)*in;
  stream->avail_in = give;
  stream->next_out = (unsigned char *)out;
  stream->avail_out = take;
  int result = zlib.inflate(stream, 0);
  *in += give - stream->avail_in;
  *in_length -= give - stream->avail_in;
  *ret_got = take - stream->avail_out;
  unpacker->whole = result == ZLIB_STREAM_END;
  if (result != ZLIB_OK && result != ZLIB_STREAM_END && result != ZLIB_BUFFER_ERROR)
    return SN_UNPACKED_DAMAGED;
  return *ret_got > 0 ? SN_UNPACKED_SOME : SN_UNPACKED_NEEDS;
}

static enum sn_unpacked unzstd(struct sn_unpacker *unpacker, const char **in, size_t *in_length,
                               char *out, size_t room, size_t *ret_got) {
  struct zstd_in from = {*in, *in_length, 0};
  struct zstd_out to = {out, room, 0};
  size_t result = zstd.ZSTD_decompressStream(unpacker->zstd, &to, &from);
  *in += from.at;
  *in_length -= from.at;
  *ret_got = to.at;
  if (zstd.ZSTD_isError(result)) return SN_UNPACKED_DAMAGED;
  unpacker->whole = result == 0;
  return to.at > 0 ? SN_UNPACKED_SOME : SN_UNPACKED_NEEDS;
}

enum sn_unpacked sn_unpack(struct sn_unpacker *unpacker, const char **in, size_t *in_length,
                           char *out, size_t room, size_t *ret_got) {
  enum sn_unpacked unpacked = SN_UNPACKED_NEEDS;
  *ret_got = 0;
  if (*in_length == 0 && unpacker->whole) return unpacked;
  /* A stream may end without having given anything. */
  do {
    if (unpacker->packing == SN_GZIP && *in_length > 0 &&
        !begin_another(unpacker, *in, *in_length)) {
      *in_length = 0;
      return SN_UNPACKED_NEEDS;
    }
    /* What is held back for want of room comes without input, too. */
    unpacked = unpacker->packing == SN_GZIP ? gunzip(unpacker, in, in_length, out, room, ret_got)
                                            : unzstd(unpacker, in, in_length, out, room, ret_got);
  } while (unpacked == SN_UNPACKED_NEEDS && *in_length > 0);
  return unpacked;
}

bool sn_unpacker_is_whole(const struct sn_unpacker *unpacker) {
  return unpacker->whole;
}
