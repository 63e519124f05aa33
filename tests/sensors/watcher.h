/* A reader for the tests: starts a watched program, enables what a scenario wants, drains, and adds up. */
#ifndef TESTS_SENSORS_WATCHER_H
#define TESTS_SENSORS_WATCHER_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sensors/collect/listener.h"
#include "sensors/collect/peer.h"
#include "tests/sensors/ledger.h"

enum { WATCHER_PEERS = 64, WATCHER_EVENTS = 12, WATCHER_LAST = 1 << 16 };

struct watcher {
  char directory[200], ledger_path[220]; /* of announcements; of the ledger */
  struct sn_listener *listener;
  struct sn_peer *peers[WATCHER_PEERS];
  size_t peer_count;
  uint32_t enabled[WATCHER_PEERS]; /* modules */
  unsigned modes[WATCHER_EVENTS];  /* what is enabled in every process found */
  uint32_t ring_bytes;
  size_t limit;    /* records a pass at most; 0: all */
  uint64_t share;  /* no more than one of so many that the program has called; 0: all */
  unsigned nap_us; /* after each pass */
  struct ledger *ledger;
  pid_t program;
  uint64_t records, rounds, by_event[WATCHER_EVENTS];
  uint64_t refused; /* rings */
  /* Looks at each record; NULL: none does. */
  void (*see)(struct watcher *watcher, const struct sn_peer *peer,
              const struct sn_record_view *record);
  int64_t last[WATCHER_LAST]; /* for the scenario's own use */
  /* Where the test goes on when the program is not there that all of it is about; NULL: where it stands. */
  jmp_buf *give_up;
  uint64_t wrong;
  char first_wrong[160];
};

void watcher_init(struct watcher *watcher);
void watcher_done(struct watcher *watcher); /* ends the program, removes the directory */
void watcher_listen(struct watcher *watcher);
void watcher_deafen(struct watcher *watcher);
/* Gives up if the program cannot be started. */
void watcher_run(struct watcher *watcher, const char *binary, const char *role, long count);
/* One look at everything: new programs, new rings, records. */
void watcher_pass(struct watcher *watcher);
/* Passes until the program is at STAGE; false after two minutes. */
bool watcher_until(struct watcher *watcher, uint32_t stage);
/* Passes until N programs are found and their modules switched; false, and wrong: the program that was run ended
 * before, or two minutes are over. There may then be no peers[0].                                    */
bool watcher_find(struct watcher *watcher, size_t peers);
/* The same; the test gives up without them. */
void watcher_need(struct watcher *watcher, size_t peers);
void watcher_go(struct watcher *watcher, uint32_t stage);
/* Until the program has ended and all is drained; its status. */
int watcher_finish(struct watcher *watcher);
/* Of all programs, which have ended. */
void watcher_account(struct watcher *watcher, struct sn_account *ret_account);
void watcher_wrong(struct watcher *watcher, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
uint64_t watcher_calls(const struct watcher *watcher, bool after);

#endif
