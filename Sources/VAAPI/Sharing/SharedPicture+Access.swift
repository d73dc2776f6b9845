internal import Glibc
internal import VideoBase

/// The program's access to a mapped picture: each DMA-BUF needs DMA_BUF_IOCTL_SYNC before and after it.
extension SharedPicture {
    /// Waits until the device has finished with the memory, and begins the access.
    ///
    /// - Parameter surface: Returns the description of the surface for errors.
    /// - Throws: A `VAError`, of status `.timedOut` if the device hangs.
    func beginAccess(_ access: Surface.Access, on display: Display, surface: () -> String) throws {
        func timedOut() -> VAError {
            VAError(call: "poll", status: .timedOut, object: surface(), remedy: Surface.hangRemedy, category: .deviceFailed)
        }
        if display.watch.isHung { throw timedOut() }
        // The ioctl below waits without a time limit. A DMA-BUF is writable when the device has finished with it.
        for object in objects {
            var file = pollfd(fd: object.descriptor, events: Int16(POLLOUT), revents: 0)
            while true {
                let count = unsafe poll(&file, 1, CInt(clamping: display.watch.limitNanoseconds / 1_000_000))
                if count > 0 { break }
                if count == 0 { throw timedOut() }
                if errno != EINTR { break }
            }
        }
        try synchronize(Self.flags(access), surface)
    }

    /// Ends the access. The device then sees what the program wrote.
    ///
    /// - Throws: A `VAError` if the kernel refuses this and the program could write. What was read stays valid.
    func endAccess(_ access: Surface.Access, surface: () -> String) throws {
        do { try synchronize(Self.flags(access) | Self.syncEnd, surface) } catch  where !access.writes {}
    }

    private static func flags(_ access: Surface.Access) -> UInt64 {
        (access.reads ? syncRead : 0) | (access.writes ? syncWrite : 0)
    }

    private func synchronize(_ flags: UInt64, _ surface: () -> String) throws {
        for object in objects {
            var flags = flags
            while unsafe ioctl(object.descriptor, Self.syncRequest, &flags) < 0 {
                let code = errno
                if code == EINTR || code == EAGAIN { continue }
                // Memory of the reference driver is no DMA-BUF, and needs no synchronization.
                if code == ENOTTY { break }
                throw VAError(
                    call: Self.syncName, status: .operationFailed, object: surface(), driverMessage: Self.reason(code), category: .deviceFailed)
            }
        }
    }

    fileprivate static var syncName: String { "DMA_BUF_IOCTL_SYNC" }
    // The values of linux/dma-buf.h.
    private static var syncRequest: UInt { 0x4008_6200 }
    private static var syncRead: UInt64 { 1 }
    private static var syncWrite: UInt64 { 2 }
    private static var syncEnd: UInt64 { 4 }
}

extension VAError {
    /// The message of a failed synchronization of shared memory; nil for other errors. Other memory may work.
    package var refusalOfSharedMemory: String? { call == SharedPicture.syncName ? message : nil }
}
