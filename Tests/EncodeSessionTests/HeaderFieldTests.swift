import H264Syntax
import TestOracles
import Testing
import VideoBase

@testable import EncodeSession

/// Each option changes its header fields, as FFmpeg's trace_headers reads the stream.
@Suite struct HeaderFieldTests {
    private func trace(
        frames: Int = 8, options: (Int) -> FrameOptions = { _ in FrameOptions() },
        _ change: (inout EncoderConfiguration) -> Void
    ) throws -> TraceHeaders {
        try TraceHeaders(stream: TestSession.run(frames: frames, options: options, change).stream)
    }

    private func first(_ field: String, _ change: (inout EncoderConfiguration) -> Void) throws -> Int? {
        try trace(change)[field].first
    }

    @Test func structureFieldsFollowTheGOP() throws {
        let flat = try trace {
            $0.structure.bFrames = 3; $0.structure.bPyramid = false
        }
        let pyramid = try trace {
            $0.structure.bFrames = 3; $0.structure.bPyramid = true
        }
        let none = try trace { $0.structure.bFrames = 0 }
        #expect([none, flat, pyramid].map { $0["max_num_reorder_frames"].first } == [0, 1, 2])
        #expect([none, flat, pyramid].map { $0["max_dec_frame_buffering"].first } == [1, 2, 3])
        #expect([none, flat, pyramid].map { $0["max_num_ref_frames"].first } == [1, 2, 3])
        // constraint_set5_flag means no B slices.
        #expect([none, flat].map { $0["constraint_set5_flag"].first } == [1, 0])
        #expect(none["slice_type"] == [7, 5, 5, 5, 5, 5, 5, 5])
        #expect(flat["slice_type"] == [7, 5, 6, 6, 6, 5, 6, 6])
        #expect(flat["direct_spatial_mv_pred_flag"].allSatisfy { $0 == 1 })
        let refIdc = pyramid.units(named: "Slice Header").compactMap { $0["nal_ref_idc"] }
        #expect(refIdc.prefix(5) == [3, 2, 1, 0, 0])
        #expect(try trace { $0.structure.temporalLayers = 3 }["gaps_in_frame_num_allowed_flag"].first == 1)
    }

    @Test func pictureFieldsFollowTheOptions() throws {
        let filter = try trace {
            $0.coding.deblocking = Deblocking(alphaOffset: -3, betaOffset: 4)
            $0.structure.bFrames = 0
        }
        #expect(filter["slice_alpha_c0_offset_div2"].allSatisfy { $0 == -3 })
        #expect(filter["slice_beta_offset_div2"].allSatisfy { $0 == 4 })
        #expect(try trace { $0.coding.deblocking = Deblocking(isOn: false) }["disable_deblocking_filter_idc"].allSatisfy { $0 == 1 })
        #expect(try first("transform_8x8_mode_flag") { $0.coding.transform8x8 = false } == 0)
        #expect(try first("transform_8x8_mode_flag") { _ in } == 1)
        #expect(try first("entropy_coding_mode_flag") { $0.coding.entropy = .cavlc } == 0)
        let qp = try trace {
            $0.rate.qp = 30; $0.rate.qpI = 20; $0.rate.qpB = 35; $0.structure.bFrames = 1
        }
        #expect(qp["pic_init_qp_minus26"].first == 4)
        #expect(qp["slice_qp_delta"].prefix(3) == [-10, 0, 5])
        #expect(
            try trace {
                $0.coding.slices = 3; $0.structure.bFrames = 0
            }["first_mb_in_slice"].prefix(4) == [0, 20, 40, 0])
    }

    @Test func longTermReferencesAreMarkedInTheStream() throws {
        let trace = try trace(frames: 20) {
            $0.structure.longTermReferences = 2
            $0.structure.references = 3
        }
        #expect(trace["long_term_reference_flag"].first == 1)
        let operations = trace.units.flatMap(\.fields).filter { $0.name.hasSuffix("memory_management_control_operation") }
        #expect(operations.contains { $0.value > 0 })
    }

    @Test func messagesOccurWhereRequested() throws {
        var own = FrameOptions()
        own.captions = [0xFC, 0x80, 0x80]
        own.userData = [Array(repeating: 0x42, count: 16) + [1, 2, 3]]
        let messages = try trace(options: { $0 == 3 ? own : FrameOptions() }) {
            $0.structure.bFrames = 0
            $0.structure.gopFrames = 4
        }
        // The identifier occurs at both key frames, and the frame has two messages of its own.
        #expect(messages["last_payload_type_byte"].filter { $0 == 5 }.count == 3)
        #expect(messages["last_payload_type_byte"].filter { $0 == 4 }.count == 1)
        #expect(messages["itu_t_t35_country_code"] == [0xB5])
        #expect(try trace { $0.headers.identifier = false }["last_payload_type_byte"] == [])
        let open = try trace {
            $0.structure.openGOP = true
            $0.structure.gopFrames = 4
        }
        #expect(open["recovery_frame_cnt"].first == 0 && open["exact_match_flag"].first == 1)
        let refresh = try trace(frames: 12) {
            $0.structure.intraRefresh = true
            $0.structure.gopFrames = 5
        }
        #expect(refresh["recovery_frame_cnt"].allSatisfy { $0 == 5 } && !refresh["recovery_frame_cnt"].isEmpty)
        #expect(refresh["idr_pic_id"].count == 1)
    }

    /// The VUI holds the HRD parameters, and timing messages count frames.
    @Test func hrdFieldsHoldTheBufferModel() throws {
        var settings = try SettingsResolver.resolve(
            SettingsResolverTests.configuration(640, 360),
            on: DeviceCapabilities(driver: "a driver", encoders: [SettingsResolverTests.limits()]))
        settings.buffer = BufferModel(bitrate: 640_000, size: 320_000, isConstant: true)
        let adapter = try settings.adapter()
        let (plan, options) = AccessUnitAssemblerTests.options(.idr)
        let units = adapter.leading(plan, options: options, clock: PictureClock(removal: 3, output: 2), delay: nil)
        let trace = try Files.withTemporaryFolder { folder -> TraceHeaders in
            // The picture has one I slice whose data trace_headers does not read.
            let slice: [UInt8] = [0x65, 0x88, 0x80, 0x40, 0x03, 0xF0, 0x80]
            var stream: [UInt8] = []
            for unit in units.units + [slice] { stream += [0, 0, 0, 1] + unit }
            try Files.write(stream, to: folder + "/a.h264")
            return try TraceHeaders(path: folder + "/a.h264")
        }
        #expect(trace["nal_hrd_parameters_present_flag"].first == 1 && trace["cbr_flag[0]"].first == 1)
        let delays = trace.units.flatMap(\.fields).filter { $0.name.hasSuffix("initial_cpb_removal_delay[0]") }
        #expect(delays.map(\.value) == [45_000])
        #expect(trace["cpb_removal_delay"].first == 6 && trace["dpb_output_delay"].first == 4)
    }
}
