import TestOracles
import Testing
import VideoBase

/// A personality and a value for each option.
struct OptionRow: Sendable, CustomStringConvertible {
    typealias Value = (name: String, change: @Sendable (inout EncoderConfiguration) -> Void)

    static let axes: [[Value]] = [
        bFrames, pyramid, references, groups, forced, structures, rates, rateLimits, profiles, slices, filters,
        headers, pictures, entryPoints,
    ]
    static let hevcAxes: [[Value]] = [
        bFrames, pyramid, references, groups, forced, structures, rates, rateLimits, bitDepths, slices, filters,
        headers, pictures.dropLast(), entryPoints,
    ]

    private static let bFrames: [Value] = [
        ("b auto", { $0.structure.bFrames = nil }), ("b 0", { $0.structure.bFrames = 0 }), ("b 1", { $0.structure.bFrames = 1 }),
        ("b 2", { $0.structure.bFrames = 2 }), ("b 3", { $0.structure.bFrames = 3 }), ("b 7", { $0.structure.bFrames = 7 }),
    ]
    private static let pyramid: [Value] = [
        ("", { _ in }), ("flat", { $0.structure.bPyramid = false }), ("pyramid", { $0.structure.bPyramid = true }),
    ]
    private static let references: [Value] = [
        ("refs auto", { $0.structure.references = nil }), ("refs 1", { $0.structure.references = 1 }), ("refs 2", { $0.structure.references = 2 }),
        ("refs 4", { $0.structure.references = 4 }),
    ]
    private static let groups: [Value] = [
        ("gop 250", { $0.structure.gopFrames = 250 }), ("gop 1", { $0.structure.gopFrames = 1 }), ("gop 5", { $0.structure.gopFrames = 5 }),
        ("gop 6, open", { ($0.structure.gopFrames, $0.structure.openGOP) = (6, true) }),
        ("gop 4, every third IDR", { ($0.structure.gopFrames, $0.structure.idrInterval) = (4, 3) }),
        ("gop 3, every second IDR, open", { ($0.structure.gopFrames, $0.structure.idrInterval, $0.structure.openGOP) = (3, 2, true) }),
    ]
    private static let forced: [Value] = [
        ("", { _ in }), ("key at 2", { $0.structure.forcedKeyFrames = [2] }), ("keys at 7, 8", { $0.structure.forcedKeyFrames = [7, 8] }),
    ]
    private static let structures: [Value] = [
        ("", { _ in }), ("2 layers", { $0.structure.temporalLayers = 2 }), ("3 layers", { $0.structure.temporalLayers = 3 }),
        ("4 layers", { $0.structure.temporalLayers = 4 }), ("refresh", { $0.structure.intraRefresh = true }),
        ("1 long-term", { $0.structure.longTermReferences = 1 }), ("2 long-term", { $0.structure.longTermReferences = 2 }),
        ("low latency", { $0.pipeline.lowLatency = true }),
    ]

    private static func rate(
        _ mode: RateControlMode, by controller: RateControlOwner? = nil
    ) -> @Sendable (inout EncoderConfiguration) -> Void {
        {
            ($0.rate.qp, $0.rate.rateControl, $0.rate.rateController) = (nil, mode, controller)
            $0.rate.bitrate = BitsPerSecond(400_000)
            if mode != .cbr { $0.rate.maxBitrate = BitsPerSecond(700_000) }
            if mode == .qvbr { $0.rate.quality = 30 }
        }
    }

