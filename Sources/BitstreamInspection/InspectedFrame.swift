/// A coded picture of a stream and what its headers say of it.
package struct InspectedFrame: Sendable, Hashable {
    /// One slice of a picture.
    package struct Slice: Sendable, Hashable {
        package var header: SliceHeader
        /// Place in `H264Stream.nalUnits`.
        package var nalUnit: Int
        /// RefPicList0 and RefPicList1: indices of frames in coding order; nil for “no reference picture”, -1 for one
        /// that was inferred for a gap in frame_num.
        package var lists: [[Int?]] = [[], []]
    }

    /// In coding order, from 0.
    package var index: Int
    /// In output order, from 0.
    package var displayIndex = 0
    /// I, P or B: of the slices' types the one that depends on most.
    package var kind: SliceHeader.Kind
    package var isIDR: Bool
    /// nal_ref_idc is not 0.
    package var isReference: Bool
    /// PicOrderCnt, relative to the last IDR picture or memory_management_control_operation 5.
    package var pictureOrderCount: Int
    /// Counts IDR pictures and memory_management_control_operation 5: the picture order count restarts.
    package var sequence: Int
    package var frameNumber: Int
    package var isLongTerm = false
    /// long_term_frame_idx that the picture was given when it was coded.
    package var longTermIndex: Int?
    /// temporal_id of the prefix NAL units; nil where there are none.
    package var temporalLayer: Int?
    package var slices: [Slice]
    package var information: [SupplementalInformation] = []
    /// Of `H264Stream.nalUnits`: the access unit.
    package var nalUnits: Range<Int>
    /// Of the access unit in the byte stream.
    package var byteCount: Int
    /// Of its slices and filler NAL units alone, without start codes.
    package var videoByteCount: Int
    /// Place in `H264Stream.sequenceSets` of the active parameter set.
    package var sequenceSet: Int

    /// SliceQPY of the first slice.
    package var qp: Int { slices.first?.header.qp ?? 0 }

    /// Every picture in its reference lists, in coding order, each once; without those inferred for gaps.
    package var references: [Int] {
        Set(slices.flatMap { $0.lists.flatMap { $0.compactMap(\.self) } }).filter { $0 >= 0 }.sorted()
    }

    /// `IDR`, `I`, `P` or `B`.
    package var typeName: String {
        switch kind {
        case .p, .sp: "P"
        case .b: "B"
        case .i, .si: isIDR ? "IDR" : "I"
        }
    }

    package var recoveryPoint: RecoveryPoint? {
        for case .recoveryPoint(let point) in information { return point }
        return nil
    }

    package var bufferingPeriod: BufferingPeriod? {
        for case .bufferingPeriod(let period) in information { return period }
        return nil
    }

    package var pictureTiming: PictureTiming? {
        for case .pictureTiming(let timing) in information { return timing }
        return nil
    }
}
