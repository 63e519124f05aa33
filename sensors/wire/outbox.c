/* The outbox: one queue of frames, data and definitions in the order in which they were put, and the
 * definitions that hold, for the next connection.
 *
 *      queue   | acknowledged | sent, not acknowledged | not sent yet |
 *              0              first                    next           length
 *
 * Definitions in the queue are not counted: they pass as they are sent, for they are kept beside it.  */
#include "sensors/wire/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/base/hash_table.h"
#include "engine/base/status.h"

/* So much may lie in a connection before it is given more. */
enum { SEND_AHEAD = 256 * 1024, TYPE_AT = 4, NUMBER_AT = 8 };

struct definition {
  uint16_t type;
  uint64_t id;
  char *frame; /* NULL: it holds no more */
  uint32_t length;
  bool ending; /* it goes when UNTIL is acknowledged */
  uint64_t until;
};

/* Definitions by type and id: a table of their numbers, and 1. */
struct wanted_definition {
  unsigned type;
  uint64_t id;
};
static bool is_no_place(const uint32_t *place);
static uint64_t hash_of_placed(const uint32_t *place, const void *outbox);
static bool is_wanted(const uint32_t *place, const void *wanted, const void *outbox);
BASE_HASH_TABLE(places, uint32_t, is_no_place, hash_of_placed, is_wanted);

struct sn_outbox {
  size_t bytes_max, data_bytes;
  struct base_buffer frame, queue;
  size_t first, next;
  uint64_t last, durable; /* numbers */
  uint64_t sent;          /* ever, not only in this connection */
  uint32_t credit;
  bool again; /* definitions come first */
  struct definition *definitions;
  size_t count, room, gone; /* gone: of them hold no more */
  size_t ending;
  struct places places;
};

static bool is_no_place(const uint32_t *place) {
  return *place == 0;
}

static uint64_t hash_of_wanted(const struct wanted_definition *wanted) {
  return base_hash_u64(wanted->id, wanted->type);
}

static uint64_t hash_of_placed(const uint32_t *place, const void *context) {
  const struct sn_outbox *outbox = context;
  const struct definition *one = &outbox->definitions[*place - 1];
  return hash_of_wanted(&(struct wanted_definition){one->type, one->id});
}

static bool is_wanted(const uint32_t *place, const void *key, const void *context) {
  const struct sn_outbox *outbox = context;
  const struct definition *one = &outbox->definitions[*place - 1];
  const struct wanted_definition *wanted = key;
  return one->type == wanted->type && one->id == wanted->id;
}

struct sn_outbox *sn_outbox_new(size_t bytes_max) {
  struct sn_outbox *outbox = base_xcalloc(1, sizeof *outbox);
  outbox->bytes_max = bytes_max;
  return outbox;
}

void sn_outbox_free(struct sn_outbox *outbox) {
  if (outbox == NULL) return;
  for (size_t i = 0; i < outbox->count; i++) free(outbox->definitions[i].frame);
  free(outbox->definitions);
  places_done(&outbox->places);
  base_buffer_done(&outbox->frame);
  base_buffer_done(&outbox->queue);
  free(outbox);
}

/* --- frames */

static uint64_t number_at(const char *frame, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) value |= (uint64_t)(unsigned char)frame[at + i] << (8 * i);
  return value;
}

static size_t frame_length(const char *frame) {
  return SN_FRAME_HEAD + (size_t)number_at(frame, 0, 4);
}

struct base_buffer *sn_outbox_frame(struct sn_outbox *outbox) {
  base_buffer_clear(&outbox->frame);
  return &outbox->frame;
}

static void store_number(char *frame, uint64_t number) {
  for (size_t i = 0; i < 8; i++) frame[NUMBER_AT + i] = (char)(number >> (8 * i));
}

