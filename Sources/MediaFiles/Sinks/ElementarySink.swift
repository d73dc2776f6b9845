import NALWriting
import VideoBase

/// A stream by itself: packets one after the other, in Annex B or length-prefixed form. The parameter sets are in the
/// packets of key frames.
final class ElementarySink: PacketSink {
    let path: String
    private let lengthPrefixed: Bool
    private let file: Guarded<Output>

    private struct Output {
        var file: OutputFile
        var lastFlush = ContinuousClock.now

        /// What is recorded is not to wait for more: a program that is killed leaves all but the last of it.
        mutating func flushNowAndThen() throws {
            guard ContinuousClock.now - lastFlush > .milliseconds(500) else { return }
            try file.flush()
            lastFlush = .now
        }
    }

    init(_ file: sending OutputFile, lengthPrefixed: Bool) {
        path = file.path
        self.lengthPrefixed = lengthPrefixed
        self.file = Guarded(Output(file: file))
    }

    func add(_ track: MediaTrack) throws -> Int {
        throw VaencError(.usage, "\(path) is a stream of pictures alone", remedy: "use mp4, mov, mkv or ts for more tracks")
    }

    func write(_ packet: TrackPacket, track: Int) throws {
        throw VaencError(.usage, "\(path) has no track \(track)")
    }

    func start(_ description: EncoderDescription) throws {}

    func write(_ packet: EncodedPacket) throws {
        try file.withLock { output in
            if lengthPrefixed {
                var bytes = packet.bytes
                LengthPrefixed.convert(annexB: &bytes)
                try output.file.write(bytes.span)
            } else {
                try output.file.write(packet.bytes.span)
            }
            try output.flushNowAndThen()
        }
    }

    func finish() throws { try file.withLock { try $0.file.commit() } }
    func cancel() { file.withLock { $0.file.cancel() } }
    var bytesWritten: Int { file.withLock { $0.file.bytesWritten } }
}
