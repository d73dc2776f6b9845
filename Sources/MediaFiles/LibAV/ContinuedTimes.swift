import VideoBase

/// Joins the times of MPEG-TS and MPEG program streams into one timeline. Their clock has 33 bits and wraps (H.222.0
/// 2.4.3.7), after 26.5 hours. At a joint of two streams the clock continues from any other value. libavformat treats a
/// jump backwards as a wrap.
struct ContinuedTimes {
    /// A packet's times, in ticks of its stream.
    struct Stamp {
        var stream: Int
        var shown: Int64?
        var decoded: Int64?
        var duration: Int64
        var time: Int64? { decoded ?? shown }
    }

    private struct Stream {
        /// The index of the shift that is added to the stream's times.
        var part: Int
        /// The latest time of the stream on the file's clock.
        var raw: Int64
        /// The latest time on the timeline.
        var time: Int64
        /// The end of the stream's packets on the timeline, in decoding order.
        var end: Int64
        /// The same end in presentation order.
        var shownEnd: Int64
        /// The duration of the stream's packets since its latest jump, without gaps.
        var steady: Int64 = 0
        /// The number of packets in the stream's part.
        var count = 1
        /// The number of consecutive jumps that came soon after another.
        var earlyJumps = 0
    }

    private static let second: Int64 = 90_000
    private static let period = Int64(1) << 33
    /// A wrap is expected only within this distance of the clock's ends.
    private static let wrapMargin = 60 * second
    /// If a time decreases by less than this, the packets are out of order.
    private static let largestStepBack = second / 2
    /// If a time increases by more than this, an hour, it belongs to another stream.
    private static let largestStep = 3600 * second
    /// The streams of a joined part begin within this distance of each other.
    private static let nearness = 10 * second
    /// The number of latest parts that are searched for a time. Older parts are farther in the past than `nearness`.
    private static let recentParts = 32
    /// The number of consecutive jumps, each after less than `shortestPart`, at which a stream counts as damaged.
    private static let earlyJumpLimit = 16
    /// A jump that follows another after less than this is an early one.
    private static let shortestPart = second / 2

    private var streams: [Int: Stream] = [:]
    /// The shift that is added to the file's clock, for each part of the file.
    private var shifts: [Int64] = [0]
    private var latest: Int64?
    /// The first jump, in ticks of the file's clock.
    private var firstJump: (from: Int64, to: Int64)?

    /// The report about the jumps; nil if there are none.
    var entry: EffectiveEntry? {
        guard let firstJump else { return nil }
        func seconds(_ ticks: Int64) -> Double { (Double(ticks) / Double(Self.second) * 1000).rounded() / 1000 }
        let count = shifts.count - 1
        return EffectiveEntry(
            option: "times", asked: "as in the input", used: "continued at \(count) \(count == 1 ? "jump" : "jumps")",
            why: """
                \(count == 1 ? "the times jump" : "the first jump is") from \(seconds(firstJump.from)) s \
                to \(seconds(firstJump.to)) s, which is not a wrap of the clock
                """)
    }

    /// Whether a stream's latest packet is its first after a jump.
    func isAfterJump(_ stream: Int) -> Bool { streams[stream].map { $0.part > 0 && $0.count == 1 } ?? false }

    /// Returns the streams that ended at the last jump, or have one packet after it, while another has a second of
    /// packets.
    func silentStreams(of all: Set<Int>) -> [Int] {
        let last = shifts.count - 1
        let known = streams.filter { all.contains($0.key) }
        guard last > 0, known.values.contains(where: { $0.part == last && $0.count > 1 && $0.steady > Self.second }) else { return [] }
        return known.filter { $0.value.part < last || $0.value.count < 2 }.map(\.key).sorted()
    }

    /// Returns the value of the file's clock for a time to which libavformat may have added a wrap.
    private static func raw(_ time: Int64) -> Int64 { time & (period - 1) }

    /// Returns the signed distance on the wrapping clock, in the shorter direction.
    private static func distance(_ from: Int64, _ to: Int64) -> Int64 {
        let forward = raw(to &- from)
        return forward >= period / 2 ? forward - period : forward
    }

    /// Whether a stream's next time belongs to another stream that was joined to it.
    static func isJump(from time: Int64, to next: Int64) -> Bool {
        let (before, after) = (raw(time), raw(next))
        let step = distance(before, after)
        if after < before, step > 0 {
            // The clock wraps only at its end.
            return !(before >= period - wrapMargin && after < wrapMargin)
        }
        return step < -largestStepBack || step > largestStep
    }

    /// Whether a stream's next time belongs to another stream that was joined to it. A stream that paused continues at
    /// the time of the other streams.
    private func jumps(_ stream: Stream, to time: Int64) -> Bool {
        guard Self.isJump(from: stream.raw, to: time), let latest else { return false }
        let placed = timelineTime(Self.raw(time), part: stream.part, near: latest)
        return placed <= stream.time || (placed - latest).magnitude > Self.nearness
    }

    /// Returns the indexes of the latest parts, from `part` on.
    private func recent(from part: Int) -> Range<Int> { max(part, shifts.count - Self.recentParts)..<shifts.count }

    /// Returns the time on the timeline for a value of the clock in a part of the file. It is the candidate nearest to
    /// `reference`.
    private func timelineTime(_ raw: Int64, part: Int, near reference: Int64) -> Int64 {
        reference + Self.distance(reference, raw &+ shifts[part])
    }

