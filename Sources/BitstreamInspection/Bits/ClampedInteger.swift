extension Int {
    /// The whole part of a number; the nearest integer that exists where it has none. Not a number gives 0.
    ///
    /// `Int(_:)` traps on what a stream's headers can make of a time or a rate.
    init(clamping value: Double) {
        if value.isNaN {
            self = 0
        } else if value >= 0x1p63 {
            self = .max
        } else if value <= -0x1p63 {
            self = .min
        } else {
            self = Int(value)
        }
    }
}
