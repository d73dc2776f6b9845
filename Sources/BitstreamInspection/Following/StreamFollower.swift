/// What a NAL unit is to the pictures of a stream.
package enum FollowedUnit: Sendable, Hashable {
    /// It stands before a picture: parameter sets, delimiters, messages. A picture under way is complete.
    case leading
    /// It belongs to the picture under way, or to the next where there is none.
    case trailing
    /// The same, and the picture under way is complete after it.
    case sequenceEnd
    /// A slice, of a new picture where it starts one. With the reason where it cannot be decoded.
    case slice(startsPicture: Bool, fault: Fault?)
    /// Of another layer, or of no use to decoders.
    case other
    /// No sound NAL unit: part of the picture under way may be missing.
    case broken

    package enum Fault: Sendable, Hashable {
        /// Parameter sets that it names are not there.
        case noParameterSets
        /// Its header makes no sense.
        case unreadable
    }
}

/// What is known of a picture when all its NAL units were taken.
package struct FollowedPicture: Sendable, Hashable {
    /// Why a picture cannot be decoded.
    package enum Obstacle: Sendable, Hashable {
        case noParameterSets
        /// It refers to what was before the stream's start.
        case beforeStart
        /// Pictures that it refers to were lost.
        case missingReference
        /// Parts of it are broken or missing.
        case damaged
    }

    package var obstacle: Obstacle?
    /// Nothing that follows refers to what was before: IDR; in HEVC any IRAP picture, but for what leads it.
    package var isKey = false
    /// It is shown before the key picture that it follows, and may refer to what was before that.
    package var isLeading = false
    /// It is to be seen.
    package var isShown = true
    /// It completes the frame of the field before.
    package var isSecondField = false
    /// Decoding restarts: what came before must come out first.
    package var beginsAnew = false
}

/// Follows a stream NAL unit by NAL unit as a decoder does: which belong together, and what can be decoded.
///
/// It keeps parameter sets and what is marked for reference, and no more of the stream. Any bytes are accepted.
package protocol StreamFollower: Sendable {
    /// - Parameter unit: a NAL unit without start code or length.
    mutating func take(_ unit: [UInt8]) -> FollowedUnit

    /// Ends the picture whose slices were taken.
    ///
    /// - Parameter isBroken: NAL units of it could not be used. What cannot be decoded is no reference for others.
    mutating func endPicture(isBroken: Bool) -> FollowedPicture

    /// The stream goes on somewhere else: parameter sets stay.
    mutating func restart()
}

extension StreamFollower {
    /// The sound part of a NAL unit: without zeros behind it.
    static func trimmed(_ unit: [UInt8]) -> [UInt8] {
        unit.last == 0 ? Array(unit.prefix((unit.lastIndex { $0 != 0 } ?? -1) + 1)) : unit
    }
}
