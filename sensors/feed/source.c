/* Reading bytes from files, FIFOs, sockets, terminals.
 *
 * An input that is followed is never waited for. Its descriptor is asked with poll() first and then
 * read, so that descriptors which others share (standard input, above all) need not be switched to
 * non-blocking. Only a FIFO opened by path has O_NONBLOCK, since opening it would wait for a
 * writer.
 *
 * The end of input is
 *   - of a regular file that is not followed, of pipes, sockets, terminals: read() returning 0;
 *   - of a FIFO that is followed: the same with POLLHUP, which Linux reports only after there has
 *     been a writer; before, read() returns 0 as well, and that means "nothing yet";
 *   - of a regular file that is followed: never. Such a file may be rotated: one that has become
 *     shorter than what was read of it is read from its beginning again, and where another file has
 *     got its name, that one is read when the old one is at its end and the new one has something
 *     (whoever writes may go on with the old one for a while). A file that was truncated and has
 *     grown beyond what was read cannot be told from one that only grew.
 *
 * Growth of a followed file is announced by inotify where that works (not for changes made on other
 * machines, nor when the instances allowed to the user are used up); readers ask again after a
 * while in any case. The pending notices are taken away before the file is read, so that a change
 * behind the read leaves a notice behind. */
#include "sensors/feed/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"

#define READ_SIZE ((size_t)256 * 1024)

/* Opening a FIFO without O_NONBLOCK waits for its writer. */
static int open_path(const char *path, bool following) {
  for (;;) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (following ? O_NONBLOCK : 0));
    if (descriptor >= 0 || errno != EINTR || base_env_interrupted()) return descriptor;
  }
}

static void watch_growth(struct sn_source *source, const char *path) {
  source->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (source->notify < 0) return;
  if (inotify_add_watch(source->notify, path, IN_MODIFY | IN_ATTRIB) >= 0) return;
  close(source->notify);
  source->notify = -1;
}

static enum base_status cannot_open(struct sn_source *source, struct base_diag_sink *diags,
                                    int error) {
  base_report(diags, MSG_CANNOT_OPEN, NULL, NULL, "cannot open %s: %s", source->name,
              strerror(error));
  return BASE_SYSTEM;
}

enum base_status sn_source_open(struct sn_source *source, const struct sn_reader_options *options,
                                struct base_diag_sink *diags) {
  const char *path = options->path;
  bool is_stdin = path && strcmp(path, "-") == 0;
  bool by_path = path && !is_stdin;
  struct stat status;
  *source = (struct sn_source){.name = base_xstrdup(by_path    ? path
                                                    : is_stdin ? "standard input"
                                                               : "the input"),
                               .descriptor = is_stdin  ? STDIN_FILENO
                                             : by_path ? -1
                                                       : options->descriptor,
                               .owned = by_path,
                               .following = options->following,
                               .holding = options->holding,
                               .notify = -1};
  if (by_path) {
    source->descriptor = open_path(path, options->following);
    if (source->descriptor < 0 && errno == EINTR) return BASE_CANCEL;
    if (source->descriptor < 0) return cannot_open(source, diags, errno);
  }
  if (fstat(source->descriptor, &status) != 0) return cannot_open(source, diags, errno);
  if (S_ISDIR(status.st_mode)) return cannot_open(source, diags, EISDIR);
  source->regular = S_ISREG(status.st_mode);
  source->grows = source->regular && by_path && options->following;
  if (source->grows) watch_growth(source, path);
  return BASE_OK;
}

void sn_source_done(struct sn_source *source) {
  if (source->owned && source->descriptor >= 0) close(source->descriptor);
  if (source->notify >= 0) close(source->notify);
  sn_unpacker_free(source->unpacker);
  free(source->packed);
  free(source->data);
  free(source->name);
}

int sn_source_descriptor(const struct sn_source *source) {
  if (source->ended) return -1;
  return source->regular ? source->notify : source->descriptor;
}

void sn_source_settle(struct sn_source *source) {
  source->held = source->next;
  source->wants_settling = false;
}

/* Room for READ_SIZE bytes and the NUL behind what is held and unread. */
static void make_room(struct sn_source *source) {
  if (!source->holding) source->held = source->next;
  size_t gone = source->held;
  if (source->capacity - source->end > READ_SIZE) return;
  if (gone > 0) {
    memmove(source->data, source->data + gone, source->end - gone);
    source->held = 0;
    source->next -= gone;
    source->end -= gone;
  }
  base_grow(&source->data, &source->capacity, source->end + READ_SIZE + 1, 1);
}

