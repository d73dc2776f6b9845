public import VideoBase

/// Sound of a microphone, or of what plays one: uncompressed, without holes, on the system's monotonic clock.
///
/// A thread of its own reads the device through libavdevice. A sound card's clock is not the system's: how far they drift
/// apart is measured all the time, and the samples are stretched or squeezed by so much, that sound of an hour ends
/// with its pictures. What the card loses is filled with silence.
public final class SoundInput: Sendable {
    public struct Info: Sendable, Hashable {
        /// As it was asked for.
        public var name: String
        /// Samples of a channel in a second.
        public var rate: Int
        public var channels: Int
    }

    /// 32-bit floating-point samples of this machine's byte order, the channels' side by side.
    public struct Block: Sendable {
        public var bytes: [UInt8]
        /// When its first sample was heard, on the monotonic clock.
        public var time: MediaTime
    }

    public struct Counts: Sendable, Hashable, Codable {
        /// Of a channel, as the device gave them.
        public var samples = 0
        /// Holes that were filled, and how many samples of a channel they were.
        public var gaps = 0
        public var samplesFilled = 0
        /// Of a channel, that nobody took in time: some minutes of sound wait at most.
        public var samplesDropped = 0
        /// How much faster than the system's clock the device's is, in millionths; 0 until 2 s are heard.
        public var driftPPM = 0.0

        public init() {}
    }

    public let info: Info
    private let link: Monitor<SoundLink>

    /// Opens a device and begins to listen.
    ///
    /// - Parameter name: `alsa:NAME`, `pulse:NAME` or `lavfi:GRAPH`, as libavdevice knows them; without such a word ALSA's
    ///   name, as `default` or `hw:1`.
    /// - Throws: `unavailable` where there is no such device, it is in use, or the libraries are missing; `noPermission`.
    public init(_ name: String, openSeconds: Double = 10) throws {
        let link = Monitor(SoundLink())
        guard OwnThread.start({ SoundThread.run(name, link) }) else { throw VaencError.noThread("for the sound") }
        let info = try link.wait(atMostNanoseconds: UInt64(clamping: openSeconds * 1e9)) { link in
            if case .failed(let error)? = link.end { throw error }
            return link.info
        }
        guard let info else {
            link.withLock { $0.isClosing = true }
            throw VaencError(.unavailable, "the sound device \(name) does not open", remedy: "look at what uses it")
        }
        self.info = info
        self.link = link
    }

    deinit { link.withLock { $0.isClosing = true } }

    public var counts: Counts { link.withLockWithoutNotifying { $0.counts } }
    /// Why there is no more; nil while there is.
    public var end: CaptureEnd? { link.withLockWithoutNotifying { $0.end } }

    /// What was heard since it was asked last. Does not block.
    public func take() -> [Block] { link.withLock { $0.takeBlocks() } }

    /// What was heard so far is not wanted, and its loss none.
    package func begin() {
        link.withLock { link in
            _ = link.takeBlocks()
            link.counts.samplesDropped = 0
        }
    }

    /// When the first sample was heard of those that nobody has taken yet; nil where there are none.
    package var firstTime: MediaTime? { link.withLockWithoutNotifying { $0.blocks.first?.time } }

    /// Takes note of silence that stands for sound which never came.
    package func countSilence(_ samples: Int) {
        link.withLockWithoutNotifying { link in
            link.counts.gaps += 1
            link.counts.samplesFilled += samples
        }
    }

    /// Waits until sound of that time was heard, or there is no more of it, but no longer than that.
    public func wait(for time: MediaTime, atMostSeconds limit: Double) {
        _ = link.wait(atMostNanoseconds: UInt64(clamping: max(0, limit) * 1e9)) { link in
            link.end != nil || link.heard.map { time < $0 } == true ? true : nil
        }
    }

    /// Stops listening and waits for that, a second at most. Idempotent.
    public func close() {
        link.withLock { $0.isClosing = true }
        _ = link.wait(atMostNanoseconds: 1_000_000_000) { $0.end }
    }
}

/// What a device's thread and its reader share.
struct SoundLink: Sendable {
    /// Bytes that wait for someone to take them: five minutes of one channel.
    private static let byteLimit = 64 << 20

    var info: SoundInput.Info?
    private(set) var blocks: [SoundInput.Block] = []
    private var byteCount = 0
    /// The end of the last block.
    var heard: MediaTime?
    var counts = SoundInput.Counts()
    var end: CaptureEnd?
    var isClosing = false

    mutating func append(_ block: SoundInput.Block) {
        blocks.append(block)
        byteCount += block.bytes.count
        guard byteCount > Self.byteLimit, let channels = info?.channels else { return }
        // A sixteenth at once: moving the rest down has its price.
        var count = 0
        while byteCount > Self.byteLimit / 16 * 15, count < blocks.count {
            byteCount -= blocks[count].bytes.count
            counts.samplesDropped += blocks[count].bytes.count / (4 * channels)
            count += 1
        }
        blocks.removeFirst(count)
    }

    mutating func takeBlocks() -> [SoundInput.Block] {
        defer { (blocks, byteCount) = ([], 0) }
        return blocks
    }
}
