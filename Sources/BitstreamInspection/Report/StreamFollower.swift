/// The role of a NAL unit among the pictures of a stream.
package enum FollowedUnit: Sendable, Hashable {
    /// A unit that precedes a picture: a parameter set, delimiter or message. The current picture is complete.
    case leading
    /// A unit that belongs to the current picture, or to the next one if no picture has begun.
    case trailing
    /// A unit that belongs to the current picture and completes it: the end of a sequence or of the stream.
    case sequenceEnd
    /// A slice. `startsPicture` is true for the first slice of a picture. `fault` is the reason why the slice cannot be
    /// decoded, or nil.
    case slice(startsPicture: Bool, fault: Fault?)
    /// A unit of another layer, or a unit that decoders ignore.
    case other
    /// An invalid NAL unit. Part of the current picture may be missing.
    case broken

    /// A reason why a slice cannot be decoded.
    package enum Fault: Sendable, Hashable {
        /// A parameter set that the slice refers to is missing.
        case noParameterSets
        /// The slice header is invalid.
        case unreadable
    }
}

/// The facts about a picture after all its NAL units were taken.
package struct FollowedPicture: Sendable, Hashable {
    /// A reason why a picture cannot be decoded.
    package enum Obstacle: Sendable, Hashable {
        /// A parameter set that a slice refers to is missing.
        case noParameterSets
        /// The picture refers to pictures before the start of the stream.
        case beforeStart
        /// Pictures that the picture refers to were lost.
        case missingReference
        /// Parts of the picture are broken or missing.
        case damaged
    }

    package var obstacle: Obstacle?
    /// Whether nothing that follows refers to earlier pictures: an IDR picture. In HEVC, any IRAP picture; its leading
    /// pictures are an exception.
    package var isKey = false
    /// Whether the picture is displayed before the key picture that it follows. It may refer to pictures before that
    /// key picture.
    package var isLeading = false
    /// Whether the picture is meant to be displayed.
    package var isShown = true
    /// Whether the picture is the second field of the previous picture's frame.
    package var isSecondField = false
    /// Whether reference pictures were lost before the picture. It may refer to others.
    package var followsLoss = false
    /// Whether the picture can be decoded but may refer to lost pictures.
    package var mayShowLoss = false
    /// Whether decoding restarts: earlier pictures must be output first.
    package var restartsDecoding = false
}

/// Follows a stream NAL unit by NAL unit, as a decoder does: finds which units form a picture, and which pictures can
/// be decoded.
///
/// Keeps only the parameter sets and the state of the reference pictures. Accepts any bytes.
package protocol StreamFollower: Sendable {
    /// Processes the next NAL unit and returns its role.
    ///
    /// - Parameter unit: A NAL unit without start code or length.
    mutating func take(_ unit: [UInt8]) -> FollowedUnit

    /// Ends the picture whose slices were taken. A picture that cannot be decoded is not used as a reference.
    ///
    /// - Parameter isBroken: Whether NAL units of the picture could not be used.
    mutating func endPicture(isBroken: Bool) -> FollowedPicture

    /// Forgets the messages of a picture whose slices are all lost: they do not belong to the next picture.
    mutating func forgetMessages()

    /// Prepares for another position in the stream. Parameter sets are kept.
    mutating func restart()
}

extension StreamFollower {
    /// Returns a NAL unit without its trailing zeros.
    static func trimmed(_ unit: [UInt8]) -> [UInt8] {
        unit.last == 0 ? Array(unit.prefix((unit.lastIndex { $0 != 0 } ?? -1) + 1)) : unit
    }
}
