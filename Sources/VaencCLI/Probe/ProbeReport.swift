import Capture
import VAAPI
import Vaenc

/// The object that `vaenc probe --json` prints: the contract of docs/CLI.md, `"schema": 1`.
struct ProbeReport: Encodable {
    struct Device: Encodable {
        var kind: DeviceKind
        var path: Nullable<String>
        var pci: Nullable<String>
        var driver: Nullable<String>
        var libva: Nullable<String>
        var usable: Bool
        var why: Nullable<String>
        var capabilities: [Entry]

        init(_ report: DeviceReport, _ verified: [[TrialResult]]?) {
            kind = report.kind
            path = Nullable(report.path)
            pci = Nullable(report.pci)
            driver = Nullable(report.driver)
            libva = Nullable(report.libva)
            usable = report.usable
            why = Nullable(report.why.map(OptionNames.translate))
            capabilities = report.capabilities.enumerated().map { Entry($1, verified?[$0]) }
        }
    }

    struct References: Encodable {
        var l0: Int
        var l1: Int
    }

    struct Entry: Encodable {
        var codec: String
        var profile: String
        var entrypoint: String
        var rateControl: [RateControlMode]
        var minWidth: Nullable<Int>
        var minHeight: Nullable<Int>
        var maxWidth: Nullable<Int>
        var maxHeight: Nullable<Int>
        var bitDepths: [Int]
        var maxReferences: Nullable<References>
        var bFrames: Bool
        var packedHeaders: [String]
        var maxSlices: Nullable<Int>
        var qualityLevels: Nullable<Int>
        var roi: Int
        var intraRefresh: [String]
        var memoryTypes: [String]
        var attributes: [String: UInt32]
        /// The result of each mode after `--verify`: `ok`, or the failure. Empty for a capability that vaenc does not
        /// encode.
        var verified: [String: String]?

        init(_ capability: Capability, _ trials: [TrialResult]?) {
            codec = capability.profile.codecName ?? "none"
            profile = capability.profile.shortName
            entrypoint = capability.entryPoint.shortName
            rateControl = capability.rateControl
            minWidth = Nullable(capability.minWidth)
            minHeight = Nullable(capability.minHeight)
            maxWidth = Nullable(capability.maxWidth)
            maxHeight = Nullable(capability.maxHeight)
            bitDepths = capability.bitDepths
            maxReferences = Nullable(capability.maxReferences.map { References(l0: $0.l0, l1: $0.l1) })
            bFrames = capability.bFrames
            packedHeaders = capability.packedHeaders.names
            maxSlices = Nullable(capability.maxSlices)
            qualityLevels = Nullable(capability.qualityLevels)
            roi = capability.maxRegions
            intraRefresh = capability.intraRefresh.names
            memoryTypes = capability.memoryTypes.names
            attributes = Dictionary(capability.attributeValues.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            verified = trials.map { trials in
                Dictionary(trials.map { ($0.mode.description, $0.failure ?? "ok") }, uniquingKeysWith: { first, _ in first })
            }
        }
    }

    struct Default: Encodable {
        var device: Nullable<String>
        var codec: VideoCodec
        var why: String
    }

    var schema = 1
    var devices: [Device]
    var `default`: Default
    /// Advice if no GPU encodes.
    var advice: Nullable<String>
    /// The cameras, with `--capture`.
    var captureDevices: [CaptureEntry]?

    /// Creates a report.
    ///
    /// - Parameter verified: The results for each report's capabilities, with `--verify`.
    init(_ reports: [DeviceReport], asked: DeviceSelector, verified: [[[TrialResult]]]?, cameras: [CaptureDevice]?) {
        captureDevices = cameras.map { $0.map(CaptureEntry.init) }
        devices = reports.enumerated().map { Device($1, verified?[$0]) }
        let choice = Devices.defaultChoice(among: reports, asked: asked)
        advice = Nullable(ProbeAdvice.text(reports, asked: asked))
        self.default = Default(device: Nullable(choice.device), codec: choice.codec, why: OptionNames.translate(choice.why))
    }
}
