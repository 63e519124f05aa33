/* The header in a second file of the same program. */
#include "files.h"

#ifdef __cplusplus
extern "C" {
#endif
struct sn_module *other_module(void);
void other_idle(void);
#ifdef __cplusplus
}
#endif

struct sn_module *other_module(void) {
  return mock_module;
}
void other_idle(void) {
  IdleSensor();
}
