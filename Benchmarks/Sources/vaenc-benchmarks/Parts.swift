/// A part of the benchmarks.
struct Part {
    var name: String
    /// One line for the help.
    var summary: String
    var title: String
    var run: (BenchmarkOptions, Report) throws -> Void

    /// A part that reports while it runs.
    init(_ name: String, _ summary: String, title: String? = nil, reporting run: @escaping (BenchmarkOptions, Report) throws -> Void) {
        self.name = name
        self.summary = summary
        self.title = title ?? summary
        self.run = run
    }

    /// A part that returns its figures at the end.
    init(_ name: String, _ summary: String, title: String? = nil, _ run: @escaping () throws -> [Figure]) {
        self.init(name, summary, title: title, reporting: { _, report in try run().forEach(report.add) })
    }

    static var all: [Part] {
        [
            Part(
                "host", "Host cost on the null device and others, beside FFmpeg, GStreamer and a bare read",
                title: "Host cost, medians of alternating runs", reporting: HostCost.run),
            Part(
                "device", "How busy a device that takes 1 to 8 ms for a picture is kept",
                title: "Device use by the time for a picture, 1920×1080, medians of alternating runs", reporting: DeviceUse.run),
            Part(
                "live", "Latency of frames that arrive 60 times a second",
                title: "Latency from a frame's last byte in to its packet's first byte out, 1920×1080 at 60 frames/s, medians of alternating runs",
                reporting: LiveLatency.run),
            Part(
                "startup", "Time for one frame, to the first packet and for a query, and the program's size",
                title: "Start-up, medians of alternating runs", reporting: Startup.run),
            Part(
                "probe", "Time to query a device on faked kernels", title: "Time to query a device, medians of alternating runs",
                reporting: Startup.probe),
            Part("speed", "Speed of the reference driver, medians of five", Quality.speed),
            Part("quality", "Compression of the reference driver, QP 22/26/30/34/38, one GOP", Quality.run),
            Part("hevc", "HEVC of the reference driver, QP 22/26/30/34/38, one GOP", Quality.hevc),
            Part("bframes", "B pictures of the reference driver, QP 22/26/30/34/38, one GOP, preset 4", Quality.pyramids),
            Part("rates", "Rate control over a minute at 640×360 on the reference driver, preset 7", Rates.run),
            Part("hevcrates", "Rate control of HEVC over 20 seconds, 500 kbit/s at 640×360 on the reference driver", Rates.hevc),
            Part("hard", "Rate control on fades, flashes, cuts and black at 320×180: the worst picture against x264's", HardContentFigures.run),
            Part("ratechange", "Changes of the bit rate while encoding, at 640×360 on the reference driver", RateChange.run),
        ]
    }
}
