public import VideoBase

/// A conversion of YUV samples from one range and matrix to another.
public struct ColorConversion: Sendable, Hashable {
    /// The description of the samples as they are.
    public let source: ColorDescription
    /// The description of the samples after the conversion.
    public let target: ColorDescription

    /// Returns nil if the ranges and the matrices agree. A matrix that a clip does not state agrees with every other, and
    /// so do the two names of BT.601's (5 and 6).
    init?(from source: ColorDescription, to reference: ColorDescription) {
        func known(_ color: ColorDescription) -> UInt8? { color.knownMatrix.map { $0 == 5 ? 6 : $0 } }
        let matrixDiffers = known(source).flatMap { from in known(reference).map { $0 != from } } ?? false
        let rangeDiffers = (source.fullRange == true) != (reference.fullRange == true)
        guard matrixDiffers || rangeDiffers else { return nil }
        var target = source
        target.fullRange = reference.fullRange == true
        if matrixDiffers { target.matrix = reference.matrix }
        self.source = source
        self.target = target
    }

    /// What is converted, for people: `full range to limited range`.
    public var words: String {
        func range(_ color: ColorDescription) -> String { color.fullRange == true ? "full range" : "limited range" }
        var parts: [String] = []
        if (source.fullRange == true) != (target.fullRange == true) { parts.append("\(range(source)) to \(range(target))") }
        if source.matrix != target.matrix { parts.append("matrix \(source.matrix) to \(target.matrix) of ITU-T H.273") }
        return parts.joined(separator: ", ")
    }
}
