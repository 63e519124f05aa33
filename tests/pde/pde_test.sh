#!/bin/sh
# Self test of the example program pde-solver. Prints TAP; $1 is the path of the binary.
#
# Uses sh, awk, grep, sed and /proc only. It looks at what can be promised of a program whose
# processes are not synchronised: exit status, form and order of the records, the end, and that
# nothing is left behind. It does not look at speeds, and repeats nothing until it succeeds.

if [ $# -ne 1 ] || [ ! -x "$1" ]; then
  echo "Bail out! usage: $0 PATH-OF-PDE-SOLVER"
  exit 99
fi
solver=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/pde-test.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' INT TERM HUP
count=0
failures=0

# ok NAME STATUS: one TAP line; STATUS 0 is success. On failure the standard error of the last
# run is shown.
ok() {
  count=$((count + 1))
  if [ "$2" -eq 0 ]; then
    echo "ok $count - $1"
  else
    failures=$((failures + 1))
    echo "not ok $count - $1"
    [ -s "$dir/err" ] && sed 's/^/# /' "$dir/err"
    [ -s "$dir/why" ] && sed 's/^/# /' "$dir/why"
  fi
  : >"$dir/why"
}

# run ARGUMENTS: with records; leaves status, $dir/out and $dir/err.
run() {
  "$solver" --ndjson "$@" >"$dir/out" 2>"$dir/err"
  status=$?
}

# check_records WORKERS ENDS: every line is a well-formed record; of each process the iterations
# are 1, 2, 3, ... and the stamps do not decrease; there are ENDS end records, each the last
# record of its process. Numbers are compared as text of the same length, as awk's doubles do not
# hold nanoseconds since 1970.
check_records() {
  if grep -Evn '^\{"at": [1-9][0-9]{18}, "Process": "P[1-8]", "IterNum": [1-9][0-9]*\}$|^\{"end": [1-9][0-9]{18}, "Process": "P[1-8]"\}$' \
    "$dir/out" >"$dir/why"; then
    return 1
  fi
  awk -v workers="$1" -v ends="$2" '
    function wrong(text) { print "line " NR ": " text ": " $0; failed = 1; exit 1 }
    {
      split($0, part, /[:,} ]+/)
      stamp = "t" part[2]
      process = part[4]
      if (process in ended) wrong("record after the end")
      if (stamp < last[process]) wrong("time goes back")
      last[process] = stamp
      if ($1 == "{\"end\":") { ended[process] = 1; end_count++; next }
      if (part[6] != iterations[process] + 1) wrong("gap in the iterations")
      iterations[process] = part[6]
    }
    END {
      if (failed) exit 1
      for (process in iterations) n++
      for (i = 1; i <= workers; i++)
        if (!(("\"P" i "\"") in iterations)) { print "nothing of P" i; exit 1 }
      if (n != workers) { print n " processes instead of " workers; exit 1 }
      if (end_count != ends) { print end_count + 0 " end records instead of " ends; exit 1 }
    }' "$dir/out" >"$dir/why"
}

# The checks themselves must be able to fail.
rejects() {
  printf '%b' "$2" >"$dir/out"
  if check_records 1 1; then ok "check refuses $1" 1; else ok "check refuses $1" 0; fi
}
: >"$dir/err"
T=1700000000000000000
rejects "a gap" "{\"at\": $T, \"Process\": \"P1\", \"IterNum\": 1}\n{\"at\": $T, \"Process\": \"P1\", \"IterNum\": 3}\n{\"end\": $T, \"Process\": \"P1\"}\n"
rejects "time going back" "{\"at\": 1700000000000000001, \"Process\": \"P1\", \"IterNum\": 1}\n{\"end\": $T, \"Process\": \"P1\"}\n"
rejects "a missing end" "{\"at\": $T, \"Process\": \"P1\", \"IterNum\": 1}\n"
rejects "mixed lines" "{\"at\": $T, \"Proc{\"at\": $T, \"Process\": \"P1\", \"IterNum\": 1}\n{\"end\": $T, \"Process\": \"P1\"}\n"
printf '%b' "{\"at\": $T, \"Process\": \"P1\", \"IterNum\": 1}\n{\"end\": $T, \"Process\": \"P1\"}\n" >"$dir/out"
check_records 1 1
ok "check accepts what is right" $?