    private static let rates: [Value] = [
        ("qp 28", { $0.rate.qp = 28 }), ("qps", { ($0.rate.qp, $0.rate.qpI, $0.rate.qpB) = (30, 26, 33) }),
        ("quality", { ($0.rate.qp, $0.rate.quality) = (nil, 30) }),
        ("icq", { ($0.rate.qp, $0.rate.rateControl, $0.rate.quality) = (nil, .icq, 32) }), ("cbr", rate(.cbr)), ("vbr", rate(.vbr)),
        ("qvbr", rate(.qvbr)), ("avbr", rate(.avbr)), ("cbr by vaenc", rate(.cbr, by: .vaenc)),
        ("vbr by vaenc", rate(.vbr, by: .vaenc)), ("qvbr by vaenc", rate(.qvbr, by: .vaenc)),
    ]
    private static let rateLimits: [Value] = [
        ("", { _ in }), ("qp 22 to 40", { ($0.rate.minQP, $0.rate.maxQP) = (22, 40) }),
        ("frames of 8000", { $0.rate.maxFrameBytes = 8000 }), ("vbv", { ($0.rate.vbvSize, $0.rate.vbvInitialPercent) = (500_000, 50) }),
        ("macroblock rate control", { $0.rate.macroblockRateControl = true }),
    ]
    private static let profiles: [Value] = [
        ("", { _ in }), ("baseline", { $0.profile = .h264ConstrainedBaseline }),
        ("main cavlc", { ($0.profile, $0.coding.entropy) = (.h264Main, .cavlc) }), ("main", { $0.profile = .h264Main }),
        ("high cavlc", { ($0.profile, $0.coding.entropy) = (.h264High, .cavlc) }), ("no 8x8", { $0.coding.transform8x8 = false }),
    ]
    private static let bitDepths: [Value] = [
        ("8 bits", { $0 = HEVCSessions.hevc($0) }), ("10 bits", { $0 = HEVCSessions.hevc($0, 10) }),
    ]
    private static let slices: [Value] = [
        ("", { _ in }), ("2 slices", { $0.coding.slices = 2 }), ("5 slices", { $0.coding.slices = 5 }),
        ("slices of 1000", { $0.rate.maxSliceBytes = 1000 }),
    ]
    private static let filters: [Value] = [
        ("", { _ in }), ("no filter", { $0.coding.deblocking = Deblocking(isOn: false) }),
        ("filter -2:3", { $0.coding.deblocking = Deblocking(alphaOffset: -2, betaOffset: 3) }),
    ]
    private static let headers: [Value] = [
        ("", { _ in }), ("aud", { $0.headers.accessUnitDelimiters = true }), ("no hrd", { $0.headers.hrdParameters = false }),
        ("hrd", { $0.headers.hrdParameters = true }), ("no identifier", { $0.headers.identifier = false }),
        ("color", { $0.display.color = ColorDescription(primaries: 9, transfer: 16, matrix: 9, fullRange: true) }),
    ]
    private static let pictures: [Value] = [
        ("", { _ in }),
        ("roi", { $0.coding.regionsOfInterest = [RegionOfInterest(x: 16, y: 16, width: 96, height: 64, qpDelta: -6)] }),
        ("best", { $0.coding.preset = 1 }), ("fastest", { $0.coding.preset = 7 }), ("trellis", { $0.coding.trellis = true }),
    ]
    private static let entryPoints: [Value] = [
        ("", { _ in }), ("low power", { $0.lowPower = true }), ("no low power", { $0.lowPower = false }),
    ]

    /// The rows that cover every pair of a device class and a value, and every pair of values.
    static let all = rows(DeviceClass.h264.map(\.personality), axes)
    /// The rows for HEVC. Devices without Main 10 refuse it with any other request, so they have no rows with 10 bits.
    static let hevc = rows(DeviceClass.hevc.map(\.personality), hevcAxes) { device, axis, value in
        hevcAxes[axis][value].name != "10 bits" || DeviceClass.hevc[device].has(bitDepth: 10)
    }

    private static func rows(
        _ personalities: [String?], _ axes: [[Value]], allows: (Int, Int, Int) -> Bool = { _, _, _ in true }
    ) -> [OptionRow] {
        PairwiseCover.rows(counts: [personalities.count] + axes.map(\.count)) { parameter, value, other, its in
            parameter > 0 || allows(value, other - 1, its)
        }.map { row in
            OptionRow(row, personalities[row[0]], zip(axes, row.dropFirst()).map { $0[$1] })
        }
    }

