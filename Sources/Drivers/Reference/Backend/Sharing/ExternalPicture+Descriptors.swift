internal import CVA

extension ExternalPicture {
    /// The memory types whose descriptors are supported, as VA_SURFACE_ATTRIB_MEM_TYPE_… values.
    static let memoryTypes = [
        UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR), UInt32(bitPattern: VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME),
        UInt32(bitPattern: VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2),
    ]

    /// Reads the descriptors of `count` surfaces.
    ///
    /// SAFETY: va_drmcommon.h and va.h define the structure to which the pointer of each memory type points, and the
    /// client must follow them. Counts in these structures are checked against the sizes of the arrays.
    @unsafe static func read(
        _ pointer: UnsafeMutableRawPointer, memoryType: UInt32, count: Int
    ) throws -> [ExternalPicture] {
        switch Int32(bitPattern: memoryType) {
        case VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2:
            let list = unsafe pointer.assumingMemoryBound(to: vaenc_prime_surface.self)
            return try (0..<count).map { unsafe try ExternalPicture(list[$0]) }
        case VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME:
            let buffers = unsafe pointer.assumingMemoryBound(to: VASurfaceAttribExternalBuffers.self).pointee
            guard unsafe buffers.buffers != nil, unsafe Int(buffers.num_buffers) >= count else {
                throw Refusal.invalidParameter("there are external buffers for fewer than \(count) surfaces")
            }
            return try (0..<count).map { index in
                let handle = unsafe buffers.buffers[index]
                let isAddress = memoryType == UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_USER_PTR)
                return unsafe try ExternalPicture(
                    buffers, descriptor: isAddress ? -1 : Int32(truncatingIfNeeded: Int(bitPattern: handle)), address: isAddress ? handle : nil)
            }
        default:
            throw Refusal(
                VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE,
                "external buffers of memory type \(memoryType) are "
                    + "not supported")
        }
    }

    private init(_ descriptor: vaenc_prime_surface) throws {
        guard (1...4).contains(descriptor.num_objects), (1...4).contains(descriptor.num_layers) else {
            throw Refusal.invalidParameter(
                "\(descriptor.num_objects) objects and \(descriptor.num_layers) layers are not supported")
        }
        let objects = [descriptor.objects.0, descriptor.objects.1, descriptor.objects.2, descriptor.objects.3]
        let layers = [descriptor.layers.0, descriptor.layers.1, descriptor.layers.2, descriptor.layers.3]
            .prefix(Int(descriptor.num_layers))
        var planes: [Plane] = []
        for layer in layers {
            guard (1...4).contains(layer.num_planes) else {
                throw Refusal.invalidParameter("a layer of \(layer.num_planes) planes is not supported")
            }
            let indices = four(layer.object_index)
            let offsets = four(layer.offset)
            let pitches = four(layer.pitch)
            for plane in 0..<Int(layer.num_planes) {
                planes.append(Plane(object: indices[plane], offset: offsets[plane], pitch: pitches[plane]))
            }
        }
        self.init(
            fourcc: descriptor.fourcc, width: Int(descriptor.width), height: Int(descriptor.height),
            objects: objects.prefix(Int(descriptor.num_objects)).map {
                Object(descriptor: $0.fd, byteCount: Int($0.size), modifier: $0.drm_format_modifier)
            },
            planes: planes, layers: layers.map { ($0.drm_format, Int($0.num_planes)) })
    }

    /// Creates a picture from the older structure, which has one descriptor per surface and the same layout for all.
    private init(_ buffers: VASurfaceAttribExternalBuffers, descriptor: Int32, address: UInt?) throws {
        let count = unsafe Int(buffers.num_planes)
        guard (1...4).contains(count) else { throw Refusal.invalidParameter("\(count) planes are not supported") }
        guard unsafe buffers.flags & UInt32(VA_SURFACE_EXTBUF_DESC_ENABLE_TILING) == 0 else {
            throw Refusal.invalidParameter("only linear memory is supported")
        }
        let pitches = unsafe four(buffers.pitches)
        let offsets = unsafe four(buffers.offsets)
        self.init(
            fourcc: unsafe buffers.pixel_format, width: unsafe Int(buffers.width), height: unsafe Int(buffers.height),
            objects: [
                Object(descriptor: descriptor, byteCount: unsafe Int(buffers.data_size), modifier: Self.implicit, address: address)
            ],
            planes: (0..<count).map { Plane(object: 0, offset: offsets[$0], pitch: pitches[$0]) })
    }
}

/// Returns a C array of four elements as a list.
private func four(_ values: (UInt32, UInt32, UInt32, UInt32)) -> [Int] {
    [Int(values.0), Int(values.1), Int(values.2), Int(values.3)]
}
