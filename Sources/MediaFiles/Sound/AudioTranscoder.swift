public import VideoBase

/// The settings for encoding sound.
public struct AudioSettings: Sendable, Hashable {
    /// The sample rate in Hz, 1…96000; the nearest AAC rate that is not lower is used. nil uses the input's rate in the
    /// same way.
    public var rate: Int?
    /// The number of channels, 1…8; nil uses the input's, eight at most.
    public var channels: Int?
    /// The bit rate in bits per second, 1000…5,000,000. nil uses 96 kbit/s for one channel, 160 kbit/s for two, and 80
    /// kbit/s per channel for more.
    public var bitsPerSecond: Int?

    /// Creates settings.
    public init(rate: Int? = nil, channels: Int? = nil, bitsPerSecond: Int? = nil) {
        self.rate = rate
        self.channels = channels
        self.bitsPerSecond = bitsPerSecond
    }

    /// Checks the settings.
    /// - Throws: `usage` for a value that AAC does not support.
    func check() throws(VaencError) {
        let values = [("rate", rate, 1...96_000), ("number of channels", channels, 1...8), ("bit rate", bitsPerSecond, 1000...5_000_000)]
        for (name, value, range) in values {
            guard let value, !range.contains(value) else { continue }
            throw VaencError(
                .usage, "AAC does not support a \(name) of \(value)",
                remedy: "use \(range.lowerBound) to \(range.upperBound), or nil")
        }
    }

    /// The settings for recording a microphone: one channel at 44.1 kHz and 96 kbit/s.
    public static let microphone = AudioSettings(rate: 44_100, channels: 1, bitsPerSecond: 96_000)
}

/// Encodes packets of another track, or PCM, as AAC, and keeps their times. A gap in the input of up to an hour becomes
/// silence, and a longer one stays a gap. Overlapping samples are dropped. Deviations below 20 ms are ignored. Only one
/// thread may use it at a time.
public final class AudioTranscoder {
    private static let toleranceSeconds = 0.02

    /// The track of the encoded packets. Its first packet begins earlier by the encoder's delay.
    public var track: MediaTrack { encoder.track }
    private let pcm: PCMFormat?
    private let decoder: AudioDecoder
    private let encoder: AACEncoder
    private let rate: Int
    /// Samples of each channel that wait for a full packet.
    private var waiting: [[Float]]
    /// The time of the first sample that waits.
    private var position: Int64?
    /// The range of times to encode. Samples outside it are dropped.
    private var range: Range<Int64> = .min..<(.max)
    /// The time from which samples wait, because the end may be before them.
    private var horizon = Int64.max
    private var hasEnded = false
    /// Packets that were encoded by calls that threw, and are not returned yet.
    private var encoded: [TrackPacket] = []

    /// Returns whether to stop. It is called before each second of silence that fills a gap. If it returns true, or if
    /// the task is cancelled, `write` throws `interrupted`, and the rest of the gap stays. The next call returns the
    /// packets that were encoded up to there. If it is nil, only the cancellation of the task stops `write`.
    public var isCancelled: (@Sendable () -> Bool)?

    /// The number of damaged packets so far, which could not be decoded or not completely. Silence, or libavcodec's
    /// concealment, replaces the missing samples. Packets before the start, which are not heard, do not count.
    public private(set) var damagedPackets = 0

    /// Creates a transcoder for the packets of a track.
    /// - Parameters:
    ///   - source: The track whose packets `write(_:)` receives.
    ///   - settings: The settings of the encoder.
    ///   - from: The time before which sound is dropped; nil encodes all.
    /// - Throws: `unavailable` if the libraries or a decoder are missing; `badInput`; `usage` for settings that AAC
    ///   does not support.
    public convenience init(_ source: MediaTrack, settings: AudioSettings = AudioSettings(), from: MediaTime? = nil) throws {
        try self.init(source, pcm: nil, settings: settings, from: from)
    }

