import CLibAV
import LibAV
import VideoBase

/// Fills in missing decoding times. Matroska has no decoding times. libavformat derives them from the presentation
/// times, except for the first pictures of a stream with reordered pictures. These times are continued backwards from
/// the first known one, by a picture's duration, and never exceed the presentation times.
struct MissingDecodeTimes {
    /// The maximum number of packets that wait for a known decoding time.
    private let limit: Int
    /// The ticks between two pictures, if a packet has no duration.
    private let usualStep: Int64
    private var waiting: [TrackPacket] = []
    /// The latest decoding time before the waiting packets.
    private var latest: Int64?
    /// Whether the file has no decoding times at all.
    private var hasNoDecodeTimes = false

    /// Creates the completion of a track's times. Returns nil for tracks whose pictures are decoded in presentation
    /// order.
    ///
    /// - Parameter beginsEarly: Whether presentation times may be before 0. libavformat returns decoding times
    ///   only after them.
    init?(_ track: MediaTrack, beginsEarly: Bool) {
        guard track.kind == .video, !track.isAttachedPicture, track.isReordered else { return nil }
        let (rate, base) = unsafe (track.stream.pointee.avg_frame_rate, track.timeBase)
        let ticks = Int128(base.denominator) * Int128(rate.den)
        // A decoder stores at most 16 reordered pictures. The times before 0 span at most 33 s.
        limit = beginsEarly ? 4096 : 16
        usualStep = rate.num > 0 && rate.den > 0 ? MediaTime.rounded(ticks, by: Int128(base.numerator) * Int128(rate.num)) : 1
    }

    /// Adds the next packet in decoding order. Returns the packets whose decoding times are known, in that order.
    mutating func add(_ packet: TrackPacket) throws -> [TrackPacket] {
        if let known = packet.decodeTicks {
            defer { latest = known }
            return try filled(before: known) + [packet]
        }
        if hasNoDecodeTimes || waiting.isEmpty && packet.presentation == nil { return [packet] }
        waiting.append(packet)
        if waiting.count <= limit { return [] }
        hasNoDecodeTimes = true
        defer { waiting = [] }
        return waiting
    }

    /// Returns the packets that still wait at the end of the stream.
    mutating func finish() throws -> [TrackPacket] { try filled(before: nil) }

    private mutating func filled(before known: Int64?) throws -> [TrackPacket] {
        defer { waiting = [] }
        var next = known
        return try waiting.reversed().map { packet in
            var step = max(packet.durationTicks > 0 ? packet.durationTicks : usualStep, 1)
            if let known, let latest {
                let room = (Int128(known) - Int128(latest)) / Int128(waiting.count + 1)
                step = max(min(step, Int64(clamping: room)), 1)
            }
            let before = next.map { $0.subtractingReportingOverflow(step) }.map { $0.overflow ? .min + 1 : $0.partialValue }
            let time = [before, packet.presentationTicks].compactMap { $0 }.min()
            next = time
            return try time.map(packet.decoded) ?? packet
        }.reversed()
    }
}

extension MediaTrack {
    /// Whether pictures are decoded in an order that differs from presentation order.
    var isReordered: Bool { unsafe stream.pointee.codecpar.pointee.video_delay > 0 }
}
