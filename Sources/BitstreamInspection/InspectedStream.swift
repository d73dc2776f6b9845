/// A stream of any codec as its reader sees it: what does not depend on the codec.
package protocol InspectedStream: Sendable {
    /// Coded pictures in coding order.
    var pictures: [any InspectedPicture] { get }
    /// Rules that the stream breaks, those of the coded picture buffer left out.
    var violations: [Violation] { get }
    var unitCount: Int { get }
    /// The name of a NAL unit by its place in stream order.
    func unitName(_ index: Int) -> String
    /// A NAL unit's bytes with start code and trailing zeros.
    func unitRange(_ index: Int) -> Range<Int>
    /// Of the first sequence, as people call them; nil where there is none.
    var profileName: String? { get }
    var levelName: String? { get }
    /// Width and height that a decoder shows, of the first sequence; nil where there is none.
    var visibleSize: (width: Int, height: Int)? { get }
    var bitDepth: Int { get }
    var reorderDepth: Int { get }
    /// Bytes of the largest NAL unit of a slice, without its start code.
    var largestSlice: Int { get }

    /// Checks the stream against its own HRD parameters; nil where it has none.
    ///
    /// - Parameter headerBytes: of parameter sets that stand in a container's header, and come before each buffering period
    ///   that has none.
    func hrd(headerBytes: Int) -> HRDReport?
}

/// A coded picture of any codec.
package protocol InspectedPicture: Sendable {
    /// In coding order, and in output order, from 0.
    var index: Int { get }
    var displayIndex: Int { get }
    /// `IDR`, `I`, `P` or `B`.
    var typeName: String { get }
    /// Of the slices' NAL units, as the standard names it.
    var unitName: String { get }
    /// A decoder can start here and lose nothing that follows in coding and output order.
    var isRandomAccess: Bool { get }
    var isIDR: Bool { get }
    /// Other pictures may refer to it.
    var isReference: Bool { get }
    var isLongTerm: Bool { get }
    /// All its slices are B slices with two equal lists: a P picture by another name.
    var isGeneralizedP: Bool { get }
    var hasRecoveryPoint: Bool { get }
    /// Pictures in the longest list 0 of its slices, each counted once.
    var referencesInList0: Int { get }
    /// The message that annex C needs of every picture.
    var hasPictureTiming: Bool { get }
    var pictureOrderCount: Int { get }
    /// Temporal sub-layer; nil where the stream does not say.
    var temporalLayer: Int? { get }
    /// Of the first slice.
    var qp: Int { get }
    /// Of each slice.
    var sliceQPs: [Int] { get }
    var sliceCount: Int { get }
    /// Of the access unit.
    var byteCount: Int { get }
    /// Indices in coding order of the pictures in its lists.
    var references: [Int] { get }
    /// NAL units of the access unit.
    var nalUnits: Range<Int> { get }
}

extension InspectedStream {
    /// As it stands.
    package func hrd() -> HRDReport? { hrd(headerBytes: 0) }

    package var picturesInOutputOrder: [any InspectedPicture] {
        pictures.sorted { $0.displayIndex < $1.displayIndex }
    }

    /// Checks every picture against a leaky bucket at a fixed frame rate.
    ///
    /// - Parameter frameRate: pictures per second.
    package func check(_ bucket: LeakyBucket, frameRate: Double) -> HRDReport {
        bucket.check(bytes: pictures.map(\.byteCount), seconds: [1 / frameRate])
    }
}

extension InspectedPicture {
    package var isIntra: Bool { typeName == "I" || typeName == "IDR" }
    /// Predicted from two pictures, and not a P picture by another name.
    package var isB: Bool { typeName == "B" && !isGeneralizedP }
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

extension InspectedFrame: InspectedPicture {
    package var unitName: String { isIDR ? "IDR slice" : "slice" }
    package var isRandomAccess: Bool { isIDR || recoveryPoint?.recovery_frame_cnt == 0 }
    /// H.264 has P slices everywhere.
    package var isGeneralizedP: Bool { false }
    package var hasRecoveryPoint: Bool { recoveryPoint != nil }
    package var referencesInList0: Int { slices.map { Set($0.lists[0].compactMap(\.self)).count }.max() ?? 0 }
    package var hasPictureTiming: Bool { pictureTiming != nil }
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
    package var unitName: String { HEVCNALUnit.name(of: nalUnitType) }
    package var isRandomAccess: Bool { isIRAP || recoveryPoint?.recovery_poc_cnt == 0 }
    package var temporalLayer: Int? { temporalID }
    package var hasRecoveryPoint: Bool { recoveryPoint != nil }
    package var referencesInList0: Int { slices.map { Set($0.lists[0].compactMap(\.self)).count }.max() ?? 0 }
    package var hasPictureTiming: Bool { pictureTiming != nil }
    package var sliceQPs: [Int] { slices.map(\.header.qp) }
    package var sliceCount: Int { slices.count { !$0.header.dependent_slice_segment_flag } }
}
