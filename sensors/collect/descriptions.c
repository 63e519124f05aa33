/* Descriptions of modules, by digest: read from the programs that carry them, once.
 *
 * The reading is a thread's of its own, since a disk may be slow: it gets where the text is in the program's
 * memory, and gives bytes. They come from the file that is mapped there (/proc/PID/maps), or, where that
 * cannot be had, from the memory itself. What is not what its digest says is not taken. The rest is done by
 * who asked. A text is at most a few MiB; nobody else's file is ever read in whole. Programs that began while something was
 * wanted of them have it in their announcement, too, which outlives them.                               */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "sensors/collect/monitor_impl.h"
#include "sensors/sdf/remote.h"

enum { DESCRIPTION_MAX = 8 << 20 };

struct request {
  struct request *next;
  uint32_t pid;
  uint64_t address, length, digest;
  char *text; /* as the announcement has it, then as it is; NULL: it could not be had */
};

struct sn_reader {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wanted;
  struct request *asked, **asked_end, *answered;
  bool stop;
  int notice;
};

/* --- the thread */

static bool read_at(const char *path, uint64_t offset, char *to, uint64_t length) {
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  uint64_t done = 0;
  bool good = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  while (good && done < length) {
    ssize_t got = pread(file, to + done, length - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    good = got > 0;
    if (good) done += (uint64_t)got;
  }
  close(file);
  return good;
}

/* Tries one line of /proc/PID/maps: is the text in that file? */
static bool read_mapped(const struct request *request, const char *line, char *to) {
  uint64_t start, end, offset;
  int at = 0;
  char path[4200];
  if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &start, &end, &offset,
             &at) < 3) {
    return false;
  }
  if (request->address < start || request->address + request->length > end || line[at] != '/') {
    return false;
  }
  /* As the program sees its files, which may be in another mount namespace. */
  int length = snprintf(path, sizeof path, "/proc/%" PRIu32 "/root%.*s", request->pid,
                        (int)strcspn(line + at, "\n"), line + at);
  uint64_t place = offset + (request->address - start);
  bool good =
      length > 0 && (size_t)length < sizeof path && read_at(path, place, to, request->length);
  if (good && sn_remote_digest(to, request->length) == request->digest) return true;
  snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe",
           request->pid); /* it was replaced, or removed */
  return read_at(path, place, to, request->length) &&
         sn_remote_digest(to, request->length) == request->digest;
}

static bool read_by_map(const struct request *request, char *to) {
  char path[64], *line = NULL;
  size_t room = 0;
  bool good = false;
  snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", request->pid);
  FILE *maps = fopen(path, "re");
  if (maps == NULL) return false;
  while (!good && getline(&line, &room, maps) > 0) good = read_mapped(request, line, to);
  free(line);
  fclose(maps);
  return good;
}

static bool read_memory(const struct request *request, char *to) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%" PRIu32 "/mem", request->pid);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = pread(file, to, request->length, (off_t)request->address);
  close(file);
  return got == (ssize_t)request->length &&
         sn_remote_digest(to, request->length) == request->digest;
}

static void answer(struct request *request) {
  char *said = request->text;
  if (said != NULL && sn_remote_digest(said, request->length) == request->digest) return;
  free(said);
  request->text = NULL;
  if (request->length == 0 || request->length > DESCRIPTION_MAX) return;
  char *text = base_xmalloc(request->length + 1);
  if (read_by_map(request, text) || read_memory(request, text)) {
    text[request->length] = '\0';
    request->text = text;
  } else {
    free(text);
  }
}

static void *read_all(void *context) {
  struct sn_reader *reader = context;
  uint64_t one = 1;
  pthread_mutex_lock(&reader->lock);
  while (!reader->stop) {
    struct request *request = reader->asked;
    if (request == NULL) {
      pthread_cond_wait(&reader->wanted, &reader->lock);
      continue;
    }
    reader->asked = request->next;
    if (reader->asked == NULL) reader->asked_end = &reader->asked;
    pthread_mutex_unlock(&reader->lock);
    answer(request);
    pthread_mutex_lock(&reader->lock);
    request->next = reader->answered;
    reader->answered = request;
    if (write(reader->notice, &one, sizeof one) != (ssize_t)sizeof one) break;
  }
  pthread_mutex_unlock(&reader->lock);
  return NULL;
}

