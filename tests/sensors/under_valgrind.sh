#!/bin/sh
# The watched program, slowly and under valgrind: WATCHED names it.
exec valgrind -q --error-exitcode=99 "$WATCHED" "$@"
