extension Duration {
    /// The whole nanoseconds, rounded toward zero and clamped to 64 bits.
    package var wholeNanoseconds: Int64 {
        Int64(clamping: attoseconds / 1_000_000_000)
    }

    /// The time in seconds. Whole nanoseconds give the number that is nearest to their decimal form: 0.1 for 100 ms.
    package var seconds: Double {
        let (nanoseconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest == 0 ? Double(nanoseconds) / 1e9 : Double(attoseconds) / 1e18
    }

    /// Creates a duration from a number of seconds, in whole nanoseconds if `seconds` then returns the same number. A
    /// number that is not 0 never gives zero. Returns nil for NaN and for 1e20 seconds or more, where
    /// `Duration.seconds(_:)` traps.
    package init?(checkedSeconds seconds: Double) {
        guard seconds.magnitude < 1e20 else { return nil }
        let nanoseconds = (seconds * 1e9).rounded()
        if nanoseconds / 1e9 == seconds {
            self.init(attoseconds: Int128(nanoseconds) * 1_000_000_000)
        } else {
            self.init(attoseconds: Int128((seconds * 1e18).rounded(.awayFromZero)))
        }
    }
}
