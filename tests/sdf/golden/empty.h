/* The sensors of the task force Empty, made from empty.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_Empty_H
#define TQUEL_SENSORS_Empty_H

#include <stdint.h>
#include <string.h>
#include <tquel/sensor.h>

/* Who includes this is warned of his own code alone. */
#if defined(__GNUC__) && defined(__INCLUDE_LEVEL__) && __INCLUDE_LEVEL__ > 0
#pragma GCC system_header
#endif

#if SN_INTERFACE != 1 || !defined(SN_NULL)
#error "tquel/sensor.h is of another version than the tquel that made this header"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The remote description, which the monitor reads from the program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
__asm__(
  ".ifndef sn_Empty_02dcec029a23c9c9_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_Empty_02dcec029a23c9c9,comdat\n"
  ".balign 4\n"
  ".long 6, 123, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_Empty_02dcec029a23c9c9_text\n"
  ".hidden sn_Empty_02dcec029a23c9c9_text\n"
  ".type sn_Empty_02dcec029a23c9c9_text, %object\n"
  "sn_Empty_02dcec029a23c9c9_text:\n"
  ".ascii \"(taskforce (name Empty) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"empty.sdf\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name Empty) (number 1))\\012\"\n"
  ".size sn_Empty_02dcec029a23c9c9_text, 123\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_Empty_02dcec029a23c9c9_text[] __attribute__((visibility("hidden")));

static const struct sn_type sn_Empty_types[] = {
  {"Empty", 1, 1},
};
SN_MODULE(sn_Empty_02dcec029a23c9c9, "Empty", UINT64_C(0x02dcec029a23c9c9),
  SN_NULL, 0, 0,
  sn_Empty_types, 1, sn_Empty_02dcec029a23c9c9_text, 123);

/* This process is a Empty called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int EmptyProcess(const char *sn_minor) {
  return sn_process_declare(&sn_Empty_02dcec029a23c9c9, 1, sn_minor);
}

#ifdef __cplusplus
}
#endif

#endif
