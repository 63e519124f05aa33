#!/bin/sh
# The command line of tquel: options, the order of -c and -f, exit codes, messages, standard input and
# output. Prints TAP; $1 is the path of the binary. What statements mean is tested elsewhere.

if [ $# -ne 1 ] || [ ! -x "$1" ]; then
  echo "Bail out! usage: $0 PATH-OF-TQUEL"
  exit 99
fi
tquel=$(realpath "$1")
dir=$(mktemp -d "${TMPDIR:-/tmp}/tquel-test.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
trap 'exit 99' INT TERM HUP
cd "$dir" || exit 99
count=0
failures=0
: >out
: >err
newline='
'

# ok NAME STATUS: one TAP line; STATUS 0 is success. On failure the last run's output is shown.
ok() {
  count=$((count + 1))
  if [ "$2" -eq 0 ]; then
    echo "ok $count - $1"
  else
    failures=$((failures + 1))
    echo "not ok $count - $1"
    echo "# exit status $status"
    sed 's/^/# out: /' out
    sed 's/^/# err: /' err
  fi
}

# run ARGUMENTS: leaves status, out and err. Standard input is what the caller redirects.
run() {
  "$tquel" "$@" >out 2>err
  status=$?
}

# ends STATUS TEXT NAME: exit status, and a text (a basic regular expression) on standard error.
ends() {
  [ "$status" -eq "$1" ] && grep -q -- "$2" err
  ok "$3" $?
}
printed() { # printed TEXT [STATUS]: exactly this on standard output
  [ "$status" -eq "${2-0}" ] && [ "$(cat out)" = "$1" ]
}

# The checks themselves must be able to fail.
status=0
echo "error TQ-0001: x" >err
if (ends 1 TQ-0001 x | grep -q '^ok') || (ends 0 TQ-0002 x | grep -q '^ok') || printed x; then
  ok "the checks can fail" 1
else
  ok "the checks can fail" 0
fi

# --- usage ---
run --help </dev/null
[ "$status" -eq 0 ] && grep -q -- --single-transaction out && grep -q explain out && [ ! -s err ]
ok "--help" $?
run --version </dev/null
[ "$status" -eq 0 ] && grep -Eq '^tquel [0-9]+\.[0-9]+\.[0-9]+$' out
ok "--version" $?
run --fromat csv </dev/null
ends 1 'error TQ-0001: there is no option --fromat' "unknown option"
ends 1 'hint: did you mean --format?' "... with a suggestion"
for arguments in "--format xml" "--format" "--timeline lunar" "a.db b.db" "-x" "-c" "--readonly" \
  "--readonly=yes x.db" "--batch-rows 0" "--batch-rows 1025" "--batch-rows x" "-" "-f - -f -" "--as dot"; do
  # shellcheck disable=SC2086 # several words are meant
  run $arguments </dev/null
  ends 1 'error TQ-0001: ' "refused: $arguments"
done
run '' </dev/null
ends 1 'error TQ-0001: ' "refused: an empty name"
run --batch-rows 1024 -q --format count -c 'create event E (k = i4) range of e is E retrieve (e.k)' </dev/null
ok "as many rows in a batch as there can be" "$status"
[ -z "$(find . -name '*.db')" ]
ok "wrong usage creates no database" $?
for command in check solve eval; do
  run "$command" x </dev/null
  ends 1 "error TQ-095[0-6]: tquel $command is not executed yet" "$command answers with a number"
  run "$command" --help </dev/null
  [ "$status" -eq 0 ] && grep -q "^Usage: tquel $command" out
  ok "$command --help" $?
done
for command in serve feed collect; do
  run "$command" --help </dev/null
  [ "$status" -eq 0 ] && grep -q "^Usage: tquel $command" out
  ok "$command --help" $?
  [ "$command" != collect ] || continue
  run "$command" </dev/null
  ends 1 'error TQ-0001: .* is missing' "$command without its argument"
done
run --connect socket </dev/null
ends 3 'error TQ-0842' "--connect to nobody"
run --connect socket x.db </dev/null
ends 1 'error TQ-0001: x.db is too much' "--connect needs no database"
run chek </dev/null
ends 1 'did you mean tquel check' "a slip of a subcommand is no new database"
run ./check -c 'create event E ()' </dev/null
[ "$status" -eq 0 ] && [ -s check ]
ok "a database called like a subcommand" $?

# --- help ---
run help </dev/null
[ "$status" -eq 0 ] && grep -q '^Usage' out
ok "help" $?
run help TQ-0101 </dev/null
[ "$status" -eq 0 ] && grep -q '^TQ-0101 unknown-relation' out && grep -q example out
ok "help TQ-0101" $?
cp out first
run help 101 </dev/null
cmp -s out first
ok "help 101 is the same" $?
run help TQ-9999 </dev/null
ends 1 'there is no message TQ-9999' "help on no message"
ends 1 'hint: tquel help messages' "... with a hint"
run help messages </dev/null
[ "$status" -eq 0 ] && grep -q '^TQ-0001 usage' out && sort -c out
ok "help messages" $?

# --- statements ---
run -c 'create event Seen (x = i4)' -c ' \d Seen ' -c '\dn' -c '\ds' </dev/null
[ "$status" -eq 0 ] && grep -q '^event .*Seen' out && grep -q 'no nodes' out && grep -q 'no sensors' out
ok "-c takes what looks: \\d, \\dn, \\ds" $?
run -c '\d lost' </dev/null
[ "$status" -eq 0 ] && grep -q '^period .*Lost (relation = text' out
ok "-c \\d of a relation of the system that nothing is in" $?
run -c '\d Nowhere' </dev/null
[ "$status" -eq 2 ] && grep -q 'TQ-0101' err
ok "-c \\d of nothing" $?
run -c '\q' -c 'create event Seen (x = i4)' </dev/null
[ "$status" -eq 1 ] && grep -q 'no command .q outside' err
ok "-c takes no other command of the interactive shell" $?

run --timeline abstract t.db -c 'create event E (x = i4)' \
  -c 'append to E (x = 1) at 10 append to E (x = 2) at 20' \
  -c 'range of e is E retrieve (e.x)' </dev/null
printed "at_lo,at_hi,definite,x${newline}10,10,true,1${newline}20,20,true,2"
ok "-c in order, one session, csv when not a terminal" $?
echo 'range of e is E' >range.tq
echo 'retrieve (e.x) where e.x = 2' >two.tq
run t.db -f range.tq -c 'retrieve (e.x) where e.x = 1' -ftwo.tq </dev/null
printed "at_lo,at_hi,definite,x${newline}10,10,true,1${newline}${newline}at_lo,at_hi,definite,x${newline}20,20,true,2"
ok "-c and -f in order; a blank line between results" $?
run --timeline abstract -v n=2 -v 'host=web"1\" or true -- ' -v 'r=odd `name`' -c 'create event `$r` (x = i4, s = text)' \
  -c 'append to `$r` (x = $n, s = $host) at 1' -c 'append to `$r` (x = -$n, s = "$host") at $n' \
  -c 'range of o is `$r` retrieve (o.x, o.s) where o.s = $host /* $z */ or o.x - $n = -4 -- $z' </dev/null
printed "at_lo,at_hi,definite,x,s${newline}1,1,true,2,\"web\"\"1\\\"\" or true -- \"${newline}2,2,true,-2,\$host"
ok "-v: constants and names, whatever is in them" $?
run -v b=true -v d='3 s' -v t=2026-11-24 -c '\set q  a * b ' -c '\set m -3' -c '\set q2 "two"' -c '\set' </dev/null
printed "b = true${newline}d = 3 s${newline}m = -3${newline}q = a * b${newline}q2 = two${newline}t = 2026-11-24"
ok "\set" $?
run --timeline abstract -v n=2 -c 'create event E (x = i4)
append to E (x = $n) at 1 append to E (x = $m) at 2' -c 'print E' </dev/null
[ "$status" -eq 2 ] && grep -q '^<command 1>:2:44: error TQ-0355: there is no variable \$m$' err && ! grep -q TQ-0355.*E out
ok "a variable without a value: nothing runs" $?
cat >demoquery <<'END'
{define; examplequery $1 $2; \
range of A is Iteration \
range of B is Iteration \
retrieve AOverB (Diff = B.IterNum - A.IterNum) \
where A.Process = $1 and B.Process = $2 \
        and B.IterNum > A.IterNum + 1 \
range of AB is AOverB \
retrieve Over (Percent = AvgC(AB) * 100) \
retrieve Catch (A.IterNum) \
where A.Process = $1 and B.Process = $2 \
        and A.IterNum = B.IterNum \
when A.start ; B.start \
at B.start \
}
create traced Iteration (Process = text, IterNum = i4) by Process
append to Iteration (Process = "p", IterNum = 1) at 1 append to Iteration (Process = "q", IterNum = 3) at 4
append to Iteration (Process = "p", IterNum = 3) at 9
END
run --timeline abstract -f demoquery -c 'retrieve (n = "examplequery", examplequery) at 1' </dev/null
[ "$status" -eq 2 ] && grep -q '^<command 1>:1:31: error TQ-0356: arguments are missing of the macro examplequery' err
ok "a macro's name is one wherever it stands" $?
run --timeline abstract -f demoquery -c 'examplequery "p" "q" -- examplequery
print Over' -c 'examplequery  "q"  "p" print Catch' </dev/null
[ "$status" -eq 2 ] && grep -q '^<command 2>, macros replaced:4:10: error TQ-0104: AOverB exists already' err &&
  printed "start_lo,start_hi,stop_lo,stop_hi,definite,Percent_n0,Percent_n1,Percent_d0,Percent_d1${newline}0,0,4,4,true,0,0,1,0${newline}4,4,9,9,true,100,0,1,0${newline}9,9,forever,forever,true,500,0,5,1" 2
ok "a macro with two arguments, as printed in figure E-7" $?
run --timeline abstract -c '{define; b; retrieve (x = $1)} { DEFINE ; B $1; retrieve (x = $1, y = "$1", `$1` = a.b.$n) } {define; ten; 10}' \
  -c '{define; c $1 $2; range of e is E retrieve (e.ten, $2 = $1$2)}' -c 'create event E (`ten` = i4) append to E (ten) at 1' </dev/null
[ "$status" -eq 2 ] && grep -q '^<command 3>, macros replaced:1:' err
ok "the latest definition counts; a name is replaced where it is no domain's" $?
run --timeline abstract -c '{define; pair $1 $2; retrieve (x = $1, y = "$1", z = $2 + $1)
} {define;both;pair (1 + 1) -1}
retrieve (k = 1) both
' -c '{define; both; range of p is Both retrieve (p.x)}' -c 'create event `Both` (x = i4) append to `Both` (x = 7) at 1' \
  -c 'both' -c 'pair 3 retrieve (n = 1)' </dev/null
printed "start_lo,start_hi,stop_lo,stop_hi,definite,k${newline}0,0,forever,forever,true,1${newline}${newline}start_lo,start_hi,stop_lo,stop_hi,definite,x,y,z${newline}0,0,forever,forever,true,2,\$1,1${newline}${newline}at_lo,at_hi,definite,x${newline}1,1,true,7" 2 &&
  grep -q '^<command 5>, macros replaced:1:34: error TQ-0201: "retrieve" where an expression was expected' err
ok "macros in macros, and none in itself" $?
run --timeline abstract -c '{define; pair $1 $2; retrieve (x = $1, y = "$1", z = $2)
} pair (1 + 1) -1 pair "a b" 2' </dev/null
printed "start_lo,start_hi,stop_lo,stop_hi,definite,x,y,z${newline}0,0,forever,forever,true,2,\$1,-1${newline}${newline}start_lo,start_hi,stop_lo,stop_hi,definite,x,y,z${newline}0,0,forever,forever,true,a b,\$1,2"
ok "arguments: up to a blank, but in strings and between parentheses" $?
{
  printf '{define; m0; 1111111111} '
  for i in 1 2 3 4 5 6 7; do printf '{define; m%s; ' $i && yes "m$((i - 1))" | head -n 12 && printf '} '; done
  echo m7
} >much.tq
run -f much.tq </dev/null
ends 2 'error TQ-0356: macros would make more than 16 MiB of it' "macros that make much of little"
awk 'BEGIN { for (i = 0; i < 100; i++) printf "{define; n%d $1; n%d $1,$1} ", i, i + 1; print "n0 x" }' >much.tq
run -f much.tq </dev/null
ends 2 'error TQ-0356: macros would make more than 16 MiB of it' "arguments that double"
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "{define; n%d; n%d}\n", i, i + 1; print "n0" }' >much.tq
run -f much.tq </dev/null
ends 2 "error TQ-0356: macros are used in each other's bodies 200 deep" "macros in macros without end"
run -v 1=2 </dev/null
[ "$status" -eq 1 ] && grep -q '^tquel: error TQ-0001: 1=2 gives no variable a value' err
ok "-v without a name" $?
run -c 'range of e is E' t.db -f two.tq --format=ndjson </dev/null
[ "$status" -eq 0 ] && grep -q '"x": *2' out
ok "options after the database; --format=NAME" $?
run --format count t.db -f range.tq -c 'retrieve (e.x)' </dev/null
printed 2
ok "--format count" $?
cat range.tq two.tq >script.tq
run t.db <script.tq
printed "at_lo,at_hi,definite,x${newline}20,20,true,2"
ok "a script on standard input" $?
run t.db -f - <script.tq
printed "at_lo,at_hi,definite,x${newline}20,20,true,2"
ok "-f -" $?
run t.db </dev/null
printed ''
ok "an empty script" $?
run -c 'create event Here (x = i4)' -c 'print Here' </dev/null
[ "$status" -eq 0 ] && ls >files && ! grep -q Here files
ok "without a database: in memory" $?

