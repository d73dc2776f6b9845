import NALUnits
import VideoBase

/// A bare stream of consecutive packets, in Annex B or length-prefixed form. The parameter sets are in the packets of
/// key frames.
final class ElementarySink: PacketSink {
    let path: String
    private let lengthPrefixed: Bool
    private let file: Guarded<OutputFile>
    private let codec = Guarded<VideoCodec?>(nil)
    private let order = Guarded(PacketOrder())
    let keptPart: String?

    init(_ file: sending OutputFile, lengthPrefixed: Bool) {
        path = file.path
        self.lengthPrefixed = lengthPrefixed
        keptPart = file.keptPart
        self.file = Guarded(file)
    }

    func add(_ track: MediaTrack) throws -> Int {
        throw VaencError(
            .usage, "\(path) can contain only one video track",
            remedy: "use mp4, mov, mkv or ts for more tracks")
    }

    func write(_ packet: TrackPacket, track: Int) throws {
        throw VaencError(.usage, "\(path) has no track \(track)")
    }

    func start(_ description: EncoderDescription) throws {
        if let named = VideoCodec(fileExtension: MediaOutput.pathExtension(path)), named != description.codec {
            throw VaencError(
                .usage, "the name \(path) means \(named.rawValue), but the pictures are \(description.codec.rawValue)",
                remedy: "choose another name or `codec`")
        }
        codec.withLock { $0 = description.codec }
    }

    func write(_ packet: EncodedPacket) throws {
        try packet.check()
        try codec.withLock { try $0?.check(packet, in: path) }
        try order.withLock { try $0.check(packet, in: path, mustIncrease: false) }
        let bytes = packet.bytes
        try file.withLock { file in
            guard lengthPrefixed else { return try file.write(bytes.span) }
            let units = packet.unitRanges
            if units.isEmpty { throw EncodedSample.noUnits }
            // The reader of a pipe receives each picture in one piece.
            if file.isImmediate { return try file.write(LengthPrefixed.sample(units, of: bytes.span).span) }
            for unit in units {
                try file.write(LengthPrefixed.length(unit.count).span)
                try file.write(bytes.span.extracting(unit))
            }
        }
    }

    func finish() throws { try file.withLock { try $0.commit() } }

    func abandon() -> String? {
        file.withLock { file in
            let part = file.keep { _ in true }
            if part == nil { file.cancel() }
            return part
        }
    }

    func cancel() { file.withLock { $0.cancel() } }
    var bytesWritten: Int { file.withLock { $0.bytesWritten } }
}
