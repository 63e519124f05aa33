/* The sensors of the task force Own, made from own.sensors by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_Own_H
#define TQUEL_SENSORS_Own_H

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
  ".ifndef sn_Own_84e760200578d781_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_Own_84e760200578d781,comdat\n"
  ".balign 4\n"
  ".long 6, 466, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_Own_84e760200578d781_text\n"
  ".hidden sn_Own_84e760200578d781_text\n"
  ".type sn_Own_84e760200578d781_text, %object\n"
  "sn_Own_84e760200578d781_text:\n"
  ".ascii \"(taskforce (name Own) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"own.sensors\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name Own) (number 1))\\012\"\n"
  ".ascii \"(event (name Step) (enableindex 1) (location Own) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 40) (relation traced) (key Process)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name n) (type i8))\\012\"\n"
  ".ascii \"    (domain (name s) (type c12))) (owner Rick Ilsoo))\\012\"\n"
  ".size sn_Own_84e760200578d781_text, 466\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_Own_84e760200578d781_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_Own_fields_Step[] = {
  {"n", SN_I8, 8},
  {"s", SN_TEXT, 0},
};
static const struct sn_event sn_Own_events[] = {
  {"Step", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   40, 1, 0, 0, -1, 12, 2, sn_Own_fields_Step},
};
static const struct sn_type sn_Own_types[] = {
  {"Own", 1, 1},
};
SN_MODULE(sn_Own_84e760200578d781, "Own", UINT64_C(0x84e760200578d781),
  sn_Own_events, 1, 1,
  sn_Own_types, 1, sn_Own_84e760200578d781_text, 466);

/* This process is a Own called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int OwnProcess(const char *sn_minor) {
  return sn_process_declare(&sn_Own_84e760200578d781, 1, sn_minor);
}

/* --- event 1: Step, sensortraced */
static __attribute__((noinline, unused)) void sn_Own_record_Step(int64_t n, const char *s) {
  const size_t sn_length_1 = s ? strlen(s) : 0;
  const uint64_t sn_sum = UINT64_C(12) + sn_length_1;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Own_84e760200578d781, &sn_Own_events[0], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &n, 8);
  sn_to += 8;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_1); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_1) memcpy(sn_to + 4, s, sn_length_1);
  sn_record_close(&sn_one);
}
static inline void StepSensor(int64_t n, const char *s) {
  if (SN_UNLIKELY(sn_enabled(&sn_Own_84e760200578d781, 1)))
    sn_Own_record_Step(n, s);
}
/* Not 0: StepSensor would do something now. */
static inline int StepEnabled(void) { return sn_enabled(&sn_Own_84e760200578d781, 1); }

#ifdef __cplusplus
}
#endif

#endif
