import ExtremeValues
import EncodePlanning
import TestOracles
import Testing
import VAAPI
import VideoBase

@testable import EncodeSession

/// Resolves HEVC settings for devices as their drivers describe them.
@Suite struct HEVCResolverTests {
    private func limits(
        _ driver: String, _ entryPoint: EntryPoint = .encodeSlice, features: UInt32? = nil, blocks: UInt32? = nil,
        direction: UInt32? = nil, references: (Int, Int) = (3, 3)
    ) -> HEVCCapabilities {
        var values: [AttributeType: UInt32] = [:]
        values[.encHEVCFeatures] = features
        values[.encHEVCBlockSizes] = blocks
        values[.predictionDirection] = direction
        return HEVCCapabilities(
            ConfigAttributes(values: values), alignment: nil, driver: driver, entryPoint: entryPoint,
            references: (references.0, references.1))
    }

    /// Tiger Lake's low-power encoder answers all attributes. Tools that it requires are used.
    @Test func answeredAttributesSetTheLimits() {
        let found = limits("Intel iHD driver", .encodeSliceLowPower, features: 0x190_0464, blocks: 0x88cf, direction: 7)
        #expect(found.log2CodingTreeBlock == 6 && found.log2MinCodingBlock == 3)
        #expect(found.log2MinTransformBlock == 2 && found.log2MaxTransformBlock == 5)
        #expect(found.transformDepthInter == 2 && found.transformDepthIntra == 2)
        #expect(found.amp && found.sao && found.temporalMVP && !found.strongIntraSmoothing && !found.deblockingDisable)
        #expect(found.cuQPDelta == .required && found.needsTwoLists && found.predictsFromFuture)
        #expect(found.maxDifferingReferences0 == 2 && found.alignment == VideoSize(width: 16, height: 16))
        // Ice Lake's encoder predicts only from the past.
        let older = limits("Intel iHD driver", .encodeSliceLowPower, features: 0x190_0464, blocks: 0x88cf, direction: 5)
        #expect(older.needsTwoLists && !older.predictsFromFuture)
        // The hardware of the other entry point accepts any lists.
        let slice = limits("Intel iHD driver", features: 0x190_0464, blocks: 0x88c7, direction: 7, references: (4, 4))
        #expect(slice.maxDifferingReferences0 == nil && slice.needsTwoLists)
    }

    @Test func unansweredAttributesTakeDriverDefaults() {
        let gen9 = limits("Intel iHD driver", references: (3, 1))
        #expect(gen9.log2CodingTreeBlock == 5 && gen9.amp && !gen9.sao && !gen9.temporalMVP && !gen9.needsTwoLists)
        #expect(gen9.predictsFromFuture && gen9.cuQPDelta == .supported)
        let lowPower = limits("Intel iHD driver", .encodeSliceLowPower)
        #expect(lowPower.log2CodingTreeBlock == 6 && lowPower.sao && lowPower.needsTwoLists && !lowPower.predictsFromFuture)
        #expect(lowPower.cuQPDelta == .required)
        let radeon = limits("Mesa Gallium driver 22.3.6", references: (1, 0))
        #expect(radeon.log2CodingTreeBlock == 6 && radeon.transformDepthInter == 0 && !radeon.sao && !radeon.temporalMVP)
        #expect(radeon.alignment == VideoSize(width: 64, height: 16) && !radeon.needsTwoLists && radeon.minSliceBlocks == 4)
        let other = limits("a driver", references: (1, 0))
        var plain = HEVCCapabilities()
        plain.predictsFromFuture = false
        #expect(other == plain)
    }

    @Test func codedGridFollowsBlockSizeAndAlignment() throws {
        func grid(_ width: Int, _ height: Int, _ change: (inout HEVCCapabilities) -> Void) throws -> BlockGrid {
            var hevc = HEVCCapabilities()
            change(&hevc)
            let limits = HEVCAdapterTests.limits { $0.tools = hevc }
            return try HEVCAdapterTests.settle(limits, width, height).grid
        }
        let radeon = try grid(1366, 768) {
            $0.log2CodingTreeBlock = 6
            $0.alignment = VideoSize(width: 64, height: 16)
        }
        #expect(radeon.coded == VideoSize(width: 1408, height: 768) && radeon.columns == 22 && radeon.rows == 12)
        #expect(radeon.areas == 88 * 48)
        let small = try grid(1920, 1080) { $0.log2CodingTreeBlock = 4 }
        #expect(small.coded == VideoSize(width: 1920, height: 1088) && small.columns == 120 && small.rows == 68)
    }

