internal import CVA
internal import DecodeDamageDetection

/// Converts a picture's H.264 buffers into a packet for the decoder. Use it with the display's monitor held.
struct H264DecodePlan {
    private let picture: VAPictureParameterBufferH264
    private let units: [(slice: VASliceParameterBufferH264, unit: [UInt8])]
    private let headers: [H264DecodeSliceHeader]
    private let matrix: VAIQMatrixBufferH264?

    /// Validates the buffers. Throws if they contradict each other, or if the driver cannot decode the picture.
    init(_ buffers: H264DecodeBuffers) throws {
        guard let picture = buffers.parameters else {
            throw Refusal.invalidParameter("the picture has no picture parameter buffer")
        }
        self.picture = picture
        matrix = buffers.matrix
        units = try buffers.units()
        headers = try units.map {
            guard let header = H264DecodeSliceHeader($0.unit, $0.slice, picture) else {
                throw Refusal.invalidParameter("the slice data is not an H.264 slice")
            }
            return header
        }
        let sequence = unsafe picture.seq_fields.bits
        try require(sequence.chroma_format_idc <= 1, "chroma_format_idc \(sequence.chroma_format_idc) is not supported")
        try require(
            picture.bit_depth_luma_minus8 == 0 && picture.bit_depth_chroma_minus8 == 0,
            "H.264 with more than 8 bits "
                + "is not supported")
        try require(sequence.log2_max_frame_num_minus4 <= 12, "log2_max_frame_num_minus4 exceeds 12")
        try require(sequence.log2_max_pic_order_cnt_lsb_minus4 <= 12, "log2_max_pic_order_cnt_lsb_minus4 exceeds 12")
        try require(picture.num_ref_frames <= 16, "num_ref_frames \(picture.num_ref_frames) exceeds 16")
        try require(
            sequence.frame_mbs_only_flag != 0 || picture.picture_height_in_mbs_minus1 & 1 == 1,
            "a stream of fields has an odd number of macroblock rows")
        if sequence.pic_order_cnt_type == 1 {
            throw Refusal.unimplemented("pic_order_cnt_type 1: its offsets are not in the buffers")
        }
        if let matrix {
            let lists =
                FixedArray.values(matrix.ScalingList4x4, as: UInt8.self, count: 96)
                + (unsafe picture.pic_fields.bits.transform_8x8_mode_flag != 0
                    ? FixedArray.values(matrix.ScalingList8x8, as: UInt8.self, count: 128) : [])
            try require(!lists.contains(0), "a scaling list contains a zero")
        }
    }

    /// The coded size in luma samples.
    var size: (width: Int, height: Int) {
        (16 * (Int(picture.picture_width_in_mbs_minus1) + 1), 16 * (Int(picture.picture_height_in_mbs_minus1) + 1))
    }

    /// Returns the packet of the picture and the mark for `target`, and records the picture in `pictures`.
    ///
    /// - Parameter mark: Returns the current mark of a surface.
    /// - Throws: INVALID_PARAMETER if the surfaces of the references do not contain them.
    func packet(
        target: Surface, of context: VAContextID, _ pictures: inout DecodedPictures, mark: (VASurfaceID) -> DecodeMark?
    ) throws -> (packet: DecodePacket, mark: DecodeMark) {
        // Only CABAC slices need a sentinel.
        let sentinel = unsafe picture.pic_fields.bits.entropy_coding_mode_flag != 0 ? SliceSentinel.forH264 : []
        var packet = DecodePacket(
            parameterSets: H264DecodeSets(picture: picture, matrix: matrix).bytes(
                ids: Set(headers.map(\.pictureSet)).sorted(), counts: defaultCounts),
            slices: units.reduce(into: []) { $0 += DecodePacket.startCode + $1.unit + sentinel })
        let name = self.name
        if let frameName = frameCompleted(by: name, in: target, pictures), let firstFieldMark = mark(target.id) {
            packet.continues = true
            pictures.rename(frameName)
            applyReset(frameName, &pictures)
            return (packet, firstFieldMark)
        }
        if headers[0].isIDR {
            pictures.forget()
        } else if try !pictures.check(references, mark: mark) {
            packet.resetsDecoder = pictures.last != nil
            pictures.forget()
        }
        let newMark = pictures.note(name, in: target.id, of: context, mayStandForMissing: headers[0].isReference)
        applyReset(name, &pictures)
        return (packet, newMark)
    }

