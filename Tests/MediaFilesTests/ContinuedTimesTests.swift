import Testing
import VideoBase

@testable import MediaFiles

/// Times of a 33-bit clock that wraps and jumps, as in MPEG-TS, mapped to one timeline.
@Suite struct ContinuedTimesTests {
    private static let second: Int64 = 90_000
    private static let period = Int64(1) << 33
    private static let length: Int64 = 3600

    private struct Packet {
        var stream: Int
        var time: Int64
    }

    /// Makes alternating packets of two streams.
    private static func part(_ first: Int64, _ second: Int64, count: Int = 50) -> [Packet] {
        (0..<count).flatMap { index in
            [Packet(stream: 0, time: first + Int64(index) * length), Packet(stream: 1, time: second + Int64(index) * length)]
        }
    }

    /// Processes the packets as a reader does, and returns the times of each stream.
    private static func continued(_ packets: [Packet]) -> (streams: [[Int64]], times: ContinuedTimes) {
        var times = ContinuedTimes()
        var streams: [[Int64]] = [[], []]
        func stamp(_ packet: Packet) -> ContinuedTimes.Stamp {
            ContinuedTimes.Stamp(stream: packet.stream, shown: packet.time, decoded: packet.time, duration: length)
        }
        for (index, packet) in packets.enumerated() {
            let first = stamp(packet)
            if times.startsPart(first) {
                var trial = times
                var missing = times.active(besides: first.stream)
                var starts = [first]
                for later in index + 1..<packets.count {
                    let next = stamp(packets[later])
                    if missing.isEmpty || ContinuedTimes.isFar(next, behind: first) { break }
                    guard missing.contains(next.stream) else { continue }
                    if trial.startsPart(next) {
                        missing.remove(next.stream)
                        starts.append(next)
                    } else {
                        _ = trial.take(next)
                    }
                }
                times.begin(first, shift: trial.shift(beginning: starts))
            }
            let taken = times.take(first)
            #expect(taken.shown == taken.decoded)
            streams[packet.stream].append(taken.decoded ?? -1)
        }
        return (streams, times)
    }

    private static func steps(_ times: [Int64]) -> [Int64] { zip(times, times.dropFirst()).map { $1 - $0 } }

    /// A jump back, as stored in the file and as libavformat returns it; also from a time near 26.5 hours, which is no
    /// wrap.
    @Test(arguments: [0, period]) func backwardJumpsAreContinued(added: Int64) throws {
        for start in [2, 1000, 72_000, 95_000] {
            let first = Int64(start) * Self.second
            let (streams, times) = Self.continued(Self.part(first, first + 500) + Self.part(added + Self.second, added + Self.second + 900))
            #expect(Self.steps(streams[0]).allSatisfy { $0 == Self.length }, "\(start)")
            // The offset to the other stream is that of the second part.
            #expect(Self.steps(streams[1]).filter { $0 != Self.length } == [Self.length + 400], "\(start)")
            #expect(streams[0].first == first && times.entry?.used == "continued at 1 jump", "\(start)")
        }
    }

    /// One stream lags behind the other: no time goes back, and late packets of the first part stay before the joint.
    @Test func laggingStreamsAreContinued() throws {
        let s = Self.second
        let (streams, times) = Self.continued(Self.part(1000 * s, 999 * s) + Self.part(5 * s, 4 * s) + Self.part(5 * s, 4 * s))
        #expect(streams.allSatisfy { Self.steps($0).allSatisfy { $0 == Self.length } })
        #expect(times.entry?.used == "continued at 2 jumps")
    }

    /// Two programs have their own clocks, one far behind the other: each continues where it was.
    @Test func separateClocksAreContinued() throws {
        let s = Self.second
        for (one, other) in [(Int64(1000), Int64(6000)), (6000, 1000)] {
            let (streams, times) = Self.continued(Self.part(one * s, other * s) + Self.part(5 * s, 400 * s) + Self.part(3 * s, 70 * s))
            #expect(streams.allSatisfy { Self.steps($0).allSatisfy { $0 < s } }, "\(one)")
            #expect(streams.allSatisfy { Self.steps($0).allSatisfy { $0 > 0 } } && times.entry != nil, "\(one)")
        }
    }

