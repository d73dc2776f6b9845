#!/usr/bin/env bash
# udmabuf.sh VAENC FOLDER: runs inside the virtual machine as root, and encodes pictures in DMA-BUFs of the kernel's
# udmabuf device, for judge-udmabuf.py. Each encode writes NAME.stream, NAME.status, NAME.json (the report), NAME.errors and
# NAME.counts (what the driver counted). If the kernel has no such device, it writes only the file `kernel`.
set -u
vaenc=$1
cd "$2" || exit 1
uname -r >kernel
[ -c /dev/udmabuf ] || exit 0
ls -l /dev/udmabuf >device
export LIBVA_DRIVERS_PATH=${vaenc%/*} LIBVA_DRIVER_NAME=libvaenc VAENC_DRIVER_TRIALS=0
encode() {
    local name=$1 device=$2 memory=$3 codec=$4
    shift 4
    # shellcheck disable=SC2086
    VAENC_REFERENCE_COUNTS=$PWD/$name.counts VAENC_INPUT_MEMORY=$memory timeout 120 $as "$vaenc" encode "$@" --codec $codec --device $device \
        --qp 24 --json --overwrite --format annexb -o "$name.stream" >"$name.json" 2>"$name.errors"
    echo $? >"$name.status"
}
# The reference driver is on the render node of vgem too, where the memory is tried as on a GPU.
node=/dev/dri/renderD128 as=
for codec in h264 hevc; do
    encode $codec-copied reference driver $codec testsrc:322x178@25:12 --bframes 2
    encode $codec-udmabuf reference udmabuf $codec testsrc:322x178@25:12 --bframes 2
    encode $codec-node $node udmabuf $codec testsrc:322x178@25:12 --bframes 2
done
# The device belongs to root: another user may not open it.
chmod 777 .
as="setpriv --reuid 65534 --regid 65534 --clear-groups"
encode denied reference udmabuf h264 testsrc:322x178@25:2
# A picture of 1.4 MB is above the kernel's limit.
as=
echo 1 >/sys/module/udmabuf/parameters/size_limit_mb
encode large reference udmabuf h264 testsrc:1280x720@25:2
exit 0
