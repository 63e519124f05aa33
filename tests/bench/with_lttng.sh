#!/bin/sh
# with_lttng.sh PROGRAM [ARGUMENT]...: runs it with an LTTng session of its own, in which the tracepoints
# tquel_bench:* are recorded into memory (the newest ones are kept). Without a session the program runs as
# well, and its tracepoints are off: it says what it measured.
set -u
home=$(mktemp -d) || exit 1
export LTTNG_HOME="$home" HOME="$home"
finish() {
  lttng --quiet destroy tquel-bench >/dev/null 2>&1
  if [ -s "$home/pid" ]; then kill "$(cat "$home/pid")" 2>/dev/null; fi
  rm -rf "$home"
}
trap finish EXIT
lttng-sessiond --no-kernel --daemonize --pidfile="$home/pid" >/dev/null 2>&1
{
  lttng create tquel-bench --snapshot --output="$home/trace" &&
    lttng enable-channel --userspace --subbuf-size=1M --num-subbuf=4 --overwrite memory &&
    lttng enable-event --userspace --channel=memory 'tquel_bench:*' &&
    lttng start
} >/dev/null 2>"$home/errors" && export TQUEL_BENCH_LTTNG=1
"$@"
