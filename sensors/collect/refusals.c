/* Announcements that cannot be watched: said once each, with the reason, and left alone. They are another's: of a
 * program in a namespace that is not seen from here, of another version of the run-time. Whoever can tell that
 * they are of nobody removes them. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "sensors/collect/monitor_impl.h"

struct sn_refusal {
  struct sn_refusal *next;
  bool seen; /* in the look that runs */
  char name[];
};

bool sn_refused(struct sn_monitor *monitor, const char *name) {
  for (struct sn_refusal *refusal = monitor->refusals; refusal != NULL; refusal = refusal->next) {
    if (strcmp(refusal->name, name) != 0) continue;
    refusal->seen = true;
    return true;
  }
  return false;
}

void sn_refuse(struct sn_monitor *monitor, const char *name, const char *reason) {
  const struct sn_monitor_options *options = &monitor->options;
  size_t length = strlen(name);
  struct sn_refusal *refusal = base_xmalloc(sizeof *refusal + length + 1);
  refusal->next = monitor->refusals;
  refusal->seen = true;
  memcpy(refusal->name, name, length + 1);
  monitor->refusals = refusal;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: %s", name, reason);
  if (options->tell != NULL) options->tell(options->context, MSG_NOT_WATCHED, text.data);
  base_buffer_done(&text);
}

void sn_refusals_look(struct sn_monitor *monitor) {
  for (struct sn_refusal *refusal = monitor->refusals; refusal != NULL; refusal = refusal->next)
    refusal->seen = false;
}

void sn_refusals_looked(struct sn_monitor *monitor, bool all) {
  for (struct sn_refusal **link = &monitor->refusals; *link != NULL;) {
    struct sn_refusal *refusal = *link;
    if (refusal->seen && !all) {
      link = &refusal->next;
    } else {
      *link = refusal->next;
      free(refusal);
    }
  }
}
