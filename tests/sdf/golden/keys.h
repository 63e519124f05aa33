/* The sensors of the task force Keys, made from keys.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_Keys_H
#define TQUEL_SENSORS_Keys_H

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

/* Who is who. */

/* The remote description, which the monitor reads from the program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
__asm__(
  ".ifndef sn_Keys_854f744cc8efdf21_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_Keys_854f744cc8efdf21,comdat\n"
  ".balign 4\n"
  ".long 6, 1839, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_Keys_854f744cc8efdf21_text\n"
  ".hidden sn_Keys_854f744cc8efdf21_text\n"
  ".type sn_Keys_854f744cc8efdf21_text, %object\n"
  "sn_Keys_854f744cc8efdf21_text:\n"
  ".ascii \"(taskforce (name Keys) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"keys.sdf\\\") (documentation \\\"Who is who.\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name Server) (number 1))\\012\"\n"
  ".ascii \"(objecttype (name Conn) (number 2))\\012\"\n"
  ".ascii \"(event (name Stream) (enableindex 1) (location Server) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Conn by)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Conn) (type i4))\\012\"\n"
  ".ascii \"    (domain (name by) (type i4))\\012\"\n"
  ".ascii \"    (domain (name State) (type c10))))\\012\"\n"
  ".ascii \"(event (name Thread) (enableindex 2) (location Server) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Process Number)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Number) (type i4))))\\012\"\n"
  ".ascii \"(event (name Channel) (enableindex 3) (location Server) (object Conn) (receptacle object) (internal nil) (minortype objecttraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Conn Number)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Number) (type i4))\\012\"\n"
  ".ascii \"    (domain (name Bytes) (type i8))))\\012\"\n"
  ".ascii \"(event (name Waiting) (enableindex 4) (location Server) (object Conn) (initiator Conn) (receptacle initiator) (internal nil) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Initiator Conn))\\012\"\n"
  ".ascii \"(event (name Depth) (enableindex 5) (location Server) (object Conn) (receptacle performer) (internal t) (minortype messagesampled) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation sampled) (key Number Conn)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Number) (type i4))))\\012\"\n"
  ".size sn_Keys_854f744cc8efdf21_text, 1839\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_Keys_854f744cc8efdf21_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_Keys_fields_Stream[] = {
  {"Conn", SN_I4, 4},
  {"by", SN_I4, 4},
  {"State", SN_TEXT, 0},
};
static const struct sn_field sn_Keys_fields_Thread[] = {
  {"Number", SN_I4, 4},
};
static const struct sn_field sn_Keys_fields_Channel[] = {
  {"Number", SN_I4, 4},
  {"Bytes", SN_I8, 8},
};
static const struct sn_field sn_Keys_fields_Waiting[] = {
  {"Conn", SN_NAME, 8},
};
static const struct sn_field sn_Keys_fields_Depth[] = {
  {"Conn", SN_NAME, 8},
  {"Number", SN_I4, 4},
};
static const struct sn_event sn_Keys_events[] = {
  {"Stream", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -1, 12, 3, sn_Keys_fields_Stream},
  {"Thread", 2, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -1, 4, 1, sn_Keys_fields_Thread},
  {"Channel", 3, SN_OBJECT_TRACED, SN_OBJECT, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 2, 0, -1, 12, 2, sn_Keys_fields_Channel},
  {"Waiting", 4, SN_SENSOR_TRACED, SN_INITIATOR, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 2, 2, -1, 8, 1, sn_Keys_fields_Waiting},
  {"Depth", 5, SN_MESSAGE_SAMPLED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 2, 0, -1, 12, 2, sn_Keys_fields_Depth},
};
static const struct sn_type sn_Keys_types[] = {
  {"Server", 1, 1},
  {"Conn", 2, 0},
};
SN_MODULE(sn_Keys_854f744cc8efdf21, "Keys", UINT64_C(0x854f744cc8efdf21),
  sn_Keys_events, 5, 5,
  sn_Keys_types, 2, sn_Keys_854f744cc8efdf21_text, 1839);

/* This process is a Server called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int ServerProcess(const char *sn_minor) {
  return sn_process_declare(&sn_Keys_854f744cc8efdf21, 1, sn_minor);
}

/* The receptacle of the Conn called sn_minor. NULL when there is no memory: sensors that
 * get it do nothing. */
static inline struct sn_receptacle *ConnReceptacle(uint64_t sn_minor) {
  return sn_receptacle_new(&sn_Keys_854f744cc8efdf21, 2, sn_minor);
}
/* The Conn is no more. */
static inline void ConnRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); }

