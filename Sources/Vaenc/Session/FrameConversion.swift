import EncodeSession
import MediaFiles
import VideoBase

/// Converts frames whose bit depth or layout differs from that of a device's surfaces.
struct FrameConversion: PictureConversion {
    /// The color description of the frames and of the stream.
    let color: ColorDescription

    func convert(_ source: PixelPlanes, to destination: PixelPlanes) throws {
        // SAFETY: the caller's planes are valid during the call.
        unsafe try PixelConverter(color: color).convert(source, to: destination)
    }
}
