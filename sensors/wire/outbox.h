/* What a source sends, kept until the server has it for good, and sent again after a break.
 *
 *     sn_outbox_frame, sn_put_NAME ──▶ sn_outbox_data      numbered 1, 2, ...: kept until acknowledged
 *                                 └──▶ sn_outbox_define    number 0: kept as long as it holds
 *     sn_outbox_send ──▶ connection    as far as the credit reaches
 *     WELCOME, ACKNOWLEDGE ──▶ sn_outbox_welcome, sn_outbox_acknowledged
 *
 * Definitions say what numbers mean (RELATION, PROCESS, NAME ...). After a break all that hold are sent
 * again, in the order in which they were made, and then the data that are not acknowledged: the server may
 * have been another one meanwhile. So what a number means never changes.
 *
 * The bound is on the bytes of data that are kept. Beyond it nothing is taken, and the caller knows: he keeps
 * the data elsewhere, or counts them as lost.                                                        */
#ifndef SN_WIRE_OUTBOX_H
#define SN_WIRE_OUTBOX_H

#include "sensors/wire/connection.h"

struct sn_outbox;

struct sn_outbox *sn_outbox_new(size_t bytes_max);
void sn_outbox_free(struct sn_outbox *outbox); /* NULL is accepted */

/* An empty buffer for one frame, which one of the next two takes. */
struct base_buffer *sn_outbox_frame(struct sn_outbox *outbox);
/* Data. False: there is no room for it; it is not taken. Its number: sn_outbox_last. */
bool sn_outbox_data(struct sn_outbox *outbox);
/* A definition. It replaces an earlier one of the same type and ID, and comes behind all that are there. */
void sn_outbox_define(struct sn_outbox *outbox, uint64_t id);
/* It holds only for what was put so far. */
void sn_outbox_forget(struct sn_outbox *outbox, enum sn_message_type type, uint64_t id);

/* A server is there: DURABLE is the last number that it has for good. The next sn_outbox_send begins anew.
 * False: it claims to have what was never sent, or not to have what it acknowledged: no going on with it. */
bool sn_outbox_welcome(struct sn_outbox *outbox, uint64_t durable, uint32_t credit);
bool sn_outbox_acknowledged(struct sn_outbox *outbox, uint64_t upto, uint32_t credit);
/* For a server that knows nothing of us: what is kept is numbered 1, 2, ... again. Needs another identity. */
void sn_outbox_restart(struct sn_outbox *outbox);
/* Moves what may be sent into the connection, not more than it takes soon. */
void sn_outbox_send(struct sn_outbox *outbox, struct sn_connection *connection);

/* The number of the last data, the last that the server has for good, and bytes that there is room for. */
uint64_t sn_outbox_last(const struct sn_outbox *outbox);
uint64_t sn_outbox_durable(const struct sn_outbox *outbox);
size_t sn_outbox_room(const struct sn_outbox *outbox);
/* Something waits for sn_outbox_send. */
bool sn_outbox_waits(const struct sn_outbox *outbox);

/* The other end: whether a number continues what came before. */
enum sn_sequel { SN_SEQUEL_NEW, SN_SEQUEL_REPEATED, SN_SEQUEL_GAP };
static inline enum sn_sequel sn_sequel(uint64_t last, uint64_t number) {
  return number == last + 1 ? SN_SEQUEL_NEW : number <= last ? SN_SEQUEL_REPEATED : SN_SEQUEL_GAP;
}

#endif
