package import VideoBase

extension Surface {
    /// What the caller does with the mapped samples.
    package enum Access: Sendable {
        case read
        /// What is not written is undefined afterwards.
        case write
        case readWrite

        var reads: Bool { self != .write }
        var writes: Bool { self != .read }
    }

    /// Maps the surface's planes while `body` runs.
    ///
    /// The surface's own memory is mapped where the driver can (vaDeriveImage in the surface's format); otherwise an
    /// image is filled (vaGetImage, for reading) and put back (vaPutImage, for writing).
    ///
    /// - Parameter visible: the part that is to be seen; nil for all of the surface.
    package func withUnsafePlanes<R>(
        _ access: Access = .write, visible: VideoSize? = nil, _ body: (PixelPlanes) throws -> R
    ) throws -> R {
        var image = try Image.mapped(self, access)
        let result = unsafe try image.withUnsafePlanes(visible: visible ?? size, body)
        if access.writes { try image.putBack() }
        return result
    }
}
