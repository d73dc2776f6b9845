/// A picture's width and height in luma samples.
public struct VideoSize: Sendable, Hashable, Codable, CustomStringConvertible {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Reads `WIDTHxHEIGHT` (also with `×`); nil unless both are positive integers.
    public init?(_ text: some StringProtocol) {
        let parts = text.lowercased().replacing("×", with: "x").split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]), width > 0, height > 0 else {
            return nil
        }
        self.init(width: width, height: height)
    }

    /// Both sides rounded up to a multiple of `alignment` (a positive number).
    public func aligned(to alignment: Int) -> VideoSize {
        VideoSize(width: width.aligned(to: alignment), height: height.aligned(to: alignment))
    }

    /// The sides exchanged: the size of the picture on its side.
    package var turned: VideoSize { VideoSize(width: height, height: width) }

    public var description: String { "\(width)×\(height)" }
}

/// A rectangle in luma samples, origin at the top left.
public struct VideoRectangle: Sendable, Hashable, Codable {
    public var x: Int
    public var y: Int
    public var width: Int
    public var height: Int

    public init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// All of a picture of that size.
    package init(_ size: VideoSize) { self.init(x: 0, y: 0, width: size.width, height: size.height) }
}

extension Int {
    /// The value rounded up to a multiple of `alignment`, and down where none above fits; the value itself where `alignment`
    /// is below 2.
    public func aligned(to alignment: Int) -> Int {
        guard alignment > 1 else { return self }
        let (sum, overflows) = addingReportingOverflow(alignment - 1)
        return (overflows ? self : sum) / alignment * alignment
    }

    /// The product, or the nearest value to it.
    package func multipliedSaturating(by other: Int) -> Int {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// The sum, or the nearest value to it.
    package func addingSaturating(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