# solves WORKERS ARGUMENTS
solves() {
  workers=$1
  shift
  run --workers "$workers" "$@"
  ok "--workers $workers $*: exit status 0" "$status"
  check_records "$workers" "$workers"
  ok "--workers $workers $*: records" $?
  grep -q 'largest error .* bound' "$dir/err" && grep -q "P$workers: .* iterations, converged" "$dir/err"
  ok "--workers $workers $*: report" $?
}
solves 2 --grid 41 --pace-us 200 --seed 1
solves 3 --grid 37x53 --pace-us 200 --seed 2
solves 8 --grid 61x29 --pace-us 500 --seed 3
solves 8 --grid 10x201 --pace-us 300 --seed 18446744073709551615
solves 2 --grid 4x3 --pace-us 100
solves 4 --grid 33 --pace-us 0 --seed 6 --max-iterations 4000000
solves 3 --grid 31 --pace-us 200 --omega 1 --tolerance 1e-3

# The same seed gives the same problem, another one other strips.
strips() { sed -n 's/.*\(P[1-8]: rows [0-9]* to [0-9]*\).*/\1/p' "$dir/err"; }
run --grid 101 --pace-us 0 --max-iterations 1 --seed 5; one=$(strips)
run --grid 101 --pace-us 0 --max-iterations 1 --seed 5; same=$(strips)
run --grid 101 --pace-us 0 --max-iterations 1 --seed 8; other=$(strips)
[ -n "$one" ] && [ "$one" = "$same" ] && [ "$one" != "$other" ]
ok "strips depend on the seed only" $?

# CSV.
run --workers 3 --grid 31 --pace-us 200 --csv
ok "--csv: exit status 0" "$status"
[ "$(sed -n 1p "$dir/out")" = "at,Process,IterNum" ] &&
  ! sed 1d "$dir/out" | grep -Evq '^[1-9][0-9]{18},P[1-3],[1-9][0-9]*$' &&
  sed 1d "$dir/out" | awk -F, '$3 != n[$2] + 1 { exit 1 } { n[$2] = $3 } END { exit !(n["P3"] > 1) }'
ok "--csv: header and rows" $?

run --grid 31 --pace-us 200 --quiet
[ "$status" -eq 0 ] && [ ! -s "$dir/err" ]
ok "--quiet: nothing on standard error" $?

"$solver" --grid 31 --pace-us 200 >"$dir/out" 2>"$dir/err"
[ $? -eq 0 ] && [ ! -s "$dir/out" ] && grep -q 'agrees' "$dir/err"
ok "nothing on standard output unless it is asked for" $?

# No convergence: exit status 4, but orderly records.
run --workers 3 --grid 201 --max-iterations 7 --pace-us 0
[ "$status" -eq 4 ]; ok "--max-iterations 7: exit status 4" $?
check_records 3 3 && [ "$(grep -c '"IterNum": 7}' "$dir/out")" -eq 3 ]
ok "--max-iterations 7: seven iterations each and an end" $?
run --workers 2 --grid 401 --time-limit 0.3 --pace-us 20000
[ "$status" -eq 4 ] && check_records 2 2
ok "--time-limit 0.3: exit status 4, orderly end" $?

# Bad options: a message, nothing on standard output, exit status 1.
refused() {
  run "$@"
  [ "$status" -eq 1 ] && [ ! -s "$dir/out" ] && [ -s "$dir/err" ]
  ok "refused: $*" $?
}
for option in "--workers 1" "--workers 9" "--workers 2x" "--workers -2" "--grid 2" "--grid 5x" \
  "--grid x5" "--grid 99999999999999999999" "--grid 10001x10" "--grid 8x8x8" "--seed -1" \
  "--seed 18446744073709551616" "--tolerance 0" "--tolerance nan" "--tolerance 1e-15" \
  "--tolerance 0x1" "--max-iterations 0" "--omega 2" "--omega 0" "--omega -1" "--omega inf" \
  "--time-limit 0" "--pace-us -5" "--pace-us 1.5" "--unknown" "--workers" "--csv=yes" "file"; do
  # shellcheck disable=SC2086 # two words are meant
  refused $option
