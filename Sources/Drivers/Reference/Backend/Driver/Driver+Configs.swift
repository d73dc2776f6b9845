internal import CVA

extension Driver {
    /// Returns the values of the attributes (vaGetConfigAttributes), VA_ATTRIB_NOT_SUPPORTED for attributes that are
    /// not supported.
    func attributes(
        _ profile: VAProfile, _ entrypoint: VAEntrypoint, _ types: [VAConfigAttribType]
    ) throws -> [UInt32] {
        let entry = try capabilities.entry(profile, entrypoint)
        return types.map { entry.value($0) ?? VA_ATTRIB_NOT_SUPPORTED }
    }

    func createConfig(
        _ profile: VAProfile, _ entrypoint: VAEntrypoint, _ chosen: [VAConfigAttrib]
    ) throws -> VAConfigID {
        let choice = try Config.Choice(entry: capabilities.entry(profile, entrypoint), attributes: chosen, environment)
        return monitor.withLock { configs.insert { Config(id: $0, choice: choice) }.id }
    }

    func destroyConfig(_ id: VAConfigID) throws {
        try monitor.withLock {
            _ = try config(id)
            configs.remove(id)
        }
    }

    /// A surface attribute: an integer, or a pointer that clients may set.
    struct SurfaceAttribute {
        var type: VASurfaceAttribType
        var value: Int32?
        var isSettable = false
    }

    /// Returns the surface attributes of a config (vaQuerySurfaceAttributes) in the order in which clients get them.
    func surfaceAttributes(_ id: VAConfigID) throws -> [SurfaceAttribute] {
        let (entry, kind) = try monitor.withLock { (try config(id).entry, try config(id).kind) }
        let formats: [SurfaceFormat] =
            switch kind {
            case .process: capabilities.surfaceFormats
            case .encode: [entry.bitDepth > 8 ? .p010 : .nv12]
            // The stream decides the bit depth: Main 10 allows pictures of 8 bits.
            case .decode: entry.bitDepth > 8 ? [.p010, .nv12] : [.nv12]
            }
        return formats.map {
            SurfaceAttribute(
                type: VASurfaceAttribPixelFormat, value: Int32(bitPattern: $0.fourcc), isSettable: true)
        } + [
            SurfaceAttribute(type: VASurfaceAttribMinWidth, value: Int32(entry.minimumWidth)),
            SurfaceAttribute(type: VASurfaceAttribMaxWidth, value: Int32(entry.maximumWidth)),
            SurfaceAttribute(type: VASurfaceAttribMinHeight, value: Int32(entry.minimumHeight)),
            SurfaceAttribute(type: VASurfaceAttribMaxHeight, value: Int32(entry.maximumHeight)),
            SurfaceAttribute(
                type: VASurfaceAttribMemoryType, value: Int32(bitPattern: capabilities.memoryTypes), isSettable: true),
            SurfaceAttribute(type: VASurfaceAttribExternalBufferDescriptor, isSettable: true),
        ]
            + (entry.surfaceAlignment.map {
                [SurfaceAttribute(type: vaenc_surface_alignment, value: Int32($0))]
            } ?? [])
    }
}
