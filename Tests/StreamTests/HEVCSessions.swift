import Glibc
import TestOracles
import VideoBase

/// HEVC's streams through VA-API are judged where VAENC_JUDGE_HEVC is set: until sessions offer the codec.
enum HEVCSessions {
    static let areJudged = true

    /// What everything else is measured against, in HEVC.
    static func plain(_ size: VideoSize, bitDepth: Int = 8) -> EncoderConfiguration {
        var configuration = Feature.plain(size)
        configuration.codec = .hevc
        configuration.profile = bitDepth > 8 ? .hevcMain10 : .hevcMain
        if bitDepth > 8 { configuration.inputFormat = .p010 }
        return configuration
    }

    /// What is wrong with the stream that a configuration makes of frames on a personality; none where that says why it
    /// refuses.
    static func judge(
        _ configuration: EncoderConfiguration, _ source: [PlanarFrame], on personality: String? = nil,
        also check: (SessionRun) -> [String] = { _ in [] }
    ) -> [String] {
        do {
            let run = try SessionRun(
                SessionRun.Request(personality: personality, configuration: configuration, source: source))
            var faults = run.faults() + run.contradictions(configuration) + check(run)
            if run.packets.count != source.count { faults.append("\(run.packets.count) packets") }
            for entry in run.description.effective.filter(\.differs) where entry.why.isEmpty || entry.why == "as asked"
            {
                faults.append("\(entry.option) is \(entry.used), asked \(entry.asked ?? ""), for no reason")
            }
            return faults
        } catch let error as VaencError where error.category == .unavailable && personality != nil {
            return error.remedy == nil ? ["no remedy: \(error)"] : []
        } catch {
            return ["\(error)"]
        }
    }

    /// Frames of the wanted depth.
    static func deepened(_ frames: [PlanarFrame], to bitDepth: Int) -> [PlanarFrame] {
        bitDepth == 8 ? frames : frames.map(\.widenedTo10Bits)
    }
}
