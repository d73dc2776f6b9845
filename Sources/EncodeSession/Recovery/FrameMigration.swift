import VAAPI
import VideoBase

/// Moves frames away from a display that is no longer usable.
enum FrameMigration {
    /// Copies the frame into a surface of another pool; nil if its samples cannot be read or no surface is free.
    static func move(_ frame: TakenFrame, to pool: InputPool) -> TakenFrame? {
        pool.takeIfFree().flatMap { move(frame, to: $0, of: pool) }
    }

    /// Copies the frame into that surface. If the frame cannot be read, the call returns the surface to its pool and
    /// returns nil. A frame that is still mapped is readable without the device.
    static func move(_ frame: TakenFrame, to input: InputSurface, of pool: InputPool) -> TakenFrame? {
        do {
            let target = try input.mapping ?? input.surface.map(.write)
            let filled = InputSurface(surface: input.surface, mapping: target)
            if let source = frame.source, frame.pool == nil {
                try copy(source, to: filled, visible: pool.visible)
                return frame.moved(to: filled, of: pool, source: nil)
            }
            if frame.isLost { throw VaencError(.deviceFailed, "frame \(frame.index) was not copied to its surface") }
            if let source = frame.input.mapping, source.isOpen {
                try unsafe source.withUnsafePlanes { try unsafe copy($0, to: target) }
            } else {
                try unsafe frame.surface.withUnsafePlanes(.read) { try unsafe copy($0, to: target) }
            }
            return frame.moved(to: filled, of: pool, source: frame.source)
        } catch {
            pool.recycle(input)
            return nil
        }
    }

    /// Copies a caller's picture, whose allocated size may differ from that of the pool's surfaces.
    private static func copy(_ source: SurfaceBuffer, to input: InputSurface, visible: VideoSize) throws {
        try unsafe source.withUnsafePlanes { picture in
            try unsafe input.mapping?.withUnsafePlanes(visible: visible) { target in
                unsafe FrameCopy.copy(picture, to: target)
                unsafe EdgePadding.fill(target, coded: input.surface.size)
            }
        }
    }

    private static func copy(_ source: PixelPlanes, to mapping: SurfaceMapping) throws {
        try unsafe mapping.withUnsafePlanes { target in unsafe FrameCopy.copy(source, to: target) }
    }
}
