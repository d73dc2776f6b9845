package import VideoBase

/// A picture that is on the device already: decoded, imported or processed there.
///
/// An encoder on the same display takes the surface itself, where size and format fit, and holds the buffer until it is
/// done with it.
package final class SurfaceBuffer: PixelBuffer {
    package let surface: Surface
    /// The part that is to be seen, in luma samples of the surface.
    package let visible: VideoRectangle
    /// Where the picture stands in the encoder's; nil for all of it, or, of another shape, within bars.
    package let placement: VideoRectangle?
    /// What samples mean; where nothing is said, the device decides.
    package let color: ColorDescription
    /// What the surface belongs to, told by being freed that nobody uses the picture any more.
    private let owner: (any AnyObject & Sendable)?

    /// - Parameters:
    ///   - surface: complete, or being written by work that was submitted to the device: calls on the surface wait for it.
    ///   - visible: the size of the part that is to be seen.
    ///   - offset: where that part begins: even columns and rows for 4:2:0.
    ///   - placement: where the picture stands in the encoder's, on even columns and rows.
    ///   - owner: kept as long as the buffer: a decoder's picture, which goes back to its pool.
    /// - Throws: `VaencError` of `.usage` where that part is not in the surface.
    package init(
        surface: Surface, visible: VideoSize, offset: (x: Int, y: Int) = (0, 0),
        placement: VideoRectangle? = nil, color: ColorDescription = .unspecified,
        owner: (any AnyObject & Sendable)? = nil
    ) throws {
        guard visible.width > 0, visible.height > 0, offset.x >= 0, offset.y >= 0, offset.x & 1 == 0, offset.y & 1 == 0,
            visible.width <= surface.size.width - offset.x, visible.height <= surface.size.height - offset.y
        else {
            throw VaencError(
                .usage, "a picture of \(visible) at \(offset.x),\(offset.y) is not in a surface of \(surface.size)")
        }
        self.surface = surface
        self.visible = VideoRectangle(x: offset.x, y: offset.y, width: visible.width, height: visible.height)
        self.placement = placement
        self.color = color
        self.owner = owner
    }

    package var format: PixelFormat { surface.format }
    package var size: VideoSize { VideoSize(width: visible.width, height: visible.height) }

    /// Maps the planes for reading: what is written there may be lost. Waits for the device's work on the surface.
    package func withUnsafePlanes<R>(_ body: (PixelPlanes) throws -> R) throws -> R {
        unsafe try surface.withUnsafePlanes(.read) { planes in unsafe try body(planes.cropped(to: visible)) }
    }
}

extension PixelPlanes {
    /// The planes of a part of the picture, whose left and upper edge stand on the chroma grid.
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
