internal import CVA

/// The libva calls on VA buffers, shared by parameter buffers, coded buffers and images.
enum BufferCalls {
    /// The access to a mapped buffer: the flags of vaMapBuffer2. Ignored if libva is older than VA-API 1.21.
    struct Access: OptionSet {
        let rawValue: UInt32
        static let read = Access(rawValue: VAENC_MAP_READ)
        static let write = Access(rawValue: VAENC_MAP_WRITE)
    }

    /// Calls vaCreateBuffer for one element.
    ///
    /// - Parameter data: `size` bytes, which the driver copies, or nil for memory that the device writes.
    @unsafe static func create(
        _ context: Context, type: VABufferType, size: CUnsignedInt, data: UnsafeRawPointer?, id: inout VABufferID
    ) -> VAStatus {
        // SAFETY: libva's parameter is not const, but vaCreateBuffer only reads the data.
        unsafe vaCreateBuffer(
            context.display.handle, context.id, type, size, 1, UnsafeMutableRawPointer(mutating: data), &id)
    }

    /// Calls vaMapBuffer, or vaMapBuffer2 from VA-API 1.21 on. The memory is valid until `unmap`.
    @unsafe static func map(
        _ display: Display, id: VABufferID, address: inout UnsafeMutableRawPointer?, for access: Access
    ) -> VAStatus {
        unsafe vaenc_map_buffer(display.handle, id, &address, access.rawValue)
    }

    /// Calls vaUnmapBuffer.
    @discardableResult
    static func unmap(_ display: Display, _ id: VABufferID) -> VAStatus {
        unsafe vaUnmapBuffer(display.handle, id)
    }

    /// Calls vaDestroyBuffer.
    static func destroy(_ display: Display, _ id: VABufferID) {
        _ = unsafe vaDestroyBuffer(display.handle, id)
    }
}
