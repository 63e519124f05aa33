/* What records cost, as SensorCost has it. */
#ifndef TQUEL_SESSION_KNOWN_COSTS_H
#define TQUEL_SESSION_KNOWN_COSTS_H

#include "engine/base/strings.h"
#include "tquel/session/session.h"

struct session_cost { /* what a process said last of a relation */
  base_string_id relation, process;
  int64_t cost;
  size_t samples; /* while a mean is made */
};
struct session_costs {
  struct session_cost *items; /* freed by who has asked for them */
  size_t count, capacity;
};
struct session_cost *session_add_cost(struct session_costs *costs, base_string_id relation,
                                      base_string_id process, int64_t cost);
/* Of each relation and process the latest that is stored, in the order of their names. */
enum base_status session_stored_costs(struct tql_session *session,
                                      struct session_costs *ret) BASE_MUST_USE;

#endif
