import ArgumentParser
import VideoBase

struct StructureOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Frames from one key frame to the next.", valueName: "FRAMES"))
    var gop: Int?

    @Option(help: ArgumentHelp("Seconds from one key frame to the next; 5 unless told.", valueName: "S"))
    var gopSeconds: Double?

    @Option(help: ArgumentHelp("B frames between P frames.", valueName: "N"))
    var bframes: Int?

    @Option(help: ArgumentHelp("Reference pictures.", valueName: "N"))
    var refs: Int?

    @Option(help: ArgumentHelp("Slices per picture.", valueName: "N"))
    var slices: Int?

    @Option(help: ArgumentHelp("Key frames at these frames, or seconds with an s.", valueName: "0,50,12.5s"))
    var forceKey: String?

    @Flag(help: "Each packet leaves before the next frame is taken.")
    var lowLatency = false

    @Option(help: ArgumentHelp("Frames in flight.", valueName: "N"))
    var asyncDepth: Int?

    @Option(help: .hidden) var idrInterval: String?
    @Flag(help: .hidden) var openGop = false
    @Flag(help: .hidden) var bPyramid = false
    @Option(help: .hidden) var temporalLayers: String?
    @Flag(help: .hidden) var intraRefresh = false
    @Option(help: .hidden) var ltr: String?

    func apply(to configuration: inout EncoderConfiguration) throws {
        for (asked, feature) in [
            (idrInterval != nil, "--idr-interval"), (openGop, "--open-gop"), (bPyramid, "--b-pyramid"),
            (temporalLayers != nil, "--temporal-layers"), (intraRefresh, "--intra-refresh"), (ltr != nil, "--ltr"),
        ] where asked {
            throw VaencError.notBuilt(feature)
        }
        for (name, value, range) in [
            ("--gop", gop, 1...1_000_000), ("--bframes", bframes, 0...7), ("--refs", refs, 1...16),
            ("--slices", slices, 1...4096), ("--async-depth", asyncDepth, 1...64),
        ] {
            if let value, !range.contains(value) {
                throw VaencError.usage("\(name) \(value) is out of range", remedy: "use \(range.lowerBound) to \(range.upperBound)")
            }
        }
        if let gopSeconds, !(gopSeconds > 0 && gopSeconds <= 86400) {
            throw VaencError.usage("--gop-seconds \(gopSeconds) is out of range", remedy: "use more than 0, at most 86400")
        }
        if lowLatency, let bframes, bframes > 0 {
            throw VaencError.usage("--low-latency contradicts --bframes \(bframes)", remedy: "B frames need reordering")
        }
        if lowLatency, let asyncDepth, asyncDepth > 1 {
            throw VaencError.usage("--low-latency contradicts --async-depth \(asyncDepth)")
        }
        configuration.gopFrames = gop
        configuration.gopSeconds = gopSeconds
        configuration.bFrames = bframes
        configuration.references = refs
        configuration.slices = slices
        configuration.asyncDepth = asyncDepth
        configuration.lowLatency = lowLatency
        configuration.forcedKeyFrames = try forcedKeyFrames(rate: configuration.frameRate)
    }

    private func forcedKeyFrames(rate: Rational) throws -> Set<Int> {
        guard let forceKey else { return [] }
        return Set(
            try forceKey.split(separator: ",", omittingEmptySubsequences: false).map { part in
                if part.last == "s", let seconds = Double(part.dropLast()), seconds >= 0, seconds < 1e9 {
                    return Int((seconds * rate.value).rounded())
                }
                guard let frame = Int(part), frame >= 0 else {
                    throw VaencError.usage("--force-key \(forceKey) is not a list", remedy: "write frames or seconds, as 0,50,12.5s")
                }
                return frame
            })
    }
}
