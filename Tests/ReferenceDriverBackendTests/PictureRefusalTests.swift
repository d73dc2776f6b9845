import CVA
import Testing

/// Wrong pictures are refused with their status, and the next correct one is encoded as if there had been no refusal.
@Suite struct PictureRefusalTests {
    typealias Change = (inout StreamClient.Buffers, StreamClient) -> Void

    private func expect(
        _ status: Int32, onPicture index: Int = 1, slices: Int = 1, sourceLocation: SourceLocation = #_sourceLocation,
        _ change: Change
    ) {
        let stream = StreamClient()
        for _ in 0..<index { #expect(stream.encode() != nil) }
        stream.paint()
        var buffers = stream.buffers(slices: slices)
        change(&buffers, stream)
        #expect(stream.send(buffers) == status, sourceLocation: sourceLocation)
        #expect(stream.encode()?.isEmpty == false, "the next picture is fine", sourceLocation: sourceLocation)
    }

    private let invalid = VA_STATUS_ERROR_INVALID_PARAMETER

    @Test func missingBuffersAreRefused() {
        expect(invalid, onPicture: 0) { buffers, _ in buffers.sequence = nil }
        expect(invalid) { buffers, _ in buffers.picture = nil }
        expect(invalid) { buffers, _ in buffers.slices = [] }
        expect(VA_STATUS_SUCCESS) { _, _ in }
    }

    @Test func wrongSequencesAreRefused() {
        func sequence(_ change: (inout VAEncSequenceParameterBufferH264) -> Void) {
            expect(invalid, onPicture: 0) { buffers, _ in change(&buffers.sequence!) }
        }
        sequence { $0.picture_width_in_mbs += 1 }
        sequence { $0.picture_height_in_mbs = 0 }
        sequence { $0.seq_fields.bits.chroma_format_idc = 2 }
        sequence { $0.seq_fields.bits.frame_mbs_only_flag = 0 }
        sequence { $0.seq_fields.bits.seq_scaling_matrix_present_flag = 1 }
        sequence { $0.seq_fields.bits.log2_max_frame_num_minus4 = 13 }
        sequence { $0.seq_fields.bits.pic_order_cnt_type = 3 }
        sequence { $0.bit_depth_luma_minus8 = 2 }
        sequence { $0.max_num_ref_frames = 17 }
        sequence { $0.seq_parameter_set_id = 32 }
        sequence { ($0.frame_cropping_flag, $0.frame_crop_left_offset) = (1, 32) }
        sequence { ($0.frame_cropping_flag, $0.frame_crop_top_offset) = (1, .max) }
    }

    @Test func wrongPicturesAreRefused() {
        func picture(
            _ status: Int32? = nil, at index: Int = 1, _ change: (inout VAEncPictureParameterBufferH264) -> Void
        ) {
            expect(status ?? invalid, onPicture: index) { buffers, _ in change(&buffers.picture!) }
        }
        picture { $0.pic_init_qp = 52 }
        picture { $0.chroma_qp_index_offset = 13 }
        picture { $0.second_chroma_qp_index_offset = -13 }
        picture { $0.frame_num = 256 }
        picture(at: 0) { $0.frame_num = 1 }
        picture { $0.seq_parameter_set_id = 1 }
        picture { $0.pic_parameter_set_id = 1 }
        picture { $0.pic_fields.bits.weighted_pred_flag = 1 }
        picture { $0.pic_fields.bits.pic_scaling_matrix_present_flag = 1 }
        picture { $0.CurrPic.flags |= UInt32(VA_PICTURE_H264_TOP_FIELD) }
        picture { $0.num_ref_idx_l0_active_minus1 = 40 }
        picture(VA_STATUS_ERROR_INVALID_BUFFER) { $0.coded_buf = VA_INVALID_ID }
        picture(VA_STATUS_ERROR_INVALID_SURFACE) { $0.CurrPic.picture_id = VA_INVALID_ID }
        picture(VA_STATUS_ERROR_INVALID_SURFACE) { $0.CurrPic.picture_id = $0.coded_buf }
        picture { $0.CurrPic.flags = UInt32(VA_PICTURE_H264_INVALID) }
        expect(invalid) { buffers, stream in buffers.picture!.CurrPic.picture_id = stream.sources[1] }
        expect(VA_STATUS_ERROR_INVALID_BUFFER) { buffers, stream in
            buffers.picture!.coded_buf =
                stream.client.createBuffer(
                    stream.context, VAEncMiscParameterBufferType, size: 64
                ).1
        }
        expect(VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED) { buffers, stream in
            buffers.picture!.CurrPic.picture_id = stream.client.createSurfaces(32, 32).1[0]
        }
    }

    @Test func toolsBeyondTheProfileAreRefused() {
        for (profile, cabac, transform) in [
            (VAProfileH264ConstrainedBaseline, 1, 0), (VAProfileH264ConstrainedBaseline, 0, 1),
            (VAProfileH264Main, 0, 1),
        ] {
            let stream = StreamClient(profile: profile)
            var buffers = stream.buffers()
            buffers.picture!.pic_fields.bits.entropy_coding_mode_flag = UInt32(cabac)
            buffers.picture!.pic_fields.bits.transform_8x8_mode_flag = UInt32(transform)
            #expect(stream.send(buffers) == invalid)
        }
    }

    @Test func wrongSlicesAreRefused() {
        func slice(_ count: Int = 1, _ change: (inout [VAEncSliceParameterBufferH264]) -> Void) {
            expect(invalid, slices: count) { buffers, _ in change(&buffers.slices) }
        }
        slice { $0[0].num_macroblocks -= 1 }
        slice { $0[0].num_macroblocks += 1 }
        slice { $0[0].num_macroblocks = 0 }
        slice { $0[0].num_macroblocks = .max }
        slice { $0[0].macroblock_address = 1 }
        slice { $0[0].macroblock_address = .max }
        slice(3) { $0[1].macroblock_address += 1 }
        slice(3) { $0[1].num_macroblocks += 4 }
        slice(3) { $0.swapAt(0, 1) }
        slice(3) { $0.removeLast() }
        slice(3) { $0.append($0[2]) }
        slice { $0[0].slice_type = 1 }
        slice { $0[0].slice_type = 3 }
        slice { $0[0].slice_type = 8 }
        slice { $0[0].slice_qp_delta = 26 }
        slice { $0[0].slice_qp_delta = -27 }
        slice { $0[0].cabac_init_idc = 3 }
        slice { $0[0].disable_deblocking_filter_idc = 3 }
        slice { $0[0].slice_alpha_c0_offset_div2 = 7 }
        slice { $0[0].slice_beta_offset_div2 = -7 }
        slice { $0[0].pic_parameter_set_id = 1 }
        slice { $0[0].macroblock_info = 0x1234 }
        slice { ($0[0].num_ref_idx_active_override_flag, $0[0].num_ref_idx_l0_active_minus1) = (1, 1) }
        slice { ($0[0].num_ref_idx_active_override_flag, $0[0].num_ref_idx_l0_active_minus1) = (1, 31) }
        expect(invalid, onPicture: 0) { buffers, _ in buffers.slices[0].slice_type = 0 }
        let stream = StreamClient(width: 4096, height: 16)
        var buffers = stream.buffers()
        let template = buffers.slices[0]
        buffers.slices = (0..<256).map {
            var slice = template
            (slice.macroblock_address, slice.num_macroblocks) = (UInt32($0), 1)
            return slice
        }
        #expect(stream.encode(buffers) != nil, "256 slices")
        var many = stream.buffers()
        many.slices = [VAEncSliceParameterBufferH264](repeating: template, count: 257)
        #expect(stream.send(many) == VA_STATUS_ERROR_MAX_NUM_EXCEEDED)
    }

    @Test func wrongReferencesAreRefused() {
        func reference(_ status: Int32, _ change: Change) { expect(status, change) }
        reference(invalid) { buffers, _ in buffers.slices[0].RefPicList0.0.picture_id = VA_INVALID_ID }
        reference(invalid) { buffers, _ in buffers.slices[0].RefPicList0.0.flags = UInt32(VA_PICTURE_H264_INVALID) }
        reference(VA_STATUS_ERROR_INVALID_SURFACE) { buffers, _ in buffers.slices[0].RefPicList0.0.picture_id = 99 }
        reference(invalid) { buffers, _ in buffers.picture!.ReferenceFrames.0.picture_id = VA_INVALID_ID }
        reference(invalid) { buffers, stream in
            // This surface was never reconstructed.
            let other = stream.client.createSurfaces(64, 48).1[0]
            buffers.slices[0].RefPicList0.0.picture_id = other
            buffers.picture!.ReferenceFrames.0.picture_id = other
        }
        reference(invalid) { buffers, stream in
            // The picture refers to itself.
            buffers.slices[0].RefPicList0.0.picture_id = stream.reconstructions[1]
            buffers.picture!.ReferenceFrames.0.picture_id = stream.reconstructions[1]
        }
        reference(invalid) { buffers, stream in
            // The surface of a larger stream has another size.
            let other = StreamClient(stream.client, width: 96, height: 48)
            #expect(other.encode() != nil)
            buffers.slices[0].RefPicList0.0.picture_id = other.reconstructions[0]
            buffers.picture!.ReferenceFrames.0.picture_id = other.reconstructions[0]
        }
    }

    @Test func overwrittenReferencesAreRefused() {
        let stream = StreamClient()
        #expect(stream.encode() != nil)
        let (_, image) = stream.client.createImage(VA_FOURCC_NV12, 64, 48)
        #expect(
            stream.client.table.vaPutImage(
                stream.client.context, stream.reconstructions[0], image.image_id, 0, 0, 64, 48, 0, 0, 64, 48)
                == VA_STATUS_SUCCESS)
        #expect(stream.send(stream.buffers()) == invalid)
    }

