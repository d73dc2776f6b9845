extension Int {
    /// Converts a number to an integer: rounds toward zero, clamps to the range of `Int`, and maps not-a-number to 0.
    ///
    /// `Int(_:)` traps on the times and rates that malformed headers can produce.
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
