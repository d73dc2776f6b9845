#!/usr/bin/env python3
"""judge.py FOLDER: checks with ffprobe and ffmpeg what record.sh recorded in the virtual machine."""
import json
import os
import subprocess
import sys

os.chdir(sys.argv[1])
failures = 0


def check(name, what, good, seen=""):
    global failures
    failures += not good
    print(f"{name:10} {what:44} {'ok' if good else 'FAILED':6} {seen}")


def status(name):
    return int(open(name + ".status").read())


def report(name):
    try:
        return json.load(open(name + ".json"))
    except ValueError:
        print(open(name + ".errors").read(), file=sys.stderr)
        return {}


def probe(path, entries, *more):
    text = subprocess.run(
        ["ffprobe", "-v", "error", "-show_entries", entries, "-of", "json", *more, path], capture_output=True, text=True)
    return json.loads(text.stdout or "{}") if text.returncode == 0 else {}


def times(path):
    packets = probe(path, "packet=pts_time", "-select_streams", "v").get("packets", [])
    return sorted(float(packet["pts_time"]) for packet in packets)


def plays(path):
    done = subprocess.run(["ffmpeg", "-v", "error", "-xerror", "-i", path, "-fps_mode", "passthrough", "-enc_time_base", "-1", "-f", "null", "-"], capture_output=True, text=True)
    return done.returncode == 0 and not done.stderr


def levels(path, size):
    """Returns the mean luma of each picture."""
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", path, "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-"],
        capture_output=True).stdout
    return [sum(raw[at:at + size]) / size for at in range(0, len(raw) - size + 1, size)]


cameras = {device["path"]: device for device in report("probe").get("captureDevices", [])}
for path in ["/dev/video0", "/dev/video1"]:
    device = cameras.get(path, {})
    formats = {one["inputFormat"] for one in device.get("formats", []) if not one["emulated"]}
    check("probe", path, device.get("driver") == "vivid" and device.get("usable") and {"yuyv", "nv12", "i420"} <= formats,
          f"{len(device.get('formats', []))} formats, {len(device.get('inputs', []))} inputs")

for name in ["yuyv", "nv12", "i420"]:
    capture = report(name).get("capture", {})
    shown = times(name + ".mp4")
    check(name, "60 frames, all of them play", status(name) == 0 and len(shown) == 60 and plays(name + ".mp4"))
    grows = all(a < b for a, b in zip(shown, shown[1:]))
    camera = (capture.get("cameras") or [{}])[0]
    delivered = camera.get("captured", 0) - camera.get("late", 0)
    check(name, "times grow from zero; nothing is lost uncounted", grows and shown[:1] == [0] and delivered >= 60 and camera.get("damaged") == 0,
          f"late {camera.get('late')}, by the driver {camera.get('droppedByDriver')}")
    check(name, "a drawn picture, not a blank one", len({round(level) for level in levels(name + ".mp4", 160 * 120)}) >= 1
          and camera.get("format") == name and camera.get("exportsBuffers") is True)

memory = next((one for one in report("shared").get("effective", []) if one["option"] == "captureMemory"), {})
counts = [json.loads(line) for line in open("shared.counts")] if os.path.exists("shared.counts") else []
copies = sum(sum(one["copies"].values()) + one["maps"] for one in counts)
shared = levels("shared.h264", 160 * 120)
check("shared", "20 pictures in the camera's DMA-BUFs, no copy", status("shared") == 0 and memory.get("used") == "dmabuf-import"
      and sum(one["encoded"] for one in counts) == 20 and len(shared) == 20 and (copies == 0 or "copied" in memory["why"]),
      memory.get("why", ""))
# vivid draws the same bars into each picture.
drawn = levels("nv12.mp4", 160 * 120)
check("shared", "and they are the camera's", bool(shared and drawn) and max(abs(a - drawn[0]) for a in shared) < 4)

capture = report("webcam").get("capture", {})
check("webcam", "20 frames at the rate that was asked for", status("webcam") == 0 and plays("webcam.h264")
      and capture["cameras"][0]["frameRate"] == "10/1" and capture["cameras"][0]["width"] == 320)

shown = times("switched.mkv")
gaps = [b - a for a, b in zip(shown, shown[1:])]
here = [gap for gap, at in zip(gaps, shown[1:]) if 1.8 < at < 2.3]
usual = sorted(gaps)[len(gaps) // 2] if gaps else 9
check("switched", "two cameras, one stream without a hole", status("switched") == 0 and plays("switched.mkv")
      and shown and shown[-1] > 3.5 and max(here, default=9) < max(0.25, 6 * usual), f"largest step at the switch {max(here, default=9):.3f} s")
counts = [camera["captured"] for camera in report("switched").get("capture", {}).get("cameras", [])]
check("switched", "both gave pictures", len(counts) == 2 and min(counts) > 5, f"{counts}")

streams = probe("photo.jpg", "stream=codec_name,width,height").get("streams", [])
check("photo", "a JPEG picture of the camera's size", status("photo") == 0 and streams and streams[0]["codec_name"] == "mjpeg"
      and (streams[0]["width"], streams[0]["height"]) == (320, 180))

capture = report("unplugged").get("capture", {})
shown = times("unplugged.mp4")
check("unplugged", "what was recorded stands finished", len(shown) > 5 and plays("unplugged.mp4")
      and len(shown) == report("unplugged")["frames"]["encoded"] and not os.path.exists("unplugged.mp4.part"), f"{len(shown)} frames")
check("unplugged", "and the end is reported", status("unplugged") == 75 and capture.get("ended") == "unplugged",
      open("unplugged.errors").read().strip().split("\n")[-1])

streams = {one["codec_type"]: one for one in probe("sound.mp4", "stream=codec_type,codec_name").get("streams", [])}
check("sound", "AAC beside the pictures", status("sound") == 0 and plays("sound.mp4") and streams.get("audio", {}).get("codec_name") == "aac")
shown = times("sound.mp4")
capture = report("sound").get("capture", {})
camera = (capture.get("cameras") or [{}])[0]
# Pictures that were in the queue when the recording ended, and the picture after its end, are not encoded.
delivered = camera.get("captured", 0) - camera.get("late", 0)
check("sound", "pictures go on beside it; losses are counted", len(shown) >= 50 and len(shown) <= delivered <= len(shown) + 6
      and max(b - a for a, b in zip(shown, shown[1:])) < 1, f"{len(shown)} pictures, late {camera.get('late')}, by the driver {camera.get('droppedByDriver')}")
packets = probe("sound.mp4", "packet=pts_time,duration_time", "-select_streams", "a").get("packets", [])
sound_end = max((float(one["pts_time"]) + float(one["duration_time"]) for one in packets), default=-9)
rate = [float(part) for part in camera.get("frameRate", "1/1").split("/")]
video_end = shown[-1] + rate[1] / rate[0] if shown else 9
check("sound", "both end together", abs(sound_end - video_end) < 0.04, f"{abs(sound_end - video_end) * 1000:.0f} ms apart")
sound = capture.get("sound", {})
check("sound", "a tone without holes that nobody counted", sound.get("samplesDropped") == 0 and sound.get("samples", 0) > 4 * sound.get("rate", 1e9),
      f"{sound.get('samples')} samples, {sound.get('gaps')} gaps, {sound.get('samplesFilled')} filled")

sys.exit(failures > 0)
