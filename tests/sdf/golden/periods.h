/* The sensors of the task force Periods, made from periods.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_Periods_H
#define TQUEL_SENSORS_Periods_H

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

/* What lasts. */

/* The remote description, which the monitor reads from the program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
__asm__(
  ".ifndef sn_Periods_51a92be7792f3fd9_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_Periods_51a92be7792f3fd9,comdat\n"
  ".balign 4\n"
  ".long 6, 1521, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_Periods_51a92be7792f3fd9_text\n"
  ".hidden sn_Periods_51a92be7792f3fd9_text\n"
  ".type sn_Periods_51a92be7792f3fd9_text, %object\n"
  "sn_Periods_51a92be7792f3fd9_text:\n"
  ".ascii \"(taskforce (name Periods) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"periods.sdf\\\") (documentation \\\"What lasts.\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name Worker) (number 1))\\012\"\n"
  ".ascii \"(objecttype (name Lock) (number 2))\\012\"\n"
  ".ascii \"(event (name Request) (enableindex 1) (location Worker) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (histogram Bytes) (relation period) (key Ticket)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Path) (type text) (documentation \\\"As it was asked for.\\\"))\\012\"\n"
  ".ascii \"    (domain (name Bytes) (type i4))) (documentation \\\"From its first byte to its answer.\\\"))\\012\"\n"
  ".ascii \"(event (name Holding) (enableindex 2) (location Worker) (object Lock) (receptacle object) (internal nil) (minortype objecttraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (durations t) (relation period) (key Ticket))\\012\"\n"
  ".ascii \"(event (name Waiting) (enableindex 3) (location Worker) (object Lock) (initiator Lock) (receptacle initiator) (internal nil) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (durations t) (relation period) (key Ticket)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name unused) (type bool))))\\012\"\n"
  ".ascii \"(event (name Idle) (enableindex 4) (location Worker) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled t) (checkonetime t) (assumeonetime nil) (waittime 0) (relation period) (key Ticket))\\012\"\n"
  ".size sn_Periods_51a92be7792f3fd9_text, 1521\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_Periods_51a92be7792f3fd9_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_Periods_fields_Request[] = {
  {"Ticket", SN_I8, 8},
  {"Path", SN_TEXT, 0},
  {"Bytes", SN_I4, 4},
};
static const struct sn_field sn_Periods_fields_Holding[] = {
  {"Ticket", SN_I8, 8},
};
static const struct sn_field sn_Periods_fields_Waiting[] = {
  {"Lock", SN_NAME, 8},
  {"Ticket", SN_I8, 8},
  {"unused", SN_BOOL, 1},
};
static const struct sn_field sn_Periods_fields_Idle[] = {
  {"Ticket", SN_I8, 8},
};
static const struct sn_event sn_Periods_events[] = {
  {"Request", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, 2, 16, 3, sn_Periods_fields_Request},
  {"Holding", 2, SN_OBJECT_TRACED, SN_OBJECT, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 2, 0, -2, 8, 1, sn_Periods_fields_Holding},
  {"Waiting", 3, SN_SENSOR_TRACED, SN_INITIATOR, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 2, 2, -2, 17, 3, sn_Periods_fields_Waiting},
  {"Idle", 4, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -1, 8, 1, sn_Periods_fields_Idle},
};
static const struct sn_field sn_Periods_ticket_Request[] = {{"Ticket", SN_I8, 8}};
static const struct sn_event sn_Periods_stop_Request[] = {
  {"Request", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME | SN_STOP,
   0, 1, 0, 0, -1, 8, 1, sn_Periods_ticket_Request},
};
static const struct sn_field sn_Periods_ticket_Holding[] = {{"Ticket", SN_I8, 8}};
static const struct sn_event sn_Periods_stop_Holding[] = {
  {"Holding", 2, SN_OBJECT_TRACED, SN_OBJECT, SN_TIMESTAMP | SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME | SN_STOP,
   0, 1, 2, 0, -1, 8, 1, sn_Periods_ticket_Holding},
};
static const struct sn_field sn_Periods_ticket_Waiting[] = {{"Ticket", SN_I8, 8}};
static const struct sn_event sn_Periods_stop_Waiting[] = {
  {"Waiting", 3, SN_SENSOR_TRACED, SN_INITIATOR, SN_TIMESTAMP | SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME | SN_STOP,
   0, 1, 2, 2, -1, 8, 1, sn_Periods_ticket_Waiting},
};
static const struct sn_field sn_Periods_ticket_Idle[] = {{"Ticket", SN_I8, 8}};
static const struct sn_event sn_Periods_stop_Idle[] = {
  {"Idle", 4, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME | SN_STOP,
   0, 1, 0, 0, -1, 8, 1, sn_Periods_ticket_Idle},
};
static const struct sn_type sn_Periods_types[] = {
  {"Worker", 1, 1},
  {"Lock", 2, 0},
};
SN_MODULE(sn_Periods_51a92be7792f3fd9, "Periods", UINT64_C(0x51a92be7792f3fd9),
  sn_Periods_events, 4, 4,
  sn_Periods_types, 2, sn_Periods_51a92be7792f3fd9_text, 1521);

/* This process is a Worker called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int WorkerProcess(const char *sn_minor) {
  return sn_process_declare(&sn_Periods_51a92be7792f3fd9, 1, sn_minor);
}

/* The receptacle of the Lock called sn_minor. NULL when there is no memory: sensors that
 * get it do nothing. */
