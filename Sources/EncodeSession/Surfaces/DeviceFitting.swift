import VAAPI
import VideoBase

/// The video processor of the device that a session runs on, looked for when a picture first needs one.
struct DeviceFitting {
    private var display: Display?
    private var processor: VideoProcessor?

    /// nil where the device has none, or it cannot be had.
    mutating func processor(_ display: Display, size: VideoSize) -> VideoProcessor? {
        if self.display === display { return processor }
        self.display = display
        processor = try? display.watch.run("making the video processor", "\(size) pictures", .setUp) {
            try VideoProcessor.isOffered(by: display) ? VideoProcessor(display, size: size) : nil
        }
        return processor
    }
}

extension SurfaceBuffer {
    /// Where the whole picture stands in one of another size, its shape kept, on the grid of 4:2:0.
    func letterbox(in size: VideoSize) -> VideoRectangle {
        if self.size == size { return VideoRectangle(x: 0, y: 0, width: size.width, height: size.height) }
        let (width, height) = (visible.width, visible.height)
        let fitsWidth = width * size.height >= height * size.width
        let scaled = VideoSize(
            width: fitsWidth ? size.width : max(size.height * width / height, 1),
            height: fitsWidth ? max(size.width * height / width, 1) : size.height
        )
        let x = (size.width - scaled.width) / 2 & ~1
        let y = (size.height - scaled.height) / 2 & ~1
        return VideoRectangle(x: x, y: y, width: scaled.width, height: scaled.height)
    }
}
