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

    /// The buffer itself where it is one of the session's, else a copy. Blocks while all surfaces are in use.
    func input(of buffer: any PixelBuffer) throws -> InputBuffer {
        try check(buffer)
        if let own = buffer as? InputBuffer, own.pool === state.withLock({ $0.pool }) { return own }
        let copy = try makeBuffer()
        try unsafe buffer.withUnsafePlanes { source in
            try unsafe copy.withUnsafePlanes { target in unsafe FrameCopy.copy(source, to: target) }
        }
        return copy
    }
}
