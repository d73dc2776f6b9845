import CLibAV
import LibAV
import VideoBase

/// The part of the input that is copied, and the input time that becomes zero.
struct RemuxRange {
    private let start: Double?
    private let duration: Double?
    /// The unit of the leader's times, in seconds.
    private let base: Rational
    /// The beginning of the input, from which `start` and `duration` count.
    let beginning: MediaTime
    /// The input time of `start`; nil if the whole beginning is copied.
    let requestedStart: MediaTime?
    /// The input time at which the copy ends; nil for the end of the input.
    let end: MediaTime?
    /// Whether the input's edit list hides its beginning, which then stays hidden.
    let hasEdits: Bool
    /// The input time that becomes zero: the beginning of the input. With `start` it is the leader's first key frame, or
    /// the input's first shown time if that is later.
    private(set) var origin: MediaTime
    /// Whether the copy has begun.
    private(set) var isOpen: Bool
    /// The presentation time of the leader's first copied picture; nil if all pictures are copied.
    private(set) var first: MediaTime?
    /// A description of the packet where the copy begins, if that is before `requestedStart`; nil otherwise.
    private var earlyBeginning: String?
    /// The end of the leader's pictures so far.
    private var reached: MediaTime?
    /// The end of the last picture that is shown after `end`.
    private var overhang: MediaTime?

    /// - Parameters:
    ///   - tracks: The track of each stream that is copied.
    ///   - leader: The index of the stream at whose key frames the copy begins.
    init(_ input: InputContext, tracks: [MediaTrack?], leader: Int?, options: RemuxOptions) throws {
        (start, duration) = (options.start?.seconds, options.duration?.seconds)
        base = leader.flatMap { tracks[$0]?.timeBase } ?? Rational(1, 90_000)
        // Transport streams may have several programs, each with its own clock.
        let stated = unsafe input.context.pointee.start_time
        let startsAnywhere = ["mpegts", "mpeg", "hls"].contains(input.container) && stated != vaenc_no_pts()
        origin = startsAnywhere ? MediaTime(value: stated, timescale: Int32(vaenc_time_base())) : .zero
        // The times of bare streams are computed here, from 0 on.
        let firstTicks = input.isBare ? 0 : leader.flatMap { input.beginning(for: $0) } ?? 0
        beginning = Self.time(firstTicks, base)
        // A start of 0 copies the whole input.
        isOpen = (start ?? 0) == 0
        requestedStart =
            if let start, !isOpen { Self.time(InputContext.ticks(start, after: firstTicks, base), base) } else { nil }
        end = duration.map { [start, base, beginning] in Self.end(of: $0, after: start ?? 0, from: beginning, base) }
        // Other containers have no edit list that hides the part before 0, so that part begins the output.
        hasEdits = input.container == "mov" || input.container == "hls"
        if isOpen, !startsAnywhere { try correctOrigin(input, tracks: tracks, leader: leader) }
    }

    /// Sets the origin of a whole copy of an input whose times begin at 0.
    private mutating func correctOrigin(_ input: InputContext, tracks: [MediaTrack?], leader: Int?) throws {
        // Subtitles may come first. The part before the origin would be hidden.
        var firstStart = beginning
        for (index, track) in tracks.enumerated() {
            guard let track, track.kind == .subtitle, let ticks = input.firstTime(of: index) else { continue }
            firstStart = min(firstStart, Self.time(ticks, track.timeBase))
        }
        if MediaTime.zero < firstStart {
            // libavformat may state the time of the first picture in decoding order. The part that an edit list cuts
            // off stays before the beginning.
            for (index, track) in tracks.enumerated() where !hasEdits {
                guard let track, track.kind == .video, track.isReordered, let ticks = try input.earliestShown(of: index) else { continue }
                firstStart = min(firstStart, Self.time(ticks, track.timeBase))
            }
            // The samples that a decoder skips at the beginning of sound are before the beginning.
            if MediaTime.zero < firstStart { origin = firstStart }
        }
        let showsEarly = leader.map { tracks[$0]?.kind == .video && (input.firstTime(of: $0) ?? 0) < 0 } ?? false
        if !hasEdits, showsEarly || SourceSound.isCut(before: .zero, at: beginning) { origin = beginning }
    }

