/// The way in which pictures are fitted into a frame of another shape.
public enum FrameFit: String, Sendable, Hashable, CaseIterable {
    /// Shows the whole picture, with black bars.
    case letterbox
    /// Shows the middle of the picture, which fills the frame.
    case crop
    /// Shows the whole picture, stretched to the frame's shape.
    case stretch
}

/// The visible part of a picture, and its area in a picture of another size. Corners have even coordinates.
package struct FittedParts: Sendable, Hashable {
    /// The part of the source, or nil for all of it.
    package let source: VideoRectangle?
    /// The area in the output, surrounded by black bars, or nil for all of the output.
    package let target: VideoRectangle?

    /// The whole source, in the whole output.
    package static let whole = FittedParts(source: nil, target: nil)

    private init(source: VideoRectangle?, target: VideoRectangle?) { (self.source, self.target) = (source, target) }

    /// Calculates the parts for a source and an output size.
    ///
    /// - Parameter aspect: The sample aspect ratio of the source (nil: 1:1). That of the output is 1:1. `letterbox` and
    ///   `crop` keep the shape of the visible part.
    package init(_ size: VideoSize, aspect: Rational?, in output: VideoSize, _ fit: FrameFit) {
        // The source's ratio of width to height, in square samples.
        let shape = Double(size.width) * (aspect?.value ?? 1) / Double(size.height)
        let target = Double(output.width) / Double(output.height)
        switch fit {
        case .stretch: self = .whole
        case .letterbox:
            let width = shape >= target ? output.width : Self.even(Double(output.height) * shape, output.width)
            let height = shape >= target ? Self.even(Double(output.width) / shape, output.height) : output.height
            self.init(source: nil, target: Self.centered(VideoSize(width: width, height: height), in: output))
        case .crop:
            let share = target / shape
            let width = share < 1 ? Self.even(Double(size.width) * share, size.width) : size.width
            let height = share > 1 ? Self.even(Double(size.height) / share, size.height) : size.height
            self.init(source: Self.centered(VideoSize(width: width, height: height), in: size), target: nil)
        }
    }

    /// Returns the nearest even number, at least 2 (or the limit) and at most `limit`.
    private static func even(_ value: Double, _ limit: Int) -> Int {
        min(limit, max(min(2, limit), Int(clamping: min((value / 2).rounded(), 1e15)) * 2))
    }

    /// Returns the rectangle in the middle of `whole`, or nil if it covers `whole`.
    private static func centered(_ size: VideoSize, in whole: VideoSize) -> VideoRectangle? {
        if size == whole { return nil }
        return VideoRectangle(
            x: (whole.width - size.width) / 4 * 2, y: (whole.height - size.height) / 4 * 2, width: size.width,
            height: size.height)
    }
}
