import VideoBase

/// The ranges of options that take an integer. Help, checks and errors use the same range.
enum OptionRange {
    static let qp = 0...51
    static let quality = 1...51
    static let percent = 0...100
    static let frameBytes = Validation.frameBytes
    static let sliceBytes = Validation.sliceBytes
    static let preset = 1...7
    static let gop = 1...1_000_000
    static let idrInterval = 1...10_000
    static let bFrames = 0...7
    static let references = 1...16
    static let slices = 1...4096
    static let temporalLayers = 1...4
    static let longTermReferences = 0...15
    static let asyncDepth = 1...64
    static let frameDelay = 0...64
    static let deblocking = -6...6
    static let qpDelta = -51...51
    static let captureInput = 0...63
    static let benchFrames = 1...100_000
}

extension ClosedRange<Int> {
    /// The range as text, such as `0 to 51`.
    var words: String { "\(lowerBound) to \(upperBound)" }
}
