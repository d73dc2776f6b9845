internal import CVA

/// The HEVC parameter sets in a stream so far, by id, and whether the client or the driver wrote them.
struct HEVCParameterSets {
    private var sequences: [Int: HEVCSequenceParameterSet] = [:]
    private var pictures: [Int: HEVCPictureParameterSet] = [:]
    /// The ids of the sets that the client packed. The driver does not write sets with these ids.
    private var packedVideos: Set<Int> = []
    private var packedSequences: Set<Int> = []
    private var packedPictures: Set<Int> = []
    /// The last sequence parameter set that the client packed, for its conformance window.
    private(set) var lastPackedSequence: HEVCSequenceParameterSet?

    /// Stores the parameter sets of a client's packed header. If `isOnlyRead`, the driver writes all sets, and only the
    /// conformance window is stored.
    mutating func note(_ header: PackedHeader, isOnlyRead: Bool) throws {
        for payload in header.payloads(ofType: 33) {
            guard let sequence = HEVCSequenceParameterSet(rbsp: payload) else {
                throw Refusal.invalidParameter("the packed sequence parameter set cannot be read")
            }
            lastPackedSequence = sequence
            if isOnlyRead { continue }
            sequences[sequence.sps_seq_parameter_set_id] = sequence
            packedSequences.insert(sequence.sps_seq_parameter_set_id)
        }
        if isOnlyRead { return }
        for payload in header.payloads(ofType: 32) {
            guard let id = HEVCVideoParameterSet.id(rbsp: payload) else {
                throw Refusal.invalidParameter("the packed video parameter set cannot be read")
            }
            packedVideos.insert(id)
        }
        for payload in header.payloads(ofType: 34) {
            guard let picture = HEVCPictureParameterSet(rbsp: payload) else {
                throw Refusal.invalidParameter("the packed picture parameter set cannot be read")
            }
            pictures[picture.pps_pic_parameter_set_id] = picture
            packedPictures.insert(picture.pps_pic_parameter_set_id)
        }
    }

    /// Returns the sets that a picture uses, and the NAL units of the sets that the driver must write.
    ///
    /// The driver writes a set if the client packed none with its id, and if the picture is a random access picture or
    /// the set has changed. `asked` are the sets that the buffers request.
    mutating func resolve(
        _ asked: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet), isRandomAccess: Bool
    ) throws -> (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet, written: [[UInt8]]) {
        var written: [[UInt8]] = []
        let pictureID = asked.picture.pps_pic_parameter_set_id
        let sequenceID =
            packedPictures.contains(pictureID) ? pictures[pictureID]?.pps_seq_parameter_set_id ?? 0 : asked.picture.pps_seq_parameter_set_id
        if !packedSequences.contains(sequenceID), isRandomAccess || sequences[sequenceID] != asked.sequence {
            var sequence = asked.sequence
            sequence.sps_seq_parameter_set_id = sequenceID
            sequences[sequenceID] = sequence
            if !packedVideos.contains(sequence.sps_video_parameter_set_id) { written.append(HEVCVideoParameterSet(sequence).nalUnit()) }
            written.append(sequence.nalUnit())
        } else if let sequence = sequences[sequenceID], isRandomAccess, !packedVideos.contains(sequence.sps_video_parameter_set_id) {
            written.append(HEVCVideoParameterSet(sequence).nalUnit())
        }
        if !packedPictures.contains(pictureID), isRandomAccess || pictures[pictureID] != asked.picture {
            pictures[pictureID] = asked.picture
            written.append(asked.picture.nalUnit())
        }
        guard let sequence = sequences[sequenceID], let picture = pictures[pictureID] else {
            throw Refusal.invalidParameter("the picture has no parameter sets")
        }
        try sequence.checkAgrees(with: asked.sequence)
        try picture.checkAgrees(with: asked.picture, sequence.grid)
        return (sequence, picture, written)
    }
}

private func same<Value: Equatable>(_ name: String, _ packed: Value, _ asked: Value) throws {
    try require(packed == asked, "\(name) is \(packed) in the packed parameter set, \(asked) in the buffer")
}