/* The number is written here: the caller need not know it. */
static void enqueue(struct sn_outbox *outbox, uint64_t number) {
  struct base_buffer *frame = &outbox->frame;
  BASE_CHECK(frame->length >= SN_FRAME_HEAD && frame_length(frame->data) == frame->length,
             "outbox-one-frame");
  unsigned from = sn_message_from((unsigned)number_at(frame->data, TYPE_AT, 2));
  BASE_CHECK((from & SN_NUMBERED) == (number != 0 ? SN_NUMBERED : 0), "outbox-data-or-definition");
  store_number(frame->data, number);
  base_buffer_append(&outbox->queue, frame->data, frame->length);
}

bool sn_outbox_data(struct sn_outbox *outbox) {
  size_t length = outbox->frame.length;
  if (length > sn_outbox_room(outbox)) return false;
  enqueue(outbox, ++outbox->last);
  outbox->data_bytes += length;
  return true;
}

/* --- definitions */

static struct definition *find(const struct sn_outbox *outbox, unsigned type, uint64_t id) {
  struct wanted_definition wanted = {type, id};
  const uint32_t *place = places_find(&outbox->places, hash_of_wanted(&wanted), &wanted, outbox);
  return place == NULL || outbox->definitions[*place - 1].frame == NULL
             ? NULL
             : &outbox->definitions[*place - 1];
}

static uint32_t *place_of(struct sn_outbox *outbox, const struct definition *one) {
  struct wanted_definition wanted = {one->type, one->id};
  return places_place(&outbox->places, hash_of_wanted(&wanted), &wanted, outbox);
}

/* Leaves out those that hold no more, and makes the table anew. */
static void arrange(struct sn_outbox *outbox) {
  size_t kept = 0;
  for (size_t i = 0; i < outbox->count; i++)
    if (outbox->definitions[i].frame != NULL) outbox->definitions[kept++] = outbox->definitions[i];
  outbox->count = kept;
  outbox->gone = 0;
  places_done(&outbox->places);
  for (size_t i = 0; i < kept; i++) *place_of(outbox, &outbox->definitions[i]) = (uint32_t)i + 1;
}

void sn_outbox_define(struct sn_outbox *outbox, uint64_t id) {
  enqueue(outbox, 0);
  unsigned type = (unsigned)number_at(outbox->frame.data, TYPE_AT, 2);
  struct definition *one = find(outbox, type, id);
  if (one != NULL) { /* it comes behind all that it may name */
    free(one->frame);
    one->frame = NULL;
    if (one->ending) outbox->ending--;
    one->ending = false;
    outbox->gone++;
  }
  base_grow(&outbox->definitions, &outbox->room, outbox->count + 1, sizeof *outbox->definitions);
  one = &outbox->definitions[outbox->count];
  *one = (struct definition){.type = (uint16_t)type, .id = id};
  /* One that is gone has left its place behind: the new one takes it. */
  *place_of(outbox, one) = (uint32_t)++outbox->count;
  one->frame = base_xmalloc(outbox->frame.length);
  memcpy(one->frame, outbox->frame.data, outbox->frame.length);
  one->length = (uint32_t)outbox->frame.length;
}

void sn_outbox_forget(struct sn_outbox *outbox, enum sn_message_type type, uint64_t id) {
  struct definition *one = find(outbox, type, id);
  if (one == NULL || one->ending) return;
  one->ending = true;
  one->until = outbox->last;
  outbox->ending++;
}

/* Drops the definitions that nothing needs any more. */
static void end_definitions(struct sn_outbox *outbox) {
  if (outbox->ending == 0) return;
  for (size_t i = 0; i < outbox->count; i++) {
    struct definition *one = &outbox->definitions[i];
    if (one->frame == NULL || !one->ending || one->until > outbox->durable) continue;
    free(one->frame);
    one->frame = NULL;
    one->ending = false;
    outbox->ending--;
    outbox->gone++;
  }
  if (outbox->gone > 32 && outbox->gone > outbox->count / 2) arrange(outbox);
}

/* --- the server's side of it */

/* Takes what UPTO acknowledges out of the queue, sent by this connection or by an earlier one. Definitions
 * before it go with it: they are older than it, so they were among those that came first. */
