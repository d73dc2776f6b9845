import ExtremeValues
import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// Compares a stream with each option to one without it: the option's syntax element changes from the one value to the
/// other, as FFmpeg's trace_headers reads both.
@Suite struct HeaderOptionTests {
    struct Option: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var read: @Sendable (TraceHeaders) -> [Int]
        /// The values that `read` returns without the option and with it.
        var without: [Int]
        var with: [Int]
        var change: @Sendable (inout EncoderConfiguration) -> Void

        init(
            _ name: String, _ read: @escaping @Sendable (TraceHeaders) -> [Int], _ without: [Int], _ with: [Int],
            _ change: @escaping @Sendable (inout EncoderConfiguration) -> Void
        ) {
            testDescription = name
            self.read = read
            self.without = without
            self.with = with
            self.change = change
        }

        /// Reads the first value of a field, or nil if the field is absent.
        init(
            _ name: String, _ field: String, _ without: Int?, _ with: Int?,
            _ change: @escaping @Sendable (inout EncoderConfiguration) -> Void
        ) {
            self.init(
                "\(name): \(field)", { Array($0[field].prefix(1)) }, without.map { [$0] } ?? [],
                with.map { [$0] } ?? [], change)
        }
    }

    private static func types(_ trace: TraceHeaders) -> [Int] {
        trace.units(named: "Slice Header").compactMap { $0["slice_type"].map { $0 % 5 } }
    }

    private static func refIdc(_ trace: TraceHeaders) -> [Int] {
        trace.units(named: "Slice Header").compactMap { $0["nal_ref_idc"] }
    }

    /// Returns the bit rate in bits/s and the buffer size in bits (H.264 E.2.2).
    private static func buffer(_ trace: TraceHeaders) -> [Int] {
        guard let rate = trace["bit_rate_value_minus1[0]"].first, let size = trace["cpb_size_value_minus1[0]"].first,
            let rateScale = trace["bit_rate_scale"].first, let sizeScale = trace["cpb_size_scale"].first
        else { return [] }
        return [(rate + 1) << (6 + rateScale), (size + 1) << (4 + sizeScale)]
    }

    private static func name(_ unit: String) -> @Sendable (TraceHeaders) -> [Int] {
        { [$0.units(named: unit).count] }
    }

    static let frames = 6
    static let clip = Swift.Result { try Fixture.carphone.frames(frames) }

    static let profiles = [
        Option("profile main", "profile_idc", 100, 77) { $0.profile = .h264Main },
        Option("profile baseline", "profile_idc", 100, 66) { $0.profile = .h264ConstrainedBaseline },
        Option("profile baseline", "constraint_set1_flag", 0, 1) { $0.profile = .h264ConstrainedBaseline },
        Option("level", "level_idc", 11, 41) { $0.level = 41 },
        Option("level 1b", "level_idc", 11, 9) {
            $0.level = 9
            $0.frameRate = Rational(15, 1)
            $0.structure.bFrames = 0
        },
        Option("entropy", "entropy_coding_mode_flag", 1, 0) { $0.coding.entropy = .cavlc },
        Option("transform 8×8", "transform_8x8_mode_flag", 1, 0) { $0.coding.transform8x8 = false },
        Option("frame rate", "time_scale", 60, 48000) { $0.frameRate = Rational(24000, 1001) },
        Option("frame rate", "num_units_in_tick", 1, 1001) { $0.frameRate = Rational(24000, 1001) },
        Option("aspect 12:11", "aspect_ratio_idc", nil, 2) { $0.display.sampleAspectRatio = Rational(12, 11) },
        Option("aspect 5:7", { Array($0["sar_width"].prefix(1) + $0["sar_height"].prefix(1)) }, [], [5, 7]) {
            $0.display.sampleAspectRatio = Rational(5, 7)
        },
        Option(
            "color",
            { trace in
                ["colour_primaries", "transfer_characteristics", "matrix_coefficients"].flatMap { trace[$0].prefix(1) }
            }, [], [9, 16, 10]
        ) { $0.display.color = ColorDescription(primaries: 9, transfer: 16, matrix: 10) },
        Option("full range", "video_full_range_flag", nil, 1) { $0.display.color = ColorDescription(fullRange: true) },
        Option("limited range", "video_full_range_flag", nil, 0) { $0.display.color = ColorDescription(fullRange: false) },
    ]

    static let structures = [
        Option("references", "max_num_ref_frames", 2, 4) { $0.structure.references = 4 },
        Option("references", "num_ref_idx_l0_default_active_minus1", 0, 3) { $0.structure.references = 4 },
        Option("B frames", "max_num_reorder_frames", 1, 0) { $0.structure.bFrames = 0 },
        Option("B frames", types, [2, 0, 1, 1, 0, 1], [2, 0, 1, 1, 1, 0]) {
            $0.structure.bFrames = 3; $0.structure.bPyramid = false
        },
        Option("pyramid", "max_num_reorder_frames", 1, 2) { $0.structure.bPyramid = true },
        Option("pyramid", refIdc, [3, 2, 0, 0, 2, 0], [3, 2, 1, 0, 2, 0]) { $0.structure.bPyramid = true },
        Option("GOP", types, [2, 0, 1, 1, 0, 1], [2, 0, 1, 2, 0, 1]) { $0.structure.gopFrames = 3 },
        Option("GOP in seconds", types, [2, 0, 1, 1, 0, 1], [2, 0, 1, 2, 0, 1]) { $0.structure.gopDuration = .seconds(0.1) },
        Option("IDR interval", { [$0["idr_pic_id"].count] }, [1], [2]) {
            $0.structure.gopFrames = 2
            $0.structure.idrInterval = 2
        },
        Option("open GOP", "exact_match_flag", nil, 1) {
            $0.structure.gopFrames = 3
            $0.structure.openGOP = true
        },
        Option("forced key frame", { [$0["idr_pic_id"].count] }, [1], [2]) { $0.structure.forcedKeyFrames = [4] },
        Option("forced key time", { [$0["idr_pic_id"].count] }, [1], [2]) { $0.structure.forcedKeyTimes = [.seconds(0.05)] },
        Option("temporal layers", "gaps_in_frame_num_allowed_flag", 0, 1) { $0.structure.temporalLayers = 3 },
        Option("temporal layers", refIdc, [3, 2, 0, 0, 2, 0], [3, 0, 1, 0, 2, 0]) { $0.structure.temporalLayers = 3 },
        Option("intra refresh", { Array($0["recovery_frame_cnt"].prefix(1)) }, [], [4]) {
            $0.structure.intraRefresh = true
            $0.structure.gopFrames = 4
        },
        Option("long-term references", "long_term_reference_flag", 0, 1) { $0.structure.longTermReferences = 1 },
        Option("low latency", types, [2, 0, 1, 1, 0, 1], [2, 0, 0, 0, 0, 0]) { $0.pipeline.lowLatency = true },
        Option("max delay", types, [2, 0, 1, 1, 0, 1], [2, 0, 1, 0, 1, 0]) { $0.pipeline.maxFrameDelay = 1 },
    ]

    static let pictures = [
        Option("slices", { $0["first_mb_in_slice"].prefix(4).map { $0 } }, [0, 0, 0, 0], [0, 33, 66, 0]) { $0.coding.slices = 3 },
        Option("slice bytes", { [$0["first_mb_in_slice"].count { $0 > 0 } > 6 ? 1 : 0] }, [0], [1]) {
            $0.rate.maxSliceBytes = 200
        },
        Option("filter off", "disable_deblocking_filter_idc", 0, 1) { $0.coding.deblocking = Deblocking(isOn: false) },
        Option("filter", "slice_alpha_c0_offset_div2", 0, -4) { $0.coding.deblocking = Deblocking(alphaOffset: -4) },
        Option("filter", "slice_beta_offset_div2", 0, 5) { $0.coding.deblocking = Deblocking(betaOffset: 5) },
        Option("QP", "pic_init_qp_minus26", 2, 8) { $0.rate.qp = 34 },
        Option("QP of I", { Array($0["slice_qp_delta"].prefix(3)) }, [-3, 0, 2], [-8, 0, 2]) { $0.rate.qpI = 20 },
        Option("QP of B", { Array($0["slice_qp_delta"].prefix(3)) }, [-3, 0, 2], [-3, 0, 9]) { $0.rate.qpB = 37 },
        Option("least QP", { Array($0["slice_qp_delta"].prefix(1) + $0["pic_init_qp_minus26"].prefix(1)) }, [-3, 2], [0, 2]) {
            $0.rate.minQP = 28
        },
        Option("greatest QP", { Array($0["slice_qp_delta"].prefix(3)) }, [-3, 0, 2], [-3, 0, 0]) { $0.rate.maxQP = 28 },
        Option("delimiters", name("Access Unit Delimiter"), [0], [6]) { $0.headers.accessUnitDelimiters = true },
        Option("delimiters", { $0["primary_pic_type"] }, [], [0, 1, 2, 2, 1, 2]) { $0.headers.accessUnitDelimiters = true },
        Option("identifier", { $0["last_payload_type_byte"] }, [5], []) { $0.headers.identifier = false },
    ]

    static let rates = [
        Option("CBR", "cbr_flag[0]", nil, 1) {
            $0.rate.qp = nil
            $0.rate.rateControl = .cbr
            $0.rate.bitrate = BitsPerSecond(400_000)
        },
        Option("VBR", "cbr_flag[0]", nil, 0) {
            $0.rate.qp = nil
            $0.rate.rateControl = .vbr
            $0.rate.bitrate = BitsPerSecond(400_000)
        },
        Option("rate and buffer", buffer, [], [400_000, 300_000]) {
            $0.rate.qp = nil
            $0.rate.rateControl = .cbr
            $0.rate.bitrate = BitsPerSecond(400_000)
            $0.rate.vbvSize = 300_000
        },
        Option("greatest rate", buffer, [], [640_000, 320_000]) {
            $0.rate.qp = nil
            $0.rate.rateControl = .vbr
            $0.rate.bitrate = BitsPerSecond(400_000)
            $0.rate.maxBitrate = BitsPerSecond(640_000)
            $0.rate.vbvSize = 320_000
        },
        // Half of 0.75 seconds, on a clock of 90 kHz.
        Option(
            "initial fullness",
            { trace in
                trace.units.flatMap(\.fields).filter { $0.name.hasSuffix("initial_cpb_removal_delay[0]") }.map(\.value)
            }, [], [33_750]
        ) {
            $0.rate.qp = nil
            $0.rate.rateControl = .cbr
            $0.rate.bitrate = BitsPerSecond(400_000)
            $0.rate.vbvSize = 300_000
            $0.rate.vbvInitialPercent = 50
        },
        Option("HRD off", "nal_hrd_parameters_present_flag", 0, 0) {
            $0.rate.qp = nil
            $0.rate.rateControl = .cbr
            $0.rate.bitrate = BitsPerSecond(400_000)
            $0.headers.hrdParameters = false
        },
        Option("timing", { $0["cpb_removal_delay"] }, [], [0, 2, 4, 6, 8, 10]) {
            $0.rate.qp = nil
            $0.rate.rateControl = .cbr
            $0.rate.bitrate = BitsPerSecond(400_000)
        },
    ]

    private static func trace(_ change: (inout EncoderConfiguration) -> Void) throws -> TraceHeaders {
        let result = try ClipSession.run(
            of: clip.get(), change, { session in for index in 0..<frames { try session.encode(index) } })
        let decoded = ForeignDecoder.libavcodec.decode(result.packets.stream)
        #expect(decoded.messages == [] && decoded.frames == result.pictures)
        return try TraceHeaders(stream: result.packets.stream)
    }

    private static let plain = Swift.Result { try trace { _ in } }

    @Test(arguments: profiles + structures + pictures + rates) func optionChangesItsField(_ option: Option) throws {
        #expect(option.read(try Self.plain.get()) == option.without)
        #expect(option.read(try Self.trace(option.change)) == option.with)
    }
}
