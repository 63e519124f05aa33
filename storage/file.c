/* The database file as seen from outside SQLite: may it be opened at all?
 *
 * Everything that can be refused is refused here, before SQLite has touched the file, so that a
 * refusal leaves it byte for byte as it was and no file behind. The 100 bytes of SQLite's header
 * say whose file it is: the blank database that a new one is a copy of has application_id and user_version in
 * the file itself, before the write-ahead log is switched on, so they never stand in the log alone.
 *
 * The header is read through SQLite's own VFS: closing a plain descriptor of the file would drop
 * the POSIX locks that another connection of this process holds on it.
 *
 * The writer's lock is a flock on PATH-tquel-lock, held as long as the connection lives. The kernel
 * drops it with the process, however that ends; sqlite3 knows nothing of it and reads on. The file
 * of the lock is removed at the end, under the lock; whoever got hold of a removed one tries again. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/ground.h"

#define HEADER_BYTES 100

static uint32_t big_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static char *joined(const char *a, const char *b) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_puts(&text, a);
  base_buffer_puts(&text, b);
  return text.data;
}

static bool may(const char *path, int mode) {
  return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* The directory part of PATH ("." when there is none), allocated. */
static char *directory_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return base_xstrdup(".");
  char *directory = base_xstrdup(path);
  directory[slash == path ? 1 : slash - path] = 0;
  return directory;
}

/* ---- where is it ---- */

static enum base_status refuse_directory(const char *directory, struct base_diag_sink *diags) {
  int error = errno;
  if (error == EACCES)
    base_report_hint(diags, MSG_DATABASE_PERMISSION, NULL, NULL,
                     "change the permissions, or choose another place",
                     "no permission to enter the directory %s", directory);
  else if (error != ENOENT &&
           error != ENOTDIR) /* memory that is short says nothing of the directory */
    base_report(diags, MSG_DATABASE_IO, NULL, NULL, "%s: %s", directory, strerror(error));
  else
    base_report_hint(diags, MSG_DATABASE_DIRECTORY, NULL, NULL,
                     "correct the path, or create the directory first", "there is no directory %s",
                     directory);
  return BASE_SYSTEM;
}

/* A path to a file that does not exist: its directory resolved, then its name. */
static enum base_status resolve_new(const char *path, struct base_diag_sink *diags, char **ret) {
  struct stat link;
  char *directory = directory_of(path);
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  char *resolved = realpath(directory, NULL);
  enum base_status status = BASE_OK;
  if (!resolved) {
    status = refuse_directory(directory, diags);
  } else if (!*name) {
    base_report_hint(diags, MSG_NOT_A_DATABASE, NULL, NULL, "name a database file, or a new one",
                     "\"%s\" is not the name of a file", path);
    status = BASE_SYSTEM;
  } else if (lstat(path, &link) == 0) {
    base_report_hint(diags, MSG_DATABASE_MISSING, NULL, NULL, "correct or remove the link",
                     "%s is a symbolic link to a file that does not exist", path);
    status = BASE_SYSTEM;
  } else {
    char *with_slash = joined(resolved, strcmp(resolved, "/") == 0 ? "" : "/");
    *ret = joined(with_slash, name);
    free(with_slash);
  }
  free(resolved);
  free(directory);
  return status;
}

static enum base_status resolve(const char *path, struct base_diag_sink *diags, char **ret) {
  *ret = realpath(path, NULL);
  if (*ret) return BASE_OK;
  if (errno == ENOENT) return resolve_new(path, diags, ret);
  if (errno == ENOTDIR || errno == EACCES) {
    int error = errno;
    char *directory = directory_of(path);
    errno = error;
    refuse_directory(directory, diags);
    free(directory);
    return BASE_SYSTEM;
  }
  base_report(diags, MSG_DATABASE_IO, NULL, NULL, "%s: %s", path, strerror(errno));
  return BASE_SYSTEM;
}

/* ---- whose is it ---- */

/* Reads up to HEADER_BYTES from the start of the file; *RET_LENGTH how many there were. */
static int read_header(const char *path, unsigned char *header) {
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  const char *name = sqlite3_create_filename(path, "", "", 0, NULL);
  sqlite3_file *file = base_xcalloc(1, (size_t)vfs->szOsFile);
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  int code = name ? vfs->xOpen(vfs, name, file, flags, &flags) : SQLITE_NOMEM;
  if (code == SQLITE_OK) code = file->pMethods->xRead(file, header, HEADER_BYTES, 0);
  if (file->pMethods) file->pMethods->xClose(file);
  free(file);
  sqlite3_free_filename(name);
  return code;
}

