/* The sensors of the task force FileSystem, made from files.sdf by tquel sdf. Do not edit. */
#ifndef TQUEL_SENSORS_FileSystem_H
#define TQUEL_SENSORS_FileSystem_H

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

/* Serves files. * / / * ends no comment. */

/* The remote description, which the monitor reads from the program. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
__asm__(
  ".ifndef sn_FileSystem_1e4d6718cbdcf4ae_text\n"
  ".pushsection .note.tquel,\"aG\",%note,sn_FileSystem_1e4d6718cbdcf4ae,comdat\n"
  ".balign 4\n"
  ".long 6, 3101, 1\n"
  ".ascii \"tquel\\000\"\n"
  ".balign 4\n"
  ".weak sn_FileSystem_1e4d6718cbdcf4ae_text\n"
  ".hidden sn_FileSystem_1e4d6718cbdcf4ae_text\n"
  ".type sn_FileSystem_1e4d6718cbdcf4ae_text, %object\n"
  "sn_FileSystem_1e4d6718cbdcf4ae_text:\n"
  ".ascii \"(taskforce (name FileSystem) (systemname \\\"tquel\\\") (version 3) (sdfilename \\\"files.sdf\\\") (documentation \\\"Serves files. */ /* ends no comment.\\\"))\\012\"\n"
  ".ascii \"(sensorprocess (name Server) (number 1))\\012\"\n"
  ".ascii \"(sensorprocess (name Scheduler) (number 2) (documentation \\\"Decides who runs\\\"))\\012\"\n"
  ".ascii \"(objecttype (name File) (number 3) (documentation \\\"A file.\\\\nHas blocks.\\\"))\\012\"\n"
  ".ascii \"(objecttype (name User) (number 4))\\012\"\n"
  ".ascii \"(event (name FileRead) (enableindex 1) (location Server) (object File) (receptacle object) (internal nil) (minortype objecttraced) (timestamp t) (declareobject t) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (histogram Bytes) (relation traced) (key File)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Block) (type i4) (documentation \\\"Counted from 0.\\\"))\\012\"\n"
  ".ascii \"    (domain (name Bytes) (type i8))\\012\"\n"
  ".ascii \"    (domain (name Caller) (type name) (object User) (documentation \\\"The user who reads (or 0)\\\"))) (documentation \\\"A block is read.\\\"))\\012\"\n"
  ".ascii \"(event (name FileReadByUser) (enableindex 7) (location Server) (object File) (initiator User) (receptacle initiator) (internal nil) (minortype sensortraced) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime nil) (assumeonetime nil) (waittime 20) (relation event)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Block) (type i4) (documentation \\\"Counted from 0.\\\"))))\\012\"\n"
  ".ascii \"(event (name Startup) (enableindex 3) (location Server) (receptacle performer) (internal t) (minortype sensortraced) (timestamp nil) (declareobject nil) (assumeenabled t) (checkonetime t) (assumeonetime nil) (waittime -1) (histogram Load) (relation traced) (key Process)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name int) (type i1))\\012\"\n"
  ".ascii \"    (domain (name object) (type i2))\\012\"\n"
  ".ascii \"    (domain (name Speed) (type f4))\\012\"\n"
  ".ascii \"    (domain (name Load) (type f8))\\012\"\n"
  ".ascii \"    (domain (name Ready) (type bool))\\012\"\n"
  ".ascii \"    (domain (name Path) (type text))\\012\"\n"
  ".ascii \"    (domain (name Host) (type c20))\\012\"\n"
  ".ascii \"    (domain (name append) (type i4))))\\012\"\n"
  ".ascii \"(event (name Free) (enableindex 4) (location Server) (receptacle performer) (internal t) (minortype receptaclesampled) (timestamp nil) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime t) (waittime 0) (relation sampled) (key Process)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Blocks) (type i8))))\\012\"\n"
  ".ascii \"(event (name Open) (enableindex 5) (location Server) (object File) (receptacle performer) (internal t) (minortype messagesampled) (timestamp t) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation sampled) (key File)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Readers) (type i4))\\012\"\n"
  ".ascii \"    (domain (name Note) (type text))))\\012\"\n"
  ".ascii \"(event (name Queue) (enableindex 2) (location Scheduler) (receptacle performer) (internal t) (minortype invocationsampled) (timestamp nil) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation sampled) (key Disk)\\012\"\n"
  ".ascii \"  (domains\\012\"\n"
  ".ascii \"    (domain (name Disk) (type c8))\\012\"\n"
  ".ascii \"    (domain (name Length) (type i4))))\\012\"\n"
  ".ascii \"(event (name Idle) (enableindex 6) (location Scheduler) (receptacle performer) (internal t) (minortype sensortraced) (timestamp nil) (declareobject nil) (assumeenabled nil) (checkonetime t) (assumeonetime nil) (waittime 0) (relation traced) (key Process))\\012\"\n"
  ".size sn_FileSystem_1e4d6718cbdcf4ae_text, 3101\n"
  ".balign 4\n"
  ".popsection\n"
  ".endif\n"
);
#pragma GCC diagnostic pop
extern const char sn_FileSystem_1e4d6718cbdcf4ae_text[] __attribute__((visibility("hidden")));

static const struct sn_field sn_FileSystem_fields_FileRead[] = {
  {"Block", SN_I4, 4},
  {"Bytes", SN_I8, 8},
  {"Caller", SN_NAME, 8},
};
static const struct sn_field sn_FileSystem_fields_FileReadByUser[] = {
  {"File", SN_NAME, 8},
  {"Block", SN_I4, 4},
};
static const struct sn_field sn_FileSystem_fields_Startup[] = {
  {"int", SN_I1, 1},
  {"object", SN_I2, 2},
  {"Speed", SN_F4, 4},
  {"Load", SN_F8, 8},
  {"Ready", SN_BOOL, 1},
  {"Path", SN_TEXT, 0},
  {"Host", SN_TEXT, 0},
  {"append", SN_I4, 4},
};
static const struct sn_field sn_FileSystem_fields_Free[] = {
  {"Blocks", SN_I8, 8},
};
static const struct sn_field sn_FileSystem_fields_Open[] = {
  {"File", SN_NAME, 8},
  {"Readers", SN_I4, 4},
  {"Note", SN_TEXT, 0},
};
static const struct sn_field sn_FileSystem_fields_Queue[] = {
  {"Disk", SN_TEXT, 0},
  {"Length", SN_I4, 4},
};
static const struct sn_event sn_FileSystem_events[] = {
  {"FileRead", 1, SN_OBJECT_TRACED, SN_OBJECT, SN_TIMESTAMP | SN_CHECK_ONE_TIME | SN_DECLARE_OBJECT,
   0, 1, 3, 0, 1, 20, 3, sn_FileSystem_fields_FileRead},
  {"FileReadByUser", 7, SN_SENSOR_TRACED, SN_INITIATOR, SN_TIMESTAMP,
   20, 1, 3, 4, -1, 12, 2, sn_FileSystem_fields_FileReadByUser},
  {"Startup", 3, SN_SENSOR_TRACED, SN_PERFORMER, SN_ASSUME_ENABLED | SN_CHECK_ONE_TIME,
   -1, 1, 0, 0, 3, 28, 8, sn_FileSystem_fields_Startup},
  {"Free", 4, SN_RECEPTACLE_SAMPLED, SN_PERFORMER, SN_CHECK_ONE_TIME | SN_ASSUME_ONE_TIME,
   0, 1, 0, 0, -1, 8, 1, sn_FileSystem_fields_Free},
  {"Open", 5, SN_MESSAGE_SAMPLED, SN_PERFORMER, SN_TIMESTAMP | SN_CHECK_ONE_TIME,
   0, 1, 3, 0, -1, 16, 3, sn_FileSystem_fields_Open},
  {"Queue", 2, SN_INVOCATION_SAMPLED, SN_PERFORMER, SN_CHECK_ONE_TIME,
   0, 2, 0, 0, -1, 8, 2, sn_FileSystem_fields_Queue},
  {"Idle", 6, SN_SENSOR_TRACED, SN_PERFORMER, SN_CHECK_ONE_TIME,
   0, 2, 0, 0, -1, 0, 0, SN_NULL},
};
static const struct sn_type sn_FileSystem_types[] = {
  {"Server", 1, 1},
  {"Scheduler", 2, 1},
  {"File", 3, 0},
  {"User", 4, 0},
};
SN_MODULE(sn_FileSystem_1e4d6718cbdcf4ae, "FileSystem", UINT64_C(0x1e4d6718cbdcf4ae),
  sn_FileSystem_events, 7, 7,
  sn_FileSystem_types, 4, sn_FileSystem_1e4d6718cbdcf4ae_text, 3101);

/* This process is a Server called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int ServerProcess(const char *sn_minor) {
  return sn_process_declare(&sn_FileSystem_1e4d6718cbdcf4ae, 1, sn_minor);
}

/* Decides who runs */
/* This process is a Scheduler called sn_minor, or, where that is NULL, by its process id.
 * After fork, again. */