# --- errors ---
run t.db -c 'range of e is E' -c 'retrieve (e.x) print Nothing print E' -c 'print E' </dev/null
ends 2 '^<command 2>:1:22: error TQ-0101: ' "unknown relation: position and number"
[ "$(grep -c '^at_lo' out)" -eq 1 ]
ok "... after the statements before it, and none after it" $?
sed -n 2p err | grep -q 'print Nothing' && sed -n 3p err | grep -q '^ *^^*$'
ok "... with source line and caret" $?
printf 'range of e is E\nretrieve (e.y)\n' >bad.tq
run t.db -f bad.tq </dev/null
ends 2 '^bad.tq:2:13: error TQ-0103: ' "error in a file"
run t.db <bad.tq
ends 2 '^<stdin>:2:13: error TQ-0103: ' "error on standard input"
run t.db -c 'retrieve (e.x' </dev/null
ends 2 'error TQ-0201: ' "syntax error"
run t.db -f missing.tq </dev/null
ends 3 'error TQ-0650: .*missing.tq' "missing script"
run nowhere/t.db -c 'print E' </dev/null
ends 3 'error TQ-0601: ' "no directory for the database"
echo 'this is a text and no database, whatever its name says; it is long enough' >text.db
run text.db -c 'print E' </dev/null
ends 3 'error TQ-0604: ' "not a database"
run --readonly missing.db -c 'print E' </dev/null
ends 3 'error TQ-0602: ' "--readonly: missing database"
run --timeline real t.db -c 'print E' </dev/null
ends 3 'error TQ-0609: ' "the other timeline"
run --readonly t.db -c 'append to E (x = 3) at 30' </dev/null
ends 3 'error TQ-0616: ' "--readonly: no writing"
run --readonly t.db -c 'range of e is E retrieve (e.x)' --format count </dev/null
printed 2
ok "--readonly: reading" $?
printf 'at,x\n1,2\n1,zwei\n' >bad.csv
run t.db -c 'copy E from "bad.csv"' </dev/null
ends 3 'bad.csv:3' "a malformed line of data: file and line"
run t.db --format count -c 'print E' </dev/null
printed 2
ok "... and nothing of it is kept" $?

