public import VideoBase

/// Converts pictures between any two pixel formats, sizes included, with our own kernels where there is one and
/// libswscale otherwise. One thread at a time.
public final class PixelConverter {
    private let color: ColorDescription

    /// `color` describes the source; the range and matrix are kept (RGB becomes limited BT.601 or BT.709 by height
    /// where it says nothing).
    public init(color: ColorDescription = .unspecified) { self.color = color }

    /// Writes the picture of `source` to `destination`, stretched where the sizes differ.
    public func convert(_ source: PixelPlanes, to destination: PixelPlanes) throws {
        throw VaencError(.unavailable, "pixel conversion is not built yet")
    }
}