    /// Creates a transcoder for samples that `write(_:at:)` receives.
    /// - Throws: `unavailable` if the libraries are missing; `usage` for settings that AAC does not support, and for an
    ///   invalid format.
    public convenience init(pcm: PCMFormat, settings: AudioSettings = AudioSettings(), from: MediaTime? = nil) throws {
        try self.init(pcm.track(), pcm: pcm, settings: settings, from: from)
    }

    private init(_ source: MediaTrack, pcm: PCMFormat?, settings: AudioSettings, from: MediaTime?) throws {
        try settings.check()
        self.pcm = pcm
        decoder = try AudioDecoder(
            source, rate: { AACEncoder.rate(for: settings.rate ?? $0) }, channels: settings.channels)
        rate = decoder.rate
        let channels = decoder.channels
        let usual = channels == 1 ? 96_000 : channels == 2 ? 160_000 : 80_000 * channels
        encoder = try AACEncoder(rate: rate, channels: channels, bitsPerSecond: settings.bitsPerSecond ?? usual, like: source)
        waiting = Array(repeating: [], count: channels)
        if let from { range = from.converted(to: Int32(rate)).value..<Int64.max }
    }

    /// Drops the sound before `time`, if no samples were taken yet.
    func begin(from time: MediaTime) {
        if position == nil { range = time.converted(to: Int32(rate)).value..<Int64.max }
    }

    /// Encodes no sound from `time` on until `finish` receives the end.
    func wait(from time: MediaTime) { horizon = time.converted(to: Int32(rate)).value }

    /// Decodes and encodes the source track's next packet. Returns the packets that are complete.
    /// - Throws: `interrupted` if it is cancelled while it fills a gap; `usage` after `finish`.
    public func write(_ packet: TrackPacket) throws -> [TrackPacket] {
        if hasEnded { throw VaencError(.usage, "sound was added after finish", remedy: "use a new AudioTranscoder") }
        try write(packet) { encoded.append($0) }
        return takeEncoded()
    }

    /// Decodes and encodes a packet, and passes on each new packet immediately. The silence of a long gap is never held
    /// as a whole.
    package func write(_ packet: TrackPacket, to take: (TrackPacket) throws -> Void) throws {
        for block in try decode(packet) { try append(block, take) }
        try encodeWaiting(take)
    }

    /// Decodes a packet; nil returns the delayed samples. Counts the packet if it is damaged and audible.
    private func decode(_ packet: TrackPacket?) throws -> [AudioDecoder.Block] {
        let before = decoder.damaged
        let blocks = try decoder.decode(packet)
        if decoder.damaged > before || packet?.lacksData == true, packet.map(isAudible) ?? true { damagedPackets += 1 }
        return blocks
    }

    private func isAudible(_ packet: TrackPacket) -> Bool {
        if packet.isCutOff { return false }
        guard let start = packet.presentation else { return true }
        let (first, end) = (start.converted(to: Int32(rate)).value, (start + packet.duration).converted(to: Int32(rate)).value)
        return first >= range.lowerBound || end > range.lowerBound
    }

    private func takeEncoded() -> [TrackPacket] {
        defer { encoded = [] }
        return encoded
    }

    /// Encodes samples of the PCM format that start at `time`. Returns the packets that are complete.
    /// - Throws: `interrupted` if it is cancelled while it fills a gap; `usage` if the bytes are not whole samples of
    ///   all channels, for an invalid time, and after `finish`.
    public func write(_ bytes: [UInt8], at time: MediaTime) throws -> [TrackPacket] {
        guard let pcm, bytes.count % pcm.frameBytes == 0 else {
            throw VaencError(
                .usage, "\(bytes.count) bytes are not complete samples of all channels",
                remedy: "use a multiple of \(pcm?.frameBytes ?? 1) bytes")
        }
        guard time.isInRange else {
            throw VaencError(
                .usage, "the time \(time.value)/\(time.timescale) s of the sound is out of range",
                remedy: "use a time from -2^40 to 2^40 seconds, with fewer than 2^62 ticks of a positive timescale")
        }
        if bytes.isEmpty { return [] }
        let rate = Int32(pcm.rate)
        return try write(
            TrackPacket(
                bytes, presentation: time, duration: MediaTime(value: Int64(bytes.count / pcm.frameBytes), timescale: rate),
                timescale: rate))
    }

