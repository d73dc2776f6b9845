/// An HEVC byte stream, read by rules alone: NAL units, parameter sets, pictures with their references, and whatever
/// breaks the standard.
///
/// The reader shares no code with vaenc's writer, so that one mistake cannot hide another. It decodes headers, order,
/// reference picture sets, lists and output, but no coding tree. Any bytes are accepted: what is wrong stands in
/// `violations`.
package struct HEVCStream: Sendable {
    package internal(set) var nalUnits: [HEVCNALUnit] = []
    /// Coded pictures in coding order.
    package var frames: [HEVCFrame] = []
    /// Distinct parameter sets in order of arrival.
    package internal(set) var videoSets: [HEVCVideoParameters] = []
    package var sequenceSets: [HEVCSequenceParameters] = []
    package internal(set) var pictureSets: [HEVCPictureParameters] = []
    var found = ViolationList()
    /// In the order in which they were found. Of each rule the first thousand are listed.
    package var violations: [Violation] { found.elements }
    /// The most pictures that precede one in coding order and follow it in output order.
    package internal(set) var reorderDepth = 0
    /// The most pictures that a reference picture set held.
    package internal(set) var mostReferences = 0

    /// Reads an Annex B byte stream; never fails.
    ///
    /// - Parameter recordBytes: so many bytes at its beginning are the parameter sets of a container's decoder configuration record, which
    ///   belong to no access unit.
    package init(annexB bytes: [UInt8], recordBytes: Int = 0) {
        var reader = HEVCStreamReader(bytes, recordBytes: recordBytes)
        self = reader.read()
    }

    init() {}

    /// Frames in output order; those that are never output stand at their place too.
    package var framesInOutputOrder: [HEVCFrame] { frames.sorted { $0.displayIndex < $1.displayIndex } }

    /// The parameter sets that a frame uses.
    package func sequenceSet(of frame: HEVCFrame) -> HEVCSequenceParameters { sequenceSets[frame.sequenceSet] }
    package func pictureSet(of frame: HEVCFrame) -> HEVCPictureParameters { pictureSets[frame.pictureSet] }

    /// Every violation of one rule.
    package func violations(of rule: Violation.Rule) -> [Violation] { violations.filter { $0.rule == rule } }
}
