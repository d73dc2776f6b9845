package import CVA
internal import Glibc

/// Opens the fault driver on a display. libva calls it first (`va_backend.h`, __vaDriverInit).
package func startFaultDriver(_ context: VADriverContextP?) -> VAStatus {
    guard let context = unsafe context, let table = unsafe context.pointee.vtable else {
        return VA_STATUS_ERROR_INVALID_PARAMETER
    }
    do throws(FaultPlan.Unreadable) {
        return unsafe try openDriver(context, table)
    } catch {
        unsafe report("vaenc fault driver: \(error.message)", to: context)
        return VA_STATUS_ERROR_INVALID_VALUE
    }
}

/// Starts the wrapped driver in its own context. Then fills the client's tables with the wrapping calls.
///
/// SAFETY: libva owns the context and its tables, which are zeroed. Only fields that are in this build's headers are
/// set. The context holds a reference to the `WrappedDriver` object until vaTerminate.
private func openDriver(
    _ context: VADriverContextP, _ table: UnsafeMutablePointer<VADriverVTable>
) throws(FaultPlan.Unreadable) -> VAStatus {
    let settings = unsafe DisplaySettings(context)
    let text = settings.value("VAENC_FAULT") ?? ""
    let plan: FaultPlan
    do throws(FaultPlan.Unreadable) {
        plan = try FaultPlan(reading: text)
    } catch {
        throw FaultPlan.Unreadable(message: "VAENC_FAULT: \(error.message)")
    }
    let tracePath = settings.value("VAENC_FAULT_TRACE")
    if let tracePath, !writeTrace("", to: tracePath) {
        throw FaultPlan.Unreadable(message: "VAENC_FAULT_TRACE: \(tracePath) cannot be written")
    }
    let start = unsafe try DriverFile.load(Variables.value("VAENC_FAULT_DRIVER") ?? "libvaenc")
    let wrapper = unsafe WrappedDriver(
        like: context, CallCounter.of(text, plan), tracePath: tracePath)
    guard let driver = wrapper else { return VA_STATUS_ERROR_ALLOCATION_FAILED }
    switch driver.fault("vaInitialize") {
    case .status(let status), .lost(let status): return status
    case .delay(let milliseconds): sleep(milliseconds: milliseconds)
    case .corrupt: return VA_STATUS_ERROR_OPERATION_FAILED
    case .abort: endProcess(in: "vaInitialize")
    case nil: break
    }
    let status = unsafe start(driver.context)
    guard status == VA_STATUS_SUCCESS else { return status }
    let wrapped = unsafe driver.calls.pointee
    unsafe table.pointee.wrapConfigs(wrapped)
    unsafe table.pointee.wrapSurfaces(wrapped)
    unsafe table.pointee.wrapPictures(wrapped)
    unsafe table.pointee.wrapBuffers(wrapped)
    unsafe table.pointee.wrapImages(wrapped)
    unsafe table.pointee.wrapSubpictures(wrapped)
    unsafe table.pointee.vaTerminate = { client in unsafe terminate(client) }
    if let processing = unsafe context.pointee.vtable_vpp {
        unsafe processing.pointee.wrapAll(driver.processing.pointee)
    }
    if let protection = unsafe context.pointee.vtable_prot {
        unsafe protection.pointee.wrapAll(driver.protection.pointee)
    }
    let inner = unsafe driver.context
    unsafe context.pointee.version_major = inner.pointee.version_major
    unsafe context.pointee.version_minor = inner.pointee.version_minor
    unsafe context.pointee.max_profiles = inner.pointee.max_profiles
    unsafe context.pointee.max_entrypoints = inner.pointee.max_entrypoints
    unsafe context.pointee.max_attributes = inner.pointee.max_attributes
    unsafe context.pointee.max_image_formats = inner.pointee.max_image_formats
    unsafe context.pointee.max_subpic_formats = inner.pointee.max_subpic_formats
    unsafe context.pointee.max_display_attributes = inner.pointee.max_display_attributes
    // Clients detect the driver and its quirks by this name.
    unsafe context.pointee.str_vendor = inner.pointee.str_vendor
    unsafe context.pointee.pDriverData = Unmanaged.passRetained(driver).toOpaque()
    return VA_STATUS_SUCCESS
}

/// Implements vaTerminate. The wrapped driver is always terminated, unless the fault is `abort`.
private func terminate(_ client: VADriverContextP?) -> VAStatus {
    guard let client = unsafe client, let data = unsafe client.pointee.pDriverData else {
        return VA_STATUS_ERROR_INVALID_DISPLAY
    }
    unsafe client.pointee.pDriverData = nil
    let driver = unsafe Unmanaged<WrappedDriver>.fromOpaque(data).takeRetainedValue()
    let fault = driver.fault("vaTerminate")
    if case .delay(let milliseconds) = fault { sleep(milliseconds: milliseconds) }
    if case .abort = fault { endProcess(in: "vaTerminate") }
    let status = unsafe driver.calls.pointee.vaTerminate(driver.context)
    if let path = driver.tracePath { writeTrace(driver.counter.report, to: path) }
    switch fault {
    case .status(let failure), .lost(let failure): return failure
    case .corrupt: return VA_STATUS_ERROR_OPERATION_FAILED
    case .delay, .abort, nil: return status
    }
}

/// Writes the number of calls to the file of VAENC_FAULT_TRACE. The numbers help to choose the calls that should fail.
///
/// - Returns: Whether the file could be opened.
@discardableResult private func writeTrace(_ report: String, to path: String) -> Bool {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { return false }
    let bytes = Array(report.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    close(file)
    return true
}

/// Reports an error through the client's libva error callback, or on stderr if the client has not set one.
private func report(_ line: String, to context: VADriverContextP) {
    if let display = unsafe context.pointee.pDisplayContext?.assumingMemoryBound(to: VADisplayContext.self),
        let callback = unsafe display.pointee.error_callback
    {
        unsafe line.withCString { unsafe callback(display.pointee.error_callback_user_context, $0) }
    } else {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// The settings of one display. vaenc's ReferenceDisplay can set them per display, instead of the environment.
private struct DisplaySettings {
    private var lines: [Substring] = []

    /// SAFETY: libva sets no native display on DRM displays. If a DRM display has one, ReferenceDisplay has set it to a
    /// C string of lines, which is valid as long as the display.
    init(_ context: VADriverContextP) {
        guard unsafe context.pointee.display_type == CUnsignedLong(VA_DISPLAY_DRM_RENDERNODES),
            let text = unsafe context.pointee.native_dpy
        else { return }
        lines = unsafe String(cString: text.assumingMemoryBound(to: CChar.self)).split(separator: "\n")
    }

    /// Returns the value of a setting. If the display has settings, the environment is ignored.
    func value(_ name: String) -> String? {
        if lines.isEmpty { return Variables.value(name) }
        return lines.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
}
