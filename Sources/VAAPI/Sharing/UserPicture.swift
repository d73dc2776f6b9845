internal import CVA
internal import Glibc
package import VideoBase

/// A picture in the program's memory that a driver reads in place (VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR). Drawing in it
/// needs no call of the driver.
///
/// The memory is in huge pages if the system has any: the copy of a large picture then takes fewer page faults.
@safe final class UserPicture: DirectMemory {
    private let layout: LinearLayout
    // SAFETY: The memory is mapped in init and unmapped in deinit. Users of the picture order their accesses.
    private nonisolated(unsafe) let base: UnsafeMutableRawPointer
    private let mappedBytes: Int

    /// The pitches that every driver that takes such memory accepts: iHD needs multiples of 128 bytes.
    private static var pitchStep: Int { 128 }
    /// The pitches that some drivers accept: whole cache lines.
    private static var smallPitchStep: Int { 64 }
    private static var hugePage: Int { 2 << 20 }

    /// Whether the rows of pictures of that width have gaps that a driver may do without.
    static func hasAvoidableGaps(_ format: PixelFormat, width: Int) -> Bool {
        let row = format.rowBytes(plane: 0, width: width)
        return row == row.aligned(to: smallPitchStep) && row != row.aligned(to: pitchStep)
    }

    /// - Parameter hasGaps: Whether rows may have gaps. Otherwise rows are only aligned to cache lines.
    /// - Throws: `unavailable` if there is not enough memory or the format has no such layout.
    init(_ format: PixelFormat, _ size: VideoSize, hasGaps: Bool) throws {
        layout = try LinearLayout(format, size, pitchStep: hasGaps ? Self.pitchStep : Self.smallPitchStep)
        let byteCount = layout.byteCount
        let isLarge = byteCount >= Self.hugePage
        mappedBytes = isLarge ? byteCount.aligned(to: Self.hugePage) + Self.hugePage : byteCount
        let memory = unsafe mmap(nil, mappedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw VaencError.noMemory("for a picture of \(size)") }
        unsafe base = memory
        // The rest of the picture stays in small pages: a further huge page would be memory that nothing uses.
        if isLarge { unsafe madvise(start, byteCount / Self.hugePage * Self.hugePage, MADV_HUGEPAGE) }
    }

    deinit { unsafe munmap(base, mappedBytes) }

    /// The address of the first sample, at a page boundary; for large pictures, at the boundary of a huge page.
    private var start: UnsafeMutableRawPointer {
        guard mappedBytes > layout.byteCount else { return unsafe base }
        let address = unsafe UInt(bitPattern: base)
        let offset = (UInt(Self.hugePage) - address % UInt(Self.hugePage)) % UInt(Self.hugePage)
        return unsafe base + Int(offset)
    }

    var kind: DirectMemoryKind { .userPointer }

    func beginDrawing(_ access: Surface.Access, on display: Display, surface: () -> String) {}

    func endDrawing(_ access: Surface.Access, surface: () -> String) {}

    func withUnsafePlanes<R>(visible: VideoSize, _ body: (PixelPlanes) throws -> R) rethrows -> R {
        unsafe try body(layout.planes(at: start, visible: visible))
    }

    /// Calls `body` with the description of the memory for vaCreateSurfaces.
    fileprivate func withDescription<R>(
        _ fourCC: FourCC, _ body: (UnsafeMutablePointer<VASurfaceAttribExternalBuffers>) throws -> R
    ) rethrows -> R {
        let layout = layout
        var address = unsafe UInt(bitPattern: start)
        return try unsafe withUnsafeMutablePointer(to: &address) { addresses in
            var description = unsafe VASurfaceAttribExternalBuffers()
            unsafe description.pixel_format = fourCC.rawValue
            unsafe description.width = UInt32(clamping: layout.size.width)
            unsafe description.height = UInt32(clamping: layout.size.height)
            unsafe description.data_size = UInt32(clamping: layout.byteCount)
            unsafe description.num_planes = 2
            unsafe description.pitches = (UInt32(clamping: layout.pitch), UInt32(clamping: layout.pitch), 0, 0)
            unsafe description.offsets = (0, UInt32(clamping: layout.chromaOffset), 0, 0)
            unsafe description.buffers = addresses
            unsafe description.num_buffers = 1
            return try unsafe withUnsafeMutablePointer(to: &description) { unsafe try body($0) }
        }
    }
}

extension Surface {
    /// Whether `makeInUserMemory` can make rows with and without gaps.
    package static func hasAvoidableGaps(_ size: VideoSize, _ format: PixelFormat) -> Bool {
        UserPicture.hasAvoidableGaps(format, width: size.width)
    }

    /// Creates surfaces in the program's memory. The memory is freed after a surface is destroyed.
    ///
    /// - Parameter hasGaps: Whether rows may have gaps, which all drivers accept. A picture is read from a file with one
    ///   copy of each plane only if there are none.
    /// - Throws: An error if the driver does not accept such memory.
    package static func makeInUserMemory(
        _ display: Display, count: Int, size: VideoSize, format: PixelFormat, hasGaps: Bool = true
    ) throws -> [Surface] {
        try (0..<count).map { _ in
            let picture = try UserPicture(format, size, hasGaps: hasGaps)
            let object = "\(format.rawValue) surface of \(size) in the program's memory"
            guard let fourCC = FourCC(format) else { throw VAError(call: "vaCreateSurfaces", status: .unsupportedMemoryType, object: object) }
            var id = VASurfaceID(VA_INVALID_SURFACE)
            // SAFETY: The driver reads the description before vaCreateSurfaces returns.
            let status = unsafe picture.withDescription(fourCC) { description in
                // iHD needs the memory type before the description.
                var list = unsafe [
                    attribute(VASurfaceAttribMemoryType, MemoryTypes.userPointer.rawValue),
                    attribute(VASurfaceAttribExternalBufferDescriptor, pointer: description),
                    attribute(VASurfaceAttribPixelFormat, fourCC.rawValue),
                ]
                return unsafe vaCreateSurfaces(
                    display.handle, RTFormat(format).rawValue, CUnsignedInt(clamping: size.width), CUnsignedInt(clamping: size.height), &id, 1,
                    &list, CUnsignedInt(list.count))
            }
            try display.check(status, call: "vaCreateSurfaces", object: object)
            return Surface(display, id: id, size: size, format: format, direct: picture)
        }
    }
}
