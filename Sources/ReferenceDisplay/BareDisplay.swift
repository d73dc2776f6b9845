internal import CVA
internal import Glibc

/// A VADisplayContext with no device behind it, as libva's own vaGetDisplayDRM would make one (`va_backend.h`).
enum BareDisplay {
    /// A VADisplay for vaInitialize; vaTerminate frees it. nil where memory is out.
    ///
    /// - Parameter faults: variables for the fault driver, which looks for them, as lines, where displays of DRM have no
    ///   native display.
    @unsafe static func make(_ faults: [String: String]) -> UnsafeMutableRawPointer? {
        // SAFETY: all memory comes from calloc, as libva expects of displays, and is freed once, in `destroyDisplay`.
        // libva 2.20 calls vaGetDriverNames, which in older headers is the first reserved word.
        guard let last = unsafe MemoryLayout<VADisplayContext>.offset(of: \.vaGetDriverNameByIndex) else { return nil }
        let display = unsafe allocate(VADisplayContext.self)
        let driver = unsafe allocate(VADriverContext.self)
        let state = unsafe allocate(drm_state.self)
        guard let display = unsafe display, let driver = unsafe driver, let state = unsafe state else {
            unsafe free(display)
            unsafe free(driver)
            unsafe free(state)
            return nil
        }
        unsafe state.pointee.fd = -1
        unsafe driver.pointee.pDisplayContext = UnsafeMutableRawPointer(display)
        // libva sets it when the driver is open: what the driver says of its opening would be lost.
        unsafe driver.pointee.error_callback = driverMessage
        unsafe driver.pointee.display_type = CUnsignedLong(VA_DISPLAY_DRM_RENDERNODES)
        if !faults.isEmpty {
            let lines = faults.map { "\($0.key)=\($0.value)\n" }.sorted().joined()
            unsafe driver.pointee.native_dpy = UnsafeMutableRawPointer(strdup(lines))
        }
        unsafe driver.pointee.drm_state = UnsafeMutableRawPointer(state)
        unsafe display.pointee.vadpy_magic = VA_DISPLAY_MAGIC
        unsafe display.pointee.pDriverContext = driver
        unsafe display.pointee.vaIsValid = isValid
        unsafe display.pointee.vaDestroy = destroyDisplay
        unsafe display.pointee.vaGetDriverName = driverName
        unsafe display.pointee.vaGetNumCandidates = candidateCount
        unsafe display.pointee.vaGetDriverNameByIndex = driverNameByIndex
        unsafe (UnsafeMutableRawPointer(display) + last + MemoryLayout<UInt>.size).storeBytes(
            of: driverNames, as: DriverNames.self)
        return UnsafeMutableRawPointer(display)
    }

    private static func allocate<T>(_: T.Type) -> UnsafeMutablePointer<T>? {
        unsafe calloc(1, MemoryLayout<T>.size)?.bindMemory(to: T.self, capacity: 1)
    }
}

private typealias DriverNames =
    @convention(c) (
        VADisplayContextP?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, UnsafeMutablePointer<CUnsignedInt>?
    ) -> VAStatus

private func isValid(_ display: VADisplayContextP?) -> CInt { unsafe display == nil ? 0 : 1 }

/// Hands a driver's message on to the display, as libva does.
private func driverMessage(_ driver: VADriverContextP?, _ message: UnsafePointer<CChar>?) {
    guard let display = unsafe driver?.pointee.pDisplayContext?.assumingMemoryBound(to: VADisplayContext.self) else { return }
    unsafe display.pointee.error_callback?(display.pointee.error_callback_user_context, message)
}

private func destroyDisplay(_ display: VADisplayContextP?) {
    // SAFETY: libva calls this once, last, for the display that `make` allocated.
    guard let display = unsafe display else { return }
    unsafe free(display.pointee.pDriverContext.pointee.native_dpy)
    unsafe free(display.pointee.pDriverContext.pointee.drm_state)
    unsafe free(display.pointee.pDriverContext)
    unsafe free(display)
}

private func candidateCount(_: VADisplayContextP?, _ count: UnsafeMutablePointer<CInt>?) -> VAStatus {
    unsafe count?.pointee = 1
    return VA_STATUS_SUCCESS
}

private func driverFor(_ display: VADisplayContextP?) -> String {
    unsafe display?.pointee.pDriverContext?.pointee.native_dpy == nil ? DriverFolder.driverName : DriverFolder.faultDriverName
}

private func driverName(
    _ display: VADisplayContextP?, _ name: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> VAStatus {
    // SAFETY: libva frees the name.
    guard let copy = unsafe strdup(driverFor(display)) else { return VA_STATUS_ERROR_ALLOCATION_FAILED }
    unsafe name?.pointee = copy
    return VA_STATUS_SUCCESS
}

private func driverNameByIndex(
    _ display: VADisplayContextP?, _ name: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ index: CInt
) -> VAStatus {
    index == 0 ? unsafe driverName(display, name) : VA_STATUS_ERROR_INVALID_PARAMETER
}

/// Fills an array that libva provides, whose length is in `count`.
private func driverNames(
    _ display: VADisplayContextP?, _ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ count: UnsafeMutablePointer<CUnsignedInt>?
) -> VAStatus {
    guard let count = unsafe count, unsafe count.pointee > 0 else { return VA_STATUS_ERROR_INVALID_PARAMETER }
    let status = unsafe driverName(display, names)
    unsafe count.pointee = status == VA_STATUS_SUCCESS ? 1 : 0
    return status
}
