import Glibc
import MediaFiles
import Synchronization
import VideoBase

/// A sink that is shared by the thread that opens and finishes it and the encoder's thread that writes.
final class OutputSink: Sendable {
    private struct State {
        var sink: (any PacketSink)?
        /// The track indices of the audio tracks.
        var soundTracks: [Int] = []
        var failure: (any Error)?
    }

    private let state = Mutex(State())
    /// The same sink, for calls that must not wait for a running write.
    private let opened = Mutex<(any PacketSink)?>(nil)

    var failure: (any Error)? { state.withLock { $0.failure } }
    var bytesWritten: Int { state.withLock { $0.sink?.bytesWritten ?? 0 } }

    /// Opens and starts the sink.
    ///
    /// - Parameters:
    ///   - sounds: The audio tracks.
    ///   - isCancelled: Called during the connection to a server; returns whether to stop.
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

    /// Writes packets of one audio track.
    func write(_ packets: [TrackPacket], sound: Int) {
        state.withLock {
            guard $0.failure == nil, $0.soundTracks.indices.contains(sound) else { return }
            do { for packet in packets { try $0.sink?.write(packet, track: $0.soundTracks[sound]) } } catch { $0.failure = error }
        }
    }

    /// The reasons why audio tracks, by their index, are missing in the output. Read it after all packets were written.
    var soundsLeftOut: [Int: String] {
        state.withLock { state in
            let left = state.sink?.leftOut ?? [:]
            return Dictionary(state.soundTracks.enumerated().compactMap { index, track in left[track].map { (index, $0) } }) { first, _ in first }
        }
    }

    /// Makes network operations that block fail soon.
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

    /// Ends writing after an error. The returned error names the path of the part of a recording that remains.
    func abandon(after error: any Error) -> any Error { state.withLock { $0.sink?.abandon(after: error) ?? error } }

    /// The notice that an older recording was kept.
    var keptNotice: String? { state.withLock { $0.sink?.keptNotice } }

    /// Ends writing before the program exits. Stops waiting after 0.2 s if a write to a stalled reader holds the sink.
    ///
    /// - Returns: The path of the part of a recording that remains; nil if nothing remains or that is unknown.
    func abandonSoon() -> String? {
        abortBlockingIO()
        for _ in 0..<20 {
            if let kept = state.withLockIfAvailable({ $0.sink?.abandon() }) { return kept }
            usleep(10_000)
        }
        return nil
    }
}
