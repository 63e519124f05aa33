/* EVENTEnabled() of each kind of event: a bit for each, in this order. Of those that ask an object: JOB. C and C++. */
#ifndef TESTS_COLLECT_ENABLED_H
#define TESTS_COLLECT_ENABLED_H

#include "target.h"

static inline unsigned enabled(const struct sn_receptacle *job) {
  const int on[] = {TickEnabled(),     PhaseEnabled(),    StepEnabled(job), DoneEnabled(),
                    DepthEnabled(),    LevelEnabled(),    BeatEnabled(),    SpanEnabled(),
                    VisitEnabled(job), AskedEnabled(job), AlwaysEnabled()};
  unsigned bits = 0;
  for (unsigned i = 0; i < sizeof on / sizeof on[0]; i++) bits |= on[i] ? 1u << i : 0u;
  return bits;
}

#ifdef __cplusplus
extern "C"
#endif
    unsigned
    enabled_in_cpp(const struct sn_receptacle *job);

#endif
