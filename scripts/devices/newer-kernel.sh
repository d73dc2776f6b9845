#!/usr/bin/env bash
# newer-kernel.sh SHARED FOLDER: makes a copy of SHARED/tools/devvm in FOLDER whose virtual machine has Debian 13's
# kernel, for what Debian 12's kernel lacks (udmabuf). Prints the command that runs it. Needs root for the first run. The
# package's file is kept in FOLDER.
set -eu
shared=$(cd "${1:?usage: newer-kernel.sh SHARED FOLDER}" && pwd -P)
mkdir -p "$2"
folder=$(cd "$2" && pwd -P)
exec 9>"$folder/lock"
flock 9
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/cache"
# apt with its own lists, so that the system's stay those of its release.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
    awk '$2 !~ /-(updates|security|backports)/ && !seen++ { print $1 }')
[ -n "$mirror" ] || { echo "newer-kernel: apt has no Debian archive" >&2; exit 69; }
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$folder/apt/sources.list"
cat >"$folder/apt/apt.conf" <<END
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
Dir::Etc::sourcelist "$folder/apt/sources.list";
Dir::Etc::sourceparts "-";
END
: >"$folder/apt/status"
cp "$shared/tools/devvm/run" "$shared/tools/devvm/init" "$folder/"
# Two of the five modules that the tool looks for are built into this kernel.
sed -i 's|virtio_pci.virtio_console.9pnet_virtio.9p.overlay.\(.*\)= 5 \]|9pnet_virtio\|9p\|overlay)\1= 3 ]|' "$folder/run"
grep -q '= 3 \]' "$folder/run" || { echo "newer-kernel: SHARED/tools/devvm/run has changed" >&2; exit 69; }
run() { APT_CONFIG=$folder/apt/apt.conf XDG_CACHE_HOME=$folder/cache "$folder/run" "$@" 9>&-; }
if [ ! -e "$folder/cache/ready" ]; then
    APT_CONFIG=$folder/apt/apt.conf apt-get -q update >"$folder/log" 2>&1 || { tail -n 5 "$folder/log" >&2; exit 69; }
    run --setup >>"$folder/log" 2>&1 || { tail -n 5 "$folder/log" >&2; exit 69; }
    touch "$folder/cache/ready"
fi
printf 'env APT_CONFIG=%s XDG_CACHE_HOME=%s %s\n' "$folder/apt/apt.conf" "$folder/cache" "$folder/run"
