/// The numbers of pictures that exceeded a requested limit, or a limit that the stream declares. The driver, a QP limit
/// or the content prevented smaller pictures. Such pictures remain in the stream.
public struct LimitViolations: Sendable, Hashable, Codable {
    /// The number of pictures that were not completely in the decoder's buffer at their removal time. The stream then
    /// violates its HRD parameters.
    public var bufferUnderflows = 0
    /// The number of pictures larger than `maxFrameBytes`.
    public var overMaxFrameBytes = 0
    /// The number of pictures with a slice larger than `maxSliceBytes`.
    public var overMaxSliceBytes = 0
    /// The number of pictures that made a window exceed its data-rate limit.
    public var overDataRateLimits = 0
    /// The number of pictures that made a second exceed the maximum bit rate.
    public var overMaxBitrate = 0
    /// The number of pictures that exceeded the bit rate, the buffer or the minimum compression ratio (MinCR) of the
    /// stream's level (H.264 Table A-1, H.265 Table A.9).
    public var overLevel = 0

    /// The remedy for pictures that exceed a limit, for each kind of limit.
    package enum Remedy {
        package static let buffer = "raise `bitrate` or `vbvSize`, or `maxQP` if it is set"
        package static let frameBytes = "raise it, use a smaller picture, or raise `maxQP` if it is set"
        package static let sliceBytes = "raise it, or the QP"
        package static let dataRate = "raise it, lower `bitrate`, or raise `maxQP` if it is set"
        package static let maximum = "raise it, lower `vbvSize`, or raise `maxQP` if it is set"
    }

    /// Creates counters that are 0.
    public init() {}

    /// Adds the counts of `other`. Sums that do not fit are clamped.
    public mutating func add(_ other: LimitViolations) {
        func sum(_ count: Int, _ more: Int) -> Int { Int(clamping: Int128(count) + Int128(more)) }
        bufferUnderflows = sum(bufferUnderflows, other.bufferUnderflows)
        overMaxFrameBytes = sum(overMaxFrameBytes, other.overMaxFrameBytes)
        overMaxSliceBytes = sum(overMaxSliceBytes, other.overMaxSliceBytes)
        overDataRateLimits = sum(overDataRateLimits, other.overDataRateLimits)
        overMaxBitrate = sum(overMaxBitrate, other.overMaxBitrate)
        overLevel = sum(overLevel, other.overLevel)
    }

    /// Human-readable lines, one for each exceeded limit, with a remedy.
    public var notices: [String] {
        func line(_ count: Int, what: String, remedy: String) -> String? {
            count == 0 ? nil : "\(count) \(count == 1 ? "picture" : "pictures") \(what): \(remedy)"
        }
        return [
            line(
                bufferUnderflows,
                what: "arrived too late for the decoder's buffer that the stream's HRD parameters describe",
                remedy: "\(Remedy.buffer), or use `hrdParameters` off"),
            line(overMaxFrameBytes, what: "exceeded `maxFrameBytes`", remedy: Remedy.frameBytes),
            line(overMaxSliceBytes, what: "had a slice larger than `maxSliceBytes`", remedy: Remedy.sliceBytes),
            line(overDataRateLimits, what: "exceeded a limit of `dataRateLimits`", remedy: Remedy.dataRate),
            line(
                overMaxBitrate, what: "exceeded `maxBitrate` (by default 1.5 times `bitrate`) within one second",
                remedy: Remedy.maximum),
            line(
                overLevel,
                what:
                    "exceeded the bit rate, the buffer, the picture size or the number of slices of the stream's level",
                remedy: "use a higher `level`, lower the rate, or raise `maxSliceBytes` if it is set"),
        ].compactMap { $0 }
    }
}
