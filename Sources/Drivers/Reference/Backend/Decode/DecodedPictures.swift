internal import CVA

/// What decoding left in a surface: the context, and the how manieth of its pictures.
struct DecodeMark: Equatable {
    var contextID: VAContextID
    var number: Int
}

/// The pictures that a context decoded, by what clients name them, and where: a client that names another surface, or one
/// in which something else is by now, mixes its references up.
struct DecodedPictures {
    /// frame_num and the order counts of the fields, or PicOrderCntVal alone.
    struct Name: Equatable {
        /// Nil where it does not count: HEVC, long-term references.
        var frame: Int?
        /// Nil for fields that are not there, or not referred to.
        var top: Int?
        var bottom: Int?

        fileprivate func isNamed(by other: Name) -> Bool {
            func agree(_ own: Int?, _ other: Int?) -> Bool { own == nil || other == nil || own == other }
            return agree(frame, other.frame) && agree(top, other.top) && agree(bottom, other.bottom)
        }
    }

    private struct Place {
        var name: Name
        var surface: VASurfaceID
        var mark: DecodeMark
    }

    /// More than any client refers to.
    private static let limit = 64
    private var places: [Place] = []
    private var number = 0

    /// What the last picture left; nil after `forget`.
    var last: (name: Name, surface: VASurfaceID)? { places.last.map { ($0.name, $0.surface) } }

    /// A picture is decoded into `surface`: what stands there from now on.
    mutating func note(_ name: Name, in surface: VASurfaceID, of context: VAContextID) -> DecodeMark {
        number += 1
        let mark = DecodeMark(contextID: context, number: number)
        places.append(Place(name: name, surface: surface, mark: mark))
        if places.count > Self.limit { places.removeFirst() }
        return mark
    }

    /// The last picture is named so from now on.
    mutating func rename(_ name: Name) {
        guard !places.isEmpty else { return }
        places[places.count - 1].name = name
    }

    /// After an IDR picture nothing before counts.
    mutating func forget() { places.removeAll() }

    mutating func forgetAllButLast() { places.removeFirst(max(places.count - 1, 0)) }

    /// Looks at the references of a picture. False where nothing of them was decoded here: the client starts again, after
    /// a seek or a loss. Pictures that never were decoded pass, as clients put them where some are missing.
    /// - Throws: A picture that was decoded is looked for where it is not.
    func check(_ references: [(name: Name, surface: VASurfaceID)], mark: (VASurfaceID) -> DecodeMark?) throws -> Bool {
        var found = 0
        var astray: VASurfaceID?
        for reference in references {
            guard let place = places.last(where: { $0.name.isNamed(by: reference.name) }) else { continue }
            let there = mark(reference.surface)
            if place.surface == reference.surface, there == place.mark {
                found += 1
            } else {
                // A surface that only a client, an encoder or a processor can have written holds no reference.
                if place.surface == reference.surface, there == nil { throw Self.refusal(reference.surface) }
                astray = reference.surface
            }
        }
        if found > 0, let astray { throw Self.refusal(astray) }
        return found > 0
    }

    private static func refusal(_ surface: VASurfaceID) -> Refusal {
        Refusal.invalidParameter("surface \(surface) does not contain the reference picture")
    }
}