    @Test func wrongMiscParametersAreRefused() {
        func misc(_ type: VAEncMiscParameterType, _ words: [UInt32]) -> [UInt8] {
            var bytes: [UInt8] = []
            for word in [type.rawValue] + words { withUnsafeBytes(of: word) { bytes += $0 } }
            return bytes + [UInt8](repeating: 0, count: 256)
        }
        func send(_ bytes: [UInt8], _ status: Int32) {
            let stream = StreamClient()
            var buffers = stream.buffers()
            buffers.misc = [bytes]
            #expect(stream.send(buffers) == status)
            #expect(stream.encode() != nil)
        }
        send(misc(VAEncMiscParameterTypeQualityLevel, [7]), VA_STATUS_SUCCESS)
        send(misc(VAEncMiscParameterTypeQualityLevel, [8]), invalid)
        send(misc(VAEncMiscParameterTypeFrameRate, [30]), VA_STATUS_SUCCESS)
        send(misc(VAEncMiscParameterTypeFrameRate, [1001 << 16]), invalid)
        send(misc(VAEncMiscParameterTypeRateControl, [1_000_000, 100, 1000, 26, 10, 0]), VA_STATUS_SUCCESS)
        send(misc(VAEncMiscParameterTypeRateControl, [1_000_000, 100, 1000, 52]), invalid)
        send(misc(VAEncMiscParameterTypeHRD, [500, 1000]), VA_STATUS_SUCCESS)
        send(misc(VAEncMiscParameterTypeHRD, [1001, 1000]), invalid)
        send(misc(VAEncMiscParameterTypeROI, [0]), VA_STATUS_SUCCESS)
        send(misc(VAEncMiscParameterTypeROI, [1]), invalid)
        send(misc(VAEncMiscParameterTypeROI, [33]), VA_STATUS_ERROR_MAX_NUM_EXCEEDED)
        send(misc(VAEncMiscParameterTypeRateControl, [1_000_000, 0, 0, 0, 0, 0, 4 << 7]), invalid)
        send(misc(VAEncMiscParameterTypeTemporalLayerStructure, [2, 2, 1, 0]), VA_STATUS_SUCCESS)
        send(misc(VAEncMiscParameterTypeTemporalLayerStructure, [5, 2, 1, 0]), invalid)
        send(misc(VAEncMiscParameterTypeTemporalLayerStructure, [2, 33]), invalid)
        send(misc(VAEncMiscParameterTypeTemporalLayerStructure, [2, 2, 1, 2]), invalid)
        send(misc(VAEncMiscParameterTypeRIR, [1, 1 | 1 << 16]), VA_STATUS_SUCCESS)
        send(misc(VAEncMiscParameterTypeSkipFrame, [3]), invalid)
        send(misc(VAEncMiscParameterTypeDirtyRect, [0]), VA_STATUS_ERROR_UNIMPLEMENTED)
        send(Array(misc(VAEncMiscParameterTypeRateControl, [1]).prefix(12)), invalid)
    }

