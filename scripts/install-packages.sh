#!/usr/bin/env bash
# install-packages.sh [--list] [library|build|test|demo|clients|drivers|devices]...: installs the missing Debian
# packages (12 or newer) of these groups. `library` is what a package needs that uses the library. The default group is
# `build`. If no package is missing, it does nothing. Otherwise it needs root or sudo. `--list` prints the packages and
# installs none.
set -eu

packages() {
    case $1 in
    library) echo gcc libc6-dev git ca-certificates pkg-config libva-dev libdrm-dev \
        libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libavdevice-dev libavfilter-dev \
        libswresample-dev libv4l-dev ;;
    build) packages library; echo libsdl2-dev ;;
    test) packages build
        echo ffmpeg libopenh264-dev libde265-dev vainfo xvfb xauth python3 python3-pip \
            gstreamer1.0-tools gstreamer1.0-vaapi gstreamer1.0-plugins-base gstreamer1.0-plugins-good \
            gstreamer1.0-plugins-bad gstreamer1.0-libav v4l-utils alsa-utils ;;
    demo) packages build; echo ffmpeg python3 python3-pip ;;
    clients) packages build; echo g++ binutils libgtest-dev ffmpeg ;;
    drivers) packages build; echo vainfo ffmpeg python3 debootstrap intel-media-va-driver mesa-va-drivers ;;
    devices) packages build; echo ffmpeg python3 v4l-utils alsa-utils ;;
    *) echo "install-packages: no such group: $1 (library, build, test, demo, clients, drivers, devices)" >&2; exit 64 ;;
    esac
}

list=
[ "${1-}" = --list ] && { list=1; shift; }
[ $# -gt 0 ] || set -- build
wanted=$(for group in "$@"; do packages "$group"; done | tr ' ' '\n' | sort -u)
[ -z "$list" ] || { echo "$wanted"; exit 0; }

command -v dpkg-query >/dev/null || {
    echo "install-packages: this is not Debian; install the equivalents of: $(echo $wanted)" >&2
    exit 69
}
# A package may be provided by another one (pkg-config by pkgconf), so the names that packages provide count as
# installed.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n${db:Status-Status} ${Provides}\n' 2>/dev/null |
    sed -n 's/^installed //p' | sed 's/([^)]*)//g' | tr ', ' '\n\n' | sort -u)
missing=$(comm -23 <(echo "$wanted") <(echo "$installed"))
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
        echo "install-packages: run as root: apt-get install $(echo $missing)" >&2
        exit 77
    }
    as_root=sudo
fi
echo "installing: $(echo $missing)" >&2
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@" >&2 </dev/null; }
apt update
# shellcheck disable=SC2086
apt install -y --no-install-recommends $missing || {
    echo "install-packages: apt-get could not install: $(echo $missing)" >&2
    exit 69
}
