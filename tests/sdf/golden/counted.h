/* The sensors of the task force Counted, made from counted.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_Counted_H
#define TQUEL_SENSORS_Counted_H

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
  ".ifndef sn_Counted_b62abf8dce6da680_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_Counted_b62abf8dce6da680,comdat\n"
  ".balign 4\n"
  ".long 6, 1262, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_Counted_b62abf8dce6da680_text\n"
  ".hidden sn_Counted_b62abf8dce6da680_text\n"
  ".type sn_Counted_b62abf8dce6da680_text, %object\n"
  "sn_Counted_b62abf8dce6da680_text:\n"
  ".ascii \"(taskforce (name Counted) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"counted.sdf\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name Counted) (number 1))\\012\"\n"
  ".ascii \"(objecttype (name Item) (number 2))\\012\"\n"
  ".ascii \"(event (name Get) (enableindex 1) (location Counted) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation event)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Key) (type text))\\012\"\n"
  ".ascii \"    (domain (name Value) (type c20))\\012\"\n"
  ".ascii \"    (domain (name Plain) (type text))))\\012\"\n"
  ".ascii \"(event (name Clash) (enableindex 2) (location Counted) (object Item) (receptacle object) (internal nil) (minortype objecttraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Item)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Key) (type text))\\012\"\n"
  ".ascii \"    (domain (name Key_length) (type i4))\\012\"\n"
  ".ascii \"    (domain (name int) (type text))))\\012\"\n"
  ".ascii \"(event (name Fetch) (enableindex 3) (location Counted) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (durations t) (relation period) (key Ticket)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Key) (type text))\\012\"\n"
  ".ascii \"    (domain (name Bytes) (type i8))))\\012\"\n"
  ".size sn_Counted_b62abf8dce6da680_text, 1262\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_Counted_b62abf8dce6da680_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_Counted_fields_Get[] = {
  {"Key", SN_TEXT, 0},
  {"Value", SN_TEXT, 0},
  {"Plain", SN_TEXT, 0},
};
static const struct sn_field sn_Counted_fields_Clash[] = {
  {"Key", SN_TEXT, 0},
  {"Key_length", SN_I4, 4},
  {"int", SN_TEXT, 0},
};
static const struct sn_field sn_Counted_fields_Fetch[] = {
  {"Ticket", SN_I8, 8},
  {"Key", SN_TEXT, 0},
  {"Bytes", SN_I8, 8},
};
static const struct sn_event sn_Counted_events[] = {
  {"Get", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -1, 12, 3, sn_Counted_fields_Get},
  {"Clash", 2, SN_OBJECT_TRACED, SN_OBJECT, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 2, 0, -1, 12, 3, sn_Counted_fields_Clash},
  {"Fetch", 3, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -2, 20, 3, sn_Counted_fields_Fetch},
};
static const struct sn_field sn_Counted_ticket_Fetch[] = {{"Ticket", SN_I8, 8}};
static const struct sn_event sn_Counted_stop_Fetch[] = {
  {"Fetch", 3, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME | SN_STOP,
   0, 1, 0, 0, -1, 8, 1, sn_Counted_ticket_Fetch},
};
static const struct sn_type sn_Counted_types[] = {
  {"Counted", 1, 1},
  {"Item", 2, 0},
};
SN_MODULE(sn_Counted_b62abf8dce6da680, "Counted", UINT64_C(0xb62abf8dce6da680),
  sn_Counted_events, 3, 3,
  sn_Counted_types, 2, sn_Counted_b62abf8dce6da680_text, 1262);

/* This process is a Counted called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int CountedProcess(const char *sn_minor) {
  return sn_process_declare(&sn_Counted_b62abf8dce6da680, 1, sn_minor);
}

/* The receptacle of the Item called sn_minor. NULL when there is no memory: sensors that
 * get it do nothing. */
static inline struct sn_receptacle *ItemReceptacle(uint64_t sn_minor) {
  return sn_receptacle_new(&sn_Counted_b62abf8dce6da680, 2, sn_minor);
}
/* The Item is no more. */
static inline void ItemRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); }

