/// A rule of the standard that a stream breaks.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
    /// What kind of rule it is.
    package enum Rule: String, Sendable, Hashable, CaseIterable {
        /// Start codes and emulation prevention (annex B, 7.4.1).
        case byteStream
        /// A header that cannot be read, or whose values are out of range (7.3, 7.4).
        case syntax
        /// A slice refers to a parameter set that is not there (7.4.1.2.1).
        case parameterSet
        /// Order and completeness of NAL units in an access unit (7.4.1.2.3).
        case accessUnit
        /// frame_num (7.4.3).
        case frameNumber
        /// Picture order count (8.2.1).
        case pictureOrder
        /// Reference picture lists (8.2.4).
        case referenceList
        /// Marking of reference pictures (8.2.5).
        case marking
        /// Output and size of the decoded picture buffer (C.4).
        case pictureBuffer
        /// Limits of the level (annex A).
        case level
        /// Coded picture buffer and its messages (C.1 to C.3).
        case codedPictureBuffer
        /// Temporal layers (annex G/F).
        case temporalLayer
        /// Legal, and more than this reader follows.
        case unsupported
    }

    package var rule: Rule
    /// Index in coding order of the picture concerned; nil where it is not about one.
    package var frame: Int?
    package var message: String

    package init(_ rule: Rule, frame: Int? = nil, _ message: String) {
        self.rule = rule
        self.frame = frame
        self.message = message
    }

    package var description: String { (frame.map { "picture \($0): " } ?? "") + "\(message) (\(rule.rawValue))" }
}
