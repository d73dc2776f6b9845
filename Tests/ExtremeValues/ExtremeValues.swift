public import VideoBase

/// Reproducible configurations with values of all magnitudes.
public enum ExtremeValues {
    /// Integers of all magnitudes, with the limits of common types.
    public static let integers: [Int] = [
        .min, .min + 1, -(1 << 40), -65536, -1, 0, 1, 2, 3, 16, 51, 52, 64, 100, 255, 1000, 65535, 65536, 1 << 24, Int(Int32.max),
        1 << 31, Int(UInt32.max), 4_000_000_000, 1 << 40, 1 << 62, .max - 1, .max,
    ]
    /// Durations of all magnitudes, with the limits of the type.
    public static let durations: [Duration] = [
        Duration(attoseconds: .min), .seconds(-1), .zero, Duration(attoseconds: 1), .nanoseconds(1), .milliseconds(40), .seconds(1),
        .seconds(3600), .seconds(86400), .seconds(Int64.max), Duration(attoseconds: .max),
    ]
    /// Frame rates and ratios, with invalid ones and those close to the limits.
    public static let rates: [Rational] = [
        Rational(0, 1), Rational(1, 0), Rational(0, 0), Rational(-25, 1), Rational(.min, .min), Rational(.max, 1), Rational(1, .max),
        Rational(.max, .max), Rational(.max - 1, .max), Rational(.min, -1), Rational(1, 1000), Rational(1, 10), Rational(1000),
        Rational(2_147_483_647, 2_147_484), Rational(2_147_483_647, 2_147_483_646), Rational(2_147_483, 2_147_483_647),
        Rational(30000, 1001), Rational(25),
    ]

