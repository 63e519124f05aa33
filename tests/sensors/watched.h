/* The sensors of the programs that the tests watch: written as the generator writes them, so that the
 * run-time is tested without it. C and C++.                                                         */
#ifndef TESTS_SENSORS_WATCHED_H
#define TESTS_SENSORS_WATCHED_H

#include <string.h>

#include "tquel/sensor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum watched_event {
  WATCHED_ITERATION = 1, /* i4, stamped, discarded when full */
  WATCHED_LONG,          /* i4, i8, text */
  WATCHED_PATIENT,       /* i8, waits for ever */
  WATCHED_BRIEF,         /* i8, waits 20 ms */
  WATCHED_READ,          /* asks the file's receptacle: i4 */
  WATCHED_ALWAYS,        /* whenever somebody listens: i8 */
  WATCHED_STATUS,        /* sampled by message: i4 */
  WATCHED_POLL,          /* sampled by invocation: i4 */
  WATCHED_SINGLE,        /* each enable is for one */
  WATCHED_SHORTEST,      /* nothing, not even a stamp */
  WATCHED_WRITE,         /* asks the file's receptacle: f8 */
  WATCHED_EVENTS = WATCHED_WRITE
};
enum { WATCHED_PROCESS = 1, WATCHED_FILE = 2 };

static const struct sn_field watched_i4[] = {{"number", SN_I4, 4}};
static const struct sn_field watched_i8[] = {{"number", SN_I8, 8}};
static const struct sn_field watched_f8[] = {{"number", SN_F8, 8}};
static const struct sn_field watched_long[] = {
    {"number", SN_I4, 4}, {"large", SN_I8, 8}, {"words", SN_TEXT, 0}};

#define WATCHED_PLAIN (SN_TIMESTAMP | SN_CHECK_ONE_TIME)
static const struct sn_event watched_events[] = {
    {"Iteration", 1, SN_SENSOR_TRACED, 0, WATCHED_PLAIN, 0, 1, 0, 0, 0, 4, 1, watched_i4},
    {"Long", 2, SN_SENSOR_TRACED, 0, WATCHED_PLAIN, 0, 1, 0, 0, 0, 16, 3, watched_long},
    {"Patient", 3, SN_SENSOR_TRACED, 0, WATCHED_PLAIN, -1, 1, 0, 0, 0, 8, 1, watched_i8},
    {"Brief", 4, SN_SENSOR_TRACED, 0, WATCHED_PLAIN, 20, 1, 0, 0, 0, 8, 1, watched_i8},
    {"Read", 5, SN_OBJECT_TRACED, SN_OBJECT, WATCHED_PLAIN, 0, 1, 2, 0, 0, 4, 1, watched_i4},
    {"Always", 6, SN_SENSOR_TRACED, 0, SN_TIMESTAMP | SN_ASSUME_ENABLED, 0, 1, 0, 0, -1, 8, 1,
     watched_i8},
    {"Status", 7, SN_MESSAGE_SAMPLED, 0, WATCHED_PLAIN, 0, 1, 0, 0, -1, 4, 1, watched_i4},
    {"Poll", 8, SN_INVOCATION_SAMPLED, 0, WATCHED_PLAIN, 0, 1, 0, 0, -1, 4, 1, watched_i4},
    {"Single", 9, SN_SENSOR_TRACED, 0, SN_TIMESTAMP | SN_ASSUME_ONE_TIME, 0, 1, 0, 0, -1, 4, 1,
     watched_i4},
    {"Shortest", 10, SN_SENSOR_TRACED, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0},
    {"Write", 11, SN_OBJECT_TRACED, SN_OBJECT, WATCHED_PLAIN, 0, 1, 2, 0, 0, 8, 1, watched_f8},
};
static const struct sn_type watched_types[] = {{"Worker", 1, 1}, {"File", 2, 0}};