done
refused --workers 8 --grid 9x100
refused --seed ""
run --help
[ "$status" -eq 0 ] && grep -q -- --max-iterations "$dir/out"
ok "--help" $?

# A reader that goes away: the computation goes on and its result counts.
{ "$solver" --ndjson --grid 41 --omega 1 --pace-us 30 2>"$dir/err"; echo $? >"$dir/status"; } | sed 3q >"$dir/out"
[ "$(cat "$dir/status")" -eq 0 ] && grep -q 'reader of the records has gone' "$dir/err"
ok "reader gone: computed all the same" $?

if [ -w /dev/full ]; then
  "$solver" --ndjson --grid 41 --pace-us 300 >/dev/full 2>"$dir/err"
  [ $? -eq 2 ] && grep -q 'reporting was given up' "$dir/err"
  ok "disk full: exit status 2" $?
fi
"$solver" --ndjson --grid 41 >&- 2>"$dir/err"
[ $? -eq 2 ]; ok "no standard output: exit status 2" $?

# Signals. A process counts as gone when it does not exist or is a zombie that its new parent has
# yet to collect.
gone() {
  for pid in "$@"; do
    state=$(sed -n 's/^[0-9]* (.*) \([A-Z]\).*/\1/p' "/proc/$pid/stat" 2>/dev/null)
    [ -z "$state" ] || [ "$state" = Z ] || return 1
  done
}
gone_soon() {
  for _ in $(seq 1200); do
    gone "$@" && return 0
    sleep 0.1
  done
  return 1
}
# background: starts a run of many seconds; leaves pid and children once all have reported.
background() {
  "$solver" --ndjson --workers 3 --grid 1001 --pace-us 20000 >"$dir/out" 2>"$dir/err" &
  pid=$!
  children=
  for _ in $(seq 1200); do
    if grep -q '"P1", "IterNum": 2}' "$dir/out" && grep -q '"P2", "IterNum": 2}' "$dir/out" &&
      grep -q '"P3", "IterNum": 2}' "$dir/out"; then
      children=$(cat "/proc/$pid/task/$pid/children" 2>/dev/null)
      break
    fi
    sleep 0.1
  done
}
if [ -r "/proc/$$/task/$$/children" ]; then
  background
  kill -TERM "$pid"
  wait "$pid"
  status=$?
  # shellcheck disable=SC2086 # a list
  [ "$status" -eq 143 ] && [ -n "$children" ] && gone $children && check_records 3 3
  ok "SIGTERM: all end, with end records" $?

  background
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null
  # shellcheck disable=SC2086
  [ -n "$children" ] && gone_soon $children
  ok "SIGKILL: no process outlives its parent" $?

  background
  # shellcheck disable=SC2086
  set -- $children
  kill -KILL "$2"
  wait "$pid"
  status=$?
  # shellcheck disable=SC2086
  [ "$status" -eq 2 ] && gone $children && grep -q 'P2 was' "$dir/err"
  ok "a killed solver process: all stop, exit status 2" $?

  # A reader that is there but does not read: the pipe fills, the processes wait in write(2).
  mkfifo "$dir/pipe"
  # shellcheck disable=SC2217 # that it does not read is the point
  sleep 600 <"$dir/pipe" &
  reader=$!
  "$solver" --ndjson --grid 1001 --pace-us 100 --quiet >"$dir/pipe" 2>"$dir/err" &
  pid=$!
  sleep 1.5
  kill -TERM "$pid"
  wait "$pid"
  [ $? -eq 143 ]; ok "SIGTERM with a reader that does not read" $?
  kill "$reader"
  wait "$reader" 2>/dev/null
fi

echo "1..$count"
[ "$failures" -eq 0 ]
