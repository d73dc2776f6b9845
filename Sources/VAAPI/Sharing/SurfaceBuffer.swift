package import VideoBase

/// A picture in device memory: decoded, imported or processed on the device.
///
/// An encoder on the same display uses the surface directly if its size and format match, and keeps the buffer until it
/// is done with it.
package final class SurfaceBuffer: PixelBuffer {
    package let surface: Surface
    /// The visible part, in luma samples of the surface.
    package let visible: VideoRectangle
    /// The area of the encoder's picture that this picture fills, or nil for the whole area. If the shapes differ, nil
    /// adds bars.
    package let placement: VideoRectangle?
    /// The color description. The device decides unspecified values.
    package let color: ColorDescription
    /// The mapping in which the picture was drawn; nil if the picture is complete on the device.
    private let drawing: SharedMapping?
    /// The owner of the surface. It is released when nobody uses the picture any more.
    private let owner: (any AnyObject & Sendable)?

    /// Creates a buffer from a surface.
    ///
    /// - Parameters:
    ///   - surface: The surface. It may still be written by work that was submitted to the device: calls on the surface
    ///     wait for that work.
    ///   - visible: The size of the visible part.
    ///   - offset: The position of the visible part. Both coordinates must be even.
    ///   - placement: The area of the encoder's picture that this picture fills, at even coordinates.
    ///   - mapping: The mapping in which the picture was drawn, or nil if the picture is complete on the device.
    ///   - owner: An object that is kept alive as long as the buffer, such as a decoder's picture that returns to its
    ///     pool.
    /// - Throws: A `VaencError` of category `.usage` if the visible part exceeds the surface or its position is
    ///   invalid.
    package init(
        surface: Surface, visible: VideoSize, offset: (x: Int, y: Int) = (0, 0),
        placement: VideoRectangle? = nil, color: ColorDescription = .unspecified,
        mapping: SurfaceMapping? = nil, owner: (any AnyObject & Sendable)? = nil
    ) throws {
        guard visible.width > 0, visible.height > 0, offset.x >= 0, offset.y >= 0, offset.x & 1 == 0, offset.y & 1 == 0,
            visible.width <= surface.size.width - offset.x, visible.height <= surface.size.height - offset.y
        else {
            throw VaencError(
                .usage, "a picture of \(visible) at \(offset.x),\(offset.y) is outside the surface of \(surface.size)")
        }
        self.surface = surface
        self.visible = VideoRectangle(x: offset.x, y: offset.y, width: visible.width, height: visible.height)
        self.placement = placement
        self.color = color
        drawing = surface.isInUserMemory ? nil : mapping.map(SharedMapping.init)
        self.owner = owner
    }

    /// Whether the drawn samples may not have reached the surface.
    package var isLost: Bool { drawing?.isLost ?? false }

    /// Passes drawn samples to the surface, so that the device can read them. Call it before each use by the device.
    ///
    /// - Throws: A `VAError` if the device fails.
    package func finishDrawing() throws { try drawing?.end() }

    package var format: PixelFormat { surface.format }
    package var size: VideoSize { VideoSize(width: visible.width, height: visible.height) }

    /// Calls `body` with the planes for reading. Waits for the device's work on the surface. Samples that `body` writes
    /// may be lost.
    package func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        if let drawing, let result = unsafe try drawing.read({ unsafe try body($0.cropped(to: visible)) }) { return result }
        return unsafe try surface.withUnsafePlanes(.read) { planes in unsafe try body(planes.cropped(to: visible)) }
    }
}

extension PixelPlanes {
    /// Returns the planes of a part of the picture. The part's left and upper edges must lie on the chroma grid.
    fileprivate func cropped(to part: VideoRectangle) -> PixelPlanes {
        var planes = unsafe self
        let format = unsafe self.format
        func moved(_ plane: Int) -> UnsafeMutableRawPointer? {
            guard plane < format.planeCount else { return nil }
            let row = format.rows(plane: plane, height: part.y)
            return unsafe base(plane) + row * pitch(plane) + format.rowBytes(plane: plane, width: part.x)
        }
        unsafe planes.bases = unsafe (moved(0), moved(1), moved(2))
        unsafe planes.size = VideoSize(width: part.width, height: part.height)
        unsafe planes.allocatedSize = VideoSize(
            width: allocatedSize.width - part.x, height: allocatedSize.height - part.y)
        return unsafe planes
    }
}