extension HEVCSequenceParameterSet {
    /// Throws if a decoder with the set `self` could not decode a stream that is encoded with the set `asked`.
    fileprivate func checkAgrees(with asked: HEVCSequenceParameterSet) throws {
        try same("scaling_list_enabled_flag", scaling_list_enabled_flag, false)
        try same("pcm_enabled_flag", pcm_enabled_flag, false)
        try same("chroma_format_idc", chroma_format_idc, asked.chroma_format_idc)
        try same("pic_width_in_luma_samples", pic_width_in_luma_samples, asked.pic_width_in_luma_samples)
        try same("pic_height_in_luma_samples", pic_height_in_luma_samples, asked.pic_height_in_luma_samples)
        try same("bit depths", [bit_depth_luma, bit_depth_chroma], [asked.bit_depth_luma, asked.bit_depth_chroma])
        try same("the smallest coding block", log2MinCodingBlock, asked.log2MinCodingBlock)
        try same("the coding tree block", log2CodingTreeBlock, asked.log2CodingTreeBlock)
        try same("the smallest transform block", log2MinTransformBlock, asked.log2MinTransformBlock)
        try same("the largest transform block", log2MaxTransformBlock, asked.log2MaxTransformBlock)
        try same("max_transform_hierarchy_depth_inter", max_transform_hierarchy_depth_inter, asked.max_transform_hierarchy_depth_inter)
        try same("max_transform_hierarchy_depth_intra", max_transform_hierarchy_depth_intra, asked.max_transform_hierarchy_depth_intra)
        try same("amp_enabled_flag", amp_enabled_flag, asked.amp_enabled_flag)
        try same("sample_adaptive_offset_enabled_flag", sample_adaptive_offset_enabled_flag, asked.sample_adaptive_offset_enabled_flag)
        try same("sps_temporal_mvp_enabled_flag", sps_temporal_mvp_enabled_flag, asked.sps_temporal_mvp_enabled_flag)
        try same("strong_intra_smoothing_enabled_flag", strong_intra_smoothing_enabled_flag, asked.strong_intra_smoothing_enabled_flag)
    }

    /// Returns the part of the picture inside the conformance window, in luma samples. Throws if it is empty.
    func visibleArea() throws -> CroppedArea {
        try require(
            [conf_win_left_offset, conf_win_right_offset, conf_win_top_offset, conf_win_bottom_offset].allSatisfy {
                (0...max(pic_width_in_luma_samples, pic_height_in_luma_samples)).contains($0)
            },
            "the conformance window is outside the picture")
        let area = CroppedArea(
            left: 2 * conf_win_left_offset, top: 2 * conf_win_top_offset,
            width: pic_width_in_luma_samples - 2 * (conf_win_left_offset + conf_win_right_offset),
            height: pic_height_in_luma_samples - 2 * (conf_win_top_offset + conf_win_bottom_offset))
        try require(area.width > 0 && area.height > 0, "the conformance window leaves nothing of the picture")
        return area
    }
}

extension HEVCPictureParameterSet {
    fileprivate func checkAgrees(with asked: HEVCPictureParameterSet, _ grid: HEVCGrid) throws {
        try same("pps_scaling_list_data_present_flag", pps_scaling_list_data_present_flag, false)
        try same("dependent_slice_segments_enabled_flag", dependent_slice_segments_enabled_flag, asked.dependent_slice_segments_enabled_flag)
        try same("sign_data_hiding_enabled_flag", sign_data_hiding_enabled_flag, asked.sign_data_hiding_enabled_flag)
        try same("init_qp", init_qp, asked.init_qp)
        try same("constrained_intra_pred_flag", constrained_intra_pred_flag, asked.constrained_intra_pred_flag)
        try same("transform_skip_enabled_flag", transform_skip_enabled_flag, asked.transform_skip_enabled_flag)
        try same("diff_cu_qp_delta_depth", diff_cu_qp_delta_depth, asked.diff_cu_qp_delta_depth)
        try same("pps_cb_qp_offset", pps_cb_qp_offset, asked.pps_cb_qp_offset)
        try same("pps_cr_qp_offset", pps_cr_qp_offset, asked.pps_cr_qp_offset)
        try same(
            "weighted prediction", [weighted_pred_flag, weighted_bipred_flag], [asked.weighted_pred_flag, asked.weighted_bipred_flag])
        try same("transquant_bypass_enabled_flag", transquant_bypass_enabled_flag, asked.transquant_bypass_enabled_flag)
        try same("entropy_coding_sync_enabled_flag", entropy_coding_sync_enabled_flag, asked.entropy_coding_sync_enabled_flag)
        try same("tiles_enabled_flag", tiles != nil, asked.tiles != nil)
        if let tiles, let wanted = asked.tiles {
            try require(tiles.bounds(grid) != nil, "the packed tiles do not fit the picture")
            try same("tiles", tiles.bounds(grid), wanted.bounds(grid))
            try same(
                "loop_filter_across_tiles_enabled_flag", tiles.loop_filter_across_tiles_enabled_flag, wanted.loop_filter_across_tiles_enabled_flag)
        }
        try same(
            "pps_loop_filter_across_slices_enabled_flag", pps_loop_filter_across_slices_enabled_flag, asked.pps_loop_filter_across_slices_enabled_flag
        )
        try same("log2_parallel_merge_level", log2_parallel_merge_level, asked.log2_parallel_merge_level)
    }
}
