import LibAV
import VideoBase

/// The part of a file's pictures that is read, and the time that becomes zero.
struct SourceRange {
    private let timeBase: Rational
    private let firstShown: Int64
    /// The requested start in seconds; 0 if none was requested.
    let start: Double
    /// The stream's time at which the part ends, in ticks; nil if no end was requested.
    private let end: Int64?
    let frameLimit: Int
    /// The stream's time that becomes zero, in ticks.
    private(set) var origin: Int64
    /// The stream's time that becomes zero.
    private(set) var zero: MediaTime
    /// The expected number of pictures; nil if it is unknown.
    let frameCount: Int?
    /// The expected duration in seconds; nil if it is unknown.
    let seconds: Double?

    init(_ stream: Demuxer.Stream, _ options: SourceOptions, frameRate rate: Rational) {
        timeBase = stream.timeBase
        start = options.start?.seconds ?? 0
        frameLimit = options.frameLimit ?? .max
        firstShown = stream.startTime ?? 0
        // The file may begin with sound, which counts whether it is read or not.
        let beginning = stream.beginning ?? firstShown
        let isFar = Double(Int128(firstShown) - Int128(beginning)) * timeBase.value >= Self.longestLead
        let first = start == 0 && isFar ? firstShown : beginning
        origin = start > 0 ? InputContext.ticks(start, after: first, timeBase) : firstShown
        end = (options.duration?.seconds).map { [timeBase, start] duration in
            let end = InputContext.ticks(start + duration, after: first, timeBase)
            return start > 0 ? end : max(end, Int64(clamping: Int128(first) + 1))
        }
        // The number of skipped seconds of the pictures, which may begin after the file.
        let skipped = max(0, Double(Int128(origin) - Int128(firstShown)) * timeBase.value)
        var seconds = stream.durationSeconds.map { max(0, $0 - skipped) }
        var count = stream.frameCount.map { max(0, $0 - rate.firstFrame(from: skipped)) }
        if let requested = options.duration?.seconds {
            let lead = Double(Int128(firstShown) - Int128(first)) * timeBase.value
            let shown = start > 0 ? requested : max(0, requested - lead)
            seconds = min(seconds ?? .infinity, shown)
            count = count.map { min($0, rate.frameCount(from: skipped, for: shown)) }
        }
        if let limit = options.frameLimit {
            count = count.map { min($0, limit) }
            seconds = seconds.map { min($0, Double(limit) / rate.value) }
        }
        (frameCount, self.seconds) = (count, seconds)
        zero = Self.time(origin, timeBase)
    }

    /// Returns the ticks from a time of the part to its end; `Int64.max` if no end was requested.
    ///
    /// - Parameter elapsed: The ticks from the origin.
    func ticksLeft(after elapsed: Int128) -> Int64 {
        end.map { Int64(clamping: Int128($0) - Int128(origin) - elapsed) } ?? .max
    }

    /// The seconds by which sound may begin before the pictures. A longer time is treated as a fault of the file.
    private static let longestLead = 10.0

    private static func time(_ ticks: Int64, _ base: Rational) -> MediaTime {
        MediaTime(value: Int64(clamping: Int128(ticks) * Int128(base.numerator)), timescale: Int32(clamping: base.denominator))
    }

    /// Whether pictures before the origin are dropped because a start was requested.
    var isCut: Bool { start > 0 }

    /// Makes times count from the sound if it begins before the pictures, which then keep their distance from it.
    ///
    /// - Parameters:
    ///   - starts: The starts of the sound streams.
    ///   - isRead: Whether the sound is read.
    /// - Returns: The entry about sound that begins 10 s or more before the pictures, which is treated as a fault; nil
    ///   otherwise.
    mutating func begin(withSoundAt starts: [MediaTime], isRead: Bool) -> EffectiveEntry? {
        guard !isCut, let start = starts.min(), start < zero else { return nil }
        let early = start.converted(to: zero.timescale).value / Int64(max(1, timeBase.numerator))
        let distance = Double(Int128(firstShown) - Int128(early)) * timeBase.value
        if distance < Self.longestLead || !isRead {
            (origin, zero) = (early, start)
            return nil
        }
        return EffectiveEntry(
            option: "soundStart", asked: "\((distance * 1000).rounded() / 1000) s before the pictures", used: "with the pictures",
            why: "a distance of 10 s or more is treated as a fault of the file")
    }

    /// Returns the ticks to which the file must seek for the start; nil if reading continues at the beginning.
    func seekTarget(frameRate: Rational) -> Int64? {
        guard isCut else { return nil }
        // Containers seek by decoding times, and a picture is shown at most 16 pictures later (the size of the DPB). A
        // key frame that is shown after the start would miss the pictures that lead it.
        let lead = min(16 / frameRate.value, 60) / timeBase.value
        let target = Int64(clamping: Int128(origin) - Int128(lead.rounded(.up)))
        return target > firstShown ? target : nil
    }
}
