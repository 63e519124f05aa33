/* Memory that lies in a file without a name, so that the system can put it on the disk: for what is larger than its
 * budget of memory and is read from one end to the other. It does not count as memory of the process. The file is in
 * $TMPDIR, /var/tmp or /tmp, the first that can be used, and goes with the process at the latest. Its blocks are there
 * before it is written, so that a full disk is an answer here and not a signal later.                        */
#ifndef BASE_SPILL_H
#define BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>

struct base_spill {
  void *memory;
  size_t size;
  int file;
};

/* SIZE bytes, more than 0, not initialised. False: there is no room, for the reason in errno. */
bool base_spill_open(struct base_spill *spill, size_t size);
/* At least so large from now on; its memory may be elsewhere then. False: no room; nothing has changed. */
bool base_spill_grow(struct base_spill *spill, size_t size);
void base_spill_close(struct base_spill *spill);
/* The directory that is used, or was tried last. */
const char *base_spill_directory(void);

#endif
