internal import CVA
internal import Synchronization
package import VideoBase

/// A device's unit that scales and converts pictures: VAEntrypointVideoProc.
package final class VideoProcessor: Sendable {
    package let display: Display
    /// What it reads and writes.
    package let surfaces: SurfaceCapabilities
    private let context: Context
    /// One picture at a time is made in a context.
    private let making = Mutex(())

    /// Whether the device has one.
    package static func isOffered(by display: Display) throws(VAError) -> Bool {
        try display.entryPoints(of: .none).contains(.videoProcessing)
    }

    /// - Parameter size: of the pictures to be made, as some drivers want to know.
    /// - Throws: `VAError`: `.unavailable` where the device has none.
    package init(_ display: Display, size: VideoSize) throws {
        let config = try Config(display, profile: .none, entryPoint: .videoProcessing)
        self.display = display
        surfaces = try config.surfaceCapabilities()
        context = try Context(config, size: size)
    }

    /// Hands a picture to the device, which makes `target` of it on its own: calls on that surface wait for it.
    ///
    /// - Throws: `VAError` where the driver refuses.
    package func process(_ parameters: ProcessingParameters, into target: Surface, frame: Int? = nil) throws {
        try making.withLock { _ in
            var picture = Picture(begin: context, on: target, frame: frame)
            try picture.render(parameters)
            try picture.end()
        }
    }
}
