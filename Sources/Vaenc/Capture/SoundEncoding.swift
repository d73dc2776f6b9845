import Capture
import MediaFiles
import Threads
import VideoBase

/// Encodes 32-bit floating-point samples into packets.
protocol SampleEncoder {
    func write(_ bytes: [UInt8], at time: MediaTime) throws -> [TrackPacket]
    func finish(end: MediaTime?) throws -> [TrackPacket]
}

extension AudioTranscoder: SampleEncoder {}

/// The state that the encoding thread shares with the readers of the packets. Times are in the recording.
struct SoundWork: Sendable {
    /// The time zero of the recording, on the monotonic clock.
    var origin: MediaTime?
    /// The time that the pictures have reached.
    var reached: MediaTime?
    /// The end of the recording; nil until it is known.
    var end: MediaTime?
    var packets: [TrackPacket] = []
    var failure: (any Error)?
    /// Whether the last packet was added to `packets`.
    var isOver = false
    var isClosed = false

    mutating func takePackets() -> [TrackPacket] {
        defer { packets = [] }
        return packets
    }
}

/// The state of the encoding thread.
struct SoundEncoding {
    /// The time that pictures may be ahead of a silent microphone before silence is inserted.
    private static let longestDelay = MediaTime(value: 5, timescale: 1)

    private let input: SoundInput
    private let encoder: any SampleEncoder
    private let work: Monitor<SoundWork>
    /// Blocks that were taken from the input and that the pictures have not reached.
    private var held: [SoundInput.Block] = []
    private var origin = MediaTime.zero
    /// The time up to which sound is encoded or discarded.
    private var position = MediaTime.zero

    init(_ input: SoundInput, encoder: sending any SampleEncoder, work: Monitor<SoundWork>) {
        (self.input, self.encoder, self.work) = (input, encoder, work)
    }

    /// Runs until the end of the recording is encoded, the sound is closed, or the encoder fails.
    mutating func run() {
        do {
            var last: MediaTime?
            while let (time, isEnd) = next(after: last) {
                last = time
                if isEnd { return try finish(time) }
                held += input.take()
                while let block = held.first, end(of: block) <= time {
                    try write(block)
                    held.removeFirst()
                }
                // If the microphone is this far behind, it will not return more sound for that time.
                if held.isEmpty { try fill(until: time - Self.longestDelay) }
            }
        } catch {
            work.withLock { $0.failure = error }
        }
    }

    /// Waits until the pictures advance or end. Returns nil if the sound was closed.
    private mutating func next(after last: MediaTime?) -> (time: MediaTime, isEnd: Bool)? {
        let next: (origin: MediaTime, time: MediaTime, isEnd: Bool)?? = work.wait { work in
            if work.isClosed { return .some(nil) }
            guard let origin = work.origin else { return nil }
            if let end = work.end { return (origin, end, true) }
            guard let reached = work.reached, reached != last else { return nil }
            return (origin, reached, false)
        }
        guard case .some(.some(let next)) = next else { return nil }
        origin = next.origin
        return (next.time, next.isEnd)
    }

    private mutating func finish(_ end: MediaTime) throws {
        for block in held + input.take() where block.time - origin < end { try write(block) }
        try fill(until: end)
        let rest = try encoder.finish(end: end)
        work.withLock { work in
            work.packets += rest
            work.isOver = true
        }
    }

    private func end(of block: SoundInput.Block) -> MediaTime {
        block.time - origin + length(block.bytes.count / (4 * max(input.info.channels, 1)))
    }

    private func length(_ samples: Int) -> MediaTime { MediaTime(value: Int64(samples), timescale: Int32(clamping: input.info.rate)) }

    private mutating func write(_ block: SoundInput.Block) throws {
        try encode(block.bytes, at: block.time - origin)
        position = max(position, end(of: block))
    }

    /// Encodes silence for missing sound up to a time.
    private mutating func fill(until time: MediaTime) throws {
        let (rate, channels) = (input.info.rate, input.info.channels)
        var left = Int((time - position).converted(to: Int32(clamping: rate)).value)
        // The microphone's periods do not end at the same times as the pictures.
        guard left > rate / 50 else { return }
        input.countSilence(left)
        // Encode one second at a time, to bound the memory.
        while left > 0 {
            let part = min(left, rate)
            try encode([UInt8](repeating: 0, count: part * channels * 4), at: position)
            position = position + length(part)
            left -= part
        }
    }

    private func encode(_ bytes: [UInt8], at time: MediaTime) throws {
        let packets = try encoder.write(bytes, at: time)
        if !packets.isEmpty { work.withLockWithoutNotifying { $0.packets += packets } }
    }
}
