internal import CVA
internal import Glibc

/// Creates a VADisplayContext without a device, in the form in which libva's vaGetDisplayDRM creates one
/// (`va_backend.h`).
enum BareDisplay {
    /// Returns a VADisplay for vaInitialize, which vaTerminate frees, or nil if there is not enough memory.
    ///
    /// - Parameter faults: Variables for the fault driver. They are passed to it as lines of text in `native_dpy`,
    ///   which DRM displays do not use.
    @unsafe static func make(_ faults: [String: String]) -> UnsafeMutableRawPointer? {
        // SAFETY: All memory comes from calloc, as libva expects of displays, and `destroyDisplay` frees it once. libva
        // 2.20 calls vaGetDriverNames, which older headers declare as the first reserved word.
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
        // libva sets this callback only after the driver is open; messages from opening it would be lost.
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

/// Passes a driver's message to the display, as libva does.
private func driverMessage(_ driver: VADriverContextP?, _ message: UnsafePointer<CChar>?) {
    guard let display = unsafe driver?.pointee.pDisplayContext?.assumingMemoryBound(to: VADisplayContext.self) else { return }
    unsafe display.pointee.error_callback?(display.pointee.error_callback_user_context, message)
}

private func destroyDisplay(_ display: VADisplayContextP?) {
    // SAFETY: libva calls this once, as the last call, for the display that `make` allocated.
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

/// Fills an array that libva provides. `count` is the array's length.
private func driverNames(
    _ display: VADisplayContextP?, _ names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
    _ count: UnsafeMutablePointer<CUnsignedInt>?
) -> VAStatus {
    guard let count = unsafe count, unsafe count.pointee > 0 else { return VA_STATUS_ERROR_INVALID_PARAMETER }
    let status = unsafe driverName(display, names)
    unsafe count.pointee = status == VA_STATUS_SUCCESS ? 1 : 0
    return status
}
