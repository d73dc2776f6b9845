import Synchronization
package import LibAV
package import VAAPI
package import VideoBase

/// Scales decoded pictures on their device: the video processor draws them into surfaces of another size. One thread at
/// a time may scale; any thread may release surfaces.
package final class DeviceScaler: Sendable {
    /// The properties of the scaled pictures.
    package struct Output: Sendable, Hashable {
        /// The visible size.
        package var size: VideoSize
        /// The size of the surfaces, which may be larger.
        package var surface: VideoSize
        package var format: PixelFormat
        /// The color description of the input and output: it does not change.
        package var color: ColorDescription

        package init(size: VideoSize, surface: VideoSize, format: PixelFormat, color: ColorDescription) {
            (self.size, self.surface, self.format, self.color) = (size, surface, format, color)
        }

        /// Returns the region of the surface that a part of the output covers. Encoders code even sizes. If the region
        /// ends at an odd edge of the picture, it is extended by one column or row to avoid a black line.
        fileprivate func region(_ part: VideoRectangle?) -> VideoRectangle {
            var region = part ?? VideoRectangle(size)
            if region.x + region.width == size.width { region.width = min(size.width.aligned(to: 2), surface.width) - region.x }
            if region.y + region.height == size.height { region.height = min(size.height.aligned(to: 2), surface.height) - region.y }
            return region
        }
    }

    package let device: DecodeDevice
    private let output: Output
    private let processor: VideoProcessor
    private let pool = Pool()

    /// - Throws: `unavailable` if the device has no video processor, or none for this size; errors of the device.
    package init(_ device: DecodeDevice, _ output: Output) throws {
        let display = device.display
        self.device = device
        self.output = output
        processor = try display.watch.run("creating the video processor", on: "\(output.size) pictures", scale: .setUp) {
            guard try VideoProcessor.isOffered(by: display) else {
                throw VaencError(.unavailable, "\(display.vendor) has no video processor")
            }
            return try VideoProcessor(display, size: output.surface)
        }
        guard processor.surfaces.allows(output.surface) else {
            throw VaencError(
                .unavailable, "the video processor of \(display.vendor) does not support pictures of \(output.size)")
        }
    }

    deinit { pool.free.withLock { $0 = nil } }

    /// Free surfaces; nil after the scaler is released.
    private final class Pool: Sendable {
        let free = Mutex<[Surface]?>([])
    }

    /// A surface from the pool, and the picture that was drawn into it. The retained picture counts as in use, so the
    /// number of loans is limited. A loan does not retain the scaler, so the scaler is released with its owner.
    private final class PooledPicture: Sendable {
        private let pool: Pool
        private let surface: Surface
        private let picture: DecodedPicture

        init(_ pool: Pool, surface: Surface, picture: DecodedPicture) {
            (self.pool, self.surface, self.picture) = (pool, surface, picture)
        }

        deinit { pool.free.withLock { $0?.append(surface) } }
    }

    /// Returns the picture in an output surface; nil for a picture in memory. Blocks until the picture is drawn.
    ///
    /// - Throws: Errors of the device.
    package func scale(_ picture: DecodedPicture, _ parts: FittedParts) throws -> SurfaceBuffer? {
        guard let source = try device.buffer(of: picture) else { return nil }
        let (display, output, processor) = (device.display, output, processor)
        let known = pool.free.withLock { $0?.popLast() }
        let target = try display.watch.run("vaEndPicture", on: "a picture to be scaled", scale: .wait) {
            let target =
                try known
                ?? Surface.make(
                    display, count: 1, size: output.surface, format: output.format, usage: [.processingOutput, .encoder])[0]
            var part = parts.source ?? VideoRectangle(source.size)
            (part.x, part.y) = (part.x + source.visible.x, part.y + source.visible.y)
            var parameters = ProcessingParameters(
                source: source.surface, sourceRegion: part, targetRegion: output.region(parts.target))
            (parameters.sourceColor, parameters.targetColor) = (output.color, output.color)
            try processor.process(parameters, into: target)
            try target.sync(timeoutNanoseconds: display.watch.limitNanoseconds)
            return target
        }
        return try SurfaceBuffer(
            surface: target, visible: output.size, color: output.color,
            owner: PooledPicture(pool, surface: target, picture: picture))
    }
}
