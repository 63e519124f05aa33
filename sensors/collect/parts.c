/* The modules of a program, and whether they are known. */
#include "sensors/collect/monitor_impl.h"

struct sn_part *sn_program_part(const struct sn_program *program, uint32_t module) {
  return module < program->part_count ? &program->parts[module] : NULL;
}

bool sn_program_ready(const struct sn_program *program) {
  for (size_t i = 0; i < program->part_count; i++) {
    if (program->parts[i].known->state == SN_KNOWN_READING) return false;
    if (program->parts[i].known->state == SN_KNOWN_GOOD && program->parts[i].name == NULL) {
      return false;
    }
  }
  return true;
}
