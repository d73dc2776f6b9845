/// What rolling intra refresh asks of a picture's macroblocks or coding tree units.
///
/// A round renews the picture from the left or from the top, a few columns or rows a picture. What stands before
/// `renewed` predicts only from what the same round had renewed of its references, so that a decoder that starts with
/// the round's first picture is right there.
struct RefreshGuard {
    var isRows = false
    /// Columns or rows that are coded as intra.
    var forced = 0..<0
    /// Columns or rows, from the first on, that are right for such a decoder once this picture stands.
    var renewed = 0

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
    /// Samples of what is renewed that filters at its border change.
    private let filterReach: Int
    private var state = Renewal()
    private var next = 1

    /// Deblocking changes three samples.
    static var h264: RefreshRounds { RefreshRounds(filterReach: 3) }
    /// SAO looks at one more.
    static var hevc: RefreshRounds { RefreshRounds(filterReach: 4) }

    private init(filterReach: Int) { self.filterReach = filterReach }

    /// What a picture of so many columns and rows is asked for, and how much of it will be renewed.
    mutating func begin(
        _ refresh: IntraRefresh?, isIntra: Bool, columns: Int, rows: Int
    ) -> (guarded: RefreshGuard, renewal: Renewal) {
        if isIntra {
            // Rounds begin again after an intra picture.
            state = Renewal(round: 0)
            return (RefreshGuard(), Renewal(isIntra: true))
        }
        var guarded = RefreshGuard()
        switch refresh {
        case .columns(let range): guarded.forced = range.clamped(to: 0..<columns)
        case .rows(let range):
            guarded.isRows = true
            guarded.forced = range.clamped(to: 0..<rows)
        case nil:
            guarded.isRows = state.isRows
        }
        if refresh != nil && !guarded.forced.isEmpty {
            if guarded.forced.lowerBound == 0 {
                state = Renewal(round: next, isRows: guarded.isRows, extent: 0)
                next += 1
            }
            if state.round > 0 && state.isRows == guarded.isRows { state.extent = guarded.forced.upperBound }
        }
        if state.round > 0 && state.isRows == guarded.isRows { guarded.renewed = state.extent }
        return (guarded, state)
    }

    /// Where samples that a decoder has right end in a reference, in luma samples of the round's direction.
    ///
    /// - Parameter log2Unit: of the samples to a column or row.
    func limit(_ reference: Renewal, columns: Int, rows: Int, log2Unit: Int) -> Int32 {
        if state.round == 0 || reference.isIntra { return RefreshGuard.everywhere }
        if reference.round != state.round { return 0 }
        if reference.extent >= (state.isRows ? rows : columns) { return RefreshGuard.everywhere }
        return Int32(truncatingIfNeeded: reference.extent << log2Unit - filterReach)
    }
}
