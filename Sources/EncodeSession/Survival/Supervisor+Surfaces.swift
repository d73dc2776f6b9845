import Synchronization
import VAAPI
import VideoBase

extension Supervisor {
    /// The frame in a surface that the caller brought on the session's own display: as it is where it fits, else made to
    /// fit by the device's video processor. nil where it must be copied.
    ///
    /// - Throws: where the picture neither fits nor can be copied.
    func frame(
        on brought: SurfaceBuffer, timing: FrameTiming, options: FrameOptions, taken: ContinuousClock.Instant
    ) throws -> TakenFrame? {
        guard brought.surface.display === display else { return nil }
        if fits(brought) {
            return TakenFrame(
                index: 0, input: InputSurface(surface: brought.surface), pool: nil, source: brought, timing: timing,
                taken: taken, options: options)
        }
        do {
            guard let (input, pool) = try processed(brought) else { return nil }
            return TakenFrame(
                index: 0, input: input, pool: pool, source: brought, timing: timing, taken: taken, options: options)
        } catch where (try? check(brought)) != nil {
            return nil
        }
    }

    /// Whether the encoder can read the surface itself.
    private func fits(_ brought: SurfaceBuffer) -> Bool {
        let (coded, surface) = (settings.grid.coded, brought.surface.size.aligned(to: 16))
        return brought.format == settings.pixelFormat && brought.size == settings.inputSize
            && brought.visible.x == 0 && brought.visible.y == 0 && brought.placement == nil
            && surface.width >= coded.width && surface.height >= coded.height
    }

    /// The picture in a surface of the pool; nil where the device has no processor. Blocks while all surfaces are in use.
    private func processed(_ brought: SurfaceBuffer) throws -> (InputSurface, InputPool)? {
        let display = brought.surface.display
        let size = settings.inputSize
        guard let processor = fitting.withLock({ $0.processor(display, size: size) }) else { return nil }
        var contents = try makeBuffer().takeContents()
        do {
            guard contents.input.surface.display === display else { throw EncodePipeline.closed }
            try contents.input.mapping?.end()
            contents.input.mapping = nil
            let place = brought.placement ?? FittedParts(brought.size, aspect: nil, in: size, .letterbox).target
            var parameters = ProcessingParameters(
                source: brought.surface, sourceRegion: brought.visible, targetRegion: place ?? VideoRectangle(size))
            parameters.sourceColor = brought.color
            parameters.targetColor = settings.color
            let target = contents.input.surface
            try display.watch.run("vaEndPicture", "a picture to be fitted") { [parameters] in
                try processor.process(parameters, into: target)
            }
            return (contents.input, contents.pool)
        } catch {
            contents.pool.giveBack(InputSurface(surface: contents.input.surface))
            throw error
        }
    }
}
