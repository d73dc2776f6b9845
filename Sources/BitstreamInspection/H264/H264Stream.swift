/// An H.264 byte stream, read by the rules of the standard: NAL units, parameter sets, pictures with their references,
/// and violations.
///
/// The reader shares no code with vaenc's writer, so that one mistake cannot hide another. It decodes headers, picture
/// order, reference lists and marking, but no macroblocks. It accepts any bytes and lists errors in `violations`.
package struct H264Stream: Sendable {
    /// The NAL units in stream order, without those whose header is invalid.
    package internal(set) var nalUnits: [H264NALUnit] = []
    /// The coded pictures in coding order.
    package var frames: [H264Frame] = []
    /// The distinct sequence parameter sets in order of arrival.
    package var sequenceSets: [H264SequenceParameterSet] = []
    /// The distinct picture parameter sets in order of arrival.
    package internal(set) var pictureSets: [H264PictureParameterSet] = []
    var found = ViolationList()
    /// The violations in the order in which they were found: at most the first thousand of each rule.
    package var violations: [Violation] { found.elements }
    /// The maximum number of pictures that precede a picture in coding order and follow it in output order.
    package internal(set) var reorderDepth = 0
    /// The maximum number of frames that were marked as references at the same time.
    package internal(set) var maxReferences = 0

    /// Reads an Annex B byte stream. Never fails.
    ///
    /// - Parameter recordBytes: The size of the parameter sets at the start of `bytes` that come from a container's
    ///   decoder configuration record. They belong to no access unit.
    package init(annexB bytes: [UInt8], recordBytes: Int = 0) {
        var reader = H264StreamReader(bytes, recordBytes: recordBytes)
        self = reader.read()
    }

    init() {}

    /// Returns the sequence parameter set that a frame uses.
    package func sequenceSet(of frame: H264Frame) -> H264SequenceParameterSet { sequenceSets[frame.sequenceSet] }

    /// Returns every violation of one rule.
    package func violations(of rule: Violation.Rule) -> [Violation] { violations.filter { $0.rule == rule } }
}
