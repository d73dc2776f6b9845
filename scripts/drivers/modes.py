#!/usr/bin/env python3
"""modes.py PROBE.json: the ways of encoding H.264 that `vaenc probe --json` advertises, a line each: a name, and the
options of vaenc that ask for it."""
import json, sys

RATES = {
    "cqp": "--qp 27 --qp-i 27",
    "cbr": "--bitrate 1M",
    "vbr": "--bitrate 1M --max-bitrate 1500k",
    "icq": "--quality 27",
    "qvbr": "--bitrate 1M --max-bitrate 1500k --quality 27",
    "avbr": "--bitrate 1M",
}

devices = json.load(open(sys.argv[1]))["devices"]
device = next(d for d in devices if d.get("path") == "/dev/dri/renderD128")
for entry in device["capabilities"]:
    if (entry["codec"], entry["profile"]) != ("h264", "High") or not entry["entrypoint"].startswith("EncSlice"):
        continue
    low = entry["entrypoint"] == "EncSliceLP"
    point = f"{'lp' if low else 'slice'}"
    common = f"--profile high --low-power {'on' if low else 'off'}"
    for mode in entry["rateControl"]:
        print(f"{point}-{mode} {common} --rate-control {mode} {RATES[mode]} --bframes 0 --refs 1")
    if entry["bFrames"]:
        print(f"{point}-b {common} --rate-control cqp {RATES['cqp']} --bframes 2 --refs 1")
