/* Tokens from files. The file is opened first and looked at then, so that it is the one that was looked at. */
#include "sensors/wire/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "sensors/wire/transport.h"

enum { TOKEN_MIN = 16, TOKEN_MAX = 4096 };

static const char *check_file(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return sn_socket_error(errno);
  if (!S_ISREG(status.st_mode)) return "that is no file";
  if (status.st_uid != geteuid() && status.st_uid != 0) return "the file is another user's";
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return "the file may be read by others (chmod 600)";
  return NULL;
}

static const char *read_line(int file, char *to) {
  size_t length = 0;
  for (;;) {
    ssize_t got = read(file, to + length, TOKEN_MAX + 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return sn_socket_error(errno);
    if (got == 0) break;
    length += (size_t)got;
    if (memchr(to, '\n', length) != NULL || length > TOKEN_MAX) break;
  }
  to[length] = 0;
  to[strcspn(to, "\r\n")] = 0;
  length = strlen(to);
  if (length < TOKEN_MIN) return "a token has at least 16 characters";
  if (length > TOKEN_MAX) return "a token has at most 4096 characters";
  return NULL;
}

char *sn_token_read(const char *path, const char **ret_reason) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    *ret_reason = sn_socket_error(errno);
    return NULL;
  }
  char *token = base_xcalloc(1, TOKEN_MAX + 2);
  const char *reason = check_file(file);
  if (reason == NULL) reason = read_line(file, token);
  close(file);
  if (reason == NULL) return token;
  *ret_reason = reason;
  free(token);
  return NULL;
}

bool sn_token_is(struct sn_string said, const char *token) {
  size_t length = strlen(token);
  volatile unsigned char differ = said.length != length;
  for (size_t i = 0; i < said.length; i++)
    differ |= (unsigned char)said.bytes[i] ^ (unsigned char)token[length == 0 ? 0 : i % length];
  return differ == 0 && length > 0;
}
