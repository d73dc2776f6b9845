internal import CVA

/// A picture in a slice's reference list, and the surface that contains it.
struct ListedReference {
    var surface: Surface
    var reference: HEVCReference
}

/// Converts the HEVC slice buffers and packed slice headers of a picture to jobs.
struct HEVCSlicePlan {
    let backend: HEVCBackend
    let parameters: VAEncPictureParameterBufferHEVC
    /// The parameter sets that the client's slice headers refer to.
    let asked: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet)
    /// The parameter sets in the stream.
    let written: (sequence: HEVCSequenceParameterSet, picture: HEVCPictureParameterSet)

    private var isRewritten: Bool { asked != written }

    /// Returns the header of a slice, and its bits. The header is the client's packed header, which is checked against
    /// the buffers, or is made from the buffers. If the driver controls the rate, it rewrites slice_qp_delta later.
    func header(
        _ slice: VAEncSliceParameterBufferHEVC, packed: SliceHeaderBits?
    ) throws -> (HEVCSliceSegmentHeader, SliceHeaderBits) {
        var expected = HEVCSliceSegmentHeader(
            slice, picture: parameters, sequence: asked.sequence, picture: asked.picture)
        guard let packed, !backend.behavior.writesOwnSets else {
            if backend.behavior.writesOwnSets {
                try setMesa22Fields(&expected, slice)
            } else {
                try expected.checkReferences(of: parameters, asked.sequence)
                removeUnsupportedFields(&expected)
            }
            return (expected, expected.bits(sequence: written.sequence, picture: written.picture))
        }
        var end = 0
        guard
            var found = HEVCSliceSegmentHeader(packed, sequence: asked.sequence, picture: asked.picture, end: &end)
        else { throw Refusal.invalidParameter("the packed slice header cannot be read") }
        let contradictions = found.contradictions(
            with: expected, comparesQP: backend.context.config.rateMode == nil)
        try require(contradictions.isEmpty, contradictions.first ?? "")
        removeUnsupportedFields(&found)
        return (found, isRewritten ? bits(found, like: packed) : packed.shortened(to: end))
    }

    /// Removes the header fields that the parameter sets in the stream do not allow.
    private func removeUnsupportedFields(_ header: inout HEVCSliceSegmentHeader) {
        if !written.sequence.sps_temporal_mvp_enabled_flag { header.slice_temporal_mvp_enabled_flag = false }
        if !written.sequence.sample_adaptive_offset_enabled_flag { (header.slice_sao_luma_flag, header.slice_sao_chroma_flag) = (false, false) }
    }

    /// Changes a slice header to the one that Mesa 22.3.6 writes: the only reference is the previous picture in output
    /// order, independent of the flags in reference_frames.
    private func setMesa22Fields(_ header: inout HEVCSliceSegmentHeader, _ slice: VAEncSliceParameterBufferHEVC) throws {
        header.slice_pic_parameter_set_id = 0
        header.slice_sao_luma_flag = written.sequence.sample_adaptive_offset_enabled_flag
        header.slice_sao_chroma_flag = written.sequence.sample_adaptive_offset_enabled_flag
        header.slice_qp_delta += Int(parameters.pic_init_qp) - written.picture.init_qp
        header.maxNumMergeCand = 5
        guard header.slice_type != .i else {
            // The header contains an empty reference picture set, because an IRAP picture has no references (8.3.2).
            (header.shortTermSet, header.short_term_ref_pic_set_idx) = (HEVCShortTermReferencePictureSet(), nil)
            return
        }
        header.short_term_ref_pic_set_idx = 0
        let order = parameters.decoded_curr_pic.pic_order_cnt - 1
        try require(
            slice.list0.prefix(header.num_ref_idx_active[0]).allSatisfy { $0.isValid && $0.pic_order_cnt == order },
            "a reference other than the picture before")
        header.shortTermSet = written.sequence.short_term_ref_pic_sets[0]
    }

    /// Returns the bits of a header, with the start code and NAL unit header of `other`.
    func bits(_ header: HEVCSliceSegmentHeader, like other: SliceHeaderBits) -> SliceHeaderBits {
        var bits = header.bits(sequence: written.sequence, picture: written.picture)
        bits.prefix = other.prefix
        return bits
    }

    /// Returns the reference lists of a slice from the buffers. Throws unless they equal the lists that a decoder
    /// derives from the header, and all surfaces contain the pictures.
    func lists(
        _ slice: VAEncSliceParameterBufferHEVC, _ header: HEVCSliceSegmentHeader
    ) throws -> [[ListedReference]] {
        let count = Int(parameters.decoded_curr_pic.pic_order_cnt)
        guard let decoded = header.lists(pictureOrderCount: count, sequence: written.sequence) else {
            throw Refusal.invalidParameter("the reference picture lists do not match the reference picture set")
        }
        let frames = FixedArray.values(parameters.reference_frames, as: VAPictureHEVC.self, count: 15)
        let size = 1 << written.sequence.log2_max_pic_order_cnt_lsb
        return try [slice.list0, slice.list1].enumerated().map { list, entries in
            try zip(decoded[list], entries).map { wanted, entry in
                try require(entry.isValid, "ref_pic_list\(list) has fewer than \(decoded[list].count) pictures")
                let poc = Int(entry.pic_order_cnt)
                try require(
                    wanted.isLsb ? poc & (size - 1) == wanted.pictureOrderCount : poc == wanted.pictureOrderCount,
                    "ref_pic_list\(list) has picture \(poc), but the slice header has \(wanted.pictureOrderCount)")
                try require(
                    frames.contains { $0.isValid && $0.picture_id == entry.picture_id },
                    "ref_pic_list\(list) names surface \(entry.picture_id), but reference_frames does not")
                return try listed(entry, isLongTerm: wanted.isLongTerm)
            }
        }
    }

    private func listed(_ entry: VAPictureHEVC, isLongTerm: Bool) throws -> ListedReference {
        let surface = try backend.driver.surface(entry.picture_id)
        try require(
            entry.picture_id != parameters.decoded_curr_pic.picture_id, "the picture is its own reference")
        let poc = Int(entry.pic_order_cnt)
        if backend.driver.environment.isNull {
            return ListedReference(
                surface: surface, reference: HEVCReference(picture: .empty, poc: poc, isLongTerm: isLongTerm))
        }
        guard case .hevc(let picture, let order) = surface.reconstruction else {
            throw Refusal.invalidParameter("surface \(entry.picture_id) is a reference, but contains no coded picture")
        }
        try require(order == poc, "surface \(entry.picture_id) contains picture \(order), but is named as \(poc)")
        try require(
            picture.grid == written.sequence.grid && picture.bitDepth == written.sequence.bit_depth_luma,
            "the reference in surface \(entry.picture_id) has another size")
        return ListedReference(
            surface: surface, reference: HEVCReference(picture: picture, poc: poc, isLongTerm: isLongTerm))
    }

    /// Returns the job for a slice.
    func job(
        _ header: HEVCSliceSegmentHeader, _ bits: SliceHeaderBits, _ lists: [[ListedReference]], first: Int, count: Int,
        _ parameters: VAEncPictureParameterBufferHEVC
    ) throws -> HEVCSliceJob {
        let picture = written.picture
        var job = HEVCSliceJob(
            firstCodingTree: first, codingTreeCount: count, type: header.slice_type,
            qp: min(max(picture.init_qp + header.slice_qp_delta, 0), 51), list0: lists[0].map(\.reference),
            list1: lists[1].map(\.reference), header: bits)
        job.cbQPOffset = picture.pps_cb_qp_offset + header.slice_cb_qp_offset
        job.crQPOffset = picture.pps_cr_qp_offset + header.slice_cr_qp_offset
        if header.slice_type != .i && header.slice_temporal_mvp_enabled_flag {
            let list = lists[header.collocated_from_l0_flag ? 0 : 1]
            try require(
                list.indices.contains(header.collocated_ref_idx), "the collocated picture is in no list")
            try checkCollocated(list[header.collocated_ref_idx].surface.id)
            job.collocated = list[header.collocated_ref_idx].reference.picture
            job.collocated_from_l0_flag = header.collocated_from_l0_flag
        }
        job.mergeCandidates = header.maxNumMergeCand
        job.mvd_l1_zero_flag = header.mvd_l1_zero_flag
        job.cabac_init_flag = header.cabac_init_flag
        job.slice_deblocking_filter_disabled_flag = header.slice_deblocking_filter_disabled_flag
        job.betaOffset = 2 * header.slice_beta_offset_div2
        job.tcOffset = 2 * header.slice_tc_offset_div2
        job.slice_loop_filter_across_slices_enabled_flag = header.slice_loop_filter_across_slices_enabled_flag
        job.slice_sao_luma_flag = header.slice_sao_luma_flag
        job.slice_sao_chroma_flag = header.slice_sao_chroma_flag
        job.hasHeaderExtension = picture.slice_segment_header_extension_present_flag
        return job
    }

    /// Throws unless collocated_ref_pic_index refers to the surface with the slice header's collocated picture.
    private func checkCollocated(_ surface: VASurfaceID) throws {
        let index = Int(parameters.collocated_ref_pic_index)
        let frames = FixedArray.values(parameters.reference_frames, as: VAPictureHEVC.self, count: 15)
        try require(
            frames.indices.contains(index) && frames[index].picture_id == surface,
            "collocated_ref_pic_index \(index) is not the slice header's collocated picture")
    }
}

extension HEVCReconstructedPicture {
    /// A placeholder for references in null mode, which are not read.
    fileprivate static let empty = HEVCReconstructedPicture(grid: HEVCGrid(width: 8, height: 8), bitDepth: 8)
}
