/* The sensors of the task force PDE, made from pde.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_PDE_H
#define TQUEL_SENSORS_PDE_H

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

/* A parallel solver of Laplace's equation: processes of different speeds on strips of one grid. */

/* The remote description, which the monitor reads from the program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
__asm__(
  ".ifndef sn_PDE_eb9f8bba91840749_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_PDE_eb9f8bba91840749,comdat\n"
  ".balign 4\n"
  ".long 6, 655, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_PDE_eb9f8bba91840749_text\n"
  ".hidden sn_PDE_eb9f8bba91840749_text\n"
  ".type sn_PDE_eb9f8bba91840749_text, %object\n"
  "sn_PDE_eb9f8bba91840749_text:\n"
  ".ascii \"(taskforce (name PDE) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"pde.sdf\\\") (documentation \\\"A parallel solver of Laplace's equation: processes of different speeds on strips of one grid.\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name PDESolver) (number 1) (documentation \\\"Works on one strip.\\\"))\\012\"\n"
  ".ascii \"(event (name Iteration) (enableindex 1) (location PDESolver) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Process)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name IterNum) (type i8) (documentation \\\"The first is 1.\\\"))) (documentation \\\"An iteration begins.\\\"))\\012\"\n"
  ".size sn_PDE_eb9f8bba91840749_text, 655\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_PDE_eb9f8bba91840749_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_PDE_fields_Iteration[] = {
  {"IterNum", SN_I8, 8},
};
static const struct sn_event sn_PDE_events[] = {
  {"Iteration", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -1, 8, 1, sn_PDE_fields_Iteration},
};
static const struct sn_type sn_PDE_types[] = {
  {"PDESolver", 1, 1},
};
SN_MODULE(sn_PDE_eb9f8bba91840749, "PDE", UINT64_C(0xeb9f8bba91840749),
  sn_PDE_events, 1, 1,
  sn_PDE_types, 1, sn_PDE_eb9f8bba91840749_text, 655);

/* Works on one strip. */
/* This process is a PDESolver called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int PDESolverProcess(const char *sn_minor) {
  return sn_process_declare(&sn_PDE_eb9f8bba91840749, 1, sn_minor);
}

/* --- event 1: Iteration, sensortraced */
static __attribute__((noinline, unused)) void sn_PDE_record_Iteration(int64_t IterNum) {
  const uint32_t sn_size = 8;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_PDE_eb9f8bba91840749, &sn_PDE_events[0], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &IterNum, 8);
  sn_record_close(&sn_one);
}
/* An iteration begins.
 * IterNum: The first is 1. */
static inline void IterationSensor(int64_t IterNum) {
  if (SN_UNLIKELY(sn_enabled(&sn_PDE_eb9f8bba91840749, 1)))
    sn_PDE_record_Iteration(IterNum);
}
/* Not 0: IterationSensor would do something now. */
static inline int IterationEnabled(void) { return sn_enabled(&sn_PDE_eb9f8bba91840749, 1); }

#ifdef __cplusplus
}
#endif

#endif
