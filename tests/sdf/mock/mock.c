/* The stand-in's functions: see tquel/sensor.h beside this. */
#include <stdlib.h>
#include <string.h>
#include <tquel/sensor.h>

struct sn_module *mock_module;
unsigned char mock_on[64];
unsigned char mock_payload[1024];
uint32_t mock_size;
const struct sn_event *mock_event;
const struct sn_receptacle *mock_receptacle;
double mock_value;
int mock_opened, mock_closed, mock_done, mock_full;

unsigned char *sn_record_open(struct sn_module *module, const struct sn_event *event,
                              const struct sn_receptacle *receptacle, uint32_t size, double value,
                              struct sn_record *record) {
  if (module == NULL || mock_full || size > sizeof mock_payload) return NULL;
  memset(mock_payload, 0xee, sizeof mock_payload);
  record->open = 1;
  mock_event = event;
  mock_receptacle = receptacle;
  mock_size = size;
  mock_value = value;
  mock_opened++;
  return mock_payload;
}

void sn_record_close(struct sn_record *record) {
  mock_closed += record->open;
  record->open = 0;
}

struct sn_receptacle *sn_receptacle_new(struct sn_module *module, uint32_t type, uint64_t minor) {
  struct sn_receptacle *receptacle = (struct sn_receptacle *)malloc(sizeof *receptacle);
  if (receptacle == NULL || module == NULL) abort();
  receptacle->minor = minor;
  receptacle->type = type;
  return receptacle;
}

void sn_receptacle_free(struct sn_receptacle *receptacle) {
  free(receptacle);
}

int sn_process_declare(struct sn_module *module, uint32_t type, const char *minor) {
  return module != NULL && minor != NULL ? (int)type : -1;
}

int sn_sample_requested(struct sn_module *module, uint32_t event) {
  return module != NULL && mock_on[event];
}

void sn_sample_done(struct sn_module *module, uint32_t event) {
  if (module != NULL) mock_done = (int)event;
}

int sn_sample_register(struct sn_module *module, uint32_t event, void (*function)(void *),
                       void *context) {
  if (module == NULL) return -1;
  function(context);
  return (int)event;
}
