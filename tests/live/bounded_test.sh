#!/usr/bin/env bash
# An endless feed of new strings runs in bounded memory: strings that nothing holds any more are
# forgotten. 450,000 records with a string of 400 bytes each, none of which comes twice, go through a
# standing query in less memory than the strings take. Prints TAP.   bounded_test.sh TQUEL
set -u
tquel=$(realpath "$1")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
echo "1..2"
if nm "$tquel" 2>/dev/null | grep -q __asan_init; then
  echo "ok 1 # SKIP the address sanitizer needs more"
  echo "ok 2 # SKIP the address sanitizer needs more"
  exit 0
fi
records=450000
cat >bounded.tq <<'E2'
create event E (s = text)
range of e is E
retrieve into D (n = 1) where e.s != "never"
copy E from "-" following
E2
awk -v n=$records 'BEGIN {
  while (length(pad) < 390) pad = pad "x"
  print "at,s"
  for (i = 0; i < n; i++) print i "," i pad
}' | (ulimit -v 165000; exec "$tquel" -q --timeline abstract b.db -f bounded.tq) 2>errors
status=${PIPESTATUS[1]}
if [ "$status" -eq 0 ]; then echo "ok 1 - ran within the limit"; else
  echo "not ok 1 - exit $status"; head -5 errors | sed 's/^/# /'; fi
count=$(sqlite3 b.db 'select count(*) from D')
if [ "$count" = $records ]; then echo "ok 2 - all $count tuples are there"; else
  echo "not ok 2 - $count tuples"; fi