static enum sn_fill failed(struct sn_source *source, enum base_message problem, int error) {
  source->problem = problem;
  source->error = error;
  return SN_FILL_FAILED;
}

/* Waits for input, or not when following. SN_FILLED: reading will not wait. */
static enum sn_fill await(struct sn_source *source, bool *ret_hung_up) {
  struct pollfd poll_for = {.fd = source->descriptor, .events = POLLIN};
  int ready = poll(&poll_for, 1, source->following ? 0 : -1);
  if (ready < 0 && errno != EINTR) return failed(source, MSG_CANNOT_READ, errno);
  if (ready > 0) {
    *ret_hung_up = poll_for.revents & POLLHUP;
    return SN_FILLED;
  }
  if (ready < 0 && !source->following && !base_env_interrupted()) return await(source, ret_hung_up);
  return SN_NOTHING_NOW;
}

static void take_notices(const struct sn_source *source) {
  _Alignas(struct inotify_event) char notices[4096];
  if (source->notify < 0) return;
  while (read(source->notify, notices, sizeof notices) > 0) continue;
}

void sn_source_restart(struct sn_source *source) {
  (void)lseek(source->descriptor, 0, SEEK_SET);
  source->held = source->next = source->end = 0;
  source->bytes_read = 0;
}

/* Has another file, with something in it, the name of this one? */
static bool is_replaced(const struct sn_source *source, const struct stat *own) {
  struct stat named;
  return stat(source->name, &named) == 0 && S_ISREG(named.st_mode) && named.st_size > 0 &&
         (named.st_dev != own->st_dev || named.st_ino != own->st_ino);
}

/* What is held of the file as it was would be gone: it is to be settled first. */
static bool must_wait(struct sn_source *source) {
  source->wants_settling = source->holding && source->next > source->held;
  return source->wants_settling;
}

static enum sn_fill turn_to_new_file(struct sn_source *source) {
  int descriptor = open_path(source->name, true);
  source->leaving = false;
  if (descriptor < 0) return SN_NOTHING_NOW; /* gone again */
  source->rotation = sn_source_unread(source) > 0 ? SN_CUT_OFF : SN_REPLACED;
  close(source->descriptor);
  if (source->notify >= 0) close(source->notify);
  source->descriptor = descriptor;
  watch_growth(source, source->name);
  sn_source_restart(source);
  return SN_ROTATED;
}

/* Nothing follows what is there: it is to be taken before the file is left. */
static bool has_last(const struct sn_source *source) {
  return source->keeps_last && source->end > source->next && source->data[source->end - 1] == '\n';
}

static enum sn_fill at_file_end(struct sn_source *source) {
  struct stat status;
  if (!source->grows) {
    source->ended = true;
    return SN_AT_END;
  }
  if (fstat(source->descriptor, &status) != 0) return failed(source, MSG_CANNOT_READ, errno);
  if (status.st_size < source->bytes_read) {
    if (has_last(source)) return SN_AT_END;
    if (must_wait(source)) return SN_NOTHING_NOW;
    source->rotation = SN_TRUNCATED;
    sn_source_restart(source);
    return SN_ROTATED;
  }
  if (source->leaving && has_last(source)) return SN_AT_END;
  if (source->leaving) return must_wait(source) ? SN_NOTHING_NOW : turn_to_new_file(source);
  if (!is_replaced(source, &status)) return SN_NOTHING_NOW;
  source->leaving = true; /* the old one may have got more since it was read */
  return sn_source_fill(source);
}

