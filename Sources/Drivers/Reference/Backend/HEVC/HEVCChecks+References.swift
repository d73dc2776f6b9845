internal import CVA

extension VAEncPictureParameterBufferHEVC {
    /// Throws unless reference_frames can be a reference picture set (8.3.2).
    ///
    /// No picture may occur twice or be the current one. Each picture must be of one kind, and before or after the
    /// current one as its flags state. The differences of the picture order counts must be in the range of DeltaPocS0
    /// and DeltaPocS1 (7.4.8).
    ///
    /// For an IDR picture, which has no reference picture set, the buffer is not checked. Clients that pack slice
    /// headers may omit the flags.
    func checkReferences() throws {
        guard !isIDR else { return }
        let frames = FixedArray.values(reference_frames, as: VAPictureHEVC.self, count: 15).filter(\.isValid)
        let current = Int(decoded_curr_pic.pic_order_cnt)
        for (index, frame) in frames.enumerated() {
            let order = Int(frame.pic_order_cnt)
            let name = "reference_frames' picture of order \(order)"
            try require(!frames[..<index].contains { $0.pic_order_cnt == frame.pic_order_cnt }, "\(name) is there twice")
            try require(
                !frames[..<index].contains { $0.picture_id == frame.picture_id },
                "\(name) is in surface \(frame.picture_id), which another of them is in")
            try require(order != current && frame.picture_id != decoded_curr_pic.picture_id, "\(name) is the current one")
            let isBefore = frame.flags & UInt32(VA_PICTURE_HEVC_RPS_ST_CURR_BEFORE) != 0
            let isAfter = frame.flags & UInt32(VA_PICTURE_HEVC_RPS_ST_CURR_AFTER) != 0
            try require(
                [isBefore, isAfter, frame.isLongTerm].count { $0 } <= 1, "\(name) is of several kinds: \(frame.flags)")
            try require(
                !isBefore || order < current, "\(name) is to be before the current one, of order \(current)")
            try require(!isAfter || order > current, "\(name) is to be after the current one, of order \(current)")
            try require(
                frame.isLongTerm || (-(1 << 15)..<1 << 15).contains(order - current),
                "\(name) is too far from the current one, of order \(current)")
            try require(
                nal_unit_type < 16 || !frame.isUsed, "a random access picture refers to a picture of order \(order)")
        }
    }
}

extension HEVCSliceSegmentHeader {
    /// Throws if a slice header cannot express the reference frames of `picture`.
    ///
    /// A header cannot express them if `sequence` does not allow long-term references, or allows fewer pictures. It
    /// cannot either if a long-term reference is in a later cycle of slice_pic_order_cnt_lsb than the current picture,
    /// because delta_poc_msb_cycle_lt has no sign (7.4.7.1).
    func checkReferences(
        of picture: VAEncPictureParameterBufferHEVC, _ sequence: HEVCSequenceParameterSet
    ) throws {
        guard !isIDR else { return }
        let frames = FixedArray.values(picture.reference_frames, as: VAPictureHEVC.self, count: 15).filter(\.isValid)
        try require(
            sequence.long_term_ref_pics_present_flag || !frames.contains(where: \.isLongTerm),
            "the sequence parameter set does not allow long-term references")
        let most = (sequence.subLayers.last?.max_dec_pic_buffering ?? 1) - 1
        try require(
            frames.count <= most,
            "\(frames.count) reference frames, where sps_max_dec_pic_buffering_minus1 is \(most)")
        try require(
            longTermReferences.allSatisfy { $0.deltaPOCMsbCycle ?? 0 >= 0 },
            "a long-term reference in a later cycle of slice_pic_order_cnt_lsb than the current picture")
    }
}
