import ReferenceDriver
import TestOracles
import Testing

/// Tests the driver's readers of H.264 headers.
@Suite struct HeaderReadingTests {
    private func payload(_ unit: [UInt8]) -> [UInt8] { EmulationPrevention.unescape(unit.dropFirst(5)) }

    @Test func foreignParameterSetsAreRead() throws {
        let frames = try Fixture.carphone.frames(3).map { $0.cropped(x: 0, y: 0, width: 90, height: 70) }
        let stream = try ForeignEncoder.x264(frames, options: "qp=30:bframes=0:ref=3:weightp=0:cabac=1:8x8dct=1")
        let packed = PackedHeader(data: stream, bitLength: 8 * stream.count, hasEmulationBytes: true)
        let sequence = SequenceParameterSet(rbsp: try #require(packed.payloads(ofType: 7).first))
        let picture = PictureParameterSet(rbsp: try #require(packed.payloads(ofType: 8).first))
        #expect(sequence?.profile_idc == 100)
        #expect(sequence?.widthInMacroblocks == 6 && sequence?.heightInMapUnits == 5)
        #expect(sequence?.cropping == .init(right: 3, bottom: 5))
        #expect(sequence?.max_num_ref_frames == 3)
        #expect(picture?.entropy_coding_mode_flag == true && picture?.highFields?.transform_8x8_mode_flag == true)
        let unit = try #require(packed.payloads(ofType: 5).first)
        let header = SliceHeader(
            SliceHeaderBits(prefix: [0, 0, 1, 0x65], payload: unit, bitCount: 8 * unit.count),
            sequence: try #require(sequence), picture: try #require(picture))
        #expect(header?.type == .i && header?.isIDR == true)
        #expect((picture?.initialQP ?? 0) + (header?.slice_qp_delta ?? 0) == 27, "I pictures are 3 below P's 30")
    }

    @Test func writtenHeadersAreReadBack() {
        var generator = SplitMix64(state: 4)
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        for _ in 0..<500 {
            var sequence = SequenceParameterSet()
            sequence.profile_idc = [66, 77, 100].randomElement(using: &generator)!
            sequence.seq_parameter_set_id = pick(0...31)
            sequence.log2MaxFrameNum = pick(4...16)
            sequence.pic_order_cnt_type = pick(0...2)
            if sequence.pic_order_cnt_type == 0 { sequence.log2MaxPictureOrderCountLsb = pick(4...16) }
            if sequence.pic_order_cnt_type == 1 {
                sequence.delta_pic_order_always_zero_flag = Bool.random(using: &generator)
                sequence.offset_for_ref_frame = (0..<pick(0...4)).map { _ in pick(-9...9) }
            }
            sequence.widthInMacroblocks = pick(1...500)
            sequence.heightInMapUnits = pick(1...500)
            if pick(0...1) == 1 { sequence.cropping = .init(left: pick(0...9), bottom: pick(0...9)) }
            #expect(SequenceParameterSet(rbsp: payload(sequence.nalUnit())) == sequence)
            var picture = PictureParameterSet()
            picture.pic_parameter_set_id = pick(0...255)
            picture.seq_parameter_set_id = pick(0...31)
            picture.entropy_coding_mode_flag = Bool.random(using: &generator)
            picture.bottom_field_pic_order_in_frame_present_flag = Bool.random(using: &generator)
            picture.defaultReferenceCounts = [pick(1...4), pick(1...4)]
            picture.weighted_pred_flag = Bool.random(using: &generator)
            picture.weighted_bipred_idc = pick(0...2)
            picture.initialQP = pick(0...51)
            picture.chroma_qp_index_offset = pick(-12...12)
            picture.deblocking_filter_control_present_flag = Bool.random(using: &generator)
            picture.redundant_pic_cnt_present_flag = Bool.random(using: &generator)
            if sequence.profile_idc == 100 {
                picture.highFields = .init(transform8x8: pick(0...1) == 1, secondChromaQPIndexOffset: pick(-12...12))
            }
            #expect(PictureParameterSet(rbsp: payload(picture.nalUnit())) == picture)
            let header = slice(sequence, picture, &generator)
            let bits = header.bits(sequence: sequence, picture: picture)
            #expect(SliceHeader(bits, sequence: sequence, picture: picture) == header)
            #expect(header.contradictions(with: header, picture: picture) == [])
            // A header that is cut anywhere is not read.
            var cut = bits
            cut.bitCount = pick(0...(bits.bitCount - 1))
            #expect(SliceHeader(cut, sequence: sequence, picture: picture) == nil)
        }
    }

    /// Returns a random header with only those fields that its parameter sets allow.
    private func slice(
        _ sequence: SequenceParameterSet, _ picture: PictureParameterSet, _ generator: inout SplitMix64
    ) -> SliceHeader {
        var random = generator
        func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        var header = SliceHeader()
        header.slice_type = [0, 1, 2, 5, 6, 7][pick(0...5)]
        header.isIDR = header.type == .i && pick(0...1) == 1
        header.nal_ref_idc = header.isIDR ? 3 : pick(0...3)
        header.first_mb_in_slice = pick(0...1000)
        header.pic_parameter_set_id = picture.pic_parameter_set_id
        header.frame_num = header.isIDR ? 0 : pick(0...15)
        if header.isIDR { header.idr_pic_id = pick(0...65535) }
        if sequence.pic_order_cnt_type == 0 {
            header.pic_order_cnt_lsb = pick(0...15)
            if picture.bottom_field_pic_order_in_frame_present_flag { header.delta_pic_order_cnt_bottom = pick(-5...5) }
        } else if sequence.pic_order_cnt_type == 1 && !sequence.delta_pic_order_always_zero_flag {
            header.delta_pic_order_cnt[0] = pick(-5...5)
        }
        if header.type == .b { header.direct_spatial_mv_pred_flag = pick(0...1) == 1 }
        for list in 0..<header.listCount {
            header.num_ref_idx_active_override_flag = list == 0 ? pick(0...1) == 1 : header.num_ref_idx_active_override_flag
            header.referenceCounts[list] =
                header.num_ref_idx_active_override_flag ? pick(1...32) : picture.defaultReferenceCounts[list]
            header.modifications[list] = (0..<pick(0...3)).map { _ in .init(idc: pick(0...2), value: pick(0...15)) }
        }
        if header.hasWeights(picture) {
            var weights = SliceHeader.Weights()
            weights.luma_log2_weight_denom = pick(0...7)
            for list in 0..<header.listCount {
                for _ in 0..<header.referenceCounts[list] {
                    var entry = SliceHeader.Weights.Entry()
                    if pick(0...1) == 1 { entry.luma = [pick(-128...127), pick(-128...127)] }
                    if pick(0...1) == 1 { entry.chroma = [1, 2, 3, 4].map { $0 * pick(-20...20) } }
                    weights.lists[list].append(entry)
                }
            }
            header.weights = weights
        }
        if header.nal_ref_idc != 0 {
            if header.isIDR {
                header.long_term_reference_flag = pick(0...1) == 1
            } else if pick(0...2) == 0 {
                header.memoryManagement = [
                    .init(operation: 1, operands: [pick(0...9)]), .init(operation: 3, operands: [2, pick(0...3)]),
                    .init(operation: 5, operands: []),
                ]
            }
        }
        if picture.entropy_coding_mode_flag && header.type != .i { header.cabac_init_idc = pick(0...2) }
        header.slice_qp_delta = pick(-20...20)
        if picture.deblocking_filter_control_present_flag {
            header.disable_deblocking_filter_idc = pick(0...2)
            if header.disable_deblocking_filter_idc != 1 { header.slice_beta_offset_div2 = pick(-6...6) }
        }
        generator = random
        return header
    }

    @Test func contradictionsNameTheirField() {
        var picture = PictureParameterSet()
        picture.entropy_coding_mode_flag = true
        picture.deblocking_filter_control_present_flag = true
        var requested = SliceHeader()
        requested.slice_type = 0
        requested.referenceCounts = [2, 0]
        let changes: [(String, (inout SliceHeader) -> Void)] = [
            ("first_mb_in_slice", { $0.first_mb_in_slice = 4 }), ("slice_type", { $0.slice_type = 2 }),
            ("num_ref_idx_l0_active", { $0.referenceCounts[0] = 1 }), ("cabac_init_idc", { $0.cabac_init_idc = 2 }),
            ("slice_qp_delta", { $0.slice_qp_delta = -1 }),
            ("disable_deblocking_filter_idc", { $0.disable_deblocking_filter_idc = 1 }),
            ("slice_alpha_c0_offset_div2", { $0.slice_alpha_c0_offset_div2 = 1 }),
            ("slice_beta_offset_div2", { $0.slice_beta_offset_div2 = -1 }),
        ]
        for (name, change) in changes {
            var packed = requested
            change(&packed)
            let found = packed.contradictions(with: requested, picture: picture)
            #expect(found.count == 1 && found[0].hasPrefix(name + " is "), "\(found)")
        }
        // Unlike slice_type 0, slice_type 5 also says that the other slices are P; both mean P.
        var packed = requested
        packed.slice_type = 5
        #expect(packed.contradictions(with: requested, picture: picture) == [])
        picture.entropy_coding_mode_flag = false
        picture.deblocking_filter_control_present_flag = false
        packed.cabac_init_idc = 1
        packed.disable_deblocking_filter_idc = 1
        #expect(packed.contradictions(with: requested, picture: picture) == [])
    }
}
