public import VideoBase

extension Transcoder {
    /// The result of a run.
    public struct Result: Sendable {
        /// The outputs, in the order in which they were passed to the initializer.
        public var outputs: [OutputResult]
        /// The number of frames that were read. Each is decoded, scaled and converted once.
        public var framesRead = 0
        /// The number of frames that were copied into the memory of an output's encoder. Frames for a single output are
        /// read directly into it.
        public var framesCopied = 0
        /// The number of damaged packets of sound, over all streams: those that could not be decoded completely, and
        /// copied ones that lack data.
        public var damagedSoundPackets = 0
        /// The device that decoded a compressed input; nil for other inputs.
        public var decode: EffectiveEntry?
        /// The device that scaled the pictures; nil if none was scaled.
        public var scaling: EffectiveEntry?
        /// Whether a camera's pictures were copied; nil for other inputs.
        public var captureMemory: EffectiveEntry?
        /// Notices about decisions that were made for the user and about the input, one line each. The `effective`
        /// entries of an output list the parts that it leaves out or replaces.
        public var notices: [String] { allNotices.map(\.text) }
        package var allNotices: [Notice] = []
        /// Whether `cancel`, or the cancellation of the task, ended the run.
        public var isInterrupted = false
    }

    /// The result of one output.
    public struct OutputResult: Sendable {
        /// The path or URL.
        public var name: String
        /// The description of the encoder.
        public var description: EncoderDescription
        /// The number of bytes written, with the container and sound.
        public var bytes = 0
        /// The counts of frames and packets.
        public var counts = FrameCounts()
        /// The session's counts: every frame accepted is delivered, dropped or pending.
        public var statistics: EncoderStatistics
        /// Each requested setting with the effective one, those of the input, the container and the sound included.
        public var effective: [EffectiveEntry] = []
        /// The error that ended the output early; nil if it was finished. No unfinished file has its name then; an
        /// older file of that name is kept.
        public var error: (any Error)?
    }
}

/// The counts of frames and packets of one output.
public struct FrameCounts: Sendable {
    /// The number of frames that were passed to the encoder.
    public var input = 0
    /// The number of packets that were delivered.
    public var encoded = 0
    /// The number of pictures at which decoding can begin.
    public var key = 0
    /// The number of other I pictures and P pictures.
    public var p = 0
    /// The number of B pictures.
    public var b = 0
    /// The number of frames without a packet.
    public var dropped: Int { input - encoded }
    /// The number of bytes of all packets.
    public var packetBytes = 0
    /// The number of bytes of the largest packet.
    public var largestPacket = 0
    /// The monotonic clock at the first packet, in seconds; nil without packets.
    package var firstPacketAt: Double?
    package var latencies = LatencyHistogram()
    var firstPresentation: MediaTime?
    var lastPresentation: MediaTime?
    var lastDuration: MediaTime?
    /// The times of the frames that were passed to the encoder, in the input's order.
    var firstInput: MediaTime?
    var lastInput: MediaTime?
    var lastInputDuration: MediaTime?

    /// Returns the duration in media time, up to the end of the last picture.
    ///
    /// - Parameter frameRate: The frame rate, for a last picture without a duration.
    public func mediaDuration(frameRate: Rational) -> Duration {
        Duration(checkedSeconds: mediaSeconds(frameRate: frameRate)) ?? .zero
    }

    /// Returns `mediaDuration` in seconds.
    package func mediaSeconds(frameRate: Rational) -> Double {
        guard let first = firstPresentation, let last = lastPresentation else { return 0 }
        return last.seconds - first.seconds + (lastDuration?.seconds ?? 1 / frameRate.value)
    }

    /// Returns the average bit rate of the pictures in bits per second; 0 without packets.
    public func bitrate(frameRate: Rational) -> Int {
        let media = mediaSeconds(frameRate: frameRate)
        return media > 0 ? Int(clamping: (Double(packetBytes) * 8 / media).rounded()) : 0
    }

    /// Counts a frame that was passed to the encoders.
    mutating func countInput(_ timing: FrameTiming) {
        input += 1
        if firstInput == nil { firstInput = timing.presentation }
        lastInput = timing.presentation
        lastInputDuration = timing.duration
    }

    /// Returns the time at which the last frame of the input ends.
    func endOfInput(frameRate: Rational) -> MediaTime {
        (lastInput ?? .zero) + (lastInputDuration ?? frameRate.frameDuration)
    }

    /// The input's average frame rate in frames per second; nil for at most 10 frames.
    var frameRate: Double? {
        guard let first = firstInput, let last = lastInput, input > 10, last > first else { return nil }
        return Double(input - 1) / (last.seconds - first.seconds)
    }
}
