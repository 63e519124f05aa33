#!/usr/bin/env bash
# What `./dev demo` says to try next works as it is printed, on a database that the demo's questions have been asked
# of. The demo itself is not run: a database with its relations and no records does. Prints TAP.
#   demo_test.sh TQUEL SOURCE-ROOT
set -u
tquel=$(realpath "$1") root=$(realpath "$2")
script=sensors/examples/pde/demo.tq database=build/demo/demo.db
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir -p build/demo && ln -s "$tquel" build/tquel && ln -s "$root/sensors" sensors

eval "$(sed -n '/^next_steps() {/,/^}/p' "$root/dev")"
build/tquel "$database" -c 'create traced Iteration (Process = name, IterNum = i8) by Process' \
  -f "$script" >/dev/null 2>err || { cat err; echo "Bail out! $script cannot be asked"; exit 1; }

count=0
# What stands on standard input is for the shell.
while IFS=$'\t' read -r command what; do
  count=$((count + 1))
  if eval "$command" <<<'print AOverB' >out 2>err && [ -s out ] && [ ! -s err ]; then
    echo "ok $count - $command"
  else
    echo "not ok $count - $command ($what)"
    sed 's/^/# /' err
  fi
done < <(next_steps "$database" "$script")
[ "$count" -ge 3 ] || echo "not ok $((count + 1)) - the demo has too few suggestions"

# What the script says of its own network.
count=$((count + 1))
said=$(sed -n 's/.*Hence \([0-9]*\) operator nodes.*/\1/p' "$script")
if build/tquel explain "$database" "$script" | sed '/^final network/,$d' |
  grep -q ", $said operator nodes"; then
  echo "ok $count - the initial network has $said operator nodes"
else
  echo "not ok $count - the initial network has no $said operator nodes"
fi
echo "1..$count"
