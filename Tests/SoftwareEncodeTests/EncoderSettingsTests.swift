import ExtremeValues
import TestOracles
import Testing
import VideoBase

@testable import SoftwareEncode

@Suite struct EncoderSettingsTests {
    private func settings(_ change: (inout EncoderConfiguration) -> Void) throws -> EncoderSettings {
        var configuration = EncoderConfiguration(size: VideoSize(width: 640, height: 360))
        change(&configuration)
        return try EncoderSettings(configuration)
    }

    private func parameters(_ change: (inout EncoderConfiguration) -> Void) throws -> [String: String] {
        let settings = try settings(change)
        return Dictionary(settings.parameters.map { ($0.name, $0.value) }) { $1 }
    }

    private func used(_ option: String, _ change: (inout EncoderConfiguration) -> Void) throws -> EffectiveEntry? {
        let settings = try settings(change)
        return settings.effective.first { $0.option == option }
    }

    private func category(_ change: (inout EncoderConfiguration) -> Void) -> ErrorCategory? {
        do {
            _ = try settings(change)
            return nil
        } catch {
            return (error as? VaencError)?.category
        }
    }

    @Test func rateSettingsMapToLibraryParameters() throws {
        let constant = try parameters {
            $0.rate.qp = 30; $0.rate.qpI = 24; $0.rate.qpB = 36
        }
        #expect(constant["qp"] == "30")
        // Ratios of quantizer steps: six QP double the step.
        #expect(constant["ipratio"].flatMap(Double.init).map { abs($0 - 2) < 1e-9 } == true)
        #expect(constant["pbratio"].flatMap(Double.init).map { abs($0 - 2) < 1e-9 } == true)
        let quality = try parameters { $0.rate.quality = 30 }
        #expect(quality["crf"] == "30")
        let nothing = try parameters { _ in }
        #expect(nothing["crf"] == "24")
        let vbr = try settings { $0.rate.bitrate = BitsPerSecond(2_000_000) }.limits
        func limits(_ bitrate: Int, _ maxRate: Int, _ bufferSize: Int, _ asksMaximum: Bool = false) -> RateLimits.Base {
            RateLimits.Base(bitrate: bitrate, maxRate: maxRate, bufferSize: bufferSize, asksMaximum: asksMaximum)
        }
        #expect(vbr == RateLimits(bitrate: 2000, maxRate: 3000, bufferSize: 3000, base: limits(2000, 3000, 3000)))
        let full = try settings {
            $0.rate.bitrate = BitsPerSecond(2_000_000); $0.rate.maxBitrate = BitsPerSecond(2_500_000); $0.rate.vbvSize = 1_000_000
            $0.rate.vbvInitialPercent = 70
        }.limits
        #expect(
            full == RateLimits(bitrate: 2000, maxRate: 2500, bufferSize: 1000, initialPercent: 70, base: limits(2000, 2500, 1000, true)))
        let limited = try settings {
            $0.rate.bitrate = BitsPerSecond(2_000_000)
            $0.rate.dataRateLimits = [DataRateLimit(bytes: 1_000_000, duration: .seconds(2)), DataRateLimit(bytes: 150_000, duration: .seconds(0.5))]
        }
        #expect(
            limited.limits
                == RateLimits(
                    bitrate: 2000, maxRate: 2400, bufferSize: 1200, windows: limited.configuration.rate.dataRateLimits,
                    base: limits(2000, 3000, 3000)))
        #expect(limited.effective.filter { $0.option == "dataRateLimits" }.map(\.differs) == [true, false])
        let cbr = try settings {
            $0.rate.bitrate = BitsPerSecond(2_000_000); $0.rate.rateControl = .cbr
        }
        #expect(cbr.limits.maxRate == 2000)
        #expect(cbr.parameters.contains { $0 == ("nal-hrd", "cbr") })
        let hevc = try parameters {
            $0.rate.bitrate = BitsPerSecond(2_000_000); $0.rate.rateControl = .cbr; $0.codec = .hevc
        }
        #expect(hevc["strict-cbr"] == "1")
    }

    /// libx264 writes HRD parameters for one rate: a change is refused, and the remedy names the setting that omits
    /// them.
    @Test func rateChangeWithHRDParametersIsRefused() throws {
        var change = RunningChange()
        change.bitrate = BitsPerSecond(1_000_000)
        let cases: [(mode: RateControlMode, hrd: Bool?, changes: Bool)] = [
            (.cbr, nil, false), (.cbr, true, false), (.cbr, false, true), (.vbr, nil, true), (.vbr, true, false), (.vbr, false, true),
        ]
        for (mode, hrd, changes) in cases {
            let settings = try settings { ($0.rate.bitrate, $0.rate.rateControl, $0.headers.hrdParameters) = (BitsPerSecond(2_000_000), mode, hrd) }
            #expect(SoftwareEncoder.changesRate(settings.configuration) == changes)
            do throws(VaencError) {
                #expect(try settings.changed(settings.limits, by: change).bitrate == 1000 && changes)
            } catch {
                #expect(!changes && error.category == .unavailable && error.remedy?.contains("`hrdParameters` off") == true, "\(error)")
            }
        }
    }

    /// If the libraries do not support a combination of settings, the change is a difference, which `strict` refuses.
    @Test func settingsThatExcludeEachOtherAreReported() throws {
        let cases: [(option: String, used: String, set: (inout EncoderConfiguration) -> Void)] = [
            ("slices", "none", { ($0.coding.slices, $0.rate.maxSliceBytes) = (2, 1000) }),
            ("bFrames", "1", { ($0.structure.gopFrames, $0.structure.bFrames) = (3, 7) }),
            ("bFrames", "2", { ($0.structure.gopFrames, $0.structure.bFrames, $0.structure.openGOP) = (3, 7, true) }),
            ("quality", "40", { ($0.rate.quality, $0.rate.minQP) = (30, 40) }), ("quality", "20", { ($0.rate.quality, $0.rate.maxQP) = (30, 20) }),
            ("maxFrameDelay", "0", { ($0.pipeline.lowLatency, $0.pipeline.maxFrameDelay) = (true, 5) }),
            ("idrInterval", "none", { ($0.structure.intraRefresh, $0.structure.idrInterval) = (true, 3) }),
            ("idrInterval", "none", { ($0.structure.openGOP, $0.structure.idrInterval) = (true, 3) }),
        ]
        for (option, expected, set) in cases {
            let entry = try used(option, set)
            #expect(entry?.used == expected && entry?.differs == true, "\(option): \(entry as Any)")
            #expect(throws: VaencError.self) {
                try used(option) {
                    set(&$0); $0.strict = true
                }
            }
        }
    }

    @Test func gopSettingsMapToLibraryParameters() throws {
        let seconds = try parameters {
            $0.structure.gopDuration = .seconds(2); $0.frameRate = Rational(25)
        }
        #expect(seconds["keyint"] == "50")
        let both = try used("gopSeconds") {
            $0.structure.gopDuration = .seconds(2); $0.structure.gopFrames = 30
        }
        #expect(both?.asked == nil && both?.used == "1.0" && both?.why == "`gopFrames` is shorter than 2.0 s")
        let shorter = try used("gopSeconds") {
            $0.structure.gopDuration = .seconds(0.5); $0.structure.gopFrames = 30
        }
        #expect(shorter?.used == "0.5" && shorter?.differs == false)
        let standard = try parameters { _ in }
        #expect(standard["keyint"] == "150")
        #expect(standard["bframes"] == "2")
        let low = try parameters { $0.pipeline.lowLatency = true }
        #expect(low["bframes"] == "0")
    }

    @Test func differencesAreReported() throws {
        let slices = try used("slices") { $0.coding.slices = 100 }
        #expect(slices?.asked == "100" && slices?.used == "23" && slices?.differs == true)
        let b = try used("bFrames") {
            $0.structure.bFrames = 3; $0.profile = .h264ConstrainedBaseline
        }
        #expect(b?.asked == "3" && b?.used == "0")
        let entropy = try used("entropy") {
            $0.coding.entropy = .cabac; $0.profile = .h264ConstrainedBaseline
        }
        #expect(entropy?.used == "cavlc")
        let qp = try used("qp") { $0.rate.qp = 0 }
        #expect(qp?.used == "1")
        let size = try used("size") { $0.size = VideoSize(width: 641, height: 359) }
        #expect(size?.used == "642×360")
        let preset = try used("preset") { $0.coding.preset = 7 }
        #expect(preset?.why == "libx264 ultrafast" && preset?.differs == false)
        let fastest = try used("preset") { $0.pipeline.realTime = true }
        #expect(fastest?.why == "libx264 ultrafast" && fastest?.differs == false)
        let slow = try used("preset") {
            $0.pipeline.realTime = true; $0.coding.preset = 3
        }
        #expect(slow?.why == "libx264 slow")
        #expect(try used("realTime") { $0.pipeline.realTime = true }?.why == "the fastest preset")
    }

    @Test func constantQPIsKeptWithinItsLimits() throws {
        let low = try parameters {
            $0.rate.qp = 10; $0.rate.qpB = 45; $0.rate.minQP = 20; $0.rate.maxQP = 40
        }
        #expect(low["qp"] == "20" && low["qpmin"] == nil)
        let entry = try used("qpB") {
            $0.rate.qp = 10; $0.rate.qpB = 45; $0.rate.minQP = 20; $0.rate.maxQP = 40
        }
        #expect(entry?.asked == "45" && entry?.used == "40" && entry?.why.description.hasPrefix("kept within `minQP` and `maxQP`") == true)
        let note = try used("minQP") {
            $0.rate.qp = 30; $0.rate.minQP = 20
        }
        #expect(note?.why.description.hasPrefix("only limits") == true)
        let quality = try parameters { $0.rate.minQP = 20 }
        #expect(quality["qpmin"] == "20")
    }

    private static let targets: [(option: String, set: @Sendable (inout EncoderConfiguration) -> Void)] = [
        ("qp", { $0.rate.qp = 20 }), ("qpI", { $0.rate.qpI = 10 }), ("qpB", { $0.rate.qpB = 30 }), ("quality", { $0.rate.quality = 24 }),
        ("bitrate", { $0.rate.bitrate = BitsPerSecond(300_000) }),
    ]

    /// Of two requested targets, each is either used or reported as a difference, in every mode. `strict` refuses
    /// exactly the differences.
    @Test(arguments: [VideoCodec.h264, .hevc]) func everyTargetIsReported(_ codec: VideoCodec) throws {
        let modes: [RateControlMode?] = [nil] + RateControlMode.allCases.map { Optional($0) }
        var counts = (refused: 0, different: 0, same: 0)
        for mode in modes {
            for first in Self.targets.indices {
                for second in first..<Self.targets.count {
                    let name = "\(mode as Any), \(first), \(second)"
                    func ask(_ configuration: inout EncoderConfiguration) {
                        configuration.codec = codec
                        configuration.rate.rateControl = mode
                        Self.targets[first].set(&configuration)
                        Self.targets[second].set(&configuration)
                    }
                    let all: EncoderSettings
                    do { all = try settings(ask) } catch let error as VaencError {
                        #expect(error.category == .usage && error.remedy != nil, "\(name): \(error)")
                        counts.refused += 1
                        continue
                    }
                    for index in Set([first, second]) {
                        let entries = all.effective.filter { $0.option == Self.targets[index].option }
                        #expect(entries.count == 1 && entries.first?.asked != nil, "\(name): \(entries)")
                    }
                    let differs = all.effective.contains(where: \.differs)
                    if differs { counts.different += 1 } else { counts.same += 1 }
                    let refusal = category {
                        ask(&$0)
                        $0.strict = true
                    }
                    #expect(refusal == (differs ? .unavailable : nil), "\(name)")
                }
            }
        }
        #expect(counts.refused > 20 && counts.different > 20 && counts.same > 10, "\(counts)")
    }

    /// The rule for the mode, and for a constant QP that only the quality names, is that of devices.
    @Test func targetsSelectTheModeAsOnADevice() throws {
        func mode(_ change: (inout EncoderConfiguration) -> Void) throws -> RateControlMode { try settings(change).mode }
        #expect(try mode { $0.rate.qpI = 10 } == .cqp)
        #expect(try mode { $0.rate.qpB = 10 } == .cqp)
        #expect(
            try mode {
                $0.rate.qpI = 10; $0.rate.quality = 30
            } == .icq)
        #expect(
            try mode {
                $0.rate.qp = 20; $0.rate.quality = 30
            } == .cqp)
        #expect(
            try mode {
                $0.rate.qpI = 10; $0.rate.bitrate = BitsPerSecond(300_000)
            } == .vbr)
        #expect(try parameters { $0.rate.qpI = 10 }["qp"] == "24")
        #expect(
            try parameters {
                $0.rate.quality = 30; $0.rate.rateControl = .cqp
            }["qp"] == "30")
        let unused = try used("qpB") {
            $0.rate.qp = 20; $0.rate.qpB = 24; $0.structure.bFrames = 0
        }
        #expect(unused?.used == "none" && unused?.why == "no B pictures")
        #expect(
            category {
                $0.rate.rateControl = .qvbr; $0.rate.quality = 20
            } == .usage)
    }

    @Test func missingLibraryFeaturesAreReported() throws {
        let all = try settings {
            $0.structure.temporalLayers = 3; $0.structure.longTermReferences = 2; $0.structure.idrInterval = 4; $0.rate.maxFrameBytes = 1000
            $0.rate.qp = 30; $0.coding.regionsOfInterest = [RegionOfInterest(x: 0, y: 0, width: 16, height: 16, qpDelta: -4)]
            $0.rate.vbvSize = 100_000; $0.structure.openGOP = true; $0.structure.bFrames = 0; $0.structure.bPyramid = true;
            $0.rate.rateController = .vaenc
            $0.headers.hrdParameters = true
        }
        let different = Set(all.effective.filter(\.differs).map(\.option))
        #expect(
            different == [
                "temporalLayers", "longTermReferences", "idrInterval", "maxFrameBytes", "regionsOfInterest", "vbvSize",
                "openGOP", "bPyramid", "rateController", "hrdParameters",
            ])
    }

    /// The library opens with every listed code point. Others become 2, which is reported.
    @Test(arguments: [VideoCodec.h264, .hevc]) func unsupportedColorsAreReplacedAndReported(_ codec: VideoCodec) throws {
        for code in UInt8.min...UInt8.max {
            let settings = try settings {
                $0.codec = codec
                $0.display.color = ColorDescription(primaries: code, transfer: code, matrix: max(code, 1))
            }
            if code < 32 { _ = try CodecContext(settings) }
            for (option, code, used, highest) in [
                ("color.primaries", code, settings.color.primaries, SoftwareColor.primaries),
                ("color.transfer", code, settings.color.transfer, SoftwareColor.transfer),
                ("color.matrix", max(code, 1), settings.color.matrix, SoftwareColor.matrix),
            ] {
                let isWritten = SoftwareColor.codes(codec, upTo: highest).contains(Int(code))
                #expect(used == (isWritten ? code : 2), "\(option) \(code)")
                #expect(settings.effective.contains { $0.option == option && $0.differs } == !isWritten, "\(option) \(code)")
            }
        }
        let error = #expect(throws: VaencError.self) {
            try settings {
                $0.codec = codec; $0.display.color.matrix = 254; $0.strict = true
            }
        }
        #expect(error?.category == .unavailable && error?.message.contains("color.matrix: asked 254") == true, "\(error as Any)")
    }

    /// MaxDpbFrames of H.264 (A.3.1) and MaxDpbSize of HEVC (A.4.2), of which one is the current picture.
    @Test func levelsLimitReferences() throws {
        for (codec, size, level, requested, expected) in [
            (VideoCodec.h264, VideoSize(width: 320, height: 136), 12, 16, "13"), (.h264, VideoSize(width: 320, height: 136), 21, 16, "16"),
            (.hevc, VideoSize(width: 352, height: 288), 20, 8, "5"), (.hevc, VideoSize(width: 352, height: 288), 21, 8, "8"),
        ] {
            let entry = try used("references") {
                $0.codec = codec
                $0.size = size
                $0.level = CodecLevel(tenths: level)
                $0.structure.references = requested
                $0.structure.bFrames = 0
                $0.rate.bitrate = BitsPerSecond(100_000)
            }
            #expect(entry?.used == expected && entry?.differs == (expected != "\(requested)"), "\(codec) \(level): \(entry as Any)")
        }
        // libx264 stores four frames for pictures that refer to B pictures: two are too few.
        let stored = try settings {
            $0.codec = .h264
            $0.size = VideoSize(width: 352, height: 288)
            $0.frameRate = Rational(5, 1)
            $0.level = 11
            $0.structure.bFrames = 3
            $0.rate.bitrate = BitsPerSecond(100_000)
        }
        #expect(stored.usedLevelNumber == 12)
    }

    @Test func referencesAreLimitedToWhatOpens() throws {
        for (bFrames, most) in [(0, "8"), (1, "7"), (2, "6"), (7, "6")] {
            let entry = try used("references") {
                $0.codec = .hevc; $0.structure.references = 16; $0.structure.bFrames = bFrames
            }
            #expect(entry?.used == most && entry?.differs == true)
            _ = try CodecContext(
                settings {
                    $0.codec = .hevc; $0.structure.references = 16; $0.structure.bFrames = bFrames
                })
        }
    }

    @Test func outOfMemoryMessagesAreRecognized() {
        #expect(CodecContext.isNoMemory("malloc of size 5482944 failed"))
        #expect(CodecContext.isNoMemory("Generic error in an external library"))
        #expect(!CodecContext.isNoMemory("Cannot open libx265 encoder"))
    }

    @Test func strictRefusesDifferences() {
        #expect(
            category {
                $0.coding.slices = 100; $0.strict = true
            } == .unavailable)
        #expect(
            category {
                $0.size = VideoSize(width: 641, height: 360); $0.strict = true
            } == .unavailable)
        #expect(
            category {
                $0.coding.slices = 4; $0.strict = true
            } == nil)
    }

    /// As on a device, the error names the limit.
    @Test(arguments: [Duration(attoseconds: .max), Duration(attoseconds: .min), .seconds(86401), .zero, .seconds(-1)])
    func gopDurationHasALimit(_ time: Duration) throws {
        let error = #expect(throws: VaencError.self) { try settings { $0.structure.gopDuration = time } }
        #expect(error?.category == .usage && error?.remedy?.contains("86400") == true, "\(error as Any)")
        _ = try settings { $0.structure.gopDuration = .seconds(86400) }
    }

    @Test func wrongValuesAreUsageErrors() throws {
        #expect(category { $0.rate.qp = 99 } == .usage)
        #expect(category { $0.rate.qp = -1 } == .usage)
        #expect(category { $0.rate.quality = 0 } == .usage)
        #expect(category { $0.coding.preset = 8 } == .usage)
        #expect(category { $0.structure.gopFrames = 0 } == .usage)
        for time in [.seconds(-1), Duration(attoseconds: .min)] {
            #expect(category { $0.structure.forcedKeyTimes = [.milliseconds(200), time] } == .usage)
        }
        #expect(category { $0.structure.forcedKeyFrames = [2, -1] } == .usage)
        #expect(category { $0.structure.bFrames = 8 } == .usage)
        #expect(category { $0.structure.temporalLayers = 5 } == .usage)
        #expect(category { $0.rate.vbvInitialPercent = 101 } == .usage)
        #expect(category { $0.rate.dataRateLimits = [DataRateLimit(bytes: 1, duration: .seconds(0))] } == .usage)
        #expect(
            category {
                $0.rate.minQP = 30; $0.rate.maxQP = 20
            } == .usage)
        #expect(category { $0.profile = .hevcMain } == .usage)
        #expect(category { $0.coding.deblocking = Deblocking(isOn: true, alphaOffset: 65536, betaOffset: -65536) } == .usage)
        #expect(category { $0.coding.deblocking = Deblocking(isOn: true, alphaOffset: 0, betaOffset: 7) } == .usage)
        #expect(category { $0.coding.deblocking = Deblocking(isOn: true, alphaOffset: -6, betaOffset: 6) } == nil)
        #expect(category { $0.rate.rateControl = .cbr } == .usage)
        var display = try #require(MasteringDisplay("G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)"))
        #expect(category { $0.display.masteringDisplay = display } == nil)
        display.red.x = 65535
        #expect(category { $0.display.masteringDisplay = display } == .usage)
        #expect(
            category {
                $0.rate.bitrate = BitsPerSecond(2000); $0.rate.maxBitrate = BitsPerSecond(1000)
            } == .usage)
        #expect(category { $0.size = VideoSize(width: 2, height: 2) } == .unavailable)
        for (width, height) in [(0, 0), (-1, 5), (640, 0), (Int.min, Int.min)] {
            #expect(category { $0.size = VideoSize(width: width, height: height) } == .usage, "\(width)×\(height)")
        }
        #expect(category { $0.size = VideoSize(width: 20000, height: 16) } == .unavailable)
    }
}