static inline int SchedulerProcess(const char *sn_minor) {
  return sn_process_declare(&sn_FileSystem_1e4d6718cbdcf4ae, 2, sn_minor);
}

/* A file.
 * Has blocks. */
/* The receptacle of the File called sn_minor. NULL when there is no memory: sensors that
 * get it do nothing. */
static inline struct sn_receptacle *FileReceptacle(uint64_t sn_minor) {
  return sn_receptacle_new(&sn_FileSystem_1e4d6718cbdcf4ae, 3, sn_minor);
}
/* The File is no more. */
static inline void FileRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); }

/* The receptacle of the User called sn_minor. NULL when there is no memory: sensors that
 * get it do nothing. */
static inline struct sn_receptacle *UserReceptacle(uint64_t sn_minor) {
  return sn_receptacle_new(&sn_FileSystem_1e4d6718cbdcf4ae, 4, sn_minor);
}
/* The User is no more. */
static inline void UserRelease(struct sn_receptacle *sn_old) { sn_receptacle_free(sn_old); }

/* --- event 1: FileRead, objecttraced */
static __attribute__((noinline, unused)) void sn_FileSystem_record_FileRead(struct sn_receptacle *object, int32_t Block, int64_t Bytes, uint64_t Caller) {
  const uint32_t sn_size = 20;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_FileSystem_1e4d6718cbdcf4ae, &sn_FileSystem_events[0], object, sn_size, SN_AS(double, Bytes), &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &Block, 4);
  sn_to += 4;
  memcpy(sn_to, &Bytes, 8);
  sn_to += 8;
  memcpy(sn_to, &Caller, 8);
  sn_record_close(&sn_one);
}
/* A block is read.
 * Block: Counted from 0.
 * Caller: a User. The user who reads (or 0) */
