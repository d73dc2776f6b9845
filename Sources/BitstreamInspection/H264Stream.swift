/// An H.264 byte stream, read by rules alone: NAL units, parameter sets, pictures with their references, and whatever
/// breaks the standard.
///
/// The reader shares no code with vaenc's writer, so that one mistake cannot hide another. It decodes headers, order,
/// reference lists and marking, but no macroblock. Any bytes are accepted: what is wrong stands in `violations`.
package struct H264Stream: Sendable {
    package internal(set) var nalUnits: [InspectedNALUnit] = []
    /// Coded pictures in coding order.
    package var frames: [InspectedFrame] = []
    /// Distinct parameter sets in order of arrival.
    package var sequenceSets: [SequenceParameters] = []
    package internal(set) var pictureSets: [PictureParameters] = []
    var found = ViolationList()
    /// In the order in which they were found. Of each rule the first thousand are listed.
    package var violations: [Violation] { found.elements }
    /// The most pictures that precede one in coding order and follow it in output order.
    package internal(set) var reorderDepth = 0
    /// The most frames that were marked as references at a time.
    package internal(set) var mostReferences = 0

    /// Reads an Annex B byte stream; never fails.
    ///
    /// - Parameter recordBytes: so many bytes at its beginning are the parameter sets of a container's decoder configuration record, which
    ///   belong to no access unit.
    package init(annexB bytes: [UInt8], recordBytes: Int = 0) {
        var reader = StreamReader(bytes, recordBytes: recordBytes)
        self = reader.read()
    }

    init() {}

    /// Frames in output order.
    package var framesInOutputOrder: [InspectedFrame] { frames.sorted { $0.displayIndex < $1.displayIndex } }

    /// The parameter set that a frame uses.
    package func sequenceSet(of frame: InspectedFrame) -> SequenceParameters { sequenceSets[frame.sequenceSet] }

    /// Every violation of one rule.
    package func violations(of rule: Violation.Rule) -> [Violation] { violations.filter { $0.rule == rule } }
}