    @Test func farForwardJumpsAreContinued() throws {
        let s = Self.second
        let (streams, times) = Self.continued(Self.part(s, s) + Self.part(7200 * s, 7200 * s))
        #expect(streams.allSatisfy { Self.steps($0).allSatisfy { $0 == Self.length } } && times.entry != nil)
        // A gap of minutes is kept.
        let gap = Self.continued(Self.part(s, s) + Self.part(600 * s, 600 * s))
        #expect(gap.times.entry == nil && gap.streams[0].last == 600 * s + 49 * Self.length)
    }

    /// A stream that pauses for more than an hour stays in sync with the others.
    @Test func pausedStreamKeepsItsTimes() throws {
        let packets = (0..<7200).flatMap { index -> [Packet] in
            let time = Int64(index + 1) * Self.second
            let one = Packet(stream: 0, time: time)
            return index < 10 || index >= 5000 ? [one, Packet(stream: 1, time: time)] : [one]
        }
        let (streams, times) = Self.continued(packets)
        #expect(times.entry == nil)
        for stream in 0...1 { #expect(streams[stream] == packets.filter { $0.stream == stream }.map(\.time)) }
    }

    /// A stream whose times oscillate is damaged. Many short joined clips are not, and neither are pictures once a
    /// second.
    @Test(arguments: [1, 3]) func oscillatingTimesAreAFault(_ count: Int) throws {
        let s = Self.second
        for high in [1000, 10_000] {
            let packets = (0..<400).map { index in
                Packet(stream: 0, time: (index / count % 2 == 0 ? Int64(high) : 5) * s + Int64(index) * Self.length)
            }
            #expect(Self.continued(packets).times.fault(of: 0) != nil, "\(high)")
        }
        let clips = (0..<100).flatMap { _ in Self.part(5 * s, 5 * s, count: 15) }
        let joined = Self.continued(clips)
        #expect(joined.times.fault(of: 0) == nil && joined.times.entry?.used == "continued at 99 jumps")
        #expect(joined.streams.allSatisfy { Self.steps($0).allSatisfy { $0 == Self.length } })
        let slow = (0..<300).map { Packet(stream: 0, time: Int64($0 % 10 + 5) * s) }
        #expect(Self.continued(slow).times.fault(of: 0) == nil)
    }

    /// A stream continues after many parts without its packets.
    @Test func streamContinuesAfterManyParts() throws {
        let s = Self.second
        let clips = (0..<2000).flatMap { _ in Self.part(5 * s, 5 * s, count: 25) }.filter { $0.stream == 0 }
        let (streams, times) = Self.continued([Packet(stream: 1, time: 5 * s)] + clips + [Packet(stream: 1, time: 5 * s + 24 * Self.length)])
        #expect(times.entry?.used == "continued at 1999 jumps")
        #expect(streams[1].last == streams[0].last)
    }

    @Test(arguments: [true, false]) func wrappedClockIsContinued(isSeen: Bool) throws {
        let start = Self.period - 2 * Self.second
        let packets = Self.part(start, start + 500, count: 100).map { packet in
            Packet(stream: packet.stream, time: isSeen ? packet.time & (Self.period - 1) : packet.time)
        }
        let (streams, times) = Self.continued(packets)
        #expect(streams.allSatisfy { Self.steps($0).allSatisfy { $0 == Self.length } } && times.entry == nil)
    }

    /// All combinations of extreme times are tested.
    @Test func extremeTimesDoNotTrap() throws {
        let values: [Int64] = [.min, .min + 1, -1, 0, 1, Self.period - 1, Self.period, .max - 1, .max]
        for a in values {
            for b in values {
                var times = ContinuedTimes()
                for (index, value) in [a, b, a, b].enumerated() {
                    let stamp = ContinuedTimes.Stamp(stream: index % 2, shown: b, decoded: value, duration: a)
                    if times.startsPart(stamp) { times.begin(stamp, shift: times.shift(beginning: [stamp])) }
                    _ = times.take(stamp)
                }
            }
        }
    }
}