static enum sn_fill at_stream_end(struct sn_source *source, bool hung_up) {
  struct stat status;
  bool is_fifo = fstat(source->descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
  if (source->following && source->owned && is_fifo && !hung_up) return SN_NOTHING_NOW;
  source->ended = true;
  return SN_AT_END;
}

/* Bytes as they come, at most READ_SIZE of them, to TO. */
static enum sn_fill read_raw(struct sn_source *source, char *to, size_t *ret_got);

/* --- packed bytes: what came goes through PACKED */

static enum sn_fill unpack_failed(struct sn_source *source, const char *reason) {
  source->reason = reason;
  return failed(source, MSG_PACKED, 0);
}

/* The first bytes have come, and are in DATA: are they packed? SN_NOTHING_NOW: more of them are needed, to know. */
static enum sn_fill look_for_packing(struct sn_source *source) {
  const char *name = NULL;
  size_t length = sn_source_unread(source);
  enum sn_packing packing = sn_packing_of(sn_source_text(source), length, &name);
  if (packing == SN_PACKING_UNKNOWN && !source->ended) return SN_NOTHING_NOW;
  source->looked = true;
  if (packing == SN_PACKING_OTHER)
    return unpack_failed(
        source, *name == 'x' ? "it is packed with xz: unpack it first (xz -dc FILE |)"
                             : "it is packed with bzip2: unpack it first (bzip2 -dc FILE |)");
  if (packing != SN_GZIP && packing != SN_ZSTD) return SN_FILLED;
  source->unpacker = sn_unpacker_new(packing);
  if (source->unpacker == NULL)
    return unpack_failed(source,
                         packing == SN_GZIP
                             ? "it is packed with gzip, and there is no libz.so.1 (zlib1g)"
                             : "it is packed with zstd, and there is no libzstd.so.1 (libzstd1)");
  source->packed = base_xmalloc(READ_SIZE > length ? READ_SIZE : length);
  memcpy(source->packed, sn_source_text(source), length);
  source->packed_length = length;
  source->end = source->next;
  source->data[source->end] = 0;
  return SN_FILLED;
}

static enum sn_fill unpack_more(struct sn_source *source) {
  for (;;) {
    size_t got = 0;
    const char *in = source->packed + source->packed_at;
    enum sn_unpacked unpacked = sn_unpack(source->unpacker, &in, &source->packed_length,
                                          source->data + source->end, READ_SIZE, &got);
    source->packed_at = (size_t)(in - source->packed);
    if (unpacked == SN_UNPACKED_DAMAGED) return unpack_failed(source, "its packing is damaged");
    if (unpacked == SN_UNPACKED_SOME) {
      source->end += got;
      source->data[source->end] = 0;
      return SN_FILLED;
    }
    if (source->ended)
      return sn_unpacker_is_whole(source->unpacker)
                 ? SN_AT_END
                 : unpack_failed(source, "it is packed, and ends too early");
    source->packed_at = 0;
    enum sn_fill fill = read_raw(source, source->packed, &source->packed_length);
    if (fill != SN_FILLED && fill != SN_AT_END) return fill;
  }
}

enum sn_fill sn_source_fill(struct sn_source *source) {
  size_t got = 0;
  if (source->ended && source->unpacker == NULL) return SN_AT_END;
  make_room(source);
  if (source->unpacker != NULL) return unpack_more(source);
  enum sn_fill fill = read_raw(source, source->data + source->end, &got);
  if (fill == SN_FILLED) {
    source->end += got;
    source->data[source->end] = 0;
  }
  if (source->looked || source->following || (fill != SN_FILLED && fill != SN_AT_END)) return fill;
  enum sn_fill looked = look_for_packing(source);
  if (looked == SN_NOTHING_NOW) return sn_source_fill(source);
  if (looked != SN_FILLED || source->unpacker == NULL) return looked == SN_FILLED ? fill : looked;
  return unpack_more(source);
}

static enum sn_fill read_raw(struct sn_source *source, char *to, size_t *ret_got) {
  bool hung_up = false;
  if (source->ended) return SN_AT_END;
  if (source->regular) {
    take_notices(source);
  } else {
    enum sn_fill ready = await(source, &hung_up);
    if (ready != SN_FILLED) return ready;
  }
  ssize_t size = read(source->descriptor, to, READ_SIZE);
  if (size < 0) {
    if (errno == EAGAIN && !source->following) return read_raw(source, to, ret_got);
    if (errno == EAGAIN) return SN_NOTHING_NOW;
    if (errno == EINTR && !base_env_interrupted()) return read_raw(source, to, ret_got);
    return errno == EINTR ? SN_NOTHING_NOW : failed(source, MSG_CANNOT_READ, errno);
  }
  if (size == 0) return source->regular ? at_file_end(source) : at_stream_end(source, hung_up);
  *ret_got = (size_t)size;
  source->bytes_read += size;
  return SN_FILLED;
}
