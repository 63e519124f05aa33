/* The sensors of the task force RSTest, made from measure.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_RSTest_H
#define TQUEL_SENSORS_RSTest_H

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
  ".ifndef sn_RSTest_ee4360e07ad849ca_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_RSTest_ee4360e07ad849ca,comdat\n"
  ".balign 4\n"
  ".long 6, 1469, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_RSTest_ee4360e07ad849ca_text\n"
  ".hidden sn_RSTest_ee4360e07ad849ca_text\n"
  ".type sn_RSTest_ee4360e07ad849ca_text, %object\n"
  "sn_RSTest_ee4360e07ad849ca_text:\n"
  ".ascii \"(taskforce (name RSTest) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"measure.sdf\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name RSProcess) (number 1))\\012\"\n"
  ".ascii \"(objecttype (name RSObject) (number 2))\\012\"\n"
  ".ascii \"(event (name Shortest) (enableindex 1) (location RSProcess) (receptacle performer) (internal t) (minortype sensortraced) (timestamp nil) (declareobject nil) (assumeenabled t) (checkonetime t) (assumeonetime nil) (waittime -1) (relation traced) (key Process))\\012\"\n"
  ".ascii \"(event (name Short) (enableindex 2) (location RSProcess) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime -1) (relation traced) (key Process)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name ADomain) (type i4))))\\012\"\n"
  ".ascii \"(event (name Medium) (enableindex 3) (location RSProcess) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime -1) (relation traced) (key Process)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name ADomain) (type i4))\\012\"\n"
  ".ascii \"    (domain (name DblDomain) (type i8))))\\012\"\n"
  ".ascii \"(event (name Long) (enableindex 4) (location RSProcess) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime -1) (relation traced) (key Process)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name ADomain) (type i4))\\012\"\n"
  ".ascii \"    (domain (name DblDomain) (type i8))\\012\"\n"
  ".ascii \"    (domain (name StrDomain) (type text))))\\012\"\n"
  ".size sn_RSTest_ee4360e07ad849ca_text, 1469\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_RSTest_ee4360e07ad849ca_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_RSTest_fields_Short[] = {
  {"ADomain", SN_I4, 4},
};
static const struct sn_field sn_RSTest_fields_Medium[] = {
  {"ADomain", SN_I4, 4},
  {"DblDomain", SN_I8, 8},
};
static const struct sn_field sn_RSTest_fields_Long[] = {
  {"ADomain", SN_I4, 4},
  {"DblDomain", SN_I8, 8},
  {"StrDomain", SN_TEXT, 0},
};
static const struct sn_event sn_RSTest_events[] = {
  {"Shortest", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME,
   -1, 1, 0, 0, -1, 0, 0, SN_NULL},
  {"Short", 2, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   -1, 1, 0, 0, -1, 4, 1, sn_RSTest_fields_Short},
  {"Medium", 3, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   -1, 1, 0, 0, -1, 12, 2, sn_RSTest_fields_Medium},
  {"Long", 4, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   -1, 1, 0, 0, -1, 16, 3, sn_RSTest_fields_Long},
};
static const struct sn_type sn_RSTest_types[] = {
  {"RSProcess", 1, 1},
  {"RSObject", 2, 0},
};
SN_MODULE(sn_RSTest_ee4360e07ad849ca, "RSTest", UINT64_C(0xee4360e07ad849ca),
  sn_RSTest_events, 4, 4,
  sn_RSTest_types, 2, sn_RSTest_ee4360e07ad849ca_text, 1469);

/* This process is a RSProcess called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int RSProcessProcess(const char *sn_minor) {
  return sn_process_declare(&sn_RSTest_ee4360e07ad849ca, 1, sn_minor);
}

/* The receptacle of the RSObject called sn_minor. NULL when there is no memory: sensors that
 * get it do nothing. */
static inline struct sn_receptacle *RSObjectReceptacle(uint64_t sn_minor) {
  return sn_receptacle_new(&sn_RSTest_ee4360e07ad849ca, 2, sn_minor);
}
/* The RSObject is no more. */
static inline void RSObjectRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); }

/* --- event 1: Shortest, sensortraced */
static inline __attribute__((always_inline)) void sn_RSTest_record_Shortest(void) {
  const uint32_t sn_size = 0;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_RSTest_ee4360e07ad849ca, &sn_RSTest_events[0], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  sn_record_close(&sn_one);
}
static inline void ShortestSensor(void) {
  if (SN_UNLIKELY(sn_listening(&sn_RSTest_ee4360e07ad849ca)))
    sn_RSTest_record_Shortest();
}
/* Not 0: ShortestSensor would do something now. */
static inline int ShortestEnabled(void) { return sn_listening(&sn_RSTest_ee4360e07ad849ca); }

/* --- event 2: Short, sensortraced */
static inline __attribute__((always_inline)) void sn_RSTest_record_Short(int32_t ADomain) {
  const uint32_t sn_size = 4;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_RSTest_ee4360e07ad849ca, &sn_RSTest_events[1], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &ADomain, 4);
  sn_record_close(&sn_one);
}
static inline void ShortSensor(int32_t ADomain) {
  if (SN_UNLIKELY(sn_enabled(&sn_RSTest_ee4360e07ad849ca, 2)))
    sn_RSTest_record_Short(ADomain);
}
/* Not 0: ShortSensor would do something now. */
static inline int ShortEnabled(void) { return sn_enabled(&sn_RSTest_ee4360e07ad849ca, 2); }

/* --- event 3: Medium, sensortraced */
static inline __attribute__((always_inline)) void sn_RSTest_record_Medium(int32_t ADomain, int64_t DblDomain) {
  const uint32_t sn_size = 12;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_RSTest_ee4360e07ad849ca, &sn_RSTest_events[2], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &ADomain, 4);
  sn_to += 4;
  memcpy(sn_to, &DblDomain, 8);
  sn_record_close(&sn_one);
}
static inline void MediumSensor(int32_t ADomain, int64_t DblDomain) {
  if (SN_UNLIKELY(sn_enabled(&sn_RSTest_ee4360e07ad849ca, 3)))
    sn_RSTest_record_Medium(ADomain, DblDomain);
}
/* Not 0: MediumSensor would do something now. */
static inline int MediumEnabled(void) { return sn_enabled(&sn_RSTest_ee4360e07ad849ca, 3); }

/* --- event 4: Long, sensortraced */
static inline __attribute__((always_inline)) void sn_RSTest_record_Long(int32_t ADomain, int64_t DblDomain, const char *StrDomain) {
  const size_t sn_length_2 = StrDomain ? strlen(StrDomain) : 0;
  const uint64_t sn_sum = UINT64_C(16) + sn_length_2;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_RSTest_ee4360e07ad849ca, &sn_RSTest_events[3], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &ADomain, 4);
  sn_to += 4;
  memcpy(sn_to, &DblDomain, 8);
  sn_to += 8;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_2); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_2) memcpy(sn_to + 4, StrDomain, sn_length_2);
  sn_record_close(&sn_one);
}
static inline void LongSensor(int32_t ADomain, int64_t DblDomain, const char *StrDomain) {
  if (SN_UNLIKELY(sn_enabled(&sn_RSTest_ee4360e07ad849ca, 4)))
    sn_RSTest_record_Long(ADomain, DblDomain, StrDomain);
}
/* Not 0: LongSensor would do something now. */
static inline int LongEnabled(void) { return sn_enabled(&sn_RSTest_ee4360e07ad849ca, 4); }

#ifdef __cplusplus
}
#endif

#endif
