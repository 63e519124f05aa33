/* Where LTTng's macros put what the tracepoints of lttng_points.h are made of. */
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "tests/bench/lttng_points.h"
