import NALWriting
import RateControl
import VideoBase

/// The limits of a stream that a library encodes, and the pictures that broke them: the libraries keep no accounts of their own.
struct SoftwareBooks {
    private(set) var limits: LimitBooks
    private var stream: StreamLimits
    /// The buffer of the stream's HRD parameters; nil where it has none.
    private var buffer: CodedPictureBuffer?
    private let mode: RateControlMode
    private let configuration: EncoderConfiguration

    init(_ settings: EncoderSettings, _ headers: StreamHeaders) {
        configuration = settings.configuration
        mode = settings.mode
        // The libraries choose a level by the size and the rate that was asked for, not by the bits of a stream without a rate:
        // only a level that was asked for is a limit.
        let level = configuration.level == nil ? nil : SoftwareLevel.limits(headers.level, headers.profile, headers.tier)
        stream = StreamLimits(
            frameRate: configuration.frameRate, levelRate: level?.rate ?? .max, levelBuffer: level?.buffer ?? .max)
        stream.maxSliceBytes = settings.codec == .h264 ? configuration.maxSliceBytes : nil
        Self.follow(settings.limits, mode, &stream)
        limits = LimitBooks(stream)
        let rate = settings.limits
        guard settings.parameters.contains(where: { $0.name == "nal-hrd" || $0.name == "hrd" }), rate.maxRate > 0 else { return }
        // The libraries' own where nothing is asked for: libavcodec gives libx264 three quarters.
        let percent = rate.initialPercent > 0 ? rate.initialPercent : settings.codec == .h264 ? 75 : 90
        // In the steps of HRD parameters.
        let schedule = DeliverySchedule(
            bitrate: BitsPerSecond(rate.maxRate * 1000), cpbSize: rate.bufferSize * 1000, isConstant: mode == .cbr)
        buffer = CodedPictureBuffer(
            rate: schedule.bitrate.value, size: schedule.cpbSize, initialFullness: schedule.cpbSize * percent / 100,
            frameRate: configuration.frameRate, isConstant: mode == .cbr)
    }

    private static func follow(_ rate: RateLimits, _ mode: RateControlMode, _ stream: inout StreamLimits) {
        // Of several windows the lowest rate is kept.
        stream.windows = rate.windows
        stream.maxBitrate = (mode == .vbr || mode == .qvbr) && rate.maxRate > 0 ? rate.maxRate * 1000 : nil
    }

    mutating func change(_ rate: RateLimits, pending: Int) {
        Self.follow(rate, mode, &stream)
        limits.change(stream, pending: pending)
    }

    /// The next packet in coding order.
    ///
    /// - Returns: of the limits that it broke, one that was asked for.
    mutating func add(_ packet: EncodedPacket) -> RateLimit? {
        let bits = packet.bytes.count * 8
        var largest = 0
        if stream.maxSliceBytes != nil {
            for unit in AnnexB.units(in: packet.bytes.span) where (1...5).contains(packet.bytes[unit.lowerBound] & 31) {
                largest = max(largest, unit.count)
            }
        }
        if packet.type.isKey || packet.type == .i { buffer?.beginBufferingPeriod() }
        let broken = limits.add(bits: bits, keepsBuffer: buffer?.remove(bits: bits) ?? true, largestSlice: largest)
        return broken.first { limit in
            switch limit {
            case .buffer: configuration.hrdParameters == true
            case .frameBytes, .sliceBytes: true
            case .dataRate: !stream.windows.isEmpty
            case .maximum: configuration.maxBitrate != nil
            case .level: configuration.level != nil
            }
        }
    }
}
