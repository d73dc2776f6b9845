#!/usr/bin/env bash
# sanitize.sh: runs all suites but TestOraclesTests under the address and leak sanitizers, then under the thread
# sanitizer. The command line program that the tests run is built with the sanitizer too, and so is the reference driver's
# code that the tests link.
#
# SANITIZERS=address or SANITIZERS=thread runs only one of them. FILTER selects other suites. LIMIT is the maximum time
# of a group in seconds. VAENC_DRIVER_DIR is the folder of the drivers; no build may change them during the run.
set -euo pipefail
cd "$(dirname "$0")/.."
# Each group runs in a separate process, so that a group that hangs is named.
groups=(
    'PipelineTests|EncodeSessionTests'
    'DecodeSessionTests|ReferenceDecodeTests'
    'StreamTests'
    'ReferenceDriverTests|ReferenceDriverBackendTests'
    'VAAPITests|ReferenceDisplayTests|CaptureTests'
    'VaencTests'
    'SoftwareEncodeTests|MediaFilesTests'
    'BitstreamInspectionTests|NALUnitsTests|H264SyntaxTests|HEVCSyntaxTests|EncodePlanningTests|RateControlTests|VideoBaseTests'
    'OtherProgramsTests'
    'FaultTests'
    'CommandLineTests'
)
[ -z "${FILTER:-}" ] || groups=("$FILTER")
# The drivers are loaded as users load them: as release builds of `make build-all`, without instrumentation.
export VAENC_DRIVER_DIR=${VAENC_DRIVER_DIR:-$PWD/.build/products/release}
for driver in vaenc vaenc_fault; do ls "$VAENC_DRIVER_DIR/lib${driver}_drv_video.so" >/dev/null; done
# With this variable, Package.swift links vaenc for sanitizers.
export VAENC_SANITIZER=1
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/scripts/leaks.txt:print_suppressions=0}
clang=$(swiftc -print-target-info | sed -n 's|.*"runtimeResourcePath": "\(.*\)/lib/swift".*|\1/bin/clang|p')

# The build is optimized, because the reference driver is about fifty times slower without optimization.
how=(-c release --explicit-target-dependency-import-check error -Xswiftc -enable-testing)
failed=()
for sanitizer in ${SANITIZERS:-address thread}; do
    folder=.build-$sanitizer
    mkdir -p "$folder"
    swift build "${how[@]}" --build-tests --sanitize "$sanitizer" --scratch-path "$folder"
    preload=()
    mistake=leak
    # These tests fail under any sanitizer. They measure or limit memory, which includes the sanitizer's own. They
    # preload libraries, or end a program by a signal that the sanitizer handles. Or SDL and ALSA leak memory.
    skipped=()
    for test in AllocationFailureTests MemoryLimitTests ForeignFFmpegTests PreviewCommandTests 'MicrophoneTests[./]alsaCardIsRecorded' \
        'ProbeTests[./]aborting' abortingDriverIsReportedAsFailure tinyUnitsTake tinyPicturesTake memoryIsConstantOverALongStream; do
        skipped+=(--skip "$test")
    done
    if [ "$sanitizer" = thread ]; then
        "$clang" -O2 -Wall -Wextra -Werror -fPIC -shared scripts/mutex-order.c -o "$folder/mutex-order.so"
        preload=(env "LD_PRELOAD=$PWD/$folder/mutex-order.so")
        mistake=race
        # A limit on file sizes also limits this sanitizer's memory, which ends in SIGBUS. The other tests measure
        # memory or encode a long clip.
        for test in 'BadInputTests[./]failedWriteRemovesTheOutput' 'KillTests[./]fullDisk' 'LiveOutputTests[./]fullDisk' \
            fileSizeLimit promisedSizes memoryDoesNotGrowWithPictures 'CompareTests[./]realClips'; do
            skipped+=(--skip "$test")
        done
    fi
    swiftc -sanitize="$sanitizer" scripts/sanitizer-sample.swift -o "$folder/sanitizer-sample"
    "${preload[@]}" "$folder/sanitizer-sample" >"$folder/sample.log" 2>&1 ||
        { echo "sanitize: $sanitizer reports an error in correct code: $folder/sample.log" >&2; exit 1; }
    if "${preload[@]}" "$folder/sanitizer-sample" $mistake >"$folder/sample.log" 2>&1; then
        echo "sanitize: $sanitizer does not detect a $mistake: $folder/sample.log" >&2
        exit 1
    fi
    for group in "${groups[@]}"; do
        echo "== $sanitizer: $group"
        start=$SECONDS
        status=0
        timeout -k 10 "${LIMIT:-3600}" "${preload[@]}" \
            swift test "${how[@]}" --skip-build --sanitize "$sanitizer" --scratch-path "$folder" --filter "$group" \
            "${skipped[@]}" >"$folder/group.log" 2>&1 || status=$?
        # A run without any test is a failure.
        if [ $status = 0 ]; then grep -aE 'Test run with [1-9][0-9]* tests?.* passed' "$folder/group.log" || status=none; fi
        if [ $status != 0 ]; then
            cat "$folder/group.log"
            failed+=("$sanitizer: $group (status $status)")
        fi
        echo "== $((SECONDS - start)) s"
    done
done
if [ ${#failed[@]} -gt 0 ]; then
    printf 'sanitize: failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
echo "sanitize: clean"
