import TestOracles
import VideoBase

/// The requests that are made to each personality of the reference driver.
enum FeatureMatrix {
    static let frames = 12
    /// The smallest size that AMD's old driver encodes.
    static let size = VideoSize(width: 256, height: 128)
    private static let clip: Result<[PlanarFrame], any Error> = Result {
        try Fixture.bikes.frames(frames, width: 288, height: 144)
    }

    static func name(_ personality: String?) -> String { personality ?? "unrestricted" }

    static func source(_ size: VideoSize, isStill: Bool = false) throws -> [PlanarFrame] {
        let all = try clip.get().map { $0.cropped(x: 0, y: 0, width: size.width, height: size.height) }
        return isStill ? all.map { _ in all[0] } : all
    }

    /// Returns the request of one feature alone, or of the plain settings.
    static func request(
        _ feature: Feature?, on personality: String?, codec: VideoCodec = .h264
    ) throws -> SessionRun.Request {
        var configuration = Feature.plain(size)
        configuration.codec = codec
        // The slower levels take the reference driver too long; other tests cover them.
        if codec == .hevc { configuration.coding.preset = 7 }
        feature?.change(&configuration)
        var request = SessionRun.Request(
            personality: personality, configuration: configuration,
            source: HEVCSessions.deepened(
                try source(configuration.size, isStill: feature?.isStill ?? false),
                to: configuration.inputFormat.bitDepth))
        if let feature { (request.options, request.before) = (feature.frameOptions, feature.before) }
        return request
    }
}

/// The result of requesting a feature alone on a personality.
struct FeatureCell: Sendable, Hashable {
    /// The reason why the device lacks the feature, or nil.
    var lack: String?
    /// A note if vaenc does it instead of the driver.
    var note: String?

    /// Judges one cell. `plain` is the personality's stream without the feature.
    static func judge(
        _ feature: Feature, _ personality: String?, codec: VideoCodec = .h264, plain: SessionRun
    ) throws -> (FeatureCell, faults: [String]) {
        var request = try FeatureMatrix.request(feature, on: personality, codec: codec)
        request.configuration.strict = true
        var refusal: VaencError?
        var run: SessionRun
        do {
            run = try SessionRun(request)
        } catch let error as VaencError where error.category == .unavailable {
            refusal = error
            request.configuration.strict = false
            do {
                run = try SessionRun(request)
            } catch let error as VaencError where error.category == .unavailable {
                // The device has no substitute.
                return (FeatureCell(lack: error.message), [])
            }
        }
        var claimed = request.configuration
        // Without a reference to predict from, a refresh is a key frame.
        let isKept = run.used("longTermReferences") != "0"
        for index in 0..<FeatureMatrix.frames {
            let options = feature.frameOptions(index, [])
            if options.forceKeyFrame || (options.refreshFromLongTerm && !isKept) { claimed.structure.forcedKeyFrames.insert(index) }
        }
        if let index = feature.keyOfOneReference, run.used("references") == "1" { claimed.structure.forcedKeyFrames.insert(index) }
        var faults = run.faults() + run.contradictions(claimed)
        if run.packets.count != FeatureMatrix.frames { faults.append("\(run.packets.count) packets") }
        let differing = run.description.effective.filter(\.differs)
        for entry in differing where entry.why.description.isEmpty || entry.why == .requested {
            faults.append("\(entry.option) is \(entry.used), asked \(entry.asked ?? ""), for no reason")
        }
        for entry in differing where !(refusal?.message.contains(entry.writtenDifference) ?? false) {
            faults.append("--strict lets \(entry.option) differ")
        }
        if refusal != nil, differing.isEmpty { faults.append("--strict refuses, and nothing differs: \(refusal?.message ?? "")") }
        if let entry = differing.first(where: { feature.options.contains($0.option) }) {
            return (FeatureCell(lack: "\(entry.option) \(entry.used): \(entry.why)"), faults)
        }
        for entry in differing { faults.append("\(entry.option) differs, which was not asked for") }
        if let missing = feature.missing(run, plain) { faults.append(missing) }
        let controller = run.used("rateController")
        let isOwn = controller == "vaenc" && request.configuration.rate.rateController == nil
        return (FeatureCell(note: isOwn ? "vaenc's controller" : nil), faults)
    }
}

extension EffectiveEntry {
    /// The beginning of the entry in the error of `strict`: settings are in backticks, which the command line replaces
    /// by its options. The size and the pixel format are no settings, and some entries have another name than their
    /// setting.
    var writtenDifference: String {
        let settings = ["entryPoint": "lowPower", "gop": "gopFrames", "vbvInitial": "vbvInitialPercent"]
        return ["size", "pixelFormat"].contains(option) ? "\(option): asked " : "`\(settings[option] ?? option)`: asked "
    }
}
