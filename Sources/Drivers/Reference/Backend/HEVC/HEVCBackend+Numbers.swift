internal import CVA

extension HEVCBackend {
    /// Sets the picture order counts in the buffers to those of the packed slice header if they differ.
    ///
    /// Real drivers identify references by their surfaces and take the picture order count from the header. For
    /// example, hevcencode of libva-utils counts in steps of two in its buffers.
    func renumber(
        _ parameters: inout VAEncPictureParameterBufferHEVC, slices: inout [VAEncSliceParameterBufferHEVC],
        units: StreamUnits, sets: Sets, stream: StreamState
    ) throws {
        var end = 0
        guard !parameters.isIDR, !behavior.writesOwnSets, let packed = units.slices.first,
            let header = HEVCSliceSegmentHeader(
                packed, sequence: sets.asked.sequence, picture: sets.asked.picture, end: &end)
        else { return }
        let size = 1 << sets.asked.sequence.log2_max_pic_order_cnt_lsb
        let (found, asked) = (header.slice_pic_order_cnt_lsb, Int(parameters.decoded_curr_pic.pic_order_cnt))
        guard found != asked & (size - 1) else { return }
        try context.environment.tolerate(
            .pictureNumbers,
            .invalidParameter("slice_pic_order_cnt_lsb is \(found) in the packed slice header, \(asked) in the buffers"))
        // PicOrderCntVal is the value that is nearest to that of the previous reference picture, 8.3.1.
        let before = stream.hevc.pictureOrderCount
        let count = before + ((found - before + size / 2) & (size - 1)) - size / 2
        parameters.decoded_curr_pic.pic_order_cnt = Int32(truncatingIfNeeded: count)
        renumber(&parameters.reference_frames)
        for index in slices.indices {
            renumber(&slices[index].ref_pic_list0)
            renumber(&slices[index].ref_pic_list1)
        }
    }

    /// Sets the pic_order_cnt of each entry of a C array to that under which the picture in its surface was encoded.
    ///
    /// SAFETY: `Array` is a homogeneous tuple of VAPictureHEVC, so its bytes can be bound to that type.
    private func renumber<Array>(_ array: inout Array) {
        unsafe withUnsafeMutableBytes(of: &array) { bytes in
            let entries = unsafe bytes.bindMemory(to: VAPictureHEVC.self)
            for index in entries.indices {
                guard unsafe entries[index].isValid,
                    case .hevc(_, let order) = driver.surfaces[unsafe entries[index].picture_id]?.reconstruction
                else { continue }
                unsafe entries[index].pic_order_cnt = Int32(truncatingIfNeeded: order)
            }
        }
    }
}
