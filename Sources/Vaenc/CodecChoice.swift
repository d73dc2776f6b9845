import SoftwareEncode
public import MediaFiles
public import VAAPI
public import VideoBase

/// What `auto` means: HEVC where the device encodes the wanted profile, size and depth, else H.264.
///
/// The one place that decides it, for sessions without a codec, for `--codec auto` and for what probe says.
public enum CodecChoice {
    /// - Parameters:
    ///   - profile: decides where given.
    ///   - size: nil where not known yet.
    ///   - depth: bits of a sample of the input.
    ///   - isDepthAsked: nothing with fewer bits will do.
    ///   - container: forbids what it cannot hold.
    /// - Returns: the codec, and why, in words for a person. Nothing is refused here: a profile that the device does not
    ///   have, or a container that holds no HEVC, is refused by who uses them.
    public static func choose(
        profile: CodecProfile? = nil, size: VideoSize? = nil, depth: Int = 8, isDepthAsked: Bool = false,
        container: OutputFormat? = nil, on device: DeviceReport
    ) -> (codec: VideoCodec, why: String) {
        var wishes = EncoderConfiguration(size: size ?? VideoSize(width: 0, height: 0))
        wishes.profile = profile
        wishes.bitDepth = isDepthAsked ? depth : nil
        if let bound = bound(by: wishes) { return bound }
        if let container, !container.holds(.hevc) { return (.h264, "\(container.rawValue) holds no HEVC") }
        return choose(size: size, depth: depth, kind: device.kind) { device }
    }

    /// What wishes leave no choice about; nil where the device decides.
    public static func bound(by wishes: EncoderConfiguration) -> (codec: VideoCodec, why: String)? {
        if let wanted = wishes.wantedCodec { return (wanted, asked) }
        if let profile = wishes.profile { return (profile.codec, "the profile asked for") }
        if let depth = wishes.bitDepth, depth > 8 {
            return (.hevc, "\(depth) bits are asked for, and H.264 has 8 here")
        }
        if wishes.tier != nil { return (.hevc, "a tier is asked for, which HEVC alone has") }
        if wishes.entropy != nil { return (.h264, "an entropy coder is asked for, which H.264 alone has a choice of") }
        if wishes.transform8x8 != nil { return (.h264, "the 8×8 transform is asked for, which H.264 alone has a choice of") }
        if let level = wishes.level, levelsOfH264Alone.contains(level) {
            return (.h264, "the level asked for is H.264's alone")
        }
        return nil
    }

    /// In tenths, 9 for 1b: H.264 Table A-1 against H.265 Table A.8.
    private static let levelsOfH264Alone: Set<Int> = [9, 11, 12, 13, 22, 32, 42]

    /// - Parameter device: asked only where it decides.
    private static func choose(
        size: VideoSize?, depth: Int, kind: DeviceKind, _ device: () -> DeviceReport
    ) -> (codec: VideoCodec, why: String) {
        if kind == .software { return inSoftware(depth) }
        let report = device()
        let wanted = depth > 8 ? CodecProfile.hevcMain10 : .hevcMain
        let all = report.capabilities.filter { $0.encodes && $0.codec == VideoCodec.hevc.rawValue }
        if all.isEmpty { return (.h264, "the device encodes no HEVC") }
        let own = all.filter { $0.profile == wanted.shortName }
        if own.isEmpty {
            let others = Set(all.map(\.profile)).sorted().joined(separator: ", ")
            return (.h264, "the device encodes HEVC \(others), not \(wanted.shortName)")
        }
        guard let size else { return (.hevc, "the device encodes HEVC \(wanted.shortName)") }
        guard own.contains(where: { $0.allows(size) }) else {
            return (.h264, "the device encodes HEVC \(own[0].limits), not \(size)")
        }
        return (.hevc, "the device encodes HEVC \(wanted.shortName) of \(size)")
    }

    /// libx265 takes several times as long as libx264.
    private static func inSoftware(_ depth: Int) -> (codec: VideoCodec, why: String) {
        let hasHEVC = SoftwareEncoder.unavailability(of: .hevc) == nil
        if depth > 8, hasHEVC { return (.hevc, "the input has \(depth) bits, and H.264 has 8 here") }
        if hasHEVC, SoftwareEncoder.unavailability(of: .h264) != nil {
            return (.hevc, "there is no software encoder for H.264")
        }
        return (.h264, "in software it is several times as fast as HEVC")
    }

    /// For a session's configuration: what is wanted, or else the choice.
    static func choose(
        _ configuration: EncoderConfiguration, kind: DeviceKind, _ device: () -> DeviceReport
    ) -> (codec: VideoCodec, why: String) {
        bound(by: configuration)
            ?? choose(
                size: configuration.size, depth: configuration.bitDepth ?? configuration.inputFormat.bitDepth, kind: kind,
                device)
    }

    /// The reason of a codec that was named.
    public static let asked = "asked"
}

extension Capability {
    /// Within what the driver says of sizes.
    func allows(_ size: VideoSize) -> Bool {
        size.width >= minWidth ?? 1 && size.height >= minHeight ?? 1
            && size.width <= maxWidth ?? .max && size.height <= maxHeight ?? .max
    }

    /// `from 130×128 to 4096×2304`.
    fileprivate var limits: String {
        var text: [String] = []
        if let minWidth, let minHeight { text.append("from \(VideoSize(width: minWidth, height: minHeight))") }
        if let maxWidth, let maxHeight { text.append("to \(VideoSize(width: maxWidth, height: maxHeight))") }
        return text.joined(separator: " ")
    }
}
