public import ArgumentParser
public import VideoBase

struct CodecOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The coding standard; auto follows the output's extension.", valueName: "auto|h264|hevc"))
    var codec: CodecChoice = .auto

    @Option(help: "baseline, main, high (H.264); main, main10 (HEVC).")
    var profile: String?

    @Option(help: "For example 4.1; 1b is allowed.")
    var level: String?

    @Option(help: "The entropy coder of H.264: cabac or cavlc.")
    var entropy: EntropyCoder?

    func apply(to configuration: inout EncoderConfiguration) throws {
        configuration.profile = try profile.map { try Self.profile($0, codec: configuration.codec) }
        configuration.level = try level.map(Self.level)
        configuration.entropy = entropy
        if entropy != nil, configuration.codec == .hevc {
            throw VaencError.usage("--entropy is an option of H.264", remedy: "leave it out: HEVC always uses CABAC")
        }
        if entropy == .cabac, configuration.profile == .h264ConstrainedBaseline {
            throw VaencError.usage("--entropy cabac contradicts --profile baseline", remedy: "use cavlc, or the profile main")
        }
    }

    private static func profile(_ name: String, codec: VideoCodec) throws -> CodecProfile {
        let plain = String(name.lowercased().filter { $0.isLetter || $0.isNumber })
        let found: CodecProfile? =
            switch (codec, plain) {
            case (.h264, "baseline"), (.h264, "constrainedbaseline"): .h264ConstrainedBaseline
            case (.h264, "main"): .h264Main
            case (.h264, "high"): .h264High
            case (.hevc, "main"): .hevcMain
            case (.hevc, "main10"): .hevcMain10
            default: nil
            }
        guard let found else {
            throw VaencError.usage(
                "--profile \(name) is not a profile of \(codec.rawValue)",
                remedy: codec == .h264 ? "use baseline, main or high" : "use main or main10")
        }
        return found
    }

    private static func level(_ text: String) throws -> Int {
        if text.lowercased() == "1b" { return 9 }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let major = Int(parts[0]), (1...6).contains(major),
            let minor = parts.count == 2 ? Int(parts[1]) : 0, (0...3).contains(minor)
        else { throw VaencError.usage("--level \(text) is not a level", remedy: "write it as 4.1") }
        return major * 10 + minor
    }
}

enum CodecChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, h264, hevc
}

extension EntropyCoder: ExpressibleByArgument {}
extension RateControlMode: ExpressibleByArgument {}
