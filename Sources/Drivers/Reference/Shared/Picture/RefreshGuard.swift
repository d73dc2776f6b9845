/// The restrictions of rolling intra refresh on a picture's macroblocks or coding tree units.
///
/// A pass refreshes the picture from the left or from the top, a few columns or rows per picture. Blocks before
/// `renewed` predict only from samples that the same pass has refreshed in the reference pictures. A decoder that
/// starts with the first picture of the pass therefore decodes these blocks correctly.
struct RefreshGuard {
    var isRows = false
    /// The columns or rows that are coded as intra.
    var forced = 0..<0
    /// The number of columns or rows, from the first on, that are correct in such a decoder after this picture.
    var renewed = 0

    /// The limit if all samples of a reference may be used.
    static let noLimit = Int32.max / 2
}

/// The part of a picture that a pass of intra refresh has refreshed.
struct Renewal: Equatable {
    /// The number of the pass, or 0 before the first pass.
    var round = 0
    var isRows = false
    var extent = 0
    /// Whether the picture is intra, so that it depends on no other picture.
    var isIntra = false
}

/// Tracks the passes of intra refresh over the pictures of a stream.
struct RefreshRounds {
    /// The number of samples inside the border of the refreshed area that in-loop filters may change.
    private let filterReach: Int
    private var state = Renewal()
    private var next = 1

    /// Deblocking changes three samples.
    static var h264: RefreshRounds { RefreshRounds(filterReach: 3) }
    /// SAO depends on one more sample than deblocking.
    static var hevc: RefreshRounds { RefreshRounds(filterReach: 4) }

    private init(filterReach: Int) { self.filterReach = filterReach }

    /// Returns the restrictions of the next picture, which has this number of columns and rows, and how much of it is
    /// refreshed afterwards.
    mutating func begin(
        _ refresh: IntraRefresh?, isIntra: Bool, columns: Int, rows: Int
    ) -> (guarded: RefreshGuard, renewal: Renewal) {
        if isIntra {
            // A new pass must begin after an intra picture.
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

    /// Returns the number of samples of a reference, from its left or upper border on, that are correct in a decoder
    /// that started with the pass. It counts luma samples in the direction of the pass.
    ///
    /// - Parameter log2Unit: The binary logarithm of the number of samples in a column or row.
    func limit(_ reference: Renewal, columns: Int, rows: Int, log2Unit: Int) -> Int32 {
        if state.round == 0 || reference.isIntra { return RefreshGuard.noLimit }
        if reference.round != state.round { return 0 }
        if reference.extent >= (state.isRows ? rows : columns) { return RefreshGuard.noLimit }
        return Int32(truncatingIfNeeded: reference.extent << log2Unit - filterReach)
    }
}
