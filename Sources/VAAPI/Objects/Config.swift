internal import CVA
internal import VideoBase

/// A VAConfig: a profile at an entry point, with attribute values.
@safe package final class Config: Sendable {
    package let display: Display
    package let profile: Profile
    package let entryPoint: EntryPoint
    let id: VAConfigID

    /// Creates the configuration (vaCreateConfig).
    ///
    /// - Parameter attributes: The requested values. The driver chooses the values of all other attributes.
    /// - Throws: A `VAError`: `.unavailable` if the driver rejects the configuration, `.deviceFailed` if the call
    ///   itself fails.
    package init(
        _ display: Display, profile: Profile, entryPoint: EntryPoint, attributes: [AttributeType: UInt32] = [:]
    ) throws(VAError) {
        var list = attributes.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { VAConfigAttrib(type: VAConfigAttribType($0.key.rawValue), value: $0.value) }
        var id = VAConfigID(VA_INVALID_ID)
        let status = unsafe vaCreateConfig(
            display.handle, VAProfile(profile.rawValue), VAEntrypoint(UInt32(bitPattern: entryPoint.rawValue)), &list,
            CInt(list.count), &id)
        let hasFailed = VAStatusCode(rawValue: status).category == .deviceFailed
        try display.check(
            status, call: "vaCreateConfig", object: "\(profile)/\(entryPoint)",
            remedy: hasFailed ? nil : "`Devices.reports` lists the capabilities of \(display.vendor)",
            category: hasFailed ? nil : .unavailable)
        self.display = display
        self.profile = profile
        self.entryPoint = entryPoint
        self.id = id
    }

    deinit {
        let (display, id) = (display, id)
        display.watch.release { _ = unsafe vaDestroyConfig(display.handle, id) }
    }

    /// Returns the surfaces that the configuration accepts (vaQuerySurfaceAttributes).
    package func surfaceCapabilities() throws(VAError) -> SurfaceCapabilities {
        var list = unsafe [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: 96)
        var count = unsafe CUnsignedInt(list.count)
        var status = unsafe vaQuerySurfaceAttributes(display.handle, id, &list, &count)
        if VAStatusCode(rawValue: status) == .maximumExceeded, unsafe count > list.count, count < 65536 {
            unsafe list = [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: Int(count))
            unsafe status = vaQuerySurfaceAttributes(display.handle, id, &list, &count)
        }
        try display.check(status, call: "vaQuerySurfaceAttributes", object: "\(profile)/\(entryPoint)")
        var result = SurfaceCapabilities()
        for index in unsafe list.prefix(Int(count)).indices {
            let attribute = unsafe list[index]
            // SAFETY: The attributes that are read here are integers, whatever `value.type` contains.
            let value = unsafe attribute.value.value.i
            switch unsafe attribute.type {
            // A limit that is not positive is ignored.
            case VASurfaceAttribMinWidth: result.minWidth = value > 0 ? Int(value) : nil
            case VASurfaceAttribMaxWidth: result.maxWidth = value > 0 ? Int(value) : nil
            case VASurfaceAttribMinHeight: result.minHeight = value > 0 ? Int(value) : nil
            case VASurfaceAttribMaxHeight: result.maxHeight = value > 0 ? Int(value) : nil
            case VASurfaceAttribPixelFormat: result.pixelFormats.append(FourCC(rawValue: UInt32(bitPattern: value)))
            case VASurfaceAttribMemoryType: result.memoryTypes.formUnion(MemoryTypes(rawValue: UInt32(bitPattern: value)))
            // The log2 of the width's and of the height's alignment, four bits each.
            case vaenc_surface_alignment:
                result.alignment = VideoSize(width: 1 << Int(value & 0xf), height: 1 << Int(value >> 4 & 0xf))
            default: break
            }
        }
        return result
    }
}
