internal import CVA
internal import Synchronization
package import VideoBase

/// A device's unit that scales and converts pictures: VAEntrypointVideoProc.
package final class VideoProcessor: Sendable {
    package let display: Display
    /// The surfaces that the processor can read and write.
    package let surfaces: SurfaceCapabilities
    private let context: Context
    /// Ensures that the context builds one picture at a time.
    private let making = Mutex(())

    /// Whether the device has a video processor.
    package static func isOffered(by display: Display) throws(VAError) -> Bool {
        try display.entryPoints(of: .none).contains(.videoProcessing)
    }

    /// Creates a video processor.
    ///
    /// - Parameter size: The size of the target pictures, which some drivers need.
    /// - Throws: A `VAError`: `.unavailable` if the device has no video processor.
    package init(_ display: Display, size: VideoSize) throws {
        let config = try Config(display, profile: .none, entryPoint: .videoProcessing)
        self.display = display
        surfaces = try config.surfaceCapabilities()
        context = try Context(config, size: size)
    }

    /// Submits a picture to the device, which writes `target` asynchronously. Later calls on that surface wait for it.
    ///
    /// - Throws: A `VAError` if the driver rejects the picture.
    package func process(_ parameters: ProcessingParameters, into target: Surface, frame: Int? = nil) throws {
        try making.withLock { _ in
            var picture = Picture(begin: context, on: target, frame: frame)
            try picture.render(parameters)
            try picture.end()
        }
    }
}
