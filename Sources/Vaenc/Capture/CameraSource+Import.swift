import Capture
import EncodeSession
import MediaFiles
import Threads
import VideoBase

extension CameraSource {
    /// Returns the next picture in a buffer: in the buffer that `wrap` creates from the camera's picture, else drawn
    /// into a buffer of `makeBuffer`.
    func readBuffer(
        wrap: (CapturedFrame) -> (any PixelBuffer)?, makeBuffer: () throws -> any PixelBuffer
    ) throws -> (buffer: any PixelBuffer, timing: FrameTiming)? {
        guard let (frame, camera, timing) = try nextPicture() else { return nil }
        if camera.isUnconverted, let buffer = wrap(frame) { return (buffer, timing) }
        let buffer = try makeBuffer()
        // SAFETY: `shape` writes only inside the planes, which are mapped while the closure runs.
        unsafe try buffer.withUnsafePlanes { unsafe try shape(frame, of: camera, to: $0) }
        return (buffer, timing)
    }

    /// Returns the object that passes pictures to the encoder without a copy, or the reason why pictures must be
    /// copied.
    func makeImporter(for group: SessionGroup) -> (CameraImport?, why: String) {
        let surfaces = group.sessions.map(\.core.inputSurfaces)
        guard let first = surfaces.first, let display = first?.display else { return (nil, "the encoder runs in software") }
        guard surfaces.allSatisfy({ $0?.display === display }) else { return (nil, "the outputs are encoded on several devices") }
        guard let format = info.nativeFormat, CameraImport.takes(format, display) else {
            return (nil, "the CPU converts \(info.nativeFormatName ?? info.nativeFormat?.rawValue ?? "another format")")
        }
        guard surfaces.allSatisfy({ $0?.format == .nv12 }) else {
            return (nil, "the CPU converts the samples to 10 bits")
        }
        guard info.size == info.nativeSize else { return (nil, "the CPU scales the pictures") }
        return (CameraImport(display, color: info.color, buffers: bufferCount), "")
    }
}
