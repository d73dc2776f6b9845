import Glibc
import MediaFiles
import Synchronization
import Threads
import VideoBase

/// A sink that is shared by the thread that opens and finishes it and the encoder's thread that writes.
///
/// A connection beside other outputs has a queue and a thread that writes. If the network stalls, the other outputs
/// continue. The queue holds more than the ten seconds after which a stalled connection fails.
final class OutputSink: Sendable {
    private struct State {
        var sink: (any PacketSink)?
        /// The track indices of the audio tracks.
        var soundTracks: [Int] = []
    }

    /// The packets that wait for the connection.
    private struct Backlog {
        var count = 0
        var bytes = 0
        /// The decoding time of the latest picture that was taken from the queue, or of the first one.
        var taken: MediaTime?
        /// Whether packets are discarded because the output has ended.
        var isDiscarded = false

        func hasRoom(for time: MediaTime?) -> Bool {
            if isDiscarded || count == 0 { return true }
            guard bytes < 128 << 20 else { return false }
            guard let time, let taken else { return true }
            return (time - taken).seconds < 12
        }
    }

    private let state = Mutex(State())
    /// The same sink, for calls that must not wait for a running write.
    private let opened = Mutex<(any PacketSink)?>(nil)
    private let failed = Mutex<(any Error)?>(nil)
    private let thread: SerialThread?
    private let backlog = Monitor(Backlog())

    /// - Parameter isQueued: Whether writes are queued, so that they do not wait for a network.
    init(isQueued: Bool) { thread = isQueued ? SerialThread("vaenc-network") : nil }

    var failure: (any Error)? { failed.withLock { $0 } }
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
        let sink = try MediaOutput.open(output, options: options, isCancelled: isCancelled)
        try start(sink, description: description, sounds: sounds)
    }

    /// Starts a sink. On failure, cancels it.
    func start(_ sink: any PacketSink, description: EncoderDescription, sounds: [MediaTrack]) throws {
        try state.withLock {
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
        // Without a queue, no closure that outlives the call is needed.
        if thread == nil { return perform { try $0.sink?.write(packet) } }
        enqueue(packet.bytes.count, decodedAt: packet.decode) { try $0.sink?.write(packet) }
    }

    /// Writes packets of one audio track.
    func write(_ packets: [TrackPacket], sound: Int) {
        enqueue(packets.reduce(0) { $0 + $1.byteCount }, decodedAt: nil) { state in
            guard state.soundTracks.indices.contains(sound) else { return }
            for packet in packets { try state.sink?.write(packet, track: state.soundTracks[sound]) }
        }
    }

    /// Writes now, or after the packets that wait. Blocks while the queue is full.
    ///
    /// - Parameter time: The decoding time of a picture; nil for sound.
    private func enqueue(_ bytes: Int, decodedAt time: MediaTime?, _ body: @escaping @Sendable (State) throws -> Void) {
        guard let thread else { return perform(body) }
        backlog.wait { backlog -> Void? in
            guard backlog.hasRoom(for: time) else { return nil }
            backlog.count += 1
            backlog.bytes += bytes
            backlog.taken = backlog.taken ?? time
            return ()
        }
        thread.add { [self] in
            let isDiscarded = backlog.withLock { backlog in
                if let time { backlog.taken = time }
                return backlog.isDiscarded
            }
            if !isDiscarded { perform(body) }
            backlog.withLock { backlog in
                backlog.count -= 1
                backlog.bytes -= bytes
                if failure != nil { backlog.isDiscarded = true }
            }
        }
    }

    private func perform(_ body: (State) throws -> Void) {
        state.withLock {
            guard failure == nil else { return }
            do { try body($0) } catch { fail(error) }
        }
    }

    /// Waits until no packet waits for the connection.
    private func drain() {
        if thread != nil { backlog.wait { $0.count == 0 ? () : nil } }
    }

    /// Discards the packets that wait for the connection.
    private func discard() { backlog.withLock { $0.isDiscarded = true } }

    /// The reasons why audio tracks, by their index, are missing in the output. Read it after all packets were written.
    var soundsLeftOut: [Int: String] {
        drain()
        return state.withLock { state in
            let left = state.sink?.leftOut ?? [:]
            return Dictionary(state.soundTracks.enumerated().compactMap { index, track in left[track].map { (index, $0) } }) { first, _ in first }
        }
    }

    /// Makes network operations that block fail soon.
    func abortBlockingIO() { opened.withLock { $0 }?.abortBlockingIO() }

    func fail(_ error: any Error) {
        failed.withLock { if $0 == nil { $0 = error } }
    }

    /// Completes the output after all packets.
    func finish() throws {
        drain()
        try state.withLock {
            if let failure { throw failure }
            try $0.sink?.finish()
        }
    }

    /// Ends writing after an error. Returns the path of the part of a recording that remains; nil if there is none.
    func abandon(after error: any Error) -> String? {
        discard()
        if thread != nil { abortBlockingIO() }
        return state.withLock { $0.sink?.abandon(after: error) }
    }

    /// The notice that an older recording was kept.
    var keptNotice: String? { state.withLock { $0.sink?.keptNotice } }

    /// Ends writing before the program exits. Stops waiting after one second if a write to a stalled reader holds the sink.
    ///
    /// - Returns: The path of the part of a recording that remains; nil if nothing remains or that is unknown.
    func abandonSoon() -> String? {
        discard()
        abortBlockingIO()
        for _ in 0..<100 {
            if let kept = state.withLockIfAvailable({ $0.sink?.abandon() }) { return kept }
            usleep(10_000)
        }
        return nil
    }
}