static inline struct sn_receptacle *LockReceptacle(uint64_t sn_minor) {
  return sn_receptacle_new(&sn_Periods_51a92be7792f3fd9, 2, sn_minor);
}
/* The Lock is no more. */
static inline void LockRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); }

/* --- event 1: Request, sensortraced */
static __attribute__((noinline, unused)) sn_ticket sn_Periods_record_Request(const char *Path, int32_t Bytes) {
  sn_ticket sn_new = SN_NO_PERIOD;
  int64_t sn_number;
  const size_t sn_length_1 = Path ? strlen(Path) : 0;
  const uint64_t sn_sum = UINT64_C(16) + sn_length_1;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to;
  sn_one.since = 0;
  sn_to = sn_record_open(&sn_Periods_51a92be7792f3fd9, &sn_Periods_events[0], SN_NULL, sn_size, SN_AS(double, Bytes), &sn_one);
  sn_period_counted(&sn_new, &sn_one, SN_NULL);
  if (!sn_to) return sn_new;
  sn_new.number = sn_number = sn_new_ticket(sn_one.thread);
  memcpy(sn_to, &sn_number, 8);
  sn_to += 8;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_1); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_1) memcpy(sn_to + 4, Path, sn_length_1);
  sn_to += 4 + sn_length_1;
  memcpy(sn_to, &Bytes, 4);
  sn_record_close(&sn_one);
  return sn_new;
}
static __attribute__((noinline, unused)) void sn_Periods_stopped_Request(const sn_ticket sn_old) {
  sn_period_stop(&sn_Periods_51a92be7792f3fd9, sn_Periods_stop_Request, &sn_old);
}
/* From its first byte to its answer.
 * Path: As it was asked for. */
static inline sn_ticket RequestStart(const char *Path, int32_t Bytes) {
  if (SN_UNLIKELY(sn_enabled(&sn_Periods_51a92be7792f3fd9, 1)))
    return sn_Periods_record_Request(Path, Bytes);
  return sn_no_period();
}
/* The period that RequestStart began ends, once, in whatever thread. */
static inline void RequestStop(sn_ticket *sn_old) {
  const sn_ticket sn_one = *sn_old;
  if (SN_UNLIKELY(sn_is_period(&sn_one))) {
    *sn_old = sn_no_period();
    sn_Periods_stopped_Request(sn_one);
  }
}
/* From here to the end of the block, however it is left. */
#define RequestScope(sn_1, sn_2) \
  sn_ticket SN_SCOPE(__LINE__) \
      __attribute__((__cleanup__(RequestStop), __unused__)) = RequestStart(sn_1, sn_2)
/* Not 0: RequestStart would do something now. */
static inline int RequestEnabled(void) { return sn_enabled(&sn_Periods_51a92be7792f3fd9, 1); }

/* --- event 2: Holding, objecttraced */
static __attribute__((noinline, unused)) sn_ticket sn_Periods_record_Holding(struct sn_receptacle *object) {
  sn_ticket sn_new = SN_NO_PERIOD;
  int64_t sn_number;
  const uint32_t sn_size = 8;
  struct sn_record sn_one;
  unsigned char *sn_to;
  sn_one.since = 0;
  sn_to = sn_record_open(&sn_Periods_51a92be7792f3fd9, &sn_Periods_events[1], object, sn_size, 0.0, &sn_one);
  sn_period_counted(&sn_new, &sn_one, object);
  if (!sn_to) return sn_new;
  sn_new.number = sn_number = sn_new_ticket(sn_one.thread);
  memcpy(sn_to, &sn_number, 8);
  sn_record_close(&sn_one);
  return sn_new;
}
static __attribute__((noinline, unused)) void sn_Periods_stopped_Holding(const sn_ticket sn_old) {
  sn_period_stop(&sn_Periods_51a92be7792f3fd9, sn_Periods_stop_Holding, &sn_old);
}
static inline sn_ticket HoldingStart(struct sn_receptacle *object) {
  if (SN_UNLIKELY(sn_object_enabled(object, 2)))
    return sn_Periods_record_Holding(object);
  return sn_no_period();
}
/* The period that HoldingStart began ends, once, in whatever thread. */
static inline void HoldingStop(sn_ticket *sn_old) {
  const sn_ticket sn_one = *sn_old;
  if (SN_UNLIKELY(sn_is_period(&sn_one))) {
    *sn_old = sn_no_period();
    sn_Periods_stopped_Holding(sn_one);
  }
}
/* From here to the end of the block, however it is left. */
#define HoldingScope(sn_1) \
  sn_ticket SN_SCOPE(__LINE__) \
      __attribute__((__cleanup__(HoldingStop), __unused__)) = HoldingStart(sn_1)
