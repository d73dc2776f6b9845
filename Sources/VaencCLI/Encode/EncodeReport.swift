import Vaenc

/// What `vaenc encode --json` prints: the contract of docs/CLI.md, `"schema": 1`.
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

    /// What was done for all outputs together.
    struct Input: Encodable, Sendable {
        /// Read, decoded, scaled and converted, each once.
        var framesRead = 0
        /// Into the memory of an output's own encoder, where there are several; one output's frames are read right into it.
        var framesCopied = 0
        /// Packets of sound that is encoded anew that could not be decoded, or not whole; of all streams.
        var damagedSoundPackets = 0
        /// Where a compressed input was decoded; under `effective` too.
        var decode: EffectiveEntry?
        /// Where pictures were scaled; under `effective` too.
        var scaling: EffectiveEntry?
        /// Whether a camera's pictures were copied; under `effective` too.
        var captureMemory: EffectiveEntry?
    }

    struct Seconds: Encodable, Sendable {
        var media = 0.0
        var wall = 0.0
        var cpu = 0.0
    }

    struct Latency: Encodable, Sendable {
        /// From the program's start to the first packet.
        var firstPacketMs = 0.0
        /// From a frame's `encode` to its packet.
        var meanMs = 0.0
        var p99Ms = 0.0
    }

    /// The session's counts: every frame taken is delivered or dropped.
    struct Statistics: Encodable, Sendable {
        var taken = 0
        var delivered = 0
        var dropped = 0
        /// Frames encoded again after a fault.
        var retried = 0
        /// Times that the device's side was rebuilt.
        var rebuilds = 0
        /// Pictures too large for the buffer or a limit of the rate.
        var limitsBroken = 0
        /// Pictures that did not keep to a limit, by limit.
        var broken = LimitViolations()
        /// What the driver was told where it controls the rate.
        var driverRates: [DriverRate] = []
    }

    /// One of several outputs.
    struct Output: Encodable, Sendable {
        /// Of the encoder: outputs of one device may have several.
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
        /// What ended it before its end: nothing stands under its name then.
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
    /// What was decided for the user, one line each.
    var notices: [String]
    var statistics: Statistics
    var output: String
    var interrupted: Bool
    /// Of cameras alone.
    var capture: CaptureReport?
    /// Where there are several; the keys above are the first's.
    var outputs: [Output]?
}
