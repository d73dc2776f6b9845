import ExtremeValues
import EncodePlanning
import H264Syntax
import TestOracles
import Testing
import VAAPI
import VideoBase

@testable import EncodeSession

/// Resolves configurations on made-up devices.
@Suite struct SettingsResolverTests {
    static func limits(
        _ profile: CodecProfile = .h264High, _ entryPoint: EntryPoint = .encodeSlice,
        _ change: (inout EncodeCapabilities) -> Void = { _ in }
    ) -> EncodeCapabilities {
        var limits = EncodeCapabilities(profile: profile, entryPoint: entryPoint, coding: .h264)
        limits.maxSize = VideoSize(width: 4096, height: 4096)
        limits.maxReferences0 = 4
        limits.maxSlices = 32
        limits.packedHeaders = .all
        limits.quality = .levels(count: 7)
        change(&limits)
        return limits
    }

    static func configuration(
        _ width: Int = 1280, _ height: Int = 720, _ change: (inout EncoderConfiguration) -> Void = { _ in }
    ) -> EncoderConfiguration {
        var configuration = EncoderConfiguration(size: VideoSize(width: width, height: height))
        change(&configuration)
        return configuration
    }

    private func settle(
        _ configuration: EncoderConfiguration, _ limits: [EncodeCapabilities] = [limits()]
    ) throws -> EncodeSettings {
        try SettingsResolver.resolve(configuration, on: DeviceCapabilities(driver: "a driver", encoders: limits))
    }

    private func error(_ configuration: EncoderConfiguration, _ limits: [EncodeCapabilities] = [limits()]) -> VaencError? {
        do {
            _ = try settle(configuration, limits)
            return nil
        } catch {
            return error as? VaencError
        }
    }

    private func entry(_ settings: EncodeSettings, _ option: String) -> EffectiveEntry? {
        settings.effective.first { $0.option == option }
    }

    private func differences(_ settings: EncodeSettings) -> [String] {
        settings.effective.filter(\.differs).map(\.option)
    }

    /// A GOP of 2^(n−2) pictures or fewer cannot have n temporal layers; then fewer are used and reported.
    @Test func temporalLayersFitTheGOP() throws {
        for frames in 1...20 {
            for layers in 1...4 {
                var configuration = Self.configuration()
                configuration.structure.gopFrames = frames
                configuration.structure.temporalLayers = layers
                let settings = try settle(configuration)
                let most = (1...4).last { $0 == 1 || frames > 1 << ($0 - 2) } ?? 1
                #expect(settings.structure.temporalLayers == min(layers, most), "\(frames) \(layers)")
                #expect(differences(settings).contains("temporalLayers") == (layers > most), "\(frames) \(layers)")
            }
        }
    }

