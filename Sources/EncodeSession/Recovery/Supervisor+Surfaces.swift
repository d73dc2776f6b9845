import Synchronization
import VAAPI
import VideoBase

extension Supervisor {
    /// Returns the frame of a surface that the caller provided on the session's own display. If the surface fits, it is
    /// used directly. Otherwise the device's video processor converts it. Returns nil if the picture must be copied.
    ///
    /// - Throws: If the picture neither fits nor can be copied.
    func frame(
        on provided: SurfaceBuffer, timing: FrameTiming, options: FrameOptions, taken: ContinuousClock.Instant
    ) throws -> TakenFrame? {
        guard provided.surface.display === display else { return nil }
        if fits(provided) {
            return TakenFrame(
                index: 0, input: InputSurface(surface: provided.surface), pool: nil, source: provided, timing: timing,
                taken: taken, options: options)
        }
        do {
            guard let (input, pool) = try processed(provided) else { return nil }
            return TakenFrame(
                index: 0, input: input, pool: pool, source: provided, timing: timing, taken: taken, options: options)
        } catch  where (try? check(provided)) != nil {
            return nil
        }
    }

    /// Whether the encoder can read the surface directly.
    private func fits(_ provided: SurfaceBuffer) -> Bool {
        let (coded, surface) = (settings.grid.coded, provided.surface.size.aligned(to: 16))
        return provided.format == settings.pixelFormat && provided.size == settings.inputSize
            && provided.visible.x == 0 && provided.visible.y == 0 && provided.placement == nil
            && surface.width >= coded.width && surface.height >= coded.height
    }

    /// Returns the picture in a surface of the pool; nil if the device has no processor. Blocks while all surfaces are
    /// in use.
    private func processed(_ provided: SurfaceBuffer) throws -> (InputSurface, InputPool)? {
        let display = provided.surface.display
        let size = settings.inputSize
        guard let processor = fitting.withLock({ $0.processor(display, size: size) }) else { return nil }
        var contents = try makeBuffer().takeContents()
        do {
            guard contents.input.surface.display === display else { throw EncodePipeline.closed }
            try contents.input.mapping?.end()
            contents.input.mapping = nil
            let targetRegion =
                provided.placement ?? FittedParts(provided.size, aspect: nil, in: size, .letterbox).target
            var parameters = ProcessingParameters(
                source: provided.surface, sourceRegion: provided.visible,
                targetRegion: targetRegion ?? VideoRectangle(size))
            parameters.sourceColor = provided.color
            parameters.targetColor = settings.color
            let target = contents.input.surface
            try display.watch.run("vaEndPicture", on: "a picture to be fitted") { [parameters] in
                try processor.process(parameters, into: target)
            }
            return (contents.input, contents.pool)
        } catch {
            contents.pool.recycle(InputSurface(surface: contents.input.surface))
            throw error
        }
    }
}
