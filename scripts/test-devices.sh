#!/usr/bin/env bash
# test-devices.sh SHARED [PART…]: tests vaenc on the kernel's devices, in the virtual machine of SHARED/tools/devvm. It
# prints a line for each check. The exit status is 1 if a check fails, and another one if a machine cannot be made. It needs root for the machine's first start. PART is
# one of these (default: all):
#   cameras   the cameras of vivid and the sound card of snd-aloop; ffprobe and ffmpeg check the recordings outside the
#             machine
#   udmabuf   pictures in DMA-BUFs of the udmabuf device; Debian 12's kernel has none, so the machine has Debian 13's
# Environment:
#   VAENC_BUILD          the folder of a built vaenc and its reference driver (default: makes a release build)
#   VAENC_NEWER_KERNEL   the folder in which the machine with Debian 13's kernel is kept (default: in .build)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
shared=$(cd "${1:?usage: test-devices.sh SHARED [PART…]}" && pwd -P)
shift
parts=${*:-cameras udmabuf}
for part in $parts; do
    case $part in
    cameras | udmabuf) ;;
    *)
        echo "test-devices.sh: unknown part $part; the parts are cameras and udmabuf" >&2
        exit 64
        ;;
    esac
done
has() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }
cd "$top"
"$here/install-packages.sh" devices
build=${VAENC_BUILD-}
if [ -z "$build" ]; then
    # The flags are the Makefile's, so the objects of `make test` are reused.
    for product in vaenc vaenc_drv_video; do
        swift build -c release --explicit-target-dependency-import-check error -Xswiftc -enable-testing --product $product >&2
    done
    build=$(swift build -c release --show-bin-path)
fi
work=$top/.build/devices
status=0

# Runs the machine by the command MACHINE… and the script SCRIPT in it, which writes to $work/PART.
in_machine() { # PART SCRIPT MACHINE…
    local at=$work/$1 script=$2
    shift 2
    rm -rf "$at"
    mkdir -p "$at"
    "$@" --timeout 420 --rw "$at" "$here/devices/$script" "$build/vaenc" "$at" >"$at/log" 2>&1 && return
    echo "devices: $script failed in the virtual machine:" >&2
    tail -n 20 "$at/log" >&2
    status=1
    return 1
}

if has cameras && in_machine cameras record.sh "$shared/tools/devvm/run"; then
    python3 "$here/devices/judge.py" "$work/cameras" || status=1
fi
if has udmabuf; then
    # The machine is kept for the next run.
    machine=$("$here/devices/newer-kernel.sh" "$shared" "${VAENC_NEWER_KERNEL:-$top/.build/newer-kernel}")
    # shellcheck disable=SC2086
    if in_machine udmabuf udmabuf.sh $machine; then python3 "$here/devices/judge-udmabuf.py" "$work/udmabuf" || status=1; fi
fi
exit $status
