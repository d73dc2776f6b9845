import TestOracles
import VideoBase

/// HEVC sessions and their faults.
enum HEVCSessions {
    /// Returns the HEVC configuration with which all features are compared.
    static func plain(_ size: VideoSize, bitDepth: Int = 8) -> EncoderConfiguration { hevc(Feature.plain(size), bitDepth) }

    /// Returns an H.264 configuration for HEVC, without the options that HEVC lacks.
    static func hevc(_ configuration: EncoderConfiguration, _ bitDepth: Int = 8) -> EncoderConfiguration {
        var configuration = configuration
        configuration.codec = .hevc
        configuration.profile = bitDepth > 8 ? .hevcMain10 : .hevcMain
        configuration.inputFormat = bitDepth > 8 ? .p010 : configuration.inputFormat
        (configuration.coding.entropy, configuration.coding.transform8x8, configuration.coding.trellis) = (nil, nil, nil)
        return configuration
    }

    /// Encodes the frames with a configuration on a personality, and returns the faults of the stream.
    static func judge(
        _ configuration: EncoderConfiguration, _ source: [PlanarFrame], on personality: String? = nil,
        also check: (SessionRun) -> [String] = { _ in [] }
    ) -> [String] {
        do {
            let run = try SessionRun(
                SessionRun.Request(personality: personality, configuration: configuration, source: source))
            var faults = run.faults() + run.contradictions(configuration) + check(run)
            if run.packets.count != source.count { faults.append("\(run.packets.count) packets") }
            for entry in run.description.effective.filter(\.differs) where entry.why.description.isEmpty || entry.why == .requested {
                faults.append("\(entry.option) is \(entry.used), asked \(entry.asked ?? ""), for no reason")
            }
            return faults
        } catch {
            return ["\(error)"]
        }
    }

    /// Returns the frames at the given bit depth.
    static func deepened(_ frames: [PlanarFrame], to bitDepth: Int) -> [PlanarFrame] {
        bitDepth == 8 ? frames : frames.map(\.widenedTo10Bits)
    }
}