static inline void FileReadSensor(struct sn_receptacle *object, int32_t Block, int64_t Bytes, uint64_t Caller) {
  if (SN_UNLIKELY(sn_object_enabled(object, 1)))
    sn_FileSystem_record_FileRead(object, Block, Bytes, Caller);
}
/* Not 0: FileReadSensor would do something now. */
static inline int FileReadEnabled(const struct sn_receptacle *object) { return sn_object_enabled(object, 1); }

/* --- event 7: FileReadByUser, sensortraced */
static __attribute__((noinline, unused)) void sn_FileSystem_record_FileReadByUser(uint64_t object, struct sn_receptacle *initiator, int32_t Block) {
  const uint32_t sn_size = 12;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_FileSystem_1e4d6718cbdcf4ae, &sn_FileSystem_events[1], initiator, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &object, 8);
  sn_to += 8;
  memcpy(sn_to, &Block, 4);
  sn_record_close(&sn_one);
}
/* Block: Counted from 0. */
static inline void FileReadByUserSensor(uint64_t object, struct sn_receptacle *initiator, int32_t Block) {
  if (SN_UNLIKELY(sn_object_enabled(initiator, 7)))
    sn_FileSystem_record_FileReadByUser(object, initiator, Block);
}
/* Not 0: FileReadByUserSensor would do something now. */
static inline int FileReadByUserEnabled(const struct sn_receptacle *initiator) { return sn_object_enabled(initiator, 7); }

/* --- event 3: Startup, sensortraced */
static inline __attribute__((always_inline)) void sn_FileSystem_record_Startup(int8_t int_, int16_t object, float Speed, double Load, int Ready, const char *Path, const char *Host, int32_t append) {
  const size_t sn_length_5 = Path ? strlen(Path) : 0;
  const size_t sn_length_6 = Host ? strlen(Host) : 0;
  const uint64_t sn_sum = UINT64_C(28) + sn_length_5 + sn_length_6;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_FileSystem_1e4d6718cbdcf4ae, &sn_FileSystem_events[2], SN_NULL, sn_size, Load, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &int_, 1);
  sn_to += 1;
  memcpy(sn_to, &object, 2);
  sn_to += 2;
  memcpy(sn_to, &Speed, 4);
  sn_to += 4;
  memcpy(sn_to, &Load, 8);
  sn_to += 8;
  *sn_to = Ready != 0;
  sn_to += 1;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_5); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_5) memcpy(sn_to + 4, Path, sn_length_5);
  sn_to += 4 + sn_length_5;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_6); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_6) memcpy(sn_to + 4, Host, sn_length_6);
  sn_to += 4 + sn_length_6;
  memcpy(sn_to, &append, 4);
  sn_record_close(&sn_one);
}
static inline void StartupSensor(int8_t int_, int16_t object, float Speed, double Load, int Ready, const char *Path, const char *Host, int32_t append) {
  if (SN_UNLIKELY(sn_listening(&sn_FileSystem_1e4d6718cbdcf4ae)))
    sn_FileSystem_record_Startup(int_, object, Speed, Load, Ready, Path, Host, append);
}
/* Not 0: StartupSensor would do something now. */
static inline int StartupEnabled(void) { return sn_listening(&sn_FileSystem_1e4d6718cbdcf4ae); }