# --- transactions ---
run t.db --single-transaction -c 'create event F (x = i4) append to F (x = 1) at 1 print G' </dev/null
ends 2 'TQ-0101' "--single-transaction: error"
run t.db -c 'print F' </dev/null
ends 2 'TQ-0101' "... leaves nothing"
run t.db -c 'create event F (x = i4) append to F (x = 1) at 1 print G' </dev/null
ends 2 'TQ-0101' "without it: error"
run t.db --format count -c 'print F' </dev/null
printed 1
ok "... leaves the statements before" $?

# --- output ---
run t.db --timing -c 'range of e is E' -c 'retrieve (e.x)' </dev/null
form='^timing: [a-z]* [^ ]* total_us=[0-9]* load_us=[0-9]* network_us=[0-9]* output_us=[0-9]* rows_in=[0-9]* rows_out=[0-9]*$'
[ "$status" -eq 0 ] && [ "$(grep -c "$form" err)" -eq 2 ] && [ "$(wc -l <err)" -eq 2 ] &&
  grep -q '^timing: retrieve .* rows_out=2$' err
ok "--timing" $?
run t.db -c 'range of e is E retrieve (e.x)' </dev/null
[ ! -s err ]
ok "nothing on standard error otherwise" $?
if [ -w /dev/full ]; then
  "$tquel" t.db -c 'print E' >/dev/full 2>err </dev/null
  status=$?
  ends 3 'error TQ-0651: ' "standard output is full"
  for arguments in --help --version help 'help messages' 'serve --help' 'explain --help'; do
    "$tquel" $arguments >/dev/full 2>err </dev/null
    status=$?
    ends 3 'error TQ-0651: ' "standard output is full: $arguments"
  done