    /// The level and tier follow size, rate and buffer; a requested level is kept if it suffices for the stream.
    @Test func levelAndTierFollowSizeRateAndBuffer() throws {
        func level(_ width: Int, _ height: Int, _ change: (inout EncoderConfiguration) -> Void) throws -> String {
            try HEVCAdapterTests.settle(HEVCAdapterTests.limits(), width, height, change).level.name
        }
        #expect(try level(1920, 1080) { $0.rate.bitrate = BitsPerSecond(6_000_000) } == "4.0")
        let high = try level(1920, 1080) {
            $0.rate.bitrate = BitsPerSecond(15_000_000)
            $0.rate.maxBitrate = BitsPerSecond(20_000_000)
        }
        #expect(high == "4.0 High")
        #expect(
            try level(1920, 1080) {
                $0.frameRate = Rational(60, 1); $0.rate.bitrate = BitsPerSecond(6_000_000)
            } == "4.1")
        #expect(
            try level(3840, 2160) {
                $0.rate.bitrate = BitsPerSecond(12_000_000); $0.frameRate = Rational(60, 1)
            } == "5.1")
        #expect(
            try level(1920, 1080) {
                $0.rate.bitrate = BitsPerSecond(6_000_000); $0.level = 51
            } == "5.1")
        #expect(
            try level(640, 360) {
                $0.rate.bitrate = BitsPerSecond(1_000_000); $0.rate.vbvSize = 20_000_000
            } == "4.0 High")
        #expect(throws: VaencError.self) { _ = try level(640, 360) { $0.level = 42 } }
    }

    /// A requested tier is used, at a higher level if necessary; otherwise the tier is what the stream needs.
    @Test func requestedTierIsUsed() throws {
        func settle(_ change: (inout EncoderConfiguration) -> Void) throws -> EncodeSettings {
            try HEVCAdapterTests.settle(HEVCAdapterTests.limits(), 1920, 1080) {
                $0.strict = true
                $0.structure.bFrames = 0
                change(&$0)
            }
        }
        func tier(_ settings: EncodeSettings) -> String? {
            settings.effective.first { $0.option == "tier" }.map { "\($0.asked ?? "nothing"): \($0.used), \($0.why)" }
        }
        let rate = BitsPerSecond(6_000_000)
        let high = try settle { ($0.rate.bitrate, $0.tier) = (rate, .high) }
        #expect(high.level.name == "4.0 High" && tier(high) == "High: High, as asked")
        let main = try settle { ($0.rate.bitrate, $0.rate.maxBitrate, $0.tier) = (rate, BitsPerSecond(20_000_000), .main) }
        #expect(main.level.name == "4.1" && tier(main) == "Main: Main, as asked")
        let requested = try settle { ($0.rate.bitrate, $0.rate.maxBitrate, $0.level) = (rate, BitsPerSecond(20_000_000), 40) }
        #expect(requested.level.name == "4.0 High" && tier(requested) == "nothing: High, 20000000 bit/s exceeds level 4.0's Main tier")
        let buffer = try settle { ($0.rate.bitrate, $0.rate.vbvSize, $0.level) = (rate, 20_000_000, 40) }
        #expect(buffer.level.name == "4.0 High" && tier(buffer) == "nothing: High, a buffer of 20000000 bits exceeds level 4.0's Main tier")
        // The default maximum of 1.5 times the average is no request, so it is lowered to fit the level.
        let average = try settle { ($0.rate.bitrate, $0.level) = (BitsPerSecond(10_000_000), 40) }
        #expect(average.level.name == "4.0" && average.rate.maxBitrate == 13_200_000)
        #expect(throws: VaencError.self) {
            _ = try settle { ($0.rate.bitrate, $0.rate.maxBitrate, $0.level, $0.tier) = (rate, BitsPerSecond(20_000_000), 40, .main) }
        }
        #expect(throws: VaencError.self) { _ = try settle { ($0.level, $0.tier) = (31, .high) } }
        #expect(throws: VaencError.self) {
            _ = try SettingsResolver.resolve(
                SettingsResolverTests.configuration { $0.tier = .main },
                on: DeviceCapabilities(driver: "a driver", encoders: [SettingsResolverTests.limits()]))
        }
    }

    @Test func tooLowLevelIsRaisedAndReported() throws {
        func entry(_ change: (inout EncoderConfiguration) -> Void) throws -> EffectiveEntry? {
            try HEVCAdapterTests.settle(HEVCAdapterTests.limits(), 1920, 1080, change).effective.first { $0.option == "level" }
        }
        let size = try entry { ($0.level, $0.rate.qp) = (31, 30) }
        #expect(size?.asked == "3.1" && size?.used == "4.0" && size?.why == "needed by 1920×1080 at 30/1")
        let rate = try entry { ($0.level, $0.rate.bitrate, $0.rate.maxBitrate) = (40, BitsPerSecond(6_000_000), BitsPerSecond(40_000_000)) }
        #expect(rate?.asked == "4.0" && rate?.used == "4.1" && rate?.why == "needed by 1920×1080 at 30/1 and 40000000 bit/s")
    }

    /// Samples of ten bits use Main 10 if the device supports it; a requested profile is used or refused.
    @Test func bitDepthSelectsTheProfile() throws {
        func settle(
            _ profiles: [CodecProfile], _ change: (inout EncoderConfiguration) -> Void
        ) throws -> EncodeSettings {
            let configuration = SettingsResolverTests.configuration(640, 360) {
                $0.codec = .hevc
                change(&$0)
            }
            return try SettingsResolver.resolve(
                configuration, on: DeviceCapabilities(driver: "a driver", encoders: profiles.map { HEVCAdapterTests.limits($0) }))
        }
        let both: [CodecProfile] = [.hevcMain, .hevcMain10]
        #expect(try settle(both) { _ in }.profile == .hevcMain)
        #expect(try settle(both) { $0.inputFormat = .p010 }.profile == .hevcMain10)
        #expect(
            try settle(both) {
                $0.inputFormat = .i420p10; $0.bitDepth = 8
            }.profile == .hevcMain)
        #expect(try settle(both) { $0.bitDepth = 10 }.pixelFormat == .p010)
        #expect(try settle(both) { $0.profile = .hevcMain10 }.pixelFormat == .p010)
        let rounded = try settle([.hevcMain]) { $0.inputFormat = .p010 }
        #expect(rounded.profile == .hevcMain && rounded.pixelFormat == .nv12)
        #expect(rounded.effective.contains { $0.option == "pixelFormat" && $0.differs })
        for change in [{ $0.bitDepth = 10 }, { $0.profile = .hevcMain10 }] as [(inout EncoderConfiguration) -> Void] {
            #expect(throws: VaencError.self) { _ = try settle([.hevcMain], change) }
        }
        #expect(throws: VaencError.self) { _ = try settle([.h264High]) { _ in } }
    }

    /// Checks B pictures on the hardware behind Intel's low-power entry point, which clamps the lists, and on hardware
    /// that predicts only from the past.
    @Test func bPicturesFollowListLimits() throws {
        let clamped = HEVCAdapterTests.limits {
            $0.tools.needsTwoLists = true
            $0.tools.maxDifferingReferences0 = 2
            ($0.maxReferences0, $0.maxReferences1) = (3, 3)
        }
        let settings = try HEVCAdapterTests.settle(clamped) {
            $0.structure.bFrames = 2
            $0.structure.references = 3
        }
        let used = settings.structure
        #expect(used.references == 3 && used.referencesB == 2 && used.references1 == 1 && used.bFrames == 2)
        let back = HEVCAdapterTests.limits { $0.tools.predictsFromFuture = false }
        let none = try HEVCAdapterTests.settle(back) { $0.structure.bFrames = 2 }
        #expect(none.structure.bFrames == 0)
        #expect(none.effective.contains { $0.option == "bFrames" && $0.differs })
    }

    /// Slices have at least four coding tree blocks if the driver would repartition smaller ones.
    @Test func slicesHaveAtLeastFourBlocks() throws {
        let limits = HEVCAdapterTests.limits {
            $0.tools.minSliceBlocks = 4
            $0.tools.log2CodingTreeBlock = 6
            $0.sliceStructure = .equalRows
        }
        for height in stride(from: 128, through: 640, by: 64) {
            for slices in 1...10 {
                let settings = try HEVCAdapterTests.settle(limits, 144, height) { $0.coding.slices = slices }
                #expect(settings.sliceBlocks.allSatisfy { $0.count >= 4 } && settings.sliceBlocks.count <= slices)
                #expect(settings.sliceBlocks.last?.upperBound == settings.grid.columns * settings.grid.rows)
                let counts = settings.sliceBlocks.map(\.count)
                #expect(counts.dropLast().allSatisfy { $0 == counts[0] } && counts[counts.count - 1] <= counts[0])
            }
        }
    }
}
