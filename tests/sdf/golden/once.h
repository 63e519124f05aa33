/* The sensors of the task force Once, made from once.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_Once_H
#define TQUEL_SENSORS_Once_H

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

/* One record for each time that somebody asks. */

/* The remote description, which the monitor reads from the program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
__asm__(
  ".ifndef sn_Once_e4d5066494987f49_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_Once_e4d5066494987f49,comdat\n"
  ".balign 4\n"
  ".long 6, 852, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_Once_e4d5066494987f49_text\n"
  ".hidden sn_Once_e4d5066494987f49_text\n"
  ".type sn_Once_e4d5066494987f49_text, %object\n"
  "sn_Once_e4d5066494987f49_text:\n"
  ".ascii \"(taskforce (name Once) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"once.sdf\\\") (documentation \\\"One record for each time that somebody asks.\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name Server) (number 1))\\012\"\n"
  ".ascii \"(objecttype (name Queue) (number 2))\\012\"\n"
  ".ascii \"(event (name Served) (enableindex 1) (location Server) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime t) (waittime 0) (histogram Waited) (relation traced) (key Process)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Waited) (type f8))))\\012\"\n"
  ".ascii \"(event (name Moved) (enableindex 2) (location Server) (object Queue) (receptacle object) (internal nil) (minortype objecttraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime t) (waittime 0) (relation traced) (key Queue)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Length) (type i4))))\\012\"\n"
  ".size sn_Once_e4d5066494987f49_text, 852\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_Once_e4d5066494987f49_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_Once_fields_Served[] = {
  {"Waited", SN_F8, 8},
};
static const struct sn_field sn_Once_fields_Moved[] = {
  {"Length", SN_I4, 4},
};
static const struct sn_event sn_Once_events[] = {
  {"Served", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME | SN_ASSUME_ONE_TIME,
   0, 1, 0, 0, 0, 8, 1, sn_Once_fields_Served},
  {"Moved", 2, SN_OBJECT_TRACED, SN_OBJECT, SN_TIMESTAMP | SN_CHECK_ONE_TIME | SN_ASSUME_ONE_TIME,
   0, 1, 2, 0, -1, 4, 1, sn_Once_fields_Moved},
};
static const struct sn_type sn_Once_types[] = {
  {"Server", 1, 1},
  {"Queue", 2, 0},
};
SN_MODULE(sn_Once_e4d5066494987f49, "Once", UINT64_C(0xe4d5066494987f49),
  sn_Once_events, 2, 2,
  sn_Once_types, 2, sn_Once_e4d5066494987f49_text, 852);

/* This process is a Server called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int ServerProcess(const char *sn_minor) {
  return sn_process_declare(&sn_Once_e4d5066494987f49, 1, sn_minor);
}

/* The receptacle of the Queue called sn_minor. NULL when there is no memory: sensors that
 * get it do nothing. */
static inline struct sn_receptacle *QueueReceptacle(uint64_t sn_minor) {
  return sn_receptacle_new(&sn_Once_e4d5066494987f49, 2, sn_minor);
}
/* The Queue is no more. */
static inline void QueueRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); }

/* --- event 1: Served, sensortraced */
static __attribute__((noinline, unused)) void sn_Once_record_Served(double Waited) {
  const uint32_t sn_size = 8;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Once_e4d5066494987f49, &sn_Once_events[0], SN_NULL, sn_size, Waited, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &Waited, 8);
  sn_record_close(&sn_one);
}
static inline void ServedSensor(double Waited) {
  if (SN_UNLIKELY(sn_enabled(&sn_Once_e4d5066494987f49, 1)))
    sn_Once_record_Served(Waited);
}
/* Not 0: ServedSensor would do something now. */
static inline int ServedEnabled(void) { return sn_enabled(&sn_Once_e4d5066494987f49, 1); }

/* --- event 2: Moved, objecttraced */
static __attribute__((noinline, unused)) void sn_Once_record_Moved(struct sn_receptacle *object, int32_t Length) {
  const uint32_t sn_size = 4;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Once_e4d5066494987f49, &sn_Once_events[1], object, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &Length, 4);
  sn_record_close(&sn_one);
}
static inline void MovedSensor(struct sn_receptacle *object, int32_t Length) {
  if (SN_UNLIKELY(sn_object_enabled(object, 2)))
    sn_Once_record_Moved(object, Length);
}
/* Not 0: MovedSensor would do something now. */
static inline int MovedEnabled(const struct sn_receptacle *object) { return sn_object_enabled(object, 2); }

#ifdef __cplusplus
}
#endif

#endif
