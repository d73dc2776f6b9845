/// The limits for the bits of the next pictures, and the position of the next I picture among them.
struct RateOutlook: Sendable {
    /// The maximum bits of the next picture alone, and of the next picture together with the following 1, 2… pictures.
    var rooms: [Double]
    /// The number of pictures until the next I picture, at least 1; nil if none is expected.
    var nextIntra: Int?
    /// The number of pictures from one I picture to the next.
    var intraPeriod = 0

    /// Returns whether all limits hold if the next picture takes `first` bits, the following I pictures `intra` and the
    /// others `mean`.
    func holds(first: Double, mean: Double, intra: Double) -> Bool {
        var sum = first
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
