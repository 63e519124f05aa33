#!/bin/sh
# Who may include whom: reads every #include line below the folders of the product and fails on an
# upward edge. The table below is the architecture; README.md tells it in words. Prints TAP.
set -u
root=${1:-.}
cd "$root" || exit 1

# folder: what it may include besides itself, in PREFIXES (of paths). A process for each line would take most of the time.
allowed() {
  case $1 in
    engine/base) prefixes="engine/base" ;;
    engine) prefixes="engine" ;;
    storage) prefixes="storage engine" ;;
    sensors) prefixes="sensors tquel/sensor.h tquel/sensor_layout.h engine/base engine/ingest.h engine/batch.h engine/layout.h engine/value.h engine/time.h engine/interval.h engine/pattern.h engine/filter.h" ;;
    netgen) prefixes="netgen engine" ;;
    tquel/lang) prefixes="tquel/lang engine/base" ;;
    tquel/format) prefixes="tquel/format engine" ;;
    tquel/infer) prefixes="tquel/infer tquel/lang sensors/feed engine" ;;
    tquel/analyse) prefixes="tquel/analyse tquel/lang netgen engine" ;;
    tquel/session) prefixes="tquel/session tquel/infer tquel/analyse tquel/lang tquel/format storage netgen sensors engine" ;;
    tquel/program) prefixes="tquel/program tquel/session/session.h tquel/lang tquel/format sensors engine" ;;
    tquel/shell) prefixes="tquel/shell tquel/program tquel/infer tquel/session tquel/analyse tquel/lang tquel/format sensors engine" ;;
    tquel/serve) prefixes="tquel/serve tquel/program tquel/session tquel/format sensors engine" ;;
    tquel) prefixes="tquel/program tquel/shell tquel/serve engine" ;;
  esac
}

# storage/ has three floors, each with a header: which one a file or header is on.
find_floor() { # of a file, in FLOOR
  case ${1#storage/} in
    state.h) floor=0 ;;
    ground.h|ahead.c|blank.c|checkpoint.c|consistent.c|feed.c|file.c|gone.c|heap.c|long.c|node_stats.c|order.c|packed.c|\
    sample.c|schema.c|source.c|sqlite.c|tuple.c|view.c) floor=1 ;;
    rows.h|bulk.c|cache.c|came.c|catalogue.c|check.c|log.c|row.c) floor=2 ;;
    *) floor=3 ;;
  esac
}

is_above() { # file, file
  find_floor "$1"
  higher=$floor
  find_floor "$2"
  [ "$higher" -gt "$floor" ]
}

# What only the writers of nodes see, and what only the builders of networks see.
private() {
  case $2 in
    engine/node_impl.h) case $1 in engine/nodes/*|engine/network.c) return 1 ;; *) return 0 ;; esac ;;
    engine/nodes/product/product.h) case $1 in engine/nodes/product/*|engine/nodes/aggregate/asked.c) return 1 ;; *) return 0 ;; esac ;;
    engine/nodes/aggregate/aggregate.h) case $1 in engine/nodes/aggregate/*) return 1 ;; *) return 0 ;; esac ;;
    storage/state.h|storage/ground.h|storage/rows.h|storage/relations.h)
      case $1 in storage/*) is_above "$2" "$1"; return ;; *) return 0 ;; esac ;;
    netgen/plan.h) case $1 in netgen/*) return 1 ;; *) return 0 ;; esac ;;
    tquel/session/session_impl.h) case $1 in tquel/session/*) return 1 ;; *) return 0 ;; esac ;;
  esac
  return 1
}

find_room() { # of a file, in ROOM
  for room in engine/base engine storage sensors netgen tquel/lang tquel/format tquel/infer tquel/analyse \
      tquel/session tquel/program tquel/shell tquel/serve tquel; do
    case $1 in "$room"/*) return ;; esac
  done
}

bad=$(mktemp) || exit 1
trap 'rm -f "$bad"' EXIT
count=0
check_edge() { # file, included
  find_room "$1"
  prefixes=
  allowed "$room"
  for prefix in $prefixes; do
    case $2 in "$prefix"|"$prefix"/*)
      if private "$1" "$2"; then echo "$1 includes $2, which is private" >>"$bad"; fi
      return ;;
    esac
  done
  echo "$1 includes $2" >>"$bad"
}

scan() { # prints "file included" for every quoted include with a folder in it
  grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' --include='*.[chyl]' "$@" 2>/dev/null |
    sed -nE 's/^([^:]*):[0-9]*:[^"]*"([^"]*)".*/\1 \2/p' | grep '/[^ ]*$'
}

list=$(scan engine storage sensors netgen tquel)
echo "1..3"
while read -r file included; do
  [ -n "$file" ] || continue
  count=$((count + 1))
  case $included in
    engine/*|storage/*|sensors/*|netgen/*|tquel/*) check_edge "$file" "$included" ;;
  esac
done <<EOF
$list
EOF
if [ "$count" -gt 50 ]; then echo "ok 1 - $count include lines read"; else
  echo "not ok 1 - only $count include lines found"; fi
if [ -s "$bad" ]; then echo "not ok 2 - no upward include"; sed 's/^/# /' "$bad"; else
  echo "ok 2 - no upward include"; fi
# The check itself must be able to fail.
: >"$bad"
check_edge engine/base/fake.c storage/storage.h
check_edge storage/fake.c tquel/lang/ast.h
check_edge tquel/fake.c engine/node_impl.h
check_edge tquel/serve/fake.c tquel/shell/shell.h
check_edge engine/nodes/fake.c engine/nodes/product/product.h
check_edge storage/sqlite.c storage/rows.h
check_edge storage/cache.c storage/relations.h
check_edge tquel/session/fake.c storage/ground.h
check_edge storage/cache.c storage/ground.h
if [ "$(wc -l <"$bad")" -eq 8 ]; then echo "ok 3 - wrong edges are found"; else
  echo "not ok 3 - wrong edges are found"; fi
