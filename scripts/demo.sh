#!/usr/bin/env bash
# demo.sh BUILD_DIR: what vaenc does, on this machine, in half a minute.
set -euo pipefail
vaenc=$1/vaenc
clip=.build/fixtures/bikes.mp4
out=.build/demo
rm -rf "$out"
mkdir -p "$out"
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say "1. What can encode here: vaenc probe"
"$vaenc" probe

# A GPU where there is one that works; otherwise VA-API all the same, through the reference driver.
device=reference
for node in /dev/dri/renderD*; do
    [ -e "$node" ] || continue
    if "$vaenc" encode testsrc:640x480@30:2 -o "$out/try.h264" --overwrite --device "$node" 2>/dev/null; then
        device=$node
        break
    fi
done
rm -f "$out/try.h264"

say "2. A real clip through VA-API ($device): vaenc encode $clip -o $out/bikes.mp4"
"$vaenc" encode "$clip" -o "$out/bikes.mp4" --device "$device" --qp 24
"$vaenc" encode "$clip" -o "$out/bikes.h264" --device "$device" --qp 24 --gop-seconds 2

say "3. What came out, in the eyes of other programs"
ffprobe -v error -show_entries stream=codec_name,profile,level,width,height,avg_frame_rate,nb_frames -of default=nw=1 "$out/bikes.mp4"
ffmpeg -v error -xerror -i "$out/bikes.h264" -f null - && echo "FFmpeg decodes bikes.h264 without a message"
ffmpeg -v error -i "$out/bikes.mp4" -i "$clip" -lavfi '[0:v][1:v]psnr=stats_file='"$out/psnr.txt" -f null - 2>&1
awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^psnr_y:/) { v = substr($i, 8); if (v == "inf") v = 99; s += v; n++; if (!m || v < m) m = v } }
     END { printf "luma PSNR against the clip: mean %.2f dB, lowest frame %.2f dB, %d frames\n", s / n, m, n }' "$out/psnr.txt"
ffmpeg -v error -y -i "$out/bikes.mp4" -frames:v 1 -vf 'select=eq(n\,100)' "$out/frame-100.png"
ls -l "$out"
say "Play it: ffplay $out/bikes.mp4    Look: $out/frame-100.png"