    /// The values of num_ref_idx_active for slices that do not override the defaults of the PPS.
    private var defaultCounts: (list0: Int, list1: Int) {
        var counts = (list0: 1, list1: 1)
        for (header, unit) in zip(headers, units) where !header.overridesCounts && (header.isP || header.isB) {
            counts.list0 = min(Int(unit.slice.num_ref_idx_l0_active_minus1), 31) + 1
            if header.isB { counts.list1 = min(Int(unit.slice.num_ref_idx_l1_active_minus1), 31) + 1 }
        }
        return counts
    }

    private var isField: Bool { unsafe picture.pic_fields.bits.field_pic_flag != 0 }

    private var name: DecodedPictures.Name {
        let current = picture.CurrPic
        let isBottom = current.flags & UInt32(VA_PICTURE_H264_BOTTOM_FIELD) != 0
        return DecodedPictures.Name(
            frame: Int(picture.frame_num), top: isField && isBottom ? nil : Int(current.TopFieldOrderCnt),
            bottom: isField && !isBottom ? nil : Int(current.BottomFieldOrderCnt))
    }

    /// Returns the name of the frame that this field completes, or nil if the last picture was not its first field.
    private func frameCompleted(
        by name: DecodedPictures.Name, in target: Surface, _ pictures: DecodedPictures
    ) -> DecodedPictures.Name? {
        guard isField, let last = pictures.last, last.surface == target.id, last.name.frame == name.frame,
            (last.name.top == nil) != (name.top == nil), (last.name.bottom == nil) != (name.bottom == nil)
        else { return nil }
        return DecodedPictures.Name(
            frame: name.frame, top: name.top ?? last.name.top, bottom: name.bottom ?? last.name.bottom)
    }

    /// Applies memory_management_control_operation 5. The picture then counts as an IDR picture. Its frame_num becomes
    /// 0, and the smaller of its order counts is subtracted from both (H.264 8.2.1).
    private func applyReset(_ name: DecodedPictures.Name, _ pictures: inout DecodedPictures) {
        guard headers[0].resetsOrder else { return }
        let minimum = min(name.top ?? .max, name.bottom ?? .max)
        pictures.forgetAllButLast()
        pictures.rename(
            DecodedPictures.Name(
                frame: 0, top: name.top.map { $0 - minimum }, bottom: name.bottom.map { $0 - minimum }))
    }

    private var references: [(name: DecodedPictures.Name, surface: VASurfaceID)] {
        FixedArray.values(picture.ReferenceFrames, as: VAPictureH264.self, count: 16)
            .filter(\.isValid)
            .map { entry in
                let fields = entry.flags & UInt32(VA_PICTURE_H264_TOP_FIELD | VA_PICTURE_H264_BOTTOM_FIELD)
                let isLong = entry.flags & UInt32(VA_PICTURE_H264_LONG_TERM_REFERENCE) != 0
                let name = DecodedPictures.Name(
                    frame: isLong ? nil : Int(entry.frame_idx),
                    top: fields == UInt32(VA_PICTURE_H264_BOTTOM_FIELD) ? nil : Int(entry.TopFieldOrderCnt),
                    bottom: fields == UInt32(VA_PICTURE_H264_TOP_FIELD) ? nil : Int(entry.BottomFieldOrderCnt))
                return (name, entry.picture_id)
            }
    }
}
