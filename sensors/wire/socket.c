/* Addresses and sockets.
 *
 * A unix socket's path may be longer than the kernel's structure has room for: the directory is opened, and
 * the path goes through it. Beside each socket PATH there is a file PATH.lock: whoever holds the lock serves
 * there; a socket without a holder of the lock is a dead server's, and is replaced. A socket that is there is listened
 * at: it is bound under a name of its own in the directory, and gets its name then. What a server that is killed between
 * leaves, the next one of that PATH takes away. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/wire/transport.h"

const char *sn_socket_error(int error) {
  const char *text = strerrordesc_np(error);
  return text != NULL ? text : "unknown error";
}

/* --- addresses */

static bool parse_tls(char *text, struct sn_address *ret, const char **ret_reason) {
  char *host = text, *port = strrchr(text, ':');
  *ret_reason = "an address of TLS is tls:HOST:PORT";
  if (port == NULL || port == host || port[1] == 0) return false;
  *port++ = 0;
  if (host[0] == '[') {
    size_t length = strlen(host);
    if (length < 3 || host[length - 1] != ']') return false;
    host[length - 1] = 0;
    host++;
  } else if (strchr(host, ':') != NULL) {
    *ret_reason = "an IPv6 address stands in brackets: tls:[::1]:7000";
    return false;
  }
  char *end;
  long number = strtol(port, &end, 10);
  if (*end != 0 || port[0] < '0' || port[0] > '9' || number > 65535) return false;
  ret->kind = SN_ADDRESS_TLS;
  ret->host = host;
  ret->port = port;
  return true;
}

bool sn_address_parse(const char *text, struct sn_address *ret_address, char **storage,
                      const char **ret_reason) {
  *storage = base_xstrdup(text);
  *ret_address = (struct sn_address){.kind = SN_ADDRESS_UNIX, .group = -1};
  if (strncmp(text, "tls:", 4) == 0) return parse_tls(*storage + 4, ret_address, ret_reason);
  if (strncmp(text, "tcp:", 4) == 0) {
    *ret_reason = "over TCP there is only TLS: tls:HOST:PORT";
    return false;
  }
  ret_address->path = *storage + (strncmp(text, "unix:", 5) == 0 ? 5 : 0);
  *ret_reason = "an address is a path, unix:PATH, or tls:HOST:PORT";
  return ret_address->path[0] != 0;
}

/* --- unix sockets */

/* An address for PATH, whatever its length; *ret_directory is open while it is used, or -1. */
static bool unix_address(const char *path, struct sockaddr_un *ret, int *ret_directory) {
  *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
  *ret_directory = -1;
  size_t length = strlen(path);
  if (length < sizeof ret->sun_path) {
    memcpy(ret->sun_path, path, length + 1);
    return true;
  }
  const char *slash = strrchr(path, '/');
  if (slash == NULL || strlen(slash + 1) > 64) {
    errno = ENAMETOOLONG;
    return false;
  }
  char *directory = base_xstrdup(path);
  directory[slash - path] = 0;
  *ret_directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  free(directory);
  if (*ret_directory < 0) return false;
  snprintf(ret->sun_path, sizeof ret->sun_path, "/proc/self/fd/%d/%s", *ret_directory, slash + 1);
  return true;
}

int sn_socket_lock(const char *path, const char **ret_reason) {
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_printf(&name, "%s.lock", path);
  int lock = open(name.data, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  base_buffer_done(&name);
  if (lock < 0) {
    *ret_reason = sn_socket_error(errno);
  } else if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    *ret_reason = errno == EWOULDBLOCK ? "another server is there" : sn_socket_error(errno);
    close(lock);
    lock = -1;
  }
  return lock;
}

/* Only a socket is removed, never a file that somebody named by mistake. */
void sn_socket_remove(const char *path) {
  struct stat status;
  if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode)) unlink(path);
}

