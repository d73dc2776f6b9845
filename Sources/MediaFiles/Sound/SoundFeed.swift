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
    private var hasBegun = false
    /// The beginning is left out: known of a cut, and else by the first packet, which an edit list may cut off.
    private var cutsStart: Bool?

    /// - Throws: `unavailable` where it cannot be encoded.
    public init(_ sound: SourceSound, mode: AudioMode) throws {
        self.sound = sound
        transcoder = mode == .aac ? try AudioTranscoder(sound.track, from: sound.origin) : nil
        track = transcoder?.track ?? sound.track
    }

    /// Takes the source's packets, and gives those of the output up to a time of the pictures. The rest waits for pictures,
    /// which may end before it.
    public func write(_ packets: [TrackPacket], until time: MediaTime) throws -> [TrackPacket] {
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
        return try ahead[..<count].flatMap(pass)
    }

    /// Takes the last packets and gives the last ones.
    /// - Parameter end: of the pictures' times: what is heard from then on is left out. nil: all is given.
    public func finish(_ packets: [TrackPacket], end: MediaTime?) throws -> [TrackPacket] {
        if let end { transcoder?.wait(from: sound.origin + end) }
        ahead += packets
        var last = try ahead.filter { packet in
            guard let end, let time = packet.presentation else { return true }
            return time - sound.origin < end
        }.flatMap(pass)
        ahead = []
        if let transcoder { last += try transcoder.finish(end: end.map { sound.origin + $0 }).map(counted) }
        return last
    }

    private func pass(_ packet: TrackPacket) throws -> [TrackPacket] {
        if let transcoder { return try transcoder.write(packet).map(counted) }
        guard let time = packet.presentation else { return [try counted(packet)] }
        let cuts = cutsStart ?? (sound.cutsStart || SourceSound.isCut(before: sound.origin, at: time))
        cutsStart = cuts
        if cuts, !(sound.origin < time + packet.duration) { return [] }
        return [try counted(packet)]
    }

    private func counted(_ packet: TrackPacket) throws -> TrackPacket { try packet.counted(from: sound.origin) }
}
