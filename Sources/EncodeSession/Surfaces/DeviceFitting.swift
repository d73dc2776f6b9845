import VAAPI
import VideoBase

/// The video processor of the session's device. It is created when a picture first needs one.
struct DeviceFitting {
    private var display: Display?
    private var processor: VideoProcessor?

    /// Returns the processor for pictures of a size, and creates it if necessary. Returns nil if the device has no
    /// processor or creating it fails.
    mutating func processor(_ display: Display, size: VideoSize) -> VideoProcessor? {
        if self.display === display { return processor }
        self.display = display
        processor = try? display.watch.run("creating the video processor", on: "\(size) pictures", scale: .setUp) {
            try VideoProcessor.isOffered(by: display) ? VideoProcessor(display, size: size) : nil
        }
        return processor
    }
}