/* --- event 1: Get, sensortraced */
static __attribute__((noinline, unused)) void sn_Counted_record_Get(const char *Key, size_t Key_length, const char *Value, size_t Value_length, const char *Plain) {
  const size_t sn_length_0 = sn_counted(Key, Key_length);
  const size_t sn_length_1 = sn_counted(Value, Value_length);
  const size_t sn_length_2 = Plain ? strlen(Plain) : 0;
  const uint64_t sn_sum = UINT64_C(12) + sn_length_0 + sn_length_1 + sn_length_2;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Counted_b62abf8dce6da680, &sn_Counted_events[0], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_0); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_0) memcpy(sn_to + 4, Key, sn_length_0);
  sn_to += 4 + sn_length_0;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_1); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_1) memcpy(sn_to + 4, Value, sn_length_1);
  sn_to += 4 + sn_length_1;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_2); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_2) memcpy(sn_to + 4, Plain, sn_length_2);
  sn_record_close(&sn_one);
}
static inline void GetSensor(const char *Key, size_t Key_length, const char *Value, size_t Value_length, const char *Plain) {
  if (SN_UNLIKELY(sn_enabled(&sn_Counted_b62abf8dce6da680, 1)))
    sn_Counted_record_Get(Key, Key_length, Value, Value_length, Plain);
}
/* Not 0: GetSensor would do something now. */
static inline int GetEnabled(void) { return sn_enabled(&sn_Counted_b62abf8dce6da680, 1); }

/* --- event 2: Clash, objecttraced */
static __attribute__((noinline, unused)) void sn_Counted_record_Clash(struct sn_receptacle *object, const char *Key, size_t Key_length_, int32_t Key_length, const char *int_, size_t int_length) {
  const size_t sn_length_1 = sn_counted(Key, Key_length_);
  const size_t sn_length_3 = sn_counted(int_, int_length);
  const uint64_t sn_sum = UINT64_C(12) + sn_length_1 + sn_length_3;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Counted_b62abf8dce6da680, &sn_Counted_events[1], object, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_1); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_1) memcpy(sn_to + 4, Key, sn_length_1);
  sn_to += 4 + sn_length_1;
  memcpy(sn_to, &Key_length, 4);
  sn_to += 4;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_3); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_3) memcpy(sn_to + 4, int_, sn_length_3);
  sn_record_close(&sn_one);
}
static inline void ClashSensor(struct sn_receptacle *object, const char *Key, size_t Key_length_, int32_t Key_length, const char *int_, size_t int_length) {
  if (SN_UNLIKELY(sn_object_enabled(object, 2)))
    sn_Counted_record_Clash(object, Key, Key_length_, Key_length, int_, int_length);
}
/* Not 0: ClashSensor would do something now. */
static inline int ClashEnabled(const struct sn_receptacle *object) { return sn_object_enabled(object, 2); }

/* --- event 3: Fetch, sensortraced */
static __attribute__((noinline, unused)) sn_ticket sn_Counted_record_Fetch(const char *Key, size_t Key_length, int64_t Bytes) {
  sn_ticket sn_new = SN_NO_PERIOD;
  int64_t sn_number;
  const size_t sn_length_1 = sn_counted(Key, Key_length);
  const uint64_t sn_sum = UINT64_C(20) + sn_length_1;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to;
  sn_one.since = 0;
  sn_to = sn_record_open(&sn_Counted_b62abf8dce6da680, &sn_Counted_events[2], SN_NULL, sn_size, 0.0, &sn_one);
  sn_period_counted(&sn_new, &sn_one, SN_NULL);
  if (!sn_to) return sn_new;
  sn_new.number = sn_number = sn_new_ticket(sn_one.thread);
  memcpy(sn_to, &sn_number, 8);
  sn_to += 8;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_1); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_1) memcpy(sn_to + 4, Key, sn_length_1);
  sn_to += 4 + sn_length_1;
  memcpy(sn_to, &Bytes, 8);
  sn_record_close(&sn_one);
  return sn_new;
}
static __attribute__((noinline, unused)) void sn_Counted_stopped_Fetch(const sn_ticket sn_old) {
  sn_period_stop(&sn_Counted_b62abf8dce6da680, sn_Counted_stop_Fetch, &sn_old);
}
static inline sn_ticket FetchStart(const char *Key, size_t Key_length, int64_t Bytes) {
  if (SN_UNLIKELY(sn_enabled(&sn_Counted_b62abf8dce6da680, 3)))
    return sn_Counted_record_Fetch(Key, Key_length, Bytes);
  return sn_no_period();
}
/* The period that FetchStart began ends, once, in whatever thread. */
static inline void FetchStop(sn_ticket *sn_old) {
  const sn_ticket sn_one = *sn_old;
  if (SN_UNLIKELY(sn_is_period(&sn_one))) {
    *sn_old = sn_no_period();
    sn_Counted_stopped_Fetch(sn_one);
  }
}
/* From here to the end of the block, however it is left. */
#define FetchScope(sn_1, sn_2, sn_3) \
  sn_ticket SN_SCOPE(__LINE__) \
      __attribute__((__cleanup__(FetchStop), __unused__)) = FetchStart(sn_1, sn_2, sn_3)
/* Not 0: FetchStart would do something now. */
static inline int FetchEnabled(void) { return sn_enabled(&sn_Counted_b62abf8dce6da680, 3); }

#ifdef __cplusplus
}
#endif

#endif
