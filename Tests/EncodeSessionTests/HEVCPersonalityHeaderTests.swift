import BitstreamInspection
import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// The same configuration gives HEVC streams the same headers on every driver, but for how the device codes: packed by
/// us, written anew by the driver, or put in after the encode. Read by a reader of our own, which shares no code with
/// the writer; the streams decode without a word.
@Suite struct HEVCPersonalityHeaderTests {
    /// One for each set of HEVC attributes that the dumps of real drivers have; the last two take no packed slice headers.
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

    /// Video parameter sets, delimiters and SEI byte for byte; of sequence parameter sets what does not say how pictures
    /// are coded.
    @Test(arguments: personalities) func sameHeaders(personality: String) throws {
        let (expected, bytes) = try encode(nil, PersonalityHeaders.everything)
        let (found, own) = try encode(personality, PersonalityHeaders.everything)
        #expect(found.nalUnits.map(\.type) == expected.nalUnits.map(\.type))
        // A delimiter names the types of slices: B of P pictures where lists are two.
        let hasTwoLists = found.frames.contains { $0.kind == .b }
        #expect(units(found, own, [32, 39]) == units(expected, bytes, [32, 39]))
        if !hasTwoLists { #expect(units(found, own, [35]) == units(expected, bytes, [35])) }
        let (set, wanted) = (found.sequenceSets[0], expected.sequenceSets[0])
        #expect(found.sequenceSets.count == 1 && expected.sequenceSets.count == 1)
        #expect(set.profileTierLevel == wanted.profileTierLevel)
        #expect([set, wanted].allSatisfy { $0.visibleSize == (270, 130) })
        #expect(set.buffering == wanted.buffering && set.vui == wanted.vui)
        #expect(found.frames.map(\.nalUnitType) == expected.frames.map(\.nalUnitType))
        // The same by FFmpeg's reading.
        let fields = [
            "general_profile_idc", "general_tier_flag", "general_level_idc", "aspect_ratio_idc", "sar_width", "sar_height",
            "colour_primaries", "transfer_characteristics", "matrix_coefficients", "video_full_range_flag",
            "vui_num_units_in_tick", "vui_time_scale", "last_payload_type_byte", "itu_t_t35_country_code",
        ]
        let (a, b) = try (TraceHeaders(stream: bytes, codec: "hevc"), TraceHeaders(stream: own, codec: "hevc"))
        for field in fields { #expect(a[field] == b[field] && !a[field].isEmpty, "\(field)") }
    }

    /// HRD parameters and their messages, with the driver's rate control and with ours.
    @Test(arguments: personalities, [RateController.driver, .vaenc])
    func buffers(personality: String, controller: RateController) throws {
        func change(_ configuration: inout EncoderConfiguration) {
            PersonalityHeaders.buffered(&configuration)
            configuration.rateController = controller
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
