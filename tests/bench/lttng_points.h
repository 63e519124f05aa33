/* Tracepoints of LTTng-UST with the payloads of the measured sensors. The macros are LTTng's, and this
 * header is included several times by its own.                                                      */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER tquel_bench
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "tests/bench/lttng_points.h"

#if !defined(TESTS_BENCH_LTTNG_POINTS_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define TESTS_BENCH_LTTNG_POINTS_H

#include <stdint.h>
#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(tquel_bench, short_event, TP_ARGS(int32_t, number),
                 TP_FIELDS(ctf_integer(int32_t, number, number)))
TRACEPOINT_EVENT(tquel_bench, long_event, TP_ARGS(int32_t, number, int64_t, large, const char *, words),
                 TP_FIELDS(ctf_integer(int32_t, number, number) ctf_integer(int64_t, large, large)
                               ctf_string(words, words)))
#endif

#include <lttng/tracepoint-event.h>
