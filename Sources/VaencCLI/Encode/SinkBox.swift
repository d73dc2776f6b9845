import Glibc
import MediaFiles
import Synchronization
import Vaenc

/// The sink, shared between the thread that opens and finishes it and the encoder's that writes.
final class SinkBox: Sendable {
    private struct State {
        var sink: (any PacketSink)?
        /// The numbers of the tracks of sound.
        var soundTracks: [Int] = []
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    /// The sink again, for what cannot wait until a write to it is over.
    private let opened = Mutex<(any PacketSink)?>(nil)

    var failure: (any Error)? { state.withLock { $0.failure } }
    var bytesWritten: Int { state.withLock { $0.sink?.bytesWritten ?? 0 } }

    /// - Parameter sounds: tracks beside the pictures.
    /// - Parameter isCancelled: asked while a connection is made: it is not wanted any more.
    func open(
        _ output: String, options: SinkOptions, description: EncoderDescription, sounds: [MediaTrack] = [],
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        try state.withLock {
            let sink = try MediaOutput.open(output, options: options, isCancelled: isCancelled)
            $0.sink = sink
            opened.withLock { $0 = sink }
            do {
                $0.soundTracks = try sounds.map { try sink.add($0) }
                try sink.start(description)
            } catch {
                sink.cancel()
                throw error
            }
        }
    }

    func write(_ packet: EncodedPacket) {
        state.withLock {
            guard $0.failure == nil else { return }
            do { try $0.sink?.write(packet) } catch { $0.failure = error }
        }
    }

    /// Packets of one of the tracks of sound.
    func write(_ packets: [TrackPacket], sound: Int) {
        state.withLock {
            guard $0.failure == nil, $0.soundTracks.indices.contains(sound) else { return }
            do { for packet in packets { try $0.sink?.write(packet, track: $0.soundTracks[sound]) } } catch { $0.failure = error }
        }
    }

    /// Why tracks of sound, by their places among them, will not be in the output; once all packets are written.
    var soundsLeftOut: [Int: String] {
        state.withLock { state in
            let left = state.sink?.leftOut ?? [:]
            return Dictionary(state.soundTracks.enumerated().compactMap { place, track in left[track].map { (place, $0) } }) { first, _ in first }
        }
    }

    /// What blocks on a network gives up soon.
    func abortBlockingIO() { opened.withLock { $0 }?.abortBlockingIO() }

    func fail(_ error: any Error) {
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    func finish() throws {
        try state.withLock {
            if let failure = $0.failure { throw failure }
            try $0.sink?.finish()
        }
    }

    func cancel() { state.withLock { $0.sink?.cancel() } }

    /// Ends writing after an error, which then says where what stays of a recording is.
    func abandon(after error: any Error) -> any Error { state.withLock { $0.sink?.abandon(after: error) ?? error } }

    /// Of an older recording that stays.
    var keptNotice: String? { state.withLock { $0.sink?.keptNotice } }

    /// Ends writing for a program that is about to end: gives up soon where a write to a stalled reader holds the sink.
    /// - Returns: the path of what stays of a recording; nil where nothing does, or that is not known.
    func abandonSoon() -> String? {
        abortBlockingIO()
        for _ in 0..<20 {
            if let kept = state.withLockIfAvailable({ $0.sink?.abandon() }) { return kept }
            usleep(10_000)
        }
        return nil
    }
}
