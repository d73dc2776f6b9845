import Synchronization
package import VAAPI
package import VideoBase

/// Scales and converts pictures of a device for encoders of another size or format: the device's video processor writes
/// them into surfaces that these encoders read. No sample leaves the device.
///
/// One surface serves all encoders of a size and format. It returns to the scaler when the last of them is done with it.
package final class SurfaceScaler: Sendable {
    /// The properties of the scaled pictures.
    package struct Output: Sendable, Hashable {
        /// The visible size. The whole visible part of a source is scaled to it.
        package var visible: VideoSize
        /// The size of a surface in luma samples, at least the coded size of each encoder that reads it.
        package var surface: VideoSize
        /// NV12 or P010.
        package var format: PixelFormat
        /// The number of surfaces. It must be at least the number of input surfaces of each encoder that reads them:
        /// see `InputSurfaces.count`.
        package var count: Int

        package init(visible: VideoSize, surface: VideoSize, format: PixelFormat, count: Int) {
            (self.visible, self.surface, self.format, self.count) = (visible, surface, format, count)
        }

        /// The area of a surface that the picture covers. Encoders code even sizes. An odd side is extended by one column
        /// or row, which decoders show too.
        fileprivate var area: VideoRectangle {
            let size = visible.aligned(to: 2)
            return VideoRectangle(x: 0, y: 0, width: min(size.width, surface.width), height: min(size.height, surface.height))
        }
    }

    /// The display of the sources and of the scaled pictures.
    package let display: Display
    package let output: Output
    private let color: ColorDescription
    private let processor: VideoProcessor
    private let pool: InputPool

    /// Creates the video processor and its surfaces. Blocks while the driver works.
    ///
    /// - Parameter color: The color description of the sources and of the scaled pictures. It is not changed.
    /// - Throws: `unavailable` if the device has no video processor, or none for this size and format; errors of the
    ///   device.
    package init(_ display: Display, _ output: Output, color: ColorDescription) throws {
        self.display = display
        self.output = output
        self.color = color.withMatrix
        let (processor, surfaces) = try display.watch.run("creating the video processor", on: "\(output.visible) pictures", scale: .setUp) {
            guard try VideoProcessor.isOffered(by: display) else {
                throw VaencError(.unavailable, "\(display.vendor) has no video processor")
            }
            let processor = try VideoProcessor(display, size: output.surface)
            guard processor.surfaces.allows(output.surface), processor.takes(output.format) else {
                throw VaencError(
                    .unavailable,
                    "the video processor of \(display.vendor) does not support \(output.format.rawValue) pictures of \(output.visible)")
            }
            let surfaces = try Surface.make(
                display, count: output.count, size: output.surface, format: output.format, usage: [.processingOutput, .encoder])
            return (processor, surfaces)
        }
        self.processor = processor
        pool = InputPool(surfaces, visible: output.visible)
    }

    deinit { pool.close(EncodePipeline.closed) }

    /// Checks that the video processor can read a surface.
    ///
    /// - Throws: `unavailable` with the reason.
    package func check(_ source: Surface) throws {
        let name = "the video processor of \(display.vendor)"
        guard source.display === display else {
            throw VaencError(.unavailable, "the picture is on another connection to the device")
        }
        guard processor.surfaces.allows(source.size), processor.takes(source.format) else {
            throw VaencError(.unavailable, "\(name) does not read \(source.format.rawValue) pictures of \(source.size)")
        }
        guard !source.isInUserMemory || processor.surfaces.memoryTypes.contains(.userPointer) else {
            throw VaencError(.unavailable, "\(name) does not read the program's memory")
        }
    }

    /// Submits a picture to the video processor. Blocks while all surfaces are in use.
    ///
    /// The source must not change before `Picture.finish` has returned, which the result ensures: it keeps the source.
    ///
    /// - Throws: The errors of `check`, and errors of the device. The source is then unchanged.
    package func start(_ source: SurfaceBuffer) throws -> Picture {
        try check(source.surface)
        let target = SurfaceLoan(try pool.take(on: display), of: pool)
        var parameters = ProcessingParameters(source: source.surface, sourceRegion: source.visible, targetRegion: output.area)
        (parameters.sourceColor, parameters.targetColor) = (color, color)
        try source.finishDrawing()
        try display.watch.run("vaEndPicture", on: "a picture to be scaled") { [processor, parameters] in
            try processor.process(parameters, into: target.surface)
        }
        return Picture(of: source, into: target, output, color: color)
    }

    /// A picture that the video processor is writing. It keeps the source until the picture is written.
    package final class Picture: Sendable {
        private let source: SurfaceBuffer
        private let target: SurfaceLoan
        private let output: Output
        private let color: ColorDescription
        private let isWritten = Mutex(false)

        fileprivate init(of source: SurfaceBuffer, into target: SurfaceLoan, _ output: Output, color: ColorDescription) {
            (self.source, self.target, self.output, self.color) = (source, target, output, color)
        }

        deinit { if !isWritten.withLock({ $0 }) { try? wait() } }

        /// Returns the scaled picture. Blocks until the video processor has written it; the source is then no longer
        /// used.
        ///
        /// - Throws: Errors of the device.
        package func finish() throws -> SurfaceBuffer {
            isWritten.withLock { $0 = true }
            try wait()
            return try SurfaceBuffer(surface: target.surface, visible: output.visible, color: color, owner: target)
        }

        private func wait() throws {
            let surface = target.surface
            let watch = surface.display.watch
            try watch.run("vaSyncSurface2", on: "a scaled picture", scale: .wait) {
                try surface.sync(timeoutNanoseconds: watch.limitNanoseconds)
            }
        }
    }
}

extension VideoProcessor {
    /// Whether the processor reads and writes a format. A driver that reports no formats is expected to.
    fileprivate func takes(_ format: PixelFormat) -> Bool {
        surfaces.pixelFormats.isEmpty || FourCC(format).map(surfaces.pixelFormats.contains) ?? false
    }
}

extension ColorDescription {
    /// The description with a matrix that VA-API has. A driver could assume different matrices for a large and a small
    /// picture if none is stated, and convert the colors.
    fileprivate var withMatrix: ColorDescription {
        var color = self
        color.matrix = knownMatrix ?? 6
        return color
    }
}
