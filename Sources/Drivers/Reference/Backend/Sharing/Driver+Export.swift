internal import CVA
internal import Glibc

/// The result of vaExportSurfaceHandle.
struct ExportedSurface {
    var layout: PlaneLayout
    /// The file descriptors, which the client owns, and the sizes of their objects.
    var objects: [(descriptor: Int32, byteCount: Int)]
    /// The index of the object that contains each plane, and the offset in that object.
    var planes: [(object: Int, offset: Int)]
    /// Whether each plane is a separate layer.
    var isSeparate: Bool
}

extension Driver {
    /// Exports the memory of a surface, after its pending jobs are done.
    ///
    /// - Parameter flags: VA_EXPORT_SURFACE_… flags. Without a flag for layers, the layers are separate.
    func exportSurface(_ id: VASurfaceID, memoryType: UInt32, flags: UInt32) throws -> ExportedSurface {
        try monitor.withLock {
            let surface = try surface(id)
            guard memoryType == UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2) else {
                throw Refusal(
                    VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE,
                    "export as memory type \(memoryType) is not "
                        + "supported")
            }
            let kinds = UInt32(VA_EXPORT_SURFACE_SEPARATE_LAYERS | VA_EXPORT_SURFACE_COMPOSED_LAYERS)
            guard flags & ~(kinds | UInt32(VA_EXPORT_SURFACE_READ_WRITE)) == 0, flags & kinds != kinds else {
                throw Refusal.invalidParameter("export with flags \(flags) is not supported")
            }
            // The client may read the memory at once. It must contain the pictures that are still being reconstructed.
            _ = wait(for: surface)
            let memory = try surface.memory()
            guard !memory.objects.isEmpty else {
                throw Refusal.allocation(
                    "surface \(id) has no memory that can be shared: there was no free file "
                        + "descriptor")
            }
            surface.isExported = true
            return ExportedSurface(
                layout: surface.layout,
                objects: try export(memory, isWritable: flags & UInt32(VA_EXPORT_SURFACE_WRITE_ONLY) != 0),
                planes: surface.layout.offsets.map { location(of: $0, in: memory) },
                isSeparate: flags & UInt32(VA_EXPORT_SURFACE_COMPOSED_LAYERS) == 0)
        }
    }

    private func export(_ memory: HostMemory, isWritable: Bool) throws -> [(descriptor: Int32, byteCount: Int)] {
        var list: [(descriptor: Int32, byteCount: Int)] = []
        for object in memory.objects {
            guard let descriptor = object.exported(writable: isWritable) else {
                for entry in list { close(entry.descriptor) }
                throw Refusal.allocation("there is no free file descriptor")
            }
            list.append((descriptor, object.byteCount))
        }
        return list
    }

    /// Returns the index of the object at an offset in the memory, and the offset in that object.
    private func location(of offset: Int, in memory: HostMemory) -> (object: Int, offset: Int) {
        let starts = memory.objects.indices.map { HostMemory.offset(of: $0, in: memory.objects) }
        let object = starts.lastIndex { $0 <= offset } ?? 0
        return (object, offset - starts[object])
    }
}

/// The C structure VADRMPRIMESurfaceDescriptor.
extension vaenc_prime_surface {
    init(_ exported: ExportedSurface) {
        self.init()
        let layout = exported.layout
        fourcc = layout.fourcc
        width = UInt32(layout.width)
        height = UInt32(layout.height)
        let entries = exported.objects.map {
            vaenc_prime_object(fd: $0.descriptor, size: UInt32($0.byteCount), drm_format_modifier: ExternalPicture.linear)
        }
        num_objects = UInt32(entries.count)
        objects = four(entries, vaenc_prime_object())
        let planes = exported.planes.enumerated().map { index, plane in
            (UInt32(plane.object), UInt32(plane.offset), UInt32(layout.pitches[index]))
        }
        let groups =
            exported.isSeparate
            ? zip(planes, layout.format.planes).map { ([$0], $1.drmFormat) } : [(planes, layout.format.drmFormat)]
        num_layers = UInt32(groups.count)
        layers = four(
            groups.map { planes, format in
                vaenc_prime_layer(
                    drm_format: format, num_planes: UInt32(planes.count), object_index: four(planes.map(\.0), 0),
                    offset: four(planes.map(\.1), 0), pitch: four(planes.map(\.2), 0))
            }, vaenc_prime_layer())
    }
}

/// Returns a list as a C array of four elements. Missing elements are `padding`.
private func four<Value>(_ list: [Value], _ padding: Value) -> (Value, Value, Value, Value) {
    func entry(_ index: Int) -> Value { index < list.count ? list[index] : padding }
    return (entry(0), entry(1), entry(2), entry(3))
}
