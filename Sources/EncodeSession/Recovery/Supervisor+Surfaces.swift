import Synchronization
import VAAPI
import VideoBase

extension Supervisor {
    /// Returns the frame of a surface that the caller provided on the session's own display. If the surface fits, it is
    /// used directly. Otherwise the device's video processor converts it. Returns nil if the picture must be copied.
    ///
    /// - Throws: If the picture neither fits nor can be copied.
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

    /// Whether the encoder can read the surface directly.
    private func fits(_ brought: SurfaceBuffer) -> Bool {
        let (coded, surface) = (settings.grid.coded, brought.surface.size.aligned(to: 16))
        return brought.format == settings.pixelFormat && brought.size == settings.inputSize
            && brought.visible.x == 0 && brought.visible.y == 0 && brought.placement == nil
            && surface.width >= coded.width && surface.height >= coded.height
    }

    /// Returns the picture in a surface of the pool; nil if the device has no processor. Blocks while all surfaces are
    /// in use.
    private func processed(_ brought: SurfaceBuffer) throws -> (InputSurface, InputPool)? {
        let display = brought.surface.display
        let size = settings.inputSize
        guard let processor = fitting.withLock({ $0.processor(display, size: size) }) else { return nil }
        var contents = try makeBuffer().takeContents()
        do {
            guard contents.input.surface.display === display else { throw EncodePipeline.closed }
            try contents.input.mapping?.end()
            contents.input.mapping = nil
            let targetRegion = brought.placement ?? FittedParts(brought.size, aspect: nil, in: size, .letterbox).target
            var parameters = ProcessingParameters(
                source: brought.surface, sourceRegion: brought.visible,
                targetRegion: targetRegion ?? VideoRectangle(size))
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
