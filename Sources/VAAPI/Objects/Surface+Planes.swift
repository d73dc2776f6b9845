internal import Synchronization
package import VideoBase

extension Surface {
    /// The caller's access to the mapped samples.
    package enum Access: Sendable {
        case read
        /// Write access. Samples that are not written are undefined afterwards.
        case write
        case readWrite

        var reads: Bool { self != .write }
        var writes: Bool { self != .read }
    }

    /// Maps the surface's planes until the mapping is ended or released.
    ///
    /// If the driver can map the surface's own memory in the surface's format (vaDeriveImage), that memory is mapped.
    /// Otherwise, a copy is mapped: it is filled for reading (vaGetImage) and written back after writing (vaPutImage).
    ///
    /// A surface with `DirectMemory` is always mapped. The caller must not write while the device reads it.
    package func map(_ access: Access) throws -> SurfaceMapping {
        if let direct {
            try direct.beginDrawing(access, on: display) { description }
            return SurfaceMapping(direct, of: self, access)
        }
        let image = try display.watch.run("vaMapBuffer", on: self.description, scale: .wait) {
            MappedImage(try .mapped(self, access))
        }
        return SurfaceMapping(image, of: self, access)
    }

    /// Maps the surface's planes while `body` runs.
    ///
    /// - Parameter visible: The size of the visible part, or nil for the whole surface.
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

/// The mapped samples of a surface. Written samples reach the surface when `end` is called; without `end`, they are
/// undefined.
package final class SurfaceMapping: Sendable {
    package let surface: Surface
    private let access: Surface.Access
    private let samples: Samples

    private enum Samples {
        case image(MappedImage)
        case direct(any DirectMemory)
    }

    fileprivate init(_ image: MappedImage, of surface: Surface, _ access: Surface.Access) {
        samples = .image(image)
        self.surface = surface
        self.access = access
    }

    fileprivate init(_ memory: any DirectMemory, of surface: Surface, _ access: Surface.Access) {
        samples = .direct(memory)
        self.surface = surface
        self.access = access
    }

    deinit {
        guard case .image(let image) = samples, image.isOpen else { return }
        surface.display.watch.release { image.drop() }
    }

    package var isOpen: Bool {
        switch samples {
        case .image(let image): image.isOpen
        case .direct: true
        }
    }

    /// Whether written samples may not have reached the surface: `end` failed or has not returned yet.
    package var isLost: Bool {
        switch samples {
        case .image(let image): image.isLost
        case .direct: false
        }
    }

    /// Calls `body` with the planes of the mapping, which must be open.
    ///
    /// - Parameter visible: The size of the visible part, or nil for the whole surface.
    package func withUnsafePlanes<R>(visible: VideoSize? = nil, _ body: (PixelPlanes) throws -> R) throws -> R {
        switch samples {
        case .image(let image): unsafe try image.withUnsafePlanes(visible: visible ?? surface.size, body)
        case .direct(let memory): unsafe try memory.withUnsafePlanes(visible: visible ?? surface.size, body)
        }
    }

    /// Unmaps the samples (vaUnmapBuffer) and writes a copy back to the surface. Further calls do nothing. `DirectMemory`
    /// stays mapped; each call makes the writes visible to the device.
    package func end() throws {
        if case .direct(let memory) = samples { return try memory.endDrawing(access) { surface.description } }
        guard case .image(let image) = samples, image.isOpen else { return }
        let writes = access.writes
        try surface.display.watch.run("vaUnmapBuffer", on: self.surface.description, scale: .wait) {
            try image.end(writes: writes)
        }
    }
}

/// A mapped image that is passed between threads.
private final class MappedImage: @unchecked Sendable {
    // SAFETY: One thread at a time uses the image: the one that maps it, then the caller, then the one that unmaps it.
    private var image: Image?
    private let stage = Mutex(Stage.open)

    private enum Stage { case open, ending, ended }

    init(_ image: consuming Image) { self.image = consume image }

    deinit {
        // A hanging device may still use the image, so it must not be destroyed.
        guard let image = image.take() else { return }
        let kept = KeptImage(image)
        ProcessEnd.keep { _ = kept }
    }

    var isOpen: Bool { stage.withLock { $0 == .open } }
    var isLost: Bool { stage.withLock { $0 == .ending } }

    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) throws -> R {
        guard isOpen, image != nil else {
            throw VaencError(.internalFault, "a surface's samples were used after the surface was unmapped")
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

/// An image that is kept for the rest of the process and not used any more.
private final class KeptImage: @unchecked Sendable {
    // SAFETY: The image is never accessed.
    private let image: Image
    init(_ image: consuming Image) { self.image = image }
}
