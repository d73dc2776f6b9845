import CVA
import Glibc

/// The descriptors of a surface that a client gets; they are closed at deinitialization.
final class SharedSurface {
    var description: vaenc_prime_surface

    init(_ description: vaenc_prime_surface) { self.description = description }

    deinit {
        for object in objects { close(object.fd) }
    }

    var objects: [vaenc_prime_object] {
        let all = description.objects
        return Array([all.0, all.1, all.2, all.3].prefix(Int(description.num_objects)))
    }

    var layers: [vaenc_prime_layer] {
        let all = description.layers
        return Array([all.0, all.1, all.2, all.3].prefix(Int(description.num_layers)))
    }

    /// The object, offset and pitch of each plane.
    var planes: [(object: Int, offset: Int, pitch: Int)] {
        layers.flatMap { layer in
            (0..<Int(layer.num_planes)).map { plane in
                func word(_ list: (UInt32, UInt32, UInt32, UInt32)) -> Int {
                    Int([list.0, list.1, list.2, list.3][plane])
                }
                return (word(layer.object_index), word(layer.offset), word(layer.pitch))
            }
        }
    }

    /// Makes a memfd with these bytes, as one layer with the planes of one object.
    convenience init(
        bytes: [UInt8], fourcc: Int32, layer: String, width: Int, height: Int, planes: [(offset: Int, pitch: Int)]
    ) {
        var description = vaenc_prime_surface()
        description.fourcc = UInt32(fourcc)
        description.width = UInt32(width)
        description.height = UInt32(height)
        description.num_objects = 1
        description.objects.0 = vaenc_prime_object(fd: memory(bytes), size: UInt32(bytes.count), drm_format_modifier: 0)
        description.num_layers = 1
        description.layers.0.drm_format = code(layer)
        description.layers.0.num_planes = UInt32(planes.count)
        func list(_ values: [Int]) -> (UInt32, UInt32, UInt32, UInt32) {
            let all = (values + [0, 0, 0, 0]).map { UInt32($0) }
            return (all[0], all[1], all[2], all[3])
        }
        description.layers.0.offset = list(planes.map(\.offset))
        description.layers.0.pitch = list(planes.map(\.pitch))
        self.init(description)
    }

    /// Returns the bytes of an object, mapped independently of the driver.
    func bytes(of object: Int) -> [UInt8] {
        let size = Int(objects[object].size)
        guard let start = mmap(nil, size, PROT_READ, MAP_SHARED, objects[object].fd, 0), start != MAP_FAILED else {
            return []
        }
        defer { munmap(start, size) }
        return [UInt8](UnsafeRawBufferPointer(start: start, count: size))
    }

    func write(_ bytes: [UInt8], at offset: Int, of object: Int = 0) -> Bool {
        pwrite(objects[object].fd, bytes, bytes.count, offset) == bytes.count
    }
}

/// Returns a new memfd.
func memory(_ bytes: [UInt8]) -> Int32 {
    let descriptor = vaenc_memfd_create("test", VAENC_MFD_CLOEXEC)
    precondition(pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
    return descriptor
}

/// Returns the four-character code of a DRM format.
func code(_ name: String) -> UInt32 {
    name.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << UInt32(8 * $1.offset) }
}

/// Returns the number of descriptors of the process that refer to the same object; other tests open and close their
/// own.
func descriptors(like one: Int32) -> Int {
    func object(_ descriptor: Int32) -> [UInt]? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? [UInt(status.st_dev), UInt(status.st_ino)] : nil
    }
    let expected = object(one)
    return (0..<4096).count { object($0) == expected }
}

extension Client {
    func export(_ surface: VASurfaceID, flags: Int32) -> (VAStatus, SharedSurface) {
        var description = vaenc_prime_surface()
        let status = table.vaExportSurfaceHandle(
            context, surface, UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2), UInt32(flags), &description)
        return (status, SharedSurface(description))
    }

    func importSurface(
        _ shared: vaenc_prime_surface, _ width: Int, _ height: Int, format: Int32 = VA_RT_FORMAT_YUV420,
        more: [VASurfaceAttrib] = []
    ) -> (VAStatus, VASurfaceID) {
        var copy = shared
        return withUnsafeMutablePointer(to: &copy) { description in
            var pointer = VASurfaceAttrib(VASurfaceAttribExternalBufferDescriptor, 0)
            pointer.value.type = VAGenericValueTypePointer
            pointer.value.value.p = UnsafeMutableRawPointer(description)
            let (status, ids) = createSurfaces(
                width, height, 1, format: format,
                [
                    VASurfaceAttrib(VASurfaceAttribMemoryType, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2), pointer,
                    VASurfaceAttrib(VASurfaceAttribPixelFormat, Int32(bitPattern: shared.fourcc)),
                ] + more)
            return (status, ids[0])
        }
    }

    /// Returns the rows of all planes of a surface, without the padding between them.
    func samples(_ surface: VASurfaceID) -> [UInt8] {
        let (status, image) = derive(surface)
        guard status == VA_STATUS_SUCCESS, let base = map(image.buf).1 else { return [] }
        defer {
            _ = unmap(image.buf)
            _ = table.vaDestroyImage(context, image.image_id)
        }
        return rows(of: image).flatMap { UnsafeRawBufferPointer(start: base + $0.offset, count: $0.count) }
    }

    func fill(_ surface: VASurfaceID, with byte: (Int) -> UInt8) {
        let (_, image) = derive(surface)
        guard let base = map(image.buf).1 else { return }
        var index = 0
        for row in rows(of: image) {
            for column in 0..<row.count {
                base.storeBytes(of: byte(index), toByteOffset: row.offset + column, as: UInt8.self)
                index += 1
            }
        }
        _ = unmap(image.buf)
        _ = table.vaDestroyImage(context, image.image_id)
    }

    private func rows(of image: VAImage) -> [(offset: Int, count: Int)] {
        let (width, height) = (Int(image.width), Int(image.height))
        let half = (width + 1) / 2
        let widths: [Int] =
            switch Int32(bitPattern: image.format.fourcc) {
            case VA_FOURCC_NV12: [width, 2 * half]
            case VA_FOURCC_P010: [2 * width, 4 * half]
            case VA_FOURCC_I420, VA_FOURCC_YV12: [width, half, half]
            case VA_FOURCC_YUY2, VA_FOURCC_UYVY: [4 * half]
            default: [4 * width]
            }
        let offsets = [image.offsets.0, image.offsets.1, image.offsets.2].map { Int($0) }
        let pitches = [image.pitches.0, image.pitches.1, image.pitches.2].map { Int($0) }
        return widths.indices.flatMap { plane in
            (0..<(plane == 0 ? height : (height + 1) / 2)).map { (offsets[plane] + $0 * pitches[plane], widths[plane]) }
        }
    }
}
