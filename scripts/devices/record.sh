#!/usr/bin/env bash
# record.sh VAENC FOLDER: runs inside the virtual machine and makes the recordings that judge.py checks. Each recording
# writes NAME.status (the exit status), NAME.json (the report) and NAME.errors. Pictures are small, because the machine
# is about ten times slower than its host.
set -u
vaenc=$1
cd "$2" || exit 1
record() {
    local name=$1
    shift
    timeout 90 "$vaenc" "$@" --json >"$name.json" 2>"$name.errors"
    echo $? >"$name.status"
}
fast="--device software --preset 7 --codec h264"
hdmi="--capture-input 3 --capture-size 160x120"

record probe probe --capture --device software
# vivid supports arbitrary sizes only on its HDMI input.
for format in yuyv nv12 i420; do
    # shellcheck disable=SC2086
    record "$format" capture /dev/video0 -o "$format.mp4" $hdmi --input-format $format --frames 60 $fast
done
# The encoder's driver reads the camera's DMA-BUFs without a copy.
# shellcheck disable=SC2086
VAENC_REFERENCE_COUNTS=$PWD/shared.counts record shared capture /dev/video0 -o shared.h264 $hdmi --input-format nv12 --frames 20 \
    --device reference --codec h264 --qp 20 --preset 7
# shellcheck disable=SC2086
record webcam capture /dev/video0 --capture-input 0 -o webcam.h264 --capture-size 320x180 --fps 10 --frames 20 $fast
# shellcheck disable=SC2086
record switched capture /dev/video0 -o switched.mkv $hdmi --input-format nv12 --switch-to /dev/video1@2 --duration 4 $fast
record photo capture /dev/video0 -o photo.jpg --capture-input 0 --capture-size 320x180

# Plays a tone to one end of the loopback card, and records it from the other end.
ffmpeg -v error -re -f lavfi -i sine=frequency=1000:sample_rate=48000 -t 20 -ac 1 -f alsa hw:Loopback,0,0 &
player=$!
sleep 1
# shellcheck disable=SC2086
record sound capture /dev/video0 -o sound.mp4 $hdmi --input-format nv12 --duration 5 --audio-device hw:Loopback,1,0 $fast
kill $player 2>/dev/null
wait $player 2>/dev/null

# The camera is disconnected during the recording. From then on every call fails with ENODEV.
# shellcheck disable=SC2086
record unplugged capture /dev/video0 -o unplugged.mp4 $hdmi --input-format nv12 $fast --progress json &
recorder=$!
until grep -qE '"frames":[1-9][0-9]' unplugged.errors; do kill -0 $recorder || break; sleep 0.2; done
v4l2-ctl -d /dev/video0 -c disconnect=1
wait $recorder
exit 0
