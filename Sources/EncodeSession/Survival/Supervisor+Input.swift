import VAAPI
import VideoBase

extension Supervisor {
    func check(_ buffer: any PixelBuffer) throws {
        guard buffer.size == settings.inputSize else {
            throw VaencError(.usage, "a frame of \(buffer.size) for an encoder of \(settings.inputSize)")
        }
        guard FrameCopy.formats.contains(buffer.format) else {
            throw VaencError(
                .usage, "the encoder takes nv12, i420 and yv12, not \(buffer.format.rawValue)",
                remedy: "convert the frame into a buffer of makePixelBuffer")
        }
    }

    /// A frame in the buffer's own surface, or in a copy. Blocks while all surfaces are in use.
    func frame(of buffer: any PixelBuffer, timing: FrameTiming, options: FrameOptions) throws -> TakenFrame {
        let taken = ContinuousClock.now
        try check(buffer)
        if let own = buffer as? InputBuffer, own.pool === state.withLock({ $0.pool }) {
            return TakenFrame(
                index: 0, surface: try own.takeSurface(), pool: own.pool, timing: timing, taken: taken,
                options: options)
        }
        let copy = try makeBuffer()
        try unsafe buffer.withUnsafePlanes { source in
            try unsafe copy.withUnsafePlanes { target in unsafe FrameCopy.copy(source, to: target) }
        }
        return TakenFrame(
            index: 0, surface: try copy.takeSurface(), pool: copy.pool, timing: timing, taken: taken, options: options)
    }
}
