#!/usr/bin/env bash
# run-tests.sh COMMAND…: runs the tests; where they fail, says at the end which, as thousands of lines lie between.
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" != 0 ]; then
    echo "failed:"
    grep -aE ' recorded an issue | (error|Fatal error): |✘ Test [^r]|[Cc]rash' "$log" | cut -c1-1000 | tail -n 12
fi
exit "$status"
