/* A library with sensors of its own, which passes them as soon as it is loaded. */
#include "plugin.h"

void plugin_pass(long count);

void plugin_pass(long count) {
  for (long i = 0; i < count; i++) PlugSensor(i);
}
