extension FixedWidthInteger {
    /// Creates an integer from a number rounded toward zero. A number that is out of range gives the nearest integer,
    /// and NaN gives 0.
    package init(saturating value: Double) {
        if value.isNaN {
            self = 0
        } else {
            self = Self(exactly: value.rounded(.towardZero)) ?? (value < 0 ? .min : .max)
        }
    }
}

extension Duration {
    /// The whole nanoseconds, rounded down and clamped to 64 bits.
    package var wholeNanoseconds: Int64 {
        Int64(clamping: Int128(components.seconds) * 1_000_000_000 + Int128(components.attoseconds / 1_000_000_000))
    }
}