fi
"$tquel" t.db -c 'print E' >&- 2>err </dev/null
status=$?
ends 3 'error TQ-0651: ' "standard output is closed"
run t.db --format count -c 'print E' </dev/null
printed 2
ok "... and the database is whole" $?
awk 'BEGIN { print "at,x"; for (i = 0; i < 200000; i++) print i "," i }' >many.csv
{
  "$tquel" --timeline abstract -c 'create event M (x = i4) copy M from "many.csv" print M' 2>err </dev/null
  echo $? >code
} | sed 1q >out
status=$(cat code)
[ "$status" -eq 0 ] && [ ! -s err ] && [ "$(cat out)" = "at_lo,at_hi,definite,x" ]
ok "a reader that goes away is no error" $?

# --- explain ---
cat >explain.tq <<'END'
range of a is E range of b is E
retrieve into Later (y = b.x) where b.x > a.x when a ; b at b
END
run explain t.db explain.tq </dev/null
[ "$status" -eq 0 ] && grep -q 'initial network' out && grep -q 'final network' out
ok "explain" $?
run explain t.db explain.tq --as dot </dev/null
[ "$status" -eq 0 ] && grep -q '^digraph' out
ok "explain --as dot" $?
run explain --as=json t.db explain.tq </dev/null
[ "$status" -eq 0 ] && grep -q '"nodes"' out
ok "explain --as=json" $?
run t.db -c 'print Later' </dev/null
ends 2 TQ-0101 "explain defines nothing"
"$tquel" kept.db -c 'create event K (x = i4) modify K to keep 2 hours' >out 2>err
echo 'range of k is K retrieve (k.x)' >kept.tq
for as in text dot json; do
  run explain --as=$as kept.db kept.tq </dev/null
  [ "$status" -eq 0 ] && grep -q 'K: k.x; kept: 2 h' out
  ok "explain --as=$as shows how long tuples are kept" $?
