import BitstreamInspection
import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// The same configuration leads to the same headers on every driver: on drivers that take all or some packed headers,
/// and on drivers that take none, where the engine inserts them after the encode. A reader that shares no code with the
/// writer compares them, and the streams decode without messages.
@Suite struct PersonalityHeaderTests {
    /// One personality for each set of attributes in the dumps of real drivers.
    static let packed = [
        "i965-1616", "i965-1916", "iHD-1912", "iHD-4680", "iHD-56A0", "iHD-8A52", "iHD25nonfree-46A6",
        "iHD25nonfree-56A0", "iHD25nonfree-5916", "iHD25nonfree-7D55", "iHD25nonfree-8A52",
    ]
    /// Personalities that write every header themselves.
    static let own = ["radeonsi-navi10", "radeonsi-raven", "radeonsi-vangogh"]

    private func encode(
        _ personality: String?, _ change: (inout EncoderConfiguration) -> Void
    ) throws -> (stream: H264Stream, bytes: [UInt8]) {
        read(try PersonalityHeaders.encode(personality, .h264, change))
    }

    /// The streams of the unrestricted driver, with which every personality's are compared.
    private static let everything = Result { try PersonalityHeaders.encode(nil, .h264, PersonalityHeaders.everything) }
    private static let buffered = [RateControlOwner.driver: makeBuffered(.driver), .vaenc: makeBuffered(.vaenc)]

    private static func makeBuffered(_ controller: RateControlOwner) -> Result<[UInt8], any Error> {
        Result {
            try PersonalityHeaders.encode(nil, .h264) {
                PersonalityHeaders.buffered(&$0)
                $0.rate.rateController = controller
            }
        }
    }

    private func read(_ bytes: [UInt8]) -> (stream: H264Stream, bytes: [UInt8]) {
        let stream = H264Stream(annexB: bytes)
        #expect(stream.violations.map(\.description) == [])
        return (stream, bytes)
    }

    private func units(_ stream: H264Stream, _ bytes: [UInt8], _ types: Set<Int>) -> [[UInt8]] {
        stream.nalUnits.filter { types.contains($0.type) }.map { Array(bytes[$0.payload]) }
    }

    /// Compares parameter sets, delimiters and SEI byte by byte, and every field of the slice headers.
    @Test(arguments: packed) func packedHeadersAreTheSame(personality: String) throws {
        let (expected, bytes) = read(try Self.everything.get())
        let (found, own) = try encode(personality, PersonalityHeaders.everything)
        #expect(found.nalUnits.map(\.type) == expected.nalUnits.map(\.type))
        #expect(units(found, own, [6, 7, 8, 9]) == units(expected, bytes, [6, 7, 8, 9]))
        #expect(found.frames.map { $0.slices.map(\.header) } == expected.frames.map { $0.slices.map(\.header) })
    }

    /// The fields that describe picture coding are the driver's own; all others are the same on every driver.
    @Test(arguments: own) func insertedHeadersAreTheSame(personality: String) throws {
        let (expected, bytes) = read(try Self.everything.get())
        let (found, own) = try encode(personality, PersonalityHeaders.everything)
        #expect(found.nalUnits.map(\.type) == expected.nalUnits.map(\.type))
        #expect(units(found, own, [6, 9]) == units(expected, bytes, [6, 9]))
        func sets(_ stream: H264Stream) -> [[Int]] {
            stream.sequenceSets.map {
                [$0.profile_idc, Int($0.constraint_flags), $0.level_idc, $0.visibleSize.width, $0.visibleSize.height]
            }
        }
        #expect(sets(found) == sets(expected))
        #expect(found.sequenceSets.map(\.vui) == expected.sequenceSets.map(\.vui))
        #expect(found.sequenceSets[0].vui?.videoSignal?.video_full_range_flag == true)
        #expect(found.frames.map(\.type) == expected.frames.map(\.type))
        // FFmpeg reads the same values from the cropping fields on.
        let fields = [
            "profile_idc", "level_idc", "frame_crop_right_offset", "frame_crop_bottom_offset", "aspect_ratio_idc",
            "sar_width", "sar_height", "colour_primaries", "transfer_characteristics", "matrix_coefficients",
            "video_full_range_flag", "num_units_in_tick", "time_scale", "max_num_reorder_frames",
            "max_dec_frame_buffering", "primary_pic_type", "last_payload_type_byte", "itu_t_t35_country_code",
        ]
        let (a, b) = try (TraceHeaders(stream: bytes), TraceHeaders(stream: own))
        for field in fields { #expect(a[field] == b[field] && !a[field].isEmpty, "\(field)") }
    }

    /// Compares HRD parameters and their messages, with the driver's rate control and with ours.
    @Test(arguments: packed + own, [RateControlOwner.driver, .vaenc])
    func everyDriverWritesTheSameHRDParameters(personality: String, controller: RateControlOwner) throws {
        func change(_ configuration: inout EncoderConfiguration) {
            PersonalityHeaders.buffered(&configuration)
            configuration.rate.rateController = controller
        }
        let (expected, _) = read(try #require(Self.buffered[controller]).get())
        let (found, _) = try encode(personality, change)
        #expect(found.sequenceSets.map(\.vui) == expected.sequenceSets.map(\.vui))
        #expect(found.sequenceSets[0].vui?.nal_hrd_parameters != nil)
        #expect(found.frames.map(\.pictureTiming) == expected.frames.map(\.pictureTiming))
        #expect(found.frames.map { $0.bufferingPeriod != nil } == [true, false, false, false, true, false])
        #expect(found.frames.allSatisfy { $0.pictureTiming != nil })
    }
}
