import VAAPI
import VideoBase

/// Brings frames over from a display that is given up.
enum FrameRescue {
    /// The frame in a surface of another pool; nil where its samples cannot be read any more, or there is no room.
    static func move(_ frame: TakenFrame, to pool: InputPool) -> TakenFrame? {
        pool.takeIfFree().flatMap { move(frame, to: $0, of: pool) }
    }

    /// The frame in that surface, which goes back to its pool where the frame cannot be read any more. What is mapped
    /// still needs no device to be read.
    static func move(_ frame: TakenFrame, to input: InputSurface, of pool: InputPool) -> TakenFrame? {
        var moved = frame
        moved.pool = pool
        do {
            if frame.isLost { throw VaencError(.deviceFailed, "frame \(frame.index) did not reach its surface") }
            let target = try input.mapping ?? input.surface.map(.write)
            moved.input = InputSurface(surface: input.surface, mapping: target)
            if let source = frame.input.mapping, source.isOpen {
                try unsafe source.withUnsafePlanes { try unsafe copy($0, to: target) }
            } else {
                try unsafe frame.surface.withUnsafePlanes(.read) { try unsafe copy($0, to: target) }
            }
        } catch {
            pool.giveBack(input)
            return nil
        }
        return moved
    }

    private static func copy(_ source: PixelPlanes, to mapping: SurfaceMapping) throws {
        try unsafe mapping.withUnsafePlanes { target in unsafe FrameCopy.copy(source, to: target) }
    }
}
