/// What the pictures to come may take, and when the next I picture among them is due.
struct RateOutlook: Sendable {
    /// Bits that the next picture may take, and it with 1, 2… after it.
    var rooms: [Double]
    /// Pictures to the next I picture, at least 1; nil: none is foreseen.
    var nextIntra: Int?
    /// Pictures from one I picture to the next.
    var intraPeriod = 0

    /// Whether a picture of `own` bits fits, where those after it take `mean` and I pictures `intra`.
    func holds(own: Double, mean: Double, intra: Double) -> Bool {
        var sum = own
        var due = nextIntra
        for (count, room) in rooms.enumerated() {
            if count > 0 {
                if count == due {
                    sum += intra
                    due = count + max(intraPeriod, 1)
                } else {
                    sum += mean
                }
            }
            if sum > max(room, 1) { return false }
        }
        return true
    }
}
