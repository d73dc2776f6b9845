public import CVA
internal import Glibc

/// Initializes a display: fills in its calls and limits. libva looks up this symbol (`va_backend.h`).
@_cdecl("__vaDriverInit_1_0")
public func vaDriverInit(_ context: VADriverContextP?) -> VAStatus {
    unsafe openDriver(context, .current())
}

/// Opens a display with the settings of `environment`.
///
/// SAFETY: libva passes a zeroed context that it owns. Its vtable has the size of libva's build. Only fields that this
/// build's headers declare are set, by name. The driver object is retained here and released in vaTerminate.
package func openDriver(_ context: VADriverContextP?, _ environment: Environment) -> VAStatus {
    guard let context = unsafe context, let table = unsafe context.pointee.vtable else {
        return VA_STATUS_ERROR_INVALID_PARAMETER
    }
    if let fault = environment.fault {
        unsafe context.pointee.error_callback?(context, "vaenc reference driver: \(fault)\n")
        return VA_STATUS_ERROR_INVALID_VALUE
    }
    var capabilities = Capabilities.unrestricted
    if let name = environment.personality {
        guard let personality = Personality.named(name) else {
            let message =
                "vaenc reference driver: VAENC_REFERENCE_PERSONALITY=\(name) must be one of "
                + Personality.names.joined(separator: ", ") + "\n"
            unsafe context.pointee.error_callback?(context, message)
            return VA_STATUS_ERROR_INVALID_VALUE
        }
        capabilities = personality
    }
    if !environment.offersHEVC { capabilities.entries.removeAll { $0.codec?.isOptional == true } }
    if !(environment.processes && PictureScaler.isInstalled) {
        capabilities.entries.removeAll { $0.entrypoint == VAEntrypointVideoProc }
    }
    if !PictureDecoder.isInstalled { capabilities.entries.removeAll { $0.entrypoint == VAEntrypointVLD } }
    let driver = Driver(capabilities: capabilities, environment: environment)
    unsafe table.pointee.fillConfigs()
    unsafe table.pointee.fillSurfaces()
    unsafe table.pointee.fillBuffers()
    unsafe table.pointee.fillImages()
    unsafe table.pointee.fillAbsent()
    unsafe context.pointee.vtable_vpp?.pointee.fill()

    unsafe context.pointee.version_major = VA_MAJOR_VERSION
    unsafe context.pointee.version_minor = VA_MINOR_VERSION
    unsafe context.pointee.max_profiles = Int32(capabilities.profiles.count)
    unsafe context.pointee.max_entrypoints = 4
    unsafe context.pointee.max_attributes = Int32(capabilities.entries.map(\.attributes.count).max() ?? 1)
    unsafe context.pointee.max_image_formats = Int32(capabilities.imageFormats.count)
    // libva rejects a maximum of 0, although no subpicture format is supported.
    unsafe context.pointee.max_subpic_formats = 1
    unsafe context.pointee.max_display_attributes = 0
    unsafe context.pointee.str_vendor = UnsafePointer(driver.vendor)
    unsafe context.pointee.pDriverData = Unmanaged.passRetained(driver).toOpaque()
    return VA_STATUS_SUCCESS
}
