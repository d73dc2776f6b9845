"""The expected number, order and types of pictures in the streams, and what FFmpeg reads from the streams."""
import re, subprocess

FRAMES, GOP = 100, 30
FORMATS = {"h264": "h264", "hevc": "hevc", "hevc10": "hevc"}
SLICES = {"h264": 4, "hevc": 3, "hevc10": 3}
# The letter of a slice_type: H.264 7.4.3 (modulo 5), H.265 7.4.7.1.
TYPES = {"h264": "PBI", "hevc": "BPI"}
HEADERS = {"h264": "Slice Header", "hevc": "Slice Segment Header"}


def headers(path, codec):
    """Returns the fields of each header unit as FFmpeg's trace_headers reads them."""
    form = FORMATS[codec]
    log = subprocess.run(["ffmpeg", "-nostdin", "-hide_banner", "-f", form, "-i", path, "-c:v", "copy", "-bsf:v",
                          "trace_headers", "-f", "null", "-"], capture_output=True, text=True, errors="replace").stderr
    units, seen = [], None
    for line in log.splitlines():
        if "trace_headers" not in line:
            continue
        text = line.split("] ", 1)[-1].strip()
        field = re.match(r"^\d+\s+(\S+)\s+[01]+ = (-?\d+)$", text)
        if field and seen is not None:
            seen.setdefault(field[1], int(field[2]))
        elif re.match(r"^[A-Z]", text):
            seen = {"unit": text}
            units.append(seen)
    return units


def slices(units, codec):
    return [u for u in units if u["unit"] == HEADERS[FORMATS[codec]]]


def types(units, codec):
    """Returns the letter of each slice's type."""
    return [TYPES[FORMATS[codec]][u["slice_type"] % 5] for u in slices(units, codec)]


def planned_types(mode, two_lists=False):
    """Returns the slice types in coding order: an IDR picture every 30 frames, and in mode `b` two B pictures after each
    P picture. Each GOP is closed. A rolling refresh has one IDR picture. With `two_lists`, P pictures have B slices."""
    kinds = []
    gop = FRAMES if mode == "refresh" else GOP
    for start in range(0, FRAMES, gop):
        kinds.append("I")
        left = min(gop, FRAMES - start) - 1
        while left > 0:
            group = min(3 if mode == "b" else 1, left)
            kinds += ["B" if two_lists else "P"] + ["B"] * (group - 1)
            left -= group
    return kinds


def judge_pictures(path, codec, size):
    """Checks that FFmpeg decodes all frames without messages, and that they have this size."""
    run = subprocess.run(["ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-err_detect", "crccheck+explode", "-f",
                          FORMATS[codec], "-i", path, "-f", "framemd5", "-"],
                         capture_output=True, text=True, errors="replace")
    pictures = [line for line in run.stdout.splitlines() if line and line[0] != "#"]
    found = re.search(r"#dimensions 0: (\S+)", run.stdout)
    assert run.returncode == 0 and not run.stderr.strip(), f"status {run.returncode}: {run.stderr.strip()[:200]}"
    assert len(pictures) == FRAMES, f"{len(pictures)} frames"
    assert found and found[1] == size, f"decodes to {found and found[1]}, not {size}"