    /// Reasons name the library's options in backticks, which the command line replaces by its own.
    @Test func reasonsNameOptionsInBackticks() throws {
        func why(_ option: String, _ change: (inout EncoderConfiguration) -> Void) throws -> String? {
            var configuration = Self.configuration()
            change(&configuration)
            let limits = Self.limits { $0.maxReferences1 = 1 }
            return try settle(configuration, [limits]).effective.first { $0.option == option }?.why.description
        }
        #expect(
            try why("longTermReferences") {
                $0.structure.longTermReferences = 4; $0.structure.references = 2
            } == "limited by `references`")
        #expect(
            try why("temporalLayers") {
                $0.structure.temporalLayers = 4; $0.structure.gopFrames = 2
            } == "limited by `gopFrames`")
        #expect(
            try why("bFrames") {
                $0.structure.bFrames = 7; $0.structure.gopFrames = 3
            } == "limited by `gopFrames`")
        #expect(
            try why("bFrames") {
                $0.structure.bFrames = 7; $0.pipeline.maxFrameDelay = 1
            } == "limited by `maxFrameDelay`")
        #expect(
            try why("bFrames") {
                $0.structure.bFrames = 7; $0.pipeline.maxFrameDelay = 0
            } == "`maxFrameDelay` is 0")
    }

    @Test func defaultConfigurationIsResolvedWithoutDifferences() throws {
        let settings = try settle(Self.configuration())
        #expect(settings.profile == .h264High)
        #expect(settings.tools == .h264(H264Tools(entropy: .cabac, transform8x8: true)))
        #expect(settings.qpP == 24 && settings.qpI == 21)
        #expect(settings.structure.keyInterval == 150 && settings.structure.references == 1)
        #expect(settings.level.name == "3.1" && settings.sliceRows == [0] && settings.asyncDepth == 2)
        #expect(settings.qualityLevel == nil)
        #expect(differences(settings) == [])
        #expect(entry(settings, "rateControl")?.used == "cqp")
    }

    @Test func supportedRequestsAreUsedUnchanged() throws {
        let settings = try settle(
            Self.configuration {
                $0.profile = .h264Main
                $0.level = 40
                $0.coding.entropy = .cavlc
                $0.rate.rateControl = .cqp
                $0.rate.qp = 30
                $0.rate.qpI = 25
                $0.coding.preset = 2
                $0.structure.gopFrames = 12
                $0.structure.references = 3
                $0.coding.slices = 5
                $0.structure.bFrames = 0
                $0.pipeline.asyncDepth = 3
                $0.headers.accessUnitDelimiters = true
                $0.strict = true
            }, [Self.limits(), Self.limits(.h264Main)])
        #expect(settings.profile == .h264Main)
        #expect(settings.tools == .h264(H264Tools(entropy: .cavlc, transform8x8: false)))
        #expect(settings.qpP == 30 && settings.qpI == 25 && settings.qualityLevel == 2)
        #expect(settings.structure.keyInterval == 12 && settings.structure.references == 3)
        #expect(settings.level.name == "4.0" && settings.sliceRows == [0, 9, 18, 27, 36] && settings.asyncDepth == 3)
    }

    @Test func limitsAreReported() throws {
        let requested = Self.configuration {
            $0.structure.references = 16
            $0.coding.slices = 100
        }
        let settings = try settle(requested, [Self.limits { $0.maxSlices = 4 }])
        #expect(settings.sliceRows.count == 4 && settings.structure.references == 4)
        #expect(
            entry(settings, "slices") == EffectiveEntry(option: "slices", asked: "100", used: "4", why: "driver limit"))
        #expect(entry(settings, "references")?.differs == true)
        var strict = requested
        strict.strict = true
        let refusal = error(strict, [Self.limits { $0.maxSlices = 4 }])
        #expect(refusal?.category == .unavailable)
        #expect(refusal?.message.contains("`slices`: asked 100, would be 4") == true)
        #expect(refusal?.message.contains("`references`: asked 16, would be 4") == true)
    }

    @Test func oddSizesAreRoundedUp() throws {
        let settings = try settle(Self.configuration(641, 361))
        #expect(settings.size == VideoSize(width: 642, height: 362))
        #expect(settings.inputSize == VideoSize(width: 641, height: 361))
        #expect(settings.grid.coded == VideoSize(width: 656, height: 368))
        #expect(entry(settings, "size")?.differs == true)
        #expect(error(Self.configuration(641, 361) { $0.strict = true })?.category == .unavailable)
    }

    @Test func sizesOutsideTheLimitsAreRefused() {
        let small = [Self.limits { $0.minSize = VideoSize(width: 32, height: 32) }]
        for (width, height) in [(2, 2), (16384, 16384), (30, 64), (64, 30), (4098, 64), (64, 4098)] {
            let refusal = error(Self.configuration(width, height), small)
            #expect(refusal?.category == .unavailable)
            #expect(refusal?.remedy?.contains("from 32×32 up to 4096×4096") == true)
        }
        #expect(error(Self.configuration(32, 32), small) == nil)
        #expect(error(Self.configuration(16384, 16384), [Self.limits { $0.maxSize = nil }])?.category == .unavailable)
    }

    @Test func profileAndEntryPointFollowTheDevice() throws {
        let both = [Self.limits(), Self.limits(.h264High, .encodeSliceLowPower), Self.limits(.h264ConstrainedBaseline)]
        #expect(try settle(Self.configuration(), both).limits.entryPoint == .encodeSlice)
        #expect(try settle(Self.configuration { $0.lowPower = true }, both).limits.entryPoint == .encodeSliceLowPower)
        let lowOnly = [Self.limits(.h264High, .encodeSliceLowPower)]
        let substituted = try settle(Self.configuration { $0.lowPower = false }, lowOnly)
        #expect(substituted.limits.entryPoint == .encodeSliceLowPower)
        #expect(entry(substituted, "entryPoint")?.differs == true)
        #expect(try differences(settle(Self.configuration(), lowOnly)) == [])
        let baseline = try settle(
            Self.configuration {
                $0.profile = .h264ConstrainedBaseline
                $0.coding.entropy = .cabac
            }, both)
        #expect(baseline.tools == .h264(H264Tools(entropy: .cavlc, transform8x8: false)) && entry(baseline, "entropy")?.differs == true)
        #expect(error(Self.configuration { $0.profile = .h264Main }, both)?.category == .unavailable)
        #expect(error(Self.configuration(), [])?.category == .unavailable)
    }

    /// The H.264 device has no HEVC encoder, so HEVC is refused by its name; samples of ten bits are rounded and
    /// reported.
    @Test func unsupportedCodecIsRefusedAndDepthIsRounded() throws {
        let refusal = error(Self.configuration { $0.codec = .hevc })
        #expect(refusal?.category == .unavailable && refusal?.message.contains("HEVC") == true)
        for format in [PixelFormat.p010, .i420p10] {
            let wide = Self.configuration { $0.inputFormat = format }
            let settings = try settle(wide)
            #expect(settings.pixelFormat == .nv12 && settings.profile == .h264High)
            let rounded = entry(settings, "pixelFormat")
            #expect(rounded?.asked == format.rawValue && rounded?.used == "nv12" && rounded?.differs == true)
            var strict = wide
            strict.strict = true
            #expect(error(strict)?.category == .unavailable)
        }
    }

    @Test func unknownLevelsAreRefused() {
        for (number, name) in [(-1, "-0.1"), (Int.min, "-922337203685477580.8"), (14, "1.4")] {
            let refusal = error(Self.configuration(1280, 720) { $0.level = CodecLevel(tenths: number) })
            #expect(refusal?.category == .usage && refusal?.message == "H.264 has no level \(name)", "\(refusal as Any)")
        }
    }

    @Test func valuesOutOfRangeAreRefused() {
        let changes: [(inout EncoderConfiguration) -> Void] = [
            { $0.rate.qp = 99 }, { $0.rate.qp = -1 }, { $0.rate.qpI = 52 }, { $0.rate.quality = 0 }, { $0.coding.preset = 8 },
            { $0.structure.gopFrames = 0 },
            { $0.structure.references = 0 }, { $0.structure.references = 17 }, { $0.coding.slices = 0 }, { $0.pipeline.asyncDepth = 0 },
            { $0.structure.gopDuration = .seconds(-1) }, { $0.structure.gopDuration = Duration(attoseconds: .max) },
            {
                $0.rate.minQP = 40; $0.rate.maxQP = 30
            }, { $0.level = 14 },
            { $0.frameRate = Rational(0, 1) }, { $0.frameRate = Rational(5000, 1) }, { $0.profile = .hevcMain },
            { $0.size = VideoSize(width: 0, height: 16) }, { $0.structure.temporalLayers = 5 }, { $0.structure.longTermReferences = 16 },
            { $0.structure.idrInterval = 0 }, { $0.rate.maxSliceBytes = 1 }, { $0.pipeline.maxFrameDelay = -1 },
            { $0.structure.forcedKeyTimes = [.seconds(-1)] },
            { $0.coding.deblocking = Deblocking(alphaOffset: 7) },
            {
                $0.display.masteringDisplay = MasteringDisplay(
                    red: .init(x: 1, y: 1), green: .init(x: 1, y: 1), blue: .init(x: 1, y: 1), white: .init(x: 1, y: 1), maxLuminance: 1,
                    minLuminance: 2)
            },
            { $0.coding.regionsOfInterest = [RegionOfInterest(x: 0, y: 0, width: 0, height: 9, qpDelta: 1)] },
            { $0.display.sampleAspectRatio = Rational(-1, 1) },
        ]
        for change in changes { #expect(error(Self.configuration(1280, 720, change))?.category == .usage) }
    }

    @Test func qpFollowsQualityAndLimits() throws {
        func qp(_ change: (inout EncoderConfiguration) -> Void) throws -> [Int] {
            let settings = try settle(Self.configuration(1280, 720, change))
            return [settings.qpI, settings.qpP]
        }
        #expect(try qp { $0.rate.qp = 30 } == [27, 30])
        #expect(try qp { $0.rate.quality = 30 } == [27, 30])
        #expect(try qp { $0.rate.qp = 1 } == [0, 1])
        #expect(
            try qp {
                $0.rate.qp = 30; $0.rate.minQP = 29
            } == [29, 30])
        #expect(
            try qp {
                $0.rate.qp = 50; $0.rate.maxQP = 40
            } == [37, 40])
        let one = try settle(
            Self.configuration {
                $0.rate.qp = 30; $0.rate.qpI = 20
            }, [Self.limits { $0.hasOneQP = true }])
        #expect(one.qpI == 30 && entry(one, "qpI")?.differs == true)
    }

    @Test func presetSelectsTheQualityLevel() throws {
        func level(_ preset: Int, _ quality: EncodeCapabilities.QualityScale) throws -> UInt32? {
            try settle(Self.configuration { $0.coding.preset = preset }, [Self.limits { $0.quality = quality }]).qualityLevel
        }
        #expect(try (1...7).map { try level($0, .levels(count: 7)) } == [1, 2, 3, 4, 5, 6, 7])
        #expect(try [1, 7].map { try level($0, .levels(count: 2)) } == [1, 2])
        #expect(try [1, 4, 7].map { try level($0, .radeonBits) } == [5, 3, 0])
        #expect(try level(3, .none) == nil)
    }

    @Test func macroblockRateControlNeedsTheDriversSwitch() throws {
        for offered in [true, false] {
            for requested in [true, false] {
                let settings = try settle(
                    Self.configuration {
                        $0.rate.bitrate = BitsPerSecond(100_000); $0.rate.macroblockRateControl = requested
                    },
                    [
                        Self.limits {
                            $0.rateControl = [.cqp, .vbr]; $0.macroblockRateControl = offered
                        }
                    ])
                #expect(settings.rate.macroblockRateControl == (offered ? requested : nil))
                #expect(entry(settings, "macroblockRateControl")?.differs == !offered)
            }
        }
    }

    @Test func regionsOutsideThePictureAreRefused() throws {
        let size = Self.configuration { _ in }.size
        func settled(_ x: Int, _ y: Int) throws {
            _ = try settle(
                Self.configuration { $0.coding.regionsOfInterest = [RegionOfInterest(x: x, y: y, width: 16, height: 16, qpDelta: -3)] },
                [Self.limits { $0.maxRegions = 4 }])
        }
        try settled(size.width - 1, size.height - 1)
        #expect(throws: VaencError.self) { try settled(size.width, 0) }
        #expect(throws: VaencError.self) { try settled(0, size.height) }
    }

    /// Checks the quality level and the reported reasons for preset and hint.
    @Test func realTimeHintSelectsTheFastestLevel() throws {
        func level(
            _ realTime: Bool?, preset: Int? = nil, _ quality: EncodeCapabilities.QualityScale
        ) throws -> (level: UInt32?, reported: [String?], differences: [String]) {
            let settings = try settle(
                Self.configuration {
                    $0.pipeline.realTime = realTime; $0.coding.preset = preset
                }, [Self.limits { $0.quality = quality }])
            let reported = ["preset", "realTime"].map { entry(settings, $0).map { "\($0.used): \($0.why)" } }
            return (settings.qualityLevel, reported, differences(settings))
        }
        let fast = try level(true, .levels(count: 7))
        #expect(fast.level == 7 && fast.differences == [])
        #expect(fast.reported == ["7: real time: quality level 7 of 7", "on: the fastest preset"])
        #expect(try level(true, .levels(count: 2)).level == 2)
        #expect(try level(true, .radeonBits) == (0, ["7: real time: the driver's speed mode", "on: the fastest preset"], []))
        let own = try level(true, preset: 2, .levels(count: 7))
        #expect(own == (2, ["2: quality level 2 of 7", "on: only a hint: the requested preset is used"], []))
        #expect(try level(false, .levels(count: 7)) == (nil, ["driver's: default", "off: the preset is not changed"], []))
        #expect(try level(nil, .levels(count: 7)) == (nil, ["driver's: default", nil], []))
        let none = try level(true, .none)
        #expect(none.level == nil && none.differences == ["realTime"])
        let why = "driver's: the driver has no quality levels"
        #expect(none.reported == [why, why])
    }

    @Test func levelAndReferencesLimitEachOther() throws {
        let capped = try settle(
            Self.configuration {
                $0.level = 31; $0.structure.references = 8
            }, [Self.limits { $0.maxReferences0 = 16 }])
        #expect(capped.level.name == "3.1" && capped.structure.references == 5)
        let raised = try settle(Self.configuration { $0.structure.references = 6 }, [Self.limits { $0.maxReferences0 = 16 }])
        #expect(raised.level.name == "4.0" && raised.structure.references == 6)
        let tooLow = try settle(Self.configuration { $0.level = 10 })
        #expect(tooLow.level.name == "3.1" && entry(tooLow, "level")?.differs == true)
        let intraOnly = try settle(Self.configuration { $0.structure.gopFrames = 30 }, [Self.limits { $0.maxReferences0 = 0 }])
        #expect(intraOnly.structure.keyInterval == 1 && entry(intraOnly, "gop")?.differs == true)
    }

    @Test func gopLengthIsTheShorterRequest() throws {
        func interval(_ change: (inout EncoderConfiguration) -> Void) throws -> Int? {
            try settle(Self.configuration(1280, 720, change)).structure.keyInterval
        }
        #expect(try interval { $0.structure.gopDuration = .seconds(2) } == 60)
        #expect(try interval { $0.structure.gopDuration = .seconds(0.001) } == 1)
        #expect(
            try interval {
                $0.structure.gopDuration = .seconds(2); $0.structure.gopFrames = 30
            } == 30)
        #expect(
            try interval {
                $0.structure.gopDuration = .seconds(0.5); $0.structure.gopFrames = 30
            } == 15)
        #expect(try interval { $0.frameRate = Rational(30000, 1001) } == 150)
        func reported(_ frames: Int?, _ time: Duration) throws -> [String] {
            let settings = try settle(Self.configuration { ($0.structure.gopFrames, $0.structure.gopDuration) = (frames, time) })
            return ["gop", "gopSeconds"].map { option in
                let entry = entry(settings, option)
                return "\(entry?.asked ?? "nothing") -> \(entry?.used ?? "nothing"): \(entry?.why ?? "")"
            }
        }
        #expect(try reported(30, .seconds(2)) == ["30 -> 30: as asked", "nothing -> 1.0: `gopFrames` is shorter than 2.0 s"])
        #expect(try reported(30, .seconds(0.5)) == ["30 -> 15: `gopDuration` is shorter", "0.5 -> 0.5: as asked"])
        #expect(try reported(60, .seconds(2)) == ["60 -> 60: as asked", "2.0 -> 2.0: as asked"])
        #expect(try reported(nil, .seconds(0.001)) == ["nothing -> 1: 0.001 s", "nothing -> 0.033: one frame is the shortest distance"])
    }

    private static func both(_ change: (inout EncodeCapabilities) -> Void = { _ in }) -> [EncodeCapabilities] {
        [
            limits {
                $0.maxReferences1 = 2
                $0.intraRefresh = .rollingColumn
                $0.maxRegions = 2
                $0.trellis = true
                $0.limitsSliceBytes = true
                change(&$0)
            }
        ]
    }

    /// Checks what each option requests of the structure on a device that supports everything.
    @Test func structureFollowsTheOptions() throws {
        func structure(_ change: (inout EncoderConfiguration) -> Void) throws -> [Int] {
            let used = try settle(Self.configuration(1280, 720, change), Self.both()).structure
            return [used.bFrames, used.isPyramid ? 1 : 0, used.references, used.storage, used.reorderDepth]
        }
        #expect(try structure { _ in } == [2, 0, 1, 2, 1])
        #expect(try structure { $0.structure.bFrames = 3 } == [3, 1, 1, 3, 2])
        #expect(
            try structure {
                $0.structure.bFrames = 3; $0.structure.bPyramid = false
            } == [3, 0, 1, 2, 1])
        #expect(
            try structure {
                $0.structure.bFrames = 7; $0.structure.references = 3
            } == [7, 1, 3, 5, 3])
        #expect(
            try structure {
                $0.pipeline.lowLatency = true; $0.structure.bFrames = 3
            } == [0, 0, 1, 1, 0])
        #expect(try structure { $0.pipeline.maxFrameDelay = 1 } == [1, 0, 1, 2, 1])
        #expect(try structure { $0.structure.gopFrames = 2 } == [1, 0, 1, 2, 1])
        #expect(try structure { $0.structure.gopFrames = 1 } == [0, 0, 1, 1, 0])
        #expect(
            try structure {
                $0.structure.intraRefresh = true; $0.structure.references = 3
            } == [0, 0, 1, 1, 0])
        #expect(try structure { $0.structure.temporalLayers = 4 }[0] == 0)
        #expect(
            try structure {
                $0.structure.temporalLayers = 2; $0.structure.bFrames = 2
            }[0] == 2)
        #expect(try structure { $0.structure.longTermReferences = 2 }.prefix(3) == [0, 0, 2])
    }

    /// If the device lacks a feature, the effective configuration reports it and `strict` refuses it.
    @Test func missingFeaturesAreReported() throws {
        let requests: [(String, (inout EncoderConfiguration) -> Void)] = [
            ("bFrames", { $0.structure.bFrames = 2 }), ("intraRefresh", { $0.structure.intraRefresh = true }),
            ("temporalLayers", { $0.structure.temporalLayers = 3 }), ("longTermReferences", { $0.structure.longTermReferences = 1 }),
            ("trellis", { $0.coding.trellis = true }), ("maxSliceBytes", { $0.rate.maxSliceBytes = 1000 }),
            ("regionsOfInterest", { $0.coding.regionsOfInterest = [RegionOfInterest(x: 0, y: 0, width: 9, height: 9, qpDelta: 1)] }),
            ("deblocking", { $0.coding.deblocking = Deblocking(isOn: false) }), ("references", { $0.structure.references = 2 }),
            ("openGOP", { $0.structure.openGOP = true }), ("bPyramid", { $0.structure.bPyramid = true }),
        ]
        let bare = [
            Self.limits {
                $0.packedHeaders = []; $0.maxReferences0 = 1
            }
        ]
        for (option, change) in requests {
            let settings = try settle(Self.configuration(1280, 720, change), bare)
            let entry = entry(settings, option)
            #expect(entry?.differs == true && entry?.why.description.isEmpty == false, "\(option)")
            let refusal = error(
                Self.configuration(1280, 720) {
                    change(&$0); $0.strict = true
                }, bare)
            #expect(refusal?.message.contains(option) == true, "\(option)")
        }
        for (option, change) in requests {
            let whole = Self.configuration(1280, 720) {
                change(&$0); if option == "bPyramid" { $0.structure.bFrames = 3 }
            }
            let settings = try settle(whole, Self.both())
            #expect(entry(settings, option)?.differs == false, "\(option)")
        }
    }

    /// Sweeps the numbers of B frames, pyramid, references and layers over all list lengths.
    @Test func everyStructureFitsItsDevice() throws {
        for list0 in [0, 1, 3, 8] {
            for list1 in 0...2 {
                for stored in [1, 2, 3, 16] where stored <= max(list0 + list1, 1) || stored == 16 {
                    let device = Self.both {
                        $0.maxReferences0 = list0
                        $0.maxReferences1 = list1
                        $0.maxStored = stored
                    }
                    for bFrames in 0...7 {
                        for layers in 1...4 {
                            for longTerm in [0, 2] {
                                let used = try settle(
                                    Self.configuration(320, 240) {
                                        $0.structure.bFrames = bFrames
                                        $0.structure.temporalLayers = layers
                                        $0.structure.longTermReferences = longTerm
                                        $0.structure.references = 4
                                    }, device
                                ).structure
                                #expect(used.storage <= stored && used.references <= max(list0, 1))
                                #expect(used.bFrames == 0 || list1 > 0)
                            }
                        }
                    }
                }
            }
        }
    }
}
