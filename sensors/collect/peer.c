/* Announcements: mapped, checked, followed as they grow.
 *
 * Sizes are copied before they are checked and used from the copy alone. A unit's own numbers (of
 * switches, of entries) must fit in the unit that its chunk says; a chunk in the file.               */
#include "sensors/collect/peer_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/whereabouts.h"

/* --- finding */

bool sn_directory_is_name(const char *name) {
  size_t length = strlen(name), suffix = strlen(SN_SUFFIX);
  return name[0] >= '0' && name[0] <= '9' && length > suffix &&
         strcmp(name + length - suffix, SN_SUFFIX) == 0;
}

static int is_announcement(const struct dirent *entry) {
  return sn_directory_is_name(entry->d_name);
}

/* PID-START-MADE.sensors: the oldest first, whatever order the directory has. */
static int by_age(const struct dirent **a, const struct dirent **b) {
  const struct dirent *both[2] = {*a, *b};
  unsigned long long start[2], made[2];
  for (int i = 0; i < 2; i++) {
    char *at;
    strtoull(both[i]->d_name, &at, 10);
    start[i] = *at == '-' ? strtoull(at + 1, &at, 10) : 0;
    made[i] = *at == '-' ? strtoull(at + 1, &at, 16) : 0;
  }
  if (start[0] != start[1]) return start[0] < start[1] ? -1 : 1;
  if (made[0] != made[1]) return made[0] < made[1] ? -1 : 1;
  return strcmp(both[0]->d_name, both[1]->d_name);
}

