#include "tquel/infer/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "engine/base/heap.h"

enum { PIECE = 1 << 18 };

bool tql_is_stream(const char *path) {
  struct stat status;
  return strcmp(path, "-") == 0 ||
         (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

static enum base_status say(struct base_diag_sink *diags, enum base_message number,
                            const char *what, const char *path) {
  base_report(diags, number, NULL, NULL, "cannot %s %s: %s", what,
              strcmp(path, "-") == 0 ? "standard input" : path, strerror(errno));
  return BASE_SYSTEM;
}

static int nameless_file(void) {
  const char *directories[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};
  for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
    char name[4096];
    if (directories[i] == NULL || *directories[i] == '\0') continue;
    int file = open(directories[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    if (snprintf(name, sizeof name, "%s/tquel-XXXXXX", directories[i]) >= (int)sizeof name)
      continue;
    file = mkostemp(name, O_CLOEXEC);
    if (file < 0) continue;
    unlink(name);
    return file;
  }
  return -1;
}

static bool write_all(int file, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(file, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

/* Bytes of MOST at most, and not a part of a line at the end of them. */
static enum base_status fill(int from, int to, size_t most, const char *path,
                             struct base_diag_sink *diags) {
  char *piece = base_xmalloc(PIECE);
  enum base_status status = BASE_OK;
  size_t total = 0, lines_end = 0;
  while (most == 0 || total < most) {
    ssize_t got = read(from, piece, PIECE);
    if (got < 0 && errno == EINTR && !base_env_interrupted()) continue;
    if (got < 0 || base_env_interrupted())
      status = base_env_interrupted() ? BASE_CANCEL : say(diags, MSG_CANNOT_READ, "read", path);
    if (got <= 0 || status != BASE_OK) break;
    const char *newline = memrchr(piece, '\n', (size_t)got);
    if (newline != NULL) lines_end = total + (size_t)(newline - piece) + 1;
    if (!write_all(to, piece, (size_t)got)) {
      status = say(diags, MSG_CANNOT_WRITE, "keep", path);
      break;
    }
    total += (size_t)got;
  }
  bool cut = most > 0 && total >= most && lines_end > 0;
  if (status == BASE_OK && cut && ftruncate(to, (off_t)lines_end) != 0)
    status = say(diags, MSG_CANNOT_WRITE, "keep", path);
  free(piece);
  return status;
}

enum base_status tql_spool(const char *path, size_t most, struct base_diag_sink *diags, int *ret) {
  bool input = strcmp(path, "-") == 0;
  int from = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (from < 0) return say(diags, MSG_CANNOT_OPEN, "open", path);
  *ret = nameless_file();
  enum base_status status =
      *ret >= 0 ? fill(from, *ret, most, path, diags) : say(diags, MSG_CANNOT_WRITE, "keep", path);
  if (!input) close(from);
  if (status == BASE_OK && lseek(*ret, 0, SEEK_SET) == 0) return BASE_OK;
  if (*ret >= 0) close(*ret);
  return status != BASE_OK ? status : BASE_SYSTEM;
}