done
echo 'range of k is K retrieve D (k.x) modify K to keep 5 hours' >kept.tq
run explain kept.db kept.tq </dev/null
[ "$status" -eq 0 ] && grep -q 'K: k.x' out
ok "explain of a script that keeps what its own queries read" $?
run kept.db -c 'modify K to keep forever explain range of k is K retrieve (k.x)' </dev/null
! grep -q 'kept:' out
ok "... as long as they are" $?
printf 'at,x\n1,1\n5,2\n' >fed.csv
run --timeline abstract fed.db -c 'create event E (x = i4) range of a is E retrieve D (a.x)' \
  -c 'copy E from "-" following' <fed.csv
echo 'range of e is E retrieve F (y = e.x)' >fed.tq
run explain --as json fed.db fed.tq </dev/null
[ "$status" -eq 0 ] && grep -q '"shared": {"relation": "D", "number": 1}' out
ok "explain: what the database has already" $?
run explain missing.db explain.tq </dev/null
ends 3 TQ-0602 "explain: missing database"
[ ! -e missing.db ]
ok "... is not created" $?
echo 'create event New (x = i4)' >create.tq
run explain t.db create.tq </dev/null
run t.db -c 'print New' </dev/null
ends 2 TQ-0101 "explain creates nothing"
cat >made.tq <<'END'
create event M (x = i4)
range of m is M
retrieve into Big (m.x) where m.x > 3
range of b is Big
retrieve into Bigger (b.x) where b.x > 5
display Bigger
END
run made.db -f made.tq </dev/null
run explain made.tq </dev/null
mv out alone
run explain made.db made.tq </dev/null
[ "$status" -eq 0 ] && cmp -s out alone
ok "explain of the script that made the database" $?
echo 'set unbounded allowed' | cat - made.tq >other.tq
run explain made.db other.tq </dev/null
[ "$status" -eq 0 ] && cmp -s out alone
ok "explain of definitions that differ in what they are allowed" $?
sed 's/> 5/> 6/' made.tq >other.tq
run explain made.db other.tq </dev/null
ends 2 TQ-0104 "explain of another definition"
sed 's/x = i4/x = i8/' made.tq >other.tq
run explain made.db other.tq </dev/null
ends 2 TQ-0104 "explain of another relation"
cat made.tq made.tq >other.tq
run explain made.db other.tq </dev/null
ends 2 TQ-0104 "explain of what is made twice"
sed '/^create/d' made.tq | cat - made.tq | sed '/^create/d' >other.tq
run explain made.db other.tq </dev/null
ends 2 TQ-0104 "explain of what is defined twice"
run explain </dev/null
ends 1 TQ-0001 "explain without a file"

