/* What is wanted of programs that begin: a page beside their announcements (struct sn_wanted), so that a program
 * has it on before its first sensor, and before we have noticed it.
 *
 * A relation is on it if somebody wants it of whatever process, or has it counted; who wants one by its name has to wait until
 * there is a name. The page is written anew, under another name first, when its rows are other ones, and is not
 * there while nothing is wanted: then it costs a program's beginning one `open`. Its number tells who looked into
 * ours from those that a collector before us has switched. One that cannot be written (a full disk, a file of
 * somebody else) is none: programs are then on when we have found them.                                */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/status.h"
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

#define FIRST_NAME "." SN_WANTED_NAME

/* --- rows */

static unsigned what_of(const struct sn_watch *watch) {
  if (watch->copied) return 0; /* it is said by the name that it was copied for */
  for (uint32_t i = 0; i < watch->value_count; i++) {
    if (watch->values[i].process) return 0;
  }
  return watch->value_count > 0 ? SN_WANTED_PROCESS : SN_WANTED_PROCESS | SN_WANTED_OBJECTS;
}

static unsigned wanted_of(const struct sn_interest *interest) {
  const unsigned all = SN_WANTED_PROCESS | SN_WANTED_OBJECTS;
  unsigned what = 0;
  for (unsigned list = 0; list < 2; list++) {
    for (const struct sn_watch *watch = interest->watches[list]; watch != NULL && what != all;
         watch = watch->next) {
      what |= what_of(watch);
    }
  }
  return what;
}

static void put_rows(const struct sn_monitor *monitor, struct base_buffer *out) {
  for (const struct sn_interest *interest = monitor->interests; interest != NULL;
       interest = interest->next) {
    struct sn_wanted_row row = {.name = sn_name_hash(interest->relation)};
    row.what = interest->count > 0 ? wanted_of(interest) : 0;
    if (interest->counted || monitor->telling.counts) row.what |= SN_WANTED_COUNT;
    if (row.what != 0) base_buffer_append(out, (const char *)&row, sizeof row);
  }
}

/* --- the file */

static char *path_of(const struct sn_monitor *monitor, const char *name) {
  struct base_buffer path = BASE_BUFFER_EMPTY;
  base_buffer_printf(&path, "%s/%s", monitor->directory, name);
  return path.data;
}

static void close_page(struct sn_page *page) {
  if (page->file >= 0) close(page->file);
  page->file = -1;
}

/* Who reads our socket may read it, and nobody but us writes it. */
static int write_page(const struct sn_monitor *monitor, const char *path,
                      const struct base_buffer *rows) {
  struct sn_wanted head = {.layout = SN_WANTED_LAYOUT,
                           .rows = (uint32_t)(rows->length / sizeof(struct sn_wanted_row)),
                           .page = monitor->page.number,
                           .beat_ns = (uint64_t)base_env_monotonic(),
                           .ring_bytes = monitor->options.ring_bytes};
  memcpy(head.magic, SN_WANTED_MAGIC, sizeof head.magic);
  unlink(path);
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  /* Where no locks are to be had the beat alone says that we are there. */
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  (void)fcntl(file, F_OFD_SETLK, &lock);
  bool good = write(file, &head, sizeof head) == (ssize_t)sizeof head &&
              write(file, rows->data, rows->length) == (ssize_t)rows->length &&
              fchmod(file, (mode_t)(monitor->options.mode & 0644)) == 0;
  if (good) return file;
  close(file);
  unlink(path);
  return -1;
}

static void put_page(struct sn_monitor *monitor, const struct base_buffer *rows) {
  struct sn_page *page = &monitor->page;
  char *path = path_of(monitor, SN_WANTED_NAME), *first = path_of(monitor, FIRST_NAME);
  int file = rows->length > 0 ? write_page(monitor, first, rows) : -1;
  if (file < 0 || rename(first, path) != 0) {
    if (file >= 0) close(file);
    file = -1;
    unlink(first);
    unlink(path);
  }
  close_page(page); /* its lock holds until there is another one in its place */
  page->file = file;
  free(path);
  free(first);
}

/* --- */

void sn_wanted_start(struct sn_monitor *monitor) {
  struct sn_page *page = &monitor->page;
  page->file = -1;
  page->rows = (struct base_buffer)BASE_BUFFER_EMPTY;
  BASE_CHECK(getrandom(&page->number, sizeof page->number, 0) == (ssize_t)sizeof page->number,
             "page-random");
  page->number |= 1;
  put_page(monitor, &page->rows); /* a dead collector's goes */
}

void sn_wanted_turn(struct sn_monitor *monitor) {
  struct sn_page *page = &monitor->page;
  bool open = monitor->clocked && !monitor->stopping;
  if (page->commands == monitor->commands && page->open == open) return;
  struct base_buffer rows = BASE_BUFFER_EMPTY;
  if (open) put_rows(monitor, &rows);
  bool same = rows.length == page->rows.length &&
              (rows.length == 0 || memcmp(rows.data, page->rows.data, rows.length) == 0);
  if (!same) put_page(monitor, &rows);
  base_buffer_done(&page->rows);
  page->rows = rows;
  page->commands = monitor->commands;
  page->open = open;
}

void sn_wanted_beat(struct sn_monitor *monitor, uint64_t monotonic_ns) {
  if (monitor->page.file < 0) return;
  if (pwrite(monitor->page.file, &monotonic_ns, sizeof monotonic_ns,
             offsetof(struct sn_wanted, beat_ns)) != (ssize_t)sizeof monotonic_ns) {
    close_page(&monitor->page); /* it grows old, and goes for nobody */
  }
}

void sn_wanted_free(struct sn_monitor *monitor) {
  struct sn_page *page = &monitor->page;
  if (page->number == 0) return; /* we never were who writes it */
  base_buffer_clear(&page->rows);
  put_page(monitor, &page->rows);
  base_buffer_done(&page->rows);
}