    /// Returns the known part after the stream's own in which a time is nearest to the latest time, or else to the
    /// stream's time; nil if none is within `nearness`.
    private func known(_ raw: Int64, after stream: Stream) -> Int? {
        guard let latest, stream.part + 1 < shifts.count else { return nil }
        // The latest time may belong to another program, which has its own clock (H.222.0 2.4.2.2).
        for reference in [latest, stream.time] {
            func distance(_ part: Int) -> UInt64 {
                (timelineTime(raw, part: part, near: reference) - reference).magnitude
            }
            let nearest = recent(from: stream.part + 1).min { distance($0) < distance($1) }
            if let nearest, distance(nearest) <= Self.nearness { return nearest }
        }
        return nil
    }

    /// Whether a packet begins a part of the file that is not known yet.
    func startsPart(_ stamp: Stamp) -> Bool {
        guard let time = stamp.time, let stream = streams[stamp.stream], jumps(stream, to: time) else { return false }
        return known(Self.raw(time), after: stream) == nil
    }

    /// Returns the reason why a stream is damaged from its latest packet on; nil if it is not damaged.
    func fault(of stream: Int) -> String? {
        guard let known = streams[stream], known.earlyJumps >= Self.earlyJumpLimit else { return nil }
        return "the times of stream \(stream) jump back and forth"
    }

    /// Returns the other streams that continue at the given stream's time, or later.
    func active(besides stream: Int) -> Set<Int> {
        guard let latest else { return [] }
        let time = min(latest, streams[stream]?.time ?? latest)
        return Set(streams.filter { $0.key != stream && $0.value.time > time - Self.nearness }.keys)
    }

    /// Whether a packet is more than 3 s later than the packet of the same stream that began a part.
    static func isFar(_ stamp: Stamp, behind start: Stamp) -> Bool {
        guard stamp.stream == start.stream, let time = stamp.time, let first = start.time else { return false }
        return distance(first, time) > 3 * second
    }

    /// Returns the shift of a part from its first packet of each stream, in ticks. The shift is large enough that no
    /// stream goes back. A packet far from the first one belongs to another program and is ignored.
    func shift(beginning stamps: [Stamp]) -> Int64 {
        guard let reference = stamps.first?.time.map(Self.raw) else { return shifts[shifts.count - 1] }
        let needed = stamps.compactMap { stamp -> Int64? in
            guard let time = stamp.time, let stream = streams[stamp.stream] else { return nil }
            // The clock may wrap between the first packets of two streams.
            let distance = Self.distance(reference, time)
            if distance.magnitude > Self.nearness { return nil }
            let first = reference + distance
            let shown = stamp.shown.map { first + Self.distance(time, $0) } ?? first
            return max(stream.end - first, stream.shownEnd - shown)
        }
        return needed.max() ?? shifts[shifts.count - 1]
    }

    /// Adds a part that begins with the given packet.
    mutating func begin(_ stamp: Stamp, shift: Int64) {
        if firstJump == nil, let stream = streams[stamp.stream], let time = stamp.time { firstJump = (stream.raw, Self.raw(time)) }
        shifts.append(shift)
    }

    /// Returns the times of the next packet on the timeline.
    mutating func take(_ stamp: Stamp) -> (shown: Int64?, decoded: Int64?) {
        guard let time = stamp.time else { return (stamp.shown, stamp.decoded) }
        let raw = Self.raw(time)
        let before = streams[stamp.stream]
        var part = before?.part ?? 0
        var hasJumped = false
        if let before, jumps(before, to: time) {
            hasJumped = true
            part = known(raw, after: before) ?? shifts.count - 1
        } else if let latest, part + 1 < shifts.count {
            // A stream that ended before the others in its part continues in the next part without a jump.
            let nearest = ([part] + recent(from: part + 1)).min { a, b in
                let (one, other) = (timelineTime(raw, part: a, near: latest), timelineTime(raw, part: b, near: latest))
                let (isBack, otherIsBack) = (one < before?.time ?? .min, other < before?.time ?? .min)
                return isBack == otherIsBack ? (one - latest).magnitude < (other - latest).magnitude : otherIsBack
            }
            if let nearest,
                before == nil || (timelineTime(raw, part: nearest, near: latest) - latest).magnitude <= Self.nearness
            {
                part = nearest
            }
        }
        let placed = latest.map { timelineTime(raw, part: part, near: $0) } ?? (time.magnitude < 1 << 60 ? time : raw)
        let shown = stamp.shown.map { placed + Self.distance(time, $0) }
        let step = before.map { placed - $0.time } ?? 0
        let usual = step > 0 && step < Self.second ? step : Self.second / 25
        let length = stamp.duration > 0 ? min(stamp.duration, Self.largestStep) : usual
        var next = Stream(
            part: part, raw: raw, time: placed, end: max(before?.end ?? placed, placed + length),
            shownEnd: max(before?.shownEnd ?? placed, (shown ?? placed) + length))
        if let before, before.part == part { next.count = before.count + 1 }
        if let before {
            let isEarlyJump = hasJumped && before.steady < Self.shortestPart
            next.steady = hasJumped ? 0 : before.steady + (step > 0 && step < Self.nearness ? step : 0)
            next.earlyJumps = hasJumped ? isEarlyJump ? before.earlyJumps + 1 : 0 : before.earlyJumps
        }
        streams[stamp.stream] = next
        latest = max(latest ?? placed, placed)
        return (shown, stamp.decoded == nil ? nil : placed)
    }
}
