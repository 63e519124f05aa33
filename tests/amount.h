/* How much a test does: QUICK of it in the suite that everybody runs after each change, THOROUGH of it with
 * TESTS_LONG in the environment, as the long suite has it.                                          */
#ifndef TESTS_AMOUNT_H
#define TESTS_AMOUNT_H

#include <stdlib.h>

static inline unsigned amount(unsigned quick, unsigned thorough) {
  return getenv("TESTS_LONG") ? thorough : quick;
}

#endif
