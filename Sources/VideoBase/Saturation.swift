extension FixedWidthInteger {
    /// Creates an integer from a number rounded towards zero. A number that is out of range gives the nearest integer,
    /// and NaN gives 0.
    package init(saturating value: Double) {
        if value.isNaN {
            self = 0
        } else {
            self = Self(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
        }
    }
}