/* A creation of the database that was cut short has left a rollback journal that says that the
 * database was empty before, and SQLite will restore that. The file itself then begins like a
 * database or, when its first page was not reached, with zeros.                                  */
static bool journal_restores_nothing(const char *path) {
  static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  unsigned char header[20];
  char *journal = joined(path, "-journal");
  int descriptor = open(journal, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  bool result = false;
  if (descriptor >= 0) {
    result = read(descriptor, header, sizeof header) == (ssize_t)sizeof header &&
             memcmp(header, magic, sizeof magic) == 0 && big_endian(header + 16) == 0;
    close(descriptor);
  }
  free(journal);
  return result;
}

static bool has_content(const char *path, const char *suffix) {
  struct stat state;
  char *name = joined(path, suffix);
  bool result = stat(name, &state) == 0 && state.st_size > 0;
  free(name);
  return result;
}

static enum base_status refuse_content(const char *label, struct base_diag_sink *diags) {
  base_report_hint(diags, MSG_NOT_A_DATABASE, NULL, NULL,
                   "load data files with copy; name a database file, or a new one, here",
                   "%s is not a database", label);
  return BASE_SYSTEM;
}

static enum base_status check_version(const char *label, uint32_t version,
                                      struct base_diag_sink *diags) {
  if (version <= ST_SCHEMA_VERSION) return BASE_OK;
  base_report_hint(diags, MSG_DATABASE_NEWER, NULL, NULL,
                   "use the newer version of tquel for this database",
                   "%s was written by a newer tquel (schema %u, this one knows %d)", label,
                   (unsigned)version, ST_SCHEMA_VERSION);
  return BASE_SYSTEM;
}

static bool is_creation_cut_short(const char *path, const unsigned char *header, bool magic) {
  static const unsigned char zeros[16];
  return (magic || memcmp(header, zeros, sizeof zeros) == 0) && journal_restores_nothing(path);
}

static enum base_status check_header(const char *label, struct st_file *file,
                                     struct base_diag_sink *diags) {
  unsigned char header[HEADER_BYTES] = {0};
  int code = read_header(file->path, header);
  if (code == SQLITE_IOERR_SHORT_READ) return refuse_content(label, diags);
  if (code != SQLITE_OK) {
    base_report(diags, MSG_DATABASE_IO, NULL, NULL, "reading %s failed: %s", label,
                sqlite3_errstr(code));
    return BASE_SYSTEM;
  }
  bool magic = memcmp(header, "SQLite format 3", 16) == 0;
  if (magic && big_endian(header + 68) == ST_APPLICATION_ID)
    return check_version(label, big_endian(header + 60), diags);
  if (is_creation_cut_short(file->path, header, magic)) {
    file->is_new = true;
    return BASE_OK;
  }
  if (!magic) return refuse_content(label, diags);
  base_report_hint(diags, MSG_DATABASE_FOREIGN, NULL, NULL,
                   "name another file; data of other applications comes in through copy",
                   "%s is a database of another application", label);
  return BASE_SYSTEM;
}

/* ---- may it be opened ---- */

static enum base_status refuse_unwritable(const char *label, const char *what, const char *hint,
                                          struct base_diag_sink *diags) {
  base_report_hint(diags, MSG_DATABASE_UNWRITABLE, NULL, NULL, hint, "%s cannot be written%s",
                   label, what);
  return BASE_SYSTEM;
}

static enum base_status check_new(const struct st_options *options, struct st_file *file,
                                  const char *directory, struct base_diag_sink *diags) {
  file->is_new = true;
  if (options->readonly) {
    base_report_hint(
        diags, MSG_DATABASE_MISSING, NULL, NULL, "leave out --readonly to create the database",
        file->exists ? "%s is empty, there is nothing to read" : "there is no database %s",
        options->path);
    return BASE_SYSTEM;
  }
  file->writable = may(directory, W_OK | X_OK) && (!file->exists || may(file->path, R_OK | W_OK));
  if (file->writable) return BASE_OK;
  if (errno == EROFS)
    return refuse_unwritable(options->path, ": the file system is read-only",
                             "choose another place", diags);
  base_report_hint(diags, MSG_DATABASE_PERMISSION, NULL, NULL,
                   "change the permissions, or choose another place", "no permission to create %s",
                   options->path);
  return BASE_SYSTEM;
}

static enum base_status check_existing(const struct st_options *options, struct st_file *file,
                                       const char *directory, struct base_diag_sink *diags) {
  if (!may(file->path, R_OK)) {
    base_report_hint(diags, MSG_DATABASE_PERMISSION, NULL, NULL,
                     "change the permissions, or choose another file", "no permission to read %s",
                     options->path);
    return BASE_SYSTEM;
  }
  enum base_status status = check_header(options->path, file, diags);
  if (status != BASE_OK) return status;
  if (file->is_new) return check_new(options, file, directory, diags);
  bool file_writable = may(file->path, W_OK);
  file->writable = file_writable && may(directory, W_OK | X_OK);
  file->log_left = has_content(file->path, "-wal");
  if (options->readonly || file->writable) return BASE_OK;
  return refuse_unwritable(options->path, file_writable ? ": its directory is read-only" : "",
                           "use --readonly, or copy the database to a place that can be written",
                           diags);
}

enum base_status st_file_probe(const struct st_options *options, struct base_diag_sink *diags,
                               struct st_file *ret) {
  struct st_file file = {0};
  struct stat state;
  enum base_status status = resolve(options->path, diags, &file.path);
  if (status != BASE_OK) return status;
  char *directory = directory_of(file.path);
  file.exists = stat(file.path, &state) == 0;
  if (file.exists && !S_ISREG(state.st_mode)) {
    base_report_hint(diags, MSG_NOT_A_DATABASE, NULL, NULL, "name a database file, or a new one",
                     S_ISDIR(state.st_mode) ? "%s is a directory, not a database"
                                            : "%s is not a regular file, so not a database",
                     options->path);
    status = BASE_SYSTEM;
  } else if (!file.exists || state.st_size == 0) {
    status = check_new(options, &file, directory, diags);
  } else {
    status = check_existing(options, &file, directory, diags);
  }
  free(directory);
  if (status == BASE_OK)
    *ret = file;
  else
    st_file_done(&file);
  return status;
}

void st_file_done(struct st_file *file) {
  free(file->path);
  *file = (struct st_file){0};
}

/* ---- the writer's lock ---- */

/* Is DESCRIPTOR still the file called PATH, not one that was removed meanwhile? */
static bool is_still(int descriptor, const char *path) {
  struct stat opened, named;
  return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static enum base_status refuse_lock(const char *label, const char *path, int error,
                                    struct base_diag_sink *diags) {
  if (error == EWOULDBLOCK)
    base_report_hint(diags, MSG_DATABASE_LOCKED, NULL, NULL,
                     "use --connect SOCKET to work through the server that writes to it, or "
                     "--readonly to read only",
                     "another tquel is writing to %s", label);
  else
    base_report(diags, MSG_DATABASE_IO, NULL, NULL, "locking %s with %s failed: %s", label, path,
                strerror(error));
  return BASE_SYSTEM;
}

/* Whoever may write the database may lock it, nobody else. */
static void fit_mode(int descriptor, const char *database) {
  struct stat status, lock;
  mode_t mode = stat(database, &status) == 0 ? status.st_mode & 0666 : 0600;
  if (fstat(descriptor, &lock) == 0 && (lock.st_mode & 0777) != mode)
    (void)!fchmod(descriptor, mode);
}

enum base_status st_file_lock(const struct st_file *file, const char *label,
                              struct base_diag_sink *diags, char **ret_path, int *ret_descriptor) {
  char *path = joined(file->path, "-tquel-lock");
  for (;;) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor >= 0) fit_mode(descriptor, file->path);
    if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) < 0) {
      enum base_status status = refuse_lock(label, path, errno, diags);
      if (descriptor >= 0) close(descriptor);
      free(path);
      return status;
    }
    if (is_still(descriptor, path)) {
      *ret_path = path;
      *ret_descriptor = descriptor;
      return BASE_OK;
    }
    close(descriptor);
  }
}

void st_file_unlock(char *lock_path, int descriptor) {
  if (!lock_path) return;
  unlink(lock_path);
  close(descriptor);
  free(lock_path);
}

void st_file_make(const struct st_file *file) {
  int descriptor = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor >= 0) close(descriptor); /* else opening it says why */
}

void st_file_undo_creation(const struct st_file *file) {
  static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
  if (!file->is_new) return;
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    char *side = joined(file->path, suffixes[i]);
    unlink(side);
    free(side);
  }
  int done = file->exists ? truncate(file->path, 0) : unlink(file->path);
  (void)done; /* nothing more can be done about it; what failed first was reported */
}
