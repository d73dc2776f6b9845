package import VideoBase

/// A limit that pictures can violate.
package enum RateLimit: Sendable, Hashable, CaseIterable {
    case buffer, frameBytes, sliceBytes, dataRate, maximum, level
}

/// The limits that the pictures of a stream must keep to.
package struct StreamLimits: Sendable, Hashable {
    package var frameRate: Rational
    /// The bit rate of the level's coded picture buffer, in bits per second.
    package var levelRate: Int
    /// The size of the level's coded picture buffer in bits.
    package var levelBuffer: Int
    /// The picture sizes that the level's minimum compression ratio allows; nil: no limit.
    package var levelPictures: PictureSizeLimit?
    /// The number of slices that the level allows in a picture; nil: no limit.
    package var levelSlices: Int?
    package var maxFrameBytes: Int?
    package var maxSliceBytes: Int?
    /// The data-rate limits: the maximum number of bytes in any period.
    package var windows: [DataRateLimit] = []
    /// Bits per second, measured over a second; nil: no limit.
    package var maxBitrate: Int?

    package init(frameRate: Rational, levelRate: Int, levelBuffer: Int) {
        self.frameRate = frameRate
        self.levelRate = levelRate
        self.levelBuffer = levelBuffer
    }
}

/// Checks pictures against the limits and counts violations, independent of which component controls the rate.
///
/// Follows the pictures in coding order. Time is counted in frame intervals.
package struct RateComplianceTracker: Sendable {
    package private(set) var broken = LimitViolations()
    /// The number of pictures that violated the buffer, a data-rate limit or the maximum frame size.
    package private(set) var tooLarge = 0
    private var windows: [SlidingWindow] = []
    private var second: SlidingWindow?
    private var level: CodedPictureBuffer
    private let levelPictures: PictureSizeLimit?
    private let levelSlices: Int?
    /// Whether no picture was added yet.
    private var isFirst = true
    private let maxFrameBits: Int?
    private let maxSliceBytes: Int?

    package init(_ limits: StreamLimits) {
        level = CodedPictureBuffer(
            rate: limits.levelRate, size: limits.levelBuffer, initialFullness: limits.levelBuffer,
            frameRate: limits.frameRate, isConstant: false)
        levelPictures = limits.levelPictures
        levelSlices = limits.levelSlices
        maxFrameBits = limits.maxFrameBytes.map { Int(clamping: Double($0) * 8) }
        maxSliceBytes = limits.maxSliceBytes
        windows = Self.windows(limits)
        second = Self.second(limits)
    }

    private static func windows(_ limits: StreamLimits) -> [SlidingWindow] {
        limits.windows.map { limit in
            let count = (limit.duration.seconds * limits.frameRate.value - 1e-6).rounded(.up)
            return SlidingWindow(limit: Int(clamping: Double(limit.bytes) * 8), count: Int(clamping: min(count, 1e5)))
        }
    }

    private static func second(_ limits: StreamLimits) -> SlidingWindow? {
        guard let maximum = limits.maxBitrate else { return nil }
        let count = max(limits.frameRate.value.rounded(), 1)
        return SlidingWindow(
            limit: Int(clamping: Double(maximum) * count / limits.frameRate.value), count: Int(clamping: min(count, 1e5)))
    }

    /// Adds the next picture, filler included.
    ///
    /// - Parameters:
    ///   - keepsBuffer: Whether the picture arrived in the decoder's buffer in time.
    ///   - largestSlice: The size of its largest slice in bytes; 0 if it was not measured.
    ///   - slices: The number of its slices; 0 if they were not counted.
    /// - Returns: The limits that the picture violated.
    package mutating func add(bits: Int, keepsBuffer: Bool, largestSlice: Int, slices: Int = 0) -> Set<RateLimit> {
        var found: Set<RateLimit> = []
        if !keepsBuffer {
            broken.bufferUnderflows += 1
            found.insert(.buffer)
        }
        if let maxFrameBits, bits > maxFrameBits {
            broken.overMaxFrameBytes += 1
            found.insert(.frameBytes)
        }
        if let maxSliceBytes, largestSlice > maxSliceBytes {
            broken.overMaxSliceBytes += 1
            found.insert(.sliceBytes)
        }
        var holds = true
        for index in windows.indices where !windows[index].add(bits) { holds = false }
        if !holds {
            broken.overDataRateLimits += 1
            found.insert(.dataRate)
        }
        if second?.add(bits) == false {
            broken.overMaxBitrate += 1
            found.insert(.maximum)
        }
        let levelMaximum = isFirst ? levelPictures?.first : levelPictures?.later(frameRate: level.frameRate)
        isFirst = false
        let isInLevelsBuffer = level.remove(bits: bits)
        if !isInLevelsBuffer || bits / 8 > levelMaximum ?? .max || slices > levelSlices ?? .max {
            broken.overLevel += 1
            found.insert(.level)
        }
        if !found.isDisjoint(with: [.buffer, .frameBytes, .dataRate]) { tooLarge += 1 }
        return found
    }

    /// Applies new limits from the next planned picture on.
    ///
    /// - Parameter pending: The number of pictures that were planned before and are not added yet.
    package mutating func change(_ limits: StreamLimits, pending: Int) {
        level.change(frameRate: limits.frameRate)
        func settle(_ new: SlidingWindow, _ old: SlidingWindow?) -> SlidingWindow {
            if let old, old.limit == new.limit, old.count == new.count { return old }
            var new = new
            // The rate controller may take the length of the window to come down to a new limit.
            new.pause = pending + new.count
            return new
        }
        let new = Self.windows(limits)
        windows = new.indices.map { settle(new[$0], $0 < windows.count ? windows[$0] : nil) }
        second = Self.second(limits).map { settle($0, second) }
    }
}

extension RateLimit {
    /// Returns the error under `strict` for a frame that violated this limit.
    package func error(frame: Int) -> VaencError {
        let (what, remedy) =
            switch self {
            case .buffer:
                (
                    "arrives too late for the decoder's buffer that `hrdParameters` on describes",
                    LimitViolations.Remedy.buffer
                )
            case .frameBytes: ("exceeds `maxFrameBytes`", LimitViolations.Remedy.frameBytes)
            case .sliceBytes: ("has a slice larger than `maxSliceBytes`", LimitViolations.Remedy.sliceBytes)
            case .dataRate: ("exceeds a limit of `dataRateLimits`", LimitViolations.Remedy.dataRate)
            case .maximum: ("exceeds `maxBitrate` within one second", LimitViolations.Remedy.maximum)
            case .level: ("exceeds the limits of `level`", "use a higher one, lower the rate, or raise `maxSliceBytes` if it is set")
            }
        return VaencError(.unavailable, "strict: frame \(frame) \(what)", remedy: "\(remedy), or leave out `strict`")
    }
}