    private static func time(_ ticks: Int64, _ base: Rational) -> MediaTime {
        MediaTime(value: Int64(clamping: Int128(ticks) * Int128(base.numerator)), timescale: Int32(clamping: base.denominator))
    }

    /// Returns the input time at which a copy ends that begins at `start` and lasts `duration` seconds, rounded to the
    /// leader's ticks.
    private static func end(of duration: Double, after start: Double, from beginning: MediaTime, _ base: Rational) -> MediaTime {
        let first = MediaTime.rounded(
            Int128(beginning.value) * Int128(base.denominator), by: Int128(max(beginning.timescale, 1)) * Int128(base.numerator))
        return time(InputContext.ticks(start + duration, after: first, base), base)
    }

    /// Records the times of a packet of the leader.
    mutating func note(_ packet: TrackPacket) {
        guard let time = packet.presentation ?? packet.decode else { return }
        // Some containers do not state the duration of a picture.
        let over = time + (packet.duration.value > 0 ? packet.duration : MediaTime(value: 1, timescale: 25))
        reached = reached.map { max($0, over) } ?? over
    }

    /// Records that a picture is shown after the end, because pictures before the end need it for decoding.
    mutating func exceed(with packet: TrackPacket, at time: MediaTime, _ end: MediaTime) {
        overhang = max(overhang ?? end, time + packet.duration)
    }

    /// Begins the copy at a key frame of the leader.
    /// - Returns: The difference from the requested start.
    mutating func begin(at time: MediaTime) -> EffectiveEntry {
        isOpen = true
        let requested = start ?? 0
        first = time
        // The part that an edit list cuts off stays cut off, by the output's edit list if it has one.
        origin = hasEdits ? max(beginning, time) : time
        if earliness > 0 { earlyBeginning = origin == time ? "the previous key frame" : "the first picture of the input" }
        return EffectiveEntry(
            option: "start", asked: "\(requested)", used: "\((usedStart * 1000).rounded() / 1000)",
            why: earliness == 0 ? .requested : .explained(earlyBeginning ?? "the first key frame"))
    }

    /// The seconds from the beginning of the copy to the requested start.
    private var earliness: Double { requestedStart.map { ($0 - origin).seconds } ?? 0 }
    /// The part of the input that was skipped, in seconds.
    var usedStart: Double { (start ?? 0) - earliness }

    /// Whether the input reaches the requested start.
    var reachesStart: Bool { requestedStart.map { start in reached.map { start < $0 } ?? false } ?? true }

    /// The difference from the requested duration; nil if there is none. If the input ends before `end`, nothing more
    /// could be copied, and no difference is reported.
    var durationEntry: EffectiveEntry? {
        guard let duration, let end, let reached, !(reached < end), overhang != nil || earlyBeginning != nil else { return nil }
        let used = ((overhang ?? end) - (first == nil ? beginning : origin)).seconds
        let reasons = [
            earlyBeginning.map { "from \($0)" },
            overhang == nil ? nil : "pictures before the end need later ones for decoding",
        ]
        return EffectiveEntry(
            option: "duration", asked: "\(duration)", used: "\((used * 1000).rounded() / 1000)",
            why: .explained(reasons.compactMap { $0 }.joined(separator: "; ")))
    }

    /// Returns a time of the input as text for messages, relative to the beginning, as `start` and `duration` are.
    func printed(_ time: MediaTime?) -> String {
        time.map { " at \((($0 - beginning).seconds * 1000).rounded() / 1000) s" } ?? ""
    }

    /// The end of the leader's pictures so far, as text for messages.
    var printedReached: String { printed(reached) }

    /// Returns the longest duration, in hundredths of a second, with which a copy ends before a time; nil if there is
    /// none.
    func duration(endingBefore limit: MediaTime) -> Double? {
        let start = start ?? 0
        let longest = (((limit - beginning).seconds - start) * 100).rounded(.down)
        // The end is rounded to the leader's ticks, which may be long.
        for hundredths in stride(from: longest, to: max(longest - 100, 0), by: -1)
        where !(limit < Self.end(of: hundredths / 100, after: start, from: beginning, base)) {
            return hundredths / 100
        }
        return nil
    }
}