/* --- event 1: Stream, sensortraced */
static __attribute__((noinline, unused)) void sn_Keys_record_Stream(int32_t Conn, int32_t by, const char *State) {
  const size_t sn_length_2 = State ? strlen(State) : 0;
  const uint64_t sn_sum = UINT64_C(12) + sn_length_2;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Keys_854f744cc8efdf21, &sn_Keys_events[0], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &Conn, 4);
  sn_to += 4;
  memcpy(sn_to, &by, 4);
  sn_to += 4;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_2); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_2) memcpy(sn_to + 4, State, sn_length_2);
  sn_record_close(&sn_one);
}
static inline void StreamSensor(int32_t Conn, int32_t by, const char *State) {
  if (SN_UNLIKELY(sn_enabled(&sn_Keys_854f744cc8efdf21, 1)))
    sn_Keys_record_Stream(Conn, by, State);
}
/* Not 0: StreamSensor would do something now. */
static inline int StreamEnabled(void) { return sn_enabled(&sn_Keys_854f744cc8efdf21, 1); }

/* --- event 2: Thread, sensortraced */
static __attribute__((noinline, unused)) void sn_Keys_record_Thread(int32_t Number) {
  const uint32_t sn_size = 4;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Keys_854f744cc8efdf21, &sn_Keys_events[1], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &Number, 4);
  sn_record_close(&sn_one);
}
static inline void ThreadSensor(int32_t Number) {
  if (SN_UNLIKELY(sn_enabled(&sn_Keys_854f744cc8efdf21, 2)))
    sn_Keys_record_Thread(Number);
}
/* Not 0: ThreadSensor would do something now. */
static inline int ThreadEnabled(void) { return sn_enabled(&sn_Keys_854f744cc8efdf21, 2); }

/* --- event 3: Channel, objecttraced */
static __attribute__((noinline, unused)) void sn_Keys_record_Channel(struct sn_receptacle *object, int32_t Number, int64_t Bytes) {
  const uint32_t sn_size = 12;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Keys_854f744cc8efdf21, &sn_Keys_events[2], object, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &Number, 4);
  sn_to += 4;
  memcpy(sn_to, &Bytes, 8);
  sn_record_close(&sn_one);
}
static inline void ChannelSensor(struct sn_receptacle *object, int32_t Number, int64_t Bytes) {
  if (SN_UNLIKELY(sn_object_enabled(object, 3)))
    sn_Keys_record_Channel(object, Number, Bytes);
}
/* Not 0: ChannelSensor would do something now. */
static inline int ChannelEnabled(const struct sn_receptacle *object) { return sn_object_enabled(object, 3); }

/* --- event 4: Waiting, sensortraced */
static __attribute__((noinline, unused)) void sn_Keys_record_Waiting(uint64_t object, struct sn_receptacle *initiator) {
  const uint32_t sn_size = 8;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Keys_854f744cc8efdf21, &sn_Keys_events[3], initiator, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &object, 8);
  sn_record_close(&sn_one);
}
static inline void WaitingSensor(uint64_t object, struct sn_receptacle *initiator) {
  if (SN_UNLIKELY(sn_object_enabled(initiator, 4)))
    sn_Keys_record_Waiting(object, initiator);
}
/* Not 0: WaitingSensor would do something now. */
static inline int WaitingEnabled(const struct sn_receptacle *initiator) { return sn_object_enabled(initiator, 4); }

/* --- event 5: Depth, messagesampled */
static __attribute__((noinline, unused)) void sn_Keys_record_Depth(uint64_t object, int32_t Number) {
  const uint32_t sn_size = 12;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Keys_854f744cc8efdf21, &sn_Keys_events[4], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &object, 8);
  sn_to += 8;
  memcpy(sn_to, &Number, 4);
  sn_record_close(&sn_one);
}
static inline void DepthSensor(uint64_t object, int32_t Number) {
  if (SN_UNLIKELY(sn_enabled(&sn_Keys_854f744cc8efdf21, 5)))
    sn_Keys_record_Depth(object, Number);
}
/* Not 0: DepthSensor would do something now. */
static inline int DepthEnabled(void) { return sn_enabled(&sn_Keys_854f744cc8efdf21, 5); }
/* Whether a round of DepthSensor is asked for: 1 once for each. */
static inline int DepthRequested(void) { return sn_sample_requested(&sn_Keys_854f744cc8efdf21, 5); }
/* The round is complete. */
static inline void DepthRound(void) { sn_sample_done(&sn_Keys_854f744cc8efdf21, 5); }

#ifdef __cplusplus
}
#endif

#endif
