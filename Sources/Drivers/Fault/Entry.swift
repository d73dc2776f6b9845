package import CVA
internal import Glibc

/// What libva calls first (`va_backend.h`, __vaDriverInit).
package func startFaultDriver(_ context: VADriverContextP?) -> VAStatus {
    guard let context = unsafe context, let table = unsafe context.pointee.vtable else {
        return VA_STATUS_ERROR_INVALID_PARAMETER
    }
    do throws(FaultPlan.Unreadable) {
        return unsafe try openDriver(context, table)
    } catch {
        unsafe say("vaenc fault driver: \(error.message)", to: context)
        return VA_STATUS_ERROR_INVALID_VALUE
    }
}

/// Starts the wrapped driver in a context of its own, then puts this one's calls before its.
///
/// SAFETY: libva hands over a context that it owns, zeroed, with tables of its own size; fields are set by the names
/// that this build's headers know. The wrapped driver's object is released in vaTerminate.
private func openDriver(
    _ context: VADriverContextP, _ table: UnsafeMutablePointer<VADriverVTable>
) throws(FaultPlan.Unreadable) -> VAStatus {
    let told = unsafe Told(context)
    let text = told.value("VAENC_FAULT") ?? ""
    let plan: FaultPlan
    do throws(FaultPlan.Unreadable) {
        plan = try FaultPlan(reading: text)
    } catch {
        throw FaultPlan.Unreadable(message: "VAENC_FAULT: \(error.message)")
    }
    let tracePath = told.value("VAENC_FAULT_TRACE")
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
    // Clients know drivers and their quirks by this name.
    unsafe context.pointee.str_vendor = inner.pointee.str_vendor
    unsafe context.pointee.pDriverData = Unmanaged.passRetained(driver).toOpaque()
    return VA_STATUS_SUCCESS
}

/// vaTerminate: the wrapped driver always ends, whatever the fault plan says.
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

/// VAENC_FAULT_TRACE: how often each call came, for choosing which of them to fail.
///
/// - Returns: whether the file could be opened.
@discardableResult private func writeTrace(_ report: String, to path: String) -> Bool {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { return false }
    let bytes = Array(report.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    close(file)
    return true
}

/// Through libva's callback for errors where the client set one, else to stderr.
private func say(_ line: String, to context: VADriverContextP) {
    if let display = unsafe context.pointee.pDisplayContext?.assumingMemoryBound(to: VADisplayContext.self),
        let callback = unsafe display.pointee.error_callback
    {
        unsafe line.withCString { unsafe callback(display.pointee.error_callback_user_context, $0) }
    } else {
        let bytes = Array((line + "\n").utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// What a display of this process says in place of the environment: vaenc's ReferenceDisplay, to some of its displays.
private struct Told {
    private var lines: [Substring] = []

    /// SAFETY: displays of DRM have no native display in libva; where there is one of that type, it is a string of lines
    /// that lives as long as the display.
    init(_ context: VADriverContextP) {
        guard unsafe context.pointee.display_type == CUnsignedLong(VA_DISPLAY_DRM_RENDERNODES),
            let text = unsafe context.pointee.native_dpy
        else { return }
        lines = unsafe String(cString: text.assumingMemoryBound(to: CChar.self)).split(separator: "\n")
    }

    /// Nothing of the environment holds for a display that is told.
    func value(_ name: String) -> String? {
        if lines.isEmpty { return Variables.value(name) }
        return lines.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
}
