import CLibAV
import LibAV
import VideoBase

/// Fills in the decoding times that a file does not give: Matroska has none, and libavformat derives them from the presentation
/// times, but for those of the first pictures of a stream whose pictures are reordered. They continue backwards from the
/// first one known, by a picture's duration, and never exceed the presentation times.
struct MissingDecodeTimes {
    /// Packets that wait for a known decoding time.
    private let limit: Int
    /// Ticks between two pictures, where a packet does not say its duration.
    private let usualStep: Int64
    private var waiting: [TrackPacket] = []
    /// The latest decoding time before those.
    private var latest: Int64?
    /// The file gives no decoding times at all.
    private var isGivenUp = false

    /// nil for tracks whose pictures are decoded in the order in which they are shown.
    ///
    /// - Parameter beginsEarly: presentation times may lie before 0, behind which libavformat gives decoding times.
    init?(_ track: MediaTrack, beginsEarly: Bool) {
        guard track.kind == .video, !track.isAttachedPicture, track.isReordered else { return nil }
        let (rate, base) = unsafe (track.stream.pointee.avg_frame_rate, track.timeBase)
        let ticks = Int128(base.denominator) * Int128(rate.den)
        // No more pictures are reordered than a decoder stores; before 0 lie 33 s at most.
        limit = beginsEarly ? 4096 : 16
        usualStep = rate.num > 0 && rate.den > 0 ? MediaTime.rounded(ticks, by: Int128(base.numerator) * Int128(rate.num)) : 1
    }

    /// Takes the next packet in decoding order; returns those whose decoding times are known, in that order.
    mutating func add(_ packet: TrackPacket) throws -> [TrackPacket] {
        if let known = packet.decodeTicks {
            defer { latest = known }
            return try filled(before: known) + [packet]
        }
        if isGivenUp || waiting.isEmpty && packet.presentation == nil { return [packet] }
        waiting.append(packet)
        if waiting.count <= limit { return [] }
        isGivenUp = true
        defer { waiting = [] }
        return waiting
    }

    /// Returns what waits at the end of the stream.
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
    /// Pictures are decoded in another order than they are shown.
    var isReordered: Bool { unsafe stream.pointee.codecpar.pointee.video_delay > 0 }
}
