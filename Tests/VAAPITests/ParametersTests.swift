import CVA
import Testing
import VideoBase

@testable import VAAPI

/// Compares the bytes that drivers get with C structs and with words packed by hand.
@Suite struct ParametersTests {
    private func buffers(_ parameters: some ParameterBuffer) -> [(type: BufferType, bytes: [UInt8])] {
        var result: [(type: BufferType, bytes: [UInt8])] = []
        unsafe parameters.withBuffers { type, bytes in unsafe result.append((type, [UInt8](bytes))) }
        return result
    }

    private func word(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32($1 * 8) }
    }

    @Test func sequenceFieldsHaveTheirOffsets() throws {
        var sequence = H264SequenceParameters(
            level_idc: 41, intra_period: 250, intra_idr_period: 500, ip_period: 3, max_num_ref_frames: 4,
            picture_width_in_mbs: 120, picture_height_in_mbs: 68, log2_max_frame_num_minus4: 5, pic_order_cnt_type: 2,
            log2_max_pic_order_cnt_lsb_minus4: 9)
        sequence.crop = .init(bottom: 4)
        var vui = H264SequenceParameters.VUI()
        vui.timing = .init(num_units_in_tick: 1001, time_scale: 60000)
        vui.fixed_frame_rate_flag = true
        vui.restriction = .init()
        sequence.vui = vui
        let actual = try #require(buffers(sequence).first)
        #expect(actual.type == .sequence)
        // The C struct has 1132 bytes; level_idc is the second byte, intra_period the first aligned word.
        #expect(actual.bytes.count == 1132)
        #expect(actual.bytes[1] == 41)
        #expect(word(actual.bytes, at: 4) == 250)
        #expect(word(actual.bytes, at: 8) == 500)
        #expect(word(actual.bytes, at: 12) == 3)
        #expect(word(actual.bytes, at: 24) == 120 | 68 << 16)
        // chroma_format_idc is 1, frame_mbs_only bit 2, direct_8x8 bit 5, frame_num 5 << 6, type 2 << 10, lsb 9 << 12.
        #expect(word(actual.bytes, at: 28) == 1 | 1 << 2 | 1 << 5 | 5 << 6 | 2 << 10 | 9 << 12)
        let c = sequence.lowered
        #expect(c.frame_cropping_flag == 1 && c.frame_crop_bottom_offset == 4 && c.frame_crop_right_offset == 0)
        #expect(c.vui_parameters_present_flag == 1)
        // Timing is bit 1, restriction bit 2, 15 << 3 and 15 << 8, fixed rate bit 13, vectors over boundaries bit 15.
        #expect(unsafe c.vui_fields.value == 1 << 1 | 1 << 2 | 15 << 3 | 15 << 8 | 1 << 13 | 1 << 15)
        #expect(c.num_units_in_tick == 1001 && c.time_scale == 60000)
        sequence.crop = nil
        sequence.vui = nil
        #expect(sequence.lowered.frame_cropping_flag == 0 && sequence.lowered.vui_parameters_present_flag == 0)
    }

    @Test func packedHeadersAreTwoBuffers() {
        let header = PackedHeader(.slice, [0, 0, 1, 0x65, 0x88], bit_length: 37, has_emulation_bytes: true)
        let actual = buffers(header)
        #expect(actual.map(\.type) == [.packedHeaderParameters, .packedHeaderData])
        #expect(word(actual[0].bytes, at: 0) == 3)
        #expect(word(actual[0].bytes, at: 4) == 37)
        #expect(actual[0].bytes[8] == 1)
        #expect(actual[1].bytes == [0, 0, 1, 0x65, 0x88])
        #expect(word(buffers(PackedHeader(.sequence, [1, 2], has_emulation_bytes: false))[0].bytes, at: 4) == 16)
        // A length beyond the data would make the driver read beyond it.
        let short = PackedHeader(.sequence, [1], bit_length: 99, has_emulation_bytes: false)
        #expect(word(buffers(short)[0].bytes, at: 4) == 8)
    }

    @Test func miscBuffersBeginWithTheirType() {
        var control = MiscParameters.RateControl()
        control.bits_per_second = 6_000_000
        control.target_percentage = 66
        control.min_qp = 10
        control.max_qp = 40
        control.ICQ_quality_factor = 24
        control.mb_rate_control = 2
        control.temporal_id = 3
        let rate = buffers(MiscParameters.rateControl(control))[0]
        #expect(rate.type == .misc)
        #expect(rate.bytes.count == 4 + MemoryLayout<VAEncMiscParameterRateControl>.size)
        #expect(word(rate.bytes, at: 0) == 1)
        #expect(word(rate.bytes, at: 4) == 6_000_000)
        #expect(word(rate.bytes, at: 8) == 66)
        #expect(word(rate.bytes, at: 20) == 10)
        // disable_frame_skip is bit 1, disable_bit_stuffing bit 2; mb_rate_control begins at bit 3, temporal_id at bit
        // 7.
        #expect(word(rate.bytes, at: 28) == 1 << 1 | 1 << 2 | 2 << 3 | 3 << 7)
        #expect(word(rate.bytes, at: 32) == 24)
        #expect(word(rate.bytes, at: 36) == 40)

        let quality = buffers(MiscParameters.qualityLevel(5))[0].bytes
        #expect(word(quality, at: 0) == 6 && word(quality, at: 4) == 5)
        let hrd = buffers(MiscParameters.hrd(bufferSize: 1000, initialFullness: 750))[0].bytes
        #expect(word(hrd, at: 0) == 5 && word(hrd, at: 4) == 750 && word(hrd, at: 8) == 1000)
        let size = buffers(MiscParameters.maxFrameSize(8000))[0].bytes
        #expect(word(size, at: 0) == 4 && word(size, at: 8) == 8000)
        let slice = buffers(MiscParameters.maxSliceSize(900))[0].bytes
        #expect(word(slice, at: 0) == 2 && word(slice, at: 4) == 900)
        let trellis = buffers(MiscParameters.trellis(i: true, p: false, b: true))[0].bytes
        #expect(word(trellis, at: 0) == 8 && word(trellis, at: 4) == 0b1010)
        let rows = MiscParameters.IntraRefresh(direction: .rows, intra_insertion_location: 7, intra_insert_size: 2)
        let refresh = buffers(MiscParameters.intraRefresh(rows))[0].bytes
        #expect(word(refresh, at: 0) == 7 && word(refresh, at: 4) == 2 && word(refresh, at: 8) == 7 | 2 << 16)
    }

    @Test func layersRegionsAndSkippedFramesHaveTheirOffsets() throws {
        var control = MiscParameters.RateControl()
        control.disable_frame_skip = false
        control.disable_bit_stuffing = false
        control.cfs_I_frames = true
        control.frame_tolerance_mode = .lowDelay
        control.quality_factor = 27
        control.target_frame_size = 4000
        let rate = buffers(MiscParameters.rateControl(control))[0].bytes
        // cfs_I_frames is bit 15, enable_parallel_brc 16, enable_dynamic_scaling 17; frame_tolerance_mode begins at bit
        // 18.
        #expect(word(rate, at: 28) == 1 << 15 | 2 << 18)
        #expect(word(rate, at: 40) == 27 && word(rate, at: 44) == 4000)

        let layers = buffers(MiscParameters.temporalLayers(count: 3, layerOfEachFrame: [2, 1, 2, 0]))[0].bytes
        #expect([0, 4, 8, 12, 16, 20, 24, 28].map { word(layers, at: $0) } == [12, 3, 4, 2, 1, 2, 0, 0])
        #expect(layers.count == 4 + MemoryLayout<VAEncMiscParameterTemporalLayerStructure>.size)

        let regions = RegionsOfInterest(
            [
                .init(x: 16, y: 32, width: 48, height: 64, value: -6),
                .init(x: 0, y: 0, width: 16, height: 16, value: 4),
            ], qpDeltaRange: -10...5)
        let region = MiscParameters.regionsOfInterest(regions)
        #expect(region.retained === regions.list)
        let actual = buffers(region)[0].bytes
        #expect(word(actual, at: 0) == 10 && word(actual, at: 4) == 2)
        #expect(actual[8] == 5 && actual[9] == UInt8(bitPattern: -10))
        #expect(word(actual, at: 20) == 1)
        let c = unsafe regions.lowered
        let first = unsafe try #require(c.roi)[0]
        let second = unsafe try #require(c.roi)[1]
        #expect(first.roi_rectangle.x == 16 && first.roi_rectangle.y == 32 && first.roi_rectangle.width == 48)
        #expect(first.roi_rectangle.height == 64 && first.roi_value == -6 && second.roi_value == 4)
    }

    @Test func frameRatesFitSixteenBits() {
        func word(_ n: Int, _ d: Int) -> UInt32 { MiscParameters.frameRateWord(Rational(n, d)) }
        #expect(word(25, 1) == 1 << 16 | 25)
        #expect(word(30000, 1001) == 1001 << 16 | 30000)
        #expect(word(50, 2) == 1 << 16 | 25)
        let large = word(120000 * 7 + 1, 1001 * 7)
        let value = Double(large & 0xffff) / Double(large >> 16)
        #expect(abs(value - Double(120000 * 7 + 1) / 7007) < 0.05)
    }

    @Test func pictureReferencesFillTheArrays() throws {
        let display = try TestDevice.open()
        let surfaces = try Surface.make(display, count: 2, size: VideoSize(width: 64, height: 64))
        let config = try Config(display, profile: .h264High, entryPoint: TestDevice.entryPoint(display))
        let context = try Context(config, size: VideoSize(width: 64, height: 64), targets: surfaces)
        let output = try CodedBuffer(context, capacity: 65536)
        let reference = H264Picture(
            surfaces[0], frame_idx: 3, reference: .shortTerm, TopFieldOrderCnt: 6, BottomFieldOrderCnt: 6)
        var long = reference
        long.reference = .longTerm
        var picture = H264PictureParameters(
            CurrPic: reference, ReferenceFrames: [reference, long], coded_buf: output, frame_num: 4,
            idr_pic_flag: false,
            reference_pic_flag: 2, entropy_coding_mode_flag: true)
        picture.transform_8x8_mode_flag = true
        let c = picture.lowered
        #expect(c.coded_buf == output.identifier && c.CurrPic.picture_id == surfaces[0].identifier)
        #expect(c.ReferenceFrames.0.flags == 8 && c.ReferenceFrames.1.flags == 16)
        #expect(c.ReferenceFrames.2.flags == 1 && c.ReferenceFrames.2.picture_id == 0xffff_ffff)
        #expect(c.ReferenceFrames.15.flags == 1 && c.ReferenceFrames.15.picture_id == 0xffff_ffff)
        // reference_pic_flag begins at bit 1; entropy is bit 3, transform_8x8 bit 8, deblocking control bit 9.
        #expect(unsafe c.pic_fields.value == 2 << 1 | 1 << 3 | 1 << 8 | 1 << 9)
        #expect(buffers(picture)[0].bytes.count == MemoryLayout<VAEncPictureParameterBufferH264>.size)

        var slice = H264SliceParameters(macroblock_address: 4, num_macroblocks: 8, slice_type: .p)
        slice.RefPicList0 = [reference]
        slice.slice_qp_delta = -3
        let s = slice.lowered
        #expect(s.macroblock_info == 0xffff_ffff && s.slice_type == 0 && s.slice_qp_delta == -3)
        #expect(s.RefPicList0.0.frame_idx == 3 && s.RefPicList0.1.flags == 1 && s.RefPicList0.31.flags == 1)
        #expect(s.RefPicList1.0.flags == 1 && s.RefPicList1.31.picture_id == 0xffff_ffff)
        #expect(buffers(slice)[0].bytes.count == MemoryLayout<VAEncSliceParameterBufferH264>.size)
    }
}
