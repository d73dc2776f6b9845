import Synchronization
package import LibAV
package import VAAPI
package import VideoBase

/// Brings decoded pictures to another size where they lie: the device's video processor draws them into surfaces of that
/// size. One thread at a time asks; surfaces come back on any.
package final class DeviceScaler: Sendable {
    /// What comes out.
    package struct Output: Sendable, Hashable {
        /// What is to be seen.
        package var size: VideoSize
        /// Of the surfaces, which may be larger.
        package var surface: VideoSize
        package var format: PixelFormat
        /// Of the pictures that come in, too: it is kept.
        package var color: ColorDescription

        package init(size: VideoSize, surface: VideoSize, format: PixelFormat, color: ColorDescription) {
            (self.size, self.surface, self.format, self.color) = (size, surface, format, color)
        }

        /// Where the picture is drawn, for a part of the output. Encoders code even sides: what reaches an odd one's edge goes
        /// on to the next column or row, where there would be a black line.
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

    /// - Throws: `unavailable` where the device has no video processor, or none for that size; what making one fails with.
    package init(_ device: DecodeDevice, _ output: Output) throws {
        let display = device.display
        self.device = device
        self.output = output
        processor = try display.watch.run("making the video processor", "\(output.size) pictures", .setUp) {
            guard try VideoProcessor.isOffered(by: display) else {
                throw VaencError(.unavailable, "\(display.vendor) has no video processor")
            }
            return try VideoProcessor(display, size: output.surface)
        }
        guard processor.surfaces.allows(output.surface) else {
            throw VaencError(.unavailable, "\(display.vendor) makes no pictures of \(output.size)")
        }
    }

    deinit { pool.free.withLock { $0 = nil } }

    /// Surfaces to be drawn into again; nil when nobody will.
    private final class Pool: Sendable {
        let free = Mutex<[Surface]?>([])
    }

    /// A surface out of the pool, and the picture that was drawn into it: as many are kept as the decoder has surfaces for.
    /// It keeps no scaler, which goes when its owner does.
    private final class Loan: Sendable {
        private let pool: Pool
        private let surface: Surface
        private let picture: DecodedPicture

        init(_ pool: Pool, _ surface: Surface, _ picture: DecodedPicture) {
            (self.pool, self.surface, self.picture) = (pool, surface, picture)
        }

        deinit { pool.free.withLock { $0?.append(surface) } }
    }

    /// The picture in a surface of the output's; nil of a picture in memory. Waits until it is drawn.
    ///
    /// - Throws: what the device fails with.
    package func scale(_ picture: DecodedPicture, _ parts: FittedParts) throws -> SurfaceBuffer? {
        guard let source = try device.buffer(of: picture) else { return nil }
        let (display, output, processor) = (device.display, output, processor)
        let known = pool.free.withLock { $0?.popLast() }
        let target = try display.watch.run("vaEndPicture", "a picture to be scaled", .wait) {
            let target = try known ?? Surface.make(
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
            surface: target, visible: output.size, color: output.color, owner: Loan(pool, target, picture))
    }
}
