import Synchronization
import Threads
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
            guard let processed = try processed(provided) else { return nil }
            return TakenFrame(
                index: 0, input: processed.input, pool: processed.pool, source: processed.source, timing: timing, taken: taken,
                options: options)
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

    /// A picture that the device's video processor has written.
    private struct ProcessedPicture {
        var input: InputSurface
        /// The pool that the surface returns to; nil if `source` returns it.
        var pool: InputPool?
        var source: SurfaceBuffer
    }

    /// Returns the picture in a surface of the encoder's size; nil if the device has no processor. Blocks while all
    /// surfaces are in use.
    private func processed(_ provided: SurfaceBuffer) throws -> ProcessedPicture? {
        let display = provided.surface.display
        guard let processor = fitting.withLock({ $0.processor(display, size: settings.inputSize) }) else { return nil }
        // The processor does not write into the program's memory.
        let isInProgramsMemory = state.withLock { $0.pool?.surfaces.first?.isInProgramsMemory ?? false }
        guard isInProgramsMemory else {
            var contents = try makeBuffer().takeContents()
            do {
                guard contents.input.surface.display === display else { throw EncodePipeline.closed }
                try contents.input.mapping?.end()
                contents.input.mapping = nil
                try process(provided, by: processor, into: contents.input.surface)
            } catch {
                contents.pool.recycle(InputSurface(surface: contents.input.surface))
                throw error
            }
            return ProcessedPicture(input: contents.input, pool: contents.pool, source: provided)
        }
        guard let inputs = state.withLock({ $0.pool }), let targets = try fitting.withLock({ try $0.targets(like: inputs) }) else { return nil }
        let target = try targets.take()
        let owner = ProcessingTarget(target.surface, of: targets, showing: provided)
        try process(provided, by: processor, into: target.surface)
        let picture = try SurfaceBuffer(surface: target.surface, visible: settings.inputSize, owner: owner)
        return ProcessedPicture(input: InputSurface(surface: target.surface), pool: nil, source: picture)
    }

    private func process(_ provided: SurfaceBuffer, by processor: VideoProcessor, into target: Surface) throws {
        try provided.finishDrawing()
        let size = settings.inputSize
        let targetRegion = provided.placement ?? FittedParts(provided.size, aspect: nil, in: size, .letterbox).target
        var parameters = ProcessingParameters(
            source: provided.surface, sourceRegion: provided.visible, targetRegion: targetRegion ?? VideoRectangle(size))
        parameters.sourceColor = provided.color
        parameters.targetColor = settings.color
        try provided.surface.display.watch.run("vaEndPicture", on: "a picture to be fitted") { [parameters] in
            try processor.process(parameters, into: target)
        }
    }
}

/// Returns a surface that the video processor has written to its pool when it is released. Keeps the picture that the
/// processor reads.
private final class ProcessingTarget: Sendable {
    private let surface: Surface
    private let pool: InputPool
    private let source: SurfaceBuffer

    init(_ surface: Surface, of pool: InputPool, showing source: SurfaceBuffer) {
        (self.surface, self.pool, self.source) = (surface, pool, source)
    }

    deinit { pool.recycle(InputSurface(surface: surface)) }
}
