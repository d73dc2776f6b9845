/// The ranges of options that are no settings of an encoder. `SettingRange` has the others. Help, checks and errors use
/// the same range.
enum OptionRange {
    static let captureInput = 0...63
    static let benchFrames = 1...100_000
}

extension ClosedRange<Int> {
    /// The range as text, such as `0 to 51`.
    var words: String { "\(lowerBound) to \(upperBound)" }
}
