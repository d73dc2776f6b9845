import Capture
import VAAPI
import VideoBase

/// Has an encoder's device read a camera's pictures where the driver has put them: the driver's buffers, as DMA-BUFs, become
/// surfaces, each of them once.
final class CameraImport: Sendable {
    private struct State {
        /// By the buffers' descriptors.
        var surfaces: [Int32: Surface] = [:]
        /// Pictures that the encoder has.
        var held = 0
        var imported = 0
        var copied = 0
        /// Why no more are asked for.
        var refusal: String?
    }

    /// Buffers that the encoder leaves: two for the driver, three that may wait, and the reader's.
    private static let reserve = 6

    private let display: Display
    private let color: ColorDescription
    private let limit: Int
    private let state = Monitor(State())

    /// - Parameters:
    ///   - color: of the pictures.
    ///   - buffers: that the camera has.
    init(_ display: Display, color: ColorDescription, buffers: Int) {
        self.display = display
        self.color = color
        limit = max(1, buffers - Self.reserve)
    }

    /// Whether an encoder may read a layout, or the device's video processor make NV12 of it. The driver has the last word.
    static func takes(_ format: PixelFormat, _ display: Display) -> Bool {
        if format == .nv12 { return true }
        guard format == .yuyv else { return false }
        let isOffered = try? display.watch.run("asking for capabilities", display.vendor, .setUp) {
            try VideoProcessor.isOffered(by: display)
        }
        return isOffered == true
    }

    /// Gives the picture, and with it its buffer, back to the camera.
    private final class Owner: Sendable {
        private let frame: CapturedFrame
        private let `import`: CameraImport

        init(_ frame: CapturedFrame, _ `import`: CameraImport) { (self.frame, self.import) = (frame, `import`) }
        deinit { `import`.state.withLockWithoutNotifying { $0.held -= 1 } }
    }

    /// The picture as the device has it; nil where it must be copied: the driver does not take the memory, or the encoder has so
    /// many pictures that the camera would have nowhere to put more.
    func buffer(of frame: CapturedFrame) -> SurfaceBuffer? {
        let surface = surface(of: frame)
        let isTaken = state.withLockWithoutNotifying { state in
            guard surface != nil, state.held < limit else {
                state.copied += 1
                return false
            }
            state.held += 1
            state.imported += 1
            return true
        }
        guard isTaken, let surface else { return nil }
        return try? SurfaceBuffer(surface: surface, visible: frame.size, color: color, owner: Owner(frame, self))
    }

    private func surface(of frame: CapturedFrame) -> Surface? {
        guard let memory = frame.dmaBuffer else { return refuse("the camera exports no DMA-BUFs") }
        let (known, refusal) = state.withLockWithoutNotifying { ($0.surfaces[memory.descriptor], $0.refusal) }
        if known != nil || refusal != nil { return known }
        do {
            let object = SharedPicture.Object(
                descriptor: memory.descriptor, byteCount: memory.byteCount, modifier: SharedPicture.linear)
            let planes = zip(memory.offsets, memory.pitches).map { SharedPicture.Plane(object: 0, offset: $0, pitch: $1) }
            let picture = try SharedPicture(format: memory.format, size: memory.size, borrowing: [object], planes: planes)
            let isFirst = state.withLockWithoutNotifying { $0.surfaces.isEmpty }
            let surface = try display.watch.run("vaCreateSurfaces", "a camera's buffer", .setUp) { [display] in
                let surface = try Surface.make(display, in: picture)
                if isFirst, memory.format != .nv12 { try Self.tryProcessing(surface) }
                return surface
            }
            state.withLockWithoutNotifying { $0.surfaces[memory.descriptor] = surface }
            return surface
        } catch {
            return refuse("\(error)")
        }
    }

    /// Makes NV12 of a picture, which nobody wants: an encoder could not go back to copying.
    private static func tryProcessing(_ surface: Surface) throws {
        let processor = try VideoProcessor(surface.display, size: surface.size)
        guard let target = try Surface.make(surface.display, count: 1, size: surface.size).first else { return }
        try processor.process(ProcessingParameters(source: surface), into: target)
        try target.sync(timeoutNanoseconds: 2_000_000_000)
    }

    private func refuse(_ why: String) -> Surface? {
        state.withLockWithoutNotifying { $0.refusal = $0.refusal ?? why }
        return nil
    }

    /// What became of the pictures.
    var account: (imported: Int, copied: Int, refusal: String?) {
        state.withLockWithoutNotifying { ($0.imported, $0.copied, $0.refusal) }
    }
}