/* With all signals blocked: handlers run in the thread that the monitor runs in. */
struct sn_reader *sn_reader_new(void) {
  struct sn_reader *reader = base_xcalloc(1, sizeof *reader);
  sigset_t all, before;
  reader->asked_end = &reader->asked;
  reader->notice = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  pthread_mutex_init(&reader->lock, NULL);
  pthread_cond_init(&reader->wanted, NULL);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool good = reader->notice >= 0 && pthread_create(&reader->thread, NULL, read_all, reader) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (good) return reader;
  if (reader->notice >= 0) close(reader->notice);
  free(reader);
  return NULL;
}

int sn_reader_descriptor(const struct sn_reader *reader) {
  return reader->notice;
}

static void requests_free(struct request *request) {
  for (struct request *next; request != NULL; request = next) {
    next = request->next;
    free(request->text);
    free(request);
  }
}

void sn_reader_free(struct sn_reader *reader) {
  if (reader == NULL) return;
  pthread_mutex_lock(&reader->lock);
  reader->stop = true;
  pthread_cond_signal(&reader->wanted);
  pthread_mutex_unlock(&reader->lock);
  pthread_join(reader->thread, NULL);
  requests_free(reader->asked);
  requests_free(reader->answered);
  close(reader->notice);
  free(reader);
}

static void ask(struct sn_reader *reader, struct request request) {
  struct request *asked = base_xmalloc(sizeof *asked);
  *asked = request;
  pthread_mutex_lock(&reader->lock);
  *reader->asked_end = asked;
  reader->asked_end = &asked->next;
  pthread_cond_signal(&reader->wanted);
  pthread_mutex_unlock(&reader->lock);
}

/* --- what is known */

/* NULL: it does not say it. */
static char *text_of(const struct sn_module_view *module) {
  if (module->text == NULL || module->description_bytes > DESCRIPTION_MAX) return NULL;
  char *text = base_xmalloc(module->description_bytes + 1);
  memcpy(text, module->text, module->description_bytes);
  text[module->description_bytes] = '\0';
  return text;
}

struct sn_known *sn_known_of(struct sn_monitor *monitor, const struct sn_peer *peer,
                             const struct sn_module_view *module) {
  struct sn_known *known = monitor->known;
  while (known != NULL && known->digest != module->digest) known = known->next;
  if (known != NULL && known->state != SN_KNOWN_BAD) return known;
  if (known == NULL) {
    known = base_xcalloc(1, sizeof *known);
    known->digest = module->digest;
    known->next = monitor->known;
    monitor->known = known;
  }
  /* One that could not be had from a program may be had from the next. */
  known->state = SN_KNOWN_READING;
  known->asked = sn_peer_identity(peer)->pid;
  ask(monitor->reader, (struct request){.pid = sn_peer_identity(peer)->pid,
                                        .address = module->description,
                                        .length = module->description_bytes,
                                        .digest = module->digest,
                                        .text = text_of(module)});
  return known;
}

const struct sn_type_description *sn_asked_type(const struct sn_event_description *event) {
  if (event->holder == SN_HOLDER_OBJECT) return event->object;
  return event->holder == SN_HOLDER_INITIATOR ? event->initiator : NULL;
}

const struct sn_type_description *sn_known_type(const struct sn_known *known, uint32_t number) {
  for (size_t i = 0; i < known->description->type_count; i++) {
    if (known->description->types[i].number == number) return &known->description->types[i];
  }
  return NULL;
}

/* What of the key is the process, or an object: those end by themselves. */
static void find_key(struct sn_known_event *known) {
  const struct sn_event_description *event = known->event;
  const char *names[SN_IMPLICIT_MAX];
  known->implicit_count = (uint32_t)sn_event_implicit(event, names);
  known->domain_count = (uint32_t)(known->implicit_count + event->domain_count);
  for (uint32_t i = 0; i < known->implicit_count; i++) {
    known->of_key[i] = sn_event_key_has(event, names[i]);
    if (known->holder != NULL && strcasecmp(names[i], known->holder) == 0) known->holder_domain = i;
  }
  known->holder_of_key = known->holder_domain > 0 && known->of_key[known->holder_domain];
}