/* --- event 4: Free, receptaclesampled */
static __attribute__((noinline, unused)) void sn_FileSystem_record_Free(int64_t Blocks) {
  const uint32_t sn_size = 8;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_FileSystem_1e4d6718cbdcf4ae, &sn_FileSystem_events[3], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &Blocks, 8);
  sn_record_close(&sn_one);
}
static inline void FreeSensor(int64_t Blocks) {
  if (SN_UNLIKELY(sn_enabled(&sn_FileSystem_1e4d6718cbdcf4ae, 4)))
    sn_FileSystem_record_Free(Blocks);
}
/* Not 0: FreeSensor would do something now. */
static inline int FreeEnabled(void) { return sn_enabled(&sn_FileSystem_1e4d6718cbdcf4ae, 4); }

/* --- event 5: Open, messagesampled */
static __attribute__((noinline, unused)) void sn_FileSystem_record_Open(uint64_t object, int32_t Readers, const char *Note) {
  const size_t sn_length_2 = Note ? strlen(Note) : 0;
  const uint64_t sn_sum = UINT64_C(16) + sn_length_2;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_FileSystem_1e4d6718cbdcf4ae, &sn_FileSystem_events[4], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  memcpy(sn_to, &object, 8);
  sn_to += 8;
  memcpy(sn_to, &Readers, 4);
  sn_to += 4;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_2); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_2) memcpy(sn_to + 4, Note, sn_length_2);
  sn_record_close(&sn_one);
}
static inline void OpenSensor(uint64_t object, int32_t Readers, const char *Note) {
  if (SN_UNLIKELY(sn_enabled(&sn_FileSystem_1e4d6718cbdcf4ae, 5)))
    sn_FileSystem_record_Open(object, Readers, Note);
}
/* Not 0: OpenSensor would do something now. */
static inline int OpenEnabled(void) { return sn_enabled(&sn_FileSystem_1e4d6718cbdcf4ae, 5); }
/* Whether a round of OpenSensor is asked for: 1 once for each. */
static inline int OpenRequested(void) { return sn_sample_requested(&sn_FileSystem_1e4d6718cbdcf4ae, 5); }
/* The round is complete. */
static inline void OpenRound(void) { sn_sample_done(&sn_FileSystem_1e4d6718cbdcf4ae, 5); }

/* --- event 2: Queue, invocationsampled */
static __attribute__((noinline, unused)) void sn_FileSystem_record_Queue(const char *Disk, int32_t Length) {
  const size_t sn_length_0 = Disk ? strlen(Disk) : 0;
  const uint64_t sn_sum = UINT64_C(8) + sn_length_0;
  const uint32_t sn_size = sn_sum > UINT32_MAX ? UINT32_MAX : SN_AS(uint32_t, sn_sum);
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_FileSystem_1e4d6718cbdcf4ae, &sn_FileSystem_events[5], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  { const uint32_t sn_length = SN_AS(uint32_t, sn_length_0); memcpy(sn_to, &sn_length, 4); }
  if (sn_length_0) memcpy(sn_to + 4, Disk, sn_length_0);
  sn_to += 4 + sn_length_0;
  memcpy(sn_to, &Length, 4);
  sn_record_close(&sn_one);
}
static inline void QueueSensor(const char *Disk, int32_t Length) {
  if (SN_UNLIKELY(sn_enabled(&sn_FileSystem_1e4d6718cbdcf4ae, 2)))
    sn_FileSystem_record_Queue(Disk, Length);
}
/* Not 0: QueueSensor would do something now. */
static inline int QueueEnabled(void) { return sn_enabled(&sn_FileSystem_1e4d6718cbdcf4ae, 2); }
/* The function is called at each request, in a thread of its own, and runs the sensor once
 * for each entity. Not 0: no memory, or no thread. */
static inline int QueueOnSample(void (*function)(void *context), void *context) {
  return sn_sample_register(&sn_FileSystem_1e4d6718cbdcf4ae, 2, function, context);
}

/* --- event 6: Idle, sensortraced */
static __attribute__((noinline, unused)) void sn_FileSystem_record_Idle(void) {
  const uint32_t sn_size = 0;
  struct sn_record sn_one;
  unsigned char *sn_to = sn_record_open(&sn_FileSystem_1e4d6718cbdcf4ae, &sn_FileSystem_events[6], SN_NULL, sn_size, 0.0, &sn_one);
  if (!sn_to) return;
  sn_record_close(&sn_one);
}
static inline void IdleSensor(void) {
  if (SN_UNLIKELY(sn_enabled(&sn_FileSystem_1e4d6718cbdcf4ae, 6)))
    sn_FileSystem_record_Idle();
}
/* Not 0: IdleSensor would do something now. */
static inline int IdleEnabled(void) { return sn_enabled(&sn_FileSystem_1e4d6718cbdcf4ae, 6); }

#ifdef __cplusplus
}
#endif

#endif
