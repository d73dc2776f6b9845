import ReferenceDisplay
import TestOracles
import VAAPI
import VideoBase

/// Personalities that are equivalent for a codec: they have the same driver version and report the same capabilities.
/// Nothing else of a personality affects the engine or the driver, so one personality represents all.
struct DeviceClass: Sendable, CustomStringConvertible {
    var personalities: [String?]
    /// The capabilities, one for each profile and entry point.
    var capabilities: [Capability]

    /// The personality that represents the class.
    var personality: String? { personalities[0] }
    var description: String { FeatureMatrix.name(personality) }
    /// The smallest picture size that the driver reports.
    var minSize: VideoSize {
        VideoSize(
            width: capabilities.compactMap(\.minWidth).max() ?? 16,
            height: capabilities.compactMap(\.minHeight).max() ?? 16)
    }
    func has(bitDepth: Int) -> Bool { capabilities.contains { $0.bitDepths.contains(bitDepth) } }

    /// Returns all classes that encode the codec, in the order of `Personality.all`, and the personalities that do not.
    private static func classes(of codec: VideoCodec) -> (all: [DeviceClass], others: [String]) {
        var found: [(key: String, device: DeviceClass)] = []
        var others: [String] = []
        for personality in Personality.all {
            let environment: [String: String] = personality.map { ["VAENC_REFERENCE_PERSONALITY": $0] } ?? [:]
            guard let display = try? ReferenceDisplay.open(environment) else { continue }
            let capabilities = DeviceReport(display).capabilities.filter { $0.codec == codec && $0.encodes }
            // The name begins with the driver's version; the Debian package of it (nonfree or not) changes no behavior.
            let name = personality ?? ""
            let key = String(name.prefix { $0 != "-" }.replacing("nonfree", with: ""))
            if capabilities.isEmpty {
                others.append(name)
            } else if let index = found.firstIndex(where: { $0.key == key && $0.device.capabilities == capabilities }) {
                found[index].device.personalities.append(personality)
            } else {
                found.append((key, DeviceClass(personalities: [personality], capabilities: capabilities)))
            }
        }
        return (found.map(\.device), others)
    }

    static let h264 = classes(of: .h264).all
    static let (hevc, withoutHEVC) = classes(of: .hevc)
}
