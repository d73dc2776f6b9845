/// What rolling intra refresh asks of a picture's macroblocks.
///
/// A round renews the picture from the left or from the top, a few columns or rows a picture. What stands before
/// `renewed` predicts only from what the same round had renewed of its references, so that a decoder that starts with
/// the round's first picture is right there. Deblocking of the border reaches three samples into what is renewed.
struct RefreshGuard {
    var isRows = false
    /// Columns or rows that are coded as intra.
    var forced = 0..<0
    /// Columns or rows, from the first on, that are right for such a decoder once this picture stands.
    var renewed = 0

    static let filterReach = 3
    static let everywhere = Int32.max / 2
}

/// How much of a picture a round of intra refresh has renewed.
struct Renewal: Equatable {
    /// 0 before the first round.
    var round = 0
    var isRows = false
    var extent = 0
    /// Nothing of it depends on other pictures.
    var isIntra = false
}

/// Follows rounds of intra refresh from picture to picture.
struct RefreshRounds {
    private var state = Renewal()

    /// What the job asks for, and how much of the picture will be renewed.
    mutating func begin(_ job: PictureJob) -> (guarded: RefreshGuard, renewal: Renewal) {
        if job.slices.allSatisfy({ $0.type == .i }) {
            // Rounds begin anew after an intra picture.
            state = Renewal(round: 0)
            return (RefreshGuard(), Renewal(isIntra: true))
        }
        var asked = RefreshGuard()
        switch job.intraRefresh {
        case .columns(let range): asked.forced = range.clamped(to: 0..<job.widthInMacroblocks)
        case .rows(let range):
            asked.isRows = true
            asked.forced = range.clamped(to: 0..<job.heightInMacroblocks)
        case nil:
            asked.isRows = state.isRows
        }
        if job.intraRefresh != nil && !asked.forced.isEmpty {
            if asked.forced.lowerBound == 0 {
                state = Renewal(round: next, isRows: asked.isRows, extent: 0)
                next += 1
            }
            if state.round > 0 && state.isRows == asked.isRows { state.extent = asked.forced.upperBound }
        }
        if state.round > 0 && state.isRows == asked.isRows { asked.renewed = state.extent }
        return (asked, state)
    }

    private var next = 1

    /// Where samples that a decoder has right end in a reference, in luma samples of the round's direction.
    func limit(_ reference: Renewal, size: Int) -> Int32 {
        if state.round == 0 || reference.isIntra { return RefreshGuard.everywhere }
        if reference.round != state.round { return 0 }
        if reference.extent >= size { return RefreshGuard.everywhere }
        return Int32(16 * reference.extent - RefreshGuard.filterReach)
    }
}
