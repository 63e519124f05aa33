/* The directory where the programs of a machine announce themselves, and where collector and server have
 * their sockets.                                                                                    */
#ifndef SN_COLLECT_DIRECTORY_H
#define SN_COLLECT_DIRECTORY_H

#include <stdbool.h>

/* `$XDG_RUNTIME_DIR/tquel`, or `/run/tquel` where that is not set; as programs find it (sensors/runtime).
 * The caller's to free. Nothing is made or checked.                                                 */
char *sn_directory_default(void);
/* Makes DIRECTORY, if it is not there (mode 0700), and checks that it is as programs want it: it belongs to
 * this user or to root, and others cannot write there, except with the sticky bit. false: *ret_reason (a
 * constant) says what is wrong.                                                                     */
bool sn_directory_prepare(const char *directory, const char **ret_reason);

#endif
