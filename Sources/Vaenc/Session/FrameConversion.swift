import EncodeSession
import MediaFiles
import Synchronization
import VideoBase

/// Converts frames whose bit depth or layout differs from that of a device's surfaces.
final class FrameConversion: PictureConversion, @unchecked Sendable {
    // SAFETY: `lock` guards the converter, which keeps libswscale's tables from frame to frame.
    private let lock = Mutex(())
    private let converter: PixelConverter

    /// - Parameter color: The color description of the frames and of the stream.
    init(color: ColorDescription) { converter = PixelConverter(color: color) }

    func convert(_ source: PixelPlanes, to destination: PixelPlanes) throws {
        // SAFETY: the caller's planes are valid during the call.
        try lock.withLock { _ in unsafe try converter.convert(source, to: destination) }
    }
}
