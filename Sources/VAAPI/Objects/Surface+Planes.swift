internal import Synchronization
package import VideoBase

extension Surface {
    /// What the caller does with the mapped samples.
    package enum Access: Sendable {
        case read
        /// What is not written is undefined afterwards.
        case write
        case readWrite

        var reads: Bool { self != .write }
        var writes: Bool { self != .read }
    }

    /// Maps the surface's planes until the mapping is ended, or gone.
    ///
    /// The surface's own memory is mapped where the driver can (vaDeriveImage in the surface's format); otherwise an
    /// image is filled (vaGetImage, for reading) and put back (vaPutImage, for writing).
    package func map(_ access: Access) throws -> SurfaceMapping {
        let image = try display.watch.run("vaMapBuffer", self.description, .wait) { MappedImage(try .mapped(self, access)) }
        return SurfaceMapping(image, of: self, access)
    }

    /// Maps the surface's planes while `body` runs.
    ///
    /// - Parameter visible: the part that is to be seen; nil for all of the surface.
    package func withUnsafePlanes<R>(
        _ access: Access = .write, visible: VideoSize? = nil, _ body: (PixelPlanes) throws -> R
    ) throws -> R {
        let mapping = try map(access)
        let result = unsafe try mapping.withUnsafePlanes(visible: visible, body)
        try mapping.end()
        return result
    }

    fileprivate var description: String { "\(format.rawValue) surface of \(size)" }
}

/// The mapped samples of a surface. Nothing that is drawn is in the surface before `end`; without it, what was drawn
/// is undefined.
package final class SurfaceMapping: Sendable {
    package let surface: Surface
    private let access: Surface.Access
    private let image: MappedImage

    fileprivate init(_ image: MappedImage, of surface: Surface, _ access: Surface.Access) {
        self.image = image
        self.surface = surface
        self.access = access
    }

    deinit {
        let image = image
        if image.isOpen { surface.display.watch.release { image.drop() } }
    }

    package var isOpen: Bool { image.isOpen }

    /// What was drawn may not have reached the surface: `end` failed, or did not come back.
    package var isLost: Bool { image.isLost }

    /// The planes while `body` runs; of an open mapping.
    ///
    /// - Parameter visible: the part that is to be seen; nil for all of the surface.
    package func withUnsafePlanes<R>(visible: VideoSize? = nil, _ body: (PixelPlanes) throws -> R) throws -> R {
        unsafe try image.withUnsafePlanes(visible: visible ?? surface.size, body)
    }

    /// Unmaps the samples (vaUnmapBuffer), and puts back what is a copy. Again, it does nothing.
    package func end() throws {
        guard image.isOpen else { return }
        let (image, writes) = (image, access.writes)
        try surface.display.watch.run("vaUnmapBuffer", self.surface.description, .wait) { try image.end(writes: writes) }
    }
}

/// A mapped image, handed from thread to thread.
private final class MappedImage: @unchecked Sendable {
    // SAFETY: used by one thread at a time: whoever maps, then the caller, then whoever unmaps.
    private var image: Image?
    private let stage = Mutex(Stage.open)

    private enum Stage { case open, ending, ended }

    init(_ image: consuming Image) { self.image = consume image }

    deinit {
        // A device that hangs may still use it, and must not be asked to let go of it.
        guard let image = image.take() else { return }
        let kept = KeptImage(image)
        ProcessEnd.keep { _ = kept }
    }

    var isOpen: Bool { stage.withLock { $0 == .open } }
    var isLost: Bool { stage.withLock { $0 == .ending } }

    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) throws -> R {
        guard isOpen, image != nil else {
            throw VaencError(.internalFault, "a surface's samples are used after their mapping's end")
        }
        return unsafe try image!.withUnsafePlanes(visible: visible, body)
    }

    func end(writes: Bool) throws {
        let isFirst = stage.withLock { stage in
            defer { stage = .ending }
            return stage == .open
        }
        guard isFirst, var image = image.take() else { return }
        try image.unmap()
        if writes { try image.putBack() }
        stage.withLock { $0 = .ended }
    }

    func drop() {
        stage.withLock { $0 = .ended }
        image = nil
    }
}

/// An image that nobody uses any more.
private final class KeptImage: @unchecked Sendable {
    // SAFETY: never touched.
    private let image: Image
    init(_ image: consuming Image) { self.image = image }
}
