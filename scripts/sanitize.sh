#!/usr/bin/env bash
# sanitize.sh: the suites that make and free VA objects, the fault sweep among them, under the address and leak
# sanitizers, then under the thread sanitizer. The command line program they run is built with the sanitizer too.
#
# FILTER names other suites, SANITIZERS=address or =thread only one of the two, LIMIT the seconds a group may take.
set -euo pipefail
cd "$(dirname "$0")/.."
# Each group is a process of its own, so that a stall has a name and memory is bounded.
groups=(
    'VAAPITests|ReferenceDisplayTests'
    'EncodeSessionTests'
    'VaencTests'
    'SoftwareEncodeTests|MediaFilesTests'
    'FaultTests[.](Survival|FaultPlan)'
    'FaultTests[.]FaultSweep'
    'FaultTests[.]FaultCommandLine|CommandLineTests'
)
[ -z "${FILTER:-}" ] || groups=("$FILTER")
# The drivers are loaded as users load them: release, without instrumentation of their own.
swift build -c release --product vaenc_drv_video
swift build -c release --product vaenc_fault_drv_video
export VAENC_DRIVER_DIR=$PWD/.build/release
# Package.swift links vaenc accordingly.
export VAENC_SANITIZER=1
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/scripts/leaks.txt:print_suppressions=0}
clang=$(dirname "$(readlink -f "$(command -v swiftc)")")/clang
failed=()
for sanitizer in ${SANITIZERS:-address thread}; do
    folder=.build-$sanitizer
    swift build --build-tests --sanitize "$sanitizer" --scratch-path "$folder"
    preload=()
    if [ "$sanitizer" = thread ]; then
        "$clang" -O2 -Wall -Wextra -Werror -fPIC -shared scripts/mutex-order.c -o "$folder/mutex-order.so"
        preload=(env "LD_PRELOAD=$PWD/$folder/mutex-order.so")
    fi
    for group in "${groups[@]}"; do
        echo "== $sanitizer: $group"
        start=$SECONDS
        timeout -k 10 "${LIMIT:-600}" "${preload[@]}" \
            swift test --skip-build --sanitize "$sanitizer" --scratch-path "$folder" --filter "$group" ||
            failed+=("$sanitizer: $group (status $?)")
        echo "== $((SECONDS - start)) s"
    done
done
if [ ${#failed[@]} -gt 0 ]; then
    printf 'sanitize: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
echo "sanitize: clean"
