import VAAPI
import VideoBase

/// The video processor of the session's device. It is created when a picture first needs one.
struct DeviceFitting {
    private var display: Display?
    private var processor: VideoProcessor?
    /// Surfaces of the driver that the processor writes; nil if it writes input surfaces.
    private var targets: InputPool?

    /// Returns the processor for pictures of a size, and creates it if necessary. Returns nil if the device has no
    /// processor or creating it fails.
    mutating func processor(_ display: Display, size: VideoSize) -> VideoProcessor? {
        if self.display === display { return processor }
        self.display = display
        targets = nil
        processor = try? display.watch.run("creating the video processor", on: "\(size) pictures", scale: .setUp) {
            try VideoProcessor.isOffered(by: display) ? VideoProcessor(display, size: size) : nil
        }
        return processor
    }

    /// Returns surfaces in the driver's memory, as many as the encoder's input surfaces, which are in the program's
    /// memory. They are created when a picture first needs one.
    mutating func targets(like inputs: InputPool) throws -> InputPool? {
        if let targets { return targets }
        guard let display, let first = inputs.surfaces.first else { return nil }
        let count = inputs.surfaces.count
        let surfaces = try display.watch.run("vaCreateSurfaces", on: "\(count) surfaces", scale: .setUp) {
            try Surface.make(display, count: count, size: first.size, format: first.format)
        }
        let pool = InputPool(surfaces, visible: inputs.visible)
        targets = pool
        return pool
    }
}