    /// Returns the last packets. Idempotent: a second call returns none.
    /// - Parameter end: The time from which sound is dropped; nil encodes all.
    public func finish(end: MediaTime? = nil) throws -> [TrackPacket] {
        if hasEnded { return [] }
        hasEnded = true
        for block in try decode(nil) { try append(block) { encoded.append($0) } }
        if let end, let position {
            let last = end.converted(to: Int32(rate)).value
            let count = max(0, min(Int64(waiting[0].count), Int64(clamping: Int128(last) - Int128(position))))
            for channel in waiting.indices { waiting[channel].removeLast(waiting[channel].count - Int(count)) }
        }
        horizon = .max
        try encodeWaiting { encoded.append($0) }
        var packets = takeEncoded()
        if let position, !waiting[0].isEmpty {
            packets += try encoder.encode(waiting.map { $0[...] }, start: position)
            waiting = waiting.map { _ in [] }
        }
        return packets + (try encoder.encode(nil, start: 0))
    }

    private func append(_ block: AudioDecoder.Block, _ take: (TrackPacket) throws -> Void) throws {
        var samples = block.samples
        if samples[0].isEmpty { return }
        let next = position.map { $0 + Int64(waiting[0].count) }
        var start = block.start ?? next ?? 0
        if let next {
            let gap = start - next
            let tolerance = Int64(Self.toleranceSeconds * Double(rate))
            if gap > tolerance {
                try fill(gap, before: start, take)
            } else if gap < -tolerance {
                let count = Int(min(-gap, Int64(samples[0].count)))
                for channel in samples.indices { samples[channel].removeFirst(count) }
            }
        } else {
            let early = Int(max(0, min(range.lowerBound.subtractingReportingOverflow(start).partialValue, Int64(samples[0].count))))
            let isBefore = range.lowerBound > start
            if isBefore {
                for channel in samples.indices { samples[channel].removeFirst(early) }
                start += Int64(early)
            }
            if samples[0].isEmpty { return }
            position = start
        }
        for channel in waiting.indices { waiting[channel] += samples[channel] }
    }

    /// Encodes silence for a gap, one second at a time. A gap of more than an hour is not filled: the sound after it is
    /// encoded at its own time.
    private func fill(_ gap: Int64, before start: Int64, _ take: (TrackPacket) throws -> Void) throws {
        let isPause = gap <= Int64(rate) * 3600
        // Encoders accept only full packets until the end.
        let begun = waiting[0].count % encoder.frameSize
        var left = isPause ? Int(gap) : begun == 0 ? 0 : encoder.frameSize - begun
        while left > 0 {
            if Task.isCancelled || isCancelled?() == true {
                throw VaencError(
                    .interrupted, "encoding sound was cancelled in a gap of \(gap / Int64(rate)) s", remedy: "finish the output, or start a new one")
            }
            let silence = [Float](repeating: 0, count: min(left, rate))
            for channel in waiting.indices { waiting[channel] += silence }
            left -= silence.count
            try encodeWaiting(take)
        }
        if isPause { return }
        // The samples before the gap are before the end.
        let last = horizon
        horizon = .max
        defer { horizon = last }
        try encodeWaiting(take)
        position = start
    }

    private func encodeWaiting(_ take: (TrackPacket) throws -> Void) throws {
        guard var start = position else { return }
        let size = encoder.frameSize
        var used = 0
        defer {
            if used > 0 { for channel in waiting.indices { waiting[channel].removeFirst(used) } }
            position = start
        }
        while waiting[0].count - used >= size, Int128(start) + Int128(size) <= Int128(horizon) {
            let packets = try encoder.encode(waiting.map { $0[used..<used + size] }, start: start)
            used += size
            start += Int64(size)
            for packet in packets { try take(packet) }
        }
    }
}
