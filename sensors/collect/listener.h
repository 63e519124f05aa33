/* The socket that programs hand their rings to, and the only reader of a directory.
 *
 * One process at a time reads the announcements of a directory: it holds a lock on the file
 * `collector.lock` there, and its socket is called `collector`.                                     */
#ifndef SN_COLLECT_LISTENER_H
#define SN_COLLECT_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "tquel/sensor_layout.h"

struct sn_listener;

/* MODE: permissions of the socket, 0600 for one user's programs. NULL: *ret_reason (good until the next
 * call) says why not: another process listens, say, and which.                                        */
struct sn_listener *sn_listener_open(const char *directory, unsigned mode, const char **ret_reason);
void sn_listener_free(struct sn_listener *listener);
/* To poll for rings. */
int sn_listener_descriptor(const struct sn_listener *listener);
/* The next ring: its descriptor, which is the caller's; -1: none now. Messages that are no such thing,
 * are dropped. *ret_uid: who sent it:
 * compare it with the owner of the announcement.                                                     */
int sn_listener_next(struct sn_listener *listener, struct sn_handover *ret_handover,
                     uint32_t *ret_uid);

#endif
