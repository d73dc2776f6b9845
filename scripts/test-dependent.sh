#!/usr/bin/env bash
# test-dependent.sh [FOLDER]: uses the library as another project does. It makes a package as README.md describes, which
# depends on a clone of this tree by URL and version, with every Swift program of the pages. It builds the package for
# debugging, runs the programs, and runs the package's tests on the reference driver.
#   FOLDER   the folder of the package, which is kept (default: a temporary folder)
#   DRIVER   the file of a built reference driver (default: makes a release build)
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
driver=${DRIVER:+$(realpath "$DRIVER")}
if [ $# -gt 0 ]; then
    mkdir -p "$1"
    folder=$(cd "$1" && pwd)
else
    folder=$(mktemp -d "${TMPDIR:-/tmp}/vaenc-dependent.XXXXXX")
    trap 'rm -rf "$folder"' EXIT
fi
package=$folder/film output=$folder/output
fail() { echo "test-dependent: $*" >&2; exit 1; }
step() { # NAME COMMAND…: runs the command and prints how long it took
    local start=$SECONDS name=$1
    shift
    "$@" >"$folder/log" 2>&1 || { tail -n 40 "$folder/log" >&2; fail "$name failed"; }
    echo "$name: $((SECONDS - start)) s"
}

# Makes a repository with this tree, including uncommitted changes, under the version's tag.
version=$(sed -n 's/^public let vaencVersion = "\(.*\)"$/\1/p' Sources/VideoBase/Version.swift)
grep -q "from: \"$version\"" README.md || fail "README.md does not name version $version"
rm -rf "$folder/vaenc"
git init -q "$folder/vaenc"
in_repository() { git --git-dir="$folder/vaenc/.git" --work-tree="$root" -c user.name=vaenc -c user.email=vaenc -c core.hooksPath=/dev/null "$@"; }
in_repository add --all
in_repository commit -q -m "$version"
in_repository tag "$version"

mkdir -p "$package" "$package/Tests/filmTests"
rm -rf "$package/Sources" "$output"
programs=$(scripts/doc-programs.py "$package" "file://$folder/vaenc")
cp Tests/Dependent/FilmTests.swift "$package/Tests/filmTests/"
echo 'package.targets.append(.testTarget(name: "filmTests", dependencies: [vaenc]))' >>"$package/Package.swift"
add_program() { # NAME FILE
    mkdir -p "$package/Sources/$1"
    cp "$root/Tests/Dependent/$2" "$package/Sources/$1/main.swift"
    echo "package.targets.append(.executableTarget(name: \"$1\", dependencies: [.product(name: \"Vaenc\", package: \"vaenc\")]))" >>"$package/Package.swift"
}
add_program blocked Blocked.swift

# README.md must list the packages that the build needs.
listed=$(sed -n '/^apt-get install/,/[^\\]$/p' README.md | sed 's/^apt-get install//; s/\\$//' | tr -s ' ' '\n' | sed '/^$/d' | sort)
[ "$listed" = "$(scripts/install-packages.sh --list library)" ] || fail "the packages in README.md differ from those of scripts/install-packages.sh"

cd "$package"
# SwiftPM caches the contents of a version. This run has its own caches, because each run has other contents. The
# repositories of other packages are copied from this build.
own=(--cache-path "$folder/cache" --security-path "$folder/security")
rm -rf Package.resolved .build/repositories .build/checkouts/vaenc .build/workspace-state.json "$folder/cache" "$folder/security"
mkdir "$folder/cache"
[ ! -d "$root/.build/repositories" ] || cp -r "$root/.build/repositories" "$folder/cache/"
step "build for debugging" swift build --build-tests "${own[@]}"
step "build of vaenc for debugging" swift build --product vaenc "${own[@]}"
# The programs below use a release build of the driver: without optimization it is about fifty times slower.
step "build of the drivers for debugging" bash -c '
    swift build --product vaenc_drv_video "$@" && swift build --product vaenc_fault_drv_video "$@" &&
    rm .build/debug/libvaenc_drv_video.so .build/debug/libvaenc_fault_drv_video.so' bash "${own[@]}"
if [ "${DRIVER-}" ]; then
    mkdir -p "$(realpath .build/debug)/../release"
    cp "$driver" "$(realpath .build/debug)/../release/libvaenc_drv_video.so"
else
    step "build of the reference driver" swift build -c release --product vaenc_drv_video "${own[@]}"
fi
unset VAENC_DRIVER_DIR
step "its tests" swift test --skip-build "${own[@]}"

# Runs README's program and those of the pages unchanged, each in a folder with the files that it reads.
mkdir -p "$output/inputs"
ffmpeg -v error -f lavfi -i testsrc2=size=192x128:rate=25:duration=2 -f lavfi -i sine=sample_rate=48000:duration=2 \
    -c:v libx264 -bf 2 -pix_fmt yuv420p -c:a aac -shortest "$output/inputs/movie.mp4"
ffmpeg -v error -i "$output/inputs/movie.mp4" -an -c copy -bsf:v h264_mp4toannexb "$output/inputs/clip.h264"
cameras=0
run() {
    local name=$1
    mkdir "$output/$name"
    cp "$output"/inputs/* "$output/$name/"
    (cd "$output/$name" && timeout 120 "$package/.build/debug/$name" >stdout 2>stderr) ||
        { cat "$output/$name/stderr" >&2; fail "the program $name failed or did not end"; }
    if [ ! -s "$output/$name/stdout" ] && [ "$(ls "$output/$name" | wc -l)" = 4 ]; then fail "the program $name wrote nothing"; fi
    rm "$output/$name"/{movie.mp4,clip.h264}
}
run_all() {
    for name in film $programs; do
        if grep -q '"/dev/video0"' "$package/Sources/$name/main.swift"; then
            cameras=$((cameras + 1)) # ProgramTests runs them with a simulated camera.
        else
            run "$name"
        fi
    done
}
start=$SECONDS
run_all
frames() { ffprobe -v error -count_packets -select_streams v -show_entries stream=nb_read_packets -of csv=p=0 "$1"; }
[ "$(frames "$output/film/film.mp4")" = 100 ] || fail "README's program did not write 100 frames"
for file in "$output"/*/*.{mp4,mov,h264,h265}; do
    [ "$(frames "$file")" -ge 50 ] || fail "${file#"$output/"} lacks frames"
    ffmpeg -v error -nostdin -i "$file" -f null - 2>&1 | (! grep .) || fail "${file#"$output/"} does not decode"
done
echo "$(echo "film $programs" | wc -w) programs, $cameras of them not run here because they need a camera: $((SECONDS - start)) s"

# If a program blocks the thread that its reader needs, it gets an error.
run blocked
grep -q "no reader has begun, and it may run on the main actor, which this call blocks" "$output/blocked/stdout" ||
    fail "blocking calls on the main thread do not report the missing reader: $(cat "$output/blocked/stdout")"

# At the top level of a main.swift, the compiler would choose the blocking calls, so they must not compile there.
add_program mistake Mistake.swift
if swift build --target mistake "${own[@]}" >"$folder/log" 2>&1; then fail "blocking calls compile at the top level of a main.swift"; fi
for call in makePixelBuffer encode completeFrames; do
    grep -q "error: instance method '$call' is unavailable from asynchronous contexts; it blocks" "$folder/log" ||
        { tail -n 40 "$folder/log" >&2; fail "the compiler does not report that $call blocks"; }
done
echo "the package builds, runs and passes its tests"
