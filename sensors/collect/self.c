/* The monitor's own sensors (collector.sdf). Most runs of the program are no monitors: the module is
 * registered only when one begins.                                                                   */
#define SN_BY_HAND
#include "collector_sensors.h"

#include "sensors/collect/self.h"
#include "sensors/runtime/internal.h"

static bool started;

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
  return started && process != NULL && SensorProcessEnabled(process);
}

void sn_self_tell(struct sn_receptacle *process, const char *name, const char *taskforce,
                  uint32_t pid) {
  SensorProcessSensor(process, name, taskforce, pid);
}
