import CLibAV
import VideoBase

/// Determines the times of decoded pictures in the output.
struct PictureTimes {
    private let range: SourceRange
    private let timeBase: Rational
    /// The time of the first picture if it states none.
    private let start: Int64
    /// The ticks of a picture at the input's rate.
    private let length: Int64
    /// The requested frame rate; nil keeps the input's times.
    private let rate: Rational?
    /// The time of the latest picture, in ticks of the input; nil before the first.
    private(set) var latest: Int64?

    /// - Parameters:
    ///   - frameRate: The input's rate.
    ///   - rate: The requested frame rate.
    init(_ range: SourceRange, _ stream: Demuxer.Stream, frameRate: Rational, requested rate: Rational?) {
        self.range = range
        self.rate = rate
        timeBase = stream.timeBase
        start = stream.startTime ?? 0
        length = max(1, Int64((1 / frameRate.value / stream.timeBase.value).rounded()))
    }

    /// The position of a picture relative to the requested part.
    enum Position {
        /// A picture before the part.
        case beforeStart
        /// A picture after the part.
        case afterEnd
        /// A picture of the part, and the number of seconds from the part's start to it.
        case inside(FrameTiming, seconds: Double)
    }

    /// Takes the next picture.
    ///
    /// - Parameter delivered: The number of pictures that were output.
    mutating func take(_ frame: UnsafePointer<AVFrame>, delivered: Int) -> Position {
        var time = unsafe frame.pointee.best_effort_timestamp
        // A file may contain any times. The encoder rejects those that are out of range.
        if time == vaenc_no_pts() { time = latest.map { Int64(clamping: Int128($0) + Int128(length)) } ?? start }
        // Presentation times must increase.
        if let latest, time <= latest { time = Int64(clamping: Int128(latest) + 1) }
        latest = time
        // The picture that is shown at the start may begin slightly before it because of rounding.
        if time < range.origin { return .beforeStart }
        let elapsed = Int128(time) - Int128(range.origin)
        let left = range.ticksLeft(after: elapsed)
        if left <= 0 { return .afterEnd }
        // A picture that is displayed beyond the end of the requested part is cut there.
        let duration = unsafe min(vaenc_frame_duration(frame), left)
        return .inside(timing(elapsed, lasting: duration, delivered: delivered), seconds: Double(elapsed) * timeBase.value)
    }

    private func timing(_ elapsed: Int128, lasting duration: Int64, delivered: Int) -> FrameTiming {
        if let rate {
            let scale = Int32(clamping: rate.numerator)
            return FrameTiming(
                presentation: MediaTime(value: Int64(delivered * rate.denominator), timescale: scale),
                duration: MediaTime(value: Int64(rate.denominator), timescale: scale))
        }
        let scale = Int32(clamping: timeBase.denominator)
        return FrameTiming(
            presentation: MediaTime(value: Int64(clamping: elapsed * Int128(timeBase.numerator)), timescale: scale),
            duration: duration > 0
                ? MediaTime(value: Int64(clamping: Int128(duration) * Int128(timeBase.numerator)), timescale: scale) : nil)
    }
}
