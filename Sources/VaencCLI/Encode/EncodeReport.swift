import MediaFiles
import Vaenc
import VideoBase

/// The object that `vaenc encode --json` prints: the contract of docs/CLI.md, `"schema": 1`.
struct EncodeReport: Encodable, Sendable {
    struct Device: Encodable, Sendable {
        var kind: DeviceKind
        var path: Nullable<String>
        var driver: String
    }

    struct Frames: Encodable, Sendable {
        var input = 0
        var encoded = 0
        var dropped = 0
        var key = 0
        var p = 0
        var b = 0
    }

    /// The work that was done once for all outputs.
    struct Input: Encodable, Sendable {
        /// The number of frames that were read. Each is decoded, scaled and converted once.
        var framesRead = 0
        /// The number of frames copied into the memory of an output's encoder if there are several outputs. Frames for
        /// a single output are read directly into it.
        var framesCopied = 0
        /// The number of damaged packets of audio, over all streams.
        var damagedSoundPackets = 0
        /// The device that decoded a compressed input; also under `effective`.
        var decode: EffectiveEntry?
        /// The device that scaled the pictures; also under `effective`.
        var scaling: EffectiveEntry?
        /// Whether a camera's pictures were copied; also under `effective`.
        var captureMemory: EffectiveEntry?
    }

    struct Seconds: Encodable, Sendable {
        var media = 0.0
        var wall = 0.0
        var cpu = 0.0
    }

    struct Latency: Encodable, Sendable {
        /// The time from the program's start to the first packet.
        var firstPacketMs = 0.0
        /// The time from a frame's `encode` to its packet: the mean, and the 99th percentile in `p99Ms`.
        var meanMs = 0.0
        var p99Ms = 0.0
    }

    /// The session's counts. Every frame taken is delivered or dropped.
    struct Statistics: Encodable, Sendable {
        var taken = 0
        var delivered = 0
        var dropped = 0
        /// The number of frames encoded again after a fault.
        var retried = 0
        /// The number of times that the device was reinitialized.
        var rebuilds = 0
        /// The number of pictures that exceeded the buffer or a limit of the rate.
        var limitsBroken = 0
        /// The number of pictures that exceeded each limit.
        var broken = LimitViolations()
        /// The rate parameters passed to the driver, if the driver controls the rate.
        var driverRates: [DriverRate] = []
    }

    /// One of several outputs.
    struct Output: Encodable, Sendable {
        /// The encoder's driver: outputs on one device may have different ones.
        var driver: String
        var codec: VideoCodec
        var profile: String
        var level: String
        var bytes: Int
        var bitrate: Int
        var frames: Frames
        var effective: [EffectiveEntry]
        var statistics: Statistics
        var output: String
        /// The error that ended the output early; no file with its name exists then.
        var error: Nullable<String>
    }

    var schema = 1
    var device: Device
    var codec: VideoCodec
    var profile: String
    var level: String
    var width: Int
    var height: Int
    var frameRate: Rational
    var frames: Frames
    var input: Input
    var bytes: Int
    var bitrate: Int
    var seconds: Seconds
    var latency: Latency
    var effective: [EffectiveEntry]
    /// Decisions made for the user, one line each.
    var notices: [String]
    var statistics: Statistics
    var output: String
    var interrupted: Bool
    /// The camera's part of the report, for cameras only.
    var capture: CaptureReport?
    /// The outputs, if there are several. The keys above then describe the first one.
    var outputs: [Output]?
}

extension EncodeReport {
    /// The output of a run with one output.
    var wholeOutput: Output {
        Output(
            driver: device.driver, codec: codec, profile: profile, level: level, bytes: bytes, bitrate: bitrate, frames: frames,
            effective: effective, statistics: statistics, output: output, error: Nullable(nil))
    }

    /// Creates the report of a run.
    ///
    /// - Parameter hints: Notices about the command line.
    init(_ result: Transcoder.Result, hints: [String]) {
        let all = result.outputs.map { Output($0) }
        let (first, own) = (result.outputs[0], all[0])
        let (description, counts) = (first.description, first.counts)
        device = Device(kind: description.kind, path: Nullable(description.path), driver: description.driver)
        (codec, profile, level) = (own.codec, own.profile, own.level)
        (width, height, frameRate) = (description.size.width, description.size.height, description.frameRate)
        (frames, bytes, bitrate) = (own.frames, own.bytes, own.bitrate)
        input = Input(
            framesRead: result.framesRead, framesCopied: result.framesCopied, damagedSoundPackets: result.damagedSoundPackets,
            decode: result.decode?.translated, scaling: result.scaling?.translated, captureMemory: result.captureMemory?.translated)
        seconds = Seconds(
            media: rounded(counts.mediaSeconds(frameRate: description.frameRate)), wall: rounded(Clock.secondsSinceStart),
            cpu: rounded(Clock.processorSeconds))
        latency = Latency(counts)
        (effective, statistics, output) = (own.effective, own.statistics, own.output)
        let moments: [Transcoder.Notice.Moment] = [.start, .preparation, .end]
        notices =
            hints
            + moments.flatMap { moment in result.allNotices.filter { $0.moment == moment } }.map {
                OptionNames.translate(FileName.printable($0.text))
            }
        interrupted = result.isInterrupted
        outputs = all.count > 1 ? all : nil
    }
}

extension EncodeReport.Output {
    init(_ result: Transcoder.OutputResult) {
        let (description, counts) = (result.description, result.counts)
        self.init(
            driver: description.driver, codec: description.codec, profile: description.profile.shortName, level: description.levelName,
            bytes: result.bytes, bitrate: counts.bitrate(frameRate: description.frameRate), frames: EncodeReport.Frames(counts),
            effective: result.effective.translated, statistics: EncodeReport.Statistics(result.statistics),
            output: FileName.printable(result.name),
            error: Nullable(result.error.map { OptionNames.translate(FileName.printable("\($0)")) }))
    }
}

extension EncodeReport.Frames {
    init(_ counts: FrameCounts) {
        self.init(
            input: counts.input, encoded: counts.encoded, dropped: counts.dropped, key: counts.key, p: counts.p, b: counts.b)
    }
}

extension EncodeReport.Latency {
    init(_ counts: FrameCounts) {
        guard counts.latencies.count > 0 else { return }
        firstPacketMs = rounded(Clock.sinceStart(counts.firstPacketAt ?? 0) * 1e3)
        meanMs = rounded(counts.latencies.mean / 1e6)
        p99Ms = rounded(counts.latencies.percentile(99) / 1e6)
    }
}

extension EncodeReport.Statistics {
    init(_ counts: EncoderStatistics) {
        self.init(
            taken: counts.taken, delivered: counts.delivered, dropped: counts.dropped, retried: counts.retried,
            rebuilds: counts.rebuilds, limitsBroken: counts.limitsBroken, broken: counts.broken, driverRates: counts.driverRates)
    }
}
