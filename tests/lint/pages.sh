#!/bin/sh
# The pages that lead through the house name files and folders: those must be there. Prints TAP.
set -u
root=${1:-.}
cd "$root" || exit 1

# What stands in backticks and looks like a path from the top.
named() {
  grep -oE '`[a-z]+(/[A-Za-z0-9_.-]+)+/?`' "$@" | sed 's/.*`\(.*\)`/\1/' | sort -u
}

missing() {
  while read -r path; do
    [ -e "$path" ] || echo "$path is not there"
  done
}

echo "1..2"
list=$(named -h CONTRIBUTING.md)
lost=$(echo "$list" | missing)
if [ "$(echo "$list" | wc -l)" -gt 40 ] && [ -z "$lost" ]; then echo "ok 1 - CONTRIBUTING.md names what there is"; else
  echo "not ok 1 - CONTRIBUTING.md names what there is"; echo "$lost" | sed 's/^/# /'; fi
if [ "$(echo engine/network.d | missing)" ]; then echo "ok 2 - what is not there is found"; else
  echo "not ok 2 - what is not there is found"; fi
