public import VideoBase

extension SourceInfo {
    /// The name of a changed playing speed among `changes`.
    public static let speedOption = "speed"

    /// The playing speed, where the frames of the input are shown at another rate than its own.
    public var speedChange: EffectiveEntry? { changes.first { $0.option == Self.speedOption } }

    /// The change of speed where frames of a rate are given the times of another; nil where it stays.
    static func speedChange(from own: Rational?, to asked: Rational?, varies: Bool = false) -> EffectiveEntry? {
        guard let own, let asked, own.value > 0 else { return nil }
        let speed = asked.value / own.value
        // 29.97 is written for 30000/1001.
        if abs(speed - 1) < 1e-4 { return nil }
        let mean = varies ? " (their mean)" : ""
        return EffectiveEntry(
            option: speedOption, asked: "1x", used: "\(number(speed))x",
            why: "the input's \(number(own.value)) frames per second\(mean) are shown at \(number(asked.value))")
    }

    /// With three places at most, and none that are zero.
    private static func number(_ value: Double) -> String {
        if value > 0, value < 0.0005 { return "less than 0.001" }
        let text = "\((value * 1000).rounded() / 1000)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
