#!/usr/bin/env bash
# collect.sh OUT VAENC FAKEGPU GPU...: on each faked GPU, queries the vendor's driver through vainfo and `VAENC probe`,
# and encodes with VAENC. It encodes with the codec that vaenc chooses, with a fixed plan for each codec, and in each
# mode that the driver advertises. Most encodes run under libva's call trace. The results are in OUT/GPU, for judge.py.
# It runs in the system with the drivers under test, which needs only vainfo and gcc. One GPU is tested on each
# processor.
set -u
out=$1 vaenc=$2 fakegpu=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
node=/dev/dri/renderD128
mkdir -p "$out"
# Makes sparse files of 100 raw 10-bit frames of each size, whose samples are all zero.
for size in 640x368 1366x768; do
    truncate -s $((${size%x*} * ${size#*x} * 3 * 100)) "$out/$size.p010"
done
gcc -shared -fPIC -O2 -o "$out/udmabuf.so" "$here/../../Tests/FakeUDMABuffer/udmabuf.c" -ldl || exit
tenbit() { echo "$out/$1.p010 --input-size $1 --input-format p010 --fps 30"; }

collect() {
    local gpu=$1
    local at=$out/$gpu
    rm -rf "$at"
    mkdir -p "$at"
    # Runs a command on the faked GPU, and writes its output, errors and status to NAME.out, NAME.err and NAME.status.
    on_gpu() {
        local name=$1
        shift
        FAKE_I915_LOG="$at/$name.i915" FAKE_I915_LEVEL=1 FAKEAMD_DUMP="$at/$name.amd" \
            timeout 120 "$fakegpu/run" "$gpu" "$@" >"$at/$name.out" 2>"$at/$name.err" </dev/null
        echo $? >"$at/$name.status"
    }
    on_gpu vainfo vainfo -a --display drm --device $node
    on_gpu probe "$vaenc" probe --device $node --json
    on_gpu verify "$vaenc" probe --device $node --verify --json
    # From here on, no process tries the driver beforehand, so traces and counts contain only the encode.
    export VAENC_DRIVER_TRIALS=0
    # Encodes without a requested codec: 8 bits, 10 bits, and a size below the minimum for HEVC.
    local small=96x96
    case $gpu in amd-*) small=128x128 ;; esac
    local input
    for input in "8 testsrc:640x368@30:10" "10 $(tenbit 640x368) --frames 10" "small testsrc:$small@30:10"; do
        # shellcheck disable=SC2086
        on_gpu "choice-${input%% *}" "$vaenc" encode ${input#* } --device $node --json --overwrite --format mp4 \
            -o "$at/choice-${input%% *}.mp4"
    done
    # Draws pictures in DMA-BUFs of a simulated udmabuf device. Its library precedes the one that fakes the GPU.
    # shellcheck disable=SC2016
    FAKE_UDMABUF=works VAENC_INPUT_MEMORY=udmabuf on_gpu udmabuf sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$out/udmabuf.so" \
        "$vaenc" encode testsrc:640x368@30:100 --device $node --codec h264 --qp 27 --json --overwrite -o "$at/udmabuf.h264"
    # Uses the kind of memory that vaenc chooses for inputs, without the pictures that it encodes to try it.
    export VAENC_INPUT_MEMORY=direct
    # Encodes the plan that judge.py expects: 100 frames, a key frame every 30 frames, P frames between, one reference.
    local plan=(--qp 27 --qp-i 24 --gop 30 --bframes 0 --refs 1 --slices 1)
    local encode=(encode testsrc:640x368@30:100 --device $node --codec h264 --profile high --entropy cabac "${plan[@]}"
        --json --overwrite)
    on_gpu encode "$vaenc" "${encode[@]}" -o "$at/encode.h264"
    on_gpu trace env LIBVA_TRACE="$at/trace" "$vaenc" "${encode[@]}" -o "$at/trace.h264"
    # Encodes HEVC's plan and each mode that the driver advertises, for each entry point. The file `modes` lists them.
    "$here/modes.py" "$at/probe.out" >"$at/modes"
    local name size options strict suffix
    while read -r name size options; do
        # A quality level is a hint. If a driver rejects pictures with it, vaenc continues without it. A plan has a
        # separate QP for I pictures, which some drivers do not support.
        case $name in *-slow | *-fast | *-plan) strict= ;; *) strict=--strict ;; esac
        input=testsrc:$size@30:100
        case $name in hevc10-*) input=$(tenbit "$size") ;; esac
        case $name in h264-*) suffix=h264 ;; *) suffix=h265 ;; esac
        mkdir -p "$at/mode-$name"
        # shellcheck disable=SC2086
        on_gpu "mode-$name/run" env LIBVA_TRACE="$at/mode-$name/trace" "$vaenc" encode $input \
            --device $node --gop 30 --json --overwrite $strict $options -o "$at/mode-$name/run.$suffix"
    done <"$at/modes"
}

for gpu in "$@"; do
    collect "$gpu" &
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
done
wait
rm -f "$out"/*.p010
