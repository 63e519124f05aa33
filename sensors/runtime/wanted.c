/* What is wanted already when this program, a child of it or a library in it begins (struct sn_wanted).
 *
 * The page is looked at once for each module and each fork, under the lock, and put to work like a reader's
 * commands: the generation of the reader, and switches. Where there is none, that is one `open` that fails.
 * Its owner must be one whom we would hand our rings to.                                             */
#include "sensors/runtime/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS_AT_ONCE = 32 }; /* a child of fork may have little stack */

static bool read_all(int file, void *to, size_t bytes) {
  unsigned char *at = to;
  while (bytes > 0) {
    ssize_t got = read(file, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    bytes -= (size_t)got;
  }
  return true;
}

/* A reader that lives and does not come to run beats late; that it lives its lock says, which goes with it. */
static bool is_held(int file) {
  enum {
    OFD_GETLK = 36
  }; /* F_OFD_GETLK, which is there by extensions only: Linux, on whatever machine */
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  return fcntl(file, OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* -1: there is none, or not one of a reader of ours that lives. */
static int open_page(struct sn_wanted *ret_page) {
  struct stat status;
  char *end = sn_process.unready + sn_process.directory;
  sn_put_text(end, SN_WANTED_NAME);
  int file = open(sn_process.unready, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return -1;
  bool good = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
              (status.st_uid == geteuid() || status.st_uid == 0) &&
              read_all(file, ret_page, sizeof *ret_page) &&
              memcmp(ret_page->magic, SN_WANTED_MAGIC, sizeof ret_page->magic) == 0 &&
              ret_page->layout == SN_WANTED_LAYOUT && ret_page->page != 0;
  uint64_t now = sn_monotonic_ns();
  good = good && ret_page->beat_ns <= now;
  if (good && (now - ret_page->beat_ns < SN_BEAT_NS || is_held(file))) return file;
  close(file);
  return -1;
}

/* The reader of PAGE is ours now, if nobody else is. Returns its generation; 0: somebody else is. */
static uint32_t take_reader(const struct sn_wanted *page) {
  struct sn_header *header = sn_process.header;
  uint32_t none = 0;
  if (__atomic_load_n(&header->generation, __ATOMIC_ACQUIRE) == 0) {
    __atomic_store_n(&header->ring_bytes, page->ring_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&header->beat_ns, page->beat_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&header->page, page->page, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(&header->generation, &none, 1, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
  }
  uint32_t generation = __atomic_load_n(&header->generation, __ATOMIC_SEQ_CST);
  return __atomic_load_n(&header->page, __ATOMIC_SEQ_CST) == page->page ? generation : 0;
}

/* Rows that are read together go to all modules that are meant. */
static bool take_rows(const struct sn_wanted *page, const struct sn_wanted_row *rows, size_t count,
                      struct sn_module_state *only) {
  bool any = false;
  for (struct sn_module_state *state = only != NULL ? only : sn_process.modules; state != NULL;
       state = only != NULL ? NULL : state->next) {
    for (size_t i = 0; i < count; i++) {
      if (!sn_module_has(state, &rows[i])) continue;
      uint32_t generation = take_reader(page);
      if (generation == 0) return false;
      sn_module_switch_on(state, &rows[i], generation);
      any = true;
    }
  }
  return any;
}

static bool has_any(const struct sn_module_state *state, const struct sn_wanted_row *rows,
                    size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (sn_module_has(state, &rows[i])) return true;
  }
  return false;
}

/* ASKED: nothing is put on, and one row is enough. */
static bool look(struct sn_module_state *only, const struct sn_module_state *asked) {
  struct sn_wanted page;
  struct sn_wanted_row rows[ROWS_AT_ONCE];
  bool any = false;
  int file = sn_process.path != NULL ? open_page(&page) : -1;
  if (file < 0) return false;
  uint32_t left = page.rows < SN_WANTED_ROWS_MAX ? page.rows : SN_WANTED_ROWS_MAX;
  while (left > 0 && !(any && asked != NULL)) {
    uint32_t count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
    if (!read_all(file, rows, count * sizeof *rows)) break;
    any |= asked != NULL ? has_any(asked, rows, count) : take_rows(&page, rows, count, only);
    left -= count;
  }
  close(file);
  return any;
}

bool sn_wanted_look(struct sn_module_state *only) {
  return look(only, NULL);
}

bool sn_wanted_ask(const struct sn_module_state *only) {
  return look(NULL, only);
}
