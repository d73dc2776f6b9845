/// The codec-independent view of a stream that a reader returns.
package protocol InspectedStream: Sendable {
    /// The coded pictures in coding order.
    var pictures: [any InspectedPicture] { get }
    /// The violations of the standard, except those of the coded picture buffer.
    var violations: [Violation] { get }
    /// The number of NAL units.
    var unitCount: Int { get }
    /// Returns the name of the NAL unit at an index in stream order.
    func unitName(_ index: Int) -> String
    /// Returns the range of a NAL unit, with start code and trailing zeros.
    func unitRange(_ index: Int) -> Range<Int>
    /// The common name of the first sequence's profile; nil if there is no sequence.
    var profileName: String? { get }
    /// The common name of the first sequence's level; nil if there is no sequence.
    var levelName: String? { get }
    /// The visible width and height of the first sequence; nil if there is no sequence.
    var visibleSize: (width: Int, height: Int)? { get }
    /// The bit depth of luma samples in the first sequence; 8 if there is no sequence.
    var bitDepth: Int { get }
    /// The maximum number of pictures that precede a picture in coding order and follow it in output order.
    var reorderDepth: Int { get }
    /// The size in bytes of the largest slice NAL unit, without its start code.
    var largestSlice: Int { get }

    /// Checks the stream against its own HRD parameters. Returns nil if it has none.
    ///
    /// - Parameter headerBytes: The size of the parameter sets in a container's header. They count in every access unit
    ///   that has a buffering period and no parameter set.
    func hrd(headerBytes: Int) -> HRDReport?
}

/// The type of a coded picture. The raw value is its usual name.
package enum InspectedPictureType: String, Sendable, Hashable {
    case idr = "IDR"
    case i = "I"
    case p = "P"
    case b = "B"
}

/// A coded picture of any codec.
package protocol InspectedPicture: Sendable {
    /// The index in coding order, from 0.
    var index: Int { get }
    /// The index in output order, from 0.
    var displayIndex: Int { get }
    var type: InspectedPictureType { get }
    /// The name of the slices' NAL unit type.
    var unitName: String { get }
    /// Whether a decoder that starts here can decode every picture that follows in both coding and output order.
    var isRandomAccess: Bool { get }
    var isIDR: Bool { get }
    /// Whether other pictures may refer to the picture.
    var isReference: Bool { get }
    var isLongTerm: Bool { get }
    /// Whether all slices are B slices with two equal lists, so that the picture is in effect a P picture.
    var isGeneralizedP: Bool { get }
    var hasRecoveryPoint: Bool { get }
    var pictureOrderCount: Int { get }
    /// The temporal sub-layer; nil if the stream does not signal it.
    var temporalLayer: Int? { get }
    /// The QP of the first slice.
    var qp: Int { get }
    /// The QP of each slice.
    var sliceQPs: [Int] { get }
    var sliceCount: Int { get }
    /// The size of the access unit.
    var byteCount: Int { get }
    /// The coding order indices of the pictures in the reference lists.
    var references: [Int] { get }
    /// The indices of the NAL units in the access unit.
    var nalUnits: Range<Int> { get }
}

extension InspectedStream {
    /// Checks the stream against its own HRD parameters, without a container's header. Returns nil if it has none.
    package func hrd() -> HRDReport? { hrd(headerBytes: 0) }

    /// Checks every picture against a leaky bucket at a fixed frame rate.
    ///
    /// - Parameter frameRate: The number of pictures per second.
    package func check(_ bucket: LeakyBucket, frameRate: Double) -> HRDReport {
        bucket.check(bytes: pictures.map(\.byteCount), seconds: [1 / frameRate])
    }
}

extension InspectedPicture {
    package var isIntra: Bool { type == .i || type == .idr }
    /// Whether the picture is a B picture and not in effect a P picture.
    package var isB: Bool { type == .b && !isGeneralizedP }
}

extension H264Stream: InspectedStream {
    package var pictures: [any InspectedPicture] { frames }
    package var unitCount: Int { nalUnits.count }
    package func unitName(_ index: Int) -> String { nalUnits[index].name }
    package func unitRange(_ index: Int) -> Range<Int> {
        nalUnits[index].offset..<(nalUnits[index].offset + nalUnits[index].byteCount)
    }
    package var visibleSize: (width: Int, height: Int)? { sequenceSets.first?.visibleSize }
    package var bitDepth: Int { sequenceSets.first?.bit_depth_luma ?? 8 }
    package var largestSlice: Int { nalUnits.reduce(0) { $1.isSlice ? max($0, $1.payload.count) : $0 } }
}

extension H264Frame: InspectedPicture {
    package var unitName: String { isIDR ? "IDR slice" : "slice" }
    package var isRandomAccess: Bool { isIDR || recoveryPoint?.recovery_frame_cnt == 0 }
    /// Always false: H.264 encoders code P pictures as P slices.
    package var isGeneralizedP: Bool { false }
    package var hasRecoveryPoint: Bool { recoveryPoint != nil }
    package var sliceQPs: [Int] { slices.map(\.header.qp) }
    package var sliceCount: Int { slices.count }
}

extension HEVCStream: InspectedStream {
    package var pictures: [any InspectedPicture] { frames }
    package var unitCount: Int { nalUnits.count }
    package func unitName(_ index: Int) -> String { nalUnits[index].name }
    package func unitRange(_ index: Int) -> Range<Int> {
        nalUnits[index].offset..<(nalUnits[index].offset + nalUnits[index].byteCount)
    }
    package var visibleSize: (width: Int, height: Int)? { sequenceSets.first?.visibleSize }
    package var bitDepth: Int { sequenceSets.first?.bit_depth_luma ?? 8 }
    package var largestSlice: Int { nalUnits.reduce(0) { $1.isSlice ? max($0, $1.payload.count) : $0 } }
}

extension HEVCFrame: InspectedPicture {
    package var unitName: String { HEVCNALUnit.name(of: nal_unit_type) }
    package var isRandomAccess: Bool { isIRAP || recoveryPoint?.recovery_poc_cnt == 0 }
    package var temporalLayer: Int? { temporalID }
    package var hasRecoveryPoint: Bool { recoveryPoint != nil }
    package var sliceQPs: [Int] { slices.map(\.header.qp) }
    package var sliceCount: Int { slices.count { !$0.header.dependent_slice_segment_flag } }
}