numbers() { # of the errors, each once
  sed -n 's/.*: error \(TQ-[0-9]*\): .*/\1/p' err | sort -u
}
# agree NUMBER STATEMENTS: the script runs, or (NUMBER is that of the error) does not, and explain says so.
# $before: what both begin with; $beside: the database that is given beside the script.
agree() {
  echo "$before $2" >agree.tq
  rm -f agree.db
  [ -z "$beside" ] || cp "$beside" agree.db
  run --timeline abstract agree.db -f agree.tq </dev/null
  ran=$status:$(numbers)
  run explain --timeline abstract ${beside:+"$beside"} agree.tq </dev/null
  explained=$status:$(numbers)
  [ -n "$1" ] && code=2 || code=0
  [ "$ran $explained" = "$code:$1 $code:$1" ]
  ok "explain${beside:+ beside a database}: ${1:-runs}: $(echo $2)" $?
}
cat >base.tq <<'END'
create event E (x = i4) create S (y = i4)
range of e is E
retrieve D (e.x)
define view V (e.x)
END
run --timeline abstract base.db -f base.tq </dev/null
beside= before=
defined=$(cat base.tq)
agree '' 'range of l is Late retrieve (l.reason) range of o is Lost retrieve (o.count) display Late, Rejected'
agree '' 'range of c is SensorCost set compensate on retrieve (c.Cost) help Lost'
agree '' 'create event E (x = i4) destroy E create event E (y = i8) range of e is E retrieve (e.y)'
for beside in '' base.db; do
  [ -n "$beside" ] && before='range of e is E' || before=$defined
  agree '' "destroy D retrieve D (z = e.x) display D"
  agree '' "destroy V define view V (z = e.x) range of v is V retrieve (v.z)"
  agree '' "destroy E, D, V create period E (z = i4) range of e is E retrieve (e.z) display E"
  agree '' "explain retrieve K (e.x) retrieve K (e.x) display K"
  agree '' "explain retrieve K (e.x) explain analyze retrieve K (y = e.x) retrieve K (z = e.x)"
  agree TQ-0101 "explain retrieve K (e.x) range of k is K"
  agree TQ-0101 "explain analyze retrieve K (e.x) print K"
  agree TQ-0101 "destroy D range of d is D"
  agree TQ-0102 "range of d is D destroy D retrieve (d.x)"
  agree TQ-0101 "destroy D destroy D"
  agree TQ-0108 "destroy E"
  agree TQ-0108 "destroy D, E"
  agree TQ-0108 "range of d is D retrieve F (d.x) destroy D"
  agree '' "index on E is I (x) modify E to hash on x destroy I index on E is I (x) display E, D"
  agree TQ-0101 "index on E is I (x) destroy I destroy I"
  agree TQ-0101 "index on D is I (x) destroy D destroy I"
  agree '' "append to E (x = 1) at 3 append to S (y = 1) delete e where e.x = 1 print E, S, D, V help E
    replace e (x = e.x + 1) copy E into \"e.csv\" save S until forever checkpoint 9 for E
    define integrity on e is e.x > 0 destroy integrity E 1 destroy S display E"
  for refused in 'append to N (x = 1)' 'print N' 'print E, N' 'help N' 'save N until forever' 'destroy N' \
    'copy N from "n.csv"' 'copy N into "n.csv"' 'checkpoint 1 for N' 'index on N is I (x)' \
    'modify N to heap' 'define permit retrieve on N to all' 'destroy permit N all'; do
    agree TQ-0101 "$refused"
  done
  agree TQ-0102 "delete n"
  agree TQ-0102 "replace n (x = 1)"
  agree TQ-0102 "define integrity on n is n.x > 0"
  agree TQ-0103 "append to E (z = 1) at 3"
  agree TQ-0322 "append to D (x = 1) at 3"
