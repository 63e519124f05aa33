/* The monitor's own sensors (collector.sdf). Most runs of the program are no monitors: the module is
 * registered only when one begins.                                                                   */
#define SN_BY_HAND
#include "collector_sensors.h"

#include "sensors/collect/self.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sensors/runtime/internal.h"

static bool started;

static uint32_t number_of(const char *name) {
  const struct sn_module *module = sn_module_by_hand();
  for (uint32_t i = 0; i < module->event_count; i++) {
    if (strcmp(module->events[i].name, name) == 0) return module->events[i].number;
  }
  return 0;
}

/* Are records wanted? A switch may be on because somebody has it counted. */
static bool is_on(uint32_t switch_word) {
  return started && (switch_word & SN_TRACE) != 0;
}

static bool is_asked(const char *name) {
  return is_on(__atomic_load_n(&sn_module_by_hand()->switches[number_of(name)], __ATOMIC_RELAXED));
}

void sn_self_start(void) {
  sn_module_register(sn_module_by_hand());
  started = true;
}

void sn_self_stop(void) {
  started = false;
  sn_module_withdraw(sn_module_by_hand());
}

bool sn_self_holds(const void *address) {
  return sn_is_announced(address);
}

void sn_self_drained(uint64_t records, uint64_t waiting_bytes) {
  CollectorDrainedSensor((int64_t)records, (int64_t)waiting_bytes);
}

void sn_self_command(const char *kind) {
  CollectorCommandSensor(kind);
}

void sn_self_lost(const char *cause, uint64_t count) {
  CollectorLostSensor(cause, (int64_t)count);
}

struct sn_receptacle *sn_self_process(uint64_t number) {
  return started ? WatchedProcessReceptacle(number) : NULL;
}

void sn_self_process_ended(struct sn_receptacle *process) {
  if (started && process != NULL) WatchedProcessRelease(process);
}

bool sn_self_tells(const struct sn_receptacle *process) {
  if (process == NULL) return false;
  return is_on(
      __atomic_load_n(&sn_switches(process)[number_of("SensorProcess")], __ATOMIC_RELAXED));
}

void sn_self_tell(struct sn_receptacle *process, const char *name, const char *taskforce,
                  uint32_t pid) {
  SensorProcessSensor(process, name, taskforce, pid);
}

/* --- told.c, system.c */

bool sn_self_period_asked(enum sn_self_period relation) {
  static const char *const names[SN_SELF_PERIODS] = {
      [SN_SELF_TASKFORCE] = "SensorTaskForce",
      [SN_SELF_EVENT] = "SensorEvent",
      [SN_SELF_OBJECT] = "SensorObject",
      [SN_SELF_ON] = "SensorOn",
  };
  return is_asked(names[relation]);
}

static struct sn_self_ticket keep(sn_ticket ticket) {
  struct sn_self_ticket kept = {.open = sn_is_period(&ticket) != 0};
  _Static_assert(sizeof ticket <= sizeof kept.words, "there is room for a ticket");
  memcpy(kept.words, &ticket, sizeof ticket);
  return kept;
}

struct sn_self_ticket sn_self_taskforce(const char *name, int64_t version, uint64_t digest,
                                        const char *documentation) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, digest);
  return keep(SensorTaskForceStart(name, version, text, documentation));
}

struct sn_self_ticket sn_self_event(const char *process, const char *event, const char *taskforce,
                                    const char *kind, const char *key, const char *domains) {
  return keep(SensorEventStart(process, event, taskforce, kind, key, domains));
}

struct sn_self_ticket sn_self_object(const char *process, const char *type, const char *object) {
  return keep(SensorObjectStart(process, type, object));
}

struct sn_self_ticket sn_self_on(const char *process, const char *event, const char *object) {
  return keep(SensorOnStart(process, event, object));
}

void sn_self_over(enum sn_self_period relation, struct sn_self_ticket *kept) {
  sn_ticket ticket;
  memcpy(&ticket, kept->words, sizeof ticket);
  kept->open = false;
  if (!started) return;
  switch (relation) {
    case SN_SELF_TASKFORCE:
      SensorTaskForceStop(&ticket);
      break;
    case SN_SELF_EVENT:
      SensorEventStop(&ticket);
      break;
    case SN_SELF_OBJECT:
      SensorObjectStop(&ticket);
      break;
    default:
      SensorOnStop(&ticket);
      break;
  }
}

bool sn_self_counts_asked(void) {
  return is_asked("SensorCount");
}

bool sn_self_counts_due(void) {
  return started && SensorCountRequested();
}

void sn_self_count(const struct sn_self_sensor *sensor, const struct sn_self_count *sample) {
  SensorCountSensor(sensor->number, sensor->process, sensor->event, sensor->object,
                    (int64_t)sample->count, (int64_t)sample->missed, sample->sum, sample->mean,
                    sample->deviation);
}

void sn_self_counts_done(void) {
  SensorCountRound();
}

bool sn_self_records_due(void) {
  return started && SensorRecordsRequested();
}

void sn_self_records(const struct sn_self_sensor *sensor, const struct sn_self_records *sample) {
  SensorRecordsSensor(sensor->number, sensor->process, sensor->event, sensor->object,
                      (int64_t)sample->records, (int64_t)sample->lost, (int64_t)sample->escaped);
}

void sn_self_records_done(void) {
  SensorRecordsRound();
}
