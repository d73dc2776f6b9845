internal import CVA
internal import Glibc

/// Memory that can be shared with other processes and drivers. It is either a memfd that the driver has created, or a
/// DMA-BUF or another mappable file that a client imports.
///
/// SAFETY: this object owns the file descriptor from `init` to `deinit`.
final class SharedObject: Sendable {
    let descriptor: Int32
    let byteCount: Int
    private let isDMABuffer: Bool

    /// Creates a zeroed memfd whose size is sealed. Returns nil if the system cannot create it.
    init?(byteCount: Int) {
        // deinit also runs if init fails after it has set all properties.
        let descriptor = unsafe vaenc_memfd_create("vaenc surface", VAENC_MFD_CLOEXEC | VAENC_MFD_ALLOW_SEALING)
        guard descriptor >= 0 else { return nil }
        guard ftruncate(descriptor, byteCount) == 0 else {
            close(descriptor)
            return nil
        }
        _ = fcntl(descriptor, VAENC_F_ADD_SEALS, VAENC_SEALED_SIZE)
        (self.descriptor, self.byteCount, isDMABuffer) = (descriptor, byteCount, false)
    }

    /// Imports the object of a client's file descriptor. The descriptor is duplicated and stays the client's.
    ///
    /// - Parameter statedByteCount: The size that the client states, or 0 for none.
    /// - Throws: INVALID_PARAMETER if the descriptor is invalid, or if the object is smaller than the stated size.
    init(importing client: Int32, statedByteCount: Int) throws {
        let copy = client < 0 ? -1 : fcntl(client, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw Refusal.invalidParameter("\(client) is not an open file descriptor") }
        let end = lseek(copy, 0, SEEK_END)
        guard end > 0 else {
            close(copy)
            throw Refusal.invalidParameter("the object of descriptor \(client) has no size")
        }
        guard statedByteCount <= end else {
            close(copy)
            throw Refusal.invalidParameter(
                "the descriptor states \(statedByteCount) bytes, but the object has \(end) bytes")
        }
        isDMABuffer = vaenc_is_dma_buffer(copy)
        descriptor = copy
        byteCount = Int(end)
    }

    deinit { close(descriptor) }

    /// Returns a new file descriptor, which the caller owns, or nil if there is no free one.
    ///
    /// - Parameter writable: Whether the client may write. If it is false, the descriptor is read-only if possible.
    func exported(writable: Bool) -> Int32? {
        var copy: Int32 = -1
        // An object that cannot be opened again, for example a DMA-BUF, is exported as a duplicate.
        if !writable { copy = unsafe open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC) }
        if copy < 0 { copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        return copy < 0 ? nil : copy
    }

    /// Prepares a DMA-BUF for reads and writes by the CPU (DMA_BUF_IOCTL_SYNC). Does nothing for other objects.
    func beginAccess() { synchronize(Self.syncRead | Self.syncWrite) }

    /// Ends the CPU's access.
    func endAccess() { synchronize(Self.syncRead | Self.syncWrite | Self.syncEnd) }

    private func synchronize(_ flags: UInt64) {
        guard isDMABuffer else { return }
        var flags = flags
        while unsafe ioctl(descriptor, Self.syncRequest, &flags) < 0, errno == EINTR || errno == EAGAIN {}
    }

    // The values of linux/dma-buf.h.
    private static let syncRequest: UInt = 0x4008_6200
    private static let syncRead: UInt64 = 1
    private static let syncWrite: UInt64 = 2
    private static let syncEnd: UInt64 = 4
}