done
beside= before=
printf '%s\n' 'create event E (x = i4) destroy E' "$defined" 'index on E is I (x)' >made.tq
rm -f made.db
run --timeline abstract made.db -f made.tq </dev/null
run explain made.db made.tq </dev/null
[ "$status" -eq 0 ] && run made.db -c 'destroy I print D' </dev/null
ok "explain of the script that made the database, and a relation twice" "$status"

# --- feeds ---
cat >feed.tq <<'END'
create event Live (x = i4)
copy Live from "-" following
range of l is Live
retrieve into Big (l.x) where l.x > 1
display Big
END
printf 'at,x\n1,1\n2,2\n3,3\n' >live.csv
run --timeline abstract live.db -f feed.tq <live.csv
[ "$status" -eq 0 ] && [ "$(grep -c '^Big,' out)" -eq 2 ]
ok "the feed runs to its end after the script" $?
run live.db --format count -c 'print Live' -c 'print Big' </dev/null
printed "3${newline}2"
ok "... and what it brought is there" $?
cat >ticks.tq <<'END'
create event Live (x = i4)
range of l is Live range of c is Clock(5 ms)
retrieve Ticks (n = count(l)) at c
copy Live from "-" following
display Ticks
END
run live4.db -f ticks.tq <<'END'
at,x
1000000,1
6000000,2
12000000,3
END
[ "$(grep -c '^Ticks,' out)" -eq 3 ]
ok "what a clock brings when its origin is found is displayed" $?
run --timeline abstract live2.db <feed.tq
ends 2 TQ-0711 "a script on standard input cannot follow it"
mkfifo pipe
"$tquel" --timeline abstract live3.db -f feed.tq >out 2>err <pipe &
pid=$!
exec 3>pipe
cat live.csv >&3
for _ in $(seq 600); do
  grep -q '^Big,.*,2$' out && break
  sleep 0.2
done
grep -q '^Big,.*,2$' out
ok "a display prints while the feed goes on" $?
kill -TERM "$pid"
wait "$pid"
status=$?
exec 3>&-
[ "$status" -eq 143 ]
ok "SIGTERM ends the process as the signal does" $?
run live3.db --format count -c 'print Big' </dev/null
printed 1
ok "... and what was displayed is kept" $?

echo "1..$count"
[ "$failures" -eq 0 ]
