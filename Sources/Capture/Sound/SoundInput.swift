import Threads
public import VideoBase

/// The sound of a microphone or another sound source: uncompressed, without gaps, with times on the system's monotonic
/// clock.
///
/// A separate thread reads the device through libavdevice. The clock of a sound card differs from the system's clock.
/// The drift is measured continuously, and the samples are resampled to correct it, so that sound and pictures stay
/// synchronized in long recordings. Samples that the card loses are replaced by silence.
public final class SoundInput: Sendable {
    /// The properties of an open sound device.
    public struct Info: Sendable, Hashable {
        /// The name that was requested.
        public var name: String
        /// The number of samples of a channel per second.
        public var rate: Int
        /// The number of channels.
        public var channels: Int
    }

    /// A block of samples: 32-bit floating point in native byte order, with the channels interleaved.
    public struct Block: Sendable {
        /// The samples.
        public var bytes: [UInt8]
        /// The capture time of the first sample, on the monotonic clock.
        public var time: MediaTime
    }

    /// The counts of an input's samples. Each count is for one channel.
    public struct Counts: Sendable, Hashable, Codable {
        /// The number of samples that the device returned.
        public var samples = 0
        /// The number of gaps that were filled or overlaps that were removed.
        public var gaps = 0
        /// The number of samples of silence in the gaps.
        public var samplesFilled = 0
        /// The number of samples that were dropped because they were not taken in time. The input keeps several minutes
        /// of sound at most.
        public var samplesDropped = 0
        /// The drift of the device's clock relative to the system's clock, in parts per million; positive if the
        /// device's clock is faster. 0 until 2 s of sound were captured.
        public var driftPPM = 0.0

        /// Creates counts that are all 0.
        public init() {}
    }

    /// The properties of the device.
    public let info: Info
    private let link: Monitor<SoundLink>

    /// Opens a device and begins to capture. Blocks until the device is open.
    ///
    /// - Parameters:
    ///   - name: The device of libavdevice: `alsa:NAME`, `pulse:NAME` or `lavfi:GRAPH`. A name without such a prefix is
    ///     a name of ALSA, for example `default` or `hw:1`.
    ///   - openTimeout: The time limit for opening the device.
    /// - Throws: `unavailable` if the device does not exist, is in use or does not open in time, or if a library is
    ///   missing; `noPermission`.
    public init(_ name: String, openTimeout: Duration = .seconds(10)) throws {
        let link = Monitor(SoundLink())
        guard DedicatedThread.start("vaenc-mic", { SoundThread.run(name, link) }) else { throw VaencError.noThread("for the sound") }
        let info = try link.wait(atMostNanoseconds: UInt64(clamping: openTimeout.wholeNanoseconds)) { link in
            if case .failed(let error)? = link.end { throw error }
            return link.info
        }
        guard let info else {
            link.withLock { $0.isClosing = true }
            throw VaencError(
                .unavailable, "the sound device \(name) did not open within \(decimal(openTimeout.seconds, 0)) s",
                remedy: "check its name and which program uses it, or try again")
        }
        self.info = info
        self.link = link
    }

    deinit { link.withLock { $0.isClosing = true } }

    /// The counts of the samples so far.
    public var counts: Counts { link.withLockWithoutNotifying { $0.counts } }
    /// The reason why the sound has ended; nil while the device runs.
    public var end: CaptureEnd? { link.withLockWithoutNotifying { $0.end } }

    /// Returns the sound that was captured since the last call. Does not block.
    public func take() -> [Block] { link.withLock { $0.takeBlocks() } }

    /// Discards the sound that was captured so far, and does not count it as dropped.
    package func begin() {
        link.withLock { link in
            _ = link.takeBlocks()
            link.counts.samplesDropped = 0
        }
    }

    /// The capture time of the first sample that was not taken; nil if there is none.
    package var firstTime: MediaTime? { link.withLockWithoutNotifying { $0.blocks.first?.time } }

    /// Counts silence that replaces sound which was never captured.
    ///
    /// - Parameter samples: The number of samples of a channel.
    package func countSilence(_ samples: Int) {
        link.withLockWithoutNotifying { link in
            link.counts.gaps += 1
            link.counts.samplesFilled += samples
        }
    }

    /// Blocks until sound up to `time` was captured, or the device has ended, or `limit` has passed.
    public func wait(for time: MediaTime, atMost limit: Duration) {
        _ = link.wait(atMostNanoseconds: UInt64(clamping: limit.wholeNanoseconds)) { link in
            link.end != nil || link.capturedUntil.map { time < $0 } == true ? true : nil
        }
    }

    /// Stops capturing and waits for the device's thread for at most one second. Idempotent.
    public func close() {
        link.withLock { $0.isClosing = true }
        _ = link.wait(atMostNanoseconds: 1_000_000_000) { $0.end }
    }
}

/// The state that a device's thread and its reader share.
struct SoundLink: Sendable {
    /// The maximum number of bytes that wait to be taken: about six minutes of one channel at 48 kHz.
    static let byteLimit = 64 << 20

    var info: SoundInput.Info?
    private(set) var blocks: [SoundInput.Block] = []
    private var byteCount = 0
    /// The end time of the last block.
    var capturedUntil: MediaTime?
    var counts = SoundInput.Counts()
    var end: CaptureEnd?
    var isClosing = false

    mutating func append(_ block: SoundInput.Block) {
        blocks.append(block)
        byteCount += block.bytes.count
        guard byteCount > Self.byteLimit, let channels = info?.channels else { return }
        // Drop a sixteenth of the limit in one step, because moving the remaining blocks is expensive.
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
