#!/usr/bin/env bash
# The examples of README.md are run, and must print what the README says. In a ```console block a line
# that begins with "$ " is a command, "> " continues it, the others are its output. Files that a block
# shows with cat are made from what it shows. Prints TAP.   readme_test.sh TQUEL README
set -u
tquel=$(realpath "$1") readme=$(realpath "$2")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" && ln -s "$tquel" "$work/bin/tquel"
PATH=$work/bin:$PATH
export TZ=UTC
cd "$work" || exit 1

command="" expected="" count=0
finish() {
  [ -n "$command" ] || return 0
  count=$((count + 1))
  case $command in
    "cat "*) printf '%s' "$expected" >"${command#cat }" ;;
  esac
  # Trailing blanks are invisible in a README and are not compared.
  actual=$(eval "$command" 2>&1 | sed 's/[[:space:]]*$//')
  wanted=$(printf '%s' "$expected" | sed 's/[[:space:]]*$//')
  if [ "$actual" = "$wanted" ]; then
    echo "ok $count - ${command%%$'\n'*}"
  else
    echo "not ok $count - ${command%%$'\n'*}"
    diff <(echo "$wanted") <(echo "$actual") | sed 's/^/# /'
  fi
  command="" expected=""
}

inside=no
while IFS= read -r line; do
  case $inside:$line in
    no:'```console') inside=yes ;;
    yes:'```') finish; inside=no ;;
    yes:'$ '*) finish; command=${line#'$ '} ;;
    yes:'> '*) command+=$'\n'${line#'> '} ;;
    yes:*) expected+=$line$'\n' ;;
  esac
done <"$readme"
[ "$count" -gt 5 ] || echo "not ok $((count + 1)) - the README has too few examples"
echo "1..$count"