static void take_out(struct sn_outbox *outbox, uint64_t upto) {
  struct base_buffer *queue = &outbox->queue;
  for (size_t at = outbox->first; at < queue->length;) {
    const char *frame = queue->data + at;
    uint64_t number = number_at(frame, NUMBER_AT, 8);
    size_t length = frame_length(frame);
    if (number > upto) break;
    at += length;
    if (number != 0) outbox->data_bytes -= length;
    if (number != 0 || at <= outbox->next) outbox->first = at;
  }
  if (outbox->next < outbox->first) outbox->next = outbox->first;
  if (outbox->first < 65536 || outbox->first < queue->length / 2) return;
  queue->length -= outbox->first;
  memmove(queue->data, queue->data + outbox->first, queue->length + 1);
  outbox->next -= outbox->first;
  outbox->first = 0;
}

bool sn_outbox_acknowledged(struct sn_outbox *outbox, uint64_t upto, uint32_t credit) {
  if (upto > outbox->sent || upto < outbox->durable) return false;
  outbox->durable = upto;
  outbox->credit = credit;
  take_out(outbox, upto);
  end_definitions(outbox);
  return true;
}

bool sn_outbox_welcome(struct sn_outbox *outbox, uint64_t durable, uint32_t credit) {
  if (!sn_outbox_acknowledged(outbox, durable, credit)) return false;
  outbox->next = outbox->first;
  outbox->again = true;
  return true;
}

void sn_outbox_restart(struct sn_outbox *outbox) {
  uint64_t before = outbox->durable;
  outbox->last -= before;
  outbox->durable = outbox->sent = 0;
  outbox->next = outbox->first;
  outbox->again = true;
  for (size_t at = outbox->first; at < outbox->queue.length;) {
    char *frame = outbox->queue.data + at;
    uint64_t number = number_at(frame, NUMBER_AT, 8);
    at += frame_length(frame);
    if (number != 0) store_number(frame, number - before);
  }
  for (size_t i = 0; i < outbox->count; i++) {
    struct definition *one = &outbox->definitions[i];
    if (one->ending) one->until -= one->until < before ? one->until : before;
  }
}

void sn_outbox_send(struct sn_outbox *outbox, struct sn_connection *connection) {
  struct base_buffer *out = sn_connection_out(connection), *queue = &outbox->queue;
  if (outbox->again) {
    for (size_t i = 0; i < outbox->count; i++) {
      const struct definition *one = &outbox->definitions[i];
      if (one->frame != NULL) base_buffer_append(out, one->frame, one->length);
    }
    outbox->again = false;
  }
  while (outbox->next < queue->length && sn_connection_unsent(connection) < SEND_AHEAD) {
    const char *frame = queue->data + outbox->next;
    uint64_t number = number_at(frame, NUMBER_AT, 8);
    if (number != 0 && number - outbox->durable > outbox->credit) break;
    size_t length = frame_length(frame);
    base_buffer_append(out, frame, length);
    if (number > outbox->sent) outbox->sent = number;
    outbox->next += length;
  }
  take_out(outbox, outbox->durable); /* definitions that were sent are kept elsewhere */
}

uint64_t sn_outbox_last(const struct sn_outbox *outbox) {
  return outbox->last;
}

uint64_t sn_outbox_durable(const struct sn_outbox *outbox) {
  return outbox->durable;
}

size_t sn_outbox_room(const struct sn_outbox *outbox) {
  return outbox->data_bytes < outbox->bytes_max ? outbox->bytes_max - outbox->data_bytes : 0;
}

bool sn_outbox_waits(const struct sn_outbox *outbox) {
  if (outbox->again) return true;
  if (outbox->next >= outbox->queue.length) return false;
  uint64_t number = number_at(outbox->queue.data + outbox->next, NUMBER_AT, 8);
  return number == 0 || number - outbox->durable <= outbox->credit;
}
