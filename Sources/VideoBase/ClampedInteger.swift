extension BinaryInteger where Self: FixedWidthInteger {
    /// The whole part of a number; the nearest integer that exists where it has none. Not a number gives 0.
    ///
    /// `init(_:)` traps on what a file's times, a caller's rates or a driver's numbers can make.
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
