"""Checks what AMD's driver sends to the hardware in a mode: rate, types, references, and a constant QP."""
import json
from fakes import Packets, read
from streams import planned_types

# The rate-control methods of AMD's hardware session for each mode (Mesa's numbers).
METHODS = {"cqp": {0}, "cbr": {3}, "vbr": {1, 2}, "qvbr": {4}}
# The requested average and maximum rates in bit/s.
TARGET, MOST = 1000000, 1500000


def reported_rates(at, mode):
    """Returns the rates that vaenc reports to have sent to the driver, in order: target and peak. They are the requested
    rates minus the headers that the driver does not see, which are less than 1 %."""
    rates = json.loads(read(f"{at}/run.out"))["statistics"]["driverRates"]
    assert rates and rates[0]["picture"] == 0, "vaenc says nothing of the driver's rate"
    for rate in rates:
        assert 0.99 * TARGET <= rate["bitrate"] <= TARGET, f"{rate['bitrate']} bit/s sent to the driver"
        # The target is sent as a whole percentage of the maximum.
        most = rate["bitrate"] * 100 // 67 if mode in ("vbr", "qvbr") else rate["bitrate"]
        assert rate["maxBitrate"] == most <= MOST, f"at most {rate['maxBitrate']} bit/s sent to the driver"
    return [(rate["bitrate"], rate["maxBitrate"]) for rate in rates]


def judge(at, mode):
    packets = Packets(f"{at}/run.amd")
    kinds = "".join(kind for kind, *_ in packets.pictures)
    assert kinds == "".join(planned_types(mode)), f"types {kinds[:12]}…"
    anchor = None
    for index, (kind, reference, reconstruction, qp) in enumerate(packets.pictures):
        # A P picture predicts from the reference picture before it.
        if kind != "B" and mode not in ("ltr", "layers"):
            expected = 0xffffffff if kind == "I" else anchor
            assert reference == expected, f"picture {index}: references slot {reference}, not {expected}"
            anchor = reconstruction
        if mode not in METHODS or mode == "cqp":
            assert qp == 27, f"picture {index}: QP {qp}"
    if mode not in METHODS:
        return
    assert packets.method in METHODS[mode], f"rate-control method {packets.method}"
    if mode == "cqp":
        return
    # The driver sends the rate again at key frames. Mesa rounds the percentage down.
    chip = [rate for rate, before in zip(packets.rates, [None] + packets.rates) if rate != before]
    reported = reported_rates(at, mode)
    if len(chip) == len(reported) + 1:  # the picture in which vaenc reads the driver's parameter sets
        chip = chip[1:]
    assert len(chip) == len(reported), f"rates {chip} asked of the chip, {reported} sent to the driver"
    for (target, peak), (bitrate, most) in zip(chip, reported):
        assert 0 <= bitrate - target <= 1 and peak == most, f"{target}, at most {peak} bit/s asked of the chip"
