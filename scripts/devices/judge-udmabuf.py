#!/usr/bin/env python3
"""judge-udmabuf.py FOLDER: checks what udmabuf.sh encoded in the virtual machine."""
import json
import os
import sys

os.chdir(sys.argv[1])
failures = 0


def check(name, what, good, seen=""):
    global failures
    failures += not good
    print(f"{name:10} {what:44} {'ok' if good else 'FAILED':6} {seen}")


def text(path):
    return open(path, errors="replace").read() if os.path.exists(path) else ""


kernel = text("kernel").strip()
if not os.path.exists("device"):
    check("udmabuf", "not run: the kernel has no /dev/udmabuf", bool(kernel), f"kernel {kernel}")
    sys.exit(failures > 0)


def run(name):
    """Returns the memory that was used, the reason, the stream, and the driver's counts."""
    try:
        effective = json.loads(text(name + ".json")).get("effective", [])
    except ValueError:
        print(text(name + ".errors"), file=sys.stderr)
        effective = []
    memory = next((one for one in effective if one["option"] == "inputMemory"), {})
    counts = [json.loads(line) for line in text(name + ".counts").splitlines()]
    moved = sum(one["maps"] + sum(number for method, number in one["copies"].items() if method != "export") for one in counts)
    stream = open(name + ".stream", "rb").read() if text(name + ".status").strip() == "0" else b""
    return memory.get("used"), memory.get("why", ""), stream, sum(one["encoded"] for one in counts), moved


for codec in ["h264", "hevc"]:
    used, _, copied, _, moved = run(codec + "-copied")
    check("udmabuf", f"{codec}: 12 copied pictures", used == "driver" and copied and moved >= 12, f"{moved} mapped or copied")
    used, why, stream, encoded, moved = run(codec + "-udmabuf")
    check("udmabuf", f"{codec}: the same stream without a copy", used == "udmabuf" and stream == copied and encoded == 12 and moved == 0,
          f"kernel {kernel}, {len(stream)} bytes; {encoded} pictures, {moved} mapped or copied")
    # The trial encodes two pictures. One of them is in the driver's memory.
    used, why, stream, encoded, moved = run(codec + "-node")
    check("udmabuf", f"{codec}: the same stream after a trial", used == "udmabuf" and stream == copied and encoded == 14 and moved == 1,
          f"{encoded} pictures, {moved} mapped or copied")
for name, what, words in [("denied", "no permission: the driver's memory", "no permission to open /dev/udmabuf"),
                          ("large", "a picture that is too large: the same", "Invalid argument")]:
    used, why, stream, _, _ = run(name)
    check("udmabuf", what, used == "driver" and stream and words in why, why)
sys.exit(failures > 0)
