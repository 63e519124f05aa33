/* The sensors of the task force Raw, made from bytes.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_Raw_H
#define TQUEL_SENSORS_Raw_H

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
  ".ifndef sn_Raw_53c7f5fefb8d29f1_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_Raw_53c7f5fefb8d29f1,comdat\n"
  ".balign 4\n"
  ".long 6, 1507, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_Raw_53c7f5fefb8d29f1_text\n"
  ".hidden sn_Raw_53c7f5fefb8d29f1_text\n"
  ".type sn_Raw_53c7f5fefb8d29f1_text, %object\n"
  "sn_Raw_53c7f5fefb8d29f1_text:\n"
  ".ascii \"(taskforce (name Raw) (systemname \\\"tquel\\\") (version 0) (sdfilename \\\"bytes.sdf\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name Raw) (number 1))\\012\"\n"
  ".ascii \"(objecttype (name Link) (number 2))\\012\"\n"
  ".ascii \"(event (name Packet) (enableindex 1) (location Raw) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation event)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Head) (type bytes))\\012\"\n"
  ".ascii \"    (domain (name Seq) (type i4))\\012\"\n"
  ".ascii \"    (domain (name Digest) (type bytes))))\\012\"\n"
  ".ascii \"(event (name Lookup) (enableindex 2) (location Raw) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Key)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Key) (type bytes) (documentation \\\"What was asked for.\\\"))\\012\"\n"
  ".ascii \"    (domain (name Key_length) (type i4))))\\012\"\n"
  ".ascii \"(event (name Send) (enableindex 3) (location Raw) (object Link) (receptacle object) (internal nil) (minortype objecttraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Link)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name What) (type bytes))))\\012\"\n"
  ".ascii \"(event (name Fetch) (enableindex 4) (location Raw) (receptacle performer) (internal t) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (durations t) (relation period) (key Ticket)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Key) (type bytes))))\\012\"\n"
  ".size sn_Raw_53c7f5fefb8d29f1_text, 1507\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_Raw_53c7f5fefb8d29f1_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_Raw_fields_Packet[] = {
  {"Head", SN_BYTES, 0},
  {"Seq", SN_I4, 4},
  {"Digest", SN_BYTES, 0},
};
static const struct sn_field sn_Raw_fields_Lookup[] = {
  {"Key", SN_BYTES, 0},
  {"Key_length", SN_I4, 4},
};
static const struct sn_field sn_Raw_fields_Send[] = {
  {"What", SN_BYTES, 0},
};
static const struct sn_field sn_Raw_fields_Fetch[] = {
  {"Ticket", SN_I8, 8},
  {"Key", SN_BYTES, 0},
};
static const struct sn_event sn_Raw_events[] = {
  {"Packet", 1, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -1, 12, 3, sn_Raw_fields_Packet},
  {"Lookup", 2, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -1, 8, 2, sn_Raw_fields_Lookup},
  {"Send", 3, SN_OBJECT_TRACED, SN_OBJECT, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 2, 0, -1, 4, 1, sn_Raw_fields_Send},
  {"Fetch", 4, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 0, 0, -2, 12, 2, sn_Raw_fields_Fetch},
};
static const struct sn_field sn_Raw_ticket_Fetch[] = {{"Ticket", SN_I8, 8}};
static const struct sn_event sn_Raw_stop_Fetch[] = {
  {"Fetch", 4, SN_SENSOR_TRACED, SN_PERFORMER, SN_TIMESTAMP | SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME | SN_STOP,
   0, 1, 0, 0, -1, 8, 1, sn_Raw_ticket_Fetch},
};
static const struct sn_type sn_Raw_types[] = {
  {"Raw", 1, 1},
  {"Link", 2, 0},
};
SN_MODULE(sn_Raw_53c7f5fefb8d29f1, "Raw", UINT64_C(0x53c7f5fefb8d29f1),
  sn_Raw_events, 4, 4,
  sn_Raw_types, 2, sn_Raw_53c7f5fefb8d29f1_text, 1507);

/* This process is a Raw called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int RawProcess(const char *sn_minor) {
  return sn_process_declare(&sn_Raw_53c7f5fefb8d29f1, 1, sn_minor);
}

/* The receptacle of the Link called sn_minor. NULL when there is no memory: sensors that
 * get it do nothing. */
static inline struct sn_receptacle *LinkReceptacle(uint64_t sn_minor) {
  return sn_receptacle_new(&sn_Raw_53c7f5fefb8d29f1, 2, sn_minor);
}
/* The Link is no more. */
static inline void LinkRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); }

