internal import CVA

/// The H.264 parameter sets in a stream so far, by id, and whether the client or the driver wrote them.
struct H264ParameterSets {
    private var sequences: [Int: H264SequenceParameterSet] = [:]
    private var pictures: [Int: H264PictureParameterSet] = [:]
    /// The ids of the sets that the client packed. The driver does not write sets with these ids.
    private var packedSequences: Set<Int> = []
    private var packedPictures: Set<Int> = []

    /// Stores the parameter sets of a client's packed header.
    mutating func note(_ header: PackedHeader) throws {
        for payload in header.payloads(ofType: 7) {
            guard let sequence = H264SequenceParameterSet(rbsp: payload) else {
                throw Refusal.invalidParameter("the packed sequence parameter set cannot be read")
            }
            sequences[sequence.seq_parameter_set_id] = sequence
            packedSequences.insert(sequence.seq_parameter_set_id)
        }
        for payload in header.payloads(ofType: 8) {
            guard let picture = H264PictureParameterSet(rbsp: payload) else {
                throw Refusal.invalidParameter("the packed picture parameter set cannot be read")
            }
            pictures[picture.pic_parameter_set_id] = picture
            packedPictures.insert(picture.pic_parameter_set_id)
        }
    }

    /// Returns the sets that a picture uses, and the NAL units of the sets that the driver must write.
    ///
    /// The driver writes a set if the client packed none with its id, and if the picture is an IDR picture or the set
    /// has changed. A new sequence parameter set is followed by the picture parameter set.
    mutating func resolve(
        _ sequence: VAEncSequenceParameterBufferH264, _ picture: VAEncPictureParameterBufferH264,
        profile: H264Profile
    ) throws -> (sequence: H264SequenceParameterSet, picture: H264PictureParameterSet, written: [[UInt8]]) {
        let isIDR = unsafe picture.pic_fields.bits.idr_pic_flag != 0
        var written: [[UInt8]] = []
        let asked = (
            H264SequenceParameterSet(sequence, profile: profile), H264PictureParameterSet(picture, profile: profile)
        )
        if !packedSequences.contains(asked.0.seq_parameter_set_id),
            isIDR || sequences[asked.0.seq_parameter_set_id] != asked.0
        {
            sequences[asked.0.seq_parameter_set_id] = asked.0
            written.append(asked.0.nalUnit())
        }
        if !packedPictures.contains(asked.1.pic_parameter_set_id), !written.isEmpty || isIDR || pictures[asked.1.pic_parameter_set_id] != asked.1 {
            pictures[asked.1.pic_parameter_set_id] = asked.1
            written.append(asked.1.nalUnit())
        }
        guard let usedSequence = sequences[asked.0.seq_parameter_set_id], let usedPicture = pictures[asked.1.pic_parameter_set_id] else {
            throw Refusal.invalidParameter("the picture has no parameter sets")
        }
        try usedSequence.checkAgrees(with: asked.0)
        try usedPicture.checkAgrees(with: asked.1)
        try require(
            !usedPicture.transform_8x8_mode_flag || usedSequence.profile_idc >= 100,
            "8×8 transform under a sequence parameter set of profile_idc \(usedSequence.profile_idc)")
        try require(
            !usedPicture.entropy_coding_mode_flag || usedSequence.profile_idc != 66,
            "CABAC under a sequence parameter set of profile_idc 66")
        return (usedSequence, usedPicture, written)
    }
}

extension H264SequenceParameterSet {
    /// Throws if a decoder with the set `self` could not decode a stream that is encoded with the set `asked`.
    fileprivate func checkAgrees(with asked: H264SequenceParameterSet) throws {
        try require(
            pic_width_in_mbs == asked.pic_width_in_mbs && pic_height_in_map_units == asked.pic_height_in_map_units,
            "the packed sequence parameter set has another size than the sequence buffer")
        try require(
            frame_mbs_only_flag && chroma_format_idc == 1 && bit_depth_luma == 8 && bit_depth_chroma == 8
                && !seq_scaling_matrix_present_flag,
            "the packed sequence parameter set has fields, scaling lists or other than 8-bit 4:2:0")
    }

    /// Returns the part of the picture inside the cropping rectangle, in luma samples. Throws if it is empty.
    func visibleArea() throws -> CroppedArea {
        let limit = max(pic_width_in_mbs, pic_height_in_map_units) * 16
        try require(
            [frame_crop_left_offset, frame_crop_right_offset, frame_crop_top_offset, frame_crop_bottom_offset]
                .allSatisfy { (0...limit).contains($0) },
            "the cropping is outside the picture")
        let area = CroppedArea(
            left: 2 * frame_crop_left_offset, top: 2 * frame_crop_top_offset,
            width: 16 * pic_width_in_mbs - 2 * (frame_crop_left_offset + frame_crop_right_offset),
            height: 16 * pic_height_in_map_units - 2 * (frame_crop_top_offset + frame_crop_bottom_offset))
        try require(area.width > 0 && area.height > 0, "cropping leaves nothing of the picture")
        return area
    }
}

extension H264PictureParameterSet {
    fileprivate func checkAgrees(with asked: H264PictureParameterSet) throws {
        func same<Value: Equatable>(_ name: String, _ packed: Value, _ wanted: Value) throws {
            try require(
                packed == wanted, "\(name) is \(packed) in the packed picture parameter set, \(wanted) in the buffer")
        }
        try same("seq_parameter_set_id", seq_parameter_set_id, asked.seq_parameter_set_id)
        try same("entropy_coding_mode_flag", entropy_coding_mode_flag, asked.entropy_coding_mode_flag)
        try same("pic_init_qp", pic_init_qp, asked.pic_init_qp)
        try same("chroma_qp_index_offset", chroma_qp_index_offset, asked.chroma_qp_index_offset)
        try same("constrained_intra_pred_flag", constrained_intra_pred_flag, asked.constrained_intra_pred_flag)
        try same("weighted_pred_flag", weighted_pred_flag, asked.weighted_pred_flag)
        try same("transform_8x8_mode_flag", transform_8x8_mode_flag, asked.transform_8x8_mode_flag)
        if hasHighFields {
            try same(
                "second_chroma_qp_index_offset", second_chroma_qp_index_offset,
                asked.crQPIndexOffset)
        }
    }

    /// The offset of the QP of Cr: second_chroma_qp_index_offset, or its inferred value.
    var crQPIndexOffset: Int { hasHighFields ? second_chroma_qp_index_offset : chroma_qp_index_offset }
}

extension H264Profile {
    /// Creates the values of a profile. Throws UNSUPPORTED_PROFILE if the driver does not encode the profile.
    init(_ profile: VAProfile) throws {
        switch profile {
        case VAProfileH264ConstrainedBaseline: self = .constrainedBaseline
        case VAProfileH264Main: self = .main
        case VAProfileH264High: self = .high
        default: throw Refusal(VA_STATUS_ERROR_UNSUPPORTED_PROFILE, "profile \(profile.rawValue) is not one of H.264")
        }
    }
}
