#!/usr/bin/env python3
"""soak.py VAENC [--pictures N] [--container-pictures N] [--only TEXT]: encodes very many pictures on a device that costs
nothing (the reference driver's null mode), and checks that memory, descriptors, threads and the time per picture do not
grow.

Each codec is encoded with B pictures and CBR: a million pictures into Annex B, and 100,000 into every container. Two
more runs read a clip whose times begin just below 2^33 ticks of 90 kHz and 2^31 milliseconds. The script prints a line
for each run. The exit status is 1 if a run exceeds a limit:
  memory       after the first tenth of the run, it grows by at most 100 bytes per picture in a container (the index),
               by 1 byte in a bare stream, and by 4 MB for the allocator's rounding. In HLS, libavformat keeps 10 kB for
               each segment of 100 pictures, so the limit is 120 bytes per picture.
  descriptors, threads   after the first fifth, they grow by at most 1 (the file that HLS is replacing)
  speed        in processor time, the last quarter is at least 0.7 times as fast as the second
"""
import argparse, json, os, shutil, subprocess, sys, tempfile, time

CONTAINERS = ["mp4", "fmp4", "mov", "mkv", "ts", "flv", "hls", "avcc"]


def sample(pid):
    """Returns the resident bytes, descriptors, threads and processor seconds of a process; None if it has ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        with open(f"/proc/{pid}/stat") as status:
            ticks = sum(int(field) for field in status.read().rsplit(")", 1)[1].split()[11:13])
        return (
            int(fields["VmRSS"].split()[0]) * 1024, len(os.listdir(f"/proc/{pid}/fd")), int(fields["Threads"]),
            ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, KeyError, ValueError, IndexError):
        return None


def watch(command, environment, folder):
    """Runs a command. Returns the exit status, the last line of stderr, and a list of (pictures, memory, descriptors,
    threads, processor seconds)."""
    errors = open(f"{folder}/progress", "w+")
    child = subprocess.Popen(
        command, env=dict(os.environ, **environment), cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=errors)
    samples, offset, pictures, last = [], 0, 0, ""
    while True:
        ended = child.poll() is not None
        state = None if ended else sample(child.pid)
        with open(errors.name) as progress:
            progress.seek(offset)
            text = progress.read()
        whole = text.rfind("\n") + 1
        offset += len(text[:whole].encode())
        for line in text[:whole].splitlines():
            if line.startswith("{"):
                pictures = json.loads(line).get("frames", pictures)
            elif line.strip():
                last = line
        if state:
            samples.append((pictures,) + state)
        if ended:
            return child.returncode, last, samples
        time.sleep(0.1)


def judge(samples, pictures, perPicture):
    """Returns the exceeded limits of a run, and its figures."""
    steady = [s for s in samples if s[0] >= pictures / 10]
    if len(steady) < 8:
        return ["too few samples: encode more pictures"], ""
    faults = []
    first = steady[0]
    growth = max(s[1] for s in steady) - first[1]
    if growth > 4_000_000 + perPicture * pictures:
        faults.append(f"memory grew by {growth} bytes")
    for index, name in ((2, "descriptors"), (3, "threads")):
        if max(s[index] for s in steady) > max(s[index] for s in samples if s[0] <= pictures / 5) + 1:
            faults.append(f"{name} grew")

    def speed(low, high):
        part = [s for s in steady if low * pictures <= s[0] <= high * pictures]
        return (part[-1][0] - part[0][0]) / max(part[-1][4] - part[0][4], 0.01) if len(part) > 1 else 0

    second, fourth = speed(0.25, 0.5), speed(0.75, 1)
    if second and fourth and fourth < 0.7 * second:
        faults.append(f"it slowed down from {second:.0f} to {fourth:.0f} pictures a processor second")
    figures = (
        f"{first[1] / 1e6:.1f} MB + {growth / pictures:.1f} bytes a picture, {steady[-1][2]} descriptors, "
        f"{steady[-1][3]} threads, {second:.0f} then {fourth:.0f} pictures a processor second")
    return faults, figures


def clip(folder, name, seconds, frames, *arguments):
    """Makes a clip of small pictures whose times begin at `seconds`. Returns its name."""
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25", "-frames:v", str(frames), "-c:v", "libx264",
         "-preset", "ultrafast", "-output_ts_offset", str(seconds), *arguments, name], cwd=folder, check=True)
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("vaenc")
    parser.add_argument("--pictures", type=int, default=1_000_000)
    parser.add_argument("--container-pictures", type=int, default=100_000)
    parser.add_argument("--only", default="", help="rows whose name has this text")
    options = parser.parse_args()
    vaenc = os.path.abspath(options.vaenc)
    folder = tempfile.mkdtemp(prefix="vaenc-soak-")
    failed = 0
    try:
        rows = []
        for codec in ("h264", "hevc"):
            rows.append((f"{codec} annexb", codec, "annexb", options.pictures, None, 1))
            for form in CONTAINERS:
                if (codec, form) != ("hevc", "flv"):
                    rows.append((f"{codec} {form}", codec, form, options.container_pictures, None, 120 if form == "hls" else 100))
        late = max(2000, options.container_pictures // 10)
        rows.append(("h264 times past 2^33 ticks", "h264", "mp4", late, ("late.ts", 2**33 / 90000 - late / 50), 100))
        rows.append(("hevc times past 2^31 ms", "hevc", "mkv", late, ("late.mkv", 2**31 / 1000 - late / 50), 100))
        for name, codec, form, pictures, source, perPicture in rows:
            if options.only not in name:
                continue
            suffix = {"annexb": codec, "hls": "m3u8", "fmp4": "mp4", "avcc": "avcc"}.get(form, form)
            source_name = clip(folder, source[0], source[1], pictures) if source else f"testsrc:64x64@25:{pictures}"
            status, message, samples = watch(
                [vaenc, "encode", source_name, "--device", "reference", "--codec", codec, "--bframes", "2", "--rate-control", "cbr",
                 "--bitrate", "200k", "--format", form, "--progress", "json", "-o", f"out.{suffix}", "--overwrite"],
                {"VAENC_REFERENCE_MODE": "null"}, folder)
            faults, figures = judge(samples, pictures, perPicture)
            if status:
                faults = [f"exit status {status}: {message}"]
            elif source:
                faults = [fault for fault in faults if "samples" not in fault]
                length = subprocess.run(
                    ["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0", f"out.{suffix}"],
                    cwd=folder, capture_output=True, text=True).stdout.strip().split(",")[0]
                if length != str(pictures):
                    faults.append(f"{length} of {pictures} pictures in the file")
            print(f"{'BAD ' if faults else 'ok  '} {name}, {pictures} pictures: {'; '.join(faults + [figures])}", flush=True)
            failed += bool(faults)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


main()