/* --- event 1: Packet, sensortraced */
static __attribute__((noinline, unused)) void sn_Raw_record_Packet(const void *Head, size_t Head_length, int32_t Seq, const void *Digest, size_t Digest_length) {
  const size_t sn_length_0 = sn_counted(Head, Head_length);
  const size_t sn_length_2 = sn_counted(Digest, Digest_length);
  const uint64_t sn_sum = UINT64_C(12) + sn_length_0 + sn_length_2;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Raw_53c7f5fefb8d29f1, &sn_Raw_events[0], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_0); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_0) memcpy(sn_to + 4, Head, sn_length_0);
  sn_to += 4 + sn_length_0;
  memcpy(sn_to, &Seq, 4);
  sn_to += 4;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_2); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_2) memcpy(sn_to + 4, Digest, sn_length_2);
  sn_record_close(&sn_one);
}
static inline void PacketSensor(const void *Head, size_t Head_length, int32_t Seq, const void *Digest, size_t Digest_length) {
  if (SN_UNLIKELY(sn_enabled(&sn_Raw_53c7f5fefb8d29f1, 1)))
    sn_Raw_record_Packet(Head, Head_length, Seq, Digest, Digest_length);
}
/* Not 0: PacketSensor would do something now. */
static inline int PacketEnabled(void) { return sn_enabled(&sn_Raw_53c7f5fefb8d29f1, 1); }

/* --- event 2: Lookup, sensortraced */
static __attribute__((noinline, unused)) void sn_Raw_record_Lookup(const void *Key, size_t Key_length_, int32_t Key_length) {
  const size_t sn_length_0 = sn_counted(Key, Key_length_);
  const uint64_t sn_sum = UINT64_C(8) + sn_length_0;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Raw_53c7f5fefb8d29f1, &sn_Raw_events[1], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_0); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_0) memcpy(sn_to + 4, Key, sn_length_0);
  sn_to += 4 + sn_length_0;
  memcpy(sn_to, &Key_length, 4);
  sn_record_close(&sn_one);
}
/* Key: What was asked for. */
static inline void LookupSensor(const void *Key, size_t Key_length_, int32_t Key_length) {
  if (SN_UNLIKELY(sn_enabled(&sn_Raw_53c7f5fefb8d29f1, 2)))
    sn_Raw_record_Lookup(Key, Key_length_, Key_length);
}
/* Not 0: LookupSensor would do something now. */
static inline int LookupEnabled(void) { return sn_enabled(&sn_Raw_53c7f5fefb8d29f1, 2); }

/* --- event 3: Send, objecttraced */
static __attribute__((noinline, unused)) void sn_Raw_record_Send(struct sn_receptacle *object, const void *What, size_t What_length) {
  const size_t sn_length_1 = sn_counted(What, What_length);
  const uint64_t sn_sum = UINT64_C(4) + sn_length_1;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_Raw_53c7f5fefb8d29f1, &sn_Raw_events[2], object, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_1); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_1) memcpy(sn_to + 4, What, sn_length_1);
  sn_record_close(&sn_one);
}
static inline void SendSensor(struct sn_receptacle *object, const void *What, size_t What_length) {
  if (SN_UNLIKELY(sn_object_enabled(object, 3)))
    sn_Raw_record_Send(object, What, What_length);
}
/* Not 0: SendSensor would do something now. */
static inline int SendEnabled(const struct sn_receptacle *object) { return sn_object_enabled(object, 3); }

/* --- event 4: Fetch, sensortraced */
static __attribute__((noinline, unused)) sn_ticket sn_Raw_record_Fetch(const void *Key, size_t Key_length) {
  sn_ticket sn_new = SN_NO_PERIOD;
  int64_t sn_number;
  const size_t sn_length_1 = sn_counted(Key, Key_length);
  const uint64_t sn_sum = UINT64_C(12) + sn_length_1;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to;
  sn_one.since = 0;
  sn_to = sn_record_open(&sn_Raw_53c7f5fefb8d29f1, &sn_Raw_events[3], SN_NULL, sn_size, 0.0, &sn_one);
  sn_period_counted(&sn_new, &sn_one, SN_NULL);
  if (!sn_to) return sn_new;
  sn_new.number = sn_number = sn_new_ticket(sn_one.thread);
  memcpy(sn_to, &sn_number, 8);
  sn_to += 8;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_1); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_1) memcpy(sn_to + 4, Key, sn_length_1);
  sn_record_close(&sn_one);
  return sn_new;
}
static __attribute__((noinline, unused)) void sn_Raw_stopped_Fetch(const sn_ticket sn_old) {
  sn_period_stop(&sn_Raw_53c7f5fefb8d29f1, sn_Raw_stop_Fetch, &sn_old);
}
static inline sn_ticket FetchStart(const void *Key, size_t Key_length) {
  if (SN_UNLIKELY(sn_enabled(&sn_Raw_53c7f5fefb8d29f1, 4)))
    return sn_Raw_record_Fetch(Key, Key_length);
  return sn_no_period();
}
/* The period that FetchStart began ends, once, in whatever thread. */
static inline void FetchStop(sn_ticket *sn_old) {
  const sn_ticket sn_one = *sn_old;
  if (SN_UNLIKELY(sn_is_period(&sn_one))) {
    *sn_old = sn_no_period();
    sn_Raw_stopped_Fetch(sn_one);
  }
}
/* From here to the end of the block, however it is left. */
#define FetchScope(sn_1, sn_2) \
  sn_ticket SN_SCOPE(__LINE__) \
      __attribute__((__cleanup__(FetchStop), __unused__)) = FetchStart(sn_1, sn_2)
/* Not 0: FetchStart would do something now. */
static inline int FetchEnabled(void) { return sn_enabled(&sn_Raw_53c7f5fefb8d29f1, 4); }

#ifdef __cplusplus
}
#endif

#endif
