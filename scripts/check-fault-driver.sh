#!/usr/bin/env bash
# check-fault-driver.sh FOLDER: checks that the fault driver in FOLDER loads, wraps the reference driver in FOLDER, and
# fails as VAENC_FAULT requests.
set -euo pipefail
export LIBVA_DRIVERS_PATH=$1 LIBVA_DRIVER_NAME=libvaenc_fault VAENC_FAULT_DRIVER=libvaenc XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-/tmp}
info() { xvfb-run -a vainfo --display x11 2>&1; }
sound=$(info) || { echo "the fault driver in $1 does not load: $sound" >&2; exit 1; }
grep -q 'vaenc reference driver' <<<"$sound" || { echo "it does not wrap the reference driver: $sound" >&2; exit 1; }
grep -q 'VAProfileH264High.*VAEntrypointEncSlice' <<<"$sound" || { echo "no encoder: $sound" >&2; exit 1; }
if VAENC_FAULT='vaQueryConfigProfiles@1=status:1' info >/dev/null; then
    echo "the fault driver in $1 does not fail as requested" >&2
    exit 1
fi
echo "the fault driver in $1 loads, wraps and fails as requested"
