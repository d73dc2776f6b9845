#!/usr/bin/env bash
# test-devices.sh SHARED: tests vaenc on the kernel's test devices, the cameras of vivid and the sound card of
# snd-aloop, in the virtual machine of SHARED/tools/devvm. ffprobe and ffmpeg check the recordings outside the machine.
# It prints a line for each check. The exit status is 1 if a check fails. It needs root for the machine's first start.
#   VAENC_BUILD   the folder of a built vaenc and its reference driver (default: makes a release build)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
shared=$(cd "${1:?usage: test-devices.sh SHARED}" && pwd -P)
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
rm -rf "$work"
mkdir -p "$work"
if ! "$shared/tools/devvm/run" --timeout 420 --rw "$work" "$here/devices/record.sh" "$build/vaenc" "$work" >"$work/log" 2>&1; then
    echo "devices: the recordings in the virtual machine failed:" >&2
    tail -n 20 "$work/log" >&2
    exit 1
fi
python3 "$here/devices/judge.py" "$work"
