import SoftwareEncode
public import MediaFiles
public import VAAPI
public import VideoBase

/// The reason why a session has its codec.
public enum CodecReason: Sendable, Hashable, CustomStringConvertible {
    /// The caller named the codec.
    case requested
    /// The extension of the output's name determines it.
    case outputExtension
    /// Another setting, the device or the container determines it. The text names the reason for messages.
    case decided(String)

    /// The reason as text for messages.
    public var description: String {
        switch self {
        case .requested: "asked"
        case .outputExtension: SettingReason.outputExtension.description
        case .decided(let words): words
        }
    }

    /// The reason in the effective configuration.
    package var settingReason: SettingReason {
        switch self {
        case .requested: .requested
        case .outputExtension: .outputExtension
        case .decided(let words): .explained(words)
        }
    }
}

/// Chooses the codec if the request has none (`codec == nil`): HEVC if the device encodes the requested profile, size
/// and depth, else H.264.
///
/// All code that makes this choice uses this type: sessions, the transcoder and the report of the devices.
public enum CodecChoice {
    /// Returns the codec for a request, and the reason for the choice as text for messages.
    ///
    /// This function rejects no request. If the device lacks the profile, or the container cannot hold HEVC, the code
    /// that uses them reports the error.
    ///
    /// - Parameters:
    ///   - profile: The requested profile. If it is not nil, it determines the codec.
    ///   - size: The picture size in samples; nil if it is not known yet.
    ///   - depth: The number of bits of an input sample.
    ///   - requiresDepth: Whether the output must have at least `depth` bits a sample.
    ///   - container: The output format. Codecs that it cannot hold are excluded.
    ///   - device: The report of the device that encodes.
    public static func choose(
        profile: CodecProfile? = nil, size: VideoSize? = nil, depth: Int = 8, requiresDepth: Bool = false,
        container: OutputFormat? = nil, on device: DeviceReport
    ) -> (codec: VideoCodec, why: CodecReason) {
        var configuration = EncoderConfiguration(size: size ?? VideoSize(width: 0, height: 0))
        configuration.profile = profile
        configuration.bitDepth = requiresDepth ? depth : nil
        if let determined = codec(determinedBy: configuration) { return determined }
        if let container, !container.holds(.hevc) {
            return (.h264, .decided("\(container.rawValue) cannot contain HEVC"))
        }
        return choose(size: size, depth: depth, kind: device.kind) { device }
    }

    /// Returns the codec that the configuration alone determines, with the reason; nil if the choice depends on the
    /// device.
    public static func codec(determinedBy configuration: EncoderConfiguration) -> (codec: VideoCodec, why: CodecReason)? {
        if let wanted = configuration.codec { return (wanted, .requested) }
        if let profile = configuration.profile { return (profile.codec, .decided("the requested profile")) }
        if let depth = configuration.bitDepth, depth > 8 {
            return (.hevc, .decided("\(depth) bits are requested, and vaenc encodes H.264 in 8 bits only"))
        }
        if configuration.tier != nil { return (.hevc, .decided("a tier is requested, and only HEVC has tiers")) }
        if configuration.coding.entropy != nil {
            return (.h264, .decided("an entropy coder is requested, and only H.264 has a choice of entropy coders"))
        }
        if configuration.coding.transform8x8 != nil {
            return (.h264, .decided("the 8×8 transform is requested, and it is optional only in H.264"))
        }
        if let level = configuration.level?.tenths, levelsOfH264Alone.contains(level) {
            return (.h264, .decided("only H.264 has the requested level"))
        }
        return nil
    }

    /// Levels that only H.264 defines, in tenths (9 is level 1b): H.264 table A-1 compared with H.265 table A.8.
    private static let levelsOfH264Alone: Set<Int> = [9, 11, 12, 13, 22, 32, 42]

    /// - Parameter device: Returns the device's report. It is called only if the choice depends on it.
    private static func choose(
        size: VideoSize?, depth: Int, kind: DeviceKind, _ device: () -> DeviceReport
    ) -> (codec: VideoCodec, why: CodecReason) {
        if kind == .software { return inSoftware(depth) }
        let report = device()
        let profile = depth > 8 ? CodecProfile.hevcMain10 : .hevcMain
        let all = report.capabilities.filter { $0.encodes && $0.codec == profile.codec }
        if all.isEmpty { return (.h264, .decided("the device does not encode HEVC")) }
        let matching = all.filter { $0.profile == Profile(profile) }
        if matching.isEmpty {
            let others = Set(all.map(\.profile.shortName)).sorted().joined(separator: ", ")
            return (.h264, .decided("the device encodes HEVC \(others), not \(profile.shortName)"))
        }
        guard let size else { return (.hevc, .decided("the device encodes HEVC \(profile.shortName)")) }
        guard matching.contains(where: { $0.allows(size) }) else {
            return (.h264, .decided("the device encodes HEVC \(matching[0].limits), not \(size)"))
        }
        return (.hevc, .decided("the device encodes HEVC \(profile.shortName) of \(size)"))
    }

    /// Chooses the codec for the software encoders. libx265 takes several times as long as libx264.
    private static func inSoftware(_ depth: Int) -> (codec: VideoCodec, why: CodecReason) {
        let hasHEVC = SoftwareEncoder.unavailability(of: .hevc) == nil
        if depth > 8, hasHEVC {
            return (.hevc, .decided("the input has \(depth) bits, and vaenc encodes H.264 in 8 bits only"))
        }
        if hasHEVC, SoftwareEncoder.unavailability(of: .h264) != nil {
            return (.hevc, .decided("there is no software encoder for H.264"))
        }
        return (.h264, .decided("the H.264 software encoder is several times as fast as the HEVC one"))
    }

    /// Returns the codec for a session's configuration: the codec that the configuration determines, else the automatic
    /// choice.
    static func choose(
        _ configuration: EncoderConfiguration, kind: DeviceKind, _ device: () -> DeviceReport
    ) -> (codec: VideoCodec, why: CodecReason) {
        codec(determinedBy: configuration)
            ?? choose(
                size: configuration.size, depth: configuration.bitDepth ?? configuration.inputFormat.bitDepth, kind: kind,
                device)
    }
}

extension Capability {
    /// Returns whether a size is within the limits that the driver reports.
    func allows(_ size: VideoSize) -> Bool {
        size.width >= minWidth ?? 1 && size.height >= minHeight ?? 1
            && size.width <= maxWidth ?? .max && size.height <= maxHeight ?? .max
    }

    /// The size limits as text, for example `from 130×128 to 4096×2304`.
    fileprivate var limits: String {
        var text: [String] = []
        if let minWidth, let minHeight { text.append("from \(VideoSize(width: minWidth, height: minHeight))") }
        if let maxWidth, let maxHeight { text.append("to \(VideoSize(width: maxWidth, height: maxHeight))") }
        return text.joined(separator: " ")
    }
}
