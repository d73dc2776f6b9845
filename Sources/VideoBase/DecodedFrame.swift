/// A picture that was decoded.
public struct DecodedFrame: Sendable {
    /// In memory, or in a surface of the device that decoded it. Do not write to it. A device has room for some two dozen
    /// pictures that are held.
    public var buffer: any PixelBuffer
    public var timing: FrameTiming
    /// Position among the pictures that were taken, counted from 0.
    public var index: Int
    /// Decoding can begin with it.
    public var isKey: Bool
    public var color: ColorDescription
    /// A picture was skipped as damaged or lost since the last key picture: this one may refer to it.
    public var followsDamage: Bool

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

/// A picture that was taken and is not given.
public struct SkippedPicture: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Parameter sets that it names have not come.
        case noParameterSets
        /// It refers to pictures before the first key picture.
        case beforeStart
        /// A picture that it refers to was lost.
        case missingReference
        /// Its data are broken or cut short.
        case damaged
        /// The stream says that it is not to be seen.
        case notShown
    }

    public var reason: Reason
    public var timing: FrameTiming
    /// Position among the pictures that were taken, counted from 0.
    public var index: Int

    public init(reason: Reason, timing: FrameTiming, index: Int) {
        self.reason = reason
        self.timing = timing
        self.index = index
    }
}

/// Counts of a decompression session: every picture taken is delivered, skipped or pending.
public struct DecoderStatistics: Sendable, Hashable {
    public var taken = 0
    public var delivered = 0
    public var skipped: [SkippedPicture.Reason: Int] = [:]
    /// NAL units that are none: left out.
    public var brokenUnits = 0
    /// Times that the device was given up.
    public var rebuilds = 0

    public init() {}

    public var skippedCount: Int { Int(clamping: skipped.values.reduce(Int128(0)) { $0 + Int128($1) }) }
    public var pending: Int { Int(clamping: Int128(taken) - Int128(delivered) - Int128(skippedCount)) }
}

/// What a decompression session gives for a picture that it took.
public enum DecodedOutput: Sendable {
    case frame(DecodedFrame)
    case skipped(SkippedPicture)
}
