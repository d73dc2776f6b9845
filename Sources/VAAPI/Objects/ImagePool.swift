internal import CVA
internal import Synchronization
internal import VideoBase

/// A pool of images for copies of surfaces. Images are reused for later mappings, because allocating one for every
/// frame is expensive.
@safe final class ImagePool: Sendable {
    private let free = Mutex<[VAImage]>([])

    /// Returns an image of the surface's size and format: a free one, or a new one (vaCreateImage).
    func take(_ display: Display, _ surface: Surface) throws(VAError) -> VAImage {
        let fourCC = FourCC(surface.format)?.rawValue ?? 0
        let width = surface.size.width
        // DriverQuirk.writesPastImages.
        let height = surface.size.height.aligned(to: 4)
        let kept = free.withLock { free in
            free.firstIndex {
                $0.format.fourcc == fourCC && Int($0.width) == width && Int($0.height) == height
            }.map { free.remove(at: $0) }
        }
        if let kept { return kept }
        var format = VAImageFormat()
        format.fourcc = fourCC
        format.byte_order = UInt32(VA_LSB_FIRST)
        format.bits_per_pixel = surface.format == .p010 ? 24 : 12
        var image = VAImage()
        try display.check(
            unsafe vaCreateImage(display.handle, &format, CInt(width), CInt(height), &image), call: "vaCreateImage",
            object: "\(surface.format.rawValue) image of \(surface.size)")
        return image
    }

    func recycle(_ image: VAImage) {
        free.withLock { $0.append(image) }
    }

    /// Destroys all free images. Call it before vaTerminate.
    @unsafe func drain(_ handle: UnsafeMutableRawPointer) {
        let images = free.withLock { free in
            defer { free = [] }
            return free
        }
        for image in images { unsafe Self.destroy(image, handle) }
    }

    /// Destroys an image and its buffer (vaDestroyImage).
    @unsafe static func destroy(_ image: VAImage, _ handle: UnsafeMutableRawPointer) {
        _ = unsafe vaDestroyImage(handle, image.image_id)
    }
}