SN_MODULE(watched, "Watched", UINT64_C(0x1234), watched_events, 11, WATCHED_EVENTS, watched_types,
          2, "(taskforce (name Watched))", 26);

#define WATCHED_SENSOR(NAME, NUMBER, TYPE)                                                         \
  static inline void NAME##Sensor(TYPE number) {                                                   \
    struct sn_record record;                                                                       \
    unsigned char *payload;                                                                        \
    if (!SN_UNLIKELY(sn_enabled(&watched, NUMBER))) return;                                        \
    payload = sn_record_open(&watched, &watched_events[(NUMBER)-1], NULL, (uint32_t)sizeof number, \
                             (double)number, &record);                                             \
    if (payload == NULL) return;                                                                   \
    memcpy(payload, &number, sizeof number);                                                       \
    sn_record_close(&record);                                                                      \
  }

WATCHED_SENSOR(Iteration, WATCHED_ITERATION, int32_t)
WATCHED_SENSOR(Patient, WATCHED_PATIENT, int64_t)
WATCHED_SENSOR(Brief, WATCHED_BRIEF, int64_t)
WATCHED_SENSOR(Status, WATCHED_STATUS, int32_t)
WATCHED_SENSOR(Poll, WATCHED_POLL, int32_t)
WATCHED_SENSOR(Single, WATCHED_SINGLE, int32_t)

static inline void AlwaysSensor(int64_t number) {
  struct sn_record record;
  unsigned char *payload;
  if (!SN_UNLIKELY(sn_listening(&watched))) return;
  payload = sn_record_open(&watched, &watched_events[WATCHED_ALWAYS - 1], NULL, 8, 0, &record);
  if (payload == NULL) return;
  memcpy(payload, &number, 8);
  sn_record_close(&record);
}

static inline void ShortestSensor(void) {
  struct sn_record record;
  if (!SN_UNLIKELY(sn_enabled(&watched, WATCHED_SHORTEST))) return;
  if (sn_record_open(&watched, &watched_events[WATCHED_SHORTEST - 1], NULL, 0, 0, &record) !=
      NULL) {
    sn_record_close(&record);
  }
}

static inline void LongSensor(int32_t number, int64_t large, const char *words) {
  struct sn_record record;
  unsigned char *payload;
  uint32_t length;
  if (!SN_UNLIKELY(sn_enabled(&watched, WATCHED_LONG))) return;
  length = (uint32_t)strlen(words);
  payload = sn_record_open(&watched, &watched_events[WATCHED_LONG - 1], NULL, 16 + length,
                           (double)number, &record);
  if (payload == NULL) return;
  memcpy(payload, &number, 4);
  memcpy(payload + 4, &large, 8);
  memcpy(payload + 12, &length, 4);
  memcpy(payload + 16, words, length);
  sn_record_close(&record);
}

static inline struct sn_receptacle *FileReceptacle(uint64_t minor) {
  return sn_receptacle_new(&watched, WATCHED_FILE, minor);
}

static inline void ReadSensor(const struct sn_receptacle *file, int32_t block) {
  struct sn_record record;
  unsigned char *payload;
  if (!SN_UNLIKELY(sn_object_enabled(file, WATCHED_READ))) return;
  payload = sn_record_open(&watched, &watched_events[WATCHED_READ - 1], file, 4, block, &record);
  if (payload == NULL) return;
  memcpy(payload, &block, 4);
  sn_record_close(&record);
}

static inline void WriteSensor(const struct sn_receptacle *file, double size) {
  struct sn_record record;
  unsigned char *payload;
  if (!SN_UNLIKELY(sn_object_enabled(file, WATCHED_WRITE))) return;
  payload = sn_record_open(&watched, &watched_events[WATCHED_WRITE - 1], file, 8, size, &record);
  if (payload == NULL) return;
  memcpy(payload, &size, 8);
  sn_record_close(&record);
}

#ifdef __cplusplus
}
#endif

#endif
