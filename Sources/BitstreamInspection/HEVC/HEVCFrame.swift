/// A coded picture of an HEVC stream and the facts in its headers.
package struct HEVCFrame: Sendable, Hashable {
    /// One slice segment of a picture.
    package struct Slice: Sendable, Hashable {
        package var header: HEVCSliceSegmentHeader
        /// The index in `HEVCStream.nalUnits`.
        package var nalUnit: Int
        /// RefPicList0 and RefPicList1: indices of frames in coding order; nil for “no reference picture”.
        package var lists: [[Int?]] = [[], []]
    }

    /// The reference picture set (H.265 8.3.2): indices of frames in coding order; nil for “no reference picture”.
    package struct References: Sendable, Hashable {
        package var stCurrBefore: [Int?] = []
        package var stCurrAfter: [Int?] = []
        package var stFoll: [Int?] = []
        package var ltCurr: [Int?] = []
        package var ltFoll: [Int?] = []

        /// The pictures that the picture itself can refer to.
        package var current: [Int?] { stCurrBefore + stCurrAfter + ltCurr }
        /// The pictures that only following pictures can refer to.
        package var following: [Int?] { stFoll + ltFoll }
        package var longTerm: [Int?] { ltCurr + ltFoll }
        package var all: [Int?] { current + following }
    }

    /// The index in coding order, from 0.
    package var index: Int
    /// The index in output order, from 0.
    package var displayIndex = 0
    /// I, P or B: the slice type with the most dependencies (B before P before I).
    package var kind: HEVCSliceSegmentHeader.SliceType
    /// nal_unit_type of the slices.
    package var nal_unit_type: Int
    /// TemporalId.
    package var temporalID: Int
    /// PicOrderCntVal.
    package var pictureOrderCount: Int
    /// The index of the coded video sequence. Each IRAP picture with NoRaslOutputFlag starts one.
    package var sequence: Int
    /// Whether the picture is an IRAP picture with NoRaslOutputFlag.
    package var startsSequence: Bool
    /// PicOutputFlag. It is also false for RASL pictures whose IRAP picture starts the sequence.
    package var isOutput: Bool
    /// The index of the associated IRAP picture: the previous one in coding order. Nil for IRAP pictures.
    package var associatedIRAP: Int?
    package var referenceSet = References()
    package var slices: [Slice]
    package var information: [HEVCSEIMessage] = []
    /// The access unit: indices in `HEVCStream.nalUnits`.
    package var nalUnits: Range<Int>
    /// The size of the access unit in the byte stream.
    package var byteCount: Int
    /// The size of the slices and filler NAL units, without start codes.
    package var videoByteCount: Int
    /// The index of the active SPS in `HEVCStream.sequenceSets`.
    package var sequenceSet: Int
    /// The index of the active PPS in `HEVCStream.pictureSets`.
    package var pictureSet: Int
    /// Whether a later picture's reference picture set contains the picture as a long-term picture.
    package var isLongTerm = false

    package var isIDR: Bool { nal_unit_type == 19 || nal_unit_type == 20 }
    package var isIRAP: Bool { (16...23).contains(nal_unit_type) }
    package var isCRA: Bool { nal_unit_type == 21 }
    package var isRADL: Bool { nal_unit_type == 6 || nal_unit_type == 7 }
    package var isRASL: Bool { nal_unit_type == 8 || nal_unit_type == 9 }
    package var isLeading: Bool { isRADL || isRASL }
    /// Whether a picture of the same sub-layer may refer to the picture.
    package var isReference: Bool { nal_unit_type >= 16 || nal_unit_type % 2 == 1 }

    /// SliceQpY of the first slice.
    package var qp: Int { slices.first?.header.qp ?? 0 }

    /// The pictures in the reference lists, in coding order, each once.
    package var references: [Int] {
        Set(slices.flatMap { $0.lists.flatMap { $0.compactMap(\.self) } }).sorted()
    }

    /// Whether all slices are B slices with two equal lists, so that the picture is in effect a P picture.
    package var isGeneralizedP: Bool {
        kind == .b && slices.allSatisfy { $0.header.slice_type == .b && $0.lists[0] == $0.lists[1] }
    }

    package var type: InspectedPictureType {
        switch kind {
        case .i: isIDR ? .idr : .i
        case .p: .p
        case .b: .b
        }
    }

    package var recoveryPoint: HEVCRecoveryPoint? {
        for case .recoveryPoint(let point) in information { return point }
        return nil
    }

    package var bufferingPeriod: HEVCBufferingPeriod? {
        for case .bufferingPeriod(let period) in information { return period }
        return nil
    }

    package var pictureTiming: HEVCPictureTiming? {
        for case .pictureTiming(let timing) in information { return timing }
        return nil
    }

    package var pictureHash: HEVCPictureHash? {
        for case .pictureHash(let hash) in information { return hash }
        return nil
    }
}
