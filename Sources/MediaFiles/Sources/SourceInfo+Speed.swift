public import VideoBase

extension SourceInfo {
    /// The name of a changed playing speed in `changes`.
    public static let speedOption = "speed"

    /// The changed playing speed, if the frames are shown at another rate than the input's own; nil otherwise.
    public var speedChange: EffectiveEntry? { changes.first { $0.option == Self.speedOption } }

    /// Returns the change of speed if frames with the rate `oldRate` are shown at the rate `newRate`; nil if the speed
    /// does not change.
    static func speedChange(
        from oldRate: Rational?, to newRate: Rational?, varies: Bool = false
    ) -> EffectiveEntry? {
        guard let oldRate, let newRate, oldRate.value > 0 else { return nil }
        let speed = newRate.value / oldRate.value
        // 29.97 may be written for 30000/1001.
        if abs(speed - 1) < 1e-4 { return nil }
        let mean = varies ? " (average)" : ""
        return EffectiveEntry(
            option: speedOption, asked: "1x", used: "\(number(speed))x",
            why: "the input's \(number(oldRate.value)) frames per second\(mean) are shown at \(number(newRate.value))")
    }

    /// Returns a number with at most three decimals, and without trailing zeros.
    private static func number(_ value: Double) -> String {
        if value > 0, value < 0.0005 { return "less than 0.001" }
        let text = "\((value * 1000).rounded() / 1000)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
