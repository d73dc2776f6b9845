public import VideoBase

/// The treatment of a source's sound in the output.
public enum AudioMode: String, Sendable, Hashable, CaseIterable {
    /// Packets are copied unchanged.
    case copy
    /// Sound is decoded, and encoded again as AAC.
    case aac
    /// Sound is left out.
    case none
}

/// Passes a source's sound to an output, on the pictures' timeline. Only one thread may use it at a time.
public final class SoundFeed {
    /// The track that must be added to the output.
    public let track: MediaTrack
    private let sound: SourceSound
    private let transcoder: AudioTranscoder?
    /// Packets after the time that the pictures have reached.
    private var ahead: [TrackPacket] = []
    /// Packets of calls that threw, which are not returned yet.
    private var outputPackets: [TrackPacket] = []
    private var hasBegun = false
    /// Whether sound before the origin is dropped; nil until it is known. If the source is not cut, the first packet
    /// decides, because an edit list may cut it off.
    private var cutsStart: Bool?

    /// The number of damaged packets so far. If sound is encoded, it is `AudioTranscoder.damagedPackets`. If packets
    /// are copied, it is the number of packets that lost data in MPEG-TS; other faults are not detected.
    public var damagedPackets: Int { transcoder?.damagedPackets ?? copiedDamage }
    private var copiedDamage = 0
    /// Whether the sampling rate or the channels of copied packets change. Most containers describe them once.
    package private(set) var hasChanged = false
    /// Whether packets are copied.
    package var isCopying: Bool { transcoder == nil }

    /// Creates a feed.
    /// - Parameters:
    ///   - sound: The source's sound.
    ///   - mode: How the sound is written; `none` is treated as `copy`.
    ///   - isCancelled: Returns whether to stop while sound is encoded, as `AudioTranscoder.isCancelled`.
    /// - Throws: `unavailable` if the sound cannot be encoded.
    public init(_ sound: SourceSound, mode: AudioMode, isCancelled: (@Sendable () -> Bool)? = nil) throws {
        self.sound = sound
        transcoder = mode == .aac ? try AudioTranscoder(sound.track, from: sound.origin) : nil
        transcoder?.isCancelled = isCancelled
        track = transcoder?.track ?? sound.track
    }

    /// Adds the source's packets, and returns the output's packets up to a time of the pictures. The rest waits for
    /// pictures, which may end before it.
    /// - Throws: `interrupted` if encoding is cancelled. `finish` then returns the packets that exist.
    public func write(_ packets: [TrackPacket], until time: MediaTime) throws -> [TrackPacket] {
        try write(packets, until: time) { outputPackets.append($0) }
        return takeOutput()
    }

    private func takeOutput() -> [TrackPacket] {
        defer { outputPackets = [] }
        return outputPackets
    }

    /// Adds the source's packets, and passes on each packet of the output immediately.
    package func write(_ packets: [TrackPacket], until time: MediaTime, to take: (TrackPacket) throws -> Void) throws {
        if !hasBegun, sound.cutsStart {
            // Encoded sound begins with the first picture, not with the cut before it: in Matroska and MPEG-TS only the
            // encoder's delay may precede the sound.
            transcoder?.begin(from: sound.origin + time)
        }
        hasBegun = true
        transcoder?.wait(from: sound.origin + time)
        ahead += packets
        let count = ahead.firstIndex { time < ($0.presentation ?? .zero) - sound.origin } ?? ahead.count
        defer { ahead.removeFirst(count) }
        for packet in ahead[..<count] { try pass(packet, to: take) }
    }

    /// Adds the source's last packets, and returns the output's last packets.
    /// - Parameter end: The time of the pictures from which sound is dropped; nil keeps all.
    public func finish(_ packets: [TrackPacket], end: MediaTime?) throws -> [TrackPacket] {
        try finish(packets, end: end) { outputPackets.append($0) }
        return takeOutput()
    }

    package func finish(_ packets: [TrackPacket], end: MediaTime?, to take: (TrackPacket) throws -> Void) throws {
        if let end { transcoder?.wait(from: sound.origin + end) }
        ahead += packets
        let last = ahead.filter { packet in
            guard let end, let time = packet.presentation else { return true }
            return time - sound.origin < end
        }
        ahead = []
        do {
            for packet in last { try pass(packet, to: take) }
        } catch let error as VaencError where error.category == .interrupted && transcoder != nil {
            // The sound after a gap that is not filled is dropped.
        }
        guard let transcoder else { return }
        for packet in try transcoder.finish(end: end.map({ sound.origin + $0 })) { try take(relativeToOrigin(packet)) }
    }

    private func pass(_ packet: TrackPacket, to take: (TrackPacket) throws -> Void) throws {
        if let transcoder { return try transcoder.write(packet) { try take(relativeToOrigin($0)) } }
        if packet.lacksData { copiedDamage += 1 }
        if !hasChanged, !track.describes(packet) { hasChanged = true }
        guard let time = packet.presentation else { return try take(relativeToOrigin(packet)) }
        let cuts = cutsStart ?? (sound.cutsStart || SourceSound.isCut(before: sound.origin, at: time))
        cutsStart = cuts
        if cuts, !(sound.origin < time + packet.duration) { return }
        try take(relativeToOrigin(packet))
    }

    private func relativeToOrigin(_ packet: TrackPacket) throws -> TrackPacket { try packet.relative(to: sound.origin) }
}
