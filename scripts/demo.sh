#!/usr/bin/env bash
# demo.sh BUILD_DIR: shows in half a minute what vaenc does on this machine.
set -euo pipefail
vaenc=$1/vaenc
clip=.build/fixtures/bikes.mp4
out=.build/demo
rm -rf "$out"
mkdir -p "$out"
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1. The devices of this machine: vaenc probe"
"$vaenc" probe

# Uses the first GPU that encodes. Without one, it uses VA-API through the reference driver.
device=reference
for node in /dev/dri/renderD*; do
    [ -e "$node" ] || continue
    if "$vaenc" encode testsrc:640x480@30:2 -o "$out/try.h264" --overwrite --device "$node" 2>/dev/null; then
        device=$node
        break
    fi
done
rm -f "$out/try.h264"

say "2. A real clip through VA-API ($device): vaenc encode $clip -o $out/bikes.mp4 -o $out/bikes.h264"
echo "The MP4 is HEVC if the device supports it. The .h264 file is H.264. Each frame is read once."
"$vaenc" encode "$clip" -o "$out/bikes.mp4" -o "$out/bikes.h264" --device "$device" --qp 24 --gop-seconds 2

say "3. How other programs read the results: ffmpeg, ffprobe"
for file in bikes.mp4 bikes.h264; do
    ffmpeg -v error -xerror -i "$out/$file" -f null -
    # Raw streams have no times, so both inputs get times from the frame number.
    ffmpeg -v error -i "$out/$file" -i "$clip" \
        -lavfi '[0:v]settb=1/25,setpts=N[a];[1:v]settb=1/25,setpts=N[b];[a][b]psnr=stats_file='"$out/psnr.txt" -f null -
    stream=$(ffprobe -v error -show_entries stream=codec_name,profile,width,height -of csv=p=0 "$out/$file")
    awk -v file="$file" -v stream="$stream" -v bytes="$(stat -c %s "$out/$file")" '
        { for (i = 1; i <= NF; i++) if ($i ~ /^psnr_y:/) { v = substr($i, 8); if (v == "inf") v = 99; s += v; n++; if (!m || v < m) m = v } }
        END { printf "%-11s %-18s %4d frames, %7d bytes, luma PSNR mean %.2f dB, lowest %.2f dB\n", file, stream, n, bytes, s / n, m }' "$out/psnr.txt"
done
echo "FFmpeg decodes both files without a message."
rm "$out/psnr.txt"
ffmpeg -v error -y -i "$out/bikes.mp4" -frames:v 1 -vf 'select=eq(n\,100)' "$out/frame-100.png"
ls -l "$out"
say "Play it: ffplay $out/bikes.mp4    View a frame: $out/frame-100.png"
