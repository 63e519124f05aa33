// The same header in C++: what is on for the C program is on here.
#include "tests/collect/enabled.h"

unsigned enabled_in_cpp(const struct sn_receptacle *job) {
  return enabled(job);
}
