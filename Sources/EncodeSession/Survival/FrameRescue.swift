import VAAPI
import VideoBase

/// Brings frames over from a display that is given up.
enum FrameRescue {
    /// The frame in a surface of another pool; nil where its samples cannot be read any more, or there is no room.
    static func move(_ frame: TakenFrame, to pool: InputPool) -> TakenFrame? {
        pool.takeIfFree().flatMap { move(frame, to: $0, of: pool) }
    }

    /// The frame in that surface, which goes back to its pool where the frame cannot be read any more.
    static func move(_ frame: TakenFrame, to surface: Surface, of pool: InputPool) -> TakenFrame? {
        do {
            try unsafe frame.surface.withUnsafePlanes(.read) { source in
                try unsafe surface.withUnsafePlanes(.write) { target in unsafe FrameCopy.copy(source, to: target) }
            }
        } catch {
            pool.giveBack(surface)
            return nil
        }
        var moved = frame
        moved.surface = surface
        moved.pool = pool
        return moved
    }
}
