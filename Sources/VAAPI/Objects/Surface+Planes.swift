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

    /// Maps the surface's planes while `body` runs.
    ///
    /// The surface's own memory is mapped where the driver can (vaDeriveImage in the surface's format); otherwise an
    /// image is filled (vaGetImage, for reading) and put back (vaPutImage, for writing).
    ///
    /// - Parameter visible: the part that is to be seen; nil for all of the surface.
    package func withUnsafePlanes<R>(
        _ access: Access = .write, visible: VideoSize? = nil, _ body: (PixelPlanes) throws -> R
    ) throws -> R {
        let what = "\(format.rawValue) surface of \(size)"
        let mapping = try display.watch.run("vaMapBuffer", what, .wait) { Mapping(try Image.mapped(self, access)) }
        let result: R
        do { result = unsafe try mapping.withUnsafePlanes(visible: visible ?? size, body) } catch {
            display.watch.release { mapping.drop() }
            throw error
        }
        try display.watch.run("vaUnmapBuffer", what, .wait) { try mapping.end(writes: access.writes) }
        return result
    }
}

/// A mapped image, handed from thread to thread.
private final class Mapping: @unchecked Sendable {
    // SAFETY: used by one thread at a time: whoever maps, then the caller, then whoever unmaps.
    private var image: Image?

    init(_ image: consuming Image) { self.image = consume image }

    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) throws -> R {
        guard image != nil else { preconditionFailure("used after its end") }
        return unsafe try image!.withUnsafePlanes(visible: visible, body)
    }

    func end(writes: Bool) throws {
        guard var image = image.take() else { return }
        try image.unmap()
        if writes { try image.putBack() }
    }

    func drop() { image = nil }
}
