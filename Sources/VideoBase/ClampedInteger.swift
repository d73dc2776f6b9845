extension BinaryInteger where Self: FixedWidthInteger {
    /// Creates an integer from the integral part of a number. A number that is out of range gives the nearest integer,
    /// and NaN gives 0.
    ///
    /// `init(_:)` would trap on values that a file's times, a caller's rates or a driver's numbers can have.
    package init(clamping value: Double) {
        if value.isNaN {
            self = 0
        } else if let exact = Self(exactly: value.rounded(.towardZero)) {
            self = exact
        } else {
            self = value < 0 ? .min : .max
        }
    }
}
