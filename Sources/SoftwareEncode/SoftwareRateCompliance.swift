import NALUnits
import RateControl
import VideoBase

/// Checks the pictures of a library's stream against the stream's limits, because the libraries do not report
/// violations.
struct SoftwareRateCompliance {
    private(set) var limits: RateComplianceTracker
    private var stream: StreamLimits
    /// The delays of the HRD; nil for a stream without HRD parameters.
    private var delays: DecoderDelays?
    private let mode: RateControlMode
    private let configuration: EncoderConfiguration

    init(_ settings: EncoderSettings, _ headers: StreamHeaders) {
        configuration = settings.configuration
        mode = settings.mode
        // The libraries choose a level by the size and the requested maximum rate. Without a maximum, the actual bits
        // may exceed that level, which is then no limit. A later change of the rate does not change the level.
        let isLimit = configuration.level != nil || settings.limits.base.maxRate > 0
        let level =
            isLimit
            ? SoftwareLevel.limits(
                headers.level, profile: headers.profile, tier: headers.tier, size: settings.codedSize) : nil
        stream = StreamLimits(
            frameRate: configuration.frameRate, levelRate: level?.rate ?? .max, levelBuffer: level?.buffer ?? .max)
        // The libraries do not consider the minimum compression ratio.
        stream.levelPictures = configuration.level == nil ? nil : level?.pictures
        stream.maxSliceBytes = settings.library.limitsSliceBytes ? configuration.rate.maxSliceBytes : nil
        Self.follow(settings.limits, mode: mode, stream: &stream)
        limits = RateComplianceTracker(stream)
        delays = DecoderDelays(settings, headers)
    }

    private static func follow(_ rate: RateLimits, mode: RateControlMode, stream: inout StreamLimits) {
        // Only the window with the lowest rate is enforced.
        stream.windows = rate.windows
        // A window lowers the rate that the library is given, but not the maximum.
        stream.maxBitrate = (mode == .vbr || mode == .qvbr) && rate.base.maxRate > 0 ? rate.base.maxRate * 1000 : nil
    }

    mutating func change(_ rate: RateLimits, pending: Int) {
        Self.follow(rate, mode: mode, stream: &stream)
        limits.change(stream, pending: pending)
    }

    /// Processes the next packet in coding order: writes the delays of the stream's HRD parameters, and counts the
    /// packet.
    ///
    /// - Returns: A requested limit that the packet exceeded; nil if there is none.
    mutating func add(_ packet: inout EncodedPacket) -> RateLimit? {
        let keepsBuffer = delays?.write(into: &packet) ?? true
        let bits = packet.bytes.count * 8
        var largest = 0
        if stream.maxSliceBytes != nil {
            for unit in AnnexB.units(in: packet.bytes.span) where NALUnitKind(header: packet.bytes[unit.lowerBound], packet.codec) == .slice {
                largest = max(largest, unit.count)
            }
        }
        let broken = limits.add(bits: bits, keepsBuffer: keepsBuffer, largestSlice: largest)
        return RateLimit.allCases.first { limit in
            guard broken.contains(limit) else { return false }
            return switch limit {
            case .buffer: configuration.headers.hrdParameters == true
            case .frameBytes, .sliceBytes: true
            case .dataRate: !stream.windows.isEmpty
            case .maximum: configuration.rate.maxBitrate != nil
            case .level: configuration.level != nil
            }
        }
    }
}
