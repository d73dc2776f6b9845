import EncodePlanning
import H264Syntax
import NALUnits
import ReferenceDisplay
import Testing
import VAAPI
import VideoBase

@testable import EncodeSession

@Suite struct PackedHeaderTests {
    private func plans(_ count: Int) -> [(FramePlan, H264PictureNumbers)] {
        var planner = FramePlanner(structure: GOPStructure(keyInterval: 300, references: 1))
        var numbering = H264ReferenceState(references: 1)
        return (0..<count).flatMap { _ in planner.add().map { ($0, numbering.number($0)) } }
    }

    @Test func packedSliceHeadersMatchHandDerivedBytes() throws {
        let headers = try AccessUnitAssemblerTests.headers()
        let plans = plans(257)
        func packed(_ index: Int) -> PackedHeader {
            let header = SliceHeader(plans[index].0, plans[index].1, firstMacroblock: 0, qp: index == 0 ? 21 : 24)
            return PackedHeader(header, sps: headers.sps, pps: headers.pps)
        }
        // 1 0001000 | 1 0000000 | 0 1 000000 | 00 0 0 0011 | 1 1 1 1: slice_qp_delta is −3, relative to the PPS's 24.
        #expect(packed(0).bytes == [0, 0, 0, 1, 0x65, 0x88, 0x80, 0x40, 0x03, 0xF0])
        #expect(packed(0).bit_length == 5 * 8 + 36)
        #expect(packed(0).has_emulation_bytes)
        // 1 00110 1 | frame_num 00000001 | POC lsb 00000010 | 0 0 0 1 1 1 1 1
        #expect(packed(1).bytes == [0, 0, 0, 1, 0x41, 0x9A, 0x02, 0x04, 0x3E])
        #expect(packed(1).bit_length == 5 * 8 + 31)
        // frame_num and POC lsb both wrap to 0: 16 zero bits and more, which the driver must escape.
        #expect(packed(256).bytes == [0, 0, 0, 1, 0x41, 0x9A, 0x00, 0x00, 0x3E])
        #expect(!packed(256).has_emulation_bytes)
    }

    @Test func parameterBuffersMatchThePackedHeaders() throws {
        let configuration = SettingsResolverTests.configuration(642, 362) {
            $0.structure.references = 3
            $0.frameRate = Rational(30000, 1001)
            $0.display.sampleAspectRatio = Rational(7, 5)
        }
        let device = DeviceCapabilities(driver: "a driver", encoders: [SettingsResolverTests.limits()])
        let settings = try SettingsResolver.resolve(configuration, on: device)
        let headers = try #require(settings.adapter() as? H264Adapter).stream.headers
        let sequence = H264SequenceParameters(headers, settings)
        #expect(sequence.level_idc == 30 && sequence.max_num_ref_frames == 3 && sequence.intra_idr_period == 150)
        #expect(sequence.picture_width_in_mbs == 41 && sequence.picture_height_in_mbs == 23)
        #expect(sequence.crop == .init(right: 7, bottom: 3))
        #expect(sequence.log2_max_frame_num_minus4 == 4 && sequence.log2_max_pic_order_cnt_lsb_minus4 == 4)
        #expect(sequence.vui?.timing == .init(num_units_in_tick: 1001, time_scale: 60000))
        #expect(sequence.vui?.aspect_ratio_idc == 255 && sequence.vui?.sar_width == 7 && sequence.vui?.sar_height == 5)
        #expect(headers.pps.num_ref_idx_default_active[0] == 3)
        // The first P picture has one reference, not three.
        let (plan, numbers) = plans(2)[1]
        let header = SliceHeader(plan, numbers, firstMacroblock: 41, qp: 20)
        let surfaces = try Surface.make(ReferenceDisplay.open(), count: 2, size: settings.grid.coded)
        let slice = H264SliceParameters(header, numbers, pps: headers.pps, macroblocks: 82, reconstructions: surfaces)
        #expect(slice.RefPicList0.map(\.picture_id) == [surfaces[0].identifier])
        #expect(slice.num_ref_idx_active_override_flag && slice.num_ref_idx_l0_active_minus1 == 0)
        #expect(slice.macroblock_address == 41 && slice.num_macroblocks == 82 && slice.slice_qp_delta == -4)
        #expect(slice.pic_order_cnt_lsb == 2 && slice.slice_type == .p)
    }

    /// The real-time hint is sent as VAEncMiscParameterBufferQualityLevel with the key frame, and the driver follows
    /// it.
    @Test(arguments: [nil, "iHD-9A49", "radeonsi25-navi31"]) func realTimeHintSendsTheFastestQualityLevel(personality: String?) throws {
        let (key, predicted) = (plans(2)[0].0, plans(2)[1].0)
        let profile = try DeviceCapabilities(
            ReferenceDisplay.open(personality.map { ["VAENC_REFERENCE_PERSONALITY": $0] } ?? [:]), .h264)
        func sent(_ plan: FramePlan, _ change: (inout EncoderConfiguration) -> Void) throws -> [MiscParameters] {
            let settings = try SettingsResolver.resolve(SettingsResolverTests.configuration(320, 240, change), on: profile)
            return MiscParameters.list(plan, options: FrameOptions(), settings: settings).filter {
                if case .qualityLevel = $0 { true } else { false }
            }
        }
        let fastest = try sent(key) { $0.coding.preset = 7 }
        #expect(fastest.count == 1)
        #expect(try sent(key) { $0.pipeline.realTime = true } == fastest)
        #expect(
            try sent(key) {
                $0.pipeline.realTime = true; $0.coding.preset = 1
            } == sent(key) { $0.coding.preset = 1 })
        #expect(try sent(key) { $0.coding.preset = 1 } != fastest)
        #expect(try sent(key) { $0.pipeline.realTime = false } == [] && sent(key) { _ in } == [])
        #expect(try sent(predicted) { $0.pipeline.realTime = true } == [])
        func stream(_ change: (inout EncoderConfiguration) -> Void) throws -> [UInt8] {
            try ClipSession.run(frames: 6, personality: personality, change).packets.stream
        }
        let plain = try stream { _ in }
        let hinted = try stream { $0.pipeline.realTime = true }
        #expect(try hinted == stream { $0.coding.preset = 7 } && hinted != plain)
    }
}
