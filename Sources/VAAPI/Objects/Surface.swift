internal import CVA
package import VideoBase

/// A VASurface: a picture in the device's memory.
@safe package final class Surface: Sendable {
    package let display: Display
    /// The requested size in luma samples. The allocated memory may be larger.
    package let size: VideoSize
    package let format: PixelFormat
    let id: VASurfaceID
    /// The shared memory that backs the surface, or nil if the driver allocated the memory.
    private let memory: SharedPicture?
    /// The memory in which the program draws without a call of the driver, or nil.
    let direct: (any DirectMemory)?

    /// The memory in which the program draws; nil if drawing needs calls of the driver.
    package var directMemory: DirectMemoryKind? { direct?.kind }

    /// Whether the driver knows the program's memory by its address. The memory is always mapped.
    package var isInUserMemory: Bool { directMemory == .userPointer }

    /// Whether the program allocated the memory, and can read it as fast as any other.
    package var isInProgramsMemory: Bool { directMemory == .userPointer || directMemory == .udmabuf }

    /// The ID of the surface in parameter buffers.
    package var identifier: UInt32 { id }

    /// The intended uses of a surface: VA_SURFACE_ATTRIB_USAGE_HINT_… flags.
    package struct Usage: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let decoder = Usage(rawValue: 0x1)
        package static let encoder = Usage(rawValue: 0x2)
        package static let processingOutput = Usage(rawValue: 0x8)
        package static let export = Usage(rawValue: 0x20)
    }

    /// Whether another owner destroys the surface.
    private let isBorrowed: Bool
    /// The object that destroys the surface; nil if this object or a foreign owner does.
    private let owner: Surface?

    init(
        _ display: Display, id: VASurfaceID, size: VideoSize, format: PixelFormat, memory: SharedPicture? = nil,
        direct: (any DirectMemory)? = nil, isBorrowed: Bool = false, owner: Surface? = nil
    ) {
        self.memory = memory
        self.direct = direct
        self.isBorrowed = isBorrowed || owner != nil
        self.owner = owner
        self.display = display
        self.id = id
        self.size = size
        self.format = format
    }

    /// Wraps a surface that another owner, such as a decoder, created on the display and destroys. The surface must
    /// outlive this object.
    package convenience init(
        borrowing identifier: UInt32, of display: Display, size: VideoSize, format: PixelFormat
    ) {
        self.init(display, id: identifier, size: size, format: format, isBorrowed: true)
    }

    deinit {
        if isBorrowed { return }
        let (display, id, direct) = (display, id, direct)
        // A hung device may still read the memory.
        if let direct, display.watch.isHung { _ = unsafe Unmanaged.passRetained(direct as AnyObject) }
        display.watch.release {
            var id = id
            _ = unsafe vaDestroySurfaces(display.handle, &id, 1)
            withExtendedLifetime(direct) {}
        }
    }

    /// Creates `count` surfaces in one call (vaCreateSurfaces). Each surface is destroyed separately.
    ///
    /// - Parameters:
    ///   - size: The size in luma samples. The caller aligns it as the driver requires.
    ///   - usage: A usage hint. It is omitted if the driver does not support the attribute.
    package static func make(
        _ display: Display, count: Int, size: VideoSize, format: PixelFormat = .nv12, usage: Usage = .encoder
    ) throws -> [Surface] {
        guard let fourCC = FourCC(format) else {
            throw VaencError(.unavailable, "VA-API surfaces do not support \(format.rawValue)")
        }
        let object = "\(count) \(format.rawValue) surface\(count == 1 ? "" : "s") of \(size)"
        guard let width = CUnsignedInt(exactly: size.width), let height = CUnsignedInt(exactly: size.height),
            let number = CUnsignedInt(exactly: count)
        else {
            throw VAError(call: "vaCreateSurfaces", status: .resolutionNotSupported, object: object)
        }
        if count == 0 { return [] }
        var ids = [VASurfaceID](repeating: VA_INVALID_SURFACE, count: count)
        var list = unsafe [
            Self.attribute(VASurfaceAttribPixelFormat, fourCC.rawValue),
            Self.attribute(VASurfaceAttribUsageHint, usage.rawValue),
        ]
        let rtFormat = RTFormat(format).rawValue
        var status = unsafe vaCreateSurfaces(
            display.handle, rtFormat, width, height, &ids, number, &list, CUnsignedInt(list.count))
        if VAStatusCode(rawValue: status) == .attributeNotSupported {
            unsafe status = vaCreateSurfaces(display.handle, rtFormat, width, height, &ids, number, &list, 1)
        }
        try display.check(status, call: "vaCreateSurfaces", object: object)
        return ids.map { Surface(display, id: $0, size: size, format: format) }
    }

    static func attribute(_ type: VASurfaceAttribType, _ value: UInt32) -> VASurfaceAttrib {
        var attribute = unsafe VASurfaceAttrib()
        unsafe attribute.type = type
        unsafe attribute.flags = UInt32(VA_SURFACE_ATTRIB_SETTABLE)
        unsafe attribute.value.type = VAGenericValueTypeInteger
        unsafe attribute.value.value.i = Int32(bitPattern: value)
        return unsafe attribute
    }
}
