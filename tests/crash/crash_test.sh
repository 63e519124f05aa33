#!/usr/bin/env bash
# Kills tquel with SIGKILL, again and again, while it follows a growing file, opens the database anew each
# time, and compares what it has in the end with what one uninterrupted run makes of the same records:
# the relation and all that is derived from it. Then the same for a statement that is killed: all or
# nothing. Prints TAP.   crash_test.sh TQUEL [KILLS] [SEED]
set -u
tquel=$(realpath "$1") kills=${2:-12} seed=${3:-1}
work=$(mktemp -d) || exit 1
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
echo "1..8"

awk -v seed="$seed" 'BEGIN {
  srand(seed); print "at,Process,IterNum"
  for (i = 1; i <= 30000; i++) { t += int(rand() * 4); p = int(rand() * 3) + 1; print t ",P" p "," ++n[p] }
}' >records.csv

cat >define.tq <<'E2'
create traced Iteration (Process = c10, IterNum = i4) by Process
range of A is Iteration
range of B is Iteration
retrieve into AOverB (Diff = B.IterNum - A.IterNum)
  where A.Process = "P1" and B.Process = "P2" and A.IterNum > B.IterNum + 1
range of AB is AOverB
retrieve into Over (Percent = AvgC(AB) * 100)
retrieve into Catch where A.Process = "P1" and B.Process = "P2" and A.IterNum = B.IterNum
  when A , B.start at B.start
retrieve into Running (A.Process, n = countc(A.IterNum by A.Process))
E2
cat >follow.tq <<'E2'
set durable every 3 ms
copy Iteration from "growing.csv" following within 5
E2
relations="Iteration AOverB Over Catch Running"

# What one run makes of it. The records come through a pipe that ends, as the file never does.
"$tquel" -q --timeline abstract once.db -f define.tq \
  -c 'copy Iteration from "-" following within 5' <records.csv || echo "Bail out!"

"$tquel" -q --timeline abstract crashed.db -f define.tq
head -1 records.csv >growing.csv
(tail -n +2 records.csv | awk '{ print; if (NR % 400 == 0) { fflush(); system("sleep 0.01") } }' >>growing.csv) &
writer=$!
RANDOM=$seed died=0
for _ in $(seq "$kills"); do
  "$tquel" -q --timeline abstract crashed.db -f follow.tq 2>>errors &
  victim=$!
  sleep "0.0$((RANDOM % 9 + 1))"
  kill -9 "$victim" && died=$((died + 1))
  wait "$victim" 2>/dev/null
done
wait "$writer"
if [ "$died" -eq "$kills" ]; then echo "ok 1 - killed $died times"; else
  echo "not ok 1 - only $died of $kills died of the kill"; sed 's/^/# /' errors; fi

# The rest is read in peace, then the feed ends: the records go on through a pipe, which ends.
position() { sqlite3 crashed.db "select position from tq_feed where source = 'growing.csv'"; }
size=$(stat -c %s growing.csv)
"$tquel" -q --timeline abstract crashed.db -f follow.tq &
victim=$!
for _ in $(seq 6000); do
  [ "$(position)" = "$size" ] && break
  sleep 0.05
done
kill -9 "$victim"; wait "$victim" 2>/dev/null
if [ "$(position)" = "$size" ]; then echo "ok 2 - all of the file was read"; else
  echo "not ok 2 - stands at $(position) of $size"; fi
head -1 records.csv | "$tquel" -q --timeline abstract crashed.db -c 'copy Iteration from "-" following'

# The end of a feed makes what is pending final; here the last feed brought nothing, so close it by word.
last=$(tail -1 records.csv | cut -d, -f1)
for db in once crashed; do
  "$tquel" -q --timeline abstract "$db.db" -c 'set checkpoint manual' -c "checkpoint $((last + 1))"
done
number=3
for relation in $relations; do
  for db in once crashed; do sqlite3 "$db.db" "select * from \"$relation\"" | sort >"$db.$relation"; done
  rows=$(wc -l <"once.$relation")
  if cmp -s "once.$relation" "crashed.$relation" && [ "$rows" -gt 10 ]; then
    echo "ok $number - $relation is the same ($rows rows)"
  else
    echo "not ok $number - $relation differs"
    diff "once.$relation" "crashed.$relation" | head -5 | sed 's/^/# /'
  fi
  number=$((number + 1))
done

# A statement that is killed leaves nothing: a copy that takes a while, with all that follows from it.
"$tquel" -q --timeline abstract copied.db -f define.tq
partial=0
for _ in 1 2 3 4 5 6; do
  "$tquel" -q --timeline abstract copied.db -c 'copy Iteration from "records.csv"' &
  victim=$!
  sleep "0.0$((RANDOM % 9 + 1))"
  kill -9 "$victim" 2>/dev/null; wait "$victim" 2>/dev/null
  count=$(sqlite3 copied.db 'select count(*) from Iteration')
  derived=$(sqlite3 copied.db 'select count(*) from Running')
  if [ "$count" -eq 0 ] && [ "$derived" -eq 0 ]; then continue; fi
  [ "$count" -eq "$derived" ] || partial=1
  break
done
if [ "$partial" -eq 0 ]; then echo "ok 8 - a killed copy is there wholly or not at all"; else
  echo "not ok 8 - $count tuples, $derived derived"; fi
