#!/usr/bin/env bash
# check-exports.sh DRIVER.so: the driver must export libva's entry point and no Swift runtime.
set -euo pipefail
symbols=$(nm -D --defined-only "$1")
grep -q ' T __vaDriverInit_1_0$' <<<"$symbols" || { echo "$1 does not export __vaDriverInit_1_0" >&2; exit 1; }
if grep -E ' [TDBV] swift_(retain|release|allocObject)$' <<<"$symbols"; then
    echo "$1 exports the Swift runtime: it would clash with the program that loads it" >&2
    exit 1
fi
