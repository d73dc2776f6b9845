#!/usr/bin/env bash
# test-clients.sh BUILD: runs programs of libva-utils on the reference driver in the folder BUILD, in its default mode.
# test_va_api must pass. avcenc and hevcencode must make streams that ffmpeg decodes to pictures like their input. It
# fetches the source package of this Debian release. LIBVA_UTILS=FOLDER uses the source tree in FOLDER instead.
set -euo pipefail
build=$(cd "${1:?usage: test-clients.sh BUILD}" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
work=$build/clients
mkdir -p "$work"

# Uses the system's package sources for source packages, and a separate folder for apt's files, so that no root is
# needed.
fetch() {
    local apt=$work/apt
    rm -rf "$apt" "$work/source"
    mkdir -p "$apt/parts" "$apt/state/lists/partial" "$apt/cache/archives/partial" "$work/source"
    [ ! -s /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$apt/parts/system.list"
    for file in /etc/apt/sources.list.d/*.sources; do
        [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/${file##*/}"
    done
    for file in /etc/apt/sources.list.d/*.list; do
        [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"$apt/parts/${file##*/}"
    done
    local options=(-q -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State=$apt/state"
        -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$apt/cache")
    (cd "$work/source" && apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only libva-utils) \
        >"$work/fetch.log" 2>&1 || {
        tail -n 5 "$work/fetch.log" >&2
        echo "test-clients: the source package libva-utils cannot be fetched: name a source tree by LIBVA_UTILS=FOLDER" >&2
        exit 69
    }
    tar xf "$work"/source/libva-utils_*.orig.tar.* -C "$work/source"
    version=$(sed -n 's/^Version: //p' "$work"/source/*.dsc)
    source=$(find "$work/source" -mindepth 1 -maxdepth 1 -type d)
}

version=
source=${LIBVA_UTILS-}
[ -n "$source" ] || fetch
[ -n "$version" ] || version=$(sed -n "s/.*version *: *'\([0-9.]*\)'.*/\1/p" "$source/meson.build" | head -n 1)

# Debian's source package does not contain the copy of Google Test.
if [ -e "$source/test/gtest/src/gtest-all.cc" ]; then
    gtest=(-std=c++11 -I"$source/test/gtest" -I"$source/test/gtest/include" "$source/test/gtest/src/gtest-all.cc")
else
    echo 'namespace testing { using std::get; }' >"$work/get.h"
    gtest=(-std=c++14 -include tuple -include "$work/get.h" -lgtest)
fi
g++ -w -O1 -DPTHREADS $(pkg-config --cflags libdrm) -o "$work/test_va_api" "$source"/test/*.cpp "${gtest[@]}" -lva -lva-drm -ldrm -lpthread
for program in avcenc hevcencode; do
    cc -w -O1 -DHAVE_VA_DRM=1 $(pkg-config --cflags libdrm) -I"$source/common" -o "$work/$program" "$source/encode/$program.c" \
        "$source/common/va_display.c" "$source/common/va_display_drm.c" -lva -lva-drm -ldrm -lpthread -lm
done
cc -O2 -shared -fPIC -o "$work/node.so" "$root/Tests/FakeNode/node.c" -ldl

on_driver() {
    env -u VAENC_REFERENCE_STRICT LD_PRELOAD="$work/node.so" LIBVA_DRIVERS_PATH="$build" LIBVA_DRIVER_NAME=libvaenc \
        LIBVA_MESSAGING_LEVEL=0 "$@"
}

status=0
on_driver "$work/test_va_api" >"$work/test_va_api.log" 2>"$work/test_va_api.errors" || status=1
total=$(sed -n 's/^\[==========\] \([0-9]*\) tests.* ran\..*/\1/p' "$work/test_va_api.log")
passed=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\..*/\1/p' "$work/test_va_api.log")
skipped=$(grep -c '^\[ SKIPPED \]' "$work/test_va_api.log" || true)
echo "libva-utils $version: test_va_api: $total cases, $passed passed, $skipped of them skipped an unsupported feature"
[ -n "$total" ] && [ "$total" = "$passed" ] || status=1
[ $status = 0 ] || grep '^\[  FAILED  \]' "$work/test_va_api.log" | tail -n 12 >&2

ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=176x144:r=25 -frames:v 12 -pix_fmt yuv420p -f rawvideo "$work/in.yuv"
encode() { # NAME FORMAT PROGRAM OPTIONS…: runs the program, which writes NAME, and checks the stream
    local name=$1 format=$2 mean
    shift 2
    rm -f "$work/$name"
    if ! on_driver "$@" >"$work/$name.log" 2>&1; then
        echo "$name: ${1##*/} fails: $(grep -a 'vaenc\|fail' "$work/$name.log" | tail -n 3)" >&2
        status=1
        return
    fi
    ffmpeg -nostdin -v error -y -xerror -err_detect explode -f "$format" -i "$work/$name" -fps_mode passthrough \
        -pix_fmt yuv420p -f rawvideo "$work/out.yuv" 2>"$work/$name.ffmpeg" || status=1
    mean=$(ffmpeg -nostdin -v info -f rawvideo -s 176x144 -i "$work/out.yuv" -f rawvideo -s 176x144 -i "$work/in.yuv" \
        -lavfi psnr -f null - 2>&1 | sed -n 's/.* y:\([0-9.inf]*\) .* min:.*/\1/p') || true
    local frames=$(($(stat -c %s "$work/out.yuv") / (176 * 144 * 3 / 2)))
    echo "$name: $frames pictures, luma ${mean:-no} dB"
    [ "$frames" = 12 ] && awk -v mean="${mean:-0}" 'BEGIN { exit !(mean == "inf" || mean > 30) }' || status=1
}
encode avcenc-qp.264 h264 "$work/avcenc" 176 144 "$work/in.yuv" "$work/avcenc-qp.264" --qp=24
encode avcenc-ip.264 h264 "$work/avcenc" 176 144 "$work/in.yuv" "$work/avcenc-ip.264" --qp=24 --mode=1
encode avcenc-rate.264 h264 "$work/avcenc" 176 144 "$work/in.yuv" "$work/avcenc-rate.264" --fb=900
for profile in 1 2; do
    encode "hevcencode-$profile.265" hevc "$work/hevcencode" -w 176 -h 144 -n 12 --srcyuv "$work/in.yuv" --fourcc IYUV \
        -o "$work/hevcencode-$profile.265" --profile $profile --initialqp 24
done
exit $status
