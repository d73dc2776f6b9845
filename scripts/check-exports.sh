#!/usr/bin/env bash
# check-exports.sh DRIVER.so: checks that the driver exports libva's entry point and nothing else. A program that loads
# the driver may have functions with the names of other symbols, for example those of another build of vaenc.
set -euo pipefail
symbols=$(nm -D --defined-only --extern-only "$1")
grep -q ' T __vaDriverInit_1_0$' <<<"$symbols" || { echo "$1 does not export __vaDriverInit_1_0" >&2; exit 1; }
others=$(grep -v ' __vaDriverInit_1_0$' <<<"$symbols" || true)
if [ -n "$others" ]; then
    echo "$1 exports $(wc -l <<<"$others") symbols besides __vaDriverInit_1_0 (Sources/Drivers/exports.map), such as:" >&2
    head -n 5 <<<"$others" >&2
    exit 1
fi