/* Under which name PATH is bound, in the same directory; short, as PATH may be as long as is possible. */
static char *first_name(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  struct base_buffer first = BASE_BUFFER_EMPTY;
  base_buffer_append(&first, path, (size_t)(name - path));
  if (slash == NULL) base_buffer_puts(&first, "./");
  base_buffer_printf(&first, ".tquel-%016" PRIx64, base_hash(name, strlen(name), 0));
  return first.data;
}

/* Nothing that is there is replaced: only a dead socket was to be, and that has gone. */
static bool give_name(const char *first, const char *path) {
  struct stat status;
  if (renameat2(AT_FDCWD, first, AT_FDCWD, path, RENAME_NOREPLACE) == 0) return true;
  bool unknown = errno == EINVAL || errno == ENOSYS; /* to the file system */
  if (unknown && lstat(path, &status) != 0) return rename(first, path) == 0;
  if (unknown || errno == EEXIST) errno = EADDRINUSE;
  return false;
}

static int listen_unix(const struct sn_address *address) {
  struct sockaddr_un place;
  int directory, result = -1;
  mode_t mode = address->group >= 0 ? 0660 : 0600;
  char *first = first_name(address->path);
  if (!unix_address(first, &place, &directory)) {
    free(first);
    return -1;
  }
  int at = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sn_socket_remove(first);
  sn_socket_remove(address->path);
  /* The mode of the socket is that of the file that bind makes: there is no moment with another one. */
  if (at >= 0 && fchmod(at, 0600) == 0 &&
      bind(at, (const struct sockaddr *)&place, sizeof place) == 0) {
    bool ours = address->group < 0 || chown(first, (uid_t)-1, (gid_t)address->group) == 0;
    if (ours && chmod(first, mode) == 0 && listen(at, 128) == 0 && give_name(first, address->path))
      result = at;
  }
  int error = errno;
  if (result < 0) sn_socket_remove(first);
  free(first);
  if (result < 0 && at >= 0) close(at);
  if (directory >= 0) close(directory);
  errno = error;
  return result;
}

static int connect_unix(const struct sn_address *address) {
  struct sockaddr_un place;
  int directory, result = -1;
  if (!unix_address(address->path, &place, &directory)) return -1;
  int at = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (at >= 0 && connect(at, (const struct sockaddr *)&place, sizeof place) == 0) result = at;
  int error = errno;
  if (result < 0 && at >= 0) close(at);
  if (directory >= 0) close(directory);
  errno = error;
  return result;
}

/* --- TCP */

static int listen_tcp(const struct sn_address *address, const char **ret_reason) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  int error = getaddrinfo(address->host, address->port, &hints, &found);
  int result = -1, yes = 1;
  if (error != 0) {
    *ret_reason = error == EAI_SYSTEM ? sn_socket_error(errno) : gai_strerror(error);
    return -1;
  }
  for (struct addrinfo *one = found; one != NULL && result < 0; one = one->ai_next) {
    int at = socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (at < 0) continue;
    setsockopt(at, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(at, one->ai_addr, one->ai_addrlen) == 0 && listen(at, 128) == 0) {
      result = at;
    } else {
      *ret_reason = sn_socket_error(errno);
      close(at);
    }
  }
  freeaddrinfo(found);
  return result;
}

int sn_socket_listen(const struct sn_address *address, const char **ret_reason) {
  if (address->kind == SN_ADDRESS_TLS) return listen_tcp(address, ret_reason);
  int at = listen_unix(address);
  if (at < 0) *ret_reason = sn_socket_error(errno);
  return at;
}

/* Why nobody answers at PATH. */
static const char *refusal(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0 || S_ISSOCK(status.st_mode)) return "no server is there any more";
  return S_ISDIR(status.st_mode)
             ? "that is a directory, and no server's socket"
             : "that is a file, and no server's socket; what serve prints says where it is";
}

int sn_socket_connect(const struct sn_address *address, const char **ret_reason) {
  int at = connect_unix(address);
  if (at < 0) {
    *ret_reason = errno == ENOENT         ? "no server is there"
                  : errno == ECONNREFUSED ? refusal(address->path)
                                          : sn_socket_error(errno);
  }
  return at;
}
