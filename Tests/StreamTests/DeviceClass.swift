import ReferenceDisplay
import TestOracles
import VAAPI
import VideoBase

/// Personalities that are alike in a codec: of one driver's version, with the same answers for it. The engine and the
/// driver see nothing else of them, so that what holds of one holds of all.
struct DeviceClass: Sendable, CustomStringConvertible {
    var personalities: [String?]
    /// One for each profile and entry point.
    var capabilities: [Capability]

    /// The one that stands for all.
    var personality: String? { personalities[0] }
    var description: String { FeatureMatrix.name(personality) }
    /// Of pictures, as the driver says.
    var leastSize: VideoSize {
        VideoSize(
            width: capabilities.compactMap(\.minWidth).max() ?? 16,
            height: capabilities.compactMap(\.minHeight).max() ?? 16)
    }
    func has(bitDepth: Int) -> Bool { capabilities.contains { $0.bitDepths.contains(bitDepth) } }

    /// All that encode the codec, in the order of `Personality.all`, and those that do not.
    private static func classes(of codec: VideoCodec) -> (all: [DeviceClass], others: [String]) {
        var found: [(key: String, device: DeviceClass)] = []
        var others: [String] = []
        for personality in Personality.all {
            let environment: [String: String] = personality.map { ["VAENC_REFERENCE_PERSONALITY": $0] } ?? [:]
            guard let display = try? ReferenceDisplay.open(environment) else { continue }
            let capabilities = DeviceReport(display).capabilities.filter { $0.codec == codec.rawValue && $0.encodes }
            // The name begins with the driver's version; which of Debian's packages it is of changes no behaviour.
            let name = personality ?? ""
            let key = String(name.prefix { $0 != "-" }.replacing("nonfree", with: ""))
            if capabilities.isEmpty {
                others.append(name)
            } else if let place = found.firstIndex(where: { $0.key == key && $0.device.capabilities == capabilities }) {
                found[place].device.personalities.append(personality)
            } else {
                found.append((key, DeviceClass(personalities: [personality], capabilities: capabilities)))
            }
        }
        return (found.map(\.device), others)
    }

    static let h264 = classes(of: .h264).all
    static let (hevc, withoutHEVC) = classes(of: .hevc)
}
