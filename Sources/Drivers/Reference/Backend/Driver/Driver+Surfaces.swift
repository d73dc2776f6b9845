internal import CVA

extension Driver {
    /// The parameters of vaCreateSurfaces, as values without the client's pointers.
    struct SurfaceRequest {
        /// VA_RT_FORMAT_…
        var format: UInt32
        var width: Int
        var height: Int
        var count: Int
        /// VA_FOURCC_…; nil for the first format of the RT format.
        var fourcc: UInt32?
        /// VA_SURFACE_ATTRIB_MEM_TYPE_…
        var memoryType = UInt32(VA_SURFACE_ATTRIB_MEM_TYPE_VA)
        /// The client's memory, one entry per surface; empty if the driver allocates the memory.
        var external: [ExternalPicture] = []
    }

    func createSurfaces(_ request: SurfaceRequest) throws -> [VASurfaceID] {
        let format = try format(of: request)
        let limit = Self.maximumSurfaceSide
        guard request.width > 0, request.height > 0, request.width <= limit, request.height <= limit else {
            throw Refusal.resolution("surfaces of \(request.width)x\(request.height) are not supported")
        }
        guard request.count > 0, request.count <= Self.maximumSurfaces else {
            throw Refusal.invalidParameter("the number of surfaces \(request.count) is out of range")
        }
        guard request.memoryType & capabilities.memoryTypes == request.memoryType,
            request.memoryType.nonzeroBitCount == 1
        else {
            throw Refusal(
                VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE,
                "surfaces of memory type \(request.memoryType) are not "
                    + "supported")
        }
        let imported = try request.external.map { picture in
            let (layout, memory) = try picture.map(format, width: request.width, height: request.height)
            return (layout: layout, memory: memory)
        }
        return monitor.withLock {
            (0..<request.count).map { index in
                surfaces.insert { id in
                    imported.isEmpty
                        ? Surface(id: id, format: format, width: request.width, height: request.height)
                        : Surface(id: id, layout: imported[index].layout, memory: imported[index].memory)
                }.id
            }
        }
    }

    static let maximumSurfaces = 1024
    /// The largest width and height of a surface. It exceeds the limits of encoding and decoding, as in real drivers,
    /// because the video processor supports larger pictures.
    static let maximumSurfaceSide = 16384

    private func format(of request: SurfaceRequest) throws -> SurfaceFormat {
        let formats = capabilities.surfaceFormats.filter { $0.rtFormat == request.format }
        guard let first = formats.first else {
            throw Refusal(
                VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT,
                "surfaces of RT format \(request.format) are not "
                    + "supported")
        }
        guard let fourcc = request.fourcc else { return first }
        if let format = formats.first(where: { $0.fourcc == fourcc }) { return format }
        let refusal = Refusal.invalidValue("the surface's pixel format does not match RT format \(request.format)")
        // The pixel format is more specific than the RT format.
        guard let format = capabilities.surfaceFormats.first(where: { $0.fourcc == fourcc }) else { throw refusal }
        try environment.tolerate(.surfaceFormat, refusal)
        return format
    }

    /// Destroys all of the surfaces, or none if one of them cannot be destroyed.
    func destroySurfaces(_ ids: [VASurfaceID]) throws {
        try monitor.withLock {
            for id in ids { _ = try surface(id) }
            for id in ids {
                let isTarget = contexts.all.contains { $0.picture?.target.id == id }
                if isTarget { throw Refusal.busy("surface \(id) is the target of an open picture") }
            }
            for id in ids { surfaces.remove(id) }
        }
    }

    /// Waits until no job reads or writes the surface (vaSyncSurface, vaSyncSurface2).
    func syncSurface(_ id: VASurfaceID, until deadline: Deadline) throws {
        try monitor.withLock {
            let surface = try surface(id)
            guard wait(for: surface, until: deadline) else {
                throw Refusal.timedOut("surface \(id) is still in use")
            }
            if surface.isExported { _ = try surface.memory() }
            if surface.lacksMemory { throw Refusal.allocation("no memory to decode a picture into surface \(id)") }
            if surface.isDamaged {
                throw Refusal(VA_STATUS_ERROR_DECODING_ERROR, "surface \(id) contains a picture with errors")
            }
        }
    }

    /// Returns the errors of the last decoded picture (vaQuerySurfaceError). If it is damaged, all macroblocks are
    /// reported, because their positions are not known.
    func surfaceError(_ id: VASurfaceID) throws -> UnsafeMutablePointer<VASurfaceDecodeMBErrors> {
        try unsafe monitor.withLock {
            let surface = try surface(id)
            _ = wait(for: surface)
            return unsafe surface.errorList.records(
                macroblocks: surface.isDamaged ? (surface.width + 15) / 16 * ((surface.height + 15) / 16) : 0)
        }
    }

    func surfaceStatus(_ id: VASurfaceID) throws -> VASurfaceStatus {
        try monitor.withLock { try surface(id).jobs.isEmpty ? VASurfaceReady : VASurfaceRendering }
    }
}
