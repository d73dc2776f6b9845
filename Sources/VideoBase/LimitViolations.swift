/// Pictures that did not keep to what was asked of them, or to what the stream says of itself: the driver, a limit of
/// QP or the content did not let them. They stand all the same.
public struct LimitViolations: Sendable, Hashable, Codable {
    /// Pictures that had not arrived whole in the decoder's buffer when it took them: the stream's HRD parameters do
    /// not hold.
    public var bufferUnderflows = 0
    /// Pictures larger than `maxFrameBytes`.
    public var overMaxFrameBytes = 0
    /// Pictures with a slice larger than `maxSliceBytes`.
    public var overMaxSliceBytes = 0
    /// Pictures with which a stretch of time had more than its data-rate limit.
    public var overDataRateLimits = 0
    /// Pictures with which a second had more than the highest bit rate.
    public var overMaxBitrate = 0
    /// Pictures that were too much for the rate, the buffer or the least compression ratio (MinCR) of the stream's level
    /// (H.264 Table A-1, H.265 Table A.9).
    public var overLevel = 0

    public init() {}

    public mutating func add(_ other: LimitViolations) {
        func sum(_ count: Int, _ more: Int) -> Int { Int(clamping: Int128(count) + Int128(more)) }
        bufferUnderflows = sum(bufferUnderflows, other.bufferUnderflows)
        overMaxFrameBytes = sum(overMaxFrameBytes, other.overMaxFrameBytes)
        overMaxSliceBytes = sum(overMaxSliceBytes, other.overMaxSliceBytes)
        overDataRateLimits = sum(overDataRateLimits, other.overDataRateLimits)
        overMaxBitrate = sum(overMaxBitrate, other.overMaxBitrate)
        overLevel = sum(overLevel, other.overLevel)
    }

    /// One line for a person for each limit that was broken, with what helps.
    public var notices: [String] {
        func line(_ count: Int, _ what: String, _ remedy: String) -> String? {
            count == 0 ? nil : "\(count) \(count == 1 ? "picture" : "pictures") \(what): \(remedy)"
        }
        return [
            line(
                bufferUnderflows, "came too late for the decoder's buffer, against the stream's HRD parameters",
                "raise `maxQP`, `bitrate` or `vbvSize`, or say `hrdParameters` off"),
            line(overMaxFrameBytes, "larger than `maxFrameBytes`", "raise it, or `maxQP`"),
            line(overMaxSliceBytes, "with a slice larger than `maxSliceBytes`", "raise it, or the QP"),
            line(overDataRateLimits, "over a limit of `dataRateLimits`", "raise it, or `maxQP`"),
            line(overMaxBitrate, "with a second over `maxBitrate`", "raise it, or `maxQP`"),
            line(
                overLevel, "over the rate, the buffer or the picture size of the stream's level",
                "name a higher `level`, or lower the rate"),
        ].compactMap { $0 }
    }
}
