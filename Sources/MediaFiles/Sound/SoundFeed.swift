public import VideoBase

/// What becomes of a source's sound.
public enum AudioMode: String, Sendable, Hashable, CaseIterable {
    /// The packets as they are.
    case copy
    /// Decoded, and encoded anew.
    case aac
    case none
}

/// A source's sound on its way to an output, with the pictures' times. One thread at a time.
public final class SoundFeed {
    /// What the output is told of.
    public let track: MediaTrack
    private let sound: SourceSound
    private let transcoder: AudioTranscoder?
    /// What the pictures have not reached.
    private var ahead: [TrackPacket] = []
    /// What calls that threw had given.
    private var given: [TrackPacket] = []
    private var hasBegun = false
    /// The beginning is left out: known of a cut, and else by the first packet, which an edit list may cut off.
    private var cutsStart: Bool?

    /// The number of damaged packets so far, of sound that is encoded anew: `AudioTranscoder.damagedPackets`. Packets that are copied
    /// are not looked into.
    public var damagedPackets: Int { transcoder?.damagedPackets ?? 0 }

    /// - Parameter isCancelled: of sound that is encoded: `AudioTranscoder.isCancelled`.
    /// - Throws: `unavailable` where it cannot be encoded.
    public init(_ sound: SourceSound, mode: AudioMode, isCancelled: (@Sendable () -> Bool)? = nil) throws {
        self.sound = sound
        transcoder = mode == .aac ? try AudioTranscoder(sound.track, from: sound.origin) : nil
        transcoder?.isCancelled = isCancelled
        track = transcoder?.track ?? sound.track
    }

    /// Takes the source's packets, and gives those of the output up to a time of the pictures. The rest waits for pictures,
    /// which may end before it.
    /// - Throws: `interrupted` where encoding is cancelled; `finish` then gives what there is.
    public func write(_ packets: [TrackPacket], until time: MediaTime) throws -> [TrackPacket] {
        try write(packets, until: time) { given.append($0) }
        return takeGiven()
    }

    private func takeGiven() -> [TrackPacket] {
        defer { given = [] }
        return given
    }

    /// The same, with each packet given as soon as there is one.
    package func write(_ packets: [TrackPacket], until time: MediaTime, to take: (TrackPacket) throws -> Void) throws {
        if !hasBegun, sound.cutsStart {
            // New sound begins with the first picture, not with the cut before it: what Matroska and MPEG-TS put before sound is
            // the encoder's delay alone.
            transcoder?.begin(from: sound.origin + time)
        }
        hasBegun = true
        transcoder?.wait(from: sound.origin + time)
        ahead += packets
        let count = ahead.firstIndex { time < ($0.presentation ?? .zero) - sound.origin } ?? ahead.count
        defer { ahead.removeFirst(count) }
        for packet in ahead[..<count] { try pass(packet, to: take) }
    }

    /// Takes the last packets and gives the last ones.
    /// - Parameter end: of the pictures' times: what is heard from then on is left out. nil: all is given.
    public func finish(_ packets: [TrackPacket], end: MediaTime?) throws -> [TrackPacket] {
        try finish(packets, end: end) { given.append($0) }
        return takeGiven()
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
            // What follows a gap that is not filled is left out.
        }
        guard let transcoder else { return }
        for packet in try transcoder.finish(end: end.map({ sound.origin + $0 })) { try take(counted(packet)) }
    }

    private func pass(_ packet: TrackPacket, to take: (TrackPacket) throws -> Void) throws {
        if let transcoder { return try transcoder.write(packet) { try take(counted($0)) } }
        guard let time = packet.presentation else { return try take(counted(packet)) }
        let cuts = cutsStart ?? (sound.cutsStart || SourceSound.isCut(before: sound.origin, at: time))
        cutsStart = cuts
        if cuts, !(sound.origin < time + packet.duration) { return }
        try take(counted(packet))
    }

    private func counted(_ packet: TrackPacket) throws -> TrackPacket { try packet.counted(from: sound.origin) }
}
