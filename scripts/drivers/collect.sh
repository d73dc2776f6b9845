#!/usr/bin/env bash
# collect.sh OUT VAENC FAKEGPU GPU...: on each faked GPU, asks the vendor's driver through vainfo and `VAENC probe`, and
# encodes with VAENC twice, plainly and under libva's call trace. What comes out lies in OUT/GPU for judge.py.
# It runs in the system whose drivers are meant, which needs vainfo and gcc and nothing else.
set -u
out=$1 vaenc=$2 fakegpu=$3
shift 3
node=/dev/dri/renderD128
for gpu in "$@"; do
    at=$out/$gpu
    rm -rf "$at"
    mkdir -p "$at"
    # Runs a command on the faked GPU; its output, errors and status go to NAME.out, NAME.err, NAME.status.
    on_gpu() {
        local name=$1
        shift
        FAKE_I915_LOG="$at/$name.i915" FAKE_I915_LEVEL=1 FAKEAMD_DUMP="$at/$name.amd" \
            timeout 120 "$fakegpu/run" "$gpu" "$@" >"$at/$name.out" 2>"$at/$name.err" </dev/null
        echo $? >"$at/$name.status"
    }
    # The plan that judge.py knows: 100 frames, a key frame every 30, P frames between, one reference.
    encode=(encode testsrc:640x368@30:100 --device $node --codec h264 --profile high --entropy cabac --qp 27 --qp-i 24
        --gop 30 --bframes 0 --refs 1 --slices 1 --json --overwrite)
    on_gpu vainfo vainfo -a --display drm --device $node
    on_gpu probe "$vaenc" probe --device $node --json
    on_gpu verify "$vaenc" probe --device $node --verify --json
    on_gpu encode "$vaenc" "${encode[@]}" -o "$at/encode.h264"
    on_gpu trace env LIBVA_TRACE="$at/trace" "$vaenc" "${encode[@]}" -o "$at/trace.h264"
    # Each mode that the driver advertises, by entry point; `modes` lists what was run.
    "$(dirname "$0")/modes.py" "$at/probe.out" >"$at/modes"
    while read -r name options; do
        # A quality level is a hint: where a driver refuses pictures with it, vaenc goes on without.
        case $name in *-slow | *-fast) strict= ;; *) strict=--strict ;; esac
        mkdir -p "$at/mode-$name"
        # shellcheck disable=SC2086
        on_gpu "mode-$name/run" env LIBVA_TRACE="$at/mode-$name/trace" "$vaenc" encode testsrc:640x368@30:100 \
            --device $node --codec h264 --gop 30 --json --overwrite $strict $options \
            -o "$at/mode-$name/run.h264"
    done <"$at/modes"
done
