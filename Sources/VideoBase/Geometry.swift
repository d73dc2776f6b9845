/// A width and height in luma samples.
public struct VideoSize: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The width in luma samples.
    public var width: Int
    /// The height in luma samples.
    public var height: Int

    /// Creates a size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Parses `WIDTHxHEIGHT` (also with `×`). Returns nil unless both are positive integers.
    public init?(_ text: some StringProtocol) {
        let parts = text.lowercased().replacing("×", with: "x").split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]), width > 0, height > 0 else {
            return nil
        }
        self.init(width: width, height: height)
    }

    /// Returns the size with both sides rounded up to a multiple of `alignment`, a positive number.
    public func aligned(to alignment: Int) -> VideoSize {
        VideoSize(width: width.aligned(to: alignment), height: height.aligned(to: alignment))
    }

    /// The size with the sides exchanged, for a picture that is rotated by 90 degrees.
    package var turned: VideoSize { VideoSize(width: height, height: width) }

    /// The size as text: `1920×1080`.
    public var description: String { "\(width)×\(height)" }
}

/// A rectangle in luma samples, with the origin at the top left.
public struct VideoRectangle: Sendable, Hashable, Codable {
    /// The left edge in luma samples.
    public var x: Int
    /// The top edge in luma samples.
    public var y: Int
    /// The width in luma samples.
    public var width: Int
    /// The height in luma samples.
    public var height: Int

    /// Creates a rectangle.
    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// Creates the rectangle that covers a whole picture of this size.
    package init(_ size: VideoSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }
}

extension Int {
    /// Returns the value rounded up to a multiple of `alignment`. If that would overflow, the value is rounded down. If
    /// `alignment` is below 2, the value is returned unchanged.
    package func aligned(to alignment: Int) -> Int {
        guard alignment > 1 else { return self }
        let (sum, overflows) = addingReportingOverflow(alignment - 1)
        return (overflows ? self : sum) / alignment * alignment
    }

    /// Returns the product, or the nearest representable value.
    package func multipliedSaturating(by other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// Returns the sum, or the nearest representable value.
    package func addingSaturating(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
