package import VAAPI
package import VideoBase

/// Writes pictures of the program's memory into surfaces that a device's video processor reads.
package final class SurfaceUpload: Sendable {
    /// The display of the surfaces.
    package let display: Display
    /// The size of the pictures.
    package let size: VideoSize
    /// NV12 or P010.
    package let format: PixelFormat
    private let pool: InputPool

    /// The number of surfaces. A picture is free again when the processor has read it.
    private static let count = 2

    /// Creates the surfaces. Blocks while the driver works.
    ///
    /// - Throws: Errors of the device.
    package init(_ display: Display, size: VideoSize, format: PixelFormat) throws {
        (self.display, self.size, self.format) = (display, size, format)
        let surfaces = try display.watch.run("vaCreateSurfaces", on: "\(Self.count) surfaces", scale: .setUp) {
            try Surface.make(display, count: Self.count, size: size.aligned(to: 16), format: format)
        }
        pool = InputPool(surfaces, visible: size)
    }

    deinit { pool.close(EncodePipeline.closed) }

    /// Returns a picture in a surface. Blocks while all surfaces are in use.
    ///
    /// - Parameter write: Writes the picture into the planes, whose visible size is `size`.
    /// - Throws: Errors of the device and of `write`.
    package func upload(_ write: (PixelPlanes) throws -> Void) throws -> SurfaceBuffer {
        let loan = SurfaceLoan(try pool.take(on: display), of: pool)
        try unsafe loan.surface.withUnsafePlanes(.write, visible: size) { unsafe try write($0) }
        return try SurfaceBuffer(surface: loan.surface, visible: size, owner: loan)
    }
}
