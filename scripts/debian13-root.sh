#!/usr/bin/env bash
# debian13-root.sh SHARED FOLDER build|test: makes a Debian 13 root in FOLDER with SHARED/tools/newer-debian, and
# installs the packages that the project's build or tests need there. It keeps an existing root. If the script already
# runs for FOLDER, it waits for the other run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
shared=$(cd "$1" && pwd -P)
mkdir -p "$2"
tools=$(cd "$2" && pwd)
exec 9>"$tools/lock"
flock 9
fail() {
    echo "debian13  $1:" >&2
    tail -n 5 "$2" >&2
    exit 69
}
# The tool writes files beside itself, so it is copied into FOLDER.
cp "$shared"/tools/newer-debian/* "$tools/"
"$tools/make-root.sh" >"$tools/make-root.log" 2>&1 9>&- || fail "the root could not be made" "$tools/make-root.log"
cd "$(dirname "$here")"
BIND="$shared" "$tools/enter-root" "$tools/root" "$here/install-packages.sh" "${3:?build or test}" >"$tools/packages.log" 2>&1 9>&- ||
    fail "the packages could not be installed" "$tools/packages.log"
