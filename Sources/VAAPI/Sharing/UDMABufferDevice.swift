internal import CVA
internal import Glibc
internal import VideoBase

/// The kernel's device that makes DMA-BUFs of a program's memory (linux/udmabuf.h), open.
final class UDMABufferDevice: Sendable {
    private let path: String
    private let descriptor: Int32

    /// Opens the device.
    ///
    /// - Throws: `unavailable` if there is none, `noPermission` if it may not be opened.
    init(_ path: String = "/dev/udmabuf") throws(VaencError) {
        self.path = path
        var descriptor: Int32
        repeat {
            descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        } while descriptor < 0 && errno == EINTR
        if descriptor < 0 { throw Self.openFailure(path, errno) }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func openFailure(_ path: String, _ code: Int32) -> VaencError {
        switch code {
        case ENOENT, ENOTDIR, ENXIO, ENODEV:
            VaencError(.unavailable, "there is no device \(path)", remedy: "the kernel has no udmabuf driver, or the module udmabuf is not loaded")
        case EACCES, EPERM: VaencError(.noPermission, "no permission to open \(path)", remedy: "add yourself to the group of \(path), often kvm")
        case EMFILE, ENFILE: VaencError.noDescriptor("for \(path)")
        default: VaencError(.unavailable, "cannot open \(path) (\(SharedPicture.reason(code)))")
        }
    }

    /// Makes a DMA-BUF of sealed memory (UDMABUF_CREATE). The DMA-BUF keeps the memory.
    ///
    /// - Returns: A file descriptor that the caller owns.
    /// - Throws: `unavailable` if the kernel refuses the memory.
    func makeBuffer(of memory: SealedMemory) throws(VaencError) -> Int32 {
        while true {
            let buffer = vaenc_udmabuf_create(descriptor, memory.descriptor, UInt64(memory.byteCount))
            if buffer >= 0 { return buffer }
            let code = errno
            switch code {
            case EINTR: continue
            case ENOMEM: throw VaencError.noMemory("for a DMA-BUF of \(memory.byteCount) bytes")
            case EMFILE, ENFILE: throw VaencError.noDescriptor("for a DMA-BUF")
            default:
                throw VaencError(
                    .unavailable, "\(path) refuses a DMA-BUF of \(memory.byteCount) bytes (\(SharedPicture.reason(code)))",
                    remedy: code == EINVAL ? "the parameter size_limit_mb of the module udmabuf limits the size" : nil)
            }
        }
    }
}

/// Memory with a file descriptor whose size is sealed (memfd_create), as udmabuf needs it.
final class SealedMemory: Sendable {
    let descriptor: Int32
    let byteCount: Int

    /// Creates zeroed memory.
    ///
    /// - Parameter byteCount: The size in bytes, in whole pages.
    /// - Throws: `unavailable` if the system cannot create it.
    init(byteCount: Int) throws(VaencError) {
        // deinit also runs if init fails after it has set all properties.
        let descriptor = unsafe vaenc_memfd_create("vaenc picture", VAENC_MFD_CLOEXEC | VAENC_MFD_ALLOW_SEALING)
        if descriptor < 0 { throw Self.failure(byteCount, errno) }
        guard ftruncate(descriptor, byteCount) == 0, fcntl(descriptor, VAENC_F_ADD_SEALS, VAENC_SEALED_SIZE) == 0 else {
            let code = errno
            close(descriptor)
            throw Self.failure(byteCount, code)
        }
        (self.descriptor, self.byteCount) = (descriptor, byteCount)
    }

    deinit { close(descriptor) }

    /// Maps the memory for reading and writing. The caller unmaps it.
    func map() throws(VaencError) -> UnsafeMutableRawPointer {
        let memory = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw Self.failure(byteCount, errno) }
        return unsafe memory
    }

    private static func failure(_ byteCount: Int, _ code: Int32) -> VaencError {
        switch code {
        case ENOMEM: VaencError.noMemory("for a picture of \(byteCount) bytes")
        case EMFILE, ENFILE: VaencError.noDescriptor("for a picture")
        default: VaencError(.unavailable, "no shared memory of \(byteCount) bytes (\(SharedPicture.reason(code)))")
        }
    }
}
