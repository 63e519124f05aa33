/* Where programs, collector and server meet. The rules are those of sensors/runtime/process.c: a directory
 * that programs would not trust is none. Only the last part of the path is made.                    */
#include "sensors/collect/directory.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/buffer.h"

char *sn_directory_default(void) {
  const char *user = secure_getenv("XDG_RUNTIME_DIR");
  struct base_buffer path = BASE_BUFFER_EMPTY;
  base_buffer_printf(&path, "%s/tquel", user != NULL && user[0] == '/' ? user : "/run");
  return path.data;
}

bool sn_directory_prepare(const char *directory, const char **ret_reason) {
  struct stat status;
  mkdir(directory, 0700);
  if (lstat(directory, &status) != 0) {
    *ret_reason = "it is not there and cannot be made";
  } else if (!S_ISDIR(status.st_mode)) {
    *ret_reason = "it is no directory";
  } else if (status.st_uid != geteuid() && status.st_uid != 0) {
    *ret_reason = "it belongs to another user";
  } else if ((status.st_mode & 022) != 0 && (status.st_mode & S_ISVTX) == 0) {
    *ret_reason = "others may write there";
  } else {
    return true;
  }
  return false;
}
