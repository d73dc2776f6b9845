/// A coded picture of an H.264 stream and the facts in its headers.
package struct H264Frame: Sendable, Hashable {
    /// One slice of a picture.
    package struct Slice: Sendable, Hashable {
        package var header: H264SliceHeader
        /// The index in `H264Stream.nalUnits`.
        package var nalUnit: Int
        /// RefPicList0 and RefPicList1: indices of frames in coding order; nil for “no reference picture”, -1 for a
        /// picture that was inferred for a gap in frame_num.
        package var lists: [[Int?]] = [[], []]
    }

    /// The index in coding order, from 0.
    package var index: Int
    /// The index in output order, from 0.
    package var displayIndex = 0
    /// I, P or B: the slice type with the most dependencies (B before P before I).
    package var kind: H264SliceHeader.SliceType
    package var isIDR: Bool
    /// Whether nal_ref_idc is not 0.
    package var isReference: Bool
    /// PicOrderCnt, relative to the last IDR picture or memory_management_control_operation 5.
    package var pictureOrderCount: Int
    /// The index of the sequence. Each IDR picture or memory_management_control_operation 5 starts one: the picture
    /// order count restarts.
    package var sequence: Int
    /// frame_num of the slices.
    package var frame_num: Int
    /// Whether the picture's own marking made it a long-term reference.
    package var isLongTerm = false
    /// LongTermFrameIdx that the picture's own marking assigned to it; nil for none.
    package var long_term_frame_idx: Int?
    /// temporal_id of the prefix NAL units; nil if the picture has none.
    package var temporalLayer: Int?
    package var slices: [Slice]
    package var information: [H264SEIMessage] = []
    /// The access unit: indices in `H264Stream.nalUnits`.
    package var nalUnits: Range<Int>
    /// The size of the access unit in the byte stream.
    package var byteCount: Int
    /// The size of the slices and filler NAL units, without start codes.
    package var videoByteCount: Int
    /// The index of the active parameter set in `H264Stream.sequenceSets`.
    package var sequenceSet: Int

    /// SliceQPY of the first slice.
    package var qp: Int { slices.first?.header.qp ?? 0 }

    /// The pictures in the reference lists, in coding order, each once, without those inferred for gaps.
    package var references: [Int] {
        Set(slices.flatMap { $0.lists.flatMap { $0.compactMap(\.self) } }).filter { $0 >= 0 }.sorted()
    }

    package var type: InspectedPictureType {
        switch kind {
        case .p, .sp: .p
        case .b: .b
        case .i, .si: isIDR ? .idr : .i
        }
    }

    package var recoveryPoint: H264RecoveryPoint? {
        for case .recoveryPoint(let point) in information { return point }
        return nil
    }

    package var bufferingPeriod: H264BufferingPeriod? {
        for case .bufferingPeriod(let period) in information { return period }
        return nil
    }

    package var pictureTiming: H264PictureTiming? {
        for case .pictureTiming(let timing) in information { return timing }
        return nil
    }
}
