/* What the tests of the protocol begin with: a greeting with something in every field, and a place for a
 * server's socket, a directory that goes with the test. */
#ifndef WIRE_SAMPLES_H
#define WIRE_SAMPLES_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sensors/wire/message.h"

#define MAYBE_UNUSED __attribute__((unused))

MAYBE_UNUSED static const struct sn_message_hello hello_like = {.version = SN_WIRE_VERSION,
                                                                .role = SN_ROLE_COLLECTOR,
                                                                .program = {"tquel 0.1", 9},
                                                                .user = {"ren\xc3\xa9", 5},
                                                                .token = {"", 0},
                                                                .identity = {"0123", 4},
                                                                .host = {"here", 4},
                                                                .directory = {"/tmp", 4},
                                                                .flags = SN_HELLO_READONLY};

MAYBE_UNUSED static char directory[] = "/tmp/wire-test-XXXXXX";
MAYBE_UNUSED static char place[64];

MAYBE_UNUSED static void set_up(void) {
  ck_assert_ptr_nonnull(mkdtemp(directory));
  snprintf(place, sizeof place, "%s/server", directory);
}

MAYBE_UNUSED static void tear_down(void) {
  char lock[80];
  snprintf(lock, sizeof lock, "%s.lock", place);
  unlink(place);
  unlink(lock);
  rmdir(directory);
  memcpy(directory + sizeof directory - 7, "XXXXXX", 6);
}

#endif
