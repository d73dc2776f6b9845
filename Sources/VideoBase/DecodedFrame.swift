/// A decoded picture.
public struct DecodedFrame: Sendable {
    /// The picture, in memory or in a surface of the device that decoded it. Do not write to it.
    ///
    /// A device has room for about two dozen pictures that are kept at the same time.
    public var buffer: any PixelBuffer
    /// The presentation time and duration.
    public var timing: FrameTiming
    /// The index among the pictures that the decoder accepted, counted from 0.
    public var index: Int
    /// Whether decoding can begin with this picture.
    public var isKey: Bool
    /// The color description of the samples.
    public var color: ColorDescription
    /// Whether a picture was skipped as damaged or lost since the last key picture. This picture may refer to it.
    public var followsDamage: Bool

    /// Creates a frame from its values.
    public init(
        buffer: any PixelBuffer, timing: FrameTiming, index: Int, isKey: Bool, color: ColorDescription = .unspecified,
        followsDamage: Bool = false
    ) {
        self.buffer = buffer
        self.timing = timing
        self.index = index
        self.isKey = isKey
        self.color = color
        self.followsDamage = followsDamage
    }
}

/// A picture that the decoder accepted but does not deliver.
public struct SkippedPicture: Sendable, Hashable {
    /// The reason why a picture was skipped.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The picture refers to parameter sets that have not been received.
        case noParameterSets
        /// The picture refers to pictures before the first key picture.
        case beforeStart
        /// A picture that this one refers to was lost.
        case missingReference
        /// The picture's data are corrupt or truncated.
        case damaged
        /// The stream marks the picture as not to be shown.
        case notShown
    }

    /// The reason why the picture was skipped.
    public var reason: Reason
    /// The presentation time and duration.
    public var timing: FrameTiming
    /// The index among the pictures that the decoder accepted, counted from 0.
    public var index: Int

    /// Creates a skipped picture from its values.
    public init(reason: Reason, timing: FrameTiming, index: Int) {
        self.reason = reason
        self.timing = timing
        self.index = index
    }
}

/// The counters of a decompression session. Every accepted picture is delivered, skipped or pending.
public struct DecoderStatistics: Sendable, Hashable {
    /// The number of accepted pictures.
    public var taken = 0
    /// The number of delivered pictures.
    public var delivered = 0
    /// The number of skipped pictures for each reason.
    public var skipped: [SkippedPicture.Reason: Int] = [:]
    /// The number of malformed NAL units, which are discarded.
    public var brokenUnits = 0
    /// The number of times that the decoder was replaced because the device failed: first by a new one on the device,
    /// then by software decoding.
    public var rebuilds = 0

    /// Creates counters that are 0.
    public init() {}

    /// The number of skipped pictures.
    public var skippedCount: Int { Int(clamping: skipped.values.reduce(Int128(0)) { $0 + Int128($1) }) }
    /// The number of accepted pictures that are neither delivered nor skipped yet.
    public var pending: Int { Int(clamping: Int128(taken) - Int128(delivered) - Int128(skippedCount)) }
}

/// The output of a decompression session for an accepted picture.
public enum DecodedOutput: Sendable {
    /// A decoded picture.
    case frame(DecodedFrame)
    /// A picture that is not delivered, with the reason.
    case skipped(SkippedPicture)
}
