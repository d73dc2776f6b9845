package import VideoBase

/// The surfaces that a configuration accepts (vaQuerySurfaceAttributes).
package struct SurfaceCapabilities: Sendable, Hashable {
    /// The limits of a surface's size in luma samples, or nil if the driver does not report them.
    package var minWidth: Int?
    package var minHeight: Int?
    package var maxWidth: Int?
    package var maxHeight: Int?
    package var pixelFormats: [FourCC] = []
    package var memoryTypes = MemoryTypes()
    /// The multiples to which the hardware rounds widths and heights up, in luma samples (VA-API 1.21), or nil if the
    /// driver does not report them.
    package var alignment: VideoSize?

    package init() {}

    /// Whether a picture of this size is within the limits.
    package func allows(_ size: VideoSize) -> Bool {
        size.width >= minWidth ?? 1 && size.height >= minHeight ?? 1
            && size.width <= maxWidth ?? .max && size.height <= maxHeight ?? .max
    }
}

/// A set of memory types: the VA_SURFACE_ATTRIB_MEM_TYPE_… flags.
public struct MemoryTypes: OptionSet, Sendable, Hashable {
    /// The flags as in `va.h` and `va_drmcommon.h`.
    public let rawValue: UInt32
    /// Creates a set from the flags.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Memory that the driver allocates (VA_SURFACE_ATTRIB_MEM_TYPE_VA).
    public static let va = MemoryTypes(rawValue: 0x1)
    /// Buffers of V4L2 (VA_SURFACE_ATTRIB_MEM_TYPE_V4L2).
    public static let v4l2 = MemoryTypes(rawValue: 0x2)
    /// Memory of the program (VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR).
    public static let userPointer = MemoryTypes(rawValue: 0x4)
    /// GEM names (VA_SURFACE_ATTRIB_MEM_TYPE_KERNEL_DRM).
    public static let kernelDRM = MemoryTypes(rawValue: 0x1000_0000)
    /// One DMA-BUF (VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME).
    public static let drmPrime = MemoryTypes(rawValue: 0x2000_0000)
    /// DMA-BUFs with a layout for each plane (VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2).
    public static let drmPrime2 = MemoryTypes(rawValue: 0x4000_0000)
    /// DMA-BUFs like `drmPrime2`, with modifiers that the client chooses (VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_3).
    public static let drmPrime3 = MemoryTypes(rawValue: 0x0800_0000)

    /// The names that reports use: `va`, `drm-prime-2`, ….
    public var names: [String] {
        zip(
            [Self.va, .v4l2, .userPointer, .kernelDRM, .drmPrime, .drmPrime2, .drmPrime3],
            ["va", "v4l2", "user-ptr", "kernel-drm", "drm-prime", "drm-prime-2", "drm-prime-3"]
        ).filter { contains($0.0) }.map(\.1)
    }
}
