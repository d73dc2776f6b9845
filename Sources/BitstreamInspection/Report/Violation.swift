/// A violation of the standard by a stream.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
    /// The kind of rule that is violated.
    package enum Rule: String, Sendable, Hashable, CaseIterable {
        /// Start codes and emulation prevention (annex B, 7.4.1).
        case byteStream
        /// A header that cannot be read, or whose values are out of range (7.3, 7.4).
        case syntax
        /// A reference to a missing parameter set (7.4.1.2.1), or a parameter set that changes where it must not.
        case parameterSet
        /// The order and completeness of NAL units in an access unit (7.4.1.2.3).
        case accessUnit
        /// The frame_num syntax element (7.4.3).
        case frameNumber
        /// Picture order count (8.2.1).
        case pictureOrder
        /// Reference picture lists (8.2.4).
        case referenceList
        /// Marking of reference pictures (8.2.5).
        case marking
        /// The output from, and the size of, the decoded picture buffer (C.4).
        case pictureBuffer
        /// The limits of the level (annex A).
        case level
        /// The coded picture buffer and its messages (C.1 to C.3).
        case codedPictureBuffer
        /// Temporal layers of H.264 (annex G; annex F in newer editions) and temporal sub-layers of HEVC.
        case temporalLayer
        /// Valid syntax that this reader does not process.
        case unsupported
    }

    package var rule: Rule
    /// The index in coding order of the picture concerned; nil if the violation concerns no single picture.
    package var frame: Int?
    package var message: String

    package init(_ rule: Rule, frame: Int? = nil, _ message: String) {
        self.rule = rule
        self.frame = frame
        self.message = message
    }

    package var description: String { (frame.map { "picture \($0): " } ?? "") + "\(message) (\(rule.rawValue))" }
}
