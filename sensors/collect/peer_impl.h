/* What the files of this folder know of a peer. Offsets and sizes here were checked when they were
 * copied; the program cannot change them afterwards.                                                */
#ifndef SN_COLLECT_PEER_IMPL_H
#define SN_COLLECT_PEER_IMPL_H

#include "sensors/collect/peer.h"

struct sn_unit_place {
  uint64_t offset;
  uint32_t switches, entries; /* of its receptacle */
  uint8_t *counts;            /* by event: sn_peer_count; NULL: nothing is counted */
};

struct sn_object_chunk {
  uint64_t offset;
  uint32_t unit_bytes, units;
};

struct sn_pipe {
  uint64_t slot; /* offset of its sn_slot */
  unsigned char *base;
  uint64_t bytes;
  uint32_t serial, tid;
  bool corrupt;
  uint64_t position, count; /* read and not yet released; from the slot when nothing is */
  uint64_t seen;            /* so far the ring is known to be written */
  uint64_t unsent;          /* of count */
  bool reading;
};

struct sn_peer {
  unsigned char *map;
  uint64_t bytes;   /* mapped */
  uint64_t checked; /* chunks before this are known */
  int file;
  char *path, *name; /* name: in path */
  struct sn_identity identity;
  bool attached, quiet;
  uint32_t broken;      /* by the signal handler */
  struct sn_peer *next; /* of all */
  uint32_t generation, changes;
  struct sn_unit_place *modules;
  size_t module_count, module_room;
  struct sn_object_chunk *chunks;
  size_t chunk_count, chunk_room;
  struct sn_pipe *pipes;
  size_t pipe_count, pipe_room;
};

static inline struct sn_header *sn_peer_header(const struct sn_peer *peer) {
  return (struct sn_header *)(void *)peer->map;
}

/* What lies at OFFSET, if BYTES of it are mapped, on a multiple of 8; else NULL. */
static inline void *sn_peer_at(const struct sn_peer *peer, uint64_t offset, uint64_t bytes) {
  if (offset > peer->bytes || bytes > peer->bytes - offset || offset % 8 != 0) return NULL;
  return peer->map + offset;
}

static inline struct sn_slot *sn_pipe_slot(const struct sn_peer *peer, const struct sn_pipe *pipe) {
  return (struct sn_slot *)(void *)(peer->map + pipe->slot);
}

/* A slot was found at OFFSET: it becomes a pipe. */
void sn_pipe_add(struct sn_peer *peer, uint64_t offset);
void sn_pipe_done(struct sn_pipe *pipe);
void sn_peer_wake(struct sn_peer *peer); /* who sleeps on its requests */

#endif
