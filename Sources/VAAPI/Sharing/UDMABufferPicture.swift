internal import CVA
internal import Glibc
package import VideoBase

/// A picture in the program's memory that a driver imports as a DMA-BUF. The kernel's udmabuf device makes the DMA-BUF of
/// a memfd.
///
/// The DMA-BUF keeps the memory, so the file descriptor of the memfd is closed once it is mapped.
@safe final class UDMABufferPicture: DirectMemory {
    /// The picture as drivers import it.
    let shared: SharedPicture
    private let layout: LinearLayout
    // SAFETY: The memory is mapped in init and unmapped in deinit. Users of the picture order their accesses.
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer

    /// The pitches that every driver accepts: radeonsi needs multiples of 256 bytes for linear memory.
    private static var pitchStep: Int { 256 }

    /// - Parameter device: The device that makes the DMA-BUF.
    /// - Throws: `VaencError`, if there is not enough memory, the format has no such layout, or the kernel refuses it.
    init(_ format: PixelFormat, _ size: VideoSize, _ device: UDMABufferDevice) throws {
        let layout = try LinearLayout(format, size, pitchStep: Self.pitchStep)
        let memory = try SealedMemory(byteCount: layout.byteCount)
        let buffer = try device.makeBuffer(of: memory)
        let planes = [0, layout.chromaOffset].map { SharedPicture.Plane(object: 0, offset: $0, pitch: layout.pitch) }
        let object = SharedPicture.Object(descriptor: buffer, byteCount: layout.byteCount, modifier: SharedPicture.linear)
        // The picture closes the descriptor, also if the mapping fails.
        shared = SharedPicture(format: format, size: size, owning: [object], planes: planes)
        self.layout = layout
        unsafe base = try memory.map()
    }

    deinit { unsafe munmap(base, layout.byteCount) }

    var kind: DirectMemoryKind { .udmabuf }

    func beginDrawing(_ access: Surface.Access, on display: Display, surface: () -> String) throws {
        try shared.beginAccess(access, on: display, surface: surface)
    }

    func endDrawing(_ access: Surface.Access, surface: () -> String) throws { try shared.endAccess(access, surface: surface) }

    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) rethrows -> R {
        unsafe try body(layout.planes(at: base, visible: visible))
    }
}

extension Surface {
    /// Creates surfaces in the program's memory, which the driver imports as DMA-BUFs of the kernel's udmabuf device. The
    /// memory is freed after a surface is destroyed.
    ///
    /// - Throws: A `VaencError` if the kernel makes no such DMA-BUF for this process, or an error if the driver does not
    ///   import it.
    package static func makeInUDMABuffers(_ display: Display, count: Int, size: VideoSize, format: PixelFormat) throws -> [Surface] {
        try makeInUDMABuffers(display, count: count, size: size, format: format, device: UDMABufferDevice())
    }

    static func makeInUDMABuffers(
        _ display: Display, count: Int, size: VideoSize, format: PixelFormat, device: UDMABufferDevice
    ) throws -> [Surface] {
        try (0..<count).map { _ in
            let picture = try UDMABufferPicture(format, size, device)
            return try make(display, in: picture.shared, direct: picture)
        }
    }
}
