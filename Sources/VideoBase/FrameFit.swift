/// How pictures are brought to another shape.
public enum FrameFit: String, Sendable, Hashable, CaseIterable {
    /// The whole picture, with black bars.
    case letterbox
    /// The middle of the picture, filling the frame.
    case crop
    /// The whole picture, its shape changed.
    case stretch
}

/// What of a picture is shown, and where it stands in one of another size. Corners are on even columns and rows.
package struct FittedParts: Sendable, Hashable {
    /// Of the source; nil: all of it.
    package let source: VideoRectangle?
    /// Of the output, black bars around it; nil: all of it.
    package let target: VideoRectangle?

    /// All of the one in all of the other.
    package static let whole = FittedParts(source: nil, target: nil)

    private init(source: VideoRectangle?, target: VideoRectangle?) { (self.source, self.target) = (source, target) }

    /// - Parameter aspect: the source's sample aspect ratio (nil: 1:1); the output's is 1:1. Letterbox and crop keep the
    ///   shape of what is shown.
    package init(_ size: VideoSize, aspect: Rational?, in output: VideoSize, _ fit: FrameFit) {
        // The source's shape in square samples, as width over height.
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

    /// Nearest even number, at least 2 (or the limit), at most `limit`.
    private static func even(_ value: Double, _ limit: Int) -> Int {
        min(limit, max(min(2, limit), Int(saturating: min((value / 2).rounded(), 1e15)) * 2))
    }

    /// In the middle; nil where it covers everything.
    private static func centered(_ size: VideoSize, in whole: VideoSize) -> VideoRectangle? {
        if size == whole { return nil }
        return VideoRectangle(
            x: (whole.width - size.width) / 4 * 2, y: (whole.height - size.height) / 4 * 2, width: size.width,
            height: size.height)
    }
}
