/* Where tests put their files: below $TMPDIR, or /tmp. `./dev test` points TMPDIR to memory where there is enough of
 * it: what is asked of a disk again and again (a commit waits for it) took most of the suite's time.        */
#ifndef TESTS_TEMPORARY_H
#define TESTS_TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>

/* $TMPDIR/NAME, as a template for mkdtemp and mkstemp. The caller frees it. */
static inline char *temporary_path(const char *name) {
  const char *directory = getenv("TMPDIR");
  char *path;
  if (directory == NULL || directory[0] != '/') directory = "/tmp";
  if (asprintf(&path, "%s/%s", directory, name) < 0) abort();
  return path;
}

#endif
