internal import CVA

/// Identifies the decoded picture in a surface.
struct DecodeMark: Equatable {
    var contextID: VAContextID
    /// The number of the picture in its context, from 1 on.
    var number: Int
}

/// The pictures that a context has decoded, with their names and surfaces.
///
/// The list is used to detect wrong references: a client may name another surface, or one that was overwritten.
struct DecodedPictures {
    /// The values by which a client identifies a picture.
    struct Name: Equatable {
        /// frame_num in H.264. Nil in HEVC and for long-term references, which have no frame_num.
        var frame: Int?
        /// TopFieldOrderCnt in H.264, PicOrderCntVal in HEVC. Nil if the picture or the reference has no top field.
        var top: Int?
        /// BottomFieldOrderCnt in H.264. Nil in HEVC, or if the picture or the reference has no bottom field.
        var bottom: Int?

        /// Whether all values are equal that both names have.
        fileprivate func matches(_ other: Name) -> Bool {
            func areEqual(_ first: Int?, _ second: Int?) -> Bool { first == nil || second == nil || first == second }
            return areEqual(frame, other.frame) && areEqual(top, other.top) && areEqual(bottom, other.bottom)
        }
    }

    private struct Entry {
        var name: Name
        var surface: VASurfaceID
        var mark: DecodeMark
    }

    /// The maximum number of entries. It exceeds the number of references that a client needs.
    private static let limit = 64
    private var entries: [Entry] = []
    private var number = 0
    /// The surface that may stand for pictures missing after the latest reference picture.
    private var substitute: (surface: VASurfaceID, mark: DecodeMark)?

    /// The name and the surface of the last picture, or nil if there is none since `forget`.
    var last: (name: Name, surface: VASurfaceID)? { entries.last.map { ($0.name, $0.surface) } }

    /// Records a picture that is decoded into `surface`, and returns the mark for the surface.
    ///
    /// - Parameter mayStandForMissing: Whether a client may use the surface for pictures that are missing after it, too.
    mutating func note(
        _ name: Name, in surface: VASurfaceID, of context: VAContextID, mayStandForMissing: Bool = false
    ) -> DecodeMark {
        number += 1
        let mark = DecodeMark(contextID: context, number: number)
        if mayStandForMissing { substitute = (surface, mark) }
        entries.append(Entry(name: name, surface: surface, mark: mark))
        if entries.count > Self.limit { entries.removeFirst() }
        return mark
    }

    /// Changes the name of the last picture.
    mutating func rename(_ name: Name) {
        guard !entries.isEmpty else { return }
        entries[entries.count - 1].name = name
    }

    /// Removes all pictures. Call for an IDR picture, which makes all earlier pictures unusable as references.
    mutating func forget() {
        entries.removeAll()
        substitute = nil
    }

    mutating func forgetAllButLast() { entries.removeFirst(max(entries.count - 1, 0)) }

    /// Checks the references of a picture.
    ///
    /// Clients insert references for missing pictures and for gaps in frame_num. Such a reference can be in the surface
    /// of the latest reference picture (libavcodec's in H.264), which then has a name that the driver does not know. If
    /// it is in another surface, it is ignored.
    ///
    /// - Parameter mark: Returns the current mark of a surface.
    /// - Returns: Whether at least one reference is in the surface of a picture that this context decoded. False if
    ///   there is none: the client has started again after a seek or a loss.
    /// - Throws: INVALID_PARAMETER if a client, an encoder or the video processor has overwritten a reference. Also if
    ///   one reference is not in the surface that the client names, but another one is.
    func check(_ references: [(name: Name, surface: VASurfaceID)], mark: (VASurfaceID) -> DecodeMark?) throws -> Bool {
        var found = 0
        var misplaced: VASurfaceID?
        for reference in references {
            let currentMark = mark(reference.surface)
            guard let entry = entries.last(where: { $0.name.matches(reference.name) }) else {
                if let substitute, substitute.surface == reference.surface, substitute.mark == currentMark { found += 1 }
                continue
            }
            if entry.surface == reference.surface, currentMark == entry.mark {
                found += 1
            } else {
                // Without a mark, a client, an encoder or the video processor has overwritten the surface.
                if entry.surface == reference.surface, currentMark == nil {
                    throw Self.missingReference(reference.surface)
                }
                misplaced = reference.surface
            }
        }
        if found > 0, let misplaced { throw Self.missingReference(misplaced) }
        return found > 0
    }

    private static func missingReference(_ surface: VASurfaceID) -> Refusal {
        Refusal.invalidParameter("surface \(surface) does not contain the reference picture")
    }
}