    /// Returns a small configuration that can be encoded. With a mode, its bit rate is 100 kbit/s.
    public static func configuration(_ mode: RateControlMode? = nil) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: VideoSize(width: 64, height: 64))
        configuration.rate.rateControl = mode
        configuration.rate.bitrate = mode == nil ? nil : BitsPerSecond(100_000)
        return configuration
    }

    /// A change of one field of a configuration.
    public typealias Change = @Sendable (inout EncoderConfiguration) -> Void

    /// The changes of each field to each value, with their names.
    public static let changes: [(name: String, change: Change)] = {
        var changes: [(String, Change)] = []
        func add(_ name: String, _ change: @escaping Change) { changes.append((name, change)) }
        for value in integers { addInteger(value, add) }
        for value in durations {
            add("gopDuration \(value.seconds)") { $0.structure.gopDuration = value }
            add("key at \(value.seconds) s") { $0.structure.forcedKeyTimes = [value] }
            add("limit in \(value.seconds) s") { $0.rate.dataRateLimits = [DataRateLimit(bytes: 50_000, duration: value)] }
        }
        for value in rates {
            add("frameRate \(value)") { $0.frameRate = value }
            add("aspect \(value)") { $0.display.sampleAspectRatio = value }
        }
        return changes
    }()

    private static func addInteger(_ value: Int, _ add: (String, @escaping Change) -> Void) {
        add("level \(value)") { $0.level = CodecLevel(tenths: value) }
        add("bitDepth \(value)") { $0.bitDepth = value }
        add("vbvSize \(value)") { $0.rate.vbvSize = value }
        add("vbvInitial \(value)") { $0.rate.vbvInitialPercent = value }
        add("qp \(value)") { $0.rate.qp = value }
        add("qpI \(value)") { $0.rate.qpI = value }
        add("qpB \(value)") { $0.rate.qpB = value }
        add("quality \(value)") { $0.rate.quality = value }
        add("minQP \(value)") { $0.rate.minQP = value }
        add("maxQP \(value)") { $0.rate.maxQP = value }
        add("maxFrameBytes \(value)") { $0.rate.maxFrameBytes = value }
        add("maxSliceBytes \(value)") { $0.rate.maxSliceBytes = value }
        add("preset \(value)") { $0.coding.preset = value }
        add("gop \(value)") { $0.structure.gopFrames = value }
        add("idrInterval \(value)") { $0.structure.idrInterval = value }
        add("bFrames \(value)") { $0.structure.bFrames = value }
        add("references \(value)") { $0.structure.references = value }
        add("layers \(value)") { $0.structure.temporalLayers = value }
        add("ltr \(value)") { $0.structure.longTermReferences = value }
        add("slices \(value)") { $0.coding.slices = value }
        add("asyncDepth \(value)") { $0.pipeline.asyncDepth = value }
        add("maxFrameDelay \(value)") { $0.pipeline.maxFrameDelay = value }
        add("bitrate \(value)") { $0.rate.bitrate = BitsPerSecond(value) }
        add("maxBitrate \(value)") { $0.rate.maxBitrate = BitsPerSecond(value) }
        add("width \(value)") { $0.size.width = value }
        add("height \(value)") { $0.size.height = value }
        add("both sides \(value)") { $0.size = VideoSize(width: value, height: value) }
        add("deblocking \(value)") { $0.coding.deblocking = Deblocking(alphaOffset: value, betaOffset: value) }
        add("key at \(value)") { $0.structure.forcedKeyFrames = [value] }
        add("limit of \(value) bytes") { $0.rate.dataRateLimits = [DataRateLimit(bytes: value, duration: .seconds(1))] }
        add("region \(value)") {
            $0.coding.regionsOfInterest = [RegionOfInterest(x: value, y: value, width: value, height: value, qpDelta: value)]
        }
    }

    /// A linear congruential generator of reproducible configurations and changes.
    public struct Random {
        private var state: UInt64

        /// Creates a generator. The same seed produces the same values.
        public init(seed: UInt64) { state = seed }

        /// Returns a number from 0 to `count` - 1.
        public mutating func below(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % count
        }

        /// Returns one of the values.
        public mutating func element<T>(_ values: [T]) -> T { values[below(values.count)] }

        /// Returns a configuration of values that are likely to be accepted, with up to two extreme ones.
        public mutating func configuration() -> EncoderConfiguration {
            var c = ExtremeValues.configuration(element([nil, .cqp, .icq, .cbr, .cbr, .vbr, .vbr, .qvbr, .avbr]))
            if c.rate.bitrate != nil {
                c.rate.bitrate = BitsPerSecond(element([1000, 1063, 10_000, 1_000_000, 50_000_000, 900_000_000]))
                if below(3) == 0 { c.rate.maxBitrate = c.rate.bitrate.map { BitsPerSecond($0.value * (1 + below(3))) } }
                if below(3) == 0 { c.rate.vbvSize = element([1000, 100_000, 2_600_000, 200_000_000, 4_000_000_000]) }
                if below(3) == 0 {
                    c.rate.dataRateLimits = [
                        DataRateLimit(bytes: 1 << below(41), duration: element([.nanoseconds(1), .milliseconds(500), .seconds(3600)]))
                    ]
                }
                if below(3) == 0 { c.headers.hrdParameters = below(2) == 0 }
                c.rate.rateController = element([nil, .driver, .vaenc])
            }
            if below(2) == 0 { c.frameRate = element(ExtremeValues.rates) }
            if below(3) == 0 { c.structure.gopFrames = element([1, 2, 7, 1_000_000, Int(Int32.max)]) }
            if below(3) == 0 { c.structure.bFrames = below(8) }
            if below(4) == 0 { c.structure.temporalLayers = 1 + below(4) }
            c.structure.openGOP = below(4) == 0
            c.structure.intraRefresh = below(6) == 0
            c.pipeline.lowLatency = below(6) == 0
            for _ in 0..<below(3) { element(ExtremeValues.changes).change(&c) }
            return c
        }

        /// Returns a change during encoding, with extreme values.
        public mutating func change() -> RunningChange {
            var change = RunningChange()
            switch below(8) {
            case 0: change.bitrate = BitsPerSecond(element(ExtremeValues.integers))
            case 1: change.maxBitrate = BitsPerSecond(element(ExtremeValues.integers))
            case 2: change.frameRate = element(ExtremeValues.rates)
            case 3: change.minQP = element(ExtremeValues.integers)
            case 4: change.maxQP = element(ExtremeValues.integers)
            case 5: change.qp = element(ExtremeValues.integers)
            case 6:
                change.dataRateLimits = [
                    DataRateLimit(bytes: element(ExtremeValues.integers), duration: element(ExtremeValues.durations))
                ]
            default:
                change.bitrate = BitsPerSecond(element([1000, 1_000_000, 4_000_000_000]))
                change.frameRate = element([nil, Rational(1, 1000), Rational(1000)])
            }
            return change
        }
    }
}
