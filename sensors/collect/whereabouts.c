/* What the kernel says of processes and namespaces.
 *
 * The file of another process's namespace may be looked at by who may trace the process; the numbers that
 * a process has in its namespaces stand in its status, for everybody.                                */
#include "sensors/collect/whereabouts.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/arena.h"

/* The file of the pid namespace that the kernel begins with: the others are within it. */
static const uint64_t FIRST_PROCESS_SPACE = UINT64_C(0xEFFFFFFC);

static uint64_t number_of(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

static void read_boot(char *to) {
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t length = file >= 0 ? read(file, to, SN_BOOT_ROOM - 1) : 0;
  if (file >= 0) close(file);
  to[length >= 36 ? 36 : 0] = '\0';
}

const struct sn_whereabouts *sn_whereabouts(void) {
  static struct sn_whereabouts ours;
  static bool known;
  if (known) return &ours;
  known = true;
  read_boot(ours.boot);
  ours.process_space = number_of("/proc/self/ns/pid");
  ours.time_space = number_of("/proc/self/ns/time");
  ours.sees_all = ours.process_space == FIRST_PROCESS_SPACE;
  return &ours;
}

bool sn_proc_is_ours(void) {
  char text[24];
  ssize_t length = readlink("/proc/self", text, sizeof text - 1);
  if (length < 0) return false;
  text[length] = '\0';
  return strtol(text, NULL, 10) == (long)getpid();
}

char *sn_proc_read(uint32_t pid, const char *what) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%" PRIu32 "/%s", pid, what);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return NULL;
  size_t length = 0, room = 4096;
  char *text = base_xmalloc(room + 1);
  for (ssize_t got; (got = read(file, text + length, room - length)) > 0;) {
    length += (size_t)got;
    if (length == room) text = base_xrealloc(text, (room *= 2) + 1, 1);
  }
  close(file);
  text[length] = '\0';
  return text;
}

bool sn_proc_started(const char *stat, uint64_t *ret_ticks) {
  /* The name, field 2, stands in parentheses and may contain any character. */
  const char *at = strrchr(stat, ')');
  if (at == NULL || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X') return false;
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  if (at == NULL) return false;
  *ret_ticks = strtoull(at, NULL, 10);
  return true;
}

/* The last of the numbers behind "NSpid:" is that in its own namespace; who has one only is in ours. */
static bool is_called(uint32_t process, uint32_t pid) {
  char *text = sn_proc_read(process, "status");
  const char *line = text != NULL ? strstr(text, "\nNSpid:") : NULL;
  uint32_t last = 0;
  unsigned count = 0;
  if (line != NULL) {
    char *at = (char *)(uintptr_t)(line + strlen("\nNSpid:")), *end;
    for (; *at != '\n' && *at != '\0'; at = end, count++) {
      unsigned long number = strtoul(at, &end, 10);
      if (end == at) break;
      last = (uint32_t)number;
    }
  }
  free(text);
  return count > 1 && last == pid;
}

static bool began_at(uint32_t process, uint64_t start_ticks) {
  uint64_t ticks;
  char *text = sn_proc_read(process, "stat");
  bool same = text != NULL && sn_proc_started(text, &ticks) && ticks == start_ticks;
  free(text);
  return same;
}

uint32_t sn_process_in(uint64_t space, uint32_t pid, uint64_t start_ticks) {
  DIR *all = opendir("/proc");
  uint32_t found = 0;
  for (const struct dirent *entry; found == 0 && all != NULL && (entry = readdir(all)) != NULL;) {
    char path[64];
    uint32_t process = (uint32_t)strtoul(entry->d_name, NULL, 10);
    if (process == 0) continue;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/pid", process);
    uint64_t its = number_of(path);
    if (its != 0 && its != space) continue;
    if (is_called(process, pid) && began_at(process, start_ticks)) found = process;
  }
  if (all != NULL) closedir(all);
  return found;
}
