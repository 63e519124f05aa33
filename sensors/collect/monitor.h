/* The resident monitor of a machine (thesis 8.3): between its instrumented programs and a server.
 *
 *     programs ══rings══▶ accountant ──▶ outbox ──▶ server
 *         ▲ switches, rounds ◀── watches ◀── commands ──┘
 *
 * It finds programs, reads what they say of themselves, drains their rings, switches their sensors as the
 * server's watches ask, promises what is past (checkpoints), and counts what is lost. One thread does all
 * that, in slices, so that no command keeps it from draining; another one reads descriptions from disk.
 * Nothing is printed: what somebody should know goes to `tell`.                                      */
#ifndef SN_COLLECT_MONITOR_H
#define SN_COLLECT_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/diag.h"
#include "sensors/wire/connection.h"

struct sn_monitor;

struct sn_monitor_options {
  const char *directory;    /* of the announcements */
  unsigned mode;            /* permissions of the socket there: 0600 */
  struct sn_address server; /* its texts live as long as the monitor */
  const char *token, *user; /* for the server; NULL: none */
  const char *program;      /* "tquel 0.1.0" */
  int64_t checkpoint_ns;    /* how often, until the server says */
  int64_t sample_ns;        /* how often sampled events are asked for where no clock says it */
  int64_t patience_ns;      /* how long a ring that stands still holds checkpoints back */
  uint64_t buffer_bytes;    /* kept for the server at most */
  uint32_t ring_bytes;      /* wished for; 0: as programs like it */
  bool own_sensors;         /* it is an instrumented program, too */
  /* Called when something goes wrong that somebody should know of, once each time it changes. */
  void (*tell)(void *context, enum base_message message, const char *text);
  void *context;
};

/* NULL: *ret_reason (a constant) says why: somebody else collects there, say. The options are copied. */
struct sn_monitor *sn_monitor_new(const struct sn_monitor_options *options,
                                  const char **ret_reason);
/* Runs until sn_monitor_stop, then ends in good order: switches off, accounts made and sent. */
void sn_monitor_run(struct sn_monitor *monitor);
void sn_monitor_stop(void); /* async-signal-safe; of all monitors of the process */
void sn_monitor_free(struct sn_monitor *monitor);

#endif