/* Not 0: HoldingStart would do something now. */
static inline int HoldingEnabled(const struct sn_receptacle *object) { return sn_object_enabled(object, 2); }

/* --- event 3: Waiting, sensortraced */
static inline __attribute__((always_inline)) sn_ticket sn_Periods_record_Waiting(uint64_t object, struct sn_receptacle *initiator, int unused) {
  sn_ticket sn_new = SN_NO_PERIOD;
  int64_t sn_number;
  const uint32_t sn_size = 17;
  struct sn_record sn_one;
  unsigned char *sn_to;
  sn_one.since = 0;
  sn_to = sn_record_open(&sn_Periods_51a92be7792f3fd9, &sn_Periods_events[2], initiator, sn_size, 0.0, &sn_one);
  sn_period_counted(&sn_new, &sn_one, initiator);
  if (!sn_to) return sn_new;
  sn_new.number = sn_number = sn_new_ticket(sn_one.thread);
  memcpy(sn_to, &object, 8);
  sn_to += 8;
  memcpy(sn_to, &sn_number, 8);
  sn_to += 8;
  *sn_to = unused != 0;
  sn_record_close(&sn_one);
  return sn_new;
}
static inline __attribute__((always_inline)) void sn_Periods_stopped_Waiting(const sn_ticket sn_old) {
  sn_period_stop(&sn_Periods_51a92be7792f3fd9, sn_Periods_stop_Waiting, &sn_old);
}
static inline sn_ticket WaitingStart(uint64_t object, struct sn_receptacle *initiator, int unused) {
  if (SN_UNLIKELY(sn_object_enabled(initiator, 3)))
    return sn_Periods_record_Waiting(object, initiator, unused);
  return sn_no_period();
}
/* The period that WaitingStart began ends, once, in whatever thread. */
static inline void WaitingStop(sn_ticket *sn_old) {
  const sn_ticket sn_one = *sn_old;
  if (SN_UNLIKELY(sn_is_period(&sn_one))) {
    *sn_old = sn_no_period();
    sn_Periods_stopped_Waiting(sn_one);
  }
}
/* From here to the end of the block, however it is left. */
#define WaitingScope(sn_1, sn_2, sn_3) \
  sn_ticket SN_SCOPE(__LINE__) \
      __attribute__((__cleanup__(WaitingStop), __unused__)) = WaitingStart(sn_1, sn_2, sn_3)
/* Not 0: WaitingStart would do something now. */
static inline int WaitingEnabled(const struct sn_receptacle *initiator) { return sn_object_enabled(initiator, 3); }

/* --- event 4: Idle, sensortraced */
static __attribute__((noinline, unused)) sn_ticket sn_Periods_record_Idle(void) {
  sn_ticket sn_new = SN_NO_PERIOD;
  int64_t sn_number;
  const uint32_t sn_size = 8;
  struct sn_record sn_one;
  unsigned char *sn_to;
  sn_one.since = 0;
  sn_to = sn_record_open(&sn_Periods_51a92be7792f3fd9, &sn_Periods_events[3], SN_NULL, sn_size, 0.0, &sn_one);
  sn_period_counted(&sn_new, &sn_one, SN_NULL);
  if (!sn_to) return sn_new;
  sn_new.number = sn_number = sn_new_ticket(sn_one.thread);
  memcpy(sn_to, &sn_number, 8);
  sn_record_close(&sn_one);
  return sn_new;
}
static __attribute__((noinline, unused)) void sn_Periods_stopped_Idle(const sn_ticket sn_old) {
  sn_period_stop(&sn_Periods_51a92be7792f3fd9, sn_Periods_stop_Idle, &sn_old);
}
static inline sn_ticket IdleStart(void) {
  if (SN_UNLIKELY(sn_listening(&sn_Periods_51a92be7792f3fd9)))
    return sn_Periods_record_Idle();
  return sn_no_period();
}
/* The period that IdleStart began ends, once, in whatever thread. */
static inline void IdleStop(sn_ticket *sn_old) {
  const sn_ticket sn_one = *sn_old;
  if (SN_UNLIKELY(sn_is_period(&sn_one))) {
    *sn_old = sn_no_period();
    sn_Periods_stopped_Idle(sn_one);
  }
}
/* From here to the end of the block, however it is left. */
#define IdleScope() \
  sn_ticket SN_SCOPE(__LINE__) \
      __attribute__((__cleanup__(IdleStop), __unused__)) = IdleStart()
/* Not 0: IdleStart would do something now. */
static inline int IdleEnabled(void) { return sn_listening(&sn_Periods_51a92be7792f3fd9); }

#ifdef __cplusplus
}
#endif

#endif
