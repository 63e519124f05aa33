/* Where a reader's bytes come from: an open descriptor and the buffer of what was read and not yet
 * consumed. Internal to sensors/feed. */
#ifndef SN_SOURCE_H
#define SN_SOURCE_H

#include "sensors/feed/feed.h"
#include "sensors/feed/unpack.h"

enum sn_fill {
  SN_FILLED,
  SN_NOTHING_NOW,
  SN_AT_END,
  SN_ROTATED, /* what is followed begins anew; what was unread is gone */
  SN_FILL_FAILED
};

/* What has become of a file that is followed. */
enum sn_rotation {
  SN_TRUNCATED, /* it is shorter than what was read: what it still had is not known */
  SN_REPLACED,  /* another file has its name; the old one was read to its end */
  SN_CUT_OFF,   /* likewise, but its last line had no end */
};

struct sn_source {
  char *name;     /* for messages */
  int descriptor; /* -1: none */
  bool owned;     /* closed with the source */
  bool following;
  bool regular;    /* a regular file: bytes can be skipped */
  bool keeps_last; /* whole lines may be unread, as what follows them decides where a record ends */
  bool grows;      /* one that is followed: its end is never final */
  bool ended;
  bool leaving;                 /* another file has its name: the old one is read to its end */
  enum sn_rotation rotation;    /* after SN_ROTATED */
  int notify;                   /* inotify descriptor or -1 */
  struct sn_unpacker *unpacker; /* of bytes that are packed, or NULL */
  bool looked;                  /* whether they are */
  char *packed; /* those that are not unpacked yet: PACKED_LENGTH from PACKED_AT on */
  size_t packed_at, packed_length;
  bool holding;        /* what was read is held until it is settled */
  bool wants_settling; /* it is to be rotated, and what is held is gone then */
  /* The unread bytes are data[next] .. data[end - 1], and data[end] is NUL. Those that are held, and may be read
   * again, are data[held] .. data[next - 1]. */
  char *data;
  size_t held, next, end, capacity;
  int64_t bytes_read;        /* by this source, of the file as it is now */
  enum base_message problem; /* after SN_FILL_FAILED */
  int error;                 /* errno, or 0: REASON */
  const char *reason;        /* static */
};

enum base_status sn_source_open(struct sn_source *source, const struct sn_reader_options *options,
                                struct base_diag_sink *diags) BASE_MUST_USE;
void sn_source_done(struct sn_source *source);
/* Reads more behind data[end - 1]. Texts that point into data are void afterwards. */
enum sn_fill sn_source_fill(struct sn_source *source);
/* What was read so far is not held any more. */
void sn_source_settle(struct sn_source *source);
/* A file that is followed is read from its beginning again. */
void sn_source_restart(struct sn_source *source);
/* What to poll for more, or -1. */
int sn_source_descriptor(const struct sn_source *source);

static inline const char *sn_source_text(const struct sn_source *source) {
  return source->data + source->next;
}
static inline size_t sn_source_unread(const struct sn_source *source) {
  return source->end - source->next;
}

#endif
