#!/usr/bin/env bash
# test-drivers.sh SHARED: tests vaenc with H.264 and HEVC on the real Intel and AMD drivers, over the faked kernels of
# SHARED/tools/fakegpu. It uses the drivers of this Debian and of Debian 13 (SHARED/tools/newer-debian), and builds the
# project in both. It prints a line for each GPU and check. The exit status is 1 if a check fails. It needs root.
#   VAENC_BUILD     the folder of a built vaenc (default: makes a release build)
#   VAENC_NEWER     0: without Debian 13; drivers: without the project's own tests on Debian 13; all: all of these tests
#                   (default: only tests that depend on the versions of FFmpeg, libva or other programs)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
shared=$(cd "${1:?usage: test-drivers.sh SHARED}" && pwd -P)
cd "$top"
"$here/install-packages.sh" drivers
work=$top/.build/drivers
mkdir -p "$work"
older="intel-tgl intel-adl intel-icl intel-kbl amd-navi21 amd-vangogh amd-navi10 amd-renoir amd-raven"
newer="intel-tgl intel-adl intel-icl intel-kbl intel-dg2 intel-mtl
    amd-navi21 amd-vangogh amd-navi10 amd-renoir amd-raven amd-rembrandt amd-navi31 amd-phoenix"

# The flags are the Makefile's, so the objects of `make test` are reused.
flags="--explicit-target-dependency-import-check error -Xswiftc -enable-testing"
build=${VAENC_BUILD-}
if [ -z "$build" ]; then
    # shellcheck disable=SC2086
    swift build -c release $flags --product vaenc >&2
    build=$(swift build -c release --show-bin-path)
fi
code=$(. /etc/os-release && echo "debian${VERSION_ID%%.*}")
status=0
"$here/drivers/collect.sh" "$work/$code" "$build/vaenc" "$shared/tools/fakegpu" $older
python3 "$here/drivers/judge.py" "$code" "$work/$code" $older || status=1
[ "${VAENC_NEWER-1}" != 0 ] || exit $status

# The root of Debian 13 is kept for the next run.
tools=${VAENC_DEBIAN13:-$top/.build/debian13}
goal="--product vaenc" packages=build
if [ "${VAENC_NEWER-1}" != drivers ]; then goal=--build-tests packages=test; fi
"$here/debian13-root.sh" "$shared" "$tools" $packages || exit
inside() { BIND="$shared" "$tools/enter-root" "$tools/root" "$@"; }
started=$SECONDS
# shellcheck disable=SC2086
inside swift build -c release $flags $goal --scratch-path .build-debian13 >"$work/build-debian13.log" 2>&1 || {
    echo "debian13  the project does not build:" >&2
    grep -m 10 -E 'error' "$work/build-debian13.log" >&2 || tail -n 10 "$work/build-debian13.log" >&2
    exit 1
}
printf '%-9s %-14s %-11s ok     %s\n' debian13 - build "with Debian 13's FFmpeg and libva, in $((SECONDS - started)) s"
binaries=$(inside swift build -c release --show-bin-path --scratch-path .build-debian13)
inside "$here/drivers/collect.sh" "$work/debian13" "$binaries/vaenc" "$shared/tools/fakegpu" $newer
python3 "$here/drivers/judge.py" debian13 "$work/debian13" $newer || status=1

# These tests do not depend on the versions of FFmpeg and libva, and already run on this system.
same="BitstreamInspection|EncodePlanning|EncodeSession|Fault|H264Syntax|HEVCSyntax|NALUnits|RateControl|ReferenceDriver|Stream|VideoBase"
skip="--skip ^(${same})Tests\\."
[ "${VAENC_NEWER-1}" != all ] || skip=
if [ "$goal" = --build-tests ]; then
    started=$SECONDS
    # shellcheck disable=SC2086
    if inside env -u VAENC_BUILD swift test -c release $flags --skip-build $skip --scratch-path .build-debian13 >"$work/test-debian13.log" 2>&1; then
        verdict="ok    "
    else
        verdict=FAILED status=1
        grep -E ' recorded an issue | failed after ' "$work/test-debian13.log" | cut -c1-300 | head -n 20 >&2
    fi
    printf '%-9s %-14s %-11s %s %s, in %d s\n' debian13 - tests "$verdict" \
        "$(grep -oE 'Test run with [0-9]+ tests.*(passed|failed)' "$work/test-debian13.log" | tail -n 1)" $((SECONDS - started))
fi
exit $status
