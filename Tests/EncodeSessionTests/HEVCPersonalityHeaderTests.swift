import BitstreamInspection
import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// HEVC streams of the same configuration have the same headers on every driver, except for the coding tools of the
/// device. The headers are packed by us, rewritten by the driver, or inserted after the encode. A reader that shares no
/// code with the writer compares them, and the streams decode without messages.
@Suite struct HEVCPersonalityHeaderTests {
    /// One personality for each set of HEVC attributes in the dumps of real drivers; the last two accept no packed
    /// slice headers.
    static let personalities = [
        "iHD-8A52", "iHD-46A6", "iHDnonfree-1912", "iHDnonfree-8A52", "iHD25nonfree-5916", "iHD25nonfree-56A0",
        "iHD25nonfree-7D55", "radeonsi25-raven", "radeonsi25-navi31", "radeonsi-raven", "radeonsi-navi21",
    ]

    private func encode(
        _ personality: String?, _ change: (inout EncoderConfiguration) -> Void
    ) throws -> (stream: HEVCStream, bytes: [UInt8]) {
        let bytes = try PersonalityHeaders.encode(personality, .hevc, change)
        let stream = HEVCStream(annexB: bytes)
        #expect(stream.violations.map(\.description) == [])
        return (stream, bytes)
    }

    private func units(_ stream: HEVCStream, _ bytes: [UInt8], _ types: Set<Int>) -> [[UInt8]] {
        stream.nalUnits.filter { types.contains($0.type) }.map { Array(bytes[$0.payload]) }
    }

    /// Compares video parameter sets, delimiters and SEI byte by byte, and those fields of sequence parameter sets that
    /// do not describe picture coding.
    @Test(arguments: personalities) func everyDriverWritesTheSameHeaders(personality: String) throws {
        let (expected, bytes) = try encode(nil, PersonalityHeaders.everything)
        let (found, own) = try encode(personality, PersonalityHeaders.everything)
        #expect(found.nalUnits.map(\.type) == expected.nalUnits.map(\.type))
        // A delimiter names the slice types; if P pictures need two lists, they are coded as B slices.
        let hasTwoLists = found.frames.contains { $0.kind == .b }
        #expect(units(found, own, [32, 39]) == units(expected, bytes, [32, 39]))
        if !hasTwoLists { #expect(units(found, own, [35]) == units(expected, bytes, [35])) }
        let (set, expectedSet) = (found.sequenceSets[0], expected.sequenceSets[0])
        #expect(found.sequenceSets.count == 1 && expected.sequenceSets.count == 1)
        #expect(set.profileTierLevel == expectedSet.profileTierLevel)
        #expect([set, expectedSet].allSatisfy { $0.visibleSize == (270, 130) })
        #expect(set.subLayers == expectedSet.subLayers && set.vui == expectedSet.vui)
        #expect(found.frames.map(\.nal_unit_type) == expected.frames.map(\.nal_unit_type))
        // FFmpeg reads the same values.
        let fields = [
            "general_profile_idc", "general_tier_flag", "general_level_idc", "aspect_ratio_idc", "sar_width", "sar_height",
            "colour_primaries", "transfer_characteristics", "matrix_coefficients", "video_full_range_flag",
            "vui_num_units_in_tick", "vui_time_scale", "last_payload_type_byte", "itu_t_t35_country_code",
        ]
        let (a, b) = try (TraceHeaders(stream: bytes, codec: "hevc"), TraceHeaders(stream: own, codec: "hevc"))
        for field in fields { #expect(a[field] == b[field] && !a[field].isEmpty, "\(field)") }
    }

    /// Compares HRD parameters and their messages, with the driver's rate control and with ours.
    @Test(arguments: personalities, [RateControlOwner.driver, .vaenc])
    func everyDriverWritesTheSameHRDParameters(personality: String, controller: RateControlOwner) throws {
        func change(_ configuration: inout EncoderConfiguration) {
            PersonalityHeaders.buffered(&configuration)
            configuration.rate.rateController = controller
        }
        let (expected, _) = try encode(nil, change)
        let (found, _) = try encode(personality, change)
        #expect(found.sequenceSets.map(\.vui) == expected.sequenceSets.map(\.vui))
        #expect(found.sequenceSets[0].vui?.hrd != nil)
        #expect(found.frames.map(\.pictureTiming) == expected.frames.map(\.pictureTiming))
        #expect(found.frames.map { $0.bufferingPeriod != nil } == [true, false, false, false, true, false])
        #expect(found.frames.allSatisfy { $0.pictureTiming != nil })
    }
}
