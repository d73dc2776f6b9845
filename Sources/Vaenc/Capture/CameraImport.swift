import Capture
import Threads
import VAAPI
import VideoBase

/// Lets an encoder's device read a camera's pictures in place. Each of the driver's buffers is imported once, as a
/// DMA-BUF, and becomes a surface.
final class CameraImport: Sendable {
    private struct State {
        /// The imported surfaces, by the file descriptor of the buffer.
        var surfaces: [Int32: Surface] = [:]
        /// The number of pictures that the encoder holds.
        var held = 0
        var imported = 0
        var copied = 0
        /// The reason why no more buffers are imported; nil while importing works.
        var rejectionReason: String?
    }

    /// The number of the camera's buffers that the encoder leaves for the driver, the queue and the reader.
    private static let reserve = 6

    private let display: Display
    private let color: ColorDescription
    private let limit: Int
    private let state = Monitor(State())

    /// - Parameters:
    ///   - display: The display of the encoder's device.
    ///   - color: The color description of the pictures.
    ///   - buffers: The number of buffers of the camera.
    init(_ display: Display, color: ColorDescription, buffers: Int) {
        self.display = display
        self.color = color
        limit = max(1, buffers - Self.reserve)
    }

    /// Returns whether an encoder can read a layout, or the device's video processor can convert it to NV12. The driver
    /// may still reject a buffer.
    static func takes(_ format: PixelFormat, _ display: Display) -> Bool {
        if format == .nv12 { return true }
        guard format == .yuyv else { return false }
        let isOffered = try? display.watch.run("querying capabilities", on: display.vendor, scale: .setUp) {
            try VideoProcessor.isOffered(by: display)
        }
        return isOffered == true
    }

    /// Keeps a picture, which returns its buffer to the camera when it is released.
    private final class Owner: Sendable {
        private let frame: CapturedFrame
        private let importer: CameraImport

        init(_ frame: CapturedFrame, _ importer: CameraImport) { (self.frame, self.importer) = (frame, importer) }
        deinit { importer.state.withLockWithoutNotifying { $0.held -= 1 } }
    }

    /// Returns the picture as a surface. Returns nil if the picture must be copied: the driver rejects the memory, or
    /// the encoder holds so many pictures that the camera would have too few free buffers.
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
        guard let memory = frame.dmaBuffer else { return stopImporting("the camera does not export DMA-BUFs") }
        let (known, rejectionReason) = state.withLockWithoutNotifying {
            ($0.surfaces[memory.descriptor], $0.rejectionReason)
        }
        if known != nil || rejectionReason != nil { return known }
        do {
            let object = SharedPicture.Object(
                descriptor: memory.descriptor, byteCount: memory.byteCount, modifier: SharedPicture.linear)
            let planes = zip(memory.offsets, memory.pitches).map { SharedPicture.Plane(object: 0, offset: $0, pitch: $1) }
            let picture = try SharedPicture(format: memory.format, size: memory.size, borrowing: [object], planes: planes)
            let isFirst = state.withLockWithoutNotifying { $0.surfaces.isEmpty }
            let surface = try display.watch.run("vaCreateSurfaces", on: "a camera's buffer", scale: .setUp) {
                [display] in
                let surface = try Surface.make(display, in: picture)
                if isFirst, memory.format != .nv12 { try Self.tryProcessing(surface) }
                return surface
            }
            state.withLockWithoutNotifying { $0.surfaces[memory.descriptor] = surface }
            return surface
        } catch {
            return stopImporting("\(error)")
        }
    }

    /// Converts a picture to NV12 as a trial and discards the result. If the conversion failed only during encoding,
    /// the encoder could not fall back to copying.
    private static func tryProcessing(_ surface: Surface) throws {
        let processor = try VideoProcessor(surface.display, size: surface.size)
        guard let target = try Surface.make(surface.display, count: 1, size: surface.size).first else { return }
        try processor.process(ProcessingParameters(source: surface), into: target)
        try target.sync(timeoutNanoseconds: 2_000_000_000)
    }

    private func stopImporting(_ why: String) -> Surface? {
        state.withLockWithoutNotifying { $0.rejectionReason = $0.rejectionReason ?? why }
        return nil
    }

    /// The numbers of pictures that were imported and copied, and the reason why importing stopped.
    var account: (imported: Int, copied: Int, rejectionReason: String?) {
        state.withLockWithoutNotifying { ($0.imported, $0.copied, $0.rejectionReason) }
    }
}
