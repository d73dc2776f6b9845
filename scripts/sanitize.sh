#!/usr/bin/env bash
# sanitize.sh: the tests that run in one process and use VA or libav objects, under the address, leak and thread
# sanitizers.
set -euo pipefail
cd "$(dirname "$0")/.."
# Of FaultTests those in one process: libva frees with the C library's own what a static vaenc allocates with a sanitizer's.
filter=${FILTER:-VAAPITests|EncodeSessionTests|ReferenceDisplayTests|VaencTests|SoftwareEncodeTests|MediaFilesTests|FaultTests[.](FaultSweep|Survival|FaultPlan)}
# The driver is loaded as users load it: release, without instrumentation of its own.
swift build -c release --product vaenc_drv_video
swift build -c release --product vaenc_fault_drv_video
export VAENC_DRIVER_DIR=$PWD/.build/release
# libva keeps drivers loaded for good (RTLD_NODELETE), and Swift's runtime keeps its metadata caches.
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/scripts/leaks.txt:print_suppressions=0}
for sanitizer in address thread; do
    echo "== $sanitizer"
    swift test --sanitize "$sanitizer" --scratch-path ".build-$sanitizer" --filter "$filter"
done
