/* What the engine asks of a store of relations; storage/ implements it over SQLite, tests in memory. */
#ifndef NET_STORE_H
#define NET_STORE_H

#include "engine/base/status.h"
#include "engine/batch.h"
#include "engine/wanted.h"

/* A stream of batches that an access node pulls from. */
struct net_source {
  /* BASE_OK: *RET is a batch, good until the next call (PLAIN only where all its rows are, and in order); BASE_AGAIN; BASE_END (no batch; the last
   * batch's checkpoint holds for ever); or a failure, which was reported.                            */
  enum base_status (*next)(struct net_source *source, struct net_batch *ret);
  void (*free)(struct net_source *source);
  bool at_hand; /* its rows are in memory, where batches point at them: nobody waits for it */
};

enum net_scan_form {
  NET_SCAN_TUPLES,  /* rows as the relation shows them */
  NET_SCAN_RECORDS, /* of a traced relation: an event row per start, and one with NET_CLOSES (an end
                     * record) for every stop that is known; by time, ends before starts of one time */
};

/* What is to be read: the tuples of RELATION in order of their implicit times, the fields of LAYOUT by
 * name (a subset of the relation's domains; they need not be in its order). Open rows come with
 * NET_OPEN. */
struct net_scan {
  const char *relation;
  const struct net_layout *layout;
  enum net_scan_form form;
  net_chronon checkpoint; /* rows at or after it are left out; the last batch carries it */
  uint32_t batch_rows;    /* rows per batch at most; 0: NET_BATCH_ROWS */
  /* Rows that are not may be left out; NULL: all are. In the form of records, of which the reader then
   * leaves out the ends, times are those of the starts. Copied as far as it is needed. */
  const struct net_wanted *wanted;
};

struct net_store {
  const struct net_store_class *class;
};

struct net_store_class {
  /* A stream of what SCAN says; batches before the last carry smaller checkpoints. */
  enum base_status (*scan)(struct net_store *store, const struct net_scan *scan,
                           struct net_source **ret);
  /* Adds a whole or an open row. A row that is there already (same times and domains) stays one row,
   * definite if either is.                                                                           */
  enum base_status (*put)(struct net_store *store, const char *relation,
                          const struct net_layout *layout, const union net_slot *row,
                          uint8_t marks);
  /* Adds whole or open rows, each as put does. */
  enum base_status (*put_rows)(struct net_store *store, const char *relation,
                               const struct net_rows *rows);
  /* Adds rows of an event relation, each as put does, that need not be written before the transaction is
   * committed or the relation is looked at. NULL: put is as good. */
  enum base_status (*append)(struct net_store *store, const char *relation,
                             const struct net_rows *rows);
  /* Replaces the open row OPEN (its stop's lo is NET_OPEN; all columns count) by ROW, whose stop is
   * known, or better known (still NET_OPEN, with another upper bound): definite as MARKS say, or as a row like it that is there already. BASE_END: there is no
   * such row, and nothing was changed.                                                              */
  enum base_status (*close)(struct net_store *store, const char *relation,
                            const struct net_layout *layout, const union net_slot *open,
                            const union net_slot *row, uint8_t marks);
  /* Takes ROW, which is whole, out; it is well if it is not there. */
  enum base_status (*remove)(struct net_store *store, const char *relation,
                             const struct net_layout *layout, const union net_slot *row);
  /* RELATION's checkpoint is now TIME (part of the running transaction). */
  enum base_status (*checkpoint)(struct net_store *store, const char *relation, net_chronon time);
};

typedef enum base_status (*net_batch_fn)(void *context, const struct net_batch *batch);

/* Hands the batches of what SCAN says to EACH, one after the other, until it gives another status than BASE_OK, which is
 * returned then (but BASE_END, which is BASE_OK). Who may be interrupted asks in EACH. */
enum base_status net_store_each_batch(struct net_store *store, const struct net_scan *scan,
                                      net_batch_fn each, void *context);

#endif