bool sn_directory_each(const char *directory, void (*visit)(void *context, const char *name),
                       void *context) {
  struct dirent **entries;
  int count = scandir(directory, &entries, is_announcement, by_age);
  if (count < 0) return false;
  for (int i = 0; i < count; i++) {
    visit(context, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return true;
}

/* --- shortened */

/* All that are open, for the handler. */
static struct sn_peer *all_peers;

/* Whether an address is in the announcement of our own sensors. */
static bool (*is_own)(const void *address);

/* Is AT in what we have mapped of PEER, its rings among it? */
static bool is_of_peer(const struct sn_peer *peer, uintptr_t at) {
  if (at - (uintptr_t)peer->map < peer->bytes) return true;
  for (size_t i = 0; i < peer->pipe_count; i++) {
    const struct sn_pipe *pipe = &peer->pipes[i];
    if (pipe->base != NULL && at - (uintptr_t)pipe->base < 2 * pipe->bytes) return true;
  }
  return false;
}

/* A page of a file that is no more: one of our own in its place, so that what reads or writes it goes on. That of our
 * own sensors we read as others' (programs.c), and so find it broken there, too.                        */
static void on_bus_error(int signal, siginfo_t *info, void *unused) {
  uintptr_t at = (uintptr_t)info->si_addr, page = (uintptr_t)sysconf(_SC_PAGESIZE);
  bool ours = is_own != NULL && is_own(info->si_addr);
  (void)unused;
  for (struct sn_peer *peer = all_peers; peer != NULL && !ours; peer = peer->next) {
    ours = is_of_peer(peer, at);
    if (ours) peer->broken = 1;
  }
  void *start = (void *)(at & ~(page - 1));
  if (ours && mmap(start, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                   0) == start) {
    return;
  }
  struct sigaction ordinary = {.sa_handler = SIG_DFL};
  sigaction(signal, &ordinary, NULL); /* and it happens again */
}

void sn_peer_guard(bool (*own)(const void *address)) {
  is_own = own;
  struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}

bool sn_peer_broken(const struct sn_peer *peer) {
  return __atomic_load_n(&peer->broken, __ATOMIC_RELAXED) != 0;
}

/* --- opening */

/* A program has so much to announce at most, and so many rings; it is looked at so many chunks at a time. Names are so
 * long. */
#define ANNOUNCED_MAX (UINT64_C(1) << 30)
#define PIPES_MAX     65536
#define CHUNKS_A_TURN 1024
#define TEXT_MAX      65536

static uint64_t most_bytes(const struct stat *status) {
  uint64_t bytes = (uint64_t)status->st_size;
  return bytes < ANNOUNCED_MAX ? bytes : ANNOUNCED_MAX;
}

static void read_identity(struct sn_peer *peer, const struct stat *status) {
  const struct sn_header *header = sn_peer_header(peer);
  peer->identity = (struct sn_identity){.announced_pid = header->pid,
                                        .uid = status->st_uid,
                                        .clock = header->clock,
                                        .start_ticks = header->start_ticks,
                                        .announced_ns = header->announced_ns,
                                        .process_space = header->process_space,
                                        .time_space = header->time_space,
                                        .pair_stamp = header->pair_stamp,
                                        .pair_monotonic_ns = header->pair_monotonic_ns,
                                        .pair_realtime_ns = header->pair_realtime_ns,
                                        .epoch = header->epoch,
                                        .naming = header->naming};
  memcpy(peer->identity.host, header->host, sizeof header->host);
  peer->identity.host[sizeof header->host] = '\0';
}

/* Where its process is. What it says of its namespaces was the kernel's word to it; an earlier version does not say. */
static const char *find_process(struct sn_identity *identity) {
  const struct sn_whereabouts *ours = sn_whereabouts();
  if (identity->time_space != 0 && ours->time_space != 0 &&
      identity->time_space != ours->time_space) {
    return "its program is in a time namespace of its own, with other clocks";
  }
  if (identity->process_space == 0 || ours->process_space == 0 ||
      identity->process_space == ours->process_space) {
    identity->pid = identity->announced_pid;
    return NULL;
  }
  identity->pid =
      sn_process_in(identity->process_space, identity->announced_pid, identity->start_ticks);
  if (identity->pid != 0 || ours->sees_all) return NULL; /* or it has ended */
  return "its program is in a pid namespace that cannot be seen from the collector's";
}

/* The owner of the file is the kernel's word; what a program takes itself for holds in its user namespace alone. */
static const char *check_header(struct sn_peer *peer, const struct stat *status) {
  const struct sn_header *header = sn_peer_header(peer);
  if (memcmp(header->magic, SN_MAGIC, sizeof header->magic) != 0) return "it is no announcement";
  if (header->layout != SN_LAYOUT || header->header_bytes != sizeof *header) {
    return "its program was built with another version of the sensors, build it anew";
  }
  read_identity(peer, status);
  char name[128];
  snprintf(name, sizeof name, "%" PRIu32 "-%" PRIu64 "-%" PRIx64 SN_SUFFIX,
           peer->identity.announced_pid, peer->identity.start_ticks, peer->identity.announced_ns);
  if (strcmp(name, peer->name) != 0) return "it has not the name of its program";
  if (peer->identity.announced_pid == 0) return "it is of no process";
  if (peer->identity.clock != SN_CLOCK_MONOTONIC && peer->identity.clock != SN_CLOCK_CYCLES) {
    return "its program has an unknown clock";
  }
  return find_process(&peer->identity);
}

/* Why a file cannot be opened, if it is one that we should be able to open: others' are not our business. */
static const char *why_closed(const struct sn_peer *peer) {
  struct stat status;
  int error = errno;
  bool other = lstat(peer->path, &status) != 0 || (status.st_uid != geteuid() && geteuid() != 0);
  if (other || error == ENOENT) return NULL;
  return error == EMFILE || error == ENFILE ? "the collector has no more descriptors"
         : error == ELOOP                   ? "it is no file"
                                            : "it cannot be opened";
}

static const char *open_file(struct sn_peer *peer, bool *ret_silent) {
  struct stat status;
  peer->file = open(peer->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (peer->file < 0) {
    const char *reason = why_closed(peer);
    *ret_silent = reason == NULL;
    return reason != NULL ? reason : "it is not there, or another user's";
  }
  if (fstat(peer->file, &status) != 0 || !S_ISREG(status.st_mode)) return "it is no file";
  if (status.st_size < (off_t)sizeof(struct sn_header)) return "it is too short";
  peer->bytes = most_bytes(&status);
  peer->map = mmap(NULL, peer->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, peer->file, 0);
  if (peer->map == MAP_FAILED) {
    peer->map = NULL;
    return "it cannot be mapped";
  }
  return check_header(peer, &status);
}

struct sn_peer *sn_peer_open(const char *directory, const char *name, const char **ret_reason) {
  bool silent = false;
  struct sn_peer *peer = base_xcalloc(1, sizeof *peer);
  size_t length = strlen(directory);
  peer->path = base_xmalloc(length + strlen(name) + 2);
  memcpy(peer->path, directory, length);
  peer->path[length] = '/';
  peer->name = memcpy(peer->path + length + 1, name, strlen(name) + 1);
  peer->file = -1;
  const char *reason = open_file(peer, &silent);
  if (reason != NULL) {
    sn_peer_free(peer);
    *ret_reason = silent ? NULL : reason;
    return NULL;
  }
  peer->next = all_peers;
  all_peers = peer;
  peer->checked = (uint64_t)sysconf(_SC_PAGESIZE);
  peer->changes = sn_peer_header(peer)->changes - 1;
  sn_peer_update(peer);
  return peer;
}

void sn_peer_free(struct sn_peer *peer) {
  if (peer == NULL) return;
  struct sn_peer **link = &all_peers;
  while (*link != NULL && *link != peer) link = &(*link)->next;
  if (*link != NULL) *link = peer->next;
  for (size_t i = 0; i < peer->pipe_count; i++) sn_pipe_done(&peer->pipes[i]);
  if (peer->map != NULL) munmap(peer->map, peer->bytes);
  if (peer->file >= 0) close(peer->file);
  free(peer->pipes);
  for (size_t i = 0; i < peer->module_count; i++) free(peer->modules[i].counts);
  free(peer->modules);
  free(peer->chunks);
  free(peer->path);
  free(peer);
}

bool sn_peer_remove(struct sn_peer *peer) {
  return unlink(peer->path) == 0;
}

const struct sn_identity *sn_peer_identity(const struct sn_peer *peer) {
  return &peer->identity;
}

const char *sn_peer_name(const struct sn_peer *peer) {
  return peer->name;
}

void sn_peer_give_epoch(struct sn_peer *peer, uint64_t epoch, uint32_t naming) {
  __atomic_store_n(&sn_peer_header(peer)->naming, naming, __ATOMIC_RELEASE);
  __atomic_store_n(&sn_peer_header(peer)->epoch, epoch, __ATOMIC_RELEASE);
}

/* --- following */

/* Maps what the file has grown by. */
static void map_more(struct sn_peer *peer) {
  struct stat status;
  uint64_t said = __atomic_load_n(&sn_peer_header(peer)->bytes, __ATOMIC_ACQUIRE);
  if (said <= peer->bytes || fstat(peer->file, &status) != 0) return;
  uint64_t bytes = most_bytes(&status);
  if (bytes <= peer->bytes) return;
  void *map = mremap(peer->map, peer->bytes, bytes, MREMAP_MAYMOVE);
  if (map == MAP_FAILED) return;
  peer->map = map;
  peer->bytes = bytes;
}

static void tell_module(struct sn_peer *peer, const struct sn_unit_place *place);

static void add_module(struct sn_peer *peer, uint64_t offset, uint32_t unit_bytes) {
  const struct sn_module_unit *unit = sn_peer_at(peer, offset, sizeof *unit);
  if (unit == NULL || unit_bytes < sizeof *unit) return;
  struct sn_unit_place place = {offset, unit->receptacle.switches, unit->receptacle.entries, NULL};
  uint64_t needed = sn_receptacle_bytes(place.switches, place.entries, true) + sizeof *unit -
                    sizeof unit->receptacle;
  if (place.switches > 65536 || place.switches == 0 || place.entries != place.switches ||
      needed > unit_bytes || unit->index != peer->module_count) {
    return; /* its records would be of unknown events: they are passed on as such */
  }
  if (peer->module_count == peer->module_room) {
    peer->module_room = 2 * peer->module_room + 4;
    peer->modules = base_xrealloc(peer->modules, peer->module_room, sizeof *peer->modules);
  }
  peer->modules[peer->module_count++] = place;
  if (peer->attached) tell_module(peer, &peer->modules[peer->module_count - 1]);
}

static void add_objects(struct sn_peer *peer, uint64_t offset, uint32_t unit_bytes,
                        uint32_t units) {
  if (unit_bytes < sizeof(struct sn_receptacle) || unit_bytes % 64 != 0) return;
  if (peer->chunk_count == peer->chunk_room) {
    peer->chunk_room = 2 * peer->chunk_room + 4;
    peer->chunks = base_xrealloc(peer->chunks, peer->chunk_room, sizeof *peer->chunks);
  }
  peer->chunks[peer->chunk_count++] = (struct sn_object_chunk){offset, unit_bytes, units};
}

/* The program is at work at it: its chunk comes into the file before what is in it. */
static bool is_unready(const struct sn_peer *peer, uint64_t offset) {
  const struct sn_module_unit *unit = sn_peer_at(peer, offset, sizeof *unit);
  return unit != NULL && __atomic_load_n(&unit->state, __ATOMIC_ACQUIRE) == SN_FREE;
}

/* false: there is no sound chunk there, or not yet. */
static bool add_chunk(struct sn_peer *peer) {
  const struct sn_chunk *chunk = sn_peer_at(peer, peer->checked, sizeof *chunk);
  if (chunk == NULL) return false;
  struct sn_chunk head = *chunk;
  uint64_t first = peer->checked + sizeof *chunk, used = (uint64_t)head.unit_bytes * head.units;
  if (head.bytes < sizeof head || head.bytes % 64 != 0 || used > head.bytes - sizeof head ||
      head.bytes > peer->bytes - peer->checked) {
    return false;
  }
  if (head.kind == SN_MODULES && is_unready(peer, first)) return false;
  if (head.kind == SN_MODULES && head.units == 1) add_module(peer, first, head.unit_bytes);
  if (head.kind == SN_OBJECTS) add_objects(peer, first, head.unit_bytes, head.units);
  if (head.kind == SN_SLOTS && head.unit_bytes == sizeof(struct sn_slot)) {
    for (uint32_t i = 0; i < head.units && peer->pipe_count < PIPES_MAX; i++) {
      sn_pipe_add(peer, first + i * (uint64_t)sizeof(struct sn_slot));
    }
  }
  peer->checked += head.bytes;
  return true;
}

uint32_t sn_peer_changes(const struct sn_peer *peer) {
  return __atomic_load_n(&sn_peer_header(peer)->changes, __ATOMIC_ACQUIRE);
}

bool sn_peer_update(struct sn_peer *peer) {
  map_more(peer);
  struct sn_header *header = sn_peer_header(peer);
  uint64_t bytes = __atomic_load_n(&header->bytes, __ATOMIC_ACQUIRE);
  uint32_t changes = __atomic_load_n(&header->changes, __ATOMIC_ACQUIRE);
  bool changed = changes != peer->changes;
  for (int i = 0; i < CHUNKS_A_TURN && peer->checked < bytes && add_chunk(peer); i++)
    changed = true;
  peer->changes = changes;
  return changed;
}

/* --- alive */

bool sn_peer_alive(const struct sn_peer *peer) {
  uint64_t ticks = 0;
  char *text = sn_proc_read(peer->identity.pid, "stat");
  bool alive = text != NULL && sn_proc_started(text, &ticks) && ticks == peer->identity.start_ticks;
  free(text);
  return alive;
}

bool sn_peer_mapped(const struct sn_peer *peer) {
  char *text = sn_proc_read(peer->identity.pid, "maps");
  bool mapped = text == NULL || *text == '\0' || strstr(text, peer->name) != NULL;
  free(text);
  return mapped;
}

bool sn_peer_ended(const struct sn_peer *peer) {
  return __atomic_load_n(&sn_peer_header(peer)->ended, __ATOMIC_ACQUIRE) != 0;
}

/* --- reading along */

/* But for what the program has put on for us. */
static void clear_switches(struct sn_peer *peer, uint64_t receptacle, uint32_t switches) {
  struct sn_receptacle *at = sn_peer_at(peer, receptacle, sizeof *at);
  for (uint32_t i = 0; at != NULL && i < switches; i++) {
    uint32_t word = __atomic_load_n(&sn_switches(at)[i], __ATOMIC_SEQ_CST);
    if (word >> SN_GENERATION_SHIFT == peer->generation) continue;
    __atomic_compare_exchange_n(&sn_switches(at)[i], &word, 0, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
  }
}

static uint64_t module_receptacle(const struct sn_unit_place *place) {
  return place->offset + offsetof(struct sn_module_unit, receptacle);
}

static void tell_module(struct sn_peer *peer, const struct sn_unit_place *place) {
  struct sn_receptacle *at = sn_peer_at(peer, module_receptacle(place), sizeof *at);
  if (at == NULL) return;
  clear_switches(peer, module_receptacle(place), place->switches);
  if (!peer->quiet) sn_peer_listen(peer, (uint32_t)(place - peer->modules), true);
}

/* The numbers of switches and entries of a unit, if they fit in it. */
static bool object_fits(const struct sn_receptacle *receptacle, uint32_t unit_bytes,
                        uint32_t *ret_switches, uint32_t *ret_entries) {
  uint32_t switches = receptacle->switches, entries = receptacle->entries;
  if (switches == 0 || switches > 65536 || entries > 65536 ||
      sn_receptacle_bytes(switches, entries, false) > unit_bytes) {
    return false;
  }
  *ret_switches = switches;
  *ret_entries = entries;
  return true;
}

/* false: nobody is there. */
static bool object_at(const struct sn_peer *peer, const struct sn_object_chunk *chunk,
                      uint32_t unit, struct sn_object_view *ret_view) {
  uint64_t offset = chunk->offset + (uint64_t)unit * chunk->unit_bytes;
  const struct sn_receptacle *at = sn_peer_at(peer, offset, chunk->unit_bytes);
  struct sn_object_view view = {.offset = offset};
  if (at == NULL || __atomic_load_n(&at->state, __ATOMIC_SEQ_CST) != SN_LIVE ||
      !object_fits(at, chunk->unit_bytes, &view.switches, &view.entries)) {
    return false;
  }
  view.module = at->module;
  view.type = at->type;
  view.epoch = at->epoch;
  view.minor = at->minor;
  view.opened = at->opened;
  *ret_view = view;
  return true;
}

bool sn_peer_objects_slice(const struct sn_peer *peer, struct sn_object_place *place,
                           uint32_t count,
                           void (*visit)(void *context, const struct sn_object_view *object),
                           void *context) {
  struct sn_object_view view;
  while (place->chunk < peer->chunk_count) {
    const struct sn_object_chunk *chunk = &peer->chunks[place->chunk];
    for (; place->unit < chunk->units; place->unit++, count--) {
      if (count == 0) return true;
      if (object_at(peer, chunk, place->unit, &view)) visit(context, &view);
    }
    place->chunk++;
    place->unit = 0;
  }
  return false;
}

void sn_peer_objects(const struct sn_peer *peer,
                     void (*visit)(void *context, const struct sn_object_view *object),
                     void *context) {
  struct sn_object_place place = {0, 0};
  while (sn_peer_objects_slice(peer, &place, UINT32_MAX, visit, context)) continue;
}

static void clear_object(void *context, const struct sn_object_view *object) {
  clear_switches(context, object->offset, object->switches);
}

void sn_peer_keep_quiet(struct sn_peer *peer) {
  peer->quiet = true;
}

void sn_peer_beat(struct sn_peer *peer, uint64_t monotonic_ns) {
  __atomic_store_n(&sn_peer_header(peer)->beat_ns, monotonic_ns, __ATOMIC_RELAXED);
}

bool sn_peer_is_of_page(const struct sn_peer *peer, uint64_t page) {
  const struct sn_header *header = sn_peer_header(peer);
  return page != 0 && __atomic_load_n(&header->generation, __ATOMIC_SEQ_CST) != 0 &&
         __atomic_load_n(&header->page, __ATOMIC_SEQ_CST) == page;
}

/* The program may take us for its reader at the same time. */
static enum sn_attached take_generation(struct sn_peer *peer, uint64_t page) {
  struct sn_header *header = sn_peer_header(peer);
  uint32_t before = __atomic_load_n(&header->generation, __ATOMIC_SEQ_CST), next;
  do {
    if (sn_peer_is_of_page(peer, page)) {
      peer->generation = __atomic_load_n(&header->generation, __ATOMIC_SEQ_CST) & 0xffffffu;
      return SN_OF_PAGE;
    }
    next = (before + 1) & 0xffffffu;
    if (next == 0) next = 1;
  } while (!__atomic_compare_exchange_n(&header->generation, &before, next, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  peer->generation = next;
  return before == 0 ? SN_FIRST : SN_TAKEN_OVER;
}

enum sn_attached sn_peer_attach_page(struct sn_peer *peer, uint32_t ring_bytes, uint64_t page) {
  struct sn_header *header = sn_peer_header(peer);
  sn_peer_beat(peer, (uint64_t)base_env_monotonic());
  __atomic_store_n(&header->ring_bytes, ring_bytes, __ATOMIC_RELAXED);
  enum sn_attached how = take_generation(peer, page);
  __atomic_store_n(&header->page, page, __ATOMIC_SEQ_CST);
  peer->attached = true;
  for (size_t i = 0; i < peer->module_count; i++) tell_module(peer, &peer->modules[i]);
  sn_peer_objects(peer, clear_object, peer);
  return how;
}

void sn_peer_attach(struct sn_peer *peer, uint32_t ring_bytes) {
  sn_peer_attach_page(peer, ring_bytes, 0);
}

/* --- modules and switches */

size_t sn_peer_modules(const struct sn_peer *peer) {
  return peer->module_count;
}

static bool text_at(const struct sn_peer *peer, uint64_t offset, uint64_t most,
                    const char **ret_text, uint32_t *ret_length) {
  uint64_t bytes = sizeof(struct sn_text);
  if (offset % 4 != 0 || offset > peer->bytes || bytes > peer->bytes - offset) return false;
  const struct sn_text *text = (const struct sn_text *)(const void *)(peer->map + offset);
  uint32_t length = text->length;
  if (length > most || length > peer->bytes - offset - bytes) return false;
  *ret_text = (const char *)(text + 1);
  *ret_length = length;
  return true;
}

bool sn_peer_module(const struct sn_peer *peer, size_t i, struct sn_module_view *ret_module) {
  if (i >= peer->module_count) return false;
  const struct sn_module_unit *unit = sn_peer_at(peer, peer->modules[i].offset, sizeof *unit);
  if (unit == NULL) return false;
  uint64_t process = __atomic_load_n(&unit->process, __ATOMIC_ACQUIRE);
  struct sn_module_view view = {
      .index = (uint32_t)i,
      .digest = unit->digest,
      .description = unit->description,
      .description_bytes = unit->description_bytes,
      .events = peer->modules[i].switches,
      .closed = __atomic_load_n(&unit->state, __ATOMIC_ACQUIRE) == SN_CLOSED,
      .process_type = (uint32_t)(process >> 48)};
  uint64_t text = process & ((UINT64_C(1) << 48) - 1);
  if (!text_at(peer, unit->name, TEXT_MAX, &view.name, &view.name_length)) return false;
  if (text != 0 && !text_at(peer, text, TEXT_MAX, &view.process, &view.process_length))
    return false;
  uint32_t length = 0;
  uint64_t said = unit->text;
  if (said != 0 &&
      (!text_at(peer, said, UINT32_MAX, &view.text, &length) || length != view.description_bytes))
    view.text = NULL;
  *ret_module = view;
  return true;
}

static struct sn_receptacle *process_receptacle(const struct sn_peer *peer, uint32_t module,
                                                uint32_t event) {
  if (module >= peer->module_count || event >= peer->modules[module].switches) return NULL;
  return sn_peer_at(peer, module_receptacle(&peer->modules[module]), sizeof(struct sn_receptacle));
}

static uint32_t word_of(const struct sn_peer *peer, unsigned modes) {
  modes &= SN_MODES | SN_THINNED;
  if (modes == SN_ONCE || (modes & (SN_TRACE | SN_ONCE)) == SN_ONCE) modes &= ~(unsigned)SN_ONCE;
  if (modes & SN_TRACE) modes |= SN_MEASURE;
  return modes != 0 ? peer->generation << SN_GENERATION_SHIFT | modes : 0;
}

/* What is counted of the event, in the word of a switch. */
static unsigned counted(const struct sn_peer *peer, uint32_t module, uint32_t event) {
  if (module >= peer->module_count || event >= peer->modules[module].switches) return 0;
  const uint8_t *counts = peer->modules[module].counts;
  return counts != NULL ? counts[event] : 0;
}

bool sn_peer_listen(struct sn_peer *peer, uint32_t module, bool on) {
  return sn_peer_switch(peer, module, 0, on ? SN_TRACE : 0);
}

bool sn_peer_switch(struct sn_peer *peer, uint32_t module, uint32_t event, unsigned modes) {
  struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  if (receptacle == NULL || !peer->attached) return false;
  modes |= counted(peer, module, event);
  __atomic_store_n(&sn_switches(receptacle)[event], word_of(peer, modes), __ATOMIC_SEQ_CST);
  return true;
}

unsigned sn_peer_switched(const struct sn_peer *peer, uint32_t module, uint32_t event) {
  const struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  if (receptacle == NULL) return 0;
  uint32_t word = __atomic_load_n(&sn_switches(receptacle)[event], __ATOMIC_ACQUIRE);
  if (word >> SN_GENERATION_SHIFT != peer->generation) return 0;
  return word & SN_MODES & ~counted(peer, module, event);
}

/* Another object may have taken the place. */
static bool is_still(const struct sn_receptacle *receptacle, const struct sn_object_view *object) {
  return __atomic_load_n(&receptacle->state, __ATOMIC_SEQ_CST) == SN_LIVE &&
         __atomic_load_n(&receptacle->epoch, __ATOMIC_SEQ_CST) == object->epoch;
}

bool sn_peer_switch_object(struct sn_peer *peer, const struct sn_object_view *object,
                           uint32_t event, unsigned modes) {
  struct sn_receptacle *receptacle = sn_peer_at(peer, object->offset, sizeof *receptacle);
  if (receptacle == NULL || event >= object->switches || !peer->attached) return false;
  if (!is_still(receptacle, object)) return false;
  uint32_t *place = &sn_switches(receptacle)[event];
  modes |= counted(peer, object->module, event);
  uint32_t before = __atomic_load_n(place, __ATOMIC_SEQ_CST), word = word_of(peer, modes);
  __atomic_store_n(place, word, __ATOMIC_SEQ_CST);
  if (is_still(receptacle, object)) return true;
  /* It went while we looked away: what we set is not the new one's. */
  __atomic_compare_exchange_n(place, &word, before == word ? 0 : before, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  return false;
}

bool sn_peer_object_is(const struct sn_peer *peer, uint64_t offset, uint32_t epoch) {
  const struct sn_receptacle *receptacle = sn_peer_at(peer, offset, sizeof *receptacle);
  return receptacle != NULL && is_still(receptacle, &(struct sn_object_view){.epoch = epoch});
}

unsigned sn_peer_object_switched(const struct sn_peer *peer, const struct sn_object_view *object,
                                 uint32_t event) {
  const struct sn_receptacle *receptacle = sn_peer_at(peer, object->offset, sizeof *receptacle);
  if (receptacle == NULL || event >= object->switches) return 0;
  uint32_t word = __atomic_load_n(&sn_switches(receptacle)[event], __ATOMIC_ACQUIRE);
  if (word >> SN_GENERATION_SHIFT != peer->generation) return 0;
  return word & (SN_MODES | SN_THINNED) & ~counted(peer, object->module, event);
}

/* --- not every record */

bool sn_peer_can_thin(const struct sn_peer *peer) {
  return (sn_peer_header(peer)->able & SN_CAN_THIN) != 0;
}

void sn_peer_allow(struct sn_peer *peer, uint32_t module, uint32_t event, uint32_t records) {
  struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  if (receptacle == NULL) return;
  uint32_t *asked = sn_asked(receptacle, peer->modules[module].switches);
  __atomic_store_n(&asked[event], records, __ATOMIC_RELEASE);
}

uint64_t sn_peer_passed_over(const struct sn_peer *peer, uint32_t module, uint32_t event) {
  const struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  if (receptacle == NULL) return 0;
  uint32_t switches = peer->modules[module].switches;
  return __atomic_load_n(&sn_entries(receptacle, switches, true)[event].rounds, __ATOMIC_ACQUIRE);
}

/* --- counting */

enum { COUNTS = SN_COUNT | SN_SUM | SN_HISTOGRAM };

/* The word counts as COUNTED says, and is otherwise as it was: sensors take their part of it away meanwhile,
 * a once that was good for one record. Returns what stood there; *RET_WORD: what stands now.        */
static uint32_t change_counts(const struct sn_peer *peer, uint32_t *place, unsigned counted_now,
                              uint32_t *ret_word) {
  uint32_t before = __atomic_load_n(place, __ATOMIC_SEQ_CST), word;
  do {
    bool ours = before >> SN_GENERATION_SHIFT == peer->generation;
    uint32_t modes = ours ? before & (SN_MODES | SN_MEASURE | SN_THINNED) & ~(uint32_t)COUNTS : 0;
    modes |= counted_now;
    word = modes != 0 ? peer->generation << SN_GENERATION_SHIFT | modes : 0;
  } while (word != before && !__atomic_compare_exchange_n(place, &before, word, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  *ret_word = word;
  return before;
}

bool sn_peer_count(struct sn_peer *peer, uint32_t module, uint32_t event, unsigned modes) {
  struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  uint32_t word;
  if (receptacle == NULL || !peer->attached) return false;
  struct sn_unit_place *place = &peer->modules[module];
  if (place->counts == NULL) place->counts = base_xcalloc(place->switches, 1);
  place->counts[event] = (uint8_t)(modes & COUNTS);
  change_counts(peer, &sn_switches(receptacle)[event], modes & COUNTS, &word);
  return true;
}

void sn_peer_take_counts(struct sn_peer *peer, uint32_t module, uint32_t event) {
  const struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  struct sn_unit_place *place = receptacle != NULL ? &peer->modules[module] : NULL;
  if (place == NULL || !peer->attached || counted(peer, module, event) != 0) return;
  uint32_t word = __atomic_load_n(&sn_switches(receptacle)[event], __ATOMIC_ACQUIRE);
  if (word >> SN_GENERATION_SHIFT != peer->generation || (word & COUNTS) == 0) return;
  if (place->counts == NULL) place->counts = base_xcalloc(place->switches, 1);
  place->counts[event] = (uint8_t)(word & COUNTS);
}

unsigned sn_peer_counted(const struct sn_peer *peer, uint32_t module, uint32_t event) {
  return counted(peer, module, event);
}

unsigned sn_peer_object_counted(const struct sn_peer *peer, const struct sn_object_view *object,
                                uint32_t event) {
  const struct sn_receptacle *receptacle = sn_peer_at(peer, object->offset, sizeof *receptacle);
  if (receptacle == NULL || event >= object->switches) return 0;
  uint32_t word = __atomic_load_n(&sn_switches(receptacle)[event], __ATOMIC_ACQUIRE);
  return word >> SN_GENERATION_SHIFT == peer->generation ? word & COUNTS : 0;
}

void sn_peer_count_object(struct sn_peer *peer, const struct sn_object_view *object,
                          uint32_t event) {
  struct sn_receptacle *receptacle = sn_peer_at(peer, object->offset, sizeof *receptacle);
  uint32_t word;
  if (receptacle == NULL || event >= object->switches || !peer->attached) return;
  if (!is_still(receptacle, object)) return;
  uint32_t *place = &sn_switches(receptacle)[event];
  uint32_t before = change_counts(peer, place, counted(peer, object->module, event), &word);
  if (before == word || is_still(receptacle, object)) return;
  /* It went while we looked away. */
  __atomic_compare_exchange_n(place, &word, before, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

bool sn_peer_is_asked(const struct sn_peer *peer, uint32_t module, uint32_t event) {
  struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  if (receptacle == NULL) return false;
  uint32_t *asked = sn_asked(receptacle, peer->modules[module].switches);
  return __atomic_load_n(&asked[event], __ATOMIC_ACQUIRE) != 0;
}

bool sn_peer_ask(struct sn_peer *peer, uint32_t module, uint32_t event) {
  struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  if (receptacle == NULL) return false;
  uint32_t *asked = sn_asked(receptacle, peer->modules[module].switches);
  __atomic_store_n(&asked[event], 1, __ATOMIC_RELEASE);
  __atomic_fetch_add(&sn_peer_header(peer)->requests, 1, __ATOMIC_ACQ_REL);
  sn_peer_wake(peer);
  return true;
}

static bool entry_view(const struct sn_peer *peer, const struct sn_entry *entry,
                       struct sn_entry_view *ret_entry) {
  uint64_t rounds = __atomic_load_n(&entry->rounds, __ATOMIC_ACQUIRE); /* before what has begun */
  *ret_entry = (struct sn_entry_view){
      .missed = __atomic_load_n(&entry->missed, __ATOMIC_ACQUIRE),
      .count = __atomic_load_n(&entry->count, __ATOMIC_ACQUIRE),
      .rounds = rounds,
      .sum = entry->sum,
      .squares = entry->squares,
      .cost_samples = __atomic_load_n(&entry->cost_samples, __ATOMIC_ACQUIRE),
      .cost_ticks = __atomic_load_n(&entry->cost_ticks, __ATOMIC_ACQUIRE)};
  uint64_t offset = __atomic_load_n(&entry->histogram, __ATOMIC_ACQUIRE);
  const struct sn_histogram *histogram = sn_peer_at(peer, offset, sizeof *histogram);
  if (offset == 0 || histogram == NULL) return true;
  ret_entry->has_histogram = true;
  for (unsigned i = 0; i < SN_BUCKETS; i++) {
    ret_entry->buckets[i] = __atomic_load_n(&histogram->buckets[i], __ATOMIC_RELAXED);
  }
  return true;
}

bool sn_peer_entry(const struct sn_peer *peer, uint32_t module, uint32_t event,
                   struct sn_entry_view *ret_entry) {
  const struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  if (receptacle == NULL) return false;
  uint32_t switches = peer->modules[module].switches;
  return entry_view(peer, &sn_entries(receptacle, switches, true)[event], ret_entry);
}

bool sn_peer_object_entry(const struct sn_peer *peer, const struct sn_object_view *object,
                          uint32_t place, struct sn_entry_view *ret_entry) {
  const struct sn_receptacle *receptacle = sn_peer_at(peer, object->offset, sizeof *receptacle);
  if (receptacle == NULL || place >= object->entries || !is_still(receptacle, object)) return false;
  return entry_view(peer, &sn_entries(receptacle, object->switches, false)[place], ret_entry) &&
         is_still(receptacle, object);
}

static struct sn_tally *tally_of(const struct sn_peer *peer, uint32_t module, uint32_t event) {
  const struct sn_receptacle *receptacle = process_receptacle(peer, module, event);
  if (receptacle == NULL) return NULL;
  const struct sn_unit_place *place = &peer->modules[module];
  return &sn_tallies(receptacle, place->switches, place->entries)[event];
}

bool sn_peer_tally(const struct sn_peer *peer, uint32_t module, uint32_t event,
                   struct sn_tally *ret_tally) {
  const struct sn_tally *tally = tally_of(peer, module, event);
  if (tally == NULL) return false;
  for (unsigned cause = 0; cause < SN_COUNTED; cause++) {
    ret_tally->lost[cause] = __atomic_load_n(&tally->lost[cause], __ATOMIC_ACQUIRE);
  }
  ret_tally->received = tally->received;
  ret_tally->unsent = tally->unsent;
  return true;
}

void sn_peer_tally_add(struct sn_peer *peer, uint32_t module, uint32_t event, uint64_t received,
                       uint64_t unsent) {
  struct sn_tally *tally = tally_of(peer, module, event);
  if (tally == NULL) return;
  tally->received += received;
  tally->unsent += unsent;
}
