extension FixedWidthInteger {
    /// The value rounded towards zero; the nearest that fits where it does not, and 0 for what is not a number.
    package init(saturating value: Double) {
        if value.isNaN {
            self = 0
        } else {
            self = Self(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
        }
    }
}
