internal import CVA
internal import Glibc

/// Memory that other processes and drivers can have too: a memfd of the driver's own, or whatever a client imports, a
/// DMA-BUF or another file that can be mapped.
///
/// SAFETY: the descriptor is the object's own from `init` to `deinit`.
final class SharedObject: Sendable {
    let descriptor: Int32
    let byteCount: Int
    private let isDMABuffer: Bool

    /// A new memfd of zeroes whose size cannot change; nil where the system gives none.
    init?(byteCount: Int) {
        descriptor = unsafe vaenc_memfd_create("vaenc surface", VAENC_MFD_CLOEXEC | VAENC_MFD_ALLOW_SEALING)
        guard descriptor >= 0 else { return nil }
        self.byteCount = byteCount
        isDMABuffer = false
        guard ftruncate(descriptor, byteCount) == 0 else {
            close(descriptor)
            return nil
        }
        _ = fcntl(descriptor, VAENC_F_ADD_SEALS, VAENC_SEALED_SIZE)
    }

    /// What a client's descriptor stands for, which stays the client's.
    ///
    /// - Parameter claimed: the client's word for its bytes; 0 for none. More than there are is refused.
    init(importing client: Int32, claimed: Int) throws {
        let copy = client < 0 ? -1 : fcntl(client, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw Refusal.invalidParameter("\(client) is not an open file descriptor") }
        let end = lseek(copy, 0, SEEK_END)
        guard end > 0 else {
            close(copy)
            throw Refusal.invalidParameter("the object of descriptor \(client) has no size")
        }
        guard claimed <= end else {
            close(copy)
            throw Refusal.invalidParameter("the descriptor states \(claimed) bytes, but the object has \(end) bytes")
        }
        isDMABuffer = vaenc_is_dma_buffer(copy)
        descriptor = copy
        byteCount = Int(end)
    }

    deinit { close(descriptor) }

    /// A descriptor for a client to keep; nil where there is none.
    func exported(writable: Bool) -> Int32? {
        var copy: Int32 = -1
        // What cannot be opened again, like a DMA-BUF, is handed out as it is.
        if !writable { copy = unsafe open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC) }
        if copy < 0 { copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
        return copy < 0 ? nil : copy
    }

    /// Before the processor reads and writes a DMA-BUF (DMA_BUF_IOCTL_SYNC).
    func beginAccess() { synchronize(Self.syncRead | Self.syncWrite) }

    func endAccess() { synchronize(Self.syncRead | Self.syncWrite | Self.syncEnd) }

    private func synchronize(_ flags: UInt64) {
        guard isDMABuffer else { return }
        var flags = flags
        while unsafe ioctl(descriptor, Self.syncRequest, &flags) < 0, errno == EINTR || errno == EAGAIN {}
    }

    // linux/dma-buf.h.
    private static let syncRequest: UInt = 0x4008_6200
    private static let syncRead: UInt64 = 1
    private static let syncWrite: UInt64 = 2
    private static let syncEnd: UInt64 = 4
}
