/// What rolling intra refresh asks of a picture's coding tree units, as `RefreshGuard`: those before `renewed` predict
/// only from what the same round had renewed of their references.
struct HEVCRefreshGuard {
    var isRows = false
    /// Columns or rows that are coded as intra.
    var forced = 0..<0
    /// Columns or rows, from the first on, that are right for a decoder that starts with the round.
    var renewed = 0

    /// Samples of what is renewed that deblocking and SAO at its border change.
    static let filterReach = 4
}

/// Follows rounds of intra refresh from picture to picture.
struct HEVCRefreshRounds {
    private var state = Renewal()
    private var next = 1

    /// What the job asks for, and how much of the picture will be renewed.
    mutating func begin(_ job: HEVCPictureJob) -> (guarded: HEVCRefreshGuard, renewal: Renewal) {
        if job.slices.allSatisfy({ $0.type == .i }) {
            // Rounds begin anew after an intra picture.
            state = Renewal(round: 0)
            return (HEVCRefreshGuard(), Renewal(isIntra: true))
        }
        var asked = HEVCRefreshGuard()
        switch job.intraRefresh {
        case .columns(let range): asked.forced = range.clamped(to: 0..<job.grid.columns)
        case .rows(let range):
            asked.isRows = true
            asked.forced = range.clamped(to: 0..<job.grid.rows)
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

    /// Where samples that a decoder has right end in a reference, in luma samples of the round's direction.
    func limit(_ reference: Renewal, _ grid: HEVCGrid) -> Int32 {
        if state.round == 0 || reference.isIntra { return RefreshGuard.everywhere }
        if reference.round != state.round { return 0 }
        if reference.extent >= (state.isRows ? grid.rows : grid.columns) { return RefreshGuard.everywhere }
        return Int32(truncatingIfNeeded: reference.extent << grid.log2CodingTreeBlock - HEVCRefreshGuard.filterReach)
    }
}
