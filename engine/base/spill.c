/* Files without names, mapped. See spill.h. */
#include "engine/base/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *last_directory = "/tmp";

const char *base_spill_directory(void) {
  return last_directory;
}

static int open_file(void) {
  const char *directories[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
  int file = -1;
  for (size_t i = 0; i < sizeof directories / sizeof *directories && file < 0; i++) {
    if (directories[i] == NULL || !directories[i][0]) continue;
    last_directory = directories[i];
    file = open(last_directory, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  }
  return file;
}

/* The blocks are there, or errno says why not. */
static bool make_room(int file, size_t size) {
  int error = posix_fallocate(file, 0, (off_t)size);
  if (error != 0) errno = error;
  return error == 0;
}

bool base_spill_open(struct base_spill *spill, size_t size) {
  *spill = (struct base_spill){.file = open_file(), .size = size};
  if (spill->file < 0) return false;
  if (make_room(spill->file, size)) {
    spill->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file, 0);
    if (spill->memory != MAP_FAILED) return true;
  }
  int error = errno;
  close(spill->file);
  errno = error;
  return false;
}

bool base_spill_grow(struct base_spill *spill, size_t size) {
  if (size <= spill->size) return true;
  if (!make_room(spill->file, size)) return false;
  void *memory = mremap(spill->memory, spill->size, size, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return false;
  spill->memory = memory;
  spill->size = size;
  return true;
}

void base_spill_close(struct base_spill *spill) {
  munmap(spill->memory, spill->size);
  close(spill->file);
}