    @Test func callsOutOfOrderAreRefused() {
        let stream = StreamClient()
        let (client, table) = (stream.client, stream.client.table)
        #expect(table.vaBeginPicture(client.context, stream.context, stream.sources[0]) == VA_STATUS_SUCCESS)
        #expect(
            table.vaBeginPicture(client.context, stream.context, stream.sources[1]) == VA_STATUS_ERROR_OPERATION_FAILED)
        #expect(client.destroySurfaces([stream.sources[0]]) == VA_STATUS_ERROR_SURFACE_BUSY)
        #expect(client.render(stream.context, [0x0800_ffff]) == VA_STATUS_ERROR_INVALID_BUFFER)
        #expect(client.render(stream.context, [stream.coded]) == VA_STATUS_ERROR_UNSUPPORTED_BUFFERTYPE)
        #expect(table.vaRenderPicture(client.context, stream.context, nil, 1) == invalid)
        #expect(table.vaRenderPicture(client.context, stream.context, nil, -1) == invalid)
        #expect(table.vaEndPicture(client.context, stream.context) == invalid)
        // A mapped source may still be written.
        let image = client.derive(stream.sources[0]).1
        _ = client.map(image.buf)
        #expect(table.vaBeginPicture(client.context, stream.context, stream.sources[0]) == VA_STATUS_ERROR_SURFACE_BUSY)
        #expect(table.vaDestroyImage(client.context, image.image_id) == VA_STATUS_SUCCESS)
        // A mapped coded buffer may still be read.
        _ = client.map(stream.coded)
        #expect(stream.send(stream.buffers()) == VA_STATUS_ERROR_INVALID_BUFFER)
        #expect(client.unmap(stream.coded) == VA_STATUS_SUCCESS)
        #expect(stream.encode() != nil)
    }
}