static void describe(struct sn_monitor *monitor, struct sn_known *known) {
  const struct sn_description *description = known->description;
  known->event_count = description->number_max + 1;
  known->events = BASE_NEW_ARRAY(known->arena, known->event_count, struct sn_known_event);
  uint32_t *asking = BASE_NEW_ARRAY(known->arena, description->type_count + 1, uint32_t);
  for (size_t i = 0; i < description->event_count; i++) {
    const struct sn_event_description *event = &description->events[i];
    struct sn_known_event *place = &known->events[event->number];
    *place = (struct sn_known_event){
        .event = event,
        .interest = sn_interest_of_event(monitor, description->name, event->name),
        .value_count = sn_payload_values(event)};
    const struct sn_type_description *asked = sn_asked_type(event);
    if (asked != NULL) place->place = asking[asked - description->types]++;
    if (event->holder == SN_HOLDER_OBJECT && event->object != NULL) {
      place->holder = event->object->name;
    } else if (event->holder == SN_HOLDER_INITIATOR) {
      place->holder = "Initiator";
    }
    find_key(place);
    if (event->relation == SN_KIND_SAMPLED) place->interest->sampled = true;
    if (sn_is_sampled(event)) monitor->sampled = true;
    if (place->value_count > monitor->value_room) {
      monitor->value_room = place->value_count;
      monitor->values =
          base_xrealloc(monitor->values, monitor->value_room, sizeof *monitor->values);
    }
  }
}

static void understand(struct sn_monitor *monitor, struct sn_known *known,
                       const struct request *request) {
  struct base_diag_sink diags;
  known->state = SN_KNOWN_BAD;
  if (request->text == NULL) return;
  known->arena = base_arena_new();
  known->source = (struct base_source){
      .name = "a program",
      .text = base_arena_strndup(known->arena, request->text, (size_t)request->length),
      .length = (size_t)request->length};
  base_diag_sink_init(&diags);
  known->description = sn_description_read_remote(known->arena, &known->source,
                                                  sn_format_default(known->arena), &diags);
  base_diag_sink_done(&diags);
  if (known->description == NULL) {
    base_arena_free(known->arena);
    known->arena = NULL;
    return;
  }
  describe(monitor, known);
  known->state = SN_KNOWN_GOOD;
  struct sn_message_description message = {
      .digest = known->digest,
      .description = sn_string_from(known->source.text, known->source.length)};
  if (sn_put_description(sn_uplink_frame(monitor), 0, &message)) {
    sn_uplink_define(monitor, known->digest);
  }
}

bool sn_known_take(struct sn_monitor *monitor) {
  struct sn_reader *reader = monitor->reader;
  uint64_t count;
  if (read(reader->notice, &count, sizeof count) != (ssize_t)sizeof count) return false;
  pthread_mutex_lock(&reader->lock);
  struct request *answered = reader->answered;
  reader->answered = NULL;
  pthread_mutex_unlock(&reader->lock);
  for (const struct request *request = answered; request != NULL; request = request->next) {
    struct sn_known *known = monitor->known;
    while (known != NULL && known->digest != request->digest) known = known->next;
    if (known != NULL && known->state == SN_KNOWN_READING) understand(monitor, known, request);
  }
  requests_free(answered);
  return true;
}

void sn_known_free(struct sn_monitor *monitor) {
  for (struct sn_known *known = monitor->known, *next; known != NULL; known = next) {
    next = known->next;
    for (uint32_t e = 0; e < known->event_count; e++) free(known->events[e].filter_places);
    base_arena_free(known->arena);
    free(known);
  }
}

uint32_t sn_known_relation(struct sn_monitor *monitor, struct sn_known *known,
                           struct sn_known_event *event) {
  if (event->relation != 0) return event->relation;
  event->relation = ++monitor->next_relation;
  struct sn_message_relation relation = {.relation = event->relation,
                                         .digest = known->digest,
                                         .name = sn_string_of(event->event->name)};
  sn_put_relation(sn_uplink_frame(monitor), 0, &relation);
  sn_uplink_define(monitor, event->relation);
  return event->relation;
}

/* --- sampled events */

bool sn_is_sampled(const struct sn_event_description *event) {
  return event->minor >= SN_MINOR_RECEPTACLE_SAMPLED;
}

bool sn_is_once(const struct sn_event_description *event) {
  return event->minor == SN_MINOR_RECEPTACLE_SAMPLED;
}
