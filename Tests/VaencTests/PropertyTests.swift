import TestOracles
import Testing
import VAAPI
@testable import Vaenc

@Suite(.timeLimit(.minutes(60))) struct PropertyTests {
    /// - Parameter codec: The codec, or nil to let the session choose.
    func session(_ device: DeviceSelector = .reference, _ codec: VideoCodec? = nil) throws -> CompressionSession {
        var configuration = EncoderConfiguration(size: Pictures.size)
        configuration.codec = codec
        configuration.frameRate = Rational(25)
        return try CompressionSession(configuration: configuration, device: device)
    }

    /// Returns a value of the property's type and range that differs from the current one.
    private func sample(_ property: SupportedProperty) -> PropertyValue {
        switch property.type {
        // These switches of VideoToolbox are on by default.
        case .boolean:
            if let only = property.choices?.first { return .bool(only == "true") }
            return .bool(!["AllowFrameReordering", "AllowTemporalCompression"].contains(property.name))
        case .integer: return .integer(property.choices?.last.flatMap { Int($0) } ?? min(Int(property.minimum ?? 1) + 3, Int(property.maximum ?? 50)))
        case .bitsPerSecond: return 700_000
        case .number: return .number(2.5)
        case .ratio: return "30000/1001"
        case .masteringDisplay: return "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"
        case .contentLight: return "1000,400"
        case .name: return .string(property.choices?.last ?? "")
        default: return property.name == "DataRateLimits" ? [100_000, 1.0] : [0, 0, 32, 32, -3]
        }
    }

    /// The maximum is what libx265 opens with. A strict session accepts it if no frames are reordered.
    @Test(arguments: [(VideoCodec.h264, 16.0), (.hevc, 8.0)]) func softwareReferencesHaveTheListedMaximum(_ codec: VideoCodec, _ most: Double) throws
    {
        let session = try session(.software, codec)
        let listed = try session.supportedProperties.first { $0.name == "ReferenceBufferCount" }
        #expect(listed?.maximum == most)
        #expect(category { try session.set(named: "ReferenceBufferCount", to: .integer(Int(most) + 1)) } == (most < 16 ? .unavailable : .usage))
        try session.set(.bFrameCount, to: 0)
        try session.set(.strict, to: true)
        try session.set(.referenceBufferCount, to: Int(most))
        try session.prepare()
        session.invalidate()
    }

    /// Code points that libx265 refuses are not listed, and are refused with the property's name.
    @Test(arguments: ["ColorPrimaries", "TransferFunction", "YCbCrMatrix"]) func softwareColorsExcludeUnsupportedCodePoints(_ name: String) throws {
        let session = try session(.software, .hevc)
        let choices = try session.supportedProperties.first { $0.name == name }?.choices ?? []
        #expect(choices.contains("9") && !choices.contains("3") && !choices.contains("254"))
        for code in [3, 254] { #expect(category { try session.set(named: name, to: .integer(code)) } == .unavailable) }
        try session.set(.strict, to: true)
        try session.set(named: name, to: .integer(Int(choices.last ?? "") ?? -1))
        try session.prepare()
        session.invalidate()
    }

    /// A strict session refuses ten-bit input for H.264 when it is created.
    @Test(arguments: [DeviceSelector.reference, .software]) func strictRefusesDeeperInput(_ device: DeviceSelector) {
        var configuration = EncoderConfiguration(size: VideoSize(width: 96, height: 80))
        (configuration.codec, configuration.inputFormat, configuration.strict) = (.h264, .p010, true)
        #expect(category { try CompressionSession(configuration: configuration, device: device).prepare() } == .unavailable)
    }

    /// H.264 E.2.1 and H.265 E.3.1 allow the identity matrix only with 4:4:4 samples.
    @Test(arguments: [DeviceSelector.reference, .software], [VideoCodec.h264, .hevc])
    func identityMatrixIsRefused(_ device: DeviceSelector, _ codec: VideoCodec) throws {
        let session = try session(device, codec)
        #expect(throws: VaencError.self) { try session.set(.yCbCrMatrix, to: 0) }
        try session.set(.yCbCrMatrix, to: 1)
        var configuration = session.configuration
        session.invalidate()
        configuration.display.color.matrix = 0
        #expect(category { try CompressionSession(configuration: configuration, device: device).prepare() } == .usage)
    }

    /// The highest values that any device or the software encoder accepts.
    private static let highest: [String: Double] = [
        "AverageBitRate": 4e9, "VBVMaxBitRate": 4e9, "VBVBufferSize": 4e9, "VBVInitialDelayPercentage": 100, "Quality": 51, "QP": 51,
        "QPOfIFrames": 51, "QPOfBFrames": 51, "MinAllowedFrameQP": 51, "MaxAllowedFrameQP": 51, "MaxFrameBytes": 268_435_456,
        "MaxH264SliceBytes": 268_435_456, "Preset": 7, "ExpectedFrameRate": 1000, "MaxKeyFrameInterval": 2_147_483_647,
        "MaxKeyFrameIntervalDuration": 86400, "IDRInterval": 2_147_483_647, "BFrameCount": 7, "ReferenceBufferCount": 16,
        "TemporalLayers": 4, "LongTermReferences": 15, "Level": 62, "Slices": 65535, "MaxFrameDelayCount": 64,
        // No device has 9 bits.
        "OutputBitDepth": 8, "AsyncDepth": 64,
    ]

    /// Every property of every device can be set before the first frame and read back, but not with a wrong type.
    @Test(arguments: [DeviceSelector.reference, .software], [nil, .h264, .hevc] as [VideoCodec?])
    func everyPropertyCanBeSet(_ device: DeviceSelector, _ codec: VideoCodec?) throws {
        let session = try session(device, codec)
        let supported = try session.supportedProperties
        #expect(supported.count > 40)
        let isHEVC = codec == .hevc || codec == nil && device == .reference
        #expect(supported.contains { $0.name == "H264EntropyMode" } == !isHEVC)
        let profiles = supported.first { $0.name == "Profile" }?.choices ?? []
        #expect(profiles == CodecProfile.allCases.filter { $0.codec == (isHEVC ? .hevc : .h264) }.map(\.rawValue))
        for property in supported {
            if property.isReadOnly {
                #expect(category { try session.set(named: property.name, to: 1) } == .usage, "\(property.name)")
                _ = try session.value(named: property.name)
                continue
            }
            let value = sample(property)
            #expect(category { try session.set(named: property.name, to: value) } == nil, "\(property.name) \(value)")
            #expect(try session.value(named: property.name) == value, "\(property.name)")
            #expect(category { try session.set(named: property.name, to: .list([true])) } == .usage, "\(property.name)")
            try session.set(named: property.name, to: nil)
            if let high = property.maximum {
                let beyond: PropertyValue = property.type == .number ? .number(high + 1) : .integer(Int(high) + 1)
                let isPossible = high + 1 <= Self.highest[property.name] ?? .infinity
                #expect(category { try session.set(named: property.name, to: beyond) } == (isPossible ? .unavailable : .usage), "\(property.name)")
            }
            for wrong in [PropertyValue.number(.nan), .number(.infinity), .list([.number(.nan), 1])] {
                #expect(category { try session.set(named: property.name, to: wrong) } == .usage, "\(property.name)")
            }
            if property.choices != nil {
                #expect(category { try session.set(named: property.name, to: "nothing") } != nil, "\(property.name)")
            }
        }
        #expect(category { try session.set(named: "NoSuchThing", to: 1) } == .usage)
        #expect(Set(supported.map(\.name)).count == supported.count)
        session.invalidate()
    }

    /// A property that is set before the first frame has the same effect as in the configuration.
    @Test(arguments: VideoCodec.allCases) func propertiesSetBeforeTheFirstFrameApply(_ codec: VideoCodec) async throws {
        let session = try session(.reference, codec)
        try await session.prepare()
        try session.set(.qp, to: 33)
        try session.set(.bFrameCount, to: 0)
        try session.set(["MaxKeyFrameInterval": 3, "Slices": 2, "AccessUnitDelimiters": true])
        #expect(session.value(.qp) == 33)
        let isH264 = codec == .h264
        #expect(category { try session.set(.h264EntropyMode, to: .cavlc) } == (isH264 ? nil : .unavailable))
        #expect(session.value(.h264EntropyMode) == (isH264 ? .cavlc : nil))
        #expect(session.value(.level) == nil)
        try Pictures.encode(0..<7, on: session)
        try await session.completeFrames()
        session.invalidate()
        let packets = try await read(7, of: session)
        #expect(packets.map(\.isKey) == [true, false, false, true, false, false, true])
        #expect(packets.filter { !$0.isKey }.allSatisfy { $0.qp == 33 })
        let delimiter: UInt8 = isH264 ? 9 : 35
        let slices: [UInt8] = isH264 ? [1, 5] : Array(0..<32)
        #expect(packets.allSatisfy { packet in packet.units.filter { slices.contains(Pictures.type($0, codec)) }.count == 2 })
        #expect(packets.allSatisfy { Pictures.type($0.units[0], codec) == delimiter })
        let effective = try? session.encoderDescription
        #expect(effective == nil)
        _ = Pictures.decode(packets)
    }

    /// A rate control mode may be set before its rate. Without the rate, the encoder is refused.
    @Test(arguments: [DeviceSelector.reference, .software]) func rateControlMayBeSetBeforeItsRate(_ device: DeviceSelector) throws {
        let session = try session(device, .h264)
        defer { session.invalidate() }
        try session.set(["RateControl": "cbr", "MaxKeyFrameInterval": 30])
        try session.set(["MaxKeyFrameInterval": 3, "BFrameCount": 0])
        #expect(category { try session.prepare() } == .usage)
        try session.set(.averageBitRate, to: BitsPerSecond(500_000))
        try session.prepare()
    }

    /// While the session runs, changeable properties change without a key frame. Others are refused and keep their
    /// values.
    @Test(arguments: VideoCodec.allCases) func runningSessionChangesOnlyItsChangeableProperties(_ codec: VideoCodec) async throws {
        var configuration = Pictures.immediate(codec: codec)
        configuration.rate.qp = 40
        let session = try CompressionSession(configuration: configuration, device: .reference)
        try Pictures.encode(0..<3, on: session)
        try session.set(.qp, to: 22)
        // As in a configuration, the category does not depend on the device.
        for qp in [-1, 52, 99] { #expect(category { try session.set(.qp, to: qp) } == .usage, "\(qp)") }
        try Pictures.encode(3..<6, on: session)
        let changing = try session.supportedProperties.filter(\.changesWhileRunning).map(\.name)
        #expect(
            Set(changing) == [
                "AverageBitRate", "VBVMaxBitRate", "DataRateLimits", "QP", "MinAllowedFrameQP", "MaxAllowedFrameQP", "ExpectedFrameRate",
            ])
        for property in try session.supportedProperties where !property.changesWhileRunning {
            let before = try session.value(named: property.name)
            #expect(category { try session.set(named: property.name, to: sample(property)) } == .usage, "\(property.name)")
            #expect(try session.value(named: property.name) == before, "\(property.name)")
        }
        // A constant QP has no bit rate: no property of the dictionary changes, not even the QP.
        #expect(category { try session.set(["QP": 10, "AverageBitRate": 1_000_000]) } == .unavailable)
        #expect(session.value(.qp) == 22 && session.value(.averageBitRate) == nil)
        try Pictures.encode(6..<7, on: session)
        session.invalidate()
        let packets = try await read(7, of: session)
        #expect(packets.dropFirst().map(\.qp) == [40, 40, 22, 22, 22, 22])
        #expect(packets.map(\.isKey) == [true, false, false, false, false, false, false])
        _ = Pictures.decode(packets)
    }

    /// A device with fewer features has fewer properties and smaller ranges.
    @Test func propertyListFollowsTheDevice() throws {
        var report = try #require(Devices.reports(.reference).first)
        let full = Devices.supportedProperties(report, codec: .h264, profile: .h264High)
        for index in report.capabilities.indices {
            var values = report.capabilities[index].attributes.values
            // No list 1, and so no B pictures.
            values[.encMaxRefFrames] = values[.encMaxRefFrames].map { $0 & 0xffff }
            for absent in [AttributeType.encPackedHeaders, .encROI, .encIntraRefresh] { values[absent] = nil }
            values[.encMaxSlices] = 1
            values[.rateControl] = RateControlModes([.cqp, .icq, .macroblock]).rawValue
            report.capabilities[index].attributes = ConfigAttributes(values: values)
        }
        let less = Devices.supportedProperties(report, codec: .h264, profile: .h264High)
        let missing = Set(full.map(\.name)).subtracting(less.map(\.name))
        #expect(
            missing == [
                "AllowOpenGOP", "BPyramid", "EnableLTR", "LongTermReferences", "TemporalLayers", "RegionsOfInterest", "IntraRefresh", "QPOfBFrames",
                "Transform8x8",
            ])
        func maximum(_ name: String) -> Double? { less.first { $0.name == name }?.maximum }
        #expect(maximum("BFrameCount") == 0 && maximum("Slices") == 1)
        #expect(less.first { $0.name == "RateControl" }?.choices == ["cqp", "cbr", "vbr", "icq", "qvbr"])
        for codec in VideoCodec.allCases {
            var one = report
            one.capabilities.removeAll { $0.codec == codec && $0.encodes }
            #expect(Devices.supportedProperties(one, codec: codec).isEmpty)
        }
    }

    /// HEVC has one entropy coder, one set of transforms, and two tiers; its profiles and levels differ.
    @Test func propertyListFollowsTheCodec() throws {
        let report = try #require(Devices.reports(.reference).first)
        func list(_ codec: VideoCodec, _ profile: CodecProfile? = nil) -> [String: SupportedProperty] {
            let all = Devices.supportedProperties(report, codec: codec, profile: profile)
            return Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        }
        for profile in CodecProfile.allCases {
            for codec in VideoCodec.allCases { #expect(list(codec, profile).isEmpty == (profile.codec != codec), "\(codec) \(profile)") }
        }
        let (h264, hevc) = (list(.h264), list(.hevc))
        #expect(Set(h264.keys).subtracting(hevc.keys) == ["H264EntropyMode", "Transform8x8"])
        #expect(Set(hevc.keys).subtracting(h264.keys) == ["Tier"] && hevc["Tier"]?.choices == ["main", "high"])
        #expect(hevc["Profile"]?.choices == ["HEVC Main", "HEVC Main 10"])
        #expect(hevc["Level"]?.choices == ["10", "20", "21", "30", "31", "40", "41", "50", "51", "52", "60", "61", "62"])
        #expect(list(.hevc, .hevcMain10).keys == hevc.keys)
    }

    /// If the session chooses the codec, a profile or option of the other codec changes the choice.
    @Test func codecChoiceFollowsTheProperties() throws {
        let session = try session()
        #expect(session.choice.codec == .hevc)
        try session.set(.profile, to: .h264Main)
        #expect(try session.supportedProperties.contains { $0.name == "H264EntropyMode" })
        #expect(try session.encoderDescription.profile == .h264Main)
        #expect(session.choice.codec == .h264 && session.choice.codecReason == .decided("the requested profile"))
        try session.set(.profile, to: nil)
        #expect(try session.encoderDescription.profile == .hevcMain)
        try session.set(["H264EntropyMode": "cavlc", "Transform8x8": true])
        #expect(try session.encoderDescription.codec == .h264)
        try session.set(["Profile": "HEVC Main 10"])
        #expect(category { try session.set(.transform8x8, to: false) } == .unavailable)
        #expect(try session.encoderDescription.profile == .hevcMain10)
        session.invalidate()
    }

    /// A value that no device supports is refused at once, with a usage error and a remedy.
    @Test func wrongValuesAreRefusedWhenSet() throws {
        let session = try session()
        func refused(_ body: () throws -> Void) -> Bool {
            do {
                try body()
                return false
            } catch {
                let error = error as? any DescribedError
                return error?.category == .usage && error?.remedy != nil
            }
        }
        for rate in [Rational(0), Rational(-1), Rational(-1, -1), Rational(1, 1001), Rational(1001)] {
            #expect(refused { try session.set(.expectedFrameRate, to: rate) }, "\(rate)")
        }
        for value in [PropertyValue.integer(0), .integer(-1), .number(.nan), .number(0), .number(-2.5), "0/1", "1/0", "none"] {
            #expect(refused { try session.set(named: "ExpectedFrameRate", to: value) }, "\(value)")
            #expect(refused { try session.set(named: "PixelAspectRatio", to: value) }, "\(value)")
        }
        for ratio in [Rational(0), Rational(-16, 11), Rational(1, 65536)] {
            #expect(refused { try session.set(.pixelAspectRatio, to: ratio) }, "\(ratio)")
        }
        let regions = [
            RegionOfInterest(x: 0, y: 0, width: 0, height: 8, qpDelta: 0), RegionOfInterest(x: -1, y: 0, width: 8, height: 8, qpDelta: 0),
            RegionOfInterest(x: 0, y: 0, width: 8, height: 8, qpDelta: 52), RegionOfInterest(x: 96, y: 0, width: 8, height: 8, qpDelta: 0),
        ]
        for region in regions { #expect(refused { try session.set(.regionsOfInterest, to: [region]) }, "\(region)") }
        for qp in [-1, 52, 99] {
            for property in [SessionProperty<Int>.qp, .qpI, .qpB, .minAllowedFrameQP, .maxAllowedFrameQP] {
                #expect(refused { try session.set(property, to: qp) }, "\(property.name) \(qp)")
            }
        }
        for value in [0, 52] { #expect(refused { try session.set(.quality, to: value) }, "\(value)") }
        for (property, value) in [(SessionProperty<Int>.preset, 8), (.bFrameCount, 8), (.referenceBufferCount, 17), (.bitDepth, 9)] {
            #expect(refused { try session.set(property, to: value) }, "\(property.name) \(value)")
        }
        for rate in [1, 999] { #expect(refused { try session.set(.averageBitRate, to: BitsPerSecond(rate)) }, "\(rate)") }
        for time in [Duration.zero, .seconds(-1), .seconds(86401), Duration(attoseconds: .min)] {
            #expect(refused { try session.set(.maxKeyFrameIntervalDuration, to: time) }, "\(time)")
        }
        let limits = [
            DataRateLimit(bytes: 0, duration: .seconds(1)), DataRateLimit(bytes: 10_000, duration: .seconds(0)),
            DataRateLimit(bytes: 10_000, duration: .seconds(-1)),
            DataRateLimit(bytes: 10_000, duration: Duration(attoseconds: .max)), DataRateLimit(bytes: 10_000, duration: .seconds(3601)),
        ]
        for limit in limits { #expect(refused { try session.set(.dataRateLimits, to: [limit]) }, "\(limit)") }
        #expect(session.serializableProperties == ["ExpectedFrameRate": "25/1"])
        session.invalidate()
    }

    @Test func videoToolboxSwitchesMapToNumbers() throws {
        let session = try session()
        try session.set(.allowFrameReordering, to: false)
        #expect(session.configuration.structure.bFrames == 0)
        try session.set(.allowFrameReordering, to: true)
        #expect(session.configuration.structure.bFrames == nil && session.value(.allowFrameReordering) == true)
        try session.set(.allowTemporalCompression, to: false)
        #expect(session.configuration.structure.gopFrames == 1)
        try session.set(.allowTemporalCompression, to: true)
        #expect(session.configuration.structure.gopFrames == nil && session.value(.allowTemporalCompression) == true)
        #expect(
            session.serializableProperties
                == ["ExpectedFrameRate": "25/1", "AllowFrameReordering": true, "AllowTemporalCompression": true])
        // The number includes the switch.
        try session.set(.bFrameCount, to: 0)
        #expect(session.value(.allowFrameReordering) == false)
        try session.set(.bFrameCount, to: nil)
        for property in [SessionProperty<Bool>.allowFrameReordering, .allowTemporalCompression] {
            try session.set(property, to: nil)
            #expect(session.value(property) == nil)
        }
        try session.set(.enableLTR, to: true)
        #expect(session.configuration.structure.longTermReferences == 2)
        try session.set(.enableLTR, to: false)
        #expect(session.configuration.structure.longTermReferences == 0)
        try session.set(.referenceBufferCount, to: 1)
        try session.set(.enableLTR, to: true)
        #expect(session.configuration.structure.longTermReferences == 1)
        try session.set(.longTermReferences, to: 3)
        try session.set(.enableLTR, to: true)
        #expect(session.configuration.structure.longTermReferences == 3)
        #expect(try session.value(named: "UsingHardwareAcceleratedVideoEncoder") == false)
        #expect(try session.value(named: "Width") == 96)
        #expect(try session.value(named: "EncoderID") != nil)
        session.invalidate()
    }

    /// A contradiction is reported when the encoder is prepared, and can be corrected.
    @Test func contradictionIsReportedByPrepare() throws {
        let session = try session()
        try session.set(.rateControl, to: .cbr)
        #expect(category { try session.prepare() } == .usage)
        try session.set(.averageBitRate, to: BitsPerSecond(500_000))
        try session.prepare()
        #expect(try session.encoderDescription.effective.contains { $0.option == "rateControl" && $0.used == "cbr" })
        session.invalidate()
    }
}
