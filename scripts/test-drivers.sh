#!/usr/bin/env bash
# test-drivers.sh SHARED [PART…]: tests vaenc with H.264 and HEVC on the real Intel and AMD drivers, over the faked kernels
# of SHARED/tools/fakegpu, and tests the project with Debian 13's libraries (SHARED/tools/newer-debian). It prints a line
# for each GPU and check. The exit status is 1 if a check fails. It needs root. PART is one of these (default: all):
#   drivers           this system's drivers
#   drivers-debian13  Debian 13's drivers, with a vaenc that is built on Debian 13
#   tests-debian13    the tests of `make test` and the part `times`, built and run on Debian 13
#   build-debian13    only the build of vaenc on Debian 13, which drivers-debian13 then uses
# Environment: VAENC_BUILD is the folder of a vaenc that is built for this system (default: makes a release build).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
shared=$(cd "${1:?usage: test-drivers.sh SHARED [PART…]}" && pwd -P)
shift
parts=${*:-drivers drivers-debian13 tests-debian13}
for part in $parts; do
    case $part in
    drivers | drivers-debian13 | tests-debian13 | build-debian13) ;;
    *)
        echo "test-drivers.sh: unknown part $part; the parts are drivers, drivers-debian13, tests-debian13 and build-debian13" >&2
        exit 64
        ;;
    esac
done
has() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }
cd "$top"
"$here/install-packages.sh" drivers
work=$top/.build/drivers
mkdir -p "$work"
older="intel-tgl intel-adl intel-icl intel-kbl amd-navi21 amd-vangogh amd-navi10 amd-renoir amd-raven"
newer="intel-tgl intel-adl intel-icl intel-kbl intel-dg2 intel-mtl
    amd-navi21 amd-vangogh amd-navi10 amd-renoir amd-raven amd-rembrandt amd-navi31 amd-phoenix"

# The flags are the Makefile's, so the objects of `make test` are reused.
flags="--explicit-target-dependency-import-check error -Xswiftc -enable-testing"
status=0

if has drivers; then
    build=${VAENC_BUILD-}
    if [ -z "$build" ]; then
        # shellcheck disable=SC2086
        swift build -c release $flags --product vaenc >&2
        build=$(swift build -c release --show-bin-path)
    fi
    code=$(. /etc/os-release && echo "debian${VERSION_ID%%.*}")
    "$here/drivers/collect.sh" "$work/$code" "$build/vaenc" "$shared/tools/fakegpu" $older
    python3 "$here/drivers/judge.py" "$code" "$work/$code" $older || status=1
fi
has drivers-debian13 || has tests-debian13 || has build-debian13 || exit $status

# The root of Debian 13 is kept for the next run.
tools=${VAENC_DEBIAN13:-$top/.build/debian13}
goal="--product vaenc" packages=build scratch=.build-debian13
if has tests-debian13; then
    goal=--build-tests packages=test
else
    # Without optimization the build takes less time, and the drivers do the work of the checks.
    flags="$flags -Xswiftc -Onone" scratch=.build-debian13-quick
fi
"$here/debian13-root.sh" "$shared" "$tools" $packages || exit
inside() { BIND="$shared" "$tools/enter-root" "$tools/root" "$@"; }
started=$SECONDS
# shellcheck disable=SC2086
inside swift build -c release $flags $goal --scratch-path $scratch >"$work/build-debian13.log" 2>&1 || {
    echo "debian13  the project does not build:" >&2
    grep -m 10 -E 'error' "$work/build-debian13.log" >&2 || tail -n 10 "$work/build-debian13.log" >&2
    exit 1
}
printf '%-9s %-14s %-11s ok     %s\n' debian13 - build "with Debian 13's FFmpeg and libva, in $((SECONDS - started)) s"
binaries=$(inside swift build -c release --show-bin-path --scratch-path $scratch)

if has drivers-debian13; then
    inside "$here/drivers/collect.sh" "$work/debian13" "$binaries/vaenc" "$shared/tools/fakegpu" $newer
    python3 "$here/drivers/judge.py" debian13 "$work/debian13" $newer || status=1
fi

if has tests-debian13; then
    started=$SECONDS
    if inside env -u VAENC_BUILD "$here/run-tests.py" "$binaries" daily times >"$work/test-debian13.log" 2>&1; then
        verdict="ok    "
    else
        verdict=FAILED status=1
        grep -E ' recorded an issue | failed after |^FAILED|^failed' "$work/test-debian13.log" | cut -c1-300 | head -n 40 >&2
    fi
    printf '%-9s %-14s %-11s %s %s, in %d s\n' debian13 - tests "$verdict" "$(tail -n 1 "$work/test-debian13.log")" $((SECONDS - started))
fi
exit $status