    let personality: String?
    let names: [String]
    let configuration: EncoderConfiguration
    /// Whether some frames carry captions and user data, as in every second row.
    let carriesMessages: Bool

    private init(_ row: [Int], _ personality: String?, _ values: [Value]) {
        self.personality = personality
        var configuration = Feature.plain(FeatureMatrix.size)
        for value in values { value.change(&configuration) }
        names = values.map(\.name).filter { !$0.isEmpty }
        self.configuration = configuration
        carriesMessages = row.reduce(0, +) % 2 == 0
    }

    var description: String { "\(FeatureMatrix.name(personality)): \(names.joined(separator: ", "))" }
}

/// Tests pairs of options on every personality, with one personality per class. The stream conforms and matches the
/// effective configuration, and `--strict` refuses exactly the differences.
@Suite struct PairwiseMatrixTests {
    private static let parts = 16

    @Test(arguments: 0..<parts) func everyPairOfOptionsConforms(_ part: Int) async throws { try await judge(OptionRow.all, part) }

    /// The rows have 8 and 10 bits.
    @Test(arguments: 0..<parts) func everyPairOfHEVCOptionsConforms(_ part: Int) async throws { try await judge(OptionRow.hevc, part) }

    private func judge(_ all: [OptionRow], _ part: Int) async throws {
        let rows = all.enumerated().filter { $0.offset % Self.parts == part }.map(\.element)
        #expect(rows.count > 10)
        let faults = await onThread { rows.flatMap { row in Self.judge(row).map { "\(row): \($0)" } } }
        for fault in faults { Issue.record("\(fault)") }
    }

    private static func judge(_ row: OptionRow) -> [String] {
        do {
            let source = try FeatureMatrix.source(row.configuration.size)
            var request = SessionRun.Request(
                personality: row.personality, configuration: row.configuration,
                source: HEVCSessions.deepened(source, to: row.configuration.inputFormat.bitDepth))
            if row.carriesMessages {
                request.options = { index, _ in
                    var options = FrameOptions()
                    options.captions = [0xfc, 0x94, 0x20, 0xfc, UInt8(0x41 + index), 0x42]
                    if index % 5 == 1 { options.userData = [[UInt8](repeating: 0, count: 20)] }
                    return options
                }
            }
            let run: SessionRun
            do {
                run = try SessionRun(request)
            } catch let error as VaencError where error.category == .unavailable {
                // The request has no substitute, for example a rate of vaenc's controller on AMD's old driver.
                return error.remedy == nil ? ["no remedy: \(error)"] : []
            }
            var faults = run.faults() + run.contradictions(row.configuration)
            if run.packets.count != request.source.count { faults.append("\(run.packets.count) packets") }
            if row.carriesMessages {
                let captions = run.trace["itu_t_t35_country_code"].count
                if captions != run.packets.count { faults.append("captions on \(captions) pictures") }
            }
            let differing = run.description.effective.filter(\.differs)
            for entry in differing where entry.why.description.isEmpty || entry.why == .requested {
                faults.append("\(entry.option) is \(entry.used), asked \(entry.asked ?? ""), for no reason")
            }
            faults += strictFaults(request, differing)
            return faults
        } catch {
            return ["\(error)"]
        }
    }

    /// Checks that `--strict` refuses exactly if something differs, and names all differences.
    private static func strictFaults(_ request: SessionRun.Request, _ differing: [EffectiveEntry]) -> [String] {
        do {
            try SessionRun.checkStrict(request)
            return differing.isEmpty ? [] : ["--strict accepts, and \(differing.map(\.option)) differ"]
        } catch let error as VaencError where error.category == .unavailable {
            let unnamed = differing.filter { !error.message.contains($0.writtenDifference) }
            if differing.isEmpty { return ["--strict refuses, and nothing differs: \(error.message)"] }
            return unnamed.map { "--strict does not name \($0.option)" }
        } catch {
            return ["\(error)"]
        }
    }
}
