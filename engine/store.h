/* What the engine asks of a store of relations; storage/ implements it over SQLite, tests in memory. */
#ifndef NET_STORE_H
#define NET_STORE_H

#include "engine/base/status.h"
#include "engine/batch.h"

/* A stream of batches that an access node pulls from. */
struct net_source {
  /* BASE_OK: *RET is a batch, good until the next call; BASE_AGAIN; BASE_END (no batch; the last
   * batch's checkpoint holds for ever); or a failure, which was reported.                            */
  enum base_status (*next)(struct net_source *source, struct net_batch *ret);
  void (*free)(struct net_source *source);
};

enum net_scan_form {
  NET_SCAN_TUPLES,  /* rows as the relation shows them */
  NET_SCAN_RECORDS, /* of a traced relation: an event row per start, and one with NET_CLOSES (an end
                     * record) for every stop that is known; by time, ends before starts of one time */
};

struct net_store {
  const struct net_store_class *class;
};

struct net_store_class {
  /* The tuples of RELATION in order of their implicit times, the fields of LAYOUT by name (a subset
   * of the relation's domains; they need not be in its order). Open rows come with NET_OPEN. The
   * last batch carries the checkpoint CHECKPOINT, batches before it smaller ones; rows at or after
   * CHECKPOINT are left out. BATCH_ROWS: rows per batch at most.                                     */
  enum base_status (*scan)(struct net_store *store, const char *relation,
                           const struct net_layout *layout, enum net_scan_form form,
                           net_chronon checkpoint, uint32_t batch_rows, struct net_source **ret);
  /* Adds a whole or an open row. A row that is there already (same times and domains) stays one row,
   * definite if either is.                                                                           */
  enum base_status (*put)(struct net_store *store, const char *relation,
                          const struct net_layout *layout, const union net_slot *row,
                          uint8_t marks);
  /* Adds whole or open rows, each as put does. */
  enum base_status (*put_rows)(struct net_store *store, const char *relation,
                               const struct net_rows *rows);
  /* Replaces the open row OPEN (its stop's lo is NET_OPEN; all columns count) by ROW, whose stop is
   * known, or better known (still NET_OPEN, with another upper bound): definite as MARKS say, or as a row like it that is there already. BASE_END: there is no
   * such row, and nothing was changed.                                                              */
  enum base_status (*close)(struct net_store *store, const char *relation,
                            const struct net_layout *layout, const union net_slot *open,
                            const union net_slot *row, uint8_t marks);
  /* RELATION's checkpoint is now TIME (part of the running transaction). */
  enum base_status (*checkpoint)(struct net_store *store, const char *relation, net_chronon time);
};

#endif
