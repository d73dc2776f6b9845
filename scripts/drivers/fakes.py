"""Reads the logs of the faked kernels and libva's call trace."""
import glob, re
from streams import FRAMES

# Failures that report a missing feature of the driver. Each may occur once, because the client then uses another call.
REFUSALS = {"vaDeriveImage: VA_STATUS_ERROR_OPERATION_FAILED", "vaSyncBuffer: VA_STATUS_ERROR_UNIMPLEMENTED",
            "vaSyncSurface2: VA_STATUS_ERROR_UNIMPLEMENTED"}


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def judge_calls(pattern):
    """Checks that no VA call failed. Returns the number of calls, and the failures that report a missing feature."""
    calls, failed = 0, []
    for path in glob.glob(pattern):
        for line in read(path).splitlines():
            result = " ret = " in line and re.search(r"=+(va\w+) ret = (\w+)", line)
            if result:
                calls += 1
                if result[2] != "VA_STATUS_SUCCESS":
                    failed.append(f"{result[1]}: {result[2]}")
    assert calls > FRAMES * 5, f"only {calls} calls traced"
    refused = {call for call in failed if call in REFUSALS and failed.count(call) == 1}
    failed = [call for call in failed if call not in refused]
    assert not failed, f"{len(failed)} of {calls} failed: " + "; ".join(sorted(set(failed))[:4])
    return calls, refused


def judge_kernel(folder, name, gpu):
    """Checks that the faked kernel reported no problem and got every picture."""
    problems = []
    if gpu.startswith("intel"):
        log = read(f"{folder}/{name}.i915")
        totals = re.findall(r"ioctls \d+ \(unknown (\d+)\).*cmds \d+ \(unknown (\d+)\).*bad-addr (\d+) frames (\d+)", log)
        assert totals, "the faked kernel kept no totals"
        unknown, commands, addresses, coded = map(sum, zip(*[map(int, t) for t in totals]))
        if (unknown, commands, addresses) != (0, 0, 0) or coded < FRAMES:
            problems.append(f"unknown ioctls {unknown}, unknown commands {commands}, bad addresses {addresses}, "
                            f"frames {coded}")
    else:
        problems += re.findall(r"# WARNING (.*)", read(f"{folder}/{name}.amd"))
        problems += re.findall(r"fakeamd: (.*)", read(f"{folder}/{name}.err"))
    assert not problems, "; ".join(problems[:3])


def parameter_buffers(pattern):
    """Returns the sequence, picture and slice parameter buffers in libva's trace, in order: kind and fields."""
    found = []
    for path in glob.glob(pattern):
        record = None
        for line in read(path).splitlines():
            begin = "--VAEnc" in line and re.match(
                r"^\[([\d.]+)\].*--VAEnc(Sequence|Picture|Slice)ParameterBuffer", line)
            if begin:
                if record is None or record[1] != begin[2] or record[2]:
                    record = (float(begin[1]), begin[2], {})
                    found.append(record)
            elif record is None or "_weight_l" in line or "_offset_l" in line:
                continue
            elif "=====" in line:
                record = None
            else:  # [time][ctx 0x20000000]<tab>slice_type = 2
                name, sign, value = line.rpartition("\t")[2].partition(" = ")
                if sign and value.strip()[:1] in set("-0123456789"):
                    record[2].setdefault(name, int(value, 0))
    return [(kind, fields) for _, kind, fields in sorted(found, key=lambda record: record[0])]


class Packets:
    """The packets that AMD's driver sent to the faked VCN."""

    def __init__(self, path):
        self.session = self.method = self.spec = self.output = None
        # The rates as (target, peak) in bit/s, and the number of packets with a QP.
        self.rates, self.sent = [], 0
        # For each picture: the type (I, P, B), the slot of its reference, its own slot, and the QP.
        self.pictures = []
        qps = None
        for line in read(path).splitlines():
            words = line.split()
            name = words[0] if words else ""
            if name == "session_init":
                self.session = [int(w) for w in words[2:]]
            elif name == "h264_spec_misc":
                self.spec = [int(w) for w in words[2:]]
            elif name == "output_format":
                self.output = [int(w) for w in words[2:]]
            elif name == "rc_session_init":
                self.method = int(words[2])
            elif name == "rc_layer_init":
                self.rates.append((int(words[2]), int(words[3])))
            elif name == "rc_per_picture":
                qps, self.sent = [int(words[2])] * 3, self.sent + 1
            elif name == "rc_per_picture_ex":  # a QP for each of I, P, B
                qps, self.sent = [int(w) for w in words[2:5]], self.sent + 1
            elif name == "encode_params":
                values = [int(w, 16) if "f" in w else int(w) for w in words[2:]]
                kind = {0: "B", 1: "P", 2: "I"}[values[0]]
                self.pictures.append((kind, values[9], values[10], qps and qps["IPB".index(kind)]))
        # With a driver that takes no packed headers, vaenc first encodes an extra picture to read the driver's parameter
        # sets.
        self.has_extra_picture = len(self.pictures) == FRAMES + 1 and self.pictures[0][0] == "I"
        if self.has_extra_picture:
            self.pictures = self.pictures[1:]
