/* A stand-in for the run-time of sensors (sensors/runtime), for tests of the headers that tquel sdf makes:
 * it has the same names and remembers how it was called. Switches are an array, records go into a
 * buffer.                                                                                         */
#ifndef TQUEL_SENSOR_H
#define TQUEL_SENSOR_H

#include <stddef.h>
#include <stdint.h>

#define SN_INTERFACE           1
#define SN_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

enum sn_field_type { SN_I1 = 1, SN_I2, SN_I4, SN_I8, SN_F4, SN_F8, SN_TEXT, SN_BOOL, SN_NAME };
enum sn_minor_type {
  SN_OBJECT_TRACED = 1,
  SN_SENSOR_TRACED,
  SN_RECEPTACLE_SAMPLED,
  SN_MESSAGE_SAMPLED,
  SN_INVOCATION_SAMPLED
};
enum sn_consulted { SN_PERFORMER = 0, SN_OBJECT = 1, SN_INITIATOR = 2 };
enum sn_event_flag {
  SN_TIMESTAMP = 1,
  SN_ASSUME_ENABLED = 2,
  SN_CHECK_ONE_TIME = 4,
  SN_ASSUME_ONE_TIME = 8,
  SN_DECLARE_OBJECT = 16
};

struct sn_field {
  const char *name;
  uint8_t type, size;
};
struct sn_event {
  const char *name;
  uint32_t number;
  uint8_t minor_type, consulted;
  uint16_t flags;
  int32_t wait_ms;
  uint32_t process, object, initiator;
  int32_t histogram_field;
  uint32_t fixed_size, field_count;
  const struct sn_field *fields;
};
struct sn_type {
  const char *name;
  uint32_t number;
  uint8_t is_process;
};
struct sn_module {
  const char *name;
  uint64_t digest;
  const struct sn_event *events;
  uint32_t event_count, event_greatest;
  const struct sn_type *types;
  uint32_t type_count;
  const char *description;
  uint32_t description_bytes;
};
struct sn_receptacle {
  uint64_t minor;
  uint32_t type;
};
struct sn_record {
  int open;
};

#ifdef __cplusplus
extern "C" {
#endif

#define SN_MODULE(SYMBOL, NAME, DIGEST, EVENTS, EVENT_COUNT, EVENT_GREATEST, TYPES, TYPE_COUNT, \
                  DESCRIPTION, DESCRIPTION_BYTES)                                               \
  extern struct sn_module SYMBOL;                                                               \
  __attribute__((weak, visibility("hidden"))) struct sn_module SYMBOL = {                       \
      NAME,  DIGEST,     EVENTS,      EVENT_COUNT,      EVENT_GREATEST,                         \
      TYPES, TYPE_COUNT, DESCRIPTION, DESCRIPTION_BYTES};                                       \
  static __attribute__((constructor, used)) void SYMBOL##_register(void) {                      \
    mock_module = &SYMBOL;                                                                      \
  }                                                                                             \
  struct sn_module

#ifdef __cplusplus
#define SN_NULL            nullptr
#define SN_AS(TYPE, VALUE) static_cast<TYPE>(VALUE)
#else
#define SN_NULL            NULL
#define SN_AS(TYPE, VALUE) ((TYPE)(VALUE))
#endif

extern struct sn_module *mock_module;
extern unsigned char mock_on[64]; /* switches; 0: somebody listens */
extern unsigned char mock_payload[1024];
extern uint32_t mock_size;
extern const struct sn_event *mock_event;
extern const struct sn_receptacle *mock_receptacle;
extern double mock_value;
extern int mock_opened, mock_closed, mock_done;
extern int mock_full; /* records cannot be opened */

static inline int sn_enabled(const struct sn_module *module, uint32_t event) {
  return module != NULL && mock_on[event];
}
static inline int sn_listening(const struct sn_module *module) {
  return sn_enabled(module, 0);
}
static inline int sn_object_enabled(const struct sn_receptacle *receptacle, uint32_t event) {
  return receptacle != NULL && mock_on[event];
}

unsigned char *sn_record_open(struct sn_module *module, const struct sn_event *event,
                              const struct sn_receptacle *receptacle, uint32_t size, double value,
                              struct sn_record *record);
void sn_record_close(struct sn_record *record);
struct sn_receptacle *sn_receptacle_new(struct sn_module *module, uint32_t type, uint64_t minor);
void sn_receptacle_free(struct sn_receptacle *receptacle);
int sn_process_declare(struct sn_module *module, uint32_t type, const char *minor);
int sn_sample_requested(struct sn_module *module, uint32_t event);
void sn_sample_done(struct sn_module *module, uint32_t event);
int sn_sample_register(struct sn_module *module, uint32_t event, void (*function)(void *),
                       void *context);

#ifdef __cplusplus
}
#endif

#endif
