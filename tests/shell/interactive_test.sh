#!/bin/bash
# The interactive shell, on a terminal that script(1) makes. Prints TAP; $1 is the path of the binary.
#
# Keys go in through a pipe, and each answer is waited for before the next keys are sent, so that no
# speed is assumed. The screen's control sequences are left in the record; what is looked for are words
# that nothing but the answer has.

if [ $# -ne 1 ] || [ ! -x "$1" ]; then
  echo "Bail out! usage: $0 PATH-OF-TQUEL"
  exit 99
fi
if ! command -v script >/dev/null; then
  echo "1..0 # SKIP there is no script(1)"
  exit 0
fi
if ! script -qec true /dev/null >/dev/null 2>&1; then
  echo "1..0 # SKIP there are no pseudo-terminals here"
  exit 0
fi
tquel=$(realpath "$1")
dir=$(mktemp -d "${TMPDIR:-/tmp}/tquel-test.XXXXXX") || exit 99
session=
finish() {
  [ -z "$session" ] || kill "$session" 2>/dev/null
  rm -rf "$dir"
}
trap finish EXIT
cd "$dir" || exit 99
export XDG_STATE_HOME=$dir/state TERM=xterm HOME=$dir LC_ALL=C.UTF-8
# libedit keeps the names of functions that it was given.
export ASAN_OPTIONS=detect_leaks=0
unset VISUAL
count=0
failures=0

ok() {
  count=$((count + 1))
  if [ "$2" -eq 0 ]; then
    echo "ok $count - $1"
  else
    failures=$((failures + 1))
    echo "not ok $count - $1"
    tail -c +"$((seen + 1))" record | cat -v | sed 's/^/# /'
  fi
}

seen=0
# keys TEXT: as printf %b understands it. What is recorded from here on is what answers are sought in.
keys() {
  seen=$(stat -c %s record)
  printf '%b' "$1" >&3
}
# answers PATTERN: waits up to two minutes.
answers() {
  local tries
  for ((tries = 0; tries < 1200; tries++)); do
    tail -c +"$((seen + 1))" record | grep -aq -- "$1" && return 0
    sleep 0.1
  done
  return 1
}

begin() {
  rm -f keys record
  mkfifo keys
  : >record
  script -qfec "stty rows 40 cols 100; exec $tquel $*" record <keys >/dev/null 2>&1 &
  session=$!
  exec 3>keys
  seen=0
}
# leaves: waits for the end, up to two minutes.
leaves() {
  local tries
  for ((tries = 0; tries < 1200; tries++)); do
    if ! kill -0 "$session" 2>/dev/null; then
      wait "$session"
      status=$?
      session=
      exec 3>&-
      return 0
    fi
    sleep 0.1
  done
  return 1
}

# ticks: CPU time of the shell, in hundredths of seconds. runs: until it has spent one second since $spent.
children=/proc/$$/task/$$/children
ticks() {
  local shell=
  read -r shell _ 2>/dev/null <"/proc/$session/task/$session/children"
  sed 's/.*) //' "/proc/$shell/stat" 2>/dev/null | awk '{ print $12 + $13 }'
}
runs() {
  local tries
  [ -r "$children" ] || sleep 5
  for ((tries = 0; tries < 1200; tries++)); do
    [ -r "$children" ] && [ "$(ticks)" -lt $((spent + 100)) ] || break
    sleep 0.1
  done
}

begin --timeline abstract t.db
answers 'tquel> '
ok "greeting and prompt" $?
keys 'create event E (number = i4)\n'
answers ' run> '
ok "a complete statement: the prompt says that a blank line runs it" $?
keys '\n'
answers 'tquel> '
ok "a blank line runs it" $?
keys 'append to E (number = 41) at 7\\g\n'
answers 'tquel> '
ok "\\g runs at once" $?
keys 'range of e is E\nretrieve (total = e.number + 1)\n'
answers ' run> '
keys '\n'
answers '| *42'
ok "several lines; a table on a terminal" $?
keys 'retrieve (e.number\n'
answers '\.\.\.> '
ok "an incomplete statement: the prompt says that it goes on" $?
keys '\n'
answers 'error TQ-0201'
ok "an error" $?
answers 'tquel> '
ok "... does not end the shell" $?
keys '\\p\n'
answers 'retrieve (e.number'
ok "\\p prints what ran last" $?
keys 'retr\t(t = e.nu\t + 1000)\\g\n'
answers '| *1041'
ok "TAB completes a keyword and a domain" $?
keys 'range of f is E\\g\n'
answers 'tquel> '
keys 'retrieve (t = e.number + 2000) unl\tf where f.nu\t = 40\\g\n'
answers '| *2041'
ok "TAB completes unless, and a domain in it" $?
keys 'disp\t\t\\g\n'
answers '| *41'
ok "TAB completes a keyword and a relation" $?
keys 'retrieve (nonsense'
answers nonsense
keys '\003'
answers '\^C'
ok "Ctrl-C drops the line" $?
keys '\\d\n'
answers 'event  *E (number = i4)'
ok "\\d" $?
keys '\\tming\n'
answers 'did you mean \\timing'
ok "an unknown command: a suggestion" $?
keys '\\set n 3\n'
keys '\\set\n'
answers 'n = 3'
keys '\\unset n\n'
keys '\\unset n\n'
answers 'there is no variable [$]n'
keys '{define; twice $1;\n'
keys '\n'
keys 'retrieve (x = $1 + $1)}\n'
keys 'twice 21\n\n'
answers '42'
keys '\\macros\n'
answers 'define; twice [$]1;'
ok "a macro over several lines, one of them empty" $?
keys '\\timing on\n'
answers 'timing is on'
keys 'print E\\g\n'
answers 'timing: print .* total_us='
ok "\\timing" $?
keys '\\format count\n'
answers 'format is count'
ok "\\format" $?
printf 'append to E (number = 5) at 8 help "set"\n' >file.tq
keys '\\i fi\t\n'
answers 'timing: append E'
ok "\\i with a completed file name" $?
keys '\\h TQ-0101\n'
answers 'unknown-relation'
ok "\\h TQ-0101" $?
# shellcheck disable=SC2016 # for the shell that is asked
keys '\\s echo shell said $((6 * 7))\n'
answers 'shell said 42'
ok "\\s COMMAND" $?
keys '\\?\n'
answers 'Ctrl-D'
ok "\\?" $?
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "retrieve (edited = e.number + 1000)" >"$1"\n' >editor
chmod +x editor
keys '\004'
leaves && [ "$status" -eq 0 ]
ok "Ctrl-D leaves with 0" $?
[ -s state/tquel/history ] && [ "$(stat -c %a state/tquel/history)" = 600 ]
ok "the history is kept, for the user only" $?

export EDITOR=$dir/editor
begin -q t.db
answers 'tquel> '
keys '\020'
answers '?'
ok "the history of the last session is there" $?
keys '\025range of e is E\\g\n'
answers 'tquel> '
keys '\\e\n'
answers ' run> '
keys '\n'
answers '1041'
ok "\\e edits, a blank line runs" $?

# A statement that takes long: cancelled by Ctrl-C, and the session goes on.
awk 'BEGIN { print "at,number"; for (i = 0; i < 20000; i++) print i "," i }' >many.csv
keys 'create event M (number = i4) copy M from "many.csv" range of a is M range of b is M\\g\n'
answers 'tquel> '
spent=$(ticks)
keys 'retrieve into W (n = a.number, m = b.number) where a.number != b.number when a ; b at b\\g\n'
runs
keys '\003'
answers 'TQ-0406'
ok "Ctrl-C cancels the running statement" $?
keys '\\d W\n'
answers 'TQ-0101'
ok "... which leaves nothing" $?

# A feed goes on while the shell waits for keys.
mkfifo pipe
keys 'create event L (number = i4) copy L from "pipe" following range of l is L retrieve into Seen (l.number) display Seen\\g\n'
answers 'tquel> '
keys 'retri'
answers 'retri'
exec 4>pipe
printf 'at,number\n1,771\n2,772\n3,773\n' >&4
answers 'number = 772'
ok "a display prints while the user types" $?
answers 'retri'
ok "... and the typed line is drawn again" $?
keys 'eve (l.number) where l.number = 771\\g\n'
answers '771'
ok "... and can be finished" $?
keys '\\dn See\t\n'
answers 'Seen  *3  *relation-store  *2 '
ok "\\dn lists the nodes of a standing query while it runs, and completes its name" $?
keys '\\dn Sen\n'
answers 'TQ-0101'
ok "... but not of what is not there" $?
exec 4>&-
keys '\\q\n'
leaves && [ "$status" -eq 0 ]
ok "\\q leaves with 0" $?

echo "1..$count"
[ "$failures" -eq 0 ]
