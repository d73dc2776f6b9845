import Capture
import MediaFiles
import VideoBase

/// Makes packets of 32-bit floating-point samples.
protocol SampleEncoder {
    func write(_ bytes: [UInt8], at time: MediaTime) throws -> [TrackPacket]
    func finish(end: MediaTime?) throws -> [TrackPacket]
}

extension AudioTranscoder: SampleEncoder {}

/// What the thread that encodes a microphone's sound shares with those who want it. Times are the recording's.
struct SoundWork: Sendable {
    /// The recording's zero on the monotonic clock.
    var origin: MediaTime?
    /// By the pictures.
    var reached: MediaTime?
    /// Of the recording, once it is known.
    var end: MediaTime?
    var packets: [TrackPacket] = []
    var failure: (any Error)?
    /// The last packet is among `packets`, or was.
    var isOver = false
    var isClosed = false

    mutating func takePackets() -> [TrackPacket] {
        defer { packets = [] }
        return packets
    }
}

/// The thread's own part.
struct SoundEncoding {
    /// What the pictures are ahead of a microphone that gives nothing, before silence stands in for it.
    private static let patience = MediaTime(value: 5, timescale: 1)

    private let input: SoundInput
    private let encoder: any SampleEncoder
    private let work: Monitor<SoundWork>
    /// Taken, and not reached by the pictures.
    private var held: [SoundInput.Block] = []
    private var origin = MediaTime.zero
    /// Sound up to here is encoded, or left out.
    private var position = MediaTime.zero

    init(_ input: SoundInput, _ encoder: sending any SampleEncoder, _ work: Monitor<SoundWork>) {
        (self.input, self.encoder, self.work) = (input, encoder, work)
    }

    /// Until the recording's end is known and encoded, it is closed, or the encoder fails.
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
                // A microphone that has not kept up for so long has no more to give for then.
                if held.isEmpty { try fill(until: time - Self.patience) }
            }
        } catch {
            work.withLock { $0.failure = error }
        }
    }

    /// Waits for pictures, or for the end of them; nil: nobody wants any more.
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

    /// Encodes silence for what was not heard up to a time.
    private mutating func fill(until time: MediaTime) throws {
        let (rate, channels) = (input.info.rate, input.info.channels)
        var left = Int((time - position).converted(to: Int32(clamping: rate)).value)
        // The microphone's periods and pictures do not end together.
        guard left > rate / 50 else { return }
        input.countSilence(left)
        // A second at a time, whatever is missing.
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
