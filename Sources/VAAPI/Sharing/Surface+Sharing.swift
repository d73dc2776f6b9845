internal import CVA
internal import VideoBase

extension Surface {
    /// Creates a surface that uses shared memory directly (vaCreateSurfaces). The surface keeps the picture alive.
    ///
    /// - Throws: A `VAError`, also if the driver does not accept the memory or its format. The caller should then copy
    ///   the picture.
    package static func make(_ display: Display, in picture: SharedPicture) throws -> Surface {
        try make(display, in: picture, direct: nil)
    }

    /// - Parameter direct: The mapping of the picture in which the program draws.
    static func make(_ display: Display, in picture: SharedPicture, direct: (any DirectMemory)?) throws -> Surface {
        let object = "\(picture.format.rawValue) surface of \(picture.size) in shared memory"
        guard let fourCC = FourCC(picture.format), let layer = DRMFormat(picture.format),
            var description = vaenc_prime_surface(picture, fourCC: fourCC, layer: layer),
            let width = CUnsignedInt(exactly: picture.size.width), let height = CUnsignedInt(exactly: picture.size.height)
        else { throw VAError(call: "vaCreateSurfaces", status: .unsupportedMemoryType, object: object) }
        var id = VASurfaceID(VA_INVALID_SURFACE)
        // SAFETY: The driver reads the description and duplicates the descriptors before vaCreateSurfaces returns.
        let status = unsafe withUnsafeMutablePointer(to: &description) { pointer in
            var list = unsafe [
                attribute(VASurfaceAttribPixelFormat, fourCC.rawValue),
                attribute(VASurfaceAttribMemoryType, MemoryTypes.drmPrime2.rawValue),
                attribute(VASurfaceAttribExternalBufferDescriptor, pointer: pointer),
            ]
            return unsafe vaCreateSurfaces(
                display.handle, RTFormat(picture.format).rawValue, width, height, &id, 1, &list,
                CUnsignedInt(list.count))
        }
        try display.check(status, call: "vaCreateSurfaces", object: object, remedy: "copy the picture instead")
        return Surface(display, id: id, size: picture.size, format: picture.format, memory: picture, direct: direct)
    }

    /// Exports the surface's memory for reading by others, or also for writing (vaExportSurfaceHandle).
    ///
    /// Pending writes of the device are visible only after the surface has been synchronized.
    package func export(_ access: Access = .read) throws -> SharedPicture {
        var description = vaenc_prime_surface()
        var flags = VA_EXPORT_SURFACE_SEPARATE_LAYERS
        if access.reads { flags |= VA_EXPORT_SURFACE_READ_ONLY }
        if access.writes { flags |= VA_EXPORT_SURFACE_WRITE_ONLY }
        try display.check(
            unsafe vaExportSurfaceHandle(
                display.handle, id, MemoryTypes.drmPrime2.rawValue, UInt32(flags), &description),
            call: "vaExportSurfaceHandle", object: "\(format.rawValue) surface of \(size)")
        let picture = SharedPicture(format: format, size: size, owning: description.ownedObjects, planes: description.planes)
        guard picture.planes.allSatisfy({ picture.objects.indices.contains($0.object) }) else {
            throw VAError(
                call: "vaExportSurfaceHandle", status: .operationFailed, object: "\(format.rawValue) surface of \(size)",
                driverMessage: "a plane lies outside all \(picture.objects.count) memory objects")
        }
        return picture
    }

    @unsafe static func attribute<Description>(
        _ type: VASurfaceAttribType, pointer: UnsafeMutablePointer<Description>
    ) -> VASurfaceAttrib {
        var attribute = unsafe VASurfaceAttrib()
        unsafe attribute.type = type
        unsafe attribute.flags = UInt32(VA_SURFACE_ATTRIB_SETTABLE)
        unsafe attribute.value.type = VAGenericValueTypePointer
        unsafe attribute.value.value.p = UnsafeMutableRawPointer(pointer)
        return unsafe attribute
    }
}

/// The DRM_FORMAT_… code for all planes of a picture together.
private struct DRMFormat {
    let code: UInt32

    /// Creates the DRM description of a pixel format. Returns nil for formats that drivers do not accept.
    init?(_ format: PixelFormat) {
        let name: StaticString
        switch format {
        case .nv12: name = "NV12"
        case .p010: name = "P010"
        case .i420: name = "YU12"
        case .yv12: name = "YV12"
        case .yuyv: name = "YUYV"
        case .uyvy: name = "UYVY"
        // VA-API names the bytes in memory order, DRM those of a little-endian word.
        case .bgra: name = "AR24"
        case .rgba: name = "AB24"
        case .i422, .i444, .gray, .rgb24, .i420p10: return nil
        }
        code = (0..<4).reduce(0) { unsafe $0 | UInt32(name.utf8Start[$1]) << UInt32($1 * 8) }
    }
}

/// The layout of VADRMPRIMESurfaceDescriptor, declared in C.
extension vaenc_prime_surface {
    /// Creates the descriptor of a picture. Returns nil if the picture does not fit into the descriptor's fields.
    fileprivate init?(_ picture: SharedPicture, fourCC: FourCC, layer: DRMFormat) {
        guard (1...4).contains(picture.objects.count), (1...4).contains(picture.planes.count),
            picture.objects.allSatisfy({ UInt32(exactly: $0.byteCount) != nil }),
            picture.planes.allSatisfy({
                picture.objects.indices.contains($0.object) && UInt32(exactly: $0.offset) != nil
                    && UInt32(exactly: $0.pitch) != nil
            })
        else { return nil }
        self.init()
        fourcc = fourCC.rawValue
        width = UInt32(clamping: picture.size.width)
        height = UInt32(clamping: picture.size.height)
        num_objects = UInt32(picture.objects.count)
        let entries = picture.objects.map {
            vaenc_prime_object(
                fd: $0.descriptor, size: UInt32(clamping: $0.byteCount), drm_format_modifier: $0.modifier)
        }
        CArray.copy(entries, to: &objects)
        num_layers = 1
        layers.0.drm_format = layer.code
        layers.0.num_planes = UInt32(picture.planes.count)
        CArray.copy(picture.planes.map { UInt32(clamping: $0.object) }, to: &layers.0.object_index)
        CArray.copy(picture.planes.map { UInt32(clamping: $0.offset) }, to: &layers.0.offset)
        CArray.copy(picture.planes.map { UInt32(clamping: $0.pitch) }, to: &layers.0.pitch)
    }

    fileprivate var ownedObjects: [SharedPicture.Object] {
        [objects.0, objects.1, objects.2, objects.3].prefix(Int(min(num_objects, 4))).map {
            SharedPicture.Object(descriptor: $0.fd, byteCount: Int($0.size), modifier: $0.drm_format_modifier)
        }
    }

    /// The planes of all layers.
    fileprivate var planes: [SharedPicture.Plane] {
        [layers.0, layers.1, layers.2, layers.3].prefix(Int(min(num_layers, 4))).flatMap { layer in
            let objects = list(layer.object_index)
            let (offsets, pitches) = (list(layer.offset), list(layer.pitch))
            return (0..<Int(min(layer.num_planes, 4))).map {
                SharedPicture.Plane(object: objects[$0], offset: offsets[$0], pitch: pitches[$0])
            }
        }
    }
}

private func list(_ values: (UInt32, UInt32, UInt32, UInt32)) -> [Int] {
    [Int(values.0), Int(values.1), Int(values.2), Int(values.3)]
}
